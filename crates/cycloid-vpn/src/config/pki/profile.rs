//! Creates self-contained profiles of servers and clients.

use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{
    Authority, Error, Issued, KeyKind, PublicKey, check_name, no_random, random, read, write_new,
};
use crate::config::link::{PORT, Protocol};
use crate::proto::wrap::{Metadata, ServerKey};
use crate::proto::{Role, Transport};

/// Settings of a server profile.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Host name or address that clients connect to.
    pub host: String,
    /// The port. The default is 1194.
    pub port: u16,
    /// UDP or TCP.
    pub protocol: Protocol,
    /// The IPv4 network inside the tunnel, with a prefix length of 16 to 29.
    pub network: (Ipv4Addr, u8),
    /// The IPv6 network inside the tunnel, with a prefix length of 64 to 124.
    pub network_ipv6: Option<(Ipv6Addr, u8)>,
    /// Routes all client traffic through the tunnel.
    pub redirect: bool,
    /// Name servers for clients.
    pub dns: Vec<std::net::IpAddr>,
    /// The key.
    pub key: PeerKey,
    /// Validity of the certificate in days.
    pub days: u32,
}

impl ServerSettings {
    /// Returns the default settings for a host.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: PORT,
            protocol: Protocol { transport: Transport::Udp, family: super::super::Family::Any },
            network: (Ipv4Addr::new(10, 8, 0, 0), 24),
            network_ipv6: None,
            redirect: false,
            dns: Vec::new(),
            key: PeerKey::default(),
            days: 825,
        }
    }
}

/// The key of a server or client.
#[derive(Clone, Debug)]
pub enum PeerKey {
    /// A new one, in the profile.
    New(KeyKind),
    /// One that is in a PKCS #11 token, and stays there.
    InToken(InToken),
}

impl Default for PeerKey {
    fn default() -> Self {
        Self::New(KeyKind::default())
    }
}

/// A key in a PKCS #11 token.
#[derive(Clone, Debug)]
pub struct InToken {
    /// The public half, which the certificate is for.
    pub public_key: PublicKey,
    /// The path of the module, for the profile.
    pub module: String,
}

/// Settings of a client profile.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The key.
    pub key: PeerKey,
    /// Validity of the certificate in days.
    pub days: u32,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { key: PeerKey::default(), days: 825 }
    }
}

impl Authority {
    /// Creates `NAME.conf`, a server profile, and returns its path. Client profiles created later
    /// also try this server, after earlier servers.
    ///
    /// # Errors
    /// A taken or invalid name, an invalid setting, or an unwritable file.
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
            let message = format!("'{host}' is neither an address nor a host name");
            return Err(Error::new(
                message,
                "use the name that clients connect to, like vpn.example.org",
            ));
        }
        let path = self.directory.join(format!("{name}.conf"));
        self.check_free(&path)?;
        let key = read(&self.directory.join("tls-crypt-v2.key"))?;
        let text = Zeroizing::new(server_text(settings)? + &self.token_lines(name, &settings.key)?);
        let issued = self.issue(Role::Server, name, &settings.key, unix, settings.days)?;
        self.write(&path, name, &text, &issued, &key)?;
        let remote = format!("remote {host} {} {}\n", settings.port, settings.protocol.name());
        let remotes = self.directory.join("remotes");
        let mut all = if remotes.exists() { read(&remotes)?.to_string() } else { String::new() };
        if !all.contains(&remote) {
            all.push_str(&remote);
            super::replace(&remotes, all.as_bytes(), 0o600)?;
        }
        Ok(path)
    }

    /// Creates `NAME.ovpn`, a client profile for all existing servers, and returns its path.
    ///
    /// # Errors
    /// No server yet, a taken or invalid name, or an unwritable file.
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
            let hint = "create one with `cycloid-vpn pki server NAME --host HOST`";
            return Err(Error::new("the authority has no server yet", hint));
        }
        let remotes = read(&remotes)?;
        let server_key = ServerKey::parse(&read(&self.directory.join("tls-crypt-v2.key"))?);
        let server_key = server_key.map_err(|error| {
            Error::new(
                format!("tls-crypt-v2.key is malformed: {error}"),
                "restore it from a backup",
            )
        })?;
        let mut failed = None;
        let mut fill = |bytes: &mut [u8]| failed = failed.or(random(bytes).err());
        let key = server_key.client(&mut fill, &Metadata::timestamp(unix)).to_text();
        if let Some(error) = failed {
            return Err(no_random(error));
        }
        let text = format!(
            "client\ndev tun\n{}resolv-retry infinite\nnobind\npersist-key\npersist-tun\n\
             remote-cert-tls server\ntls-version-min 1.2\n{CIPHERS}verb 3\n{}",
            *remotes,
            self.token_lines(name, &settings.key)?,
        );
        let issued = self.issue(Role::Client, name, &settings.key, unix, settings.days)?;
        self.write(&path, name, &text, &issued, &key)?;
        Ok(path)
    }

    fn check_free(&self, path: &Path) -> Result<(), Error> {
        if !path.exists() {
            return Ok(());
        }
        let hint = "existing files are never overwritten: remove it, or choose another name";
        Err(Error::new(format!("the profile {} already exists", path.display()), hint))
    }

    /// Returns the lines of a profile whose key is in a token. A certificate for it gets a file.
    fn token_lines(&self, name: &str, key: &PeerKey) -> Result<String, Error> {
        let PeerKey::InToken(token) = key else { return Ok(String::new()) };
        self.check_free(&self.directory.join(format!("{name}.crt")))?;
        let module = &token.module;
        if module.is_empty() || module.contains(['"', '\\']) || module.contains(char::is_control) {
            let hint = "name the module's file, like /usr/lib/cycloid/libcycloid_pkcs11.so";
            return Err(Error::new(format!("'{module}' is not the path of a module"), hint));
        }
        let mut object = String::new();
        for byte in name.bytes() {
            // Writing to a string does not fail.
            let _ = match byte {
                _ if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) => {
                    write!(object, "{}", char::from(byte))
                }
                _ => write!(object, "%{byte:02X}"),
            };
        }
        Ok(format!(
            "# The private key is in a token: store {name}.crt beside it, with the label {name}.\n\
             pkcs11-providers \"{module}\"\npkcs11-id 'pkcs11:object={object}'\n"
        ))
    }

    /// Writes a profile, and the certificate of a key in a token. If that fails, the certificate is
    /// withdrawn: nobody has it.
    fn write(
        &self,
        path: &Path,
        name: &str,
        text: &str,
        issued: &Issued,
        tls_crypt_v2: &str,
    ) -> Result<(), Error> {
        let apart = issued.key.is_none().then(|| self.directory.join(format!("{name}.crt")));
        let written = apart
            .as_ref()
            .map_or(Ok(()), |path| write_new(path, issued.certificate.as_bytes(), 0o644))
            .and_then(|()| {
                let whole = self.whole(text, issued, tls_crypt_v2);
                write_new(path, whole.as_bytes(), 0o600).inspect_err(|_| {
                    let _ = apart.as_ref().map(fs::remove_file);
                })
            });
        written.inspect_err(|_| {
            // Otherwise the name stays taken until it is revoked.
            let _ = self.withdraw(name);
        })
    }

    /// Returns a profile with its keys and certificates inline.
    fn whole(&self, text: &str, issued: &Issued, tls_crypt_v2: &str) -> Zeroizing<String> {
        let mut blocks = vec![("ca", self.certificate.as_str())];
        if let Some(key) = &issued.key {
            blocks.extend([("cert", issued.certificate.as_str()), ("key", key)]);
        }
        blocks.push(("tls-crypt-v2", tls_crypt_v2));
        // Full capacity from the start: reallocation would leave copies of keys in memory.
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
        let message = format!("{network}/{prefix} is not a valid server network");
        return Err(Error::new(message, "use a prefix of /16 to /29, like 10.8.0.0/24"));
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
            let message = format!("{network}/{prefix} is not a valid server network");
            return Err(Error::new(message, "use a prefix of /64 to /124, like fd00:8::/64"));
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
