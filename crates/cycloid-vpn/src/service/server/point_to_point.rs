//! A point-to-point server: the allowed addresses of its peer, and the notifications that a server
//! for many sends per client.

use std::net::SocketAddr;
use std::time::Duration;

use super::Program;
use crate::proto::server::{PeerId, ServerEnd};
use crate::proto::{Error, Transport};
use crate::service::hooks::Environment;
use crate::service::status::Counters;

impl Program<'_> {
    /// Returns whether a peer at this address may connect or is already connected.
    pub(super) fn may_come(&mut self, from: SocketAddr, transport: Transport) -> bool {
        let now = self.context.clock.now().monotonic;
        let Some(remotes) = &mut self.remotes else { return true };
        let is_here = self.peers.values().any(|peer| peer.address == from);
        let may = is_here || remotes.allow(from, transport, now);
        if !may {
            self.say(4, &format!("{from} is not an address of `remote`"));
        }
        may
    }

    /// Reports that the tunnel is up, which completes the start.
    pub(super) fn joined(&mut self, address: SocketAddr, environment: Environment) {
        let command = self.config.common.hooks.ip_change.as_ref();
        self.context.tell_address(command, address, environment);
        self.say(0, "Initialization Sequence Completed");
        self.state("CONNECTED", "SUCCESS");
        self.context.notify.status(&format!("connected to {address}"));
    }

    /// Prepares for the next peer after one has left, unless the program is to end.
    pub(super) fn left(&mut self, end: &ServerEnd) {
        if self.finished || self.up().is_some() {
            return;
        }
        self.alone_since = self.context.clock.now().monotonic;
        let silent = matches!(end, ServerEnd::Failed(Error::TimedOut(_)));
        self.finished = silent && self.config.common.timing.ping_exit.is_some();
        if self.finished {
            return;
        }
        let why = match end {
            ServerEnd::Exit => "remote-exit",
            _ if silent => "ping-restart",
            _ => "connection-reset",
        };
        self.state("RECONNECTING", why);
        self.await_peer();
    }

    pub(super) fn await_peer(&mut self) {
        self.state("WAIT", "");
        self.context.notify.status("waiting for the peer");
    }

    /// Returns when to exit without a peer: `ping-exit`, without `ping-timer-rem`.
    pub(super) fn patience(&self) -> Option<Duration> {
        let timing = &self.config.common.timing;
        let exit = timing.ping_exit.filter(|_| !self.config.many && !timing.ping_timer_needs_peer);
        exit.filter(|_| self.up().is_none()).map(|exit| self.alone_since + exit)
    }

    /// Returns the peer whose tunnel is up.
    pub(super) fn up(&self) -> Option<PeerId> {
        self.peers.iter().find(|(_, peer)| peer.cipher.is_some()).map(|(id, _)| *id)
    }

    /// Returns the traffic totals since the start.
    pub(super) fn totals(&self) -> Counters {
        let now = self.up().and_then(|id| self.handle.counters(id.0)).map(Counters::from);
        self.passed + now.unwrap_or_default()
    }
}
