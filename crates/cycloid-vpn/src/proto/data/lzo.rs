//! Decompresses LZO1X, which `comp-lzo` uses. Own code, since the crates for it either are not
//! memory-safe, panic on malformed input, or do not limit the output.
//!
//! A stream is a sequence of instructions. Each copies bytes from the output so far and then up to
//! three literals, or copies a longer run of literals. What the lowest instructions mean depends on
//! the number of literals before them.
//!
//! Source: the Linux kernel's description of the stream format (Documentation/staging/lzo.rst).

/// Number of literals after the last copy: a long run counts as this.
const LONG_RUN: usize = 4;

/// Decompresses a whole stream into `out`. Returns the length, or `None` for malformed input or too
/// long output.
pub(super) fn decompress(input: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut input = Input(input);
    let mut output = Output { bytes: out, length: 0 };
    let mut literals = 0;
    // Only the first byte may start with literals by a number above 17.
    if let Some(first @ 18..) = input.0.first().copied() {
        input.byte()?;
        let count = usize::from(first - 17);
        output.literals(input.take(count)?)?;
        literals = count.min(LONG_RUN);
    }
    loop {
        let instruction = usize::from(input.byte()?);
        let (distance, length, after) = match instruction {
            // A run of literals if none came before it, otherwise a short copy.
            0..16 if literals == 0 => {
                let count = match instruction {
                    0 => input.long(15)?.checked_add(3)?,
                    count => count + 3,
                };
                output.literals(input.take(count)?)?;
                literals = LONG_RUN;
                continue;
            }
            0..16 => {
                let near = (usize::from(input.byte()?) << 2) + (instruction >> 2) + 1;
                match literals {
                    LONG_RUN => (near + 2048, 3, instruction),
                    _ => (near, 2, instruction),
                }
            }
            16..32 => {
                let length = match instruction & 7 {
                    0 => input.long(7)?.checked_add(2)?,
                    length => length + 2,
                };
                let word = input.word()?;
                let distance = ((instruction & 8) << 11) + (word >> 2);
                if distance == 0 {
                    // The end, which is a copy of three bytes and followed by nothing.
                    return (length == 3 && input.0.is_empty()).then_some(output.length);
                }
                (distance + 16_384, length, word)
            }
            32..64 => {
                let length = match instruction & 31 {
                    0 => input.long(31)?.checked_add(2)?,
                    length => length + 2,
                };
                let word = input.word()?;
                ((word >> 2) + 1, length, word)
            }
            _ => {
                let distance = (usize::from(input.byte()?) << 3) + (instruction >> 2 & 7) + 1;
                (distance, (instruction >> 5) + 1, instruction)
            }
        };
        output.copy(distance, length)?;
        literals = after & 3;
        output.literals(input.take(literals)?)?;
    }
}

/// The rest of the input.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<usize> {
        let bytes = self.take(2)?;
        Some(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    }

    /// Returns a long number: 255 for each zero byte, the byte after them, and `base`.
    fn long(&mut self, base: usize) -> Option<usize> {
        let zeros = self.0.iter().take_while(|byte| **byte == 0).count();
        self.take(zeros)?;
        Some(zeros.checked_mul(255)? + base + usize::from(self.byte()?))
    }
}

struct Output<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Output<'_> {
    fn literals(&mut self, literals: &[u8]) -> Option<()> {
        let end = self.length.checked_add(literals.len())?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(literals);
        self.length = end;
        Some(())
    }

    /// Copies bytes that start `distance` before the end. They may include bytes of this copy.
    fn copy(&mut self, distance: usize, length: usize) -> Option<()> {
        let from = self.length.checked_sub(distance)?;
        let end = self.length.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        if distance >= length {
            self.bytes.copy_within(from..from + length, self.length);
        } else {
            (from..from + length).zip(self.length..end).for_each(|(from, to)| {
                self.bytes[to] = self.bytes[from];
            });
        }
        self.length = end;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(input: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; 65_535];
        decompress(input, &mut out).map(|length| out[..length].to_vec())
    }

    const END: [u8; 3] = [17, 0, 0];

    /// Streams by hand, one for each kind of instruction.
    #[test]
    fn every_instruction() {
        let literals: Vec<u8> = (0..20).collect();
        let begin = [&[17 + 20], &literals[..]].concat();
        for (instructions, expected) in [
            // Lengths 4 and 8 within 2 KiB, with literals after them.
            (&[64 + 32 + (2 << 2), 0][..], vec![17, 18, 19, 17]),
            (&[0xe0 | 1, 0, 99], vec![19, 19, 19, 19, 19, 19, 19, 19, 99]),
            // Lengths 5 and 2 + 31 + 255 + 7 within 16 KiB.
            (&[32 + 3, 19 << 2, 0], vec![0, 1, 2, 3, 4]),
            (&[32, 0, 7, 0, 0], vec![19; 2 + 31 + 255 + 7]),
            // Two bytes after a short run of literals.
            (&[0xe0 | 1, 0, 99, 1 << 2, 0], [&[19; 8][..], &[99, 19, 99]].concat()),
        ] {
            let stream = [&begin, instructions, &END].concat();
            assert_eq!(
                whole(&stream),
                Some([&literals, &expected[..]].concat()),
                "{instructions:?}"
            );
        }
        // A long run of literals, and a copy from more than 16 KiB before.
        let run: Vec<u8> = (0..17_000_u32).map(|at| (at % 251) as u8).collect();
        let rest = run.len() - 18;
        let mut stream = vec![0];
        stream.resize(1 + rest / 255, 0);
        stream.push((rest % 255) as u8);
        stream.extend_from_slice(&run);
        let copied = |from: usize, length: usize| {
            Some([&run[..], &run[run.len() - from..][..length]].concat())
        };
        let distance = (16_900 - 16_384) << 2;
        let far = [16 + 4, distance as u8, (distance >> 8) as u8];
        assert_eq!(whole(&[&stream[..], &far, &END].concat()), copied(16_900, 6));
        // Three bytes from more than 2 KiB before, after a long run.
        assert_eq!(whole(&[&stream[..], &[3 << 2, 1], &END].concat()), copied(2048 + 4 + 4, 3));
    }

    #[test]
    fn malformed_streams_are_refused() {
        let begin = [18, 5];
        for stream in [
            &[][..],
            &END[..2],
            &[20, 1, 2],
            // From before the start of the output.
            &[18, 5, 64, 1],
            &[18, 5, 32 + 3, 200, 0],
            // Without an end, with another length at the end, and with bytes after it.
            &begin,
            &[18, 5, 18, 0, 0],
            &[18, 5, 17, 0, 0, 0],
            // Endless lengths.
            &[32, 0, 0, 0],
        ] {
            assert_eq!(whole(stream), None, "{stream:?}");
        }
        assert_eq!(whole(&[&begin[..], &END].concat()), Some(vec![5]));
        // Output that does not fit.
        let bomb = [&[18, 5, 32][..], &[0; 300], &[1, 0, 0], &END].concat();
        assert_eq!(whole(&bomb), None);
        assert_eq!(decompress(&[&begin[..], &END].concat(), &mut []), None);
    }

    proptest! {
        #[test]
        fn arbitrary_streams_do_not_panic(
            input in prop::collection::vec(any::<u8>(), 0..300),
            room in 0..2000_usize,
        ) {
            if let Some(length) = decompress(&input, &mut vec![0; room]) {
                prop_assert!(length <= room);
            }
        }
    }
}
