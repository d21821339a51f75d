//! The verifying key and its rules.

use core::fmt;

use super::hash::{Message, Preimage, reduced_digests};
use super::{Error, Rule, Variant};
use crate::machine::lanes::Backend;
use crate::math::curve::edwards::{
    Combination, CombineVartime, Compare, Decode, Encode, Encoding, Equation, Scalar, Stored,
    are_side_by_side, each, holds_vartime, is_canonical, is_small_order, one,
};
use crate::scheme::little_endian::{bytes, limbs};

/// A public key: 32 bytes and the point that they encode.
#[derive(Clone, Copy)]
pub struct VerifyingKey {
    encoding: [u8; 32],
    point: Stored,
}

/// Prints the bytes in hexadecimal.
impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ed25519::VerifyingKey(")?;
        self.encoding.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Compares the bytes. Another encoding of the same point is a different key, since the bytes are
/// hashed.
impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding
    }
}

impl Eq for VerifyingKey {}

impl VerifyingKey {
    /// Creates a key from 32 bytes that encode a point. Points of small order and non-canonical
    /// encodings are accepted; the [module](super) says how each rule treats them. Time depends
    /// only on whether the bytes encode a point.
    ///
    /// # Errors
    /// [`Error::PublicKey`].
    pub fn new(encoding: &[u8; 32]) -> Result<Self, Error> {
        let point = decode(&limbs(encoding)).ok_or(Error::PublicKey)?;
        Ok(Self::of_point(encoding, &point))
    }

    /// Creates a key from a known point and its encoding.
    pub(super) const fn of_point(encoding: &[u8; 32], point: &Stored) -> Self {
        Self { encoding: *encoding, point: *point }
    }

    #[cfg(test)]
    pub(super) fn flip(&mut self, bit: usize) {
        match bit {
            0..256 => self.encoding[bit / 8] ^= 1 << (bit % 8),
            _ => self.point[bit / 64 - 4] ^= 1 << (bit % 64),
        }
    }

    /// Returns the bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.encoding
    }

    /// Returns whether [`Rule::Strict`] refuses the key: its point is of small order, so that a
    /// signature can be valid for many messages, or its encoding is not canonical.
    pub fn is_weak(&self) -> bool {
        let encoding = limbs(&self.encoding);
        !is_canonical(&encoding) || is_small_order(&encoding)
    }

    /// Verifies a signature as most libraries do: S·B = R + k·A, with R in canonical encoding.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        self.verify_with(Rule::Cofactorless, Variant::Plain, message, signature)
    }

    /// Verifies that the signature is valid and binds the signer to this message: as
    /// [`verify`](Self::verify), and neither R nor the key is of small order, and the key is
    /// canonical.
    ///
    /// # Errors
    /// [`Error::Signature`], [`Error::WeakPublicKey`].
    pub fn verify_strict(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        self.verify_with(Rule::Strict, Variant::Plain, message, signature)
    }

    /// Verifies a signature by the equation of RFC 8032, section 5.1.7: 8·S·B = 8·R + 8·k·A. As in
    /// ZIP 215, the key and R may be in any encoding that decodes to a point.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify_cofactored(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        self.verify_with(Rule::Cofactored, Variant::Plain, message, signature)
    }

    /// Verifies a signature of any variant by any rule.
    ///
    /// # Errors
    /// [`Error::Signature`]; [`Error::ContextTooLong`], [`Error::DigestLength`]; with
    /// [`Rule::Strict`] also [`Error::WeakPublicKey`].
    pub fn verify_with(
        &self,
        rule: Rule,
        variant: Variant<'_>,
        message: &[u8],
        signature: &[u8; 64],
    ) -> Result<(), Error> {
        self.verify_parts(rule, variant, &[message], signature)
    }

    /// Verifies a message in parts.
    pub(super) fn verify_parts(
        &self,
        rule: Rule,
        variant: Variant<'_>,
        parts: &[&[u8]],
        signature: &[u8; 64],
    ) -> Result<(), Error> {
        let message = Message::new(variant, parts)?;
        let mut outcome = [Err(Error::NotDone)];
        let verification = Verification::new(self, rule, message, signature)?;
        verify_all::<1>(None, &[verification], &mut outcome);
        outcome[0]
    }
}

/// A signature that has passed the first checks.
#[derive(Clone)]
pub(super) struct Verification<'a> {
    key: &'a VerifyingKey,
    rule: Rule,
    message: Message<'a>,
    /// R.
    point: &'a [u8; 32],
    /// S.
    number: Scalar,
}

impl<'a> Verification<'a> {
    /// Runs the checks that need no computation (RFC 8032, section 5.1.7, step 1).
    pub(super) fn new(
        key: &'a VerifyingKey,
        rule: Rule,
        message: Message<'a>,
        signature: &'a [u8; 64],
    ) -> Result<Self, Error> {
        if rule == Rule::Strict && key.is_weak() {
            return Err(Error::WeakPublicKey);
        }
        let (halves, _) = signature.as_chunks();
        let [point, number] = [&halves[0], &halves[1]];
        let number = Scalar::canonical(&limbs(number)).ok_or(Error::Signature)?;
        Ok(Self { key, rule, message, point, number })
    }

    /// Returns the outcome for k = `challenge`, by the rules of [`judge`](Self::judge): for a
    /// canonical R, to compare points is to compare encodings.
    fn decide(&self, challenge: &Scalar) -> Result<(), Error> {
        let encoding = limbs(self.point);
        let is_refused = match self.rule {
            Rule::Cofactorless => !is_canonical(&encoding),
            Rule::Strict => !is_canonical(&encoding) || is_small_order(&encoding),
            Rule::Cofactored => false,
        };
        if is_refused {
            return Err(Error::Signature);
        }
        let [same, nearly] = holds_vartime(&Equation {
            base_number: self.number.clone(),
            number: challenge.clone(),
            point: self.key.point,
            other: decode(&encoding).ok_or(Error::Signature)?,
        });
        let is_accepted = if self.rule == Rule::Cofactored { nearly } else { same };
        if is_accepted == 1 { Ok(()) } else { Err(Error::Signature) }
    }

    /// Returns the outcome for `difference` = S·B − k·A, which is encoded as `encoding`.
    fn judge(&self, difference: &Stored, encoding: &Encoding) -> Result<(), Error> {
        // R equals the difference and is canonical.
        let is_equal = bytes(encoding) == *self.point;
        let is_accepted = match self.rule {
            Rule::Cofactorless => is_equal,
            Rule::Strict => is_equal && !is_small_order(encoding),
            Rule::Cofactored => is_equal || self.is_equal_times_eight(difference),
        };
        if is_accepted { Ok(()) } else { Err(Error::Signature) }
    }

    /// Returns whether R, in any encoding, equals `difference` up to a point of small order.
    fn is_equal_times_eight(&self, difference: &Stored) -> bool {
        decode(&limbs(self.point))
            .is_some_and(|point| one::<Compare>(&(*difference, point))[1] == 1)
    }
}

/// A fresh signature to check before release.
#[derive(Clone, Copy)]
pub(super) struct Made<'a> {
    pub(super) key: &'a VerifyingKey,
    pub(super) message: Message<'a>,
    pub(super) signature: &'a [u8; 64],
}

/// Checks fresh signatures, at least one and at most `MOST`, with a result for each.
///
/// The keys' points are decoded again from the bytes that were hashed. A check against the stored
/// point would accept a signature made with other hashed key bytes. Together with the right
/// signature of the same message, with the same R and another k, such a signature would reveal the
/// private key.
pub(super) fn verify_made<const MOST: usize>(
    backend: Option<Backend>,
    made: &[Made<'_>],
    right: &mut [bool],
) {
    let backend = backend.filter(|_| MOST > 1);
    let count = made.len();
    let job = |i: usize| made.get(i).unwrap_or(&made[0]);
    let encodings: [Encoding; MOST] = core::array::from_fn(|i| limbs(&job(i).key.encoding));
    let mut decoded = [[0; 17]; MOST];
    each::<Decode>(backend, &encodings.each_ref()[..count], &mut decoded[..count]);
    let keys: [VerifyingKey; MOST] = core::array::from_fn(|i| VerifyingKey {
        encoding: job(i).key.encoding,
        point: core::array::from_fn(|limb| decoded[i][limb]),
    });
    let parsed: [_; MOST] = core::array::from_fn(|i| {
        let Made { message, signature, .. } = *job(i);
        Verification::new(&keys[i], Rule::Cofactorless, message, signature)
    });
    // An S of L or more is never valid; 0 replaces it, and the result for it is ignored.
    let verifications: [_; MOST] = core::array::from_fn(|i| {
        let Made { message, .. } = *job(i);
        let none = || {
            let Ok(none) = Verification::new(&keys[i], Rule::Cofactorless, message, &[0; 64])
            else {
                unreachable!("0 is less than L");
            };
            none
        };
        parsed[i].clone().unwrap_or_else(|_| none())
    });
    let mut outcomes = [Err(Error::NotDone); MOST];
    verify_all::<MOST>(backend, &verifications[..count], &mut outcomes[..count]);
    for (i, right) in right.iter_mut().enumerate() {
        *right = decoded[i][16] == 1 && parsed[i].is_ok() && outcomes[i].is_ok();
    }
}

/// Returns the point of an encoding.
fn decode(encoding: &Encoding) -> Option<Stored> {
    let decoded = one::<Decode>(encoding);
    let (point, valid) = decoded.split_at(16);
    (valid == [1]).then(|| point.try_into().expect("a point has 16 limbs"))
}

/// Verifies all signatures (RFC 8032, section 5.1.7), at least one and at most `MOST`, with an
/// outcome for each.
pub(super) fn verify_all<const MOST: usize>(
    backend: Option<Backend>,
    verifications: &[Verification<'_>],
    outcomes: &mut [Result<(), Error>],
) {
    // As in `sign_all`.
    let backend = backend.filter(|_| MOST > 1);
    let count = verifications.len();
    let verification = |i: usize| verifications.get(i).unwrap_or(&verifications[0]);

    // Step 2: k.
    let preimages: [_; MOST] = core::array::from_fn(|i| {
        let Verification { key, message, point, .. } = verification(i);
        Preimage { strings: [*point, &key.encoding], message: *message }
    });
    let mut challenges = [Scalar::ZERO; MOST];
    reduced_digests(backend, &preimages[..count], &mut challenges[..count]);

    // Step 3, one by one: with R decoded, half the doublings are enough. The code for that would
    // take a microcontroller's flash.
    let is_one_by_one = !backend.is_some_and(|backend| are_side_by_side(backend, count));
    if is_one_by_one && !cfg!(cycloid_armv7em) {
        for ((outcome, verification), challenge) in
            outcomes.iter_mut().zip(verifications).zip(&challenges)
        {
            *outcome = verification.decide(challenge);
        }
        return;
    }

    // Step 3: S·B − k·A, so that R need not be decoded.
    let combinations: [_; MOST] = core::array::from_fn(|i| {
        let Verification { key, number, .. } = verification(i);
        let number = number.clone();
        Combination { base_number: number, number: challenges[i].clone(), point: key.point }
    });
    let mut differences = [[0; 16]; MOST];
    each::<CombineVartime>(backend, &combinations.each_ref()[..count], &mut differences[..count]);
    let mut encodings = [[0; 4]; MOST];
    each::<Encode>(backend, &differences.each_ref()[..count], &mut encodings[..count]);
    for (i, outcome) in outcomes.iter_mut().enumerate() {
        *outcome = verifications[i].judge(&differences[i], &encodings[i]);
    }
}
