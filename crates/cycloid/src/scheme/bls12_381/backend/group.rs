//! The source groups: the interface of a backend, and the public types of their members.

use super::scalars::{Fr, Scalars};
use super::source_group::{First, Second, SourceGroup};
use crate::scheme::bls12_381::cycloid::Cycloid;
use crate::scheme::bls12_381::hash::{self, Message};
use crate::scheme::bls12_381::integer::Integer;

/// Arithmetic on the points of one of the two curves, which contains the group of order r.
///
/// Methods are correct for every point of the curve, including infinity and equal or opposite
/// points, unless they require members of the group.
pub trait Group<G: SourceGroup>: Scalars {
    /// A point in coordinates whose addition needs no inversion.
    type Projective: Copy + Send + Sync + 'static;

    /// A point in affine coordinates, or infinity.
    type Affine: Copy + Send + Sync + 'static;

    /// How a [`table`](Self::prepare_sums) of a backend is laid out.
    type TableForm: Copy + Default + Send + Sync + 'static;

    /// Returns infinity.
    fn identity() -> Self::Projective;

    /// Returns infinity.
    fn affine_identity() -> Self::Affine;

    /// Returns the generator of the group.
    fn generator() -> Self::Affine;

    /// Returns whether a point is infinity.
    fn is_identity(a: &Self::Projective) -> bool;

    /// Returns whether a point is infinity.
    fn affine_is_identity(a: &Self::Affine) -> bool;

    /// Returns whether a and b are the same point.
    fn equal(a: &Self::Projective, b: &Self::Projective) -> bool;

    /// Returns whether a and b are the same point.
    fn affine_equal(a: &Self::Affine, b: &Self::Affine) -> bool;

    /// Returns a + b.
    fn add(a: &Self::Projective, b: &Self::Projective) -> Self::Projective;

    /// Returns a + b.
    fn add_affine(a: &Self::Projective, b: &Self::Affine) -> Self::Projective;

    /// Returns 2·a.
    fn double(a: &Self::Projective) -> Self::Projective;

    /// Returns −a.
    fn negate(a: &Self::Projective) -> Self::Projective;

    /// Returns −a.
    fn affine_negate(a: &Self::Affine) -> Self::Affine;

    /// Converts a point.
    fn from_affine(a: &Self::Affine) -> Self::Projective;

    /// Converts a point.
    fn to_affine(a: &Self::Projective) -> Self::Affine;

    /// Converts points; one inversion serves many.
    fn to_affine_many(points: &[Projective<Self, G>], affine: &mut [Affine<Self, G>]) {
        for (point, affine) in points.iter().zip(affine) {
            *affine = Affine::from_raw(Self::to_affine(point.raw()));
        }
    }

    /// Returns the point with these coordinates, which are below p; `None` if it is not on the
    /// curve.
    fn from_coordinates(x: &G::Compressed, y: &G::Compressed) -> Option<Self::Affine>;

    /// Returns the coordinates of a point that is not infinity.
    fn coordinates(a: &Self::Affine) -> (G::Compressed, G::Compressed);

    /// Returns the point with this x, which is below p, and the larger of the two y if `larger` is
    /// set ([`Affine::to_compressed`] defines the order); `None` if no point has this x.
    fn decompress(x: &G::Compressed, larger: bool) -> Option<Self::Affine>;

    /// Runs [`decompress`](Self::decompress) on many inputs.
    fn decompress_many(
        x: &[G::Compressed],
        larger: &[bool],
        points: &mut [Option<Affine<Self, G>>],
    ) {
        for ((x, larger), point) in x.iter().zip(larger).zip(points) {
            *point = Self::decompress(x, *larger).map(Affine::from_raw);
        }
    }

    /// Returns whether a point of the curve is in the group.
    fn in_group(a: &Self::Affine) -> bool;

    /// Runs [`in_group`](Self::in_group) on many points.
    fn in_group_many(points: &[Affine<Self, G>], members: &mut [bool]) {
        for (point, member) in points.iter().zip(members) {
            *member = Self::in_group(point.raw());
        }
    }

    /// Returns k·a, for a member of the group.
    fn multiply(a: &Self::Projective, k: &Self::Fr) -> Self::Projective;

    /// Returns k·a, for a member of the group and a public k.
    fn multiply_vartime(a: &Self::Projective, k: &Self::Fr) -> Self::Projective {
        Self::multiply(a, k)
    }

    /// Returns k times the generator.
    fn multiply_generator(k: &Self::Fr) -> Self::Projective {
        Self::multiply(&Self::from_affine(&Self::generator()), k)
    }

    /// Returns k·a for any point of the curve and any public integer, limbs little-endian.
    fn multiply_integer_vartime(a: &Self::Projective, k: &[u64]) -> Self::Projective {
        multiply_integer::<Self, G>(a, k)
    }

    /// Computes aᵢ ← kᵢ·aᵢ, for members of the group.
    fn multiply_many(points: &mut [Projective<Self, G>], scalars: &[Fr<Self>]) {
        for (point, k) in points.iter_mut().zip(scalars) {
            *point = Projective::from_raw(Self::multiply(point.raw(), k.raw()));
        }
    }

    /// Computes aᵢ ← kᵢ·aᵢ, for members of the group and public kᵢ.
    fn multiply_many_vartime(points: &mut [Projective<Self, G>], scalars: &[Fr<Self>]) {
        for (point, k) in points.iter_mut().zip(scalars) {
            *point = Projective::from_raw(Self::multiply_vartime(point.raw(), k.raw()));
        }
    }

    /// Computes aᵢ ← kᵢ·aᵢ, for members of the group and public weights of 128 bits.
    fn multiply_short_many_vartime(points: &mut [Projective<Self, G>], weights: &[u128]) {
        for (point, weight) in points.iter_mut().zip(weights) {
            let limbs = [*weight as u64, (*weight >> 64) as u64];
            *point = Projective::from_raw(Self::multiply_integer_vartime(point.raw(), &limbs));
        }
    }

    /// Returns a₀ + a₁ + … for public points. Time may depend on which of them are equal or
    /// opposite.
    fn sum(points: &[Affine<Self, G>]) -> Self::Projective {
        points.iter().fold(Self::identity(), |sum, point| Self::add_affine(&sum, point.raw()))
    }

    /// Returns the limbs of scratch of [`msm_vartime`](Self::msm_vartime) for n points.
    fn msm_scratch_limbs(n: usize) -> usize {
        let _ = n;
        0
    }

    /// Returns k₀a₀ + k₁a₁ + …, for any number of members of the group and public kᵢ.
    ///
    /// `scratch` has at least [`msm_scratch_limbs`](Self::msm_scratch_limbs) limbs, with arbitrary
    /// contents.
    fn msm_vartime(
        points: &[Affine<Self, G>],
        scalars: &[Fr<Self>],
        scratch: &mut [u64],
    ) -> Self::Projective {
        let _ = scratch;
        by_buckets::<Self, G>(
            points.len(),
            |i| points[i].raw(),
            |i| Self::fr_to_integer(scalars[i].raw()),
        )
    }

    /// Returns k₀a₀ + k₁a₁ + … for 0 ≤ i < n, for any points of the curve and any public integers.
    fn msm_integers_vartime<'a>(
        n: usize,
        point: impl Fn(usize) -> &'a Self::Affine,
        integer: impl Fn(usize) -> Integer,
    ) -> Self::Projective
    where
        Self::Affine: 'a,
    {
        by_buckets::<Self, G>(n, point, integer)
    }

    /// Returns the limbs of the table of [`prepare_sums`](Self::prepare_sums).
    fn table_limbs(points: usize, size: usize) -> usize {
        let _ = (points, size);
        0
    }

    /// Computes a table of public members of the group that makes their
    /// [`prepared_sums_vartime`](Self::prepared_sums_vartime) faster; a backend may need none.
    fn prepare_sums(points: &[Affine<Self, G>], size: usize, table: &mut [u64]) -> Self::TableForm {
        let _ = (points, size, table);
        Self::TableForm::default()
    }

    /// Returns the limbs of scratch of [`prepared_sums_vartime`](Self::prepared_sums_vartime).
    fn prepared_scratch_limbs(points: usize, size: usize) -> usize {
        let _ = points;
        Self::msm_scratch_limbs(size)
    }

    /// Computes several sums Σ kᵢ·aᵢ of `size` multiples each, of consecutive points and of public
    /// scalars. `table` and `form` are from [`prepare_sums`](Self::prepare_sums) for the same
    /// points.
    fn prepared_sums_vartime(
        points: &[Affine<Self, G>],
        (table, form): (&[u64], &Self::TableForm),
        size: usize,
        scalars: &[Fr<Self>],
        sums: &mut [Projective<Self, G>],
        scratch: &mut [u64],
    ) {
        let _ = (table, form);
        let pieces = points.chunks_exact(size).zip(scalars.chunks_exact(size));
        for (sum, (points, scalars)) in sums.iter_mut().zip(pieces) {
            *sum = Projective::from_raw(Self::msm_vartime(points, scalars, scratch));
        }
    }

    /// Maps any public point of the curve to the group: a multiple of it by
    /// [`SourceGroup::EFFECTIVE_COFACTOR`] (clear_cofactor of RFC 9380, section 7).
    fn clear_cofactor(a: &Self::Projective) -> Self::Projective {
        Self::multiply_integer_vartime(a, G::EFFECTIVE_COFACTOR)
    }

    /// Maps one element of the base field to a point of the group (encode_to_curve), or two
    /// elements to the sum of their points (hash_to_curve): map_to_curve and clear_cofactor of RFC
    /// 9380, sections 6.6.3, 8.8.1 and 8.8.2.
    ///
    /// `uniform` has `DEGREE` or 2·`DEGREE` big-endian integers of 64 bytes, to be reduced modulo
    /// p; for an element of Fp2 the coefficient of 1 comes first.
    fn map_to_curve(uniform: &[[u8; 64]]) -> Self::Projective;

    /// Runs hash_to_curve of RFC 9380. `dst` has any length (section 5.3.3).
    fn hash_to_curve(message: &Message<'_>, dst: &[u8]) -> Self::Projective {
        let mut uniform = [[0; 64]; 4];
        let uniform = &mut uniform[..2 * G::DEGREE];
        hash::expand(message, &hash::Dst::new(dst), uniform.as_flattened_mut());
        Self::map_to_curve(uniform)
    }

    /// Runs encode_to_curve of RFC 9380. `dst` has any length (section 5.3.3).
    fn encode_to_curve(message: &Message<'_>, dst: &[u8]) -> Self::Projective {
        let mut uniform = [[0; 64]; 2];
        let uniform = &mut uniform[..G::DEGREE];
        hash::expand(message, &hash::Dst::new(dst), uniform.as_flattened_mut());
        Self::map_to_curve(uniform)
    }

    /// Runs [`hash_to_curve`](Self::hash_to_curve) on many messages.
    fn hash_to_curve_many(
        messages: &[Message<'_>],
        dst: &[u8],
        points: &mut [Projective<Self, G>],
    ) {
        for (message, point) in messages.iter().zip(points) {
            *point = Projective::from_raw(Self::hash_to_curve(message, dst));
        }
    }
}

/// A member of the group `G` of order r in affine coordinates: [`G1Affine`] and [`G2Affine`].
#[repr(transparent)]
pub struct Affine<B: Group<G>, G: SourceGroup>(pub(in crate::scheme::bls12_381) B::Affine);

/// A member of G1: encodings of 48 and 96 bytes.
pub type G1Affine<B = Cycloid> = Affine<B, First>;

/// A member of G2: encodings of 96 and 192 bytes.
pub type G2Affine<B = Cycloid> = Affine<B, Second>;

impl<B: Group<G>, G: SourceGroup> Affine<B, G> {
    /// Returns the backend's own representation.
    #[inline(always)]
    pub const fn raw(&self) -> &B::Affine {
        &self.0
    }

    /// Wraps a representation, which must be that of a member of the group.
    #[inline(always)]
    pub const fn from_raw(raw: B::Affine) -> Self {
        Self(raw)
    }
}

impl<B: Group<G>, G: SourceGroup> Clone for Affine<B, G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Group<G>, G: SourceGroup> Copy for Affine<B, G> {}

/// A member of the group `G` of order r with the backend `B`: [`G1`] and [`G2`].
#[repr(transparent)]
pub struct Projective<B: Group<G>, G: SourceGroup>(pub(in crate::scheme::bls12_381) B::Projective);

/// A member of G1.
pub type G1<B = Cycloid> = Projective<B, First>;

/// A member of G2.
pub type G2<B = Cycloid> = Projective<B, Second>;

impl<B: Group<G>, G: SourceGroup> Projective<B, G> {
    /// Returns the backend's own representation.
    #[inline(always)]
    pub const fn raw(&self) -> &B::Projective {
        &self.0
    }

    /// Wraps a representation, which must be that of a member of the group.
    #[inline(always)]
    pub const fn from_raw(raw: B::Projective) -> Self {
        Self(raw)
    }
}

impl<B: Group<G>, G: SourceGroup> Clone for Projective<B, G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Group<G>, G: SourceGroup> Copy for Projective<B, G> {}

// Multiples and sums of multiples for every point of a curve, in the memory of a few points: the
// defaults for a backend without its own implementation.

/// Bits of a window; a sum takes n · 256/5 additions plus 2·31 per window.
const WINDOW: usize = 5;

/// Returns k·a by doubling and adding.
fn multiply_integer<B: Group<G>, G: SourceGroup>(a: &B::Projective, k: &[u64]) -> B::Projective {
    let mut multiple = B::identity();
    for limb in k.iter().rev() {
        for bit in (0..u64::BITS).rev() {
            multiple = B::double(&multiple);
            if limb >> bit & 1 == 1 {
                multiple = B::add(&multiple, a);
            }
        }
    }
    multiple
}

/// Returns Σ kᵢ·aᵢ for 0 ≤ i < n by buckets (Pippenger), with complete additions only.
fn by_buckets<'a, B: Group<G>, G: SourceGroup>(
    n: usize,
    point: impl Fn(usize) -> &'a B::Affine,
    integer: impl Fn(usize) -> Integer,
) -> B::Projective
where
    B::Affine: 'a,
{
    let mut sum = B::identity();
    if n == 0 {
        return sum;
    }
    for window in (0..256_usize.div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            sum = B::double(&sum);
        }
        // Bucket d − 1 sums the points with the digit d.
        let mut buckets = [B::identity(); (1 << WINDOW) - 1];
        for i in 0..n {
            let digit = digit(&integer(i), window * WINDOW);
            if digit != 0 {
                buckets[digit - 1] = B::add_affine(&buckets[digit - 1], point(i));
            }
        }
        // Σ d·bucket(d) is the sum of the running sums from the top.
        let mut running = B::identity();
        for bucket in buckets.iter().rev() {
            running = B::add(&running, bucket);
            sum = B::add(&sum, &running);
        }
    }
    sum
}

/// Returns the window of an integer that begins at `bit`.
fn digit(integer: &Integer, bit: usize) -> usize {
    let (limb, shift) = (bit / 64, bit % 64);
    let next = integer.get(limb + 1).copied().unwrap_or(0);
    let both = u128::from(next) << 64 | u128::from(integer[limb]);
    (both >> shift) as usize & ((1 << WINDOW) - 1)
}
