//! The policy for keys: no sequence of calls breaks it, each of its rules is needed, and the daemon
//! follows it.

mod conformity;
mod rules;
mod search;
mod specification;
#[path = "../support/mod.rs"]
mod support;
mod values;

use rules::{Policy, RULES, Rule};
use search::{Bound, search};

#[test]
fn no_short_sequence_of_calls_learns_a_sensitive_key() {
    for (made, calls, composed, least) in
        [(2, 2, false, 400_000), (1, 4, false, 3_000_000), (1, 3, true, 800_000)]
    {
        let bound = Bound { made, calls, composed };
        let found = search(Policy::WHOLE, bound);
        assert!(found.attack.is_none(), "{:#?}", found.attack);
        assert!(found.states > least, "{} states", found.states);
    }
}

/// The attacks of the literature, each found as soon as the rule against it is gone.
#[test]
fn without_any_one_rule_there_is_an_attack() {
    let attacks = [
        // Clulow 2003, section 3.1; A1 of Bortolozzo and others.
        (Rule::WrappingServesKeys, "wrap a key, and decrypt it", 1),
        (Rule::ByValue, "wrap with one object, decrypt with a copy of it", 1),
        // A3 and A4: the attacker knows the wrapping key, because it unwrapped or imported it.
        (Rule::Keepers, "wrap under a key of one's own", 2),
        (Rule::AlwaysSensitive, "wrap under a generated key that could be read", 2),
        (Rule::OfficersTrust, "trust a key of one's own", 3),
        // A2: an attribute that should be sticky.
        (Rule::StaysSensitive, "make a sensitive key readable", 1),
        (Rule::StaysUnextractable, "make a key extractable, and wrap it", 3),
        (Rule::Unextractable, "wrap an unextractable key", 2),
        // Section 5.2 of Bortolozzo and others.
        (Rule::UnwrappedIsSensitive, "unwrap a sensitive key as a readable one", 1),
        // Keys from outside: what was wrapped elsewhere is decrypted as data.
        (Rule::UnwrappingServesKeys, "decrypt a key that somebody unwraps here", 1),
        (Rule::RawIsDecryption, "wrap a key for an RSA key, and sign it without padding", 2),
        (Rule::FreshServesKeys, "unwrap the AES key inside a message, and decrypt with it", 3),
        (Rule::DerivedIsNoKeeper, "wrap under a derived key, and derive it again, readable", 3),
        (Rule::LoginServesKeys, "unwrap with somebody's key, which then decrypts nothing", 1),
        (Rule::TrustServesKeys, "decrypt a key that is wrapped under a trusted one", 0),
    ];
    assert!(RULES.iter().all(|rule| attacks.iter().any(|(other, ..)| other == rule)));
    for (rule, attack, length) in attacks {
        let policy = Policy { without: Some(rule) };
        let composed =
            matches!(rule, Rule::FreshServesKeys | Rule::DerivedIsNoKeeper | Rule::LoginServesKeys);
        let bound = |made| Bound { made, calls: 3, composed };
        let found = (0..=2).find_map(|made| search(policy, bound(made)).attack);
        let calls = found.map(|calls| calls.len());
        assert_eq!(calls, Some(length), "without {rule:?}: {attack}");
    }
}
