//! Handles requests to a server from the management interface and from metrics collectors.

use super::Program;
use super::peers::Peer;
use crate::proto::Now;
use crate::proto::push::PushUpdate;
use crate::proto::server::PeerId;
use crate::service::management::{Event, Target};
use crate::service::metrics::Snapshot;
use crate::service::status::{Counters, Version};

impl Program<'_> {
    pub(super) fn take_requests(&mut self, now: Now) {
        while let Some(event) = self.context.next_request() {
            if let Some(answer) = self.heed(event, now) {
                self.answer(answer);
            }
        }
        self.tell_bytes(now);
        if let Some(mut metrics) = self.context.metrics.take() {
            metrics.serve(now.monotonic, || self.snapshot());
            self.context.metrics = Some(metrics);
        }
    }

    fn answer(&mut self, answer: Result<String, String>) {
        match (answer, &mut self.context.management) {
            (Ok(text), Some(management)) => management.success(&text),
            (Err(text), Some(management)) => management.error(&text),
            (_, None) => {}
        }
    }

    /// Returns the client that the management interface decided about. Replies first, before the
    /// decision takes effect.
    fn decided(&mut self, command: &str, client: u64, key: u64) -> Option<PeerId> {
        let id = self.awaits_manager(client, key);
        self.answer(outcome(command, id.is_some()));
        id
    }

    /// Tells all clients to connect to another server and admits none from now on, or admits clients
    /// again. Returns the reply.
    fn drain(&mut self, on: bool, now: Now) -> String {
        self.draining = on;
        if !on {
            self.say(1, "drain off: clients are admitted again");
            return "drain off: clients are admitted again".into();
        }
        let all: Vec<PeerId> = self.peers.keys().copied().collect();
        for id in &all {
            self.with_core(|core, link| core.kill(now, *id, Some("RESTART,[N]"), link));
        }
        let text = format!("drain: told {} clients to connect to another server", all.len());
        self.say(1, &text);
        text
    }

    /// Handles an event. Returns the reply, or `None` if it was sent already, is sent as lines, or
    /// is not needed.
    fn heed(&mut self, event: Event, now: Now) -> Option<Result<String, String>> {
        match event {
            Event::Status(version) => {
                let number = self.config.common.log.status_version.into();
                let version = version.or(Version::new(number)).unwrap_or_default();
                let text = self.status_text(now, version);
                self.context.management.as_mut()?.lines(&text);
                None
            }
            Event::LoadStats => {
                let Snapshot { tunnels, bytes_received, bytes_sent, .. } = self.snapshot();
                Some(Ok(format!(
                    "nclients={tunnels},bytesin={bytes_received},bytesout={bytes_sent}"
                )))
            }
            Event::Drain(on) => Some(Ok(self.drain(on, now))),
            Event::PushUpdate { client, options } => Some(self.push_update(client, &options, now)),
            Event::Kill(target) => Some(self.kill(&target, now)),
            Event::ClientKill { client, message } => {
                let id = self.peers.iter().find(|(_, peer)| peer.client_id == client);
                let id = id.map(|(id, _)| *id);
                if let Some(id) = id {
                    let message = message.unwrap_or_else(|| "RESTART".into());
                    self.with_core(|core, link| core.kill(now, id, Some(&message), link));
                }
                Some(outcome("client-kill", id.is_some()))
            }
            Event::ClientAuth { client, key, lines } => {
                let id = self.decided("client-auth", client, key)?;
                self.instructed(id, key, "client-auth", &lines.join("\n"), now);
                None
            }
            Event::ClientDeny { client, key, reason, for_client } => {
                let id = self.decided("client-deny", client, key)?;
                self.denied(id, key, reason, for_client, now);
                None
            }
            Event::PendingAuth { client, key, extra, timeout } => {
                let id = self.decided("client-pending-auth", client, key)?;
                self.defer(id, timeout, &extra, now);
                None
            }
            _ => None,
        }
    }

    fn kill(&mut self, target: &Target, now: Now) -> Result<String, String> {
        let meant: Vec<PeerId> = self
            .peers
            .iter()
            .filter(|(_, peer)| match target {
                Target::Name(name) => peer.name == *name,
                Target::Address(address) => peer.address == *address,
            })
            .map(|(id, _)| *id)
            .collect();
        for id in &meant {
            self.with_core(|core, link| core.kill(now, *id, Some("RESTART"), link));
        }
        match (target, meant.len()) {
            (Target::Name(name), 0) => Err(format!("common name '{name}' not found")),
            (Target::Address(address), 0) => Err(format!("client at address {address} not found")),
            (Target::Name(name), count) => {
                Ok(format!("common name '{name}' found, {count} client(s) killed"))
            }
            (Target::Address(address), count) => {
                Ok(format!("{count} client(s) at address {address} killed"))
            }
        }
    }

    /// Changes pushed options of a client or of all. Returns the reply.
    fn push_update(
        &mut self,
        client: Option<u64>,
        options: &str,
        now: Now,
    ) -> Result<String, String> {
        let failed = |why: &str| format!("push-update command failed: {why}");
        let update = PushUpdate::parse(options).map_err(|error| failed(&error.to_string()))?;
        let is_meant = |peer: &Peer| {
            peer.cipher.is_some() && client.is_none_or(|client| peer.client_id == client)
        };
        let meant: Vec<PeerId> =
            self.peers.iter().filter(|(_, peer)| is_meant(peer)).map(|(id, _)| *id).collect();
        if meant.is_empty() {
            return Err(failed("no such client"));
        }
        if ["ifconfig", "ifconfig-ipv6"].into_iter().any(|name| update.has(name)) {
            return Err(failed("the server assigns addresses, and a session keeps its own"));
        }
        let mut told = 0;
        for id in meant {
            told += usize::from(self.with_core(|core, link| core.update(now, id, &update, link)));
        }
        self.say(1, &format!("push-update: sent to {told} clients"));
        match told {
            0 => Err(failed("no client supports it")),
            _ => Ok("push-update command succeeded".into()),
        }
    }

    fn tell_bytes(&mut self, now: Now) {
        let Some(management) = &mut self.context.management else { return };
        if !management.bytecount_is_due(now.monotonic) {
            return;
        }
        if !self.config.many {
            let Counters { link_read, link_written, .. } = self.totals();
            if let Some(management) = &mut self.context.management {
                management.bytecount(link_read, link_written);
            }
            return;
        }
        for (id, peer) in self.peers.iter().filter(|(_, peer)| peer.cipher.is_some()) {
            let counters = self.handle.counters(id.0).unwrap_or_default();
            management.bytecount_of(peer.client_id, counters.received_bytes, counters.sent_bytes);
        }
    }

    fn snapshot(&self) -> Snapshot {
        let dropped = self.handle.dropped();
        let mut snapshot = self.counts;
        snapshot.dropped = dropped.unknown + dropped.rejected + dropped.spoofed + dropped.foreign;
        for (id, _) in self.peers.iter().filter(|(_, peer)| peer.cipher.is_some()) {
            let counters = self.handle.counters(id.0).unwrap_or_default();
            snapshot.tunnels += 1;
            snapshot.packets_received += counters.received_packets;
            snapshot.packets_sent += counters.sent_packets;
            snapshot.bytes_received += counters.received_bytes;
            snapshot.bytes_sent += counters.sent_bytes;
        }
        snapshot
    }
}

fn outcome(command: &str, done: bool) -> Result<String, String> {
    if done {
        Ok(format!("{command} command succeeded"))
    } else {
        Err(format!("{command} command failed"))
    }
}
