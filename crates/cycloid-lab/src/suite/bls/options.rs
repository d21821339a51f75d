//! What a person writes to choose the tables of this suite.

use super::{Bls, Part};
use crate::Failure;

/// The most points that a sum is measured with, as a binary logarithm.
const MOST: u32 = 20;

impl Bls {
    /// What `--part` names: `all`, or names separated by commas.
    ///
    /// # Errors
    /// The first name that no part has.
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
                    format!("the parts are {known}; all takes the place of a list"),
                )
            })?);
        }
        Ok(Part::ALL.into_iter().filter(|part| named.contains(part)).collect())
    }

    /// What `--sums` names: binary logarithms of numbers of points, separated by commas.
    ///
    /// # Errors
    /// The first that is none.
    pub fn sums_from_list(list: &str) -> Result<Vec<u32>, Failure> {
        list.split(',')
            .map(|item| {
                let sum = item.trim().parse().ok().filter(|sum| *sum <= MOST);
                sum.ok_or_else(|| {
                    Failure::new(
                        format!("'{item}' is not the logarithm of a number of points"),
                        format!("give some of 0 to {MOST}, as in --sums 8,12 for 256 and 4096"),
                    )
                })
            })
            .collect()
    }
}
