//! A testbed: two network namespaces connected by a virtual cable, keys, and the programs that run
//! there.
//!
//! A separate process keeps the namespaces. It ends all programs in them and removes them as soon
//! as its standard input ends, which happens when [`Testbed`] is dropped or this process ends for
//! whatever reason.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use cycloid_lab::measure::clock;
use cycloid_lab::process::Process;
use cycloid_lab::suite::vpn::Namespaces;
use cycloid_lab::{Failure, interrupt, programs};

/// The line that both Cycloid and OpenVPN print when an end is up.
const UP: &str = "Initialization Sequence Completed";

/// The options that administrators use to speed OpenVPN up.
const TUNED: &str = "fast-io\nsndbuf 4194304\nrcvbuf 4194304\n";

/// For OpenVPN and Cycloid; it is the default of Cycloid's servers.
const LONG_QUEUE: &str = "txqueuelen 4096\n";

/// Server options that allow many concurrent clients with one certificate.
const FOR_MANY_CLIENTS: &str = "duplicate-cn\nmax-clients 4096\nconnect-freq-initial 100000 1\n";

const HINT: &str = "run as root, with iperf3, iproute2 and iputils-ping installed";

/// Checks that tunnels can be created on this machine.
///
/// # Errors
/// Names a missing program or privilege, and the way to get it.
pub(super) fn possible() -> Result<(), Failure> {
    programs::possible(programs::VPN)?;
    for (program, package) in [("ip", "iproute2"), ("iperf3", "iperf3"), ("ping", "iputils-ping")] {
        // Only whether it starts matters, not its output.
        if Command::new(program).arg("-V").stdin(Stdio::null()).output().is_err() {
            return Err(Failure::new(
                format!("{program} is not installed"),
                format!("apt install {package}"),
            ));
        }
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(Failure::new(
            "/dev/net/tun does not exist",
            "load the driver with modprobe tun",
        ));
    }
    // Even root may lack the permission.
    let name = format!("cycloid-probe-{}", std::process::id());
    let allowed = ip(&format!("netns add {name}"));
    let _ = ip(&format!("netns delete {name}"));
    allowed.map_err(|_| Failure::new("cannot create network namespaces", "run as root"))
}

fn ip(line: &str) -> Result<(), String> {
    let output = Command::new("ip").args(line.split_whitespace()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Namespaces, keys, and a listener for streams.
pub(super) struct Testbed {
    pub(super) program: PathBuf,
    _listener: Running,
    pub(super) place: Namespaces,
    /// The number of tunnels created.
    tunnels: usize,
    /// Dropped last.
    _keeper: Process,
}

/// Both ends of a tunnel.
pub(super) struct Tunnel {
    // The client is dropped first, so that its exit notification reaches the server.
    client: Running,
    server: Running,
    number: usize,
}

/// A program at an end of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Cycloid,
    OpenVpn,
    /// WireGuard at both ends, over UDP.
    WireGuard,
}

/// The program at an end, and its options.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    cycloid: bool,
    tcp: bool,
    server: bool,
    /// Whether it is a server for many clients.
    many_clients: bool,
}

/// The timeout for programs to come up, or to finish their previous task.
const PATIENCE: Duration = Duration::from_secs(60);

/// The results of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) megabits: f64,
    /// Processor seconds per gigabyte.
    pub(super) server: f64,
    pub(super) client: f64,
}

/// The results of datagrams at a fixed rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagrams {
    /// Those sent.
    pub(super) per_second: f64,
    pub(super) lost_percent: f64,
}

impl Testbed {
    pub(super) fn new() -> Result<Self, Failure> {
        let program = programs::find(programs::VPN)?;
        let mut command = Command::new(programs::own()?);
        command.args(["helper", "namespaces"]);
        let mut keeper = Process::start(&mut command).map_err(|message| failed(&message))?;
        let place: Namespaces = keeper.hear().map_err(|message| failed(&message))?;
        let mut listener = inside(&place, 0, "iperf3 -s");
        let listener = Running::start(listener.stdout(Stdio::null()).stderr(Stdio::null()))?;
        Ok(Self { program, _listener: listener, place, tunnels: 0, _keeper: keeper })
    }

    /// Returns a number for the next tunnel, which determines its port and its network.
    fn number(&mut self) -> usize {
        self.tunnels += 1;
        self.tunnels - 1
    }

    /// Creates a tunnel with these programs at the server's and the client's end.
    pub(super) fn tunnel(&mut self, ends: [Who; 2], tcp: bool) -> Result<Tunnel, Failure> {
        let number = self.number();
        if ends.contains(&Who::WireGuard) {
            let [server, client] = self.wire_guard(number)?;
            return Ok(Tunnel { client, server, number });
        }
        let [server, client] = ends.map(|who| End {
            cycloid: who == Who::Cycloid,
            tcp,
            server: true,
            many_clients: false,
        });
        let server = self.start(number, server)?;
        let client = self.start(number, End { server: false, ..client })?;
        Ok(Tunnel { client, server, number })
    }

    /// Restarts a client, and returns the time until its tunnel is up.
    pub(super) fn restart(&self, tunnel: &mut Tunnel, who: Who) -> Result<Duration, Failure> {
        tunnel.client.stop();
        let begin = Instant::now();
        let end =
            End { cycloid: who == Who::Cycloid, tcp: false, server: false, many_clients: false };
        tunnel.client = self.start(tunnel.number, end)?;
        Ok(begin.elapsed())
    }

    /// Starts a server for many clients, and returns the profile of its clients.
    pub(super) fn server(&mut self, who: Who) -> Result<(Running, PathBuf), Failure> {
        let number = self.number();
        let end =
            End { cycloid: who == Who::Cycloid, tcp: false, server: true, many_clients: true };
        let server = self.start(number, end)?;
        Ok((server, self.profile(number, End { cycloid: true, server: false, ..end })?))
    }

    /// Starts an end and waits until it is up.
    fn start(&self, number: usize, end: End) -> Result<Running, Failure> {
        let cannot = |error: std::io::Error| failed(&error.to_string());
        let file = self.profile(number, end)?;
        let side = usize::from(!end.server);
        let namespace = &self.place.namespaces[side];
        let log = self.place.directory.join(format!("{namespace}-{number}.log"));
        let output = File::create(&log).map_err(cannot)?;
        let program = match end.cycloid {
            true => {
                let role = if end.server { "server" } else { "client" };
                format!("{} {role}", self.program.display())
            }
            false => "openvpn --config".into(),
        };
        let mut command = self.command(side, &format!("{program} {}", file.display()));
        command.current_dir(self.place.directory.join("pki"));
        command.stderr(output.try_clone().map_err(cannot)?).stdout(output);
        let mut running = Running::start(&mut command)?;
        let said = || fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned());
        let up = |_: &mut Running| said().is_ok_and(|text| text.contains(UP));
        running.wait_until(up)?.ok_or_else(|| {
            let said = said().unwrap_or_default();
            let last = said.lines().rfind(|line| !line.starts_with("hint: "));
            let last = last.unwrap_or("no output");
            failed(&format!("{program} did not come up: {last}"))
        })?;
        Ok(running)
    }

    /// Writes an end's profile.
    fn profile(&self, number: usize, end: End) -> Result<PathBuf, Failure> {
        let End { cycloid, tcp, server, many_clients } = end;
        let (side, profile) = if server { (0, "pki/gate.conf") } else { (1, "pki/alice.ovpn") };
        let directory = &self.place.directory;
        let cannot = |error: std::io::Error| failed(&error.to_string());
        let text = fs::read_to_string(directory.join(profile)).map_err(cannot)?;
        let ours = |line: &&str| {
            !["proto ", "port ", "server ", "remote "].iter().any(|word| line.starts_with(word))
        };
        let mut text: String = text.lines().filter(ours).map(|line| format!("{line}\n")).collect();
        let port = 1194 + number;
        let protocol = match (tcp, server) {
            (false, _) => "udp",
            (true, true) => "tcp-server",
            (true, false) => "tcp-client",
        };
        text += &match server {
            true => {
                let network = match many_clients {
                    true => format!("10.9.0.0 255.255.0.0\n{FOR_MANY_CLIENTS}"),
                    false => format!("10.8.{number}.0 255.255.255.0\n"),
                };
                format!("proto {protocol}\nport {port}\nserver {network}")
            }
            false => format!("proto {protocol}\nremote 10.99.0.1 {port}\n"),
        };
        text += LONG_QUEUE;
        if !cycloid {
            text += TUNED;
        }
        // An instance is named after its file, which is next to the revocation list.
        let name = format!("{}-{number}", self.place.namespaces[side]);
        let file = directory.join(format!("pki/{name}.conf"));
        fs::write(&file, text).map_err(cannot)?;
        Ok(file)
    }

    /// Runs one TCP stream to the server, or from it.
    pub(super) fn stream(
        &self,
        tunnel: &Tunnel,
        up: bool,
        seconds: u32,
    ) -> Result<Stream, Failure> {
        let time = || [tunnel.server.time(), tunnel.client.time()];
        let reverse = if up { "" } else { " -R" };
        let options = format!("-t {seconds}{reverse}");
        let (result, [before, after]) = self.iperf(tunnel, &options, "sum_received", time)?;
        let received = &result["end"]["sum_received"];
        let number = |name: &str| received[name].as_f64().filter(|number| *number > 0.0);
        let (Some(bytes), Some(bits)) = (number("bytes"), number("bits_per_second")) else {
            return Err(failed(&format!("iperf3: {}", result["error"])));
        };
        let spent = |end: usize| after[end].saturating_sub(before[end]).as_secs_f64() / bytes * 1e9;
        Ok(Stream { megabits: bits / 1e6, server: spent(0), client: spent(1) })
    }

    /// Sends datagrams of this many bytes to the server, `rate` of them per second.
    pub(super) fn datagrams(
        &self,
        tunnel: &Tunnel,
        bytes: u32,
        rate: f64,
        time: Duration,
    ) -> Result<Datagrams, Failure> {
        let bits = 8 * u64::from(bytes) * rate as u64;
        let count = (rate * time.as_secs_f64()) as u64;
        let buffer = largest_buffer();
        let options = format!("-u -l {bytes} -b {bits} -k {count} -w {buffer}");
        let (result, _) = self.iperf(tunnel, &options, "sum", || ())?;
        let sum = &result["end"]["sum"];
        let number = |name: &str| {
            let error = || failed(&format!("iperf3: {}", result["error"]));
            sum[name].as_f64().ok_or_else(error)
        };
        let seconds = number("seconds")?;
        Ok(Datagrams {
            per_second: if seconds > 0.0 { number("packets")? / seconds } else { 0.0 },
            lost_percent: number("lost_percent")?,
        })
    }

    /// Runs iperf3 to the server until its result has this part. Returns the result, and what
    /// `observe` returns before and after.
    fn iperf<T>(
        &self,
        tunnel: &Tunnel,
        options: &str,
        part: &str,
        observe: impl Fn() -> T,
    ) -> Result<(Value, [T; 2]), Failure> {
        let line = format!("iperf3 -J -c 10.8.{}.1 {options}", tunnel.number);
        // The listener takes one client at a time, may still be finishing the last one, and may
        // still be starting.
        let patience = Instant::now() + PATIENCE;
        loop {
            let before = observe();
            let text = self.said(&line)?;
            let observed = [before, observe()];
            let result: Value = serde_json::from_str(&text).unwrap_or_default();
            if result["end"][part].is_object() || Instant::now() > patience {
                return Ok((result, observed));
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the mean round-trip time of some echoes in nanoseconds; `None` if no response came.
    pub(super) fn echo(&self, tunnel: &Tunnel) -> Result<Option<f64>, Failure> {
        let text = self.said(&format!("ping -q -c 50 -i 0.005 -W 20 10.8.{}.1", tunnel.number))?;
        // "rtt min/avg/max/mdev = 0.071/0.090/0.121/0.010 ms"
        let average = text.rsplit_once(" = ").and_then(|(_, times)| times.split('/').nth(1));
        Ok(average.and_then(|time| time.parse::<f64>().ok()).map(|time| time * 1e6))
    }

    /// Runs a program in the client's namespace and returns its output.
    fn said(&self, line: &str) -> Result<String, Failure> {
        let path = self.place.directory.join("said");
        let file = File::create(&path).map_err(|error| failed(&error.to_string()))?;
        let mut command = self.command(1, line);
        let mut running = Running::start(command.stdout(file).stderr(Stdio::null()))?;
        while !running.has_ended() {
            interrupt::check()?;
            thread::sleep(Duration::from_millis(5));
        }
        fs::read_to_string(&path).map_err(|error| failed(&error.to_string()))
    }

    /// Returns the command for a program in one of the namespaces.
    pub(super) fn command(&self, side: usize, line: &str) -> Command {
        inside(&self.place, side, line)
    }
}

/// Returns the bytes of the largest buffer that the system permits to sockets, up to 4 MiB. In a
/// smaller one iperf3 loses packets that the tunnel has carried.
fn largest_buffer() -> u64 {
    let limit = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    ["rmem_max", "wmem_max"].into_iter().filter_map(limit).fold(4 << 20, u64::min)
}

/// Returns the command for a program whose temporary files are removed with the testbed.
fn inside(place: &Namespaces, side: usize, line: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &place.namespaces[side]]).args(line.split_whitespace());
    command.env("TMPDIR", &place.directory).stdin(Stdio::null());
    command
}

pub(super) fn failed(message: &str) -> Failure {
    Failure::new(format!("cannot measure the VPN's tunnels: {message}"), HINT)
}

/// A process that ends when this value is dropped. `ip` replaces itself with the program that it
/// starts.
pub(super) struct Running(Child);

impl Running {
    pub(super) fn start(command: &mut Command) -> Result<Self, Failure> {
        let child = command.spawn();
        child.map(Self).map_err(|error| failed(&format!("ip: {error}")))
    }

    /// Returns the processor time used so far.
    pub(super) fn time(&self) -> Duration {
        clock::of_process(self.0.id()).unwrap_or_default()
    }

    /// Returns its current resident memory in bytes.
    pub(super) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let bytes = |name| {
            // "VmRSS:\t    4096 kB"
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
        };
        Some(bytes("VmRSS:")? + bytes("VmSwap:").unwrap_or(0))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits for a condition in steps of a millisecond; `None` if the process ends first, or on
    /// timeout.
    pub(super) fn wait_until(
        &mut self,
        is_so: impl Fn(&mut Self) -> bool,
    ) -> Result<Option<()>, Failure> {
        let begin = Instant::now();
        while !is_so(self) {
            interrupt::check()?;
            if begin.elapsed() > PATIENCE || self.has_ended() {
                return Ok(None);
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(Some(()))
    }

    fn stop(&mut self) {
        if !self.has_ended() {
            let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).output();
        }
        let end = Instant::now() + Duration::from_secs(5);
        while !self.has_ended() && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
