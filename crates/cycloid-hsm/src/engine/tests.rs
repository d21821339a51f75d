use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use cycloid::scheme;
use getrandom::SysRng;
use num_bigint::BigUint;
use proptest::prelude::*;
use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::job::Jobs;
use super::pace::AGAIN;
use super::*;
use crate::attribute::{Template, cka, ckk};
use crate::key::{Curve, PrivateKey};

fn key() -> PrivateKey {
    PrivateKey::generate_ec(Curve::P256, &mut UnwrapErr(SysRng)).unwrap()
}

/// Submits a job that computes an ECDSA signature.
fn submit(engine: &Engine, key: &PrivateKey, since: Instant) {
    engine.submit(key.clone(), Work::Ecdsa(vec![1; 32]), since, |_| {});
}

/// Computes all jobs, up to eight of a kind together, and returns their outcomes in order.
pub(crate) fn outcomes(
    workspace: &mut Workspace<'_>,
    jobs: impl IntoIterator<Item = (PrivateKey, Work)>,
) -> Vec<Outcome> {
    let (engine, now) = (Engine::default(), Instant::now());
    let (sender, receiver) = mpsc::channel();
    let mut count = 0;
    for (i, (key, work)) in jobs.into_iter().enumerate() {
        let sender = sender.clone();
        engine.submit(key, work, now, move |outcome| sender.send((i, outcome)).unwrap());
        count += 1;
    }
    engine.close();
    while let Next::Batch(batch) = engine.next(now) {
        batch.run(workspace, &mut |_| {});
    }
    drop(sender);
    let mut outcomes: Vec<_> = receiver.iter().collect();
    assert_eq!(outcomes.len(), count, "each job answers exactly once");
    outcomes.sort_by_key(|(i, _)| *i);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

const KIND: Kind = Kind::Ecdsa(Curve::P256);

/// Returns how many jobs leave now.
fn leave(engine: &Engine, now: Instant) -> Option<usize> {
    match engine.next(now) {
        Next::Batch(batch) => {
            assert_eq!(batch.kind(), KIND);
            Some(batch.count())
        }
        Next::Wait(_) => None,
    }
}

#[test]
fn a_single_client_never_waits() {
    let (engine, key) = (Engine::default(), key());
    let mut now = Instant::now();
    for _ in 0..20 {
        submit(&engine, &key, now);
        assert_eq!(leave(&engine, now), Some(1));
        engine.computed(KIND, 1, Duration::from_micros(70));
        now += Duration::from_micros(100);
    }
    assert!(matches!(engine.next(now), Next::Wait(None)));
}

#[test]
fn eight_leave_together_and_the_rest_after_them() {
    let (engine, key) = (Engine::default(), key());
    let now = Instant::now();
    for _ in 0..20 {
        submit(&engine, &key, now);
    }
    assert!(
        engine.depths().into_iter().all(|(kind, depth)| depth == 20 * usize::from(kind == KIND))
    );
    assert_eq!(leave(&engine, now), Some(8));
    assert_eq!(leave(&engine, now), Some(8));
    // Four are left, and all expected jobs are queued or being computed.
    assert_eq!(leave(&engine, now), Some(4));
    assert!(engine.is_idle());
}

#[test]
fn recent_companions_are_waited_for_but_not_for_long() {
    let (engine, key) = (Engine::default(), key());
    let start = Instant::now();
    for _ in 0..8 {
        submit(&engine, &key, start);
    }
    assert_eq!(leave(&engine, start), Some(8));
    engine.computed(KIND, 8, Duration::from_micros(300));
    // One job arrives, and seven more are expected.
    submit(&engine, &key, start);
    let Next::Wait(Some(rest)) = engine.next(start) else { panic!("it should wait") };
    assert!(rest <= Duration::from_nanos(KIND.usual()));
    // They do not arrive, and it leaves alone.
    assert_eq!(leave(&engine, start + rest), Some(1));
    engine.computed(KIND, 1, Duration::from_micros(70));
    // A client that is alone again soon waits no more.
    let mut now = start + rest;
    for _ in 0..8 {
        submit(&engine, &key, now);
        now += Duration::from_millis(1);
        assert_eq!(leave(&engine, now), Some(1));
        engine.computed(KIND, 1, Duration::from_micros(70));
    }
    submit(&engine, &key, now);
    assert_eq!(leave(&engine, now), Some(1));
}

#[test]
fn a_single_batch_is_split_among_workers_if_that_is_much_faster() {
    let now = Instant::now();
    // Milliseconds for one, four and eight jobs; and the batches that leave when eight arrive.
    for (times, expected) in [
        // Like RSA with its two halves.
        ([10, 21, 38], vec![4, 4]),
        // Like curves that gain little from lanes.
        ([10, 60, 58], vec![8]),
    ] {
        let (engine, key) = (Engine::new(2), key());
        let arrive = |count| (0..count).for_each(|_| submit(&engine, &key, now));
        let computed = |count, time| engine.computed(KIND, count, Duration::from_millis(time));
        arrive(1);
        assert_eq!(leave(&engine, now), Some(1));
        computed(1, times[0]);
        // The whole is tried first, then a share.
        arrive(8);
        assert_eq!(leave(&engine, now), Some(8));
        computed(8, times[2]);
        arrive(8);
        assert_eq!((leave(&engine, now), leave(&engine, now)), (Some(4), Some(4)));
        computed(4, times[1]);
        computed(4, times[1]);
        arrive(8);
        for count in expected {
            assert_eq!(leave(&engine, now), Some(count), "{times:?}");
        }
        assert!(engine.is_idle());
    }
}

#[test]
fn a_batch_slower_than_single_jobs_is_only_retried_occasionally() {
    let (engine, key) = (Engine::default(), key());
    let now = Instant::now();
    submit(&engine, &key, now);
    assert_eq!(leave(&engine, now), Some(1));
    engine.computed(KIND, 1, Duration::from_micros(100));
    let mut fills = Vec::new();
    for _ in 0..2 * AGAIN {
        for _ in 0..4 {
            submit(&engine, &key, now);
        }
        while let Some(count) = leave(&engine, now) {
            // Four together take as long as seven alone.
            let took = if count == 1 { 100 } else { 700 };
            engine.computed(KIND, count, Duration::from_micros(took));
            fills.push(count);
        }
    }
    let batches = fills.iter().filter(|count| **count > 1).count();
    assert!((1..=fills.len() / 30).contains(&batches), "{batches} of {}", fills.len());
    // A batch that becomes faster is soon preferred.
    for _ in 0..10 {
        engine.computed(KIND, 4, Duration::from_micros(150));
    }
    (0..4).for_each(|_| submit(&engine, &key, now));
    assert_eq!(leave(&engine, now), Some(4));
}

#[test]
fn a_lost_job_answers_and_excess_jobs_are_refused() {
    let (key, now) = (key(), Instant::now());
    let answered = Arc::new(AtomicUsize::new(0));
    let submit_expecting = |engine: &Engine, code: Code| {
        let answered = answered.clone();
        engine.submit(key.clone(), Work::Ecdsa(vec![1; 32]), now, move |outcome| {
            assert_eq!(outcome.unwrap_err().code, code);
            answered.fetch_add(1, Ordering::SeqCst);
        });
    };
    let engine = Engine::default();
    submit_expecting(&engine, Code::DEVICE_ERROR);
    // The batch is lost with its worker.
    drop(engine.next(now));
    assert_eq!(answered.load(Ordering::SeqCst), 1);

    for _ in 0..CAPACITY {
        submit(&engine, &key, now);
    }
    submit_expecting(&engine, Code::DEVICE_MEMORY);
    assert_eq!(answered.load(Ordering::SeqCst), 2);

    engine.close();
    submit_expecting(&engine, Code::FUNCTION_CANCELED);
    assert_eq!(answered.load(Ordering::SeqCst), 3);
}

#[test]
fn an_operation_that_does_not_suit_the_key_is_refused() {
    let rng = &mut UnwrapErr(SysRng);
    let mut keys = vec![PrivateKey::generate_bls(rng).unwrap()];
    keys.extend(Curve::ALL.map(|curve| PrivateKey::generate_ec(curve, rng).unwrap()));
    let refusal = |key: &PrivateKey, work| {
        let outcome = outcomes(&mut Workspace::new(&Arena::new()), [(key.clone(), work)]).remove(0);
        outcome.map_or_else(|error| Some(error.code), |_| None)
    };
    for key in &keys {
        let curve = key.curve();
        let expected = |suits: bool| (!suits).then_some(Code::KEY_TYPE_INCONSISTENT);
        let is_prime = curve.is_some_and(|curve| curve.key_type() == ckk::EC);
        let rsa = Work::Rsa(RsaInput::SignPkcs1v15(vec![1; 32]));
        assert_eq!(refusal(key, rsa), expected(false));
        assert_eq!(refusal(key, Work::Ecdsa(vec![1; 32])), expected(is_prime), "{curve:?}");
        assert_eq!(refusal(key, edwards(vec![1], vec![])), expected(curve == Some(Curve::Ed25519)));
        assert_eq!(refusal(key, Work::Bls(vec![1])), expected(curve.is_none()));
        let agrees = is_prime || curve == Some(Curve::X25519);
        let peer = PublicKey::X25519([9; 32]);
        let expected = match curve {
            Some(Curve::X25519) => None,
            _ if agrees => Some(Code::PUBLIC_KEY_INVALID),
            _ => Some(Code::KEY_TYPE_INCONSISTENT),
        };
        assert_eq!(refusal(key, Work::Agree(peer.into())), expected, "{curve:?}");
    }
}

fn edwards(message: Vec<u8>, context: Vec<u8>) -> Work {
    Work::Ed25519(EdwardsInput { message, prehashed: false, context })
}

/// Doubles a number, and panics at 255 after it has done the jobs before it.
enum Doubling {}

impl Operation for Doubling {
    type Key = ();
    type Input = u8;
    type Output = u8;

    fn compute(_: &mut Workspace<'_>, jobs: &mut [Job<Self>]) {
        for job in jobs {
            assert_ne!(job.input, 255, "injected into a computation");
            job.outcome = Some(Ok(2 * job.input));
        }
    }

    fn to_bytes(output: u8) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(vec![output])
    }
}

#[test]
fn a_panic_in_a_batch_of_eight_interrupts_only_jobs_without_an_outcome() {
    let (sender, receiver) = mpsc::channel();
    let inputs = [1, 2, 3, 4, 255, 5, 6, 7];
    let job = |input| {
        let sender = sender.clone();
        Job::new(Arc::new(()), input, Instant::now(), move |outcome| {
            sender.send((input, outcome.ok())).unwrap();
            assert_ne!(input, 2, "injected into an answer");
        })
    };
    let jobs = Jobs::<Doubling> { kind: Kind::Bls, jobs: inputs.into_iter().map(job).collect() };
    let mut answered = 0;
    Box::new(jobs).run(&mut Workspace::new(&Arena::new()), &mut |_| answered += 1);
    drop(sender);
    let answers: Vec<_> = receiver.iter().collect();
    let done = [(1, Some(2)), (2, Some(4)), (3, Some(6)), (4, Some(8))];
    let interrupted = [(255, None), (5, None), (6, None), (7, None)];
    assert_eq!(answers, [done, interrupted].concat());
    assert_eq!(answered, 8);
}

/// Returns an RSA key with a composite "prime", so that its results are wrong: the fault by which
/// Boneh, DeMillo and Lipton factor a modulus.
fn faulty_key() -> PrivateKey {
    let one = BigUint::from(1u8);
    let e = BigUint::from(65537u32);
    let bytes = |number: &BigUint| number.to_bytes_be();
    loop {
        let number = || {
            let mut bytes = [0; 128];
            UnwrapErr(SysRng).fill_bytes(&mut bytes);
            let mut number = BigUint::from_bytes_be(&bytes);
            [0, 1022, 1023].into_iter().for_each(|bit| number.set_bit(bit, true));
            number
        };
        let (mut p, q) = (number(), number());
        while &p % 3u32 != BigUint::ZERO {
            p += 2u32;
        }
        let (p, q) = if p > q { (p, q) } else { (q, p) };
        let (p1, q1) = (&p - &one, &q - &one);
        let product = &p1 * &q1;
        let (Some(d), Some(coefficient)) = (e.modinv(&product), q.modinv(&p)) else { continue };
        let mut template = Template::new();
        template.set(cka::MODULUS, bytes(&(&p * &q)));
        template.set(cka::PUBLIC_EXPONENT, [1, 0, 1]);
        template.set(cka::PRIVATE_EXPONENT, bytes(&d));
        template.set(cka::PRIME_1, bytes(&p));
        template.set(cka::PRIME_2, bytes(&q));
        template.set(cka::EXPONENT_1, bytes(&(&d % &p1)));
        template.set(cka::EXPONENT_2, bytes(&(&d % &q1)));
        template.set(cka::COEFFICIENT, bytes(&coefficient));
        return PrivateKey::from_attributes(ckk::RSA, &template).unwrap();
    }
}

#[test]
fn a6_a_fault_in_one_lane_is_not_released_and_affects_no_other_lane() {
    let sound = PrivateKey::generate_rsa(2048, 65537, &mut UnwrapErr(SysRng)).unwrap();
    let faulty = faulty_key();
    let jobs = (0..8).map(|i| {
        let key = if i == 3 { &faulty } else { &sound };
        (key.clone(), Work::Rsa(RsaInput::SignPkcs1v15(vec![i; 40])))
    });
    let outcomes = outcomes(&mut Workspace::new(&Arena::new()), jobs);
    let PrivateKey::Rsa(key) = &sound else { panic!("it is RSA") };
    let public = key.public();
    for (i, outcome) in (0..).zip(outcomes) {
        if i == 3 {
            assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR);
            continue;
        }
        let mut encoded = vec![0; 256];
        let mut scratch = vec![0; scheme::rsa::encrypt_scratch_limbs(2048)];
        public.raw_public_operation(&outcome.unwrap(), &mut encoded, &mut scratch).unwrap();
        assert_eq!(Some(encoded), encode_pkcs1v15(&[i; 40], 256));
    }
}

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
        (PrivateKey::Ed25519(key), Work::Ed25519(input)) => match input.context.as_slice() {
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
            let mut outcomes = outcomes(&mut Workspace::new(&Arena::new()), [(key.clone(), work)]);
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
        let key = scheme::ec::PrivateKey::from_bytes(&scalar).unwrap();
        Work::Agree(PublicKey::P256(*key.public_key()).into())
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
        let outcomes = outcomes(&mut Workspace::new(&Arena::new()), jobs);
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
    let (cases, arena) = (cases(), Arena::new());
    let known: std::cell::RefCell<BTreeMap<_, _>> = Default::default();
    let computed = |job: &Expected| {
        let id = (job.case, job.key, job.input);
        let outcome = || cases[job.case].expected(job.key, job.input);
        known.borrow_mut().entry(id).or_insert_with(outcome).clone()
    };
    let workspace = std::cell::RefCell::new(Workspace::new(&arena));
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
                    engine.submit(keys[key].clone(), work(input), now, done);
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
