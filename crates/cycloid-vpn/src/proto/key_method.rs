//! Key method 2: the first messages inside TLS, and the data channel keys derived from them.
//!
//! A message is four zero bytes, the method (2), random bytes for the keys, and four strings:
//! options, user name, password, peer information. A string is its length (16 bits, big-endian,
//! including a final zero byte) and its bytes; length 0 is an absent string.
//!
//! Source: draft-openvpn-wire-protocol, "Key negotiation".

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::prf::prf;
use super::wire::{SessionId, take};
use super::{Error, Random, Role};

const METHOD: u8 = 2;

/// One end's random contribution to the keys of the classic derivation.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct KeySource {
    /// All zeros from a server, which does not send it.
    pre_master: [u8; 48],
    random1: [u8; 32],
    random2: [u8; 32],
}

impl KeySource {
    /// Returns random bytes for an end of this role.
    pub fn generate(role: Role, random: &mut Random<'_>) -> Self {
        let mut source = Self { pre_master: [0; 48], random1: [0; 32], random2: [0; 32] };
        if role == Role::Client {
            random(&mut source.pre_master);
        }
        random(&mut source.random1);
        random(&mut source.random2);
        source
    }

    fn read(sender: Role, bytes: &mut &[u8]) -> Result<Self, Error> {
        let mut source = Self { pre_master: [0; 48], random1: [0; 32], random2: [0; 32] };
        if sender == Role::Client {
            source.pre_master = *take(bytes)?;
        }
        source.random1 = *take(bytes)?;
        source.random2 = *take(bytes)?;
        Ok(source)
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySource")
    }
}

/// The credentials of a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Credentials<'a> {
    /// The user name as entered.
    pub username: &'a str,
    /// The password as entered, or a token from the server.
    pub password: &'a str,
}

impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

/// A key-method message.
#[derive(Clone, Debug)]
pub struct Hello<'a> {
    /// The sender's contribution to the keys.
    pub source: KeySource,
    /// The sender's [options](super::options).
    pub options: &'a str,
    /// A client's credentials; `None` if both strings are empty.
    pub credentials: Option<Credentials<'a>>,
    /// The sender's capabilities, for [`PeerInfo`](super::peer_info::PeerInfo); may be empty.
    pub peer_info: &'a str,
}

impl<'a> Hello<'a> {
    /// Appends the message of an end of this role. The result is secret.
    ///
    /// # Errors
    ///
    /// [`Error::KeyMethod`] if a string exceeds 65,534 bytes or contains a zero byte.
    pub fn write(&self, role: Role, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&[0, 0, 0, 0, METHOD]);
        if role == Role::Client {
            out.extend_from_slice(&self.source.pre_master);
        }
        out.extend_from_slice(&self.source.random1);
        out.extend_from_slice(&self.source.random2);
        let none = Credentials { username: "", password: "" };
        let Credentials { username, password } = self.credentials.unwrap_or(none);
        write_string(self.options, "options string", out)?;
        write_string(username, "user name", out)?;
        write_string(password, "password", out)?;
        write_string(self.peer_info, "peer information", out)
    }

    /// Parses a message from a peer of this role. Also returns the bytes after it, since TLS may
    /// deliver the next text together with it. Strings at the end may be missing.
    ///
    /// # Errors
    ///
    /// [`Error::KeyMethod`] with the malformed part.
    pub fn parse(sender: Role, message: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let mut rest = message;
        let [_, _, _, _, method] = *take(&mut rest).map_err(|_| Error::KeyMethod("method"))?;
        // The high bits are unused flags.
        if method & 0x0f != METHOD {
            return Err(Error::KeyMethod("method"));
        }
        let source =
            KeySource::read(sender, &mut rest).map_err(|_| Error::KeyMethod("key source"))?;
        let options = read_string(&mut rest).ok_or(Error::KeyMethod("options string"))?;
        let mut optional = |part| match rest {
            [] => Ok(""),
            _ => read_string(&mut rest).ok_or(Error::KeyMethod(part)),
        };
        let username = optional("user name")?;
        let password = optional("password")?;
        let peer_info = optional("peer information")?;
        let credentials = match (username, password) {
            ("", "") => None,
            _ => Some(Credentials { username, password }),
        };
        Ok((Self { source, options, credentials, peer_info }, rest))
    }
}

fn write_string(text: &str, part: &'static str, out: &mut Vec<u8>) -> Result<(), Error> {
    if text.is_empty() {
        out.extend_from_slice(&[0, 0]);
        return Ok(());
    }
    let len = u16::try_from(text.len() + 1).map_err(|_| Error::KeyMethod(part))?;
    if text.contains('\0') {
        return Err(Error::KeyMethod(part));
    }
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Returns `None` if the string is truncated, not UTF-8, or contains an inner zero byte.
fn read_string<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let len = u16::from_be_bytes(*take(bytes).ok()?);
    let text;
    (text, *bytes) = bytes.split_at_checked(len.into())?;
    let text = std::str::from_utf8(text.strip_suffix(b"\0").unwrap_or(text)).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// Returns a user name or password with `_` in place of control characters and line separators, as
/// openvpn(8) has it under "String Types and Remapping". With a line end in it, a name would be
/// another one to a script that reads lines than to this program.
pub fn printable(text: &str) -> Zeroizing<String> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    // No character grows, so the buffer never moves.
    let mut printable = Zeroizing::new(String::with_capacity(text.len()));
    printable.extend(text.chars().map(|c| if breaks(c) { '_' } else { c }));
    printable
}

/// Derives the data channel key material from both contributions by the classic derivation: for
/// each direction 64 bytes for a cipher and 64 bytes for an HMAC, the client's direction first.
///
/// ```text
/// master = PRF(pre_master, "OpenVPN master secret", client random1 + server random1), 48 bytes
/// keys = PRF(master, "OpenVPN key expansion",
///            client random2 + server random2 + client session + server session), 256 bytes
/// ```
pub fn expand(
    client: &KeySource,
    server: &KeySource,
    client_session: SessionId,
    server_session: SessionId,
) -> Zeroizing<[u8; 256]> {
    let mut master = Zeroizing::new([0; 48]);
    prf(
        &client.pre_master,
        b"OpenVPN master secret",
        &[&client.random1, &server.random1],
        &mut *master,
    );
    let mut keys = Zeroizing::new([0; 256]);
    let sessions = [client_session.as_bytes(), server_session.as_bytes()];
    prf(
        &*master,
        b"OpenVPN key expansion",
        &[&client.random2, &server.random2, sessions[0], sessions[1]],
        &mut *keys,
    );
    keys
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a source whose bytes count up from `first`.
    fn source(role: Role, first: u8) -> KeySource {
        let mut next = first;
        KeySource::generate(role, &mut |bytes| {
            for byte in bytes {
                *byte = next;
                next = next.wrapping_add(1);
            }
        })
    }

    fn hello() -> Hello<'static> {
        Hello {
            source: source(Role::Client, 1),
            options: "V4,dev-type tun",
            credentials: Some(Credentials { username: "ann", password: "päss" }),
            peer_info: "IV_VER=2.6\n",
        }
    }

    fn written(role: Role, hello: &Hello<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        hello.write(role, &mut out).expect("written");
        out
    }

    #[test]
    fn layout() {
        let message = written(Role::Client, &hello());
        assert_eq!(message[..6], [0, 0, 0, 0, 2, 1]);
        let strings =
            b"\x00\x10V4,dev-type tun\0\x00\x04ann\0\x00\x06p\xc3\xa4ss\0\x00\x0cIV_VER=2.6\n\0";
        assert_eq!(message[5 + 112..], strings[..]);
        let from_server = Hello { credentials: None, peer_info: "", ..hello() };
        let message = written(Role::Server, &from_server);
        assert_eq!(message[5 + 64..], b"\x00\x10V4,dev-type tun\0\0\0\0\0\0\0"[..]);
    }

    #[test]
    fn messages_round_trip_with_trailing_bytes() {
        for role in [Role::Client, Role::Server] {
            let mut message = written(role, &hello());
            message.extend_from_slice(b"PUSH_REPLY\0");
            let (read, rest) = Hello::parse(role, &message).expect("parsed");
            assert_eq!(rest, b"PUSH_REPLY\0");
            assert_eq!(read.options, "V4,dev-type tun");
            assert_eq!(read.credentials, hello().credentials);
            assert_eq!(read.peer_info, "IV_VER=2.6\n");
            assert_eq!(read.source.random2, hello().source.random2);
            assert_eq!(read.source.pre_master == [0; 48], role == Role::Server);
        }
    }

    #[test]
    fn truncated_messages_end_at_a_string_or_are_errors() {
        let message = written(Role::Client, &hello());
        let options_end = 5 + 112 + 2 + 16;
        let ends = [options_end, options_end + 6, options_end + 14];
        for len in 0..message.len() {
            let parsed = Hello::parse(Role::Client, &message[..len]);
            assert_eq!(parsed.is_ok(), ends.contains(&len), "{len}");
        }
        let (parsed, _) = Hello::parse(Role::Client, &message[..options_end]).expect("old peer");
        assert_eq!((parsed.credentials, parsed.peer_info), (None, ""));
    }

    #[test]
    fn malformed_messages_are_errors() {
        let message = written(Role::Client, &hello());
        let error = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut message = message.clone();
            change(&mut message);
            Hello::parse(Role::Client, &message).expect_err("malformed")
        };
        assert_eq!(error(&|m| m[4] = 1), Error::KeyMethod("method"));
        assert_eq!(error(&|m| m[117] = 0xff), Error::KeyMethod("options string"));
        assert_eq!(error(&|m| m[119 + 16 + 2] = 0), Error::KeyMethod("user name"));
        assert_eq!(error(&|m| m[119 + 16 + 6 + 3] = 0xff), Error::KeyMethod("password"));
        let mut out = Vec::new();
        let long = "x".repeat(65_535);
        for options in ["a\0b", &long] {
            let hello = Hello { options, ..hello() };
            let refused = hello.write(Role::Client, &mut out);
            assert_eq!(refused, Err(Error::KeyMethod("options string")));
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let text = format!("{:?}", hello());
        assert!(!text.contains("päss") && !text.contains("1, 2, 3"), "{text}");
    }

    /// `openssl kdf … TLS1-PRF` with digest MD5-SHA1, twice, as documented at `expand`: pre-master
    /// and randoms count up from 1 (client) and from 0x81 (server), the session ids are eight bytes
    /// 0x11 and 0x22. The expected value is the SHA-256 of the 256 bytes.
    #[test]
    fn known_answer() {
        let session = |byte| SessionId::new([byte; 8]).expect("not zero");
        let keys = expand(
            &source(Role::Client, 1),
            &source(Role::Server, 0x81),
            session(0x11),
            session(0x22),
        );
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &*keys);
        let mut hex = [0; 64];
        assert_eq!(
            base16ct::lower::encode_str(digest.as_ref(), &mut hex).expect("room"),
            "913645a349c53b14a172bf91bee07758aa68418cc7c0fc853503dbc9dc9e6766"
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let _ = Hello::parse(Role::Client, &bytes);
            let _ = Hello::parse(Role::Server, &bytes);
            let mut message = written(Role::Client, &hello());
            let at = at.index(message.len());
            message[at] = byte;
            let _ = Hello::parse(Role::Client, &message);
        }
    }
}
