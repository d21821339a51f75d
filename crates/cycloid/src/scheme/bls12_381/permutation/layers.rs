//! The layers that the permutations share: constants, fifth powers and fifth roots, and matrices.

use super::super::Fr;
use super::super::backend::{Integer, Ring, Scalars};

/// 1/5 modulo r − 1.
const FIFTH: Integer =
    [0x3333_3332_cccc_cccd, 0x217f_0e67_9998_f199, 0xe14a_5669_9d73_f002, 0x2e5f_0fba_dd72_321c];

/// Bits of this exponent.
const FIFTH_BITS: usize = 254;

/// Bits of a window of the exponent.
const WINDOW: usize = 5;

/// Adds a constant to each element of the state.
#[inline(always)]
pub(super) fn add_constants<B: Scalars, R: Ring<Constant = B::Fr>, const T: usize>(
    ring: R,
    state: &mut [R::Element; T],
    constants: &[Fr<B>; T],
) {
    for (x, constant) in state.iter_mut().zip(constants) {
        *x = ring.add(x, &ring.constant(constant.raw()));
    }
}

/// Multiplies the state by a matrix of rows.
#[inline(always)]
pub(super) fn multiply<B: Scalars, R: Ring<Constant = B::Fr>, const T: usize>(
    ring: R,
    state: &mut [R::Element; T],
    matrix: &[[Fr<B>; T]; T],
) {
    let old = *state;
    for (x, row) in state.iter_mut().zip(matrix) {
        *x = inner_product(ring, row, &old);
    }
}

/// Returns the inner product of a row of a matrix and the state.
#[inline(always)]
pub(super) fn inner_product<B: Scalars, R: Ring<Constant = B::Fr>, const T: usize>(
    ring: R,
    row: &[Fr<B>; T],
    state: &[R::Element; T],
) -> R::Element {
    ring.inner_product(&core::array::from_fn(|i| ring.constant(row[i].raw())), state)
}

/// Returns x⁵.
#[inline(always)]
pub(super) fn fifth_power<R: Ring>(ring: R, x: &R::Element) -> R::Element {
    ring.mul(x, &ring.square(&ring.square(x)))
}

/// Returns x^(1/5), which is unique: 5 does not divide r − 1.
///
/// The exponent is a constant, which is read from the top in windows that end in a 1 bit: 250
/// squarings and 56 products, including those for the table.
#[inline(always)]
pub(super) fn fifth_root<R: Ring>(ring: R, x: &R::Element) -> R::Element {
    // The odd powers x, x³, …, x³¹.
    let mut powers = [*x; 1 << (WINDOW - 1)];
    let square = ring.square(x);
    for i in 1..powers.len() {
        powers[i] = ring.mul(&powers[i - 1], &square);
    }
    let (places, digit) = window(FIFTH_BITS);
    let mut power = powers[digit / 2];
    let mut left = FIFTH_BITS - places;
    while left > 0 {
        let (places, digit) = window(left);
        power = ring.square_times(&power, places);
        if digit != 0 {
            power = ring.mul(&power, &powers[digit / 2]);
        }
        left -= places;
    }
    power
}

/// Returns the number of bits in the next window, and their value, which is odd or 0. `left` bits
/// of the exponent remain.
const fn window(left: usize) -> (usize, usize) {
    let mut digit = 0;
    let mut places = 0;
    while places < left && places < WINDOW {
        let bit = left - 1 - places;
        digit = 2 * digit + (FIFTH[bit / 64] >> (bit % 64) & 1) as usize;
        places += 1;
    }
    if digit >> (places - 1) == 0 {
        return (1, 0);
    }
    while digit & 1 == 0 {
        digit >>= 1;
        places -= 1;
    }
    (places, digit)
}
