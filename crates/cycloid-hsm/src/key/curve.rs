//! Curves, identified by `CKA_EC_PARAMS`, and points in `CKA_EC_POINT`.

use cycloid::scheme::ec;

use super::on_prime_curve;
use crate::{Code, Result};

/// A curve that the daemon supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Curve {
    /// NIST P-192, for old data.
    P192,
    /// NIST P-224.
    P224,
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
    /// secp256k1 (SEC 2).
    Secp256k1,
    /// brainpoolP256r1 (RFC 5639).
    BrainpoolP256,
    /// brainpoolP384r1.
    BrainpoolP384,
    /// brainpoolP512r1.
    BrainpoolP512,
    /// edwards25519, for Ed25519.
    Ed25519,
    /// edwards448, for Ed448.
    Ed448,
    /// curve25519, for X25519.
    X25519,
}

impl Curve {
    /// All curves.
    pub const ALL: [Self; 12] = [
        Self::P192,
        Self::P224,
        Self::P256,
        Self::P384,
        Self::P521,
        Self::Secp256k1,
        Self::BrainpoolP256,
        Self::BrainpoolP384,
        Self::BrainpoolP512,
        Self::Ed25519,
        Self::Ed448,
        Self::X25519,
    ];

    /// Returns the contents of its object identifier in DER (RFC 5480, section 2.1.1.1; SEC 2,
    /// appendix A.2; RFC 5639, section 4.1; RFC 8410, section 3).
    pub(super) const fn identifier(self) -> &'static [u8] {
        match self {
            Self::P192 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1],
            Self::P224 => &[0x2b, 0x81, 4, 0, 0x21],
            Self::P256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
            Self::P384 => &[0x2b, 0x81, 4, 0, 0x22],
            Self::P521 => &[0x2b, 0x81, 4, 0, 0x23],
            Self::Secp256k1 => &[0x2b, 0x81, 4, 0, 0x0a],
            Self::BrainpoolP256 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7],
            Self::BrainpoolP384 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 11],
            Self::BrainpoolP512 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 13],
            Self::Ed25519 => &[0x2b, 0x65, 0x70],
            Self::Ed448 => &[0x2b, 0x65, 0x71],
            Self::X25519 => &[0x2b, 0x65, 0x6e],
        }
    }

    /// Returns its `CKA_EC_PARAMS`: the object identifier in DER.
    pub fn parameters(self) -> Vec<u8> {
        let length = u8::try_from(self.identifier().len()).expect("identifiers are short");
        [&[6, length], self.identifier()].concat()
    }

    /// Returns the curve with this [`name`](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|curve| curve.name() == name)
    }

    /// Returns its usual name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P192 => "p-192",
            Self::P224 => "p-224",
            Self::P256 => "p-256",
            Self::P384 => "p-384",
            Self::P521 => "p-521",
            Self::Secp256k1 => "secp256k1",
            Self::BrainpoolP256 => "brainpool-p256r1",
            Self::BrainpoolP384 => "brainpool-p384r1",
            Self::BrainpoolP512 => "brainpool-p512r1",
            Self::Ed25519 => "ed25519",
            Self::Ed448 => "ed448",
            Self::X25519 => "x25519",
        }
    }

    /// Returns its name as a DER PrintableString, for the curves to which PKCS #11 3.0 gives one
    /// (section 2.3.10). Programs use these as well as the identifiers.
    const fn printable(self) -> Option<&'static [u8]> {
        match self {
            Self::Ed25519 => Some(b"\x13\x0cedwards25519"),
            Self::Ed448 => Some(b"\x13\x0aedwards448"),
            Self::X25519 => Some(b"\x13\x0acurve25519"),
            _ => None,
        }
    }

    /// Returns the identifier that programs used before RFC 8410, and OpenSC and GnuPG still do.
    const fn older(self) -> Option<&'static [u8]> {
        match self {
            Self::Ed25519 => Some(&[6, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1]),
            Self::X25519 => Some(&[6, 10, 0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1]),
            _ => None,
        }
    }

    /// Returns whether this is a curve over a prime field in Weierstrass form, for ECDSA and ECDH.
    pub(crate) const fn is_prime(self) -> bool {
        !matches!(self, Self::Ed25519 | Self::Ed448 | Self::X25519)
    }

    /// Returns the length in bytes of a coordinate, or of a key on another curve.
    pub const fn bytes(self) -> usize {
        on_prime_curve!(self, C => <C as ec::Curve>::BYTES,
            Self::Ed25519 | Self::X25519 => 32,
            Self::Ed448 => 57,
        )
    }

    /// Parses `CKA_EC_PARAMS`.
    ///
    /// # Errors
    /// [`Code::CURVE_NOT_SUPPORTED`], also for curves given by explicit parameters.
    pub fn from_parameters(parameters: &[u8]) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|curve| {
                let names = [curve.printable(), curve.older()];
                curve.parameters() == parameters || names.contains(&Some(parameters))
            })
            .ok_or_else(|| Code::CURVE_NOT_SUPPORTED.into())
    }
}

/// Encodes a point for `CKA_EC_POINT`: as an OCTET STRING.
pub(crate) fn octet_string(bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("points have at most 133 bytes");
    let header: &[u8] = if length < 0x80 { &[4, length] } else { &[4, 0x81, length] };
    [header, bytes].concat()
}

/// Returns the content of an OCTET STRING, or the bytes themselves: programs write points either
/// way.
pub(crate) fn point_bytes(point: &[u8], raw_length: impl Fn(usize) -> bool) -> Option<&[u8]> {
    let inside = match point {
        [4, length @ 0..=0x7f, rest @ ..] if rest.len() == usize::from(*length) => Some(rest),
        [4, 0x81, length @ 0x80..=0xff, rest @ ..] if rest.len() == usize::from(*length) => {
            Some(rest)
        }
        _ => None,
    };
    inside
        .filter(|inside| raw_length(inside.len()))
        .or_else(|| raw_length(point.len()).then_some(point))
}
