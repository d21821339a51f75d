//! The field Fr: the interface of a backend, and the public type.

use core::marker::PhantomData;

use super::formula::{Formula, Ring};
use crate::machine::ct::Mask;
use crate::math::bls12_381::reverse_bits;
use crate::scheme::bls12_381::cycloid::Cycloid;
use crate::scheme::bls12_381::integer::Integer;

/// The field Fr of the integers modulo r, the order of the groups.
pub trait Scalars: Copy + Send + Sync + 'static {
    /// One element, in any representation.
    type Fr: Copy + Send + Sync + 'static;

    /// 0.
    const ZERO: Self::Fr;

    /// 1.
    const ONE: Self::Fr;

    /// Converts an integer below r to an element.
    fn fr_from_integer(integer: &Integer) -> Self::Fr;

    /// Converts an element to the integer from 0 to r − 1.
    fn fr_to_integer(a: &Self::Fr) -> Integer;

    /// Returns a + b.
    fn fr_add(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns a − b.
    fn fr_sub(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns −a.
    fn fr_negate(a: &Self::Fr) -> Self::Fr {
        Self::fr_sub(&Self::ZERO, a)
    }

    /// Returns 2·a.
    fn fr_double(a: &Self::Fr) -> Self::Fr {
        Self::fr_add(a, a)
    }

    /// Returns a · b.
    fn fr_mul(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns a².
    fn fr_square(a: &Self::Fr) -> Self::Fr {
        Self::fr_mul(a, a)
    }

    /// Returns 1/a, and 0 for 0.
    fn fr_invert(a: &Self::Fr) -> Self::Fr;

    /// Like [`fr_invert`](Self::fr_invert), for a public value.
    fn fr_invert_vartime(a: &Self::Fr) -> Self::Fr {
        Self::fr_invert(a)
    }

    /// Returns a to the power of a secret integer, little-endian. Time depends on its number of
    /// limbs only.
    fn fr_pow(a: &Self::Fr, exponent: &[u64]) -> Self::Fr {
        let mut powers = [Self::ONE; 16];
        for i in 1..powers.len() {
            powers[i] = Self::fr_mul(&powers[i - 1], a);
        }
        let mut power = Self::ONE;
        for limb in exponent.iter().rev() {
            for window in (0..u64::BITS).step_by(4).rev() {
                let digit = limb >> window & 15;
                let mut factor = Self::ONE;
                for (i, candidate) in (1..).zip(&powers[1..]) {
                    factor = Self::fr_select(Mask::is_zero(digit ^ i), candidate, &factor);
                }
                power = (0..4).fold(power, |power, _| Self::fr_square(&power));
                power = Self::fr_mul(&power, &factor);
            }
        }
        power
    }

    /// Returns a to the power of a public integer, little-endian.
    fn fr_pow_vartime(a: &Self::Fr, exponent: &[u64]) -> Self::Fr {
        let mut power = Self::ONE;
        for limb in exponent.iter().rev() {
            for bit in (0..u64::BITS).rev() {
                power = Self::fr_square(&power);
                if limb >> bit & 1 == 1 {
                    power = Self::fr_mul(&power, a);
                }
            }
        }
        power
    }

    /// Returns whether a = b.
    fn fr_equal(a: &Self::Fr, b: &Self::Fr) -> bool;

    /// Returns `a` if `mask` is true, `b` if it is false.
    fn fr_select(mask: Mask, a: &Self::Fr, b: &Self::Fr) -> Self::Fr {
        let bit = Self::fr_from_integer(&[mask.value() & 1, 0, 0, 0]);
        Self::fr_add(b, &Self::fr_mul(&bit, &Self::fr_sub(a, b)))
    }

    /// Overwrites a secret in a way that the compiler does not remove.
    fn fr_wipe(a: &mut Self::Fr);

    /// Returns a₀b₀ + a₁b₁ + …
    fn fr_inner_product(a: &[Fr<Self>], b: &[Fr<Self>]) -> Self::Fr {
        a.iter()
            .zip(b)
            .fold(Self::ZERO, |sum, (a, b)| Self::fr_add(&sum, &Self::fr_mul(a.raw(), b.raw())))
    }

    /// Computes aᵢ ← aᵢ + bᵢ.
    fn fr_add_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_add(a.raw(), b.raw()));
        }
    }

    /// Computes aᵢ ← aᵢ · bᵢ.
    fn fr_mul_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_mul(a.raw(), b.raw()));
        }
    }

    /// Computes aᵢ ← 1/aᵢ, and 0 for 0, with one inversion (Montgomery's trick). `scratch` has as
    /// many elements as `a`, with arbitrary contents. Time depends on which elements are 0.
    fn fr_invert_many(a: &mut [Fr<Self>], scratch: &mut [Fr<Self>]) {
        // scratchᵢ is the product of the elements before i; a zero counts as 1.
        let mut product = Fr::ONE;
        for (a, before) in a.iter().zip(&mut *scratch) {
            *before = product;
            product = if a.is_zero() { product } else { product * *a };
        }
        let mut inverse = Fr::from_raw(Self::fr_invert(product.raw()));
        for (a, before) in a.iter_mut().zip(&*scratch).rev() {
            if !a.is_zero() {
                let inverted = inverse * *before;
                inverse *= *a;
                *a = inverted;
            }
        }
    }

    /// Computes (a, b) ← (a + b·w, a − b·w), the step of a Fourier transform.
    fn fr_butterfly(a: &mut Self::Fr, b: &mut Self::Fr, w: &Self::Fr) {
        let product = Self::fr_mul(b, w);
        *b = Self::fr_sub(a, &product);
        *a = Self::fr_add(a, &product);
    }

    /// Computes the discrete Fourier transform in place: bᵢ = Σ aⱼ·ω^(ij), both in natural order.
    ///
    /// There are n = 2^k values. `roots` are ω⁰, ω¹, …, ω^(n/2−1) for a primitive n-th root of
    /// unity ω.
    fn fr_transform(values: &mut [Fr<Self>], roots: &[Fr<Self>]) {
        transform(values, roots);
    }

    /// Applies a formula to each of the states.
    fn fr_apply<F: Formula<Self::Fr, T>, const T: usize>(
        formula: &F,
        states: &mut [[Fr<Self>; T]],
    ) {
        for state in states {
            let mut elements = state.map(|element| element.0);
            formula.apply(OneByOne::<Self>(PhantomData), &mut elements);
            *state = elements.map(Fr::from_raw);
        }
    }
}

/// An element of Fr with the backend `B`.
///
/// Time depends on no value, except in functions ending in `_vartime` and in conversions from and
/// to text.
#[repr(transparent)]
pub struct Fr<B: Scalars = Cycloid>(pub(in crate::scheme::bls12_381) B::Fr);

impl<B: Scalars> Fr<B> {
    /// Returns the backend's own representation.
    #[inline(always)]
    pub const fn raw(&self) -> &B::Fr {
        &self.0
    }

    /// Wraps a representation, which must be one of the backend's.
    #[inline(always)]
    pub const fn from_raw(raw: B::Fr) -> Self {
        Self(raw)
    }

    /// Returns the backend's own representation, mutably.
    #[inline(always)]
    pub(in crate::scheme::bls12_381) const fn raw_mut(&mut self) -> &mut B::Fr {
        &mut self.0
    }
}

impl<B: Scalars> Clone for Fr<B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Scalars> Copy for Fr<B> {}

/// The transform over Fr: Cooley-Tukey, radix 2, decimation in time.
fn transform<B: Scalars>(values: &mut [Fr<B>], roots: &[Fr<B>]) {
    reverse_bits(values);
    let mut half = 1;
    while half < values.len() {
        let stride = roots.len() / half;
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((low, high), root) in low.iter_mut().zip(high).zip(roots.iter().step_by(stride)) {
                B::fr_butterfly(low.raw_mut(), high.raw_mut(), root.raw());
            }
        }
        half *= 2;
    }
}

/// A backend's functions for one element, as the arithmetic of formulas.
struct OneByOne<B>(PhantomData<B>);

impl<B> Clone for OneByOne<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for OneByOne<B> {}

impl<B: Scalars> Ring for OneByOne<B> {
    type Constant = B::Fr;
    type Element = B::Fr;

    #[inline(always)]
    fn constant(self, constant: &B::Fr) -> B::Fr {
        *constant
    }

    #[inline(always)]
    fn add(self, a: &B::Fr, b: &B::Fr) -> B::Fr {
        B::fr_add(a, b)
    }

    #[inline(always)]
    fn sub(self, a: &B::Fr, b: &B::Fr) -> B::Fr {
        B::fr_sub(a, b)
    }

    #[inline(always)]
    fn mul(self, a: &B::Fr, b: &B::Fr) -> B::Fr {
        B::fr_mul(a, b)
    }

    #[inline(always)]
    fn square(self, a: &B::Fr) -> B::Fr {
        B::fr_square(a)
    }
}
