//! Every backend compared with integers, on random and edge-case residues.

use std::vec::Vec;

use num_bigint::BigUint;

use super::super::ct::Mask;
use super::super::{lanes, words};
use super::*;

mod edwards;
mod wide;

fn integer(limbs: impl AsRef<[Limb]>) -> BigUint {
    BigUint::from_slice(
        &limbs.as_ref().iter().flat_map(|l| [*l as u32, (*l >> 32) as u32]).collect::<Vec<_>>(),
    )
}

fn number<P: Prime>(integer: &BigUint) -> P::Words {
    let mut limbs = P::Words::ZERO;
    for (limb, digit) in limbs.as_mut().iter_mut().zip(integer.iter_u64_digits()) {
        *limb = digit;
    }
    limbs
}

/// Returns integers below 2^BITS: edge cases, and pseudorandom ones.
fn samples<P: Prime>() -> Vec<BigUint> {
    let p = integer(P::MODULUS);
    let one = BigUint::from(1u8);
    let top = &one << P::BITS;
    let mut samples: Vec<BigUint> =
        [0u8, 1, 2, 3, 18, 19, 20].into_iter().map(BigUint::from).collect();
    samples.extend([&p - 1u8, &p - 2u8, p.clone(), &top - 1u8, &p >> 1, (&p >> 1) + 1u8]);
    for bit in [31, 32, 51, 52, 58, 63, 64, 96, 104, 127, 128, 192, 208, P::BITS - 1] {
        samples.extend([&one << bit, (&one << bit) - 1u8, &p - ((&one << bit) % &p)]);
    }
    // 38 times the part above 2²⁵⁶, plus 2²⁵⁴, carries when the rest is folded in.
    samples.push(((&one << 258) / 38u8 * 4u8) % &top);
    // Limbs of zeros, of ones and of both, for long carry chains, as they are and in Montgomery
    // form.
    let limbs = P::BITS.div_ceil(64);
    let from_form = (&one << (64 * limbs)).modpow(&(&p - 2u8), &p);
    for i in 0..12u64 {
        let choices = 0x2545_f491_4f6c_dd1du64.wrapping_mul(i + 1);
        let limb = |place: usize| {
            [0, u64::MAX, 0xffff_ffff, u64::MAX << 32][(choices >> (2 * place + 8)) as usize & 3]
        };
        let pattern = integer((0..limbs).map(limb).collect::<Vec<_>>());
        samples.extend([&pattern % &top, pattern % &p * &from_form % &p]);
    }
    let mut state = BigUint::from(0x9e37_79b9_7f4a_7c15u64);
    for _ in 0..40 {
        state = (&state * &state + 12345u32) % ((&one << 1300) - 1u8);
        samples.push((&state >> 300) % &top);
    }
    samples
}

/// Checks every `stride`-th of the samples with every `stride`-th.
struct AgainstIntegers {
    stride: usize,
}

impl<P: Prime> Task<P> for AgainstIntegers {
    type Output = usize;

    fn run<A: Arithmetic<P>>(self, f: A) -> usize {
        let p = integer(P::MODULUS);
        let samples = samples::<P>();
        let n = samples.len();
        let load = |i: usize| {
            let numbers: Vec<_> =
                (0..A::WIDTH).map(|w| number::<P>(&samples[(i + 7 * w) % n])).collect();
            let integers: Vec<_> =
                (0..A::WIDTH).map(|w| samples[(i + 7 * w) % n].clone() % &p).collect();
            (f.load(&numbers), integers)
        };
        let check = |what: &str, element: &A::Element, expected: &dyn Fn(usize) -> BigUint| {
            let mut numbers = std::vec![P::Words::ZERO; A::WIDTH];
            f.store(element, &mut numbers);
            for (w, number) in numbers.iter().enumerate() {
                assert_eq!(integer(number), expected(w) % &p, "{} {} {what} {w}", P::NAME, A::NAME);
            }
        };
        let mut checked = 0;
        for i in (0..n).step_by(self.stride) {
            let (a, x) = load(i);
            check("load", &a, &|w| x[w].clone());
            check("square", &f.square(&a), &|w| &x[w] * &x[w]);
            check("squares", &f.square_times(&a, 5), &|w| x[w].modpow(&BigUint::from(32u8), &p));
            check("double", &f.double(&a), &|w| &x[w] + &x[w]);
            check("negate", &f.negate(&a), &|w| &p - &x[w]);
            check("small", &f.mul_small(&a, 121_666), &|w| &x[w] * 121_666u32);
            for j in (0..n).step_by(self.stride) {
                let (b, y) = load(j);
                check("mul", &f.mul(&a, &b), &|w| &x[w] * &y[w]);
                check("add", &f.add(&a, &b), &|w| &x[w] + &y[w]);
                check("sub", &f.sub(&a, &b), &|w| &p + &x[w] - &y[w]);
                check("less twice", &f.sub(&b, &f.double(&a)), &|w| 2u8 * (&p - &x[w]) + &y[w]);
                // Long sums without multiplication, and a product of such sums.
                let many = f.sub(&f.sub(&f.double(&f.double(&f.add(&a, &b))), &b), &f.add(&a, &b));
                let sum = |w: usize| 3u8 * &x[w] + 2u8 * &y[w];
                check("sums", &many, &|w| sum(w));
                check("product of sums", &f.mul(&many, &f.sub(&many, &b)), &|w| {
                    sum(w) * (&p + sum(w) - &y[w])
                });
                let equal = f.equal(&a, &b);
                let same = f.equal(&f.add(&f.sub(&a, &b), &b), &a);
                let mask = f.mask(|w| Mask::from_bit(((i >> (w % 4)) & 1) as Limb));
                check("select", &f.select(mask, &a, &b), &|w| {
                    if (i >> (w % 4)) & 1 == 1 { x[w].clone() } else { y[w].clone() }
                });
                for w in 0..A::WIDTH {
                    assert_eq!(equal.at(w).reveal(), x[w] == y[w]);
                    assert!(same.at(w).reveal());
                }
                checked += 1;
            }
        }
        lookups::<P, A>(f, &samples, &p);
        checked
    }
}

/// Checks the steps of curves in Weierstrass form on every `stride`-th of the samples with every
/// `stride`-th.
struct WeierstrassAgainstIntegers {
    stride: usize,
}

impl<P: CurvePrime> CurveTask<P> for WeierstrassAgainstIntegers {
    type Output = usize;

    fn run<A: CurveArithmetic<P>>(self, f: A) -> usize {
        let samples = samples::<P>();
        let mut checked = 0;
        for i in (0..samples.len()).step_by(self.stride) {
            for j in (0..samples.len()).step_by(self.stride) {
                doubles(f, &samples, [i, j, i + 3 * j]);
                affine_sums(f, &samples, [i, j, i + 3 * j, 2 * i + j, j + 7]);
                checked += 1;
            }
        }
        checked
    }
}

/// Checks the steps of curve25519 and edwards25519 in the same way.
struct EdwardsAgainstIntegers {
    stride: usize,
}

impl CurveTask<P25519> for EdwardsAgainstIntegers {
    type Output = usize;

    fn run<A: CurveArithmetic<P25519>>(self, f: A) -> usize {
        let samples = samples::<P25519>();
        let mut checked = 0;
        for i in (0..samples.len()).step_by(self.stride) {
            ladder(f, &samples, i);
            edwards::lookups(f, &samples, i);
            for j in (0..samples.len()).step_by(self.stride) {
                edwards::sums(f, &samples, [i, j, i + 3 * j, 2 * i + j, j + 7, 3 * i + j, i + j]);
                checked += 1;
            }
        }
        checked
    }
}

/// Returns elements whose number w is the sample 7·w places after the given one, and the integers.
fn chosen<P: Prime, A: Arithmetic<P>, const N: usize>(
    f: A,
    samples: &[BigUint],
    places: [usize; N],
) -> ([A::Element; N], impl Fn(usize) -> [BigUint; N]) {
    let p = integer(P::MODULUS);
    let integers = move |w: usize| places.map(|i| &samples[(i + 7 * w) % samples.len()]);
    let elements = core::array::from_fn(|place| {
        f.load(&(0..A::WIDTH).map(|w| number::<P>(integers(w)[place])).collect::<Vec<_>>())
    });
    (elements, move |w| integers(w).map(|integer| integer % &p))
}

fn check_all<P: Prime, A: Arithmetic<P>, const N: usize>(
    f: A,
    what: &str,
    elements: &[A::Element; N],
    expected: impl Fn(usize) -> [BigUint; N],
) {
    let p = integer(P::MODULUS);
    let mut numbers = std::vec![P::Words::ZERO; A::WIDTH];
    for (place, element) in elements.iter().enumerate() {
        f.store(element, &mut numbers);
        for (w, number) in numbers.iter().enumerate() {
            let expected = &expected(w)[place] % &p;
            assert_eq!(integer(number), expected, "{} {} {what} {place}", P::NAME, A::NAME);
        }
    }
}

/// Compares doubles with the same on integers, with all of Z or half of it.
fn doubles<P: Prime, A: CurveArithmetic<P>>(f: A, samples: &[BigUint], places: [usize; 3]) {
    let p = integer(P::MODULUS);
    let one = f.load(&std::vec![number::<P>(&BigUint::from(1u8)); A::WIDTH]);
    let [_, _, z] = f.double_times(&[one; 3], 1);
    let halved = f.equal(&z, &one).reveal_any();
    let (point, integers) = chosen::<P, A, 3>(f, samples, places);
    let double = |[x, y, z]: [BigUint; 3]| {
        let (zz, yy) = (&z * &z, &y * &y % &p);
        let m = 3u8 * (&x * &x + (&p - (&zz * &zz % &p))) % &p;
        let s = 4u8 * &x * &yy % &p;
        let x3 = (&m * &m + 2u8 * (&p - &s)) % &p;
        let y3 = (m * (s + &p - &x3) + 8u8 * (&p - &yy * &yy % &p)) % &p;
        let double = [x3, y3, 2u8 * y * z % &p];
        let half = if halved { (&p + 1u8) >> 1 } else { BigUint::from(1u8) };
        let mut factor = BigUint::from(1u8);
        let [z3, x3, y3] = [2, 0, 1].map(|i: usize| {
            factor = &factor * &half % &p;
            &double[i] * &factor % &p
        });
        [x3, y3, z3]
    };
    check_all::<P, A, 3>(f, "double", &f.double_times(&point, 1), |w| double(integers(w)));
    if places[0] == places[1] {
        check_all::<P, A, 3>(f, "no double", &f.double_times(&point, 0), &integers);
        let thrice = |w| double(double(double(integers(w))));
        check_all::<P, A, 3>(f, "doubles", &f.double_times(&point, 3), thrice);
    }
}

/// Compares sums of a point in Jacobian coordinates and an affine one with the same on integers.
fn affine_sums<P: Prime, A: CurveArithmetic<P>>(f: A, samples: &[BigUint], places: [usize; 5]) {
    let p = integer(P::MODULUS);
    let ([x1, y1, z1, x2, y2], integers) = chosen::<P, A, 5>(f, samples, places);
    let expected = |w| {
        let [x1, y1, z1, x2, y2] = integers(w);
        let zz = &z1 * &z1 % &p;
        let h = (x2 * &zz + &p - &x1) % &p;
        let r = (y2 * &zz * &z1 + &p - &y1) % &p;
        let v = x1 * &h * &h % &p;
        let hhh = &h * &h * &h % &p;
        let x3 = (&r * &r + &p - &hhh + 2u8 * (&p - &v)) % &p;
        let y3 = (&r * (v + &p - &x3) + y1 * (&p - hhh)) % &p;
        [x3, y3, z1 * &h % &p, h, r]
    };
    let sum = f.add_affine(&[x1, y1, z1], &[x2, y2]);
    check_all::<P, A, 5>(f, "affine sum", &sum, &expected);

    let points = A::POINTS_READ_MEANWHILE;
    if points == 0 {
        return;
    }
    let coordinate = |i: usize| &samples[(places[0] + 5 * places[1] + 3 * i) % samples.len()] % &p;
    let constants: Vec<BigUint> = (0..2 * points)
        .map(coordinate)
        .map(|c| if c == BigUint::ZERO { &p - 1u8 } else { c })
        .collect();
    let row = table::<P, A>(&constants, 2);
    let choice = |w: usize| ((places[0] + 7 * places[1] + 11 * w) % points, (places[1] ^ w) & 1);
    let (mut point, mut addend) = ([x1, y1, z1], [x2, y2]);
    let index = f.word(|w| choice(w).0 as Limb);
    let negative = f.mask(|w| Mask::from_bit(choice(w).1 as Limb));
    f.add_affine_then_look_up(&mut point, &mut addend, &row, index, negative);
    let [x, y, z] = point;
    let [_, _, _, h, r] = sum;
    check_all::<P, A, 5>(f, "sum before a lookup", &[x, y, z, h, r], &expected);
    check_all::<P, A, 2>(f, "addend looked up", &addend, |w| {
        let (index, is_negative) = choice(w);
        let y = &constants[2 * index + 1];
        [constants[2 * index].clone(), if is_negative == 1 { &p - y } else { y.clone() }]
    });
}

/// Compares two ladder steps from five of the samples with the same on integers.
fn ladder<P: Prime, A: CurveArithmetic<P>>(f: A, samples: &[BigUint], start: usize) {
    let p = integer(P::MODULUS);
    let sample = |w: usize, place: usize| &samples[(start + 7 * w + place * place) % samples.len()];
    let load = |place: usize| {
        f.load(&(0..A::WIDTH).map(|w| number::<P>(sample(w, place))).collect::<Vec<_>>())
    };
    let swapped = |w: usize, step: usize| (start >> (w % 4) ^ w ^ step) & 1;
    let a24 = 121_665;
    let x1 = load(4);
    let mut state = [0, 1, 2, 3].map(load);
    let mut whole = state;
    for step in 0..2 {
        f.ladder_step(&x1, &mut state, f.mask(|w| Mask::from_bit(swapped(w, step) as Limb)), a24);
    }
    let swaps: Vec<_> = (0..A::WIDTH)
        .map(|w| [(swapped(w, 0) << 1 | swapped(w, 1)) as Limb, 0, 0, Limb::MAX])
        .collect();
    f.ladder(&x1, &mut whole, 2, &swaps, a24);
    let mut numbers = std::vec![P::Words::ZERO; A::WIDTH];
    for w in 0..A::WIDTH {
        let [mut x2, mut z2, mut x3, mut z3] = [0, 1, 2, 3].map(|place| sample(w, place) % &p);
        let x1 = sample(w, 4);
        for step in 0..2 {
            if swapped(w, step) == 1 {
                core::mem::swap(&mut x2, &mut x3);
                core::mem::swap(&mut z2, &mut z3);
            }
            let (aa, bb) = ((&x2 + &z2).pow(2) % &p, (&p + &x2 - &z2).pow(2) % &p);
            let e = &p + &aa - &bb;
            let da = (&p + &x3 - &z3) * (&x2 + &z2) % &p;
            let cb = (&x3 + &z3) * (&p + &x2 - &z2) % &p;
            x3 = (&da + &cb).pow(2) % &p;
            z3 = x1 * (&p + &da - &cb).pow(2) % &p;
            x2 = &aa * &bb % &p;
            z2 = &e * (&aa + a24 * &e) % &p;
        }
        for (i, expected) in [x2, z2, x3, z3].into_iter().enumerate() {
            for coordinate in [&state[i], &whole[i]] {
                f.store(coordinate, &mut numbers);
                assert_eq!(integer(numbers[w]), expected, "{} {} ladder {w}", P::NAME, A::NAME);
            }
        }
    }
}

/// Returns numbers less than the prime in the form of constants in memory.
fn stored<P: Prime, A: Arithmetic<P>>(constants: &[BigUint]) -> Vec<Limb> {
    let bits = if A::WIDTH == 1 { 64 } else { 52 };
    let r = if P::MONTGOMERY {
        BigUint::from(1u8) << (bits * A::STORED_LIMBS)
    } else {
        BigUint::from(1u8)
    };
    let mut stored = Vec::new();
    for constant in constants {
        let mut value = constant * &r % integer(P::MODULUS);
        for _ in 0..A::STORED_LIMBS {
            let limb = &value % (BigUint::from(1u8) << bits);
            stored.push(limb.iter_u64_digits().next().unwrap_or(0));
            value >>= bits;
        }
    }
    stored
}

/// Returns numbers less than the prime as a table of entries of `places` numbers.
fn table<P: Prime, A: Arithmetic<P>>(constants: &[BigUint], places: usize) -> Vec<Limb> {
    let stored = stored::<P, A>(constants);
    if A::WIDTH == 1 { stored } else { limb_by_limb(&stored, places * A::STORED_LIMBS) }
}

/// Returns entries of `length` limbs in the order of tables for eight: sixteen together.
fn limb_by_limb(entries: &[Limb], length: usize) -> Vec<Limb> {
    let limb = |sixteen: &[Limb], at: usize| -> Vec<Limb> {
        sixteen.iter().skip(at).step_by(length).copied().collect()
    };
    entries
        .chunks(16 * length)
        .flat_map(|sixteen| (0..length).flat_map(move |at| limb(sixteen, at)))
        .collect()
}

/// Checks both forms of table, every index and one beyond, with a different index for each number.
fn lookups<P: Prime, A: Arithmetic<P>>(f: A, samples: &[BigUint], p: &BigUint) {
    let entries = if A::WIDTH == 1 { 9 } else { 32 };
    let constants: Vec<BigUint> =
        (0..2 * entries).map(|i| &samples[(i + 20) % samples.len()] % p).collect();
    let stored = stored::<P, A>(&constants);
    let table = table::<P, A>(&constants, 2);
    let own: Vec<A::Element> = (0..2 * entries)
        .map(|i| {
            let numbers: Vec<_> =
                (0..A::WIDTH).map(|w| number::<P>(&samples[(i + w) % samples.len()])).collect();
            f.load(&numbers)
        })
        .collect();
    let mut numbers = std::vec![P::Words::ZERO; A::WIDTH];
    for first in 0..=entries {
        let at = |w: usize| (first + 3 * w) % (entries + 1);
        let index = f.word(|w| at(w) as Limb);
        let mut out = [A::ZERO; 2];
        f.lookup_stored(&mut out, &table, index);
        for (place, out) in out.iter().enumerate() {
            f.store(out, &mut numbers);
            for (w, number) in numbers.iter().enumerate() {
                let expected = constants.get(2 * at(w) + place).cloned().unwrap_or_default();
                assert_eq!(integer(number), expected, "{} {} stored", P::NAME, A::NAME);
            }
        }
        f.lookup(&mut out, &own, index);
        for (place, out) in out.iter().enumerate() {
            f.store(out, &mut numbers);
            for (w, number) in numbers.iter().enumerate() {
                let i = 2 * at(w) + place;
                let expected = if at(w) == entries {
                    BigUint::ZERO
                } else {
                    &samples[(i + w) % samples.len()] % p
                };
                assert_eq!(integer(number), expected, "{} {} own", P::NAME, A::NAME);
            }
        }
    }
    let constant = f.stored(&stored[..A::STORED_LIMBS]);
    f.store(&constant, &mut numbers);
    assert!(numbers.iter().all(|number| integer(number) == constants[0]));
}

fn all_backends<P: Prime>() {
    for backend in words::Backend::available() {
        assert!(P::run_one(backend, AgainstIntegers { stride: 1 }) > 1000);
    }
    for backend in lanes::tests::backends() {
        // The emulator is slow.
        let emulated = !lanes::Backend::available().any(|other| other.name() == backend.name());
        let stride = if emulated { 9 } else { 1 };
        assert!(P::run_eight(backend, AgainstIntegers { stride }) > 1000 / (stride * stride));
    }
}

/// Runs a check that is made for a stride.
fn all_backends_curve<P: CurvePrime, T: CurveTask<P, Output = usize>>(check: fn(usize) -> T) {
    for backend in words::Backend::available() {
        assert!(P::run_one_curve(backend, check(3)) > 1000);
    }
    for backend in lanes::tests::backends() {
        assert!(P::run_eight_curve(backend, check(9)) > 100);
    }
}

fn weierstrass<P: CurvePrime>() {
    all_backends_curve::<P, _>(|stride| WeierstrassAgainstIntegers { stride });
}

#[test]
fn p224_against_integers() {
    all_backends::<P224>();
    weierstrass::<P224>();
}

#[test]
fn p256_against_integers() {
    all_backends::<P256>();
    weierstrass::<P256>();
}

#[test]
fn p384_against_integers() {
    all_backends::<P384>();
    weierstrass::<P384>();
}

#[test]
fn p521_against_integers() {
    all_backends::<P521>();
    weierstrass::<P521>();
}

#[test]
fn p25519_against_integers() {
    all_backends::<P25519>();
    all_backends_curve::<P25519, _>(|stride| EdwardsAgainstIntegers { stride });
}

#[test]
fn bls12_base_against_integers() {
    all_backends::<Bls12Base>();
    wide::all_backends::<Bls12Base>();
}

#[test]
fn bls12_scalar_against_integers() {
    all_backends::<Bls12Scalar>();
    wide::all_backends::<Bls12Scalar>();
}

#[test]
fn primes_of_single_numbers_against_integers() {
    fn check<P: Prime>() {
        assert!(P::run_one(words::Backend::best(), AgainstIntegers { stride: 3 }) > 1000);
    }
    check::<P192>();
    check::<Secp256k1>();
    check::<BrainpoolP256>();
    check::<BrainpoolP384>();
    check::<BrainpoolP512>();
    check::<P448>();
    check::<Ed448Order>();
}
