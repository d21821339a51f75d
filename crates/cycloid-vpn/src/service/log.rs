//! The log, written to standard output, a file or the system log, with verbosity and suppression of
//! repeated messages.
//!
//! Source: openvpn(8), "Log options"; syslog(3) for the datagrams of `/dev/log`.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::clock;

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The program ends.
    Fatal,
    /// An operation failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// Normal progress.
    Info,
    /// Internal details.
    Debug,
}

impl Level {
    /// Returns the letter of the management interface.
    pub fn letter(self) -> char {
        match self {
            Self::Fatal => 'F',
            Self::Error => 'N',
            Self::Warning => 'W',
            Self::Info => 'I',
            Self::Debug => 'D',
        }
    }

    /// Returns the flag of `machine-readable-output`.
    fn flag(self) -> u32 {
        match self {
            Self::Fatal => 0x10,
            Self::Error => 0x20,
            Self::Warning => 0x40,
            Self::Info => 0x01,
            Self::Debug => 0x80,
        }
    }

    /// Returns the syslog priority.
    fn priority(self) -> u32 {
        match self {
            Self::Fatal | Self::Error => 3,
            Self::Warning => 4,
            Self::Info => 6,
            Self::Debug => 7,
        }
    }
}

/// A logged message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time in seconds since 1970.
    pub unix: u64,
    /// The severity.
    pub level: Level,
    /// The text: one line without control characters.
    pub text: String,
}

/// The destination of messages.
#[derive(Debug)]
enum Sink {
    Writer(Box<dyn Writer>),
    System { socket: UnixDatagram, name: String },
}

trait Writer: Write + fmt::Debug + Send {}
impl<T: Write + fmt::Debug + Send> Writer for T {}

/// The prefix of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// The local time.
    #[default]
    Local,
    /// No prefix (`suppress-timestamps`).
    None,
    /// Seconds since 1970 to the microsecond, and the level as a number
    /// (`machine-readable-output`).
    Machine,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    sink: Sink,
    stamp: Stamp,
    verb: u8,
    mute: u32,
    /// The kind of the last messages, and their number in a row.
    last: Option<(&'static str, u32)>,
}

impl Log {
    /// Returns a log to standard output.
    pub fn stdout(verb: u8, stamp: Stamp) -> Self {
        Self::new(Sink::Writer(Box::new(io::stdout())), verb, stamp)
    }

    /// Returns a log to a file, which is truncated unless `append` is set.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn file(path: &Path, append: bool, verb: u8, stamp: Stamp) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        if append {
            options.append(true);
        } else {
            options.write(true).truncate(true);
        }
        Ok(Self::new(Sink::Writer(Box::new(options.open(path)?)), verb, stamp))
    }

    /// Returns a log to the system log, under a name.
    ///
    /// # Errors
    ///
    /// No system log.
    pub fn system(name: &str, verb: u8) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect("/dev/log")?;
        // A blocked system log must not stop the tunnel.
        socket.set_nonblocking(true)?;
        Ok(Self::new(Sink::System { socket, name: name.to_owned() }, verb, Stamp::None))
    }

    fn new(sink: Sink, verb: u8, stamp: Stamp) -> Self {
        Self { sink, stamp, verb, mute: 0, last: None }
    }

    /// Sets the verbosity, from 0 to 15.
    pub fn set_verb(&mut self, verb: u8) {
        self.verb = verb;
    }

    /// Sets how many messages of a kind are logged in a row; 0 is unlimited.
    pub fn set_mute(&mut self, mute: u32) {
        self.mute = mute;
        self.last = None;
    }

    /// Logs a message at this verbosity. `mute` limits consecutive messages of the same `kind`.
    /// Returns the written records for the management interface: none, the message, or the message
    /// after a note on suppressed ones.
    pub fn write(&mut self, level: Level, verb: u8, kind: &'static str, text: &str) -> Vec<Record> {
        if verb > self.verb {
            return Vec::new();
        }
        let mut records = Vec::new();
        let fatal = level == Level::Fatal;
        let in_row = match self.last {
            Some((last, count)) if last == kind => count + 1,
            before => {
                if let Some((_, count)) =
                    before.filter(|(_, count)| self.mute > 0 && *count > self.mute)
                {
                    let left_out = count - self.mute;
                    let mute = self.mute;
                    records.push(self.line(Level::Info, &format!(
                        "{left_out} variation(s) on previous {mute} message(s) suppressed by --mute"
                    )));
                }
                1
            }
        };
        self.last = Some((kind, in_row));
        if self.mute == 0 || in_row <= self.mute || fatal {
            records.push(self.line(level, text));
        } else if in_row == self.mute + 1 {
            records.push(self.line(Level::Info, "NOTE: --mute triggered..."));
        }
        records
    }

    fn line(&mut self, level: Level, text: &str) -> Record {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = escaped(text);
        let stamp = match self.stamp {
            Stamp::None => String::new(),
            Stamp::Local => clock::local(now.as_secs()) + " ",
            Stamp::Machine => {
                format!("{}.{:06} {:x} ", now.as_secs(), now.subsec_micros(), level.flag())
            }
        };
        // A failure to write the log cannot be reported anywhere.
        let _ = match &mut self.sink {
            Sink::Writer(writer) => writer
                .write_all(format!("{stamp}{text}\n").as_bytes())
                .and_then(|()| writer.flush()),
            Sink::System { socket, name } => {
                const DAEMON: u32 = 3 << 3;
                let (priority, process) = (DAEMON | level.priority(), std::process::id());
                socket.send(format!("<{priority}>{name}[{process}]: {text}").as_bytes()).map(drop)
            }
        };
        Record { unix: now.as_secs(), level, text }
    }
}

/// Escapes control characters: data from a peer must not start a new line or control a terminal.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push('\t'),
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                escaped.extend(c.escape_default());
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(records: &[Record]) -> Vec<&str> {
        records.iter().map(|record| record.text.as_str()).collect()
    }

    #[test]
    fn lines_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, "old\n").unwrap();
        let mut log = Log::file(&path, true, 3, Stamp::None).unwrap();
        log.write(Level::Info, 1, "a", "one\n2026 two\u{1b}[31m\u{202e}\n");
        assert!(log.write(Level::Debug, 4, "a", "quiet").is_empty());
        log.set_verb(4);
        log.write(Level::Debug, 4, "b", "loud");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "old\none\\n2026 two\\u{1b}[31m\\u{202e}\nloud\n");

        let mut log = Log::file(&path, false, 1, Stamp::Local).unwrap();
        let record = log.write(Level::Warning, 0, "a", "x").remove(0);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{} x\n", clock::local(record.unix)));
        let mut log = Log::file(&path, false, 1, Stamp::Machine).unwrap();
        log.write(Level::Warning, 0, "a", "x");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with(" 40 x\n"), "{text}");
    }

    #[test]
    fn repeated_messages_are_muted() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = Log::file(&directory.path().join("log"), false, 1, Stamp::None).unwrap();
        log.set_mute(2);
        let mut write = |kind, text| {
            let records = log.write(Level::Info, 1, kind, text);
            texts(&records).join("|")
        };
        assert_eq!(write("replay", "1"), "1");
        assert_eq!(write("replay", "2"), "2");
        assert_eq!(write("replay", "3"), "NOTE: --mute triggered...");
        assert_eq!(write("replay", "4"), "");
        assert_eq!(
            write("other", "5"),
            "2 variation(s) on previous 2 message(s) suppressed by --mute|5"
        );
        assert_eq!(write("replay", "6"), "6");
    }
}
