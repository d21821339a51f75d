//! Curves, identified by `CKA_EC_PARAMS`, and points in `CKA_EC_POINT`.

use cycloid::scheme::nist;

use crate::{Code, Result};

/// A curve that the daemon supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Curve {
    /// NIST P-224.
    P224,
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
    /// edwards25519, for Ed25519.
    Ed25519,
    /// curve25519, for X25519.
    X25519,
}

impl Curve {
    /// All curves.
    pub const ALL: [Self; 6] =
        [Self::P224, Self::P256, Self::P384, Self::P521, Self::Ed25519, Self::X25519];

    /// Returns the contents of its object identifier in DER (RFC 5480, section 2.1.1.1; RFC 8410,
    /// section 3).
    pub(super) const fn identifier(self) -> &'static [u8] {
        match (self.nist(), self) {
            (Some(curve), _) => curve.object_identifier(),
            (None, Self::X25519) => &[0x2b, 0x65, 0x6e],
            (None, _) => &[0x2b, 0x65, 0x70],
        }
    }

    /// Returns its `CKA_EC_PARAMS`: the object identifier in DER.
    pub fn parameters(self) -> Vec<u8> {
        let length = u8::try_from(self.identifier().len()).expect("identifiers are short");
        [&[6, length], self.identifier()].concat()
    }

    /// Returns its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P224 => "p-224",
            Self::P256 => "p-256",
            Self::P384 => "p-384",
            Self::P521 => "p-521",
            Self::Ed25519 => "ed25519",
            Self::X25519 => "x25519",
        }
    }

    /// Returns its name as a DER PrintableString, for the curves to which PKCS #11 3.0 gives one
    /// (section 2.3.10). Programs use these as well as the identifiers.
    const fn printable(self) -> Option<&'static [u8]> {
        match self {
            Self::Ed25519 => Some(b"\x13\x0cedwards25519"),
            Self::X25519 => Some(b"\x13\x0acurve25519"),
            _ => None,
        }
    }

    /// Returns the NIST curve that this is, if it is one.
    pub(crate) const fn nist(self) -> Option<nist::Curve> {
        Some(match self {
            Self::P224 => nist::Curve::P224,
            Self::P256 => nist::Curve::P256,
            Self::P384 => nist::Curve::P384,
            Self::P521 => nist::Curve::P521,
            Self::Ed25519 | Self::X25519 => return None,
        })
    }

    /// Returns the length in bytes of a coordinate, or of a key on curve25519.
    pub const fn bytes(self) -> usize {
        match self.nist() {
            Some(curve) => curve.bytes(),
            None => 32,
        }
    }

    /// Parses `CKA_EC_PARAMS`.
    ///
    /// # Errors
    /// [`Code::CURVE_NOT_SUPPORTED`], also for curves given by explicit parameters.
    pub fn from_parameters(parameters: &[u8]) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|curve| curve.parameters() == parameters || curve.printable() == Some(parameters))
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
