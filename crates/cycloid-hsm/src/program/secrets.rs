//! Secrets that the operator gives: from a file, from the environment, or at the terminal.

use std::path::Path;

use cycloid_command::{Stop, terminal};
use cycloid_hsm::daemon::pin;
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::KEY_FILE;
use zeroize::Zeroizing;

/// The passphrase of a keystore without a key file.
pub(super) const PASSPHRASE: Wanted =
    Wanted { what: "passphrase", option: None, variable: Some("CYCLOID_HSM_PASSPHRASE") };

/// Returns a PIN to log in with.
pub(super) fn pin_of(what: &str) -> Wanted<'_> {
    Wanted { what, option: Some("--pin-file"), variable: Some("CYCLOID_HSM_PIN") }
}

/// Reads a secret from a file, without the line ending.
pub(super) fn read_secret(path: &Path) -> Result<Secret, Stop> {
    let bytes = std::fs::read(path).map(Zeroizing::new).map_err(|error| {
        Stop::failed(
            format!("cannot read {}: {error}", path.display()),
            "name a file that you may read",
        )
    })?;
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    Ok(Secret::new(&bytes[..end]))
}

/// A secret, and where the operator may put it besides the terminal.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Its name in messages, as in `user's PIN`.
    pub(super) what: &'a str,
    /// The option that names a file, as in `--pin-file`.
    pub(super) option: Option<&'a str>,
    /// The environment variable that holds it.
    pub(super) variable: Option<&'a str>,
}

impl Wanted<'_> {
    /// Returns what to do where nobody can be asked.
    fn hint(&self) -> String {
        let option = self.option.map(|option| format!("give it with {option} FILE, "));
        let variable = self.variable.map(|variable| format!("put it into ${variable}, "));
        let places = [option, variable].into_iter().flatten().collect::<String>();
        if places.is_empty() {
            return "run the command in a terminal".into();
        }
        format!("{places}or run the command in a terminal")
    }

    /// Returns what the environment has.
    fn in_environment(&self) -> Option<Secret> {
        let value = std::env::var(self.variable?).ok()?;
        Some(Secret(Zeroizing::new(value.into_bytes())))
    }
}

/// Reads a secret from a file, from the environment, or from the terminal.
pub(super) fn secret(file: Option<&Path>, wanted: Wanted) -> Result<Secret, Stop> {
    if let Some(file) = file {
        return read_secret(file);
    }
    wanted.in_environment().map_or_else(|| ask(wanted.what, &wanted.hint()), Ok)
}

/// Asks for a secret at the terminal.
fn ask(what: &str, hint: &str) -> Result<Secret, Stop> {
    if !terminal::is_there() {
        return Err(Stop::failed(format!("cannot ask for the {what} without a terminal"), hint));
    }
    let line = terminal::secret(&format!("{what}: "))
        .map_err(|error| Stop::failed(format!("cannot read the {what}: {error}"), hint))?;
    Ok(Secret::new(line.as_bytes()))
}

/// Reads a new PIN; at the terminal, asks for it twice. Its length is checked at once.
pub(super) fn new_pin(file: Option<&Path>, what: &str, option: &str) -> Result<Secret, Stop> {
    new_checked(file, Wanted { what, option: Some(option), variable: None }, |pin| {
        pin::offline::check(pin).map_err(|error| {
            Stop::failed(
                format!("the {what} has {} bytes: {error}", pin.len()),
                "choose a PIN of another length; nothing was created",
            )
        })
    })
}

/// Reads a new passphrase; at the terminal, asks for it twice.
pub(super) fn new_passphrase() -> Result<Secret, Stop> {
    new_checked(None, PASSPHRASE, |_| Ok(()))
}

fn new_checked(
    file: Option<&Path>,
    wanted: Wanted,
    check: impl Fn(&Secret) -> Result<(), Stop>,
) -> Result<Secret, Stop> {
    let given = file.map(read_secret).transpose()?.or_else(|| wanted.in_environment());
    let asked = given.is_none();
    let first = given.map_or_else(|| ask(wanted.what, &wanted.hint()), Ok)?;
    check(&first)?;
    let what = wanted.what;
    if asked && *ask(&format!("{what} once more"), &wanted.hint())? != *first {
        return Err(Stop::failed(
            format!("the two entries differ; no {what} was set"),
            "run the command again",
        ));
    }
    Ok(first)
}

/// Reads a key file, and checks its length.
pub(super) fn read_key_file(path: &Path) -> Result<Secret, Stop> {
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
