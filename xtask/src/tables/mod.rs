//! `cargo xtask tables`: generates the tables and the scoreboard in the documents from committed
//! records, and the library's tables of multiples of the curves' base points.
//!
//! The multiples are computed in a slow and simple way, with integers and affine points,
//! independently of the library's own code. A table holds the odd multiples 1, 3, …, 2^w − 1 of
//! 2^(w·s·i)·G for successive i, where w is the width of a window and s is the number of windows
//! that share an entry's place by doubling. Coordinates are consecutive little-endian words of
//! 64 bits, in the form in which a backend takes constants ([`Form`]).

mod documents;
mod edwards;
mod scoreboard;
mod weierstrass;

use std::fs;

use num_bigint::BigUint;

use crate::process::{Failure, Outcome, say};

const FOLDER: &str = "crates/cycloid/src/math/curve/tables";

/// Writes the tables, or with `check` compares them with the existing ones.
pub(crate) fn run(check: bool) -> Outcome {
    documents::run(check)?;
    documents::draw_scoreboard(check)?;
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

/// Checks that the files in the folder are exactly these tables.
fn compare(tables: &[Table]) -> Outcome {
    for table in tables {
        let path = table.path();
        let there = fs::read(&path)
            .map_err(|error| Failure::new(format!("cannot read {path}: {error}")).hint(HINT))?;
        if there != table.bytes {
            return Err(Failure::new(format!("{path} differs from the computed table")).hint(HINT));
        }
    }
    let names = fs::read_dir(FOLDER)
        .map_err(|error| Failure::new(format!("cannot read {FOLDER}: {error}")))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    for name in names.filter(|name| name.ends_with(".bin")) {
        if tables.iter().all(|table| table.name != name) {
            return Err(Failure::new(format!("{FOLDER}/{name} is not a table of the library"))
                .hint("delete it"));
        }
    }
    say(format!("the {} tables in {FOLDER} match the computed ones", tables.len()));
    Ok(())
}

const HINT: &str = "run `cargo xtask tables` to write the tables";

/// A file with a table.
struct Table {
    name: &'static str,
    bytes: Vec<u8>,
}

impl Table {
    fn path(&self) -> String {
        format!("{FOLDER}/{}", self.name)
    }
}

/// The multiples in a table.
struct Shape {
    /// Bits of the scalar per entry.
    width: usize,
    /// Windows from one row of entries to the next.
    spacing: usize,
    /// The number of rows.
    rows: usize,
}

impl Shape {
    /// Returns the multiples of `base` in a group with the operation `add`.
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

/// The representation of a residue in memory.
#[derive(Clone, Copy)]
struct Form {
    limbs: usize,
    limb_bits: usize,
    /// Whether it is multiplied by 2^(limbs · limb_bits).
    montgomery: bool,
}

impl Form {
    /// The form for one number: `limbs` words of 64 bits.
    const fn one(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 64, montgomery }
    }

    /// The form for eight numbers in parallel: `limbs` words of 52 bits.
    const fn eight(limbs: usize, montgomery: bool) -> Self {
        Self { limbs, limb_bits: 52, montgomery }
    }

    /// Returns the bytes of residues modulo `prime`, one after the other.
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

/// Parses a hexadecimal number.
fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("constants are hexadecimal")
}

/// Returns a − b modulo `prime`, for residues.
fn subtract(a: &BigUint, b: &BigUint, prime: &BigUint) -> BigUint {
    (a + prime - b) % prime
}

/// Returns a / b modulo `prime`; b must not be 0 modulo it.
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
