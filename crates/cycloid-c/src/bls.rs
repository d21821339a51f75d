//! BLS12-381: signatures with public keys in G1 (48 bytes) and signatures in G2 (96 bytes), as
//! Ethereum has them, and points, multiples and pairings on encoded points.

use core::ffi::c_void;

use cycloid::bls12_381::signature::{self, MinPk, PublicKey, Scheme, SecretKey, Signature};
use cycloid::bls12_381::{Cycloid, Fr, G1, G1Affine, G2, G2Affine, pairing_check};

use crate::error::{
    CYCLOID_ERROR_LIST, CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_PARAMETER,
    CYCLOID_ERROR_VERIFICATION, ErrorCode, Failure, Outcome, run,
};
use crate::memory::{reference, slice, write_exactly};
use crate::object::{self, Kind, words};
use crate::random::{RandomSource, Source};
use crate::sized::scratch_limbs;

/// The bytes of a private key.
pub const CYCLOID_BLS_PRIVATE_KEY_BYTES: usize = 32;
/// The bytes of a public key, and of a compressed point of G1.
pub const CYCLOID_BLS_PUBLIC_KEY_BYTES: usize = 48;
/// The bytes of a signature, and of a compressed point of G2.
pub const CYCLOID_BLS_SIGNATURE_BYTES: usize = 96;

/// The scheme whose messages differ (basic).
pub const CYCLOID_BLS_BASIC: u32 = 0;
/// The scheme that signs the public key with the message (message augmentation).
pub const CYCLOID_BLS_AUGMENTATION: u32 = 1;
/// The scheme whose keys come with a proof of possession, such as Ethereum's.
pub const CYCLOID_BLS_POSSESSION: u32 = 2;

/// A private key. A plain value: it may be copied and moved, and each copy must be wiped.
#[repr(C)]
pub struct BlsPrivateKey {
    /// The key.
    pub opaque: [u64; 8],
}

/// A public key, in the group and not infinity. A plain value, which may be copied and moved.
#[repr(C)]
pub struct BlsPublicKey {
    /// The key.
    pub opaque: [u64; 20],
}

/// A signature, in the group. A plain value, which may be copied and moved.
#[repr(C)]
pub struct BlsSignature {
    /// The signature.
    pub opaque: [u64; 40],
}

/// A message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    /// Its bytes.
    pub bytes: *const u8,
    /// Their number.
    pub length: usize,
}

words! { BlsPrivateKey BlsPublicKey BlsSignature }

type Private = SecretKey<Cycloid, MinPk>;
type Public = PublicKey<Cycloid, MinPk>;
type Signed = Signature<Cycloid, MinPk>;

impl Kind for Private {
    const TAG: u64 = object::tag(10, 1);
}

impl Kind for Public {
    const TAG: u64 = object::tag(11, 1);
}

impl Kind for Signed {
    const TAG: u64 = object::tag(12, 1);
}

const _: () = {
    assert!(size_of::<Private>() < size_of::<BlsPrivateKey>());
    assert!(size_of::<Public>() < size_of::<BlsPublicKey>());
    assert!(size_of::<Signed>() < size_of::<BlsSignature>());
};

fn scheme_of(number: u32) -> Outcome<Scheme> {
    Ok(match number {
        CYCLOID_BLS_BASIC => Scheme::Basic,
        CYCLOID_BLS_AUGMENTATION => Scheme::MessageAugmentation,
        CYCLOID_BLS_POSSESSION => Scheme::ProofOfPossession,
        _ => return Err(Failure(CYCLOID_ERROR_PARAMETER)),
    })
}

/// Generates a private key.
///
/// Errors: `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_generate(
    key: *mut BlsPrivateKey,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::generate(&mut random)) }
    })
}

/// Derives a private key from secret key material of at least 32 bytes (`KeyGen` of the IETF's
/// draft).
///
/// Errors: `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `material` has `material_length` bytes,
/// and `info` `info_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_derive(
    key: *mut BlsPrivateKey,
    material: *const u8,
    material_length: usize,
    info: *const u8,
    info_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (material, info) =
            unsafe { (slice(material, material_length)?, slice(info, info_length)?) };
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::key_gen(material, info)) }
    })
}

/// Reads a private key: 32 big-endian bytes.
///
/// Errors: `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_RANGE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_from_bytes(
    key: *mut BlsPrivateKey,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::from_bytes(bytes)) }
    })
}

/// Writes a private key: exactly 32 big-endian bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_to_bytes(
    key: *const BlsPrivateKey,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        let scalar = zeroize::Zeroizing::new(key.to_bytes());
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&*scalar, bytes, length) }
    })
}

/// Computes the public key of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `public_key` memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_public(
    key: *const BlsPrivateKey,
    public_key: *mut BlsPublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(public_key, || Ok::<_, Failure>(key.public_key())) }
    })
}

/// Wipes a private key, or whatever the memory holds.
///
/// # Safety
/// `key` is memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_wipe(key: *mut BlsPrivateKey) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { object::wipe(key) })
}

/// Reads a public key, compressed or not, and checks that it is in the group and not infinity.
///
/// Errors: `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_ENCODING`, `CYCLOID_ERROR_RANGE`,
/// `CYCLOID_ERROR_NOT_ON_CURVE`, `CYCLOID_ERROR_NOT_IN_GROUP`, `CYCLOID_ERROR_INFINITY`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_public_key_from_bytes(
    key: *mut BlsPublicKey,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Public::from_bytes(bytes)) }
    })
}

/// Writes a public key, compressed: exactly 48 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_public_key_to_bytes(
    key: *const BlsPublicKey,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Public>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&key.to_bytes(), bytes, length) }
    })
}

/// Reads a signature, compressed or not, and checks that it is in the group.
///
/// Errors: as for `cycloid_bls_public_key_from_bytes`, except for infinity.
///
/// # Safety
/// `signature` is memory for a signature, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_signature_from_bytes(
    signature: *mut BlsSignature,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(signature, || Signed::from_bytes(bytes)) }
    })
}

/// Writes a signature, compressed: exactly 96 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `signature` is a signature. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_signature_to_bytes(
    signature: *const BlsSignature,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let signature = object::value::<Signed>(unsafe { reference(signature) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&signature.to_bytes(), bytes, length) }
    })
}

/// Signs a message. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER` for an unknown scheme.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes. `signature` is memory for a signature, which
/// need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_sign(
    key: *const BlsPrivateKey,
    scheme: u32,
    message: *const u8,
    message_length: usize,
    signature: *mut BlsSignature,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (key, message) = unsafe { (reference(key)?, slice(message, message_length)?) };
        let key = object::value::<Private>(key)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(signature, || Ok::<_, Failure>(key.sign(scheme, message))) }
    })
}

/// Verifies a signature of a message. Time depends on the arguments, which are public.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER`.
///
/// # Safety
/// `key` is a key, and `signature` a signature. `message` has `message_length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_verify(
    key: *const BlsPublicKey,
    scheme: u32,
    message: *const u8,
    message_length: usize,
    signature: *const BlsSignature,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (key, message, signature) =
            unsafe { (reference(key)?, slice(message, message_length)?, reference(signature)?) };
        let key = object::value::<Public>(key)?;
        Ok(key.verify(scheme, message, object::value::<Signed>(signature)?)?)
    })
}

/// Proves possession of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key. `proof` is memory for a signature, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_prove_possession(
    key: *const BlsPrivateKey,
    proof: *mut BlsSignature,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(proof, || Ok::<_, Failure>(key.prove_possession())) }
    })
}

/// Verifies a proof of possession.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `proof` a signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_verify_possession(
    key: *const BlsPublicKey,
    proof: *const BlsSignature,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, proof) = unsafe { (reference(key)?, reference(proof)?) };
        let key = object::value::<Public>(key)?;
        Ok(key.verify_possession(object::value::<Signed>(proof)?)?)
    })
}

/// Returns the bytes of scratch for a list of `count` keys, signatures, messages or pairs of points;
/// 0 for more than can be.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_bls_scratch_size(count: usize) -> usize {
    let each = size_of::<Public>() + size_of::<Signed>() + size_of::<&[u8]>();
    count.checked_mul(each).filter(|bytes| *bytes <= isize::MAX as usize).unwrap_or(0)
}

/// Scratch, from which lists are cut.
struct Room<'a>(&'a mut [u64]);

impl<'a> Room<'a> {
    /// Makes a list of values in the scratch.
    fn list<T: Copy>(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> Outcome<T>,
    ) -> Outcome<&'a [T]> {
        const { assert!(align_of::<T>() <= align_of::<u64>()) };
        let words = count.checked_mul(size_of::<T>().div_ceil(8));
        let (room, rest) = words
            .and_then(|words| core::mem::take(&mut self.0).split_at_mut_checked(words))
            .ok_or(Failure(CYCLOID_ERROR_MEMORY_TOO_SMALL))?;
        self.0 = rest;
        let start = room.as_mut_ptr().cast::<T>();
        for i in 0..count {
            // SAFETY: the room has `count` values, and is aligned for them.
            unsafe { start.add(i).write(value(i)?) };
        }
        // SAFETY: all of them have been written, and the room is borrowed for as long.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }
}

fn messages<'a>(room: &mut Room<'a>, messages: &'a [Message]) -> Outcome<&'a [&'a [u8]]> {
    // SAFETY: the caller of each function with messages promises that they are there.
    room.list(messages.len(), |i| unsafe { slice(messages[i].bytes, messages[i].length) })
}

fn copies<T: Kind + Copy, W: object::Words>(list: &[W], i: usize) -> Outcome<T> {
    object::value::<T>(&list[i]).copied()
}

/// Adds signatures up.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_bls_scratch_size(count)`, and is aligned to
/// 8 bytes.
///
/// Errors: `CYCLOID_ERROR_LIST` for an empty list; `CYCLOID_ERROR_KEY`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `signatures` has `count` signatures. `sum` is memory for a signature, and `scratch` memory of its
/// size; neither need be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_signatures(
    sum: *mut BlsSignature,
    signatures: *const BlsSignature,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (list, scratch) =
            unsafe { (slice(signatures, count)?, scratch_limbs(scratch, scratch_size)?) };
        let list = Room(scratch).list(count, |i| copies::<Signed, _>(list, i))?;
        // SAFETY: the caller promises it.
        unsafe { object::make(sum, || Signed::aggregate(list)) }
    })
}

/// Adds public keys up. Otherwise as `cycloid_bls_aggregate_signatures`.
///
/// Errors: also `CYCLOID_ERROR_INFINITY` for a sum that is infinity.
///
/// # Safety
/// `keys` has `count` keys. `sum` is memory for a key, and `scratch` memory of its size; neither need
/// be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_public_keys(
    sum: *mut BlsPublicKey,
    keys: *const BlsPublicKey,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (list, scratch) =
            unsafe { (slice(keys, count)?, scratch_limbs(scratch, scratch_size)?) };
        let list = Room(scratch).list(count, |i| copies::<Public, _>(list, i))?;
        // SAFETY: the caller promises it.
        unsafe { object::make(sum, || Public::aggregate(list)) }
    })
}

/// Verifies an aggregate of signatures of one message, by keys whose possession has been proved.
/// Scratch is as for `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_LIST`, `CYCLOID_ERROR_KEY`,
/// `CYCLOID_ERROR_INFINITY`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `keys` has `count` keys. `message` has `message_length` bytes. `signature` is a signature, and
/// `scratch` memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_fast_aggregate_verify(
    keys: *const BlsPublicKey,
    count: usize,
    message: *const u8,
    message_length: usize,
    signature: *const BlsSignature,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (keys, message, signature, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(message, message_length)?,
                reference(signature)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        let keys = Room(scratch).list(count, |i| copies::<Public, _>(keys, i))?;
        let signature = object::value::<Signed>(signature)?;
        Ok(signature::fast_aggregate_verify(keys, message, signature)?)
    })
}

/// Verifies an aggregate of signatures, of one message by each key. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`; `CYCLOID_ERROR_LIST` for an empty list, and for equal
/// messages in the basic scheme; `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `keys` has `count` keys, and `list` as many messages. `signature` is a signature, and `scratch`
/// memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_verify(
    scheme: u32,
    keys: *const BlsPublicKey,
    list: *const Message,
    count: usize,
    signature: *const BlsSignature,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (keys, list, signature, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(list, count)?,
                reference(signature)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        let mut room = Room(scratch);
        let keys = room.list(count, |i| copies::<Public, _>(keys, i))?;
        let list = messages(&mut room, list)?;
        let signature = object::value::<Signed>(signature)?;
        Ok(signature::aggregate_verify(scheme, keys, list, signature)?)
    })
}

/// Verifies many signatures at once, each of its own message by its own key, with random weights.
/// One that is invalid makes the whole list invalid. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: as for `cycloid_bls_aggregate_verify`, and `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `keys` has `count` keys, `list` as many messages, and `signatures` as many signatures. `random` is
/// null or a source. `scratch` is memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_batch_verify(
    scheme: u32,
    keys: *const BlsPublicKey,
    list: *const Message,
    signatures: *const BlsSignature,
    count: usize,
    random: *const RandomSource,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (keys, list, signatures, mut random, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(list, count)?,
                slice(signatures, count)?,
                Source::new(random)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        let mut room = Room(scratch);
        let keys = room.list(count, |i| copies::<Public, _>(keys, i))?;
        let signatures = room.list(count, |i| copies::<Signed, _>(signatures, i))?;
        let list = messages(&mut room, list)?;
        Ok(signature::batch_verify(scheme, keys, list, signatures, &mut random)?)
    })
}

/// Computes a multiple of a point of G1: compressed points of 48 bytes, and a scalar of 32
/// big-endian bytes, less than the order. Time does not depend on the scalar.
///
/// Errors: those of reading the point; `CYCLOID_ERROR_RANGE` for the scalar.
///
/// # Safety
/// `point` has 48 bytes, `scalar` 32, and `product` 48 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_g1_multiply(
    product: *mut u8,
    point: *const u8,
    scalar: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (point, scalar) = unsafe { (slice(point, 48)?, slice(scalar, 32)?) };
        let point = G1::<Cycloid>::from(G1Affine::from_compressed(point)?);
        let mut scalar = Fr::from_be_bytes(scalar)?;
        let result = point.multiply(&scalar).to_affine().to_compressed();
        scalar.wipe();
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&result, product, 48) }
    })
}

/// Computes a multiple of a point of G2: compressed points of 96 bytes. Otherwise as
/// `cycloid_bls_g1_multiply`.
///
/// # Safety
/// `point` has 96 bytes, `scalar` 32, and `product` 96 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_g2_multiply(
    product: *mut u8,
    point: *const u8,
    scalar: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (point, scalar) = unsafe { (slice(point, 96)?, slice(scalar, 32)?) };
        let point = G2::<Cycloid>::from(G2Affine::from_compressed(point)?);
        let mut scalar = Fr::from_be_bytes(scalar)?;
        let result = point.multiply(&scalar).to_affine().to_compressed();
        scalar.wipe();
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&result, product, 96) }
    })
}

/// Checks that the product of the pairings of `count` pairs of points is 1. Points are compressed:
/// 48 bytes each in `g1`, one after the other, and 96 each in `g2`. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION` if it is not 1; those of reading points;
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `g1` has 48·`count` bytes, and `g2` 96·`count`. `scratch` is memory of its size, which need not be
/// initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_pairing_check(
    g1: *const u8,
    g2: *const u8,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let bytes = |each: usize| count.checked_mul(each).ok_or(Failure(CYCLOID_ERROR_LIST));
        // SAFETY: the caller promises it.
        let (g1, g2, scratch) = unsafe {
            (slice(g1, bytes(48)?)?, slice(g2, bytes(96)?)?, scratch_limbs(scratch, scratch_size)?)
        };
        let mut room = Room(scratch);
        let p = room.list(count, |i| {
            Ok(G1Affine::<Cycloid>::from_compressed(&g1[48 * i..48 * (i + 1)])?)
        })?;
        let q = room.list(count, |i| {
            Ok(G2Affine::<Cycloid>::from_compressed(&g2[96 * i..96 * (i + 1)])?)
        })?;
        if pairing_check(p, q)? { Ok(()) } else { Err(Failure(CYCLOID_ERROR_VERIFICATION)) }
    })
}
