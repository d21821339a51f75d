//! Two network namespaces, keys for both, and the programs that run in them.
//!
//! Needs root, iproute2 and OpenVPN. Everything is removed when the value is dropped.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cycloid_vpn::net::undo::DIRECTORY;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

/// Addresses of the server: outside the tunnel, and inside.
pub(crate) const SERVER: &str = "10.99.0.1";
pub(crate) const SERVER6: &str = "fd99::1";
pub(crate) const INNER: &str = "10.8.0.1";
pub(crate) const INNER6: &str = "fd00:8::1";

/// The log line of a side that is up, for Cycloid and for OpenVPN.
pub(crate) const UP: &str = "Initialization Sequence Completed";

/// The time limit of events that are sure to come; no test measures it.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// The program that a side runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Cycloid,
    OpenVpn,
}

/// The programs at the two ends: server, then client.
pub(crate) const WITH_OPENVPN: [(Who, Who); 2] =
    [(Who::Cycloid, Who::OpenVpn), (Who::OpenVpn, Who::Cycloid)];
pub(crate) const ALL: [(Who, Who); 3] =
    [WITH_OPENVPN[0], WITH_OPENVPN[1], (Who::Cycloid, Who::Cycloid)];

/// The protection of the control channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Protection {
    None,
    TlsAuth,
    TlsCrypt,
    TlsCryptV2,
}

/// The settings of both ends.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) tcp: bool,
    pub(crate) protection: Protection,
    pub(crate) cipher: &'static str,
    /// The address that the client connects to.
    pub(crate) remote: &'static str,
    /// OpenVPN's program.
    pub(crate) openvpn: String,
    /// Whether the server has a single peer and pushes nothing.
    pub(crate) point_to_point: bool,
    /// More configuration lines: for both ends, for the server, for the client.
    pub(crate) both: String,
    pub(crate) server: String,
    pub(crate) client: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tcp: false,
            protection: Protection::TlsCrypt,
            cipher: "AES-256-GCM",
            remote: SERVER,
            openvpn: "openvpn".into(),
            point_to_point: false,
            both: String::new(),
            server: String::new(),
            client: String::new(),
        }
    }
}

pub(crate) struct TestBed {
    pub(crate) directory: TempDir,
    /// The server's namespace and the client's.
    namespaces: [String; 2],
}

impl TestBed {
    pub(crate) fn new() -> Self {
        // Random rather than the process id, which a later process may reuse after this one was
        // killed.
        let number = RandomState::new().hash_one(()) as u32;
        let name = |side| format!("cyclovpn-{number:08x}-{side}");
        let bed = Self {
            directory: TempDir::new().expect("a directory"),
            namespaces: [name("s"), name("c")],
        };
        for name in &bed.namespaces {
            ip(&format!("netns add {name}"));
            ip(&format!("-n {name} link set lo up"));
        }
        let [server, client] = &bed.namespaces;
        ip(&format!("link add veth netns {server} type veth peer name veth netns {client}"));
        for (name, address) in bed.namespaces.iter().zip([SERVER, "10.99.0.2"]) {
            ip(&format!("-n {name} addr add {address}/24 dev veth"));
            ip(&format!("-n {name} link set veth up"));
        }
        for (name, address) in bed.namespaces.iter().zip([SERVER6, "fd99::2"]) {
            ip(&format!("-n {name} addr add {address}/64 dev veth nodad"));
        }
        bed.keys();
        bed
    }

    /// Makes an authority, certificates and keys with `cycloid-vpn`.
    fn keys(&self) {
        for line in [
            "pki init",
            "pki server gate --host 10.99.0.1",
            "pki client alice",
            "genkey tls-crypt --output shared.key",
            "genkey tls-crypt-v2-server --output v2-server.key",
            "genkey tls-crypt-v2-client --server-key v2-server.key --output v2-client.key",
        ] {
            self.cycloid(line);
        }
        for (profile, name) in [("pki/gate.conf", "gate"), ("pki/alice.ovpn", "alice")] {
            let text = fs::read_to_string(self.directory.path().join(profile)).expect("a profile");
            for block in ["ca", "cert", "key"] {
                let (_, rest) = text.split_once(&format!("<{block}>\n")).expect("a block");
                let (block_text, _) = rest.split_once(&format!("</{block}>")).expect("its end");
                fs::write(self.file(&format!("{name}.{block}")), block_text).expect("a file");
            }
        }
    }

    /// Runs `cycloid-vpn` with the arguments in `line`, in the directory with the keys.
    pub(crate) fn cycloid(&self, line: &str) {
        let output = Command::new(env!("CARGO_BIN_EXE_cycloid-vpn"))
            .args(line.split_whitespace())
            .current_dir(self.directory.path())
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "cycloid-vpn {line}: {output:?}");
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn key_lines(&self, protection: Protection, server: bool) -> String {
        let file = |name| self.file(name).display().to_string();
        match protection {
            Protection::None => String::new(),
            Protection::TlsAuth => format!("tls-auth {} {}", file("shared.key"), u8::from(!server)),
            Protection::TlsCrypt => format!("tls-crypt {}", file("shared.key")),
            Protection::TlsCryptV2 if server => format!("tls-crypt-v2 {}", file("v2-server.key")),
            Protection::TlsCryptV2 => format!("tls-crypt-v2 {}", file("v2-client.key")),
        }
    }

    /// Writes the configuration file of a side, and returns its path.
    pub(crate) fn configure(&self, server: bool, settings: &Settings) -> PathBuf {
        let name = if server { "gate" } else { "alice" };
        let material = |kind| self.file(&format!("{name}.{kind}")).display().to_string();
        let mut text = format!(
            "dev tun\nverb 4\nca {}\ncert {}\nkey {}\ndata-ciphers {}\n{}\n{}\n",
            material("ca"),
            material("cert"),
            material("key"),
            settings.cipher,
            self.key_lines(settings.protection, server),
            settings.both,
        );
        text += match (server, settings.point_to_point) {
            (true, false) => {
                "topology subnet\nserver 10.8.0.0 255.255.0.0\nserver-ipv6 fd00:8::/64\n\
                 keepalive 1 5\n"
            }
            (true, true) => {
                "tls-server\nifconfig 10.8.0.1 10.8.0.2\n\
                 ifconfig-ipv6 fd00:8::1/64 fd00:8::2\nkeepalive 1 5\n"
            }
            (false, false) => "client\nnobind\n",
            (false, true) => {
                "tls-client\nifconfig 10.8.0.2 10.8.0.1\n\
                 ifconfig-ipv6 fd00:8::2/64 fd00:8::1\nkeepalive 1 5\n"
            }
        };
        let (family, local) = match settings.remote.contains(':') {
            true => ("6", SERVER6),
            false => ("", SERVER),
        };
        text += &match (server, settings.tcp) {
            (true, tcp) => format!(
                "proto {}\nlocal {local}\nport 1194\ndh none\n{}\n",
                if tcp { format!("tcp{family}-server") } else { format!("udp{family}") },
                settings.server
            ),
            (false, tcp) => format!(
                "proto {}\nremote {} 1194\nremote-cert-tls server\n{}\n",
                if tcp { format!("tcp{family}-client") } else { format!("udp{family}") },
                settings.remote,
                settings.client
            ),
        };
        // The file's name is the instance's name, which must be unique on a machine.
        let file = self.file(&format!("{}.conf", self.namespaces[usize::from(!server)]));
        fs::write(&file, text).expect("a file");
        file
    }

    /// Starts a side, and waits until it is up.
    pub(crate) fn start(&self, who: Who, server: bool, settings: &Settings) -> Running {
        let mut running = self.launch(who, server, settings);
        running.wait_for(UP, 1, LIMIT);
        running
    }

    pub(crate) fn launch(&self, who: Who, server: bool, settings: &Settings) -> Running {
        let file = self.configure(server, settings);
        let mut command = self.command(!server);
        match who {
            Who::Cycloid => {
                let verb = if server { "server" } else { "client" };
                command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), verb]).arg(&file);
            }
            Who::OpenVpn => {
                command.args([&*settings.openvpn, "--config"]).arg(&file);
            }
        }
        let log = file.with_extension(if server { "server.log" } else { "client.log" });
        Running::start(command, log)
    }

    /// Returns a command that runs a program in the client's namespace or the server's.
    pub(crate) fn command(&self, client: bool) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[usize::from(client)]]);
        command
    }

    /// Runs a closure on a new thread in the client's namespace or the server's.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        client: bool,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> std::thread::JoinHandle<T> {
        let name = &self.namespaces[usize::from(client)];
        let namespace = File::open(format!("/run/netns/{name}")).expect("a namespace");
        std::thread::spawn(move || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), network).expect("the namespace is there");
            run()
        })
    }

    /// Sends `count` pings from the client, and returns the number of replies to them. On a busy
    /// machine a reply may be late: meanwhile ping sends more, which do not count.
    pub(crate) fn ping(&self, to: &str, count: u32, interval: &str) -> u32 {
        let seconds: f32 = interval.parse().expect("seconds");
        // A busy machine stretches the intervals.
        let limit = (4.0 * count as f32 * seconds).ceil() as u32 + 2;
        let output = self
            .command(true)
            .args(["ping", "-n", "-w", &limit.to_string(), "-i", interval])
            .args(["-c", &count.to_string(), to])
            .output()
            .expect("ping starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let replies = text.lines().filter(|line| line.contains(" bytes from "));
        let numbers = replies.filter_map(|line| line.split("icmp_seq=").nth(1)?.split(' ').next());
        let numbers: HashSet<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
        numbers.into_iter().filter(|number| *number <= count).count() as u32
    }

    /// Waits until the server's inner address answers pings again. While an end restarts, it has no
    /// interface, and a ping fails at once.
    pub(crate) fn assert_reaches_again(&self, what: &str, ends: [&mut Running; 2]) {
        let end = Instant::now() + LIMIT;
        while self.ping(INNER, 2, "0.2") != 2 {
            if Instant::now() >= end {
                let [server, client] = ends;
                panic!("{what}\n--- server\n{}\n--- client\n{}", server.text(), client.text());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Asserts that both inner addresses of the server answer pings, with retries for a loaded
    /// machine.
    pub(crate) fn assert_reaches(&self, what: &str, ends: [&mut Running; 2]) {
        let reached =
            (0..3).any(|_| [INNER, INNER6].into_iter().all(|to| self.ping(to, 3, "0.1") == 3));
        let [server, client] = ends;
        assert!(reached, "{what}\n--- server\n{}\n--- client\n{}", server.text(), client.text());
    }

    /// Pings until both ends have renewed their keys twice. At most one of 500 pings may be lost.
    pub(crate) fn assert_loses_nothing_in_renewals(&self, what: &str, ends: [&Running; 2]) {
        let limit = Instant::now() + Duration::from_secs(60);
        let (mut sent, mut received) = (0, 0);
        let [server, client] = ends;
        while sent < 500 || ends.iter().any(|end| end.renewals() < 2) && Instant::now() < limit {
            received += self.ping(INNER, 250, "0.02");
            sent += 250;
        }
        let texts = [server.text(), client.text()].join("\n--- client\n");
        assert!(sent - received <= sent / 500, "{received} of {sent}: {what}\n{texts}");
        assert!(ends.iter().all(|end| end.renewals() >= 2), "{what}\n{texts}");
    }
}

impl Drop for TestBed {
    fn drop(&mut self) {
        for name in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
            // The undo journals have entries only if the program was killed before it restored the
            // namespace.
            for suffix in ["journal", "names.journal"] {
                let _ = fs::remove_file(Path::new(DIRECTORY).join(format!("{name}.{suffix}")));
            }
        }
    }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().expect("ip");
    assert!(output.status.success(), "ip {arguments}: {output:?}");
}

/// A running program, and its log.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    pub(crate) fn start(mut command: Command, log: PathBuf) -> Self {
        let file = File::create(&log).expect("a file");
        let same = file.try_clone().expect("a file");
        command.stdin(Stdio::null()).stdout(file).stderr(same);
        Self { child: command.spawn().expect("the program starts"), log }
    }

    pub(crate) fn text(&self) -> String {
        read(&self.log)
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns how often the log contains `what`.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.text().matches(what).count()
    }

    /// Waits until the log contains `what` at least `times` times.
    pub(crate) fn wait_for(&mut self, what: &str, times: usize, limit: Duration) {
        let end = Instant::now() + limit;
        loop {
            // The exit status is read before the log, so the log of an ended program is complete.
            let ended = self.child.try_wait().expect("the program is ours");
            let text = self.text();
            if text.matches(what).count() >= times {
                return;
            }
            assert!(ended.is_none(), "the program ended: {ended:?}\n{text}");
            assert!(Instant::now() < end, "no {what:?} in time\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the number of key renewals that the log of either program reports.
    pub(crate) fn renewals(&self) -> usize {
        let text = self.text();
        text.matches("a new key is in use").count()
            + text.matches("Outgoing Data Channel").count().saturating_sub(1)
            + text.matches("Outgoing Epoch Data key 1:").count().saturating_sub(1)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill");
        assert!(sent.success());
    }

    /// Sends a signal, waits until the program ends, and returns its log.
    pub(crate) fn end(mut self, name: &str) -> String {
        self.signal(name);
        self.wait_for_end();
        self.text()
    }

    pub(crate) fn wait_for_end(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.child.try_wait().expect("the program is ours").is_none() {
            assert!(Instant::now() < end, "it did not end\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_right` accepts the file's text, and returns the text.
pub(crate) fn wait_for_file(path: &Path, is_right: impl Fn(&str) -> bool) -> String {
    let end = Instant::now() + LIMIT;
    loop {
        let text = read(path);
        if is_right(&text) {
            return text;
        }
        assert!(Instant::now() < end, "unexpected content of {}:\n{text}", path.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn read(path: &Path) -> String {
    let mut text = Vec::new();
    let _ = File::open(path).and_then(|mut file| file.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}
