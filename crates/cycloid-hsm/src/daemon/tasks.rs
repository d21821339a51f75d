//! Work that would keep a worker from computing: changes of the store, slow computations, and lines
//! of the audit log.
//!
//! One thread makes all changes, one after the other, so a change sees no half of another. Key
//! generation and the hashing of PINs change nothing; several threads run them. Lines of the audit
//! log that come with no other change are gathered: one transaction writes all that wait.
//!
//! Applications share the time of these threads fairly (start-time fair queueing: Goyal, Vin and
//! Cheng, 1996): next is the application that has used the least time. One application never has
//! all threads for computations, so another one finds a thread free.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::watch::Rest;
use crate::store::Store;
use crate::{Code, Result};

/// A piece of work. When it is dropped instead of run, its reply reports an error.
pub(super) type Task = Box<dyn FnOnce() + Send>;

/// The maximum number of waiting tasks of one application.
const MOST_WAITING: usize = 1024;

/// Lines of the log are written when this many wait, or none of the changes that bring more does,
const ENOUGH_NOTES: usize = 64;
/// or the oldest has waited for this long.
const LONGEST_NOTE: Duration = Duration::from_millis(2);

/// Tasks of one application, by its number.
#[derive(Default)]
struct Waiting {
    tasks: VecDeque<Task>,
    /// The number of its tasks that run now.
    running: usize,
    /// The virtual time from which its next task counts.
    start: Duration,
}

/// Tasks of all applications.
#[derive(Default)]
struct Fair {
    applications: HashMap<u64, Waiting>,
    /// The virtual time: the start of the task that was taken last.
    now: Duration,
}

impl Fair {
    fn push(&mut self, application: u64, task: Task) {
        let now = self.now;
        let waiting = self.applications.entry(application).or_default();
        if waiting.tasks.is_empty() && waiting.running == 0 {
            // Time that it did not use is not saved up.
            waiting.start = waiting.start.max(now);
        }
        waiting.tasks.push_back(task);
    }

    fn waiting(&self, application: u64) -> usize {
        self.applications.get(&application).map_or(0, |waiting| waiting.tasks.len())
    }

    /// Takes the next task, of an application with less than `share` running ones.
    fn take(&mut self, share: usize) -> Option<(u64, Task)> {
        let ready = self.applications.iter_mut();
        let ready = ready.filter(|(_, of)| !of.tasks.is_empty() && of.running < share);
        let (number, waiting) = ready.min_by_key(|(number, of)| (of.start, **number))?;
        let task = waiting.tasks.pop_front()?;
        waiting.running += 1;
        self.now = self.now.max(waiting.start);
        Some((*number, task))
    }

    fn done(&mut self, application: u64, took: Duration) {
        if let Some(waiting) = self.applications.get_mut(&application) {
            waiting.running -= 1;
            waiting.start += took;
        }
        // An application at rest that owes no time is as good as a new one.
        let now = self.now;
        self.applications.retain(|_, of| !of.tasks.is_empty() || of.running > 0 || of.start > now);
    }
}

/// A line of the audit log that waits, and what follows once it is stored.
struct Note {
    who: String,
    what: String,
    done: Box<dyn FnOnce(Result<()>) + Send>,
}

#[derive(Default)]
struct State {
    changes: Fair,
    computations: Fair,
    notes: Vec<Note>,
    /// When the oldest of them came.
    oldest_note: Option<Instant>,
    closed: bool,
}

impl State {
    /// Takes the lines to be written now, if changes wait or if none does.
    fn due_notes(&mut self, changes_wait: bool) -> Vec<Note> {
        let late = self.oldest_note.is_some_and(|oldest| oldest.elapsed() >= LONGEST_NOTE);
        if changes_wait && !late && self.notes.len() < ENOUGH_NOTES {
            return Vec::new();
        }
        self.oldest_note = None;
        std::mem::take(&mut self.notes)
    }
}

/// The tasks that wait.
pub(super) struct Tasks {
    state: Mutex<State>,
    changes_ready: Condvar,
    computations_ready: Condvar,
    /// The number of threads for computations.
    threads: usize,
    /// The workers at rest, if there is a server.
    workers: OnceLock<Arc<Rest>>,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tasks")
    }
}

/// Runs a task. A panic, which would be a defect, ends only this task; its reply reports an error.
fn run(task: Task) -> Duration {
    let begin = Instant::now();
    let _ = catch_unwind(AssertUnwindSafe(task));
    begin.elapsed()
}

impl Tasks {
    /// Creates queues for this number of threads that compute, at least two.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            state: Mutex::default(),
            changes_ready: Condvar::new(),
            computations_ready: Condvar::new(),
            threads: threads.max(2),
            workers: OnceLock::new(),
        }
    }

    /// Returns the number of threads to start for [`compute`](Self::compute).
    pub(super) const fn threads(&self) -> usize {
        self.threads
    }

    /// Sets the workers to call.
    pub(super) fn set_workers(&self, workers: Arc<Rest>) {
        let _ = self.workers.set(workers);
    }

    /// Calls a worker: another thread has queued jobs for the engine.
    pub(super) fn call_worker(&self) {
        if let Some(workers) = self.workers.get() {
            workers.call();
        }
    }

    /// Calls a worker to watch the sockets, because this one begins longer work.
    pub(super) fn call_worker_to_watch(&self) {
        if let Some(workers) = self.workers.get() {
            workers.call_to_watch();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that an application may queue another task.
    ///
    /// # Errors
    /// [`Code::DEVICE_MEMORY`] if too many of its tasks wait.
    pub(super) fn admit(&self, application: u64) -> Result<()> {
        let state = self.state();
        let waiting = state.changes.waiting(application) + state.computations.waiting(application);
        if waiting < MOST_WAITING {
            return Ok(());
        }
        Err(Code::DEVICE_MEMORY.because("too many requests of this application wait"))
    }

    /// Queues a change of the store for an application.
    pub(super) fn change(&self, application: u64, task: Task) {
        let mut state = self.state();
        if !state.closed {
            state.changes.push(application, task);
            self.changes_ready.notify_one();
        }
    }

    /// Queues a slow computation for an application. It changes nothing.
    pub(super) fn compute(&self, application: u64, task: Task) {
        let mut state = self.state();
        if !state.closed {
            state.computations.push(application, task);
            self.computations_ready.notify_one();
        }
    }

    /// Queues a line of the audit log. `done` learns whether it is stored.
    pub(super) fn note(
        &self,
        who: String,
        what: String,
        done: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            return done(Err(Code::FUNCTION_CANCELED.because("the daemon is stopping")));
        }
        state.notes.push(Note { who, what, done: Box::new(done) });
        state.oldest_note.get_or_insert_with(Instant::now);
        self.changes_ready.notify_one();
    }

    /// Returns the numbers of changes, computations and lines that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> [usize; 3] {
        let state = self.state();
        let count = |of: &Fair| of.applications.values().map(|waiting| waiting.tasks.len()).sum();
        [count(&state.changes), count(&state.computations), state.notes.len()]
    }

    /// Ends both kinds of threads. Waiting tasks are dropped.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let dropped = (
            std::mem::take(&mut state.changes.applications),
            std::mem::take(&mut state.computations.applications),
            std::mem::take(&mut state.notes),
        );
        drop(state);
        for note in dropped.2 {
            (note.done)(Err(Code::FUNCTION_CANCELED.because("the daemon is stopping")));
        }
        self.changes_ready.notify_all();
        self.computations_ready.notify_all();
    }

    /// Runs the thread that makes changes. `rest` is called at least every `pause`.
    pub(super) fn make_changes(&self, store: &Store, pause: Duration, rest: impl Fn()) {
        let mut rested = Instant::now();
        loop {
            let mut state = self.state();
            if state.closed {
                return;
            }
            let next = state.changes.take(usize::MAX);
            let notes = state.due_notes(next.is_some());
            if notes.is_empty() && next.is_none() {
                let timeout = pause.saturating_sub(rested.elapsed());
                let waited = self.changes_ready.wait_timeout(state, timeout);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            } else {
                drop(state);
            }
            write_notes(store, notes);
            if let Some((application, task)) = next {
                let took = run(task);
                self.state().changes.done(application, took);
            }
            if rested.elapsed() >= pause {
                rest();
                rested = Instant::now();
            }
        }
    }

    /// Runs one of the threads that compute.
    pub(super) fn make_computations(&self) {
        let mut state = self.state();
        while !state.closed {
            let Some((application, task)) = state.computations.take(self.threads - 1) else {
                let waited = self.computations_ready.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let took = run(task);
            state = self.state();
            state.computations.done(application, took);
            // Another task of this application may have waited for its share.
            self.computations_ready.notify_one();
        }
    }
}

/// Writes lines of the audit log in one transaction.
fn write_notes(store: &Store, notes: Vec<Note>) {
    if notes.is_empty() {
        return;
    }
    let written =
        store.write(|write| notes.iter().try_for_each(|note| write.audit(&note.who, &note.what)));
    for note in notes {
        let written = written.clone();
        let _ = catch_unwind(AssertUnwindSafe(|| (note.done)(written)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes and runs all tasks of a queue, each of which takes as long as its `costs` says.
    fn order(fair: &mut Fair, costs: &dyn Fn(u64) -> u64) -> Vec<u64> {
        let mut order = Vec::new();
        while let Some((application, task)) = fair.take(usize::MAX) {
            task();
            order.push(application);
            fair.done(application, Duration::from_millis(costs(application)));
        }
        order
    }

    fn nothing() -> Task {
        Box::new(|| {})
    }

    #[test]
    fn a_newcomer_is_next_whatever_waits_before_it() {
        let mut fair = Fair::default();
        (0..200).for_each(|_| fair.push(1, nothing()));
        let (first, _) = fair.take(usize::MAX).unwrap();
        fair.push(2, nothing());
        fair.done(first, Duration::from_millis(100));
        assert_eq!(fair.take(usize::MAX).unwrap().0, 2);
    }

    #[test]
    fn applications_share_time_not_turns() {
        let mut fair = Fair::default();
        (0..200).for_each(|i| fair.push(1 + i % 2, nothing()));
        // A task of the second takes nine times as long.
        let order = order(&mut fair, &|application| if application == 1 { 1 } else { 9 });
        let firsts = order[..50].iter().filter(|application| **application == 1).count();
        assert!((44..=46).contains(&firsts), "{firsts}");
        assert_eq!(order.len(), 200);
        assert!(fair.applications.len() <= 1, "applications at rest are forgotten");
    }

    #[test]
    fn rest_is_not_saved_up() {
        let mut fair = Fair::default();
        (0..50).for_each(|_| fair.push(1, nothing()));
        order(&mut fair, &|_| 10);
        // The second has used nothing so far, and the first half a second.
        (0..20).for_each(|i| fair.push(1 + i % 2, nothing()));
        let order = order(&mut fair, &|_| 10);
        let seconds = order[..10].iter().filter(|application| **application == 2).count();
        assert!((4..=6).contains(&seconds), "{order:?}");
    }

    #[test]
    fn one_application_never_has_all_threads_and_cannot_queue_without_bound() {
        let tasks = Tasks::new(2);
        let (send, received) = mpsc::channel();
        let (release, wait) = mpsc::channel::<()>();
        let sent = send.clone();
        let blocks: Task = Box::new(move || {
            sent.send(1).unwrap();
            let _ = wait.recv();
        });
        tasks.compute(1, blocks);
        while tasks.admit(1).is_ok() {
            tasks.compute(1, nothing());
        }
        assert_eq!(tasks.admit(1).unwrap_err().code, Code::DEVICE_MEMORY);
        tasks.admit(2).unwrap();
        std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(|| tasks.make_computations())));
            assert_eq!(received.recv(), Ok(1));
            tasks.compute(2, Box::new(move || send.send(2).unwrap()));
            assert_eq!(received.recv(), Ok(2));
            release.send(()).unwrap();
            tasks.close();
        });
    }
}
