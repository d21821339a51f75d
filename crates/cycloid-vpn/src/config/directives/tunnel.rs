//! Directives for the device, addresses, routes and name servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::entry::{Entry, ignored, refused, used};
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::place::{BOTH, CLIENT, PUSHED, SERVER, Scope};
use crate::config::tunnel::{
    DeviceType, DnsServer, Ifconfig6, NatRule, Redirect, Route, RouteGateway, Target, Topology,
};
use crate::config::values::{Call, Result};

/// The longest interface name (IFNAMSIZ without its NUL).
const MAX_INTERFACE: usize = 15;
/// The most routes per address family.
const MAX_ROUTES: usize = 10_000;
/// The most rules for the translation of addresses: each packet is compared with them.
const MAX_NAT_RULES: usize = 64;

pub(super) const TABLE: &[Entry] = &[
    used("dev", BOTH, 1, 1, |draft, call| {
        let name = call.text(0);
        let allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
        if name.len() > MAX_INTERFACE || name.is_empty() || !name.bytes().all(allowed) {
            let hint = format!("use 1 to {MAX_INTERFACE} letters and digits, like tun0");
            return Err(Problem::new("invalid interface name", hint));
        }
        let tunnel = &mut draft.common.tunnel;
        tunnel.device_type =
            if name.starts_with("tap") { DeviceType::Tap } else { DeviceType::Tun };
        // `tun` and `tap` take the next free number.
        tunnel.device = (!["tun", "tap"].contains(&name)).then(|| name.to_owned());
        Ok(())
    }),
    used("dev-type", BOTH, 1, 1, |draft, call| {
        let choices = [("tun", DeviceType::Tun), ("tap", DeviceType::Tap)];
        draft.device_type = Some(call.choice(0, &choices)?);
        Ok(())
    }),
    ignored("dev-node", BOTH, "the device is /dev/net/tun"),
    used("topology", BOTH | PUSHED, 1, 1, |draft, call| {
        let choices = [
            ("net30", Topology::Net30),
            ("p2p", Topology::PointToPoint),
            ("subnet", Topology::Subnet),
        ];
        draft.common.tunnel.topology = call.choice(0, &choices)?;
        draft.topology_given = true;
        Ok(())
    }),
    used("ifconfig", BOTH | PUSHED, 2, 2, |draft, call| {
        draft.common.tunnel.ifconfig = Some((call.ipv4(0)?, call.ipv4(1)?));
        Ok(())
    }),
    used("ifconfig-ipv6", BOTH | PUSHED, 1, 2, |draft, call| {
        draft.common.tunnel.ifconfig_ipv6 = Some(ifconfig_ipv6(call)?);
        Ok(())
    }),
    used("ifconfig-noexec", BOTH, 0, 0, |draft, _| {
        draft.common.tunnel.ifconfig_noexec = true;
        Ok(())
    }),
    ignored("ifconfig-nowarn", BOTH, "addresses are not compared with the peer's"),
    used("route", BOTH | PUSHED, 1, 4, |draft, call| {
        let route = route(draft, call);
        match well_formed(draft, call, route)? {
            Some(route) => push_route(&mut draft.common.tunnel.routes, route),
            None => Ok(()),
        }
    }),
    used("route-ipv6", BOTH | PUSHED, 1, 3, |draft, call| {
        match well_formed(draft, call, route_ipv6(call))? {
            Some(route) => push_route(&mut draft.common.tunnel.routes_ipv6, route),
            None => Ok(()),
        }
    }),
    used("route-gateway", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.tunnel.route_gateway = match call.text(0).parse() {
            Ok(address) => Some(RouteGateway::Address(address)),
            Err(_) if call.text(0) == "dhcp" => {
                let message = "address and gateway come from a DHCP client that you run on the \
                               device, as in an `up` script";
                draft.warn(call.directive, message);
                None
            }
            Err(_) => Some(RouteGateway::Name(call.host(0)?)),
        };
        Ok(())
    }),
    used("route-ipv6-gateway", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.tunnel.route_ipv6_gateway = Some(call.ipv6(0)?);
        Ok(())
    }),
    used("route-metric", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.tunnel.route_metric = call.number(0, 0..=u32::MAX)?;
        Ok(())
    }),
    used("route-delay", BOTH | PUSHED, 0, 2, |_, _| Ok(()))
        .with_effect("ignored: routes are added at once, when the device has its addresses"),
    used("route-noexec", BOTH, 0, 0, |draft, _| {
        draft.common.tunnel.route_noexec = true;
        Ok(())
    }),
    used("redirect-gateway", BOTH | PUSHED, 0, 8, |draft, call| redirect(draft, call, true)),
    used("redirect-private", BOTH | PUSHED, 0, 8, |draft, call| redirect(draft, call, false)),
    used("dhcp-option", BOTH | PUSHED, 1, 8, dhcp_option),
    used("dns", BOTH | PUSHED, 2, 16, dns),
    used("client-nat", CLIENT | PUSHED, 4, 4, client_nat),
    used("block-outside-dns", BOTH | PUSHED, 0, 0, |_, _| Ok(()))
        .with_effect("ignored, as by OpenVPN on Linux: it is for Windows"),
    ignored(
        "block-ipv6",
        BOTH | PUSHED,
        "IPv6 packets in the tunnel are not answered as unreachable: block them with a firewall",
    ),
    used("txqueuelen", BOTH, 1, 1, |draft, call| {
        draft.common.tunnel.queue_length = Some(call.number(0, 0..=1_000_000)?);
        Ok(())
    }),
    used("persist-tun", BOTH | PUSHED, 0, 0, |draft, _| {
        draft.common.tunnel.persist = true;
        Ok(())
    }),
    ignored("tun-ipv6", BOTH | PUSHED, "the tunnel always carries IPv6"),
    ignored("tun-mtu-extra", BOTH, "buffers fit any packet"),
    ignored("tun-max-mtu", BOTH, "buffers fit any packet"),
    ignored("link-mtu", BOTH, "sizes follow from tun-mtu and the ciphers"),
    ignored("udp-mtu", BOTH, "sizes follow from tun-mtu and the ciphers"),
    ignored("mtu-dynamic", BOTH, "sizes follow from tun-mtu and the ciphers"),
    ignored("mtu-test", BOTH, "sizes are not probed; mssfix follows from tun-mtu"),
    ignored("max-routes", BOTH | PUSHED, "the number of routes has no such limit"),
    used("lladdr", BOTH, 1, 1, |draft, call| {
        draft.common.tunnel.hardware_address = Some(hardware_address(call.text(0))?);
        Ok(())
    }),
    refused(
        "mktun",
        "the tunnel creates its device at the start",
        "use `ip tuntap add` for a persistent device",
    ),
    refused("rmtun", "the tunnel removes its device at the end", "use `ip tuntap del`"),
    used("ifconfig-ipv6-pool", SERVER, 1, 1, |draft, call| {
        let (first, prefix) = call.network_ipv6(0)?;
        draft.server.pool_ipv6 = Some(crate::config::server::Pool6 { first, prefix });
        Ok(())
    }),
];

/// Parses six bytes in hexadecimal, with colons in between. A group is no address of a device.
fn hardware_address(text: &str) -> Result<[u8; 6]> {
    let byte = |part: &str| match part.len() {
        1 | 2 => u8::from_str_radix(part, 16).ok().filter(|_| !part.starts_with('+')),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
    let address = bytes.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
    address.filter(|it| it[0] & 1 == 0 && *it != [0; 6]).ok_or_else(|| {
        let problem = format!("'{text}' is not the hardware address of a device");
        Problem::new(problem, "write it like 02:00:5e:10:00:01")
    })
}

/// Parses an address, its prefix length, and the optional peer address.
pub(super) fn ifconfig_ipv6(call: &Call<'_>) -> Result<Ifconfig6> {
    let (address, prefix) = call.network_ipv6(0)?;
    let remote = match call.get(1) {
        Some(_) => Some(call.ipv6(1)?),
        None => None,
    };
    Ok(Ifconfig6 { address, prefix, remote })
}

fn route(draft: &mut Draft, call: &Call<'_>) -> Result<Route<Ipv4Addr>> {
    if let Some((address, length)) = call.text(0).split_once('/')
        && let (Ok(address), Ok(length @ 0..=32)) =
            (address.parse::<Ipv4Addr>(), length.parse::<u32>())
    {
        let netmask = Ipv4Addr::from(u32::MAX.checked_shl(32 - length).unwrap_or(0));
        let message = format!("'{}' has a prefix length", call.text(0));
        return Err(Problem::new(message, format!("write `route {address} {netmask}`")));
    }
    let prefix = if call.get(1).is_some() { call.netmask(1)? } else { 32 };
    let mut network = call.target::<Ipv4Addr>(0)?;
    let (gateway, metric) = by(call, 2)?;
    if let Target::Address(address) = network {
        let host_bits = u32::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
        if u32::from(address) & host_bits != 0 {
            let masked = Ipv4Addr::from(u32::from(address) & !host_bits);
            let message = format!("{address} has bits outside its netmask: {masked} is used");
            draft.warn(call.directive, message);
            network = Target::Address(masked);
        }
    }
    Ok(Route { network, prefix, gateway, metric })
}

fn route_ipv6(call: &Call<'_>) -> Result<Route<Ipv6Addr>> {
    let (address, prefix) = call.network_ipv6(0)?;
    let (gateway, metric) = by(call, 1)?;
    Ok(Route { network: Target::Address(address), prefix, gateway, metric })
}

/// Returns a route, or warns that a malformed one in a file is left out: as in OpenVPN, it does not
/// stop the tunnel.
fn well_formed<A>(
    draft: &mut Draft,
    call: &Call<'_>,
    route: Result<Route<A>>,
) -> Result<Option<Route<A>>> {
    match route {
        Err(Problem { message, hint }) if call.scope == Scope::Profile => {
            let message = format!("the route is left out: {message}; {hint}");
            draft.warn(call.directive, message);
            Ok(None)
        }
        route => route.map(Some),
    }
}

/// Parses the optional gateway and metric at the end of a route.
fn by<A: std::str::FromStr>(
    call: &Call<'_>,
    index: usize,
) -> Result<(Option<Target<A>>, Option<u32>)> {
    let gateway = match call.get(index) {
        Some(_) => Some(call.target(index)?),
        None => None,
    };
    let metric = match call.get(index + 1) {
        Some(_) => Some(call.number(index + 1, 0..=u32::MAX)?),
        None => None,
    };
    Ok((gateway, metric))
}

fn push_route<A>(routes: &mut Vec<Route<A>>, route: Route<A>) -> Result<()> {
    if routes.len() == MAX_ROUTES {
        let hint = "merge adjacent networks";
        return Err(Problem::new(format!("more than {MAX_ROUTES} routes"), hint));
    }
    routes.push(route);
    Ok(())
}

fn redirect(draft: &mut Draft, call: &Call<'_>, gateway: bool) -> Result<()> {
    let mut redirect = draft.common.tunnel.redirect.unwrap_or_default();
    redirect.ipv4 |= gateway;
    for flag in call.all() {
        match flag.as_str() {
            "def1" => redirect.def1 = true,
            "local" => redirect.local = true,
            "autolocal" => redirect.auto_local = true,
            "block-local" => redirect.block_local = true,
            "bypass-dhcp" => redirect.bypass_dhcp = true,
            "bypass-dns" => redirect.bypass_dns = true,
            "ipv6" => redirect.ipv6 = true,
            "!ipv4" => redirect.ipv4 = false,
            other => {
                return Err(Problem::new(
                    format!("unknown flag '{other}'"),
                    "use def1, ipv6, !ipv4, local, autolocal, block-local, bypass-dhcp or \
                     bypass-dns",
                ));
            }
        }
    }
    draft.common.tunnel.redirect = Some(Redirect { ipv6: redirect.ipv6 && gateway, ..redirect });
    Ok(())
}

fn dhcp_option(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let dns = &mut draft.common.tunnel.dns;
    let value = call.text(1);
    match call.text(0) {
        "DNS" | "DNS6" => {
            let address: IpAddr = value.parse().map_err(|_| {
                Problem::new(
                    format!("'{value}' is not a name server address"),
                    "write it like dhcp-option DNS 10.8.0.1",
                )
            })?;
            dns.addresses.push(address);
        }
        "DOMAIN" | "ADAPTER_DOMAIN_SUFFIX" => dns.domain = Some(domain(value)?),
        "DOMAIN-SEARCH" => dns.search.push(domain(value)?),
        _ => dns.other.push(call.all().to_vec()),
    }
    if dns.addresses.len() + dns.search.len() + dns.other.len() > 256 {
        return Err(Problem::new("more than 256 dhcp-option lines", "remove some of them"));
    }
    Ok(())
}

fn domain(name: &str) -> Result<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if name.is_empty() || name.len() > 253 || !name.bytes().all(allowed) {
        let problem = format!("'{name}' is not a domain");
        return Err(Problem::new(problem, "write it like example.org"));
    }
    Ok(name.to_owned())
}

/// `dns search-domains …` and `dns server N …`.
fn dns(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let dns = &mut draft.common.tunnel.dns;
    let from = |first: usize| call.all().iter().skip(first);
    if call.text(0) == "search-domains" {
        for name in from(1) {
            dns.search.push(domain(name)?);
        }
        return Ok(());
    }
    call.choice(0, &[("server", ()), ("search-domains", ())])?;
    let priority = call.number(1, -128..=127)?;
    if call.all().len() < 4 {
        let hint = "write it like dns server 1 address 10.8.0.1";
        return Err(Problem::new("an argument is missing", hint));
    }
    let at = dns.servers.partition_point(|server| server.priority < priority);
    if dns.servers.get(at).is_none_or(|server| server.priority != priority) {
        dns.servers.insert(at, DnsServer { priority, ..DnsServer::default() });
    }
    let server = &mut dns.servers[at];
    match call.text(2) {
        "address" => {
            for text in from(3) {
                if server.addresses.len() == 8 {
                    let hint = "use another server number for more";
                    return Err(Problem::new("a server has more than 8 addresses", hint));
                }
                server.addresses.push(dns_address(text)?);
            }
        }
        "resolve-domains" => {
            for name in from(3) {
                server.resolve_domains.push(domain(name)?);
            }
        }
        "dnssec" => {
            let choices = [("yes", "yes"), ("optional", "optional"), ("no", "no")];
            server.dnssec = Some(call.choice(3, &choices)?.into());
        }
        "transport" => {
            let choices = [("DoH", "DoH"), ("DoT", "DoT"), ("plain", "plain")];
            server.transport = Some(call.choice(3, &choices)?.into());
        }
        "sni" => server.server_name = Some(domain(call.text(3))?),
        other => {
            return Err(Problem::new(
                format!("unknown name server setting '{other}'"),
                "use address, resolve-domains, dnssec, transport or sni",
            ));
        }
    }
    Ok(())
}

/// Parses an address with an optional port after a colon. IPv6 with a port needs brackets.
fn dns_address(text: &str) -> Result<SocketAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().map(|address| SocketAddr::new(address, 0));
    address.or_else(|_| text.parse()).map_err(|_| {
        Problem::new(
            format!("'{text}' is not a name server address"),
            "write it like 10.8.0.1, 10.8.0.1:5353 or [fd00::1]:5353",
        )
    })
}

/// Reads `client-nat snat|dnat NETWORK NETMASK ALIAS`.
fn client_nat(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let rules = &mut draft.common.tunnel.nat;
    if rules.len() == MAX_NAT_RULES {
        return Err(Problem::new("too many rules", format!("use at most {MAX_NAT_RULES}")));
    }
    rules.push(NatRule {
        is_source: call.choice(0, &[("snat", true), ("dnat", false)])?,
        network: call.ipv4(1)?,
        prefix: call.netmask(2)?,
        alias: call.ipv4(3)?,
    });
    Ok(())
}
