//! Errors: the return codes of PKCS #11, each with a sentence for people.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:literal $text:literal;)*) => {
        /// The reason for a refusal: a return value of PKCS #11 3.0, section 5.1 (`CKR_…`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Code(pub u32);

        impl Code {
            $($(#[$doc])* #[doc = $text] pub const $name: Self = Self($value);)*

            /// Returns the code's sentence for people.
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($value => $text,)*
                    _ => "unknown error",
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
    HOST_MEMORY = 0x2 "out of memory";
    SLOT_ID_INVALID = 0x3 "no such slot";
    GENERAL_ERROR = 0x5 "general error";
    FUNCTION_FAILED = 0x6 "the function failed";
    ARGUMENTS_BAD = 0x7 "invalid argument";
    ATTRIBUTE_READ_ONLY = 0x10 "the attribute is read-only";
    ATTRIBUTE_SENSITIVE = 0x11 "the attribute is sensitive and cannot be read";
    ATTRIBUTE_TYPE_INVALID = 0x12 "the object has no such attribute";
    ATTRIBUTE_VALUE_INVALID = 0x13 "invalid attribute value";
    ACTION_PROHIBITED = 0x1b "the object does not allow this action";
    DATA_INVALID = 0x20 "invalid data";
    DATA_LEN_RANGE = 0x21 "invalid data length";
    DEVICE_ERROR = 0x30 "the daemon failed";
    DEVICE_MEMORY = 0x31 "the daemon is out of memory or other resources";
    DEVICE_REMOVED = 0x32 "the daemon cannot be reached";
    ENCRYPTED_DATA_INVALID = 0x40 "invalid ciphertext";
    ENCRYPTED_DATA_LEN_RANGE = 0x41 "invalid ciphertext length";
    FUNCTION_CANCELED = 0x50 "the request was cancelled";
    FUNCTION_NOT_SUPPORTED = 0x54 "the function is not supported";
    KEY_HANDLE_INVALID = 0x60 "no such key";
    KEY_SIZE_RANGE = 0x62 "the mechanism does not support this key size";
    KEY_TYPE_INCONSISTENT = 0x63 "the key's type does not suit the mechanism";
    KEY_FUNCTION_NOT_PERMITTED = 0x68 "the key does not permit this use";
    KEY_NOT_WRAPPABLE = 0x69 "the key cannot be wrapped";
    KEY_UNEXTRACTABLE = 0x6a "the key is not extractable";
    MECHANISM_INVALID = 0x70 "the mechanism is not supported for this use";
    MECHANISM_PARAM_INVALID = 0x71 "invalid mechanism parameters";
    OBJECT_HANDLE_INVALID = 0x82 "no such object";
    OPERATION_ACTIVE = 0x90 "another operation is active";
    OPERATION_NOT_INITIALIZED = 0x91 "no operation is active";
    PIN_INCORRECT = 0xa0 "the PIN is wrong";
    PIN_INVALID = 0xa1 "the PIN has invalid characters";
    PIN_LEN_RANGE = 0xa2 "the PIN is too short or too long";
    PIN_LOCKED = 0xa4 "too many wrong PINs; wait before the next attempt";
    SESSION_CLOSED = 0xb0 "the session is closed";
    SESSION_COUNT = 0xb1 "too many sessions";
    SESSION_HANDLE_INVALID = 0xb3 "no such session";
    SESSION_READ_ONLY = 0xb5 "the session is read-only";
    SESSION_EXISTS = 0xb6 "a session is open";
    SESSION_READ_ONLY_EXISTS = 0xb7 "a read-only session is open";
    SIGNATURE_INVALID = 0xc0 "invalid signature";
    SIGNATURE_LEN_RANGE = 0xc1 "invalid signature length";
    TEMPLATE_INCOMPLETE = 0xd0 "a required attribute is missing";
    TEMPLATE_INCONSISTENT = 0xd1 "the attributes contradict each other or the policy";
    TOKEN_WRITE_PROTECTED = 0xe2 "the token is read-only";
    UNWRAPPING_KEY_HANDLE_INVALID = 0xf0 "no such unwrapping key";
    UNWRAPPING_KEY_TYPE_INCONSISTENT = 0xf2 "the unwrapping key's type does not suit the mechanism";
    USER_ALREADY_LOGGED_IN = 0x100 "already logged in";
    USER_NOT_LOGGED_IN = 0x101 "not logged in";
    USER_PIN_NOT_INITIALIZED = 0x102 "the user has no PIN yet";
    USER_TYPE_INVALID = 0x103 "no such role, or the role does not permit this";
    USER_ANOTHER_ALREADY_LOGGED_IN = 0x104 "another role is logged in";
    WRAPPED_KEY_INVALID = 0x110 "invalid wrapped key";
    WRAPPED_KEY_LEN_RANGE = 0x112 "invalid length of the wrapped key";
    WRAPPING_KEY_HANDLE_INVALID = 0x113 "no such wrapping key";
    WRAPPING_KEY_TYPE_INCONSISTENT = 0x115 "the wrapping key's type does not suit the mechanism";
    DOMAIN_PARAMS_INVALID = 0x130 "the curve is not supported";
    CURVE_NOT_SUPPORTED = 0x140 "the curve is not supported";
    BUFFER_TOO_SMALL = 0x150 "the buffer is too small";
    CRYPTOKI_NOT_INITIALIZED = 0x190 "the module is not initialised";
    PUBLIC_KEY_INVALID = 0x1b9 "invalid public key";
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Code({:#x})", self.0),
        }
    }
}

/// A refused request: a code, and a sentence if there is more to say. It never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The reason.
    pub code: Code,
    /// Details beyond the code's own sentence, for people; may be empty.
    pub detail: String,
}

/// The result of an operation that may be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Code {
    /// Returns the error with this code and a detail.
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
