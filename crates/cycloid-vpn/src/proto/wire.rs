//! Packets of the control channel to and from bytes.
//!
//! Every packet begins with a byte of opcode (high 5 bits) and key id (low 3 bits). A control
//! packet goes on with the sender's session id (8 bytes) and, once its protection is off, a body:
//!
//! | bytes | holds |
//! |---|---|
//! | 1 | count of acknowledgements, at most 8 |
//! | 4 each | ids of the messages that are acknowledged, big-endian |
//! | 8 | session id of the receiver, if there are acknowledgements |
//! | 4 | id of the message, big-endian; absent in an [`Opcode::Ack`] |
//! | rest | the message; a piece of TLS, but for resets |
//!
//! Source: draft-openvpn-wire-protocol, "Control channel packet format".

use super::{Error, Random};

/// Longest control packet that is looked at, in bytes, its wrapped client key included. More than
/// [`MAX_CONTROL_PACKET`](super::MAX_CONTROL_PACKET), since a peer may be configured for more.
pub const MAX_RECEIVED_CONTROL_PACKET: usize = 3072;

/// Bytes of opcode, key id and session id.
pub const HEADER_LEN: usize = 1 + SessionId::LEN;

/// What a packet is. Resets of key method 1 (opcodes 1 and 2) do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Begins a TLS session with new keys beside the one that stands.
    SoftReset = 3,
    /// A piece of TLS.
    Control = 4,
    /// Nothing but acknowledgements.
    Ack = 5,
    /// Data without a peer id.
    DataV1 = 6,
    /// A client begins.
    HardResetClientV2 = 7,
    /// A server answers it.
    HardResetServerV2 = 8,
    /// Data with a peer id.
    DataV2 = 9,
    /// A client begins that has a key of its own (tls-crypt-v2), wrapped behind the packet.
    HardResetClientV3 = 10,
    /// [`Control`](Self::Control) with the wrapped client key behind it.
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

    /// Is it of the data channel?
    pub fn is_data(self) -> bool {
        matches!(self, Self::DataV1 | Self::DataV2)
    }

    /// Does it begin a session from nothing?
    pub fn is_hard_reset(self) -> bool {
        matches!(self, Self::HardResetClientV2 | Self::HardResetServerV2 | Self::HardResetClientV3)
    }

    /// Does a wrapped client key stand behind it?
    pub fn has_wrapped_key(self) -> bool {
        matches!(self, Self::HardResetClientV3 | Self::ControlWkc)
    }
}

/// Which keys a packet is of: 0 for the first of a session, then 1 to 7 in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyId(u8);

impl KeyId {
    /// That of the first session of a connection.
    pub const FIRST: Self = Self(0);

    /// Nothing above 7.
    pub fn new(id: u8) -> Option<Self> {
        (id < 8).then_some(Self(id))
    }

    /// 0 to 7.
    pub fn get(self) -> u8 {
        self.0
    }

    /// That of the keys that come next; never 0.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 % 7 + 1)
    }
}

/// Names one end of a session: 8 bytes, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId([u8; Self::LEN]);

impl SessionId {
    /// In bytes.
    pub const LEN: usize = 8;

    /// One that nobody can guess.
    pub fn random(random: &mut Random<'_>) -> Self {
        loop {
            let mut bytes = [0; Self::LEN];
            random(&mut bytes);
            if let Some(id) = Self::new(bytes) {
                return id;
            }
        }
    }

    /// `None` for zeros only.
    pub fn new(bytes: [u8; Self::LEN]) -> Option<Self> {
        (bytes != [0; Self::LEN]).then_some(Self(bytes))
    }

    /// As it stands in packets.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, Error> {
        Self::new(*take(bytes)?).ok_or(Error::SessionId)
    }
}

/// The opcode and the key id of a packet's first byte.
///
/// # Errors
///
/// [`Error::Opcode`] if there is no such opcode.
pub fn first_byte(byte: u8) -> Result<(Opcode, KeyId), Error> {
    Ok((Opcode::from_bits(byte >> 3)?, KeyId(byte & 7)))
}

/// What stands before the protected part of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the packet is; not of the data channel.
    pub opcode: Opcode,
    /// The keys that it is about.
    pub key_id: KeyId,
    /// The sender's.
    pub session: SessionId,
}

impl Header {
    /// Reads the header of a whole packet, of which [`HEADER_LEN`] bytes are then read.
    ///
    /// # Errors
    ///
    /// [`Error::Short`], [`Error::Long`]; [`Error::Opcode`] if it is none of the control channel;
    /// [`Error::KeyId`] for a hard reset of other keys than the first; [`Error::SessionId`].
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

    /// The [`HEADER_LEN`] bytes.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = (self.opcode as u8) << 3 | self.key_id.get();
        bytes[1..].copy_from_slice(self.session.as_bytes());
        bytes
    }
}

/// Ids of messages that are acknowledged; at most [`Acks::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acks {
    ids: [u32; Self::MAX],
    len: u8,
}

impl Acks {
    /// As many as a packet may hold.
    pub const MAX: usize = 8;

    /// Adds one; says whether there was room for it.
    pub fn push(&mut self, id: u32) -> bool {
        let Some(place) = self.ids.get_mut(usize::from(self.len)) else { return false };
        *place = id;
        self.len += 1;
        true
    }

    /// In the order in which they were added.
    pub fn as_slice(&self) -> &[u32] {
        &self.ids[..usize::from(self.len)]
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<u32> for Acks {
    /// Takes the first [`Acks::MAX`].
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
    /// What it is, and from which session.
    pub header: Header,
    /// What it acknowledges.
    pub acks: Acks,
    /// The receiver's session, which the acknowledgements are for; present if there are any.
    pub remote: Option<SessionId>,
    /// Id and content of the message; `None` in an [`Opcode::Ack`], and only there.
    pub message: Option<(u32, &'a [u8])>,
}

impl<'a> Control<'a> {
    /// Reads what stands behind `header` once the protection is off.
    ///
    /// # Errors
    ///
    /// [`Error::Short`], [`Error::Long`], [`Error::Acknowledgements`], [`Error::SessionId`];
    /// [`Error::Sequence`] if it is a reset and its message is not the first, number 0.
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

    /// Appends what stands behind the header. Acknowledgements without a session that they are
    /// for are left out.
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

    /// Bytes that [`Self::write_body`] appends.
    pub fn body_len(&self) -> usize {
        let acks = match self.remote {
            Some(_) if !self.acks.is_empty() => 4 * usize::from(self.acks.len) + SessionId::LEN,
            _ => 0,
        };
        1 + acks + self.message.map_or(0, |(_, content)| 4 + content.len())
    }
}

/// Takes the first `N` bytes off.
pub(super) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], Error> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Error::Short)?;
    *bytes = rest;
    Ok(first)
}

/// The content of a server's reset in answer to a tls-crypt-v2 client that tells of early
/// negotiation: one element of type 1 (flags), length 2, whose lowest bit asks for the wrapped
/// key once more.
///
/// Source: OpenVPN's tls-crypt-v2 specification, "HMAC Cookie support".
pub const RESEND_WRAPPED_KEY: [u8; 6] = [0, 1, 0, 2, 0, 1];

/// Does the content of a server's reset ask that the wrapped client key be sent once more?
/// Elements of unknown type are passed over.
///
/// # Errors
///
/// [`Error::Short`] if an element is cut off, [`Error::Long`] if flags are not two bytes.
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
