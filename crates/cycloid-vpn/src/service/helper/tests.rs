//! Tests of the helper: what it takes from a client, and what it does.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use proptest::prelude::*;
use tempfile::TempDir;

use super::message::MAX_LENGTH;
use super::process::serve;
use super::*;
use crate::config::Command;
use crate::net::dns::{Dnssec, Domain, MAX_ENTRIES, NameTransport, Resolver, Server};
use crate::net::undo::{Journal, Scope};

/// The time limit of events that are sure to come.
const LIMIT: Duration = Duration::from_secs(120);

const ORIGINAL: &str = "nameserver 192.168.1.1\n";

fn domains(names: &[&str]) -> Vec<Domain> {
    names.iter().map(|name| Domain::new(name).unwrap()).collect()
}

fn dns(address: &str) -> Dns {
    let server = Server { address: address.parse().unwrap(), port: None };
    Dns { servers: vec![server], ..Dns::default() }
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn shell(script: &str) -> Command {
    ["/bin/sh", "-c", script, "script"].map(str::to_owned).to_vec()
}

fn setup(scripts: &[(Kind, Command)]) -> Setup {
    let mut environment = Environment::default();
    environment.set("daemon_pid", 7);
    environment.set("COLOUR", "blue");
    Setup {
        instance: "office".into(),
        interface: "tun3".into(),
        security: 2,
        environment,
        scripts: scripts.to_vec(),
    }
}

fn requests() -> Vec<Request> {
    let servers = [("10.8.0.1", None), ("fd77::1", Some(5353))];
    let servers = servers.map(|(address, port)| Server { address: address.parse().unwrap(), port });
    vec![
        Request::Set(Dns {
            servers: servers.to_vec(),
            search: domains(&["example.org", "lan"]),
            only: domains(&["corp.example"]),
            dnssec: Some(Dnssec::Optional),
            transport: Some(NameTransport::Tls),
            server_name: Domain::new("dns.example"),
        }),
        Request::Set(Dns::default()),
        Request::Restore,
        Request::Run(Kind::Up, owned(&[("dev", "tun3"), ("x", "\"\\\n")])),
        Request::Run(Kind::RouteUp, Vec::new()),
        Request::Run(Kind::AddressChange, Vec::new()),
    ]
}

#[test]
fn messages_arrive_as_they_were_sent() {
    let mut wire = Vec::new();
    for request in requests() {
        message::write(&mut wire, request.to_json().as_bytes()).unwrap();
    }
    let mut wire = Cursor::new(wire);
    for request in requests() {
        let bytes = message::read(&mut wire).unwrap().unwrap();
        assert_eq!(Request::parse(&bytes), Some(request));
    }
    assert_eq!(message::read(&mut wire).unwrap(), None);
    let setup = setup(&[(Kind::RouteUp, shell("false")), (Kind::Up, shell("true"))]);
    assert_eq!(Setup::parse(setup.to_json().as_bytes()), Some(setup));
    let problems = vec!["a \"b\"".to_owned()];
    assert_eq!(message::parse_answer(message::answer(&problems).as_bytes()), Some(problems));
}

#[test]
fn a_message_has_a_greatest_length() {
    let mut wire = Vec::new();
    message::write(&mut wire, &vec![b' '; MAX_LENGTH]).unwrap();
    assert_eq!(message::read(&mut Cursor::new(&wire)).unwrap().unwrap().len(), MAX_LENGTH);
    assert!(message::write(&mut wire, &vec![b' '; MAX_LENGTH + 1]).is_err());
    for length in [MAX_LENGTH as u32 + 1, u32::MAX] {
        assert!(message::read(&mut Cursor::new(length.to_be_bytes())).is_err());
    }
    assert!(message::read(&mut Cursor::new([0, 0, 0, 5, b'{'])).is_err());
    assert_eq!(message::read(&mut Cursor::new([0, 0])).unwrap(), None);
}

#[test]
fn hostile_requests_are_refused() {
    let set = |field: &str, value: serde_json::Value| {
        let Request::Set(dns) = &requests()[0] else { panic!() };
        let text = Request::Set(dns.clone()).to_json();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["set"][field] = value;
        json.to_string()
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert!(Request::parse(set("search", json(r#"["lan"]"#)).as_bytes()).is_some());
    let mut hostile = vec![
        String::new(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        "{\"restore\":null".into(),
        r#"{"restore":{}}"#.into(),
        r#"{"restore":null,"up":{}}"#.into(),
        r#"{"down":{}}"#.into(),
        r#"{"tls-verify":{}}"#.into(),
        r#"{"up":null}"#.into(),
        r#"{"up":["dev","tun3"]}"#.into(),
        r#"{"up":{"dev":3}}"#.into(),
        r#"{"set":{}}"#.into(),
        r#"{"set":null}"#.into(),
        r#"{"setup":{}}"#.into(),
        "[".repeat(100_000),
        "{\"up\":".repeat(100_000),
        set("file", json(r#""/etc/shadow""#)),
        set("servers", json(r#""10.8.0.1:0""#)),
        set("servers", json(r#"["10.8.0.1"]"#)),
        set("servers", json(r#"["10.8.0.1:0 --help"]"#)),
        set("servers", json(r#"["10.8.0.1:65536"]"#)),
        set("servers", json(r#"["dns.example:53"]"#)),
        set("servers", vec!["10.8.0.1:0"; MAX_ENTRIES + 1].into()),
        set("search", vec!["lan"; MAX_ENTRIES + 1].into()),
        set("dnssec", json(r#""maybe""#)),
        set("dnssec", json("true")),
        set("transport", json(r#""""#)),
    ];
    for domain in ["", ".", "-v", "~.", "a b", "a\nnameserver 6.6.6.6", "a\0b", "ä.de"] {
        hostile.push(set("search", vec![domain].into()));
        hostile.push(set("only", vec![domain].into()));
        hostile.push(set("server-name", domain.into()));
    }
    for text in hostile {
        assert_eq!(Request::parse(text.as_bytes()), None, "{text:.200}");
    }
    for request in requests() {
        let text = request.to_json();
        for length in 0..text.len() {
            assert_eq!(Request::parse(&text.as_bytes()[..length]), None, "{text}");
        }
    }
    assert_eq!(Request::parse(b"{\"restore\xff\":null}"), None);
}

proptest! {
    #[test]
    fn no_message_makes_the_parser_panic(bytes: Vec<u8>, at: prop::sample::Index, byte: u8) {
        let _ = Request::parse(&bytes);
        let _ = Setup::parse(&bytes);
        let _ = message::read(&mut Cursor::new(&bytes));
        for request in requests() {
            let mut changed = request.to_json().into_bytes();
            let at = at.index(changed.len());
            changed[at] = byte;
            let _ = Request::parse(&changed);
        }
    }
}

#[test]
fn a_client_sets_only_known_variables_to_values_of_their_kind() {
    let setup = setup(&[]);
    let check = |name: &str, value: &str| {
        variables::checked(&setup, &owned(&[(name, value)]))
            .map(|environment| environment.value(name).map(str::to_owned))
    };
    for (name, value) in [
        ("dev", "tun3"),
        ("dev_type", "tap"),
        ("script_context", "init"),
        ("tun_mtu", "1500"),
        ("ifconfig_local", "10.8.0.2"),
        ("ifconfig_netmask", "255.255.255.0"),
        ("ifconfig_remote", "10.8.0.1"),
        ("ifconfig_ipv6_local", "fd00::2"),
        ("ifconfig_ipv6_netbits", "64"),
        ("trusted_ip", "192.0.2.1"),
        ("trusted_ip6", "2001:db8::1"),
        ("untrusted_port", "1194"),
        ("route_network_1", "10.1.0.0"),
        ("route_netmask_12", "255.255.0.0"),
        ("route_gateway_1", "10.8.0.1"),
        ("route_metric_1", "5"),
        ("route_ipv6_network_1", "2001:db8::/32"),
        ("route_ipv6_gateway_1", "fd00::1"),
        ("foreign_option_1", "dhcp-option DNS 10.8.0.1"),
        ("OPENVPN_UV", "a b; $(c)"),
        ("X509_0_CN", "Ann ä"),
        ("tls_id_0", "C=KG, CN=gate"),
        // As in the setup.
        ("daemon_pid", "7"),
        ("COLOUR", "blue"),
    ] {
        assert_eq!(check(name, value), Ok(Some(value.to_owned())), "{name}={value}");
    }
    for (name, value) in [
        ("", ""),
        ("PATH", "/tmp"),
        ("LD_PRELOAD", "/tmp/x.so"),
        ("COLOUR", "red"),
        ("BASH_ENV", "/tmp/x"),
        ("IFS", "/"),
        ("daemon_pid", "8"),
        ("script_type", "down"),
        ("dev", "eth0"),
        ("dev", "tun3; reboot"),
        ("dev_type", "tunnel"),
        ("script_context", "restart"),
        ("tun_mtu", ""),
        ("tun_mtu", "-1"),
        ("tun_mtu", "+1500"),
        ("tun_mtu", "1500 "),
        ("tun_mtu", "4294967296"),
        ("ifconfig_local", "fd00::2"),
        ("ifconfig_local", "$(reboot)"),
        ("ifconfig_local", "10.8.0.2\n"),
        ("route_network_1", "10.1.0.0/16"),
        ("route_network_", "10.1.0.0"),
        ("route_network_x", "10.1.0.0"),
        ("route_network_+1", "10.1.0.0"),
        ("route_network", "10.1.0.0"),
        ("route_ipv6_network_1", "10.1.0.0/16"),
        ("foreign_option_1", "script-security 3"),
        ("foreign_option_1", "dhcp-option DNS 10.8.0.1\nx"),
        ("OPENVPN_a=b", "x"),
        ("OPENVPN_a", "\0"),
        ("X509_0_CN", "\u{9b}31m"),
        ("X509_0_ä", "x"),
        ("tls_id_0\n", "x"),
        ("xOPENVPN_a", "x"),
    ] {
        assert_eq!(check(name, value), Err(name.to_owned()), "{name}={value}");
    }
}

/// A machine with a resolv.conf.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        fs::create_dir(machine.file("etc")).unwrap();
        fs::write(machine.file("etc/resolv.conf"), ORIGINAL).unwrap();
        machine
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> String {
        fs::read_to_string(self.file("etc/resolv.conf")).unwrap()
    }

    #[track_caller]
    fn assert_restored(&self) {
        assert_eq!(self.names(), ORIGINAL);
        assert_eq!(fs::read_dir(self.file("etc")).unwrap().count(), 1);
    }

    /// Starts a helper, and gives it its first message.
    fn start(&self, setup: &Setup) -> Client {
        let (stream, other) = UnixStream::pair().unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let (directory, path) = (self.file("run"), self.file("etc/resolv.conf"));
        let helper =
            std::thread::spawn(move || serve(other, &directory, &|| Resolver::File(path.clone())));
        let mut client = Client { stream, helper };
        assert_eq!(client.send(setup.to_json().as_bytes()), [""; 0]);
        client
    }
}

/// The client of a helper.
struct Client {
    stream: UnixStream,
    helper: JoinHandle<Result<(), Failure>>,
}

impl Client {
    fn send(&mut self, message: &[u8]) -> Vec<String> {
        message::write(&mut self.stream, message).unwrap();
        message::parse_answer(&message::read(&mut self.stream).unwrap().unwrap()).unwrap()
    }

    fn ask(&mut self, request: &Request) -> Vec<String> {
        self.send(request.to_json().as_bytes())
    }

    #[track_caller]
    fn does(&mut self, request: &Request) {
        assert_eq!(self.ask(request), [""; 0]);
    }

    /// Closes the socket, as the kernel does for a process that was killed.
    fn end(self) -> Result<(), Failure> {
        drop(self.stream);
        self.helper.join().unwrap()
    }
}

#[test]
fn name_servers_are_set_and_restored() {
    let machine = Machine::new();
    let mut client = machine.start(&setup(&[]));
    for address in ["10.8.0.1", "10.9.0.1"] {
        client.does(&Request::Set(dns(address)));
        let text = machine.names();
        assert!(text.contains(" tun3;") && text.ends_with(&format!("\nnameserver {address}\n")));
    }
    client.does(&Request::Restore);
    machine.assert_restored();
    client.does(&Request::Restore);
    // A resolver that cannot do what is required is not used otherwise.
    let tls = Dns { transport: Some(NameTransport::Tls), ..dns("10.8.0.1") };
    assert!(client.ask(&Request::Set(tls))[0].contains("DNS over TLS"));
    machine.assert_restored();
    client.does(&Request::Set(dns("10.8.0.1")));
    client.end().unwrap();
    machine.assert_restored();
}

#[test]
fn two_tunnels_end_in_any_order() {
    for first_ends_first in [true, false] {
        let machine = Machine::new();
        let mut clients = ["10.8.0.1", "10.9.0.1"].map(|address| {
            let mut client = machine.start(&Setup { instance: address.into(), ..setup(&[]) });
            client.does(&Request::Set(dns(address)));
            client
        });
        assert!(machine.names().contains("\nnameserver 10.9.0.1\n"));
        if first_ends_first {
            clients.reverse();
        }
        let [stays, ends] = clients;
        ends.end().unwrap();
        let left = if first_ends_first { "10.9.0.1" } else { "10.8.0.1" };
        assert!(machine.names().ends_with(&format!("\nnameserver {left}\n")));
        stays.end().unwrap();
        machine.assert_restored();
    }
}

#[test]
fn a_client_that_breaks_the_protocol_is_left() {
    for message in [&[0xff; 4][..], &[0, 0, 0, 9, b'{']] {
        let machine = Machine::new();
        let mut client = machine.start(&setup(&[]));
        client.does(&Request::Set(dns("10.8.0.1")));
        assert_eq!(client.send(b"{\"reboot\":null}").len(), 1);
        client.stream.write_all(message).unwrap();
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        client.helper.join().unwrap().unwrap();
        machine.assert_restored();
    }
}

#[test]
fn a_helper_needs_a_first_message() {
    let machine = Machine::new();
    for first in [&b"{}"[..], b"{\"restore\":null}", b"\xff"] {
        let (mut stream, other) = UnixStream::pair().unwrap();
        message::write(&mut stream, first).unwrap();
        assert!(serve(other, &machine.file("run"), &|| unreachable!()).is_err());
    }
}

#[test]
fn names_left_by_a_killed_helper_are_restored_at_the_next_start() {
    let machine = Machine::new();
    let mut journal = Journal::open(&machine.file("run"), "office", Scope::Names).unwrap();
    let resolver = Resolver::File(machine.file("etc/resolv.conf"));
    resolver.apply(&dns("10.8.0.1"), "tun3", &mut journal).unwrap();
    drop(journal);
    assert!(machine.names().contains("10.8.0.1"));
    let client = machine.start(&setup(&[]));
    machine.assert_restored();
    client.end().unwrap();
}

#[test]
fn a_script_runs_once_with_arguments_of_the_helper() {
    let machine = Machine::new();
    let output = machine.file("output");
    let to_file = |what: &str| shell(&format!("echo {what} >> {}", output.display()));
    let scripts = [
        (Kind::Up, to_file("$script_type $daemon_pid $COLOUR $foreign_option_1 - $*")),
        (Kind::AddressChange, to_file("$script_type $*")),
    ];
    let mut client = machine.start(&setup(&scripts));
    let run = |kind, pairs: &[(&str, &str)]| Request::Run(kind, owned(pairs));
    // A refused variable does not use up the run.
    let refused = client.ask(&run(Kind::Up, &[("PATH", "/tmp")]));
    assert_eq!(refused, ["up is not run as root with this PATH"]);
    assert!(!output.exists());
    client.does(&run(
        Kind::Up,
        &[
            ("daemon_pid", "7"),
            ("dev", "tun3"),
            ("tun_mtu", "1400"),
            ("ifconfig_local", "10.8.0.2"),
            ("ifconfig_netmask", "255.255.255.0"),
            ("script_context", "init"),
            ("foreign_option_1", "dhcp-option DNS 10.8.0.1"),
        ],
    ));
    client.does(&run(Kind::AddressChange, &[("trusted_ip", "192.0.2.1"), ("trusted_port", "5")]));
    let expected = "up 7 blue dhcp-option DNS 10.8.0.1 - tun3 1400 0 10.8.0.2 255.255.255.0 \
                    init\nipchange 192.0.2.1 5\n";
    assert_eq!(fs::read_to_string(&output).unwrap(), expected);
    // They have run; and the file has no route-up.
    for kind in SCRIPTS {
        let problems = client.ask(&run(kind, &[]));
        assert!(problems[0].contains("as root already"), "{problems:?}");
    }
    assert_eq!(fs::read_to_string(&output).unwrap(), expected);
    client.end().unwrap();
}

#[test]
fn a_script_that_fails_is_reported() {
    let machine = Machine::new();
    let mut client = machine.start(&setup(&[(Kind::RouteUp, shell("exit 3"))]));
    let problems = client.ask(&Request::Run(Kind::RouteUp, Vec::new()));
    assert!(problems[0].contains("exit status: 3"), "{problems:?}");
    let security = Setup { security: 1, ..setup(&[(Kind::Up, shell("true"))]) };
    let mut client = machine.start(&Setup { instance: "other".into(), ..security });
    let problems = client.ask(&Request::Run(Kind::Up, Vec::new()));
    assert!(problems[0].contains("script-security 2"), "{problems:?}");
}

#[test]
fn a_running_script_ends_with_the_client() {
    let machine = Machine::new();
    let started = machine.file("started");
    // The child of the shell writes: its death ends the whole group.
    let script = format!("sh -c 'echo $$ > {}; exec sleep 1000'; true", started.display());
    let mut client = machine.start(&setup(&[(Kind::Up, shell(&script))]));
    client.does(&Request::Set(dns("10.8.0.1")));
    let request = Request::Run(Kind::Up, Vec::new()).to_json();
    let asked = Instant::now();
    message::write(&mut client.stream, request.as_bytes()).unwrap();
    let end = asked + LIMIT;
    let process = loop {
        match fs::read_to_string(&started) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => assert!(Instant::now() < end, "the script does not start"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    client.end().unwrap();
    assert!(asked.elapsed() < SCRIPT_LIMIT, "the time limit has ended the script");
    machine.assert_restored();
    let status = Path::new("/proc").join(process).join("status");
    while fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ")) {
        assert!(Instant::now() < end, "the script goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
