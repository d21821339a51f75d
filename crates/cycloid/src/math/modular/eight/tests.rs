//! Eight exponentiations compared with num-bigint, lane by lane, with valid and invalid neighbours,
//! on every backend.

use num_bigint::BigUint;
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use std::vec;
use std::vec::Vec;

use super::super::tests::{GUARD, hard_numbers, limb, model, number};
use super::*;

/// The arguments of one lane.
#[derive(Clone, Debug)]
struct Job {
    base: Vec<Limb>,
    exponent: Vec<Limb>,
    modulus: Vec<Limb>,
}

impl Job {
    fn new(base: &[Limb], exponent: &[Limb], modulus: &[Limb]) -> Self {
        Self { base: base.to_vec(), exponent: exponent.to_vec(), modulus: modulus.to_vec() }
    }

    fn expected(&self) -> Result<BigUint, Error> {
        Checked::new(&self.modulus)?.odd()?;
        Ok(model(&self.base, &self.exponent, &self.modulus))
    }
}

/// Returns all backends of this processor, with IFMA emulated if necessary, and none.
fn backends() -> Vec<Option<Backend>> {
    let available = lanes::tests::backends().into_iter().map(Some);
    core::iter::once(None).chain(available).collect()
}

/// Runs the jobs on one backend with exactly `limbs` of scratch between guards.
fn run(backend: Option<Backend>, jobs: &[Job; LANES], limbs: usize) {
    let mut scratch = vec![GUARD; limbs + 4];
    let mut results: Vec<Vec<Limb>> =
        jobs.iter().map(|job| vec![GUARD; job.modulus.len().max(1)]).collect();
    let outcomes = {
        let mut results = results.iter_mut();
        pow_eight_with(
            backend,
            core::array::from_fn(|_| results.next().unwrap().as_mut_slice()),
            core::array::from_fn(|lane| jobs[lane].base.as_slice()),
            core::array::from_fn(|lane| Exponent::new(&jobs[lane].exponent)),
            core::array::from_fn(|lane| jobs[lane].modulus.as_slice()),
            &mut scratch[2..limbs + 2],
        )
    };
    assert!(scratch[..2].iter().chain(&scratch[limbs + 2..]).all(|limb| *limb == GUARD));
    let name = backend.map_or("one by one", Backend::name);
    for (lane, job) in jobs.iter().enumerate() {
        match job.expected() {
            Ok(expected) => {
                assert_eq!(outcomes[lane], Ok(()), "{name}, lane {lane}");
                assert_eq!(number(&results[lane]), expected, "{name}, lane {lane}");
            }
            Err(error) => {
                assert_eq!(outcomes[lane], Err(error), "{name}, lane {lane}");
                assert!(results[lane].iter().all(|limb| *limb == GUARD), "{name}, lane {lane}");
            }
        }
    }
}

fn check(jobs: &[Job; LANES]) {
    let longest = |of: fn(&Job) -> usize| jobs.iter().map(of).max().unwrap();
    let limbs = longest(|job| job.modulus.len());
    let bits = LIMB_BITS * longest(|job| job.exponent.len());
    for backend in backends() {
        run(backend, jobs, pow_eight_scratch_limbs(limbs, bits));
    }
}

/// Rotates the jobs so that each runs in each lane.
fn check_in_every_lane(jobs: [Job; LANES]) {
    let mut jobs = jobs;
    for _ in 0..LANES {
        jobs.rotate_left(1);
        check(&jobs);
    }
}

#[test]
fn hard_values_in_every_lane() {
    for n in [1, 2, 5] {
        let moduli = hard_numbers(n);
        let bases = hard_numbers(n);
        check_in_every_lane(core::array::from_fn(|lane| {
            let exponent = [Limb::MAX >> (7 * lane)];
            Job::new(&bases[(lane * 3 + 1) % LANES], &exponent, &moduli[lane])
        }));
    }
}

#[test]
fn lengths_that_matter() {
    for n in [4, 6, 8, 9, 16, 17, 24, 32, 64] {
        let numbers = hard_numbers(n);
        check(&core::array::from_fn(|lane| {
            let mut modulus = numbers[lane].clone();
            modulus[0] |= 1;
            let exponent = [0x0123_4567_89ab_cdef_u64.rotate_left(8 * lane as u32)];
            Job::new(&numbers[7 - lane], &exponent[..lane.min(1)], &modulus)
        }));
    }
}

#[test]
fn lengths_may_differ() {
    check_in_every_lane([
        Job::new(&[5], &[77, 1], &[Limb::MAX; 6]),
        Job::new(&[Limb::MAX; 9], &[3], &[7]),
        Job::new(&[], &[], &[9, 0, 0]),
        Job::new(&[2; 6], &[0, 0, 0], &[Limb::MAX, 1]),
        Job::new(&[Limb::MAX; 2], &[Limb::MAX; 2], &[3, 0, 1]),
        Job::new(&[0], &[5], &[1, 1]),
        Job::new(&[0, 0], &[0], &[5; 4]),
        Job::new(&[1; 20], &[65537], &[Limb::MAX; 5]),
    ]);
}

#[test]
fn an_invalid_lane_does_not_affect_others() {
    check_in_every_lane([
        Job::new(&[3], &[5], &[1000, 1]),
        Job::new(&[3], &[5], &[1001, 1]),
        Job::new(&[3], &[5], &[0, 0]),
        Job::new(&[3], &[5], &[]),
        Job::new(&[3], &[5], &[1]),
        Job::new(&[3], &[5], &[1; 257]),
        Job::new(&[3, 9], &[5, 7], &[11, 13]),
        Job::new(&[3], &[5], &[0, 1]),
    ]);
}

#[test]
fn only_invalid_lanes_and_moduli_of_one() {
    let bad = Job::new(&[3], &[5], &[6]);
    check(&core::array::from_fn(|_| bad.clone()));
    let one = Job::new(&[3], &[5], &[1, 0]);
    check(&core::array::from_fn(|_| one.clone()));
    check(&core::array::from_fn(|lane| if lane % 2 == 0 { bad.clone() } else { one.clone() }));
}

#[test]
fn a_short_result_is_the_error_of_its_lane() {
    let mut results = [[GUARD; 2]; LANES];
    let mut scratch = vec![0; pow_eight_scratch_limbs(2, 64)];
    let mut rows = results.iter_mut().enumerate();
    let outcomes = pow_eight(
        core::array::from_fn(|_| {
            let (lane, row) = rows.next().unwrap();
            if lane == 3 { &mut row[..1] } else { &mut row[..] }
        }),
        [&[3]; LANES],
        [Exponent::new(&[5]); LANES],
        [&[7, 1]; LANES],
        &mut scratch,
    );
    for lane in 0..LANES {
        if lane == 3 {
            assert_eq!(outcomes[lane], Err(Error::ResultTooShort { needed: 2, given: 1 }));
            assert_eq!(results[lane], [GUARD; 2]);
        } else {
            assert_eq!((outcomes[lane], results[lane]), (Ok(()), [243, 0]));
        }
    }
}

#[test]
fn scratch_decides_the_window_and_too_little_is_an_error() {
    let jobs: [Job; LANES] = core::array::from_fn(|lane| {
        Job::new(&[lane as Limb + 2], &[Limb::MAX; 2], &[Limb::MAX; 2])
    });
    let minimum = pow_eight_minimum_scratch_limbs(2);
    for limbs in minimum..=pow_eight_scratch_limbs(2, 128) + 1 {
        for backend in backends() {
            run(backend, &jobs, limbs);
        }
    }
    let mut results = [[GUARD; 2]; LANES];
    let mut scratch = vec![GUARD; minimum - 1];
    let mut rows = results.iter_mut();
    let outcomes = pow_eight(
        core::array::from_fn(|_| rows.next().unwrap().as_mut_slice()),
        [&[3]; LANES],
        [Exponent::new(&[5]); LANES],
        core::array::from_fn(|lane| if lane == 0 { &[2][..] } else { &[7, 1] }),
        &mut scratch,
    );
    let error = Error::ScratchTooSmall { needed: minimum * 8, given: minimum * 8 - 8 };
    assert_eq!(outcomes[0], Err(Error::ModulusEven));
    assert!(outcomes[1..].iter().all(|outcome| *outcome == Err(error)));
    assert_eq!(results, [[GUARD; 2]; LANES]);
    assert!(scratch.iter().all(|limb| *limb == GUARD));
}

#[test]
fn scratch_is_wiped() {
    for backend in backends() {
        let mut results = [[0; 3]; LANES];
        let mut scratch = vec![GUARD; pow_eight_scratch_limbs(3, 64)];
        let mut rows = results.iter_mut();
        let _ = pow_eight_with(
            backend,
            core::array::from_fn(|_| rows.next().unwrap().as_mut_slice()),
            [&[3]; LANES],
            [Exponent::new(&[GUARD]); LANES],
            [&[7, 1, 9]; LANES],
            &mut scratch,
        );
        assert!(scratch.iter().all(|limb| *limb == 0 || *limb == GUARD));
        if backend.is_some() {
            // The alignment leaves at most seven limbs unused.
            assert!(scratch.iter().filter(|limb| **limb == GUARD).count() < LANES);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_values(
        jobs in prop::collection::vec(
            (
                prop::collection::vec(limb(), 0..6),
                prop::collection::vec(limb(), 0..2),
                prop::collection::vec(limb(), 1..5),
            ),
            LANES,
        ),
        odd in any::<u8>(),
    ) {
        check(&core::array::from_fn(|lane| {
            let (base, exponent, mut modulus) = jobs[lane].clone();
            modulus[0] |= Limb::from(odd >> lane & 1);
            Job { base, exponent, modulus }
        }));
    }
}

#[test]
fn prepared_moduli_give_the_same() {
    // Equal lengths, different lengths, and one modulus of length 1.
    for length in [|_| 5, |lane: usize| 1 + lane % 5, |lane: usize| if lane == 2 { 1 } else { 4 }] {
        let jobs: [Job; LANES] = core::array::from_fn(|lane| {
            let mut modulus = hard_numbers(length(lane))[lane].clone();
            modulus[0] |= 1;
            Job::new(&hard_numbers(6)[7 - lane], &[Limb::MAX >> lane], &modulus)
        });
        let mut memory = vec![[0; 5]; LANES];
        let mut scratch = [0; 64];
        let mut rows = memory.iter_mut();
        let moduli: [Modulus<'_>; LANES] = core::array::from_fn(|lane| {
            Modulus::prepare(&jobs[lane].modulus, rows.next().unwrap(), &mut scratch).unwrap()
        });
        for backend in backends() {
            let mut results = [[GUARD; 5]; LANES];
            let mut rows = results.iter_mut();
            let outcomes = pow_eight_prepared_with(
                backend,
                core::array::from_fn(|_| rows.next().unwrap().as_mut_slice()),
                core::array::from_fn(|lane| jobs[lane].base.as_slice()),
                core::array::from_fn(|lane| Exponent::new(&jobs[lane].exponent)),
                moduli.each_ref(),
                &mut vec![0; pow_eight_scratch_limbs(5, 64)],
            );
            for lane in 0..LANES {
                assert_eq!(outcomes[lane], Ok(()));
                assert_eq!(number(&results[lane]), jobs[lane].expected().unwrap(), "lane {lane}");
            }
        }
    }
}
