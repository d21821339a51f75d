//! Derivation of keys from secret keys and from passwords.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::agreement::SHORTEST;
use super::bad_parameter;
use crate::attribute::{Template, cka, ckk, cko};
use crate::crypto::{self, Function, HkdfSteps};
use crate::daemon::application::Application;
use crate::daemon::handler::{Asked, Daemon, needs};
use crate::mechanism::{Hash, Parameter, ckm, ckp};
use crate::object::build::{self, Origin};
use crate::object::{New, Object, is_symmetric};
use crate::rpc::Role;
use crate::rpc::message::{Mechanism, Response};
use crate::{Code, Result};

/// The maximum work of a derivation from a password, in calls of the hash function's HMAC: about
/// ten seconds.
const MOST_WORK: u64 = 20_000_000;

/// The maximum length of a derived key in bytes.
const LONGEST: u64 = 512;

/// Returns the length that a template requests in bytes, or the mechanism's own.
fn length(template: &Template, own: Option<usize>) -> Result<usize> {
    let own = own.map(|own| own as u64);
    let length = template
        .number(cka::VALUE_LEN)?
        .or(own)
        .ok_or_else(|| Code::TEMPLATE_INCOMPLETE.because("the length of the key is missing"))?;
    if !(SHORTEST..=LONGEST).contains(&length) {
        return Err(Code::KEY_SIZE_RANGE.because("a derived key must have 16 to 512 bytes"));
    }
    Ok(length as usize)
}

fn key_type(template: &Template) -> Result<u32> {
    match template.number(cka::KEY_TYPE)? {
        None => Ok(ckk::GENERIC_SECRET),
        Some(key_type) => key_type.try_into().map_err(|_| Code::ATTRIBUTE_VALUE_INVALID.into()),
    }
}

/// Checks that a key is a secret key for other uses than AES: the input of a function of hashes.
fn must_be_generic(object: &Object) -> Result<()> {
    match is_symmetric(object.key_type()) && object.key_type() != ckk::AES {
        true => Ok(()),
        false => Err(Code::KEY_TYPE_INCONSISTENT.into()),
    }
}

impl Daemon {
    /// Derives a key, or data, from a secret key.
    pub(super) fn derive_from_secret(
        &self,
        application: &Application,
        base: &Object,
        mechanism: &Mechanism,
        mut template: Template,
    ) -> Result<Response> {
        let number = mechanism.number;
        if base.class() != cko::SECRET_KEY {
            return Err(Code::KEY_TYPE_INCONSISTENT.into());
        }
        if base.key_type() == ckk::AES {
            // Every derivation with an AES key encrypts.
            self.token.may_serve_data(base)?;
        }
        let value = match (number, &mechanism.parameter) {
            (ckm::AES_ECB_ENCRYPT_DATA, Parameter::Data(data)) => {
                let key = self.aes_key(base)?;
                truncated(crypto::ecb_encrypt(&key, &data.0), &template)?
            }
            (ckm::AES_CBC_ENCRYPT_DATA, Parameter::CbcData { iv, data }) => {
                let key = self.aes_key(base)?;
                let encrypted = crypto::cbc_encrypt(&key, &iv.0, false, &data.0);
                truncated(encrypted.map(Zeroizing::new), &template)?
            }
            (
                ckm::HKDF_DERIVE | ckm::HKDF_DATA,
                Parameter::Hkdf { hash, extract, expand, salt, information },
            ) => {
                must_be_generic(base)?;
                let hash = Hash::of(*hash).ok_or_else(bad_parameter)?;
                let steps = HkdfSteps {
                    salt: extract.then_some(&salt.0),
                    information: expand.then_some(&information.0),
                };
                let length = length(&template, Some(hash.length()))?;
                crypto::hkdf(hash, &steps, &self.secret_key(base)?, length)?
            }
            (ckm::SP800_108_COUNTER_KDF, Parameter::CounterKdf { function, fields })
            | (ckm::SP800_108_FEEDBACK_KDF, Parameter::FeedbackKdf { function, fields, .. }) => {
                let function = match (*function, Hash::of_hmac(*function)) {
                    (ckm::AES_CMAC, _) if base.key_type() == ckk::AES => Function::Cmac,
                    (_, Some(hash)) => {
                        must_be_generic(base)?;
                        Function::Hmac(hash)
                    }
                    (ckm::AES_CMAC, None) => return Err(Code::KEY_TYPE_INCONSISTENT.into()),
                    _ => return Err(bad_parameter()),
                };
                let length = length(&template, None)?;
                let iv = match &mechanism.parameter {
                    Parameter::FeedbackKdf { iv, .. } => Some(iv.0.as_slice()),
                    _ => None,
                };
                crypto::kdf(function, &self.secret_key(base)?, iv, fields, length)?
            }
            _ => return Err(bad_parameter()),
        };
        let new = if number == ckm::HKDF_DATA {
            template.remove(cka::VALUE_LEN);
            if template.number(cka::CLASS)?.is_some_and(|class| class != u64::from(cko::DATA)) {
                return Err(Code::TEMPLATE_INCONSISTENT.because("the mechanism yields data"));
            }
            template.set_number(cka::CLASS, cko::DATA.into());
            template.set_default(cka::PRIVATE, [1]);
            template.set(cka::VALUE, value.to_vec());
            build::created(template, None)?
        } else {
            let key_type = key_type(&template)?;
            build::secret(template, key_type, value, Origin::Derived)?
        };
        let object = self.keep(application, new, "derived")?;
        Ok(Response::Object { object })
    }

    /// Derives a key from a password (C_GenerateKey).
    pub(in crate::daemon) fn generate_from_password(
        self: &Arc<Self>,
        asked: Asked,
        mechanism: Mechanism,
        template: Template,
    ) {
        // Slow work is not for everybody.
        if let Err(error) = needs(&asked.application, Role::User) {
            return asked.reply.send(Err(error));
        }
        self.compute(asked, move |daemon, asked| {
            let new = from_password(&mechanism, template);
            daemon.later(asked, move |daemon, application| {
                let object = daemon.keep(application, new?, "derived from a password")?;
                Ok(Response::Object { object })
            });
        });
    }
}

/// Derives a key from a password (RFC 8018, section 5.2).
fn from_password(mechanism: &Mechanism, template: Template) -> Result<New> {
    let Parameter::Pbkdf2 { function, salt, iterations, password } = &mechanism.parameter else {
        return Err(bad_parameter());
    };
    let hash = match *function {
        ckp::SHA1 => Hash::Sha1,
        ckp::SHA224 => Hash::Sha224,
        ckp::SHA256 => Hash::Sha256,
        ckp::SHA384 => Hash::Sha384,
        ckp::SHA512 => Hash::Sha512,
        _ => return Err(bad_parameter()),
    };
    let length = length(&template, None)?;
    let work = iterations.saturating_mul(length.div_ceil(hash.length()) as u64);
    if work > MOST_WORK {
        return Err(
            Code::MECHANISM_PARAM_INVALID.because("too many iterations: at most 20 million in all")
        );
    }
    let iterations = u32::try_from(*iterations).map_err(|_| bad_parameter())?;
    let value = crypto::pbkdf2(hash, password, &salt.0, iterations, length)?;
    let key_type = key_type(&template)?;
    // The password reveals the key, so the key counts as imported.
    build::secret(template, key_type, value, Origin::Given)
}

/// Returns the first bytes of encrypted data, as many as the template requests.
fn truncated(
    encrypted: Result<Zeroizing<Vec<u8>>>,
    template: &Template,
) -> Result<Zeroizing<Vec<u8>>> {
    // The data is a parameter of the mechanism.
    let mut value = encrypted.map_err(|error| match error.code {
        Code::DATA_LEN_RANGE => bad_parameter(),
        _ => error,
    })?;
    let length = length(template, Some(value.len()))?;
    if length > value.len() {
        return Err(Code::MECHANISM_PARAM_INVALID.because("the data is shorter than the key"));
    }
    value.truncate(length);
    Ok(value)
}
