//! Parses the user's choice of tables for this suite.

use cycloid::modular::{MAX_BITS, Strategy};

use super::{MIN_BITS, ModExp};
use crate::Failure;
use crate::peers::modexp::Exponents;

impl ModExp {
    /// Parses `--bits`: lengths separated by commas.
    ///
    /// # Errors
    /// The first length that this suite cannot measure.
    pub fn bits_from_list(list: &str, crt: bool) -> Result<Vec<usize>, Failure> {
        let (what, minimum, maximum) = if crt {
            ("an RSA key", 2 * MIN_BITS, 2 * MAX_BITS)
        } else {
            ("a modulus", MIN_BITS, MAX_BITS)
        };
        let hint = format!("{what} has {minimum} to {maximum} bits, as in --bits 1024,2048");
        list.split(',')
            .map(|item| {
                let bits: usize = item.trim().parse().map_err(|_| {
                    Failure::new(format!("'{item}' is not a number of bits"), hint.clone())
                })?;
                if !(minimum..=maximum).contains(&bits) {
                    let message = format!("{bits} bits is not between {minimum} and {maximum}");
                    return Err(Failure::new(message, hint.clone()));
                }
                if crt && bits % 2 == 1 {
                    let message = format!("an RSA key of {bits} bits has no equal halves");
                    return Err(Failure::new(message, "with --crt, use even numbers of bits"));
                }
                Ok(bits)
            })
            .collect()
    }

    /// Parses `--exponent`: `full`, `65537`, or a length in bits.
    ///
    /// # Errors
    /// If the text is none of them.
    pub fn exponent_from_text(text: &str) -> Result<Exponents, Failure> {
        match (text, text.parse()) {
            ("full", _) => Ok(Exponents::Full),
            ("65537", _) => Ok(Exponents::F4),
            (_, Ok(bits)) if (1..=MAX_BITS).contains(&bits) => Ok(Exponents::Bits(bits)),
            _ => Err(Failure::new(
                format!("'{text}' is not an exponent"),
                format!("use full, 65537, or a length of 1 to {MAX_BITS} bits"),
            )),
        }
    }

    /// Parses `--strategy`: `all`, `none`, or words of a strategy's name in any case, with
    /// alternatives separated by commas, as in `montgomery fw, barrett ladder`.
    ///
    /// # Errors
    /// The first alternative that matches no strategy.
    pub fn strategies_from_filter(filter: &str) -> Result<Vec<Strategy>, Failure> {
        match filter.to_lowercase().as_str() {
            "all" => return Ok(Strategy::ALL.to_vec()),
            "none" => return Ok(Vec::new()),
            _ => {}
        }
        let mut wanted = [false; Strategy::ALL.len()];
        for alternative in filter.split(',') {
            let mut found = false;
            for (strategy, wanted) in Strategy::ALL.iter().zip(&mut wanted) {
                if satisfies(*strategy, alternative) {
                    (found, *wanted) = (true, true);
                }
            }
            if !found {
                return Err(Failure::new(
                    format!("no strategy is called '{}'", alternative.trim()),
                    "use words of the names, as in --strategy 'montgomery fw,barrett ladder': \
                     basic, barrett, montgomery; fast, ladder, fw, rm; 2b to 6b",
                ));
            }
        }
        Ok(Strategy::ALL
            .into_iter()
            .zip(wanted)
            .filter_map(|(strategy, wanted)| wanted.then_some(strategy))
            .collect())
    }
}

/// Returns whether the strategy's name has all the words.
fn satisfies(strategy: Strategy, words: &str) -> bool {
    let name = strategy.to_string().to_lowercase().replace(',', "");
    let mut words = words.split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| name.split(' ').any(|part| part == word.to_lowercase()))
}
