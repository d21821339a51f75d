//! Eight numbers: the same for every backend of `lanes`.

use super::super::cpu::{Avx512, Ifma};
use super::super::ct::Mask;
use super::super::lanes::{self, LANE_LIMB_BITS, LANES, Lanes};
use super::super::words::{self, Limb, Portable};
use super::{Arithmetic, EightMasks, Limbs, P224, P256, P384, P521, P25519, Prime};

// One after the other.
macro_rules! one_after_the_other {
    ($($token:path: $name:literal $($prime:ident)+;)+) => {$($(
        impl Arithmetic<$prime> for $token {
            const NAME: &'static str = $name;
            const WIDTH: usize = LANES;
            type Element = [<Portable as Arithmetic<$prime>>::Element; LANES];
            type Word = Lanes;
            type Mask = EightMasks;
            const STORED_LIMBS: usize = <$prime as Prime>::BITS.div_ceil(LANE_LIMB_BITS);
            const ZERO: Self::Element = [<Portable as Arithmetic<$prime>>::ZERO; LANES];
            fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::mul(Portable, &a[i], &b[i])) }
            fn square(self, a: &Self::Element) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::square(Portable, &a[i])) }
            fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::mul_small(Portable, &a[i], small)) }
            fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::add(Portable, &a[i], &b[i])) }
            fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::sub(Portable, &a[i], &b[i])) }
            fn equal(self, a: &Self::Element, b: &Self::Element) -> EightMasks { EightMasks::from_lanes(|i| Arithmetic::<$prime>::equal(Portable, &a[i], &b[i])) }
            fn select(self, mask: EightMasks, a: &Self::Element, b: &Self::Element) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::select(Portable, super::Masks::at(mask, i), &a[i], &b[i])) }
            fn load(self, numbers: &[<$prime as Prime>::Words]) -> Self::Element { core::array::from_fn(|i| Arithmetic::<$prime>::load(Portable, &numbers[i..=i])) }
            fn store(self, element: &Self::Element, numbers: &mut [<$prime as Prime>::Words]) { for i in 0..LANES { Arithmetic::<$prime>::store(Portable, &element[i], &mut numbers[i..=i]) } }
            fn stored(self, constant: &[Limb]) -> Self::Element {
                // From R = 2^(52m) to a plain number by multiplications with 1/2.
                let mut lanes = [Lanes::ZERO; 16];
                for (l, c) in lanes.iter_mut().zip(constant) { l.0[0] = *c; }
                let mut number = <$prime as Prime>::Words::ZERO;
                lanes::store(&mut number, &lanes[..constant.len()], 0);
                if <$prime as Prime>::MONTGOMERY {
                    for _ in 0..52 * constant.len() {
                        let carry = if number[0] & 1 == 1 { words::add(&mut number, &<$prime as Prime>::MODULUS) } else { 0 };
                        let n = number.len();
                        for i in 0..n { number[i] = number[i] >> 1 | if i + 1 < n { number[i + 1] << 63 } else { carry << 63 }; }
                    }
                }
                [Arithmetic::<$prime>::load(Portable, &[number]); LANES]
            }
            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Lanes) {
                let n = <Self as Arithmetic<$prime>>::STORED_LIMBS;
                let places = out.len();
                for lane in 0..LANES {
                    for (place, out) in out.iter_mut().enumerate() {
                        let start = (index.0[lane] as usize * places + place) * n;
                        out[lane] = match table.get(start..start + n) {
                            Some(constant) => Arithmetic::<$prime>::stored(self, constant)[lane],
                            None => <Portable as Arithmetic<$prime>>::ZERO,
                        };
                    }
                }
            }
            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Lanes) {
                let n = out.len();
                for lane in 0..LANES {
                    for place in 0..n {
                        out[place][lane] = <Portable as Arithmetic<$prime>>::ZERO;
                        for (i, entry) in table.chunks_exact(n).enumerate() {
                            let mask = Mask::equal(i as Limb, index.0[lane]);
                            out[place][lane] = Arithmetic::<$prime>::select(Portable, mask, &entry[place][lane], &out[place][lane]);
                        }
                    }
                }
            }
            fn word(self, limb: impl FnMut(usize) -> Limb) -> Lanes { Lanes(core::array::from_fn(limb)) }
            fn mask(self, value: impl FnMut(usize) -> Mask) -> EightMasks { EightMasks::from_lanes(value) }
        }
    )+)+};
}
one_after_the_other! {
    lanes::Portable: "portable" P224 P256 P384 P521 P25519;
    Avx512: "avx512" P224 P256 P384 P521 P25519;
    Ifma: "ifma" P224 P256 P384 P521 P25519;
}
