//! Montgomery multiplication composed of its steps.

use super::super::lanes::Lanes;
use super::Modulus;
use super::kernel::Product;
use super::vector::DigitVectors;

/// The steps for one length, compiled for the instructions of a backend, each as a separate
/// function. `triangle` and `square` document them; here each goes through all its tiles.
pub(super) trait Steps {
    type Vectors: DigitVectors;

    fn multiply_low(p: &mut Product<'_, Self::Vectors>, a: &[Lanes], b: &[Lanes]);
    fn multiply_high(p: &mut Product<'_, Self::Vectors>, b: &[Lanes]);
    fn square_low(p: &mut Product<'_, Self::Vectors>, a: &[Lanes]);
    fn square_high(p: &mut Product<'_, Self::Vectors>);
    fn quotient(p: &mut Product<'_, Self::Vectors>);
    fn reduce(p: &Product<'_, Self::Vectors>, result: &mut [Lanes]);
}

// In the order of the steps the upper half of T, for which nothing waits, stands between the
// lower half and the quotient, which would have to wait for the last carries of the lower half.

#[inline(always)]
pub(super) fn multiply<S: Steps>(
    accumulator: &mut [Lanes],
    by: &[Lanes],
    work: &mut [Lanes],
    modulus: &Modulus<'_, S::Vectors>,
) {
    let mut product = Product::new(work, modulus);
    S::multiply_low(&mut product, accumulator, by);
    S::multiply_high(&mut product, by);
    S::quotient(&mut product);
    S::reduce(&product, accumulator);
}

#[inline(always)]
pub(super) fn square<S: Steps>(
    accumulator: &mut [Lanes],
    work: &mut [Lanes],
    modulus: &Modulus<'_, S::Vectors>,
) {
    let mut product = Product::new(work, modulus);
    S::square_low(&mut product, accumulator);
    S::square_high(&mut product);
    S::quotient(&mut product);
    S::reduce(&product, accumulator);
}
