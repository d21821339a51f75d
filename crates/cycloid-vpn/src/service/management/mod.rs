//! The management interface: lets another program monitor and control this one with lines of text
//! over a socket.
//!
//! The control thread polls [`interests`](Management::interests) and then calls
//! [`next`](Management::next) until it returns `None`. The interface answers what it can itself.
//! Other commands become an [`Event`]; one that [needs a reply](Event::needs_reply) must be
//! answered before the next call. One client is served at a time. A client that does not read,
//! sends nothing, or sends without end costs bounded memory and never blocks. A client that does
//! not give a required password is disconnected.
//!
//! Source: OpenVPN's management-notes.txt, and the answers of OpenVPN 2.6.14.

mod command;
mod connection;
mod event;
mod messages;
mod notifications;
mod output;

#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::PollFlags;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub use command::{AuthRetry, Remote, Target};
pub use connection::Endpoint;
pub use event::Event;
pub use messages::{ClientEvent, Query, StateChange};
use messages::{one_line, string_query_line};

use super::status;
use command::{Command, HELP, Show};
use connection::{Connection, Listener};
use output::History;

/// The implemented protocol version.
pub const VERSION: u32 = 5;
/// Number of state changes and echo messages to keep.
const HISTORY_LENGTH: usize = 100;
/// Time limit for a client to send its password or to read its output.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Wrong passwords before a client is disconnected.
const MAX_ATTEMPTS: u32 = 3;
/// The most lines of a `client-auth`.
const MAX_BLOCK: usize = 256;

/// Settings of the interface.
#[derive(Debug)]
pub struct Settings {
    /// The listening address.
    pub endpoint: Endpoint,
    /// The password that a client must send first.
    pub password: Option<Zeroizing<String>>,
    /// Name and version of the program.
    pub title: String,
    /// Whether this is a server, with clients to list and disconnect.
    pub server: bool,
    /// `management-hold`: wait for a release before each start.
    pub hold: bool,
    /// `management-log-cache`: number of log lines to keep.
    pub log_lines: usize,
    /// The log's verbosity.
    pub verb: u8,
    /// The log's limit on repeated messages.
    pub mute: u32,
    /// Reaction to a refused password.
    pub auth_retry: AuthRetry,
}

/// The management interface.
#[derive(Debug)]
pub struct Management {
    settings: Settings,
    listener: Listener,
    connection: Option<Connection>,
    waits_for_reply: bool,
    /// Set while waiting for a release: the seconds that the program would wait without a
    /// management client.
    holding: Option<u32>,
    query: Option<Query>,
    /// A question for a text: its kind and its message.
    string_query: Option<(&'static str, &'static str)>,
    /// The names of certificates in tokens, and their Base64.
    certificates: Vec<(String, String)>,
    username: Option<String>,
    states: History,
    log: History,
    echoes: History,
    bytecount: Option<Duration>,
    last_bytecount: Duration,
}

impl Management {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The address or path cannot be used.
    pub fn listen(settings: Settings) -> io::Result<Self> {
        Ok(Self {
            listener: Listener::bind(&settings.endpoint)?,
            connection: None,
            waits_for_reply: false,
            holding: None,
            query: None,
            string_query: None,
            certificates: Vec::new(),
            username: None,
            states: History::new(HISTORY_LENGTH),
            log: History::new(settings.log_lines),
            echoes: History::new(HISTORY_LENGTH),
            bytecount: None,
            last_bytecount: Duration::ZERO,
            settings,
        })
    }

    /// Returns the TCP address that it listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.address()
    }

    /// Returns at most two descriptors to poll, with their events.
    pub fn interests(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let listener = self.connection.is_none().then(|| (self.listener.fd(), PollFlags::IN));
        let connection = self.connection.as_ref().map(|connection| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.may_read());
            flags.set(PollFlags::OUT, !connection.output.is_empty());
            (connection.fd(), flags)
        });
        listener.into_iter().chain(connection)
    }

    /// Returns the latest time for the next call of [`next`](Self::next) or byte count report.
    pub fn deadline(&self) -> Option<Duration> {
        let connection = self.connection.as_ref()?;
        let patience = connection.owes_since().map(|since| since + CLIENT_TIMEOUT);
        let bytecount = self.bytecount.map(|interval| self.last_bytecount + interval);
        patience.into_iter().chain(bytecount).min()
    }

    /// Transfers bytes and returns the next request. `now` counts from an arbitrary start. A
    /// previous event that needed a reply and got none is answered as unsupported.
    pub fn next(&mut self, now: Duration) -> Option<Event> {
        if std::mem::take(&mut self.waits_for_reply) {
            self.reply_error("the command is not supported by the current daemon mode");
        }
        loop {
            if self.connection.is_none() {
                let with_password = self.settings.password.is_some();
                let stream = self.listener.accept()?;
                let mut connection = Connection::new(stream, with_password, now);
                if with_password {
                    connection.output.raw("ENTER PASSWORD:");
                }
                self.connection = Some(connection);
                if !with_password {
                    self.welcome();
                    return Some(Event::Connected);
                }
            }
            let connection = self.connection.as_mut()?;
            let read = connection.read();
            match read.and_then(|()| connection.line()) {
                Ok(Some(line)) => {
                    if let Some(event) = self.line(&line) {
                        self.waits_for_reply = event.needs_reply();
                        return Some(event);
                    }
                }
                Ok(None) => {
                    connection.closing |= connection.ended && !connection.output.is_high();
                    let sent = connection.send(now);
                    let late = |since| now >= since + CLIENT_TIMEOUT;
                    if sent.is_err() || connection.owes_since().is_some_and(late) {
                        return self.end();
                    }
                    return None;
                }
                Err(_) => {
                    let _ = connection.send(now);
                    return self.end();
                }
            }
        }
    }

    /// Replies with `SUCCESS`.
    pub fn success(&mut self, text: &str) {
        self.waits_for_reply = false;
        self.reply(&format!("SUCCESS: {}", one_line(text)));
    }

    /// Replies with `ERROR`.
    pub fn error(&mut self, text: &str) {
        self.waits_for_reply = false;
        self.reply_error(text);
    }

    /// Replies with lines, and appends `END` if it is missing.
    pub fn lines(&mut self, text: &str) {
        self.waits_for_reply = false;
        let ends = text.lines().next_back() == Some("END");
        self.reply(text);
        if !ends {
            self.reply("END");
        }
    }

    fn reply(&mut self, lines: &str) {
        if let Some(connection) = &mut self.connection {
            connection.output.lines(lines);
        }
    }

    fn reply_error(&mut self, text: &str) {
        self.reply(&format!("ERROR: {}", one_line(text)));
    }

    /// Ends the connection. Returns an event if the connection had been announced.
    fn end(&mut self) -> Option<Event> {
        let connection = self.connection.take()?;
        self.bytecount = None;
        self.username = None;
        connection.attempts.is_none().then_some(Event::Disconnected)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        let connection = self.connection.as_mut()?;
        if let Some(attempts) = connection.attempts {
            return self.password(line, attempts);
        }
        if let Some((client, key, mut lines)) = connection.block.take() {
            if line == "END" {
                return Some(Event::ClientAuth { client, key, lines });
            }
            if lines.len() >= MAX_BLOCK {
                connection.closing = true;
                return None;
            }
            lines.push(line.to_owned());
            connection.block = Some((client, key, lines));
            return None;
        }
        match command::parse(line) {
            Ok(Some(command)) => self.command(command),
            Ok(None) => None,
            Err(text) => {
                self.reply_error(&text);
                None
            }
        }
    }

    fn password(&mut self, line: &str, attempts: u32) -> Option<Event> {
        let expected = self.settings.password.as_ref()?;
        let right = bool::from(line.as_bytes().ct_eq(expected.as_bytes()));
        let connection = self.connection.as_mut()?;
        if right {
            connection.attempts = None;
            self.reply("SUCCESS: password is correct");
            self.welcome();
            return Some(Event::Connected);
        }
        connection.attempts = Some(attempts + 1);
        connection.closing = attempts + 1 >= MAX_ATTEMPTS;
        connection.output.lines("ERROR: bad password");
        if !connection.closing {
            connection.output.raw("ENTER PASSWORD:");
        }
        None
    }

    /// Greets a new client, and repeats pending questions.
    fn welcome(&mut self) {
        self.reply(&format!(
            ">INFO:OpenVPN Management Interface Version {VERSION} -- type 'help' for more info"
        ));
        if let Some(seconds) = self.holding {
            self.reply(&format!(">HOLD:Waiting for hold release:{seconds}"));
        }
        if let Some(query) = &self.query {
            let line = query.line();
            self.reply(&line);
        }
        if let Some((kind, message)) = self.string_query {
            self.reply(&string_query_line(kind, message));
        }
    }

    fn command(&mut self, command: Command) -> Option<Event> {
        let server = self.settings.server;
        let done = |management: &mut Self, text: &str, event: Event| {
            management.reply(&format!("SUCCESS: {text}"));
            Some(event)
        };
        match command {
            Command::Help => self.reply(&format!(
                "Management Interface for {}\nCommands:\n{HELP}\nEND",
                self.settings.title
            )),
            Command::Version(None) => self.reply(&format!(
                "OpenVPN Version: {}\nManagement Version: {VERSION}\nEND",
                self.settings.title
            )),
            Command::Version(Some(_)) => {}
            Command::Pid => self.reply(&format!("SUCCESS: pid={}", std::process::id())),
            Command::State(Show { realtime: None, last: None }) => {
                let text = self.states.text(1);
                self.reply(&text);
            }
            Command::State(show) => self.show("state", show),
            Command::Log(show) => self.show("log", show),
            Command::Echo(show) => self.show("echo", show),
            Command::Bytecount(seconds) => {
                let interval = Duration::from_secs(seconds.min(u64::from(u32::MAX)));
                self.bytecount = Some(interval).filter(|interval| !interval.is_zero());
                self.reply("SUCCESS: bytecount interval changed");
            }
            Command::Hold => {
                let flag = u8::from(self.settings.hold);
                self.reply(&format!("SUCCESS: hold={flag}"));
            }
            Command::HoldFlag(flag) => {
                self.settings.hold = flag;
                let flag = if flag { "ON" } else { "OFF" };
                self.reply(&format!("SUCCESS: hold flag set to {flag}"));
            }
            Command::HoldRelease => {
                self.holding = None;
                return done(self, "hold release succeeded", Event::Released);
            }
            Command::Verb(None) => self.reply(&format!("SUCCESS: verb={}", self.settings.verb)),
            Command::Verb(Some(verb)) => {
                self.settings.verb = verb;
                return done(self, "verb level changed", Event::Verb(verb));
            }
            Command::Mute(None) => self.reply(&format!("SUCCESS: mute={}", self.settings.mute)),
            Command::Mute(Some(mute)) => {
                self.settings.mute = mute;
                return done(self, "mute level changed", Event::Mute(mute));
            }
            Command::AuthRetry(None) => {
                let method = match self.settings.auth_retry {
                    AuthRetry::None => "none",
                    AuthRetry::Interact => "interact",
                    AuthRetry::NoInteract => "nointeract",
                };
                self.reply(&format!("SUCCESS: auth-retry={method}"));
            }
            Command::AuthRetry(Some(method)) => {
                self.settings.auth_retry = method;
                return done(self, "auth-retry parameter changed", Event::AuthRetry(method));
            }
            Command::Signal(signal) => {
                let text = format!("signal {signal} thrown");
                return done(self, &text, Event::Signal(signal));
            }
            Command::ForgetPasswords => {
                return done(self, "Passwords were forgotten", Event::ForgetPasswords);
            }
            Command::Username { kind, value } => self.take_username(&kind, value),
            Command::Password { kind, value } => return self.take_password(&kind, value),
            Command::Exit => self.connection.as_mut()?.closing = true,
            Command::Status(number) => match number.map(status::Version::new) {
                None => return Some(Event::Status(None)),
                Some(Some(version)) => return Some(Event::Status(Some(version))),
                Some(None) => self.reply_error("unknown status format"),
            },
            Command::LoadStats => return Some(Event::LoadStats),
            Command::Drain(on) => return Some(Event::Drain(on)),
            Command::PushUpdate { client, options } if server => {
                return Some(Event::PushUpdate { client, options });
            }
            Command::Kill(target) if server => return Some(Event::Kill(target)),
            Command::ClientKill { client, message } if server => {
                return Some(Event::ClientKill { client, message });
            }
            Command::ClientAuth { client, key, with_text: true } if server => {
                self.connection.as_mut()?.block = Some((client, key, Vec::new()));
            }
            Command::ClientAuth { client, key, .. } if server => {
                return Some(Event::ClientAuth { client, key, lines: Vec::new() });
            }
            Command::ClientDeny { client, key, reason, for_client } if server => {
                return Some(Event::ClientDeny { client, key, reason, for_client });
            }
            Command::PendingAuth { client, key, extra, timeout } if server => {
                return Some(Event::PendingAuth { client, key, extra, timeout });
            }
            Command::NeedOk { kind, ok } if !server => return Some(Event::NeedOk { kind, ok }),
            Command::NeedString { kind, value } => {
                if self.string_query.as_ref().is_none_or(|(asked, _)| *asked != kind) {
                    self.reply_error(&format!("'{kind}' was not asked for"));
                    return None;
                }
                self.string_query = None;
                let text = format!("'{kind}' needstr-string entered, but not yet verified");
                return done(self, &text, Event::NeedString(value));
            }
            Command::CertificateCount => {
                let count = self.certificates.len();
                self.reply(&format!(">PKCS11ID-COUNT:{count}"));
            }
            Command::Certificate(index) => {
                let entry = match self.certificates.get(index) {
                    Some((name, der)) => {
                        format!(">PKCS11ID-ENTRY:'{index}', ID:'{name}', BLOB:'{der}'")
                    }
                    None => format!(">PKCS11ID-ENTRY:'{index}'"),
                };
                self.reply(&entry);
            }
            Command::ChallengeResponse(response) if !server => {
                return Some(Event::ChallengeResponse(response));
            }
            Command::Remote(remote) if !server => return Some(Event::Remote(remote)),
            Command::RemoteCount if !server => return Some(Event::RemoteCount),
            Command::RemoteEntries { first, end } if !server => {
                return Some(Event::RemoteEntries { first, end });
            }
            _ => self.reply_error("the command is not supported by the current daemon mode"),
        }
        None
    }

    fn show(&mut self, what: &str, show: Show) {
        let Some(connection) = &mut self.connection else { return };
        let (history, flag) = match what {
            "state" => (&self.states, &mut connection.realtime.state),
            "log" => (&self.log, &mut connection.realtime.log),
            _ => (&self.echoes, &mut connection.realtime.echo),
        };
        if let Some(realtime) = show.realtime {
            *flag = realtime;
            let word = if realtime { "ON" } else { "OFF" };
            let text = format!("SUCCESS: real-time {what} notification set to {word}");
            connection.output.lines(&text);
        }
        if let Some(last) = show.last {
            connection.output.lines(&history.text(last));
        }
    }

    fn take_username(&mut self, kind: &str, value: String) {
        match &self.query {
            Some(query) if query.username && query.kind == kind => {
                self.username = Some(value);
                self.reply(&format!("SUCCESS: '{kind}' username entered, but not yet verified"));
            }
            Some(query) if query.username => {
                let text = format!(
                    "username of type '{}' entered, but we need one of type '{}'",
                    one_line(kind),
                    query.kind
                );
                self.reply_error(&text);
            }
            _ => self.reply_error("no username is currently needed at this time"),
        }
    }

    fn take_password(&mut self, kind: &str, password: Zeroizing<String>) -> Option<Event> {
        let Some(query) = &self.query else {
            self.reply_error("no password is currently needed at this time");
            return None;
        };
        if query.kind != kind {
            let needed = query.kind.clone();
            self.reply_error(&format!(
                "password of type '{}' entered, but we need one of type '{needed}'",
                one_line(kind)
            ));
            return None;
        }
        if query.username && self.username.is_none() {
            self.reply_error("the username is needed before the password");
            return None;
        }
        self.query = None;
        self.reply(&format!("SUCCESS: '{kind}' password entered, but not yet verified"));
        Some(Event::Credentials { kind: kind.to_owned(), username: self.username.take(), password })
    }
}
