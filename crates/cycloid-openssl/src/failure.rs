//! Why an operation failed, as errors in OpenSSL's queue.

use std::ffi::CStr;

/// Declares the failures with their numbers and texts.
macro_rules! failures {
    ($($name:ident = $number:literal $text:literal;)*) => {
        /// The reason of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub(crate) enum Failure {
            $(#[doc = concat!("\"", stringify!($text), "\"")] $name = $number,)*
        }

        impl Failure {
            /// All reasons.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the text that OpenSSL prints.
            pub(crate) const fn text(self) -> &'static CStr {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

failures! {
    NoKey = 1 c"no key set";
    NoPrivateKey = 2 c"not a private key";
    NotInitialised = 3 c"operation not initialised";
    OutputTooSmall = 4 c"output buffer too small";
    DigestLength = 5 c"invalid digest length";
    Signing = 6 c"signing failed";
    Signature = 7 c"invalid signature";
    NoPeer = 8 c"no peer key set";
    Peer = 9 c"invalid peer key";
    Derivation = 10 c"key agreement failed";
    Encryption = 11 c"encryption failed";
    Decryption = 12 c"decryption failed";
    Randomness = 13 c"the system provides no random numbers";
    Generation = 14 c"key generation failed";
    NoDefault = 15 c"neither Cycloid nor OpenSSL's default provider does this";
    Input = 16 c"invalid address or length of the input";
    DigestFixed = 17 c"the digest cannot change within an operation";
}

/// A failure and its details, if the library gave any.
pub(crate) struct Error {
    pub(crate) failure: Failure,
    pub(crate) details: String,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self { failure, details: String::new() }
    }
}

impl Failure {
    /// Returns the failure with the library's own description.
    pub(crate) fn because(self, error: impl std::fmt::Display) -> Error {
        Error { failure: self, details: error.to_string() }
    }
}
