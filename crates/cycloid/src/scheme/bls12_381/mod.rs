//! BLS12-381: the groups, the pairing, and signatures, on interchangeable backends.
//!
//! Every type takes a [`Backend`], which computes: [`Cycloid`], the library's own, where nothing else
//! is said. What stands above the arithmetic is written once for all of them, so that a program runs
//! on another backend, that of the crate `cycloid-blst` for one, by changing one type.
//!
//! ```
//! use cycloid::bls12_381::{Cycloid, Fr, G1, G2, pairing};
//!
//! // Any other backend goes here.
//! type B = Cycloid;
//!
//! let (a, b) = (Fr::<B>::from(6), Fr::<B>::from(7));
//! let left = pairing(&(G1::<B>::generator() * a).to_affine(), &(G2::<B>::generator() * b).to_affine());
//! let right = pairing(&(G1::<B>::generator() * (a * b)).to_affine(), &G2::<B>::generator().to_affine());
//! assert_eq!(left, right);
//! ```
//!
//! - [`Fr`]: scalars. [`Domain`]: Fourier transforms over Fr, G1 and G2.
//! - [`G1`], [`G2`] and [`G1Affine`], [`G2Affine`]: members of the groups, and nothing else;
//!   encodings are checked. [`G1CurvePoint`], [`G2CurvePoint`]: any points of the curves.
//! - [`signature`]: BLS signatures.
//! - [`Gt`], in [`Fq12`]; [`pairing()`], [`multi_pairing`], [`pairing_check`], [`miller_loop`],
//!   [`G2Prepared`].
//!
//! **Encodings.** Points have ZCash's encodings, big-endian; scalars are little-endian, unless a
//! name says otherwise; elements of Fq12 are twelve little-endian integers.
//!
//! **Memory.** Nothing is allocated. Lists are slices; what needs room takes the caller's scratch,
//! or works in pieces of a fixed size. With the feature `rayon`, sums of many multiples use as many
//! threads as there are, and as much scratch for each.
//!
//! **Time** depends on no value where no name ends in `_vartime`. Whether a point is infinity and
//! the results of comparisons are public; so is what is decoded, and what is hashed.

mod affine;
pub mod backend;
mod curve_point;
mod encoding;
mod error;
mod fft;
mod fr;
mod hash;
mod integer;
mod msm;
mod operators;
mod own;
mod pairing;
mod projective;
pub mod signature;
mod target;

pub use affine::{Affine, G1Affine, G2Affine};
pub use backend::{Backend, First, Message, Second, SourceGroup};
pub use curve_point::{CurvePoint, G1CurvePoint, G2CurvePoint};
pub use error::Error;
pub use fft::Domain;
pub use fr::Fr;
pub use hash::expand_message;
pub use own::Cycloid;
pub use pairing::{
    G2Prepared, miller_loop, miller_loop_prepared, multi_pairing, pairing, pairing_check,
};
pub use projective::{G1, G2, Projective};
pub use target::{Fq12, Gt};
