//! Cells of extended blobs and their proofs (EIP-7594, polynomial-commitments-sampling.md of the
//! consensus specifications).
//!
//! The extended blob has the values of the polynomial on the 8192nd roots of unity, in bit-reversed
//! order; a cell has 64 of them, on a coset h·⟨ω₆₄⟩. The proof of a cell is a commitment to the
//! quotient by X⁶⁴ − h⁶⁴.
//!
//! **All proofs at once** (Feist, Khovratovich, Fast amortized KZG proofs, eprint 2023/033). With
//! c₆₄ₘ₊ᵢ as the coefficients and y = h⁶⁴, the quotient commits to Σ yᵗ·Hₜ, where Hₜ = Σᵢ Σᵤ
//! c₆₄₍ᵤ₊ₜ₊₁₎₊ᵢ·\[τ^(64u + i)\]. So the proofs are the transform of H over the 128th roots y, and H
//! is a sum of 64 correlations, each computed by transforms of 128 values: after the transform,
//! each of 128 places needs a sum of 64 multiples of fixed points.

use alloc::vec;
use alloc::vec::Vec;

use cycloid::bls12_381::{Backend, Fr, G1, G1Affine, bit_reversal_permutation, polynomial};
use sha2::{Digest, Sha256};

use crate::error::equal_counts;
use crate::field::{self, encode, from_hash, powers, sum};
use crate::{BLOB_LENGTH, CELL_BYTES, CELL_LENGTH, CELLS, Cell, Error, Point, Settings};

impl<B: Backend> Settings<B> {
    /// Returns the cells of a blob (compute_cells).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn cells(&self, blob: &[u8]) -> Result<Vec<Cell>, Error> {
        self.cells_of(&self.coefficients(blob)?)
    }

    /// Returns the cells of a blob and their proofs (compute_cells_and_kzg_proofs).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn cells_and_proofs(&self, blob: &[u8]) -> Result<(Vec<Cell>, Vec<Point>), Error> {
        let coefficients = self.coefficients(blob)?;
        Ok((self.cells_of(&coefficients)?, self.proofs_of(&coefficients)?))
    }

    /// Recovers all cells and proofs from at least half of the cells, in the order of their indices
    /// (recover_cells_and_kzg_proofs).
    ///
    /// # Errors
    /// [`Error::Counts`], [`Error::CellCount`], [`Error::CellIndex`], [`Error::Order`];
    /// [`Error::Length`], [`Error::Encoding`].
    pub fn recover<T: AsRef<[u8]>>(
        &self,
        indices: &[u64],
        cells: &[T],
    ) -> Result<(Vec<Cell>, Vec<Point>), Error> {
        equal_counts(indices.len(), cells.len())?;
        if !(CELLS / 2..=CELLS).contains(&cells.len()) {
            return Err(Error::CellCount);
        }
        if !indices.is_sorted_by(|a, b| a < b) {
            return Err(Error::Order);
        }
        let coefficients = self.coefficients_from_cells(indices, cells)?;
        Ok((self.cells_of(&coefficients)?, self.proofs_of(&coefficients)?))
    }

    /// Verifies that each cell with this index belongs to its commitment
    /// (verify_cell_kzg_proof_batch).
    ///
    /// # Errors
    /// [`Error::Verification`]; [`Error::Counts`], [`Error::CellIndex`]; [`Error::Length`],
    /// [`Error::Encoding`].
    pub fn verify_cells<T: AsRef<[u8]>>(
        &self,
        commitments: &[T],
        indices: &[u64],
        cells: &[T],
        proofs: &[T],
    ) -> Result<(), Error> {
        for count in [indices.len(), cells.len(), proofs.len()] {
            equal_counts(commitments.len(), count)?;
        }
        if indices.is_empty() {
            return Ok(());
        }
        let (distinct, numbers) = deduplicated(commitments)?;
        let proofs = proofs.iter().map(point_bytes).collect::<Result<Vec<_>, _>>()?;
        let commitments = field::points::<B>(&distinct)?;
        let weight = batch_challenge(&distinct, &numbers, indices, cells, &proofs);
        let proofs = field::points::<B>(&proofs)?;
        let weights = powers(weight, proofs.len());

        // e(Σ rᵏ·πₖ, [τ⁶⁴]) = e(Σ rᵏ·(Cₖ − [Iₖ] + hₖ⁶⁴·πₖ), [1]), where Iₖ has the cell's values.
        let mut of_commitments = vec![Fr::ZERO; commitments.len()];
        let mut columns: Vec<Option<Vec<Fr<B>>>> = vec![None; CELLS];
        let mut of_proofs = Vec::with_capacity(proofs.len());
        for (k, (index, cell)) in indices.iter().zip(cells).enumerate() {
            let index = checked(*index)?;
            let values = field::elements::<B>(cell.as_ref(), CELL_LENGTH)?;
            of_commitments[numbers[k]] += weights[k];
            of_proofs.push(weights[k] * shift::<B>(index).pow_vartime(&[CELL_LENGTH as u64]));
            let column = columns[index].get_or_insert_with(|| vec![Fr::ZERO; CELL_LENGTH]);
            for (sum, value) in column.iter_mut().zip(values) {
                *sum += weights[k] * value;
            }
        }
        let mut interpolated = vec![Fr::ZERO; CELL_LENGTH];
        for (index, column) in columns.into_iter().enumerate() {
            let Some(mut column) = column else { continue };
            bit_reversal_permutation(&mut column)?;
            self.of_cell.inverse_coset_fft(&shift(index), &mut column)?;
            Fr::add_many(&mut interpolated, &column)?;
        }
        let mut points = commitments;
        points.extend(&proofs);
        points.extend(&self.powers.points()[..CELL_LENGTH]);
        let mut scalars = of_commitments;
        scalars.extend(of_proofs);
        scalars.extend(interpolated.into_iter().map(|coefficient| -coefficient));
        self.check_cells(&sum(&proofs, &weights)?, &sum(&points, &scalars)?)
    }

    /// Returns the values on the 8192nd roots of unity.
    fn cells_of(&self, coefficients: &[Fr<B>]) -> Result<Vec<Cell>, Error> {
        let mut values = coefficients.to_vec();
        values.resize(2 * BLOB_LENGTH, Fr::ZERO);
        self.of_extended.fft(&mut values)?;
        bit_reversal_permutation(&mut values)?;
        let mut cells = vec![[0; CELL_BYTES]; CELLS];
        for (cell, values) in cells.iter_mut().zip(values.chunks_exact(CELL_LENGTH)) {
            for (bytes, value) in cell.as_chunks_mut::<32>().0.iter_mut().zip(values) {
                *bytes = encode(value);
            }
        }
        Ok(cells)
    }

    /// Returns the proofs of all cells.
    fn proofs_of(&self, coefficients: &[Fr<B>]) -> Result<Vec<Point>, Error> {
        let mut scalars = vec![Fr::ZERO; CELLS * CELL_LENGTH];
        // The factor of an inverse transform, which costs less here than on points.
        let factor = Fr::from(CELLS as u64).invert_vartime().unwrap_or(Fr::ZERO);
        for i in 0..CELL_LENGTH {
            let mut values = [Fr::ZERO; CELLS];
            for (m, value) in values[..CELLS / 2].iter_mut().enumerate() {
                *value = coefficients[CELL_LENGTH * m + i] * factor;
            }
            self.of_cells.fft(&mut values)?;
            for (frequency, value) in values.iter().enumerate() {
                scalars[frequency * CELL_LENGTH + i] = *value;
            }
        }
        let mut points = vec![G1::identity(); CELLS];
        let mut scratch = vec![0; self.cells.scratch_limbs()];
        self.cells.compute_vartime(&scalars, &mut points, &mut scratch)?;
        // The inverse transform without its factor. Place t + 1 has Hₜ, for t below 63.
        self.of_cells.fft_points(&mut points)?;
        points[1..].reverse();
        points.rotate_left(1);
        points[CELLS / 2 - 1..].fill(G1::identity());
        self.of_cells.fft_points(&mut points)?;
        bit_reversal_permutation(&mut points)?;
        let mut proofs = vec![G1Affine::identity(); CELLS];
        G1::to_affine_many(&points, &mut proofs)?;
        Ok(proofs.iter().map(G1Affine::to_compressed).collect())
    }

    /// Recovers the coefficients of the polynomial from at least half of its extended values: with
    /// Z as the polynomial that is 0 on the missing cells, f·Z is known everywhere, and f is its
    /// quotient on a coset, where Z has no root.
    fn coefficients_from_cells<T: AsRef<[u8]>>(
        &self,
        indices: &[u64],
        cells: &[T],
    ) -> Result<Vec<Fr<B>>, Error> {
        let mut values = vec![Fr::ZERO; 2 * BLOB_LENGTH];
        let mut present = [false; CELLS];
        for (index, cell) in indices.iter().zip(cells) {
            let index = checked(*index)?;
            present[index] = true;
            let cell = field::elements::<B>(cell.as_ref(), CELL_LENGTH)?;
            values[index * CELL_LENGTH..][..CELL_LENGTH].copy_from_slice(&cell);
        }
        bit_reversal_permutation(&mut values)?;
        // Z is a polynomial in X⁶⁴; its values repeat after 128 places.
        let step = CELL_LENGTH as u64;
        let missing = (0..CELLS).filter(|index| !present[*index]);
        let roots: Vec<Fr<B>> =
            missing.map(|index| shift::<B>(index).pow_vartime(&[step])).collect();
        let mut vanishing = [Fr::ZERO; CELLS];
        polynomial::from_roots(&roots, &mut vanishing[..=roots.len()])?;
        let generator = Fr::<B>::from(7);
        let mut on_coset = vanishing;
        self.of_cells.fft(&mut vanishing)?;
        self.of_cells.coset_fft(&generator.pow_vartime(&[step]), &mut on_coset)?;
        Fr::invert_many(&mut on_coset, &mut [Fr::ZERO; CELLS])?;
        for values in values.chunks_exact_mut(CELLS) {
            Fr::mul_many(values, &vanishing)?;
        }
        self.of_extended.inverse_fft(&mut values)?;
        self.of_extended.coset_fft(&generator, &mut values)?;
        for values in values.chunks_exact_mut(CELLS) {
            Fr::mul_many(values, &on_coset)?;
        }
        self.of_extended.inverse_coset_fft(&generator, &mut values)?;
        values.truncate(BLOB_LENGTH);
        Ok(values)
    }
}

/// Returns h for the cell with this index: the 8192nd root of unity to the power of the index with
/// its seven bits reversed.
fn shift<B: Backend>(index: usize) -> Fr<B> {
    let bits = (2 * BLOB_LENGTH).trailing_zeros();
    let root = Fr::root_of_unity(bits).unwrap_or(Fr::ONE);
    let exponent = (index as u64).reverse_bits() >> (u64::BITS - CELLS.trailing_zeros());
    root.pow_vartime(&[exponent])
}

fn checked(index: u64) -> Result<usize, Error> {
    usize::try_from(index).ok().filter(|index| *index < CELLS).ok_or(Error::CellIndex)
}

fn point_bytes<T: AsRef<[u8]>>(bytes: &T) -> Result<Point, Error> {
    let bytes = bytes.as_ref();
    bytes.try_into().map_err(|_| Error::Length { needed: 48, given: bytes.len() })
}

/// Returns the different commitments in the order of their first occurrence, and for each
/// commitment its number among them.
fn deduplicated<T: AsRef<[u8]>>(commitments: &[T]) -> Result<(Vec<Point>, Vec<usize>), Error> {
    let mut distinct = alloc::collections::BTreeMap::new();
    let (mut order, mut numbers) = (Vec::new(), Vec::with_capacity(commitments.len()));
    for commitment in commitments {
        let bytes = point_bytes(commitment)?;
        let number = *distinct.entry(bytes).or_insert_with(|| {
            order.push(bytes);
            order.len() - 1
        });
        numbers.push(number);
    }
    Ok((order, numbers))
}

/// Returns the weight of a batch (compute_verify_cell_kzg_proof_batch_challenge).
fn batch_challenge<B: Backend, T: AsRef<[u8]>>(
    commitments: &[Point],
    numbers: &[usize],
    indices: &[u64],
    cells: &[T],
    proofs: &[Point],
) -> Fr<B> {
    let mut hash = Sha256::new().chain_update(b"RCKZGCBATCH__V1_");
    for count in [BLOB_LENGTH, CELL_LENGTH, commitments.len(), cells.len()] {
        hash.update((count as u64).to_be_bytes());
    }
    commitments.iter().for_each(|commitment| hash.update(commitment));
    for (k, cell) in cells.iter().enumerate() {
        hash.update((numbers[k] as u64).to_be_bytes());
        hash.update(indices[k].to_be_bytes());
        hash.update(cell.as_ref());
        hash.update(proofs[k]);
    }
    from_hash(hash)
}
