//! Runs every constant-time operation on memory marked as secret, and checks the results.
//!
//! Under valgrind's memcheck each branch and each address that depends on a secret is reported;
//! `cargo xtask ct` does that. By itself the program only checks the results. With `--plant` it
//! leaks on purpose, to show that valgrind would report it.

mod across;
mod check;
mod curve25519;
mod dh;
mod ec;
mod eight;
mod linear;
mod modular;
mod plant;
mod prime;
mod rsa;
mod rsa_decryption;
mod single;

use std::process::ExitCode;

use check::Check;
use cycloid::cpu::{self, Level};
use cycloid::machine::words::Backend;

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
    let levels: &[Level] = match arguments[..] {
        ["--plant", name] => {
            let plant = plant::ALL.iter().find(|plant| plant.0 == name);
            let plant = plant.ok_or_else(|| (format!("no leak `{name}` to plant"), USAGE))?;
            (plant.1)();
            return Ok(());
        }
        [] => &[Level::Portable],
        #[cfg(all(feature = "marks", target_arch = "x86_64"))]
        ["--adx"] => {
            // SAFETY: who passes the option has seen that this processor has BMI2, ADX and AVX2;
            // valgrind hides ADX in CPUID and executes it.
            unsafe { cpu::assume(Level::Adx) };
            &[Level::Portable, Level::Adx]
        }
        _ => return Err((format!("cannot read `{}`", arguments.join(" ")), USAGE)),
    };
    let mut check = Check::new();
    linear::run(&mut check);
    modular::inverses(&mut check);
    eight::run(&mut check);
    across::run(&mut check);
    rsa::batches(&mut check);
    curve25519::batches(&mut check);
    ec::batches(&mut check);
    for level in levels {
        // What follows chooses its backend by itself, or is given the same.
        cpu::limit(*level);
        if cpu::level() != *level {
            return Err((format!("this processor has no {}", level.name()), USAGE));
        }
        let backend = Backend::best();
        single::run(&mut check, backend);
        modular::run(&mut check, backend);
        modular::products(&mut check, backend);
        prime::run(&mut check, backend);
        rsa::run(&mut check, backend);
        rsa_decryption::run(&mut check, backend);
        dh::run(&mut check);
        curve25519::run(&mut check);
        ec::run(&mut check, backend.name());
    }
    check.finish().map_err(|error| (error, "an operation is named above"))
}
