//! Secret keys from key material: KeyGen of the signature draft in its versions, and EIP-2333.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::memory::{bytes, slice};
use crate::scalars::{is_zero, wide};
use crate::{blst_scalar, exports};

/// The salt of KeyGen, which versions from 4 on hash.
const SALT: &[u8] = b"BLS-SIG-KEYGEN-SALT-";

/// The shortest key material.
const SHORTEST: usize = 32;

/// L, the number of bytes that are reduced modulo r.
const LENGTH: usize = 48;

/// The drafts of the signature standard that KeyGen follows.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    Three,
    Four,
    Five,
}

fn authenticate(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Fills `out` with HKDF-Expand (RFC 5869, section 2.3).
fn expand(key: &[u8], info: &[&[u8]], out: &mut [u8]) {
    let mut last: Option<[u8; 32]> = None;
    for (count, out) in (1..=255u8).zip(out.chunks_mut(32)) {
        let mut parts: Vec<&[u8]> = Vec::new();
        let count = [count];
        parts.extend(last.as_ref().map(|last| &last[..]));
        parts.extend(info);
        parts.push(&count);
        let next = authenticate(key, &parts);
        out.copy_from_slice(&next[..out.len()]);
        last = Some(next);
    }
    last.zeroize();
}

/// Returns the key, or zeros for short material or a missing salt.
fn key_gen(material: &[u8], salt: Option<&[u8]>, info: &[u8], version: Version) -> blst_scalar {
    if material.len() < SHORTEST || (version == Version::Five && salt.is_none()) {
        return [0; 32];
    }
    let mut salt = salt.unwrap_or(SALT).to_vec();
    if version == Version::Four {
        salt = Sha256::digest(&salt).to_vec();
    }
    loop {
        let mut key = authenticate(&salt, &[material, &[0]]);
        let mut output = [0; LENGTH];
        expand(&key, &[info, &(LENGTH as u16).to_be_bytes()], &mut output);
        let mut integer = wide(output.rchunks(32).rev(), true);
        let (secret, is_zero) = (bytes(&integer), is_zero(&integer));
        key.zeroize();
        output.zeroize();
        integer.zeroize();
        if version == Version::Three || !is_zero.reveal() {
            return secret;
        }
        salt = Sha256::digest(&salt).to_vec();
    }
}

/// Runs parent_SK_to_lamport_PK of EIP-2333.
fn lamport(parent: &blst_scalar, index: u32) -> [u8; 32] {
    let mut material = *parent;
    material.reverse();
    let mut digest = Sha256::new();
    for _ in 0..2 {
        let mut key = authenticate(&index.to_be_bytes(), &[&material]);
        let mut chunks = [0; 32 * 255];
        expand(&key, &[], &mut chunks);
        chunks.chunks(32).for_each(|chunk| digest.update(Sha256::digest(chunk)));
        chunks.zeroize();
        key.zeroize();
        material.iter_mut().for_each(|byte| *byte = !*byte);
    }
    material.zeroize();
    digest.finalize().into()
}

exports! {
    fn blst_keygen(
        out: *mut blst_scalar, material: *const u8, length: usize, info: *const u8,
        info_length: usize,
    ) {
        *out = key_gen(slice(material, length), None, slice(info, info_length), Version::Four);
    }

    fn blst_keygen_v3(
        out: *mut blst_scalar, material: *const u8, length: usize, info: *const u8,
        info_length: usize,
    ) {
        *out = key_gen(slice(material, length), None, slice(info, info_length), Version::Three);
    }

    fn blst_keygen_v4_5(
        out: *mut blst_scalar, material: *const u8, length: usize, salt: *const u8,
        salt_length: usize, info: *const u8, info_length: usize,
    ) {
        let given = (!salt.is_null()).then(|| slice(salt, salt_length));
        *out = key_gen(slice(material, length), given, slice(info, info_length), Version::Four);
    }

    fn blst_keygen_v5(
        out: *mut blst_scalar, material: *const u8, length: usize, salt: *const u8,
        salt_length: usize, info: *const u8, info_length: usize,
    ) {
        let given = (!salt.is_null()).then(|| slice(salt, salt_length));
        *out = key_gen(slice(material, length), given, slice(info, info_length), Version::Five);
    }

    fn blst_derive_master_eip2333(out: *mut blst_scalar, material: *const u8, length: usize) {
        *out = key_gen(slice(material, length), None, &[], Version::Four);
    }

    fn blst_derive_child_eip2333(out: *mut blst_scalar, parent: *const blst_scalar, index: u32) {
        *out = key_gen(&lamport(&*parent, index), None, &[], Version::Four);
    }

    fn blst_sha256(out: *mut u8, message: *const u8, length: usize) {
        out.cast::<[u8; 32]>().write(Sha256::digest(slice(message, length)).into());
    }

    fn blst_expand_message_xmd(
        out: *mut u8, out_length: usize, message: *const u8, length: usize, dst: *const u8,
        dst_length: usize,
    ) {
        let mut uniform = vec![0; out_length.min(255 * 32 + 1)];
        let message: [&[u8]; 2] = [&[], slice(message, length)];
        let dst = slice(dst, dst_length);
        // More than 8160 bytes are impossible; the output stays as it is.
        if cycloid::bls12_381::expand_message(&message, dst, &mut uniform).is_ok() {
            core::ptr::copy_nonoverlapping(uniform.as_ptr(), out, out_length);
        }
    }
}
