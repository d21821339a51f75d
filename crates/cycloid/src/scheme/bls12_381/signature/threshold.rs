//! Keys shared among n holders, any t of whom can sign together (Shamir's scheme).
//!
//! A share is the value of a polynomial of degree t − 1 at its number; the secret key is the value
//! at 0. Signatures by shares are values of the polynomial times the hash, so t of them yield the
//! signature by interpolation, and fewer yield nothing.

use rand_core::TryCryptoRng;

use super::super::backend::{Group, Scalars, SourceGroup};
use super::super::projective::CHUNK;
use super::super::{Affine, Error, Fr, Projective};
use super::{PublicKey, SecretKey, Signature, SignatureBackend, Variant};
use crate::machine::stack;
use crate::scheme::stack_use;

/// A holder's share of a secret key: a secret key and the number of the holder. Wiped when dropped.
#[derive(Debug)]
pub struct Share<B: SignatureBackend<V>, V: Variant> {
    /// The number, at least 1.
    pub number: u32,
    /// The key, which signs and has a public key like any other.
    pub key: SecretKey<B, V>,
}

/// Shares a secret key among the holders 1, 2, …, as many as `shares` has places; any `threshold`
/// of them can act together.
///
/// # Errors
/// [`Error::Threshold`] if the threshold is 0 or exceeds the number of holders; nothing is written
/// then. [`Error::RandomGenerator`], as for [`Fr::random`]; no shares are written then.
pub fn share<B: SignatureBackend<V>, V: Variant>(
    secret: &SecretKey<B, V>,
    threshold: usize,
    shares: &mut [Option<Share<B, V>>],
    rng: &mut impl TryCryptoRng,
) -> Result<(), Error> {
    if threshold == 0 || threshold > shares.len() || u32::try_from(shares.len()).is_err() {
        return Err(Error::Threshold);
    }
    let outcome = stack::clean(stack_use::BLS_KEY, || fill(secret, threshold, shares, rng));
    if outcome.is_err() {
        shares.iter_mut().for_each(|share| *share = None);
    }
    outcome
}

fn fill<B: SignatureBackend<V>, V: Variant>(
    secret: &SecretKey<B, V>,
    threshold: usize,
    shares: &mut [Option<Share<B, V>>],
    rng: &mut impl TryCryptoRng,
) -> Result<(), Error> {
    for (share, number) in shares.iter_mut().zip(1..) {
        *share = Some(Share { number, key: SecretKey::of(Fr::ZERO) });
    }
    // Horner's rule on all shares at once, a coefficient at a time, so that no coefficient is kept.
    for degree in (0..threshold).rev() {
        let mut coefficient = if degree == 0 { *secret.scalar() } else { Fr::random(rng)? };
        for share in shares.iter_mut().flatten() {
            let point = Fr::from(u64::from(share.number));
            share.key = SecretKey::of(*share.key.scalar() * point + coefficient);
        }
        coefficient.wipe();
    }
    // With a sound generator a share is 0 with a probability of 2⁻²⁵⁵.
    let sound = shares.iter().flatten().all(|share| !share.key.scalar().is_zero());
    if sound { Ok(()) } else { Err(Error::RandomGenerator) }
}

/// Recovers the secret key from at least as many shares as the threshold. Fewer shares give a
/// different key.
///
/// # Errors
/// [`Error::Empty`]; [`Error::ShareNumber`]; [`Error::ZeroKey`] if the result is 0.
pub fn recover_secret_key<B: SignatureBackend<V>, V: Variant>(
    shares: &[Share<B, V>],
) -> Result<SecretKey<B, V>, Error> {
    stack::clean(stack_use::BLS_KEY, || {
        // Each sum is a key, so that it is wiped even if a share number turns out to be invalid.
        let mut sum = SecretKey::of(Fr::ZERO);
        for i in 0..shares.len() {
            let factor = lagrange(shares.len(), |j| shares[j].number, i)?;
            sum = SecretKey::of(*sum.scalar() + factor * *shares[i].key.scalar());
        }
        match shares.is_empty() {
            true => Err(Error::Empty),
            false if sum.scalar().is_zero() => Err(Error::ZeroKey),
            false => Ok(sum),
        }
    })
}

/// Recovers the shared key's signature from signatures of the same message by the holders with
/// these numbers, at least as many as the threshold. With fewer or wrong ones, the result does not
/// verify.
///
/// # Errors
/// [`Error::Empty`]; [`Error::ShareNumber`].
pub fn recover_signature<B: SignatureBackend<V>, V: Variant>(
    signatures: &[(u32, Signature<B, V>)],
) -> Result<Signature<B, V>, Error> {
    let number = |i: usize| signatures[i].0;
    let point = |i: usize| *signatures[i].1.as_affine();
    interpolate(signatures.len(), number, point).map(Signature::from_affine)
}

/// Recovers the shared key's public key from public keys of shares with these numbers, at least as
/// many as the threshold.
///
/// # Errors
/// [`Error::Empty`]; [`Error::ShareNumber`]; [`Error::Infinity`].
pub fn recover_public_key<B: SignatureBackend<V>, V: Variant>(
    keys: &[(u32, PublicKey<B, V>)],
) -> Result<PublicKey<B, V>, Error> {
    let point = |i: usize| *keys[i].1.as_affine();
    PublicKey::from_affine(interpolate(keys.len(), |i| keys[i].0, point)?)
}

/// Returns the value at 0 of the polynomial with these values at these numbers.
fn interpolate<B: Group<G>, G: SourceGroup>(
    n: usize,
    number: impl Fn(usize) -> u32 + Copy,
    point: impl Fn(usize) -> Affine<B, G>,
) -> Result<Affine<B, G>, Error> {
    if n == 0 {
        return Err(Error::Empty);
    }
    let mut sum = Projective::identity();
    for start in (0..n).step_by(CHUNK) {
        let count = CHUNK.min(n - start);
        let mut points = [Projective::identity(); CHUNK];
        let mut factors = [Fr::ZERO; CHUNK];
        for i in 0..count {
            points[i] = point(start + i).into();
            factors[i] = lagrange(n, number, start + i)?;
        }
        Projective::multiply_many_vartime(&mut points[..count], &factors[..count])?;
        sum += points[..count].iter().copied().sum::<Projective<_, _>>();
    }
    Ok(sum.to_affine())
}

/// Returns the value at 0 of the Lagrange polynomial that is 1 at the i-th number and 0 at the
/// others: Π xⱼ/(xⱼ − xᵢ).
fn lagrange<B: Scalars>(n: usize, number: impl Fn(usize) -> u32, i: usize) -> Result<Fr<B>, Error> {
    if number(i) == 0 {
        return Err(Error::ShareNumber);
    }
    let at = Fr::<B>::from(u64::from(number(i)));
    let (mut numerator, mut denominator) = (Fr::ONE, Fr::ONE);
    for j in (0..n).filter(|j| *j != i) {
        let other = Fr::from(u64::from(number(j)));
        numerator *= other;
        denominator *= other - at;
    }
    // The denominator is 0 if two numbers are equal.
    denominator.invert_vartime().map(|inverse| numerator * inverse).ok_or(Error::ShareNumber)
}
