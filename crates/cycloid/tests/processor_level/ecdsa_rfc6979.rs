//! The vectors of RFC 6979, appendices A.2.4 to A.2.7: deterministic signatures with every hash
//! function, alone and in batches.

use crate::support::digest;
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::ecdsa::{self, Job, Signature};

struct Vector<C: Curve> {
    hash: Hash,
    message: Vec<u8>,
    signature: Signature<C>,
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Returns the key, the public key and the vectors of a curve.
fn vectors<C: Curve>() -> (PrivateKey<C>, PublicKey<C>, Vec<Vector<C>>) {
    let path = format!("{}/tests/data/ecdsa/rfc6979.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let section = text
        .split("\n\n")
        .find_map(|section| section.strip_prefix(&format!("curve {}\n", C::NAME)));
    let mut lines = section.expect("the curve is there").lines();
    let mut next = |name: &str| {
        let line = lines.next()?.strip_prefix(name).expect("the lines are in order");
        Some(line.trim_start())
    };
    let [key, x, y] = ["key", "x", "y"].map(|name| bytes(next(name).unwrap()));
    let key = PrivateKey::from_bytes(&key).unwrap();
    let point = [vec![4], x, y].concat();
    let mut vectors = Vec::new();
    while let Some(line) = next("SHA-") {
        let (function, message) = line.split_once(' ').unwrap();
        let hash = match function {
            "1" => Hash::Sha1,
            "224" => Hash::Sha224,
            "256" => Hash::Sha256,
            "384" => Hash::Sha384,
            "512" => Hash::Sha512,
            other => panic!("SHA-{other}"),
        };
        let fixed = ["r", "s"].map(|name| bytes(next(name).unwrap())).concat();
        let signature = Signature::from_fixed(&fixed).unwrap();
        vectors.push(Vector { hash, message: message.into(), signature });
    }
    (key, PublicKey::from_sec1(&point).unwrap(), vectors)
}

/// Checks that the nonce of the standard, chosen by the caller, gives the same signature.
#[cfg(feature = "hazardous")]
fn chosen_nonces<C: Curve>(
    key: &PrivateKey<C>,
    hash: Hash,
    digest: &[u8],
    signature: &Signature<C>,
) {
    use cycloid::scheme::ec::Error;
    use cycloid::scheme::ecdsa::NonceGenerator;

    let mut nonces = NonceGenerator::new(key, hash, digest, &[]);
    let mut nonce = vec![0; C::BYTES];
    nonces.next(&mut nonce).unwrap();
    assert_eq!(key.sign_with_nonce(digest, &nonce).as_ref(), Ok(signature));
    // Another nonce gives another valid signature.
    nonces.next(&mut nonce).unwrap();
    let other = key.sign_with_nonce(digest, &nonce).unwrap();
    assert_ne!(other, *signature);
    key.public_key().verify_prehashed(digest, &other).unwrap();

    for wrong in [vec![0; C::BYTES], vec![0xff; C::BYTES]] {
        assert_eq!(key.sign_with_nonce(digest, &wrong), Err(Error::PrivateKeyRange));
    }
    let error = Error::Length { needed: C::BYTES, given: C::BYTES - 1 };
    assert_eq!(key.sign_with_nonce(digest, &nonce[1..]), Err(error));
    assert_eq!(nonces.next(&mut nonce[1..]), Err(error));
}

fn check<C: Curve>() {
    let (key, public, vectors) = vectors::<C>();
    assert_eq!(vectors.len(), 10);
    assert_eq!(*key.public_key(), public);
    for Vector { hash, message, signature } in &vectors {
        assert_eq!(key.sign(*hash, message), *signature, "{hash:?}");
        let digest = digest(*hash, message);
        assert_eq!(key.sign_prehashed(*hash, &digest), *signature, "{hash:?}");
        #[cfg(feature = "hazardous")]
        chosen_nonces(&key, *hash, &digest, signature);
        assert_eq!(key.sign_hedged(*hash, &digest, &[]), *signature, "{hash:?}");
        assert_eq!(public.verify(*hash, message, signature), Ok(()));
        let hedged = key.sign_hedged(*hash, &digest, b"random");
        assert_ne!(hedged, *signature);
        assert_eq!(public.verify_prehashed(&digest, &hedged), Ok(()));
    }
    let mut jobs: Vec<_> =
        vectors.iter().map(|vector| Job::sign(&key, vector.hash, &vector.message)).collect();
    ecdsa::run_batch(&mut jobs);
    for (vector, job) in vectors.iter().zip(&jobs) {
        assert_eq!(job.signature().as_ref(), Ok(&vector.signature), "{:?}", vector.hash);
    }
    let mut jobs: Vec<_> = vectors
        .iter()
        .map(|vector| Job::verify(&public, vector.hash, &vector.message, &vector.signature))
        .collect();
    ecdsa::run_batch(&mut jobs);
    assert!(jobs.iter().all(|job| job.outcome() == Ok(())));
}

#[test]
fn p224() {
    check::<P224>();
}

#[test]
fn p256() {
    check::<P256>();
}

#[test]
fn p384() {
    check::<P384>();
}

#[test]
fn p521() {
    check::<P521>();
}
