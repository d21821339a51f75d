//! Assigns addresses to clients, so that a returning client gets its previous address.
//!
//! The pool is a row of slots. A slot stands for one IPv4 address, or a network of four with
//! `topology net30`, and for the IPv6 address at the same index. Unused slots are assigned first,
//! then the slot that was free the longest. So a client's slot stays reserved as long as others are
//! available.
//!
//! Source: openvpn(8), "--server", "--ifconfig-pool", "--ifconfig-pool-persist", "--topology".

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config;

#[cfg(test)]
mod tests;

/// The IPv4 addressing scheme of a TUN interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Each client has a network of four addresses: its own, a peer's, and two unused.
    Net30,
    /// Each client has one address, with the server's as its peer.
    PointToPoint,
    /// All clients share one network.
    Subnet,
}

/// The address ranges.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The IPv4 addressing scheme.
    pub topology: Topology,
    /// The server's own IPv4 address.
    pub server: Option<Ipv4Addr>,
    /// The first and last client address, and the netmask of `subnet`.
    pub ipv4: Option<(Ipv4Addr, Ipv4Addr, Ipv4Addr)>,
    /// The first client address and the prefix length in bits.
    pub ipv6: Option<(Ipv6Addr, u8)>,
}

/// The maximum number of slots.
const MAX_SLOTS: u128 = 65_536;

impl From<config::Topology> for Topology {
    fn from(topology: config::Topology) -> Self {
        match topology {
            config::Topology::Net30 => Self::Net30,
            config::Topology::PointToPoint => Self::PointToPoint,
            config::Topology::Subnet => Self::Subnet,
        }
    }
}

impl Settings {
    /// Returns the settings of `server network netmask` and `server-ipv6 network/bits`.
    pub fn server(
        topology: Topology,
        ipv4: Option<(Ipv4Addr, Ipv4Addr)>,
        ipv6: Option<(Ipv6Addr, u8)>,
    ) -> Self {
        let pool = ipv4.map(|(network, netmask)| {
            let first = network.to_bits() & netmask.to_bits();
            let last = first | !netmask.to_bits();
            let (from, to) = match topology {
                Topology::Net30 | Topology::PointToPoint => {
                    (first.saturating_add(4), last.saturating_sub(4))
                }
                Topology::Subnet => (first.saturating_add(2), last.saturating_sub(2)),
            };
            (Ipv4Addr::from_bits(from), Ipv4Addr::from_bits(to), netmask)
        });
        let server = ipv4.map(|(network, netmask)| {
            Ipv4Addr::from_bits((network.to_bits() & netmask.to_bits()) | 1)
        });
        // Leaves low addresses free for static assignment.
        let ipv6 = ipv6.map(|(network, prefix)| {
            let offset = if prefix <= 112 { 0x1000 } else { 2 };
            (Ipv6Addr::from_bits(network.to_bits() | offset), prefix)
        });
        Self { topology, server, ipv4: pool, ipv6 }
    }

    fn slots(&self) -> usize {
        let ipv4 = self.ipv4.map(|(first, last, _)| {
            let (first, last) = (u128::from(first.to_bits()), u128::from(last.to_bits()));
            (last + 1).saturating_sub(first) / u128::from(self.step())
        });
        let ipv6 = self.ipv6.map(|(first, prefix)| {
            let behind = u128::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
            (behind - (first.to_bits() & behind)).saturating_add(1)
        });
        let least = ipv4.into_iter().chain(ipv6).min().unwrap_or(0);
        least.min(MAX_SLOTS) as usize
    }

    fn step(&self) -> u32 {
        if self.topology == Topology::Net30 { 4 } else { 1 }
    }

    fn lease(&self, slot: usize) -> Lease {
        let ipv4 = self.ipv4.map(|(first, _, netmask)| {
            let base = first.to_bits() + slot as u32 * self.step();
            let base = Ipv4Addr::from_bits(base);
            match self.topology {
                Topology::Net30 => (
                    Ipv4Addr::from_bits(base.to_bits() | 2),
                    Ipv4Addr::from_bits(base.to_bits() | 1),
                ),
                Topology::PointToPoint => (base, self.server.unwrap_or(base)),
                Topology::Subnet => (base, netmask),
            }
        });
        let ipv6 = self
            .ipv6
            .map(|(first, prefix)| (Ipv6Addr::from_bits(first.to_bits() + slot as u128), prefix));
        Lease { slot: slot as u32, ipv4, ipv6 }
    }

    /// Returns the slot of an address.
    fn slot_of(&self, address: IpAddr) -> Option<usize> {
        let slot = match address {
            IpAddr::V4(address) => {
                let offset = address.to_bits().checked_sub(self.ipv4?.0.to_bits())?;
                (offset / self.step()) as usize
            }
            IpAddr::V6(address) => {
                let offset = address.to_bits().checked_sub(self.ipv6?.0.to_bits())?;
                usize::try_from(offset).ok()?
            }
        };
        (slot < self.slots()).then_some(slot)
    }
}

/// A client's slot and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    slot: u32,
    /// The client's address, and its peer's or, with `subnet`, the netmask; pushed as `ifconfig`.
    pub ipv4: Option<(Ipv4Addr, Ipv4Addr)>,
    /// The client's address and the prefix length.
    pub ipv6: Option<(Ipv6Addr, u8)>,
}

/// The error for a static address that another client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken(pub IpAddr);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} belongs to another client", self.0)
    }
}

impl std::error::Error for Taken {}

#[derive(Clone, Debug, Default)]
struct Slot {
    /// The current or previous client; `None` also for clients that share a name.
    name: Option<Box<str>>,
    taken: bool,
    /// Time of the release, counted in releases; 0 is never.
    released: u64,
}

/// The address pool and its current clients.
#[derive(Clone, Debug)]
pub struct Pool {
    settings: Settings,
    slots: Vec<Slot>,
    names: HashMap<Box<str>, u32>,
    /// The free slots, in order of assignment.
    free: BTreeSet<(u64, u32)>,
    releases: u64,
}

impl Pool {
    /// Returns a pool with all slots free.
    pub fn new(settings: Settings) -> Self {
        let slots = vec![Slot::default(); settings.slots()];
        let free = (0..slots.len() as u32).map(|slot| (0, slot)).collect();
        Self { settings, slots, names: HashMap::new(), free, releases: 0 }
    }

    /// Assigns addresses to a client, its previous ones if they are free. `name` is `None` for
    /// clients that may share a name (`duplicate-cn`). Returns `None` if all addresses are taken.
    pub fn acquire(&mut self, name: Option<&str>) -> Option<Lease> {
        let own = name.and_then(|name| self.names.get(name).copied());
        let own = own.filter(|slot| !self.slots[*slot as usize].taken);
        let slot = own.or_else(|| self.free.first().map(|(_, slot)| *slot))?;
        self.take(slot);
        if let Some(name) = name {
            // A client that is connected twice keeps its first slot.
            if own.is_some() || !self.names.contains_key(name) {
                self.associate(slot, name);
            } else {
                self.forget(slot);
            }
        } else {
            self.forget(slot);
        }
        Some(self.settings.lease(slot as usize))
    }

    /// Reserves a static address (`ifconfig-push`). Returns `None` if the pool does not contain it.
    ///
    /// # Errors
    ///
    /// Another client has the address.
    pub fn hold(&mut self, address: IpAddr) -> Result<Option<Lease>, Taken> {
        let Some(slot) = self.settings.slot_of(address) else { return Ok(None) };
        if self.slots[slot].taken {
            return Err(Taken(address));
        }
        self.take(slot as u32);
        Ok(Some(self.settings.lease(slot)))
    }

    /// Releases an assigned or reserved slot.
    pub fn release(&mut self, lease: &Lease) {
        let slot = &mut self.slots[lease.slot as usize];
        if slot.taken {
            self.releases += 1;
            slot.taken = false;
            slot.released = self.releases;
            self.free.insert((slot.released, lease.slot));
        }
    }

    /// Returns whether the pool has IPv6 addresses.
    pub fn has_ipv6(&self) -> bool {
        self.settings.ipv6.is_some()
    }

    /// Returns the number of free slots.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Returns the text of the `ifconfig-pool-persist` file: one line `name,ipv4,ipv6` for each
    /// client with an address. A name that a line cannot hold has none: the line would be another
    /// client's.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for (index, slot) in self.slots.iter().enumerate() {
            let Some(name) = slot.name.as_deref().filter(|name| is_writable(name)) else {
                continue;
            };
            let lease = self.settings.lease(index);
            // With net30 the file contains the network address.
            let base = lease.ipv4.map(|(address, _)| match self.settings.topology {
                Topology::Net30 => Ipv4Addr::from_bits(address.to_bits() & !3),
                _ => address,
            });
            let ipv4 = base.map(|address| address.to_string()).unwrap_or_default();
            let ipv6 = lease.ipv6.map(|(address, _)| address.to_string()).unwrap_or_default();
            let _ = writeln!(text, "{name},{ipv4},{ipv6}");
        }
        text
    }

    /// Restores assignments from such a file. Returns the numbers of unusable lines, from 1.
    pub fn read(&mut self, text: &str) -> Vec<usize> {
        let mut passed_over = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let mut fields = line.trim().split(',');
            let name = fields.next().unwrap_or_default();
            let mut addresses = fields.filter_map(|field| field.trim().parse::<IpAddr>().ok());
            let slot = addresses.find_map(|address| self.settings.slot_of(address));
            match slot {
                Some(slot) if !name.is_empty() && self.slots[slot].name.is_none() => {
                    self.associate(slot as u32, name);
                    // Slots of earlier clients are assigned after unused ones.
                    if !self.slots[slot].taken {
                        self.free.remove(&(self.slots[slot].released, slot as u32));
                        self.releases += 1;
                        self.slots[slot].released = self.releases;
                        self.free.insert((self.releases, slot as u32));
                    }
                }
                _ => passed_over.push(number),
            }
        }
        passed_over
    }

    fn take(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.taken = true;
        self.free.remove(&(slot.released, index));
    }

    fn associate(&mut self, index: u32, name: &str) {
        self.forget(index);
        if let Some(old) = self.names.insert(name.into(), index) {
            self.slots[old as usize].name = None;
        }
        self.slots[index as usize].name = Some(name.into());
    }

    fn forget(&mut self, index: u32) {
        if let Some(name) = self.slots[index as usize].name.take() {
            self.names.remove(&name);
        }
    }
}

/// Returns whether a line of the `ifconfig-pool-persist` file, read again, has this name.
fn is_writable(name: &str) -> bool {
    !name.contains(|c: char| c == ',' || c.is_control())
        && !name.starts_with(['#', ';'])
        && name.trim() == name
}
