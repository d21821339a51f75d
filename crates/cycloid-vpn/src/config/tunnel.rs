//! Settings inside the tunnel: addresses, routes and name servers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `topology`: the addressing scheme of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A /30 network for each client.
    Net30,
    /// One address for each client, with a route to it.
    PointToPoint,
    /// One network with an address for each client.
    Subnet,
}

impl Topology {
    /// Returns the word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Net30 => "net30",
            Self::PointToPoint => "p2p",
            Self::Subnet => "subnet",
        }
    }
}

/// `dev`, `dev-type`: what the tunnel carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceType {
    /// IP packets.
    #[default]
    Tun,
    /// Ethernet frames.
    Tap,
}

impl DeviceType {
    /// Returns the word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tun => "tun",
            Self::Tap => "tap",
        }
    }
}

/// An address that may be unknown before the tunnel is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<A> {
    /// A known address.
    Address(A),
    /// A name, resolved before the tunnel is up.
    Name(String),
    /// `vpn_gateway`: the peer's tunnel address.
    VpnGateway,
    /// `net_gateway`, `net_gateway_ipv6`: the gateway of the original default route.
    NetGateway,
    /// `remote_host`: the peer's outer address.
    RemoteHost,
}

/// `route`, `route-ipv6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route<A> {
    /// The network.
    pub network: Target<A>,
    /// The prefix length.
    pub prefix: u8,
    /// The gateway; `None` is the tunnel's default.
    pub gateway: Option<Target<A>>,
    /// The metric; `None` is that of `route-metric`.
    pub metric: Option<u32>,
}

impl<A: fmt::Display> fmt::Display for Route<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)?;
        match &self.gateway {
            Some(gateway) => write!(f, " by {gateway}"),
            None => Ok(()),
        }
    }
}

impl<A: fmt::Display> fmt::Display for Target<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
            Self::VpnGateway => f.write_str("the peer in the tunnel"),
            Self::NetGateway => f.write_str("the network's own gateway"),
            Self::RemoteHost => f.write_str("the server"),
        }
    }
}

/// `route-gateway`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteGateway {
    /// A known address.
    Address(Ipv4Addr),
    /// A name to resolve.
    Name(String),
}

/// `redirect-gateway`, `redirect-private`: routes all traffic through the tunnel, or only applies
/// the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redirect {
    /// Redirect the IPv4 default route: neither `!ipv4` nor `redirect-private` is set.
    pub ipv4: bool,
    /// `ipv6`: redirect the IPv6 default route.
    pub ipv6: bool,
    /// `def1`: use two half routes and keep the default route.
    pub def1: bool,
    /// `local`: the server is on the local network and needs no route via the gateway.
    pub local: bool,
    /// `autolocal`: detect whether the server is local.
    pub auto_local: bool,
    /// `block-local`: route the local network through the tunnel too, except its gateway.
    pub block_local: bool,
    /// `bypass-dhcp`: route the DHCP server via the gateway.
    pub bypass_dhcp: bool,
    /// `bypass-dns`: route the name servers via the gateway.
    pub bypass_dns: bool,
}

/// `dns server N`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsServer {
    /// −128 to 127; the lowest comes first.
    pub priority: i8,
    /// Up to eight addresses; port 0 stands for 53.
    pub addresses: Vec<SocketAddr>,
    /// Domains that only this server resolves; empty is all.
    pub resolve_domains: Vec<String>,
    /// `yes`, `optional` or `no`.
    pub dnssec: Option<String>,
    /// `DoH`, `DoT` or `plain`.
    pub transport: Option<String>,
    /// The server's name in TLS.
    pub server_name: Option<String>,
}

/// Name servers to use while the tunnel is up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    /// `dhcp-option DNS`, `DNS6`.
    pub addresses: Vec<IpAddr>,
    /// `dhcp-option DOMAIN`, `ADAPTER_DOMAIN_SUFFIX`.
    pub domain: Option<String>,
    /// `dhcp-option DOMAIN-SEARCH`, `dns search-domains`.
    pub search: Vec<String>,
    /// `dns server`, in order of priority; if there are any, they replace `addresses`.
    pub servers: Vec<DnsServer>,
    /// Other kinds of `dhcp-option`, passed to hooks in the environment.
    pub other: Vec<Vec<String>>,
}

/// `client-nat`: a translation of inner addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatRule {
    /// `snat`, not `dnat`: it translates addresses of this end.
    pub is_source: bool,
    /// The network as it is here. Bits after the prefix are ignored, as in `alias`.
    pub network: Ipv4Addr,
    /// The prefix length of both networks.
    pub prefix: u8,
    /// The network as the server knows it.
    pub alias: Ipv4Addr,
}

/// `ifconfig-ipv6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ifconfig6 {
    /// This end's address.
    pub address: Ipv6Addr,
    /// The prefix length.
    pub prefix: u8,
    /// The peer's address.
    pub remote: Option<Ipv6Addr>,
}

/// The device, its addresses and its routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// `dev`: the device's name; `None` lets the system number a `tunN` or `tapN`.
    pub device: Option<String>,
    /// `dev`, `dev-type`. The default is TUN.
    pub device_type: DeviceType,
    /// `lladdr`: the hardware address of a TAP device; `None` is a random one.
    pub hardware_address: Option<[u8; 6]>,
    /// `topology`. The default is net30. A TAP device has none: see [`Tunnel::addressing`].
    pub topology: Topology,
    /// `ifconfig`: this end's address, and the peer's address or, with the topology subnet or a TAP
    /// device, the netmask.
    pub ifconfig: Option<(Ipv4Addr, Ipv4Addr)>,
    /// `ifconfig-ipv6`.
    pub ifconfig_ipv6: Option<Ifconfig6>,
    /// `ifconfig-noexec`: hooks set the addresses.
    pub ifconfig_noexec: bool,
    /// `route`.
    pub routes: Vec<Route<Ipv4Addr>>,
    /// `route-ipv6`.
    pub routes_ipv6: Vec<Route<Ipv6Addr>>,
    /// `route-gateway`.
    pub route_gateway: Option<RouteGateway>,
    /// `route-ipv6-gateway`.
    pub route_ipv6_gateway: Option<Ipv6Addr>,
    /// `route-metric`. The default is 0.
    pub route_metric: u32,
    /// `route-noexec`: hooks add the routes.
    pub route_noexec: bool,
    /// `redirect-gateway`, `redirect-private`.
    pub redirect: Option<Redirect>,
    /// `dhcp-option`, `dns`.
    pub dns: Dns,
    /// `client-nat`: the translation of inner addresses.
    pub nat: Vec<NatRule>,
    /// `txqueuelen`: the device's queue length in packets; zero is the kernel's, 500.
    pub queue_length: Option<u32>,
    /// `dev null`, which tests of the control channel use: what arrives is dropped, and nothing is
    /// sent.
    pub without_device: bool,
    /// `persist-tun`: keep the device through a reconnection.
    pub persist: bool,
}

impl Tunnel {
    /// Returns the addressing scheme: on Ethernet, always one network.
    pub fn addressing(&self) -> Topology {
        match self.device_type {
            DeviceType::Tun => self.topology,
            DeviceType::Tap => Topology::Subnet,
        }
    }
}

impl Default for Tunnel {
    fn default() -> Self {
        Self {
            device: None,
            device_type: DeviceType::Tun,
            hardware_address: None,
            topology: Topology::Net30,
            ifconfig: None,
            ifconfig_ipv6: None,
            ifconfig_noexec: false,
            routes: Vec::new(),
            routes_ipv6: Vec::new(),
            route_gateway: None,
            route_ipv6_gateway: None,
            route_metric: 0,
            route_noexec: false,
            redirect: None,
            dns: Dns::default(),
            nat: Vec::new(),
            queue_length: None,
            without_device: false,
            persist: false,
        }
    }
}
