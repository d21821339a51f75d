//! The module as C programs load it, with a fake daemon.

#![allow(dead_code, missing_docs, unreachable_pub, unused_macros, unused_imports)]

pub mod daemon;

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cryptoki_sys::*;
pub use daemon::{Daemon, Mood};

/// Returns the module's path: next to the tests, or one folder higher.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let name = "libcycloid_pkcs11.so";
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the module is built with its tests")
}

/// The module, initialised or not, and a fake daemon. Tests use it one at a time.
pub struct TestBed {
    pub functions: CK_FUNCTION_LIST_3_2,
    pub daemon: Daemon,
    _library: libloading::Library,
    _alone: MutexGuard<'static, ()>,
}

/// Waits until no other test uses the module or the environment.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads the module for a daemon's socket; the caller holds the result of [`alone`].
pub fn load(socket: &Path) -> (libloading::Library, CK_FUNCTION_LIST_3_2) {
    // SAFETY: every reader of the environment holds the result of `alone`.
    unsafe { std::env::set_var("CYCLOID_HSM_SOCKET", socket) };
    // SAFETY: loading the module has no side effects, and its functions have the standard's
    // signatures.
    unsafe {
        let library = libloading::Library::new(path()).expect("the module can be loaded");
        let get: libloading::Symbol<
            '_,
            unsafe extern "C" fn(
                *mut u8,
                *mut CK_VERSION,
                *mut *mut CK_INTERFACE,
                CK_FLAGS,
            ) -> CK_RV,
        > = library.get("C_GetInterface").expect("it is exported");
        let mut interface = ptr::null_mut();
        let code = get(ptr::null_mut(), ptr::null_mut(), &raw mut interface, 0);
        assert_eq!(code, CKR_OK);
        let functions = (*interface).pFunctionList.cast::<CK_FUNCTION_LIST_3_2>();
        (library, *functions)
    }
}

/// Calls a function of the module.
macro_rules! call {
    ($bed:expr, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: each test is responsible for its arguments.
        unsafe { $bed.functions.$function.expect("it is there")($($argument),*) }
    };
}

/// Calls a function of the module that must succeed.
macro_rules! must {
    ($bed:expr, $function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($bed, $function($($argument),*)), CKR_OK, stringify!($function))
    };
}

impl TestBed {
    /// Loads the module without initialising it.
    pub fn new() -> Self {
        let alone = alone();
        let daemon = Daemon::start();
        let (library, functions) = load(&daemon.socket);
        Self { functions, daemon, _library: library, _alone: alone }
    }

    /// Loads and initialises the module.
    pub fn initialised() -> Self {
        let bed = Self::new();
        must!(bed, C_Initialize(ptr::null_mut()));
        bed
    }

    /// Initialises the module, and opens a read-write session with the user logged in.
    pub fn logged_in() -> (Self, CK_SESSION_HANDLE) {
        let bed = Self::initialised();
        let session = bed.open(true);
        assert_eq!(bed.login(session, CKU_USER, daemon::USER_PIN), CKR_OK);
        (bed, session)
    }

    pub fn open(&self, read_write: bool) -> CK_SESSION_HANDLE {
        let (code, session) = self.try_open(read_write);
        assert_eq!(code, CKR_OK);
        session
    }

    pub fn try_open(&self, read_write: bool) -> (CK_RV, CK_SESSION_HANDLE) {
        let mut session = 0;
        let flags = CKF_SERIAL_SESSION | if read_write { CKF_RW_SESSION } else { 0 };
        let code = call!(self, C_OpenSession(0, flags, ptr::null_mut(), None, &raw mut session));
        (code, session)
    }

    pub fn login(&self, session: CK_SESSION_HANDLE, user: CK_USER_TYPE, pin: &str) -> CK_RV {
        let (pin, length) = (pin.as_ptr().cast_mut(), pin.len() as CK_ULONG);
        call!(self, C_Login(session, user, pin, length))
    }

    pub fn state(&self, session: CK_SESSION_HANDLE) -> CK_STATE {
        let mut info = CK_SESSION_INFO::default();
        must!(self, C_GetSessionInfo(session, &raw mut info));
        info.state
    }

    pub fn sign_init(&self, session: CK_SESSION_HANDLE, number: u32, key: u64) -> CK_RV {
        call!(self, C_SignInit(session, &mut mechanism(number), key))
    }

    /// Calls C_Sign with room for `room` bytes.
    pub fn sign(
        &self,
        session: CK_SESSION_HANDLE,
        data: &[u8],
        room: usize,
    ) -> (CK_RV, CK_ULONG, Vec<u8>) {
        let mut signature = vec![0; room];
        let mut length = room as CK_ULONG;
        let (data, data_length) = input(data);
        let to = signature.as_mut_ptr();
        let code = call!(self, C_Sign(session, data, data_length, to, &raw mut length));
        signature.truncate(length as usize);
        (code, length, signature)
    }

    pub fn find(&self, session: CK_SESSION_HANDLE, attributes: &mut [CK_ATTRIBUTE]) -> Vec<u64> {
        let count = attributes.len() as CK_ULONG;
        must!(self, C_FindObjectsInit(session, attributes.as_mut_ptr(), count));
        let mut found = vec![0; 64];
        let mut count = 0;
        must!(self, C_FindObjects(session, found.as_mut_ptr(), 64, &raw mut count));
        must!(self, C_FindObjectsFinal(session));
        found.truncate(count as usize);
        found
    }
}

impl Drop for TestBed {
    fn drop(&mut self) {
        call!(self, C_Finalize(ptr::null_mut()));
    }
}

/// Returns a mechanism without a parameter.
pub fn mechanism(number: u32) -> CK_MECHANISM {
    CK_MECHANISM { mechanism: number.into(), pParameter: ptr::null_mut(), ulParameterLen: 0 }
}

/// Returns a mechanism with a parameter, which must outlive it.
pub fn mechanism_with<T>(number: u32, parameter: &mut T) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: number.into(),
        pParameter: ptr::from_mut(parameter).cast(),
        ulParameterLen: size_of::<T>() as CK_ULONG,
    }
}

/// Returns an attribute, whose value must outlive it.
pub fn attribute<T: ?Sized>(number: u32, value: &T) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE {
        type_: number.into(),
        pValue: ptr::from_ref(value).cast::<c_void>().cast_mut(),
        ulValueLen: size_of_val(value) as CK_ULONG,
    }
}

pub fn input(bytes: &[u8]) -> (*mut u8, CK_ULONG) {
    (bytes.as_ptr().cast_mut(), bytes.len() as CK_ULONG)
}

/// Calls every function except C_Initialize and C_Finalize with a session, null pointers and zeros.
macro_rules! every_function {
    ($bed:expr, $session:expr) => {{
        use std::ptr::null_mut as n;
        let s = $session;
        every_function!(@ $bed,
            C_GetInfo(n()), C_GetSlotList(0, n(), n()), C_GetSlotInfo(0, n()), C_GetTokenInfo(0, n()),
            C_GetMechanismList(0, n(), n()), C_GetMechanismInfo(0, 1, n()), C_InitToken(0, n(), 0, n()),
            C_InitPIN(s, n(), 0), C_SetPIN(s, n(), 0, n(), 0), C_OpenSession(0, 4, n(), None, n()),
            C_GetSessionInfo(s, n()), C_GetOperationState(s, n(), n()),
            C_SetOperationState(s, n(), 0, 0, 0), C_Login(s, 1, n(), 0), C_CreateObject(s, n(), 0, n()),
            C_CopyObject(s, 1, n(), 0, n()), C_DestroyObject(s, 999), C_GetObjectSize(s, 1, n()),
            C_GetAttributeValue(s, 1, n(), 0), C_SetAttributeValue(s, 999, n(), 1),
            C_FindObjectsInit(s, n(), 1), C_FindObjects(s, n(), 0, n()), C_FindObjectsFinal(s),
            C_EncryptInit(s, n(), 1), C_Encrypt(s, n(), 0, n(), n()), C_EncryptUpdate(s, n(), 0, n(), n()),
            C_EncryptFinal(s, n(), n()), C_DecryptInit(s, n(), 1), C_Decrypt(s, n(), 0, n(), n()),
            C_DecryptUpdate(s, n(), 0, n(), n()), C_DecryptFinal(s, n(), n()), C_DigestInit(s, n()),
            C_Digest(s, n(), 0, n(), n()), C_DigestUpdate(s, n(), 0), C_DigestKey(s, 1),
            C_DigestFinal(s, n(), n()), C_SignInit(s, n(), 1), C_Sign(s, n(), 0, n(), n()),
            C_SignUpdate(s, n(), 0), C_SignFinal(s, n(), n()), C_SignRecoverInit(s, n(), 1),
            C_SignRecover(s, n(), 0, n(), n()), C_VerifyInit(s, n(), 1), C_Verify(s, n(), 0, n(), 0),
            C_VerifyUpdate(s, n(), 0), C_VerifyFinal(s, n(), 0), C_VerifyRecoverInit(s, n(), 1),
            C_VerifyRecover(s, n(), 0, n(), n()), C_DigestEncryptUpdate(s, n(), 0, n(), n()),
            C_DecryptDigestUpdate(s, n(), 0, n(), n()), C_SignEncryptUpdate(s, n(), 0, n(), n()),
            C_DecryptVerifyUpdate(s, n(), 0, n(), n()), C_GenerateKey(s, n(), n(), 0, n()),
            C_GenerateKeyPair(s, n(), n(), 0, n(), 0, n(), n()), C_WrapKey(s, n(), 1, 1, n(), n()),
            C_UnwrapKey(s, n(), 1, n(), 0, n(), 0, n()), C_DeriveKey(s, n(), 1, n(), 0, n()),
            C_SeedRandom(s, n(), 0), C_GenerateRandom(s, n(), 1), C_GetFunctionStatus(s),
            C_CancelFunction(s), C_WaitForSlotEvent(0, n(), n()),
            C_LoginUser(s, 1, n(), 0, n(), 0),
            C_MessageEncryptInit(s, n(), 1), C_EncryptMessage(s, n(), 0, n(), 0, n(), 0, n(), n()),
            C_EncryptMessageBegin(s, n(), 0, n(), 0), C_EncryptMessageNext(s, n(), 0, n(), 0, n(), n(), 0),
            C_MessageEncryptFinal(s), C_MessageDecryptInit(s, n(), 1),
            C_DecryptMessage(s, n(), 0, n(), 0, n(), 0, n(), n()),
            C_DecryptMessageBegin(s, n(), 0, n(), 0), C_DecryptMessageNext(s, n(), 0, n(), 0, n(), n(), 0),
            C_MessageDecryptFinal(s), C_MessageSignInit(s, n(), 1), C_SignMessage(s, n(), 0, n(), 0, n(), n()),
            C_SignMessageBegin(s, n(), 0), C_SignMessageNext(s, n(), 0, n(), 0, n(), n()),
            C_MessageSignFinal(s), C_MessageVerifyInit(s, n(), 1),
            C_VerifyMessage(s, n(), 0, n(), 0, n(), 0), C_VerifyMessageBegin(s, n(), 0),
            C_VerifyMessageNext(s, n(), 0, n(), 0, n(), 0), C_MessageVerifyFinal(s),
            C_EncapsulateKey(s, n(), 1, n(), 0, n(), n(), n()),
            C_DecapsulateKey(s, n(), 1, n(), 0, n(), 0, n()),
            C_VerifySignatureInit(s, n(), 1, n(), 0), C_VerifySignature(s, n(), 0),
            C_VerifySignatureUpdate(s, n(), 0), C_VerifySignatureFinal(s),
            C_GetSessionValidationFlags(s, 1, n()), C_AsyncComplete(s, n(), n()),
            C_AsyncGetID(s, n(), n()), C_AsyncJoin(s, n(), 0, n(), 0),
            C_WrapKeyAuthenticated(s, n(), 1, 1, n(), 0, n(), n()),
            C_UnwrapKeyAuthenticated(s, n(), 1, n(), 0, n(), 0, n(), 0, n())
        )
    }};
    (@ $bed:expr, $($function:ident($($argument:expr),*)),*) => {
        [$((stringify!($function), call!($bed, $function($($argument),*)))),*]
    };
}
