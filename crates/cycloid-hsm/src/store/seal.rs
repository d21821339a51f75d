//! Sealing: AES-256-GCM-SIV (RFC 8452) with random nonces, and associated data that identifies the
//! sealed item and its place.
//!
//! Random nonces of 96 bits may repeat by chance. With GCM-SIV a repetition reveals only whether
//! two plaintexts with the same associated data are equal, and no two items have the same.

use aes_gcm_siv::aead::AeadInOut;
use aes_gcm_siv::aead::inout::InOutBuf;
use aes_gcm_siv::{Aes256GcmSiv, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{Code, Result};

/// A key for AES-256 or HMAC-SHA-256.
pub(super) type Key = [u8; 32];
/// Random bytes that identify a keystore.
pub(super) type Identity = [u8; 16];

/// The format version of sealed items and of the database's clear columns.
pub(super) const FORMAT: u16 = 1;
/// The length of a nonce, the first part of a sealed item, in bytes.
pub(super) const NONCE: usize = 12;
/// The length of an authentication tag, the last part of a sealed item, in bytes.
pub(super) const TAG: usize = 16;

/// The kind of a sealed or authenticated item.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Slot = 1,
    Keyring,
    Manifest,
    Attributes,
    Secret,
    Setting,
    AuditEntry,
    SlotTerm,
    RecordTerm,
    SettingTerm,
    Fingerprint,
}

/// Encodes associated data: format, part and keystore, then `numbers`, then each of `strings` after
/// its length. A part always has the same number of each, so the encoding is unambiguous.
pub(super) fn associated(
    part: Part,
    identity: &Identity,
    numbers: &[u64],
    strings: &[&[u8]],
) -> Vec<u8> {
    let length = strings.iter().map(|string| string.len() + 8).sum::<usize>();
    let mut bytes = Vec::with_capacity(32 + 8 * numbers.len() + length);
    bytes.extend_from_slice(b"cycloid-hsm");
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.push(part as u8);
    bytes.extend_from_slice(identity);
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    for string in strings {
        bytes.extend_from_slice(&(string.len() as u64).to_le_bytes());
        bytes.extend_from_slice(string);
    }
    bytes
}

/// Seals `plaintext`. Returns the nonce, the ciphertext and the tag.
///
/// # Errors
/// [`Code::DEVICE_ERROR`] if the system provides no random bytes.
pub(super) fn seal(key: &Key, associated: &[u8], plaintext: &[u8]) -> Result<Vec<u8>> {
    let nonce: [u8; NONCE] = random()?;
    let mut sealed = Vec::with_capacity(NONCE + plaintext.len() + TAG);
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(plaintext);
    let tag = seal_in_place(key, &nonce, associated, &mut sealed[NONCE..])?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

/// Encrypts in place, and returns the tag.
///
/// # Errors
/// [`Code::DATA_LEN_RANGE`] for 64 GiB and more.
pub(super) fn seal_in_place(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG]> {
    Aes256GcmSiv::new(key.into())
        .encrypt_inout_detached(nonce.into(), associated, InOutBuf::from(text))
        .map(Into::into)
        .map_err(|_| Code::DATA_LEN_RANGE.into())
}

/// Returns the plaintext, if it was sealed with this key and associated data.
pub(super) fn open(key: &Key, associated: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = sealed.split_first_chunk()?;
    let (text, tag) = sealed.split_last_chunk()?;
    let mut text = Zeroizing::new(text.to_vec());
    open_in_place(key, nonce, associated, &mut text, tag)?;
    Some(text)
}

/// Decrypts in place, if the tag is valid.
pub(super) fn open_in_place(
    key: &Key,
    nonce: &[u8; NONCE],
    associated: &[u8],
    text: &mut [u8],
    tag: &[u8; TAG],
) -> Option<()> {
    Aes256GcmSiv::new(key.into())
        .decrypt_inout_detached(nonce.into(), associated, InOutBuf::from(text), tag.into())
        .ok()
}

/// Computes HMAC-SHA-256 (RFC 2104).
pub(super) fn mac(key: &Key, message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key has any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Returns random bytes.
///
/// # Errors
/// [`Code::DEVICE_ERROR`] if the system provides none.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills `bytes` with random bytes in place, which leaves no other copy.
///
/// # Errors
/// [`Code::DEVICE_ERROR`] if the system provides none.
pub(super) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Code::DEVICE_ERROR.because(format!("cannot draw random bytes: {error}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_sealed_items_open(
            key: Key,
            other: Key,
            text: Vec<u8>,
            numbers: [u64; 2],
            changed: prop::sample::Index,
            bit in 0..8,
        ) {
            let place = associated(Part::Secret, &[1; 16], &numbers, &[&text]);
            let sealed = seal(&key, &place, &text).unwrap();
            prop_assert_eq!(&**open(&key, &place, &sealed).unwrap(), &*text);
            prop_assert_ne!(&sealed, &seal(&key, &place, &text).unwrap());

            let mut altered = sealed.clone();
            altered[changed.index(sealed.len())] ^= 1_u8 << bit;
            prop_assert!(open(&key, &place, &altered).is_none());
            prop_assert!(open(&key, &place, &sealed[..changed.index(sealed.len())]).is_none());
            prop_assert!(key == other || open(&other, &place, &sealed).is_none());
            let mut elsewhere = place.clone();
            elsewhere[changed.index(place.len())] ^= 1_u8 << bit;
            prop_assert!(open(&key, &elsewhere, &sealed).is_none());
        }

        #[test]
        fn associated_data_is_unambiguous(
            one: (u64, Vec<u8>, Vec<u8>),
            other: (u64, Vec<u8>, Vec<u8>),
            cut: prop::sample::Index,
        ) {
            let bytes = |(number, first, second): &(u64, Vec<u8>, Vec<u8>)| {
                associated(Part::Slot, &[1; 16], &[*number], &[first, second])
            };
            prop_assert_eq!(one == other, bytes(&one) == bytes(&other));
            // The same bytes, split at another place.
            let all = [&*one.1, &one.2].concat();
            let (first, second) = all.split_at(cut.index(all.len() + 1));
            let divided = (one.0, first.to_vec(), second.to_vec());
            prop_assert_eq!(one == divided, bytes(&one) == bytes(&divided));
        }
    }

    /// The first example with associated data in RFC 8452, appendix C.2.
    #[test]
    fn the_cipher_is_aes_256_gcm_siv() {
        let mut key = [0; 32];
        key[0] = 1;
        let mut nonce = [0; NONCE];
        nonce[0] = 3;
        let mut text = [2, 0, 0, 0, 0, 0, 0, 0];
        let tag = seal_in_place(&key, &nonce, &[1], &mut text).unwrap();
        assert_eq!(text, [0x1d, 0xe2, 0x29, 0x67, 0x23, 0x7a, 0x81, 0x32]);
        let expected = 0x9121_3f26_7e3b_452f_02d0_1ae3_3e4e_c854_u128;
        assert_eq!(tag, expected.to_be_bytes());
        open_in_place(&key, &nonce, &[1], &mut text, &tag).unwrap();
        assert_eq!(text, [2, 0, 0, 0, 0, 0, 0, 0]);
    }
}
