//! The threads that make changes, and that load those of other daemons.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::{Daemon, LONGEST_PAUSE, Shared};

/// Without announcements of the database, its changes are loaded at least this often.
const LONGEST_UNWATCHED: Duration = Duration::from_millis(500);

impl Shared {
    /// Runs the thread that makes all changes.
    pub(super) fn make_changes(&self) {
        let pause = self.settings.refresh.min(LONGEST_PAUSE);
        let Daemon { token, tasks, uses, .. } = &*self.daemon;
        tasks.make_changes(&token.store, pause, || {
            self.retry_accepting();
            uses.settle_resting(tasks, &token.store);
        });
    }

    /// Runs the thread that loads the changes of other daemons: as soon as the database announces
    /// them, or else at regular intervals.
    pub(super) fn follow_changes(&self) {
        let mut watch = None;
        while !self.stopping.load(Ordering::SeqCst) {
            let mut rest = self.settings.refresh;
            if watch.is_none() {
                watch = self.daemon.token.store.watch().ok();
                match &watch {
                    // No server repeats an earlier announcement.
                    Some(_) => self.daemon.refresh(),
                    // The server is lost: the interval alone decides.
                    None => rest = rest.min(LONGEST_UNWATCHED),
                }
            }
            while !rest.is_zero() && !self.stopping.load(Ordering::SeqCst) {
                let part = rest.min(LONGEST_PAUSE);
                rest -= part;
                match watch.as_mut().map(|watch| watch.wait(part)) {
                    Some(Ok(true)) => break,
                    Some(Ok(false)) => {}
                    Some(Err(_)) => {
                        watch = None;
                        thread::sleep(part);
                        break;
                    }
                    None => thread::sleep(part),
                }
            }
            self.daemon.refresh();
        }
    }
}
