//! KZG polynomial commitments as Ethereum uses them: blobs (EIP-4844) and cells (EIP-7594), on
//! [`cycloid::bls12_381`] with any of its backends.
//!
//! ```
//! use cycloid::bls12_381::Cycloid;
//! use cycloid_kzg::{BLOB_BYTES, Settings};
//!
//! let settings = Settings::<Cycloid>::mainnet();
//! let mut blob = vec![0; BLOB_BYTES];
//! blob[31] = 5;
//! let commitment = settings.commit(&blob)?;
//! let proof = settings.prove_blob(&blob, &commitment)?;
//! settings.verify_blob(&blob, &commitment, &proof)?;
//! # Ok::<(), cycloid_kzg::Error>(())
//! ```
//!
//! The functions have the names of what they do; the specification's names are in their
//! documentation. All data is public, and time depends on it.
//!
//! A blob is a list of 4096 values of a polynomial on the 4096th roots of unity, in bit-reversed
//! order, each 32 bytes, big-endian. Commitments and proofs are members of G1, compressed.

#![no_std]

extern crate alloc;

mod blob;
mod cells;
mod error;
mod field;
mod settings;

pub use error::Error;
pub use settings::Settings;

/// Number of values in a blob.
pub const BLOB_LENGTH: usize = 4096;

/// Bytes of a blob.
pub const BLOB_BYTES: usize = 32 * BLOB_LENGTH;

/// Number of cells of a blob.
pub const CELLS: usize = 128;

/// Number of values in a cell.
const CELL_LENGTH: usize = 2 * BLOB_LENGTH / CELLS;

/// Bytes of a cell.
pub const CELL_BYTES: usize = 32 * CELL_LENGTH;

/// A cell: 64 values, each 32 bytes, big-endian.
pub type Cell = [u8; CELL_BYTES];

/// A commitment or a proof, compressed.
pub type Point = [u8; 48];

/// An element of Fr, big-endian.
pub type Element = [u8; 32];
