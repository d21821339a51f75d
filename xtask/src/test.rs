//! `cargo xtask test`: installs what is missing, runs all tests, and ends with their results.

use crate::process::{Outcome, cargo, run_and_keep, say, shown};
use crate::{aarch64, cortex_m4, ct, debian, fuzz, no_std, residue, test_programs};

/// Runs all tests; stops at the first failure.
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
    test_programs::run(summary)?;
    // With the features of the test programs, so that nothing compiles twice.
    let arguments = format!("test --workspace --features {}", test_programs::OPTIONAL);
    let mut examples = cargo(&format!("{arguments} --doc --locked --no-fail-fast"));
    let (lines, outcome) = run_and_keep(&mut examples, is_summary);
    summary.push(shown(&examples));
    summary.extend(lines);
    outcome?;
    // The following steps test the library as users get it, without overflow checks and debug
    // assertions.
    no_std::run()?;
    summary.push("no-std: the library runs without std and without an allocator".into());
    summary.push(cortex_m4::run()?);
    summary.push(aarch64::run()?);
    summary.push(ct::run(&[])?);
    summary.push(residue::run()?);
    summary.push(fuzz::run(fuzz::SMOKE_SECONDS)?);
    Ok(())
}

/// Returns whether a line names a crate's examples or their result.
fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    ["Doc-tests ", "test result: ", "failures:"].iter().any(|start| line.starts_with(start))
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
            "   Doc-tests a",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
            "a/tests/b.rs: FAILED. 3 passed; 2 failed; 0 ignored (4 s)",
        ];
        assert_eq!(total(&summary.map(String::from)), "total: 15 passed; 2 failed; 1 ignored");
        assert!(is_summary(summary[0]) && is_summary(summary[1]));
        assert!(!is_summary("test machine::ct::masks ... ok"));
    }
}
