//! The messages between a client and its helper: JSON objects, each after its length in four bytes,
//! big-endian.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value, json};

use super::script;
use crate::config::Command;
use crate::net::dns::{Dns, Dnssec, Domain, MAX_ENTRIES, NameTransport, Server};
use crate::service::hooks::{Environment, Kind};

/// Maximum length of a message in bytes: enough for the variables of a thousand routes.
pub(super) const MAX_LENGTH: usize = 1 << 20;

/// The first message to the helper. The client is still root when it sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// The instance's name, which the journal has too.
    pub(super) instance: String,
    /// The tunnel's interface.
    pub(super) interface: String,
    /// `script-security`.
    pub(super) security: u8,
    /// The variables that all scripts have.
    pub(super) environment: Environment,
    /// The scripts that run as root.
    pub(super) scripts: Vec<(Kind, Command)>,
}

/// A request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Set name servers in place of the previous ones.
    Set(Dns),
    /// Restore the name servers from before the tunnel.
    Restore,
    /// Run a script with these variables, which [`variables`](super::variables) checks.
    Run(Kind, Vec<(String, String)>),
}

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).ok().filter(|it| *it as usize <= MAX_LENGTH);
    let Some(length) = length else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the message is too long"));
    };
    to.write_all(&[&length.to_be_bytes(), message].concat())
}

/// Reads a message. Returns `None` if the sender has ended.
pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length) {
        return if error.kind() == ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_LENGTH {
        return Err(io::Error::new(ErrorKind::InvalidData, "the message is too long"));
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}

/// Returns an answer: what went wrong.
pub(super) fn answer(problems: &[String]) -> String {
    json!({ "problems": problems }).to_string()
}

/// Returns the problems that an answer names.
pub(super) fn parse_answer(message: &[u8]) -> Option<Vec<String>> {
    let [problems] = fields(serde_json::from_slice(message).ok()?, ["problems"])?;
    strings(&problems)
}

impl Setup {
    pub(super) fn to_json(&self) -> String {
        let scripts: Map<String, Value> = self
            .scripts
            .iter()
            .map(|(kind, command)| (kind.script_type().to_owned(), json!(command)))
            .collect();
        json!({
            "instance": self.instance, "interface": self.interface, "security": self.security,
            "environment": object(self.environment.iter()), "scripts": scripts,
        })
        .to_string()
    }

    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let names = ["instance", "interface", "security", "environment", "scripts"];
        let message = serde_json::from_slice(message).ok()?;
        let [instance, interface, security, variables, scripts] = fields(message, names)?;
        let mut environment = Environment::default();
        for (name, value) in pairs(variables)? {
            environment.set(&name, value);
        }
        let Value::Object(scripts) = scripts else { return None };
        let scripts =
            scripts.iter().map(|(name, command)| Some((script(name)?, strings(command)?)));
        Some(Self {
            instance: instance.as_str()?.to_owned(),
            interface: interface.as_str()?.to_owned(),
            security: u8::try_from(security.as_u64()?).ok()?,
            environment,
            scripts: scripts.collect::<Option<_>>()?,
        })
    }
}

impl Request {
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Set(dns) => json!({ "set": dns_to_json(dns) }),
            Self::Restore => json!({ "restore": null }),
            Self::Run(kind, variables) => {
                let variables = variables.iter().map(|(name, value)| (&**name, &**value));
                json!({ (kind.script_type()): object(variables) })
            }
        }
        .to_string()
    }

    /// Returns `None` for a message that no client sends.
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let message: Map<String, Value> = serde_json::from_slice(message).ok()?;
        let mut message = message.into_iter();
        let ((name, operand), None) = (message.next()?, message.next()) else { return None };
        match &*name {
            "set" => dns_from_json(operand).map(Self::Set),
            "restore" => operand.is_null().then_some(Self::Restore),
            name => Some(Self::Run(script(name)?, pairs(operand)?)),
        }
    }
}

fn dns_to_json(dns: &Dns) -> Value {
    let domains = |domains: &[Domain]| -> Vec<String> {
        domains.iter().take(MAX_ENTRIES).map(|domain| domain.as_str().to_owned()).collect()
    };
    // Port 0 stands for none.
    let servers = dns.servers.iter().take(MAX_ENTRIES);
    let servers = servers.map(|it| SocketAddr::new(it.address, it.port.unwrap_or(0)).to_string());
    json!({
        "servers": servers.collect::<Vec<_>>(),
        "search": domains(&dns.search),
        "only": domains(&dns.only),
        "dnssec": dns.dnssec.map(dnssec_name),
        "transport": dns.transport.map(transport_name),
        "server-name": dns.server_name.as_ref().map(Domain::as_str),
    })
}

fn dns_from_json(dns: Value) -> Option<Dns> {
    let names = ["servers", "search", "only", "dnssec", "transport", "server-name"];
    let [servers, search, only, dnssec, transport, server_name] = fields(dns, names)?;
    let few = |list: &Value| strings(list).filter(|list| list.len() <= MAX_ENTRIES);
    let domains = |list: &Value| -> Option<Vec<Domain>> {
        few(list)?.iter().map(|name| Domain::new(name)).collect()
    };
    let server = |text: &String| -> Option<Server> {
        let socket: SocketAddr = text.parse().ok()?;
        let address: IpAddr = socket.ip();
        Some(Server { address, port: Some(socket.port()).filter(|port| *port != 0) })
    };
    Some(Dns {
        servers: few(&servers)?.iter().map(server).collect::<Option<_>>()?,
        search: domains(&search)?,
        only: domains(&only)?,
        dnssec: optional(&dnssec, |name| {
            let all = [Dnssec::Required, Dnssec::Optional, Dnssec::Off];
            all.into_iter().find(|it| dnssec_name(*it) == name)
        })?,
        transport: optional(&transport, |name| {
            let all = [NameTransport::Plain, NameTransport::Tls, NameTransport::Https];
            all.into_iter().find(|it| transport_name(*it) == name)
        })?,
        server_name: optional(&server_name, Domain::new)?,
    })
}

fn dnssec_name(dnssec: Dnssec) -> &'static str {
    match dnssec {
        Dnssec::Required => "required",
        Dnssec::Optional => "optional",
        Dnssec::Off => "off",
    }
}

fn transport_name(transport: NameTransport) -> &'static str {
    match transport {
        NameTransport::Plain => "plain",
        NameTransport::Tls => "tls",
        NameTransport::Https => "https",
    }
}

/// Returns the values of an object that has exactly these fields.
fn fields<const N: usize>(object: Value, names: [&str; N]) -> Option<[Value; N]> {
    let Value::Object(mut object) = object else { return None };
    let values = names.map(|name| object.remove(name));
    if !object.is_empty() || values.iter().any(Option::is_none) {
        return None;
    }
    Some(values.map(Option::unwrap_or_default))
}

/// Parses a text, or `null`. The outer `None` is an error.
fn optional<T>(value: &Value, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match value {
        Value::Null => Some(None),
        value => parse(value.as_str()?).map(Some),
    }
}

fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn object<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    pairs.map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// Returns the names and values of an object that has texts only.
fn pairs(object: Value) -> Option<Vec<(String, String)>> {
    let Value::Object(object) = object else { return None };
    object.into_iter().map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
}
