//! The inside of the tunnel: addresses, routes and name servers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// `topology`: what addresses the two ends have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A /30 for each client.
    Net30,
    /// An address for each client, and a route to it.
    PointToPoint,
    /// One network, in which each client has an address.
    Subnet,
}

impl Topology {
    /// The word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Net30 => "net30",
            Self::PointToPoint => "p2p",
            Self::Subnet => "subnet",
        }
    }
}

/// An address that may not be known before the tunnel stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<A> {
    /// Known.
    Address(A),
    /// A name, to be resolved before the tunnel stands.
    Name(String),
    /// `vpn_gateway`: the peer's address inside.
    VpnGateway,
    /// `net_gateway`, `net_gateway_ipv6`: the gateway of the default route as it was before.
    NetGateway,
    /// `remote_host`: the peer's address outside.
    RemoteHost,
}

/// `route`, `route-ipv6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route<A> {
    /// The network.
    pub network: Target<A>,
    /// Bits of the network's mask.
    pub prefix: u8,
    /// By which gateway; by the tunnel's own if none.
    pub gateway: Option<Target<A>>,
    /// `route-metric`'s if none.
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
    /// Known.
    Address(Ipv4Addr),
    /// To be resolved.
    Name(String),
}

/// `redirect-gateway`, `redirect-private`: all traffic goes through the tunnel, or just the flags
/// hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redirect {
    /// The default route of IPv4: no `!ipv4`, and not `redirect-private`.
    pub ipv4: bool,
    /// `ipv6`: that of IPv6.
    pub ipv6: bool,
    /// `def1`: by two halves, which leave the default route as it is.
    pub def1: bool,
    /// `local`: the server is on the own network, and needs no route by the gateway.
    pub local: bool,
    /// `autolocal`: find out whether it is.
    pub auto_local: bool,
    /// `block-local`: the own network goes through the tunnel too, all but its gateway.
    pub block_local: bool,
    /// `bypass-dhcp`: a route by the gateway to the DHCP server.
    pub bypass_dhcp: bool,
    /// `bypass-dns`: a route by the gateway to the name servers.
    pub bypass_dns: bool,
}

/// `dns server N`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsServer {
    /// −128 to 127; the lower comes first.
    pub priority: i8,
    /// Up to eight; port 53 if it is 0.
    pub addresses: Vec<SocketAddr>,
    /// Domains that are resolved here, and only they; all if there is none.
    pub resolve_domains: Vec<String>,
    /// `yes`, `optional` or `no`.
    pub dnssec: Option<String>,
    /// `DoH`, `DoT` or `plain`.
    pub transport: Option<String>,
    /// The server's name in TLS.
    pub server_name: Option<String>,
}

/// Name servers, for as long as the tunnel stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    /// `dhcp-option DNS`, `DNS6`.
    pub addresses: Vec<IpAddr>,
    /// `dhcp-option DOMAIN`, `ADAPTER_DOMAIN_SUFFIX`.
    pub domain: Option<String>,
    /// `dhcp-option DOMAIN-SEARCH`, `dns search-domains`.
    pub search: Vec<String>,
    /// `dns server`, in the order of priority; if there are any, they stand in place of `addresses`.
    pub servers: Vec<DnsServer>,
    /// Other kinds of `dhcp-option`, which hooks get in their environment.
    pub other: Vec<Vec<String>>,
}

/// `ifconfig-ipv6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ifconfig6 {
    /// The own address.
    pub address: Ipv6Addr,
    /// Bits of the network's mask.
    pub prefix: u8,
    /// The peer's.
    pub remote: Option<Ipv6Addr>,
}

/// The device and what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// `dev`: the device's name; the system numbers a `tunN` if none.
    pub device: Option<String>,
    /// `topology`; net30.
    pub topology: Topology,
    /// `ifconfig`: the own address, and the peer's or, with the topology subnet, the netmask.
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
    /// `route-metric`; 0.
    pub route_metric: u32,
    /// `route-delay`: how long to wait before routes are made.
    pub route_delay: Duration,
    /// `route-noexec`: hooks make the routes.
    pub route_noexec: bool,
    /// `redirect-gateway`, `redirect-private`.
    pub redirect: Option<Redirect>,
    /// `dhcp-option`, `dns`.
    pub dns: Dns,
    /// `block-outside-dns`: no name is resolved outside of the tunnel.
    pub block_outside_dns: bool,
    /// `block-ipv6`: IPv6 inside is answered with an unreachable.
    pub block_ipv6: bool,
    /// `txqueuelen`: the device's queue, in packets; the system's choice if none.
    pub queue_length: Option<u32>,
    /// `persist-tun`: the device stays through a reconnection.
    pub persist: bool,
}

impl Default for Tunnel {
    fn default() -> Self {
        Self {
            device: None,
            topology: Topology::Net30,
            ifconfig: None,
            ifconfig_ipv6: None,
            ifconfig_noexec: false,
            routes: Vec::new(),
            routes_ipv6: Vec::new(),
            route_gateway: None,
            route_ipv6_gateway: None,
            route_metric: 0,
            route_delay: Duration::ZERO,
            route_noexec: false,
            redirect: None,
            dns: Dns::default(),
            block_outside_dns: false,
            block_ipv6: false,
            queue_length: None,
            persist: false,
        }
    }
}
