//! Multiples of points on edwards25519.

use super::half_size::{HalfSize, half_size_vartime};
use super::scalar::{Digits, Scalar, SparseDigits, non_adjacent_form_vartime};
use super::{Addend, AffineAddend, Completed, Field, Point, Stored, TWICE_D};
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, CurveArithmetic, Masks, P25519};
use crate::machine::words::Limb;
use crate::math::curve::tables::{
    EDWARDS25519_BASE_EIGHT, EDWARDS25519_BASE_ONE, EDWARDS25519_BASE_SMALL,
    EDWARDS25519_ODD_EIGHT, EDWARDS25519_ODD_ONE, SIZE, Size,
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

/// The base point.
const BASE: Stored = [
    0xc956_2d60_8f25_d51a,
    0x692c_c760_9525_a7b2,
    0xc0a4_e231_fdd6_dc5c,
    0x2169_36d3_cd6e_53fe,
    0x6666_6666_6666_6658,
    0x6666_6666_6666_6666,
    0x6666_6666_6666_6666,
    0x6666_6666_6666_6666,
    1,
    0,
    0,
    0,
    0x6dde_8ab3_a5b7_dda3,
    0x20f0_9f80_7751_52f5,
    0x66ea_4e8e_64ab_e37d,
    0x6787_5f0f_d78b_7665,
];

/// Odd multiples of the base point for digits of [`BASE_WIDTH`] bits: a row for every `spacing`th
/// digit.
pub(super) struct BaseTable {
    pub(super) spacing: usize,
    pub(super) limbs: &'static [Limb],
}

impl BaseTable {
    pub(super) const LARGE: Self = Self { spacing: 1, limbs: &EDWARDS25519_BASE_ONE };
    pub(super) const SMALL: Self = Self { spacing: 17, limbs: &EDWARDS25519_BASE_SMALL };
    pub(super) const NONE: Self = Self { spacing: 1, limbs: &[] };
    const EIGHT: Self = Self { spacing: 1, limbs: &EDWARDS25519_BASE_EIGHT };

    /// Returns the table of the size that the features choose; for eight there is one size.
    const fn of<A: Arithmetic<P25519>>() -> Self {
        match SIZE {
            _ if A::WIDTH > 1 => Self::EIGHT,
            Size::Large => Self::LARGE,
            Size::Small => Self::SMALL,
            Size::None => Self::NONE,
        }
    }
}

/// The odd multiples of the base point for the non-adjacent form of one number, and the bits per
/// digit.
pub(super) struct SparseBaseTable {
    width: usize,
    limbs: &'static [Limb],
}

impl SparseBaseTable {
    pub(super) const LARGE: Self = Self { width: ODD_WIDTH + 1, limbs: &EDWARDS25519_ODD_ONE };
    // The first row has the smallest multiples.
    pub(super) const SMALL: Self = Self { width: BASE_WIDTH + 1, limbs: &EDWARDS25519_BASE_SMALL };
    pub(super) const NONE: Self = Self { width: SPARSE_WIDTH, limbs: &[] };

    /// The table of the size that the features choose.
    const CHOSEN: Self = match SIZE {
        Size::Large => Self::LARGE,
        Size::Small => Self::SMALL,
        Size::None => Self::NONE,
    };
}

/// Where half a base point multiple begins that is computed in two halves, and the row of the base
/// point's table with the multiples of 2^[`SPLIT`].
const SPLIT: usize = SPLIT_ROW * BASE_WIDTH;
const SPLIT_ROW: usize = 25;

/// Returns the number of odd numbers below 2^`width`.
const fn entries(width: usize) -> usize {
    1 << (width - 1)
}

impl<A: CurveArithmetic<P25519>> Point<A> {
    /// Returns the base point times [`WIDTH`](Arithmetic::WIDTH) numbers.
    #[inline(always)]
    pub(super) fn multiply_base(arithmetic: A, scalars: &[&Scalar]) -> Self {
        Self::multiply_base_from(arithmetic, scalars, const { &BaseTable::of::<A>() })
    }

    /// Returns the base point times numbers by a given table: the sum of each digit's multiple from
    /// a row, where digits that share the rows are apart by doublings.
    #[inline(always)]
    pub(super) fn multiply_base_from(
        arithmetic: A,
        scalars: &[&Scalar],
        table: &BaseTable,
    ) -> Self {
        let &BaseTable { spacing, limbs } = table;
        if limbs.is_empty() {
            return Self::load(arithmetic, &[&BASE; MAX_WIDTH][..A::WIDTH]).multiply(scalars);
        }
        let digits = DigitsOfAll::<BASE_WIDTH>::modulo_order(scalars);
        let row = entries(BASE_WIDTH) * 3 * A::STORED_LIMBS;
        let mut sum = digits.affine_addend(arithmetic, &limbs[..row], spacing - 1).extended();
        if A::LOOKS_UP_MEANWHILE && spacing == 1 {
            return sum.reduced().add_each(&digits, &limbs[row..]);
        }
        for place in (0..spacing).rev() {
            let first = place == spacing - 1;
            if !first {
                sum = sum.double_times(BASE_WIDTH);
            }
            for (i, row) in limbs.chunks_exact(row).enumerate().skip(usize::from(first)) {
                let (addend, negative) = digits.magnitude(arithmetic, row, i * spacing + place);
                sum = sum.plus_affine(&addend, negative);
            }
        }
        sum
    }

    /// Adds to one point each digit's multiple, from digit 1 on, from its row of the table. A row
    /// is read during the addition before.
    #[inline(always)]
    fn add_each(&self, digits: &DigitsOfAll<BASE_WIDTH>, table: &[Limb]) -> Self {
        let arithmetic = self.x.arithmetic();
        let mut rows = table.chunks_exact(entries(BASE_WIDTH) * 3 * A::STORED_LIMBS);
        let Some(first) = rows.next() else {
            return *self;
        };
        let mut sum = self.raw();
        let mut addend = digits.affine_addend(arithmetic, first, 1).raw();
        for (i, row) in rows.enumerate() {
            let (index, negative) = digits.at(arithmetic, i + 2);
            arithmetic.add_edwards_then_look_up(&mut sum, &mut addend, row, index, negative);
        }
        Self::from_raw(arithmetic, &arithmetic.add_edwards(&sum, &addend, A::Mask::none()))
    }

    /// Returns the same point with X and Y as integers below the prime; for one point.
    #[inline(always)]
    fn reduced(&self) -> Self {
        let reduced = |coordinate: &Field<A>| {
            let mut number = [[0; 4]];
            coordinate.store(&mut number);
            Field::load(coordinate.arithmetic(), &number)
        };
        Self { x: reduced(&self.x), y: reduced(&self.y), ..*self }
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
            self.multiply_sparsely_vartime(scalars[0], base_scalars[0], &SparseBaseTable::CHOSEN)
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
        // Only the form for eight adds multiples of the base point here.
        let base_table = &EDWARDS25519_ODD_EIGHT;
        let digits = DigitsOfAll::<WIDTH>::odd(scalars);
        let base_digits = base_scalars.map(DigitsOfAll::<ODD_WIDTH>::modulo_order);

        let mut sum = Completed::neutral(arithmetic).extended();
        let mut doublings = 0;
        for bit in (0..=TOP_WINDOW).rev() {
            doublings += 1;
            // One number's code does not contain the table of eight.
            let adds_base = A::WIDTH > 1 && bit % ODD_WIDTH == 0;
            let base_digits = base_digits.as_ref().filter(|_| adds_base);
            if bit % WIDTH != 0 && base_digits.is_none() {
                continue;
            }
            sum = sum.double_times(doublings);
            doublings = 0;
            if bit % WIDTH == 0 {
                let added = sum.add(&digits.addend(arithmetic, &table, bit / WIDTH));
                // Doublings do not read T.
                let needs_t = base_digits.is_some() || bit == 0;
                sum = if needs_t { added.extended() } else { added.projective() };
            }
            if let Some(base_digits) = base_digits {
                let digit = bit / ODD_WIDTH;
                let (addend, negative) = base_digits.magnitude(arithmetic, base_table, digit);
                sum = sum.plus_affine(&addend, negative);
            }
        }
        // An even number was replaced by the next one.
        let even = arithmetic.mask(|place| !Mask::from_bit(scalars[place].limbs()[0] & 1));
        let less = sum.add(&self.negate().addend(&twice_d)).extended();
        Self::select(even, &less, &sum)
    }

    /// Handles one point, skipping digits of 0.
    #[inline(always)]
    pub(super) fn multiply_sparsely_vartime(
        &self,
        scalar: &Scalar,
        base_scalar: &Scalar,
        base_table: &SparseBaseTable,
    ) -> Self {
        let arithmetic = self.x.arithmetic();
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        let table = self.odd_multiples::<SPARSE_ENTRIES>(&twice_d);
        let term = (&table, non_adjacent_form_vartime(scalar.limbs(), SPARSE_WIDTH));
        let base_digits = non_adjacent_form_vartime(base_scalar.limbs(), base_table.width);
        if base_table.limbs.is_empty() {
            let base = Self::load(arithmetic, &[&BASE]).odd_multiples(&twice_d);
            return sum_vartime(arithmetic, [term, (&base, base_digits)], []);
        }
        sum_vartime(arithmetic, [term], [(base_table.limbs, base_digits)])
    }

    /// Returns an odd multiple, which is not a multiple of L, of S·B − k·P − R, for the base point
    /// B, S = `base_scalar`, k = `scalar`, P = `self` and R = `other`; for one point. With the
    /// large table it is the one of [`EquationDigits`].
    #[inline(always)]
    pub(super) fn multiple_of_difference_vartime(
        &self,
        scalar: &Scalar,
        base_scalar: &Scalar,
        other: &Self,
    ) -> Self {
        let arithmetic = self.x.arithmetic();
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        if !matches!(SIZE, Size::Large) {
            // The second half of d·S needs the large table, so d is 1.
            let table = SparseBaseTable::CHOSEN;
            let sum = self.negate().multiply_sparsely_vartime(scalar, base_scalar, &table);
            return sum.add(&other.negate().addend(&twice_d)).extended();
        }
        let EquationDigits { point, other: other_digits, low, high } =
            EquationDigits::new_vartime(scalar, base_scalar);
        let table = self.odd_multiples::<SPARSE_ENTRIES>(&twice_d);
        let other_table = other.odd_multiples::<SPARSE_ENTRIES>(&twice_d);
        let [low_table, high_table] = EquationDigits::base_tables();
        sum_vartime(
            arithmetic,
            [(&table, point), (&other_table, other_digits)],
            [(low_table, low), (high_table, high)],
        )
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

/// The digits of an odd multiple, which is not a multiple of L, of S·B − k·P − R, for the base
/// point B.
///
/// The factor d has no divisor in common with 8·L, the order of the group. So d·X is neutral if and
/// only if X is, and of small order if and only if X is. With c = d·k modulo 8·L, also for a P of
/// order 8·L, the result is (d·S)·B − c·P − d·R. d and c have half the length of k, and d·S is
/// split in two, so there are half as many doublings. The second half needs the large table.
pub(super) struct EquationDigits {
    /// For P.
    pub(super) point: SparseDigits,
    /// For R.
    pub(super) other: SparseDigits,
    /// For the two [tables](Self::base_tables) of the base point's multiples.
    pub(super) low: SparseDigits,
    pub(super) high: SparseDigits,
}

impl EquationDigits {
    /// Returns the digits for k = `scalar` and S = `base_scalar`.
    pub(super) fn new_vartime(scalar: &Scalar, base_scalar: &Scalar) -> Self {
        let HalfSize { c, d, negative } = half_size_vartime(scalar);
        let base_scalar = Scalar::reduced(&d, &[0; 4]).multiply_add(base_scalar, &Scalar::ZERO);
        let [low, high] = base_scalar.split::<SPLIT>();
        let point = non_adjacent_form_vartime(&c, SPARSE_WIDTH);
        Self {
            point: if negative { point } else { point.map(|digit| -digit) },
            other: non_adjacent_form_vartime(&d, SPARSE_WIDTH).map(|digit| -digit),
            low: non_adjacent_form_vartime(&low, SparseBaseTable::LARGE.width),
            high: non_adjacent_form_vartime(&high, BASE_WIDTH + 1),
        }
    }

    /// Returns the odd multiples of the base point and of 2^[`SPLIT`] times that, as constants for
    /// one number; empty without the large table.
    pub(super) fn base_tables() -> [&'static [Limb]; 2] {
        let high = EDWARDS25519_BASE_ONE.get(SPLIT_ROW * entries(BASE_WIDTH) * 3 * 4..);
        [&EDWARDS25519_ODD_ONE, high.unwrap_or(&[])]
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

/// The odd multiples of a point for sparse digits.
type SparseTable<A> = [[<A as Arithmetic<P25519>>::Element; 4]; SPARSE_ENTRIES];

/// Returns a sum of multiples: of each point by the number with these sparse digits, from a table
/// of the point's odd multiples, and the same for tables of the base point's in their stored form.
#[inline(always)]
fn sum_vartime<A: CurveArithmetic<P25519>, const N: usize, const M: usize>(
    arithmetic: A,
    terms: [(&SparseTable<A>, SparseDigits); N],
    base_terms: [(&[Limb], SparseDigits); M],
) -> Point<A> {
    let all = || terms.iter().map(|term| &term.1).chain(base_terms.iter().map(|term| &term.1));
    let used = all().filter_map(|digits| digits.iter().rposition(|digit| *digit != 0)).max();
    let mut sum = Completed::neutral(arithmetic).extended().raw();
    let mut doublings = 0;
    for bit in (0..=used.unwrap_or(0)).rev() {
        let mut left = all().filter(|digits| digits[bit] != 0).count();
        if doublings != 0 && (left != 0 || bit == 0) {
            arithmetic.double_edwards(&mut sum, doublings);
            doublings = 0;
        }
        for (table, digits) in &terms {
            let digit = digits[bit];
            if digit != 0 {
                left -= 1;
                let [addend @ .., z] = &table[usize::from(digit.unsigned_abs() / 2)];
                arithmetic.add_edwards_vartime(
                    &mut sum,
                    addend,
                    Some(z),
                    digit < 0,
                    left != 0 || bit == 0,
                );
            }
        }
        for (table, digits) in &base_terms {
            let digit = digits[bit];
            if digit != 0 {
                left -= 1;
                let entry = &table[usize::from(digit.unsigned_abs() / 2) * 3 * A::STORED_LIMBS..];
                let coordinate =
                    |i: usize| arithmetic.stored(&entry[i * A::STORED_LIMBS..][..A::STORED_LIMBS]);
                let addend = core::array::from_fn(coordinate);
                arithmetic.add_edwards_vartime(
                    &mut sum,
                    &addend,
                    None,
                    digit < 0,
                    left != 0 || bit == 0,
                );
            }
        }
        doublings += 1;
    }
    Point::from_raw(arithmetic, &sum)
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
