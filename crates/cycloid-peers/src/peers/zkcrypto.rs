//! zkcrypto's crate `bls12_381`, compiled in.

use cycloid_lab::peers::Library;
use cycloid_lab::versions;

pub(super) struct Zkcrypto;

impl Library for Zkcrypto {
    fn version(&self) -> String {
        format!("bls12_381 {}", versions::BLS12_381)
    }
}
