//! The rate limits of keys (`cka::RATE_LIMIT`).
//!
//! A daemon counts a key's signatures in each second of its own clock. Daemons on one server also
//! count together: each takes a part of what the limit leaves for a second of the server's clock,
//! uses it up, and takes the next. No worker waits for the server: a signature without an allowance
//! continues on the thread that has asked for one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::handler::Daemon;
use crate::attribute::cka;
use crate::object::Object;
use crate::store::Allowance;
use crate::{Code, Error, Result};

/// A daemon takes this part of a limit at once, so that a key that is used everywhere is not
/// refused at one daemon while others keep what they do not use.
const PARTS: u64 = 8;

type Waiting = Box<dyn FnOnce(Result<()>) + Send>;

/// The uses of one value.
#[derive(Default)]
struct Key {
    /// The second of the daemon's clock, and the uses in it.
    second: u64,
    used: u64,
    /// What the daemons' common count leaves to this one, and until when.
    left: u64,
    is_last: bool,
    until: Option<Instant>,
    /// The uses that wait for an allowance. If any do, a thread asks for one.
    waiting: VecDeque<Waiting>,
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
    fn count(&mut self, second: u64, limit: u64) -> Result<()> {
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
    fn take(&mut self, now: Instant) -> Option<Result<()>> {
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

    /// Returns whether nothing that it holds counts any more.
    fn is_over(&self, second: u64, now: Instant) -> bool {
        let over = self.until.is_none_or(|until| now >= until);
        self.second != second && over && self.waiting.is_empty()
    }
}

impl Rates {
    fn keys(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn second(&self) -> u64 {
        self.begin.elapsed().as_secs()
    }
}

impl Daemon {
    /// Counts a signature against the key's rate limit, which copies of the key share, and calls
    /// `then`: at once or, if other daemons must be considered, on another thread.
    ///
    /// `then` gets [`Code::FUNCTION_FAILED`] if the limit is reached, and the store's errors.
    pub(super) fn admit(
        self: &Arc<Self>,
        by: u64,
        object: &Arc<Object>,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        let limit = match object.attributes.number(cka::RATE_LIMIT) {
            Ok(None) => return then(Ok(())),
            Ok(Some(limit)) => limit,
            Err(error) => return then(Err(error)),
        };
        let value = match self.token.identity(object) {
            Ok(value) => value,
            Err(error) => return then(Err(error)),
        };
        let (second, now) = (self.rates.second(), Instant::now());
        let mut keys = self.rates.keys();
        // Now and then, so that many keys do not make each new one slow.
        if keys.len().is_power_of_two() && !keys.contains_key(&value) {
            keys.retain(|_, key| !key.is_over(second, now));
        }
        let key = keys.entry(value.clone()).or_default();
        let counted = key.count(second, limit);
        let admitted = match counted {
            Ok(()) if self.token.store.is_remote() => {
                if key.waiting.is_empty() {
                    key.take(now)
                } else {
                    None
                }
            }
            counted => Some(counted),
        };
        let Some(admitted) = admitted else {
            let (daemon, object) = (self.clone(), object.clone());
            key.waiting.push_back(Box::new(move |admitted| {
                then(admitted.and_then(|()| daemon.check_again(&object)));
            }));
            if key.waiting.len() == 1 {
                self.ask(by, value, limit);
            }
            return;
        };
        drop(keys);
        then(admitted);
    }

    /// Asks the server for an allowance, on a thread that may wait for it.
    fn ask(self: &Arc<Self>, by: u64, value: Vec<u8>, limit: u64) {
        let daemon = self.clone();
        self.tasks.compute(by, Box::new(move || daemon.take_allowance(by, value, limit)));
    }

    fn take_allowance(self: &Arc<Self>, by: u64, value: Vec<u8>, limit: u64) {
        let waiting = self.rates.keys().get(&value).map_or(0, |key| key.waiting.len());
        let wanted = limit.div_ceil(PARTS).max(waiting as u64);
        // The server's second ends later than it says, by as long as the answer took.
        let asked = Instant::now();
        let answer = self.token.store.take_uses(&value, limit, wanted);
        let mut continued: Vec<(Waiting, Result<()>)> = Vec::new();
        let mut keys = self.rates.keys();
        let Some(key) = keys.get_mut(&value) else { return };
        match answer {
            Ok(Allowance { uses, last, rest }) => {
                (key.left, key.is_last, key.until) = (uses, last, Some(asked + rest));
                while !key.waiting.is_empty()
                    && let Some(outcome) = key.take(Instant::now())
                {
                    continued.extend(key.waiting.pop_front().map(|then| (then, outcome)));
                }
            }
            Err(error) => {
                let error = error.code.because("the key's uses could not be counted");
                continued.extend(key.waiting.drain(..).map(|then| (then, Err(error.clone()))));
            }
        }
        if !key.waiting.is_empty() {
            self.ask(by, value, limit);
        }
        drop(keys);
        continued.into_iter().for_each(|(then, outcome)| then(outcome));
        self.tasks.call_worker();
    }
}
