//! What the interface tells by itself: changes of state, lines of the log, bytes, questions, clients.
//!
//! Source: management-notes.txt, "REAL-TIME MESSAGE FORMAT".

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use super::{Management, one_line};
use crate::service::log::Record;

/// A change of state.
#[derive(Clone, Debug, Default)]
pub struct StateChange {
    /// When, in seconds of 1970.
    pub unix: u64,
    /// `CONNECTING`, `WAIT`, `AUTH`, `GET_CONFIG`, `ASSIGN_IP`, `ADD_ROUTES`, `CONNECTED`,
    /// `RECONNECTING`, `EXITING`, `RESOLVE`, `TCP_CONNECT`, `AUTH_PENDING`.
    pub name: &'static str,
    /// Why, or how it went.
    pub detail: String,
    /// The tunnel's address here.
    pub ipv4: Option<Ipv4Addr>,
    /// The server.
    pub remote: Option<SocketAddr>,
    /// Where packets to the server leave from.
    pub local: Option<SocketAddr>,
    /// The tunnel's address of IPv6 here.
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

/// What is asked of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// `Auth`, `Private Key`.
    pub kind: String,
    /// Whether a username is needed beside the password.
    pub username: bool,
    /// `static-challenge`: its text, and whether what is typed may be shown.
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

/// What happened to a client of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientNews<'a> {
    /// It came, and is to be accepted or refused: its number, and its key's.
    Connect(u64, u64),
    /// Its session is renewed, and is to be accepted or refused: its number, and its key's.
    Reauth(u64, u64),
    /// Its tunnel stands.
    Established(u64),
    /// It is gone.
    Disconnect(u64),
    /// It answered a challenge: its number, its key's, and the answer in base 64.
    Response(u64, u64, &'a str),
}

impl Management {
    /// Tells a change of state.
    pub fn state(&mut self, change: &StateChange) {
        let line = change.line();
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.state) {
            self.news(&format!(">STATE:{line}"));
        }
        self.states.push(line);
    }

    /// Tells a line of the log.
    pub fn log(&mut self, record: &Record) {
        let line = format!("{},{},{}", record.unix, record.level.letter(), record.text);
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.log) {
            self.news(&format!(">LOG:{line}"));
        }
        self.log.push(line);
    }

    /// Tells a message of `echo`; `unix` in seconds of 1970.
    pub fn echo(&mut self, unix: u64, text: &str) {
        let line = format!("{unix},{}", one_line(text));
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.echo) {
            self.news(&format!(">ECHO:{line}"));
        }
        self.echoes.push(line);
    }

    /// Whether bytes are to be told now; if so, the next time is an interval later.
    pub fn bytecount_is_due(&mut self, now: Duration) -> bool {
        let due = self.bytecount.is_some_and(|interval| now >= self.last_bytecount + interval);
        if due {
            self.last_bytecount = now;
        }
        due
    }

    /// Tells a client's bytes.
    pub fn bytecount(&mut self, received: u64, sent: u64) {
        self.news(&format!(">BYTECOUNT:{received},{sent}"));
    }

    /// Tells the bytes of one client of a server.
    pub fn bytecount_of(&mut self, client: u64, received: u64, sent: u64) {
        self.news(&format!(">BYTECOUNT_CLI:{client},{received},{sent}"));
    }

    /// Whether to wait for a release before a start; then this asks for it. `seconds` is how long would
    /// be waited without anybody.
    pub fn hold(&mut self, seconds: u32) -> bool {
        if self.settings.hold {
            self.holding = Some(seconds);
            self.must(&format!(">HOLD:Waiting for hold release:{seconds}"));
        }
        self.settings.hold
    }

    /// Asks for a password, now or as soon as somebody connects.
    pub fn ask(&mut self, query: Query) {
        self.must(&query.line());
        self.username = None;
        self.query = Some(query);
    }

    /// Nothing is asked for any more.
    pub fn stop_asking(&mut self) {
        self.query = None;
    }

    /// Tells that a password was refused; `reason` is the server's.
    pub fn refused(&mut self, kind: &str, reason: Option<&str>) {
        let reason = reason.map(|reason| format!(" ['{}']", one_line(reason))).unwrap_or_default();
        self.must(&format!(">PASSWORD:Verification Failed: '{kind}'{reason}"));
    }

    /// Tells what the server wants the user to see (`INFO_PRE`).
    pub fn info_message(&mut self, text: &str) {
        self.must(&format!(">INFOMSG:{}", one_line(text)));
    }

    /// Tells why the program ends.
    pub fn fatal(&mut self, text: &str) {
        self.must(&format!(">FATAL:{}", one_line(text)));
    }

    /// Asks which server to connect to.
    pub fn ask_remote(&mut self, host: &str, port: u16, protocol: &str) {
        self.must(&format!(">REMOTE:{},{port},{protocol}", one_line(host)));
    }

    /// Tells what happened to a client, with its environment.
    pub fn client<'a>(
        &mut self,
        news: ClientNews<'_>,
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let mut lines = match news {
            ClientNews::Connect(client, key) => format!(">CLIENT:CONNECT,{client},{key}\n"),
            ClientNews::Reauth(client, key) => format!(">CLIENT:REAUTH,{client},{key}\n"),
            ClientNews::Established(client) => format!(">CLIENT:ESTABLISHED,{client}\n"),
            ClientNews::Disconnect(client) => format!(">CLIENT:DISCONNECT,{client}\n"),
            ClientNews::Response(client, key, text) => {
                format!(">CLIENT:CR_RESPONSE,{client},{key},{}\n", one_line(text))
            }
        };
        for (name, value) in environment {
            let _ = writeln!(lines, ">CLIENT:ENV,{name}={}", one_line(value));
        }
        lines += ">CLIENT:ENV,END\n";
        self.must(&lines);
    }

    /// Tells an address of a client; `primary` unless it is that of a network behind it.
    pub fn client_address(&mut self, client: u64, address: IpAddr, primary: bool) {
        self.must(&format!(">CLIENT:ADDRESS,{client},{address},{}", u8::from(primary)));
    }

    /// Lines that a client can do without.
    fn news(&mut self, line: &str) {
        if let Some(connection) = &mut self.connection
            && connection.attempts.is_none()
        {
            connection.output.news(line);
        }
    }

    /// Lines that a client needs.
    fn must(&mut self, lines: &str) {
        if let Some(connection) = &mut self.connection
            && connection.attempts.is_none()
        {
            connection.output.lines(lines);
        }
    }
}
