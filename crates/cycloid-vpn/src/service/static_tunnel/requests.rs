//! The management interface, the metrics and the status file of a tunnel with a static key.

use super::{PEER, Program};
use crate::proto::Now;
use crate::service::management::{Event, StateChange};
use crate::service::metrics::Snapshot;
use crate::service::status::Counters;

impl Program<'_> {
    /// Handles pending commands and due reports.
    pub(super) fn take_requests(&mut self, now: Now) {
        while let Some(event) = self.context.next_request() {
            let counters = self.counters();
            let Some(management) = &mut self.context.management else { break };
            match event {
                Event::Status(_) => management.lines(&counters.text(now.unix)),
                Event::LoadStats => {
                    let (read, written) = (counters.link_read, counters.link_written);
                    management.success(&format!("nclients=0,bytesin={read},bytesout={written}"));
                }
                // The interface itself rejects other commands as unsupported.
                _ => {}
            }
        }
        let counters = self.counters();
        if let Some(management) = &mut self.context.management
            && management.bytecount_is_due(now.monotonic)
        {
            management.bytecount(counters.link_read, counters.link_written);
        }
        if let Some(mut metrics) = self.context.metrics.take() {
            metrics.serve(now.monotonic, || self.snapshot());
            self.context.metrics = Some(metrics);
        }
        if let Some((file, every, next)) = &mut self.status
            && now.monotonic >= *next
        {
            *next = now.monotonic + *every;
            if let Err(error) = file.write(&counters.text(now.unix)) {
                self.context.warn(&format!("status: {error}"));
            }
        }
    }

    /// Reports a change of state.
    pub(super) fn state(&mut self, name: &'static str, detail: &str) {
        let tunnel = &self.config.common.tunnel;
        let change = StateChange {
            unix: self.context.clock.now().unix,
            name,
            detail: detail.to_owned(),
            ipv4: tunnel.ifconfig.map(|(address, _)| address),
            ipv6: tunnel.ifconfig_ipv6.map(|it| it.address),
            remote: self.address,
            local: None,
        };
        if let Some(management) = &mut self.context.management {
            management.state(&change);
        }
    }

    pub(super) fn counters(&self) -> Counters {
        self.handle.counters(PEER).map(Counters::from).unwrap_or_default()
    }

    fn snapshot(&self) -> Snapshot {
        let counters = self.handle.counters(PEER).unwrap_or_default();
        let dropped = self.handle.dropped();
        Snapshot {
            tunnels: u64::from(self.is_up),
            dropped: dropped.unknown + dropped.rejected + dropped.spoofed,
            packets_received: counters.received_packets,
            packets_sent: counters.sent_packets,
            bytes_received: counters.received_bytes,
            bytes_sent: counters.sent_bytes,
            ..Snapshot::default()
        }
    }
}
