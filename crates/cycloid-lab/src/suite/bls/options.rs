//! Parses the user's choice of tables for this suite.

use super::{Bls, Part};
use crate::Failure;

/// The binary logarithm of the largest number of points in a sum.
const MOST: u32 = 20;

impl Bls {
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
}
