//! Compares the kernels for AArch64 with plain Rust, which the library's tests compare with
//! integers, and operations on all curves and with RSA on both backends.
//!
//! Writes the number of comparisons, or names the first kernel that differs.

use cycloid::bls12_381::signature::{MinPk, Scheme, SecretKey};
use cycloid::bls12_381::{Cycloid, G1Affine, G2Affine, pairing};
use cycloid::cpu::{self, Level};
use cycloid::internals::field::{
    self, CurveArithmetic, CurvePrime, CurveTask, Dense, Limbs, Masks, Wide, WideTask,
};
use cycloid::internals::words::{self, Backend, Limb, Words};
use cycloid::scheme::ec::{self, Curve, P224, P256, P384, P521};
use cycloid::scheme::{Hash, ed25519, x25519};
use cycloid_aarch64::random::Repeatable;
use rand_core::Rng;

/// The longest numbers, in limbs.
const LONGEST: usize = 72;

/// Lengths that cover every remainder, and those of RSA.
const LENGTHS: [usize; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 23, 24, 32, 33, 48, 64, LONGEST];

/// Rounds for each length, and for each prime.
const ROUNDS: usize = 60;
const FIELD_ROUNDS: usize = 3000;

fn main() {
    let [portable, ours] = backends();
    let mut compared = 0;
    for n in LENGTHS {
        for round in 0..ROUNDS {
            let seed = (n * ROUNDS + round) as u64;
            same(
                &format!("products of {n} limbs"),
                [portable, ours].map(|backend| backend.run(OfWords { n, seed })),
            );
            compared += 1;
        }
    }
    for seed in 0..FIELD_ROUNDS as u64 {
        compared += division_steps(seed);
    }
    compared += curve::<field::P224>([portable, ours]);
    compared += curve::<field::P256>([portable, ours]);
    compared += curve::<field::P384>([portable, ours]);
    compared += curve::<field::P521>([portable, ours]);
    compared += curve::<field::P25519>([portable, ours]);
    compared += dense::<field::Bls12Base>([portable, ours]);
    compared += dense::<field::Bls12Scalar>([portable, ours]);
    same(
        "operations",
        [Level::Portable, Level::Aarch64].map(|level| {
            cpu::limit(level);
            operations()
        }),
    );
    compared += 1;
    println!("{compared} comparisons");
}

/// Returns plain Rust and the backend of this architecture.
fn backends() -> [Backend; 2] {
    let backends: Vec<_> = Backend::available().collect();
    assert_eq!(backends.iter().map(|one| one.name()).collect::<Vec<_>>(), ["portable", "aarch64"]);
    [backends[0], backends[1]]
}

/// Ends the program if the results of the two backends differ.
fn same<T: PartialEq>(name: &str, [one, other]: [Vec<T>; 2]) {
    if one != other {
        let place = one.iter().zip(&other).position(|(one, other)| one != other);
        eprintln!("differs from plain Rust: {name}, result {place:?}");
        std::process::exit(1);
    }
}

/// A limb that often causes carries.
fn limb(random: &mut Repeatable) -> Limb {
    match random.next_u32() % 8 {
        0..3 => Limb::MAX,
        3 => 0,
        4 => 1,
        5 => 0xffff_ffff << (random.next_u32() & 32),
        _ => random.next_u64(),
    }
}

fn limbs(random: &mut Repeatable, n: usize) -> Vec<Limb> {
    (0..n).map(|_| limb(random)).collect()
}

/// Every operation of `Words` on numbers of one length.
#[derive(Clone, Copy)]
struct OfWords {
    n: usize,
    seed: u64,
}

impl words::Task for OfWords {
    type Output = Vec<Vec<Limb>>;

    fn run<W: Words>(self, words: W) -> Vec<Vec<Limb>> {
        let (n, random) = (self.n, &mut Repeatable(self.seed));
        let (a, mut b, mut m) = (limbs(random, n), limbs(random, n), limbs(random, n));
        let other = LENGTHS[random.next_u32() as usize % LENGTHS.len()];
        let other = limbs(random, other);
        let mut results = Vec::new();
        // A kernel must not write the limbs before and after its result.
        let mut keep = |mut memory: Vec<Limb>, run: &mut dyn FnMut(&mut [Limb])| {
            memory.insert(0, 0x1234);
            memory.push(0x5678);
            let end = memory.len() - 1;
            run(&mut memory[1..end]);
            results.push(memory);
        };
        let junk = limbs(random, n + other.len());
        keep(junk, &mut |out| words.mul(out, &a, &other));
        keep(limbs(random, 2 * n), &mut |out| words.square(out, &a));
        let (x, mut carries) = (limb(random), Vec::new());
        keep(limbs(random, n), &mut |out| carries.push(words.add_mul_limb(out, &a, x)));
        keep(limbs(random, n), &mut |out| carries.push(words.sub_mul_limb(out, &a, x)));
        keep(carries, &mut |_| ());
        m[0] |= 1;
        m[n - 1] |= 1 << (random.next_u32() % 64);
        let n0 = words::montgomery_n0(m[0]);
        // Less than the modulus, for products less than R·m.
        b[n - 1] %= m[n - 1];
        let mut wide = vec![0; 2 * n];
        words.mul(&mut wide, &a, &b);
        keep(limbs(random, n), &mut |out| words.montgomery_reduce(out, &mut wide, &m, n0));
        let mut work = limbs(random, 2 * n);
        keep(a.clone(), &mut |out| words.montgomery_mul(out, &b, &mut work, &m, n0));
        keep(b.clone(), &mut |out| words.montgomery_square_times(out, 3, &mut work, &m, n0));
        let entries = random.next_u32() as usize % 33 + 1;
        let (table, index) = (limbs(random, n * entries), random.next_u32() as usize % 34);
        keep(limbs(random, n), &mut |out| words.lookup(out, &table, index));
        results
    }
}

/// Division steps, compared with their definition.
fn division_steps(seed: u64) -> usize {
    const STEPS: usize = 59;
    let random = &mut Repeatable(seed);
    let start = random.next_u32().cast_signed() as i64 % 100;
    // The difference of two numbers does not overflow.
    let (f, g) = (limb(random).cast_signed() >> 2 | 1, limb(random).cast_signed() >> 2);
    let mut expected = (start, f, g);
    for _ in 0..STEPS {
        let (zeta, f, g) = expected;
        expected = if zeta < 0 && g & 1 == 1 {
            (-zeta - 2, g, (g - f) / 2)
        } else {
            (zeta - 1, f, (g + (g & 1) * f) / 2)
        };
    }
    let got = words::divsteps::<STEPS>(start, f, g);
    same("division steps", [vec![expected], vec![got]]);
    1
}

/// A residue below 2^BITS: of limbs that cause carries, or close to the prime.
fn number<P: field::Prime>(random: &mut Repeatable) -> P::Words {
    let mut number = P::MODULUS;
    let choice = random.next_u32() % 8;
    if choice < 6 {
        number.as_mut().iter_mut().for_each(|limb| *limb = self::limb(random));
        let top = number.as_ref().len() - 1;
        number.as_mut()[top] &= Limb::MAX >> (64 * (top + 1) - P::BITS);
    } else {
        let low = &mut number.as_mut()[0];
        *low = low.wrapping_sub(Limb::from(random.next_u32() % 4));
    }
    number
}

/// Every operation on a curve's prime.
struct OfCurve(u64);

impl<P: CurvePrime> CurveTask<P> for OfCurve {
    type Output = Vec<P::Words>;

    fn run<A: CurveArithmetic<P>>(self, f: A) -> Vec<P::Words> {
        let random = &mut Repeatable(self.0);
        let mut results = Vec::new();
        let mut keep = |element: &A::Element| {
            let mut number = [P::Words::ZERO];
            f.store(element, &mut number);
            results.push(number[0]);
        };
        let [mut a, b, c] = core::array::from_fn(|_| f.load(&[number::<P>(random)]));
        let swap = f.mask(|_| cycloid::internals::ct::Mask::from_bit(self.0 & 1));
        for element in [
            f.mul(&a, &b),
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
        f.add_edwards(&[a, b, c, b], &[c, a, b], swap).iter().for_each(&mut keep);
        let mut state = [a, b, f.mul(&a, &c), f.square(&b)];
        for _ in 0..2 {
            f.ladder_step(&c, &mut state, swap, 121_665);
            state.iter().for_each(&mut keep);
        }
        // Takes as long as the rest of a hundred rounds.
        if self.0.is_multiple_of(64) {
            let swaps: [Limb; 4] = core::array::from_fn(|_| limb(random));
            let steps = random.next_u32() as usize % 256 + 1;
            f.ladder(&c, &mut state, steps, &[swaps], 121_665);
            state.iter().for_each(&mut keep);
        }
        assert!(!A::Mask::none().reveal_any());
        results
    }
}

fn curve<P: CurvePrime>(backends: [Backend; 2]) -> usize {
    for seed in 0..FIELD_ROUNDS as u64 {
        same(P::NAME, backends.map(|backend| P::run_one_curve(backend, OfCurve(seed))));
    }
    FIELD_ROUNDS
}

/// Every operation on a prime of BLS12-381.
struct OfDense(u64);

impl<P: Dense> WideTask<P> for OfDense {
    type Output = Vec<P::Words>;

    fn run<A: Wide<P>>(self, f: A) -> Vec<P::Words> {
        let random = &mut Repeatable(self.0);
        let [a, b, c, d] = core::array::from_fn(|_| f.load(&[number::<P>(random)]));
        let [x, y] = f.mul_complex(&[a, b], &[c, d]);
        let [z, w] = f.square_complex(&[c, d]);
        let mut sum = f.mul_complex_wide(&[a, b], &[c, a]);
        let other = f.mul_complex_wide(&[d, b], &[c, d]);
        f.add_complex_wide(&mut sum, &other);
        f.add_turned_wide(&mut sum, &other);
        f.sub_both_wide(&mut sum, &other, &f.mul_complex_wide(&[b, b], &[c, d]));
        let mut difference = f.mul_complex_wide(&[a, d], &[a, d]);
        f.sub_complex_wide(&mut difference, &f.mul_complex_wide(&[c, b], &[c, b]));
        let difference = f.reduce_complex_wide(&difference);
        let [ab, cd, ac] = [(&a, &b), (&c, &d), (&a, &c)].map(|(a, b)| f.add_factor(a, b));
        let factors = f.reduce_complex_wide(&f.mul_complex_wide(&[ab, cd], &[cd, ac]));
        let squares = f.reduce_complex_wide(&f.mul_complex_wide(&[ab, cd], &[ab, cd]));
        let quartic = f.square_quartic(&[a, b], &[c, d]);
        let wide = f.mul_wide(&ab, &cd);
        let elements = [
            f.mul(&a, &b),
            f.square(&a),
            f.square_times(&b, 3),
            f.add(&a, &b),
            f.sub(&a, &b),
            f.negate(&c),
            f.double(&d),
            f.mul_small(&a, 12),
            f.sum_of_products([&a, &b], [&c, &d]),
            f.difference_of_products([&a, &b], [&c, &d]),
            difference[0],
            difference[1],
            factors[0],
            factors[1],
            squares[0],
            squares[1],
            quartic[0][0],
            quartic[0][1],
            quartic[1][0],
            quartic[1][1],
            x,
            y,
            z,
            w,
            f.reduce_wide(&sum[0]),
            f.reduce_wide(&sum[1]),
            f.reduce_wide(&wide),
        ];
        elements
            .iter()
            .map(|element| {
                let mut words = [P::Words::ZERO];
                f.export(element, &mut words);
                words[0]
            })
            .collect()
    }
}

fn dense<P: Dense>(backends: [Backend; 2]) -> usize {
    for seed in 0..FIELD_ROUNDS as u64 {
        same(P::NAME, backends.map(|backend| P::run_one_wide(backend, OfDense(seed))));
    }
    FIELD_ROUNDS
}

/// Results of operations with keys.
fn operations() -> Vec<Vec<u8>> {
    let mut results = Vec::new();
    for seed in 1..6u8 {
        ecdsa::<P224>(&mut results, &[seed; 28]);
        ecdsa::<P256>(&mut results, &[seed; 32]);
        ecdsa::<P384>(&mut results, &[seed; 48]);
        let mut private = [seed; 66];
        private[0] = 0;
        ecdsa::<P521>(&mut results, &private);
        let key = ed25519::SigningKey::from_seed(&[seed; 32]);
        let signature = key.sign(&[seed]);
        key.verifying_key().verify(&[seed], &signature).expect("valid");
        results.push(signature.to_vec());
        let key = x25519::PrivateKey::from([seed; 32]);
        let peer = x25519::PrivateKey::from([seed + 9; 32]).public_key();
        results.push(key.agree(&peer).expect("agrees").as_bytes().to_vec());
    }
    for seed in 1..4u8 {
        let key = SecretKey::<Cycloid, MinPk>::from_bytes(&[seed; 32]).expect("a key");
        let signature = key.sign(Scheme::ProofOfPossession, &[seed]);
        let public = key.public_key();
        public.verify(Scheme::ProofOfPossession, &[seed], &signature).expect("valid");
        assert!(public.verify(Scheme::ProofOfPossession, b"other", &signature).is_err());
        results.extend([public.to_bytes().to_vec(), signature.to_bytes().to_vec()]);
    }
    let paired = pairing(&G1Affine::<Cycloid>::generator(), &G2Affine::generator());
    results.push(format!("{paired:?}").into_bytes());
    results
}

fn ecdsa<C: Curve>(results: &mut Vec<Vec<u8>>, private: &[u8]) {
    let key = ec::PrivateKey::<C>::from_bytes(private).expect("a key");
    let signature = key.sign(Hash::Sha256, private);
    key.public_key().verify(Hash::Sha256, private, &signature).expect("valid");
    assert!(key.public_key().verify(Hash::Sha256, b"other", &signature).is_err());
    results.push(signature.to_fixed().as_ref().to_vec());
    results.push(key.agree(key.public_key()).as_ref().to_vec());
}
