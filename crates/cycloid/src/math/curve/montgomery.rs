//! The curve of X25519, curve25519: y² = x³ + 486662·x² + x modulo 2²⁵⁵ − 19 (RFC 7748, section
//! 4.1), with arithmetic on x only, called u.

use super::edwards::Each;
use crate::machine::ct::{self, Mask};
use crate::machine::field::{CurveArithmetic, P25519};
use crate::machine::lanes::LANES;
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::field::Element;

/// (486662 − 2)/4.
const A24: Limb = 121_665;

/// Multiplies a number below 2²⁵⁵ by a u-coordinate, whose highest bit is ignored and which may be
/// p or more (RFC 7748, section 5); 0 if the product is the point at infinity.
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
        let (zero, one) = (Element::zero(arithmetic), Element::one(arithmetic));
        let mut state: [_; 4] = [one, zero, x1, one].map(|coordinate| *coordinate.raw());
        let bit =
            |place: usize, t: usize| inputs[place].number[t / LIMB_BITS] >> (t % LIMB_BITS) & 1;
        for t in (0..255).rev() {
            // Swapped if this bit differs from the previous one, so that (x2, z2) continues with
            // the multiple by the bits so far.
            let swap = arithmetic.mask(|place| Mask::from_bit(bit(place, t) ^ bit(place, t + 1)));
            arithmetic.ladder_step(x1.raw(), &mut state, swap, A24);
        }
        let [x2, z2, x3, z3] = state.map(|value| Element::from_raw(arithmetic, value));
        let swap = arithmetic.mask(|place| Mask::from_bit(bit(place, 0)));
        let x = Element::select(swap, &x3, &x2);
        let z = Element::select(swap, &z3, &z2);
        (&x * &z.invert()).store(products);
    }
}

/// Returns u without its highest bit.
const fn masked(&[first, second, third, fourth]: &[Limb; 4]) -> [Limb; 4] {
    [first, second, third, fourth & (Limb::MAX >> 1)]
}
