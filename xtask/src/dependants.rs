//! `cargo xtask dependants`: the test suites of programs that use blst, unchanged, on the libblst
//! that `cargo xtask install --blst` installs.

use std::path::{Path, PathBuf};

use crate::install::{install_blst, package_folder};
use crate::process::{Failure, Outcome, cargo, output, program, run, say, target_folder};

/// Installs libblst below the target directory, and runs the suites on it.
pub(crate) fn run_all() -> Outcome {
    let root = PathBuf::from(target_folder()?).join("dependants");
    let prefix = root.join("prefix");
    install_blst(&prefix)?;
    crate_blst(&root, &prefix)?;
    c_kzg(&root, &prefix)?;
    say("dependants: the suites of the crate blst and of c-kzg pass on Cycloid's libblst");
    Ok(())
}

/// The crate `blst`: cargo's configuration replaces its build script, which would compile blst.
fn crate_blst(root: &Path, prefix: &Path) -> Outcome {
    let copy = fresh_copy(root, "blst")?;
    let configuration = root.join("blst.toml");
    write(&configuration, &build_script(&host()?, prefix))?;
    let mut test = cargo("test --release --locked --lib --config");
    test.arg(&configuration).arg("--target-dir").arg(root.join("target"));
    run(test.current_dir(copy))
}

/// Returns the part of cargo's configuration that links libblst for the crate `blst`.
fn build_script(host: &str, prefix: &Path) -> String {
    let library = prefix.join("lib");
    format!(
        "[target.{host}.blst]\nrustc-link-search = [\"native={}\"]\n\
         rustc-link-lib = [\"static=blst\"]\nrustc-cfg = ['feature=\"std\"']\n",
        library.display()
    )
}

/// Returns the target that cargo compiles for.
fn host() -> Result<String, Failure> {
    let version = output(&mut program("rustc", "-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc names no host"))
}

/// c-kzg: its tests in C, with its own sources and blst's header.
fn c_kzg(root: &Path, prefix: &Path) -> Outcome {
    let copy = fresh_copy(root, "c-kzg")?;
    let mut compile = program("cc", "-O2 -w -I. -o tests test/tests.c");
    compile.arg("-I").arg(prefix.join("include")).arg(prefix.join("lib/libblst.a"));
    let source = copy.join("src");
    run(compile.args(["-lpthread", "-ldl", "-lm"]).current_dir(&source))?;
    let tests = source.join("tests");
    run(program(&tests.to_string_lossy(), "").current_dir(source))
}

/// Copies a package of the registry, whose files are not written to.
fn fresh_copy(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    let copy = root.join(name);
    run(program("rm", "-rf").arg(&copy))?;
    run(program("cp", "-R").arg(package_folder(name)?).arg(&copy))?;
    Ok(copy)
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_links_the_static_library_and_compiles_for_std() {
        let text = build_script("x86_64-unknown-linux-gnu", Path::new("/p"));
        assert!(text.starts_with("[target.x86_64-unknown-linux-gnu.blst]\n"));
        assert!(text.contains("rustc-link-search = [\"native=/p/lib\"]\n"));
        assert!(text.ends_with("rustc-cfg = ['feature=\"std\"']\n"));
    }
}
