//! The shadow of memory: the bytes that depend on a secret.

use std::collections::HashMap;

use crate::addresses::ByAddress;
use crate::taint::{Taint, low};

/// Bytes of memory per page of the shadow.
const PAGE: usize = 4096;

/// One bit for each byte of a page.
type Page = [u64; PAGE / 64];

/// Tainted bytes by address.
#[derive(Default)]
pub(crate) struct Memory {
    pages: HashMap<usize, Box<Page>, ByAddress>,
    /// The most recently used page, which is usually the next, too.
    last: Option<(usize, *mut Page)>,
}

impl Memory {
    fn page(&mut self, number: usize) -> Option<*mut Page> {
        if let Some((last, page)) = self.last
            && last == number
        {
            return Some(page);
        }
        let page: *mut Page = &raw mut **self.pages.get_mut(&number)?;
        self.last = Some((number, page));
        Some(page)
    }

    /// Returns the taint of `bytes` bytes, at most 64, at `address`.
    pub(crate) fn get(&mut self, address: usize, bytes: usize) -> Taint {
        debug_assert!(bytes <= 64);
        let (word, shift) = (address / 64, address % 64);
        let mut taint = self.word(word) >> shift;
        if shift + bytes > 64 {
            taint |= self.word(word + 1) << (64 - shift);
        }
        taint & low(bytes)
    }

    /// Replaces the taint of `bytes` bytes, at most 64, at `address`.
    pub(crate) fn set(&mut self, address: usize, bytes: usize, taint: Taint) {
        debug_assert!(bytes <= 64);
        let (word, shift) = (address / 64, address % 64);
        let taint = taint & low(bytes);
        self.replace(word, low(bytes) << shift, taint << shift);
        if shift + bytes > 64 {
            let down = 64 - shift;
            self.replace(word + 1, low(bytes) >> down, taint >> down);
        }
    }

    /// Taints or cleans a range of any length.
    pub(crate) fn fill(&mut self, address: usize, bytes: usize, tainted: bool) {
        let (mut at, end) = (address, address + bytes);
        while at < end {
            let length = (64 - at % 64).min(end - at);
            self.set(at, length, if tainted { Taint::MAX } else { 0 });
            at += length;
        }
    }

    /// Returns whether any byte of a range is tainted.
    pub(crate) fn any(&mut self, address: usize, bytes: usize) -> bool {
        (address..address + bytes)
            .step_by(64)
            .any(|at| self.get(at, (address + bytes - at).min(64)) != 0)
    }

    /// Returns the bits of the 64-byte block with that number.
    fn word(&mut self, word: usize) -> u64 {
        let index = word % (PAGE / 64);
        // SAFETY: the pointer is to a page that the map owns and never drops.
        self.page(word / (PAGE / 64)).map_or(0, |page| unsafe { (*page)[index] })
    }

    fn replace(&mut self, word: usize, which: u64, bits: u64) {
        let (number, index) = (word / (PAGE / 64), word % (PAGE / 64));
        if self.page(number).is_none() {
            if bits == 0 {
                return;
            }
            self.pages.insert(number, Box::new([0; PAGE / 64]));
        }
        let page = self.page(number).expect("the page was added");
        // SAFETY: the pointer is to a page that the map owns and never drops.
        let slot = unsafe { &mut (*page)[index] };
        *slot = *slot & !which | bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_over_words_and_pages() {
        let mut memory = Memory::default();
        for address in [0, 5, 60, 63, 4090, 4095, 8192] {
            for bytes in [1, 2, 8, 31, 64] {
                memory.set(address, bytes, Taint::MAX);
                assert_eq!(memory.get(address, bytes), low(bytes));
                assert!(!memory.any(address + bytes, 70), "nothing beyond");
                memory.set(address, bytes, 0);
                assert_eq!(memory.get(address, bytes), 0);
            }
        }
        memory.fill(4000, 300, true);
        assert!(memory.any(4299, 1) && !memory.any(4300, 1) && !memory.any(3999, 1));
        memory.fill(4000, 300, false);
        assert!(!memory.any(3000, 3000));
    }
}
