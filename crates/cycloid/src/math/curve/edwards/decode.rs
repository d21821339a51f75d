//! Points encoded as 256 bits: y in the low 255, then the parity of x (RFC 8032, sections 5.1.2 and
//! 5.1.3).

use super::{D, Encoding, Field, Point};
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, Masks, P25519, Prime};
use crate::machine::words::{self, Limb};
use crate::math::field::MAX_WIDTH;

/// The bit with the parity of x.
const SIGN: u32 = 63;

/// A square root of −1: 2^((p − 1)/4).
const ROOT_OF_MINUS_ONE: [Limb; 4] =
    [0xc4ee_1b27_4a0e_a0b0, 0x2f43_1806_ad2f_e478, 0x2b4d_0099_3dfb_d7a7, 0x2b83_2480_4fc1_df0b];

impl<A: Arithmetic<P25519>> Point<A> {
    /// Decodes [`WIDTH`](Arithmetic::WIDTH) encodings; the mask tells where a point exists.
    ///
    /// y may be p or more, and x = 0 may be marked odd; [`is_canonical`] detects this. If there is
    /// no point, the result is not a point. Time depends on the shape only.
    #[inline(always)]
    pub(super) fn decode(arithmetic: A, encodings: &[&Encoding]) -> (Self, A::Mask) {
        let mut integers = [[0; 4]; MAX_WIDTH];
        for (integer, encoding) in integers.iter_mut().zip(encodings) {
            *integer = **encoding;
            integer[3] &= !(1 << SIGN);
        }
        let odd = arithmetic.mask(|place| Mask::from_bit(encodings[place][3] >> SIGN));
        let y = Field::load(arithmetic, &integers[..A::WIDTH]);
        let one = Field::one(arithmetic);

        // x² = u/v = (y² − 1)/(d·y² + 1). With p = 5 modulo 8, a root, if any, is r or r·√−1, where
        // r = u·v³·(u·v⁷)^((p − 5)/8).
        let yy = y.square();
        let u = &yy - &one;
        let v = &(&yy * &Field::constant(arithmetic, &D)) + &one;
        let v3 = &v.square() * &v;
        let uv7 = &(&v3.square() * &v) * &u;
        let r = &(&u * &v3) * &power_p_minus_5_over_8(&uv7);
        let check = &v * &r.square();
        let is_root = check.equal(&u);
        let is_other = check.equal(&-&u);
        let other = &r * &Field::constant(arithmetic, &ROOT_OF_MINUS_ONE);
        let x = Field::select(is_root, &r, &other);
        let x = x.negate_if(parity(&x) & !odd | !parity(&x) & odd);
        (Self { x, y, z: one, t: &x * &y }, is_root | is_other)
    }

    /// Encodes [`WIDTH`](Arithmetic::WIDTH) points.
    #[inline(always)]
    pub(super) fn encode(&self, encodings: &mut [Encoding]) {
        let inverse = self.z.invert();
        let odd = parity(&(&self.x * &inverse));
        (&self.y * &inverse).store(encodings);
        for (place, encoding) in encodings.iter_mut().enumerate() {
            encoding[3] |= (odd.at(place).value() & 1) << SIGN;
        }
    }
}

/// Returns whether an encoding of a point is canonical, which becomes public. Constant-time, since
/// the point may be secret.
pub(crate) fn is_canonical(encoding: &Encoding) -> bool {
    let mut y = *encoding;
    y[3] &= !(1 << SIGN);
    let below = words::is_less(&y, &P25519::MODULUS);
    // x is 0 if y is 1 or −1.
    let [low, middle @ .., high] = y;
    let is_one = words::is_zero(&[low ^ 1, middle[0], middle[1], high]);
    let mut difference = P25519::MODULUS;
    words::sub(&mut difference, &y);
    let is_minus_one =
        words::is_zero(&[difference[0] ^ 1, difference[1], difference[2], difference[3]]);
    let odd = Mask::from_bit(encoding[3] >> SIGN);
    // Whether the encoding is accepted is the function's result.
    (below & !((is_one | is_minus_one) & odd)).reveal()
}

/// Returns whether the point of a canonical encoding is of order 1, 2, 4 or 8.
///
/// There are eight such points: y = 1 and y = −1 with x = 0; y = 0; and two values of y, each the
/// other's negative, for order 8. Except for the first two, both x give such points.
pub(crate) fn is_small_order(&[first, second, third, fourth]: &Encoding) -> bool {
    let y = [first, second, third, fourth & !(1 << SIGN)];
    let minus = |y: Encoding| {
        let mut opposite = P25519::MODULUS;
        words::sub(&mut opposite, &y);
        opposite
    };
    let one = [1, 0, 0, 0];
    [[0; 4], one, minus(one), Y_OF_ORDER_8, minus(Y_OF_ORDER_8)].contains(&y)
}

/// One of the two y of the points of order 8.
const Y_OF_ORDER_8: [Limb; 4] =
    [0xb027_b2c2_8f95_e826, 0xf098_eff2_89f4_c345, 0x3933_c6d3_05ac_dfd5, 0x05fc_536d_8802_38b1];

/// Returns where the residue, as a number below p, is odd.
#[inline(always)]
fn parity<A: Arithmetic<P25519>>(element: &Field<A>) -> A::Mask {
    let mut numbers = [[0; 4]; MAX_WIDTH];
    element.store(&mut numbers[..A::WIDTH]);
    element.arithmetic().mask(|place| Mask::from_bit(numbers[place][0] & 1))
}

/// Returns x^((p − 5)/8) = x^(2²⁵² − 3), by 251 squarings and 11 products.
#[inline(always)]
fn power_p_minus_5_over_8<A: Arithmetic<P25519>>(x: &Field<A>) -> Field<A> {
    // x_n is x^(2^n − 1).
    let x2 = &x.square() * x;
    let x4 = &x2.square_times(2) * &x2;
    let x5 = &x4.square() * x;
    let x10 = &x5.square_times(5) * &x5;
    let x20 = &x10.square_times(10) * &x10;
    let x40 = &x20.square_times(20) * &x20;
    let x50 = &x40.square_times(10) * &x10;
    let x100 = &x50.square_times(50) * &x50;
    let x200 = &x100.square_times(100) * &x100;
    let x250 = &x200.square_times(50) * &x50;
    &x250.square_times(2) * x
}
