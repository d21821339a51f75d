//! Handles initial packets: a client that returns a cookie or uses a stream becomes a peer.

use std::net::SocketAddr;

use super::peer::{Peer, Stage};
use super::{PeerId, Server, ServerEnd, ServerSink};
use crate::proto::agreement;
use crate::proto::peer_info::{PeerInfo, protocol};
use crate::proto::session::{Beginning, OwnHello};
use crate::proto::tunnel::Tunnel;
use crate::proto::wire::{self, Acks, Control, Header, KeyId, Opcode, SessionId};
use crate::proto::wrap::Accepted;
use crate::proto::{Error, Now, Random, Role, Transport};

impl Server {
    /// Handles a packet without a session: the start of one, its second packet with the cookie, or
    /// garbage.
    pub(super) fn receive_unknown(
        &mut self,
        now: Now,
        from: SocketAddr,
        transport: Transport,
        opcode: Opcode,
        packet: &mut [u8],
        random: &mut Random<'_>,
        sink: &mut dyn ServerSink,
    ) -> Result<Option<PeerId>, Error> {
        let reset = match opcode {
            Opcode::HardResetClientV2 | Opcode::HardResetClientV3 => true,
            Opcode::Control | Opcode::ControlWkc | Opcode::Ack if transport == Transport::Udp => {
                false
            }
            _ => return Err(Error::Unexpected("unknown session, and not an initial packet")),
        };
        let mut accepted = self.settings.protection.accept(packet)?;
        let control = &accepted.packet;
        let session = control.header.session;
        if !reset {
            let offered =
                control.remote.ok_or(Error::Unexpected("the packet acknowledges no session"))?;
            if !self.cookies.verify(now, self.settings.timing.handshake, from, session, offered) {
                return Err(Error::NotAuthentic("unknown server session id"));
            }
            // Only message 0 was sent. A packet that acknowledges more is left over from an earlier
            // peer and must not create a new one.
            if control.acks.as_slice().iter().any(|&id| id != 0) {
                return Err(Error::Unexpected("acknowledgement of a message that was not sent"));
            }
            if control.message.is_some_and(|(id, _)| id != 1) {
                return Err(Error::Unexpected("the first message after the reset is missing"));
            }
            self.initial.prove(now, &self.cookies, from.ip());
            let begin = Beginning {
                key_id: KeyId::FIRST,
                local: offered,
                remote: Some(session),
                reset: None,
            };
            return self.add(now, from, transport, begin, accepted, random, sink);
        }
        if control.message.is_none_or(|(id, _)| id != 0)
            || control.header.key_id != KeyId::FIRST
            || control.remote.is_some()
        {
            return Err(Error::Unexpected("a reset that is not the first message"));
        }
        let answers_with_cookie =
            opcode == Opcode::HardResetClientV2 || accepted.resends_wrapped_key;
        if transport == Transport::Tcp || (!answers_with_cookie && !self.settings.force_cookie) {
            let begin = Beginning {
                key_id: KeyId::FIRST,
                local: SessionId::random(random),
                remote: Some(session),
                reset: Some(Opcode::HardResetServerV2),
            };
            return self.add(now, from, transport, begin, accepted, random, sink);
        }
        if !answers_with_cookie {
            return Err(Error::Incompatible("the client cannot return a cookie".into()));
        }
        self.initial.allow(now, &self.cookies, from.ip(), self.settings.initial)?;
        let local = self.cookies.session_id(now, self.settings.timing.handshake, from, session);
        let payload: &[u8] =
            if accepted.resends_wrapped_key { &wire::RESEND_WRAPPED_KEY } else { &[] };
        let answer = Control {
            header: Header {
                opcode: Opcode::HardResetServerV2,
                key_id: KeyId::FIRST,
                session: local,
            },
            acks: Acks::from_iter([0]),
            remote: Some(session),
            message: Some((0, payload)),
        };
        accepted.protection.seal(now, &answer, &mut self.buffer)?;
        sink.send(None, from, &self.buffer);
        Ok(None)
    }

    fn add(
        &mut self,
        now: Now,
        address: SocketAddr,
        transport: Transport,
        beginning: Beginning,
        accepted: Accepted<'_>,
        random: &mut Random<'_>,
        sink: &mut dyn ServerSink,
    ) -> Result<Option<PeerId>, Error> {
        if self.len() - self.half_open.len() >= self.settings.max_clients {
            return Err(Error::Full(super::MAX_CLIENTS));
        }
        self.connections.allow(now, self.settings.connections)?;
        if let Some(evicted) = self.half_open.evict() {
            self.end(evicted, ServerEnd::Evicted, sink);
        }
        let Accepted { protection, client_key, packet: control, .. } = accepted;
        let session = control.header.session;
        let mut tunnel = Tunnel::new(
            now,
            Role::Server,
            beginning,
            protection,
            self.settings.tls.clone(),
            self.settings.timing,
            self.own_hello(transport),
            random,
        )?;
        tunnel.limit_packets(self.settings.max_control_packet);
        let peer = Peer {
            tunnel,
            transport,
            address,
            session,
            earlier_ids: Vec::new(),
            stage: Stage::Connecting,
            deadline: None,
            refused_move: None,
            info: PeerInfo::default(),
            options: String::new(),
            pushed: None,
            answers: 0,
            exit_by_control: false,
            owner: None,
            client_key,
        };
        let id = match self.free.pop_first() {
            Some(index) => PeerId(index),
            None => {
                self.peers.push(None);
                PeerId(self.peers.len() as u32 - 1)
            }
        };
        let peer = self.peers[id.0 as usize].insert(peer);
        self.sessions.insert((address, session), id);
        self.half_open.add(id, address.ip(), now);
        let mut events = Vec::new();
        let result = peer.tunnel.take(now, &control, random, &mut events);
        self.after(now, id, result, events, sink).map(|()| Some(id))
    }

    fn own_hello(&self, transport: Transport) -> OwnHello {
        let (udp, tcp) = &self.settings.options;
        let options = match transport {
            Transport::Udp => udp,
            Transport::Tcp => tcp,
        };
        // A server for many announces no capabilities: it chooses.
        let mut bits = agreement::POINT_TO_POINT;
        if self.settings.epochs {
            bits |= protocol::DATA_EPOCH;
        }
        let info = (!self.settings.many)
            .then(|| agreement::introduction(&self.settings.ciphers, bits, &[]));
        OwnHello {
            options: options.clone(),
            peer_info: info.map(|info| info.to_string()).unwrap_or_default(),
            ..OwnHello::default()
        }
    }
}
