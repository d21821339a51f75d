//! Points and scalars of edwards448 (RFC 8032, section 5.2): x² + y² = 1 + d·x²·y² modulo 2⁴⁴⁸ −
//! 2²²⁴ − 1, with d = −39081, one at a time.
//!
//! d is not a square, so the addition is complete: it is correct for all points. Multiples take the
//! same steps for every scalar and read their whole table at each.

use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, Ed448Order, Limbs, P448, Prime};
use crate::machine::words::{self, LIMB_BITS, Limb, Portable};
use crate::math::field;

type Element = field::Element<P448, Portable>;

/// Limbs of a coordinate, and of a scalar.
pub(crate) const LIMBS: usize = 7;

/// A number of 448 bits, little-endian.
pub(crate) type Words = [Limb; LIMBS];

/// −d.
const MINUS_D: Words = [39081, 0, 0, 0, 0, 0, 0];

/// The coordinates of the base point.
const BASE: [Words; 2] = [
    [
        0x2626_a82b_c70c_c05e,
        0x433b_80e1_8b00_938e,
        0x12ae_1af7_2ab6_6511,
        0xea6d_e324_a3d3_a464,
        0x9e14_6570_470f_1767,
        0x221d_15a6_22bf_36da,
        0x4f19_70c6_6bed_0ded,
    ],
    [
        0x9808_795b_f230_fa14,
        0xfdbd_132c_4ed7_c8ad,
        0x3ad3_ff1c_e67c_39c4,
        0x8778_9c1e_05a0_c2d7,
        0x4bea_7373_6ca3_9840,
        0x8876_2037_56c9_c762,
        0x693f_4671_6eb6_bc24,
    ],
];

/// Bits of a digit of a scalar.
const WINDOW: usize = 4;

/// A point in projective coordinates: x = X/Z, y = Y/Z.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    x: Element,
    y: Element,
    z: Element,
}

impl Point {
    /// Returns the base point B.
    pub(crate) fn base() -> Self {
        Self::affine(&BASE[0], &BASE[1])
    }

    fn affine(x: &Words, y: &Words) -> Self {
        let [x, y] = [x, y].map(|number| Element::load(Portable, &[*number]));
        Self { x, y, z: Element::one(Portable) }
    }

    fn neutral() -> Self {
        let one = Element::one(Portable);
        Self { x: Element::zero(Portable), y: one, z: one }
    }

    /// Returns P + Q (section 5.2.4).
    pub(crate) fn add(&self, other: &Self) -> Self {
        let a = &self.z * &other.z;
        let b = a.square();
        let (c, d) = (&self.x * &other.x, &self.y * &other.y);
        // −E, since the constant is −d.
        let minus_e = &(&c * &d) * &Element::load(Portable, &[MINUS_D]);
        let (f, g) = (&b + &minus_e, &b - &minus_e);
        let h = &(&self.x + &self.y) * &(&other.x + &other.y);
        Self { x: &(&a * &f) * &(&(&h - &c) - &d), y: &(&a * &g) * &(&d - &c), z: &f * &g }
    }

    /// Returns 2P (section 5.2.4).
    fn double(&self) -> Self {
        let b = (&self.x + &self.y).square();
        let (c, d) = (self.x.square(), self.y.square());
        let e = &c + &d;
        let h = self.z.square();
        let j = &e - &h.double();
        Self { x: &(&b - &e) * &j, y: &e * &(&c - &d), z: &e * &j }
    }

    /// Returns −P.
    pub(crate) fn negate(&self) -> Self {
        Self { x: -&self.x, y: self.y, z: self.z }
    }

    /// Returns k·P for a number k of 448 bits, in constant time.
    pub(crate) fn multiply(&self, scalar: &Words) -> Self {
        let mut table = [Self::neutral().raw(); 1 << WINDOW];
        for i in 1..table.len() {
            table[i] = self.add(&Self::from_raw(table[i - 1])).raw();
        }
        let mut sum = Self::neutral();
        for place in (0..LIMBS * LIMB_BITS / WINDOW).rev() {
            for _ in 0..WINDOW {
                sum = sum.double();
            }
            let at = place * WINDOW;
            let digit = scalar[at / LIMB_BITS] >> (at % LIMB_BITS) & ((1 << WINDOW) - 1);
            let mut entry = [<Portable as Arithmetic<P448>>::ZERO; 3];
            Arithmetic::<P448>::lookup(Portable, &mut entry, table.as_flattened(), digit);
            sum = sum.add(&Self::from_raw(entry));
        }
        sum
    }

    fn raw(&self) -> [Words; 3] {
        [*self.x.raw(), *self.y.raw(), *self.z.raw()]
    }

    fn from_raw(raw: [Words; 3]) -> Self {
        let [x, y, z] = raw.map(|value| Element::from_raw(Portable, value));
        Self { x, y, z }
    }

    /// Encodes the point: y, and the lowest bit of x as the highest bit of the last byte (section
    /// 5.2.2).
    pub(crate) fn encode(&self) -> [u8; 57] {
        let inverse = self.z.invert();
        let (mut x, mut y) = ([[0; LIMBS]], [[0; LIMBS]]);
        (&self.x * &inverse).store(&mut x);
        (&self.y * &inverse).store(&mut y);
        let mut bytes = [0; 57];
        bytes[..56].copy_from_slice(&to_bytes(&y[0]));
        bytes[56] = ((x[0][0] & 1) as u8) << 7;
        bytes
    }

    /// Decodes a public point (section 5.2.3); `None` if there is none, or if the encoding is not
    /// canonical.
    pub(crate) fn decode_vartime(bytes: &[u8; 57]) -> Option<Self> {
        let odd = match bytes[56] {
            0 => false,
            0x80 => true,
            _ => return None,
        };
        let number = from_bytes(&bytes[..56]);
        if words::compare_vartime(&number, &P448::MODULUS).is_ge() {
            return None;
        }
        let y = Element::load(Portable, &[number]);
        // x² = (y² − 1) / (d·y² − 1), whose denominator is never 0.
        let (one, yy) = (Element::one(Portable), y.square());
        let denominator = &(&yy * &Element::load(Portable, &[MINUS_D])) + &one;
        let square = &(&one - &yy) * &denominator.invert();
        let root = square.square_root();
        // Whether the encoding of a public point is accepted is the function's result.
        if !root.square().equal(&square).reveal() {
            return None;
        }
        let mut x = [[0; LIMBS]];
        root.store(&mut x);
        let is_odd = x[0][0] & 1 == 1;
        if odd && x[0] == [0; LIMBS] {
            return None;
        }
        let x = root.negate_if(Mask::from_bit(u64::from(is_odd != odd)));
        Some(Self { x, y, z: one })
    }

    /// Returns whether the order of a public point divides the cofactor 4.
    pub(crate) fn is_small_order_vartime(&self) -> bool {
        let point = self.double().double();
        // The neutral element has x = 0 and y = 1. The point is public.
        point.x.is_zero().reveal() && point.y.equal(&point.z).reveal()
    }
}

/// A residue modulo L, the order of the base point.
#[derive(Clone, Copy)]
pub(crate) struct Scalar(field::Element<Ed448Order, Portable>);

impl Scalar {
    /// Reduces a number of 448 bits.
    pub(crate) fn new(number: &Words) -> Self {
        Self(field::Element::load(Portable, &[*number]))
    }

    /// Reduces 114 little-endian bytes.
    pub(crate) fn from_wide(bytes: &[u8; 114]) -> Self {
        // 2⁴⁴⁸ = 2·2⁴⁴⁷.
        let mut half = [0; LIMBS];
        half[LIMBS - 1] = 1 << (LIMB_BITS - 1);
        let shift = field::Element::<Ed448Order, Portable>::load(Portable, &[half]).double();
        let mut highest = [0; LIMBS];
        highest[0] = Limb::from(bytes[112]) | Limb::from(bytes[113]) << 8;
        let parts = [from_bytes(&bytes[..56]), from_bytes(&bytes[56..112]), highest];
        let [low, middle, high] = parts.map(|part| field::Element::load(Portable, &[part]));
        Self(&(&(&(&high * &shift) + &middle) * &shift) + &low)
    }

    /// Reads a public number of 57 little-endian bytes; `None` if it is not less than L.
    pub(crate) fn decode_vartime(bytes: &[u8; 57]) -> Option<Self> {
        let number = from_bytes(&bytes[..56]);
        let below = words::compare_vartime(&number, &Ed448Order::MODULUS).is_lt();
        (bytes[56] == 0 && below).then(|| Self::new(&number))
    }

    /// Returns self + a·b.
    pub(crate) fn add_product(&self, a: &Self, b: &Self) -> Self {
        Self(&self.0 + &(&a.0 * &b.0))
    }

    /// Returns the number, less than L.
    pub(crate) fn words(&self) -> Words {
        let mut number = [Words::ZERO];
        self.0.store(&mut number);
        number[0]
    }
}

/// Returns a number as 56 little-endian bytes.
pub(crate) fn to_bytes(number: &Words) -> [u8; 56] {
    let mut bytes = [0; 56];
    for (bytes, limb) in bytes.chunks_exact_mut(8).zip(number) {
        bytes.copy_from_slice(&limb.to_le_bytes());
    }
    bytes
}

/// Returns the number of 56 little-endian bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Words {
    let (limbs, _) = bytes.as_chunks();
    core::array::from_fn(|i| Limb::from_le_bytes(limbs[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_point_is_on_the_curve_and_has_the_order() {
        let base = Point::base();
        let decoded = Point::decode_vartime(&base.encode()).unwrap();
        assert_eq!(decoded.encode(), base.encode());
        assert_eq!(base.multiply(&Ed448Order::MODULUS).encode(), Point::neutral().encode());
        assert_eq!(base.multiply(&[0; 7]).encode(), Point::neutral().encode());
        let mut sum = Point::neutral();
        for k in 1..40u64 {
            sum = sum.add(&base);
            assert_eq!(base.multiply(&[k, 0, 0, 0, 0, 0, 0]).encode(), sum.encode());
            assert_eq!(sum.double().encode(), sum.add(&sum).encode());
            assert_eq!(sum.add(&sum.negate()).encode(), Point::neutral().encode());
            assert!(!sum.is_small_order_vartime());
        }
        // (0, 1), (0, −1) and (1, 0).
        let minus_one = Point::affine(&[0; 7], &{
            let mut minus_one = P448::MODULUS;
            minus_one[0] -= 1;
            minus_one
        });
        let right = Point::affine(&[1, 0, 0, 0, 0, 0, 0], &[0; 7]);
        for small in [Point::neutral(), minus_one, right, right.negate()] {
            assert!(small.is_small_order_vartime());
            assert_eq!(Point::decode_vartime(&small.encode()).unwrap().encode(), small.encode());
        }
    }

    #[test]
    fn other_encodings_are_refused() {
        let mut encoding = Point::neutral().encode();
        encoding[56] = 0x80;
        assert!(Point::decode_vartime(&encoding).is_none(), "−0");
        for last in [1, 0x7f, 0x81, 0xff] {
            let mut encoding = Point::base().encode();
            encoding[56] = last;
            assert!(Point::decode_vartime(&encoding).is_none());
        }
        let mut encoding = [0; 57];
        encoding[..56].copy_from_slice(&to_bytes(&P448::MODULUS));
        assert!(Point::decode_vartime(&encoding).is_none(), "y = p");
        let refused = (0..64u8).filter(|y| {
            let mut encoding = [0; 57];
            encoding[0] = *y;
            Point::decode_vartime(&encoding).is_none()
        });
        assert!((16..48).contains(&refused.count()));
        let mut order = [0; 57];
        order[..56].copy_from_slice(&to_bytes(&Ed448Order::MODULUS));
        assert!(Scalar::decode_vartime(&order).is_none());
        order[0] -= 1;
        assert!(Scalar::decode_vartime(&order).is_some());
        order[56] = 1;
        assert!(Scalar::decode_vartime(&order).is_none());
    }
}
