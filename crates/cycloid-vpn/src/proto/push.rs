//! The options that a server gives its client: made, cut into messages, and read.
//!
//! What the protocol itself acts upon is typed here. All else, such as routes and name servers,
//! goes through as text, in its order: the one table of directives in
//! [`config`](crate::config) says what it means.
//!
//! Source: openvpn(8), `--push`; draft-openvpn-wire-protocol, "Push reply"; OpenVPN 2.6 as it
//! answers.

use std::fmt::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::Error;
use super::data::Framing;

/// Bytes of the longest message, without the zero byte at its end.
const MAX_MESSAGE: usize = 1023;
/// Bytes of the longest option that OpenVPN's clients take.
const MAX_OPTION: usize = 255;
/// Bytes of all messages of one reply together.
const MAX_REPLY: usize = 1 << 18;
/// What the MTU may be.
const TUN_MTU: std::ops::RangeInclusive<u32> = 100..=65_535;

const COMMAND: &str = "PUSH_REPLY";
const MORE: &str = ",push-continuation 2";
const LAST: &str = ",push-continuation 1";

/// What the two ends agreed on beyond options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    /// `cc-exit`: the end of a session is told inside TLS.
    pub cc_exit: bool,
    /// `tls-ekm`: data keys by TLS's exporter.
    pub tls_ekm: bool,
    /// `dyn-tls-crypt`: renegotiations under dynamic tls-crypt.
    pub dynamic_tls_crypt: bool,
    /// `aead-epoch`: data keys by epochs.
    pub aead_epoch: bool,
}

/// A push reply.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PushReply {
    /// `ifconfig`: the client's address, and the netmask or, with another topology than subnet,
    /// the server's address.
    pub ifconfig: Option<(Ipv4Addr, Ipv4Addr)>,
    /// `ifconfig-ipv6`: the client's address, the bits of its network's mask, the server's
    /// address.
    pub ifconfig_ipv6: Option<(Ipv6Addr, u8, Option<Ipv6Addr>)>,
    /// `tun-mtu`, in bytes.
    pub tun_mtu: Option<u32>,
    /// `peer-id`, 24 bits: data packets are to have it.
    pub peer_id: Option<u32>,
    /// `cipher` of the data channel.
    pub cipher: Option<String>,
    /// `protocol-flags`, `key-derivation`.
    pub protocol: Protocol,
    /// `compress`, `comp-lzo`: nothing is compressed, but packets may be marked as such.
    pub framing: Option<Framing>,
    /// `ping`: how often, in seconds, the peer is to hear something.
    pub ping: Option<u32>,
    /// `ping-restart`: seconds of silence after which to connect anew.
    pub ping_restart: Option<u32>,
    /// `ping-exit`: seconds of silence after which to end.
    pub ping_exit: Option<u32>,
    /// `inactive`: seconds in which no more than so many bytes went through, after which to end.
    pub inactive: Option<(u32, u64)>,
    /// `session-timeout`: seconds after which to end.
    pub session_timeout: Option<u32>,
    /// `explicit-exit-notify`: how often to say that the session ends.
    pub explicit_exit_notify: Option<u32>,
    /// `auth-token`: the password from now on.
    pub auth_token: Option<Zeroizing<String>>,
    /// `auth-token-user`: the user name that goes with it.
    pub auth_token_user: Option<String>,
    options: Vec<String>,
}

impl PushReply {
    /// The options that are not typed here, in their order.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Adds an option as `push` has it.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] with its name if it is one that is typed and malformed, or `option` if it
    /// is longer than 255 bytes or has a comma or a control character in it, which would make it
    /// two options.
    pub fn add(&mut self, option: &str) -> Result<(), Error> {
        let option = option.trim();
        if option.len() > MAX_OPTION || option.contains([',']) || option.contains(char::is_control)
        {
            return Err(Error::Push("option"));
        }
        self.read(option)
    }

    /// The messages that say it, in their order.
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
            // Long enough from the start, so that a token does not move and leave copies.
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

    /// `None` if the arguments are malformed.
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
            "comp-lzo" => self.framing = Some((first? == "no").then_some(Framing::Prefix)?),
            "compress" => {
                self.framing = Some(match first {
                    None | Some("stub") => Framing::Swap,
                    Some("stub-v2") => Framing::StubV2,
                    Some(_) => return None,
                });
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

/// The options that [`PushReply`] has in fields.
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

/// The peer id that stands for none.
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
    /// `None` if there is a flag that is not known: it would have to be kept to.
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
            // Clients that know nothing else know no flags either.
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

/// Joins the messages of a reply.
#[derive(Debug, Default)]
pub struct PushParser {
    reply: PushReply,
    bytes: usize,
}

impl PushParser {
    /// Takes what stands behind `PUSH_REPLY,`. Gives the reply when this was its last message.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] with the option that is malformed; what came before is then forgotten.
    pub fn take(&mut self, options: &str) -> Result<Option<PushReply>, Error> {
        self.take_if(options, |_| Ok(true))
    }

    /// As [`Self::take`], with what a filter lets pass: it sees each option, and passes it over
    /// with `false` or the whole reply with an error.
    ///
    /// # Errors
    ///
    /// As [`Self::take`], and the filter's.
    pub fn take_if(
        &mut self,
        options: &str,
        mut keep: impl FnMut(&str) -> Result<bool, Error>,
    ) -> Result<Option<PushReply>, Error> {
        let Self { mut reply, bytes } = std::mem::take(self);
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
            } else if keep(option)? {
                reply.read(option)?;
            }
        }
        if more {
            *self = Self { reply, bytes };
            return Ok(None);
        }
        Ok(Some(reply))
    }
}

#[cfg(test)]
mod tests;
