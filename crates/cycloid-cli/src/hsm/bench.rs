//! `cycloid hsm bench` and its child processes: one keeps a temporary keystore with a daemon, and
//! one driver for each module signs.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::daemon::initialize;
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::{Store, Unlocking};
use cycloid_lab::suite::Effort;
use cycloid_lab::suite::hsm::driver::{self, OFFICER_PIN, Target, USER_PIN};
use cycloid_lab::suite::hsm::{self as suite, Hsm, KeyKind};

use super::arguments::{Bench, Load, ThrowAway};
use super::{failed, refused, serve};
use crate::arguments::HsmSuite;
use crate::bench;
use crate::output::{self, Stop};
use crate::temporary::{Directory, Starter, cannot};

/// The number of keys written in one transaction.
const AT_ONCE: usize = 1000;

/// `bench`: the same suite as `cycloid bench hsm`.
pub(super) fn run(arguments: &Bench) -> Result<(), Stop> {
    bench::measure(
        &arguments.common,
        |effort| Ok(vec![Box::new(suite(&arguments.suite, effort)?)]),
        |_| Ok(()),
    )
}

/// Returns the suite with the settings in the arguments.
pub(crate) fn suite(arguments: &HsmSuite, effort: Effort) -> Result<Hsm, Stop> {
    let mut suite = Hsm::whole(&program()?, effort).map_err(Stop::Failed)?;
    if let Some(list) = &arguments.key {
        suite.keys = KeyKind::from_list(list).map_err(Stop::Usage)?;
    }
    if let Some(list) = &arguments.clients {
        suite.clients = Hsm::clients_from_list(list).map_err(Stop::Usage)?;
    }
    Ok(suite)
}

/// Returns the path of this program.
pub(crate) fn program() -> Result<std::path::PathBuf, Stop> {
    std::env::current_exe().map_err(|error| {
        failed(format!("cannot find this program's own path: {error}"), "see proc(5)")
    })
}

/// `load`: loads a module, and signs as standard input instructs.
pub(super) fn load(arguments: &Load) -> Result<(), Stop> {
    let target = Target { module: arguments.module.clone(), service: arguments.service };
    driver::follow(&target, io::stdin().lock(), io::stdout().lock()).map_err(|error| {
        failed(
            format!("cannot follow the instructions on standard input: {error}"),
            "run `cycloid hsm bench` instead",
        )
    })
}

/// `throw-away`: keeps a temporary keystore and its daemon until standard input ends, then removes
/// both.
pub(super) fn throw_away(arguments: &ThrowAway) -> Result<(), Stop> {
    let starter = Starter::watch()?;
    let directory = Directory::new()?;
    let home = directory.path();
    let key = Unlocking::new_key_file().map_err(|error| refused(&error))?;
    serve::write_new(&home.join("key"), &key).map_err(|error| cannot("write a file", &error))?;
    let unlocking = Unlocking { passphrase: None, key_file: Some(key) };
    let url = format!("sqlite:{}", home.join("keys.db").display());
    {
        let store = Store::create(&url, &unlocking).map_err(|error| refused(&error))?;
        initialize(&store, "bench", OFFICER_PIN.as_bytes(), USER_PIN.as_bytes())
            .map_err(|error| refused(&error))?;
    }
    if arguments.keys > 0 {
        let mut daemon = Daemon::start(home)?;
        daemon.generate(home)?;
        drop(daemon);
        multiply(&url, &unlocking, arguments.keys, &starter)?;
    }
    let mut start_seconds = Vec::new();
    let mut daemon = None;
    for _ in 0..arguments.starts.max(1) {
        starter.is_there()?;
        drop(daemon.take());
        let started = Instant::now();
        daemon = Some(Daemon::start(home)?);
        start_seconds.push(started.elapsed().as_secs_f64());
    }
    let daemon = daemon.expect("it was started");
    let place = suite::ThrowAway {
        directory: home.into(),
        socket: home.join("socket"),
        daemon: daemon.0.id(),
        start_seconds,
    };
    output::print(&(serde_json::to_string(&place).expect("it is data") + "\n"))?;
    starter.wait();
    Ok(())
}

/// A daemon in its own process, killed on drop.
struct Daemon(Child);

impl Daemon {
    fn start(home: &Path) -> Result<Self, Stop> {
        let mut command = Command::new(program()?);
        command.args(["hsm", "serve", "--home"]).arg(home).arg("--socket").arg(home.join("socket"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut daemon = Self(child.map_err(|error| cannot("start the daemon", &error))?);
        let mut line = String::new();
        let said = daemon.0.stdout.take().expect("it was asked for");
        let _ = BufReader::new(said).read_line(&mut line);
        match line.starts_with("listening") {
            true => Ok(daemon),
            false => Err(failed("the daemon did not start", "its message is above")),
        }
    }

    /// Makes the daemon generate the key pair that `multiply` copies.
    fn generate(&mut self, home: &Path) -> Result<(), Stop> {
        let mut command = Command::new(program()?);
        command.args(["hsm", "key", "generate", "p-256", "--label", "key", "--socket"]);
        command.arg(home.join("socket")).env("CYCLOID_HSM_PIN", USER_PIN).stdout(Stdio::null());
        match command.stdin(Stdio::null()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(failed("the daemon did not generate a key", "its message is above")),
            Err(error) => Err(cannot("start the program", &error)),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The keystore is temporary, so an orderly shutdown is not worth its time.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Stores `keys` copies of the private key, each with its own label.
fn multiply(url: &str, unlocking: &Unlocking, keys: usize, starter: &Starter) -> Result<(), Stop> {
    let store = Store::open(url).map_err(|error| refused(&error))?;
    let (attributes, secret) = private_key(&store, unlocking).map_err(|error| refused(&error))?;
    let numbers: Vec<usize> = (0..keys).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        starter.is_there()?;
        let templates = numbers.iter().map(|number| {
            let mut template = attributes.clone();
            template.set(cka::LABEL, format!("key {number}").into_bytes());
            template.set(cka::ID, (*number as u64).to_be_bytes());
            template
        });
        let templates: Vec<Template> = templates.collect();
        let stored = store.write(|write| {
            let mut records = templates.iter().map(|template| (template, Some(&*secret)));
            records.try_for_each(|record| write.insert(record).map(drop))
        });
        stored.map_err(|error| refused(&error))?;
    }
    Ok(())
}

/// Unlocks the keystore, and returns its only private key.
fn private_key(
    store: &Store,
    unlocking: &Unlocking,
) -> Result<(Template, Secret), cycloid_hsm::Error> {
    store.unlock(unlocking)?;
    let (_, records) = store.load()?;
    let class = u64::from(cko::PRIVATE_KEY);
    let private = |template: &Template| template.number(cka::CLASS).is_ok_and(|c| c == Some(class));
    let record = records.into_iter().find(|record| private(&record.attributes));
    let record = record.ok_or(cycloid_hsm::Code::OBJECT_HANDLE_INVALID)?;
    Ok((record.attributes, Secret(store.secret(record.id)?)))
}
