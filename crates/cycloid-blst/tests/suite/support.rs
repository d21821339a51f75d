//! Shared code of the tests: the backends, deterministic random numbers, vectors.

use std::path::PathBuf;

use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Fr, Projective};
use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};
use serde_json::Value;

/// Defines a test of each function for each backend. This is the only list of backends.
macro_rules! on_every_backend {
    ($($name:ident),* $(,)?) => {
        mod blst {
            $(
                #[test]
                fn $name() {
                    super::$name::<cycloid_blst::Blst>();
                }
            )*
        }

        mod own {
            $(
                #[test]
                fn $name() {
                    super::$name::<::cycloid::bls12_381::Cycloid>();
                }
            )*
        }

        mod defaults {
            $(
                #[test]
                fn $name() {
                    super::$name::<crate::defaults::Defaults>();
                }
            )*
        }
    };
}

/// Defines a test of each function for blst paired with each other backend.
macro_rules! on_pairs_of_backends {
    ($($name:ident),* $(,)?) => {
        mod blst_and_defaults {
            $(
                #[test]
                fn $name() {
                    super::$name::<cycloid_blst::Blst, crate::defaults::Defaults>();
                }
            )*
        }

        mod blst_and_own {
            $(
                #[test]
                fn $name() {
                    super::$name::<cycloid_blst::Blst, ::cycloid::bls12_381::Cycloid>();
                }
            )*
        }
    };
}

pub(crate) use {on_every_backend, on_pairs_of_backends};

/// A deterministic generator (splitmix64).
pub(crate) struct Generator(pub(crate) u64);

impl TryRng for Generator {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(x ^ x >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Generator {}

/// Decodes hexadecimal text, with or without `0x`.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let text = text.strip_prefix("0x").unwrap_or(text);
    assert!(text.len().is_multiple_of(2), "{text}");
    let byte = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Reads a file of vectors.
pub(crate) fn read(path: &str) -> Vec<u8> {
    let path = directory().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a JSON file of vectors.
pub(crate) fn json(path: &str) -> Value {
    serde_json::from_slice(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Reads all files of a folder of vectors, which must have `count`, with their names.
pub(crate) fn json_folder(path: &str, count: usize) -> Vec<(String, Value)> {
    let folder = directory().join(path);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names.len(), count, "{path}");
    names.into_iter().map(|name| (name.clone(), json(&format!("{path}/{name}")))).collect()
}

/// Returns a string of a vector.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no string: {value}"))
}

/// Returns the strings of a vector as bytes.
pub(crate) fn bytes_of(value: &Value) -> Vec<Vec<u8>> {
    value.as_array().expect("an array").iter().map(|value| hex(text(value))).collect()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// Returns r.
pub(crate) fn order() -> BigUint {
    let digits = b"73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    BigUint::parse_bytes(digits, 16).expect("hexadecimal")
}

/// Returns p.
pub(crate) fn modulus() -> BigUint {
    let digits =
        b"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffff\
        b9feffffffffaaab";
    BigUint::parse_bytes(digits, 16).expect("hexadecimal")
}

/// Returns an integer modulo r as an element of Fr.
pub(crate) fn scalar<B: Backend>(integer: &BigUint) -> Fr<B> {
    Fr::from_bytes(&little_endian(&(integer % order()))).expect("below r")
}

/// Returns the integer that an element of Fr represents.
pub(crate) fn integer<B: Backend>(element: &Fr<B>) -> BigUint {
    BigUint::from_bytes_le(&element.to_bytes())
}

/// Returns an integer below 2²⁵⁶ as 32 bytes.
pub(crate) fn little_endian(integer: &BigUint) -> [u8; 32] {
    let mut bytes = integer.to_bytes_le();
    bytes.resize(32, 0);
    bytes.try_into().expect("32 bytes")
}

/// Returns integers below 2²⁵⁶ that are edge cases of the arithmetic (near 0, r, 2r and powers of
/// two, with limbs of ones), and some others.
pub(crate) fn edge_integers() -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let top = &one << 256_u32;
    let mut centres: Vec<BigUint> = [0_u32, 1, 32, 63, 64, 65, 127, 128, 191, 192, 254, 255, 256]
        .iter()
        .map(|bits| &one << *bits)
        .collect();
    centres.extend([order(), order() * 2_u32, order() >> 1_u32, &top - &order()]);
    // Limbs of ones between limbs of zeros.
    for limbs in 0..16_u32 {
        let bytes: Vec<u8> =
            (0..32).map(|i| if limbs >> (i / 8) & 1 == 1 { 0xff } else { 0 }).collect();
        centres.push(BigUint::from_bytes_le(&bytes));
    }
    let mut generator = Generator(17);
    for _ in 0..8 {
        centres.push(integer::<cycloid_blst::Blst>(
            &Fr::random(&mut generator).expect("a sound generator"),
        ));
    }
    let mut integers = Vec::new();
    for centre in centres {
        for offset in 0..3_u32 {
            integers.push(&centre + offset);
            if centre >= BigUint::from(offset) {
                integers.push(&centre - offset);
            }
        }
    }
    integers.retain(|integer| *integer < top);
    integers.sort();
    integers.dedup();
    integers
}

/// Returns `count` members: infinity, the generator, its negative and double, and random members.
pub(crate) fn members<B: Backend + Group<G>, G: SourceGroup>(count: usize) -> Vec<Affine<B, G>> {
    let generator = Affine::<B, G>::generator();
    let mut rng = Generator(23);
    let mut points = vec![
        Affine::identity(),
        generator,
        -generator,
        Projective::from(generator).double().to_affine(),
    ];
    while points.len() < count {
        points.push(Affine::random(&mut rng).expect("a sound generator"));
    }
    points.truncate(count);
    points
}

/// Multiplies a point by `integer` with additions only: the model.
pub(crate) fn naive_multiple<B: Backend + Group<G>, G: SourceGroup>(
    point: &CurvePoint<B, G>,
    integer: &BigUint,
) -> CurvePoint<B, G> {
    let mut multiple = CurvePoint::identity();
    for bit in (0..integer.bits()).rev() {
        multiple = multiple + multiple;
        if integer.bit(bit) {
            multiple = multiple + *point;
        }
    }
    multiple
}

/// Returns points of the curve with x from 0 upwards, most of them outside the group.
pub(crate) fn curve_points<B: Backend + Group<G>, G: SourceGroup>(
    count: usize,
) -> Vec<CurvePoint<B, G>> {
    let mut points = Vec::new();
    for x in 0.. {
        let mut bytes = G::COMPRESSED;
        let bytes = bytes.as_mut();
        let last = bytes.len() - 1;
        bytes[last] = x;
        bytes[0] = 0x80;
        points.extend(CurvePoint::from_compressed(bytes));
        if points.len() == count {
            return points;
        }
    }
    unreachable!("every other x is that of a point")
}

/// Returns points of small order `n`, which must divide the number of points of the curve.
pub(crate) fn points_of_order<B: Backend + Group<G>, G: SourceGroup>(
    n: u32,
    count: usize,
) -> Vec<CurvePoint<B, G>> {
    let mut rest = cofactor::<G>() * order();
    let order = BigUint::from(n);
    assert_eq!(&rest % &order, BigUint::ZERO, "a factor");
    while &rest % &order == BigUint::ZERO {
        rest /= &order;
    }
    let mut found = Vec::new();
    for point in curve_points::<B, G>(12 * count) {
        // The remaining point has an order that is a power of n.
        let mut low = naive_multiple(&point, &rest);
        loop {
            let next = naive_multiple(&low, &order);
            if next.is_identity() {
                break;
            }
            low = next;
        }
        if !low.is_identity() {
            found.push(low);
        }
        if found.len() == count {
            return found;
        }
    }
    panic!("no {count} points of order {n}")
}

/// Returns the number of points of the curve divided by r.
fn cofactor<G: SourceGroup>() -> BigUint {
    let digits: &[u8] = match G::DEGREE {
        1 => b"396c8c005555e1568c00aaab0000aaab",
        _ => {
            b"5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef2\
              1537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5"
        }
    };
    BigUint::parse_bytes(digits, 16).expect("hexadecimal")
}
