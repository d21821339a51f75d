//! zkcrypto's crate `bls12_381`, compiled in.

use super::Library;

pub(super) struct Zkcrypto;

impl Library for Zkcrypto {
    fn version(&self) -> String {
        format!("bls12_381 {}", env!("CYCLOID_VERSION_BLS12_381"))
    }
}
