//! c-kzg, with its tables for the proofs of cells.

use c_kzg::{Blob, Bytes48, Cell, KzgSettings, ethereum_kzg_settings};

use super::super::case::case_with;
use super::super::cases::kzg::{BLOB, CELLS, COMMIT, PROVE, VERIFY, VERIFY_CELLS};
use super::super::{Case, Part};

/// Why converting the library's results cannot fail.
const VALID: &str = "as many bytes as c-kzg needs";

/// The width of its tables, in bits: the one that its authors recommend for speed.
const PRECOMPUTE: u64 = 8;

fn settings() -> &'static KzgSettings {
    ethereum_kzg_settings(PRECOMPUTE)
}

fn blob() -> Blob {
    Blob::from_bytes(&BLOB.bytes).expect(VALID)
}

fn bytes(point: &[u8]) -> Bytes48 {
    Bytes48::from_bytes(point).expect(VALID)
}

pub(super) fn cases(part: Part) -> Vec<Case> {
    if part != Part::Kzg {
        return Vec::new();
    }
    vec![
        case(
            COMMIT,
            "KzgSettings::blob_to_kzg_commitment",
            || {
                let (settings, blob) = (settings(), blob());
                move || settings.blob_to_kzg_commitment(&blob).ok()
            },
            |point| point.as_ref().map_or_else(Vec::new, |point| point.to_bytes().to_vec()),
        ),
        case(
            PROVE,
            "KzgSettings::compute_blob_kzg_proof",
            || {
                let (settings, blob, commitment) = (settings(), blob(), bytes(&BLOB.commitment));
                move || settings.compute_blob_kzg_proof(&blob, &commitment).ok()
            },
            |point| point.as_ref().map_or_else(Vec::new, |point| point.to_bytes().to_vec()),
        ),
        case(
            VERIFY,
            "KzgSettings::verify_blob_kzg_proof",
            || {
                let (settings, blob) = (settings(), blob());
                let (commitment, proof) = (bytes(&BLOB.commitment), bytes(&BLOB.proof));
                move || {
                    matches!(settings.verify_blob_kzg_proof(&blob, &commitment, &proof), Ok(true))
                }
            },
            truth,
        ),
        case(
            CELLS,
            "KzgSettings::compute_cells_and_kzg_proofs",
            || {
                let (settings, blob) = (settings(), blob());
                move || settings.compute_cells_and_kzg_proofs(&blob).ok()
            },
            |found| {
                found.as_ref().map_or_else(Vec::new, |(cells, proofs)| {
                    let cells = cells.iter().flat_map(Cell::to_bytes);
                    cells.chain(proofs.iter().flat_map(|proof| proof.to_bytes().to_vec())).collect()
                })
            },
        ),
        case(
            VERIFY_CELLS,
            "KzgSettings::verify_cell_kzg_proof_batch",
            || {
                let settings = settings();
                let cell = |cell: &cycloid_kzg::Cell| Cell::from_bytes(cell).expect(VALID);
                let cells: Vec<_> = BLOB.cells.iter().map(cell).collect();
                let proofs: Vec<_> = BLOB.proofs.iter().map(|proof| bytes(proof)).collect();
                let commitments = vec![bytes(&BLOB.commitment); cells.len()];
                let indices: Vec<u64> = (0..cells.len() as u64).collect();
                move || {
                    let outcome = settings.verify_cell_kzg_proof_batch(
                        &commitments,
                        &indices,
                        &cells,
                        &proofs,
                    );
                    matches!(outcome, Ok(true))
                }
            },
            truth,
        ),
    ]
}

/// Creates a case: `prepare` returns the computation, and `bytes` encodes its result.
fn case<R: 'static, C: FnMut() -> R + 'static>(
    name: &'static str,
    function: &'static str,
    prepare: fn() -> C,
    bytes: fn(&R) -> Vec<u8>,
) -> Case {
    case_with(name, function, || None, prepare, bytes).of_public()
}

/// Encodes a boolean.
fn truth(value: &bool) -> Vec<u8> {
    vec![u8::from(*value)]
}
