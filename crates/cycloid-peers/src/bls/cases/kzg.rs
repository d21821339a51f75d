//! Cases for KZG commitments.

use std::any::{Any, TypeId};
use std::sync::{LazyLock, Mutex, PoisonError};

use cycloid::bls12_381::{Backend, Cycloid};
use cycloid_kzg::{BLOB_BYTES, Error, Point, Settings};
use rand_core::Rng;

use super::super::case::{Case, case_with};
use super::inputs::rng;

/// Names of the operations, for the backends and the peer.
pub(in crate::bls) const COMMIT: &str = "commit to a blob";
pub(in crate::bls) const PROVE: &str = "prove a blob";
pub(in crate::bls) const VERIFY: &str = "verify a blob";
pub(in crate::bls) const CELLS: &str = "cells and proofs of a blob";
pub(in crate::bls) const VERIFY_CELLS: &str = "verify 128 cells";

/// A random blob and everything made from it.
pub(in crate::bls) struct Blob {
    pub(in crate::bls) bytes: Vec<u8>,
    pub(in crate::bls) commitment: Point,
    pub(in crate::bls) proof: Point,
    pub(in crate::bls) cells: Vec<cycloid_kzg::Cell>,
    pub(in crate::bls) proofs: Vec<Point>,
}

/// The input of every case.
pub(in crate::bls) static BLOB: LazyLock<Blob> = LazyLock::new(|| {
    let mut bytes = vec![0; BLOB_BYTES];
    rng().fill_bytes(&mut bytes);
    // Below r.
    bytes.iter_mut().step_by(32).for_each(|byte| *byte &= 0x3f);
    blob(settings::<Cycloid>(), bytes).expect("elements below r")
});

fn blob<B: Backend>(settings: &Settings<B>, bytes: Vec<u8>) -> Result<Blob, Error> {
    let commitment = settings.commit(&bytes)?;
    let proof = settings.prove_blob(&bytes, &commitment)?;
    let (cells, proofs) = settings.cells_and_proofs(&bytes)?;
    Ok(Blob { bytes, commitment, proof, cells, proofs })
}

/// Returns the setup of a backend, which takes about a second to prepare, from a list of those
/// prepared before.
fn settings<B: Backend>() -> &'static Settings<B> {
    static KNOWN: Mutex<Vec<(TypeId, &(dyn Any + Send + Sync))>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let id = TypeId::of::<B>();
    if let Some(settings) =
        known.iter().find_map(|(of, any)| any.downcast_ref().filter(|_| *of == id))
    {
        return settings;
    }
    let settings: &'static Settings<B> = Box::leak(Box::new(Settings::mainnet()));
    known.push((id, settings));
    settings
}

pub(super) fn of<B: Backend>() -> Vec<Case> {
    let done = |outcome: &Result<(), Error>| vec![u8::from(outcome.is_ok())];
    let point = |point: &Option<Point>| point.map_or_else(Vec::new, |point| point.to_vec());
    vec![
        case(COMMIT, "Settings::commit", || settings::<B>().commit(&BLOB.bytes).ok(), point),
        case(
            PROVE,
            "Settings::prove_blob",
            || settings::<B>().prove_blob(&BLOB.bytes, &BLOB.commitment).ok(),
            point,
        ),
        case(
            VERIFY,
            "Settings::verify_blob",
            || settings::<B>().verify_blob(&BLOB.bytes, &BLOB.commitment, &BLOB.proof),
            done,
        ),
        case(
            CELLS,
            "Settings::cells_and_proofs",
            || settings::<B>().cells_and_proofs(&BLOB.bytes).ok(),
            |found: &Option<(Vec<cycloid_kzg::Cell>, Vec<Point>)>| {
                found.as_ref().map_or_else(Vec::new, |(cells, proofs)| {
                    [cells.as_flattened(), proofs.as_flattened()].concat()
                })
            },
        ),
        case(
            VERIFY_CELLS,
            "Settings::verify_cells",
            || {
                let commitments = [BLOB.commitment.as_slice(); cycloid_kzg::CELLS];
                let indices: Vec<u64> = (0..cycloid_kzg::CELLS as u64).collect();
                let cells: Vec<&[u8]> = BLOB.cells.iter().map(<[u8; _]>::as_slice).collect();
                let proofs: Vec<&[u8]> = BLOB.proofs.iter().map(<[u8; _]>::as_slice).collect();
                settings::<B>().verify_cells(&commitments, &indices, &cells, &proofs)
            },
            done,
        ),
    ]
}

/// Creates a case of public values, whose setup is prepared in advance.
fn case<R: 'static>(
    name: &'static str,
    function: &'static str,
    compute: fn() -> R,
    bytes: fn(&R) -> Vec<u8>,
) -> Case {
    let prepare = move || {
        // Outside the timing.
        let _ = compute();
        compute
    };
    case_with(name, function, || None, prepare, bytes).of_public()
}
