//! Which packet ids were seen.
//!
//! A window of bits slides along with the highest id. Checking and committing are apart: an id
//! counts as seen only once its packet has proved authentic, or else a forger could use up ids.

use crate::proto::Error;

/// The most ids that a window can look back.
pub const MAX_REPLAY_WINDOW: u32 = 65_536;

/// The ids seen among the last `size`; all that are older count as seen.
///
/// The bits stand in a ring of words. A word of it is more than the window needs, so that the
/// words which the window enters can be cleared whole while all of the window stays known.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    /// 0 as long as nothing was committed; no packet has this id.
    highest: u32,
    size: u32,
    /// A power of two of words, with 64 bits more than the window at least; empty for size 0.
    words: Box<[u64]>,
}

impl ReplayWindow {
    /// A window that has seen nothing and looks back `size` ids, [`MAX_REPLAY_WINDOW`] at most.
    ///
    /// With size 0 each id must be above the one before: what a stream, which keeps the order,
    /// takes.
    pub fn new(size: u32) -> Self {
        let size = size.min(MAX_REPLAY_WINDOW);
        let words = if size == 0 { 0 } else { (size.div_ceil(64) + 1).next_power_of_two() };
        Self { highest: 0, size, words: vec![0; words as usize].into_boxed_slice() }
    }

    /// Whether a packet with this id may be looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Replay`] where it was seen or is too old to tell; [`Error::Malformed`] for 0.
    #[inline]
    pub fn check(&self, id: u32) -> Result<(), Error> {
        if id > self.highest {
            return Ok(());
        }
        if id == 0 {
            return Err(Error::Malformed("packet id 0"));
        }
        if self.highest - id >= self.size || self.words[self.word(id)] & bit(id) != 0 {
            return Err(Error::Replay);
        }
        Ok(())
    }

    /// Notes an id that [`check`](Self::check) let pass.
    #[inline]
    pub fn commit(&mut self, id: u32) {
        if self.words.is_empty() {
            self.highest = self.highest.max(id);
            return;
        }
        if id > self.highest {
            // Each word between that of the highest id so far and the new one's is entered, the
            // latter too; more than the ring has need not be cleared twice.
            let entered = ((id >> 6) - (self.highest >> 6)).min(self.words.len() as u32);
            for step in 0..entered {
                let word = self.word(id - 64 * step);
                self.words[word] = 0;
            }
            self.highest = id;
        }
        let word = self.word(id);
        self.words[word] |= bit(id);
    }

    #[inline]
    fn word(&self, id: u32) -> usize {
        (id >> 6) as usize & (self.words.len() - 1)
    }
}

#[inline]
fn bit(id: u32) -> u64 {
    1 << (id & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The window as a set of all ids ever seen.
    #[derive(Default)]
    struct Model {
        seen: BTreeSet<u32>,
    }

    impl Model {
        fn allows(&self, size: u32, id: u32) -> bool {
            let highest = self.seen.last().copied().unwrap_or(0);
            id != 0 && (id > highest || (highest - id < size && !self.seen.contains(&id)))
        }
    }

    fn agree(size: u32, ids: impl IntoIterator<Item = u32>) {
        let (mut window, mut model) = (ReplayWindow::new(size), Model::default());
        for id in ids {
            assert_eq!(window.check(id).is_ok(), model.allows(size, id), "id {id}, size {size}");
            if window.check(id).is_ok() {
                window.commit(id);
                model.seen.insert(id);
                assert!(window.check(id).is_err(), "id {id} twice, size {size}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_window_is_the_set_of_what_it_saw(
            size in prop_oneof![Just(0), Just(1), Just(63), Just(64), Just(65), 0..300_u32],
            start in prop_oneof![Just(0_u32), Just(u32::MAX - 2000), any::<u32>()],
            steps in prop::collection::vec(
                prop_oneof![5 => -70..70_i64, 2 => -300..300_i64, 1 => 0..5000_i64], 1..400),
        ) {
            let mut at = i64::from(start);
            agree(size, steps.into_iter().map(|step| {
                at = (at + step).clamp(0, i64::from(u32::MAX));
                at as u32
            }));
        }
    }

    #[test]
    fn the_edges_of_a_window_are_where_its_size_says() {
        for size in [1, 2, 63, 64, 65, 127, 128, 129, MAX_REPLAY_WINDOW] {
            for highest in [size + 1, size + 62, size + 63, size + 64, u32::MAX - 1, u32::MAX] {
                let mut window = ReplayWindow::new(size);
                window.commit(highest);
                assert!(window.check(highest).is_err());
                assert_eq!(window.check(highest - size), Err(Error::Replay));
                if size > 1 {
                    assert!(window.check(highest - (size - 1)).is_ok());
                    window.commit(highest - (size - 1));
                    assert_eq!(window.check(highest - (size - 1)), Err(Error::Replay));
                }
            }
        }
    }

    #[test]
    fn nothing_that_was_seen_stays_after_a_leap() {
        let mut window = ReplayWindow::new(64);
        (1..=200).for_each(|id| window.commit(id));
        window.commit(u32::MAX);
        (u32::MAX - 63..u32::MAX).for_each(|id| assert!(window.check(id).is_ok(), "{id}"));
    }

    #[test]
    fn a_window_is_no_larger_than_allowed() {
        let mut window = ReplayWindow::new(u32::MAX);
        window.commit(MAX_REPLAY_WINDOW + 1);
        assert!(window.check(1).is_err());
        assert!(window.check(2).is_ok());
    }
}
