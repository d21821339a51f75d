//! Measures the cost of many clients: a server alone, clients that connect to it through the
//! protocol's core and stay connected, and the cost of each in the server's process.

use std::sync::PoisonError;
use std::time::Instant;

use super::Vpn;
use super::testbed::{Testbed, Who, failed};
use super::tunnels::{Pace, Pair, Pairs, started};
use crate::turns::{Turns, take};
use cycloid_lab::Failure;
use cycloid_lab::measure::statistics;
use cycloid_lab::peers::Found;
use cycloid_lab::process::Process;
use cycloid_lab::record::{Parameters, Table};
use cycloid_lab::suite::subjects::rounded;

/// The measured servers; the clients are always Cycloid's.
pub(super) const SERVERS: [Pair; 2] = [
    ("Cycloid's server", [Who::Cycloid, Who::Cycloid]),
    ("OpenVPN's server", [Who::OpenVpn, Who::OpenVpn]),
];

/// The number of clients that connect concurrently.
pub(super) const AT_ONCE: usize = 8;

const WHAT: &str = "VPN: processor time of the server's process per connecting client, including kernel time: TLS 1.3 \
    with both certificates, keys, options, an address. The clients connect over UDP with tls-crypt-v2, \
    eight at a time, and stay connected; the growth of the process's resident memory is divided by their \
    number";

/// The cost of each client in the server.
struct Cost {
    /// Nanoseconds of processor time.
    processor: f64,
    /// Bytes of resident memory.
    resident: f64,
}

impl Vpn {
    /// Measures the cost of a client in each server.
    pub(super) fn measure_handshakes(
        &self,
        clients: usize,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let measure = |testbed: &mut Testbed, who| cost(testbed, who, clients);
        self.servers_in_turns(pace, peers, progress, measure, |pairs, turns| {
            let parameters = Parameters::from([
                ("transport".into(), "UDP".into()),
                ("clients".into(), clients.into()),
            ]);
            let group = "what a client that connects costs the server".into();
            let times = turns.map(|cost| cost.processor);
            let mut table = pairs.table(group, "client that connects", parameters, times);
            for (record, costs) in table.records.iter_mut().zip(&turns.of) {
                let resident: Vec<f64> = costs.iter().map(|cost| cost.resident).collect();
                record.memory.resident = Some(statistics::median(&resident) as u64);
            }
            table.notes = vec![WHAT.into()];
            table
        })
    }

    /// Measures the servers in turns, and returns the table of the results.
    pub(super) fn servers_in_turns<T>(
        &self,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
        measure: impl Fn(&mut Testbed, Who) -> Result<T, Failure>,
        table: impl FnOnce(&Pairs, &Turns<T>) -> Table,
    ) -> Result<Table, Failure> {
        let pairs = Pairs::new(&SERVERS, peers);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = started(&mut running)?;
        let begin = Instant::now();
        let turns = take(&pairs.there, pace.rounds, progress, |pair| {
            measure(&mut running.testbed, SERVERS[pair].1[0])
        })?;
        let mut table = table(&pairs, &turns);
        table.rounds = pace.rounds;
        table.seconds = rounded(begin.elapsed().as_secs_f64(), 2);
        Ok(table)
    }
}

fn cost(testbed: &mut Testbed, who: Who, clients: usize) -> Result<Cost, Failure> {
    let (server, profile) = testbed.server(who)?;
    let resident = || server.resident().ok_or_else(|| failed("the server has ended"));
    let (memory, time) = (resident()?, server.time());
    let line = format!(
        "{} crowd {} --count {clients} --at-once {AT_ONCE}",
        testbed.program.display(),
        profile.display()
    );
    let mut clients_process =
        Process::start(&mut testbed.command(1, &line)).map_err(|said| failed(&said))?;
    // The time until all clients are connected, which is not shown.
    let _: serde_json::Value = clients_process.hear().map_err(|said| failed(&said))?;
    let each = |whole: f64| whole / clients as f64;
    Ok(Cost {
        processor: each(server.time().saturating_sub(time).as_nanos() as f64),
        resident: each(resident()?.saturating_sub(memory) as f64),
    })
}
