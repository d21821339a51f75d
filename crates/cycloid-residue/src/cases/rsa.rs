//! RSA: keys in memory of several kinds, signatures, decryption and batches.

use cycloid::scheme::rsa::{self, Batch, Context, Job, KeyPair, Oaep, PrivateKey, SignatureScheme};
use cycloid::scheme::{Hash, stack_use};
use num_bigint::BigUint;

use super::case::{Case, Prepared, case};
use super::random::Random;
use crate::live_values::limbs;
use crate::protocol::Input;

const BITS: usize = 2048;
const PEM: &str = include_str!("../../../cycloid/tests/data/rsa/2048.pem");
const MESSAGE: &[u8] = b"the message is public";
const LIMBS: usize = rsa::private_key_limbs(BITS);
const SCRATCH: usize = rsa::pem_scratch_limbs(BITS);

type Key = PrivateKey<&'static mut [u64]>;

pub(super) fn add(cases: &mut Vec<Case>) {
    // The case's own frames hold the key's memory and the scratch.
    let read = stack_use::RSA_KEY + 8 * (LIMBS + SCRATCH);
    cases.push(case("RSA from_pem, into a borrowed array", read, key, text, |pem| {
        let mut memory = [0; LIMBS];
        let key =
            PrivateKey::from_pem(pem, &mut memory, &mut [0; SCRATCH]).expect("the key is valid");
        std::hint::black_box(key.public().modulus_limbs());
    }));
    cases.push(case("RSA from_pem, into a Vec", read, key, text, |pem| {
        let memory = vec![0; LIMBS];
        let key = PrivateKey::from_pem(pem, memory, &mut [0; SCRATCH]).expect("the key is valid");
        std::hint::black_box(key.public().modulus_limbs());
    }));
    cases.push(case(
        "RSA to_pkcs8_pem and to_pkcs1_der",
        stack_use::RSA_KEY,
        key,
        |input| (loaded(input), [0; rsa::private_key_pem_length(BITS)]),
        |(key, output)| {
            key.to_pkcs8_pem(output).expect("the buffer suffices");
            key.to_pkcs1_der(output).expect("the buffer suffices");
        },
    ));
    cases.push(case(
        "RSA check_primes",
        stack_use::RSA_PRIVATE,
        key,
        |input| (loaded(input), Random::new()),
        |(key, random)| {
            let mut scratch = vec![0; rsa::check_primes_scratch_limbs(BITS)];
            key.check_primes(2, random, &mut scratch).expect("both numbers are prime");
        },
    ));
    cases.push(case(
        "RSA sign",
        stack_use::RSA_PRIVATE + 8 * rsa::context_limbs(BITS),
        key,
        |input| (loaded(input), Random::new()),
        |(key, random)| {
            let mut memory = [0; rsa::context_limbs(BITS)];
            let mut context = Context::new(key, random, &mut memory).expect("the buffer suffices");
            let mut signature = [0; BITS / 8];
            context.sign_pss(Hash::Sha256, MESSAGE, &mut signature).expect("no fault");
            context.sign_pkcs1v15(Hash::Sha256, MESSAGE, &mut signature).expect("no fault");
        },
    ));
    cases.push(case(
        "RSA encrypt and decrypt",
        stack_use::RSA_PRIVATE + 8 * rsa::context_limbs(BITS),
        |random| {
            let mut prepared = key(random);
            let message = random.bytes(48);
            prepared.needles.bytes("message", &message);
            prepared.input.push(message);
            prepared
        },
        |input| {
            let [_, message] = input.parts();
            (loaded(input), Random::new(), message, [0; BITS / 8])
        },
        |(key, random, message, opened)| {
            let (mut ciphertext, mut pkcs1v15) = ([0; BITS / 8], [0; BITS / 8]);
            let oaep = Oaep::new(Hash::Sha256);
            let mut scratch = [0; rsa::encrypt_scratch_limbs(BITS)];
            let public = key.public();
            let room = &mut scratch;
            public
                .encrypt_oaep(&oaep, message, random, &mut ciphertext, room)
                .expect("the message is short");
            public
                .encrypt_pkcs1v15(message, random, &mut pkcs1v15, room)
                .expect("the message is short");
            let mut memory = [0; rsa::context_limbs(BITS)];
            let mut context = Context::new(key, random, &mut memory).expect("the buffer suffices");
            let length =
                context.decrypt_oaep(&oaep, &ciphertext, opened).expect("the ciphertext is valid");
            assert_eq!(length, message.len());
            context.decrypt_pkcs1v15(&pkcs1v15, opened).expect("the ciphertext is valid");
        },
    ));
    // Verification by an owned key has its scratch on the stack.
    cases.push(case(
        "RSA key pair: read, sign, decrypt and write",
        stack_use::RSA_PRIVATE + 8 * rsa::verify_scratch_limbs(rsa::MAX_BITS),
        key,
        |input| (text(input), Random::new()),
        |(pem, random)| {
            let key = KeyPair::from_pem(*pem).expect("the key is valid");
            let scheme = SignatureScheme::pss(Hash::Sha256);
            let signature = key.sign(scheme, MESSAGE, random).expect("no fault");
            let public = key.public_key();
            public.verify(scheme, MESSAGE, &signature).expect("the signature is valid");
            let oaep = Oaep::new(Hash::Sha256);
            let sent = public.encrypt_oaep(&oaep, MESSAGE, random).expect("the message is short");
            let opened = key.decrypt_oaep(&oaep, &sent, random).expect("no fault");
            assert_eq!(&**opened, MESSAGE);
            std::hint::black_box((key.to_pkcs8_der(), key.to_pkcs8_pem()));
        },
    ));
    cases.push(case(
        "RSA batch of eight",
        stack_use::RSA_BATCH + 8 * (BITS / 8 + size_of::<Job<'_>>()),
        key,
        |input| (loaded(input), Random::new()),
        |(key, random)| {
            let mut memory = vec![0; rsa::batch_limbs(BITS, 8)];
            let mut batch = Batch::new(BITS, random, &mut memory).expect("the buffer suffices");
            let mut signatures = [[0; BITS / 8]; 8];
            let mut jobs = signatures
                .each_mut()
                .map(|place| Job::sign_pkcs1v15(key, Hash::Sha256, MESSAGE, place));
            batch.run(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
    cases.push(case(
        "RSA generate",
        stack_use::RSA_GENERATE,
        |_| {
            let mut memory = vec![0; LIMBS];
            let key = generated(&mut memory);
            let mut prepared = Prepared::default();
            parts(&key, &mut prepared);
            prepared
        },
        |_| vec![0; LIMBS],
        |memory| drop(generated(memory)),
    ));
}

fn generated(memory: &mut [u64]) -> PrivateKey<&mut [u64]> {
    let mut scratch = vec![0; rsa::generate_scratch_limbs(BITS)];
    let random = &mut Random::new();
    PrivateKey::generate(BITS, 65537, memory, random, &mut scratch).expect("the buffer suffices")
}

fn text(input: Input) -> &'static [u8] {
    input.parts::<1>()[0]
}

fn loaded(input: Input) -> Key {
    let pem = input.parts::<1>()[0];
    let memory = limbs(LIMBS, 0);
    PrivateKey::from_pem(pem, memory, &mut [0; SCRATCH]).expect("the key is valid")
}

/// Prepares the key, and all secrets in it.
fn key(_: &mut Random) -> Prepared {
    let mut prepared = Prepared { input: vec![PEM.into()], ..Prepared::default() };
    let key =
        PrivateKey::from_pem(PEM, vec![0; LIMBS], &mut [0; SCRATCH]).expect("the key is valid");
    parts(&key, &mut prepared);
    prepared
}

fn parts<M: AsRef<[u64]> + AsMut<[u64]>>(key: &PrivateKey<M>, prepared: &mut Prepared) {
    let mut der = vec![0; rsa::private_key_der_length(BITS)];
    let der = key.to_pkcs1_der(&mut der).expect("the buffer suffices");
    let [_, n, _, d, p, q, d_p, d_q, q_inverse] = integers(der);
    assert_eq!(&p * &q, n, "the model of the key is wrong");
    let needles = &mut prepared.needles;
    needles.number("d", &d);
    needles.prime("p", &p);
    needles.prime("q", &q);
    needles.number("d mod p − 1", &d_p);
    needles.number("d mod q − 1", &d_q);
    needles.residue("1/q mod p", &q_inverse, &p);
}

/// Returns the nine numbers of an RSAPrivateKey.
fn integers(der: &[u8]) -> [BigUint; 9] {
    let (mut rest, _) = element(der);
    std::array::from_fn(|_| {
        let (contents, after) = element(rest);
        rest = after;
        BigUint::from_bytes_be(contents)
    })
}

/// Returns the content of a DER element, and the bytes after it.
fn element(der: &[u8]) -> (&[u8], &[u8]) {
    let (length, start) = match der[1] {
        short @ 0..0x80 => (usize::from(short), 2),
        long => {
            let bytes = usize::from(long & 0x7f);
            let length =
                der[2..2 + bytes].iter().fold(0, |all, byte| all << 8 | usize::from(*byte));
            (length, 2 + bytes)
        }
    };
    der[start..].split_at(length)
}
