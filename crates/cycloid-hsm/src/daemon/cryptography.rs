//! Requests that use keys. Private-key operations go through the engine; all others are computed at
//! once.

mod agreement;
mod cipher;
mod derivation;
mod mac;
mod public;
mod wrapping;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cycloid::scheme::ed448;
use zeroize::Zeroizing;

use super::application::Application;
use super::handler::{Asked, Daemon};
use super::uses::Use;
use crate::attribute::{cka, ckk, cko};
use crate::crypto::{self, Mac};
use crate::engine::{EdwardsInput, Outcome, RsaInput, Work};
use crate::key::{Curve, Key, PrivateKey};
use crate::mechanism::{Hash, Parameter, ckf, ckg, ckm, is_pss, offered};
use crate::object::{Object, policy};
use crate::rpc::Bytes;
use crate::rpc::Secret;
use crate::rpc::message::{Mechanism, Response, Signed, Signing, Usage};
use crate::spans::{self, Span};
use crate::{Code, Error, Result};

/// Refuses a mechanism that does not support this use, which no permission of the officer concerns.
pub(super) fn needs_flag(mechanism: u32, flag: u32) -> Result<()> {
    match offered(mechanism) {
        Some(offered) if offered.flags & flag != 0 => Ok(()),
        _ => Err(Code::MECHANISM_INVALID.into()),
    }
}

fn bad_parameter() -> Error {
    Code::MECHANISM_PARAM_INVALID.into()
}

pub(super) fn data(bytes: Zeroizing<Vec<u8>>) -> Response {
    Response::Data { data: Secret(bytes) }
}

/// Returns the hash function of a mask generation function.
fn mask_hash(mask: u32) -> Result<Hash> {
    Ok(match mask {
        ckg::MGF1_SHA1 => Hash::Sha1,
        ckg::MGF1_SHA224 => Hash::Sha224,
        ckg::MGF1_SHA256 => Hash::Sha256,
        ckg::MGF1_SHA384 => Hash::Sha384,
        ckg::MGF1_SHA512 => Hash::Sha512,
        ckg::MGF1_SHA3_224 => Hash::Sha3_224,
        ckg::MGF1_SHA3_256 => Hash::Sha3_256,
        ckg::MGF1_SHA3_384 => Hash::Sha3_384,
        ckg::MGF1_SHA3_512 => Hash::Sha3_512,
        _ => return Err(bad_parameter()),
    })
}

/// Encodes a DigestInfo (RFC 8017, section 9.2, note 1).
fn digest_info(hash: Hash, digest: &[u8]) -> Vec<u8> {
    let header: &[u8] = match hash {
        Hash::Sha1 => &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 0x14],
        Hash::Sha224 => &nist_info(4, 28),
        Hash::Sha256 => &nist_info(1, 32),
        Hash::Sha384 => &nist_info(2, 48),
        Hash::Sha512 => &nist_info(3, 64),
        Hash::Sha3_224 => &nist_info(7, 28),
        Hash::Sha3_256 => &nist_info(8, 32),
        Hash::Sha3_384 => &nist_info(9, 48),
        Hash::Sha3_512 => &nist_info(10, 64),
    };
    [header, digest].concat()
}

/// Returns the hash function of a DigestInfo.
fn hash_of_digest_info(data: &[u8]) -> Option<Hash> {
    Hash::ALL.into_iter().find(|hash| {
        let start = data.len().checked_sub(hash.length());
        start.is_some_and(|start| digest_info(*hash, &data[start..]) == data)
    })
}

/// Returns the DigestInfo header for a SHA-2 or SHA-3 function; identifiers and lengths differ in
/// three bytes.
const fn nist_info(identifier: u8, length: u8) -> [u8; 19] {
    let total = 17 + length;
    [0x30, total, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, identifier, 5, 0, 4, length]
}

/// Returns the digest that a mechanism signs: `data` itself if already hashed, otherwise its hash.
fn digested_data(hash: Hash, data: Vec<u8>, digested: bool) -> Result<Vec<u8>> {
    match digested {
        false => Ok(crypto::digest(hash, &data)),
        true if data.len() == hash.length() => Ok(data),
        true => Err(Code::DATA_LEN_RANGE.into()),
    }
}

/// The operation of a signature mechanism.
pub(super) enum Signable {
    Work(Work),
    /// A message authentication code of `length` bytes.
    Mac {
        mac: Mac,
        length: usize,
        data: Vec<u8>,
    },
}

/// Returns the digest's hash function, the mask's, the length of the salt in bytes, and the digest.
fn pss(
    mechanism: &Mechanism,
    data: Vec<u8>,
    digested: bool,
) -> Result<(Hash, Hash, usize, Vec<u8>)> {
    let Parameter::Pss { hash, mask, salt_length } = mechanism.parameter else {
        return Err(bad_parameter());
    };
    let stated = Hash::of(hash).ok_or_else(bad_parameter)?;
    let mask = mask_hash(mask)?;
    let digest = match Hash::before(mechanism.number) {
        Some(hash) if hash != stated => return Err(bad_parameter()),
        Some(hash) => digested_data(hash, data, digested)?,
        None if data.len() == stated.length() => data,
        None => return Err(Code::DATA_LEN_RANGE.into()),
    };
    let salt_length = usize::try_from(salt_length).map_err(|_| bad_parameter())?;
    Ok((stated, mask, salt_length, digest))
}

/// Returns the digest that Ed448ph signs in place of data, and that it is one; everything else as
/// it is. Both curves of EdDSA have prehashes of 64 bytes, but by other functions.
fn prehashed(
    object: &Object,
    mechanism: &Mechanism,
    data: Vec<u8>,
    digested: bool,
) -> (Vec<u8>, bool) {
    let asked = matches!(mechanism.parameter, Parameter::EdDsa { prehashed: true, .. });
    let curve = object.attributes.get(cka::EC_PARAMS).map(Curve::from_parameters);
    if asked && !digested && curve == Some(Ok(Curve::Ed448)) {
        return (ed448::prehash(&data).to_vec(), true);
    }
    (data, digested)
}

/// Returns the operation that signs, or verifies, by a mechanism.
pub(super) fn signable(
    mechanism: &Mechanism,
    key_type: u32,
    data: Vec<u8>,
    digested: bool,
) -> Result<Signable> {
    let number = mechanism.number;
    if digested && Hash::before(number).is_none() && number != ckm::EDDSA {
        return Err(Code::ARGUMENTS_BAD
            .because("the mechanism does not hash, so the data cannot be a digest"));
    }
    let family = |expected: u32| match key_type == expected {
        true => Ok(()),
        false => Err(Error::from(Code::KEY_TYPE_INCONSISTENT)),
    };
    Ok(Signable::Work(match number {
        ckm::RSA_X_509 => {
            family(ckk::RSA)?;
            if mechanism.parameter != Parameter::None {
                return Err(bad_parameter());
            }
            Work::Rsa(RsaInput::Raw(data))
        }
        ckm::RSA_PKCS => {
            family(ckk::RSA)?;
            Work::Rsa(RsaInput::SignPkcs1v15(data))
        }
        _ if is_pss(number) => {
            family(ckk::RSA)?;
            let (hash, mask, salt_length, digest) = pss(mechanism, data, digested)?;
            Work::Rsa(RsaInput::SignPss { hash, mask, salt_length, digest })
        }
        ckm::ECDSA => {
            family(ckk::EC)?;
            if data.is_empty() || data.len() > 128 {
                return Err(Code::DATA_LEN_RANGE.into());
            }
            Work::Ecdsa(data)
        }
        ckm::EDDSA => {
            family(ckk::EC_EDWARDS)?;
            let (prehashed, context) = match &mechanism.parameter {
                Parameter::None => (false, Vec::new()),
                Parameter::EdDsa { prehashed, context } => (*prehashed, context.0.clone()),
                _ => return Err(bad_parameter()),
            };
            if context.len() > 255 {
                return Err(bad_parameter());
            }
            let message = match (prehashed, digested) {
                (true, _) => digested_data(Hash::Sha512, data, digested)?,
                (false, false) => data,
                (false, true) => return Err(Code::ARGUMENTS_BAD.into()),
            };
            Work::EdDsa(EdwardsInput { message, prehashed, context })
        }
        ckm::BLS12_381_SIGN => {
            family(ckk::BLS12_381)?;
            Work::Bls(data)
        }
        _ => match (Hash::before(number), mac(mechanism)?) {
            (Some(hash), _) if key_type == ckk::RSA && is_rsa_signature(number) => {
                let digest = digested_data(hash, data, digested)?;
                Work::Rsa(RsaInput::SignPkcs1v15(digest_info(hash, &digest)))
            }
            (Some(hash), _) if key_type == ckk::EC && !is_rsa_signature(number) => {
                Work::Ecdsa(digested_data(hash, data, digested)?)
            }
            (_, Some((mac, length)))
                if crate::object::is_symmetric(key_type)
                    && mac.is_aes() == (key_type == ckk::AES) =>
            {
                return Ok(Signable::Mac { mac, length, data });
            }
            (Some(_), _) | (_, Some(_)) => return Err(Code::KEY_TYPE_INCONSISTENT.into()),
            _ => return Err(Code::MECHANISM_INVALID.into()),
        },
    }))
}

const fn is_rsa_signature(number: u32) -> bool {
    matches!(
        number,
        ckm::SHA1_RSA_PKCS
            | ckm::SHA224_RSA_PKCS
            | ckm::SHA256_RSA_PKCS
            | ckm::SHA384_RSA_PKCS
            | ckm::SHA512_RSA_PKCS
            | ckm::SHA3_224_RSA_PKCS
            | ckm::SHA3_256_RSA_PKCS
            | ckm::SHA3_384_RSA_PKCS
            | ckm::SHA3_512_RSA_PKCS
    )
}

/// Returns the message authentication code of a mechanism, and its length in bytes.
fn mac(mechanism: &Mechanism) -> Result<Option<(Mac, usize)>> {
    let number = mechanism.number;
    let (mac, longest, general) = match (number, &mechanism.parameter) {
        (ckm::AES_CMAC | ckm::AES_CMAC_GENERAL, _) => {
            (Mac::Cmac, 16, number == ckm::AES_CMAC_GENERAL)
        }
        (ckm::AES_GMAC, Parameter::Iv(iv)) => {
            return Ok(Some((Mac::Gmac { iv: iv.0.clone(), associated: Vec::new() }, 16)));
        }
        (
            ckm::AES_GMAC,
            Parameter::Gcm { iv, associated, tag_bits: tag_bits @ (96 | 104 | 112 | 120 | 128) },
        ) => {
            let mac = Mac::Gmac { iv: iv.0.clone(), associated: associated.0.clone() };
            return Ok(Some((mac, *tag_bits as usize / 8)));
        }
        (ckm::AES_GMAC, _) => return Err(bad_parameter()),
        _ => match (Hash::of_hmac(number), Hash::of_general_hmac(number)) {
            (Some(hash), _) => (Mac::Hmac(hash), hash.length(), false),
            (None, Some(hash)) => (Mac::Hmac(hash), hash.length(), true),
            (None, None) => return Ok(None),
        },
    };
    match (general, &mechanism.parameter) {
        (false, Parameter::None) => Ok(Some((mac, longest))),
        // A tag shorter than half the full length is too easy to guess (RFC 2104, section 5; SP
        // 800-38B, appendix A.2).
        (true, Parameter::Length(length)) => match *length as usize {
            length if (longest / 2..=longest).contains(&length) => Ok(Some((mac, length))),
            _ => Err(bad_parameter()),
        },
        _ => Err(bad_parameter()),
    }
}

impl Daemon {
    /// Returns the private key of an object.
    fn private_key(&self, object: &Object) -> Result<PrivateKey> {
        match self.token.key(object)? {
            Key::Private(key) => Ok(key),
            _ => Err(Code::KEY_TYPE_INCONSISTENT.into()),
        }
    }

    /// Returns the bytes of a secret key.
    fn secret_key(&self, object: &Object) -> Result<Arc<Zeroizing<Vec<u8>>>> {
        match self.token.key(object)? {
            Key::Secret(key) => Ok(key),
            _ => Err(Code::KEY_TYPE_INCONSISTENT.into()),
        }
    }

    /// Calls `then` once a use of a key is logged, if that is required.
    fn logged(
        &self,
        application: &Application,
        object: &Object,
        usage: Use,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        self.uses.grant(&self.tasks, application, object, usage, then);
    }

    /// Queues an operation of an application.
    fn submit(
        &self,
        by: u64,
        key: PrivateKey,
        work: Work,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        self.engine.submit(by, key, work, Instant::now(), done);
    }

    fn begin_signature(
        self: &Arc<Self>,
        application: &Application,
        signing: Signing,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        let Signing { key, mechanism, data, digested } = signing;
        let by = application.number;
        let prepared = (|| {
            let _span = spans::enter(Span::Authorization);
            self.permissions.check(&mechanism, ckf::SIGN)?;
            let object = self.usable_once(
                application,
                key,
                cka::SIGN,
                mechanism.number,
                Code::KEY_HANDLE_INVALID,
            )?;
            self.may_sign_data(&object, mechanism.number, &data.0)?;
            let (data, digested) = prehashed(&object, &mechanism, data.0, digested);
            let signable = signable(&mechanism, object.key_type(), data, digested)?;
            self.admit(&object)?;
            Ok((object, signable))
        })();
        let (object, signable) = match prepared {
            Err(error) => return done(Err(error)),
            Ok(prepared) => prepared,
        };
        let (daemon, key) = (self.clone(), object.clone());
        self.logged(application, &object, Use::Sign, move |logged| match (logged, signable) {
            (Err(error), _) => done(Err(error)),
            (Ok(()), Signable::Mac { mac, length, data }) => {
                let computed = daemon.secret_key(&key).and_then(|key| mac.compute(&key, &data));
                done(computed.map(|mut mac| {
                    mac.truncate(length);
                    mac
                }));
            }
            (Ok(()), Signable::Work(work)) => match daemon.private_key(&key) {
                Err(error) => done(Err(error)),
                Ok(key) => daemon.submit(by, key, work, done),
            },
        });
    }

    pub(super) fn sign(
        self: &Arc<Self>,
        asked: Asked,
        key: u64,
        mechanism: Mechanism,
        data: Vec<u8>,
        digested: bool,
    ) {
        let Asked { application, reply } = asked;
        let signing = Signing { key, mechanism, data: Bytes(data), digested };
        self.begin_signature(&application, signing, move |outcome| {
            reply.send(outcome.map(self::data));
        });
    }

    pub(super) fn sign_many(self: &Arc<Self>, asked: Asked, requests: Vec<Signing>) {
        let Asked { application, reply } = asked;
        let count = requests.len();
        let gathered = Arc::new(Mutex::new(Gathered {
            outcomes: vec![None; count],
            missing: count,
            reply: Some(reply),
        }));
        if count == 0 {
            return gathered.lock().unwrap_or_else(PoisonError::into_inner).answer();
        }
        for (i, signing) in requests.into_iter().enumerate() {
            let gathered = gathered.clone();
            self.begin_signature(&application, signing, move |outcome| {
                gathered.lock().unwrap_or_else(PoisonError::into_inner).take(i, outcome);
            });
        }
    }

    pub(super) fn decrypt(
        self: &Arc<Self>,
        asked: Asked,
        key: u64,
        mechanism: Mechanism,
        ciphertext: Vec<u8>,
    ) {
        let Asked { application, reply } = asked;
        let prepared = (|| {
            self.permissions.check(&mechanism, ckf::DECRYPT)?;
            let missing = Code::KEY_HANDLE_INVALID;
            let number = mechanism.number;
            let object = self.usable_once(&application, key, cka::DECRYPT, number, missing)?;
            self.token.may_serve_data(&object)?;
            if number == ckm::RSA_X_509 {
                policy::raw_rsa(&object)?;
                self.admit(&object)?;
            }
            Ok(object)
        })();
        let object = match prepared {
            Err(error) => return reply.send(Err(error)),
            Ok(object) => object,
        };
        let (daemon, by, key) = (self.clone(), application.number, object.clone());
        self.logged(&application, &object, Use::Decrypt, move |logged| match logged {
            Err(error) => reply.send(Err(error)),
            Ok(()) => daemon.open(by, &key, &mechanism, ciphertext, move |outcome| {
                reply.send(outcome.map(data));
            }),
        });
    }

    /// Decrypts, for decryption requests and for unwrapping by an application.
    fn open(
        self: &Arc<Self>,
        by: u64,
        object: &Object,
        mechanism: &Mechanism,
        ciphertext: Vec<u8>,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        let input = match (mechanism.number, &mechanism.parameter) {
            (ckm::RSA_PKCS, Parameter::None) => Ok(RsaInput::DecryptPkcs1v15(ciphertext)),
            (ckm::RSA_X_509, Parameter::None) => {
                let length = object.attributes.get(cka::MODULUS).map_or(0, <[u8]>::len);
                if ciphertext.len() != length {
                    return done(Err(Code::ENCRYPTED_DATA_LEN_RANGE.into()));
                }
                let done = move |outcome: Outcome| {
                    done(outcome.map_err(|error| match error.code {
                        // It is not below the modulus.
                        Code::DATA_INVALID => Code::ENCRYPTED_DATA_INVALID.into(),
                        _ => error,
                    }));
                };
                return match self.private_key(object) {
                    Err(error) => done(Err(error)),
                    Ok(key) => self.submit(by, key, Work::Rsa(RsaInput::Raw(ciphertext)), done),
                };
            }
            (ckm::RSA_PKCS_OAEP, Parameter::Oaep { hash, mask, label }) => {
                match (Hash::of(*hash), mask_hash(*mask)) {
                    (Some(hash), Ok(mask)) => {
                        Ok(RsaInput::DecryptOaep { hash, mask, label: label.0.clone(), ciphertext })
                    }
                    _ => Err(bad_parameter()),
                }
            }
            (
                ckm::AES_ECB
                | ckm::AES_CBC
                | ckm::AES_CBC_PAD
                | ckm::AES_CTR
                | ckm::AES_GCM
                | ckm::AES_CCM,
                _,
            ) => {
                return done(
                    self.aes_key(object)
                        .and_then(|key| cipher::decrypt(&key, mechanism, &ciphertext)),
                );
            }
            (ckm::AES_KEY_WRAP | ckm::AES_KEY_WRAP_PAD | ckm::AES_KEY_WRAP_KWP, _) => {
                let padded = mechanism.number != ckm::AES_KEY_WRAP;
                let key =
                    wrapping::check_initial_value(mechanism).and_then(|()| self.aes_key(object));
                return done(key.and_then(|key| crypto::unwrap(&key, padded, &ciphertext)));
            }
            _ => Err(bad_parameter()),
        };
        let begun = input.and_then(|input| Ok((Work::Rsa(input), self.private_key(object)?)));
        match begun {
            Err(error) => done(Err(error)),
            Ok((work, key)) => self.submit(by, key, work, done),
        }
    }

    /// Checks that a key may authenticate data: with an AES key, that is encryption in other modes,
    /// and with a private RSA key without padding, or with hardly any, it is decryption.
    ///
    /// # Errors
    /// [`Code::KEY_FUNCTION_NOT_PERMITTED`] if its value serves keys; the store's errors.
    fn may_sign_data(&self, object: &Object, mechanism: u32, data: &[u8]) -> Result<()> {
        match (object.class(), object.key_type()) {
            (cko::SECRET_KEY, ckk::AES) => self.token.may_serve_data(object),
            (cko::PRIVATE_KEY, _) if mechanism == ckm::RSA_X_509 => {
                policy::raw_rsa(object)?;
                self.token.may_serve_data(object)
            }
            (cko::PRIVATE_KEY, ckk::RSA) => {
                let (chosen, is_digest) = match Hash::before(mechanism) {
                    Some(hash) if is_rsa_signature(mechanism) => (hash.length(), true),
                    None if mechanism == ckm::RSA_PKCS => match hash_of_digest_info(data) {
                        Some(hash) => (hash.length(), true),
                        None => (data.len(), false),
                    },
                    // The padding of PSS depends on the data.
                    _ => return Ok(()),
                };
                let modulus = object.attributes.get(cka::MODULUS).map_or(0, <[u8]>::len);
                if !policy::is_raw(chosen, modulus) {
                    return Ok(());
                }
                // Old short keys sign long digests, which only a key that serves keys must not.
                if !is_digest {
                    policy::raw_rsa(object)?;
                }
                self.token.may_serve_data(object)
            }
            _ => Ok(()),
        }
    }

    fn aes_key(&self, object: &Object) -> Result<Arc<Zeroizing<Vec<u8>>>> {
        if object.key_type() != ckk::AES {
            return Err(Code::KEY_TYPE_INCONSISTENT.into());
        }
        self.secret_key(object)
    }

    /// Checks what C_SignInit and its like must know before there is any data.
    pub(super) fn check(
        &self,
        application: &Application,
        key: u64,
        mechanism: &Mechanism,
        usage: Usage,
    ) -> Result<Response> {
        let (flag, attribute) = match usage {
            Usage::Sign => (ckf::SIGN, cka::SIGN),
            Usage::Verify => (ckf::VERIFY, cka::VERIFY),
            Usage::Encrypt => (ckf::ENCRYPT, cka::ENCRYPT),
            Usage::Decrypt => (ckf::DECRYPT, cka::DECRYPT),
        };
        self.permissions.check(mechanism, flag)?;
        let missing = Code::KEY_HANDLE_INVALID;
        let object = self.usable(application, key, attribute, mechanism.number, missing)?;
        match usage {
            Usage::Decrypt if mechanism.number == ckm::RSA_X_509 => {
                self.may_sign_data(&object, mechanism.number, &[])?;
            }
            Usage::Encrypt | Usage::Decrypt => self.token.may_serve_data(&object)?,
            Usage::Sign | Usage::Verify => self.may_sign_data(&object, mechanism.number, &[])?,
        }
        Ok(Response::Done {})
    }
}

/// The outcomes of a [`Request::SignMany`](crate::rpc::Request::SignMany).
struct Gathered {
    outcomes: Vec<Option<Signed>>,
    missing: usize,
    reply: Option<super::connection::Reply>,
}

impl Gathered {
    fn take(&mut self, i: usize, outcome: Outcome) {
        let signed = match outcome {
            Ok(signature) => Signed { code: 0, signature: Bytes(signature.to_vec()) },
            Err(error) => Signed { code: error.code.0, signature: Bytes::default() },
        };
        if self.outcomes[i].replace(signed).is_none() {
            self.missing -= 1;
        }
        if self.missing == 0 {
            self.answer();
        }
    }

    fn answer(&mut self) {
        if let Some(reply) = self.reply.take() {
            let outcomes = self.outcomes.drain(..).flatten().collect();
            reply.send(Ok(Response::SignedMany { outcomes }));
        }
    }
}
