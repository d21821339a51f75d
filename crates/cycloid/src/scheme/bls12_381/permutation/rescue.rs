//! Rescue-Prime (Szepieniec, Ashur, Dhooghe, Rescue-Prime: a standard specification, ePrint
//! 2020/1143).
//!
//! A round has two halves: fifth powers, then fifth roots, each followed by a product with a matrix
//! and the addition of constants.

#[cfg(feature = "sha3")]
use core::fmt::{self, Write};

#[cfg(feature = "sha3")]
use shake::Shake256;
#[cfg(feature = "sha3")]
use shake::digest::{ExtendableOutput, Update, XofReader};

use super::super::backend::{Formula, Ring, Scalars};
#[cfg(feature = "sha3")]
use super::super::integer;
use super::super::{Cycloid, Fr};
use super::Permutation;
use super::layers::{add_constants, fifth_power, fifth_root, multiply};

/// Rescue-Prime with x⁵ on `T` elements, with `ROUNDS` rounds.
///
/// ```
/// use cycloid::bls12_381::Fr;
/// use cycloid::bls12_381::permutation::{Padding, Permutation, Rescue3};
///
/// let mut digest = [Fr::ZERO];
/// let input: [Fr; 2] = [1, 2].map(Fr::from);
/// Rescue3::generate(1, 128).hash::<2>(Padding::One, &input, &mut digest);
/// ```
#[derive(Clone, Debug)]
pub struct Rescue<const T: usize, const ROUNDS: usize, B: Scalars = Cycloid> {
    constants: [[[Fr<B>; T]; 2]; ROUNDS],
    matrix: [[Fr<B>; T]; T],
}

/// Three elements, for 128 bits of security with a capacity of one element, as in Octez:
/// [`generate(1, 128)`](Rescue::generate).
pub type Rescue3<B = Cycloid> = Rescue<3, 14, B>;

impl<const T: usize, const ROUNDS: usize, B: Scalars> Rescue<T, ROUNDS, B> {
    /// Generates constants by SHAKE256 and the matrix from powers of 7 (`rescue_prime.sage` of
    /// the authors' reference), for a capacity in elements and a
    /// security level in bits.
    ///
    /// The number of rounds for this level is up to the caller. The reference computes for 128
    /// bits:
    ///
    /// | elements | capacity | rounds |
    /// |---|---|---|
    /// | 2 | 1 | 20 |
    /// | 3 | 1 | 14 |
    /// | 4 | 1 | 11 |
    /// | 5 | 1 | 9 |
    /// | 6 | 2 | 8 |
    #[cfg(feature = "sha3")]
    pub fn generate(capacity: usize, security_level: usize) -> Self {
        struct Seed(Shake256);

        impl Write for Seed {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.update(text.as_bytes());
                Ok(())
            }
        }

        let mut seed = Seed(Shake256::default());
        // Decimal numbers; writing to a hash does not fail.
        let _ = seed.write_str("Rescue-XLIX(");
        let _ = write!(seed, "{}", Order);
        let _ = write!(seed, ",{T},{capacity},{security_level})");
        let mut bytes = seed.0.finalize_xof();
        let mut constants = [[[Fr::ZERO; T]; 2]; ROUNDS];
        for constant in constants.as_flattened_mut().as_flattened_mut() {
            // One byte more than the prime has.
            let mut integer = [0; Fr::<Cycloid>::BYTES + 1];
            bytes.read(&mut integer);
            *constant = Fr::from_bytes_wide(&integer);
        }
        Self { constants, matrix: matrix() }
    }

    /// Takes the constants after the fifth powers and after the fifth roots of each round, and a
    /// matrix by rows.
    pub const fn from_constants(
        constants: [[[Fr<B>; T]; 2]; ROUNDS],
        matrix: [[Fr<B>; T]; T],
    ) -> Self {
        Self { constants, matrix }
    }
}

/// Prints r in decimal.
#[cfg(feature = "sha3")]
struct Order;

#[cfg(feature = "sha3")]
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        integer::display_vartime(&integer::ORDER, f)
    }
}

/// Returns the right half of the reduced echelon form of (7^(i·j)), T rows of 2T, transposed.
///
/// Entry (j, k) is the polynomial that is 1 at 7^k and 0 at the other 7^l for l < T, evaluated at
/// 7^(T + j): with all monomials below degree T, these values solve the linear system.
#[cfg(feature = "sha3")]
fn matrix<const T: usize, B: Scalars>() -> [[Fr<B>; T]; T] {
    let power = |exponent: usize| Fr::<B>::from(7).pow_vartime(&[exponent as u64]);
    core::array::from_fn(|j| {
        core::array::from_fn(|k| {
            let others = || (0..T).filter(|l| *l != k).map(power);
            let numerator: Fr<B> = others().map(|other| power(T + j) - other).product();
            let denominator: Fr<B> = others().map(|other| power(k) - other).product();
            // 7 has the order r − 1, so its powers are distinct.
            numerator * denominator.invert_vartime().unwrap_or_default()
        })
    })
}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Permutation<T, B> for Rescue<T, ROUNDS, B> {}

impl<const T: usize, const ROUNDS: usize, B: Scalars> Formula<B::Fr, T> for Rescue<T, ROUNDS, B> {
    #[inline(always)]
    fn apply<R: Ring<Constant = B::Fr>>(&self, ring: R, state: &mut [R::Element; T]) {
        for [after_powers, after_roots] in &self.constants {
            for x in state.iter_mut() {
                *x = fifth_power(ring, x);
            }
            multiply(ring, state, &self.matrix);
            add_constants(ring, state, after_powers);
            for x in state.iter_mut() {
                *x = fifth_root(ring, x);
            }
            multiply(ring, state, &self.matrix);
            add_constants(ring, state, after_roots);
        }
    }
}
