//! RSA: generated and imported keys, and signatures by them, with everything secret but the
//! modulus, the public exponent and what is signed.

use cycloid::machine::ct;
use cycloid::machine::lanes::{self, Lanes};
use cycloid::machine::words::Backend;
use cycloid::prime;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Batch, Context, Job, PrivateComponents, PrivateKey};
use num_bigint::BigUint;

use crate::check::{Check, big, secret};

/// Lengths of the modulus: primes of whole limbs, and of a part.
const LENGTHS: [usize; 2] = [2048, 2080];
const EXPONENT: u32 = 65537;

const MESSAGE: &[u8] = b"what is signed is public";
const HASH: Hash = Hash::Sha256;

pub(crate) type Key = PrivateKey<Vec<u64>>;

/// Makes keys and signs on the best backend, which is this one.
pub(crate) fn run(check: &mut Check, backend: Backend) {
    for bits in LENGTHS {
        let of = format!("of {bits} bits, {}", backend.name());
        let generated = generated(check, bits);
        sign(check, &generated, &format!("by a generated key {of}"), rsa::context_limbs(bits));
        let imported = imported(check, bits);
        for limbs in [rsa::context_limbs(bits), rsa::context_limbs_minimum(bits)] {
            let name = format!("by an imported key {of}, with {limbs} limbs of memory");
            sign(check, &imported, &name, limbs);
        }
    }
}

fn generated(check: &mut Check, bits: usize) -> Key {
    let mut scratch = vec![Lanes::ZERO; rsa::generate_scratch(bits)];
    let memory = vec![0; rsa::private_key_limbs(bits)];
    PrivateKey::generate(bits, EXPONENT, memory, check, &mut scratch).expect("it has room")
}

/// A key from its parts.
pub(crate) fn imported(check: &mut Check, bits: usize) -> Key {
    let one = BigUint::from(1_u8);
    let exponent = BigUint::from(EXPONENT);
    let [p, q] = [prime(check, bits / 2), prime(check, bits / 2)];
    let d = exponent.modinv(&((&p - &one) * (&q - &one))).expect("the primes are usable");
    let bytes = |number: BigUint| number.to_bytes_be();
    let secret_bytes = |number: BigUint| secret(&number.to_bytes_be());
    let components = PrivateComponents {
        modulus: &bytes(&p * &q),
        public_exponent: &bytes(exponent),
        exponent1: &secret_bytes(&d % (&p - &one)),
        exponent2: &secret_bytes(&d % (&q - &one)),
        private_exponent: &secret_bytes(d),
        coefficient: &secret_bytes(q.modinv(&p).expect("the primes differ")),
        prime1: &secret_bytes(p),
        prime2: &secret_bytes(q),
    };
    let memory = vec![0; rsa::private_key_limbs(bits)];
    PrivateKey::new(&components, memory, &mut vec![0; 4 * bits.div_ceil(64) + 4])
        .expect("it is a key")
}

/// A prime for a key with that exponent, which is itself a prime.
fn prime(check: &mut Check, bits: usize) -> BigUint {
    let mut found = vec![0; bits.div_ceil(64)];
    let mut scratch = vec![Lanes::ZERO; prime::generate_scratch(found.len())];
    loop {
        prime::generate(&mut found, bits, |_| true, check, &mut scratch).expect("it has room");
        ct::mark_public(&found);
        let prime = big(&found);
        if &prime % EXPONENT != BigUint::from(1_u8) {
            return prime;
        }
    }
}

/// Signs eight at a time and fewer, with different keys, on the portable lanes, and in jobs that
/// are refused.
pub(crate) fn batches(check: &mut Check) {
    let bits = LENGTHS[0];
    let keys = [generated(check, bits), imported(check, bits)];
    let mut memory = vec![Lanes::ZERO; rsa::batch_lanes(bits, 8)];
    // All lanes, some of a half, and a job for which the batch makes no lanes.
    for count in [8, 3, 1] {
        let mut signatures = vec![vec![0; bits / 8]; count];
        let mut short = [0; 7];
        let backend = Some(lanes::Backend::Portable(lanes::Portable));
        let mut batch =
            Batch::with_backend(backend, bits, &mut *check, &mut memory).expect("it has room");
        let key = |i: usize| &keys[i % keys.len()];
        let mut jobs = vec![Job::sign_pss(key(0), HASH, MESSAGE, &mut short)];
        for (i, signature) in signatures.iter_mut().enumerate() {
            jobs.push(if i % 3 == 0 {
                Job::sign_pss(key(i), HASH, MESSAGE, signature)
            } else {
                Job::sign_pkcs1v15(key(i), HASH, MESSAGE, signature)
            });
        }
        batch.run(&mut jobs);
        let done: Vec<_> = jobs.iter().map(|job| job.outcome().is_ok()).collect();
        drop((jobs, batch));
        let mut scratch = vec![0; rsa::verify_scratch_limbs(bits)];
        for (i, signature) in signatures.iter().enumerate() {
            let name = format!("signature {i} in a batch of {count}");
            check.judged(&name, signature, |signature| {
                let public = key(i).public();
                let verified = if i % 3 == 0 {
                    public.verify_pss(HASH, MESSAGE, signature, &mut scratch)
                } else {
                    public.verify_pkcs1v15(HASH, MESSAGE, signature, &mut scratch)
                };
                verified.is_ok() && done[i + 1] && !done[0]
            });
        }
    }
}

/// Signs with a context of `limbs`, more than once, so that the blinding is used again.
fn sign(check: &mut Check, key: &Key, name: &str, limbs: usize) {
    let public = key.public();
    let mut pkcs1v15 = [vec![0; public.length()], vec![0; public.length()]];
    let mut pss = pkcs1v15.clone();
    let mut memory = vec![0; limbs];
    let mut context = Context::new(key, &mut *check, &mut memory).expect("it has room");
    for signature in &mut pkcs1v15 {
        context.sign_pkcs1v15(HASH, MESSAGE, signature).expect("no fault");
    }
    for signature in &mut pss {
        context.sign_pss(HASH, MESSAGE, signature).expect("no fault");
    }
    drop(context);

    let mut scratch = vec![0; rsa::verify_scratch_limbs(public.bits())];
    for signature in pkcs1v15 {
        check.judged(&format!("PKCS #1 v1.5 signature {name}"), &signature, |signature| {
            public.verify_pkcs1v15(HASH, MESSAGE, signature, &mut scratch).is_ok()
        });
    }
    for signature in pss {
        check.judged(&format!("PSS signature {name}"), &signature, |signature| {
            public.verify_pss(HASH, MESSAGE, signature, &mut scratch).is_ok()
        });
    }
}
