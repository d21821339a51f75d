//! "OpenVPN Static key V1": 2048 shared bits for tls-auth and tls-crypt.
//!
//! The 256 bytes are two keys, each with 64 bytes for a cipher and 64 bytes for an HMAC; algorithms
//! use a prefix of these. The direction selects the key for sending.
//!
//! Source: openvpn(8), `--secret` and `--tls-auth`.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::armor::{self, KeyFileError};
use super::{Random, Role};

const LABEL: &str = "OpenVPN Static key V1";
const BYTES_A_LINE: usize = 16;

/// 256 bytes, shared by clones and wiped when the last one is dropped.
#[derive(Clone)]
pub struct StaticKey(Arc<Zeroizing<[u8; StaticKey::LEN]>>);

impl StaticKey {
    /// Length in bytes.
    pub const LEN: usize = 256;

    /// Wraps the bytes.
    pub fn new(bytes: Zeroizing<[u8; Self::LEN]>) -> Self {
        Self(Arc::new(bytes))
    }

    /// Returns a random key.
    pub fn generate(random: &mut Random<'_>) -> Self {
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        random(&mut *bytes);
        Self::new(bytes)
    }

    /// Parses the text of a key file. Ignores lines before and after the key.
    ///
    /// # Errors
    ///
    /// The problem with the text.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let digits = armor::body(text, LABEL)?;
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        if digits.len() != 2 * Self::LEN {
            return Err(KeyFileError::Length);
        }
        base16ct::mixed::decode(&digits, &mut *bytes).map_err(|_| KeyFileError::Characters)?;
        Ok(Self::new(bytes))
    }

    /// Returns the text of a key file, which [`Self::parse`] and OpenVPN read.
    pub fn to_text(&self) -> Zeroizing<String> {
        let lines = Self::LEN / BYTES_A_LINE;
        let mut text = Zeroizing::new(String::with_capacity(128 + lines * (2 * BYTES_A_LINE + 1)));
        text.push_str("#\n# 2048 bit OpenVPN static key\n#\n-----BEGIN ");
        text.push_str(LABEL);
        text.push_str("-----\n");
        for line in self.0.chunks(BYTES_A_LINE) {
            let mut digits = Zeroizing::new([0; 2 * BYTES_A_LINE]);
            text.push_str(
                base16ct::lower::encode_str(line, &mut *digits).expect("two digits each"),
            );
            text.push('\n');
        }
        text.push_str("-----END ");
        text.push_str(LABEL);
        text.push_str("-----\n");
        text
    }

    /// Returns all bytes.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Returns the bytewise exclusive or with other material.
    #[must_use]
    pub fn xor(&self, other: &[u8; Self::LEN]) -> Self {
        let mut bytes = self.0.as_ref().clone();
        for (byte, other) in bytes.iter_mut().zip(other) {
            *byte ^= other;
        }
        Self::new(bytes)
    }

    /// Returns the 64 cipher bytes of one of the two keys.
    pub(super) fn cipher(&self, which: Half) -> &[u8; 64] {
        self.part(2 * which as usize)
    }

    /// Returns the 64 HMAC bytes of one of the two keys.
    pub(super) fn hmac(&self, which: Half) -> &[u8; 64] {
        self.part(2 * which as usize + 1)
    }

    fn part(&self, index: usize) -> &[u8; 64] {
        self.0[64 * index..].first_chunk().expect("four parts of 64 bytes")
    }
}

impl fmt::Debug for StaticKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaticKey")
    }
}

/// Selects one of the two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    First,
    Second,
}

/// The key that an end sends with; the other end has the opposite direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `0`: sends with the first key, receives with the second.
    Normal,
    /// `1`: sends with the second, receives with the first.
    Inverse,
}

impl Direction {
    /// Returns the direction of tls-crypt: the server's is normal.
    pub fn of(role: Role) -> Self {
        match role {
            Role::Server => Self::Normal,
            Role::Client => Self::Inverse,
        }
    }

    /// Returns the keys to send and to receive with; without a direction, the first for both.
    pub(super) fn halves(direction: Option<Self>) -> (Half, Half) {
        match direction {
            None => (Half::First, Half::First),
            Some(Self::Normal) => (Half::First, Half::Second),
            Some(Self::Inverse) => (Half::Second, Half::First),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::process::Command;

    use super::*;

    /// Returns the file that the installed OpenVPN writes for `--genkey` with these arguments.
    pub(crate) fn genkey(arguments: &[&str]) -> String {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let path = file.path().to_str().expect("its name in UTF-8");
        let mut command = Command::new("openvpn");
        // The file name comes after the kind of key and before the metadata of a client key.
        match arguments {
            [kind, options @ ..] => command.args(["--genkey", kind, path]).args(options),
            [] => panic!("a kind of key"),
        };
        let output = command.output().expect("openvpn is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        std::fs::read_to_string(path).expect("openvpn wrote the key")
    }

    /// Returns a key with the bytes 0 to 255.
    pub(crate) fn counting() -> StaticKey {
        StaticKey::new(Zeroizing::new(std::array::from_fn(|i| i as u8)))
    }

    #[test]
    fn openvpn_key_files_round_trip() {
        for kind in ["tls-auth", "tls-crypt", "secret"] {
            let text = genkey(&[kind]);
            let key = StaticKey::parse(&text).expect("a key");
            assert_eq!(*key.to_text(), text, "{kind}");
        }
    }

    #[test]
    fn carriage_returns_blanks_and_capitals_are_read() {
        let text = counting().to_text();
        let other = text.replace('\n', " \r\n ").replace("1a", "1A");
        assert_eq!(StaticKey::parse(&other).expect("a key").as_bytes(), counting().as_bytes());
    }

    #[test]
    fn invalid_keys_are_errors() {
        let text = counting().to_text();
        let error = |text: &str| StaticKey::parse(text).expect_err("no key");
        assert_eq!(error(""), KeyFileError::Begin);
        assert_eq!(error(&text.replace("BEGIN", "BEGUN")), KeyFileError::Begin);
        assert_eq!(error(&text.replace("END", "ENT")), KeyFileError::End);
        assert_eq!(error(&text.replace("0001", "000")), KeyFileError::Length);
        assert_eq!(error(&text.replace("0001", "000100")), KeyFileError::Length);
        assert_eq!(error(&text.replace("0001", "00g1")), KeyFileError::Characters);
        assert_eq!(error(&text.replace("0001", "00é1")), KeyFileError::Length);
    }

    #[test]
    fn halves_of_the_key() {
        let key = counting();
        assert_eq!(key.cipher(Half::First)[0], 0);
        assert_eq!(key.hmac(Half::First)[0], 64);
        assert_eq!(key.cipher(Half::Second)[0], 128);
        assert_eq!(key.hmac(Half::Second)[63], 255);
        assert!(key.xor(key.as_bytes()).as_bytes().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", counting()), "StaticKey");
    }
}
