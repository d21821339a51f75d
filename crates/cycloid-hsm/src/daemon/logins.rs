//! Logins that wait while another one's PIN is judged.
//!
//! An attempt counts as wrong until it is judged. Many programs of one user that log in at the same
//! moment, because their daemon has just ended, would exceed the free attempts with the right PIN.
//! So one attempt of an asker is judged at a time: the others wait, and are recognized if it was
//! right. An asker who sends many PINs at once does not have them all compared, either. Strangers
//! share a budget of wrong PINs, so one attempt of all of them is judged at a time, too.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pin::Asker;
use crate::rpc::Role;

/// The maximum number of waiting logins of an asker; further ones do not wait, and are counted.
const MOST_WAITING: usize = 256;

/// An asker's attempts at the PIN of a role.
pub(super) type Of = (Role, Asker);

/// The waiting logins, by what is being judged.
pub(super) struct Logins<T>(Mutex<HashMap<Of, Vec<T>>>);

impl<T> Default for Logins<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Logins<T> {
    fn waiting(&self) -> MutexGuard<'_, HashMap<Of, Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the login if another one is being judged. Otherwise returns it, and whether it is the
    /// one for which others wait from now on, until [`end`](Self::end).
    pub(super) fn begin(&self, of: Of, login: T) -> Option<(T, bool)> {
        let mut waiting = self.waiting();
        match waiting.get_mut(&of) {
            Some(others) if others.len() < MOST_WAITING => {
                others.push(login);
                None
            }
            Some(_) => Some((login, false)),
            None => {
                waiting.insert(of, Vec::new());
                Some((login, true))
            }
        }
    }

    /// Returns the logins that have waited.
    pub(super) fn end(&self, of: Of) -> Vec<T> {
        self.waiting().remove(&of).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Logins, MOST_WAITING, Role};

    #[test]
    fn one_is_judged_and_others_wait() {
        let logins = Logins::default();
        let (of, other) = ((Role::User, [1; 16]), (Role::User, [2; 16]));
        assert_eq!(logins.begin(of, 0), Some((0, true)));
        assert_eq!(logins.begin(other, 0), Some((0, true)));
        for login in 1..=MOST_WAITING {
            assert_eq!(logins.begin(of, login), None);
        }
        assert_eq!(logins.begin(of, 7), Some((7, false)));
        assert_eq!(logins.end(of), (1..=MOST_WAITING).collect::<Vec<_>>());
        assert_eq!(logins.begin(of, 8), Some((8, true)));
    }
}
