//! The library's RSA operations as calls to measure.

use chacha20::ChaCha20Rng;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Batch, Context, Job, KeyPair, MAX_BITS, Oaep, PrivateComponents, PrivateKey, SignatureScheme,
    VerifyJob, batch_limbs, context_limbs, generate_scratch_limbs, minimum_context_limbs,
    private_key_limbs, verify_batch, verify_batch_scratch_limbs, verify_scratch_limbs,
};
use rand_core::SeedableRng;

use crate::peers::Call;
use crate::peers::bytes::to_bytes;
use crate::peers::rsa::{Input, Key, PUBLIC_EXPONENT, Task};

/// Converts a key to the library's type.
///
/// # Panics
/// If the library rejects it, which would be a defect in one of the two.
pub(crate) fn private_key(key: &Key) -> PrivateKey<Vec<u64>> {
    let memory = vec![0; private_key_limbs(key.bits)];
    let mut scratch = vec![0; context_limbs(key.bits)];
    let read =
        |components: &PrivateComponents<'_>| PrivateKey::new(components, memory, &mut scratch);
    with_components(key, read).expect("the key is valid")
}

fn with_components<T>(key: &Key, read: impl FnOnce(&PrivateComponents<'_>) -> T) -> T {
    let ([prime1, prime2], [exponent1, exponent2]) = (&key.primes, &key.exponents);
    read(&PrivateComponents {
        modulus: &key.modulus,
        public_exponent: &Key::public_exponent(),
        private_exponent: &key.private_exponent,
        prime1,
        prime2,
        exponent1,
        exponent2,
        coefficient: &key.coefficient,
        other_primes: &[],
    })
}

/// The memory limit of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// As much as it can use.
    Full,
    /// At most this many bytes.
    Bytes(usize),
    /// The least that works.
    Least,
}

impl Budget {
    /// Returns the limbs of a context for a key of `bits` bits; `None` if the budget is too small,
    /// or not smaller than what it can use.
    pub(super) fn limbs(self, bits: usize) -> Option<usize> {
        let (least, most) = (minimum_context_limbs(bits), context_limbs(bits));
        match self {
            Self::Full => Some(most),
            Self::Bytes(bytes) => {
                Some(bytes / size_of::<u64>()).filter(|limbs| (least..most).contains(limbs))
            }
            Self::Least => Some(least),
        }
    }
}

/// Returns the name of the function for a task.
pub(super) const fn function(task: Task) -> &'static str {
    match task {
        Task::Sign => "Context::sign_pkcs1v15_prehashed",
        Task::SignPss => "Context::sign_pss_prehashed",
        Task::Verify => "PublicKey::verify_pkcs1v15_prehashed",
        Task::DecryptOaep => "Context::decrypt_oaep",
        Task::DecryptPkcs1v15 => "Context::decrypt_pkcs1v15",
        Task::Generate => "PrivateKey::generate",
    }
}

type OurContext<'a> = Context<'a, Vec<u64>, ChaCha20Rng>;

fn random() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(3)
}

/// Prepares a private operation in a context of that many limbs that has been used before.
pub(super) fn private(task: Task, input: &Input, limbs: usize) -> Call {
    // A context borrows key and memory, but a call owns its data: these few kilobytes are leaked
    // until the program ends.
    let key = Box::leak(Box::new(private_key(&input.key)));
    let memory = vec![0; limbs].leak();
    let mut context = Context::new(key, random(), memory).expect("the memory suffices");
    Box::new(move |data, output| operate(&mut context, task, data, output))
}

/// Prepares signing with a key that owns its memory and has been used before, and returns the name
/// of the function; `None` for other tasks.
pub(super) fn owned(task: Task, input: &Input) -> Option<(&'static str, Call)> {
    let scheme = match task {
        Task::Sign => SignatureScheme::Pkcs1v15(Hash::Sha256),
        Task::SignPss => SignatureScheme::pss(Hash::Sha256),
        _ => return None,
    };
    let key = with_components(&input.key, KeyPair::from_components).expect("the key is valid");
    let mut rng = random();
    let call = move |digest: &[u8], output: &mut [u8]| {
        let signature = key.sign_prehashed(scheme, digest, &mut rng);
        let signature = signature.map_err(|_| "the operation failed")?;
        output[..signature.len()].copy_from_slice(&signature);
        Ok(signature.len())
    };
    Some(("KeyPair::sign_prehashed", Box::new(call)))
}

/// Prepares the same in a new context for each call.
pub(super) fn private_first(task: Task, input: &Input) -> Call {
    let key = private_key(&input.key);
    let mut memory = vec![0; context_limbs(input.key.bits)];
    Box::new(move |data, output| {
        let mut context =
            Context::new(&key, random(), &mut memory).map_err(|_| "creating the context failed")?;
        operate(&mut context, task, data, output)
    })
}

fn operate(
    context: &mut OurContext<'_>,
    task: Task,
    data: &[u8],
    output: &mut [u8],
) -> Result<usize, &'static str> {
    let length = context.key().public().length();
    let signature = &mut output[..length];
    let done = match task {
        Task::Sign => {
            context.sign_pkcs1v15_prehashed(Hash::Sha256, data, signature).map(|()| length)
        }
        Task::SignPss => {
            context.sign_pss_prehashed(Hash::Sha256, data, 32, signature).map(|()| length)
        }
        Task::DecryptOaep => context.decrypt_oaep(&Oaep::new(Hash::Sha256), data, output),
        Task::DecryptPkcs1v15 => context.decrypt_pkcs1v15(data, output),
        Task::Verify | Task::Generate => return Err("not a private operation"),
    };
    done.map_err(|_| "the operation failed")
}

/// Returns the number of elements for a batch of `jobs` jobs that keeps the blinding of each.
pub(super) fn batch_scratch_limbs(bits: usize, jobs: usize) -> usize {
    batch_limbs(bits, jobs)
}

/// Prepares private operations of `JOBS` jobs in one call, with these keys in turn; the results are
/// written one after the other, each as long as a modulus.
pub(super) fn batch<const JOBS: usize>(task: Task, inputs: &[Input; 8]) -> Call {
    let bits = inputs[0].key.bits;
    let keys = inputs.each_ref().map(|input| private_key(&input.key));
    let data = inputs.each_ref().map(|input| input.data.clone());
    // Leaked, as for a context.
    let memory = vec![0; batch_scratch_limbs(bits, JOBS)].leak();
    let mut batch = Batch::new(bits, random(), memory).expect("the memory suffices");
    Box::new(move |_, output| {
        let mut outputs = output.chunks_exact_mut(bits / 8);
        let mut jobs: [Job<'_>; JOBS] = std::array::from_fn(|i| {
            let (key, data) = (&keys[i % 8], &data[i % 8][..]);
            let output = outputs.next().expect("there is one per job");
            match task {
                Task::SignPss => Job::sign_pss_prehashed(key, Hash::Sha256, data, 32, output),
                Task::DecryptOaep => Job::decrypt_oaep(key, Oaep::new(Hash::Sha256), data, output),
                Task::DecryptPkcs1v15 => Job::decrypt_pkcs1v15(key, data, output),
                _ => Job::sign_pkcs1v15_prehashed(key, Hash::Sha256, data, output),
            }
        });
        batch.run(&mut jobs);
        let done = jobs.iter().all(|job| job.outcome().is_ok());
        if done { Ok(JOBS * bits / 8) } else { Err("a job failed") }
    })
}

pub(super) fn verifier(input: &Input) -> Call {
    let key = private_key(&input.key);
    let mut scratch = vec![0; verify_scratch_limbs(input.key.bits)];
    let digest = input.digest;
    Box::new(move |signature, _| {
        key.public()
            .verify_pkcs1v15_prehashed(Hash::Sha256, &digest, signature, &mut scratch)
            .map_err(|_| "invalid signature")?;
        Ok(0)
    })
}

/// Prepares eight verifications in one call, each with its own key; the call's input belongs to the
/// first.
pub(super) fn eight_verifiers(inputs: &[Input; 8]) -> Call {
    let keys = inputs.each_ref().map(|input| private_key(&input.key));
    let inputs = inputs.clone();
    let mut scratch = vec![0; verify_batch_scratch_limbs(inputs[0].key.bits)];
    Box::new(move |signature, _| {
        let publics = keys.each_ref().map(PrivateKey::public);
        let mut verifications: [VerifyJob<'_>; 8] = std::array::from_fn(|i| {
            let signature = if i == 0 { signature } else { &inputs[i].data };
            let digest = &inputs[i].digest;
            VerifyJob::pkcs1v15_prehashed(&publics[i], Hash::Sha256, digest, signature)
        });
        verify_batch(&mut verifications, &mut scratch);
        let valid = verifications.iter().all(|verification| verification.outcome().is_ok());
        if valid { Ok(0) } else { Err("invalid signature in a batch") }
    })
}

pub(super) fn generator(input: &Input) -> Call {
    let (bits, mut rng) = (input.key.bits, random());
    let mut scratch = vec![0; generate_scratch_limbs(bits)];
    let mut made = None;
    Box::new(move |digest, output| {
        if digest.is_empty() {
            let memory = [0; private_key_limbs(MAX_BITS)];
            let key = PrivateKey::generate(bits, PUBLIC_EXPONENT, memory, &mut rng, &mut scratch);
            made = Some(key.map_err(|_| "key generation failed")?);
            return Ok(0);
        }
        let mut sign = || {
            let key = made.as_ref()?;
            let modulus = to_bytes(key.public().modulus_limbs());
            let mut memory = vec![0; context_limbs(bits)];
            let mut context = Context::new(key, random(), &mut memory).ok()?;
            let (first, second) = output.split_at_mut_checked(modulus.len())?;
            first.copy_from_slice(&modulus);
            let signature = second.get_mut(..modulus.len())?;
            context.sign_pkcs1v15_prehashed(Hash::Sha256, digest, signature).ok()?;
            Some(2 * modulus.len())
        };
        sign().ok_or("signing with the generated key failed")
    })
}
