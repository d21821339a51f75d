//! Commitments to blobs and proofs of their polynomials' values (EIP-4844,
//! polynomial-commitments.md of the consensus specifications).

use alloc::vec::Vec;

use cycloid::bls12_381::{Backend, Fr, G1, G1Affine, bit_reversal_permutation, polynomial};
use sha2::{Digest, Sha256};

use crate::error::equal_counts;
use crate::field::{self, encode, from_hash, powers, sum};
use crate::{BLOB_LENGTH, Element, Error, Point, Settings};

/// A claim and its proof: the committed polynomial has the value y at z.
struct Claim<B: Backend> {
    commitment: G1Affine<B>,
    z: Fr<B>,
    y: Fr<B>,
    proof: G1Affine<B>,
}

impl<B: Backend> Settings<B> {
    /// Commits to a blob (blob_to_kzg_commitment).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn commit(&self, blob: &[u8]) -> Result<Point, Error> {
        let coefficients = self.coefficients(blob)?;
        Ok(self.commit_to(&coefficients)?.to_affine().to_compressed())
    }

    /// Proves the value of a blob's polynomial at z; returns the proof and the value
    /// (compute_kzg_proof).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn prove(&self, blob: &[u8], z: &[u8]) -> Result<(Point, Element), Error> {
        let z = single(z)?;
        let (proof, y) = self.prove_at(blob, &z)?;
        Ok((proof, encode(&y)))
    }

    /// Proves that a blob matches its commitment (compute_blob_kzg_proof). The commitment must be
    /// that of the blob, which is not checked.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn prove_blob(&self, blob: &[u8], commitment: &[u8]) -> Result<Point, Error> {
        point::<B>(commitment)?;
        Ok(self.prove_at(blob, &challenge(blob, commitment))?.0)
    }

    /// Verifies the proof that a polynomial has the value y at z (verify_kzg_proof).
    ///
    /// # Errors
    /// [`Error::Verification`]; [`Error::Length`], [`Error::Encoding`].
    pub fn verify(&self, commitment: &[u8], z: &[u8], y: &[u8], proof: &[u8]) -> Result<(), Error> {
        let (z, y) = (single(z)?, single(y)?);
        self.check_claim(&Claim { commitment: point(commitment)?, z, y, proof: point(proof)? })
    }

    /// Verifies that a blob matches its commitment (verify_blob_kzg_proof).
    ///
    /// # Errors
    /// [`Error::Verification`]; [`Error::Length`], [`Error::Encoding`].
    pub fn verify_blob(&self, blob: &[u8], commitment: &[u8], proof: &[u8]) -> Result<(), Error> {
        self.check_claim(&self.claim(blob, commitment, proof)?)
    }

    /// Verifies that all blobs match their commitments (verify_blob_kzg_proof_batch).
    ///
    /// # Errors
    /// [`Error::Verification`]; [`Error::Counts`]; [`Error::Length`], [`Error::Encoding`].
    pub fn verify_blobs<T: AsRef<[u8]>>(
        &self,
        blobs: &[T],
        commitments: &[T],
        proofs: &[T],
    ) -> Result<(), Error> {
        equal_counts(blobs.len(), commitments.len())?;
        equal_counts(blobs.len(), proofs.len())?;
        let mut claims = Vec::with_capacity(blobs.len());
        let mut hash = Sha256::new()
            .chain_update(b"RCKZGBATCH___V1_")
            .chain_update((BLOB_LENGTH as u64).to_be_bytes())
            .chain_update((blobs.len() as u64).to_be_bytes());
        for ((blob, commitment), proof) in blobs.iter().zip(commitments).zip(proofs) {
            let (commitment, proof) = (commitment.as_ref(), proof.as_ref());
            let claim = self.claim(blob.as_ref(), commitment, proof)?;
            hash.update(commitment);
            hash.update(encode(&claim.z));
            hash.update(encode(&claim.y));
            hash.update(proof);
            claims.push(claim);
        }
        if let [claim] = claims.as_slice() {
            return self.check_claim(claim);
        }
        // e(Σ rⁱ·πᵢ, [τ]) = e(Σ rⁱ·(Cᵢ − yᵢ·[1] + zᵢ·πᵢ), [1]).
        let weights = powers(from_hash::<B>(hash), claims.len());
        let proofs: Vec<_> = claims.iter().map(|claim| claim.proof).collect();
        let mut points: Vec<_> = claims.iter().map(|claim| claim.commitment).collect();
        points.extend(&proofs);
        points.push(G1Affine::generator());
        let weighted = claims.iter().zip(&weights);
        let mut scalars = weights.clone();
        scalars.extend(weighted.clone().map(|(claim, weight)| claim.z * *weight));
        scalars.push(-weighted.map(|(claim, weight)| claim.y * *weight).sum::<Fr<B>>());
        self.check(&sum(&proofs, &weights)?, &sum(&points, &scalars)?)
    }

    /// Returns the coefficients of a blob's polynomial.
    pub(crate) fn coefficients(&self, blob: &[u8]) -> Result<Vec<Fr<B>>, Error> {
        let mut values = values(blob)?;
        self.of_blob.inverse_fft(&mut values)?;
        Ok(values)
    }

    /// Divides the polynomial less its value at z by X − z.
    fn prove_at(&self, blob: &[u8], z: &Fr<B>) -> Result<(Point, Fr<B>), Error> {
        let mut quotient = self.coefficients(blob)?;
        let y = polynomial::divide_by_linear(&mut quotient, z);
        Ok((self.commit_to(&quotient)?.to_affine().to_compressed(), y))
    }

    /// Computes the value that a blob's polynomial must have at the point given by a hash.
    fn claim(&self, blob: &[u8], commitment: &[u8], proof: &[u8]) -> Result<Claim<B>, Error> {
        let mut values = values(blob)?;
        let (point, proof) = (point(commitment)?, point(proof)?);
        let z = challenge(blob, commitment);
        Ok(Claim { commitment: point, z, y: self.of_blob.evaluate(&mut values, &z)?, proof })
    }

    /// Checks that e(π, \[τ\]) = e(C − y·\[1\] + z·π, \[1\]).
    fn check_claim(&self, claim: &Claim<B>) -> Result<(), Error> {
        let points = [claim.proof, G1Affine::generator()];
        let mut multiples = points.map(G1::from);
        G1::multiply_many_vartime(&mut multiples, &[claim.z, -claim.y])?;
        let value = multiples[0] + multiples[1] + claim.commitment;
        self.check(&claim.proof.into(), &value)
    }
}

/// Decodes a blob to values in natural order.
fn values<B: Backend>(blob: &[u8]) -> Result<Vec<Fr<B>>, Error> {
    let mut values = field::elements(blob, BLOB_LENGTH)?;
    bit_reversal_permutation(&mut values)?;
    Ok(values)
}

fn single<B: Backend>(bytes: &[u8]) -> Result<Fr<B>, Error> {
    Ok(field::elements(bytes, 1)?[0])
}

fn point<B: Backend>(bytes: &[u8]) -> Result<G1Affine<B>, Error> {
    Ok(G1Affine::from_compressed(bytes)?)
}

/// Returns the point at which a blob's polynomial is evaluated (compute_challenge).
fn challenge<B: Backend>(blob: &[u8], commitment: &[u8]) -> Fr<B> {
    let hash = Sha256::new()
        .chain_update(b"FSBLOBVERIFY_V1_")
        .chain_update((BLOB_LENGTH as u128).to_be_bytes())
        .chain_update(blob)
        .chain_update(commitment);
    from_hash(hash)
}
