//! tls-crypt-v2: every client has its own tls-crypt key, and sends it to the server wrapped with
//! the server's key. So the server stores no list, and a client's key cannot open packets of other
//! clients.
//!
//! A wrapped key is: tag (32 bytes), the encrypted 256-byte key and its metadata, and the total
//! length (16 bits, big-endian). The tag covers length, key and metadata. A client appends the
//! wrapped key to its first packets, outside of their protection.
//!
//! Source: OpenVPN's tls-crypt-v2 specification.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::crypt::{Siv, TAG_LEN};
use crate::proto::armor::{self, KeyFileError};
use crate::proto::static_key::StaticKey;
use crate::proto::wire::HEADER_LEN;
use crate::proto::{Error, Random};

const SERVER_LABEL: &str = "OpenVPN tls-crypt-v2 server key";
const CLIENT_LABEL: &str = "OpenVPN tls-crypt-v2 client key";

/// Bytes of a wrapped key without metadata, the minimum.
const MIN_WRAPPED: usize = TAG_LEN + StaticKey::LEN + LENGTH_LEN;
/// Maximum bytes of a wrapped key.
const MAX_WRAPPED: usize = 1024;
const LENGTH_LEN: usize = 2;

/// The metadata of a wrapped key: a type and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    kind: u8,
    content: Vec<u8>,
}

impl Metadata {
    const USER: u8 = 0;
    const TIMESTAMP: u8 = 1;
    /// Maximum content length in bytes.
    pub const MAX_CONTENT: usize = MAX_WRAPPED - MIN_WRAPPED - 1;

    /// Returns metadata with content chosen by the key's creator, for the server.
    ///
    /// # Errors
    ///
    /// [`KeyFileError::Metadata`] if it exceeds [`Self::MAX_CONTENT`].
    pub fn user(content: &[u8]) -> Result<Self, KeyFileError> {
        if content.len() > Self::MAX_CONTENT {
            return Err(KeyFileError::Metadata);
        }
        Ok(Self { kind: Self::USER, content: content.to_vec() })
    }

    /// Returns metadata with the key's creation time, in seconds since 1970.
    pub fn timestamp(unix: u64) -> Self {
        Self { kind: Self::TIMESTAMP, content: unix.to_be_bytes().to_vec() }
    }

    /// Returns the type: 0 for chosen content, 1 for the creation time.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// Returns the content after the type.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Returns the creation time in seconds since 1970, or `None` for other metadata.
    pub fn made_at(&self) -> Option<u64> {
        let time = self.content.first_chunk().filter(|_| self.kind == Self::TIMESTAMP)?;
        Some(u64::from_be_bytes(*time))
    }
}

/// The server's key, which wraps and unwraps client keys; clones share it.
#[derive(Clone)]
pub struct ServerKey {
    bytes: Arc<Zeroizing<[u8; ServerKey::LEN]>>,
    siv: Arc<Siv>,
}

impl ServerKey {
    /// Length in bytes.
    pub const LEN: usize = 128;

    fn new(bytes: Zeroizing<[u8; Self::LEN]>) -> Self {
        let cipher = bytes.first_chunk().expect("the first 64 bytes");
        let siv = Siv::new(cipher, bytes.last_chunk().expect("the last 64 bytes"));
        Self { bytes: Arc::new(bytes), siv: Arc::new(siv) }
    }

    /// Returns a random key.
    pub fn generate(random: &mut Random<'_>) -> Self {
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        random(&mut *bytes);
        Self::new(bytes)
    }

    /// Parses the text of a key file.
    ///
    /// # Errors
    ///
    /// The problem with the text.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let decoded = armor::parse_base64(text, SERVER_LABEL)?;
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        if decoded.len() != Self::LEN {
            return Err(KeyFileError::Length);
        }
        bytes.copy_from_slice(&decoded);
        Ok(Self::new(bytes))
    }

    /// Returns the text of a key file.
    pub fn to_text(&self) -> Zeroizing<String> {
        armor::to_base64(&**self.bytes, SERVER_LABEL)
    }

    /// Creates a key for a client.
    pub fn client(&self, random: &mut Random<'_>, metadata: &Metadata) -> ClientKey {
        self.wrap(StaticKey::generate(random), metadata)
    }

    fn wrap(&self, key: StaticKey, metadata: &Metadata) -> ClientKey {
        let len = MIN_WRAPPED + 1 + metadata.content.len();
        let net_len = (len as u16).to_be_bytes();
        let mut wrapped = Vec::with_capacity(len);
        wrapped.resize(TAG_LEN, 0);
        wrapped.extend_from_slice(key.as_bytes());
        wrapped.push(metadata.kind);
        wrapped.extend_from_slice(&metadata.content);
        let (place, data) = wrapped.split_at_mut(TAG_LEN);
        let tag = self.siv.tag(&[&net_len, data]);
        place.copy_from_slice(&tag);
        self.siv.encrypt(&tag, data);
        wrapped.extend_from_slice(&net_len);
        ClientKey { key, wrapped: wrapped.into() }
    }

    /// Unwraps a client key. Returns the key and its metadata, if any.
    ///
    /// # Errors
    ///
    /// [`Error::WrappedKey`] if this key did not wrap it.
    pub(super) fn unwrap(&self, wrapped: &[u8]) -> Result<(StaticKey, Option<Metadata>), Error> {
        let (data, len) = wrapped.split_last_chunk::<LENGTH_LEN>().ok_or(Error::WrappedKey)?;
        let (tag, data) = data.split_first_chunk().ok_or(Error::WrappedKey)?;
        if usize::from(u16::from_be_bytes(*len)) != wrapped.len() {
            return Err(Error::WrappedKey);
        }
        let mut data = Zeroizing::new(data.to_vec());
        self.siv.open(tag, &[len], &mut data).map_err(|_| Error::WrappedKey)?;
        let (key, metadata) =
            data.split_first_chunk::<{ StaticKey::LEN }>().ok_or(Error::WrappedKey)?;
        let metadata = metadata
            .split_first()
            .map(|(kind, content)| Metadata { kind: *kind, content: content.to_vec() });
        let mut bytes = Zeroizing::new([0; StaticKey::LEN]);
        bytes.copy_from_slice(key);
        Ok((StaticKey::new(bytes), metadata))
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerKey")
    }
}

/// A client's own tls-crypt key, in clear and wrapped for the server.
#[derive(Clone, Debug)]
pub struct ClientKey {
    key: StaticKey,
    wrapped: Arc<[u8]>,
}

impl ClientKey {
    /// Parses the text of a key file.
    ///
    /// # Errors
    ///
    /// The problem with the text.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let decoded = armor::parse_base64(text, CLIENT_LABEL)?;
        let (key, wrapped) =
            decoded.split_first_chunk::<{ StaticKey::LEN }>().ok_or(KeyFileError::Length)?;
        match split_wrapped(wrapped) {
            Ok((0, _)) => {}
            _ => return Err(KeyFileError::Length),
        }
        let mut bytes = Zeroizing::new([0; StaticKey::LEN]);
        bytes.copy_from_slice(key);
        Ok(Self { key: StaticKey::new(bytes), wrapped: wrapped.into() })
    }

    /// Returns the text of a key file.
    pub fn to_text(&self) -> Zeroizing<String> {
        let bytes = Zeroizing::new([&self.key.as_bytes()[..], &self.wrapped].concat());
        armor::to_base64(&bytes, CLIENT_LABEL)
    }

    pub(super) fn key(&self) -> &StaticKey {
        &self.key
    }

    pub(super) fn wrapped(&self) -> &Arc<[u8]> {
        &self.wrapped
    }
}

/// Returns the length of the packet without the wrapped key, and the wrapped key.
///
/// # Errors
///
/// [`Error::WrappedKey`] if the length at the end is out of range or leaves no packet.
pub(super) fn split(packet: &[u8]) -> Result<(usize, &[u8]), Error> {
    match split_wrapped(packet)? {
        (len, _) if len < HEADER_LEN => Err(Error::WrappedKey),
        parts => Ok(parts),
    }
}

fn split_wrapped(bytes: &[u8]) -> Result<(usize, &[u8]), Error> {
    let len = bytes.last_chunk::<LENGTH_LEN>().ok_or(Error::WrappedKey)?;
    let len = usize::from(u16::from_be_bytes(*len));
    if !(MIN_WRAPPED..=MAX_WRAPPED).contains(&len) {
        return Err(Error::WrappedKey);
    }
    let start = bytes.len().checked_sub(len).ok_or(Error::WrappedKey)?;
    Ok((start, &bytes[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::static_key::tests::{counting, genkey};

    fn server() -> ServerKey {
        ServerKey::new(Zeroizing::new(std::array::from_fn(|i| 255 - i as u8)))
    }

    #[test]
    fn openvpn_server_and_client_keys_round_trip() {
        let text = genkey(&["tls-crypt-v2-server"]);
        let server = ServerKey::parse(&text).expect("a server key");
        assert_eq!(*server.to_text(), text);

        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), &text).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        let client_text = genkey(&["tls-crypt-v2-client", "aGVsbG8=", "--tls-crypt-v2", path]);
        let client = ClientKey::parse(&client_text).expect("a client key");
        assert_eq!(*client.to_text(), client_text);
        let (key, metadata) = server.unwrap(&client.wrapped).expect("wrapped by this server");
        assert_eq!(key.as_bytes(), client.key.as_bytes());
        assert_eq!(metadata, Some(Metadata::user(b"hello").expect("short")));

        let dated = genkey(&["tls-crypt-v2-client", "--tls-crypt-v2", path]);
        let dated = ClientKey::parse(&dated).expect("a client key");
        let (_, metadata) = server.unwrap(&dated.wrapped).expect("wrapped by this server");
        let made = metadata.and_then(|metadata| metadata.made_at()).expect("a time");
        assert!(made > 1_700_000_000);
    }

    #[test]
    fn openvpn_accepts_our_server_key() {
        let server = server();
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), server.to_text().as_bytes()).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        let client = genkey(&["tls-crypt-v2-client", "--tls-crypt-v2", path]);
        let client = ClientKey::parse(&client).expect("a client key");
        assert!(server.unwrap(&client.wrapped).is_ok());
    }

    /// Python: `n=bytes(range(255,127,-1)); k=bytes(range(256)); l=(300).to_bytes(2,'big');
    /// d=k+b'\0metadata!'; t=hmac.digest(n[64:96], l+d, 'sha256')`, `openssl enc -aes-256-ctr -K
    /// n[:32] -iv t[:16]` over `d`, then `t + that + l`, of which this is the SHA-256.
    #[test]
    fn known_answer() {
        let metadata = Metadata::user(b"metadata!").expect("short");
        let wrapped = server().wrap(counting(), &metadata).wrapped;
        assert_eq!(wrapped.len(), 300);
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &wrapped);
        let mut hex = [0; 64];
        let hex = base16ct::lower::encode_str(digest.as_ref(), &mut hex).expect("room");
        assert_eq!(hex, "77fbda6073e3544d4b582a09c9a120b169f4335583789d3948fa21ba400c3813");
    }

    #[test]
    fn wrapped_keys_of_wrong_lengths_are_errors() {
        let longest = Metadata::user(&[1; Metadata::MAX_CONTENT]).expect("fits");
        let client = server().client(&mut |bytes| bytes.fill(3), &longest);
        assert_eq!(client.wrapped.len(), MAX_WRAPPED);
        assert_eq!(server().unwrap(&client.wrapped).expect("its own").1, Some(longest));
        assert_eq!(Metadata::user(&[1; Metadata::MAX_CONTENT + 1]), Err(KeyFileError::Metadata));

        for claimed in [0, 1, 2, 33, 34, 289, 1025, 0x7fff, 0xffff_u16] {
            let mut packet = vec![1; 2000];
            packet[1998..].copy_from_slice(&claimed.to_be_bytes());
            assert_eq!(split(&packet), Err(Error::WrappedKey), "{claimed}");
        }
        let mut packet = vec![1; 290 + HEADER_LEN];
        let end = packet.len() - 2;
        packet[end..].copy_from_slice(&290_u16.to_be_bytes());
        assert_eq!(split(&packet).expect("just enough").0, HEADER_LEN);
        assert_eq!(split(&packet[1..]), Err(Error::WrappedKey));
        assert_eq!(split(&[]), Err(Error::WrappedKey));
        assert_eq!(split(&[1]), Err(Error::WrappedKey));
        for len in 0..client.wrapped.len() {
            assert!(server().unwrap(&client.wrapped[..len]).is_err());
        }
    }

    #[test]
    fn every_byte_of_a_wrapped_key_is_authenticated() {
        let client = server().wrap(counting(), &Metadata::timestamp(7));
        for at in 0..client.wrapped.len() {
            let mut wrapped = client.wrapped.to_vec();
            wrapped[at] ^= 1;
            assert_eq!(server().unwrap(&wrapped).err(), Some(Error::WrappedKey), "{at}");
        }
    }

    #[test]
    fn client_key_files_with_a_bad_wrapped_key_are_errors() {
        let client = server().wrap(counting(), &Metadata::timestamp(7));
        for cut in [1, 2, 299, 300] {
            let mut bytes = [&counting().as_bytes()[..], &client.wrapped].concat();
            bytes.truncate(bytes.len() - cut);
            let text = armor::to_base64(&bytes, CLIENT_LABEL);
            assert_eq!(ClientKey::parse(&text).err(), Some(KeyFileError::Length), "{cut}");
        }
        let text = armor::to_base64(&[0; 127], SERVER_LABEL);
        assert_eq!(ServerKey::parse(&text).err(), Some(KeyFileError::Length));
        assert_eq!(
            ServerKey::parse(&server().to_text().replace('A', "*")).err(),
            Some(KeyFileError::Characters)
        );
    }
}
