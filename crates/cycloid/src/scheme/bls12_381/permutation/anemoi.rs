//! Anemoi (Bouvier, Briaud, Chaidos, Perrin, Salen, Velichkov, Willems, New design techniques for
//! efficient arithmetization-oriented hash functions: Anemoi permutations and Jive compression
//! mode, CRYPTO 2023, ePrint 2022/840).
//!
//! The state is two rows x and y. A round adds constants, mixes each row by a matrix and the rows
//! with each other, and replaces each column by its open Flystel, which contains a fifth root.

use super::super::backend::{Formula, Ring, Scalars};
use super::super::{Cycloid, Fr};
use super::Permutation;
use super::layers::{add_constants, fifth_root};

/// Anemoi with x⁵ on `T` elements, the rows x and y of one to four columns, with `ROUNDS` rounds.
///
/// ```
/// use cycloid::bls12_381::Fr;
/// use cycloid::bls12_381::permutation::{Anemoi2, Permutation};
///
/// let compressed: [Fr; 1] = Anemoi2::generate().compress(&[Fr::ZERO; 2]);
/// let expected: Fr =
///     "20387392009611881691526522206552322482509551426930619434849280967122120965518".parse()?;
/// assert_eq!(compressed, [expected]);
/// # Ok::<(), cycloid::bls12_381::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Anemoi<const T: usize, const ROUNDS: usize, B: Scalars = Cycloid> {
    /// The constants c of x and d of y.
    constants: [[Fr<B>; T]; ROUNDS],
    /// 1/7.
    delta: Fr<B>,
    version: Version,
}

/// One column, for 128 bits of security: [`generate`](Anemoi::generate).
pub type Anemoi2<B = Cycloid> = Anemoi<2, 21, B>;

/// Two columns, for 128 bits of security: [`generate`](Anemoi::generate).
pub type Anemoi4<B = Cycloid> = Anemoi<4, 14, B>;

/// Three columns, for 128 bits of security: [`generate`](Anemoi::generate).
pub type Anemoi6<B = Cycloid> = Anemoi<6, 12, B>;

/// Four columns, for 128 bits of security: [`generate`](Anemoi::generate).
pub type Anemoi8<B = Cycloid> = Anemoi<8, 12, B>;

/// How the rows are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Each row by the matrix, then y ← y + x and x ← x + y.
    Published,
    /// Each row by the matrix, or for one column x ← x + 7·y and y ← y + 7·x.
    First,
}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Anemoi<T, ROUNDS, B> {
    /// Generates constants from the digits of π, for the permutation as published in
    /// 2023. The number of rounds is up to the caller.
    pub fn generate() -> Self {
        Self::of(Version::Published)
    }

    /// Like [`generate`](Self::generate), for the first version of the paper (2022), which
    /// Octez uses: for 128 bits of security with 19, 12, 10 and 10 rounds for one to four columns.
    pub fn generate_first_version() -> Self {
        Self::of(Version::First)
    }

    fn of(version: Version) -> Self {
        const { assert!(matches!(T, 2 | 4 | 6 | 8)) };
        let columns = T / 2;
        let [first, second] = PI.map(|digits| decimal(digits));
        let delta = Fr::from(7).invert_vartime().unwrap_or_default();
        let mut constants = [[Fr::ZERO; T]; ROUNDS];
        let mut row_power = Fr::<B>::ONE;
        for constants in &mut constants {
            let mut column_power = Fr::ONE;
            for column in 0..columns {
                let fifth = (row_power + column_power).pow_vartime(&[5]);
                let seven = Fr::from(7);
                constants[column] = seven * row_power.square() + fifth;
                constants[columns + column] = seven * column_power.square() + fifth + delta;
                column_power *= second;
            }
            row_power *= first;
        }
        Self { constants, delta, version }
    }
}

/// The decimal digits of π after the point: the first hundred and the next hundred.
const PI: [&str; 2] = [
    "1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679",
    "8214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196",
];

/// Returns a decimal number modulo r.
fn decimal<B: Scalars>(digits: &str) -> Fr<B> {
    let ten = Fr::from(10);
    digits.bytes().fold(Fr::ZERO, |number, digit| number * ten + Fr::from(u64::from(digit - b'0')))
}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Permutation<T, B> for Anemoi<T, ROUNDS, B> {}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Formula<B::Fr, T> for Anemoi<T, ROUNDS, B> {
    #[inline(always)]
    fn apply<R: Ring<Constant = B::Fr>>(&self, ring: R, state: &mut [R::Element; T]) {
        let delta = ring.constant(self.delta.raw());
        for constants in &self.constants {
            add_constants(ring, state, constants);
            mix(ring, state, self.version);
            let (x, y) = state.split_at_mut(T / 2);
            for (x, y) in x.iter_mut().zip(y) {
                flystel(ring, x, y, &delta);
            }
        }
        mix(ring, state, self.version);
    }
}

/// Replaces a column by its open Flystel, with Q(y) = 7·y² and Q(y) + 1/7.
#[inline(always)]
fn flystel<R: Ring>(ring: R, x: &mut R::Element, y: &mut R::Element, delta: &R::Element) {
    *x = ring.sub(x, &seven(ring, &ring.square(y)));
    *y = ring.sub(y, &fifth_root(ring, x));
    *x = ring.add(x, &seven(ring, &ring.square(y)));
    *x = ring.add(x, delta);
}

/// The linear layer; the row y is rotated before its product.
#[inline(always)]
fn mix<R: Ring, const T: usize>(ring: R, state: &mut [R::Element; T], version: Version) {
    let (x, y) = state.split_at_mut(T / 2);
    if T == 2 && version == Version::First {
        x[0] = add_seven(ring, &x[0], &y[0]);
        y[0] = add_seven(ring, &y[0], &x[0]);
        return;
    }
    y.rotate_left(1);
    multiply(ring, x);
    multiply(ring, y);
    if version == Version::Published {
        for (x, y) in x.iter_mut().zip(y) {
            *y = ring.add(y, x);
            *x = ring.add(x, y);
        }
    }
}

/// Multiplies a row by the matrix for its length, which are those of Duval and Leurent (MDS
/// matrices with lightweight circuits, 2018, figures 6 and 8) with the generator 7.
#[inline(always)]
fn multiply<R: Ring>(ring: R, row: &mut [R::Element]) {
    match row {
        [a, b] => {
            *a = add_seven(ring, a, b);
            *b = add_seven(ring, b, a);
        }
        [a, b, c] => {
            let t = add_seven(ring, a, c);
            *c = add_seven(ring, &ring.add(c, b), a);
            *a = ring.add(&t, c);
            *b = ring.add(b, &t);
        }
        [a, b, c, d] => {
            *a = ring.add(a, b);
            *c = ring.add(c, d);
            *d = add_seven(ring, d, a);
            *b = seven(ring, &ring.add(b, c));
            *a = ring.add(a, b);
            *c = add_seven(ring, c, d);
            *b = ring.add(b, c);
            *d = ring.add(d, a);
        }
        _ => {}
    }
}

/// Returns 7·a.
#[inline(always)]
fn seven<R: Ring>(ring: R, a: &R::Element) -> R::Element {
    let three = ring.add(&ring.add(a, a), a);
    ring.add(&ring.add(&three, &three), a)
}

/// Returns a + 7·b.
#[inline(always)]
fn add_seven<R: Ring>(ring: R, a: &R::Element, b: &R::Element) -> R::Element {
    ring.add(a, &seven(ring, b))
}
