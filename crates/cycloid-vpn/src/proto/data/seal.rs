//! Seals inner packets into datagrams.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use aws_lc_rs::aead::Aad;

use super::cbc::CbcSeal;
use super::direction::{Aead, Half, Parameters};
use super::epoch::EpochSecret;
use super::fragment::{self, Division};
use super::framing::Framing;
use super::{DATA_V1, DATA_V2, EPOCH_ID, ID, TAG};
use crate::proto::Error;
use crate::proto::packet_id::LongId;

/// The key for sending. Threads share it; only two counters change.
///
/// With epochs, a sealer is the key of one epoch. Once it is [`Exhausted`], the caller continues
/// with its [`successor`](Self::successor).
pub struct Sealer {
    key: Key,
    parameters: Parameters,
    framing: Framing,
    header: [u8; 4],
    /// Header length in bytes: 1 or 4.
    header_length: usize,
    /// The maximum number of packets: ids start at 1.
    packet_limit: u64,
    block_limit: u64,
    /// Number of issued packet ids.
    issued: AtomicU64,
    /// Total bytes of sealed inner packets.
    bytes: AtomicU64,
    /// The number of the next packet in fragments.
    fragmented: AtomicU8,
}

enum Key {
    Aead(Aead),
    Epoch(Epoch),
    Cbc(CbcSeal),
    Static(StaticSeal),
}

/// A static key. Packets have no header, and long packet ids: when the numbers of 32 bits are used
/// up, they begin again in a later series.
struct StaticSeal {
    cbc: CbcSeal,
    /// The first series, in seconds since 1970.
    began: u32,
}

impl StaticSeal {
    /// Returns the long id of a packet. A series has more packets than are sent in a second, so the
    /// series of this process end before the present.
    fn long_id(&self, id: &PacketId) -> LongId {
        let (series, number) = ((id.0 - 1) / LAST_ID, (id.0 - 1) % LAST_ID + 1);
        LongId { id: number as u32, time: self.began.wrapping_add(series as u32) }
    }
}

/// The key of an epoch.
struct Epoch {
    aead: Aead,
    epoch: u16,
    latest: Arc<Mutex<Latest>>,
}

/// The latest epoch of a key exchange, shared by the sealers of all its epochs.
struct Latest {
    secret: EpochSecret,
    /// Dead once nobody can send in that epoch. The epoch is not used again, since the numbers of
    /// its packets are not known any more.
    sealer: Weak<Sealer>,
}

/// The error of a key that may seal no more packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl From<Exhausted> for Error {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

/// The id of one packet under one key. It comes from the [`Sealer`] that it is used with, and
/// sealing consumes it: reusing an AEAD nonce destroys its security.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketId(u64);

/// A part of an inner packet with its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'p>([u8; fragment::HEADER], &'p [u8]);

impl Fragment<'_> {
    /// Returns the length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "it has a header")]
    pub fn len(&self) -> usize {
        fragment::HEADER + self.1.len()
    }
}

/// Consecutive packet ids.
#[derive(Debug)]
pub struct PacketIds {
    next: u64,
    end: u64,
}

impl Iterator for PacketIds {
    type Item = PacketId;

    fn next(&mut self) -> Option<PacketId> {
        (self.next < self.end).then(|| {
            self.next += 1;
            PacketId(self.next)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.end - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PacketIds {}

/// The most blocks under a static key, which is never renewed: two of them are alike with a
/// probability of 2⁻³³.
const STATIC_BLOCK_LIMIT: u64 = 1 << 48;

/// The highest packet id, without epochs and in an epoch.
const LAST_ID: u64 = u32::MAX as u64;
const LAST_EPOCH_ID: u64 = (1 << 48) - 1;

/// The epoch from which on to negotiate a new key: the last epoch has no successor.
const LATE_EPOCH: u16 = 0xf000;

/// Blocks of 16 bytes in the longest inner packet, plus one per packet.
const BLOCKS_A_PACKET: u64 = 4096 + 1;

impl Sealer {
    pub(super) fn new(half: Half<'_>, parameters: &Parameters) -> Result<Arc<Self>, Error> {
        if parameters.epochs {
            let (secret, sealer) = (EpochSecret::first(half), Weak::new());
            let latest = Arc::new(Mutex::new(Latest { secret, sealer }));
            return Self::of_latest(&latest, &mut lock(&latest), parameters);
        }
        let key = match Aead::new(half, parameters.cipher)? {
            Some(aead) => Key::Aead(aead),
            None => Key::Cbc(CbcSeal::new(half, parameters.cipher)?),
        };
        Ok(Arc::new(Self::with_key(key, LAST_ID, parameters)))
    }

    /// Returns the sealer of a static key, for packets from this time on.
    pub(super) fn of_static_key(
        half: Half<'_>,
        parameters: &Parameters,
        unix: u32,
    ) -> Result<Arc<Self>, Error> {
        let cbc = CbcSeal::new(half, parameters.cipher)?;
        let key = Key::Static(StaticSeal { cbc, began: unix });
        Ok(Arc::new(Self {
            header_length: 0,
            block_limit: STATIC_BLOCK_LIMIT,
            ..Self::with_key(key, LAST_EPOCH_ID, parameters)
        }))
    }

    /// Returns a new sealer for the latest epoch, which must have had none.
    fn of_latest(
        shared: &Arc<Mutex<Latest>>,
        latest: &mut Latest,
        parameters: &Parameters,
    ) -> Result<Arc<Self>, Error> {
        let key = Key::Epoch(Epoch {
            aead: latest.secret.aead(parameters.cipher)?,
            epoch: latest.secret.epoch(),
            latest: Arc::clone(shared),
        });
        let sealer = Arc::new(Self::with_key(key, LAST_EPOCH_ID, parameters));
        latest.sealer = Arc::downgrade(&sealer);
        Ok(sealer)
    }

    fn with_key(key: Key, packet_limit: u64, parameters: &Parameters) -> Self {
        let &Parameters { cipher, key_id, peer_id, framing, .. } = parameters;
        let (header, header_length) = match peer_id {
            Some(id) => ((u32::from(DATA_V2 << 3 | key_id.get()) << 24 | id).to_be_bytes(), 4),
            None => ([DATA_V1 << 3 | key_id.get(), 0, 0, 0], 1),
        };
        Self {
            key,
            parameters: *parameters,
            framing,
            header,
            header_length,
            packet_limit,
            block_limit: cipher.block_limit().unwrap_or(u64::MAX),
            issued: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            fragmented: AtomicU8::new(0),
        }
    }

    /// Returns the epoch, or 0 for a key without epochs.
    pub fn epoch(&self) -> u16 {
        match &self.key {
            Key::Epoch(epoch) => epoch.epoch,
            Key::Aead(_) | Key::Cbc(_) | Key::Static(_) => 0,
        }
    }

    /// Ends this epoch, and returns the sealer of the latest one after it. Returns `None` for a key
    /// without epochs, and for the last epoch.
    pub fn successor(&self) -> Option<Arc<Self>> {
        self.move_to(self.epoch().checked_add(1)?)
    }

    /// Ends all epochs before `epoch`, and returns the sealer of the latest one after them. Returns
    /// `None` for a key without epochs, and after the last epoch.
    pub(super) fn move_to(&self, epoch: u16) -> Option<Arc<Self>> {
        let Key::Epoch(Epoch { latest: shared, .. }) = &self.key else { return None };
        let mut latest = lock(shared);
        let sealer = latest.sealer.upgrade();
        if latest.secret.epoch() >= epoch && sealer.is_some() {
            return sealer;
        }
        let mut next = latest.secret.next()?;
        while next.epoch() < epoch {
            next = next.next()?;
        }
        if let Some(sealer) = sealer {
            sealer.issued.fetch_max(sealer.packet_limit, Relaxed);
        }
        latest.secret = next;
        Self::of_latest(shared, &mut latest, &self.parameters).ok()
    }

    /// Returns the maximum difference in length between a datagram and its inner packet. For an
    /// AEAD without framing the difference is exact.
    pub fn overhead(&self) -> usize {
        self.fragment_overhead() + self.framing.overhead() + self.sealing_overhead()
    }

    /// Bytes of the header of a fragment, if there is one.
    fn fragment_overhead(&self) -> usize {
        if self.parameters.fragment.is_some() { fragment::HEADER } else { 0 }
    }

    fn sealing_overhead(&self) -> usize {
        self.payload_offset()
            + match &self.key {
                Key::Aead(_) => 0,
                Key::Epoch(_) => TAG,
                Key::Cbc(_) => ID + CbcSeal::MAX_PADDING,
                Key::Static(_) => LongId::LEN + CbcSeal::MAX_PADDING,
            }
    }

    /// Returns the offset of the ciphertext in a datagram.
    fn payload_offset(&self) -> usize {
        self.header_length
            + match &self.key {
                Key::Aead(_) => Aead::OVERHEAD,
                Key::Epoch(_) => EPOCH_ID,
                Key::Cbc(cbc) | Key::Static(StaticSeal { cbc, .. }) => cbc.prefix(),
            }
    }

    /// Reserves ids for this many packets in one step. Over a transport that preserves order, all
    /// of them must be used in sequence: a peer may treat a gap as an attack.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] if too few ids, or too few blocks of the cipher's limit, remain, or if a later
    /// epoch has begun.
    pub fn reserve(&self, packets: u32) -> Result<PacketIds, Exhausted> {
        let packets = u64::from(packets);
        // Checked first, so that repeated calls do not push the counter far beyond its limit.
        self.allow(self.issued.load(Relaxed), packets)?;
        let next = self.issued.fetch_add(packets, Relaxed);
        self.allow(next, packets)?;
        Ok(PacketIds { next, end: next + packets })
    }

    fn allow(&self, issued: u64, packets: u64) -> Result<(), Exhausted> {
        let enough = issued + packets <= self.packet_limit
            && self.blocks(issued) + packets * BLOCKS_A_PACKET <= self.block_limit;
        if enough { Ok(()) } else { Err(Exhausted) }
    }

    /// Returns an upper bound of the blocks encrypted so far: one for each packet's partial last
    /// block, and one more per packet.
    fn blocks(&self, issued: u64) -> u64 {
        self.bytes.load(Relaxed) / 16 + 2 * issued
    }

    /// Returns whether to negotiate a new key, well before this one is [`Exhausted`]. With epochs,
    /// well before the last epoch.
    pub fn wants_rekey(&self) -> bool {
        if let Key::Epoch(epoch) = &self.key {
            return lock(&epoch.latest).secret.epoch() >= LATE_EPOCH;
        }
        let issued = self.issued.load(Relaxed);
        issued >= 0xf000_0000 || self.blocks(issued) >= self.block_limit / 8 * 7
    }

    /// Returns the number of reserved packet ids, and the bytes of sealed inner packets.
    pub fn used(&self) -> (u64, u64) {
        (self.issued.load(Relaxed).min(self.packet_limit), self.bytes.load(Relaxed))
    }

    /// Seals an inner packet, given in parts, into `out`, and returns the datagram's length. A
    /// packet in one part is encrypted directly into `out`; several parts are copied there first.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the packet exceeds 65,535 bytes or `out` is too short;
    /// [`overhead`](Self::overhead) tells how much is needed.
    pub fn seal(&self, id: PacketId, parts: &[&[u8]], out: &mut [u8]) -> Result<usize, Error> {
        self.seal_with(self.framing, id, parts, out)
    }

    /// Returns whether packets are sent with the header of fragments, by
    /// [`fragments`](Self::fragments) and [`seal_fragment`](Self::seal_fragment).
    pub fn has_fragments(&self) -> bool {
        self.parameters.fragment.is_some()
    }

    /// Divides an inner packet into fragments, with framing and headers, and passes them to `add`
    /// one by one, after their number. `room` is for the packet with framing.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the packet needs too many fragments, or is longer than `room`.
    pub fn fragments<'r>(
        &self,
        packet: &[u8],
        room: &'r mut [u8],
    ) -> Result<impl ExactSizeIterator<Item = Fragment<'r>>, Error> {
        const TOO_LONG: Error = Error::Malformed("inner packet too long for its fragments");
        let length = self.framing.write(&[packet], room).ok_or(TOO_LONG)?;
        let largest = usize::from(self.parameters.fragment.unwrap_or(u16::MAX));
        let limit = largest.saturating_sub(self.sealing_overhead() + fragment::HEADER);
        let division = Division::of(length, limit).ok_or(TOO_LONG)?;
        let sequence = match division {
            Division::Whole => 0,
            Division::Fragments(_) => self.fragmented.fetch_add(1, Relaxed),
        };
        Ok(division
            .pieces(&room[..length], sequence)
            .map(|(header, piece)| Fragment(header, piece)))
    }

    /// Seals one of the [`fragments`](Self::fragments), as [`seal`](Self::seal) does.
    ///
    /// # Errors
    ///
    /// Those of [`seal`](Self::seal).
    pub fn seal_fragment(
        &self,
        id: PacketId,
        Fragment(header, piece): Fragment<'_>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.seal_with(Framing::None, id, &[&header, piece], out)
    }

    fn seal_with(
        &self,
        framing: Framing,
        id: PacketId,
        parts: &[&[u8]],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        const TOO_LONG: Error = Error::Malformed("inner packet too long for its datagram");
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > usize::from(u16::MAX) {
            return Err(TOO_LONG);
        }
        let offset = self.payload_offset();
        let (prefix, body) = out.split_at_mut_checked(offset).ok_or(TOO_LONG)?;
        prefix[..self.header_length].copy_from_slice(&self.header[..self.header_length]);
        let sealed = match &self.key {
            Key::Aead(aead) => {
                let id = (id.0 as u32).to_be_bytes();
                let (prefix, tag) = prefix.split_at_mut(self.header_length + ID);
                prefix[self.header_length..].copy_from_slice(&id);
                let tag: &mut [u8; TAG] = tag.try_into().expect("the offset includes the tag");
                let additional = if self.header_length == 1 { &prefix[1..] } else { &prefix[..] };
                let (nonce, additional) = (aead.nonce(id), Aad::from(additional));
                if let [packet] = parts
                    && framing.is_plain(packet)
                {
                    let body = body.get_mut(..length).ok_or(TOO_LONG)?;
                    aead.key
                        .seal_out_of_place_scatter(nonce, additional, packet, body, &[], tag)
                        .map(|()| length)
                } else {
                    let length = framing.write(parts, body).ok_or(TOO_LONG)?;
                    aead.key
                        .seal_in_place_scatter(nonce, additional, &mut body[..length], &[], tag)
                        .map(|()| length)
                }
                .map_err(|_| TOO_LONG)?
            }
            Key::Epoch(Epoch { aead, epoch, .. }) => {
                let id = (u64::from(*epoch) << 48 | id.0).to_be_bytes();
                prefix[self.header_length..].copy_from_slice(&id);
                let (nonce, additional) = (aead.nonce(id), Aad::from(&*prefix));
                if let [packet] = parts
                    && framing.is_plain(packet)
                {
                    let body = body.get_mut(..length + TAG).ok_or(TOO_LONG)?;
                    let (text, tag) = body.split_at_mut(length);
                    aead.key
                        .seal_out_of_place_scatter(nonce, additional, packet, text, &[], tag)
                        .map(|()| length + TAG)
                } else {
                    let length = framing.write(parts, body).ok_or(TOO_LONG)?;
                    let body = body.get_mut(..length + TAG).ok_or(TOO_LONG)?;
                    let (text, tag) = body.split_at_mut(length);
                    aead.key
                        .seal_in_place_scatter(nonce, additional, text, &[], tag)
                        .map(|()| length + TAG)
                }
                .map_err(|_| TOO_LONG)?
            }
            Key::Cbc(cbc) => {
                let (packet_id, packet) = body.split_at_mut_checked(ID).ok_or(TOO_LONG)?;
                packet_id.copy_from_slice(&(id.0 as u32).to_be_bytes());
                let length = ID + framing.write(parts, packet).ok_or(TOO_LONG)?;
                cbc.seal(&mut out[self.header_length..], length).ok_or(TOO_LONG)?
            }
            Key::Static(key) => {
                let (long, packet) = body.split_at_mut_checked(LongId::LEN).ok_or(TOO_LONG)?;
                long.copy_from_slice(&key.long_id(&id).to_bytes());
                let length = LongId::LEN + framing.write(parts, packet).ok_or(TOO_LONG)?;
                key.cbc.seal(out, length).ok_or(TOO_LONG)?
            }
        };
        self.bytes.fetch_add(length as u64, Relaxed);
        Ok(offset + sealed)
    }
}

fn lock(latest: &Mutex<Latest>) -> MutexGuard<'_, Latest> {
    // A panic can only leave an epoch without a sealer behind, which is allowed.
    latest.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
impl PacketId {
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
impl Sealer {
    /// Sets the counters, as if this much had been sealed.
    pub(super) fn age(&self, issued: u64, bytes: u64) {
        self.issued.store(issued, Relaxed);
        self.bytes.store(bytes, Relaxed);
    }

    /// Returns a sealer with the same key and another header, for vectors with headers that no
    /// packet has.
    pub(super) fn with_header(&self, header: [u8; 4]) -> Self {
        let Key::Epoch(epoch) = &self.key else { panic!("a key with epochs") };
        let key = Key::Epoch(Epoch {
            aead: lock(&epoch.latest).secret.aead(self.parameters.cipher).unwrap(),
            epoch: epoch.epoch,
            latest: Arc::clone(&epoch.latest),
        });
        Self { header, ..Self::with_key(key, LAST_EPOCH_ID, &self.parameters) }
    }
}
