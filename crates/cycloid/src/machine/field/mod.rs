//! Arithmetic modulo the primes of the elliptic curves: on one number, or on eight side by side.
//!
//! A [`Prime`] is a type without a value; a backend is the token of `words` (one number) or of
//! `lanes` (eight). [`Arithmetic`] is what a backend provides for a prime, and the only thing that
//! formulas are written over, so that one text of a formula serves both shapes. Whatever an
//! operation returns may be given to every other: how far a backend leaves its residues unreduced,
//! and in what form, is its own business.
//!
//! | prime | form of a constant in memory | one number, portable | ADX | eight |
//! |---|---|---|---|---|
//! | P-224, P-256, P-384 | times R = 2^(64·n) | `fiat-crypto`, Montgomery | Montgomery | Montgomery, R = 2^(52·m) |
//! | BLS12-381's two | times R = 2^(64·n) | Montgomery | Montgomery | Montgomery, R = 2^(52·m) |
//! | P-521, 2²⁵⁵ − 19 | as it is | `fiat-crypto`, 58 and 51 bits a limb | 64 bits a limb | 52 bits a limb |
//!
//! Time depends on the prime and the shape only, unless a name ends in `_vartime`.

#[cfg(target_arch = "x86_64")]
mod adx;
mod dense;
mod eight;
mod form;
mod mask;
mod portable;
mod prime;
#[cfg(test)]
mod tests;
mod wide;

use core::fmt::Debug;

use super::ct;
use super::words::Limb;
pub use mask::{EightMasks, Masks};
pub use prime::{Bls12Base, Bls12Scalar, P224, P256, P384, P521, P25519, Prime};
pub use wide::{Dense, Wide, WideTask};

/// Something to be done with some backend for a prime.
pub trait Task<P: Prime> {
    /// What it gives.
    type Output;

    /// Does it with one backend.
    fn run<A: Arithmetic<P>>(self, arithmetic: A) -> Self::Output;
}

/// Arithmetic modulo `P` on [`WIDTH`](Self::WIDTH) numbers: what a backend provides.
pub trait Arithmetic<P: Prime>: Copy + Debug + Send + Sync + 'static {
    /// The backend's name in the registry.
    const NAME: &'static str;

    /// How many numbers an element holds: 1, or [`LANES`](super::lanes::LANES).
    const WIDTH: usize;

    /// Residues modulo the prime.
    type Element: Copy + Debug + Send + Sync + 'static;

    /// A limb for each of the numbers: an index, a digit.
    type Word: Copy + Debug;

    /// A truth value for each of the numbers.
    type Mask: Masks;

    /// Limbs of one residue in the form in which constants lie in memory; see [`stored`](Self::stored).
    const STORED_LIMBS: usize;

    /// Zero, in each of the numbers.
    const ZERO: Self::Element;

    /// a·b.
    fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// a².
    fn square(self, a: &Self::Element) -> Self::Element;

    /// a^(2^times); `times` is public.
    #[inline]
    fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
        let mut power = *a;
        for _ in 0..times {
            power = self.square(&power);
        }
        power
    }

    /// a·small; `small` is a public constant below 2¹⁷.
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element;

    /// a + b.
    fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// 2a.
    #[inline(always)]
    fn double(self, a: &Self::Element) -> Self::Element {
        self.add(a, a)
    }

    /// a − b.
    fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// −a.
    #[inline(always)]
    fn negate(self, a: &Self::Element) -> Self::Element {
        self.sub(&Self::ZERO, a)
    }

    /// One step of Montgomery's ladder on a curve B·y² = x³ + A·x² + x, `a24` being the public
    /// constant (A − 2)/4 below 2¹⁷: from `state`, which is (X₂ : Z₂), (X₃ : Z₃), where `swap` is
    /// true with the two points exchanged before, to twice the first and the sum of both, of which
    /// `x1` is the difference (RFC 7748, section 5, with its names). The state comes from
    /// [`load`](Self::load) or from another step.
    ///
    /// Only A and B depend on which point is which: exchanged, D·A and C·B are each other, and the
    /// squares of their sum and difference are the same.
    #[inline(always)]
    fn ladder_step(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        swap: Self::Mask,
        a24: Limb,
    ) {
        let [x2, z2, x3, z3] = &*state;
        let (a, b) = (self.add(x2, z2), self.sub(x2, z2));
        let (c, d) = (self.add(x3, z3), self.sub(x3, z3));
        let (da, cb) = (self.mul(&d, &a), self.mul(&c, &b));
        let aa = self.square(&self.select(swap, &c, &a));
        let bb = self.square(&self.select(swap, &d, &b));
        let e = self.sub(&aa, &bb);
        *state = [
            self.mul(&aa, &bb),
            self.mul(&e, &self.add(&aa, &self.mul_small(&e, a24))),
            self.square(&self.add(&da, &cb)),
            self.mul(x1, &self.square(&self.sub(&da, &cb))),
        ];
    }

    /// Twice a point of y² = x³ − 3x + b, X, Y and Z in Jacobian coordinates, `times` times, where
    /// there is a kernel for that; `times` is public.
    #[inline(always)]
    fn double_times(
        self,
        _point: &[Self::Element; 3],
        _times: usize,
    ) -> Option<[Self::Element; 3]> {
        None
    }

    /// The sum of a point of a twisted Edwards curve −x² + y² = 1 + d·x²·y², X, Y, Z and T in extended
    /// coordinates, and one that is given by y + x, y − x and 2d·x·y, where there is a kernel for
    /// that.
    #[inline(always)]
    fn add_edwards(
        self,
        _point: &[Self::Element; 4],
        _addend: &[Self::Element; 3],
    ) -> Option<[Self::Element; 4]> {
        None
    }

    /// Where a and b are the same residue.
    fn equal(self, a: &Self::Element, b: &Self::Element) -> Self::Mask;

    /// a where `mask` is true, b where it is false.
    fn select(self, mask: Self::Mask, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// The residues of [`WIDTH`](Self::WIDTH) integers below 2^[`BITS`](Prime::BITS), which may be
    /// the prime or more.
    fn load(self, numbers: &[P::Words]) -> Self::Element;

    /// The integers from 0 to the prime less one, [`WIDTH`](Self::WIDTH) of them.
    fn store(self, element: &Self::Element, numbers: &mut [P::Words]);

    /// The same constant in each of the numbers, from the form in which constants lie in memory:
    /// [`STORED_LIMBS`](Self::STORED_LIMBS) limbs, less than the prime, times R modulo the prime
    /// where [`Prime::MONTGOMERY`]. For one number those are the n limbs of 64 bits of
    /// [`Prime::Words`], and R = 2^(64·n); for eight the m limbs of 52 bits of [`Prime::Lanes`],
    /// and R = 2^(52·m).
    fn stored(self, constant: &[Limb]) -> Self::Element;

    /// `out = table[index]` from a table of constants that all numbers share, reading the whole
    /// table: entries of `out.len() ·` [`STORED_LIMBS`](Self::STORED_LIMBS) limbs, one after the
    /// other. An index outside the table gives zero.
    fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Self::Word);

    /// `out = table[index]`, each number from its own table, reading the whole table: entries of
    /// `out.len()` elements, one after the other. An index outside the table gives zero.
    fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Self::Word);

    /// A limb for each of the numbers, by its place.
    fn word(self, limb: impl FnMut(usize) -> Limb) -> Self::Word;

    /// A truth value for each of the numbers, by its place.
    fn mask(self, value: impl FnMut(usize) -> ct::Mask) -> Self::Mask;

    /// Calls `work` in a function that is compiled for the backend's instructions, into which what
    /// is marked `#[inline(always)]` goes with it.
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
