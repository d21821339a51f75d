//! Runs every constant-time operation on memory marked as secret, and checks the results.
//!
//! Under valgrind's memcheck each branch and each address that depends on a secret is reported;
//! `cargo xtask ct` does that. By itself the program only checks the results. With `--plant` it
//! leaks on purpose, to show that valgrind would report it.

mod across;
mod check;
mod eight;
mod linear;
mod modular;
mod plant;
mod single;
mod valgrind;

use std::process::ExitCode;

use check::Check;
use cycloid::machine::words::{Backend, Portable};

const USAGE: &str = "cycloid-ct [--adx] | --plant branch|index|exponent|window";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err((error, hint)) => {
            eprintln!("error: {error}\nhint: {hint}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), (String, &'static str)> {
    if !cfg!(feature = "marks") {
        let error = "built without the marks that valgrind reads";
        return Err((error.into(), "`cargo xtask ct` builds it with the feature `marks`"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let backends = match arguments[..] {
        ["--plant", name] => {
            let plant = plant::ALL.iter().find(|plant| plant.0 == name);
            let plant = plant.ok_or_else(|| (format!("no leak `{name}` to plant"), USAGE))?;
            (plant.1)();
            return Ok(());
        }
        [] => vec![Backend::Portable(Portable)],
        #[cfg(target_arch = "x86_64")]
        ["--adx"] => {
            // SAFETY: who passes the option has seen that this processor has BMI2, ADX and AVX2;
            // valgrind hides ADX in CPUID and executes it.
            let adx = unsafe { cycloid::machine::cpu::Adx::assume() };
            vec![Backend::Portable(Portable), Backend::Adx(adx)]
        }
        _ => return Err((format!("cannot read `{}`", arguments.join(" ")), USAGE)),
    };
    let mut check = Check::new();
    linear::run(&mut check);
    for backend in backends {
        single::run(&mut check, backend);
        modular::run(&mut check, backend);
    }
    modular::inverses(&mut check);
    modular::products(&mut check);
    eight::run(&mut check);
    across::run(&mut check);
    check.finish().map_err(|error| (error, "an operation is named above"))
}
