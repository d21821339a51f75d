//! The peers that take long to compile.

mod arkworks;
mod c_kzg;
mod dalek;
mod graviola;
mod ring;
mod rust_crypto;
mod zkcrypto;

use cycloid_lab::peers::{Library, Peer};
use cycloid_lab::record::Missing;

/// Finds a peer, if it is one of this crate's.
pub(crate) fn find(peer: Peer) -> Option<Result<Box<dyn Library>, Missing>> {
    let library: Box<dyn Library> = match peer {
        Peer::Ring => Box::new(ring::Ring),
        Peer::Graviola => return Some(graviola::find()),
        Peer::Dalek => Box::new(dalek::Dalek),
        Peer::RustCrypto => Box::new(rust_crypto::RustCrypto),
        Peer::Zkcrypto => Box::new(zkcrypto::Zkcrypto),
        Peer::Arkworks => Box::new(arkworks::Arkworks),
        Peer::CKzg => Box::new(c_kzg::CKzg),
        _ => return None,
    };
    Some(Ok(library))
}
