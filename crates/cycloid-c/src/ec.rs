//! Keys on the NIST curves.

use cycloid::scheme::ec::{self, Curve, P224, P256, P384, P521};
use cycloid::scheme::nist;

use crate::error::{CYCLOID_ERROR_CURVE, ErrorCode, Failure, Outcome, run};
use crate::memory::{output_and_length, reference, slice, slice_mut, write_within};
use crate::object::{self, Kind, Words, words};
use crate::random::{RandomSource, Source};

/// A curve: one of `CYCLOID_P256` and so on.
pub type CurveNumber = u32;

/// P-224, secp224r1.
pub const CYCLOID_P224: u32 = 1;
/// P-256, secp256r1 or prime256v1.
pub const CYCLOID_P256: u32 = 2;
/// P-384, secp384r1.
pub const CYCLOID_P384: u32 = 3;
/// P-521, secp521r1.
pub const CYCLOID_P521: u32 = 4;

/// The most bytes of a coordinate or scalar.
pub const CYCLOID_EC_MAX_BYTES: usize = 66;
/// The most bytes of an encoded point.
pub const CYCLOID_EC_MAX_POINT_BYTES: usize = 133;
/// The most bytes of a private key in a file in DER.
pub const CYCLOID_EC_MAX_PRIVATE_DER_BYTES: usize = 256;
/// The most bytes of a public key in a file in DER.
pub const CYCLOID_EC_MAX_PUBLIC_DER_BYTES: usize = 176;

/// A private key on a NIST curve, with its public key. A plain value: it may be copied and moved,
/// and each copy must be wiped.
#[repr(C)]
pub struct EcPrivateKey {
    /// The key.
    pub opaque: [u64; 32],
}

/// A public key on a NIST curve. A plain value, which may be copied and moved.
#[repr(C)]
pub struct EcPublicKey {
    /// The key.
    pub opaque: [u64; 24],
}

words! { EcPrivateKey EcPublicKey }

#[cfg(not(any(feature = "p224", feature = "p256", feature = "p384", feature = "p521")))]
compile_error!("one of the features p224, p256, p384 and p521 is needed");

/// The curves that are compiled in.
const CURVES: &[CurveNumber] = &[
    #[cfg(feature = "p224")]
    CYCLOID_P224,
    #[cfg(feature = "p256")]
    CYCLOID_P256,
    #[cfg(feature = "p384")]
    CYCLOID_P384,
    #[cfg(feature = "p521")]
    CYCLOID_P521,
];

/// The first of them.
pub(crate) const FIRST_CURVE: CurveNumber = CURVES[0];

/// A curve with a number.
pub(crate) trait Numbered: Curve {
    const NUMBER: CurveNumber;
}

macro_rules! numbered {
    ($($curve:ident $number:ident)*) => {$(
        impl Numbered for $curve {
            const NUMBER: CurveNumber = $number;
        }
    )*};
}

numbered! { P224 CYCLOID_P224 P256 CYCLOID_P256 P384 CYCLOID_P384 P521 CYCLOID_P521 }

const PRIVATE: u8 = 1;
const PUBLIC: u8 = 2;

impl<C: Numbered> Kind for ec::PrivateKey<C> {
    const TAG: u64 = object::tag(PRIVATE, C::NUMBER as u8);
}

impl<C: Numbered> Kind for ec::PublicKey<C> {
    const TAG: u64 = object::tag(PUBLIC, C::NUMBER as u8);
}

/// Evaluates an expression with `$C` as the type of the curve that a number stands for.
macro_rules! on_curve {
    ($number:expr, $C:ident => $run:expr) => {
        match $number {
            #[cfg(feature = "p224")]
            $crate::ec::CYCLOID_P224 => {
                type $C = cycloid::scheme::ec::P224;
                $run
            }
            #[cfg(feature = "p256")]
            $crate::ec::CYCLOID_P256 => {
                type $C = cycloid::scheme::ec::P256;
                $run
            }
            #[cfg(feature = "p384")]
            $crate::ec::CYCLOID_P384 => {
                type $C = cycloid::scheme::ec::P384;
                $run
            }
            #[cfg(feature = "p521")]
            $crate::ec::CYCLOID_P521 => {
                type $C = cycloid::scheme::ec::P521;
                $run
            }
            _ => Err($crate::error::Failure($crate::error::CYCLOID_ERROR_CURVE)),
        }
    };
}

pub(crate) use on_curve;

/// Returns the curve of a key: what its tag says, if it is a key of this kind.
fn curve_of(memory: &impl Words, kind: u8) -> Outcome<CurveNumber> {
    let variant = memory.tag() ^ object::tag(kind, 0);
    let curve = CURVES.iter().find(|curve| u64::from(**curve) == variant);
    curve.copied().map_or_else(object::no_key, Ok)
}

impl EcPrivateKey {
    pub(crate) fn curve(&self) -> Outcome<CurveNumber> {
        curve_of(self, PRIVATE)
    }
}

impl EcPublicKey {
    pub(crate) fn curve(&self) -> Outcome<CurveNumber> {
        curve_of(self, PUBLIC)
    }
}

/// Returns the bytes of a coordinate and of a scalar on a curve; 0 for an unknown curve.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_ec_bytes(curve: CurveNumber) -> usize {
    let bytes: Outcome<usize> = on_curve!(curve, C => Ok(<C as Curve>::BYTES));
    bytes.unwrap_or(0)
}

/// Generates a private key.
///
/// Errors: `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_generate(
    key: *mut EcPrivateKey,
    curve: CurveNumber,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            unsafe { object::make(key, || ec::PrivateKey::<C>::generate(&mut random)) }
        })
    })
}

/// Reads a private key from its scalar: big-endian, `cycloid_ec_bytes(curve)` bytes.
///
/// Errors: `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_RANGE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_from_bytes(
    key: *mut EcPrivateKey,
    curve: CurveNumber,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            unsafe { object::make(key, || ec::PrivateKey::<C>::from_bytes(bytes)) }
        })
    })
}

/// Reads a private key from a file's contents: PKCS #8 or SEC 1, in DER or in PEM. The file names
/// the curve.
///
/// Errors: `CYCLOID_ERROR_FILE`, `CYCLOID_ERROR_ENCRYPTED`, `CYCLOID_ERROR_RANGE`,
/// `CYCLOID_ERROR_CURVE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `file` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_from_file(
    key: *mut EcPrivateKey,
    file: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let file = unsafe { slice(file, length) }?;
        first_curve(|number| {
            on_curve!(number, C => {
                    // SAFETY: the caller promises it.
                    unsafe { object::make(key, || read_private::<C>(file)) }
            })
        })
    })
}

/// Reads a file for each curve, until one is not refused for its curve.
fn first_curve(read: impl FnMut(CurveNumber) -> Outcome) -> Outcome {
    let refused = Err(Failure(CYCLOID_ERROR_CURVE));
    let mut outcomes = CURVES.iter().copied().map(read);
    outcomes.find(|outcome| *outcome != refused).unwrap_or(refused)
}

/// Returns whether a file is PEM: DER starts with another byte.
pub(crate) fn is_pem(file: &[u8]) -> bool {
    file.first().is_some_and(|first| *first != 0x30)
}

fn read_private<C: Curve>(file: &[u8]) -> Result<ec::PrivateKey<C>, ec::Error> {
    if is_pem(file) { ec::PrivateKey::from_pem(file) } else { ec::PrivateKey::from_der(file) }
}

fn read_public<C: Curve>(file: &[u8]) -> Result<ec::PublicKey<C>, ec::Error> {
    if is_pem(file) {
        ec::PublicKey::from_spki_pem(file)
    } else {
        ec::PublicKey::from_spki_der(file)
    }
}

/// Writes the scalar of a private key: big-endian, exactly `cycloid_ec_bytes(curve)` bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_to_bytes(
    key: *const EcPrivateKey,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, bytes) = unsafe { (reference(key)?, slice_mut(bytes, length)?) };
        on_curve!(key.curve()?, C => {
            Ok(object::value::<ec::PrivateKey<C>>(key)?.to_bytes(bytes)?)
        })
    })
}

/// Writes a private key as PKCS #8 in DER to the start of `der`, and its length to `*length`. At
/// most `CYCLOID_EC_MAX_PRIVATE_DER_BYTES` are written.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `der` has `capacity` bytes to write, and `length` is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_to_der(
    key: *const EcPrivateKey,
    der: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, (der, length)) =
            unsafe { (reference(key)?, output_and_length(der, capacity, length)?) };
        on_curve!(key.curve()?, C => {
            *length = object::value::<ec::PrivateKey<C>>(key)?.to_pkcs8_der(der)?.len();
            Ok(())
        })
    })
}

/// Returns the curve of a private key; 0 for null and for memory that holds none.
///
/// # Safety
/// `key` is null or initialised memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_curve(key: *const EcPrivateKey) -> CurveNumber {
    // SAFETY: the caller promises it.
    unsafe { reference(key) }.and_then(EcPrivateKey::curve).unwrap_or(0)
}

/// Copies the public key out of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `public_key` memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_public(
    key: *const EcPrivateKey,
    public_key: *mut EcPublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = unsafe { reference(key) }?;
        on_curve!(key.curve()?, C => {
            let public = object::value::<ec::PrivateKey<C>>(key)?.public_key();
            // SAFETY: the caller promises it.
            unsafe { object::put(public_key, *public) }
        })
    })
}

/// Wipes a private key, or whatever the memory holds.
///
/// # Safety
/// `key` is memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_private_key_wipe(key: *mut EcPrivateKey) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { object::wipe(key) })
}

/// Reads and validates a public key: a point in the compressed or uncompressed form of SEC 1.
///
/// Errors: `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_ENCODING`, `CYCLOID_ERROR_INFINITY`,
/// `CYCLOID_ERROR_RANGE`, `CYCLOID_ERROR_NOT_ON_CURVE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `point` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_public_key_from_sec1(
    key: *mut EcPublicKey,
    curve: CurveNumber,
    point: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let point = unsafe { slice(point, length) }?;
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            unsafe { object::make(key, || ec::PublicKey::<C>::from_sec1(point)) }
        })
    })
}

/// Reads and validates a public key from a file's contents: SubjectPublicKeyInfo, in DER or in PEM.
/// The file names the curve.
///
/// Errors: `CYCLOID_ERROR_FILE`, `CYCLOID_ERROR_CURVE`, and those of
/// `cycloid_ec_public_key_from_sec1`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `file` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_public_key_from_file(
    key: *mut EcPublicKey,
    file: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let file = unsafe { slice(file, length) }?;
        first_curve(|number| {
            on_curve!(number, C => {
                    // SAFETY: the caller promises it.
                    unsafe { object::make(key, || read_public::<C>(file)) }
            })
        })
    })
}

/// Writes a public key's point in the form of SEC 1 to the start of `point`, and its length to
/// `*length`: 1 + `cycloid_ec_bytes(curve)` bytes if `compressed` is not 0, else 1 + twice as many.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `point` has `capacity` bytes to write, and `length` is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_public_key_to_sec1(
    key: *const EcPublicKey,
    compressed: core::ffi::c_int,
    point: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = unsafe { reference(key) }?;
        on_curve!(key.curve()?, C => {
            let key = object::value::<ec::PublicKey<C>>(key)?;
            let bytes = if compressed == 0 { key.to_uncompressed() } else { key.to_compressed() };
            // SAFETY: the caller promises it.
            unsafe { write_within(&bytes, point, capacity, length) }
        })
    })
}

/// Writes a public key as SubjectPublicKeyInfo in DER to the start of `der`, and its length to
/// `*length`. At most `CYCLOID_EC_MAX_PUBLIC_DER_BYTES` are written.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `der` has `capacity` bytes to write, and `length` is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_public_key_to_der(
    key: *const EcPublicKey,
    der: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, (der, length)) =
            unsafe { (reference(key)?, output_and_length(der, capacity, length)?) };
        on_curve!(key.curve()?, C => {
            *length = object::value::<ec::PublicKey<C>>(key)?.to_spki_der(der)?.len();
            Ok(())
        })
    })
}

/// Returns the curve of a public key; 0 for null and for memory that holds none.
///
/// # Safety
/// `key` is null or initialised memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_public_key_curve(key: *const EcPublicKey) -> CurveNumber {
    // SAFETY: the caller promises it.
    unsafe { reference(key) }.and_then(EcPublicKey::curve).unwrap_or(0)
}

const _: () = {
    assert!(nist::MAX_PRIVATE_KEY_DER_LENGTH <= CYCLOID_EC_MAX_PRIVATE_DER_BYTES);
    assert!(nist::MAX_PUBLIC_KEY_DER_LENGTH <= CYCLOID_EC_MAX_PUBLIC_DER_BYTES);
    assert!(size_of::<ec::PrivateKey<P521>>() < size_of::<EcPrivateKey>());
    assert!(size_of::<ec::PublicKey<P521>>() < size_of::<EcPublicKey>());
};
