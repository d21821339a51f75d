//! What a Diffie-Hellman operation is given, and what a peer offers to do it with.

use super::Call;
use crate::Failure;

/// What is done in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The secret shared with the owner of a public value.
    Agree,
    /// A private exponent and its public value.
    Generate,
}

/// What a task is done with. The group is one of RFC 7919, whose generator is 2.
#[derive(Clone, Debug)]
pub struct Input {
    /// The length of p.
    pub bits: usize,
    /// p, big-endian.
    pub prime: Vec<u8>,
    /// The length in bits of private exponents.
    pub exponent_bits: usize,
    /// A private exponent, big-endian.
    pub exponent: Vec<u8>,
    /// The other party's exponent, with which results are checked.
    pub other_exponent: Vec<u8>,
    /// The other party's public value, big-endian, as long as p.
    pub other: Vec<u8>,
}

/// Makes everything ready that does not depend on the other party.
///
/// The call reads a public value and writes the shared secret. For [`Task::Generate`], the call
/// with nothing to read makes a key; a call with a public value then writes the key's own public
/// value and the secret shared, one after the other.
pub type Prepare = Box<dyn Fn(&Input) -> Result<Call, Failure>>;

/// One way to do a task.
pub struct Candidate {
    /// Its label in the table, beside the library's name.
    pub label: &'static str,
    /// The called function.
    pub function: &'static str,
    /// A note for readers of its numbers.
    pub note: Option<&'static str>,
    /// Prepares it.
    pub prepare: Prepare,
}
