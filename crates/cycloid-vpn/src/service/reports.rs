//! Reports of a program with one peer: to its manager, to Prometheus, and in the status file.

use std::net::SocketAddr;

use super::context::Context;
use super::management::{Event, StateChange};
use super::metrics::Snapshot;
use super::status::{Counters, StatusFile};
use crate::config::Tunnel;
use crate::net::data_path::{self, Handle, PeerId};

/// The traffic with the only peer.
#[derive(Clone, Copy)]
pub(super) struct OnePeer<'a> {
    pub(super) handle: &'a Handle,
    /// The traffic in the kernel, in place of that of `handle`.
    pub(super) offloaded: Option<data_path::Counters>,
    pub(super) id: PeerId,
    /// Whether the tunnel is up.
    pub(super) is_up: bool,
}

impl OnePeer<'_> {
    pub(super) fn counters(self) -> Counters {
        self.offloaded.map_or_else(|| counters(self.handle, self.id), Counters::from)
    }

    fn snapshot(self) -> Snapshot {
        let counters = self.offloaded.or_else(|| self.handle.counters(self.id)).unwrap_or_default();
        let dropped = self.handle.dropped();
        Snapshot {
            tunnels: u64::from(self.is_up),
            dropped: dropped.unknown + dropped.rejected + dropped.spoofed + dropped.foreign,
            packets_received: counters.received_packets,
            packets_sent: counters.sent_packets,
            bytes_received: counters.received_bytes,
            bytes_sent: counters.sent_bytes,
            ..Snapshot::default()
        }
    }
}

/// Returns the counters of the only peer, zeros if it is unknown.
pub(super) fn counters(handle: &Handle, id: PeerId) -> Counters {
    handle.counters(id).map(Counters::from).unwrap_or_default()
}

impl Context {
    /// Answers a manager's question about the traffic. Returns any other event.
    pub(super) fn answer_traffic(&mut self, event: Event, peer: OnePeer<'_>) -> Option<Event> {
        let unix = self.clock.now().unix;
        let Some(management) = &mut self.management else { return Some(event) };
        let counters = peer.counters();
        match event {
            Event::Status(_) => management.lines(&counters.text(unix)),
            Event::LoadStats => {
                let (read, written) = (counters.link_read, counters.link_written);
                management.success(&format!("nclients=0,bytesin={read},bytesout={written}"));
            }
            event => return Some(event),
        }
        None
    }

    /// Sends the reports that are due, and answers requests for metrics.
    pub(super) fn report(&mut self, peer: OnePeer<'_>, status: Option<&mut StatusFile>) {
        let now = self.clock.now();
        let counters = peer.counters();
        if let Some(management) = &mut self.management
            && management.bytecount_is_due(now.monotonic)
        {
            management.bytecount(counters.link_read, counters.link_written);
        }
        if let Some(metrics) = &mut self.metrics {
            metrics.serve(now.monotonic, || peer.snapshot());
        }
        if let Some(file) = status
            && file.is_due(now.monotonic)
            && let Err(error) = file.write(now.monotonic, &counters.text(now.unix))
        {
            self.warn(&format!("status: {error}"));
        }
    }

    /// Reports a change of state to the manager.
    pub(super) fn tell_state(
        &mut self,
        name: &'static str,
        detail: &str,
        tunnel: Option<&Tunnel>,
        remote: Option<SocketAddr>,
    ) {
        let unix = self.clock.now().unix;
        let Some(management) = &mut self.management else { return };
        management.state(&StateChange {
            unix,
            name,
            detail: detail.to_owned(),
            ipv4: tunnel.and_then(|tunnel| tunnel.ifconfig).map(|(address, _)| address),
            ipv6: tunnel.and_then(|tunnel| tunnel.ifconfig_ipv6).map(|it| it.address),
            remote,
            local: None,
        });
    }
}
