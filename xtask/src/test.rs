//! `cargo xtask test`: installs what is missing, runs all tests, and ends with the results of the
//! test programs.

use crate::process::{Outcome, cargo, run as run_program, run_and_keep, say, shown};
use crate::{ct, debian, fuzz, no_std, residue};

/// The stack size of a thread with musl, unless a program requests more.
const SMALLEST_STACK: &str = "131072";

/// Runs all tests; stops at the first failure.
pub(crate) fn run() -> Outcome {
    debian::set_up()?;
    let mut summary = Vec::new();
    let outcome = all(&mut summary);
    say("results of the test programs");
    for line in &summary {
        println!("{line}");
    }
    println!("{}", total(&summary));
    outcome
}

fn all(summary: &mut Vec<String>) -> Outcome {
    // The library's own tests run on threads with the stack size of the C library that has the
    // smallest. The compiler needs a larger stack, so it runs first. Operations on lists of
    // BLS12-381 points need more stack with vectors (`scheme::stack_use`).
    let own = "test -p cycloid --lib --tests --locked";
    run_program(&mut cargo(&format!("{own} --no-run")))?;
    let mut library = cargo(&format!("{own} --no-fail-fast -- --skip bls12_381"));
    library.env("RUST_MIN_STACK", SMALLEST_STACK);
    let lists = cargo(&format!("{own} --no-fail-fast bls12_381"));
    let examples = cargo("test -p cycloid --doc --locked");
    let others = cargo("test --workspace --exclude cycloid --locked --no-fail-fast");
    for mut tests in [library, lists, examples, others] {
        let (lines, outcome) = run_and_keep(&mut tests, is_summary);
        summary.push(shown(&tests));
        summary.extend(lines);
        outcome?;
    }
    // The following steps test the library as users get it, without overflow checks and debug
    // assertions.
    no_std::run()?;
    summary.push("no-std: the library runs without std and without an allocator".into());
    summary.push(ct::run(&[])?);
    summary.push(residue::run()?);
    summary.push(fuzz::run(fuzz::SMOKE_SECONDS)?);
    Ok(())
}

/// Returns whether a line names a test program or its result.
fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    ["Running ", "Doc-tests ", "test result: ", "failures:"]
        .iter()
        .any(|start| line.starts_with(start))
}

fn total(summary: &[String]) -> String {
    let results = summary.iter().filter_map(|line| line.strip_prefix("test result: "));
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for result in results {
        passed += count(result, "passed");
        failed += count(result, "failed");
        ignored += count(result, "ignored");
    }
    format!("total: {passed} passed; {failed} failed; {ignored} ignored")
}

/// Returns the number before `what` in `ok. 3 passed; 0 failed; …`.
fn count(result: &str, what: &str) -> u64 {
    let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| *word == what);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_add_up() {
        let summary = [
            "     Running unittests src/lib.rs (target/debug/deps/a-1)",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s",
        ];
        assert!(summary.iter().all(|line| is_summary(line)));
        assert_eq!(total(&summary.map(String::from)), "total: 15 passed; 2 failed; 1 ignored");
        assert!(!is_summary("test machine::ct::masks ... ok"));
    }
}
