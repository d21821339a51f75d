//! Push replies, the options that a server sends its client: encodes, splits and parses them.
//!
//! Options that the protocol itself uses have typed fields. All others, such as routes and name
//! servers, are passed on as text in order; the table of directives in [`config`](crate::config)
//! interprets them.
//!
//! Source: openvpn(8), `--push`; draft-openvpn-wire-protocol, "Push reply"; the behaviour of
//! OpenVPN 2.6.

use std::fmt::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::Error;
use super::data::Framing;
pub use filter::{Filter, Verdict};
pub use update::{PushUpdate, UpdateParser};

/// Maximum message length in bytes, without the final zero byte.
const MAX_MESSAGE: usize = 1023;
/// Maximum option length in bytes that OpenVPN's clients accept.
const MAX_OPTION: usize = 255;
/// Maximum total length of a reply's messages in bytes.
const MAX_REPLY: usize = 1 << 18;
/// The valid range of the MTU.
const TUN_MTU: std::ops::RangeInclusive<u32> = 100..=65_535;

const COMMAND: &str = "PUSH_REPLY";
const MORE: &str = ",push-continuation 2";
const LAST: &str = ",push-continuation 1";

/// Negotiated protocol features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    /// `cc-exit`: the end of a session is announced inside TLS.
    pub cc_exit: bool,
    /// `tls-ekm`: data keys come from the TLS exporter.
    pub tls_ekm: bool,
    /// `dyn-tls-crypt`: renegotiations use dynamic tls-crypt.
    pub dynamic_tls_crypt: bool,
    /// `aead-epoch`: data keys by epochs.
    pub aead_epoch: bool,
}

/// A push reply.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PushReply {
    /// `ifconfig`: the client's address, and the netmask or, with a topology other than subnet, the
    /// server's address.
    pub ifconfig: Option<(Ipv4Addr, Ipv4Addr)>,
    /// `ifconfig-ipv6`: the client's address, the prefix length, and the server's address.
    pub ifconfig_ipv6: Option<(Ipv6Addr, u8, Option<Ipv6Addr>)>,
    /// `tun-mtu`, in bytes.
    pub tun_mtu: Option<u32>,
    /// `peer-id`, 24 bits, to be used in data packets.
    pub peer_id: Option<u32>,
    /// `cipher` of the data channel.
    pub cipher: Option<String>,
    /// `protocol-flags`, `key-derivation`.
    pub protocol: Protocol,
    /// `compress`, `comp-lzo`: the framing; this end never compresses.
    pub framing: Option<Framing>,
    /// Whether the server may compress: `compress lz4`, `comp-lzo yes`.
    pub compresses: bool,
    /// `ping`: interval in seconds in which to send something.
    pub ping: Option<u32>,
    /// `ping-restart`: seconds of silence before reconnecting.
    pub ping_restart: Option<u32>,
    /// `ping-exit`: seconds of silence before exiting.
    pub ping_exit: Option<u32>,
    /// `inactive`: period in seconds, and the number of bytes; exit if no more bytes than that were
    /// transferred in the period.
    pub inactive: Option<(u32, u64)>,
    /// `session-timeout`: seconds before exiting.
    pub session_timeout: Option<u32>,
    /// `explicit-exit-notify`: number of exit notifications.
    pub explicit_exit_notify: Option<u32>,
    /// `auth-token`: the token that replaces the password.
    pub auth_token: Option<Zeroizing<String>>,
    /// `auth-token-user`: the user name for the token.
    pub auth_token_user: Option<String>,
    options: Vec<String>,
}

impl PushReply {
    /// Returns the options without typed fields, in order.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Adds an option in the syntax of `push`.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] with the option's name if a typed option is malformed or makes the client
    /// compress, or with `option` if it exceeds 255 bytes or contains a comma or control character,
    /// which would make it two options.
    pub fn add(&mut self, option: &str) -> Result<(), Error> {
        let option = option.trim();
        if option.len() > MAX_OPTION || option.contains([',']) || option.contains(char::is_control)
        {
            return Err(Error::Push("option"));
        }
        self.read(option)?;
        if self.compresses {
            return Err(Error::Push("compress"));
        }
        Ok(())
    }

    /// Returns the reply's messages, in order.
    pub fn to_texts(&self) -> Vec<Zeroizing<String>> {
        let options = self.all();
        let mut texts = vec![empty_text()];
        for option in options.iter().filter(|option| !option.is_empty()) {
            let mut text = texts.last_mut().expect("one at least");
            if text.len() + 1 + option.len() + MORE.len() > MAX_MESSAGE {
                text.push_str(MORE);
                texts.push(empty_text());
                text = texts.last_mut().expect("one at least");
            }
            text.push(',');
            text.push_str(option);
        }
        if texts.len() > 1 {
            texts.last_mut().expect("one at least").push_str(LAST);
        }
        texts
    }

    fn all(&self) -> Vec<Zeroizing<String>> {
        let mut all: Vec<_> = self.options.iter().cloned().map(Zeroizing::new).collect();
        let mut say = |arguments: fmt::Arguments<'_>| {
            // Full capacity from the start, so that no copies of a token stay behind.
            let mut text = Zeroizing::new(String::with_capacity(MAX_MESSAGE));
            text.write_fmt(arguments).expect("a string takes all");
            all.push(text);
        };
        for (name, number) in [
            ("ping", self.ping),
            ("ping-restart", self.ping_restart),
            ("ping-exit", self.ping_exit),
            ("session-timeout", self.session_timeout),
            ("explicit-exit-notify", self.explicit_exit_notify),
            ("tun-mtu", self.tun_mtu),
            ("peer-id", self.peer_id),
        ] {
            if let Some(number) = number {
                say(format_args!("{name} {number}"));
            }
        }
        if let Some((seconds, bytes)) = self.inactive {
            say(format_args!("inactive {seconds} {bytes}"));
        }
        if let Some((address, second)) = self.ifconfig {
            say(format_args!("ifconfig {address} {second}"));
        }
        match self.ifconfig_ipv6 {
            Some((address, prefix, Some(remote))) => {
                say(format_args!("ifconfig-ipv6 {address}/{prefix} {remote}"));
            }
            Some((address, prefix, None)) => say(format_args!("ifconfig-ipv6 {address}/{prefix}")),
            None => {}
        }
        match self.framing {
            None | Some(Framing::None) => {}
            Some(Framing::Prefix) => say(format_args!("comp-lzo no")),
            Some(Framing::Swap) => say(format_args!("compress")),
            Some(Framing::StubV2) => say(format_args!("compress stub-v2")),
        }
        if let Some(cipher) = &self.cipher {
            say(format_args!("cipher {cipher}"));
        }
        self.protocol.say(&mut say);
        if let Some(user) = &self.auth_token_user {
            say(format_args!("auth-token-user {}", Base64::encode_string(user.as_bytes())));
        }
        if let Some(token) = &self.auth_token {
            say(format_args!("auth-token {}", **token));
        }
        all
    }

    fn read(&mut self, option: &str) -> Result<(), Error> {
        let words: Vec<&str> = option.split_ascii_whitespace().collect();
        let Some((name, arguments)) = words.split_first() else { return Ok(()) };
        let Some(&name) = TYPED.iter().find(|typed| *typed == name) else {
            self.options.push(option.to_owned());
            return Ok(());
        };
        self.read_typed(name, arguments).ok_or(Error::Push(name))
    }

    /// Returns `None` if the arguments are malformed.
    fn read_typed(&mut self, name: &str, arguments: &[&str]) -> Option<()> {
        let first = arguments.first().copied();
        let number = || -> Option<u32> { first?.parse().ok() };
        match name {
            "ping" => self.ping = Some(number()?),
            "ping-restart" => self.ping_restart = Some(number()?),
            "ping-exit" => self.ping_exit = Some(number()?),
            "session-timeout" => self.session_timeout = Some(number()?),
            "explicit-exit-notify" => {
                self.explicit_exit_notify = Some(if first.is_some() { number()? } else { 1 });
            }
            "inactive" => {
                let bytes = arguments.get(1).map_or(Ok(0), |bytes| bytes.parse()).ok()?;
                self.inactive = Some((number()?, bytes));
            }
            "tun-mtu" => self.tun_mtu = Some(number().filter(|mtu| TUN_MTU.contains(mtu))?),
            "peer-id" => self.peer_id = Some(number().filter(|id| *id < NO_PEER_ID)?),
            "cipher" => self.cipher = Some(first?.to_owned()),
            "ifconfig" => {
                self.ifconfig = Some((first?.parse().ok()?, arguments.get(1)?.parse().ok()?));
            }
            "ifconfig-ipv6" => {
                let (address, prefix) = first?.split_once('/')?;
                let prefix = prefix.parse().ok().filter(|prefix| *prefix <= 128)?;
                let remote = match arguments.get(1) {
                    Some(remote) => Some(remote.parse().ok()?),
                    None => None,
                };
                self.ifconfig_ipv6 = Some((address.parse().ok()?, prefix, remote));
            }
            "comp-lzo" => {
                self.compresses = match first {
                    Some("no") => false,
                    None | Some("yes" | "adaptive") => true,
                    Some(_) => return None,
                };
                self.framing = Some(Framing::Prefix);
            }
            "compress" => {
                let (framing, compresses) = match first {
                    None | Some("stub") => (Framing::Swap, false),
                    Some("stub-v2") => (Framing::StubV2, false),
                    Some("lzo") => (Framing::Prefix, true),
                    Some("lz4") => (Framing::Swap, true),
                    Some("lz4-v2") => (Framing::StubV2, true),
                    Some(_) => return None,
                };
                (self.framing, self.compresses) = (Some(framing), compresses);
            }
            "protocol-flags" => self.protocol = Protocol::read(arguments)?,
            "key-derivation" => self.protocol.tls_ekm = (first? == "tls-ekm").then_some(true)?,
            "auth-token" => self.auth_token = Some(Zeroizing::new(first?.to_owned())),
            "auth-token-user" => {
                let user = String::from_utf8(Base64::decode_vec(first?).ok()?).ok()?;
                let printable = !user.contains(char::is_control);
                self.auth_token_user = Some(printable.then_some(user)?);
            }
            _ => unreachable!("every typed option is read"),
        }
        Some(())
    }
}

/// The options with typed fields in [`PushReply`].
const TYPED: [&str; 17] = [
    "ping",
    "ping-restart",
    "ping-exit",
    "session-timeout",
    "explicit-exit-notify",
    "inactive",
    "tun-mtu",
    "peer-id",
    "cipher",
    "ifconfig",
    "ifconfig-ipv6",
    "comp-lzo",
    "compress",
    "protocol-flags",
    "key-derivation",
    "auth-token",
    "auth-token-user",
];

/// The peer id that means none.
const NO_PEER_ID: u32 = 0xff_ffff;

impl fmt::Debug for PushReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushReply")
            .field("peer_id", &self.peer_id)
            .field("cipher", &self.cipher)
            .field("protocol", &self.protocol)
            .field("ifconfig", &self.ifconfig)
            .field("ifconfig_ipv6", &self.ifconfig_ipv6)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Protocol {
    /// Returns `None` for an unknown flag, since flags are mandatory.
    fn read(flags: &[&str]) -> Option<Self> {
        let mut protocol = Self::default();
        for flag in flags {
            match *flag {
                "cc-exit" => protocol.cc_exit = true,
                "tls-ekm" => protocol.tls_ekm = true,
                "dyn-tls-crypt" => protocol.dynamic_tls_crypt = true,
                "aead-epoch" => protocol.aead_epoch = true,
                _ => return None,
            }
        }
        Some(protocol)
    }

    fn say(self, say: &mut dyn FnMut(fmt::Arguments<'_>)) {
        let Self { cc_exit, tls_ekm, dynamic_tls_crypt, aead_epoch } = self;
        if !(cc_exit || dynamic_tls_crypt || aead_epoch) {
            // Older clients know this option but no flags.
            if tls_ekm {
                say(format_args!("key-derivation tls-ekm"));
            }
            return;
        }
        let flag = |set, name| if set { name } else { "" };
        say(format_args!(
            "protocol-flags{}{}{}{}",
            flag(cc_exit, " cc-exit"),
            flag(tls_ekm, " tls-ekm"),
            flag(dynamic_tls_crypt, " dyn-tls-crypt"),
            flag(aead_epoch, " aead-epoch"),
        ));
    }
}

fn empty_text() -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(MAX_MESSAGE));
    text.push_str(COMMAND);
    text
}

/// Joins the messages of a list of options.
#[derive(Debug, Default)]
struct Joiner<T> {
    list: T,
    bytes: usize,
}

impl<T: Default> Joiner<T> {
    /// Passes each option of a message to `read`. Returns the list after its last message. An error
    /// discards all earlier messages.
    fn take(
        &mut self,
        options: &str,
        mut read: impl FnMut(&mut T, &str) -> Result<(), Error>,
    ) -> Result<Option<T>, Error> {
        let Self { mut list, bytes } = std::mem::take(self);
        let bytes = bytes + options.len();
        if bytes > MAX_REPLY {
            return Err(Error::Push("push-continuation"));
        }
        let mut more = false;
        for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            if let Some(value) = option.strip_prefix("push-continuation ") {
                more = match value {
                    "0" | "1" => false,
                    "2" => true,
                    _ => return Err(Error::Push("push-continuation")),
                };
            } else {
                read(&mut list, option)?;
            }
        }
        if more {
            *self = Self { list, bytes };
            return Ok(None);
        }
        Ok(Some(list))
    }
}

/// Joins the messages of a reply.
#[derive(Debug, Default)]
pub struct PushParser(Joiner<PushReply>);

impl PushParser {
    /// Parses the text after `PUSH_REPLY,`. Returns the reply after its last message.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] with the malformed option; discards all earlier messages.
    pub fn take(&mut self, options: &str) -> Result<Option<PushReply>, Error> {
        self.take_if(options, |_| Ok(true))
    }

    /// Like [`Self::take`], with a filter that sees each option. It ignores an option by returning
    /// `false`, and rejects the whole reply by an error.
    ///
    /// # Errors
    ///
    /// Those of [`Self::take`] and of the filter.
    pub fn take_if(
        &mut self,
        options: &str,
        mut keep: impl FnMut(&str) -> Result<bool, Error>,
    ) -> Result<Option<PushReply>, Error> {
        self.0.take(options, |reply, option| match keep(option)? {
            true => reply.read(option),
            false => Ok(()),
        })
    }
}

mod filter;
mod update;

#[cfg(test)]
mod tests;
