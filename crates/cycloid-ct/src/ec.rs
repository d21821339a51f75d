//! The NIST curves: keys, ECDSA, ECDH and arithmetic, with everything secret but what leaves to the
//! other party. What is expected comes from the same operations on numbers that are not marked;
//! that those are right is shown elsewhere.

use cycloid::machine::lanes::{Backend, Portable};
use cycloid::scheme::Hash;
use cycloid::scheme::ec::arithmetic::{Point, Scalar};
use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::ecdh;
use cycloid::scheme::ecdsa::{SignJob, sign_batch_with};

use crate::check::{Check, secret};

const MESSAGE: &[u8] = b"what is signed is public";

/// Runs single operations on the best backend, which is called `backend`.
pub(crate) fn run(check: &mut Check, backend: &str) {
    single::<P224>(check, backend);
    single::<P256>(check, backend);
    single::<P384>(check, backend);
    single::<P521>(check, backend);
}

/// Runs batches on the portable lanes.
pub(crate) fn batches(check: &mut Check) {
    batch::<P224>(check);
    batch::<P256>(check);
    batch::<P384>(check);
    batch::<P521>(check);
}

/// The same key twice, with nothing marked and with its scalar secret.
struct Pair<C: Curve> {
    plain: PrivateKey<C>,
    secret: PrivateKey<C>,
}

impl<C: Curve> Pair<C> {
    fn new(check: &mut Check) -> Self {
        let limbs = check.limbs(C::BYTES.div_ceil(8));
        let mut bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.truncate(C::BYTES);
        // Below n.
        bytes[0] = 0;
        let read = |bytes: &[u8]| PrivateKey::from_bytes(bytes).expect("it is in range");
        Self { plain: read(&bytes), secret: read(&secret(&bytes)) }
    }
}

fn single<C: Curve>(check: &mut Check, backend: &str) {
    let name = |what: &str| format!("{what} on {}, {backend}", C::NAME);
    let [key, other] = [Pair::<C>::new(check), Pair::new(check)];
    let expected = key.plain.public_key().to_uncompressed();
    check.published(&name("public key"), &key.secret.public_key().to_uncompressed(), &expected);

    let peer = *other.plain.public_key();
    let expected = key.plain.agree(&peer);
    check.judged(&name("ECDH"), &key.secret.agree(&peer), |shared| *shared == expected[..]);

    let generated = PrivateKey::<C>::generate(check);
    let sent = published(check, &name("generated key"), &generated);
    let expected = other.plain.agree(&sent);
    let shared = generated.agree(&peer);
    check.judged(&name("ECDH by a generated key"), &shared, |shared| *shared == expected[..]);

    for hash in [Hash::Sha256, Hash::Sha512] {
        let expected = key.plain.sign(hash, MESSAGE).to_fixed();
        let signature = key.secret.sign(hash, MESSAGE);
        check.published(&name("signature"), &signature.to_fixed(), &expected);
        // A signature is public and may be compared, written and halved.
        let expected = key.plain.sign(hash, MESSAGE).normalize_s().to_der();
        check.published(&name("signature, low"), &signature.normalize_s().to_der(), &expected);
    }
    let random = [0xa5; 32];
    let expected = key.plain.sign_hedged(Hash::Sha256, &[7; 32], &random).to_fixed();
    let signature = key.secret.sign_hedged(Hash::Sha256, &secret(&[7; 32]), &secret(&random));
    check.published(&name("hedged signature"), &signature.to_fixed(), &expected);

    arithmetic(check, &key, &other, &name);
}

/// The public key of a key, declared public.
fn published<C: Curve>(check: &mut Check, name: &str, key: &PrivateKey<C>) -> PublicKey<C> {
    let bytes = secret(&key.public_key().to_uncompressed());
    let mut read = None;
    check.judged(name, &bytes, |bytes| {
        read = PublicKey::from_sec1(bytes).ok();
        read.is_some()
    });
    read.expect("a key has a public key")
}

#[allow(clippy::eq_op, reason = "a point less itself is infinity, of which nothing may show")]
fn arithmetic<C: Curve>(
    check: &mut Check,
    a: &Pair<C>,
    b: &Pair<C>,
    name: &impl Fn(&str) -> String,
) {
    let compute = |a: &PrivateKey<C>, b: &PrivateKey<C>| {
        let [k, l] = [Scalar::from(a), Scalar::from(b)];
        let [p, q] = [Point::generator_times(&k), Point::from(*b.public_key())];
        let inverse = (&(&k * &l) - &(&k + &l)).invert();
        // Infinity, 0, doubling within addition, and opposite points, all of them secret.
        let infinity = &p - &p;
        let zero = &k - &k;
        let twice = &p + &p;
        let terms = [(&inverse, &p), (&zero, &q), (&l, &infinity), (&k, &twice)];
        &Point::sum_of_products(&terms) + &(&(&l * &q) + &-&p)
    };
    let encoded = |point: Point<C>| point.to_public_key().expect("not infinity").to_uncompressed();
    let expected = encoded(compute(&a.plain, &b.plain));
    let computed = encoded(compute(&a.secret, &b.secret));
    check.judged(&name("arithmetic"), &computed, |computed| *computed == expected[..]);
}

fn batch<C: Curve>(check: &mut Check) {
    let lanes = Some(Backend::Portable(Portable));
    let keys: Vec<Pair<C>> = (0..9).map(|_| Pair::new(check)).collect();
    for count in [8, 5] {
        let name = |what: &str, i| format!("{what} {i} on {} in a batch of {count}", C::NAME);
        let pairs = || keys[..count].iter();
        let mut jobs: Vec<_> =
            pairs().map(|key| SignJob::new(&key.secret, Hash::Sha256, MESSAGE)).collect();
        sign_batch_with(lanes, &mut jobs);
        for (i, (key, job)) in pairs().zip(&jobs).enumerate() {
            let expected = key.plain.sign(Hash::Sha256, MESSAGE).to_fixed();
            let signature = job.outcome().expect("it was done").to_fixed();
            check.published(&name("signature", i), &signature, &expected);
        }
        let peer = *keys[8].plain.public_key();
        let mut jobs: Vec<_> = pairs().map(|key| ecdh::Job::new(&key.secret, &peer)).collect();
        ecdh::run_batch_with(lanes, &mut jobs);
        for (i, (key, job)) in pairs().zip(&jobs).enumerate() {
            let expected = key.plain.agree(&peer);
            let shared = job.outcome().expect("it was done");
            check.judged(&name("secret", i), &shared, |shared| *shared == expected[..]);
        }
    }
}
