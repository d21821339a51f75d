//! Where the workers' time goes: spans, which each thread records for itself while recording is on.
//!
//! A span has a begin and an end on one thread, and lies in the one that is open there. So time is known
//! by path, and none of it is guessed from counts. It is the processor time of the thread, which stands
//! still while another has the processor; only waiting is by the time of day. Recording takes no memory beyond fixed arrays: a
//! thread adds what it has to the whole each time that its outermost span ends. While recording is off, a
//! span costs the look at a flag.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Declares something that has a name in profiles.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident: $($(#[$vdoc:meta])* $variant:ident $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in profiles.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

names! {
    /// What a worker does.
    Span:
    /// Looks which sockets have something, without waiting.
    Poll "poll",
    /// Reads sockets, and what follows from it.
    Receive "receive",
    /// Reads one socket.
    Read "read",
    /// A request, up to its place in a queue or its answer.
    Request "request",
    /// Whether the key may be used so.
    Authorization "authorization",
    /// Reads a sealed key from the database and opens it.
    Unwrap "unwrap",
    /// Makes an opened key ready for use.
    Decode "decode",
    /// Takes a batch from the queues.
    Choose "choose",
    /// A batch of one kind.
    Batch "batch",
    /// Inputs become numbers, and results bytes.
    Encoding "encoding",
    /// Blinds messages, unblinds results, squares the factors.
    Blinding "blinding",
    /// The powers modulo the primes.
    Exponentiation "exponentiation",
    /// Two halves become one number.
    Recombination "recombination",
    /// Signs on a curve.
    Signing "signing",
    /// Looks whether what was computed is right.
    Verification "verification",
    /// Outcomes become answers.
    Reply "reply",
    /// Writes to sockets.
    Send "send",
}

names! {
    /// Time in which nothing is done.
    Wait:
    /// Of a job, until a batch takes it.
    Queue "queue",
    /// Of a worker, for sockets.
    Idle "idle",
}

/// Paths that are told apart, the root among them; what goes beyond is counted to where it lies in.
const NODES: usize = 64;
/// No node.
const NONE: u8 = u8::MAX;

/// A path: a span within another.
#[derive(Clone, Copy)]
struct Node {
    span: Span,
    parent: u8,
    calls: u64,
    time: Duration,
}

/// Paths and their times. Node 0 is the root, in which all lie.
struct Tree {
    nodes: [Node; NODES],
    count: usize,
    /// Of each kind of [`Wait`]: how often, and how long together.
    waits: [(u64, Duration); 2],
}

impl Tree {
    const fn new() -> Self {
        let node = Node { span: Span::Poll, parent: NONE, calls: 0, time: Duration::ZERO };
        Self { nodes: [node; NODES], count: 1, waits: [(0, Duration::ZERO); 2] }
    }

    /// The node of a span within `parent`; that itself where there is no more room.
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

    /// Takes over all that `other` has.
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
/// Outermost spans that are open, of all threads.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// For those to end, once recording is over.
const PATIENCE: Duration = Duration::from_secs(60);

thread_local! {
    /// What this thread has not yet added to the whole, and the node it is in.
    static OWN: RefCell<(Tree, u8)> = const { RefCell::new((Tree::new(), 0)) };
}

fn whole() -> MutexGuard<'static, Tree> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins recording, of all threads, from nothing.
pub fn start() {
    *whole() = Tree::new();
    ON.store(true, Ordering::Relaxed);
}

/// Ends recording, and gives what was recorded. Spans that are open are waited for, a minute at most: who
/// has the answer of one thread may be here before another has ended what led to it.
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

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Spans by their paths, each after the one that it lies in.
    pub paths: Vec<Path>,
    /// Waiting.
    pub waits: Vec<Path>,
}

/// How often something was done there, and how long it took together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// From the outermost span to this one.
    pub names: Vec<&'static str>,
    /// How often.
    pub calls: u64,
    /// How long, with all that lies within.
    pub time: Duration,
}

/// Whether recording is on.
pub(crate) fn are_recorded() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The processor time of this thread.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let [seconds, nanoseconds] = [time.tv_sec, time.tv_nsec].map(i64::unsigned_abs);
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

/// An open span, which ends when this is dropped, in the reverse order of their beginnings.
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
            // It may have been stopped before this one could be seen.
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

/// Counts time in which something waited, `times` times.
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
