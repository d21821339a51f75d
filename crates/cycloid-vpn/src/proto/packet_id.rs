//! Packet ids of the control channel: unique numbers under a key, and a window that detects
//! replays.
//!
//! A long id has a number of 32 bits, starting at 1, and the time at which its series began (32
//! bits, seconds since 1970), so that a new series can start under the same key. Ids of different
//! series compare by time.

use super::data::ReplayWindow;
use super::{Error, Now};

/// The default replay window: how far an id may be below the highest.
pub const DEFAULT_REPLAY_WINDOW: u32 = 64;

/// A number and its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongId {
    /// The number, from 1.
    pub id: u32,
    /// Start of the series in seconds since 1970.
    pub time: u32,
}

impl LongId {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Encodes the number, then the time, big-endian.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        (u64::from(self.id) << 32 | u64::from(self.time)).to_be_bytes()
    }

    /// Decodes the format of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let both = u64::from_be_bytes(*bytes);
        Self { id: (both >> 32) as u32, time: both as u32 }
    }
}

/// Generates unique long ids.
#[derive(Clone, Debug)]
pub struct LongIds {
    next: u32,
    /// `None` before the first id.
    time: Option<u32>,
}

impl Default for LongIds {
    fn default() -> Self {
        Self::starting_at(1)
    }
}

impl LongIds {
    /// Returns a generator whose first id has this number.
    pub fn starting_at(first: u32) -> Self {
        Self { next: first, time: None }
    }

    /// Returns the next id. When the numbers are used up, starts a new series, unless it would have
    /// the same time.
    ///
    /// # Errors
    ///
    /// [`Error::Exhausted`] if all numbers of this second are used.
    pub fn next(&mut self, now: Now) -> Result<LongId, Error> {
        let seconds = now.unix as u32;
        let time = *self.time.get_or_insert(seconds);
        if self.next != 0 {
            let id = LongId { id: self.next, time };
            self.next = self.next.wrapping_add(1);
            return Ok(id);
        }
        if seconds <= time {
            return Err(Error::Exhausted);
        }
        self.time = Some(seconds);
        self.next = 2;
        Ok(LongId { id: 1, time: seconds })
    }
}

/// A replay window for long ids.
#[derive(Clone, Debug)]
pub struct LongReplayWindow {
    time: u32,
    size: u32,
    window: ReplayWindow,
}

impl LongReplayWindow {
    /// Returns a window with the size of [`ReplayWindow::new`] within a series.
    pub fn new(size: u32) -> Self {
        Self { time: 0, size, window: ReplayWindow::new(size) }
    }

    /// Checks whether a packet with this id may be accepted.
    ///
    /// # Errors
    ///
    /// [`Error::Replay`] for an id that was seen, is below the window, or belongs to an earlier
    /// series.
    pub fn check(&self, id: LongId) -> Result<(), Error> {
        if id.time == self.time {
            self.window.check(id.id.into())
        } else if id.time < self.time || id.id == 0 {
            Err(Error::Replay)
        } else {
            Ok(())
        }
    }

    /// Marks an id as seen, after [`Self::check`] accepted it and its packet proved authentic.
    /// Returns whether it is the highest so far.
    pub fn commit(&mut self, id: LongId) -> bool {
        if id.time > self.time {
            *self = Self { time: id.time, ..Self::new(self.size) };
        }
        self.window.commit(id.id.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn at(unix: u64) -> Now {
        Now { monotonic: Duration::ZERO, unix }
    }

    proptest! {
        /// The obvious model: the set of all ids seen.
        #[test]
        fn the_window_equals_its_model(
            size in 1..200_u32,
            ids in proptest::collection::vec((0..4_u32, 0..400_u32), 1..300),
        ) {
            let mut window = LongReplayWindow::new(size);
            let mut came = BTreeSet::new();
            for (time, id) in ids {
                let (latest, highest) = came.last().copied().unwrap_or((0, 0));
                let fresh = id != 0
                    && !came.contains(&(time, id))
                    && (time > latest || time == latest && id + size > highest);
                let long = LongId { id, time };
                prop_assert_eq!(window.check(long).is_ok(), fresh, "{:?}", long);
                if fresh {
                    came.insert((time, id));
                    window.commit(long);
                }
            }
        }

        #[test]
        fn long_ids_round_trip(id in any::<u32>(), time in any::<u32>()) {
            let long = LongId { id, time };
            prop_assert_eq!(LongId::from_bytes(&long.to_bytes()), long);
        }
    }

    #[test]
    fn numbers_wrap_only_into_a_later_series() {
        let mut ids = LongIds::starting_at(u32::MAX);
        assert_eq!(ids.next(at(100)), Ok(LongId { id: u32::MAX, time: 100 }));
        assert_eq!(ids.next(at(100)), Err(Error::Exhausted));
        assert_eq!(ids.next(at(99)), Err(Error::Exhausted));
        assert_eq!(ids.next(at(101)), Ok(LongId { id: 1, time: 101 }));
        assert_eq!(ids.next(at(200)), Ok(LongId { id: 2, time: 101 }));
    }

    #[test]
    fn a_later_series_ends_the_earlier() {
        let mut window = LongReplayWindow::new(64);
        for (id, time, fresh) in [
            (0, 9, false),
            (5, 9, true),
            (5, 9, false),
            (4, 9, true),
            (0, 10, false),
            (1, 10, true),
            (5, 10, true),
            (6, 9, false),
            (1, 10, false),
        ] {
            let long = LongId { id, time };
            assert_eq!(window.check(long).is_ok(), fresh, "{long:?}");
            if fresh {
                window.commit(long);
            }
        }
    }
}
