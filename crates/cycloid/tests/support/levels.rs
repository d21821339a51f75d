//! Running a test on every backend that public operations choose from.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cycloid::cpu::{self, Level};
use cycloid::internals::lanes::{Backend, LANES};

/// Keeps the level until the guard is dropped.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `test` at every level that the processor has, exclusively.
pub(crate) fn at_every_level(mut test: impl FnMut()) {
    let _alone = alone();
    for level in Level::ALL {
        if level.is_detected() {
            cpu::limit(level);
            test();
        } else {
            eprintln!("not run, because this processor lacks it: {}", level.name());
        }
    }
    cpu::limit(cpu::detected_level());
}

/// Returns the rotations of a batch that bring each job into each lane; none at a level without
/// lanes, where batches are single operations.
pub(crate) fn turns() -> std::ops::Range<usize> {
    0..if Backend::best().is_some() { LANES } else { 1 }
}

/// Decodes hexadecimal digits.
pub(crate) fn hex<const N: usize>(digits: &str) -> [u8; N] {
    let bytes = bytes(digits);
    bytes.try_into().unwrap_or_else(|_| panic!("not {N} bytes: {digits}"))
}

/// Decodes hexadecimal digits.
pub(crate) fn bytes(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2));
    let digits: Vec<_> = digits.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
