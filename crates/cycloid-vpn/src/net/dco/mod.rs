//! The data channel in the kernel: peers and keys of an interface of the kind `ovpn` (Linux 6.16
//! and later), over the generic netlink family of the same name.
//!
//! [`Device`] makes peers and keys. [`OnlyPeer`] is the life of a client's peer: its keys by slot,
//! its timers and its counters. Both exchange bytes through [`Exchange`], which is the kernel's
//! socket ([`Kernel`]) or, in tests, a simulation of the family. This code has not run on a kernel
//! that has the family.
//!
//! Source: Linux, `Documentation/netlink/specs/ovpn.yaml`.

mod attribute;
mod kernel;
mod message;
mod numbers;
mod only_peer;

use std::io;

pub use kernel::Kernel;
pub use message::{Keepalive, KeyInformation, NewPeer, Notice, PeerCounters, PeerInformation};
pub use numbers::{CipherNumber, DeletionReason, Slot};
pub use only_peer::OnlyPeer;

use crate::proto::data::RawKeys;
use message::{Answer, Request};

/// The kind of the kernel's interfaces.
pub const KIND: &str = "ovpn";

/// The way to the family: the kernel's socket, or a simulation.
pub trait Exchange {
    /// Returns the number of the family, as messages have it.
    fn family(&self) -> u16;

    /// Sends a request and returns the messages of its answer, without the acknowledgement.
    ///
    /// # Errors
    /// The kernel's refusal, with its reason if it gives one.
    fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<Vec<u8>>>;
}

/// An interface of the kind `ovpn`.
#[derive(Debug)]
pub struct Device<E> {
    exchange: E,
    interface: u32,
    sequence: u32,
}

impl<E: Exchange> Device<E> {
    /// Returns the device with this interface index.
    pub fn new(exchange: E, interface: u32) -> Self {
        Self { exchange, interface, sequence: 0 }
    }

    /// Returns the interface index.
    pub fn interface(&self) -> u32 {
        self.interface
    }

    /// Returns the way to the family.
    pub fn exchange_mut(&mut self) -> &mut E {
        &mut self.exchange
    }

    /// Adds a peer. On an interface for one peer, it replaces the previous one.
    ///
    /// # Errors
    /// The kernel's refusal, as for all other methods.
    pub fn new_peer(&mut self, peer: &NewPeer) -> io::Result<()> {
        self.ask(&Request::NewPeer(peer)).map(drop)
    }

    /// Sets after which silence the kernel sends a ping, and after which it deletes the peer.
    pub fn set_keepalive(&mut self, peer: u32, keepalive: Keepalive) -> io::Result<()> {
        self.ask(&Request::SetKeepalive { peer, keepalive }).map(drop)
    }

    /// Returns the state of a peer.
    pub fn peer(&mut self, peer: u32) -> io::Result<PeerInformation> {
        match self.ask(&Request::Peer { peer })? {
            Some(Answer::Peer(information)) => Ok(information),
            _ => Err(unexpected("no peer in the answer")),
        }
    }

    /// Deletes a peer and its keys.
    pub fn delete_peer(&mut self, peer: u32) -> io::Result<()> {
        self.ask(&Request::DeletePeer { peer }).map(drop)
    }

    /// Installs the keys of a peer into a slot, in place of those in it.
    pub fn new_key(&mut self, slot: Slot, keys: &RawKeys) -> io::Result<()> {
        self.ask(&Request::NewKey { slot, keys }).map(drop)
    }

    /// Returns which key is in a slot. The kernel does not return the key itself.
    pub fn key(&mut self, peer: u32, slot: Slot) -> io::Result<KeyInformation> {
        match self.ask(&Request::Key { peer, slot })? {
            Some(Answer::Key(information)) => Ok(information),
            _ => Err(unexpected("no key in the answer")),
        }
    }

    /// Swaps the keys of the two slots. The primary one is used for sending, both for receiving.
    pub fn swap_keys(&mut self, peer: u32) -> io::Result<()> {
        self.ask(&Request::SwapKeys { peer }).map(drop)
    }

    /// Deletes the key in a slot.
    pub fn delete_key(&mut self, peer: u32, slot: Slot) -> io::Result<()> {
        self.ask(&Request::DeleteKey { peer, slot }).map(drop)
    }

    /// Parses a notification. Returns `None` for one of another interface, or one that is not
    /// known.
    pub fn notice(&self, message: &[u8]) -> Option<Notice> {
        let (interface, notice) = message::notice(self.exchange.family(), message)?;
        (interface == self.interface).then_some(notice)
    }

    fn ask(&mut self, request: &Request<'_>) -> io::Result<Option<Answer>> {
        self.sequence = self.sequence.wrapping_add(1);
        let family = self.exchange.family();
        // Wiped on drop: it may have keys.
        let bytes = request.encode(family, self.sequence, self.interface);
        let answer = self.exchange.exchange(&bytes)?;
        let Some(first) = answer.first() else { return Ok(None) };
        message::answer(family, first).map(Some).ok_or_else(|| unexpected("a malformed answer"))
    }
}

fn unexpected(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
