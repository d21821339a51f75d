//! Builds two revisions, compilers or sets of flags, and runs them alternately in separate
//! processes.
//!
//! All files lie below `target/compare` in the repository: `build` (compiled crates, shared by all
//! revisions with the same compiler and flags), `programs` (one per combination, built once),
//! `runs` (the records of the last comparison, which `cycloid compare` can read again).

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use cycloid_lab::Failure;
use cycloid_lab::record::Report;
use cycloid_report::compare::SIDES;

use cycloid_command::Stop;

/// The name of the working tree in place of a revision.
const WORKING_TREE: &str = ".";

/// The default arguments of `cycloid bench`.
const USUAL: [&str; 1] = ["--quick"];

/// The options for building and running revisions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --build")]
pub(crate) struct How {
    /// Number of runs of each side.
    #[arg(long, value_name = "N", default_value = "5", requires = "build")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// RUSTFLAGS of the first side.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, requires = "build")]
    flags_a: Option<String>,

    /// RUSTFLAGS of the second side.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, requires = "build")]
    flags_b: Option<String>,

    /// The first side's rustup toolchain.
    #[arg(long, value_name = "NAME", requires = "build")]
    toolchain_a: Option<String>,

    /// The second side's rustup toolchain.
    #[arg(long, value_name = "NAME", requires = "build")]
    toolchain_b: Option<String>,

    /// Arguments for `cycloid bench`, after -- [default: --quick].
    #[arg(last = true, value_name = "BENCH", requires = "build")]
    bench: Vec<String>,
}

/// Builds both revisions, runs them, and returns the records of each.
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
    // Records of an earlier comparison must not mix with this one's.
    let _ = fs::remove_dir_all(&runs);
    make_directory(&runs)?;
    let mut records = [Vec::new(), Vec::new()];
    for round in 1..=how.rounds {
        // The order alternates, so that neither side always runs second.
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

/// The build settings of one side.
struct Build<'a> {
    root: &'a Path,
    place: &'a Path,
    toolchain: Option<&'a str>,
    flags: Option<&'a str>,
}

impl Build<'_> {
    /// Returns the program of a revision, and builds it if it does not exist.
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
        // An interrupted comparison may have left a worktree.
        let _ = remove();
        git(self.root, &["worktree", "add", "--detach", "--force", &text, &commit])?;
        let built = self.build(&source, &program);
        let removed = remove();
        built.and(removed.map(drop)).map(|()| program)
    }

    /// Returns a suffix that distinguishes programs of the same revision.
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
        // The program with every peer; earlier revisions have one program.
        let (package, name) = match source.join("crates/cycloid-peers").exists() {
            true => ("cycloid-peers", "cycloid-peers"),
            false => ("cycloid-cli", "cycloid"),
        };
        cargo.args(["build", "--release", "--locked", "-p", package, "--manifest-path"]);
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
                format!("building {} failed ({status})", source.display()),
                "see cargo's output above",
            )));
        }
        let built = target.join(format!("release/{name}{}", std::env::consts::EXE_SUFFIX));
        // Copied under another name first: a half-copied program would count as built.
        let part = program.with_extension("part");
        fs::copy(&built, &part)
            .and_then(|_| fs::rename(&part, program))
            .map_err(|error| cannot(&format!("copy {}", built.display()), &error))
    }
}

/// Runs a program, and returns the record that it prints.
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

/// Runs git, and returns its output without trailing white space.
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
    let said = said.lines().last().unwrap_or("no reason given").trim_start_matches("fatal: ");
    Err(Stop::Failed(Failure::new(
        format!("git {} failed: {said}", arguments[0]),
        "run --build inside a git repository of this project",
    )))
}

fn unknown(revision: &str) -> Stop {
    Stop::Failed(Failure::new(
        format!("unknown revision '{revision}'"),
        "give a branch, a tag or a commit; . is the working tree",
    ))
}

fn make_directory(path: &Path) -> Result<(), Stop> {
    fs::create_dir_all(path).map_err(|error| cannot(&format!("make {}", path.display()), &error))
}

fn cannot(what: &str, error: &std::io::Error) -> Stop {
    Stop::Failed(Failure::new(
        format!("cannot {what}: {error}"),
        "check that it exists and is accessible",
    ))
}
