//! Diffie-Hellman groups: the powers of a generator modulo a prime, well-known or checked.

use core::fmt;

use super::limbs;
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::modular::Modulus;

/// Returns the length in bits of private exponents in a group with a safe prime of `bits` bits:
/// twice the group's security level (RFC 7919, section 5.2 and appendix A; NIST SP 800-56A rev. 3,
/// appendix D, with its margin).
pub const fn exponent_bits(bits: usize) -> usize {
    match bits {
        0..=2048 => 225,
        2049..=3072 => 275,
        3073..=4096 => 325,
        4097..=6144 => 375,
        _ => 400,
    }
}

/// A prime p, a generator g and its order. A value of this type is valid: it is one of the [known
/// groups](Group::KNOWN) or was checked on construction.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    name: Option<&'static str>,
    prime: Modulus<'a>,
    generator: &'a [Limb],
    order: Order<'a>,
}

/// The order of a generator modulo p.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order<'a> {
    /// (p − 1) / 2, a prime: the subgroup is that of the squares.
    Half,
    /// p − 1, twice a prime: the subgroup is the whole group.
    Whole,
    /// A given prime.
    Prime(&'a [Limb]),
}

impl<'a> Group<'a> {
    /// Creates a group from values known to be valid.
    pub(super) const fn from_checked(
        name: Option<&'static str>,
        prime: Modulus<'a>,
        generator: &'a [Limb],
        order: Order<'a>,
    ) -> Self {
        Self { name, prime, generator, order }
    }

    /// Returns the name of a known group, such as `ffdhe2048`.
    pub const fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// Returns the length of p in bits.
    pub const fn bits(&self) -> usize {
        self.prime.bits()
    }

    /// Returns the length of p, and so of public values and shared secrets, in bytes.
    pub const fn length(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Returns the length of generated private exponents, in bits: [`exponent_bits`], or the length
    /// of the order if that is shorter.
    pub fn exponent_bits(&self) -> usize {
        let bits = exponent_bits(self.bits());
        match self.order {
            Order::Prime(order) => bits.min(crate::machine::words::bit_length_vartime(order)),
            Order::Half | Order::Whole => bits,
        }
    }

    /// Returns p as little-endian limbs.
    pub const fn prime(&self) -> &'a [Limb] {
        self.prime.limbs()
    }

    /// Returns g as little-endian limbs.
    pub const fn generator(&self) -> &'a [Limb] {
        self.generator
    }

    pub(super) const fn order(&self) -> Order<'a> {
        self.order
    }

    pub(super) const fn modulus(&self) -> Modulus<'a> {
        self.prime
    }

    /// Returns the limbs of (p − 1) / 2, lowest first.
    pub(super) fn half(&self) -> impl Iterator<Item = Limb> {
        let next = self.prime()[1..].iter().copied().chain([0]);
        self.prime().iter().zip(next).map(|(limb, next)| limb >> 1 | next << (LIMB_BITS - 1))
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "dh::Group({} bits)", self.bits()),
        }
    }
}

const _: () = assert!(limbs(super::MAX_BITS) * LIMB_BITS <= crate::math::modular::MAX_BITS);
