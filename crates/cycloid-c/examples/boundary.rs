//! The operations of the OCaml binding in Rust, as a library that
//! `bindings/ocaml/bench/boundary.ml` loads to measure both in turns.

use std::hint::black_box;
use std::slice;

use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::{Hash, ed25519, x25519};
use getrandom::SysRng;

/// Runs an operation and writes its result. A generated key is not written.
type Run = Box<dyn Fn(&mut [u8])>;

/// The digest or message of each operation.
const DIGEST: [u8; 28] = [b'd'; 28];

/// Makes an operation with a key: 0 signs, 1 verifies, 2 agrees with the key's own public key, 3
/// generates a key. Returns null if there is no such operation.
///
/// # Safety
/// `key` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn boundary_new(
    curve: u32,
    operation: u32,
    key: *const u8,
    length: usize,
) -> *mut Run {
    // SAFETY: the caller promises it.
    let key = unsafe { slice::from_raw_parts(key, length) };
    let run = match curve {
        1 => nist::<P224>(operation, Hash::Sha256, key),
        2 => nist::<P256>(operation, Hash::Sha256, key),
        3 => nist::<P384>(operation, Hash::Sha384, key),
        4 => nist::<P521>(operation, Hash::Sha512, key),
        5 => key.try_into().ok().and_then(|seed| ed25519(operation, seed)),
        6 => key.try_into().ok().and_then(|key| x25519(operation, key)),
        _ => None,
    };
    run.map_or(std::ptr::null_mut(), |run| Box::into_raw(Box::new(run)))
}

/// Performs an operation `runs` times and leaves the last result in `output`.
///
/// # Safety
/// `run` is from [`boundary_new`], and `output` has 132 bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn boundary_run(run: *const Run, runs: usize, output: *mut u8) {
    // SAFETY: the caller promises it.
    let (run, output) = unsafe { (&*run, slice::from_raw_parts_mut(output, 132)) };
    for _ in 0..runs {
        run(black_box(output));
    }
}

fn nist<C: Curve + 'static>(operation: u32, hash: Hash, key: &[u8]) -> Option<Run> {
    let key = PrivateKey::<C>::from_bytes(key).ok()?;
    let public = *key.public_key();
    let point = public.to_uncompressed();
    let signature = key.sign_prehashed(hash, &DIGEST).to_fixed();
    Some(match operation {
        0 => Box::new(move |output| {
            let made = key.sign_prehashed(hash, black_box(&DIGEST)).to_fixed();
            output[..made.len()].copy_from_slice(&made);
        }),
        1 => Box::new(move |output| {
            let read = Signature::<C>::from_fixed(black_box(&signature));
            let verified = read.and_then(|read| public.verify_prehashed(&DIGEST, &read));
            output[0] = u8::from(verified.is_ok());
        }),
        2 => Box::new(move |output| {
            let peer = PublicKey::<C>::from_sec1(black_box(&point)).expect("a key's point");
            output[..C::BYTES].copy_from_slice(&key.agree(&peer));
        }),
        3 => Box::new(|_| {
            let key = PrivateKey::<C>::generate(&mut SysRng).expect("a random key");
            black_box((*key.public_key(), &key));
        }),
        _ => return None,
    })
}

fn ed25519(operation: u32, seed: &[u8; 32]) -> Option<Run> {
    let key = ed25519::SigningKey::from_seed(seed);
    let public = *key.verifying_key();
    let signature = key.sign(&DIGEST);
    Some(match operation {
        0 => Box::new(move |output| output[..64].copy_from_slice(&key.sign(black_box(&DIGEST)))),
        1 => Box::new(move |output| {
            output[0] = u8::from(public.verify(black_box(&DIGEST), &signature).is_ok());
        }),
        3 => Box::new(|_| {
            let key = ed25519::SigningKey::generate(&mut SysRng).expect("a random key");
            black_box((*key.verifying_key(), &key));
        }),
        _ => return None,
    })
}

fn x25519(operation: u32, key: &[u8; 32]) -> Option<Run> {
    let key = x25519::PrivateKey::from(*key);
    let public = key.public_key();
    Some(match operation {
        2 => Box::new(move |output| {
            let shared = key.agree(black_box(&public)).expect("a key's point");
            output[..32].copy_from_slice(shared.as_bytes());
        }),
        3 => Box::new(|_| {
            let key = x25519::PrivateKey::generate(&mut SysRng).expect("a random key");
            black_box((key.public_key(), &key));
        }),
        _ => return None,
    })
}
