//! Parses the user's choice of tables for this suite.

use super::{Kind, Rsa};
use crate::Failure;

/// The lengths of the measured keys, in bits.
const MIN_BITS: usize = 2048;
const MAX_BITS: usize = 8192;

/// Each prime has a whole number of limbs.
const STEP: usize = 128;

impl Rsa {
    /// Parses `--bits`: lengths of keys separated by commas.
    ///
    /// # Errors
    /// The first length that this suite cannot measure.
    pub fn bits_from_list(list: &str) -> Result<Vec<usize>, Failure> {
        let hint = format!(
            "a key has {MIN_BITS} to {MAX_BITS} bits, a multiple of {STEP}, as in --bits 2048,4096"
        );
        list.split(',')
            .map(|item| {
                let failure = |message| Err(Failure::new(message, hint.clone()));
                match item.trim().parse::<usize>() {
                    Err(_) => failure(format!("'{item}' is not a number of bits")),
                    Ok(bits) if !(MIN_BITS..=MAX_BITS).contains(&bits) => {
                        failure(format!("{bits} bits is not between {MIN_BITS} and {MAX_BITS}"))
                    }
                    Ok(bits) if bits % STEP != 0 => {
                        failure(format!("{bits} bits is not a multiple of {STEP}"))
                    }
                    Ok(bits) => Ok(bits),
                }
            })
            .collect()
    }

    /// Parses `--operation`: `all`, or names separated by commas.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn kinds_from_list(list: &str) -> Result<Vec<Kind>, Failure> {
        if list == "all" {
            return Ok(Kind::ALL.to_vec());
        }
        let names: Vec<&str> = list.split(',').map(str::trim).collect();
        if let Some(unknown) = names.iter().find(|name| Kind::from_name(name).is_none()) {
            let known = Kind::ALL.map(Kind::name).join(", ");
            return Err(Failure::new(
                format!("no operation is called '{unknown}'"),
                format!("use all, or a list of {known}"),
            ));
        }
        Ok(Kind::ALL.into_iter().filter(|kind| names.contains(&kind.name())).collect())
    }
}
