//! What a file does, in plain sentences, and what is weak in it: `cycloid vpn check`.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use x509_cert::Certificate;

use super::error::{Error, Problem, Warning};
use super::{
    Client, ClientCertificate, Common, ControlKey, Credentials, Link, ManagementAddress, Material,
    MssFix, PeerName, Profile, Revoked, RouteGateway, Server, TlsVersion,
};
use crate::proto::Role;
use crate::proto::data::{Cipher, Digest};
use crate::proto::tls::{RevocationList, Subject, certificates_from_pem};

/// What a configuration would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// Sentences, each a line.
    pub lines: Vec<String>,
    /// What is weak, or otherwise than its author may think.
    pub warnings: Vec<Warning>,
    /// Why it would not start: files that cannot be read, and certificates that are no longer good.
    pub failures: Vec<Error>,
}

/// Reads a client's or a server's file and the files that it names, and says what they do at the
/// time `unix`, in seconds since 1970. Nothing is changed.
///
/// # Errors
/// Those of [`read`](super::read).
pub fn check(path: &Path, unix: u64) -> Result<Report, Error> {
    let (profile, warnings) = super::read(path)?;
    let mut report = Writer {
        file: path,
        unix,
        report: Report { lines: Vec::new(), warnings, failures: Vec::new() },
    };
    match &profile {
        Profile::Client(client) => report.client(client),
        Profile::Server(server) => report.server(server),
    }
    report.common(profile.common());
    Ok(report.report)
}

struct Writer<'a> {
    file: &'a Path,
    unix: u64,
    report: Report,
}

impl Writer<'_> {
    fn say(&mut self, line: impl Into<String>) {
        self.report.lines.push(line.into());
    }

    fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        self.report.warnings.push(Warning { file: self.file.to_owned(), line: 0, message });
    }

    fn fail(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.report.failures.push(Problem::new(message, hint).at(self.file, 0, ""));
    }

    fn client(&mut self, client: &Client) {
        let order = if client.remote_random { "a random order" } else { "this order" };
        match &client.remotes[..] {
            [one] => self.say(format!("A client. It connects to {}.", remote(one))),
            several => {
                self.say(format!("A client. It tries {} servers, in {order}:", several.len()));
                for one in several {
                    self.say(format!("  {}", remote(one)));
                }
            }
        }
        for (index, one) in client.remotes.iter().enumerate() {
            if index == 0 || one.link.control_key != client.remotes[0].link.control_key {
                self.control_key(&one.link, Role::Client);
            }
        }
        self.say(match (client.pull, client.route_nopull) {
            (false, _) => "Point to point: addresses and routes are those of this file.",
            (true, true) => "It takes what the server pushes, but no routes and no name servers.",
            (true, false) => "It takes addresses, routes and name servers from the server.",
        });
        match &client.credentials {
            None => {}
            Some(Credentials::Ask) => self.say("It asks a person for name and password."),
            Some(Credentials::File(path)) => {
                self.say(format!("It reads name and password from {}.", path.display()));
                self.secret("auth-user-pass", &Material::File(path.clone()));
            }
            Some(Credentials::Inline { password, .. }) => self.say(match password {
                Some(_) => "It has name and password from this file.",
                None => "It has the name from this file, and asks a person for the password.",
            }),
        }
        if client.kill_switch {
            self.say("While it runs, nothing but the tunnel leaves the machine.");
        }
    }

    fn server(&mut self, server: &Server) {
        self.say(match server.many {
            true => format!("A server of at most {} clients.", server.max_clients),
            false => {
                "A server of one peer at a time, point to point; it pushes nothing.".to_owned()
            }
        });
        if server.common.link.float && !server.remotes.is_empty() {
            self.say("The peer may come from anywhere, as it may float.");
        } else {
            for (host, port) in &server.remotes {
                self.say(format!("The peer may come from {host}, over UDP from port {port}."));
            }
        }
        for listen in &server.listen {
            let host = listen.host.as_deref().unwrap_or("every address");
            self.say(format!(
                "It listens on {host}, {} port {}.",
                listen.protocol.name(),
                listen.port
            ));
        }
        self.control_key(&server.common.link, Role::Server);
        if let Some(pool) = server.pool {
            self.say(format!("Clients have addresses from {} to {}.", pool.first, pool.last));
        }
        if let Some(pool) = server.pool_ipv6 {
            self.say(format!(
                "Clients have addresses from {} on, in a /{}.",
                pool.first, pool.prefix
            ));
        }
        match server.common.tls.client_certificate {
            ClientCertificate::Require => {}
            ClientCertificate::Optional => self.say("A client may do without a certificate."),
            ClientCertificate::None => {
                self.warn("no client has a certificate: passwords alone say who comes in");
            }
        }
        if let Some((command, _)) = &server.common.hooks.verify_password {
            self.say(format!("{} decides on passwords.", command[0]));
        }
        if !server.push.is_empty() {
            self.say("It pushes to clients:");
            for option in &server.push {
                self.say(format!("  {option}"));
            }
        }
        if server.client_to_client {
            self.say("Clients reach each other.");
        }
        if server.duplicate_names {
            self.warn("duplicate-cn: a certificate that is copied works for everybody who has it");
        }
    }

    fn control_key(&mut self, link: &Link, role: Role) {
        match &link.control_key {
            ControlKey::Plain => self.warn(
                "the control channel has no key of its own, so anybody reaches TLS: add tls-crypt or \
                 tls-crypt-v2 at both ends",
            ),
            ControlKey::Auth { key, direction } => {
                self.say(format!("Control packets are authenticated with the key in {key}."));
                if direction.is_none() {
                    self.warn("tls-auth without key-direction: both ends use the same keys");
                }
                self.secret("tls-auth", key);
            }
            ControlKey::Crypt { key } => {
                self.say(format!("Control packets are encrypted with the key in {key}."));
                self.secret("tls-crypt", key);
            }
            ControlKey::CryptV2 { key, .. } => {
                let whose = match role {
                    Role::Client => "the client's own key",
                    Role::Server => "each client's own key, which is opened by that",
                };
                self.say(format!("Control packets are encrypted with {whose} in {key}."));
                self.secret("tls-crypt-v2", key);
            }
        }
    }

    fn common(&mut self, common: &Common) {
        self.tls(common);
        self.data(common);
        self.tunnel(common);
        if let Some(management) = &common.management {
            let place = match &management.address {
                ManagementAddress::Unix(path) => format!("the socket {}", path.display()),
                ManagementAddress::Tcp(host, port) => format!("{host} port {port}"),
                ManagementAddress::Tunnel(port) => format!("its address inside, port {port}"),
            };
            self.say(format!("Its management interface is at {place}."));
            let unix = matches!(management.address, ManagementAddress::Unix(_));
            if !unix && management.password.is_none() {
                self.warn(
                    "whoever reaches the management port controls the tunnel: add a password",
                );
            }
        }
        if common.hooks.security == Some(3) {
            self.warn("script-security 3 puts passwords where other processes can read them");
        }
        match &common.process.user {
            Some(user) => self.say(format!("Once all is set up it runs as {user}.")),
            None => self.say("It keeps the rights of the user who starts it."),
        }
    }

    fn tls(&mut self, common: &Common) {
        let tls = &common.tls;
        self.say(match (tls.version_min, tls.version_max) {
            (TlsVersion::V1_3, _) => "TLS is 1.3.",
            (_, TlsVersion::V1_2) => "TLS is 1.2.",
            _ => "TLS is 1.3, or 1.2 if the peer has no better.",
        });
        let mut peer = match (&tls.ca, tls.peer_fingerprints.len()) {
            (Some(ca), _) => format!("The peer's certificate is of the authority in {ca}"),
            (None, count) => format!("The peer's certificate is one of {count} known"),
        };
        if let Some(role) = tls.peer_role {
            let end = if role == Role::Server { "server" } else { "client" };
            // Writing to a string does not fail.
            let _ = write!(peer, ", made for a {end}");
        }
        let _ = match &tls.peer_name {
            Some(PeerName::Subject(name)) => write!(peer, ", for the subject {name}"),
            Some(PeerName::Name(name)) => write!(peer, ", for the name {name}"),
            Some(PeerName::Prefix(name)) => write!(peer, ", for a name that begins with {name}"),
            None => Ok(()),
        };
        self.say(format!("{peer}."));
        for (name, material) in
            [("ca", &tls.ca), ("cert", &tls.certificate), ("extra-certs", &tls.extra_certificates)]
        {
            if let Some(material) = material {
                self.certificates(name, material);
            }
        }
        if let Some(key) = &tls.key {
            self.secret("key", key);
        }
        match &tls.revoked {
            Some(Revoked::List(list)) => self.revocation_lists(list, tls.ca.as_ref()),
            Some(Revoked::Directory(path)) if !path.is_dir() => {
                self.fail(format!("{} is no directory", path.display()), "make it");
            }
            _ => {}
        }
        if tls.certificate_profile == super::CertificateProfile::Insecure {
            self.warn("tls-cert-profile insecure takes certificates that can be forged");
        }
    }

    fn data(&mut self, common: &Common) {
        let data = &common.data;
        self.say(format!(
            "Packets are encrypted with {}, as both ends agree.",
            data.cipher_names(" or ")
        ));
        if let Some(fallback) = data.fallback {
            self.say(format!("With a peer that cannot negotiate it is {}.", fallback.name()));
        }
        if data.ciphers.iter().chain(&data.fallback).any(|cipher: &Cipher| !cipher.is_aead()) {
            self.warn("CBC is slower than GCM, and for old peers only");
            if data.digest == Digest::Sha1 {
                self.warn("auth SHA1 is for old peers only: use SHA256 at both ends");
            }
        }
        match common.timing.renegotiate_after {
            Some(after) => self.say(format!("Keys are renewed every {}.", time(after))),
            None => self.say("Keys are not renewed by time at this end."),
        }
    }

    fn tunnel(&mut self, common: &Common) {
        let tunnel = &common.tunnel;
        let device = tunnel.device.as_deref().unwrap_or("the next free tunN");
        let mut line =
            format!("The device is {device}, its packets have {} bytes", common.link.tun_mtu);
        let _ = match common.link.mssfix {
            MssFix::Off => write!(line, "."),
            MssFix::Packet(size) => {
                write!(line, "; TCP's are made to fit {size} bytes outside, headers included.")
            }
            MssFix::Payload(size) => write!(line, "; TCP's are made to fit {size} bytes outside."),
            MssFix::Inner(size) => write!(line, "; TCP's have at most {size}."),
        };
        self.say(line);
        if let Some((address, remote)) = tunnel.ifconfig {
            self.say(format!(
                "Its address is {address}, with {remote} ({}).",
                tunnel.topology.name()
            ));
        }
        if let Some(ipv6) = tunnel.ifconfig_ipv6 {
            self.say(format!("Its address is {}/{}.", ipv6.address, ipv6.prefix));
        }
        for route in &tunnel.routes {
            self.say(format!("A route is made to {route}."));
        }
        for route in &tunnel.routes_ipv6 {
            self.say(format!("A route is made to {route}."));
        }
        if let Some(RouteGateway::Address(address)) = tunnel.route_gateway {
            self.say(format!("Routes go by {address} if nothing else is said."));
        }
        if let Some(redirect) = tunnel.redirect {
            let what = match (redirect.ipv4, redirect.ipv6) {
                (true, true) => "All traffic goes",
                (true, false) => "All traffic of IPv4 goes",
                (false, true) => "All traffic of IPv6 goes",
                (false, false) => "What routes say goes",
            };
            self.say(format!("{what} through the tunnel."));
        }
        for address in &tunnel.dns.addresses {
            self.say(format!("Names are resolved by {address}."));
        }
    }

    /// Reads a file, or says why that does not go.
    fn read(&mut self, name: &str, material: &Material) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        match material.read() {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.fail(
                    format!("{name}: cannot read {material}: {error}"),
                    "paths are relative to the file that they stand in",
                );
                None
            }
        }
    }

    fn secret(&mut self, name: &str, material: &Material) {
        // Keys in the configuration make the configuration a secret.
        let path = material.path().unwrap_or(self.file).to_owned();
        if self.read(name, material).is_none() {
            return;
        }
        let open = path.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
        let message = format!("{} holds keys, and others can read it: chmod 600", path.display());
        if open && !self.report.warnings.iter().any(|warning| warning.message == message) {
            self.warn(message);
        }
    }

    fn certificates(&mut self, name: &str, material: &Material) {
        let Some(bytes) = self.read(name, material) else { return };
        let chain = match Certificate::load_pem_chain(&bytes) {
            Ok(chain) if !chain.is_empty() => chain,
            _ => {
                let hint = "it begins with -----BEGIN CERTIFICATE-----";
                return self.fail(format!("{name}: there is no certificate in {material}"), hint);
            }
        };
        for certificate in chain {
            let certificate = &certificate.tbs_certificate;
            let subject = &certificate.subject;
            let validity = &certificate.validity;
            let (from, to) = (validity.not_before, validity.not_after);
            if to.to_unix_duration().as_secs() < self.unix {
                self.fail(
                    format!("{name}: the certificate of {subject} ended at {to}"),
                    "renew it",
                );
            } else if from.to_unix_duration().as_secs() > self.unix {
                let hint = "wait, or set the clock";
                self.fail(format!("{name}: the certificate of {subject} begins at {from}"), hint);
            } else if to.to_unix_duration().as_secs() < self.unix + 30 * 86400 {
                self.warn(format!("{name}: the certificate of {subject} ends at {to}: renew it"));
            }
        }
    }
}

impl Writer<'_> {
    fn revocation_lists(&mut self, material: &Material, ca: Option<&Material>) {
        let Some(bytes) = self.read("crl-verify", material) else { return };
        let lists = match RevocationList::from_pem(&bytes) {
            Ok(lists) => lists,
            Err(it) => return self.fail(format!("crl-verify: {material}: {it}"), it.hint),
        };
        let unix = self.unix;
        let ended = |list: &RevocationList| list.next_update().is_some_and(|end| end < unix);
        let in_force = |list: &RevocationList| !ended(list) && list.this_update() <= unix;
        for list in &lists {
            let replaced =
                |other: &RevocationList| other.issuer() == list.issuer() && in_force(other);
            if in_force(list) || lists.iter().any(replaced) {
                continue;
            }
            let what = if ended(list) { "is too old" } else { "begins later" };
            let message = format!("crl-verify: the list of {} {what}", list.issuer());
            self.fail(message, "make a new one, as by `openssl ca -gencrl` or `easyrsa gen-crl`");
        }
        let ca = ca.and_then(|ca| certificates_from_pem(&ca.read().ok()?).ok());
        for authority in ca.iter().flatten().filter_map(Subject::of_certificate) {
            if !lists.iter().any(|list| *list.issuer() == authority) {
                self.warn(format!(
                    "crl-verify: {material} has no list of {authority}: peers of that authority are \
                     refused, and nobody sees which authorities it revoked"
                ));
            }
        }
    }
}

fn remote(remote: &super::Remote) -> String {
    format!("{}, {} port {}", remote.host, remote.link.protocol.name(), remote.port)
}

fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
