//! Differences between the two groups, and the memory layout of their points.

use core::ops::Range;

use super::super::backend::{First, Second, SourceGroup};
use crate::machine::ct::Mask;
use crate::machine::field::{Bls12Base, Dense, Spread, Wide};
use crate::machine::words::{self, Limb};
use crate::math::bls12_381::spread::{self, OfFp, OfFp2};
use crate::math::bls12_381::{
    self, Endomorphism, Field, Fp, Fp2, Mapped, Packed, Point, Words, constants,
};
use crate::math::curve::tables;
use crate::math::field::MAX_WIDTH;

/// The coordinates of one of the two groups in memory.
pub trait Coordinates: SourceGroup {
    /// A coordinate. It has no `==`, which would stop at the first different byte.
    type Memory: Copy + Send + Sync + core::fmt::Debug + 'static;
}

impl Coordinates for First {
    type Memory = Words;
}

impl Coordinates for Second {
    type Memory = [Words; 2];
}

/// The parameters of one of the two groups.
pub(in super::super) trait Curve: Coordinates {
    /// The field of the coordinates.
    type Field<A: Wide<Bls12Base>>: Field<Arithmetic = A, Memory = Self::Memory>
        + Mapped
        + Endomorphism
        + Packed;

    /// The coordinates of points side by side on vectors.
    type SideBySide<A: Spread>: spread::Coordinates<Arithmetic = A, Memory = Self::Memory>;

    /// Number of parts of a scalar, and bits per part.
    const PARTS: usize;
    const PART_BITS: usize;

    const ZERO: Self::Memory;
    const ONE: Self::Memory;
    const GENERATOR: [Self::Memory; 2];

    /// Multiples of the generator, for one number.
    fn table() -> &'static [Limb];

    /// Returns the words of a coordinate.
    fn words(coordinate: &Self::Memory) -> &[Limb];

    /// Returns a + b, a − b and a · b of coordinates, and a², on one number.
    fn add(a: &Self::Memory, b: &Self::Memory) -> Self::Memory;
    fn sub(a: &Self::Memory, b: &Self::Memory) -> Self::Memory;
    fn mul(a: &Self::Memory, b: &Self::Memory) -> Self::Memory;
    fn square(a: &Self::Memory) -> Self::Memory;

    /// Splits a scalar into its parts.
    fn split(integer: &[u64; 4]) -> [u128; 4];

    /// Returns a small integer as a coordinate.
    #[cfg(test)]
    fn small(integer: u64) -> Self::Memory;

    /// Converts between a coordinate as an integer and its bytes.
    fn from_bytes(bytes: &Self::Compressed) -> Self::Memory;
    fn to_bytes(coordinate: &Self::Memory) -> Self::Compressed;
}

fn words_from_bytes(bytes: &[u8]) -> Words {
    let mut limbs = [0; 6];
    words::from_be_bytes(&mut limbs, bytes);
    limbs
}

impl Curve for First {
    type Field<A: Wide<Bls12Base>> = Fp<A>;
    type SideBySide<A: Spread> = OfFp<A>;
    const PARTS: usize = 2;
    const PART_BITS: usize = 128;
    const ZERO: Words = [0; 6];
    const ONE: Words = constants::ONE;
    const GENERATOR: [Words; 2] = [constants::G1_X, constants::G1_Y];

    fn words(coordinate: &Words) -> &[Limb] {
        coordinate
    }

    fn table() -> &'static [Limb] {
        &tables::BLS12_381_G1
    }

    #[inline]
    fn add(a: &Words, b: &Words) -> Words {
        Bls12Base::add_words(a, b)
    }

    #[inline]
    fn sub(a: &Words, b: &Words) -> Words {
        Bls12Base::sub_words(a, b)
    }

    #[inline]
    fn mul(a: &Words, b: &Words) -> Words {
        Bls12Base::mul_words(a, b)
    }

    #[inline]
    fn square(a: &Words) -> Words {
        Bls12Base::square_words(a)
    }

    fn split(integer: &[u64; 4]) -> [u128; 4] {
        bls12_381::split_first(integer)
    }

    #[cfg(test)]
    fn small(integer: u64) -> Words {
        [integer, 0, 0, 0, 0, 0]
    }

    fn from_bytes(bytes: &[u8; 48]) -> Words {
        words_from_bytes(bytes)
    }

    fn to_bytes(coordinate: &Words) -> [u8; 48] {
        let mut bytes = [0; 48];
        words::to_be_bytes(&mut bytes, coordinate);
        bytes
    }
}

impl Curve for Second {
    type Field<A: Wide<Bls12Base>> = Fp2<A>;
    type SideBySide<A: Spread> = OfFp2<A>;
    const PARTS: usize = 4;
    const PART_BITS: usize = 64;
    const ZERO: [Words; 2] = [[0; 6]; 2];
    const ONE: [Words; 2] = [constants::ONE, [0; 6]];
    const GENERATOR: [[Words; 2]; 2] = [constants::G2_X, constants::G2_Y];

    fn words(coordinate: &[Words; 2]) -> &[Limb] {
        coordinate.as_flattened()
    }

    fn table() -> &'static [Limb] {
        &tables::BLS12_381_G2
    }

    #[inline]
    fn add(a: &[Words; 2], b: &[Words; 2]) -> [Words; 2] {
        [0, 1].map(|i| Bls12Base::add_words(&a[i], &b[i]))
    }

    #[inline]
    fn sub(a: &[Words; 2], b: &[Words; 2]) -> [Words; 2] {
        [0, 1].map(|i| Bls12Base::sub_words(&a[i], &b[i]))
    }

    #[inline]
    fn mul(a: &[Words; 2], b: &[Words; 2]) -> [Words; 2] {
        Bls12Base::mul_complex_words(a, b)
    }

    #[inline]
    fn square(a: &[Words; 2]) -> [Words; 2] {
        Bls12Base::square_complex_words(a)
    }

    fn split(integer: &[u64; 4]) -> [u128; 4] {
        bls12_381::split_second(integer)
    }

    #[cfg(test)]
    fn small(integer: u64) -> [Words; 2] {
        [First::small(integer), First::small(integer / 2)]
    }

    fn from_bytes(bytes: &[u8; 96]) -> [Words; 2] {
        [words_from_bytes(&bytes[48..]), words_from_bytes(&bytes[..48])]
    }

    fn to_bytes(coordinate: &[Words; 2]) -> [u8; 96] {
        let mut bytes = [0; 96];
        words::to_be_bytes(&mut bytes[48..], &coordinate[0]);
        words::to_be_bytes(&mut bytes[..48], &coordinate[1]);
        bytes
    }
}

/// A point in memory: homogeneous coordinates.
pub(super) type Memory3<G> = [<G as Coordinates>::Memory; 3];

/// A point in memory: affine coordinates, or zeros for infinity.
pub(super) type Memory2<G> = [<G as Coordinates>::Memory; 2];

/// Returns one coordinate of each of the points.
fn column<G: Curve, A: Wide<Bls12Base>, const N: usize>(
    f: A,
    points: &[[G::Memory; N]],
    coordinate: usize,
) -> G::Field<A> {
    if A::WIDTH == 1 {
        return G::Field::<A>::import(f, &[points[0][coordinate]]);
    }
    let mut column = [G::ZERO; MAX_WIDTH];
    column.iter_mut().zip(points).for_each(|(value, point)| *value = point[coordinate]);
    G::Field::<A>::import(f, &column[..A::WIDTH])
}

/// Writes one coordinate of each of the points.
fn write_column<G: Curve, A: Wide<Bls12Base>, const N: usize>(
    value: &G::Field<A>,
    points: &mut [[G::Memory; N]],
    coordinate: usize,
) {
    if A::WIDTH == 1 {
        return value.export(core::slice::from_mut(&mut points[0][coordinate]));
    }
    let mut column = [G::ZERO; MAX_WIDTH];
    value.export(&mut column[..A::WIDTH]);
    points.iter_mut().zip(column).for_each(|(point, value)| point[coordinate] = value);
}

pub(super) fn import<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    points: &[Memory3<G>],
) -> Point<G::Field<A>> {
    Point {
        x: column::<G, A, 3>(f, points, 0),
        y: column::<G, A, 3>(f, points, 1),
        z: column::<G, A, 3>(f, points, 2),
    }
}

pub(super) fn export<G: Curve, A: Wide<Bls12Base>>(
    point: &Point<G::Field<A>>,
    points: &mut [Memory3<G>],
) {
    write_column::<G, A, 3>(&point.x, points, 0);
    write_column::<G, A, 3>(&point.y, points, 1);
    write_column::<G, A, 3>(&point.z, points, 2);
}

/// Loads finite points.
pub(super) fn import_affine<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    points: &[Memory2<G>],
) -> bls12_381::Affine<G::Field<A>> {
    bls12_381::Affine { x: column::<G, A, 2>(f, points, 0), y: column::<G, A, 2>(f, points, 1) }
}

/// Loads the same finite point in each of the numbers.
pub(super) fn import_one<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    point: &Memory2<G>,
) -> bls12_381::Affine<G::Field<A>> {
    let [x, y] = point;
    bls12_381::Affine { x: Field::constant(f, x), y: Field::constant(f, y) }
}

/// Loads the points from the start of a range; the last one fills missing places.
#[inline(always)]
pub(super) fn import_some<'a, G: Curve, A: Wide<Bls12Base>>(
    f: A,
    range: Range<usize>,
    point: &impl Fn(usize) -> &'a Memory2<G>,
) -> bls12_381::Affine<G::Field<A>>
where
    G::Memory: 'a,
{
    if A::WIDTH == 1 {
        return import_affine::<G, A>(f, core::slice::from_ref(point(range.start)));
    }
    let at = |place: usize| (range.start + place).min(range.end - 1);
    import_affine::<G, A>(f, &core::array::from_fn::<_, MAX_WIDTH, _>(|place| *point(at(place))))
}

pub(super) fn export_affine<G: Curve, A: Wide<Bls12Base>>(
    point: &bls12_381::Affine<G::Field<A>>,
    points: &mut [Memory2<G>],
) {
    write_column::<G, A, 2>(&point.x, points, 0);
    write_column::<G, A, 2>(&point.y, points, 1);
}

/// Converts to homogeneous coordinates.
pub(super) fn to_memory3<G: Curve>(a: &Memory2<G>) -> Memory3<G> {
    if is_zero::<G>(a) { [G::ZERO, G::ONE, G::ZERO] } else { [a[0], a[1], G::ONE] }
}

/// Returns whether a point is infinity, which becomes public.
pub(super) fn is_zero<G: Curve>(coordinates: &[G::Memory]) -> bool {
    let words = coordinates.iter().flat_map(G::words);
    // Whether a point is infinity is public.
    Mask::is_zero(words.fold(0, |any, word| any | word)).reveal()
}

/// Returns whether two points have the same coordinates, which becomes public. Constant-time.
pub(super) fn are_equal<G: Curve>(a: &Memory2<G>, b: &Memory2<G>) -> bool {
    let words = a.iter().zip(b).flat_map(|(a, b)| G::words(a).iter().zip(G::words(b)));
    // Whether two points are equal is the function's result.
    Mask::is_zero(words.fold(0, |any, (a, b)| any | (a ^ b))).reveal()
}
