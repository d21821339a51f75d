//! What a person writes to choose the tables of this suite.

use cycloid::scheme::rsa::{MAX_BITS, MIN_BITS};

use super::{Kind, Rsa};
use crate::Failure;

/// Keys have whole limbs in each prime.
const STEP: usize = 128;

impl Rsa {
    /// What `--bits` names: lengths of keys separated by commas.
    ///
    /// # Errors
    /// The first that is not a length this suite can measure.
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
                        failure(format!("{bits} bits are not between {MIN_BITS} and {MAX_BITS}"))
                    }
                    Ok(bits) if bits % STEP != 0 => {
                        failure(format!("{bits} bits are not a multiple of {STEP}"))
                    }
                    Ok(bits) => Ok(bits),
                }
            })
            .collect()
    }

    /// What `--operation` names: `all`, or names separated by commas.
    ///
    /// # Errors
    /// The first name that no operation has.
    pub fn kinds_from_list(list: &str) -> Result<Vec<Kind>, Failure> {
        if list == "all" {
            return Ok(Kind::ALL.to_vec());
        }
        let names: Vec<&str> = list.split(',').map(str::trim).collect();
        if let Some(unknown) = names.iter().find(|name| Kind::from_name(name).is_none()) {
            let known = Kind::ALL.map(Kind::name).join(", ");
            return Err(Failure::new(
                format!("no operation is called '{unknown}'"),
                format!("the operations are {known}; all takes the place of a list"),
            ));
        }
        Ok(Kind::ALL.into_iter().filter(|kind| names.contains(&kind.name())).collect())
    }
}
