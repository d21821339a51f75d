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

/// Gaps are capped here: longer ones carry no more information.
const LONGEST_GAP: Duration = Duration::from_millis(1);

/// Tracks the interval between packets.
pub(super) struct Gathering {
    last: Instant,
    /// Recent average interval between packets.
    gap: Duration,
    pauses: bool,
}

impl Gathering {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, gap: LONGEST_GAP, pauses: false }
    }

    /// Records a turn that brought this many packets.
    pub(super) fn turn(&mut self, now: Instant, packets: usize) {
        self.pauses = false;
        if let Some(packets) = u32::try_from(packets).ok().filter(|packets| *packets > 0) {
            let gap = ((now - self.last) / packets).min(LONGEST_GAP);
            self.gap = (self.gap * 3 + gap) / 4;
            self.last = now;
            self.pauses = self.gap < CLOSE_GAP && (packets as usize) < FEW_PACKETS;
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

    /// Simulates turns with `packets` packets each, spaced by `gap` microseconds. Returns the
    /// number of pauses.
    fn pauses(gap: u64, packets: usize, turns: u32) -> u32 {
        let mut now = Instant::now();
        let mut gathering = Gathering::new(now);
        let mut pauses = 0;
        for _ in 0..turns {
            now += Duration::from_micros(gap);
            gathering.turn(now, packets);
            pauses += u32::from(gathering.pauses);
        }
        pauses
    }

    #[test]
    fn only_streams_of_single_packets_are_gathered() {
        // Request and response over a short path, and pings.
        assert_eq!(pauses(200, 1, 1000), 0);
        assert_eq!(pauses(10_000, 1, 1000), 0);
        // Trains.
        assert_eq!(pauses(250, 44, 1000), 0);
        // A stream of half a gigabit per second in single packets, then gathered: pauses start soon
        // and continue.
        assert!(pauses(22, 1, 1000) > 980);
        assert!(pauses(250, 11, 1000) > 980);
        // A stream that has become slow causes no more pauses.
        let mut now = Instant::now();
        let mut gathering = Gathering { last: now, gap: Duration::from_micros(20), pauses: true };
        for _ in 0..2 {
            now += Duration::from_micros(300);
            gathering.turn(now, 1);
        }
        assert!(!gathering.pauses);
    }
}
