//! Plans a tunnel's routes from the configuration, the pushed options and the host's connectivity,
//! then applies them and records them in the journal.
//!
//! Routes into the tunnel name only the interface: on a point-to-point link a gateway means nothing
//! to the kernel, and a route without one is accepted even if the gateway is unreachable. On Ethernet
//! they need a gateway, to whose hardware address packets go.
//!
//! A default route into another tunnel stays, whatever the redirection: each tunnel then only ever
//! changes routes of its own and of the host, so tunnels may end in any order.
//!
//! Source: openvpn(8), "--route", "--route-ipv6", "--redirect-gateway".

use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::dco;
use super::netlink::{Netlink, Route};
use super::network::Network;
use super::undo::{Journal, Undo};

#[cfg(test)]
mod tests;

/// The flags of `redirect-gateway` or `redirect-private`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Redirect all of IPv4 into the tunnel.
    pub ipv4: bool,
    /// Redirect all of IPv6 into the tunnel.
    pub ipv6: bool,
    /// Use routes more specific than the default route, and keep the default route.
    pub def1: bool,
    /// The remote is on a local link and needs no separate route.
    pub local: bool,
    /// Like `local`, if detected.
    pub autolocal: bool,
    /// Redirect the local network too, except its router.
    pub block_local: bool,
    /// Keep direct routes to DHCP servers.
    pub bypass_dhcp: bool,
    /// Keep direct routes to name servers.
    pub bypass_dns: bool,
    /// `redirect-private`: keep the default route.
    pub private: bool,
}

impl Redirect {
    /// Parses the flags of `redirect-gateway` or `redirect-private`.
    ///
    /// # Errors
    ///
    /// The first unknown flag.
    pub fn parse<'a>(
        private: bool,
        flags: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, &'a str> {
        let mut redirect = Self {
            ipv4: true,
            ipv6: false,
            def1: false,
            local: false,
            autolocal: false,
            block_local: false,
            bypass_dhcp: false,
            bypass_dns: false,
            private,
        };
        for flag in flags {
            match flag {
                "ipv6" => redirect.ipv6 = true,
                "!ipv4" => redirect.ipv4 = false,
                "def1" => redirect.def1 = true,
                "local" => redirect.local = true,
                "autolocal" => redirect.autolocal = true,
                "block-local" => redirect.block_local = true,
                "bypass-dhcp" => redirect.bypass_dhcp = true,
                "bypass-dns" => redirect.bypass_dns = true,
                unknown => return Err(unknown),
            }
        }
        Ok(redirect)
    }
}

/// The destination of a wanted route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A network.
    Network(Network),
    /// The host `vpn_gateway`.
    VpnGateway,
    /// The host `net_gateway`.
    NetGateway,
    /// The host `remote_host`.
    RemoteHost,
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => write!(f, "{network}"),
            Self::VpnGateway => f.write_str("vpn_gateway"),
            Self::NetGateway => f.write_str("net_gateway"),
            Self::RemoteHost => f.write_str("remote_host"),
        }
    }
}

/// The gateway of a wanted route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateway {
    /// The tunnel: no gateway, `default`, `vpn_gateway`.
    Tunnel,
    /// The original router: `net_gateway`, `net_gateway_ipv6`.
    NetGateway,
    /// The server: `remote_host`.
    RemoteHost,
    /// This router; the tunnel, if the address is inside it.
    Address(IpAddr),
}

/// A `route` or `route-ipv6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The destination.
    pub destination: Destination,
    /// The gateway.
    pub gateway: Gateway,
    /// The metric, lower is preferred; `None` lets the kernel choose.
    pub metric: Option<u32>,
}

/// The tunnel's interface.
#[derive(Clone, Debug, Default)]
pub struct Tunnel {
    /// The interface index.
    pub interface: u32,
    /// `route-gateway`, or the peer's address.
    pub gateway: Option<Ipv4Addr>,
    /// `route-ipv6-gateway`, or the peer's address.
    pub gateway_ipv6: Option<Ipv6Addr>,
    /// The networks on its link.
    pub networks: Vec<Network>,
    /// Whether it is a TAP device.
    pub is_ethernet: bool,
}

/// The host's connectivity without the tunnel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// IPv4 default routes, best first.
    pub default_ipv4: Vec<Route>,
    /// IPv6 default routes, best first.
    pub default_ipv6: Vec<Route>,
    /// Whether an IPv4 default route leads into another tunnel.
    pub is_tunnelled: bool,
    /// The server's address and the route to it.
    pub remote: Option<(IpAddr, Route)>,
    /// The networks on each interface's link, by interface index.
    pub links: Vec<(u32, Network)>,
    /// DHCP servers, for `bypass-dhcp`.
    pub dhcp: Vec<IpAddr>,
    /// Name servers, for `bypass-dns`.
    pub dns: Vec<IpAddr>,
}

impl Host {
    /// Reads the state from the kernel. `remote` is the server's address; `tunnel` is the index of
    /// the tunnel's interface, whose routes are excluded.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn read(netlink: &mut Netlink, remote: Option<IpAddr>, tunnel: u32) -> io::Result<Self> {
        let default_ipv4 = defaults(netlink, true, tunnel)?;
        let default_ipv6 = defaults(netlink, false, tunnel)?;
        let mut is_tunnelled = false;
        for interface in default_ipv4.iter().filter_map(|route| route.interface) {
            let kind = netlink.link_kind(interface).unwrap_or_default();
            is_tunnelled |= kind.is_some_and(|kind| TUNNELS.contains(&&*kind));
        }
        let way = match remote {
            Some(remote) => way_beside(netlink, remote, tunnel)?.map(|route| (remote, route)),
            None => None,
        };
        let links = netlink.addresses()?.into_iter().filter(|address| {
            let loopback = address.address.is_loopback() || address.interface == tunnel;
            !loopback && !is_link_local(address.address)
        });
        let links = links.map(|address| (address.interface, address.network)).collect();
        let (dhcp, dns) = (vec![], vec![]);
        Ok(Self { default_ipv4, default_ipv6, is_tunnelled, remote: way, links, dhcp, dns })
    }

    fn default_route(&self, ipv4: bool) -> Option<&Route> {
        if ipv4 { &self.default_ipv4 } else { &self.default_ipv6 }.first()
    }

    fn router(&self, ipv4: bool) -> Option<IpAddr> {
        self.default_route(ipv4).and_then(|route| route.gateway)
    }

    fn on_link(&self, address: IpAddr) -> Option<u32> {
        self.links.iter().find(|(_, network)| network.contains(address)).map(|(index, _)| *index)
    }
}

/// The kinds of tunnels' interfaces.
const TUNNELS: [&str; 2] = ["tun", dco::KIND];

/// Returns the default routes of a family beside the tunnel, best first.
fn defaults(netlink: &mut Netlink, ipv4: bool, tunnel: u32) -> io::Result<Vec<Route>> {
    let mut routes = netlink.routes(ipv4)?;
    routes.retain(|route| route.destination.prefix() == 0 && route.interface != Some(tunnel));
    routes.sort_by_key(|route| route.metric.unwrap_or(0));
    Ok(routes)
}

/// Returns the route to an address, without this tunnel's own routes.
fn way_beside(netlink: &mut Netlink, to: IpAddr, tunnel: u32) -> io::Result<Option<Route>> {
    let way = netlink.route_to(to)?;
    if way.is_none_or(|way| way.interface != Some(tunnel)) {
        return Ok(way);
    }
    let beside = netlink
        .routes(to.is_ipv4())?
        .into_iter()
        .filter(|route| route.interface != Some(tunnel) && route.destination.contains(to));
    let worth = |route: &Route| (route.destination.prefix(), Reverse(route.metric.unwrap_or(0)));
    Ok(beside.max_by_key(worth))
}

/// A change to the main routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Add a route.
    Add(Route),
    /// Delete a conflicting route.
    Delete(Route),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(route) => write!(f, "add route {route}"),
            Self::Delete(route) => write!(f, "delete route {route}"),
        }
    }
}

/// The ordered changes, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes.
    pub changes: Vec<Change>,
    /// Requests that cannot be satisfied, for the log.
    pub warnings: Vec<String>,
}

/// Plans a tunnel's routes. The route to the server comes first, so that its packets never enter
/// the tunnel that they carry.
pub fn plan(wanted: &[Wanted], redirect: Option<Redirect>, tunnel: &Tunnel, host: &Host) -> Plan {
    let mut plan = Plan::default();
    let mut through = Vec::new();
    let mut beside = Vec::new();
    for wanted in wanted {
        match resolve(wanted, tunnel, host) {
            Ok((route, true)) => through.push(route),
            Ok((route, false)) => beside.push(route),
            Err(reason) => plan.warnings.push(reason),
        }
    }
    let redirect =
        redirect.map(|redirect| Redirect { def1: redirect.def1 || host.is_tunnelled, ..redirect });
    if let Some(redirect) = redirect {
        let families = [(true, redirect.ipv4), (false, redirect.ipv6)];
        for (ipv4, _) in families.into_iter().filter(|(_, asked)| *asked) {
            through.extend(everything(redirect, ipv4).map(|to| into(to, tunnel)));
            if redirect.block_local {
                block_local(ipv4, tunnel, host, &mut through, &mut beside);
            }
            let new = into(Network::ALL_IPV4, tunnel);
            if redirect.def1 || redirect.private || !ipv4 || !tunnel.reaches(&new) {
                continue;
            }
            plan.changes.extend(host.default_ipv4.iter().copied().map(Change::Delete));
        }
        bypass(redirect, host, &through, &mut beside);
    }
    through.retain(|route| {
        let is_reachable = tunnel.reaches(route);
        if !is_reachable {
            let to = route.destination;
            plan.warnings.push(format!(
                "skipping the route to {to}: its gateway in the tunnel is unknown, which \
                 `route-gateway` or `route-ipv6-gateway` sets"
            ));
        }
        is_reachable
    });
    let local = redirect.is_some_and(|redirect| redirect.local);
    let way = (!local).then(|| way_to_remote(host, &through)).flatten();
    let routes = way.into_iter().chain(beside).chain(through);
    let mut planned: Vec<Route> = Vec::new();
    for route in routes {
        let same =
            |other: &Route| (other.destination, other.metric) == (route.destination, route.metric);
        if !planned.iter().any(same) {
            planned.push(route);
        }
    }
    // The old default route is deleted only after the route to the server works without it.
    let whole = |route: &Route| route.destination.prefix() == 0;
    let (whole, rest): (Vec<_>, Vec<_>) = planned.into_iter().partition(whole);
    let deletions = std::mem::take(&mut plan.changes);
    plan.changes.extend(rest.into_iter().map(Change::Add));
    plan.changes.extend(deletions);
    plan.changes.extend(whole.into_iter().map(Change::Add));
    plan
}

/// Applies a plan and records each change in the journal. Returns the failed changes. A route that
/// already exists counts as failed, since this tunnel must not delete it later; unless the journal
/// has it.
///
/// # Errors
///
/// The journal cannot be written, or the kernel cannot be queried.
pub fn apply(
    plan: &Plan,
    netlink: &mut Netlink,
    journal: &mut Journal,
) -> io::Result<Vec<(Change, io::Error)>> {
    let present = [netlink.routes(true)?, netlink.routes(false)?].concat();
    let mut failed = Vec::new();
    for change in &plan.changes {
        let outcome = match change {
            Change::Add(route) if present.iter().any(|other| route.is_same(other)) => {
                match journal.entries().any(|entry| *entry == Undo::DeleteRoute(*route)) {
                    true => Ok(()),
                    false => Err(io::ErrorKind::AlreadyExists.into()),
                }
            }
            Change::Add(route) => {
                journal.change(Undo::DeleteRoute(*route), || netlink.add_route(route))
            }
            Change::Delete(route) => {
                journal.change(Undo::AddRoute(*route), || netlink.delete_route(route))
            }
        };
        failed.extend(outcome.err().map(|error| (*change, error)));
    }
    Ok(failed)
}

/// The routes of the host that a tunnel's routes depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uplinks(Vec<Route>);

impl Uplinks {
    /// Reads the state from the kernel. `tunnel` is the index of the tunnel's interface.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn read(netlink: &mut Netlink, tunnel: u32) -> io::Result<Self> {
        let ipv4 = defaults(netlink, true, tunnel)?;
        Ok(Self([ipv4, defaults(netlink, false, tunnel)?].concat()))
    }
}

/// Returns whether the kernel has lost a route of the journal, as it does with an interface or an
/// address of the host.
///
/// # Errors
///
/// The kernel's error.
pub fn are_lost(netlink: &mut Netlink, journal: &Journal) -> io::Result<bool> {
    let present = [netlink.routes(true)?, netlink.routes(false)?].concat();
    Ok(journal.entries().any(|entry| match entry {
        Undo::DeleteRoute(route) => !present.iter().any(|other| route.is_same(other)),
        _ => false,
    }))
}

/// Undoes the changes that depend on the host's own routes, before they are planned again. Routes
/// into the tunnel stay, so that packets do not leave beside it meanwhile; except a default route,
/// in whose place the host's own must fit. Returns the failed ones.
pub fn undo_beside(journal: &mut Journal, tunnel: u32) -> Vec<(Undo, io::Error)> {
    journal.undo_if(|undo| match undo {
        Undo::DeleteRoute(route) => {
            route.interface != Some(tunnel) || route.destination.prefix() == 0
        }
        Undo::AddRoute(_) => true,
        _ => false,
    })
}

/// Resolves a wanted route. Returns it with whether it leads into the tunnel.
fn resolve(wanted: &Wanted, tunnel: &Tunnel, host: &Host) -> Result<(Route, bool), String> {
    let remote = host.remote.map(|(remote, _)| remote);
    let address = match wanted.destination {
        Destination::Network(network) => return via(wanted, network, tunnel, host),
        Destination::VpnGateway => tunnel.gateway.map(IpAddr::from),
        Destination::NetGateway => host.router(true),
        Destination::RemoteHost => remote,
    };
    let address =
        address.ok_or_else(|| format!("skipping a route: {} is unknown", wanted.destination))?;
    via(wanted, Network::host(address), tunnel, host)
}

fn via(
    wanted: &Wanted,
    destination: Network,
    tunnel: &Tunnel,
    host: &Host,
) -> Result<(Route, bool), String> {
    let ipv4 = destination.is_ipv4();
    let unknown = |what| format!("skipping the route to {destination}: {what}");
    let tunnelled = Route { metric: wanted.metric, ..into(destination, tunnel) };
    let gateway = match wanted.gateway {
        Gateway::Tunnel => return Ok((tunnelled, true)),
        Gateway::NetGateway => {
            let route = host.default_route(ipv4).ok_or_else(|| unknown("no default route"))?;
            let way = Route { destination, metric: wanted.metric, protocol: None, ..*route };
            return Ok((way, false));
        }
        Gateway::RemoteHost => host.remote.map(|(remote, _)| remote),
        Gateway::Address(address) => Some(address),
    };
    let gateway = gateway.ok_or_else(|| unknown("the server's address is unknown"))?;
    if gateway.is_ipv4() != ipv4 {
        return Err(unknown("its gateway has the wrong address family"));
    }
    let own = [tunnel.gateway.map(IpAddr::from), tunnel.gateway_ipv6.map(IpAddr::from)];
    let inside = own.contains(&Some(gateway))
        || tunnel.networks.iter().any(|network| network.contains(gateway));
    if inside {
        let gateway = tunnel.is_ethernet.then_some(gateway);
        return Ok((Route { gateway, ..tunnelled }, true));
    }
    let interface = host.on_link(gateway);
    let metric = wanted.metric;
    Ok((Route { gateway: Some(gateway), interface, metric, ..Route::to(destination) }, false))
}

fn into(destination: Network, tunnel: &Tunnel) -> Route {
    let gateway = tunnel.gateway_of(destination);
    Route { interface: Some(tunnel.interface), gateway, ..Route::to(destination) }
}

impl Tunnel {
    /// Returns the gateway of a route into the tunnel; `None` on the link.
    fn gateway_of(&self, destination: Network) -> Option<IpAddr> {
        if !self.is_ethernet || self.is_on_link(destination) {
            return None;
        }
        match destination.is_ipv4() {
            true => self.gateway.map(IpAddr::from),
            false => self.gateway_ipv6.map(IpAddr::from),
        }
    }

    fn is_on_link(&self, destination: Network) -> bool {
        let address = destination.address();
        self.networks.iter().any(|it| it.contains(address) && it.prefix() <= destination.prefix())
    }

    /// Returns whether a route into the tunnel needs no gateway, or has one.
    fn reaches(&self, route: &Route) -> bool {
        !self.is_ethernet || route.gateway.is_some() || self.is_on_link(route.destination)
    }
}

/// Returns the networks that cover a family: more specific than the default route, or replacing it.
fn everything(redirect: Redirect, ipv4: bool) -> impl Iterator<Item = Network> {
    let parts: &[&str] = match (redirect.private, ipv4, redirect.def1) {
        (true, _, _) => &[],
        (_, true, true) => &["0.0.0.0/1", "128.0.0.0/1"],
        (_, true, false) => &["0.0.0.0/0"],
        // An IPv6 route with prefix 0 would compete with the route from router advertisements.
        (_, false, _) => &["::/3", "2000::/4", "3000::/4", "fc00::/7"],
    };
    parts.iter().map(|network| network.parse().expect("a network"))
}

/// Redirects the local network by two halves, which are more specific; its router stays direct.
fn block_local(
    ipv4: bool,
    tunnel: &Tunnel,
    host: &Host,
    through: &mut Vec<Route>,
    beside: &mut Vec<Route>,
) {
    let Some(uplink) = host.default_route(ipv4) else { return };
    let links = host.links.iter().filter(|(interface, network)| {
        Some(*interface) == uplink.interface && network.is_ipv4() == ipv4
    });
    let halves = links.filter_map(|(_, network)| network.halves()).flatten();
    through.extend(halves.map(|half| into(half, tunnel)));
    if let Some(router) = uplink.gateway.filter(|router| !is_link_local(*router)) {
        beside.push(into_link(router, uplink.interface));
    }
}

/// Adds direct routes to servers that bypass the tunnel.
fn bypass(redirect: Redirect, host: &Host, through: &[Route], beside: &mut Vec<Route>) {
    let dhcp = redirect.bypass_dhcp.then_some(&host.dhcp).into_iter().flatten();
    let dns = redirect.bypass_dns.then_some(&host.dns).into_iter().flatten();
    for server in dhcp.chain(dns).filter(|server| !server.is_loopback()) {
        let on_link = host.on_link(*server);
        let default = host.default_route(server.is_ipv4());
        let way = match (on_link, default) {
            (Some(_), _) => into_link(*server, on_link),
            (None, Some(route)) => Route { destination: Network::host(*server), ..*route },
            (None, None) => continue,
        };
        beside.extend(needed(host, *server, way, through));
    }
}

/// Returns a route to the server by its current path, if the tunnel's routes would capture it.
fn way_to_remote(host: &Host, through: &[Route]) -> Option<Route> {
    let (remote, way) = host.remote?;
    let destination = Network::host(remote);
    needed(host, remote, Route { destination, ..way }, through)
}

/// Returns `way` if a tunnel route would otherwise be taken to `address`.
fn needed(host: &Host, address: IpAddr, way: Route, through: &[Route]) -> Option<Route> {
    let link = host.links.iter().filter(|(_, network)| network.contains(address));
    let link = link.map(|(_, network)| network.prefix()).max();
    let taken = through.iter().filter(|route| route.destination.contains(address));
    let taken = taken.map(|route| route.destination.prefix()).max()?;
    (!address.is_loopback() && link.is_none_or(|link| link <= taken)).then_some(Route {
        metric: None,
        protocol: None,
        ..way
    })
}

fn into_link(address: IpAddr, interface: Option<u32>) -> Route {
    Route { interface, ..Route::to(Network::host(address)) }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
