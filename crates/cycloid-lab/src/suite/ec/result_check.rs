//! Checks the results of the subjects.

use std::sync::Arc;

use super::super::prepared::ResultCheck;
use super::ours;
use crate::peers::ec::{Curve, Encoding, Input, Task};

/// Returns the buffer size for any output: a signature in DER, or a public key and a secret.
pub(super) const fn room(curve: Curve) -> usize {
    curve.public_bytes() + 2 * curve.bytes() + 16
}

/// Returns the check for the result of a task.
pub(super) fn of(task: Task, input: &Arc<Input>, encoding: Encoding) -> ResultCheck {
    let input = Arc::clone(input);
    match task {
        Task::Sign => Box::new(move |_, signature| {
            let Input { curve, public, .. } = &*input;
            vec![u64::from(ours::is_signature(*curve, public, &input, signature, encoding))]
        }),
        // The run itself fails if it rejects a valid signature.
        Task::Verify => Box::new(move |call, _| {
            let mut wrong = input.signature[encoding as usize].clone();
            let last = wrong.len() - 1;
            wrong[last] ^= 0x10;
            vec![u64::from(call(&wrong, &mut []).is_err())]
        }),
        Task::Agree => Box::new(move |_, output| words(shared(&input, output))),
        Task::Generate => Box::new(move |call, _| {
            let mut both = vec![0; room(input.curve)];
            let length = call(&input.other, &mut both);
            vec![u64::from(length.is_ok_and(|length| proves(&input, &both[..length])))]
        }),
    }
}

/// Returns the check for the results of a batch, one after the other: the first result, if all are
/// correct.
pub(super) fn of_batch(task: Task, inputs: &[Arc<Input>; 8]) -> ResultCheck {
    let inputs = inputs.clone();
    let checks = inputs.each_ref().map(|input| of(task, input, Encoding::Fixed));
    if matches!(task, Task::Verify | Task::Generate) {
        let [first, ..] = checks;
        return first;
    }
    Box::new(move |call, results| {
        let Input { curve, .. } = &*inputs[0];
        let length = if task == Task::Sign { 2 * curve.bytes() } else { curve.bytes() };
        let outcomes: Vec<Vec<u64>> = results
            .chunks(length)
            .enumerate()
            .map(|(i, result)| checks[i % 8](call, result))
            .collect();
        let right = |(i, outcome): (usize, &Vec<u64>)| match task {
            Task::Sign => *outcome == [1],
            _ => *outcome == words(Some(secret(&inputs[i % 8]))),
        };
        if outcomes.iter().enumerate().all(right) { outcomes[0].clone() } else { Vec::new() }
    })
}

fn words(bytes: Option<Vec<u8>>) -> Vec<u64> {
    bytes.unwrap_or_default().into_iter().map(u64::from).collect()
}

/// Returns the secret of the input's two keys, computed from the other party's side.
fn secret(input: &Input) -> Vec<u8> {
    ours::agree(input.curve, &input.other_private, &input.public).unwrap_or_default()
}

/// Returns the secret in `output`. If a public key follows it, returns the input's secret if the
/// secret is the one shared with that key's owner.
fn shared(input: &Input, output: &[u8]) -> Option<Vec<u8>> {
    let (shared, public) = output.split_at_checked(input.curve.bytes())?;
    if public.is_empty() {
        return Some(shared.to_vec());
    }
    let right = ours::agree(input.curve, &input.other_private, public)?;
    (right == shared).then(|| secret(input))
}

/// Checks a public key and a proof that its owner has the private key.
fn proves(input: &Input, both: &[u8]) -> bool {
    let Some((public, proof)) = both.split_at_checked(input.curve.public_bytes()) else {
        return false;
    };
    match input.curve {
        Curve::Ed25519 => ours::is_signature(input.curve, public, input, proof, Encoding::Fixed),
        curve => ours::agree(curve, &input.other_private, public).is_some_and(|s| s == proof),
    }
}
