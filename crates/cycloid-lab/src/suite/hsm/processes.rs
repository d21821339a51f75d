//! The processes of a run: a temporary keystore with its daemon, and a driver for each module.
//!
//! The program starts itself for each of them, so that the modules do not share a process, and a
//! crash of a peer ends only its own driver. Each process removes its temporary files as soon as
//! its standard input ends, which happens when [`Processes`] is dropped or this process ends for
//! whatever reason.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::driver::{Answer, Order};
use crate::process::Process;
use crate::{Failure, programs};

/// The first message of a process that keeps a temporary keystore and its daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Keystore {
    /// A directory that is removed at the end.
    pub directory: PathBuf,
    /// The socket that the daemon listens on.
    pub socket: PathBuf,
    /// The daemon's process ID.
    pub daemon: u32,
    /// The time from start to listening, for each start of the daemon.
    pub start_seconds: Vec<f64>,
}

/// A driver, and the version of its module.
pub(super) struct Driver {
    process: Process,
    name: String,
    /// The module's version.
    pub(super) version: String,
}

impl Driver {
    fn start(name: &str, command: &mut Command) -> Result<Self, Failure> {
        let failed = |message: String| failed(name, &message);
        let mut process = Process::start(command).map_err(failed)?;
        match process.hear().map_err(failed)? {
            Answer::Ready { library, version } => {
                Ok(Self { process, name: name.into(), version: format!("{library} {version}") })
            }
            Answer::Failed { message } => Err(failed(message)),
            _ => Err(failed("unexpected response".into())),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn order(&mut self, order: &Order) -> Result<Answer, Failure> {
        let line = serde_json::to_string(order).expect("orders are plain data");
        match self.process.say(&line).and_then(|()| self.process.hear()) {
            Ok(Answer::Failed { message }) | Err(message) => Err(failed(&self.name, &message)),
            Ok(answer) => Ok(answer),
        }
    }
}

fn failed(name: &str, message: &str) -> Failure {
    Failure::new(
        format!("cannot measure the HSM with {name}: {message}"),
        "use programs and a module of one version",
    )
}

/// A daemon with a temporary keystore, and how to reach it.
pub(super) struct Processes {
    /// Keeps the temporary files until it is dropped.
    _keeper: Process,
    pub(super) place: Keystore,
}

impl Processes {
    /// Starts a daemon this many times, with this many initial keys in the keystore.
    pub(super) fn new(keys: usize, starts: usize) -> Result<Self, Failure> {
        let [keys, starts] = [keys, starts].map(|number| number.to_string());
        let mut command = Command::new(programs::own()?);
        command.arg("helper").arg("keystore").arg(programs::find(programs::HSM)?);
        command.args(["--keys", &keys, "--starts", &starts]);
        let failed = |message: String| failed("a temporary daemon", &message);
        let mut keeper = Process::start(&mut command).map_err(failed)?;
        let place = keeper.hear().map_err(failed)?;
        Ok(Self { _keeper: keeper, place })
    }

    /// Starts a driver with our module.
    pub(super) fn ours(&self) -> Result<Driver, Failure> {
        let mut command = signer(&programs::find(programs::MODULE)?)?;
        command.args(["--service", &self.place.daemon.to_string()]);
        command.env("CYCLOID_HSM_SOCKET", &self.place.socket);
        Driver::start("our module", &mut command)
    }

    /// Starts a driver with SoftHSM's module.
    pub(super) fn soft_hsm(&self, module: &Path) -> Result<Driver, Failure> {
        let (tokens, file) =
            (self.place.directory.join("tokens"), self.place.directory.join("softhsm2.conf"));
        let settings = format!(
            "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n",
            tokens.display()
        );
        std::fs::create_dir_all(&tokens)
            .and_then(|()| std::fs::write(&file, settings))
            .map_err(|error| failed("SoftHSM", &error.to_string()))?;
        let mut command = signer(module)?;
        command.env("SOFTHSM2_CONF", &file);
        Driver::start("SoftHSM", &mut command)
    }
}

/// Returns the command that loads a module and signs as instructed.
fn signer(module: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(programs::own()?);
    command.args(["helper", "sign", "--module"]).arg(module);
    Ok(command)
}
