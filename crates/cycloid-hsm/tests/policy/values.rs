//! Values of keys by number, sets of them, and sets of wrapped keys.

/// The number of a key's value. The two halves of an RSA pair have the same.
pub(crate) type Value = u8;

/// A value that the attacker made: an AES key.
pub(crate) const OWN_AES: Value = 0;
/// A pair that the attacker made: the HSM sees its public half.
pub(crate) const OWN_RSA: Value = 1;
/// A sensitive, extractable AES key of somebody else.
pub(crate) const VICTIM: Value = 2;
/// An AES key that the officer imported and trusts; other HSMs have it too.
pub(crate) const TRUSTED: Value = 3;
/// A sensitive key that another HSM wrapped under the trusted key.
pub(crate) const ELSEWHERE: Value = 4;
/// An AES key that somebody else imported, to receive keys from a partner.
pub(crate) const SHARED: Value = 5;
pub(crate) const FIRST_FREE: Value = 6;
/// The number of values that a state has at most.
pub(crate) const VALUES: Value = 11;

/// A set of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Values(u32);

impl Values {
    pub(crate) fn has(self, value: Value) -> bool {
        self.0 >> value & 1 == 1
    }

    pub(crate) fn add(&mut self, value: Value) {
        self.0 |= 1 << value;
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A set of wrapped keys: the value that wraps, and the wrapped one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wrapped(u128);

impl Wrapped {
    const fn bit(by: Value, value: Value) -> u128 {
        assert!(by < VALUES && value < VALUES);
        1 << (by * VALUES + value)
    }

    pub(crate) fn has(self, by: Value, value: Value) -> bool {
        self.0 & Self::bit(by, value) != 0
    }

    pub(crate) fn add(&mut self, by: Value, value: Value) {
        self.0 |= Self::bit(by, value);
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = (Value, Value)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros() as Value;
            // Without the lowest element.
            rest &= rest.wrapping_sub(1);
            (lowest < VALUES * VALUES).then_some((lowest / VALUES, lowest % VALUES))
        })
    }
}
