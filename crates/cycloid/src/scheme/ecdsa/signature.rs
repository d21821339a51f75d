//! ECDSA signatures and their two encodings: fixed width (IEEE P1363) and DER (RFC 3279, section
//! 2.2.3).

use core::fmt;

use crate::machine::ct;
use crate::math::curve::Scalar;
use crate::scheme::ec::{Curve, Error, MAX_BYTES};

/// A signature: r and s, from 1 to n − 1.
#[derive(Clone)]
pub struct Signature<C: Curve> {
    r: Scalar<C>,
    s: Scalar<C>,
}

/// ASN.1 tags.
const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// The longest encoding: two integers with a leading zero byte each, in a sequence with a two-byte
/// length.
const MAX_LENGTH: usize = 3 + 2 * (2 + 1 + MAX_BYTES);

impl<C: Curve> Signature<C> {
    /// Returns `None` if r or s is 0. Both become public, as signatures are.
    pub(super) fn new(r: Scalar<C>, s: Scalar<C>) -> Option<Self> {
        let zero = (r.is_zero() | s.is_zero()).reveal();
        if !zero {
            ct::mark_public(r.words().as_ref());
            ct::mark_public(s.words().as_ref());
        }
        (!zero).then_some(Self { r, s })
    }

    /// Reads r and s, each as [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::SignatureRange`] if r or s is 0, or n or more.
    pub fn from_fixed(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != 2 * C::BYTES {
            return Err(Error::Length { needed: 2 * C::BYTES, given: bytes.len() });
        }
        let (r, s) = bytes.split_at(C::BYTES);
        let scalar = |bytes| Scalar::from_bytes(bytes).ok_or(Error::SignatureRange);
        Self::new(scalar(r)?, scalar(s)?).ok_or(Error::SignatureRange)
    }

    /// Reads a DER sequence of r and s. Accepts strict DER only: shortest lengths, no superfluous
    /// zeros, no trailing data.
    ///
    /// # Errors
    /// [`Error::SignatureFormat`]; [`Error::SignatureRange`] if r or s is 0, negative, or n or
    /// more.
    pub fn from_der(bytes: &[u8]) -> Result<Self, Error> {
        let (contents, rest) = element(SEQUENCE, bytes)?;
        let (r, contents) = element(INTEGER, contents)?;
        let (s, contents) = element(INTEGER, contents)?;
        if !rest.is_empty() || !contents.is_empty() {
            return Err(Error::SignatureFormat);
        }
        Self::new(integer(r)?, integer(s)?).ok_or(Error::SignatureRange)
    }

    /// Encodes r and s, each as [`Curve::BYTES`] big-endian bytes.
    pub fn to_fixed(&self) -> SignatureBytes {
        let mut bytes = SignatureBytes { bytes: [0; MAX_LENGTH], length: 2 * C::BYTES };
        let (r, s) = bytes.bytes[..2 * C::BYTES].split_at_mut(C::BYTES);
        self.r.to_bytes(r);
        self.s.to_bytes(s);
        bytes
    }

    /// Encodes r and s as a DER sequence of at most 141 bytes.
    pub fn to_der(&self) -> SignatureBytes {
        let mut integers = SignatureBytes { bytes: [0; MAX_LENGTH], length: 0 };
        for number in [&self.r, &self.s] {
            let mut bytes = [0; 1 + MAX_BYTES];
            let bytes = &mut bytes[..1 + C::BYTES];
            number.to_bytes(&mut bytes[1..]);
            // Strips leading zeros, except one that marks the number as nonnegative.
            let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(0);
            let start = if bytes[first] >= 0x80 { first - 1 } else { first };
            integers.push(&[INTEGER, (bytes.len() - start) as u8]);
            integers.push(&bytes[start..]);
        }
        let mut sequence = SignatureBytes { bytes: [0; MAX_LENGTH], length: 0 };
        let length = integers.length as u8;
        sequence.push(&[SEQUENCE]);
        sequence.push(if length < 0x80 { &[] } else { &[0x81] });
        sequence.push(&[length]);
        sequence.push(&integers);
        sequence
    }

    /// Returns whether s is at most n/2, as some protocols require.
    pub fn is_low_s(&self) -> bool {
        // Signatures are public.
        !self.s.is_high().reveal()
    }

    /// Returns the signature with s or n − s, whichever is at most n/2; both verify.
    #[must_use]
    pub fn normalize_s(&self) -> Self {
        let s = Scalar::select(self.s.is_high(), &self.s.negate(), &self.s);
        Self { r: self.r.clone(), s }
    }

    pub(super) const fn r(&self) -> &Scalar<C> {
        &self.r
    }

    pub(super) const fn s(&self) -> &Scalar<C> {
        &self.s
    }
}

impl<C: Curve> PartialEq for Signature<C> {
    fn eq(&self, other: &Self) -> bool {
        // Signatures are public.
        (self.r.equal(&other.r) & self.s.equal(&other.s)).reveal()
    }
}

impl<C: Curve> Eq for Signature<C> {}

impl<C: Curve> fmt::Debug for Signature<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdsa::Signature({}, ", C::NAME)?;
        self.to_fixed().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Splits off the first DER element and returns its contents and the rest. Lengths that no such
/// signature reaches are format errors.
fn element(tag: u8, bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let (length, rest) = match bytes {
        [first, length @ 0..=0x7f, rest @ ..] if *first == tag => (*length, rest),
        [first, 0x81, length @ 0x80..=0xff, rest @ ..] if *first == tag => (*length, rest),
        _ => return Err(Error::SignatureFormat),
    };
    rest.split_at_checked(length.into()).ok_or(Error::SignatureFormat)
}

/// Returns the integer, from 0 to n − 1, with these DER contents.
fn integer<C: Curve>(contents: &[u8]) -> Result<Scalar<C>, Error> {
    let magnitude = match contents {
        [] | [0, 0..=0x7f, ..] => return Err(Error::SignatureFormat),
        // Zero is encoded like this; 0xff before a byte with its highest bit set is too long for a
        // negative number.
        [0xff, 0x80..=0xff, ..] => return Err(Error::SignatureFormat),
        [0x80..=0xff, ..] => return Err(Error::SignatureRange),
        [0, magnitude @ ..] if !magnitude.is_empty() => magnitude,
        magnitude => magnitude,
    };
    let mut bytes = [0; MAX_BYTES];
    let bytes = &mut bytes[..C::BYTES];
    let start = bytes.len().checked_sub(magnitude.len()).ok_or(Error::SignatureRange)?;
    bytes[start..].copy_from_slice(magnitude);
    Scalar::from_bytes(bytes).ok_or(Error::SignatureRange)
}

/// An encoded signature.
#[derive(Clone, Copy, Debug)]
pub struct SignatureBytes {
    bytes: [u8; MAX_LENGTH],
    length: usize,
}

impl SignatureBytes {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}

impl core::ops::Deref for SignatureBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for SignatureBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
