//! Every function against blst itself, on random, edge and hostile inputs.

// Every call passes references and arrays as long as blst's header says.
#![allow(clippy::undocumented_unsafe_blocks)]

mod contexts;
mod encodings;
mod fields;
mod inputs;
mod keys;
mod lists;
mod pairing;
mod points;
mod sums;
