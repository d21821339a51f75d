//! Configuration files, as OpenVPN 2.6 has them: of clients (`.ovpn`), of servers, and of single
//! clients at a server.
//!
//! [`read`] gives a [`Profile`] whose fields are typed and have OpenVPN's defaults, or the first
//! [`Error`], with file, line, text and a hint. What changes nothing is passed over with a
//! [`Warning`]; what would be misunderstood, and what is unknown, is an error. Paths are relative to
//! the file that they stand in, or to the directory that `cd` names.
//!
//! Four directives are Cycloid's own:
//!
//! | directive | at | does |
//! |---|---|---|
//! | `listen ADDRESS [PORT] [PROTOCOL]` | a server | one of several sockets; `*` is any address, and `local` may stand several times too |
//! | `threads N` | both | how many processors move packets |
//! | `kill-switch` | a client | nothing but the tunnel leaves the machine, also while it is down |
//! | `metrics ADDRESS:PORT` | both | where Prometheus asks |
//!
//! Source: openvpn(8), 2.6.

mod check;
mod client;
mod common;
mod directives;
mod draft;
mod error;
mod finish;
mod lexer;
mod link;
mod material;
mod per_client;
pub mod pki;
pub mod push;
mod server;
#[cfg(test)]
mod tests;
mod tls;
mod tunnel;
mod values;

pub use check::{Report, check};
pub use client::{AuthRetry, Client, Credentials, PullFilter, Remote, Verdict};
pub use common::{
    Command, Common, Hooks, Log, LogTarget, Management, ManagementAddress, ManagementOptions,
    ManagementPassword, PasswordVia, Process, Sockets,
};
pub use error::{Error, Warning};
pub use link::{Bind, ControlKey, Family, Link, MssFix, MtuDiscovery, PORT, Protocol};
pub use material::Material;
pub use per_client::PerClient;
pub use server::{AuthToken, Listen, Pool, Pool6, Server};
pub use tls::{
    CertificateProfile, ClientCertificate, DataChannel, PeerName, Revoked, Timing, Tls, TlsVersion,
};
pub use tunnel::{
    Dns, DnsServer, Ifconfig6, Redirect, Route, RouteGateway, Target, Topology, Tunnel,
};

use std::path::Path;

use draft::{Draft, Scope};

/// What a file is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// It has `client` or `tls-client`.
    Client(Box<Client>),
    /// It has `server`, `mode server` or `tls-server`.
    Server(Box<Server>),
}

impl Profile {
    /// What clients and servers have both.
    pub fn common(&self) -> &Common {
        match self {
            Self::Client(client) => &client.common,
            Self::Server(server) => &server.common,
        }
    }
}

/// Reads a client's or a server's file.
///
/// # Errors
/// It cannot be read, or says what cannot be.
pub fn read(path: &Path) -> Result<(Profile, Vec<Warning>), Error> {
    let bytes = draft::read(path).map_err(|problem| problem.at(path, 0, ""))?;
    parse(path, &bytes)
}

/// Reads the text of a client's or a server's file, whose name is what relative paths start from. No
/// file is opened but those that it includes by `config`.
///
/// # Errors
/// It says what cannot be.
pub fn parse(file: &Path, text: &[u8]) -> Result<(Profile, Vec<Warning>), Error> {
    let mut draft = Draft::default();
    draft.text(file, Scope::Profile, text)?;
    draft.finish(file)
}

/// Reads a client's file.
///
/// # Errors
/// Those of [`read`]; it is a server's.
pub fn read_client(path: &Path) -> Result<(Client, Vec<Warning>), Error> {
    match read(path)? {
        (Profile::Client(client), warnings) => Ok((*client, warnings)),
        (Profile::Server(_), _) => Err(error::Problem::new(
            "this is a server's file",
            "start it with `cycloid vpn server`, or name a client's",
        )
        .at(path, 0, "")),
    }
}

/// Reads a server's file.
///
/// # Errors
/// Those of [`read`]; it is a client's.
pub fn read_server(path: &Path) -> Result<(Server, Vec<Warning>), Error> {
    match read(path)? {
        (Profile::Server(server), warnings) => Ok((*server, warnings)),
        (Profile::Client(_), _) => Err(error::Problem::new(
            "this is a client's file",
            "start it with `cycloid vpn client`, or name a server's",
        )
        .at(path, 0, "")),
    }
}
