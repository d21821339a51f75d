//! RSA encryption: RSAES-OAEP and RSAES-PKCS1-v1_5.

use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::Oaep;
use zeroize::Zeroizing;

use crate::failure::{Error, Failure};
use crate::ffi::large_stack::on_large_stack;
use crate::ffi::params::{Params, Value};
use crate::key::rsa::RsaKey;
use crate::{digest, random};

/// RSA encryption with a key.
#[derive(Clone)]
pub(crate) struct RsaEncryption {
    key: Arc<RsaKey>,
    padding: Padding,
    hash: Option<Hash>,
    mask_hash: Option<Hash>,
    label: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    Oaep,
}

impl RsaEncryption {
    /// Begins with the default padding. Decryption needs a private key.
    pub(crate) fn begin(key: Arc<RsaKey>, decrypt: bool) -> Option<Self> {
        if decrypt {
            key.private_key()?;
        }
        let padding = Padding::Pkcs1;
        Some(Self { key, padding, hash: None, mask_hash: None, label: Vec::new() })
    }

    /// Changes parameters. Returns whether all of them are handled here; otherwise none changes.
    pub(crate) fn set(&mut self, params: &Params<'_>) -> bool {
        let mut changed = self.clone();
        let handled = params.iter().all(|value| changed.set_one(&value));
        if handled {
            *self = changed;
        }
        handled
    }

    fn set_one(&mut self, value: &Value<'_>) -> bool {
        match value.name() {
            b"pad-mode" => match (value.text(), value.number()) {
                (Some("pkcs1"), _) | (_, Some(1)) => {
                    self.padding = Padding::Pkcs1;
                    true
                }
                (Some("oaep"), _) | (_, Some(4)) => {
                    self.padding = Padding::Oaep;
                    true
                }
                _ => false,
            },
            b"digest" => {
                self.hash = value.text().and_then(digest::named);
                self.hash.is_some()
            }
            b"mgf1-digest" => {
                self.mask_hash = value.text().and_then(digest::named);
                self.mask_hash.is_some()
            }
            b"oaep-label" => match value.bytes() {
                Some(label) => {
                    self.label = label.to_vec();
                    true
                }
                None => false,
            },
            b"digest-props" | b"mgf1-properties" => value.text() == Some(""),
            _ => false,
        }
    }

    /// Returns the label of OAEP.
    pub(crate) fn label(&self) -> &[u8] {
        &self.label
    }

    /// Returns the length of a ciphertext and of the longest message, in bytes.
    pub(crate) fn length(&self) -> usize {
        self.key.public().length()
    }

    fn oaep(&self) -> Oaep<'_> {
        // OpenSSL's default is SHA-1, here no weakness.
        let hash = self.hash.unwrap_or(Hash::Sha1);
        Oaep { hash, mask_hash: self.mask_hash.unwrap_or(hash), label: &self.label }
    }

    /// Encrypts a message.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rng = random::generator()?;
        let key = self.key.public();
        let outcome = on_large_stack(|| match self.padding {
            Padding::Pkcs1 => key.encrypt_pkcs1v15(message, &mut rng),
            Padding::Oaep => key.encrypt_oaep(&self.oaep(), message, &mut rng),
        });
        outcome.map_err(|error| Failure::Encryption.because(error))
    }

    /// Decrypts a ciphertext. With PKCS #1 v1.5, an invalid one has a synthetic message. As in
    /// OpenSSL, leading zeros may be missing: some formats store a ciphertext as an integer.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut rng = random::generator()?;
        let mut whole = Vec::new();
        let ciphertext = match self.length().checked_sub(ciphertext.len()) {
            Some(missing) if missing > 0 && !ciphertext.is_empty() => {
                whole.resize(missing, 0);
                whole.extend_from_slice(ciphertext);
                &whole
            }
            _ => ciphertext,
        };
        let key = self.key.private().ok_or(Failure::NoPrivateKey)?;
        let outcome = on_large_stack(|| match self.padding {
            Padding::Pkcs1 => key.decrypt_pkcs1v15(ciphertext, &mut rng),
            Padding::Oaep => key.decrypt_oaep(&self.oaep(), ciphertext, &mut rng),
        });
        outcome.map_err(|error| Failure::Decryption.because(error))
    }
}
