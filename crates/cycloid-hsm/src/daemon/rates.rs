//! The rate limits of keys (`cka::RATE_LIMIT`).
//!
//! A daemon counts a key's signatures in each second of its own clock. Daemons on one server also
//! count together: each takes a part of what the limit leaves for a second of the server's clock,
//! uses it up, and takes the next (`admission.rs`).

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::store::Allowance;
use crate::{Code, Error, Result};

pub(super) type Waiting = Box<dyn FnOnce(Result<()>) + Send>;

/// The uses of one value.
#[derive(Default)]
pub(super) struct Key {
    /// The second of the daemon's clock, and the uses in it.
    second: u64,
    used: u64,
    /// The uses left of this daemon's last allowance, whether the limit has no more in that second,
    /// and the end of the second.
    left: u64,
    is_last: bool,
    until: Option<Instant>,
    /// The uses that wait for an allowance. If any do, a thread asks for one.
    pub(super) waiting: VecDeque<Waiting>,
}

/// The uses of all keys with a limit.
pub(super) struct Rates {
    begin: Instant,
    keys: Mutex<HashMap<Vec<u8>, Key>>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { begin: Instant::now(), keys: Mutex::default() }
    }
}

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rates")
    }
}

fn reached() -> Error {
    Code::FUNCTION_FAILED.because("the key's rate limit is reached for this second")
}

impl Key {
    /// Counts a use by the daemon's own clock.
    pub(super) fn count(&mut self, second: u64, limit: u64) -> Result<()> {
        if self.second != second {
            (self.second, self.used) = (second, 0);
        }
        if self.used >= limit {
            return Err(reached());
        }
        self.used += 1;
        Ok(())
    }

    /// Takes a use of the allowance; `None` if another one must be asked for. A use that is
    /// refused does not count.
    pub(super) fn take(&mut self, now: Instant) -> Option<Result<()>> {
        if self.until.is_none_or(|until| now >= until) {
            return None;
        }
        match (self.left, self.is_last) {
            (0, false) => None,
            (0, true) => {
                self.used = self.used.saturating_sub(1);
                Some(Err(reached()))
            }
            _ => {
                self.left -= 1;
                Some(Ok(()))
            }
        }
    }

    /// Takes an allowance that was asked for at this time. The server's second ends later than that
    /// says, by as long as the answer took.
    pub(super) fn allow(&mut self, asked: Instant, allowance: &Allowance) {
        (self.left, self.is_last) = (allowance.uses, allowance.last);
        self.until = Some(asked + allowance.rest);
    }

    /// Returns whether nothing that it holds counts any more.
    pub(super) fn is_over(&self, second: u64, now: Instant) -> bool {
        let over = self.until.is_none_or(|until| now >= until);
        self.second != second && over && self.waiting.is_empty()
    }
}

impl Rates {
    pub(super) fn keys(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn second(&self) -> u64 {
        self.begin.elapsed().as_secs()
    }
}
