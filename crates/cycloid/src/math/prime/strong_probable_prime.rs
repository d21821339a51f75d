//! The final part of a Miller-Rabin round, on a secret candidate.

use super::is_equal;
use super::powers_of_two::MOST;
use crate::machine::ct::Mask;
use crate::machine::words::Limb;
use crate::math::modular::{Error, Modulus, montgomery_mul};

/// Returns the limbs of scratch for [`is_strong`] with a candidate of `n` limbs.
pub(super) const fn strong_scratch_limbs(n: usize) -> usize {
    2 * n + Modulus::scratch_limbs(n)
}

/// Returns whether the odd candidate p is a strong probable prime to the base b (FIPS 186-5,
/// appendix B.3.1, steps 4.4 to 4.7): whether b^m is 1, or −1 is among b^m, b^2m, …
/// b^(2^(twos−1)·m).
///
/// `power` is b^m, where p − 1 = 2^twos · m, and is destroyed. m is odd, unless `twos` is [`MOST`];
/// a prime passes even then, because b^m is 1 if −1 occurs before it.
///
/// Time reveals the result and, for a candidate that fails, the number of squarings. Every
/// candidate that passes takes the same number of squarings, since the number would reveal bits of
/// p. `scratch` has [`strong_scratch_limbs`] limbs and is not wiped.
///
/// # Errors
/// Those of [`Modulus::prepare`].
pub(super) fn is_strong(
    power: &mut [Limb],
    twos: Limb,
    candidate: &[Limb],
    scratch: &mut [Limb],
) -> Result<bool, Error> {
    let (r_squared, rest) = scratch.split_at_mut(power.len());
    let (minus_one, work) = rest.split_at_mut(power.len());
    minus_one.copy_from_slice(candidate);
    minus_one[0] &= !1;
    let one = power[1..].iter().fold(power[0] ^ 1, |any, limb| any | limb);
    let mut passed = Mask::is_zero(one) | is_equal(power, minus_one);
    // There is one power only, and it is wrong: this is the result.
    if !(passed | Mask::less(1, twos)).reveal() {
        return Ok(false);
    }
    let modulus = Modulus::prepare(candidate, r_squared, work)?;
    for number in [&mut *power, &mut *minus_one] {
        montgomery_mul(number, Some(modulus.r_squared()), &modulus, work);
    }
    for squarings in 1..MOST as Limb {
        let is_due = Mask::less(squarings, twos);
        // All powers were tried without success: this is the result.
        if !(passed | is_due).reveal() {
            return Ok(false);
        }
        montgomery_mul(power, None, &modulus, work);
        passed = passed | (is_equal(power, minus_one) & is_due);
    }
    // Whether the candidate passed is the function's result.
    Ok(passed.reveal())
}
