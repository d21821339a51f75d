//! The ciphers of key files in CBC mode.

use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use des::TdesEde3;

use super::Error;

/// Decrypts whole blocks in CBC mode: with Triple DES if the initial value has 8 bytes, else with
/// AES and a key of 16, 24 or 32 bytes.
pub(super) fn decrypt_cbc(key: &[u8], iv: &[u8], text: &mut [u8]) -> Result<(), Error> {
    fn with<C: KeyIvInit + BlockModeDecrypt>(key: &[u8], iv: &[u8], text: &mut [u8]) -> Option<()> {
        let mut cipher = C::new_from_slices(key, iv).ok()?;
        let (blocks, rest) = aes::cipher::Block::<C>::slice_as_chunks_mut(text);
        rest.is_empty().then(|| cipher.decrypt_blocks(blocks))
    }
    let decrypted = match (key.len(), iv.len()) {
        (_, 8) => with::<cbc::Decryptor<TdesEde3>>(key, iv, text),
        (16, _) => with::<cbc::Decryptor<Aes128>>(key, iv, text),
        (24, _) => with::<cbc::Decryptor<Aes192>>(key, iv, text),
        _ => with::<cbc::Decryptor<Aes256>>(key, iv, text),
    };
    decrypted.ok_or(Error::Malformed { what: "encrypted private key" })
}
