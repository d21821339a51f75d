//! What an operation on an elliptic curve is given, and what a peer offers to do it with.

use std::sync::Arc;

use super::Call;
use crate::Failure;

/// A curve, with the hash function that goes with it where messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// P-224, with SHA-256.
    P224,
    /// P-256, with SHA-256.
    P256,
    /// P-384, with SHA-384.
    P384,
    /// P-521, with SHA-512.
    P521,
    /// Ed25519, which is given messages.
    Ed25519,
    /// X25519.
    X25519,
}

impl Curve {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 6] =
        [Self::P224, Self::P256, Self::P384, Self::P521, Self::Ed25519, Self::X25519];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P224 => "P-224",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
            Self::Ed25519 => "Ed25519",
            Self::X25519 => "X25519",
        }
    }

    /// Bytes of a private key, and of each half of a signature.
    pub const fn bytes(self) -> usize {
        match self {
            Self::P224 => 28,
            Self::P256 | Self::Ed25519 | Self::X25519 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// Bytes of a public key: a point as it is, or as the curve's own standard encodes it.
    pub const fn public_bytes(self) -> usize {
        match self {
            Self::Ed25519 | Self::X25519 => 32,
            _ => 1 + 2 * self.bytes(),
        }
    }

    /// Whether that is done on it.
    pub const fn does(self, task: Task) -> bool {
        match self {
            Self::Ed25519 => !matches!(task, Task::Agree),
            Self::X25519 => matches!(task, Task::Generate | Task::Agree),
            _ => true,
        }
    }
}

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A private key and its public key.
    Generate,
    /// A signature.
    Sign,
    /// Verification of a signature.
    Verify,
    /// The secret shared with the owner of a public key.
    Agree,
}

impl Task {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Sign, Self::Verify, Self::Agree, Self::Generate];

    /// Its name in tables and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Agree => "agree",
        }
    }
}

/// What a task is done with.
#[derive(Clone)]
pub struct Input {
    /// The curve.
    pub curve: Curve,
    /// The private key: big-endian, or as the curve's own standard encodes it.
    pub private: Vec<u8>,
    /// Its public key: an uncompressed point (SEC 1, section 2.3.3), or as the curve's own standard
    /// encodes it.
    pub public: Vec<u8>,
    /// The other party's private key, with which results are checked.
    pub other_private: Vec<u8>,
    /// The other party's public key.
    pub other: Vec<u8>,
    /// What is signed.
    pub message: [u8; 32],
    /// Its digest.
    pub digest: Vec<u8>,
    /// A signature of it, made by ours, in each encoding.
    pub signature: [Vec<u8>; 2],
}

/// Makes everything ready that does not depend on the data.
///
/// The call of [`Task::Sign`] reads a digest and writes a signature; that of [`Task::Verify`] reads
/// a signature, and fails if it is not valid; both may take the message in place of the digest.
/// That of [`Task::Agree`] reads the other party's public key and writes the shared secret, and
/// after it its own public key if that is not the one of the input.
///
/// For [`Task::Generate`], the call with nothing to read makes a key; a call with the other party's
/// public key then writes the key's own public key and the secret shared, or on a curve for
/// signatures one of the message, one after the other.
pub type Prepare = Box<dyn Fn(&Arc<Input>) -> Result<Call, Failure>>;

/// How a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Both halves in their whole length.
    Fixed = 0,
    /// Both as numbers of DER.
    Der = 1,
}

/// One way to do a task.
pub struct Candidate {
    /// Its label in the table, beside the library's name.
    pub label: &'static str,
    /// The called function.
    pub function: &'static str,
    /// Whether it is designed to be constant-time.
    pub constant_time: bool,
    /// A note for readers of its numbers.
    pub note: Option<&'static str>,
    /// How its signatures are written.
    pub encoding: Encoding,
    /// Whether what is prepared serves one call only.
    pub once: bool,
    /// Prepares it.
    pub prepare: Prepare,
}

impl Candidate {
    /// One that is constant-time, serves many calls, and of which there is nothing to say.
    pub(super) fn new(
        task: Task,
        function: &'static str,
        encoding: Encoding,
        prepare: impl Fn(&Arc<Input>) -> Result<Call, Failure> + 'static,
    ) -> Self {
        Self {
            label: task.name(),
            function,
            constant_time: true,
            note: None,
            encoding,
            once: false,
            prepare: Box::new(prepare),
        }
    }

    /// The same, with something to say.
    pub(super) fn noted(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }
}

/// What to say where a library does not take what it is given.
pub(super) fn refused(function: &str) -> Failure {
    Failure::new(format!("cannot prepare {function}"), "exclude it with --peers, or report this")
}

/// Writes `parts` one after the other, and tells how long they are.
pub(crate) fn write(output: &mut [u8], parts: &[&[u8]]) -> Result<usize, &'static str> {
    let mut length = 0;
    for part in parts {
        let room = output.get_mut(length..length + part.len()).ok_or("the result is too long")?;
        room.copy_from_slice(part);
        length += part.len();
    }
    Ok(length)
}
