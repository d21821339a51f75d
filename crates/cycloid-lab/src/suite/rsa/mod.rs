//! RSA operations as a user calls them: signatures, verification, decryption and keys, compared
//! with the peers.

mod options;
mod ours;
mod result_check;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cycloid::scheme::rsa::{
    context_limbs, generate_scratch_limbs, verify_batch_scratch_limbs, verify_scratch_limbs,
};

use self::ours::Budget;
use super::backends;
use super::descriptor::{Choice, Constructors, Descriptor, Value};
use super::prepared::{FirstUse, Prepared};
use super::repeat::{numbers, option};
use super::subjects::{self, Sampling, Setting, Subject};
use super::{Effort, Plan, Suite, Work};
use crate::Failure;
use crate::measure::Operation;
use crate::peers::external::job;
use crate::peers::rsa::{Candidate, Input, Key, Task};
use crate::peers::{Family, Found, Library};
use crate::record::{Parameters, Summary};

#[cfg(test)]
pub(crate) use self::ours::private_key;

/// The label of the row that ratios refer to.
const REFERENCE: &str = "default";

/// The label of the row of eight operations in one call.
const EIGHT: &str = "×8";

const PRIVATE: &str = "the private operations of Cycloid, OpenSSL and AWS-LC blind the input and check the \
    result; Cycloid renews the blinding of a context after 32 uses";

const MEMORY: &str = "scratch of a private operation is all memory of a context, including the \
    blinding; the rows '16 KB', '6 KB' and 'least' are limited to that much, and 'owned key' keeps \
    contexts of full size on the heap";

const GENERATE: &str = "each library generates its own keys, and the times vary with the number of \
    candidates tried: the interval shows the uncertainty of the mean";

const FIRST: &str = "'first use' is the first signature with a loaded and checked key; it \
    excludes whatever a library computes while loading a key";

const BATCH: &str = "a batch processes eight jobs in parallel, with eight different keys, and the remainder by the \
    fastest method. Times are per job";

/// The subject of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One task, with a prepared key that has been used before.
    Later(Task),
    /// Signing with a key that has not been used before, and with one that has.
    FirstUse,
    /// Signing in batches of several lengths.
    Batch,
}

impl Kind {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 8] = [
        Self::Later(Task::Sign),
        Self::Later(Task::SignPss),
        Self::Later(Task::Verify),
        Self::Later(Task::DecryptOaep),
        Self::Later(Task::DecryptPkcs1v15),
        Self::FirstUse,
        Self::Batch,
        Self::Later(Task::Generate),
    ];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Later(Task::Sign) => "sign",
            Self::Later(Task::SignPss) => "pss",
            Self::Later(Task::Verify) => "verify",
            Self::Later(Task::DecryptOaep) => "oaep",
            Self::Later(Task::DecryptPkcs1v15) => "decrypt",
            Self::Later(Task::Generate) => "generate",
            Self::FirstUse => "first-use",
            Self::Batch => "batch",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns its name in tables.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Later(Task::Sign) => "sign, PKCS #1 v1.5, SHA-256",
            Self::Later(Task::SignPss) => "sign, PSS, SHA-256, 32 bytes of salt",
            Self::Later(Task::Verify) => "verify, PKCS #1 v1.5, SHA-256",
            Self::Later(Task::DecryptOaep) => "decrypt, OAEP, SHA-256",
            Self::Later(Task::DecryptPkcs1v15) => "decrypt, PKCS #1 v1.5",
            Self::Later(Task::Generate) => "generate a key",
            Self::FirstUse => "sign, PKCS #1 v1.5, SHA-256, first use of a key and later use",
            Self::Batch => "sign, PKCS #1 v1.5, SHA-256, in batches of several jobs",
        }
    }

    const fn task(self) -> Task {
        match self {
            Self::Later(task) => task,
            Self::FirstUse | Self::Batch => Task::Sign,
        }
    }

    /// Returns the time of a table for keys of 2048 bits.
    fn seconds(self, effort: Effort) -> f64 {
        let part = match self {
            Self::Later(Task::Sign) => 1.0,
            Self::Later(Task::Generate) => 1.5,
            _ => 0.4,
        };
        part * match effort {
            Effort::Quick => 0.6,
            Effort::Plain => 1.6,
            Effort::Full => 40.0,
        }
    }

    fn sampling(self, effort: Effort) -> Sampling {
        match (self, effort) {
            (Self::Later(Task::Generate), Effort::Full) => Sampling::Averaged { fewest: 50 },
            (Self::Later(Task::Generate), _) => Sampling::Averaged { fewest: 3 },
            _ => Sampling::Paired,
        }
    }
}

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "rsa",
    title: "RSA",
    about: "RSA: sign, verify, decrypt and generate keys, with much memory and with little",
    examples: "\
Examples:
  cycloid bench rsa --bits 2048                     every operation with keys of one length
  cycloid bench rsa --operation sign,verify         these two
  cycloid bench rsa --operation generate --full     the mean of 50 keys or more per peer",
    family: Family::Rsa,
    options: &[
        Choice {
            name: "bits",
            help: "Lengths of keys in bits, 2048 to 8192, separated by commas [default: \
                   2048,3072,4096]",
            value: Value::Text("LIST"),
        },
        Choice {
            name: "operation",
            help: "Operations: sign, pss, verify, oaep, decrypt, first-use, batch, generate, \
                   separated by commas; all [default: all, batch with --full only]. Keys longer \
                   than the first length are generated only with --full, or if generate is the \
                   only operation",
            value: Value::Text("LIST"),
        },
    ],
    constructors: Some(Constructors {
        chosen: |chosen, effort| {
            let usual = Rsa::usual(effort);
            let bits = chosen.parsed("bits", Rsa::bits_from_list)?.unwrap_or(usual.bits);
            let kinds = chosen.parsed("operation", Rsa::kinds_from_list)?.unwrap_or(usual.kinds);
            Ok(Box::new(Rsa { bits, kinds }))
        },
        usual: |effort| Ok(Box::new(Rsa::usual(effort))),
        alone: Some(|effort| Box::new(Rsa::usual(effort))),
    }),
    repeat: |tables| {
        let is_done = |kind: &Kind| tables.iter().any(|table| table.name == kind.title());
        let kinds: Vec<&str> = Kind::ALL.into_iter().filter(is_done).map(Kind::name).collect();
        let kinds = if kinds.len() < 3 { option("operation", kinds) } else { None };
        option("bits", numbers(tables, "key_bits")).into_iter().chain(kinds).collect()
    },
};

/// The choice of tables.
#[derive(Clone, Debug)]
pub struct Rsa {
    /// Lengths of keys in bits: multiples of 128.
    pub bits: Vec<usize>,
    /// The subjects.
    pub kinds: Vec<Kind>,
}

impl Rsa {
    /// Selects the usual lengths, as many as `effort` allows.
    pub fn usual(effort: Effort) -> Self {
        let bits: &[usize] = match effort {
            Effort::Quick => &[2048],
            Effort::Plain | Effort::Full => &[2048, 3072, 4096],
        };
        let usual = |kind: &Kind| match kind {
            // The fast batch lengths need to be determined only once per machine.
            Kind::Batch => effort == Effort::Full,
            // The time of a few keys is dominated by chance.
            Kind::Later(Task::Generate) => effort != Effort::Quick,
            _ => true,
        };
        Self { bits: bits.to_vec(), kinds: Kind::ALL.into_iter().filter(usual).collect() }
    }
}

impl Suite for Rsa {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let keys: Vec<Keys> = self.bits.iter().map(|bits| Keys::new(*bits)).collect();
        let plan = |kind: Kind, keys: &Keys| {
            let table = TablePlan { kind, effort, keys: keys.clone(), peers };
            Plan {
                title: format!("RSA-{}, {}", keys.bits, kind.name()),
                time: table.time(),
                work: Work::Subjects(Box::new(move || table.prepare())),
            }
        };
        // Long keys take long to generate, above all for peers, so they are measured only on
        // request.
        let lengths = |kind: &Kind| match kind {
            Kind::Later(Task::Generate) if effort != Effort::Full && self.kinds.len() > 1 => 1,
            _ => keys.len(),
        };
        let of_kind = |kind: &Kind| {
            let kind = *kind;
            keys.iter().take(lengths(&kind)).map(|keys| plan(kind, keys)).collect::<Vec<_>>()
        };
        self.kinds.iter().flat_map(of_kind).collect()
    }
}

/// The keys of one length, generated on first use.
#[derive(Clone)]
struct Keys {
    bits: usize,
    eight: Rc<OnceCell<[Arc<Key>; 8]>>,
}

impl Keys {
    fn new(bits: usize) -> Self {
        Self { bits, eight: Rc::default() }
    }

    fn eight(&self) -> &[Arc<Key>; 8] {
        self.eight.get_or_init(|| Key::eight(self.bits).map(Arc::new))
    }
}

/// A planned table.
struct TablePlan<'a> {
    kind: Kind,
    effort: Effort,
    keys: Keys,
    peers: &'a [Found],
}

impl TablePlan<'_> {
    /// Returns the time for the rounds: longer operations need more time for as many rounds.
    fn time(&self) -> Duration {
        let size = self.keys.bits as f64 / 2048.0;
        Duration::from_secs_f64(self.kind.seconds(self.effort) * size)
    }

    fn prepare(&self) -> Result<(Setting, Vec<Subject>), Failure> {
        let inputs = self.keys.eight().each_ref().map(|key| Input::new(self.kind.task(), key));
        let mut subjects = self.ours(&inputs);
        let mut notes: Vec<String> = match self.kind {
            Kind::Later(Task::Verify) => vec![],
            Kind::Later(Task::Generate) => vec![GENERATE.into()],
            Kind::Later(_) => vec![PRIVATE.into(), MEMORY.into()],
            Kind::FirstUse => vec![FIRST.into()],
            Kind::Batch => vec![BATCH.into()],
        };
        let mut missing = Vec::new();
        let takes_part = |found: &&Found| self.kind != Kind::Batch && found.peer.does(Family::Rsa);
        for found in self.peers.iter().filter(takes_part) {
            match &found.outcome {
                Ok(library) => {
                    subjects.extend(self.of_peer(found, &**library, &inputs[0], &mut notes)?);
                    subjects.extend(self.of_runner(found, &inputs, &mut notes)?);
                }
                Err(_) => missing.push(found.peer.name().into()),
            }
        }
        let setting = Setting {
            suite: DESCRIPTOR.name,
            operation: self.kind.title(),
            group: format!("RSA-{}", self.keys.bits),
            name: self.kind.title().into(),
            series: None,
            parameters: Parameters::from([("key_bits".into(), self.keys.bits.into())]),
            summary: Summary::Proportions,
            reference: 0,
            time: self.time(),
            sampling: self.kind.sampling(self.effort),
            missing,
            notes,
        };
        Ok((setting, subjects))
    }

    /// Returns our rows; the first is the reference.
    fn ours(&self, inputs: &[Input; 8]) -> Vec<Subject> {
        let input = &inputs[0];
        let bits = self.keys.bits;
        let task = self.kind.task();
        let function = ours::function(task);
        let room = 2 * input.key.length();
        let one = |call| -> Box<dyn Operation> {
            Box::new(Prepared::ours(&input.data, room, result_check::of(task, input), call))
        };
        let private = |label, limbs: usize, call| {
            let backend = backends::one(bits / 2 / 64);
            Subject::ours(label, function, backend, limbs * size_of::<u64>(), one(call))
        };
        let in_context = |label, budget: Budget| {
            let limbs = budget.limbs(bits)?;
            Some(private(label, limbs, ours::private(task, input, limbs)))
        };
        let with_less = |label, budget| in_context(label, budget).map(Subject::special);
        let in_batch = |label, jobs: usize, call| {
            let scratch = ours::batch_scratch_limbs(bits, jobs) * size_of::<u64>();
            let check = result_check::of_batch(task, inputs);
            let operation = Prepared::ours(&input.data, jobs * bits / 8, check, call);
            Subject::ours(label, "Batch::run", backends::eight(), scratch, Box::new(operation))
                .of_batch(jobs as u32)
        };
        match self.kind {
            Kind::Later(Task::Verify) => {
                let scratch = verify_scratch_limbs(bits) * size_of::<u64>();
                let operation = one(ours::verifier(input));
                let eight = one(ours::eight_verifiers(inputs));
                let scratch_eight = verify_batch_scratch_limbs(bits) * size_of::<u64>();
                vec![
                    Subject::ours(REFERENCE, function, backends::words(), scratch, operation),
                    Subject::ours(EIGHT, "verify_batch", backends::eight(), scratch_eight, eight)
                        .of_batch(8),
                ]
            }
            Kind::Later(Task::Generate) => {
                let scratch = generate_scratch_limbs(bits) * size_of::<u64>();
                let operation = one(ours::generator(input));
                vec![Subject::ours(REFERENCE, function, backends::eight(), scratch, operation)]
            }
            Kind::Later(_) => {
                let rows = [
                    in_context(REFERENCE, Budget::Full),
                    with_less("16 KB", Budget::Bytes(16 << 10)),
                    with_less("6 KB", Budget::Bytes(6 << 10)),
                    with_less("least", Budget::Least),
                ];
                let eight = in_batch(EIGHT, 8, ours::batch::<8>(task, inputs));
                let owned = ours::owned(task, input).map(|(function, call)| {
                    let backend = backends::one(bits / 2 / 64);
                    Subject::ours("owned key", function, backend, 0, one(call)).special()
                });
                rows.into_iter().flatten().chain(owned).chain([eight]).collect()
            }
            Kind::FirstUse => {
                let first = ours::private_first(task, input);
                let first = private("first use", context_limbs(bits), first).special();
                in_context(REFERENCE, Budget::Full).into_iter().chain([first]).collect()
            }
            Kind::Batch => {
                let batches = [
                    in_batch("1 job", 1, ours::batch::<1>(task, inputs)),
                    in_batch("2 jobs", 2, ours::batch::<2>(task, inputs)),
                    in_batch("3 jobs", 3, ours::batch::<3>(task, inputs)),
                    in_batch("4 jobs", 4, ours::batch::<4>(task, inputs)),
                    in_batch("5 jobs", 5, ours::batch::<5>(task, inputs)),
                    in_batch("6 jobs", 6, ours::batch::<6>(task, inputs)),
                    in_batch("7 jobs", 7, ours::batch::<7>(task, inputs)),
                    in_batch("8 jobs", 8, ours::batch::<8>(task, inputs)),
                    in_batch("16 jobs", 16, ours::batch::<16>(task, inputs)),
                    in_batch("32 jobs", 32, ours::batch::<32>(task, inputs)),
                    in_batch("64 jobs", 64, ours::batch::<64>(task, inputs)),
                ];
                in_context(REFERENCE, Budget::Full).into_iter().chain(batches).collect()
            }
        }
    }

    fn of_runner(
        &self,
        found: &Found,
        inputs: &[Input; 8],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Subject>, Failure> {
        // Its first use cannot be separated from later ones.
        let Kind::Later(task) = self.kind else { return Ok(Vec::new()) };
        let (job, check) = (job::rsa(task, &inputs[0]), || result_check::of(task, &inputs[0]));
        let mut rows = subjects::of_runner(found, task.label(), &job, check, notes)?;
        if task == Task::Sign {
            let job = job::together(inputs.iter().map(|input| job::rsa(task, input)));
            let check = || result_check::of_batch(task, inputs);
            let batch = subjects::of_runner(found, EIGHT, &job, check, notes)?;
            rows.extend(batch.into_iter().map(|row| row.of_batch(8)));
        }
        Ok(rows)
    }

    fn of_peer(
        &self,
        found: &Found,
        library: &dyn Library,
        input: &Input,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Subject>, Failure> {
        let task = self.kind.task();
        let mut rows = Vec::new();
        for candidate in library.rsa(task, self.keys.bits) {
            subjects::add_note(notes, candidate.note);
            let Candidate { label, function, constant_time, prepare, .. } = candidate;
            let subject = |label, operation: Box<dyn Operation>| Subject {
                constant_time,
                ..Subject::of_peer(found.peer, library.version(), label, function, operation)
            };
            let name = |failure: Failure| {
                Failure::new(format!("{}: {}", found.peer.name(), failure.message), failure.hint)
            };
            let (data, room) = (&input.data, 2 * input.key.length());
            let check = || result_check::of(task, input);
            let warm = task != Task::Generate;
            let later = Prepared::of_peer(data, room, check(), warm, || prepare(input));
            rows.push(subject(label, Box::new(later.map_err(name)?)));
            if self.kind == Kind::FirstUse {
                let input = input.clone();
                let first = FirstUse::of_peer(data, room, check(), move || prepare(&input));
                let first = first.map_err(name)?;
                rows.push(subject("first use", Box::new(first)));
                // Another implementation with the same key adds nothing about the first use.
                break;
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
