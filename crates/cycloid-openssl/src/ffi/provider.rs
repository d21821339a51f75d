//! The provider itself: its entry point, its list of algorithms and its parameters.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use super::abi::{
    Algorithm, Callback, Dispatch, INTEGER, Item, Param, UTF8_POINTER, core, operation, provider,
};
use super::boundary::{guarded, succeeds};
use super::errors::Provider;
use super::params::{Params, Requests, described};
use super::{cipher, default, exchange, key_management, libcrypto, signature};
use crate::failure::Failure;
use crate::{log, queue};

/// The entry point, which OpenSSL calls when it loads the module.
///
/// # Safety
/// The arguments are those that OpenSSL 3 documents in `provider(7)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    offered: *const Dispatch,
    functions: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    succeeds(|| {
        let mut instance = Provider {
            version: CString::default(),
            handle,
            new_error: None,
            set_error_debug: None,
            vset_error: None,
        };
        let mut settings: Option<unsafe extern "C" fn(*const c_void, *mut Param) -> c_int> = None;
        let mut next = offered;
        // SAFETY: the list ends with the number 0, and each number's function has the type that
        // `core_dispatch.h` gives it.
        unsafe {
            while !next.is_null() && (*next).id != 0 {
                let address = &raw const (*next).function;
                match (*next).id {
                    core::GET_PARAMS => settings = *address.cast(),
                    core::NEW_ERROR => instance.new_error = *address.cast(),
                    core::SET_ERROR_DEBUG => instance.set_error_debug = *address.cast(),
                    core::VSET_ERROR => instance.vset_error = *address.cast(),
                    _ => {}
                }
                next = next.add(1);
            }
            let mut invalid = Vec::new();
            if let Some(settings) = settings {
                libcrypto::locate(settings as *const c_void);
                invalid = configure(handle, settings);
            }
            instance.version = CString::new(version(&invalid)).unwrap_or_default();
            *functions = FUNCTIONS.as_ptr();
            *context = Box::into_raw(Box::new(instance)).cast();
        }
        true
    })
}

/// Returns the version, as `openssl list -providers` shows it. That is where a user looks, and a
/// library has no other place for a warning: OpenSSL 3.0 hides the errors of a provider's start.
fn version(invalid: &[String]) -> String {
    let number = env!("CARGO_PKG_VERSION");
    if invalid.is_empty() {
        number.to_owned()
    } else {
        format!("{number}, with settings that have no effect: {}", invalid.join(", "))
    }
}

/// Reads the settings in the provider's section of `openssl.cnf`, and returns those that are invalid.
///
/// # Safety
/// `settings` is the core's function for its parameters, with its handle.
unsafe fn configure(
    handle: *const c_void,
    settings: unsafe extern "C" fn(*const c_void, *mut Param) -> c_int,
) -> Vec<String> {
    let mut invalid = Vec::new();
    for (name, apply) in [
        (c"log", log::open as fn(&str) -> bool),
        (c"async", queue::set_mode),
        (c"async_wait", queue::set_wait),
    ] {
        let mut value: *const c_char = std::ptr::null();
        let mut asked = [described(name, UTF8_POINTER), Param::END];
        asked[0].data = (&raw mut value).cast();
        asked[0].data_size = size_of::<*const c_char>();
        // SAFETY: the array ends with a null key. The core stores the address of a text of its own.
        unsafe {
            if settings(handle, asked.as_mut_ptr()) == 1 && !value.is_null() {
                let value = CStr::from_ptr(value).to_string_lossy();
                if !apply(&value) {
                    invalid.push(format!("{} = {value}", name.to_string_lossy()));
                }
            }
        }
    }
    invalid
}

/// A list of functions that threads may share.
#[repr(transparent)]
struct Shared<T>(T);

// SAFETY: the lists are constant, and point to constants and functions only.
unsafe impl<T> Sync for Shared<T> {}

impl<T, const N: usize> Shared<[T; N]> {
    const fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

static FUNCTIONS: Shared<[Dispatch; 7]> = Shared([
    Dispatch { id: provider::TEARDOWN, function: teardown as *const c_void },
    Dispatch { id: provider::GETTABLE_PARAMS, function: gettable_params as *const c_void },
    Dispatch { id: provider::GET_PARAMS, function: get_params as *const c_void },
    Dispatch { id: provider::QUERY_OPERATION, function: query_operation as *const c_void },
    Dispatch { id: provider::GET_REASON_STRINGS, function: reason_strings as *const c_void },
    Dispatch { id: provider::GET_CAPABILITIES, function: get_capabilities as *const c_void },
    Dispatch { id: 0, function: std::ptr::null() },
]);

unsafe extern "C" fn teardown(context: *mut c_void) {
    // SAFETY: the context is the one of `OSSL_provider_init`, which OpenSSL gives back once.
    unsafe { drop(Box::from_raw(context.cast::<Provider>())) };
}

static PARAMETERS: Shared<[Param; 5]> = Shared([
    described(c"name", UTF8_POINTER),
    described(c"version", UTF8_POINTER),
    described(c"buildinfo", UTF8_POINTER),
    described(c"status", INTEGER),
    Param::END,
]);

unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const Param {
    PARAMETERS.as_ptr()
}

unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL passes the context of `OSSL_provider_init` and an array that ends with a
        // null key. The context lives until `teardown`, and so long may a program use its texts.
        let (instance, mut requests): (&'static Provider, _) =
            unsafe { (&*context.cast_const().cast::<Provider>(), Requests::from_raw(params)) };
        requests.iter().all(|mut request| match request.name() {
            "name" => request.set_text(c"Cycloid"),
            "version" | "buildinfo" => request.set_text(&instance.version),
            "status" => request.set_number(1),
            _ => true,
        })
    })
}

/// Declares a list of algorithms.
macro_rules! algorithms {
    ($($list:ident: [$($names:literal $functions:expr, $description:literal;)*])*) => {
        $(
            static $list: Shared<[Algorithm; [$($names),*].len() + 1]> = Shared([
                $(
                    Algorithm {
                        names: $names.as_ptr(),
                        properties: c"provider=cycloid".as_ptr(),
                        implementation: $functions.as_ptr(),
                        description: $description.as_ptr(),
                    },
                )*
                Algorithm {
                    names: std::ptr::null(),
                    properties: std::ptr::null(),
                    implementation: std::ptr::null(),
                    description: std::ptr::null(),
                },
            ]);
        )*
    };
}

algorithms! {
    KEY_MANAGEMENT: [
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1" key_management::RSA, c"Cycloid RSA keys";
        c"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10" key_management::RSA_PSS, c"Cycloid RSA-PSS keys";
        c"EC:id-ecPublicKey:1.2.840.10045.2.1" key_management::EC, c"Cycloid EC keys";
        c"ED25519:1.3.101.112" key_management::ED25519, c"Cycloid Ed25519 keys";
        c"X25519:1.3.101.110" key_management::X25519, c"Cycloid X25519 keys";
    ]
    SIGNATURE: [
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1" signature::RSA, c"Cycloid RSA signatures";
        c"ECDSA" signature::ECDSA, c"Cycloid ECDSA";
        c"ED25519:1.3.101.112" signature::ED25519, c"Cycloid Ed25519";
    ]
    KEY_EXCHANGE: [
        c"ECDH" exchange::ECDH, c"Cycloid ECDH";
        c"X25519:1.3.101.110" exchange::X25519, c"Cycloid X25519";
    ]
    ASYMMETRIC_CIPHER: [
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1" cipher::RSA, c"Cycloid RSA encryption";
    ]
}

unsafe extern "C" fn query_operation(
    _: *mut c_void,
    asked: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    // SAFETY: OpenSSL passes room for the answer.
    unsafe { *no_cache = 0 };
    match asked {
        operation::KEY_MANAGEMENT => KEY_MANAGEMENT.as_ptr(),
        operation::SIGNATURE => SIGNATURE.as_ptr(),
        operation::KEY_EXCHANGE => KEY_EXCHANGE.as_ptr(),
        operation::ASYMMETRIC_CIPHER => ASYMMETRIC_CIPHER.as_ptr(),
        _ => std::ptr::null(),
    }
}

/// The caller's function for capabilities, and its argument.
struct Listener {
    callback: Callback,
    argument: *mut c_void,
}

/// Lists the TLS groups. libssl takes a group from the provider whose keys it uses, so this is the
/// part of the default provider's list that names algorithms of this module.
unsafe extern "C" fn get_capabilities(
    _: *mut c_void,
    kind: *const c_char,
    callback: Callback,
    argument: *mut c_void,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL passes a text.
        let kind = unsafe { CStr::from_ptr(kind) };
        if !kind.to_bytes().eq_ignore_ascii_case(b"TLS-GROUP") {
            return false;
        }
        let listener = Listener { callback, argument };
        let listener = (&raw const listener).cast_mut().cast();
        // SAFETY: `list_group` takes a listener, which outlives the call.
        unsafe { default::capabilities(kind, list_group, listener) }
    })
}

unsafe extern "C" fn list_group(group: *const Param, listener: *mut c_void) -> c_int {
    guarded(0, || {
        // SAFETY: the default provider passes an array that ends with a null key, and the listener
        // of `get_capabilities`.
        let (params, listener) =
            unsafe { (Params::from_raw(group), &*listener.cast::<Listener>()) };
        let algorithm = params.find("tls-group-alg").and_then(|value| value.text());
        match algorithm {
            // SAFETY: the callback takes an array, and its own argument.
            Some("EC" | "X25519") => unsafe { (listener.callback)(group, listener.argument) },
            _ => 1,
        }
    })
}

/// The texts of errors, by number.
static REASONS: Shared<[Item; Failure::ALL.len() + 1]> = Shared({
    let mut items = [const { Item { id: 0, text: std::ptr::null() } }; Failure::ALL.len() + 1];
    let mut i = 0;
    while i < Failure::ALL.len() {
        let failure = Failure::ALL[i];
        items[i] = Item { id: failure as c_uint, text: failure.text().as_ptr() };
        i += 1;
    }
    items
});

unsafe extern "C" fn reason_strings(_: *mut c_void) -> *const Item {
    REASONS.as_ptr()
}
