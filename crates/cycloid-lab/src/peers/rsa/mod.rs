//! The inputs of RSA operations, and the interface to a peer's implementations.

mod key;

use std::sync::Arc;

use cycloid::modular::{self, Exponent, Modulus};
use sha2::{Digest, Sha256};

pub use key::modulus_in_der;
pub use key::{Key, PUBLIC_EXPONENT};

use crate::Failure;
use crate::measure::random::Random;
use crate::peers::Call;
use crate::peers::bytes::{from_bytes, to_bytes};

/// An operation with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Signs a SHA-256 digest with PKCS #1 v1.5 padding.
    Sign,
    /// Signs with PSS, SHA-256 and a salt of 32 bytes.
    SignPss,
    /// Verifies a signature of [`Sign`](Self::Sign).
    Verify,
    /// Decrypts with OAEP padding and SHA-256.
    DecryptOaep,
    /// Decrypts with PKCS #1 v1.5 padding.
    DecryptPkcs1v15,
    /// Generates a key.
    Generate,
}

impl Task {
    /// Returns the row label of a peer with only one implementation.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sign | Self::SignPss => "sign",
            Self::Verify => "verify",
            Self::DecryptOaep | Self::DecryptPkcs1v15 => "decrypt",
            Self::Generate => "generate",
        }
    }
}

/// The inputs of a task.
#[derive(Clone)]
pub struct Input {
    /// The key.
    pub key: Arc<Key>,
    /// The signed or encrypted message.
    pub message: [u8; 32],
    /// Its SHA-256 digest.
    pub digest: [u8; 32],
    /// The input of each run: the digest, a signature or a ciphertext; empty for key generation.
    pub data: Vec<u8>,
}

/// Prepares everything that does not depend on the data.
///
/// The call reads [`Input::data`] and writes into a buffer twice as long as the modulus. A
/// verification writes nothing, and fails if the signature is invalid. For [`Task::Generate`], a
/// call without data generates a key; a call with a digest then signs it with that key and writes
/// the modulus followed by the signature.
pub type Prepare = Box<dyn Fn(&Input) -> Result<Call, Failure>>;

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
    /// Prepares it.
    pub prepare: Prepare,
}

impl Input {
    /// Creates the input of a task with a key, the same on every run.
    pub fn new(task: Task, key: &Arc<Key>) -> Self {
        let mut random = Random::new(key.bits as u64);
        let message = std::array::from_fn(|_| random.next() as u8);
        let digest: [u8; 32] = Sha256::digest(message).into();
        let data = match task {
            Task::Sign | Task::SignPss => digest.to_vec(),
            Task::Verify => {
                raise(key, &signature_block(key.length(), &digest), &key.private_exponent)
            }
            Task::DecryptOaep => {
                let seed = std::array::from_fn(|_| random.next() as u8);
                raise(key, &oaep_block(key.length(), &message, seed), &Key::public_exponent())
            }
            Task::DecryptPkcs1v15 => {
                let block = encryption_block(key.length(), &message);
                raise(key, &block, &Key::public_exponent())
            }
            Task::Generate => Vec::new(),
        };
        Self { key: Arc::clone(key), message, digest, data }
    }
}

/// The bytes before a SHA-256 digest in a signature (RFC 8017, section 9.2, note 1).
const SHA256_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// 00 01 FF … FF 00 DigestInfo (RFC 8017, section 9.2).
fn signature_block(length: usize, digest: &[u8]) -> Vec<u8> {
    let info = [&SHA256_INFO, digest].concat();
    [&[0, 1][..], &vec![0xff; length - 3 - info.len()], &[0], &info].concat()
}

/// 00 02, nonzero bytes, 00, message (RFC 8017, section 7.2.1).
fn encryption_block(length: usize, message: &[u8]) -> Vec<u8> {
    [&[0, 2][..], &vec![0x5a; length - 3 - message.len()], &[0], message].concat()
}

/// EME-OAEP with SHA-256 and an empty label (RFC 8017, section 7.1.1, step 2).
fn oaep_block(length: usize, message: &[u8], mut seed: [u8; 32]) -> Vec<u8> {
    let label = Sha256::digest([]);
    let padding = vec![0; length - message.len() - 2 * seed.len() - 2];
    let mut block = [&label[..], &padding, &[1], message].concat();
    mask(&seed, &mut block);
    mask(&block, &mut seed);
    [&[0][..], &seed, &block].concat()
}

/// Adds the MGF1 mask with SHA-256 (RFC 8017, appendix B.2.1).
fn mask(seed: &[u8], data: &mut [u8]) {
    for (counter, block) in (0u32..).zip(data.chunks_mut(32)) {
        let mask = Sha256::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
        block.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Returns `block^exponent mod n`, as long as the modulus.
fn raise(key: &Key, block: &[u8], exponent: &[u8]) -> Vec<u8> {
    let (modulus, exponent) = (from_bytes(&key.modulus), from_bytes(exponent));
    let n = modulus.len();
    let mut r_squared = vec![0; n];
    let mut scratch = vec![0; modular::pow_scratch_limbs(n, n * 64)];
    let modulus = Modulus::prepare(&modulus, &mut r_squared, &mut scratch)
        .expect("the modulus is odd, and the scratch is longer than preparation needs");
    let mut result = vec![0; n];
    let exponent = Exponent::new(&exponent);
    modular::pow(&mut result, &from_bytes(block), &exponent, &modulus, &mut scratch)
        .expect("a block begins with 0, so it is less than the modulus");
    to_bytes(&result)
}
