//! The curve of X25519, curve25519: y² = x³ + 486662·x² + x modulo 2²⁵⁵ − 19 (RFC 7748, section
//! 4.1), with arithmetic on x only, called u.

use super::edwards::{Each, are_side_by_side, each, one};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{CurveArithmetic, CurvePrime, CurveTask, P25519};
use crate::machine::lanes::{self, LANES, Multiplication};
use crate::machine::words::Limb;
use crate::math::field::Element;

/// (486662 − 2)/4.
const A24: Limb = 121_665;

/// Steps of the ladder: for bits 253 to 3.
const STEPS: usize = 251;

/// Multiplies numbers from 2²⁵⁴ to 2²⁵⁵ that are divisible by 8 by u-coordinates, whose highest
/// bit is ignored and which may be p or more (RFC 7748, section 5); 0 if the product is the point
/// at infinity. Several go side by side on `lanes` if that is faster; the others go one by one,
/// each across the lanes if these multiply integers.
pub(crate) fn multiply_each(
    lanes: Option<lanes::Backend>,
    inputs: &[&Factors],
    products: &mut [[Limb; 4]],
) {
    match lanes {
        Some(lanes)
            if lanes.multiplication() == Multiplication::Integer
                && !are_side_by_side(lanes, inputs.len()) =>
        {
            for (input, product) in inputs.iter().zip(products) {
                *product = across(lanes, input).unwrap_or_else(|| one::<Ladder>(input));
            }
        }
        _ => each::<Ladder>(lanes, inputs, products),
    }
}

/// Multiplies one number, across the lanes if these multiply integers.
pub(crate) fn multiply(factors: &Factors) -> [Limb; 4] {
    lanes::Backend::best()
        .filter(|lanes| lanes.multiplication() == Multiplication::Integer)
        .and_then(|lanes| across(lanes, factors))
        .unwrap_or_else(|| one::<Ladder>(factors))
}

/// Multiplies one number by a ladder across the lanes, if the backend has one.
pub(crate) fn across(lanes: lanes::Backend, factors: &Factors) -> Option<[Limb; 4]> {
    let points = P25519::run_eight_curve(lanes, Across { factors })?;
    Some(one::<Finish>(&Finish { points, swap: factors.last_swap() }))
}

/// The factors of a product; the number is wiped when dropped.
pub(crate) struct Factors {
    pub(crate) number: [Limb; 4],
    pub(crate) u: [Limb; 4],
}

impl Drop for Factors {
    fn drop(&mut self) {
        ct::wipe(&mut self.number);
    }
}

impl Factors {
    /// Returns where the two points of the ladder are swapped, in bit t for bit t + 3 of the
    /// number: where that differs from the one above, so that (x2, z2) continues with the multiple
    /// by the bits so far.
    fn swaps(&self) -> [Limb; 4] {
        debug_assert!(self.number[0] & 7 == 0 && self.number[3] >> 62 == 1);
        let eighth = shifted(&self.number, 3);
        let above = shifted(&eighth, 1);
        core::array::from_fn(|i| eighth[i] ^ above[i])
    }

    /// Returns 1 if the points are to be swapped after the last step.
    const fn last_swap(&self) -> Limb {
        self.number[0] >> 3 & 1
    }
}

/// Computes products by [`multiply_each`]'s ladder on one number or on eight.
///
/// Bit 254 takes no step of the ladder, and bits 2 to 0 are doublings of the multiple alone.
pub(crate) struct Ladder;

impl Each for Ladder {
    type Input = Factors;
    type Output = [Limb; 4];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Factors],
        products: &mut [[Limb; 4]],
    ) {
        let us: [_; LANES] = core::array::from_fn(|place| {
            inputs.get(place).map_or([0; 4], |input| masked(&input.u))
        });
        let x1 = Element::<P25519, A>::load(arithmetic, &us[..A::WIDTH]);
        let one = Element::one(arithmetic);
        // P's double and P, whose multiple so far is the second one.
        let (x2, z2) = double(&x1, &one);
        let mut state: [_; 4] = [x2, z2, x1, one].map(|coordinate| *coordinate.raw());
        let mut swaps = [[0; 4]; LANES];
        for (swaps, input) in swaps.iter_mut().zip(inputs) {
            *swaps = input.swaps();
        }
        arithmetic.ladder(x1.raw(), &mut state, STEPS, &swaps, A24);
        ct::wipe(swaps.as_flattened_mut());
        let points = state.map(|value| Element::from_raw(arithmetic, value));
        let swap = arithmetic.mask(|place| Mask::from_bit(inputs[place].last_swap()));
        finish(&points, swap).store(products);
    }
}

/// The ladder of one number across lanes.
struct Across<'a> {
    factors: &'a Factors,
}

impl CurveTask<P25519> for Across<'_> {
    type Output = Option<[[Limb; 4]; 4]>;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(self, arithmetic: A) -> Self::Output {
        const ONE: [Limb; 4] = [1, 0, 0, 0];
        let u = masked(&self.factors.u);
        let mut swaps = self.factors.swaps();
        // From infinity and P, with a step for bit 254.
        let points = [ONE, [0; 4], u, ONE];
        let points = arithmetic.ladder_of_one(&u, &points, STEPS + 1, &swaps, A24);
        ct::wipe(&mut swaps);
        points
    }
}

/// The end of a ladder across lanes: its points, and whether to swap them.
struct Finish {
    points: [[Limb; 4]; 4],
    swap: Limb,
}

impl Each for Finish {
    type Input = Self;
    type Output = [Limb; 4];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Self],
        products: &mut [[Limb; 4]],
    ) {
        let points = core::array::from_fn(|i| {
            let numbers: [_; LANES] =
                core::array::from_fn(|place| inputs.get(place).map_or([0; 4], |of| of.points[i]));
            Element::load(arithmetic, &numbers[..A::WIDTH])
        });
        let swap = arithmetic.mask(|place| Mask::from_bit(inputs[place].swap));
        finish(&points, swap).store(products);
    }
}

/// Returns eight times the first point, or the second one where `swap` is true.
#[inline(always)]
fn finish<A: CurveArithmetic<P25519>>(
    [x2, z2, x3, z3]: &[Element<P25519, A>; 4],
    swap: A::Mask,
) -> Element<P25519, A> {
    let mut x = Element::select(swap, x3, x2);
    let mut z = Element::select(swap, z3, z2);
    for _ in 0..3 {
        (x, z) = double(&x, &z);
    }
    &x * &z.invert()
}

/// Returns the double of a point X/Z: X' = A²·B² and Z' = E·(A² + a24·E), for A = X + Z, B = X − Z
/// and E = A² − B².
#[inline(always)]
fn double<A: CurveArithmetic<P25519>>(
    x: &Element<P25519, A>,
    z: &Element<P25519, A>,
) -> (Element<P25519, A>, Element<P25519, A>) {
    let (aa, bb) = ((x + z).square(), (x - z).square());
    let e = &aa - &bb;
    let arithmetic = e.arithmetic();
    let product = Element::from_raw(arithmetic, arithmetic.mul_small(e.raw(), A24));
    (&aa * &bb, &e * &(&aa + &product))
}

/// Returns a number shifted right by up to 63 bits, at least one.
fn shifted(number: &[Limb; 4], bits: u32) -> [Limb; 4] {
    core::array::from_fn(|i| {
        let above = number.get(i + 1).map_or(0, |above| above << (Limb::BITS - bits));
        number[i] >> bits | above
    })
}

/// Returns u without its highest bit.
const fn masked(&[first, second, third, fourth]: &[Limb; 4]) -> [Limb; 4] {
    [first, second, third, fourth & (Limb::MAX >> 1)]
}
