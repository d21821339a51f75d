//! Private keys on the prime curves. Every signature is verified before it is released, so a key that
//! signs often gets multiples of its public point, with which that takes less than half of the time.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cycloid::scheme::ec::{self, PreparedPublicKey, prepared_key_limbs};

/// Signatures until the multiples are made, which takes as long as some verifications.
const OFTEN: u32 = 8;

/// A private key, and what its public key is verified with.
pub struct PrimeCurveKey<C: ec::Curve> {
    key: ec::PrivateKey<C>,
    signatures: AtomicU32,
    prepared: OnceLock<PreparedPublicKey<C, Box<[u64]>>>,
}

impl<C: ec::Curve> PrimeCurveKey<C> {
    /// What to verify the next signature with, if that is not the public key alone.
    pub(crate) fn verifier(&self) -> Option<&PreparedPublicKey<C, Box<[u64]>>> {
        if self.signatures.fetch_add(1, Ordering::Relaxed) < OFTEN {
            return self.prepared.get();
        }
        Some(self.prepared.get_or_init(|| {
            let memory = vec![0; prepared_key_limbs::<C>()].into_boxed_slice();
            let made = PreparedPublicKey::new(*self.key.public_key(), memory);
            made.expect("that is the memory that it needs")
        }))
    }
}

impl<C: ec::Curve> From<ec::PrivateKey<C>> for PrimeCurveKey<C> {
    fn from(key: ec::PrivateKey<C>) -> Self {
        Self { key, signatures: AtomicU32::new(0), prepared: OnceLock::new() }
    }
}

impl<C: ec::Curve> Deref for PrimeCurveKey<C> {
    type Target = ec::PrivateKey<C>;

    fn deref(&self) -> &ec::PrivateKey<C> {
        &self.key
    }
}
