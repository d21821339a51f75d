//! Protection of the control channel outside of TLS: none, an HMAC (tls-auth), encryption with a
//! shared key (tls-crypt) or with each client's own key (tls-crypt-v2).
//!
//! Every protected packet has a [long id](super::packet_id::LongId) and is rejected as a replay if
//! received again. A retransmitted message is sealed again with a new id.
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

/// The configured protection of the control channel.
#[derive(Clone, Debug)]
pub enum ProtectionKey {
    /// TLS only.
    Plain,
    /// tls-auth: an HMAC over everything.
    Auth {
        /// Shared by both ends.
        key: StaticKey,
        /// `None` at both ends, or opposite directions.
        direction: Option<Direction>,
        /// The same at both ends.
        digest: Digest,
    },
    /// tls-crypt: encryption and an HMAC over everything.
    Crypt {
        /// Shared by both ends.
        key: StaticKey,
    },
    /// tls-crypt-v2 of a client.
    CryptV2Client(ClientKey),
    /// tls-crypt-v2 of a server.
    CryptV2Server {
        /// Unwraps the clients' keys.
        key: ServerKey,
        /// Protection for clients without their own key: tls-auth or tls-crypt. `None` refuses
        /// them.
        shared: Option<Box<ProtectionKey>>,
    },
}

/// A client's first packet, and the protection of its session.
#[derive(Debug)]
pub struct Accepted<'a> {
    /// The protection, with the packet already in its replay window.
    pub protection: Protection,
    /// For a client with its own key (tls-crypt-v2): the key's metadata, if any, not checked yet.
    pub client_key: Option<Option<Metadata>>,
    /// For a reset: whether the client sends its wrapped key again on request
    /// ([`RESEND_WRAPPED_KEY`](super::wire::RESEND_WRAPPED_KEY)).
    pub resends_wrapped_key: bool,
    /// The packet.
    pub packet: Control<'a>,
}

impl ProtectionKey {
    /// Returns the protection for a session in which this end is `role`. For a tls-crypt-v2 server,
    /// whose sessions get theirs from [`Self::accept`], this is the protection of clients without
    /// their own key.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if a tls-crypt-v2 server has no such protection.
    pub fn protect(&self, role: Role) -> Result<Protection, Error> {
        Ok(match self {
            Self::Plain => Protection::new(Wrap::Plain, role),
            Self::Auth { key, direction, digest } => {
                let keys = auth::Keys::new(key, *direction, *digest);
                Protection::new(Wrap::Auth { keys, key: key.clone() }, role)
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

    /// Opens the packet of a client without a session, on a server. Keeps no state: the server may
    /// answer a reset and forget it, and continue with the client's next packet. The protection for
    /// that second packet continues after the one packet already sent.
    ///
    /// # Errors
    ///
    /// Those of [`Protection::open`]; [`Error::Opcode`] and [`Error::KeyId`] for a packet that
    /// cannot start a session; [`Error::WrappedKey`]; [`Error::NoKey`] if the packet does not have
    /// the protection that this server requires.
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

/// The first byte of the first packet's number, by which a tls-crypt-v2 client announces that it
/// can send its wrapped key again on request.
const EARLY_NEGOTIATION: u32 = 0x0f00_0000;

/// Seals and opens the control packets of one session.
#[derive(Debug)]
pub struct Protection {
    wrap: Wrap,
    role: Role,
    ids: LongIds,
    window: LongReplayWindow,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per peer, and mostly the largest")]
enum Wrap {
    Plain,
    Auth { keys: auth::Keys, key: StaticKey },
    Crypt { keys: LazyKeys, wrapped: WrappedKey },
}

/// The keys of tls-crypt, prepared for their first packet. They take 3 KiB, and many connections
/// end before the first renegotiation, which dynamic tls-crypt protects.
#[derive(Debug)]
struct LazyKeys {
    key: StaticKey,
    prepared: Option<Box<crypt::Keys>>,
}

impl LazyKeys {
    fn get(&mut self, role: Role) -> &crypt::Keys {
        self.prepared.get_or_insert_with(|| Box::new(crypt::Keys::new(&self.key, role)))
    }
}

/// The handling of an appended wrapped client key.
#[derive(Debug)]
enum WrappedKey {
    /// Packets have no wrapped key.
    Absent,
    /// A client appends its own.
    Appended(Arc<[u8]>),
    /// A server has seen it and strips it.
    Cut,
}

impl Protection {
    fn new(wrap: Wrap, role: Role) -> Self {
        let window = LongReplayWindow::new(DEFAULT_REPLAY_WINDOW);
        Self { wrap, role, ids: LongIds::default(), window }
    }

    fn crypt(key: StaticKey, role: Role, wrapped: WrappedKey) -> Self {
        let keys = LazyKeys { key, prepared: None };
        Self::new(Wrap::Crypt { keys, wrapped }, role)
    }

    /// Returns the protection of renegotiations with dynamic tls-crypt: a tls-crypt key from the
    /// first TLS session, mixed with the current key, if any. It is created once and used for all
    /// renegotiations.
    ///
    /// `exported` is the output of the TLS exporter with the label
    /// `EXPORTER-OpenVPN-dynamic-tls-crypt` and no context.
    #[must_use]
    pub fn dynamic(&self, exported: &[u8; StaticKey::LEN]) -> Self {
        let key = match &self.wrap {
            Wrap::Auth { key, .. } | Wrap::Crypt { keys: LazyKeys { key, .. }, .. } => {
                key.xor(exported)
            }
            Wrap::Plain => StaticKey::new((*exported).into()),
        };
        Self::crypt(key, self.role, WrappedKey::Absent)
    }

    /// Returns the opcode of a client's first packet.
    pub fn client_reset(&self) -> Opcode {
        match self.wrap {
            Wrap::Crypt { wrapped: WrappedKey::Appended(_), .. } => Opcode::HardResetClientV3,
            _ => Opcode::HardResetClientV2,
        }
    }

    /// Returns the bytes that a packet of this opcode has in addition to header and body.
    pub fn overhead(&self, opcode: Opcode) -> usize {
        match &self.wrap {
            Wrap::Plain => 0,
            Wrap::Auth { keys, .. } => keys.overhead(),
            Wrap::Crypt { wrapped: WrappedKey::Appended(key), .. } if opcode.has_wrapped_key() => {
                crypt::OVERHEAD + key.len()
            }
            Wrap::Crypt { .. } => crypt::OVERHEAD,
        }
    }

    /// Builds the whole packet in `out`, which is cleared first.
    ///
    /// # Errors
    ///
    /// [`Error::NoKey`] if the opcode needs a wrapped key and there is none, [`Error::Exhausted`]
    /// if no packet id is left.
    pub fn seal(&mut self, now: Now, packet: &Control<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let opcode = packet.header.opcode;
        let appends = matches!(&self.wrap, Wrap::Crypt { wrapped: WrappedKey::Appended(_), .. });
        if opcode.has_wrapped_key() && !appends {
            return Err(Error::NoKey);
        }
        out.reserve(HEADER_LEN + self.overhead(opcode) + packet.body_len());
        out.extend_from_slice(&packet.header.to_bytes());
        match &mut self.wrap {
            Wrap::Plain => packet.write_body(out),
            Wrap::Auth { keys, .. } => keys.seal(self.ids.next(now)?, packet, out),
            Wrap::Crypt { keys, wrapped } => {
                keys.get(self.role).seal(self.ids.next(now)?, packet, out);
                if let (WrappedKey::Appended(key), true) = (wrapped, opcode.has_wrapped_key()) {
                    out.extend_from_slice(key);
                }
            }
        }
        Ok(())
    }

    /// Opens a whole packet, decrypting in place.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`], [`Error::Replay`], and those of [`Header::parse`] and
    /// [`Control::parse_body`]. An unauthentic packet changes no state, and its decrypted bytes are
    /// wiped.
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
        let (id, body) = match &mut self.wrap {
            Wrap::Plain => return Control::parse_body(header, &packet[HEADER_LEN..]),
            Wrap::Auth { keys, .. } => keys.open(packet, &self.window)?,
            Wrap::Crypt { keys, .. } => keys.get(self.role).open(packet, &self.window)?,
        };
        self.window.commit(id);
        Control::parse_body(header, body)
    }
}
