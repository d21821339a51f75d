//! Verification of one signature, of an aggregate, and of many at once.
//!
//! Each verification checks that a product of pairings is 1. Pairs are collected in groups whose
//! Miller loops share work; one final exponentiation serves all groups.

use core::marker::PhantomData;

use rand_core::TryCryptoRng;

use super::super::pairing::two_pairings_cancel;
use super::super::projective::CHUNK;
use super::super::{Affine, Error, Message, PairingProduct, Projective};
use super::{PublicKey, Scheme, Signature, SignatureBackend, SourceGroup, Variant, equal_counts};
use crate::machine::ct;
use crate::scheme::random;

/// A product of pairings of keys with points of the signature group.
struct Product<B: SignatureBackend<V>, V: Variant> {
    pairings: PairingProduct<B>,
    variant: PhantomData<V>,
}

impl<B: SignatureBackend<V>, V: Variant> Product<B, V> {
    /// Returns 1.
    fn new() -> Self {
        Self { pairings: PairingProduct::new(), variant: PhantomData }
    }

    /// Multiplies by one more pairing.
    fn multiply(&mut self, key: Affine<B, V::Keys>, point: Affine<B, V::Signatures>) {
        let (p, q) = B::pair(key, point);
        self.pairings.multiply_in_frames(&p, &q);
    }

    /// Divides by the pairing of the generator with a signature and compares with 1.
    fn check(mut self, signature: &Affine<B, V::Signatures>) -> Result<(), Error> {
        self.multiply(-Affine::generator(), *signature);
        if self.pairings.becomes_one_in_frames() { Ok(()) } else { Err(Error::Verification) }
    }
}

impl<B: SignatureBackend<V>, V: Variant> PublicKey<B, V> {
    /// Verifies a signature of a message by this key.
    ///
    /// # Errors
    /// [`Error::Verification`].
    pub fn verify(
        &self,
        scheme: Scheme,
        message: &[u8],
        signature: &Signature<B, V>,
    ) -> Result<(), Error> {
        let prefix = self.to_bytes();
        let prefix = match scheme {
            Scheme::MessageAugmentation => prefix.as_ref(),
            _ => &[],
        };
        core_verify(self, &[prefix, message], V::tag(scheme), signature)
    }

    /// Like [`verify`](Self::verify), for a signature made with a custom tag (CoreVerify, section
    /// 2.7).
    ///
    /// # Errors
    /// [`Error::Verification`].
    pub fn verify_with_tag(
        &self,
        message: &[u8],
        tag: &[u8],
        signature: &Signature<B, V>,
    ) -> Result<(), Error> {
        core_verify(self, &[&[], message], tag, signature)
    }

    /// Verifies a proof of this key's possession (PopVerify, section 3.3.3).
    ///
    /// # Errors
    /// [`Error::Verification`].
    pub fn verify_possession(&self, proof: &Signature<B, V>) -> Result<(), Error> {
        let message: &[u8] = &[];
        core_verify(self, &[self.to_bytes().as_ref(), message], V::POSSESSION_TAG, proof)
    }
}

/// Runs CoreVerify (section 2.7) on a key and a signature that were checked when created.
pub(super) fn core_verify<B: SignatureBackend<V>, V: Variant>(
    key: &PublicKey<B, V>,
    message: &Message<'_>,
    tag: &[u8],
    signature: &Signature<B, V>,
) -> Result<(), Error> {
    let hash = Projective::<B, V::Signatures>::hash_parts_to_curve(message, tag);
    let (p0, q0) = B::pair(*key.as_affine(), hash.to_affine());
    let (p1, q1) = B::pair(-Affine::generator(), *signature.as_affine());
    if two_pairings_cancel(&[p0, p1], &[q0, q1]) { Ok(()) } else { Err(Error::Verification) }
}

/// Verifies that the signature is the sum of the signatures of the messages by the keys
/// (AggregateVerify, sections 3.1.1, 3.2.3 and 3.3).
///
/// In the basic scheme the messages must differ. They are sorted on the heap; without the feature
/// `alloc`, every pair of them is compared.
///
/// # Errors
/// [`Error::Empty`], [`Error::Counts`]; [`Error::SameMessage`] in the basic scheme;
/// [`Error::Verification`].
pub fn aggregate_verify<B: SignatureBackend<V>, V: Variant>(
    scheme: Scheme,
    keys: &[PublicKey<B, V>],
    messages: &[&[u8]],
    signature: &Signature<B, V>,
) -> Result<(), Error> {
    check_lists(keys, messages.len())?;
    if scheme == Scheme::Basic && has_equal(messages) {
        return Err(Error::SameMessage);
    }
    let mut product = Product::<B, V>::new();
    for (keys, messages) in keys.chunks(CHUNK).zip(messages.chunks(CHUNK)) {
        let hashes = hash(scheme, keys, messages);
        let mut affine = [Affine::identity(); CHUNK];
        Projective::to_affine_many(&hashes, &mut affine)?;
        for (key, point) in keys.iter().zip(affine) {
            product.multiply(*key.as_affine(), point);
        }
    }
    product.check(signature.as_affine())
}

/// Verifies that the signature is the sum of all the keys' signatures of one message. Each key must
/// have a verified proof of possession (FastAggregateVerify, section 3.3.4).
///
/// # Errors
/// [`Error::Empty`]; [`Error::Infinity`] if the keys cancel each other; [`Error::Verification`].
pub fn fast_aggregate_verify<B: SignatureBackend<V>, V: Variant>(
    keys: &[PublicKey<B, V>],
    message: &[u8],
    signature: &Signature<B, V>,
) -> Result<(), Error> {
    PublicKey::aggregate(keys)?.verify(Scheme::ProofOfPossession, message, signature)
}

/// Verifies that each signature is valid for its message and key, all at once.
///
/// Each signature gets a random weight of 128 bits, so wrong signatures that would cancel each
/// other in an aggregate are accepted with a probability of at most 2⁻¹²⁸. The error does not
/// identify the wrong signature; [`first_invalid`] does.
///
/// # Errors
/// [`Error::Empty`], [`Error::Counts`], [`Error::Verification`]; [`Error::RandomGenerator`] if the
/// generator of the weights fails or returns the same eight bytes twice.
pub fn batch_verify<B: SignatureBackend<V>, V: Variant>(
    scheme: Scheme,
    keys: &[PublicKey<B, V>],
    messages: &[&[u8]],
    signatures: &[Signature<B, V>],
    rng: &mut impl TryCryptoRng,
) -> Result<(), Error> {
    check_lists(keys, messages.len())?;
    equal_counts(keys.len(), signatures.len())?;
    let mut product = Product::<B, V>::new();
    let mut sum = Projective::<B, V::Signatures>::identity();
    let lists = keys.chunks(CHUNK).zip(messages.chunks(CHUNK)).zip(signatures.chunks(CHUNK));
    for ((keys, messages), signatures) in lists {
        let n = keys.len();
        let weights = random_weights(n, rng)?;
        let mut weighted = [Projective::<B, V::Signatures>::identity(); CHUNK];
        for (weighted, signature) in weighted.iter_mut().zip(signatures) {
            *weighted = (*signature.as_affine()).into();
        }
        B::multiply_short_many_vartime(&mut weighted[..n], &weights[..n]);
        sum += weighted[..n].iter().copied().sum::<Projective<_, _>>();

        // On the other side of the equation, the point in G1 takes the weight.
        let mut hashes = hash(scheme, keys, messages);
        let mut factors = [Affine::identity(); CHUNK];
        factors.iter_mut().zip(keys).for_each(|(factor, key)| *factor = *key.as_affine());
        if V::KEYS_IN_FIRST {
            let mut multiples = factors.map(Projective::from);
            B::multiply_short_many_vartime(&mut multiples[..n], &weights[..n]);
            Projective::to_affine_many(&multiples, &mut factors)?;
        } else {
            B::multiply_short_many_vartime(&mut hashes[..n], &weights[..n]);
        }
        let mut points = [Affine::identity(); CHUNK];
        Projective::to_affine_many(&hashes, &mut points)?;
        for (factor, point) in factors.iter().zip(&points).take(n) {
            product.multiply(*factor, *point);
        }
    }
    product.check(&sum.to_affine())
}

/// Returns the place of the first signature that is not valid for its message and key, or `None` if
/// all are valid.
///
/// Verifies all at once, as [`batch_verify`], and then one half after the other: one wrong
/// signature among n takes as long as about 2·n more.
///
/// # Errors
/// [`Error::Empty`], [`Error::Counts`], [`Error::RandomGenerator`], as for [`batch_verify`].
pub fn first_invalid<B: SignatureBackend<V>, V: Variant>(
    scheme: Scheme,
    keys: &[PublicKey<B, V>],
    messages: &[&[u8]],
    signatures: &[Signature<B, V>],
    rng: &mut impl TryCryptoRng,
) -> Result<Option<usize>, Error> {
    let mut valid = |start: usize, end: usize| {
        let outcome = batch_verify(
            scheme,
            &keys[start..end],
            &messages[start..end],
            &signatures[start..end],
            rng,
        );
        match outcome {
            Ok(()) => Ok(true),
            Err(Error::Verification) => Ok(false),
            Err(error) => Err(error),
        }
    };
    check_lists(keys, messages.len())?;
    equal_counts(keys.len(), signatures.len())?;
    let (mut start, mut end) = (0, keys.len());
    if valid(start, end)? {
        return Ok(None);
    }
    // The first wrong signature is in start..end.
    while end - start > 1 {
        let middle = start + (end - start) / 2;
        if valid(start, middle)? {
            start = middle;
        } else {
            end = middle;
        }
    }
    Ok(Some(start))
}

/// Hashes up to [`CHUNK`] messages; infinity fills the rest.
fn hash<B: SignatureBackend<V>, V: Variant>(
    scheme: Scheme,
    keys: &[PublicKey<B, V>],
    messages: &[&[u8]],
) -> [Projective<B, V::Signatures>; CHUNK] {
    let mut prefixes = [V::Keys::COMPRESSED; CHUNK];
    let mut parts: [Message<'_>; CHUNK] = [[&[], &[]]; CHUNK];
    if scheme == Scheme::MessageAugmentation {
        prefixes.iter_mut().zip(keys).for_each(|(prefix, key)| *prefix = key.to_bytes());
    }
    for ((parts, prefix), message) in parts.iter_mut().zip(&prefixes).zip(messages) {
        let prefix = if scheme == Scheme::MessageAugmentation { prefix.as_ref() } else { &[] };
        *parts = [prefix, message];
    }
    let n = messages.len();
    let mut hashes = [Projective::identity(); CHUNK];
    B::hash_to_curve_many(&parts[..n], V::tag(scheme), &mut hashes[..n]);
    hashes
}

fn check_lists<T>(keys: &[T], others: usize) -> Result<(), Error> {
    equal_counts(keys.len(), others)?;
    if keys.is_empty() { Err(Error::Empty) } else { Ok(()) }
}

/// Returns whether two of the messages are equal.
#[cfg(feature = "alloc")]
fn has_equal(messages: &[&[u8]]) -> bool {
    let mut sorted = alloc::vec::Vec::from(messages);
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns whether two of the messages are equal.
#[cfg(not(feature = "alloc"))]
fn has_equal(messages: &[&[u8]]) -> bool {
    messages.iter().enumerate().any(|(i, message)| messages[..i].contains(message))
}

/// Draws `n` uniform nonzero weights. A draw in which both halves of a weight are 0 is refused.
fn random_weights(n: usize, rng: &mut impl TryCryptoRng) -> Result<[u128; CHUNK], Error> {
    let mut bytes = [[0; 16]; CHUNK];
    random::fill(rng, bytes[..n].as_flattened_mut())?;
    // The weights were unknown when the signatures were made; everything verified is public.
    ct::mark_public(&bytes);
    Ok(bytes.map(u128::from_le_bytes))
}
