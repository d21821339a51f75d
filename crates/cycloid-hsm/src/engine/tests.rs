use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use cycloid::scheme::ec::P256;
use cycloid::scheme::ecdsa;
use cycloid::scheme::rsa::encrypt_scratch_limbs;
use getrandom::SysRng;
use num_bigint::BigUint;
use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::job::Jobs;
use super::pace::AGAIN;
use super::*;
use crate::attribute::{Template, cka, ckk};
use crate::key::{Curve, PrivateKey};

/// Returns a key whose jobs leave in batches of eight on every processor.
fn key() -> PrivateKey {
    PrivateKey::generate_ec(Curve::Ed25519, &mut UnwrapErr(SysRng)).unwrap()
}

/// Submits a job that computes a signature.
fn submit(engine: &Engine, key: &PrivateKey, since: Instant) {
    engine.submit(1, key.clone(), edwards(vec![1; 32], vec![]), since, |_| {});
}

/// Computes all jobs, those of a kind in batches, and returns their outcomes in order.
pub(crate) fn outcomes(
    workspace: &mut Workspace,
    jobs: impl IntoIterator<Item = (PrivateKey, Work)>,
) -> Vec<Outcome> {
    let (engine, now) = (Engine::default(), Instant::now());
    let (sender, receiver) = mpsc::channel();
    let mut count = 0;
    for (i, (key, work)) in jobs.into_iter().enumerate() {
        let sender = sender.clone();
        engine.submit(1, key, work, now, move |outcome| sender.send((i, outcome)).unwrap());
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

const KIND: Kind = Kind::Ed25519;

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
fn as_many_ecdsa_signatures_leave_together_as_share_costs() {
    let key = PrivateKey::generate_ec(Curve::P256, &mut UnwrapErr(SysRng)).unwrap();
    let (engine, now) = (Engine::default(), Instant::now());
    let most = ecdsa::batch_size::<P256>();
    for _ in 0..2 * most + 3 {
        engine.submit(1, key.clone(), Work::Ecdsa(vec![1; 32]), now, |_| {});
    }
    let sizes = [most, most, 3];
    for expected in sizes {
        let Next::Batch(batch) = engine.next(now) else { panic!("it should not wait") };
        assert_eq!(batch.count(), expected);
    }
    let kind = Kind::Ecdsa(Curve::P256);
    for count in sizes {
        engine.computed(kind, count, Duration::from_micros(10 * count as u64));
    }
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
        engine.submit(1, key.clone(), edwards(vec![1; 32], vec![]), now, move |outcome| {
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
        let outcome = outcomes(&mut Workspace::default(), [(key.clone(), work)]).remove(0);
        outcome.map_or_else(|error| Some(error.code), |_| None)
    };
    for key in &keys {
        let curve = key.curve();
        let expected = |suits: bool| (!suits).then_some(Code::KEY_TYPE_INCONSISTENT);
        let is_prime = curve.is_some_and(|curve| curve.key_type() == ckk::EC);
        let rsa = Work::Rsa(RsaInput::SignPkcs1v15(vec![1; 32]));
        assert_eq!(refusal(key, rsa), expected(false));
        assert_eq!(refusal(key, Work::Ecdsa(vec![1; 32])), expected(is_prime), "{curve:?}");
        let is_edwards = curve.is_some_and(|curve| curve.key_type() == ckk::EC_EDWARDS);
        assert_eq!(refusal(key, edwards(vec![1], vec![])), expected(is_edwards));
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

pub(super) fn edwards(message: Vec<u8>, context: Vec<u8>) -> Work {
    Work::EdDsa(EdwardsInput { message, prehashed: false, context })
}

/// Doubles a number, and panics at 255 after it has done the jobs before it.
enum Doubling {}

impl Operation for Doubling {
    type Key = ();
    type Input = u8;
    type Output = u8;

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
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
    let jobs = inputs.into_iter().map(job).collect();
    let jobs = Jobs::<Doubling> { kind: Kind::Bls, jobs, expected: Duration::ZERO };
    let mut answered = 0;
    Box::new(jobs).run(&mut Workspace::default(), &mut |_| answered += 1);
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
    let outcomes = outcomes(&mut Workspace::default(), jobs);
    let PrivateKey::Rsa(key) = &sound else { panic!("it is RSA") };
    let public = key.public();
    for (i, outcome) in (0..).zip(outcomes) {
        if i == 3 {
            assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR);
            continue;
        }
        let mut encoded = vec![0; 256];
        let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
        public.raw_public_operation(&outcome.unwrap(), &mut encoded, &mut scratch).unwrap();
        assert_eq!(Some(encoded), encode_pkcs1v15(&[i; 40], 256));
    }
}
