//! Deterministic pseudorandom numbers for inputs and resampling. Not for secrets.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must not be 0. The bias of at most `bound` / 2⁶⁴ is
    /// negligible here.
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.next() as u128 * bound as u128) >> 64) as usize
    }

    /// Shuffles `items` randomly.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Returns a little-endian number of exactly `bits` bits: the top bit is set.
    pub fn number(&mut self, bits: usize) -> Vec<u64> {
        let mut limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| self.next()).collect();
        if let Some(top) = limbs.last_mut() {
            let used = (bits - 1) % 64 + 1;
            *top &= u64::MAX >> (64 - used);
            *top |= 1 << (used - 1);
        }
        limbs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_length() {
        let mut random = Random::new(1);
        for bits in [1, 2, 63, 64, 65, 1000, 1024] {
            let limbs = random.number(bits);
            assert_eq!(limbs.len(), bits.div_ceil(64));
            let top = limbs[limbs.len() - 1];
            assert_eq!(limbs.len() * 64 - top.leading_zeros() as usize, bits);
        }
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        Random::new(7).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
