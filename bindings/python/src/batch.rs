//! Batches: pieces of a list, computed by several threads without the interpreter's lock.
//!
//! The threads end with the batch, so a fork finds none of them.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use pyo3::prelude::*;

use crate::error::{Raise, parameter};

/// The jobs that one thread takes at a time: a multiple of the library's lanes, and more than what
/// starting a thread costs.
pub(crate) const SHORT: usize = 8 * cycloid::LANES;

/// The same for operations of a millisecond.
pub(crate) const LONG: usize = cycloid::LANES;

/// The pieces between two looks at the interpreter's signals, for each thread.
const PIECES: usize = 32;

/// Runs `work` on pieces of the items: at most `threads` at a time, or as many as there are
/// processors. Ctrl-C stops between pieces.
///
/// # Errors
/// Whatever a signal handler raises; no threads.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    items: &mut [T],
    threads: Option<usize>,
    piece: usize,
    work: impl Fn(&mut [T]) + Sync,
) -> PyResult<()> {
    let threads = match threads {
        Some(0) => return Err(parameter("a batch needs a thread")),
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, NonZero::get),
    };
    for some in items.chunks_mut(piece * threads.saturating_mul(PIECES).min(1 << 20)) {
        py.detach(|| run_pieces(some, threads, piece, &work));
        py.check_signals()?;
    }
    Ok(())
}

fn run_pieces<T: Send>(
    items: &mut [T],
    threads: usize,
    piece: usize,
    work: &(impl Fn(&mut [T]) + Sync),
) {
    let helpers = threads.min(items.len().div_ceil(piece)).saturating_sub(1);
    let pieces = Mutex::new(items.chunks_mut(piece));
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // Without another thread, this one takes all pieces.
            if thread::Builder::new().spawn_scoped(scope, take).is_err() {
                break;
            }
        }
        take();
    });
}

/// Returns a list of results. The first error is raised, with its place as `index`; or each error is
/// an exception in its place.
pub(crate) fn results<'py, T, E: Raise>(
    py: Python<'py>,
    outcomes: impl IntoIterator<Item = Result<T, E>>,
    return_exceptions: bool,
    object: impl Fn(T) -> Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let result = |(index, outcome): (usize, Result<T, E>)| match outcome {
        Ok(value) => Ok(object(value)),
        Err(error) => {
            let error = error.raise();
            error.value(py).setattr("index", index)?;
            if return_exceptions { Ok(error.into_value(py).into_bound(py).into_any()) } else { Err(error) }
        }
    };
    outcomes.into_iter().enumerate().map(result).collect()
}
