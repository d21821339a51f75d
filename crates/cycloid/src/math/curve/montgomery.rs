//! The curve of X25519, curve25519: y² = x³ + 486662·x² + x modulo 2²⁵⁵ − 19 (RFC 7748, section
//! 4.1), with arithmetic on x only, called u.

use super::edwards::Each;
use crate::machine::ct::{self, Mask};
use crate::machine::field::{CurveArithmetic, P25519};
use crate::machine::lanes::LANES;
use crate::machine::words::Limb;
use crate::math::field::Element;

/// (486662 − 2)/4.
const A24: Limb = 121_665;

/// Steps of the ladder: for bits 253 to 3.
const STEPS: usize = 251;

/// Multiplies a number from 2²⁵⁴ to 2²⁵⁵ that is divisible by 8 by a u-coordinate, whose highest
/// bit is ignored and which may be p or more (RFC 7748, section 5); 0 if the product is the point
/// at infinity.
///
/// Bit 254 takes no step of the ladder, and bits 2 to 0 are doublings of the multiple alone.
pub(crate) struct Ladder;

/// The factors of [`Ladder`]; the number is wiped when dropped.
pub(crate) struct Factors {
    pub(crate) number: [Limb; 4],
    pub(crate) u: [Limb; 4],
}

impl Drop for Factors {
    fn drop(&mut self) {
        ct::wipe(&mut self.number);
    }
}

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
        // Swapped in a step if its bit differs from the previous one, so that (x2, z2) continues
        // with the multiple by the bits so far.
        let mut swaps = [[0; 4]; LANES];
        for (swaps, input) in swaps.iter_mut().zip(inputs) {
            debug_assert!(input.number[0] & 7 == 0 && input.number[3] >> 62 == 1);
            let eighth = shifted(&input.number, 3);
            let above = shifted(&eighth, 1);
            *swaps = core::array::from_fn(|i| eighth[i] ^ above[i]);
        }
        arithmetic.ladder(x1.raw(), &mut state, STEPS, &swaps, A24);
        ct::wipe(swaps.as_flattened_mut());
        let [x2, z2, x3, z3] = state.map(|value| Element::from_raw(arithmetic, value));
        let swap = arithmetic.mask(|place| Mask::from_bit(inputs[place].number[0] >> 3 & 1));
        let mut x = Element::select(swap, &x3, &x2);
        let mut z = Element::select(swap, &z3, &z2);
        for _ in 0..3 {
            (x, z) = double(&x, &z);
        }
        (&x * &z.invert()).store(products);
    }
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
