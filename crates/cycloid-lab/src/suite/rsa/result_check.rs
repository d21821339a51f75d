//! Checks the results of the subjects.

use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{PublicKey, public_key_limbs, verify_scratch_limbs};

use super::super::prepared::ResultCheck;
use crate::peers::Call;
use crate::peers::rsa::{Input, Key, Task};

/// Returns the check for the result of a task.
pub(super) fn of(task: Task, input: &Input) -> ResultCheck {
    let Input { key, digest, data, .. } = input.clone();
    match task {
        Task::Sign | Task::DecryptOaep | Task::DecryptPkcs1v15 => {
            Box::new(|_, result| result.iter().map(|byte| u64::from(*byte)).collect())
        }
        Task::SignPss => Box::new(move |_, signature| {
            let scratch = &mut vec![0; verify_scratch_limbs(key.bits)];
            let verified = public_key(&key.modulus).is_some_and(|key| {
                key.verify_pss_prehashed(Hash::Sha256, &digest, Some(32), signature, scratch)
                    .is_ok()
            });
            vec![u64::from(verified)]
        }),
        // The run itself fails if it rejects a valid signature.
        Task::Verify => Box::new(move |call, _| {
            let mut wrong = data.clone();
            wrong[data.len() / 2] ^= 0x10;
            vec![u64::from(call(&wrong, &mut []).is_err())]
        }),
        Task::Generate => {
            Box::new(move |call, _| vec![u64::from(signs(call, &key, &digest).is_some())])
        }
    }
}

/// Returns the check for the results of a batch, each as long as a modulus: the first result, if
/// all are correct, each for its own key.
pub(super) fn of_batch(task: Task, inputs: &[Input; 8]) -> ResultCheck {
    let inputs = inputs.clone();
    Box::new(move |call, results| {
        let length = inputs[0].key.length();
        let is_right = |(i, result): (usize, &[u8])| {
            let Input { key, digest, message, .. } = &inputs[i % 8];
            let scratch = &mut vec![0; verify_scratch_limbs(key.bits)];
            public_key(&key.modulus).is_some_and(|public| match task {
                Task::DecryptOaep | Task::DecryptPkcs1v15 => result.starts_with(message),
                Task::SignPss => public
                    .verify_pss_prehashed(Hash::Sha256, digest, Some(32), result, scratch)
                    .is_ok(),
                _ => {
                    public.verify_pkcs1v15_prehashed(Hash::Sha256, digest, result, scratch).is_ok()
                }
            })
        };
        if !results.chunks(length).enumerate().all(is_right) {
            return Vec::new();
        }
        let decrypted = matches!(task, Task::DecryptOaep | Task::DecryptPkcs1v15);
        let first = if decrypted { inputs[0].message.len() } else { length };
        of(task, &inputs[0])(call, &results[..first])
    })
}

/// Checks that a signature with the generated key is valid, and that the key has the right length.
fn signs(call: &mut Call, key: &Arc<Key>, digest: &[u8]) -> Option<()> {
    let mut both = vec![0; 2 * key.length()];
    let length = call(digest, &mut both).ok()?;
    let (modulus, signature) = both[..length].split_at_checked(key.length())?;
    let public = public_key(modulus)?;
    let scratch = &mut vec![0; verify_scratch_limbs(key.bits)];
    public.verify_pkcs1v15_prehashed(Hash::Sha256, digest, signature, scratch).ok()?;
    (public.bits() == key.bits).then_some(())
}

fn public_key(modulus: &[u8]) -> Option<PublicKey<Vec<u64>>> {
    let bits = modulus.len() * 8;
    let mut scratch = vec![0; verify_scratch_limbs(bits)];
    let memory = vec![0; public_key_limbs(bits)];
    PublicKey::new(modulus, &Key::public_exponent(), memory, &mut scratch).ok()
}
