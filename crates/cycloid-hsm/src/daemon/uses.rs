//! The log of uses of keys: each signature, decryption, derivation and unwrapping, and each
//! encryption with a secret key, if the officer requires it.
//!
//! A line of the audit log for each signature would cost more than the signature. So a line grants
//! a *number* of uses before they happen: "object 5 "ca": may sign 64 times". When they are used
//! up, or a second after the last one, a line states how many there were. No use happens without a
//! grant that is stored, so the log misses none, even after a crash: then the grants are an upper
//! bound. The first grant is for the uses that wait; each further one is four times as large, so a
//! busy key soon needs few lines, and it is requested before the last one is used up.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::application::Application;
use super::tasks::Tasks;
use super::token::describe;
use crate::object::Object;
use crate::store::{Store, Write};
use crate::{Error, Result};

/// The largest grant.
const MOST_GRANTED: u64 = 4096;

/// A grant ends when it was not used for this long.
const LASTS: Duration = Duration::from_secs(1);

/// The setting that requires the log.
const SETTING: &str = "audit.uses";

/// A use of a secret or private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    Sign,
    /// With a secret key: in the modes with a counter it decrypts, too, and it computes codes.
    Encrypt,
    Decrypt,
    Derive,
    Unwrap,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sign => "sign",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Derive => "derive",
            Self::Unwrap => "unwrap",
        })
    }
}

type Waiting = Box<dyn FnOnce(Result<()>) + Send>;

/// The application, the object and the use.
type Purpose = (u64, u64, Use);

/// Uses of one key by one application.
struct Grant {
    who: String,
    object: String,
    left: u64,
    used: u64,
    /// Whether a line that grants more, or that ends the grant, is on its way.
    requested: bool,
    /// The size of the next grant.
    next: u64,
    waiting: VecDeque<Waiting>,
    last: Instant,
}

/// A line that grants more uses.
struct Request {
    who: String,
    line: String,
    count: u64,
}

/// A grant that ends, with the line that says so and the uses that it has left.
struct Ended {
    purpose: Purpose,
    who: String,
    line: String,
    left: u64,
}

impl Grant {
    /// Returns a line that grants more, which is on its way from now on.
    fn request(&mut self, usage: Use) -> Request {
        self.requested = true;
        let count = self.next.max(self.waiting.len() as u64);
        self.next = (4 * count).min(MOST_GRANTED);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let line = format!("{}: may {usage} {times}", self.object);
        Request { who: self.who.clone(), line, count }
    }

    fn is_over(&self, rest: Duration) -> bool {
        !self.requested && self.waiting.is_empty() && self.last.elapsed() >= rest
    }

    /// Returns the line that ends the grant. From now on it grants nothing.
    fn end(&mut self, purpose: Purpose) -> Ended {
        self.requested = true;
        let times = if self.used == 1 { "use" } else { "uses" };
        let line = format!("{}: {} {times} to {}", self.object, self.used, purpose.2);
        Ended { purpose, who: self.who.clone(), line, left: std::mem::take(&mut self.left) }
    }
}

/// All grants.
#[derive(Default)]
pub(super) struct Uses {
    required: AtomicBool,
    grants: Mutex<HashMap<Purpose, Grant>>,
}

impl fmt::Debug for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Uses")
    }
}

/// Requires the log of uses, or no longer.
///
/// # Errors
/// The store's errors.
pub(super) fn require(write: &mut Write<'_>, required: bool) -> Result<()> {
    write.set_setting(SETTING, &[u8::from(required)])
}

impl Uses {
    /// Loads whether the log is required.
    ///
    /// # Errors
    /// The store's errors.
    pub(super) fn observe(&self, store: &Store) -> Result<()> {
        let required = store.setting(SETTING)?.is_some_and(|value| value == [1]);
        self.required.store(required, Ordering::SeqCst);
        Ok(())
    }

    /// Returns whether the log is required.
    pub(super) fn required(&self) -> bool {
        self.required.load(Ordering::SeqCst)
    }

    fn grants(&self) -> MutexGuard<'_, HashMap<Purpose, Grant>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `then` once the use is granted: at once, or on the thread that writes the log. It
    /// gets an error if the log cannot be written.
    pub(super) fn grant(
        self: &Arc<Self>,
        tasks: &Arc<Tasks>,
        application: &Application,
        object: &Object,
        usage: Use,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        if !self.required() {
            return then(Ok(()));
        }
        let purpose = (application.number, object.id, usage);
        let mut grants = self.grants();
        let grant = grants.entry(purpose).or_insert_with(|| Grant {
            who: application.who(),
            object: describe(object),
            left: 0,
            used: 0,
            requested: false,
            next: 1,
            waiting: VecDeque::new(),
            last: Instant::now(),
        });
        grant.last = Instant::now();
        let granted = grant.left > 0 && grant.waiting.is_empty();
        let then = if granted {
            (grant.left, grant.used) = (grant.left - 1, grant.used + 1);
            Some(then)
        } else {
            grant.waiting.push_back(Box::new(then));
            None
        };
        // A grant that is used for the first time may be the only use.
        let scarce = grant.left < grant.next / 4 || !grant.waiting.is_empty();
        let request = (scarce && !grant.requested).then(|| grant.request(purpose.2));
        drop(grants);
        if let Some(request) = request {
            self.note(tasks, purpose, request);
        }
        if let Some(then) = then {
            then(Ok(()));
        }
    }

    /// Queues a line that grants more. While the grants are not locked: if the daemon stops, the
    /// answer comes at once.
    fn note(self: &Arc<Self>, tasks: &Arc<Tasks>, purpose: Purpose, request: Request) {
        let Request { who, line, count } = request;
        let (uses, with) = (self.clone(), tasks.clone());
        tasks.note(who, line, move |noted| uses.granted(&with, purpose, count, noted));
    }

    /// Continues the uses that a line grants, or refuses all that wait.
    fn granted(
        self: &Arc<Self>,
        tasks: &Arc<Tasks>,
        purpose: Purpose,
        count: u64,
        noted: Result<()>,
    ) {
        let mut grants = self.grants();
        let Some(grant) = grants.get_mut(&purpose) else { return };
        grant.requested = false;
        let continued: Vec<Waiting> = match &noted {
            Ok(()) => {
                let now = grant.waiting.len().min(usize::try_from(count).unwrap_or(usize::MAX));
                grant.left += count - now as u64;
                grant.used += now as u64;
                grant.waiting.drain(..now).collect()
            }
            Err(_) => grant.waiting.drain(..).collect(),
        };
        let request = (!grant.waiting.is_empty()).then(|| grant.request(purpose.2));
        drop(grants);
        if let Some(request) = request {
            self.note(tasks, purpose, request);
        }
        let refusal = |error: Error| error.code.because("the use of the key could not be logged");
        for then in continued {
            then(noted.clone().map_err(refusal));
        }
        tasks.call_worker();
    }

    /// Ends the grants that were not used for `rest`: a line states the number of uses. On the
    /// thread that makes changes.
    pub(super) fn settle(self: &Arc<Self>, tasks: &Arc<Tasks>, store: &Store, rest: Duration) {
        let ended: Vec<Ended> = self
            .grants()
            .iter_mut()
            .filter(|(_, grant)| grant.is_over(rest))
            .map(|(purpose, grant)| grant.end(*purpose))
            .collect();
        if ended.is_empty() {
            return;
        }
        // Further uses wait until the line is stored, or one of them would be missing from it. Only
        // they wait: the database may be slow or lost.
        let lines = ended.iter();
        let write = |write: &mut Write<'_>| {
            lines.clone().try_for_each(|end| write.audit(&end.who, &end.line))
        };
        let is_stored = store.write(write).is_ok();
        for Ended { purpose, left, .. } in ended {
            let mut grants = self.grants();
            let Some(grant) = grants.get_mut(&purpose) else { continue };
            if is_stored && grant.waiting.is_empty() {
                grants.remove(&purpose);
                continue;
            }
            if is_stored {
                (grant.used, grant.next) = (0, 1);
            }
            drop(grants);
            // A grant whose line was not stored goes on. Waiting uses request a new grant.
            self.granted(tasks, purpose, if is_stored { 0 } else { left }, Ok(()));
        }
    }

    /// Ends the grants that rest.
    pub(super) fn settle_resting(self: &Arc<Self>, tasks: &Arc<Tasks>, store: &Store) {
        self.settle(tasks, store, LASTS);
    }
}

#[cfg(test)]
mod tests;
