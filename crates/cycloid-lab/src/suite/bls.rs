//! BLS12-381 on each backend, and by the peers: the description of the suite. The crate
//! `cycloid-peers` measures it.

use std::collections::BTreeSet;

use super::descriptor::{Choice, Descriptor, Value};
use super::repeat::option;
use crate::Failure;
use crate::peers::Family;

/// The binary logarithm of the largest number of points in a sum.
const MOST: u32 = 20;

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "bls",
    title: "BLS12-381",
    about: "BLS12-381: groups, pairings, signatures, sums and transforms, on each backend",
    examples: "\
Examples:
  cycloid bench bls                                 every operation
  cycloid bench bls --part pairing,signature        some parts
  cycloid bench bls --part msm --sums 8,10,12,14    sums of 256 to 16384 multiples",
    family: Family::Bls,
    options: &[
        Choice {
            name: "part",
            help: "Parts: fr, g1, g2, gt, pairing, signature, msm, fft, kzg, separated by commas; \
                   all",
            value: Value::Default("LIST", "all"),
        },
        Choice {
            name: "sums",
            help: "Binary logarithms of the number of points in a multi-scalar multiplication, 0 \
                   to 20, separated by commas [default: 8,10,12, with --quick 8, with --full up \
                   to 14]",
            value: Value::Text("LIST"),
        },
    ],
    constructors: None,
    repeat: |tables| {
        // Any text may be in a record, but only names of parts in a command.
        let parts = Part::ALL.map(Part::name).into_iter();
        let is_there = |part: &&str| tables.iter().any(|table| table.group == *part);
        let parts: BTreeSet<&str> = parts.filter(is_there).collect();
        option("part", parts).into_iter().collect()
    },
};

/// A part of the curve's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The scalar field.
    Fr,
    /// The group with coordinates in Fp.
    G1,
    /// The group with coordinates in Fp2.
    G2,
    /// The target field of the pairing, and the group in it.
    Gt,
    /// The pairing, in parts and as a whole.
    Pairing,
    /// Signatures, with small keys and with small signatures.
    Signature,
    /// Sums of multiples.
    Msm,
    /// Transforms.
    Fft,
    /// KZG commitments of Ethereum.
    Kzg,
}

impl Part {
    /// All parts, in the order of the tables.
    pub const ALL: [Self; 9] = [
        Self::Fr,
        Self::G1,
        Self::G2,
        Self::Gt,
        Self::Pairing,
        Self::Signature,
        Self::Msm,
        Self::Fft,
        Self::Kzg,
    ];

    /// Returns its name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fr => "fr",
            Self::G1 => "g1",
            Self::G2 => "g2",
            Self::Gt => "gt",
            Self::Pairing => "pairing",
            Self::Signature => "signature",
            Self::Msm => "msm",
            Self::Fft => "fft",
            Self::Kzg => "kzg",
        }
    }
}

/// Parses `--part`: `all`, or names separated by commas.
///
/// # Errors
/// The first unknown name.
pub fn parts_from_list(list: &str) -> Result<Vec<Part>, Failure> {
    if list == "all" {
        return Ok(Part::ALL.to_vec());
    }
    let mut named = Vec::new();
    for name in list.split(',') {
        let part = Part::ALL.into_iter().find(|part| part.name() == name.trim());
        named.push(part.ok_or_else(|| {
            let known = Part::ALL.map(Part::name).join(", ");
            Failure::new(
                format!("no part is called '{name}'"),
                format!("use all, or a list of {known}"),
            )
        })?);
    }
    Ok(Part::ALL.into_iter().filter(|part| named.contains(part)).collect())
}

/// Parses `--sums`: binary logarithms of numbers of points, separated by commas.
///
/// # Errors
/// The first invalid item.
pub fn sums_from_list(list: &str) -> Result<Vec<u32>, Failure> {
    list.split(',')
        .map(|item| {
            let sum = item.trim().parse().ok().filter(|sum| *sum <= MOST);
            sum.ok_or_else(|| {
                Failure::new(
                    format!("'{item}' is not the logarithm of a number of points"),
                    format!("use numbers from 0 to {MOST}, as in --sums 8,12 for 256 and 4096"),
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parts() {
        assert_eq!(parts_from_list("g2, fr").unwrap(), [Part::Fr, Part::G2]);
        assert_eq!(parts_from_list("all").unwrap(), Part::ALL);
        let failure = parts_from_list("fr,gt2").unwrap_err();
        assert_eq!(failure.message, "no part is called 'gt2'");
        assert!(failure.hint.contains("fr, g1, g2"), "{}", failure.hint);
        assert!(parts_from_list("").is_err());
    }

    #[test]
    fn lists_of_sums() {
        assert_eq!(sums_from_list("0, 20").unwrap(), [0, 20]);
        for wrong in ["", "21", "x", "8,"] {
            assert!(sums_from_list(wrong).is_err(), "{wrong}");
        }
    }
}
