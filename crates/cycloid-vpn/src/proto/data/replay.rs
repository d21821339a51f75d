//! Replay protection by packet ids.
//!
//! A window of bits slides along with the highest id. Checking and committing are separate: an id
//! counts as seen only once its packet is authentic. Otherwise a forger could use up ids.

use crate::proto::Error;

/// The largest window, in ids.
pub const MAX_REPLAY_WINDOW: u32 = 65_536;

/// The ids seen among the last `size`. All older ids count as seen.
///
/// The bits are in a ring of words. The ring has one word more than the window needs, so that newly
/// entered words can be cleared whole while the full window stays known.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    /// The highest committed id; 0 before the first commit, since no packet has this id.
    highest: u64,
    size: u32,
    /// A power of two of words, at least 64 bits more than the window; empty for size 0.
    words: Box<[u64]>,
}

impl ReplayWindow {
    /// Returns an empty window of `size` ids, at most [`MAX_REPLAY_WINDOW`].
    ///
    /// With size 0 each id must exceed the previous one, as on a stream, which preserves order.
    pub fn new(size: u32) -> Self {
        let size = size.min(MAX_REPLAY_WINDOW);
        let words = if size == 0 { 0 } else { (size.div_ceil(64) + 1).next_power_of_two() };
        Self { highest: 0, size, words: vec![0; words as usize].into_boxed_slice() }
    }

    /// Checks whether a packet with this id may be processed.
    ///
    /// # Errors
    ///
    /// [`Error::Replay`] for an id that was seen or is too old; [`Error::Malformed`] for 0.
    #[inline]
    pub fn check(&self, id: u64) -> Result<(), Error> {
        if id > self.highest {
            return Ok(());
        }
        if id == 0 {
            return Err(Error::Malformed("packet id 0"));
        }
        if self.highest - id >= u64::from(self.size) || self.words[self.word(id)] & bit(id) != 0 {
            return Err(Error::Replay);
        }
        Ok(())
    }

    /// Marks an id as seen, after [`check`](Self::check) accepted it. Returns whether it is the
    /// highest so far.
    #[inline]
    pub fn commit(&mut self, id: u64) -> bool {
        let newest = id > self.highest;
        if self.words.is_empty() {
            self.highest = self.highest.max(id);
            return newest;
        }
        if newest {
            // Clears the words after that of the previous highest id, up to that of the new one. At
            // most the whole ring needs clearing.
            let entered = ((id >> 6) - (self.highest >> 6)).min(self.words.len() as u64);
            for step in 0..entered {
                let word = self.word(id - 64 * step);
                self.words[word] = 0;
            }
            self.highest = id;
        }
        let word = self.word(id);
        self.words[word] |= bit(id);
        newest
    }

    #[inline]
    fn word(&self, id: u64) -> usize {
        (id >> 6) as usize & (self.words.len() - 1)
    }
}

#[inline]
fn bit(id: u64) -> u64 {
    1 << (id & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The last id of an epoch, which has 48 bits.
    const LAST: u64 = (1 << 48) - 1;

    /// A model of the window: the set of all ids seen.
    #[derive(Default)]
    struct Model {
        seen: BTreeSet<u64>,
    }

    impl Model {
        fn allows(&self, size: u32, id: u64) -> bool {
            let highest = self.seen.last().copied().unwrap_or(0);
            id != 0
                && (id > highest || (highest - id < u64::from(size) && !self.seen.contains(&id)))
        }
    }

    fn agree(size: u32, ids: impl IntoIterator<Item = u64>) {
        let (mut window, mut model) = (ReplayWindow::new(size), Model::default());
        for id in ids {
            assert_eq!(window.check(id).is_ok(), model.allows(size, id), "id {id}, size {size}");
            if window.check(id).is_ok() {
                let highest = model.seen.last().copied().unwrap_or(0);
                assert_eq!(window.commit(id), id > highest, "id {id}, size {size}");
                model.seen.insert(id);
                assert!(window.check(id).is_err(), "id {id} twice, size {size}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_window_equals_its_model(
            size in prop_oneof![Just(0), Just(1), Just(63), Just(64), Just(65), 0..300_u32],
            start in prop_oneof![Just(0), Just(LAST - 2000), 0..LAST],
            steps in prop::collection::vec(
                prop_oneof![5 => -70..70_i64, 2 => -300..300_i64, 1 => 0..5000_i64], 1..400),
        ) {
            let mut at = start as i64;
            agree(size, steps.into_iter().map(|step| {
                at = (at + step).clamp(0, LAST as i64);
                at as u64
            }));
        }
    }

    #[test]
    fn the_window_has_its_exact_size() {
        for size in [1, 2, 63, 64, 65, 127, 128, 129, MAX_REPLAY_WINDOW] {
            let wide = u64::from(size);
            let near = [wide + 1, wide + 62, wide + 63, wide + 64];
            for highest in near.into_iter().chain([u32::MAX.into(), LAST - 1, LAST]) {
                let mut window = ReplayWindow::new(size);
                window.commit(highest);
                assert!(window.check(highest).is_err());
                assert_eq!(window.check(highest - wide), Err(Error::Replay));
                if size > 1 {
                    assert!(window.check(highest - (wide - 1)).is_ok());
                    window.commit(highest - (wide - 1));
                    assert_eq!(window.check(highest - (wide - 1)), Err(Error::Replay));
                }
            }
        }
    }

    #[test]
    fn a_large_jump_clears_the_window() {
        let mut window = ReplayWindow::new(64);
        (1..=200).for_each(|id| assert!(window.commit(id)));
        window.commit(LAST);
        (LAST - 63..LAST).for_each(|id| assert!(window.check(id).is_ok(), "{id}"));
    }

    #[test]
    fn the_window_size_is_capped() {
        let mut window = ReplayWindow::new(u32::MAX);
        window.commit(u64::from(MAX_REPLAY_WINDOW) + 1);
        assert!(window.check(1).is_err());
        assert!(window.check(2).is_ok());
    }
}
