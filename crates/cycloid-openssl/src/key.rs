//! Keys as Cycloid computes with them, and their translation from and to OpenSSL's parameters.

pub(crate) mod ec;
pub(crate) mod ed25519;
pub(crate) mod rsa;
pub(crate) mod rsa_pair;
pub(crate) mod x25519;

use std::ffi::c_int;

use crate::failure::Error;
use crate::ffi::params::{OwnedParams, Params, Request};

/// How a key is read from parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The key replaces the parameters: nothing in them may be lost.
    Whole,
    /// The default provider keeps the key; this one only computes with it.
    ForUse,
}

/// A key of one algorithm. Whatever a method does not handle is the default provider's.
pub(crate) trait Key: Sized + Send + Sync + 'static {
    /// Whether a public key that was read needs no further check.
    const READ_IS_VALID: bool;

    /// The parts that a key of this kind can have, and so can lack.
    const POSSIBLE: c_int;

    /// Reads the selected parts of a key, or returns `None` for a key that is unusual or invalid.
    fn read(params: &Params<'_>, selection: c_int, reading: Reading) -> Option<Self>;

    /// Writes the key as parameters, for the default provider.
    fn write(&self) -> OwnedParams;

    /// Returns the parts that the key has, as bits of [`selection`](crate::ffi::abi::selection).
    fn parts(&self) -> c_int;

    /// Returns a key with the selected parts only.
    fn part(&self, selection: c_int) -> Option<Self>;

    /// Generates a key for the name of its algorithm.
    fn generate(
        name: &str,
        selection: c_int,
        params: &Params<'_>,
        template: Option<&Self>,
    ) -> Option<Result<Self, Error>>;

    /// Fills a request. Returns whether there was room, or `None` if the value is not known here.
    fn fill(&self, request: &mut Request<'_>) -> Option<bool>;

    /// Returns the key changed by parameters.
    fn changed(&self, params: &Params<'_>) -> Option<Self>;
}
