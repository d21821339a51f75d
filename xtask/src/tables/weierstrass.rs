//! The curves of SP 800-186, section 3.2.1: y² = x³ − 3x + b. An entry is (x, y).

use num_bigint::BigUint;

use super::{Form, Shape, Table, divide, hex, subtract};

/// The width of the windows and their spacing, one number and eight.
const CURVES: [Curve; 4] = [
    Curve {
        files: ["p224.one.bin", "p224.eight.bin"],
        windows: [(5, 1), (5, 1)],
        limbs: [4, 5],
        montgomery: true,
        order_bits: 224,
        prime: "ffffffffffffffffffffffffffffffff000000000000000000000001",
        x: "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        y: "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    },
    Curve {
        files: ["p256.one.bin", "p256.eight.bin"],
        windows: [(7, 1), (6, 1)],
        limbs: [4, 5],
        montgomery: true,
        order_bits: 256,
        prime: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    },
    Curve {
        files: ["p384.one.bin", "p384.eight.bin"],
        windows: [(5, 2), (5, 2)],
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
        files: ["p521.one.bin", "p521.eight.bin"],
        windows: [(5, 2), (5, 2)],
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

/// A curve, and for one number and for eight: the file, the width of a window and its spacing, and
/// the limbs of a coordinate.
struct Curve {
    files: [&'static str; 2],
    