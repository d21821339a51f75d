//! The interface of a backend: arithmetic on its own representations, and nothing else. Encodings,
//! operators, transforms and signatures are built on it once for all backends.
//!
//! A backend is a type without values that implements [`Scalars`] (the field Fr), [`Group`] for
//! [`First`] and for [`Second`] (G1 and G2), [`Pairing`] (Fq12 and the pairing), and [`Backend`].
//! It chooses its representations: a scalar may be in Montgomery form, a point Jacobian or
//! homogeneous. Inputs and outputs are integers as little-endian limbs and coordinates as
//! big-endian bytes.
//!
//! Methods with a default body are correct as they stand; a backend overrides those that it can
//! speed up. Slices hold the public types, which have the same layout as the representations they
//! wrap (`repr(transparent)`); `raw` and `from_raw` convert between them. No method panics for
//! values that its argument types can hold, nor for an empty slice. Slices that belong together
//! have equal lengths.
//!
//! Time depends on no value, unless the name ends in `_vartime`; whether a point is infinity, and
//! results of type `bool`, are public.

use super::{Affine, Fr, G1Affine, G2Affine, Projective, msm};
use crate::machine::ct::Mask;

/// Limbs of an integer below r, or of any integer below 2²⁵⁶; little-endian.
pub type Integer = [u64; 4];

/// An input of hashing to a curve: a prefix (the draft's augmentation), followed by the message.
pub type Message<'a> = [&'a [u8]; 2];

/// A complete arithmetic of BLS12-381.
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

    /// Converts an integer below r to an element.
    fn fr_from_integer(integer: &Integer) -> Self::Fr;

    /// Converts an element to the integer from 0 to r − 1.
    fn fr_to_integer(a: &Self::Fr) -> Integer;

    /// Returns a + b.
    fn fr_add(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns a − b.
    fn fr_sub(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns −a.
    fn fr_negate(a: &Self::Fr) -> Self::Fr {
        Self::fr_sub(&Self::ZERO, a)
    }

    /// Returns 2·a.
    fn fr_double(a: &Self::Fr) -> Self::Fr {
        Self::fr_add(a, a)
    }

    /// Returns a · b.
    fn fr_mul(a: &Self::Fr, b: &Self::Fr) -> Self::Fr;

    /// Returns a².
    fn fr_square(a: &Self::Fr) -> Self::Fr {
        Self::fr_mul(a, a)
    }

    /// Returns 1/a, and 0 for 0.
    fn fr_invert(a: &Self::Fr) -> Self::Fr;

    /// Like [`fr_invert`](Self::fr_invert), for a public value.
    fn fr_invert_vartime(a: &Self::Fr) -> Self::Fr {
        Self::fr_invert(a)
    }

    /// Returns whether a = b.
    fn fr_equal(a: &Self::Fr, b: &Self::Fr) -> bool;

    /// Overwrites a secret in a way that the compiler does not remove.
    fn fr_wipe(a: &mut Self::Fr);

    /// Returns a₀b₀ + a₁b₁ + …
    fn fr_inner_product(a: &[Fr<Self>], b: &[Fr<Self>]) -> Self::Fr {
        a.iter()
            .zip(b)
            .fold(Self::ZERO, |sum, (a, b)| Self::fr_add(&sum, &Self::fr_mul(a.raw(), b.raw())))
    }

    /// Computes aᵢ ← aᵢ + bᵢ.
    fn fr_add_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_add(a.raw(), b.raw()));
        }
    }

    /// Computes aᵢ ← aᵢ · bᵢ.
    fn fr_mul_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Fr::from_raw(Self::fr_mul(a.raw(), b.raw()));
        }
    }

    /// Computes aᵢ ← 1/aᵢ, and 0 for 0, with one inversion (Montgomery's trick). `scratch` has as
    /// many elements as `a`, with arbitrary contents. Time depends on which elements are 0.
    fn fr_invert_many(a: &mut [Fr<Self>], scratch: &mut [Fr<Self>]) {
        // scratchᵢ is the product of the elements before i; a zero counts as 1.
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

    /// Computes (a, b) ← (a + b·w, a − b·w), the step of a Fourier transform.
    fn fr_butterfly(a: &mut Self::Fr, b: &mut Self::Fr, w: &Self::Fr) {
        let product = Self::fr_mul(b, w);
        *b = Self::fr_sub(a, &product);
        *a = Self::fr_add(a, &product);
    }

    /// Computes the discrete Fourier transform in place: bᵢ = Σ aⱼ·ω^(ij), both in natural order.
    ///
    /// There are n = 2^k values. `roots` are ω⁰, ω¹, …, ω^(n/2−1) for a primitive n-th root of
    /// unity ω.
    fn fr_transform(values: &mut [Fr<Self>], roots: &[Fr<Self>]) {
        super::fft::transform(values, roots);
    }
}

/// The two source groups, as types.
pub trait SourceGroup: private::Sealed + Copy + Send + Sync + 'static {
    /// A coordinate, or a compressed point: big-endian, for Fp2 with the coefficient of u first.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// Two coordinates: an uncompressed point.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// The name of the group.
    const NAME: &'static str;

    /// All zeros.
    const COMPRESSED: Self::Compressed;

    /// All zeros.
    const UNCOMPRESSED: Self::Uncompressed;

    /// The degree of a coordinate's field over Fp.
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

/// Arithmetic on the points of one of the two curves, which contains the group of order r.
///
/// Methods are correct for every point of the curve, including infinity and equal or opposite
/// points, unless they require members of the group.
pub trait Group<G: SourceGroup>: Scalars {
    /// A point in coordinates whose addition needs no inversion.
    type Projective: Copy + Send + Sync + 'static;

    /// A point in affine coordinates, or infinity.
    type Affine: Copy + Send + Sync + 'static;

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
        msm::multiply_integer::<Self, G>(a, k)
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
        msm::by_buckets::<Self, G>(
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
        msm::by_buckets::<Self, G>(n, point, integer)
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
        super::hash::expand(message, &super::hash::Dst::new(dst), uniform.as_flattened_mut());
        Self::map_to_curve(uniform)
    }

    /// Runs encode_to_curve of RFC 9380. `dst` has any length (section 5.3.3).
    fn encode_to_curve(message: &Message<'_>, dst: &[u8]) -> Self::Projective {
        let mut uniform = [[0; 64]; 2];
        let uniform = &mut uniform[..G::DEGREE];
        super::hash::expand(message, &super::hash::Dst::new(dst), uniform.as_flattened_mut());
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

/// The field Fq12, the group GT in it, and the optimal ate pairing.
///
/// The tower is Fp2 = Fp\[u\]/(u² + 1), Fp6 = Fp2\[v\]/(v³ − u − 1), Fq12 = Fp6\[w\]/(w² − v).
pub trait Pairing: Group<First> + Group<Second> {
    /// An element of Fq12.
    type Fq12: Copy + Send + Sync + 'static;

    /// The lines of a Miller loop for a finite point of G2.
    type Prepared: Clone + Send + Sync + 'static;

    /// Returns the element with these coefficients, big-endian integers below p, in the order of
    /// the tower: the coefficient of 1 before those of u, v and w.
    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> Self::Fq12;

    /// Returns the coefficients in the order of
    /// [`fq12_from_coefficients`](Self::fq12_from_coefficients).
    fn fq12_coefficients(a: &Self::Fq12) -> [[u8; 48]; 12];

    /// Returns 1.
    fn fq12_one() -> Self::Fq12;

    /// Returns whether a = b.
    fn fq12_equal(a: &Self::Fq12, b: &Self::Fq12) -> bool;

    /// Returns a + b.
    fn fq12_add(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a − b.
    fn fq12_sub(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a · b.
    fn fq12_mul(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a².
    fn fq12_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_mul(a, a)
    }

    /// Returns 1/a, and 0 for 0.
    fn fq12_invert(a: &Self::Fq12) -> Self::Fq12;

    /// Returns a to the power of p⁶: negates the coefficient of w. In GT this is the inverse.
    fn fq12_conjugate(a: &Self::Fq12) -> Self::Fq12;

    /// Returns `a` if `mask` is true, `b` if it is false.
    fn fq12_select(mask: Mask, a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns whether an element is in GT, the group of order r; 0 is not, 1 is.
    fn gt_contains(a: &Self::Fq12) -> bool;

    /// Returns a², for a member of GT.
    fn gt_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_square(a)
    }

    /// Returns a^k, for a member of GT.
    fn gt_pow(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        super::target::pow::<Self>(a, k)
    }

    /// Returns a^k, for a member of GT and a public k.
    fn gt_pow_vartime(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        super::target::pow_vartime::<Self>(a, k)
    }

    /// Returns the lines for a finite point.
    fn prepare(q: &<Self as Group<Second>>::Affine) -> Self::Prepared;

    /// Returns the product of the Miller loops of the pairs (pᵢ, qᵢ), all of them finite; 1 for no
    /// pairs. Two backends may differ by a factor that the final exponentiation maps to 1.
    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Self::Fq12;

    /// Like [`miller_loop`](Self::miller_loop), with prepared lines.
    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&Self::Prepared]) -> Self::Fq12;

    /// Returns a^(3·(p¹² − 1)/r), a member of GT, for a nonzero element.
    ///
    /// The factor 3 makes it cheaper (Hayashida, Hayasaka and Teruya, eprint 2020/875). zkcrypto
    /// and blst use it too, so that pairings agree.
    fn final_exponentiation(a: &Self::Fq12) -> Self::Fq12;
}
