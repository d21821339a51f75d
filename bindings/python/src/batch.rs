//! Batches: pieces of a list, computed by several threads without the interpreter's lock.
//!
//! The threads end with the batch, so a fork finds none of them.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use cycloid::LANES;
use pyo3::prelude::*;

use crate::error::{Raise, parameter};

/// The jobs that a thread takes at a time: the least number that is worth starting it, and the most.
/// Both are multiples of the library's lanes.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) least: usize,
    pub(crate) most: usize,
}

/// For operations of tens of microseconds.
pub(crate) const SHORT: Piece = Piece { least: 4 * LANES, most: 8 * LANES };

/// For operations of about a millisecond.
pub(crate) const LONG: Piece = Piece { least: LANES, most: LANES };

/// The pieces between two looks at the interpreter's signals, for each thread.
const PIECES: usize = 8;

/// The threads that a caller may ask for, for each processor. More of them only cost memory.
const MOST_THREADS: usize = 4;

/// Runs `work` on pieces of the items: at most `threads` at a time, or as many as there are
/// processors. Ctrl-C stops between pieces.
///
/// # Errors
/// The exception that a signal handler raises, and an error for zero threads.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    items: &mut [T],
    threads: Option<usize>,
    piece: Piece,
    work: impl Fn(&mut [T]) + Sync,
) -> PyResult<()> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = match threads {
        Some(0) => return Err(parameter("a batch needs a thread")),
        Some(threads) => threads.min(MOST_THREADS * processors),
        None => processors,
    };
    let share = items.len().div_ceil(threads).next_multiple_of(LANES);
    let piece = share.clamp(piece.least, piece.most);
    for some in items.chunks_mut(piece * PIECES * threads) {
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
            if return_exceptions {
                Ok(error.into_value(py).into_bound(py).into_any())
            } else {
                Err(error)
            }
        }
    };
    outcomes.into_iter().enumerate().map(result).collect()
}
