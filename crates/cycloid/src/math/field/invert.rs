//! Field inversion: one number by safegcd, eight by a single inversion of their product
//! (Montgomery, Speeding the Pollard and elliptic curve methods of factorization, 1987, section
//! 10.3.1). The product is made in three steps, each of which multiplies by the vector rotated.

use super::{Element, MAX_WIDTH};
use crate::machine::ct;
use crate::machine::field::{Arithmetic, Limbs, Prime};
use crate::machine::words::{self, LIMB_BITS};
use crate::math::modular;

impl<P: Prime, A: Arithmetic<P>> Element<P, A> {
    /// Returns the inverse of each of the numbers, and 0 for 0.
    ///
    /// Time depends on the prime and the shape only. The numbers go through a common product, no
    /// part of which is revealed.
    pub(crate) fn invert(&self) -> Self {
        if cfg!(feature = "small") && A::WIDTH == 1 {
            return self.invert_by_power();
        }
        let zero = self.is_zero();
        let nonzero = Self::select(zero, &Self::one(self.arithmetic()), self);
        let (product, others) = nonzero.products();
        let mut numbers = [P::Words::ZERO; MAX_WIDTH];
        product.store(&mut numbers[..A::WIDTH]);
        let mut inverse = modular::invert_fixed(&numbers[0], &P::MODULUS);
        let of_product = Self::constant(self.arithmetic(), &inverse);
        let result = others.map_or(of_product, |others| &others * &of_product);
        numbers.iter_mut().chain([&mut inverse]).for_each(|number| ct::wipe(number.as_mut()));
        Self::select(zero, &Self::zero(self.arithmetic()), &result)
    }

    /// Returns the product of all numbers in each place, and the product of the others there, if
    /// there are any.
    fn products(&self) -> (Self, Option<Self>) {
        let mut product = *self;
        let mut others: Option<Self> = None;
        let mut count = 1;
        while count < A::WIDTH {
            // `product` is that of `count` numbers from this place on.
            let next = self.with(self.arithmetic().rotate(product.raw(), count));
            product = &product * &next;
            others = Some(others.map_or(next, |others| &others * &next));
            count *= 2;
        }
        (product, others)
    }
}

impl<P: Prime, A: Arithmetic<P>> Element<P, A> {
    /// Like [`invert`](Self::invert), for the same number in every place.
    #[cfg(feature = "bls12-381")]
    pub(crate) fn invert_shared(&self) -> Self {
        let zero = self.is_zero();
        let nonzero = Self::select(zero, &Self::one(self.arithmetic()), self);
        let mut numbers = [P::Words::ZERO; MAX_WIDTH];
        nonzero.store(&mut numbers[..A::WIDTH]);
        let mut inverse = [modular::invert_fixed(&numbers[0], &P::MODULUS); MAX_WIDTH];
        let result = Self::load(self.arithmetic(), &inverse[..A::WIDTH]);
        numbers.iter_mut().chain(&mut inverse).for_each(|number| ct::wipe(number.as_mut()));
        Self::select(zero, &Self::zero(self.arithmetic()), &result)
    }

    /// Like [`invert`](Self::invert), as the power p − 2 (Fermat): the shortest code.
    pub(super) fn invert_by_power(&self) -> Self {
        let mut exponent = P::MODULUS;
        words::sub(exponent.as_mut(), &[2]);
        let mut power = *self;
        for place in (0..P::BITS - 1).rev() {
            power = power.square();
            // The prime is public.
            if exponent.as_ref()[place / LIMB_BITS] >> (place % LIMB_BITS) & 1 == 1 {
                power = &power * self;
            }
        }
        power
    }
}
