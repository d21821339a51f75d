//! Weak operations that programs still ask for. Each is forbidden until the security officer allows
//! it.

use minicbor::{Decode, Encode};

/// A weak operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum Legacy {
    /// RSA keys of 1024 to 2047 bits, and public ones of 512 bits and more.
    #[n(0)]
    ShortRsaKeys,
    /// Signatures of SHA-1 digests.
    #[n(1)]
    Sha1Signatures,
    /// RSA without padding, `CKM_RSA_X_509`.
    #[n(2)]
    RawRsa,
}

impl Legacy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ShortRsaKeys, Self::Sha1Signatures, Self::RawRsa];

    /// Returns the name that people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShortRsaKeys => "short-rsa-keys",
            Self::Sha1Signatures => "sha1-signatures",
            Self::RawRsa => "raw-rsa",
        }
    }

    /// Returns a description for people, in the plural.
    pub const fn description(self) -> &'static str {
        match self {
            Self::ShortRsaKeys => "RSA keys of fewer than 2048 bits",
            Self::Sha1Signatures => "signatures with SHA-1",
            Self::RawRsa => "RSA operations without padding",
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of weak operations: those that the security officer allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Allowed(u32);

impl Allowed {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// All of them.
    pub const EVERY: Self = {
        let [one, two, three] = Legacy::ALL;
        Self(one.bit() | two.bit() | three.bit())
    };

    /// Returns whether a weak operation is allowed.
    pub const fn has(self, weak: Legacy) -> bool {
        self.0 & weak.bit() != 0
    }

    /// Returns the set in which a weak operation is allowed, or not.
    pub const fn with(self, weak: Legacy, allowed: bool) -> Self {
        let others = self.0 & !weak.bit();
        Self(if allowed { others | weak.bit() } else { others })
    }

    /// Returns the set as a number, the sum of two to the power of each member's number.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the set of a number, without members that are unknown here.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::EVERY.0)
    }

    /// Returns the members.
    pub fn iter(self) -> impl Iterator<Item = Legacy> {
        Legacy::ALL.into_iter().filter(move |weak| self.has(*weak))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_its_number() {
        for bits in 0..8 {
            let set = Allowed::from_bits(bits);
            assert_eq!(set.bits(), bits);
            let sum = set.iter().fold(Allowed::NONE, |set, weak| set.with(weak, true));
            assert_eq!(sum, set);
            for weak in Legacy::ALL {
                assert!(set.with(weak, true).has(weak) && !set.with(weak, false).has(weak));
            }
        }
        assert_eq!(Allowed::from_bits(u32::MAX), Allowed::EVERY);
    }
}
