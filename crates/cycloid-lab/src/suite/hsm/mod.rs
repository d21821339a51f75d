//! The HSM: signatures through PKCS #11 from our daemon and module, compared with SoftHSM through
//! the same driver.
//!
//! In every round each module signs for a short while, in a new random order, and the rate of each
//! is divided by ours in the same round. The control is a second run of our daemon in every round.

pub mod driver;
mod key;
mod processes;
mod rounds;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cycloid::cpu;
use cycloid_command::Stop;

use super::descriptor::{Choice, Constructors, Descriptor, Value};
use super::openssl::clients_from_list;
use super::repeat::{numbers, option, texts};
use super::service::Samples;
use super::subjects::{kept, rounded, time};
use super::{Effort, LIBRARY, Plan, Suite, Work};
use crate::peers::{Family, Found};
use crate::record::{
    Implementation, Memory, Method, Parameters, Ratio, Record, Statistic, Summary, Table,
};
use crate::{Failure, programs};
use driver::{Answer, Order, confused};
pub use key::KeyKind;
pub use processes::Keystore;
use processes::{Driver, Processes};
use rounds::Pace;

/// The label of the row that ratios refer to.
const REFERENCE: &str = "daemon";

/// The numbers of concurrent clients of a whole run.
const CLIENTS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The number of keys in the keystore when timing the daemon's start.
const MANY_KEYS: usize = 100_000;

/// The number of timed starts.
const STARTS: usize = 5;

const NOTES: [&str; 4] = [
    "HSM: times are wall-clock times; daemon, clients and peers share the processors of this machine. \
     A client signs, waits for the signature, and signs again; only signatures completed while the \
     clock runs, after all clients have started, count",
    "HSM: every signature is verified by this library: the first of each client at once, and later \
     ones that differ from it after the clock has stopped",
    "HSM: SoftHSM computes in the process of its caller; our module asks a daemon, with one request \
     and one response per signature. The driver (the crate cryptoki) calls C_SignInit, C_Sign for the \
     length, and C_Sign",
    "HSM: Kryoptic is not measured: Debian has no package for it",
];

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "hsm",
    title: "HSM",
    about: "The HSM: signatures through PKCS #11 for many clients, next to SoftHSM",
    examples: "",
    family: Family::Hsm,
    options: &[
        Choice {
            name: "key",
            help: "Kinds of key: rsa-2048, rsa-4096, p-256, ed25519, separated by commas; all \
                   [default: all]",
            value: Value::Text("LIST"),
        },
        Choice {
            name: "clients",
            help: "Numbers of concurrent clients, 1 to 256, separated by commas [default: \
                   1,2,4,8,16,32]",
            value: Value::Text("LIST"),
        },
    ],
    constructors: Some(Constructors {
        chosen: |chosen, effort| {
            let whole = Hsm::whole(effort).map_err(Stop::Failed)?;
            Ok(Box::new(Hsm {
                keys: chosen
                    .parsed("key", KeyKind::from_list)?
                    .unwrap_or_else(|| whole.keys.clone()),
                clients: chosen
                    .parsed("clients", clients_from_list)?
                    .unwrap_or_else(|| whole.clients.clone()),
                ..whole
            }))
        },
        usual: |effort| Ok(Box::new(Hsm::usual(effort)?)),
        alone: None,
    }),
    repeat: |tables| {
        let clients = numbers(tables, "clients");
        let usual = clients.iter().copied().eq(CLIENTS.map(|number| number as u64));
        let clients = if usual { None } else { option("clients", clients) };
        option("key", texts(tables, "key")).into_iter().chain(clients).collect()
    },
};

/// Signatures with some keys for some numbers of clients.
pub struct Hsm {
    /// The keys.
    pub keys: Vec<KeyKind>,
    /// The numbers of concurrent clients.
    pub clients: Vec<usize>,
    /// Whether to time the start of a daemon with many keys.
    pub start: bool,
    /// The running processes, from the first table on.
    running: Mutex<Option<Running>>,
}

/// The drivers, ours first. They are dropped before the processes that they depend on.
struct Running {
    drivers: Vec<Driver>,
    _processes: Processes,
}

impl Hsm {
    /// Selects every key and number of clients.
    ///
    /// # Errors
    /// If the daemon or our module is not found.
    pub fn whole(effort: Effort) -> Result<Self, Failure> {
        programs::possible(programs::HSM)?;
        programs::possible(programs::MODULE)?;
        Ok(Self {
            keys: KeyKind::ALL.into(),
            clients: CLIENTS.into(),
            start: effort == Effort::Full,
            running: Mutex::new(None),
        })
    }

    /// Selects the part for a run of all suites.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn usual(effort: Effort) -> Result<Self, Failure> {
        let whole = Self::whole(effort)?;
        Ok(match effort {
            Effort::Quick => {
                Self { keys: vec![KeyKind::Rsa2048, KeyKind::P256], clients: vec![1, 16], ..whole }
            }
            Effort::Plain => Self { clients: vec![1, 16], ..whole },
            Effort::Full => whole,
        })
    }

    fn measure(
        &self,
        kind: KeyKind,
        clients: usize,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let peers: Vec<&Found> = peers.iter().filter(|peer| peer.peer.does(Family::Hsm)).collect();
        let modules: Vec<(&Found, &Path)> = peers
            .iter()
            .filter_map(|peer| Some((*peer, peer.outcome.as_ref().ok()?.pkcs11()?)))
            .collect();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            *running = Some(self.start(&modules)?);
        }
        let running = running.as_mut().expect("the processes were started");
        let start = Instant::now();
        let measured = rounds::run(&mut running.drivers, kind, clients, pace, progress)?;
        let (ours, others) = measured.samples.split_first().expect("ours is always measured");
        let mut records =
            vec![record(kind, clients, LIBRARY, &running.drivers[0].version, ours, None)];
        for ((peer, _), samples) in modules.iter().zip(others) {
            let version = peer.outcome.as_ref().map_or_else(|_| String::new(), |l| l.version());
            records.push(record(kind, clients, peer.peer.name(), &version, samples, Some(ours)));
        }
        Ok(Table {
            suite: DESCRIPTOR.name.into(),
            group: kind.title().into(),
            name: format!("{clients} client{}", if clients == 1 { "" } else { "s" }),
            series: None,
            parameters: parameters(kind, clients),
            statistic: Statistic::Median,
            summary: Summary::Service,
            reference: REFERENCE.into(),
            records,
            control: measured.control.ratio(ours),
            rounds: pace.rounds,
            seconds: rounded(start.elapsed().as_secs_f64(), 2),
            missing: peers
                .iter()
                .filter(|peer| peer.outcome.is_err())
                .map(|peer| peer.peer.name().into())
                .collect(),
            notes: NOTES.map(Into::into).into(),
        })
    }

    /// Starts the daemon and the drivers, and generates the keys.
    fn start(&self, modules: &[(&Found, &Path)]) -> Result<Running, Failure> {
        let processes = Processes::new(0, 1)?;
        let mut drivers = vec![processes.ours()?];
        for (_, module) in modules {
            drivers.push(processes.soft_hsm(module)?);
        }
        for driver in &mut drivers {
            driver.order(&Order::Prepare { keys: self.keys.clone() })?;
        }
        Ok(Running { drivers, _processes: processes })
    }

    /// Measures the start of a daemon with many keys, and the search for one of them.
    fn measure_start(&self, progress: &mut dyn FnMut(f64)) -> Result<Table, Failure> {
        let begin = Instant::now();
        let processes = Processes::new(MANY_KEYS, STARTS)?;
        progress(0.9);
        let starts: Vec<f64> =
            processes.place.start_seconds.iter().map(|start| start * 1e9).collect();
        let order = Order::Find { label: format!("key {}", MANY_KEYS / 2), times: 1000 };
        let Answer::Found(finds) = processes.ours()?.order(&order)? else { return Err(confused()) };
        let finds: Vec<f64> = finds.into_iter().map(|time| time as f64).collect();
        let parameters = Parameters::from([("keys".into(), MANY_KEYS.into())]);
        let record = |label: &str, method, function: &str, times: &[f64]| Record {
            operation: label.into(),
            parameters: parameters.clone(),
            group: LIBRARY.into(),
            label: label.into(),
            method,
            implementation: ours(function, env!("CARGO_PKG_VERSION")),
            constant_time: true,
            operations_per_call: 1,
            time: time(times, Statistic::Median),
            ratio: UNITY,
            memory: Memory::default(),
            service: None,
            tunnel: None,
            instructions: None,
            emulated: None,
            samples: Some(kept(times, &[])),
        };
        let records = vec![
            record("start", Method::Single, "cycloid-hsm serve", &starts),
            record("find by label", Method::Other, "C_FindObjects", &finds),
        ];
        Ok(Table {
            suite: DESCRIPTOR.name.into(),
            group: format!("a daemon with {MANY_KEYS} keys"),
            name: String::new(),
            series: None,
            parameters,
            statistic: Statistic::Median,
            summary: Summary::Proportions,
            reference: records[0].label.clone(),
            records,
            control: UNITY,
            rounds: STARTS,
            seconds: rounded(begin.elapsed().as_secs_f64(), 2),
            missing: Vec::new(),
            notes: vec![NOTES[0].into()],
        })
    }
}

impl Suite for Hsm {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let pace = Pace::of(effort);
        let pairs = self.keys.iter().flat_map(|key| self.clients.iter().map(move |n| (*key, *n)));
        let mut plans: Vec<Plan<'a>> = pairs
            .map(|(key, clients)| Plan {
                title: format!("{}, {clients} clients", key.title()),
                time: pace.whole(),
                work: Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure(key, clients, pace, peers, progress)
                })),
            })
            .collect();
        if self.start {
            plans.push(Plan {
                title: "start".into(),
                time: Duration::from_secs(60),
                work: Work::Itself(Box::new(|progress: &mut dyn FnMut(f64)| {
                    self.measure_start(progress)
                })),
            });
        }
        plans
    }
}

/// The ratio of a row without comparison.
const UNITY: Ratio = Ratio { samples: 0, median: 1.0, interval: [1.0, 1.0] };

fn parameters(key: KeyKind, clients: usize) -> Parameters {
    Parameters::from([("key".into(), key.name().into()), ("clients".into(), clients.into())])
}

/// Describes our module and daemon.
fn ours(function: &str, version: &str) -> Implementation {
    Implementation {
        product: LIBRARY.into(),
        version: version.into(),
        function: function.into(),
        backend: Some(cpu::level().name().into()),
    }
}

/// Creates a row; for a peer, `reference` is our row.
fn record(
    kind: KeyKind,
    clients: usize,
    product: &str,
    version: &str,
    samples: &Samples,
    reference: Option<&Samples>,
) -> Record {
    let implementation = ours(kind.function(), version);
    Record {
        operation: "signature".into(),
        parameters: parameters(kind, clients),
        group: product.into(),
        label: if reference.is_none() { REFERENCE } else { "library" }.into(),
        method: Method::Single,
        implementation: match reference {
            None => implementation,
            Some(_) => Implementation { product: product.into(), backend: None, ..implementation },
        },
        constant_time: true,
        operations_per_call: 1,
        time: time(&samples.times, Statistic::Median),
        ratio: reference.map_or(UNITY, |reference| samples.ratio(reference)),
        memory: Memory::default(),
        service: Some(samples.service(clients)),
        tunnel: None,
        instructions: None,
        emulated: None,
        samples: Some(kept(&samples.times, &[])),
    }
}
