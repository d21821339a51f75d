//! Every backend compared with num-bigint.

use super::*;
use num_bigint::BigUint;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// Number of guard limbs before and after every output, which must stay unchanged.
const GUARD: usize = 8;
const CANARY: Limb = 0xc0de_c0de_dead_beef;

/// Runs `write` on `n` limbs between guards, initialised with `before`, and returns them.
fn guarded(before: &[Limb], write: impl FnOnce(&mut [Limb])) -> Vec<Limb> {
    let mut memory = vec![CANARY; before.len() + 2 * GUARD];
    let inside = GUARD..GUARD + before.len();
    memory[inside.clone()].copy_from_slice(before);
    write(&mut memory[inside.clone()]);
    assert!(memory[..inside.start].iter().all(|limb| *limb == CANARY), "written below");
    assert!(memory[inside.end..].iter().all(|limb| *limb == CANARY), "written above");
    memory[inside].to_vec()
}

fn number(limbs: &[Limb]) -> BigUint {
    let digits: Vec<u32> = limbs.iter().flat_map(|l| [*l as u32, (*l >> 32) as u32]).collect();
    BigUint::from_slice(&digits)
}

/// Returns the lowest `n` limbs of `number`, which must fit.
fn limbs(number: &BigUint, n: usize) -> Vec<Limb> {
    let mut limbs: Vec<Limb> = number.iter_u64_digits().collect();
    assert!(limbs.len() <= n);
    limbs.resize(n, 0);
    limbs
}

/// A deterministic source of limbs (SplitMix64).
struct Random(u64);

impl Random {
    fn limb(&mut self) -> Limb {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn limbs(&mut self, n: usize) -> Vec<Limb> {
        (0..n).map(|_| self.limb()).collect()
    }

    /// Returns limbs that are mostly 0, 1, B − 1 or B/2, for long carries.
    fn extreme_limbs(&mut self, n: usize) -> Vec<Limb> {
        let mut limb = || match self.limb() % 8 {
            0..4 => Limb::MAX,
            4 | 5 => 0,
            6 => [1, 1 << 63, Limb::MAX - 1, 1 << 32][self.limb() as usize % 4],
            _ => self.limb(),
        };
        (0..n).map(|_| limb()).collect()
    }
}

/// Returns numbers of `n` limbs: known hard cases and random ones.
fn operands(n: usize, random: &mut Random) -> Vec<Vec<Limb>> {
    let mut all = vec![vec![0; n], vec![Limb::MAX; n], random.limbs(n)];
    all.extend([random.extreme_limbs(n), random.extreme_limbs(n)]);
    if n != 0 {
        let mut one_bit = vec![0; n];
        one_bit[random.limb() as usize % n] = 1 << (random.limb() % 64);
        all.push(one_bit);
    }
    all
}

/// Returns odd moduli of `n` limbs: near powers of two, extreme, random, with and without the top
/// bit.
fn moduli(n: usize, random: &mut Random) -> Vec<Vec<Limb>> {
    let mut all = vec![vec![Limb::MAX; n], vec![0; n], vec![0; n], vec![Limb::MAX; n]];
    all[1][n - 1] = 1 << 63;
    all[2][n - 1] |= 2;
    all[3][n - 1] = 1;
    all.extend([random.limbs(n), random.extreme_limbs(n), random.extreme_limbs(n)]);
    for modulus in &mut all {
        modulus[0] |= 1;
    }
    all
}

/// Runs a check on every available backend.
fn walk<T: Task<Output = ()> + Clone>(task: &T) {
    for backend in Backend::available() {
        backend.run(task.clone());
    }
}

#[test]
fn the_machine_has_its_backends() {
    let names: Vec<_> = Backend::available().map(Backend::name).collect();
    let levels = Backend::LEVELS.iter().filter(|level| level.is_detected());
    assert_eq!(names, levels.map(|level| level.name()).collect::<Vec<_>>());
}

/// Returns lengths that cover every kernel, remainder and number of iterations.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=72).chain([79, 80, 81, 95, 96, 97, 127, 128, 129, 160, 191, 192, 255, 256, 257])
}

#[derive(Clone)]
struct Products;

impl Task for Products {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(1);
        let check = |a: &[Limb], b: &[Limb]| {
            let junk = vec![CANARY; a.len() + b.len()];
            let got = guarded(&junk, |product| words.mul(product, a, b));
            let expected = number(a) * number(b);
            assert_eq!(number(&got), expected, "{} {} × {}", W::NAME, a.len(), b.len());
        };
        for n in lengths() {
            for a in operands(n, &mut random) {
                for b in operands(n, &mut random) {
                    check(&a, &b);
                }
            }
        }
        for n in 0..=34 {
            for m in 0..=34 {
                for [a, b] in [
                    [random.limbs(n), random.limbs(m)],
                    [random.extreme_limbs(n), random.extreme_limbs(m)],
                    [vec![Limb::MAX; n], vec![Limb::MAX; m]],
                ] {
                    check(&a, &b);
                }
            }
        }
        for (n, m) in [(1, 257), (64, 40), (40, 100), (257, 64), (128, 65), (129, 127)] {
            check(&vec![Limb::MAX; n], &vec![Limb::MAX; m]);
            check(&random.limbs(n), &random.limbs(m));
        }
    }
}

#[test]
fn products() {
    walk(&Products);
}

#[derive(Clone)]
struct Squares;

impl Task for Squares {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(2);
        for n in lengths().chain([0]) {
            let more: Vec<_> = (0..4).map(|_| random.extreme_limbs(n)).collect();
            for a in operands(n, &mut random).into_iter().chain(more) {
                let got = guarded(&vec![CANARY; 2 * n], |product| words.square(product, &a));
                assert_eq!(number(&got), number(&a) * number(&a), "{} {n}²", W::NAME);
            }
        }
    }
}

#[test]
fn squares() {
    walk(&Squares);
}

#[derive(Clone)]
struct Rows;

impl Task for Rows {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(3);
        for n in (0..=34).chain([63, 64, 65, 257]) {
            let b_to_n = BigUint::from(1u8) << (LIMB_BITS * n);
            for a in operands(n, &mut random) {
                for accumulator in operands(n, &mut random) {
                    for x in [0, 1, Limb::MAX, random.limb()] {
                        let product = number(&a) * x;

                        let mut carry = 0;
                        let got = guarded(&accumulator, |accumulator| {
                            carry = words.add_mul_limb(accumulator, &a, x);
                        });
                        let sum = number(&accumulator) + &product;
                        assert_eq!(number(&got) + carry * &b_to_n, sum, "{} add {n}", W::NAME);

                        let mut borrow = 0;
                        let got = guarded(&accumulator, |accumulator| {
                            borrow = words.sub_mul_limb(accumulator, &a, x);
                        });
                        let minuend = number(&accumulator) + borrow * &b_to_n;
                        assert_eq!(number(&got) + product, minuend, "{} sub {n}", W::NAME);
                    }
                }
            }
        }
    }
}

#[test]
fn rows() {
    walk(&Rows);
}

#[derive(Clone)]
struct Reductions;

impl Task for Reductions {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(4);
        for n in lengths() {
            let r = BigUint::from(1u8) << (LIMB_BITS * n);
            for modulus in moduli(n, &mut random) {
                let n0 = montgomery_n0(modulus[0]);
                let m = number(&modulus);
                let bound = &r * &m;
                let mut wides = vec![&bound - 1u8, &bound - &m, bound.clone() - &r, 0u8.into()];
                wides.extend([1u8.into(), m.clone(), &m - 1u8, r.clone() % &bound]);
                wides.push(number(&random.limbs(2 * n)) % &bound);
                wides.push(number(&random.extreme_limbs(2 * n)) % &bound);
                for wide in wides {
                    let mut work = limbs(&wide, 2 * n);
                    let mut result = vec![];
                    work = guarded(&work, |work| {
                        result = guarded(&vec![CANARY; n], |result| {
                            words.montgomery_reduce(result, work, &modulus, n0);
                        });
                    });
                    assert_eq!(work.len(), 2 * n);
                    let result = number(&result);
                    assert!(result < m, "{} {n}: not reduced", W::NAME);
                    assert_eq!(result * &r % &m, wide % &m, "{} {n}", W::NAME);
                }
            }
        }
    }
}

#[test]
fn reductions() {
    walk(&Reductions);
}

/// Checks the contract of [`Words`] for Montgomery products of `a`, below R, and `b`, below the
/// modulus.
fn check_montgomery<W: Words>(words: W, a: &[Limb], b: &[Limb], modulus: &[Limb]) {
    let n = modulus.len();
    let n0 = montgomery_n0(modulus[0]);
    let m = number(modulus);
    let r = BigUint::from(1u8) << (LIMB_BITS * n);
    let junk = vec![CANARY; montgomery_work_limbs(n)];
    let check = |result: &[Limb], expected: BigUint| {
        let result = number(result);
        assert!(result < m, "{} {n}: not reduced", W::NAME);
        assert_eq!(result * &r % &m, expected % &m, "{} {n}", W::NAME);
    };
    let times = |accumulator: &[Limb], by: &[Limb]| {
        guarded(accumulator, |accumulator| {
            guarded(&junk, |work| {
                words.montgomery_mul(accumulator, by, work, modulus, n0);
            });
        })
    };
    check(&times(a, b), number(a) * number(b));
    check(&times(b, a), number(a) * number(b));
    let square = guarded(b, |accumulator| {
        guarded(&junk, |work| {
            words.montgomery_square(accumulator, work, modulus, n0);
        });
    });
    check(&square, number(b) * number(b));
    let repeated = guarded(b, |accumulator| {
        guarded(&junk, |work| {
            words.montgomery_square_times(accumulator, 0, work, modulus, n0);
            words.montgomery_square_times(accumulator, 3, work, modulus, n0);
        });
    });
    let fourth = times(&square, &square);
    assert_eq!(repeated, times(&fourth, &fourth), "{} {n}", W::NAME);
}

#[derive(Clone)]
struct MontgomeryProducts;

impl Task for MontgomeryProducts {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(5);
        for n in lengths() {
            // The models of the longest numbers take most of the time.
            let step = if n > 100 { 3 } else { 1 };
            for modulus in moduli(n, &mut random).into_iter().step_by(step) {
                let m = number(&modulus);
                let mut residues = vec![limbs(&(&m - 1u8), n), vec![0; n]];
                residues.push(limbs(&(number(&random.limbs(n)) % &m), n));
                residues.push(limbs(&(number(&random.extreme_limbs(n)) % &m), n));
                for a in [vec![Limb::MAX; n], random.limbs(n), random.extreme_limbs(n)] {
                    for b in &residues {
                        check_montgomery(words, &a, b, &modulus);
                    }
                }
            }
        }
    }
}

#[test]
fn montgomery_products() {
    walk(&MontgomeryProducts);
}

#[derive(Clone)]
struct Lookups;

impl Task for Lookups {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut random = Random(6);
        for n in (1..=40).chain([47, 48, 49, 63, 64, 65, 67, 128, 131, 256]) {
            for entries in [1, 2, 3, 4, 8, 16, 32] {
                let table = random.limbs(n * entries);
                for index in 0..entries + 2 {
                    let out = guarded(&vec![CANARY; n], |out| words.lookup(out, &table, index));
                    let zero = vec![0; n];
                    let expected = table.chunks(n).nth(index).unwrap_or(&zero);
                    assert_eq!(out, expected, "{} {n} [{index} of {entries}]", W::NAME);
                }
            }
        }
    }
}

#[test]
fn lookups() {
    walk(&Lookups);
}

/// Generates numbers of one length from limbs that cause carries.
fn carrying(n: usize) -> impl Strategy<Value = Vec<Limb>> {
    let limb = prop_oneof![3 => Just(Limb::MAX), 2 => Just(0), 1 => Just(1), 4 => any::<Limb>()];
    prop::collection::vec(limb, n)
}

#[derive(Clone)]
struct Proposed {
    a: Vec<Limb>,
    b: Vec<Limb>,
    modulus: Vec<Limb>,
}

impl Task for Proposed {
    type Output = ();

    fn run<W: Words>(mut self, words: W) {
        let n = self.a.len();
        self.modulus[0] |= 1;
        let product = guarded(&vec![0; 2 * n], |product| {
            words.mul(product, &self.a, &self.b);
        });
        assert_eq!(number(&product), number(&self.a) * number(&self.b));
        let b = limbs(&(number(&self.b) % number(&self.modulus)), n);
        check_montgomery(words, &self.a, &b, &self.modulus);
    }
}

proptest! {
    #[test]
    fn proposed_numbers(
        (a, b, modulus) in (1usize..70).prop_flat_map(|n| (carrying(n), carrying(n), carrying(n)))
    ) {
        walk(&Proposed { a, b, modulus });
    }
}
