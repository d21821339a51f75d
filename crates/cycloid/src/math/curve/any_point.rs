//! Points of the whole group, including infinity, that may be secret: for protocols other than
//! signatures and key agreement.

use super::jacobian::{Affine, Jacobian};
use super::multiply::{base_multiple, point_multiple};
use super::{AffinePoint, Curve, Scalar, Words, multiply_add_vartime};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Arithmetic, CurveArithmetic, CurveTask, Limbs, Prime};
use crate::machine::words;
use crate::math::field::Element;

/// A point in Jacobian coordinates as integers below the prime. Neither the point nor whether it is
/// infinity is visible from its form; wiped when dropped. The same point has many representations.
#[derive(Clone)]
pub struct AnyPoint<C: Curve> {
    x: Words<C>,
    y: Words<C>,
    z: Words<C>,
}

impl<C: Curve> Drop for AnyPoint<C> {
    fn drop(&mut self) {
        for limbs in [&mut self.x, &mut self.y, &mut self.z] {
            ct::wipe(limbs.as_mut());
        }
    }
}

impl<C: Curve> From<AffinePoint<C>> for AnyPoint<C> {
    fn from(point: AffinePoint<C>) -> Self {
        Self { x: *point.x(), y: *point.y(), z: *Scalar::<C>::one().words() }
    }
}

impl<C: Curve> AnyPoint<C> {
    pub(crate) fn infinity() -> Self {
        let one = *Scalar::<C>::one().words();
        Self { x: one, y: one, z: Words::<C>::ZERO }
    }

    pub(crate) fn is_infinity(&self) -> Mask {
        words::is_zero(self.z.as_ref())
    }

    /// Returns the affine coordinates; `None` for infinity, which becomes public.
    pub(crate) fn to_affine(&self) -> Option<AffinePoint<C>> {
        let point = C::point(Operation(Kind::Normalise(self)));
        let infinity = point.is_infinity().reveal();
        (!infinity).then(|| AffinePoint::new_unchecked([point.x, point.y]))
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        C::point(Operation(Kind::Add(self, other)))
    }

    pub(crate) fn negate(&self) -> Self {
        let mut negative = self.clone();
        negative.y = C::Field::MODULUS;
        words::sub(negative.y.as_mut(), self.y.as_ref());
        // A y of 0, which only infinity can have, stays 0.
        words::reduce_once(0, negative.y.as_mut(), C::Field::MODULUS.as_ref());
        negative
    }

    pub(crate) fn equal(&self, other: &Self) -> Mask {
        self.add(&other.negate()).is_infinity()
    }

    /// Returns k·G.
    pub(crate) fn base_multiple(scalar: &Scalar<C>) -> Self {
        C::point(Operation(Kind::BaseMultiple(scalar)))
    }

    /// Returns the sum of all k·P, computed one by one.
    pub(crate) fn sum_of_products<'a>(terms: impl Iterator<Item = Term<'a, C>>) -> Self {
        let products =
            terms.map(|(scalar, point)| C::point(Operation(Kind::Multiple(scalar, point))));
        products.fold(Self::infinity(), |sum, product| sum.add(&product))
    }

    /// Returns u·G plus the sum of all k·P, for public scalars and points.
    pub(crate) fn sum_of_products_vartime<'a>(
        base: &Scalar<C>,
        terms: impl Iterator<Item = Term<'a, C>>,
    ) -> Self {
        let zero = Scalar::zero();
        let (mut base, mut sum) = (base, Self::infinity());
        for (scalar, point) in terms {
            // Multiples of infinity are infinity.
            if let Some(point) = point.to_affine() {
                let product = multiply_add_vartime(base, scalar, &point);
                sum = sum.add(&product.map_or_else(Self::infinity, Self::from));
                base = &zero;
            }
        }
        sum.add(&Self::base_multiple(base))
    }

    fn load<A: Arithmetic<C::Field>>(&self, arithmetic: A) -> Jacobian<C, A> {
        let [x, y, z] = [self.x, self.y, self.z].map(|word| Element::load(arithmetic, &[word]));
        Jacobian { x, y, z }
    }

    fn store<A: Arithmetic<C::Field>>(point: &Jacobian<C, A>) -> Self {
        let [x, y, z] = [&point.x, &point.y, &point.z].map(|element| {
            let mut word = [Words::<C>::ZERO];
            element.store(&mut word);
            word[0]
        });
        Self { x, y, z }
    }
}

/// A scalar and the point that it multiplies.
pub(crate) type Term<'a, C> = (&'a Scalar<C>, &'a AnyPoint<C>);

/// An operation whose result is a point.
pub struct Operation<'a, C: Curve>(Kind<'a, C>);

enum Kind<'a, C: Curve> {
    /// P + Q.
    Add(&'a AnyPoint<C>, &'a AnyPoint<C>),
    /// P with Z = 1, or with Z = 0 for infinity.
    Normalise(&'a AnyPoint<C>),
    /// k·P.
    Multiple(&'a Scalar<C>, &'a AnyPoint<C>),
    /// k·G.
    BaseMultiple(&'a Scalar<C>),
}

impl<C: Curve> CurveTask<C::Field> for Operation<'_, C> {
    type Output = AnyPoint<C>;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> AnyPoint<C> {
        let infinity = Jacobian::<C, A>::infinity(arithmetic);
        let point = match self.0 {
            Kind::Add(a, b) => a.load(arithmetic).add_any(&b.load(arithmetic)),
            Kind::Normalise(point) => {
                let point = point.load(arithmetic);
                let affine = point.to_affine().to_jacobian();
                Jacobian::select(point.is_infinity(), &infinity, &affine)
            }
            Kind::Multiple(scalar, point) => {
                let point = point.load(arithmetic);
                // G replaces infinity; its multiple is discarded.
                let at_infinity = point.is_infinity();
                let generator = Affine::of_points(arithmetic, &[AffinePoint::GENERATOR]);
                let generator = generator.to_jacobian();
                let affine = Jacobian::select(at_infinity, &generator, &point).to_affine();
                let multiple = point_multiple(core::slice::from_ref(scalar), &affine);
                Jacobian::select(at_infinity, &infinity, &multiple)
            }
            Kind::BaseMultiple(scalar) => base_multiple(arithmetic, core::slice::from_ref(scalar)),
        };
        AnyPoint::store(&point)
    }
}
