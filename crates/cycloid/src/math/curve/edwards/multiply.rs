//! Multiples of points on edwards25519.

use super::scalar::{Digits, Scalar, non_adjacent_form_vartime};
use super::{Addend, AffineAddend, Completed, Field, Point, TWICE_D};
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, CurveArithmetic, P25519};
use crate::machine::words::Limb;
use crate::math::curve::tables::{
    EDWARDS25519_BASE_EIGHT, EDWARDS25519_BASE_ONE, EDWARDS25519_ODD_EIGHT, EDWARDS25519_ODD_ONE,
};
use crate::math::field::MAX_WIDTH;

/// Bits per digit of a base point multiple, as in the rows of its table.
const BASE_WIDTH: usize = 5;

/// Bits per digit of a base point multiple that is added to a multiple of another point.
const ODD_WIDTH: usize = 7;

/// Bits per digit for any other point, and the entries of its table.
const WIDTH: usize = 5;
const ENTRIES: usize = entries(WIDTH);

/// The same for non-adjacent forms, in which entries serve one more bit.
const SPARSE_WIDTH: usize = 5;
const SPARSE_ENTRIES: usize = entries(SPARSE_WIDTH - 1);
const SPARSE_BASE_WIDTH: usize = ODD_WIDTH + 1;

/// Returns the number of odd numbers below 2^`width`.
const fn entries(width: usize) -> usize {
    1 << (width - 1)
}

impl<A: CurveArithmetic<P25519>> Point<A> {
    /// Returns the base point times [`WIDTH`](Arithmetic::WIDTH) numbers: the sum of each digit's
    /// multiple from its row of the table.
    #[inline(always)]
    pub(super) fn multiply_base(arithmetic: A, scalars: &[&Scalar]) -> Self {
        let digits = DigitsOfAll::<BASE_WIDTH>::modulo_order(scalars);
        let table: &[Limb] =
            if A::WIDTH == 1 { &EDWARDS25519_BASE_ONE } else { &EDWARDS25519_BASE_EIGHT };
        let row = entries(BASE_WIDTH) * 3 * A::STORED_LIMBS;
        let mut sum = digits.affine_addend(arithmetic, &table[..row], 0).extended();
        for (i, row) in table.chunks_exact(row).enumerate().skip(1) {
            let (addend, negative) = digits.magnitude(arithmetic, row, i);
            sum = sum.plus_affine(&addend, negative);
        }
        sum
    }

    /// Returns these points, of any order, times [`WIDTH`](Arithmetic::WIDTH) numbers.
    #[inline(always)]
    pub(super) fn multiply(&self, scalars: &[&Scalar]) -> Self {
        self.multiply_in_windows(scalars, None)
    }

    /// Returns these points, of any order, times `scalars` plus the base point times
    /// `base_scalars`.
    #[inline(always)]
    pub(super) fn multiply_add_base_vartime(
        &self,
        scalars: &[&Scalar],
        base_scalars: &[&Scalar],
    ) -> Self {
        if A::WIDTH == 1 {
            self.multiply_sparsely_vartime(scalars[0], base_scalars[0])
        } else {
            // The lanes' nonzero digits differ in position, so no digit can be skipped for all.
            self.multiply_in_windows(scalars, Some(base_scalars))
        }
    }

    #[inline(always)]
    fn multiply_in_windows(&self, scalars: &[&Scalar], base_scalars: Option<&[&Scalar]>) -> Self {
        let arithmetic = self.x.arithmetic();
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        let table = self.odd_multiples::<ENTRIES>(&twice_d);
        let base_table: &[Limb] =
            if A::WIDTH == 1 { &EDWARDS25519_ODD_ONE } else { &EDWARDS25519_ODD_EIGHT };
        let digits = DigitsOfAll::<WIDTH>::odd(scalars);
        let base_digits = base_scalars.map(DigitsOfAll::<ODD_WIDTH>::modulo_order);

        let mut sum = Completed::neutral(arithmetic);
        for bit in (0..=TOP_WINDOW).rev() {
            sum = sum.projective().double();
            if bit % WIDTH == 0 {
                sum = sum.extended().add(&digits.addend(arithmetic, &table, bit / WIDTH));
            }
            if let Some(base_digits) = &base_digits
                && bit % ODD_WIDTH == 0
            {
                let addend = base_digits.affine_addend(arithmetic, base_table, bit / ODD_WIDTH);
                sum = sum.extended().add_affine(&addend);
            }
        }
        let sum = sum.extended();
        // An even number was replaced by the next one.
        let even = arithmetic.mask(|place| !Mask::from_bit(scalars[place].limbs()[0] & 1));
        let less = sum.add(&self.negate().addend(&twice_d)).extended();
        Self::select(even, &less, &sum)
    }

    /// Handles one point, skipping digits of 0.
    #[inline(always)]
    fn multiply_sparsely_vartime(&self, scalar: &Scalar, base_scalar: &Scalar) -> Self {
        let arithmetic = self.x.arithmetic();
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        let table = self.odd_multiples::<SPARSE_ENTRIES>(&twice_d);
        let digits = non_adjacent_form_vartime(scalar, SPARSE_WIDTH);
        let base_digits = non_adjacent_form_vartime(base_scalar, SPARSE_BASE_WIDTH);
        let used =
            |digits: &[i8]| digits.iter().rposition(|digit| *digit != 0).map_or(0, |i| i + 1);

        let mut sum = Completed::neutral(arithmetic);
        for bit in (0..used(&digits).max(used(&base_digits))).rev() {
            sum = sum.projective().double();
            if digits[bit] != 0 {
                let (index, negative) = parts_vartime(arithmetic, digits[bit]);
                let addend = Addend::from_raw(arithmetic, &table[index]);
                sum = sum.extended().add(&addend.negate_if(negative));
            }
            if base_digits[bit] != 0 {
                let (index, negative) = parts_vartime(arithmetic, base_digits[bit]);
                let entry = &EDWARDS25519_ODD_ONE[index * 3 * A::STORED_LIMBS..];
                let mut coordinates = entry.chunks_exact(A::STORED_LIMBS);
                let raw = [(); 3].map(|()| match coordinates.next() {
                    Some(coordinate) => arithmetic.stored(coordinate),
                    None => A::ZERO,
                });
                let addend = AffineAddend::from_raw(arithmetic, &raw);
                sum = sum.extended().add_affine(&addend.negate_if(negative));
            }
        }
        sum.extended()
    }

    /// Returns the multiples by 1, 3, 5, … as addends.
    #[inline(always)]
    fn odd_multiples<const N: usize>(&self, twice_d: &Field<A>) -> [[A::Element; 4]; N] {
        let twice = self.double_times(1).addend(twice_d);
        let mut odd = *self;
        let mut multiples = [odd.addend(twice_d).raw(); N];
        for multiple in &mut multiples[1..] {
            odd = odd.add(&twice).extended();
            *multiple = odd.addend(twice_d).raw();
        }
        multiples
    }

    /// Returns `a` where `mask` is true, `b` where it is false.
    #[inline(always)]
    fn select(mask: A::Mask, a: &Self, b: &Self) -> Self {
        Self {
            x: Field::select(mask, &a.x, &b.x),
            y: Field::select(mask, &a.y, &b.y),
            z: Field::select(mask, &a.z, &b.z),
            t: Field::select(mask, &a.t, &b.t),
        }
    }
}

/// Position of the topmost window of either kind.
const TOP_WINDOW: usize = {
    let any = WIDTH * (Digits::<WIDTH>::COUNT - 1);
    let base = ODD_WIDTH * (Digits::<ODD_WIDTH>::COUNT - 1);
    if any > base { any } else { base }
};
const _: () = assert!(TOP_WINDOW < WIDTH * Digits::<WIDTH>::COUNT);
const _: () = assert!(TOP_WINDOW < ODD_WIDTH * Digits::<ODD_WIDTH>::COUNT);

/// Returns the index of a digit's multiple among the odd ones, and whether it is negated.
#[inline(always)]
fn parts_vartime<A: Arithmetic<P25519>>(arithmetic: A, digit: i8) -> (usize, A::Mask) {
    let negative = arithmetic.mask(|_| Mask::from_bit((digit < 0).into()));
    (usize::from(digit.unsigned_abs() / 2), negative)
}

/// The digits of several numbers.
struct DigitsOfAll<const WIDTH: usize>([Digits<WIDTH>; MAX_WIDTH]);

impl<const WIDTH: usize> DigitsOfAll<WIDTH> {
    /// Recodes these numbers or their successors, whichever are odd.
    fn odd(numbers: &[&Scalar]) -> Self {
        Self::of(numbers, Digits::odd)
    }

    /// Recodes odd numbers congruent to these modulo L.
    fn modulo_order(numbers: &[&Scalar]) -> Self {
        Self::of(numbers, Digits::modulo_order)
    }

    fn of(numbers: &[&Scalar], digits: impl Fn(&Scalar) -> Digits<WIDTH>) -> Self {
        Self(core::array::from_fn(|i| numbers.get(i).map_or(Digits::NONE, |number| digits(number))))
    }

    /// Returns the indices of digits `i` in a row of odd multiples, and which digits are negative.
    #[inline(always)]
    fn at<A: Arithmetic<P25519>>(&self, arithmetic: A, i: usize) -> (A::Word, A::Mask) {
        let index = arithmetic.word(|place| self.0[place].at(i).0);
        (index, arithmetic.mask(|place| Mask::from_bit(self.0[place].at(i).1)))
    }

    /// Returns the multiples by digits `i`, from a table of one point shared by all.
    #[inline(always)]
    fn affine_addend<A: Arithmetic<P25519>>(
        &self,
        arithmetic: A,
        row: &[Limb],
        i: usize,
    ) -> AffineAddend<A> {
        let (addend, negative) = self.magnitude(arithmetic, row, i);
        addend.negate_if(negative)
    }

    /// Returns the multiple by the magnitude of digit `i`, and where the digit is negative.
    #[inline(always)]
    fn magnitude<A: Arithmetic<P25519>>(
        &self,
        arithmetic: A,
        row: &[Limb],
        i: usize,
    ) -> (AffineAddend<A>, A::Mask) {
        let (index, negative) = self.at(arithmetic, i);
        let mut entry = [A::ZERO; 3];
        arithmetic.lookup_stored(&mut entry, row, index);
        (AffineAddend::from_raw(arithmetic, &entry), negative)
    }

    /// Returns the multiples by digits `i`, from each number's own table.
    #[inline(always)]
    fn addend<A: Arithmetic<P25519>>(
        &self,
        arithmetic: A,
        table: &[[A::Element; 4]],
        i: usize,
    ) -> Addend<A> {
        let (index, negative) = self.at(arithmetic, i);
        let mut entry = [A::ZERO; 4];
        arithmetic.lookup(&mut entry, table.as_flattened(), index);
        Addend::from_raw(arithmetic, &entry).negate_if(negative)
    }
}
