//! The rules of the policy, each of which can be removed.

/// A rule of the policy, or of PKCS #11 itself, without which there is an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Only a key that was generated inside, and always sensitive, or a trusted one wraps a
    /// sensitive key.
    Keepers,
    /// A generated key wraps sensitive keys only if it was always sensitive.
    AlwaysSensitive,
    /// A key that has wrapped a sensitive key serves keys.
    WrappingServesKeys,
    /// An AES key that has unwrapped a sensitive key serves keys.
    UnwrappingServesKeys,
    /// A trusted key serves keys.
    TrustServesKeys,
    /// A value serves keys, not an object.
    ByValue,
    /// An unwrapped key is sensitive, unless the unwrapping key may decrypt.
    UnwrappedIsSensitive,
    /// Sensitive keys stay sensitive.
    StaysSensitive,
    /// Unextractable keys stay unextractable.
    StaysUnextractable,
    /// Unextractable keys are not wrapped.
    Unextractable,
    /// Only the officer trusts keys.
    OfficersTrust,
    /// RSA without padding, or with hardly any, is decryption, also where it is called a signature.
    RawIsDecryption,
    /// The fresh AES key that wraps a sensitive key within a message for an RSA key serves keys.
    FreshServesKeys,
    /// A derived key wraps no sensitive key, because the derivation can be repeated.
    DerivedIsNoKeeper,
    /// Without a login, nobody makes a value serve keys, which would end its use for data.
    LoginServesKeys,
}

/// All rules.
pub(crate) const RULES: [Rule; 15] = [
    Rule::Keepers,
    Rule::AlwaysSensitive,
    Rule::WrappingServesKeys,
    Rule::UnwrappingServesKeys,
    Rule::TrustServesKeys,
    Rule::ByValue,
    Rule::UnwrappedIsSensitive,
    Rule::StaysSensitive,
    Rule::StaysUnextractable,
    Rule::Unextractable,
    Rule::OfficersTrust,
    Rule::RawIsDecryption,
    Rule::FreshServesKeys,
    Rule::DerivedIsNoKeeper,
    Rule::LoginServesKeys,
];

/// The policy, possibly without one rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) without: Option<Rule>,
}

impl Policy {
    /// The policy with all of its rules.
    pub(crate) const WHOLE: Self = Self { without: None };

    pub(crate) fn has(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}
