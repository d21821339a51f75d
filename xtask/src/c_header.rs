//! The header of libcycloid, made from the sources of `crates/cycloid-c`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Failure, Outcome, say};

const FOLDER: &str = "crates/cycloid-c";
const HEADER: &str = "crates/cycloid-c/include/cycloid.h";

/// The order of the modules in the header; those of a folder follow their module.
const MODULES: [&str; 23] = [
    "error",
    "hash",
    "random",
    "ec",
    "ecdsa",
    "ecdh",
    "point",
    "ed25519",
    "x25519",
    "rsa",
    "rsa/private",
    "rsa/public",
    "rsa/sign",
    "rsa/verify",
    "rsa/encrypt",
    "rsa/batch",
    "dh",
    "bls",
    "bls/keys",
    "bls/signatures",
    "bls/lists",
    "bls/points",
    "curve_batch",
];

/// Writes the header, or with `check` compares it with the existing one.
pub(crate) fn run(check: bool) -> Outcome {
    say("the C header");
    let header = header()?;
    if !check {
        return fs::write(HEADER, header)
            .map_err(|error| Failure::new(format!("cannot write {HEADER}: {error}")));
    }
    if fs::read_to_string(HEADER).unwrap_or_default() != header {
        return Err(Failure::new(format!("the sources differ from {HEADER}"))
            .hint("run `cargo xtask tables`"));
    }
    eprintln!("{} lines, as in the sources", header.lines().count());
    Ok(())
}

fn header() -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("cbindgen: {error}"));
    let folder = Path::new(FOLDER);
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))
        .map_err(|error| failed(&error))?;
    check_modules(&folder.join("src"))?;
    let builder =
        MODULES.iter().fold(cbindgen::Builder::new().with_config(config), |builder, name| {
            builder.with_src(folder.join("src").join(name).with_extension("rs"))
        });
    let mut written = Vec::new();
    builder.generate().map_err(|error| failed(&error))?.write(&mut written);
    let text = String::from_utf8(written).map_err(|error| failed(&error))?;
    // Headings of Rust's documentation, and its marks for code, are for Rust.
    let lines = text.lines().map(|line| match line.trim_end() {
        "// # Safety" => "// Requirements:",
        line => line,
    });
    let header: String = lines.map(|line| line.replace('`', "") + "\n").collect();
    match declared_twice(&header) {
        None => Ok(header),
        Some(name) => Err(Failure::new(format!("{name} is twice in the header"))
            .hint("cbindgen looks for `mod x` of a/b.rs in a/x.rs: give the modules other names")),
    }
}

/// Returns a function that a header declares twice.
fn declared_twice(header: &str) -> Option<&str> {
    let starts = header.lines().filter(|line| line.starts_with(|it: char| it.is_alphabetic()));
    let functions = starts.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let mut seen = std::collections::HashSet::new();
    functions.into_iter().find(|name| !seen.insert(*name))
}

/// Returns an error for a source file with functions for C that the header lacks.
fn check_modules(sources: &Path) -> Outcome {
    let mut folders = vec![sources.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name: PathBuf = path.strip_prefix(sources).unwrap_or(&path).with_extension("");
            let known = MODULES.iter().any(|module| Path::new(module) == name);
            if text.contains("#[unsafe(no_mangle)]") && !known {
                return Err(Failure::new(format!("{} is not in the header", path.display()))
                    .hint("add the module to MODULES in xtask/src/c_header.rs"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_declaration_is_found() {
        let first = "// f(1)\nint f(int a,\n      int b);\nconst char *g(void);\n";
        assert_eq!(declared_twice(first), None);
        assert_eq!(declared_twice(&format!("{first}char *g(void);\n")), Some("g"));
        assert_eq!(declared_twice(&format!("{first}int f(int a,\n")), Some("f"));
        assert_eq!(declared_twice(&fs::read_to_string(format!("../{HEADER}")).unwrap()), None);
    }
}
