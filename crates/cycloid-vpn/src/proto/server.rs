//! The server end of the protocol: established peers and connecting clients.
//!
//! Over UDP an initial packet costs only the answer. The answer's session id is a MAC of the
//! address, the client's session id and the time; only a client that returns it gets a peer entry.
//! If a key protects control packets, a packet that does not verify gets no answer.

mod connect_rate;
mod decision;
mod half_open;
mod initial_packets;
mod initial_rate;
mod interface;
mod peer;

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

pub use interface::{
    PeerConnected, PeerId, ServerEnd, ServerNotice, ServerSettings, ServerSink, Verify,
};

use super::cookie::CookieKey;
use super::data;
use super::message::Message;
use super::tls::TlsFactory;
use super::tunnel::{Failure, Sink, TunnelEvent};
use super::wire::{Header, SessionId};
use super::{Error, Now, Random, Transport};
use connect_rate::ConnectRate;
use half_open::HalfOpen;
use initial_rate::InitialRate;
pub(crate) use initial_rate::network;
use peer::{Peer, PeerSink, Stage};

/// The name of the limit, for messages.
const MAX_CLIENTS: &str = "max-clients";

/// How long a peer whose move was refused counts as about to leave its address. Longer than the
/// interval at which moves are repeated.
const REFUSED_MOVE_TIME: Duration = Duration::from_secs(3);

/// The most ids of earlier peers that a peer at their address keeps from others.
const EARLIER_IDS: usize = 4;

/// A server and its peers.
pub struct Server {
    settings: ServerSettings,
    cookies: CookieKey,
    peers: Vec<Option<Peer>>,
    free: BTreeSet<u32>,
    /// The number of ids in the peers' `earlier_ids`.
    kept_ids: usize,
    /// Peers by address and the client's session id.
    sessions: HashMap<(SocketAddr, SessionId), PeerId>,
    deadlines: BTreeSet<(Duration, PeerId)>,
    initial: InitialRate,
    connections: ConnectRate,
    half_open: HalfOpen,
    buffer: Vec<u8>,
}

impl Server {
    /// Returns a server without peers.
    pub fn new(settings: ServerSettings, random: &mut Random<'_>) -> Self {
        Self {
            settings,
            cookies: CookieKey::generate(random),
            peers: Vec::new(),
            free: BTreeSet::new(),
            kept_ids: 0,
            sessions: HashMap::new(),
            deadlines: BTreeSet::new(),
            initial: InitialRate::default(),
            connections: ConnectRate::default(),
            half_open: HalfOpen::default(),
            buffer: Vec::with_capacity(2048),
        }
    }

    /// Returns when [`tick`](Self::tick) is due.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Returns the number of peers.
    pub fn len(&self) -> usize {
        self.peers.len() - self.free.len() - self.kept_ids
    }

    /// Returns whether there are no peers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of a peer.
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.peer(peer).map(|peer| peer.address)
    }

    /// Sets certificates and keys for all later sessions, after `crl-verify` or a certificate
    /// changed.
    pub fn set_tls(&mut self, tls: TlsFactory) {
        for peer in self.peers.iter_mut().flatten() {
            peer.tunnel.set_tls(tls.clone());
        }
        self.settings.tls = tls;
    }

    /// Processes a control packet. Returns the sender's peer id, if it has one. An error is the
    /// reason why the packet was dropped, for the log.
    pub fn receive(
        &mut self,
        now: Now,
        from: SocketAddr,
        transport: Transport,
        packet: &mut [u8],
        random: &mut Random<'_>,
        sink: &mut dyn ServerSink,
    ) -> Result<Option<PeerId>, Error> {
        self.settings.tls.set_time(now.unix);
        let Header { opcode, session, .. } = Header::parse(packet)?;
        let Some(&peer) = self.sessions.get(&(from, session)) else {
            return self.receive_unknown(now, from, transport, opcode, packet, random, sink);
        };
        let mut events = Vec::new();
        let known = self.peer_mut(peer).expect("a session has a peer");
        let result = known.tunnel.receive(now, packet, random, &mut events);
        if result.is_ok() {
            self.half_open.heard(peer, now);
        }
        self.after(now, peer, result, events, sink).map(|()| Some(peer))
    }

    /// Continues handshakes after [steps elsewhere](super::tls::Elsewhere) have ended.
    pub fn proceed(&mut self, now: Now, sink: &mut dyn ServerSink) {
        let is_away = |peer: &&Peer| peer.tunnel.is_away();
        let away: Vec<PeerId> = (0..)
            .map(PeerId)
            .zip(&self.peers)
            .filter_map(|(id, peer)| peer.as_ref().filter(is_away).map(|_| id))
            .collect();
        for id in away {
            let mut events = Vec::new();
            let Some(peer) = self.peer_mut(id) else { continue };
            let result = peer.tunnel.proceed(now, &mut events);
            // An error here only drops packets, and there is none.
            let _ = self.after(now, id, result, events, sink);
        }
    }

    /// Acts on the outcome of a packet, transmits, and records the next deadline.
    fn after(
        &mut self,
        now: Now,
        peer: PeerId,
        result: Result<(), Failure>,
        events: Vec<TunnelEvent>,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let mut outcome = match result {
            Err(Failure::Dropped(error)) => {
                // Without a deadline, a peer that was just created would never be removed.
                self.note_deadline(peer);
                return Err(error);
            }
            Err(Failure::Ended(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        for event in events {
            if outcome.is_ok() {
                outcome = self.act(now, peer, event, sink);
            }
        }
        self.settle(now, peer, outcome, sink);
        Ok(())
    }

    fn settle(
        &mut self,
        now: Now,
        id: PeerId,
        outcome: Result<(), Error>,
        sink: &mut dyn ServerSink,
    ) {
        let Some(peer) = self.peer_mut(id) else { return };
        let mut own = PeerSink { sink, peer: id, address: peer.address };
        let sent = peer.tunnel.transmit(now, &mut own);
        if let Some(error) = peer.tunnel.take_failure() {
            // A decision about the failed session is not needed any more.
            if matches!(peer.stage, Stage::Verifying(_)) {
                peer.stage = Stage::Up;
            }
            sink.notify(id, ServerNotice::RenegotiationFailed(error));
        }
        match outcome.and(sent) {
            Ok(()) => self.note_deadline(id),
            Err(error) => self.end(id, ServerEnd::Failed(error), sink),
        }
    }

    fn note_deadline(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        let next = peer.tunnel.deadline();
        if next != peer.deadline {
            if let Some(old) = peer.deadline {
                self.deadlines.remove(&(old, id));
            }
            if let Some(next) = next {
                self.deadlines.insert((next, id));
            }
            peer.deadline = next;
        }
    }

    fn act(
        &mut self,
        now: Now,
        id: PeerId,
        event: TunnelEvent,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let verified = self.len() - self.half_open.len();
        let limit = self.settings.max_clients;
        let Some(peer) = self.peer_mut(id) else { return Ok(()) };
        match event {
            TunnelEvent::Hello(key_id, hello) => {
                if matches!(peer.stage, Stage::Connecting) && verified >= limit {
                    peer.tunnel.abandon();
                    return Err(Error::Full(MAX_CLIENTS));
                }
                let taken = peer.take_hello(id, key_id, *hello, sink);
                self.half_open.remove(id);
                taken
            }
            TunnelEvent::Judge(_) | TunnelEvent::Answered(..) => {
                Err(Error::Unexpected("server answer from a client"))
            }
            TunnelEvent::Text(text) => match Message::parse(&text)? {
                Message::PushRequest => self.push(now, id, sink),
                Message::Exit => {
                    self.end(id, ServerEnd::Exit, sink);
                    Ok(())
                }
                Message::CrResponse { text } => {
                    if peer.may_answer()? {
                        sink.notify(id, ServerNotice::Response(text.to_owned()));
                    }
                    Ok(())
                }
                _ => Ok(()),
            },
        }
    }

    /// Moves a peer to another address, from which its latest authentic packet came. Fails while
    /// another peer is connected at that address, unless that peer wants to leave it: then two
    /// peers behind a NAT swap their addresses. The caller repeats a failed move.
    pub fn float(&mut self, now: Now, id: PeerId, to: SocketAddr) -> Result<(), Error> {
        let time = now.monotonic;
        let stays = |peer: &Peer| peer.refused_move.is_none_or(|at| time > at + REFUSED_MOVE_TIME);
        let taken = (0..).map(PeerId).zip(&self.peers).any(|(other, peer)| {
            other != id && peer.as_ref().is_some_and(|peer| peer.address == to && stays(peer))
        });
        let Some(peer) = self.peer_mut(id) else {
            return Err(Error::Unexpected("the peer has left"));
        };
        peer.refused_move = taken.then_some(time);
        if taken {
            return Err(Error::Unexpected("another peer has that address"));
        }
        let (from, session) = (std::mem::replace(&mut peer.address, to), peer.session);
        self.sessions.remove(&(from, session));
        self.sessions.insert((to, session), id);
        Ok(())
    }

    /// Starts a renegotiation with a peer.
    pub fn renegotiate(
        &mut self,
        now: Now,
        id: PeerId,
        random: &mut Random<'_>,
        sink: &mut dyn ServerSink,
    ) {
        if let Some(peer) = self.peer_mut(id) {
            let outcome = peer.tunnel.renegotiate(now, random);
            self.settle(now, id, outcome, sink);
        }
    }

    /// Ends a peer after sending `message`: `RESTART`, `HALT` or `EXIT`. A point-to-point peer only
    /// gets an exit notification.
    pub fn kill(&mut self, now: Now, id: PeerId, message: Option<&str>, sink: &mut dyn ServerSink) {
        let many = self.settings.many;
        let Some(peer) = self.peer_mut(id) else { return };
        let mut own = PeerSink { sink, peer: id, address: peer.address };
        match message {
            None => {}
            Some(_) if !many && !peer.exit_by_control => own.send_data(&data::OCC_EXIT),
            Some(text) => {
                let said = peer.tunnel.send_text(if many { text } else { "EXIT" });
                let _ = said.and_then(|()| peer.tunnel.transmit(now, &mut own));
            }
        }
        self.end(id, ServerEnd::Killed, sink);
    }

    /// Handles the close of a peer's stream.
    pub fn disconnected(&mut self, address: SocketAddr, sink: &mut dyn ServerSink) {
        let gone: Vec<PeerId> =
            self.sessions.iter().filter(|((at, _), _)| *at == address).map(|(_, &id)| id).collect();
        for id in gone {
            self.end(id, ServerEnd::Failed(Error::Tls("the connection was closed".into())), sink);
        }
    }

    /// Performs due actions.
    pub fn tick(&mut self, now: Now, random: &mut Random<'_>, sink: &mut dyn ServerSink) {
        self.settings.tls.set_time(now.unix);
        while let Some(&(deadline, id)) = self.deadlines.first() {
            if deadline > now.monotonic {
                break;
            }
            self.deadlines.remove(&(deadline, id));
            let Some(peer) = self.peers.get_mut(id.0 as usize).and_then(Option::as_mut) else {
                continue;
            };
            peer.deadline = None;
            let mut own = PeerSink { sink, peer: id, address: peer.address };
            let outcome = match peer.tunnel.tick(now, random, &mut own) {
                Ok(()) => Ok(()),
                Err(Failure::Dropped(error) | Failure::Ended(error)) => Err(error),
            };
            self.settle(now, id, outcome, sink);
        }
    }

    fn end(&mut self, id: PeerId, end: ServerEnd, sink: &mut dyn ServerSink) {
        let Some(peer) = self.peers.get_mut(id.0 as usize).and_then(Option::take) else { return };
        if let Some(deadline) = peer.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        self.sessions.remove(&(peer.address, peer.session));
        self.half_open.remove(id);
        self.kept_ids -= peer.earlier_ids.len();
        let mut ids = peer.earlier_ids;
        ids.push(id.0);
        // The client may begin a new session within its connection. OpenVPN then keeps its old id in
        // its packets, so no other client may get that id.
        let mut there = self.sessions.iter().filter(|((at, _), _)| *at == peer.address);
        let next = if peer.pushed.is_some() { there.next().map(|(_, &next)| next) } else { None };
        if let Some(next) = next.and_then(|next| self.peer_mut(next)) {
            let kept = ids.len().min(EARLIER_IDS - next.earlier_ids.len());
            next.earlier_ids.extend(ids.drain(..kept));
            self.kept_ids += kept;
        }
        self.free.extend(ids);
        let end = if matches!(peer.stage, Stage::Rejected) { ServerEnd::Rejected } else { end };
        sink.notify(id, ServerNotice::Ended(end));
    }

    fn peer(&self, id: PeerId) -> Option<&Peer> {
        self.peers.get(id.0 as usize).and_then(Option::as_ref)
    }

    fn peer_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.get_mut(id.0 as usize).and_then(Option::as_mut)
    }
}
