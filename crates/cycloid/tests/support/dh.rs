//! The parts of DER needed for Diffie-Hellman keys: PKCS #8 and SPKI around PKCS #3.

use num_bigint::BigUint;

/// Returns the number of little-endian limbs.
pub(crate) fn number(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

/// Returns a number as big-endian bytes with leading zeros.
pub(crate) fn padded(number: &BigUint, length: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

/// Returns the tag and the contents of the first element, and the rest.
pub(crate) fn element(der: &[u8]) -> (u8, &[u8], &[u8]) {
    let (tag, first) = (der[0], usize::from(der[1]));
    let (length, begin) = if first < 0x80 {
        (first, 2)
    } else {
        let end = 2 + (first & 0x7f);
        (der[2..end].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), end)
    };
    (tag, &der[begin..begin + length], &der[begin + length..])
}

/// A key: p, g, and the private or the public number.
pub(crate) struct DhKey {
    pub(crate) prime: BigUint,
    pub(crate) generator: BigUint,
    pub(crate) number: BigUint,
}

impl DhKey {
    /// Reads PKCS #8, in which the number is in an octet string, or SPKI, in which it is in a bit
    /// string.
    pub(crate) fn from_der(der: &[u8]) -> Self {
        let (_, mut rest, _) = element(der);
        if rest[0] == 0x02 {
            rest = element(rest).2;
        }
        let (_, algorithm, after) = element(rest);
        let (_, _, parameters) = element(algorithm);
        let (_, parameters, _) = element(parameters);
        let (_, prime, parameters) = element(parameters);
        let (_, generator, _) = element(parameters);
        let (tag, string, _) = element(after);
        // A bit string begins with the number of unused bits, 0.
        let (_, number, _) = element(if tag == 0x03 { &string[1..] } else { string });
        let [prime, generator, number] = [prime, generator, number].map(BigUint::from_bytes_be);
        Self { prime, generator, number }
    }
}
