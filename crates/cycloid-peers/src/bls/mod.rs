//! BLS12-381 on each backend, and by the peers: the operations in the tables of ocaml-bls12-381,
//! and those built on them.

mod case;
mod cases;
mod peers;
mod runners;
#[cfg(test)]
mod tests;

use std::time::Duration;

use cycloid::bls12_381::{Backend, Cycloid};
use cycloid_blst::Blst;
use cycloid_lab::peers::Found;
use cycloid_lab::record::{Implementation, Method, Parameters, Summary};
use cycloid_lab::suite::bls::{DESCRIPTOR, Part, parts_from_list, sums_from_list};
use cycloid_lab::suite::subjects::{self, Sampling, Setting, Subject, add_note};
use cycloid_lab::suite::{Constructors, Descriptor, Effort, LIBRARY, Plan, Suite, Work};
use cycloid_lab::{Failure, versions};

use case::Case;

const WHAT: &str = "inputs are random, the same for all, and decoded in advance; members of G1 and G2 are \
    projective unless the name says affine";

const MANY: &str = "times of operations on many elements are per element, but a sum, transform or pairing of many \
    is one operation";

/// The constructors of the suite.
pub const CONSTRUCTORS: Constructors = Constructors {
    chosen: |chosen, effort| {
        let parts = chosen.defaulted("part", parts_from_list)?;
        let sums = chosen.parsed("sums", sums_from_list)?;
        Ok(Box::new(Bls { parts, sums: sums.unwrap_or_else(|| Bls::usual(effort).sums) }))
    },
    usual: |effort| Ok(Box::new(Bls::usual(effort))),
    alone: Some(|effort| Box::new(Bls::usual(effort))),
};

/// The choice of tables.
#[derive(Clone, Debug)]
pub struct Bls {
    /// The parts.
    pub parts: Vec<Part>,
    /// Binary logarithms of the numbers of points in sums of multiples.
    pub sums: Vec<u32>,
}

/// A backend with its operations: the same for every backend, in the same order.
struct Registered {
    name: &'static str,
    version: &'static str,
    cases: fn(Part, &[u32]) -> Vec<Case>,
}

const fn registered<B: Backend>(version: &'static str) -> Registered {
    Registered { name: B::NAME, version, cases: cases::of::<B> }
}

/// The backends; the first is the reference of the others.
const BACKENDS: [Registered; 2] =
    [registered::<Cycloid>(env!("CARGO_PKG_VERSION")), registered::<Blst>(versions::BLST)];

impl Bls {
    /// Selects all parts, and sums of as many points as `effort` allows.
    pub fn usual(effort: Effort) -> Self {
        let sums: &[u32] = match effort {
            Effort::Quick => &[8],
            Effort::Plain => &[8, 10, 12],
            Effort::Full => &[8, 10, 12, 14],
        };
        Self { parts: Part::ALL.to_vec(), sums: sums.to_vec() }
    }
}

impl Suite for Bls {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let time = Duration::from_secs_f64(match effort {
            Effort::Quick => 0.04,
            Effort::Plain => 0.2,
            Effort::Full => 5.0,
        });
        let of_part = |part: &Part| {
            let part = *part;
            let names = (BACKENDS[0].cases)(part, &self.sums).into_iter().map(|case| case.name);
            let plan = move |(index, name): (usize, String)| Plan {
                title: format!("{}, {name}", part.name()),
                time,
                work: Work::Subjects(Box::new(move || {
                    prepare(part, index, &self.sums, peers, time)
                })),
            };
            names.enumerate().map(plan).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }
}

/// Prepares the table of one operation.
fn prepare(
    part: Part,
    index: usize,
    sums: &[u32],
    peers: &[Found],
    time: Duration,
) -> Result<(Setting, Vec<Subject>), Failure> {
    let (mut name, mut series) = (String::new(), None);
    let subject = |backend: &Registered| {
        let case = (backend.cases)(part, sums).swap_remove(index);
        let operation = (case.prepare)();
        (name, series) = (case.name, case.series);
        Subject {
            group: LIBRARY.into(),
            label: backend.name.into(),
            method: Method::Single,
            implementation: Implementation {
                product: LIBRARY.into(),
                version: backend.version.into(),
                function: case.function.into(),
                backend: Some(backend.name.into()),
            },
            constant_time: case.constant_time,
            operations_per_call: case.operations_per_call,
            scratch: Some(case.scratch),
            every_round: true,
            operation,
        }
    };
    let mut subjects: Vec<Subject> = BACKENDS.iter().map(subject).collect();
    let mut notes = vec![WHAT.into(), MANY.into()];
    for found in peers {
        let Ok(library) = &found.outcome else { continue };
        let cases = peers::cases(found.peer, part, sums);
        // A peer that lacks the operation has no row.
        let Some(case) = cases.into_iter().find(|case| case.name == name) else { continue };
        let row = Subject::of_peer(
            found.peer,
            library.version(),
            &found.peer.name().to_lowercase(),
            case.function,
            (case.prepare)(),
        );
        let constant_time = case.constant_time;
        subjects.push(Subject { constant_time, ..row.of_several(case.operations_per_call) });
        add_note(&mut notes, case.note);
    }
    let mut with_runner = peers.iter().filter(|found| has_runner(found)).peekable();
    let asked = with_runner.peek().and_then(|_| runners::ask(part, &name, sums));
    if let Some(asked) = asked {
        let operations = subjects[0].operations_per_call;
        for found in with_runner {
            subjects.extend(rows(found, &asked, operations, &mut notes)?);
        }
    }
    let setting = Setting {
        suite: DESCRIPTOR.name,
        operation: part.name(),
        group: part.name().into(),
        parameters: Parameters::from([("operation".into(), name.clone().into())]),
        name,
        series,
        summary: Summary::Backends,
        reference: 0,
        time,
        sampling: Sampling::Paired,
        missing: missing(peers),
        notes,
    };
    Ok((setting, subjects))
}

/// Returns whether the peer is a program of its own.
fn has_runner(found: &Found) -> bool {
    found.outcome.as_ref().is_ok_and(|library| library.runner().is_some())
}

/// Returns the rows of a peer with a runner.
fn rows(
    found: &Found,
    asked: &runners::Asked,
    operations: u32,
    notes: &mut Vec<String>,
) -> Result<Vec<Subject>, Failure> {
    let label = found.peer.name().to_lowercase();
    let rows = subjects::of_runner(found, &label, &asked.job, || asked.check(), notes)?;
    Ok(rows.into_iter().map(|row| row.of_several(operations)).collect())
}

/// Returns the names of missing peers.
fn missing(peers: &[Found]) -> Vec<String> {
    let absent = peers.iter().filter(|found| found.outcome.is_err());
    absent.map(|found| found.peer.name().into()).collect()
}
