//! graviola, compiled in.

mod ec;

use ::graviola::signing::rsa::{KeySize, SigningKey};
use cycloid_lab::versions;

use cycloid_lab::Failure;
use cycloid_lab::peers::rsa::{Candidate, Input, Task, modulus_in_der};
use cycloid_lab::peers::{Call, Library, ec as curves};
use cycloid_lab::record::Missing;

struct Graviola;

const NOTE_GENERATE: &str =
    "graviola's key generation is not side-channel safe, according to its documentation";

/// Returns graviola if the processor has all required features; otherwise graviola would panic.
pub(super) fn find() -> Result<Box<dyn Library>, Missing> {
    #[cfg(target_arch = "x86_64")]
    let lacking = {
        let has = [
            ("aes", is_x86_feature_detected!("aes")),
            ("pclmulqdq", is_x86_feature_detected!("pclmulqdq")),
            ("bmi1", is_x86_feature_detected!("bmi1")),
            ("bmi2", is_x86_feature_detected!("bmi2")),
            ("adx", is_x86_feature_detected!("adx")),
            ("avx", is_x86_feature_detected!("avx")),
            ("avx2", is_x86_feature_detected!("avx2")),
        ];
        has.into_iter().find(|(_, has)| !has).map(|(name, _)| name)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let lacking: Option<&str> = None;
    match lacking {
        None => Ok(Box::new(Graviola)),
        Some(feature) => Err(Missing {
            reason: format!("the processor lacks {feature}"),
            remedy: "use a processor that has it".into(),
        }),
    }
}

impl Library for Graviola {
    fn version(&self) -> String {
        versions::GRAVIOLA.into()
    }

    fn rsa(&self, task: Task, bits: usize) -> Vec<Candidate> {
        type Way = (&'static str, fn(&Input) -> Result<Call, Failure>);
        let (function, prepare): Way = match task {
            Task::Sign => ("SigningKey::sign_pkcs1_sha256", |input| {
                let (key, message) = (key(input)?, input.message);
                Ok(Box::new(move |_, signature| {
                    let signature = key.sign_pkcs1_sha256(signature, &message);
                    signature.map(<[u8]>::len).map_err(|_| "sign_pkcs1_sha256 failed")
                }))
            }),
            Task::SignPss => ("SigningKey::sign_pss_sha256", |input| {
                let (key, message) = (key(input)?, input.message);
                Ok(Box::new(move |_, signature| {
                    let signature = key.sign_pss_sha256(signature, &message);
                    signature.map(<[u8]>::len).map_err(|_| "sign_pss_sha256 failed")
                }))
            }),
            Task::Verify => ("VerifyingKey::verify_pkcs1_sha256", |input| {
                let (key, message) = (key(input)?.public_key(), input.message);
                Ok(Box::new(move |signature, _| {
                    let verified = key.verify_pkcs1_sha256(signature, &message);
                    verified.map(|()| 0).map_err(|_| "invalid signature")
                }))
            }),
            Task::Generate if size(bits).is_some() => ("SigningKey::generate", generator),
            _ => return Vec::new(),
        };
        let generates = task == Task::Generate;
        vec![Candidate {
            label: task.label(),
            function,
            constant_time: !generates,
            note: generates.then_some(NOTE_GENERATE),
            prepare: Box::new(prepare),
        }]
    }

    fn ec(&self, task: curves::Task, curve: curves::Curve) -> Vec<curves::Candidate> {
        ec::candidates(task, curve)
    }
}

fn key(input: &Input) -> Result<SigningKey, Failure> {
    SigningKey::from_pkcs1_der(&input.key.pkcs1).map_err(|error| {
        Failure::new(
            format!("graviola rejects the key: {error:?}"),
            "exclude it with --peers, or report this",
        )
    })
}

const fn size(bits: usize) -> Option<KeySize> {
    match bits {
        2048 => Some(KeySize::Rsa2048),
        3072 => Some(KeySize::Rsa3072),
        4096 => Some(KeySize::Rsa4096),
        6144 => Some(KeySize::Rsa6144),
        8192 => Some(KeySize::Rsa8192),
        _ => None,
    }
}

fn generator(input: &Input) -> Result<Call, Failure> {
    let (bits, message) = (input.key.bits, input.message);
    let mut made = None;
    Ok(Box::new(move |digest, output| {
        if digest.is_empty() {
            let size = size(bits).ok_or("unsupported key size")?;
            made = Some(SigningKey::generate(size).map_err(|_| "generate failed")?);
            return Ok(0);
        }
        let mut sign = || {
            let key = made.as_ref()?;
            let mut der = [0; 1100];
            let modulus = modulus_in_der(key.public_key().to_pkcs1_der(&mut der).ok()?)?.to_vec();
            let (first, second) = output.split_at_mut_checked(modulus.len())?;
            first.copy_from_slice(&modulus);
            Some(modulus.len() + key.sign_pkcs1_sha256(second, &message).ok()?.len())
        };
        sign().ok_or("signing with the generated key failed")
    }))
}
