//! OpenSSL's programs, with Cycloid's provider and with OpenSSL's default one: `openssl speed`, and
//! full TLS handshakes through HAProxy. Both programs are the system's, unchanged; a configuration
//! file selects the provider, as in `docs/openssl.md`.

mod clients;
mod programs;
mod speed;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cycloid::cpu;
use cycloid_command::Stop;
use cycloid_lab::Failure;
use cycloid_lab::peers::{Found, Peer};
use cycloid_lab::record::{
    Implementation, Memory, Method, Parameters, Ratio, Record, Service, Statistic, Summary, Table,
};
use cycloid_lab::suite::openssl::{DESCRIPTOR, clients_from_list};
use cycloid_lab::suite::subjects::{kept, time};
use cycloid_lab::suite::{Constructors, Descriptor, Effort, LIBRARY, Plan, Suite, Work};

use crate::tls::kind::Certificate;
use crate::turns::{Turns, compared};
use clients::Pace;
use programs::{Place, Provider};
use speed::Row;

/// The constructors of the suite.
pub const CONSTRUCTORS: Constructors = Constructors {
    chosen: |chosen, effort| {
        let clients = chosen.parsed("clients", clients_from_list)?;
        Ok(Box::new(OpenSsl::new(clients, effort).map_err(Stop::Failed)?))
    },
    usual: |effort| Ok(Box::new(OpenSsl::new(None, effort)?)),
    alone: None,
};

/// The label of the row that ratios refer to.
const REFERENCE: &str = "provider";

/// Operations of `openssl speed`, and handshakes for some numbers of clients.
pub struct OpenSsl {
    clients: Vec<usize>,
    /// The reason for omitting HAProxy, if it is omitted.
    left_out: Option<Failure>,
    /// The running programs, from the first table on.
    place: Mutex<Option<Place>>,
}

impl OpenSsl {
    /// Selects these numbers of clients, or the usual ones.
    ///
    /// # Errors
    /// If OpenSSL's program or the provider is not found.
    pub fn new(clients: Option<Vec<usize>>, effort: Effort) -> Result<Self, Failure> {
        programs::possible()?;
        let usual = if effort == Effort::Full { vec![1, 8, 64] } else { vec![64] };
        Ok(Self {
            clients: clients.unwrap_or(usual),
            left_out: programs::proxy().err(),
            place: Mutex::default(),
        })
    }

    /// Measures with the running programs, which are started if necessary.
    fn with_place(
        &self,
        measure: impl FnOnce(&Place) -> Result<Table, Failure>,
    ) -> Result<Table, Failure> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match &*place {
            Some(place) => measure(place),
            None => measure(place.insert(Place::new(self.left_out.is_none())?)),
        }
    }
}

impl Suite for OpenSsl {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn left_out(&self) -> Option<(&'static str, &Failure)> {
        self.left_out.as_ref().map(|failure| ("HAProxy", failure))
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let (rows, rounds) = match effort {
            Effort::Quick => (1, 1),
            Effort::Plain => (3, 2),
            Effort::Full => (Row::ALL.len(), 7),
        };
        let mut plans: Vec<Plan<'a>> = Vec::new();
        plans.extend(Row::ALL.into_iter().take(rows).map(|row| Plan {
            title: row.name(),
            // Signatures and verifications, each for a second.
            time: Duration::from_secs(6) * rounds as u32,
            work: Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                let compared = Compared::with(peers);
                self.with_place(|place| row.measure(place, &compared, rounds, progress))
            })),
        }));
        if self.left_out.is_some() {
            return plans;
        }
        let pace = Pace::of(effort);
        let certificates = match effort {
            Effort::Quick => &[Certificate::Rsa2048][..],
            _ => &[Certificate::Rsa2048, Certificate::P256],
        };
        for certificate in certificates.iter().copied() {
            plans.extend(self.clients.iter().map(|number| Plan {
                title: format!("handshakes, {}, {number} clients", certificate.name()),
                time: pace.whole(),
                work: Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    let compared = Compared::with(peers);
                    self.with_place(|place| {
                        clients::measure(certificate, *number, place, &compared, pace, progress)
                    })
                })),
            }));
        }
        plans
    }
}

/// The providers of a table, ours first, and their versions.
struct Compared {
    providers: Vec<(Provider, String)>,
    missing: Vec<String>,
}

/// The description of a table.
struct Subject {
    operation: &'static str,
    group: String,
    name: String,
    function: String,
    parameters: Parameters,
    summary: Summary,
    notes: &'static [&'static str],
}

impl Compared {
    /// Compares with OpenSSL's default provider, if it is among the peers.
    fn with(peers: &[Found]) -> Self {
        let mut compared = Self {
            providers: vec![(Provider::Cycloid, env!("CARGO_PKG_VERSION").into())],
            missing: Vec::new(),
        };
        match peers.iter().find(|found| found.peer == Peer::OpenSsl) {
            Some(Found { outcome: Ok(library), .. }) => {
                compared.providers.push((Provider::Default, library.version()));
            }
            Some(Found { outcome: Err(_), .. }) => {
                compared.missing.push(Peer::OpenSsl.name().into());
            }
            None => {}
        }
        compared
    }

    /// Makes the table of these nanoseconds per operation.
    fn table(
        &self,
        subject: Subject,
        turns: &Turns<f64>,
        services: Vec<Option<Service>>,
        seconds: f64,
    ) -> Table {
        let ours = &turns.of[0];
        let rows = self.providers.iter().zip(&turns.of).zip(services);
        let records = rows.map(|(((provider, version), times), service)| Record {
            operation: subject.operation.into(),
            parameters: subject.parameters.clone(),
            group: provider.product().into(),
            label: provider.label().into(),
            method: Method::Single,
            implementation: Implementation {
                product: provider.product().into(),
                version: version.clone(),
                function: subject.function.clone(),
                backend: (*provider == Provider::Cycloid).then(|| cpu::level().name().into()),
            },
            constant_time: true,
            operations_per_call: 1,
            time: time(times, Statistic::Median),
            ratio: match provider {
                Provider::Cycloid => Ratio { samples: 0, median: 1.0, interval: [1.0, 1.0] },
                Provider::Default => compared(times, ours),
            },
            memory: Memory::default(),
            service,
            tunnel: None,
            instructions: None,
            emulated: None,
            samples: Some(kept(times, &[])),
        });
        Table {
            suite: DESCRIPTOR.name.into(),
            records: records.collect(),
            group: subject.group,
            name: subject.name,
            series: None,
            parameters: subject.parameters,
            statistic: Statistic::Median,
            summary: subject.summary,
            reference: REFERENCE.into(),
            control: compared(&turns.control, ours),
            rounds: turns.control.len(),
            seconds,
            missing: self.missing.clone(),
            notes: subject.notes.iter().map(|note| (*note).into()).collect(),
        }
    }
}

impl Provider {
    const fn product(self) -> &'static str {
        match self {
            Self::Cycloid => LIBRARY,
            Self::Default => Peer::OpenSsl.name(),
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Cycloid => REFERENCE,
            Self::Default => "default provider",
        }
    }
}
