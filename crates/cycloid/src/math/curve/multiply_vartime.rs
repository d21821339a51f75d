//! Sums u₁·G + u₂·Q of public scalars and points, for verifying signatures.
//!
//! A single sum processes both scalars together (Straus), in non-adjacent forms with rare odd
//! digits. Eight sums have no common digit places, so they use the regular forms of `multiply`.

use super::compact::{Term, is_compact, sum_of_multiples};
use super::jacobian::{Affine, Jacobian};
use super::multiply::{BaseTable, base_multiple, point_multiple};
use super::{AffinePoint, Curve, Scalar, Words};
use crate::machine::field::{CurveArithmetic, CurveTask, Masks, Prime};
use crate::machine::lanes::{self, LANES};
use crate::machine::words::{self, LIMB_BITS, Limb};
use crate::math::field::{Element, MAX_WIDTH};

/// Digits of Q's scalar are odd and less than 2^(WINDOW − 1).
pub(super) const WINDOW: usize = 6;

/// Number of odd multiples of Q.
const MULTIPLES: usize = 1 << (WINDOW - 2);

/// Returns u₁·G + u₂·Q; `None` for infinity.
pub(crate) fn multiply_add_vartime<C: Curve>(
    u1: &Scalar<C>,
    u2: &Scalar<C>,
    q: &AffinePoint<C>,
) -> Option<AffinePoint<C>> {
    C::sum_vartime(Sum { u1, u2, q })
}

/// Returns whether u₁·G + u₂·Q is a point whose x coordinate is `x` modulo n; `x` is not 0.
pub(crate) fn has_x_vartime<C: Curve>(
    u1: &Scalar<C>,
    u2: &Scalar<C>,
    q: &AffinePoint<C>,
    x: &Scalar<C>,
) -> bool {
    C::has_x_vartime(HasX { u1, u2, q, x })
}

/// Like [`has_x_vartime`], for eight.
pub(crate) fn has_x_eight_vartime<C: Curve>(
    backend: lanes::Backend,
    u1: &[Scalar<C>; LANES],
    u2: &[Scalar<C>; LANES],
    q: &[AffinePoint<C>; LANES],
    x: &[Scalar<C>; LANES],
) -> [bool; LANES] {
    C::has_x_eight_vartime(backend, HasXEight { u1, u2, q, x })
}

/// Computes u₁·G + u₂·Q.
pub struct Sum<'a, C: Curve> {
    pub(super) u1: &'a Scalar<C>,
    pub(super) u2: &'a Scalar<C>,
    pub(super) q: &'a AffinePoint<C>,
}

impl<C: Curve> CurveTask<C::Field> for Sum<'_, C> {
    type Output = Option<AffinePoint<C>>;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> Self::Output {
        let sum = sum_vartime(self.u1, self.u2, &Affine::of_points(arithmetic, &[*self.q]))?;
        AffinePoint::from_jacobian_vartime(&sum)
    }
}

/// Tests whether a sum has an x coordinate.
pub struct HasX<'a, C: Curve> {
    pub(super) u1: &'a Scalar<C>,
    pub(super) u2: &'a Scalar<C>,
    pub(super) q: &'a AffinePoint<C>,
    pub(super) x: &'a Scalar<C>,
}

impl<C: Curve> CurveTask<C::Field> for HasX<'_, C> {
    type Output = bool;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> bool {
        let q = Affine::of_points(arithmetic, core::slice::from_ref(self.q));
        sum_vartime(self.u1, self.u2, &q)
            // Whether a signature is valid is the task's result; everything is public.
            .is_some_and(|sum| has_x(&sum, core::slice::from_ref(self.x)).reveal_any())
    }
}

/// Tests whether each of eight sums has its x coordinate.
pub struct HasXEight<'a, C: Curve> {
    u1: &'a [Scalar<C>; LANES],
    u2: &'a [Scalar<C>; LANES],
    q: &'a [AffinePoint<C>; LANES],
    x: &'a [Scalar<C>; LANES],
}

impl<C: Curve> CurveTask<C::Field> for HasXEight<'_, C> {
    type Output = [bool; LANES];

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> [bool; LANES] {
        let of_g = base_multiple::<C, A>(arithmetic, self.u1);
        let of_q = point_multiple(self.u2, &Affine::of_points(arithmetic, self.q));
        let sum = of_g.add_any(&of_q);
        let right = has_x(&sum, self.x) & !sum.is_infinity();
        // Whether each signature is valid is the task's result.
        core::array::from_fn(|lane| right.at(lane).reveal())
    }
}

/// Returns where a finite point's x coordinate is `x` modulo n: where X = x·Z², or where x + n is
/// below p and X = (x + n)·Z².
pub(super) fn has_x<C: Curve, A: CurveArithmetic<C::Field>>(
    point: &Jacobian<C, A>,
    x: &[Scalar<C>],
) -> A::Mask {
    let arithmetic = point.x.arithmetic();
    let zz = point.z.square();
    let has = |candidates: &[Words<C>; MAX_WIDTH]| {
        let x = Element::<C::Field, A>::load(arithmetic, &candidates[..A::WIDTH]);
        point.x.equal(&(&x * &zz))
    };
    let mut candidates = [C::B; MAX_WIDTH];
    let mut second = [None; MAX_WIDTH];
    for (i, x) in x.iter().enumerate() {
        candidates[i] = *x.words();
        let mut sum = *x.words();
        let carry = words::add(sum.as_mut(), C::ORDER.as_ref());
        // x is part of a signature, which is public.
        let below = words::is_less(sum.as_ref(), C::Field::MODULUS.as_ref()).reveal();
        second[i] = (carry == 0 && below).then_some(sum);
    }
    let mut right = has(&candidates);
    // True for one in 2¹²⁸ of the numbers below p, or for chosen ones.
    if second.iter().any(Option::is_some) {
        for (candidate, second) in candidates.iter_mut().zip(second) {
            *candidate = second.unwrap_or(*candidate);
        }
        right = right | has(&candidates);
    }
    right
}

/// Returns one u₁·G + u₂·Q; `None` for infinity, if all digits are 0 or the sum is infinity.
pub(super) fn sum_vartime<C: Curve, A: CurveArithmetic<C::Field>>(
    u1: &Scalar<C>,
    u2: &Scalar<C>,
    q: &Affine<C, A>,
) -> Option<Jacobian<C, A>> {
    let arithmetic = q.x.arithmetic();
    if is_compact::<C, A>() {
        let g = Affine::of_points(arithmetic, &[AffinePoint::GENERATOR]);
        let terms = [Term::new(arithmetic, u1, &g), Term::new(arithmetic, u2, q)];
        let sum = sum_of_multiples(arithmetic, &terms);
        // All of it is public.
        return (!sum.is_infinity().reveal_any()).then_some(sum);
    }
    let table = const { BaseTable::of::<C, A>() };
    let BaseTable { window, limbs, .. } = table;
    // The first table of G contains the odd multiples below 2^window.
    let of_g = NonAdjacent::new::<C>(u1, if table.is_none() { WINDOW } else { window + 1 });
    let of_q = NonAdjacent::new::<C>(u2, WINDOW);
    let multiples: [_; MULTIPLES] = odd_multiples(&q.to_jacobian());
    let generator = || Affine::of_points(arithmetic, &[AffinePoint::GENERATOR]).to_jacobian();
    let of_generator: Option<[_; MULTIPLES]> =
        table.is_none().then(|| odd_multiples::<C, A, MULTIPLES>(&generator()));
    let places = of_g.places.max(of_q.places);
    let mut sum = Running::new();
    for place in (0..places).rev() {
        sum.double();
        if let Some((negative, index)) = of_q.digit(place) {
            sum.add(&signed(&multiples[index], negative));
        }
        if let Some((negative, index)) = of_g.digit(place) {
            if let Some(multiples) = &of_generator {
                sum.add(&signed(&multiples[index], negative));
                continue;
            }
            let [x, y] = [0, 1].map(|coordinate| {
                let start = (2 * index + coordinate) * A::STORED_LIMBS;
                let stored = arithmetic.stored(&limbs[start..][..A::STORED_LIMBS]);
                Element::from_raw(arithmetic, stored)
            });
            sum.add_affine(&Affine { x, y: if negative { -&y } else { y } });
        }
    }
    sum.finish()
}

/// Returns the odd multiples of a point, from 1 on. They are distinct, since the order is a large
/// prime.
fn odd_multiples<C: Curve, A: CurveArithmetic<C::Field>, const N: usize>(
    point: &Jacobian<C, A>,
) -> [Jacobian<C, A>; N] {
    let twice = point.double();
    let mut multiples = [*point; N];
    for i in 1..N {
        multiples[i] = twice.add(&multiples[i - 1]).sum;
    }
    multiples
}

/// Returns a public point, or its negative.
#[inline(always)]
fn signed<C: Curve, A: CurveArithmetic<C::Field>>(
    point: &Jacobian<C, A>,
    negative: bool,
) -> Jacobian<C, A> {
    Jacobian { y: if negative { -&point.y } else { point.y }, ..*point }
}

/// A sum of public points. Doublings wait for the next addition, to run together.
pub(super) struct Running<C: Curve, A: CurveArithmetic<C::Field>> {
    /// The sum before the doublings; `None` while it is infinity.
    sum: Option<Jacobian<C, A>>,
    doublings: usize,
}

impl<C: Curve, A: CurveArithmetic<C::Field>> Running<C, A> {
    pub(super) const fn new() -> Self {
        Self { sum: None, doublings: 0 }
    }

    pub(super) const fn double(&mut self) {
        self.doublings += 1;
    }

    pub(super) fn add(&mut self, point: &Jacobian<C, A>) {
        self.run_doublings();
        self.sum = match &self.sum {
            None => Some(*point),
            Some(sum) => sum.add(point).complete_vartime(sum),
        };
    }

    pub(super) fn add_affine(&mut self, point: &Affine<C, A>) {
        self.run_doublings();
        self.sum = match &self.sum {
            None => Some(point.to_jacobian()),
            Some(sum) => sum.add_affine(point).complete_vartime(sum),
        };
    }

    /// Returns the sum; `None` for infinity.
    pub(super) fn finish(mut self) -> Option<Jacobian<C, A>> {
        self.run_doublings();
        self.sum
    }

    fn run_doublings(&mut self) {
        let times = core::mem::take(&mut self.doublings);
        if let (Some(sum), 1..) = (&mut self.sum, times) {
            *sum = sum.double_times(times);
        }
    }
}

/// A public scalar in non-adjacent form: at most one of w consecutive digits is nonzero, and that
/// one is odd and less than 2^(w − 1) in magnitude (Solinas, Efficient arithmetic on Koblitz
/// curves, 2000).
pub(super) struct NonAdjacent {
    /// Digits by place, 0 for most.
    digits: [i8; MAX_PLACES],
    /// The number of digits, from the highest nonzero one.
    places: usize,
}

/// Number of digits of the longest scalar, plus one for the carry.
const MAX_PLACES: usize = 522;

impl NonAdjacent {
    pub(super) fn new<C: Curve>(scalar: &Scalar<C>, width: usize) -> Self {
        let limbs = scalar.words().as_ref();
        let bits = |place: usize| {
            let (limb, bit) = (place / LIMB_BITS, place % LIMB_BITS);
            let at = |limb: usize| limbs.get(limb).copied().unwrap_or(0);
            (at(limb) >> bit | at(limb + 1) << 1 << (LIMB_BITS - 1 - bit)) & ((1 << width) - 1)
        };
        let mut digits = [0; MAX_PLACES];
        let (mut place, mut places, mut carry): (_, _, Limb) = (0, 0, 0);
        while place <= C::BITS {
            let value = bits(place) + carry;
            if value & 1 == 0 {
                place += 1;
                continue;
            }
            // An odd number below 2^width; a large one becomes negative and carries.
            carry = value >> (width - 1);
            let digit = value.cast_signed() - (carry << width).cast_signed();
            digits[place] = digit as i8;
            places = place + 1;
            place += width;
        }
        Self { digits, places }
    }

    /// Returns the number of digits, up to the highest nonzero one.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// Returns whether the digit is negative, and the index of its odd multiple; `None` for 0.
    pub(super) fn digit(&self, place: usize) -> Option<(bool, usize)> {
        let digit = self.digits[place];
        (digit != 0).then(|| (digit < 0, usize::from(digit.unsigned_abs()) / 2))
    }
}
