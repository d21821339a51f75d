//! `cycloid-vpn check`: explains in plain sentences what a configuration file does, and lists its
//! weak settings.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{self, Decode, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::error::{Error, Problem, Warning};
use super::{
    CertificateProfile, Client, ClientCertificate, Common, ControlKey, Credentials, DeviceType,
    Link, ManagementAddress, Material, MssFix, PeerName, Profile, Revoked, RouteGateway, Server,
    StaticTunnel, TlsVersion, VlanAccept,
};
use crate::proto::Role;
use crate::proto::data::{Cipher, Digest};
use crate::proto::tls::{RevocationList, Subject, certificates_from_pem};

/// The effects and problems of a configuration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Sentences, one a line.
    pub lines: Vec<String>,
    /// Weak or surprising settings.
    pub warnings: Vec<Warning>,
    /// Reasons why it would not start: unreadable files.
    pub failures: Vec<Error>,
}

/// Reads a client or server file and the files that it names, and describes their effect at the
/// time `unix`, in seconds since 1970. Changes nothing.
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
        Profile::Static(tunnel) => report.static_tunnel(tunnel),
    }
    report.common(&profile);
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
            (false, _) => "Point to point: this file sets addresses and routes.",
            (true, true) => "It accepts pushed options, except routes and name servers.",
            (true, false) => "It accepts addresses, routes and name servers from the server.",
        });
        match &client.credentials {
            None => {}
            Some(Credentials::Ask) => self.say("It asks for user name and password."),
            Some(Credentials::File(path)) => {
                self.say(format!("It reads user name and password from {}.", path.display()));
                self.secret("auth-user-pass", &Material::File(path.clone()));
            }
            Some(Credentials::Inline { password, .. }) => self.say(match password {
                Some(_) => "This file contains user name and password.",
                None => "This file contains the user name; it asks for the password.",
            }),
        }
        if client.common.process.offload() {
            self.say("The kernel moves the packets, if it can; otherwise the log says why not.");
        }
        if client.kill_switch {
            self.say("The kill switch blocks all traffic outside the tunnel while it runs.");
        }
    }

    fn server(&mut self, server: &Server) {
        self.say(match server.many {
            true => format!("A server for at most {} clients.", server.max_clients),
            false => {
                "A point-to-point server for one peer at a time; it pushes nothing.".to_owned()
            }
        });
        if server.common.link.float && !server.remotes.is_empty() {
            self.say("The peer may connect from any address (float).");
        } else {
            for (host, port) in &server.remotes {
                self.say(format!("The peer must connect from {host}, over UDP from port {port}."));
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
        if server.bridge {
            let device = server.common.tunnel.device.as_deref().unwrap_or("tap0");
            self.say(format!(
                "Its device is for a bridge, which you set up: `ip link set {device} master br0`."
            ));
        }
        if let Some(pool) = server.pool {
            self.say(format!("Clients get addresses from {} to {}.", pool.first, pool.last));
        }
        if let Some(pool) = server.pool_ipv6 {
            self.say(format!("Clients get addresses from {}/{} upwards.", pool.first, pool.prefix));
        }
        if let Some(vlans) = server.vlans {
            let carries = match vlans.accept {
                VlanAccept::All => "frames with and without VLAN tags",
                VlanAccept::Tagged => "frames with VLAN tags only",
                VlanAccept::Untagged => "frames without VLAN tags only",
            };
            self.say(format!(
                "Clients are in VLAN {}, unless their own settings name another one; the device \
                 carries {carries}.",
                vlans.native
            ));
        }
        match server.common.tls.client_certificate {
            ClientCertificate::Require => {}
            ClientCertificate::Optional => self.say("A client certificate is optional."),
            ClientCertificate::None => {
                self.warn("clients need no certificate: passwords alone authenticate them");
            }
        }
        if let Some((command, _)) = &server.common.hooks.verify_password {
            self.say(format!("{} checks passwords.", command[0]));
        }
        if !server.push.is_empty() {
            self.say("It pushes to clients:");
            for option in &server.push {
                self.say(format!("  {option}"));
            }
        }
        if server.client_to_client {
            self.say("Clients can reach each other.");
        }
        if server.duplicate_names {
            self.warn("duplicate-cn: several clients can share a copied certificate unnoticed");
        }
    }

    fn static_tunnel(&mut self, tunnel: &StaticTunnel) {
        self.say("A tunnel with a static key to a single peer, without TLS.");
        for (host, port) in &tunnel.remotes {
            self.say(format!("The peer is {host}, port {port}."));
        }
        let link = &tunnel.common.link;
        if let Some(port) = link.local_port {
            let does = if tunnel.listens { "listens on" } else { "uses" };
            self.say(format!("It {does} {} port {port}.", link.protocol.name()));
        }
        let digest = tunnel.common.data.digest.name();
        let cipher = tunnel.cipher.name();
        self.say(format!("Packets are encrypted with {cipher} and {digest}."));
        self.secret("secret", &tunnel.key);
    }

    fn control_key(&mut self, link: &Link, role: Role) {
        match &link.control_key {
            ControlKey::Plain => self.warn(
                "the control channel has no key, so anybody can reach TLS: add tls-crypt or \
                 tls-crypt-v2 at both ends",
            ),
            ControlKey::Auth { key, direction } => {
                self.say(format!("Control packets are authenticated with the key in {key}."));
                if direction.is_none() {
                    self.warn("tls-auth without key-direction: both directions use the same key");
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
                    Role::Server => "each client's own key, unsealed with the server key",
                };
                self.say(format!("Control packets are encrypted with {whose} in {key}."));
                self.secret("tls-crypt-v2", key);
            }
        }
    }

    fn common(&mut self, profile: &Profile) {
        let common = profile.common();
        if !matches!(profile, Profile::Static(_)) {
            self.tls(common);
            self.data(common);
        }
        self.tunnel(common);
        if let Some(management) = &common.management {
            let place = match &management.address {
                ManagementAddress::Unix(path) => format!("the socket {}", path.display()),
                ManagementAddress::Tcp(host, port) => format!("{host} port {port}"),
                ManagementAddress::Tunnel(port) => format!("its tunnel address, port {port}"),
            };
            self.say(format!("The management interface is at {place}."));
            let unix = matches!(management.address, ManagementAddress::Unix(_));
            if !unix && management.password.is_none() {
                self.warn("the management port controls the tunnel without a password: add one");
            }
        }
        if common.hooks.security == Some(3) {
            self.warn("script-security 3 exposes passwords to other processes");
        }
        match &common.process.user {
            Some(user) => {
                self.say(format!("After setup it runs as {user}, and so do its scripts."));
                if let Profile::Client(client) = profile
                    && user != "root"
                {
                    self.helper(client, user);
                }
            }
            None => self.say("It keeps the privileges of the user who starts it."),
        }
    }

    /// Explains what a client does as root after it has dropped root.
    fn helper(&mut self, client: &Client, user: &str) {
        let hooks = &client.common.hooks;
        let names = client.may_set_names().then(|| "sets name servers".to_owned());
        let scripts: Vec<_> = client.first_scripts().map(|(name, _)| name).collect();
        let scripts = (!scripts.is_empty())
            .then(|| format!("runs these scripts the first time: {}", scripts.join(", ")));
        let tasks: Vec<_> = names.into_iter().chain(scripts).collect();
        if !tasks.is_empty() {
            let tasks = tasks.join(", and ");
            self.say(format!("If root starts it, a helper process stays root: it {tasks}."));
        }
        if hooks.up.is_some() && hooks.down.is_some() {
            self.warn(format!(
                "down runs as {user} and may be unable to undo what up did as root: if both set \
                 name servers, leave them out, since the client sets and restores these itself"
            ));
        }
    }

    fn tls(&mut self, common: &Common) {
        let tls = &common.tls;
        self.say(match (tls.version_min, tls.version_max) {
            (TlsVersion::V1_3, _) => "TLS is 1.3.",
            (_, TlsVersion::V1_2) => "TLS is 1.2.",
            _ => "TLS is 1.3, or 1.2 if the peer lacks 1.3.",
        });
        let mut peer = match (&tls.ca, tls.peer_fingerprints.len()) {
            (Some(ca), _) => format!("The peer needs a certificate from the authority in {ca}"),
            (None, 0) if tls.ca_directory.is_some() => {
                "The peer needs a certificate from an authority in the directory of capath".into()
            }
            (None, 0) => {
                "The peer needs a certificate from an authority in the PKCS #12 file".into()
            }
            (None, count) => format!("The peer needs one of {count} known certificates"),
        };
        if let Some(role) = tls.peer_role {
            let end = if role == Role::Server { "server" } else { "client" };
            // Writing to a string does not fail.
            let _ = write!(peer, ", issued for a {end}");
        }
        let _ = match &tls.peer_name {
            Some(PeerName::Subject(name)) => write!(peer, ", with the subject {name}"),
            Some(PeerName::Name(name)) => write!(peer, ", with the name {name}"),
            Some(PeerName::Prefix(name)) => write!(peer, ", with a name that begins with {name}"),
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
        if let Some(token) = &tls.token {
            let name = match &token.id {
                _ if token.chosen_by_manager => "the one that the management client chooses",
                Some(id) => id,
                None => "the only certificate",
            };
            self.say(format!("Its private key is in a PKCS #11 token: {name}."));
        }
        for (name, material) in [("key", &tls.key), ("pkcs12", &tls.pkcs12)] {
            if let Some(material) = material {
                self.secret(name, material);
            }
        }
        match &tls.revoked {
            Some(Revoked::List(list)) => self.revocation_lists(list, tls.ca.as_ref()),
            Some(Revoked::Directory(path)) if !path.is_dir() => {
                self.fail(format!("{} is not a directory", path.display()), "create it");
            }
            _ => {}
        }
        if tls.certificate_profile == CertificateProfile::SuiteB {
            self.say(
                "The peer's certificates need ECDSA with P-256 or P-384, and SHA-256 or SHA-384.",
            );
        }
    }

    fn data(&mut self, common: &Common) {
        let data = &common.data;
        self.say(format!(
            "Packets are encrypted with {}, as both ends agree.",
            data.cipher_names(" or ")
        ));
        if let Some(fallback) = data.fallback {
            self.say(format!(
                "With a peer that cannot negotiate, the cipher is {}.",
                fallback.name()
            ));
        }
        if data.ciphers.iter().chain(&data.fallback).any(|cipher: &Cipher| !cipher.is_aead()) {
            self.warn("CBC is slower than GCM: use it for old peers only");
            if data.digest == Digest::Sha1 {
                self.warn("auth SHA1 is for old peers only: use SHA256 at both ends");
            }
        }
        match common.timing.renegotiate_after {
            Some(after) => self.say(format!("Keys are renewed every {}.", time(after))),
            None => self.say("This end does not renew keys on a timer."),
        }
    }

    fn tunnel(&mut self, common: &Common) {
        let tunnel = &common.tunnel;
        if tunnel.without_device {
            self.say("There is no device: packets that arrive are dropped.");
            return;
        }
        let (free, kind) = match tunnel.device_type {
            DeviceType::Tun => ("the next free tunN", ""),
            DeviceType::Tap => ("the next free tapN", " for Ethernet frames"),
        };
        let device = tunnel.device.as_deref().unwrap_or(free);
        let mut line =
            format!("The device is {device}{kind}, its MTU is {} bytes", common.link.tun_mtu);
        let _ = match common.link.mssfix {
            MssFix::Off => write!(line, "."),
            MssFix::Packet(size) => {
                write!(
                    line,
                    "; TCP segments are clamped to {size} bytes outside, headers included."
                )
            }
            MssFix::Payload(size) => {
                write!(line, "; TCP segments are clamped to {size} bytes outside.")
            }
            MssFix::Inner(size) => write!(line, "; the TCP MSS is at most {size}."),
        };
        self.say(line);
        if let Some((address, remote)) = tunnel.ifconfig {
            self.say(format!(
                "Its address is {address}, with peer or netmask {remote} ({}).",
                match tunnel.device_type {
                    DeviceType::Tun => tunnel.topology.name(),
                    DeviceType::Tap => "one network",
                }
            ));
        }
        if let Some(address) = tunnel.hardware_address {
            let bytes = address.map(|byte| format!("{byte:02x}"));
            self.say(format!("Its hardware address is {}.", bytes.join(":")));
        }
        if let Some(ipv6) = tunnel.ifconfig_ipv6 {
            self.say(format!("Its address is {}/{}.", ipv6.address, ipv6.prefix));
        }
        for route in &tunnel.routes {
            self.say(format!("It adds a route to {route}."));
        }
        for route in &tunnel.routes_ipv6 {
            self.say(format!("It adds a route to {route}."));
        }
        if let Some(RouteGateway::Address(address)) = tunnel.route_gateway {
            self.say(format!("The default gateway for routes is {address}."));
        }
        if let Some(redirect) = tunnel.redirect {
            let what = match (redirect.ipv4, redirect.ipv6) {
                (true, true) => "All traffic goes",
                (true, false) => "All IPv4 traffic goes",
                (false, true) => "All IPv6 traffic goes",
                (false, false) => "Only routed traffic goes",
            };
            self.say(format!("{what} through the tunnel."));
        }
        for address in &tunnel.dns.addresses {
            self.say(format!("The name server is {address}."));
        }
    }

    /// Reads a file, or records the failure.
    fn read(&mut self, name: &str, material: &Material) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        match material.read() {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.fail(
                    format!("{name}: cannot read {material}: {error}"),
                    "paths are relative to the directory of this file",
                );
                None
            }
        }
    }

    fn secret(&mut self, name: &str, material: &Material) {
        // An inline key makes the configuration file secret.
        let path = material.path().unwrap_or(self.file).to_owned();
        if self.read(name, material).is_none() {
            return;
        }
        let open = path.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
        let message = format!("{} holds keys that others can read: chmod 600", path.display());
        if open && !self.report.warnings.iter().any(|warning| warning.message == message) {
            self.warn(message);
        }
    }

    fn certificates(&mut self, name: &str, material: &Material) {
        let Some(bytes) = self.read(name, material) else { return };
        let parse = |der: &CertificateDer<'_>| Certificate::from_der(der).ok();
        let chain = certificates_from_pem(&bytes).ok();
        let chain = chain.and_then(|all| all.iter().map(parse).collect::<Option<Vec<_>>>());
        let Some(chain) = chain else {
            let hint = "a certificate begins with -----BEGIN CERTIFICATE-----";
            return self.fail(format!("{name}: no certificate in {material}"), hint);
        };
        for certificate in chain {
            let certificate = certificate.tbs_certificate();
            let key = certificate.subject_public_key_info();
            if name == "cert"
                && let Some(bits) = short_modulus(key)
            {
                self.warn(format!(
                    "cert: the key of {} has {bits} bits, and others can compute it: the server \
                     must not rely on it; ask for a longer one",
                    certificate.subject()
                ));
            }
            let subject = certificate.subject();
            let validity = certificate.validity();
            let (from, to) = (validity.not_before, validity.not_after);
            if to.to_unix_duration().as_secs() < self.unix {
                self.warn(format!(
                    "{name}: the certificate of {subject} expired at {to}, and peers refuse it: \
                     renew it"
                ));
            } else if from.to_unix_duration().as_secs() > self.unix {
                self.warn(format!(
                    "{name}: the certificate of {subject} is not valid before {from}: wait or \
                     correct the clock"
                ));
            } else if to.to_unix_duration().as_secs() < self.unix + 30 * 86400 {
                self.warn(format!(
                    "{name}: the certificate of {subject} expires at {to}: renew it"
                ));
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
            let what = if ended(list) { "has expired" } else { "is not valid yet" };
            self.warn(format!(
                "crl-verify: the list of {} {what}, and every peer is refused: create a new one, \
                 e.g. with `openssl ca -gencrl` or `easyrsa gen-crl`",
                list.issuer()
            ));
        }
        let ca = ca.and_then(|ca| certificates_from_pem(&ca.read().ok()?).ok());
        for authority in ca.iter().flatten().filter_map(Subject::of_certificate) {
            if !lists.iter().any(|list| *list.issuer() == authority) {
                self.warn(format!(
                    "crl-verify: {material} has no list of {authority}: its peers are \
                     refused, and its revocations of other authorities go unnoticed"
                ));
            }
        }
    }
}

/// Returns the bits of an RSA key that is shorter than today's.
fn short_modulus(key: &SubjectPublicKeyInfoOwned) -> Option<usize> {
    if key.algorithm.oid != ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1") {
        return None;
    }
    let mut reader = SliceReader::new(key.subject_public_key.as_bytes()?).ok()?;
    let modulus = reader.sequence(|fields| -> der::Result<_> {
        let modulus: UintRef<'_> = fields.decode()?;
        fields.decode::<UintRef<'_>>()?;
        Ok(modulus)
    });
    let bits = modulus.ok()?.as_bytes().len() * 8;
    (bits < 2048).then_some(bits)
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
