//! Jobs: one operation with a private key, and the callback for its outcome.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use zeroize::Zeroizing;

use crate::key::{Curve, PrivateKey, PublicKey};
use crate::mechanism::Hash;
use crate::{Code, Result};

/// The kind of a job; a batch has jobs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// RSA private-key operations, with moduli of this many bits.
    Rsa(usize),
    /// ECDSA.
    Ecdsa(Curve),
    /// Ed25519.
    Ed25519,
    /// ECDH, X25519.
    Agree(Curve),
    /// BLS12-381.
    Bls,
}

impl Kind {
    /// Returns the batch queue for this operation and key.
    ///
    /// # Errors
    /// [`Code::KEY_TYPE_INCONSISTENT`] if the key does not suit the operation.
    pub fn of(key: &PrivateKey, work: &Work) -> Result<Self> {
        Ok(match (key, work) {
            (
                PrivateKey::Rsa(key),
                Work::SignPkcs1v15(_)
                | Work::SignPss { .. }
                | Work::DecryptPkcs1v15(_)
                | Work::DecryptOaep { .. },
            ) => Self::Rsa(key.bits()),
            (PrivateKey::P224(_), Work::Ecdsa(_)) => Self::Ecdsa(Curve::P224),
            (PrivateKey::P256(_), Work::Ecdsa(_)) => Self::Ecdsa(Curve::P256),
            (PrivateKey::P384(_), Work::Ecdsa(_)) => Self::Ecdsa(Curve::P384),
            (PrivateKey::P521(_), Work::Ecdsa(_)) => Self::Ecdsa(Curve::P521),
            (PrivateKey::Ed25519(_), Work::Ed25519 { .. }) => Self::Ed25519,
            (PrivateKey::Bls(_), Work::Bls(_)) => Self::Bls,
            (_, Work::Agree(_)) => match key.curve() {
                Some(curve) if curve != Curve::Ed25519 => Self::Agree(curve),
                _ => return Err(Code::KEY_TYPE_INCONSISTENT.into()),
            },
            _ => return Err(Code::KEY_TYPE_INCONSISTENT.into()),
        })
    }

    /// Returns the assumed time of a single job in nanoseconds, until it is measured.
    pub(super) const fn usual(self) -> u64 {
        match self {
            Self::Rsa(bits) => (bits as u64).pow(3) / 15_000,
            Self::Ecdsa(Curve::P256) | Self::Ed25519 => 80_000,
            Self::Ecdsa(_) => 300_000,
            Self::Agree(_) => 100_000,
            Self::Bls => 1_000_000,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(bits) => write!(f, "rsa-{bits}"),
            Self::Ecdsa(curve) => write!(f, "ecdsa-{}", curve.name()),
            Self::Ed25519 => f.write_str("ed25519"),
            Self::Agree(curve) => write!(f, "ecdh-{}", curve.name()),
            Self::Bls => f.write_str("bls12-381"),
        }
    }
}

/// The operation to compute.
pub enum Work {
    /// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2) of a DigestInfo, which follows the padding.
    SignPkcs1v15(Vec<u8>),
    /// RSASSA-PSS (section 8.1) of a digest.
    SignPss {
        /// The hash of the digest.
        hash: Hash,
        /// The hash of the mask.
        mask: Hash,
        /// In bytes.
        salt_length: usize,
        /// As long as the hash function's output.
        digest: Vec<u8>,
    },
    /// RSAES-PKCS1-v1_5 (section 7.2).
    DecryptPkcs1v15(Vec<u8>),
    /// RSAES-OAEP (section 7.1).
    DecryptOaep {
        /// The hash of the label.
        hash: Hash,
        /// The hash of the mask.
        mask: Hash,
        /// Often empty.
        label: Vec<u8>,
        /// As long as the modulus.
        ciphertext: Vec<u8>,
    },
    /// ECDSA of a digest of any length.
    Ecdsa(Vec<u8>),
    /// Ed25519 (RFC 8032).
    Ed25519 {
        /// The message, or its SHA-512 digest.
        message: Vec<u8>,
        /// Whether `message` is the digest.
        prehashed: bool,
        /// The context of Ed25519ctx and Ed25519ph.
        context: Vec<u8>,
    },
    /// ECDH or X25519.
    Agree(Box<PublicKey>),
    /// A BLS signature.
    Bls(Vec<u8>),
}

/// The result, which is secret for decryption and key agreement.
pub(crate) type Outcome = Result<Zeroizing<Vec<u8>>>;

/// One operation.
pub struct Job {
    /// The kind, which selects the batch queue.
    pub kind: Kind,
    /// The key.
    pub key: Arc<PrivateKey>,
    /// The operation.
    pub work: Work,
    /// The time of submission.
    pub since: Instant,
    done: Option<Box<dyn FnOnce(Outcome) + Send>>,
}

impl Job {
    /// Creates a job of this kind; `done` is called exactly once, whatever happens.
    pub fn new(
        kind: Kind,
        key: Arc<PrivateKey>,
        work: Work,
        since: Instant,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) -> Self {
        Self { kind, key, work, since, done: Some(Box::new(done)) }
    }

    /// Passes the outcome to the callback.
    pub fn finish(mut self, outcome: Outcome) {
        if let Some(done) = self.done.take() {
            done(outcome);
        }
    }
}

impl Drop for Job {
    /// A job that is lost because its worker panicked still answers.
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(Err(Code::DEVICE_ERROR.because("the computation was interrupted")));
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({})", self.kind)
    }
}
