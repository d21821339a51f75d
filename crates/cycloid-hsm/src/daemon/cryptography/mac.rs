//! Message authentication codes over data of several requests.

use std::sync::Arc;

use subtle::ConstantTimeEq;

use super::{Signable, data, needs_flag, signable};
use crate::attribute::cka;
use crate::daemon::application::Application;
use crate::daemon::handler::{Asked, Daemon};
use crate::daemon::running::Operation;
use crate::daemon::uses::Use;
use crate::mechanism::ckf;
use crate::object::Object;
use crate::rpc::Bytes;
use crate::rpc::message::{Mechanism, Response, Usage};
use crate::{Code, Result};

/// Returns the attribute that permits a usage, and the flag of mechanisms that support it.
fn permission(usage: Usage) -> Result<(u32, u32)> {
    match usage {
        Usage::Sign => Ok((cka::SIGN, ckf::SIGN)),
        Usage::Verify => Ok((cka::VERIFY, ckf::VERIFY)),
        Usage::Encrypt | Usage::Decrypt => Err(Code::ARGUMENTS_BAD.into()),
    }
}

impl Daemon {
    /// Begins a code. To compute one is a use of the key, to verify one is not, as with data of one
    /// request.
    pub(in crate::daemon) fn mac_begin(
        self: &Arc<Self>,
        asked: Asked,
        key: u64,
        mechanism: &Mechanism,
        usage: Usage,
    ) {
        let Asked { application, reply } = asked;
        let logouts = application.logouts();
        let prepared = (|| {
            let (attribute, flag) = permission(usage)?;
            let number = mechanism.number;
            needs_flag(number, flag)?;
            let missing = Code::KEY_HANDLE_INVALID;
            let object = match usage {
                Usage::Sign => self.usable_once(&application, key, attribute, number, missing)?,
                _ => self.usable(&application, key, attribute, number, missing)?,
            };
            self.may_sign_data(&object, number, &[])?;
            match signable(mechanism, object.key_type(), Vec::new(), false)? {
                Signable::Mac { mac, length, .. } => Ok((object, mac, length)),
                Signable::Work(_) => Err(Code::MECHANISM_INVALID.because(
                    "only message authentication codes are computed over data of several requests",
                )),
            }
        })();
        let (object, mac, length) = match prepared {
            Err(error) => return reply.send(Err(error)),
            Ok(prepared) => prepared,
        };
        let (daemon, by, with) = (self.clone(), application.clone(), object.clone());
        let mechanism = mechanism.number;
        let begin = move |logged: Result<()>| {
            let begun = logged.and_then(|()| {
                let mac = mac.begin(&daemon.secret_key(&with)?)?;
                by.running.insert(Operation { key, logouts, mechanism, usage, length, mac })
            });
            reply.send(begun.map(|value| Response::Number { value }));
        };
        if usage != Usage::Sign {
            return begin(Ok(()));
        }
        let (daemon, with) = (self.clone(), object.clone());
        self.admit(application.number, &object, move |admitted| match admitted {
            Err(error) => begin(Err(error)),
            Ok(()) => daemon.logged(&application, &with, Use::Sign, begin),
        });
    }

    /// Checks that the key of a code may still be used: it may have been destroyed, changed, or
    /// begun to serve keys. A logout since the first request ends the code.
    fn still_usable(
        &self,
        application: &Application,
        operation: &Operation,
    ) -> Result<Arc<Object>> {
        let (attribute, _) = permission(operation.usage)?;
        let Operation { key, logouts, mechanism, .. } = *operation;
        if application.logouts() != logouts {
            return Err(Code::OPERATION_NOT_INITIALIZED.into());
        }
        let missing = Code::KEY_HANDLE_INVALID;
        let object = self.usable(application, key, attribute, mechanism, missing)?;
        self.may_sign_data(&object, mechanism, &[])?;
        Ok(object)
    }

    pub(in crate::daemon) fn mac_update(
        &self,
        application: &Application,
        number: u64,
        data: &[u8],
    ) -> Result<Response> {
        let operation = application.running.get(number)?;
        // A worker never waits for another one's data of the same operation.
        let mut operation = operation.try_lock().map_err(|_| Code::OPERATION_ACTIVE)?;
        if let Err(error) = self.still_usable(application, &operation) {
            application.running.take(number);
            return Err(error);
        }
        operation.mac.update(data);
        Ok(Response::Done {})
    }

    pub(in crate::daemon) fn mac_finish(
        &self,
        application: &Application,
        number: u64,
        rest: &[u8],
        signature: Option<&Bytes>,
    ) -> Result<Response> {
        let operation = application.running.take(number).ok_or(Code::OPERATION_NOT_INITIALIZED)?;
        let operation = Arc::into_inner(operation).ok_or(Code::OPERATION_ACTIVE)?;
        let mut operation =
            operation.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.still_usable(application, &operation)?;
        operation.mac.update(rest);
        let (usage, length) = (operation.usage, operation.length);
        match (usage, signature) {
            (Usage::Sign, None) => {
                let mut mac = operation.mac.finish();
                mac.truncate(length);
                Ok(data(mac))
            }
            (Usage::Verify, Some(signature)) => {
                if signature.0.len() != length {
                    return Err(Code::SIGNATURE_LEN_RANGE.into());
                }
                match bool::from(operation.mac.finish()[..length].ct_eq(&signature.0)) {
                    true => Ok(Response::Done {}),
                    false => Err(Code::SIGNATURE_INVALID.into()),
                }
            }
            _ => Err(Code::ARGUMENTS_BAD.into()),
        }
    }
}
