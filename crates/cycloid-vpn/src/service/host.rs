//! Configures the machine for a tunnel: addresses, routes and name servers.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use super::Failure;
use super::hooks::Environment;
use crate::config::{self, DeviceType, Redirect, RouteGateway, Target};
use crate::net::dns::{Dns, Dnssec, Domain, NameTransport, Resolver, Server};
use crate::net::netlink::{Address, Netlink};
use crate::net::network::Network;
use crate::net::routes::{self, Destination, Gateway, Host, Uplinks, Wanted};
use crate::net::tun::{self, Ipv4Link, Offload, Tun};
use crate::net::undo::{Journal, Undo};

/// Opens the tunnel's device, with a queue for each thread.
pub fn open(tunnel: &config::Tunnel, threads: usize) -> Result<Tun, Failure> {
    let name = tunnel.device.as_deref().unwrap_or(tunnel.device_type.name());
    if tunnel.without_device {
        return Ok(Tun::none(name, threads)?);
    }
    Ok(match tunnel.device_type {
        DeviceType::Tun => Tun::open(name, threads, Offload::TcpAndUdp)?,
        DeviceType::Tap => Tun::open_ethernet(name, threads)?,
    })
}

/// Sets the interface's addresses and MTU.
pub fn configure(interface: &str, tunnel: &config::Tunnel, mtu: u32) -> Result<(), Failure> {
    if tunnel.without_device {
        return Ok(());
    }
    if let (DeviceType::Tap, Some((address, other))) = (tunnel.device_type, tunnel.ifconfig)
        && Network::with_netmask(address, other).is_err()
    {
        let problem = format!("`dev tap` needs an address with a netmask: {address} {other}");
        return Err(Failure::new(problem).hint("set `dev tap` at both ends, or at none"));
    }
    let ipv4 = tunnel.ifconfig.map(|(address, other)| {
        let link = match tunnel.addressing() {
            config::Topology::Subnet => Ipv4Link::Subnet(u32::from(other).leading_ones() as u8),
            _ => Ipv4Link::PointToPoint(other),
        };
        (address, link)
    });
    let configuration = tun::Configuration {
        mtu,
        queue_length: tunnel.queue_length.filter(|length| *length > 0),
        hardware_address: tunnel.hardware_address,
        ipv4: ipv4.filter(|_| !tunnel.ifconfig_noexec),
        ipv6: tunnel
            .ifconfig_ipv6
            .filter(|_| !tunnel.ifconfig_noexec)
            .map(|ifconfig| (ifconfig.address, ifconfig.prefix)),
    };
    Ok(tun::configure(interface, &configuration)?)
}

/// Removes the interface's addresses, before others are set.
pub fn remove_addresses(interface: &str, tunnel: &config::Tunnel) -> std::io::Result<()> {
    if tunnel.ifconfig_noexec || tunnel.without_device {
        return Ok(());
    }
    let mut netlink = Netlink::open()?;
    let interface = netlink.interface(interface)?;
    let ipv4 = tunnel.ifconfig.map(|(address, _)| IpAddr::V4(address));
    let ipv6 = tunnel.ifconfig_ipv6.map(|ifconfig| IpAddr::V6(ifconfig.address));
    let ours = |it: &Address| it.interface == interface && [ipv4, ipv6].contains(&Some(it.address));
    for address in netlink.addresses()?.into_iter().filter(ours) {
        netlink.delete_address(&address)?;
    }
    Ok(())
}

/// Returns the environment and arguments of the `up` and `down` scripts.
pub fn script_inputs(
    mut environment: Environment,
    interface: &str,
    tunnel: &config::Tunnel,
    mtu: u32,
    context: &str,
) -> (Environment, Vec<String>) {
    environment.set_interface(interface, tunnel.device_type, mtu);
    environment.set("script_context", context);
    let (mut local, mut second) = (String::new(), String::new());
    if let Some((address, other)) = tunnel.ifconfig {
        environment.set_ifconfig(tunnel.addressing().into(), address, other);
        (local, second) = (address.to_string(), other.to_string());
    }
    if let Some(ifconfig) = tunnel.ifconfig_ipv6 {
        environment.set_ifconfig_ipv6(ifconfig.address, ifconfig.prefix, ifconfig.remote);
    }
    set_routes(&mut environment, &tunnel.routes);
    set_routes(&mut environment, &tunnel.routes_ipv6);
    let zero = "0".to_owned();
    let arguments =
        vec![interface.to_owned(), mtu.to_string(), zero, local, second, context.to_owned()];
    (environment, arguments)
}

/// Sets the variables of routes with known addresses.
fn set_routes<A: Copy + Into<IpAddr>>(environment: &mut Environment, routes: &[config::Route<A>]) {
    for (number, route) in (1..).zip(routes) {
        let Target::Address(address) = route.network else { continue };
        let Ok(network) = Network::new(address.into(), route.prefix) else { continue };
        let gateway = match route.gateway {
            Some(Target::Address(gateway)) => Some(gateway.into()),
            _ => None,
        };
        environment.set_route(number, network, gateway, route.metric);
    }
}

/// Adds the routes. Returns warnings about failed ones, for the log.
pub fn add_routes(
    interface: &str,
    tunnel: &config::Tunnel,
    remote: Option<IpAddr>,
    journal: &mut Journal,
) -> Result<Vec<String>, Failure> {
    if tunnel.route_noexec || tunnel.without_device {
        return Ok(Vec::new());
    }
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| Failure::new(format!("{what}: {error}"))
    };
    let mut netlink = Netlink::open().map_err(failed("cannot open netlink"))?;
    let index = netlink.interface(interface).map_err(failed("cannot find the interface"))?;
    let mut warnings = Vec::new();
    let wanted = wanted(tunnel, &mut warnings);
    let host = Host::read(&mut netlink, remote, index).map_err(failed("cannot read the routes"))?;
    let way = routes::Tunnel {
        interface: index,
        gateway: match &tunnel.route_gateway {
            Some(RouteGateway::Address(address)) => Some(*address),
            Some(RouteGateway::Name(name)) => resolve(name).and_then(|address| match address {
                IpAddr::V4(address) => Some(address),
                IpAddr::V6(_) => None,
            }),
            None => tunnel
                .ifconfig
                .filter(|_| tunnel.addressing() != config::Topology::Subnet)
                .map(|(_, peer)| peer),
        },
        gateway_ipv6: tunnel
            .route_ipv6_gateway
            .or(tunnel.ifconfig_ipv6.and_then(|ifconfig| ifconfig.remote)),
        networks: networks(tunnel),
        is_ethernet: tunnel.device_type == DeviceType::Tap,
    };
    let plan = routes::plan(&wanted, tunnel.redirect.map(redirect), &way, &host);
    warnings.extend(plan.warnings.iter().cloned());
    let refused =
        routes::apply(&plan, &mut netlink, journal).map_err(failed("cannot add routes"))?;
    warnings.extend(refused.iter().map(|(change, error)| format!("cannot {change}: {error}")));
    Ok(warnings)
}

/// Returns the host's own routes that a tunnel's routes depend on.
pub fn uplinks(interface: &str) -> Result<Uplinks, Failure> {
    let mut netlink = Netlink::open().map_err(unread)?;
    let index = netlink.interface(interface).map_err(unread)?;
    Uplinks::read(&mut netlink, index).map_err(unread)
}

/// Returns whether a tunnel's routes were planned for other uplinks, or the kernel has lost some.
pub fn are_outdated(
    interface: &str,
    uplinks: &Uplinks,
    journal: &Journal,
) -> Result<bool, Failure> {
    let lost = Netlink::open().and_then(|mut netlink| routes::are_lost(&mut netlink, journal));
    Ok(lost.map_err(unread)? || *uplinks != self::uplinks(interface)?)
}

/// Undoes the changes to routes that depend on the uplinks. Returns the failed ones.
pub fn undo_beside(
    interface: &str,
    journal: &mut Journal,
) -> Result<Vec<(Undo, std::io::Error)>, Failure> {
    let index = Netlink::open().and_then(|mut netlink| netlink.interface(interface));
    Ok(routes::undo_beside(journal, index.map_err(unread)?))
}

fn unread(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot read the routes: {error}"))
}

fn networks(tunnel: &config::Tunnel) -> Vec<Network> {
    let ipv4 = tunnel
        .ifconfig
        .filter(|_| tunnel.addressing() == config::Topology::Subnet)
        .and_then(|(address, netmask)| Network::with_netmask(address, netmask).ok());
    let ipv6 = tunnel
        .ifconfig_ipv6
        .and_then(|ifconfig| Network::new(ifconfig.address.into(), ifconfig.prefix).ok());
    ipv4.into_iter().chain(ipv6).collect()
}

fn wanted(tunnel: &config::Tunnel, warnings: &mut Vec<String>) -> Vec<Wanted> {
    let metric = Some(tunnel.route_metric).filter(|metric| *metric > 0);
    let mut all = Vec::new();
    for route in &tunnel.routes {
        all.extend(one(route, metric, warnings));
    }
    for route in &tunnel.routes_ipv6 {
        all.extend(one(route, metric, warnings));
    }
    all
}

fn one<A: Copy + Into<IpAddr> + std::fmt::Display>(
    route: &config::Route<A>,
    metric: Option<u32>,
    warnings: &mut Vec<String>,
) -> Option<Wanted> {
    let mut address = |target: &Target<A>| match target {
        Target::Address(address) => Some((*address).into()),
        Target::Name(name) => {
            let found = resolve(name);
            if found.is_none() {
                warnings.push(format!("route {route}: {name} has no address"));
            }
            found
        }
        _ => None,
    };
    let destination = match &route.network {
        Target::VpnGateway => Destination::VpnGateway,
        Target::NetGateway => Destination::NetGateway,
        Target::RemoteHost => Destination::RemoteHost,
        target => match Network::new(address(target)?, route.prefix) {
            Ok(network) => Destination::Network(network),
            Err(error) => {
                warnings.push(format!("route {route}: {error}"));
                return None;
            }
        },
    };
    let gateway = match &route.gateway {
        None | Some(Target::VpnGateway) => Gateway::Tunnel,
        Some(Target::NetGateway) => Gateway::NetGateway,
        Some(Target::RemoteHost) => Gateway::RemoteHost,
        Some(target) => Gateway::Address(address(target)?),
    };
    Some(Wanted { destination, gateway, metric: route.metric.or(metric) })
}

fn redirect(redirect: Redirect) -> routes::Redirect {
    routes::Redirect {
        ipv4: redirect.ipv4,
        ipv6: redirect.ipv6,
        def1: redirect.def1,
        local: redirect.local,
        autolocal: redirect.auto_local,
        block_local: redirect.block_local,
        bypass_dhcp: redirect.bypass_dhcp,
        bypass_dns: redirect.bypass_dns,
        private: !redirect.ipv4 && !redirect.ipv6,
    }
}

fn resolve(name: &str) -> Option<IpAddr> {
    (name, 0).to_socket_addrs().ok()?.next().map(|address: SocketAddr| address.ip())
}

/// Returns the settings for the resolver, and warnings. Of several `dns server`s, the first one
/// that the resolver can ask as required is used, as in OpenVPN 2.7; its addresses replace each
/// other.
pub fn names(dns: &config::Dns, resolver: &Resolver) -> (Dns, Vec<String>) {
    let domains = |names: &[String]| names.iter().filter_map(|name| Domain::new(name)).collect();
    let mut common = Dns { search: domains(&dns.search), ..Dns::default() };
    common.search.extend(dns.domain.iter().filter_map(|name| Domain::new(name)));
    if dns.servers.is_empty() {
        common.servers.extend(dns.addresses.iter().map(|&address| Server { address, port: None }));
        return (common, Vec::new());
    }
    let mut warnings = Vec::new();
    for server in dns.servers.iter().filter(|server| !server.addresses.is_empty()) {
        let names = Dns {
            servers: server.addresses.iter().map(address_of).collect(),
            only: domains(&server.resolve_domains),
            dnssec: server.dnssec.as_deref().map(|word| match word {
                "yes" => Dnssec::Required,
                "optional" => Dnssec::Optional,
                _ => Dnssec::Off,
            }),
            transport: server.transport.as_deref().map(|word| match word {
                "DoH" => NameTransport::Https,
                "DoT" => NameTransport::Tls,
                _ => NameTransport::Plain,
            }),
            server_name: server.server_name.as_deref().and_then(Domain::new),
            ..common.clone()
        };
        let unused = names.servers.iter().filter(|server| !resolver.can_ask(server));
        let unused: Vec<String> = unused.map(|server| server.address.to_string()).collect();
        match resolver.lacks(&names) {
            None if unused.is_empty() => return (names, warnings),
            None => {
                warnings.push(format!(
                    "dns server {}: {} is not used: this machine's resolver has no ports of name \
                     servers",
                    server.priority,
                    unused.join(", ")
                ));
                return (names, warnings);
            }
            Some(lack) => warnings.push(format!(
                "dns server {} is not used: this machine's resolver has no {lack}",
                server.priority
            )),
        }
    }
    (common, warnings)
}

fn address_of(address: &SocketAddr) -> Server {
    Server {
        address: address.ip(),
        port: Some(address.port()).filter(|port| *port != 0 && *port != 53),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_server_that_the_resolver_can_ask_is_used() {
        let server =
            |priority, address: &str, transport: &str, domains: &[&str]| config::DnsServer {
                priority,
                addresses: vec![address.parse().unwrap()],
                resolve_domains: domains.iter().map(|&name| name.to_owned()).collect(),
                transport: Some(transport.to_owned()),
                server_name: Some("dns.example".to_owned()),
                dnssec: Some("optional".to_owned()),
            };
        let dns = config::Dns {
            search: vec!["example.org".to_owned()],
            servers: vec![
                config::DnsServer { priority: -1, ..config::DnsServer::default() },
                server(0, "10.8.0.1:443", "DoH", &[]),
                server(1, "10.8.0.2:853", "DoT", &["corp.example"]),
                server(2, "10.8.0.3:53", "plain", &[]),
            ],
            ..config::Dns::default()
        };
        let (found, warnings) = names(&dns, &Resolver::Resolved);
        assert_eq!(found.servers, [address_of(&"10.8.0.2:853".parse().unwrap())]);
        assert_eq!(found.only, [Domain::new("corp.example").unwrap()]);
        assert_eq!(found.search, [Domain::new("example.org").unwrap()]);
        assert_eq!(found.transport, Some(NameTransport::Tls));
        assert_eq!(found.dnssec, Some(Dnssec::Optional));
        assert_eq!(found.server_name, Domain::new("dns.example"));
        let expected = "dns server 0 is not used: this machine's resolver has no DNS over HTTPS";
        assert_eq!(warnings, [expected]);

        let (found, warnings) = names(&dns, &Resolver::Resolvconf);
        assert_eq!(found.servers, [address_of(&"10.8.0.3:53".parse().unwrap())]);
        assert!(found.only.is_empty());
        assert_eq!(warnings.len(), 2);

        // A port needs systemd-resolved. Without it, an address with a port is left out.
        let both = server(3, "10.8.0.4:5353", "plain", &[]);
        let mut one = both.clone();
        one.addresses.push("10.8.0.5:0".parse().unwrap());
        for (server, addresses, warning) in [
            (
                both,
                0,
                "dns server 3 is not used: this machine's resolver has no ports of name servers",
            ),
            (
                one,
                2,
                "dns server 3: 10.8.0.4 is not used: this machine's resolver has no ports of name \
                 servers",
            ),
        ] {
            let dns = config::Dns { servers: vec![server], ..dns.clone() };
            let (found, warnings) = names(&dns, &Resolver::Resolvconf);
            assert_eq!(found.servers.len(), addresses);
            assert_eq!(warnings, [warning]);
            assert_eq!(names(&dns, &Resolver::Resolved).1, [] as [&str; 0]);
        }

        let encrypted = config::Dns { servers: dns.servers[1..2].to_vec(), ..dns };
        let (found, warnings) = names(&encrypted, &Resolver::Resolvconf);
        assert!(found.servers.is_empty(), "a server must not be asked in the clear instead");
        assert_eq!(warnings.len(), 1);
    }
}
