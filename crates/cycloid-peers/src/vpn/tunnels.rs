//! Interleaved rounds of tunnels: all tunnels are up, and one after the other carries a stream, in
//! a new random order every round. Our tunnel runs twice, the second time as the control. Starting
//! clients are measured in the same way.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use cycloid::cpu;

use super::Vpn;
use super::testbed::{Stream, Testbed, Tunnel, Who};
use crate::turns::{Turns, compared, take};
use cycloid_lab::Failure;
use cycloid_lab::measure::statistics;
use cycloid_lab::peers::{Found, Peer};
use cycloid_lab::record::{
    Implementation, Memory, Method, Parameters, Ratio, Record, Statistic, Summary, Table,
    Tunnel as Carried,
};
use cycloid_lab::suite::subjects::{kept, rounded};
use cycloid_lab::suite::{Effort, LIBRARY, subjects};

/// The name of a row, and the programs at the server's end and at the client's.
pub(super) type Pair = (&'static str, [Who; 2]);

/// The first is the reference; WireGuard supports only UDP.
pub(super) const PAIRS: [Pair; 5] = [
    ("Cycloid at both ends", [Who::Cycloid, Who::Cycloid]),
    ("OpenVPN at both ends", [Who::OpenVpn, Who::OpenVpn]),
    ("Cycloid serves OpenVPN", [Who::Cycloid, Who::OpenVpn]),
    ("OpenVPN serves Cycloid", [Who::OpenVpn, Who::Cycloid]),
    ("wireguard-go at both ends", [Who::WireGuard, Who::WireGuard]),
];

const WHAT: &str = "VPN: both ends, iperf3 and the kernel share the processors of this machine, so a faster \
    tunnel leaves less processor time for iperf3. AES-256-GCM and tls-crypt-v2; OpenVPN runs with \
    fast-io, buffers of 4 MiB and a longer queue. A round trip is the mean of 50 pings. WireGuard's \
    cipher is ChaCha20-Poly1305";

const START: &str = "VPN: from the start of the client's process until it reports that its tunnel is up: \
    TCP or UDP, TLS with both certificates, keys, addresses, routes";

/// The number of rounds, and the duration of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) rounds: usize,
    seconds: u32,
}

impl Pace {
    pub(super) fn of(effort: Effort, rounds: Option<usize>, seconds: Option<u32>) -> Self {
        let (usual, long) = match effort {
            Effort::Quick => (2, 1),
            Effort::Plain => (3, 1),
            Effort::Full => (9, 5),
        };
        Self { rounds: rounds.unwrap_or(usual), seconds: seconds.unwrap_or(long) }
    }

    /// Estimates the time of this many tunnels.
    pub(super) fn of_streams(self, pairs: usize) -> Duration {
        let streams = (self.rounds * (pairs + 1)) as f64;
        Duration::from_secs_f64(streams * (f64::from(self.seconds) + 0.2) + pairs as f64)
    }

    /// Returns how long datagrams are sent at each rate.
    pub(super) fn of_datagrams(self) -> Duration {
        Duration::from_millis(500) * self.seconds
    }

    /// Estimates the time of searching rates.
    pub(super) fn of_rates(self) -> Duration {
        (self.of_datagrams() + Duration::from_millis(200)) * 7 * 3 * self.rounds as u32
    }

    /// Estimates the time of the clients' starts.
    pub(super) fn of_starts(self) -> Duration {
        Duration::from_secs(4) * self.rounds as u32
    }

    /// Returns the seconds for which clients exchange packets. A client of a thousand needs some
    /// hundred packets, or its share would be uncertain.
    pub(super) fn of_exchange(self) -> u32 {
        5 * self.seconds
    }

    /// Estimates the time of the exchanges.
    pub(super) fn of_exchanges(self) -> Duration {
        Duration::from_secs(1 + u64::from(self.of_exchange())) * 3 * self.rounds as u32
    }

    /// Estimates the time of measuring this many clients.
    pub(super) fn of_many_clients(self, clients: usize) -> Duration {
        (Duration::from_secs(2) + Duration::from_millis(18) * clients as u32) * self.rounds as u32
    }
}

/// The running tunnels. They are dropped before the testbed that they depend on.
pub(super) struct Running {
    /// Whether it runs over TCP, the index of its pair, and the tunnel.
    tunnels: Vec<(bool, usize, Tunnel)>,
    pub(super) testbed: Testbed,
}

impl Running {
    /// Brings up the tunnels that are not up yet.
    pub(super) fn bring_up(&mut self, tcp: bool, pairs: &[usize]) -> Result<(), Failure> {
        for pair in pairs {
            if self.index(tcp, *pair).is_none() {
                let tunnel = self.testbed.tunnel(PAIRS[*pair].1, tcp)?;
                self.tunnels.push((tcp, *pair, tunnel));
            }
        }
        Ok(())
    }

    /// Returns a tunnel that is up.
    pub(super) fn tunnel(&self, tcp: bool, pair: usize) -> &Tunnel {
        let index = self.index(tcp, pair).expect("the tunnel was brought up");
        &self.tunnels[index].2
    }

    fn index(&self, tcp: bool, pair: usize) -> Option<usize> {
        self.tunnels.iter().position(|(over, which, _)| (*over, *which) == (tcp, pair))
    }
}

pub(super) fn title(tcp: bool, up: bool) -> String {
    let direction = if up { "client to server" } else { "server to client" };
    format!("tunnels over {}, {direction}", if tcp { "TCP" } else { "UDP" })
}

impl Vpn {
    /// Measures streams in one direction through the first `pairs` of [`PAIRS`].
    pub(super) fn measure_streams(
        &self,
        tcp: bool,
        up: bool,
        pairs: usize,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let pairs = Pairs::new(&PAIRS[..pairs], peers);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = started(&mut running)?;
        running.bring_up(tcp, &pairs.there)?;
        let begin = Instant::now();
        let turns = take(&pairs.there, pace.rounds, progress, |pair| {
            running.testbed.stream(running.tunnel(tcp, pair), up, pace.seconds)
        })?;
        let parameters = Parameters::from([
            ("transport".into(), if tcp { "TCP" } else { "UDP" }.into()),
            ("direction".into(), if up { "client to server" } else { "server to client" }.into()),
            ("cipher".into(), "AES-256-GCM".into()),
            ("stream_seconds".into(), pace.seconds.into()),
        ]);
        let mut table =
            pairs.table(title(tcp, up), "megabyte through a tunnel", parameters, turns.map(time));
        for (record, (pair, streams)) in
            table.records.iter_mut().zip(pairs.there.iter().zip(&turns.of))
        {
            let median = |value: fn(&Stream) -> f64| {
                let values: Vec<f64> = streams.iter().map(value).collect();
                rounded(statistics::median(&values), 3)
            };
            record.tunnel = Some(Carried {
                megabits_per_second: median(|stream| stream.megabits),
                server_seconds_per_gigabyte: median(|stream| stream.server),
                client_seconds_per_gigabyte: median(|stream| stream.client),
                round_trip_ns: running.testbed.echo(running.tunnel(tcp, *pair))?,
            });
        }
        table.rounds = pace.rounds;
        table.seconds = rounded(begin.elapsed().as_secs_f64(), 2);
        table.notes = vec![WHAT.into()];
        Ok(table)
    }

    /// Measures the time until clients are up, with the same program at both ends.
    pub(super) fn measure_starts(
        &self,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let pairs = Pairs::new(&PAIRS[..2], peers);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = started(&mut running)?;
        running.bring_up(false, &pairs.there)?;
        let begin = Instant::now();
        let turns = take(&pairs.there, pace.rounds, progress, |pair| {
            let index = running.index(false, pair).expect("the tunnel was brought up");
            let tunnel = &mut running.tunnels[index].2;
            running.testbed.restart(tunnel, PAIRS[pair].1[1])
        })?;
        let parameters = Parameters::from([("transport".into(), "UDP".into())]);
        let group = "a client's start, until its tunnel over UDP is up".into();
        let times = turns.map(|time| time.as_nanos() as f64);
        let mut table = pairs.table(group, "start of a client", parameters, times);
        table.rounds = pace.rounds;
        table.seconds = rounded(begin.elapsed().as_secs_f64(), 2);
        table.notes = vec![START.into()];
        Ok(table)
    }
}

/// Returns the running processes, and starts them if necessary.
pub(super) fn started(running: &mut Option<Running>) -> Result<&mut Running, Failure> {
    if running.is_none() {
        *running = Some(Running { tunnels: Vec::new(), testbed: Testbed::new()? });
    }
    Ok(running.as_mut().expect("the testbed was started"))
}

/// Returns nanoseconds per megabyte.
fn time(stream: &Stream) -> f64 {
    8e9 / stream.megabits
}

/// The pairs that can be measured.
pub(super) struct Pairs {
    all: &'static [Pair],
    /// Their indices.
    pub(super) there: Vec<usize>,
    /// The version of each available program.
    versions: Vec<(Who, String)>,
    missing: Vec<String>,
}

impl Pairs {
    pub(super) fn new(all: &'static [Pair], peers: &[Found]) -> Self {
        let mut versions = vec![(Who::Cycloid, env!("CARGO_PKG_VERSION").to_owned())];
        let mut missing = Vec::new();
        for (who, peer) in [(Who::OpenVpn, Peer::OpenVpn), (Who::WireGuard, Peer::WireGuardGo)] {
            let wanted = all.iter().any(|(_, ends)| ends.contains(&who));
            match peers.iter().find(|found| wanted && found.peer == peer) {
                Some(Found { outcome: Ok(library), .. }) => versions.push((who, library.version())),
                Some(Found { outcome: Err(_), .. }) => missing.push(peer.name().into()),
                None => {}
            }
        }
        let is_there = |who: &Who| versions.iter().any(|(it, _)| it == who);
        let there = (0..all.len()).filter(|pair| all[*pair].1.iter().all(is_there)).collect();
        Self { all, there, versions, missing }
    }

    pub(super) fn table(
        &self,
        group: String,
        operation: &str,
        parameters: Parameters,
        times: Turns<f64>,
    ) -> Table {
        let ours = &times.of[0];
        let records = self.there.iter().zip(&times.of).enumerate().map(|(i, (pair, of))| Record {
            operation: operation.into(),
            parameters: parameters.clone(),
            group: "tunnels".into(),
            label: self.all[*pair].0.into(),
            method: Method::Single,
            implementation: self.implementation(*pair),
            constant_time: true,
            operations_per_call: 1,
            time: subjects::time(of, Statistic::Median),
            ratio: match i {
                0 => Ratio { samples: 0, median: 1.0, interval: [1.0, 1.0] },
                _ => compared(of, ours),
            },
            memory: Memory::default(),
            service: None,
            tunnel: None,
            instructions: None,
            emulated: None,
            samples: Some(kept(of, &[])),
        });
        Table {
            suite: cycloid_lab::suite::vpn::DESCRIPTOR.name.into(),
            group,
            name: String::new(),
            series: None,
            parameters: parameters.clone(),
            statistic: Statistic::Median,
            summary: Summary::Tunnels,
            reference: self.all[0].0.into(),
            records: records.collect(),
            control: compared(&times.control, ours),
            rounds: times.control.len(),
            seconds: 0.0,
            missing: self.missing.clone(),
            notes: Vec::new(),
        }
    }

    fn implementation(&self, pair: usize) -> Implementation {
        let name = |who| match who {
            Who::Cycloid => LIBRARY,
            Who::OpenVpn => Peer::OpenVpn.name(),
            Who::WireGuard => Peer::WireGuardGo.name(),
        };
        let version = |who| {
            let of = self.versions.iter().find(|(it, _)| *it == who);
            of.map_or_else(String::new, |(_, version)| version.clone())
        };
        let program = |who, role| match who {
            Who::Cycloid => format!("cycloid-vpn {role}"),
            Who::OpenVpn => "openvpn".to_owned(),
            Who::WireGuard => "wireguard-go".to_owned(),
        };
        let [server, client] = self.all[pair].1;
        let both = |of: &dyn Fn(Who) -> String| match server == client {
            true => of(server),
            false => format!("{} and {}", of(server), of(client)),
        };
        let mut programs = vec![program(server, "server"), program(client, "client")];
        programs.dedup();
        let function = programs.join(", ");
        Implementation {
            product: both(&|who| name(who).into()),
            version: both(&version),
            function,
            backend: (server == Who::Cycloid && client == Who::Cycloid)
                .then(|| cpu::level().name().into()),
        }
    }
}
