//! Session tokens that a client sends instead of its password after the password was verified once.
//! So users and one-time passwords are asked for only once.
//!
//! A token is `SESS_ID_AT_` followed by Base64 of: a session id (12 bytes), the start of the
//! session and the creation of the token (seconds since 1970, 64 bits each, big-endian), and an
//! HMAC-SHA-256 of the user name and these. A server stores only the key.
//!
//! Source: openvpn(8), `--auth-gen-token` and `--auth-gen-token-secret`.

use aws_lc_rs::hmac;
use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::armor::{self, KeyFileError};
use super::{Now, Random};

const PREFIX: &str = "SESS_ID_AT_";
const LABEL: &str = "OpenVPN auth-token server key";
/// A file holds two keys of 64 bytes each; the HMAC key is the start of the second.
const FILE_LENGTH: usize = 128;
const KEY: std::ops::Range<usize> = 64..96;
const ID_LENGTH: usize = 12;
const MAC_LENGTH: usize = 32;
const LENGTH: usize = ID_LENGTH + 8 + 8 + MAC_LENGTH;

/// A server's secret for tokens, in the form of a key file.
pub struct KeyFile(Zeroizing<[u8; FILE_LENGTH]>);

impl KeyFile {
    /// Returns a random secret.
    pub fn generate(random: &mut Random<'_>) -> Self {
        let mut bytes = Zeroizing::new([0; FILE_LENGTH]);
        random(&mut *bytes);
        Self(bytes)
    }

    /// Parses the text of a key file.
    ///
    /// # Errors
    /// A text of another format.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let decoded = armor::parse_base64(text, LABEL)?;
        let bytes = <[u8; FILE_LENGTH]>::try_from(&**decoded).map_err(|_| KeyFileError::Length)?;
        Ok(Self(Zeroizing::new(bytes)))
    }

    /// Returns the text of a key file.
    pub fn to_text(&self) -> Zeroizing<String> {
        armor::to_base64(&*self.0, LABEL)
    }
}

/// The part of a client's tokens that stays the same when a token is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSession {
    id: [u8; ID_LENGTH],
    /// Start in seconds since 1970.
    began: u64,
}

impl TokenSession {
    /// Starts a session after a successful password check.
    pub fn begin(now: Now, random: &mut Random<'_>) -> Self {
        let mut id = [0; ID_LENGTH];
        random(&mut id);
        Self { id, began: now.unix }
    }

    /// Returns its id in Base64.
    pub fn id(&self) -> String {
        Base64::encode_string(&self.id)
    }
}

/// The validity of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenOutcome {
    /// Valid: it replaces the password.
    Good(TokenSession),
    /// Authentic, but expired.
    Expired,
    /// Not made by this server, or made for another user.
    Forged,
}

/// Creates and verifies tokens.
pub struct Tokens {
    key: hmac::Key,
    /// Maximum length of a session in seconds; `None` is unlimited.
    lifetime: Option<u64>,
    /// Validity of a single token in seconds; `None` is unlimited.
    window: Option<u64>,
}

impl Tokens {
    /// Returns a token generator. `lifetime` and `window` are in seconds.
    pub fn new(key: &KeyFile, lifetime: Option<u64>, window: Option<u64>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &key.0[KEY]), lifetime, window }
    }

    /// Returns whether a password has the form of a token.
    pub fn is_token(password: &str) -> bool {
        password.starts_with(PREFIX)
    }

    /// Creates a token for a user.
    pub fn make(&self, now: Now, user: &str, session: &TokenSession) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        bytes[..ID_LENGTH].copy_from_slice(&session.id);
        bytes[ID_LENGTH..][..8].copy_from_slice(&session.began.to_be_bytes());
        bytes[ID_LENGTH + 8..][..8].copy_from_slice(&now.unix.to_be_bytes());
        let (said, mac) = bytes.split_at_mut(LENGTH - MAC_LENGTH);
        let mut context = hmac::Context::with_key(&self.key);
        context.update(user.as_bytes());
        context.update(said);
        mac.copy_from_slice(context.sign().as_ref());
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + LENGTH.div_ceil(3) * 4));
        text.push_str(PREFIX);
        let mut encoded = Zeroizing::new([0; LENGTH.div_ceil(3) * 4]);
        let encoded =
            Base64::encode(&*bytes, &mut *encoded).expect("the room is that of its length");
        text.push_str(encoded);
        text
    }

    /// Verifies a user's token. The MAC is compared in constant time.
    pub fn judge(&self, now: Now, user: &str, token: &str) -> TokenOutcome {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        let Some(text) = token.strip_prefix(PREFIX) else { return TokenOutcome::Forged };
        match Base64::decode(text, &mut *bytes) {
            Ok(decoded) if decoded.len() == LENGTH => {}
            _ => return TokenOutcome::Forged,
        }
        let (said, mac) = bytes.split_at(LENGTH - MAC_LENGTH);
        let message = [user.as_bytes(), said].concat();
        if hmac::verify(&self.key, &message, mac).is_err() {
            return TokenOutcome::Forged;
        }
        let (id, times) = said.split_at(ID_LENGTH);
        let time = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("64 bits"));
        let (began, made) = (time(&times[..8]), time(&times[8..]));
        // A time in the future is from before this machine's clock was set back.
        let old = |since: u64, most: Option<u64>| {
            now.unix < since || most.is_some_and(|most| now.unix - since > most)
        };
        if old(began, self.lifetime) || old(made, self.window) {
            return TokenOutcome::Expired;
        }
        TokenOutcome::Good(TokenSession { id: id.try_into().expect("its length"), began })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(unix: u64) -> Now {
        Now { monotonic: Duration::ZERO, unix }
    }

    fn tokens_of(seed: u8) -> Tokens {
        let key = KeyFile::generate(&mut |bytes| bytes.fill(seed));
        Tokens::new(&KeyFile::parse(&key.to_text()).unwrap(), Some(100), Some(20))
    }

    #[test]
    fn a_token_is_good_for_its_user_and_its_time() {
        let tokens = tokens_of(1);
        let session = TokenSession::begin(at(1000), &mut |bytes| bytes.fill(9));
        let token = tokens.make(at(1050), "alice", &session);
        assert!(Tokens::is_token(&token));
        assert_eq!(token.len(), 11 + 80);
        for (now, outcome) in [
            (1049, TokenOutcome::Expired),
            (1050, TokenOutcome::Good(session)),
            (1070, TokenOutcome::Good(session)),
            (1071, TokenOutcome::Expired),
        ] {
            assert_eq!(tokens.judge(at(now), "alice", &token), outcome, "{now}");
        }
        let last = tokens.make(at(1090), "alice", &session);
        assert_eq!(tokens.judge(at(1100), "alice", &last), TokenOutcome::Good(session));
        assert_eq!(tokens.judge(at(1101), "alice", &last), TokenOutcome::Expired);
        assert_eq!(tokens.judge(at(1050), "alic", &token), TokenOutcome::Forged);
        let other = tokens_of(2).make(at(1050), "alice", &session);
        assert_eq!(tokens.judge(at(1050), "alice", &other), TokenOutcome::Forged);
    }

    #[test]
    fn any_change_is_detected() {
        let tokens = tokens_of(1);
        let session = TokenSession::begin(at(1000), &mut |bytes| bytes.fill(9));
        let token = tokens.make(at(1000), "alice", &session);
        for index in 0..token.len() {
            let mut changed = token.as_bytes().to_vec();
            changed[index] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(tokens.judge(at(1000), "alice", &changed), TokenOutcome::Forged, "{index}");
            assert_eq!(tokens.judge(at(1000), "alice", &token[..index]), TokenOutcome::Forged);
        }
        assert_eq!(tokens.judge(at(1000), "alice", &format!("{}A", *token)), TokenOutcome::Forged);
    }

    #[test]
    fn openvpn_key_files_are_read() {
        let bytes: Vec<u8> = (0..128).collect();
        let text = armor::to_base64(&bytes, "OpenVPN auth-token server key");
        let tokens = Tokens::new(&KeyFile::parse(&text).unwrap(), None, None);
        let session = TokenSession { id: [7; 12], began: 5 };
        let token = tokens.make(at(6), "u", &session);
        let bytes = Base64::decode_vec(token.strip_prefix("SESS_ID_AT_").unwrap()).unwrap();
        let key: Vec<u8> = (64..96).collect();
        let message = [&b"u"[..], &[7; 12], &5u64.to_be_bytes(), &6u64.to_be_bytes()].concat();
        let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &message);
        assert_eq!(bytes[..28], message[1..]);
        assert_eq!(&bytes[28..], mac.as_ref());
        for wrong in ["", "-----BEGIN OpenVPN auth-token server key-----\nAAAA\n", "x"] {
            assert!(KeyFile::parse(wrong).is_err(), "{wrong}");
        }
    }
}
