//! Scalars: residues modulo the order of a curve, one at a time.

use core::fmt;

use super::{Curve, Words};
use crate::machine::ct::{self, Mask};
use crate::machine::field::Limbs;
use crate::machine::lanes::LANES;
use crate::machine::words::{self, LIMB_BITS, Limb, Words as Backend};
use crate::math::modular;

/// A residue modulo the order n; wiped when dropped.
#[derive(Clone)]
pub(crate) struct Scalar<C: Curve>(Words<C>);

/// Limbs in the longest order.
const MAX_LIMBS: usize = 9;

impl<C: Curve> Drop for Scalar<C> {
    fn drop(&mut self) {
        ct::wipe(self.0.as_mut());
    }
}

impl<C: Curve> fmt::Debug for Scalar<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scalar({})", C::NAME)
    }
}

impl<C: Curve> Scalar<C> {
    pub(crate) fn zero() -> Self {
        Self(Words::<C>::ZERO)
    }

    pub(crate) fn one() -> Self {
        let mut one = Self::zero();
        one.0.as_mut()[0] = 1;
        one
    }

    /// Reads an integer of [`Curve::BYTES`] big-endian bytes; `None` if it is not less than n,
    /// which becomes public.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        debug_assert_eq!(bytes.len(), C::BYTES);
        let mut scalar = Self::zero();
        words::from_be_bytes(scalar.0.as_mut(), bytes);
        words::is_less(scalar.0.as_ref(), C::ORDER.as_ref()).reveal().then_some(scalar)
    }

    /// Returns the leftmost bits of `bytes`, as many as n has, modulo n (SEC 1, section 4.1.3, step
    /// 5; RFC 6979, section 2.3.2 and bits2octets).
    pub(crate) fn from_leftmost_bits(bytes: &[u8]) -> Self {
        let mut scalar = Self::leftmost_bits(bytes);
        words::reduce_once(0, scalar.0.as_mut(), C::ORDER.as_ref());
        scalar
    }

    /// Returns the leftmost bits of `bytes`, as many as n has, if they are a number from 1 to n −
    /// 1; whether they are becomes public.
    pub(crate) fn from_leftmost_bits_in_range(bytes: &[u8]) -> Option<Self> {
        let scalar = Self::leftmost_bits(bytes);
        let in_range = words::is_less(scalar.0.as_ref(), C::ORDER.as_ref()) & !scalar.is_zero();
        in_range.reveal().then_some(scalar)
    }

    /// Returns a number less than 2n, since the highest bit of n is set.
    fn leftmost_bits(bytes: &[u8]) -> Self {
        let mut scalar = Self::zero();
        let bytes = &bytes[..bytes.len().min(C::BYTES)];
        words::from_be_bytes(scalar.0.as_mut(), bytes);
        let excess = (bytes.len() * 8).saturating_sub(C::BITS);
        if excess > 0 {
            let limbs = scalar.0.as_mut();
            for i in 0..limbs.len() {
                let above = limbs.get(i + 1).copied().unwrap_or(0);
                limbs[i] = limbs[i] >> excess | above << (LIMB_BITS - excess);
            }
        }
        scalar
    }

    /// Reduces an integer less than 2n modulo n, such as a point's x coordinate.
    pub(crate) fn from_integer_below_2n(integer: &Words<C>) -> Self {
        let mut scalar = Self(*integer);
        words::reduce_once(0, scalar.0.as_mut(), C::ORDER.as_ref());
        scalar
    }

    /// Writes [`Curve::BYTES`] big-endian bytes.
    pub(crate) fn to_bytes(&self, bytes: &mut [u8]) {
        debug_assert_eq!(bytes.len(), C::BYTES);
        words::to_be_bytes(bytes, self.0.as_ref());
    }

    pub(crate) const fn words(&self) -> &Words<C> {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn limbs_mut(&mut self) -> &mut [Limb] {
        self.0.as_mut()
    }

    pub(crate) fn is_zero(&self) -> Mask {
        words::is_zero(self.0.as_ref())
    }

    /// Returns whether the scalar is more than half of n.
    pub(crate) fn is_high(&self) -> Mask {
        words::is_less(self.negate().0.as_ref(), self.0.as_ref())
    }

    pub(crate) fn equal(&self, other: &Self) -> Mask {
        let difference = self.0.as_ref().iter().zip(other.0.as_ref()).map(|(a, b)| a ^ b);
        Mask::is_zero(difference.fold(0, |any, limb| any | limb))
    }

    /// Returns `a` where `mask` is true, `b` where it is false.
    pub(crate) fn select(mask: Mask, a: &Self, b: &Self) -> Self {
        let mut selected = b.clone();
        ct::assign_if(mask, selected.0.as_mut(), a.0.as_ref());
        selected
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        let carry = words::add(sum.0.as_mut(), other.0.as_ref());
        words::reduce_once(carry, sum.0.as_mut(), C::ORDER.as_ref());
        sum
    }

    pub(crate) fn negate(&self) -> Self {
        let mut negative = Self(C::ORDER);
        words::sub(negative.0.as_mut(), self.0.as_ref());
        words::reduce_once(0, negative.0.as_mut(), C::ORDER.as_ref());
        negative
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        words::Backend::best().run(Product { a: self, b: &other.0, is_exact: true })
    }

    /// Returns the inverse; 0 for 0.
    pub(crate) fn invert(&self) -> Self {
        if cfg!(feature = "small") {
            return self.invert_by_power();
        }
        let zero = self.is_zero();
        let nonzero = Self::select(zero, &Self::one(), self);
        let inverse = Self(modular::invert_fixed(&nonzero.0, &C::ORDER));
        Self::select(zero, &Self::zero(), &inverse)
    }
}

impl<C: Curve> Scalar<C> {
    /// Like [`invert`](Self::invert), as the power n − 2 (Fermat): the shortest code.
    pub(super) fn invert_by_power(&self) -> Self {
        words::Backend::best().run(Inverse { of: self })
    }
}

/// Computes a power with products in Montgomery form, by the bits of the public n − 2.
struct Inverse<'a, C: Curve> {
    of: &'a Scalar<C>,
}

impl<C: Curve> words::Task for Inverse<'_, C> {
    type Output = Scalar<C>;

    fn run<W: Backend>(self, backend: W) -> Scalar<C> {
        let mut work = [0; words::montgomery_work_limbs(MAX_LIMBS)];
        let mut mul = |a: &mut Scalar<C>, b: &Words<C>| {
            let order = C::ORDER;
            backend.montgomery_mul(
                a.0.as_mut(),
                b.as_ref(),
                &mut work,
                order.as_ref(),
                C::ORDER_N0,
            );
        };
        let mut exponent = C::ORDER;
        words::sub(exponent.as_mut(), &[2]);
        let mut base = self.of.clone();
        mul(&mut base, &C::ORDER_R_SQUARED);
        let mut power = base.clone();
        for place in (0..C::BITS - 1).rev() {
            let same = power.clone();
            mul(&mut power, &same.0);
            // The order is public.
            if exponent.as_ref()[place / LIMB_BITS] >> (place % LIMB_BITS) & 1 == 1 {
                mul(&mut power, &base.0);
            }
        }
        mul(&mut power, &Scalar::<C>::one().0);
        ct::wipe(&mut work);
        power
    }
}

/// Operations on many scalars.
impl<C: Curve> Scalar<C> {
    /// Returns the inverses of the scalars, none of which is 0, by a single inversion of their
    /// product (Montgomery's trick), no part of which is revealed.
    pub(crate) fn invert_all(scalars: &[Self; LANES]) -> [Self; LANES] {
        Self::invert_first(scalars, LANES)
    }

    /// Like [`invert_all`](Self::invert_all), for the first `count` scalars, at least one. The
    /// others stay as they are.
    pub(crate) fn invert_first<const N: usize>(scalars: &[Self; N], count: usize) -> [Self; N] {
        // s₀·…·sᵢ / Rⁱ, as each product divides by R.
        let mut products = scalars.clone();
        for i in 1..count {
            products[i] = products[i - 1].montgomery_product(&scalars[i]);
        }
        // Rⁱ / (s₀·…·sᵢ), which leaves 1/sᵢ without a power of R.
        let mut inverse = products[count - 1].invert();
        let mut inverses = scalars.clone();
        for i in (1..count).rev() {
            inverses[i] = inverse.montgomery_product(&products[i - 1]);
            inverse = inverse.montgomery_product(&scalars[i]);
        }
        inverses[0] = inverse;
        inverses
    }

    /// Returns Σ a·b.
    pub(crate) fn sum_of_products<'a>(
        products: impl Iterator<Item = (&'a Self, &'a Self)>,
    ) -> Self {
        let add = |sum: Self, (a, b): (&Self, &Self)| sum.add(&a.montgomery_product(b));
        products.fold(Self::zero(), add).montgomery_product(&Self(C::ORDER_R_SQUARED))
    }

    /// Returns a·b/R, where R is 2^64 to the number of limbs.
    fn montgomery_product(&self, other: &Self) -> Self {
        words::Backend::best().run(Product { a: self, b: &other.0, is_exact: false })
    }
}

/// Computes a·b/R mod n by a Montgomery product, or a·b by two: the second cancels the R that R²
/// introduces.
struct Product<'a, C: Curve> {
    a: &'a Scalar<C>,
    b: &'a Words<C>,
    is_exact: bool,
}

impl<C: Curve> words::Task for Product<'_, C> {
    type Output = Scalar<C>;

    fn run<W: Backend>(self, backend: W) -> Scalar<C> {
        let order = C::ORDER;
        let (order, n0) = (order.as_ref(), C::ORDER_N0);
        let mut work = [0; words::montgomery_work_limbs(MAX_LIMBS)];
        let mut product = self.a.clone();
        let r_squared = C::ORDER_R_SQUARED;
        let limbs = product.0.as_mut();
        if self.is_exact {
            backend.montgomery_mul(limbs, r_squared.as_ref(), &mut work, order, n0);
        }
        backend.montgomery_mul(limbs, self.b.as_ref(), &mut work, order, n0);
        ct::wipe(&mut work);
        product
    }
}

/// Returns 2^(2·64·N) modulo `modulus`, whose highest limb is not 0.
pub(super) const fn r_squared<const N: usize>(modulus: &[Limb; N]) -> [Limb; N] {
    let mut power: [Limb; N] = [0; N];
    power[0] = 1;
    let mut doublings = 0;
    while doublings < 2 * LIMB_BITS * N {
        // 2·power, and 2·power minus the modulus.
        let (mut twice, mut reduced): ([Limb; N], [Limb; N]) = ([0; N], [0; N]);
        let (mut carry, mut borrow) = (0, false);
        let mut i = 0;
        while i < N {
            twice[i] = power[i] << 1 | carry;
            carry = power[i] >> 63;
            let (difference, b1) = twice[i].overflowing_sub(modulus[i]);
            let (difference, b2) = difference.overflowing_sub(borrow as Limb);
            reduced[i] = difference;
            borrow = b1 || b2;
            i += 1;
        }
        power = if carry == 0 && borrow { twice } else { reduced };
        doublings += 1;
    }
    power
}
