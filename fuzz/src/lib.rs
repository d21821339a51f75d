//! What the fuzz targets share: numbers out of bytes, and the obvious arithmetic on them.

use num_bigint::BigUint;

/// One digit of a number, as in the library.
pub type Limb = u64;

/// The fuzzer's bytes, taken from the front; zeros when there are no more.
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// Whether there are no more.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number from 0 to `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % (most + 1)
    }

    /// `n` limbs. A byte before each says whether it is one of the values at which carries begin
    /// and end, which bytes seldom hit by chance, or the next eight bytes.
    pub fn limbs(&mut self, n: usize) -> Vec<Limb> {
        (0..n).map(|_| self.limb()).collect()
    }

    /// A file with a few places overwritten, cut out or repeated.
    pub fn changed(&mut self, file: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        for _ in 0..self.up_to(8) {
            // The first bytes have the structure, so they are hit more often.
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

/// The number that `limbs` hold.
pub fn big(limbs: &[Limb]) -> BigUint {
    let digits = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]);
    BigUint::new(digits.collect())
}

/// Whether `limbs` hold this number.
#[track_caller]
pub fn assert_holds(limbs: &[Limb], number: &BigUint, what: &str) {
    assert_eq!(big(limbs), *number, "{what}");
}
