//! Converts numbers between limbs, which this library takes, and bytes, which the peers take.

/// Returns `limbs` as big-endian bytes.
pub(crate) fn to_bytes(limbs: &[u64]) -> Vec<u8> {
    limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
}

/// Returns big-endian `bytes` as limbs.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let limb = |bytes: &[u8]| bytes.iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    bytes.rchunks(8).map(limb).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_limbs() {
        let limbs = [0x0102_0304_0506_0708, 0x1112_1314_1516_1718];
        let bytes = to_bytes(&limbs);
        assert_eq!((bytes[0], bytes[8], bytes[15]), (0x11, 0x01, 0x08));
        assert_eq!(from_bytes(&bytes), limbs);
        assert_eq!(from_bytes(&[1, 0, 1]), [65537]);
    }
}
