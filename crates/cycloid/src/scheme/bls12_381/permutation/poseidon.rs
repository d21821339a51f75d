//! Poseidon (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, Poseidon: a new hash function for
//! zero-knowledge proof systems, USENIX Security 2021, ePrint 2019/458).
//!
//! A round adds constants, raises elements to the fifth power, and multiplies by a matrix. The full
//! rounds, half of them at each end, raise every element, the partial rounds one element.

use super::super::backend::{Formula, Ring, Scalars};
use super::super::error::equal_counts;
use super::super::{Cycloid, Error, Fr};
use super::Permutation;
use super::grain::Grain;
use super::layers::{add_constants, fifth_power, load, multiply};

/// Poseidon with x⁵ on `T` elements, with `FULL` full rounds, an even number, and `PARTIAL` partial
/// rounds.
#[derive(Clone, Debug)]
pub struct Poseidon<const T: usize, const FULL: usize, const PARTIAL: usize, B: Scalars = Cycloid> {
    full: [[Fr<B>; T]; FULL],
    partial: [[Fr<B>; T]; PARTIAL],
    matrix: [[Fr<B>; T]; T],
    raised: Raised,
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
    /// generator Grain (appendices E and F of the paper; `generate_parameters_grain.sage` of the
    /// authors' reference).
    ///
    /// The reference also tests the matrix for invariant subspaces of the partial rounds, and draws
    /// another one if the test fails. This function returns the first matrix, which passes for
    /// [`Poseidon3`] and [`Poseidon5`].
    pub fn generate() -> Self {
        const { assert!(T > 0 && FULL.is_multiple_of(2)) };
        let mut grain = Grain::new(T, FULL, PARTIAL);
        let mut round = |_| core::array::from_fn(|_| grain.element());
        // The constants are drawn in the order of the rounds.
        let mut full = [[Fr::ZERO; T]; FULL];
        full[..FULL / 2].iter_mut().for_each(|constants| *constants = round(()));
        let partial = [(); PARTIAL].map(&mut round);
        full[FULL / 2..].iter_mut().for_each(|constants| *constants = round(()));
        let matrix = grain.matrix();
        Self { full, partial, matrix, raised: Raised::First }
    }

    /// Takes the constants of every round in their order, `FULL + PARTIAL` of them, and a matrix by
    /// rows.
    ///
    /// # Errors
    /// [`Error::Counts`] for another number of rounds.
    pub fn from_constants(
        constants: &[[Fr<B>; T]],
        matrix: [[Fr<B>; T]; T],
        raised: Raised,
    ) -> Result<Self, Error> {
        const { assert!(T > 0 && FULL.is_multiple_of(2)) };
        equal_counts(FULL + PARTIAL, constants.len())?;
        let (first, rest) = constants.split_at(FULL / 2);
        let (middle, last) = rest.split_at(PARTIAL);
        let mut full = [[Fr::ZERO; T]; FULL];
        full[..FULL / 2].copy_from_slice(first);
        full[FULL / 2..].copy_from_slice(last);
        let mut partial = [[Fr::ZERO; T]; PARTIAL];
        partial.copy_from_slice(middle);
        Ok(Self { full, partial, matrix, raised })
    }
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
        let matrix = load(ring, &self.matrix);
        for constants in &self.full[..FULL / 2] {
            full_round(ring, state, constants, &matrix);
        }
        let raised = match self.raised {
            Raised::First => 0,
            Raised::Last => T - 1,
        };
        for constants in &self.partial {
            add_constants(ring, state, constants);
            state[raised] = fifth_power(ring, &state[raised]);
            multiply(ring, state, &matrix);
        }
        for constants in &self.full[FULL / 2..] {
            full_round(ring, state, constants, &matrix);
        }
    }
}

#[inline(always)]
fn full_round<B: Scalars, R: Ring<Constant = B::Fr>, const T: usize>(
    ring: R,
    state: &mut [R::Element; T],
    constants: &[Fr<B>; T],
    matrix: &[[R::Element; T]; T],
) {
    add_constants(ring, state, constants);
    for x in state.iter_mut() {
        *x = fifth_power(ring, x);
    }
    multiply(ring, state, matrix);
}
