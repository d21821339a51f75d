//! A certificate authority for tests, and two cores in simulated time with a network between them
//! that loses, repeats, delays, cuts and changes packets.

#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

pub(crate) mod authority;
pub(crate) mod ends;
pub(crate) mod network;

/// Random numbers from a seed, so that a failure can be had again. SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True in so many of a thousand cases.
    pub(crate) fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}
