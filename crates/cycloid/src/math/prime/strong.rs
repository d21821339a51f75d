//! The end of a round of the test of Miller and Rabin, on a candidate that is secret.

use super::is_equal;
use super::twos::MOST;
use crate::machine::ct::Mask;
use crate::machine::words::Limb;
use crate::math::modular::{Error, Modulus, montgomery_mul};

/// Limbs of scratch for [`is_strong`] with a candidate of `n` limbs.
pub(super) const fn strong_scratch_limbs(n: usize) -> usize {
    2 * n + Modulus::scratch_limbs(n)
}

/// Whether the odd candidate p is a strong probable prime to the base b (FIPS 186-5, appendix B.3.1,
/// steps 4.4 to 4.7): whether b^m is 1, or −1 is among b^m, b^2m, … b^(2^(twos−1)·m).
///
/// `power` is b^m, where p − 1 = 2^twos · m, and is destroyed; m is odd, unless `twos` is [`MOST`].
/// A prime passes all the same then: where −1 comes before b^m, this is 1.
///
/// Time tells the result, and of a candidate that fails how many squarings that took. For one that
/// passes there are as many squarings as for any other, since their number tells bits of p.
/// `scratch` has [`strong_scratch_limbs`] limbs, and is not wiped.
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
    // That there is one power only, and it is the wrong one, is the outcome.
    if !(passed | Mask::less(1, twos)).reveal() {
        return Ok(false);
    }
    let modulus = Modulus::prepare(candidate, r_squared, work)?;
    for number in [&mut *power, &mut *minus_one] {
        montgomery_mul(number, Some(modulus.r_squared()), &modulus, work)?;
    }
    for squarings in 1..MOST as Limb {
        let is_due = Mask::less(squarings, twos);
        // That all powers were looked at in vain is the outcome.
        if !(passed | is_due).reveal() {
            return Ok(false);
        }
        montgomery_mul(power, None, &modulus, work)?;
        passed = passed | (is_equal(power, minus_one) & is_due);
    }
    // Whether the candidate passed is the outcome.
    Ok(passed.reveal())
}
