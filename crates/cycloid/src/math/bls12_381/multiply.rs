//! Multiples of points by secret scalars, split by endomorphisms.
//!
//! On G1, φ(x, y) = (β·x, y) multiplies by −x², and on G2, ψ multiplies by x; so that k = k₀ + k₁·x²
//! falls into two parts of 128 bits, and k = k₀ + k₁·|x| + k₂·|x|² + k₃·|x|³ into four of 64 (Galbraith,
//! Lin, Scott, Endomorphisms for faster elliptic curve cryptography on a large class of curves, 2009).
//! The parts share their doublings. Each is taken in windows of five bits with digits from −16 to 16
//! (Booth, A signed binary multiplication technique, 1951), and the additions are complete, so that
//! nothing depends on the scalar. For points outside the groups the endomorphisms multiply by something
//! else: the results mean nothing for them.

use super::constants::{BETA, PSI_X, PSI_Y, PSI2_X};
use super::fp2::{Field, Fp2};
use super::point::Point;
use super::{Fp, X, x_bits};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Arithmetic, Bls12Base, Masks, Wide};
use crate::machine::words::Limb;
use crate::math::field::MAX_WIDTH;

/// A curve's endomorphism that multiplies by −s in its group, where the scalar is split by powers of
/// s.
pub(crate) trait Endomorphism: Sized {
    /// Parts of a scalar.
    const PARTS: usize;

    /// Bits of a part.
    const PART_BITS: usize;

    /// It, so many times: from 1 to one less than there are parts.
    fn endomorphism(&self, times: usize) -> Self;

    /// Whether a point is in the group of order r.
    fn is_in_group(&self) -> <Self::Arithmetic as Arithmetic<Bls12Base>>::Mask;

    /// The point of the group that one of the curve is brought to (RFC 9380, section 7).
    fn clear_cofactor(&self) -> Self;

    /// The backend.
    type Arithmetic: Wide<Bls12Base>;
}

impl<A: Wide<Bls12Base>> Endomorphism for Point<Fp<A>> {
    const PARTS: usize = 2;
    const PART_BITS: usize = 128;
    type Arithmetic = A;

    fn endomorphism(&self, _times: usize) -> Self {
        let beta = Fp::constant_from(self.x.arithmetic(), &BETA);
        Self { x: &self.x * &beta, ..*self }
    }

    /// Whether φ(P) = −x²·P (Scott, A note on group membership tests for G1, G2 and GT on BLS
    /// pairing-friendly curves, 2021, section 6).
    fn is_in_group(&self) -> A::Mask {
        self.endomorphism(1).equal(&times_x(&times_x(self)).negate())
    }

    /// (1 − x)·P (RFC 9380, section 8.8.1).
    fn clear_cofactor(&self) -> Self {
        self.add(&times_x(self))
    }
}

impl<A: Wide<Bls12Base>> Endomorphism for Point<Fp2<A>> {
    const PARTS: usize = 4;
    const PART_BITS: usize = 64;
    type Arithmetic = A;

    fn endomorphism(&self, times: usize) -> Self {
        let f = Field::arithmetic(&self.x);
        if times > 1 {
            // The coefficient is in Fp, and that of y is −1.
            let by = Fp::constant_from(f, &PSI2_X);
            let twice = Self { x: self.x.scale(&by), y: self.y.negate(), z: self.z };
            return if times > 2 { twice.endomorphism(times - 2) } else { twice };
        }
        Self {
            x: self.x.conjugate().mul(&Fp2::constant(f, &PSI_X)),
            y: self.y.conjugate().mul(&Fp2::constant(f, &PSI_Y)),
            z: self.z.conjugate(),
        }
    }

    /// Whether ψ(P) = x·P (Scott, section 4).
    fn is_in_group(&self) -> A::Mask {
        self.endomorphism(1).equal(&times_x(self).negate())
    }

    /// (x² − x − 1)·P + (x − 1)·ψ(P) + ψ²(2P) (RFC 9380, appendix G.3).
    fn clear_cofactor(&self) -> Self {
        let minus_x = times_x(self);
        let psi = self.endomorphism(1);
        // x·(x·P + ψ(P)) = −|x|·(ψ(P) − |x|·P).
        let inner = times_x(&psi.add(&minus_x.negate())).negate();
        let rest = minus_x.add(&self.negate()).add(&psi.negate());
        self.double().endomorphism(2).add(&inner).add(&rest)
    }
}

/// |x|·P, of any point.
fn times_x<F: Field>(point: &Point<F>) -> Point<F> {
    let mut multiple = *point;
    for bit in x_bits() {
        multiple = multiple.double();
        if bit {
            multiple = multiple.add(point);
        }
    }
    multiple
}

/// Bits of a window.
const WINDOW: usize = 5;

/// Entries of a table: multiples from 0 to 16.
const ENTRIES: usize = (1 << (WINDOW - 1)) + 1;

/// Elements of Fp in the longest table.
const TABLE: usize = ENTRIES * 6;

/// k·P, where the scalar of each of the numbers is split into [`Endomorphism::PARTS`] parts.
///
/// Points are members of the group.
pub(crate) fn multiply<F: Field>(point: &Point<F>, parts: &[[u128; MAX_WIDTH]; 4]) -> Point<F>
where
    Point<F>: Endomorphism,
{
    multiply_some(point, &parts[..Point::<F>::PARTS], Point::<F>::PART_BITS)
}

/// The same for parts of `bits` bits; of one part, for any point of the curve.
pub(crate) fn multiply_some<F: Field>(
    point: &Point<F>,
    parts: &[[u128; MAX_WIDTH]],
    bits: usize,
) -> Point<F>
where
    Point<F>: Endomorphism,
{
    let f = point.x.arithmetic();
    let mut table = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; TABLE];
    let table = &mut table[..ENTRIES * Point::<F>::RAW];
    fill(table, point);
    let mut sum = Point::infinity(f);
    for window in (0..(bits + 1).div_ceil(WINDOW)).rev() {
        sum = sum.double_times(WINDOW);
        for (i, part) in parts.iter().enumerate() {
            let digit = |place: usize| digit(part[place], window * WINDOW);
            let mut entry = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; 6];
            let entry = &mut entry[..Point::<F>::RAW];
            f.lookup(entry, table, f.word(|place| digit(place).0));
            // Of part i the endomorphism has the sign of (−1)^i.
            let negative = f.mask(|place| digit(place).1);
            let negative = if i % 2 == 1 { !negative } else { negative };
            let multiple = read(f, entry).negate_if(negative);
            sum = sum.add(&if i > 0 { multiple.endomorphism(i) } else { multiple });
        }
    }
    sum
}

/// Multiples of a point from 0 on.
fn fill<F: Field>(table: &mut [<F::Arithmetic as Arithmetic<Bls12Base>>::Element], point: &Point<F>) {
    let mut multiples = [Point::infinity(point.x.arithmetic()); ENTRIES];
    for i in 1..ENTRIES {
        multiples[i] =
            if i % 2 == 0 { multiples[i / 2].double() } else { multiples[i - 1].add(point) };
    }
    for (entry, multiple) in table.chunks_exact_mut(Point::<F>::RAW).zip(&multiples) {
        for (coordinate, raw) in
            [&multiple.x, &multiple.y, &multiple.z].into_iter().zip(entry.chunks_exact_mut(F::DEGREE))
        {
            coordinate.write(raw);
        }
    }
}

fn read<F: Field>(
    arithmetic: F::Arithmetic,
    entry: &[<F::Arithmetic as Arithmetic<Bls12Base>>::Element],
) -> Point<F> {
    let coordinate = |i: usize| F::read(arithmetic, &entry[i * F::DEGREE..]);
    Point { x: coordinate(0), y: coordinate(1), z: coordinate(2) }
}

/// The magnitude and the sign of the digit at bit `at`: the window and the bit below it.
#[inline(always)]
pub(crate) fn digit(part: u128, at: usize) -> (Limb, Mask) {
    let bits = if at == 0 { part << 1 } else { part >> (at - 1) } as Limb & ((2 << WINDOW) - 1);
    let negative = Mask::from_bit(bits >> WINDOW);
    // ⌈bits / 2⌉, less 2^WINDOW where the top bit is set.
    let half = bits.div_ceil(2);
    (negative.select((1 << WINDOW) - half, half), negative)
}

/// k = k₀ + k₁·x².
pub(crate) fn split_first(integer: &[u64; 4]) -> [u128; 4] {
    let (high, low) = divide(integer, (X as u128) * (X as u128));
    [low, high, 0, 0]
}

/// k = k₀ + k₁·|x| + k₂·|x|² + k₃·|x|³.
pub(crate) fn split_second(integer: &[u64; 4]) -> [u128; 4] {
    let [low, high, ..] = split_first(integer);
    let two = |part: u128| divide(&[part as u64, (part >> 64) as u64, 0, 0], X.into());
    let ((k1, k0), (k3, k2)) = (two(low), two(high));
    [k0, k1, k2, k3]
}

/// Quotient, which fits, and remainder, bit by bit.
fn divide(integer: &[u64; 4], by: u128) -> (u128, u128) {
    let (mut quotient, mut remainder) = (0u128, 0u128);
    for limb in integer.iter().rev() {
        for bit in (0..64).rev() {
            let out = (remainder >> 127) as u64;
            let shifted = remainder << 1 | u128::from(limb >> bit & 1);
            let (difference, below) = shifted.overflowing_sub(by);
            // Where a bit went out, the difference is right though it seems negative.
            let enough = Mask::from_bit(out | u64::from(!below));
            let mask = u128::from(enough.value()) << 64 | u128::from(enough.value());
            remainder = shifted ^ (mask & (shifted ^ difference));
            quotient = quotient << 1 | (mask & 1);
        }
    }
    (quotient, remainder)
}

/// Wipes the parts of scalars.
pub(crate) fn wipe_parts(parts: &mut [[u128; MAX_WIDTH]; 4]) {
    for part in parts.as_flattened_mut() {
        let mut limbs = [*part as u64, (*part >> 64) as u64];
        ct::wipe(&mut limbs);
        *part = u128::from(limbs[0]);
    }
}
