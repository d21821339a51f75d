//! Implementations of the traits of the crates `ff` and `group` 0.13 and `pairing` 0.23, so that
//! code that is generic over them runs on any backend.
//!
//! | type | traits |
//! |---|---|
//! | `Fr` | `Field`, `PrimeField`, `WithSmallOrderMulGroup<3>`, `FromUniformBytes<64>` |
//! | `G1`, `G2` | `Group`, `Curve`, `PrimeGroup`, `PrimeCurve`, `GroupEncoding`, `WnafGroup` |
//! | `G1Affine`, `G2Affine` | `PrimeCurveAffine`, `PairingCurveAffine`, both encodings |
//! | `Gt` | `Group`, written additively |
//! | `Bls12` | `Engine`, `MultiMillerLoop` |

mod field;
mod operators;
mod pairing;
mod points;

pub use pairing::{Bls12, MillerLoopResult};
pub use points::{Compressed, Uncompressed};
