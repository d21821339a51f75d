//! Private keys on the prime curves. Every signature is verified before it is released, so a key
//! that signs often gets a table of multiples of its public point, which more than halves the time
//! of a verification.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cycloid::scheme::ec::{self, PreparedPublicKey, prepared_key_limbs};

/// Calls a macro with a list of the prime curves: the library's type, and the name of a field for
/// it. The list follows the macro's own arguments.
macro_rules! with_prime_curves {
    ($macro:ident!($($arguments:tt)*)) => {
        $macro! {
            ($($arguments)*)
            P192 p192, P224 p224, P256 p256, P384 p384, P521 p521, Secp256k1 secp256k1,
            BrainpoolP256 brainpool_p256, BrainpoolP384 brainpool_p384,
            BrainpoolP512 brainpool_p512
        }
    };
}
pub(crate) use with_prime_curves;

/// Evaluates `$body` with `$C` as the library's type of a prime curve, or the arms that follow for
/// other curves.
macro_rules! on_prime_curve {
    ($curve:expr, $C:ident => $body:expr, $($rest:tt)*) => {
        match $curve {
            Curve::P192 => {
                type $C = cycloid::scheme::ec::P192;
                $body
            }
            Curve::P224 => {
                type $C = cycloid::scheme::ec::P224;
                $body
            }
            Curve::P256 => {
                type $C = cycloid::scheme::ec::P256;
                $body
            }
            Curve::P384 => {
                type $C = cycloid::scheme::ec::P384;
                $body
            }
            Curve::P521 => {
                type $C = cycloid::scheme::ec::P521;
                $body
            }
            Curve::Secp256k1 => {
                type $C = cycloid::scheme::ec::Secp256k1;
                $body
            }
            Curve::BrainpoolP256 => {
                type $C = cycloid::scheme::ec::BrainpoolP256;
                $body
            }
            Curve::BrainpoolP384 => {
                type $C = cycloid::scheme::ec::BrainpoolP384;
                $body
            }
            Curve::BrainpoolP512 => {
                type $C = cycloid::scheme::ec::BrainpoolP512;
                $body
            }
            $($rest)*
        }
    };
}
pub(crate) use on_prime_curve;

/// The number of signatures before the table is computed, which costs as much as some
/// verifications.
const OFTEN: u32 = 8;

/// A private key, and the table that verifies its signatures.
pub struct PrimeCurveKey<C: ec::Curve> {
    key: ec::PrivateKey<C>,
    signatures: AtomicU32,
    prepared: OnceLock<PreparedPublicKey<C, Box<[u64]>>>,
}

impl<C: ec::Curve> PrimeCurveKey<C> {
    /// Returns the table to verify the next signature with, or `None` if the public key alone is
    /// used.
    pub(crate) fn verifier(&self) -> Option<&PreparedPublicKey<C, Box<[u64]>>> {
        if self.signatures.fetch_add(1, Ordering::Relaxed) < OFTEN {
            return self.prepared.get();
        }
        Some(self.prepared.get_or_init(|| {
            let memory = vec![0; prepared_key_limbs::<C>()].into_boxed_slice();
            let made = PreparedPublicKey::new(*self.key.public_key(), memory);
            made.expect("the memory has the needed length")
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cycloid::scheme::ec::P256;
    use cycloid::scheme::ecdsa::Signature;
    use getrandom::SysRng;
    use rand_core::UnwrapErr;

    use super::*;
    use crate::Code;
    use crate::engine::tests::outcomes;
    use crate::engine::{Work, Workspace};
    use crate::key::PrivateKey;

    fn key() -> PrimeCurveKey<P256> {
        ec::PrivateKey::generate(&mut UnwrapErr(SysRng)).unwrap().into()
    }

    #[test]
    fn the_table_is_computed_once_and_only_for_keys_that_sign_often() {
        let key = key();
        for _ in 0..OFTEN {
            assert!(key.verifier().is_none());
        }
        let first: *const _ = key.verifier().unwrap();
        assert!(std::ptr::eq(first, key.verifier().unwrap()));
        assert_eq!(key.verifier().unwrap().public_key(), key.public_key());
        // The counter wraps after 2³² signatures, but the table stays.
        key.signatures.store(0, Ordering::Relaxed);
        assert!(std::ptr::eq(first, key.verifier().unwrap()));
    }

    /// A key whose table is of another point, in batches with a sound key.
    #[test]
    fn no_signature_is_released_that_the_table_does_not_verify() {
        let (sound, other) = (key(), key());
        let public = *sound.public_key();
        let memory = vec![0; prepared_key_limbs::<P256>()].into_boxed_slice();
        assert!(other.prepared.set(PreparedPublicKey::new(public, memory).unwrap()).is_ok());
        let keys = [sound, other].map(|key| PrivateKey::P256(Arc::new(key)));
        let mut workspace = Workspace::default();
        let digest = vec![7; 32];
        for count in [1, 3, 8, 8, 8] {
            let jobs = (0..count).map(|i| (keys[i % 2].clone(), Work::Ecdsa(digest.clone())));
            for (i, outcome) in outcomes(&mut workspace, jobs).into_iter().enumerate() {
                if i % 2 == 1 {
                    assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR);
                    continue;
                }
                let signature = Signature::from_fixed(&outcome.unwrap()).unwrap();
                assert_eq!(public.verify_prehashed(&digest, &signature), Ok(()));
            }
        }
    }
}
