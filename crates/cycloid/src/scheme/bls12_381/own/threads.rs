//! Two things at the same time, where the feature `rayon` gives the library threads.

/// Parts of the work on n points, one for each thread.
#[cfg(feature = "rayon")]
pub(super) fn parts(n: usize) -> usize {
    /// The fewest points for which a thread of their own pays.
    const FEWEST: usize = 256;
    (n / FEWEST).clamp(1, rayon::current_num_threads())
}

/// One.
#[cfg(not(feature = "rayon"))]
pub(super) const fn parts(_n: usize) -> usize {
    1
}

/// What both give.
pub(super) fn join<T: Send>(
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() -> T + Send,
) -> (T, T) {
    #[cfg(feature = "rayon")]
    return rayon::join(first, second);
    #[cfg(not(feature = "rayon"))]
    return (first(), second());
}
