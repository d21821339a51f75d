//! The keystore on this machine: its directory, its database and its key file.

use std::env::VarError;
use std::path::PathBuf;

use cycloid_command::Stop;
use cycloid_hsm::store::{Store, Unlocking};

use crate::arguments::Hsm;
use crate::refusal::{not_unlocked, refused};
use crate::secrets::{PASSPHRASE, read_key_file, secret};

/// Returns the keystore's directory.
pub(super) fn home(hsm: &Hsm) -> Result<PathBuf, Stop> {
    if let Some(home) = &hsm.home {
        return Ok(home.clone());
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(home) = variable("CYCLOID_HSM_HOME") {
        return Ok(home.into());
    }
    if let Some(data) = variable("XDG_DATA_HOME") {
        return Ok(PathBuf::from(data).join("cycloid-hsm"));
    }
    let home = variable("HOME").ok_or_else(|| {
        Stop::failed("HOME is not set", "name the keystore's directory with --home")
    })?;
    Ok(PathBuf::from(home).join(".local/share/cycloid-hsm"))
}

/// Returns the URL of the database.
pub(super) fn database(hsm: &Hsm) -> Result<String, Stop> {
    if let Some(url) = &hsm.database {
        return Ok(url.clone());
    }
    match std::env::var("CYCLOID_HSM_DATABASE") {
        Ok(url) if !url.is_empty() => Ok(url),
        Ok(_) | Err(VarError::NotPresent) => {
            let path = home(hsm)?.join("keys.db");
            let path = path.to_str().ok_or_else(|| {
                Stop::failed(
                    format!("the path {} is not UTF-8", path.display()),
                    "choose another directory with --home",
                )
            })?;
            Ok(format!("sqlite:{path}"))
        }
        Err(VarError::NotUnicode(_)) => Err(Stop::failed(
            "CYCLOID_HSM_DATABASE is not UTF-8",
            "name the database as sqlite:PATH or postgres://…",
        )),
    }
}

pub(super) fn key_file(hsm: &Hsm) -> Result<PathBuf, Stop> {
    Ok(home(hsm)?.join("key"))
}

/// Opens the keystore directly, without a daemon.
pub(super) fn open(hsm: &Hsm) -> Result<Store, Stop> {
    open_by(hsm, Store::unlock)
}

/// Opens the keystore directly, even if it is damaged.
pub(super) fn open_to_salvage(hsm: &Hsm) -> Result<Store, Stop> {
    open_by(hsm, Store::unlock_to_salvage)
}

type Unlock = fn(&Store, &Unlocking) -> cycloid_hsm::Result<()>;

fn open_by(hsm: &Hsm, unlock: Unlock) -> Result<Store, Stop> {
    let store = Store::open(&database(hsm)?).map_err(|error| refused(&error))?;
    let path = key_file(hsm)?;
    let (unlocking, path) = if path.exists() {
        let key_file = Some(read_key_file(&path)?);
        (Unlocking { passphrase: None, key_file }, Some(path))
    } else {
        let passphrase = secret(None, PASSPHRASE)?;
        (Unlocking { passphrase: Some(passphrase), key_file: None }, None)
    };
    unlock(&store, &unlocking).map_err(|error| not_unlocked(&error, path.as_deref()))?;
    Ok(store)
}
