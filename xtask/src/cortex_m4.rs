//! The library on an emulated Cortex-M4: its kernels beside plain Rust, and known answers.

use crate::process::{Failure, output, program, say, shown, works};

const FOLDER: &str = "crates/cycloid-m4";
const TARGET: &str = "thumbv7em-none-eabihf";
const EMULATOR: &str = "qemu-system-arm";

/// Operations whose results are compared with known answers, apart from the slowest.
const OPERATIONS: &str = "rsa-verify p256-sign p256-verify p256-agree x25519-agree ed25519-sign \
                          ed25519-verify modexp:0:64 modexp:35:64";

/// Runs the programs, and returns a line for the summary. Without the emulator or the target, the
/// line says that nothing ran.
pub(crate) fn run() -> Result<String, Failure> {
    let libraries =
        output(&mut program("rustc", &format!("--print target-libdir --target {TARGET}")))?;
    let reason = if !works(&mut program(EMULATOR, "--version")) {
        "qemu-system-arm is missing (apt-get install qemu-system-arm)"
    } else if !std::path::Path::new(libraries.trim()).exists() {
        "the target is missing (rustup target add thumbv7em-none-eabihf)"
    } else {
        let compared = emulate("kernels", "")?;
        let answers = emulate("runner", OPERATIONS)?;
        let last = compared.lines().last().unwrap_or_default().to_owned();
        let right = answers.lines().count();
        return Ok(format!(
            "Cortex-M4: {last} with plain Rust; {right} operations with known answers"
        ));
    };
    say(format!("WARNING: the kernels for Armv7E-M are untested: {reason}"));
    Ok(format!("Cortex-M4: NOT RUN: {reason}"))
}

/// Builds a program and runs it; fails if it does.
fn emulate(name: &str, arguments: &str) -> Result<String, Failure> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = program(&cargo, &format!("build --release --locked --bin {name}"));
    // Its configuration, which names the target, is read in its folder only.
    build.current_dir(FOLDER).env_remove("CARGO_TARGET_DIR");
    crate::process::run(&mut build)?;
    let semihosting = ["enable=on,target=native,chardev=text,arg=", name];
    let arguments = arguments.split_whitespace().map(|argument| format!(",arg={argument}"));
    let semihosting = semihosting.concat() + &arguments.collect::<String>();
    let mut emulator = program(EMULATOR, "-M mps2-an386 -cpu cortex-m4 -nographic");
    // Without a device, QEMU writes the program's text to standard error.
    emulator.args(["-monitor", "none", "-serial", "none", "-chardev", "stdio,id=text"]);
    emulator.args(["-semihosting-config", &semihosting]);
    emulator.arg("-kernel").arg(format!("target/cortex-m4/{TARGET}/release/{name}"));
    say(shown(&emulator));
    output(&mut emulator)
}
