//! Delays after wrong passphrases of a locked keystore.
//!
//! Each asker has a delay of its own, as with wrong PINs, so nobody keeps somebody else out. The
//! delays exist in memory alone: a locked keystore has no key that could seal them. They stop a
//! program that may connect, not somebody who can restart the daemon or copy the database; against
//! these the passphrase itself must be long.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::pin::{self, Asker};
use crate::{Code, Result};

/// The wrong passphrases of an asker since its last right one, and the time of the latest.
struct Wrong {
    count: u32,
    latest: Instant,
}

/// The attempts of all askers.
#[derive(Default)]
pub(super) struct Attempts(Mutex<HashMap<Asker, Wrong>>);

impl Attempts {
    /// Counts an attempt before it is judged. It counts as wrong until [`succeeded`](Self::succeeded).
    ///
    /// # Errors
    /// [`Code::PIN_LOCKED`] during the delay, whatever the passphrase.
    pub(super) fn count(&self, asker: Asker, now: Instant) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = all.entry(asker).or_insert(Wrong { count: 0, latest: now });
        let age = now.saturating_duration_since(wrong.latest);
        let rest = pin::wait(wrong.count).saturating_sub(age);
        if !rest.is_zero() {
            let seconds = rest.as_millis().div_ceil(1000);
            let text = format!("too many wrong passphrases: wait {seconds} s");
            return Err(Code::PIN_LOCKED.because(text));
        }
        *wrong = Wrong { count: wrong.count.saturating_add(1), latest: now };
        Ok(())
    }

    /// Forgets the attempts of an asker that gave the right passphrase.
    pub(super) fn succeeded(&self, asker: Asker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&asker);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn wrong_passphrases_delay_their_asker_alone() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let count = |asker, milliseconds| {
            let now = start + Duration::from_millis(milliseconds);
            attempts.count(asker, now).map_err(|error| (error.code, error.detail.to_string()))
        };
        let (guesser, officer) = ([1; 16], [2; 16]);
        for _ in 0..3 {
            assert_eq!(count(guesser, 0), Ok(()));
        }
        let refused = |seconds| {
            Err((Code::PIN_LOCKED, format!("too many wrong passphrases: wait {seconds} s")))
        };
        assert_eq!(count(guesser, 999), refused(1));
        assert_eq!(count(officer, 999), Ok(()));
        // Refused attempts do not count; each further one doubles the delay.
        assert_eq!(count(guesser, 1000), Ok(()));
        assert_eq!(count(guesser, 2000), refused(1));
        assert_eq!(count(guesser, 1001), refused(2));
        assert_eq!(count(guesser, 3000), Ok(()));
        assert_eq!(count(guesser, 6999), refused(1));
        attempts.succeeded(guesser);
        assert_eq!(count(guesser, 6999), Ok(()));
    }
}
