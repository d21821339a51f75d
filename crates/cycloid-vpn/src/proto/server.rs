//! The server's end: many peers, and those that may become one.
//!
//! Over UDP a first packet costs nothing but the answer: the session id of the answer is a MAC of
//! the address, the client's session id and the time, and only who returns it gets a place. Where
//! control packets are protected by a key, one that does not verify has no answer at all.

mod arrival;
mod decision;
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
use super::tunnel::{Failure, Sink, Told};
use super::wire::{Header, SessionId};
use super::{Error, Now, Random, Transport};
use arrival::InitialRate;
use peer::{Peer, PeerSink, Stage};

/// Many peers.
pub struct Server {
    settings: ServerSettings,
    cookies: CookieKey,
    peers: Vec<Option<Peer>>,
    free: BTreeSet<u32>,
    /// By address and the client's session id.
    sessions: HashMap<(SocketAddr, SessionId), PeerId>,
    deadlines: BTreeSet<(Duration, PeerId)>,
    initial: InitialRate,
    buffer: Vec<u8>,
}

impl Server {
    /// A server without peers.
    pub fn new(settings: ServerSettings, random: &mut Random<'_>) -> Self {
        Self {
            settings,
            cookies: CookieKey::generate(random),
            peers: Vec::new(),
            free: BTreeSet::new(),
            sessions: HashMap::new(),
            deadlines: BTreeSet::new(),
            initial: InitialRate::default(),
            buffer: Vec::with_capacity(2048),
        }
    }

    /// When [`tick`](Self::tick) is due.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// How many have a place.
    pub fn len(&self) -> usize {
        self.peers.len() - self.free.len()
    }

    /// Whether nobody has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a peer is.
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.peer(peer).map(|peer| peer.address)
    }

    /// Certificates and keys for all sessions to come: after `crl-verify` or a certificate changed.
    pub fn set_tls(&mut self, tls: TlsFactory) {
        for peer in self.peers.iter_mut().flatten() {
            peer.tunnel.set_tls(tls.clone());
        }
        self.settings.tls = tls;
    }

    /// Takes a control packet that came by this transport, and says whose it is, if the sender has a
    /// place. A packet that is dropped gives the reason, for a log.
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
        let mut told = Vec::new();
        let known = self.peer_mut(peer).expect("a session has a peer");
        let result = known.tunnel.receive(now, packet, random, &mut told);
        self.after(now, peer, result, told, sink).map(|()| Some(peer))
    }

    /// Acts on what a packet told, sends what is to be sent, and notes the next deadline.
    fn after(
        &mut self,
        now: Now,
        peer: PeerId,
        result: Result<(), Failure>,
        told: Vec<Told>,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let mut outcome = match result {
            Err(Failure::Dropped(error)) => {
                // Without a deadline a peer that has just been given its place would keep it.
                self.note_deadline(peer);
                return Err(error);
            }
            Err(Failure::Ended(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        for event in told {
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
        told: Told,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let Some(peer) = self.peer_mut(id) else { return Ok(()) };
        match told {
            Told::Hello(key_id, hello) => peer.take_hello(id, key_id, *hello, sink),
            Told::Judge(_) | Told::Answered(..) => {
                Err(Error::Unexpected("a server's answer from a client"))
            }
            Told::Text(text) => match Message::parse(&text)? {
                Message::PushRequest => self.push(now, id, sink),
                Message::Exit => {
                    self.end(id, ServerEnd::Exit, sink);
                    Ok(())
                }
                Message::CrResponse { text } => {
                    sink.notify(id, ServerNotice::Response(text.to_owned()));
                    Ok(())
                }
                _ => Ok(()),
            },
        }
    }

    /// An authentic packet of this peer came from another address. Refused where another peer is.
    pub fn float(&mut self, id: PeerId, to: SocketAddr) -> Result<(), Error> {
        if self.peers.iter().flatten().any(|peer| peer.address == to) {
            return Err(Error::Unexpected("another peer is at that address"));
        }
        let Some(peer) = self.peer_mut(id) else {
            return Err(Error::Unexpected("the peer is gone"));
        };
        let (from, session) = (std::mem::replace(&mut peer.address, to), peer.session);
        self.sessions.remove(&(from, session));
        self.sessions.insert((to, session), id);
        Ok(())
    }

    /// Begins a new key with a peer now.
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

    /// Ends a peer. `message` is said to it first: `RESTART`, `HALT`, `EXIT`. The one peer of a server
    /// that pushes nothing knows no more than that this end leaves.
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

    /// The stream of a peer was closed.
    pub fn disconnected(&mut self, address: SocketAddr, sink: &mut dyn ServerSink) {
        let gone: Vec<PeerId> =
            self.sessions.iter().filter(|((at, _), _)| *at == address).map(|(_, &id)| id).collect();
        for id in gone {
            self.end(id, ServerEnd::Failed(Error::Tls("the connection was closed".into())), sink);
        }
    }

    /// Does what is due.
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
        self.free.insert(id.0);
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
