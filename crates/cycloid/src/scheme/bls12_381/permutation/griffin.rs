//! Griffin (Grassi, Hao, Rechberger, Schofnegger, Walch, Wang, Horst meets fluid-SPN: Griffin for
//! zero-knowledge applications, CRYPTO 2023, ePrint 2022/403).
//!
//! A round takes a fifth root, a fifth power, and multiplies each further element by a quadratic
//! function of the elements before it; then it multiplies by a matrix and adds constants.

#[cfg(feature = "sha3")]
use shake::Shake128;
#[cfg(feature = "sha3")]
use shake::digest::{ExtendableOutput, Update, XofReader};

use super::super::backend::{Formula, Ring, Scalars};
#[cfg(feature = "sha3")]
use super::super::integer;
use super::super::{Cycloid, Fr};
use super::Permutation;
use super::layers::{add_constants, fifth_power, fifth_root};

/// Griffin with x⁵ on `T` elements, 3 or a multiple of 4, with `ROUNDS` rounds.
///
/// The matrix is circ(2, 1, 1) for three elements and M = circ(3, 2, 1, 1) for four. For more, M
/// multiplies each block of four, and to each block the sum of all is added.
///
/// ```
/// use cycloid::bls12_381::Fr;
/// use cycloid::bls12_381::permutation::{Griffin3, Permutation};
///
/// let mut states = [[Fr::ZERO; 3]; 8];
/// Griffin3::generate().permute_each(&mut states);
/// let first: Fr =
///     "841791784119451836895521356553213353441862647772555419706984344393580307020".parse()?;
/// assert_eq!(states[7][0], first);
/// # Ok::<(), cycloid::bls12_381::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Griffin<const T: usize, const ROUNDS: usize, B: Scalars = Cycloid> {
    constants: [[Fr<B>; T]; ROUNDS],
    /// α and β of the elements from the third on; the first two places are 0.
    alpha: [Fr<B>; T],
    beta: [Fr<B>; T],
}

/// Three elements, for 128 bits of security.
pub type Griffin3<B = Cycloid> = Griffin<3, 12, B>;

/// Four elements, for 128 bits of security.
pub type Griffin4<B = Cycloid> = Griffin<4, 11, B>;

impl<const T: usize, const ROUNDS: usize, B: Scalars> Griffin<T, ROUNDS, B> {
    /// Generates constants by SHAKE128, as the authors' implementation does: those of all rounds
    /// but the last, then α and β of the third element for which x² + α·x + β has no zero.
    #[cfg(feature = "sha3")]
    pub fn generate() -> Self {
        let mut hash = Shake128::default().chain("Griffin");
        integer::ORDER.iter().for_each(|limb| hash.update(&limb.to_le_bytes()));
        let mut bytes = hash.finalize_xof();
        // Integers of 255 bits; those that are r or more are skipped.
        let mut element = || {
            loop {
                let mut integer = [0; 32];
                bytes.read(&mut integer);
                integer[31] &= 0x7f;
                if let Ok(element) = Fr::<B>::from_bytes(&integer) {
                    return element;
                }
            }
        };
        let mut constants = [[Fr::ZERO; T]; ROUNDS];
        for constant in constants[..ROUNDS.saturating_sub(1)].as_flattened_mut() {
            *constant = element();
        }
        let mut nonzero = || {
            loop {
                let element = element();
                if !element.is_zero() {
                    return element;
                }
            }
        };
        loop {
            let alpha = nonzero();
            let mut beta = nonzero();
            while beta == alpha {
                beta = nonzero();
            }
            if (alpha.square() - beta.double().double()).legendre() == -1 {
                return Self::from_constants(constants, alpha, beta);
            }
        }
    }

    /// Takes the constants after each round, and α and β of the third element. Those of the i-th
    /// further element are i·α and i²·β.
    pub fn from_constants(constants: [[Fr<B>; T]; ROUNDS], alpha: Fr<B>, beta: Fr<B>) -> Self {
        const { assert!(T == 3 || T > 0 && T.is_multiple_of(4)) };
        let number = |place: usize| Fr::from(place.saturating_sub(1) as u64);
        Self {
            constants,
            alpha: core::array::from_fn(|place| number(place) * alpha),
            beta: core::array::from_fn(|place| number(place).square() * beta),
        }
    }
}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Permutation<T, B> for Griffin<T, ROUNDS, B> {}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Formula<B::Fr, T> for Griffin<T, ROUNDS, B> {
    #[inline(always)]
    fn apply<R: Ring<Constant = B::Fr>>(&self, ring: R, state: &mut [R::Element; T]) {
        let constant = |constant: &Fr<B>| ring.constant(constant.raw());
        multiply(ring, state);
        for constants in &self.constants {
            let old = *state;
            state[0] = fifth_root(ring, &old[0]);
            state[1] = fifth_power(ring, &old[1]);
            // (i − 1)·y₀ + y₁.
            let mut line = state[1];
            for i in 2..T {
                line = ring.add(&line, &state[0]);
                let l = if i == 2 { line } else { ring.add(&line, &old[i - 1]) };
                // L² + α·L + β = L·(L + α) + β.
                let product = ring.mul(&l, &ring.add(&l, &constant(&self.alpha[i])));
                state[i] = ring.mul(&old[i], &ring.add(&product, &constant(&self.beta[i])));
            }
            multiply(ring, state);
            add_constants(ring, state, constants);
        }
    }
}

/// Multiplies the state by the matrix.
#[inline(always)]
fn multiply<R: Ring, const T: usize>(ring: R, state: &mut [R::Element; T]) {
    if T == 3 {
        // circ(2, 1, 1): x + the sum.
        let sum = ring.add(&ring.add(&state[0], &state[1]), &state[2]);
        for x in state.iter_mut() {
            *x = ring.add(x, &sum);
        }
        return;
    }
    for block in state.chunks_exact_mut(4) {
        // circ(3, 2, 1, 1): twice x, the next, and the sum.
        let sum = ring.add(&ring.add(&block[0], &block[1]), &ring.add(&block[2], &block[3]));
        let old = [block[0], block[1], block[2], block[3]];
        for (i, x) in block.iter_mut().enumerate() {
            let twice = ring.add(x, x);
            *x = ring.add(&ring.add(&twice, &old[(i + 1) % 4]), &sum);
        }
    }
    if T > 4 {
        let mut sums = [state[0], state[1], state[2], state[3]];
        for block in state[4..].chunks_exact(4) {
            for (sum, x) in sums.iter_mut().zip(block) {
                *sum = ring.add(sum, x);
            }
        }
        for block in state.chunks_exact_mut(4) {
            for (x, sum) in block.iter_mut().zip(&sums) {
                *x = ring.add(x, sum);
            }
        }
    }
}
