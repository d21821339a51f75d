//! RSA key pairs whose blindings belong to one process.

use std::process;
use std::sync::{Arc, RwLock};

use cycloid::scheme::rsa::KeyPair;

/// A key pair. It keeps blindings for later operations; the child of a fork makes its own, so that
/// no two processes use the same ones.
#[derive(Clone)]
pub(crate) struct RsaPair {
    key: KeyPair,
    process: u32,
    /// The key of the latest child that used this one.
    child: Arc<RwLock<Option<(u32, KeyPair)>>>,
}

impl From<KeyPair> for RsaPair {
    fn from(key: KeyPair) -> Self {
        Self { key, process: process::id(), child: Arc::default() }
    }
}

impl RsaPair {
    /// Returns the key for what needs no blinding.
    pub(crate) const fn key(&self) -> &KeyPair {
        &self.key
    }

    /// Returns the key with the blindings of this process.
    pub(crate) fn of_this_process(&self) -> KeyPair {
        self.of(process::id())
    }

    fn of(&self, process: u32) -> KeyPair {
        if process == self.process {
            return self.key.clone();
        }
        // A lock that a thread held during the fork is held forever in the child. Nobody waits for
        // it; without it, each operation makes a blinding.
        if let Ok(child) = self.child.try_read()
            && let Some((owner, key)) = &*child
            && *owner == process
        {
            return key.clone();
        }
        let restriction = self.key.public_key().restriction();
        let Ok(key) = self.key.clone().restricted(restriction) else { return self.key.clone() };
        if let Ok(mut child) = self.child.try_write() {
            *child = Some((process, key.clone()));
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use cycloid::scheme::Hash;
    use cycloid::scheme::rsa::SignatureScheme;
    use rand_core::{TryCryptoRng, TryRng};

    use super::*;
    use crate::random;

    /// A generator that counts the bytes that it gives.
    struct Counting(usize);

    impl TryRng for Counting {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            let mut bytes = [0; 4];
            self.try_fill_bytes(&mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            let mut bytes = [0; 8];
            self.try_fill_bytes(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            getrandom::fill(bytes).expect("the system has randomness");
            self.0 += bytes.len();
            Ok(())
        }
    }

    impl TryCryptoRng for Counting {}

    /// Returns whether a signature needed a new blinding: PKCS #1 v1.5 draws nothing else.
    fn draws(key: &KeyPair) -> bool {
        let mut rng = Counting(0);
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        key.sign_prehashed(scheme, &[7; 32], &mut rng).expect("the key signs");
        rng.0 > 0
    }

    #[test]
    fn a_forked_process_has_blindings_of_its_own() {
        let mut rng = random::generator().unwrap_or_else(|_| unreachable!("there is randomness"));
        let pair = RsaPair::from(KeyPair::generate(2048, &mut rng).expect("a key"));
        let (own, child) = (process::id(), process::id() + 1);
        assert!(draws(&pair.of(own)) && !draws(&pair.of(own)));
        assert!(draws(&pair.of(child)) && !draws(&pair.of(child)));
        assert!(draws(&pair.of(child + 1)) && !draws(&pair.of(own)));
        // A lock that is held forever costs time, and no more.
        let _held = pair.child.write().expect("nobody holds it");
        assert!(draws(&pair.of(child)) && draws(&pair.of(child)) && !draws(&pair.of(own)));
    }
}
