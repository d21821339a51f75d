//! The Internet checksum (RFC 1071): the complement of the sum of 16-bit words, end-around carry.
//!
//! The byte order of the words affects only the byte order of the sum, and words may be added four
//! bytes at a time (RFC 1071). So this adds 32-bit words in the machine's byte order to 64-bit
//! accumulators, which compilers vectorise.

/// An unfinished sum, with room for 2³² words without overflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum(u64);

/// Number of words added in parallel.
const LANES: usize = 16;

impl Sum {
    /// Adds bytes. If their number is odd, nothing may be added afterwards.
    #[inline]
    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        let mut lanes = [0_u64; LANES];
        let (chunks, rest) = bytes.as_chunks::<{ 4 * LANES }>();
        for chunk in chunks {
            let (words, _) = chunk.as_chunks::<4>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane += u64::from(u32::from_ne_bytes(*word));
            }
        }
        let (words, tail) = rest.as_chunks::<4>();
        let words: u64 = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum();
        let mut last = [0; 4];
        last[..tail.len()].copy_from_slice(tail);
        let last = u64::from(u32::from_ne_bytes(last));
        Self(self.0 + lanes.iter().sum::<u64>() + words + last)
    }

    /// Adds a number that the packet holds in network byte order.
    #[inline]
    pub(super) fn number(self, number: u16) -> Self {
        Self(self.0 + u64::from(u16::from_ne_bytes(number.to_be_bytes())))
    }

    /// Folds the sum to 16 bits, as in a packet whose checksum is completed later.
    #[inline]
    pub(super) fn fold(self) -> [u8; 2] {
        let mut sum = self.0;
        // Below 2³³ after the first step, 2¹⁸ after the second, 2¹⁶ + 3 after the third.
        sum = (sum & 0xffff_ffff) + (sum >> 32);
        sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        (sum as u16).to_ne_bytes()
    }

    /// Returns the checksum as it appears in a packet.
    #[inline]
    pub(super) fn complement(self) -> [u8; 2] {
        self.fold().map(|byte| !byte)
    }

    /// Returns the checksum with zero replaced by 0xFFFF. UDP uses zero for "no checksum";
    /// elsewhere both encodings are equivalent.
    #[inline]
    pub(super) fn complement_not_zero(self) -> [u8; 2] {
        match self.complement() {
            [0, 0] => [0xff, 0xff],
            checksum => checksum,
        }
    }

    /// Returns whether the summed data, including its checksum, is intact.
    #[inline]
    pub(super) fn verifies(self) -> bool {
        self.fold() == [0xff, 0xff]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A word-by-word model, as RFC 1071 describes.
    fn model(bytes: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for word in bytes.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    proptest! {
        #[test]
        fn sums_equal_the_model(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xff)], 0..300),
            number: u16,
        ) {
            let sum = Sum::default().bytes(&bytes);
            prop_assert_eq!(u16::from_be_bytes(sum.fold()), model(&bytes));
            let more = [&number.to_be_bytes()[..], &bytes].concat();
            prop_assert_eq!(u16::from_be_bytes(sum.number(number).fold()), model(&more));
            let even = bytes.len() & !1;
            let parts = Sum::default().bytes(&bytes[..even / 4 * 2]).bytes(&bytes[even / 4 * 2..]);
            prop_assert_eq!(parts.fold(), sum.fold());
        }
    }

    #[test]
    fn carries_wrap_around() {
        for length in [0, 1, 2, 3, 4, 63, 64, 65, 1400, 65_535, 65_536] {
            let bytes = vec![0xff; length];
            assert_eq!(u16::from_be_bytes(Sum::default().bytes(&bytes).fold()), model(&bytes));
        }
        for sum in [u64::MAX, u64::MAX << 32, 0xffff_ffff, 0x1_ffff, 0xffff_0001, 0x1_0000_0000] {
            let words = sum.to_ne_bytes();
            assert_eq!(u16::from_be_bytes(Sum(sum).fold()), model(&words));
        }
        assert_eq!(Sum::default().bytes(&[0xff; 2]).complement(), [0, 0]);
        assert_eq!(Sum::default().bytes(&[0xff; 2]).complement_not_zero(), [0xff, 0xff]);
    }

    #[test]
    fn an_example_from_rfc_1071() {
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.fold(), [0xdd, 0xf2]);
        assert!(sum.number(!0xddf2).verifies());
    }
}
