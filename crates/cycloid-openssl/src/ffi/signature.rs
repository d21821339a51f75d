//! Signatures: contexts that sign or verify, here or in the default provider.

use std::ffi::{CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use super::abi::{Dispatch, Param, operation, signature as number};
use super::boundary::{guarded, succeeds};
use super::context::{
    Numbers, copied, deliver, duplicate, listed, new_default, pass_params, remember, slice,
};
use super::default::Object;
use super::errors::Errors;
use super::key_management::KeyObject;
use super::params::{OwnedParams, Params};
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
    settings: OwnedParams,
}

enum State<S> {
    NotBegun,
    /// This module signs or verifies, after hashing if the caller passes messages.
    Own {
        scheme: S,
        hasher: Option<Hasher>,
    },
    Default(Object),
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
        self.begun = Begun { number, digest, settings: OwnedParams::default() };
        remember(&mut self.begun.settings, params);
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
        let name = self.begun.digest.as_ref().map_or("", |it| it.to_str().unwrap_or("?"));
        let hash = match name {
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

    /// Leaves the operation to the default provider.
    fn leave(&mut self) -> bool {
        let left = self.replay(&self.begun);
        let succeeded = left.is_some();
        self.state = left.map_or(State::NotBegun, State::Default);
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
        begun.settings.with(begin).then_some(object)
    }

    /// Returns a context of the default provider for the digest of this operation.
    fn replay_for_digest(&self, number: c_int) -> Option<Object> {
        let mut settings = self.begun.settings.clone();
        if let Some(digest) = &self.begun.digest {
            let name = digest.to_str().unwrap_or("");
            settings.update(OwnedParams::default().with_text(c"digest", name));
        }
        self.replay(&Begun { number, digest: None, settings })
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
            State::Default(object) => {
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
            State::Default(object) => by_default(object),
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

/// The functions of a scheme.
struct Functions<S>(PhantomData<S>);

macro_rules! dispatch {
    ($($name:ident: [$($id:ident $function:ident),* $(,)?])*) => {
        $(
            const $name: &[Dispatch] = &[
                $(Dispatch { id: number::$id, function: Self::$function as *const c_void },)*
                Dispatch { id: 0, function: std::ptr::null() },
            ];
        )*
    };
}

impl<S: Scheme> Functions<S> {
    dispatch! {
        ALL: [
            NEW_CONTEXT new_context, FREE_CONTEXT free, DUP_CONTEXT dup,
            SIGN_INIT sign_init, SIGN sign, VERIFY_INIT verify_init, VERIFY verify,
            RECOVER_INIT recover_init, RECOVER recover,
            DIGEST_SIGN_INIT digest_sign_init, DIGEST_SIGN_UPDATE update,
            DIGEST_SIGN_FINAL digest_sign_final,
            DIGEST_VERIFY_INIT digest_verify_init, DIGEST_VERIFY_UPDATE update,
            DIGEST_VERIFY_FINAL digest_verify_final,
            GET_PARAMS get_params, GETTABLE_PARAMS gettable_params,
            SET_PARAMS set_params, SETTABLE_PARAMS settable_params,
        ]
        WITHOUT_RECOVERY: [
            NEW_CONTEXT new_context, FREE_CONTEXT free, DUP_CONTEXT dup,
            SIGN_INIT sign_init, SIGN sign, VERIFY_INIT verify_init, VERIFY verify,
            DIGEST_SIGN_INIT digest_sign_init, DIGEST_SIGN_UPDATE update,
            DIGEST_SIGN_FINAL digest_sign_final,
            DIGEST_VERIFY_INIT digest_verify_init, DIGEST_VERIFY_UPDATE update,
            DIGEST_VERIFY_FINAL digest_verify_final,
            GET_PARAMS get_params, GETTABLE_PARAMS gettable_params,
            SET_PARAMS set_params, SETTABLE_PARAMS settable_params,
        ]
        ONE_SHOT: [
            NEW_CONTEXT new_context, FREE_CONTEXT free, DUP_CONTEXT dup,
            DIGEST_SIGN_INIT digest_sign_init, DIGEST_SIGN sign,
            DIGEST_VERIFY_INIT digest_verify_init, DIGEST_VERIFY verify,
            GET_PARAMS get_params, GETTABLE_PARAMS gettable_params,
        ]
    }

    unsafe extern "C" fn new_context(
        provider: *mut c_void,
        properties: *const c_char,
    ) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            let context = Context::<S> {
                errors: Errors::of(provider),
                // SAFETY: OpenSSL passes a text or null.
                properties: unsafe { copied(properties) },
                key: None,
                begun: Begun::default(),
                state: State::NotBegun,
            };
            Box::into_raw(Box::new(context)).cast()
        })
    }

    unsafe extern "C" fn free(context: *mut c_void) {
        guarded((), || {
            if !context.is_null() {
                // SAFETY: OpenSSL gives the context back.
                unsafe { drop(Box::from_raw(context.cast::<Context<S>>())) };
            }
        });
    }

    unsafe extern "C" fn dup(context: *mut c_void) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            let state = match &context.state {
                State::NotBegun => Some(State::NotBegun),
                State::Own { scheme, hasher } => {
                    Some(State::Own { scheme: scheme.clone(), hasher: hasher.clone() })
                }
                State::Default(object) => duplicate(object, &NUMBERS).map(State::Default),
            };
            state.map_or(std::ptr::null_mut(), |state| {
                let copy = Context {
                    errors: context.errors,
                    properties: context.properties.clone(),
                    key: context.key.clone(),
                    begun: context.begun.clone(),
                    state,
                };
                Box::into_raw(Box::new(copy)).cast()
            })
        })
    }

    /// Begins an operation.
    ///
    /// # Safety
    /// The addresses are OpenSSL's: a context of this scheme, a text or null, a key or null, an
    /// array or null.
    unsafe fn init(
        context: *mut c_void,
        number: c_int,
        digest: *const c_char,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: by the caller's word.
            unsafe {
                let context = &mut *context.cast::<Context<S>>();
                context.begin(number, copied(digest), key, Params::from_raw(params))
            }
        })
    }

    unsafe extern "C" fn sign_init(
        context: *mut c_void,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        // SAFETY: OpenSSL's addresses.
        unsafe { Self::init(context, number::SIGN_INIT, std::ptr::null(), key, params) }
    }

    unsafe extern "C" fn verify_init(
        context: *mut c_void,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        // SAFETY: OpenSSL's addresses.
        unsafe { Self::init(context, number::VERIFY_INIT, std::ptr::null(), key, params) }
    }

    unsafe extern "C" fn recover_init(
        context: *mut c_void,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        // SAFETY: OpenSSL's addresses.
        unsafe { Self::init(context, number::RECOVER_INIT, std::ptr::null(), key, params) }
    }

    unsafe extern "C" fn digest_sign_init(
        context: *mut c_void,
        digest: *const c_char,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        // SAFETY: OpenSSL's addresses.
        unsafe { Self::init(context, number::DIGEST_SIGN_INIT, digest, key, params) }
    }

    unsafe extern "C" fn digest_verify_init(
        context: *mut c_void,
        digest: *const c_char,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        // SAFETY: OpenSSL's addresses.
        unsafe { Self::init(context, number::DIGEST_VERIFY_INIT, digest, key, params) }
    }

    unsafe extern "C" fn sign(
        context: *mut c_void,
        output: *mut u8,
        length: *mut usize,
        room: usize,
        data: *const u8,
        data_length: usize,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme and the caller's memory.
            unsafe {
                let context = &*context.cast::<Context<S>>();
                context.sign(slice(data, data_length), output, length, room)
            }
        })
    }

    unsafe extern "C" fn verify(
        context: *mut c_void,
        signature: *const u8,
        signature_length: usize,
        data: *const u8,
        data_length: usize,
    ) -> c_int {
        guarded(0, || {
            // SAFETY: OpenSSL passes a context of this scheme and the caller's memory.
            unsafe {
                let context = &*context.cast::<Context<S>>();
                context.verify(slice(data, data_length), slice(signature, signature_length))
            }
        })
    }

    unsafe extern "C" fn recover(
        context: *mut c_void,
        output: *mut u8,
        length: *mut usize,
        room: usize,
        signature: *const u8,
        signature_length: usize,
    ) -> c_int {
        guarded(0, || {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            let State::Default(object) = &context.state else { return 0 };
            context.log(By::Default, "recover");
            // SAFETY: the function has this type; the memory is the caller's.
            unsafe {
                object.table().function::<Sign>(number::RECOVER).map_or(0, |recover| {
                    recover(object.as_ptr(), output, length, room, signature, signature_length)
                })
            }
        })
    }

    unsafe extern "C" fn update(
        context: *mut c_void,
        data: *const u8,
        data_length: usize,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &mut *context.cast::<Context<S>>() };
            match &mut context.state {
                State::Own { hasher: Some(hasher), .. } => {
                    // SAFETY: the memory is the caller's.
                    hasher.update(unsafe { slice(data, data_length) });
                    true
                }
                State::Default(object) => {
                    let signs = context.begun.number == number::DIGEST_SIGN_INIT;
                    let id = if signs {
                        number::DIGEST_SIGN_UPDATE
                    } else {
                        number::DIGEST_VERIFY_UPDATE
                    };
                    // SAFETY: both functions have this type; the memory is the caller's.
                    unsafe {
                        let update = object.table().function::<Update>(id);
                        update.is_some_and(|update| update(object.as_ptr(), data, data_length) == 1)
                    }
                }
                _ => context.errors.raise(Failure::NotInitialised, ""),
            }
        })
    }

    unsafe extern "C" fn digest_sign_final(
        context: *mut c_void,
        output: *mut u8,
        length: *mut usize,
        room: usize,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            match &context.state {
                State::Default(object) => {
                    if !output.is_null() {
                        context.log(By::Default, "sign");
                    }
                    // SAFETY: the function has this type; the memory is the caller's.
                    unsafe {
                        let finish =
                            object.table().function::<SignFinal>(number::DIGEST_SIGN_FINAL);
                        finish.is_some_and(|finish| {
                            finish(object.as_ptr(), output, length, room) == 1
                        })
                    }
                }
                State::Own { hasher: Some(hasher), .. } => {
                    // SAFETY: the memory is the caller's.
                    unsafe { context.sign(&hasher.digest(), output, length, room) }
                }
                _ => context.errors.raise(Failure::NotInitialised, ""),
            }
        })
    }

    unsafe extern "C" fn digest_verify_final(
        context: *mut c_void,
        signature: *const u8,
        signature_length: usize,
    ) -> c_int {
        guarded(0, || {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            match &context.state {
                State::Default(object) => {
                    context.log(By::Default, "verify");
                    // SAFETY: the function has this type; the memory is the caller's.
                    unsafe {
                        let finish =
                            object.table().function::<VerifyFinal>(number::DIGEST_VERIFY_FINAL);
                        finish.map_or(0, |finish| {
                            finish(object.as_ptr(), signature, signature_length)
                        })
                    }
                }
                State::Own { hasher: Some(hasher), .. } => {
                    // SAFETY: the memory is the caller's.
                    context.verify(&hasher.digest(), unsafe { slice(signature, signature_length) })
                }
                _ => c_int::from(context.errors.raise(Failure::NotInitialised, "")),
            }
        })
    }

    unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            if let State::Default(object) = &context.state {
                return pass_params(object, NUMBERS.get_params, params);
            }
            // The default provider knows the values of the same settings.
            let same = context.replay(&context.begun);
            same.is_some_and(|object| pass_params(&object, NUMBERS.get_params, params))
        })
    }

    unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme, and an array.
            let (context, params) =
                unsafe { (&mut *context.cast::<Context<S>>(), Params::from_raw(params)) };
            match &mut context.state {
                State::NotBegun => params.is_empty(),
                State::Default(object) => pass_params(object, NUMBERS.set_params, params.as_ptr()),
                State::Own { scheme, .. } => {
                    let handled = scheme.set(&params);
                    let before = context.begun.settings.clone();
                    remember(&mut context.begun.settings, params);
                    if handled {
                        return true;
                    }
                    // What the default provider refuses, too, changes nothing.
                    match context.replay(&context.begun) {
                        Some(object) => {
                            context.state = State::Default(object);
                            true
                        }
                        None => {
                            context.begun.settings = before;
                            false
                        }
                    }
                }
            }
        })
    }

    unsafe extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
        guarded(std::ptr::null(), || listed(&NUMBERS, S::NAME, NUMBERS.gettable_params))
    }

    unsafe extern "C" fn settable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
        guarded(std::ptr::null(), || listed(&NUMBERS, S::NAME, NUMBERS.settable_params))
    }
}
