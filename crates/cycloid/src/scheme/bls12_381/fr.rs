//! The field Fr of integers modulo r, the order of the groups: exponents and scalars, secret or
//! public.

use core::cmp::Ordering;
use core::fmt;
use core::iter::{Product, Sum};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use core::str::FromStr;

use rand_core::TryCryptoRng;

use super::backend::{Integer, Scalars};
use super::error::{array, equal_counts};
use super::hash::{Expander, HashedField, Message, hash_to_field};
use super::{Error, Fr, integer};
use crate::machine::{ct, stack};
use crate::scheme::{random, stack_use};

impl<B: Scalars> Fr<B> {
    /// Bytes of an encoding.
    pub const BYTES: usize = 32;

    /// r, little-endian.
    pub const ORDER: Integer = integer::ORDER;

    /// The largest k for which there are 2^k-th roots of unity.
    pub const TWO_ADICITY: u32 = 32;

    /// 0.
    pub const ZERO: Self = Self(B::ZERO);

    /// 1.
    pub const ONE: Self = Self(B::ONE);

    /// Decodes 32 little-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::NotCanonical`] for r or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_SCALAR_BYTES, || {
            Self::from_integer(&integer::from_le_bytes(array(bytes)?))
        })
    }

    /// Encodes the element as 32 little-endian bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::BLS_SCALAR_BYTES, || integer::to_le_bytes(&self.to_integer()))
    }

    /// Decodes 32 big-endian bytes, the format of scalars in the drafts.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_SCALAR_BYTES, || {
            let mut reversed = *array::<32>(bytes)?;
            reversed.reverse();
            Self::from_integer(&integer::from_le_bytes(&reversed))
        })
    }

    /// Encodes the element as 32 big-endian bytes.
    pub fn to_be_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::BLS_SCALAR_BYTES, || {
            let mut bytes = integer::to_le_bytes(&self.to_integer());
            bytes.reverse();
            bytes
        })
    }

    /// Reduces little-endian bytes, of any number, modulo r.
    pub fn from_bytes_wide(bytes: &[u8]) -> Self {
        stack::clean(stack_use::BLS_SCALAR, || {
            // Horner's rule over pieces of 31 bytes, each below r.
            let shift = Self(B::fr_from_integer(&[0, 0, 0, 1 << 56]));
            let mut sum = Self::ZERO;
            for piece in bytes.chunks(31).rev() {
                let mut padded = [0; 32];
                padded[..piece.len()].copy_from_slice(piece);
                let digit = Self(B::fr_from_integer(&integer::from_le_bytes(&padded)));
                ct::wipe_bytes(&mut padded);
                sum = sum * shift + digit;
            }
            sum
        })
    }

    /// Reduces big-endian bytes, of any number, modulo r.
    pub fn from_be_bytes_wide(bytes: &[u8]) -> Self {
        stack::clean(stack_use::BLS_SCALAR, || {
            let shift = Self(B::fr_from_integer(&[0, 0, 0, 1 << 56]));
            let mut sum = Self::ZERO;
            for piece in bytes.rchunks(31).rev() {
                let mut padded = [0; 32];
                padded[..piece.len()].copy_from_slice(piece);
                padded[..piece.len()].reverse();
                let digit = Self(B::fr_from_integer(&integer::from_le_bytes(&padded)));
                ct::wipe_bytes(&mut padded);
                sum = sum * shift + digit;
            }
            sum
        })
    }

    /// Hashes a message to a scalar: hash_to_field of RFC 9380, section 5.2, for one element of Fr.
    pub fn hash<E: Expander>(message: &Message<'_>, dst: &[u8]) -> Self {
        let (mut scalar, mut uniform) = ([Self::ZERO], [0; 48]);
        match hash_to_field::<E, Self>(message, dst, &mut scalar, &mut uniform) {
            Ok(()) => scalar[0],
            Err(_) => unreachable!("an expander gives 48 bytes"),
        }
    }

    /// Converts a little-endian integer.
    ///
    /// # Errors
    /// [`Error::NotCanonical`] for r or more.
    pub fn from_integer(integer: &Integer) -> Result<Self, Error> {
        if integer::is_below_order(integer) {
            Ok(Self(B::fr_from_integer(integer)))
        } else {
            Err(Error::NotCanonical)
        }
    }

    /// Returns the integer from 0 to r − 1, little-endian.
    pub fn to_integer(&self) -> Integer {
        B::fr_to_integer(&self.0)
    }

    /// Draws a uniform element from 64 random bytes.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails or returns the same eight bytes twice, as
    /// one that is stuck does.
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_SCALAR, || {
            let mut bytes = [0; 64];
            random::fill(rng, &mut bytes)?;
            let element = Self::from_bytes_wide(&bytes);
            ct::wipe_bytes(&mut bytes);
            Ok(element)
        })
    }

    /// Draws a uniform element that is not 0.
    ///
    /// # Errors
    /// As [`random`](Self::random).
    pub fn random_nonzero(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        // A sound generator draws 0 less often than it fails the other test.
        let element = Self::random(rng)?;
        if element.is_zero() { Err(Error::RandomGenerator) } else { Ok(element) }
    }

    /// Returns whether this is 0.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Returns whether this is 1.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// Returns twice this element.
    pub fn double(&self) -> Self {
        Self(B::fr_double(&self.0))
    }

    /// Returns this element squared.
    pub fn square(&self) -> Self {
        Self(B::fr_square(&self.0))
    }

    /// Returns the inverse, or `None` for 0.
    pub fn invert(&self) -> Option<Self> {
        stack::clean(stack_use::BLS_SCALAR, || {
            (!self.is_zero()).then(|| Self(B::fr_invert(&self.0)))
        })
    }

    /// Returns the inverse of a public element, or `None` for 0.
    pub fn invert_vartime(&self) -> Option<Self> {
        (!self.is_zero()).then(|| Self(B::fr_invert_vartime(&self.0)))
    }

    /// Returns this element divided by another, or `None` if that is 0.
    pub fn divide(&self, divisor: &Self) -> Option<Self> {
        divisor.invert().map(|inverse| *self * inverse)
    }

    /// Returns this element to the power of a little-endian integer. Time depends on its number of
    /// limbs.
    pub fn pow(&self, exponent: &[u64]) -> Self {
        stack::clean(stack_use::BLS_SCALAR, || Self(B::fr_pow(&self.0, exponent)))
    }

    /// Returns this element to the power of a public integer, little-endian.
    pub fn pow_vartime(&self, exponent: &[u64]) -> Self {
        Self(B::fr_pow_vartime(&self.0, exponent))
    }

    /// Returns the Legendre symbol: 1 for squares, −1 for nonsquares, 0 for 0.
    pub fn legendre(&self) -> i8 {
        let symbol = self.pow_vartime(&HALF_ORDER);
        if symbol.is_one() {
            1
        } else if symbol.is_zero() {
            0
        } else {
            -1
        }
    }

    /// Returns whether this is 0 or has a square root.
    pub fn is_square(&self) -> bool {
        self.legendre() >= 0
    }

    /// Returns a square root of a public element, the smaller of the two as an integer; `None` if
    /// there is none.
    ///
    /// By the discrete logarithm of a^t in the group of 2³²-th roots of unity, for r − 1 = 2³²·t
    /// (Sarkar, Computing square roots faster than the Tonelli-Shanks/Bernstein algorithm, 2020).
    pub fn sqrt_vartime(&self) -> Option<Self> {
        if self.is_zero() {
            return Some(*self);
        }
        let power = self.pow_vartime(&ODD_PART_HALF);
        let root = power * *self;
        // ω^e, and root² = a·ω^e.
        let rest = root * power;
        let inverses = InversePowers::new();
        let exponent = inverses.even_logarithm(&rest)?;
        let root = inverses.multiply(root, exponent >> 1, 0);
        let negative = -root;
        Some(if root.compare_integers(&negative).is_le() { root } else { negative })
    }

    /// Returns the primitive 2^k-th root of unity 7^((r − 1)/2^k); `None` for k above
    /// [`TWO_ADICITY`](Self::TWO_ADICITY).
    pub fn root_of_unity(k: u32) -> Option<Self> {
        let squarings = Self::TWO_ADICITY.checked_sub(k)?;
        let generator = Self::from(7);
        let primitive = generator.pow_vartime(&ODD_PART);
        Some((0..squarings).fold(primitive, |root, _| root.square()))
    }

    /// Returns a₀b₀ + a₁b₁ + …
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn inner_product(a: &[Self], b: &[Self]) -> Result<Self, Error> {
        equal_counts(a.len(), b.len())?;
        Ok(Self(B::fr_inner_product(a, b)))
    }

    /// Returns aᵢ ← aᵢ + bᵢ.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn add_many(a: &mut [Self], b: &[Self]) -> Result<(), Error> {
        equal_counts(a.len(), b.len())?;
        B::fr_add_many(a, b);
        Ok(())
    }

    /// Returns aᵢ ← aᵢ · bᵢ.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn mul_many(a: &mut [Self], b: &[Self]) -> Result<(), Error> {
        equal_counts(a.len(), b.len())?;
        B::fr_mul_many(a, b);
        Ok(())
    }

    /// Returns aᵢ ← 1/aᵢ with one inversion; 0 stays 0. `scratch` has as many elements as `a`.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn invert_many(a: &mut [Self], scratch: &mut [Self]) -> Result<(), Error> {
        equal_counts(a.len(), scratch.len())?;
        B::fr_invert_many(a, scratch);
        scratch.iter_mut().for_each(Self::wipe);
        Ok(())
    }

    /// Overwrites a secret with 0 in a way that the compiler does not remove.
    pub fn wipe(&mut self) {
        B::fr_wipe(&mut self.0);
    }

    fn compare_integers(&self, other: &Self) -> Ordering {
        self.to_integer().iter().rev().cmp(other.to_integer().iter().rev())
    }
}

/// Bits of a digit of a logarithm.
const DIGIT: usize = 4;

/// The number of digits of a logarithm.
const DIGITS: usize = Fr::<super::Cycloid>::TWO_ADICITY as usize / DIGIT;

/// The powers ω^(−2^k) of the primitive 2³²-th root of unity ω for each k below 32, for public
/// logarithms.
struct InversePowers<B: Scalars>([Fr<B>; DIGIT * DIGITS]);

impl<B: Scalars> InversePowers<B> {
    fn new() -> Self {
        let mut powers = [Fr(B::fr_from_integer(&ROOT_OF_UNITY_INVERSE)); DIGIT * DIGITS];
        for k in 1..powers.len() {
            powers[k] = powers[k - 1].square();
        }
        Self(powers)
    }

    /// Returns a · ω^(−e·2^shift), where no bit of e is shifted out.
    fn multiply(&self, mut a: Fr<B>, e: u32, shift: usize) -> Fr<B> {
        let mut left = e;
        while left != 0 {
            a *= self.0[left.trailing_zeros() as usize + shift];
            left &= left - 1;
        }
        a
    }

    /// Returns e for ω^e, or `None` if e is odd (Pohlig and Hellman, 1978).
    fn even_logarithm(&self, power: &Fr<B>) -> Option<u32> {
        // The digits from the lowest: ω^(e·2^s) depends on the lowest 32 − s bits of e.
        let mut shifted = [*power; DIGITS];
        for i in (0..DIGITS - 1).rev() {
            shifted[i] = (0..DIGIT).fold(shifted[i + 1], |power, _| power.square());
        }
        // The powers of ω^(−2^28).
        let mut candidates = [Fr::ONE; 1 << DIGIT];
        for i in 1..candidates.len() {
            candidates[i] = candidates[i - 1] * self.0[DIGIT * (DIGITS - 1)];
        }
        let mut e = 0;
        for (i, shifted) in shifted.into_iter().enumerate() {
            let known = self.multiply(shifted, e, DIGIT * (DIGITS - 1 - i));
            let place = candidates.iter().position(|candidate| *candidate == known)?;
            let digit = (candidates.len() - place) & (candidates.len() - 1);
            if i == 0 && digit % 2 == 1 {
                return None;
            }
            e |= (digit as u32) << (DIGIT * i);
        }
        Some(e)
    }
}

impl<B: Scalars> HashedField for Fr<B> {
    const UNIFORM_BYTES: usize = 48;

    fn from_uniform(bytes: &[u8]) -> Self {
        Self::from_be_bytes_wide(bytes)
    }
}

/// (r − 1)/2.
const HALF_ORDER: Integer =
    [0x7fff_ffff_8000_0000, 0xa9de_d201_7fff_2dff, 0x199c_ec04_04d0_ec02, 0x39f6_d3a9_94ce_bea4];

/// t = (r − 1)/2³², which is odd.
const ODD_PART: Integer =
    [0xfffe_5bfe_ffff_ffff, 0x09a1_d805_53bd_a402, 0x299d_7d48_3339_d808, 0x0000_0000_73ed_a753];

/// 1/ω for the primitive 2³²-th root of unity ω = 7^t.
const ROOT_OF_UNITY_INVERSE: Integer =
    [0x0fb4_d6e1_3cf1_9a78, 0x6f67_d4a2_b566_f833, 0xed4f_2f74_a35d_0168, 0x0538_a6f6_6e19_c653];

/// (t − 1)/2.
pub(super) const ODD_PART_HALF: Integer =
    [0x7fff_2dff_7fff_ffff, 0x04d0_ec02_a9de_d201, 0x94ce_bea4_199c_ec04, 0x0000_0000_39f6_d3a9];

impl<B: Scalars> Default for Fr<B> {
    /// Returns 0.
    fn default() -> Self {
        Self::ZERO
    }
}

impl<B: Scalars> PartialEq for Fr<B> {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        B::fr_equal(&self.0, &other.0)
    }
}

impl<B: Scalars> Eq for Fr<B> {}

impl<B: Scalars> From<u64> for Fr<B> {
    fn from(integer: u64) -> Self {
        Self(B::fr_from_integer(&[integer, 0, 0, 0]))
    }
}

impl<B: Scalars> FromStr for Fr<B> {
    type Err = Error;

    /// Parses a decimal integer, or a hexadecimal one with the prefix `0x`, below r. Time depends
    /// on the text.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_integer(&integer::parse_vartime(text)?)
    }
}

impl<B: Scalars> fmt::Display for Fr<B> {
    /// Prints the element in decimal. Time depends on the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        integer::display_vartime(&self.to_integer(), f)
    }
}

impl<B: Scalars> fmt::LowerHex for Fr<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.write_str("0x")?;
        }
        self.to_integer().iter().rev().try_for_each(|limb| write!(f, "{limb:016x}"))
    }
}

impl<B: Scalars> fmt::Debug for Fr<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fr({self:#x})")
    }
}

super::operators::ring!(Fr<B>, Scalars, fr_add, fr_sub, fr_mul);

impl<B: Scalars> Neg for Fr<B> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(B::fr_negate(&self.0))
    }
}

impl<B: Scalars> Div for Fr<B> {
    type Output = Self;

    /// Division by 0 gives 0; [`divide`](Fr::divide) reports it.
    fn div(self, divisor: Self) -> Self {
        Self(B::fr_mul(&self.0, &B::fr_invert(&divisor.0)))
    }
}

impl<B: Scalars> DivAssign for Fr<B> {
    fn div_assign(&mut self, divisor: Self) {
        *self = *self / divisor;
    }
}

impl<B: Scalars> Sum for Fr<B> {
    fn sum<I: Iterator<Item = Self>>(elements: I) -> Self {
        elements.fold(Self::ZERO, Add::add)
    }
}

impl<B: Scalars> Product for Fr<B> {
    fn product<I: Iterator<Item = Self>>(elements: I) -> Self {
        elements.fold(Self::ONE, Mul::mul)
    }
}
