//! Asymmetric encryption: contexts that encrypt or decrypt with RSA, here or in the default
//! provider.

use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;

use super::abi::{Dispatch, Param, cipher as number, operation};
use super::boundary::{guarded, succeeds};
use super::context::{
    Numbers, Settings, deliver, duplicate, listed, new_default, pass_params, slice,
};
use super::default::Object;
use super::errors::Errors;
use super::key_management::KeyObject;
use super::params::{Params, Requests};
use crate::failure::Failure;
use crate::key::rsa::RsaKey;
use crate::log::{self, By};
use crate::scheme::rsa_encryption::RsaEncryption;

const NUMBERS: Numbers = Numbers {
    operation: operation::ASYMMETRIC_CIPHER,
    new: number::NEW_CONTEXT,
    free: number::FREE_CONTEXT,
    dup: number::DUP_CONTEXT,
    get_params: number::GET_PARAMS,
    set_params: number::SET_PARAMS,
    gettable_params: number::GETTABLE_PARAMS,
    settable_params: number::SETTABLE_PARAMS,
};

const NAME: &CStr = c"RSA";

pub(crate) const RSA: &[Dispatch] = &[
    Dispatch { id: number::NEW_CONTEXT, function: new_context as *const c_void },
    Dispatch { id: number::FREE_CONTEXT, function: free as *const c_void },
    Dispatch { id: number::DUP_CONTEXT, function: dup as *const c_void },
    Dispatch { id: number::ENCRYPT_INIT, function: encrypt_init as *const c_void },
    Dispatch { id: number::ENCRYPT, function: encrypt as *const c_void },
    Dispatch { id: number::DECRYPT_INIT, function: decrypt_init as *const c_void },
    Dispatch { id: number::DECRYPT, function: decrypt as *const c_void },
    Dispatch { id: number::GET_PARAMS, function: get_params as *const c_void },
    Dispatch { id: number::GETTABLE_PARAMS, function: gettable_params as *const c_void },
    Dispatch { id: number::SET_PARAMS, function: set_params as *const c_void },
    Dispatch { id: number::SETTABLE_PARAMS, function: settable_params as *const c_void },
    Dispatch { id: 0, function: std::ptr::null() },
];

/// The context of encryption or decryption.
struct Context {
    errors: Errors,
    key: Option<Arc<KeyObject<RsaKey>>>,
    number: c_int,
    settings: Settings,
    state: State,
}

enum State {
    NotBegun,
    Own(RsaEncryption),
    Default(Object),
}

type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Param) -> c_int;
type Run = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;

impl Context {
    /// Leaves the operation to the default provider.
    fn leave(&mut self) -> bool {
        let left = self.replay();
        let succeeded = left.is_some();
        self.state = left.map_or(State::NotBegun, State::Default);
        succeeded
    }

    /// Returns a context of the default provider in the state of this one.
    fn replay(&self) -> Option<Object> {
        let key = self.key.as_ref()?.default()?;
        let object = new_default(self.errors, &NUMBERS, NAME, None)?;
        // SAFETY: the function has this type; objects and array are valid.
        let begun = unsafe {
            let init = object.table().function::<Init>(self.number)?;
            self.settings.replay(&object, NUMBERS.set_params, |params| {
                init(object.as_ptr(), key.as_ptr(), params.as_ptr()) == 1
            })
        };
        begun.then_some(object)
    }
}

unsafe extern "C" fn new_context(provider: *mut c_void) -> *mut c_void {
    guarded(std::ptr::null_mut(), || {
        let context = Context {
            errors: Errors::of(provider),
            key: None,
            number: 0,
            settings: Settings::default(),
            state: State::NotBegun,
        };
        Box::into_raw(Box::new(context)).cast()
    })
}

unsafe extern "C" fn free(context: *mut c_void) {
    guarded((), || {
        if !context.is_null() {
            // SAFETY: OpenSSL gives the context back.
            unsafe { drop(Box::from_raw(context.cast::<Context>())) };
        }
    });
}

unsafe extern "C" fn dup(context: *mut c_void) -> *mut c_void {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a context of this module.
        let context = unsafe { &*context.cast::<Context>() };
        let state = match &context.state {
            State::NotBegun => Some(State::NotBegun),
            State::Own(encryption) => Some(State::Own(encryption.clone())),
            State::Default(object) => duplicate(object, &NUMBERS).map(State::Default),
        };
        state.map_or(std::ptr::null_mut(), |state| {
            let (errors, key, number) = (context.errors, context.key.clone(), context.number);
            let copy = Context { errors, key, number, settings: context.settings.clone(), state };
            Box::into_raw(Box::new(copy)).cast()
        })
    })
}

/// Begins an operation.
///
/// # Safety
/// The addresses are OpenSSL's: a context of this module, a key or null, an array or null.
unsafe fn init(context: *mut c_void, id: c_int, key: *mut c_void, params: *const Param) -> c_int {
    succeeds(|| {
        // SAFETY: by the caller's word.
        let (context, key, params) = unsafe {
            (&mut *context.cast::<Context>(), KeyObject::share(key), Params::from_raw(params))
        };
        if key.is_some() {
            context.key = key;
        }
        let Some(key) = &context.key else {
            return context.errors.raise(Failure::NoKey, "");
        };
        context.number = id;
        context.settings = Settings::beginning(params);
        // A key for RSASSA-PSS only encrypts nothing, which the default provider says.
        let own = key.own().filter(|_| key.name() == c"RSA");
        let begun = own.and_then(|own| RsaEncryption::begin(own, id == number::DECRYPT_INIT));
        if let Some(mut encryption) = begun
            && encryption.set(&params)
        {
            context.state = State::Own(encryption);
            return true;
        }
        context.leave()
    })
}

unsafe extern "C" fn encrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL's addresses.
    unsafe { init(context, number::ENCRYPT_INIT, key, params) }
}

unsafe extern "C" fn decrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL's addresses.
    unsafe { init(context, number::DECRYPT_INIT, key, params) }
}

/// Encrypts or decrypts.
///
/// # Safety
/// The addresses are OpenSSL's: a context of this module and the caller's memory.
unsafe fn run(
    context: *mut c_void,
    id: c_int,
    output: *mut u8,
    length: *mut usize,
    room: usize,
    data: *const u8,
    data_length: usize,
) -> c_int {
    guarded(0, || {
        // SAFETY: by the caller's word.
        let context = unsafe { &*context.cast::<Context>() };
        // SAFETY: by the caller's word.
        let Some(input) = (unsafe { slice(context.errors, data, data_length) }) else { return 0 };
        let what = if id == number::ENCRYPT { "encrypt" } else { "decrypt" };
        match &context.state {
            State::NotBegun => c_int::from(context.errors.raise(Failure::NotInitialised, "")),
            State::Default(object) => {
                if !output.is_null() {
                    log::write(By::Default, what, "RSA");
                }
                // SAFETY: both functions have this type; the memory is the caller's.
                unsafe {
                    object.table().function::<Run>(id).map_or(0, |run| {
                        run(object.as_ptr(), output, length, room, data, data_length)
                    })
                }
            }
            State::Own(encryption) => {
                if output.is_null() {
                    // SAFETY: OpenSSL passes room for the length.
                    unsafe { *length = encryption.length() };
                    return 1;
                }
                let outcome = if id == number::ENCRYPT {
                    encryption.encrypt(input).map(Into::into)
                } else {
                    encryption.decrypt(input)
                };
                match outcome {
                    Ok(result) => {
                        log::write(By::Cycloid, what, "RSA");
                        // SAFETY: the memory is the caller's.
                        unsafe {
                            c_int::from(deliver(context.errors, &result, output, length, room))
                        }
                    }
                    Err(error) => c_int::from(context.errors.raise(error.failure, &error.details)),
                }
            }
        }
    })
}

unsafe extern "C" fn encrypt(
    context: *mut c_void,
    output: *mut u8,
    length: *mut usize,
    room: usize,
    data: *const u8,
    data_length: usize,
) -> c_int {
    // SAFETY: OpenSSL's addresses.
    unsafe { run(context, number::ENCRYPT, output, length, room, data, data_length) }
}

unsafe extern "C" fn decrypt(
    context: *mut c_void,
    output: *mut u8,
    length: *mut usize,
    room: usize,
    data: *const u8,
    data_length: usize,
) -> c_int {
    // SAFETY: OpenSSL's addresses.
    unsafe { run(context, number::DECRYPT, output, length, room, data, data_length) }
}

unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL passes a context of this module, and an array.
        let (context, params) =
            unsafe { (&mut *context.cast::<Context>(), Params::from_raw(params)) };
        match &mut context.state {
            State::Default(object) => pass_params(object, NUMBERS.set_params, params.as_ptr()),
            State::NotBegun => params.is_empty(),
            State::Own(encryption) => {
                let handled = encryption.set(&params);
                let before = context.settings.clone();
                if context.settings.add(params) && handled {
                    return true;
                }
                // A setting that the default provider also refuses changes nothing.
                match context.replay() {
                    Some(object) => {
                        context.state = State::Default(object);
                        true
                    }
                    None => {
                        context.settings = before;
                        false
                    }
                }
            }
        }
    })
}

unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL passes a context of this module.
        let context = unsafe { &*context.cast::<Context>() };
        if let State::Default(object) = &context.state {
            return pass_params(object, NUMBERS.get_params, params);
        }
        let same = context.replay();
        let filled = same.is_some_and(|object| pass_params(&object, NUMBERS.get_params, params));
        if let State::Own(encryption) = &context.state {
            // The caller may keep the label's address, so it must be that of this context's.
            // SAFETY: OpenSSL passes an array, filled above.
            let mut requests = unsafe { Requests::from_raw(params) };
            let labels = requests.iter().filter(|request| request.name() == "oaep-label");
            labels.for_each(|mut request| request.set_bytes_address(encryption.label()));
        }
        filled
    })
}

unsafe extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    guarded(std::ptr::null(), || listed(&NUMBERS, NAME, NUMBERS.gettable_params))
}

unsafe extern "C" fn settable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    guarded(std::ptr::null(), || listed(&NUMBERS, NAME, NUMBERS.settable_params))
}
