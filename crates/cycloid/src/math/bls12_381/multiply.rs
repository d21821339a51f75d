//! Multiples of points by secret scalars, split by endomorphisms.
//!
//! On G1, φ(x, y) = (β·x, y) multiplies by −x², and on G2, ψ multiplies by x. So k = k₀ + k₁·x²
//! splits into two parts of 128 bits, and k = k₀ + k₁·|x| + k₂·|x|² + k₃·|x|³ into four of 64
//! (Galbraith, Lin, Scott, Endomorphisms for faster elliptic curve cryptography on a large class of
//! curves, 2009). The parts share their doublings. Each is read in windows of five bits with digits
//! from −16 to 16 (Booth, A signed binary multiplication technique, 1951), and the additions are
//! complete, so time does not depend on the scalar. For points outside the groups the endomorphisms
//! multiply by something else, and the results are meaningless.

use super::constants::{BETA, PSI_X, PSI_Y, PSI2_X};
use super::fp2::{Field, Fp2, MaskOf};
use super::point::Point;
use super::tower::Fp12;
use super::{Fp, X, x_bits};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Arithmetic, Bls12Base, Wide};
use crate::machine::words::Limb;
use crate::math::field::MAX_WIDTH;

/// Properties of the group of order r on a field's curve: an endomorphism that multiplies by −s,
/// for scalars split by powers of s.
pub(crate) trait Endomorphism: Field {
    /// Parts of a scalar.
    const PARTS: usize;

    /// Bits of a part.
    const PART_BITS: usize;

    /// Applies the endomorphism `times` times: at least once, and less often than there are parts.
    fn endomorphism(point: &Point<Self>, times: usize) -> Point<Self>;

    /// Returns whether a point is in the group; `times_x` returns |x|·P for any point, as
    /// [`times_x`] does.
    fn is_in_group(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> MaskOf<Self::Arithmetic>;

    /// Maps a point of the curve to the group (RFC 9380, section 7).
    fn clear_cofactor(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> Point<Self>;
}

impl<A: Wide<Bls12Base>> Endomorphism for Fp<A> {
    const PARTS: usize = 2;
    const PART_BITS: usize = 128;

    fn endomorphism(point: &Point<Self>, _times: usize) -> Point<Self> {
        let beta = Self::constant_from(point.x.arithmetic(), &BETA);
        Point { x: &point.x * &beta, ..*point }
    }

    /// Tests φ(P) = −x²·P (Scott, A note on group membership tests for G1, G2 and GT on BLS
    /// pairing-friendly curves, 2021, section 6).
    fn is_in_group(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> MaskOf<A> {
        Self::endomorphism(point, 1).equal(&times_x(&times_x(point)).negate())
    }

    /// Returns (1 − x)·P (RFC 9380, section 8.8.1).
    fn clear_cofactor(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> Point<Self> {
        point.add(&times_x(point))
    }
}

impl<A: Wide<Bls12Base>> Endomorphism for Fp2<A> {
    const PARTS: usize = 4;
    const PART_BITS: usize = 64;

    fn endomorphism(point: &Point<Self>, times: usize) -> Point<Self> {
        let f = Field::arithmetic(&point.x);
        if times > 1 {
            // The coefficient of x is in Fp, and that of y is −1.
            let by = Fp::constant_from(f, &PSI2_X);
            let twice = Point { x: point.x.scale(&by), y: point.y.negate(), z: point.z };
            return if times > 2 { Self::endomorphism(&twice, times - 2) } else { twice };
        }
        Point {
            x: point.x.conjugate().mul(&Self::constant(f, &PSI_X)),
            y: point.y.conjugate().mul(&Self::constant(f, &PSI_Y)),
            z: point.z.conjugate(),
        }
    }

    /// Tests ψ(P) = x·P (Scott, section 4).
    fn is_in_group(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> MaskOf<A> {
        Self::endomorphism(point, 1).equal(&times_x(point).negate())
    }

    /// Returns (x² − x − 1)·P + (x − 1)·ψ(P) + ψ²(2P) (RFC 9380, appendix G.3).
    fn clear_cofactor(
        point: &Point<Self>,
        times_x: impl Fn(&Point<Self>) -> Point<Self>,
    ) -> Point<Self> {
        let minus_x = times_x(point);
        let psi = Self::endomorphism(point, 1);
        // x·(x·P + ψ(P)) = −|x|·(ψ(P) − |x|·P).
        let inner = times_x(&psi.add(&minus_x.negate())).negate();
        let rest = minus_x.add(&point.negate()).add(&psi.negate());
        Self::endomorphism(&point.double(), 2).add(&inner).add(&rest)
    }
}

/// Returns |x|·P, for any point.
pub(crate) fn times_x<F: Field>(point: &Point<F>) -> Point<F> {
    let mut multiple = *point;
    let mut doublings = 0;
    for bit in x_bits() {
        doublings += 1;
        if bit {
            multiple = multiple.double_times(doublings).add(point);
            doublings = 0;
        }
    }
    multiple.double_times(doublings)
}

/// Bits of a window.
const WINDOW: usize = 5;

/// Entries of a table: multiples from 0 to 16.
const ENTRIES: usize = (1 << (WINDOW - 1)) + 1;

/// Elements of Fp in the longest table.
const TABLE: usize = ENTRIES * 6;

/// Returns k·P, with the scalar of each number split into [`Endomorphism::PARTS`] parts.
///
/// Points are members of the group.
pub(crate) fn multiply<F: Endomorphism>(
    point: &Point<F>,
    parts: &[[u128; MAX_WIDTH]; 4],
) -> Point<F> {
    multiply_some(point, &parts[..F::PARTS], F::PART_BITS)
}

/// Like [`multiply`], for parts of `bits` bits; with one part, for any point of the curve.
pub(crate) fn multiply_some<F: Endomorphism>(
    point: &Point<F>,
    parts: &[[u128; MAX_WIDTH]],
    bits: usize,
) -> Point<F> {
    let f = point.x.arithmetic();
    let mut table = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; TABLE];
    let table = &mut table[..ENTRIES * Point::<F>::RAW];
    fill(table, point);
    let mut sum = Point::infinity(f);
    for window in (0..(bits + 1).div_ceil(WINDOW)).rev() {
        sum = sum.double_times(WINDOW);
        for (i, part) in parts.iter().enumerate() {
            let digit = |place: usize| digit::<WINDOW>(part[place], window * WINDOW);
            let mut entry = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; 6];
            let entry = &mut entry[..Point::<F>::RAW];
            f.lookup(entry, table, f.word(|place| digit(place).0));
            // The endomorphism of part i has the sign (−1)^i.
            let negative = f.mask(|place| digit(place).1);
            let negative = if i % 2 == 1 { !negative } else { negative };
            let multiple = read(f, entry).negate_if(negative);
            sum = sum.add(&if i > 0 { F::endomorphism(&multiple, i) } else { multiple });
        }
    }
    sum
}

/// Returns k·P for any point of the curve; the same k for each number, with `bits` bits and
/// little-endian limbs. Time depends on `bits`.
#[cfg(feature = "internals")]
pub(crate) fn multiply_integer<F: Endomorphism>(
    point: &Point<F>,
    k: &[Limb],
    bits: usize,
) -> Point<F> {
    let f = point.x.arithmetic();
    let mut table = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; TABLE];
    let table = &mut table[..ENTRIES * Point::<F>::RAW];
    fill(table, point);
    let limb = |i: usize| u128::from(k.get(i).copied().unwrap_or(0));
    let mut sum = Point::infinity(f);
    for window in (0..(bits + 1).div_ceil(WINDOW)).rev() {
        sum = sum.double_times(WINDOW);
        // The window begins with the bit below it, which the lowest window lacks.
        let (magnitude, negative) = match (window * WINDOW).checked_sub(1) {
            None => digit::<WINDOW>(limb(0), 0),
            Some(at) => digit::<WINDOW>(limb(at / 64) | limb(at / 64 + 1) << 64, at % 64 + 1),
        };
        let mut entry = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; 6];
        let entry = &mut entry[..Point::<F>::RAW];
        f.lookup(entry, table, f.word(|_| magnitude));
        sum = sum.add(&read(f, entry).negate_if(f.mask(|_| negative)));
    }
    sum
}

/// Fills a table with the multiples of a point from 0 on, each computed from preceding ones.
#[inline(never)]
fn fill<F: Field>(
    table: &mut [<F::Arithmetic as Arithmetic<Bls12Base>>::Element],
    point: &Point<F>,
) {
    let f = point.x.arithmetic();
    for i in 0..ENTRIES {
        let known = |i: usize| read::<F>(f, &table[i * Point::<F>::RAW..]);
        let multiple = match i {
            0 => Point::infinity(f),
            _ if i % 2 == 0 => known(i / 2).double(),
            _ => known(i - 1).add(point),
        };
        let entry = &mut table[i * Point::<F>::RAW..][..Point::<F>::RAW];
        for (coordinate, raw) in [&multiple.x, &multiple.y, &multiple.z]
            .into_iter()
            .zip(entry.chunks_exact_mut(F::DEGREE))
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

/// Returns the magnitude and the sign of the digit at bit `at`: the window of `W` bits and the bit
/// below it.
#[inline(always)]
pub(crate) fn digit<const W: usize>(part: u128, at: usize) -> (Limb, Mask) {
    let bits = if at == 0 { part << 1 } else { part >> (at - 1) } as Limb & ((2 << W) - 1);
    let negative = Mask::from_bit(bits >> W);
    // ⌈bits / 2⌉, less 2^W if the top bit is set.
    let half = bits.div_ceil(2);
    (negative.select((1 << W) - half, half), negative)
}

/// Splits k, below r, into k = k₀ + k₁·x².
pub(crate) fn split_first(integer: &[u64; 4]) -> [u128; 4] {
    let [k0, k1, k2, k3] = split_second(integer);
    let x = u128::from(X);
    [k0 + k1 * x, k2 + k3 * x, 0, 0]
}

/// Splits k, below r, into k = k₀ + k₁·|x| + k₂·|x|² + k₃·|x|³.
pub(crate) fn split_second(integer: &[u64; 4]) -> [u128; 4] {
    let mut rest = *integer;
    [(); 4].map(|()| {
        let mut remainder = 0;
        for limb in rest.iter_mut().rev() {
            (*limb, remainder) = divide(remainder, *limb);
        }
        remainder.into()
    })
}

/// Returns quotient and remainder of high·2⁶⁴ + low by |x|, for high below |x| (Möller, Granlund,
/// Improved division by invariant integers, 2011, algorithm 4, with its names).
fn divide(high: u64, low: u64) -> (u64, u64) {
    // ⌊(2¹²⁸ − 1) / |x|⌋ − 2⁶⁴; |x| has 64 bits.
    const INVERSE: u64 = (u128::MAX / X as u128) as u64;
    let estimate =
        u128::from(INVERSE) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let (q1, q0) = ((estimate >> 64) as u64, estimate as u64);
    let q = q1.wrapping_add(1);
    let r = low.wrapping_sub(q.wrapping_mul(X));
    let too_much = Mask::from_bit(q0.overflowing_sub(r).1.into());
    let (q, r) = (q.wrapping_add(too_much.value()), r.wrapping_add(too_much.value() & X));
    let enough = !Mask::from_bit(r.overflowing_sub(X).1.into());
    (q.wrapping_sub(enough.value()), r.wrapping_sub(enough.value() & X))
}

/// Returns a^k for a member of GT, where p-th powers are x-th powers, from the four parts of each
/// k.
pub(crate) fn pow_in_group<A: Wide<Bls12Base>>(
    a: &Fp12<A>,
    parts: &[[u128; MAX_WIDTH]; 4],
) -> Fp12<A> {
    const RAW: usize = 12;
    let f = a.arithmetic();
    let mut table = [A::ZERO; ENTRIES * RAW];
    for i in 0..ENTRIES {
        let known = |i: usize| Fp12::read(f, &table[i * RAW..][..RAW]);
        let power = match i {
            0 => Fp12::one(f),
            _ if i % 2 == 0 => known(i / 2).square_cyclotomic(),
            _ => known(i - 1).mul(a),
        };
        power.write(&mut table[i * RAW..][..RAW]);
    }
    let mut product = Fp12::one(f);
    for window in (0..(64 + 1usize).div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            product = product.square_cyclotomic();
        }
        for (i, part) in parts.iter().enumerate() {
            let digit = |place: usize| digit::<WINDOW>(part[place], window * WINDOW);
            let mut entry = [A::ZERO; RAW];
            f.lookup(&mut entry, &table, f.word(|place| digit(place).0));
            let mut power = Fp12::read(f, &entry);
            for _ in 0..i {
                power = power.frobenius();
            }
            let negative = f.mask(|place| digit(place).1);
            let negative = if i % 2 == 1 { !negative } else { negative };
            product = product.mul(&Fp12::select(negative, &power.conjugate(), &power));
        }
    }
    product
}

/// Wipes the parts of scalars.
pub(crate) fn wipe_parts(parts: &mut [u128]) {
    for part in parts {
        let mut limbs = [*part as u64, (*part >> 64) as u64];
        ct::wipe(&mut limbs);
        *part = u128::from(limbs[0]);
    }
}
