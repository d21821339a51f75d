//! The functions of `blst.h` and `blst_aux.h` on Cycloid's arithmetic: programs that link blst link
//! this instead.
//!
//! ```text
//! cargo xtask install --blst --prefix DIR
//! ```
//!
//! The symbols of this crate begin with `cycloid_`, so that a program can link blst beside them.
//! The installation removes the prefix. Every function has the name, the arguments and the results
//! that blst's header gives it, and is documented there; `docs/blst.md` lists the differences. Types
//! have blst's memory layout: words in Montgomery form, points in Jacobian coordinates.
//!
//! # Safety
//! A pointer refers to as much memory as the header says, aligned for its type. Inputs and outputs
//! may overlap if they are the same object. A list of pointers has either one for each item, or a
//! null pointer after some; the items then continue in memory after the last one.

// Names are those of C.
#![allow(non_camel_case_types, non_upper_case_globals)]

mod context;
mod elements;
mod extended;
mod generators;
mod groups;
mod keys;
mod lists;
mod memory;
mod pairing;
mod scalars;
mod unique;
mod weighted;

pub use context::*;
pub use elements::*;
pub use extended::*;
pub use generators::*;
pub use groups::*;
pub use keys::*;
pub use lists::*;
pub use pairing::*;
pub use scalars::*;
pub use unique::*;

/// An integer of 256 bits, little-endian.
pub type blst_scalar = [u8; 32];
/// An element of Fr.
pub type blst_fr = [u64; 4];
/// An element of Fp.
pub type blst_fp = [u64; 6];
/// An element of Fp2.
pub type blst_fp2 = [blst_fp; 2];
/// An element of Fp6, or a line of a Miller loop.
pub type blst_fp6 = [blst_fp2; 3];
/// An element of Fp12.
pub type blst_fp12 = [blst_fp2; 6];
/// A point of the curve over Fp in Jacobian coordinates.
pub type blst_p1 = [blst_fp; 3];
/// A point of the curve over Fp, or zeros for infinity.
pub type blst_p1_affine = [blst_fp; 2];
/// A point of the curve over Fp2 in Jacobian coordinates.
pub type blst_p2 = [blst_fp2; 3];
/// A point of the curve over Fp2, or zeros for infinity.
pub type blst_p2_affine = [blst_fp2; 2];

/// `bool` of C: zero is false.
pub type c_bool = u8;

/// `BLST_ERROR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BLST_ERROR {
    /// No error.
    BLST_SUCCESS = 0,
    /// The bytes are no encoding of a point.
    BLST_BAD_ENCODING,
    /// The coordinates are not those of a point of the curve.
    BLST_POINT_NOT_ON_CURVE,
    /// The point is not in the group.
    BLST_POINT_NOT_IN_GROUP,
    /// Two contexts, or a context and a key, are for different groups.
    BLST_AGGR_TYPE_MISMATCH,
    /// The signature is not valid.
    BLST_VERIFY_FAIL,
    /// A public key is infinity.
    BLST_PK_IS_INFINITY,
    /// A scalar is not usable.
    BLST_BAD_SCALAR,
}

/// Declares functions of the header.
macro_rules! exports {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $out:ty)? $body:block)+) => {$(
        #[doc = concat!("`", stringify!($name), "` of blst's header.")]
        ///
        /// # Safety
        /// As for [the crate](crate).
        #[unsafe(export_name = concat!("cycloid_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $out)? {
            // SAFETY: the caller passes pointers as the header says.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )+};
}
use exports;
