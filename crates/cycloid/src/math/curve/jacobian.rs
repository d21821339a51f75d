//! Points in Jacobian coordinates: (X : Y : Z) is x = X/Z², y = Y/Z³, and Z = 0 is infinity; one
//! point or eight.
//!
//! Formulas: Cohen, Miyaji, Ono, Efficient elliptic curve exponentiation using mixed coordinates,
//! 1998. Doubling is correct for every point of a group of odd order. The additions are
//! *incomplete*: correct for distinct finite points, including opposite points, which give
//! infinity. Callers state why this holds, or correct the result with [`Added::complete`] and
//! [`Jacobian::add_any`].

use super::coefficient::Coefficient;
use super::{Curve, Words};
use crate::machine::field::{Arithmetic, CurveArithmetic, Masks};
use crate::math::field::{Element, MAX_WIDTH};

/// A point in Jacobian coordinates.
pub(super) struct Jacobian<C: Curve, A: Arithmetic<C::Field>> {
    pub(super) x: Element<C::Field, A>,
    pub(super) y: Element<C::Field, A>,
    pub(super) z: Element<C::Field, A>,
}

/// A point in affine coordinates, not infinity.
pub(super) struct Affine<C: Curve, A: Arithmetic<C::Field>> {
    pub(super) x: Element<C::Field, A>,
    pub(super) y: Element<C::Field, A>,
}

/// An incomplete sum, with the values for correcting it: the differences of the x and of the y
/// coordinates, over common denominators.
pub(super) struct Added<C: Curve, A: Arithmetic<C::Field>> {
    pub(super) sum: Jacobian<C, A>,
    h: Element<C::Field, A>,
    r: Element<C::Field, A>,
}

impl<C: Curve, A: Arithmetic<C::Field>> Clone for Jacobian<C, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Curve, A: Arithmetic<C::Field>> Copy for Jacobian<C, A> {}

impl<C: Curve, A: Arithmetic<C::Field>> Clone for Affine<C, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Curve, A: Arithmetic<C::Field>> Copy for Affine<C, A> {}

impl<C: Curve, A: Arithmetic<C::Field>> Affine<C, A> {
    /// Loads the coordinates of [`WIDTH`](Arithmetic::WIDTH) points.
    pub(super) fn load(arithmetic: A, x: &[Words<C>], y: &[Words<C>]) -> Self {
        Self { x: Element::load(arithmetic, x), y: Element::load(arithmetic, y) }
    }

    /// Returns this point, negated where `mask` is true.
    #[inline(always)]
    pub(super) fn negate_if(&self, mask: A::Mask) -> Self {
        Self { x: self.x, y: self.y.negate_if(mask) }
    }

    /// Converts to Jacobian coordinates with Z = 1.
    pub(super) fn to_jacobian(self) -> Jacobian<C, A> {
        Jacobian { x: self.x, y: self.y, z: Element::one(self.x.arithmetic()) }
    }
}

impl<C: Curve, A: Arithmetic<C::Field>> Jacobian<C, A> {
    pub(super) fn infinity(arithmetic: A) -> Self {
        let one = Element::one(arithmetic);
        Self { x: one, y: one, z: Element::zero(arithmetic) }
    }

    #[inline(always)]
    pub(super) fn is_infinity(&self) -> A::Mask {
        self.z.is_zero()
    }

    /// Returns `a` where `mask` is true, `b` where it is false.
    #[inline(always)]
    pub(super) fn select(mask: A::Mask, a: &Self, b: &Self) -> Self {
        Self {
            x: Element::select(mask, &a.x, &b.x),
            y: Element::select(mask, &a.y, &b.y),
            z: Element::select(mask, &a.z, &b.z),
        }
    }

    /// Returns this point, negated where `mask` is true.
    #[inline(always)]
    pub(super) fn negate_if(&self, mask: A::Mask) -> Self {
        Self { x: self.x, y: self.y.negate_if(mask), z: self.z }
    }

    #[inline(always)]
    pub(super) fn raw(&self) -> [A::Element; 3] {
        [*self.x.raw(), *self.y.raw(), *self.z.raw()]
    }

    #[inline(always)]
    pub(super) fn from_raw(arithmetic: A, coordinates: [A::Element; 3]) -> Self {
        let [x, y, z] = coordinates.map(|value| Element::from_raw(arithmetic, value));
        Self { x, y, z }
    }

    /// Returns where finite points are equal: X₁·Z₂² = X₂·Z₁² and Y₁·Z₂³ = Y₂·Z₁³.
    pub(super) fn equal_if_finite(&self, other: &Self) -> A::Mask {
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let x = (&self.x * &zz2).equal(&(&other.x * &zz1));
        let y = (&self.y * &(&zz2 * &other.z)).equal(&(&other.y * &(&zz1 * &self.z)));
        x & y
    }

    /// Returns the affine coordinates; (0, 0) for infinity.
    pub(super) fn to_affine(self) -> Affine<C, A> {
        let inverse = self.z.invert();
        let square = inverse.square();
        Affine { x: &self.x * &square, y: &self.y * &(&square * &inverse) }
    }

    /// Normalises several finite points to Z = 1 with one inversion (Montgomery, Speeding the
    /// Pollard and elliptic curve methods of factorization, 1987, section 10.3.1).
    pub(super) fn with_z_1<const N: usize>(points: &[Self; N]) -> [Self; N] {
        Self::first_with_z_1(points, N)
    }

    /// Like [`with_z_1`](Self::with_z_1), for the first `count` points, at least one. The others
    /// stay as they are.
    pub(super) fn first_with_z_1<const N: usize>(points: &[Self; N], count: usize) -> [Self; N] {
        // Z₀·…·Zᵢ; the last product is inverted and taken apart again.
        let mut products = points.map(|point| point.z);
        for i in 1..count {
            products[i] = &products[i - 1] * &points[i].z;
        }
        let mut inverse = products[count - 1].invert();
        let mut affine = *points;
        for i in (0..count).rev() {
            let own = if i > 0 { &inverse * &products[i - 1] } else { inverse };
            inverse = &inverse * &points[i].z;
            let square = own.square();
            let (x, y) = (&points[i].x * &square, &points[i].y * &(&square * &own));
            affine[i] = Affine { x, y }.to_jacobian();
        }
        affine
    }

    /// Writes the affine coordinates as integers.
    pub(super) fn store(&self, points: &mut [[Words<C>; 2]]) {
        let affine = self.to_affine();
        let (mut x, mut y) = ([C::B; MAX_WIDTH], [C::B; MAX_WIDTH]);
        affine.x.store(&mut x[..A::WIDTH]);
        affine.y.store(&mut y[..A::WIDTH]);
        for (point, coordinates) in points.iter_mut().zip(x.into_iter().zip(y)) {
            *point = coordinates.into();
        }
    }
}

impl<C: Curve, A: CurveArithmetic<C::Field>> Jacobian<C, A> {
    /// Returns P + Q. 12M + 4S.
    #[inline(never)]
    pub(super) fn add(&self, other: &Self) -> Added<C, A> {
        let arithmetic = self.z.arithmetic();
        let kernel = arithmetic.add_jacobian(self.coordinates(), other.coordinates());
        if let Some(sum) = kernel {
            return Added::from_raw(arithmetic, sum);
        }
        arithmetic.run(
            #[inline(always)]
            || {
                let zz1 = self.z.square();
                let zz2 = other.z.square();
                let u1 = &self.x * &zz2;
                let u2 = &other.x * &zz1;
                let s1 = &self.y * &(&other.z * &zz2);
                let s2 = &other.y * &(&self.z * &zz1);
                let z1z2 = &self.z * &other.z;
                Added::new(&u1, &u2, &s1, &s2, &z1z2)
            },
        )
    }

    /// Returns P + Q. 8M + 3S.
    #[inline(never)]
    pub(super) fn add_affine(&self, other: &Affine<C, A>) -> Added<C, A> {
        let arithmetic = self.z.arithmetic();
        arithmetic.run(
            #[inline(always)]
            || {
                let sum = arithmetic.add_affine(&self.raw(), &[*other.x.raw(), *other.y.raw()]);
                Added::from_raw(arithmetic, sum)
            },
        )
    }

    /// Returns the coordinates.
    #[inline(always)]
    fn coordinates(&self) -> [&A::Element; 3] {
        [self.x.raw(), self.y.raw(), self.z.raw()]
    }

    /// Returns 2P.
    #[inline]
    pub(super) fn double(&self) -> Self {
        self.double_times(1)
    }

    /// Returns P doubled `times` times; `times` is public.
    #[inline]
    pub(super) fn double_times(&self, times: usize) -> Self {
        let arithmetic = self.z.arithmetic();
        let point = C::Coefficient::double_times(arithmetic, &self.raw(), times);
        Self::from_raw(arithmetic, point)
    }

    /// Returns P + Q for any points.
    pub(super) fn add_any(&self, other: &Self) -> Self {
        let sum = self.add(other).complete(self);
        let sum = Self::select(other.is_infinity(), self, &sum);
        Self::select(self.is_infinity(), other, &sum)
    }
}

impl<C: Curve, A: Arithmetic<C::Field>> Added<C, A> {
    /// Returns what a kernel computed: the sum, H and R.
    #[inline(always)]
    fn from_raw(arithmetic: A, [x, y, z, h, r]: [A::Element; 5]) -> Self {
        let [h, r] = [h, r].map(|value| Element::from_raw(arithmetic, value));
        Self { sum: Jacobian::from_raw(arithmetic, [x, y, z]), h, r }
    }

    /// Computes the sum from x₁ = u1/Z², x₂ = u2/Z², y₁ = s1/Z³, y₂ = s2/Z³, where Z is `z`.
    #[inline(always)]
    fn new(
        u1: &Element<C::Field, A>,
        u2: &Element<C::Field, A>,
        s1: &Element<C::Field, A>,
        s2: &Element<C::Field, A>,
        z: &Element<C::Field, A>,
    ) -> Self {
        let h = u2 - u1;
        let r = s2 - s1;
        let hh = h.square();
        let hhh = &h * &hh;
        let v = u1 * &hh;
        let x3 = &(&r.square() - &hhh) - &v.double();
        let y3 = &(&r * &(&v - &x3)) - &(s1 * &hhh);
        let z3 = z * &h;
        Self { sum: Jacobian { x: x3, y: y3, z: z3 }, h, r }
    }
}

impl<C: Curve, A: CurveArithmetic<C::Field>> Added<C, A> {
    /// Returns the sum, even if the points are equal; `point` is one of them.
    pub(super) fn complete(self, point: &Jacobian<C, A>) -> Jacobian<C, A> {
        let same = self.h.is_zero() & self.r.is_zero();
        Jacobian::select(same, &point.double(), &self.sum)
    }

    /// Returns the sum of any two finite public points, one number each. `point` is one of them.
    pub(super) fn complete_public(self, point: &Jacobian<C, A>) -> Jacobian<C, A> {
        // Both points are public.
        let same = self.h.is_zero().reveal_any() && self.r.is_zero().reveal_any();
        if same { point.double() } else { self.sum }
    }

    /// Returns the sum of any two public points, one number each; `None` for infinity. `point` is
    /// one of them.
    pub(super) fn complete_vartime(self, point: &Jacobian<C, A>) -> Option<Jacobian<C, A>> {
        if !self.h.is_zero().reveal_any() {
            return Some(self.sum);
        }
        // Both points are public.
        self.r.is_zero().reveal_any().then(|| point.double())
    }
}
