//! Attributes of netlink messages: a length and a kind of 16 bits each, and a value that is padded
//! to four bytes. Numbers have the machine's byte order, addresses and ports the network's.
//!
//! Source: netlink(7).

use std::net::IpAddr;

use zeroize::Zeroizing;

/// Bytes before the value.
const HEADER: usize = 4;

/// The flag of an attribute that holds others, and the flag of one in network byte order.
const NESTED: u16 = 0x8000;
const NETWORK_ORDER: u16 = 0x4000;

/// The longest message, so that the bytes with keys never move.
const ROOM: usize = 1024;

/// A message that is being written. Wiped on drop.
pub(super) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    pub(super) fn new() -> Self {
        Self(Zeroizing::new(Vec::with_capacity(ROOM)))
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        assert!(self.0.len() + bytes.len() <= ROOM, "a message is short");
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(HEADER + value.len()).expect("a message is short");
        self.bytes(&length.to_ne_bytes());
        self.bytes(&kind.to_ne_bytes());
        self.bytes(value);
        self.bytes(&[0; 3][..self.0.len().next_multiple_of(4) - self.0.len()]);
    }

    pub(super) fn number(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_ne_bytes());
    }

    pub(super) fn address(&mut self, ipv4: u16, ipv6: u16, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.attribute(ipv4, &address.octets()),
            IpAddr::V6(address) => self.attribute(ipv6, &address.octets()),
        }
    }

    /// Writes an attribute that holds those that `write` writes.
    pub(super) fn nest(&mut self, kind: u16, write: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.attribute(kind | NESTED, &[]);
        write(self);
        self.set_length(start);
    }

    fn set_length(&mut self, start: usize) {
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }

    /// Returns the message, with its length in the first four bytes.
    pub(super) fn finish(mut self) -> Zeroizing<Vec<u8>> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// Received attributes.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a>(pub(super) &'a [u8]);

impl<'a> Attributes<'a> {
    /// Iterates over kinds, without flags, and values. A truncated attribute ends it.
    pub(super) fn all(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
            let kind = u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?);
            let value = rest.get(HEADER..length)?;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            Some((kind & !(NESTED | NETWORK_ORDER), value))
        })
    }

    pub(super) fn find(self, kind: u16) -> Option<&'a [u8]> {
        self.all().find(|(found, _)| *found == kind).map(|(_, value)| value)
    }

    pub(super) fn nested(self, kind: u16) -> Option<Self> {
        self.find(kind).map(Attributes)
    }

    /// Returns a number in the machine's byte order. The kernel chooses the width of some by the
    /// value.
    pub(super) fn number(self, kind: u16) -> Option<u64> {
        let value = self.find(kind)?;
        Some(match value.len() {
            1 => value[0].into(),
            2 => u16::from_ne_bytes(value.try_into().ok()?).into(),
            4 => u32::from_ne_bytes(value.try_into().ok()?).into(),
            8 => u64::from_ne_bytes(value.try_into().ok()?),
            _ => return None,
        })
    }

    pub(super) fn address(self, ipv4: u16, ipv6: u16) -> Option<IpAddr> {
        let ipv4 = self.find(ipv4).and_then(|value| <[u8; 4]>::try_from(value).ok());
        let ipv6 = || self.find(ipv6).and_then(|value| <[u8; 16]>::try_from(value).ok());
        ipv4.map(IpAddr::from).or_else(|| ipv6().map(IpAddr::from))
    }

    /// Returns a port, which has network byte order.
    pub(super) fn port(self, kind: u16) -> Option<u16> {
        Some(u16::from_be_bytes(self.find(kind)?.try_into().ok()?))
    }
}
