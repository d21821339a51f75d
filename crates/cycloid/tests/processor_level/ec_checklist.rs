//! Known mistakes of other implementations of these curves, each as a named test, and batches
//! compared with single operations at edge cases. The model is chord and tangent over big integers.

use crate::support::Generator;
use crate::support::curve::Model;
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Curve, Error, P224, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::ecdh;
use cycloid::scheme::ecdsa::{self, Job, Signature};
use num_bigint::BigUint;
use rand_core::Rng;

macro_rules! on_every_curve {
    ($($(#[$doc:meta])* $test:ident => $body:ident;)+) => {$(
        $(#[$doc])*
        #[test]
        fn $test() {
            $body::<P224>();
            $body::<P256>();
            $body::<P384>();
            $body::<P521>();
        }
    )+};
}

on_every_curve! {
    /// Digests of 0, n or more must not be refused, and batches must agree with single operations
    /// (1, 6).
    batches_equal_single_operations_at_edge_cases => edges_in_batches;
    /// Infinity must not be a key, also when compressed; nor must truncated compressed points (3).
    infinity_and_short_points_are_not_keys => infinity;
    /// Additions of equal and of opposite points within a multiplication (4, 7).
    multiples_around_zero_the_order_and_powers_of_two => multiples;
    /// u₁·G = u₂·Q, so the sum is a doubling, and u₁·G = −u₂·Q, so it is infinity (4).
    equal_and_opposite_summands_in_verification => summands;
    /// An x coordinate of n or more must be reduced, and r must be compared below p (5).
    x_coordinates_above_the_order => large_abscissas;
    /// r or s is 0 or n or more, or both are 0 (6).
    numbers_out_of_range_are_not_a_signature => range;
    /// Digests longer than n are cut at bits, not at bytes, and shorter ones are unchanged (6).
    digests_are_cut_to_the_bits_of_the_order => digest_lengths;
    /// Errors that would cancel in a sum of equations (8).
    errors_do_not_cancel_in_a_batch => cancelling;
    /// r and s with leading zeros: their lengths and signs in both encodings (6, 10).
    generating_many_keys => generated_keys;
    short_numbers_in_both_encodings => short_numbers;
}

fn number(generator: &mut Generator, below: &BigUint) -> BigUint {
    let mut bytes = [0; 80];
    generator.fill_bytes(&mut bytes);
    BigUint::from_bytes_be(&bytes) % below
}

fn fixed<C: Curve>(model: &Model, r: &BigUint, s: &BigUint) -> Result<Signature<C>, Error> {
    Signature::from_fixed(&[model.bytes(r), model.bytes(s)].concat())
}

/// Returns a digest that represents this number below 2^bits.
fn digest_of<C: Curve>(model: &Model, number: &BigUint) -> Vec<u8> {
    model.bytes(&(number << (8 * C::BYTES - C::BITS)))
}

fn edges_in_batches<C: Curve>() {
    let model = Model::of::<C>();
    let mut generator = Generator::new(C::BITS as u64);
    let one = BigUint::from(1u8);
    let keys = [(); 3].map(|()| PrivateKey::<C>::generate(&mut generator).unwrap());
    let all_ones = (&one << C::BITS) - &one;
    let mut digests: Vec<Vec<u8>> =
        [BigUint::ZERO, one.clone(), &model.n - &one, model.n.clone(), &model.n + &one, all_ones]
            .iter()
            .map(|number| digest_of::<C>(&model, number))
            .collect();
    digests.extend([0, 1, 20, 28, 32, 48, 64, 65, 66, 67, 100].map(|length| vec![0xa5; length]));
    digests.push(vec![0; 100]);
    digests.push(vec![0xff; 100]);

    let pairs = || digests.iter().flat_map(|digest| keys.iter().map(move |key| (key, digest)));
    let mut jobs: Vec<_> =
        pairs().map(|(key, digest)| Job::sign_prehashed(key, Hash::Sha384, digest)).collect();
    ecdsa::run_batch(&mut jobs);
    let signatures: Vec<_> = jobs.iter().map(|job| job.signature().unwrap()).collect();
    for ((key, digest), signature) in pairs().zip(&signatures) {
        assert_eq!(key.sign_prehashed(Hash::Sha384, digest), *signature, "{digest:x?}");
        assert_eq!(key.public_key().verify_prehashed(digest, signature), Ok(()), "{digest:x?}");
    }

    // Valid signatures, wrong keys, wrong digests, wrong signatures and extreme numbers, mixed.
    let last = &model.n - &one;
    let ends = [(&one, &one), (&one, &last), (&last, &one), (&last, &last)]
        .map(|(r, s)| fixed::<C>(&model, r, s).unwrap());
    let (mut right, mut wrong) = (0, 0);
    for round in 0..30 {
        let jobs_in_round = 1 + round % 19;
        let chosen: Vec<_> = (0..jobs_in_round)
            .map(|_| {
                let which = generator.next_u32() as usize % signatures.len();
                let (key, digest) = pairs().nth(which).unwrap();
                let mut chosen = (key.public_key(), digest, &signatures[which]);
                match generator.next_u32() % 8 {
                    0 => chosen.0 = keys[generator.next_u32() as usize % 3].public_key(),
                    1 => chosen.1 = &digests[generator.next_u32() as usize % digests.len()],
                    2 => chosen.2 = &signatures[generator.next_u32() as usize % signatures.len()],
                    3 => chosen.2 = &ends[generator.next_u32() as usize % 4],
                    _ => {}
                }
                chosen
            })
            .collect();
        let mut jobs: Vec<_> = chosen
            .iter()
            .map(|(key, digest, signature)| Job::verify_prehashed(key, digest, signature))
            .collect();
        ecdsa::run_batch(&mut jobs);
        for ((key, digest, signature), job) in chosen.iter().zip(&jobs) {
            let alone = key.verify_prehashed(digest, signature);
            assert_eq!(job.outcome(), alone, "{digest:x?}");
            if alone.is_ok() { right += 1 } else { wrong += 1 }
        }
    }
    assert!(right > 50 && wrong > 50, "{right} {wrong}");
}

fn infinity<C: Curve>() {
    let read = PublicKey::<C>::from_sec1;
    assert_eq!(read(&[0]), Err(Error::PointAtInfinity));
    for length in 0..2 * C::BYTES + 3 {
        for tag in 0..=8 {
            let mut bytes = vec![0; length];
            if let Some(first) = bytes.first_mut() {
                *first = tag;
            }
            // An encoding of the right length is not a point, or is the point with x coordinate 0.
            match (tag, length) {
                (2 | 3, length) if length == 1 + C::BYTES => {
                    if let Ok(point) = read(&bytes) {
                        assert_eq!(point.to_compressed()[..], bytes);
                    }
                }
                _ => assert!(read(&bytes).is_err(), "{tag} {length}"),
            }
        }
    }
    let one = [vec![0; C::BYTES - 1], vec![1]].concat();
    let generator = *PrivateKey::<C>::from_bytes(&one).unwrap().public_key();
    for encoded in [generator.to_compressed(), generator.to_uncompressed()] {
        assert_eq!(read(&encoded), Ok(generator));
        for length in 0..encoded.len() {
            assert!(read(&encoded[..length]).is_err());
        }
        assert!(read(&[&encoded[..], &[0]].concat()).is_err());
    }
    // Coordinates of p or more, including those of a point modulo p.
    let model = Model::of::<C>();
    for coordinate in [model.p.clone(), &model.p + 1u8, &model.p + 5u8] {
        if coordinate.bits() > 8 * C::BYTES as u64 {
            continue;
        }
        let x = model.bytes(&coordinate);
        assert_eq!(read(&[&[2][..], &x].concat()), Err(Error::CoordinateRange));
        let wrong = [&[4][..], &x, &generator.to_uncompressed()[1 + C::BYTES..]].concat();
        assert_eq!(read(&wrong), Err(Error::CoordinateRange));
    }
}

fn multiples<C: Curve>() {
    let model = Model::of::<C>();
    let mut generator = Generator::new(7);
    let other = *PrivateKey::<C>::generate(&mut generator).unwrap().public_key();
    let g = model.generator.clone();
    let mut power = BigUint::from(1u8);
    // 2^i·G and 2^i·Q.
    let (mut of_g, mut of_q) = (g.clone(), model.point(&other));
    let q = of_q.clone();
    let mut cases = Vec::new();
    while power < model.n {
        for (step_g, step_q, scalar) in [
            (None, None, power.clone()),
            (g.clone(), q.clone(), &power + 1u8),
            (model.negate(&g), model.negate(&q), &power - 1u8),
        ] {
            if scalar == BigUint::ZERO || scalar >= model.n {
                continue;
            }
            let (kg, kq) = (model.add(&of_g, &step_g), model.add(&of_q, &step_q));
            let opposite = &model.n - &scalar;
            cases.push((opposite, model.negate(&kg), model.negate(&kq)));
            cases.push((scalar, kg, kq));
        }
        (of_g, of_q) = (model.add(&of_g, &of_g), model.add(&of_q, &of_q));
        power <<= 1;
    }
    assert!(cases.len() > 5 * C::BITS);
    let keys: Vec<PrivateKey<C>> = cases.iter().map(|(scalar, ..)| model.private(scalar)).collect();
    for (key, (scalar, kg, _)) in keys.iter().zip(&cases) {
        assert_eq!(model.point(key.public_key()), *kg, "{scalar:x}");
    }
    let base = model.public::<C>(&g);
    let mut of_base: Vec<_> = keys.iter().map(|key| ecdh::Job::agree(key, &base)).collect();
    let mut of_other: Vec<_> = keys.iter().map(|key| ecdh::Job::agree(key, &other)).collect();
    ecdh::run_batch(&mut of_base);
    ecdh::run_batch(&mut of_other);
    for (i, (key, (scalar, kg, kq))) in keys.iter().zip(&cases).enumerate() {
        for (peer, job, multiple) in [(&base, &of_base[i], kg), (&other, &of_other[i], kq)] {
            let expected = model.bytes(&multiple.as_ref().unwrap().0);
            assert_eq!(key.agree(peer)[..], expected, "{scalar:x}");
            assert_eq!(job.shared_secret().unwrap()[..], expected, "{scalar:x}");
        }
    }
}

/// Checks the result of one job, single and in every lane beside a valid one.
#[track_caller]
fn assert_verifies<C: Curve>(
    key: &PublicKey<C>,
    digest: &[u8],
    signature: &Signature<C>,
    expected: Result<(), Error>,
) {
    assert_eq!(key.verify_prehashed(digest, signature), expected);
    let good = PrivateKey::<C>::generate(&mut Generator::new(3)).unwrap();
    let good_signature = good.sign(Hash::Sha256, b"good");
    for lane in 0..8 {
        let mut jobs: Vec<_> = (0..8)
            .map(|place| {
                if place == lane {
                    Job::verify_prehashed(key, digest, signature)
                } else {
                    Job::verify(good.public_key(), Hash::Sha256, b"good", &good_signature)
                }
            })
            .collect();
        ecdsa::run_batch(&mut jobs);
        for (place, job) in jobs.iter().enumerate() {
            assert_eq!(job.outcome(), if place == lane { expected } else { Ok(()) }, "{lane}");
        }
    }
}

fn summands<C: Curve>() {
    let model = Model::of::<C>();
    let n = &model.n;
    let mut generator = Generator::new(11);
    for _ in 0..3 {
        let d = number(&mut generator, n);
        let k = number(&mut generator, n);
        let key = model.private::<C>(&d);
        let r = model.multiply(&k, &model.generator).unwrap().0 % n;
        // e = r·d, so that e/s·G = r/s·Q.
        let e = &r * &d % n;
        let s = &e * 2u8 * k.modinv(n).unwrap() % n;
        let signature = fixed::<C>(&model, &r, &s).unwrap();
        assert_verifies(key.public_key(), &digest_of::<C>(&model, &e), &signature, Ok(()));
        // e = −r·d, so that the sum is infinity for every s.
        let e = n - e;
        let refused = Err(Error::Verification);
        assert_verifies(key.public_key(), &digest_of::<C>(&model, &e), &signature, refused);
    }
}

/// Returns the key for which (r, s) is a signature of e with the nonce point R: (s·R − e·G)/r.
fn recovered<C: Curve>(
    model: &Model,
    point: &PublicKey<C>,
    [r, s, e]: [&BigUint; 3],
) -> PublicKey<C> {
    let of_point = model.multiply(s, &model.point(point));
    let of_generator = model.multiply(&(&model.n - e), &model.generator);
    let inverse = r.modinv(&model.n).unwrap();
    model.public(&model.multiply(&inverse, &model.add(&of_point, &of_generator)))
}

/// Returns the points with the first valid x coordinate from `start` on.
fn point_from<C: Curve>(model: &Model, start: &BigUint) -> (BigUint, PublicKey<C>) {
    let mut x = start.clone();
    loop {
        let compressed = [vec![2], model.bytes(&x)].concat();
        match PublicKey::from_sec1(&compressed) {
            Ok(point) => return (x, point),
            Err(error) => assert_eq!(error, Error::NotOnCurve),
        }
        x += 1u8;
    }
}

fn large_abscissas<C: Curve>() {
    let model = Model::of::<C>();
    let [s, e] = [5u8, 77].map(BigUint::from);
    // If n is less than p, there are x coordinates from n on. If it is more, r may be p or more,
    // and then no point has it.
    if model.n < model.p {
        let (x, point) = point_from::<C>(&model, &(&model.n + 1u8));
        assert!(x < model.p);
        let r = &x - &model.n;
        let key = recovered(&model, &point, [&r, &s, &e]);
        let signature = fixed::<C>(&model, &r, &s).unwrap();
        assert_verifies(&key, &digest_of::<C>(&model, &e), &signature, Ok(()));
        // Unreduced, the number is out of range for a signature.
        assert_eq!(fixed::<C>(&model, &x, &s), Err(Error::SignatureRange));
    }
    // A small x coordinate is a valid r; x + n belongs to another point.
    let (x, point) = point_from::<C>(&model, &BigUint::from(1u8));
    let key = recovered(&model, &point, [&x, &s, &e]);
    let signature = fixed::<C>(&model, &x, &s).unwrap();
    assert_verifies(&key, &digest_of::<C>(&model, &e), &signature, Ok(()));
    let next = fixed::<C>(&model, &(&x + 1u8), &s).unwrap();
    assert_verifies(&key, &digest_of::<C>(&model, &e), &next, Err(Error::Verification));
}

fn range<C: Curve>() {
    let model = Model::of::<C>();
    let one = BigUint::from(1u8);
    let all_ones = (&one << (8 * C::BYTES)) - &one;
    let wrong = [BigUint::ZERO, model.n.clone(), &model.n + &one, all_ones];
    for wrong in &wrong {
        for (r, s) in [(wrong, &one), (&one, wrong), (wrong, wrong)] {
            assert_eq!(fixed::<C>(&model, r, s), Err(Error::SignatureRange));
            let integer = |number: &BigUint| {
                let bytes = number.to_bytes_be();
                let sign: &[u8] = if bytes[0] < 0x80 { &[] } else { &[0] };
                [&[2, (sign.len() + bytes.len()) as u8], sign, &bytes].concat()
            };
            let contents = [integer(r), integer(s)].concat();
            let length = contents.len() as u8;
            let header = if length < 0x80 { vec![0x30, length] } else { vec![0x30, 0x81, length] };
            let der = [header, contents].concat();
            assert_eq!(Signature::<C>::from_der(&der), Err(Error::SignatureRange));
        }
    }
    assert!(fixed::<C>(&model, &one, &(&model.n - &one)).is_ok());
    for length in [0, 1, 2 * C::BYTES - 1, 2 * C::BYTES + 1] {
        let error = Error::Length { needed: 2 * C::BYTES, given: length };
        assert_eq!(Signature::<C>::from_fixed(&vec![1; length]), Err(error));
    }
}

fn digest_lengths<C: Curve>() {
    let key = PrivateKey::<C>::generate(&mut Generator::new(5)).unwrap();
    let long: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(37) ^ 11).collect();
    let signature = key.sign_prehashed(Hash::Sha256, &long);
    let verify = |digest: &[u8]| key.public_key().verify_prehashed(digest, &signature);
    assert_eq!(verify(&long), Ok(()));
    let bytes = C::BITS.div_ceil(8);
    // Bits beyond the length of n are ignored.
    assert_eq!(verify(&long[..bytes]), Ok(()));
    let unused = 8 * bytes - C::BITS;
    let mut changed = long.clone();
    changed[bytes..].fill(0);
    changed[bytes - 1] ^= ((1u16 << unused) - 1) as u8;
    assert_eq!(verify(&changed), Ok(()));
    // The last bit counts.
    changed[bytes - 1] ^= 1 << unused;
    assert_eq!(verify(&changed), Err(Error::Verification));
    // A shorter digest is used whole: zeros before it change nothing, zeros after it do.
    let short = &long[..20];
    let signature = key.sign_prehashed(Hash::Sha256, short);
    let verify = |digest: &[u8]| key.public_key().verify_prehashed(digest, &signature);
    assert_eq!(verify(&[&[0; 4], short].concat()), Ok(()));
    assert_eq!(verify(&[short, &[0; 4]].concat()), Err(Error::Verification));
}

fn cancelling<C: Curve>() {
    let model = Model::of::<C>();
    let key = PrivateKey::<C>::generate(&mut Generator::new(9)).unwrap();
    let parts = |message: &[u8]| {
        let bytes = key.sign(Hash::Sha256, message).to_fixed();
        let (r, s) = bytes.split_at(C::BYTES);
        [r, s].map(BigUint::from_bytes_be)
    };
    let ([r1, s1], [r2, s2]) = (parts(b"one"), parts(b"two"));
    // s₁ + 1 and s₂ − 1; the signatures swapped; r swapped.
    for (first, second) in [
        ((&r1, &s1 + 1u8), (&r2, &s2 - 1u8)),
        ((&r2, s2.clone()), (&r1, s1.clone())),
        ((&r2, s1.clone()), (&r1, s2.clone())),
    ] {
        let signatures = [first, second].map(|(r, s)| fixed::<C>(&model, r, &s).unwrap());
        let good = key.sign(Hash::Sha256, b"one");
        let mut jobs: Vec<_> = (0..8)
            .map(|i| match i % 4 {
                0 => Job::verify(key.public_key(), Hash::Sha256, b"one", &signatures[0]),
                1 => Job::verify(key.public_key(), Hash::Sha256, b"two", &signatures[1]),
                _ => Job::verify(key.public_key(), Hash::Sha256, b"one", &good),
            })
            .collect();
        ecdsa::run_batch(&mut jobs);
        for (i, job) in jobs.iter().enumerate() {
            let expected = if i % 4 < 2 { Err(Error::Verification) } else { Ok(()) };
            assert_eq!(job.outcome(), expected, "{i}");
        }
    }
}

/// Keys generated side by side are those generated one by one from the same random numbers.
fn generated_keys<C: Curve>() {
    for count in [0, 1, 3, 4, 8, 11] {
        let (mut one_by_one, mut together) = (Generator::new(7), Generator::new(7));
        let mut keys: Vec<Option<PrivateKey<C>>> = (0..count).map(|_| None).collect();
        PrivateKey::generate_each(&mut keys, &mut together).unwrap();
        for key in keys.iter().flatten() {
            let alone = PrivateKey::<C>::generate(&mut one_by_one).unwrap();
            let [mut bytes, mut expected] = [vec![0; C::BYTES], vec![0; C::BYTES]];
            key.to_bytes(&mut bytes).unwrap();
            alone.to_bytes(&mut expected).unwrap();
            assert_eq!(bytes, expected);
            assert_eq!(key.public_key(), alone.public_key());
        }
        assert_eq!(keys.iter().flatten().count(), count);

        // A generator that is stuck from the third key on leaves no key.
        let good = C::BYTES * 2;
        let mut stuck = Stuck { left: good, generator: Generator::new(9) };
        let expected = if count < 3 { Ok(()) } else { Err(Error::RandomGenerator) };
        assert_eq!(PrivateKey::generate_each(&mut keys, &mut stuck), expected);
        let left = if count < 3 { count } else { 0 };
        assert_eq!(keys.iter().flatten().count(), left);
    }
}

/// A generator that returns ones after some bytes.
struct Stuck {
    left: usize,
    generator: Generator,
}

impl rand_core::TryRng for Stuck {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.generator.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.generator.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let sound = bytes.len().min(self.left);
        self.left -= sound;
        self.generator.fill_bytes(bytes);
        bytes[sound..].fill(0xff);
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Stuck {}

fn short_numbers<C: Curve>() {
    let model = Model::of::<C>();
    let one = BigUint::from(1u8);
    // Around every bit length: r has that length, s correspondingly fewer bits.
    for bits in 0..C::BITS - 1 {
        let (r, s) = (&one << bits, (&one << (C::BITS - 1 - bits)) - &one);
        let s = if s == BigUint::ZERO { one.clone() } else { s };
        let signature = fixed::<C>(&model, &r, &s).unwrap();
        let bytes = signature.to_fixed();
        assert_eq!(bytes[..], [model.bytes(&r), model.bytes(&s)].concat());
        let der = signature.to_der();
        assert_eq!(Signature::from_der(&der), Ok(signature));
        // The content length of an INTEGER, with room for the sign bit.
        let [r_length, s_length] = [&r, &s].map(|number| number.bits() as usize / 8 + 1);
        let start = if der[1] == 0x81 { 3 } else { 2 };
        assert_eq!(der[start..start + 2], [2, r_length as u8], "{bits}");
        let second = start + 2 + r_length;
        assert_eq!(der[second..second + 2], [2, s_length as u8], "{bits}");
        assert_eq!(der.len(), second + 2 + s_length);
    }
}
