//! Contexts of private keys of RSA, and signatures.

use core::ffi::c_void;
use core::ptr;

use cycloid::Limb;
use cycloid::scheme::rsa::{self, Context};

use super::{ContextState, Private, RECORDING_LIMBS, RsaContext, RsaPrivateKey};
use crate::error::{CYCLOID_ERROR_MEMORY_TOO_SMALL, ErrorCode, Failure, Outcome, run};
use crate::hash::{self, HashNumber};
use crate::memory::{Extent, disjoint, slice, slice_mut};
use crate::object::no_key;
use crate::random::{RandomSource, Recording, Source};
use crate::sized;

/// Makes a context for a private key.
///
/// `context` has `size` bytes: at best `cycloid_rsa_context_size` of the key's bits, and at least
/// `cycloid_rsa_context_minimum_size`, with which operations are slower. It is aligned to 8 bytes
/// and must stay in place until it is wiped; so must the key. The context keeps the modulus and the
/// public exponent, and each operation compares them with those of the key: another key in the same
/// memory is `CYCLOID_ERROR_KEY`. One thread at a time uses a context, any number of them a key.
/// After a fork, parent and child make contexts of their own, or they share their blindings.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `context` is memory of this size, which need not be initialised. `key` is a key. `random` is null
/// or a source whose callback works until the context is wiped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_context_new(
    context: *mut RsaContext,
    size: usize,
    key: *const RsaPrivateKey,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        let key = key.cast::<c_void>();
        // SAFETY: the caller promises it. The key outlives the context's use: each use checks that
        // it is there.
        let (source, private) = unsafe { (Source::new(random)?, sized::value::<Private>(key)?) };
        // SAFETY: the caller promises it; see below for the generator.
        unsafe {
            sized::make(context.cast(), size, |limbs: &'static mut [Limb]| {
                let public = private.public();
                let n = public.modulus_limbs();
                let too_small = Failure(CYCLOID_ERROR_MEMORY_TOO_SMALL);
                let (head, rest) = limbs.split_at_mut_checked(RECORDING_LIMBS).ok_or(too_small)?;
                let (modulus, memory) = rest.split_at_mut_checked(n.len()).ok_or(too_small)?;
                modulus.copy_from_slice(n);
                let random = head.as_mut_ptr().cast::<Recording>();
                const { assert!(align_of::<Recording>() <= align_of::<Limb>()) };
                // The head is large enough and aligned, and is used as the generator alone.
                ptr::write(random, Recording::new(source));
                let context = Context::new(private, &mut *random, memory)?;
                let exponent = public.exponent();
                Ok::<_, Failure>(ContextState { key, exponent, modulus, random, context })
            })
        }
    })
}

/// Wipes a context.
///
/// Errors: `CYCLOID_ERROR_KEY` if the memory holds none; nothing is written then.
///
/// # Safety
/// `context` is initialised memory of at least 128 bytes, which nothing else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_context_wipe(context: *mut RsaContext) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { sized::wipe::<ContextState>(context.cast()) })
}

/// Signs a message by RSASSA-PKCS1-v1_5 with the hash function. `signature` has exactly as many
/// bytes as the modulus. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`, also if the context's key has been wiped or replaced by another;
/// `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_RANDOM`,
/// `CYCLOID_ERROR_RESTRICTED`, `CYCLOID_ERROR_FAULT`, `CYCLOID_ERROR_OVERLAP`.
///
/// # Safety
/// `context` is a context that nothing else uses meanwhile. `message` has `message_length` bytes,
/// and `signature` `signature_length` to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_sign_pkcs1v15(
    context: *mut RsaContext,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            context,
            message,
            message_length,
            signature,
            signature_length,
            |context, input, output| context.sign_pkcs1v15(hash, input, output),
        )
    })
}

/// Signs a digest by RSASSA-PKCS1-v1_5. Otherwise as `cycloid_rsa_sign_pkcs1v15`.
///
/// # Safety
/// As for `cycloid_rsa_sign_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_sign_pkcs1v15_prehashed(
    context: *mut RsaContext,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            context,
            digest,
            digest_length,
            signature,
            signature_length,
            |context, input, output| context.sign_pkcs1v15_prehashed(hash, input, output),
        )
    })
}

/// Signs a message by RSASSA-PSS with the hash function, also for the mask, and a salt as long as
/// the digest. Otherwise as `cycloid_rsa_sign_pkcs1v15`.
///
/// # Safety
/// As for `cycloid_rsa_sign_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_sign_pss(
    context: *mut RsaContext,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            context,
            message,
            message_length,
            signature,
            signature_length,
            |context, input, output| context.sign_pss(hash, input, output),
        )
    })
}

/// Signs a digest by RSASSA-PSS, with a salt of `salt_length` bytes. Otherwise as
/// `cycloid_rsa_sign_pss`.
///
/// # Safety
/// As for `cycloid_rsa_sign_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_sign_pss_prehashed(
    context: *mut RsaContext,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    salt_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            context,
            digest,
            digest_length,
            signature,
            signature_length,
            |context, input, output| context.sign_pss_prehashed(hash, input, salt_length, output),
        )
    })
}

/// A context with its generator.
pub(super) type Working<'a> = Context<'static, &'static mut [Limb], &'static mut Recording>;

/// Runs an operation of a context whose key is still there. If the random generator fails, the
/// output is zeros.
///
/// # Safety
/// `context` is null or initialised memory, and, if a context, one that nothing else uses meanwhile.
/// `input` has `input_length` bytes, and `output` `output_length` to write.
pub(super) unsafe fn with<T>(
    context: *mut RsaContext,
    input: *const u8,
    input_length: usize,
    output: *mut u8,
    output_length: usize,
    operation: impl FnOnce(&mut Working<'_>, &[u8], &mut [u8]) -> Result<T, rsa::Error>,
) -> Outcome<T> {
    disjoint(&[Extent::of(output, output_length)], &[Extent::of(input, input_length)])?;
    // SAFETY: the caller promises it, and input and output do not overlap.
    let (state, input, output) = unsafe {
        (
            sized::value_mut::<ContextState>(context.cast())?,
            slice(input, input_length)?,
            slice_mut(output, output_length)?,
        )
    };
    // SAFETY: the key's memory is the caller's for as long as the context is used, as
    // `cycloid_rsa_context_new` demands; only what it holds is in doubt.
    let key = unsafe { sized::value::<Private>(state.key) };
    if !key.is_ok_and(|key| state.is_for(key)) {
        return no_key();
    }
    let done = operation(&mut state.context, input, output);
    // SAFETY: the generator is in the context's memory, and the operation has returned.
    let released = unsafe { (*state.random).release(done) };
    if released.is_err() {
        output.fill(0);
    }
    released
}
