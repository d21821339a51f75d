//! Message authentication codes over data that comes in parts. Everything that depends on the key
//! is wiped when the state is dropped.

use aes::cipher::KeyInit as _;
use aes::{Aes128, Aes192, Aes256};
use cmac::Cmac;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use hmac::digest::Digest;
use hmac::digest::common::BlockSizeUser;
use hmac::{Hmac, SimpleHmac};
use zeroize::Zeroizing;

use super::Mac;
use super::gcm::State;
use super::mac::with_hash;
use crate::mechanism::Hash;
use crate::{Code, Result};

/// The state of a message authentication code.
pub(crate) trait RunningMac: Send {
    /// Adds data.
    fn update(&mut self, data: &[u8]);

    /// Returns the code of full length.
    fn finish(self: Box<Self>) -> Zeroizing<Vec<u8>>;
}

impl Mac {
    /// Begins a code.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`], [`Code::MECHANISM_PARAM_INVALID`].
    pub(crate) fn begin(&self, key: &[u8]) -> Result<Box<dyn RunningMac>> {
        match self {
            Self::Hmac(hash) => with_hash!(hash, Function, Keyed => {
                Ok(Box::new(RunningHmac::<Function>::new(key)))
            }),
            Self::Cmac => with_aes!(key, Cipher => {
                let mac = Cmac::<Cipher>::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
                Ok(Box::new(RunningCmac(mac)))
            }),
            Self::Gmac { iv, associated } => {
                let mut mac = RunningGmac::new(key, iv)?;
                mac.update(associated);
                Ok(Box::new(mac))
            }
        }
    }
}

/// HMAC (FIPS 198-1): the hash functions after their keyed first blocks. The hash functions wipe
/// themselves; the type of the crate `hmac` that SHA-3 needs keeps a keyed block that it does not
/// wipe.
struct RunningHmac<D> {
    inner: D,
    outer: D,
}

impl<D: Digest + BlockSizeUser> RunningHmac<D> {
    fn new(key: &[u8]) -> Self {
        let mut block = Zeroizing::new(vec![0; D::block_size()]);
        match block.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => {
                let digest = Zeroizing::new(D::digest(key).to_vec());
                block[..digest.len()].copy_from_slice(&digest);
            }
        }
        block.iter_mut().for_each(|byte| *byte ^= 0x36);
        let inner = D::new_with_prefix(&*block);
        block.iter_mut().for_each(|byte| *byte ^= 0x36 ^ 0x5c);
        let outer = D::new_with_prefix(&*block);
        Self { inner, outer }
    }
}

impl<D: Digest + Send> RunningMac for RunningHmac<D> {
    fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    fn finish(self: Box<Self>) -> Zeroizing<Vec<u8>> {
        let Self { inner, outer } = *self;
        Zeroizing::new(outer.chain_update(inner.finalize()).finalize().to_vec())
    }
}

/// AES-CMAC (SP 800-38B).
struct RunningCmac<M>(M);

impl<M: hmac::Mac + Send> RunningMac for RunningCmac<M> {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finish(self: Box<Self>) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.finalize().into_bytes().to_vec())
    }
}

/// AES-GMAC (SP 800-38D, section 6.4): GHASH over the data, and the block that encrypts its result.
struct RunningGmac {
    hash: GHash,
    /// The start of a block that is not complete yet.
    rest: Vec<u8>,
    /// The number of bytes so far.
    length: u64,
    mask: Zeroizing<[u8; 16]>,
}

impl RunningGmac {
    fn new(key: &[u8], iv: &[u8]) -> Result<Self> {
        let State { hash, mask, .. } = State::new(key, iv)?;
        Ok(Self { hash, rest: Vec::with_capacity(16), length: 0, mask })
    }
}

impl RunningMac for RunningGmac {
    fn update(&mut self, mut data: &[u8]) {
        self.length += data.len() as u64;
        if !self.rest.is_empty() {
            let (start, more) = data.split_at(data.len().min(16 - self.rest.len()));
            self.rest.extend_from_slice(start);
            data = more;
            if self.rest.len() < 16 {
                return;
            }
            self.hash.update_padded(&self.rest);
            self.rest.clear();
        }
        let (blocks, rest) = data.split_at(data.len() / 16 * 16);
        self.hash.update_padded(blocks);
        self.rest.extend_from_slice(rest);
    }

    fn finish(mut self: Box<Self>) -> Zeroizing<Vec<u8>> {
        self.hash.update_padded(&self.rest);
        // The lengths in bits of the data and of a ciphertext, which there is not.
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(8 * self.length).to_be_bytes());
        self.hash.update_padded(&lengths);
        let hash = self.hash.finalize();
        Zeroizing::new(hash.iter().zip(&*self.mask).map(|(one, other)| one ^ other).collect())
    }
}
