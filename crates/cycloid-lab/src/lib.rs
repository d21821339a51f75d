//! The lab: time, memory and allocations, beside the peers that a user would otherwise pick.
