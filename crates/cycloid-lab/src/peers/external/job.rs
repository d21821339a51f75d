//! The names and parameters of the suites' operations for runners. Numbers are big-endian.

use std::sync::Arc;

use serde_json::Value;

use super::runner::{BATCH, Job, hex};
use crate::peers::bytes::to_bytes;
use crate::peers::{ec, modexp, rsa};

/// Returns the job base^exponent mod modulus, with the base as data.
pub(crate) fn modexp(input: &modexp::Input) -> Job {
    let number = |limbs: &[u64]| to_bytes(limbs);
    job(
        "modexp",
        &number(&input.base),
        &[("exponent", &number(&input.exponent)), ("modulus", &number(&input.modulus))],
    )
}

/// Returns the job of a task with an RSA key.
pub(crate) fn rsa(task: rsa::Task, input: &rsa::Input) -> Job {
    let rsa::Input { key, digest, data, .. } = input;
    let name = match task {
        rsa::Task::Sign => "rsa-sign",
        rsa::Task::SignPss => "rsa-sign-pss",
        rsa::Task::Verify => "rsa-verify",
        rsa::Task::DecryptOaep => "rsa-decrypt-oaep",
        rsa::Task::DecryptPkcs1v15 => "rsa-decrypt",
        rsa::Task::Generate => "rsa-generate",
    };
    let mut job = job(
        name,
        data,
        &[
            ("modulus", &key.modulus),
            ("public_exponent", &rsa::Key::public_exponent()),
            ("private_exponent", &key.private_exponent),
            ("prime_p", &key.primes[0]),
            ("prime_q", &key.primes[1]),
            ("exponent_p", &key.exponents[0]),
            ("exponent_q", &key.exponents[1]),
            ("coefficient", &key.coefficient),
            ("digest", digest),
        ],
    );
    job.insert("bits".into(), key.bits.into());
    job
}

/// Returns the job of a task on a curve, with `data` as input of each run.
pub(crate) fn ec(task: ec::Task, input: &ec::Input, data: &[u8]) -> Job {
    let ec::Input { curve, private, public, message, digest, .. } = input;
    let mut job = job(
        task.name(),
        data,
        &[("private", private), ("public", public), ("message", message), ("digest", digest)],
    );
    job.insert("curve".into(), curve.name().into());
    job
}

/// Returns the job of `count` operations of a task on a curve per run, with the inputs in turn.
pub(crate) fn ec_batch(
    task: ec::Task,
    inputs: &[Arc<ec::Input>],
    count: usize,
    data: impl Fn(&ec::Input) -> &[u8],
) -> Job {
    let inputs = inputs.iter().cycle().take(count);
    together(inputs.map(|input| ec(task, input, data(input))))
}

/// Joins jobs of the same operation into one that performs all of them: members and data have the
/// values one after the other.
pub(crate) fn together(jobs: impl Iterator<Item = Job>) -> Job {
    /// Members that are the same for all, and no bytes.
    const COMMON: [&str; 3] = ["operation", "curve", "bits"];
    let mut joined = Job::new();
    let mut count = 0_u64;
    for job in jobs {
        count += 1;
        for (name, value) in job {
            match (joined.get_mut(&name), value) {
                (Some(Value::String(all)), Value::String(more)) if !COMMON.contains(&&*name) => {
                    all.push_str(&more);
                }
                (Some(_), _) => {}
                (None, value) => {
                    joined.insert(name, value);
                }
            }
        }
    }
    if let Some(Value::String(operation)) = joined.get_mut("operation") {
        operation.push_str("-batch");
    }
    joined.insert(BATCH.into(), count.into());
    joined
}

/// Returns the job of an operation with `data` as input of each run, and parameters.
pub fn job(operation: &str, data: &[u8], bytes: &[(&str, &[u8])]) -> Job {
    let bytes = bytes.iter().copied().chain([("data", data)]);
    let members = bytes.map(|(name, bytes)| (name.to_owned(), Value::from(hex(bytes))));
    members.chain([("operation".to_owned(), operation.into())]).collect()
}
