//! The multi-precision arithmetic of every backend, compared with num-bigint.

#![no_main]

use cycloid::internals::words::{self, Backend, Task, Words, montgomery_n0, montgomery_work_limbs};
use cycloid_fuzz::{Input, Limb, assert_holds, big};
use libfuzzer_sys::fuzz_target;
use num_bigint::BigUint;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let n = 1 + input.up_to(33);
    let m = 1 + input.up_to(33);
    let case = Case { a: input.limbs(n), b: input.limbs(n), c: input.limbs(m) };
    linear(&case);
    for backend in Backend::available() {
        backend.run(&case);
    }
});

/// Two numbers of equal length and one of another length.
struct Case {
    a: Vec<Limb>,
    b: Vec<Limb>,
    c: Vec<Limb>,
}

impl Task for &Case {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        products(self, words);
        montgomery(self, words);
    }
}

fn linear(Case { a, b, .. }: &Case) {
    let whole = BigUint::from(1_u8) << (64 * a.len());
    let (x, y) = (big(a), big(b));
    let mut sum = a.clone();
    let carry = words::add(&mut sum, b);
    assert_eq!(big(&sum) + BigUint::from(carry) * &whole, &x + &y, "add");
    let mut difference = a.clone();
    let borrow = words::sub(&mut difference, b);
    assert_eq!(big(&difference) + &y, &x + BigUint::from(borrow) * &whole, "sub");
    let mut double = a.clone();
    let out = words::double(&mut double);
    assert_eq!(big(&double) + BigUint::from(out) * &whole, &x * 2_u8, "double");
    assert_eq!(words::is_less(a, b).reveal(), x < y, "is_less");
    assert_eq!(words::compare_vartime(a, b), x.cmp(&y), "compare_vartime");
    assert_eq!(words::bit_length_vartime(a) as u64, x.bits(), "bit_length_vartime");
}

fn products<W: Words>(Case { a, b, c }: &Case, words: W) {
    let n = a.len();
    let (x, y, z) = (big(a), big(b), big(c));
    let mut product = vec![1; 2 * n];
    words.mul(&mut product, a, b);
    assert_holds(&product, &(&x * &y), "mul");
    let mut product = vec![1; n + c.len()];
    words.mul(&mut product, a, c);
    assert_holds(&product, &(&x * &z), "mul of unequal lengths");
    let mut product = vec![1; 2 * n];
    words.square(&mut product, a);
    assert_holds(&product, &(&x * &x), "square");

    let whole = BigUint::from(1_u8) << (64 * n);
    let mut sum = a.clone();
    let carry = words.add_mul_limb(&mut sum, b, c[0]);
    assert_eq!(big(&sum) + BigUint::from(carry) * &whole, &x + &y * c[0], "add_mul_limb");
    let mut difference = a.clone();
    let borrow = words.sub_mul_limb(&mut difference, b, c[0]);
    assert_eq!(big(&difference) + &y * c[0], &x + BigUint::from(borrow) * &whole, "sub_mul_limb");
}

fn montgomery<W: Words>(Case { a, b, c }: &Case, words: W) {
    let n = a.len();
    // Any odd modulus, including short ones and 1.
    let mut modulus = c.clone();
    modulus.resize(n, 0);
    modulus[0] |= 1;
    let m = big(&modulus);
    let n0 = montgomery_n0(modulus[0]);
    let mut work = vec![0; montgomery_work_limbs(n)];
    let reduced = |x: &BigUint| {
        let mut limbs = (x % &m).to_u64_digits();
        limbs.resize(n, 0);
        limbs
    };
    let residue = reduced(&big(b));
    let right = |result: &[Limb], product: BigUint, what: &str| {
        assert!(big(result) < m, "{what}: not reduced");
        assert_eq!((big(result) << (64 * n)) % &m, product % &m, "{what}");
    };

    let mut result = a.clone();
    words.montgomery_mul(&mut result, &residue, &mut work, &modulus, n0);
    right(&result, big(a) * big(&residue), "montgomery_mul");

    let mut result = residue.clone();
    words.montgomery_square(&mut result, &mut work, &modulus, n0);
    right(&result, big(&residue) * big(&residue), "montgomery_square");

    let mut wide = [a.clone(), residue].concat();
    let number = big(&wide);
    let mut result = vec![0; n];
    words.montgomery_reduce(&mut result, &mut wide, &modulus, n0);
    right(&result, number, "montgomery_reduce");
}
