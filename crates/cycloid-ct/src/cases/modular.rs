//! Exponentiation with secret base, exponent and modulus; their lengths are public.

use cycloid::internals::lanes::LANES;
use cycloid::internals::words::Backend;
use cycloid::modular::{self, Exponent, FixedBase, Modulus, Strategy};
use cycloid::scheme::dh::Comb;

use crate::check::{Check, big, marked, padded, power};

/// All constant-time strategies of the table.
pub(crate) fn strategies(check: &mut Check) {
    let (n, bits) = (4, 100);
    for strategy in Strategy::ALL.into_iter().filter(|strategy| strategy.is_constant_time()) {
        let m = check.modulus(n);
        let e = check.exponent(bits);
        // Longer than the modulus, like a ciphertext relative to one of the two primes.
        let b = check.limbs(n + n / 2 + 1);
        let (base, exponent, modulus) = (marked(&b), marked(&e), marked(&m));
        let mut result = vec![0; n];
        let mut scratch = vec![0; strategy.scratch_limbs(n)];
        let name = format!("{strategy:?}");
        check.trace(&name, || {
            let exponent =
                Exponent::with_bits(&exponent, bits).expect("the exponent fits the length");
            strategy
                .pow_vartime_with(
                    Backend::best(),
                    &mut result,
                    &base,
                    &exponent,
                    &modulus,
                    &mut scratch,
                )
                .expect("the arguments are valid");
        });
        check.secret(&name, &result, |result| *result == power(&b, &e, &m)[..]);
    }
}

pub(crate) fn default_1024(check: &mut Check) {
    by_default(check, 16, 200);
}

/// Lengths with specialised code, and others.
pub(crate) fn default_all(check: &mut Check) {
    for (n, bits) in
        [(1, 64), (2, 100), (6, 384), (8, 512), (9, 130), (17, 70), (24, 300), (33, 130)]
    {
        by_default(check, n, bits);
    }
    by_default(check, 16, 1024);
}

fn by_default(check: &mut Check, n: usize, bits: usize) {
    let m = check.modulus(n);
    let e = check.exponent(bits);
    let b = check.residue(&m);
    let (base, exponent, modulus) = (marked(&b), marked(&e), marked(&m));
    let mut r_squared = vec![0; n];
    let mut result = vec![0; n];
    let mut scratch = vec![0; modular::pow_scratch_limbs(n, bits)];
    let name = format!("pow at {n} limbs, {bits} bits");
    check.trace(&name, || {
        let exponent = Exponent::with_bits(&exponent, bits).expect("the exponent fits the length");
        let modulus =
            Modulus::prepare(&modulus, &mut r_squared, &mut scratch).expect("the modulus is odd");
        modular::pow(&mut result, &base, &exponent, &modulus, &mut scratch)
            .expect("the arguments are valid");
    });
    check.secret(&name, &result, |result| *result == power(&b, &e, &m)[..]);
}

/// Inverses, common divisors, products, and powers with a public exponent.
pub(crate) fn others(check: &mut Check) {
    let n = 4;
    // An even x and m = x·r + 1 have no common divisor for any x and r. Drawing until an inverse
    // exists would make the runs allocate differently.
    let mut halves = [check.modulus(n / 2), check.modulus(n / 2)];
    halves[0][0] &= !1;
    // Their product has as many bits whatever they are: the length of a modulus is public.
    halves.iter_mut().for_each(|half| half[n / 2 - 1] |= 3 << 62);
    let x = padded(&big(&halves[0]), n);
    let m = padded(&(big(&halves[0]) * big(&halves[1]) + 1_u8), n);
    let (secret_x, secret_m) = (marked(&x), marked(&m));
    let mut result = vec![0; n];
    let mut scratch = vec![0; modular::invert_scratch_limbs(n)];
    check.trace("invert", || {
        modular::invert(&mut result, &secret_x, &secret_m, &mut scratch)
            .expect("the inverse exists");
    });
    let inverse = big(&x).modinv(&big(&m)).map(|inverse| padded(&inverse, n));
    check.secret("invert", &result, |result| Some(result) == inverse.as_deref());

    // A common divisor of one limb, times coprime numbers.
    let divisor = check.modulus(1);
    let [a, b] = [&x, &m].map(|number| padded(&(big(number) * big(&divisor)), n + 1));
    let (secret_a, secret_b) = (marked(&a), marked(&b));
    let mut result = vec![0; n + 1];
    let mut scratch = vec![0; modular::invert_scratch_limbs(n + 1)];
    check.trace("gcd", || {
        modular::gcd(&mut result, &secret_a, &secret_b, &mut scratch).expect("the modulus is odd");
    });
    check.secret("gcd", &result, |result| *result == padded(&big(&divisor), n + 1));

    let a = check.limbs(n + 1);
    let secret_a = marked(&a);
    let mut r_squared = vec![0; n];
    let mut product = vec![0; n];
    let mut square = vec![0; n];
    let mut scratch = vec![0; modular::pow_minimum_scratch_limbs(n)];
    check.trace("products", || {
        let modulus = Modulus::prepare(&secret_m, &mut r_squared, &mut scratch).expect("odd");
        modular::mul(&mut product, &secret_a, &secret_x, &modulus, &mut scratch).expect("sound");
        let exponent = Exponent::new(&[65537]);
        modular::pow_vartime(&mut square, &secret_x, &exponent, &modulus, &mut scratch)
            .expect("sound");
    });
    let expected = padded(&(big(&a) * big(&x) % big(&m)), n);
    check.secret("mul", &product, |product| *product == expected);
    check.secret("public exponent", &square, |square| *square == power(&x, &[65537], &m));

    // All runs have as many trailing zero bits.
    let mut even = check.modulus(n);
    even[0] = even[0] & !0xff | 0x60;
    let secret_even = marked(&even);
    let mut product = vec![0; n];
    let mut scratch = vec![0; modular::mul_any_scratch_limbs(n + 1, n, n)];
    check.trace("product modulo an even number", || {
        modular::mul_any(&mut product, &secret_a, &secret_x, &secret_even, &mut scratch)
            .expect("sound");
    });
    let expected = padded(&(big(&a) * big(&x) % big(&even)), n);
    check.secret("product modulo an even number", &product, |product| *product == expected);

    // An odd x, and the even m = x·r + 1 for an odd r.
    let mut halves = [check.modulus(n / 2), check.modulus(n / 2)];
    halves.iter_mut().for_each(|half| half[n / 2 - 1] |= 3 << 62);
    let x = padded(&big(&halves[0]), n);
    let m = padded(&(big(&halves[0]) * big(&halves[1]) + 1_u8), n);
    let (secret_x, secret_m) = (marked(&x), marked(&m));
    let mut result = vec![0; n];
    let mut scratch = vec![0; modular::invert_any_scratch_limbs(n)];
    check.trace("inverse modulo an even number", || {
        modular::invert_any(&mut result, &secret_x, &secret_m, &mut scratch)
            .expect("the inverse exists");
    });
    let inverse = big(&x).modinv(&big(&m)).map(|inverse| padded(&inverse, n));
    check.secret("inverse modulo an even number", &result, |result| {
        Some(result) == inverse.as_deref()
    });
}

pub(crate) fn eight_512(check: &mut Check) {
    eight(check, 8, 64, false);
}

pub(crate) fn eight_1024(check: &mut Check) {
    eight(check, 16, 1024, false);
    eight(check, 33, 40, true);
}

pub(crate) fn eight_unequal(check: &mut Check) {
    eight(check, 4, 20, true);
}

fn eight(check: &mut Check, n: usize, bits: usize, unequal: bool) {
    // Lengths are public, and may differ.
    let length = |lane: usize| if unequal { n.saturating_sub(lane % 3).max(1) } else { n };
    let m: [_; LANES] = std::array::from_fn(|lane| check.modulus(length(lane)));
    let b: [_; LANES] = std::array::from_fn(|lane| check.limbs(n + lane % 2));
    let e: [_; LANES] = std::array::from_fn(|_| check.exponent(bits));
    let moduli = m.each_ref().map(|m| marked(m));
    let bases = b.each_ref().map(|b| marked(b));
    let exponents = e.each_ref().map(|e| marked(e));
    let mut results = m.each_ref().map(|m| vec![0; m.len()]);
    let mut scratch = vec![0; modular::pow_eight_scratch_limbs(n, bits)];
    let mut done = 0;
    check.trace(format!("pow_eight at {n} limbs"), || {
        let exponents = std::array::from_fn(|lane| {
            Exponent::with_bits(&exponents[lane], bits).expect("the exponent fits the length")
        });
        let outcomes = modular::pow_eight(
            results.each_mut().map(Vec::as_mut_slice),
            bases.each_ref().map(Vec::as_slice),
            exponents,
            moduli.each_ref().map(Vec::as_slice),
            &mut scratch,
        );
        done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    });
    assert_eq!(done, LANES);
    for lane in 0..LANES {
        let expected = power(&b[lane], &e[lane], &m[lane]);
        check.secret("pow_eight", &results[lane], |result| *result == expected);
    }
}

pub(crate) fn fixed_base(check: &mut Check) {
    let bits = 150;
    let comb = Comb::new(4, 2).expect("the shape is valid");
    for n in [4, 17] {
        let [m, base] = [check.modulus(n), check.limbs(n)];
        let exponent = check.exponent(bits);
        let [secret_m, secret_base, secret_exponent] =
            [&m, &base, &exponent].map(|limbs| marked(limbs));
        let mut r_squared = vec![0; n];
        let mut scratch = vec![0; FixedBase::scratch_limbs(n)];
        let mut memory = vec![0; FixedBase::memory_limbs(n, comb)];
        let mut result = vec![0; n];
        check.trace("fixed base", || {
            let modulus = Modulus::prepare(&secret_m, &mut r_squared, &mut scratch).expect("odd");
            let fixed =
                FixedBase::prepare(&secret_base, bits, comb, &modulus, &mut memory, &mut scratch)
                    .expect("the memory suffices");
            let declared =
                Exponent::with_bits(&secret_exponent, bits).expect("the exponent fits the length");
            fixed.pow(&mut result, &declared, &mut scratch).expect("the scratch suffices");
        });
        check.secret("fixed base", &result, |result| *result == power(&base, &exponent, &m));
    }
}
