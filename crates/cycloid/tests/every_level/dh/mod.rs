//! Finite-field Diffie-Hellman compared with big integers and published vectors, on every backend,
//! single and in batches.

mod parameters;
mod vectors;

use crate::support::Generator as Random;
use crate::support::dh::{number, padded};
use crate::support::levels::{alone, at_every_level};
use cycloid::scheme::dh::{self, Comb, Error, Generator, Group, Job, PrivateKey, Validation};
use num_bigint::BigUint;
use proptest::prelude::*;
use rand_core::Rng;

type Key = PrivateKey<'static, Vec<u64>>;

fn key(group: &'static Group<'static>, exponent: &[u8]) -> Result<Key, Error> {
    PrivateKey::new(group, exponent, vec![0; dh::private_key_limbs(group.bits())])
}

fn scratch(group: &Group<'_>) -> Vec<u64> {
    vec![0; dh::scratch_limbs(group.bits(), group.bits())]
}

fn batch_scratch(group: &Group<'_>) -> Vec<u64> {
    vec![0; dh::batch_scratch_limbs(group.bits(), group.bits())]
}

fn agree(key: &Key, peer: &[u8], validation: Validation) -> Result<Vec<u8>, Error> {
    let group = key.group();
    let mut shared = vec![0xa5; group.length()];
    let outcome = key.agree(peer, validation, &mut shared, &mut scratch(group));
    if outcome.is_err() {
        assert_eq!(shared, vec![0xa5; group.length()], "nothing is written on an error");
    }
    outcome.map(|()| shared)
}

/// Runs each agreement as a job of one batch.
fn agree_in_batch(jobs: &[(&Key, &[u8], Validation)]) -> Vec<Result<Vec<u8>, Error>> {
    let longest = jobs.iter().map(|job| job.0.group()).max_by_key(|group| group.bits()).unwrap();
    let mut results: Vec<_> = jobs.iter().map(|job| vec![0xa5; job.0.group().length()]).collect();
    let mut batch: Vec<_> = std::iter::zip(jobs, &mut results)
        .map(|((key, peer, validation), shared)| Job::agree(*key, peer, *validation, shared))
        .collect();
    assert!(batch.iter().all(|job| job.outcome() == Err(Error::NotDone)));
    dh::run_batch(&mut batch, &mut batch_scratch(longest));
    let outcomes: Vec<_> = batch.iter().map(Job::outcome).collect();
    std::iter::zip(outcomes, results)
        .map(|(outcome, shared)| {
            let written = shared.iter().any(|byte| *byte != 0xa5);
            assert_eq!(outcome.is_ok(), written);
            outcome.map(|()| shared)
        })
        .collect()
}

/// Computes the expected result with big integers.
fn model(
    group: &Group<'_>,
    x: &BigUint,
    peer: &[u8],
    validation: Validation,
) -> Result<Vec<u8>, Error> {
    let p = number(group.prime());
    let y = BigUint::from_bytes_be(peer);
    let one = BigUint::from(1u8);
    if y <= one || y >= &p - &one {
        return Err(Error::PublicRange);
    }
    if validation == Validation::Full && y.modpow(&((&p - &one) / 2u8), &p) != one {
        return Err(Error::PublicSubgroup);
    }
    let z = y.modpow(x, &p);
    if z <= one || z == &p - &one {
        return Err(Error::SharedSecret);
    }
    Ok(padded(&z, group.length()))
}

/// Returns malicious peer values for a group's prime.
fn hostile_values(p: &BigUint, length: usize) -> Vec<Vec<u8>> {
    let [one, two] = [1u8, 2].map(BigUint::from);
    let mut values: Vec<_> = [
        BigUint::ZERO,
        one.clone(),
        two.clone(),
        // −1 is not a square, so −2 and −4 are not either.
        p - &two,
        p - BigUint::from(4u8),
        p - &one,
        p.clone(),
        p + &one,
        p * &two,
        &one << (8 * length),
        (&one << (8 * length)) - &one,
        &one << (8 * length - 1),
        (p - &one) / &two,
        (p + &one) / &two,
    ]
    .iter()
    .map(BigUint::to_bytes_be)
    .collect();
    values.push(vec![]);
    values.push(vec![0; length + 9]);
    values.push(vec![0xff; length + 1]);
    values.push([vec![0; 70], vec![7]].concat());
    values.push([vec![0; 3], padded(&(p - &two), length)].concat());
    values
}

#[test]
fn hostile_public_values_alone_and_side_by_side() {
    at_every_level(|| {
        for group in [&Group::FFDHE2048, &Group::MODP3072] {
            let x = Random::new(17).next_u64();
            let own = key(group, &x.to_be_bytes()).unwrap();
            let x = BigUint::from(x);
            let values = hostile_values(&number(group.prime()), group.length());
            let mut jobs = vec![];
            for value in &values {
                for validation in [Validation::Partial, Validation::Full] {
                    let expected = model(group, &x, value, validation);
                    assert_eq!(agree(&own, value, validation), expected, "{value:x?}");
                    jobs.push((&own, &value[..], validation));
                }
            }
            for (outcome, (_, value, validation)) in agree_in_batch(&jobs).into_iter().zip(jobs) {
                assert_eq!(outcome, model(group, &x, value, validation), "{value:x?}");
            }
        }
    });
}

#[test]
fn batches_of_any_number_with_groups_of_any_length() {
    let groups = [
        &Group::FFDHE2048,
        &Group::MODP2048,
        &Group::FFDHE3072,
        &Group::MODP2048,
        &Group::MODP4096,
    ];
    let mut rng = Random::new(5);
    let keys: Vec<(Key, BigUint)> = (0..23)
        .map(|i| {
            let mut bytes = vec![0; 1 + 4 * i];
            rng.fill_bytes(&mut bytes);
            (key(groups[(i / 3) % groups.len()], &bytes).unwrap(), BigUint::from_bytes_be(&bytes))
        })
        .collect();
    at_every_level(|| {
        for count in [0, 1, 2, 3, 5, 8, 9, 23] {
            let peers: Vec<Vec<u8>> = (0..count).map(|i| vec![i as u8, 1, 2, 3]).collect();
            let jobs: Vec<_> = std::iter::zip(&keys, &peers)
                .map(|((key, _), peer)| (key, &peer[..], Validation::Partial))
                .collect();
            if jobs.is_empty() {
                dh::run_batch(&mut [], &mut []);
                continue;
            }
            for (i, outcome) in agree_in_batch(&jobs).into_iter().enumerate() {
                let (key, x) = &keys[i];
                assert_eq!(outcome, model(key.group(), x, &peers[i], Validation::Partial));
            }
        }
    });
}

#[test]
fn too_little_memory_is_an_error_of_each_job() {
    let _alone = alone();
    let own = key(&Group::FFDHE2048, &[7]).unwrap();
    let mut results = vec![vec![0; 256]; 3];
    results[1].pop();
    let mut jobs: Vec<_> =
        results.iter_mut().map(|result| Job::public_value(&own, result)).collect();
    dh::run_batch(&mut jobs, &mut [0; 800]);
    for job in &jobs {
        assert!(matches!(job.outcome(), Err(Error::MemoryTooSmall { given: 800, .. })));
    }
    dh::run_batch(&mut jobs, &mut batch_scratch(&Group::FFDHE2048));
    assert_eq!(jobs[1].outcome(), Err(Error::Length { needed: 256, given: 255 }));
    assert_eq!((jobs[0].outcome(), jobs[2].outcome()), (Ok(()), Ok(())));
    assert_eq!(results[2][255], 128);
}

/// Public values from a table, by exponentiation and in batches, compared with big integers.
#[test]
fn public_values_in_every_way() {
    at_every_level(|| {
        for (group, comb) in [
            (&Group::FFDHE2048, Comb::COMPACT),
            (&Group::FFDHE3072, Comb::BALANCED),
            (&Group::MODP2048, Comb::FASTEST),
            (&Group::MODP2048, Comb::new(1, 1).unwrap()),
            (&Group::FFDHE2048, Comb::new(3, 7).unwrap()),
            (&Group::FFDHE2048, Comb::new(8, 1).unwrap()),
        ] {
            let bits = group.bits();
            let mut memory = vec![0; dh::generator_limbs(bits, comb)];
            let mut scratch = vec![0; dh::generator_scratch_limbs(bits)];
            let generator = Generator::prepare(group, comb, &mut memory, &mut scratch).unwrap();
            let mut rng = Random::new(bits as u64);
            let one = BigUint::from(1u8);
            let all = (&one << group.exponent_bits()) - &one;
            let mut exponents =
                vec![one.clone(), &one + &one, &all - &one, all.clone(), &one << 224];
            // Longer than the table supports.
            exponents.push(&all + &one);
            exponents.push(number(group.prime()) - 2u8);
            for _ in 0..3 {
                let mut bytes = vec![0; group.exponent_bits() / 8];
                rng.fill_bytes(&mut bytes);
                exponents.push(BigUint::from_bytes_be(&bytes));
            }
            let keys: Vec<Key> =
                exponents.iter().map(|x| key(group, &x.to_bytes_be()).unwrap()).collect();
            let generated = PrivateKey::generate(group, vec![0; 7], &mut rng).unwrap();
            let mut batched = vec![vec![0; group.length()]; keys.len()];
            let mut jobs: Vec<_> = std::iter::zip(&keys, &mut batched)
                .map(|(key, value)| Job::public_value(key, value))
                .collect();
            dh::run_batch(&mut jobs, &mut batch_scratch(group));
            assert!(jobs.iter().all(|job| job.outcome() == Ok(())));
            let mut value = vec![0; group.length()];
            for ((key, x), batched) in keys.iter().zip(&exponents).zip(&batched) {
                let expected = BigUint::from(2u8).modpow(x, &number(group.prime()));
                let expected = padded(&expected, group.length());
                generator.public_value(key, &mut value, &mut scratch).unwrap();
                assert_eq!(value, expected, "{comb:?}, {x}");
                assert_eq!(*batched, expected);
            }
            let mut same = vec![0; group.length()];
            generator.public_value(&generated, &mut value, &mut scratch).unwrap();
            generated.public_value(&mut same, &mut self::scratch(group)).unwrap();
            assert_eq!(value, same);
        }
    });
}

#[test]
fn generators_refuse_invalid_requests() {
    let _alone = alone();
    let group = &Group::FFDHE2048;
    let mut memory = vec![0; dh::generator_limbs(2048, Comb::COMPACT)];
    let mut scratch = vec![0; dh::generator_scratch_limbs(2048)];
    let short = memory.len() - 1;
    let error = Generator::prepare(group, Comb::COMPACT, &mut memory[..short], &mut scratch);
    assert!(matches!(error, Err(Error::MemoryTooSmall { .. })));
    let generator = Generator::prepare(group, Comb::COMPACT, &mut memory, &mut scratch).unwrap();
    let other = key(&Group::MODP2048, &[9]).unwrap();
    let mut value = [0; 256];
    let error = generator.public_value(&other, &mut value, &mut scratch);
    assert_eq!(error, Err(Error::OtherGroup));
    let own = key(group, &[9]).unwrap();
    let error = generator.public_value(&own, &mut value[1..], &mut scratch);
    assert_eq!(error, Err(Error::Length { needed: 256, given: 255 }));
    let short = scratch.len() - 1;
    let error = generator.public_value(&own, &mut value, &mut scratch[..short]);
    assert!(matches!(error, Err(Error::MemoryTooSmall { .. })));
    assert_eq!(value, [0; 256]);
}

#[test]
fn private_exponents_that_are_refused() {
    let group = &Group::FFDHE2048;
    let p = number(group.prime());
    let one = BigUint::from(1u8);
    let half = (&p - &one) / 2u8;
    for wrong in
        [BigUint::ZERO, half.clone(), &p - &one, p.clone(), &p + &one, &one << 2048, &p << 64]
    {
        let error = key(group, &wrong.to_bytes_be()).unwrap_err();
        assert_eq!(error, Error::PrivateExponent, "{wrong}");
    }
    assert_eq!(key(group, &[]).unwrap_err(), Error::PrivateExponent);
    assert_eq!(key(group, &[0; 300]).unwrap_err(), Error::PrivateExponent);
    for right in [one.clone(), &half - &one, &half + &one, &p - 2u8] {
        key(group, &right.to_bytes_be()).unwrap();
        key(group, &[vec![0; 40], padded(&right, 256)].concat()).unwrap();
    }
    let error = PrivateKey::new(group, &[1; 9], vec![0; 1]).unwrap_err();
    assert_eq!(error, Error::MemoryTooSmall { needed: 2, given: 1 });
    let own = key(group, &[5]).unwrap();
    assert_eq!(format!("{own:?}"), "dh::PrivateKey(ffdhe2048)");
}

#[test]
fn less_scratch_gives_the_same() {
    at_every_level(|| {
        let own = key(&Group::FFDHE2048, &[0x91; 29]).unwrap();
        let expected = agree(&own, &[3, 3], Validation::Partial);
        let mut shared = [0; 256];
        for limbs in [dh::minimum_scratch_limbs(2048), 400, 1000] {
            let mut scratch = vec![0; limbs];
            own.agree(&[3, 3], Validation::Partial, &mut shared, &mut scratch).unwrap();
            assert_eq!(expected.as_deref(), Ok(&shared[..]));
            assert!(scratch.iter().all(|limb| *limb == 0), "the scratch is wiped");
        }
        let mut scratch = vec![0; dh::minimum_scratch_limbs(2048) - 1];
        let error = own.agree(&[3, 3], Validation::Partial, &mut shared, &mut scratch);
        assert!(matches!(error, Err(Error::MemoryTooSmall { .. })));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_exponents_and_values(
        x in prop::collection::vec(any::<u8>(), 0..60),
        peers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..258), 1..10),
        full in any::<bool>(),
    ) {
        let _alone = alone();
        let group = &Group::MODP2048;
        let validation = if full { Validation::Full } else { Validation::Partial };
        let x_number = BigUint::from_bytes_be(&x);
        prop_assume!(x_number != BigUint::ZERO);
        let own = key(group, &x).unwrap();
        let jobs: Vec<_> = peers.iter().map(|peer| (&own, &peer[..], validation)).collect();
        for (outcome, peer) in agree_in_batch(&jobs).into_iter().zip(&peers) {
            let expected = model(group, &x_number, peer, validation);
            prop_assert_eq!(&agree(&own, peer, validation), &expected);
            prop_assert_eq!(outcome, expected);
        }
    }
}
