//! Points in affine coordinates, the form used in keys.

use super::coefficient::Coefficient;
use super::jacobian::{Affine, Jacobian};
use super::{Curve, Scalar, Words};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Arithmetic, Limbs, Masks, Prime, Task};
use crate::machine::words;
use crate::math::field::{Element, MAX_WIDTH};

/// A finite point on the curve: coordinates as integers below the prime.
#[derive(Clone, Copy, Debug)]
pub struct AffinePoint<C: Curve> {
    x: Words<C>,
    y: Words<C>,
}

/// Compares in constant time, since a point may be secret; the result is public.
impl<C: Curve> PartialEq for AffinePoint<C> {
    fn eq(&self, other: &Self) -> bool {
        let words = [(&self.x, &other.x), (&self.y, &other.y)];
        let words = words.iter().flat_map(|(a, b)| a.as_ref().iter().zip(b.as_ref()));
        // Whether two points are equal is the function's result.
        Mask::is_zero(words.fold(0, |any, (a, b)| any | (a ^ b))).reveal()
    }
}

impl<C: Curve> Eq for AffinePoint<C> {}

/// Why bytes do not encode a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// A coordinate is not less than the prime.
    Range,
    /// The point is not on the curve.
    NotOnCurve,
}

impl<C: Curve> AffinePoint<C> {
    /// G.
    pub(crate) const GENERATOR: Self = Self { x: C::GENERATOR[0], y: C::GENERATOR[1] };

    /// Creates a point from coordinates known to be on the curve.
    pub(super) const fn new_unchecked([x, y]: [Words<C>; 2]) -> Self {
        Self { x, y }
    }

    pub(crate) const fn x(&self) -> &Words<C> {
        &self.x
    }

    pub(crate) const fn y(&self) -> &Words<C> {
        &self.y
    }

    /// Returns the x coordinate modulo n. (p is less than 2n, by Hasse's theorem.)
    pub(crate) fn x_scalar(&self) -> Scalar<C> {
        Scalar::from_integer_below_2n(&self.x)
    }

    /// Creates the point with these coordinates, of [`Curve::BYTES`] big-endian bytes each. Time
    /// depends only on the result, which is public.
    ///
    /// # Errors
    /// [`DecodeError`] if there is no such point.
    pub(crate) fn from_coordinates(x: &[u8], y: &[u8]) -> Result<Self, DecodeError> {
        let (x, y) = (coordinate::<C>(x)?, coordinate::<C>(y)?);
        if C::is_on_curve(IsOnCurve { x: &x, y: &y }) {
            Ok(Self { x, y })
        } else {
            Err(DecodeError::NotOnCurve)
        }
    }

    /// Creates the point with this x coordinate, whose y coordinate is odd or even as given.
    ///
    /// # Errors
    /// [`DecodeError`] if there is no such point.
    pub(crate) fn from_abscissa(x: &[u8], odd: bool) -> Result<Self, DecodeError> {
        let x = coordinate::<C>(x)?;
        let y = C::ordinate(Ordinate { x: &x }).ok_or(DecodeError::NotOnCurve)?;
        let point = Self { x, y };
        // No point has y = 0, because the order of the group is odd.
        Ok(if point.y_is_odd() == odd { point } else { point.negate() })
    }

    /// Declares the point public: it is sent to others.
    pub(crate) fn mark_public(&self) {
        ct::mark_public(self.x.as_ref());
        ct::mark_public(self.y.as_ref());
    }

    #[cfg(test)]
    pub(crate) fn limbs_mut(&mut self) -> [&mut [words::Limb]; 2] {
        [self.x.as_mut(), self.y.as_mut()]
    }

    pub(crate) fn y_is_odd(&self) -> bool {
        self.y.as_ref()[0] & 1 == 1
    }

    pub(crate) fn negate(&self) -> Self {
        let mut y = C::Field::MODULUS;
        words::sub(y.as_mut(), self.y.as_ref());
        Self { x: self.x, y }
    }

    /// Converts one point; `None` if it is infinity, which becomes public.
    pub(super) fn from_jacobian_vartime<A: Arithmetic<C::Field>>(
        point: &Jacobian<C, A>,
    ) -> Option<Self> {
        if point.is_infinity().reveal_any() {
            return None;
        }
        let mut coordinates = [[C::B; 2]];
        point.store(&mut coordinates);
        Some(Self::new_unchecked(coordinates[0]))
    }
}

impl<C: Curve, A: Arithmetic<C::Field>> Affine<C, A> {
    /// Loads points.
    pub(super) fn of_points(arithmetic: A, points: &[AffinePoint<C>]) -> Self {
        let (mut x, mut y) = ([C::B; MAX_WIDTH], [C::B; MAX_WIDTH]);
        for (i, point) in points.iter().enumerate() {
            (x[i], y[i]) = (*point.x(), *point.y());
        }
        Self::load(arithmetic, &x[..A::WIDTH], &y[..A::WIDTH])
    }
}

fn coordinate<C: Curve>(bytes: &[u8]) -> Result<Words<C>, DecodeError> {
    debug_assert_eq!(bytes.len(), C::BYTES);
    let mut integer = Words::<C>::ZERO;
    words::from_be_bytes(integer.as_mut(), bytes);
    // The encoding of a point is public.
    let in_range = words::is_less(integer.as_ref(), C::Field::MODULUS.as_ref()).reveal();
    if in_range { Ok(integer) } else { Err(DecodeError::Range) }
}

/// Returns x³ + a·x + b.
pub(super) fn right_side<C: Curve, A: Arithmetic<C::Field>>(
    x: &Element<C::Field, A>,
) -> Element<C::Field, A> {
    let arithmetic = x.arithmetic();
    let cube = &x.square() * x;
    let sum = C::Coefficient::add_product(arithmetic, cube.raw(), x.raw());
    &Element::from_raw(arithmetic, sum) + &Element::constant(arithmetic, &C::B)
}

/// Tests y² = x³ + a·x + b; the result becomes public.
pub struct IsOnCurve<'a, C: Curve> {
    x: &'a Words<C>,
    y: &'a Words<C>,
}

impl<C: Curve> Task<C::Field> for IsOnCurve<'_, C> {
    type Output = bool;

    fn run<A: Arithmetic<C::Field>>(self, arithmetic: A) -> bool {
        let point = Affine::<C, A>::load(arithmetic, &[*self.x], &[*self.y]);
        // Whether a decoded point is on the curve is the task's result.
        point.y.square().equal(&right_side::<C, A>(&point.x)).reveal_any()
    }
}

/// Computes one of the two y coordinates for an x coordinate, if there are any, which becomes
/// public.
pub struct Ordinate<'a, C: Curve> {
    x: &'a Words<C>,
}

impl<C: Curve> Task<C::Field> for Ordinate<'_, C> {
    type Output = Option<Words<C>>;

    fn run<A: Arithmetic<C::Field>>(self, arithmetic: A) -> Option<Words<C>> {
        let x = Element::<C::Field, A>::load(arithmetic, &[*self.x]);
        let square = right_side::<C, A>(&x);
        let root = square.square_root();
        // Whether a decoded x coordinate has a point is the task's result.
        if !root.square().equal(&square).reveal_any() {
            return None;
        }
        let mut ordinate = [Words::<C>::ZERO];
        root.store(&mut ordinate);
        Some(ordinate[0])
    }
}
