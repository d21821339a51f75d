//! Settings that may differ between `remote`s: the transport, packet sizes and control channel
//! keys.

use std::path::Path;
use std::time::Duration;

use crate::proto::data::Digest;
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::wrap::{ClientKey, ProtectionKey, ServerKey};
use crate::proto::{Role, Transport};

use super::error::{Error, Problem};
use super::material::Material;
use super::proxy::{HttpOptions, Proxy};

/// The port of OpenVPN (IANA).
pub const PORT: u16 = 1194;

/// `proto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// UDP or TCP.
    pub transport: Transport,
    /// The address family.
    pub family: Family,
}

impl Protocol {
    /// Returns the word in a file: `udp`, `tcp4` and so on.
    pub fn name(self) -> &'static str {
        match (self.transport, self.family) {
            (Transport::Udp, Family::Any) => "udp",
            (Transport::Udp, Family::V4) => "udp4",
            (Transport::Udp, Family::V6) => "udp6",
            (Transport::Tcp, Family::Any) => "tcp",
            (Transport::Tcp, Family::V4) => "tcp4",
            (Transport::Tcp, Family::V6) => "tcp6",
        }
    }
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 or IPv6, whichever the name resolves to and the machine supports.
    Any,
    /// IPv4 only.
    V4,
    /// IPv6; a server's socket also accepts IPv4, unless `bind ipv6only` is set.
    V6,
}

/// Whether the socket binds to a fixed address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A server binds; a client binds if `local` or `lport` is set.
    Default,
    /// `bind`: binds.
    Bound {
        /// `ipv6only`: an IPv6 socket does not accept IPv4.
        ipv6_only: bool,
    },
    /// `nobind`: the system chooses address and port.
    Unbound,
}

/// `mssfix`: determines the largest TCP segment inside the tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MssFix {
    /// Leaves segments unchanged.
    Off,
    /// Bytes of an outer packet with its IP and UDP or TCP headers (`mssfix N mtu`).
    Packet(u16),
    /// Bytes of an outer packet without these headers (`mssfix N`).
    Payload(u16),
    /// Bytes of an inner packet with its IP and TCP headers (`mssfix N fixed`).
    Inner(u16),
}

/// `fragment`: the longest datagram; longer packets are sent in fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Bytes of the datagram, at least [`Fragment::LEAST`].
    pub size: u16,
    /// `mtu`: the size includes the IP and UDP headers.
    pub with_headers: bool,
}

impl Fragment {
    /// The least size, as in OpenVPN 2.6.
    pub const LEAST: u16 = 68;

    /// The least payload whose fragments carry packets of the usual MTU, whatever the cipher is. A
    /// packet has at most 32 fragments.
    pub const ROOMY: u16 = 160;

    /// Returns the bytes of the longest datagram without IP and UDP headers, which are counted as
    /// those of IPv6: they are longer than those of IPv4.
    pub fn payload(self) -> u16 {
        if self.with_headers { self.size.saturating_sub(48) } else { self.size }
    }
}

/// `mtu-disc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuDiscovery {
    /// Never sets Don't Fragment.
    No,
    /// Follows the route's setting.
    Maybe,
    /// Always sets Don't Fragment.
    Yes,
}

/// Protection of control packets, in addition to TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlKey {
    /// No protection.
    Plain,
    /// `tls-auth`: an HMAC, with the digest of `auth`.
    Auth {
        /// A static key of 2048 bits.
        key: Material,
        /// The half of the key for each direction; `None` uses the same half in both.
        direction: Option<Direction>,
    },
    /// `tls-crypt`: one static key for all.
    Crypt {
        /// A static key of 2048 bits.
        key: Material,
    },
    /// `tls-crypt-v2`: one key per client, wrapped with the server's key.
    CryptV2 {
        /// A client's key with its wrapped form, or a server's key.
        key: Material,
        /// For a server: accept clients without support for v2 cookies (`allow-noncookie`, the
        /// default). `force-cookie` refuses them.
        allow_without_cookie: bool,
        /// For a server: the tls-auth or tls-crypt key of clients without their own key; `None`
        /// refuses them.
        shared: Option<Box<ControlKey>>,
    },
}

impl ControlKey {
    /// Reads the key. `digest` is that of `auth`, `role` is this end's role.
    ///
    /// # Errors
    /// An unreadable file, or a key of another kind.
    pub fn load(&self, digest: Digest, role: Role) -> Result<ProtectionKey, Error> {
        let (directive, key) = match self {
            Self::Plain => return Ok(ProtectionKey::Plain),
            Self::Auth { key, .. } => ("tls-auth", key),
            Self::Crypt { key } => ("tls-crypt", key),
            Self::CryptV2 { key, .. } => ("tls-crypt-v2", key),
        };
        let wrong = |reason: &dyn std::fmt::Display| {
            Problem::new(
                format!("{directive}: cannot use {key}: {reason}"),
                format!("create a key with `cycloid-vpn genkey` for {directive}"),
            )
            .at(key.path().unwrap_or(Path::new("")), 0, "")
        };
        let bytes = key.read().map_err(|error| wrong(&error))?;
        let text = str::from_utf8(&bytes).map_err(|_| wrong(&"it is not text"))?;
        let shared_key = || StaticKey::parse(text).map_err(|error| wrong(&error));
        Ok(match self {
            Self::Plain => ProtectionKey::Plain,
            Self::Auth { direction, .. } => {
                ProtectionKey::Auth { key: shared_key()?, direction: *direction, digest }
            }
            Self::Crypt { .. } => ProtectionKey::Crypt { key: shared_key()? },
            Self::CryptV2 { .. } if role == Role::Client => {
                ProtectionKey::CryptV2Client(ClientKey::parse(text).map_err(|error| wrong(&error))?)
            }
            Self::CryptV2 { shared, .. } => ProtectionKey::CryptV2Server {
                key: ServerKey::parse(text).map_err(|error| wrong(&error))?,
                shared: match shared {
                    Some(shared) => Some(Box::new(shared.load(digest, role)?)),
                    None => None,
                },
            },
        })
    }
}

/// The settings of one path to the peer, except its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// `proto`. The default is UDP.
    pub protocol: Protocol,
    /// `local`: the address or name to bind to.
    pub local: Option<String>,
    /// `lport` or `port`.
    pub local_port: Option<u16>,
    /// `rport` or `port`: the port of remotes without their own.
    pub remote_port: u16,
    /// `bind`, `nobind`.
    pub bind: Bind,
    /// `float`: authentic packets of the peer may come from any address.
    pub float: bool,
    /// `connect-retry`: first and maximum delay between attempts; it doubles each time. The
    /// defaults are 1 s and 300 s.
    pub connect_retry: (Duration, Duration),
    /// `connect-retry-max`: number of rounds through all remotes; `None` is unlimited.
    pub connect_retry_max: Option<u32>,
    /// `server-poll-timeout` or `connect-timeout`: timeout for the first answer. The default is 120
    /// s.
    pub connect_timeout: Duration,
    /// `explicit-exit-notify`: number of exit notifications over UDP; 0 sends none. A server asks
    /// its clients to reconnect to it with 1, or to go to the next server with 2.
    pub explicit_exit_notify: u32,
    /// `tun-mtu`: bytes of an inner packet. The default is 1500.
    pub tun_mtu: u16,
    /// `mssfix`. The default is 1492 bytes outside, or derived from a `tun-mtu` other than 1500.
    pub mssfix: MssFix,
    /// `fragment`, only over UDP.
    pub fragment: Option<Fragment>,
    /// `max-packet-size`: the longest control packet in bytes, with IP and UDP headers, as far as
    /// the protocol permits. 154 to 2048; the default is 1250.
    pub max_control_packet: u16,
    /// `mtu-disc`; `None` keeps the system's default.
    pub mtu_discovery: Option<MtuDiscovery>,
    /// `tls-auth`, `tls-crypt`, `tls-crypt-v2`.
    pub control_key: ControlKey,
    /// `http-proxy`, `socks-proxy`.
    pub proxy: Option<Proxy>,
    /// `http-proxy-option`.
    pub http: HttpOptions,
}

/// The default of `mssfix`.
pub(super) const MSSFIX: MssFix = MssFix::Packet(1492);

impl Default for Link {
    fn default() -> Self {
        Self {
            protocol: Protocol { transport: Transport::Udp, family: Family::Any },
            local: None,
            local_port: None,
            remote_port: PORT,
            bind: Bind::Default,
            float: false,
            connect_retry: (Duration::from_secs(1), Duration::from_secs(300)),
            connect_retry_max: None,
            connect_timeout: Duration::from_secs(120),
            explicit_exit_notify: 0,
            tun_mtu: 1500,
            mssfix: MSSFIX,
            fragment: None,
            max_control_packet: 1250,
            mtu_discovery: None,
            control_key: ControlKey::Plain,
            proxy: None,
            http: HttpOptions::default(),
        }
    }
}
