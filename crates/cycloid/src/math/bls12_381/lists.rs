//! Operations on lists over Fr: one element after another, or eight neighbours side by side.
//!
//! Elements are loaded by [`Wide::import_linear`], which takes less time than [`Wide::import`] but
//! multiplies by c = 2^−[`LINEAR_SHIFT`](Wide::LINEAR_SHIFT). [`Wide::export_linear`] divides by c
//! once, so a product must be divided by c once more.

use core::slice;

use super::ScalarWords;
use super::fourier::Slot;
use crate::machine::field::{Bls12Scalar, Limbs, Wide};
use crate::machine::lanes::LANES;
use crate::math::field::{Element, MAX_WIDTH};

/// The fewest products that take less time eight side by side than one after another, on integers.
pub(crate) const FEWEST_PRODUCTS: usize = 2 * LANES;

/// The same for inverses.
pub(crate) const FEWEST_INVERSES: usize = 4 * LANES;

/// The number of products that are added before they are reduced.
const TERMS: usize = 16;

/// Returns integers in Montgomery form whose sum is a₀·b₀ + a₁·b₁ + …: one of each number.
pub(crate) fn inner_product<A: Wide<Bls12Scalar>, T: Slot>(
    f: A,
    a: &[T],
    b: &[T],
) -> [ScalarWords; MAX_WIDTH] {
    let mut sums = [ScalarWords::ZERO; MAX_WIDTH];
    f.run(
        #[inline(always)]
        || {
            let mut total = A::ZERO;
            for (a, b) in a.chunks(TERMS * A::WIDTH).zip(b.chunks(TERMS * A::WIDTH)) {
                let products = a.chunks(A::WIDTH).zip(b.chunks(A::WIDTH)).map(
                    #[inline(always)]
                    |(a, b)| f.mul_wide(&load(f, a), &load(f, b)),
                );
                let sum = products.reduce(
                    #[inline(always)]
                    |sum, product| f.add_wide(&sum, &product),
                );
                if let Some(sum) = sum {
                    total = f.add(&total, &f.reduce_wide(&sum));
                }
            }
            let total = divide(&Element::from_raw(f, total), &divisor(f));
            f.export_linear(total.raw(), &mut sums[..A::WIDTH]);
        },
    );
    sums
}

/// Computes aᵢ ← aᵢ·bᵢ.
pub(crate) fn multiply_each<A: Wide<Bls12Scalar>, T: Slot>(f: A, a: &mut [T], b: &[T]) {
    f.run(
        #[inline(always)]
        || {
            let divisor = divisor(f);
            for (a, b) in a.chunks_mut(A::WIDTH).zip(b.chunks(A::WIDTH)) {
                let product = &element(f, a) * &element(f, b);
                store(&divide(&product, &divisor), a);
            }
        },
    );
}

/// Computes aᵢ ← 1/aᵢ, and 0 for 0, with one inversion by `invert`: of as many values as there are
/// numbers, in Montgomery form. Time depends on the number of elements only.
pub(crate) fn invert_each<A: Wide<Bls12Scalar>, T: Slot>(
    f: A,
    a: &mut [T],
    scratch: &mut [T],
    invert: impl FnOnce(&mut [ScalarWords]),
) {
    f.run(
        #[inline(always)]
        || {
            let one = Element::one(f);
            let mut words = [ScalarWords::ZERO; MAX_WIDTH];
            let words = &mut words[..A::WIDTH];
            f.export(one.raw(), words);
            let c = element(f, words);
            // A zero counts as 1. `scratch` holds the products of the elements before.
            let mut product = one;
            for (a, before) in a.chunks(A::WIDTH).zip(scratch.chunks_mut(A::WIDTH)) {
                store(&product, before);
                product = &product * &nonzero(&element(f, a), &one);
            }
            f.export(product.raw(), words);
            invert(words);
            // Of an element a, c·a has been loaded; what is stored for c/a = c²/(c·a) is 1/a.
            let mut inverse = &Element::from_raw(f, f.import(words)) * &(&c * &c);
            for (a, before) in a.chunks_mut(A::WIDTH).zip(scratch.chunks(A::WIDTH)).rev() {
                let value = element(f, a);
                let inverted = &inverse * &element(f, before);
                inverse = &inverse * &nonzero(&value, &one);
                store(&Element::select(value.is_zero(), &value, &inverted), a);
            }
        },
    );
}

/// Returns the element, or 1 for 0.
#[inline(always)]
fn nonzero<A: Wide<Bls12Scalar>>(
    a: &Element<Bls12Scalar, A>,
    one: &Element<Bls12Scalar, A>,
) -> Element<Bls12Scalar, A> {
    Element::select(a.is_zero(), one, a)
}

/// Returns a/c, for 1/c by [`divisor`].
#[inline(always)]
fn divide<A: Wide<Bls12Scalar>>(
    a: &Element<Bls12Scalar, A>,
    divisor: &Option<Element<Bls12Scalar, A>>,
) -> Element<Bls12Scalar, A> {
    match divisor {
        Some(divisor) => a * divisor,
        None => *a,
    }
}

/// Returns 1/c, unless that is 1.
fn divisor<A: Wide<Bls12Scalar>>(f: A) -> Option<Element<Bls12Scalar, A>> {
    let mut power = ScalarWords::ZERO;
    power[0] = 1 << A::LINEAR_SHIFT;
    (A::LINEAR_SHIFT > 0).then(|| Element::constant(f, &power))
}

/// Loads up to as many elements as there are numbers, times c, and zeros after them.
#[inline(always)]
fn load<A: Wide<Bls12Scalar>, T: Slot>(f: A, list: &[T]) -> A::Element {
    if A::WIDTH == 1 {
        return f.import_linear([list[0].words(); LANES]);
    }
    f.import_linear(core::array::from_fn(|i| list.get(i).map_or(&ScalarWords::ZERO, T::words)))
}

/// Loads the same, for formulas.
#[inline(always)]
fn element<A: Wide<Bls12Scalar>, T: Slot>(f: A, list: &[T]) -> Element<Bls12Scalar, A> {
    Element::from_raw(f, load(f, list))
}

/// Writes elements divided by c.
#[inline(always)]
fn store<A: Wide<Bls12Scalar>, T: Slot>(a: &Element<Bls12Scalar, A>, list: &mut [T]) {
    if A::WIDTH == 1 {
        a.arithmetic().export_linear(a.raw(), slice::from_mut(list[0].words_mut()));
        return;
    }
    let mut words = [ScalarWords::ZERO; MAX_WIDTH];
    a.arithmetic().export_linear(a.raw(), &mut words[..A::WIDTH]);
    for (element, words) in list.iter_mut().zip(&words) {
        *element.words_mut() = *words;
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use num_bigint::BigUint;

    use super::*;
    use crate::machine::field::{Dense, Prime, WideTask};
    use crate::machine::lanes;
    use crate::machine::words::{self, Limb};

    /// R.
    fn montgomery() -> BigUint {
        BigUint::from(1u8) << 256
    }

    fn prime() -> BigUint {
        integer(&Bls12Scalar::MODULUS)
    }

    fn integer(words: &ScalarWords) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << 64) + word)
    }

    fn words(integer: &BigUint) -> ScalarWords {
        let digits: Vec<Limb> = integer.iter_u64_digits().collect();
        core::array::from_fn(|i| digits.get(i).copied().unwrap_or(0))
    }

    /// Returns elements, among them 0, 1/R, r − 1 and runs of the last.
    fn list(length: usize, seed: u64) -> Vec<ScalarWords> {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        };
        let mut element = |i: usize| match (word() % 4, i % 5) {
            (0, 0) => ScalarWords::ZERO,
            (1, 0) => words(&BigUint::from(1u8)),
            (0 | 1, _) => words(&(prime() - 1u8)),
            _ => words(&(integer(&[word(), word(), word(), word()]) % prime())),
        };
        (0..length).map(&mut element).collect()
    }

    struct AgainstIntegers<'a> {
        a: &'a [ScalarWords],
        b: &'a [ScalarWords],
    }

    impl WideTask<Bls12Scalar> for AgainstIntegers<'_> {
        type Output = ();

        fn run<A: Wide<Bls12Scalar>>(self, f: A) {
            let Self { a, b } = self;
            let inverse = montgomery().modinv(&prime()).expect("r is prime");
            let product = |a, b| integer(a) * integer(b) * &inverse % prime();

            let sums = inner_product(f, a, b);
            let sum: BigUint = sums.iter().map(integer).sum();
            let expected: BigUint = a.iter().zip(b).map(|(a, b)| product(a, b)).sum();
            assert_eq!(sum % prime(), expected % prime());

            let mut products = a.to_vec();
            multiply_each(f, &mut products, b);
            for (result, (a, b)) in products.iter().zip(a.iter().zip(b)) {
                assert_eq!(integer(result), product(a, b));
            }

            let invert = |a: &ScalarWords| {
                let (zero, square) = (BigUint::ZERO, montgomery() * montgomery());
                integer(a).modinv(&prime()).map_or(zero, |inverse| inverse * square % prime())
            };
            let (mut inverses, mut scratch) = (a.to_vec(), a.to_vec());
            invert_each(f, &mut inverses, &mut scratch, |values| {
                assert_eq!(values.len(), A::WIDTH);
                values.iter_mut().for_each(|value| *value = words(&invert(value)));
            });
            for (result, a) in inverses.iter().zip(a) {
                assert_eq!(integer(result), invert(a));
            }
        }
    }

    #[test]
    fn each_operation_against_integers() {
        let greatest = std::vec![words(&(prime() - 1u8)); TERMS * LANES + 1];
        let lengths = (0..4 * LANES).chain([TERMS * LANES - 1, 2 * TERMS * LANES + 3]);
        let lists = lengths.map(|n| (list(n, 11), list(n, 12)));
        for (a, b) in lists.chain([(greatest.clone(), greatest)]) {
            for backend in words::Backend::available() {
                Bls12Scalar::run_one_wide(backend, AgainstIntegers { a: &a, b: &b });
            }
            for backend in lanes::tests::backends() {
                Bls12Scalar::run_eight_wide(backend, AgainstIntegers { a: &a, b: &b });
            }
        }
    }
}
