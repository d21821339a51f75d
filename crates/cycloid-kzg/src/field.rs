//! Lists of elements as bytes, elements from hashes, powers, and sums of multiples.

use alloc::vec::Vec;

use cycloid::bls12_381::backend::Scalars;
use cycloid::bls12_381::{Affine, Backend, First, Fr, G1, G1Affine, backend::Group};
use sha2::{Digest, Sha256};

use crate::{Element, Error};

/// Decodes `count` elements of 32 bytes, big-endian.
pub(crate) fn elements<B: Scalars>(bytes: &[u8], count: usize) -> Result<Vec<Fr<B>>, Error> {
    if bytes.len() != 32 * count {
        return Err(Error::Length { needed: 32 * count, given: bytes.len() });
    }
    bytes.as_chunks::<32>().0.iter().map(element).collect()
}

/// Decodes an element.
pub(crate) fn element<B: Scalars>(bytes: &Element) -> Result<Fr<B>, Error> {
    let (limbs, _) = bytes.as_chunks::<8>();
    let limb = |i: usize| u64::from_be_bytes(limbs[3 - i]);
    Ok(Fr::from_integer(&core::array::from_fn(limb))?)
}

/// Encodes an element.
pub(crate) fn encode<B: Scalars>(element: &Fr<B>) -> Element {
    let integer = element.to_integer();
    core::array::from_fn(|i| integer[3 - i / 8].to_be_bytes()[i % 8])
}

/// Returns the element that a hash gives: the digest, big-endian, modulo r (hash_to_bls_field).
pub(crate) fn from_hash<B: Scalars>(hash: Sha256) -> Fr<B> {
    let mut digest: [u8; 32] = hash.finalize().into();
    digest.reverse();
    Fr::from_bytes_wide(&digest)
}

/// Returns the first powers of an element, from 1 on.
pub(crate) fn powers<B: Scalars>(of: Fr<B>, count: usize) -> Vec<Fr<B>> {
    core::iter::successors(Some(Fr::ONE), |power| Some(*power * of)).take(count).collect()
}

/// Decodes points and checks that they are members of G1.
pub(crate) fn points<B: Group<First>>(
    encodings: &[[u8; 48]],
) -> Result<Vec<Affine<B, First>>, Error> {
    let mut results = alloc::vec![Ok(Affine::identity()); encodings.len()];
    Affine::from_compressed_many(encodings, &mut results)?;
    Ok(results.into_iter().collect::<Result<_, _>>()?)
}

/// Returns a sum of multiples of any points.
pub(crate) fn sum<B: Backend>(points: &[G1Affine<B>], scalars: &[Fr<B>]) -> Result<G1<B>, Error> {
    let mut scratch = alloc::vec![0; G1::<B>::multi_scalar_scratch_limbs(points.len())];
    Ok(G1::multi_scalar_multiply_vartime(points, scalars, &mut scratch)?)
}
