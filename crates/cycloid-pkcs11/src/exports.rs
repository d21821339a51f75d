//! The functions that C calls: each turns its arguments into values and slices, calls what does the work,
//! and writes the result.
//!
//! They are `unsafe` for the reason that all functions of C are: a pointer must be null, or lead to what
//! its length and the standard say, for as long as the call lasts. Everything else may be anything. None
//! of them ever unwinds into C. What each does is in PKCS #11 3.0, section 5; that a module is initialised
//! is looked at before anything else.

#![allow(missing_docs, clippy::missing_safety_doc, non_snake_case)]

/// Functions that need the module, which the name in front of the body stands for.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$module:ident| $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            // SAFETY: the caller keeps to the standard, as the head of `exports.rs` has it.
            #[allow(unused_unsafe)]
            with_module(|$module| unsafe { $body })
        }
    )*};
}

mod objects;
mod operations;
mod tokens;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cryptoki_sys::*;
use cycloid_hsm::{Code, Result};

pub use objects::*;
pub use operations::*;
pub use tokens::*;

use crate::state::{Module, finalize, initialize, module};
use crate::{code, memory};

/// What C is told. A panic is a mistake of ours, and C a place that it cannot reach.
pub(crate) fn answer(call: impl FnOnce() -> Result<()>) -> CK_RV {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => CKR_OK,
        Ok(Err(error)) => error.code.0.into(),
        Err(_) => CKR_GENERAL_ERROR,
    }
}

/// What C is told of a call that needs the module.
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

/// Functions that the module has not, with the codes that say so.
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
/// [`Code::ARGUMENTS_BAD`] if a result has no place: it is looked at before anything is done.
fn must_have_room<T>(place: *mut T) -> Result<()> {
    if place.is_null() { Err(Code::ARGUMENTS_BAD.into()) } else { Ok(()) }
}

type Mechanism = *mut CK_MECHANISM;
type Parameter = *mut c_void;

absent! {
    Code::FUNCTION_NOT_SUPPORTED => {
        C_GetOperationState(Session, Bytes, Length)
        C_SetOperationState(Session, Bytes, CK_ULONG, Object, Object)
        C_DigestKey(Session, Object)
        C_SignRecoverInit(Session, Mechanism, Object)
        C_SignRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_VerifyRecoverInit(Session, Mechanism, Object)
        C_VerifyRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DigestEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptDigestUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_SignEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptVerifyUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_MessageEncryptInit(Session, Mechanism, Object)
        C_EncryptMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_EncryptMessageBegin(Session, Parameter, CK_ULONG, Bytes, CK_ULONG)
        C_EncryptMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length, CK_FLAGS)
        C_MessageEncryptFinal(Session)
        C_MessageDecryptInit(Session, Mechanism, Object)
        C_DecryptMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptMessageBegin(Session, Parameter, CK_ULONG, Bytes, CK_ULONG)
        C_DecryptMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length, CK_FLAGS)
        C_MessageDecryptFinal(Session)
        C_MessageSignInit(Session, Mechanism, Object)
        C_SignMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_SignMessageBegin(Session, Parameter, CK_ULONG)
        C_SignMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_MessageSignFinal(Session)
        C_MessageVerifyInit(Session, Mechanism, Object)
        C_VerifyMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG)
        C_VerifyMessageBegin(Session, Parameter, CK_ULONG)
        C_VerifyMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG)
        C_MessageVerifyFinal(Session)
    }
    code::FUNCTION_NOT_PARALLEL => {
        C_GetFunctionStatus(Session)
        C_CancelFunction(Session)
    }
}
