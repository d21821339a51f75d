//! Curves whose keys are computed one at a time, without tables of the generator's multiples: for
//! keys that other software made. The formulas and the constant time are those of the other curves.

use super::across;
use super::affine::{AffinePoint, IsOnCurve, Ordinate};
use super::any_point::{AnyPoint, Operation};
use super::coefficient::{Coefficient, double_times};
use super::combined::AllHold;
use super::multiply::{BaseTable, MultiplyBase, MultiplyBaseEach, MultiplyPoint};
use super::multiply_vartime::{HasX, HasXEight, Sum};
use super::operations::operations;
use super::prepared::{HasXPrepared, WriteMultiples};
use super::{Curve, Words, scalar};
use crate::machine::field::CurvePrime as _;
use crate::machine::field::{self, Arithmetic, CurveArithmetic, Prime};
use crate::machine::lanes;
use crate::machine::words::{self, Limb};

macro_rules! single_curves {
    ($($(#[$doc:meta])* $curve:ident $name:literal $identifier:literal $bits:literal
        order [$($order:literal)+] a [$($a:literal)+] b [$($b:literal)+]
        x [$($x:literal)+] y [$($y:literal)+];)+
    ) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $curve;

        impl $curve {
            /// a.
            pub(super) const A: Words<Self> = [$($a),+];
        }

        impl Coefficient<field::$curve> for $curve {
            fn add_product<A: Arithmetic<field::$curve>>(
                f: A,
                sum: &A::Element,
                x: &A::Element,
            ) -> A::Element {
                f.add(sum, &f.mul(&f.load(&[Self::A]), x))
            }

            fn double_times<A: CurveArithmetic<field::$curve>>(
                f: A,
                point: &[A::Element; 3],
                times: usize,
            ) -> [A::Element; 3] {
                double_times::<field::$curve, Self, A>(f, point, times)
            }
        }

        impl Curve for $curve {
            type Field = field::$curve;
            type Coefficient = Self;
            const NAME: &'static str = $name;
            const OBJECT_IDENTIFIER: &'static str = $identifier;
            const BITS: usize = $bits;
            const ORDER: Words<Self> = [$($order),+];
            const ORDER_R_SQUARED: Words<Self> = scalar::r_squared(&Self::ORDER);
            const ORDER_N0: Limb = words::montgomery_n0(Self::ORDER[0]);
            const B: Words<Self> = [$($b),+];
            const GENERATOR: [Words<Self>; 2] = [[$($x),+], [$($y),+]];
            const BASE_ONE: [BaseTable; 2] = [BaseTable::NONE; 2];
            const BASE_EIGHT: BaseTable = BaseTable::NONE;

            #[inline]
            fn lanes() -> Option<lanes::Backend> {
                None
            }

            operations!();
        }
    )+};
}

single_curves! {
    /// P-192, also secp192r1 and prime192v1 (SEC 2, section 2.2.2), for old data: its keys are too
    /// short for new data.
    P192 "P-192" "1.2.840.10045.3.1.1" 192
        order [0x146bc9b1b4d22831 0xffffffff99def836 0xffffffffffffffff]
        a [0xfffffffffffffffc 0xfffffffffffffffe 0xffffffffffffffff]
        b [0xfeb8deecc146b9b1 0x0fa7e9ab72243049 0x64210519e59c80e7]
        x [0xf4ff0afd82ff1012 0x7cbf20eb43a18800 0x188da80eb03090f6]
        y [0x73f977a11e794811 0x631011ed6b24cdd5 0x07192b95ffc8da78];
    /// secp256k1 (SEC 2, section 2.4.1).
    Secp256k1 "secp256k1" "1.3.132.0.10" 256
        order [0xbfd25e8cd0364141 0xbaaedce6af48a03b 0xfffffffffffffffe 0xffffffffffffffff]
        a [0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000]
        b [0x0000000000000007 0x0000000000000000 0x0000000000000000 0x0000000000000000]
        x [0x59f2815b16f81798 0x029bfcdb2dce28d9 0x55a06295ce870b07 0x79be667ef9dcbbac]
        y [0x9c47d08ffb10d4b8 0xfd17b448a6855419 0x5da4fbfc0e1108a8 0x483ada7726a3c465];
    /// brainpoolP256r1 (RFC 5639, section 3.4).
    BrainpoolP256 "brainpoolP256r1" "1.3.36.3.3.2.8.1.1.7" 256
        order [0x901e0e82974856a7 0x8c397aa3b561a6f7 0x3e660a909d838d71 0xa9fb57dba1eea9bc]
        a [0xe94a4b44f330b5d9 0xfb8055c126dc5c6c 0xeef67530417affe7 0x7d5a0975fc2c3057]
        b [0x6bccdc18ff8c07b6 0x958416295cf7e1ce 0xf330b5d9bbd77cbf 0x26dc5c6ce94a4b44]
        x [0x3a4453bd9ace3262 0xb9de27e1e3bd23c2 0x2c4b482ffc81b7af 0x8bd2aeb9cb7e57cb]
        y [0x5c1d54c72f046997 0xc27745132ded8e54 0x97f8461a14611dc9 0x547ef835c3dac4fd];
    /// brainpoolP384r1 (RFC 5639, section 3.6).
    BrainpoolP384 "brainpoolP384r1" "1.3.36.3.3.2.8.1.1.11" 384
        order [0x3b883202e9046565 0xcf3ab6af6b7fc310 0x1f166e6cac0425a7 0x152f7109ed5456b3
               0x0f5d6f7e50e641df 0x8cb91e82a3386d28]
        a [0x04a8c7dd22ce2826 0x8aa5814a503ad4eb 0x139165efba91f90f 0xc2bea28e4fb22787
           0x3c72080ace05afa0 0x7bc382c63d8c150c]
        b [0x3ab78696fa504c11 0x7cb4390295dbc994 0x2e880ea53eeb62d5 0x2fb77de107dcd2a6
           0x8b39b55416f0447c 0x04a8c7dd22ce2826]
        x [0xef87b2e247d4af1e 0xe826e03436d646aa 0xdb7fcafe0cbd10e8 0x8847a3e77ef14fe3
           0xa2a63a81b7c13f6b 0x1d1c64f068cf45ff]
        y [0x42820341263c5315 0x0e46462177918111 0xe19c054ff9912928 0x62b70b29feec5864
           0x5cb1eb8e95cfd552 0x8abe1d7520f9c2a4];
    /// brainpoolP512r1 (RFC 5639, section 3.7).
    BrainpoolP512 "brainpoolP512r1" "1.3.36.3.3.2.8.1.1.13" 512
        order [0xb58796829ca90069 0x1db1d381085ddadd 0x418661197fac1047 0x553e5c414ca92619
               0xd6639cca70330870 0xcb308db3b3c9d20e 0x3fd4e6ae33c9fc07 0xaadd9db8dbe9c48b]
        a [0xe7c1ac4d77fc94ca 0x7f1117a72bf2c7b9 0x0a2ef1c98b9ac8b5 0x2ded5d5aa8253aa1
           0xa83441caea9863bc 0x94cbdd8d3df91610 0xe2327145ac234cc5 0x7830a3318b603b89]
        b [0x2809bd638016f723 0x984050b75ebae5dd 0x77fc94cadc083e67 0x2bf2c7b9e7c1ac4d
           0x8b9ac8b57f1117a7 0xa8253aa10a2ef1c9 0xea9863bc2ded5d5a 0x3df91610a83441ca]
        x [0x8b352209bcb9f822 0x7c6d5047406a5e68 0x50d1687b93b97d5f 0xff3b1f78e2d0d48d
           0xb43b62eef4d0098e 0x85ed9f70b5d916c1 0x5a21322e9c4c6a93 0x81aee4bdd82ed964]
        y [0x78cd1e0f3ad80892 0xd1ca2b2fa8f05406 0x5bca4bd88a2763ae 0xb2dcde494a5f485e
           0xa000c55b881f8111 0xf209f70024a57b1a 0xc0eabfa9cf7822fd 0x7dde385d566332ec];
}
