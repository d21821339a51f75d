//! Public keys, parsed from attributes.

use cycloid::bls12_381::{Cycloid, signature};
use cycloid::scheme::ec::{
    self, BrainpoolP256, BrainpoolP384, BrainpoolP512, P192, P224, P256, P384, P521, Secp256k1,
};
use cycloid::scheme::rsa::{self, KeyError};
use cycloid::scheme::{ed448, ed25519};

use super::curve::{Curve, point_bytes};
use super::diffie_hellman::{self, Numbers};
use super::{on_prime_curve, with_prime_curves};
use crate::attribute::{Template, cka, ckk};
use crate::{Code, Error, Result};

/// A public key that verifies or encrypts.
pub enum PublicKey {
    /// RSA.
    Rsa(rsa::PublicKey<Box<[u64]>>),
    /// On P-192.
    P192(ec::PublicKey<P192>),
    /// On P-224.
    P224(ec::PublicKey<P224>),
    /// On P-256.
    P256(ec::PublicKey<P256>),
    /// On P-384.
    P384(ec::PublicKey<P384>),
    /// On P-521.
    P521(ec::PublicKey<P521>),
    /// On secp256k1.
    Secp256k1(ec::PublicKey<Secp256k1>),
    /// On brainpoolP256r1.
    BrainpoolP256(ec::PublicKey<BrainpoolP256>),
    /// On brainpoolP384r1.
    BrainpoolP384(ec::PublicKey<BrainpoolP384>),
    /// On brainpoolP512r1.
    BrainpoolP512(ec::PublicKey<BrainpoolP512>),
    /// Ed25519.
    Ed25519(Box<ed25519::VerifyingKey>),
    /// Ed448.
    Ed448(Box<ed448::VerifyingKey>),
    /// X25519.
    X25519([u8; 32]),
    /// BLS12-381.
    Bls(Box<signature::PublicKey<Cycloid, signature::MinPk>>),
    /// Finite-field Diffie-Hellman. Programs read its value and send it; it has no use inside.
    Dh,
}

fn invalid(error: impl std::fmt::Display) -> Error {
    Code::ATTRIBUTE_VALUE_INVALID.because(format!("invalid public key: {error}"))
}

impl PublicKey {
    /// Builds a key from its parts as attributes.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`]; [`Code::ATTRIBUTE_VALUE_INVALID`] if the parts are not a
    /// valid key, such as a point that is not on its curve; [`Code::CURVE_NOT_SUPPORTED`];
    /// [`Code::KEY_SIZE_RANGE`].
    pub fn from_attributes(key_type: u32, template: &Template) -> Result<Self> {
        match key_type {
            ckk::RSA => {
                let (modulus, exponent) =
                    (template.needed(cka::MODULUS)?, template.needed(cka::PUBLIC_EXPONENT)?);
                // One zero may precede the modulus.
                if modulus.len() > rsa::MAX_BITS / 8 + 1 {
                    return Err(Code::KEY_SIZE_RANGE.into());
                }
                let bits = (8 * modulus.len()).clamp(rsa::MIN_BITS, rsa::MAX_BITS);
                let mut scratch = vec![0; rsa::verify_scratch_limbs(bits)];
                let memory = || vec![0; rsa::public_key_limbs(bits)].into_boxed_slice();
                let key = match rsa::PublicKey::new(modulus, exponent, memory(), &mut scratch) {
                    Err(rsa::Error::Key(KeyError::ModulusLength { bits }))
                        if bits < rsa::MIN_BITS =>
                    {
                        rsa::PublicKey::new_legacy(modulus, exponent, memory(), &mut scratch)
                    }
                    outcome => outcome,
                };
                match key {
                    Err(rsa::Error::Key(KeyError::LegacyLength { .. })) => {
                        Err(Code::KEY_SIZE_RANGE.into())
                    }
                    key => key.map(Self::Rsa).map_err(invalid),
                }
            }
            ckk::EC | ckk::EC_EDWARDS | ckk::EC_MONTGOMERY => {
                let curve = Curve::from_parameters(template.needed(cka::EC_PARAMS)?)?;
                if key_type != curve.key_type() {
                    return Err(Code::TEMPLATE_INCONSISTENT
                        .because("the curve belongs to another key type"));
                }
                Self::from_point(curve, template.needed(cka::EC_POINT)?)
            }
            ckk::BLS12_381 => signature::PublicKey::from_bytes(template.needed(cka::VALUE)?)
                .map(|key| Self::Bls(Box::new(key)))
                .map_err(invalid),
            ckk::DH => {
                diffie_hellman::check_public(template, Numbers::Sealed)?;
                Ok(Self::Dh)
            }
            _ => Err(Code::ATTRIBUTE_VALUE_INVALID.because("unsupported key type")),
        }
    }

    /// Builds a key from the attributes that a program gives, with the checks that a stored key
    /// does not need again.
    ///
    /// # Errors
    /// As [`from_attributes`](Self::from_attributes); [`Code::DOMAIN_PARAMS_INVALID`].
    pub(crate) fn from_given(key_type: u32, template: &Template) -> Result<Self> {
        if key_type == ckk::DH {
            diffie_hellman::check_public(template, Numbers::Given)?;
            return Ok(Self::Dh);
        }
        Self::from_attributes(key_type, template)
    }

    /// Parses a point, raw or in an OCTET STRING.
    ///
    /// # Errors
    /// [`Code::ATTRIBUTE_VALUE_INVALID`].
    pub fn from_point(curve: Curve, point: &[u8]) -> Result<Self> {
        let bytes = curve.bytes();
        let point = match curve.is_prime() {
            false => point_bytes(point, |length| length == bytes),
            true => point_bytes(point, |length| length == 1 + bytes || length == 1 + 2 * bytes),
        };
        let point = point.ok_or_else(|| invalid("wrong length of the point"))?;
        let encoded = || <&[u8; 32]>::try_from(point).map_err(invalid);
        on_prime_curve!(curve,
            C => ec::PublicKey::<C>::from_sec1(point).map(Self::from).map_err(invalid),
            Curve::X25519 => Ok(Self::X25519(*encoded()?)),
            Curve::Ed25519 => {
                let key = ed25519::VerifyingKey::new(encoded()?).map_err(invalid)?;
                Ok(Self::Ed25519(Box::new(key)))
            }
            Curve::Ed448 => {
                let encoded = point.try_into().map_err(invalid)?;
                let key = ed448::VerifyingKey::new(encoded).map_err(invalid)?;
                Ok(Self::Ed448(Box::new(key)))
            }
        )
    }
}

macro_rules! from_library {
    (() $($curve:ident $field:ident),*) => {$(
        impl From<ec::PublicKey<$curve>> for PublicKey {
            fn from(key: ec::PublicKey<$curve>) -> Self {
                Self::$curve(key)
            }
        }
    )*};
}
with_prime_curves!(from_library!());
