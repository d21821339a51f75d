//! What the programs share.

pub mod random;
