//! Elliptic-curve operations as a user calls them: signatures, verification, shared secrets and
//! keys, compared with the peers.

mod options;
mod ours;
mod result_check;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::backends;
use super::descriptor::{Choice, Constructors, Descriptor, Value};
use super::prepared::{FirstUse, Prepared};
use super::repeat::{batches, option, texts};
use super::subjects::{self, Sampling, Setting, Subject};
use super::{Effort, Plan, Suite, Work};
use crate::Failure;
use crate::measure::Operation;
use crate::peers::ec::{Candidate, Curve, Encoding, Input, Task};
use crate::peers::external::job;
use crate::peers::{Family, Found};
use crate::record::{Parameters, Summary};
use result_check::room;

/// The label of the row that ratios refer to.
const REFERENCE: &str = "default";

/// The label of verifications with public keys prepared for many uses.
const PREPARED: &str = "prepared";

const MULTIPLES: &str = "'prepared' is a public key with precomputed multiples of its point, for many \
    verifications; their memory counts as scratch. No peer has an equivalent";

const PARSING: &str = "key agreement takes the other party's public key as bytes; its time includes parsing \
    and validation. Private keys and verification keys are prepared in advance, unless another note \
    says otherwise";

const NONCES: &str = "Cycloid and RustCrypto derive ECDSA nonces from key and digest (RFC 6979); OpenSSL, \
    AWS-LC, ring and graviola use their own randomness; the time of the operation includes both. \
    OpenSSL and AWS-LC write and read signatures as DER";

const KEYS: &str = "key generation includes the public key and its affine coordinates, which OpenSSL \
    and AWS-LC compute when they write it; Cycloid, dalek and RustCrypto draw keys from ChaCha20, the \
    others from their own generators";

const BATCH: &str = "the operations of a batch use eight different keys in turn; times are \
    per operation";

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "ec",
    title: "Elliptic curves",
    about: "Elliptic curves: sign, verify, agree, generate keys, one and eight at once",
    examples: "\
Examples:
  cycloid bench ec                                     every curve
  cycloid bench ec --curve p-256,ed25519               these two
  cycloid bench ec --operation verify --batch 8,64     one operation, batches of 8 and of 64",
    family: Family::Ec,
    options: &[
        Choice {
            name: "curve",
            help: "Curves: p-224, p-256, p-384, p-521, ed25519, x25519, separated by commas; all",
            value: Value::Default("LIST", "all"),
        },
        Choice {
            name: "operation",
            help: "Operations: sign, verify, agree, generate, separated by commas; all",
            value: Value::Default("LIST", "all"),
        },
        Choice {
            name: "batch",
            help: "Number of operations in a batch, 1 to 64, separated by commas",
            value: Value::Default("LIST", "8"),
        },
    ],
    constructors: Some(Constructors {
        chosen: |chosen, _| {
            Ok(Box::new(Ec {
                curves: chosen.defaulted("curve", Ec::curves_from_list)?,
                tasks: chosen.defaulted("operation", Ec::tasks_from_list)?,
                batches: chosen.defaulted("batch", Ec::batches_from_list)?,
            }))
        },
        usual: |_| Ok(Box::new(Ec::usual())),
        alone: Some(|_| Box::new(Ec::usual())),
    }),
    repeat: |tables| {
        let batches = batches(tables);
        let batches = if batches == BTreeSet::from([8]) { None } else { option("batch", batches) };
        option("curve", texts(tables, "curve")).into_iter().chain(batches).collect()
    },
};

/// The choice of tables.
#[derive(Clone, Debug)]
pub struct Ec {
    /// The curves.
    pub curves: Vec<Curve>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Batch sizes, one row for each.
    pub batches: Vec<usize>,
}

impl Ec {
    /// Selects all curves and tasks, and batches of eight.
    pub fn usual() -> Self {
        Self { curves: Curve::ALL.to_vec(), tasks: Task::ALL.to_vec(), batches: vec![8] }
    }
}

impl Suite for Ec {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let plan = |curve: Curve, task: Task| {
            let table = TablePlan { curve, task, batches: &self.batches, effort, peers };
            Plan {
                title: format!("{}, {}", curve.name(), task.name()),
                time: table.time(),
                work: Work::Subjects(Box::new(move || table.prepare())),
            }
        };
        let of_curve = |curve: &Curve| {
            let curve = *curve;
            let tasks = self.tasks.iter().filter(move |task| curve.does(**task));
            tasks.map(move |task| plan(curve, *task)).collect::<Vec<_>>()
        };
        self.curves.iter().flat_map(of_curve).collect()
    }
}

/// A planned table.
struct TablePlan<'a> {
    curve: Curve,
    task: Task,
    batches: &'a [usize],
    effort: Effort,
    peers: &'a [Found],
}

impl TablePlan<'_> {
    fn time(&self) -> Duration {
        let unit = match self.effort {
            Effort::Quick => 0.16,
            Effort::Plain => 0.9,
            Effort::Full => 16.0,
        };
        Duration::from_secs_f64(unit)
    }

    fn prepare(&self) -> Result<(Setting, Vec<Subject>), Failure> {
        let inputs: [Arc<Input>; 8] =
            std::array::from_fn(|i| Arc::new(ours::input(self.curve, i as u64)));
        let mut subjects = self.ours(&inputs);
        let mut notes: Vec<String> = vec![match self.task {
            Task::Sign | Task::Verify => NONCES.into(),
            Task::Agree => PARSING.into(),
            Task::Generate => KEYS.into(),
        }];
        notes.push(BATCH.into());
        if self.task == Task::Verify && self.curve != Curve::Ed25519 {
            notes.push(MULTIPLES.into());
        }
        let mut missing = Vec::new();
        for found in self.peers.iter().filter(|found| found.peer.does(Family::Ec)) {
            match &found.outcome {
                Ok(library) => {
                    for candidate in library.ec(self.task, self.curve) {
                        subjects::add_note(&mut notes, candidate.note);
                        let version = library.version();
                        subjects.push(self.of_peer(found, version, candidate, &inputs[0])?);
                    }
                    subjects.extend(self.of_runner(found, &inputs, &mut notes)?);
                }
                Err(_) => missing.push(found.peer.name().into()),
            }
        }
        let setting = Setting {
            suite: DESCRIPTOR.name,
            operation: self.task.name(),
            group: self.curve.name().into(),
            name: self.task.name().into(),
            series: None,
            parameters: Parameters::from([("curve".into(), self.curve.name().into())]),
            summary: Summary::Rates,
            reference: 0,
            time: self.time(),
            sampling: Sampling::Paired,
            missing,
            notes,
        };
        Ok((setting, subjects))
    }

    /// Returns our rows; the first is the reference.
    fn ours(&self, inputs: &[Arc<Input>; 8]) -> Vec<Subject> {
        let (task, input) = (self.task, &inputs[0]);
        let data = data(task, input, Encoding::Fixed);
        let check = result_check::of(task, input, Encoding::Fixed);
        let call = Prepared::ours(data, room(self.curve), check, ours::one(task, input));
        let function = ours::function(task, self.curve);
        let one = Subject::ours(REFERENCE, function, backends::words(), 0, Box::new(call));
        let batch = |count: &usize| {
            let call = ours::batch(task, inputs, *count)?;
            let function = ours::batch_function(task, self.curve);
            let check = result_check::of_batch(task, inputs);
            let operation = Prepared::ours(data, count * room(self.curve), check, call);
            let label = format!("×{count}");
            let subject =
                Subject::ours(&label, function, backends::eight(), 0, Box::new(operation));
            Some(subject.of_batch(*count as u32))
        };
        let mut subjects = vec![one];
        subjects.extend(self.batches.iter().filter_map(batch));
        if task == Task::Verify {
            let counts = std::iter::once(None).chain(self.batches.iter().copied().map(Some));
            subjects.extend(counts.filter_map(|count| self.of_prepared(inputs, count)));
        }
        subjects
    }

    /// Returns the row of verification with prepared public keys, single or in batches.
    fn of_prepared(&self, inputs: &[Arc<Input>; 8], count: Option<usize>) -> Option<Subject> {
        let (call, memory) = ours::prepared(inputs, count)?;
        let data = data(self.task, &inputs[0], Encoding::Fixed);
        let check = result_check::of(self.task, &inputs[0], Encoding::Fixed);
        let operation = Box::new(Prepared::ours(data, room(self.curve), check, call));
        let subject = match count {
            None => {
                let (function, backend) =
                    ("PreparedPublicKey::verify_prehashed", backends::words());
                Subject::ours(PREPARED, function, backend, memory, operation)
            }
            Some(count) => {
                let (label, function) = (format!("{PREPARED} ×{count}"), "Job::verify_prepared");
                let (backend, memory) = (backends::eight(), count.min(8) * memory);
                Subject::ours(&label, function, backend, memory, operation).of_several(count as u32)
            }
        };
        Some(subject.special())
    }

    fn of_runner(
        &self,
        found: &Found,
        inputs: &[Arc<Input>; 8],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Subject>, Failure> {
        let (task, input) = (self.task, &inputs[0]);
        let job = job::ec(task, input, data(task, input, Encoding::Fixed));
        let check = || result_check::of(task, input, Encoding::Fixed);
        let mut rows = subjects::of_runner(found, task.name(), &job, check, notes)?;
        for count in self.batches {
            let job =
                job::ec_batch(task, inputs, *count, |input| data(task, input, Encoding::Fixed));
            let check = || result_check::of_batch(task, inputs);
            let batch = subjects::of_runner(found, &format!("×{count}"), &job, check, notes)?;
            rows.extend(batch.into_iter().map(|row| row.of_batch(*count as u32)));
        }
        Ok(rows)
    }

    fn of_peer(
        &self,
        found: &Found,
        version: String,
        candidate: Candidate,
        input: &Arc<Input>,
    ) -> Result<Subject, Failure> {
        let Candidate { label, function, constant_time, encoding, once, prepare, .. } = candidate;
        let data = data(self.task, input, encoding);
        let (room, check) = (room(self.curve), result_check::of(self.task, input, encoding));
        let name = |failure: Failure| {
            Failure::new(format!("{}: {}", found.peer.name(), failure.message), failure.hint)
        };
        let operation: Box<dyn Operation> = if once {
            let input = Arc::clone(input);
            let operation = FirstUse::of_peer(data, room, check, move || prepare(&input));
            Box::new(operation.map_err(name)?)
        } else {
            let operation = Prepared::of_peer(data, room, check, true, || prepare(input));
            Box::new(operation.map_err(name)?)
        };
        let subject = Subject::of_peer(found.peer, version, label, function, operation);
        Ok(Subject { constant_time, ..subject })
    }
}

/// Returns the input of an operation.
fn data(task: Task, input: &Input, encoding: Encoding) -> &[u8] {
    match task {
        Task::Generate => &[],
        Task::Sign => &input.digest,
        Task::Verify => &input.signature[encoding as usize],
        Task::Agree => &input.other,
    }
}
