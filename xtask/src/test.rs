//! `cargo xtask test`: installs what is missing, runs all tests, and ends with their results.

use std::num::NonZero;
use std::process::Command;
use std::thread;

use crate::parts::{self, Part};
use crate::process::{Failure, Outcome, cargo, say, shown};
use crate::{debian, test_programs};

/// Commands of this program, those that take longest first. They test the library as users get it,
/// without overflow checks and debug assertions, and each ends with a line for the summary.
const STEPS: [&str; 6] = ["cortex-m4", "ct", "aarch64", "fuzz-smoke", "residue", "no-std"];

/// Runs all tests. If a test program fails, the steps after them do not run.
pub(crate) fn run() -> Outcome {
    debian::set_up()?;
    let mut summary = Vec::new();
    let outcome = all(&mut summary);
    say("results");
    for line in &summary {
        println!("{line}");
    }
    println!("{}", total(&summary));
    outcome
}

fn all(summary: &mut Vec<String>) -> Outcome {
    let this = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    test_programs::run(summary)?;
    // With the features of the test programs, so that nothing compiles twice.
    let arguments = format!("test --workspace --features {}", test_programs::OPTIONAL);
    let examples = cargo(&format!("{arguments} --doc --locked --no-fail-fast"));
    let mut parts = vec![Part { name: shown(&examples), command: examples, result: parts::tests }];
    parts.extend(STEPS.map(|name| {
        let mut command = Command::new(&this);
        command.arg(name);
        Part { name: format!("cargo xtask {name}"), command, result: parts::last_line }
    }));
    // Most of a step is one crate, and one unit of code: it takes one processor.
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    parts::run_all(Vec::new(), parts, at_once, summary)
}

fn total(summary: &[String]) -> String {
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for result in summary {
        passed += count(result, "passed");
        failed += count(result, "failed");
        ignored += count(result, "ignored");
    }
    format!("total: {passed} passed; {failed} failed; {ignored} ignored")
}

/// Returns the sum of the numbers before `what` in `ok. 3 passed; 0 failed; …`.
fn count(result: &str, what: &str) -> u64 {
    let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).filter(|pair| pair[1] == what);
    pairs.filter_map(|pair| pair[0].parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_add_up() {
        let summary = [
            "cargo test --doc: ok. 12 passed; 0 failed; 1 ignored (1 s)",
            "a/tests/b.rs: FAILED. 3 passed; 2 failed; 0 ignored (4 s)",
        ];
        assert_eq!(total(&summary.map(String::from)), "total: 15 passed; 2 failed; 1 ignored");
    }
}
