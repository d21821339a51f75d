//! `cycloid-vpn client` and `cycloid-vpn server`.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use cycloid_vpn::config::{self, LogTarget, Profile, Warning};
use cycloid_vpn::service::log::{Level, Log, Stamp};
use cycloid_vpn::service::{self, Failure, Person};
use zeroize::Zeroizing;

use crate::arguments::Run;
use cycloid_command::{Stop, terminal};
use cycloid_profiler::service::{answer_profile_requests, whole_run};

/// Titles of profiles of the two services.
const CLIENT: &str = "cycloid-vpn client";
const SERVER: &str = "cycloid-vpn server";

/// Runs a client until it is told to stop.
pub(super) fn client(arguments: &Run) -> Result<(), Stop> {
    whole_run(CLIENT, || connect(arguments))
}

/// Runs a server until it is told to stop.
pub(super) fn server(arguments: &Run) -> Result<(), Stop> {
    whole_run(SERVER, || serve(arguments))
}

/// Runs the helper of a client.
pub(super) fn helper() -> Result<(), Stop> {
    service::helper::run().map_err(|failure| wrong(&failure))
}

fn connect(arguments: &Run) -> Result<(), Stop> {
    if let Some(outcome) = with_static_key(arguments, CLIENT) {
        return outcome;
    }
    let (config, warnings) =
        config::read_client(&arguments.file).map_err(|error| wrong(&error.into()))?;
    let log = begin(&config.common, &warnings)?;
    service::client::run(&config, &instance(arguments), log, &mut Terminal { service: CLIENT })
        .map_err(|failure| wrong(&failure))
}

fn serve(arguments: &Run) -> Result<(), Stop> {
    if let Some(outcome) = with_static_key(arguments, SERVER) {
        return outcome;
    }
    let (config, warnings) =
        config::read_server(&arguments.file).map_err(|error| wrong(&error.into()))?;
    let log = begin(&config.common, &warnings)?;
    service::server::run(&config, &instance(arguments), log, &mut Terminal { service: SERVER })
        .map_err(|failure| wrong(&failure))
}

/// Runs a tunnel with a static key, whose ends are neither client nor server. Returns `None` for
/// another file.
fn with_static_key(arguments: &Run, title: &'static str) -> Option<Result<(), Stop>> {
    let Ok((Profile::Static(tunnel), warnings)) = config::read(&arguments.file) else {
        return None;
    };
    let run = || {
        let log = begin(&tunnel.common, &warnings)?;
        let mut person = Terminal { service: title };
        service::static_tunnel::run(&tunnel, &instance(arguments), log, &mut person)
            .map_err(|failure| wrong(&failure))
    };
    Some(run())
}

pub(super) fn wrong(failure: &Failure) -> Stop {
    Stop::failed(failure.to_string(), failure.advice().unwrap_or("run `cycloid-vpn check FILE`"))
}

fn instance(arguments: &Run) -> String {
    arguments.instance.clone().unwrap_or_else(|| {
        let name = arguments.file.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    })
}

/// Opens the log, writes the configuration's warnings to it, and writes the pid file.
fn begin(common: &config::Common, warnings: &[Warning]) -> Result<Log, Stop> {
    let settings = &common.log;
    let stamp = match (settings.machine_readable, settings.suppress_timestamps) {
        (true, _) => Stamp::Machine,
        (false, true) => Stamp::None,
        (false, false) => Stamp::Local,
    };
    let cannot = |path: &Path, error: std::io::Error| {
        Stop::failed(format!("cannot write {}: {error}", path.display()), "choose a writable path")
    };
    let mut no_system_log = None;
    let mut log = match &settings.target {
        LogTarget::Standard => Log::stdout(settings.verbosity, stamp),
        LogTarget::File { path, append } => Log::file(path, *append, settings.verbosity, stamp)
            .map_err(|error| cannot(path, error))?,
        LogTarget::Syslog(name) => match Log::system(name, settings.verbosity) {
            Ok(log) => log,
            // Containers have none, and need the tunnel.
            Err(error) => {
                no_system_log = Some(format!("cannot write /dev/log: {error}: logging here"));
                Log::stdout(settings.verbosity, stamp)
            }
        },
    };
    log.set_mute(settings.mute.unwrap_or(0));
    if let Some(problem) = no_system_log {
        log.write(Level::Warning, 1, "log", &problem);
    }
    for warning in warnings {
        log.write(Level::Warning, 1, "configuration", &warning.to_string());
    }
    if let Some(path) = &common.process.pid_file {
        std::fs::write(path, format!("{}\n", std::process::id()))
            .map_err(|error| cannot(path, error))?;
    }
    Ok(log)
}

/// Asks for secrets at the terminal that the service was started from.
struct Terminal {
    service: &'static str,
}

impl Terminal {
    fn secret(prompt: &str) -> Result<Zeroizing<String>, Failure> {
        terminal::secret(prompt).map_err(|error| cannot_read(&error))
    }
}

impl Person for Terminal {
    fn account(&mut self, name: Option<&str>) -> Result<(String, Zeroizing<String>), Failure> {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::new("the server asks for a user name and a password")
                .hint("write them to a file, one line each: auth-user-pass FILE"));
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => terminal::line("name: ").map_err(|error| cannot_read(&error))?,
        };
        Ok((name, Self::secret("password: ")?))
    }

    fn passphrase(&mut self) -> Result<Zeroizing<String>, Failure> {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::new("the private key is encrypted")
                .hint("write its passphrase to a file that only you can read: askpass FILE"));
        }
        Self::secret("private key passphrase: ")
    }

    fn pin(&mut self, token: &str) -> Result<Zeroizing<String>, Failure> {
        let token: String = token.chars().filter(|it| !it.is_control()).collect();
        if !std::io::stdin().is_terminal() {
            return Err(Failure::new(format!("the token {token} needs its PIN"))
                .hint("write it to a file that only you can read: askpass FILE"));
        }
        Self::secret(&format!("PIN of the token {token}: "))
    }

    fn answer(&mut self, question: &str, echo: bool) -> Result<Zeroizing<String>, Failure> {
        self.later(question, echo)()
    }

    fn is_present(&self) -> bool {
        terminal::is_there()
    }

    fn later(
        &mut self,
        question: &str,
        echo: bool,
    ) -> Box<dyn FnOnce() -> Result<Zeroizing<String>, Failure> + Send> {
        // The question may come from the server.
        let question: String = question.chars().filter(|it| !it.is_control()).collect();
        Box::new(move || {
            if !std::io::stdin().is_terminal() {
                return Err(Failure::new(format!("the server asks: {question}"))
                    .hint("start the client at a terminal, or set management-query-passwords"));
            }
            let prompt = format!("{question} ");
            if echo {
                let line = terminal::line(&prompt).map(Zeroizing::new);
                return line.map_err(|error| cannot_read(&error));
            }
            Self::secret(&prompt)
        })
    }

    /// The link names the running program, also after an upgrade has replaced its file.
    fn helper(&self) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("cycloid-vpn").arg("helper");
        command
    }

    /// Starts the profile thread only now: the kernel keeps privileges per thread, so a thread that
    /// started earlier would keep them.
    fn privileges_are_dropped(&mut self) {
        answer_profile_requests(self.service);
    }
}

fn cannot_read(error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read from the terminal: {error}"))
}
