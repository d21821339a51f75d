//! When to poll a socket before blocking on it.
//!
//! A thread that blocks needs about ten microseconds to run again, as long as a signature on P-256
//! takes. Polling saves this time if the data comes soon, and wastes the processor's if it does
//! not. So the recent past decides: after each wait in vain, twice as many waits as before block at
//! once. A wait during which another thread had the processor also counts as one in vain.

use std::time::{Duration, Instant};
use std::{hint, thread};

/// The maximum time to poll before blocking. It is longer than a signature with a short key takes,
/// with both ways.
const LONGEST: Duration = Duration::from_micros(100);

/// A longer time between two attempts means that another thread had the processor.
const LONGEST_GAP: Duration = Duration::from_micros(10);

/// The number of attempts between two offers of the processor to other threads.
const PATIENT: u32 = 8;

/// The number of pauses between two attempts, which leave the processor's resources to others.
const PAUSES: u32 = 32;

/// The maximum number of waits that block at once after one in vain.
const MOST_SKIPPED: u32 = 1024;

/// Decides whether a thread polls, from how its last waits went.
#[derive(Debug, Default)]
pub struct Polling {
    /// The number of waits that still block at once.
    skip: u32,
    /// The number of waits to skip after the next one in vain.
    penalty: u32,
}

impl Polling {
    /// Calls `attempt` until it returns a value, but not for longer than `limit`. Returns `None` if
    /// the caller is to block.
    pub fn poll<T>(
        &mut self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        let limit = limit.map_or(LONGEST, |limit| limit.min(LONGEST));
        let start = Instant::now();
        let (mut last, mut is_shared) = (start, false);
        for number in 1_u32.. {
            let now = Instant::now();
            is_shared |= now.duration_since(last) > LONGEST_GAP;
            last = now;
            if let Some(value) = attempt() {
                if is_shared {
                    self.was_in_vain();
                } else {
                    self.penalty = 0;
                }
                return Some(value);
            }
            if now.duration_since(start) >= limit {
                break;
            }
            // The thread that is waited for may need this processor.
            if number.is_multiple_of(PATIENT) {
                thread::yield_now();
            }
            (0..PAUSES).for_each(|_| hint::spin_loop());
        }
        self.was_in_vain();
        None
    }

    /// Lets the next waits block at once.
    fn was_in_vain(&mut self) {
        self.penalty = (2 * self.penalty).clamp(1, MOST_SKIPPED);
        self.skip = self.penalty;
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, LONGEST_GAP, MOST_SKIPPED, Polling};

    #[test]
    fn a_value_that_comes_soon_is_polled_for() {
        let mut polling = Polling::default();
        // A machine that stops this thread for longer than the limit makes a wait vain.
        let polled = (0..100).any(|_| {
            let mut attempts = 0;
            let value = polling.poll(None, || {
                attempts += 1;
                (attempts == 3).then_some(attempts)
            });
            value == Some(3)
        });
        assert!(polled);
    }

    #[test]
    fn waits_in_vain_become_rare() {
        let mut polling = Polling::default();
        let mut polled = 0;
        for _ in 0..10_000 {
            let mut was_polled = false;
            assert_eq!(
                polling.poll(None, || {
                    was_polled = true;
                    None::<()>
                }),
                None
            );
            polled += u32::from(was_polled);
        }
        // 1 + 2 + 4 + … + 1024, and then once in 1,025.
        assert_eq!(polled, 19);
        assert_eq!(polling.penalty, MOST_SKIPPED);
    }

    #[test]
    fn a_processor_that_others_need_is_left_to_them() {
        let mut polling = Polling { skip: 0, penalty: 4 };
        let mut attempts = 0;
        let value = polling.poll(None, || {
            attempts += 1;
            if attempts == 1 {
                std::thread::sleep(2 * LONGEST_GAP);
            }
            (attempts == 2).then_some(())
        });
        // A slow machine ends the wait before the second attempt.
        assert!(value.is_some() || attempts == 1);
        assert_eq!(polling.skip, 8);
    }

    #[test]
    fn one_success_restores_trust() {
        let mut polling = Polling { skip: 0, penalty: 512 };
        assert_eq!(polling.poll(None, || Some(7)), Some(7));
        assert_eq!(polling.poll(None, || Some(8)), Some(8));
        assert_eq!(polling.poll(None, || None::<u8>), None);
        assert_eq!(polling.skip, 1);
    }

    #[test]
    fn no_limit_is_longer_than_the_longest() {
        let start = std::time::Instant::now();
        assert_eq!(Polling::default().poll(Some(std::time::Duration::ZERO), || None::<()>), None);
        assert_eq!(Polling::default().poll(None, || None::<()>), None);
        assert!(start.elapsed() >= LONGEST);
    }
}
