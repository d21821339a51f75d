//! Secrets that the operator gives: from a file, from the environment, or at the terminal.

use std::path::Path;

use cycloid_command::{Stop, terminal};
use cycloid_hsm::daemon::pin;
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::KEY_FILE;
use zeroize::Zeroizing;

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

/// Reads a secret from a file, from the environment, or from the terminal.
pub(super) fn secret(
    file: Option<&Path>,
    what: &str,
    variable: Option<&str>,
) -> Result<Secret, Stop> {
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

/// Reads a new PIN; at the terminal, asks for it twice. Its length is checked at once.
pub(super) fn new_pin(file: Option<&Path>, what: &str) -> Result<Secret, Stop> {
    new_checked(file, what, |pin| {
        pin::offline::check(pin).map_err(|error| {
            Stop::failed(
                format!("the {what} has {} bytes: {error}", pin.len()),
                "choose a PIN of another length; nothing was created",
            )
        })
    })
}

/// Reads a new secret; at the terminal, asks for it twice.
pub(super) fn new_secret(file: Option<&Path>, what: &str) -> Result<Secret, Stop> {
    new_checked(file, what, |_| Ok(()))
}

fn new_checked(
    file: Option<&Path>,
    what: &str,
    check: impl Fn(&Secret) -> Result<(), Stop>,
) -> Result<Secret, Stop> {
    let first = secret(file, what, None)?;
    check(&first)?;
    if file.is_none() && *secret(None, &format!("{what} once more"), None)? != *first {
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
