//! An available peer: what it implements.

use super::external::runner::Runner;
use super::{dh, ec, modexp, rsa};

/// An available peer.
pub trait Library {
    /// Returns its version, as the library reports it.
    fn version(&self) -> String;

    /// Returns its implementations of base^exponent mod modulus, for an odd modulus of that many
    /// bits.
    fn modexp(&self, _modulus_bits: usize) -> Vec<modexp::Candidate> {
        Vec::new()
    }

    /// Returns its implementations of a task with RSA keys of that many bits.
    fn rsa(&self, _task: rsa::Task, _bits: usize) -> Vec<rsa::Candidate> {
        Vec::new()
    }

    /// Returns its implementations of a task in the group of RFC 7919 of that many bits.
    fn dh(&self, _task: dh::Task, _bits: usize) -> Vec<dh::Candidate> {
        Vec::new()
    }

    /// Returns the path of its PKCS #11 module.
    fn pkcs11(&self) -> Option<&std::path::Path> {
        None
    }

    /// Returns the runner program of a library that this process cannot call.
    fn runner(&self) -> Option<&Runner> {
        None
    }

    /// Returns its implementations of a task on the curve.
    fn ec(&self, _task: ec::Task, _curve: ec::Curve) -> Vec<ec::Candidate> {
        Vec::new()
    }
}
