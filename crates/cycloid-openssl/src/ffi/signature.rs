//! Signatures: contexts that sign or verify, here or in the default provider.

mod functions;

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

use functions::Functions;

use super::abi::{Dispatch, Param, operation, signature as number};
use super::context::{Numbers, Settings, deliver, new_default};
use super::default::Object;
use super::errors::Errors;
use super::key_management::KeyObject;
use super::params::Params;
use crate::digest::{self, Hasher};
use crate::failure::Failure;
use crate::log::{self, By};
use crate::scheme::ecdsa::Ecdsa;
use crate::scheme::ed25519::Ed25519;
use crate::scheme::rsa::Rsa;
use crate::scheme::{Purpose, Scheme};

const NUMBERS: Numbers = Numbers {
    operation: operation::SIGNATURE,
    new: number::NEW_CONTEXT,
    free: number::FREE_CONTEXT,
    dup: number::DUP_CONTEXT,
    get_params: number::GET_PARAMS,
    set_params: number::SET_PARAMS,
    gettable_params: number::GETTABLE_PARAMS,
    settable_params: number::SETTABLE_PARAMS,
};

pub(crate) const RSA: &[Dispatch] = Functions::<Rsa>::ALL;
pub(crate) const ECDSA: &[Dispatch] = Functions::<Ecdsa>::WITHOUT_RECOVERY;
pub(crate) const ED25519: &[Dispatch] = Functions::<Ed25519>::ONE_SHOT;

/// The context of a signature.
struct Context<S: Scheme> {
    errors: Errors,
    properties: Option<CString>,
    key: Option<Arc<KeyObject<S::Key>>>,
    begun: Begun,
    state: State<S>,
}

/// How the operation began and what was set since, for a replay in the default provider.
#[derive(Clone, Default)]
struct Begun {
    number: c_int,
    digest: Option<CString>,
    settings: Settings,
    /// A part of the message was hashed.
    hashed: bool,
}

enum State<S> {
    NotBegun,
    /// This module signs or verifies, after hashing if the caller passes messages.
    Own {
        scheme: S,
        hasher: Option<Hasher>,
    },
    /// The default provider signs or verifies: digests, if messages were hashed here so far.
    Default {
        object: Object,
        hasher: Option<Hasher>,
    },
}

type InitDigest =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void, *const Param) -> c_int;
type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Param) -> c_int;
type Sign =
    unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
type Verify = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;
type SignFinal = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
type VerifyFinal = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;

const fn hashes(number: c_int) -> bool {
    matches!(number, number::DIGEST_SIGN_INIT | number::DIGEST_VERIFY_INIT)
}

impl<S: Scheme> Context<S> {
    /// Begins an operation, with a key or with that of the previous one.
    ///
    /// # Safety
    /// `key` is null or an object of the scheme's kind of keys.
    unsafe fn begin(
        &mut self,
        number: c_int,
        digest: Option<CString>,
        key: *mut c_void,
        params: Params<'_>,
    ) -> bool {
        // SAFETY: by the caller's word.
        if let Some(key) = unsafe { KeyObject::share(key) } {
            self.key = Some(key);
        }
        if self.key.is_none() {
            return self.errors.raise(Failure::NoKey, "");
        }
        let settings = Settings::beginning(params);
        self.begun = Begun { number, digest, settings, hashed: false };
        match self.begin_here(params) {
            Some(state) => {
                self.state = state;
                true
            }
            None => self.leave(),
        }
    }

    fn begin_here(&self, params: Params<'_>) -> Option<State<S>> {
        let key = self.key.as_ref()?;
        let purpose = match self.begun.number {
            number::SIGN_INIT | number::DIGEST_SIGN_INIT => Purpose::Sign,
            number::VERIFY_INIT | number::DIGEST_VERIFY_INIT => Purpose::Verify,
            _ => return None,
        };
        if self.changes_digest(params) {
            return None;
        }
        let hash = match self.digest_name() {
            "" => None,
            name => Some(digest::named(name)?),
        };
        let hasher = match hash {
            Some(hash) => Some(Hasher::new(hash)?),
            None if hashes(self.begun.number) && !S::ONE_SHOT => return None,
            None => None,
        };
        let mut scheme = S::begin(key.own()?, key.name(), purpose, hash)?;
        scheme.set(&params).then_some(State::Own { scheme, hasher })
    }

    fn digest_name(&self) -> &str {
        self.begun.digest.as_ref().map_or("", |it| it.to_str().unwrap_or("?"))
    }

    /// Returns whether parameters name another digest than the one that hashes the message.
    fn changes_digest(&self, params: Params<'_>) -> bool {
        let own = digest::named(self.digest_name());
        let mut names = params.iter().filter(|value| value.name() == b"digest");
        own.is_some() && names.any(|value| value.text().and_then(digest::named) != own)
    }

    /// Leaves the operation to the default provider.
    fn leave(&mut self) -> bool {
        let left = self.replay(&self.begun);
        let succeeded = left.is_some();
        let default = |object| State::Default { object, hasher: None };
        self.state = left.map_or(State::NotBegun, default);
        succeeded
    }

    /// Returns a context of the default provider in the state of this one.
    fn replay(&self, begun: &Begun) -> Option<Object> {
        let key = self.key.as_ref()?.default()?;
        let properties = self.properties.as_deref();
        let object = new_default(self.errors, &NUMBERS, S::NAME, properties)?;
        let table = object.table();
        let begin = |params: Params<'_>| {
            // SAFETY: the functions have these types; objects and array are valid.
            unsafe {
                if hashes(begun.number) {
                    let digest = begun.digest.as_ref().map_or(std::ptr::null(), |it| it.as_ptr());
                    let init = table.function::<InitDigest>(begun.number);
                    init.is_some_and(|init| {
                        init(object.as_ptr(), digest, key.as_ptr(), params.as_ptr()) == 1
                    })
                } else {
                    let init = table.function::<Init>(begun.number);
                    init.is_some_and(|init| {
                        init(object.as_ptr(), key.as_ptr(), params.as_ptr()) == 1
                    })
                }
            }
        };
        begun.settings.replay(&object, NUMBERS.set_params, begin).then_some(object)
    }

    /// Returns a context of the default provider for the digest of this operation.
    fn replay_for_digest(&self, number: c_int) -> Option<Object> {
        let settings = match self.begun.digest {
            Some(_) => self.begun.settings.with_digest(self.digest_name()),
            None => self.begun.settings.clone(),
        };
        self.replay(&Begun { number, digest: None, settings, hashed: false })
    }

    fn log(&self, by: By, what: &str) {
        log::write(by, what, S::NAME.to_str().unwrap_or(""));
    }

    /// Signs a digest, or a message if the scheme is one-shot.
    ///
    /// # Safety
    /// As [`deliver`].
    unsafe fn sign(&self, input: &[u8], output: *mut u8, length: *mut usize, room: usize) -> bool {
        match &self.state {
            State::NotBegun => self.errors.raise(Failure::NotInitialised, ""),
            State::Default { object, .. } => {
                if !output.is_null() {
                    self.log(By::Default, "sign");
                }
                // SAFETY: the caller vouches for the memory.
                unsafe { sign_by(object, input, output, length, room) }
            }
            State::Own { scheme, .. } => {
                if output.is_null() {
                    // SAFETY: the caller vouches for the length.
                    unsafe { *length = scheme.longest() };
                    return true;
                }
                match scheme.sign(input) {
                    Ok(Some(signature)) => {
                        self.log(By::Cycloid, "sign");
                        // SAFETY: the caller vouches for the memory.
                        unsafe { deliver(self.errors, &signature, output, length, room) }
                    }
                    Ok(None) => {
                        self.log(By::Default, "sign");
                        let number =
                            if S::ONE_SHOT { self.begun.number } else { number::SIGN_INIT };
                        // SAFETY: the caller vouches for the memory.
                        self.replay_for_digest(number).is_some_and(|object| unsafe {
                            sign_by(&object, input, output, length, room)
                        })
                    }
                    Err(error) => self.errors.raise(error.failure, &error.details),
                }
            }
        }
    }

    fn verify(&self, input: &[u8], signature: &[u8]) -> c_int {
        let by_default = |object: &Object| {
            self.log(By::Default, "verify");
            let id = if hashes(self.begun.number) && S::ONE_SHOT {
                number::DIGEST_VERIFY
            } else {
                number::VERIFY
            };
            // SAFETY: the function has this type; the slices are valid.
            unsafe {
                object.table().function::<Verify>(id).map_or(0, |verify| {
                    let (data, length) = (input.as_ptr(), input.len());
                    verify(object.as_ptr(), signature.as_ptr(), signature.len(), data, length)
                })
            }
        };
        match &self.state {
            State::NotBegun => c_int::from(self.errors.raise(Failure::NotInitialised, "")),
            State::Default { object, .. } => by_default(object),
            State::Own { scheme, .. } => match scheme.verify(input, signature) {
                Some(valid) => {
                    self.log(By::Cycloid, "verify");
                    if !valid {
                        self.errors.raise(Failure::Signature, "");
                    }
                    c_int::from(valid)
                }
                None => {
                    let number = if S::ONE_SHOT { self.begun.number } else { number::VERIFY_INIT };
                    self.replay_for_digest(number).map_or(0, |object| by_default(&object))
                }
            },
        }
    }
}

/// # Safety
/// As [`deliver`].
unsafe fn sign_by(
    object: &Object,
    input: &[u8],
    output: *mut u8,
    length: *mut usize,
    room: usize,
) -> bool {
    // The one-shot schemes have no function for digests.
    let table = object.table();
    // SAFETY: both functions have this type; the caller vouches for the memory.
    unsafe {
        let sign = table
            .function::<Sign>(number::SIGN)
            .or_else(|| table.function::<Sign>(number::DIGEST_SIGN));
        sign.is_some_and(|sign| {
            sign(object.as_ptr(), output, length, room, input.as_ptr(), input.len()) == 1
        })
    }
}
