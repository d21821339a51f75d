//! A temporary keystore and its daemon, in processes of their own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use cycloid_command::{Stop, output};
use cycloid_lab::suite::hsm::Keystore;
use cycloid_lab::suite::hsm::driver::{OFFICER_PIN, USER_PIN};

use super::temporary::{Directory, Killed, Starter, cannot};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The HSM's program.
    program: PathBuf,

    /// Number of keys in the keystore at the start.
    #[arg(long, default_value_t = 0)]
    keys: usize,

    /// How often the daemon is started.
    #[arg(long, default_value_t = 1)]
    starts: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Stop> {
    let starter = Starter::watch()?;
    let directory = Directory::new()?;
    let hsm = Hsm { program: &arguments.program, home: directory.path() };
    for (name, pin) in [("officer", OFFICER_PIN), ("user", USER_PIN)] {
        fs::write(hsm.home.join(name), pin).map_err(|error| cannot("write a file", &error))?;
    }
    hsm.finish("init --label bench --officer-pin-file officer --pin-file user")?;
    if arguments.keys > 0 {
        let daemon = hsm.serve()?;
        hsm.finish("key generate p-256 --label key --pin-file user --socket socket")?;
        drop(daemon);
        starter.is_there()?;
        hsm.finish(&format!("multiply {}", arguments.keys))?;
    }
    let mut start_seconds = Vec::new();
    let mut daemon = None;
    for _ in 0..arguments.starts.max(1) {
        starter.is_there()?;
        drop(daemon.take());
        let started = Instant::now();
        daemon = Some(hsm.serve()?);
        start_seconds.push(started.elapsed().as_secs_f64());
    }
    let daemon = daemon.expect("it was started");
    let place = Keystore {
        directory: hsm.home.into(),
        socket: hsm.home.join("socket"),
        daemon: daemon.0.id(),
        start_seconds,
    };
    output::print(&(serde_json::to_string(&place).expect("it is data") + "\n"))?;
    starter.wait();
    Ok(())
}

/// The HSM's program, and the directory of the temporary keystore.
struct Hsm<'a> {
    program: &'a Path,
    home: &'a Path,
}

impl Hsm<'_> {
    /// Returns a command in the keystore's directory, with its arguments split at spaces.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments.split(' ')).arg("--home").arg(self.home);
        command.current_dir(self.home).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    fn finish(&self, arguments: &str) -> Result<(), Stop> {
        let output = self.command(arguments).output();
        let output = output.map_err(|error| cannot("start the HSM's program", &error))?;
        if output.status.success() {
            return Ok(());
        }
        let name = arguments.split(' ').next().unwrap_or_default();
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.lines().next().unwrap_or_default();
        Err(Stop::failed(
            format!("cycloid-hsm {name} failed: {}", message.trim_start_matches("error: ")),
            "use the same version of cycloid and cycloid-hsm",
        ))
    }

    /// Starts a daemon, and waits until it listens.
    fn serve(&self) -> Result<Killed, Stop> {
        let mut command = self.command("serve --socket socket");
        let child = command.stdout(Stdio::piped()).spawn();
        let mut daemon = Killed(child.map_err(|error| cannot("start the daemon", &error))?);
        let mut line = String::new();
        let said = daemon.0.stdout.take().expect("it was asked for");
        let _ = BufReader::new(said).read_line(&mut line);
        match line.starts_with("listening") {
            true => Ok(daemon),
            false => Err(Stop::failed("the daemon did not start", "its message is above")),
        }
    }
}
