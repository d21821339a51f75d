//! Modular exponentiation: every strategy, the default, eight in one call, and the peers.

mod options;
mod ours;

use std::time::Duration;

use cycloid::modular::{self, Strategy};

use super::backends;
use super::descriptor::{Choice, Constructors, Descriptor, Value};
use super::repeat::{numbers, option};
use super::subjects::{self, Sampling, Setting, Subject};
use super::{Effort, Plan, Suite, Work};
use crate::Failure;
use crate::measure::Operation;
use crate::peers::bytes::from_bytes;
use crate::peers::external::job;
use crate::peers::modexp::{Candidate, Exponents, Input, Prepare};
use crate::peers::{Family, Found, Library, ResultCheck};
use crate::record::{Method, Parameters, Summary};

/// The shortest modulus, in bits.
pub const MIN_BITS: usize = 64;

/// The label of the row that ratios refer to.
const REFERENCE: &str = "default";

const PREPARATION: &str = "Cycloid, OpenSSL, AWS-LC and crypto-bigint get a modulus prepared for \
    Montgomery multiplication; the strategies take it unprepared";

const CRT: &str = "with --crt, a row is both halves of a private operation, one after the other \
    (×8: of eight operations), without the recombination; scratch is that of one half, which the \
    other half reuses";

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "modexp",
    title: "Modular exponentiation",
    about: "Modular exponentiation: 36 strategies, the default, eight at once, the peers",
    examples: "\
Examples:
  cycloid bench modexp --bits 2048                       one size
  cycloid bench modexp --bits 2048,4096 --crt            as RSA private keys use it
  cycloid bench modexp --exponent 65537                  as RSA public keys use it
  cycloid bench modexp --exponent 256                    exponents of 256 bits
  cycloid bench modexp --strategy 'montgomery fw,fast'   some rows
  cycloid bench modexp --cpu portable --peers none       plain Rust only",
    family: Family::ModExp,
    options: &[
        Choice {
            name: "bits",
            help: "Lengths of the modulus in bits, 64 to 16384, separated by commas [default: the \
                   lengths that RSA and Diffie-Hellman use]. With --crt, lengths of the RSA key",
            value: Value::Text("LIST"),
        },
        Choice {
            name: "exponent",
            help: "The exponent: full (as long as the modulus), 65537, or a length in bits",
            value: Value::Default("EXPONENT", "full"),
        },
        Choice {
            name: "crt",
            help: "Measure the two half-size exponentiations of an RSA private key",
            value: Value::Flag,
        },
        Choice {
            name: "strategy",
            help: "Strategies whose names contain these words, alternatives separated by commas; \
                   all; none",
            value: Value::Default("FILTER", "all"),
        },
    ],
    constructors: Some(Constructors {
        chosen: |chosen, effort| {
            let crt = chosen.has("crt");
            let bits = chosen.parsed("bits", |list| ModExp::bits_from_list(list, crt))?;
            Ok(Box::new(ModExp {
                bits: bits.unwrap_or_else(|| ModExp::usual(effort).bits),
                exponents: chosen.defaulted("exponent", ModExp::exponent_from_text)?,
                crt,
                strategies: chosen.defaulted("strategy", ModExp::strategies_from_filter)?,
            }))
        },
        usual: |effort| Ok(Box::new(ModExp::usual(effort))),
        alone: Some(|effort| Box::new(ModExp::usual(effort))),
    }),
    repeat: |tables| {
        let crt = tables.iter().any(|table| table.parameters.get("crt") == Some(&true.into()));
        // A key has two moduli of half its length.
        let bits = numbers(tables, "modulus_bits");
        let of_key = bits.iter().map(|bits| if crt { bits * 2 } else { *bits });
        let exponents = numbers(tables, "exponent_bits");
        let exponent = if exponents == bits { None } else { option("exponent", exponents) };
        let crt = crt.then(|| "--crt".into());
        option("bits", of_key).into_iter().chain(exponent).chain(crt).collect()
    },
};

/// The choice of tables.
#[derive(Clone, Debug)]
pub struct ModExp {
    /// Lengths in bits of moduli, or of RSA keys if `crt`: one table each.
    pub bits: Vec<usize>,
    /// The exponent.
    pub exponents: Exponents,
    /// Whether an operation is that of an RSA private key: two exponentiations of half the size.
    pub crt: bool,
    /// The strategies, one row each.
    pub strategies: Vec<Strategy>,
}

impl ModExp {
    /// Selects the sizes that RSA and Diffie-Hellman use, as many as `effort` allows.
    pub fn usual(effort: Effort) -> Self {
        let bits: &[usize] = match effort {
            Effort::Quick => &[1024, 2048],
            Effort::Plain | Effort::Full => &[1024, 1536, 2048, 3072, 4096],
        };
        Self {
            bits: bits.to_vec(),
            exponents: Exponents::Full,
            crt: false,
            strategies: Strategy::ALL.to_vec(),
        }
    }
}

impl Suite for ModExp {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let plan = |bits: &usize| {
            let modulus_bits = if self.crt { bits / 2 } else { *bits };
            let table = TablePlan { modexp: self, bits: *bits, modulus_bits, peers };
            let time = time(effort, *bits);
            Plan {
                title: format!("modexp, {bits} bits"),
                time: table.expected(time),
                work: Work::Subjects(Box::new(move || table.prepare(time))),
            }
        };
        self.bits.iter().map(plan).collect()
    }
}

/// Returns the time for the rounds of a table: longer operations need more time for as many rounds.
fn time(effort: Effort, bits: usize) -> Duration {
    let unit = match effort {
        Effort::Quick => 1.0,
        Effort::Plain => 1.7,
        Effort::Full => 40.0,
    };
    Duration::from_secs_f64(unit * (bits as f64 / 1024.0).max(0.5))
}

/// A planned table.
struct TablePlan<'a> {
    modexp: &'a ModExp,
    /// The length of the modulus, or of the RSA key.
    bits: usize,
    modulus_bits: usize,
    peers: &'a [Found],
}

/// The inputs of one table: eight operations, each of one exponentiation or two.
type Inputs = [Vec<Input>; 8];

impl TablePlan<'_> {
    fn prepare(&self, time: Duration) -> Result<(Setting, Vec<Subject>), Failure> {
        let inputs: Inputs = std::array::from_fn(|i| {
            let exponentiations = if self.modexp.crt { 2 } else { 1 };
            (0..exponentiations)
                .map(|j| {
                    let seed = (self.bits as u64) << 8 | (i as u64) << 1 | j;
                    Input::new(self.modulus_bits, self.modexp.exponents, seed)
                })
                .collect()
        });
        let (group, name) = self.names();
        let mut notes = vec![PREPARATION.to_string()];
        if self.modexp.crt {
            notes.push(CRT.into());
        }
        let mut missing = Vec::new();
        let mut subjects = self.strategies(&inputs[0]);
        let reference = subjects.len();
        subjects.extend(self.defaults(&inputs[0]));
        subjects.push(self.eight(&inputs)?);
        for found in self.peers.iter().filter(|found| found.peer.does(Family::ModExp)) {
            match &found.outcome {
                Ok(library) => {
                    subjects.extend(self.of_peer(found, &**library, &inputs[0], &mut notes)?);
                    subjects.extend(of_runner(found, &inputs[0], &mut notes)?);
                    subjects.extend(eight_of_runner(found, &inputs, &mut notes)?);
                }
                Err(_) => missing.push(found.peer.name().into()),
            }
        }
        let setting = Setting {
            suite: DESCRIPTOR.name,
            operation: if self.modexp.crt {
                "two modular exponentiations of half the size"
            } else {
                "modular exponentiation"
            },
            group,
            name,
            series: None,
            parameters: self.parameters(),
            summary: Summary::Proportions,
            reference,
            time,
            sampling: Sampling::Paired,
            missing,
            notes,
        };
        Ok((setting, subjects))
    }

    /// Estimates the time of the whole table if its rounds get `time`. A round of all rows of
    /// 4096 bits takes about two seconds; each row has three runs before the rounds and at least
    /// five in them.
    fn expected(&self, time: Duration) -> Duration {
        let size = self.modulus_bits as f64 / 4096.0;
        let exponentiations = if self.modexp.crt { 2.0 } else { 1.0 };
        let rows = (12 + self.modexp.strategies.len()) as f64 / 48.0;
        let length = self.exponent_bits() as f64 / 4096.0;
        let round = 2.0 * rows * exponentiations * size * size * length;
        time.max(Duration::from_secs_f64(5.0 * round)) + Duration::from_secs_f64(3.0 * round)
    }

    fn exponent_bits(&self) -> usize {
        self.modexp.exponents.bits(self.modulus_bits)
    }

    /// Returns the table's group and its name within it.
    fn names(&self) -> (String, String) {
        let (modulus, exponent) = (self.modulus_bits, self.exponent_bits());
        if self.modexp.crt {
            let length = if modulus == exponent {
                "exponent length = modulus length".into()
            } else {
                format!("{exponent}-bit exponents")
            };
            let name = format!("CRT private key, {length} (2 × {modulus} bits)");
            (format!("RSA-{}", self.bits), name)
        } else if self.modexp.exponents == Exponents::F4 {
            (format!("{modulus}-bit modulus, exponent 65537"), String::new())
        } else {
            (format!("{modulus}-bit modulus, {exponent}-bit exponent"), String::new())
        }
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::from([
            ("modulus_bits".into(), self.modulus_bits.into()),
            ("exponent_bits".into(), self.exponent_bits().into()),
            ("crt".into(), self.modexp.crt.into()),
        ]);
        if self.modexp.crt {
            parameters.insert("key_bits".into(), self.bits.into());
        }
        if self.modexp.exponents == Exponents::F4 {
            parameters.insert("exponent".into(), 65537.into());
        }
        parameters
    }

    fn strategies(&self, inputs: &[Input]) -> Vec<Subject> {
        let subject = |strategy: &Strategy| Subject {
            group: strategy.reduction.to_string(),
            method: Method::Other,
            constant_time: strategy.is_constant_time(),
            every_round: false,
            ..Subject::ours(
                &strategy.exponentiation.to_string(),
                "Strategy::pow_vartime",
                backends::words(),
                strategy.scratch_bytes(self.modulus_bits),
                each(inputs, |input| Box::new(ours::Strategic::prepare(*strategy, input))),
            )
        };
        self.modexp.strategies.iter().map(subject).collect()
    }

    /// Returns our rows without strategies; the first is the reference.
    fn defaults(&self, inputs: &[Input]) -> Vec<Subject> {
        let subject = |label: &str, function: &str, pow: ours::Pow, scratch_limbs: usize| {
            let backend = if label == REFERENCE {
                backends::one(inputs[0].modulus.len())
            } else {
                backends::words()
            };
            let operation =
                each(inputs, |input| Box::new(ours::Prepared::new(pow, input, scratch_limbs)));
            Subject::ours(label, function, backend, scratch_limbs * size_of::<u64>(), operation)
        };
        let best = ours::scratch_limbs(&inputs[0]);
        let least = ours::scratch_limbs_least(&inputs[0]);
        vec![
            subject(REFERENCE, "modular::pow", modular::pow, best),
            subject("least scratch", "modular::pow", modular::pow, least).special(),
            Subject {
                constant_time: false,
                ..subject("variable-time", "modular::pow_vartime", modular::pow_vartime, least)
                    .special()
            },
        ]
    }

    fn eight(&self, inputs: &Inputs) -> Result<Subject, Failure> {
        let half = |which: usize| {
            ours::Eight::new(inputs.each_ref().map(|operation| operation[which].clone()))
        };
        let first = Box::new(half(0)?);
        let operation: Box<dyn Operation> =
            if self.modexp.crt { Box::new(ours::Both(first, Box::new(half(1)?))) } else { first };
        let scratch = ours::scratch_eight(&inputs[0][0]) * size_of::<u64>();
        let function = "modular::pow_eight_prepared";
        Ok(Subject::ours("×8", function, backends::eight(), scratch, operation).of_batch(8))
    }

    fn of_peer(
        &self,
        found: &Found,
        library: &dyn Library,
        inputs: &[Input],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Subject>, Failure> {
        let mut rows = Vec::new();
        for candidate in library.modexp(self.modulus_bits) {
            let operation = match (&candidate.prepare, inputs) {
                (Prepare::One(prepare), [input]) => prepare(input)?,
                (Prepare::One(prepare), [first, second]) => {
                    Box::new(ours::Both(prepare(first)?, prepare(second)?))
                }
                (Prepare::Two(prepare), [first, second]) => prepare(first, second)?,
                _ => continue,
            };
            subjects::add_note(notes, candidate.note);
            let Candidate { label, function, constant_time, .. } = candidate;
            rows.push(Subject {
                constant_time,
                ..Subject::of_peer(found.peer, library.version(), label, function, operation)
            });
        }
        Ok(rows)
    }
}

/// Returns the rows of a runner, of one exponentiation or two.
fn of_runner(
    found: &Found,
    inputs: &[Input],
    notes: &mut Vec<String>,
) -> Result<Vec<Subject>, Failure> {
    let mut rows: Vec<Subject> = Vec::new();
    for input in inputs {
        let limbs = input.modulus.len();
        let check = || -> ResultCheck {
            Box::new(move |_, result| {
                let mut number = from_bytes(result);
                number.resize(limbs, 0);
                number
            })
        };
        let of_input = subjects::of_runner(found, "modexp", &job::modexp(input), check, notes)?;
        rows = match rows.is_empty() {
            true => of_input,
            false => rows.into_iter().zip(of_input).map(both).collect(),
        };
    }
    Ok(rows)
}

/// Returns the rows of a runner's eight exponentiations at once; none for halves of private keys.
fn eight_of_runner(
    found: &Found,
    inputs: &Inputs,
    notes: &mut Vec<String>,
) -> Result<Vec<Subject>, Failure> {
    if inputs[0].len() != 1 || found.outcome.as_ref().is_ok_and(|peer| peer.runner().is_none()) {
        return Ok(Vec::new());
    }
    let inputs = inputs.each_ref().map(|operation| operation[0].clone());
    let job = job::together(inputs.iter().map(job::modexp));
    let check = || -> ResultCheck {
        let inputs = inputs.clone();
        Box::new(move |_, results| {
            let limbs = inputs[0].modulus.len();
            let numbers = results.chunks(limbs * size_of::<u64>()).map(|result| {
                let mut number = from_bytes(result);
                number.resize(limbs, 0);
                number
            });
            let numbers: Vec<Vec<u64>> = numbers.collect();
            let is_right = |(input, number): (&Input, &Vec<u64>)| {
                let scratch = ours::scratch_limbs(input);
                let mut right = ours::Prepared::new(modular::pow, input, scratch);
                right.run().is_ok() && right.output() == *number
            };
            let are_right = numbers.len() == 8 && inputs.iter().zip(&numbers).all(is_right);
            // The first result, which the other rows have.
            if are_right { numbers[0].clone() } else { Vec::new() }
        })
    };
    let rows = subjects::of_runner(found, "×8", &job, check, notes)?;
    Ok(rows.into_iter().map(|row| row.of_batch(8)).collect())
}

/// Combines two rows into one.
fn both((first, second): (Subject, Subject)) -> Subject {
    let operation = Box::new(ours::Both(first.operation, second.operation));
    Subject { operation, ..first }
}

/// Returns one operation per input; two are combined into one.
fn each(inputs: &[Input], prepare: impl Fn(&Input) -> Box<dyn Operation>) -> Box<dyn Operation> {
    match inputs {
        [first, second] => Box::new(ours::Both(prepare(first), prepare(second))),
        inputs => prepare(&inputs[0]),
    }
}

#[cfg(test)]
mod tests;
