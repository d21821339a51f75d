//! The missing parts of a private key, computed from the others in constant time.

use super::components::PrivateComponents;
use super::length::limbs;
use super::numbers::{equal, fill, invert_exponent, modulo, multiply};
use super::public::{bit_length, trimmed};
use super::{Error, KeyError};
use crate::machine::ct::Mask;
use crate::machine::words::{self, LIMB_BITS, Limb, rare};
use crate::math::modular;
use crate::math::prime::powers_of_two;

/// Returns the limbs of scratch of [`completed`] for a modulus of `n` limbs, which includes that of
/// the function that loads the parts.
pub(super) const fn scratch_limbs(n: usize) -> usize {
    // Seven numbers, and at most 17·n + 18 limbs for recovering primes.
    24 * n + 24
}

/// Returns whether a part is missing; this is public.
pub(super) fn is_needed(components: &PrivateComponents<'_>) -> bool {
    let PrivateComponents { private_exponent, prime1, prime2, .. } = *components;
    let PrivateComponents { exponent1, exponent2, coefficient, .. } = *components;
    [private_exponent, prime1, prime2, exponent1, exponent2, coefficient]
        .into_iter()
        .any(is_missing)
}

/// Returns whether a number is empty or zero, which becomes public.
#[inline(never)]
fn is_missing(part: &[u8]) -> bool {
    Mask::is_zero(part.iter().fold(0, |any, byte| any | Limb::from(*byte))).reveal()
}

/// Computes the missing parts and passes all parts to a closure, with the rest of the scratch. The
/// closure checks them against each other. `scratch` has [`scratch_limbs`] and is not wiped.
///
/// # Errors
/// [`KeyError::PrivateExponent`] if d is missing as well as a prime, or does not reveal the primes;
/// [`KeyError::MultiPrime`] if there are more than two; [`KeyError::PublicExponent`] if e and p − 1
/// or q − 1 have a common divisor; and those of the closure.
pub(super) fn completed<T>(
    components: &PrivateComponents<'_>,
    exponent: u64,
    scratch: &mut [Limb],
    load: impl FnOnce(&PrivateComponents<'_>, &mut [Limb]) -> Result<T, Error>,
) -> Result<T, Error> {
    if !components.other_primes.is_empty() {
        return Err(KeyError::MultiPrime.into());
    }
    let length = limbs(bit_length(trimmed(components.modulus)));
    let (numbers, scratch) = scratch.split_at_mut(7 * length);
    let mut numbers = numbers.chunks_exact_mut(length);
    let mut number = || numbers.next().expect("seven of them");
    let (n, p, q, d) = (number(), number(), number(), number());
    let (d_p, d_q, q_inverse) = (number(), number(), number());

    fill(n, components.modulus, Error::Key(KeyError::Product))?;
    fill(d, components.private_exponent, Error::Key(KeyError::PrivateExponent))?;
    let has_exponent = !is_missing(components.private_exponent);
    if is_missing(components.prime1) || is_missing(components.prime2) {
        if !has_exponent {
            return Err(KeyError::PrivateExponent.into());
        }
        factor(p, q, n, exponent, d, scratch)?;
    } else {
        fill(p, components.prime1, Error::Key(KeyError::Primes))?;
        fill(q, components.prime2, Error::Key(KeyError::Primes))?;
    }
    if !has_exponent {
        // 1/e modulo (p − 1)(q − 1); one is subtracted from odd numbers.
        let (order, rest) = scratch.split_at_mut(2 * length);
        let (q_order, rest) = rest.split_at_mut(length);
        d.copy_from_slice(p);
        q_order.copy_from_slice(q);
        d[0] &= !1;
        q_order[0] &= !1;
        multiply(order, d, q_order);
        invert_exponent(d, &order[..length], exponent, rest)?;
    }
    for (residue, given, prime) in
        [(&mut *d_p, components.exponent1, &*p), (&mut *d_q, components.exponent2, &*q)]
    {
        if is_missing(given) {
            let (order, rest) = scratch.split_at_mut(length);
            order.copy_from_slice(prime);
            order[0] &= !1;
            invert_exponent(residue, order, exponent, rest)?;
        } else {
            fill(residue, given, Error::Key(KeyError::PrivateExponent))?;
        }
    }
    if is_missing(components.coefficient) {
        let (residue, rest) = scratch.split_at_mut(length);
        modulo(residue, q, p);
        match modular::invert_long_in_frames(q_inverse, residue, p, rest) {
            Err(modular::Error::NotInvertible) => return Err(Error::Key(KeyError::Primes)),
            outcome => outcome?,
        }
    } else {
        fill(q_inverse, components.coefficient, Error::Key(KeyError::PrivateExponent))?;
    }
    let complete = PrivateComponents {
        private_exponent: big_endian(d),
        prime1: big_endian(p),
        prime2: big_endian(q),
        exponent1: big_endian(d_p),
        exponent2: big_endian(d_q),
        coefficient: big_endian(q_inverse),
        ..*components
    };
    load(&complete, scratch)
}

/// Converts a number to big-endian bytes in place.
fn big_endian(number: &mut [Limb]) -> &[u8] {
    number.reverse();
    number.iter_mut().for_each(|limb| *limb = limb.to_be());
    words::as_bytes_mut(number)
}

/// Recovers the primes of n, the larger one first, from e and d (NIST SP 800-56B rev. 2, appendix
/// C.2), in constant time. All numbers are as long as n.
///
/// # Errors
/// [`KeyError::PrivateExponent`] if d does not belong to a product of two primes of similar
/// lengths.
fn factor(
    p: &mut [Limb],
    q: &mut [Limb],
    n: &[Limb],
    exponent: u64,
    d: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let length = n.len();
    let (product, scratch) = scratch.split_at_mut(2 * length + 2);
    let (quotient, scratch) = scratch.split_at_mut(2 * length + 2);
    let (remainder, scratch) = scratch.split_at_mut(length);
    let (sum, scratch) = scratch.split_at_mut(length + 1);
    let (multiple, scratch) = scratch.split_at_mut(length + 1);
    // 1. a = (d·e − 1)·gcd(n − 1, d·e − 1). The powers of two in the divisor may be those of n − 1,
    // a multiple: a must only be a multiple of (p − 1)(q − 1) by a small number u.
    let (odd, rest) = scratch.split_at_mut(length);
    odd.copy_from_slice(n);
    odd[0] &= !1;
    let twos = powers_of_two::take_out(odd);
    // n is public.
    if n[0] & odd[0] & 1 == 0 {
        return Err(KeyError::PrivateExponent.into());
    }
    multiply(multiple, d, &[exponent]);
    rare::decrement(multiple);
    modulo(remainder, multiple, odd);
    let (divisor, rest) = rest.split_at_mut(length);
    modular::gcd_long_in_frames(divisor, remainder, odd, rest)?;
    product[2 * length + 1] = 0;
    multiply(&mut product[..2 * length + 1], multiple, divisor);
    powers_of_two::put_in(product, twos);
    // 2. m = ⌊a/n⌋ and r = a − m·n: since u·(p + q − 1) < n, u = m + 1 and n − r = u·(p + q − 1).
    divide(quotient, remainder, product, n);
    rare::add(quotient, &[1]);
    let (u, beyond) = quotient.split_at(length);
    let mut right = rare::is_zero(beyond);
    // 3. b = (n − r)/(m + 1) + 1 = p + q.
    multiple[..length].copy_from_slice(n);
    rare::sub(&mut multiple[..length], remainder);
    divide(&mut sum[..length], remainder, &multiple[..length], u);
    right = right & rare::is_zero(remainder);
    sum[length] = 0;
    rare::add(sum, &[1]);
    // 4, 5. The root of b² − 4n is p − q.
    multiply(product, sum, sum);
    let four = &mut quotient[..length + 1];
    four[..length].copy_from_slice(n);
    four[length] = 0;
    rare::double(four);
    rare::double(four);
    right = right & !Mask::from_bit(rare::sub(product, four));
    let root = &mut quotient[..length + 1];
    square_root(root, product, scratch);
    // 6. p = (b + √)/2, q = (b − √)/2.
    let difference = &mut scratch[..length + 1];
    difference.copy_from_slice(sum);
    rare::add(sum, root);
    rare::sub(difference, root);
    halve(p, sum);
    halve(q, difference);
    multiply(&mut product[..2 * length], p, q);
    let (low, high) = product[..2 * length].split_at(length);
    right = right & equal(low, n) & rare::is_zero(high);
    // Whether the exponent reveals primes is the result of the import.
    if right.reveal() { Ok(()) } else { Err(Error::Key(KeyError::PrivateExponent)) }
}

/// Computes `half = x / 2`, rounded down; `x` has one limb more.
#[inline(never)]
fn halve(half: &mut [Limb], x: &[Limb]) {
    for (half, pair) in half.iter_mut().zip(x.windows(2)) {
        *half = pair[0] >> 1 | pair[1] << (LIMB_BITS - 1);
    }
}

/// Computes `quotient = x / divisor`, rounded down, and the remainder, bit by bit in constant time.
/// `quotient` is as long as `x`, and `remainder` as long as `divisor`, which is not zero.
fn divide(quotient: &mut [Limb], remainder: &mut [Limb], x: &[Limb], divisor: &[Limb]) {
    remainder.fill(0);
    for (limb, quotient) in x.iter().zip(quotient).rev() {
        *quotient = 0;
        for bit in (0..LIMB_BITS).rev() {
            let carry = rare::double(remainder);
            remainder[0] |= limb >> bit & 1;
            let is_less = rare::is_less(remainder, divisor) & !Mask::from_bit(carry);
            rare::sub_if(!is_less, remainder, divisor);
            *quotient = *quotient << 1 | !is_less.value() & 1;
        }
    }
}

/// Computes `root` = √x, rounded down, bit by bit in constant time. `x` has twice as many limbs.
/// `scratch` has those of x and two more.
fn square_root(root: &mut [Limb], x: &[Limb], scratch: &mut [Limb]) {
    let (rest, scratch) = scratch.split_at_mut(root.len() + 1);
    let trial = &mut scratch[..root.len() + 1];
    root.fill(0);
    rest.fill(0);
    for limb in x.iter().rev() {
        for pair in (0..LIMB_BITS).step_by(2).rev() {
            // The next bit of the root is 1 if rest ≥ 4·root + 1.
            rare::double(rest);
            rare::double(rest);
            rest[0] |= limb >> pair & 3;
            trial[..root.len()].copy_from_slice(root);
            trial[root.len()] = 0;
            rare::double(trial);
            rare::double(trial);
            trial[0] |= 1;
            let is_less = rare::is_less(rest, trial);
            rare::sub_if(!is_less, rest, trial);
            rare::double(root);
            root[0] |= !is_less.value() & 1;
        }
    }
}
