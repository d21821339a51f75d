//! Decides when a thread pauses, so that its next turn brings more packets.
//!
//! A wake-up costs more than a small packet, a packet alone in a system call costs as much as a
//! train, and packets that arrive together can be joined.

use std::time::{Duration, Instant};

/// When single packets arrive at intervals below `CLOSE_GAP` and a turn brings fewer than
/// `FEW_PACKETS`, the thread pauses for `PAUSE`. Trains and sparse traffic never cause a pause.
const CLOSE_GAP: Duration = Duration::from_micros(50);
const FEW_PACKETS: usize = 16;
const PAUSE: Duration = Duration::from_micros(250);

/// A pause that brings less than half of the expected packets, as far as `FEW_PACKETS` of them, has
/// kept somebody waiting: a sender that waits for answers. Then there are no more pauses for
/// `SUSPENSION`.
const SUSPENSION: Duration = Duration::from_millis(10);

/// Gaps are capped here: longer ones carry no more information.
const LONGEST_GAP: Duration = Duration::from_millis(1);

/// Tracks the interval between packets.
pub(super) struct Gathering {
    last: Instant,
    /// Recent average interval between packets.
    gap: Duration,
    pauses: bool,
    /// There are no pauses before this time.
    suspended: Instant,
}

impl Gathering {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, gap: LONGEST_GAP, pauses: false, suspended: now }
    }

    /// Records a turn that brought this many packets. If the last one called for a pause, it
    /// happened between them.
    pub(super) fn turn(&mut self, now: Instant, packets: usize) {
        // Only the time outside of a pause says how fast packets come if nobody pauses.
        let mut paused = Duration::ZERO;
        if std::mem::take(&mut self.pauses) {
            paused = PAUSE;
            let expected = PAUSE.as_nanos() / self.gap.as_nanos().max(1);
            if 2 * (packets as u128) < expected.min(FEW_PACKETS as u128) {
                self.suspended = now + SUSPENSION;
            }
        }
        if let Some(packets) = u32::try_from(packets).ok().filter(|packets| *packets > 0) {
            let gap = ((now - self.last).saturating_sub(paused) / packets).min(LONGEST_GAP);
            self.gap = (self.gap * 3 + gap) / 4;
            self.last = now;
            self.pauses =
                self.gap < CLOSE_GAP && (packets as usize) < FEW_PACKETS && now >= self.suspended;
        }
    }

    /// Pauses if the last turn calls for it, and returns whether it did.
    pub(super) fn pause(&self) -> bool {
        if self.pauses {
            std::thread::sleep(PAUSE);
        }
        self.pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates turns with `packets` packets each, spaced by `gap` microseconds. After a pause, a
    /// turn has those of the pause, too, unless they are answers to `waiting` senders' packets.
    /// Returns the number of pauses.
    fn pauses(gap: u64, packets: usize, turns: u32, waiting: bool) -> u32 {
        let gap = Duration::from_micros(gap);
        let mut now = Instant::now();
        let mut gathering = Gathering::new(now);
        let mut pauses = 0;
        for _ in 0..turns {
            let mut arrived = packets;
            if gathering.pauses {
                pauses += 1;
                now += PAUSE;
                let meanwhile = packets * (PAUSE.as_nanos() / gap.as_nanos()) as usize;
                arrived += if waiting { 0 } else { meanwhile };
            }
            now += gap;
            gathering.turn(now, arrived);
        }
        pauses
    }

    #[test]
    fn only_streams_of_single_packets_are_gathered() {
        // Request and response over a short path, and pings.
        assert_eq!(pauses(200, 1, 1000, true), 0);
        assert_eq!(pauses(10_000, 1, 1000, true), 0);
        // Trains.
        assert_eq!(pauses(250, 44, 1000, false), 0);
        // Streams of single packets: pauses start soon and continue, after each turn or after each
        // second one.
        assert!(pauses(22, 1, 1000, false) > 980);
        assert!(pauses(5, 1, 1000, false) > 480);
        // A stream that has become slow causes no more pauses.
        let mut now = Instant::now();
        let mut gathering = Gathering::new(now);
        gathering.gap = Duration::from_micros(20);
        for _ in 0..2 {
            now += Duration::from_micros(300);
            gathering.turn(now, 1);
        }
        assert!(!gathering.pauses);
    }

    #[test]
    fn senders_that_wait_for_answers_wait_rarely() {
        // 30 µs for each ping of a flood, and four requests in flight. A second is more than 30,000
        // turns, and has at most a hundred pauses.
        for packets in [1, 2, 4, 6] {
            let found = pauses(30, packets, 30_000, true);
            assert!((1..=100).contains(&found), "{found}");
        }
    }
}
