//! Fr as a prime field.
//!
//! Time depends on no value, except in functions ending in `_vartime` and in the conversion from
//! text. Whether an encoding is refused is public; comparisons here, unlike `==`, are not.

use ff::{Field, FromUniformBytes, PrimeField, WithSmallOrderMulGroup, helpers};
use rand_core_0_6::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, CtOption};

use crate::machine::ct::{Mask, wipe_bytes};
use crate::machine::stack;
use crate::scheme::bls12_381::Fr;
use crate::scheme::bls12_381::backend::{FieldConstants, Scalars};
use crate::scheme::bls12_381::fr::ODD_PART_HALF;
use crate::scheme::stack_use;

impl<B: Scalars> ConditionallySelectable for Fr<B> {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        let mask = Mask::from_bit(choice.unwrap_u8().into());
        Self::from_raw(B::fr_select(mask, b.raw(), a.raw()))
    }
}

impl<B: Scalars> ConstantTimeEq for Fr<B> {
    /// Compares without making the result public.
    fn ct_eq(&self, other: &Self) -> Choice {
        stack::clean(stack_use::BLS_SCALAR, || {
            let difference = (*self - *other).to_integer();
            choice(Mask::is_zero(difference.iter().fold(0, |any, limb| any | limb)).value())
        })
    }
}

impl<B: FieldConstants> Field for Fr<B> {
    const ZERO: Self = Self::from_raw(B::ZERO);
    const ONE: Self = Self::from_raw(B::ONE);

    /// Draws a uniform element from 64 random bytes. The trait has no error: a generator that
    /// cannot fail must be given.
    fn random(mut rng: impl RngCore) -> Self {
        stack::clean(stack_use::BLS_SCALAR, || {
            let mut bytes = [0; 64];
            rng.fill_bytes(&mut bytes);
            let element = Self::from_bytes_wide(&bytes);
            wipe_bytes(&mut bytes);
            element
        })
    }

    fn square(&self) -> Self {
        self.square()
    }

    fn double(&self) -> Self {
        self.double()
    }

    /// Returns the inverse. Unlike [`Fr::invert`], it does not make public whether this is 0.
    fn invert(&self) -> CtOption<Self> {
        stack::clean(stack_use::BLS_SCALAR, || {
            CtOption::new(Self::from_raw(B::fr_invert(self.raw())), !Field::is_zero(self))
        })
    }

    /// Returns a square root of `num / div`, or of that times [`PrimeField::ROOT_OF_UNITY`], which
    /// is not a square; in constant time.
    fn sqrt_ratio(num: &Self, div: &Self) -> (Choice, Self) {
        stack::clean(stack_use::BLS_SCALAR, || {
            // 1/0 counts as 0.
            let quotient = *num * Self::from_raw(B::fr_invert(div.raw()));
            let root = Field::sqrt(&quotient);
            let other = Field::sqrt(&(quotient * Self::ROOT_OF_UNITY)).unwrap_or(Self::ZERO);
            let exists = Field::is_zero(num) | !Field::is_zero(div);
            (root.is_some() & exists, root.unwrap_or(other))
        })
    }

    /// Returns a square root, either of the two, in constant time.
    fn sqrt(&self) -> CtOption<Self> {
        stack::clean(stack_use::BLS_SCALAR, || helpers::sqrt_tonelli_shanks(self, ODD_PART_HALF))
    }

    fn pow<S: AsRef<[u64]>>(&self, exponent: S) -> Self {
        self.pow(exponent.as_ref())
    }

    fn pow_vartime<S: AsRef<[u64]>>(&self, exponent: S) -> Self {
        self.pow_vartime(exponent.as_ref())
    }
}

impl<B: FieldConstants> PrimeField for Fr<B> {
    /// Little-endian.
    type Repr = [u8; 32];

    const MODULUS: &'static str =
        "0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    const NUM_BITS: u32 = 255;
    const CAPACITY: u32 = 254;
    const TWO_INV: Self = Self::from_raw(B::TWO_INVERSE);
    const MULTIPLICATIVE_GENERATOR: Self = Self::from_raw(B::GENERATOR);
    const S: u32 = Self::TWO_ADICITY;
    const ROOT_OF_UNITY: Self = Self::from_raw(B::ROOT_OF_UNITY);
    const ROOT_OF_UNITY_INV: Self = Self::from_raw(B::ROOT_OF_UNITY_INVERSE);
    const DELTA: Self = Self::from_raw(B::DELTA);

    fn from_repr(bytes: [u8; 32]) -> CtOption<Self> {
        super::points::option(Self::from_bytes(&bytes).ok(), Self::ZERO)
    }

    fn to_repr(&self) -> [u8; 32] {
        self.to_bytes()
    }

    fn is_odd(&self) -> Choice {
        stack::clean(stack_use::BLS_SCALAR, || choice(self.to_integer()[0]))
    }
}

impl<B: FieldConstants> WithSmallOrderMulGroup<3> for Fr<B> {
    const ZETA: Self = Self::from_raw(B::CUBE_ROOT_OF_UNITY);
}

impl<B: FieldConstants> FromUniformBytes<64> for Fr<B> {
    fn from_uniform_bytes(bytes: &[u8; 64]) -> Self {
        Self::from_bytes_wide(bytes)
    }
}

/// Returns the lowest bit of a limb.
fn choice(limb: u64) -> Choice {
    Choice::from((limb & 1) as u8)
}
