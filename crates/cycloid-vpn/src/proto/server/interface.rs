//! What a server is told, what it asks of its caller, and what it tells.

use std::net::SocketAddr;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::proto::Error;
use crate::proto::data::{Cipher, Digest, Framing};
use crate::proto::peer_info::PeerInfo;
use crate::proto::timing::Timing;
use crate::proto::tls::{Identity, TlsFactory};
use crate::proto::tunnel::{DataKeys, Traffic};
use crate::proto::wire::KeyId;
use crate::proto::wrap::{Metadata, ProtectionKey};

/// A client's place at this server, and the peer id of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u32);

/// What a server is told once.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// What protects the control channel.
    pub protection: ProtectionKey,
    /// Own certificate, and who clients must be.
    pub tls: TlsFactory,
    /// `data-ciphers`, best first.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: for a client that does not say.
    pub fallback: Option<Cipher>,
    /// `auth`, for CBC.
    pub digest: Digest,
    /// The options string: see [`Options`](crate::proto::options::Options). Over UDP and over TCP.
    pub options: (String, String),
    /// When things happen by themselves.
    pub timing: Timing,
    /// `comp-lzo no`, `compress`: bytes before each packet.
    pub framing: Framing,
    /// `replay-window`, packets.
    pub replay_window: u32,
    /// Whether there are many clients, which are pushed options. Otherwise there is one peer at a time,
    /// and both ends agree by themselves, point to point.
    pub many: bool,
    /// `max-clients`: how many may be connected or connecting.
    pub max_clients: usize,
    /// `connect-freq-initial`: how many first packets are answered in how long.
    pub initial: (u32, Duration),
    /// `tls-crypt-v2 KEY force-cookie`: clients that cannot return a cookie are not answered.
    pub force_cookie: bool,
}

/// Where a server puts what it wants done.
pub trait ServerSink {
    /// A control packet: to a peer, or to somebody who has no place yet.
    fn send(&mut self, peer: Option<PeerId>, to: SocketAddr, packet: &[u8]);
    /// See [`Sink::install`](crate::proto::tunnel::Sink::install).
    fn install(&mut self, peer: PeerId, keys: DataKeys);
    /// See [`Sink::send_under`](crate::proto::tunnel::Sink::send_under).
    fn send_under(&mut self, peer: PeerId, key_id: KeyId);
    /// See [`Sink::retire`](crate::proto::tunnel::Sink::retire).
    fn retire(&mut self, peer: PeerId, key_id: KeyId);
    /// See [`Sink::send_data`](crate::proto::tunnel::Sink::send_data).
    fn send_data(&mut self, peer: PeerId, inner: &[u8]);
    /// See [`Sink::traffic`](crate::proto::tunnel::Sink::traffic).
    fn traffic(&mut self, peer: PeerId) -> Traffic;
    /// What the caller should know, or decide.
    fn notify(&mut self, peer: PeerId, notice: ServerNotice);
}

/// What a server tells its caller of a peer.
#[derive(Debug)]
pub enum ServerNotice {
    /// Somebody wants to connect, or to go on with a new key: [`accept`](super::Server::accept),
    /// [`reject`](super::Server::reject) or [`defer`](super::Server::defer) is awaited.
    Verify(Box<Verify>),
    /// The tunnel stands; keys were installed before this.
    Connected(Box<PeerConnected>),
    /// A new key is in use.
    Renegotiated,
    /// The answer to a challenge, in base64.
    Response(String),
    /// The peer is gone, and its place free.
    Ended(ServerEnd),
}

/// Who wants to connect.
#[derive(Debug)]
pub struct Verify {
    /// From where.
    pub address: SocketAddr,
    /// At its first key, of a client with a key of its own for the control channel (tls-crypt-v2): what
    /// that says of it, if anything.
    pub client_key: Option<Option<Metadata>>,
    /// By certificate.
    pub identity: Option<Identity>,
    /// By name; empty without.
    pub username: Zeroizing<String>,
    /// Empty without.
    pub password: Zeroizing<String>,
    /// What the client says of itself.
    pub peer_info: PeerInfo,
    /// Version and cipher suite.
    pub tls: String,
    /// Whether the tunnel stands already.
    pub renegotiation: bool,
}

/// A tunnel that stands.
#[derive(Clone, Debug)]
pub struct PeerConnected {
    /// Where the peer is.
    pub address: SocketAddr,
    /// What protects data.
    pub cipher: Cipher,
}

/// Why a peer is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEnd {
    /// It said so.
    Exit,
    /// It connected anew.
    Replaced,
    /// It was refused.
    Rejected,
    /// This end was asked to.
    Killed,
    /// What went wrong.
    Failed(Error),
}
