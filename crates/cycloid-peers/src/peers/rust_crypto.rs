//! RustCrypto's crate `rsa`, compiled in only for measuring.

mod ec;

use ::rsa::pkcs1::DecodeRsaPrivateKey;
use ::rsa::traits::PublicKeyParts;
use ::rsa::{Oaep, Pkcs1v15Encrypt, Pkcs1v15Sign, Pss, RsaPrivateKey};
use chacha20::ChaCha20Rng;
use cycloid_lab::versions;
use rand_core::SeedableRng;
use sha2::Sha256;

use cycloid_lab::Failure;
use cycloid_lab::peers::rsa::{Candidate, Input, Task};
use cycloid_lab::peers::{Call, Library, ec as curves};

pub(super) struct RustCrypto;

const NOTE: &str = "RustCrypto's documentation does not call its private operation \
    constant-time; it inverts a new blinding factor in each operation";

impl Library for RustCrypto {
    fn version(&self) -> String {
        let [rsa, p224, p256, p384, p521] =
            [versions::RSA, versions::P224, versions::P256, versions::P384, versions::P521];
        format!("rsa {rsa}, p224 {p224}, p256 {p256}, p384 {p384}, p521 {p521}")
    }

    fn rsa(&self, task: Task, _bits: usize) -> Vec<Candidate> {
        type Way = (&'static str, &'static str, fn(&Input) -> Result<Call, Failure>);
        let ways: &[Way] = match task {
            Task::Sign => &[
                ("blinded", "RsaPrivateKey::sign_with_rng", |input| {
                    private(input, |key, rng, digest| {
                        key.sign_with_rng(rng, Pkcs1v15Sign::new::<Sha256>(), digest)
                    })
                }),
                ("not blinded", "RsaPrivateKey::sign", |input| {
                    private(input, |key, _, digest| key.sign(Pkcs1v15Sign::new::<Sha256>(), digest))
                }),
            ],
            Task::SignPss => &[
                ("blinded", "RsaPrivateKey::sign_with_rng", |input| {
                    private(input, |key, rng, digest| {
                        key.sign_with_rng(rng, Pss::<Sha256>::new(), digest)
                    })
                }),
                ("not blinded", "RsaPrivateKey::sign_with_rng", |input| {
                    private(input, |key, rng, digest| {
                        let padding = Pss { blinded: false, ..Pss::<Sha256>::new() };
                        key.sign_with_rng(rng, padding, digest)
                    })
                }),
            ],
            Task::Verify => &[(task.label(), "RsaPublicKey::verify", verifier)],
            Task::DecryptOaep => &[
                ("blinded", "RsaPrivateKey::decrypt_blinded", |input| {
                    private(input, |key, rng, text| {
                        key.decrypt_blinded(rng, Oaep::<Sha256>::new(), text)
                    })
                }),
                ("not blinded", "RsaPrivateKey::decrypt", |input| {
                    private(input, |key, _, text| key.decrypt(Oaep::<Sha256>::new(), text))
                }),
            ],
            Task::DecryptPkcs1v15 => &[
                ("blinded", "RsaPrivateKey::decrypt_blinded", |input| {
                    private(input, |key, rng, text| key.decrypt_blinded(rng, Pkcs1v15Encrypt, text))
                }),
                ("not blinded", "RsaPrivateKey::decrypt", |input| {
                    private(input, |key, _, text| key.decrypt(Pkcs1v15Encrypt, text))
                }),
            ],
            Task::Generate => &[(task.label(), "RsaPrivateKey::new", generator)],
        };
        let candidate = |(label, function, prepare): &Way| Candidate {
            label,
            function,
            // A verification uses no secret.
            constant_time: task == Task::Verify,
            note: (task != Task::Verify).then_some(NOTE),
            prepare: Box::new(*prepare),
        };
        ways.iter().map(candidate).collect()
    }

    fn ec(&self, task: curves::Task, curve: curves::Curve) -> Vec<curves::Candidate> {
        ec::candidates(task, curve)
    }
}

type Outcome = ::rsa::Result<Vec<u8>>;

fn key(input: &Input) -> Result<RsaPrivateKey, Failure> {
    RsaPrivateKey::from_pkcs1_der(&input.key.pkcs1).map_err(|error| {
        Failure::new(
            format!("RustCrypto rejects the key: {error}"),
            "exclude it with --peers, or report this",
        )
    })
}

/// Prepares a private operation, on a digest or a ciphertext.
fn private(
    input: &Input,
    operate: impl Fn(&RsaPrivateKey, &mut ChaCha20Rng, &[u8]) -> Outcome + 'static,
) -> Result<Call, Failure> {
    let (key, mut rng) = (key(input)?, ChaCha20Rng::seed_from_u64(1));
    Ok(Box::new(move |data, output| {
        let result = operate(&key, &mut rng, data).map_err(|_| "the operation failed")?;
        let room = output.get_mut(..result.len()).ok_or("the result is too long")?;
        room.copy_from_slice(&result);
        Ok(result.len())
    }))
}

fn verifier(input: &Input) -> Result<Call, Failure> {
    let (key, digest) = (key(input)?.to_public_key(), input.digest);
    Ok(Box::new(move |signature, _| {
        key.verify(Pkcs1v15Sign::new::<Sha256>(), &digest, signature)
            .map_err(|_| "invalid signature")?;
        Ok(0)
    }))
}

fn generator(input: &Input) -> Result<Call, Failure> {
    let (bits, mut rng) = (input.key.bits, ChaCha20Rng::seed_from_u64(2));
    let mut made = None;
    Ok(Box::new(move |digest, output| {
        if digest.is_empty() {
            made = Some(RsaPrivateKey::new(&mut rng, bits).map_err(|_| "generation failed")?);
            return Ok(0);
        }
        let mut sign = || {
            let key = made.as_ref()?;
            let modulus = key.n_bytes();
            let signature = key.sign(Pkcs1v15Sign::new::<Sha256>(), digest).ok()?;
            let both = [&modulus[..], &signature].concat();
            output.get_mut(..both.len())?.copy_from_slice(&both);
            Some(both.len())
        };
        sign().ok_or("signing with the generated key failed")
    }))
}
