//! The mechanisms while the security officer allows weak operations.

use super::{OFFERED, Offered, ckf, ckm, offered};
use crate::attribute::ckk;
use crate::legacy::{Allowed, Legacy};

/// RSA without padding.
const RAW_RSA: Offered = Offered {
    number: ckm::RSA_X_509,
    key_type: Some(ckk::RSA),
    sizes: (2048, 4096),
    flags: ckf::SIGN | ckf::VERIFY | ckf::ENCRYPT | ckf::DECRYPT,
};

/// The shortest RSA key that does more than verify, in bits.
pub const SHORTEST_RSA_KEY: u32 = 1024;

/// Returns the weak operation that a mechanism is in itself.
const fn weakness(number: u32) -> Option<Legacy> {
    match number {
        ckm::RSA_X_509 => Some(Legacy::RawRsa),
        ckm::SHA1_RSA_PKCS | ckm::SHA1_RSA_PKCS_PSS | ckm::ECDSA_SHA1 => {
            Some(Legacy::Sha1Signatures)
        }
        _ => None,
    }
}

/// Returns the mechanism, if it is supported while these weak operations are allowed.
pub fn offered_under(allowed: Allowed, number: u32) -> Option<Offered> {
    let weak = weakness(number).filter(|weak| allowed.has(*weak));
    let mut found = match weak {
        Some(Legacy::RawRsa) => RAW_RSA,
        _ => *offered(number)?,
    };
    if weak == Some(Legacy::Sha1Signatures) {
        found.flags |= ckf::SIGN;
    }
    if allowed.has(Legacy::ShortRsaKeys) && found.key_type == Some(ckk::RSA) {
        found.sizes.0 = SHORTEST_RSA_KEY;
    }
    Some(found)
}

/// Returns all mechanisms that are supported while these weak operations are allowed, in the order
/// of their numbers.
pub fn all_offered_under(allowed: Allowed) -> Vec<Offered> {
    let numbers = OFFERED.iter().map(|offered| offered.number).chain([RAW_RSA.number]);
    let mut all: Vec<_> = numbers.filter_map(|number| offered_under(allowed, number)).collect();
    all.sort_unstable_by_key(|offered| offered.number);
    all
}

/// Returns the weak operation that a use, `CKF_…`, of a mechanism is, so that it is supported only
/// while that operation is allowed.
pub fn weak_use(number: u32, flag: u32) -> Option<Legacy> {
    let has = |offered: Option<Offered>| offered.is_some_and(|offered| offered.flags & flag != 0);
    weakness(number)
        .filter(|_| has(offered_under(Allowed::EVERY, number)) && !has(offered(number).copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_permission_adds_its_mechanisms_alone() {
        assert_eq!(all_offered_under(Allowed::NONE), OFFERED);
        assert_eq!(offered_under(Allowed::NONE, ckm::RSA_X_509), None);
        for weak in Legacy::ALL {
            let allowed = Allowed::NONE.with(weak, true);
            let all = all_offered_under(allowed);
            assert!(all.is_sorted_by(|a, b| a.number < b.number));
            let changed = all.iter().filter(|under| offered(under.number) != Some(under));
            let changed: Vec<u32> = changed.map(|under| under.number).collect();
            match weak {
                Legacy::RawRsa => assert_eq!(changed, [ckm::RSA_X_509]),
                Legacy::Sha1Signatures => {
                    let expected = [ckm::SHA1_RSA_PKCS, ckm::SHA1_RSA_PKCS_PSS, ckm::ECDSA_SHA1];
                    assert_eq!(changed, expected);
                    assert!(expected.iter().all(|number| {
                        weak_use(*number, ckf::SIGN) == Some(weak)
                            && weak_use(*number, ckf::VERIFY).is_none()
                    }));
                }
                Legacy::ShortRsaKeys => {
                    let rsa = |number| offered(number).unwrap().key_type == Some(ckk::RSA);
                    assert!(changed.iter().all(|number| rsa(*number)));
                    let rsa = OFFERED.iter().filter(|offered| offered.key_type == Some(ckk::RSA));
                    assert_eq!(changed.len(), rsa.count());
                    let generation = offered_under(allowed, ckm::RSA_PKCS_KEY_PAIR_GEN).unwrap();
                    assert_eq!(generation.sizes, (1024, 4096));
                }
            }
        }
        assert_eq!(offered_under(Allowed::EVERY, ckm::RSA_X_509).unwrap().sizes, (1024, 4096));
        assert_eq!(weak_use(ckm::RSA_X_509, ckf::DECRYPT), Some(Legacy::RawRsa));
        assert_eq!(weak_use(ckm::RSA_X_509, ckf::UNWRAP), None);
        assert_eq!(weak_use(ckm::SHA1_RSA_PKCS, ckf::DECRYPT), None);
    }
}
