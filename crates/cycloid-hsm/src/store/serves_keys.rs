//! The values that serve keys: they wrap or unwrap sensitive keys, and no longer encrypt or decrypt
//! data (`object::policy`).
//!
//! Each is a setting. Its name contains a keyed fingerprint of the value, so a copy of the database
//! does not allow a guess at a value to be tested. Its content, sealed like every setting, is the
//! digest of the value, from which another keystore makes its own fingerprint when it restores a
//! backup. The entry stays when all objects with the value are destroyed, because the value may
//! return: unwrapped, or restored.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::keyring::Keyring;
use super::keystore::Store;
use super::seal::{Part, associated, mac};
use super::session::Session;
use super::violation::Name;
use super::write::Write;
use crate::crypto::Fingerprint;
use crate::{Code, Result};

/// The beginning of the settings' names.
pub(super) const PREFIX: &str = "serves-keys/";

type Value = Zeroizing<[u8; 32]>;

fn fingerprint(keys: &Keyring, digest: Value) -> Fingerprint {
    let input = associated(Part::Fingerprint, &keys.identity, &[], &[&*digest]);
    let [keyed, _] = *mac(keys.terms(), &Zeroizing::new(input)).as_chunks::<16>().0 else {
        unreachable!("32 bytes are two chunks")
    };
    let number = u128::from_be_bytes(keyed);
    Fingerprint { name: format!("{PREFIX}{number:032x}"), digest }
}

/// Returns the name of the setting of a value with this digest.
pub(super) fn setting(keys: &Keyring, digest: &[u8; 32]) -> String {
    fingerprint(keys, Zeroizing::new(*digest)).name
}

impl Store {
    /// Returns the fingerprint of a value: the bytes of a secret key or the modulus of an RSA key.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the keystore is locked.
    pub fn fingerprint(&self, value: &[u8]) -> Result<Fingerprint> {
        Ok(fingerprint(&*self.keyring()?, Zeroizing::new(Sha256::digest(value).into())))
    }

    /// Returns whether a value serves keys, by the last view of the database.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn serves_keys(&self, value: &Fingerprint) -> Result<bool> {
        if let Some(view) = &*self.view() {
            return Ok(view.has(&Name::Setting(value.name.clone())));
        }
        Ok(self.setting(&value.name)?.is_some())
    }
}

impl Write<'_> {
    /// Records that a value serves keys from now on.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn serve_keys(&mut self, value: &Fingerprint) -> Result<()> {
        match self.setting(&value.name)? {
            Some(_) => Ok(()),
            None => self.set_setting(&value.name, &*value.digest),
        }
    }

    /// Records a value by its digest in a backup.
    pub(super) fn serve_keys_as_in_backup(&mut self, digest: &[u8; 32]) -> Result<()> {
        let keys = self.session.keys.clone();
        self.serve_keys(&fingerprint(&keys, Zeroizing::new(*digest)))
    }
}

impl Session<'_> {
    /// Returns all values that serve keys, for a backup.
    pub(super) fn values_that_serve_keys(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for row in self.settings()? {
            let Name::Setting(name) = row.name() else { continue };
            if name.starts_with(PREFIX) {
                let value = row.open(&self.keys)?;
                let value = <[u8; 32]>::try_from(&value[..]);
                values.push(Zeroizing::new(value.map_err(|_| Code::DEVICE_ERROR)?));
            }
        }
        Ok(values)
    }
}
