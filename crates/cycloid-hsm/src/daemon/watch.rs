//! The workers at rest. One watches the sockets; the others wait until they are called.
//!
//! A worker that computes a short batch leaves the sockets unwatched, because waking another takes
//! as long. Before longer work it calls another one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

/// The expected time of work before which another worker is called.
pub(super) const LONG: Duration = Duration::from_micros(100);

/// The workers at rest.
#[derive(Debug)]
pub(super) struct Rest {
    state: Mutex<State>,
    called: Condvar,
    /// Interrupts the worker that watches the sockets.
    interrupt: OwnedFd,
    /// The number of workers.
    workers: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a worker watches the sockets.
    watched: bool,
    /// The number of workers that wait.
    waiting: usize,
    /// The number of them that are called and have not left yet.
    called: usize,
    /// Whether the next worker at rest is to look for work first.
    pending: bool,
    closed: bool,
}

/// The right to watch the sockets.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    rest: &'a Rest,
    /// Whether all other workers wait.
    pub(super) all_wait: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.rest.state().watched = false;
    }
}

/// The descriptor that interrupts the worker that watches: add it to what it watches.
impl AsFd for Rest {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.interrupt.as_fd()
    }
}

impl Rest {
    /// Creates the state for this number of workers, none of which rests.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(super) fn new(workers: usize) -> io::Result<Self> {
        let interrupt = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { state: Mutex::default(), called: Condvar::new(), interrupt, workers })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the caller watch the sockets if nobody does. Otherwise waits until the worker is
    /// called, or for `timeout`, and returns `None`.
    pub(super) fn rest(&self, timeout: Option<Duration>) -> Option<Watch<'_>> {
        let mut state = self.state();
        if state.pending {
            state.pending = false;
            return None;
        }
        if !state.watched {
            state.watched = true;
            return Some(Watch { rest: self, all_wait: state.waiting + 1 >= self.workers });
        }
        state.waiting += 1;
        let idle = |state: &mut State| state.called == 0 && !state.closed;
        state = match timeout {
            None => self.called.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner),
            Some(timeout) => {
                let waited = self.called.wait_timeout_while(state, timeout, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.waiting -= 1;
        state.called = state.called.saturating_sub(1);
        None
    }

    /// Calls a worker at rest, because there is more work than the caller's: one that waits, or
    /// else the one that watches. If all work, the next one that would rest looks for work first.
    pub(super) fn call(&self) {
        self.wake(self.state());
    }

    /// Calls a worker if nobody watches the sockets.
    pub(super) fn call_to_watch(&self) {
        let state = self.state();
        if !state.watched {
            self.wake(state);
        }
    }

    /// Returns whether a worker watches the sockets.
    pub(super) fn is_watched(&self) -> bool {
        self.state().watched
    }

    /// Returns whether a worker is at rest.
    pub(super) fn is_anybody_there(&self) -> bool {
        let state = self.state();
        state.watched || state.waiting > 0
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        if state.waiting > state.called {
            state.called += 1;
            drop(state);
            self.called.notify_one();
        } else if state.watched {
            drop(state);
            let _ = rustix::io::write(&self.interrupt, &1u64.to_ne_bytes());
        } else {
            state.pending = true;
        }
    }

    /// Lets nobody wait any more.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.called.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::Rest;

    /// Runs `work` beside a worker that waits, and returns once it no longer does.
    fn beside_a_waiting_worker(rest: &Rest, work: impl FnOnce()) {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            scope.spawn(move || tell.send(rest.rest(None).is_none()));
            while rest.state().waiting == 0 {
                thread::yield_now();
            }
            work();
            assert!(told.recv().unwrap(), "it waited and did not watch");
        });
    }

    fn is_interrupted(rest: &Rest) -> bool {
        rustix::io::read(rest, &mut [0; 8]).is_ok()
    }

    #[test]
    fn one_worker_watches_at_a_time() {
        let rest = Rest::new(2).unwrap();
        let watch = rest.rest(None).unwrap();
        assert!(!watch.all_wait);
        assert!(rest.rest(Some(Duration::ZERO)).is_none());
        drop(watch);
        assert!(rest.rest(Some(Duration::ZERO)).is_some());
    }

    #[test]
    fn a_call_reaches_a_waiting_worker_before_the_watching_one() {
        let rest = Rest::new(2).unwrap();
        let _watch = rest.rest(None).unwrap();
        beside_a_waiting_worker(&rest, || rest.call());
        assert!(!is_interrupted(&rest));
        rest.call();
        assert!(is_interrupted(&rest));
    }

    #[test]
    fn a_call_while_all_work_is_not_lost() {
        let rest = Rest::new(2).unwrap();
        rest.call();
        assert!(rest.rest(None).is_none());
        assert!(rest.rest(None).is_some());
    }

    #[test]
    fn nobody_is_called_to_watch_what_is_watched() {
        let rest = Rest::new(2).unwrap();
        let watch = rest.rest(None).unwrap();
        beside_a_waiting_worker(&rest, || {
            rest.call_to_watch();
            assert_eq!(rest.state().called, 0);
            drop(watch);
            assert!(rest.rest(None).unwrap().all_wait);
            rest.call_to_watch();
        });
        assert!(!is_interrupted(&rest));
    }

    #[test]
    fn closing_lets_all_go() {
        let rest = Rest::new(2).unwrap();
        let _watch = rest.rest(None).unwrap();
        beside_a_waiting_worker(&rest, || rest.close());
        assert!(rest.rest(None).is_none());
    }
}
