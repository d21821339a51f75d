//! The subjects of notifications: changes of state, questions and events of clients.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// A change of state.
#[derive(Clone, Debug, Default)]
pub struct StateChange {
    /// The time in seconds since 1970.
    pub unix: u64,
    /// `CONNECTING`, `WAIT`, `AUTH`, `GET_CONFIG`, `ASSIGN_IP`, `ADD_ROUTES`, `CONNECTED`,
    /// `RECONNECTING`, `EXITING`, `RESOLVE`, `TCP_CONNECT`, `AUTH_PENDING`.
    pub name: &'static str,
    /// The reason or result.
    pub detail: String,
    /// The local tunnel address.
    pub ipv4: Option<Ipv4Addr>,
    /// The server's address.
    pub remote: Option<SocketAddr>,
    /// The local address of packets to the server.
    pub local: Option<SocketAddr>,
    /// The local IPv6 tunnel address.
    pub ipv6: Option<Ipv6Addr>,
}

impl StateChange {
    pub(super) fn line(&self) -> String {
        let text = |value: Option<&dyn std::fmt::Display>| {
            value.map(ToString::to_string).unwrap_or_default()
        };
        let ip =
            |address: Option<SocketAddr>| text(address.map(|a| a.ip()).as_ref().map(|ip| ip as _));
        let port =
            |address: Option<SocketAddr>| text(address.map(|a| a.port()).as_ref().map(|p| p as _));
        let mut line = format!(
            "{},{},{},{},{},{},{},{}",
            self.unix,
            self.name,
            one_line(&self.detail).replace(',', ";"),
            text(self.ipv4.as_ref().map(|ip| ip as _)),
            ip(self.remote),
            port(self.remote),
            ip(self.local),
            port(self.local),
        );
        if let Some(ipv6) = self.ipv6 {
            let _ = write!(line, ",{ipv6}");
        }
        line
    }
}

/// A question to the management client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The kind: `Auth` or `Private Key`.
    pub kind: String,
    /// Whether a user name is needed in addition to the password.
    pub username: bool,
    /// `static-challenge`: its text, and whether to echo the answer.
    pub challenge: Option<(String, bool)>,
}

impl Query {
    pub(super) fn line(&self) -> String {
        let what = if self.username { "username/password" } else { "password" };
        let mut line = format!(">PASSWORD:Need '{}' {what}", self.kind);
        if let Some((text, echo)) = &self.challenge {
            let _ = write!(line, " SC:{},{}", u8::from(*echo), one_line(text));
        }
        line
    }
}

/// Returns the question for a text.
pub(super) fn string_query_line(kind: &str, message: &str) -> String {
    format!(">NEED-STR:Need '{kind}' string MSG:{message}")
}

/// An event of a server's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEvent<'a> {
    /// It connected and needs a decision: client id and key id.
    Connect(u64, u64),
    /// It renegotiated and needs a decision: client id and key id.
    Reauth(u64, u64),
    /// Its tunnel is up.
    Established(u64),
    /// It disconnected.
    Disconnect(u64),
    /// It answered a challenge: client id, key id, and the answer in Base64.
    Response(u64, u64, &'a str),
}

/// Replaces control characters, so that a text stays on its line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}
