//! ECDSA on the NIST curves. Nonces depend on the key, the digest and fresh randomness, so neither
//! a weak generator nor a fault alone reveals the key.

use std::ffi::CStr;
use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::nist::{Curve, Signature};

use super::{Purpose, Scheme};
use crate::failure::Error;
use crate::ffi::large_stack::on_large_stack;
use crate::ffi::params::Params;
use crate::key::ec::{EcKey, longest_signature};
use crate::{digest, random};

/// ECDSA with a key.
#[derive(Clone)]
pub(crate) struct Ecdsa {
    key: Arc<EcKey>,
    hash: Option<Hash>,
}

impl Ecdsa {
    /// Returns whether a digest has the length of its hash function, if that is known.
    fn fits(&self, digest: &[u8]) -> bool {
        self.hash.is_none_or(|hash| hash.digest_length() == digest.len())
    }
}

impl Scheme for Ecdsa {
    type Key = EcKey;

    const NAME: &'static CStr = c"ECDSA";
    const ONE_SHOT: bool = false;

    fn begin(key: Arc<EcKey>, _: &CStr, purpose: Purpose, hash: Option<Hash>) -> Option<Self> {
        let usable = match purpose {
            Purpose::Sign => key.private().is_some(),
            Purpose::Verify => key.public().is_some(),
        };
        usable.then_some(Self { key, hash })
    }

    fn set(&mut self, params: &Params<'_>) -> bool {
        let mut changed = self.hash;
        let handled = params.iter().all(|value| match value.name() {
            b"digest" => {
                changed = value.text().and_then(digest::named);
                changed.is_some()
            }
            b"properties" => value.text() == Some(""),
            _ => false,
        });
        if handled {
            self.hash = changed;
        }
        handled
    }

    fn longest(&self) -> usize {
        longest_signature(self.key.curve())
    }

    fn sign(&self, digest: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(private) = self.key.private().filter(|_| self.fits(digest)) else {
            return Ok(None);
        };
        let nonce_hash = match self.key.curve() {
            Curve::P224 | Curve::P256 => Hash::Sha256,
            Curve::P384 => Hash::Sha384,
            Curve::P521 => Hash::Sha512,
        };
        let random = random::bytes::<32>()?;
        let signature = on_large_stack(|| private.sign_hedged(nonce_hash, digest, &*random));
        Ok(Some(signature.to_der().to_vec()))
    }

    fn verify(&self, digest: &[u8], signature: &[u8]) -> Option<bool> {
        let public = self.key.public().filter(|_| self.fits(digest))?;
        // OpenSSL tells malformed signatures from wrong ones by its answer, −1 instead of 0.
        let signature = Signature::from_der(public.curve(), signature).ok()?;
        Some(on_large_stack(|| public.verify_prehashed(digest, &signature).is_ok()))
    }
}
