//! Key wrapping and unwrapping.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::public::encrypt_rsa;
use super::{data, needs_flag};
use crate::attribute::{Template, cka, cko};
use crate::crypto;
use crate::daemon::application::Application;
use crate::daemon::handler::{Asked, Daemon};
use crate::daemon::token::describe;
use crate::daemon::uses::Use;
use crate::key::PrivateKey;
use crate::mechanism::{ckf, ckm};
use crate::object::Object;
use crate::object::build::{self, Origin};
use crate::object::policy;
use crate::rpc::message::{Mechanism, Response};
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

impl Daemon {
    pub(in crate::daemon) fn wrap(
        &self,
        application: &Application,
        wrapping: u64,
        mechanism: &Mechanism,
        key: u64,
    ) -> Result<Response> {
        let number = mechanism.number;
        needs_flag(number, ckf::WRAP)?;
        let missing = Code::WRAPPING_KEY_HANDLE_INVALID;
        let wrapping = self.usable(application, wrapping, cka::WRAP, number, missing)?;
        let object = self.object(application, key, Code::KEY_HANDLE_INVALID)?;
        if object.is_private() {
            crate::daemon::handler::needs(application, crate::rpc::Role::User)?;
        }
        let serves_keys = policy::wrap(&wrapping, &object)?;
        let secret = self.token.secret(&object)?;
        let wrapped = if number == ckm::RSA_PKCS_OAEP {
            if object.class() != cko::SECRET_KEY {
                return Err(Code::KEY_NOT_WRAPPABLE
                    .because("RSA can only wrap secret keys; a private key is too long"));
            }
            encrypt_rsa(&*self.public_key(&wrapping)?, mechanism, &secret)
                .map_err(|_| Code::KEY_SIZE_RANGE)?
        } else {
            let key = self.aes_key(&wrapping).map_err(|_| Code::WRAPPING_KEY_TYPE_INCONSISTENT)?;
            crypto::wrap(&key, number != ckm::AES_KEY_WRAP, &secret)?
        };
        // Before the wrapped key leaves: from here on, nobody can decrypt it as data.
        if serves_keys {
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
            Ok(()) => daemon.unwrap_logged(asked, unwrapping, &mechanism, wrapped, template),
        });
    }

    fn unwrap_logged(
        self: &Arc<Self>,
        asked: Asked,
        object: Arc<Object>,
        mechanism: &Mechanism,
        wrapped: Vec<u8>,
        template: Template,
    ) {
        let (daemon, unwrapping) = (self.clone(), object.clone());
        self.open(asked.application.number, &object, mechanism, wrapped, move |outcome| {
            match outcome {
                Err(error) => asked.reply.send(Err(wrapped_key_error(error))),
                Ok(secret) => daemon.later(asked, move |daemon, application| {
                    daemon.keep_unwrapped(application, &unwrapping, secret, template)
                }),
            }
        });
    }

    fn keep_unwrapped(
        &self,
        application: &Application,
        unwrapping: &Object,
        secret: Zeroizing<Vec<u8>>,
        template: Template,
    ) -> Result<Response> {
        let serves_keys = self.token.serves_keys(unwrapping)?;
        let origin = match policy::unwraps_readable(unwrapping, serves_keys, &template) {
            true => Origin::Given,
            false => Origin::Unwrapped,
        };
        let class = template.needed_number(cka::CLASS)?;
        let key_type = template.needed_number(cka::KEY_TYPE)?;
        let key_type = u32::try_from(key_type).map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?;
        let new = if class == u64::from(cko::PRIVATE_KEY) {
            let key =
                PrivateKey::from_bytes(key_type, &secret).map_err(|_| Code::WRAPPED_KEY_INVALID)?;
            build::private(template, &key, origin)?
        } else {
            build::secret(template, key_type, secret, origin)?
        };
        if origin == Origin::Unwrapped && policy::unwrapping_serves_keys(unwrapping) {
            self.token.serve_keys(unwrapping, &application.who())?;
        }
        let object = self.keep(application, new, "unwrapped")?;
        Ok(Response::Object { object })
    }
}
