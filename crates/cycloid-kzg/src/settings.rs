//! The trusted setup, and all that is computed from it in advance.

use alloc::vec;
use alloc::vec::Vec;

use cycloid::bls12_381::{
    Affine, Backend, Domain, First, Fr, G1, G1Affine, G2, G2Affine, G2Prepared, PreparedSums,
    Second, miller_loop_prepared,
};
use sha2::{Digest, Sha256};

use crate::{BLOB_LENGTH, CELL_LENGTH, CELLS, Error, field};

/// The points \[τ^i\] of Ethereum's mainnet: 4096 of G1 and 65 of G2 (data/README.md).
static MAINNET: &[u8] = include_bytes!("../data/mainnet.bin");

/// Number of points of G2: \[τ^0\] to \[τ^64\].
const G2_POINTS: usize = CELL_LENGTH + 1;

/// Fixed points with a table.
type Prepared<B> = PreparedSums<B, First, Vec<G1Affine<B>>, Vec<u64>>;

/// Roots of unity.
type Roots<B> = Domain<B, Vec<Fr<B>>>;

/// A trusted setup, prepared for all operations. It takes about 50 MB with the library's own
/// backend.
pub struct Settings<B: Backend> {
    /// \[τ^i\] in G1.
    pub(crate) powers: Prepared<B>,
    /// For each 128th root of unity, the points of one sum of FK20.
    pub(crate) cells: Prepared<B>,
    /// \[1\], \[τ\] and \[τ^64\] in G2.
    pub(crate) generator: G2Prepared<B>,
    tau: G2Prepared<B>,
    tau_64: G2Prepared<B>,
    pub(crate) of_blob: Roots<B>,
    pub(crate) of_extended: Roots<B>,
    pub(crate) of_cell: Roots<B>,
    pub(crate) of_cells: Roots<B>,
}

impl<B: Backend> Settings<B> {
    /// Prepares the setup of Ethereum's mainnet.
    pub fn mainnet() -> Self {
        let (first, second) = MAINNET.split_at(48 * BLOB_LENGTH);
        match Self::new(first.as_chunks().0, second.as_chunks().0) {
            Ok(settings) => settings,
            Err(_) => unreachable!("the points are the powers of one τ"),
        }
    }

    /// Prepares a setup: \[τ⁰\] to \[τ⁴⁰⁹⁵\] in G1 and \[τ⁰\] to \[τ⁶⁴\] in G2.
    ///
    /// # Errors
    /// [`Error::Setup`]; [`Error::Encoding`] for a point that is not a member of its group;
    /// [`Error::Powers`], as for the points of a file in Lagrange form.
    pub fn new(first: &[[u8; 48]], second: &[[u8; 96]]) -> Result<Self, Error> {
        if (first.len(), second.len()) != (BLOB_LENGTH, G2_POINTS) {
            return Err(Error::Setup);
        }
        let hash = Sha256::new().chain_update(first.as_flattened());
        let weight = field::from_hash(hash.chain_update(second.as_flattened()));
        let first = field::points::<B>(first)?;
        let mut results = vec![Ok(G2Affine::<B>::identity()); second.len()];
        Affine::<B, Second>::from_compressed_many(second, &mut results)?;
        let second = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        check_powers(&first, &second, weight)?;
        let of_cells = roots(CELLS)?;
        let cells = prepare(cell_points(&first, &of_cells)?, CELL_LENGTH)?;
        Ok(Self {
            powers: prepare(first, BLOB_LENGTH)?,
            cells,
            generator: G2Affine::generator().into(),
            tau: second[1].into(),
            tau_64: second[CELL_LENGTH].into(),
            of_blob: roots(BLOB_LENGTH)?,
            of_extended: roots(2 * BLOB_LENGTH)?,
            of_cell: roots(CELL_LENGTH)?,
            of_cells,
        })
    }

    /// Returns the commitment to a polynomial with 4096 coefficients.
    pub(crate) fn commit_to(&self, coefficients: &[Fr<B>]) -> Result<G1<B>, Error> {
        let mut sum = [G1::identity()];
        let mut scratch = vec![0; self.powers.scratch_limbs()];
        self.powers.compute_vartime(coefficients, &mut sum, &mut scratch)?;
        Ok(sum[0])
    }

    /// Checks that e(proof, \[τ\]) = e(value, \[1\]).
    pub(crate) fn check(&self, proof: &G1<B>, value: &G1<B>) -> Result<(), Error> {
        self.check_with(&self.tau, proof, value)
    }

    /// Checks that e(proof, \[τ⁶⁴\]) = e(value, \[1\]).
    pub(crate) fn check_cells(&self, proof: &G1<B>, value: &G1<B>) -> Result<(), Error> {
        self.check_with(&self.tau_64, proof, value)
    }

    fn check_with(&self, tau: &G2Prepared<B>, proof: &G1<B>, value: &G1<B>) -> Result<(), Error> {
        let points = [-*proof, *value];
        if has_product_one(&points, &[tau, &self.generator])? {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }
}

/// Returns whether the product of the pairings is one.
fn has_product_one<B: Backend>(
    points: &[G1<B>; 2],
    others: &[&G2Prepared<B>; 2],
) -> Result<bool, Error> {
    let mut affine = [G1Affine::identity(); 2];
    G1::to_affine_many(points, &mut affine)?;
    let product = miller_loop_prepared(&affine, others)?;
    Ok(product.final_exponentiation().is_some_and(|value| value.is_one()))
}

/// Checks that the points are the powers of one τ that is not 0, in ascending order. The weights
/// are the powers of a hash of all points, so wrong points pass with negligible probability.
fn check_powers<B: Backend>(
    first: &[G1Affine<B>],
    second: &[G2Affine<B>],
    weight: Fr<B>,
) -> Result<(), Error> {
    let starts_right = first[0] == G1Affine::generator() && second[0] == G2Affine::generator();
    if !starts_right || second[1] == G2Affine::identity() {
        return Err(Error::Powers);
    }
    let weights = field::powers(weight, first.len() - 1);
    let [generator, tau] = [second[0], second[1]].map(G2Prepared::from);

    // e(Σ rⁱ·[τⁱ], [τ]) = e(Σ rⁱ·[τ^(i + 1)], [1]).
    let lower = field::sum(&first[..weights.len()], &weights)?;
    let upper = field::sum(&first[1..], &weights)?;
    let is_geometric = has_product_one(&[-lower, upper], &[&tau, &generator])?;

    // e(Σ rⁱ·[τⁱ], [1]) = e([1], Σ rⁱ·[τⁱ]), for the powers in both groups.
    let weights = &weights[..second.len()];
    let mut scratch = vec![0; G2::<B>::multi_scalar_scratch_limbs(second.len())];
    let of_second = G2::multi_scalar_multiply_vartime(second, weights, &mut scratch)?;
    let of_second = G2Prepared::from(of_second.to_affine());
    let of_first = field::sum(&first[..second.len()], weights)?;
    let sides = [-of_first, G1::generator()];
    if is_geometric && has_product_one(&sides, &[&generator, &of_second])? {
        Ok(())
    } else {
        Err(Error::Powers)
    }
}

fn roots<B: Backend>(length: usize) -> Result<Roots<B>, Error> {
    Ok(Domain::new(length, vec![Fr::ZERO; length / 2])?)
}

fn prepare<B: Backend>(points: Vec<G1Affine<B>>, size: usize) -> Result<Prepared<B>, Error> {
    let table = vec![0; Prepared::<B>::table_limbs(points.len(), size)];
    Ok(PreparedSums::new(points, size, table)?)
}

/// Returns the points of the sums of FK20 (see `cells.rs`): for each i below 64, the transform of
/// the list with \[τ^(64u + i)\] at place −u modulo 128, where u is below 63.
fn cell_points<B: Backend>(
    powers: &[G1Affine<B>],
    of_cells: &Roots<B>,
) -> Result<Vec<G1Affine<B>>, Error> {
    let mut all = vec![G1::identity(); CELLS * CELL_LENGTH];
    for i in 0..CELL_LENGTH {
        let mut points = [G1::<B>::identity(); CELLS];
        for u in 0..CELLS / 2 - 1 {
            points[(CELLS - u) % CELLS] = powers[CELL_LENGTH * u + i].into();
        }
        of_cells.fft_points(&mut points)?;
        for (frequency, point) in points.iter().enumerate() {
            all[frequency * CELL_LENGTH + i] = *point;
        }
    }
    let mut affine = vec![G1Affine::identity(); all.len()];
    G1::to_affine_many(&all, &mut affine)?;
    Ok(affine)
}
