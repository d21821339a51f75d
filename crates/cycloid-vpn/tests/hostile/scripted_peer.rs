//! A scripted peer: sends arbitrary control packets without protection, over TLS that behaves
//! correctly.

use std::net::SocketAddr;
use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::client::ClientNotice;
use cycloid_vpn::proto::key_method::{Credentials, Hello, KeySource};
use cycloid_vpn::proto::reliable::{ReceiveWindow, SendWindow};
use cycloid_vpn::proto::tls::{Tls, TlsFactory};
use cycloid_vpn::proto::wire::{
    Acks, Control, HEADER_LEN, Header, KeyId, Opcode, SessionId, first_byte,
};
use cycloid_vpn::proto::{Error, Transport};

use crate::support::simulation::{World, now};

/// A session of a scripted peer.
pub(crate) struct ScriptedPeer {
    role: Role,
    key_id: KeyId,
    pub(crate) local: SessionId,
    pub(crate) remote: Option<SessionId>,
    send: SendWindow,
    receive: ReceiveWindow,
    tls: Tls,
    outgoing: Vec<u8>,
    /// The records received inside TLS.
    pub(crate) heard: Vec<Vec<u8>>,
    /// The address that packets are sent from or to.
    pub(crate) address: SocketAddr,
    /// The server's errors about the last packets.
    pub(crate) refusals: Vec<Error>,
}

/// Returns a packet without protection.
pub(crate) fn packet(control: &Control<'_>) -> Vec<u8> {
    let mut packet = control.header.to_bytes().to_vec();
    control.write_body(&mut packet);
    packet
}

/// Returns a reset with arbitrary contents of the first message.
pub(crate) fn reset(opcode: Opcode, session: SessionId, id: u32) -> Vec<u8> {
    let header = Header { opcode, key_id: KeyId::FIRST, session };
    packet(&Control { header, acks: Acks::default(), remote: None, message: Some((id, &[])) })
}

impl ScriptedPeer {
    /// Returns a client that has not sent anything yet.
    pub(crate) fn client(world: &mut World, tls: &TlsFactory, address: &str) -> Self {
        let mut random = |bytes: &mut [u8]| world.dice.fill(bytes);
        let local = SessionId::random(&mut random);
        let mut puppet = Self::new(Role::Client, KeyId::FIRST, local, None, tls, world, address);
        puppet.send.push(Opcode::HardResetClientV2, &[]);
        puppet
    }

    /// Returns a server that a world's client talks to instead of the world's server.
    pub(crate) fn server(world: &mut World, tls: &TlsFactory) -> Self {
        let mut random = |bytes: &mut [u8]| world.dice.fill(bytes);
        let local = SessionId::random(&mut random);
        let address = world.client_address.to_string();
        let mut puppet = Self::new(Role::Server, KeyId::FIRST, local, None, tls, world, &address);
        puppet.send.push(Opcode::HardResetServerV2, &[]);
        puppet
    }

    /// Returns the same peer's session for the next key.
    pub(crate) fn renegotiation(&self, world: &World, tls: &TlsFactory) -> Self {
        let address = self.address.to_string();
        let key_id = self.key_id.next();
        let mut next = Self::new(self.role, key_id, self.local, self.remote, tls, world, &address);
        next.send.push(Opcode::SoftReset, &[]);
        next
    }

    fn new(
        role: Role,
        key_id: KeyId,
        local: SessionId,
        remote: Option<SessionId>,
        tls: &TlsFactory,
        world: &World,
        address: &str,
    ) -> Self {
        tls.set_time(now(world.time).unix);
        Self {
            role,
            key_id,
            local,
            remote,
            send: SendWindow::default(),
            receive: ReceiveWindow::default(),
            tls: tls.connect().expect("TLS"),
            outgoing: Vec::new(),
            heard: Vec::new(),
            address: address.parse().expect("an address"),
            refusals: Vec::new(),
        }
    }

    /// Processes a packet from the other end.
    fn take(&mut self, bytes: &[u8]) {
        let header = Header::parse(bytes).expect("a control packet");
        if first_byte(bytes[0]).expect("a control packet").1 != self.key_id {
            return;
        }
        let control = Control::parse_body(header, &bytes[HEADER_LEN..]).expect("a control packet");
        self.remote = Some(header.session);
        for id in control.acks.as_slice() {
            self.send.acknowledge(*id);
        }
        if let Some((id, content)) = control.message {
            self.receive.accept(id, header.opcode, content);
        }
        while let Some((opcode, content)) = self.receive.pop_in_order() {
            if opcode == Opcode::Control {
                let heard = &mut self.heard;
                // Some tests wait for an alert.
                let _ = self.tls.receive(&content, |text| heard.push(text.to_vec()));
            }
        }
    }

    /// Returns all packets that are due.
    fn packets(&mut self, time: Duration) -> Vec<Vec<u8>> {
        if self.remote.is_some() {
            self.tls.take_output(&mut self.outgoing);
        }
        while !self.outgoing.is_empty() && self.send.has_room() {
            let end = self.outgoing.len().min(1000);
            self.send.push(Opcode::Control, &self.outgoing[..end]);
            self.outgoing.drain(..end);
        }
        let (key_id, session) = (self.key_id, self.local);
        let mut packets = Vec::new();
        while let Some(due) = self.send.next_due(time) {
            let acks = self.receive.take_acks(4);
            packets.push(packet(&Control {
                header: Header { opcode: due.opcode, key_id, session },
                remote: self.remote.filter(|_| !acks.is_empty()),
                acks,
                message: Some((due.id, due.content)),
            }));
        }
        while self.receive.owes_acks() {
            let acks = self.receive.take_acks(8);
            let header = Header { opcode: Opcode::Ack, key_id, session };
            packets.push(packet(&Control { header, acks, remote: self.remote, message: None }));
        }
        packets
    }

    /// Sends a text inside TLS, in its own record.
    pub(crate) fn say(&mut self, text: &[u8]) {
        self.tls.send(text).expect("TLS takes it");
    }

    /// Sends the hello and, in the same record, `rest`.
    pub(crate) fn say_hello(&mut self, user: &str, password: &str, info: &str, rest: &[u8]) {
        let hello = Hello {
            source: KeySource::generate(self.role, &mut |bytes: &mut [u8]| bytes.fill(7)),
            options: "V4,tls-client",
            credentials: Some(Credentials { username: user, password }),
            peer_info: info,
        };
        let mut message = Vec::new();
        hello.write(self.role, &mut message).expect("a hello");
        message.extend_from_slice(rest);
        self.say(&message);
    }

    /// Exchanges packets with the world's server until both are silent. Decisions stay pending in
    /// `server_side.verify`.
    pub(crate) fn talk(&mut self, world: &mut World) {
        loop {
            let packets = self.packets(world.time);
            if packets.is_empty() {
                return;
            }
            for mut packet in packets {
                let World { dice, server, server_side, time, .. } = world;
                let result = server.receive(
                    now(*time),
                    self.address,
                    Transport::Udp,
                    &mut packet,
                    &mut |bytes: &mut [u8]| dice.fill(bytes),
                    server_side,
                );
                self.refusals.extend(result.err());
                self.listen(world);
            }
        }
    }

    /// Processes packets that the server has sent to this address.
    pub(crate) fn listen(&mut self, world: &mut World) {
        let (own, others): (Vec<_>, Vec<_>) = std::mem::take(&mut world.server_side.outbox)
            .into_iter()
            .partition(|(to, _)| *to == self.address);
        world.server_side.outbox = others;
        for (_, packet) in own {
            self.take(&packet);
        }
    }

    /// Like [`talk`](Self::talk), with the world's client.
    pub(crate) fn talk_to_client(&mut self, world: &mut World) {
        let mut quiet = false;
        while !quiet {
            let moment = now(world.time);
            let World { dice, client, client_side, .. } = world;
            let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
            let mut notices: Vec<ClientNotice> = Vec::new();
            if client.deadline().is_some_and(|deadline| deadline <= moment.monotonic) {
                client.tick(moment, random, client_side, &mut |notice| notices.push(notice));
            }
            notices.into_iter().for_each(|notice| client_side.take(notice));
            quiet = client_side.outbox.is_empty();
            for packet in std::mem::take(&mut client_side.outbox) {
                self.take(&packet);
            }
            if self.remote.is_some() {
                let packets = self.packets(world.time);
                quiet &= packets.is_empty();
                packets.into_iter().for_each(|packet| world.client_receives(packet));
            }
        }
    }

    /// Completes TLS and sends the hello, without a decision.
    pub(crate) fn introduce(&mut self, world: &mut World, user: &str) {
        self.talk(world);
        self.say_hello(user, "secret", "IV_PROTO=2\nIV_CIPHERS=AES-256-GCM\n", b"");
        self.talk(world);
    }

    /// Returns whether a received text starts with these bytes.
    pub(crate) fn has_heard(&self, start: &[u8]) -> bool {
        self.heard.iter().any(|text| text.starts_with(start))
    }
}
