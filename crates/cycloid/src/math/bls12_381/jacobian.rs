//! Points in Jacobian coordinates: (X : Y : Z) is x = X/Z², y = Y/Z³, and Z = 0 is infinity.
//!
//! The library computes in homogeneous coordinates ([`Point`]), whose additions are complete.
//! Programs that were written for other libraries hand over Jacobian ones. A conversion takes as
//! long as a fifth of an addition, so single sums are computed here without one.

use super::fp2::{Field, MaskOf};
use super::map::Mapped;
use super::point::{Affine, Point, double_jacobian};
use crate::machine::field::Masks;

/// A point in Jacobian coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Jacobian<F: Field> {
    pub(crate) x: F,
    pub(crate) y: F,
    pub(crate) z: F,
}

impl<F: Field> Jacobian<F> {
    #[inline(always)]
    fn select(mask: MaskOf<F::Arithmetic>, a: &Self, b: &Self) -> Self {
        Self {
            x: F::select(mask, &a.x, &b.x),
            y: F::select(mask, &a.y, &b.y),
            z: F::select(mask, &a.z, &b.z),
        }
    }

    /// Returns the point with Z = 1; infinity where `infinite` is true.
    #[inline(always)]
    pub(crate) fn from_affine(point: &Affine<F>, infinite: MaskOf<F::Arithmetic>) -> Self {
        let f = point.x.arithmetic();
        Self { x: point.x, y: point.y, z: F::select(infinite, &F::zero(f), &F::one(f)) }
    }

    /// Converts to homogeneous coordinates, (X·Z : Y : Z³). 2M + 1S.
    #[inline(always)]
    pub(crate) fn to_point(self) -> Point<F> {
        let one = F::one(self.x.arithmetic());
        Point {
            x: self.x.mul(&self.z),
            // Infinity may have Y = 0 here, which is no point in homogeneous coordinates.
            y: F::select(self.z.is_zero(), &one, &self.y),
            z: self.z.square().mul(&self.z),
        }
    }

    /// Converts from homogeneous coordinates, (X·Z : Y·Z² : Z). 2M + 1S.
    #[inline(always)]
    pub(crate) fn from_point(point: &Point<F>) -> Self {
        Self { x: point.x.mul(&point.z), y: point.y.mul(&point.z.square()), z: point.z }
    }

    #[inline(always)]
    pub(crate) fn is_infinity(&self) -> MaskOf<F::Arithmetic> {
        self.z.is_zero()
    }

    /// Returns the affine coordinates; (0, 0) for infinity.
    pub(crate) fn to_affine(self) -> Affine<F> {
        let inverse = self.z.invert();
        let square = inverse.square();
        Affine { x: self.x.mul(&square), y: self.y.mul(&square.mul(&inverse)) }
    }

    /// Returns where the points are equal.
    pub(crate) fn equal(&self, other: &Self) -> MaskOf<F::Arithmetic> {
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let x = self.x.mul(&zz2).equal(&other.x.mul(&zz1));
        let y1 = self.y.mul(&zz2.mul(&other.z));
        let y = y1.equal(&other.y.mul(&zz1.mul(&self.z)));
        let (first, second) = (self.is_infinity(), other.is_infinity());
        (first & second) | (x & y & !first & !second)
    }

    /// Returns 2P; see [`double_jacobian`].
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        let [x, y, z] = double_jacobian(&[self.x, self.y, self.z]);
        Self { x, y, z }
    }

    /// Returns P + Q, or infinity for two equal points: "add-2007-bl". 11M + 5S.
    #[inline(always)]
    pub(crate) fn add(&self, other: &Self) -> Self {
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let u1 = self.x.mul(&zz2);
        let s1 = self.y.mul(&zz2.mul(&other.z));
        let s2 = other.y.mul(&zz1.mul(&self.z));
        let h = other.x.mul(&zz1).sub(&u1);
        let i = h.double().square();
        let j = h.mul(&i);
        let r = s2.sub(&s1).double();
        let v = u1.mul(&i);
        let x = r.square().sub(&j).sub(&v.double());
        let y = F::difference_of_products(&r, &v.sub(&x), &s1.double(), &j);
        let z = self.z.add(&other.z).square().sub(&zz1).sub(&zz2).mul(&h);
        let sum = Self::select(other.is_infinity(), self, &Self { x, y, z });
        Self::select(self.is_infinity(), other, &sum)
    }

    /// Returns P + Q for a finite Q, or infinity for two equal points: "madd-2007-bl". 7M + 4S.
    #[inline(always)]
    pub(crate) fn add_affine(&self, other: &Affine<F>) -> Self {
        let zz = self.z.square();
        let h = other.x.mul(&zz).sub(&self.x);
        let hh = h.square();
        let i = hh.double().double();
        let j = h.mul(&i);
        let r = other.y.mul(&zz.mul(&self.z)).sub(&self.y).double();
        let v = self.x.mul(&i);
        let x = r.square().sub(&j).sub(&v.double());
        let y = F::difference_of_products(&r, &v.sub(&x), &self.y.double(), &j);
        let z = self.z.add(&h).square().sub(&zz).sub(&hh);
        let infinity = self.is_infinity();
        Self::select(
            infinity,
            &Self::from_affine(other, MaskOf::<F::Arithmetic>::none()),
            &Self { x, y, z },
        )
    }

    /// Returns P + Q for any two points. The chord's slope R/H is replaced by the tangent's where
    /// the points are equal. 12M + 5S.
    #[inline(always)]
    pub(crate) fn add_or_double(&self, other: &Self) -> Self {
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let u1 = self.x.mul(&zz2);
        let u2 = other.x.mul(&zz1);
        let s1 = self.y.mul(&zz2.mul(&other.z));
        let s2 = other.y.mul(&zz1.mul(&self.z));
        let zz = self.z.mul(&other.z);
        let sum = Self::chord_or_tangent(self, [&u1, &s1, &zz], &u2, &s2);
        let sum = Self::select(other.is_infinity(), self, &sum);
        Self::select(self.is_infinity(), other, &sum)
    }

    /// Returns P + Q for any P and a finite Q. 9M + 5S.
    #[inline(always)]
    pub(crate) fn add_or_double_affine(&self, other: &Affine<F>) -> Self {
        let zz = self.z.square();
        let u2 = other.x.mul(&zz);
        let s2 = other.y.mul(&zz.mul(&self.z));
        let sum = Self::chord_or_tangent(self, [&self.x, &self.y, &self.z], &u2, &s2);
        let infinity = self.is_infinity();
        Self::select(infinity, &Self::from_affine(other, MaskOf::<F::Arithmetic>::none()), &sum)
    }

    /// Completes a sum from `p` and both points with the common denominator Z = Z₁·Z₂.
    ///
    /// With H = U₂ − U₁ and R = S₂ − S₁: X = R² − H²·(U₁ + U₂), Y = R·(H²·U₁ − X) − H³·S₁, and Z is
    /// multiplied by H. For equal points, H = 2Y₁ and R = 3X₁² on P itself give the same slope.
    #[inline(always)]
    fn chord_or_tangent(p: &Self, [u1, s1, zz]: [&F; 3], u2: &F, s2: &F) -> Self {
        let (h, r) = (u2.sub(u1), s2.sub(s1));
        let same = h.is_zero() & r.is_zero();
        let xx = p.x.square();
        let h = F::select(same, &p.y.double(), &h);
        let r = F::select(same, &xx.double().add(&xx), &r);
        let u = F::select(same, &p.x, u1);
        let s = F::select(same, &p.y, s1);
        let z = F::select(same, &p.z, zz);
        let sum_of_u = F::select(same, &p.x.double(), &u1.add(u2));
        let hh = h.square();
        let x = r.square().sub(&hh.mul(&sum_of_u));
        let y = F::difference_of_products(&r, &hh.mul(&u).sub(&x), &hh.mul(&h), &s);
        Self { x, y, z: z.mul(&h) }
    }
}

impl<F: Mapped> Jacobian<F> {
    /// Returns where a point is on the curve, Y² = X³ + b·Z⁶, or infinity.
    pub(crate) fn is_on_curve(&self) -> MaskOf<F::Arithmetic> {
        let zzz = self.z.square().mul(&self.z);
        let right = self.x.square().mul(&self.x).add(&F::b(self.x.arithmetic()).mul(&zzz.square()));
        self.y.square().equal(&right) | self.is_infinity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::field::{Bls12Base, Dense, Wide, WideTask};
    use crate::machine::words;
    use crate::math::bls12_381::{Endomorphism, Fp, Fp2, constants};

    struct Agree;

    /// Compares sums with those of homogeneous coordinates.
    fn agree<F: Mapped + Endomorphism>(generator: Affine<F>) {
        let f = generator.x.arithmetic();
        let infinity = Jacobian { x: F::zero(f), y: F::zero(f), z: F::zero(f) };
        let other = Jacobian { y: F::one(f), ..infinity };
        let mut points = std::vec![infinity, other];
        let mut multiple = generator.to_point();
        for _ in 0..4 {
            let point = Jacobian::from_point(&multiple);
            points.extend([point, Jacobian { y: point.y.negate(), ..point }]);
            // The same point with other coordinates.
            points.push(Jacobian::from_point(&multiple.add(&Point::infinity(f))));
            multiple = multiple.double().add(&generator.to_point());
        }
        let same = |a: &Jacobian<F>, b: &Point<F>| a.to_point().equal(b).at(0).reveal();
        for p in &points {
            assert!(p.is_on_curve().at(0).reveal());
            assert!(same(&p.double(), &p.to_point().double()));
            for q in &points {
                let sum = p.to_point().add(&q.to_point());
                assert!(same(&p.add_or_double(q), &sum));
                let equal = p.equal(q).at(0).reveal();
                assert_eq!(equal, p.to_point().equal(&q.to_point()).at(0).reveal());
                if !equal {
                    assert!(same(&p.add(q), &sum));
                }
                if !q.is_infinity().at(0).reveal() {
                    let q = q.to_affine();
                    assert!(same(&p.add_or_double_affine(&q), &sum));
                    if !equal {
                        assert!(same(&p.add_affine(&q), &sum));
                    }
                }
            }
        }
        let off = Jacobian { y: generator.y.double(), x: generator.x, z: F::one(f) };
        assert!(!off.is_on_curve().at(0).reveal());
    }

    impl WideTask<Bls12Base> for Agree {
        type Output = ();

        fn run<A: Wide<Bls12Base>>(self, f: A) {
            let first = |words| <Fp<A> as Field>::import(f, &[words]);
            agree(Affine { x: first(constants::G1_X), y: first(constants::G1_Y) });
            let second = |words| <Fp2<A> as Field>::import(f, &[words]);
            agree(Affine { x: second(constants::G2_X), y: second(constants::G2_Y) });
        }
    }

    #[test]
    fn sums_agree_with_homogeneous_coordinates() {
        for backend in words::Backend::available() {
            Bls12Base::run_one_wide(backend, Agree);
        }
    }
}
