//! Runs every operation that uses a secret, on every backend of the processor, and then searches
//! the memory of the process that ran it for residue: eight bytes of a secret, or of a value that
//! reveals one, on the dead stack, in registers, on the heap or in any other writable memory. Also
//! measures stack use.
//!
//! Run `cargo run --release --locked -p cycloid-residue`, with a part of a name to select
//! operations.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod check;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod live_values;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod needles;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod pipe;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod protocol;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod search;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod stop;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod subject;

use std::process::ExitCode;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn main() -> ExitCode {
    use cycloid::cpu::Level;

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--subject", level] => {
            subject::run(Level::from_name(level).expect("the argument is the name of a level"));
            return ExitCode::SUCCESS;
        }
        ["--stack"] => check::stack_use("").map(|()| String::new()),
        ["--stack", part] => check::stack_use(part).map(|()| String::new()),
        [] => check::run(""),
        [part] if !part.starts_with('-') => check::run(part),
        _ => Err("usage: cycloid-residue [--stack] [PART OF A NAME]".into()),
    };
    match outcome {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn main() -> ExitCode {
    eprintln!("searching memory needs Linux on x86-64");
    ExitCode::SUCCESS
}
