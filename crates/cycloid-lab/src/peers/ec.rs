//! The inputs of operations on elliptic curves, and the interface to a peer's implementations.

use std::sync::Arc;

use super::Call;
use crate::Failure;

/// A curve, with its hash function if it signs messages.
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
    /// Ed25519, which takes messages, not digests.
    Ed25519,
    /// X25519.
    X25519,
}

impl Curve {
    /// All curves, in the order of the tables.
    pub const ALL: [Self; 6] =
        [Self::P224, Self::P256, Self::P384, Self::P521, Self::Ed25519, Self::X25519];

    /// Returns its name in tables.
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

    /// Returns the length in bytes of a private key and of each half of a signature.
    pub const fn bytes(self) -> usize {
        match self {
            Self::P224 => 28,
            Self::P256 | Self::Ed25519 | Self::X25519 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// Returns the length in bytes of a public key: an uncompressed point, or the encoding of the
    /// curve's own standard.
    pub const fn public_bytes(self) -> usize {
        match self {
            Self::Ed25519 | Self::X25519 => 32,
            _ => 1 + 2 * self.bytes(),
        }
    }

    /// Returns whether the curve supports the task.
    pub const fn does(self, task: Task) -> bool {
        match self {
            Self::Ed25519 => !matches!(task, Task::Agree),
            Self::X25519 => matches!(task, Task::Generate | Task::Agree),
            _ => true,
        }
    }
}

/// An operation with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Generates a private key and its public key.
    Generate,
    /// Signs.
    Sign,
    /// Verifies a signature.
    Verify,
    /// Computes the secret shared with the owner of a public key.
    Agree,
}

impl Task {
    /// All tasks, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Sign, Self::Verify, Self::Agree, Self::Generate];

    /// Returns its name in tables and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Agree => "agree",
        }
    }
}

/// The inputs of a task.
#[derive(Clone)]
pub struct Input {
    /// The curve.
    pub curve: Curve,
    /// The private key: big-endian, or in the encoding of the curve's own standard.
    pub private: Vec<u8>,
    /// Its public key: an uncompressed point (SEC 1, section 2.3.3), or in the encoding of the
    /// curve's own standard.
    pub public: Vec<u8>,
    /// The other party's private key, for checking results.
    pub other_private: Vec<u8>,
    /// The other party's public key.
    pub other: Vec<u8>,
    /// The signed message.
    pub message: [u8; 32],
    /// Its digest.
    pub digest: Vec<u8>,
    /// A signature of the message by this library, in each encoding.
    pub signature: [Vec<u8>; 2],
}

/// Prepares everything that does not depend on the data.
///
/// The call of [`Task::Sign`] reads a digest and writes a signature. The call of [`Task::Verify`]
/// reads a signature and fails if it is invalid. Both may use the message instead of the digest.
/// The call of [`Task::Agree`] reads the other party's public key and writes the shared secret,
/// followed by its own public key if that differs from the input's.
///
/// For [`Task::Generate`], a call with empty input generates a key. A call with the other party's
/// public key then writes the generated public key followed by the shared secret, or on a curve for
/// signatures by a signature of the message.
pub type Prepare = Box<dyn Fn(&Arc<Input>) -> Result<Call, Failure>>;

/// The encoding of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Both halves at fixed length.
    Fixed = 0,
    /// Both halves as DER integers.
    Der = 1,
}

/// An implementation of a task.
pub struct Candidate {
    /// Its label in the table, next to the library's name.
    pub label: &'static str,
    /// The called function.
    pub function: &'static str,
    /// Whether it is designed to be constant-time.
    pub constant_time: bool,
    /// A note for readers of its numbers.
    pub note: Option<&'static str>,
    /// The encoding of its signatures.
    pub encoding: Encoding,
    /// Whether a preparation serves only one call.
    pub once: bool,
    /// Prepares it.
    pub prepare: Prepare,
}

impl Candidate {
    /// Creates a candidate that is constant-time, serves many calls, and has no note.
    pub fn new(
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

    /// Adds a note.
    pub fn noted(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }
}

/// Returns the error for an input that a library rejects.
pub fn refused(function: &str) -> Failure {
    Failure::new(format!("cannot prepare {function}"), "exclude it with --peers, or report this")
}

/// Writes `parts` one after the other, and returns their total length.
pub fn write(output: &mut [u8], parts: &[&[u8]]) -> Result<usize, &'static str> {
    let mut length = 0;
    for part in parts {
        let room = output.get_mut(length..length + part.len()).ok_or("the result is too long")?;
        room.copy_from_slice(part);
        length += part.len();
    }
    Ok(length)
}
