//! Requests that use keys. Private-key operations go through the engine; all others are computed at
//! once, on the thread that has the request.

mod agreement;
mod cipher;
mod derivation;
mod mac;
mod public;
mod signable;
mod wrapping;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use zeroize::Zeroizing;

use super::application::Application;
use super::connection::Reply;
use super::handler::{Asked, Daemon};
use super::uses::Use;
use crate::attribute::{cka, ckk, cko};
use crate::crypto;
use crate::engine::{Outcome, RsaInput, Work};
use crate::key::{Key, PrivateKey};
use crate::mechanism::{Hash, Parameter, ckf, ckg, ckm, offered};
use crate::object::{Object, policy};
use crate::rpc::Bytes;
use crate::rpc::Secret;
use crate::rpc::message::{Mechanism, Response, Signed, Signing, Usage};
use crate::spans::{self, Span};
use crate::{Code, Error, Result};
use signable::{Signable, hash_of_digest_info, is_rsa_signature, prehashed, signable};

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
        self: &Arc<Self>,
        application: &Application,
        object: &Arc<Object>,
        usage: Use,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        if !self.uses.required() {
            return then(Ok(()));
        }
        let (daemon, with) = (self.clone(), object.clone());
        self.uses.grant(&self.tasks, application, object, usage, move |logged| {
            then(logged.and_then(|()| daemon.check_again(&with)));
        });
    }

    /// Calls `then` once the rate limit of a key admits a use, and that is logged, if required.
    fn admitted_and_logged(
        self: &Arc<Self>,
        application: Arc<Application>,
        object: &Arc<Object>,
        usage: Use,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        let (daemon, with) = (self.clone(), object.clone());
        self.admit(application.number, object, move |admitted| match admitted {
            Err(error) => then(Err(error)),
            Ok(()) => daemon.logged(&application, &with, usage, then),
        });
    }

    /// Checks a key again whose use has waited, perhaps for a server that was out of reach: other
    /// daemons may have destroyed the key meanwhile.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the server was unreachable for too long;
    /// [`Code::KEY_HANDLE_INVALID`].
    pub(super) fn check_again(&self, object: &Object) -> Result<()> {
        if object.is_stored() {
            self.token.check_fresh()?;
            self.token.object(object.id).ok_or(Code::KEY_HANDLE_INVALID)?;
        }
        Ok(())
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
        application: &Arc<Application>,
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
            Ok((object, signable))
        })();
        let (object, signable) = match prepared {
            Err(error) => return done(Err(error)),
            Ok(prepared) => prepared,
        };
        let (daemon, application, key) = (self.clone(), application.clone(), object.clone());
        self.admit(by, &object, move |admitted| match admitted {
            Err(error) => done(Err(error)),
            Ok(()) => daemon.sign_admitted(&application, key, signable, done),
        });
    }

    /// Signs with a key whose rate limit permits it, once the use is logged.
    fn sign_admitted(
        self: &Arc<Self>,
        application: &Application,
        key: Arc<Object>,
        signable: Signable,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        let (daemon, by, object) = (self.clone(), application.number, key.clone());
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
            }
            Ok(object)
        })();
        let object = match prepared {
            Err(error) => return reply.send(Err(error)),
            Ok(object) => object,
        };
        let (daemon, by, key) = (self.clone(), application.number, object.clone());
        let number = mechanism.number;
        let decrypt = move |admitted: Result<()>| match admitted {
            Err(error) => reply.send(Err(error)),
            Ok(()) => daemon.decrypt_admitted(&application, key, mechanism, ciphertext, reply),
        };
        // A raw decryption is a signature, too.
        match object.class() == cko::SECRET_KEY || number == ckm::RSA_X_509 {
            true => self.admit(by, &object, decrypt),
            false => decrypt(Ok(())),
        }
    }

    /// Decrypts with a key whose rate limit permits it, once the use is logged.
    fn decrypt_admitted(
        self: &Arc<Self>,
        application: &Application,
        key: Arc<Object>,
        mechanism: Mechanism,
        ciphertext: Vec<u8>,
        reply: Reply,
    ) {
        let (daemon, by, object) = (self.clone(), application.number, key.clone());
        self.logged(application, &object, Use::Decrypt, move |logged| match logged {
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
    reply: Option<Reply>,
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
