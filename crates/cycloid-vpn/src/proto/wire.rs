//! Encodes and decodes packets of the control channel.
//!
//! Every packet starts with a byte of opcode (high 5 bits) and key id (low 3 bits). A control
//! packet continues with the sender's session id (8 bytes) and, without its protection, a body:
//!
//! | bytes | holds |
//! |---|---|
//! | 1 | number of acknowledgements, at most 8 |
//! | 4 each | ids of the acknowledged messages, big-endian |
//! | 8 | session id of the receiver, if there are acknowledgements |
//! | 4 | id of the message, big-endian; absent in an [`Opcode::Ack`] |
//! | rest | the message: TLS data, except in resets |
//!
//! Source: draft-openvpn-wire-protocol, "Control channel packet format".

use super::{Error, Random};

/// Maximum length of a received control packet in bytes, wrapped client key included. More than
/// [`MAX_CONTROL_PACKET`](super::MAX_CONTROL_PACKET), since a peer may be configured for more.
pub const MAX_RECEIVED_CONTROL_PACKET: usize = 3072;

/// Bytes of opcode, key id and session id.
pub const HEADER_LEN: usize = 1 + SessionId::LEN;

/// The kind of a packet. Resets of key method 1 (opcodes 1 and 2) are not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Starts a TLS session for new keys next to the existing one.
    SoftReset = 3,
    /// TLS data.
    Control = 4,
    /// Acknowledgements only.
    Ack = 5,
    /// Data without a peer id.
    DataV1 = 6,
    /// The first packet of a client.
    HardResetClientV2 = 7,
    /// The server's answer to it.
    HardResetServerV2 = 8,
    /// Data with a peer id.
    DataV2 = 9,
    /// The first packet of a client with its own key (tls-crypt-v2), wrapped and appended.
    HardResetClientV3 = 10,
    /// [`Control`](Self::Control) with the wrapped client key appended.
    ControlWkc = 11,
}

impl Opcode {
    fn from_bits(bits: u8) -> Result<Self, Error> {
        Ok(match bits {
            3 => Self::SoftReset,
            4 => Self::Control,
            5 => Self::Ack,
            6 => Self::DataV1,
            7 => Self::HardResetClientV2,
            8 => Self::HardResetServerV2,
            9 => Self::DataV2,
            10 => Self::HardResetClientV3,
            11 => Self::ControlWkc,
            _ => return Err(Error::Opcode(bits)),
        })
    }

    /// Returns whether it is a data channel packet.
    pub fn is_data(self) -> bool {
        matches!(self, Self::DataV1 | Self::DataV2)
    }

    /// Returns whether it starts a new connection.
    pub fn is_hard_reset(self) -> bool {
        matches!(self, Self::HardResetClientV2 | Self::HardResetServerV2 | Self::HardResetClientV3)
    }

    /// Returns whether a wrapped client key is appended.
    pub fn has_wrapped_key(self) -> bool {
        matches!(self, Self::HardResetClientV3 | Self::ControlWkc)
    }
}

/// The id of a packet's keys: 0 for the first of a connection, then 1 to 7 in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyId(u8);

impl KeyId {
    /// The key id of a connection's first session.
    pub const FIRST: Self = Self(0);

    /// Returns `None` above 7.
    pub fn new(id: u8) -> Option<Self> {
        (id < 8).then_some(Self(id))
    }

    /// Returns the number, 0 to 7.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Returns the id of the next keys; never 0.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 % 7 + 1)
    }
}

/// The id of one end of a session: 8 bytes, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId([u8; Self::LEN]);

impl SessionId {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Returns a random id.
    pub fn random(random: &mut Random<'_>) -> Self {
        loop {
            let mut bytes = [0; Self::LEN];
            random(&mut bytes);
            if let Some(id) = Self::new(bytes) {
                return id;
            }
        }
    }

    /// Returns `None` for all zeros.
    pub fn new(bytes: [u8; Self::LEN]) -> Option<Self> {
        (bytes != [0; Self::LEN]).then_some(Self(bytes))
    }

    /// Returns the bytes as in packets.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, Error> {
        Self::new(*take(bytes)?).ok_or(Error::SessionId)
    }
}

/// Parses opcode and key id from a packet's first byte.
///
/// # Errors
///
/// [`Error::Opcode`] for an unknown opcode.
pub fn first_byte(byte: u8) -> Result<(Opcode, KeyId), Error> {
    Ok((Opcode::from_bits(byte >> 3)?, KeyId(byte & 7)))
}

/// The unprotected header of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The opcode; never that of a data packet.
    pub opcode: Opcode,
    /// The key id.
    pub key_id: KeyId,
    /// The sender's session id.
    pub session: SessionId,
}

impl Header {
    /// Parses the header of a packet, its first [`HEADER_LEN`] bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Short`], [`Error::Long`]; [`Error::Opcode`] for an opcode outside of the control
    /// channel; [`Error::KeyId`] for a hard reset with another key id than the first;
    /// [`Error::SessionId`].
    pub fn parse(packet: &[u8]) -> Result<Self, Error> {
        if packet.len() > MAX_RECEIVED_CONTROL_PACKET {
            return Err(Error::Long);
        }
        let mut rest = packet;
        let [first] = *take(&mut rest)?;
        let (opcode, key_id) = first_byte(first)?;
        if opcode.is_data() {
            return Err(Error::Opcode(opcode as u8));
        }
        if opcode.is_hard_reset() && key_id.get() != 0 {
            return Err(Error::KeyId(key_id.get()));
        }
        Ok(Self { opcode, key_id, session: SessionId::read(&mut rest)? })
    }

    /// Encodes the header.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = (self.opcode as u8) << 3 | self.key_id.get();
        bytes[1..].copy_from_slice(self.session.as_bytes());
        bytes
    }
}

/// Ids of acknowledged messages; at most [`Acks::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acks {
    ids: [u32; Self::MAX],
    len: u8,
}

impl Acks {
    /// Maximum number in a packet.
    pub const MAX: usize = 8;

    /// Adds an id. Returns whether there was room.
    pub fn push(&mut self, id: u32) -> bool {
        let Some(place) = self.ids.get_mut(usize::from(self.len)) else { return false };
        *place = id;
        self.len += 1;
        true
    }

    /// Returns the ids in the order of addition.
    pub fn as_slice(&self) -> &[u32] {
        &self.ids[..usize::from(self.len)]
    }

    /// Returns whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<u32> for Acks {
    /// Takes the first [`Acks::MAX`] ids.
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        let mut acks = Self::default();
        for id in ids.into_iter().take(Self::MAX) {
            acks.push(id);
        }
        acks
    }
}

/// A control packet without its protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control<'a> {
    /// The header.
    pub header: Header,
    /// The acknowledgements.
    pub acks: Acks,
    /// The receiver's session id, present if there are acknowledgements.
    pub remote: Option<SessionId>,
    /// Id and content of the message; `None` only in an [`Opcode::Ack`].
    pub message: Option<(u32, &'a [u8])>,
}

impl<'a> Control<'a> {
    /// Parses the unprotected body after `header`.
    ///
    /// # Errors
    ///
    /// [`Error::Short`], [`Error::Long`], [`Error::Acknowledgements`], [`Error::SessionId`];
    /// [`Error::Sequence`] for a reset whose message is not number 0.
    pub fn parse_body(header: Header, body: &'a [u8]) -> Result<Self, Error> {
        let mut rest = body;
        let [count] = *take(&mut rest)?;
        if usize::from(count) > Acks::MAX {
            return Err(Error::Acknowledgements);
        }
        let mut acks = Acks::default();
        for _ in 0..count {
            acks.push(u32::from_be_bytes(*take(&mut rest)?));
        }
        let remote = match count {
            0 => None,
            _ => Some(SessionId::read(&mut rest)?),
        };
        let message = if header.opcode == Opcode::Ack {
            if !rest.is_empty() {
                return Err(Error::Long);
            }
            None
        } else {
            let id = u32::from_be_bytes(*take(&mut rest)?);
            let reset = header.opcode.is_hard_reset() || header.opcode == Opcode::SoftReset;
            if reset && id != 0 {
                return Err(Error::Sequence);
            }
            Some((id, rest))
        };
        Ok(Self { header, acks, remote, message })
    }

    /// Appends the body. Omits acknowledgements if `remote` is `None`.
    pub fn write_body(&self, out: &mut Vec<u8>) {
        match &self.remote {
            Some(remote) if !self.acks.is_empty() => {
                out.push(self.acks.len);
                for id in self.acks.as_slice() {
                    out.extend_from_slice(&id.to_be_bytes());
                }
                out.extend_from_slice(remote.as_bytes());
            }
            _ => out.push(0),
        }
        if let Some((id, content)) = self.message {
            out.extend_from_slice(&id.to_be_bytes());
            out.extend_from_slice(content);
        }
    }

    /// Returns the number of bytes that [`Self::write_body`] appends.
    pub fn body_len(&self) -> usize {
        let acks = match self.remote {
            Some(_) if !self.acks.is_empty() => 4 * usize::from(self.acks.len) + SessionId::LEN,
            _ => 0,
        };
        1 + acks + self.message.map_or(0, |(_, content)| 4 + content.len())
    }
}

/// Removes and returns the first `N` bytes.
pub(super) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], Error> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Error::Short)?;
    *bytes = rest;
    Ok(first)
}

/// The content of a server's reset for a tls-crypt-v2 client that supports early negotiation: one
/// element of type 1 (flags), length 2, whose lowest bit requests the wrapped key again.
///
/// Source: OpenVPN's tls-crypt-v2 specification, "HMAC Cookie support".
pub const RESEND_WRAPPED_KEY: [u8; 6] = [0, 1, 0, 2, 0, 1];

/// Returns whether the content of a server's reset requests the wrapped client key again. Ignores
/// elements of unknown type.
///
/// # Errors
///
/// [`Error::Short`] for a truncated element, [`Error::Long`] if the flags are not two bytes.
pub fn asks_for_wrapped_key(mut content: &[u8]) -> Result<bool, Error> {
    let mut asks = false;
    while !content.is_empty() {
        let kind = u16::from_be_bytes(*take(&mut content)?);
        let len = u16::from_be_bytes(*take(&mut content)?);
        let value;
        (value, content) = content.split_at_checked(len.into()).ok_or(Error::Short)?;
        if kind == 1 {
            let flags: [u8; 2] = value.try_into().map_err(|_| Error::Long)?;
            asks |= u16::from_be_bytes(flags) & 1 != 0;
        }
    }
    Ok(asks)
}

#[cfg(test)]
mod tests;
