//! Real-time notifications of the management interface: state changes, log lines, byte counts,
//! questions and client events.
//!
//! Source: management-notes.txt, "REAL-TIME MESSAGE FORMAT".

use std::fmt::Write;
use std::net::IpAddr;
use std::time::Duration;

use super::Management;
use super::messages::{ClientEvent, Query, StateChange, one_line, string_query_line};
use crate::service::log::Record;

impl Management {
    /// Reports a change of state.
    pub fn state(&mut self, change: &StateChange) {
        let line = change.line();
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.state) {
            self.notify_optional(&format!(">STATE:{line}"));
        }
        self.states.push(line);
    }

    /// Reports a log line.
    pub fn log(&mut self, record: &Record) {
        let line = format!("{},{},{}", record.unix, record.level.letter(), record.text);
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.log) {
            self.notify_optional(&format!(">LOG:{line}"));
        }
        self.log.push(line);
    }

    /// Reports an `echo` message; `unix` is in seconds since 1970.
    pub fn echo(&mut self, unix: u64, text: &str) {
        let line = format!("{unix},{}", one_line(text));
        if self.connection.as_ref().is_some_and(|connection| connection.realtime.echo) {
            self.notify_optional(&format!(">ECHO:{line}"));
        }
        self.echoes.push(line);
    }

    /// Returns whether byte counts are due; if so, schedules the next report.
    pub fn bytecount_is_due(&mut self, now: Duration) -> bool {
        let due = self.bytecount.is_some_and(|interval| now >= self.last_bytecount + interval);
        if due {
            self.last_bytecount = now;
        }
        due
    }

    /// Reports a client's byte counts.
    pub fn bytecount(&mut self, received: u64, sent: u64) {
        self.notify_optional(&format!(">BYTECOUNT:{received},{sent}"));
    }

    /// Reports the byte counts of one of the server's clients.
    pub fn bytecount_of(&mut self, client: u64, received: u64, sent: u64) {
        self.notify_optional(&format!(">BYTECOUNT_CLI:{client},{received},{sent}"));
    }

    /// Returns whether to wait for a release before a start, and if so asks for it. `seconds` is
    /// the time that the program would wait without a management client.
    pub fn hold(&mut self, seconds: u32) -> bool {
        if self.settings.hold {
            self.holding = Some(seconds);
            self.notify(&format!(">HOLD:Waiting for hold release:{seconds}"));
        }
        self.settings.hold
    }

    /// Asks for a password, now or once a management client connects.
    pub fn ask(&mut self, query: Query) {
        self.notify(&query.line());
        self.username = None;
        self.query = Some(query);
    }

    /// Asks for a text, now or once a management client connects.
    pub fn ask_string(&mut self, kind: &'static str, message: &'static str) {
        self.notify(&string_query_line(kind, message));
        self.string_query = Some((kind, message));
    }

    /// Sets the certificates in tokens, each as its name and its DER in Base64, for
    /// `pkcs11-id-count` and `pkcs11-id-get`.
    pub fn offer_certificates(&mut self, certificates: Vec<(String, String)>) {
        self.certificates = certificates;
    }

    /// Withdraws the pending question.
    pub fn stop_asking(&mut self) {
        self.query = None;
    }

    /// Reports a refused password; `reason` is the server's.
    pub fn refused(&mut self, kind: &str, reason: Option<&str>) {
        let reason = reason.map(|reason| format!(" ['{}']", one_line(reason))).unwrap_or_default();
        self.notify(&format!(">PASSWORD:Verification Failed: '{kind}'{reason}"));
    }

    /// Reports the server's message for the user (`INFO_PRE`).
    pub fn info_message(&mut self, text: &str) {
        self.notify(&format!(">INFOMSG:{}", one_line(text)));
    }

    /// Reports why the program ends.
    pub fn fatal(&mut self, text: &str) {
        self.notify(&format!(">FATAL:{}", one_line(text)));
    }

    /// Asks which server to connect to.
    pub fn ask_remote(&mut self, host: &str, port: u16, protocol: &str) {
        self.notify(&format!(">REMOTE:{},{port},{protocol}", one_line(host)));
    }

    /// Reports a client event with its environment.
    pub fn client<'a>(
        &mut self,
        event: ClientEvent<'_>,
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let mut lines = match event {
            ClientEvent::Connect(client, key) => format!(">CLIENT:CONNECT,{client},{key}\n"),
            ClientEvent::Reauth(client, key) => format!(">CLIENT:REAUTH,{client},{key}\n"),
            ClientEvent::Established(client) => format!(">CLIENT:ESTABLISHED,{client}\n"),
            ClientEvent::Disconnect(client) => format!(">CLIENT:DISCONNECT,{client}\n"),
            ClientEvent::Response(client, key, text) => {
                format!(">CLIENT:CR_RESPONSE,{client},{key},{}\n", one_line(text))
            }
        };
        for (name, value) in environment {
            let _ = writeln!(lines, ">CLIENT:ENV,{name}={}", one_line(value));
        }
        lines += ">CLIENT:ENV,END\n";
        self.notify(&lines);
    }

    /// Reports a client's address; `primary` is false for a network behind the client.
    pub fn client_address(&mut self, client: u64, address: IpAddr, primary: bool) {
        self.notify(&format!(">CLIENT:ADDRESS,{client},{address},{}", u8::from(primary)));
    }

    /// Queues lines that may be dropped if the client reads too slowly.
    fn notify_optional(&mut self, line: &str) {
        if let Some(connection) = &mut self.connection
            && connection.attempts.is_none()
        {
            connection.output.optional_line(line);
        }
    }

    /// Queues lines that must not be dropped.
    fn notify(&mut self, lines: &str) {
        if let Some(connection) = &mut self.connection
            && connection.attempts.is_none()
        {
            connection.output.lines(lines);
        }
    }
}
