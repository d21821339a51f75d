//! The operations on 64-bit limbs: [`Words`] of one backend.

use cycloid::machine::words::{Backend, Limb, Task, Words, montgomery_n0, montgomery_work};
use num_bigint::BigUint;

use crate::check::{Check, big, padded, secret};

/// Lengths in limbs: those with code of their own, and others.
const LENGTHS: [usize; 13] = [1, 2, 3, 4, 6, 8, 9, 16, 17, 24, 31, 32, 64];

/// Runs all operations of `backend` at all lengths.
pub(crate) fn run(check: &mut Check, backend: Backend) {
    backend.run(All { check });
}

struct All<'a> {
    check: &'a mut Check,
}

impl Task for All<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        for n in LENGTHS {
            products(self.check, words, n);
            rows(self.check, words, n);
            montgomery(self.check, words, n);
            lookup(self.check, words, n);
        }
    }
}

fn products<W: Words>(check: &mut Check, words: W, n: usize) {
    let [a, b] = [check.limbs(n), check.limbs(n)];
    let short = check.limbs(n.div_ceil(3));
    let mut product = vec![0; 2 * n];
    words.mul(&mut product, &secret(&a), &secret(&b));
    check.result(&name::<W>("mul", n), &product, &padded(&(big(&a) * big(&b)), 2 * n));

    let mut product = vec![0; n + short.len()];
    words.mul(&mut product, &secret(&a), &secret(&short));
    let expected = padded(&(big(&a) * big(&short)), n + short.len());
    check.result(&name::<W>("mul, unequal lengths", n), &product, &expected);

    let mut product = vec![0; 2 * n];
    words.square(&mut product, &secret(&a));
    check.result(&name::<W>("square", n), &product, &padded(&(big(&a) * big(&a)), 2 * n));
}

fn rows<W: Words>(check: &mut Check, words: W, n: usize) {
    let [a, b] = [check.limbs(n), check.limbs(n)];
    let x = check.limbs(1);
    let whole = BigUint::from(1_u8) << (64 * (n + 1));

    let mut sum = secret(&a);
    sum.push(0);
    sum[n] = words.add_mul_limb(&mut sum[..n], &secret(&b), secret(&x)[0]);
    let expected = padded(&(big(&a) + big(&b) * big(&x)), n + 1);
    check.result(&name::<W>("add_mul_limb", n), &sum, &expected);

    let mut difference = secret(&a);
    difference.push(0);
    let borrow = words.sub_mul_limb(&mut difference[..n], &secret(&b), secret(&x)[0]);
    difference[n] = borrow.wrapping_neg();
    let expected = padded(&(whole + big(&a) - big(&b) * big(&x)), n + 2);
    check.result(&name::<W>("sub_mul_limb", n), &difference, &expected[..=n]);
}

fn montgomery<W: Words>(check: &mut Check, words: W, n: usize) {
    let m = check.modulus(n);
    let [a, b] = [check.residue(&m), check.residue(&m)];
    let modulus = secret(&m);
    let n0 = montgomery_n0(modulus[0]);
    let mut work = vec![0; montgomery_work(n)];
    // What is less than the modulus and times R is congruent to the product is the right residue.
    let right = |result: &[Limb], product: BigUint| {
        let result = big(result);
        result < big(&m) && (result << (64 * n)) % big(&m) == product % big(&m)
    };

    let mut result = secret(&a);
    words.montgomery_mul(&mut result, &secret(&b), &mut work, &modulus, n0);
    check.judged(&name::<W>("montgomery_mul", n), &result, |r| right(r, big(&a) * big(&b)));

    let mut result = secret(&a);
    words.montgomery_square(&mut result, &mut work, &modulus, n0);
    check.judged(&name::<W>("montgomery_square", n), &result, |r| right(r, big(&a) * big(&a)));

    let mut result = vec![0; n];
    let mut wide = secret(&[b.clone(), a.clone()].concat());
    // R·a + b is less than R·modulus, since a is less than the modulus.
    words.montgomery_reduce(&mut result, &mut wide, &modulus, n0);
    let product = (big(&a) << (64 * n)) + big(&b);
    check.judged(&name::<W>("montgomery_reduce", n), &result, |r| right(r, product));
}

fn lookup<W: Words>(check: &mut Check, words: W, n: usize) {
    let entries = 16;
    let table = check.limbs(n * entries);
    for index in [0, 7, entries - 1] {
        let mut out = vec![0; n];
        let secret_index = secret(&[index as Limb])[0] as usize;
        words.lookup(&mut out, &table, secret_index);
        check.result(&name::<W>("lookup", n), &out, &table[index * n..][..n]);
    }
}

fn name<W: Words>(operation: &str, n: usize) -> String {
    format!("{operation} of {} at {n} limbs", W::NAME)
}
