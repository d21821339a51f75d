//! ZCash's encodings of points, on bytes only: three flags in the first byte, then the big-endian
//! coordinates (draft-irtf-cfrg-pairing-friendly-curves, appendix C).

use super::Error;
use super::backend::SourceGroup;
use crate::machine::ct::Mask;
use crate::machine::words;

/// The point is compressed.
const COMPRESSED: u8 = 0x80;

/// The point is infinity.
const INFINITY: u8 = 0x40;

/// The point is compressed, and y is the larger of the two possible values.
const LARGER: u8 = 0x20;

const FLAGS: u8 = COMPRESSED | INFINITY | LARGER;

/// p, big-endian.
const MODULUS: [u8; 48] = from_limbs([
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
]);

/// (p − 1)/2.
const HALF_MODULUS: [u64; 6] = [
    0xdcff_7fff_ffff_d555,
    0x0f55_ffff_58a9_ffff,
    0xb398_6950_7b58_7b12,
    0xb23b_a5c2_79c2_895f,
    0x258d_d3db_21a5_d66b,
    0x0d00_88f5_1cbf_f34d,
];

const fn from_limbs(limbs: [u64; 6]) -> [u8; 48] {
    let mut bytes = [0; 48];
    let mut i = 0;
    while i < 48 {
        bytes[47 - i] = (limbs[i / 8] >> (8 * (i % 8))) as u8;
        i += 1;
    }
    bytes
}

/// A parsed encoding, before any arithmetic.
pub(super) enum Decoded<T> {
    Identity,
    Point(T),
}

/// x and y.
pub(super) type Coordinates<G> = (<G as SourceGroup>::Compressed, <G as SourceGroup>::Compressed);

/// Returns whether an element of Fp or Fp2 consists of integers below p.
pub(super) fn is_canonical(coordinate: &[u8]) -> bool {
    coordinate.chunks(48).all(|integer| integer < MODULUS.as_slice())
}

/// Returns whether y is larger than −y. In Fp2 the coefficient of u decides, or the other one if
/// that is 0. Constant-time, since a point to be encoded may be secret.
fn is_larger(y: &[u8]) -> Mask {
    let mut larger = Mask::from_bit(0);
    for integer in y.chunks(48).rev() {
        let mut limbs = [0; 6];
        words::from_be_bytes(&mut limbs, integer);
        let zero = words::is_zero(&limbs);
        larger = zero & larger | !zero & words::is_less(&HALF_MODULUS, &limbs);
    }
    larger
}

/// Returns x, which is below p, from a compressed encoding, and whether y is the larger value.
pub(super) fn parse_compressed<G: SourceGroup>(
    bytes: &[u8],
) -> Result<Decoded<(G::Compressed, bool)>, Error> {
    let mut x = G::COMPRESSED;
    let flags = take(bytes, x.as_mut())?;
    match flags {
        _ if flags & COMPRESSED == 0 => Err(Error::Flags),
        _ if flags & INFINITY != 0 => identity(flags == COMPRESSED | INFINITY, x.as_ref()),
        _ if !is_canonical(x.as_ref()) => Err(Error::NotCanonical),
        _ => Ok(Decoded::Point((x, flags & LARGER != 0))),
    }
}

/// Returns the coordinates, which are below p, from an uncompressed encoding.
pub(super) fn parse_uncompressed<G: SourceGroup>(
    bytes: &[u8],
) -> Result<Decoded<Coordinates<G>>, Error> {
    let mut both = G::UNCOMPRESSED;
    let flags = take(bytes, both.as_mut())?;
    let both = both.as_ref();
    match flags {
        _ if flags & INFINITY != 0 => identity(flags == INFINITY, both),
        _ if flags != 0 => Err(Error::Flags),
        _ if !is_canonical(both) => Err(Error::NotCanonical),
        _ => {
            let (mut x, mut y) = (G::COMPRESSED, G::COMPRESSED);
            let (first, second) = both.split_at(both.len() / 2);
            x.as_mut().copy_from_slice(first);
            y.as_mut().copy_from_slice(second);
            Ok(Decoded::Point((x, y)))
        }
    }
}

/// Copies an encoding without its flags and returns the flags.
fn take(bytes: &[u8], copy: &mut [u8]) -> Result<u8, Error> {
    if bytes.len() != copy.len() {
        return Err(Error::Length { needed: copy.len(), given: bytes.len() });
    }
    copy.copy_from_slice(bytes);
    copy[0] &= !FLAGS;
    Ok(bytes[0] & FLAGS)
}

/// Returns infinity, which has exactly one encoding.
fn identity<T>(flags_agree: bool, rest: &[u8]) -> Result<Decoded<T>, Error> {
    match flags_agree {
        false => Err(Error::Flags),
        true if rest.iter().any(|byte| *byte != 0) => Err(Error::NotCanonical),
        true => Ok(Decoded::Identity),
    }
}

/// Returns the compressed encoding of a point or of infinity.
pub(super) fn compress<G: SourceGroup>(coordinates: Option<Coordinates<G>>) -> G::Compressed {
    let (mut bytes, flags) = match coordinates {
        Some((x, y)) => (x, COMPRESSED | is_larger(y.as_ref()).select_byte(LARGER, 0)),
        None => (G::COMPRESSED, COMPRESSED | INFINITY),
    };
    bytes.as_mut()[0] |= flags;
    bytes
}

/// Returns the uncompressed encoding of a point or of infinity.
pub(super) fn encode<G: SourceGroup>(coordinates: Option<Coordinates<G>>) -> G::Uncompressed {
    let mut bytes = G::UNCOMPRESSED;
    match coordinates {
        Some((x, y)) => {
            let (first, second) = bytes.as_mut().split_at_mut(x.as_ref().len());
            first.copy_from_slice(x.as_ref());
            second.copy_from_slice(y.as_ref());
        }
        None => bytes.as_mut()[0] = INFINITY,
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the first nonzero coefficient of y is more than half of p.
    fn model(y: &[u8]) -> bool {
        let half = from_limbs(HALF_MODULUS);
        let first = y.chunks(48).find(|integer| integer.iter().any(|byte| *byte != 0));
        first.is_some_and(|integer| integer > &half[..])
    }

    #[test]
    fn the_larger_ordinate() {
        let limb = |i: usize, limbs: [u64; 6], change: u64| {
            let mut limbs = limbs;
            limbs[i] ^= change;
            from_limbs(limbs)
        };
        let half = HALF_MODULUS;
        let mut values = [[0; 48]; 18];
        values[1] = limb(0, [0; 6], 1);
        values[2] = from_limbs(half);
        // p − 1.
        values[3] = MODULUS;
        values[3][47] -= 1;
        // Close to half of p, in every limb.
        values[4] = limb(0, half, 3);
        values[5] = limb(0, half, 1);
        for i in 0..6 {
            values[6 + 2 * i] = limb(i, half, 1 << 40);
            values[7 + 2 * i] = limb(i, [0; 6], 1 << 63 >> (8 * i));
        }
        for first in &values {
            assert_eq!(is_larger(first).reveal(), model(first), "{first:x?}");
            for second in &values {
                let both = [first.as_slice(), second].concat();
                assert_eq!(is_larger(&both).reveal(), model(&both), "{both:x?}");
            }
        }
        assert!(is_larger(&values[3]).reveal() && !is_larger(&values[2]).reveal());
    }
}
