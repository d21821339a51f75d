//! Handles connected and disconnected clients: scripts, notifications and counters.

use std::net::IpAddr;

use super::peers::Peer;
use super::{Program, Purpose};
use crate::net::data_path::Remote;
use crate::proto::Now;
use crate::proto::server::{PeerConnected, PeerId, ServerEnd};
use crate::service::context::job;
use crate::service::hooks::{Environment, Kind, Outcome, Secret};
use crate::service::management::ClientEvent;
use crate::service::settings;

impl Program<'_> {
    pub(super) fn connected(&mut self, id: PeerId, connected: &PeerConnected) {
        let link = &self.config.common.link;
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.cipher = Some(connected.cipher);
        peer.expires = peer.lifetime.map(|lifetime| self.context.clock.now().monotonic + lifetime);
        self.expiry_due = self.expiry_due.into_iter().chain(peer.expires).min();
        let largest = settings::largest_tcp(
            link.mssfix,
            link.tun_mtu,
            connected.address.ip(),
            peer.transport(),
            peer.overhead + settings::frame_header(&self.config.common.tunnel),
        );
        self.handle.set_largest_tcp(id.0, largest);
        self.counts.established += 1;
        let cipher = connected.cipher.name();
        let text = format!("{} ({}) connected, with {cipher}", peer.name, connected.address);
        self.context.say(1, &text);
        if !self.config.many {
            let environment = peer.environment.clone();
            return self.joined(connected.address, environment);
        }
        if let Some(management) = &mut self.context.management {
            management.client(ClientEvent::Established(peer.client_id), peer.environment.iter());
            for (address, prefix) in &peer.networks {
                let primary = *prefix == if address.is_ipv4() { 32 } else { 128 };
                management.client_address(peer.client_id, *address, primary);
            }
        }
        if self.config.common.hooks.learn_address.is_none() {
            return;
        }
        let (client, environment) = (peer.client_id, peer.environment.clone());
        let (name, networks) = (peer.name.clone(), peer.networks.clone());
        for network in networks {
            let arguments = vec!["add".to_owned(), text_of(network), name.clone()];
            let ticket = self.tell(Kind::LearnAddress, client, arguments, &environment);
            if let Some(ticket) = ticket {
                self.asked.insert(ticket, Purpose::Address(id, client, network));
            }
        }
    }

    pub(super) fn ended(&mut self, id: PeerId, end: &ServerEnd) {
        self.give_up(id);
        let counters = self.handle.counters(id.0).unwrap_or_default();
        self.handle.remove_peer(id.0);
        let Some(mut peer) = self.peers.remove(&id) else { return };
        let networks = std::mem::take(&mut peer.networks);
        self.release(&mut peer);
        self.counts.packets_received += counters.received_packets;
        self.counts.packets_sent += counters.sent_packets;
        self.counts.bytes_received += counters.received_bytes;
        self.counts.bytes_sent += counters.sent_bytes;
        if peer.cipher.is_none() && *end != ServerEnd::Rejected {
            self.counts.failed += 1;
        }
        // Anyone can open a session without a certificate.
        let level = if peer.name.is_empty() { 3 } else { 1 };
        let text = format!("{} ({}) disconnected: {end}", peer.name, peer.address);
        self.context.say(level, text.trim_start());
        if let Remote::Tcp(stream) = peer.way {
            self.streams.remove(&stream);
            self.handle.close_stream(stream);
        }
        // Without an environment it was never admitted, or nothing is told of clients.
        if peer.environment == Environment::default() {
            return;
        }
        if !self.config.many {
            if peer.cipher.is_some() {
                self.passed = self.passed + counters.into();
                self.left(end);
            }
            return;
        }
        let now = self.context.clock.now();
        let mut environment = std::mem::take(&mut peer.environment);
        let (received, sent) = (counters.received_bytes, counters.sent_bytes);
        environment.set_end(now.unix.saturating_sub(peer.since), received, sent);
        if peer.cipher.is_some() {
            for network in networks {
                let arguments = vec!["delete".to_owned(), text_of(network)];
                self.tell(Kind::LearnAddress, peer.client_id, arguments, &environment);
            }
        }
        if let Some(management) = &mut self.context.management {
            management.client(ClientEvent::Disconnect(peer.client_id), environment.iter());
        }
        self.tell(Kind::ClientDisconnect, peer.client_id, Vec::new(), &environment);
    }

    /// Ends the sessions whose time is over (`session-timeout`).
    pub(super) fn end_expired(&mut self, now: Now) {
        if self.expiry_due.is_none_or(|due| now.monotonic < due) {
            return;
        }
        let is_over = |peer: &Peer| peer.expires.is_some_and(|end| now.monotonic >= end);
        let over: Vec<PeerId> =
            self.peers.iter().filter(|(_, peer)| is_over(peer)).map(|(id, _)| *id).collect();
        for id in over {
            if let Some(peer) = self.peers.get(&id) {
                let text = format!("{} ({}): session-timeout", peer.name, peer.address);
                self.context.say(1, &text);
            }
            self.with_core(|core, link| core.kill(now, id, Some("RESTART"), link));
        }
        self.expiry_due = self.peers.values().filter_map(|peer| peer.expires).min();
    }

    /// Passes the answer to a challenge to the script or interface that sent it.
    pub(super) fn responded(&mut self, id: PeerId, text: &str) {
        let Some(Peer { client_id, .. }) = self.peers.get(&id) else { return };
        let client = *client_id;
        let number = self.admissions.get(&id).map_or(0, |admission| admission.number);
        let environment = self.context.environment();
        if let Some(management) = &mut self.context.management {
            let event = ClientEvent::Response(client, number, text);
            management.client(event, environment.iter());
        }
        let command = self.config.common.hooks.client_response.as_ref();
        let job = job(Kind::ChallengeResponse, command, Vec::new(), &environment, client);
        if let Some(mut job) = job {
            if self.context.is_busy(client) {
                return self
                    .context
                    .warn("ignoring an answer to a challenge: too many scripts wait");
            }
            job.secret = Secret::Response(text.to_owned().into());
            if let Err(error) = self.context.begin(job) {
                self.context.warn(&error);
            }
        }
    }

    /// Handles the outcomes of scripts.
    pub(super) fn take_answers(&mut self, now: Now) {
        for (ticket, kind, outcome) in self.context.decided() {
            if matches!(outcome, Outcome::Pending { .. }) {
                if let Some(Purpose::Admission(id, number)) = self.asked.get(&ticket) {
                    let (id, number) = (*id, *number);
                    self.answered(id, number, kind, outcome, now);
                }
                continue;
            }
            match (self.asked.remove(&ticket), outcome) {
                (Some(Purpose::Admission(id, number)), outcome) => {
                    self.answered(id, number, kind, outcome, now);
                }
                (Some(Purpose::Address(id, client, network)), Outcome::Refused { why, .. }) => {
                    self.context.warn(&format!("not routing {}: {why}", text_of(network)));
                    let peer = self.peers.get_mut(&id).filter(|peer| peer.client_id == client);
                    if let Some(peer) = peer {
                        peer.networks.retain(|known| *known != network);
                        self.handle.set_routes(id.0, &peer.networks);
                    }
                }
                (None, Outcome::Refused { why, .. }) => self.context.warn(&why),
                (_, Outcome::Accepted(_) | Outcome::Pending { .. }) => {}
            }
        }
    }

    /// Runs a script that only gets informed.
    fn tell(
        &mut self,
        kind: Kind,
        client: u64,
        arguments: Vec<String>,
        environment: &Environment,
    ) -> Option<crate::service::hooks::Ticket> {
        let hooks = &self.config.common.hooks;
        let command = match kind {
            Kind::LearnAddress => &hooks.learn_address,
            _ => &hooks.client_disconnect,
        };
        let job = job(kind, command.as_ref(), arguments, environment, client)?;
        match self.context.begin(job) {
            Ok(ticket) => Some(ticket),
            Err(error) => {
                self.context.warn(&error);
                None
            }
        }
    }
}

/// Formats an address, or a network with its prefix length.
fn text_of((address, prefix): (IpAddr, u8)) -> String {
    match (address, prefix) {
        (IpAddr::V4(_), 32) | (IpAddr::V6(_), 128) => address.to_string(),
        _ => format!("{address}/{prefix}"),
    }
}
