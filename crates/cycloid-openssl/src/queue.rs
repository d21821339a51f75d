//! RSA signatures in asynchronous jobs, gathered until eight can be computed side by side.
//!
//! A job parks (`ASYNC_pause_job`) with a task in its thread's queue. The job that brings the
//! eighth task of a length computes all of them and wakes the others. Each parked job waits on a
//! timer of its own, so if no eighth comes, the first timer to expire resumes a job, which computes
//! what is there. A program that resumes a job earlier has nothing better to do, so that job does
//! the same. So no job waits longer than the deadline, and none depends on another to be resumed: a
//! task owns all that it needs, and outlives a job that never comes back. A queue belongs to one
//! thread; its lock is never contended unless a program moves a job to another thread.
//!
//! A program with few connections waits in vain. So the last batches decide whether jobs park: after
//! each that was hardly filled, twice as many operations as before are computed at once.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use chacha20::ChaCha20Rng;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Batch, Job, Pss, SignatureScheme, batch_limbs};
use cycloid::{LANES, cpu};

use crate::failure::{Error, Failure};
use crate::ffi::asynchronous::{self, Timer};
use crate::ffi::large_stack::on_large_stack;
use crate::key::rsa::RsaKey;
use crate::log::{self, By};
use crate::random;

/// A private operation.
#[derive(Clone, Copy)]
pub(crate) enum RsaOperation {
    /// RSASSA-PKCS1-v1_5 of a digest.
    Pkcs1(Hash),
    /// RSASSA-PSS of a digest.
    Pss(Pss),
    /// A padded block.
    Raw,
}

/// When jobs park.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Mode {
    /// On processors that compute eight at once faster.
    Auto,
    Always,
    Never,
}

static MODE: AtomicU8 = AtomicU8::new(Mode::Auto as u8);

/// How long a job waits for others, in microseconds.
static WAIT: AtomicU64 = AtomicU64::new(300);

/// Sets when jobs park: `auto`, `always` or `never`. Returns whether the value is one of them;
/// another changes nothing.
pub(crate) fn set_mode(name: &str) -> bool {
    let mode = match name {
        "auto" => Mode::Auto,
        "always" => Mode::Always,
        "never" => Mode::Never,
        _ => return false,
    };
    MODE.store(mode as u8, Ordering::Relaxed);
    true
}

/// Sets how long a job waits for others, in microseconds, at most a second. Returns whether the
/// value is such a number; another changes nothing.
pub(crate) fn set_wait(microseconds: &str) -> bool {
    let Ok(wait @ 1..=1_000_000) = microseconds.parse() else { return false };
    WAIT.store(wait, Ordering::Relaxed);
    true
}

/// Returns whether the next job of this thread parks.
fn job_parks() -> bool {
    MODE.load(Ordering::Relaxed) == Mode::Always as u8 || HABIT.with(Habit::parks)
}

/// Returns whether jobs may park at all.
fn jobs_may_park() -> bool {
    let mode = MODE.load(Ordering::Relaxed);
    mode == Mode::Always as u8 || mode == Mode::Auto as u8 && cpu::Level::Avx512.is_available()
}

/// The fewest operations in a batch that are worth the wait.
const WORTH_THE_WAIT: usize = 3;

/// The maximum number of operations that are computed at once after a batch with fewer.
const MOST_SKIPPED: u32 = 64;

/// Whether jobs of a thread park, from how its last batches were filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Habit {
    /// The number of operations that are still computed at once.
    skip: u32,
    /// The number of those after the last batch that was hardly filled.
    penalty: u32,
}

thread_local! {
    static HABIT: Cell<Habit> = const { Cell::new(Habit { skip: 0, penalty: 0 }) };
}

impl Habit {
    /// Returns whether the next job parks.
    fn parks(habit: &Cell<Self>) -> bool {
        let Self { skip, penalty } = habit.get();
        habit.set(Self { skip: skip.saturating_sub(1), penalty });
        skip == 0
    }

    /// Notes a batch of `count` operations.
    fn batched(habit: &Cell<Self>, count: usize) {
        let penalty = match count {
            0..WORTH_THE_WAIT => (2 * habit.get().penalty).clamp(1, MOST_SKIPPED),
            _ => 0,
        };
        habit.set(Self { skip: penalty, penalty });
    }
}

/// Signs with a private key: alone, or in a job with others.
pub(crate) fn sign(
    key: &Arc<RsaKey>,
    operation: RsaOperation,
    input: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let pair = key.private().ok_or(Failure::NoPrivateKey)?;
    if jobs_may_park()
        && let Some(job) = asynchronous::Job::current()
        && job_parks()
    {
        return in_job(&job, Task::new(Arc::clone(key), operation, input));
    }
    let scheme = match operation {
        RsaOperation::Pkcs1(hash) => SignatureScheme::Pkcs1v15(hash),
        RsaOperation::Pss(pss) => SignatureScheme::Pss(pss),
        RsaOperation::Raw => {
            let alone = Arc::new(Task::new(Arc::clone(key), operation, input));
            compute(&[Arc::clone(&alone)]);
            return alone.signature();
        }
    };
    let mut rng = random::generator()?;
    let signature = on_large_stack(|| pair.sign_prehashed(scheme, &input, &mut rng));
    signature.map(|it| it.to_vec()).map_err(|error| Failure::Signing.because(error))
}

/// A private operation that waits for others.
struct Task {
    key: Arc<RsaKey>,
    operation: RsaOperation,
    input: Vec<u8>,
    /// Wakes the job, if it is parked.
    timer: Option<Arc<Timer>>,
    result: OnceLock<Result<Vec<u8>, rsa::Error>>,
}

impl Task {
    fn new(key: Arc<RsaKey>, operation: RsaOperation, input: Vec<u8>) -> Self {
        Self { key, operation, input, timer: None, result: OnceLock::new() }
    }

    fn bits(&self) -> usize {
        self.key.public().bits()
    }

    /// Returns the signature, once it is computed.
    fn signature(&self) -> Result<Vec<u8>, Error> {
        self.result.wait().clone().map_err(|error| Failure::Signing.because(error))
    }
}

/// The tasks of a thread's parked jobs.
type Queue = Arc<Mutex<Vec<Arc<Task>>>>;

thread_local! {
    static QUEUE: Queue = Arc::default();
}

/// Takes the tasks with keys of `bits` bits, if there are at least `fewest`.
fn take(queue: &Queue, bits: usize, fewest: usize) -> Vec<Arc<Task>> {
    let mut waiting = queue.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.iter().filter(|task| task.bits() == bits).count() < fewest {
        return Vec::new();
    }
    waiting.extract_if(.., |task| task.bits() == bits).collect()
}

/// Computes a job's task: at once, if it fills a batch, else after parking.
///
/// Only a job that parks has a timer. A program learns of a new descriptor when a job pauses, and
/// HAProxy crashes at the end of a connection that has a descriptor of which it did not learn.
fn in_job(job: &asynchronous::Job, mut task: Task) -> Result<Vec<u8>, Error> {
    // The queue stays this one, even if another thread resumes the job.
    let queue = QUEUE.with(Arc::clone);
    let mut tasks = take(&queue, task.bits(), LANES - 1);
    if tasks.is_empty()
        && let Some(timer) = job.timer()
    {
        task.timer = Some(Arc::clone(&timer));
        let task = Arc::new(task);
        queue.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&task));
        timer.arm(Duration::from_micros(WAIT.load(Ordering::Relaxed)));
        // It returns at once if this job may not be paused now.
        job.pause();
        timer.disarm();
        if task.result.get().is_none() {
            run(&take(&queue, task.bits(), 1), &task);
        }
        return task.signature();
    }
    let task = Arc::new(task);
    tasks.push(Arc::clone(&task));
    run(&tasks, &task);
    task.signature()
}

/// Computes tasks, and wakes all jobs but the running one.
fn run(tasks: &[Arc<Task>], running: &Arc<Task>) {
    log::write(By::Cycloid, "batch", &tasks.len().to_string());
    HABIT.with(|habit| Habit::batched(habit, tasks.len()));
    compute(tasks);
    for task in tasks.iter().filter(|task| !Arc::ptr_eq(task, running)) {
        task.timer.iter().for_each(|timer| timer.expire());
    }
}

/// Computes tasks with keys of one length. Each has a result afterwards, whatever happens.
fn compute(tasks: &[Arc<Task>]) {
    struct Settled<'a>(&'a [Arc<Task>]);

    impl Drop for Settled<'_> {
        fn drop(&mut self) {
            for task in self.0 {
                task.result.get_or_init(|| Err(rsa::Error::NotDone));
            }
        }
    }

    let Some(first) = tasks.first() else { return };
    let settled = Settled(tasks);
    let mut outputs: Vec<_> =
        tasks.iter().map(|task| vec![0; task.key.public().length()]).collect();
    let mut jobs = Vec::with_capacity(tasks.len());
    for (task, output) in tasks.iter().zip(&mut outputs) {
        let Some(key) = task.key.private_key() else { return };
        let input = &task.input[..];
        jobs.push(match task.operation {
            RsaOperation::Pkcs1(hash) => Job::sign_pkcs1v15_prehashed(key, hash, input, output),
            RsaOperation::Pss(pss) => Job::sign_pss_with(key, pss, input, output),
            RsaOperation::Raw => Job::raw_private_operation(key, input, output),
        });
    }
    with_batch(first.bits(), |batch| on_large_stack(|| batch.run(&mut jobs)));
    let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
    drop(jobs);
    for ((task, output), outcome) in tasks.iter().zip(outputs).zip(outcomes) {
        task.result.get_or_init(|| outcome.map(|_| output));
    }
    drop(settled);
}

/// The state of batches for keys of one length.
struct Batches {
    bits: usize,
    /// A forked process begins anew, so that no two processes draw the same random numbers.
    process: u32,
    batch: Batch<Vec<u64>, ChaCha20Rng>,
}

/// A thread keeps the state for this many lengths of keys.
const LENGTHS: usize = 3;

/// Keys whose blindings a thread keeps, for each length.
const BLINDINGS: usize = 16;

thread_local! {
    static BATCHES: RefCell<Vec<Batches>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with this thread's batch for keys of `bits` bits. Without random numbers, nothing
/// is called.
fn with_batch(bits: usize, work: impl FnOnce(&mut Batch<Vec<u64>, ChaCha20Rng>)) {
    BATCHES.with_borrow_mut(|kept| {
        let process = std::process::id();
        kept.retain(|it| it.process == process);
        let place = match kept.iter().position(|it| it.bits == bits) {
            Some(place) => place,
            None => {
                if kept.len() == LENGTHS {
                    kept.remove(0);
                }
                let Ok(rng) = random::generator() else { return };
                let memory = vec![0; batch_limbs(bits, BLINDINGS)];
                let Ok(batch) = Batch::new(bits, rng, memory) else { return };
                kept.push(Batches { bits, process, batch });
                kept.len() - 1
            }
        };
        work(&mut kept[place].batch);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_vain_become_rare_and_full_batches_end_that() {
        let habit = Cell::new(Habit::default());
        let mut parked = 0;
        for _ in 0..1000 {
            if Habit::parks(&habit) {
                parked += 1;
                Habit::batched(&habit, 1);
            }
        }
        // After 1, 2, 4, … 64 at once, and then once in 65.
        assert_eq!(parked, 7 + (1000 - 7 - 127) / 65 + 1);
        while !Habit::parks(&habit) {}
        Habit::batched(&habit, WORTH_THE_WAIT);
        assert_eq!(habit.get(), Habit::default());
        assert!((0..1000).all(|_| {
            let parks = Habit::parks(&habit);
            Habit::batched(&habit, LANES);
            parks
        }));
    }
}
