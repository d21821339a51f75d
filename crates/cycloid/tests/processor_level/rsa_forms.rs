//! RSA keys of every form: any length, long exponents, missing parts, primes of unequal lengths and
//! more than two of them. The model is num-bigint, the counterpart OpenSSL.

use cycloid::prime;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Batch, Error, Job, KeyError, KeyPair, OtherPrime, OwnedPublicKey, PrivateComponents,
    PrivateKey, SignatureScheme, any_private_key_scratch_limbs, batch_limbs, der_scratch_limbs,
    private_key_limbs,
};
use num_bigint::BigUint;

use crate::support::Generator;
use crate::support::openssl::openssl;

const SCHEMES: [SignatureScheme; 2] =
    [SignatureScheme::Pkcs1v15(Hash::Sha256), SignatureScheme::pss(Hash::Sha384)];

/// A key as numbers.
struct Numbers {
    n: BigUint,
    e: BigUint,
    d: BigUint,
    primes: Vec<BigUint>,
}

impl Numbers {
    /// Makes a key of new primes with these lengths. The private exponent is reduced modulo the
    /// least common multiple on request, else modulo the product of the primes less 1.
    fn new(lengths: &[usize], e: u64, least: bool) -> Self {
        let mut rng = Generator::new(lengths.iter().sum::<usize>() as u64 ^ e);
        let e = BigUint::from(e);
        let mut orders = Vec::new();
        let primes: Vec<_> = lengths
            .iter()
            .map(|bits| {
                loop {
                    let prime = new_prime(*bits, &mut rng);
                    let order = &prime - 1_u8;
                    if e.modinv(&order).is_some() {
                        orders.push(order);
                        break prime;
                    }
                }
            })
            .collect();
        let one = BigUint::from(1_u8);
        let order = orders.iter().fold(one, |product, order| {
            let divisor = if least { gcd(product.clone(), order.clone()) } else { 1_u8.into() };
            product * order / divisor
        });
        Self { n: primes.iter().product(), d: e.modinv(&order).unwrap(), e, primes }
    }

    /// Returns the parts in the order of PKCS #1, and of each further prime.
    fn parts(&self) -> ([Vec<u8>; 8], Vec<[Vec<u8>; 3]>) {
        let [p, q, others @ ..] = &self.primes[..] else { panic!("two primes at least") };
        let residue = |prime: &BigUint| &self.d % (prime - 1_u8);
        let inverse = q.modinv(p).unwrap();
        let numbers = [&self.n, &self.e, &self.d, p, q, &residue(p), &residue(q), &inverse];
        let mut product = p * q;
        let others = others.iter().map(|prime| {
            let coefficient = (&product % prime).modinv(prime).unwrap();
            product *= prime;
            [prime, &residue(prime), &coefficient].map(BigUint::to_bytes_be)
        });
        (numbers.map(BigUint::to_bytes_be), others.collect())
    }

    fn load(&self, change: impl Fn(&mut PrivateComponents<'_>)) -> Result<KeyPair, Error> {
        let (parts, others) = self.parts();
        let others: Vec<_> = others
            .iter()
            .map(|[prime, exponent, coefficient]| OtherPrime { prime, exponent, coefficient })
            .collect();
        let [n, e, d, p, q, d_p, d_q, q_inverse] = &parts;
        let mut components = PrivateComponents {
            modulus: n,
            public_exponent: e,
            private_exponent: d,
            prime1: p,
            prime2: q,
            exponent1: d_p,
            exponent2: d_q,
            coefficient: q_inverse,
            other_primes: &others,
        };
        change(&mut components);
        KeyPair::from_components(&components)
    }

    /// Checks signatures against the model, and the file against OpenSSL if it supports the form.
    fn check(&self, key: &KeyPair) {
        assert_eq!(key.public_key().bits() as u64, self.n.bits());
        assert_eq!(BigUint::from(key.public_key().exponent()), self.e);
        for scheme in SCHEMES {
            let signature = key.sign(scheme, b"message", &mut Generator::new(1)).unwrap();
            key.public_key().verify(scheme, b"message", &signature).unwrap();
            assert_eq!(
                key.public_key().verify(scheme, b"massage", &signature),
                Err(Error::Signature)
            );
        }
        let signature = key.sign(SCHEMES[0], b"message", &mut Generator::new(1)).unwrap();
        let signed = BigUint::from_bytes_be(&signature);
        let encoded = signed.modpow(&self.e, &self.n);
        assert_eq!(encoded.modpow(&self.d, &self.n), signed);
        assert_eq!(key.check_primes(1, &mut Generator::new(2)), Ok(()));
        let file = key.to_pkcs8_der();
        let again = KeyPair::from_der(&file).unwrap();
        assert_eq!(again.to_pkcs8_der(), file);
        assert_eq!(KeyPair::from_pem(&*key.to_pkcs8_pem()).unwrap().to_pkcs8_der(), file);
        let written = openssl("pkcs8 -topk8 -nocrypt -inform DER -outform DER", &file);
        assert!(written == file[..]);
    }
}

fn new_prime(bits: usize, rng: &mut Generator) -> BigUint {
    let limbs = bits.div_ceil(64);
    let mut prime = vec![0; limbs];
    let mut scratch = vec![0; prime::generate_scratch_limbs(limbs)];
    prime::generate(&mut prime, bits, |_| true, rng, &mut scratch).unwrap();
    BigUint::from_slice(
        &prime.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]).collect::<Vec<_>>(),
    )
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Takes parts out of a key.
type Change = fn(&mut PrivateComponents<'_>);

fn whole(_: &mut PrivateComponents<'_>) {}

#[test]
fn unusual_lengths_and_exponents() {
    // 2047 bits, and the extremes. Lengths of primes, exponent.
    let cases: [(&[usize], u64); 9] = [
        (&[1024, 1023], 65537),
        (&[1021, 1020], 3),
        (&[1025, 1025], 65537),
        (&[1024, 1024], (1 << 32) + 15),
        (&[1024, 1024], u64::MAX),
        (&[1100, 948], 65537),
        (&[948, 1100], u64::MAX - 58),
        (&[1536, 512], 65537),
        (&[512, 2048], 17),
    ];
    for (lengths, e) in cases {
        let numbers = Numbers::new(lengths, e, true);
        let key = numbers.load(whole).unwrap();
        numbers.check(&key);
    }
}

#[test]
fn a_modulus_that_is_one_bit_too_short() {
    // 2047 bits of two primes of 1024 bits, as some programs make them.
    let mut rng = Generator::new(9);
    let e = BigUint::from(65537_u32);
    let (p, q, n) = loop {
        // The generator's primes are above √2·2^1023; a smaller one is the next prime after a
        // power.
        let (p, q) = (new_prime(1024, &mut rng), next_prime((BigUint::from(1_u8) << 1023) + 5_u8));
        let n = &p * &q;
        if n.bits() == 2047 && e.modinv(&((&p - 1_u8) * (&q - 1_u8))).is_some() {
            break (p, q, n);
        }
    };
    let d = e.modinv(&((&p - 1_u8) * (&q - 1_u8))).unwrap();
    let numbers = Numbers { n, e, d, primes: vec![p, q] };
    numbers.check(&numbers.load(whole).unwrap());
    numbers.check(&numbers.load(without_primes).unwrap());
}

fn next_prime(mut from: BigUint) -> BigUint {
    loop {
        let limbs = from.to_u64_digits();
        let mut scratch = vec![0; prime::is_probable_prime_scratch_limbs(limbs.len())];
        let mut rng = Generator::new(5);
        if prime::is_probable_prime_vartime(&limbs, 4, &mut rng, &mut scratch).unwrap() {
            return from;
        }
        from += 2_u8;
    }
}

fn without_primes(parts: &mut PrivateComponents<'_>) {
    (parts.prime1, parts.prime2) = (&[], &[0]);
    (parts.exponent1, parts.exponent2, parts.coefficient) = (&[], &[], &[]);
}

#[test]
fn missing_parts_are_computed() {
    for (lengths, e, least) in [
        (&[1024, 1024][..], 65537, true),
        (&[1024, 1024], 65537, false),
        (&[1024, 1024], 3, true),
        (&[1040, 1040], u64::MAX, false),
        (&[1024, 1023], 65537, true),
        (&[1200, 900], 65537, true),
        (&[800, 1300], 65537, false),
    ] {
        let numbers = Numbers::new(lengths, e, least);
        let complete = numbers.load(whole).unwrap();
        let changes: [(&str, Change); 5] = [
            ("no primes", without_primes),
            ("no exponents", |parts| (parts.exponent1, parts.exponent2) = (&[], &[0, 0])),
            ("no coefficient", |parts| parts.coefficient = &[]),
            ("no d", |parts| parts.private_exponent = &[]),
            ("only primes", |parts| {
                parts.private_exponent = &[];
                (parts.exponent1, parts.exponent2, parts.coefficient) = (&[], &[], &[]);
            }),
        ];
        for (name, change) in changes {
            let key = numbers.load(change).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(key.public_key(), complete.public_key());
            numbers.check(&key);
        }
        // Neither primes nor a private exponent; an exponent of another key; a wrong residue.
        let nothing = numbers.load(|parts| {
            without_primes(parts);
            parts.private_exponent = &[];
        });
        assert_eq!(nothing.unwrap_err(), Error::Key(KeyError::PrivateExponent));
        let other = Numbers::new(lengths, e ^ 2, least).d.to_bytes_be();
        let wrong = (&numbers.d - 2_u8).to_bytes_be();
        for d in [&other, &wrong] {
            let outcome = numbers.load_with_exponent(d);
            assert_eq!(outcome.unwrap_err(), Error::Key(KeyError::PrivateExponent));
        }
    }
}

impl Numbers {
    /// Loads the key from the modulus, the public exponent and another private exponent.
    fn load_with_exponent(&self, d: &[u8]) -> Result<KeyPair, Error> {
        KeyPair::from_components(&PrivateComponents {
            modulus: &self.n.to_bytes_be(),
            public_exponent: &self.e.to_bytes_be(),
            private_exponent: d,
            ..PrivateComponents::default()
        })
    }
}

#[test]
fn more_than_two_primes() {
    for lengths in [
        &[683, 683, 682][..],
        &[512, 900, 636],
        &[1024, 512, 512],
        &[600, 600, 600, 600],
        &[820; 5],
    ] {
        let numbers = Numbers::new(lengths, 65537, true);
        let key = numbers.load(whole).unwrap();
        numbers.check(&key);
        // d does not reveal more than two primes, and no other part may be missing.
        assert_eq!(
            numbers.load_with_exponent(&numbers.d.to_bytes_be()).unwrap_err(),
            Error::Key(KeyError::PrivateExponent)
        );
        let missing = numbers.load(|parts| parts.coefficient = &[]);
        assert_eq!(missing.unwrap_err(), Error::Key(KeyError::MultiPrime));
        let fewer = numbers.load(|parts| parts.other_primes = &[]);
        assert_eq!(fewer.unwrap_err(), Error::Key(KeyError::Product));
    }
    assert_eq!(
        Numbers::new(&[512; 6], 65537, true).load(whole).unwrap_err(),
        Error::Key(KeyError::MultiPrime)
    );
    assert_eq!(
        Numbers::new(&[900, 900, 440], 65537, true).load(whole).unwrap_err(),
        Error::Key(KeyError::Primes)
    );
    for primes in [3, 4] {
        let file = openssl(&format!("genrsa -primes {primes} {}", 1024 * primes), b"");
        let key = KeyPair::from_pem(&file).unwrap();
        assert_eq!(key.to_pkcs8_pem().as_bytes(), file);
        let traditional = openssl("rsa -traditional -outform DER", &file);
        assert_eq!(KeyPair::from_der(&traditional).unwrap().to_pkcs8_der(), key.to_pkcs8_der());
    }
}

#[test]
fn each_part_is_checked() {
    for lengths in [&[1100, 948][..], &[683, 683, 682]] {
        let numbers = Numbers::new(lengths, 65537, true);
        let (parts, others) = numbers.parts();
        let all: Vec<_> = parts.iter().chain(others.iter().flatten()).cloned().collect();
        let load = |all: &[Vec<u8>]| {
            let others: Vec<_> = all[8..]
                .chunks(3)
                .map(|other| OtherPrime {
                    prime: &other[0],
                    exponent: &other[1],
                    coefficient: &other[2],
                })
                .collect();
            KeyPair::from_components(&PrivateComponents {
                modulus: &all[0],
                public_exponent: &all[1],
                private_exponent: &all[2],
                prime1: &all[3],
                prime2: &all[4],
                exponent1: &all[5],
                exponent2: &all[6],
                coefficient: &all[7],
                other_primes: &others,
            })
        };
        let padded: Vec<_> = all.iter().map(|part| [vec![0; 9], part.clone()].concat()).collect();
        assert!(load(&padded).is_ok());
        for i in (0..all.len()).filter(|i| *i != 1) {
            let mut wrong = all.clone();
            let middle = wrong[i].len() / 2;
            wrong[i][middle] ^= 4;
            assert!(load(&wrong).is_err(), "part {i}");
            // The same residue, not reduced.
            let modulus = match i {
                5 => BigUint::from_bytes_be(&all[3]) - 1_u8,
                6 => BigUint::from_bytes_be(&all[4]) - 1_u8,
                7 => BigUint::from_bytes_be(&all[3]),
                9 => BigUint::from_bytes_be(&all[8]) - 1_u8,
                10 => BigUint::from_bytes_be(&all[8]),
                _ => continue,
            };
            let mut larger = all.clone();
            larger[i] = (BigUint::from_bytes_be(&all[i]) + modulus).to_bytes_be();
            assert_eq!(
                load(&larger).unwrap_err(),
                Error::Key(KeyError::PrivateExponent),
                "part {i}"
            );
        }
        // Twice the same prime.
        let p = &numbers.primes[0];
        let mut square = all.clone();
        (square[0], square[4]) = ((p * p).to_bytes_be(), all[3].clone());
        assert!(load(&square).is_err());
    }
}

#[test]
fn the_longest_key() {
    let file = include_bytes!("../data/rsa/16384.pem");
    let key = KeyPair::from_pem(file).unwrap();
    assert_eq!(key.public_key().bits(), 16384);
    let scheme = SCHEMES[0];
    let signature = key.sign(scheme, b"message", &mut Generator::new(1)).unwrap();
    let public = OwnedPublicKey::from_der(&key.public_key().to_spki_der()).unwrap();
    public.verify(scheme, b"message", &signature).unwrap();
    assert_eq!(openssl("rsa -traditional", key.to_pkcs8_pem().as_bytes()), file);
}

#[test]
fn exact_memory_suffices_for_every_form() {
    for lengths in [&[1024, 1024][..], &[1300, 748], &[820; 5]] {
        let numbers = Numbers::new(lengths, 65537, true);
        let der = numbers.load(whole).unwrap().to_pkcs8_der();
        let bits = numbers.n.bits() as usize;
        let read = |memory, scratch| {
            PrivateKey::from_der(&der, vec![0; memory], &mut vec![0; scratch]).map(|_| ())
        };
        let (memory, any) = (private_key_limbs(bits), any_private_key_scratch_limbs(bits));
        assert_eq!(read(memory, any), Ok(()));
        let error = Error::MemoryTooSmall { needed: memory, given: memory - 1 };
        assert_eq!(read(memory - 1, any), Err(error));
        let given = der_scratch_limbs(bits);
        let equal = lengths.len() == 2 && lengths[0] == lengths[1];
        match read(memory, given) {
            Ok(()) => assert!(equal),
            Err(Error::MemoryTooSmall { needed, given: reported }) => {
                assert!(!equal && given < needed && needed <= any && reported == given);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn batches_mix_all_forms() {
    let keys: Vec<_> = [&[1024, 1024][..], &[1100, 948], &[1024, 1024], &[683, 683, 682]]
        .iter()
        .zip([65537, 3, 17, 65537])
        .map(|(lengths, e)| Numbers::new(lengths, e, true).load(whole).unwrap())
        .filter(|key| key.public_key().bits() == 2048)
        .collect();
    assert!(keys.len() >= 3);
    let mut memory = vec![0; batch_limbs(2048, 8)];
    let mut batch = Batch::new(2048, Generator::new(3), &mut memory).unwrap();
    for count in [1, 5, 11, 16] {
        let mut signatures = vec![[0; 256]; count];
        let mut jobs: Vec<_> = signatures
            .iter_mut()
            .enumerate()
            .map(|(i, signature)| {
                let key = keys[i % keys.len()].private_key();
                Job::sign_pkcs1v15(key, Hash::Sha256, &[i as u8], signature)
            })
            .collect();
        batch.run(&mut jobs);
        assert!(jobs.iter().all(|job| job.outcome() == Ok(256)));
        for (i, signature) in signatures.iter().enumerate() {
            let public = keys[i % keys.len()].public_key();
            public.verify(SCHEMES[0], &[i as u8], signature).unwrap();
        }
    }
}
