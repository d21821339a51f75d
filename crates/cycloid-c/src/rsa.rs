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
/// `cycloid_rsa_context_size` bytes, which must stay in place: the public key, the blinding, a random
/// generator and working memory.
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
    exponent: u64,
    /// The modulus, in the context's memory.
    modulus: &'static [Limb],
    random: *mut Recording,
    context: Context<'static, &'static mut [Limb], &'static mut Recording>,
}

impl ContextState {
    /// Returns whether the key's memory still holds the key that the context was made for. The whole
    /// public key is compared: a blinding for another one would be wrong.
    pub(crate) fn is_for(&self, key: &Private) -> bool {
        let public = key.public();
        public.exponent() == self.exponent && public.modulus_limbs() == self.modulus
    }
}

/// Returns the limbs of a context that stand in front of the library's: the generator and the
/// modulus.
const fn context_head_limbs(bits: usize) -> usize {
    RECORDING_LIMBS + bits.div_ceil(Limb::BITS as usize)
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
    of(bits, |bits| {
        sized::size::<ContextState>(context_head_limbs(bits) + rsa::context_limbs(bits))
    })
}

/// Returns the bytes of a context for a key of `bits` bits with which it still works, more slowly.
/// 0 if keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_context_minimum_size(bits: usize) -> usize {
    of(bits, |bits| {
        sized::size::<ContextState>(context_head_limbs(bits) + rsa::minimum_context_limbs(bits))
    })
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
