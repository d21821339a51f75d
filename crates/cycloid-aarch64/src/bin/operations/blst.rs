//! The operations of blst on BLS12-381.

use std::hint::black_box;

use ::blst::min_pk::SecretKey;
use ::blst::{
    BLST_ERROR, blst_fp12, blst_p1, blst_p1_affine_generator, blst_p1_double, blst_p1_from_affine,
    blst_p1_mult, blst_p2, blst_p2_affine_generator, blst_p2_double, blst_p2_from_affine,
    blst_p2_mult,
};

use crate::{MESSAGE, Operation, SCALAR};

/// The tag of signatures with proofs of possession (draft-irtf-cfrg-bls-signature, section 4.2.3).
const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Bits of a scalar.
const BITS: usize = 255;

/// Returns the operation with that name.
pub fn operation(name: &str) -> Option<Operation> {
    let what = name.strip_prefix("bls-")?;
    // SAFETY: the generators are constants of the library.
    let (p, q) = unsafe { (*blst_p1_affine_generator(), *blst_p2_affine_generator()) };
    let mut scalar = SCALAR;
    scalar.reverse();
    let key = SecretKey::from_bytes(&SCALAR).ok()?;
    let public = key.sk_to_pk();
    let signature = key.sign(MESSAGE, TAG, &[]);
    Some(match what {
        "pairing" => Box::new(move || _ = black_box(blst_fp12::miller_loop(&q, &p).final_exp())),
        "miller" => Box::new(move || _ = black_box(blst_fp12::miller_loop(&q, &p))),
        "final" => {
            let value = blst_fp12::miller_loop(&q, &p);
            Box::new(move || _ = black_box(value.final_exp()))
        }
        "g1" => {
            let (mut generator, mut point) = (blst_p1::default(), blst_p1::default());
            // SAFETY: all pointers are to values of the required types.
            unsafe {
                blst_p1_from_affine(&mut generator, &p);
                blst_p1_double(&mut point, &generator);
            }
            Box::new(move || {
                let mut product = blst_p1::default();
                // SAFETY: likewise, and the scalar has as many bits.
                unsafe { blst_p1_mult(&mut product, &point, scalar.as_ptr(), BITS) };
                black_box(product);
            })
        }
        "g2" => {
            let (mut generator, mut point) = (blst_p2::default(), blst_p2::default());
            // SAFETY: all pointers are to values of the required types.
            unsafe {
                blst_p2_from_affine(&mut generator, &q);
                blst_p2_double(&mut point, &generator);
            }
            Box::new(move || {
                let mut product = blst_p2::default();
                // SAFETY: likewise, and the scalar has as many bits.
                unsafe { blst_p2_mult(&mut product, &point, scalar.as_ptr(), BITS) };
                black_box(product);
            })
        }
        "sign" => Box::new(move || _ = black_box(key.sign(MESSAGE, TAG, &[]))),
        "verify" => Box::new(move || {
            let outcome = signature.verify(false, MESSAGE, TAG, &[], &public, false);
            assert_eq!(outcome, BLST_ERROR::BLST_SUCCESS);
        }),
        _ => return None,
    })
}
