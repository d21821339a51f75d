//! The default backend, by name; `own` implements it.

/// Cycloid's own arithmetic: portable, ADX, and AVX-512 for eight side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycloid;
