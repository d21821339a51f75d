//! What a backend provides: arithmetic on its own representations, and no more. Encodings,
//! operators, transforms and signatures are written once above it.
//!
//! A backend is a type without values that implements [`Scalars`] (the field Fr), [`Group`] for
//! [`First`] and for [`Second`] (G1 and G2), [`Pairing`] (Fq12 and the pairing), and [`Backend`].
//! Representations are its own business: a scalar may be in Montgomery form, a point Jacobian or
//! homogeneous. What goes in and out is integers as little-endian limbs, and coordinates as
//! big-endian bytes.
//!
//! Methods with a body are correct as they stand; a backend overrides those that it does faster.
//! Slices hold the public types, whose `raw` and `from_raw` open and close them, and which have
//! the representation of what they hold (`repr(transparent)`). No method panics
//! on values that the type of its arguments can hold, nor on an empty slice; slices that belong
//! together have equal lengths.
//!
//! Time depends on no value, unless the name ends in `_vartime`; whether a point is infinity, and
//! results of type `bool`, are public.

use super::{Affine, Fr, G1Affine, G2Affine, Projective, msm};
use crate::machine::ct::Mask;

/// Limbs of an integer below r, or of any integer below 2²⁵⁶; little-endian.
pub type Integer = [u64; 4];

/// What is hashed to a curve: a prefix (the draft's augmentation) and the message, one after the
/// other.
pub type Message<'a> = [&'a [u8]; 2];

/// An arithmetic of BLS12-381, complete.
pub trait Backend: Pairing {
    /// The backend's name in tests and tables.
    const NAME: &'static str;
}

/// The field Fr of the integers modulo r, the order of the groups.
pub trait Scalars: Copy + Send + Sync + 'static {
    /// One element, in any representation.
    type Fr: Copy + Send + Sync + 'static;

    /// 0.
    const ZERO: Self::Fr;

    /// 1.
    const ONE: Self::Fr;

    /// The element that an integer below r is.
    fn fr_from_integer(integer: &Integer) -> Self::Fr;

    /// The integer from 0 to r − 1 that an element is.
    fn fr_to_integer(a: &Self::Fr) -> Integer;

    /// a + b.
    fn fr_add(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// a − b.
    fn fr_sub(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// −a.
    fn fr_negate(a: &Self::Fr) -> Self::Fr {
        Self::fr_sub(&Self::ZERO, a)
    }

    /// 2·a.
    fn fr_double(a: &Self::Fr) -> Self::Fr {
        Self::fr_add(a, a)
    }

    /// a · b.
    fn fr_mul(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// a².
    fn fr_square(a: &Self::Fr) -> Self::Fr {
        Self::fr_mul(a, a)
    }

    /// 1/a, and 0 for 0.
    fn fr_invert(a: &Self::Fr) -> Self::Fr;

    /// [`fr_invert`](Self::fr_invert) of a public value.
    fn fr_invert_vartime(a: &Self::Fr) -> Self::Fr {
        Self::fr_invert(a)
    }

    /// Whether a = b.
    fn fr_equal(a: &Self::Fr, b: &Self::Fr) -> bool;

    /// Overwrites a secret in a way that the compiler does not remove.
    fn fr_wipe(a: &mut Self::Fr);

    /// a₀b₀ + a₁b₁ + …
    fn fr_inner_product(a: &[Fr<Self>], b: &[Fr<Self>]) -> Self::Fr {
        a.iter()
            .zip(b)
            .fold(Self::ZERO, |sum, (a, b)| Self::fr_add(&sum, &Self::fr_mul(a.raw(), b.raw())))
    }

    /// aᵢ ← aᵢ + bᵢ.
    fn fr_add_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_add(a.raw(), b.raw()));
        }
    }

    /// aᵢ ← aᵢ · bᵢ.
    fn fr_mul_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_mul(a.raw(), b.raw()));
        }
    }

    /// aᵢ ← 1/aᵢ, and 0 for 0, by one inversion (Montgomery's trick). `scratch` has as many elements,
    /// with anything in them; time depends on which are 0.
    fn fr_invert_many(a: &mut [Fr<Self>], scratch: &mut [Fr<Self>]) {
        // scratchᵢ is the product of those before i; a zero counts as 1.
        let mut product = Fr::ONE;
        for (a, before) in a.iter().zip(&mut *scratch) {
            *before = product;
            product = if a.is_zero() { product } else { product * *a };
        }
        let mut inverse = Fr::from_raw(Self::fr_invert(product.raw()));
        for (a, before) in a.iter_mut().zip(&*scratch).rev() {
            if !a.is_zero() {
                let inverted = inverse * *before;
                inverse *= *a;
                *a = inverted;
            }
        }
    }

    /// (a, b) ← (a + b·w, a − b·w), the step of a Fourier transform.
    fn fr_butterfly(a: &mut Self::Fr, b: &mut Self::Fr, w: &Self::Fr) {
        let product = Self::fr_mul(b, w);
        *b = Self::fr_sub(a, &product);
        *a = Self::fr_add(a, &product);
    }

    /// The discrete Fourier transform in place: bᵢ = Σ aⱼ·ω^(ij), both in natural order.
    ///
    /// Of n = 2^k values. `roots` are ω⁰, ω¹, …, ω^(n/2−1) for a primitive n-th root of unity ω.
    fn fr_transform(values: &mut [Fr<Self>], roots: &[Fr<Self>]) {
        super::fft::transform(values, roots);
    }
}

/// The two source groups, as types.
pub trait SourceGroup: private::Sealed + Copy + Send + Sync + 'static {
    /// A coordinate, or a compressed point: big-endian, of Fp2 the coefficient of u first.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// Two coordinates: an uncompressed point.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// The name of the group.
    const NAME: &'static str;

    /// All zeros.
    const COMPRESSED: Self::Compressed;

    /// All zeros.
    const UNCOMPRESSED: Self::Uncompressed;

    /// Elements of Fp in a coordinate.
    const DEGREE: usize;
}

/// G1: points of y² = x³ + 4 over Fp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First;

/// G2: points of y² = x³ + 4(1 + u) over Fp2 = Fp\[u\]/(u² + 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second;

impl SourceGroup for First {
    type Compressed = [u8; 48];
    type Uncompressed = [u8; 96];
    const NAME: &'static str = "G1";
    const COMPRESSED: [u8; 48] = [0; 48];
    const UNCOMPRESSED: [u8; 96] = [0; 96];
    const DEGREE: usize = 1;
}

impl SourceGroup for Second {
    type Compressed = [u8; 96];
    type Uncompressed = [u8; 192];
    const NAME: &'static str = "G2";
    const COMPRESSED: [u8; 96] = [0; 96];
    const UNCOMPRESSED: [u8; 192] = [0; 192];
    const DEGREE: usize = 2;
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::First {}
    impl Sealed for super::Second {}
}

/// Points of one of the two curves, among them the group of order r.
///
/// Methods are right for every point of the curve, infinity and equal or opposite points included,
/// except where they say that the points are members of the group.
pub trait Group<G: SourceGroup>: Scalars {
    /// A point in coordinates in which additions need no inversion.
    type Projective: Copy + Send + Sync + 'static;

    /// A point by its two coordinates, or infinity.
    type Affine: Copy + Send + Sync + 'static;

    /// Infinity.
    fn identity() -> Self::Projective;

    /// Infinity.
    fn affine_identity() -> Self::Affine;

    /// The generator of the group.
    fn generator() -> Self::Affine;

    /// Whether a point is infinity.
    fn is_identity(a: &Self::Projective) -> bool;

    /// Whether a point is infinity.
    fn affine_is_identity(a: &Self::Affine) -> bool;

    /// Whether a and b are the same point.
    fn equal(a: &Self::Projective, b: &Self::Projective) -> bool;

    /// Whether a and b are the same point.
    fn affine_equal(a: &Self::Affine, b: &Self::Affine) -> bool;

    /// a + b.
    fn add(a: &Self::Projective, b: &Self::Projective) -> Self::Projective;

    /// a + b.
    fn add_affine(a: &Self::Projective, b: &Self::Affine) -> Self::Projective;

    /// 2·a.
    fn double(a: &Self::Projective) -> Self::Projective;

    /// −a.
    fn negate(a: &Self::Projective) -> Self::Projective;

    /// −a.
    fn affine_negate(a: &Self::Affine) -> Self::Affine;

    /// The same point.
    fn from_affine(a: &Self::Affine) -> Self::Projective;

    /// The same point.
    fn to_affine(a: &Self::Projective) -> Self::Affine;

    /// The same points: one inversion serves many.
    fn to_affine_many(points: &[Projective<Self, G>], affine: &mut [Affine<Self, G>]) {
        for (point, affine) in points.iter().zip(affine) {
            *affine = Affine::from_raw(Self::to_affine(point.raw()));
        }
    }

    /// The point with these coordinates, which are below p; `None` where it is not on the curve.
    fn from_coordinates(x: &G::Compressed, y: &G::Compressed) -> Option<Self::Affine>;

    /// The coordinates of a point that is not infinity.
    fn coordinates(a: &Self::Affine) -> (G::Compressed, G::Compressed);

    /// The point with this x, which is below p, and of the two y the larger where `larger`
    /// ([`Affine::to_compressed`] says which that is); `None` where x is that of no point.
    fn decompress(x: &G::Compressed, larger: bool) -> Option<Self::Affine>;

    /// [`decompress`](Self::decompress) of many.
    fn decompress_many(
        x: &[G::Compressed],
        larger: &[bool],
        points: &mut [Option<Affine<Self, G>>],
    ) {
        for ((x, larger), point) in x.iter().zip(larger).zip(points) {
            *point = Self::decompress(x, *larger).map(Affine::from_raw);
        }
    }

    /// Whether a point of the curve is in the group.
    fn in_group(a: &Self::Affine) -> bool;

    /// [`in_group`](Self::in_group) of many.
    fn in_group_many(points: &[Affine<Self, G>], members: &mut [bool]) {
        for (point, member) in points.iter().zip(members) {
            *member = Self::in_group(point.raw());
        }
    }

    /// k·a, of a member of the group.
    fn multiply(a: &Self::Projective, k: &Self::Fr) -> Self::Projective;

    /// k·a, of a member of the group and a public k.
    fn multiply_vartime(a: &Self::Projective, k: &Self::Fr) -> Self::Projective {
        Self::multiply(a, k)
    }

    /// k times the generator.
    fn multiply_generator(k: &Self::Fr) -> Self::Projective {
        Self::multiply(&Self::from_affine(&Self::generator()), k)
    }

    /// k·a for any point of the curve and any public integer, limbs little-endian.
    fn multiply_integer_vartime(a: &Self::Projective, k: &[u64]) -> Self::Projective {
        msm::multiply_integer::<Self, G>(a, k)
    }

    /// aᵢ ← kᵢ·aᵢ, of members of the group.
    fn multiply_many(points: &mut [Projective<Self, G>], scalars: &[Fr<Self>]) {
        for (point, k) in points.iter_mut().zip(scalars) {
            *point = Projective::from_raw(Self::multiply(point.raw(), k.raw()));
        }
    }

    /// aᵢ ← kᵢ·aᵢ, of members of the group and public kᵢ.
    fn multiply_many_vartime(points: &mut [Projective<Self, G>], scalars: &[Fr<Self>]) {
        for (point, k) in points.iter_mut().zip(scalars) {
            *point = Projective::from_raw(Self::multiply_vartime(point.raw(), k.raw()));
        }
    }

    /// aᵢ ← kᵢ·aᵢ, of members of the group and public weights of 128 bits.
    fn multiply_short_many_vartime(points: &mut [Projective<Self, G>], weights: &[u128]) {
        for (point, weight) in points.iter_mut().zip(weights) {
            let limbs = [*weight as u64, (*weight >> 64) as u64];
            *point = Projective::from_raw(Self::multiply_integer_vartime(point.raw(), &limbs));
        }
    }

    /// a₀ + a₁ + … of public points: time may depend on which of them are equal or opposite.
    fn sum(points: &[Affine<Self, G>]) -> Self::Projective {
        points.iter().fold(Self::identity(), |sum, point| Self::add_affine(&sum, point.raw()))
    }

    /// Limbs of scratch that [`msm_vartime`](Self::msm_vartime) needs for n points.
    fn msm_scratch_limbs(n: usize) -> usize {
        let _ = n;
        0
    }

    /// k₀a₀ + k₁a₁ + …, of members of the group and public kᵢ, for every number of them.
    ///
    /// `scratch` has [`msm_scratch_limbs`](Self::msm_scratch_limbs) limbs or more, with anything in them.
    fn msm_vartime(
        points: &[Affine<Self, G>],
        scalars: &[Fr<Self>],
        scratch: &mut [u64],
    ) -> Self::Projective {
        let _ = scratch;
        msm::by_buckets::<Self, G>(
            points.len(),
            |i| points[i].raw(),
            |i| Self::fr_to_integer(scalars[i].raw()),
        )
    }

    /// k₀a₀ + k₁a₁ + … for 0 ≤ i < n, of any points of the curve and any public integers.
    fn msm_integers_vartime<'a>(
        n: usize,
        point: impl Fn(usize) -> &'a Self::Affine,
        integer: impl Fn(usize) -> Integer,
    ) -> Self::Projective
    where
        Self::Affine: 'a,
    {
        msm::by_buckets::<Self, G>(n, point, integer)
    }

    /// The point of the group that is made of one element of the base field (encode_to_curve), or
    /// is the sum of those made of two (hash_to_curve): map_to_curve and clear_cofactor of RFC
    /// 9380, sections 6.6.3, 8.8.1 and 8.8.2.
    ///
    /// `uniform` has `DEGREE` or 2·`DEGREE` integers of 64 bytes, big-endian, to be taken modulo p;
    /// of an element of Fp2 the coefficient of 1 first.
    fn map_to_curve(uniform: &[[u8; 64]]) -> Self::Projective;

    /// hash_to_curve of RFC 9380. `dst` has any length (section 5.3.3).
    fn hash_to_curve(message: &Message<'_>, dst: &[u8]) -> Self::Projective {
        let mut uniform = [[0; 64]; 4];
        let uniform = &mut uniform[..2 * G::DEGREE];
        super::hash::expand(message, &super::hash::Dst::new(dst), uniform.as_flattened_mut());
        Self::map_to_curve(uniform)
    }

    /// encode_to_curve of RFC 9380. `dst` has any length (section 5.3.3).
    fn encode_to_curve(message: &Message<'_>, dst: &[u8]) -> Self::Projective {
        let mut uniform = [[0; 64]; 2];
        let uniform = &mut uniform[..G::DEGREE];
        super::hash::expand(message, &super::hash::Dst::new(dst), uniform.as_flattened_mut());
        Self::map_to_curve(uniform)
    }

    /// [`hash_to_curve`](Self::hash_to_curve) of many.
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

/// The field Fq12, the group GT in it, and the optimal ate pairing.
///
/// The tower is Fp2 = Fp\[u\]/(u² + 1), Fp6 = Fp2\[v\]/(v³ − u − 1), Fq12 = Fp6\[w\]/(w² − v).
pub trait Pairing: Group<First> + Group<Second> {
    /// An element of Fq12.
    type Fq12: Copy + Send + Sync + 'static;

    /// The lines of a Miller loop for a point of G2 that is not infinity.
    type Prepared: Clone + Send + Sync + 'static;

    /// The element with these coefficients, big-endian integers below p, in the order of the tower:
    /// that of 1 before those of u, v and w.
    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> Self::Fq12;

    /// The coefficients, as [`fq12_from_coefficients`](Self::fq12_from_coefficients) takes them.
    fn fq12_coefficients(a: &Self::Fq12) -> [[u8; 48]; 12];

    /// 1.
    fn fq12_one() -> Self::Fq12;

    /// Whether a = b.
    fn fq12_equal(a: &Self::Fq12, b: &Self::Fq12) -> bool;

    /// a + b.
    fn fq12_add(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// a − b.
    fn fq12_sub(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// a · b.
    fn fq12_mul(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// a².
    fn fq12_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_mul(a, a)
    }

    /// 1/a, and 0 for 0.
    fn fq12_invert(a: &Self::Fq12) -> Self::Fq12;

    /// a to the power of p⁶: the coefficient of w negated. In GT, the inverse.
    fn fq12_conjugate(a: &Self::Fq12) -> Self::Fq12;

    /// `a` where `mask` is true, `b` where it is false.
    fn fq12_select(mask: Mask, a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Whether an element is in GT, the group of order r; 0 is not, 1 is.
    fn gt_contains(a: &Self::Fq12) -> bool;

    /// a², of a member of GT.
    fn gt_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_square(a)
    }

    /// a^k, of a member of GT.
    fn gt_pow(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        super::target::pow::<Self>(a, k)
    }

    /// a^k, of a member of GT and a public k.
    fn gt_pow_vartime(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        super::target::pow_vartime::<Self>(a, k)
    }

    /// The lines for a point that is not infinity.
    fn prepare(q: &<Self as Group<Second>>::Affine) -> Self::Prepared;

    /// The product of the Miller loops of the pairs (pᵢ, qᵢ), of which none has infinity; 1 for no
    /// pairs. Two backends may differ by a factor that the final exponentiation takes to 1.
    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Self::Fq12;

    /// [`miller_loop`](Self::miller_loop) with lines that were prepared.
    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&Self::Prepared]) -> Self::Fq12;

    /// a^(3·(p¹² − 1)/r), a member of GT, of an element that is not 0.
    ///
    /// The factor 3 makes it cheaper (Hayashida, Hayasaka and Teruya, eprint 2020/875); zkcrypto and
    /// blst have it too, so that pairings agree.
    fn final_exponentiation(a: &Self::Fq12) -> Self::Fq12;
}
