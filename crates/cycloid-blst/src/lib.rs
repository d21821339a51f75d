//! BLS12-381 of the library `cycloid` on the arithmetic of blst.
//!
//! [`Blst`] is a backend of [`cycloid::bls12_381`]: what is written for any backend runs on it.
//! Where blst is not right for every input (no points at all, points off the group), this crate is.

#![no_std]

mod ffi;
mod group;
mod pairing;
mod scalars;

use cycloid::bls12_381::Backend;

/// The backend on blst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blst;

impl Backend for Blst {
    const NAME: &'static str = "blst";
}
