//! RSA: generated and imported keys, their files, and signatures. Everything is secret except the
//! modulus, the public exponent and the signed message.

use cycloid::prime;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    self, Batch, Context, Job, KeyPair, PrivateComponents, PrivateKey, Pss, SignatureScheme,
    der_scratch_limbs, pem_scratch_limbs, private_key_der_length, private_key_pem_length,
};
use num_bigint::BigUint;

use crate::check::{Check, Held, Secrets, big, marked};
use crate::child_process::in_child_process;

const BITS: usize = 2048;
const EXPONENT: u32 = 65537;
const MESSAGE: &[u8] = b"the message is public";
const HASH: Hash = Hash::Sha256;

pub(crate) type Key = PrivateKey<Vec<u64>>;

/// The bytes of a whole number and of half a number.
const WHOLE: usize = BITS / 8;
const HALF: usize = BITS / 16;

/// Builds a key from its parts, which are secret.
pub(crate) fn imported(check: &mut Check) -> Held<Key> {
    let mut rng = check.rng();
    let parts = in_child_process(2 * WHOLE + 5 * HALF, || parts(&mut rng));
    let (modulus, parts) = parts.split_at(WHOLE);
    let secret = marked(parts);
    let (private_exponent, halves) = secret.split_at(WHOLE);
    let half = |i: usize| &halves[i * HALF..][..HALF];
    let public_exponent = EXPONENT.to_be_bytes();
    let memory = vec![0; rsa::private_key_limbs(BITS)];
    let mut scratch = vec![0; rsa::private_key_scratch_limbs(BITS)];
    // The modulus is public, and its fingerprint takes a time of its own.
    let import = || {
        let components = PrivateComponents {
            modulus,
            public_exponent: &public_exponent,
            private_exponent,
            prime1: half(0),
            prime2: half(1),
            exponent1: half(2),
            exponent2: half(3),
            coefficient: half(4),
            other_primes: &[],
        };
        PrivateKey::new(&components, memory, &mut scratch).expect("the key is valid")
    };
    check.varying(|check| check.hold("import", import))
}

/// Recovers the primes from the private exponent, and everything else from the primes.
pub(crate) fn completed(check: &mut Check) {
    let mut rng = check.rng();
    let parts = in_child_process(2 * WHOLE + 5 * HALF, || parts(&mut rng));
    let (modulus, parts) = parts.split_at(WHOLE);
    let secret = marked(parts);
    let (private_exponent, halves) = secret.split_at(WHOLE);
    let public_exponent = EXPONENT.to_be_bytes();
    let without_primes = PrivateComponents {
        modulus,
        public_exponent: &public_exponent,
        private_exponent,
        ..PrivateComponents::default()
    };
    let only_primes = PrivateComponents {
        modulus,
        public_exponent: &public_exponent,
        prime1: &halves[..HALF],
        prime2: &halves[HALF..2 * HALF],
        ..PrivateComponents::default()
    };
    for (name, components) in [("without primes", without_primes), ("only primes", only_primes)] {
        let memory = vec![0; rsa::private_key_limbs(BITS)];
        let mut scratch = vec![0; rsa::any_private_key_scratch_limbs(BITS)];
        check.varying(|check| {
            check.hold(name, || {
                PrivateKey::new(&components, memory, &mut scratch).expect("the key is valid")
            })
        });
    }
}

/// Returns n, d, p, q, d mod p − 1, d mod q − 1 and 1/q mod p, each in its full length.
fn parts(rng: &mut Secrets) -> Vec<u8> {
    let one = BigUint::from(1_u8);
    let [p, q] = [prime(rng), prime(rng)];
    let n = &p * &q;
    let order = (&p - &one) * (&q - &one);
    let d = BigUint::from(EXPONENT).modinv(&order).expect("the primes are usable");
    let coefficient = q.modinv(&p).expect("the primes differ");
    let (d_p, d_q) = (&d % (&p - &one), &d % (&q - &one));
    let padded = |number: BigUint, length: usize| {
        let bytes = number.to_bytes_be();
        [vec![0; length - bytes.len()], bytes].concat()
    };
    let halves = [p, q, d_p, d_q, coefficient].map(|number| padded(number, HALF));
    [padded(n, WHOLE), padded(d, WHOLE), halves.concat()].concat()
}

/// Generates a prime for a key with that exponent, which is itself prime.
fn prime(rng: &mut Secrets) -> BigUint {
    let bits = BITS / 2;
    let mut found = vec![0; bits.div_ceil(64)];
    let mut scratch = vec![0; prime::generate_scratch_limbs(found.len())];
    loop {
        prime::generate(&mut found, bits, |_| true, rng, &mut scratch)
            .expect("the buffers suffice");
        let prime = big(&found);
        if &prime % EXPONENT != BigUint::from(1_u8) {
            return prime;
        }
    }
}

pub(crate) fn generate(check: &mut Check) {
    let mut scratch = vec![0; rsa::generate_scratch_limbs(BITS)];
    let memory = vec![0; rsa::private_key_limbs(BITS)];
    let mut rng = check.rng();
    check.varies();
    let key = check.hold("generate", || {
        PrivateKey::generate(BITS, EXPONENT, memory, &mut rng, &mut scratch)
            .expect("the buffers suffice")
    });
    let modulus = key.public().modulus_limbs().to_vec();
    check.judge("generate", big(&modulus).bits() as usize == BITS);
}

pub(crate) fn import(check: &mut Check) {
    // The lengths of the numbers in a file are public.
    check.varies();
    let key = imported(check);
    let modulus = key.public().modulus_limbs().to_vec();
    let memory = || vec![0; rsa::private_key_limbs(BITS)];

    let mut der = vec![0; private_key_der_length(BITS)];
    let length =
        check.trace("to DER", || key.to_pkcs8_der(&mut der).expect("the output fits").len());
    let mut scratch = vec![0; der_scratch_limbs(BITS)];
    let read = check.hold("from DER", || {
        PrivateKey::from_der(&der[..length], memory(), &mut scratch).expect("a key")
    });
    check.judge("from DER", read.public().modulus_limbs() == modulus);

    let mut pem = vec![0; private_key_pem_length(BITS)];
    let length =
        check.trace("to PEM", || key.to_pkcs1_pem(&mut pem).expect("the output fits").len());
    let mut scratch = vec![0; pem_scratch_limbs(BITS)];
    let read = check.hold("from PEM", || {
        PrivateKey::from_pem(&pem[..length], memory(), &mut scratch).expect("a key")
    });
    check.judge("from PEM", read.public().modulus_limbs() == modulus);

    let mut scratch = vec![0; rsa::check_primes_scratch_limbs(BITS)];
    let mut rng = check.rng();
    check.trace("check of the primes", || {
        key.check_primes(1, &mut rng, &mut scratch).expect("both numbers are prime");
    });
}

pub(crate) fn sign(check: &mut Check) {
    signatures(check, rsa::context_limbs(BITS));
}

pub(crate) fn sign_least(check: &mut Check) {
    signatures(check, rsa::minimum_context_limbs(BITS));
}

/// Signs twice with a context of `limbs`, so that the blinding is reused.
fn signatures(check: &mut Check, limbs: usize) {
    let key = imported(check);
    let mut signatures = vec![vec![0; BITS / 8]; 2];
    let mut memory = vec![0; limbs];
    let mut rng = check.rng();
    check.trace("sign", || {
        let mut context = Context::new(&key, &mut rng, &mut memory).expect("the buffers suffice");
        context.sign_pkcs1v15(HASH, MESSAGE, &mut signatures[0]).expect("no fault");
        context.sign_pss(HASH, MESSAGE, &mut signatures[1]).expect("no fault");
    });
    let mut scratch = vec![0; rsa::verify_scratch_limbs(BITS)];
    let public = key.public();
    for (signature, pss) in signatures.iter().zip([false, true]) {
        check.secret("sign", signature, |signature| {
            let verified = if pss {
                public.verify_pss(HASH, MESSAGE, signature, &mut scratch)
            } else {
                public.verify_pkcs1v15(HASH, MESSAGE, signature, &mut scratch)
            };
            verified.is_ok()
        });
    }
}

/// Reads a key into memory of its own, and signs twice, so that its context is used again.
pub(crate) fn owned(check: &mut Check) {
    let key = imported(check);
    let mut der = vec![0; private_key_der_length(BITS)];
    // The lengths of the numbers in a file are public.
    let key = check.varying(|check| {
        let length =
            check.trace("to DER", || key.to_pkcs8_der(&mut der).expect("the output fits").len());
        check.hold("from DER", || KeyPair::from_der(&der[..length]).expect("a key"))
    });
    let mut rng = check.rng();
    for scheme in [SignatureScheme::Pkcs1v15(HASH), SignatureScheme::pss(HASH)] {
        let signature =
            check.hold("sign", || key.sign(scheme, MESSAGE, &mut rng).expect("no fault"));
        check.secret("sign", &signature, |signature| {
            key.public_key().verify(scheme, MESSAGE, signature).is_ok()
        });
    }
}

/// Signs eight jobs in parallel and three more, with different keys, including a job that fails.
pub(crate) fn batch(check: &mut Check) {
    // A random number that is not less than the modulus is drawn again.
    check.varies();
    let keys = [imported(check), imported(check)];
    let mut memory = vec![0; rsa::batch_limbs(BITS, 8)];
    for count in [8, 3] {
        let mut signatures = vec![vec![0; BITS / 8]; count];
        let mut short = [0; 7];
        let mut rng = check.rng();
        let mut batch = Batch::new(BITS, &mut rng, &mut memory).expect("the buffers suffice");
        let key = |i: usize| -> &Key { &keys[i % keys.len()] };
        let mut jobs = vec![Job::sign_pss(key(0), HASH, MESSAGE, &mut short)];
        for (i, signature) in signatures.iter_mut().enumerate() {
            jobs.push(Job::sign_pkcs1v15(key(i), HASH, MESSAGE, signature));
        }
        check.trace(format!("sign {count}"), || batch.run(&mut jobs));
        let done: Vec<_> = jobs.iter().map(|job| job.outcome().is_ok()).collect();
        drop((jobs, batch));
        let mut scratch = vec![0; rsa::verify_scratch_limbs(BITS)];
        for (i, signature) in signatures.iter().enumerate() {
            check.secret("sign in a batch", signature, |signature| {
                let public = key(i).public();
                let verified = public.verify_pkcs1v15(HASH, MESSAGE, signature, &mut scratch);
                verified.is_ok() && done[i + 1] && !done[0]
            });
        }
    }
}

/// Generates a legacy key, and uses it in a batch: a signature with SHA-1 and raw operations.
pub(crate) fn legacy(check: &mut Check) {
    const SHORT: usize = 1024;
    // A random number that is not less than the modulus is drawn again.
    check.varies();
    let mut scratch = vec![0; rsa::generate_scratch_limbs(SHORT)];
    let memory = vec![0; rsa::private_key_limbs(SHORT)];
    let mut rng = check.rng();
    let key = check.hold("generate", || {
        PrivateKey::generate_legacy(SHORT, EXPONENT, memory, &mut rng, &mut scratch)
            .expect("the buffers suffice")
    });
    // Any digest will do.
    let (pss, digest) = (Pss::new(Hash::Sha1), [0x3c; 20]);
    let number = [0x5a; SHORT / 8 - 1];
    let number = [&[0], &number[..]].concat();
    let mut results = vec![vec![0; SHORT / 8]; 8];
    let mut memory = vec![0; rsa::batch_limbs(SHORT, 8)];
    let mut rng = check.rng();
    let mut batch = Batch::new(SHORT, &mut rng, &mut memory).expect("the buffers suffice");
    let mut jobs = Vec::new();
    for (i, result) in results.iter_mut().enumerate() {
        jobs.push(match i {
            0 => Job::sign_pss_legacy(&key, pss, &digest, result),
            _ => Job::raw_private_operation(&key, &number, result),
        });
    }
    check.trace("operate", || batch.run(&mut jobs));
    let done = jobs.iter().all(|job| job.outcome().is_ok());
    drop((jobs, batch));
    let public = key.public();
    let mut scratch = vec![0; rsa::verify_scratch_limbs(SHORT)];
    for (i, result) in results.iter().enumerate() {
        check.secret("operate in a batch", result, |result| {
            let mut opened = [0; SHORT / 8];
            let right = match i {
                0 => public.verify_pss_with(pss, &digest, result, &mut scratch).is_ok(),
                _ => {
                    let opening = public.raw_public_operation(result, &mut opened, &mut scratch);
                    opening.is_ok() && opened[..] == number
                }
            };
            right && done
        });
    }
}
