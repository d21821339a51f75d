//! Error codes, their texts, and the boundary that no panic crosses.

use core::ffi::{c_char, c_int};
#[cfg(not(target_os = "none"))]
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "bls12-381")]
use cycloid::bls12_381;
use cycloid::scheme::{FormatError, dh, ec, ed25519, rsa, x25519};

/// The outcome of a function: `CYCLOID_OK`, or the code of an error.
pub type ErrorCode = c_int;

/// Success.
pub const CYCLOID_OK: c_int = 0;
/// A pointer that the function needs is null.
pub const CYCLOID_ERROR_NULL: c_int = 1;
/// A key, a context or scratch memory is not aligned to 8 bytes.
pub const CYCLOID_ERROR_ALIGNMENT: c_int = 2;
/// An input or an output of fixed length has another length.
pub const CYCLOID_ERROR_LENGTH: c_int = 3;
/// The output is too small for the result.
pub const CYCLOID_ERROR_OUTPUT_TOO_SMALL: c_int = 4;
/// The memory for a key, a context or the scratch is too small.
pub const CYCLOID_ERROR_MEMORY_TOO_SMALL: c_int = 5;
/// The memory does not hold a key or context of this kind: it was never made, has been wiped, is
/// of another kind, or was moved although it must stay where it was made.
pub const CYCLOID_ERROR_KEY: c_int = 6;
/// The curve is unknown, or two keys are on different curves.
pub const CYCLOID_ERROR_CURVE: c_int = 7;
/// The hash function is unknown, or the scheme does not use it.
pub const CYCLOID_ERROR_HASH: c_int = 8;
/// The random generator fails or repeats itself.
pub const CYCLOID_ERROR_RANDOM: c_int = 9;
/// A number is out of range: a private key, a scalar, a nonce, r or s, a public value.
pub const CYCLOID_ERROR_RANGE: c_int = 10;
/// The encoding of a point or of a signature is malformed.
pub const CYCLOID_ERROR_ENCODING: c_int = 11;
/// The point is not on the curve.
pub const CYCLOID_ERROR_NOT_ON_CURVE: c_int = 12;
/// The point is infinity.
pub const CYCLOID_ERROR_INFINITY: c_int = 13;
/// The file is not a key of this kind, in DER or in PEM.
pub const CYCLOID_ERROR_FILE: c_int = 14;
/// The file is encrypted.
pub const CYCLOID_ERROR_ENCRYPTED: c_int = 15;
/// The signature is not valid for this message and key.
pub const CYCLOID_ERROR_VERIFICATION: c_int = 16;
/// The ciphertext is not valid for this key and these parameters.
pub const CYCLOID_ERROR_DECRYPTION: c_int = 17;
/// A result failed its check, a hardware fault. Nothing was released.
pub const CYCLOID_ERROR_FAULT: c_int = 18;
/// The message is too long for the key and the padding.
pub const CYCLOID_ERROR_MESSAGE_TOO_LONG: c_int = 19;
/// The numbers are not an RSA key, or keys of this length are not supported.
pub const CYCLOID_ERROR_NUMBERS: c_int = 20;
/// The peer's key has a small order, so the shared secret would be known.
pub const CYCLOID_ERROR_SMALL_ORDER: c_int = 21;
/// A selector has no such value.
pub const CYCLOID_ERROR_PARAMETER: c_int = 22;
/// The key is restricted to other operations or parameters.
pub const CYCLOID_ERROR_RESTRICTED: c_int = 23;
/// The point is not in the group.
pub const CYCLOID_ERROR_NOT_IN_GROUP: c_int = 24;
/// A list is empty, or two messages are equal where the scheme forbids it.
pub const CYCLOID_ERROR_LIST: c_int = 25;
/// The job has not been run.
pub const CYCLOID_ERROR_NOT_DONE: c_int = 26;
/// An output or scratch overlaps another argument.
pub const CYCLOID_ERROR_OVERLAP: c_int = 27;
/// A defect of the library.
pub const CYCLOID_ERROR_INTERNAL: c_int = 28;

/// Returns the text of an error code: a static string that is never null.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_error_text(error: ErrorCode) -> *const c_char {
    let text = match error {
        CYCLOID_OK => c"success",
        CYCLOID_ERROR_NULL => c"a required pointer is null",
        CYCLOID_ERROR_ALIGNMENT => {
            c"memory for a key, a context or scratch is not aligned to 8 bytes"
        }
        CYCLOID_ERROR_LENGTH => c"wrong length of an input or output",
        CYCLOID_ERROR_OUTPUT_TOO_SMALL => c"the output is too small",
        CYCLOID_ERROR_MEMORY_TOO_SMALL => {
            c"the memory for a key, a context or scratch is too small"
        }
        CYCLOID_ERROR_KEY => c"the memory holds no key or context of this kind",
        CYCLOID_ERROR_CURVE => c"unknown or different curve",
        CYCLOID_ERROR_HASH => c"unknown or unsuitable hash function",
        CYCLOID_ERROR_RANDOM => c"the random generator fails or repeats itself",
        CYCLOID_ERROR_RANGE => c"a number is out of range",
        CYCLOID_ERROR_ENCODING => c"malformed point or signature",
        CYCLOID_ERROR_NOT_ON_CURVE => c"the point is not on the curve",
        CYCLOID_ERROR_INFINITY => c"the point is infinity",
        CYCLOID_ERROR_FILE => c"the file is not a key of this kind",
        CYCLOID_ERROR_ENCRYPTED => c"the file is encrypted",
        CYCLOID_ERROR_VERIFICATION => c"the signature is invalid",
        CYCLOID_ERROR_DECRYPTION => c"the ciphertext is invalid",
        CYCLOID_ERROR_FAULT => c"the result failed its check; nothing was released",
        CYCLOID_ERROR_MESSAGE_TOO_LONG => c"the message is too long for the key",
        CYCLOID_ERROR_NUMBERS => c"the numbers are not a supported RSA key",
        CYCLOID_ERROR_SMALL_ORDER => c"the peer's key has a small order",
        CYCLOID_ERROR_PARAMETER => c"unknown parameter",
        CYCLOID_ERROR_RESTRICTED => c"the key is restricted to other operations",
        CYCLOID_ERROR_NOT_IN_GROUP => c"the point is not in the group",
        CYCLOID_ERROR_LIST => c"an empty list, or equal messages",
        CYCLOID_ERROR_NOT_DONE => c"the job has not been run",
        CYCLOID_ERROR_OVERLAP => c"an output overlaps another argument",
        CYCLOID_ERROR_INTERNAL => c"a defect of the library",
        _ => c"unknown error",
    };
    text.as_ptr()
}

/// The code of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) ErrorCode);

/// The result of the work of a function, before it becomes a code.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Runs a function's work and returns its code. A panic becomes `CYCLOID_ERROR_INTERNAL`.
#[cfg(not(target_os = "none"))]
#[inline]
pub(crate) fn run(work: impl FnOnce() -> Outcome) -> ErrorCode {
    // No value of the caller's outlives a panic half written: keys are tagged last.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => code(outcome),
        Err(_) => CYCLOID_ERROR_INTERNAL,
    }
}

/// Runs a function's work and returns its code. A panic does not return.
#[cfg(target_os = "none")]
#[inline]
pub(crate) fn run(work: impl FnOnce() -> Outcome) -> ErrorCode {
    code(work())
}

/// Returns the code of an outcome.
pub(crate) fn code<E: Into<Failure>>(outcome: Result<(), E>) -> ErrorCode {
    match outcome {
        Ok(()) => CYCLOID_OK,
        Err(failure) => failure.into().0,
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self(match error {
            FormatError::Encrypted => CYCLOID_ERROR_ENCRYPTED,
            FormatError::OtherCurve => CYCLOID_ERROR_CURVE,
            FormatError::OutputTooSmall { .. } => CYCLOID_ERROR_OUTPUT_TOO_SMALL,
            _ => CYCLOID_ERROR_FILE,
        })
    }
}

impl From<ec::Error> for Failure {
    fn from(error: ec::Error) -> Self {
        Self(match error {
            ec::Error::Format(format) => return format.into(),
            ec::Error::PrivateKeyRange
            | ec::Error::ScalarRange
            | ec::Error::CoordinateRange
            | ec::Error::SignatureRange => CYCLOID_ERROR_RANGE,
            ec::Error::Length { .. } => CYCLOID_ERROR_LENGTH,
            ec::Error::PointFormat | ec::Error::SignatureFormat => CYCLOID_ERROR_ENCODING,
            ec::Error::PointAtInfinity => CYCLOID_ERROR_INFINITY,
            ec::Error::NotOnCurve => CYCLOID_ERROR_NOT_ON_CURVE,
            ec::Error::OtherCurve => CYCLOID_ERROR_CURVE,
            ec::Error::MemoryTooSmall { .. } => CYCLOID_ERROR_MEMORY_TOO_SMALL,
            ec::Error::Verification => CYCLOID_ERROR_VERIFICATION,
            ec::Error::Fault => CYCLOID_ERROR_FAULT,
            ec::Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            ec::Error::NotDone => CYCLOID_ERROR_NOT_DONE,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}

impl From<ed25519::Error> for Failure {
    fn from(error: ed25519::Error) -> Self {
        Self(match error {
            ed25519::Error::Format(format) => return format.into(),
            ed25519::Error::PublicKey => CYCLOID_ERROR_NOT_ON_CURVE,
            ed25519::Error::WeakPublicKey => CYCLOID_ERROR_SMALL_ORDER,
            ed25519::Error::Signature => CYCLOID_ERROR_VERIFICATION,
            ed25519::Error::ContextTooLong | ed25519::Error::DigestLength => CYCLOID_ERROR_LENGTH,
            ed25519::Error::Fault => CYCLOID_ERROR_FAULT,
            ed25519::Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            ed25519::Error::NotDone => CYCLOID_ERROR_NOT_DONE,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}

impl From<x25519::Error> for Failure {
    fn from(error: x25519::Error) -> Self {
        Self(match error {
            x25519::Error::Format(format) => return format.into(),
            x25519::Error::SharedSecret => CYCLOID_ERROR_SMALL_ORDER,
            x25519::Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            x25519::Error::NotDone => CYCLOID_ERROR_NOT_DONE,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}

impl From<rsa::Error> for Failure {
    fn from(error: rsa::Error) -> Self {
        use rsa::Error;
        Self(match error {
            Error::Format(format) => return format.into(),
            Error::Key(_) | Error::GeneratedLength { .. } | Error::ModulusTooShort => {
                CYCLOID_ERROR_NUMBERS
            }
            Error::MemoryTooSmall { .. } => CYCLOID_ERROR_MEMORY_TOO_SMALL,
            Error::Length { .. } | Error::DigestLength | Error::KeyLength { .. } => {
                CYCLOID_ERROR_LENGTH
            }
            Error::OutputTooSmall { .. } => CYCLOID_ERROR_OUTPUT_TOO_SMALL,
            Error::PssParameters => CYCLOID_ERROR_FILE,
            Error::Restricted | Error::RestrictedPss { .. } => CYCLOID_ERROR_RESTRICTED,
            Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            Error::HashRetired | Error::HashUnsuitable => CYCLOID_ERROR_HASH,
            Error::SaltTooLong | Error::MessageTooLong { .. } => CYCLOID_ERROR_MESSAGE_TOO_LONG,
            Error::NotDone => CYCLOID_ERROR_NOT_DONE,
            Error::OutOfRange => CYCLOID_ERROR_RANGE,
            Error::Signature => CYCLOID_ERROR_VERIFICATION,
            Error::Decryption => CYCLOID_ERROR_DECRYPTION,
            Error::Fault => CYCLOID_ERROR_FAULT,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}

impl From<dh::Error> for Failure {
    fn from(error: dh::Error) -> Self {
        use dh::Error;
        Self(match error {
            Error::ModulusLength { .. }
            | Error::NotPrime
            | Error::NotSafePrime
            | Error::Order
            | Error::Generator => CYCLOID_ERROR_NUMBERS,
            Error::OtherGroup => CYCLOID_ERROR_KEY,
            Error::PrivateExponent | Error::PublicRange => CYCLOID_ERROR_RANGE,
            Error::PublicSubgroup => CYCLOID_ERROR_NOT_IN_GROUP,
            Error::SharedSecret => CYCLOID_ERROR_SMALL_ORDER,
            Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            Error::NotDone => CYCLOID_ERROR_NOT_DONE,
            Error::Length { .. } => CYCLOID_ERROR_LENGTH,
            Error::MemoryTooSmall { .. } => CYCLOID_ERROR_MEMORY_TOO_SMALL,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}

#[cfg(feature = "bls12-381")]
impl From<bls12_381::Error> for Failure {
    fn from(error: bls12_381::Error) -> Self {
        use bls12_381::Error;
        Self(match error {
            Error::Length { .. } => CYCLOID_ERROR_LENGTH,
            Error::Flags => CYCLOID_ERROR_ENCODING,
            Error::NotCanonical | Error::ZeroKey | Error::Zero => CYCLOID_ERROR_RANGE,
            Error::NotOnCurve => CYCLOID_ERROR_NOT_ON_CURVE,
            Error::NotInGroup => CYCLOID_ERROR_NOT_IN_GROUP,
            Error::Infinity => CYCLOID_ERROR_INFINITY,
            Error::KeyMaterialTooShort | Error::Counts { .. } => CYCLOID_ERROR_LENGTH,
            Error::Empty | Error::SameMessage => CYCLOID_ERROR_LIST,
            Error::ScratchTooSmall { .. } => CYCLOID_ERROR_MEMORY_TOO_SMALL,
            Error::Verification => CYCLOID_ERROR_VERIFICATION,
            Error::Fault => CYCLOID_ERROR_FAULT,
            Error::RandomGenerator => CYCLOID_ERROR_RANDOM,
            _ => CYCLOID_ERROR_INTERNAL,
        })
    }
}
