//! `cargo xtask no-std`: links the library into a program without std and without an allocator.
//!
//! If the library or one of its dependencies used `alloc`, an allocator would be missing; if one
//! used `std`, the panic handler would be defined twice. So a successful build is the proof, and
//! running the program shows that it works.

use crate::process::{Failure, cargo, output, program, run as run_program};

const PROGRAM: &str = "target/no-std/debug/no-std";

/// Builds and runs the program, and checks the library for all installed targets without std, of
/// which `cargo xtask cortex-m4` generates code. Returns its summary.
pub(crate) fn run() -> Result<String, Failure> {
    let build = "build --locked --manifest-path xtask/no-std/Cargo.toml --target-dir target/no-std";
    run_program(&mut cargo(build))?;
    run_program(&mut program(PROGRAM, ""))?;
    let binary = std::fs::read(PROGRAM)
        .map_err(|error| Failure::new(format!("cannot read {PROGRAM}: {error}")))?;
    // The names of imported functions are in the program as text, each after a zero byte.
    let imports = |name: &str| {
        let name = [b"\0", name.as_bytes(), b"\0"].concat();
        binary.windows(name.len()).any(|window| window == name)
    };
    if let Some(name) =
        ["malloc", "calloc", "realloc", "posix_memalign"].into_iter().find(|n| imports(n))
    {
        return Err(Failure::new(format!("the program without a heap imports `{name}`")));
    }
    for target in bare_targets()? {
        run_program(cargo("check -p cycloid --locked --target").arg(target))?;
    }
    Ok("no-std: the library runs without std and without an allocator".to_owned())
}

/// Returns the targets without an operating system that this toolchain has.
fn bare_targets() -> Result<Vec<String>, Failure> {
    let folder = output(&mut program("rustc", "--print target-libdir"))?;
    let targets = std::path::Path::new(folder.trim()).join("../..");
    let entries = std::fs::read_dir(&targets)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", targets.display())))?;
    // Beside each target's folder there is a file with its manifest.
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.contains("-none")).collect())
}
