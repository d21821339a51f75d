//! The environment of a case: secrets and public values, the tracer, and checks of results.

use std::convert::Infallible;
use std::ops::Deref;

use cycloid::internals::ct;
use cycloid::internals::words::{LIMB_BITS, Limb};
use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};
use taint_trace::{Report, is_secret, secret, trace};

/// One run of a case.
pub(crate) struct Check {
    public: Numbers,
    secret: Numbers,
    /// The traces: each with its name, and whether it may differ from run to run.
    pub(crate) reports: Vec<(String, bool, Report)>,
    /// Results that are wrong, or whose secrecy is not as required.
    pub(crate) wrong: Vec<String>,
    pub(crate) results: usize,
    /// Whether the next traces may differ.
    varying: bool,
}

/// A pseudorandom generator (xorshift).
#[derive(Clone)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn limbs(&mut self, n: usize) -> Vec<Limb> {
        (0..n).map(|_| self.next()).collect()
    }
}

impl Check {
    /// Creates a run; public values are always the same, secrets follow from `seed`.
    pub(crate) const fn new(seed: u64) -> Self {
        let start = 0x9e37_79b9_7f4a_7c15;
        Self {
            public: Numbers(start),
            secret: Numbers(start ^ (seed + 1).wrapping_mul(0xd1b5_4a32_d192_ed03)),
            reports: Vec::new(),
            wrong: Vec::new(),
            results: 0,
            varying: false,
        }
    }

    /// Returns public limbs, the same in every run.
    pub(crate) fn public_limbs(&mut self, n: usize) -> Vec<Limb> {
        self.public.limbs(n)
    }

    /// Returns limbs that differ from run to run; not marked.
    pub(crate) fn limbs(&mut self, n: usize) -> Vec<Limb> {
        self.secret.limbs(n)
    }

    /// Returns bytes that differ from run to run; not marked.
    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        let limbs = self.limbs(n.div_ceil(8));
        limbs.iter().flat_map(|limb| limb.to_le_bytes()).take(n).collect()
    }

    /// Returns an odd modulus of exactly `n` limbs.
    pub(crate) fn modulus(&mut self, n: usize) -> Vec<Limb> {
        let mut modulus = self.limbs(n);
        modulus[0] |= 1;
        modulus[n - 1] |= 1 << (LIMB_BITS - 1);
        modulus
    }

    /// Returns a number less than `modulus`, of the same length.
    pub(crate) fn residue(&mut self, modulus: &[Limb]) -> Vec<Limb> {
        padded(&(big(&self.limbs(modulus.len())) % big(modulus)), modulus.len())
    }

    /// Returns an exponent of at most `bits` bits.
    pub(crate) fn exponent(&mut self, bits: usize) -> Vec<Limb> {
        let n = bits.div_ceil(LIMB_BITS);
        let mut limbs = self.limbs(n);
        limbs[n - 1] &= Limb::MAX >> (LIMB_BITS * n - bits);
        limbs
    }

    /// Declares that the steps of the next traces depend on public values that differ from run to
    /// run, such as rejected candidates or a verified signature. Traces may then differ, too.
    pub(crate) const fn varies(&mut self) {
        self.varying = true;
    }

    /// Runs `prepare`, whose traces vary.
    pub(crate) fn varying<T>(&mut self, prepare: impl FnOnce(&mut Self) -> T) -> T {
        let outside = std::mem::replace(&mut self.varying, true);
        let prepared = prepare(self);
        self.varying = outside;
        prepared
    }

    /// Returns a generator of secret random numbers.
    pub(crate) fn rng(&mut self) -> Secrets {
        Secrets(Numbers(self.secret.next() | 1))
    }

    /// Runs `work` step by step.
    pub(crate) fn trace<R>(&mut self, name: impl Into<String>, work: impl FnOnce() -> R) -> R {
        let (result, report) = trace(work);
        self.reports.push((name.into(), self.varying, report));
        result
    }

    /// Runs `work` step by step and keeps its result where it was written, with its taint.
    pub(crate) fn hold<T>(&mut self, name: impl Into<String>, work: impl FnOnce() -> T) -> Held<T> {
        let mut held = Box::new(None);
        self.trace(name, || *held = Some(work()));
        Held(held)
    }

    /// Checks a result that must have stayed secret.
    pub(crate) fn secret<T>(&mut self, name: &str, result: &[T], right: impl FnOnce(&[T]) -> bool) {
        if !is_secret(result) {
            self.wrong.push(format!("{name}: the result is not secret, so the taint was lost"));
        }
        self.judge(name, right(result));
    }

    /// Checks a result that the library must have declared public.
    pub(crate) fn public<T>(&mut self, name: &str, result: &[T], right: impl FnOnce(&[T]) -> bool) {
        if is_secret(result) {
            self.wrong.push(format!("{name}: the result is not declared public"));
        }
        self.judge(name, right(result));
    }

    /// Records a wrong result.
    pub(crate) fn judge(&mut self, name: &str, right: bool) {
        self.results += 1;
        if !right {
            self.wrong.push(format!("{name}: wrong result"));
        }
    }
}

/// A result that stays where traced code wrote it.
pub(crate) struct Held<T>(Box<Option<T>>);

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (*self.0).as_ref().expect("the result was written")
    }
}

/// Random numbers that are marked secret.
#[derive(Clone)]
pub(crate) struct Secrets(Numbers);

impl TryRng for Secrets {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let number = [self.0.next()];
        ct::mark_secret(&number);
        Ok(number[0])
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next().to_le_bytes()[..chunk.len()]);
        }
        ct::mark_secret(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Secrets {}

/// Returns a copy that is marked secret.
pub(crate) fn marked<T: Clone>(numbers: &[T]) -> Vec<T> {
    let copy = numbers.to_vec();
    secret(&copy);
    copy
}

/// Returns the number in `limbs`.
pub(crate) fn big(limbs: &[Limb]) -> BigUint {
    let digits = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]);
    BigUint::new(digits.collect())
}

/// Returns the `n` limbs of a number.
pub(crate) fn padded(number: &BigUint, n: usize) -> Vec<Limb> {
    let mut limbs = number.to_u64_digits();
    limbs.resize(n, 0);
    limbs
}

/// Returns base^exponent mod modulus in `n` limbs, computed by num-bigint.
pub(crate) fn power(base: &[Limb], exponent: &[Limb], modulus: &[Limb]) -> Vec<Limb> {
    padded(&big(base).modpow(&big(exponent), &big(modulus)), modulus.len())
}
