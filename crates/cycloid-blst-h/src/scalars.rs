//! Integers of 256 bits, secret keys, and elements of Fr.
//!
//! Time depends on no integer or element. What a function returns as a truth value is public:
//! whether a scalar is zero, or less than r.

use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::backend::Scalars;
use cycloid::internals::ct::Mask;
use zeroize::Zeroize;

use crate::memory::{bytes, limbs, slice, store};
use crate::{blst_fr, blst_scalar, c_bool, exports};

/// r.
const R: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// Returns a − r and whether a was less.
fn less_r(a: &[u64; 4]) -> ([u64; 4], Mask) {
    let (mut out, mut borrow) = ([0; 4], 0);
    for (out, (a, r)) in out.iter_mut().zip(a.iter().zip(&R)) {
        let difference = u128::from(*a).wrapping_sub(u128::from(*r) + u128::from(borrow));
        (*out, borrow) = (difference as u64, (difference >> 127) as u64);
    }
    (out, Mask::from_bit(borrow))
}

/// Reduces an integer of 256 bits, which is less than 3r, modulo r.
pub(crate) fn reduced(mut a: [u64; 4]) -> [u64; 4] {
    for _ in 0..2 {
        let (less, is_below) = less_r(&a);
        a = core::array::from_fn(|i| is_below.select(a[i], less[i]));
    }
    a
}

/// Returns whether an integer is from 0 to r − 1.
pub(crate) fn is_below_r(a: &[u64; 4]) -> Mask {
    less_r(a).1
}

/// Returns whether all limbs are zero.
pub(crate) fn is_zero(a: &[u64; 4]) -> Mask {
    Mask::is_zero(a.iter().fold(0, |any, limb| any | limb))
}

/// Converts an integer of 256 bits.
pub(crate) fn fr(integer: &[u64; 4]) -> blst_fr {
    let mut below = reduced(*integer);
    let fr = Cycloid::fr_from_integer(&below);
    below.zeroize();
    fr
}

fn doubled(a: &blst_fr, times: usize) -> blst_fr {
    (0..times).fold(*a, |a, _| Cycloid::fr_double(&a))
}

/// Returns an integer in pieces of at most 32 bytes, the highest first, modulo r.
pub(crate) fn wide<'a>(pieces: impl Iterator<Item = &'a [u8]>, big_endian: bool) -> [u64; 4] {
    let (mut sum, shift) = (Cycloid::ZERO, doubled(&Cycloid::ONE, 256));
    for piece in pieces {
        let mut padded = [0; 32];
        padded[..piece.len()].copy_from_slice(piece);
        if big_endian {
            padded[..piece.len()].reverse();
        }
        sum = Cycloid::fr_add(&Cycloid::fr_mul(&sum, &shift), &fr(&limbs(&padded)));
        padded.zeroize();
    }
    let integer = Cycloid::fr_to_integer(&sum);
    sum.zeroize();
    integer
}

/// Returns the value of a hexadecimal digit. Time depends only on whether it is one.
fn hexadecimal_digit(character: u8) -> Option<u8> {
    let decimal = character.wrapping_sub(b'0');
    let letter = (character | 0x20).wrapping_sub(b'a');
    let (is_decimal, is_letter) = (Mask::less(decimal.into(), 10), Mask::less(letter.into(), 6));
    let is_digit = is_decimal | is_letter;
    is_digit.reveal().then(|| is_decimal.select_byte(decimal, letter.wrapping_add(10)))
}

/// Reads up to `2·bytes` hexadecimal digits, which an `0x` may precede. Only their number is public.
///
/// # Safety
/// `hex` refers to digits up to another character, or to as many as are read.
pub(crate) unsafe fn hexadecimal(mut hex: *const u8, bytes: &mut [u8]) {
    // SAFETY: reads stop at the first character that is no digit.
    unsafe {
        let digit = |hex: *const u8, i: usize| hexadecimal_digit(*hex.add(i));
        if digit(hex, 0).is_some()
            && (Mask::equal((*hex.add(1) | 0x20).into(), b'x'.into())
                & Mask::equal((*hex).into(), b'0'.into()))
            .reveal()
        {
            hex = hex.add(2);
        }
        let count = (0..2 * bytes.len()).take_while(|&i| digit(hex, i).is_some()).count();
        bytes.fill(0);
        for (i, place) in (0..count).rev().enumerate() {
            bytes[i / 2] |= digit(hex, place).unwrap_or(0) << (4 * (i % 2));
        }
    }
}

exports! {
    fn blst_scalar_from_uint32(out: *mut blst_scalar, a: *const u32) {
        *out = core::array::from_fn(|i| (*a.add(i / 4) >> (8 * (i % 4))) as u8);
    }

    fn blst_uint32_from_scalar(out: *mut u32, a: *const blst_scalar) {
        let a = *a;
        let words: [u32; 8] = core::array::from_fn(|i| {
            u32::from_le_bytes(a[4 * i..4 * i + 4].try_into().expect("four bytes"))
        });
        out.cast::<[u32; 8]>().write(words);
    }

    fn blst_scalar_from_uint64(out: *mut blst_scalar, a: *const u64) {
        *out = bytes(&a.cast::<[u64; 4]>().read());
    }

    fn blst_uint64_from_scalar(out: *mut u64, a: *const blst_scalar) {
        out.cast::<[u64; 4]>().write(limbs(&*a));
    }

    fn blst_scalar_from_bendian(out: *mut blst_scalar, a: *const u8) {
        let mut value = a.cast::<blst_scalar>().read();
        value.reverse();
        *out = value;
    }

    fn blst_bendian_from_scalar(out: *mut u8, a: *const blst_scalar) {
        let mut value = *a;
        value.reverse();
        out.cast::<blst_scalar>().write(value);
    }

    fn blst_scalar_from_lendian(out: *mut blst_scalar, a: *const u8) {
        *out = a.cast::<blst_scalar>().read();
    }

    fn blst_lendian_from_scalar(out: *mut u8, a: *const blst_scalar) {
        out.cast::<blst_scalar>().write(*a);
    }

    fn blst_scalar_fr_check(a: *const blst_scalar) -> i32 {
        is_below_r(&limbs(&*a)).reveal().into()
    }

    fn blst_sk_check(a: *const blst_scalar) -> i32 {
        let a = limbs(&*a);
        (is_below_r(&a) & !is_zero(&a)).reveal().into()
    }

    fn blst_sk_add_n_check(out: *mut blst_scalar, a: *const blst_scalar, b: *const blst_scalar) -> i32 {
        let sum = Cycloid::fr_add(&fr(&limbs(&*a)), &fr(&limbs(&*b)));
        *out = bytes(&Cycloid::fr_to_integer(&sum));
        (!is_zero(&sum)).reveal().into()
    }

    fn blst_sk_sub_n_check(out: *mut blst_scalar, a: *const blst_scalar, b: *const blst_scalar) -> i32 {
        let difference = Cycloid::fr_sub(&fr(&limbs(&*a)), &fr(&limbs(&*b)));
        *out = bytes(&Cycloid::fr_to_integer(&difference));
        (!is_zero(&difference)).reveal().into()
    }

    fn blst_sk_mul_n_check(out: *mut blst_scalar, a: *const blst_scalar, b: *const blst_scalar) -> i32 {
        let product = Cycloid::fr_mul(&fr(&limbs(&*a)), &fr(&limbs(&*b)));
        *out = bytes(&Cycloid::fr_to_integer(&product));
        (!is_zero(&product)).reveal().into()
    }

    fn blst_sk_inverse(out: *mut blst_scalar, a: *const blst_scalar) {
        let inverse = Cycloid::fr_invert(&fr(&limbs(&*a)));
        *out = bytes(&Cycloid::fr_to_integer(&inverse));
    }

    fn blst_scalar_from_le_bytes(out: *mut blst_scalar, input: *const u8, length: usize) -> i32 {
        let integer = wide(slice(input, length).chunks(32).rev(), false);
        *out = bytes(&integer);
        (!is_zero(&integer)).reveal().into()
    }

    fn blst_scalar_from_be_bytes(out: *mut blst_scalar, input: *const u8, length: usize) -> i32 {
        let integer = wide(slice(input, length).rchunks(32).rev(), true);
        *out = bytes(&integer);
        (!is_zero(&integer)).reveal().into()
    }

    fn blst_scalar_from_hexascii(out: *mut blst_scalar, hex: *const u8) {
        let mut value = [0; 32];
        hexadecimal(hex, &mut value);
        *out = value;
    }

    fn blst_fr_add(out: *mut blst_fr, a: *const blst_fr, b: *const blst_fr) {
        *out = Cycloid::fr_add(&*a, &*b);
    }

    fn blst_fr_sub(out: *mut blst_fr, a: *const blst_fr, b: *const blst_fr) {
        *out = Cycloid::fr_sub(&*a, &*b);
    }

    fn blst_fr_mul_by_3(out: *mut blst_fr, a: *const blst_fr) {
        *out = Cycloid::fr_add(&Cycloid::fr_double(&*a), &*a);
    }

    fn blst_fr_lshift(out: *mut blst_fr, a: *const blst_fr, count: usize) {
        *out = doubled(&*a, count);
    }

    fn blst_fr_rshift(out: *mut blst_fr, a: *const blst_fr, count: usize) {
        let half = Cycloid::fr_invert(&Cycloid::fr_double(&Cycloid::ONE));
        *out = (0..count).fold(*a, |a, _| Cycloid::fr_mul(&a, &half));
    }

    fn blst_fr_mul(out: *mut blst_fr, a: *const blst_fr, b: *const blst_fr) {
        store(out, Cycloid::fr_mul(&*a, &*b));
    }

    fn blst_fr_sqr(out: *mut blst_fr, a: *const blst_fr) {
        // The kernel of squares is for many in a row: it enters and leaves in more time.
        store(out, Cycloid::fr_mul(&*a, &*a));
    }

    fn blst_fr_cneg(out: *mut blst_fr, a: *const blst_fr, flag: c_bool) {
        let negative = Cycloid::fr_negate(&*a);
        let (a, keeps) = (*a, Mask::is_zero(flag.into()));
        *out = core::array::from_fn(|i| keeps.select(a[i], negative[i]));
    }

    fn blst_fr_eucl_inverse(out: *mut blst_fr, a: *const blst_fr) {
        *out = Cycloid::fr_invert(&*a);
    }

    fn blst_fr_inverse(out: *mut blst_fr, a: *const blst_fr) {
        *out = Cycloid::fr_invert(&*a);
    }

    fn blst_fr_from_uint64(out: *mut blst_fr, a: *const u64) {
        *out = fr(&a.cast::<[u64; 4]>().read());
    }

    fn blst_uint64_from_fr(out: *mut u64, a: *const blst_fr) {
        out.cast::<[u64; 4]>().write(Cycloid::fr_to_integer(&*a));
    }

    fn blst_fr_from_scalar(out: *mut blst_fr, a: *const blst_scalar) {
        *out = fr(&limbs(&*a));
    }

    fn blst_scalar_from_fr(out: *mut blst_scalar, a: *const blst_fr) {
        *out = bytes(&Cycloid::fr_to_integer(&*a));
    }

    fn blst_fr_from_hexascii(out: *mut blst_fr, hex: *const u8) {
        let mut value = [0; 32];
        hexadecimal(hex, &mut value);
        *out = fr(&limbs(&value));
    }

    fn blst_fr_to(out: *mut blst_fr, a: *const blst_fr) {
        *out = fr(&*a);
    }

    fn blst_fr_from(out: *mut blst_fr, a: *const blst_fr) {
        *out = Cycloid::fr_to_integer(&*a);
    }

    fn blst_fr_ct_bfly(x0: *mut blst_fr, x1: *mut blst_fr, twiddle: *const blst_fr) {
        let (a, product) = (*x0, Cycloid::fr_mul(&*x1, &*twiddle));
        *x1 = Cycloid::fr_sub(&a, &product);
        *x0 = Cycloid::fr_add(&a, &product);
    }

    fn blst_fr_gs_bfly(x0: *mut blst_fr, x1: *mut blst_fr, twiddle: *const blst_fr) {
        let (a, b) = (*x0, *x1);
        *x0 = Cycloid::fr_add(&a, &b);
        *x1 = Cycloid::fr_mul(&Cycloid::fr_sub(&a, &b), &*twiddle);
    }
}
