//! Exponentiation with secret base, exponent and modulus; their lengths are public.

use cycloid::machine::words::Backend;
use cycloid::modular::{self, Exponent, Modulus, Strategy};

use crate::check::{Check, big, padded, power, secret};

/// Lengths of the modulus in limbs, and for them of the exponent in bits.
const SIZES: [(usize, usize); 9] =
    [(1, 64), (2, 100), (4, 256), (6, 200), (8, 300), (9, 130), (16, 256), (17, 70), (32, 130)];

/// The sizes for which the full exponent runs with the default.
const FULL: [usize; 3] = [8, 16, 32];

/// Runs all constant-time strategies and the default with `backend`.
pub(crate) fn run(check: &mut Check, backend: Backend) {
    for (n, bits) in SIZES {
        for strategy in Strategy::ALL.into_iter().filter(|strategy| strategy.is_constant_time()) {
            by_strategy(check, backend, strategy, n, bits);
        }
        by_default(check, backend, n, bits);
    }
    for n in FULL {
        by_default(check, backend, n, 64 * n);
    }
}

fn by_strategy(check: &mut Check, backend: Backend, strategy: Strategy, n: usize, bits: usize) {
    let m = check.modulus(n);
    let e = check.exponent(bits);
    // Longer than the modulus, as a ciphertext is for one of two primes.
    let b = check.limbs(n + n / 2 + 1);
    let (base, exponent, modulus) = (secret(&b), secret(&e), secret(&m));
    let mut result = vec![0; n];
    let mut scratch = vec![0; strategy.scratch_limbs(n)];
    let exponent = Exponent::with_bits(&exponent, bits).expect("it is that short");
    strategy
        .pow_vartime_with(backend, &mut result, &base, &exponent, &modulus, &mut scratch)
        .expect("the arguments are sound");
    let name = format!("{strategy:?} of {} at {n} limbs, {bits} bits", backend.name());
    check.result(&name, &result, &power(&b, &e, &m));
}

fn by_default(check: &mut Check, backend: Backend, n: usize, bits: usize) {
    let m = check.modulus(n);
    let e = check.exponent(bits);
    let b = check.residue(&m);
    let (base, exponent, modulus) = (secret(&b), secret(&e), secret(&m));
    let mut r_squared = vec![0; n];
    let mut result = vec![0; n];
    let mut scratch = vec![0; modular::pow_scratch_limbs(n, bits)];
    let exponent = Exponent::with_bits(&exponent, bits).expect("it is that short");
    let modulus = Modulus::prepare(&modulus, &mut r_squared, &mut scratch).expect("it is odd");
    modular::pow_with(backend, &mut result, &base, &exponent, &modulus, &mut scratch)
        .expect("the arguments are sound");
    let name = format!("pow of {} at {n} limbs, {bits} bits", backend.name());
    check.result(&name, &result, &power(&b, &e, &m));
}

/// Inverses modulo odd numbers of all the lengths, and common divisors.
pub(crate) fn inverses(check: &mut Check) {
    for (n, _) in SIZES {
        let m = check.modulus(n);
        let (x, inverse) = loop {
            let x = check.residue(&m);
            if let Some(inverse) = big(&x).modinv(&big(&m)) {
                break (x, padded(&inverse, n));
            }
        };
        let mut result = vec![0; n];
        let mut scratch = vec![0; modular::invert_scratch_limbs(n)];
        modular::invert(&mut result, &secret(&x), &secret(&m), &mut scratch)
            .expect("there is an inverse");
        check.result(&format!("invert at {n} limbs"), &result, &inverse);

        // A common divisor of one limb, times numbers that have none.
        let divisor = check.modulus(1);
        let [x, m] = [&x, &m].map(|number| padded(&(big(number) * big(&divisor)), n + 1));
        let mut result = vec![0; n + 1];
        let mut scratch = vec![0; modular::invert_scratch_limbs(n + 1)];
        modular::gcd(&mut result, &secret(&x), &secret(&m), &mut scratch).expect("it is odd");
        check.result(&format!("gcd at {} limbs", n + 1), &result, &padded(&big(&divisor), n + 1));
    }
}

/// Products, and powers with a public exponent, modulo secret numbers, on the best backend, which
/// is this one.
pub(crate) fn products(check: &mut Check, backend: Backend) {
    let of = backend.name();
    for (n, _) in SIZES {
        let m = check.modulus(n);
        let (a, b) = (check.limbs(n + 1), check.residue(&m));
        let modulus = secret(&m);
        let mut r_squared = vec![0; n];
        let mut scratch = vec![0; modular::pow_scratch_limbs_minimum(n)];
        let modulus = Modulus::prepare(&modulus, &mut r_squared, &mut scratch).expect("it is odd");

        let mut product = vec![0; n];
        modular::mul(&mut product, &secret(&a), &secret(&b), &modulus, &mut scratch)
            .expect("the arguments are sound");
        let expected = padded(&(big(&a) * big(&b) % big(&m)), n);
        check.result(&format!("mul of {of} modulo {n} limbs"), &product, &expected);

        let mut result = vec![0; n];
        let public = [65537];
        let exponent = Exponent::new(&public);
        modular::pow_vartime(&mut result, &secret(&b), &exponent, &modulus, &mut scratch)
            .expect("the arguments are sound");
        let name = format!("pow_vartime of {of} with a public exponent modulo {n} limbs");
        check.result(&name, &result, &power(&b, &public, &m));
    }
}
