//! One number: little-endian limbs of 64 bits.
//!
//! [`Words`] is the interface of a backend; `portable` is plain Rust, `adx` the same functions with
//! BMI2 and ADX, `armv7em` with UMAAL, `aarch64` with UMULH. `linear` and `masked` contain the
//! operations on which no backend beats the compiler (addition, shifts, comparison); with the feature
//! `small`, those of `masked` have kernels on Armv7E-M. Time depends on lengths only, unless a name
//! ends in `_vartime`.

#[cfg(target_arch = "aarch64")]
pub mod aarch64;
#[cfg(target_arch = "x86_64")]
pub mod adx;
#[cfg(cycloid_armv7em)]
pub mod armv7em;
mod bytes;
mod divsteps;
mod linear;
#[cfg(not(all(cycloid_armv7em, feature = "small")))]
mod masked;
pub mod portable;
pub mod rare;
#[cfg(any(target_pointer_width = "32", test))]
mod rows;
#[cfg(test)]
mod tests;

use super::backends::{backends, enumeration};
#[cfg(cycloid_armv7em)]
pub use super::cpu::Armv7em;
use super::cpu::Token;
use super::ct;
pub use super::limb::{LIMB_BITS, LIMB_BYTES, Limb};
#[cfg(all(cycloid_armv7em, feature = "small"))]
use armv7em::masked;
pub use bytes::{as_bytes_mut, from_be_bytes, to_be_bytes};
#[cfg(any(not(target_pointer_width = "32"), test))]
pub use divsteps::divsteps;
#[cfg(any(target_pointer_width = "32", test))]
pub use divsteps::divsteps_narrow;
pub use linear::{
    add_carry, bit_length_vartime, compare_vartime, double, is_zero, sub_borrow, trim_vartime,
};
pub use masked::{add, add_if, decrement, is_less, reduce_once, sub, sub_if};
pub use portable::Portable;
#[cfg(any(target_pointer_width = "32", test))]
pub use rows::{ROW_BITS, transform_rows, transform_rows_modulo};

/// Multiplication and Montgomery reduction on 64-bit limbs: the interface of a backend.
///
/// A backend is a token ([`Portable`], [`Adx`](super::cpu::Adx)), so a value of it proves that its
/// code may run.
pub trait Words: Token {
    /// Computes `product = a · b`; `product.len() == a.len() + b.len()`, any lengths.
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]);

    /// Computes `product = a²`; `product.len() == 2 · a.len()`.
    fn square(self, product: &mut [Limb], a: &[Limb]);

    /// Computes `accumulator += a · x`; equal lengths; returns the limb carried out.
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb;

    /// Computes `accumulator −= a · x`; equal lengths; returns the limb borrowed.
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb;

    /// Computes `result = wide / R mod modulus`, less than `modulus`, where R = 2^(64·n).
    ///
    /// `result` and `modulus` have n limbs, `wide` 2n, and `wide < R · modulus`. `n0` is
    /// [`montgomery_n0`]. Destroys `wide`.
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb);

    /// Computes `accumulator = accumulator · by / R mod modulus`, less than `modulus`.
    ///
    /// `accumulator`, `by` and `modulus` have n limbs, `work` has [`montgomery_work_limbs`]`(n)`.
    /// One of the factors may be any number below R, the other must be less than `modulus`.
    #[inline]
    fn montgomery_mul(
        self,
        accumulator: &mut [Limb],
        by: &[Limb],
        work: &mut [Limb],
        modulus: &[Limb],
        n0: Limb,
    ) {
        let wide = &mut work[..2 * modulus.len()];
        self.mul(wide, accumulator, by);
        self.montgomery_reduce(accumulator, wide, modulus, n0);
    }

    /// Computes `accumulator = accumulator² / R mod modulus`, less than `modulus`; lengths as for
    /// [`montgomery_mul`](Self::montgomery_mul). `accumulator` must be less than `modulus`.
    #[inline]
    fn montgomery_square(
        self,
        accumulator: &mut [Limb],
        work: &mut [Limb],
        modulus: &[Limb],
        n0: Limb,
    ) {
        self.montgomery_square_times(accumulator, 1, work, modulus, n0);
    }

    /// Applies [`montgomery_square`](Self::montgomery_square) `times` times.
    #[inline]
    fn montgomery_square_times(
        self,
        accumulator: &mut [Limb],
        times: usize,
        work: &mut [Limb],
        modulus: &[Limb],
        n0: Limb,
    ) {
        let wide = &mut work[..2 * modulus.len()];
        for _ in 0..times {
            self.square(wide, accumulator);
            self.montgomery_reduce(accumulator, wide, modulus, n0);
        }
    }

    /// Copies `out = table[index]`, reading the whole table, like [`ct::lookup`].
    #[inline]
    fn lookup(self, out: &mut [Limb], table: &[Limb], index: usize) {
        ct::lookup(out, table, index);
    }
}

/// Computes `product = a · b` where speed does not matter: on a backend that needs no detection.
#[inline]
pub fn product(product: &mut [Limb], a: &[Limb], b: &[Limb]) {
    #[cfg(cycloid_armv7em)]
    Armv7em::of_this_target().mul(product, a, b);
    #[cfg(not(cycloid_armv7em))]
    Portable.mul(product, a, b);
}

/// Returns the limbs of working memory for Montgomery multiplication modulo a number of `n` limbs.
pub const fn montgomery_work_limbs(n: usize) -> usize {
    2 * n
}

/// Returns −1 / `modulus` mod 2⁶⁴, for Montgomery reduction. `modulus` must be odd.
pub const fn montgomery_n0(modulus_limb: Limb) -> Limb {
    // x = m is correct to 3 bits for odd m, and x(2 − m·x) doubles the number of correct bits.
    let mut x = modulus_limb;
    let mut right_bits = 3;
    while right_bits < LIMB_BITS {
        x = x.wrapping_mul(2u64.wrapping_sub(modulus_limb.wrapping_mul(x)));
        right_bits *= 2;
    }
    x.wrapping_neg()
}

backends!(one, [enumeration](not(cycloid_armv7em)));

/// A task that runs on any backend.
pub trait Task {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<W: Words>(self, words: W) -> Self::Output;
}

impl Backend {
    /// Returns the fastest available backend that [`cpu::limit`](super::cpu::limit) allows.
    #[cfg_attr(cycloid_armv7em, inline)]
    pub fn best() -> Self {
        #[cfg(not(cycloid_armv7em))]
        return Self::available().last().unwrap_or(Self::Portable(Portable));
        // Known when compiling, so that nothing else takes flash.
        #[cfg(cycloid_armv7em)]
        Self::Armv7em(Armv7em::of_this_target())
    }
}
