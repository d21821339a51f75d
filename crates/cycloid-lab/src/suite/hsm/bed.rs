//! The processes of a run: a throw-away keystore with its daemon, and a driver for each module.
//!
//! The program starts itself for each of them, so that the modules do not meet in one process, and a peer
//! that crashes ends its own driver alone. What is thrown away is removed by the process that made it, as
//! soon as its standard input ends: when the bed goes, whatever the reason.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::driver::{Answer, Order};
use crate::Failure;
use crate::process::Process;

/// What a process says that keeps a throw-away keystore and its daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ThrowAway {
    /// A directory that is removed at the end.
    pub directory: PathBuf,
    /// Where the daemon listens.
    pub socket: PathBuf,
    /// The daemon's process.
    pub daemon: u32,
    /// How long the daemon took until it listened, each time that it was started.
    pub start_seconds: Vec<f64>,
}

/// A driver, and what its module says of itself.
pub(super) struct Driver {
    process: Process,
    name: String,
    /// Of the module.
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
            _ => Err(failed("it answers something else".into())),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn order(&mut self, order: &Order) -> Result<Answer, Failure> {
        let line = serde_json::to_string(order).expect("orders are data");
        match self.process.say(&line).and_then(|()| self.process.hear()) {
            Ok(Answer::Failed { message }) | Err(message) => Err(failed(&self.name, &message)),
            Ok(answer) => Ok(answer),
        }
    }
}

fn failed(name: &str, message: &str) -> Failure {
    Failure::new(
        format!("the HSM cannot be measured with {name}: {message}"),
        "build program and module anew: cargo build --release -p cycloid-cli -p cycloid-pkcs11",
    )
}

/// A daemon on a throw-away keystore, and how to reach it.
pub(super) struct Bed {
    program: PathBuf,
    module: PathBuf,
    /// Holds what is thrown away until it is dropped.
    _keeper: Process,
    pub(super) place: ThrowAway,
}

impl Bed {
    /// With so many keys in the keystore to begin with, and a daemon that is started so often.
    pub(super) fn new(
        program: &Path,
        module: &Path,
        keys: usize,
        starts: usize,
    ) -> Result<Self, Failure> {
        let [keys, starts] = [keys, starts].map(|number| number.to_string());
        let mut command = Command::new(program);
        command.args(["hsm", "throw-away", "--keys", &keys, "--starts", &starts]);
        let failed = |message: String| failed("a daemon of its own", &message);
        let mut keeper = Process::start(&mut command).map_err(failed)?;
        let place = keeper.hear().map_err(failed)?;
        Ok(Self { program: program.into(), module: module.into(), _keeper: keeper, place })
    }

    fn load(&self, module: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["hsm", "load", "--module"]).arg(module);
        command
    }

    /// A driver with our module.
    pub(super) fn ours(&self) -> Result<Driver, Failure> {
        let mut command = self.load(&self.module);
        command.args(["--service", &self.place.daemon.to_string()]);
        command.env("CYCLOID_HSM_SOCKET", &self.place.socket);
        Driver::start("our module", &mut command)
    }

    /// A driver with SoftHSM's.
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
        let mut command = self.load(module);
        command.env("SOFTHSM2_CONF", &file);
        Driver::start("SoftHSM", &mut command)
    }
}
