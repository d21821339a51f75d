//! `cycloid-vpn genkey`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use cycloid_vpn::config::Material;
use cycloid_vpn::proto::auth_token::KeyFile;
use cycloid_vpn::proto::static_key::StaticKey;
use cycloid_vpn::proto::wrap::{Metadata, ServerKey};
use zeroize::Zeroizing;

use crate::arguments::{Genkey, KeyKind};
use crate::clock::now;
use cycloid_command::{Stop, output};

pub(super) fn run(arguments: &Genkey) -> Result<(), Stop> {
    for (name, given) in [
        ("--server-key", arguments.server_key.is_some()),
        ("--metadata", arguments.metadata.is_some()),
    ] {
        if given && arguments.kind != KeyKind::TlsCryptV2Client {
            return Err(Stop::usage(
                format!("{name} applies to tls-crypt-v2-client only"),
                "remove the option",
            ));
        }
    }
    let mut broken = None;
    let mut random = |bytes: &mut [u8]| broken = broken.or(getrandom::fill(bytes).err());
    let text = match (arguments.kind, &arguments.server_key) {
        (KeyKind::TlsAuth | KeyKind::TlsCrypt, _) => StaticKey::generate(&mut random).to_text(),
        (KeyKind::AuthToken, _) => KeyFile::generate(&mut random).to_text(),
        (KeyKind::TlsCryptV2Server, _) => ServerKey::generate(&mut random).to_text(),
        (KeyKind::TlsCryptV2Client, Some(path)) => {
            server_key(path)?.client(&mut random, &metadata(arguments)?).to_text()
        }
        (KeyKind::TlsCryptV2Client, None) => {
            return Err(Stop::usage(
                "a client key needs its server's key",
                "pass it with --server-key FILE",
            ));
        }
    };
    if let Some(error) = broken {
        return Err(Stop::failed(
            format!("cannot get random numbers: {error}"),
            "see getrandom(2)",
        ));
    }
    match &arguments.output {
        Some(path) => write_new(path, &text),
        None => output::print(&text),
    }
}

/// Returns the metadata to seal into a client key.
fn metadata(arguments: &Genkey) -> Result<Metadata, Stop> {
    let Some(text) = &arguments.metadata else { return Ok(Metadata::timestamp(now())) };
    Metadata::user(text.as_bytes()).map_err(|error| {
        let hint = format!("--metadata takes at most {} bytes", Metadata::MAX_CONTENT);
        Stop::usage(format!("--metadata: {error}"), hint)
    })
}

fn server_key(path: &Path) -> Result<ServerKey, Stop> {
    let bytes = Material::File(path.to_owned()).read().map_err(|error| {
        Stop::failed(
            format!("cannot read {}: {error}", path.display()),
            "pass the server's key file",
        )
    })?;
    let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
    ServerKey::parse(&text).map_err(|error| {
        Stop::failed(
            format!("{} is not a tls-crypt-v2 server key: {error}", path.display()),
            "create one with `cycloid-vpn genkey tls-crypt-v2-server`",
        )
    })
}

fn write_new(path: &Path, text: &str) -> Result<(), Stop> {
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = written.and_then(|mut file| {
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).inspect_err(|_| {
            let _ = std::fs::remove_file(path);
        })
    });
    written.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => "existing files are never overwritten: remove it first",
            _ => "choose a file in a writable directory",
        };
        Stop::failed(format!("cannot write {}: {error}", path.display()), hint)
    })
}
