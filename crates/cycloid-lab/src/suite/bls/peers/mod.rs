//! The operations by the peers, of those that a peer has by its public interface. What they are given is
//! what the library's backends are given, and what they compute is compared with theirs as bytes.

#[cfg(feature = "arkworks")]
mod arkworks;
#[cfg(any(feature = "arkworks", feature = "zkcrypto"))]
mod common;
#[cfg(feature = "zkcrypto")]
mod zkcrypto;

use super::{Case, Part};
use crate::peers::Peer;

/// The operations of a part that this peer has, by the names of those of the library's backends.
pub(super) fn cases(peer: Peer, part: Part, sums: &[u32]) -> Vec<Case> {
    match peer {
        Peer::Zkcrypto => zkcrypto::cases(part),
        Peer::Arkworks => arkworks::cases(part, sums),
        _ => Vec::new(),
    }
}

/// Nothing, where it is not compiled in.
#[cfg(not(feature = "arkworks"))]
mod arkworks {
    pub(super) const fn cases(_: super::Part, _: &[u32]) -> Vec<super::Case> {
        Vec::new()
    }
}

/// Nothing, where it is not compiled in.
#[cfg(not(feature = "zkcrypto"))]
mod zkcrypto {
    pub(super) const fn cases(_: super::Part) -> Vec<super::Case> {
        Vec::new()
    }
}
