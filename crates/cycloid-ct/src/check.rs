//! Values to compute with, and the judgement of results.

use std::convert::Infallible;

use cycloid::machine::ct;
use cycloid::machine::words::{LIMB_BITS, Limb};
use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};

/// Counts the operations that were right, and names those that were not.
pub(crate) struct Check {
    state: u64,
    done: usize,
    wrong: usize,
}

impl Check {
    pub(crate) const fn new() -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, done: 0, wrong: 0 }
    }

    /// `n` limbs that look random and are the same in every run (xorshift).
    pub(crate) fn limbs(&mut self, n: usize) -> Vec<Limb> {
        let mut next = || {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            self.state
        };
        (0..n).map(|_| next()).collect()
    }

    /// An odd modulus that fills `n` limbs.
    pub(crate) fn modulus(&mut self, n: usize) -> Vec<Limb> {
        let mut modulus = self.limbs(n);
        modulus[0] |= 1;
        modulus[n - 1] |= 1 << (LIMB_BITS - 1);
        modulus
    }

    /// A number less than `modulus`, of the same length.
    pub(crate) fn residue(&mut self, modulus: &[Limb]) -> Vec<Limb> {
        let residue = big(&self.limbs(modulus.len())) % big(modulus);
        padded(&residue, modulus.len())
    }

    /// An exponent of `bits` bits with runs of ones and zeros in it.
    pub(crate) fn exponent(&mut self, bits: usize) -> Vec<Limb> {
        let n = bits.div_ceil(LIMB_BITS);
        let limbs = self.limbs(n);
        let mut limbs: Vec<Limb> = limbs.iter().map(|limb| limb & (limb >> 1 | 0xff)).collect();
        limbs[n - 1] &= Limb::MAX >> (LIMB_BITS * n - bits);
        limbs
    }

    /// Takes the result of the operation `name`, which must be secret under valgrind, as what it
    /// was computed from was; reveals it and compares.
    pub(crate) fn result(&mut self, name: &str, result: &[Limb], expected: &[Limb]) {
        self.judged(name, result, |result| result == expected);
    }

    /// As [`result`](Self::result), for bytes that the library has declared public, as they leave
    /// for the other party.
    pub(crate) fn published(&mut self, name: &str, result: &[u8], expected: &[u8]) {
        if valgrind_requests::is_running() && valgrind_requests::is_undefined(result) {
            eprintln!("the result is not declared public: {name}");
            self.wrong += 1;
        }
        self.judged(name, &secret(result), |result| result == expected);
    }

    /// As [`result`](Self::result), for any condition.
    pub(crate) fn judged<T>(&mut self, name: &str, result: &[T], right: impl FnOnce(&[T]) -> bool) {
        let secret = !valgrind_requests::is_running() || valgrind_requests::is_undefined(result);
        ct::mark_public(result);
        let right = right(result);
        self.done += 1;
        if !right {
            eprintln!("wrong result: {name}");
        }
        if !secret {
            eprintln!("the result is not secret, so the marks did not reach it: {name}");
        }
        self.wrong += usize::from(!(right && secret));
    }

    /// Says how many operations there were; an error if one was wrong.
    pub(crate) fn finish(self) -> Result<(), String> {
        let how =
            if valgrind_requests::is_running() { "with secrets marked" } else { "results only" };
        if self.wrong > 0 {
            return Err(format!("{} of {} operations are wrong", self.wrong, self.done));
        }
        println!("{} operations, {how}: all right", self.done);
        Ok(())
    }
}

/// Random numbers that valgrind knows to be secret.
impl TryRng for Check {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(secret(&self.limbs(1))[0])
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Check {}

/// A copy of `numbers` that valgrind knows to be secret.
pub(crate) fn secret<T: Clone>(numbers: &[T]) -> Vec<T> {
    let copy = numbers.to_vec();
    ct::mark_secret(&copy);
    copy
}

/// The number that `limbs` hold.
pub(crate) fn big(limbs: &[Limb]) -> BigUint {
    let digits = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]);
    BigUint::new(digits.collect())
}

/// The `n` limbs of a number.
pub(crate) fn padded(number: &BigUint, n: usize) -> Vec<Limb> {
    let mut limbs = number.to_u64_digits();
    limbs.resize(n, 0);
    limbs
}

/// base^exponent mod modulus in `n` limbs, by the obvious means.
pub(crate) fn power(base: &[Limb], exponent: &[Limb], modulus: &[Limb]) -> Vec<Limb> {
    padded(&big(base).modpow(&big(exponent), &big(modulus)), modulus.len())
}
