//! The configuration of a server, and the data of `server` and related directives.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;

use super::common::Common;
use super::link::{PORT, Protocol};
use super::material::Material;

/// A server's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Settings shared with clients.
    pub common: Common,
    /// Listening sockets; at least one.
    pub listen: Vec<Listen>,
    /// `port-share`: the service that gets connections that are no tunnels.
    pub port_share: Option<PortShare>,
    /// `mode server`: serves many clients. Otherwise one peer at a time, without pushing options.
    pub many: bool,
    /// `remote`: allowed names or addresses of the single peer, with its port over UDP; empty
    /// allows any.
    pub remotes: Vec<(String, u16)>,
    /// `ifconfig-pool`: IPv4 addresses for clients.
    pub pool: Option<Pool>,
    /// `ifconfig-ipv6-pool`: IPv6 addresses for clients.
    pub pool_ipv6: Option<Pool6>,
    /// `ifconfig-pool-persist`: a file with previous client addresses, and the write interval;
    /// `None` only reads it.
    pub pool_persist: Option<(PathBuf, Option<Duration>)>,
    /// `server-bridge`: the administrator bridges the TAP device with another one.
    pub bridge: bool,
    /// Options pushed to each client, in order: `push`, and those that `server`, `keepalive` and
    /// `topology` add. Addresses, cipher and peer id are added for each client.
    pub push: Vec<String>,
    /// `client-config-dir`: a directory of files named after clients, or `DEFAULT`; see
    /// [`PerClient`].
    ///
    /// [`PerClient`]: super::PerClient
    pub client_config_dir: Option<PathBuf>,
    /// `ccd-exclusive`: refuse clients without a file there.
    pub ccd_exclusive: bool,
    /// `client-to-client`: route packets between clients.
    pub client_to_client: bool,
    /// `duplicate-cn`: several clients may share one name.
    pub duplicate_names: bool,
    /// `max-clients`. The default is 1024.
    pub max_clients: u32,
    /// `max-routes-per-client`: learned addresses behind one client. The default is 256.
    pub max_routes_per_client: u32,
    /// `username-as-common-name`: the user name is the client's name.
    pub username_as_common_name: bool,
    /// `auth-user-pass-optional`: call the hook also for a client without a password.
    pub password_optional: bool,
    /// `auth-gen-token`.
    pub auth_token: Option<AuthToken>,
    /// `auth-gen-token-secret`: the token key, so that tokens survive a restart.
    pub auth_token_secret: Option<Material>,
    /// `connect-freq`: limit on new clients in this time.
    pub connect_frequency: Option<(u32, Duration)>,
    /// `connect-freq-initial`: limit on answers to initial packets in this time. The default is 100
    /// in 10 s.
    pub connect_frequency_initial: (u32, Duration),
    /// `stale-routes-check`: age after which addresses behind clients expire, and the interval of
    /// the check.
    pub stale_routes: Option<(Duration, Duration)>,
    /// `vlan-tagging`: each client is in a VLAN.
    pub vlans: Option<Vlans>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            common: Common::default(),
            listen: Vec::new(),
            port_share: None,
            many: false,
            remotes: Vec::new(),
            pool: None,
            pool_ipv6: None,
            pool_persist: None,
            bridge: false,
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
            connect_frequency: None,
            connect_frequency_initial: (100, Duration::from_secs(10)),
            stale_routes: None,
            vlans: None,
        }
    }
}

/// `vlan-accept`: the frames that the device carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VlanAccept {
    /// With and without the number of a VLAN.
    #[default]
    All,
    /// With a number.
    Tagged,
    /// Without a number.
    Untagged,
}

/// `vlan-tagging` and the directives for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlans {
    /// `vlan-accept`.
    pub accept: VlanAccept,
    /// `vlan-pvid`: the VLAN of frames without a number, and of clients without a VLAN of their
    /// own. The default is 1.
    pub native: u16,
}

impl Default for Vlans {
    fn default() -> Self {
        Self { accept: VlanAccept::All, native: 1 }
    }
}

/// A socket from `local` or `listen ADDRESS [PORT] [PROTOCOL]`; a server may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Host name or address; `None` is all addresses.
    pub host: Option<String>,
    /// The port. The default is 1194.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
}

impl Listen {
    pub(super) fn new(host: Option<String>, port: Option<u16>, protocol: Protocol) -> Self {
        Self { host, port: port.unwrap_or(PORT), protocol }
    }
}

/// `port-share`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortShare {
    /// The service's host name or address.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// The directory for a file with each client's address.
    pub directory: Option<PathBuf>,
}

/// A range of IPv4 addresses, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The lowest address.
    pub first: Ipv4Addr,
    /// The highest address.
    pub last: Ipv4Addr,
    /// The netmask of clients with the topology subnet.
    pub netmask: Option<Ipv4Addr>,
}

/// IPv6 addresses from this one to the end of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool6 {
    /// The lowest address.
    pub first: Ipv6Addr,
    /// The network's prefix length.
    pub prefix: u8,
}

/// `auth-gen-token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthToken {
    /// Lifetime of a token; `None` is unlimited.
    pub lifetime: Option<Duration>,
    /// Renewal interval; `None` renews at each renegotiation.
    pub renewal: Option<Duration>,
    /// `external-auth`: call the hooks for tokens too.
    pub external: bool,
}

/// The forms of `server-bridge`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bridge {
    /// The bridged network's gateway, and addresses of it for clients.
    Pool { gateway: Ipv4Addr, pool: Pool },
    /// Clients get addresses from the DHCP server of the bridged network.
    Dhcp,
    /// Clients are not told of a gateway.
    NoGateway,
}

/// The network of `server`; the server takes its first address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network {
    pub(super) address: Ipv4Addr,
    pub(super) netmask: Ipv4Addr,
    pub(super) prefix: u8,
    pub(super) pool: bool,
}
