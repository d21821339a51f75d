//! Protection of the control channel, around TLS: none, an HMAC (tls-auth), encryption under a
//! shared key (tls-crypt) or under a key of the client's own (tls-crypt-v2).
//!
//! Every protected packet has a [long id](super::packet_id::LongId) and is refused when it comes
//! again; a message that is sent again is sealed anew.
//!
//! | protection | packet |
//! |---|---|
//! | none | header, body |
//! | tls-auth | header, HMAC, long id, body; the HMAC is over long id, header, body |
//! | tls-crypt | header, long id, tag (32 bytes), encrypted body; the tag is over header, long id, body |
//!
//! Source: draft-openvpn-wire-protocol; openvpn(8), `--tls-auth`, `--tls-crypt`,
//! `--tls-crypt-v2`.

mod auth;
mod crypt;
mod crypt_v2;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use crypt_v2::{ClientKey, Metadata, ServerKey};

use super::data::Digest;
use super::packet_id::{DEFAULT_REPLAY_WINDOW, LongIds, LongReplayWindow};
use super::static_key::{Direction, StaticKey};
use super::wire::{Control, HEADER_LEN, Header, Opcode};
use super::{Error, Now, Role};

/// How a configuration has the control channel protected.
#[derive(Clone, Debug)]
pub enum ProtectionKey {
    /// By TLS alone.
    Plain,
    /// tls-auth: an HMAC around everything.
    Auth {
        /// Shared by both ends.
        key: StaticKey,
        /// `None` on both ends, or one on each.
        direction: Option<Direction>,
        /// The same on both ends.
        digest: Digest,
    },
    /// tls-crypt: encryption and an HMAC around everything.
    Crypt {
        /// Shared by both ends.
        key: StaticKey,
    },
    /// tls-crypt-v2 of a client.
    CryptV2Client(ClientKey),
    /// tls-crypt-v2 of a server.
    CryptV2Server {
        /// Unwraps the keys of the clients.
        key: ServerKey,
        /// For clients without a key of their own: tls-auth or tls-crypt, or nothing.
        shared: Option<Box<ProtectionKey>>,
    },
}

/// The first packet of a client, and what its session is protected by.
#[derive(Debug)]
pub struct Accepted<'a> {
    /// Has the packet in its window.
    pub protection: Protection,
    /// Of a client with a key of its own (tls-crypt-v2): what that says of it, if anything; not
    /// looked at yet.
    pub client_key: Option<Option<Metadata>>,
    /// Will the client send its wrapped key once more if it is asked to
    /// ([`RESEND_WRAPPED_KEY`](super::wire::RESEND_WRAPPED_KEY))? Only for a reset.
    pub resends_wrapped_key: bool,
    /// What it says.
    pub packet: Control<'a>,
}

impl ProtectionKey {
    /// For a session in which this end is `role`. To a tls-crypt-v2 server, whose sessions get
    /// theirs from [`Self::accept`], this is the protection of clients without a key of their
    /// own.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if a tls-crypt-v2 server has no such protection.
    pub fn protect(&self, role: Role) -> Result<Protection, Error> {
        Ok(match self {
            Self::Plain => Protection::new(Wrap::Plain, None, role),
            Self::Auth { key, direction, digest } => {
                let keys = auth::Keys::new(key, *direction, *digest);
                Protection::new(Wrap::Auth(keys), Some(key.clone()), role)
            }
            Self::Crypt { key } => Protection::crypt(key.clone(), role, WrappedKey::Absent),
            Self::CryptV2Client(client) => {
                let wrapped = WrappedKey::Appended(client.wrapped().clone());
                let mut protection = Protection::crypt(client.key().clone(), role, wrapped);
                protection.ids = LongIds::starting_at(EARLY_NEGOTIATION | 1);
                protection
            }
            Self::CryptV2Server { shared, .. } => {
                return shared.as_ref().ok_or(Error::NoKey)?.protect(role);
            }
        })
    }

    /// On a server, opens a packet of a client that has no session yet. Nothing is kept: the
    /// server may answer a reset and forget it, and go on with what comes in answer to that. The
    /// protection for such a second packet goes on behind the one packet that was sent.
    ///
    /// # Errors
    ///
    /// As [`Protection::open`]; [`Error::Opcode`] and [`Error::KeyId`] if this is no packet that
    /// a session begins with; [`Error::WrappedKey`]; [`Error::NoKey`] if the packet is not
    /// protected the way this server wants.
    pub fn accept<'a>(&self, packet: &'a mut [u8]) -> Result<Accepted<'a>, Error> {
        let header = Header::parse(packet)?;
        if matches!(header.opcode, Opcode::HardResetServerV2 | Opcode::SoftReset) {
            return Err(Error::Opcode(header.opcode as u8));
        }
        if header.key_id.get() != 0 {
            return Err(Error::KeyId(header.key_id.get()));
        }
        let (mut protection, client_key) = match self {
            Self::CryptV2Server { key, .. } if header.opcode.has_wrapped_key() => {
                let (_, wrapped) = crypt_v2::split(packet)?;
                let (client, metadata) = key.unwrap(wrapped)?;
                (Protection::crypt(client, Role::Server, WrappedKey::Cut), Some(metadata))
            }
            _ => (self.protect(Role::Server)?, None),
        };
        if !header.opcode.is_hard_reset() {
            protection.ids = LongIds::starting_at(2);
        }
        let resends_wrapped_key = header.opcode == Opcode::HardResetClientV3
            && packet.get(HEADER_LEN).is_some_and(|byte| *byte == (EARLY_NEGOTIATION >> 24) as u8);
        let packet = protection.open(packet)?;
        Ok(Accepted { protection, client_key, resends_wrapped_key, packet })
    }
}

/// The first byte of the first packet's number, with which a tls-crypt-v2 client says that it can
/// be asked for its wrapped key once more.
const EARLY_NEGOTIATION: u32 = 0x0f00_0000;

/// Seals and opens the control packets of one session.
#[derive(Debug)]
pub struct Protection {
    wrap: Wrap,
    role: Role,
    ids: LongIds,
    window: LongReplayWindow,
    /// What the wrap was made of, which goes into that for renegotiations.
    key: Option<StaticKey>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a peer, and mostly the largest")]
enum Wrap {
    Plain,
    Auth(auth::Keys),
    Crypt { keys: Box<crypt::Keys>, wrapped: WrappedKey },
}

/// What stands behind a packet whose opcode tells of a wrapped client key.
#[derive(Debug)]
enum WrappedKey {
    /// There is no such opcode.
    Absent,
    /// A client appends its own.
    Appended(Arc<[u8]>),
    /// A server has seen it and cuts it off.
    Cut,
}

impl Protection {
    fn new(wrap: Wrap, key: Option<StaticKey>, role: Role) -> Self {
        let window = LongReplayWindow::new(DEFAULT_REPLAY_WINDOW);
        Self { wrap, role, ids: LongIds::default(), window, key }
    }

    fn crypt(key: StaticKey, role: Role, wrapped: WrappedKey) -> Self {
        let keys = Box::new(crypt::Keys::new(&key, role));
        Self::new(Wrap::Crypt { keys, wrapped }, Some(key), role)
    }

    /// That of the session's renegotiations where both ends agreed on dynamic tls-crypt: a
    /// tls-crypt key from the first TLS session, mixed with the key that stands now, if there is
    /// one. It is made once and serves all renegotiations.
    ///
    /// `exported` is TLS's exporter with the label `EXPORTER-OpenVPN-dynamic-tls-crypt` and no
    /// context.
    #[must_use]
    pub fn dynamic(&self, exported: &[u8; StaticKey::LEN]) -> Self {
        let key = match &self.key {
            Some(key) => key.xor(exported),
            None => StaticKey::new((*exported).into()),
        };
        Self::crypt(key, self.role, WrappedKey::Absent)
    }

    /// What a client begins with.
    pub fn client_reset(&self) -> Opcode {
        match self.wrap {
            Wrap::Crypt { wrapped: WrappedKey::Appended(_), .. } => Opcode::HardResetClientV3,
            _ => Opcode::HardResetClientV2,
        }
    }

    /// Bytes that a packet of this opcode has beyond header and body.
    pub fn overhead(&self, opcode: Opcode) -> usize {
        match &self.wrap {
            Wrap::Plain => 0,
            Wrap::Auth(keys) => keys.overhead(),
            Wrap::Crypt { wrapped: WrappedKey::Appended(key), .. } if opcode.has_wrapped_key() => {
                crypt::OVERHEAD + key.len()
            }
            Wrap::Crypt { .. } => crypt::OVERHEAD,
        }
    }

    /// Makes the whole packet in `out`, which is cleared.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if the opcode asks for a wrapped key and there is none,
    /// [`Error::Exhausted`] if no packet id is left.
    pub fn seal(&mut self, now: Now, packet: &Control<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let opcode = packet.header.opcode;
        let appended = match &self.wrap {
            Wrap::Crypt { wrapped: WrappedKey::Appended(key), .. } => Some(key),
            _ => None,
        }
        .filter(|_| opcode.has_wrapped_key());
        if opcode.has_wrapped_key() && appended.is_none() {
            return Err(Error::NoKey);
        }
        out.reserve(HEADER_LEN + self.overhead(opcode) + packet.body_len());
        out.extend_from_slice(&packet.header.to_bytes());
        match &self.wrap {
            Wrap::Plain => packet.write_body(out),
            Wrap::Auth(keys) => keys.seal(self.ids.next(now)?, packet, out),
            Wrap::Crypt { keys, .. } => keys.seal(self.ids.next(now)?, packet, out),
        }
        if let Some(key) = appended {
            out.extend_from_slice(key);
        }
        Ok(())
    }

    /// Opens a whole packet, decrypting in place.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`], [`Error::Replay`], and what [`Header::parse`] and
    /// [`Control::parse_body`] say. A packet that is not authentic changes nothing here; what was
    /// decrypted of it is wiped.
    pub fn open<'a>(&mut self, packet: &'a mut [u8]) -> Result<Control<'a>, Error> {
        let header = Header::parse(packet)?;
        let packet = match &self.wrap {
            Wrap::Crypt { wrapped: WrappedKey::Cut, .. } if header.opcode.has_wrapped_key() => {
                let (len, _) = crypt_v2::split(packet)?;
                &mut packet[..len]
            }
            _ if header.opcode.has_wrapped_key() => {
                return Err(Error::Opcode(header.opcode as u8));
            }
            _ => packet,
        };
        let (id, body) = match &self.wrap {
            Wrap::Plain => return Control::parse_body(header, &packet[HEADER_LEN..]),
            Wrap::Auth(keys) => keys.open(packet, &self.window)?,
            Wrap::Crypt { keys, .. } => keys.open(packet, &self.window)?,
        };
        self.window.commit(id);
        Control::parse_body(header, body)
    }
}
