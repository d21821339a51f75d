//! A signature by a key of any length.

use super::{MAX_BITS, MIN_BITS};

/// A signature, as long as the key's modulus.
#[derive(Clone)]
pub struct Signature {
    bytes: [u8; MAX_BITS / 8],
    length: usize,
}

impl Signature {
    /// Returns a signature of zeros, to be filled.
    pub(super) const fn blank(length: usize) -> Self {
        Self { bytes: [0; MAX_BITS / 8], length }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }

    /// Reads a signature in the standard's form; `None` if no key has that length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if !(MIN_BITS.div_ceil(8)..=MAX_BITS / 8).contains(&bytes.len()) {
            return None;
        }
        let mut signature = Self::blank(bytes.len());
        signature.bytes_mut().copy_from_slice(bytes);
        Some(signature)
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl core::ops::Deref for Signature {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_ref()
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Signature {}

impl core::fmt::Debug for Signature {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("rsa::Signature(")?;
        self.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
