//! Arithmetic on the secret numbers of keys, in constant time.

use super::{Error, KeyError};
use crate::machine::ct::Mask;
use crate::machine::words::{self, LIMB_BITS, Limb, Portable, Words, rare};
use crate::math::modular;

/// Writes a big-endian number to a part of a key, or returns the error if it is too long. Excess
/// bytes must be zero, and whether they are becomes public; the number of zeros among the remaining
/// bytes does not.
pub(super) fn fill(part: &mut [Limb], bytes: &[u8], error: Error) -> Result<(), Error> {
    let (excess, bytes) = bytes.split_at(bytes.len().saturating_sub(size_of_val(part)));
    let excess = excess.iter().fold(0, |any, byte| any | Limb::from(*byte));
    if !Mask::is_zero(excess).reveal() {
        return Err(error);
    }
    words::from_be_bytes(part, bytes);
    Ok(())
}

/// Returns whether |p − q| ≥ 2^(bits/2 − 100); `room` has the limbs of a prime.
pub(super) fn are_apart(p: &[Limb], q: &[Limb], bits: usize, room: &mut [Limb]) -> Mask {
    let difference = &mut room[..p.len()];
    difference.copy_from_slice(p);
    let borrow = rare::sub(difference, q);
    // The magnitude; off by 1 if negative, which does not matter at this size.
    let flip = Mask::from_bit(borrow).value();
    difference.iter_mut().for_each(|limb| *limb ^= flip);
    let from = bits / 2 - 100;
    let high = difference[from / LIMB_BITS] >> (from % LIMB_BITS);
    let any = difference[from / LIMB_BITS + 1..].iter().fold(high, |any, limb| any | limb);
    !Mask::is_zero(any)
}

/// Computes `remainder = x mod modulus` bit by bit, for any nonzero modulus, in constant time.
pub(super) fn modulo(remainder: &mut [Limb], x: &[Limb], modulus: &[Limb]) {
    remainder.fill(0);
    for limb in x.iter().rev() {
        for bit in (0..LIMB_BITS).rev() {
            let carry = words::double(remainder);
            remainder[0] |= limb >> bit & 1;
            words::reduce_once(carry, remainder, modulus);
        }
    }
}

/// Computes `product = a·b` in constant time; the product has as many limbs as both factors. A
/// program contains this code once.
#[inline(never)]
pub(super) fn multiply(product: &mut [Limb], a: &[Limb], b: &[Limb]) {
    Portable.mul(product, a, b);
}

/// Returns whether two numbers of the same length are equal.
pub(super) fn equal(a: &[Limb], b: &[Limb]) -> Mask {
    Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)))
}

/// Returns whether a number is 1.
pub(super) fn is_one(a: &[Limb]) -> Mask {
    Mask::is_zero(a[1..].iter().fold(a[0] ^ 1, |any, limb| any | limb))
}

/// Returns `x mod exponent`, in constant time.
pub(super) fn remainder(x: &[Limb], exponent: u64) -> Limb {
    let mut rest = [0];
    modulo(&mut rest, x, &[exponent]);
    rest[0]
}

/// Returns `1 / x mod exponent` if it exists; whether it does becomes public.
pub(super) fn inverse_of(x: Limb, exponent: u64) -> Option<Limb> {
    let mut inverse = [0];
    let mut scratch = [0; modular::invert_scratch_limbs(1)];
    modular::invert_long_in_frames(&mut inverse, &[x], &[exponent], &mut scratch).ok()?;
    Some(inverse[0])
}

/// Computes `inverse = 1 / exponent mod order` in constant time. Both have equal lengths; `scratch`
/// has one limb more.
///
/// # Errors
/// [`KeyError::PublicExponent`] if they have a common divisor, which becomes public.
pub(super) fn invert_exponent(
    inverse: &mut [Limb],
    order: &[Limb],
    exponent: u64,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    // (1 + k·order) / e with k ≡ −1/order modulo e, which makes it divisible; the result is below
    // order.
    let rest = remainder(order, exponent);
    let k = exponent - inverse_of(rest, exponent).ok_or(KeyError::PublicExponent)?;
    let numerator = &mut scratch[..order.len() + 1];
    multiply(numerator, order, &[k]);
    rare::add(numerator, &[1]);
    divide_exactly(inverse, numerator, &[exponent]);
    Ok(())
}

/// Computes `quotient = x / divisor`, for an odd divisor that divides x, limb by limb from the
/// lowest (Jebelean, An algorithm for exact division, 1993). Constant-time. Destroys `x`, which is
/// at least as long as the quotient.
pub(super) fn divide_exactly(quotient: &mut [Limb], x: &mut [Limb], divisor: &[Limb]) {
    let inverse = words::montgomery_n0(divisor[0]).wrapping_neg();
    for (i, digit) in quotient.iter_mut().enumerate() {
        *digit = x[i].wrapping_mul(inverse);
        let rest = &mut x[i..];
        let used = divisor.len().min(rest.len());
        let (low, high) = rest.split_at_mut(used);
        let borrow = Portable.sub_mul_limb(low, &divisor[..used], *digit);
        words::sub(high, &[borrow][..high.len().min(1)]);
    }
}
