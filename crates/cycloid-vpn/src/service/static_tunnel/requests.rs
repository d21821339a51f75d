//! The management interface, the metrics and the status file of a tunnel with a static key.

use super::{PEER, Program};
use crate::service::reports::OnePeer;

impl Program<'_> {
    /// Handles pending commands and due reports.
    pub(super) fn take_requests(&mut self) {
        let peer = OnePeer { handle: &self.handle, offloaded: None, id: PEER, is_up: self.is_up };
        while let Some(event) = self.context.next_request() {
            // The interface itself rejects other commands as unsupported.
            let _ = self.context.answer_traffic(event, peer);
        }
        self.context.report(peer, self.status.as_mut());
    }

    /// Reports a change of state.
    pub(super) fn state(&mut self, name: &'static str, detail: &str) {
        let tunnel = &self.config.common.tunnel;
        self.context.tell_state(name, detail, Some(tunnel), self.address);
    }
}
