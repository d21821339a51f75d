//! The curve of Ed25519, edwards25519: −x² + y² = 1 + d·x²·y² modulo 2²⁵⁵ − 19 (RFC 8032, section
//! 5.1), one point or eight side by side.
//!
//! The group has 8·L points, where L is the prime order of the base point. The eight points that 8
//! maps to the neutral one are said to have small order. All formulas are complete: they hold for
//! any two points, since −1 is a square and d is not (Hisil, Wong, Carter, Dawson, Twisted Edwards
//! curves revisited, 2008, section 3.1).

mod decode;
mod each;
mod equation;
mod half_size;
mod multiply;
mod scalar;
#[cfg(test)]
mod tests;

pub(crate) use decode::{is_canonical, is_small_order};
pub(crate) use each::{
    Base, Combination, CombineVartime, Compare, Decode, Each, Encode, EncodeBase, Equation,
    Multiply, Negate, Sum, UOfBase, are_side_by_side, each, one,
};
pub(crate) use equation::holds_vartime;
pub(crate) use scalar::Scalar;

use super::tables::{SIZE, Size};
use crate::machine::field::{Arithmetic, CurveArithmetic, P25519};
use crate::machine::words::Limb;
use crate::math::field::Element;

/// An encoded point, 256 bits: y in the low 255, then the parity of x (RFC 8032, section 5.1.2).
pub(crate) type Encoding = [Limb; 4];

/// A point as the integers X, Y, Z and T of its extended coordinates.
pub(crate) type Stored = [Limb; 16];

/// Whether there is a table of the base point's multiples for one number.
pub(crate) const HAS_BASE_TABLE: bool = !matches!(SIZE, Size::None);

/// Residues modulo 2²⁵⁵ − 19.
type Field<A> = Element<P25519, A>;

/// d = −121665/121666.
const D: [Limb; 4] =
    [0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898, 0x5203_6cee_2b6f_fe73];

/// 2d.
const TWICE_D: [Limb; 4] =
    [0xebd6_9b94_26b2_f159, 0x00e0_149a_8283_b156, 0x198e_80f2_eef3_d130, 0x2406_d9dc_56df_fce7];

/// Points in extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z.
#[derive(Clone, Copy)]
pub(crate) struct Point<A: Arithmetic<P25519>> {
    x: Field<A>,
    y: Field<A>,
    z: Field<A>,
    t: Field<A>,
}

/// The last step of an addition or a doubling before the products that yield coordinates: x = E/G,
/// y = H/F.
#[derive(Clone, Copy)]
struct Completed<A: Arithmetic<P25519>> {
    e: Field<A>,
    f: Field<A>,
    g: Field<A>,
    h: Field<A>,
}

/// Points prepared as addends: Y + X, Y − X, 2Z, 2d·T.
#[derive(Clone, Copy)]
struct Addend<A: Arithmetic<P25519>> {
    sum: Field<A>,
    difference: Field<A>,
    z: Field<A>,
    t: Field<A>,
}

/// Points with Z = 1 prepared as addends: y + x, y − x, 2d·x·y.
#[derive(Clone, Copy)]
struct AffineAddend<A: Arithmetic<P25519>> {
    sum: Field<A>,
    difference: Field<A>,
    t: Field<A>,
}

impl<A: CurveArithmetic<P25519>> Point<A> {
    #[inline(always)]
    fn negate(&self) -> Self {
        Self { x: -&self.x, t: -&self.t, ..*self }
    }

    /// Prepares the points as addends; `twice_d` is 2d.
    #[inline(always)]
    fn addend(&self, twice_d: &Field<A>) -> Addend<A> {
        Addend {
            sum: &self.y + &self.x,
            difference: &self.y - &self.x,
            z: self.z.double(),
            t: &self.t * twice_d,
        }
    }

    /// Returns the sum, "add-2008-hwcd-3": seven products, plus those of [`Completed`].
    #[inline(always)]
    fn add(&self, other: &Addend<A>) -> Completed<A> {
        self.add_with(&other.sum, &other.difference, &other.t, &(&self.z * &other.z))
    }

    /// Returns the sum with all coordinates, or the difference where `negative` is true, which a
    /// backend may compute as a whole.
    #[inline(always)]
    fn plus_affine(&self, other: &AffineAddend<A>, negative: A::Mask) -> Self {
        let arithmetic = self.x.arithmetic();
        Self::from_raw(arithmetic, &arithmetic.add_edwards(&self.raw(), &other.raw(), negative))
    }

    /// Adds with a given `d` = 2·Z1·Z2.
    #[inline(always)]
    fn add_with(
        &self,
        sum: &Field<A>,
        difference: &Field<A>,
        t: &Field<A>,
        d: &Field<A>,
    ) -> Completed<A> {
        let a = &(&self.y - &self.x) * difference;
        let b = &(&self.y + &self.x) * sum;
        let c = &self.t * t;
        Completed { e: &b - &a, f: d - &c, g: d + &c, h: &b + &a }
    }

    /// Returns 2^`times` times the points; `times` is public and at least 1.
    #[inline(always)]
    fn double_times(&self, times: usize) -> Self {
        let mut raw = self.raw();
        self.x.arithmetic().double_edwards(&mut raw, times);
        Self::from_raw(self.x.arithmetic(), &raw)
    }

    #[inline(always)]
    fn raw(&self) -> [A::Element; 4] {
        [&self.x, &self.y, &self.z, &self.t].map(|field| *field.raw())
    }

    #[inline(always)]
    fn from_raw(arithmetic: A, raw: &[A::Element; 4]) -> Self {
        let [x, y, z, t] = raw.map(|raw| Field::from_raw(arithmetic, raw));
        Self { x, y, z, t }
    }

    /// Returns where the points are neutral.
    #[inline(always)]
    fn is_neutral(&self) -> A::Mask {
        self.x.is_zero() & self.y.equal(&self.z)
    }

    /// Returns where the points have order 1, 2, 4 or 8.
    #[inline(always)]
    fn is_of_small_order(&self) -> A::Mask {
        self.double_times(3).is_neutral()
    }
}

impl<A: Arithmetic<P25519>> Completed<A> {
    /// Returns the neutral point (0, 1).
    #[inline(always)]
    fn neutral(arithmetic: A) -> Self {
        let (zero, one) = (Field::zero(arithmetic), Field::one(arithmetic));
        Self { e: zero, f: one, g: one, h: one }
    }

    /// Returns the point with a T of no use.
    #[inline(always)]
    fn projective(&self) -> Point<A> {
        let Self { e, f, g, h } = self;
        Point { x: e * f, y: g * h, z: f * g, t: *e }
    }

    #[inline(always)]
    fn extended(&self) -> Point<A> {
        let Self { e, f, g, h } = self;
        Point { x: e * f, y: g * h, z: f * g, t: e * h }
    }
}

impl<A: Arithmetic<P25519>> Addend<A> {
    #[inline(always)]
    fn from_raw(arithmetic: A, raw: &[A::Element; 4]) -> Self {
        let [sum, difference, t, z] = raw.map(|raw| Field::from_raw(arithmetic, raw));
        Self { sum, difference, z, t }
    }

    #[inline(always)]
    fn raw(&self) -> [A::Element; 4] {
        [&self.sum, &self.difference, &self.t, &self.z].map(|field| *field.raw())
    }

    /// Returns the points, negated where `mask` is true.
    #[inline(always)]
    fn negate_if(&self, mask: A::Mask) -> Self {
        Self {
            sum: Field::select(mask, &self.difference, &self.sum),
            difference: Field::select(mask, &self.sum, &self.difference),
            z: self.z,
            t: self.t.negate_if(mask),
        }
    }
}

impl<A: Arithmetic<P25519>> AffineAddend<A> {
    #[inline(always)]
    fn from_raw(arithmetic: A, raw: &[A::Element; 3]) -> Self {
        let [sum, difference, t] = raw.map(|raw| Field::from_raw(arithmetic, raw));
        Self { sum, difference, t }
    }

    /// Returns the points, negated where `mask` is true.
    #[inline(always)]
    fn negate_if(&self, mask: A::Mask) -> Self {
        Self {
            sum: Field::select(mask, &self.difference, &self.sum),
            difference: Field::select(mask, &self.sum, &self.difference),
            t: self.t.negate_if(mask),
        }
    }

    #[inline(always)]
    fn raw(&self) -> [A::Element; 3] {
        [&self.sum, &self.difference, &self.t].map(|field| *field.raw())
    }

    /// Returns the points themselves, with all coordinates times 4.
    #[inline(always)]
    fn extended(&self) -> Point<A> {
        // With 2x = sum − difference and 2y = sum + difference, 4xy is their product.
        let x = &self.sum - &self.difference;
        let y = &self.sum + &self.difference;
        let z = Field::one(x.arithmetic()).double().double();
        Point { t: &x * &y, x: x.double(), y: y.double(), z }
    }
}
