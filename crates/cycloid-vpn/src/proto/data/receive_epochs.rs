//! The keys of epochs for receiving: the current epoch, the next [`FUTURE`] ones and the previous
//! one, each with a replay window.
//!
//! Most keys never leave their first epoch. So the keys of later epochs are derived when the first
//! packet names one of them, forged or not; further forgeries find them.
//!
//! An authentic packet of a later epoch makes that one current, and moves this end's sender to it.

use std::sync::Arc;

use aws_lc_rs::aead::Aad;

use super::EPOCH_ID;
use super::cipher::{Cipher, FORGERY_LIMIT};
use super::direction::{Aead, Half};
use super::epoch::EpochSecret;
use super::replay::ReplayWindow;
use super::seal::Sealer;
use crate::proto::Error;

/// Number of epochs after the current one whose packets open.
const FUTURE: u16 = 4;

/// The keys for receiving.
pub(super) struct ReceiveEpochs {
    /// By ascending epoch: the previous one, if any, the current one, and later ones.
    keys: Vec<Epoch>,
    /// Index of the current epoch.
    current: usize,
    /// The secret of the last epoch in `keys`.
    last: EpochSecret,
    cipher: Cipher,
    replay_window: u32,
    /// The other direction, at any epoch.
    sealer: Arc<Sealer>,
}

/// The key of an epoch for receiving.
struct Epoch {
    epoch: u16,
    aead: Aead,
    window: ReplayWindow,
    /// Blocks of 16 bytes, and two more per packet.
    blocks: u64,
    forged: u64,
}

impl Epoch {
    fn new(secret: &EpochSecret, cipher: Cipher, replay_window: u32) -> Result<Self, Error> {
        Ok(Self {
            epoch: secret.epoch(),
            aead: secret.aead(cipher)?,
            window: ReplayWindow::new(replay_window),
            blocks: 0,
            forged: 0,
        })
    }
}

impl ReceiveEpochs {
    pub(super) fn new(
        half: Half<'_>,
        cipher: Cipher,
        replay_window: u32,
        sealer: &Arc<Sealer>,
    ) -> Result<Self, Error> {
        let last = EpochSecret::first(half);
        let keys = vec![Epoch::new(&last, cipher, replay_window)?];
        let sealer = Arc::clone(sealer);
        Ok(Self { keys, current: 0, last, cipher, replay_window, sealer })
    }

    /// Decrypts `body` in place. `prefix` is everything before it, and ends with `id`. Also returns
    /// whether the packet is the latest so far.
    ///
    /// # Errors
    ///
    /// [`Error::NotAuthentic`] for a forged packet and an unknown epoch, [`Error::Replay`],
    /// [`Error::Exhausted`] after 2³⁶ forgeries of an epoch.
    #[inline]
    pub(super) fn open<'a>(
        &mut self,
        id: [u8; EPOCH_ID],
        prefix: &[u8],
        tag: &[u8],
        body: &'a mut [u8],
    ) -> Result<(&'a mut [u8], bool), Error> {
        let number = u64::from_be_bytes(id);
        let (epoch, number) = ((number >> 48) as u16, number & ((1 << 48) - 1));
        let at = match self.find(epoch) {
            Some(at) => at,
            None => self.derive(epoch)?,
        };
        let key = &mut self.keys[at];
        key.window.check(number)?;
        if key.forged >= FORGERY_LIMIT {
            return Err(Error::Exhausted);
        }
        let nonce = key.aead.nonce(id);
        let opened = key.aead.key.open_in_place_separate_tag(nonce, Aad::from(prefix), tag, body);
        let Ok(inner) = opened else {
            key.forged += 1;
            if key.forged >= FORGERY_LIMIT / 2 && at == self.current {
                self.press(epoch);
            }
            return Err(Error::NotAuthentic("data packet"));
        };
        let newest = key.window.commit(number) && at >= self.current;
        key.blocks += inner.len() as u64 / 16 + 2;
        if at != self.current || self.cipher.block_limit().is_some_and(|end| key.blocks >= end) {
            self.follow(at)?;
        }
        Ok((inner, newest))
    }

    #[inline]
    fn find(&self, epoch: u16) -> Option<usize> {
        if self.keys[self.current].epoch == epoch {
            return Some(self.current);
        }
        self.keys.iter().position(|key| key.epoch == epoch)
    }

    /// Makes the epoch of an authentic packet current if it is a later one. If it is the current
    /// one, which has passed its limit, moves this end's sender on, which the peer follows.
    #[cold]
    fn follow(&mut self, at: usize) -> Result<(), Error> {
        let epoch = self.keys[at].epoch;
        if at == self.current {
            self.press(epoch);
        }
        if at <= self.current {
            return Ok(());
        }
        // The previous epoch and the skipped ones are no longer needed.
        let current = self.current;
        let mut indices = 0..;
        self.keys.retain(|_| indices.next().is_some_and(|index| index == current || index >= at));
        self.current = 1;
        if let Some(sealer) = self.sealer.move_to(epoch) {
            self.sealer = sealer;
        }
        Ok(())
    }

    /// Moves this end's sender past `epoch`.
    #[cold]
    fn press(&mut self, epoch: u16) {
        if let Some(sealer) = epoch.checked_add(1).and_then(|next| self.sealer.move_to(next)) {
            self.sealer = sealer;
        }
    }

    /// Derives the keys of all epochs that may follow the current one, if this is one of them, and
    /// returns the index of its key.
    ///
    /// # Errors
    ///
    /// [`Error::NotAuthentic`] for another epoch.
    #[cold]
    fn derive(&mut self, epoch: u16) -> Result<usize, Error> {
        let end = self.keys[self.current].epoch.saturating_add(FUTURE);
        if epoch <= self.last.epoch() || epoch > end {
            return Err(Error::NotAuthentic("unknown epoch"));
        }
        while self.last.epoch() < end
            && let Some(next) = self.last.next()
        {
            self.keys.push(Epoch::new(&next, self.cipher, self.replay_window)?);
            self.last = next;
        }
        self.find(epoch).ok_or(Error::NotAuthentic("unknown epoch"))
    }
}

#[cfg(test)]
impl ReceiveEpochs {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn age(&mut self, blocks: u64) {
        self.keys[self.current].blocks = blocks;
    }
}
