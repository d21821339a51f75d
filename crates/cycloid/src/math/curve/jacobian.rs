//! Points in Jacobian coordinates: (X : Y : Z) is x = X/Z², y = Y/Z³, and Z = 0 infinity; one point
//! or eight.
//!
//! Formulas: Cohen, Miyaji, Ono, Efficient elliptic curve exponentiation using mixed coordinates,
//! 1998, for a = −3. Doubling is right for every point of a group of odd order. The additions are
//! *incomplete*: right where neither point is infinity and the points are not the same, and for
//! opposite points, which give infinity. Whoever calls one says why that holds, or corrects it by
//! [`Added::complete`] and [`Jacobian::add_any`].

use super::{AffinePoint, Curve, Words};
use crate::machine::field::{Arithmetic, Masks};
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

/// An incomplete sum, with what is needed to correct it: the differences of the abscissas and of
/// the ordinates, over common denominators.
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
    /// From the coordinates of [`WIDTH`](Arithmetic::WIDTH) points.
    pub(super) fn load(arithmetic: A, x: &[Words<C>], y: &[Words<C>]) -> Self {
        Self { x: Element::load(arithmetic, x), y: Element::load(arithmetic, y) }
    }

    /// This point, negated where `mask` is true.
    #[inline(always)]
    pub(super) fn negate_if(&self, mask: A::Mask) -> Self {
        Self { x: self.x, y: self.y.negate_if(mask) }
    }

    /// From points.
    pub(super) fn of_points(arithmetic: A, points: &[AffinePoint<C>]) -> Self {
        let (mut x, mut y) = ([C::B; MAX_WIDTH], [C::B; MAX_WIDTH]);
        for (i, point) in points.iter().enumerate() {
            (x[i], y[i]) = (*point.x(), *point.y());
        }
        Self::load(arithmetic, &x[..A::WIDTH], &y[..A::WIDTH])
    }

    /// With Z = 1.
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

    /// `a` where `mask` is true, `b` where it is false.
    #[inline(always)]
    pub(super) fn select(mask: A::Mask, a: &Self, b: &Self) -> Self {
        Self {
            x: Element::select(mask, &a.x, &b.x),
            y: Element::select(mask, &a.y, &b.y),
            z: Element::select(mask, &a.z, &b.z),
        }
    }

    /// This point, negated where `mask` is true.
    #[inline(always)]
    pub(super) fn negate_if(&self, mask: A::Mask) -> Self {
        Self { x: self.x, y: self.y.negate_if(mask), z: self.z }
    }

    /// 2P. 4M + 4S.
    #[inline(never)]
    pub(super) fn double(&self) -> Self {
        self.z.arithmetic().run(
            #[inline(always)]
            || self.double_inline(),
        )
    }

    /// P doubled `times` times; `times` is public.
    #[inline]
    pub(super) fn double_times(&self, times: usize) -> Self {
        let mut point = *self;
        for _ in 0..times {
            point = point.double();
        }
        point
    }

    #[inline(always)]
    fn double_inline(&self) -> Self {
        let Self { x, y, z } = self;
        let zz = z.square();
        let two_yy = y.square().double();
        let s = x * &two_yy.double(); // 4·X·Y²
        let m = &(x - &zz) * &(x + &zz); // X² − Z⁴
        let m = &m.double() + &m; // 3·X² − 3·Z⁴
        let x3 = &m.square() - &s.double();
        let y3 = &(&m * &(&s - &x3)) - &two_yy.square().double(); // M·(S − X₃) − 8·Y⁴
        let z3 = &y.double() * z;
        Self { x: x3, y: y3, z: z3 }
    }

    /// P + Q. 12M + 4S.
    #[inline(never)]
    pub(super) fn add(&self, other: &Self) -> Added<C, A> {
        self.z.arithmetic().run(
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

    /// P + Q. 8M + 3S.
    #[inline(never)]
    pub(super) fn add_affine(&self, other: &Affine<C, A>) -> Added<C, A> {
        self.z.arithmetic().run(
            #[inline(always)]
            || {
                let zz1 = self.z.square();
                let u2 = &other.x * &zz1;
                let s2 = &other.y * &(&self.z * &zz1);
                Added::new(&self.x, &u2, &self.y, &s2, &self.z)
            },
        )
    }

    /// P + Q, whatever the points are.
    pub(super) fn add_any(&self, other: &Self) -> Self {
        let sum = self.add(other).complete(self);
        let sum = Self::select(other.is_infinity(), self, &sum);
        Self::select(self.is_infinity(), other, &sum)
    }

    /// The affine coordinates; (0, 0) for infinity.
    pub(super) fn to_affine(self) -> Affine<C, A> {
        let inverse = self.z.invert();
        let square = inverse.square();
        Affine { x: &self.x * &square, y: &self.y * &(&square * &inverse) }
    }

    /// The affine coordinates as integers.
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

impl<C: Curve, A: Arithmetic<C::Field>> Added<C, A> {
    /// From x₁ = u1/Z², x₂ = u2/Z², y₁ = s1/Z³, y₂ = s2/Z³, where Z is `z`.
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

    /// The sum, where the points may have been the same, `point` being one of them.
    pub(super) fn complete(self, point: &Jacobian<C, A>) -> Jacobian<C, A> {
        let same = self.h.is_zero() & self.r.is_zero();
        Jacobian::select(same, &point.double(), &self.sum)
    }

    /// The sum of two public points, one number, whatever it is; `None` for infinity. `point` is one
    /// of them.
    pub(super) fn complete_vartime(self, point: &Jacobian<C, A>) -> Option<Jacobian<C, A>> {
        if !self.h.is_zero().reveal_any() {
            return Some(self.sum);
        }
        self.r.is_zero().reveal_any().then(|| point.double())
    }
}
