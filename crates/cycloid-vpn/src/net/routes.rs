//! Which routes a tunnel needs: planned from what the configuration and the server say and from how the
//! host is connected, then applied through the journal.
//!
//! What goes into the tunnel is routed to its interface alone: a gateway on a point-to-point link says
//! nothing to the kernel, and it need not be within reach for the route to be accepted.
//!
//! Source: openvpn(8), "--route", "--route-ipv6", "--redirect-gateway".

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::netlink::{Netlink, Route};
use super::network::Network;
use super::undo::{Journal, Undo};

#[cfg(test)]
mod tests;

/// What `redirect-gateway` or `redirect-private` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Everything of IPv4 goes through the tunnel.
    pub ipv4: bool,
    /// Everything of IPv6 goes through the tunnel.
    pub ipv6: bool,
    /// By routes more specific than the default route, which stays.
    pub def1: bool,
    /// The remote is on a link of this host, so that it needs no route of its own.
    pub local: bool,
    /// As `local`, if it is found to be so.
    pub autolocal: bool,
    /// The local network goes through the tunnel too, but for its router.
    pub block_local: bool,
    /// DHCP servers stay reachable as they are.
    pub bypass_dhcp: bool,
    /// Name servers stay reachable as they are.
    pub bypass_dns: bool,
    /// `redirect-private`: the default route stays what it is.
    pub private: bool,
}

impl Redirect {
    /// The flags of `redirect-gateway`, or of `redirect-private`.
    ///
    /// # Errors
    ///
    /// The flag that is none.
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

/// Where a wanted route leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A network.
    Network(Network),
    /// `vpn_gateway` alone.
    VpnGateway,
    /// `net_gateway` alone.
    NetGateway,
    /// `remote_host` alone.
    RemoteHost,
}

/// By which router a wanted route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateway {
    /// Through the tunnel: no gateway, `default`, `vpn_gateway`.
    Tunnel,
    /// By the router that was there before: `net_gateway`, `net_gateway_ipv6`.
    NetGateway,
    /// By the server: `remote_host`.
    RemoteHost,
    /// By this one; through the tunnel if it is there.
    Address(IpAddr),
}

/// A `route` or `route-ipv6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where to.
    pub destination: Destination,
    /// By which router.
    pub gateway: Gateway,
    /// The lower the better; none for the kernel's own choice.
    pub metric: Option<u32>,
}

/// The tunnel's interface.
#[derive(Clone, Debug, Default)]
pub struct Tunnel {
    /// Its index.
    pub interface: u32,
    /// `route-gateway`, or the peer's address.
    pub gateway: Option<Ipv4Addr>,
    /// `route-ipv6-gateway`, or the peer's address.
    pub gateway_ipv6: Option<Ipv6Addr>,
    /// What is on its link.
    pub networks: Vec<Network>,
}

/// How the host is connected without the tunnel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The default routes of IPv4, the best first.
    pub default_ipv4: Vec<Route>,
    /// The default routes of IPv6, the best first.
    pub default_ipv6: Vec<Route>,
    /// The server's address, and the way to it.
    pub remote: Option<(IpAddr, Route)>,
    /// What is on the link of each interface, by its index.
    pub links: Vec<(u32, Network)>,
    /// DHCP servers, for `bypass-dhcp`.
    pub dhcp: Vec<IpAddr>,
    /// Name servers, for `bypass-dns`.
    pub dns: Vec<IpAddr>,
}

impl Host {
    /// Asks the kernel. `remote` is the server's address; `tunnel` the index of the tunnel's interface,
    /// whose routes are left out.
    ///
    /// # Errors
    ///
    /// The kernel's.
    pub fn read(netlink: &mut Netlink, remote: Option<IpAddr>, tunnel: u32) -> io::Result<Self> {
        let mut defaults = |ipv4| -> io::Result<Vec<Route>> {
            let mut routes = netlink.routes(ipv4)?;
            routes
                .retain(|route| route.destination.prefix() == 0 && route.interface != Some(tunnel));
            routes.sort_by_key(|route| route.metric.unwrap_or(0));
            Ok(routes)
        };
        let (default_ipv4, default_ipv6) = (defaults(true)?, defaults(false)?);
        let way = match remote {
            Some(remote) => netlink.route_to(remote)?.map(|route| (remote, route)),
            None => None,
        };
        let links = netlink.addresses()?.into_iter().filter(|address| {
            let loopback = address.address.is_loopback() || address.interface == tunnel;
            !loopback && !is_link_local(address.address)
        });
        let links = links.map(|address| (address.interface, address.network)).collect();
        Ok(Self { default_ipv4, default_ipv6, remote: way, links, dhcp: vec![], dns: vec![] })
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

/// A change of the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new route.
    Add(Route),
    /// A route that is in the way.
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

/// What is to be changed, in this order, and what cannot be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes.
    pub changes: Vec<Change>,
    /// What was asked for and cannot be, for the log.
    pub warnings: Vec<String>,
}

/// Plans a tunnel's routes. The way to the server comes first, so that there is no moment in which its
/// packets would go into the tunnel that they carry.
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
    if let Some(redirect) = redirect {
        let families = [(true, redirect.ipv4), (false, redirect.ipv6)];
        for (ipv4, _) in families.into_iter().filter(|(_, asked)| *asked) {
            through.extend(everything(redirect, ipv4).map(|to| into(to, tunnel)));
            if redirect.block_local {
                block_local(ipv4, tunnel, host, &mut through, &mut beside);
            }
            if redirect.def1 || redirect.private || !ipv4 {
                continue;
            }
            plan.changes.extend(host.default_ipv4.iter().copied().map(Change::Delete));
        }
        bypass(redirect, host, &through, &mut beside);
    }
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
    // The old default route goes only once the way to the server stands without it.
    let whole = |route: &Route| route.destination.prefix() == 0;
    let (whole, rest): (Vec<_>, Vec<_>) = planned.into_iter().partition(whole);
    let deletions = std::mem::take(&mut plan.changes);
    plan.changes.extend(rest.into_iter().map(Change::Add));
    plan.changes.extend(deletions);
    plan.changes.extend(whole.into_iter().map(Change::Add));
    plan
}

/// Makes the changes of a plan and notes each in the journal; gives those that failed. A route that is
/// there already is one of these, as it is not this tunnel's to take away.
///
/// # Errors
///
/// The journal cannot be written, or the kernel not be asked.
pub fn apply(
    plan: &Plan,
    netlink: &mut Netlink,
    journal: &mut Journal,
) -> io::Result<Vec<(Change, io::Error)>> {
    let present = [netlink.routes(true)?, netlink.routes(false)?].concat();
    let mut failed = Vec::new();
    for change in &plan.changes {
        let outcome = match change {
            Change::Add(route) if present.iter().any(|other| same(route, other)) => {
                Err(io::ErrorKind::AlreadyExists.into())
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

/// Whether the kernel takes one for the other when it is to be deleted.
fn same(route: &Route, present: &Route) -> bool {
    let key = |route: &Route| (route.destination, route.gateway, route.interface);
    key(route) == key(present) && route.metric.is_none_or(|metric| Some(metric) == present.metric)
}

/// A wanted route, and whether it leads through the tunnel.
fn resolve(wanted: &Wanted, tunnel: &Tunnel, host: &Host) -> Result<(Route, bool), String> {
    let remote = host.remote.map(|(remote, _)| remote);
    let address = match wanted.destination {
        Destination::Network(network) => return via(wanted, network, tunnel, host),
        Destination::VpnGateway => tunnel.gateway.map(IpAddr::from),
        Destination::NetGateway => host.router(true),
        Destination::RemoteHost => remote,
    };
    let address = address.ok_or_else(|| {
        format!("a route is left out: {:?} is not known here", wanted.destination)
    })?;
    via(wanted, Network::host(address), tunnel, host)
}

fn via(
    wanted: &Wanted,
    destination: Network,
    tunnel: &Tunnel,
    host: &Host,
) -> Result<(Route, bool), String> {
    let ipv4 = destination.is_ipv4();
    let unknown = |what| format!("the route to {destination} is left out: {what}");
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
    let gateway = gateway.ok_or_else(|| unknown("the server's address is not known"))?;
    if gateway.is_ipv4() != ipv4 {
        return Err(unknown("its gateway is of the other family"));
    }
    let own = [tunnel.gateway.map(IpAddr::from), tunnel.gateway_ipv6.map(IpAddr::from)];
    let inside = own.contains(&Some(gateway))
        || tunnel.networks.iter().any(|network| network.contains(gateway));
    if inside {
        return Ok((tunnelled, true));
    }
    let interface = host.on_link(gateway);
    let metric = wanted.metric;
    Ok((Route { gateway: Some(gateway), interface, metric, ..Route::to(destination) }, false))
}

fn into(destination: Network, tunnel: &Tunnel) -> Route {
    Route { interface: Some(tunnel.interface), ..Route::to(destination) }
}

/// What everything is made of, so that it goes before the default route, or replaces it.
fn everything(redirect: Redirect, ipv4: bool) -> impl Iterator<Item = Network> {
    let parts: &[&str] = match (redirect.private, ipv4, redirect.def1) {
        (true, _, _) => &[],
        (_, true, true) => &["0.0.0.0/1", "128.0.0.0/1"],
        (_, true, false) => &["0.0.0.0/0"],
        // A route of IPv6 with the prefix 0 would stand beside the one that routers announce.
        (_, false, _) => &["::/3", "2000::/4", "3000::/4", "fc00::/7"],
    };
    parts.iter().map(|network| network.parse().expect("a network"))
}

/// The local network into the tunnel, by halves that go before it; its router stays.
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

/// Routes to servers that stay reachable as they are.
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

/// A route to the server as it is reached now, if the tunnel's routes would lead there.
fn way_to_remote(host: &Host, through: &[Route]) -> Option<Route> {
    let (remote, way) = host.remote?;
    let destination = Network::host(remote);
    needed(host, remote, Route { destination, ..way }, through)
}

/// `way`, if a route into the tunnel would be taken to `address` instead.
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
