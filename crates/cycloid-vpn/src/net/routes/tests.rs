use super::*;

const TUN: u32 = 9;
const ETHERNET: u32 = 2;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn net(text: &str) -> Network {
    text.parse().unwrap()
}

fn tunnel() -> Tunnel {
    Tunnel {
        interface: TUN,
        gateway: Some(Ipv4Addr::new(10, 8, 0, 1)),
        gateway_ipv6: Some("fd77::1".parse().unwrap()),
        networks: vec![net("10.8.0.0/24"), net("fd77::/64")],
        is_ethernet: false,
    }
}

fn uplink(destination: &str, gateway: &str) -> Route {
    Route {
        gateway: Some(ip(gateway)),
        interface: Some(ETHERNET),
        metric: Some(100),
        protocol: Some(16),
        ..Route::to(net(destination))
    }
}

/// A home network host with one router, which also announces IPv6.
fn host(remote: &str) -> Host {
    let remote = ip(remote);
    let default = uplink("0.0.0.0/0", "192.168.1.1");
    let default_ipv6 = uplink("::/0", "fe80::1");
    let way = if remote.is_ipv4() { default } else { default_ipv6 };
    let on_link = net("192.168.1.0/24").contains(remote);
    let gateway = way.gateway.filter(|_| !on_link);
    Host {
        default_ipv4: vec![default],
        default_ipv6: vec![default_ipv6],
        is_tunnelled: false,
        remote: Some((remote, Route { destination: Network::host(remote), gateway, ..way })),
        links: vec![(ETHERNET, net("192.168.1.0/24")), (ETHERNET, net("2001:db8:1::/64"))],
        dhcp: vec![ip("192.168.1.2")],
        dns: vec![ip("9.9.9.9"), ip("127.0.0.53")],
    }
}

fn wanted(destination: &str, gateway: Gateway) -> Wanted {
    Wanted { destination: Destination::Network(net(destination)), gateway, metric: None }
}

fn redirect(flags: &str) -> Option<Redirect> {
    Some(Redirect::parse(false, flags.split_whitespace()).unwrap())
}

/// Returns the changes as text, with short interface names.
fn lines(plan: &Plan) -> Vec<String> {
    plan.changes
        .iter()
        .map(ToString::to_string)
        .map(|line| line.replace("on interface 9", "tun").replace("on interface 2", "eth"))
        .collect()
}

#[test]
fn routes_of_the_configuration() {
    let asked = [
        wanted("10.1.0.0/16", Gateway::Tunnel),
        Wanted { metric: Some(7), ..wanted("10.2.0.0/16", Gateway::NetGateway) },
        wanted("10.3.0.0/16", Gateway::Address(ip("10.8.0.77"))),
        wanted("10.4.0.0/16", Gateway::Address(ip("192.168.1.9"))),
        wanted("10.5.0.0/16", Gateway::Address(ip("172.16.0.1"))),
        wanted("2001:db8:2::/48", Gateway::Tunnel),
        wanted("2001:db8:3::/48", Gateway::NetGateway),
        Wanted { destination: Destination::NetGateway, ..wanted("::/0", Gateway::NetGateway) },
        Wanted { destination: Destination::VpnGateway, ..wanted("::/0", Gateway::Tunnel) },
    ];
    let plan = plan(&asked, None, &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan),
        [
            "add route 10.2.0.0/16 via 192.168.1.1 eth metric 7",
            "add route 10.4.0.0/16 via 192.168.1.9 eth",
            "add route 10.5.0.0/16 via 172.16.0.1",
            "add route 2001:db8:3::/48 via fe80::1 eth",
            "add route 192.168.1.1/32 via 192.168.1.1 eth",
            "add route 10.1.0.0/16 tun",
            "add route 10.3.0.0/16 tun",
            "add route 2001:db8:2::/48 tun",
            "add route 10.8.0.1/32 tun",
        ]
    );
    assert!(plan.warnings.is_empty());
}

#[test]
fn everything_by_halves_leaves_the_default_route() {
    let plan = plan(&[], redirect("def1 ipv6"), &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan),
        [
            "add route 203.0.113.5/32 via 192.168.1.1 eth",
            "add route 0.0.0.0/1 tun",
            "add route 128.0.0.0/1 tun",
            "add route ::/3 tun",
            "add route 2000::/4 tun",
            "add route 3000::/4 tun",
            "add route fc00::/7 tun",
        ]
    );
}

#[test]
fn the_default_route_of_another_tunnel_stays() {
    let host = Host { is_tunnelled: true, ..host("203.0.113.5") };
    let plan = plan(&[], redirect(""), &tunnel(), &host);
    assert_eq!(
        lines(&plan),
        [
            "add route 203.0.113.5/32 via 192.168.1.1 eth",
            "add route 0.0.0.0/1 tun",
            "add route 128.0.0.0/1 tun",
        ]
    );
}

#[test]
fn a_server_of_ipv6_stays_reachable() {
    let server = host("2001:db8:9::1");
    let only_ipv6 = plan(&[], redirect("ipv6 !ipv4"), &tunnel(), &server);
    assert_eq!(lines(&only_ipv6)[0], "add route 2001:db8:9::1/128 via fe80::1 eth");
    assert_eq!(lines(&only_ipv6).len(), 5);
    let only_ipv4 = plan(&[], redirect("def1"), &tunnel(), &server);
    assert_eq!(lines(&only_ipv4), ["add route 0.0.0.0/1 tun", "add route 128.0.0.0/1 tun"]);
}

#[test]
fn without_def1_the_default_route_is_replaced() {
    let plan = plan(&[], redirect(""), &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan),
        [
            "add route 203.0.113.5/32 via 192.168.1.1 eth",
            "delete route 0.0.0.0/0 via 192.168.1.1 eth metric 100",
            "add route 0.0.0.0/0 tun",
        ]
    );
}

#[test]
fn a_local_server_needs_a_route_only_with_block_local() {
    let plain = plan(&[], redirect("def1 autolocal"), &tunnel(), &host("192.168.1.50"));
    assert_eq!(lines(&plain), ["add route 0.0.0.0/1 tun", "add route 128.0.0.0/1 tun"]);
    let blocked = plan(&[], redirect("def1 block-local"), &tunnel(), &host("192.168.1.50"));
    assert_eq!(
        lines(&blocked),
        [
            "add route 192.168.1.50/32 eth",
            "add route 192.168.1.1/32 eth",
            "add route 0.0.0.0/1 tun",
            "add route 128.0.0.0/1 tun",
            "add route 192.168.1.0/25 tun",
            "add route 192.168.1.128/25 tun",
        ]
    );
    let local = plan(&[], redirect("def1 local"), &tunnel(), &host("203.0.113.5"));
    assert_eq!(lines(&local).len(), 2);
}

#[test]
fn servers_that_are_bypassed() {
    let asked = redirect("def1 bypass-dhcp bypass-dns");
    let plan = plan(&[], asked, &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan)[..2],
        [
            "add route 203.0.113.5/32 via 192.168.1.1 eth",
            "add route 9.9.9.9/32 via 192.168.1.1 eth",
        ]
    );
    let asked = redirect("def1 bypass-dhcp block-local");
    let plan = super::plan(&[], asked, &tunnel(), &host("203.0.113.5"));
    assert!(lines(&plan).contains(&"add route 192.168.1.2/32 eth".to_owned()));
}

#[test]
fn a_pushed_route_over_the_server_does_not_make_a_loop() {
    let asked = [wanted("203.0.113.0/24", Gateway::Tunnel)];
    let plan = plan(&asked, None, &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan),
        ["add route 203.0.113.5/32 via 192.168.1.1 eth", "add route 203.0.113.0/24 tun"]
    );
}

#[test]
fn private_leaves_the_default_route_alone() {
    let private = Redirect::parse(true, ["def1", "block-local"]).unwrap();
    let plan = plan(&[], Some(private), &tunnel(), &host("203.0.113.5"));
    assert_eq!(
        lines(&plan),
        [
            "add route 192.168.1.1/32 eth",
            "add route 192.168.1.0/25 tun",
            "add route 192.168.1.128/25 tun",
        ]
    );
}

#[test]
fn impossible_routes_cause_warnings() {
    let alone = Host::default();
    let asked = [
        wanted("10.2.0.0/16", Gateway::NetGateway),
        wanted("10.2.0.0/16", Gateway::RemoteHost),
        wanted("10.2.0.0/16", Gateway::Address(ip("fd77::9"))),
        Wanted { destination: Destination::RemoteHost, ..wanted("::/0", Gateway::Tunnel) },
    ];
    let plan = plan(&asked, redirect("def1"), &tunnel(), &alone);
    assert_eq!(plan.warnings.len(), 4);
    assert_eq!(lines(&plan), ["add route 0.0.0.0/1 tun", "add route 128.0.0.0/1 tun"]);
    assert_eq!(Redirect::parse(false, ["def1", "defl"]), Err("defl"));
}

#[test]
fn routes_over_ethernet_have_a_gateway() {
    let ethernet = Tunnel { is_ethernet: true, ..tunnel() };
    let host = host("203.0.113.7");
    let routes = [
        wanted("10.1.0.0/16", Gateway::Tunnel),
        wanted("10.2.0.0/16", Gateway::Address(ip("10.8.0.9"))),
        wanted("10.8.0.77/32", Gateway::Tunnel),
        wanted("fd01::/64", Gateway::Tunnel),
    ];
    let through = |plan: &Plan| -> Vec<(String, Option<IpAddr>)> {
        let of = |change: &Change| match change {
            Change::Add(route) if route.interface == Some(TUN) => {
                Some((route.destination.to_string(), route.gateway))
            }
            _ => None,
        };
        plan.changes.iter().filter_map(of).collect()
    };
    let at = |to: &str, gateway: Option<&str>| (to.to_owned(), gateway.map(ip));
    let all = plan(&routes, redirect("def1"), &ethernet, &host);
    let expected = [
        at("10.1.0.0/16", Some("10.8.0.1")),
        at("10.2.0.0/16", Some("10.8.0.9")),
        at("10.8.0.77/32", None),
        at("fd01::/64", Some("fd77::1")),
        at("0.0.0.0/1", Some("10.8.0.1")),
        at("128.0.0.0/1", Some("10.8.0.1")),
    ];
    assert_eq!(through(&all), expected);
    assert!(all.warnings.is_empty(), "{:?}", all.warnings);
    // Without a gateway the kernel would ask every destination for its hardware address.
    let unknown = Tunnel { gateway: None, gateway_ipv6: None, ..ethernet };
    let all = plan(&routes, redirect("def1"), &unknown, &host);
    assert_eq!(through(&all), expected[1..3]);
    assert_eq!(all.warnings.len(), 4, "{:?}", all.warnings);
}
