//! The searching process: it knows the secrets, and looks only at the subject's memory.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cycloid::cpu::Level;

use crate::cases::{self, Case, Expect};
use crate::protocol::{Extent, Input};
use crate::search::{memory, search, touched};
use crate::stop::PAINTED;

/// Bytes of the case's own frames between the measurement and the operation.
const OWN_FRAMES: usize = 4096;

/// The number of places shown for an operation with many findings.
const SHOWN: usize = 400;

/// Runs the cases whose names contain `part`, and returns a summary.
pub(crate) fn run(part: &str) -> Result<String, String> {
    let cases = cases::all();
    let mut wrong = 0;
    let mut done = 0;
    let levels = levels();
    for level in &levels {
        let mut subject = Subject::start(*level)?;
        for (number, case) in selected(&cases, part) {
            let Outcome { found, stack, needles } = subject.check(number, case)?;
            done += 1;
            let name = format!("{}, {}", case.name, level.name());
            let allowed = case.stack + OWN_FRAMES;
            // The documented sizes are those of release code.
            if stack > allowed && !cfg!(debug_assertions) {
                wrong += 1;
                eprintln!("{name}: {stack} bytes of stack, more than the documented {allowed}");
            }
            match case.expect {
                Expect::Nothing if found.is_empty() => {}
                Expect::Nothing => {
                    wrong += 1;
                    eprintln!(
                        "{name}: {} places with secrets, searched for {needles}",
                        found.len()
                    );
                    found.iter().take(SHOWN).for_each(|line| eprintln!("    {line}"));
                }
                Expect::Found if found.is_empty() => {
                    wrong += 1;
                    eprintln!("{name}: the planted secret was not found");
                }
                Expect::Found => {}
            }
        }
    }
    if wrong > 0 {
        return Err(format!("{wrong} of {done} operations leave secrets or use too much stack"));
    }
    if done == 0 {
        return Err(format!("no operation's name contains `{part}`"));
    }
    let levels: Vec<_> = levels.iter().map(|level| level.name()).collect();
    let missing = Level::ALL.len() - levels.len();
    let missing = if missing > 0 { ", all that this processor has" } else { "" };
    Ok(format!(
        "residue: {done} operations leave nothing; planted secrets are found; {}{missing}",
        levels.join(", ")
    ))
}

/// Prints the stack use of each operation, on the level where it is greatest.
pub(crate) fn stack_use(part: &str) -> Result<(), String> {
    let cases = cases::all();
    let mut most = vec![(0, Level::Portable); cases.len()];
    for level in levels() {
        let mut subject = Subject::start(level)?;
        for (number, case) in selected(&cases, part) {
            let stack = subject.check(number, case)?.stack;
            if stack >= most[number].0 {
                most[number] = (stack, level);
            }
        }
    }
    for (number, case) in selected(&cases, part) {
        let (stack, level) = most[number];
        println!("{stack:7} of {:7}  {} ({})", case.stack, case.name, level.name());
    }
    Ok(())
}

fn levels() -> Vec<Level> {
    Level::ALL.into_iter().filter(|level| level.is_detected()).collect()
}

fn selected<'c>(cases: &'c [Case], part: &str) -> impl Iterator<Item = (usize, &'c Case)> {
    cases.iter().enumerate().filter(move |(_, case)| case.name.contains(part))
}

struct Outcome {
    found: Vec<String>,
    stack: usize,
    needles: usize,
}

struct Subject {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
    excluded: [Extent; 2],
}

impl Subject {
    fn start(level: Level) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut process = Command::new(program)
            .args(["--subject", level.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the process that is searched: {error}"))?;
        let (Some(input), Some(mut output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("the process has no pipes".into());
        };
        let mut extents = [[0; 16]; 2];
        output.read_exact(extents.as_flattened_mut()).map_err(|error| error.to_string())?;
        Ok(Self { process, input, output, excluded: extents.map(|part| Extent::from_bytes(&part)) })
    }

    fn check(&mut self, number: usize, case: &Case) -> Result<Outcome, String> {
        let failed = |error| format!("{}: the process ended: {error}", case.name);
        let prepared = case.prepare();
        let input = Input::joined(&prepared.input.iter().map(|part| &part[..]).collect::<Vec<_>>());
        let header = [number as u64, input.len() as u64].map(u64::to_le_bytes).concat();
        self.input.write_all(&[header, input].concat()).map_err(failed)?;
        let mut pointer = [0; 8];
        self.output.read_exact(&mut pointer).map_err(failed)?;
        let pointer = u64::from_le_bytes(pointer);
        let regions = memory(self.process.id()).map_err(failed)?;
        self.input.write_all(&[1]).map_err(failed)?;
        let found = search(&regions, &prepared.needles, &self.excluded);
        let found = found.iter().map(|found| {
            let from = found.address as i64 - pointer as i64;
            let place = match from.unsigned_abs() as usize {
                0..PAINTED => format!("stack pointer {from:+}"),
                _ => format!("{:#x} in {}", found.address, found.region),
            };
            format!("{} at {place}", found.name)
        });
        Ok(Outcome {
            found: found.collect(),
            stack: touched(&regions, pointer, PAINTED),
            needles: prepared.needles.len(),
        })
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // It ends when its input ends; a failure here cannot be reported.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
