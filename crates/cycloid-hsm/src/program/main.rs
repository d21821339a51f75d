//! The program `cycloid-hsm`: the keystore's daemon, and the commands that administer it.

mod arguments;
mod backup;
mod delete;
mod keys;
mod multiply;
mod record_signatures;
mod serve;
mod temporary_keystore;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cycloid_command::{Stop, output, processor, terminal};
use cycloid_hsm::daemon::{check_token, initialize};
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret, default_socket};
use cycloid_hsm::store::{AuditHead, KEY_FILE, Store, Unlocking};
use cycloid_hsm::{Code, Error};
use zeroize::Zeroizing;

use arguments::{Audit, AuditCommand, Command, Hsm, Init, Unlock};

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
        Command::Audit(audit) => self::audit(hsm, audit),
        Command::Multiply(arguments) => multiply::run(hsm, arguments),
        Command::RecordSignatures(arguments) => record_signatures::run(arguments),
    }
}

/// Turns an error of the keystore or its daemon into a message with a hint.
fn refused(error: &Error) -> Stop {
    let hint = match error.code {
        Code::DEVICE_REMOVED => {
            "start it with `cycloid-hsm serve`, or name its socket with --socket"
        }
        Code::PIN_INCORRECT => "try again; too many wrong PINs delay the next attempt",
        Code::PIN_LOCKED => "wait, then try again",
        Code::USER_PIN_NOT_INITIALIZED => "initialize the token with `cycloid-hsm init`",
        Code::PIN_LEN_RANGE => "choose a PIN of another length; nothing was created",
        _ => "see the daemon's log and `cycloid-hsm status`",
    };
    Stop::failed(error.to_string(), hint)
}

fn unexpected(response: &Response) -> Stop {
    Stop::failed(
        format!("unexpected answer from the daemon: {}", response.name()),
        "use the same version of the program and the daemon",
    )
}

fn call(client: &Client, request: &Request) -> Result<Response, Stop> {
    client.call(request).map_err(|error| refused(&error))
}

fn connect(hsm: &Hsm) -> Result<Client, Stop> {
    let socket = hsm.socket.clone().unwrap_or_else(default_socket);
    Client::connect(socket, "cycloid-hsm").map_err(|error| refused(&error))
}

fn text(hsm: &Hsm, request: &Request) -> Result<(), Stop> {
    match call(&connect(hsm)?, request)? {
        Response::Text { text } => output::print(&text),
        other => Err(unexpected(&other)),
    }
}

/// Returns the keystore's directory.
fn home(hsm: &Hsm) -> Result<PathBuf, Stop> {
    if let Some(home) = &hsm.home {
        return Ok(home.clone());
    }
    if let Some(home) = std::env::var_os("CYCLOID_HSM_HOME") {
        return Ok(home.into());
    }
    if let Some(data) = std::env::var_os("XDG_DATA_HOME") {
        return Ok(PathBuf::from(data).join("cycloid-hsm"));
    }
    let home = std::env::var_os("HOME").ok_or_else(|| {
        Stop::failed("HOME is not set", "name the keystore's directory with --home")
    })?;
    Ok(PathBuf::from(home).join(".local/share/cycloid-hsm"))
}

fn database(hsm: &Hsm) -> Result<String, Stop> {
    match &hsm.database {
        Some(url) => Ok(url.clone()),
        None => Ok(format!("sqlite:{}", home(hsm)?.join("keys.db").display())),
    }
}

fn key_file(hsm: &Hsm) -> Result<PathBuf, Stop> {
    Ok(home(hsm)?.join("key"))
}

/// Reads a secret from a file, without the line ending.
fn read_secret(path: &Path) -> Result<Secret, Stop> {
    let bytes = std::fs::read(path).map(Zeroizing::new).map_err(|error| {
        Stop::failed(
            format!("cannot read {}: {error}", path.display()),
            "name a file that you may read",
        )
    })?;
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    Ok(Secret::new(&bytes[..end]))
}

/// Reads a secret from a file, from the environment, or from the terminal.
fn secret(file: Option<&Path>, what: &str, variable: Option<&str>) -> Result<Secret, Stop> {
    if let Some(file) = file {
        return read_secret(file);
    }
    if let Some(value) = variable.and_then(|variable| std::env::var(variable).ok()) {
        return Ok(Secret(Zeroizing::new(value.into_bytes())));
    }
    if !terminal::is_there() {
        return Err(Stop::failed(
            format!("cannot ask for the {what} without a terminal"),
            "give it in a file, or run the command in a terminal",
        ));
    }
    let line = terminal::secret(&format!("{what}: ")).map_err(|error| {
        Stop::failed(format!("cannot read the {what}: {error}"), "give it in a file")
    })?;
    Ok(Secret::new(line.as_bytes()))
}

/// Reads a new secret; at the terminal, asks for it twice.
fn new_secret(file: Option<&Path>, what: &str) -> Result<Secret, Stop> {
    let first = secret(file, what, None)?;
    if file.is_none() && *secret(None, &format!("{what} once more"), None)? != *first {
        return Err(Stop::failed(
            format!("the two entries differ; no {what} was set"),
            "run the command again",
        ));
    }
    Ok(first)
}

fn login(hsm: &Hsm, role: Role, pin_file: Option<&Path>) -> Result<Client, Stop> {
    let client = connect(hsm)?;
    let what = match role {
        Role::SecurityOfficer => "security officer's PIN",
        Role::User => "user's PIN",
        Role::Auditor => "auditor's PIN",
    };
    let pin = secret(pin_file, what, Some("CYCLOID_HSM_PIN"))?;
    call(&client, &Request::Login { role, pin })?;
    Ok(client)
}

/// `init`: asks for everything before it creates anything.
fn make(hsm: &Hsm, init: &Init) -> Result<(), Stop> {
    let (home, url) = (home(hsm)?, database(hsm)?);
    let officer = new_secret(init.officer_pin_file.as_deref(), "security officer's PIN")?;
    let user = new_secret(init.pin_file.as_deref(), "user's PIN")?;
    check_token(&init.label, &officer, &user).map_err(|error| refused(&error))?;
    let unlocking = if init.passphrase {
        Unlocking { passphrase: Some(new_secret(None, "passphrase")?), key_file: None }
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
        None => Request::Unlock {
            passphrase: Some(secret(None, "passphrase", Some("CYCLOID_HSM_PASSPHRASE"))?),
            key_file: None,
        },
    };
    call(&client, &request).map(drop)
}

/// Reads a key file, and checks its length.
fn read_key_file(path: &Path) -> Result<Secret, Stop> {
    let bytes = std::fs::read(path).map(Zeroizing::new).map_err(|error| {
        Stop::failed(
            format!("cannot read {}: {error}", path.display()),
            "name the keystore's key file",
        )
    })?;
    if bytes.len() != KEY_FILE {
        return Err(Stop::failed(
            format!("{} is not a key file: it has {} bytes", path.display(), bytes.len()),
            "name the file that `cycloid-hsm init` made",
        ));
    }
    Ok(Secret(bytes))
}

/// Opens the keystore directly, without a daemon.
fn open(hsm: &Hsm) -> Result<Store, Stop> {
    let store = Store::open(&database(hsm)?).map_err(|error| refused(&error))?;
    let path = key_file(hsm)?;
    let unlocking = if path.exists() {
        Unlocking { passphrase: None, key_file: Some(read_key_file(&path)?) }
    } else {
        let passphrase = secret(None, "passphrase", Some("CYCLOID_HSM_PASSPHRASE"))?;
        Unlocking { passphrase: Some(passphrase), key_file: None }
    };
    store.unlock(&unlocking).map_err(|error| refused(&error))?;
    Ok(store)
}

fn audit(hsm: &Hsm, audit: &Audit) -> Result<(), Stop> {
    match &audit.command {
        AuditCommand::Show(pin) => {
            let client = login(hsm, Role::SecurityOfficer, pin.pin_file.as_deref())?;
            let mut from = 1;
            loop {
                let entries = match call(&client, &Request::Audit { from, limit: 500 })? {
                    Response::Audit { entries } => entries,
                    other => return Err(unexpected(&other)),
                };
                let Some(last) = entries.last() else { return Ok(()) };
                from = last.sequence + 1;
                for entry in &entries {
                    let (seconds, millis) = (entry.time / 1000, entry.time % 1000);
                    output::print(&format!(
                        "{}\t{seconds}.{millis:03}\t{}\t{}\n",
                        entry.sequence, entry.who, entry.what
                    ))?;
                }
            }
        }
        AuditCommand::Verify(arguments) => {
            let known = match &arguments.head {
                None => None,
                Some(text) => Some(text.parse::<AuditHead>().map_err(|_| {
                    Stop::usage(
                        "invalid head of an audit log",
                        "give a head that an earlier `cycloid-hsm audit verify` printed",
                    )
                })?),
            };
            let head = open(hsm)?.audit_verify(known.as_ref()).map_err(|error| {
                Stop::failed(
                    error.to_string(),
                    "the log or the whole database was changed from outside the keystore",
                )
            })?;
            output::print(&format!("{head}\n"))
        }
    }
}
