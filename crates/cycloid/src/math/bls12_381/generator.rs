//! Multiples of the generators by secret scalars, from tables.
//!
//! A scalar is in parts, as for other points, and each part in windows of six bits with digits from
//! −32 to 32. A row of the table serves two windows: the sum of the odd windows' multiples is
//! doubled six times, and the even windows' multiples are added to it (Lim, Lee, More flexible
//! exponentiation with precomputation, 1994). The additions are complete, and each lookup reads the
//! whole row, so time does not depend on the scalar.

use super::Endomorphism;
use super::multiply::digit;
use super::point::{Affine, Point};
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, Bls12Base};
use crate::machine::words::Limb;
use crate::math::field::MAX_WIDTH;

/// Bits of a window.
const WINDOW: usize = 6;

/// Windows of a row.
const SPACING: usize = 2;

/// Multiples in a row: from 1 to 32.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// Returns k·G, with the scalar of each number split into [`Endomorphism::PARTS`] parts, from the
/// group's table in the form for this backend ([`Arithmetic::stored`]).
pub(crate) fn multiply_generator<F: Endomorphism>(
    f: F::Arithmetic,
    parts: &[[u128; MAX_WIDTH]; 4],
    table: &[Limb],
) -> Point<F> {
    let entry_limbs = 2 * F::DEGREE * <F::Arithmetic as Arithmetic<Bls12Base>>::STORED_LIMBS;
    let windows = (F::PART_BITS + 1).div_ceil(WINDOW);
    let mut sum = Point::infinity(f);
    for first in (0..SPACING).rev() {
        sum = sum.double_times(if first + 1 < SPACING { WINDOW } else { 0 });
        for window in (first..windows).step_by(SPACING) {
            let row = &table[window / SPACING * ENTRIES * entry_limbs..][..ENTRIES * entry_limbs];
            for (i, part) in parts[..F::PARTS].iter().enumerate() {
                let digit = |place: usize| digit::<WINDOW>(part[place], window * WINDOW);
                let mut entry = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; 4];
                let entry = &mut entry[..2 * F::DEGREE];
                // The index of the digit 0 is in no table.
                let index = f.word(|place| digit(place).0.wrapping_sub(1));
                f.lookup_stored(entry, row, index);
                let multiple = Affine {
                    x: F::read(f, &entry[..F::DEGREE]),
                    y: F::read(f, &entry[F::DEGREE..]),
                };
                let multiple = match i {
                    0 => multiple,
                    _ => {
                        let Point { x, y, .. } = F::endomorphism(&multiple.to_point(), i);
                        Affine { x, y }
                    }
                };
                // The endomorphism of part i has the sign (−1)^i.
                let negative = f.mask(|place| digit(place).1);
                let negative = if i % 2 == 1 { !negative } else { negative };
                let y = F::select(negative, &multiple.y.negate(), &multiple.y);
                let more = sum.add_affine(&Affine { x: multiple.x, y });
                let is_zero = f.mask(|place| Mask::is_zero(digit(place).0));
                sum = Point::select(is_zero, &sum, &more);
            }
        }
    }
    sum
}
