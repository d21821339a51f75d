//! Diffie-Hellman in the groups of RFC 7919: shared secrets and keys, compared with the peers.

mod ours;

use std::time::Duration;

use cycloid::scheme::dh::{Comb, Group, Validation, minimum_scratch_limbs};

use super::backends;
use super::descriptor::{Choice, Constructors, Descriptor, Value};
use super::prepared::{Prepared, ResultCheck};
use super::repeat::{numbers, option};
use super::subjects::{self, Sampling, Setting, Subject};
use super::{Effort, Plan, Suite, Work};
use crate::Failure;
use crate::measure::Operation;
use crate::peers::bytes::from_bytes;
use crate::peers::dh::{Candidate, Input, Task};
use crate::peers::{Family, Found};
use crate::record::{Parameters, Summary};

/// The label of the row that ratios refer to.
const REFERENCE: &str = "default";

const VALIDATION: &str = "Cycloid checks with a Legendre symbol that a public value is in the subgroup; \
    'range check' only checks that it is between 2 and p − 2, which is what the standard requires \
    in these groups";

const TABLE: &str = "tables are precomputed, and their memory counts as scratch";

const EXPONENT: &str = "private exponents have the length required by the group's strength, the same \
    for all";

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "dh",
    title: "Diffie-Hellman",
    about: "Diffie-Hellman in the groups of RFC 7919: shared secrets and keys",
    examples: "\
Examples:
  cycloid bench dh                    the usual groups
  cycloid bench dh --bits 8192        ffdhe8192",
    family: Family::Dh,
    options: &[Choice {
        name: "bits",
        help: "Groups, by the bits of their modulus: 2048, 3072, 4096, 6144 or 8192, separated by \
               commas [default: 2048,3072,4096]",
        value: Value::Text("LIST"),
    }],
    constructors: Some(Constructors {
        chosen: |chosen, effort| {
            let bits = chosen.parsed("bits", Dh::bits_from_list)?;
            Ok(Box::new(Dh { bits: bits.unwrap_or_else(|| Dh::usual(effort).bits) }))
        },
        usual: |effort| Ok(Box::new(Dh::usual(effort))),
        alone: Some(|effort| Box::new(Dh::usual(effort))),
    }),
    repeat: |tables| option("bits", numbers(tables, "modulus_bits")).into_iter().collect(),
};

/// The choice of tables.
#[derive(Clone, Debug)]
pub struct Dh {
    /// Groups, by the length of their modulus in bits.
    pub bits: Vec<usize>,
}

impl Dh {
    /// Selects the usual groups, as many as `effort` allows.
    pub fn usual(effort: Effort) -> Self {
        let bits: &[usize] = match effort {
            Effort::Quick => &[2048],
            Effort::Plain | Effort::Full => &[2048, 3072, 4096],
        };
        Self { bits: bits.to_vec() }
    }

    /// Parses `--bits`: lengths of moduli separated by commas.
    ///
    /// # Errors
    /// The first length without a group.
    pub fn bits_from_list(list: &str) -> Result<Vec<usize>, Failure> {
        list.split(',')
            .map(|item| {
                let bits = item.trim().parse().ok().filter(|bits| ours::group(*bits).is_some());
                bits.ok_or_else(|| {
                    Failure::new(
                        format!("no group of RFC 7919 has '{item}' bits"),
                        "use 2048, 3072, 4096, 6144 or 8192, as in --bits 2048,4096",
                    )
                })
            })
            .collect()
    }
}

impl Suite for Dh {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let groups = || self.bits.iter().filter_map(|bits| ours::group(*bits));
        let plan = |task: Task, group| {
            let table = TablePlan { task, group, effort, peers };
            Plan {
                title: format!("{}, {}", table.name(), title(task)),
                time: table.time(),
                work: Work::Subjects(Box::new(move || table.prepare())),
            }
        };
        let of_task = |task| groups().map(move |group| plan(task, group));
        of_task(Task::Agree).chain(of_task(Task::Generate)).collect()
    }
}

/// Returns the operation's name in tables.
const fn title(task: Task) -> &'static str {
    match task {
        Task::Agree => "shared secret",
        Task::Generate => "generate a key",
    }
}

/// A planned table.
#[derive(Clone, Copy)]
struct TablePlan<'a> {
    task: Task,
    group: &'static Group<'static>,
    effort: Effort,
    peers: &'a [Found],
}

impl TablePlan<'_> {
    fn name(&self) -> String {
        format!("ffdhe{}", self.group.bits())
    }

    fn time(&self) -> Duration {
        let unit = match self.effort {
            Effort::Quick => 0.5,
            Effort::Plain => 0.9,
            Effort::Full => 20.0,
        };
        Duration::from_secs_f64(unit * self.group.bits() as f64 / 2048.0)
    }

    fn prepare(&self) -> Result<(Setting, Vec<Subject>), Failure> {
        let inputs: [Input; 8] = std::array::from_fn(|i| ours::input(self.group, i as u64));
        let mut subjects = self.ours(&inputs);
        let mut notes: Vec<String> = vec![EXPONENT.into()];
        notes.push(if self.task == Task::Agree { VALIDATION } else { TABLE }.into());
        let mut missing = Vec::new();
        for found in self.peers.iter().filter(|found| found.peer.does(Family::Dh)) {
            match &found.outcome {
                Ok(library) => {
                    for candidate in library.dh(self.task, self.group.bits()) {
                        subjects::add_note(&mut notes, candidate.note);
                        let version = library.version();
                        subjects.push(self.of_peer(found, version, candidate, &inputs[0])?);
                    }
                }
                Err(_) => missing.push(found.peer.name().into()),
            }
        }
        let setting = Setting {
            suite: DESCRIPTOR.name,
            operation: title(self.task),
            group: self.name(),
            name: title(self.task).into(),
            series: None,
            parameters: Parameters::from([
                ("modulus_bits".into(), self.group.bits().into()),
                ("exponent_bits".into(), self.group.exponent_bits().into()),
            ]),
            summary: Summary::Proportions,
            reference: 0,
            time: self.time(),
            sampling: Sampling::Paired,
            missing,
            notes,
        };
        Ok((setting, subjects))
    }

    /// Returns the input of an operation.
    fn data<'i>(&self, input: &'i Input) -> &'i [u8] {
        match self.task {
            Task::Agree => &input.other,
            Task::Generate => &[],
        }
    }

    /// Returns the check of a result: the shared secret, or whether the generated key agrees with
    /// the other party's.
    fn check(&self, input: &Input) -> ResultCheck {
        match self.task {
            Task::Agree => {
                Box::new(|_, shared| shared.iter().map(|byte| u64::from(*byte)).collect())
            }
            Task::Generate => {
                let (group, input) = (self.group, input.clone());
                Box::new(move |call, _| {
                    let mut both = vec![0; 2 * group.length()];
                    let agrees = call(&input.other, &mut both).is_ok_and(|_| {
                        let (public, shared) = both.split_at(group.length());
                        let public = from_bytes(public);
                        *shared == *ours::power(group, &public, &input.other_exponent)
                    });
                    vec![u64::from(agrees)]
                })
            }
        }
    }

    /// Returns the check of eight results: the first secret, if all are correct.
    fn check_eight(&self, inputs: &[Input; 8]) -> ResultCheck {
        if self.task == Task::Generate {
            return self.check(&inputs[0]);
        }
        let (group, inputs) = (self.group, inputs.clone());
        Box::new(move |_, secrets| {
            let right = |(input, secret): (&Input, &[u8])| {
                *secret == *ours::power(group, &from_bytes(&input.other), &input.exponent)
            };
            if inputs.iter().zip(secrets.chunks(group.length())).all(right) {
                secrets[..group.length()].iter().map(|byte| u64::from(*byte)).collect()
            } else {
                Vec::new()
            }
        })
    }

    /// Returns our rows; the first is the reference.
    fn ours(&self, inputs: &[Input; 8]) -> Vec<Subject> {
        let (input, group) = (&inputs[0], self.group);
        let one = ours::scratch_one(group) * size_of::<u64>();
        let eight = ours::scratch_eight(group) * size_of::<u64>();
        let room = 2 * group.length();
        let subject = |label, function, scratch, operation| {
            let backend = backends::one(group.prime().len());
            Subject::ours(label, function, backend, scratch, operation)
        };
        let single = |call| -> Box<dyn Operation> {
            Box::new(Prepared::ours(self.data(input), room, self.check(input), call))
        };
        let all = |call| -> Box<dyn Operation> {
            let (room, check) = (8 * group.length(), self.check_eight(inputs));
            Box::new(Prepared::ours(self.data(input), room, check, call))
        };
        let eight = |operation| {
            Subject::ours("×8", "dh::run_batch", backends::eight(), eight, operation).of_batch(8)
        };
        match self.task {
            Task::Agree => {
                let agree = |label, validation, limbs: usize| {
                    let operation = single(ours::agreement(group, validation, limbs));
                    subject(label, "PrivateKey::agree", limbs * size_of::<u64>(), operation)
                };
                let best = ours::scratch_one(group);
                let least = minimum_scratch_limbs(group.bits());
                vec![
                    agree(REFERENCE, Validation::Full, best),
                    agree("range check", Validation::Partial, best).special(),
                    agree("least", Validation::Full, least).special(),
                    eight(all(ours::eight_agreements(group))),
                ]
            }
            Task::Generate => {
                let plain = single(ours::generator(group, None));
                let table = |label, comb| {
                    let operation = single(ours::generator(group, Some(comb)));
                    let memory = ours::table_memory(group, comb);
                    subject(label, "dh::Generator::public_value", one + memory, operation).special()
                };
                vec![
                    subject(REFERENCE, "PrivateKey::public_value", one, plain),
                    table("small table", Comb::COMPACT),
                    table("table", Comb::BALANCED),
                    table("large table", Comb::FASTEST),
                    eight(all(ours::eight_keys(group))),
                ]
            }
        }
    }

    fn of_peer(
        &self,
        found: &Found,
        version: String,
        candidate: Candidate,
        input: &Input,
    ) -> Result<Subject, Failure> {
        let Candidate { label, function, prepare, .. } = candidate;
        let room = 2 * self.group.length();
        let (data, check) = (self.data(input), self.check(input));
        let operation = Prepared::of_peer(data, room, check, true, || prepare(input))?;
        Ok(Subject::of_peer(found.peer, version, label, function, Box::new(operation)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_bits() {
        assert_eq!(Dh::bits_from_list("2048, 8192").unwrap(), [2048, 8192]);
        for wrong in ["1024", "2049", "abc", "", "2048,"] {
            assert!(Dh::bits_from_list(wrong).is_err(), "{wrong}");
        }
    }
}
