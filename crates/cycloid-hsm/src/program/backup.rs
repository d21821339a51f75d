//! `cycloid-hsm backup`: opens the keystore directly, whether or not a daemon runs.

use std::path::Path;

use cycloid_hsm::Code;
use cycloid_hsm::store::{BackupKey, BackupPrivateKey, Share};

use crate::arguments::{Backup, BackupCommand, Hsm, Make, Restore, Split};
use crate::keystore::open;
use crate::refusal::refused;
use crate::secrets::read_secret;
use crate::serve;
use cycloid_command::{Stop, output};

pub(super) fn run(hsm: &Hsm, backup: &Backup) -> Result<(), Stop> {
    match &backup.command {
        BackupCommand::Key => {
            let key = open(hsm)?.backup_key().map_err(|error| refused(&error))?;
            output::print(&format!("{key}\n"))
        }
        BackupCommand::Split(split) => self::split(split),
        BackupCommand::Make(make) => self::make(hsm, make),
        BackupCommand::Restore(restore) => self::restore(hsm, restore),
    }
}

fn split(split: &Split) -> Result<(), Stop> {
    let usage = |error: cycloid_hsm::Error| {
        Stop::usage(error.to_string(), "two of three or three of five are usual")
    };
    let key = BackupPrivateKey::generate().map_err(|error| refused(&error))?;
    let shares = key.split(split.needed, split.shares).map_err(usage)?;
    let mut text = zeroize::Zeroizing::new(format!("key\t{}\n", key.public()));
    for share in &shares {
        text.push_str(&format!("share {}\t", share.index()));
        text.push_str(&share.to_text());
        text.push('\n');
    }
    output::print(&text)?;
    eprintln!(
        "give each custodian one share and keep none; {} shares restore a backup",
        split.needed
    );
    Ok(())
}

fn make(hsm: &Hsm, make: &Make) -> Result<(), Stop> {
    let to: BackupKey = make.to.parse().map_err(|error: cycloid_hsm::Error| {
        Stop::usage(error.to_string(), "give a backup key as `cycloid-hsm backup key` prints it")
    })?;
    let store = open(hsm)?;
    let sealed = store.backup(&to).map_err(|error| refused(&error))?;
    store
        .audit("operator", &format!("a backup was made for {to}"))
        .map_err(|error| refused(&error))?;
    serve::write_new(&make.file, &sealed).map_err(|error| {
        Stop::failed(
            format!("cannot write {}: {error}", make.file.display()),
            "name a new file in a writable directory",
        )
    })
}

fn share(path: &Path) -> Result<Share, Stop> {
    let bytes = read_secret(path)?;
    let text = std::str::from_utf8(&bytes).ok();
    text.and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        Stop::failed(
            format!("{} holds no valid share", path.display()),
            "give the text after `share N` in the output of `cycloid-hsm backup split`",
        )
    })
}

fn restore(hsm: &Hsm, restore: &Restore) -> Result<(), Stop> {
    let sealed = std::fs::read(&restore.file).map_err(|error| {
        Stop::failed(
            format!("cannot read {}: {error}", restore.file.display()),
            "name the backup file",
        )
    })?;
    let shares: Vec<Share> =
        restore.share_file.iter().map(|path| share(path)).collect::<Result<_, _>>()?;
    let store = open(hsm)?;
    let key = if shares.is_empty() {
        store.backup_private_key().map_err(|error| refused(&error))?
    } else {
        BackupPrivateKey::combine(&shares).map_err(|error| {
            let hint = "give the shares of as many custodians as the backup needs, each in a file \
                 with --share-file";
            Stop::failed(error.to_string(), hint)
        })?
    };
    let restored = store.restore(&sealed, &key, "operator");
    let count = restored.map_err(|error| match error.code {
        Code::ENCRYPTED_DATA_INVALID => Stop::failed(
            format!("{}: {error}", restore.file.display()),
            "restore it with the keystore whose `backup key` it was made for, or with shares",
        ),
        Code::ACTION_PROHIBITED => {
            Stop::failed(error.to_string(), "make a new one with `cycloid-hsm init --home NEW`")
        }
        _ => refused(&error),
    })?;
    output::print(&format!("{count} objects restored\n"))
}
