//! Validation of public values.

use super::group::Order;
use super::{Error, Group};
use crate::machine::words::{self, LIMB_BYTES, Limb};
use crate::math::jacobi;
use crate::math::modular::{self, Exponent};

/// How thoroughly a public value from outside is checked (NIST SP 800-56A rev. 3, section 5.6.2.3).
///
/// In a group with a given order, both levels check everything: if p is not a safe prime, a value
/// outside the subgroup can reveal the private exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Checks that the value is between 2 and p − 2, which excludes the only small subgroup modulo
    /// a safe prime, {1, p − 1}. This is what the standard requires for the known groups. If the
    /// value is not a square, the shared secret reveals whether the exponent is odd.
    Partial,
    /// Also checks that the value is in the generator's subgroup: by the Legendre symbol modulo a
    /// safe prime, which takes a small part of the time of an agreement; otherwise by raising to
    /// the order.
    Full,
}

/// Reads a public value into `value`, which has as many limbs as p, and checks it. Leading zeros
/// are allowed. `scratch` has [`modular::pow_minimum_scratch_limbs`].
pub(super) fn read(
    value: &mut [Limb],
    group: &Group<'_>,
    bytes: &[u8],
    validation: Validation,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.len() > value.len() * LIMB_BYTES {
        return Err(Error::PublicRange);
    }
    words::from_be_bytes(value, bytes);
    // 2 ≤ y < p, and not p − 1.
    let prime = group.prime();
    let is_minus_one = value[0] == prime[0] - 1 && value[1..] == prime[1..];
    let in_range = words::bit_length_vartime(value) > 1
        && words::compare_vartime(value, prime).is_lt()
        && !is_minus_one;
    if !in_range {
        return Err(Error::PublicRange);
    }
    let in_subgroup = match (group.order(), validation) {
        (Order::Whole, _) | (Order::Half, Validation::Partial) => true,
        (Order::Half, Validation::Full) => jacobi::symbol_vartime(value, prime, scratch) == 1,
        (Order::Prime(order), _) => {
            let (power, scratch) = scratch.split_at_mut(value.len());
            let order = Exponent::new(words::trim_vartime(order));
            modular::pow_vartime(power, value, &order, &group.modulus(), scratch)?;
            words::trim_vartime(power) == [1]
        }
    };
    if in_subgroup { Ok(()) } else { Err(Error::PublicSubgroup) }
}
