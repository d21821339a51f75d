//! AES in the modes of key files.

use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};

use super::Error;

/// Decrypts whole blocks with AES in CBC mode. The key has 16, 24 or 32 bytes, the initial value 16.
pub(super) fn decrypt_cbc(key: &[u8], iv: &[u8], text: &mut [u8]) -> Result<(), Error> {
    fn with<C: KeyIvInit + BlockModeDecrypt>(key: &[u8], iv: &[u8], text: &mut [u8]) -> Option<()> {
        let mut cipher = C::new_from_slices(key, iv).ok()?;
        let (blocks, rest) = aes::cipher::Block::<C>::slice_as_chunks_mut(text);
        rest.is_empty().then(|| cipher.decrypt_blocks(blocks))
    }
    let decrypted = match key.len() {
        16 => with::<cbc::Decryptor<Aes128>>(key, iv, text),
        24 => with::<cbc::Decryptor<Aes192>>(key, iv, text),
        _ => with::<cbc::Decryptor<Aes256>>(key, iv, text),
    };
    decrypted.ok_or(Error::Malformed { what: "encrypted private key" })
}
