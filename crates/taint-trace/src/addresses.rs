//! A hash of addresses, for maps that are read at every step.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds the hash of a map whose keys are addresses.
pub(crate) type ByAddress = BuildHasherDefault<AddressHasher>;

/// Hashes one address by a product (Knuth, The Art of Computer Programming, volume 3, section 6.4).
#[derive(Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, address: u64) {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0 ^ address).wrapping_mul(GOLDEN).rotate_left(32);
    }

    fn write_usize(&mut self, address: usize) {
        self.write_u64(address as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
