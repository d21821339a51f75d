//! Maps to the curves (RFC 9380), square roots, and points from their x coordinates.
//!
//! The simplified SWU map leads to an isogenous curve, and the isogeny from there to the target
//! curve. x coordinates stay fractions throughout, so nothing is inverted.

use super::constants::{
    HALF, ISO1_X_DEN, ISO1_X_NUM, ISO1_Y_DEN, ISO1_Y_NUM, ISO2_X_DEN, ISO2_X_NUM, ISO2_Y_DEN,
    ISO2_Y_NUM, SSWU1_A, SSWU1_B, SSWU1_C, SSWU1_Z, SSWU2_A, SSWU2_B, SSWU2_C, SSWU2_Z, TWO_256,
};
use super::fp2::{Field, Fp2, MaskOf};
use super::multiply::Endomorphism;
use super::point::{Affine, Point};
use super::{Fp, Words};
use crate::machine::ct::Mask;
use crate::machine::field::{Bls12Base, Prime, Wide};
use crate::math::field::MAX_WIDTH;

/// A field with a map to its curve.
pub(crate) trait Mapped: Field {
    /// A′, B′ and Z of the isogenous curve.
    const SSWU: [Self::Memory; 3];

    /// The isogeny's polynomials: numerator and denominator of x, then of y; the denominators
    /// without their leading coefficient, 1.
    const ISOGENY: [&'static [Self::Memory]; 4];

    /// Returns the image of the point (n/d, y) of the isogenous curve.
    fn isogeny(n: &Self, d: &Self, y: &Self) -> Point<Self>;

    /// Returns √(u/v) and true, or √(Z·u/v) and false if u/v is not a square; v is not 0. The root
    /// of 0 is 0.
    fn square_root_of_ratio(u: &Self, v: &Self) -> (MaskOf<Self::Arithmetic>, Self);

    /// Returns the parity that distinguishes y from −y (RFC 9380, section 4.1).
    fn sign(&self) -> MaskOf<Self::Arithmetic>;

    /// Returns whether y is the larger of y and −y as integers, comparing the coefficient of u
    /// first.
    fn is_larger(&self) -> MaskOf<Self::Arithmetic>;

    /// Returns the curve's b.
    fn b(arithmetic: Self::Arithmetic) -> Self;

    /// Reduces `DEGREE` big-endian integers of 64 bytes for each number modulo p.
    fn from_uniform(arithmetic: Self::Arithmetic, uniform: &[&[[u8; 64]]]) -> Self;
}

impl<A: Wide<Bls12Base>> Fp<A> {
    /// Returns a^((p − 3)/4).
    pub(crate) fn pow_p_minus_3_over_4(&self) -> Self {
        const EXPONENT: Words = {
            let p = Bls12Base::MODULUS;
            let mut shifted = [0; 6];
            let mut i = 0;
            while i < 6 {
                shifted[i] = p[i] >> 2 | if i < 5 { p[i + 1] << 62 } else { 0 };
                i += 1;
            }
            shifted
        };
        self.pow(&EXPONENT)
    }

    /// Returns the integers.
    fn integers(&self) -> [Words; MAX_WIDTH] {
        let mut integers = [[0; 6]; MAX_WIDTH];
        self.store(&mut integers[..A::WIDTH]);
        integers
    }

    fn parity(&self) -> MaskOf<A> {
        let integers = self.integers();
        self.arithmetic().mask(|place| Mask::from_bit(integers[place][0] & 1))
    }

    fn is_above_half(&self) -> MaskOf<A> {
        // If y is more than (p − 1)/2, 2y is p or more, and odd after subtracting p.
        self.double().parity()
    }
}

impl<A: Wide<Bls12Base>> Mapped for Fp<A> {
    const SSWU: [Words; 3] = [SSWU1_A, SSWU1_B, SSWU1_Z];
    const ISOGENY: [&'static [Words]; 4] = [&ISO1_X_NUM, &ISO1_X_DEN, &ISO1_Y_NUM, &ISO1_Y_DEN];

    fn isogeny(n: &Self, d: &Self, y: &Self) -> Point<Self> {
        isogeny::<Self, { ISO1_Y_NUM.len() }>(n, d, y)
    }

    /// Implements RFC 9380, appendix F.2.1.2.
    #[inline(never)]
    fn square_root_of_ratio(u: &Self, v: &Self) -> (MaskOf<A>, Self) {
        let uv = u * v;
        let root = &(&uv * &v.square()).pow_p_minus_3_over_4() * &uv;
        let square = (&root.square() * v).equal(u);
        let other = &root * &Self::constant_from(u.arithmetic(), &SSWU1_C);
        (square, Self::select(square, &root, &other))
    }

    fn sign(&self) -> MaskOf<A> {
        self.parity()
    }

    fn is_larger(&self) -> MaskOf<A> {
        self.is_above_half()
    }

    fn b(arithmetic: A) -> Self {
        Self::one(arithmetic).double().double()
    }

    fn from_uniform(arithmetic: A, uniform: &[&[[u8; 64]]]) -> Self {
        from_uniform(arithmetic, |place| &uniform[place][0])
    }
}

impl<A: Wide<Bls12Base>> Mapped for Fp2<A> {
    const SSWU: [[Words; 2]; 3] = [SSWU2_A, SSWU2_B, SSWU2_Z];
    const ISOGENY: [&'static [[Words; 2]]; 4] =
        [&ISO2_X_NUM, &ISO2_X_DEN, &ISO2_Y_NUM, &ISO2_Y_DEN];

    fn isogeny(n: &Self, d: &Self, y: &Self) -> Point<Self> {
        isogeny::<Self, { ISO2_Y_NUM.len() }>(n, d, y)
    }

    /// Uses a = u·v, whose norm n is a square in Fp if a is one in Fp2. The first power gives √n,
    /// and 1/n, from which 1/v follows.
    #[inline(never)]
    fn square_root_of_ratio(u: &Self, v: &Self) -> (MaskOf<A>, Self) {
        let f = u.arithmetic();
        let a = u.mul(v);
        let n = a.norm();
        let power = n.pow_p_minus_3_over_4();
        let root = &n * &power;
        let square = root.square().equal(&n);
        // power² = ±1/n, + where n is a square.
        let n_inverse = power.square().negate_if(!square);
        let v_inverse = v.conjugate().scale(&(&u.norm() * &n_inverse));
        // If n is not a square, root² = −n, and −5·root² is the norm of Z·a.
        let za = a.mul(&Self::constant(f, &SSWU2_Z));
        let a = Self::select(square, &a, &za);
        let norm_root = Fp::select(square, &root, &(&root * &Fp::constant_from(f, &SSWU2_C)));
        (square, square_root(&a, &norm_root).mul(&v_inverse))
    }

    fn sign(&self) -> MaskOf<A> {
        let [c0, c1] = self.parts();
        c0.parity() | (c0.is_zero() & c1.parity())
    }

    fn is_larger(&self) -> MaskOf<A> {
        let [c0, c1] = self.parts();
        c1.is_above_half() | (c1.is_zero() & c0.is_above_half())
    }

    fn b(arithmetic: A) -> Self {
        let four = Fp::b(arithmetic);
        Self::new(&four, &four)
    }

    fn from_uniform(arithmetic: A, uniform: &[&[[u8; 64]]]) -> Self {
        let part = |i: usize| from_uniform(arithmetic, |place| &uniform[place][i]);
        Self::new(&part(0), &part(1))
    }
}

/// Returns √a of a square a = a₀ + a₁·u, from s = √(a₀² + a₁²) with either sign.
///
/// With t = (a₀ + s)/2 and z = t^((p + 1)/4): if t is a square, √a = z + a₁/(2z)·u. Otherwise −t is
/// a square, z = √(−t), and √a = a₁/(2z) + z·u. z and 1/z both come from 1/z = ±t^((p − 3)/4).
fn square_root<A: Wide<Bls12Base>>(a: &Fp2<A>, s: &Fp<A>) -> Fp2<A> {
    let f = s.arithmetic();
    let [a0, a1] = a.parts();
    let half = Fp::constant_from(f, &HALF);
    // One of the two s may be −a₀; then a₁ is zero, and the other s gives t = a₀.
    let t = &(&a0 + s) * &half;
    let t = Fp::select(t.is_zero(), &a0, &t);
    let power = t.pow_p_minus_3_over_4();
    let z = &t * &power;
    let square = z.square().equal(&t);
    let other = (&(&a1 * &power) * &half).negate_if(!square);
    Fp2::new(&Fp::select(square, &z, &other), &Fp::select(square, &other, &z))
}

fn from_uniform<'a, A: Wide<Bls12Base>>(
    arithmetic: A,
    uniform: impl Fn(usize) -> &'a [u8; 64],
) -> Fp<A> {
    let half = |at: usize| {
        let mut numbers = [[0; 6]; MAX_WIDTH];
        for (place, number) in numbers[..A::WIDTH].iter_mut().enumerate() {
            let (bytes, _) = uniform(place)[at..at + 32].as_chunks::<8>();
            for (limb, bytes) in number.iter_mut().zip(bytes.iter().rev()) {
                *limb = u64::from_be_bytes(*bytes);
            }
        }
        Fp::load(arithmetic, &numbers[..A::WIDTH])
    };
    &(&half(0) * &Fp::constant_from(arithmetic, &TWO_256)) + &half(32)
}

/// Maps an element to a point of the curve (RFC 9380, sections 6.6.2, 6.6.3 and appendix F.2).
#[inline(never)]
pub(crate) fn map_to_curve<F: Mapped>(u: &F) -> Point<F> {
    let f = u.arithmetic();
    let [a, b, z] = F::SSWU.map(|constant| F::constant(f, &constant));
    let zuu = z.mul(&u.square());
    let sum = zuu.square().add(&zuu);
    let n = b.mul(&sum.add(&F::one(f)));
    let d = a.mul(&F::select(sum.is_zero(), &z, &sum.negate()));
    // g(n/d)·d³.
    let dd = d.square();
    let ddd = dd.mul(&d);
    let g = n.square().add(&a.mul(&dd)).mul(&n).add(&b.mul(&ddd));
    let (square, root) = F::square_root_of_ratio(&g, &ddd);
    let x = F::select(square, &n, &zuu.mul(&n));
    let y = F::select(square, &root, &zuu.mul(u).mul(&root));
    let differ = (y.sign() & !u.sign()) | (!y.sign() & u.sign());
    let y = F::select(differ, &y.negate(), &y);
    F::isogeny(&x, &d, &y)
}

/// Returns the image of the point (n/d, y) of the isogenous curve; `N` is the number of
/// coefficients of the isogeny's longest polynomial.
#[inline(never)]
fn isogeny<F: Mapped, const N: usize>(n: &F, d: &F, y: &F) -> Point<F> {
    let f = n.arithmetic();
    // Powers of d.
    let mut powers = [F::one(f); N];
    for i in 1..N {
        powers[i] = powers[i - 1].mul(d);
    }
    // A polynomial at n/d, times d to the power of its degree, by Horner's rule.
    let evaluate = |polynomial: &[F::Memory], first: Option<F>| {
        let mut lower = polynomial.iter().rev();
        let mut value = first.unwrap_or_else(|| {
            F::constant(f, lower.next().expect("a polynomial has coefficients"))
        });
        for (i, coefficient) in lower.enumerate() {
            value = F::sum_of_products(&value, n, &F::constant(f, coefficient), &powers[i + 1]);
        }
        value
    };
    let [x_num, x_den, y_num, y_den] = F::ISOGENY;
    let x_num = evaluate(x_num, None);
    // Its degree is one less than its numerator's.
    let x_den = evaluate(x_den, Some(F::one(f))).mul(d);
    let y_num = evaluate(y_num, None).mul(y);
    let y_den = evaluate(y_den, Some(F::one(f)));
    let image = Point { x: x_num.mul(&y_den), y: y_num.mul(&x_den), z: x_den.mul(&y_den) };
    // The kernel maps to infinity.
    Point::select(image.z.is_zero(), &Point::infinity(f), &image)
}

/// Maps one element to a point of the group, or two to the sum of their points; `times_x` is that of
/// [`Endomorphism::clear_cofactor`].
pub(crate) fn to_group<F: Mapped + Endomorphism>(
    elements: &[F],
    times_x: impl Fn(&Point<F>) -> Point<F>,
) -> Point<F> {
    let points = elements.iter().map(map_to_curve);
    let sum = points.reduce(|a, b| a.add(&b)).expect("one element or two");
    F::clear_cofactor(&sum, times_x)
}

/// Returns x³ + b.
fn square_of_ordinate<F: Mapped>(x: &F) -> F {
    x.square().mul(x).add(&F::b(x.arithmetic()))
}

/// Returns where a point is on the curve.
pub(crate) fn is_on_curve<F: Mapped>(point: &Affine<F>) -> MaskOf<F::Arithmetic> {
    point.y.square().equal(&square_of_ordinate(&point.x))
}

/// Returns the points with these x coordinates, and where they exist. Of the two y coordinates,
/// takes the larger one where `larger` is set.
pub(crate) fn decompress<F: Mapped>(
    x: &F,
    larger: MaskOf<F::Arithmetic>,
) -> (MaskOf<F::Arithmetic>, Affine<F>) {
    let (square, y) = F::square_root_of_ratio(&square_of_ordinate(x), &F::one(x.arithmetic()));
    let is_larger = y.is_larger();
    let differ = (is_larger & !larger) | (!is_larger & larger);
    (square, Affine { x: *x, y: F::select(differ, &y.negate(), &y) })
}
