//! The connections whose slots the workers look at.
//!
//! A worker looks at the slots after each batch, and while it has nothing to compute. Before the last
//! worker sleeps, it closes the slots: their clients use their sockets, which wake a worker, and the
//! next requests may use the slots again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::{Connection, Gathering, Reply};

/// The expected time of work before which the use of slots ends, if another worker is at rest. It
/// is longer than a full batch of short signatures takes, during which most clients only wait.
pub(super) const LONG: Duration = Duration::from_micros(800);

/// How long a worker handles requests in slots before it does something else.
const LONGEST_LOOK: Duration = Duration::from_millis(1);

/// The number of times that a patient worker looks, and lets others run before each but the first.
const LOOKS: u32 = 5;

/// The connections.
#[derive(Debug, Default)]
pub(super) struct Slots {
    watched: Mutex<Vec<Arc<Connection>>>,
    /// Their number, as of a short while ago.
    count: AtomicUsize,
}

impl Slots {
    fn watched(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Adds a connection if it has a slot. To be called after each request from its socket.
    pub(super) fn add(&self, connection: &Arc<Connection>) {
        if connection.watch_slot() {
            let mut watched = self.watched();
            watched.push(connection.clone());
            self.count.store(watched.len(), Ordering::Relaxed);
        }
    }

    /// Passes the requests in the slots to `handle`, and returns whether there were any. Another
    /// worker that does so at the same time is not waited for.
    pub(super) fn look(&self, handle: impl FnMut(Reply, &[u8])) -> bool {
        if self.is_empty() {
            return false;
        }
        let _gathering = Gathering::begin();
        match self.watched.try_lock() {
            Ok(watched) => self.serve(watched, handle),
            Err(_) => false,
        }
    }

    /// Like [`look`](Self::look), but lets clients run that may make requests, if they wait for
    /// nothing but this processor; not for longer than `limit`.
    pub(super) fn look_patiently(
        &self,
        limit: Option<Duration>,
        mut handle: impl FnMut(Reply, &[u8]),
    ) -> bool {
        let start = Instant::now();
        for number in 0..LOOKS {
            if self.is_empty() || number > 1 && limit.is_some_and(|limit| start.elapsed() >= limit)
            {
                return false;
            }
            if number > 0 {
                thread::yield_now();
            }
            if self.look(&mut handle) {
                return true;
            }
        }
        false
    }

    /// Ends the use of all slots, and passes the last requests in them to `handle`. Returns whether
    /// there were any.
    pub(super) fn close(&self, handle: impl FnMut(Reply, &[u8])) -> bool {
        if self.is_empty() {
            return false;
        }
        let _gathering = Gathering::begin();
        let mut watched = self.watched();
        watched.iter().for_each(|connection| connection.forget_slot());
        let last = std::mem::take(&mut *watched);
        self.count.store(0, Ordering::Relaxed);
        drop(watched);
        // Nobody looks again, so these are all served.
        serve_all(&last, handle)
    }

    fn serve(
        &self,
        mut watched: MutexGuard<'_, Vec<Arc<Connection>>>,
        mut handle: impl FnMut(Reply, &[u8]),
    ) -> bool {
        let begun = Instant::now();
        let is_late = || begun.elapsed() >= LONGEST_LOOK;
        let served = |connection: &Arc<Connection>| connection.serve_slot(&mut handle);
        let (any, seen) = serve_in_turn(&watched, served, is_late);
        // The next look begins with the others.
        watched.rotate_left(seen);
        let at_rest = watched.extract_if(.., |connection| connection.is_slot_at_rest());
        let at_rest: Vec<_> = at_rest.inspect(|connection| connection.forget_slot()).collect();
        self.count.store(watched.len(), Ordering::Relaxed);
        drop(watched);
        any | serve_all(&at_rest, handle)
    }
}

fn serve_all(connections: &[Arc<Connection>], mut handle: impl FnMut(Reply, &[u8])) -> bool {
    let served = |connection: &Arc<Connection>| connection.serve_slot(&mut handle);
    serve_in_turn(connections, served, || false).0
}

/// Serves each, until it is late after one that was served. Returns whether any was served, and the
/// number of those that had their turn.
fn serve_in_turn<T>(
    all: &[T],
    mut serve: impl FnMut(&T) -> bool,
    is_late: impl Fn() -> bool,
) -> (bool, usize) {
    let mut any = false;
    for (number, one) in all.iter().enumerate() {
        let served = serve(one);
        any |= served;
        if served && is_late() {
            return (true, number + 1);
        }
    }
    (any, all.len())
}

#[cfg(test)]
mod tests {
    use super::serve_in_turn;

    #[test]
    fn requests_that_take_long_leave_time_for_others() {
        let asks = [false, true, false, true, true];
        let mut served = Vec::new();
        let mut turns = |late| {
            served.clear();
            let outcome = serve_in_turn(
                &asks,
                |asks| {
                    served.push(*asks);
                    *asks
                },
                || late,
            );
            (outcome, served.len())
        };
        assert_eq!(turns(true), ((true, 2), 2));
        assert_eq!(turns(false), ((true, 5), 5));
        assert_eq!(serve_in_turn(&[false; 3], |asks| *asks, || true), (false, 3));
        assert_eq!(serve_in_turn(&[], |()| true, || true), (false, 0));
    }
}
