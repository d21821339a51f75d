//! The operations by the peers, as far as their public interfaces have them. The inputs are those
//! of the library's backends, and results are compared with theirs as bytes.

#[cfg(feature = "arkworks")]
mod arkworks;
#[cfg(feature = "c-kzg")]
mod c_kzg;
#[cfg(any(feature = "arkworks", feature = "zkcrypto"))]
mod common;
#[cfg(feature = "zkcrypto")]
mod zkcrypto;

use super::{Case, Part};
use crate::peers::Peer;

/// Returns the peer's operations of a part, under the names that the library's backends use.
pub(super) fn cases(peer: Peer, part: Part, sums: &[u32]) -> Vec<Case> {
    match peer {
        Peer::Zkcrypto => zkcrypto::cases(part),
        Peer::Arkworks => arkworks::cases(part, sums),
        Peer::CKzg => c_kzg::cases(part),
        _ => Vec::new(),
    }
}

/// A placeholder without cases: not compiled in.
#[cfg(not(feature = "arkworks"))]
mod arkworks {
    pub(super) const fn cases(_: super::Part, _: &[u32]) -> Vec<super::Case> {
        Vec::new()
    }
}

/// A placeholder without cases: not compiled in.
#[cfg(not(feature = "zkcrypto"))]
mod zkcrypto {
    pub(super) const fn cases(_: super::Part) -> Vec<super::Case> {
        Vec::new()
    }
}

/// A placeholder without cases: not compiled in.
#[cfg(not(feature = "c-kzg"))]
mod c_kzg {
    pub(super) const fn cases(_: super::Part) -> Vec<super::Case> {
        Vec::new()
    }
}
