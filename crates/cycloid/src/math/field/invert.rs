//! Field inversion: one number by safegcd, eight by a single inversion of their product
//! (Montgomery, Speeding the Pollard and elliptic curve methods of factorization, 1987, section
//! 10.3.1).

use super::{Element, MAX_WIDTH};
use crate::machine::ct;
use crate::machine::field::{Arithmetic, Limbs, Prime, Task};
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
        let mut numbers = [P::Words::ZERO; MAX_WIDTH];
        let used = &mut numbers[..A::WIDTH];
        nonzero.store(used);
        if A::WIDTH == 1 {
            used[0] = modular::invert_fixed(&used[0], &P::MODULUS);
        } else {
            P::run_one(words::Backend::best(), InvertAll { numbers: used });
        }
        let inverse = Self::load(self.arithmetic(), used);
        used.iter_mut().for_each(|number| ct::wipe(number.as_mut()));
        Self::select(zero, &Self::zero(self.arithmetic()), &inverse)
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

/// Replaces all of the numbers, none of which is 0, by their inverses.
struct InvertAll<'a, N> {
    numbers: &'a mut [N],
}

impl<P: Prime> Task<P> for InvertAll<'_, P::Words> {
    type Output = ();

    fn run<A: Arithmetic<P>>(self, arithmetic: A) {
        let (first, rest) = self.numbers.split_at_mut(1);
        let first = &mut first[0];
        let element = |number: &P::Words| Element::<P, A>::load(arithmetic, &[*number]);
        let mut products = [element(first); MAX_WIDTH];
        for (i, number) in rest.iter().enumerate() {
            products[i + 1] = &products[i] * &element(number);
        }
        let mut product = [P::Words::ZERO];
        products[rest.len()].store(&mut product);
        let mut inverse = element(&modular::invert_fixed(&product[0], &P::MODULUS));
        for (number, before) in rest.iter_mut().zip(&products).rev() {
            let all = inverse;
            inverse = &inverse * &element(number);
            (&all * before).store(core::slice::from_mut(number));
        }
        inverse.store(core::slice::from_mut(first));
    }
}
