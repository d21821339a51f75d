//! What goes wrong, as the codes of PKCS #11, each with a sentence for a person.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:literal $text:literal;)*) => {
        /// Why a request was refused: a return value of PKCS #11 3.0, section 5.1 (`CKR_…`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Code(pub u32);

        impl Code {
            $($(#[$doc])* #[doc = $text] pub const $name: Self = Self($value);)*

            /// What the code says to a person.
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($value => $text,)*
                    _ => "an error of another kind",
                }
            }

            const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    HOST_MEMORY = 0x2 "there is not enough memory";
    SLOT_ID_INVALID = 0x3 "there is no such slot";
    GENERAL_ERROR = 0x5 "something failed that cannot be helped from here";
    FUNCTION_FAILED = 0x6 "the function failed";
    ARGUMENTS_BAD = 0x7 "an argument makes no sense";
    ATTRIBUTE_READ_ONLY = 0x10 "an attribute cannot be set or changed";
    ATTRIBUTE_SENSITIVE = 0x11 "an attribute is never shown";
    ATTRIBUTE_TYPE_INVALID = 0x12 "an attribute does not belong to the object";
    ATTRIBUTE_VALUE_INVALID = 0x13 "an attribute has a value that it cannot have";
    ACTION_PROHIBITED = 0x1b "the object does not allow that";
    DATA_INVALID = 0x20 "the data cannot be processed";
    DATA_LEN_RANGE = 0x21 "the data has a length that cannot be processed";
    DEVICE_ERROR = 0x30 "the daemon failed";
    DEVICE_MEMORY = 0x31 "the daemon has no room for more";
    DEVICE_REMOVED = 0x32 "the daemon cannot be reached";
    ENCRYPTED_DATA_INVALID = 0x40 "the ciphertext is not sound";
    ENCRYPTED_DATA_LEN_RANGE = 0x41 "the ciphertext has a length that none has";
    FUNCTION_CANCELED = 0x50 "the request was cancelled";
    FUNCTION_NOT_SUPPORTED = 0x54 "the function is not supported";
    KEY_HANDLE_INVALID = 0x60 "there is no such key";
    KEY_SIZE_RANGE = 0x62 "the key has a size that the mechanism does not take";
    KEY_TYPE_INCONSISTENT = 0x63 "the key is of another type than the mechanism needs";
    KEY_FUNCTION_NOT_PERMITTED = 0x68 "the key may not be used for that";
    KEY_NOT_WRAPPABLE = 0x69 "the key cannot be wrapped";
    KEY_UNEXTRACTABLE = 0x6a "the key never leaves";
    MECHANISM_INVALID = 0x70 "the mechanism is not supported for that";
    MECHANISM_PARAM_INVALID = 0x71 "the mechanism has parameters that it cannot have";
    OBJECT_HANDLE_INVALID = 0x82 "there is no such object";
    OPERATION_ACTIVE = 0x90 "another operation is under way";
    OPERATION_NOT_INITIALIZED = 0x91 "no operation is under way";
    PIN_INCORRECT = 0xa0 "the PIN is wrong";
    PIN_INVALID = 0xa1 "the PIN has characters that it cannot have";
    PIN_LEN_RANGE = 0xa2 "the PIN is too short or too long";
    PIN_LOCKED = 0xa4 "there were too many wrong PINs: wait";
    SESSION_CLOSED = 0xb0 "the session was closed";
    SESSION_COUNT = 0xb1 "there are too many sessions";
    SESSION_HANDLE_INVALID = 0xb3 "there is no such session";
    SESSION_READ_ONLY = 0xb5 "the session is read-only";
    SESSION_EXISTS = 0xb6 "a session is open";
    SESSION_READ_ONLY_EXISTS = 0xb7 "a read-only session is open";
    SIGNATURE_INVALID = 0xc0 "the signature does not belong to the data";
    SIGNATURE_LEN_RANGE = 0xc1 "the signature has a length that none has";
    TEMPLATE_INCOMPLETE = 0xd0 "an attribute is missing";
    TEMPLATE_INCONSISTENT = 0xd1 "attributes contradict each other or the policy";
    TOKEN_WRITE_PROTECTED = 0xe2 "the token is read-only";
    UNWRAPPING_KEY_HANDLE_INVALID = 0xf0 "there is no such unwrapping key";
    UNWRAPPING_KEY_TYPE_INCONSISTENT = 0xf2 "the unwrapping key is of another type than the mechanism needs";
    USER_ALREADY_LOGGED_IN = 0x100 "already logged in";
    USER_NOT_LOGGED_IN = 0x101 "not logged in";
    USER_PIN_NOT_INITIALIZED = 0x102 "the user has no PIN yet";
    USER_TYPE_INVALID = 0x103 "there is no such role, or it may not do that";
    USER_ANOTHER_ALREADY_LOGGED_IN = 0x104 "another role is logged in";
    WRAPPED_KEY_INVALID = 0x110 "the wrapped key is not sound";
    WRAPPED_KEY_LEN_RANGE = 0x112 "the wrapped key has a length that none has";
    WRAPPING_KEY_HANDLE_INVALID = 0x113 "there is no such wrapping key";
    WRAPPING_KEY_TYPE_INCONSISTENT = 0x115 "the wrapping key is of another type than the mechanism needs";
    DOMAIN_PARAMS_INVALID = 0x130 "the curve is not supported";
    CURVE_NOT_SUPPORTED = 0x140 "the curve is not supported";
    BUFFER_TOO_SMALL = 0x150 "the buffer is too small";
    CRYPTOKI_NOT_INITIALIZED = 0x190 "the module is not initialised";
    PUBLIC_KEY_INVALID = 0x1b9 "the public key is not sound";
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Code({:#x})", self.0),
        }
    }
}

/// A request that was refused: its code, and where there is more to say than the code does, a
/// sentence. Nothing secret is ever in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Why.
    pub code: Code,
    /// What a person should know beyond the code; empty if nothing.
    pub detail: String,
}

/// What may be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Code {
    /// The error with this code, and more to say.
    pub fn because(self, detail: impl Into<String>) -> Error {
        Error { code: self, detail: detail.into() }
    }
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        code.because("")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.detail.is_empty() {
            f.write_str(self.code.text())
        } else {
            f.write_str(&self.detail)
        }
    }
}

impl std::error::Error for Error {}
