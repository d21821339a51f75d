//! Armv7E-M for one number: kernels with UMAAL for P-256 and 2²⁵⁵ − 19.
//!
//! P-224, P-384 and the primes of BLS12-381 use the kernels of `words` (`dense`). P-521 is as in
//! plain Rust.

use super::super::cpu::Armv7em;
use super::super::ct::Mask;
use super::super::words::{Limb, Portable};
use super::portable::one_number;
use super::{Arithmetic, CurveArithmetic, P224, P256, P384, P521, P25519};

/// The arithmetic of plain Rust.
macro_rules! as_portable {
    ($prime:ident) => {
        impl Arithmetic<$prime> for Armv7em {
            type Element = <Portable as Arithmetic<$prime>>::Element;
            const STORED_LIMBS: usize = <Portable as Arithmetic<$prime>>::STORED_LIMBS;
            const ZERO: Self::Element = <Portable as Arithmetic<$prime>>::ZERO;

            one_number!();

            #[inline(always)]
            fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                Arithmetic::<$prime>::mul(Portable, a, b)
            }

            #[inline(always)]
            fn square(self, a: &Self::Element) -> Self::Element {
                Arithmetic::<$prime>::square(Portable, a)
            }

            #[inline(always)]
            fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
                Arithmetic::<$prime>::mul_small(Portable, a, small)
            }

            #[inline(always)]
            fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                Arithmetic::<$prime>::add(Portable, a, b)
            }

            #[inline(always)]
            fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                Arithmetic::<$prime>::sub(Portable, a, b)
            }

            fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
                Arithmetic::<$prime>::equal(Portable, a, b)
            }

            fn load(self, numbers: &[<$prime as super::Prime>::Words]) -> Self::Element {
                Arithmetic::<$prime>::load(Portable, numbers)
            }

            fn store(self, a: &Self::Element, numbers: &mut [<$prime as super::Prime>::Words]) {
                Arithmetic::<$prime>::store(Portable, a, numbers);
            }

            fn stored(self, constant: &[Limb]) -> Self::Element {
                Arithmetic::<$prime>::stored(Portable, constant)
            }

            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                Arithmetic::<$prime>::lookup_stored(Portable, out, table, index);
            }

            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                Arithmetic::<$prime>::lookup(Portable, out, table, index);
            }
        }
    };
}

as_portable!(P521);
as_portable!(P25519);

impl CurveArithmetic<P224> for Armv7em {}
impl CurveArithmetic<P256> for Armv7em {}
impl CurveArithmetic<P384> for Armv7em {}
impl CurveArithmetic<P521> for Armv7em {}
impl CurveArithmetic<P25519> for Armv7em {}
