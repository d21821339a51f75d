//! The BLS12-381 interface of the library `cycloid`, on the arithmetic of blst.
//!
//! [`Blst`] is a backend of [`cycloid::bls12_381`]: code generic over the backend runs on it. Where
//! blst gives wrong results for some inputs (empty lists, points outside the groups), this crate
//! corrects them.
//!
//! ```
//! use cycloid::bls12_381::signature::{MinPk, PublicKey, Scheme, SecretKey, Signature};
//! use cycloid::bls12_381::{self as bls, Fr, G1, G2};
//! use cycloid_blst::Blst;
//!
//! // A signature, sent as bytes and verified with the public key.
//! let rng = &mut getrandom::SysRng;
//! let key = SecretKey::<Blst, MinPk>::generate(rng)?;
//! let sent = (key.public_key().to_bytes(), key.sign(Scheme::Basic, b"message").to_bytes());
//! let public_key = PublicKey::<Blst, MinPk>::from_bytes(&sent.0)?;
//! public_key.verify(Scheme::Basic, b"message", &Signature::from_bytes(&sent.1)?)?;
//!
//! // The pairing is bilinear.
//! let (a, b) = (Fr::<Blst>::random(rng)?, Fr::random(rng)?);
//! let (p, q) = ((G1::generator() * a).to_affine(), (G2::generator() * b).to_affine());
//! let product = bls::pairing(&G1::generator().to_affine(), &G2::generator().to_affine());
//! assert_eq!(bls::pairing(&p, &q), product.pow(&(a * b)));
//!
//! // 3·P + 5·Q, with scratch from the caller.
//! let points = [p, G1::random(rng)?.to_affine()];
//! let mut scratch = vec![0; G1::<Blst>::multi_scalar_scratch_limbs(points.len())];
//! let scalars = [Fr::from(3), Fr::from(5)];
//! let sum = G1::multi_scalar_multiply_vartime(&points, &scalars, &mut scratch)?;
//! assert_eq!(sum, G1::from(points[0]) * scalars[0] + G1::from(points[1]) * scalars[1]);
//! # Ok::<(), bls::Error>(())
//! ```

#![no_std]

mod ffi;
mod group;
mod pairing;
mod scalars;

use cycloid::bls12_381::Backend;

/// The backend on blst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blst;

impl Backend for Blst {
    const NAME: &'static str = "blst";
}
