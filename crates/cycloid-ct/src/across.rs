//! One number across the lanes, by the portable instance.

use cycloid::machine::across::{
    self, AcrossLanes, DIGIT_BITS, digits, modulus_memory, montgomery_work, vectors,
};
use cycloid::machine::lanes::{LANES, Lanes, Portable};
use cycloid::machine::words::Limb;

use crate::check::{Check, big, secret};

/// Runs all operations at some lengths of the modulus in limbs.
pub(crate) fn run(check: &mut Check) {
    for n in [1, 2, 4, 9, 16, 24, 33] {
        montgomery(check, n);
        select(check, n);
    }
}

const ZERO: Lanes = Lanes([0; LANES]);

fn montgomery(check: &mut Check, n: usize) {
    let length = digits(64 * n);
    let m = [check.modulus(n), check.modulus(n)];
    let a = m.each_ref().map(|m| check.residue(m));
    let b = m.each_ref().map(|m| check.residue(m));
    let loaded = |limbs: &[Limb]| {
        let mut number = vec![ZERO; vectors(length)];
        across::load(&mut number, &secret(limbs));
        number
    };
    let mut work = vec![ZERO; 2 * montgomery_work(length)];
    let mut memory = [vec![ZERO; modulus_memory(length)], vec![ZERO; modulus_memory(length)]];
    let [first, second] = memory.each_mut();
    let moduli = [
        Portable.prepare(&secret(&m[0]), 64 * n, first, &mut work),
        Portable.prepare(&secret(&m[1]), 64 * n, second, &mut work),
    ];

    // The product times R is congruent to the product of the factors.
    let mut right = |name: &str, which: usize, mut product: Vec<Lanes>, by: &[Limb]| {
        across::reduce(&mut product, moduli[which].digits());
        let mut stored = vec![0; n];
        across::store(&mut stored, &product);
        let modulus = big(&m[which]);
        let expected = big(&a[which]) * big(by) % &modulus;
        check.judged(&format!("{name} across the lanes at {n} limbs"), &stored, |result| {
            let result = big(result);
            result < modulus && (result << (DIGIT_BITS * length)) % &modulus == expected
        });
    };

    let mut product = loaded(&a[0]);
    Portable.multiply(&mut product, &loaded(&b[0]), &mut work, &moduli[0]);
    right("multiply", 0, product, &b[0]);
    let mut square = loaded(&a[0]);
    AcrossLanes::square(Portable, &mut square, &mut work, &moduli[0]);
    right("square", 0, square, &a[0]);

    let [mut x, mut y] = a.each_ref().map(|a| loaded(a));
    let by = b.each_ref().map(|b| loaded(b));
    let [first, second] = &moduli;
    Portable.multiply_pair([&mut x, &mut y], [&by[0], &by[1]], &mut work, [first, second]);
    right("multiply_pair", 0, x, &b[0]);
    right("multiply_pair", 1, y, &b[1]);
    let [mut x, mut y] = a.each_ref().map(|a| loaded(a));
    Portable.square_pair([&mut x, &mut y], &mut work, [first, second]);
    right("square_pair", 0, x, &a[0]);
    right("square_pair", 1, y, &a[1]);
}

fn select(check: &mut Check, n: usize) {
    let entries = 8;
    let mut element = || Lanes(std::array::from_fn(|_| check.limbs(1)[0] >> (64 - DIGIT_BITS)));
    let table: Vec<Lanes> = (0..n * entries).map(|_| element()).collect();
    for index in [0, 5, entries - 1] {
        let mut out = vec![ZERO; n];
        Portable.select(&mut out, &table, secret(&[index as Limb])[0] as usize);
        let flat = |lanes: &[Lanes]| lanes.iter().flat_map(|lanes| lanes.0).collect::<Vec<_>>();
        let name = format!("select across the lanes at {n} elements");
        check.result(&name, &flat(&out), &flat(&table[index * n..][..n]));
    }
}
