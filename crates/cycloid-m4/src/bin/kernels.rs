//! Compares the kernels for Armv7E-M with their portable twins, which the library's tests compare
//! with integers.
//!
//! Writes the number of comparisons, or names the first kernel that differs.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cycloid::internals::ct::Mask;
use cycloid::internals::field::{
    self, Arithmetic, CurveArithmetic, CurvePrime, Masks, P256, P25519, Prime,
};
use cycloid::internals::words::{self, Armv7em, Limb, Portable, Words};
use cycloid::modular;
use cycloid_m4::random::Repeatable;
use cycloid_m4::semihosting;
use rand_core::Rng;

/// The longest numbers, in limbs.
const LONGEST: usize = 40;

/// Lengths that cover every remainder, and those of RSA.
const LENGTHS: [usize; 19] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 32, LONGEST];

/// Rounds for each length.
const ROUNDS: usize = 12;

/// Rounds for squares in fields.
const SQUARES: usize = 2000;

/// Rounds for the operations on a curve.
const CURVES: u64 = 400;

#[entry]
fn main() -> ! {
    let mut compared = 0;
    let random = &mut Repeatable(7);
    for n in LENGTHS {
        for _ in 0..ROUNDS {
            compared += products(random, n);
            compared += reductions(random, n);
            compared += sums(random, n);
            compared += lookups(random, n);
            compared += inverses(random, n);
            compared += rows(random);
        }
    }
    for _ in 0..SQUARES {
        compared += squares(random);
    }
    for seed in 0..CURVES {
        // Any numbers below 2²⁵⁶ are residues modulo 2²⁵⁵ − 19.
        compared += curve::<P25519>(seed, |number| number);
        let reduced = |mut number: [Limb; 4]| {
            words::reduce_once(0, &mut number, &P256::MODULUS);
            number
        };
        compared += curve::<P256>(seed, reduced);
    }
    semihosting::write_number(compared);
    semihosting::write(" comparisons\n");
    semihosting::exit(true)
}

/// A limb that often causes carries.
fn limb(random: &mut Repeatable) -> Limb {
    match random.next_u32() % 8 {
        0..3 => Limb::MAX,
        3 => 0,
        4 => 1,
        5 => 0xffff_ffff,
        _ => random.next_u64(),
    }
}

fn numbers(random: &mut Repeatable) -> [Limb; 2 * LONGEST] {
    core::array::from_fn(|_| limb(random))
}

/// Ends the program if the results of the two backends differ.
fn same<T: PartialEq>(name: &str, one: &T, other: &T) {
    if one != other {
        semihosting::write("differs from plain Rust: ");
        semihosting::write(name);
        semihosting::write("\n");
        semihosting::exit(false);
    }
}

/// Returns `a + b` or `a − b`, with the carry or the borrow, limb by limb; b continues with zeros.
fn model(a: &[Limb], b: &[Limb], is_sum: bool) -> ([Limb; LONGEST], Limb) {
    let (mut result, mut carry) = ([0; LONGEST], 0);
    let step = if is_sum { words::add_carry } else { words::sub_borrow };
    for (i, a) in a.iter().enumerate() {
        (result[i], carry) = step(*a, b.get(i).copied().unwrap_or(0), carry);
    }
    (result, carry)
}

/// Sums, differences and comparison, which have kernels with the feature `small`.
fn sums(random: &mut Repeatable, n: usize) -> u32 {
    let (memory, other) = (numbers(random), numbers(random));
    let a = &memory[..n];
    let shorter = random.next_u32() as usize % n + 1;
    // Equal numbers borrow nothing.
    let b = if random.next_u32() % 4 == 0 { &memory[..n] } else { &other[..n] };
    let compare = |name, one: (&[Limb], Limb), (result, carry): ([Limb; LONGEST], Limb)| {
        same(name, &one, &(&result[..n], carry));
    };
    let run = |f: &dyn Fn(&mut [Limb]) -> Limb| {
        let mut copy = memory;
        let carry = f(&mut copy[..n]);
        same("the limb above", &copy[n], &memory[n]);
        (copy, carry)
    };
    let (sum, carry) = run(&|a| words::add(a, &b[..shorter]));
    compare("add", (&sum[..n], carry), model(a, &b[..shorter], true));
    let (difference, borrow) = run(&|a| words::sub(a, &b[..shorter]));
    compare("sub", (&difference[..n], borrow), model(a, &b[..shorter], false));
    let (less_one, borrow) = run(&|a| words::decrement(a));
    compare("decrement", (&less_one[..n], borrow), model(a, &[1], false));
    for bit in [0, 1] {
        let mask = Mask::from_bit(bit);
        let used = if bit == 1 { b } else { &[] };
        let (sum, carry) = run(&|a| words::add_if(mask, a, b));
        compare("add_if", (&sum[..n], carry), model(a, used, true));
        let (difference, borrow) = run(&|a| words::sub_if(mask, a, b));
        compare("sub_if", (&difference[..n], borrow), model(a, used, false));
        let below = model(a, b, false).1 == 1 && bit == 0;
        let (reduced, _) = run(&|a| {
            words::reduce_once(bit, a, b);
            0
        });
        let used = if below { &[] } else { b };
        compare("reduce_once", (&reduced[..n], 0), (model(a, used, false).0, 0));
    }
    same("is_less", &words::is_less(a, b).value(), &model(a, b, false).1.wrapping_neg());
    10
}

/// Runs the same on both backends, on copies of the same memory.
macro_rules! both {
    ($name:literal, $memory:expr, |$words:ident, $copy:ident| $run:expr) => {{
        let (mut one, mut other) = ($memory, $memory);
        let results = (
            {
                let ($words, $copy) = (Portable, &mut one);
                $run
            },
            {
                let ($words, $copy) = (Armv7em::of_this_target(), &mut other);
                $run
            },
        );
        same($name, &results.0, &results.1);
        same($name, &one, &other);
        1
    }};
}

fn products(random: &mut Repeatable, n: usize) -> u32 {
    let (a, b, memory) = (numbers(random), numbers(random), numbers(random));
    let x = limb(random);
    let other = LENGTHS[random.next_u32() as usize % LENGTHS.len()];
    both!("mul", memory, |words, copy| Words::mul(
        words,
        &mut copy[..n + other],
        &a[..n],
        &b[..other]
    )) + both!("square", memory, |words, copy| Words::square(words, &mut copy[..2 * n], &a[..n]))
        + both!("add_mul_limb", memory, |words, copy| words.add_mul_limb(
            &mut copy[..n],
            &a[..n],
            x
        ))
        + both!("sub_mul_limb", memory, |words, copy| words.sub_mul_limb(
            &mut copy[..n],
            &a[..n],
            x
        ))
}

fn reductions(random: &mut Repeatable, n: usize) -> u32 {
    let (a, mut b, mut m) = (numbers(random), numbers(random), numbers(random));
    m[0] |= 1;
    m[n - 1] |= 1 << (random.next_u32() % 64);
    let (m, n0) = (&m[..n], words::montgomery_n0(m[0]));
    // Less than the modulus, for products less than R·m.
    b[n - 1] %= m[n - 1];
    let mut wide = [0; 2 * LONGEST];
    Words::mul(Portable, &mut wide[..2 * n], &a[..n], &b[..n]);
    let result = numbers(random);
    let one = both!("montgomery_reduce", result, |words, copy| {
        let mut wide = wide;
        words.montgomery_reduce(&mut copy[..n], &mut wide[..2 * n], m, n0);
    });
    let mut work = numbers(random);
    one + both!("montgomery_mul", a, |words, copy| {
        words.montgomery_mul(&mut copy[..n], &b[..n], &mut work[..2 * n], m, n0)
    }) + both!("montgomery_square", b, |words, copy| {
        words.montgomery_square_times(&mut copy[..n], 3, &mut work[..2 * n], m, n0)
    })
}

/// Checks x · 1/x = 1 in plain Rust, modulo odd numbers.
fn inverses(random: &mut Repeatable, n: usize) -> u32 {
    let (mut x, mut m) = (numbers(random), numbers(random));
    m[0] |= 1;
    m[n - 1] |= 1 << 63;
    x[n - 1] >>= 1;
    let (x, m) = (&x[..n], &m[..n]);
    let mut inverse = [0; LONGEST];
    let scratch = &mut [0; modular::invert_scratch_limbs(LONGEST)];
    if modular::invert(&mut inverse[..n], x, m, scratch).is_err() {
        return 0;
    }
    let reduced = |wide: &mut [Limb]| {
        let mut result = [0; LONGEST];
        Portable.montgomery_reduce(&mut result[..n], wide, m, words::montgomery_n0(m[0]));
        result
    };
    let (mut product, mut one) = ([0; 2 * LONGEST], [0; 2 * LONGEST]);
    Words::mul(Portable, &mut product[..2 * n], x, &inverse[..n]);
    one[0] = 1;
    same("1 / x", &reduced(&mut product[..2 * n]), &reduced(&mut one[..2 * n]));
    1
}

/// Compares the updates of numbers in limbs of 27 bits with sums of products.
fn rows(random: &mut Repeatable) -> u32 {
    const ROWS: usize = 10;
    let factors: [i32; 6] = core::array::from_fn(|_| limb(random) as i32 >> 3);
    let mut triples: [[i32; 3]; ROWS] =
        core::array::from_fn(|_| core::array::from_fn(|_| limb(random) as i32 & ((1 << 27) - 1)));
    // The highest have a sign.
    triples[ROWS - 1].iter_mut().for_each(|word| *word = *word << 5 >> 5);
    let pairs = triples.map(|[a, b, _]| [a, b]);
    for row in 0..2 {
        let (mut two, mut three) = ([0; ROWS], [0; ROWS]);
        let (mut sum_of_two, mut sum_of_three) = (0, 0);
        let factor = |i: usize| i64::from(factors[3 * row + i]);
        for i in 0..ROWS {
            let [a, b, c] = triples[i].map(i64::from);
            sum_of_two += factor(0) * a + factor(1) * b;
            sum_of_three += factor(0) * a + factor(1) * b + factor(2) * c;
            if i > 0 {
                two[i - 1] = (sum_of_two & ((1 << 27) - 1)) as i32;
                three[i - 1] = (sum_of_three & ((1 << 27) - 1)) as i32;
            }
            (sum_of_two, sum_of_three) = (sum_of_two >> 27, sum_of_three >> 27);
        }
        (two[ROWS - 1], three[ROWS - 1]) = (sum_of_two as i32, sum_of_three as i32);
        let [u, v, k, q, r, l] = factors;
        let (mut got_pairs, mut got_triples) = (pairs, triples);
        words::transform_rows(&[u, v, q, r], &mut got_pairs);
        words::transform_rows_modulo(&[u, v, k, q, r, l], &mut got_triples);
        same("pairs of rows", &got_pairs.map(|pair| pair[row]), &two);
        same("triples of rows", &got_triples.map(|triple| triple[row]), &three);
    }
    4
}

/// Compares squares with products, both by kernels: of numbers below p, and below 2²⁵⁶.
fn squares(random: &mut Repeatable) -> u32 {
    let mut a: [Limb; 4] = core::array::from_fn(|_| limb(random));
    let words = Armv7em::of_this_target();
    let (square, product) = (
        field::Arithmetic::<P25519>::square(words, &a),
        field::Arithmetic::<P25519>::mul(words, &a, &a),
    );
    same("square modulo 2^255 - 19", &square, &product);
    words::reduce_once(0, &mut a, &P256::MODULUS);
    let (square, product) = (
        field::Arithmetic::<P256>::square(words, &a),
        field::Arithmetic::<P256>::mul(words, &a, &a),
    );
    same("square modulo the prime of P-256", &square, &product);
    let mut wide = [0; 8];
    Words::square(Portable, &mut wide, &a);
    let mut expected = [0; 4];
    let p = &P256::MODULUS;
    Portable.montgomery_reduce(&mut expected, &mut wide, p, words::montgomery_n0(p[0]));
    same("square in Montgomery form", &square, &expected);
    3
}

/// A number that often causes carries, or is close to 0 or 2²⁵⁶.
fn number(random: &mut Repeatable) -> [Limb; 4] {
    let small = Limb::from(random.next_u32() % 64);
    match random.next_u32() % 8 {
        0 => [small, 0, 0, 0],
        1 => [!small, Limb::MAX, Limb::MAX, Limb::MAX],
        _ => core::array::from_fn(|_| limb(random)),
    }
}

/// The most results of [`of_curve`].
const RESULTS: usize = 64;

/// Compares all operations on a curve's prime; `residue` makes one of any number.
fn curve<P>(seed: u64, residue: impl Fn([Limb; 4]) -> [Limb; 4]) -> u32
where
    P: CurvePrime<Words = [Limb; 4]>,
    Portable: CurveArithmetic<P>,
    Armv7em: CurveArithmetic<P, Element = [Limb; 4]>,
{
    let in_plain_rust = |number: [Limb; 4]| {
        // In Montgomery form, a number of the backend is R times what it stands for.
        let mut integer = [[0; 4]];
        Arithmetic::<P>::store(Armv7em::of_this_target(), &residue(number), &mut integer);
        Arithmetic::<P>::load(Portable, &integer)
    };
    let expected = of_curve::<P, _>(Portable, seed, in_plain_rust);
    let got = of_curve::<P, _>(Armv7em::of_this_target(), seed, &residue);
    same(P::NAME, &got, &expected);
    RESULTS as u32
}

/// Returns the results of all operations on a curve's prime.
fn of_curve<P: CurvePrime<Words = [Limb; 4]>, A: CurveArithmetic<P>>(
    f: A,
    seed: u64,
    element: impl Fn([Limb; 4]) -> A::Element,
) -> [[Limb; 4]; RESULTS] {
    let random = &mut Repeatable(seed);
    let (mut results, mut count) = ([[0; 4]; RESULTS], 0);
    let mut keep = |element: &A::Element| {
        f.store(element, &mut results[count..=count]);
        count += 1;
    };
    let [mut a, b, c, d] = core::array::from_fn(|_| element(number(random)));
    let swap = f.mask(|_| Mask::from_bit(seed & 1));
    for element in [
        f.mul(&a, &b),
        f.mul(&c, &d),
        f.square(&c),
        f.square_times(&a, 3),
        f.mul_small(&a, 121_665),
        f.add(&a, &b),
        f.sub(&a, &b),
        f.add(&f.add(&f.add(&a, &b), &c), &f.double(&b)),
        f.sub(&f.sub(&f.sub(&a, &b), &c), &f.add(&b, &b)),
        f.negate(&a),
        f.mul(&f.add(&a, &b), &f.sub(&b, &c)),
        f.square(&f.sub(&a, &f.add(&c, &c))),
        f.select(swap, &a, &b),
    ] {
        keep(&element);
    }
    f.mul_in_place(&mut a, &b);
    keep(&a);
    f.square_times_in_place(&mut a, 2);
    keep(&a);
    f.double_times(&[a, b, c], 3).iter().for_each(&mut keep);
    f.add_affine(&[a, b, c], &[c, a]).iter().for_each(&mut keep);
    f.add_edwards(&[d, b, c, b], &[c, d, b], swap).iter().for_each(&mut keep);
    let mut point = [b, c, d, a];
    f.double_edwards(&mut point, 2);
    point.iter().for_each(&mut keep);
    for with_t in [false, true] {
        f.add_edwards_vartime(&mut point, &[c, d, b], with_t.then_some(&d), seed & 1 == 1, with_t);
        point[..3].iter().for_each(&mut keep);
    }
    let mut table = [0; 64 * 12];
    table.iter_mut().for_each(|word| *word = limb(random) >> 1);
    let (row, index) = (&table[..A::STORED_LIMBS * 3 * 16], f.word(|_| seed % 16));
    let mut addend = [b, c, d];
    f.add_edwards_then_look_up(&mut point, &mut addend, row, index, swap);
    point.iter().chain(&addend).for_each(&mut keep);
    let mut state = [a, b, f.mul(&a, &c), d];
    f.ladder_step(&c, &mut state, swap, 121_665);
    state.iter().for_each(&mut keep);
    let swaps: [Limb; 4] = core::array::from_fn(|_| limb(random));
    let steps = if seed.is_multiple_of(16) { 256 } else { 1 + seed as usize % 3 };
    f.ladder(&c, &mut state, steps, &[swaps], 121_665);
    state.iter().for_each(&mut keep);
    assert!(!A::Mask::none().reveal_any());
    results
}

fn lookups(random: &mut Repeatable, n: usize) -> u32 {
    let (table, memory) = (numbers(random), numbers(random));
    let entries = (2 * LONGEST / n).min(33);
    let index = random.next_u32() as usize % (entries + 2);
    both!("lookup", memory, |words, copy| Words::lookup(
        words,
        &mut copy[..n],
        &table[..n * entries],
        index
    ))
}
