//! Jobs of several applications, which take turns: one that queues many does not keep others
//! waiting.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// A hash for the numbers of applications, which the daemon counts: no client chooses them.
#[derive(Default)]
struct Counted(u64);

impl Hasher for Counted {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        // The table uses the upper bits, too.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The number of applications at rest whose empty queues are kept, so that they need not be
/// allocated for each job.
const MOST_AT_REST: usize = 256;

/// Jobs in the order in which they leave: one of each application in turn.
pub(super) struct Turns<T> {
    /// The applications with jobs, by their numbers; the first one is next.
    order: VecDeque<u64>,
    jobs: HashMap<u64, VecDeque<T>, BuildHasherDefault<Counted>>,
    count: usize,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), jobs: HashMap::default(), count: 0 }
    }
}

impl<T> Turns<T> {
    pub(super) fn push(&mut self, application: u64, job: T) {
        let jobs = self.jobs.entry(application).or_default();
        if jobs.is_empty() {
            self.order.push_back(application);
        }
        jobs.push_back(job);
        self.count += 1;
    }

    /// Returns the number of jobs.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Returns the number of applications with jobs.
    pub(super) fn applications(&self) -> usize {
        self.order.len()
    }

    /// Returns whether there is room for a job of an application, if there is room for `capacity`
    /// of all: an application with fewer than an equal part always finds room.
    pub(super) fn has_room(&self, application: u64, capacity: usize) -> bool {
        let own = self.jobs.get(&application).map_or(0, VecDeque::len);
        let all = self.applications() + usize::from(own == 0);
        self.count < capacity || own < capacity / all
    }

    /// Returns the next job.
    pub(super) fn first(&self) -> Option<&T> {
        self.jobs.get(self.order.front()?)?.front()
    }

    /// Takes at most `count` jobs.
    pub(super) fn take(&mut self, count: usize) -> Vec<T> {
        let mut taken = Vec::with_capacity(count.min(self.count));
        while taken.len() < count
            && let Some(application) = self.order.pop_front()
        {
            let Some(jobs) = self.jobs.get_mut(&application) else { continue };
            taken.extend(jobs.pop_front());
            if !jobs.is_empty() {
                self.order.push_back(application);
            }
        }
        if self.jobs.len() > self.order.len() + MOST_AT_REST {
            self.jobs.retain(|_, jobs| !jobs.is_empty());
        }
        self.count -= taken.len();
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_with_many_jobs_does_not_keep_others_waiting() {
        let mut turns = Turns::default();
        (0..100).for_each(|i| turns.push(1, (1, i)));
        turns.push(2, (2, 0));
        (0..2).for_each(|i| turns.push(3, (3, i)));
        assert_eq!((turns.len(), turns.applications(), turns.first()), (103, 3, Some(&(1, 0))));
        assert_eq!(turns.take(8)[..5], [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1)]);
        assert_eq!((turns.len(), turns.applications()), (95, 1));
    }

    #[test]
    fn a_full_queue_has_room_for_those_with_few_jobs() {
        let mut turns = Turns::default();
        (0..100).for_each(|i| turns.push(1, i));
        assert!(turns.has_room(1, 101) && !turns.has_room(1, 100));
        (0..50).for_each(|i| {
            assert!(turns.has_room(2, 100), "{i}");
            turns.push(2, i);
        });
        // Of three, one has a third.
        assert!(!turns.has_room(2, 100) && turns.has_room(3, 100));
    }

    proptest! {
        /// Against a model that looks for the next job in the list of all jobs.
        #[test]
        fn jobs_of_an_application_keep_their_order(
            steps in prop::collection::vec((0..4_u64, 0..4_usize), 0..40),
        ) {
            let (mut turns, mut jobs) = (Turns::default(), Vec::<(u64, usize)>::new());
            for (i, (application, count)) in steps.into_iter().enumerate() {
                turns.push(application, (application, i));
                jobs.push((application, i));
                let taken = turns.take(count);
                prop_assert_eq!(taken.len(), count.min(jobs.len()));
                for job in taken {
                    let oldest = jobs.iter().position(|other| other.0 == job.0).unwrap();
                    prop_assert_eq!(jobs.remove(oldest), job);
                }
                prop_assert_eq!(turns.len(), jobs.len());
            }
        }
    }
}
