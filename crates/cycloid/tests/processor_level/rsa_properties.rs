//! Property tests of RSA with random messages, digests, salts, keys and corruptions.

use std::sync::OnceLock;

use crate::support::{Generator, Key, KnownKey, components, digest, known_keys, load};
use cycloid::internals::lanes::Backend;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Batch, Context, Error, Job, PrivateComponents, Pss};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::{Index, select};

/// Returns keys of 2048 bits, and a longer one.
fn keys() -> &'static [KnownKey] {
    static KEYS: OnceLock<Vec<KnownKey>> = OnceLock::new();
    KEYS.get_or_init(|| known_keys().into_values().take(7).collect())
}

fn key(index: usize) -> &'static Key {
    &keys()[index].key
}

const HASHES: [Hash; 7] = [
    Hash::Sha1,
    Hash::Sha224,
    Hash::Sha256,
    Hash::Sha384,
    Hash::Sha512,
    Hash::Sha512_256,
    Hash::Sha3_256,
];

/// Returns the parameters of a signature: padding, hash functions and salt, the last often too
/// long.
fn parameters() -> impl Strategy<Value = (Hash, Option<Pss>)> {
    let pss = (select(&HASHES[..]), select(&HASHES[..]), 0..230_usize);
    let pss = pss.prop_map(|(hash, mask_hash, salt_length)| Pss { hash, mask_hash, salt_length });
    prop_oneof![
        select(&HASHES[..]).prop_map(|hash| (hash, None)),
        pss.prop_map(|pss| (pss.hash, Some(pss))),
    ]
}

fn sign(
    key: &Key,
    (hash, pss): (Hash, Option<Pss>),
    digest: &[u8],
    seed: u64,
    signature: &mut [u8],
) -> Result<(), Error> {
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut context = Context::new(key, Generator::new(seed), &mut memory).unwrap();
    match pss {
        None => context.sign_pkcs1v15_prehashed(hash, digest, signature),
        Some(pss) => context.sign_pss_with(pss, digest, signature),
    }
}

fn verify(
    key: &Key,
    (hash, pss): (Hash, Option<Pss>),
    digest: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let mut scratch = vec![0; rsa::verify_scratch_limbs(key.bits())];
    match pss {
        None => key.public().verify_pkcs1v15_prehashed(hash, digest, signature, &mut scratch),
        Some(pss) => key.public().verify_pss_with(pss, digest, signature, &mut scratch),
    }
}

/// Returns the expected outcome of signing a digest of that length, except for the signature.
fn outcome(key: &Key, (hash, pss): (Hash, Option<Pss>), digest: usize) -> Result<(), Error> {
    let room = (key.bits() - 1).div_ceil(8) - 2;
    match pss {
        _ if hash == Hash::Sha1 => Err(Error::HashRetired),
        _ if digest != hash.digest_length() => Err(Error::DigestLength),
        Some(pss) if pss.salt_length + digest > room => Err(Error::SaltTooLong),
        _ => Ok(()),
    }
}

/// Returns the parts of a key in the order of PKCS #1.
const fn parts(key: PrivateComponents<'_>) -> [&[u8]; 8] {
    [
        key.modulus,
        key.public_exponent,
        key.private_exponent,
        key.prime1,
        key.prime2,
        key.exponent1,
        key.exponent2,
        key.coefficient,
    ]
}

const fn of_parts([n, e, d, p, q, d_p, d_q, q_inverse]: &[Vec<u8>; 8]) -> PrivateComponents<'_> {
    PrivateComponents {
        modulus: n.as_slice(),
        public_exponent: e.as_slice(),
        private_exponent: d.as_slice(),
        prime1: p.as_slice(),
        prime2: q.as_slice(),
        exponent1: d_p.as_slice(),
        exponent2: d_q.as_slice(),
        coefficient: q_inverse.as_slice(),
        other_primes: &[],
    }
}

/// A job: key, parameters, message, a wrong digest if any, length of the output.
type Request = (usize, (Hash, Option<Pss>), Vec<u8>, Option<Vec<u8>>, usize);

fn request() -> impl Strategy<Value = Request> {
    let wrong_digest = prop_oneof![9 => Just(None), 1 => vec(any::<u8>(), 0..70).prop_map(Some)];
    let length = prop_oneof![9 => Just(256_usize), 1 => 0..300_usize];
    (0..keys().len(), parameters(), vec(any::<u8>(), 0..40), wrong_digest, length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A signature verifies, and any modification of it does not.
    #[test]
    fn signatures_of_random_digests(
        which in 0..keys().len(),
        parameters in parameters(),
        message in vec(any::<u8>(), 0..200),
        seed in any::<u64>(),
        bits in vec(any::<Index>(), 1..4),
        others in vec(any::<u8>(), 0..600),
    ) {
        let key = key(which);
        let digest = digest(parameters.0, &message);
        let mut signature = vec![0xaa; key.public().length()];
        let signed = sign(key, parameters, &digest, seed, &mut signature);
        assert_eq!(signed, outcome(key, parameters, digest.len()));
        if signed.is_err() {
            assert!(signature.iter().all(|byte| *byte == 0xaa));
            assert_eq!(verify(key, parameters, &digest, &signature), Err(Error::Signature));
            return Ok(());
        }
        assert_eq!(verify(key, parameters, &digest, &signature), Ok(()));

        let wrong = Err(Error::Signature);
        let flipped = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let mut places: Vec<_> = bits.iter().map(|bit| bit.index(8 * bytes.len())).collect();
            places.sort_unstable();
            places.dedup();
            places.iter().for_each(|bit| bytes[bit / 8] ^= 1 << (bit % 8));
            bytes
        };
        assert_eq!(verify(key, parameters, &digest, &flipped(&signature)), wrong);
        assert_eq!(verify(key, parameters, &flipped(&digest), &signature), wrong);
        assert_eq!(verify(key, parameters, &digest, &others), wrong);
        assert_eq!(verify(key, parameters, &digest, &[&[0], &signature[..]].concat()), wrong);
        assert_eq!(verify(key, parameters, &digest, &signature[1..]), wrong);
        let other = &keys()[(which + 1) % keys().len()].key;
        assert_eq!(verify(other, parameters, &digest, &signature), wrong);
    }

    /// A batch gives the results of single operations, whatever the other jobs are.
    #[test]
    fn batches_equal_single_operations(requests in vec(request(), 1..20), seed in any::<u64>()) {
        for backend in Backend::available().map(Some).chain([None]) {
            let mut memory = vec![0; rsa::batch_limbs(2048, 8)];
            let rng = Generator::new(seed);
            let mut batch = Batch::with_backend(backend, 2048, rng, &mut memory).unwrap();
            let digests: Vec<_> = requests
                .iter()
                .map(|(_, (hash, _), message, wrong, _)| {
                    wrong.clone().unwrap_or_else(|| digest(*hash, message))
                })
                .collect();
            let mut outputs: Vec<_> =
                requests.iter().map(|(.., length)| vec![0xaa; *length]).collect();
            let mut jobs: Vec<_> = std::iter::zip(&requests, &digests)
                .zip(&mut outputs)
                .map(|(((which, (hash, pss), ..), digest), output)| match pss {
                    None => Job::sign_pkcs1v15_prehashed(key(*which), *hash, digest, output),
                    Some(pss) => Job::sign_pss_with(key(*which), *pss, digest, output),
                })
                .collect();
            batch.run(&mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
            drop(jobs);
            for (i, (which, parameters, _, _, length)) in requests.iter().enumerate() {
                let (key, digest, output) = (key(*which), &digests[i], &outputs[i]);
                let mut single = vec![0xaa; *length];
                let expected = match sign(key, *parameters, digest, seed, &mut single) {
                    _ if key.bits() != 2048 => {
                        Err(Error::KeyLength { needed: 2048, given: key.bits() })
                    }
                    single => single,
                };
                assert_eq!(outcomes[i].map(|_| ()), expected, "job {i}, {backend:?}");
                match outcomes[i] {
                    Ok(written) => {
                        assert_eq!(written, 256);
                        assert_eq!(verify(key, *parameters, digest, output), Ok(()));
                        if parameters.1.is_none_or(|pss| pss.salt_length == 0) {
                            assert_eq!(*output, single, "job {i}, {backend:?}");
                        }
                    }
                    Err(_) => assert!(output.iter().all(|byte| *byte == 0xaa)),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A key with a corrupted part is refused, or is the same key. A missing part after the public
    /// exponent is computed.
    #[test]
    fn disturbed_keys(
        which in 0..keys().len(),
        part in 0..8_usize,
        disturbance in 0..6_usize,
        at in any::<Index>(),
        bytes in vec(any::<u8>(), 0..260),
    ) {
        let right = parts(components(&keys()[which].group));
        let mut parts = right.map(<[u8]>::to_vec);
        let disturbed = &mut parts[part];
        match disturbance {
            0 => {
                let bit = at.index(8 * disturbed.len());
                disturbed[bit / 8] ^= 1 << (bit % 8);
            }
            1 => disturbed.truncate(at.index(disturbed.len())),
            2 => disturbed.insert(at.index(disturbed.len()), bytes.len() as u8),
            3 => *disturbed = bytes,
            4 => disturbed.fill(0),
            _ => {
                disturbed.splice(0..0, std::iter::repeat_n(0, bytes.len()));
            }
        }
        let trimmed = |bytes: &[u8]| {
            bytes.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<_>>()
        };
        let same = trimmed(&parts[part]) == trimmed(right[part]);
        let outcome = load(&of_parts(&parts));
        let missing = part >= 2 && trimmed(&parts[part]).is_empty();
        assert_eq!(outcome.is_ok(), same || missing, "{:?}", outcome.err());
    }
}
