//! Parses the commands of a management client.
//!
//! Source: management-notes.txt, "COMMAND"; error texts as in OpenVPN 2.6.14.

use std::net::SocketAddr;

use zeroize::Zeroizing;

use super::super::signals::Signal;
use super::super::words::words;

/// Which entries of a history to show, and whether to enable real-time notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Show {
    pub(super) realtime: Option<bool>,
    /// Number of last entries; `usize::MAX` is all.
    pub(super) last: Option<usize>,
}

/// The clients to disconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// All clients with this common name.
    Name(String),
    /// The client at this address.
    Address(SocketAddr),
}

/// A client's reaction to a refused password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthRetry {
    /// Exit.
    #[default]
    None,
    /// Ask again.
    Interact,
    /// Retry with the same password.
    NoInteract,
}

/// The decision about the next server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Connect to it.
    Accept,
    /// Skip this many.
    Skip(u32),
    /// Connect to this host and port instead.
    Replace(String, String),
}

/// A parsed command.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Version(Option<u32>),
    Pid,
    State(Show),
    Log(Show),
    Echo(Show),
    Status(Option<u32>),
    Bytecount(u64),
    Kill(Target),
    Signal(Signal),
    Hold,
    HoldFlag(bool),
    HoldRelease,
    Username { kind: String, value: String },
    Password { kind: String, value: Zeroizing<String> },
    ForgetPasswords,
    Verb(Option<u8>),
    Mute(Option<u32>),
    AuthRetry(Option<AuthRetry>),
    LoadStats,
    Drain(bool),
    PushUpdate { client: Option<u64>, options: String },
    ClientKill { client: u64, message: Option<String> },
    ClientAuth { client: u64, key: u64, with_text: bool },
    ClientDeny { client: u64, key: u64, reason: String, for_client: Option<String> },
    PendingAuth { client: u64, key: u64, extra: String, timeout: u32 },
    NeedOk { kind: String, ok: bool },
    NeedString { kind: String, value: String },
    ChallengeResponse(Zeroizing<String>),
    Remote(Remote),
    RemoteCount,
    RemoteEntries { first: usize, end: usize },
    CertificateCount,
    Certificate(usize),
    Exit,
}

/// The highest verbosity.
const MOST_VERBOSE: u8 = 15;

/// Parses a line. Returns `None` for an empty one.
///
/// # Errors
///
/// The error text, without the `ERROR: ` prefix.
pub(super) fn parse(line: &str) -> Result<Option<Command>, String> {
    let words = words(line).map_err(|error| format!("Options error: {error}"))?;
    let words = Zeroizing::new(words);
    let Some((name, arguments)) = words.split_first() else { return Ok(None) };
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    command(name, &arguments).map(Some)
}

fn command(name: &str, arguments: &[&str]) -> Result<Command, String> {
    let needs = |count: usize| match count {
        1 => format!("the '{name}' command requires 1 parameter"),
        count => format!("the '{name}' command requires {count} parameters"),
    };
    let one = || arguments.first().copied().ok_or_else(|| needs(1));
    let two = || match arguments {
        [first, second, ..] => Ok((*first, *second)),
        _ => Err(needs(2)),
    };
    let client_and_key = |first: &str, second: &str| {
        let client = first.parse().map_err(|_| "cannot parse CID".to_owned())?;
        let key = second.parse().map_err(|_| "cannot parse KID".to_owned())?;
        Ok::<(u64, u64), String>((client, key))
    };
    Ok(match name {
        "help" => Command::Help,
        "version" => Command::Version(optional(arguments, "bad version parameter")?),
        "pid" => Command::Pid,
        "state" => Command::State(show(name, arguments)?),
        "log" => Command::Log(show(name, arguments)?),
        "echo" => Command::Echo(show(name, arguments)?),
        "status" => Command::Status(optional(arguments, "bad status parameter")?),
        "bytecount" => {
            Command::Bytecount(one()?.parse().map_err(|_| "bad bytecount parameter".to_owned())?)
        }
        "kill" => Command::Kill(target(one()?)?),
        "signal" => {
            let unknown = || format!("signal '{}' is not a known signal type", one().unwrap_or(""));
            let allowed = |signal: &Signal| *signal != Signal::Interrupt;
            Command::Signal(Signal::from_name(one()?).filter(allowed).ok_or_else(unknown)?)
        }
        "hold" => match arguments.first() {
            None => Command::Hold,
            Some(&"on") => Command::HoldFlag(true),
            Some(&"off") => Command::HoldFlag(false),
            Some(&"release") => Command::HoldRelease,
            Some(_) => return Err("bad hold command parameter".into()),
        },
        "username" => {
            let (kind, value) = two()?;
            Command::Username { kind: kind.into(), value: value.into() }
        }
        "password" => {
            let (kind, value) = two()?;
            Command::Password { kind: kind.into(), value: Zeroizing::new(value.into()) }
        }
        "forget-passwords" => Command::ForgetPasswords,
        "verb" => {
            let verb: Option<u8> = optional(arguments, "verb level is out of range")?;
            match verb {
                Some(verb) if verb > MOST_VERBOSE => {
                    return Err("verb level is out of range".into());
                }
                verb => Command::Verb(verb),
            }
        }
        "mute" => Command::Mute(optional(arguments, "mute level is out of range")?),
        "auth-retry" => Command::AuthRetry(match arguments.first() {
            None => None,
            Some(&"none") => Some(AuthRetry::None),
            Some(&"interact") => Some(AuthRetry::Interact),
            Some(&"nointeract") => Some(AuthRetry::NoInteract),
            Some(_) => return Err("bad auth-retry parameter".into()),
        }),
        "load-stats" => Command::LoadStats,
        "drain" => match arguments.first() {
            None | Some(&"on") => Command::Drain(true),
            Some(&"off") => Command::Drain(false),
            Some(_) => return Err("bad drain parameter: use on or off".into()),
        },
        "push-update-broad" => Command::PushUpdate { client: None, options: one()?.into() },
        "push-update-cid" => {
            let (client, options) = two()?;
            let client = client.parse().map_err(|_| "cannot parse CID".to_owned())?;
            Command::PushUpdate { client: Some(client), options: options.into() }
        }
        "client-kill" => {
            let client = one()?.parse().map_err(|_| "cannot parse CID".to_owned())?;
            Command::ClientKill { client, message: arguments.get(1).map(|&text| text.into()) }
        }
        "client-auth" | "client-auth-nt" => {
            let (client, key) = two().and_then(|(client, key)| client_and_key(client, key))?;
            Command::ClientAuth { client, key, with_text: name == "client-auth" }
        }
        "client-deny" => {
            let [first, second, reason, rest @ ..] = arguments else { return Err(needs(3)) };
            let (client, key) = client_and_key(first, second)?;
            let for_client = rest.first().map(|&text| text.into());
            Command::ClientDeny { client, key, reason: (*reason).into(), for_client }
        }
        "client-pending-auth" => {
            let [first, second, extra, timeout, ..] = arguments else { return Err(needs(4)) };
            let (client, key) = client_and_key(first, second)?;
            let timeout = timeout.parse().map_err(|_| "cannot parse timeout".to_owned())?;
            Command::PendingAuth { client, key, extra: (*extra).into(), timeout }
        }
        "needok" => {
            let (kind, action) = two()?;
            let ok = match action {
                "ok" => true,
                "cancel" => false,
                _ => return Err("bad needok parameter".into()),
            };
            Command::NeedOk { kind: kind.into(), ok }
        }
        "needstr" => {
            let (kind, value) = two()?;
            Command::NeedString { kind: kind.into(), value: value.into() }
        }
        "cr-response" => Command::ChallengeResponse(Zeroizing::new(one()?.into())),
        "remote" => Command::Remote(match (one()?, &arguments[1..]) {
            ("ACCEPT", []) => Remote::Accept,
            ("SKIP", []) => Remote::Skip(1),
            ("SKIP", [count]) => {
                Remote::Skip(count.parse().map_err(|_| "bad remote parameter".to_owned())?)
            }
            ("MOD", [host, port]) => Remote::Replace((*host).into(), (*port).into()),
            _ => return Err("bad remote parameter".into()),
        }),
        "remote-entry-count" => Command::RemoteCount,
        "remote-entry-get" => {
            let number = |text: &str| {
                text.parse::<usize>().map_err(|_| "bad remote-entry-get parameter".to_owned())
            };
            match (one()?, arguments.get(1)) {
                ("all", _) => Command::RemoteEntries { first: 0, end: usize::MAX },
                (first, None) => {
                    let first = number(first)?;
                    Command::RemoteEntries { first, end: first.saturating_add(1) }
                }
                (first, Some(end)) => {
                    Command::RemoteEntries { first: number(first)?, end: number(end)? }
                }
            }
        }
        "pkcs11-id-count" => Command::CertificateCount,
        "pkcs11-id-get" => Command::Certificate(
            one()?.parse().map_err(|_| "bad pkcs11-id-get parameter".to_owned())?,
        ),
        "exit" | "quit" => Command::Exit,
        _ => return Err("unknown command, enter 'help' for more options".into()),
    })
}

fn optional<T: std::str::FromStr>(arguments: &[&str], wrong: &str) -> Result<Option<T>, String> {
    arguments.first().map(|text| text.parse()).transpose().map_err(|_| wrong.to_owned())
}

fn show(name: &str, arguments: &[&str]) -> Result<Show, String> {
    let wrong = || format!("{name} parameter must be 'on' or 'off' or some number n or 'all'");
    let mut show = Show::default();
    for argument in arguments {
        match *argument {
            "on" => show.realtime = Some(true),
            "off" => show.realtime = Some(false),
            "all" => show.last = Some(usize::MAX),
            number => show.last = Some(number.parse().map_err(|_| wrong())?),
        }
    }
    Ok(show)
}

/// Parses a client to disconnect: an address with port contains a colon, a common name does not.
fn target(text: &str) -> Result<Target, String> {
    if !text.contains(':') {
        return Ok(Target::Name(text.into()));
    }
    let address = text.parse().map_err(|_| format!("error parsing IP address: {text}"))?;
    Ok(Target::Address(address))
}

/// The text of `help`.
pub(super) const HELP: &str = "\
auth-retry t           : Answer to a refused password (none,interact,nointeract).
bytecount n            : Report bytes in and out every n seconds (0=off).
client-auth CID KID    : Accept a client; lines of configuration follow, then END.
client-auth-nt CID KID : Accept a client.
client-deny CID KID R [CR] : Refuse a client with reason R for the log and CR for the client.
client-kill CID [M]    : End client CID with message M.
client-pending-auth CID KID MSG timeout : Tell a client that its authentication goes on.
cr-response response   : Send the answer to a challenge to the server.
echo [on|off] [N|all]  : As log, for messages of echo.
exit|quit              : Close the management session.
forget-passwords       : Forget passwords entered so far.
help                   : Print this message.
hold [on|off|release]  : Show or set the hold flag, or end the wait.
kill cn                : End the clients of the common name cn.
kill IP:port           : End the client at this address.
load-stats             : Show the number of clients and the bytes of all.
log [on|off] [N|all]   : Show the log as it is written, or its last N lines.
mute [n]               : Show or set how many similar messages are logged in a row.
needok type action     : Answer NEED-OK, with ok or cancel.
needstr type action    : Answer NEED-STR.
password type p        : Enter a password that was asked for.
pid                    : Show the process's number.
pkcs11-id-count        : Show the number of certificates in tokens.
pkcs11-id-get i        : Show the name of a certificate, from 0, and its Base64.
push-update-broad options : Change pushed options of all clients, as in \"route …, -dns\".
push-update-cid CID options : Change pushed options of client CID.
remote type [host port] : Answer REMOTE: ACCEPT, MOD or SKIP.
remote-entry-count     : Show the number of configured servers.
remote-entry-get i|all [j] : Show servers from i to j-1, or all.
signal s               : Send the signal SIGHUP, SIGTERM, SIGUSR1 or SIGUSR2.
state [on|off] [N|all] : As log, for changes of state.
status [n]             : Show the status in format n.
username type u        : Enter a username that was asked for.
verb [n]               : Show or set how much is logged.
version [n]            : Show versions, or set the client's.";
