//! One number as saturated limbs of 64 bits: code shared by backends whose elements are less than
//! the prime.

use super::super::ct::Mask;
use super::super::words::{self, Limb};

/// Code shared if an element is the only form of its residue.
macro_rules! equal_limbs {
    () => {
        #[inline(always)]
        fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
            Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)))
        }
    };
}
pub(super) use equal_limbs;

/// Code shared by backends whose numbers modulo 2²⁵⁵ − 19 may be the prime or more.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", cycloid_armv7em))]
macro_rules! redundant_p25519 {
    () => {
        fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
            let mut number = [[0; 4]];
            let difference = Arithmetic::<P25519>::sub(self, a, b);
            Arithmetic::<P25519>::store(self, &difference, &mut number);
            crate::machine::words::is_zero(&number[0])
        }

        fn load(self, numbers: &[[Limb; 4]]) -> Self::Element {
            numbers[0]
        }

        fn store(self, element: &Self::Element, numbers: &mut [[Limb; 4]]) {
            numbers[0] = crate::machine::field::form::reduce_p25519(element);
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", cycloid_armv7em))]
pub(super) use redundant_p25519;

/// Code shared by Montgomery forms with R = 2^(64·n).
macro_rules! montgomery {
    ($prime:ident $n:literal) => {
        $crate::machine::field::form::montgomery_load!($prime $n);

        /// Multiplies by 1 / R.
        fn store(self, element: &Self::Element, numbers: &mut [[Limb; $n]]) {
            let mut one = [0; $n];
            one[0] = 1;
            numbers[0] = Arithmetic::<$prime>::mul(self, element, &one);
        }
    };
}
pub(super) use montgomery;

/// Code shared by Montgomery forms with R = 2^(64·n) of primes that have unreduced products.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! montgomery_wide {
    ($prime:ident $n:literal) => {
        $crate::machine::field::form::montgomery_load!($prime $n);

        /// Reduces: a division by R.
        fn store(self, element: &Self::Element, numbers: &mut [[Limb; $n]]) {
            let mut wide = [0; 2 * $n];
            wide[..$n].copy_from_slice(element);
            numbers[0] = crate::machine::field::Wide::<$prime>::reduce_wide(self, &wide);
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use montgomery_wide;

/// Code shared by both macros above: multiplication by a small number, and the conversion into
/// Montgomery form.
macro_rules! montgomery_load {
    ($prime:ident $n:literal) => {
        equal_limbs!();

        fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
            let mut number = [0; $n];
            number[0] = small;
            let small = Arithmetic::<$prime>::load(self, &[number]);
            Arithmetic::<$prime>::mul(self, a, &small)
        }

        /// Multiplies by R² / R: one of the factors may be the prime or more.
        fn load(self, numbers: &[[Limb; $n]]) -> Self::Element {
            const R_SQUARED: [Limb; $n] = $crate::machine::field::form::r_squared($prime::MODULUS);
            Arithmetic::<$prime>::mul(self, &numbers[0], &R_SQUARED)
        }
    };
}
pub(super) use montgomery_load;

/// Returns a + b modulo a modulus below 2^(64·N − 1).
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
pub(super) fn add<const N: usize>(a: &[Limb; N], b: &[Limb; N], modulus: &[Limb; N]) -> [Limb; N] {
    let (mut sum, mut less) = ([0; N], [0; N]);
    let (mut carry, mut borrow) = (0, 0);
    for i in 0..N {
        (sum[i], carry) = words::add_carry(a[i], b[i], carry);
        (less[i], borrow) = words::sub_borrow(sum[i], modulus[i], borrow);
    }
    let below = Mask::from_bit(borrow);
    for i in 0..N {
        less[i] = below.select(sum[i], less[i]);
    }
    less
}

/// Returns a − b modulo a modulus of N limbs.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
pub(super) fn sub<const N: usize>(a: &[Limb; N], b: &[Limb; N], modulus: &[Limb; N]) -> [Limb; N] {
    let mut difference = [0; N];
    let (mut borrow, mut carry) = (0, 0);
    for i in 0..N {
        (difference[i], borrow) = words::sub_borrow(a[i], b[i], borrow);
    }
    let negative = Mask::from_bit(borrow);
    for i in 0..N {
        let back = negative.value() & modulus[i];
        (difference[i], carry) = words::add_carry(difference[i], back, carry);
    }
    difference
}

/// Returns a number below 2²⁵⁶ modulo 2²⁵⁵ − 19.
///
/// Adds the part above bit 254, times 19, at the bottom: first unconditionally, then only if the
/// part exists after adding 19, that is, if the number is the prime or more.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", cycloid_armv7em)),
    allow(dead_code)
)]
#[inline]
pub(super) fn reduce_p25519(number: &[Limb; 4]) -> [Limb; 4] {
    const TOP: Limb = 1 << 63;
    let mut number = *number;
    let top = number[3] >> 63;
    number[3] &= !TOP;
    words::add(&mut number, &[19 * top]);
    let mut reduced = number;
    words::add(&mut reduced, &[19]);
    let enough = Mask::from_bit(reduced[3] >> 63);
    reduced[3] &= !TOP;
    core::array::from_fn(|i| enough.select(reduced[i], number[i]))
}

/// Returns R² modulo an odd modulus, for R = 2^(64·n) and a modulus of n limbs. For compile time.
pub(crate) const fn r_squared<const N: usize>(modulus: [Limb; N]) -> [Limb; N] {
    // The highest power of two below the modulus; doubling it leads to R·2^n.
    let bits = words::LIMB_BITS * N - modulus[N - 1].leading_zeros() as usize;
    let mut power = [0; N];
    power[(bits - 1) / words::LIMB_BITS] = 1 << ((bits - 1) % words::LIMB_BITS);
    let mut exponent = bits - 1;
    while exponent < (words::LIMB_BITS + 1) * N {
        power = doubled(&power, &modulus);
        exponent += 1;
    }
    // (R·2^k)² / R = R·2^(2k): six squarings reach R·2^(64·n).
    let mut squarings = 0;
    while squarings < words::LIMB_BITS.ilog2() {
        power = montgomery_mul(&power, &power, &modulus);
        squarings += 1;
    }
    power
}

/// Returns twice a number modulo a modulus that exceeds it. For compile time.
pub(super) const fn doubled<const N: usize>(number: &[Limb; N], modulus: &[Limb; N]) -> [Limb; N] {
    let (mut twice, mut carry, mut i) = ([0; N], 0, 0);
    while i < N {
        twice[i] = number[i] << 1 | carry;
        carry = number[i] >> (words::LIMB_BITS - 1);
        i += 1;
    }
    reduce_once(twice, carry, modulus)
}

/// Returns a·b / R modulo an odd modulus, where b is less than the modulus. For compile time.
pub(crate) const fn montgomery_mul<const N: usize>(
    a: &[Limb; N],
    b: &[Limb; N],
    modulus: &[Limb; N],
) -> [Limb; N] {
    let inverse = words::montgomery_n0(modulus[0]);
    let (mut sum, mut top) = ([0 as Limb; N], 0 as Limb);
    let mut i = 0;
    while i < N {
        let quotient = sum[0].wrapping_add(a[i].wrapping_mul(b[0])).wrapping_mul(inverse);
        let (mut carry, mut reduced_carry) = (0, 0);
        let mut j = 0;
        while j < N {
            let wide = sum[j] as u128 + a[i] as u128 * b[j] as u128 + carry as u128;
            carry = (wide >> words::LIMB_BITS) as Limb;
            let wide = wide as Limb as u128
                + quotient as u128 * modulus[j] as u128
                + reduced_carry as u128;
            reduced_carry = (wide >> words::LIMB_BITS) as Limb;
            if j > 0 {
                sum[j - 1] = wide as Limb;
            }
            j += 1;
        }
        let wide = top as u128 + carry as u128 + reduced_carry as u128;
        sum[N - 1] = wide as Limb;
        top = (wide >> words::LIMB_BITS) as Limb;
        i += 1;
    }
    reduce_once(sum, top, modulus)
}

/// Returns a number below twice the modulus, whose bit 64·n is `carry`, modulo the modulus. For
/// compile time.
const fn reduce_once<const N: usize>(
    number: [Limb; N],
    carry: Limb,
    modulus: &[Limb; N],
) -> [Limb; N] {
    let mut less = [0; N];
    let mut borrow = false;
    let mut i = 0;
    while i < N {
        let (difference, below) = number[i].overflowing_sub(modulus[i]);
        let (difference, below_by_one) = difference.overflowing_sub(borrow as Limb);
        less[i] = difference;
        borrow = below | below_by_one;
        i += 1;
    }
    if carry == 0 && borrow { number } else { less }
}
