//! A simulation of the kernel's family `ovpn`, with one interface for one peer. It parses messages
//! by itself, refuses what the kernel's description refuses, and seals and opens packets with the
//! keys that it was given.
//!
//! Source: Linux, `Documentation/netlink/specs/ovpn.yaml`; the behaviour of the commands as its
//! driver documents it.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};

use aes_gcm::aead::{AeadInOut, KeyInit, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;
use cycloid_vpn::net::dco::Exchange;
use cycloid_vpn::proto::data::PING;

pub(crate) const FAMILY: u16 = 0x23;
pub(crate) const INTERFACE: u32 = 7;

/// A key as the family got it.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) id: u8,
    cipher: u32,
    /// For sending, then for receiving: key and end of the nonces.
    directions: [(Vec<u8>, Vec<u8>); 2],
    sent: u32,
}

/// The peer of the interface.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) id: u32,
    pub(crate) remote: SocketAddr,
    pub(crate) socket: u32,
    /// Interval and timeout, in seconds.
    pub(crate) keepalive: (u32, u32),
    pub(crate) slots: [Option<Key>; 2],
    /// Received and sent.
    inner_bytes: [u64; 2],
    bytes: [u64; 2],
    packets: [u64; 2],
    /// The seconds of the last packets, received and sent.
    last: [u64; 2],
}

/// The simulated family.
#[derive(Default)]
pub(crate) struct Family {
    pub(crate) peer: Option<Peer>,
    /// Notifications that wait for their reader.
    pub(crate) notices: VecDeque<Vec<u8>>,
    /// Commands, in order.
    pub(crate) log: Vec<u8>,
    /// The time in seconds.
    pub(crate) time: u64,
    /// The error of the next request.
    pub(crate) fails: Option<i32>,
}

/// The types of attributes: number, most or exact length, or nested.
#[derive(Clone, Copy)]
enum Policy {
    Number(u32),
    Port,
    Exact(usize),
    Most(usize),
    Nested(fn(u8, u16) -> Option<Policy>),
}

const NEW_PEER: u8 = 1;
const SET_PEER: u8 = 2;
const GET_PEER: u8 = 3;
const DELETE_PEER: u8 = 4;
const NEW_KEY: u8 = 6;
const GET_KEY: u8 = 7;
const SWAP_KEYS: u8 = 8;
const DELETE_KEY: u8 = 10;

/// The attributes that a command takes, by level.
fn top(command: u8, kind: u16) -> Option<Policy> {
    Some(match (command, kind) {
        (_, 1) => Policy::Number(u32::MAX),
        (NEW_PEER..=DELETE_PEER, 2) => Policy::Nested(peer),
        (NEW_KEY..=DELETE_KEY, 3) => Policy::Nested(key),
        _ => return None,
    })
}

fn peer(command: u8, kind: u16) -> Option<Policy> {
    let changes = matches!(command, NEW_PEER | SET_PEER);
    Some(match kind {
        1 => Policy::Number(0xff_ffff),
        2 | 10 if changes => Policy::Exact(4),
        3 | 11 if changes => Policy::Exact(16),
        4 | 13 | 14 if changes => Policy::Number(u32::MAX),
        5 if changes => Policy::Port,
        6 if command == NEW_PEER => Policy::Number(u32::MAX),
        _ => return None,
    })
}

fn key(command: u8, kind: u16) -> Option<Policy> {
    Some(match (kind, command) {
        (1, _) => Policy::Number(0xff_ffff),
        (2, NEW_KEY | GET_KEY | DELETE_KEY) => Policy::Number(1),
        (3, NEW_KEY) => Policy::Number(7),
        (4, NEW_KEY) => Policy::Number(2),
        (5 | 6, NEW_KEY) => Policy::Nested(direction),
        _ => return None,
    })
}

fn direction(_: u8, kind: u16) -> Option<Policy> {
    Some(match kind {
        1 => Policy::Most(256),
        2 => Policy::Exact(8),
        _ => return None,
    })
}

/// Parsed attributes; nested ones by their path.
type Values = BTreeMap<Vec<u16>, Vec<u8>>;

fn errno(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}

/// Parses attributes strictly: every one must be known to the command.
fn parse(
    command: u8,
    mut bytes: &[u8],
    known: fn(u8, u16) -> Option<Policy>,
    path: &[u16],
    values: &mut Values,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let header = bytes.first_chunk::<4>().ok_or_else(|| invalid("trailing bytes"))?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]);
        let (nested, kind) = (kind & 0x8000 != 0, kind & 0x3fff);
        let value = bytes.get(4..length).ok_or_else(|| invalid("a truncated attribute"))?;
        bytes = bytes.get(length.next_multiple_of(4)..).ok_or_else(|| invalid("no padding"))?;
        let here = [path, &[kind]].concat();
        let policy = known(command, kind).ok_or_else(|| invalid("an unknown attribute"))?;
        let number = || value.try_into().map(u32::from_ne_bytes);
        let good = match policy {
            Policy::Number(most) => number().is_ok_and(|number| number <= most),
            Policy::Port => value.len() == 2 && value != [0, 0],
            Policy::Exact(length) => value.len() == length,
            Policy::Most(length) => value.len() <= length,
            Policy::Nested(inner) => {
                parse(command, value, inner, &here, values)?;
                true
            }
        };
        if !good || nested != matches!(policy, Policy::Nested(_)) {
            return Err(invalid("an attribute of the wrong type"));
        }
        if values.insert(here, value.to_vec()).is_some() {
            return Err(invalid("an attribute twice"));
        }
    }
    Ok(())
}

fn number(values: &Values, path: &[u16]) -> Option<u32> {
    values.get(path).map(|value| u32::from_ne_bytes(value[..].try_into().expect("its type")))
}

fn required(values: &Values, path: &[u16]) -> io::Result<u32> {
    number(values, path).ok_or_else(|| invalid("a missing attribute"))
}

fn remote(values: &Values) -> io::Result<Option<SocketAddr>> {
    let (ipv4, ipv6) = (values.get(&[2, 2][..]), values.get(&[2, 3][..]));
    let port = values.get(&[2, 5][..]).map(|port| u16::from_be_bytes([port[0], port[1]]));
    let address: IpAddr = match (ipv4, ipv6) {
        (Some(_), Some(_)) => return Err(invalid("both remote addresses")),
        (Some(it), None) => <[u8; 4]>::try_from(&it[..]).expect("its type").into(),
        (None, Some(it)) => <[u8; 16]>::try_from(&it[..]).expect("its type").into(),
        (None, None) if port.is_some() => return Err(invalid("a port without an address")),
        (None, None) => return Ok(None),
    };
    if values.contains_key(&[2, 4][..]) && address.is_ipv4() {
        return Err(invalid("a scope without an IPv6 address"));
    }
    let port = port.ok_or_else(|| invalid("an address without a port"))?;
    Ok(Some(SocketAddr::new(address, port)))
}

fn keepalive(values: &Values) -> io::Result<Option<(u32, u32)>> {
    match (number(values, &[2, 13]), number(values, &[2, 14])) {
        (Some(interval), Some(timeout)) => Ok(Some((interval, timeout))),
        (None, None) => Ok(None),
        _ => Err(invalid("half a keepalive")),
    }
}

/// Writes an attribute.
fn put(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn message(command: u8, attributes: &[u8]) -> Vec<u8> {
    let mut bytes = (20 + attributes.len() as u32).to_ne_bytes().to_vec();
    bytes.extend(FAMILY.to_ne_bytes());
    bytes.extend([0; 10]);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend(attributes);
    bytes
}

impl Exchange for Family {
    fn family(&self) -> u16 {
        FAMILY
    }

    fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let length = u32::from_ne_bytes(*request.first_chunk().expect("a length"));
        assert_eq!(length as usize, request.len(), "the message's own length");
        let half = |at: usize| u16::from_ne_bytes([request[at], request[at + 1]]);
        assert_eq!((half(4), half(6)), (FAMILY, 5), "the family, and a request with an answer");
        let command = request[16];
        self.log.push(command);
        if let Some(code) = self.fails.take() {
            return Err(errno(code));
        }
        let mut values = Values::new();
        parse(command, &request[20..], top, &[], &mut values)?;
        if required(&values, &[1])? != INTERFACE {
            return Err(errno(libc_code::NO_DEVICE));
        }
        let mut answer = Vec::new();
        match command {
            NEW_PEER => self.new_peer(&values)?,
            SET_PEER => {
                let (remote, keepalive) = (remote(&values)?, keepalive(&values)?);
                let peer = self.known(required(&values, &[2, 1])?)?;
                peer.remote = remote.unwrap_or(peer.remote);
                peer.keepalive = keepalive.unwrap_or(peer.keepalive);
            }
            GET_PEER => answer.push(self.known(required(&values, &[2, 1])?)?.describe()),
            DELETE_PEER => {
                self.known(required(&values, &[2, 1])?)?;
                self.delete(1);
            }
            NEW_KEY => self.new_key(&values)?,
            GET_KEY => {
                let slot = required(&values, &[3, 2])?;
                let peer = self.known(required(&values, &[3, 1])?)?;
                let key = peer.slots[slot as usize].as_ref();
                let key = key.ok_or_else(|| errno(libc_code::NO_ENTRY))?;
                let mut inner = Vec::new();
                put(&mut inner, 1, &peer.id.to_ne_bytes());
                put(&mut inner, 2, &slot.to_ne_bytes());
                put(&mut inner, 3, &u32::from(key.id).to_ne_bytes());
                put(&mut inner, 4, &key.cipher.to_ne_bytes());
                let mut outer = Vec::new();
                put(&mut outer, 0x8003, &inner);
                answer.push(message(GET_KEY, &outer));
            }
            SWAP_KEYS => self.known(required(&values, &[3, 1])?)?.slots.swap(0, 1),
            DELETE_KEY => {
                let slot = required(&values, &[3, 2])? as usize;
                self.known(required(&values, &[3, 1])?)?.slots[slot] = None;
            }
            _ => return Err(errno(libc_code::NOT_SUPPORTED)),
        }
        Ok(answer)
    }
}

mod libc_code {
    pub(super) const NO_ENTRY: i32 = 2;
    pub(super) const NO_DEVICE: i32 = 19;
    pub(super) const NOT_SUPPORTED: i32 = 95;
}

impl Family {
    fn known(&mut self, id: u32) -> io::Result<&mut Peer> {
        let peer = self.peer.as_mut().filter(|peer| peer.id == id);
        peer.ok_or_else(|| errno(libc_code::NO_ENTRY))
    }

    fn new_peer(&mut self, values: &Values) -> io::Result<()> {
        let id = required(values, &[2, 1])?;
        let socket = required(values, &[2, 6])?;
        let remote = remote(values)?.ok_or_else(|| invalid("UDP without a remote address"))?;
        let keepalive = keepalive(values)?.unwrap_or_default();
        // An interface for one peer replaces the previous one.
        if self.peer.is_some() {
            self.delete(0);
        }
        self.peer = Some(Peer {
            id,
            remote,
            socket,
            keepalive,
            slots: [None, None],
            inner_bytes: [0; 2],
            bytes: [0; 2],
            packets: [0; 2],
            last: [self.time; 2],
        });
        Ok(())
    }

    fn new_key(&mut self, values: &Values) -> io::Result<()> {
        let slot = required(values, &[3, 2])? as usize;
        let id = required(values, &[3, 3])? as u8;
        let cipher = required(values, &[3, 4])?;
        let direction = |kind| {
            let key = values.get(&[3, kind, 1][..]).cloned();
            let tail = values.get(&[3, kind, 2][..]).cloned();
            key.zip(tail).ok_or_else(|| invalid("half a direction"))
        };
        let directions = [direction(5)?, direction(6)?];
        for (key, _) in &directions {
            match (cipher, key.len()) {
                (1, 16 | 24 | 32) | (2, 32) => {}
                _ => return Err(invalid("no such cipher or length of a key")),
            }
        }
        let peer = self.known(required(values, &[3, 1])?)?;
        peer.slots[slot] = Some(Key { id, cipher, directions, sent: 0 });
        Ok(())
    }

    /// Deletes the peer and tells why.
    fn delete(&mut self, reason: u32) {
        let Some(peer) = self.peer.take() else { return };
        let mut inner = Vec::new();
        put(&mut inner, 15, &reason.to_ne_bytes());
        put(&mut inner, 1, &peer.id.to_ne_bytes());
        self.tell(5, 0x8002, &inner, INTERFACE);
    }

    pub(crate) fn tell(&mut self, command: u8, kind: u16, inner: &[u8], interface: u32) {
        let mut outer = Vec::new();
        put(&mut outer, 1, &interface.to_ne_bytes());
        put(&mut outer, kind, inner);
        self.notices.push_back(message(command, &outer));
    }

    /// Removes the interface.
    pub(crate) fn tear_down(&mut self) {
        self.delete(0);
    }

    /// Tells that the key for sending is used up. The kernel writes its id as 16 bits.
    pub(crate) fn use_up(&mut self) {
        let peer = self.peer.as_ref().expect("a peer");
        let key = peer.slots[0].as_ref().expect("a key");
        let mut inner = Vec::new();
        put(&mut inner, 1, &peer.id.to_ne_bytes());
        put(&mut inner, 3, &u16::from(key.id).to_ne_bytes());
        self.tell(9, 0x8003, &inner, INTERFACE);
    }

    /// Lets time pass. Returns a ping if one is due.
    pub(crate) fn pass(&mut self, seconds: u64) -> Option<Vec<u8>> {
        self.time += seconds;
        let time = self.time;
        let peer = self.peer.as_ref()?;
        let (interval, timeout) = peer.keepalive;
        let [received, sent] = peer.last;
        if timeout > 0 && time >= received + u64::from(timeout) {
            self.delete(2);
            return None;
        }
        (interval > 0 && time >= sent + u64::from(interval)).then(|| self.seal(&PING)).flatten()
    }

    /// Seals an inner packet with the key in the primary slot.
    pub(crate) fn seal(&mut self, inner: &[u8]) -> Option<Vec<u8>> {
        let time = self.time;
        let peer = self.peer.as_mut()?;
        let key = peer.slots[0].as_mut()?;
        key.sent += 1;
        let mut packet = (u32::from(9 << 3 | key.id) << 24 | peer.id).to_be_bytes().to_vec();
        packet.extend(key.sent.to_be_bytes());
        let mut sealed = inner.to_vec();
        let tag = crypt(key, 0, &packet, &mut sealed, None)?;
        packet.extend(tag);
        packet.extend(sealed);
        peer.last[1] = time;
        peer.bytes[1] += packet.len() as u64;
        peer.packets[1] += 1;
        if inner != PING {
            peer.inner_bytes[1] += inner.len() as u64;
        }
        Some(packet)
    }

    /// Opens a packet. The peer moves to the address of an authentic one.
    pub(crate) fn open(&mut self, packet: &[u8], from: SocketAddr) -> Option<Vec<u8>> {
        let time = self.time;
        let peer = self.peer.as_mut()?;
        let id = packet.first()? & 7;
        let key = peer.slots.iter().flatten().find(|key| key.id == id)?;
        let (header, rest) = packet.split_at_checked(8)?;
        let (tag, sealed) = rest.split_first_chunk::<16>()?;
        let mut inner = sealed.to_vec();
        crypt(key, 1, header, &mut inner, Some(tag))?;
        peer.last[0] = time;
        peer.bytes[0] += packet.len() as u64;
        peer.packets[0] += 1;
        if inner != PING {
            peer.inner_bytes[0] += inner.len() as u64;
        }
        if from != peer.remote {
            peer.remote = from;
            let mut attributes = Vec::new();
            put(&mut attributes, 1, &peer.id.to_ne_bytes());
            match from.ip() {
                IpAddr::V4(address) => put(&mut attributes, 2, &address.octets()),
                IpAddr::V6(address) => put(&mut attributes, 3, &address.octets()),
            }
            put(&mut attributes, 5, &from.port().to_be_bytes());
            self.tell(11, 0x8002, &attributes, INTERFACE);
        }
        Some(inner)
    }
}

impl Peer {
    fn describe(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        put(&mut inner, 1, &self.id.to_ne_bytes());
        put(&mut inner, 13, &self.keepalive.0.to_ne_bytes());
        put(&mut inner, 14, &self.keepalive.1.to_ne_bytes());
        match self.remote.ip() {
            IpAddr::V4(address) => put(&mut inner, 2, &address.octets()),
            IpAddr::V6(address) => put(&mut inner, 3, &address.octets()),
        }
        put(&mut inner, 5, &self.remote.port().to_be_bytes());
        let counts = [
            (16, self.inner_bytes[0]),
            (17, self.inner_bytes[1]),
            (20, self.bytes[0]),
            (21, self.bytes[1]),
            (22, self.packets[0]),
            (23, self.packets[1]),
        ];
        for (kind, count) in counts {
            // As narrow as the value allows.
            match u32::try_from(count) {
                Ok(count) => put(&mut inner, kind, &count.to_ne_bytes()),
                Err(_) => put(&mut inner, kind, &count.to_ne_bytes()),
            }
        }
        let mut outer = Vec::new();
        put(&mut outer, 0x8002, &inner);
        message(GET_PEER, &outer)
    }
}

/// Seals in place and returns the tag, or opens with a tag.
fn crypt(
    key: &Key,
    direction: usize,
    header: &[u8],
    text: &mut [u8],
    tag: Option<&[u8; 16]>,
) -> Option<Vec<u8>> {
    fn with<A: AeadInOut + KeyInit>(
        key: &[u8],
        nonce: &[u8],
        header: &[u8],
        text: &mut [u8],
        tag: Option<&[u8; 16]>,
    ) -> Option<Vec<u8>> {
        let cipher = A::new_from_slice(key).ok()?;
        let nonce = Nonce::<A>::try_from(nonce).ok()?;
        match tag {
            None => {
                let tag = cipher.encrypt_inout_detached(&nonce, header, text.into()).ok()?;
                Some(tag.to_vec())
            }
            Some(tag) => {
                let tag = Tag::<A>::try_from(&tag[..]).ok()?;
                cipher.decrypt_inout_detached(&nonce, header, text.into(), &tag).ok()?;
                Some(Vec::new())
            }
        }
    }
    let (bytes, tail) = &key.directions[direction];
    let nonce = [&header[4..8], tail].concat();
    match (key.cipher, bytes.len()) {
        (1, 16) => with::<Aes128Gcm>(bytes, &nonce, header, text, tag),
        (1, 32) => with::<Aes256Gcm>(bytes, &nonce, header, text, tag),
        (2, 32) => with::<ChaCha20Poly1305>(bytes, &nonce, header, text, tag),
        _ => None,
    }
}
