//! Data keys by epochs: each end moves to the next key by itself, without a negotiation, before it
//! reaches the cipher's limit.
//!
//! The secret of the first epoch comes from the key exchange, that of each later one from the one
//! before. An epoch's key and implicit IV derive from its secret.
//!
//! Source: draft-openvpn-wire-protocol, "OpenVPN epoch data channel keys"; RFC 5869, section 2.3;
//! RFC 8446, section 7.1, with labels that start with `ovpn `.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk};
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::direction::{Aead, Half, NONCE};
use crate::proto::Error;

/// Bytes of an epoch's secret.
const SECRET: usize = 32;

/// Longest key of a cipher in bytes.
const LONGEST_KEY: usize = 32;

/// The secret of one direction's epoch.
pub(super) struct EpochSecret {
    /// At least 1.
    epoch: u16,
    secret: Zeroizing<[u8; SECRET]>,
}

impl EpochSecret {
    /// Returns the first epoch of a key exchange.
    pub(super) fn first(half: Half<'_>) -> Self {
        let mut secret = Zeroizing::new([0; SECRET]);
        secret.copy_from_slice(half.cipher(SECRET));
        Self { epoch: 1, secret }
    }

    /// Returns the next epoch, or `None` after the last one.
    pub(super) fn next(&self) -> Option<Self> {
        let epoch = self.epoch.checked_add(1)?;
        let mut secret = Zeroizing::new([0; SECRET]);
        expand_label(&self.secret, "datakey upd", &mut *secret);
        Some(Self { epoch, secret })
    }

    pub(super) fn epoch(&self) -> u16 {
        self.epoch
    }

    /// Returns the key of this epoch.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for a cipher that is not an AEAD.
    pub(super) fn aead(&self, cipher: Cipher) -> Result<Aead, Error> {
        let mut key = Zeroizing::new([0; LONGEST_KEY]);
        let key = key.get_mut(..cipher.key_length()).expect("no cipher has a longer key");
        expand_label(&self.secret, "data_key", key);
        let mut implicit_iv = Zeroizing::new([0; NONCE]);
        expand_label(&self.secret, "data_iv", &mut *implicit_iv);
        Aead::with_iv(cipher, key, implicit_iv)
    }
}

/// The start of every label.
const PREFIX: &[u8] = b"ovpn ";

/// Derives `out.len()` bytes, at most 255 times 32, from a secret.
fn expand_label(secret: &[u8; SECRET], label: &str, out: &mut [u8]) {
    let length = out.len() as u16;
    let label_length = (PREFIX.len() + label.len()) as u8;
    let info: [&[u8]; 5] = [&length.to_be_bytes(), &[label_length], PREFIX, label.as_bytes(), &[0]];
    Prk::new_less_safe(HKDF_SHA256, secret)
        .expand(&info, Length(out.len()))
        .and_then(|okm| okm.fill(out))
        .expect("the output is short enough");
}

/// An output length in bytes.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        let mut bytes = [0; N];
        base16ct::lower::decode(text, &mut bytes).unwrap();
        bytes
    }

    /// The test of OpenVPN's own function, under the pseudo-random key of RFC 5869, appendix A.1.
    #[test]
    fn labels_expand_as_in_openvpn() {
        let secret = bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
        let mut out = [0; 16];
        expand_label(&secret, "unit test", &mut out);
        assert_eq!(out, bytes("185eaa1c7f228ab8eb29773214d92046"));
    }

    /// OpenVPN's test of an epoch's key and IV for AES-192-GCM.
    #[test]
    fn keys_are_those_of_openvpn() {
        let mut secret = Zeroizing::new([0; SECRET]);
        secret[..2].copy_from_slice(&[19, 12]);
        let epoch = EpochSecret { epoch: 17, secret };
        let key: [u8; 24] = bytes("ed8533db1c28ace418e9006ab29c17417d60ebe6cd90bf0a");
        let iv: [u8; NONCE] = bytes("86890aabf032cb59f4cfa34e");
        let expected = Aead::with_iv(Cipher::Aes192Gcm, &key, Zeroizing::new(iv)).unwrap();
        let sealed = |aead: &Aead| {
            let mut text = b"text".to_vec();
            let additional = aws_lc_rs::aead::Aad::empty();
            aead.key.seal_in_place_append_tag(aead.nonce([1; 8]), additional, &mut text).unwrap();
            text
        };
        assert_eq!(sealed(&epoch.aead(Cipher::Aes192Gcm).unwrap()), sealed(&expected));
    }

    #[test]
    fn the_last_epoch_has_no_successor() {
        let secret = || Zeroizing::new([7; SECRET]);
        assert_eq!(EpochSecret { epoch: 1, secret: secret() }.next().unwrap().epoch, 2);
        assert!(EpochSecret { epoch: u16::MAX, secret: secret() }.next().is_none());
    }
}
