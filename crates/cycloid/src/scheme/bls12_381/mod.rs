//! BLS12-381: the groups, the pairing, and signatures, on interchangeable backends.
//!
//! Every type takes a [`Backend`] as a parameter, which computes; the default is [`Cycloid`], the
//! library's own. Everything above the arithmetic is written once for all backends. A program
//! switches to another backend, such as that of the crate `cycloid-blst`, by changing one type.
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
//! - [`Fr`]: scalars. [`polynomial`]: polynomials over Fr. [`Domain`]: Fourier transforms over Fr,
//!   G1 and G2, also on cosets, and polynomials by their values.
//! - [`permutation`]: hash functions over Fr with cheap proofs: Poseidon, Rescue-Prime, Anemoi with
//!   Jive, and Griffin.
//! - [`G1`], [`G2`] and [`G1Affine`], [`G2Affine`]: members of the groups only; encodings are
//!   checked. [`G1CurvePoint`], [`G2CurvePoint`]: arbitrary points of the curves.
//!   [`PreparedSums`]: sums of multiples of fixed points.
//! - [`Fp`], [`Fp2`]: the fields of the coordinates. [`hash_to_field`] and [`Expander`]: hashing to
//!   any of the fields.
//! - [`signature`]: BLS signatures. [`eip2537`]: Ethereum's precompiled contracts.
//! - [`Gt`], in [`Fq12`]; [`pairing()`], [`multi_pairing`], [`pairing_check`], [`miller_loop`],
//!   [`G2Prepared`], [`PairingProduct`].
//! - With the feature `group`, `Bls12`: all of this through the traits of the crates `ff`, `group`
//!   and `pairing`.
//!
//! **Encodings.** Points have ZCash's encodings, big-endian. Scalars are little-endian, unless a
//! function's name says otherwise. Elements of Fp and Fp2 are big-endian, as coordinates are, and
//! those of Fq12 are twelve little-endian integers.
//!
//! **Memory.** Nothing is allocated, except by [`signature::aggregate_verify`] with the feature
//! `alloc`. Lists are slices. Operations that need memory take the caller's scratch or work in
//! pieces of a fixed size. With the feature `rayon`, sums of many multiples use all available
//! threads, and as much scratch for each; [`PreparedSums`] uses one.
//!
//! **Time** depends on no value, except in functions ending in `_vartime`. Whether a point is
//! infinity and the results of comparisons are public; so are decoded and hashed inputs.

mod affine;
pub mod backend;
mod base_field;
mod curve_point;
mod cycloid;
pub mod eip2537;
mod encoding;
mod error;
mod fft;
mod fr;
mod hash;
mod integer;
mod operators;
mod own;
mod pairing;
pub mod permutation;
pub mod polynomial;
mod prepared;
mod projective;
mod references;
pub mod signature;
mod target;
#[cfg(feature = "group")]
mod traits;

pub use backend::group::{Affine, G1, G1Affine, G2, G2Affine, Projective};
pub use backend::scalars::Fr;
pub use backend::{Backend, First, Message, Second, SourceGroup};
pub use base_field::{Fp, Fp2};
pub use curve_point::{CurvePoint, G1CurvePoint, G2CurvePoint};
pub use cycloid::Cycloid;
pub use error::Error;
pub use fft::{Domain, bit_reversal_permutation};
pub use hash::{Expander, HashedField, XmdSha256, XmdSha512, expand_message, hash_to_field};
#[cfg(feature = "sha3")]
pub use hash::{XofShake128, XofShake256};
#[cfg(feature = "internals")]
pub use own::raw;
pub use pairing::{
    G2Prepared, PairingProduct, miller_loop, miller_loop_prepared, multi_pairing, pairing,
    pairing_check,
};
pub use prepared::PreparedSums;
pub use target::{Fq12, Gt};
#[cfg(feature = "group")]
pub use traits::{Bls12, Compressed, MillerLoopResult, Uncompressed};
