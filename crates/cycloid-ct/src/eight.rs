//! Eight exponentiations at once, by the portable instance: valgrind does not execute AVX-512.

use cycloid::machine::lanes::{self, Backend, LANE_LIMB_BITS, LANES, LaneWords, Lanes, Portable};
use cycloid::machine::words::Limb;
use cycloid::modular::{self, Exponent, Modulus};
use num_bigint::BigUint;

use crate::check::{Check, big, power, secret};

/// Lengths of the longest modulus in limbs of 64 bits, and of the exponents in bits.
const SIZES: [(usize, usize); 6] = [(1, 64), (4, 100), (8, 130), (16, 70), (24, 40), (33, 20)];

/// Runs the operations on lanes and the exponentiation.
pub(crate) fn run(check: &mut Check) {
    for (n, bits) in SIZES {
        montgomery(check, n);
        lookup(check, n);
        pow(check, Some(Backend::Portable(Portable)), n, bits);
        // Without a backend for lanes, one after the other.
        pow(check, None, n, bits);
    }
}

/// Eight numbers in lanes, secret.
fn secret_lanes(numbers: &[Vec<Limb>; LANES], n: usize) -> Vec<Lanes> {
    let mut in_lanes = vec![Lanes([0; LANES]); n];
    for (lane, number) in numbers.iter().enumerate() {
        lanes::load(&mut in_lanes, lane, &secret(number));
    }
    in_lanes
}

fn montgomery(check: &mut Check, n: usize) {
    let length = lanes::lane_limbs(64 * n);
    let m: [_; LANES] = std::array::from_fn(|_| check.modulus(n));
    let a = m.each_ref().map(|m| check.residue(m));
    let b = m.each_ref().map(|m| check.residue(m));
    let modulus = secret_lanes(&m, length);
    let k0 = lanes::montgomery_k0(&modulus);
    let mut work = vec![Lanes([0; LANES]); lanes::montgomery_work(length)];

    let mut product = secret_lanes(&a, length);
    Portable.montgomery_mul(&mut product, &secret_lanes(&b, length), &mut work, &modulus, &k0);
    let mut square = secret_lanes(&a, length);
    Portable.montgomery_square(&mut square, &mut work, &modulus, &k0);
    lanes::reduce_once(&mut product, &modulus);
    lanes::reduce_once(&mut square, &modulus);
    for lane in 0..LANES {
        let modulus = big(&m[lane]);
        let right = |result: &[Limb], expected: BigUint| {
            let result = big(result);
            result < modulus
                && (result << (LANE_LIMB_BITS * length)) % &modulus == expected % &modulus
        };
        let mut stored = vec![0; n];
        lanes::store(&mut stored, &product, lane);
        let name = |what| format!("{what} of lane {lane} at {n} limbs");
        check.judged(&name("montgomery_mul"), &stored, |r| right(r, big(&a[lane]) * big(&b[lane])));
        lanes::store(&mut stored, &square, lane);
        let expected = big(&a[lane]) * big(&a[lane]);
        check.judged(&name("montgomery_square"), &stored, |r| right(r, expected));
    }
}

fn lookup(check: &mut Check, n: usize) {
    let entries = 8;
    let limb = |limb: Limb| limb >> (64 - LANE_LIMB_BITS);
    let mut entry = || Lanes(std::array::from_fn(|_| limb(check.limbs(1)[0])));
    let table: Vec<Lanes> = (0..n * entries).map(|_| entry()).collect();
    let indices: [Limb; LANES] = [0, 7, 3, 1, 6, 2, 5, 4];
    let secret_indices = Lanes(std::array::from_fn(|lane| secret(&[indices[lane]])[0]));
    let mut out = vec![Lanes([0; LANES]); n];
    Portable.lookup(&mut out, &table, &secret_indices);
    for (lane, index) in indices.into_iter().enumerate() {
        let of_lane = |lanes: &[Lanes]| lanes.iter().map(|limb| limb.0[lane]).collect::<Vec<_>>();
        let expected = of_lane(&table[index as usize * n..][..n]);
        check.result(&format!("lookup of lane {lane} at {n} limbs"), &of_lane(&out), &expected);
    }
}

fn pow(check: &mut Check, backend: Option<Backend>, n: usize, bits: usize) {
    // Lengths are public, and differ.
    let length = |lane: usize| n.saturating_sub(lane % 3).max(1);
    let m: [_; LANES] = std::array::from_fn(|lane| check.modulus(length(lane)));
    let b: [_; LANES] = std::array::from_fn(|lane| check.limbs(n + lane % 2));
    let e: [_; LANES] = std::array::from_fn(|lane| check.exponent(bits - lane));
    let (moduli, bases) = (m.each_ref().map(|m| secret(m)), b.each_ref().map(|b| secret(b)));
    let exponents = e.each_ref().map(|e| secret(e));
    let exponents = std::array::from_fn(|lane| {
        Exponent::with_bits(&exponents[lane], bits - lane).expect("it is that short")
    });
    let mut results = m.each_ref().map(|m| vec![0; m.len()]);
    let mut scratch = vec![Lanes([0; LANES]); modular::pow_eight_scratch(n, bits)];
    let outcomes = modular::pow_eight_with(
        backend,
        results.each_mut().map(Vec::as_mut_slice),
        bases.each_ref().map(Vec::as_slice),
        exponents,
        moduli.each_ref().map(Vec::as_slice),
        &mut scratch,
    );
    let mut r_squared = m.each_ref().map(|m| vec![0; m.len()]);
    let mut of_one = vec![0; Modulus::scratch_limbs(n)];
    let prepared: Vec<_> = std::iter::zip(&moduli, &mut r_squared)
        .map(|(modulus, r_squared)| Modulus::prepare(modulus, r_squared, &mut of_one))
        .collect::<Result<_, _>>()
        .expect("they are odd");
    let mut again = m.each_ref().map(|m| vec![0; m.len()]);
    let outcomes_again = modular::pow_eight_prepared_with(
        backend,
        again.each_mut().map(Vec::as_mut_slice),
        bases.each_ref().map(Vec::as_slice),
        exponents,
        std::array::from_fn(|lane| &prepared[lane]),
        &mut scratch,
    );
    for lane in 0..LANES {
        outcomes[lane].and(outcomes_again[lane]).expect("the arguments are sound");
        let name = format!("pow_eight, lane {lane} at {n} limbs, backend {backend:?}");
        let expected = power(&b[lane], &e[lane], &m[lane]);
        check.result(&name, &results[lane], &expected);
        check.result(&format!("{name}, prepared"), &again[lane], &expected);
    }
}
