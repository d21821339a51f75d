//! Shared code of the programs on the emulated AArch64.

#[path = "../../cycloid-m4/src/random.rs"]
pub mod random;
