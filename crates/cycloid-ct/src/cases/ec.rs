//! The NIST curves, secp256k1 and brainpoolP256r1: keys and their files, ECDSA, ECDH, arithmetic,
//! and batches.

use cycloid::scheme::Hash;
use cycloid::scheme::ec::arithmetic::{Point, Scalar};
use cycloid::scheme::ec::{
    BrainpoolP256, Curve, P224, P256, P384, P521, PrivateKey, PublicKey, Secp256k1,
    private_key_der_length, private_key_pem_length,
};
use cycloid::scheme::ecdh;
use cycloid::scheme::ecdsa::{self, Job};

use crate::check::{Check, Held, marked};

const MESSAGE: &[u8] = b"the message is public";

macro_rules! on_curves {
    ($($case:ident: $on_224:ident $on_256:ident $on_384:ident $on_521:ident;)+) => {$(
        pub(crate) fn $on_224(check: &mut Check) {
            $case::<P224>(check);
        }
        pub(crate) fn $on_256(check: &mut Check) {
            $case::<P256>(check);
        }
        pub(crate) fn $on_384(check: &mut Check) {
            $case::<P384>(check);
        }
        pub(crate) fn $on_521(check: &mut Check) {
            $case::<P521>(check);
        }
    )+};
}

on_curves! {
    keys: keys_224 keys_256 keys_384 keys_521;
    sign: sign_224 sign_256 sign_384 sign_521;
    sign_verified: sign_verified_224 sign_verified_256 sign_verified_384 sign_verified_521;
    agree: agree_224 agree_256 agree_384 agree_521;
    arithmetic: arithmetic_224 arithmetic_256 arithmetic_384 arithmetic_521;
    batches: batches_224 batches_256 batches_384 batches_521;
}

pub(crate) fn keys_k1(check: &mut Check) {
    keys::<Secp256k1>(check);
}

pub(crate) fn sign_k1(check: &mut Check) {
    sign::<Secp256k1>(check);
}

pub(crate) fn agree_k1(check: &mut Check) {
    agree::<Secp256k1>(check);
}

pub(crate) fn sign_brainpool(check: &mut Check) {
    sign::<BrainpoolP256>(check);
}

/// The same key twice, unmarked and with its scalar secret.
struct Pair<C: Curve> {
    bytes: Vec<u8>,
    plain: PrivateKey<C>,
    secret: Held<PrivateKey<C>>,
}

impl<C: Curve> Pair<C> {
    fn new(check: &mut Check) -> Self {
        let mut bytes = check.bytes(C::BYTES);
        // Makes the scalar less than n.
        bytes[0] = 0;
        let secret = marked(&bytes);
        let secret = check.hold("import", || PrivateKey::from_bytes(&secret).expect("in range"));
        Self { plain: PrivateKey::from_bytes(&bytes).expect("in range"), secret, bytes }
    }
}

/// Returns another party's public key, the same in every run.
fn peer<C: Curve>(check: &mut Check) -> PublicKey<C> {
    let limbs = check.public_limbs(C::BYTES.div_ceil(8));
    let mut bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    bytes.truncate(C::BYTES);
    bytes[0] = 0;
    *PrivateKey::<C>::from_bytes(&bytes).expect("in range").public_key()
}

fn keys<C: Curve>(check: &mut Check) {
    let key = Pair::<C>::new(check);
    let mut public = Vec::new();
    check.trace("public key", || public = key.secret.public_key().to_uncompressed().to_vec());
    let expected = key.plain.public_key().to_uncompressed();
    check.public("public key", &public, |public| *public == expected[..]);
    let mut bytes = vec![0; C::BYTES];
    check.trace("bytes", || key.secret.to_bytes(&mut bytes).expect("the bytes fit"));
    check.secret("bytes", &bytes, |bytes| *bytes == key.bytes);

    let mut der = vec![0; private_key_der_length::<C>()];
    let length = check.trace("to DER", || key.secret.to_pkcs8_der(&mut der).expect("fits").len());
    check.secret("to DER", &der[..length], |der| PrivateKey::<C>::from_der(der).is_ok());
    let read = check.hold("from DER", || PrivateKey::<C>::from_der(&der[..length]).expect("a key"));
    check.trace("bytes", || read.to_bytes(&mut bytes).expect("the bytes fit"));
    check.secret("from DER", &bytes, |bytes| *bytes == key.bytes);

    let mut pem = vec![0; private_key_pem_length::<C>()];
    let length = check.trace("to PEM", || key.secret.to_sec1_pem(&mut pem).expect("fits").len());
    check.secret("to PEM", &pem[..length], |pem| PrivateKey::<C>::from_pem(pem).is_ok());
    let read = check.hold("from PEM", || PrivateKey::<C>::from_pem(&pem[..length]).expect("a key"));
    check.trace("bytes", || read.to_bytes(&mut bytes).expect("the bytes fit"));
    check.secret("from PEM", &bytes, |bytes| *bytes == key.bytes);

    let mut rng = check.rng();
    let generated =
        check.hold("generate", || PrivateKey::<C>::generate(&mut rng).expect("a sound generator"));
    check.trace("bytes", || generated.to_bytes(&mut bytes).expect("the bytes fit"));
    check.secret("generate", &bytes, |bytes| PrivateKey::<C>::from_bytes(bytes).is_ok());
}

fn sign<C: Curve>(check: &mut Check) {
    let key = Pair::<C>::new(check);
    for hash in [Hash::Sha256, Hash::Sha512, Hash::Sha3_256] {
        let mut signature = Vec::new();
        check.trace("sign", || signature = key.secret.sign(hash, MESSAGE).to_fixed().to_vec());
        let expected = key.plain.sign(hash, MESSAGE).to_fixed();
        check.public("sign", &signature, |signature| *signature == expected[..]);
    }
    let (digest, random) = (check.bytes(32), check.bytes(32));
    let [secret_digest, secret_random] = [&digest, &random].map(|bytes| marked(bytes));
    let mut signature = Vec::new();
    check.trace("hedged", || {
        let signed = key.secret.sign_hedged(Hash::Sha256, &secret_digest, &secret_random);
        signature = signed.to_fixed().to_vec();
    });
    let expected = key.plain.sign_hedged(Hash::Sha256, &digest, &random).to_fixed();
    check.public("hedged", &signature, |signature| *signature == expected[..]);
}

/// Signs and verifies each signature; the time of verification depends on the signature.
fn sign_verified<C: Curve>(check: &mut Check) {
    check.varies();
    let keys: Vec<Pair<C>> = (0..5).map(|_| Pair::new(check)).collect();
    let expected = |key: &Pair<C>| key.plain.sign(Hash::Sha256, MESSAGE).to_fixed();
    let mut signature = vec![0; 2 * C::BYTES];
    check.trace("sign and verify", || {
        let signed = keys[0].secret.verify_after_sign().sign(Hash::Sha256, MESSAGE);
        signature.copy_from_slice(&signed.expect("no fault").to_fixed());
    });
    check.public("sign and verify", &signature, |found| *found == expected(&keys[0])[..]);
    let mut signatures = vec![vec![0; 2 * C::BYTES]; keys.len()];
    let job = |key| Job::sign(key, Hash::Sha256, MESSAGE).verify_after_sign();
    let mut jobs: Vec<_> = keys.iter().map(|key| job(&key.secret)).collect();
    check.trace("sign and verify 5", || {
        ecdsa::run_batch(&mut jobs);
        for (job, signature) in jobs.iter().zip(&mut signatures) {
            signature.copy_from_slice(&job.signature().expect("no fault").to_fixed());
        }
    });
    for (key, signature) in keys.iter().zip(&signatures) {
        check.public("sign and verify 5", signature, |found| *found == expected(key)[..]);
    }
}

fn agree<C: Curve>(check: &mut Check) {
    let key = Pair::<C>::new(check);
    let peer = peer::<C>(check);
    let shared = check.hold("agree", || key.secret.agree(&peer));
    let expected = key.plain.agree(&peer);
    check.secret("agree", &shared, |shared| *shared == expected[..]);
}

#[allow(clippy::eq_op, reason = "a point minus itself is infinity, which must not be detectable")]
fn arithmetic<C: Curve>(check: &mut Check) {
    let [a, b] = [Pair::<C>::new(check), Pair::new(check)];
    let compute = |a: &PrivateKey<C>, b: &PrivateKey<C>, public: &PublicKey<C>| {
        let [k, l] = [Scalar::from(a), Scalar::from(b)];
        let [p, q] = [Point::generator_times(&k), Point::from(*public)];
        let inverse = (&(&k * &l) - &(&k + &l)).invert();
        // Infinity, 0, doubling within addition, and opposite points, all of them secret.
        let infinity = &p - &p;
        let zero = &k - &k;
        let twice = &p + &p;
        let terms = [(&inverse, &p), (&zero, &q), (&l, &infinity), (&k, &twice)];
        &Point::sum_of_products(&terms) + &(&(&l * &q) + &-&p)
    };
    let encoded = |point: Point<C>| point.to_public_key().expect("finite").to_uncompressed();
    let public = b.plain.public_key();
    let computed = check.hold("arithmetic", || encoded(compute(&a.secret, &b.secret, public)));
    let expected = encoded(compute(&a.plain, &b.plain, public));
    check.secret("arithmetic", &computed, |computed| *computed == expected[..]);
}

fn batches<C: Curve>(check: &mut Check) {
    let mut rng = check.rng();
    let mut generated = [const { None::<PrivateKey<C>> }; 8];
    check.trace("generate 8", || {
        PrivateKey::generate_each(&mut generated, &mut rng).expect("a sound generator");
    });
    let mut scalar = vec![0; C::BYTES];
    check.trace("bytes", || {
        let last = generated[7].as_ref().expect("it was generated");
        last.to_bytes(&mut scalar).expect("the bytes fit");
    });
    check.secret("generate 8", &scalar, |bytes| PrivateKey::<C>::from_bytes(bytes).is_ok());

    let keys: Vec<Pair<C>> = (0..8).map(|_| Pair::new(check)).collect();
    let peer = peer::<C>(check);
    for count in [8, 5] {
        let pairs = || keys[..count].iter();
        let mut signatures = vec![vec![0; 2 * C::BYTES]; count];
        let mut jobs: Vec<_> =
            pairs().map(|key| Job::sign(&key.secret, Hash::Sha256, MESSAGE)).collect();
        check.trace(format!("sign {count}"), || {
            ecdsa::run_batch(&mut jobs);
            for (job, signature) in jobs.iter().zip(&mut signatures) {
                let outcome = job.signature().expect("the job was run");
                signature.copy_from_slice(&outcome.to_fixed());
            }
        });
        for (key, signature) in pairs().zip(&signatures) {
            let expected = key.plain.sign(Hash::Sha256, MESSAGE).to_fixed();
            check.public("sign in a batch", signature, |signature| *signature == expected[..]);
        }
        let mut jobs: Vec<_> = pairs().map(|key| ecdh::Job::agree(&key.secret, &peer)).collect();
        let mut secrets = vec![vec![0; C::BYTES]; count];
        check.trace(format!("agree {count}"), || {
            ecdh::run_batch(&mut jobs);
            for (job, secret) in jobs.iter().zip(&mut secrets) {
                secret.copy_from_slice(&job.shared_secret().expect("the job was run"));
            }
        });
        for (key, secret) in pairs().zip(&secrets) {
            let expected = key.plain.agree(&peer);
            check.secret("agree in a batch", secret, |secret| *secret == expected[..]);
        }
    }
}
