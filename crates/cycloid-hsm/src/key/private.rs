//! Private keys prepared for use, and their form at rest: PKCS #8 (RFC 5958) or, for BLS12-381, the
//! scalar's 32 bytes, big-endian.

use std::sync::Arc;

use cycloid::bls12_381::{Cycloid, signature};
use cycloid::scheme::ec::{
    self, BrainpoolP256, BrainpoolP384, BrainpoolP512, P192, P224, P256, P384, P521, Secp256k1,
};
use cycloid::scheme::rsa::{self, KeyError, PrivateComponents};
use cycloid::scheme::{ed448, ed25519, x25519};
use pkcs8::der::Decode;
use pkcs8::der::asn1::AnyRef;
use pkcs8::der::oid::ObjectIdentifier;
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::curve::{Curve, octet_string};
use super::diffie_hellman::{self, Numbers};
use super::ed448 as ed448_der;
use super::{
    BlsKey, DhKey, Ed448Key, EdwardsKey, PrimeCurveKey, on_prime_curve, pem, with_prime_curves,
};
use crate::attribute::{Template, cka, ckk};
use crate::{Code, Error, Result};

/// A private key that signs, decrypts or agrees. A clone is the same key in memory.
#[derive(Clone)]
pub enum PrivateKey {
    /// RSA.
    Rsa(Arc<rsa::PrivateKey<Memory>>),
    /// On P-192.
    P192(Arc<PrimeCurveKey<P192>>),
    /// On P-224.
    P224(Arc<PrimeCurveKey<P224>>),
    /// On P-256.
    P256(Arc<PrimeCurveKey<P256>>),
    /// On P-384.
    P384(Arc<PrimeCurveKey<P384>>),
    /// On P-521.
    P521(Arc<PrimeCurveKey<P521>>),
    /// On secp256k1.
    Secp256k1(Arc<PrimeCurveKey<Secp256k1>>),
    /// On brainpoolP256r1.
    BrainpoolP256(Arc<PrimeCurveKey<BrainpoolP256>>),
    /// On brainpoolP384r1.
    BrainpoolP384(Arc<PrimeCurveKey<BrainpoolP384>>),
    /// On brainpoolP512r1.
    BrainpoolP512(Arc<PrimeCurveKey<BrainpoolP512>>),
    /// Ed25519.
    Ed25519(Arc<EdwardsKey>),
    /// Ed448.
    Ed448(Arc<Ed448Key>),
    /// X25519.
    X25519(Arc<x25519::PrivateKey>),
    /// BLS12-381, public keys in G1.
    Bls(Arc<BlsKey>),
    /// Finite-field Diffie-Hellman.
    Dh(Arc<DhKey>),
}

/// The supported lengths of RSA moduli, in bits. Those below [`SOUND_RSA_BITS`] need the security
/// officer's permission.
pub(crate) const RSA_BITS: std::ops::RangeInclusive<usize> = 1024..=4096;

/// The shortest RSA modulus that needs no permission, in bits.
pub(crate) const SOUND_RSA_BITS: usize = 2048;

/// The same for a public key: as many bytes.
pub(crate) const SOUND_PUBLIC_RSA_BITS: usize = rsa::MIN_BITS;

/// The memory of an RSA key.
type Memory = Box<[u64]>;

fn invalid(error: impl std::fmt::Display) -> Error {
    // The errors of key parsing name the defect and contain no part of the key.
    Code::ATTRIBUTE_VALUE_INVALID.because(format!("invalid key: {error}"))
}

fn not_made(error: impl std::fmt::Display) -> Error {
    Code::DEVICE_ERROR.because(format!("key generation failed: {error}"))
}

/// Evaluates `$body` for a key on a prime curve, or `$other` for other keys.
macro_rules! for_prime_curve {
    ($key:expr, $k:ident => $body:expr, $($rest:tt)*) => {
        match $key {
            PrivateKey::P192($k) => $body,
            PrivateKey::P224($k) => $body,
            PrivateKey::P256($k) => $body,
            PrivateKey::P384($k) => $body,
            PrivateKey::P521($k) => $body,
            PrivateKey::Secp256k1($k) => $body,
            PrivateKey::BrainpoolP256($k) => $body,
            PrivateKey::BrainpoolP384($k) => $body,
            PrivateKey::BrainpoolP512($k) => $body,
            $($rest)*
        }
    };
}

impl PrivateKey {
    /// Generates an RSA key.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`]; [`Code::ATTRIBUTE_VALUE_INVALID`] for an invalid exponent.
    pub fn generate_rsa(bits: usize, exponent: u32, rng: &mut impl CryptoRng) -> Result<Self> {
        if !RSA_BITS.contains(&bits) || !bits.is_multiple_of(256) {
            return Err(Code::KEY_SIZE_RANGE.because(
                "an RSA key must have 2048 to 4096 bits, a multiple of 256; with the security \
                 officer's permission, 1024 bits or more",
            ));
        }
        let memory = vec![0; rsa::private_key_limbs(bits)].into_boxed_slice();
        let mut scratch = vec![0; rsa::generate_scratch_limbs(bits)];
        let generated = match bits {
            ..SOUND_RSA_BITS => {
                rsa::PrivateKey::generate_legacy(bits, exponent, memory, rng, &mut scratch)
            }
            _ => rsa::PrivateKey::generate(bits, exponent, memory, rng, &mut scratch),
        };
        generated.map(|key| Self::Rsa(key.into())).map_err(invalid)
    }

    /// Reads an RSA key of any supported length: by `read` or, if it says that the key is too
    /// short, by `read_short`. Both get memory and scratch.
    fn read_rsa(
        read: impl FnOnce(Memory, &mut [u64]) -> Result<rsa::PrivateKey<Memory>, rsa::Error>,
        read_short: impl FnOnce(Memory, &mut [u64]) -> Result<rsa::PrivateKey<Memory>, rsa::Error>,
    ) -> Result<Self> {
        let most = *RSA_BITS.end();
        let memory = || vec![0; rsa::private_key_limbs(most)].into_boxed_slice();
        let mut scratch = vec![0; rsa::der_scratch_limbs(most)];
        let key = match read(memory(), &mut scratch) {
            Err(rsa::Error::Key(KeyError::ModulusLength { bits })) if bits < rsa::MIN_BITS => {
                read_short(memory(), &mut scratch)
            }
            outcome => outcome,
        };
        match key {
            Ok(key) if RSA_BITS.contains(&key.bits()) => Ok(Self::Rsa(key.into())),
            Ok(_)
            | Err(rsa::Error::Key(
                KeyError::ModulusLength { .. } | KeyError::LegacyLength { .. },
            )) => Err(Code::KEY_SIZE_RANGE.into()),
            Err(error) => Err(invalid(error)),
        }
    }

    /// Generates a key on a curve.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the random generator fails its check.
    pub fn generate_ec(curve: Curve, rng: &mut impl CryptoRng) -> Result<Self> {
        on_prime_curve!(curve,
            C => ec::PrivateKey::<C>::generate(rng).map(Self::from).map_err(not_made),
            Curve::X25519 => x25519::PrivateKey::generate(rng).map(Self::x25519).map_err(not_made),
            Curve::Ed25519 => {
                ed25519::SigningKey::generate(rng).map(Self::ed25519).map_err(not_made)
            }
            Curve::Ed448 => ed448::SigningKey::generate(rng).map(Self::ed448).map_err(not_made),
        )
    }

    /// Generates a key on BLS12-381.
    ///
    /// # Errors
    /// As [`generate_ec`](Self::generate_ec).
    pub fn generate_bls(rng: &mut impl CryptoRng) -> Result<Self> {
        signature::SecretKey::generate(rng).map(Self::bls).map_err(not_made)
    }

    /// Generates a Diffie-Hellman key in the group that the public key's template names.
    ///
    /// # Errors
    /// As [`DhKey::generate`].
    pub(crate) fn generate_dh(
        public: &Template,
        private: &Template,
        rng: &mut impl CryptoRng,
    ) -> Result<Self> {
        DhKey::generate(public, private, rng).map(|key| Self::Dh(key.into()))
    }

    fn ed25519(key: ed25519::SigningKey) -> Self {
        Self::Ed25519(Arc::new(key.into()))
    }

    fn ed448(key: ed448::SigningKey) -> Self {
        Self::Ed448(Arc::new(key.into()))
    }

    fn x25519(key: x25519::PrivateKey) -> Self {
        Self::X25519(Arc::new(key))
    }

    fn bls(key: signature::SecretKey<Cycloid, signature::MinPk>) -> Self {
        Self::Bls(Arc::new(key.into()))
    }

    /// Parses a key from outside, which has the form at rest.
    ///
    /// # Errors
    /// [`Code::ATTRIBUTE_VALUE_INVALID`] if the bytes are not a key of this type;
    /// [`Code::KEY_SIZE_RANGE`]; [`Code::DOMAIN_PARAMS_INVALID`].
    pub fn from_bytes(key_type: u32, bytes: &[u8]) -> Result<Self> {
        Self::parse(key_type, bytes, Numbers::Given)
    }

    /// Parses the form at rest from a sealed record. It was checked when the key was made, so the
    /// slow test whether a Diffie-Hellman group has a safe prime is not repeated.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub(crate) fn from_sealed(key_type: u32, bytes: &[u8]) -> Result<Self> {
        Self::parse(key_type, bytes, Numbers::Sealed)
    }

    fn parse(key_type: u32, bytes: &[u8], numbers: Numbers) -> Result<Self> {
        if key_type == ckk::BLS12_381 {
            return signature::SecretKey::from_bytes(bytes).map(Self::bls).map_err(invalid);
        }
        let info = pkcs8::PrivateKeyInfoRef::from_der(bytes).map_err(invalid)?;
        let oid = info.algorithm.oid.as_bytes();
        match key_type {
            ckk::RSA => Self::read_rsa(
                |memory, scratch| rsa::PrivateKey::from_pkcs8_der(bytes, memory, scratch),
                |memory, scratch| rsa::PrivateKey::from_pkcs8_der_legacy(bytes, memory, scratch),
            ),
            ckk::EC => {
                let named =
                    |parameters: AnyRef<'_>| parameters.decode_as::<ObjectIdentifier>().ok();
                let named = info.algorithm.parameters.and_then(named);
                let curve = Curve::ALL
                    .into_iter()
                    .find(|curve| named.is_some_and(|name| name.as_bytes() == curve.identifier()))
                    .ok_or(Code::CURVE_NOT_SUPPORTED)?;
                on_prime_curve!(curve,
                    C => ec::PrivateKey::<C>::from_pkcs8_der(bytes).map(Self::from).map_err(invalid),
                    _ => Err(Code::CURVE_NOT_SUPPORTED.into()),
                )
            }
            ckk::EC_EDWARDS if oid == Curve::Ed25519.identifier() => {
                ed25519::SigningKey::from_der(bytes).map(Self::ed25519).map_err(invalid)
            }
            ckk::EC_EDWARDS if oid == Curve::Ed448.identifier() => {
                ed448_der::from_info(&info).map(Self::ed448).map_err(invalid)
            }
            ckk::EC_MONTGOMERY if oid == Curve::X25519.identifier() => {
                x25519::PrivateKey::from_der(bytes).map(Self::x25519).map_err(invalid)
            }
            ckk::DH => DhKey::from_der(&info, numbers).map(|key| Self::Dh(key.into())),
            _ => Err(Code::ATTRIBUTE_VALUE_INVALID.because("wrong key type")),
        }
    }

    /// Parses a private key in PEM, of PKCS #8, PKCS #1 or SEC 1. Text and other blocks around it
    /// are skipped.
    ///
    /// # Errors
    /// [`Code::DATA_INVALID`] if there is none; those of [`from_bytes`](Self::from_bytes).
    pub fn from_pem(pem: &[u8]) -> Result<Self> {
        let document = pem::document(pem)?;
        let info = pkcs8::PrivateKeyInfoRef::from_der(document.as_bytes()).map_err(invalid)?;
        let key_type = match info.algorithm.oid {
            pem::RSA => ckk::RSA,
            pem::EC => ckk::EC,
            diffie_hellman::ALGORITHM => ckk::DH,
            oid => {
                match Curve::ALL.into_iter().find(|curve| curve.identifier() == oid.as_bytes()) {
                    Some(curve) if !curve.is_prime() => curve.key_type(),
                    _ => {
                        return Err(
                            Code::DATA_INVALID.because("keys of this kind are not supported")
                        );
                    }
                }
            }
        };
        Self::from_bytes(key_type, document.as_bytes())
    }

    /// Builds a key from its parts as attributes, as programs import it.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`]; [`Code::ATTRIBUTE_VALUE_INVALID`] if the parts are not a
    /// valid key.
    pub fn from_attributes(key_type: u32, template: &Template) -> Result<Self> {
        match key_type {
            ckk::RSA => {
                let components = PrivateComponents {
                    modulus: template.needed(cka::MODULUS)?,
                    public_exponent: template.needed(cka::PUBLIC_EXPONENT)?,
                    private_exponent: template.needed(cka::PRIVATE_EXPONENT)?,
                    prime1: template.needed(cka::PRIME_1)?,
                    prime2: template.needed(cka::PRIME_2)?,
                    exponent1: template.needed(cka::EXPONENT_1)?,
                    exponent2: template.needed(cka::EXPONENT_2)?,
                    coefficient: template.needed(cka::COEFFICIENT)?,
                    other_primes: &[],
                };
                Self::read_rsa(
                    |memory, scratch| rsa::PrivateKey::new(&components, memory, scratch),
                    |memory, scratch| rsa::PrivateKey::new_legacy(&components, memory, scratch),
                )
            }
            ckk::EC | ckk::EC_EDWARDS | ckk::EC_MONTGOMERY => {
                let curve = Curve::from_parameters(template.needed(cka::EC_PARAMS)?)?;
                if key_type != curve.key_type() {
                    return Err(Code::TEMPLATE_INCONSISTENT
                        .because("the curve belongs to another key type"));
                }
                let value = template.needed(cka::VALUE)?;
                let bytes =
                    || <&[u8; 32]>::try_from(value).map_err(|_| Code::ATTRIBUTE_VALUE_INVALID);
                on_prime_curve!(curve, C => {
                    // Some programs drop leading zeros; some add one.
                    let digits = &value[value.iter().take_while(|byte| **byte == 0).count()..];
                    let mut scalar = Zeroizing::new(vec![0; curve.bytes()]);
                    let start = curve.bytes().checked_sub(digits.len());
                    let start = start.ok_or(Code::ATTRIBUTE_VALUE_INVALID)?;
                    scalar[start..].copy_from_slice(digits);
                    ec::PrivateKey::<C>::from_bytes(&scalar).map(Self::from).map_err(invalid)
                },
                    Curve::X25519 => Ok(Self::x25519(x25519::PrivateKey::from(*bytes()?))),
                    Curve::Ed25519 => Ok(Self::ed25519(ed25519::SigningKey::from_seed(bytes()?))),
                    Curve::Ed448 => {
                        let seed = value.try_into().map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?;
                        Ok(Self::ed448(ed448::SigningKey::from_seed(seed)))
                    }
                )
            }
            ckk::BLS12_381 => Self::from_bytes(key_type, template.needed(cka::VALUE)?),
            ckk::DH => DhKey::from_attributes(template).map(|key| Self::Dh(key.into())),
            _ => Err(Code::ATTRIBUTE_VALUE_INVALID.because("unsupported key type")),
        }
    }

    /// Returns the form at rest.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut buffer = Zeroizing::new(vec![0; rsa::private_key_der_length(*RSA_BITS.end())]);
        let written = for_prime_curve!(self, key => key.to_pkcs8_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::Rsa(key) => key.to_pkcs8_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::Ed25519(key) => key.to_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::X25519(key) => key.to_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::Bls(key) => return Zeroizing::new(key.to_bytes().to_vec()),
            Self::Dh(key) => return key.to_der(),
            Self::Ed448(key) => return ed448_der::to_der(key),
        );
        let length = written.expect("the buffer has room for the longest");
        Zeroizing::new(buffer[..length].to_vec())
    }

    /// Returns its type, `CKK_…`.
    pub const fn key_type(&self) -> u32 {
        match self {
            Self::Rsa(_) => ckk::RSA,
            Self::Bls(_) => ckk::BLS12_381,
            Self::Dh(_) => ckk::DH,
            Self::Ed25519(_) | Self::Ed448(_) => ckk::EC_EDWARDS,
            Self::X25519(_) => ckk::EC_MONTGOMERY,
            _ => ckk::EC,
        }
    }

    /// Returns whether it agrees with keys on its curve, by ECDH or X25519.
    pub(crate) fn agrees_on_curve(&self) -> bool {
        self.curve().is_some_and(|curve| curve.is_prime() || curve == Curve::X25519)
    }

    /// Returns its curve, if it is a key on one of those.
    pub const fn curve(&self) -> Option<Curve> {
        Some(match self {
            Self::P192(_) => Curve::P192,
            Self::P224(_) => Curve::P224,
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
            Self::Secp256k1(_) => Curve::Secp256k1,
            Self::BrainpoolP256(_) => Curve::BrainpoolP256,
            Self::BrainpoolP384(_) => Curve::BrainpoolP384,
            Self::BrainpoolP512(_) => Curve::BrainpoolP512,
            Self::Ed25519(_) => Curve::Ed25519,
            Self::Ed448(_) => Curve::Ed448,
            Self::X25519(_) => Curve::X25519,
            Self::Rsa(_) | Self::Bls(_) | Self::Dh(_) => return None,
        })
    }

    /// Writes its public parts as attributes of a private key or, with `whole`, of its public key.
    /// A BLS12-381 key has no SubjectPublicKeyInfo, so a private key has its public key as
    /// `CKA_EC_POINT`.
    pub fn describe(&self, to: &mut Template, whole: bool) {
        to.set_number(cka::KEY_TYPE, self.key_type().into());
        match self {
            Self::Rsa(key) => {
                let public = key.public();
                to.set(cka::MODULUS, modulus(&public));
                to.set(cka::PUBLIC_EXPONENT, exponent(public.exponent()));
                if whole {
                    to.set_number(cka::MODULUS_BITS, public.bits() as u64);
                }
            }
            Self::Bls(key) => {
                let number = if whole { cka::VALUE } else { cka::EC_POINT };
                to.set(number, key.public().to_bytes());
            }
            Self::Dh(key) => key.describe(to, whole),
            _ => {
                let curve = self.curve().expect("all others are on curves");
                to.set(cka::EC_PARAMS, curve.parameters());
                if whole {
                    to.set(cka::EC_POINT, octet_string(&self.public_point()));
                }
            }
        }
        to.set(cka::PUBLIC_KEY_INFO, self.public_key_info());
    }

    fn public_point(&self) -> Vec<u8> {
        for_prime_curve!(self, key => key.public_key().to_uncompressed().to_vec(),
            Self::Ed25519(key) => key.public().as_bytes().to_vec(),
            Self::Ed448(key) => key.public().as_bytes().to_vec(),
            Self::X25519(key) => key.public_key().to_vec(),
            Self::Rsa(_) | Self::Bls(_) | Self::Dh(_) => Vec::new(),
        )
    }

    /// Returns the SubjectPublicKeyInfo in DER (RFC 5280, section 4.1); empty for BLS12-381, which
    /// has none.
    fn public_key_info(&self) -> Vec<u8> {
        let mut buffer = vec![0; rsa::public_key_der_length(*RSA_BITS.end())];
        let written = for_prime_curve!(self,
            key => key.public_key().to_spki_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::Rsa(key) => key.public().to_spki_der(&mut buffer).map(<[u8]>::len).ok(),
            Self::Ed25519(key) => {
                key.public().to_der(&mut buffer).map(<[u8]>::len).ok()
            }
            Self::X25519(key) => {
                x25519::public_key_to_der(&key.public_key(), &mut buffer).map(<[u8]>::len).ok()
            }
            Self::Bls(_) => Some(0),
            Self::Dh(key) => return key.public_key_info(),
            Self::Ed448(key) => return ed448_der::public_key_info(key.public()),
        );
        buffer.truncate(written.expect("the buffer has room for the longest"));
        buffer
    }

    /// Returns whether these attributes of a private key, as far as they are public, belong to this
    /// key. They were written when the key was made, and are stored apart from it.
    pub fn is_of(&self, attributes: &Template) -> bool {
        let mut described = Template::new();
        self.describe(&mut described, false);
        [cka::PUBLIC_KEY_INFO, cka::EC_POINT].into_iter().all(|number| {
            let known = attributes.get(number).filter(|value| !value.is_empty());
            known.is_none_or(|value| described.get(number) == Some(value))
        })
    }

    /// Returns its secret attributes, for a key that may be read.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the form at rest cannot be parsed.
    pub fn secret_attributes(&self) -> Result<Template> {
        let mut template = Template::new();
        let bytes = self.to_bytes();
        if let Self::Rsa(_) = self {
            let broken = |_| Error::from(Code::DEVICE_ERROR);
            let info = pkcs8::PrivateKeyInfoRef::from_der(&bytes).map_err(broken)?;
            let key = pkcs1::RsaPrivateKeyRef::from_der(info.private_key.as_bytes());
            let key = key.map_err(|_| Error::from(Code::DEVICE_ERROR))?;
            for (number, part) in [
                (cka::PRIVATE_EXPONENT, key.private_exponent),
                (cka::PRIME_1, key.prime1),
                (cka::PRIME_2, key.prime2),
                (cka::EXPONENT_1, key.exponent1),
                (cka::EXPONENT_2, key.exponent2),
                (cka::COEFFICIENT, key.coefficient),
            ] {
                template.set(number, part.as_bytes());
            }
        } else if let Self::Dh(key) = self {
            template.set(cka::VALUE, key.exponent());
        } else {
            let mut value = vec![0; self.curve().map_or(32, Curve::bytes)];
            for_prime_curve!(self, key => key.to_bytes(&mut value).map_err(invalid)?,
                Self::Ed25519(key) => value.copy_from_slice(key.seed()),
                Self::Ed448(key) => value.copy_from_slice(key.seed()),
                Self::X25519(key) => value.copy_from_slice(key.as_bytes()),
                Self::Bls(_) | Self::Rsa(_) | Self::Dh(_) => value.copy_from_slice(&bytes),
            );
            template.set(cka::VALUE, value.as_slice());
            value.zeroize();
        }
        Ok(template)
    }
}

macro_rules! from_library {
    (() $($curve:ident $field:ident),*) => {$(
        impl From<ec::PrivateKey<$curve>> for PrivateKey {
            fn from(key: ec::PrivateKey<$curve>) -> Self {
                Self::$curve(Arc::new(key.into()))
            }
        }
    )*};
}
with_prime_curves!(from_library!());

/// Returns the modulus as bytes, big-endian without leading zeros.
fn modulus<M: AsRef<[u64]>>(key: &rsa::PublicKey<M>) -> Vec<u8> {
    let bytes: Vec<u8> =
        key.modulus_limbs().iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    bytes[bytes.len() - key.length()..].to_vec()
}

fn exponent(exponent: u64) -> Vec<u8> {
    let bytes = exponent.to_be_bytes();
    bytes[bytes.iter().take_while(|byte| **byte == 0).count()..].to_vec()
}

impl Curve {
    /// Returns the type of its keys, `CKK_…`.
    pub const fn key_type(self) -> u32 {
        match self {
            Self::Ed25519 | Self::Ed448 => ckk::EC_EDWARDS,
            Self::X25519 => ckk::EC_MONTGOMERY,
            _ => ckk::EC,
        }
    }
}
