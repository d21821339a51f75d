//! What may differ from one `remote` to the next: the transport, sizes of packets, and the keys that
//! protect the control channel.

use std::path::Path;
use std::time::Duration;

use crate::proto::data::Digest;
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::wrap::{ClientKey, ProtectionKey, ServerKey};
use crate::proto::{Role, Transport};

use super::error::{Error, Problem};
use super::material::Material;

/// The port of OpenVPN (IANA).
pub const PORT: u16 = 1194;

/// `proto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// UDP or TCP.
    pub transport: Transport,
    /// Which addresses.
    pub family: Family,
}

impl Protocol {
    /// The word in a file: `udp`, `tcp4` and so on.
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

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 or IPv6, as names resolve and the machine has it.
    Any,
    /// IPv4 only.
    V4,
    /// IPv6; a server's socket takes IPv4 too, unless `bind ipv6only`.
    V6,
}

/// Whether the socket has an address and a port of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A server has; a client has if `local` or `lport` says which.
    Default,
    /// `bind`: yes. With `ipv6only`, an IPv6 socket takes no IPv4.
    Bound {
        /// `ipv6only`.
        ipv6_only: bool,
    },
    /// `nobind`: the system chooses.
    Unbound,
}

/// `mssfix`: the largest TCP segment inside of the tunnel follows from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MssFix {
    /// Segments stay as they are.
    Off,
    /// Bytes of a packet outside, with its headers of IP and UDP or TCP (`mssfix N mtu`).
    Packet(u16),
    /// Bytes of a packet outside, without these headers (`mssfix N`).
    Payload(u16),
    /// Bytes of a packet inside, with its headers of IP and TCP (`mssfix N fixed`).
    Inner(u16),
}

/// `mtu-disc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuDiscovery {
    /// Never set Don't Fragment.
    No,
    /// As the route says.
    Maybe,
    /// Always set Don't Fragment.
    Yes,
}

/// What protects control packets, beside TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlKey {
    /// Nothing.
    Plain,
    /// `tls-auth`: an HMAC, with the digest of `auth`.
    Auth {
        /// A static key of 2048 bits.
        key: Material,
        /// Without one, both ends use the same half.
        direction: Option<Direction>,
    },
    /// `tls-crypt`: one static key for all.
    Crypt {
        /// A static key of 2048 bits.
        key: Material,
    },
    /// `tls-crypt-v2`: a key of each client's own, which the server's key wraps.
    CryptV2 {
        /// A client's key with its wrapped form, or a server's key.
        key: Material,
        /// At a server: accept clients that know no cookies for such keys (`allow-noncookie`, which
        /// is the default; `force-cookie` refuses them).
        allow_without_cookie: bool,
        /// At a server: what clients without a key of their own use, tls-auth or tls-crypt; they are
        /// refused if none.
        shared: Option<Box<ControlKey>>,
    },
}

impl ControlKey {
    /// Reads the key. `digest` is that of `auth`; `role` is this end's.
    ///
    /// # Errors
    /// The file cannot be read, or is no key of that kind.
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
                format!("`cycloid vpn genkey` makes keys for {directive}"),
            )
            .at(key.path().unwrap_or(Path::new("")), 0, "")
        };
        let bytes = key.read().map_err(|error| wrong(&error))?;
        let text = str::from_utf8(&bytes).map_err(|_| wrong(&"it is no text"))?;
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

/// One way to the peer, apart from its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// `proto`; UDP.
    pub protocol: Protocol,
    /// `local`: the address or name to bind to.
    pub local: Option<String>,
    /// `lport` or `port`.
    pub local_port: Option<u16>,
    /// `rport` or `port`, for a remote without one.
    pub remote_port: u16,
    /// `bind`, `nobind`.
    pub bind: Bind,
    /// `float`: packets of the peer may come from any address, if they are authentic.
    pub float: bool,
    /// `connect-retry`: the time between two attempts, which doubles up to the second; 1 s, 300 s.
    pub connect_retry: (Duration, Duration),
    /// `connect-retry-max`: rounds through all remotes; without end if none.
    pub connect_retry_max: Option<u32>,
    /// `server-poll-timeout` or `connect-timeout`: how long to wait for the first answer; 120 s.
    pub connect_timeout: Duration,
    /// `explicit-exit-notify`: how often to say so on UDP; a server tells its clients to come back
    /// to it with 1, to go to the next with 2. 0 if it says nothing.
    pub explicit_exit_notify: u32,
    /// `tun-mtu`, bytes of a packet inside; 1500.
    pub tun_mtu: u16,
    /// `mssfix`; 1492 bytes outside, or what `tun-mtu` says if that is not 1500.
    pub mssfix: MssFix,
    /// `mtu-disc`; the system's choice if none.
    pub mtu_discovery: Option<MtuDiscovery>,
    /// `tls-auth`, `tls-crypt`, `tls-crypt-v2`.
    pub control_key: ControlKey,
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
            mtu_discovery: None,
            control_key: ControlKey::Plain,
        }
    }
}
