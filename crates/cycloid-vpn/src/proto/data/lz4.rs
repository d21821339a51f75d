//! Decompression of LZ4 blocks (LZ4 Block Format Description), without copies beyond the output.

/// The shortest match.
const SHORTEST: usize = 4;

/// A length that continues in the following bytes.
const LONG: usize = 15;

/// Decompresses a block. Returns the length of the output, or `None` if the block is malformed or
/// its content is longer than `out`.
pub(super) fn decompress(mut block: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        let token = usize::from(byte(&mut block)?);
        let literals = length(token >> 4, &mut block)?;
        let (copied, rest) = block.split_at_checked(literals)?;
        out.get_mut(end..end + literals)?.copy_from_slice(copied);
        (block, end) = (rest, end + literals);
        if block.is_empty() {
            return Some(end);
        }
        let offset = usize::from(u16::from_le_bytes([byte(&mut block)?, byte(&mut block)?]));
        let length = SHORTEST + length(token & LONG, &mut block)?;
        let start = end.checked_sub(offset).filter(|_| offset > 0)?;
        if length > out.len() - end {
            return None;
        }
        if offset >= length {
            out.copy_within(start..start + length, end);
        } else {
            // The match overlaps what it writes: bytes repeat.
            for at in end..end + length {
                out[at] = out[at - offset];
            }
        }
        end += length;
    }
}

/// Takes the first byte.
fn byte(block: &mut &[u8]) -> Option<u8> {
    let (first, rest) = block.split_first()?;
    *block = rest;
    Some(*first)
}

/// Returns a length: four bits of the token, and the bytes that continue it.
fn length(bits: usize, block: &mut &[u8]) -> Option<usize> {
    let mut length = bits;
    if bits == LONG {
        loop {
            let more = byte(block)?;
            // A packet is short, so the sum does not overflow.
            length += usize::from(more);
            if more != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(
            bytes in prop::collection::vec(0_u8..4, 0..3000),
            room in 0_usize..3000,
        ) {
            let block = lz4_flex::block::compress(&bytes);
            let mut out = vec![0; bytes.len()];
            prop_assert_eq!(decompress(&block, &mut out), Some(bytes.len()));
            prop_assert_eq!(&out, &bytes);
            let mut out = vec![0; room];
            let fits = bytes.len() <= room;
            prop_assert_eq!(decompress(&block, &mut out), fits.then_some(bytes.len()));
        }

        #[test]
        fn any_bytes_give_what_the_model_gives(
            block in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let (mut out, mut model) = (vec![0; 4000], vec![0; 4000]);
            let length = decompress(&block, &mut out);
            // The model also refuses blocks whose end breaks the format's rules for encoders.
            if let Ok(expected) = lz4_flex::block::decompress_into(&block, &mut model) {
                prop_assert_eq!(length, Some(expected));
                prop_assert_eq!(&out[..expected], &model[..expected]);
            }
        }
    }
}
