//! The signing keys: how each is generated and used, and how its signatures are verified.

use std::ffi::c_ulong;

use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::object::{Attribute, AttributeType};
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{self, P256};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::ed25519::VerifyingKey;
use cycloid::scheme::rsa;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The type and length of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// `CKM_SHA256_RSA_PKCS` with 2048 bits.
    Rsa2048,
    /// `CKM_SHA256_RSA_PKCS` with 4096 bits.
    Rsa4096,
    /// `CKM_ECDSA` of a digest on P-256.
    P256,
    /// `CKM_EDDSA`.
    Ed25519,
}

impl KeyKind {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Rsa2048, Self::Rsa4096, Self::P256, Self::Ed25519];

    /// Returns its name on the command line, which is also the label of the key.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa2048 => "rsa-2048",
            Self::Rsa4096 => "rsa-4096",
            Self::P256 => "p-256",
            Self::Ed25519 => "ed25519",
        }
    }

    /// Returns its name in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa4096 => "RSA-4096",
            Self::P256 => "P-256",
            Self::Ed25519 => "Ed25519",
        }
    }

    /// Returns the mechanism's name for the record.
    pub const fn function(self) -> &'static str {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => "CKM_SHA256_RSA_PKCS",
            Self::P256 => "CKM_ECDSA",
            Self::Ed25519 => "CKM_EDDSA",
        }
    }

    /// Parses a list of keys: names separated by commas, or all.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn from_list(list: &str) -> Result<Vec<Self>, Failure> {
        if list == "all" {
            return Ok(Self::ALL.to_vec());
        }
        let mut keys = Vec::new();
        for name in list.split(',').map(str::trim) {
            let key = Self::ALL.into_iter().find(|key| key.name() == name).ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                Failure::new(
                    format!("no key is called '{name}'"),
                    format!("--key takes {names}, separated by commas, or all"),
                )
            })?;
            keys.push(key);
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns the signing mechanism.
    pub(super) fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => Mechanism::Sha256RsaPkcs,
            Self::P256 => Mechanism::Ecdsa,
            Self::Ed25519 => Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure)),
        }
    }

    /// Returns the generation mechanism and the template of the public key.
    pub(super) fn generation(self) -> (Mechanism<'static>, Vec<Attribute>) {
        let rsa = |bits: c_ulong| {
            let exponent = Attribute::PublicExponent(vec![1, 0, 1]);
            (Mechanism::RsaPkcsKeyPairGen, vec![Attribute::ModulusBits(bits.into()), exponent])
        };
        match self {
            Self::Rsa2048 => rsa(2048),
            Self::Rsa4096 => rsa(4096),
            Self::P256 => {
                let curve = vec![6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
                (Mechanism::EccKeyPairGen, vec![Attribute::EcParams(curve)])
            }
            Self::Ed25519 => {
                let curve = [&[0x13, 12][..], b"edwards25519"].concat();
                (Mechanism::EccEdwardsKeyPairGen, vec![Attribute::EcParams(curve)])
            }
        }
    }

    /// Returns the attributes that [`Verifier::new`] needs.
    pub(super) const fn public_attributes(self) -> &'static [AttributeType] {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => {
                &[AttributeType::Modulus, AttributeType::PublicExponent]
            }
            Self::P256 | Self::Ed25519 => &[AttributeType::EcPoint],
        }
    }
}

/// A public key of this library: a module's signatures are verified independently of the module.
pub(super) enum Verifier {
    Rsa(rsa::PublicKey<Vec<u64>>),
    P256(ec::PublicKey<P256>),
    Ed25519(Box<VerifyingKey>),
}

impl Verifier {
    /// Creates the public key of that kind from its attributes; `None` if they are not valid.
    pub(super) fn new(kind: KeyKind, attributes: &[Attribute]) -> Option<Self> {
        let value = |of: fn(&Attribute) -> Option<&Vec<u8>>| attributes.iter().find_map(of);
        let modulus = value(|a| if let Attribute::Modulus(value) = a { Some(value) } else { None });
        let exponent =
            value(|a| if let Attribute::PublicExponent(value) = a { Some(value) } else { None });
        let point = value(|a| if let Attribute::EcPoint(value) = a { Some(value) } else { None });
        // An OCTET STRING of fewer than 128 bytes.
        let point = point.and_then(|point| match point[..] {
            [4, length, ref point @ ..] if usize::from(length) == point.len() => Some(point),
            _ => None,
        });
        match kind {
            KeyKind::Rsa2048 | KeyKind::Rsa4096 => {
                let bits = modulus?.len() * 8;
                let memory = vec![0; rsa::public_key_limbs(bits)];
                let mut scratch = vec![0; rsa::verify_scratch_limbs(bits)];
                rsa::PublicKey::new(modulus?, exponent?, memory, &mut scratch).ok().map(Self::Rsa)
            }
            KeyKind::P256 => ec::PublicKey::from_sec1(point?).ok().map(Self::P256),
            KeyKind::Ed25519 => {
                let key = VerifyingKey::new(point?.try_into().ok()?).ok()?;
                Some(Self::Ed25519(Box::new(key)))
            }
        }
    }

    /// Returns whether this is a signature of `message`, which for ECDSA is the digest.
    pub(super) fn accepts(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Rsa(key) => {
                let mut scratch = vec![0; rsa::verify_scratch_limbs(key.bits())];
                key.verify_pkcs1v15(Hash::Sha256, message, signature, &mut scratch).is_ok()
            }
            Self::P256(key) => Signature::from_fixed(signature)
                .is_ok_and(|signature| key.verify_prehashed(message, &signature).is_ok()),
            Self::Ed25519(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify_strict(message, signature).is_ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use cycloid::scheme::ed25519::SigningKey;

    use super::*;

    #[test]
    fn lists() {
        assert_eq!(KeyKind::from_list("all").unwrap(), KeyKind::ALL);
        let keys = KeyKind::from_list("ed25519, rsa-2048,ed25519").unwrap();
        assert_eq!(keys, [KeyKind::Rsa2048, KeyKind::Ed25519]);
        let failure = KeyKind::from_list("rsa").unwrap_err();
        assert_eq!(failure.message, "no key is called 'rsa'");
    }

    #[test]
    fn a_signature_with_a_flipped_bit_is_invalid() {
        let key = SigningKey::from_seed(&[7; 32]);
        let mut signature = key.sign(b"message");
        let point = [&[4, 32][..], key.verifying_key().as_bytes()].concat();
        let verifier = Verifier::new(KeyKind::Ed25519, &[Attribute::EcPoint(point)]).unwrap();
        assert!(verifier.accepts(b"message", &signature));
        assert!(!verifier.accepts(b"massage", &signature));
        signature[40] ^= 1;
        assert!(!verifier.accepts(b"message", &signature));
        assert!(!verifier.accepts(b"message", &signature[1..]));
        assert!(Verifier::new(KeyKind::P256, &[]).is_none());
    }
}
