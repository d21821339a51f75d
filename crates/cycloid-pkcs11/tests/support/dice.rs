//! A pseudorandom generator for tests, which a seed determines.

/// xorshift (Marsaglia 2003).
pub(crate) struct Dice(u64);

impl Dice {
    /// Any seed will do: zero, which would stay zero, counts as one.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    pub(crate) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}
