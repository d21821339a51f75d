//! The server's settings, sink and notices.

use std::fmt;
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

/// A client's id at this server, also used in its data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u32);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Protection of the control channel.
    pub protection: ProtectionKey,
    /// This end's certificate, and the rules for clients' certificates.
    pub tls: TlsFactory,
    /// `data-ciphers`, best first.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: the cipher for a client that does not negotiate.
    pub fallback: Option<Cipher>,
    /// `auth`, for CBC.
    pub digest: Digest,
    /// The options strings over UDP and over TCP: see [`Options`](crate::proto::options::Options).
    pub options: (String, String),
    /// Timers.
    pub timing: Timing,
    /// `comp-lzo no`, `compress`: framing bytes of each packet.
    pub framing: Framing,
    /// `fragment`: the longest datagram; longer packets are fragmented. Only over UDP.
    pub fragment: Option<u16>,
    /// `allow-compression asym`: whether clients may compress.
    pub decompress: bool,
    /// `replay-window`, in packets.
    pub replay_window: u32,
    /// Whether to use data keys that change by epochs with clients that offer them.
    pub epochs: bool,
    /// Whether there are many clients, which get pushed options. Otherwise there is one peer at a
    /// time, and both ends negotiate point to point.
    pub many: bool,
    /// `max-clients`: maximum number of clients whose certificates were verified.
    pub max_clients: usize,
    /// The longest control packet in bytes, without IP and UDP headers.
    pub max_control_packet: usize,
    /// `connect-freq-initial`: maximum number of answered initial packets of a network per period.
    pub initial: (u32, Duration),
    /// `connect-freq`: maximum number of new connections in this time, if limited.
    pub connections: Option<(u32, Duration)>,
    /// `tls-crypt-v2 KEY force-cookie`: do not answer clients that cannot return a cookie.
    pub force_cookie: bool,
}

/// Receives the server's actions.
pub trait ServerSink {
    /// Sends a control packet to a peer or to an address without a peer.
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
    /// Delivers a notice, or a request for a decision.
    fn notify(&mut self, peer: PeerId, notice: ServerNotice);
}

/// A server's notice about a peer.
#[derive(Debug)]
pub enum ServerNotice {
    /// A client wants to connect or to continue with a new key. Waits for
    /// [`accept`](super::Server::accept), [`reject`](super::Server::reject) or
    /// [`defer`](super::Server::defer).
    Verify(Box<Verify>),
    /// The tunnel is up; its keys were installed before this notice.
    Connected(Box<PeerConnected>),
    /// A new key is in use.
    Renegotiated,
    /// A renegotiation has failed; the old key stays in use until it expires.
    RenegotiationFailed(Error),
    /// The answer to a challenge, in Base64.
    Response(String),
    /// The peer has left, and its id is free.
    Ended(ServerEnd),
}

/// A client that waits for a decision.
#[derive(Debug)]
pub struct Verify {
    /// Its address.
    pub address: SocketAddr,
    /// Set at the first key of a client with its own tls-crypt-v2 key: the key's metadata, if any.
    pub client_key: Option<Option<Metadata>>,
    /// The identity from its certificate.
    pub identity: Option<Identity>,
    /// The user name, without control characters; may be empty.
    pub username: Zeroizing<String>,
    /// The password, without control characters; may be empty.
    pub password: Zeroizing<String>,
    /// The client's peer information.
    pub peer_info: PeerInfo,
    /// The client's [options](crate::proto::options::Options).
    pub options: String,
    /// TLS version and cipher suite.
    pub tls: String,
    /// Whether the tunnel is already up.
    pub renegotiation: bool,
}

/// An established tunnel.
#[derive(Clone, Debug)]
pub struct PeerConnected {
    /// The peer's address.
    pub address: SocketAddr,
    /// The data channel's cipher.
    pub cipher: Cipher,
}

/// The reason why a peer left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEnd {
    /// It announced its exit.
    Exit,
    /// It reconnected.
    Replaced,
    /// It was refused.
    Rejected,
    /// It was the oldest half-open session of the address with the most of them.
    Evicted,
    /// This end ended it.
    Killed,
    /// An error.
    Failed(Error),
}

impl fmt::Display for ServerEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit => f.write_str("it has left"),
            Self::Replaced => f.write_str("it has connected again"),
            Self::Rejected => f.write_str("it was refused"),
            Self::Evicted => f.write_str("too many half-open sessions"),
            Self::Killed => f.write_str("ended by this server"),
            Self::Failed(error) => write!(f, "{error}"),
        }
    }
}
