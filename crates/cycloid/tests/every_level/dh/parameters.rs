//! Custom groups: accepted ones, and refused ones with their errors.

use cycloid::scheme::dh::{self, Error, Group, Parameters, PrivateKey, Validation};
use num_bigint::BigUint;

use crate::support::Generator;
use crate::support::dh::number;

/// A random safe prime of 2048 bits, modulo which 2 is a square (`openssl dhparam`).
const SAFE_PRIME: &str = "\
    bc02a5e6e2e375865e40bd16b2ffec8596b546a8766e5bb11f03af053e4a56e361ed0eb0ca2c\
    f01e73c9873bdc6aacfe5b3cdcb01b795cb98a785c6bac04e0d3020401a24af2996cbd51c315\
    826d83d6aac80da7070ea4a060642d6871848ff55f0c8852dad5718fc9bb024ae9e787a67107\
    6c8804285be6c44de126f66f1b948c6b89cf35f9fba5be5ab4ad30c39d62fe4013445c293f13\
    33e2fce3bbea3b41860111876c58cb01a7e116d3113eecfe0b9edeac5e695e0bbb821ad5ea12\
    dffb77552805781b6a031bf7d2c31810629781edcbab1d0286fb0ac03ade840f3f9a42d0be2c\
    b75934caa2c1b0436521cd682bb8bee3ab3ce4d0b2e94c9a07a69e47";

/// A prime of 2048 bits (`openssl genpkey -genparam -algorithm DSA`).
const PRIME: &str = "\
    c74d1618c51facea4fb5d49e43bea773f9faf257858d615a41a70e74a43e2b55ce5ea95562b1\
    04bc7e11a4f2f68946578c76ea7cf6e3d36fc608ff7ceb2d95c64cbcf496427d8e47431b73f4\
    4fb387ae2452867fe71df891d469fc5b534b60f40e8c941f0fdd8c01e3b32daa90526be3d7d9\
    e3fbd4cf68fe09efd76046a86d3de232072f0257f1b8c199fc28a472bc7c4517521393005dc6\
    ed39e348d173671691357f48c6c4d549c6292c0f965a8ff670da07c516b7ed30a7deaaa6a044\
    9414f58d8e4f4370202623f20d7d399655e59a1cf1f6346ddebd82f2e66d38f5d12838b821bd\
    79b0a1ee978cb6d884088bf3729b6460aa2092ac3506c6e9a7149fe1";

/// A 256-bit prime that divides the prime minus 1.
const ORDER: &str = "\
    92af9cd88b7f4e268e9fecf171361407f18a68a5da6fe132650744dde4856a5f";

/// An element of that order.
const GENERATOR: &str = "\
    786d257899fb2b2c9ee02c36ddb6094ab523479bbcf968d2b0dafbb70fd23a82aa4eb063cc9c\
    07b2b6cfa9855eedd5954c7a65ce0857dbce1d1dab5dd4da646f7de15e25ee90e5109e7b9264\
    13a796032b975bf72158193211c849f16aa3226237c618c1f5343a70615965e26d0f14bea331\
    11e7a88b43eeefff156f1d710a8c468e65ad39c07cb5b7dfe0bc0f63122d97bc387760075a27\
    73891c6fb61a05dbe3b78fb167d2fb890a607df4540845ec3d51428d82f46bb13f85d723295d\
    dd7f94389046b34204a2c442e1d5bbe565cd554ec9f84841ba127ddc9eff11ba382378b8bf0b\
    23b755e86e9216498e6c14dec5d3876e76067e5bb7cdf84d79c23b7";

fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap()
}

struct Memory {
    group: Vec<u64>,
    scratch: Vec<u64>,
}

impl Memory {
    fn new(bits: usize) -> Self {
        Self {
            group: vec![0; dh::group_limbs(bits)],
            scratch: vec![0; dh::group_scratch_limbs(bits)],
        }
    }

    fn group(
        &mut self,
        prime: &BigUint,
        generator: &BigUint,
        order: Option<&BigUint>,
    ) -> Result<Group<'_>, Error> {
        let [prime, generator] = [prime, generator].map(BigUint::to_bytes_be);
        let order = order.map(BigUint::to_bytes_be);
        let parameters =
            Parameters { prime: &prime, generator: &generator, order: order.as_deref() };
        Group::new(&parameters, &mut self.group, &mut Generator::new(3), &mut self.scratch)
    }
}

/// Returns the least nonsquare modulo a prime.
fn no_square(p: &BigUint) -> BigUint {
    let half = (p - 1u8) / 2u8;
    let is_square = |x: &u32| BigUint::from(*x).modpow(&half, p) == BigUint::from(1u8);
    BigUint::from((2u32..).find(|x| !is_square(x)).unwrap())
}

/// Runs an agreement between two parties, and checks the result for `value` from outside.
fn use_group(group: &Group<'_>, value: &BigUint, expected: Result<(), Error>) {
    let bits = group.bits();
    let mut scratch = vec![0; dh::scratch_limbs(bits, bits)];
    let mut key = |seed| {
        let memory = vec![0; dh::private_key_limbs(bits)];
        let key = PrivateKey::generate(group, memory, &mut Generator::new(seed)).unwrap();
        let mut value = vec![0; group.length()];
        key.public_value(&mut value, &mut scratch).unwrap();
        (key, value)
    };
    let [(a, from_a), (b, from_b)] = [key(1), key(2)];
    let [mut shared, mut same] = [vec![0; group.length()], vec![0; group.length()]];
    a.agree(&from_b, Validation::Full, &mut shared, &mut scratch).unwrap();
    b.agree(&from_a, Validation::Full, &mut same, &mut scratch).unwrap();
    assert_eq!(shared, same);
    let outcome = a.agree(&value.to_bytes_be(), Validation::Full, &mut shared, &mut scratch);
    assert_eq!(outcome, expected);
}

#[test]
fn safe_primes() {
    let p = hex(SAFE_PRIME);
    let [one, two] = [1u8, 2].map(BigUint::from);
    let half = (&p - &one) / 2u8;
    let other = no_square(&p);
    let mut memory = Memory::new(2048);
    for order in [None, Some(&half)] {
        let group = memory.group(&p, &two, order).unwrap();
        assert_eq!((group.name(), group.bits(), group.exponent_bits()), (None, 2048, 225));
        assert_eq!((number(group.prime()), number(group.generator())), (p.clone(), two.clone()));
        assert_eq!(format!("{group:?}"), "dh::Group(2048 bits)");
        use_group(&group, &other, Err(Error::PublicSubgroup));
    }
    // A generator of the whole group: it contains every value.
    let group = memory.group(&p, &other, None).unwrap();
    use_group(&group, &other, Ok(()));
    assert_eq!(memory.group(&p, &other, Some(&half)).unwrap_err(), Error::Generator);
    for generator in [BigUint::ZERO, one.clone(), &p - &one, p.clone(), &p + &two, &p << 9] {
        assert_eq!(memory.group(&p, &generator, None).unwrap_err(), Error::Generator);
    }
    assert_eq!(memory.group(&p, &(&p - &two), None).map(|_| ()), Ok(()));
}

#[test]
fn given_orders() {
    let [p, q, g] = [PRIME, ORDER, GENERATOR].map(hex);
    let one = BigUint::from(1u8);
    let mut memory = Memory::new(2048);
    let group = memory.group(&p, &g, Some(&q)).unwrap();
    assert_eq!(group.exponent_bits(), 225);
    use_group(&group, &no_square(&p), Err(Error::PublicSubgroup));
    // Partial validation checks everything if the prime is not safe.
    let memory_of_key = vec![0; dh::private_key_limbs(2048)];
    let key = PrivateKey::new(&group, &[3], memory_of_key).unwrap();
    let (mut shared, mut scratch) = ([0; 256], vec![0; dh::minimum_scratch_limbs(2048)]);
    let outcome = key.agree(&[4], Validation::Partial, &mut shared, &mut scratch);
    assert_eq!(outcome, Err(Error::PublicSubgroup));
    for (exponent, right) in [(&q - &one, true), (q.clone(), false), (&q + &one, false)] {
        let memory = vec![0; dh::private_key_limbs(2048)];
        let key = PrivateKey::new(&group, &exponent.to_bytes_be(), memory);
        assert_eq!(key.is_ok(), right);
    }

    drop(key);
    assert_eq!(memory.group(&p, &g, None).unwrap_err(), Error::NotSafePrime);
    assert_eq!(memory.group(&p, &BigUint::from(2u8), Some(&q)).unwrap_err(), Error::Generator);
    assert_eq!(memory.group(&p, &one, Some(&q)).unwrap_err(), Error::Generator);
    let other_prime = (&one << 255) - 19u8;
    let wrong = [&q * 2u8, &q + 2u8, other_prime, BigUint::ZERO, one.clone(), p.clone(), &p << 8];
    for order in &wrong {
        assert_eq!(memory.group(&p, &g, Some(order)).unwrap_err(), Error::Order, "{order}");
    }
    assert_eq!(memory.group(&(&p + 2u8), &g, Some(&q)).unwrap_err(), Error::NotPrime);
}

#[test]
fn lengths_primes_and_memory() {
    let one = BigUint::from(1u8);
    let two = BigUint::from(2u8);
    let mut memory = Memory::new(8192);
    for bits in [0, 1, 512, 2047, 8193, 20000] {
        let prime = if bits == 0 { BigUint::ZERO } else { &one << (bits - 1) };
        let error = memory.group(&prime, &two, None).unwrap_err();
        assert_eq!(error, Error::ModulusLength { bits });
    }
    let p = hex(SAFE_PRIME);
    assert_eq!(memory.group(&(&p + &one), &two, None).unwrap_err(), Error::NotPrime);
    assert_eq!(memory.group(&(&p + &two), &two, None).unwrap_err(), Error::NotSafePrime);
    // (p − 1)/2 is prime, but p is not.
    let q = hex(PRIME);
    assert_eq!(memory.group(&(q * 2u8 + &one), &two, None).unwrap_err(), Error::NotPrime);
    let mut small = Memory::new(2048);
    small.scratch.pop();
    assert!(matches!(small.group(&p, &two, None), Err(Error::MemoryTooSmall { .. })));
    let mut small = Memory::new(2048);
    small.group.pop();
    assert!(matches!(small.group(&p, &two, None), Err(Error::MemoryTooSmall { .. })));
}

#[test]
fn parameters_of_a_known_group_are_recognised() {
    let two = BigUint::from(2u8);
    for known in Group::KNOWN {
        let mut memory = Memory::new(known.bits());
        let p = number(known.prime());
        assert_eq!(memory.group(&p, &two, None).unwrap().name(), known.name());
        let half = (&p - 1u8) / 2u8;
        assert_eq!(memory.group(&p, &two, Some(&half)).unwrap().name(), known.name());
    }
    let p = number(Group::FFDHE2048.prime());
    let mut memory = Memory::new(2048);
    assert_eq!(memory.group(&p, &BigUint::from(4u8), None).unwrap().name(), None);
}
