//! Slot events (C_WaitForSlotEvent): the token appears, goes away, or is locked or unlocked.
//!
//! The daemon announces nothing to programs, so a thread that waits asks it at intervals. An event
//! is a difference to what the module reported last, or to what it found first after C_Initialize.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cycloid_hsm_protocol::{Code, Result};

use crate::application::Application;
use crate::code;

/// The time between two questions.
const INTERVAL: Duration = Duration::from_millis(250);

/// The state of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Empty,
    /// The number of the application, which is another one after the daemon went away and came
    /// back, and whether the keystore is locked, if known.
    Present {
        application: u64,
        locked: Option<bool>,
    },
}

impl Slot {
    pub(crate) fn of(application: &Application) -> Self {
        Self::Present { application: application.number, locked: None }
    }

    /// Returns whether there was an event between `before` and `self`.
    fn differs(self, before: Self) -> bool {
        match (before, self) {
            (
                Self::Present { application: one, locked: Some(before) },
                Self::Present { application: other, locked: Some(now) },
            ) => one != other || before != now,
            (Self::Present { application: one, .. }, Self::Present { application: other, .. }) => {
                one != other
            }
            _ => before != self,
        }
    }
}

/// The state that the module reported.
#[derive(Default)]
pub(crate) struct Events {
    reported: Mutex<Option<Slot>>,
    ended: Condvar,
    /// Held by the thread that asks: an older answer must not come after a newer one.
    turn: Mutex<()>,
}

impl Events {
    fn reported(&self) -> MutexGuard<'_, Option<Slot>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the state of the slot, if it is the first that the module finds.
    pub(crate) fn note_first(&self, slot: Slot) {
        self.reported().get_or_insert(slot);
    }

    /// Wakes the threads that wait, because the module ends.
    pub(crate) fn end(&self) {
        let _reported = self.reported();
        self.ended.notify_all();
    }

    /// Returns when there is an event, which it thereby reports. `look` asks for the state of the
    /// slot, and `is_over` returns whether the module has ended.
    ///
    /// # Errors
    /// [`code::NO_EVENT`] if there is none and `block` is false;
    /// [`Code::CRYPTOKI_NOT_INITIALIZED`] once the module has ended; those of `look`.
    pub(crate) fn wait(
        &self,
        block: bool,
        look: impl Fn() -> Result<Slot>,
        is_over: impl Fn() -> bool,
    ) -> Result<()> {
        loop {
            let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut now = look()?;
            let mut reported = self.reported();
            drop(turn);
            // Checked under the lock under which `end` notifies.
            if is_over() {
                return Err(Code::CRYPTOKI_NOT_INITIALIZED.into());
            }
            let before = *reported;
            if let (
                Some(Slot::Present { locked: known, .. }),
                Slot::Present { locked: locked @ None, .. },
            ) = (before, &mut now)
            {
                *locked = known;
            }
            *reported = Some(now);
            if before.is_some_and(|before| now.differs(before)) {
                return Ok(());
            }
            if !block {
                return Err(code::NO_EVENT.into());
            }
            drop(self.ended.wait_timeout(reported, INTERVAL));
        }
    }
}
