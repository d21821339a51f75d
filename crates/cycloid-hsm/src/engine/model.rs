//! Compares the engine with a model: every client gets the outcome that its job has alone, whatever
//! else is in the batch, whichever worker is lost, and whoever leaves.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc;

use cycloid::scheme;
use getrandom::SysRng;
use proptest::prelude::*;
use rand_core::UnwrapErr;

use super::tests::{edwards, outcomes};
use super::*;
use crate::key::Curve;

/// Returns the outcome of one job by itself, computed without the engine's batches where the
/// library has a single operation.
fn alone(key: &PrivateKey, work: &Work) -> Option<Vec<u8>> {
    macro_rules! ecdsa {
        ($key:ident, $digest:ident) => {
            Some($key.sign_prehashed(scheme::Hash::Sha256, $digest).to_fixed().to_vec())
        };
    }
    match (key, work) {
        (PrivateKey::P256(key), Work::Ecdsa(digest)) => ecdsa!(key, digest),
        (PrivateKey::P384(key), Work::Ecdsa(digest)) => ecdsa!(key, digest),
        (PrivateKey::Ed25519(key), Work::EdDsa(input)) => match input.context.as_slice() {
            [] => Some(key.sign(&input.message).to_vec()),
            context => key.sign_context(&input.message, context).ok().map(|it| it.to_vec()),
        },
        (PrivateKey::P256(key), Work::Agree(peer)) => match &**peer {
            PublicKey::P256(peer) => Some(key.agree(peer).to_vec()),
            _ => None,
        },
        (PrivateKey::X25519(key), Work::Agree(peer)) => match &**peer {
            PublicKey::X25519(peer) => Some(key.agree(peer).ok()?.as_bytes().to_vec()),
            _ => None,
        },
        (PrivateKey::Rsa(_), Work::Rsa(RsaInput::SignPkcs1v15(info))) => {
            let work = Work::Rsa(RsaInput::SignPkcs1v15(info.clone()));
            let mut outcomes = outcomes(&mut Workspace::default(), [(key.clone(), work)]);
            outcomes.remove(0).ok().map(|signature| signature.to_vec())
        }
        _ => unreachable!("no test does that"),
    }
}

/// The keys and operations of the tests below: a kind of job, two keys of it, and how an input
/// makes its work. Inputs that are a multiple of five are refused where the operation can refuse.
struct Case {
    kind: Kind,
    keys: [PrivateKey; 2],
    work: fn(u8) -> Work,
    refused: Option<Code>,
}

const REFUSED: u8 = 5;

fn cases() -> Vec<Case> {
    let rng = &mut UnwrapErr(SysRng);
    let mut ec = |curve| [(), ()].map(|()| PrivateKey::generate_ec(curve, rng).unwrap());
    let digest: fn(u8) -> Work = |input| Work::Ecdsa(vec![input; 32]);
    let x25519: fn(u8) -> Work = |input| {
        // The point of order one is refused.
        let u = if input.is_multiple_of(REFUSED) { [0; 32] } else { [input | 2; 32] };
        Work::Agree(PublicKey::X25519(u).into())
    };
    let p256: fn(u8) -> Work = |input| {
        let mut scalar = [input; 32];
        scalar[0] = 1;
        let key = scheme::ec::PrivateKey::<scheme::ec::P256>::from_bytes(&scalar).unwrap();
        Work::Agree(Box::new((*key.public_key()).into()))
    };
    let ed25519: fn(u8) -> Work = |input| {
        let length = if input.is_multiple_of(REFUSED) { 256 } else { usize::from(input % 3) };
        edwards(vec![input; 9], vec![input; length])
    };
    let rsa: fn(u8) -> Work = |input| {
        let length = if input.is_multiple_of(REFUSED) { 254 } else { 40 };
        Work::Rsa(RsaInput::SignPkcs1v15(vec![input; length]))
    };
    let case = |kind, keys, work, refused| Case { kind, keys, work, refused };
    vec![
        case(Kind::Ecdsa(Curve::P256), ec(Curve::P256), digest, None),
        case(Kind::Ecdsa(Curve::P384), ec(Curve::P384), digest, None),
        case(Kind::Agree(Curve::P256), ec(Curve::P256), p256, None),
        case(Kind::Agree(Curve::X25519), ec(Curve::X25519), x25519, Some(Code::PUBLIC_KEY_INVALID)),
        case(Kind::Ed25519, ec(Curve::Ed25519), ed25519, Some(Code::MECHANISM_PARAM_INVALID)),
        case(
            Kind::Rsa(2048),
            [(), ()].map(|()| PrivateKey::generate_rsa(2048, 65537, rng).unwrap()),
            rsa,
            Some(Code::DATA_LEN_RANGE),
        ),
    ]
}

impl Case {
    /// Returns the outcome that the job with this key and input must have.
    fn expected(&self, key: usize, input: u8) -> Result<Vec<u8>, Code> {
        match self.refused {
            Some(code) if input.is_multiple_of(REFUSED) => Err(code),
            _ => Ok(alone(&self.keys[key], &(self.work)(input)).unwrap()),
        }
    }
}

fn comparable(outcome: Outcome) -> Result<Vec<u8>, Code> {
    outcome.map(|bytes| bytes.to_vec()).map_err(|error| error.code)
}

#[test]
fn a_job_that_fails_in_the_middle_of_eight_fails_alone() {
    for case in cases().into_iter().filter(|case| case.refused.is_some()) {
        let inputs = [1, 2, 3, REFUSED, 4, 6, 7, 8];
        let jobs =
            inputs.map(|input| (case.keys[usize::from(input % 2)].clone(), (case.work)(input)));
        let outcomes = outcomes(&mut Workspace::default(), jobs);
        for (input, outcome) in inputs.into_iter().zip(outcomes) {
            let expected = case.expected(usize::from(input % 2), input);
            assert_eq!(expected.is_err(), input == REFUSED);
            assert_eq!(comparable(outcome), expected, "{} {input}", case.kind);
        }
    }
}

/// A step of a random interleaving.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A job arrives, of one of the cases, with one of its keys. Its client may leave at once.
    Submit { case: usize, key: usize, input: u8, leaves: bool },
    /// A worker takes a batch, this many microseconds later.
    Take(u64),
    /// A worker computes one of the batches that were taken.
    Compute(usize),
    /// A worker is lost, with one of the batches that were taken.
    Lose(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let submit = (0..6usize, 0..2usize, 0..32u8, prop::bool::weighted(0.1))
        .prop_map(|(case, key, input, leaves)| Step::Submit { case, key, input, leaves });
    let step = prop_oneof![
        8 => submit,
        3 => (0..500u64).prop_map(Step::Take),
        2 => (0..8usize).prop_map(Step::Compute),
        1 => (0..8usize).prop_map(Step::Lose),
    ];
    prop::collection::vec(step, 1..120)
}

/// A job as the model knows it.
struct Expected {
    case: usize,
    key: usize,
    input: u8,
    /// `None` if the client has left.
    answer: Option<mpsc::Receiver<Outcome>>,
}

/// The model of the engine: one queue per kind, first in, first out; and the batches that were
/// taken from it.
#[derive(Default)]
struct Model {
    waiting: BTreeMap<Kind, VecDeque<Expected>>,
    taken: Vec<(Box<dyn Batch>, Vec<Expected>)>,
}

impl Model {
    /// Takes a batch from the engine and the same jobs from the model; false if none is due.
    fn take(&mut self, engine: &Engine, now: Instant) -> bool {
        let Next::Batch(batch) = engine.next(now) else { return false };
        let waiting = self.waiting.get_mut(&batch.kind()).expect("no job of this kind waits");
        let jobs = waiting.drain(..batch.count()).collect();
        self.taken.push((batch, jobs));
        true
    }

    /// Ends a batch, and compares every answer with the outcome that `expected` gives.
    fn end(
        &mut self,
        index: usize,
        end: impl FnOnce(Box<dyn Batch>),
        expected: impl Fn(&Expected) -> Result<Vec<u8>, Code>,
    ) {
        if self.taken.is_empty() {
            return;
        }
        let (batch, jobs) = self.taken.remove(index % self.taken.len());
        for job in &jobs {
            let early = job.answer.as_ref().map(mpsc::Receiver::try_recv);
            assert!(early.is_none_or(|answer| answer.is_err()), "an answer before its batch ended");
        }
        end(batch);
        for job in jobs {
            let expected = expected(&job);
            let Some(answer) = job.answer else { continue };
            let outcome = answer.try_recv().expect("each job answers");
            assert_eq!(comparable(outcome), expected, "case {} input {}", job.case, job.input);
            assert!(answer.try_recv().is_err(), "each job answers once");
        }
    }
}

#[test]
fn random_interleavings_answer_every_client_as_the_model_does() {
    let cases = cases();
    let known: std::cell::RefCell<BTreeMap<_, _>> = Default::default();
    let computed = |job: &Expected| {
        let id = (job.case, job.key, job.input);
        let outcome = || cases[job.case].expected(job.key, job.input);
        known.borrow_mut().entry(id).or_insert_with(outcome).clone()
    };
    let workspace = std::cell::RefCell::new(Workspace::default());
    let run = |batch: Box<dyn Batch>, engine: &Engine| {
        let (kind, count) = (batch.kind(), batch.count());
        batch.run(&mut workspace.borrow_mut(), &mut |_| {});
        engine.computed(kind, count, Duration::from_micros(100 + 10 * count as u64));
    };
    proptest!(ProptestConfig::with_cases(48), |(steps in steps(), workers in 1..4usize)| {
        let (engine, mut model) = (Engine::new(workers), Model::default());
        let mut now = Instant::now();
        for step in steps {
            match step {
                Step::Submit { case, key, input, leaves } => {
                    let (sender, answer) = mpsc::channel();
                    let Case { kind, keys, work, .. } = &cases[case];
                    // An answer to a client that has left goes nowhere.
                    let done = move |outcome| drop(sender.send(outcome));
                    engine.submit(1, keys[key].clone(), work(input), now, done);
                    let answer = (!leaves).then_some(answer);
                    let job = Expected { case, key, input, answer };
                    model.waiting.entry(*kind).or_default().push_back(job);
                }
                Step::Take(later) => {
                    now += Duration::from_micros(later);
                    model.take(&engine, now);
                }
                Step::Compute(index) => model.end(index, |batch| run(batch, &engine), computed),
                Step::Lose(index) => model.end(index, drop, |_| Err(Code::DEVICE_ERROR)),
            }
            for (kind, depth) in engine.depths() {
                let expected = model.waiting.get(&kind).map_or(0, VecDeque::len);
                prop_assert_eq!(depth, expected, "{}", kind);
            }
        }
        engine.close();
        while model.take(&engine, now) {}
        while !model.taken.is_empty() {
            model.end(0, |batch| run(batch, &engine), computed);
        }
        prop_assert!(engine.is_idle());
        prop_assert!(model.waiting.values().all(VecDeque::is_empty));
    });
}
