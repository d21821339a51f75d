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

use std::path::Path;
use std::process::ExitCode;

use cycloid_command::{Stop, output, processor};
use cycloid_hsm::daemon::{check_label, initialize};
use cycloid_hsm::rpc::{Request, Response, Role};
use cycloid_hsm::store::{Store, Unlocking};

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
            "choose another directory with --home",
        )
    };
    serve::make_directory(&home).map_err(|error| cannot(&home, error))?;
    let key_path = key_file(hsm)?;
    if let Some(key) = &unlocking.key_file {
        serve::write_new(&key_path, key).map_err(|error| cannot(&key_path, error))?;
    }
    let store = Store::create(&url, &unlocking).map_err(|error| {
        if unlocking.key_file.is_some() {
            // Without a keystore the key file opens nothing.
            let _ = std::fs::remove_file(&key_path);
        }
        Stop::failed(error.to_string(), "choose another directory with --home, or another database")
    })?;
    initialize(&store, &init.label, &officer, &user).map_err(|error| refused(&error))?;
    eprintln!("created the token {:?} in {}", init.label, home.display());
    if unlocking.key_file.is_some() {
        eprintln!(
            "its key file is {}: key file and database together reveal all keys",
            key_path.display()
        );
    }
    Ok(())
}

fn unlock(hsm: &Hsm, arguments: &Unlock) -> Result<(), Stop> {
    let client = connect(hsm)?;
    let request = match &arguments.key_file {
        Some(path) => Request::Unlock { passphrase: None, key_file: Some(read_key_file(path)?) },
        None => Request::Unlock { passphrase: Some(secret(None, PASSPHRASE)?), key_file: None },
    };
    let answer = client.call(&request);
    answer.map(drop).map_err(|error| not_unlocked(&error, arguments.key_file.as_deref()))
}
