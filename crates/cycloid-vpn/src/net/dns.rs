//! Configures the host's resolver with a tunnel's name servers and search domains.
//!
//! | resolver | how | split domains |
//! |---|---|---|
//! | systemd-resolved | `resolvectl`, by interface | yes |
//! | resolvconf, openresolv | `resolvconf -a` with a record | no |
//! | neither | the file `/etc/resolv.conf`, shared by all tunnels (`resolver_file`) | no |
//!
//! If domains cannot be split, the tunnel's servers answer for all names.
//!
//! Source: openvpn(8), "--dns" and "--dhcp-option"; resolvectl(1); resolvconf(8); resolv.conf(5).

mod resolver_file;

use std::fmt::Write;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use super::tool;
use super::undo::{Journal, Undo};
pub(super) use resolver_file::settle;

/// Maximum number of servers, and of domains of a kind; further ones are not used.
pub const MAX_ENTRIES: usize = 32;
/// Number of servers that the C library uses.
const MAX_FILE_SERVERS: usize = 3;

/// A domain name that is safe in files and arguments: letters, digits, `-`, `_` and dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain(String);

impl Domain {
    /// Parses a name and removes its trailing dot.
    ///
    /// Returns `None` for an invalid name: pushed text must not become an option or a separate
    /// line.
    pub fn new(name: &str) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let label = |label: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            (1..=63).contains(&label.len()) && label.bytes().all(plain) && !label.starts_with('-')
        };
        (name.len() <= 253 && name.split('.').all(label)).then(|| Self(name.to_owned()))
    }

    /// Returns the name without a trailing dot.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// The address.
    pub address: IpAddr,
    /// The port; `None` is 53.
    pub port: Option<u16>,
}

impl Server {
    fn has_default_port(&self) -> bool {
        self.port.is_none_or(|port| port == 53)
    }
}

/// The check of DNSSEC signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dnssec {
    /// Signatures are required.
    Required,
    /// Signatures are checked if there are any.
    Optional,
    /// Signatures are not checked.
    Off,
}

/// How servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameTransport {
    /// UDP and TCP, in the clear.
    Plain,
    /// DNS over TLS.
    Tls,
    /// DNS over HTTPS.
    Https,
}

/// A tunnel's name resolution settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    /// The servers, in order of preference.
    pub servers: Vec<Server>,
    /// Domains to append to names without dots.
    pub search: Vec<Domain>,
    /// If not empty, the servers answer only for these domains and those of `search`.
    pub only: Vec<Domain>,
    /// `None` keeps the resolver's setting.
    pub dnssec: Option<Dnssec>,
    /// `None` keeps the resolver's setting.
    pub transport: Option<NameTransport>,
    /// The servers' name in TLS.
    pub server_name: Option<Domain>,
}

impl Dns {
    /// Returns whether there is nothing to configure.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.search.is_empty()
    }
}

/// The host's resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// systemd-resolved.
    Resolved,
    /// resolvconf or openresolv.
    Resolvconf,
    /// The C library, with this file.
    File(PathBuf),
}

impl Resolver {
    /// Detects the host's resolver.
    pub fn detect() -> Self {
        let file = Path::new("/etc/resolv.conf");
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let resolved = target.starts_with("/run/systemd/resolve") || asks_stub(&target);
        if resolved && tool::find("resolvectl").is_some() {
            Self::Resolved
        } else if tool::find("resolvconf").is_some() {
            Self::Resolvconf
        } else {
            Self::File(target)
        }
    }

    /// Configures the resolver and records each change in the journal. `interface` is the tunnel's.
    ///
    /// # Errors
    ///
    /// An error of a program or file; the journal lists the changes made so far.
    pub fn apply(&self, dns: &Dns, interface: &str, journal: &mut Journal) -> io::Result<()> {
        if dns.is_empty() {
            return Ok(());
        }
        match self {
            Self::Resolved => {
                journal.record(Undo::Resolved { interface: interface.to_owned() })?;
                resolvectl_commands(dns, interface).iter().try_for_each(|arguments| {
                    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
                    tool::run("resolvectl", &arguments, b"")
                })
            }
            Self::Resolvconf => {
                let record = format!("{interface}.cycloid-vpn");
                journal.change(Undo::Resolvconf { record: record.clone() }, || {
                    tool::run("resolvconf", &["-a", &record], resolver_lines(dns).as_bytes())
                })
            }
            Self::File(path) => resolver_file::add(path, interface, &resolver_lines(dns), journal),
        }
    }

    /// Returns whether the resolver can ask a server: a file has no place for a port.
    pub fn can_ask(&self, server: &Server) -> bool {
        *self == Self::Resolved || server.has_default_port()
    }

    /// Returns what these settings need and the resolver does not have.
    pub fn lacks(&self, dns: &Dns) -> Option<&'static str> {
        if !dns.servers.is_empty() && !dns.servers.iter().any(|server| self.can_ask(server)) {
            return Some("ports of name servers");
        }
        match (self, dns.transport, dns.dnssec) {
            (_, Some(NameTransport::Https), _) => Some("DNS over HTTPS"),
            (Self::Resolved, ..) => None,
            (_, Some(NameTransport::Tls), _) => Some("DNS over TLS"),
            (_, _, Some(Dnssec::Required)) => Some("DNSSEC"),
            _ => None,
        }
    }

    /// Returns whether the resolver can send only some domains to a tunnel's servers.
    pub fn splits_domains(&self) -> bool {
        *self == Self::Resolved
    }
}

/// Returns whether a file names the local stub of systemd-resolved.
fn asks_stub(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("nameserver") && words.next() == Some("127.0.0.53")
    })
}

/// Returns the arguments of each resolvectl call.
fn resolvectl_commands(dns: &Dns, interface: &str) -> Vec<Vec<String>> {
    let command = |name: &str, arguments: &mut dyn Iterator<Item = String>| -> Vec<String> {
        [name.to_owned(), interface.to_owned()]
            .into_iter()
            .chain(arguments.take(MAX_ENTRIES))
            .collect()
    };
    let server = |server: &Server| {
        let address = match server.port {
            Some(port) => SocketAddr::new(server.address, port).to_string(),
            None => server.address.to_string(),
        };
        match &dns.server_name {
            Some(name) => format!("{address}#{}", name.0),
            None => address,
        }
    };
    let search = dns.search.iter().map(|domain| domain.0.clone());
    let only = dns.only.iter().map(|domain| format!("~{}", domain.0));
    // An interface without its own servers must not receive queries.
    let all = dns.only.is_empty() && !dns.servers.is_empty();
    let everything = all.then(|| "~.".to_owned());
    let mut commands = vec![
        command("dns", &mut dns.servers.iter().map(server)),
        command("domain", &mut search.chain(only).chain(everything)),
        command("default-route", &mut [if all { "yes" } else { "no" }.to_owned()].into_iter()),
    ];
    let mut set = |name: &str, value: &str| {
        commands.push(command(name, &mut [value.to_owned()].into_iter()));
    };
    match dns.dnssec {
        Some(Dnssec::Required) => set("dnssec", "yes"),
        Some(Dnssec::Optional) => set("dnssec", "allow-downgrade"),
        Some(Dnssec::Off) => set("dnssec", "no"),
        None => {}
    }
    match dns.transport {
        Some(NameTransport::Tls) => set("dnsovertls", "yes"),
        Some(NameTransport::Plain) => set("dnsovertls", "no"),
        Some(NameTransport::Https) | None => {}
    }
    commands.retain(|arguments| arguments.len() > 2);
    commands
}

/// Formats servers and domains for resolv.conf, which cannot express a server's port.
fn resolver_lines(dns: &Dns) -> String {
    let mut text = String::new();
    let plain = dns.servers.iter().filter(|server| server.has_default_port());
    for server in plain.take(MAX_FILE_SERVERS) {
        let _ = writeln!(text, "nameserver {}", server.address);
    }
    if !dns.search.is_empty() {
        let domains: Vec<_> =
            dns.search.iter().take(MAX_ENTRIES).map(|domain| &*domain.0).collect();
        let _ = writeln!(text, "search {}", domains.join(" "));
    }
    text
}

pub(super) fn revert_resolved(interface: &str) -> io::Result<()> {
    // Removing the interface also removed its settings.
    if !Path::new("/sys/class/net").join(interface).exists() {
        return Ok(());
    }
    tool::run("resolvectl", &["revert", interface], b"")
}

pub(super) fn revert_resolvconf(record: &str) -> io::Result<()> {
    tool::run("resolvconf", &["-d", record], b"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::undo::Scope;

    fn server(address: &str, port: Option<u16>) -> Server {
        Server { address: address.parse().unwrap(), port }
    }

    fn domains(names: &[&str]) -> Vec<Domain> {
        names.iter().map(|name| Domain::new(name).unwrap()).collect()
    }

    fn dns() -> Dns {
        Dns {
            servers: vec![server("10.8.0.1", None), server("fd77::1", Some(5353))],
            search: domains(&["example.org", "lan."]),
            ..Dns::default()
        }
    }

    #[test]
    fn invalid_domains() {
        let long = "a".repeat(64);
        for name in ["", ".", "a..b", "-v", "a b", "a\nnameserver 6.6.6.6", "ä.de", "~.", &long] {
            assert_eq!(Domain::new(name), None, "{name}");
        }
    }

    #[test]
    fn systemd_resolved_commands_name_the_interface() {
        let words = |dns: &Dns| -> Vec<String> {
            resolvectl_commands(dns, "tun0").iter().map(|words| words.join(" ")).collect()
        };
        assert_eq!(
            words(&dns()),
            [
                "dns tun0 10.8.0.1 [fd77::1]:5353",
                "domain tun0 example.org lan ~.",
                "default-route tun0 yes"
            ]
        );
        let split = Dns { only: domains(&["corp.example"]), ..dns() };
        assert_eq!(
            words(&split)[1..],
            ["domain tun0 example.org lan ~corp.example", "default-route tun0 no"]
        );
        let secure = Dns {
            dnssec: Some(Dnssec::Optional),
            transport: Some(NameTransport::Tls),
            server_name: Domain::new("dns.example"),
            ..dns()
        };
        let words_secure = words(&secure);
        assert_eq!(words_secure[0], "dns tun0 10.8.0.1#dns.example [fd77::1]:5353#dns.example");
        assert_eq!(words_secure[3..], ["dnssec tun0 allow-downgrade", "dnsovertls tun0 yes"]);
        let search = Dns { servers: vec![], ..dns() };
        assert_eq!(words(&search), ["domain tun0 example.org lan", "default-route tun0 no"]);
    }

    #[test]
    fn only_systemd_resolved_has_secure_transports() {
        let needs = |transport, dnssec| Dns { transport, dnssec, ..dns() };
        let file = Resolver::File("/etc/resolv.conf".into());
        for (dns, resolved, others) in [
            (needs(None, None), None, None),
            (needs(Some(NameTransport::Plain), Some(Dnssec::Optional)), None, None),
            (needs(None, Some(Dnssec::Required)), None, Some("DNSSEC")),
            (needs(Some(NameTransport::Tls), None), None, Some("DNS over TLS")),
            (
                needs(Some(NameTransport::Https), None),
                Some("DNS over HTTPS"),
                Some("DNS over HTTPS"),
            ),
            (
                Dns { servers: dns().servers[1..].to_vec(), ..dns() },
                None,
                Some("ports of name servers"),
            ),
        ] {
            assert_eq!(Resolver::Resolved.lacks(&dns), resolved, "{dns:?}");
            assert_eq!(Resolver::Resolvconf.lacks(&dns), others, "{dns:?}");
            assert_eq!(file.lacks(&dns), others, "{dns:?}");
        }
    }

    #[test]
    fn the_original_file_is_restored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("resolv.conf");
        let original = "# home\nnameserver 192.168.1.1\nsearch home\noptions edns0\n";
        fs::write(&path, original).unwrap();
        let resolver = Resolver::File(path.clone());
        let ours = "nameserver 10.8.0.1\nsearch example.org lan\noptions edns0\n";

        let mut journal = Journal::open(directory.path(), "x", Scope::Names).unwrap();
        resolver.apply(&dns(), "tun0", &mut journal).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.split_once('\n').unwrap().1, ours);
        // As after a power loss: the journal is empty, the file is ours, and the tunnel starts
        // again.
        drop(journal);
        let mut journal = Journal::open(directory.path(), "y", Scope::Names).unwrap();
        resolver.apply(&dns(), "tun0", &mut journal).unwrap();
        assert!(journal.undo().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), original);
        assert!(journal.is_empty());

        resolver.apply(&dns(), "tun0", &mut journal).unwrap();
        fs::write(&path, "nameserver 1.1.1.1\n").unwrap();
        assert!(journal.undo().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "nameserver 1.1.1.1\n");
    }
}
