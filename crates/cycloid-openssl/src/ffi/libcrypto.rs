//! Functions of the libcrypto that loaded the provider, found at run time.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use super::loader;

/// Finds functions of libcrypto by name.
pub(crate) struct Libcrypto {
    handle: *mut c_void,
}

// SAFETY: the handle of a loaded library may be used by any thread.
unsafe impl Send for Libcrypto {}
// SAFETY: as above.
unsafe impl Sync for Libcrypto {}

static LIBCRYPTO: OnceLock<Libcrypto> = OnceLock::new();

/// Returns the libcrypto that `inside`, one of its functions, is part of. Only the first call
/// counts: a process has one libcrypto that loads this module.
///
/// # Safety
/// `inside` is the address of a function.
pub(crate) unsafe fn locate(inside: *const c_void) {
    LIBCRYPTO.get_or_init(|| {
        // SAFETY: by the caller's promise.
        let handle = unsafe { loader::library_of(inside) };
        Libcrypto { handle: if handle.is_null() { loader::PROGRAM } else { handle } }
    });
}

/// Returns the address of a function of libcrypto.
fn find(name: &CStr) -> Option<*mut c_void> {
    let library = LIBCRYPTO.get()?;
    // libcrypto may be linked into the program.
    [library.handle, loader::PROGRAM].into_iter().find_map(|handle| {
        // SAFETY: the handle is of a loaded library, or stands for the program's.
        let found = unsafe { loader::function(handle, name) };
        (!found.is_null()).then_some(found)
    })
}

/// Declares a function of libcrypto as a structure's field, filled by `load`.
macro_rules! functions {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident: $symbol:literal fn($($arg:ty),*) $(-> $ret:ty)?;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $vis struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl $name {
            /// Returns the functions if libcrypto has all of them.
            pub(crate) fn load() -> Option<Self> {
                Some(Self {
                    $(
                        $field: {
                            let address = find($symbol)?;
                            // SAFETY: the function of that name has this type, by its
                            // documentation.
                            unsafe {
                                std::mem::transmute::<
                                    *mut c_void,
                                    unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                                >(address)
                            }
                        },
                    )*
                })
            }
        }
    };
}

functions! {
    /// Access to other providers, by `openssl/provider.h`.
    pub(crate) struct Providers {
        new_context: c"OSSL_LIB_CTX_new" fn() -> *mut c_void;
        load: c"OSSL_PROVIDER_load" fn(*mut c_void, *const c_char) -> *mut c_void;
        query: c"OSSL_PROVIDER_query_operation"
            fn(*const c_void, c_int, *mut c_int) -> *const super::abi::Algorithm;
        context: c"OSSL_PROVIDER_get0_provider_ctx" fn(*const c_void) -> *mut c_void;
        capabilities: c"OSSL_PROVIDER_get_capabilities"
            fn(*const c_void, *const c_char, super::abi::Callback, *mut c_void) -> c_int;
    }
}

functions! {
    /// Asynchronous jobs, by `openssl/async.h`.
    pub(crate) struct Jobs {
        current: c"ASYNC_get_current_job" fn() -> *mut c_void;
        pause: c"ASYNC_pause_job" fn() -> c_int;
        wait_context: c"ASYNC_get_wait_ctx" fn(*mut c_void) -> *mut c_void;
        wait_descriptor: c"ASYNC_WAIT_CTX_get_fd"
            fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int;
        set_wait_descriptor: c"ASYNC_WAIT_CTX_set_wait_fd"
            fn(*mut c_void, *const c_void, c_int, *mut c_void, Option<Cleanup>) -> c_int;
    }
}

/// Called by OpenSSL when a waiting context drops a descriptor.
pub(crate) type Cleanup = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);
