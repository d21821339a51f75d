//! Tests that change the host's network, each in its own network namespace: a test runs itself
//! again under `unshare`, so that the machine stays unchanged.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cycloid_vpn::net::dns::{Dns, Resolver, Server};
use cycloid_vpn::net::killswitch::KillSwitch;
use cycloid_vpn::net::netlink::{Netlink, Route};
use cycloid_vpn::net::routes::{self, Destination, Gateway, Host, Redirect, Tunnel, Wanted};
use cycloid_vpn::net::tcp;
use cycloid_vpn::net::udp::{self, Options};
use cycloid_vpn::net::undo::{Journal, Scope, Undo};
use cycloid_vpn::proto::Transport;

const INSIDE: &str = "CYCLOID_VPN_TEST_INSIDE";

/// Runs `body` in a new network namespace.
fn apart(test: &str, body: impl FnOnce()) {
    if env::var_os(INSIDE).is_some() {
        return body();
    }
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.arg("--map-root-user");
    }
    let output = unshare
        .args(["--net", "--mount", "--"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("this test needs unshare (util-linux)");
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    // With another name, no test would run, and none would fail.
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {text}");
}

fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// Creates an interface `eth` with a router and a tunnel interface `tun`. Returns the index of
/// `tun`.
fn home() -> u32 {
    for line in [
        "link set lo up",
        "link add eth type veth peer name router",
        "link add tun type veth peer name far",
        "link set router up",
        "link set far up",
        "addr add 192.168.1.10/24 dev eth",
        "addr add 2001:db8:1::10/64 dev eth nodad",
        "addr add 10.8.0.2/24 dev tun",
        "addr add fd77::2/64 dev tun nodad",
        "link set eth up",
        "link set tun up",
    ] {
        ip(line);
    }
    wait_for_routes();
    for line in [
        "route add default via 192.168.1.1 metric 100 src 192.168.1.10 proto dhcp",
        "-6 route add default via 2001:db8:1::1",
    ] {
        ip(line);
    }
    Netlink::open().unwrap().interface("tun").unwrap()
}

/// Waits until the kernel has created the interfaces' IPv6 routes.
fn wait_for_routes() {
    let end = Instant::now() + Duration::from_secs(60);
    let links = ["eth", "router", "tun", "far"].map(|name| format!("fe80::/64 dev {name} "));
    let networks = ["2001:db8:1::/64 dev eth ", "fd77::/64 dev tun "].map(str::to_owned);
    loop {
        let routes = ip("-6 route show");
        let is_there = |route: &String| routes.lines().any(|line| line.starts_with(route.as_str()));
        if links.iter().chain(&networks).all(is_there) {
            return;
        }
        assert!(Instant::now() < end, "{routes}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn tunnel(interface: u32) -> Tunnel {
    Tunnel {
        interface,
        gateway: Some("10.8.0.1".parse().unwrap()),
        gateway_ipv6: Some("fd77::1".parse().unwrap()),
        is_ethernet: false,
        networks: vec!["10.8.0.0/24".parse().unwrap(), "fd77::/64".parse().unwrap()],
    }
}

/// Returns the routes in the format of `ip`.
fn table() -> BTreeSet<String> {
    let lines = ip("-4 route show") + &ip("-6 route show");
    lines.lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns the interface of packets to `address`, according to `ip`.
fn leaves_by(address: &str) -> String {
    let line = ip(&format!("route get {address}"));
    let mut words = line.split_whitespace().skip_while(|word| *word != "dev");
    words.nth(1).unwrap().to_owned()
}

fn redirected(flags: &[&str], wanted: &[Wanted], remote: &str, check: impl FnOnce()) {
    let interface = home();
    let before = table();
    let directory = tempfile::tempdir().unwrap();
    let remote: IpAddr = remote.parse().unwrap();
    let mut netlink = Netlink::open().unwrap();
    let host = Host::read(&mut netlink, Some(remote), interface).unwrap();
    let redirect = Redirect::parse(false, flags.iter().copied()).unwrap();
    let plan = routes::plan(wanted, Some(redirect), &tunnel(interface), &host);
    let mut journal = Journal::open(directory.path(), "test", Scope::Network).unwrap();
    let failed = routes::apply(&plan, &mut netlink, &mut journal).unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(plan.warnings.is_empty());
    check();

    // A route that already exists is not added by another instance, and so not deleted by it.
    let mut other = Journal::open(directory.path(), "other", Scope::Network).unwrap();
    let again = routes::plan(wanted, None, &tunnel(interface), &host);
    let refused = routes::apply(&again, &mut netlink, &mut other).unwrap();
    assert_eq!(refused.len(), again.changes.len());
    assert!(other.is_empty());

    // A crash: the next start finds the journal and undoes everything.
    drop(journal);
    let mut journal = Journal::open(directory.path(), "test", Scope::Network).unwrap();
    assert!(!journal.is_empty());
    let failed = journal.undo();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(table(), before);
    assert!(journal.undo().is_empty());
}

#[test]
fn a_full_redirect_is_undone() {
    apart("a_full_redirect_is_undone", || {
        let wanted = [
            Wanted {
                destination: Destination::Network("10.44.0.0/16".parse().unwrap()),
                gateway: Gateway::NetGateway,
                metric: Some(5),
            },
            Wanted {
                destination: Destination::Network("10.45.0.0/16".parse().unwrap()),
                gateway: Gateway::Tunnel,
                metric: None,
            },
        ];
        redirected(&["def1", "ipv6", "block-local"], &wanted, "203.0.113.5", || {
            for (address, interface) in [
                ("8.8.8.8", "tun"),
                ("203.0.113.5", "eth"),
                ("203.0.113.6", "tun"),
                ("192.168.1.1", "eth"),
                ("192.168.1.77", "tun"),
                ("10.44.1.1", "eth"),
                ("10.45.1.1", "tun"),
                ("2606:4700::1", "tun"),
                ("2001:db8:1::77", "tun"),
                ("2001:db8:1::1", "eth"),
                ("fd00::1", "tun"),
            ] {
                assert_eq!(leaves_by(address), interface, "{address}");
            }
            assert!(table().iter().any(|line| line.starts_with("default via 192.168.1.1")));
        });
    });
}

#[test]
fn a_replaced_default_route_is_restored() {
    apart("a_replaced_default_route_is_restored", || {
        redirected(&["ipv6"], &[], "2001:db8:9::5", || {
            assert_eq!(leaves_by("8.8.8.8"), "tun");
            assert_eq!(leaves_by("2001:db8:9::5"), "eth");
            assert_eq!(leaves_by("2001:db8:9::6"), "tun");
            assert!(!table().iter().any(|line| line.contains("via 192.168.1.1")));
        });
    });
}

/// Both replace the default route, as far as each may, and end in either order.
#[test]
fn two_redirecting_tunnels_end_in_any_order() {
    apart("two_redirecting_tunnels_end_in_any_order", || {
        home();
        for (name, network) in [("tun0", "10.81.0.2/24"), ("tun1", "10.82.0.2/24")] {
            ip(&format!("tuntap add dev {name} mode tun"));
            ip(&format!("addr add {network} dev {name}"));
            ip(&format!("link set {name} up"));
        }
        // As the administrator sets it, without a metric: like that of a tunnel.
        ip("-4 route del default");
        ip("-4 route add default via 192.168.1.1");
        let before = table();
        for order in [[0, 1], [1, 0]] {
            let directory = tempfile::tempdir().unwrap();
            let mut netlink = Netlink::open().unwrap();
            let mut journals = ["tun0", "tun1"].map(|name| {
                let interface = netlink.interface(name).unwrap();
                let remote = "203.0.113.5".parse().unwrap();
                let host = Host::read(&mut netlink, Some(remote), interface).unwrap();
                let redirect = Redirect::parse(false, []).unwrap();
                let plan = routes::plan(&[], Some(redirect), &tunnel(interface), &host);
                let mut journal = Journal::open(directory.path(), name, Scope::Network).unwrap();
                routes::apply(&plan, &mut netlink, &mut journal).unwrap();
                assert_eq!(leaves_by("8.8.8.8"), name);
                journal
            });
            for ended in order {
                let failed = journals[ended].undo();
                assert!(failed.is_empty(), "{order:?}: {failed:?}");
            }
            assert_eq!(table(), before, "{order:?}");
        }
    });
}

/// Returns the default route of [`home`], without its source and its creator.
fn default_route(ethernet: u32) -> Route {
    Route {
        gateway: Some("192.168.1.1".parse().unwrap()),
        interface: Some(ethernet),
        metric: Some(100),
        ..Route::to("0.0.0.0/0".parse().unwrap())
    }
}

/// A deleted route comes back if it is missing and its network is there, but never in place of
/// another route.
#[test]
fn a_deleted_route_is_restored_where_it_was() {
    apart("a_deleted_route_is_restored_where_it_was", || {
        home();
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path(), "test", Scope::Network).unwrap();
        let mut netlink = Netlink::open().unwrap();
        let ethernet = netlink.interface("eth").unwrap();
        let default = default_route(ethernet);
        let elsewhere = Route { gateway: Some("172.16.0.1".parse().unwrap()), ..default };
        // It is there, and the other one's network is gone.
        for route in [default, elsewhere] {
            journal.record(Undo::AddRoute(route)).unwrap();
        }
        ip("route add default via 192.168.1.9 metric 50");
        assert!(journal.undo().is_empty());
        // Another one is in its place.
        ip("route del default via 192.168.1.1");
        ip("route add default via 192.168.1.7 metric 100");
        journal.record(Undo::AddRoute(default)).unwrap();
        assert_eq!(journal.undo().len(), 1);
        ip("route del default via 192.168.1.7");
        assert!(journal.undo().is_empty());
        assert!(table().iter().any(|line| line.starts_with("default via 192.168.1.1")));
        assert!(journal.is_empty());
    });
}

#[test]
fn routes_are_read_correctly() {
    apart("routes_are_read_correctly", || {
        let tunnel = home();
        let mut netlink = Netlink::open().unwrap();
        let ethernet = netlink.interface("eth").unwrap();
        let default = Route {
            source: Some("192.168.1.10".parse().unwrap()),
            protocol: Some(16),
            ..default_route(ethernet)
        };
        assert!(netlink.routes(true).unwrap().contains(&default));
        let way = netlink.route_to("8.8.8.8".parse().unwrap()).unwrap().unwrap();
        assert_eq!((way.gateway, way.interface), (default.gateway, default.interface));
        assert_eq!(
            netlink.add_route(&default).unwrap_err().kind(),
            std::io::ErrorKind::AlreadyExists
        );
        netlink.delete_route(&default).unwrap();
        assert_eq!(netlink.route_to("8.8.8.8".parse().unwrap()).unwrap(), None);
        assert!(netlink.delete_route(&default).is_err());
        assert!(netlink.interface("none").is_err());
        let host = Host::read(&mut netlink, None, tunnel).unwrap();
        assert_eq!(host.default_ipv4, []);
        assert_eq!(host.default_ipv6.len(), 1);
        assert!(host.links.contains(&(ethernet, "192.168.1.0/24".parse().unwrap())));
        // More routes than fit into one netlink datagram.
        for third in 0..=255 {
            for fourth in [0, 64, 128, 192] {
                let destination = format!("10.77.{third}.{fourth}/26").parse().unwrap();
                let route = Route { interface: Some(tunnel), ..Route::to(destination) };
                netlink.add_route(&route).unwrap();
            }
        }
        assert!(netlink.routes(true).unwrap().len() > 1024);
    });
}

#[test]
fn the_kill_switch_blocks_and_unblocks() {
    apart("the_kill_switch_blocks_and_unblocks", || {
        home();
        assert!(Path::new("/usr/sbin/nft").exists(), "this test needs nft (nftables)");
        ip("neigh add 192.168.1.1 lladdr 02:00:00:00:00:01 dev eth");
        ip("neigh add 10.8.0.1 lladdr 02:00:00:00:00:02 dev tun");
        let allowed = |address: &str, port: u16| {
            let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
            socket.send_to(b"x", (address, port)).is_ok()
        };
        assert!(allowed("203.0.113.5", 1194) && allowed("8.8.8.8", 53));
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path(), "test", Scope::Network).unwrap();
        let mut switch = KillSwitch {
            instance: "test".into(),
            interface: "tun".into(),
            remotes: vec![("203.0.113.5:1194".parse().unwrap(), Transport::Udp)],
            networks: vec!["192.168.1.0/24".parse().unwrap()],
        };
        switch.apply(&mut journal).unwrap();
        assert!(allowed("203.0.113.5", 1194));
        assert!(!allowed("203.0.113.5", 1195));
        assert!(!allowed("8.8.8.8", 53));
        assert!(allowed("10.8.0.1", 53), "the tunnel");
        assert!(allowed("127.0.0.1", 53), "loopback");
        assert!(allowed("192.168.1.1", 53), "a network that was allowed");
        switch.remotes.push(("[2001:db8::1]:443".parse().unwrap(), Transport::Tcp));
        switch.networks.clear();
        switch.apply(&mut journal).unwrap();
        assert!(!allowed("192.168.1.1", 53), "replaced");
        assert_eq!(journal.entries().count(), 1);
        let failed = journal.undo();
        assert!(failed.is_empty(), "{failed:?}");
        assert!(allowed("8.8.8.8", 53));
    });
}

fn resolver(path: &Path) -> (Resolver, Dns) {
    let server = Server { address: "10.8.0.1".parse().unwrap(), port: None };
    (Resolver::File(path.to_owned()), Dns { servers: vec![server], ..Dns::default() })
}

const DIRECTORY: &str = "CYCLOID_VPN_TEST_DIRECTORY";

/// The process that the next test kills.
#[test]
fn a_process_with_a_tunnel() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let mut journal = Journal::open(directory, "killed", Scope::Names).unwrap();
    let (resolver, dns) = resolver(&directory.join("etc/resolv.conf"));
    resolver.apply(&dns, "tun0", &mut journal).unwrap();
    println!("tunnel is up");
    loop {
        std::thread::park();
    }
}

#[test]
fn the_next_tunnels_end_removes_name_servers_of_a_killed_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("etc/resolv.conf");
    std::fs::create_dir(directory.path().join("etc")).unwrap();
    let original = "nameserver 192.168.1.1\n";
    std::fs::write(&path, original).unwrap();
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_process_with_a_tunnel", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    while !line.ends_with("tunnel is up\n") {
        assert!(output.read_line(&mut line).unwrap() > 0, "{line}");
    }
    let mut journal = Journal::open(directory.path(), "other", Scope::Names).unwrap();
    let (resolver, dns) = resolver(&path);
    resolver.apply(&dns, "tun1", &mut journal).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("tun0, tun1;"));
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(journal.undo().is_empty());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
}

#[test]
fn a_mounted_resolv_conf_is_restored() {
    apart("a_mounted_resolv_conf_is_restored", || {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("resolv.conf");
        let original = "nameserver 192.168.1.1\noptions edns0\n";
        std::fs::write(&path, original).unwrap();
        let mount = |arguments: &[&str]| {
            let mut command = Command::new(arguments[0]);
            assert!(command.args(&arguments[1..]).arg(&path).status().unwrap().success());
        };
        // As in a container: the file can be written but not replaced.
        mount(&["mount", "--bind", path.to_str().unwrap()]);
        let (resolver, dns) = resolver(&path);
        let [mut one, mut two] =
            ["one", "two"].map(|name| Journal::open(directory.path(), name, Scope::Names).unwrap());
        resolver.apply(&dns, "tun0", &mut one).unwrap();
        resolver.apply(&dns, "tun1", &mut two).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("nameserver 10.8.0.1\noptions edns0\n"), "{text}");
        assert!(one.undo().is_empty());
        assert!(std::fs::read_to_string(&path).unwrap().contains(" tun1;"));
        assert!(two.undo().is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
        mount(&["umount"]);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 3);
    });
}

/// A stream has the options of the client's sockets.
#[test]
fn a_stream_has_a_source_a_mark_and_a_device() {
    apart("a_stream_has_a_source_a_mark_and_a_device", || {
        ip("link set lo up");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = ["::1", "127.0.0.7"].map(|address| address.parse().unwrap());
        let options = |local: &[IpAddr], device: &str| tcp::Options {
            local: local.to_vec(),
            mark: Some(77),
            device: Some(device.into()),
            patience: Duration::from_secs(60),
        };
        let stream = tcp::connect(address, &options(&own, "lo")).unwrap();
        assert_eq!(listener.accept().unwrap().1.ip(), own[1]);
        let socket = socket2::SockRef::from(&stream);
        assert_eq!(socket.mark().unwrap(), 77);
        assert_eq!(socket.device().unwrap().unwrap(), b"lo");
        tcp::connect(address, &options(&[], "lo")).unwrap();
        assert_eq!(listener.accept().unwrap().1.ip(), address.ip());
        assert!(tcp::connect(address, &options(&own[..1], "lo")).is_err(), "another family");
        assert!(tcp::connect(address, &options(&[], "none")).is_err(), "no such device");
    });
}

#[test]
fn a_group_with_an_ephemeral_port_does_not_share_it() {
    apart("a_group_with_an_ephemeral_port_does_not_share_it", || {
        ip("link set lo up");
        // Only two ports are available.
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40001").unwrap();
        let group = || udp::bind("127.0.0.1:0".parse().unwrap(), 3, &Options::default());
        let groups = [group().unwrap(), group().unwrap()];
        let mut ports = groups.each_ref().map(|group| {
            let port = group[0].local_address().unwrap().port();
            assert!(group.iter().all(|socket| socket.local_address().unwrap().port() == port));
            port
        });
        ports.sort_unstable();
        assert_eq!(ports, [40_000, 40_001]);
        assert!(group().is_err());
    });
}

/// Interfaces of a kind: made, and deleted by the journal unless another program has replaced them.
#[test]
fn links_of_a_kind_are_made_and_deleted() {
    apart("links_of_a_kind_are_made_and_deleted", || {
        let mut netlink = Netlink::open().unwrap();
        let exists = |name: &str| {
            Path::new("/sys/class/net").join(name).exists()
                || Command::new("ip")
                    .args(["link", "show", name])
                    .output()
                    .unwrap()
                    .status
                    .success()
        };
        netlink.add_link("own", "bridge").unwrap();
        assert!(exists("own"));
        let error = netlink.add_link("own", "bridge").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
        assert!(netlink.add_link("none", "no-such-kind").is_err());
        netlink.delete_link("own", "ovpn").unwrap();
        assert!(exists("own"), "it is of another kind");
        netlink.delete_link("own", "bridge").unwrap();
        assert!(!exists("own"));
        netlink.delete_link("own", "bridge").unwrap();

        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path(), "links", Scope::Network).unwrap();
        netlink.add_link("own", "bridge").unwrap();
        journal.record(Undo::DeleteLink { interface: "own".into() }).unwrap();
        journal.record(Undo::DeleteLink { interface: "gone".into() }).unwrap();
        drop(journal);
        let mut journal = Journal::open(directory.path(), "links", Scope::Network).unwrap();
        assert!(journal.undo().is_empty());
        assert!(exists("own"), "only interfaces of the kind ovpn are deleted");
    });
}
