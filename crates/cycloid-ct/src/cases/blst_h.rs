//! The functions of `blst.h` that take a secret scalar: keys, products, signatures, elements of Fr.

use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::signature::{MinPk, MinSig, SecretKey};
use cycloid_blst_h::*;

use crate::check::{Check, marked};

const MESSAGE: &[u8] = b"the message is public";

const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/// Returns the same scalar below r unmarked and secret.
fn scalar(check: &mut Check) -> [Vec<u8>; 2] {
    let mut bytes = check.bytes(32);
    bytes[31] &= 0x3f;
    let secret = marked(&bytes);
    [bytes, secret]
}

/// Returns an empty place for a result.
fn place<T: Default>() -> T {
    T::default()
}

pub(crate) fn keys(check: &mut Check) {
    let material = check.bytes(32);
    let info = b"information";
    let compute = |material: &[u8]| {
        let mut keys = [[0; 32]; 6];
        let [v3, v4, salted, v5, master, child] = &mut keys;
        let (info, count) = (info.as_ptr(), info.len());
        let (salt, salt_length) = (MESSAGE.as_ptr(), MESSAGE.len());
        let (material, length) = (material.as_ptr(), material.len());
        // SAFETY: the pointers refer to as many bytes as the lengths say.
        unsafe {
            blst_keygen_v3(v3, material, length, info, count);
            blst_keygen(v4, material, length, info, count);
            blst_keygen_v4_5(salted, material, length, salt, salt_length, info, count);
            blst_keygen_v5(v5, material, length, salt, salt_length, info, count);
            blst_derive_master_eip2333(master, material, length);
            blst_derive_child_eip2333(child, master, 7);
        }
        keys
    };
    let secret = marked(&material);
    let found = check.hold("key generation", || compute(&secret));
    check.secret("key generation", &*found, |found| found == compute(&material));
}

pub(crate) fn scalars(check: &mut Check) {
    let [[a, secret_a], [b, secret_b]] = [scalar(check), scalar(check)];
    let compute = |a: &[u8], b: &[u8]| {
        let (mut x, mut y, mut out): ([u8; 32], [u8; 32], [[u8; 32]; 7]) = place();
        // SAFETY: all pointers refer to 32 bytes, or to as many as the length says.
        let right = unsafe {
            blst_scalar_from_lendian(&mut x, a.as_ptr());
            blst_scalar_from_bendian(&mut y, b.as_ptr());
            blst_bendian_from_scalar(out[0].as_mut_ptr(), &x);
            let right = [
                blst_scalar_fr_check(&x),
                blst_sk_check(&x),
                blst_scalar_from_le_bytes(&mut out[1], a.as_ptr(), 32),
                blst_scalar_from_be_bytes(&mut out[2], b.as_ptr(), 32),
                blst_sk_add_n_check(&mut out[3], &x, &y),
                blst_sk_sub_n_check(&mut out[4], &x, &y),
                blst_sk_mul_n_check(&mut out[5], &x, &y),
            ];
            blst_sk_inverse(&mut out[6], &x);
            right
        };
        (out, right)
    };
    let found = check.hold("scalars", || compute(&secret_a, &secret_b));
    let expected = compute(&a, &b);
    check.secret("scalars", &found.0, |found| *found == expected.0);
    check.public("scalars", &found.1, |found| found == [1; 7]);
}

/// Whether a character is a digit is public, which one is not.
pub(crate) fn hexadecimal(check: &mut Check) {
    let bytes = check.bytes(32);
    let text: Vec<u8> = bytes
        .iter()
        .enumerate()
        .flat_map(|(i, byte)| {
            let text = format!("{byte:02x}");
            if i % 2 == 0 { text } else { text.to_uppercase() }.into_bytes()
        })
        .collect();
    let secret = marked(&text);
    let compute = |digits: &[u8]| {
        let mut text = [0; 67];
        text[..2].copy_from_slice(b"0x");
        text[2..66].copy_from_slice(digits);
        let mut out = [[0; 32]; 2];
        // SAFETY: both texts end in a zero byte.
        unsafe {
            blst_scalar_from_hexascii(&mut out[0], text.as_ptr());
            blst_scalar_from_hexascii(&mut out[1], text[2..].as_ptr());
        }
        out
    };
    let found = check.hold("hexadecimal", || compute(&secret));
    let mut expected: [u8; 32] = bytes.try_into().expect("32 bytes");
    expected.reverse();
    check.secret("hexadecimal", &*found, |found| found == [expected; 2]);
}

pub(crate) fn elements(check: &mut Check) {
    let [[a, secret_a], [b, secret_b]] = [scalar(check), scalar(check)];
    let compute = |a: &[u8], b: &[u8]| {
        let scalars: [[u8; 32]; 2] = [a, b].map(|bytes| bytes.try_into().expect("32 bytes"));
        let ([mut x, mut y], mut out): ([blst_fr; 2], [blst_fr; 12]) = place();
        // SAFETY: all pointers are those of elements and scalars.
        unsafe {
            blst_fr_from_scalar(&mut x, &scalars[0]);
            blst_fr_from_scalar(&mut y, &scalars[1]);
            let flag = (*x.as_ptr() & 1) as u8;
            blst_fr_add(&mut out[0], &x, &y);
            blst_fr_sub(&mut out[1], &x, &y);
            blst_fr_mul(&mut out[2], &x, &y);
            blst_fr_sqr(&mut out[3], &x);
            blst_fr_cneg(&mut out[4], &x, flag);
            blst_fr_inverse(&mut out[5], &x);
            blst_fr_eucl_inverse(&mut out[6], &y);
            blst_fr_mul_by_3(&mut out[7], &x);
            blst_fr_lshift(&mut out[8], &x, 3);
            blst_fr_rshift(&mut out[9], &x, 3);
            blst_uint64_from_fr(out[10].as_mut_ptr(), &x);
            blst_fr_to(&mut out[11], &y);
        }
        out
    };
    let found = check.hold("elements", || compute(&secret_a, &secret_b));
    check.secret("elements", &*found, |found| found == compute(&a, &b));
}

/// Writes the cases of one group.
macro_rules! group {
    (
        $name:ident, $Variant:ty, $sign_name:ident, $point:ty, $affine:ty, $bytes:literal,
        $to_pk:ident $to_pk2:ident $sign:ident $sign2:ident $hash:ident $mult:ident $generator:ident
        $to_affine:ident $compress:ident $cneg:ident
    ) => {
        /// Public keys in this group.
        pub(crate) fn $name(check: &mut Check) {
            let [plain, secret] = scalar(check);
            let compute = |key: &[u8]| {
                let key: [u8; 32] = key.try_into().expect("32 bytes");
                let (mut point, mut affine): ($point, $affine) = place();
                let mut bytes = [[0; $bytes]; 2];
                // SAFETY: the pointers refer to objects of the types that the header names.
                unsafe {
                    $to_pk(&mut point, &key);
                    $compress(bytes[0].as_mut_ptr(), &point);
                    let mut long = [0; 2 * $bytes];
                    $to_pk2(long.as_mut_ptr(), &mut affine, &key);
                    bytes[1].copy_from_slice(&long[..$bytes]);
                    $cneg(&mut point, key[0] & 1);
                    $to_affine(&mut affine, &point);
                }
                (bytes, affine)
            };
            let found = check.hold("public key", || compute(&secret));
            let mut key = plain.clone();
            key.reverse();
            let key = SecretKey::<Cycloid, $Variant>::from_bytes(&key).expect("below r");
            let public = key.public_key().to_bytes();
            check.secret("public key", &found.0[0], |found| *found == *public.as_ref());
            check.judge("public key", *found == compute(&plain));
        }

        /// Products with secret scalars, and signatures, in this group.
        pub(crate) fn $sign_name(check: &mut Check) {
            let [plain, secret] = scalar(check);
            let mut hash: $point = place();
            // SAFETY: the pointers refer to as many bytes as the lengths say.
            unsafe {
                let (message, tag) = ((MESSAGE.as_ptr(), MESSAGE.len()), (TAG.as_ptr(), TAG.len()));
                $hash(&mut hash, message.0, message.1, tag.0, tag.1, core::ptr::null(), 0);
            }
            let compute = |key: &[u8]| {
                let key: [u8; 32] = key.try_into().expect("32 bytes");
                let (mut points, mut affine): ([$point; 4], $affine) = place();
                let mut long = [0; 2 * $bytes];
                // SAFETY: the pointers refer to objects of the types that the header names.
                unsafe {
                    $sign(&mut points[0], &hash, &key);
                    $sign2(long.as_mut_ptr(), &mut affine, &hash, &key);
                    // All 256 bits, as many as r has, and few.
                    $mult(&mut points[1], &hash, key.as_ptr(), 256);
                    $mult(&mut points[2], $generator(), key.as_ptr(), 255);
                    $mult(&mut points[3], &hash, key.as_ptr(), 64);
                }
                (points, affine, long)
            };
            let found = check.hold("sign", || compute(&secret));
            let expected = compute(&plain);
            check.secret("sign", &found.0, |found| *found == expected.0);
            check.judge("sign", (found.1, found.2) == (expected.1, expected.2));
        }
    };
}

group!(
    public_keys_g1, MinPk, sign_g1, blst_p1, blst_p1_affine, 48,
    blst_sk_to_pk_in_g1 blst_sk_to_pk2_in_g1 blst_sign_pk_in_g2 blst_sign_pk2_in_g2 blst_hash_to_g1
    blst_p1_mult blst_p1_generator blst_p1_to_affine blst_p1_compress blst_p1_cneg
);

group!(
    public_keys_g2, MinSig, sign_g2, blst_p2, blst_p2_affine, 96,
    blst_sk_to_pk_in_g2 blst_sk_to_pk2_in_g2 blst_sign_pk_in_g1 blst_sign_pk2_in_g1 blst_hash_to_g2
    blst_p2_mult blst_p2_generator blst_p2_to_affine blst_p2_compress blst_p2_cneg
);
