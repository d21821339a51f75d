//! Poseidon (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, Poseidon: a new hash function for
//! zero-knowledge proof systems, USENIX Security 2021, ePrint 2019/458).
//!
//! A round adds constants, raises elements to the fifth power, and multiplies by a matrix. The full
//! rounds, half of them at each end, raise every element, the partial rounds one element.
//!
//! A partial round is linear in the elements that it does not raise. So their constants move to the
//! full round after all partial rounds, and most of the matrix to the full round before them
//! (appendix B): 2T − 1 products remain of T².

use super::super::backend::{Formula, Ring, Scalars};
use super::super::error::equal_counts;
use super::super::{Cycloid, Error, Fr};
use super::Permutation;
use super::grain::Grain;
use super::layers::{add_constants, fifth_power, inner_product, multiply};

/// Poseidon with x⁵ on `T` elements, with `FULL` full rounds, an even number, and `PARTIAL` partial
/// rounds.
///
/// ```
/// use cycloid::bls12_381::Fr;
/// use cycloid::bls12_381::permutation::{Permutation, Poseidon3};
///
/// let mut state: [Fr; 3] = [0, 1, 2].map(Fr::from);
/// Poseidon3::generate().permute(&mut state);
/// let first = "28ce19420fc246a05553ad1e8c98f5c9d67166be2c18e9e4cb4b4e317dd2a78a";
/// assert_eq!(format!("{:x}", state[0]), first);
/// ```
#[derive(Clone, Debug)]
pub struct Poseidon<const T: usize, const FULL: usize, const PARTIAL: usize, B: Scalars = Cycloid> {
    full: [[Fr<B>; T]; FULL],
    partial: [Partial<T, B>; PARTIAL],
    matrix: [[Fr<B>; T]; T],
    /// The matrix of the last full round before the partial rounds.
    before: [[Fr<B>; T]; T],
    /// The place of the element that the partial rounds raise.
    raised: usize,
}

/// A partial round: x ← (x + constant)⁵ for the raised element; then the inner product of `row` and
/// the state replaces x, and x · `column` is added to the other elements.
#[derive(Clone, Copy, Debug)]
struct Partial<const T: usize, B: Scalars> {
    constant: Fr<B>,
    row: [Fr<B>; T],
    column: [Fr<B>; T],
}

/// Three elements, for 128 bits of security: `poseidonperm_x5_255_3` of the authors' reference.
pub type Poseidon3<B = Cycloid> = Poseidon<3, 8, 57, B>;

/// Five elements, for 128 bits of security: `poseidonperm_x5_255_5` of the authors' reference.
pub type Poseidon5<B = Cycloid> = Poseidon<5, 8, 60, B>;

/// The element that the partial rounds raise to the fifth power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// The first one, as in the authors' reference.
    First,
    /// The last one, as in some other implementations, such as Octez's.
    Last,
}

impl<const T: usize, const FULL: usize, const PARTIAL: usize, B: Scalars>
    Poseidon<T, FULL, PARTIAL, B>
{
    /// Generates constants and matrix from the state size and the numbers of rounds, by the
    /// generator Grain (appendix E of the paper; `generate_parameters_grain.sage` of the
    /// authors' reference).
    ///
    /// The reference also tests the matrix for invariant subspaces of the partial rounds, and draws
    /// another one if the test fails. This function returns the first matrix, which passes for
    /// [`Poseidon3`] and [`Poseidon5`].
    pub fn generate() -> Self {
        let mut grain = Grain::new(T, FULL, PARTIAL);
        let mut round = |constants: &mut [Fr<B>; T]| constants.fill_with(|| grain.element());
        let mut full = [[Fr::ZERO; T]; FULL];
        let mut partial = [[Fr::ZERO; T]; PARTIAL];
        let (first, last) = full.split_at_mut(FULL / 2);
        first.iter_mut().chain(&mut partial).chain(last).for_each(&mut round);
        match Self::new(full, &partial, grain.matrix(), Raised::First) {
            Ok(poseidon) => poseidon,
            Err(_) => unreachable!("every square part of a Cauchy matrix has an inverse"),
        }
    }

    /// Takes the constants of every round in their order, `FULL + PARTIAL` of them, and a matrix by
    /// rows. Time depends on them.
    ///
    /// # Errors
    /// [`Error::Counts`] for another number of rounds; [`Error::Zero`] if the matrix without the
    /// row and the column of the raised element has no inverse.
    pub fn from_constants(
        constants: &[[Fr<B>; T]],
        matrix: [[Fr<B>; T]; T],
        raised: Raised,
    ) -> Result<Self, Error> {
        equal_counts(FULL + PARTIAL, constants.len())?;
        let (first, rest) = constants.split_at(FULL / 2);
        let (partial, last) = rest.split_at(PARTIAL);
        let mut full = [[Fr::ZERO; T]; FULL];
        full[..FULL / 2].copy_from_slice(first);
        full[FULL / 2..].copy_from_slice(last);
        Self::new(full, partial, matrix, raised)
    }

    /// Moves the linear parts out of the partial rounds.
    fn new(
        mut full: [[Fr<B>; T]; FULL],
        constants: &[[Fr<B>; T]],
        matrix: [[Fr<B>; T]; T],
        raised: Raised,
    ) -> Result<Self, Error> {
        const { assert!(T > 0 && FULL > 0 && FULL.is_multiple_of(2)) };
        let raised = match raised {
            Raised::First => 0,
            Raised::Last => T - 1,
        };
        let nothing = Partial { constant: Fr::ZERO, row: [Fr::ZERO; T], column: [Fr::ZERO; T] };
        let mut partial = [nothing; PARTIAL];
        // The constants of the other elements go through the matrix to the next round.
        let mut moved = [Fr::ZERO; T];
        for (partial, constants) in partial.iter_mut().zip(constants) {
            let mut sum = core::array::from_fn(|i| constants[i] + moved[i]);
            partial.constant = core::mem::take(&mut sum[raised]);
            moved = product(&matrix, &sum);
        }
        for (constant, moved) in full[FULL / 2].iter_mut().zip(moved) {
            *constant += moved;
        }
        // With the raised element first, M = (m, v; w, N) = (m, v·N⁻¹; w, 1) · (1, 0; 0, N). The
        // second factor changes neither the raised element nor its constant, so it is applied
        // before the round, and so multiplies the matrix of the round before. The matrix of the
        // i-th round from the end, counted from 0, is (1, 0; 0, Nⁱ)·M: its factors are
        // (m, v·N^(−i−1); Nⁱ·w, 1) and (1, 0; 0, Nⁱ⁺¹).
        let mut rest = matrix;
        rest[raised] = [Fr::ZERO; T];
        rest.iter_mut().for_each(|row| row[raised] = Fr::ZERO);
        rest[raised][raised] = Fr::ONE;
        let inverse = inverse(&rest).ok_or(Error::Zero)?;
        let mut row = matrix[raised];
        let mut column = matrix.map(|row| row[raised]);
        (row[raised], column[raised]) = (Fr::ZERO, Fr::ZERO);
        let mut before = matrix;
        for partial in partial.iter_mut().rev() {
            row = core::array::from_fn(|j| (0..T).map(|i| row[i] * inverse[i][j]).sum());
            partial.row = row;
            partial.row[raised] = matrix[raised][raised];
            partial.column = column;
            column = product(&rest, &column);
            before = core::array::from_fn(|i| {
                core::array::from_fn(|j| (0..T).map(|k| rest[i][k] * before[k][j]).sum())
            });
        }
        Ok(Self { full, partial, matrix, before, raised })
    }
}

/// Returns the product of a matrix and a vector.
fn product<B: Scalars, const T: usize>(
    matrix: &[[Fr<B>; T]; T],
    vector: &[Fr<B>; T],
) -> [Fr<B>; T] {
    core::array::from_fn(|i| matrix[i].iter().zip(vector).map(|(a, b)| *a * *b).sum())
}

/// Returns the inverse of a public matrix, by elimination, or `None` if there is none.
fn inverse<B: Scalars, const T: usize>(matrix: &[[Fr<B>; T]; T]) -> Option<[[Fr<B>; T]; T]> {
    let mut left = *matrix;
    let mut right = [[Fr::ZERO; T]; T];
    for (i, row) in right.iter_mut().enumerate() {
        row[i] = Fr::ONE;
    }
    for pivot in 0..T {
        let other = (pivot..T).find(|row| !left[*row][pivot].is_zero())?;
        left.swap(pivot, other);
        right.swap(pivot, other);
        let factor = left[pivot][pivot].invert_vartime()?;
        let scaled = [left[pivot], right[pivot]].map(|row| row.map(|entry| entry * factor));
        for row in 0..T {
            let factor = if row == pivot { Fr::ZERO } else { left[row][pivot] };
            for (side, scaled) in [&mut left, &mut right].into_iter().zip(&scaled) {
                for (entry, scaled) in side[row].iter_mut().zip(scaled) {
                    *entry -= factor * *scaled;
                }
            }
        }
        [left[pivot], right[pivot]] = scaled;
    }
    Some(right)
}

impl<const T: usize, const FULL: usize, const PARTIAL: usize, B: Scalars> Permutation<T, B>
    for Poseidon<T, FULL, PARTIAL, B>
{
}

impl<const T: usize, const FULL: usize, const PARTIAL: usize, B: Scalars> Formula<B::Fr, T>
    for Poseidon<T, FULL, PARTIAL, B>
{
    #[inline(always)]
    fn apply<R: Ring<Constant = B::Fr>>(&self, ring: R, state: &mut [R::Element; T]) {
        let (first, last) = self.full.split_at(FULL / 2);
        for (i, constants) in first.iter().enumerate() {
            let matrix = if i + 1 < FULL / 2 { &self.matrix } else { &self.before };
            full_round(ring, state, constants, matrix);
        }
        for partial in &self.partial {
            let sum = ring.add(&state[self.raised], &ring.constant(partial.constant.raw()));
            let x = fifth_power(ring, &sum);
            state[self.raised] = x;
            let replacement = inner_product(ring, &partial.row, state);
            for (i, (y, factor)) in state.iter_mut().zip(&partial.column).enumerate() {
                if i != self.raised {
                    *y = ring.add(y, &ring.mul(&x, &ring.constant(factor.raw())));
                }
            }
            state[self.raised] = replacement;
        }
        for constants in last {
            full_round(ring, state, constants, &self.matrix);
        }
    }
}

#[inline(always)]
fn full_round<B: Scalars, R: Ring<Constant = B::Fr>, const T: usize>(
    ring: R,
    state: &mut [R::Element; T],
    constants: &[Fr<B>; T],
    matrix: &[[Fr<B>; T]; T],
) {
    add_constants(ring, state, constants);
    for x in state.iter_mut() {
        *x = fifth_power(ring, x);
    }
    multiply(ring, state, matrix);
}
