//! A cache of frequently used public keys: those of authorities, of a client's usual servers, of a
//! server's known clients. Precomputed multiples of their points reduce the time of a verification
//! by more than half.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cycloid::scheme::ec::{
    Curve, P256, P384, P521, PreparedPublicKey, PublicKey, prepared_key_limbs,
};

use crate::curve::TlsCurve;

/// The number of cached keys per curve, most recent first. The multiples of a key take 18 KiB on
/// P-256, 30 KiB on P-384 and 61 KiB on P-521.
const PLACES: usize = 16;

/// The number of valid signatures after which a key gets its multiples. Computing them takes as
/// long as a few verifications.
const OFTEN: u32 = 8;

type Prepared<C> = Arc<PreparedPublicKey<C, Box<[u64]>>>;

/// The cached keys of a curve.
pub(crate) struct Frequent<C: Curve>(Mutex<Vec<Seen<C>>>);

struct Seen<C: Curve> {
    key: PublicKey<C>,
    /// Valid signatures, up to [`OFTEN`].
    times: u32,
    prepared: Option<Prepared<C>>,
}

impl<C: Curve> Frequent<C> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn seen(&self) -> MutexGuard<'_, Vec<Seen<C>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key with its multiples, if they exist.
    pub(crate) fn prepared(&self, key: &PublicKey<C>) -> Option<Prepared<C>> {
        self.seen().iter().find(|seen| seen.key == *key)?.prepared.clone()
    }

    /// Counts a valid signature; invalid ones do not show how often a key is used.
    pub(crate) fn verified(&self, key: &PublicKey<C>) {
        let is_due = {
            let mut seen = self.seen();
            let found = seen.iter().position(|seen| seen.key == *key);
            let mut one = found.map_or_else(
                || Seen { key: *key, times: 0, prepared: None },
                |place| seen.remove(place),
            );
            one.times = OFTEN.min(one.times + 1);
            let is_due = one.times == OFTEN && one.prepared.is_none();
            seen.insert(0, one);
            seen.truncate(PLACES);
            is_due
        };
        if !is_due {
            return;
        }
        // The lock is not held here. If two threads compute this at once, either result is fine.
        let memory = vec![0; prepared_key_limbs::<C>()].into_boxed_slice();
        let Ok(prepared) = PreparedPublicKey::new(*key, memory) else { return };
        if let Some(seen) = self.seen().iter_mut().find(|seen| seen.key == *key) {
            seen.prepared = Some(Arc::new(prepared));
        }
    }
}

/// A curve of TLS with its cache.
pub(crate) trait HasFrequent: TlsCurve {
    fn frequent() -> &'static Frequent<Self>;
}

macro_rules! have_frequent {
    ($($curve:ident)*) => {$(
        impl HasFrequent for $curve {
            fn frequent() -> &'static Frequent<Self> {
                static FREQUENT: Frequent<$curve> = Frequent::new();
                &FREQUENT
            }
        }
    )*};
}

have_frequent!(P256 P384 P521);

#[cfg(test)]
mod tests {
    use cycloid::scheme::ec::PrivateKey;

    use super::*;

    fn key(number: u8) -> PublicKey<P256> {
        let mut bytes = [0; 32];
        bytes[31] = number;
        *PrivateKey::from_bytes(&bytes).unwrap().public_key()
    }

    #[test]
    fn frequently_used_keys_are_prepared() {
        let frequent = Frequent::new();
        for _ in 1..OFTEN {
            frequent.verified(&key(1));
            assert!(frequent.prepared(&key(1)).is_none());
        }
        frequent.verified(&key(1));
        let prepared = frequent.prepared(&key(1)).unwrap();
        assert_eq!(*prepared.public_key(), key(1));
        frequent.verified(&key(1));
        assert!(Arc::ptr_eq(&prepared, &frequent.prepared(&key(1)).unwrap()));
        assert!(frequent.prepared(&key(2)).is_none());
    }

    #[test]
    fn unused_keys_are_evicted() {
        let frequent = Frequent::new();
        for _ in 0..OFTEN {
            frequent.verified(&key(1));
            frequent.verified(&key(2));
        }
        // Key 1 is used occasionally, key 2 is not, and many other keys are used once.
        for number in 3..3 + 3 * PLACES as u8 {
            frequent.verified(&key(number));
            if number % 8 == 0 {
                frequent.verified(&key(1));
            }
        }
        assert!(frequent.prepared(&key(1)).is_some());
        assert!(frequent.prepared(&key(2)).is_none());
        assert_eq!(frequent.seen().len(), PLACES);
        frequent.verified(&key(2));
        assert!(frequent.prepared(&key(2)).is_none());
    }
}
