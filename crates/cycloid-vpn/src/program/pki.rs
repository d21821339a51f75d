//! `cycloid-vpn pki`.

use std::path::Path;

use cycloid_vpn::config::pki::{
    Authority, ClientSettings, Error, InToken, KeyKind, PeerKey, PublicKey, ServerSettings,
};
use cycloid_vpn::proto::{Role, Transport};

use crate::arguments::{Pki, PkiCommand, SigningKey, Token};
use crate::clock::{date, now};
use cycloid_command::{Stop, output};

pub(super) fn run(pki: &Pki) -> Result<(), Stop> {
    let open = || Authority::open(&pki.directory).map_err(stop);
    match &pki.command {
        PkiCommand::Init(init) => {
            let directory = init.place.as_ref().unwrap_or(&pki.directory);
            let key = kind(init.certificate.key);
            Authority::create(directory, &init.name, key, now(), init.certificate.days)
                .map_err(stop)?;
            eprintln!(
                "created an authority in {}: keep its ca.key secret, it can sign new clients",
                directory.display()
            );
            Ok(())
        }
        PkiCommand::Server(server) => {
            let mut settings = ServerSettings::new(&server.host);
            settings.port = server.port;
            if server.tcp {
                settings.protocol.transport = Transport::Tcp;
            }
            settings.network = server.network;
            settings.network_ipv6 = server.network_ipv6;
            settings.redirect = server.redirect;
            settings.dns.clone_from(&server.dns);
            settings.key = key(server.certificate.key, &server.token)?;
            settings.days = server.certificate.days;
            let path = open()?.server(&server.name, &settings, now()).map_err(stop)?;
            eprintln!(
                "put crl.pem next to the file and update it after each `cycloid-vpn pki revoke`"
            );
            advise(&server.token, &path);
            output::print(&format!("{}\n", path.display()))
        }
        PkiCommand::Client(client) => {
            let key = key(client.certificate.key, &client.token)?;
            let settings = ClientSettings { key, days: client.certificate.days };
            let path = open()?.client(&client.name, &settings, now()).map_err(stop)?;
            advise(&client.token, &path);
            output::print(&format!("{}\n", path.display()))
        }
        PkiCommand::Revoke(arguments) => {
            open()?.revoke(&arguments.name, now()).map_err(stop)?;
            let list = pki.directory.join("crl.pem");
            eprintln!("copy the updated {} to the servers", list.display());
            Ok(())
        }
        PkiCommand::List => {
            let mut text = String::new();
            for entry in open()?.entries().map_err(stop)? {
                let role = if entry.role == Role::Server { "server" } else { "client" };
                let revoked = entry.revoked.map_or("-".to_owned(), date);
                text.push_str(&format!("{}\t{role}\t{}\t{revoked}\n", entry.serial, entry.name));
            }
            output::print(&text)
        }
    }
}

fn kind(key: SigningKey) -> KeyKind {
    match key {
        SigningKey::P256 => KeyKind::P256,
        SigningKey::Ed25519 => KeyKind::Ed25519,
        SigningKey::Rsa2048 => KeyKind::Rsa2048,
    }
}

/// Returns the key that the arguments name: a new one, or one in a token.
fn key(new: SigningKey, token: &Token) -> Result<PeerKey, Stop> {
    let Some(path) = &token.public_key else { return Ok(PeerKey::New(kind(new))) };
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::failed(named(&error), "name a file with a public key in PEM"))?;
    let public_key =
        PublicKey::from_pem(&text).map_err(|error| Stop::failed(named(&error), error.hint()))?;
    Ok(PeerKey::InToken(InToken { public_key, module: token.module.clone() }))
}

/// Names the next step after a certificate for a key in a token.
fn advise(token: &Token, profile: &Path) {
    if token.public_key.is_some() {
        let certificate = profile.with_extension("crt");
        eprintln!("store {} in the token, with the id of the key", certificate.display());
    }
}

fn stop(error: Error) -> Stop {
    Stop::failed(error.to_string(), error.hint())
}
