//! Operations with public and secret keys, computed at once: verification and encryption.

use std::sync::Arc;

use cycloid::bls12_381::signature::{self, Scheme};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::ed25519::Rule;
use cycloid::scheme::{ec, rsa};
use getrandom::SysRng;
use rand_core::UnwrapErr;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{Signable, bad_parameter, cipher, data, mask_hash, prehashed, signable};
use crate::attribute::cka;
use crate::daemon::application::Application;
use crate::daemon::handler::{Asked, Daemon};
use crate::daemon::uses::Use;
use crate::engine::{EdwardsInput, RsaInput, Work, encode_pkcs1v15, library_hash, padded};
use crate::key::private::RSA_BITS;
use crate::key::{Key, PublicKey};
use crate::mechanism::{Hash, Parameter, ckf, ckm};
use crate::object::Object;
use crate::rpc::Secret;
use crate::rpc::message::{Mechanism, Response};
use crate::{Code, Result};

fn wrong() -> crate::Error {
    Code::SIGNATURE_INVALID.into()
}

/// Returns a signature, which is as long as the modulus, to the power of the public exponent.
fn opened(key: &rsa::PublicKey<Box<[u64]>>, signature: &[u8]) -> Result<Vec<u8>> {
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(key.bits())];
    let mut encoded = vec![0; key.length()];
    key.raw_public_operation(signature, &mut encoded, &mut scratch).map_err(|_| wrong())?;
    Ok(encoded)
}

/// Verifies an ECDSA signature, r and s concatenated.
fn verify_ecdsa<C: ec::Curve>(
    key: &ec::PublicKey<C>,
    digest: &[u8],
    signature: &[u8],
) -> Result<()> {
    if signature.len() != 2 * C::BYTES {
        return Err(Code::SIGNATURE_LEN_RANGE.into());
    }
    let signature = Signature::from_fixed(signature).map_err(|_| wrong())?;
    key.verify_prehashed(digest, &signature).map_err(|_| wrong())
}

/// Verifies a signature.
fn verify_work(key: &PublicKey, work: &Work, signature: &[u8]) -> Result<()> {
    match (key, work) {
        (PublicKey::Rsa(key), Work::Rsa(RsaInput::SignPkcs1v15(info))) => {
            if signature.len() != key.length() {
                return Err(Code::SIGNATURE_LEN_RANGE.into());
            }
            let expected = encode_pkcs1v15(info, key.length()).ok_or(Code::DATA_LEN_RANGE)?;
            if opened(key, signature)? == expected { Ok(()) } else { Err(wrong()) }
        }
        (PublicKey::Rsa(key), Work::Rsa(RsaInput::Raw(number))) => {
            if signature.len() != key.length() {
                return Err(Code::SIGNATURE_LEN_RANGE.into());
            }
            let expected = padded(number, key.length()).ok_or(Code::DATA_LEN_RANGE)?;
            if opened(key, signature)? == expected { Ok(()) } else { Err(wrong()) }
        }
        (PublicKey::Rsa(key), Work::Rsa(RsaInput::SignPss { hash, mask, salt_length, digest })) => {
            if signature.len() != key.length() {
                return Err(Code::SIGNATURE_LEN_RANGE.into());
            }
            let pss = rsa::Pss {
                hash: library_hash(*hash),
                mask_hash: library_hash(*mask),
                salt_length: *salt_length,
            };
            let mut scratch = vec![0; rsa::verify_scratch_limbs(key.bits())];
            key.verify_pss_with(pss, digest, signature, &mut scratch).map_err(|_| wrong())
        }
        (PublicKey::P192(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::P224(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::P256(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::P384(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::P521(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::Secp256k1(key), Work::Ecdsa(digest)) => verify_ecdsa(key, digest, signature),
        (PublicKey::BrainpoolP256(key), Work::Ecdsa(digest)) => {
            verify_ecdsa(key, digest, signature)
        }
        (PublicKey::BrainpoolP384(key), Work::Ecdsa(digest)) => {
            verify_ecdsa(key, digest, signature)
        }
        (PublicKey::BrainpoolP512(key), Work::Ecdsa(digest)) => {
            verify_ecdsa(key, digest, signature)
        }
        (PublicKey::Ed25519(key), Work::EdDsa(input)) => {
            let signature = signature.try_into().map_err(|_| Code::SIGNATURE_LEN_RANGE)?;
            key.verify_with(Rule::Strict, input.variant(), &input.message, signature)
                .map_err(|_| wrong())
        }
        (PublicKey::Ed448(key), Work::EdDsa(input)) => {
            let EdwardsInput { message, prehashed, context } = input;
            let signature = signature.try_into().map_err(|_| Code::SIGNATURE_LEN_RANGE)?;
            let verified = match prehashed {
                false => key.verify(message, context, signature),
                true => {
                    let digest = message.as_slice().try_into().map_err(|_| Code::DATA_LEN_RANGE)?;
                    key.verify_prehashed(digest, context, signature)
                }
            };
            verified.map_err(|_| wrong())
        }
        (PublicKey::Bls(key), Work::Bls(message)) => {
            if signature.len() != 96 {
                return Err(Code::SIGNATURE_LEN_RANGE.into());
            }
            let signature = signature::Signature::from_bytes(signature).map_err(|_| wrong())?;
            key.verify(Scheme::ProofOfPossession, message, &signature).map_err(|_| wrong())
        }
        _ => Err(Code::KEY_TYPE_INCONSISTENT.into()),
    }
}

/// Encrypts a message with a public RSA key: by RSAES or without padding.
pub(super) fn encrypt_rsa(
    key: &PublicKey,
    mechanism: &Mechanism,
    message: &[u8],
) -> Result<Vec<u8>> {
    let PublicKey::Rsa(key) = key else { return Err(Code::KEY_TYPE_INCONSISTENT.into()) };
    if key.bits() < *RSA_BITS.start() {
        return Err(Code::KEY_SIZE_RANGE.because("an RSA key this short only verifies"));
    }
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(key.bits())];
    let mut ciphertext = vec![0; key.length()];
    let rng = &mut UnwrapErr(SysRng);
    match (mechanism.number, &mechanism.parameter) {
        (ckm::RSA_PKCS, Parameter::None) => {
            key.encrypt_pkcs1v15(message, rng, &mut ciphertext, &mut scratch)
        }
        (ckm::RSA_X_509, Parameter::None) => {
            let number = padded(message, key.length()).ok_or(Code::DATA_LEN_RANGE)?;
            let number = Zeroizing::new(number);
            key.raw_public_operation(&number, &mut ciphertext, &mut scratch)
        }
        (ckm::RSA_PKCS_OAEP, Parameter::Oaep { hash, mask, label }) => {
            let oaep = rsa::Oaep {
                hash: library_hash(Hash::of(*hash).ok_or_else(bad_parameter)?),
                mask_hash: library_hash(mask_hash(*mask)?),
                label: &label.0,
            };
            key.encrypt_oaep(&oaep, message, rng, &mut ciphertext, &mut scratch)
        }
        _ => return Err(bad_parameter()),
    }
    .map_err(|error| match error {
        rsa::Error::OutOfRange => Code::DATA_INVALID,
        rsa::Error::ModulusTooShort => Code::KEY_SIZE_RANGE,
        _ => Code::DATA_LEN_RANGE,
    })?;
    Ok(ciphertext)
}

impl Daemon {
    /// Returns the public key of an object.
    pub(super) fn public_key(&self, object: &Object) -> Result<Arc<PublicKey>> {
        match self.token.key(object)? {
            Key::Public(key) => Ok(key),
            _ => Err(Code::KEY_TYPE_INCONSISTENT.into()),
        }
    }

    pub(in crate::daemon) fn verify(
        &self,
        application: &Application,
        key: u64,
        mechanism: &Mechanism,
        message: &[u8],
        digested: bool,
        signature: &[u8],
    ) -> Result<Response> {
        let number = mechanism.number;
        self.permissions.check(mechanism, ckf::VERIFY)?;
        let object =
            self.usable(application, key, cka::VERIFY, number, Code::KEY_HANDLE_INVALID)?;
        self.may_sign_data(&object, number, message)?;
        let (message, digested) = prehashed(&object, mechanism, message.to_vec(), digested);
        match signable(mechanism, object.key_type(), message, digested)? {
            Signable::Mac { mac, length, data } => {
                if signature.len() != length {
                    return Err(Code::SIGNATURE_LEN_RANGE.into());
                }
                let mac = mac.compute(&self.secret_key(&object)?, &data)?;
                if !bool::from(mac[..length].ct_eq(signature)) {
                    return Err(wrong());
                }
            }
            Signable::Work(work) => verify_work(&*self.public_key(&object)?, &work, signature)?,
        }
        Ok(Response::Done {})
    }

    /// Encrypts: with a secret key, once that is logged.
    pub(in crate::daemon) fn encrypt(
        self: &Arc<Self>,
        asked: Asked,
        key: u64,
        mechanism: Mechanism,
        message: Secret,
    ) {
        let Asked { application, reply } = asked;
        let number = mechanism.number;
        let permitted = self.permissions.check(&mechanism, ckf::ENCRYPT).and_then(|()| {
            let missing = Code::KEY_HANDLE_INVALID;
            let object = self.usable(&application, key, cka::ENCRYPT, number, missing)?;
            self.token.may_serve_data(&object)?;
            Ok(object)
        });
        let object = match permitted {
            Err(error) => return reply.send(Err(error)),
            Ok(object) => object,
        };
        let (daemon, with) = (self.clone(), object.clone());
        let encrypt = move |logged: Result<()>| {
            let encrypted = logged.and_then(|()| match number {
                ckm::RSA_PKCS | ckm::RSA_PKCS_OAEP | ckm::RSA_X_509 => {
                    encrypt_rsa(&*daemon.public_key(&with)?, &mechanism, &message)
                        .map(Zeroizing::new)
                }
                _ => cipher::encrypt(&daemon.aes_key(&with)?, &mechanism, &message),
            });
            reply.send(encrypted.map(data));
        };
        if !object.has_secret() {
            return encrypt(Ok(()));
        }
        self.admitted_and_logged(application, &object, Use::Encrypt, encrypt);
    }
}
