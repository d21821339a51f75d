//! The constants of Fr that the traits of the crate `ff` have at compile time.

use super::Scalars;

/// Constants of the field Fr, in the backend's representation. A backend that has them supports the
/// traits of the crates `ff`, `group` and `pairing`.
pub trait FieldConstants: Scalars {
    /// 1/2.
    const TWO_INVERSE: Self::Fr;

    /// 7, which generates the multiplicative group.
    const GENERATOR: Self::Fr;

    /// 7^((r − 1)/2³²), a primitive 2³²-th root of unity.
    const ROOT_OF_UNITY: Self::Fr;

    /// The inverse of [`ROOT_OF_UNITY`](Self::ROOT_OF_UNITY).
    const ROOT_OF_UNITY_INVERSE: Self::Fr;

    /// 7^(2³²), which has an odd order.
    const DELTA: Self::Fr;

    /// The smaller of the two primitive third roots of unity, as an integer.
    const CUBE_ROOT_OF_UNITY: Self::Fr;
}
