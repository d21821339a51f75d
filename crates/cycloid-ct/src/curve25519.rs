//! Ed25519 and X25519: known answers of RFC 8032, section 7.1, and RFC 7748, section 6.1, from keys
//! that are secret; and eight side by side, on the portable lanes.

use cycloid::machine::ct;
use cycloid::machine::lanes::{Backend, Portable};
use cycloid::scheme::curve25519::{Point, Scalar};
use cycloid::scheme::ed25519::{self, SigningKey, Variant};
use cycloid::scheme::x25519::{self, PrivateKey};

use crate::check::{Check, secret};

/// Signs and agrees one at a time, on the best backend.
pub(crate) fn run(check: &mut Check) {
    let key = signing_key();
    // A signature is public when it comes out.
    let signature = key.sign(MESSAGE);
    check.judged("ed25519 signature", &secret(&signature), |found| found == SIGNATURE);
    let signed = key.sign_context(MESSAGE, b"context").expect("it is that short");
    check.judged("ed25519ctx signature", &secret(&signed), |found| {
        let signature = found.try_into().expect("it has 64 bytes");
        let variant = Variant::Context(b"context");
        key.verifying_key().verify_with(ed25519::Rule::Strict, variant, MESSAGE, signature).is_ok()
    });

    let alice = private_key();
    check.judged("x25519 public key", &secret(&alice.public_key()), |found| found == ALICE_PUBLIC);
    let shared = alice.agree(&BOB_PUBLIC).expect("the key is sound");
    check.judged("x25519 agreement", shared.as_bytes(), |found| found == SHARED);

    // The base point by both ways.
    let mut wide = [0; 64];
    wide.copy_from_slice(&[ALICE, BOB_PUBLIC].concat());
    ct::mark_secret(&wide);
    let scalar = Scalar::from_wide_bytes(&wide);
    let by_table = Point::multiply_base(&scalar).to_bytes();
    let sum = Point::base().multiply(&scalar).add(&Point::base()).negate();
    let difference = sum.negate().add(&Point::base().negate()).to_bytes();
    ct::mark_public(&by_table);
    check.judged("curve25519 multiple of a point", &difference, |found| found == by_table);
    let product = scalar.multiply(&scalar.invert()).to_bytes();
    check.judged("curve25519 inverse", &product, |found| {
        found[0] == 1 && found[1..].iter().all(|byte| *byte == 0)
    });
}

/// Signs and agrees eight at a time.
pub(crate) fn batches(check: &mut Check) {
    let backend = Some(Backend::Portable(Portable));
    let key = signing_key();
    let mut signatures = [[0; 64]; 8];
    let mut places = signatures.iter_mut();
    let mut jobs = [(); 8].map(|()| {
        let place = places.next().expect("there are as many");
        ed25519::Job::sign(&key, Variant::Plain, MESSAGE, place)
    });
    ed25519::run_batch_with(backend, &mut jobs);
    check.judged("ed25519 batch", &secret(signatures.as_flattened()), |found| {
        found.chunks(64).all(|signature| signature == SIGNATURE)
    });

    let alice = private_key();
    let mut results = [[0; 32]; 16];
    let mut places = results.iter_mut().enumerate();
    let mut jobs = [(); 16].map(|()| match places.next().expect("there are as many") {
        (i, place) if i % 2 == 0 => x25519::Job::agree(&alice, &BOB_PUBLIC, place),
        (_, place) => x25519::Job::public_key(&alice, place),
    });
    x25519::run_batch_with(backend, &mut jobs);
    for (i, result) in results.iter().enumerate() {
        if i % 2 == 0 {
            check.judged("x25519 agreement in a batch", result, |found| found == SHARED);
        } else {
            let name = "x25519 public key in a batch";
            check.judged(name, &secret(result), |found| found == ALICE_PUBLIC);
        }
    }
}

fn signing_key() -> SigningKey {
    let seed = secret(&SEED);
    SigningKey::from_seed(seed[..].try_into().expect("it has 32 bytes"))
}

fn private_key() -> PrivateKey {
    let bytes: [u8; 32] = secret(&ALICE)[..].try_into().expect("it has 32 bytes");
    PrivateKey::from(bytes)
}

/// Test 2 of RFC 8032.
const SEED: [u8; 32] = [
    0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
    0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
];
const MESSAGE: &[u8] = &[0x72];
const SIGNATURE: [u8; 64] = [
    0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40,
    0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda,
    0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c,
    0x38, 0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00,
];

/// The keys and the shared secret of RFC 7748.
const ALICE: [u8; 32] = [
    0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45,
    0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a,
];
const ALICE_PUBLIC: [u8; 32] = [
    0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d, 0xdc, 0xb4, 0x3e, 0xf7, 0x5a,
    0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38, 0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b, 0x4e, 0x6a,
];
const BOB_PUBLIC: [u8; 32] = [
    0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4, 0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4, 0x35, 0x37,
    0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78, 0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f,
];
const SHARED: [u8; 32] = [
    0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1, 0x72, 0x8e, 0x3b, 0xf4, 0x80, 0x35, 0x0f, 0x25,
    0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33, 0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42,
];
