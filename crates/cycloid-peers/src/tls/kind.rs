//! The kinds of handshakes.

use rustls::{NamedGroup, ProtocolVersion};

/// A kind of handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub(super) version: ProtocolVersion,
    pub(super) group: NamedGroup,
    pub(crate) certificate: Certificate,
}

/// The type of the keys in a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    P256,
    P384,
    Rsa2048,
    Ed25519,
}

impl Certificate {
    /// Returns whether Cycloid prepares such keys.
    pub(super) const fn is_remembered(self) -> bool {
        matches!(self, Self::P256 | Self::P384)
    }

    /// Returns its name in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::P256 => "ECDSA P-256",
            Self::P384 => "ECDSA P-384",
            Self::Rsa2048 => "RSA-2048",
            Self::Ed25519 => "Ed25519",
        }
    }
}

impl Kind {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::Rsa2048),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::secp256r1, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::secp384r1, Certificate::P384),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::Ed25519),
        Self::new(ProtocolVersion::TLSv1_2, NamedGroup::X25519, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_2, NamedGroup::X25519, Certificate::Rsa2048),
    ];

    const fn new(version: ProtocolVersion, group: NamedGroup, certificate: Certificate) -> Self {
        Self { version, group, certificate }
    }

    pub(super) const fn version_name(self) -> &'static str {
        match self.version {
            ProtocolVersion::TLSv1_2 => "TLS 1.2",
            _ => "TLS 1.3",
        }
    }

    pub(crate) const fn group_name(self) -> &'static str {
        match self.group {
            NamedGroup::secp256r1 => "P-256",
            NamedGroup::secp384r1 => "P-384",
            _ => "X25519",
        }
    }

    /// Returns TLS 1.3 with X25519 and a certificate.
    pub(crate) const fn modern(certificate: Certificate) -> Self {
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, certificate)
    }

    /// Returns its name among those of its version.
    pub(super) fn name(self) -> String {
        format!("{}, {}", self.group_name(), self.certificate.name())
    }
}
