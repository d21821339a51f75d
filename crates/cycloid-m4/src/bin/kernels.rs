//! Compares the kernels for Armv7E-M with their portable twins, which the library's tests compare
//! with integers.
//!
//! Writes the number of comparisons, or names the first kernel that differs.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cycloid::internals::field::{self, P256, P25519, Prime};
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

#[entry]
fn main() -> ! {
    let mut compared = 0;
    let random = &mut Repeatable(7);
    for n in LENGTHS {
        for _ in 0..ROUNDS {
            compared += products(random, n);
            compared += reductions(random, n);
            compared += lookups(random, n);
            compared += inverses(random, n);
        }
    }
    for _ in 0..SQUARES {
        compared += squares(random);
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
    both!("mul", memory, |words, copy| words.mul(&mut copy[..n + other], &a[..n], &b[..other]))
        + both!("square", memory, |words, copy| words.square(&mut copy[..2 * n], &a[..n]))
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
    Portable.mul(&mut product[..2 * n], x, &inverse[..n]);
    one[0] = 1;
    same("1 / x", &reduced(&mut product[..2 * n]), &reduced(&mut one[..2 * n]));
    1
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
    Portable.square(&mut wide, &a);
    let mut expected = [0; 4];
    let p = &P256::MODULUS;
    Portable.montgomery_reduce(&mut expected, &mut wide, p, words::montgomery_n0(p[0]));
    same("square in Montgomery form", &square, &expected);
    3
}

fn lookups(random: &mut Repeatable, n: usize) -> u32 {
    let (table, memory) = (numbers(random), numbers(random));
    let entries = (2 * LONGEST / n).min(33);
    let index = random.next_u32() as usize % (entries + 2);
    both!("lookup", memory, |words, copy| words.lookup(
        &mut copy[..n],
        &table[..n * entries],
        index
    ))
}
