//! The inputs of modular exponentiations, and the interface to a peer's implementations.

use crate::Failure;
use crate::measure::Operation;
use crate::measure::random::Random;

/// The inputs, as little-endian limbs. The modulus is odd, and the base is less than the modulus.
#[derive(Clone, Debug)]
pub struct Input {
    /// The base.
    pub base: Vec<u64>,
    /// The exponent.
    pub exponent: Vec<u64>,
    /// Its length in bits.
    pub exponent_bits: usize,
    /// The modulus, with its top bit set.
    pub modulus: Vec<u64>,
}

/// The choice of exponent lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exponents {
    /// As long as the modulus.
    Full,
    /// The usual public one, 65537.
    F4,
    /// Of that many bits.
    Bits(usize),
}

impl Exponents {
    /// Returns the length in bits for a modulus of `modulus_bits`.
    pub const fn bits(self, modulus_bits: usize) -> usize {
        match self {
            Self::Full => modulus_bits,
            Self::F4 => 17,
            Self::Bits(bits) => bits,
        }
    }
}

impl Input {
    /// Creates an input of these lengths; the same seed gives the same input.
    pub fn new(modulus_bits: usize, exponents: Exponents, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut modulus = random.number(modulus_bits);
        modulus[0] |= 1;
        // One bit shorter than the modulus, hence less.
        let mut base = random.number(modulus_bits - 1);
        base.resize(modulus.len(), 0);
        let exponent_bits = exponents.bits(modulus_bits);
        let exponent = match exponents {
            Exponents::F4 => vec![65537],
            _ => random.number(exponent_bits),
        };
        Self { base, exponent, exponent_bits, modulus }
    }
}

/// An implementation of modular exponentiation.
pub struct Candidate {
    /// Its label in the table, next to the library's name.
    pub label: &'static str,
    /// The called function.
    pub function: &'static str,
    /// Whether it is designed to be constant-time.
    pub constant_time: bool,
    /// A note for readers of its numbers.
    pub note: Option<&'static str>,
    /// Prepares it.
    pub prepare: Prepare,
}

/// Prepares everything that does not depend on the base.
pub enum Prepare {
    /// For one exponentiation.
    One(PrepareOne),
    /// For two in one call, as an RSA private key needs them.
    Two(PrepareTwo),
}

/// Prepares one exponentiation.
pub type PrepareOne = Box<dyn Fn(&Input) -> Result<Box<dyn Operation>, Failure>>;

/// Prepares two exponentiations in one call.
pub type PrepareTwo = Box<dyn Fn(&Input, &Input) -> Result<Box<dyn Operation>, Failure>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_as_described() {
        for bits in [64, 65, 100, 1024] {
            let input = Input::new(bits, Exponents::Full, 3);
            assert_eq!(input.modulus[0] & 1, 1);
            assert_eq!(input.base.len(), input.modulus.len());
            assert!(input.base.iter().rev().lt(input.modulus.iter().rev()));
            assert_eq!(input.exponent_bits, bits);
        }
        assert_eq!(Input::new(256, Exponents::F4, 1).exponent, [65537]);
        assert_eq!(Input::new(256, Exponents::Bits(65), 1).exponent.len(), 2);
    }
}
