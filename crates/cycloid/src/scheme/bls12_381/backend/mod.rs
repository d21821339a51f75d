//! The interface of a backend: arithmetic on its own representations, and nothing else. Encodings,
//! operators, transforms and signatures are built on it once for all backends.
//!
//! A backend is a type without values that implements [`Scalars`] (the field Fr), [`Group`] for
//! [`First`] and for [`Second`] (G1 and G2), [`Pairing`] (Fq12 and the pairing), and [`Backend`].
//! It chooses its representations: a scalar may be in Montgomery form, a point Jacobian or
//! homogeneous. Inputs and outputs are integers as little-endian limbs and coordinates as
//! big-endian bytes.
//!
//! Methods with a default body are correct as they stand; a backend overrides those that it can
//! speed up. Slices hold the public types, which have the same layout as the representations they
//! wrap (`repr(transparent)`); `raw` and `from_raw` convert between them. No method panics for
//! values that its argument types can hold, nor for an empty slice. Slices that belong together
//! have equal lengths.
//!
//! Time depends on no value, unless the name ends in `_vartime`; whether a point is infinity, and
//! results of type `bool`, are public.

#[cfg(feature = "group")]
mod field_constants;
mod formula;
pub(super) mod group;
mod pairing;
pub(super) mod scalars;
mod source_group;

pub use super::hash::Message;
pub use super::integer::Integer;
pub use crate::machine::ct::Mask;
#[cfg(feature = "group")]
pub use field_constants::FieldConstants;
pub use formula::{Formula, Ring};
pub use group::Group;
pub use pairing::Pairing;
pub use scalars::Scalars;
pub use source_group::{First, Second, SourceGroup};

/// A complete arithmetic of BLS12-381.
pub trait Backend: Pairing {
    /// The backend's name in tests and tables.
    const NAME: &'static str;
}
