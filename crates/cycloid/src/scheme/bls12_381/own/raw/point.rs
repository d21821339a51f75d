//! Points in Jacobian coordinates.

use super::super::super::backend::{Group, SourceGroup};
use super::super::super::hash::Message;
use super::super::Cycloid;
use super::super::curve::{self, Curve, Memory2, Memory3, is_zero};
use super::super::side_by_side::times_x;
use super::field::{load, save};
use super::{Affine, Jacobian, tasks};
use crate::machine::ct;
use crate::machine::field::{Bls12Base, Wide};
use crate::math::bls12_381::{self, Endomorphism, Jacobian as Point, multiply_integer, reveal};

#[inline(always)]
fn import<G: Curve, A: Wide<Bls12Base>>(f: A, a: &Jacobian<G>) -> Point<G::Field<A>> {
    Point { x: load::<G, A>(f, &a[0]), y: load::<G, A>(f, &a[1]), z: load::<G, A>(f, &a[2]) }
}

#[inline(always)]
fn export<G: Curve, A: Wide<Bls12Base>>(a: &Point<G::Field<A>>) -> Jacobian<G> {
    [save::<G, A>(&a.x), save::<G, A>(&a.y), save::<G, A>(&a.z)]
}

#[inline(always)]
fn import_affine<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    a: &Affine<G>,
) -> bls12_381::Affine<G::Field<A>> {
    bls12_381::Affine { x: load::<G, A>(f, &a[0]), y: load::<G, A>(f, &a[1]) }
}

tasks! {
    /// Returns a + b for different points, and infinity for equal ones.
    fn add_different(f, a: Jacobian<G>, b: Jacobian<G>) -> Jacobian<G> {
        export::<G, A>(&import::<G, A>(f, a).add(&import::<G, A>(f, b)))
    }

    /// Returns a + b.
    fn add_points(f, a: Jacobian<G>, b: Jacobian<G>) -> Jacobian<G> {
        export::<G, A>(&import::<G, A>(f, a).add_or_double(&import::<G, A>(f, b)))
    }

    /// Returns a + b for different points, and infinity for equal ones. b is finite.
    fn add_different_finite(f, a: Jacobian<G>, b: Affine<G>) -> Jacobian<G> {
        export::<G, A>(&import::<G, A>(f, a).add_affine(&import_affine::<G, A>(f, b)))
    }

    /// Returns a + b. b is finite.
    fn add_finite(f, a: Jacobian<G>, b: Affine<G>) -> Jacobian<G> {
        export::<G, A>(&import::<G, A>(f, a).add_or_double_affine(&import_affine::<G, A>(f, b)))
    }

    /// Returns 2a.
    fn double(f, a: Jacobian<G>) -> Jacobian<G> {
        export::<G, A>(&import::<G, A>(f, a).double())
    }

    /// Returns the affine coordinates.
    fn to_affine(f, a: Jacobian<G>) -> Affine<G> {
        let affine = import::<G, A>(f, a).to_affine();
        [save::<G, A>(&affine.x), save::<G, A>(&affine.y)]
    }

    /// Returns whether a and b are the same point.
    fn points_are_equal(f, a: Jacobian<G>, b: Jacobian<G>) -> bool {
        reveal::<A>(import::<G, A>(f, a).equal(&import::<G, A>(f, b)))[0]
    }

    /// Returns whether a point is on the curve.
    fn is_on_curve(f, a: Jacobian<G>) -> bool {
        reveal::<A>(import::<G, A>(f, a).is_on_curve())[0]
    }

    /// Returns whether a point is on the curve and in the group.
    fn is_in_group(f, a: Jacobian<G>) -> bool {
        let a = import::<G, A>(f, a);
        reveal::<A>(a.is_on_curve() & G::Field::<A>::is_in_group(&a.to_point(), times_x::<G, A>))[0]
    }

    /// Returns k·a for any point of the curve. The limbs of k are little-endian, those above `bits`
    /// bits are zero, and time depends on `bits`.
    fn multiply(f, a: Jacobian<G>, k: [u64], bits: usize) -> Jacobian<G> {
        let product = multiply_integer(&import::<G, A>(f, a).to_point(), k, *bits);
        export::<G, A>(&Point::from_point(&product))
    }

    /// Returns the multiple by a scalar in parts.
    fn multiply_parts(f, a: Jacobian<G>, parts: [u128; 4]) -> Jacobian<G> {
        let mut parts = parts.map(|part| [part; crate::math::field::MAX_WIDTH]);
        let product = bls12_381::multiply(&import::<G, A>(f, a).to_point(), &parts);
        bls12_381::wipe_parts(parts.as_flattened_mut());
        export::<G, A>(&Point::from_point(&product))
    }

    /// Returns the multiple of the generator by a scalar in parts.
    fn multiply_generator_parts(f, parts: [u128; 4]) -> Jacobian<G> {
        let mut parts = parts.map(|part| [part; crate::math::field::MAX_WIDTH]);
        let product = bls12_381::multiply_generator::<G::Field<A>>(f, &parts, G::table());
        bls12_381::wipe_parts(parts.as_flattened_mut());
        export::<G, A>(&Point::from_point(&product))
    }

    /// Returns map_to_curve and clear_cofactor of RFC 9380 for one element, or for the sum of two
    /// points.
    fn map_to_group(f, elements: [G::Memory]) -> Jacobian<G> {
        let element = |i: usize| load::<G, A>(f, &elements[i]);
        let point = match elements.len() {
            1 => bls12_381::to_group(&[element(0)], times_x::<G, A>),
            _ => bls12_381::to_group(&[element(0), element(1)], times_x::<G, A>),
        };
        export::<G, A>(&Point::from_point(&point))
    }

    /// Converts from homogeneous coordinates.
    fn from_homogeneous(f, a: Memory3<G>) -> Jacobian<G> {
        let [x, y, z] = a;
        let (x, y, z) = (load::<G, A>(f, x), load::<G, A>(f, y), load::<G, A>(f, z));
        export::<G, A>(&Point::from_point(&bls12_381::Point { x, y, z }))
    }
}

/// Returns k·a for a member of the group and a scalar below r, little-endian. For other points of
/// the curve the result is that of the endomorphisms, which need not be k·a.
pub fn multiply_member<G: Curve>(a: &Jacobian<G>, k: &[u64; 4]) -> Jacobian<G> {
    let mut parts = G::split(k);
    let product = multiply_parts::<G>(a, &parts);
    bls12_381::wipe_parts(&mut parts);
    product
}

/// Returns k times the generator, for a scalar below r, little-endian.
pub fn multiply_generator<G: Curve>(k: &[u64; 4]) -> Jacobian<G> {
    let mut parts = G::split(k);
    let product = multiply_generator_parts::<G>(&parts);
    bls12_381::wipe_parts(&mut parts);
    product
}

/// Converts to Jacobian coordinates.
pub fn from_affine<G: Curve>(a: &Affine<G>) -> Jacobian<G> {
    [a[0], a[1], if is_infinity::<G>(a) { G::ZERO } else { G::ONE }]
}

/// Returns whether coordinates, all of a point's or its Z, are those of infinity.
pub fn is_infinity<G: Curve>(coordinates: &[G::Memory]) -> bool {
    is_zero::<G>(coordinates)
}

/// Returns whether two lists of coordinates have the same words.
pub fn are_equal<G: Curve>(a: &Memory2<G>, b: &Memory2<G>) -> bool {
    curve::are_equal::<G>(a, b)
}

/// Runs hash_to_curve of RFC 9380, or encode_to_curve.
pub fn hash_to_group<G: Curve>(message: &Message<'_>, dst: &[u8], uniform: bool) -> Jacobian<G>
where
    Cycloid: Group<G, Projective = Memory3<G>>,
{
    from_homogeneous::<G>(&if uniform {
        <Cycloid as Group<G>>::hash_to_curve(message, dst)
    } else {
        <Cycloid as Group<G>>::encode_to_curve(message, dst)
    })
}

/// Returns the point with this x below p, and the larger or the smaller y.
pub fn decompress<G: Curve>(x: &<G as SourceGroup>::Compressed, larger: bool) -> Option<Affine<G>>
where
    Cycloid: Group<G, Affine = Memory2<G>>,
{
    <Cycloid as Group<G>>::decompress(x, larger)
}

/// Wipes a scalar.
pub fn wipe(limbs: &mut [u64]) {
    ct::wipe(limbs);
}
