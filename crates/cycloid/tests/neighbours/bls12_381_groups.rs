//! Programs that are generic over the traits of `ff`, `group` and `pairing`, on the library and on
//! the crate `bls12_381`: both give the same bytes.

use cycloid::bls12_381::{Bls12, Compressed, Cycloid, First, Fr, G1, G1Affine, G2, Gt};
use ff::{Field, FromUniformBytes, PrimeField, WithSmallOrderMulGroup};
use group::prime::{PrimeCurveAffine, PrimeGroup};
use group::{Curve, Group, GroupEncoding, UncompressedEncoding, WnafGroup, tests};
use pairing::{Engine, MillerLoopResult, MultiMillerLoop, PairingCurveAffine};
use rand_core_0_6::{RngCore, impls};
use sha2::{Digest, Sha512};

type Peer = bls12_381::Bls12;
type Ours = Bls12<Cycloid>;

/// A generator of the traits' version of `rand_core`: SHA-512 of a counter.
struct Counter(u64);

impl RngCore for Counter {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 += 1;
        let digest = Sha512::digest(self.0.to_le_bytes());
        u64::from_le_bytes(digest[..8].try_into().unwrap())
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        impls::fill_bytes_via_next(self, bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core_0_6::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

/// Returns a scalar of 512 bits of a hash, by Horner's rule.
fn hash_to_scalar<F: PrimeField>(parts: &[&[u8]]) -> F {
    let digest = parts.iter().fold(Sha512::new(), Digest::chain_update).finalize();
    digest.iter().fold(F::ZERO, |sum, byte| sum * F::from(256) + F::from(u64::from(*byte)))
}

/// Signs by Schnorr's scheme; returns the public key, the commitment and the response.
fn schnorr<G: PrimeGroup>(message: &[u8]) -> Vec<u8> {
    let mut rng = Counter(1);
    let (key, nonce) = (G::Scalar::random(&mut rng), G::Scalar::random(&mut rng));
    let (public, commitment) = (G::generator() * key, G::generator() * nonce);
    let encodings = [public.to_bytes(), commitment.to_bytes()];
    let challenge =
        hash_to_scalar::<G::Scalar>(&[encodings[0].as_ref(), encodings[1].as_ref(), message]);
    let response = nonce + challenge * key;
    // The verifier reads what was written.
    let [public, commitment] = encodings.map(|bytes| G::from_bytes(&bytes).unwrap());
    assert!(G::generator() * response == commitment + public * challenge);
    assert!(G::generator() * (response + G::Scalar::ONE) != commitment + public * challenge);
    let mut wrong = encodings[0];
    wrong.as_mut()[0] &= 0x7f;
    assert!(bool::from(G::from_bytes(&wrong).is_none()));
    [encodings[0].as_ref(), encodings[1].as_ref(), response.to_repr().as_ref()].concat()
}

/// Commits to a polynomial, opens it at a point and checks the opening (Kate, Zaverucha and
/// Goldberg); returns the commitment and the proof, uncompressed.
fn polynomial_commitment<E: MultiMillerLoop>() -> Vec<u8> {
    let mut rng = Counter(2);
    let secret = E::Fr::random(&mut rng);
    let coefficients: Vec<E::Fr> = (0..20).map(|_| E::Fr::random(&mut rng)).collect();
    let powers: Vec<E::G1> =
        (0..20).map(|i| E::G1::generator() * secret.pow_vartime([i])).collect();
    let mut affine = vec![E::G1Affine::identity(); 20];
    E::G1::batch_normalize(&powers, &mut affine);
    let commit = |coefficients: &[E::Fr]| -> E::G1 {
        affine.iter().zip(coefficients).map(|(power, coefficient)| *power * coefficient).sum()
    };
    // (f(x) − f(z)) / (x − z), by Horner's rule.
    let point = E::Fr::random(&mut rng);
    let mut value = E::Fr::ZERO;
    let mut quotient = Vec::new();
    for coefficient in coefficients.iter().rev() {
        quotient.insert(0, value);
        value = value * point + coefficient;
    }
    let (commitment, proof) = (commit(&coefficients), commit(&quotient));
    // e(proof, [s − z]) = e(commitment − [value], 1).
    let check = |value: E::Fr| {
        let left = E::G2::generator() * (secret - point);
        let right = commitment - E::G1::generator() * value;
        let terms = [
            (proof.to_affine(), left.to_affine().into()),
            ((-right).to_affine(), E::G2Affine::generator().into()),
            // Infinity adds nothing.
            (E::G1Affine::identity(), E::G2Affine::generator().into()),
            (E::G1Affine::generator(), E::G2Affine::identity().into()),
        ];
        let terms: Vec<(&E::G1Affine, &E::G2Prepared)> =
            terms.iter().map(|(p, q)| (p, q)).collect();
        let sum = E::multi_miller_loop(&terms[..1]) + E::multi_miller_loop(&terms[1..]);
        assert_eq!(sum.final_exponentiation(), E::multi_miller_loop(&terms).final_exponentiation());
        bool::from(sum.final_exponentiation().is_identity())
    };
    assert!(check(value) && !check(value + E::Fr::ONE));
    assert!(bool::from(E::multi_miller_loop(&[]).final_exponentiation().is_identity()));
    let points = [commitment.to_affine(), proof.to_affine()];
    points.iter().flat_map(|point| point.to_uncompressed().as_ref().to_vec()).collect()
}

/// Adds up signatures of several signers over one message and checks the sum by two pairings
/// (Boneh, Lynn and Shacham); returns the sum.
fn aggregate_signature<E: Engine>() -> Vec<u8> {
    let mut rng = Counter(3);
    let keys: Vec<E::Fr> = (0..5).map(|_| E::Fr::random(&mut rng)).collect();
    // The traits have no hash to the curve.
    let message: E::G2Affine = (E::G2::generator() * hash_to_scalar::<E::Fr>(&[b"message"])).into();
    let signature: E::G2 = keys.iter().map(|key| message * *key).sum();
    let public: E::G1 = keys.iter().map(|key| E::G1::generator() * key).sum();
    let bytes = signature.to_affine().to_bytes();
    let signature = E::G2Affine::from_bytes(&bytes).unwrap();
    let left = E::pairing(&E::G1Affine::generator(), &signature);
    assert_eq!(left, E::pairing(&public.into(), &message));
    assert_eq!(left, message.pairing_with(&public.into()));
    let sum: E::Fr = keys.iter().sum();
    let product = E::pairing(&E::G1Affine::generator(), &message) * sum;
    assert_eq!(left, product);
    assert!(left != product + E::Gt::generator());
    bytes.as_ref().to_vec()
}

/// Returns the results of all operations of a field on numbers at its edges and on random ones.
fn field<F: PrimeField<Repr = [u8; 32]>>() -> Vec<[u8; 32]> {
    let mut rng = Counter(4);
    let mut numbers = vec![F::ZERO, F::ONE, -F::ONE, F::TWO_INV, F::DELTA, F::from(u64::MAX)];
    numbers.extend([F::MULTIPLICATIVE_GENERATOR, F::ROOT_OF_UNITY, F::ROOT_OF_UNITY_INV]);
    numbers.extend([F::from_u128(u128::MAX), F::from_str_vartime("123456789").unwrap()]);
    numbers.extend((0..8).map(|_| F::random(&mut rng)));
    let mut found = numbers.clone();
    for a in &numbers {
        found.extend([-*a, a.square(), a.cube(), a.double(), a.invert().unwrap_or(F::ZERO)]);
        found.extend([a.pow([5, 1]), a.pow_vartime([5, 1]), a.sqrt().unwrap_or(F::ZERO)]);
        let flags = [a.is_zero(), a.is_odd(), a.invert().is_some(), a.sqrt().is_some()];
        found.extend(flags.map(|flag| F::from(u64::from(flag.unwrap_u8()))));
        assert_eq!(F::from_repr(a.to_repr()).unwrap(), *a);
        for b in &numbers {
            let (square, root) = F::sqrt_ratio(a, b);
            found.extend([*a + b, *a - b, *a * b, root, F::from(u64::from(square.unwrap_u8()))]);
            assert_eq!(bool::from(a.ct_eq(b)), a == b);
            assert_eq!(F::conditional_select(a, b, 0.into()), *a);
            assert_eq!(F::conditional_select(a, b, 1.into()), *b);
            let (mut sum, mut difference, mut product) = (*a, *a, *a);
            sum += b;
            difference -= b;
            product *= b;
            assert_eq!([sum, difference, product], [*a + b, *a - b, *a * b]);
        }
    }
    found.extend([numbers.iter().sum::<F>(), numbers.iter().product()]);
    assert!(bool::from(F::from_repr([0xff; 32]).is_none()));
    found.iter().map(F::to_repr).collect()
}

#[test]
fn both_crates_give_the_same_bytes() {
    assert_eq!(field::<Fr>(), field::<bls12_381::Scalar>());
    assert_eq!(Fr::<Cycloid>::MODULUS, bls12_381::Scalar::MODULUS);
    let ours = (Fr::<Cycloid>::NUM_BITS, Fr::<Cycloid>::CAPACITY, <Fr as PrimeField>::S);
    let theirs = (bls12_381::Scalar::NUM_BITS, bls12_381::Scalar::CAPACITY, bls12_381::Scalar::S);
    assert_eq!(ours, theirs);
    assert_eq!(schnorr::<G1>(b"message"), schnorr::<bls12_381::G1Projective>(b"message"));
    assert_eq!(schnorr::<G2>(b"message"), schnorr::<bls12_381::G2Projective>(b"message"));
    assert_eq!(polynomial_commitment::<Ours>(), polynomial_commitment::<Peer>());
    assert_eq!(aggregate_signature::<Ours>(), aggregate_signature::<Peer>());
}

#[test]
fn a_root_of_unity_of_order_three_and_uniform_bytes() {
    let zeta = <Fr as WithSmallOrderMulGroup<3>>::ZETA;
    assert!(zeta != Fr::ONE && zeta.pow_vartime(&[3]) == Fr::ONE);
    // The other one is larger.
    assert!(zeta.to_integer().iter().rev().lt(zeta.square().to_integer().iter().rev()));
    let mut bytes = [0; 64];
    for _ in 0..8 {
        Counter(u64::from(bytes[0])).fill_bytes(&mut bytes);
        let number: Fr = Fr::from_uniform_bytes(&bytes);
        assert_eq!(number.to_bytes(), bls12_381::Scalar::from_bytes_wide(&bytes).to_bytes());
    }
}

#[test]
fn the_tests_of_the_crate_group() {
    tests::curve_tests::<G1>();
    tests::curve_tests::<G2>();
    tests::random_uncompressed_encoding_tests::<G1>();
    tests::random_wnaf_tests::<G1>();
}

#[test]
fn a_window_grows_with_the_number_of_scalars() {
    let windows =
        [1, 10, 1000, 100_000, usize::MAX].map(G1::<Cycloid>::recommended_wnaf_for_num_scalars);
    assert!(windows.is_sorted() && windows[0] >= 2 && windows[4] == 22, "{windows:?}");
}

#[test]
fn gt_is_a_group_that_is_written_additively() {
    let mut rng = Counter(5);
    let (a, b) = (<Gt as Group>::random(&mut rng), <Gt as Group>::random(&mut rng));
    assert_eq!(a + b, a * b);
    assert_eq!(a - b, a / b);
    assert_eq!(-a + a, <Gt as Group>::identity());
    assert_eq!(Group::double(&a), a * Fr::from(2));
    assert_eq!([a, b].iter().sum::<Gt>(), a + b);
    let (mut sum, mut difference) = (a, a);
    sum += &b;
    difference -= &b;
    assert_eq!((sum, difference), (a + b, a - b));
}

#[test]
fn points_outside_the_group_are_refused() {
    type Point = G1Affine<Cycloid>;
    type Encoding = Compressed<First>;
    let read = |bytes: &Encoding| <Point as GroupEncoding>::from_bytes(bytes);
    let read_unchecked = |bytes: &Encoding| <Point as GroupEncoding>::from_bytes_unchecked(bytes);
    assert!(bool::from(read(&Encoding::default()).is_none()));
    // Most points of the curve have another order.
    let outside = (0..=u8::MAX).map(|x| {
        let mut encoding = Encoding::default();
        (encoding.0[0], encoding.0[47]) = (0x80, x);
        encoding
    });
    let outside: Vec<Encoding> =
        outside.filter(|encoding| bool::from(read_unchecked(encoding).is_some())).collect();
    assert!(outside.len() > 100);
    for encoding in outside {
        assert!(bool::from(read(&encoding).is_none()));
        assert!(bool::from(<G1 as GroupEncoding>::from_bytes(&encoding).is_none()));
        let point = read_unchecked(&encoding).unwrap();
        let encoding = UncompressedEncoding::to_uncompressed(&point);
        let found = <Point as UncompressedEncoding>::from_uncompressed(&encoding);
        assert!(bool::from(found.is_none()));
        let found = <Point as UncompressedEncoding>::from_uncompressed_unchecked(&encoding);
        assert_eq!(found.unwrap(), point);
    }
}
