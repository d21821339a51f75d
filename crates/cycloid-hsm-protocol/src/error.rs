//! Errors: the return codes of PKCS #11, each with a sentence for people.

use std::fmt;

use crate::numbers::narrow;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:ident $text:literal;)*) => {
        /// The reason for a refusal: a return value of PKCS #11 3.0, section 5.1 (`CKR_…`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Code(pub u32);

        impl Code {
            $($(#[$doc])* #[doc = $text] pub const $name: Self = Self(narrow(cryptoki_sys::$value));)*

            /// Returns the code's sentence for people.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                    _ => "unknown error",
                }
            }

            const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    HOST_MEMORY = CKR_HOST_MEMORY "out of memory";
    SLOT_ID_INVALID = CKR_SLOT_ID_INVALID "no such slot";
    GENERAL_ERROR = CKR_GENERAL_ERROR "general error";
    FUNCTION_FAILED = CKR_FUNCTION_FAILED "the function failed";
    ARGUMENTS_BAD = CKR_ARGUMENTS_BAD "invalid argument";
    ATTRIBUTE_READ_ONLY = CKR_ATTRIBUTE_READ_ONLY "the attribute is read-only";
    ATTRIBUTE_SENSITIVE = CKR_ATTRIBUTE_SENSITIVE "the attribute is sensitive and cannot be read";
    ATTRIBUTE_TYPE_INVALID = CKR_ATTRIBUTE_TYPE_INVALID "the object has no such attribute";
    ATTRIBUTE_VALUE_INVALID = CKR_ATTRIBUTE_VALUE_INVALID "invalid attribute value";
    ACTION_PROHIBITED = CKR_ACTION_PROHIBITED "the object does not allow this action";
    DATA_INVALID = CKR_DATA_INVALID "invalid data";
    DATA_LEN_RANGE = CKR_DATA_LEN_RANGE "invalid data length";
    DEVICE_ERROR = CKR_DEVICE_ERROR "the daemon failed";
    DEVICE_MEMORY = CKR_DEVICE_MEMORY "the daemon is out of memory or other resources";
    DEVICE_REMOVED = CKR_DEVICE_REMOVED "the daemon cannot be reached";
    ENCRYPTED_DATA_INVALID = CKR_ENCRYPTED_DATA_INVALID "invalid ciphertext";
    ENCRYPTED_DATA_LEN_RANGE = CKR_ENCRYPTED_DATA_LEN_RANGE "invalid ciphertext length";
    FUNCTION_CANCELED = CKR_FUNCTION_CANCELED "the request was cancelled";
    FUNCTION_NOT_SUPPORTED = CKR_FUNCTION_NOT_SUPPORTED "the function is not supported";
    KEY_HANDLE_INVALID = CKR_KEY_HANDLE_INVALID "no such key";
    KEY_SIZE_RANGE = CKR_KEY_SIZE_RANGE "the mechanism does not support this key size";
    KEY_TYPE_INCONSISTENT = CKR_KEY_TYPE_INCONSISTENT "the key's type does not suit the mechanism";
    KEY_FUNCTION_NOT_PERMITTED = CKR_KEY_FUNCTION_NOT_PERMITTED "the key does not permit this use";
    KEY_NOT_WRAPPABLE = CKR_KEY_NOT_WRAPPABLE "the key cannot be wrapped";
    KEY_UNEXTRACTABLE = CKR_KEY_UNEXTRACTABLE "the key is not extractable";
    MECHANISM_INVALID = CKR_MECHANISM_INVALID "the mechanism is not supported for this use";
    MECHANISM_PARAM_INVALID = CKR_MECHANISM_PARAM_INVALID "invalid mechanism parameters";
    OBJECT_HANDLE_INVALID = CKR_OBJECT_HANDLE_INVALID "no such object";
    OPERATION_ACTIVE = CKR_OPERATION_ACTIVE "another operation is active";
    OPERATION_NOT_INITIALIZED = CKR_OPERATION_NOT_INITIALIZED "no operation is active";
    PIN_INCORRECT = CKR_PIN_INCORRECT "the PIN is wrong";
    PIN_INVALID = CKR_PIN_INVALID "the PIN has invalid characters";
    PIN_LEN_RANGE = CKR_PIN_LEN_RANGE "the PIN is too short or too long";
    PIN_LOCKED = CKR_PIN_LOCKED "too many wrong PINs; wait before the next attempt";
    SESSION_CLOSED = CKR_SESSION_CLOSED "the session is closed";
    SESSION_COUNT = CKR_SESSION_COUNT "too many sessions";
    SESSION_HANDLE_INVALID = CKR_SESSION_HANDLE_INVALID "no such session";
    SESSION_READ_ONLY = CKR_SESSION_READ_ONLY "the session is read-only";
    SESSION_EXISTS = CKR_SESSION_EXISTS "a session is open";
    SESSION_READ_ONLY_EXISTS = CKR_SESSION_READ_ONLY_EXISTS "a read-only session is open";
    SIGNATURE_INVALID = CKR_SIGNATURE_INVALID "invalid signature";
    SIGNATURE_LEN_RANGE = CKR_SIGNATURE_LEN_RANGE "invalid signature length";
    TEMPLATE_INCOMPLETE = CKR_TEMPLATE_INCOMPLETE "a required attribute is missing";
    TEMPLATE_INCONSISTENT = CKR_TEMPLATE_INCONSISTENT "the attributes contradict each other or the policy";
    TOKEN_NOT_RECOGNIZED = CKR_TOKEN_NOT_RECOGNIZED "the daemon speaks another version of the protocol";
    TOKEN_WRITE_PROTECTED = CKR_TOKEN_WRITE_PROTECTED "the token is read-only";
    UNWRAPPING_KEY_HANDLE_INVALID = CKR_UNWRAPPING_KEY_HANDLE_INVALID "no such unwrapping key";
    UNWRAPPING_KEY_TYPE_INCONSISTENT = CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT "the unwrapping key's type does not suit the mechanism";
    USER_ALREADY_LOGGED_IN = CKR_USER_ALREADY_LOGGED_IN "already logged in";
    USER_NOT_LOGGED_IN = CKR_USER_NOT_LOGGED_IN "not logged in";
    USER_PIN_NOT_INITIALIZED = CKR_USER_PIN_NOT_INITIALIZED "the user has no PIN yet";
    USER_TYPE_INVALID = CKR_USER_TYPE_INVALID "no such role, or the role does not permit this";
    USER_ANOTHER_ALREADY_LOGGED_IN = CKR_USER_ANOTHER_ALREADY_LOGGED_IN "another role is logged in";
    WRAPPED_KEY_INVALID = CKR_WRAPPED_KEY_INVALID "invalid wrapped key";
    WRAPPED_KEY_LEN_RANGE = CKR_WRAPPED_KEY_LEN_RANGE "invalid length of the wrapped key";
    WRAPPING_KEY_HANDLE_INVALID = CKR_WRAPPING_KEY_HANDLE_INVALID "no such wrapping key";
    WRAPPING_KEY_TYPE_INCONSISTENT = CKR_WRAPPING_KEY_TYPE_INCONSISTENT "the wrapping key's type does not suit the mechanism";
    DOMAIN_PARAMS_INVALID = CKR_DOMAIN_PARAMS_INVALID "the curve is not supported";
    CURVE_NOT_SUPPORTED = CKR_CURVE_NOT_SUPPORTED "the curve is not supported";
    BUFFER_TOO_SMALL = CKR_BUFFER_TOO_SMALL "the buffer is too small";
    CRYPTOKI_NOT_INITIALIZED = CKR_CRYPTOKI_NOT_INITIALIZED "the module is not initialised";
    PUBLIC_KEY_INVALID = CKR_PUBLIC_KEY_INVALID "invalid public key";
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
