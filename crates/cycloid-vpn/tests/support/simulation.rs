//! A simulated client and server with a network between them and a minimal data path.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cycloid_vpn::proto::client::{Client, ClientEnd, ClientNotice, ClientSettings, Connected};
use cycloid_vpn::proto::data::{self, Cipher, Digest, Framing, Opener, PING, Sealer};
use cycloid_vpn::proto::push::{Filter, PushReply};
use cycloid_vpn::proto::server::{
    PeerId, Server, ServerEnd, ServerNotice, ServerSettings, ServerSink, Verify,
};
use cycloid_vpn::proto::timing::Timing;
use cycloid_vpn::proto::tls::TlsFactory;
use cycloid_vpn::proto::tunnel::{DataKeys, Sink, Traffic};
use cycloid_vpn::proto::wire::{self, KeyId};
use cycloid_vpn::proto::wrap::ProtectionKey;
use cycloid_vpn::proto::{Error, MAX_CONTROL_PACKET, Now, Transport};

use super::Dice;
use super::network::{Network, Weather};

/// 1 November 2026.
pub(crate) const START: u64 = 1_793_491_200;

pub(crate) fn now(time: Duration) -> Now {
    Now { monotonic: time, unix: START + time.as_secs() }
}

/// The data channel keys in use, and the received packets.
#[derive(Default)]
pub(crate) struct DataPath {
    sealers: HashMap<u8, Arc<Sealer>>,
    openers: HashMap<u8, Opener>,
    send_under: Option<u8>,
    pub(crate) traffic: Traffic,
    /// Received inner packets, without pings.
    pub(crate) inbox: Vec<Vec<u8>>,
    pub(crate) keys_installed: u32,
}

impl DataPath {
    fn install(&mut self, keys: DataKeys) {
        let id = keys.key_id.get();
        self.keys_installed += 1;
        self.sealers.insert(id, keys.sealer);
        self.openers.insert(id, keys.opener);
        if keys.send {
            self.send_under = Some(id);
        }
    }

    fn send_under(&mut self, key_id: KeyId) {
        assert!(self.sealers.contains_key(&key_id.get()), "a key that was not installed");
        self.send_under = Some(key_id.get());
    }

    fn retire(&mut self, key_id: KeyId) {
        assert_ne!(self.send_under, Some(key_id.get()), "the key in use was retired");
        self.sealers.remove(&key_id.get());
        self.openers.remove(&key_id.get());
    }

    /// Returns the key used for sending.
    pub(crate) fn sealer(&self) -> Option<&Arc<Sealer>> {
        self.sealers.get(&self.send_under?)
    }

    pub(crate) fn seal(&mut self, inner: &[u8]) -> Option<Vec<u8>> {
        let mut sealer = Arc::clone(self.sealer()?);
        let id = loop {
            match sealer.reserve(1) {
                Ok(mut ids) => break ids.next()?,
                Err(_) => sealer = sealer.successor()?,
            }
        };
        self.sealers.insert(self.send_under?, Arc::clone(&sealer));
        let mut packet = vec![0; inner.len() + sealer.overhead()];
        let length = sealer.seal(id, &[inner], &mut packet).expect("room enough");
        packet.truncate(length);
        self.traffic.sent_packets += 1;
        self.traffic.sent_bytes += length as u64;
        self.traffic.inner_bytes += inner.len() as u64;
        Some(packet)
    }

    pub(crate) fn open(&mut self, mut packet: Vec<u8>) {
        let Some((key_id, _)) = data::data_header(&packet) else { return };
        let Some(opener) = self.openers.get_mut(&key_id.get()) else { return };
        let length = packet.len() as u64;
        if let Ok(inner) = opener.open(&mut packet) {
            self.traffic.received_packets += 1;
            self.traffic.received_bytes += length;
            self.traffic.inner_bytes += inner.len() as u64;
            if *inner != PING {
                self.inbox.push(inner.to_vec());
            }
        }
    }
}

/// A client's data channel outside of the program.
pub(crate) trait Outside {
    fn install(&mut self, keys: &DataKeys);
    fn send_under(&mut self, key_id: KeyId);
    fn retire(&mut self, key_id: KeyId);
    /// Takes a data packet of the server.
    fn arrive(&mut self, packet: &[u8]);
    fn traffic(&mut self) -> Traffic;
}

/// Actions and notices of a client.
#[derive(Default)]
pub(crate) struct ClientSide {
    /// In place of `path`.
    pub(crate) outside: Option<Box<dyn Outside>>,
    pub(crate) outbox: Vec<Vec<u8>>,
    pub(crate) path: DataPath,
    pub(crate) connected: Option<Connected>,
    pub(crate) renegotiated: u32,
    pub(crate) end: Option<ClientEnd>,
    pub(crate) other: Vec<ClientNotice>,
}

impl ClientSide {
    pub(crate) fn take(&mut self, notice: ClientNotice) {
        match notice {
            ClientNotice::Connected(connected) => self.connected = Some(*connected),
            ClientNotice::Renegotiated => self.renegotiated += 1,
            ClientNotice::Ended(end) => self.end = Some(end),
            other => self.other.push(other),
        }
    }
}

impl Sink for ClientSide {
    fn send(&mut self, packet: &[u8]) {
        assert!(packet.len() <= MAX_CONTROL_PACKET + 1100, "a long packet");
        self.outbox.push(packet.to_vec());
    }
    fn install(&mut self, keys: DataKeys) {
        match &mut self.outside {
            Some(outside) => outside.install(&keys),
            None => self.path.install(keys),
        }
    }
    fn send_under(&mut self, key_id: KeyId) {
        match &mut self.outside {
            Some(outside) => outside.send_under(key_id),
            None => self.path.send_under(key_id),
        }
    }
    fn retire(&mut self, key_id: KeyId) {
        match &mut self.outside {
            Some(outside) => outside.retire(key_id),
            None => self.path.retire(key_id),
        }
    }
    fn send_data(&mut self, inner: &[u8]) {
        assert!(self.outside.is_none(), "data is sent outside");
        self.outbox.extend(self.path.seal(inner));
    }
    fn traffic(&mut self) -> Traffic {
        self.outside.as_mut().map_or(self.path.traffic, |outside| outside.traffic())
    }
}

/// Actions and notices of a server.
#[derive(Default)]
pub(crate) struct ServerSide {
    pub(crate) outbox: Vec<(SocketAddr, Vec<u8>)>,
    pub(crate) paths: HashMap<PeerId, DataPath>,
    pub(crate) verify: Vec<(PeerId, Box<Verify>)>,
    pub(crate) connected: Vec<(PeerId, SocketAddr)>,
    pub(crate) renegotiated: u32,
    pub(crate) failures: Vec<Error>,
    pub(crate) responses: Vec<String>,
    pub(crate) ended: Vec<(PeerId, ServerEnd)>,
    pub(crate) addresses: HashMap<PeerId, SocketAddr>,
}

impl ServerSink for ServerSide {
    fn send(&mut self, _: Option<PeerId>, to: SocketAddr, packet: &[u8]) {
        self.outbox.push((to, packet.to_vec()));
    }
    fn install(&mut self, peer: PeerId, keys: DataKeys) {
        self.paths.entry(peer).or_default().install(keys);
    }
    fn send_under(&mut self, peer: PeerId, key_id: KeyId) {
        self.paths.get_mut(&peer).expect("a peer with keys").send_under(key_id);
    }
    fn retire(&mut self, peer: PeerId, key_id: KeyId) {
        self.paths.get_mut(&peer).expect("a peer with keys").retire(key_id);
    }
    fn send_data(&mut self, peer: PeerId, inner: &[u8]) {
        let packet = self.paths.get_mut(&peer).and_then(|path| path.seal(inner));
        if let (Some(packet), Some(address)) = (packet, self.addresses.get(&peer)) {
            self.outbox.push((*address, packet));
        }
    }
    fn traffic(&mut self, peer: PeerId) -> Traffic {
        self.paths.get(&peer).map(|path| path.traffic).unwrap_or_default()
    }
    fn notify(&mut self, peer: PeerId, notice: ServerNotice) {
        match notice {
            ServerNotice::Verify(verify) => self.verify.push((peer, verify)),
            ServerNotice::Connected(connected) => {
                self.addresses.insert(peer, connected.address);
                self.connected.push((peer, connected.address));
            }
            ServerNotice::Renegotiated => self.renegotiated += 1,
            ServerNotice::RenegotiationFailed(error) => self.failures.push(error),
            ServerNotice::Response(text) => self.responses.push(text),
            ServerNotice::Ended(end) => {
                self.paths.remove(&peer);
                self.addresses.remove(&peer);
                self.ended.push((peer, end));
            }
        }
    }
}

/// The destination of a packet.
#[derive(Clone, Debug)]
pub(crate) enum To {
    Client(SocketAddr),
    Server { from: SocketAddr },
}

impl To {
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

/// A server's decision about a client.
pub(crate) type Judge = Box<dyn FnMut(&Verify) -> Result<PushReply, String>>;

/// Both ends with a network and a clock.
pub(crate) struct World {
    pub(crate) time: Duration,
    pub(crate) dice: Dice,
    pub(crate) network: Network<To>,
    pub(crate) client: Client,
    pub(crate) client_side: ClientSide,
    pub(crate) client_address: SocketAddr,
    pub(crate) server: Server,
    pub(crate) server_side: ServerSide,
    /// Whether the server is for many clients.
    many: bool,
    pub(crate) judge: Judge,
    /// Whether decisions stay pending.
    pub(crate) judge_later: bool,
    pub(crate) dropped: Vec<Error>,
}

pub(crate) fn client_settings(protection: ProtectionKey, tls: TlsFactory) -> ClientSettings {
    ClientSettings {
        protection,
        tls,
        transport: Transport::Udp,
        ciphers: vec![Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305],
        fallback: None,
        digest: Digest::Sha1,
        options: String::new(),
        credentials: None,
        pull: true,
        peer_info: Vec::new(),
        timing: Timing::default(),
        framing: Framing::None,
        fragment: None,
        decompress: false,
        replay_window: 64,
        max_control_packet: MAX_CONTROL_PACKET,
        epochs: true,
        offload: false,
        exit_notify: true,
        filter: Filter::default(),
        judges: false,
    }
}

pub(crate) fn server_settings(protection: ProtectionKey, tls: TlsFactory) -> ServerSettings {
    ServerSettings {
        protection,
        tls,
        ciphers: vec![Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305],
        fallback: None,
        digest: Digest::Sha1,
        options: (String::new(), String::new()),
        timing: Timing::default(),
        framing: Framing::None,
        fragment: None,
        decompress: false,
        replay_window: 64,
        many: true,
        max_clients: 64,
        max_control_packet: MAX_CONTROL_PACKET,
        initial: (100, Duration::from_secs(10)),
        connections: None,
        epochs: true,
        force_cookie: true,
    }
}

impl World {
    pub(crate) fn new(
        seed: u64,
        weather: Weather,
        client: ClientSettings,
        server: ServerSettings,
    ) -> Self {
        let mut dice = Dice(seed);
        let time = Duration::from_secs(1);
        let mut random = dice.clone();
        let many = server.many;
        let server = Server::new(server, &mut |bytes: &mut [u8]| random.fill(bytes));
        let client = Client::new(now(time), Arc::new(client), &mut |bytes: &mut [u8]| {
            dice.fill(bytes);
        })
        .expect("a client");
        Self {
            time,
            dice,
            network: Network::new(weather),
            client,
            client_side: ClientSide::default(),
            client_address: "192.0.2.1:40000".parse().expect("an address"),
            server,
            server_side: ServerSide::default(),
            many,
            judge: Box::new(|_| Ok(PushReply::default())),
            judge_later: false,
            dropped: Vec::new(),
        }
    }

    /// Starts another attempt of the client from another port, as the program does.
    pub(crate) fn reconnect(&mut self, settings: ClientSettings) {
        let Self { dice, .. } = self;
        self.client = Client::new(now(self.time), Arc::new(settings), &mut |bytes: &mut [u8]| {
            dice.fill(bytes);
        })
        .expect("a client");
        self.client_side = ClientSide::default();
        self.client_address.set_port(self.client_address.port() + 1);
    }

    /// Runs until the condition holds. Returns whether it did before the time was over.
    pub(crate) fn run_until(
        &mut self,
        limit: Duration,
        mut done: impl FnMut(&Self) -> bool,
    ) -> bool {
        let end = self.time + limit;
        loop {
            self.flush();
            if done(self) {
                return true;
            }
            let next =
                [self.network.next_arrival(), self.client.deadline(), self.server.deadline()];
            let Some(next) = next.into_iter().flatten().min().filter(|next| *next <= end) else {
                self.time = end;
                return false;
            };
            self.time = self.time.max(next);
            self.step();
        }
    }

    pub(crate) fn connect(&mut self) -> bool {
        self.run_until(Duration::from_secs(60), |world| {
            world.client_side.connected.is_some() && !world.server_side.connected.is_empty()
                || world.client_side.end.is_some()
        });
        self.client_side.connected.is_some() && self.client_side.end.is_none()
    }

    fn step(&mut self) {
        let moment = now(self.time);
        let Self { dice, client, client_side, server, server_side, .. } = self;
        let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
        if client.deadline().is_some_and(|deadline| deadline <= self.time) {
            let mut notices = Vec::new();
            client.tick(moment, random, client_side, &mut |notice| notices.push(notice));
            notices.into_iter().for_each(|notice| client_side.take(notice));
        }
        if server.deadline().is_some_and(|deadline| deadline <= self.time) {
            server.tick(moment, random, server_side);
        }
        while let Some((to, packet)) = self.network.arrived(self.time) {
            match to {
                To::Client(address) if address == self.client_address => {
                    self.client_receives(packet);
                }
                To::Client(_) => {}
                To::Server { from } => self.server_receives(from, packet),
            }
        }
    }

    pub(crate) fn client_receives(&mut self, mut packet: Vec<u8>) {
        if packet.first().is_some_and(|first| is_data(*first)) {
            let ClientSide { outside, path, .. } = &mut self.client_side;
            return match outside {
                Some(outside) => outside.arrive(&packet),
                None => path.open(packet),
            };
        }
        let Self { dice, client, client_side, .. } = self;
        let mut notices = Vec::new();
        let result = client.receive(
            now(self.time),
            &mut packet,
            &mut |bytes: &mut [u8]| dice.fill(bytes),
            client_side,
            &mut |notice| notices.push(notice),
        );
        notices.into_iter().for_each(|notice| client_side.take(notice));
        self.dropped.extend(result.err());
    }

    pub(crate) fn server_receives(&mut self, from: SocketAddr, mut packet: Vec<u8>) {
        if packet.first().is_some_and(|first| is_data(*first)) {
            let paths = &mut self.server_side.paths;
            // A point-to-point server ignores peer ids.
            let path = match data::data_header(&packet) {
                _ if !self.many => paths.values_mut().next(),
                Some((_, Some(peer))) => paths.get_mut(&PeerId(peer)),
                _ => None,
            };
            if let Some(path) = path {
                path.open(packet);
            }
            return;
        }
        let Self { dice, server, server_side, .. } = self;
        let result = server.receive(
            now(self.time),
            from,
            Transport::Udp,
            &mut packet,
            &mut |bytes: &mut [u8]| dice.fill(bytes),
            server_side,
        );
        self.dropped.extend(result.err());
        self.decide();
    }

    /// Decides about the clients that wait for it.
    pub(crate) fn decide(&mut self) {
        if self.judge_later {
            return;
        }
        for (peer, verify) in std::mem::take(&mut self.server_side.verify) {
            match (self.judge)(&verify) {
                Ok(reply) => {
                    let moment = now(self.time);
                    let accepted = self.server.accept(moment, peer, reply, &mut self.server_side);
                    self.dropped.extend(accepted.err());
                }
                Err(reason) => {
                    self.server.reject(now(self.time), peer, &reason, &mut self.server_side);
                }
            }
        }
    }

    fn flush(&mut self) {
        for packet in std::mem::take(&mut self.client_side.outbox) {
            let to = To::Server { from: self.client_address };
            self.network.send(self.time, to, &packet, &mut self.dice);
        }
        for (address, packet) in std::mem::take(&mut self.server_side.outbox) {
            self.network.send(self.time, To::Client(address), &packet, &mut self.dice);
        }
    }

    /// Sends an inner packet from the client.
    pub(crate) fn client_sends(&mut self, inner: &[u8]) {
        let packet = self.client_side.path.seal(inner);
        self.client_side.outbox.extend(packet);
    }

    /// Sends an inner packet to a client.
    pub(crate) fn server_sends(&mut self, peer: PeerId, inner: &[u8]) {
        self.server_side.send_data(peer, inner);
    }

    /// Returns the last connected peer.
    pub(crate) fn peer(&self) -> PeerId {
        self.server_side.connected.last().expect("a peer").0
    }
}

fn is_data(first: u8) -> bool {
    wire::first_byte(first).is_ok_and(|(opcode, _)| opcode.is_data())
}
