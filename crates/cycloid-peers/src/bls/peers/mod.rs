//! The operations by the peers, as far as their public interfaces have them. The inputs are those
//! of the library's backends, and results are compared with theirs as bytes.

mod arkworks;
mod c_kzg;
mod common;
mod zkcrypto;

use super::{Case, Part};
use cycloid_lab::peers::Peer;

/// Returns the peer's operations of a part, under the names that the library's backends use.
pub(super) fn cases(peer: Peer, part: Part, sums: &[u32]) -> Vec<Case> {
    match peer {
        Peer::Zkcrypto => zkcrypto::cases(part),
        Peer::Arkworks => arkworks::cases(part, sums),
        Peer::CKzg => c_kzg::cases(part),
        _ => Vec::new(),
    }
}
