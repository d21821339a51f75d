//! Arithmetic modulo the primes of the elliptic curves, on one number or on eight side by side.
//!
//! A [`Prime`] is a type without a value; a backend is the token of `words` (one number) or of
//! `lanes` (eight). [`Arithmetic`] is the interface of a backend for a prime. Formulas use nothing
//! else, so the same code serves both shapes. Every result may be an operand of every other
//! operation: each backend chooses how far it reduces residues, and in what form.
//!
//! | prime | form of a constant in memory | one number, portable | ADX, AArch64 | eight |
//! |---|---|---|---|---|
//! | P-224, P-256, P-384 | times R = 2^(64·n) | `fiat-crypto`, Montgomery | Montgomery | Montgomery, R = 2^(52·m) |
//! | BLS12-381's two | times R = 2^(64·n) | Montgomery | Montgomery | Montgomery, R = 2^(52·m) |
//! | P-192, secp256k1, brainpool, edwards448 | times R = 2^(64·n) | Montgomery | as portable | none |
//! | P-521, 2²⁵⁵ − 19 | as it is | `fiat-crypto`, 58 and 51 bits a limb | 64 bits a limb | 52 bits a limb |
//!
//! P-521 is on AArch64 as in portable code.
//!
//! Time depends on the prime and the shape only, unless a name ends in `_vartime`.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod adx;
#[cfg(cycloid_armv7em)]
mod armv7em;
mod curve;
mod dense;
mod eight;
mod form;
mod mask;
mod portable;
mod prime;
mod single;
mod spread;
#[cfg(test)]
pub(crate) mod tests;
mod wide;

use core::fmt::Debug;

use super::cpu::Token;
use super::ct;
use super::words::Limb;
pub use curve::{
    Addition, CurveArithmetic, CurvePrime, CurveTask, MULTIPLES_OF_ONE, MultiplesOfOne,
};
pub(crate) use form::{montgomery_mul, r_squared};
pub use mask::{EightMasks, Masks};
pub use prime::{Bls12Base, Bls12Scalar, P224, P256, P384, P521, P25519, Prime};
pub use single::{BrainpoolP256, BrainpoolP384, BrainpoolP512, Ed448Order, P192, P448, Secp256k1};
pub use spread::{Combination, NONE, Order, Term};
pub use wide::{Dense, POINTS, Spread, SpreadTask, Wide, WideTask, run_spread};

/// A task that runs on any backend for a prime.
pub trait Task<P: Prime> {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<A: Arithmetic<P>>(self, arithmetic: A) -> Self::Output;
}

/// Arithmetic modulo `P` on [`WIDTH`](Self::WIDTH) numbers: the interface of a backend.
pub trait Arithmetic<P: Prime>: Token {
    /// The number of numbers in an element: 1, or [`LANES`](super::lanes::LANES).
    const WIDTH: usize;

    /// Residues modulo the prime.
    type Element: Copy + Debug + Send + Sync + 'static;

    /// A limb for each of the numbers, such as an index or a digit.
    type Word: Copy + Debug;

    /// A truth value for each of the numbers.
    type Mask: Masks;

    /// Limbs of one residue in the form of constants in memory; see [`stored`](Self::stored).
    const STORED_LIMBS: usize;

    /// Zero, in each of the numbers.
    const ZERO: Self::Element;

    /// Returns a·b.
    fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns a².
    fn square(self, a: &Self::Element) -> Self::Element;

    /// Returns a^(2^times); `times` is public.
    #[inline]
    fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
        let mut power = *a;
        for _ in 0..times {
            power = self.square(&power);
        }
        power
    }

    /// Computes a ← a·b.
    #[inline(always)]
    fn mul_in_place(self, a: &mut Self::Element, b: &Self::Element) {
        *a = self.mul(a, b);
    }

    /// Computes a ← a^(2^times); `times` is public.
    #[inline(always)]
    fn square_times_in_place(self, a: &mut Self::Element, times: usize) {
        *a = self.square_times(a, times);
    }

    /// Returns a·small; `small` is a public constant below 2¹⁷.
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element;

    /// Returns a + b.
    fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns 2a.
    #[inline(always)]
    fn double(self, a: &Self::Element) -> Self::Element {
        self.add(a, a)
    }

    /// Returns a − b.
    fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns −a.
    #[inline(always)]
    fn negate(self, a: &Self::Element) -> Self::Element {
        self.sub(&Self::ZERO, a)
    }

    /// Returns where a and b are the same residue.
    fn equal(self, a: &Self::Element, b: &Self::Element) -> Self::Mask;

    /// Returns a where `mask` is true, b where it is false.
    fn select(self, mask: Self::Mask, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns the residues of [`WIDTH`](Self::WIDTH) integers below 2^[`BITS`](Prime::BITS), which
    /// may be the prime or more.
    fn load(self, numbers: &[P::Words]) -> Self::Element;

    /// Writes the integers from 0 to the prime minus one, [`WIDTH`](Self::WIDTH) of them.
    fn store(self, element: &Self::Element, numbers: &mut [P::Words]);

    /// Returns the same constant in each of the numbers, from the form of constants in memory:
    /// [`STORED_LIMBS`](Self::STORED_LIMBS) limbs, less than the prime, times R modulo the prime if
    /// [`Prime::MONTGOMERY`]. For one number these are the n limbs of 64 bits of [`Prime::Words`],
    /// and R = 2^(64·n); for eight the m limbs of 52 bits of [`Prime::Lanes`], and R = 2^(52·m).
    fn stored(self, constant: &[Limb]) -> Self::Element;

    /// Copies `out = table[index]` from a table of constants shared by all numbers, reading the
    /// whole table: consecutive entries of `out.len() ·` [`STORED_LIMBS`](Self::STORED_LIMBS)
    /// limbs. For eight, sixteen entries at a time stand limb by limb: limb 0 of each of them, then
    /// limb 1, and so on. An index outside the table gives zero.
    fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Self::Word);

    /// Copies `out = table[index]`, each number from its own table, reading the whole table:
    /// consecutive entries of `out.len()` elements. An index outside the table gives zero.
    fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Self::Word);

    /// Returns a limb for each of the numbers, by position.
    fn word(self, limb: impl FnMut(usize) -> Limb) -> Self::Word;

    /// Returns a truth value for each of the numbers, by position.
    fn mask(self, value: impl FnMut(usize) -> ct::Mask) -> Self::Mask;

    /// Returns the numbers `by` places further on, below [`WIDTH`](Self::WIDTH); after the last one
    /// the first follows.
    #[inline(always)]
    fn rotate(self, a: &Self::Element, by: usize) -> Self::Element {
        debug_assert!(Self::WIDTH == 1 && by == 0);
        *a
    }

    /// Calls `work` in a function compiled for the backend's instructions; code marked
    /// `#[inline(always)]` is inlined into it.
    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// The limbs of a number, an array of known length.
pub trait Limbs: Copy + Debug + Eq + AsRef<[Limb]> + AsMut<[Limb]> + Send + Sync + 'static {
    /// Zero.
    const ZERO: Self;
}

impl<const N: usize> Limbs for [Limb; N] {
    const ZERO: Self = [0; N];
}
