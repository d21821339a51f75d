//! What is linear in the length: sums, shifts, comparisons, selections.

use cycloid::machine::ct::{self, Mask};
use cycloid::machine::words::{self, Limb};
use num_bigint::BigUint;

use crate::check::{Check, big, padded, secret};

/// Runs all of it at some lengths.
pub(crate) fn run(check: &mut Check) {
    for n in [1, 2, 4, 9, 32] {
        sums(check, n);
        comparisons(check, n);
        selections(check, n);
    }
}

fn sums(check: &mut Check, n: usize) {
    let whole = BigUint::from(1_u8) << (64 * n);
    let [a, b] = [check.limbs(n), check.limbs(n)];
    // The carry as the highest limb.
    let mut checked = |name: &str, f: &dyn Fn(&mut [Limb]) -> Limb, expected: BigUint| {
        let mut limbs = secret(&a);
        let carry = f(&mut limbs);
        limbs.push(carry);
        check.result(&format!("{name} at {n} limbs"), &limbs, &padded(&expected, n + 1));
    };
    let borrow = if big(&a) < big(&b) { &whole + &whole } else { BigUint::ZERO };
    checked("add", &|a| words::add(a, &secret(&b)), big(&a) + big(&b));
    // −x + whole, with a borrow of whole, is 2·whole − x.
    let difference = borrow + big(&a) - big(&b);
    checked("sub", &|a| words::sub(a, &secret(&b)), difference.clone());
    let yes = Mask::from_bit(secret(&[1])[0]);
    checked("sub_if", &|a| words::sub_if(yes, a, &secret(&b)), difference);
    let no = Mask::from_bit(secret(&[0])[0]);
    checked("sub_if not", &|a| words::sub_if(no, a, &secret(&b)), big(&a));
    checked("decrement", &|a| words::decrement(a), big(&a) - 1_u8);
    checked("double", &|a| words::double(a), big(&a) * 2_u8);
}

fn comparisons(check: &mut Check, n: usize) {
    let [a, b] = [check.limbs(n), check.limbs(n)];
    let mut checked = |name: &str, mask: Mask, expected: bool| {
        let expected = if expected { Limb::MAX } else { 0 };
        check.result(&format!("{name} at {n} limbs"), &[mask.value()], &[expected]);
    };
    checked("is_less", words::is_less(&secret(&a), &secret(&b)), big(&a) < big(&b));
    checked("is_less of equals", words::is_less(&secret(&a), &secret(&a)), false);
    checked("is_zero", words::is_zero(&secret(&a)), false);
    checked("is_zero of zero", words::is_zero(&secret(&vec![0; n])), true);
    checked("equal", Mask::equal(secret(&a)[0], secret(&a)[0]), true);
    checked("not", !Mask::equal(secret(&a)[0], secret(&a)[0]), false);
}

fn selections(check: &mut Check, n: usize) {
    let [a, b] = [check.limbs(n), check.limbs(n)];
    for bit in [0, 1] {
        let mask = || Mask::from_bit(secret(&[bit])[0]);
        let (first, second) = if bit == 1 { (&b, &a) } else { (&a, &b) };
        let (mut x, mut y) = (secret(&a), secret(&b));
        ct::swap_if(mask(), &mut x, &mut y);
        check.result(&format!("swap_if at {n} limbs, first"), &x, first);
        check.result(&format!("swap_if at {n} limbs, second"), &y, second);
        // Public values, so that the mask alone makes the result secret.
        let mut x = a.clone();
        ct::assign_if(mask(), &mut x, &b);
        check.result(&format!("assign_if at {n} limbs"), &x, first);
    }
}
