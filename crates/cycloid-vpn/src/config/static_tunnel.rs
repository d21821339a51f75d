//! The configuration of a tunnel with a static key (`secret`): point to point, without TLS.

use std::path::Path;

use crate::proto::data::Cipher;
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::{Role, Transport};

use super::common::Common;
use super::draft::Draft;
use super::error::{Error, Problem, Warning};
use super::link::{Bind, Link, PORT};
use super::material::Material;

/// A tunnel with a static key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticTunnel {
    /// Settings shared with clients and servers. Those of TLS are unused.
    pub common: Common,
    /// `secret`: a static key of 2048 bits.
    pub key: Material,
    /// The direction of `secret`, or `key-direction`: the half of the key for each direction;
    /// `None` uses the same half in both.
    pub direction: Option<Direction>,
    /// `cipher`: a CBC cipher with the digest of `auth`.
    pub cipher: Cipher,
    /// `remote`: names or addresses of the peer with its port, in the order of trying; empty if it
    /// is unknown before its first packet.
    pub remotes: Vec<(String, u16)>,
    /// `proto tcp-server`: the peer connects to this end.
    pub listens: bool,
}

impl StaticTunnel {
    /// Reads the key.
    ///
    /// # Errors
    /// An unreadable file, or no static key.
    pub fn load_key(&self) -> Result<StaticKey, Error> {
        let wrong = |reason: &dyn std::fmt::Display| {
            let hint = "create a key with `cycloid-vpn genkey tls-auth`, and copy it to both ends";
            let message = format!("secret: cannot use {}: {reason}", self.key);
            Problem::new(message, hint).at(self.key.path().unwrap_or(Path::new("")), 0, "")
        };
        let bytes = self.key.read().map_err(|error| wrong(&error))?;
        let text = str::from_utf8(&bytes).map_err(|_| wrong(&"it is not text"))?;
        StaticKey::parse(text).map_err(|error| wrong(&error))
    }
}

/// Directives that a file with `secret` cannot have.
const WITHOUT_TLS: [&str; 25] = [
    "client",
    "tls-client",
    "tls-server",
    "server",
    "server-ipv6",
    "pull",
    "connection",
    "ca",
    "capath",
    "cert",
    "key",
    "pkcs12",
    "pkcs11-id",
    "pkcs11-providers",
    "tls-auth",
    "tls-crypt",
    "tls-crypt-v2",
    "auth-user-pass",
    "replay-persist",
    "http-proxy",
    "socks-proxy",
    "port-share",
    "enable-dco",
    "kill-switch",
    "listen",
];

/// The warning that a static key always causes.
const NO_FORWARD_SECRECY: &str = "a static key is never renewed: whoever gets it once can read all \
    packets that were ever sent. Certificates cost one command: `cycloid-vpn pki init`";

impl Draft {
    /// Checks a file with `secret` and returns its tunnel.
    pub(super) fn finish_static(
        mut self,
        file: &Path,
        (key, direction): (Material, Option<Direction>),
    ) -> Result<(StaticTunnel, Vec<Warning>), Error> {
        for name in WITHOUT_TLS {
            if self.seen.contains_key(name) {
                let hint = "remove it, or remove secret and use certificates";
                let message = format!("{name} does not go with a static key (secret)");
                return Err(self.wrong(name, file, &message, hint));
            }
        }
        if self.many || self.role.is_some() {
            let hint = "remove `mode server`, or remove secret and use certificates";
            return Err(self.wrong("mode", file, "a static key serves a single peer", hint));
        }
        self.check_device(file)?;
        let cipher = self.static_cipher(file)?;
        self.check_hooks(file)?;
        self.check_management(file);
        self.warn_of("secret", file, NO_FORWARD_SECRECY);
        if !self.seen.contains_key("allow-deprecated-insecure-static-crypto") {
            let message = "OpenVPN 2.7 starts with a static key only with \
                           allow-deprecated-insecure-static-crypto, and later versions not at all";
            self.warn_of("secret", file, message);
        }
        let direction = direction.or(self.key_direction);
        if direction.is_none() {
            let message = "without a direction both ends use the same keys: set 0 at one end, and 1 \
                           at the other";
            self.warn_of("secret", file, message);
        }
        self.keep_alive(false, &mut Vec::new());
        let mut link = self.finished_link();
        let remotes = self.static_remotes(file, &mut link)?;
        self.common.link = link;
        let tunnel = StaticTunnel {
            common: std::mem::take(&mut self.common),
            key,
            direction,
            cipher,
            remotes,
            listens: self.tcp_role == Some(Role::Server),
        };
        Ok((tunnel, self.warnings))
    }

    /// Returns the cipher with its digest.
    fn static_cipher(&self, file: &Path) -> Result<Cipher, Error> {
        let data = &self.common.data;
        let hint = "set `cipher AES-256-CBC` at both ends";
        if self.no_digest {
            let message = "a static key needs a digest, or packets would not be authenticated";
            return Err(self.wrong("auth", file, message, "set `auth SHA256` at both ends"));
        }
        match data.cipher {
            Some(Cipher::Cbc { cipher, .. }) => Ok(Cipher::Cbc { cipher, digest: data.digest }),
            Some(_) => {
                let message = "AEAD ciphers need keys that are negotiated, and a static key is not";
                Err(self.wrong("cipher", file, message, hint))
            }
            None => {
                let message = "a static key needs a cipher, and the default of OpenVPN, BF-CBC, is \
                               too weak";
                Err(self.wrong("secret", file, message, hint))
            }
        }
    }

    /// Returns the peer's names, and sets this end's port.
    fn static_remotes(
        &mut self,
        file: &Path,
        link: &mut Link,
    ) -> Result<Vec<(String, u16)>, Error> {
        let lines = std::mem::take(&mut self.remotes);
        if let Some(protocol) = lines.first().and_then(|line| line.protocol) {
            link.protocol = protocol;
        }
        let port = link.remote_port;
        let remotes: Vec<(String, u16)> =
            lines.into_iter().map(|line| (line.host, line.port.unwrap_or(port))).collect();
        let tcp = link.protocol.transport == Transport::Tcp;
        if tcp && link.fragment.is_some() {
            let message = "fragment works only over UDP";
            return Err(self.wrong("fragment", file, message, "remove it, or use `proto udp`"));
        }
        if tcp && self.tcp_role.is_none() {
            let hint = "use `proto tcp-server` at one end and `proto tcp-client` at the other";
            return Err(self.wrong("proto", file, "it is unclear which end connects", hint));
        }
        if remotes.is_empty() && (self.tcp_role == Some(Role::Client) || link.bind == Bind::Unbound)
        {
            let hint = "add `remote HOST PORT`";
            return Err(self.wrong("secret", file, "the peer's address is missing", hint));
        }
        let redirects = self.common.tunnel.redirect.is_some_and(|it| it.ipv4 || it.ipv6);
        if redirects && remotes.is_empty() {
            let hint = "add `remote HOST`, so that outer packets bypass the tunnel";
            let message = "the peer's address is unknown";
            return Err(self.wrong("redirect-gateway", file, message, hint));
        }
        if link.bind != Bind::Unbound && self.tcp_role != Some(Role::Client) {
            link.local_port.get_or_insert(PORT);
        }
        let tunnel = &self.common.tunnel;
        if tunnel.ifconfig.is_none() && tunnel.ifconfig_ipv6.is_none() {
            self.warn_of("", file, "the tunnel has no address: add ifconfig");
        }
        Ok(remotes)
    }
}
