//! The precompiled contracts of EIP-2537: sums, sums of multiples, the pairing and the maps to the
//! groups on the contracts' encodings.
//!
//! An integer below p is 64 bytes, big-endian, and an element of Fp2 is two of them, the
//! coefficient of 1 first. A point is its two coordinates, or all zeros for infinity. Scalars are
//! 32 bytes, big-endian, and may be r or more. All inputs are public, and time depends on them.

use core::fmt;

use super::backend::{Backend, First, Group, Second, SourceGroup};
use super::encoding::is_canonical;
use super::{Affine, CurvePoint, PairingProduct, Projective};

/// Bytes of an integer below p.
const INTEGER: usize = 64;

/// Bytes of an integer that are zero.
const PADDING: usize = INTEGER - 48;

/// Bytes of a scalar.
const SCALAR: usize = 32;

/// Bytes of a point of G1.
pub const G1_BYTES: usize = 2 * INTEGER;

/// Bytes of a point of G2.
pub const G2_BYTES: usize = 4 * INTEGER;

/// Why a contract refuses its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input has the wrong length, or is empty and must not be.
    Length,
    /// The first 16 bytes of an integer are not zero.
    Padding,
    /// An integer is not below p.
    NotCanonical,
    /// A point is not on the curve.
    NotOnCurve,
    /// A point is not in the group of order r.
    NotInGroup,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the input does not have the length that the operation needs",
            Self::Padding => "the first 16 bytes of an integer are not zero",
            Self::NotCanonical => "an integer is not below the modulus",
            Self::NotOnCurve => "a point is not on the curve",
            Self::NotInGroup => "a point is not in the group",
        })
    }
}

impl core::error::Error for Error {}

/// Adds two points of the curve over Fp (BLS12_G1ADD). They need not be in G1.
///
/// # Errors
/// [`Error`], except [`Error::NotInGroup`].
pub fn g1_add<B: Backend>(input: &[u8]) -> Result<[u8; G1_BYTES], Error> {
    add::<B, First, G1_BYTES>(input)
}

/// Adds two points of the curve over Fp2 (BLS12_G2ADD). They need not be in G2.
///
/// # Errors
/// [`Error`], except [`Error::NotInGroup`].
pub fn g2_add<B: Backend>(input: &[u8]) -> Result<[u8; G2_BYTES], Error> {
    add::<B, Second, G2_BYTES>(input)
}

/// Returns the sum of multiples of members of G1 (BLS12_G1MSM): pairs of a point and a scalar.
///
/// # Errors
/// [`Error`].
pub fn g1_msm<B: Backend>(input: &[u8]) -> Result<[u8; G1_BYTES], Error> {
    msm::<B, First, G1_BYTES>(input)
}

/// Returns the sum of multiples of members of G2 (BLS12_G2MSM): pairs of a point and a scalar.
///
/// # Errors
/// [`Error`].
pub fn g2_msm<B: Backend>(input: &[u8]) -> Result<[u8; G2_BYTES], Error> {
    msm::<B, Second, G2_BYTES>(input)
}

/// Returns 1 as a word of 32 bytes if the product of the pairings of pairs of members of G1 and G2
/// is 1, and 0 otherwise (BLS12_PAIRING_CHECK).
///
/// # Errors
/// [`Error`].
pub fn pairing_check<B: Backend>(input: &[u8]) -> Result<[u8; 32], Error> {
    let mut product = PairingProduct::<B>::new();
    for pair in pieces(input, G1_BYTES + G2_BYTES)? {
        let (p, q) = pair.split_at(G1_BYTES);
        product.multiply(&member::<B, First>(p)?, &member::<B, Second>(q)?);
    }
    let mut word = [0; 32];
    word[31] = u8::from(product.becomes_one_in_frames());
    Ok(word)
}

/// Maps an element of Fp to G1 (BLS12_MAP_FP_TO_G1).
///
/// # Errors
/// [`Error::Length`], [`Error::Padding`], [`Error::NotCanonical`].
pub fn map_fp_to_g1<B: Backend>(input: &[u8]) -> Result<[u8; G1_BYTES], Error> {
    map::<B, First, G1_BYTES>(input)
}

/// Maps an element of Fp2 to G2 (BLS12_MAP_FP2_TO_G2).
///
/// # Errors
/// [`Error::Length`], [`Error::Padding`], [`Error::NotCanonical`].
pub fn map_fp2_to_g2<B: Backend>(input: &[u8]) -> Result<[u8; G2_BYTES], Error> {
    map::<B, Second, G2_BYTES>(input)
}

fn add<B: Group<G>, G: SourceGroup, const N: usize>(input: &[u8]) -> Result<[u8; N], Error> {
    if input.len() != 2 * N {
        return Err(Error::Length);
    }
    let (a, b) = input.split_at(N);
    Ok(encode(decode::<B, G>(a)? + decode(b)?))
}

fn msm<B: Group<G>, G: SourceGroup, const N: usize>(input: &[u8]) -> Result<[u8; N], Error> {
    /// Number of terms added up together.
    const PIECE: usize = 64;
    let mut sum = Projective::<B, G>::identity();
    let mut pairs = pieces(input, N + SCALAR)?;
    while pairs.len() > 0 {
        let (mut points, mut integers) = ([Affine::identity(); PIECE], [[0; SCALAR]; PIECE]);
        let mut count = 0;
        for pair in pairs.by_ref().take(PIECE) {
            let (point, scalar) = pair.split_at(N);
            points[count] = decode::<B, G>(point)?.into_affine_unchecked();
            integers[count].copy_from_slice(scalar);
            integers[count].reverse();
            count += 1;
        }
        let mut members = [false; PIECE];
        <B as Group<G>>::in_group_many(&points[..count], &mut members[..count]);
        if members[..count].contains(&false) {
            return Err(Error::NotInGroup);
        }
        sum += match Projective::multi_scalar_multiply_bytes_vartime(
            &points[..count],
            &integers[..count],
        ) {
            Ok(part) => part,
            Err(_) => unreachable!("as many points as integers"),
        };
    }
    Ok(encode(CurvePoint::from(sum)))
}

fn map<B: Group<G>, G: SourceGroup, const N: usize>(input: &[u8]) -> Result<[u8; N], Error> {
    if input.len() != G::DEGREE * INTEGER {
        return Err(Error::Length);
    }
    coordinate::<G>(input)?;
    // The encoding is also that of elements to be reduced modulo p.
    let point = <B as Group<G>>::map_to_curve(input.as_chunks().0);
    Ok(encode(CurvePoint::from(Projective::<B, G>::from_raw(point))))
}

/// Returns at least one piece of a length.
fn pieces(input: &[u8], length: usize) -> Result<core::slice::ChunksExact<'_, u8>, Error> {
    if input.is_empty() || !input.len().is_multiple_of(length) {
        return Err(Error::Length);
    }
    Ok(input.chunks_exact(length))
}

/// Decodes a member of the group.
fn member<B: Group<G>, G: SourceGroup>(bytes: &[u8]) -> Result<Affine<B, G>, Error> {
    decode::<B, G>(bytes)?.to_member().map_err(|_| Error::NotInGroup)
}

/// Decodes a point of the curve.
fn decode<B: Group<G>, G: SourceGroup>(bytes: &[u8]) -> Result<CurvePoint<B, G>, Error> {
    let (x, y) = bytes.split_at(bytes.len() / 2);
    let (x, y) = (coordinate::<G>(x)?, coordinate::<G>(y)?);
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(CurvePoint::identity());
    }
    CurvePoint::from_coordinates(&x, &y).map_err(|_| Error::NotOnCurve)
}

/// Decodes a coordinate to big-endian bytes with the coefficient of u first.
fn coordinate<G: SourceGroup>(bytes: &[u8]) -> Result<G::Compressed, Error> {
    let mut coordinate = G::COMPRESSED;
    let integers = coordinate.as_mut().rchunks_exact_mut(48);
    for (to, from) in integers.zip(bytes.chunks_exact(INTEGER)) {
        let (padding, integer) = from.split_at(PADDING);
        if padding.iter().any(|byte| *byte != 0) {
            return Err(Error::Padding);
        }
        to.copy_from_slice(integer);
    }
    if is_canonical(coordinate.as_ref()) { Ok(coordinate) } else { Err(Error::NotCanonical) }
}

fn encode<B: Group<G>, G: SourceGroup, const N: usize>(point: CurvePoint<B, G>) -> [u8; N] {
    let mut bytes = [0; N];
    if let Some((x, y)) = point.coordinates() {
        let integers = x.as_ref().rchunks_exact(48).chain(y.as_ref().rchunks_exact(48));
        for (to, from) in bytes.chunks_exact_mut(INTEGER).zip(integers) {
            to[PADDING..].copy_from_slice(from);
        }
    }
    bytes
}
