//! `cargo xtask size`: the bytes that the library adds to a program, beside an empty one.
//!
//! The programs are those of `xtask/size`, compiled as cargo compiles for release, and stripped. A
//! program that is larger than its limit is an error.

use std::fs;

use crate::process::{Failure, Outcome, cargo, output, program, run as run_program};

/// The folder for what is built.
const BUILT: &str = "target/size";

/// The program without the library.
const EMPTY: &str = "empty";

/// The programs with the library, each with the most bytes that it may add to the file, for each of
/// [`COLUMNS`].
const PROGRAMS: [(&str, [u64; COLUMNS.len()]); 5] = [
    ("p256", [410_000, 172_000, 153_000]),
    ("rsa", [660_000, 237_000, 246_000]),
    ("bls12-381", [520_000, 336_000, 269_000]),
    ("ed25519", [370_000, 225_000, 185_000]),
    ("x25519", [250_000, 127_000, 113_000]),
];

/// Ways to compile the programs: a name, and options of cargo.
const COLUMNS: [(&str, &str); 3] = [
    ("the default features", ""),
    ("alloc, bls12-381, encoding, small-tables, the library as one unit of code", FEWEST),
    ("the same, the library at level s", SMALLEST),
];
/// How cargo splits the library into several units changes with every edit, and moves a size by up
/// to a twentieth.
const FEWEST: &str = "--no-default-features --features small-tables \
                      --config profile.release.package.cycloid.codegen-units=1";
const SMALLEST: &str = "--no-default-features --features small-tables \
                        --config profile.release.package.cycloid.codegen-units=1 \
                        --config profile.release.package.cycloid.opt-level=\"s\"";

/// The sections whose sizes are shown.
const SECTIONS: [&str; 2] = [".text", ".rodata"];

/// The sizes of a program, in bytes.
#[derive(Clone, Copy)]
struct Size {
    file: u64,
    sections: [u64; SECTIONS.len()],
}

/// Builds the programs and prints what the library adds to each.
pub(crate) fn run() -> Outcome {
    let mut too_large = Vec::new();
    for (i, (features, options)) in COLUMNS.into_iter().enumerate() {
        let build = "build --release --locked --bins --manifest-path xtask/size/Cargo.toml";
        run_program(&mut cargo(&format!("{build} --target-dir {BUILT} {options}")))?;
        println!("with {features}");
        println!("  {:12} {:>10} {:>10} {:>10}", "", "file", SECTIONS[0], SECTIONS[1]);
        let empty = measure(EMPTY)?;
        for (name, limits) in PROGRAMS {
            let size = measure(name)?;
            let file = size.file - empty.file;
            let sections: [u64; 2] =
                std::array::from_fn(|i| size.sections[i].saturating_sub(empty.sections[i]));
            println!("  {name:12} {file:>10} {:>10} {:>10}", sections[0], sections[1]);
            if file > limits[i] {
                too_large.push(format!("{name} with {features}: {file}, not {}", limits[i]));
            }
        }
    }
    if too_large.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("more bytes than allowed:\n  {}", too_large.join("\n  "))).hint(
        "find the code with: nm --size-sort --print-size --demangle target/size/release/NAME",
    ))
}

/// Strips a program and measures it.
fn measure(name: &str) -> Result<Size, Failure> {
    let built = format!("{BUILT}/release/{name}");
    let stripped = format!("{BUILT}/{name}");
    output(program("strip", "-o").args([&stripped, &built]))?;
    let file = fs::metadata(&stripped)
        .map_err(|error| Failure::new(format!("cannot read {stripped}: {error}")))?
        .len();
    let listed = output(program("size", "-A").arg(&stripped))?;
    let sections = SECTIONS.map(|section| bytes_of(section, &listed));
    match sections {
        [Some(text), Some(constants)] => Ok(Size { file, sections: [text, constants] }),
        _ => Err(Failure::new(format!("`size -A {stripped}` shows no sections"))),
    }
}

/// Returns the size of a section in the output of `size -A`: lines with name, size and address.
fn bytes_of(section: &str, listed: &str) -> Option<u64> {
    let mut lines = listed.lines().map(str::split_whitespace);
    lines.find_map(|mut line| {
        (line.next() == Some(section)).then(|| line.next()?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found() {
        let listed = "target/size/p256  :\nsection     size     addr\n.text       1234     4096\n\
                      .rodata      567    65536\nTotal       1801\n";
        assert_eq!(bytes_of(".text", listed), Some(1234));
        assert_eq!(bytes_of(".rodata", listed), Some(567));
        assert_eq!(bytes_of(".data", listed), None);
        assert_eq!(bytes_of(".text", ""), None);
    }
}
