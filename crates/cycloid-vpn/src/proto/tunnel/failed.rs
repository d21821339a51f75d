//! Renegotiations that fail while the current key stays in use.

use std::time::Duration;

use super::{KeyId, Now, Session, Tunnel};
use crate::proto::Error;
use crate::proto::wire::Control;

/// The time between a failed renegotiation and the next. By then the peer has given up, too.
const RETRY_INTERVAL: Duration = Duration::from_secs(15);

/// Renegotiations that failed while the current key stayed in use.
pub(super) struct FailedRenegotiation {
    /// When the current key expires.
    pub(super) key_expires: Duration,
    /// When to try again.
    pub(super) retry: Duration,
    /// The reason, until the caller takes it.
    error: Option<Error>,
    /// The last session, until its last packets are sent.
    pub(super) session: Option<Box<Session>>,
    /// Whether these packets tell the peer of the failure. Then they are repeated until it has
    /// them, or until the next attempt.
    tells: bool,
}

impl FailedRenegotiation {
    /// Forgets the session if none of its packets must be sent again.
    pub(super) fn has_sent(&mut self) {
        self.session.take_if(|session| !self.tells || !session.waits());
    }
}

impl Tunnel {
    /// Returns the reason of a renegotiation that has failed since the last call.
    pub(in crate::proto) fn take_failure(&mut self) -> Option<Error> {
        self.failed.as_mut()?.error.take()
    }

    /// Returns whether the tunnel may continue with the current key after this session has failed.
    pub(super) fn keeps_key(&self, key_id: KeyId) -> bool {
        self.channel.is_some() && self.next.as_ref().is_some_and(|next| next.key_id() == key_id)
    }

    /// Gives up the session in negotiation. The current key stays in use until it expires,
    /// `tran-window` after the first failed renegotiation has begun.
    pub(super) fn fail_renegotiation(&mut self, now: Now, error: Error) {
        let Some(session) = self.next.take() else { return };
        let key_expires = match &self.failed {
            Some(failed) => failed.key_expires,
            None => session.began() + self.timing.transition,
        };
        self.failed = Some(FailedRenegotiation {
            key_expires,
            retry: now.monotonic + RETRY_INTERVAL,
            error: Some(error),
            tells: session.has_output(),
            session: Some(session),
        });
    }

    /// Processes a packet of a session that has failed: it may acknowledge the last packets.
    pub(super) fn take_acks_of_failed(&mut self, control: &Control<'_>) -> Result<(), Error> {
        let failed = self.failed.as_mut().and_then(|failed| failed.session.as_mut());
        match failed.filter(|session| session.key_id() == control.header.key_id) {
            Some(session) => session.take_acks(control),
            None => Err(Error::Unexpected("no session has this key id")),
        }
    }
}
