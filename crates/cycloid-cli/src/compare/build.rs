//! Two revisions, two compilers or two sets of flags: built, and run in turns, process by process.
//!
//! Everything lies below `target/compare` of the repository: `build` (compiled crates, shared by
//! all revisions with the same compiler and flags), `programs` (one for each combination, which is
//! not built again), `runs` (the records of the last comparison, for `cycloid compare` to read
//! again).

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use cycloid_lab::Failure;
use cycloid_lab::compare::SIDES;
use cycloid_lab::record::Report;

use crate::output::Stop;

/// The revision that is the working tree as it is.
const WORKING_TREE: &str = ".";

/// What is measured unless it is said.
const USUAL: [&str; 1] = ["--quick"];

/// How revisions are built and run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --build")]
pub(crate) struct How {
    /// How often each of the two runs.
    #[arg(long, value_name = "N", default_value = "5", requires = "build")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// RUSTFLAGS of the first.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, requires = "build")]
    flags_a: Option<String>,

    /// RUSTFLAGS of the second.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, requires = "build")]
    flags_b: Option<String>,

    /// The compiler of the first, as rustup calls it.
    #[arg(long, value_name = "NAME", requires = "build")]
    toolchain_a: Option<String>,

    /// The compiler of the second.
    #[arg(long, value_name = "NAME", requires = "build")]
    toolchain_b: Option<String>,

    /// What `cycloid bench` is given, after -- [default: --quick].
    #[arg(last = true, value_name = "BENCH", requires = "build")]
    bench: Vec<String>,
}

/// Builds both revisions and runs them; the records of each.
pub(super) fn run(revisions: [&str; 2], how: &How) -> Result<[Vec<Report>; 2], Stop> {
    let root = PathBuf::from(git(Path::new("."), &["rev-parse", "--show-toplevel"])?);
    let place = root.join("target/compare");
    let program = |side: usize| {
        let (toolchain, flags) = [
            (how.toolchain_a.as_deref(), how.flags_a.as_deref()),
            (how.toolchain_b.as_deref(), how.flags_b.as_deref()),
        ][side];
        Build { root: &root, place: &place, toolchain, flags }.program(revisions[side])
    };
    let programs = [program(0)?, program(1)?];
    let runs = place.join("runs");
    // What an earlier comparison left is not of this one.
    let _ = fs::remove_dir_all(&runs);
    make_directory(&runs)?;
    let mut records = [Vec::new(), Vec::new()];
    for round in 1..=how.rounds {
        // Who begins alternates, so that neither always follows the other.
        let order = if round % 2 == 1 { [0, 1] } else { [1, 0] };
        for side in order {
            let name = SIDES[side];
            eprintln!("round {round} of {}: {name}", how.rounds);
            let text = measure(&programs[side], &how.bench)?;
            let path = runs.join(format!("{name}-{round}.json"));
            records[side].push(Report::from_json(&text, name).map_err(Stop::Failed)?);
            fs::write(&path, text)
                .map_err(|error| cannot(&format!("write {}", path.display()), &error))?;
        }
    }
    eprintln!("the records are in {}", runs.display());
    Ok(records)
}

/// How one side is built.
struct Build<'a> {
    root: &'a Path,
    place: &'a Path,
    toolchain: Option<&'a str>,
    flags: Option<&'a str>,
}

impl Build<'_> {
    /// The program of a revision, built if it is not there.
    fn program(&self, revision: &str) -> Result<PathBuf, Stop> {
        let variant = self.variant();
        let programs = self.place.join("programs");
        make_directory(&programs)?;
        if revision == WORKING_TREE {
            let program = programs.join(format!("working-tree{variant}"));
            self.build(self.root, &program)?;
            return Ok(program);
        }
        let object = format!("{revision}^{{commit}}");
        let commit = git(self.root, &["rev-parse", "--verify", "--quiet", &object])
            .map_err(|_| unknown(revision))?;
        let program = programs.join(format!("{commit}{variant}"));
        if program.exists() {
            return Ok(program);
        }
        let source = self.place.join("source");
        let text = source.to_string_lossy().into_owned();
        let remove = || git(self.root, &["worktree", "remove", "--force", &text]);
        // One may be left of a comparison that was stopped.
        let _ = remove();
        git(self.root, &["worktree", "add", "--detach", "--force", &text, &commit])?;
        let built = self.build(&source, &program);
        let removed = remove();
        built.and(removed.map(drop)).map(|()| program)
    }

    /// What tells programs of the same revision apart.
    fn variant(&self) -> String {
        if self.toolchain.is_none() && self.flags.is_none() {
            return String::new();
        }
        let mut hasher = DefaultHasher::new();
        (self.toolchain, self.flags).hash(&mut hasher);
        format!("-{:016x}", hasher.finish())
    }

    fn build(&self, source: &Path, program: &Path) -> Result<(), Stop> {
        let target = self.place.join(format!("build{}", self.variant()));
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--locked", "-p", "cycloid-cli", "--manifest-path"]);
        cargo.arg(source.join("Cargo.toml")).arg("--target-dir").arg(&target);
        if let Some(toolchain) = self.toolchain {
            cargo.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        if let Some(flags) = self.flags {
            cargo.env("RUSTFLAGS", flags);
        }
        let status = cargo.stdout(Stdio::null()).status();
        let status = status.map_err(|error| cannot("run cargo", &error))?;
        if !status.success() {
            return Err(Stop::Failed(Failure::new(
                format!("{} is not built ({status})", source.display()),
                "what cargo printed above says why",
            )));
        }
        let built = target.join(format!("release/cycloid{}", std::env::consts::EXE_SUFFIX));
        // Beside it first: one that was copied by half would count as built.
        let part = program.with_extension("part");
        fs::copy(&built, &part)
            .and_then(|_| fs::rename(&part, program))
            .map_err(|error| cannot(&format!("copy {}", built.display()), &error))
    }
}

/// The record that a program prints.
fn measure(program: &Path, arguments: &[String]) -> Result<String, Stop> {
    let mut command = Command::new(program);
    command.arg("bench");
    if arguments.is_empty() {
        command.args(USUAL);
    }
    command.args(arguments).arg("--json").stdin(Stdio::null()).stderr(Stdio::inherit());
    let output =
        command.output().map_err(|error| cannot(&format!("run {}", program.display()), &error))?;
    if !output.status.success() {
        return Err(Stop::Failed(Failure::new(
            format!("`cycloid bench {}` failed ({})", arguments.join(" "), output.status),
            "both revisions must know the suites and options after --",
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What git prints, without the last line break.
fn git(directory: &Path, arguments: &[&str]) -> Result<String, Stop> {
    let output = Command::new("git")
        .current_dir(directory)
        .args(arguments.iter().map(OsStr::new))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| cannot("run git", &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().into());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().last().unwrap_or("it does not say why").trim_start_matches("fatal: ");
    Err(Stop::Failed(Failure::new(
        format!("git {} failed: {said}", arguments[0]),
        "--build works within a git repository of this project",
    )))
}

fn unknown(revision: &str) -> Stop {
    Stop::Failed(Failure::new(
        format!("there is no revision '{revision}'"),
        "a branch, a tag or a commit; . is the working tree as it is",
    ))
}

fn make_directory(path: &Path) -> Result<(), Stop> {
    fs::create_dir_all(path).map_err(|error| cannot(&format!("make {}", path.display()), &error))
}

fn cannot(what: &str, error: &std::io::Error) -> Stop {
    Stop::Failed(Failure::new(
        format!("cannot {what}: {error}"),
        "see whether it is there, and may be used",
    ))
}
