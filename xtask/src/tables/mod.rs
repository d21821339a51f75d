//! `cargo xtask tables`: the tables of numbers in the documents, from committed records, and the
//! multiples of the curves' base points that the library carries.
//!
//! The latter are computed slowly and obviously, with whole numbers and affine points, by nothing that the library
//! itself computes with. A table holds the odd multiples 1, 3, …, 2^w − 1 of 2^(w·s·i)·G for one i
//! after the other, where w is the width of a window and s how many windows share an entry's place
//! by doubling. Coordinates follow each other as little-endian words of 64 bits, in the form in
//! which a backend takes constants ([`Form`]).

mod documents;
mod edwards;
mod weierstrass;

use std::fs;

use num_bigint::BigUint;

use crate::process::{Failure, Outcome, say};

const FOLDER: &str = "crates/cycloid/src/math/curve/tables";

/// Writes the tables, or with `check` compares them with those that are there.
pub(crate) fn run(check: bool) -> Outcome {
    documents::run(check)?;
    let tables: Vec<Table> = edwards::tables().into_iter().chain(weierstrass::tables()).collect();
    if check {
        return compare(&tables);
    }
    for table in &tables {
        let path = table.path();
        fs::write(&path, &table.bytes)
            .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?;
        say(format!("{path}: {} bytes", table.bytes.len()));
    }
    Ok(())
}

/// The files in the folder are these tables, and there is no other.
fn compare(tables: &[Table]) -> Outcome {
    for table in tables {
        let path = table.path();
        let there = fs::read(&path)
            .map_err(|error| Failure::new(format!("cannot read {path}: {error}")).hint(HINT))?;
        if there != table.bytes {
            return Err(Failure::new(format!("{path} is not what is computed")).hint(HINT));
        }
    }
    let names = fs::read_dir(FOLDER)
        .map_err(|error| Failure::new(format!("cannot read {FOLDER}: {error}")))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    for name in names.filter(|name| name.ends_with(".bin")) {
        if tables.iter().all(|table| table.name != name) {
            return Err(Failure::new(format!("{FOLDER}/{name} is no table of the library"))
                .hint("delete it"));
        }
    }
    say(format!("the {} tables in {FOLDER} are what is computed", tables.len()));
    Ok(())
}

const HINT: &str = "`cargo xtask tables` writes the tables";

/// A file.
struct Table {
    name: &'static str,
    bytes: Vec<u8>,
}

impl Table {
    fn path(&self) -> String {
        format!("{FOLDER}/{}", self.name)
    }
}

/// Which multiples a table has.
struct Shape {
    /// Bits of the scalar that an entry stands for.
    width: usize,
    /// Windows from one row of entries to the next.
    spacing: usize,
    /// Rows of entries.
    rows: usize,
}

impl Shape {
    /// The multiples of `base` in a group with the operation `add`.
    fn multiples<P: Clone>(&self, base: &P, add: impl Fn(&P, &P) -> P) -> Vec<P> {
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

/// How a residue lies in memory.
#[derive(Clone, Copy)]
struct Form {
    limbs: usize,
    limb_bits: usize,
    /// Whether it is multiplied by 2^(limbs · limb_bits).
    montgomery: bool,
}

impl Form {
    /// For one number: `limbs` words of 64 bits.
    const fn one(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 64, montgomery }
    }

    /// For eight numbers side by side: `limbs` words of 52 bits.
    const fn eight(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 52, montgomery }
    }

    /// The bytes of residues modulo `prime`, one after the other.
    fn bytes(&self, residues: impl Iterator<Item = BigUint>, prime: &BigUint) -> Vec<u8> {
        let mask = (BigUint::from(1u8) << self.limb_bits) - 1u8;
        let mut bytes = Vec::new();
        for residue in residues {
            let shift = if self.montgomery { self.limbs * self.limb_bits } else { 0 };
            let value = (residue << shift) % prime;
            for limb in 0..self.limbs {
                let limb = (&value >> (limb * self.limb_bits)) & &mask;
                let limb = u64::try_from(limb).expect("at most 64 bits are left");
                bytes.extend(limb.to_le_bytes());
            }
        }
        bytes
    }
}

/// A number from hexadecimal digits.
fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("constants are hexadecimal")
}

/// a − b modulo `prime`, of residues.
fn subtract(a: &BigUint, b: &BigUint, prime: &BigUint) -> BigUint {
    (a + prime - b) % prime
}

/// a / b modulo `prime`, where b is not 0 modulo it.
fn divide(a: &BigUint, b: &BigUint, prime: &BigUint) -> BigUint {
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
        let one = Form::one(2, false).bytes([residue.clone()].into_iter(), &prime);
        assert_eq!(one, residue.to_bytes_le());
        let eight = Form::eight(3, false).bytes([residue.clone()].into_iter(), &prime);
        let joined = eight.chunks(8).rev().fold(BigUint::ZERO, |number, limb| {
            (number << 52) + u64::from_le_bytes(limb.try_into().unwrap())
        });
        assert_eq!((joined, eight.len()), (residue.clone(), 24));
        // 2^128 = 2 modulo 2^127 − 1.
        let montgomery = Form::one(2, true).bytes([residue.clone()].into_iter(), &prime);
        assert_eq!(montgomery, (2u8 * residue % prime).to_bytes_le());
    }
}
