//! Running two tasks in parallel, with the feature `rayon`.

/// Returns the number of parts for the work on n points, one for each thread.
#[cfg(feature = "rayon")]
pub(super) fn parts(n: usize) -> usize {
    /// The fewest points that are worth a thread.
    const FEWEST: usize = 256;
    (n / FEWEST).clamp(1, rayon::current_num_threads())
}

/// Returns one part.
#[cfg(not(feature = "rayon"))]
pub(super) const fn parts(_n: usize) -> usize {
    1
}

/// Returns the results of both tasks.
pub(super) fn join<T: Send>(
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() -> T + Send,
) -> (T, T) {
    #[cfg(feature = "rayon")]
    return rayon::join(first, second);
    #[cfg(not(feature = "rayon"))]
    return (first(), second());
}
