use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use getrandom::SysRng;
use num_bigint::BigUint;
use rand_core::{Rng, UnwrapErr};

use super::*;
use crate::attribute::{Template, cka, ckk};
use crate::key::{Curve, PrivateKey};

fn key() -> Arc<PrivateKey> {
    Arc::new(PrivateKey::generate_ec(Curve::P256, &mut UnwrapErr(SysRng)).unwrap())
}

fn job(key: &Arc<PrivateKey>, since: Instant, done: impl FnOnce(Outcome) + Send + 'static) -> Job {
    let work = Work::Ecdsa(vec![1; 32]);
    let kind = Kind::of(key, &work).unwrap();
    Job::new(kind, key.clone(), work, since, done)
}

const KIND: Kind = Kind::Ecdsa(Curve::P256);

/// Returns how many jobs leave now.
fn leave(engine: &Engine, now: Instant) -> Option<usize> {
    match engine.next(now) {
        Next::Batch(KIND, jobs) => Some(jobs.len()),
        Next::Batch(other, _) => panic!("{other}"),
        Next::Wait(_) => None,
    }
}

#[test]
fn a_single_client_never_waits() {
    let (engine, key) = (Engine::default(), key());
    let mut now = Instant::now();
    for _ in 0..20 {
        engine.submit(job(&key, now, |_| {}));
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
        engine.submit(job(&key, now, |_| {}));
    }
    assert_eq!(engine.depths(), [(KIND, 20)]);
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
        engine.submit(job(&key, start, |_| {}));
    }
    assert_eq!(leave(&engine, start), Some(8));
    engine.computed(KIND, 8, Duration::from_micros(300));
    // One job arrives, and seven more are expected.
    engine.submit(job(&key, start, |_| {}));
    let Next::Wait(Some(rest)) = engine.next(start) else { panic!("it should wait") };
    assert!(rest <= Duration::from_nanos(KIND.usual()));
    // They do not arrive, and it leaves alone.
    assert_eq!(leave(&engine, start + rest), Some(1));
    engine.computed(KIND, 1, Duration::from_micros(70));
    // A client that is alone again soon waits no more.
    let mut now = start + rest;
    for _ in 0..8 {
        engine.submit(job(&key, now, |_| {}));
        now += Duration::from_millis(1);
        assert_eq!(leave(&engine, now), Some(1));
        engine.computed(KIND, 1, Duration::from_micros(70));
    }
    engine.submit(job(&key, now, |_| {}));
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
        let submit = |count| (0..count).for_each(|_| engine.submit(job(&key, now, |_| {})));
        let computed = |count, time| engine.computed(KIND, count, Duration::from_millis(time));
        submit(1);
        assert_eq!(leave(&engine, now), Some(1));
        computed(1, times[0]);
        // The whole is tried first, then a share.
        submit(8);
        assert_eq!(leave(&engine, now), Some(8));
        computed(8, times[2]);
        submit(8);
        assert_eq!((leave(&engine, now), leave(&engine, now)), (Some(4), Some(4)));
        computed(4, times[1]);
        computed(4, times[1]);
        submit(8);
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
    engine.submit(job(&key, now, |_| {}));
    assert_eq!(leave(&engine, now), Some(1));
    engine.computed(KIND, 1, Duration::from_micros(100));
    let mut fills = Vec::new();
    for _ in 0..2 * AGAIN {
        for _ in 0..4 {
            engine.submit(job(&key, now, |_| {}));
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
    (0..4).for_each(|_| engine.submit(job(&key, now, |_| {})));
    assert_eq!(leave(&engine, now), Some(4));
}

#[test]
fn a_lost_job_answers_and_excess_jobs_are_refused() {
    let key = key();
    let answered = Arc::new(AtomicUsize::new(0));
    let counted = |code: Code| {
        let answered = answered.clone();
        move |outcome: Outcome| {
            assert_eq!(outcome.unwrap_err().code, code);
            answered.fetch_add(1, Ordering::SeqCst);
        }
    };
    drop(job(&key, Instant::now(), counted(Code::DEVICE_ERROR)));
    assert_eq!(answered.load(Ordering::SeqCst), 1);

    let engine = Engine::default();
    for _ in 0..CAPACITY {
        engine.submit(job(&key, Instant::now(), |_| {}));
    }
    engine.submit(job(&key, Instant::now(), counted(Code::DEVICE_MEMORY)));
    assert_eq!(answered.load(Ordering::SeqCst), 2);

    engine.close();
    engine.submit(job(&key, Instant::now(), counted(Code::FUNCTION_CANCELED)));
    assert_eq!(answered.load(Ordering::SeqCst), 3);
}

/// Returns an RSA key with a composite "prime", so that its results are wrong: the fault by which
/// Boneh, DeMillo and Lipton factor a modulus.
fn faulty_key() -> Arc<PrivateKey> {
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
        return Arc::new(PrivateKey::from_attributes(ckk::RSA, &template).unwrap());
    }
}

#[test]
fn a6_a_fault_in_one_lane_is_not_released_and_affects_no_other_lane() {
    let sound = Arc::new(PrivateKey::generate_rsa(2048, 65537, &mut UnwrapErr(SysRng)).unwrap());
    let faulty = faulty_key();
    let outcomes: Arc<Mutex<Vec<Option<Outcome>>>> =
        Arc::new(Mutex::new((0..8).map(|_| None).collect()));
    let jobs = (0..8)
        .map(|i| {
            let outcomes = outcomes.clone();
            let key = if i == 3 { &faulty } else { &sound };
            let work = Work::SignPkcs1v15(vec![i as u8; 40]);
            let done = move |outcome| outcomes.lock().unwrap()[i] = Some(outcome);
            Job::new(Kind::Rsa(2048), key.clone(), work, Instant::now(), done)
        })
        .collect();
    let arena = Arena::new();
    Compute::new(&arena).run(Kind::Rsa(2048), jobs);
    let PrivateKey::Rsa(key) = &*sound else { panic!("it is RSA") };
    let public = key.public();
    for (i, outcome) in outcomes.lock().unwrap().drain(..).enumerate() {
        let outcome = outcome.expect("each job answers");
        if i == 3 {
            assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR);
            continue;
        }
        let mut encoded = vec![0; 256];
        let mut scratch = vec![0; cycloid::scheme::rsa::encrypt_scratch_limbs(2048)];
        public.raw_public_operation(&outcome.unwrap(), &mut encoded, &mut scratch).unwrap();
        assert_eq!(Some(encoded), encode_pkcs1v15(&[i as u8; 40], 256));
    }
}
