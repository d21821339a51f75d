//! RSA: keys and contexts in the caller's memory.
//!
//! A key and a context must stay where they were made. Sizes are in bytes, and memory is aligned to
//! 8 bytes.

pub mod batch;
pub mod encrypt;
pub mod private;
pub mod public;
pub mod sign;
pub mod verify;

use core::ffi::c_void;

use cycloid::Limb;
use cycloid::scheme::rsa::{self, Context, PrivateKey, PublicKey};

use crate::object;
use crate::random::Recording;
use crate::sized::{self, Kind};

/// The fewest bits of a modulus.
pub const CYCLOID_RSA_MIN_BITS: usize = 2041;
/// The most bits of a modulus.
pub const CYCLOID_RSA_MAX_BITS: usize = 16384;

/// A private key in memory of `cycloid_rsa_private_key_size` bytes, which must stay in place.
pub struct RsaPrivateKey {
    _opaque: (),
}

/// A public key in memory of `cycloid_rsa_public_key_size` bytes, which must stay in place.
pub struct RsaPublicKey {
    _opaque: (),
}

/// The state of one thread's operations with a private key, in memory of
/// `cycloid_rsa_context_size` bytes, which must stay in place: the blinding, a random generator and
/// working memory.
pub struct RsaContext {
    _opaque: (),
}

/// The private key as the library sees it.
pub(crate) type Private = PrivateKey<&'static mut [Limb]>;
/// The public key as the library sees it.
pub(crate) type Public = PublicKey<&'static mut [Limb]>;

impl Kind for Private {
    const TAG: u64 = object::tag(5, 1);
}

impl Kind for Public {
    const TAG: u64 = object::tag(6, 1);
}

/// A context, the key that it was made for, and its generator.
pub(crate) struct ContextState {
    key: *const c_void,
    identity: Identity,
    random: *mut Recording,
    context: Context<'static, &'static mut [Limb], &'static mut Recording>,
}

/// Tells a key from one that takes its place in the same memory: the length of the modulus and its
/// lowest limbs.
#[derive(PartialEq, Eq)]
pub(crate) struct Identity {
    bits: usize,
    limbs: [Limb; 2],
}

impl Identity {
    pub(crate) fn of(key: &Private) -> Self {
        let mut limbs = [0; 2];
        for (limb, modulus) in limbs.iter_mut().zip(key.public().modulus_limbs()) {
            *limb = *modulus;
        }
        Self { bits: key.bits(), limbs }
    }
}

impl Kind for ContextState {
    const TAG: u64 = object::tag(7, 1);
}

/// Returns the bytes of a private key of `bits` bits: at most `CYCLOID_RSA_PRIVATE_KEY_SIZE(bits)`.
/// 0 if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_private_key_size(bits: usize) -> usize {
    of(bits, |bits| sized::size::<Private>(rsa::private_key_limbs(bits)))
}

/// Returns the bytes of a public key of `bits` bits: at most `CYCLOID_RSA_PUBLIC_KEY_SIZE(bits)`. 0
/// if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_public_key_size(bits: usize) -> usize {
    of(bits, |bits| sized::size::<Public>(rsa::public_key_limbs(bits)))
}

/// Returns the bytes of a context for a key of `bits` bits with which it is fastest: at most
/// `CYCLOID_RSA_CONTEXT_SIZE(bits)`. 0 if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_context_size(bits: usize) -> usize {
    of(bits, |bits| sized::size::<ContextState>(RECORDING_LIMBS + rsa::context_limbs(bits)))
}

/// Returns the bytes of a context for a key of `bits` bits with which it still works, more slowly.
/// 0 if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_context_minimum_size(bits: usize) -> usize {
    of(bits, |bits| sized::size::<ContextState>(RECORDING_LIMBS + rsa::minimum_context_limbs(bits)))
}

/// Returns the bytes of scratch for any function that takes scratch, with a key of up to `bits`
/// bits: at most `CYCLOID_RSA_SCRATCH_SIZE(bits)`. 0 if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_scratch_size(bits: usize) -> usize {
    of(bits, |bits| {
        let limbs = [
            rsa::generate_scratch_limbs(bits),
            rsa::pem_scratch_limbs(bits),
            rsa::der_scratch_limbs(bits),
            rsa::any_private_key_scratch_limbs(bits),
            rsa::verify_scratch_limbs(bits),
            rsa::encrypt_scratch_limbs(bits),
        ];
        limbs.into_iter().fold(0, usize::max) * size_of::<Limb>()
    })
}

/// The limbs that hold a context's generator.
pub(crate) const RECORDING_LIMBS: usize = size_of::<Recording>().div_ceil(size_of::<Limb>());

/// Returns a size for keys of a supported length, else 0.
fn of(bits: usize, size: impl Fn(usize) -> usize) -> usize {
    if (CYCLOID_RSA_MIN_BITS..=CYCLOID_RSA_MAX_BITS).contains(&bits) { size(bits) } else { 0 }
}

const _: () = assert!(rsa::MIN_BITS == CYCLOID_RSA_MIN_BITS);
const _: () = assert!(rsa::MAX_BITS == CYCLOID_RSA_MAX_BITS);
