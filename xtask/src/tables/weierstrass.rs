//! The curves of SP 800-186, section 3.2.1: y² = x³ − 3x + b. An entry is (x, y).
//!
//! Each curve has a large table for one number, one for eight, and a small one for one number. A
//! small table has few rows, and its sums double the more often. On processors with words of 32 bits
//! a lookup takes longer than in proportion, so P-256 has a table of its own for them.

use num_bigint::BigUint;

use super::multiples::{Form, Shape, Table, divide, hex, subtract};

/// The width of the windows and their spacing, in the order of the files.
const CURVES: [Curve; 4] = [
    Curve {
        files: &["p224.one.bin", "p224.eight.bin", "p224.small.bin"],
        windows: &[(5, 1), (5, 1), (5, 11)],
        limbs: [4, 5],
        montgomery: true,
        order_bits: 224,
        prime: "ffffffffffffffffffffffffffffffff000000000000000000000001",
        x: "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        y: "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    },
    Curve {
        files: &["p256.one.bin", "p256.eight.bin", "p256.small.bin", "p256.narrow.bin"],
        windows: &[(7, 1), (6, 1), (5, 17), (6, 1)],
        limbs: [4, 5],
        montgomery: true,
        order_bits: 256,
        prime: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    },
    Curve {
        files: &["p384.one.bin", "p384.eight.bin", "p384.small.bin"],
        windows: &[(5, 2), (5, 2), (5, 19)],
        limbs: [6, 8],
        montgomery: true,
        order_bits: 384,
        prime: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe\
                ffffffff0000000000000000ffffffff",
        x: "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a38\
            5502f25dbf55296c3a545e3872760ab7",
        y: "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c0\
            0a60b1ce1d7e819d7a431d7c90ea0e5f",
    },
    Curve {
        files: &["p521.one.bin", "p521.eight.bin", "p521.small.bin"],
        windows: &[(5, 2), (5, 2), (5, 26)],
        limbs: [9, 11],
        montgomery: false,
        order_bits: 521,
        prime: "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
                ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        x: "00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3d\
            baa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        y: "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e66\
            2c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
    },
];

/// A curve. For one number, for eight, for one number with little memory, and for processors on which
/// a smaller table is faster: the file, and the width of a window and its spacing. For one number and
/// for eight: the limbs of a coordinate.
struct Curve {
    files: &'static [&'static str],
    windows: &'static [(usize, usize)],
    limbs: [usize; 2],
    montgomery: bool,
    order_bits: usize,
    prime: &'static str,
    x: &'static str,
    y: &'static str,
}

pub(super) fn tables() -> Vec<Table> {
    let each = |curve: &'static Curve| (0..curve.files.len()).map(|place| curve.table(place));
    CURVES.iter().flat_map(each).collect()
}

type Point = (BigUint, BigUint);

impl Curve {
    fn table(&self, place: usize) -> Table {
        let (width, spacing) = self.windows[place];
        // One bit more than the order, because the scalar is made odd by adding or subtracting the
        // order.
        let rows = (self.order_bits + 1).div_ceil(width).div_ceil(spacing);
        let [one, eight] = self.limbs;
        let form = match place {
            1 => Form::eight(eight, self.montgomery),
            _ => Form::one(one, self.montgomery),
        };
        let prime = hex(self.prime);
        let multiples =
            Shape { width, spacing, rows }.multiples(&self.base(), |a, b| add(a, b, &prime));
        let entries = multiples.into_iter().map(|(x, y)| [x, y]);
        Table { name: self.files[place], bytes: form.bytes(entries, &prime) }
    }

    fn base(&self) -> Point {
        (hex(self.x), hex(self.y))
    }
}

/// Adds two points that are not opposites. Points of a table never are: their multiples of the base
/// point are positive and add up to less than its order.
///
/// Only the last row's doublings exceed the order, and lead to a point that is in no table.
fn add((x1, y1): &Point, (x2, y2): &Point, prime: &BigUint) -> Point {
    let slope = if x1 == x2 {
        let three = BigUint::from(3u8);
        divide(&subtract(&(&three * x1 * x1 % prime), &three, prime), &(2u8 * y1), prime)
    } else {
        divide(&subtract(y2, y1, prime), &subtract(x2, x1, prime), prime)
    };
    let x = subtract(&(&slope * &slope % prime), &((x1 + x2) % prime), prime);
    let y = subtract(&(&slope * subtract(x1, &x, prime) % prime), y1, prime);
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The b of SP 800-186, which no addition uses, matches the base point; this verifies both
    /// coordinates and the prime.
    #[test]
    fn base_points_are_on_their_curves() {
        let b = [
            "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
            "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
            "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875a\
             c656398d8a2ed19d2a85c8edd3ec2aef",
            "0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109\
             e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        ];
        for (curve, b) in CURVES.iter().zip(b) {
            let p = hex(curve.prime);
            let (x, y) = curve.base();
            let right = subtract(&(&x * &x * &x % &p), &(3u8 * &x % &p), &p);
            assert_eq!(&y * &y % &p, (right + hex(b)) % &p, "{}", curve.files[0]);
        }
    }

    /// Both ways to 4G: G + 3G and 2(2G).
    #[test]
    fn addition_and_doubling_agree() {
        for curve in &CURVES {
            let p = hex(curve.prime);
            let one = curve.base();
            let two = add(&one, &one, &p);
            let three = add(&two, &one, &p);
            assert_eq!(add(&three, &one, &p), add(&two, &two, &p), "{}", curve.files[0]);
        }
    }
}
