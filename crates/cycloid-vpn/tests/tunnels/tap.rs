//! Tunnels that carry Ethernet frames, with OpenVPN at either end.

use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::service::script;
use crate::test_bed::{
    ALL, INNER, INNER6, LIMIT, Running, Settings, TestBed, UP, WITH_OPENVPN, Who, wait_for_file,
};

/// The lines of a server with a pool for routed clients.
const ROUTED: &str = "topology subnet\nserver 10.8.0.0 255.255.0.0\nserver-ipv6 fd00:8::/64\n";

fn tap() -> Settings {
    Settings { both: "dev tap".into(), ..Settings::default() }
}

/// A further machine, joined to the server's by a cable.
pub(crate) struct Machine {
    namespace: String,
    /// The end of the cable at the server's side.
    cable: String,
}

impl Machine {
    pub(crate) fn new(bed: &TestBed, name: &str) -> Self {
        let unique = bed.directory.path().file_name().expect("a name").to_string_lossy();
        let machine =
            Self { namespace: format!("cyclovpn{unique}-{name}"), cable: format!("to-{name}") };
        run(Command::new("ip").args(["netns", "add", &machine.namespace]));
        machine.ip("link set lo up");
        let line = format!(
            "ip link add {} type veth peer name eth0 netns {}",
            machine.cable, machine.namespace
        );
        bed.server(&line);
        machine
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace]);
        command
    }

    fn ip(&self, line: &str) -> String {
        run(self.command().arg("ip").args(line.split(' ')))
    }

    /// Starts a client, which reaches the server through the cable.
    pub(crate) fn client(&self, bed: &TestBed, who: Who, settings: &Settings) -> Running {
        bed.server(&format!("ip addr replace 10.98.0.1/24 dev {}", self.cable));
        bed.server(&format!("ip link set {} up", self.cable));
        self.ip("addr replace 10.98.0.2/24 dev eth0");
        self.ip("link set eth0 up");
        self.ip("route replace default via 10.98.0.1");
        let text = fs::read_to_string(bed.configure(false, settings)).expect("a file");
        let file = bed.file(&format!("{}.conf", self.namespace));
        fs::write(&file, text).expect("a file");
        let mut running = start(self.command(), who, false, &file);
        running.wait_for(UP, 1, LIMIT);
        running
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.namespace]).output();
    }
}

impl TestBed {
    /// Runs a command at the server's side, and returns what it prints.
    fn server(&self, line: &str) -> String {
        run(self.command(false).args(line.split(' ')))
    }

    /// Runs a command at the client's side.
    fn client(&self, line: &str) -> String {
        run(self.command(true).args(line.split(' ')))
    }

    /// Starts a server with other lines instead of those for routed clients.
    fn start_server(&self, who: Who, settings: &Settings, lines: &str) -> Running {
        let file = self.configure(true, settings);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(text.contains(ROUTED), "{text}");
        fs::write(&file, text.replace(ROUTED, lines)).expect("a file");
        let mut running = start(self.command(false), who, true, &file);
        running.wait_for(UP, 1, LIMIT);
        running
    }
}

fn start(mut command: Command, who: Who, server: bool, file: &Path) -> Running {
    match who {
        Who::Cycloid => {
            let verb = if server { "server" } else { "client" };
            command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), verb]).arg(file);
        }
        Who::OpenVpn => {
            command.args(["openvpn", "--config"]).arg(file);
        }
    }
    Running::start(command, file.with_extension("log"))
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Waits until all IPv6 addresses of this command's namespace are known to be unique.
fn await_addresses(command: impl Fn() -> Command) {
    let end = Instant::now() + LIMIT;
    while !run(command().args(["ip", "-6", "address", "show", "tentative"])).is_empty() {
        assert!(Instant::now() < end, "an address stays tentative");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `to` answers a ping of this command's namespace.
pub(crate) fn await_ping(command: impl Fn() -> Command, to: &str, logs: &[&Running]) {
    let end = Instant::now() + LIMIT;
    loop {
        let mut command = command();
        command.args(["ping", "-n", "-c", "1", "-w", "2", to]);
        if command.output().expect("ping starts").status.success() {
            return;
        }
        let texts: Vec<String> = logs.iter().map(|log| log.text()).collect();
        assert!(Instant::now() < end, "{command:?}\n{}", texts.join("\n---\n"));
    }
}

/// Returns the IPv4 address of `tap0`.
pub(crate) fn address_of(command: &mut Command) -> String {
    let text = run(command.args(["ip", "-4", "-o", "addr", "show", "dev", "tap0"]));
    let address = text.split_once("inet ").and_then(|(_, rest)| rest.split_once('/'));
    address.expect("an address").0.to_owned()
}

/// Sends a broadcast again and again until a socket in another namespace has received it.
fn await_broadcast(send: impl FnOnce() -> UdpSocket, receive: impl FnOnce() -> UdpSocket) {
    let (sender, receiver) = (send(), receive());
    sender.set_broadcast(true).expect("a broadcast socket");
    receiver.set_read_timeout(Some(Duration::from_millis(200))).expect("a time limit");
    let end = Instant::now() + LIMIT;
    let mut text = [0; 20];
    loop {
        assert!(Instant::now() < end, "no broadcast came");
        sender.send_to(b"hello", "10.8.255.255:7001").expect("it is sent");
        if let Ok((length, _)) = receiver.recv_from(&mut text) {
            return assert_eq!(&text[..length], b"hello");
        }
    }
}

/// Listens as soon as the kernel has checked that no other machine has the address.
fn listener(inner: &str) -> TcpListener {
    let end = Instant::now() + LIMIT;
    loop {
        match TcpListener::bind((inner, 7000)) {
            Ok(listener) => return listener,
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn socket_at(bed: &TestBed, client: bool, port: u16) -> UdpSocket {
    let socket = bed.within(client, move || UdpSocket::bind(("0.0.0.0", port)).expect("a port"));
    socket.join().expect("a socket")
}

/// Addresses of both families answer, so ARP and neighbour discovery pass. Neither end reports a
/// difference between the options.
#[test]
fn frames_pass_over_udp_and_tcp() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for (tcp, cipher, both) in [
            (false, "AES-256-GCM", ""),
            (true, "CHACHA20-POLY1305", ""),
            (false, "AES-256-CBC", "fragment 600"),
        ] {
            let both = format!("dev tap\n{both}");
            let settings = Settings { tcp, cipher, both, ..Settings::default() };
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            let what = format!("{server:?} and {client:?}, {settings:?}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
            let link = bed.server("ip link show dev tap0");
            let mac = link.split_once("link/ether ").expect("a TAP device").1;
            let neighbours = bed.client("ip neigh show dev tap0");
            assert!(neighbours.contains(&format!("{INNER} lladdr {}", &mac[..17])), "{neighbours}");
            for text in [gate.text(), alice.text()] {
                assert!(!text.contains("used inconsistently"), "{what}\n{text}");
                assert!(!text.contains("has `dev "), "{what}\n{text}");
            }
            alice.end("TERM");
            gate.end("TERM");
        }
    }
}

#[test]
fn broadcasts_reach_the_other_end() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        let _gate = bed.start(server, true, &tap());
        let _alice = bed.start(client, false, &tap());
        for sender in [false, true] {
            await_broadcast(|| socket_at(&bed, sender, 0), || socket_at(&bed, !sender, 7001));
        }
    }
}

/// TCP fills the path in both directions. `mssfix` takes the frame's header into account, or the
/// outer packets would be fragmented.
#[test]
fn bulk_data_fits_the_path() {
    const LENGTH: usize = 8 << 20;
    let bed = TestBed::new();
    let fragments = |client: bool| {
        let text = run(bed.command(client).args(["cat", "/proc/net/snmp"]));
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
        let names: Vec<&str> = lines.next().expect("names").split(' ').collect();
        let values: Vec<&str> = lines.next().expect("values").split(' ').collect();
        let at = names.iter().position(|name| *name == "FragCreates").expect("a counter");
        values[at].parse::<u64>().expect("a number")
    };
    for (server, client) in ALL {
        let _gate = bed.start(server, true, &tap());
        let _alice = bed.start(client, false, &tap());
        // The kernel sends nothing from an address whose uniqueness it is still checking. It would
        // choose the cable's, and the answers would not pass the tunnel.
        for client in [false, true] {
            await_addresses(|| bed.command(client));
        }
        let before = [fragments(false), fragments(true)];
        for inner in [INNER, INNER6] {
            for to_server in [true, false] {
                let listener = bed.within(false, move || listener(inner)).join().expect("a port");
                let stream = bed.within(true, move || TcpStream::connect((inner, 7000)));
                let near = listener.accept().expect("a connection").0;
                let far = stream.join().expect("no panic").expect("a connection");
                let (mut sender, mut receiver) = if to_server { (far, near) } else { (near, far) };
                let sent: Vec<u8> = (0..LENGTH).map(|at| ((at * at) >> 7) as u8).collect();
                let expected = sent.clone();
                let writer = thread::spawn(move || {
                    std::io::Write::write_all(&mut sender, &sent).expect("it is taken");
                });
                let mut received = Vec::new();
                std::io::Read::read_to_end(&mut receiver, &mut received).expect("bytes");
                writer.join().expect("it sends");
                assert!(received == expected, "{server:?}, {client:?}, {inner}, {to_server}");
            }
        }
        let after = [fragments(false), fragments(true)];
        assert_eq!(after, before, "{server:?}, {client:?}: outer packets were fragmented");
    }
}

#[test]
fn two_clients_meet_only_with_client_to_client() {
    for (server, one, two) in [
        (Who::Cycloid, Who::OpenVpn, Who::Cycloid),
        (Who::Cycloid, Who::Cycloid, Who::OpenVpn),
        (Who::OpenVpn, Who::Cycloid, Who::Cycloid),
    ] {
        let bed = TestBed::new();
        let bob = Machine::new(&bed, "bob");
        let settings = Settings { server: "duplicate-cn\nclient-to-client".into(), ..tap() };
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(one, false, &settings);
        let other = bob.client(&bed, two, &settings);
        let logs = [&gate, &alice, &other];
        let addresses = [address_of(&mut bed.command(true)), address_of(&mut bob.command())];
        assert_ne!(addresses[0], addresses[1]);
        await_ping(|| bed.command(true), &addresses[1], &logs);
        await_ping(|| bob.command(), &addresses[0], &logs);
        for to in [INNER, INNER6] {
            await_ping(|| bob.command(), to, &logs);
        }
        // A broadcast of one client reaches the other one and the server.
        let at_bob = || {
            let namespace = fs::File::open(format!("/run/netns/{}", bob.namespace));
            let namespace = namespace.expect("a namespace");
            thread::spawn(move || {
                use std::os::fd::AsFd;
                let kind = Some(rustix::thread::LinkNameSpaceType::Network);
                rustix::thread::move_into_link_name_space(namespace.as_fd(), kind).expect("it");
                UdpSocket::bind("0.0.0.0:7001").expect("a port")
            })
            .join()
            .expect("a socket")
        };
        await_broadcast(|| socket_at(&bed, true, 0), at_bob);
        await_broadcast(|| socket_at(&bed, true, 0), || socket_at(&bed, false, 7001));
        if server == Who::Cycloid {
            drop((alice, other));
            let settings = Settings { server: "duplicate-cn".into(), ..tap() };
            drop(gate);
            let gate = bed.start(server, true, &settings);
            let alice = bed.start(one, false, &settings);
            let other = bob.client(&bed, two, &settings);
            await_ping(|| bed.command(true), INNER, &[&gate, &alice]);
            await_ping(|| bob.command(), INNER, &[&gate, &other]);
            assert_eq!(bed.ping(&address_of(&mut bob.command()), 2, "0.2"), 0);
        }
    }
}

/// The address of one client's device becomes that of the other one's, as if a machine had moved.
#[test]
fn a_hardware_address_moves_between_clients() {
    const MOVING: &str = "02:00:5e:10:00:01";
    for client in [Who::Cycloid, Who::OpenVpn] {
        let bed = TestBed::new();
        let bob = Machine::new(&bed, "bob");
        let status = bed.file("status");
        let lines = format!("duplicate-cn\nclient-to-client\nstatus {} 1", status.display());
        let settings = Settings { server: lines, ..tap() };
        let own = Settings {
            client: format!("lladdr {MOVING}\nuser nobody\ngroup nogroup"),
            ..settings.clone()
        };
        let gate = bed.start(Who::Cycloid, true, &settings);
        let alice = bed.start(client, false, &own);
        let other = bob.client(&bed, client, &settings);
        let logs = [&gate, &alice, &other];
        assert!(bed.client("ip link show dev tap0").contains(MOVING));
        await_ping(|| bed.command(true), INNER, &logs);
        await_ping(|| bob.command(), INNER, &logs);
        // The status names the owner of the address by its outer address.
        let owner = |outer: &str, text: &str| {
            text.lines().any(|line| line.starts_with(&format!("{MOVING}@0,alice,{outer}")))
        };
        wait_for_file(&status, |text| owner("10.99.0.2:", text));
        bed.client("ip link set dev tap0 address 02:00:5e:10:00:02");
        bob.ip(&format!("link set dev tap0 address {MOVING}"));
        bed.server("ip neigh flush dev tap0");
        await_ping(|| bob.command(), INNER, &logs);
        wait_for_file(&status, |text| owner("10.98.0.2:", text));
        let to = address_of(&mut bob.command());
        await_ping(|| bed.command(false), &to, &logs);
        await_ping(|| bed.command(true), INNER, &logs);
        await_ping(|| bed.command(true), &to, &logs);
    }
}

/// A client reaches a machine of the network that the server's device is bridged with, and is
/// reached from there.
#[test]
fn a_bridge_at_the_server_joins_two_networks() {
    for (server, client) in ALL {
        let bed = TestBed::new();
        let lan = Machine::new(&bed, "lan");
        bed.server("ip link add br0 type bridge");
        bed.server("ip addr add 10.8.0.1/16 dev br0");
        bed.server(&format!("ip link set {} master br0", lan.cable));
        bed.server(&format!("ip link set {} up", lan.cable));
        bed.server("ip link set br0 up");
        lan.ip("addr add 10.8.0.50/16 dev eth0");
        lan.ip("link set eth0 up");
        let join = script(&bed, "join", "ip link set \"$dev\" master br0\nip link set \"$dev\" up");
        let lines = format!(
            "server-bridge 10.8.0.1 255.255.0.0 10.8.0.100 10.8.0.110\nkeepalive 1 5\n\
             script-security 2\nup {join}\n"
        );
        let gate = bed.start_server(server, &tap(), &lines);
        let alice = bed.start(client, false, &tap());
        let address = address_of(&mut bed.command(true));
        assert!(address.starts_with("10.8.0.10"), "{address}");
        for to in ["10.8.0.50", INNER] {
            await_ping(|| bed.command(true), to, &[&gate, &alice]);
        }
        await_ping(|| lan.command(), &address, &[&gate, &alice]);
    }
}

/// Without arguments, clients get no address from the server. With `nogw`, they are told of no
/// gateway.
#[test]
fn a_bridge_leaves_addresses_to_the_network() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for lines in ["server-bridge", "server-bridge nogw"] {
            let gate = bed.start_server(server, &tap(), &format!("{lines}\nkeepalive 1 5\n"));
            bed.server("ip addr replace 10.8.0.1/16 dev tap0");
            bed.server("ip link set tap0 up");
            let alice = bed.start(client, false, &tap());
            bed.client("ip addr replace 10.8.0.9/16 dev tap0");
            bed.client("ip link set tap0 up");
            await_ping(|| bed.command(true), INNER, &[&gate, &alice]);
            let told = client == Who::Cycloid && lines == "server-bridge";
            assert_eq!(alice.text().contains("DHCP client"), told, "{}", alice.text());
        }
    }
}

/// Routes into the tunnel lead to the gateway that the server names.
#[test]
fn pushed_routes_have_a_gateway() {
    let bed = TestBed::new();
    let push = "push \"route 192.0.2.0 255.255.255.0\"\npush \"route-ipv6 fd02::/64\"";
    let settings = Settings { server: push.into(), ..tap() };
    for server in [Who::Cycloid, Who::OpenVpn] {
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(Who::Cycloid, false, &settings);
        let routes = bed.client("ip route") + &bed.client("ip -6 route");
        for route in ["192.0.2.0/24 via 10.8.0.1 dev tap0", "fd02::/64 via fd00:8::1 dev tap0"] {
            assert!(routes.contains(route), "{routes}\n{}", alice.text());
        }
        // The server's end answers for an address behind it.
        bed.server("ip addr replace 192.0.2.7/32 dev lo");
        await_ping(|| bed.command(true), "192.0.2.7", &[&gate, &alice]);
        alice.end("TERM");
        assert!(!bed.client("ip route").contains("192.0.2.0"));
    }
}

#[test]
fn frames_pass_point_to_point() {
    let bed = TestBed::new();
    let settings = Settings {
        point_to_point: true,
        server: "ifconfig 10.8.0.1 255.255.255.0".into(),
        client: "ifconfig 10.8.0.2 255.255.255.0".into(),
        ..tap()
    };
    for (server, client) in ALL {
        for tcp in [false, true] {
            let settings = Settings { tcp, ..settings.clone() };
            let mut gate = bed.launch(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            gate.wait_for(UP, 1, LIMIT);
            let what = format!("{server:?} and {client:?}, {settings:?}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
            for text in [gate.text(), alice.text()] {
                assert!(!text.contains("used inconsistently"), "{what}\n{text}");
            }
        }
    }
}

/// The peer's exit is recognised among frames.
#[test]
fn frames_pass_with_a_static_key() {
    let bed = TestBed::new();
    let both = format!(
        "dev tap\nverb 4\nproto udp\ncipher AES-256-CBC\nauth SHA256\nkeepalive 1 4\n\
         explicit-exit-notify 1\nsecret {}",
        bed.file("shared.key").display()
    );
    let unique = bed.directory.path().file_name().expect("a name").to_string_lossy().into_owned();
    let launch = |who, east: bool| {
        let (own, other) = if east { (1, 2) } else { (2, 1) };
        let text = format!(
            "{both}\nremote 10.99.0.{other}\nifconfig 10.8.0.{own} 255.255.255.0\n\
             ifconfig-ipv6 fd00:8::{own}/64 fd00:8::{other}\n"
        );
        let file = bed.file(&format!("static-{own}{unique}.conf"));
        fs::write(&file, text).expect("a file");
        start(bed.command(!east), who, east, &file)
    };
    for (east, west) in ALL {
        let (mut one, mut two) = (launch(east, true), launch(west, false));
        one.wait_for(UP, 1, LIMIT);
        two.wait_for(UP, 1, LIMIT);
        bed.assert_reaches(&format!("{east:?} and {west:?}"), [&mut one, &mut two]);
        two.end("TERM");
        let left = if east == Who::Cycloid { "the peer has left" } else { "remote-exit" };
        one.wait_for(left, 1, LIMIT);
    }
}

/// An end with another type of device gets a warning that names both types.
#[test]
fn different_devices_at_the_ends_cause_a_warning() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        for is_tap in [true, false] {
            let kind = |is_tap| if is_tap { "dev tap" } else { "dev tun" };
            let settings = Settings {
                server: kind(is_tap).into(),
                client: kind(!is_tap).into(),
                ..Settings::default()
            };
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.launch(client, false, &settings);
            let (end, own, other) = match server {
                Who::Cycloid => (&mut gate, kind(is_tap), kind(!is_tap)),
                Who::OpenVpn => (&mut alice, kind(!is_tap), kind(is_tap)),
            };
            end.wait_for(&format!("has `{other}`, and this end has `{own}`"), 1, LIMIT);
        }
    }
}
