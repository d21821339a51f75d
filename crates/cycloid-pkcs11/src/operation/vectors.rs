//! Initialisation vectors of the messages of one operation (SP 800-38D, section 8.2).
//!
//! A generated vector never repeats within an operation. Across operations with one key, a counter
//! starts at a random place among at least 2^64, and a random vector has at least 96 random bits.
//! At most 2^32 messages have generated vectors.

use cycloid_hsm_protocol::rpc::Secret;
use cycloid_hsm_protocol::{Code, Result};

use crate::code;
use crate::parameter::{Generator, Vector};

/// The minimum number of bits of a counter.
const COUNTER_BITS: usize = 64;

/// The minimum number of random bits (SP 800-38D, section 8.2.2).
const RANDOM_BITS: usize = 96;

/// The maximum length of a generated vector in bytes.
const LONGEST: usize = 16;

/// The number of low bits of a random vector that count, so that it cannot repeat.
const LOW_BITS: usize = 32;

/// The vectors so far.
#[derive(Default)]
pub(super) struct Vectors(Option<Series>);

/// The source that the first message decides on: vectors from different sources could be equal.
struct Series {
    generator: Generator,
    length: usize,
    fixed_bits: usize,
    /// Where counting begins.
    start: u128,
    count: u64,
}

impl Vectors {
    /// Returns the vector of the next message. `random` returns random bytes.
    ///
    /// # Errors
    /// [`Code::MECHANISM_PARAM_INVALID`] if too few bits are left to generate, a generated vector
    /// has more than 16 bytes, or a message before had another generator, length or number of fixed
    /// bits; [`code::TOKEN_RESOURCE_EXCEEDED`] after 2^32 messages; those of `random`.
    pub(super) fn next(
        &mut self,
        asked: &Vector,
        random: impl Fn(usize) -> Result<Secret>,
    ) -> Result<Vec<u8>> {
        let length = asked.bytes.len();
        let own_bits = 8 * length - asked.fixed_bits;
        let least = match asked.generator {
            Generator::Given => 0,
            Generator::Counter => COUNTER_BITS,
            Generator::Random => RANDOM_BITS,
        };
        let generates = asked.generator != Generator::Given;
        if own_bits < least || generates && length > LONGEST {
            return Err(Code::MECHANISM_PARAM_INVALID
                .because("initialisation vectors of this length are not generated"));
        }
        let series = match &mut self.0 {
            Some(series) => series,
            empty => empty.insert(Series {
                generator: asked.generator,
                length,
                fixed_bits: asked.fixed_bits,
                start: match asked.generator {
                    Generator::Given => 0,
                    _ => number(&random(16)?),
                },
                count: 0,
            }),
        };
        if series.generator == Generator::Given && asked.generator == Generator::Given {
            return Ok(asked.bytes.clone());
        }
        let same = (series.generator, series.length, series.fixed_bits)
            == (asked.generator, length, asked.fixed_bits);
        if !same {
            return Err(Code::MECHANISM_PARAM_INVALID.because(
                "the messages of an operation have one source of initialisation vectors",
            ));
        }
        if series.count >> 32 != 0 {
            return Err(code::TOKEN_RESOURCE_EXCEEDED.into());
        }
        let counter = series.start.wrapping_add(series.count.into());
        series.count += 1;
        let own = match series.generator {
            Generator::Random => {
                let low = (1 << LOW_BITS) - 1;
                number(&random(16)?) & !low | counter & low
            }
            _ => counter,
        };
        let mask = u128::MAX >> (128 - own_bits);
        let given = number(&asked.bytes);
        Ok((given & !mask | own & mask).to_be_bytes()[16 - length..].to_vec())
    }
}

/// Returns the number of up to 16 bytes, big-endian.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

    use super::*;

    fn asked(generator: Generator, fixed_bits: usize, length: usize) -> Vector {
        Vector { generator, fixed_bits, bytes: vec![0xab; length] }
    }

    /// Random bytes that are all the same, at worst.
    fn stuck(length: usize) -> Result<Secret> {
        Ok(Secret::new(&vec![0xff; length]))
    }

    #[test]
    fn generated_vectors_never_repeat_even_if_random_bytes_do() {
        for (generator, fixed_bits, length) in [
            (Generator::Counter, 32, 12),
            (Generator::Counter, 0, 12),
            (Generator::Counter, 13, 13),
            (Generator::Random, 0, 12),
            (Generator::Random, 8, 13),
        ] {
            let mut vectors = Vectors::default();
            let asked = asked(generator, fixed_bits, length);
            let mut seen = HashSet::new();
            for _ in 0..10_000 {
                let vector = vectors.next(&asked, stuck).unwrap();
                assert_eq!(vector.len(), length);
                let kept = |bytes: &[u8]| number(bytes) >> (8 * length - fixed_bits);
                assert_eq!(kept(&vector), kept(&asked.bytes));
                assert!(seen.insert(vector));
            }
        }
    }

    #[test]
    fn random_vectors_differ_in_their_high_bits() {
        let mut vectors = Vectors::default();
        let last = Cell::new(0u8);
        let random = |length| {
            last.set(last.get() + 1);
            Ok(Secret::new(&vec![last.get(); length]))
        };
        let asked = asked(Generator::Random, 0, 12);
        let one = vectors.next(&asked, random).unwrap();
        let two = vectors.next(&asked, random).unwrap();
        assert_eq!((&one[..8], &two[..8]), (&[2; 8][..], &[3; 8][..]));
        assert_eq!((&one[8..], &two[8..]), (&[1, 1, 1, 1][..], &[1, 1, 1, 2][..]));
    }

    #[test]
    fn vectors_with_too_few_bits_and_mixed_sources_are_refused() {
        let refused = |vectors: &mut Vectors, asked| vectors.next(&asked, stuck).unwrap_err().code;
        let invalid = Code::MECHANISM_PARAM_INVALID;
        for (generator, fixed_bits, length) in [
            (Generator::Counter, 33, 12),
            (Generator::Counter, 0, 7),
            (Generator::Random, 1, 12),
            (Generator::Random, 0, 11),
            (Generator::Counter, 64, 17),
            (Generator::Random, 0, 17),
        ] {
            let asked = asked(generator, fixed_bits, length);
            assert_eq!(refused(&mut Vectors::default(), asked), invalid);
        }
        let mut vectors = Vectors::default();
        vectors.next(&asked(Generator::Counter, 16, 12), stuck).unwrap();
        for (generator, fixed_bits, length) in [
            (Generator::Given, 16, 12),
            (Generator::Random, 0, 12),
            (Generator::Counter, 17, 12),
            (Generator::Counter, 16, 13),
        ] {
            assert_eq!(refused(&mut vectors, asked(generator, fixed_bits, length)), invalid);
        }
        let mut vectors = Vectors::default();
        let given = asked(Generator::Given, 0, 12);
        assert_eq!(vectors.next(&given, stuck).unwrap(), given.bytes);
        assert_eq!(refused(&mut vectors, asked(Generator::Counter, 0, 12)), invalid);
        vectors.next(&given, stuck).unwrap();
    }

    #[test]
    fn given_vectors_have_any_length() {
        let mut vectors = Vectors::default();
        for length in [1, 12, 16, 17, 300] {
            let given = asked(Generator::Given, 0, length);
            assert_eq!(vectors.next(&given, stuck).unwrap(), given.bytes);
        }
    }

    #[test]
    fn generated_vectors_end_after_2_to_the_32() {
        let mut vectors = Vectors::default();
        let asked = asked(Generator::Counter, 32, 12);
        vectors.next(&asked, stuck).unwrap();
        vectors.0.as_mut().unwrap().count = (1 << 32) - 1;
        vectors.next(&asked, stuck).unwrap();
        let refused = vectors.next(&asked, stuck).unwrap_err().code;
        assert_eq!(refused, code::TOKEN_RESOURCE_EXCEEDED);
    }
}
