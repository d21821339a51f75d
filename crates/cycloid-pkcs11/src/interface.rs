//! The function lists through which a program reaches all other functions.

use std::ptr;

use cryptoki_sys::{
    CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_RV,
    CK_ULONG, CK_UTF8CHAR, CK_VERSION,
};
use cycloid_hsm_protocol::Code;

use crate::exports::{self, answer};
use crate::memory::{self, Output};
use crate::token::LATEST;

/// Builds a list of the functions of version 2.40 and of those in `$more`.
macro_rules! functions {
    ($list:ident, $version:expr, $($more:path as $name:ident),*) => {
        functions!(@ $list, $version, [$($more as $name),*]
            C_Initialize C_Finalize C_GetInfo C_GetSlotList C_GetSlotInfo C_GetTokenInfo
            C_GetMechanismList C_GetMechanismInfo C_InitToken C_InitPIN C_SetPIN C_OpenSession
            C_CloseSession C_CloseAllSessions C_GetSessionInfo C_GetOperationState
            C_SetOperationState C_Login C_Logout C_CreateObject C_CopyObject C_DestroyObject
            C_GetObjectSize C_GetAttributeValue C_SetAttributeValue C_FindObjectsInit C_FindObjects
            C_FindObjectsFinal C_EncryptInit C_Encrypt C_EncryptUpdate C_EncryptFinal C_DecryptInit
            C_Decrypt C_DecryptUpdate C_DecryptFinal C_DigestInit C_Digest C_DigestUpdate C_DigestKey
            C_DigestFinal C_SignInit C_Sign C_SignUpdate C_SignFinal C_SignRecoverInit C_SignRecover
            C_VerifyInit C_Verify C_VerifyUpdate C_VerifyFinal C_VerifyRecoverInit C_VerifyRecover
            C_DigestEncryptUpdate C_DecryptDigestUpdate C_SignEncryptUpdate C_DecryptVerifyUpdate
            C_GenerateKey C_GenerateKeyPair C_WrapKey C_UnwrapKey C_DeriveKey C_SeedRandom
            C_GenerateRandom C_GetFunctionStatus C_CancelFunction C_WaitForSlotEvent)
    };
    (@ $list:ident, $version:expr, [$($more:path as $name:ident),*] $($function:ident)*) => {
        $list {
            version: $version,
            C_GetFunctionList: Some(C_GetFunctionList),
            $($function: Some(exports::$function),)*
            $($name: Some($more),)*
        }
    };
}

/// Builds a list of the functions of version 3.0 and of those in `$more`.
macro_rules! functions_3 {
    ($list:ident, $version:expr $(, $more:ident)* $(,)?) => {
        functions!(
            $list,
            $version,
            C_GetInterfaceList as C_GetInterfaceList,
            C_GetInterface as C_GetInterface,
            exports::C_LoginUser as C_LoginUser,
            exports::C_SessionCancel as C_SessionCancel,
            exports::C_MessageEncryptInit as C_MessageEncryptInit,
            exports::C_EncryptMessage as C_EncryptMessage,
            exports::C_EncryptMessageBegin as C_EncryptMessageBegin,
            exports::C_EncryptMessageNext as C_EncryptMessageNext,
            exports::C_MessageEncryptFinal as C_MessageEncryptFinal,
            exports::C_MessageDecryptInit as C_MessageDecryptInit,
            exports::C_DecryptMessage as C_DecryptMessage,
            exports::C_DecryptMessageBegin as C_DecryptMessageBegin,
            exports::C_DecryptMessageNext as C_DecryptMessageNext,
            exports::C_MessageDecryptFinal as C_MessageDecryptFinal,
            exports::C_MessageSignInit as C_MessageSignInit,
            exports::C_SignMessage as C_SignMessage,
            exports::C_SignMessageBegin as C_SignMessageBegin,
            exports::C_SignMessageNext as C_SignMessageNext,
            exports::C_MessageSignFinal as C_MessageSignFinal,
            exports::C_MessageVerifyInit as C_MessageVerifyInit,
            exports::C_VerifyMessage as C_VerifyMessage,
            exports::C_VerifyMessageBegin as C_VerifyMessageBegin,
            exports::C_VerifyMessageNext as C_VerifyMessageNext,
            exports::C_MessageVerifyFinal as C_MessageVerifyFinal
            $(, exports::$more as $more)*
        )
    };
}

const V2_40: CK_VERSION = CK_VERSION { major: 2, minor: 40 };
const V3_0: CK_VERSION = CK_VERSION { major: 3, minor: 0 };

static FUNCTIONS_2_40: CK_FUNCTION_LIST = functions!(CK_FUNCTION_LIST, V2_40,);

static FUNCTIONS_3_0: CK_FUNCTION_LIST_3_0 = functions_3!(CK_FUNCTION_LIST_3_0, V3_0);

static FUNCTIONS_3_2: CK_FUNCTION_LIST_3_2 = functions_3!(
    CK_FUNCTION_LIST_3_2,
    LATEST,
    C_EncapsulateKey,
    C_DecapsulateKey,
    C_VerifySignatureInit,
    C_VerifySignature,
    C_VerifySignatureUpdate,
    C_VerifySignatureFinal,
    C_GetSessionValidationFlags,
    C_AsyncComplete,
    C_AsyncGetID,
    C_AsyncJoin,
    C_WrapKeyAuthenticated,
    C_UnwrapKeyAuthenticated,
);

/// The name of the standard interface, as a C string.
const NAME: &[u8] = b"PKCS 11\0";

struct Interfaces([CK_INTERFACE; 3]);

// SAFETY: the pointers lead to constant data, which C's types do not express.
unsafe impl Sync for Interfaces {}

const fn interface<T>(functions: &'static T) -> CK_INTERFACE {
    CK_INTERFACE {
        pInterfaceName: NAME.as_ptr().cast_mut(),
        pFunctionList: ptr::from_ref(functions).cast_mut().cast(),
        flags: 0,
    }
}

/// The interfaces, the default one first.
static INTERFACES: Interfaces =
    Interfaces([interface(&FUNCTIONS_3_2), interface(&FUNCTIONS_3_0), interface(&FUNCTIONS_2_40)]);

/// Returns the functions of PKCS #11 2.40 (section 5.4).
///
/// # Safety
/// `list`, unless null, must point to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    // SAFETY: guaranteed by the caller.
    answer(|| unsafe { memory::write(list, ptr::from_ref(&FUNCTIONS_2_40).cast_mut()) })
}

/// Returns all interfaces (PKCS #11 3.0, section 5.4).
///
/// # Safety
/// `list`, unless null, must point to room for as many interfaces as `*count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(
    list: *mut CK_INTERFACE,
    count: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: guaranteed by the caller.
    answer(|| unsafe { Output::new(list, count)?.put(&INTERFACES.0) })
}

/// Returns an interface by name, version and properties, each of which may be omitted (PKCS #11
/// 3.0, section 5.4).
///
/// # Safety
/// Non-null pointers must point to a null-terminated text, a version, and room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    interface: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    answer(|| {
        // SAFETY: guaranteed by the caller; the comparison stops at the end of the text.
        let named = name.is_null()
            || NAME.iter().enumerate().all(|(at, byte)| unsafe { name.add(at).read() } == *byte);
        let version = match version.is_null() {
            true => LATEST,
            // SAFETY: guaranteed by the caller.
            false => unsafe { memory::read(version)? },
        };
        let at = match (version.major, version.minor) {
            (3, 2) => 0,
            (3, 0) => 1,
            (2, 40) => 2,
            _ => INTERFACES.0.len(),
        };
        match INTERFACES.0.get(at) {
            Some(found) if named && flags & !found.flags == 0 => {
                // SAFETY: guaranteed by the caller.
                unsafe { memory::write(interface, ptr::from_ref(found).cast_mut()) }
            }
            _ => Err(Code::ARGUMENTS_BAD.into()),
        }
    })
}
