//! Signatures with a key that has a rate limit. All uses of a secret key but verification count:
//! encryption and derivation compute message authentication codes, too.
//!
//! No worker waits for the server where several daemons count together: a signature without an
//! allowance continues on the thread that has asked for one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::handler::Daemon;
use super::rates::Waiting;
use crate::attribute::cka;
use crate::object::Object;
use crate::{Code, Result};

/// A daemon takes this part of a limit at once, so that a key that is used everywhere is not
/// refused at one daemon while others keep what they do not use.
const PARTS: u64 = 8;

impl Daemon {
    /// Counts a signature against the key's rate limit, which copies of the key share, and calls
    /// `then`: at once or, if other daemons must be considered, on another thread.
    ///
    /// `then` gets `Code::FUNCTION_FAILED` if the limit is reached, and the store's errors.
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
        let asked = Instant::now();
        let answer = match self.token.store.take_uses(&value, limit, wanted) {
            // It is for a second that is over, and so would be the next one.
            Ok(_) if asked.elapsed() >= Duration::from_secs(1) => Err(Code::DEVICE_ERROR.into()),
            answer => answer,
        };
        let mut continued: Vec<(Waiting, Result<()>)> = Vec::new();
        let mut keys = self.rates.keys();
        let Some(key) = keys.get_mut(&value) else { return };
        match answer {
            Ok(allowance) => {
                key.allow(asked, &allowance);
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
