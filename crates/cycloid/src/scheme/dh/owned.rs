//! Groups that own their numbers, for keys that outlive the function that reads them, and what such
//! keys need: numbers as bytes, and checks of public values.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use rand_core::CryptoRng;

use super::group::Order;
use super::parameters::known;
use super::{
    Error, Group, MAX_BITS, MIN_BITS, Parameters, Validation, checked_memory, group_limbs,
    group_scratch_limbs, minimum_scratch_limbs, public,
};
use crate::machine::words::{self, Limb};
use crate::math::jacobi;
use crate::math::modular::Modulus;

/// A [`Group`] that owns its numbers. One of the [known groups](Group::KNOWN) has no copy of them.
#[derive(Clone)]
pub struct OwnedGroup(Numbers);

#[derive(Clone)]
enum Numbers {
    Known(&'static Group<'static>),
    Custom(Custom),
}

/// The numbers of a custom group, little-endian.
#[derive(Clone)]
struct Custom {
    prime: Vec<Limb>,
    bits: usize,
    r_squared: Vec<Limb>,
    generator: Vec<Limb>,
    order: OwnedOrder,
}

#[derive(Clone)]
enum OwnedOrder {
    Half,
    Whole,
    Prime(Vec<Limb>),
}

impl OwnedGroup {
    /// Creates a group after all checks of [`Group::new`].
    ///
    /// # Errors
    /// As [`Group::new`].
    pub fn new(parameters: &Parameters<'_>, rng: &mut impl CryptoRng) -> Result<Self, Error> {
        with_memory(parameters, |memory, scratch| {
            let group = Group::new(parameters, memory, rng, scratch)?;
            Ok(Self::of(&group))
        })
    }

    /// Restores a group that passed [`new`](Self::new) before and was stored where nobody changes
    /// it. Whether p and q are prime is not checked again: with numbers of another origin, private
    /// exponents may be revealed.
    ///
    /// # Errors
    /// [`Error::ModulusLength`], [`Error::NotPrime`] for an even p, [`Error::Order`],
    /// [`Error::Generator`].
    pub fn restore(parameters: &Parameters<'_>) -> Result<Self, Error> {
        with_memory(parameters, |memory, scratch| {
            let group = Group::unchecked(parameters, memory, scratch)?;
            let mut generator = vec![0; group.prime().len()];
            generator[..group.generator().len()].copy_from_slice(group.generator());
            let is_square = jacobi::symbol_vartime(&generator, group.prime(), scratch) == 1;
            let mut owned = Self::of(&group);
            if let (Numbers::Custom(custom), None, true) =
                (&mut owned.0, parameters.order, is_square)
            {
                custom.order = OwnedOrder::Half;
            }
            Ok(owned)
        })
    }

    fn of(group: &Group<'_>) -> Self {
        if let (Some(known), false) =
            (known(group.prime(), group.generator()), matches!(group.order(), Order::Prime(_)))
        {
            return Self(Numbers::Known(known));
        }
        let modulus = group.modulus();
        Self(Numbers::Custom(Custom {
            prime: group.prime().to_vec(),
            bits: group.bits(),
            r_squared: modulus.r_squared().to_vec(),
            generator: group.generator().to_vec(),
            order: match group.order() {
                Order::Half => OwnedOrder::Half,
                Order::Whole => OwnedOrder::Whole,
                Order::Prime(order) => OwnedOrder::Prime(order.to_vec()),
            },
        }))
    }

    /// Returns the group.
    pub fn group(&self) -> Group<'_> {
        match &self.0 {
            Numbers::Known(group) => **group,
            Numbers::Custom(custom) => {
                let modulus = Modulus::from_known(&custom.prime, custom.bits, &custom.r_squared);
                let order = match &custom.order {
                    OwnedOrder::Half => Order::Half,
                    OwnedOrder::Whole => Order::Whole,
                    OwnedOrder::Prime(order) => Order::Prime(order),
                };
                Group::from_checked(None, modulus, &custom.generator, order)
            }
        }
    }
}

impl fmt::Debug for OwnedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.group().fmt(f)
    }
}

/// Calls `make` with the memory of a group and scratch.
fn with_memory<T>(
    parameters: &Parameters<'_>,
    make: impl FnOnce(&mut [Limb], &mut [Limb]) -> Result<T, Error>,
) -> Result<T, Error> {
    // Numbers of other lengths are refused before they are used.
    let bits = (8 * parameters.prime.len()).clamp(MIN_BITS, MAX_BITS);
    make(&mut vec![0; group_limbs(bits)], &mut vec![0; group_scratch_limbs(bits)])
}

/// Returns a number as big-endian bytes without leading zeros.
fn to_bytes(number: &[Limb]) -> Vec<u8> {
    let mut bytes = vec![0; words::bit_length_vartime(number).div_ceil(8)];
    words::to_be_bytes(&mut bytes, number);
    bytes
}

impl Group<'_> {
    /// Returns p as big-endian bytes, without leading zeros.
    pub fn prime_bytes(&self) -> Vec<u8> {
        to_bytes(self.prime())
    }

    /// Returns g as big-endian bytes, without leading zeros.
    pub fn generator_bytes(&self) -> Vec<u8> {
        to_bytes(self.generator())
    }

    /// Checks a public value from outside: big-endian bytes, leading zeros allowed. Agreements
    /// check the value themselves; this is for values that are kept.
    ///
    /// `scratch` has at least [`minimum_scratch_limbs`] for the length of p.
    ///
    /// # Errors
    /// [`Error::PublicRange`], [`Error::PublicSubgroup`], [`Error::MemoryTooSmall`].
    pub fn check_public(
        &self,
        value: &[u8],
        validation: Validation,
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let scratch = checked_memory(scratch, minimum_scratch_limbs(self.bits()))?;
        let (number, scratch) = scratch.split_at_mut(self.prime().len());
        public::read(number, self, value, validation, scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PrivateKey, private_key_limbs};
    use super::*;
    use crate::math::prime::tests::Counter;

    /// The safe prime of RFC 5054, appendix A, with 2048 bits: 2 generates the whole group.
    const PRIME: &str = include_str!("owned_prime.txt");

    fn parse(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let digit = |byte: &u8| (*byte as char).to_digit(16).unwrap() as u8;
        digits.chunks(2).map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
    }

    /// Each party has another copy of the group: one was checked, the other restored.
    fn agree(parameters: &Parameters<'_>) -> bool {
        let checked = OwnedGroup::new(parameters, &mut Counter(3)).unwrap();
        let restored = OwnedGroup::restore(parameters).unwrap();
        let mut scratch = vec![0; minimum_scratch_limbs(checked.group().bits())];
        let mut party = |group: &OwnedGroup, exponent: u8| {
            let group = group.group();
            let memory = vec![0; private_key_limbs(256)];
            let key = PrivateKey::new(&group, &[exponent; 32], memory).unwrap();
            let mut value = vec![0; group.length()];
            key.public_value(&mut value, &mut scratch).unwrap();
            value
        };
        let values = [party(&checked, 5), party(&restored, 9)];
        let shared = [(&checked, 5, &values[1]), (&restored, 9, &values[0])].map(
            |(group, exponent, peer)| {
                let group = group.group();
                let memory = vec![0; private_key_limbs(256)];
                let key = PrivateKey::new(&group, &[exponent; 32], memory).unwrap();
                let mut shared = vec![0; group.length()];
                key.agree(peer, Validation::Full, &mut shared, &mut scratch).unwrap();
                shared
            },
        );
        assert_eq!(checked.group().prime_bytes(), restored.group().prime_bytes());
        matches!(checked.group().order(), Order::Half)
            == matches!(restored.group().order(), Order::Half)
            && shared[0] == shared[1]
    }

    #[test]
    fn a_restored_group_is_the_checked_one() {
        let prime = parse(PRIME);
        assert!(agree(&Parameters { prime: &prime, generator: &[2], order: None }));
        assert!(agree(&Parameters { prime: &prime, generator: &[4], order: None }));
        let known = Group::MODP2048;
        let (prime, generator) = (known.prime_bytes(), known.generator_bytes());
        let parameters = Parameters { prime: &prime, generator: &generator, order: None };
        assert!(agree(&parameters));
        assert_eq!(OwnedGroup::restore(&parameters).unwrap().group().name(), Some("modp2048"));
    }

    #[test]
    fn other_numbers_are_refused() {
        let mut prime = parse(PRIME);
        let refused = |prime: &[u8], generator: &[u8]| {
            let parameters = Parameters { prime, generator, order: None };
            OwnedGroup::new(&parameters, &mut Counter(3)).unwrap_err()
        };
        assert_eq!(refused(&prime, &[1]), Error::Generator);
        assert_eq!(refused(&prime, &prime), Error::Generator);
        let bits = 8 * 56 - prime[200].leading_zeros() as usize;
        assert_eq!(refused(&prime[200..], &[2]), Error::ModulusLength { bits });
        assert_eq!(refused(&[0xff; 5000], &[2]), Error::ModulusLength { bits: 40_000 });
        let restored =
            OwnedGroup::restore(&Parameters { prime: &[], generator: &[2], order: None });
        assert_eq!(restored.unwrap_err(), Error::ModulusLength { bits: 0 });
        let last = prime.len() - 1;
        prime[last] -= 2;
        assert_eq!(refused(&prime, &[2]), Error::NotSafePrime);
    }

    #[test]
    fn public_values_are_checked() {
        let group = Group::FFDHE2048;
        let scratch = &mut vec![0; minimum_scratch_limbs(2048)];
        let mut check = |value: &[u8]| group.check_public(value, Validation::Full, scratch);
        let mut minus_one = group.prime_bytes();
        minus_one[255] -= 1;
        for value in
            [&[][..], &[0], &[1], &[0, 0, 1], &minus_one, &group.prime_bytes(), &[0xff; 300]]
        {
            assert_eq!(check(value), Err(Error::PublicRange));
        }
        assert_eq!(check(&[2]), Ok(()));
        // −2 is not a square.
        minus_one[255] -= 1;
        assert_eq!(check(&minus_one), Err(Error::PublicSubgroup));
        let short = group.check_public(&[2], Validation::Full, &mut [0; 10]);
        assert!(matches!(short, Err(Error::MemoryTooSmall { .. })));
    }
}
