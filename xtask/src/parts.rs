//! Parts of the tests that run side by side: each is a process, and its output is printed as a whole
//! when it ends.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::process::{Failure, Outcome, read_within, say};

/// The time after which a part has failed. The longest takes ten minutes.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// A part of the tests.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) command: Command,
    /// Returns what the summary says of the output; nothing if nothing ran.
    pub(crate) result: fn(&str) -> String,
}

/// Runs all parts, `at_once` at a time, in their order, and beside them at once those that wait for
/// something most of the time. Adds one line for each to `summary`.
///
/// # Errors
/// Names the parts that failed, after all have run.
pub(crate) fn run_all(
    waiting: Vec<Part>,
    parts: Vec<Part>,
    at_once: usize,
    summary: &mut Vec<String>,
) -> Outcome {
    let parts = Mutex::new(VecDeque::from(parts));
    let ended = Mutex::new((Vec::new(), Vec::new()));
    let run = |Part { name, mut command, result }| {
        say(&name);
        let begin = Instant::now();
        // One that cannot start does not keep the others from running.
        let (output, success) =
            read_within(&mut command, LIMIT).unwrap_or_else(|failure| (failure.to_string(), false));
        let mut ended = ended.lock().expect("no worker panics");
        println!("--- {name}\n{output}");
        let result = result(&output);
        if !success || !result.is_empty() {
            ended.0.push(format!("{name}: {result} ({:.0} s)", begin.elapsed().as_secs_f64()));
        }
        if !success {
            ended.1.push(name);
        }
    };
    let next = || parts.lock().expect("no worker panics").pop_front();
    let work = || std::iter::from_fn(next).for_each(run);
    thread::scope(|scope| {
        waiting.into_iter().for_each(|part| _ = scope.spawn(move || run(part)));
        (0..at_once).for_each(|_| _ = scope.spawn(work));
    });
    let (mut lines, failed) = ended.into_inner().expect("no worker panics");
    lines.sort();
    summary.extend(lines);
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("failed: {}", failed.join(", "))).hint("see the output above"))
}

/// Returns the texts after `test result: ` in the output of test programs; nothing if they ran no
/// test.
pub(crate) fn tests(output: &str) -> String {
    let ends = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    // The counts of what was measured and filtered, and the time, are not shown.
    let counts = ends.map(|end| end.split("; 0 measured").next().unwrap_or(end));
    let counts: Vec<_> = counts.filter(|count| !count.contains(NOTHING)).collect();
    counts.join("; ")
}

const NOTHING: &str = " 0 passed; 0 failed; 0 ignored";

/// Returns the last line of the output: the summary of a command of this program.
pub(crate) fn last_line(output: &str) -> String {
    output.lines().last().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::program;

    #[test]
    fn results_are_read_from_the_output_of_test_programs() {
        let output = "running 2 tests\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; \
                      0 filtered out; finished in 0.00s\n\
                      test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(tests(output), "ok. 1 passed; 0 failed; 1 ignored");
        assert_eq!(tests("no test\n"), "");
    }

    #[test]
    fn all_parts_run_and_those_that_failed_are_named() {
        let part = |name: &str, script: &str| {
            let mut command = program("sh", "-c");
            command.arg(script);
            Part { name: name.to_owned(), command, result: last_line }
        };
        let parts = || vec![part("b", "echo begun; echo 2 passed"), part("a", "echo 1 passed >&2")];
        let mut summary = Vec::new();
        run_all(parts(), vec![], 1, &mut summary).unwrap();
        assert_eq!(summary, ["a: 1 passed (0 s)", "b: 2 passed (0 s)"]);
        summary.clear();
        run_all(vec![], parts(), 2, &mut summary).unwrap();
        assert_eq!(summary, ["a: 1 passed (0 s)", "b: 2 passed (0 s)"]);

        let missing = Part { command: program("/missing", ""), ..part("d", "") };
        let failing = vec![part("c", "exit 1"), missing];
        let failing = failing.into_iter().chain(parts()).collect();
        summary.clear();
        let failure = run_all(vec![], failing, 1, &mut summary).unwrap_err().to_string();
        assert_eq!(failure, "error: failed: c, d\nhint: see the output above");
        assert_eq!(summary.len(), 4);
    }
}
