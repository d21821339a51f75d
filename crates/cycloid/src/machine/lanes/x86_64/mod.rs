//! Backends with vectors of 512 bits.

mod avx512;
mod ifma;
mod zmm;
