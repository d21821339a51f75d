//! Plain Rust for one number: the fields of `fiat-crypto`, which are correct by construction.

use fiat_crypto::{curve25519_64, p224_64, p256_64, p384_64, p521_64};

use super::super::ct::{self, Mask};
use super::super::words::{self, Limb, Portable};
use super::{Arithmetic, CurveArithmetic, P224, P256, P384, P521, P25519, Prime};

/// Code shared by every backend whose element is an array of limbs of one number.
macro_rules! one_number {
    () => {
        const WIDTH: usize = 1;
        type Word = Limb;
        type Mask = Mask;

        #[inline(always)]
        fn select(self, mask: Mask, a: &Self::Element, b: &Self::Element) -> Self::Element {
            core::array::from_fn(|i| mask.select(a[i], b[i]))
        }

        #[inline(always)]
        fn word(self, mut limb: impl FnMut(usize) -> Limb) -> Limb {
            limb(0)
        }

        #[inline(always)]
        fn mask(self, mut value: impl FnMut(usize) -> Mask) -> Mask {
            value(0)
        }
    };
}
#[allow(unused_imports, reason = "for the other backends")]
pub(super) use one_number;

/// The arithmetic of plain Rust, for the token of a backend without kernels for a prime.
#[cfg(any(target_arch = "aarch64", cycloid_armv7em))]
macro_rules! as_portable {
    ($token:ident $prime:ident) => {
        impl Arithmetic<$prime> for $token {
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

            #[inline]
            fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
                Arithmetic::<$prime>::equal(Portable, a, b)
            }

            #[inline]
            fn load(self, numbers: &[<$prime as super::Prime>::Words]) -> Self::Element {
                Arithmetic::<$prime>::load(Portable, numbers)
            }

            #[inline]
            fn store(self, a: &Self::Element, numbers: &mut [<$prime as super::Prime>::Words]) {
                Arithmetic::<$prime>::store(Portable, a, numbers);
            }

            #[inline]
            fn stored(self, constant: &[Limb]) -> Self::Element {
                Arithmetic::<$prime>::stored(Portable, constant)
            }

            #[inline]
            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                Arithmetic::<$prime>::lookup_stored(Portable, out, table, index);
            }

            #[inline]
            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                Arithmetic::<$prime>::lookup(Portable, out, table, index);
            }
        }
    };
}
#[cfg(any(target_arch = "aarch64", cycloid_armv7em))]
pub(super) use as_portable;

/// A field in Montgomery form with n limbs of 64 bits.
macro_rules! montgomery {
    ($prime:ident $n:literal $module:ident $element:ident $plain:ident
        $mul:ident $square:ident $add:ident $sub:ident $to:ident $from:ident) => {
        impl Arithmetic<$prime> for Portable {
            type Element = [Limb; $n];
            const STORED_LIMBS: usize = $n;
            const ZERO: Self::Element = [0; $n];

            one_number!();

            #[inline(never)]
            fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut product = $module::$element([0; $n]);
                $module::$mul(&mut product, &$module::$element(*a), &$module::$element(*b));
                product.0
            }

            #[inline(never)]
            fn square(self, a: &Self::Element) -> Self::Element {
                let mut square = $module::$element([0; $n]);
                $module::$square(&mut square, &$module::$element(*a));
                square.0
            }

            fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
                let mut words = [0; $n];
                words[0] = small;
                let small = Arithmetic::<$prime>::load(self, &[words]);
                Arithmetic::<$prime>::mul(self, a, &small)
            }

            #[inline]
            fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut sum = $module::$element([0; $n]);
                $module::$add(&mut sum, &$module::$element(*a), &$module::$element(*b));
                sum.0
            }

            #[inline]
            fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut difference = $module::$element([0; $n]);
                $module::$sub(&mut difference, &$module::$element(*a), &$module::$element(*b));
                difference.0
            }

            #[inline]
            fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
                Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)))
            }

            #[inline]
            fn load(self, numbers: &[[Limb; $n]]) -> Self::Element {
                let mut number = numbers[0];
                words::reduce_once(0, &mut number, &$prime::MODULUS);
                let mut element = $module::$element([0; $n]);
                $module::$to(&mut element, &$module::$plain(number));
                element.0
            }

            #[inline]
            fn store(self, element: &Self::Element, numbers: &mut [[Limb; $n]]) {
                let mut number = $module::$plain([0; $n]);
                $module::$from(&mut number, &$module::$element(*element));
                numbers[0] = number.0;
            }

            #[inline]
            fn stored(self, constant: &[Limb]) -> Self::Element {
                core::array::from_fn(|i| constant[i])
            }

            #[inline]
            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                ct::lookup(out.as_flattened_mut(), table, index as usize);
            }

            #[inline]
            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                ct::lookup(out.as_flattened_mut(), table.as_flattened(), index as usize);
            }
        }

        impl CurveArithmetic<$prime> for Portable {}
    };
}

montgomery!(P224 4 p224_64 fiat_p224_montgomery_domain_field_element
    fiat_p224_non_montgomery_domain_field_element fiat_p224_mul fiat_p224_square fiat_p224_add
    fiat_p224_sub fiat_p224_to_montgomery fiat_p224_from_montgomery);
montgomery!(P256 4 p256_64 fiat_p256_montgomery_domain_field_element
    fiat_p256_non_montgomery_domain_field_element fiat_p256_mul fiat_p256_square fiat_p256_add
    fiat_p256_sub fiat_p256_to_montgomery fiat_p256_from_montgomery);
montgomery!(P384 6 p384_64 fiat_p384_montgomery_domain_field_element
    fiat_p384_non_montgomery_domain_field_element fiat_p384_mul fiat_p384_square fiat_p384_add
    fiat_p384_sub fiat_p384_to_montgomery fiat_p384_from_montgomery);

/// A field with limbs of fewer than 64 bits, and `$words` limbs of 64 bits in memory.
///
/// Elements are *tight* in the sense of `fiat-crypto`; its loose results are carried.
macro_rules! unsaturated {
    ($prime:ident $n:literal $words:literal $limb_bits:expr; $module:ident $tight:ident $loose:ident
        $mul:ident $square:ident $carry:ident $relax:ident $add:ident $sub:ident
        $to_bytes:ident $bytes:literal) => {
        impl Arithmetic<$prime> for Portable {
            type Element = [Limb; $n];
            const STORED_LIMBS: usize = $words;
            const ZERO: Self::Element = [0; $n];

            one_number!();

            #[inline(never)]
            fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut product = $module::$tight([0; $n]);
                $module::$mul(&mut product, &$module::$loose(*a), &$module::$loose(*b));
                product.0
            }

            #[inline(never)]
            fn square(self, a: &Self::Element) -> Self::Element {
                let mut square = $module::$tight([0; $n]);
                $module::$square(&mut square, &$module::$loose(*a));
                square.0
            }

            #[inline]
            fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
                let mut element = [0; $n];
                element[0] = small;
                Arithmetic::<$prime>::mul(self, a, &element)
            }

            #[inline]
            fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut sum = $module::$loose([0; $n]);
                $module::$add(&mut sum, &$module::$tight(*a), &$module::$tight(*b));
                let mut carried = $module::$tight([0; $n]);
                $module::$carry(&mut carried, &sum);
                carried.0
            }

            #[inline]
            fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                let mut difference = $module::$loose([0; $n]);
                $module::$sub(&mut difference, &$module::$tight(*a), &$module::$tight(*b));
                let mut carried = $module::$tight([0; $n]);
                $module::$carry(&mut carried, &difference);
                carried.0
            }

            #[inline]
            fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
                let difference = Arithmetic::<$prime>::sub(self, a, b);
                let mut number = [[0; $words]];
                Arithmetic::<$prime>::store(self, &difference, &mut number);
                words::is_zero(&number[0])
            }

            #[inline]
            fn load(self, numbers: &[[Limb; $words]]) -> Self::Element {
                Arithmetic::<$prime>::stored(self, &numbers[0])
            }

            #[inline]
            fn store(self, element: &Self::Element, numbers: &mut [[Limb; $words]]) {
                let mut bytes = [0; $bytes];
                $module::$to_bytes(&mut bytes, &$module::$tight(*element));
                bytes.reverse();
                words::from_be_bytes(&mut numbers[0], &bytes);
                ct::wipe_bytes(&mut bytes);
            }

            /// Splits the number into limbs of fewer bits.
            #[inline]
            fn stored(self, constant: &[Limb]) -> Self::Element {
                const BITS: [usize; $n] = $limb_bits;
                let mut start = 0;
                core::array::from_fn(|i| {
                    let (limb, shift) = (start / 64, start % 64);
                    let low = constant[limb] >> shift;
                    // A shift by 64 places, if no bits are left over, is done as 63 and 1.
                    let high = constant.get(limb + 1).map_or(0, |high| high << 1 << (63 - shift));
                    start += BITS[i];
                    (low | high) & ((1 << BITS[i]) - 1)
                })
            }

            fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                let entry = out.len() * $words;
                let mut number = [0; $words];
                for (place, out) in out.iter_mut().enumerate() {
                    number.fill(0);
                    for (i, entry) in table.chunks_exact(entry).enumerate() {
                        let mask = Mask::equal(i as Limb, index);
                        for (o, e) in number.iter_mut().zip(&entry[place * $words..]) {
                            *o |= mask.value() & e;
                        }
                    }
                    *out = Arithmetic::<$prime>::stored(self, &number);
                }
            }

            #[inline]
            fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                ct::lookup(out.as_flattened_mut(), table.as_flattened(), index as usize);
            }
        }

        impl CurveArithmetic<$prime> for Portable {}
    };
}

unsaturated!(P521 9 9 [58, 58, 58, 58, 58, 58, 58, 58, 57]; p521_64 fiat_p521_tight_field_element
    fiat_p521_loose_field_element fiat_p521_carry_mul fiat_p521_carry_square fiat_p521_carry
    fiat_p521_relax fiat_p521_add fiat_p521_sub fiat_p521_to_bytes 66);
unsaturated!(P25519 5 4 [51; 5]; curve25519_64 fiat_25519_tight_field_element
    fiat_25519_loose_field_element fiat_25519_carry_mul fiat_25519_carry_square fiat_25519_carry
    fiat_25519_relax fiat_25519_add fiat_25519_sub fiat_25519_to_bytes 32);
