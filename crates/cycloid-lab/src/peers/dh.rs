//! The inputs of Diffie-Hellman operations, and the interface to a peer's implementations.

use super::Call;
use crate::Failure;

/// An operation in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Computes the secret shared with the owner of a public value.
    Agree,
    /// Generates a private exponent and its public value.
    Generate,
}

/// The inputs of a task. The group is one of RFC 7919, with generator 2.
#[derive(Clone, Debug)]
pub struct Input {
    /// The length of p in bits.
    pub bits: usize,
    /// p, big-endian.
    pub prime: Vec<u8>,
    /// The length of private exponents in bits.
    pub exponent_bits: usize,
    /// A private exponent, big-endian.
    pub exponent: Vec<u8>,
    /// The other party's exponent, for checking results.
    pub other_exponent: Vec<u8>,
    /// The other party's public value, big-endian, as long as p.
    pub other: Vec<u8>,
}

/// Prepares everything that does not depend on the other party.
///
/// The call reads a public value and writes the shared secret. For [`Task::Generate`], a call with
/// empty input generates a key; a call with a public value then writes the generated public value
/// followed by the shared secret.
pub type Prepare = Box<dyn Fn(&Input) -> Result<Call, Failure>>;

/// An implementation of a task.
pub struct Candidate {
    /// Its label in the table, next to the library's name.
    pub label: &'static str,
    /// The called function.
    pub function: &'static str,
    /// A note for readers of its numbers.
    pub note: Option<&'static str>,
    /// Prepares it.
    pub prepare: Prepare,
}
