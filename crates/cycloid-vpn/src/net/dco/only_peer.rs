//! The life of the only peer of an interface: a client's server.

use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;

use super::{DeletionReason, Device, Exchange, Keepalive, NewPeer, Notice, PeerCounters, Slot};
use crate::proto::data::RawKeys;
use crate::proto::wire::KeyId;

/// A peer and the keys in its slots.
#[derive(Debug)]
pub struct OnlyPeer<E: Exchange> {
    device: Device<E>,
    /// The socket of the peer's packets, and its address.
    way: Option<(RawFd, SocketAddr)>,
    /// The peer id, once the kernel has the peer.
    id: Option<u32>,
    primary: Option<KeyId>,
    secondary: Option<KeyId>,
}

impl<E: Exchange> OnlyPeer<E> {
    /// Returns a device without a peer.
    pub fn new(device: Device<E>) -> Self {
        Self { device, way: None, id: None, primary: None, secondary: None }
    }

    /// Returns the device.
    pub fn device_mut(&mut self) -> &mut Device<E> {
        &mut self.device
    }

    /// Returns whether the kernel has the peer.
    pub fn is_there(&self) -> bool {
        self.id.is_some()
    }

    /// Sets the socket and the address of the next peer. The previous one is deleted.
    ///
    /// # Errors
    /// The kernel's refusal, as for all other methods. A peer that is gone already is none.
    pub fn begin(&mut self, socket: RawFd, remote: SocketAddr) -> io::Result<()> {
        self.end()?;
        self.way = Some((socket, remote));
        Ok(())
    }

    /// Deletes the peer with its keys.
    pub fn end(&mut self) -> io::Result<()> {
        (self.way, self.primary, self.secondary) = (None, None, None);
        match self.id.take() {
            None => Ok(()),
            Some(id) => match self.device.delete_peer(id) {
                // The kernel has deleted it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                outcome => outcome,
            },
        }
    }

    /// Installs keys, which open packets from now on, and seal them if `send`. The first ones also
    /// add the peer.
    pub fn install(&mut self, keys: &RawKeys, send: bool) -> io::Result<()> {
        let id = match self.id {
            Some(id) => id,
            None => {
                let (socket, remote) = self.way.ok_or_else(no_peer)?;
                let peer = NewPeer { id: keys.peer_id, socket, remote, local: None };
                self.device.new_peer(&peer)?;
                self.id = Some(keys.peer_id);
                keys.peer_id
            }
        };
        if id != keys.peer_id {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the peer id has changed"));
        }
        if self.primary.is_none() {
            self.device.new_key(Slot::Primary, keys)?;
            self.primary = Some(keys.key_id);
            return Ok(());
        }
        self.device.new_key(Slot::Secondary, keys)?;
        self.secondary = Some(keys.key_id);
        if send { self.send_under(keys.key_id) } else { Ok(()) }
    }

    /// Seals packets with these installed keys from now on.
    pub fn send_under(&mut self, key_id: KeyId) -> io::Result<()> {
        let id = self.id.ok_or_else(no_peer)?;
        if self.primary != Some(key_id) && self.secondary == Some(key_id) {
            self.device.swap_keys(id)?;
            std::mem::swap(&mut self.primary, &mut self.secondary);
        }
        Ok(())
    }

    /// Removes keys. The kernel keeps the last ones until the peer ends.
    pub fn retire(&mut self, key_id: KeyId) -> io::Result<()> {
        let Some(id) = self.id else { return Ok(()) };
        if self.secondary == Some(key_id) {
            self.device.delete_key(id, Slot::Secondary)?;
            self.secondary = None;
        }
        Ok(())
    }

    /// Sets the times of pings.
    pub fn set_keepalive(&mut self, keepalive: Keepalive) -> io::Result<()> {
        let id = self.id.ok_or_else(no_peer)?;
        self.device.set_keepalive(id, keepalive)
    }

    /// Returns the traffic, or `None` without a peer.
    pub fn counters(&mut self) -> io::Result<Option<PeerCounters>> {
        let Some(id) = self.id else { return Ok(None) };
        self.device.peer(id).map(|information| Some(information.counters))
    }

    /// Parses a notification about this peer. Forgets the peer that the kernel has deleted.
    pub fn notice(&mut self, message: &[u8]) -> Option<Notice> {
        let notice = self.device.notice(message)?;
        let (Notice::Deleted { peer, .. }
        | Notice::Floated { peer, .. }
        | Notice::KeyUsedUp { peer, .. }) = notice;
        if self.id != Some(peer) {
            return None;
        }
        if let Notice::Deleted { reason: DeletionReason::Userspace, .. } = notice {
            // This end deleted an earlier peer of the same number.
            return None;
        }
        if let Notice::Deleted { .. } = notice {
            (self.id, self.primary, self.secondary) = (None, None, None);
        }
        Some(notice)
    }
}

fn no_peer() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the kernel has no peer")
}
