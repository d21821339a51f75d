//! Shared code of the fuzz targets: numbers from bytes, and simple reference arithmetic.

use num_bigint::BigUint;

/// A limb of a number, as in the library.
pub type Limb = u64;

/// The fuzzer's bytes, consumed from the front; zeros at the end.
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Starts with all of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// Returns whether all bytes are consumed.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns a number from 0 to `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % (most + 1)
    }

    /// Returns `n` limbs. A byte before each selects either one of the values at which carries
    /// begin and end, which random bytes seldom hit, or the next eight bytes.
    pub fn limbs(&mut self, n: usize) -> Vec<Limb> {
        (0..n).map(|_| self.limb()).collect()
    }

    /// Returns a file with a few places overwritten, removed or repeated.
    pub fn changed(&mut self, file: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        for _ in 0..self.up_to(8) {
            // The structure is in the first bytes, so they are changed more often.
            let reach = if self.byte() < 128 { 40 } else { file.len() };
            let at = (usize::from(self.byte()) << 8 | usize::from(self.byte())) % reach.max(1);
            let at = at.min(file.len());
            match self.up_to(3) {
                0 => file.insert(at, self.byte()),
                1 => drop(file.drain(at..(at + self.up_to(40)).min(file.len()))),
                2 => file.truncate(at),
                _ => {
                    if let Some(byte) = file.get_mut(at) {
                        *byte ^= self.byte();
                    }
                }
            }
        }
        file
    }

    fn limb(&mut self) -> Limb {
        match self.byte() {
            0 => 0,
            1 => 1,
            2 => Limb::MAX,
            3 => 1 << 63,
            4 => Limb::MAX - 1,
            5 => (1 << 52) - 1,
            6 => u32::MAX.into(),
            _ => Limb::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }
}

/// Returns the number in `limbs`.
pub fn big(limbs: &[Limb]) -> BigUint {
    let digits = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]);
    BigUint::new(digits.collect())
}

/// Asserts that `limbs` hold this number.
#[track_caller]
pub fn assert_holds(limbs: &[Limb], number: &BigUint, what: &str) {
    assert_eq!(big(limbs), *number, "{what}");
}
