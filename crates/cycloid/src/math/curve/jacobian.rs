//! Points in Jacobian coordinates: (X : Y : Z) is x = X/Z², y = Y/Z³, and Z = 0 is infinity; one
//! point or eight.
//!
//! Formulas: Cohen, Miyaji, Ono, Efficient elliptic curve exponentiation using mixed coordinates,
//! 1998, for a = −3. Doubling is correct for every point of a group of odd order. The additions are
//! *incomplete*: correct for distinct finite points, including opposite points, which give
//! infinity. Callers state why this holds, or correct the result with [`Added::complete`] and
//! [`Jacobian::add_any`].

use super::{Curve, Words};
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

    /// Returns 2P. 4M + 4S.
    #[inline]
    pub(super) fn double(&self) -> Self {
        let arithmetic = self.z.arithmetic();
        match arithmetic.double_times(&self.raw(), 1) {
            Some(point) => Self::from_raw(arithmetic, point),
            None => self.double_by_formula(),
        }
    }

    /// Returns P doubled `times` times; `times` is public.
    #[inline]
    pub(super) fn double_times(&self, times: usize) -> Self {
        let arithmetic = self.z.arithmetic();
        if let Some(point) = arithmetic.double_times(&self.raw(), times) {
            return Self::from_raw(arithmetic, point);
        }
        let mut point = *self;
        for _ in 0..times {
            point = point.double_by_formula();
        }
        point
    }

    #[inline(never)]
    fn double_by_formula(&self) -> Self {
        self.z.arithmetic().run(
            #[inline(always)]
            || self.double_inline(),
        )
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

    /// Returns P + Q. 12M + 4S.
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

    /// Returns P + Q. 8M + 3S.
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

    #[inline(always)]
    pub(super) fn raw(&self) -> [A::Element; 3] {
        [*self.x.raw(), *self.y.raw(), *self.z.raw()]
    }

    #[inline(always)]
    pub(super) fn from_raw(arithmetic: A, coordinates: [A::Element; 3]) -> Self {
        let [x, y, z] = coordinates.map(|value| Element::from_raw(arithmetic, value));
        Self { x, y, z }
    }

    /// Returns P + Q for any points.
    pub(super) fn add_any(&self, other: &Self) -> Self {
        let sum = self.add(other).complete(self);
        let sum = Self::select(other.is_infinity(), self, &sum);
        Self::select(self.is_infinity(), other, &sum)
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
        // Z₀·…·Zᵢ; the last product is inverted and taken apart again.
        let mut products = points.map(|point| point.z);
        for i in 1..N {
            products[i] = &products[i - 1] * &points[i].z;
        }
        let mut inverse = products[N - 1].invert();
        let mut affine = *points;
        for i in (0..N).rev() {
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

impl<C: Curve, A: Arithmetic<C::Field>> Added<C, A> {
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

    /// Returns Z of the sum divided by the product of the points' Z.
    #[inline(always)]
    pub(super) fn difference(&self) -> &Element<C::Field, A> {
        &self.h
    }

    /// Returns the sum, even if the points are equal; `point` is one of them.
    pub(super) fn complete(self, point: &Jacobian<C, A>) -> Jacobian<C, A> {
        let same = self.h.is_zero() & self.r.is_zero();
        Jacobian::select(same, &point.double(), &self.sum)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::field::{Limbs, Prime, Task};
    use crate::machine::words;
    use crate::math::curve::{P224, P256, P384, P521};

    /// Compares a kernel's doubles with the formula's, for any coordinates; returns whether there
    /// is a kernel.
    struct DoublesAgree<C>(core::marker::PhantomData<C>);

    impl<C: Curve> Task<C::Field> for DoublesAgree<C> {
        type Output = bool;

        fn run<A: Arithmetic<C::Field>>(self, arithmetic: A) -> bool {
            let small = |value: u64| {
                let mut number = Words::<C>::ZERO;
                number.as_mut()[0] = value;
                Element::<C::Field, A>::constant(arithmetic, &number)
            };
            // Small numbers and their negatives in memory form too, if that is Montgomery form.
            let from_form = small(2).pow(&[64 * C::B.as_ref().len() as u64]).invert();
            let mut coordinates = std::vec::Vec::new();
            for value in [0, 1, 2, 0xffff_ffff, u64::MAX] {
                let element = small(value);
                let formed = &element * &from_form;
                coordinates.extend([element, -&element, formed, -&formed]);
            }
            for _ in 0..40 {
                let last = coordinates[coordinates.len() - 1];
                let before = coordinates[coordinates.len() - 2];
                coordinates.push(&(&last.square() + &before) - &small(3));
            }
            let n = coordinates.len();
            let point = |i: usize, j: usize| Jacobian::<C, A> {
                x: coordinates[i % n],
                y: coordinates[j % n],
                z: coordinates[(i + 3 * j) % n],
            };
            let same = |a: &Element<C::Field, A>, b: &Element<C::Field, A>| {
                assert!(!(!a.equal(b)).reveal_any(), "{} {}", C::NAME, A::NAME);
            };
            let same_point = |a: &Jacobian<C, A>, b: &Jacobian<C, A>| {
                same(&a.x, &b.x);
                same(&a.y, &b.y);
                same(&a.z, &b.z);
            };
            for i in 0..n {
                for j in 0..n {
                    let p = point(i, j);
                    same_point(&p.double(), &p.double_by_formula());
                }
            }
            let p = point(9, 30);
            let thrice = p.double_by_formula().double_by_formula().double_by_formula();
            same_point(&p.double_times(3), &thrice);
            same_point(&p.double_times(0), &p);
            arithmetic.double_times(&p.raw(), 1).is_some()
        }
    }

    fn has_kernel<C: Curve>(backend: words::Backend) -> bool {
        C::Field::run_one(backend, DoublesAgree::<C>(core::marker::PhantomData))
    }

    #[test]
    fn doubles_agree_with_the_formula() {
        for backend in words::Backend::available() {
            let (p256, others) = (
                has_kernel::<P256>(backend),
                has_kernel::<P224>(backend)
                    | has_kernel::<P384>(backend)
                    | has_kernel::<P521>(backend),
            );
            assert_eq!(p256, backend.name() == "adx");
            assert!(!others);
        }
    }
}
