//! The program `cycloid-hsm`: the keystore's daemon, and the commands that administer it.

mod arguments;
mod audit;
mod backup;
mod client;
mod delete;
mod keys;
mod keystore;
mod legacy;
mod multiply;
mod objects;
mod record_signatures;
mod refusal;
mod salvage;
mod secrets;
mod serve;
mod temporary_keystore;
mod time;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cycloid_command::{Stop, output, processor};
use cycloid_hsm::Code;
use cycloid_hsm::daemon::{check_label, create};
use cycloid_hsm::rpc::{Request, Response, Role};
use cycloid_hsm::store::Unlocking;

use arguments::{Command, Hsm, Init, Unlock};
use client::{call, connect, login, unexpected};
use keystore::{database, home, key_file};
use refusal::{not_unlocked, refused};
use secrets::{PASSPHRASE, new_passphrase, new_pin, read_key_file, secret};

fn main() -> ExitCode {
    cycloid_command::run(|| {
        let hsm = cycloid_command::arguments::parse("cycloid-hsm --help lists all commands")?;
        processor::limit(None)?;
        run(&hsm)
    })
}

/// Runs a command.
fn run(hsm: &Hsm) -> Result<(), Stop> {
    match &hsm.command {
        Command::Init(init) => make(hsm, init),
        Command::Serve(arguments) => serve::run(hsm, arguments),
        Command::Status => text(hsm, &Request::Status {}),
        Command::Metrics => text(hsm, &Request::Metrics {}),
        Command::Unlock(arguments) => unlock(hsm, arguments),
        Command::Lock(pin) => {
            let client = login(hsm, Role::SecurityOfficer, pin.pin_file.as_deref())?;
            call(&client, &Request::Lock {}).map(drop)
        }
        Command::Rotate(pin) => {
            let client = login(hsm, Role::SecurityOfficer, pin.pin_file.as_deref())?;
            match call(&client, &Request::RotateMasterKey {})? {
                Response::Number { value } => {
                    output::print(&format!("{value} records re-sealed\n"))
                }
                other => Err(unexpected(&other)),
            }
        }
        Command::Key(key) => keys::run(hsm, key),
        Command::Backup(arguments) => backup::run(hsm, arguments),
        Command::Audit(arguments) => audit::run(hsm, arguments),
        Command::Legacy(arguments) => legacy::run(hsm, arguments),
        Command::Salvage(arguments) => salvage::run(hsm, arguments),
        Command::Quarantine(arguments) => salvage::quarantine(hsm, arguments),
        Command::Multiply(arguments) => multiply::run(hsm, arguments),
        Command::RecordSignatures(arguments) => record_signatures::run(arguments),
    }
}

fn text(hsm: &Hsm, request: &Request) -> Result<(), Stop> {
    match call(&connect(hsm)?, request)? {
        Response::Text { text } => output::print(&text),
        other => Err(unexpected(&other)),
    }
}

/// `init`: asks for everything before it creates anything.
fn make(hsm: &Hsm, init: &Init) -> Result<(), Stop> {
    let (home, url) = (home(hsm)?, database(hsm)?);
    let key_path = key_file(hsm)?;
    let existing = Path::new(url.strip_prefix("sqlite:").unwrap_or_default());
    if std::fs::metadata(existing).is_ok_and(|data| data.len() > 0) {
        return Err(Stop::failed(
            format!("a keystore exists already at {}", existing.display()),
            "serve it with `cycloid-hsm serve`, or choose another directory with --home",
        ));
    }
    if key_path.exists() {
        return Err(Stop::failed(
            format!("a key file exists already at {}", key_path.display()),
            "choose another directory with --home; remove the file only if no keystore needs it",
        ));
    }
    check_label(&init.label).map_err(|error| {
        Stop::usage(error.to_string(), "choose another label with --label; nothing was created")
    })?;
    let officer =
        new_pin(init.officer_pin_file.as_deref(), "security officer's PIN", "--officer-pin-file")?;
    let user = new_pin(init.pin_file.as_deref(), "user's PIN", "--pin-file")?;
    let unlocking = if init.passphrase {
        Unlocking { passphrase: Some(new_passphrase()?), key_file: None }
    } else {
        let bytes = Unlocking::new_key_file().map_err(|error| refused(&error))?;
        Unlocking { passphrase: None, key_file: Some(bytes) }
    };
    let cannot = |path: &Path, error: std::io::Error| {
        Stop::failed(
            format!("cannot write {}: {error}", path.display()),
            "nothing was created; choose another directory with --home",
        )
    };
    let mut made = Made::default();
    if !home.exists() {
        made.0.push(home.clone());
    }
    serve::make_directory(&home).map_err(|error| cannot(&home, error))?;
    if let Some(key) = &unlocking.key_file {
        serve::write_new(&key_path, key).map_err(|error| cannot(&key_path, error))?;
        made.0.push(key_path.clone());
    }
    // Only a file that is made here is removed, not that of another `init` at the same time.
    if !existing.as_os_str().is_empty() && serve::write_new(existing, &[]).is_ok() {
        made.0.extend(Made::sqlite(existing));
    }
    let store = create(&url, &unlocking, &init.label, &officer, &user);
    let store = store.map_err(|error| {
        if error.code == Code::GENERAL_ERROR {
            made.0.clear();
            let key_file = match unlocking.key_file {
                Some(_) => format!("remove {} and ", key_path.display()),
                None => String::new(),
            };
            let hint = format!(
                "try `cycloid-hsm serve`; if there is no keystore, {key_file}run init again"
            );
            return Stop::failed(error.to_string(), hint);
        }
        Stop::failed(
            error.to_string(),
            "nothing was created; choose another directory with --home, or another database",
        )
    })?;
    made.0.clear();
    drop(store);
    eprintln!("created the token {:?} in {}", init.label, home.display());
    if unlocking.key_file.is_some() {
        eprintln!(
            "its key file is {}: key file and database together reveal all keys",
            key_path.display()
        );
    }
    Ok(())
}

/// The files and directories that `init` has created. Dropping the list removes them, the newest
/// first: a keystore without a token would block the next `init`.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    /// Returns the files of a database.
    fn sqlite(path: &Path) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|end| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            name.into()
        })
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // A directory stays if it is not empty.
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
        }
    }
}

fn unlock(hsm: &Hsm, arguments: &Unlock) -> Result<(), Stop> {
    let client = connect(hsm)?;
    if let Response::Token { info } = call(&client, &Request::Token {})?
        && !info.locked
    {
        eprintln!("the keystore is open already");
        return Ok(());
    }
    let request = match &arguments.key_file {
        Some(path) => Request::Unlock { passphrase: None, key_file: Some(read_key_file(path)?) },
        None => Request::Unlock { passphrase: Some(secret(None, PASSPHRASE)?), key_file: None },
    };
    let answer = client.call(&request);
    answer.map(drop).map_err(|error| not_unlocked(&error, arguments.key_file.as_deref()))
}
