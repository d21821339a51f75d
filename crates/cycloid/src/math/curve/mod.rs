//! Elliptic curves: points and their multiples.
//!
//! Formulas are written over field elements ([`Element`](super::field::Element)) and so serve one
//! point or eight side by side. The code never branches on secrets. Functions whose names end in
//! `_vartime` take public values only.

mod across;
mod affine;
mod any_point;
mod coefficient;
mod combined;
mod compact;
mod digits;
pub(crate) mod edwards;
#[cfg(feature = "sha3")]
pub(crate) mod edwards448;
mod jacobian;
pub(crate) mod montgomery;
mod multiply;
mod multiply_vartime;
mod operations;
mod prepared;
mod scalar;
mod single;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use core::fmt::Debug;

use crate::machine::field::{self, CurvePrime, Prime};
use crate::machine::lanes;
use crate::machine::words::{self, Limb};
pub(crate) use affine::AffinePoint;
pub(crate) use affine::DecodeError;
use affine::{IsOnCurve, Ordinate};
pub(crate) use any_point::AnyPoint;
use any_point::Operation;
use coefficient::{Coefficient, MinusThree};
use combined::AllHold;
pub(crate) use combined::{Equation, Equations, Factor, all_hold_vartime};
pub(crate) use multiply::BaseTable;
use multiply::{MultiplyBase, MultiplyBaseEach, MultiplyPoint};
pub(crate) use multiply::{
    TOGETHER, multiply, multiply_base, multiply_base_each, multiply_base_eight, multiply_eight,
};
use multiply_vartime::{HasX, HasXEight, Sum};
pub(crate) use multiply_vartime::{has_x_eight_vartime, has_x_vartime, multiply_add_vartime};
use operations::operations;
use prepared::{HasXPrepared, WriteMultiples};
pub(crate) use prepared::{
    has_x_prepared_eight_vartime, has_x_prepared_vartime, multiples_limbs, write_multiples,
};
pub(crate) use scalar::Scalar;
pub use single::{BrainpoolP256, BrainpoolP384, BrainpoolP512, P192, Secp256k1};

/// A curve y² = x³ + a·x + b over a prime field, of prime order.
///
/// A new curve needs its prime in `machine::field`, the formulas for its a as a `Coefficient`, and
/// tables of its generator's multiples if it should be fast; everything else is written for any
/// curve.
pub trait Curve: Copy + Debug + Default + PartialEq + Eq + Send + Sync + 'static {
    /// The field of the coordinates.
    #[doc(hidden)]
    type Field: CurvePrime;

    /// a, and the formulas for it.
    #[doc(hidden)]
    type Coefficient: Coefficient<Self::Field>;

    /// The name in SP 800-186, or in the curve's own standard.
    const NAME: &'static str;

    /// The object identifier, dotted.
    #[doc(hidden)]
    const OBJECT_IDENTIFIER: &'static str;

    /// Bits of the order, and of the prime.
    const BITS: usize;

    /// Bytes of a coordinate, and of a scalar.
    const BYTES: usize = Self::BITS.div_ceil(8);

    /// The order n of the group, a prime.
    #[doc(hidden)]
    const ORDER: Words<Self>;

    /// R² mod n and −1/n mod 2⁶⁴, where R = 2^(64·limbs): for Montgomery products modulo n.
    #[doc(hidden)]
    const ORDER_R_SQUARED: Words<Self>;
    #[doc(hidden)]
    const ORDER_N0: Limb;

    /// b.
    #[doc(hidden)]
    const B: Words<Self>;

    /// The coordinates of the generator G.
    #[doc(hidden)]
    const GENERATOR: [Words<Self>; 2];

    /// Multiples of G for one number: the large and the small table; none for curves that do
    /// without.
    #[doc(hidden)]
    const BASE_ONE: [BaseTable; 2];

    /// Multiples of G for eight.
    #[doc(hidden)]
    const BASE_EIGHT: BaseTable;

    /// Returns the backend for eight points side by side, if the processor and the curve have one.
    #[doc(hidden)]
    fn lanes() -> Option<lanes::Backend>;

    /// Computes a multiple of the generator, or several one after the other or side by side.
    #[doc(hidden)]
    fn multiply_base(task: MultiplyBase<'_, Self>);
    #[doc(hidden)]
    fn multiply_base_each(task: MultiplyBaseEach<'_, Self>);
    #[doc(hidden)]
    fn multiply_base_eight(backend: lanes::Backend, task: MultiplyBase<'_, Self>);

    /// Computes a multiple of a point, or eight.
    #[doc(hidden)]
    fn multiply_point(task: MultiplyPoint<'_, Self>);
    #[doc(hidden)]
    fn multiply_point_eight(backend: lanes::Backend, task: MultiplyPoint<'_, Self>);

    /// Computes a sum of two public multiples; `None` for infinity.
    #[doc(hidden)]
    fn sum_vartime(task: Sum<'_, Self>) -> Option<AffinePoint<Self>>;

    /// Computes a point that may be infinity.
    #[doc(hidden)]
    fn point(operation: Operation<'_, Self>) -> AnyPoint<Self>;

    /// Returns whether a sum of two public multiples has the given x coordinate.
    #[doc(hidden)]
    fn has_x_vartime(task: HasX<'_, Self>) -> bool;
    #[doc(hidden)]
    fn has_x_eight_vartime(
        backend: lanes::Backend,
        task: HasXEight<'_, Self>,
    ) -> [bool; lanes::LANES];

    /// Precomputes multiples of a public point, for later sums.
    #[doc(hidden)]
    fn write_multiples(task: WriteMultiples<'_, Self>);

    /// Tests whether sums of two public multiples have the given x coordinates, using precomputed
    /// multiples.
    #[doc(hidden)]
    fn has_x_prepared_vartime(task: HasXPrepared<'_, Self>);
    #[doc(hidden)]
    fn has_x_prepared_eight_vartime(backend: lanes::Backend, task: HasXPrepared<'_, Self>);

    /// Returns whether a combination of equations holds.
    #[doc(hidden)]
    fn all_hold_vartime(task: AllHold<'_, Self>) -> bool;

    /// Returns whether coordinates are those of a point.
    #[doc(hidden)]
    fn is_on_curve(task: IsOnCurve<'_, Self>) -> bool;

    /// Returns a y coordinate for an x coordinate.
    #[doc(hidden)]
    fn ordinate(task: Ordinate<'_, Self>) -> Option<Words<Self>>;
}

/// An integer as long as a coordinate or a scalar of the curve: little-endian limbs.
#[doc(hidden)]
pub(crate) type Words<C> = <<C as Curve>::Field as Prime>::Words;

macro_rules! curves {
    ($($(#[$doc:meta])* $curve:ident $name:literal $identifier:literal $bits:literal
        order [$($order:literal)+] a $a:ident b [$($b:literal)+] x [$($x:literal)+] y [$($y:literal)+]
        one [$t1:ident $w1:literal $s1:literal, $t2:ident $w2:literal $s2:literal]
        $(narrow [$t3:ident $w3:literal $s3:literal])?
        eight [$t8:ident $w8:literal $s8:literal];)+
    ) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $curve;

        impl Curve for $curve {
            type Field = field::$curve;
            type Coefficient = $a;
            const NAME: &'static str = $name;
            const OBJECT_IDENTIFIER: &'static str = $identifier;
            const BITS: usize = $bits;
            const ORDER: Words<Self> = [$($order),+];
            const ORDER_R_SQUARED: Words<Self> = scalar::r_squared(&Self::ORDER);
            const ORDER_N0: Limb = words::montgomery_n0(Self::ORDER[0]);
            const B: Words<Self> = [$($b),+];
            const GENERATOR: [Words<Self>; 2] = [[$($x),+], [$($y),+]];
            const BASE_ONE: [BaseTable; 2] = {
                let large = BaseTable { window: $w1, spacing: $s1, limbs: &tables::$t1 };
                $(let large = if cfg!(target_pointer_width = "32") {
                    BaseTable { window: $w3, spacing: $s3, limbs: &tables::$t3 }
                } else {
                    large
                };)?
                [large, BaseTable { window: $w2, spacing: $s2, limbs: &tables::$t2 }]
            };
            const BASE_EIGHT: BaseTable =
                BaseTable { window: $w8, spacing: $s8, limbs: &tables::$t8 };

            #[inline]
            fn lanes() -> Option<lanes::Backend> {
                lanes::Backend::best()
            }

            operations!();
        }
    )+};
}

curves! {
    /// P-224 (SP 800-186, section 3.2.1.2).
    P224 "P-224" "1.3.132.0.33" 224
        order [0x13dd29455c5c2a3d 0xffff16a2e0b8f03e 0xffffffffffffffff 0x00000000ffffffff]
        a MinusThree b [0x270b39432355ffb4 0x5044b0b7d7bfd8ba 0x0c04b3abf5413256 0x00000000b4050a85]
        x [0x343280d6115c1d21 0x4a03c1d356c21122 0x6bb4bf7f321390b9 0x00000000b70e0cbd]
        y [0x44d5819985007e34 0xcd4375a05a074764 0xb5f723fb4c22dfe6 0x00000000bd376388]
        one [P224_ONE 5 1, P224_SMALL 5 11] eight [P224_EIGHT 5 1];
    /// P-256, also secp256r1 and prime256v1 (SP 800-186, section 3.2.1.3).
    P256 "P-256" "1.2.840.10045.3.1.7" 256
        order [0xf3b9cac2fc632551 0xbce6faada7179e84 0xffffffffffffffff 0xffffffff00000000]
        a MinusThree b [0x3bce3c3e27d2604b 0x651d06b0cc53b0f6 0xb3ebbd55769886bc 0x5ac635d8aa3a93e7]
        x [0xf4a13945d898c296 0x77037d812deb33a0 0xf8bce6e563a440f2 0x6b17d1f2e12c4247]
        y [0xcbb6406837bf51f5 0x2bce33576b315ece 0x8ee7eb4a7c0f9e16 0x4fe342e2fe1a7f9b]
        one [P256_ONE 7 1, P256_SMALL 5 17] narrow [P256_NARROW 6 1] eight [P256_EIGHT 6 1];
    /// P-384, also secp384r1 (SP 800-186, section 3.2.1.4).
    P384 "P-384" "1.3.132.0.34" 384
        order [0xecec196accc52973 0x581a0db248b0a77a 0xc7634d81f4372ddf 0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff]
        a MinusThree b [0x2a85c8edd3ec2aef 0xc656398d8a2ed19d 0x0314088f5013875a 0x181d9c6efe814112 0x988e056be3f82d19 0xb3312fa7e23ee7e4]
        x [0x3a545e3872760ab7 0x5502f25dbf55296c 0x59f741e082542a38 0x6e1d3b628ba79b98 0x8eb1c71ef320ad74 0xaa87ca22be8b0537]
        y [0x7a431d7c90ea0e5f 0x0a60b1ce1d7e819d 0xe9da3113b5f0b8c0 0xf8f41dbd289a147c 0x5d9e98bf9292dc29 0x3617de4a96262c6f]
        one [P384_ONE 5 2, P384_SMALL 5 19] eight [P384_EIGHT 5 2];
    /// P-521, also secp521r1 (SP 800-186, section 3.2.1.5).
    P521 "P-521" "1.3.132.0.35" 521
        order [0xbb6fb71e91386409 0x3bb5c9b8899c47ae 0x7fcc0148f709a5d0 0x51868783bf2f966b 0xfffffffffffffffa 0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff 0x00000000000001ff]
        a MinusThree b [0xef451fd46b503f00 0x3573df883d2c34f1 0x1652c0bd3bb1bf07 0x56193951ec7e937b 0xb8b489918ef109e1 0xa2da725b99b315f3 0x929a21a0b68540ee 0x953eb9618e1c9a1f 0x0000000000000051]
        x [0xf97e7e31c2e5bd66 0x3348b3c1856a429b 0xfe1dc127a2ffa8de 0xa14b5e77efe75928 0xf828af606b4d3dba 0x9c648139053fb521 0x9e3ecb662395b442 0x858e06b70404e9cd 0x00000000000000c6]
        y [0x88be94769fd16650 0x353c7086a272c240 0xc550b9013fad0761 0x97ee72995ef42640 0x17afbd17273e662c 0x98f54449579b4468 0x5c8a5fb42c7d1bd9 0x39296a789a3bc004 0x0000000000000118]
        one [P521_ONE 5 2, P521_SMALL 5 26] eight [P521_EIGHT 5 2];
}
