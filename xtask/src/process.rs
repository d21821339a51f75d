//! Runs programs: prints each before it runs, and names it if it fails.

use std::fmt::{Display, Formatter, Write as _};
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A problem, and a hint for its solution.
#[derive(Debug)]
pub(crate) struct Failure {
    error: String,
    hint: Option<String>,
}

/// The result of a command of this program.
pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", self.error)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// Prints the current action on stderr.
pub(crate) fn say(what: impl Display) {
    eprintln!("==> {what}");
}

/// Makes the root of the workspace the current directory.
pub(crate) fn go_to_root() -> Outcome {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = manifest.parent().unwrap_or(manifest);
    std::env::set_current_dir(root)
        .map_err(|error| Failure::new(format!("cannot enter {}: {error}", root.display())))
}

/// Returns the command for the cargo that started this program, with `arguments` split at spaces.
pub(crate) fn cargo(arguments: &str) -> Command {
    program(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), arguments)
}

/// Returns cargo's target directory.
pub(crate) fn target_folder() -> Result<String, Failure> {
    let metadata = output(&mut cargo("metadata --no-deps --format-version 1"))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    Ok(metadata["target_directory"].as_str().unwrap_or("target").into())
}

/// Returns the command for a program, with `arguments` split at spaces.
pub(crate) fn program(name: &str, arguments: &str) -> Command {
    let mut command = Command::new(name);
    command.args(arguments.split_whitespace());
    command
}

/// Runs `command`; fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = status(command)?;
    succeeded(&shown(command), status)
}

/// Runs `command` and returns its exit status.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, Failure> {
    say(shown(command));
    command.status().map_err(|error| cannot_run(command, &error))
}

/// Returns whether `command` exists and succeeds, silently.
pub(crate) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Runs `command` silently and returns its standard output; fails unless it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| cannot_run(command, &error))?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    succeeded(&shown(command), output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command` and returns both its output streams in order, and whether it succeeded.
///
/// After `limit` the command has failed: its output then ends with its processes, which are
/// killed.
pub(crate) fn read_within(
    command: &mut Command,
    limit: Duration,
) -> Result<(String, bool), Failure> {
    let (reader, mut child) = spawn_into_pipe(command)?;
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(reader).split(b'\n').map_while(Result::ok);
        lines.into_iter().try_for_each(|line| sender.send(line))
    });
    let deadline = Instant::now() + limit;
    let mut output = String::new();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                output.push_str(&String::from_utf8_lossy(&line));
                output.push('\n');
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = writeln!(output, "error: not ended after {} s", limit.as_secs());
                for (id, process) in descendants(child.id()) {
                    output.push_str(&process);
                    output.push('\n');
                    works(&mut program("kill", &format!("-KILL {id}")));
                }
                let _ = child.kill();
                let _ = child.wait();
                return Ok((output, false));
            }
        }
    }
    let status = child.wait().map_err(|error| cannot_run(command, &error))?;
    Ok((output, status.success()))
}

/// Returns the processes that `ancestor` and its descendants have started, each with its line of
/// `ps`, the oldest generation first; none if there is no `ps`.
fn descendants(ancestor: u32) -> Vec<(u32, String)> {
    let ps = program("ps", "-e -o pid=,ppid=,etimes=,args=").output();
    let table = ps.map_or(String::new(), |ps| String::from_utf8_lossy(&ps.stdout).into_owned());
    let mut generation = vec![ancestor];
    let mut found = Vec::new();
    while !generation.is_empty() {
        let mut next = Vec::new();
        for line in table.lines() {
            let mut numbers = line.split_whitespace().map(str::parse::<u32>);
            if let (Some(Ok(id)), Some(Ok(parent))) = (numbers.next(), numbers.next())
                && generation.contains(&parent)
            {
                next.push(id);
                found.push((id, line.to_owned()));
            }
        }
        generation = next;
    }
    found
}

/// Runs `command`, passes on both its output streams in order, and returns the lines for which
/// `wanted` is true.
pub(crate) fn run_and_keep(
    command: &mut Command,
    wanted: impl Fn(&str) -> bool,
) -> (Vec<String>, Outcome) {
    let mut kept = Vec::new();
    let name = shown(command);
    say(&name);
    let status = read_lines(command, |line| {
        println!("{line}");
        if wanted(line) {
            kept.push(line.to_owned());
        }
    });
    let _ = std::io::stdout().flush();
    (kept, status.and_then(|status| succeeded(&name, status)))
}

/// Runs `command` with both its output streams in one pipe, and calls `each` with every line.
fn read_lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus, Failure> {
    let (reader, mut child) = spawn_into_pipe(command)?;
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.map_err(|error| {
            Failure::new(format!("cannot read from {}: {error}", shown(command)))
        })?;
        each(&String::from_utf8_lossy(&line));
    }
    child.wait().map_err(|error| cannot_run(command, &error))
}

/// Starts `command` with both its output streams in one pipe, and returns the pipe's other end.
fn spawn_into_pipe(command: &mut Command) -> Result<(PipeReader, Child), Failure> {
    let pipe = |error| Failure::new(format!("cannot make a pipe: {error}"));
    let (reader, writer) = std::io::pipe().map_err(pipe)?;
    command.stdout(writer.try_clone().map_err(pipe)?).stderr(writer);
    let child = command.spawn().map_err(|error| cannot_run(command, &error))?;
    // The command holds the writing ends; while they are open, reading would not end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok((reader, child))
}

/// Formats the command as typed in a shell, with the variables that it sets.
pub(crate) fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program());
    let name = name.file_name().unwrap_or(command.get_program());
    let variables = command.get_envs().filter_map(|(key, value)| {
        let (key, value) = (key.to_string_lossy(), value?.to_string_lossy());
        Some(if value.contains(' ') {
            format!("{key}='{value}'")
        } else {
            format!("{key}={value}")
        })
    });
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words = variables.chain([name.to_string_lossy().into_owned()]).chain(arguments);
    words.collect::<Vec<_>>().join(" ")
}

fn succeeded(name: &str, status: ExitStatus) -> Outcome {
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{name}` failed ({status})")).hint("see its output above"))
}

pub(crate) fn cannot_run(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot run `{}`: {error}", shown(command)))
        .hint("on Debian, `cargo xtask test` as root installs missing packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let failure = run(&mut program("false", "a b")).unwrap_err().to_string();
        assert!(failure.contains("`false a b` failed"), "{failure}");
        let failure = run(&mut program("no-such-program", "")).unwrap_err().to_string();
        assert!(failure.starts_with("error: cannot run `no-such-program`"), "{failure}");
    }

    #[test]
    fn lines_of_both_streams_are_kept() {
        let mut command = program("sh", "");
        command.args(["-c", "echo yes 1; echo no; echo yes 2 >&2; exit 3"]);
        let (kept, outcome) = run_and_keep(&mut command, |line| line.starts_with("yes"));
        assert_eq!(kept, ["yes 1", "yes 2"]);
        assert!(outcome.is_err());
    }

    #[test]
    fn a_command_that_does_not_end_fails_with_its_processes() {
        let mut command = program("sh", "");
        command.args(["-c", "echo begun; sleep 1000 & wait"]);
        let begin = Instant::now();
        let (output, success) = read_within(&mut command, Duration::from_secs(1)).unwrap();
        assert!(!success && begin.elapsed() < Duration::from_secs(500));
        assert!(output.starts_with("begun\nerror: not ended after 1 s\n"), "{output}");
        assert!(output.contains("sleep 1000"), "{output}");
        let (output, success) =
            read_within(&mut program("echo", "end"), Duration::from_secs(500)).unwrap();
        assert_eq!((output.as_str(), success), ("end\n", true));
    }
}
