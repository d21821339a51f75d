//! The functions of a signature scheme that OpenSSL calls.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;

use super::super::abi::{Dispatch, Param, signature as number};
use super::super::boundary::{guarded, succeeds};
use super::super::context::{copied, duplicate, listed, pass_params, slice};
use super::super::errors::Errors;
use super::super::params::Params;
use super::{Begun, Context, NUMBERS, Sign, SignFinal, State, Update, VerifyFinal};
use crate::failure::Failure;
use crate::log::By;
use crate::scheme::Scheme;

/// The functions of a scheme.
pub(super) struct Functions<S>(PhantomData<S>);

macro_rules! dispatch {
    ($($name:ident: [$($id:ident $function:ident),* $(,)?])*) => {
        $(
            pub(super) const $name: &[Dispatch] = &[
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
                State::Default { object, hasher } => duplicate(object, &NUMBERS)
                    .map(|object| State::Default { object, hasher: hasher.clone() }),
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
                slice(context.errors, data, data_length)
                    .is_some_and(|data| context.sign(data, output, length, room))
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
                let data = slice(context.errors, data, data_length);
                let signature = slice(context.errors, signature, signature_length);
                data.zip(signature).map_or(0, |(data, signature)| context.verify(data, signature))
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
            let State::Default { object, .. } = &context.state else { return 0 };
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
                State::Own { hasher: Some(hasher), .. }
                | State::Default { hasher: Some(hasher), .. } => {
                    // SAFETY: the memory is the caller's.
                    let Some(part) = (unsafe { slice(context.errors, data, data_length) }) else {
                        return false;
                    };
                    context.begun.hashed = true;
                    hasher.update(part);
                    true
                }
                State::Default { object, hasher: None } => {
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
                State::Default { object, hasher: None } => {
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
                State::Own { hasher: Some(hasher), .. }
                | State::Default { hasher: Some(hasher), .. } => {
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
                State::Default { object, hasher: None } => {
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
                State::Own { hasher: Some(hasher), .. }
                | State::Default { hasher: Some(hasher), .. } => {
                    // SAFETY: the memory is the caller's.
                    let signature = unsafe { slice(context.errors, signature, signature_length) };
                    signature.map_or(0, |signature| context.verify(&hasher.digest(), signature))
                }
                _ => c_int::from(context.errors.raise(Failure::NotInitialised, "")),
            }
        })
    }

    unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this scheme.
            let context = unsafe { &*context.cast::<Context<S>>() };
            if let State::Default { object, .. } = &context.state {
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
            let hashes_here = matches!(
                context.state,
                State::Own { hasher: Some(_), .. } | State::Default { hasher: Some(_), .. }
            );
            if hashes_here && context.changes_digest(params) {
                return context.errors.raise(Failure::DigestFixed, "");
            }
            match &mut context.state {
                State::NotBegun => params.is_empty(),
                State::Default { object, .. } => {
                    pass_params(object, NUMBERS.set_params, params.as_ptr())
                }
                State::Own { scheme, hasher } => {
                    let handled = scheme.set(&params);
                    let before = context.begun.settings.clone();
                    if context.begun.settings.add(params) && handled {
                        return true;
                    }
                    // This provider keeps the hash of the message's beginning; the default one signs it.
                    let hasher = hasher.clone().filter(|_| context.begun.hashed);
                    let left = match (&hasher, context.begun.number) {
                        (None, _) => context.replay(&context.begun),
                        (Some(_), number::DIGEST_SIGN_INIT) => {
                            context.replay_for_digest(number::SIGN_INIT)
                        }
                        (Some(_), _) => context.replay_for_digest(number::VERIFY_INIT),
                    };
                    // A setting that the default provider also refuses changes nothing.
                    match left {
                        Some(object) => {
                            context.state = State::Default { object, hasher };
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
