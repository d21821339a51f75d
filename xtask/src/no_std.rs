//! `cargo xtask no-std`: the library in a program that has no std and no allocator.
//!
//! If the library or one of its dependencies used `alloc`, the compiler would miss an allocator;
//! if one used `std`, the panic handler would be there twice. So building is the proof, and
//! running it shows that the program is a real one.

use crate::process::{Failure, Outcome, cargo, program, run as run_program, say};

const PROGRAM: &str = "target/no-std/release/no-std";

/// Builds and runs the program; for the targets without std that are installed, builds the library.
pub(crate) fn run() -> Outcome {
    let build = "build --release --locked --manifest-path xtask/no-std/Cargo.toml --target-dir target/no-std";
    run_program(&mut cargo(build))?;
    run_program(&mut program(PROGRAM, ""))?;
    let binary = std::fs::read(PROGRAM)
        .map_err(|error| Failure::new(format!("cannot read {PROGRAM}: {error}")))?;
    // The names that a program imports stand in it as text, each behind a zero byte.
    let imports = |name: &str| {
        let name = [b"\0", name.as_bytes(), b"\0"].concat();
        binary.windows(name.len()).any(|window| window == name)
    };
    if let Some(name) = ["malloc", "calloc", "realloc", "posix_memalign"]
        .into_iter()
        .find(|n| imports(n))
    {
        return Err(Failure::new(format!(
            "the program without a heap imports `{name}`"
        )));
    }
    say("no std, no allocator: built, run, and imports no malloc");
    Ok(())
}
