//! Profiling spans of the workers, which each thread records for itself while recording is on.
//!
//! A span begins and ends on one thread, and nests in the span that is open there. So time is
//! attributed by path and never estimated from call counts. A span measures the processor time of
//! its thread, which stops while another thread has the processor; only waits are wall-clock time.
//! Recording needs no memory beyond fixed arrays: a thread adds its times to the global tree each
//! time its outermost span ends. While recording is off, a span costs one check of a flag.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Declares an enum whose variants have names in profiles.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident: $($(#[$vdoc:meta])* $variant:ident $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns its name in profiles.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

names! {
    /// An activity of a worker.
    Span:
    /// Polls the sockets, without waiting.
    Poll "poll",
    /// Reads sockets and handles their requests.
    Receive "receive",
    /// Reads one socket.
    Read "read",
    /// Handles a request, until it is queued or answered.
    Request "request",
    /// Checks whether the key permits this use.
    Authorization "authorization",
    /// Reads a sealed key from the database and opens it.
    Unwrap "unwrap",
    /// Prepares an opened key for use.
    Decode "decode",
    /// Takes a batch from the queues.
    Choose "choose",
    /// Computes a batch of one kind.
    Batch "batch",
    /// Converts inputs to numbers, and results to bytes.
    Encoding "encoding",
    /// Blinds messages, unblinds results, squares the blinding factors.
    Blinding "blinding",
    /// Computes the powers modulo the primes.
    Exponentiation "exponentiation",
    /// Recombines the two halves of an RSA result (CRT).
    Recombination "recombination",
    /// Signs on a curve.
    Signing "signing",
    /// Verifies results before they are released.
    Verification "verification",
    /// Turns results into answers.
    Reply "reply",
    /// Writes to sockets.
    Send "send",
}

names! {
    /// A period in which nothing is computed.
    Wait:
    /// A job's wait until a batch takes it.
    Queue "queue",
    /// A worker's wait for sockets.
    Idle "idle",
}

/// The number of distinct paths, including the root; time of further paths counts to their parent.
const NODES: usize = 64;
/// The index that stands for no node.
const NONE: u8 = u8::MAX;

/// A path: a span within its parent.
#[derive(Clone, Copy)]
struct Node {
    span: Span,
    parent: u8,
    calls: u64,
    time: Duration,
}

/// Paths and their times. Node 0 is the root of all others.
struct Tree {
    nodes: [Node; NODES],
    count: usize,
    /// For each kind of [`Wait`]: the count and the total duration.
    waits: [(u64, Duration); 2],
}

impl Tree {
    const fn new() -> Self {
        let node = Node { span: Span::Poll, parent: NONE, calls: 0, time: Duration::ZERO };
        Self { nodes: [node; NODES], count: 1, waits: [(0, Duration::ZERO); 2] }
    }

    /// Returns the node of a span within `parent`, or `parent` itself if the tree is full.
    fn child(&mut self, parent: u8, span: Span) -> u8 {
        let known = self.nodes[..self.count].iter().skip(1);
        let same = |node: &Node| node.parent == parent && node.span == span;
        if let Some(place) = known.clone().position(same) {
            return place as u8 + 1;
        }
        if self.count == NODES {
            return parent;
        }
        self.nodes[self.count] = Node { span, parent, calls: 0, time: Duration::ZERO };
        self.count += 1;
        self.count as u8 - 1
    }

    /// Adds the counts and times of `other` to this tree, and resets them in `other`.
    fn absorb(&mut self, other: &mut Self) {
        let mut places = [0; NODES];
        for i in 1..other.count {
            let node = &mut other.nodes[i];
            places[i] = self.child(places[usize::from(node.parent)], node.span);
            let own = &mut self.nodes[usize::from(places[i])];
            own.calls += std::mem::take(&mut node.calls);
            own.time += std::mem::take(&mut node.time);
        }
        for (own, wait) in self.waits.iter_mut().zip(&mut other.waits) {
            own.0 += std::mem::take(&mut wait.0);
            own.1 += std::mem::take(&mut wait.1);
        }
    }
}

static ON: AtomicBool = AtomicBool::new(false);
static WHOLE: Mutex<Tree> = Mutex::new(Tree::new());
/// The number of open outermost spans, over all threads.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// How long [`stop`] waits for open spans to end.
const PATIENCE: Duration = Duration::from_secs(60);

thread_local! {
    /// This thread's times that are not yet in the global tree, and its current node.
    static OWN: RefCell<(Tree, u8)> = const { RefCell::new((Tree::new(), 0)) };
}

fn whole() -> MutexGuard<'static, Tree> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears the global tree, and starts recording on all threads.
pub fn start() {
    *whole() = Tree::new();
    ON.store(true, Ordering::Relaxed);
}

/// Stops recording, and returns what was recorded. Waits up to a minute for open spans to end: a
/// client may receive an answer, and call this, before the span that produced the answer has ended.
pub fn stop() -> Recording {
    ON.store(false, Ordering::SeqCst);
    let deadline = Instant::now() + PATIENCE;
    while OPEN.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        thread::yield_now();
    }
    let mut whole = whole();
    let paths = (1..whole.count).map(|i| {
        let mut names = Vec::new();
        let mut node = &whole.nodes[i];
        let Node { calls, time, .. } = *node;
        loop {
            names.push(node.span.name());
            if node.parent == 0 {
                break;
            }
            node = &whole.nodes[usize::from(node.parent)];
        }
        names.reverse();
        Path { names, calls, time }
    });
    let paths = paths.filter(|path| path.calls > 0).collect();
    let waits = Wait::ALL.iter().zip(whole.waits).map(|(wait, (calls, time))| Path {
        names: vec![wait.name()],
        calls,
        time,
    });
    let waits = waits.collect();
    *whole = Tree::new();
    Recording { paths, waits }
}

/// A recording.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The spans by path, each after its parent.
    pub paths: Vec<Path>,
    /// The waits.
    pub waits: Vec<Path>,
}

/// The count and the total time of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The names from the outermost span to this one.
    pub names: Vec<&'static str>,
    /// The number of times it was entered.
    pub calls: u64,
    /// The total time, including nested spans.
    pub time: Duration,
}

/// Returns whether recording is on.
pub(crate) fn are_recorded() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Returns the processor time of this thread.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let [seconds, nanoseconds] = [time.tv_sec, time.tv_nsec].map(i64::unsigned_abs);
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

/// An open span, which ends when this value is dropped. Spans must be dropped in reverse order.
#[must_use]
pub struct Open(Option<(Duration, u8)>);

/// Begins a span on this thread.
pub fn enter(span: Span) -> Open {
    if !are_recorded() {
        return Open(None);
    }
    OWN.with_borrow_mut(|(tree, current)| {
        let before = *current;
        if before == 0 {
            OPEN.fetch_add(1, Ordering::SeqCst);
            // Recording may have stopped before `OPEN` was incremented.
            if !ON.load(Ordering::SeqCst) {
                OPEN.fetch_sub(1, Ordering::SeqCst);
                return Open(None);
            }
        }
        *current = tree.child(before, span);
        Open(Some((now(), before)))
    })
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some((start, before)) = self.0 else { return };
        OWN.with_borrow_mut(|(tree, current)| {
            if *current != before {
                let node = &mut tree.nodes[usize::from(*current)];
                node.calls += 1;
                node.time += now().saturating_sub(start);
                *current = before;
            }
            if before == 0 {
                whole().absorb(tree);
                OPEN.fetch_sub(1, Ordering::SeqCst);
            }
        });
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open")
    }
}

/// Records `times` waits with a total duration of `time`.
pub fn waited(wait: Wait, times: u64, time: Duration) {
    if !are_recorded() {
        return;
    }
    OWN.with_borrow_mut(|(tree, current)| {
        let waits = &mut tree.waits[wait as usize];
        waits.0 += times;
        waits.1 += time;
        if *current == 0 {
            whole().absorb(tree);
        }
    });
}
