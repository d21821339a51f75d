//! Edwards25519 (RFC 8032, section 5.1): −x² + y² = 1 + d·x²·y² modulo 2²⁵⁵ − 19.
//!
//! An entry is (y + x, y − x, 2d·x·y), the form that makes an addition to a point in extended
//! coordinates cheapest (Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited, 2008,
//! section 3.1).

use num_bigint::BigUint;

use super::multiples::{Form, Shape, Table, divide, hex, subtract};

/// Windows of the scalars for signing: 51 of five bits cover the 253 bits of the group's order.
const BASE: Shape = Shape { width: 5, spacing: 1, rows: 51 };
const _: () = assert!(BASE.width * BASE.spacing * BASE.rows >= 253);

/// The same for little memory: the digits share the multiples of three of them.
const SMALL: Shape = Shape { width: 5, spacing: 17, rows: 3 };
const _: () = assert!(SMALL.width * SMALL.spacing * SMALL.rows >= 253);

/// The wide window of verification, which shares the doublings with those of another point.
const ODD: Shape = Shape { width: 7, spacing: 1, rows: 1 };

const ONE: Form = Form::one(4, false);
const EIGHT: Form = Form::eight(5, false);

pub(super) fn tables() -> Vec<Table> {
    let curve = Curve::new();
    let table = |name, shape: &Shape, form: &Form| Table { name, bytes: curve.table(shape, form) };
    vec![
        table("edwards25519.base.one.bin", &BASE, &ONE),
        table("edwards25519.base.eight.bin", &BASE, &EIGHT),
        table("edwards25519.base.small.bin", &SMALL, &ONE),
        table("edwards25519.odd.one.bin", &ODD, &ONE),
        table("edwards25519.odd.eight.bin", &ODD, &EIGHT),
    ]
}

type Point = (BigUint, BigUint);

struct Curve {
    prime: BigUint,
    d: BigUint,
}

impl Curve {
    fn new() -> Self {
        let prime = (BigUint::from(1u8) << 255) - 19u8;
        // d = −121665 / 121666.
        let d = divide(&(&prime - 121_665u32), &121_666u32.into(), &prime);
        Self { prime, d }
    }

    fn base(&self) -> Point {
        (
            hex("216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
            divide(&4u8.into(), &5u8.into(), &self.prime),
        )
    }

    /// Adds two points by the complete law (RFC 8032, section 5.1.4).
    fn add(&self, (x1, y1): &Point, (x2, y2): &Point) -> Point {
        let p = &self.prime;
        let one = BigUint::from(1u8);
        let product = &self.d * x1 * x2 * y1 * y2 % p;
        let x = divide(&((x1 * y2 + x2 * y1) % p), &((&one + &product) % p), p);
        let y = divide(&((y1 * y2 + x1 * x2) % p), &subtract(&one, &product, p), p);
        (x, y)
    }

    fn table(&self, shape: &Shape, form: &Form) -> Vec<u8> {
        let p = &self.prime;
        let multiples = shape.multiples(&self.base(), |a, b| self.add(a, b));
        let entries = multiples.iter().map(|(x, y)| {
            let product = 2u8 * &self.d * x * y % p;
            [(y + x) % p, subtract(y, x, p), product]
        });
        form.bytes(entries, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The base point is on the curve, and has the order given in RFC 8032.
    #[test]
    fn base_point() {
        let curve = Curve::new();
        let p = &curve.prime;
        let (x, y) = curve.base();
        let (xx, yy) = (&x * &x % p, &y * &y % p);
        assert_eq!(subtract(&yy, &xx, p), (1u8 + &curve.d * &xx * &yy) % p);

        let order: BigUint = (BigUint::from(1u8) << 252) + hex("14def9dea2f79cd65812631a5cf5d3ed");
        let mut multiple = (BigUint::ZERO, BigUint::from(1u8));
        let neutral = multiple.clone();
        for bit in (0..order.bits()).rev() {
            multiple = curve.add(&multiple, &multiple);
            if order.bit(bit) {
                multiple = curve.add(&multiple, &curve.base());
            }
            assert_eq!(multiple == neutral, bit == 0);
        }
    }
}
