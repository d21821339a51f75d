//! The state of each client, and the core's link to the data path.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::config::PerClient;
use crate::net::data_path::{Handle, Remote};
use crate::proto::auth_token::TokenSession;
use crate::proto::data::{Cipher, Sealer};
use crate::proto::server::{PeerId, ServerNotice, ServerSink};
use crate::proto::tunnel::{DataKeys, Traffic};
use crate::proto::wire::KeyId;
use crate::proto::{Now, Transport};
use crate::service::context::TITLE;
use crate::service::hooks::Environment;
use crate::service::pool::Lease;
use crate::service::status;

/// A client, admitted or not.
pub(super) struct Peer {
    pub(super) way: Remote,
    pub(super) address: SocketAddr,
    pub(super) name: String,
    pub(super) username: Option<String>,
    pub(super) client_id: u64,
    /// Time of the connection in seconds since 1970.
    pub(super) since: u64,
    /// Its address, and the netmask or the server's address.
    pub(super) ipv4: Option<(Ipv4Addr, Ipv4Addr)>,
    pub(super) ipv6: Option<(Ipv6Addr, u8)>,
    /// Its leases of the pool.
    pub(super) leases: Vec<Lease>,
    /// The session of its tokens, if any.
    pub(super) session: Option<TokenSession>,
    /// Its addresses, and the networks behind it.
    pub(super) networks: Vec<(IpAddr, u8)>,
    pub(super) cipher: Option<Cipher>,
    /// The environment of its scripts; empty until it is admitted.
    pub(super) environment: Environment,
    /// How long its session may last, if limited, and when it ends.
    pub(super) lifetime: Option<Duration>,
    pub(super) expires: Option<Duration>,
    /// Bytes that the data channel adds to each packet.
    pub(super) overhead: usize,
    /// An installed key that is not used for sending yet.
    waiting: Option<(KeyId, Arc<Sealer>)>,
}

impl Peer {
    pub(super) fn new(way: Remote, address: SocketAddr) -> Self {
        Self {
            way,
            address,
            name: String::new(),
            username: None,
            client_id: 0,
            since: 0,
            ipv4: None,
            ipv6: None,
            leases: Vec::new(),
            session: None,
            networks: Vec::new(),
            cipher: None,
            environment: Environment::default(),
            lifetime: None,
            expires: None,
            overhead: 0,
            waiting: None,
        }
    }

    /// Returns its addresses and the networks behind it.
    pub(super) fn networks_with(&self, own: &PerClient) -> Vec<(IpAddr, u8)> {
        let ipv4 = self.ipv4.map(|(address, _)| (IpAddr::V4(address), 32));
        let ipv6 = self.ipv6.map(|(address, _)| (IpAddr::V6(address), 128));
        let routes = own.routes.iter().map(|(to, prefix)| (IpAddr::V4(*to), *prefix));
        let routes_ipv6 = own.routes_ipv6.iter().map(|(to, prefix)| (IpAddr::V6(*to), *prefix));
        ipv4.into_iter().chain(ipv6).chain(routes).chain(routes_ipv6).collect()
    }

    pub(super) fn transport(&self) -> Transport {
        match self.way {
            Remote::Udp { .. } => Transport::Udp,
            Remote::Tcp(_) => Transport::Tcp,
        }
    }
}

/// The core's sink into the data path, for one call.
pub(super) struct Link<'a> {
    handle: &'a Handle,
    peers: &'a mut HashMap<PeerId, Peer>,
    /// The source of the packet that is being processed.
    from: Option<(SocketAddr, Remote)>,
    notices: Vec<(PeerId, ServerNotice)>,
}

impl<'a> Link<'a> {
    pub(super) fn new(
        handle: &'a Handle,
        peers: &'a mut HashMap<PeerId, Peer>,
        from: Option<(SocketAddr, Remote)>,
    ) -> Self {
        Self { handle, peers, from, notices: Vec::new() }
    }

    /// Records that a packet of this peer came from this address.
    pub(super) fn is_at(&mut self, peer: PeerId, way: Remote) {
        if let Some((address, _)) = self.from {
            self.peers.entry(peer).or_insert_with(|| Peer::new(way, address));
        }
    }

    pub(super) fn into_notices(self) -> Vec<(PeerId, ServerNotice)> {
        self.notices
    }
}

impl ServerSink for Link<'_> {
    fn send(&mut self, peer: Option<PeerId>, to: SocketAddr, packet: &[u8]) {
        let way = match self.from {
            Some((address, way)) if address == to => Some(way),
            _ => peer.and_then(|peer| self.peers.get(&peer)).map(|peer| peer.way),
        };
        if let Some(way) = way {
            // Lost control packets are retransmitted.
            let _ = self.handle.send_control(packet, way);
        }
    }

    fn install(&mut self, peer: PeerId, keys: DataKeys) {
        let Some(known) = self.peers.get_mut(&peer) else { return };
        // The single peer of a point-to-point server enters the data path once it has a key. So a
        // client that cannot complete the handshake displaces nobody.
        if self.handle.counters(peer.0).is_none() {
            self.handle.add_peer(peer.0, known.way);
        }
        known.overhead = keys.sealer.overhead();
        self.handle.take_under(peer.0, keys.key_id, keys.opener);
        if keys.send {
            self.handle.send_under(peer.0, keys.key_id, keys.sealer);
        } else {
            known.waiting = Some((keys.key_id, keys.sealer));
        }
    }

    fn send_under(&mut self, peer: PeerId, key_id: KeyId) {
        let waiting = self.peers.get_mut(&peer).and_then(|peer| peer.waiting.take());
        if let Some((_, sealer)) = waiting.filter(|(waiting, _)| *waiting == key_id) {
            self.handle.send_under(peer.0, key_id, sealer);
        }
    }

    fn retire(&mut self, peer: PeerId, key_id: KeyId) {
        self.handle.retire(peer.0, key_id);
    }

    fn send_data(&mut self, peer: PeerId, inner: &[u8]) {
        let _ = self.handle.send_data(peer.0, inner);
    }

    fn traffic(&mut self, peer: PeerId) -> Traffic {
        self.handle.counters(peer.0).map(crate::service::traffic).unwrap_or_default()
    }

    fn notify(&mut self, peer: PeerId, notice: ServerNotice) {
        self.notices.push((peer, notice));
    }
}

/// Returns the server's state for the status file.
pub(super) fn status(handle: &Handle, peers: &HashMap<PeerId, Peer>, now: Now) -> status::Server {
    let mut all: Vec<_> = peers.iter().filter(|(_, peer)| peer.cipher.is_some()).collect();
    all.sort_by_key(|(_, peer)| peer.client_id);
    let mut server =
        status::Server { title: TITLE.into(), now: now.unix, ..status::Server::default() };
    for (id, peer) in all {
        let counters = handle.counters(id.0).unwrap_or_default();
        server.clients.push(status::Client {
            common_name: peer.name.clone(),
            real_address: peer.address,
            ipv4: peer.ipv4.map(|(address, _)| address),
            ipv6: peer.ipv6.map(|(address, _)| address),
            bytes_received: counters.received_bytes,
            bytes_sent: counters.sent_bytes,
            connected_since: peer.since,
            username: peer.username.clone(),
            client_id: peer.client_id,
            peer_id: Some(id.0),
            cipher: peer.cipher.map(|cipher| cipher.name().to_owned()),
        });
        let last = counters.received_ago.map_or(peer.since, |ago| now.unix - ago.as_secs());
        let networks = peer.networks.iter().map(|(address, prefix)| match (address, prefix) {
            (IpAddr::V4(_), 32) | (IpAddr::V6(_), 128) => address.to_string(),
            _ => format!("{address}/{prefix}"),
        });
        let behind = networks.chain(handle.hardware_addresses(id.0));
        server.routes.extend(behind.map(|virtual_address| status::Route {
            virtual_address,
            common_name: peer.name.clone(),
            real_address: peer.address,
            last_reference: last,
        }));
    }
    server
}
