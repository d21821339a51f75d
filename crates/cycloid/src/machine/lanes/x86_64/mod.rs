//! Backends with vectors of 512 bits.

mod avx512;
mod four;
mod ifma;
mod zmm;
