//! BMI2 and ADX for one number.

use super::super::cpu::Adx;
use super::super::ct::Mask;
use super::super::words::{Limb, Portable};
use super::{Arithmetic, P224, P256, P384, P521, P25519, Prime};

macro_rules! as_portable {
    ($($prime:ident)+) => {$(
        impl Arithmetic<$prime> for Adx {
            const NAME: &'static str = "adx";
            const WIDTH: usize = 1;
            type Element = <Portable as Arithmetic<$prime>>::Element;
            type Word = Limb;
            type Mask = Mask;
            const STORED_LIMBS: usize = <Portable as Arithmetic<$prime>>::STORED_LIMBS;
            const ZERO: Self::Element = <Portable as Arithmetic<$prime>>::ZERO;
            #[inline]
            fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element { Arithmetic::<$prime>::mul(Portable, a, b) }
            #[inline]
            fn square(self, a: &Self::Element) -> Self::Element { Arithmetic::<$prime>::square(Portable, a) }
            fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element { Arithmetic::<$prime>::mul_small(Portable, a, small) }
            #[inline]
            fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element { Arithmetic::<$prime>::add(Portable, a, b) }
            #[inline]
            fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element { Arithmetic::<$prime>::sub(Portable, a, b) }
            fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask { Arithmetic::<$prime>::equal(Portable, a, b) }
            fn select(self, mask: Mask, a: &Self::Element, b: &Self::Element) -> Self::Element { Arithmetic::<$prime>::select(Portable, mask, a, b) }
            fn load(self, numbers: &[<$prime as Prime>::Words]) -> Self::Element { Arithmetic::<$prime>::load(Portable, numbers) }
            fn store(self, element: &Self::Element, numbers: &mut [<$prime as Prime>::Words]) { Arithmetic::<$prime>::store(Portable, element, numbers) }
            fn stored(self, constant: &[Limb]) -> Self::Element { Arithmetic::<$prime>::stored(Portable, constant) }
            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) { Arithmetic::<$prime>::lookup_stored(Portable, out, table, index) }
            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) { Arithmetic::<$prime>::lookup(Portable, out, table, index) }
            #[inline(always)]
            fn word(self, mut limb: impl FnMut(usize) -> Limb) -> Limb { limb(0) }
            #[inline(always)]
            fn mask(self, mut value: impl FnMut(usize) -> Mask) -> Mask { value(0) }
        }
    )+};
}
as_portable!(P224 P256 P384 P521 P25519);
