//! The backends that public operations choose from, one after the other.

use std::sync::Mutex;

use cycloid::cpu::{self, Level};
use cycloid::machine::lanes::{Backend, LANES};

/// Does `test` at every level of the processor that is there, alone.
pub(crate) fn at_every_level(mut test: impl FnMut()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _guard = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for level in Level::ALL {
        if level <= cpu::detected_level() {
            cpu::limit(level);
            test();
        } else {
            eprintln!("not run, because this processor lacks it: {}", level.name());
        }
    }
    cpu::limit(cpu::detected_level());
}

/// By how many places to turn a batch, one after the other, so that everything in it stands in every
/// lane; none at a level without lanes, where batches are single operations.
pub(crate) fn turns() -> std::ops::Range<usize> {
    0..if Backend::best().is_some() { LANES } else { 1 }
}

/// Bytes from hexadecimal digits.
pub(crate) fn hex<const N: usize>(digits: &str) -> [u8; N] {
    let bytes = bytes(digits);
    bytes.try_into().unwrap_or_else(|_| panic!("not {N} bytes: {digits}"))
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2));
    let digits: Vec<_> = digits.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
