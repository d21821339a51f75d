//! `cargo xtask ct`: every constant-time operation under valgrind, with secrets marked undefined.
//!
//! Memcheck reports each branch and each address that depends on undefined memory. That it would
//! is shown in the same run: leaks that are planted on purpose must be reported.

use crate::process::{Failure, cargo, program, run as run_program, say, shown, status};

const PROGRAM: &str = "target/release/cycloid-ct";

/// The exit code that valgrind gives when it has reported something; the program has no such one.
const REPORTED: i32 = 99;

/// The leaks that the program can plant.
const PLANTS: [&str; 4] = ["branch", "index", "exponent", "window"];

/// Builds the program and runs it: by itself, under valgrind, and once with each planted leak.
pub(crate) fn run() -> Result<String, Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new("the marks for valgrind are written for x86-64 only")
            .hint("run this on an x86-64 machine"));
    }
    run_program(&mut cargo("build --release --locked -p cycloid-ct --features marks"))?;
    let backends = backends();
    run_program(&mut program(PROGRAM, backends))?;
    match status(&mut valgrind(backends))?.code() {
        Some(0) => {}
        Some(REPORTED) => {
            return Err(Failure::new("a branch or an address depends on a secret")
                .hint("valgrind's report above names the line"));
        }
        _ => {
            return Err(Failure::new("the constant-time program failed under valgrind"));
        }
    }
    for plant in PLANTS {
        let mut planted = valgrind(&format!("--plant {plant}"));
        say(shown(&planted));
        let output = planted
            .output()
            .map_err(|error| Failure::new(format!("cannot run valgrind: {error}")))?;
        let report = String::from_utf8_lossy(&output.stderr);
        let first = report.lines().find_map(|line| line.strip_prefix("==")?.split_once("== "));
        if output.status.code() != Some(REPORTED) || first.is_none() {
            eprint!("{report}");
            return Err(Failure::new(format!(
                "valgrind does not report the planted leak `{plant}`"
            ))
            .hint("its silence above proves nothing until it does; see cycloid::machine::ct"));
        }
        let (_, said) = first.unwrap_or_default();
        eprintln!("reported, as it must be: {said}");
    }
    let plants = PLANTS.join(", ");
    let backends = if backends.is_empty() { "portable" } else { "portable and adx" };
    let summary = format!("ct: {backends} clean under valgrind; planted leaks reported: {plants}");
    say(&summary);
    Ok(summary)
}

/// Valgrind hides ADX in CPUID and executes it all the same, so the program is told from outside.
fn backends() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("adx")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("avx2")
    {
        return "--adx";
    }
    say("this processor has no ADX: the ADX code is not run");
    ""
}

fn valgrind(arguments: &str) -> std::process::Command {
    let mut command =
        program("valgrind", "--tool=memcheck --quiet --leak-check=no --num-callers=8");
    command.arg(format!("--error-exitcode={REPORTED}")).arg(PROGRAM);
    command.args(arguments.split_whitespace());
    command
}
