//! A configuration that is being read: the settings of the directives so far.

use std::collections::BTreeMap;
use std::path::Path;

use crate::proto::static_key::Direction;
use crate::proto::{Role, Transport};

use super::client::Client;
use super::common::{Common, ManagementOptions};
use super::credentials::Credentials;
use super::error::Warning;
use super::lexer::Directive;
use super::link::Protocol;
use super::material::Material;
use super::per_client::PerClient;
use super::server::{Bridge, Listen, Network, Pool6, Server, Vlans};
use super::tls::Token;
use super::tunnel::DeviceType;

/// The arguments of a `remote` line.
#[derive(Clone)]
pub(super) struct RemoteLine {
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) protocol: Option<Protocol>,
}

/// The settings so far, to be interpreted together at the end.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) common: Common,
    pub(super) client: Client,
    pub(super) server: Server,
    pub(super) per_client: PerClient,
    /// This end's TLS role, from `client`, `tls-client`, `server` or `tls-server`.
    pub(super) role: Option<Role>,
    pub(super) many: bool,
    /// The role that `tcp-client` or `tcp-server` requires.
    pub(super) tcp_role: Option<Role>,
    /// `proto-force`.
    pub(super) forced: Option<Transport>,
    /// `secret`.
    pub(super) static_key: Option<(Material, Option<Direction>)>,
    pub(super) key_direction: Option<Direction>,
    /// `remote` lines outside of a `<connection>`.
    pub(super) remotes: Vec<RemoteLine>,
    /// The `remote` line of the `<connection>` that is being read.
    pub(super) connection_remote: Option<RemoteLine>,
    pub(super) network: Option<Network>,
    pub(super) network_ipv6: Option<Pool6>,
    /// `keepalive`, in seconds.
    pub(super) keepalive: Option<(u32, u32)>,
    /// A server's `local` and `listen` lines, with optional port and protocol.
    pub(super) listen: Vec<(String, Option<u16>, Option<Protocol>)>,
    pub(super) topology_given: bool,
    pub(super) tun_mtu_given: bool,
    pub(super) mssfix_given: bool,
    /// `http-proxy-user-pass`.
    pub(super) proxy_account: Option<Credentials>,
    /// Whether `tls-cipher` leaves no cipher suite of TLS 1.2.
    pub(super) without_tls12: bool,
    /// `auth none`.
    pub(super) no_digest: bool,
    /// `pkcs11-providers` and the directives for it.
    pub(super) token: Token,
    /// `dev-type`.
    pub(super) device_type: Option<DeviceType>,
    /// `server-bridge`.
    pub(super) bridge: Option<Bridge>,
    /// `vlan-accept` and `vlan-pvid`.
    pub(super) vlans: Vlans,
    pub(super) management_options: ManagementOptions,
    pub(super) ignore_unknown: Vec<String>,
    pub(super) forward_compatible: bool,
    /// The first occurrence of each directive.
    pub(super) seen: BTreeMap<&'static str, Directive>,
    /// Lines such as `ca [inline]`, which announce a block.
    pub(super) announced: Vec<Directive>,
    pub(super) warnings: Vec<Warning>,
    pub(super) depth: usize,
    /// Number of files that `config` included.
    pub(super) included: usize,
}

impl Draft {
    pub(super) fn warn(&mut self, directive: &Directive, message: impl Into<String>) {
        self.warnings.push(Warning {
            file: directive.file.to_path_buf(),
            line: directive.line,
            message: message.into(),
        });
    }

    /// Warns at a directive's line if it is present, otherwise for the whole file.
    pub(super) fn warn_of(&mut self, name: &str, file: &Path, message: impl Into<String>) {
        match self.seen.get(name).cloned() {
            Some(directive) => self.warn(&directive, message),
            None => self.warnings.push(Warning {
                file: file.to_owned(),
                line: 0,
                message: message.into(),
            }),
        }
    }
}

impl Listen {
    /// Returns the socket of a `local` or `listen` line; the file's port and protocol are the
    /// defaults.
    pub(super) fn from_line(
        line: (String, Option<u16>, Option<Protocol>),
        port: Option<u16>,
        protocol: Protocol,
    ) -> Self {
        let host = Some(line.0).filter(|host| host != "*");
        Self::new(host, line.1.or(port), line.2.unwrap_or(protocol))
    }
}
