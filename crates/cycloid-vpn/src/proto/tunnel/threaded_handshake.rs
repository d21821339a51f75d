//! Handshakes whose steps run on another thread, because the key signs slowly.

use super::{Failure, Session, Tunnel, TunnelEvent};
use crate::proto::Now;

impl Tunnel {
    /// Returns whether a step of a handshake runs elsewhere.
    pub(in crate::proto) fn is_away(&self) -> bool {
        self.current.is_away() || self.next.as_deref().is_some_and(Session::is_away)
    }

    /// Continues handshakes whose steps have ended elsewhere, as [`take`](Self::take) does.
    pub(in crate::proto) fn proceed(
        &mut self,
        now: Now,
        events: &mut Vec<TunnelEvent>,
    ) -> Result<(), Failure> {
        let session = match &mut self.next {
            Some(next) => next,
            None => &mut self.current,
        };
        let key_id = session.key_id();
        let result = session.proceed(|outcome| {
            events.push(TunnelEvent::of(key_id, outcome));
            Ok(())
        });
        self.conclude(now, key_id, result)
    }
}
