//! AES-CBC with an HMAC, encrypt-then-MAC.
//!
//! On the wire: HMAC, IV, ciphertext; the HMAC covers the other two. The PKCS #7 padding is checked
//! only in authentic packets, so padding errors reveal nothing to an attacker.

use aws_lc_rs::cipher::{DecryptingKey, DecryptionContext, EncryptingKey, UnboundCipherKey};
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;

use super::cipher::Cipher;
use super::direction::Half;
use crate::proto::Error;

/// Bytes of an AES block, and of an IV.
const BLOCK: usize = 16;

/// The keys for sending.
pub(super) struct CbcSeal {
    cipher: EncryptingKey,
    mac: hmac::Key,
}

/// The keys for receiving.
pub(super) struct CbcOpen {
    cipher: DecryptingKey,
    mac: hmac::Key,
}

impl CbcSeal {
    /// The most bytes of padding; the least is one byte.
    pub(super) const MAX_PADDING: usize = BLOCK;

    pub(super) fn new(half: Half<'_>, cipher: Cipher) -> Result<Self, Error> {
        let (cipher, mac) = cbc_keys(half, cipher)?;
        Ok(Self { cipher: EncryptingKey::cbc(cipher).map_err(|_| refused())?, mac })
    }

    /// Returns the bytes before the ciphertext: HMAC and IV.
    pub(super) fn prefix(&self) -> usize {
        tag_length(&self.mac) + BLOCK
    }

    /// Seals the `length` bytes after the [`prefix`](Self::prefix). Returns the length of the
    /// ciphertext, or `None` if the padding does not fit.
    pub(super) fn seal(&self, packet: &mut [u8], length: usize) -> Option<usize> {
        let padding = BLOCK - length % BLOCK;
        let (tag, rest) = packet.split_at_mut(tag_length(&self.mac));
        let rest = rest.get_mut(..BLOCK + length + padding)?;
        let (iv, text) = rest.split_at_mut(BLOCK);
        text[length..].fill(padding as u8);
        // aws-lc-rs draws the IV at random.
        let context = self.cipher.encrypt(text).ok()?;
        iv.copy_from_slice((&context).try_into().ok()?);
        hmac::sign_to_buffer(&self.mac, rest, tag).ok()?;
        Some(length + padding)
    }
}

impl CbcOpen {
    pub(super) fn new(half: Half<'_>, cipher: Cipher) -> Result<Self, Error> {
        let (cipher, mac) = cbc_keys(half, cipher)?;
        Ok(Self { cipher: DecryptingKey::cbc(cipher).map_err(|_| refused())?, mac })
    }

    /// Decrypts in place a packet that [`CbcSeal::seal`] made. Returns the plaintext.
    pub(super) fn open<'a>(&self, packet: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let malformed = Error::Malformed("ciphertext is not a whole number of blocks");
        let (tag, rest) =
            packet.split_at_mut_checked(tag_length(&self.mac)).ok_or(malformed.clone())?;
        if rest.len() < 2 * BLOCK || !rest.len().is_multiple_of(BLOCK) {
            return Err(malformed);
        }
        hmac::verify(&self.mac, rest, tag).map_err(|_| Error::NotAuthentic("data packet"))?;
        let (iv, text) = rest.split_at_mut(BLOCK);
        let iv = FixedLength::try_from(&*iv).map_err(|_| malformed.clone())?;
        let text = self
            .cipher
            .decrypt(text, DecryptionContext::Iv128(iv))
            .map_err(|_| malformed.clone())?;
        let padding = usize::from(text[text.len() - 1]);
        if padding == 0
            || padding > BLOCK
            || text[text.len() - padding..].iter().any(|byte| usize::from(*byte) != padding)
        {
            return Err(Error::Malformed("padding"));
        }
        let end = text.len() - padding;
        Ok(&mut text[..end])
    }
}

fn tag_length(mac: &hmac::Key) -> usize {
    mac.algorithm().tag_len()
}

fn cbc_keys(half: Half<'_>, cipher: Cipher) -> Result<(UnboundCipherKey, hmac::Key), Error> {
    let Cipher::Cbc { cipher, digest } = cipher else { return Err(refused()) };
    let key = UnboundCipherKey::new(cipher.algorithm(), half.cipher(cipher.key_length()))
        .map_err(|_| refused())?;
    Ok((key, hmac::Key::new(digest.hmac(), half.hmac(digest.length()))))
}

fn refused() -> Error {
    Error::Configuration("invalid key length for the cipher".into())
}
