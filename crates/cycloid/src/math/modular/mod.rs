//! Modular exponentiation: base^exponent mod modulus, on little-endian limbs of 64 bits.
//!
//! - [`pow`]: constant-time, on the fastest backend; what the schemes use.
//! - [`pow_eight`]: eight bases, exponents and moduli at once.
//! - [`Strategy`]: every combination of three reductions and twelve ways to exponentiate, to
//!   choose what to pay in time and in memory.
//!
//! Defined for every input: x mod 1 = 0; x⁰ mod m = 1 for m > 1 and any x, 0 included; a base of
//! any length is reduced first; leading zero limbs are allowed everywhere and change nothing in
//! the result. A modulus of 0, or an even one for Montgomery, is an [`Error`].
