//! 256-bit integers in conversions: comparison, decimal and hexadecimal text.

use core::fmt;

use super::Error;
use crate::machine::ct::Mask;

/// Limbs of an integer below r, or of any integer below 2²⁵⁶; little-endian.
pub type Integer = [u64; 4];

/// r, the order of the groups.
pub(super) const ORDER: Integer =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// Returns whether an integer is below r, in constant time.
pub(super) fn is_below_order(integer: &Integer) -> bool {
    let borrow = integer.iter().zip(&ORDER).fold(0, |borrow, (a, b)| {
        let (difference, first) = a.overflowing_sub(*b);
        let (_, second) = difference.overflowing_sub(borrow);
        u64::from(first | second)
    });
    // The caller learns whether the integer was refused.
    Mask::from_bit(borrow).reveal()
}

/// Returns the integer of 32 little-endian bytes.
pub(super) fn from_le_bytes(bytes: &[u8; 32]) -> Integer {
    core::array::from_fn(|i| u64::from_le_bytes(core::array::from_fn(|j| bytes[8 * i + j])))
}

/// Returns the integer as 32 little-endian bytes.
pub(super) fn to_le_bytes(integer: &Integer) -> [u8; 32] {
    core::array::from_fn(|i| (integer[i / 8] >> (8 * (i % 8))) as u8)
}

/// Parses an integer below 2²⁵⁶, in decimal or in hexadecimal with the prefix `0x`. Time depends on
/// the text.
///
/// # Errors
/// [`Error::Digits`]; [`Error::NotCanonical`] for 2²⁵⁶ or more.
pub(super) fn parse_vartime(text: &str) -> Result<Integer, Error> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() {
        return Err(Error::Digits);
    }
    let mut integer: Integer = [0; 4];
    for character in digits.chars() {
        let digit = character.to_digit(radix).ok_or(Error::Digits)?;
        let mut carry = u128::from(digit);
        for limb in &mut integer {
            carry += u128::from(*limb) * u128::from(radix);
            *limb = carry as u64;
            carry >>= 64;
        }
        if carry != 0 {
            return Err(Error::NotCanonical);
        }
    }
    Ok(integer)
}

/// Writes the integer in decimal. Time depends on it.
pub(super) fn display_vartime(integer: &Integer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // 2²⁵⁶ has 78 decimal digits.
    let mut digits = [0; 78];
    let mut rest = *integer;
    let mut start = digits.len();
    while start == digits.len() || rest != [0; 4] {
        let mut remainder = 0_u128;
        for limb in rest.iter_mut().rev() {
            let value = remainder << 64 | u128::from(*limb);
            *limb = (value / 10) as u64;
            remainder = value % 10;
        }
        start -= 1;
        digits[start] = b'0' + remainder as u8;
    }
    let text = core::str::from_utf8(&digits[start..]).map_err(|_| fmt::Error)?;
    f.pad_integral(true, "", text)
}
