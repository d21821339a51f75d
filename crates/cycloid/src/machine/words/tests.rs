//! Every backend against num-bigint.
