//! Key wrapping and unwrapping.

use std::sync::Arc;

use getrandom::SysRng;
use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::public::encrypt_rsa;
use super::{bad_parameter, data, needs_flag};
use crate::attribute::{Template, cka, cko};
use crate::crypto;
use crate::daemon::application::Application;
use crate::daemon::handler::{Asked, Daemon, needs};
use crate::daemon::token::describe;
use crate::daemon::uses::Use;
use crate::engine::Outcome;
use crate::key::{PrivateKey, PublicKey};
use crate::mechanism::{Parameter, ckf, ckm};
use crate::object::Object;
use crate::object::build::{self, Origin};
use crate::object::policy;
use crate::rpc::message::{Mechanism, Response};
use crate::rpc::{Bytes, Role};
use crate::{Code, Error, Result};

/// Maps a decryption error to the code for an invalid wrapped key.
fn wrapped_key_error(error: Error) -> Error {
    match error.code {
        Code::ENCRYPTED_DATA_INVALID | Code::DATA_INVALID => Code::WRAPPED_KEY_INVALID.into(),
        Code::ENCRYPTED_DATA_LEN_RANGE | Code::DATA_LEN_RANGE => Code::WRAPPED_KEY_LEN_RANGE.into(),
        Code::KEY_TYPE_INCONSISTENT => Code::UNWRAPPING_KEY_TYPE_INCONSISTENT.into(),
        _ => error,
    }
}

/// Wraps a secret under a fresh AES key, and that key under an RSA key (PKCS #11 3.0, section
/// 2.1.21). Returns the AES key, and the encrypted AES key followed by the wrapped secret.
fn wrap_by_fresh_key(
    key: &PublicKey,
    mechanism: &Mechanism,
    secret: &[u8],
) -> Result<(Zeroizing<Vec<u8>>, Vec<u8>)> {
    let Parameter::OaepAes { bits, hash, mask, label } = &mechanism.parameter else {
        return Err(bad_parameter());
    };
    if !matches!(bits, 128 | 192 | 256) {
        return Err(bad_parameter());
    }
    let mut fresh = Zeroizing::new(vec![0; *bits as usize / 8]);
    UnwrapErr(SysRng).fill_bytes(&mut fresh);
    let mut wrapped = encrypt_rsa(key, &oaep(*hash, *mask, label), &fresh)?;
    wrapped.extend(crypto::wrap(&fresh, true, secret)?);
    Ok((fresh, wrapped))
}

fn oaep(hash: u32, mask: u32, label: &Bytes) -> Mechanism {
    let parameter = Parameter::Oaep { hash, mask, label: label.clone() };
    Mechanism { number: ckm::RSA_PKCS_OAEP, parameter }
}

/// Splits the output of [`wrap_by_fresh_key`] into the encrypted AES key, with the mechanism that
/// decrypts it, and the wrapped secret.
fn split(
    object: &Object,
    mechanism: Mechanism,
    mut wrapped: Vec<u8>,
) -> Result<(Mechanism, Vec<u8>, Option<Vec<u8>>)> {
    let Parameter::OaepAes { hash, mask, label, .. } = &mechanism.parameter else {
        return Err(bad_parameter());
    };
    let length = object.attributes.get(cka::MODULUS).map_or(0, <[u8]>::len);
    if wrapped.len() <= length {
        return Err(Code::WRAPPED_KEY_LEN_RANGE.into());
    }
    let rest = wrapped.split_off(length);
    Ok((oaep(*hash, *mask, label), wrapped, Some(rest)))
}

/// The key that unwraps another one, and the AES key that the message itself contains.
struct Unwrapping {
    object: Arc<Object>,
    /// The AES key within a message of `CKM_RSA_AES_KEY_WRAP`.
    fresh: Option<Zeroizing<Vec<u8>>>,
}

/// The value of an unwrapped key.
enum Unwrapped {
    Private(PrivateKey),
    /// A secret key with its type, `CKK_…`.
    Secret(u32, Zeroizing<Vec<u8>>),
}

/// Checks the initial value of AES key wrap, a parameter that programs may give. Only the
/// standards' own values are supported (RFC 3394, section 2.2.3; RFC 5649, section 3).
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`].
pub(super) fn check_initial_value(mechanism: &Mechanism) -> Result<()> {
    let own: &[u8] = match mechanism.number {
        ckm::AES_KEY_WRAP => &[0xa6; 8],
        _ => &[0xa6, 0x59, 0x59, 0xa6],
    };
    match &mechanism.parameter {
        Parameter::None => Ok(()),
        Parameter::Iv(value) if value.0 == own => Ok(()),
        _ => Err(bad_parameter()),
    }
}

impl Daemon {
    /// Wraps a key. If the caller's room is too small for the result, answers its length: nothing
    /// changes, and nothing is logged.
    pub(in crate::daemon) fn wrap(
        &self,
        application: &Application,
        wrapping: u64,
        mechanism: &Mechanism,
        key: u64,
        room: Option<u64>,
    ) -> Result<Response> {
        let number = mechanism.number;
        needs_flag(number, ckf::WRAP)?;
        let missing = Code::WRAPPING_KEY_HANDLE_INVALID;
        let wrapping = self.usable(application, wrapping, cka::WRAP, number, missing)?;
        let object = self.object(application, key, Code::KEY_HANDLE_INVALID)?;
        if object.is_private() || application.role() == Some(Role::Auditor) {
            needs(application, Role::User)?;
        }
        let serves_keys = policy::wrap(&wrapping, &object)?;
        if serves_keys {
            // The wrapping key will never decrypt data again. Only its user may decide that.
            needs(application, Role::User)?;
        }
        let secret = self.token.secret(&object)?;
        let (fresh, wrapped) = if number == ckm::RSA_AES_KEY_WRAP {
            let key = self.public_key(&wrapping)?;
            let (fresh, wrapped) = wrap_by_fresh_key(&key, mechanism, &secret)?;
            (Some(fresh), wrapped)
        } else if matches!(number, ckm::RSA_PKCS_OAEP | ckm::RSA_PKCS) {
            if object.class() != cko::SECRET_KEY {
                return Err(Code::KEY_NOT_WRAPPABLE
                    .because("RSA can only wrap secret keys; a private key is too long"));
            }
            let wrapped = encrypt_rsa(&*self.public_key(&wrapping)?, mechanism, &secret);
            (None, wrapped.map_err(|_| Code::KEY_SIZE_RANGE)?)
        } else {
            check_initial_value(mechanism)?;
            let key = self.aes_key(&wrapping).map_err(|_| Code::WRAPPING_KEY_TYPE_INCONSISTENT)?;
            (None, crypto::wrap(&key, number != ckm::AES_KEY_WRAP, &secret)?)
        };
        let length = wrapped.len() as u64;
        if room.is_some_and(|room| room < length) {
            return Ok(Response::Number { value: length });
        }
        // Before the wrapped key leaves: from here on, nobody can decrypt it as data.
        if serves_keys {
            // The AES key may come back alone, unwrapped from the first part.
            if let Some(fresh) = fresh {
                self.token.value_serves_keys(&fresh)?;
            }
            self.token.serve_keys(&wrapping, &application.who())?;
        }
        let what = format!("{}: wrapped under {}", describe(&object), describe(&wrapping));
        self.note(application, &what)?;
        Ok(data(Zeroizing::new(wrapped)))
    }

    pub(in crate::daemon) fn unwrap(
        self: &Arc<Self>,
        asked: Asked,
        unwrapping: u64,
        mechanism: Mechanism,
        wrapped: Vec<u8>,
        template: Template,
    ) {
        let number = mechanism.number;
        let missing = Code::UNWRAPPING_KEY_HANDLE_INVALID;
        let permitted = needs_flag(number, ckf::UNWRAP).and_then(|()| {
            self.usable_once(&asked.application, unwrapping, cka::UNWRAP, number, missing)
        });
        let object = match permitted {
            Err(error) => return asked.reply.send(Err(error)),
            Ok(object) => object,
        };
        let (daemon, application) = (self.clone(), asked.application.clone());
        let unwrapping = object.clone();
        self.logged(&application, &object, Use::Unwrap, move |logged| match logged {
            Err(error) => asked.reply.send(Err(error)),
            Ok(()) => daemon.unwrap_logged(asked, unwrapping, mechanism, wrapped, template),
        });
    }

    fn unwrap_logged(
        self: &Arc<Self>,
        asked: Asked,
        object: Arc<Object>,
        mechanism: Mechanism,
        wrapped: Vec<u8>,
        template: Template,
    ) {
        let (daemon, unwrapping) = (self.clone(), object.clone());
        let split = match mechanism.number {
            ckm::RSA_AES_KEY_WRAP => split(&object, mechanism, wrapped),
            _ => Ok((mechanism, wrapped, None)),
        };
        let (mechanism, wrapped, rest) = match split {
            Err(error) => return asked.reply.send(Err(error)),
            Ok(split) => split,
        };
        let opened = move |outcome: Outcome| match (outcome?, rest) {
            (secret, None) => Ok((secret, None)),
            // Whether the AES key or what it wraps is invalid is nobody's business.
            (fresh, Some(rest)) => match crypto::unwrap(&fresh, true, &rest) {
                Err(_) => Err(Code::WRAPPED_KEY_INVALID.into()),
                Ok(secret) => Ok((secret, Some(fresh))),
            },
        };
        let by = asked.application.number;
        self.open(by, &object, &mechanism, wrapped, move |outcome| match opened(outcome) {
            Err(error) => asked.reply.send(Err(wrapped_key_error(error))),
            Ok((secret, fresh)) => {
                let by = Unwrapping { object: unwrapping, fresh };
                daemon.keep_later(asked, by, secret, template);
            }
        });
    }

    /// Parses an unwrapped private key, which may take long, and queues the change that keeps the
    /// key.
    fn keep_later(
        self: &Arc<Self>,
        asked: Asked,
        by: Unwrapping,
        secret: Zeroizing<Vec<u8>>,
        template: Template,
    ) {
        let key_type = (|| {
            let class = template.needed_number(cka::CLASS)?;
            let key_type = template.needed_number(cka::KEY_TYPE)?;
            let key_type = u32::try_from(key_type).map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?;
            Ok((class == u64::from(cko::PRIVATE_KEY), key_type))
        })();
        match key_type {
            Err(error) => asked.reply.send(Err(error)),
            Ok((false, key_type)) => self.later(asked, move |daemon, application| {
                let unwrapped = Unwrapped::Secret(key_type, secret);
                daemon.keep_unwrapped(application, &by, unwrapped, template)
            }),
            Ok((true, key_type)) => self.compute(asked, move |daemon, asked| {
                match PrivateKey::from_bytes(key_type, &secret) {
                    Err(_) => asked.reply.send(Err(Code::WRAPPED_KEY_INVALID.into())),
                    Ok(key) => daemon.later(asked, move |daemon, application| {
                        let unwrapped = Unwrapped::Private(key);
                        daemon.keep_unwrapped(application, &by, unwrapped, template)
                    }),
                }
            }),
        }
    }

    fn keep_unwrapped(
        &self,
        application: &Application,
        by: &Unwrapping,
        unwrapped: Unwrapped,
        template: Template,
    ) -> Result<Response> {
        let unwrapping = &*by.object;
        let serves_keys = self.token.serves_keys(unwrapping)?;
        let origin = match policy::unwraps_readable(unwrapping, serves_keys, &template) {
            true => Origin::Given,
            false => Origin::Unwrapped,
        };
        let new = match unwrapped {
            Unwrapped::Private(key) => build::private(template, &key, origin)?,
            Unwrapped::Secret(key_type, secret) => {
                build::secret(template, key_type, secret, origin)?
            }
        };
        let serves_keys = policy::unwrapping_serves_keys(unwrapping);
        if origin == Origin::Unwrapped && (serves_keys || by.fresh.is_some()) {
            // As for wrapping.
            needs(application, Role::User)?;
            if serves_keys {
                self.token.serve_keys(unwrapping, &application.who())?;
            }
            // A user with the right to unwrap could otherwise unwrap the AES key alone, and decrypt
            // the wrapped key with it.
            if let Some(fresh) = &by.fresh {
                self.token.value_serves_keys(fresh)?;
            }
        }
        let object = self.keep(application, new, "unwrapped")?;
        Ok(Response::Object { object })
    }
}
