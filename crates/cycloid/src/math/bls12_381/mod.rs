//! BLS12-381: the tower of fields, the two curves, the maps to them and the pairing.
//!
//! The code is generic over a backend ([`Wide`]) and so works on one number or on eight side by
//! side. Values are stored as words in Montgomery form ([`Wide::import`]), which backends for one
//! number need not convert. With x = −0xd201000000010000, p and the order r are polynomials in x,
//! and G1, G2 and GT have endomorphisms that split multiplications into parts of 128 or 64 bits.

mod batch;
pub(crate) mod constants;
mod cyclotomic;
mod fourier;
mod fp2;
mod generator;
#[cfg(feature = "internals")]
mod jacobian;
mod lists;
mod map;
mod multiply;
mod pairing;
mod point;
pub(crate) mod spread;
mod tower;

#[cfg(doc)]
use crate::machine::field::Wide;
use crate::machine::field::{Bls12Base, Bls12Scalar, Prime, montgomery_mul, r_squared};
use crate::math::field::Element;

pub(crate) use batch::{BATCH, Inverses, Packed, Points, Reference, inverses_limbs};
pub(crate) use fourier::{FEWEST_VALUES, Slot, reverse_bits, transform};
pub(crate) use fp2::{Field, Fp2, reveal};
pub(crate) use generator::multiply_generator;
#[cfg(feature = "internals")]
pub(crate) use jacobian::Jacobian;
pub(crate) use lists::{
    FEWEST_INVERSES, FEWEST_PRODUCTS, inner_product, invert_each, multiply_each,
};
pub(crate) use map::{Mapped, decompress, is_on_curve, map_to_curve, to_group};
#[cfg(feature = "internals")]
pub(crate) use multiply::multiply_integer;
pub(crate) use multiply::{
    Endomorphism, multiply, multiply_some, pow_in_group, split_first, split_second, times_x,
    wipe_parts,
};
pub(crate) use pairing::{
    LINES, Runner, final_exponentiation, miller_loop, miller_loop_prepared, prepare,
};
pub(crate) use point::{Affine, Point};
pub(crate) use tower::{Fp12, Line};

/// An element of the base field Fp.
pub(crate) type Fp<A> = Element<Bls12Base, A>;

/// A residue in memory.
pub(crate) type Words = <Bls12Base as Prime>::Words;

/// A scalar in memory.
pub(crate) type ScalarWords = <Bls12Scalar as Prime>::Words;

/// |x|; x itself is negative.
pub(crate) const X: u64 = 0xd201_0000_0001_0000;

/// Returns the bits of |x| below the highest, from the top.
pub(crate) fn x_bits() -> impl Iterator<Item = bool> {
    (0..63).rev().map(|bit| X >> bit & 1 == 1)
}

/// Returns a hexadecimal integer in Montgomery form: times R modulo p.
const fn montgomery(hex: &str) -> Words {
    const R_SQUARED: Words = r_squared(Bls12Base::MODULUS);
    let digits = hex.as_bytes();
    let mut value = [0; 6];
    let mut i = 0;
    while i < digits.len() {
        let digit = match digits[digits.len() - 1 - i] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a hexadecimal digit"),
        };
        value[i / 16] |= (digit as u64) << (4 * (i % 16));
        i += 1;
    }
    montgomery_mul(&value, &R_SQUARED, &Bls12Base::MODULUS)
}

/// Converts both coefficients of an element of Fp2.
const fn montgomery2(hex: [&str; 2]) -> [Words; 2] {
    [montgomery(hex[0]), montgomery(hex[1])]
}
