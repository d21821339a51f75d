//! The form of a table of multiples: which multiples it has, and how residues are stored.

use num_bigint::BigUint;

pub(super) const FOLDER: &str = "crates/cycloid/src/math/curve/tables";

/// A file with a table.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
}

impl Table {
    pub(super) fn path(&self) -> String {
        format!("{FOLDER}/{}", self.name)
    }
}

/// The multiples in a table.
pub(super) struct Shape {
    /// Bits of the scalar per entry.
    pub(super) width: usize,
    /// Windows from one row of entries to the next.
    pub(super) spacing: usize,
    /// The number of rows.
    pub(super) rows: usize,
}

impl Shape {
    /// Returns the multiples of `base` in a group with the operation `add`.
    pub(super) fn multiples<P: Clone>(&self, base: &P, add: impl Fn(&P, &P) -> P) -> Vec<P> {
        let mut multiples = Vec::new();
        let mut base = base.clone();
        for _ in 0..self.rows {
            let twice = add(&base, &base);
            let mut odd = base.clone();
            for _ in 0..1 << (self.width - 1) {
                multiples.push(odd.clone());
                odd = add(&odd, &twice);
            }
            for _ in 0..self.width * self.spacing {
                base = add(&base, &base);
            }
        }
        multiples
    }
}

/// The representation of a residue in memory.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) limbs: usize,
    pub(super) limb_bits: usize,
    /// Whether it is multiplied by 2^(limbs · limb_bits).
    pub(super) montgomery: bool,
    /// The entries that stand together in the file: limb by limb, and entry by entry within.
    pub(super) together: usize,
}

impl Form {
    /// The form for one number: `limbs` words of 64 bits.
    pub(super) const fn one(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 64, montgomery, together: 1 }
    }

    /// The form for eight numbers in parallel: `limbs` words of 52 bits. A permutation of two
    /// vectors looks a limb up in sixteen entries.
    pub(super) const fn eight(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 52, montgomery, together: 16 }
    }

    /// Returns the bytes of entries of `N` residues modulo `prime`.
    pub(super) fn bytes<const N: usize>(
        &self,
        entries: impl Iterator<Item = [BigUint; N]>,
        prime: &BigUint,
    ) -> Vec<u8> {
        let entries: Vec<Vec<u64>> = entries
            .map(|residues| residues.iter().flat_map(|it| self.words(it, prime)).collect())
            .collect();
        assert!(entries.len().is_multiple_of(self.together), "the last entries lack others");
        let mut bytes = Vec::new();
        for together in entries.chunks(self.together) {
            for limb in 0..N * self.limbs {
                bytes.extend(together.iter().flat_map(|entry| entry[limb].to_le_bytes()));
            }
        }
        bytes
    }

    /// Returns the limbs of a residue.
    fn words(&self, residue: &BigUint, prime: &BigUint) -> Vec<u64> {
        let mask = (BigUint::from(1u8) << self.limb_bits) - 1u8;
        let shift = if self.montgomery { self.limbs * self.limb_bits } else { 0 };
        let value = (residue << shift) % prime;
        let limb = |limb: usize| (&value >> (limb * self.limb_bits)) & &mask;
        (0..self.limbs)
            .map(|at| u64::try_from(limb(at)).expect("at most 64 bits are left"))
            .collect()
    }
}

/// Parses a hexadecimal number.
pub(super) fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("constants are hexadecimal")
}

/// Returns a − b modulo `prime`, for residues.
pub(super) fn subtract(a: &BigUint, b: &BigUint, prime: &BigUint) -> BigUint {
    (a + prime - b) % prime
}

/// Returns a / b modulo `prime`; b must not be 0 modulo it.
pub(super) fn divide(a: &BigUint, b: &BigUint, prime: &BigUint) -> BigUint {
    a * b.modinv(prime).expect("the prime divides no denominator here") % prime
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_the_odd_ones_of_every_row() {
        let shape = Shape { width: 3, spacing: 2, rows: 2 };
        let multiples = shape.multiples(&1u32, |a, b| a + b);
        assert_eq!(multiples, [1, 3, 5, 7, 64, 3 * 64, 5 * 64, 7 * 64]);
    }

    #[test]
    fn forms_cut_residues_into_limbs() {
        let prime = hex("7fffffffffffffffffffffffffffffff");
        let residue = hex("123456789abcdef0123456789abcdef0");
        let one = Form::one(2, false).bytes([[residue.clone()]].into_iter(), &prime);
        assert_eq!(one, residue.to_bytes_le());
        let words = Form::eight(3, false).words(&residue, &prime);
        let joined = words.iter().rev().fold(BigUint::ZERO, |number, limb| (number << 52) + *limb);
        assert_eq!((joined, words.len()), (residue.clone(), 3));
        // 2^128 = 2 modulo 2^127 − 1.
        let montgomery = Form::one(2, true).bytes([[residue.clone()]].into_iter(), &prime);
        assert_eq!(montgomery, (2u8 * residue % prime).to_bytes_le());
    }
    #[test]
    fn sixteen_entries_for_eight_stand_together_limb_by_limb() {
        let entries = (0..32u64).map(|i| [1000 + i, (2000 + i) << 52].map(BigUint::from));
        let prime = hex("ffffffffffffffffffffffffffffffff");
        let bytes = Form::eight(2, false).bytes(entries, &prime);
        let words: Vec<u64> =
            bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words.len(), 32 * 4);
        for (i, word) in words.iter().enumerate() {
            let entry = (i / 64 * 16 + i % 16) as u64;
            assert_eq!(*word, [1000 + entry, 0, 0, 2000 + entry][i % 64 / 16]);
        }
    }
}
