//! Points of y² = x³ + b in homogeneous coordinates: (X : Y : Z) is x = X/Z, y = Y/Z, and (0 : 1 :
//! 0) is infinity; one point or eight, of either curve.
//!
//! The formulas are *complete*: correct for all points, including infinity and equal or opposite
//! points, because neither curve's order is divisible by two (Renes, Costello, Batina, Complete
//! addition formulas for prime order elliptic curves, 2016, section 3 and algorithms 7 to 9).

use super::fp2::{Field, MaskOf};
use crate::machine::field::Arithmetic;

/// Number of doublings from which on two conversions to and from Jacobian coordinates save time.
const JACOBIAN: usize = 8;

/// A point.
#[derive(Clone, Copy)]
pub(crate) struct Point<F: Field> {
    pub(crate) x: F,
    pub(crate) y: F,
    pub(crate) z: F,
}

/// A point that is not infinity.
#[derive(Clone, Copy)]
pub(crate) struct Affine<F: Field> {
    pub(crate) x: F,
    pub(crate) y: F,
}

impl<F: Field> Affine<F> {
    #[inline(always)]
    pub(crate) fn to_point(self) -> Point<F> {
        Point { x: self.x, y: self.y, z: F::one(self.x.arithmetic()) }
    }

    #[inline(always)]
    pub(crate) fn select(mask: MaskOf<F::Arithmetic>, a: &Self, b: &Self) -> Self {
        Self { x: F::select(mask, &a.x, &b.x), y: F::select(mask, &a.y, &b.y) }
    }
}

impl<F: Field> Point<F> {
    pub(crate) fn infinity(arithmetic: F::Arithmetic) -> Self {
        let zero = F::zero(arithmetic);
        Self { x: zero, y: F::one(arithmetic), z: zero }
    }

    #[inline(always)]
    pub(crate) fn is_infinity(&self) -> MaskOf<F::Arithmetic> {
        self.z.is_zero()
    }

    #[inline(always)]
    pub(crate) fn select(mask: MaskOf<F::Arithmetic>, a: &Self, b: &Self) -> Self {
        Self {
            x: F::select(mask, &a.x, &b.x),
            y: F::select(mask, &a.y, &b.y),
            z: F::select(mask, &a.z, &b.z),
        }
    }

    #[inline(always)]
    pub(crate) fn negate(&self) -> Self {
        Self { y: self.y.negate(), ..*self }
    }

    /// Returns the point, negated where `mask` is true.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: MaskOf<F::Arithmetic>) -> Self {
        Self { y: F::select(mask, &self.y.negate(), &self.y), ..*self }
    }

    /// Returns where the points are equal.
    pub(crate) fn equal(&self, other: &Self) -> MaskOf<F::Arithmetic> {
        let x = self.x.mul(&other.z).equal(&other.x.mul(&self.z));
        let y = self.y.mul(&other.z).equal(&other.y.mul(&self.z));
        // Infinity has z = x = 0, so comparing x is not sufficient.
        let same_kind = !(self.is_infinity() & !other.is_infinity())
            & !(other.is_infinity() & !self.is_infinity());
        x & y & same_kind
    }

    /// Returns 2P. 6M + 2S, with one reduction fewer.
    #[inline(never)]
    pub(crate) fn double(&self) -> Self {
        self.x.arithmetic().run(
            #[inline(always)]
            || {
                let Self { x, y, z } = self;
                let yy = y.square();
                let yy8 = yy.double().double().double();
                let bzz = z.square().mul_3b();
                let less = yy.sub(&bzz.double()).sub(&bzz); // Y² − 3·3b·Z²
                let xy = x.mul(y);
                Self {
                    x: less.mul(&xy).double(),
                    y: F::sum_of_products(&bzz, &yy8, &less, &yy.add(&bzz)),
                    z: y.mul(z).mul(&yy8),
                }
            },
        )
    }

    /// Returns P doubled `times` times; `times` is public.
    pub(crate) fn double_times(&self, times: usize) -> Self {
        if times >= JACOBIAN {
            return self.double_many_times(times);
        }
        let mut point = *self;
        for _ in 0..times {
            point = point.double();
        }
        point
    }

    /// The same in Jacobian coordinates, (X·Z : Y·Z² : Z).
    #[inline(never)]
    fn double_many_times(&self, times: usize) -> Self {
        self.x.arithmetic().run(
            #[inline(always)]
            || {
                let Self { x, y, z } = self;
                let mut point = [x.mul(z), y.mul(&z.square()), *z];
                for _ in 0..times {
                    point = double_jacobian(&point);
                }
                let [x, y, z] = &point;
                // Infinity has become (0 : 0 : 0).
                let y = F::select(z.is_zero(), &F::one(z.arithmetic()), y);
                Self { x: x.mul(z), y, z: z.square().mul(z) }
            },
        )
    }

    /// Returns P + Q. 12M, with three reductions fewer.
    #[inline(never)]
    pub(crate) fn add(&self, other: &Self) -> Self {
        self.x.arithmetic().run(
            #[inline(always)]
            || {
                let (p, q) = (self, other);
                let xx = p.x.mul(&q.x);
                let yy = p.y.mul(&q.y);
                let zz = p.z.mul(&q.z);
                let xy = p.x.add(&p.y).mul(&q.x.add(&q.y)).sub(&xx).sub(&yy);
                let yz = p.y.add(&p.z).mul(&q.y.add(&q.z)).sub(&yy).sub(&zz);
                let xz = p.x.add(&p.z).mul(&q.x.add(&q.z)).sub(&xx).sub(&zz);
                Self::finish(&xx, &yy, &xy, &yz, &xz, &zz.mul_3b())
            },
        )
    }

    /// Returns P + Q. 11M, with three reductions fewer.
    #[inline(never)]
    pub(crate) fn add_affine(&self, other: &Affine<F>) -> Self {
        self.x.arithmetic().run(
            #[inline(always)]
            || {
                let (p, q) = (self, other);
                let xx = p.x.mul(&q.x);
                let yy = p.y.mul(&q.y);
                let xy = p.x.add(&p.y).mul(&q.x.add(&q.y)).sub(&xx).sub(&yy);
                let yz = q.y.mul(&p.z).add(&p.y);
                let xz = q.x.mul(&p.z).add(&p.x);
                Self::finish(&xx, &yy, &xy, &yz, &xz, &p.z.mul_3b())
            },
        )
    }

    /// Completes a sum from X₁X₂, Y₁Y₂, X₁Y₂ + X₂Y₁, Y₁Z₂ + Y₂Z₁, X₁Z₂ + X₂Z₁ and 3b·Z₁Z₂.
    #[inline(always)]
    fn finish(xx: &F, yy: &F, xy: &F, yz: &F, xz: &F, bzz: &F) -> Self {
        let xx3 = xx.double().add(xx);
        let more = yy.add(bzz);
        let less = yy.sub(bzz);
        let bxz = xz.mul_3b();
        Self {
            x: F::difference_of_products(xy, &less, yz, &bxz),
            y: F::sum_of_products(&less, &more, &bxz, &xx3),
            z: F::sum_of_products(&more, yz, xy, &xx3),
        }
    }

    /// Returns the affine coordinates; (0, 0) for infinity.
    pub(crate) fn to_affine(self) -> Affine<F> {
        let inverse = self.z.invert();
        Affine { x: self.x.mul(&inverse), y: self.y.mul(&inverse) }
    }

    /// Backend elements per table entry.
    pub(super) const RAW: usize = 3 * F::DEGREE;
}

/// Returns twice a point in Jacobian coordinates, for a = 0: "dbl-2009-l" of the Explicit-Formulas
/// Database, with a product for 4·X·Y² and 8·Y⁴ as 2·(2Y²)². 3M + 4S.
#[inline(always)]
pub(super) fn double_jacobian<F: Field>([x, y, z]: &[F; 3]) -> [F; 3] {
    let xx = x.square();
    let yy2 = y.square().double();
    let d = x.mul(&yy2).double();
    let e = xx.double().add(&xx);
    let x3 = e.square().sub(&d.double());
    let y3 = e.mul(&d.sub(&x3)).sub(&yy2.square().double());
    [x3, y3, y.mul(z).double()]
}
