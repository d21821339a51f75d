//! A server's configuration, and what `server` and its companions stand for.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;

use super::common::Common;
use super::link::{PORT, Protocol};
use super::material::Material;

/// What a server's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What clients have too.
    pub common: Common,
    /// Where it listens; at least one.
    pub listen: Vec<Listen>,
    /// `mode server`: serves many clients. Otherwise one peer at a time, which is not pushed to.
    pub many: bool,
    /// `remote`: the only names or addresses that the one peer may have, over UDP with the port; any
    /// if none.
    pub remotes: Vec<(String, u16)>,
    /// `ifconfig-pool`: the addresses for clients.
    pub pool: Option<Pool>,
    /// `ifconfig-ipv6-pool`: the addresses for clients.
    pub pool_ipv6: Option<Pool6>,
    /// `ifconfig-pool-persist`: a file with the addresses that clients had, and how often it is
    /// written; just read if never.
    pub pool_persist: Option<(PathBuf, Option<Duration>)>,
    /// What each client is pushed, in order: `push`, and what `server`, `keepalive` and `topology`
    /// add. Addresses, cipher and peer id are each client's own, and not here.
    pub push: Vec<String>,
    /// `client-config-dir`: files by clients' names, else `DEFAULT`; see [`PerClient`].
    ///
    /// [`PerClient`]: super::PerClient
    pub client_config_dir: Option<PathBuf>,
    /// `ccd-exclusive`: who has no file there does not come in.
    pub ccd_exclusive: bool,
    /// `client-to-client`: clients reach each other.
    pub client_to_client: bool,
    /// `duplicate-cn`: several clients may have one name.
    pub duplicate_names: bool,
    /// `max-clients`; 1024.
    pub max_clients: u32,
    /// `max-routes-per-client`: addresses behind one client; 256.
    pub max_routes_per_client: u32,
    /// `username-as-common-name`: a client's name is the user's.
    pub username_as_common_name: bool,
    /// `auth-user-pass-optional`: a client without a password reaches the hook.
    pub password_optional: bool,
    /// `auth-gen-token`.
    pub auth_token: Option<AuthToken>,
    /// `auth-gen-token-secret`: the key that tokens are made with, so that they outlive the process.
    pub auth_token_secret: Option<Material>,
    /// `opt-verify`: disconnect clients whose options differ.
    pub verify_options: bool,
    /// `connect-freq`: at most so many new clients in this time.
    pub connect_frequency: Option<(u32, Duration)>,
    /// `connect-freq-initial`: at most so many answers to first packets in this time; 100, 10 s.
    pub connect_frequency_initial: (u32, Duration),
    /// `stale-routes-check`: addresses behind clients are forgotten after the first time, looked for
    /// each second.
    pub stale_routes: Option<(Duration, Duration)>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            common: Common::default(),
            listen: Vec::new(),
            many: false,
            remotes: Vec::new(),
            pool: None,
            pool_ipv6: None,
            pool_persist: None,
            push: Vec::new(),
            client_config_dir: None,
            ccd_exclusive: false,
            client_to_client: false,
            duplicate_names: false,
            max_clients: 1024,
            max_routes_per_client: 256,
            username_as_common_name: false,
            password_optional: false,
            auth_token: None,
            auth_token_secret: None,
            verify_options: false,
            connect_frequency: None,
            connect_frequency_initial: (100, Duration::from_secs(10)),
            stale_routes: None,
        }
    }
}

/// `local`, or `listen ADDRESS [PORT] [PROTOCOL]`, of which a server may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// An address or a name; all addresses if none.
    pub host: Option<String>,
    /// The port; 1194.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
}

impl Listen {
    pub(super) fn new(host: Option<String>, port: Option<u16>, protocol: Protocol) -> Self {
        Self { host, port: port.unwrap_or(PORT), protocol }
    }
}

/// Addresses, the first and the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The lowest.
    pub first: Ipv4Addr,
    /// The highest.
    pub last: Ipv4Addr,
    /// What clients get as their netmask, with the topology subnet.
    pub netmask: Option<Ipv4Addr>,
}

/// Addresses from this one on, to the end of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool6 {
    /// The lowest.
    pub first: Ipv6Addr,
    /// Bits of the network's mask.
    pub prefix: u8,
}

/// `auth-gen-token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthToken {
    /// How long a token is good; without end if none.
    pub lifetime: Option<Duration>,
    /// How often it is renewed; at each renegotiation if none.
    pub renewal: Option<Duration>,
    /// `external-auth`: hooks are asked all the same.
    pub external: bool,
}

/// `server`: a network, of which the server has the first address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network {
    pub(super) address: Ipv4Addr,
    pub(super) netmask: Ipv4Addr,
    pub(super) prefix: u8,
    pub(super) pool: bool,
}
