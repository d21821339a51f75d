//! Commits to a blob, proves and verifies it, and recovers it from half of its cells.

use std::time::Instant;

use cycloid::bls12_381::Cycloid;
use cycloid_kzg::{BLOB_BYTES, CELLS, Error, Settings};

fn main() -> Result<(), Error> {
    let settings = timed("prepare the setup", Settings::<Cycloid>::mainnet);

    // Each element of a blob has to be below r, so its first byte is 0 here.
    let mut blob = vec![0; BLOB_BYTES];
    for (i, byte) in blob.iter_mut().enumerate().filter(|(i, _)| i % 32 > 0) {
        *byte = (i * i / 32) as u8;
    }
    let commitment = timed("commit", || settings.commit(&blob))?;
    let proof = timed("prove the blob", || settings.prove_blob(&blob, &commitment))?;
    timed("verify the blob", || settings.verify_blob(&blob, &commitment, &proof))?;

    let (cells, proofs) = timed("compute cells and proofs", || settings.cells_and_proofs(&blob))?;
    let indices: Vec<u64> = (0..CELLS as u64).step_by(2).collect();
    let pick = |i: &u64| *i as usize;
    let half: Vec<&[u8]> = indices.iter().map(|i| cells[pick(i)].as_slice()).collect();
    let of_half: Vec<&[u8]> = indices.iter().map(|i| proofs[pick(i)].as_slice()).collect();
    let commitments = vec![commitment.as_slice(); half.len()];
    timed("verify 64 cells", || settings.verify_cells(&commitments, &indices, &half, &of_half))?;
    let recovered = timed("recover", || settings.recover(&indices, &half))?;
    assert_eq!(recovered, (cells, proofs));
    Ok(())
}

/// Runs a step and prints its time.
fn timed<T>(what: &str, step: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = step();
    println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}
