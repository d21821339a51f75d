//! Parses OpenVPN 2.6 configuration files: of clients (`.ovpn`), of servers, and of single clients
//! at a server.
//!
//! [`read`] returns a [`Profile`] with typed fields and OpenVPN's defaults, or the first [`Error`]
//! with file, line, text and a hint. A directive without effect is ignored with a [`Warning`]; an
//! unknown or unsafe one is an error. Paths are relative to the directory of their file, or to the
//! directory that `cd` sets.
//!
//! Five directives are specific to Cycloid:
//!
//! | directive | at | does |
//! |---|---|---|
//! | `listen ADDRESS [PORT] [PROTOCOL]` | a server | adds a listening socket; `*` is any address. `local` may be repeated too |
//! | `threads N` | both | number of processors that move packets |
//! | `enable-dco` | a client | the kernel moves packets, if it can; `disable-dco` wins |
//! | `kill-switch` | a client | blocks all traffic outside the tunnel, also while it is down |
//! | `metrics ADDRESS:PORT` | both | the address that Prometheus scrapes |
//!
//! Source: openvpn(8), 2.6.

mod check;
mod client;
mod common;
mod credentials;
mod device;
mod directives;
mod draft;
mod error;
mod finish;
mod lexer;
mod link;
mod material;
mod one_peer;
mod per_client;
pub mod pki;
mod place;
mod proxy;
pub mod push;
mod reader;
mod server;
mod static_tunnel;
#[cfg(test)]
mod tests;
mod tls;
mod tunnel;
mod values;

pub use check::{Report, check};
pub use client::{AuthRetry, Client, PullFilter, Remote, Verdict};
pub use common::{
    Command, Common, Hooks, Log, LogTarget, Management, ManagementAddress, ManagementOptions,
    ManagementPassword, PasswordVia, Process, Sockets,
};
pub use credentials::Credentials;
pub(crate) use error::plain;
pub use error::{Error, Warning};
pub use link::{Bind, ControlKey, Family, Fragment, Link, MssFix, MtuDiscovery, PORT, Protocol};
pub use material::Material;
pub use per_client::PerClient;
pub use proxy::{HttpMethod, HttpOptions, Proxy, ProxyKind};
pub use server::{AuthToken, Listen, Pool, Pool6, PortShare, Server, VlanAccept, Vlans};
pub use static_tunnel::StaticTunnel;
pub use tls::{
    CertificateProfile, ClientCertificate, DataChannel, PeerName, Revoked, Timing, Tls, TlsVersion,
    Token,
};
pub use tunnel::{
    DeviceType, Dns, DnsServer, Ifconfig6, NatRule, Redirect, Route, RouteGateway, Target,
    Topology, Tunnel,
};

use std::path::Path;

use draft::Draft;
use place::Scope;

/// A parsed configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A file with `client` or `tls-client`.
    Client(Box<Client>),
    /// A file with `server`, `mode server` or `tls-server`.
    Server(Box<Server>),
    /// A file with `secret`.
    Static(Box<StaticTunnel>),
}

impl Profile {
    /// Returns the settings that clients and servers share.
    pub fn common(&self) -> &Common {
        match self {
            Self::Client(client) => &client.common,
            Self::Server(server) => &server.common,
            Self::Static(tunnel) => &tunnel.common,
        }
    }
}

/// Reads a client or server file.
///
/// # Errors
/// An unreadable file or an invalid configuration.
pub fn read(path: &Path) -> Result<(Profile, Vec<Warning>), Error> {
    let bytes = reader::read(path).map_err(|problem| problem.at(path, 0, ""))?;
    parse(path, &bytes)
}

/// Parses the text of a client or server file. Relative paths start from the directory of `file`.
/// Opens only files that `config` includes.
///
/// # Errors
/// An invalid configuration.
pub fn parse(file: &Path, text: &[u8]) -> Result<(Profile, Vec<Warning>), Error> {
    let mut draft = Draft::default();
    draft.text(file, Scope::Profile, text)?;
    draft.finish(file)
}

/// Reads a client file.
///
/// # Errors
/// Those of [`read`], and a server file.
pub fn read_client(path: &Path) -> Result<(Client, Vec<Warning>), Error> {
    match read(path)? {
        (Profile::Client(client), warnings) => Ok((*client, warnings)),
        (Profile::Server(_), _) => Err(error::Problem::new(
            "this is a server file",
            "start it with `cycloid-vpn server`, or name a client file",
        )
        .at(path, 0, "")),
        (Profile::Static(_), _) => Err(static_key(path)),
    }
}

fn static_key(path: &Path) -> Error {
    error::Problem::new("this is the file of a tunnel with a static key", "name another file")
        .at(path, 0, "")
}

/// Reads a server file.
///
/// # Errors
/// Those of [`read`], and a client file.
pub fn read_server(path: &Path) -> Result<(Server, Vec<Warning>), Error> {
    match read(path)? {
        (Profile::Server(server), warnings) => Ok((*server, warnings)),
        (Profile::Client(_), _) => Err(error::Problem::new(
            "this is a client file",
            "start it with `cycloid-vpn client`, or name a server file",
        )
        .at(path, 0, "")),
        (Profile::Static(_), _) => Err(static_key(path)),
    }
}
