//! The exported C functions: each converts its arguments to values and slices, calls the
//! implementation, and writes the result.
//!
//! They are `unsafe` as all C functions are: a pointer must be null, or point to what its length
//! and the standard say, for the duration of the call. Any other argument may have any value. No
//! function ever unwinds into C. PKCS #11 3.0, section 5, defines each function. Every call first
//! checks that the module is initialised.

#![allow(missing_docs, clippy::missing_safety_doc, non_snake_case)]

/// Defines functions that need the module, which the name before the body is bound to.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$module:ident| $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            // SAFETY: the caller keeps to the standard, as the header of `exports.rs` requires.
            #[allow(unused_unsafe)]
            with_module(|$module| unsafe { $body })
        }
    )*};
}

mod messages;
mod objects;
mod operations;
mod tokens;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cryptoki_sys::*;
use cycloid_hsm_protocol::{Code, Result};

pub use messages::*;
pub use objects::*;
pub use operations::*;
pub use tokens::*;

use crate::state::{Module, finalize, initialize, module};
use crate::{code, memory};

/// Converts a result to a return value. A panic is a defect of the module, and must not unwind into
/// C.
pub(crate) fn answer(call: impl FnOnce() -> Result<()>) -> CK_RV {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => CKR_OK,
        Ok(Err(error)) => error.code.0.into(),
        Err(_) => CKR_GENERAL_ERROR,
    }
}

/// Runs a call that needs the module, and returns its return value.
fn with_module(call: impl FnOnce(&'static Module) -> Result<()>) -> CK_RV {
    answer(|| {
        let module = module()?;
        call(module).inspect_err(|error| {
            if error.code == Code::DEVICE_REMOVED {
                module.forget_lost();
            }
        })
    })
}

/// Defines functions that the module does not support, which return the standard's codes.
macro_rules! absent {
    ($($code:expr => { $($name:ident($($type:ty),*))* })*) => {$($(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($(_: $type),*) -> CK_RV {
            with_module(|_| Err($code.into()))
        }
    )*)*};
}

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;
type Bytes = *mut CK_BYTE;
type Length = *mut CK_ULONG;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_Initialize(arguments: *mut c_void) -> CK_RV {
    answer(|| {
        if !arguments.is_null() {
            // SAFETY: the caller keeps to the standard.
            let given: CK_C_INITIALIZE_ARGS = unsafe { memory::read(arguments.cast())? };
            let mutexes = [
                given.CreateMutex.is_some(),
                given.DestroyMutex.is_some(),
                given.LockMutex.is_some(),
                given.UnlockMutex.is_some(),
            ];
            if !given.pReserved.is_null() || mutexes.iter().any(|one| *one != mutexes[0]) {
                return Err(Code::ARGUMENTS_BAD.into());
            }
        }
        initialize()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_Finalize(reserved: *mut c_void) -> CK_RV {
    answer(|| {
        module()?;
        if !reserved.is_null() {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        finalize()
    })
}

/// # Errors
/// [`Code::ARGUMENTS_BAD`] if a result has no destination; checked before anything is done.
fn must_have_room<T>(place: *mut T) -> Result<()> {
    if place.is_null() { Err(Code::ARGUMENTS_BAD.into()) } else { Ok(()) }
}

type Mechanism = *mut CK_MECHANISM;
type Attributes = *mut CK_ATTRIBUTE;
type Parameter = *mut c_void;

absent! {
    Code::FUNCTION_NOT_SUPPORTED => {
        C_SignRecoverInit(Session, Mechanism, Object)
        C_SignRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_VerifyRecoverInit(Session, Mechanism, Object)
        C_VerifyRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DigestEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptDigestUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_SignEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptVerifyUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_EncapsulateKey(
            Session, Mechanism, Object, Attributes, CK_ULONG, Bytes, Length, *mut Object
        )
        C_DecapsulateKey(
            Session, Mechanism, Object, Attributes, CK_ULONG, Bytes, CK_ULONG, *mut Object
        )
        C_WrapKeyAuthenticated(
            Session, Mechanism, Object, Object, Bytes, CK_ULONG, Bytes, Length
        )
        C_UnwrapKeyAuthenticated(
            Session, Mechanism, Object, Bytes, CK_ULONG, Attributes, CK_ULONG, Bytes, CK_ULONG,
            *mut Object
        )
        C_AsyncComplete(Session, *mut CK_UTF8CHAR, *mut CK_ASYNC_DATA)
        C_AsyncGetID(Session, *mut CK_UTF8CHAR, Length)
        C_AsyncJoin(Session, *mut CK_UTF8CHAR, CK_ULONG, Bytes, CK_ULONG)
    }
    code::FUNCTION_NOT_PARALLEL => {
        C_GetFunctionStatus(Session)
        C_CancelFunction(Session)
    }
}
