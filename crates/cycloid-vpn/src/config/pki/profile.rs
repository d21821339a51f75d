//! Profiles: files of servers and clients with everything in them.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::{Authority, Error, Issued, KeyKind, check_name, no_random, random, read, write_new};
use crate::config::link::{PORT, Protocol};
use crate::proto::wrap::{Metadata, ServerKey};
use crate::proto::{Role, Transport};

/// What a server's profile says.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The name or address by which clients reach it.
    pub host: String,
    /// The port; 1194.
    pub port: u16,
    /// UDP or TCP.
    pub protocol: Protocol,
    /// The network inside, and the bits of its mask: 16 to 29.
    pub network: (Ipv4Addr, u8),
    /// The network inside, and the bits of its mask: 64 to 124.
    pub network_ipv6: Option<(Ipv6Addr, u8)>,
    /// All traffic of clients goes through the tunnel.
    pub redirect: bool,
    /// Name servers for clients.
    pub dns: Vec<std::net::IpAddr>,
    /// The key's kind.
    pub key: KeyKind,
    /// How long the certificate is good, in days.
    pub days: u32,
}

impl ServerSettings {
    /// A server with the usual settings.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: PORT,
            protocol: Protocol { transport: Transport::Udp, family: super::super::Family::Any },
            network: (Ipv4Addr::new(10, 8, 0, 0), 24),
            network_ipv6: None,
            redirect: false,
            dns: Vec::new(),
            key: KeyKind::default(),
            days: 825,
        }
    }
}

/// What a client's profile says.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The key's kind.
    pub key: KeyKind,
    /// How long the certificate is good, in days.
    pub days: u32,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { key: KeyKind::default(), days: 825 }
    }
}

impl Authority {
    /// Makes `NAME.conf`, the profile of a server, and says where it is. Profiles of clients that are
    /// made from now on try this server too, after those before.
    ///
    /// # Errors
    /// The name is taken or cannot be one; a setting cannot be; a file cannot be written.
    pub fn server(
        &self,
        name: &str,
        settings: &ServerSettings,
        unix: u64,
    ) -> Result<PathBuf, Error> {
        check_name(name)?;
        let host = &settings.host;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        if host.is_empty() || !host.bytes().all(allowed) {
            let message = format!("'{host}' is neither an address nor a host's name");
            return Err(Error::new(message, "give what clients connect to, as vpn.example.org"));
        }
        let path = self.directory.join(format!("{name}.conf"));
        self.check_free(&path)?;
        let key = read(&self.directory.join("tls-crypt-v2.key"))?;
        let text = Zeroizing::new(server_text(settings)?);
        let issued = self.issue(Role::Server, name, settings.key, unix, settings.days)?;
        write_new(&path, self.whole(&text, &issued, &key).as_bytes(), 0o600)?;
        let remote = format!("remote {host} {} {}\n", settings.port, settings.protocol.name());
        let remotes = self.directory.join("remotes");
        let mut all = if remotes.exists() { read(&remotes)?.to_string() } else { String::new() };
        if !all.contains(&remote) {
            all.push_str(&remote);
            super::replace(&remotes, all.as_bytes(), 0o600)?;
        }
        Ok(path)
    }

    /// Makes `NAME.ovpn`, the profile of a client of all servers there are, and says where it is.
    ///
    /// # Errors
    /// There is no server yet; the name is taken or cannot be one; a file cannot be written.
    pub fn client(
        &self,
        name: &str,
        settings: &ClientSettings,
        unix: u64,
    ) -> Result<PathBuf, Error> {
        check_name(name)?;
        let path = self.directory.join(format!("{name}.ovpn"));
        self.check_free(&path)?;
        let remotes = self.directory.join("remotes");
        if !remotes.exists() {
            let hint = "make one with `cycloid vpn pki server NAME --host HOST`";
            return Err(Error::new("there is no server for it yet", hint));
        }
        let remotes = read(&remotes)?;
        let server_key = ServerKey::parse(&read(&self.directory.join("tls-crypt-v2.key"))?);
        let server_key = server_key.map_err(|error| {
            Error::new(format!("tls-crypt-v2.key is broken: {error}"), "restore it from a backup")
        })?;
        let mut failed = None;
        let mut fill = |bytes: &mut [u8]| failed = failed.or(random(bytes).err());
        let key = server_key.client(&mut fill, &Metadata::timestamp(unix)).to_text();
        if let Some(error) = failed {
            return Err(no_random(error));
        }
        let text = format!(
            "client\ndev tun\n{}resolv-retry infinite\nnobind\npersist-key\npersist-tun\n\
             remote-cert-tls server\ntls-version-min 1.2\n{CIPHERS}verb 3\n",
            *remotes
        );
        let issued = self.issue(Role::Client, name, settings.key, unix, settings.days)?;
        write_new(&path, self.whole(&text, &issued, &key).as_bytes(), 0o600)?;
        Ok(path)
    }

    fn check_free(&self, path: &std::path::Path) -> Result<(), Error> {
        if !path.exists() {
            return Ok(());
        }
        let hint = "nothing is written over: remove it first, or choose another name";
        Err(Error::new(format!("there is a profile {} already", path.display()), hint))
    }

    /// A profile with its keys and certificates.
    fn whole(&self, text: &str, issued: &Issued, tls_crypt_v2: &str) -> Zeroizing<String> {
        let blocks = [
            ("ca", self.certificate.as_str()),
            ("cert", &issued.certificate),
            ("key", &issued.key),
            ("tls-crypt-v2", tls_crypt_v2),
        ];
        // Room for all of it, so that no copy of a key stays behind.
        let room = text.len() + blocks.iter().map(|block| block.1.len() + 40).sum::<usize>();
        let mut whole = Zeroizing::new(String::with_capacity(room));
        whole.push_str(text);
        for (name, content) in blocks {
            for part in ["<", name, ">\n"] {
                whole.push_str(part);
            }
            for line in content.lines() {
                whole.push_str(line);
                whole.push('\n');
            }
            for part in ["</", name, ">\n"] {
                whole.push_str(part);
            }
        }
        whole
    }
}

const CIPHERS: &str = "data-ciphers AES-256-GCM:AES-128-GCM:CHACHA20-POLY1305\n";

fn server_text(settings: &ServerSettings) -> Result<String, Error> {
    let (network, prefix) = settings.network;
    let netmask = Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0));
    if !(16..=29).contains(&prefix) || u32::from(network) & !u32::from(netmask) != 0 {
        let message = format!("{network}/{prefix} is no network for a server");
        return Err(Error::new(message, "give one of /16 to /29, as 10.8.0.0/24"));
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "port {}\nproto {}\ndev tun\ntopology subnet\nserver {network} {netmask}\n",
        settings.port,
        settings.protocol.name(),
    );
    if let Some((network, prefix)) = settings.network_ipv6 {
        let host_bits = u128::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
        if !(64..=124).contains(&prefix) || u128::from(network) & host_bits != 0 {
            let message = format!("{network}/{prefix} is no network for a server");
            return Err(Error::new(message, "give one of /64 to /124, as fd00:8::/64"));
        }
        let _ = writeln!(text, "server-ipv6 {network}/{prefix}");
    }
    if settings.redirect {
        let ipv6 = if settings.network_ipv6.is_some() { " ipv6" } else { "" };
        let _ = writeln!(text, "push \"redirect-gateway def1{ipv6}\"");
    }
    for address in &settings.dns {
        let _ = writeln!(text, "push \"dhcp-option DNS {address}\"");
    }
    if settings.protocol.transport == Transport::Udp {
        text.push_str("explicit-exit-notify 1\n");
    }
    text.push_str(
        "keepalive 10 60\npersist-key\npersist-tun\nremote-cert-tls client\ndh none\n\
         tls-version-min 1.2\ncrl-verify crl.pem\n",
    );
    text.push_str(CIPHERS);
    text.push_str("verb 3\n");
    Ok(text)
}
