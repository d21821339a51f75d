//! Random inputs, and numbers as bytes.

use std::convert::Infallible;

use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};

/// A deterministic pseudorandom generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) const fn from_seed(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.byte()).collect()
    }

    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u8
    }

    /// Returns a number from 1 to `modulus` − 1.
    pub(crate) fn below(&mut self, modulus: &BigUint) -> BigUint {
        let length = modulus.bits().div_ceil(8) as usize + 8;
        BigUint::from_bytes_be(&self.bytes(length)) % (modulus - 1_u8) + 1_u8
    }
}

/// Returns `length` big-endian bytes.
pub(crate) fn big_endian(number: &BigUint, length: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

pub(crate) fn number(hexadecimal: &str) -> BigUint {
    BigUint::parse_bytes(hexadecimal.as_bytes(), 16).expect("the digits are hexadecimal")
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.iter_mut().for_each(|byte| *byte = self.byte());
        Ok(())
    }
}

impl TryCryptoRng for Random {}

/// Random numbers from a recording.
pub(crate) struct Tape(pub(crate) &'static [u8]);

impl TryRng for Tape {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        let (taken, rest) = self.0.split_at(bytes.len());
        bytes.copy_from_slice(taken);
        self.0 = rest;
        Ok(())
    }
}

impl TryCryptoRng for Tape {}
