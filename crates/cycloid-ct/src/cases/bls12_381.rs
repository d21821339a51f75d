//! BLS12-381 on the library's own arithmetic: scalars, multiples, keys, signatures, shares,
//! pairings of secret points, powers in GT, transforms, polynomials, permutations, coordinates.

use cycloid::bls12_381::permutation::{Anemoi2, Griffin3, Padding, Permutation, Poseidon3, Rescue};
use cycloid::bls12_381::signature::{
    MinPk, MinSig, Scheme, SecretKey, Share, SignatureBackend, Variant, recover_secret_key, share,
};
use cycloid::bls12_381::{
    self, Affine, Backend, Cycloid, Domain, First, Fp, Fp2, Fr as AnyFr, Gt, Projective, Second,
    SourceGroup, polynomial,
};
use ff::{Field, PrimeField};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::check::{Check, Held, marked};

type Fr = AnyFr<Cycloid>;
type Key<V> = SecretKey<Cycloid, V>;

const MESSAGE: &[u8] = b"the message is public";

/// Returns the bytes of a scalar below r, little-endian.
fn scalar_bytes(check: &mut Check) -> Vec<u8> {
    let mut bytes = check.bytes(32);
    bytes[31] &= 0x3f;
    bytes
}

/// Returns the same scalar unmarked and secret.
fn scalar(check: &mut Check) -> (Fr, Held<Fr>) {
    let bytes = scalar_bytes(check);
    let secret = marked(&bytes);
    let held = check.hold("from bytes", || Fr::from_bytes(&secret).expect("below r"));
    (Fr::from_bytes(&bytes).expect("below r"), held)
}

pub(crate) fn scalars(check: &mut Check) {
    let [(a, secret_a), (b, secret_b)] = [scalar(check), scalar(check)];
    let compute = |a: &Fr, b: &Fr| {
        let product = (*a * *b + a.square() - b.double()).pow(&b.to_integer());
        (product + product.invert().expect("not zero")).to_bytes()
    };
    let result = check.hold("arithmetic", || compute(&secret_a, &secret_b));
    check.secret("arithmetic", &*result, |result| result == compute(&a, &b));
    let wide = check.bytes(64);
    let secret = marked(&wide);
    let reduced = check.hold("wide", || Fr::from_bytes_wide(&secret).to_be_bytes());
    check.secret("wide", &*reduced, |found| found == Fr::from_bytes_wide(&wide).to_be_bytes());
    let inner = check.hold("inner product", || {
        let inner = Fr::inner_product(&[*secret_a, *secret_b], &[*secret_b, *secret_a]);
        inner.expect("as many").to_bytes()
    });
    check.secret("inner product", &*inner, |found| found == (a * b).double().to_bytes());
}

/// Secret choices, comparisons and square roots, by the traits of the crate `ff`.
pub(crate) fn scalars_by_traits(check: &mut Check) {
    let [(a, secret_a), (b, secret_b)] = [scalar(check), scalar(check)];
    let compute = |a: &Fr, b: &Fr| {
        let chosen = Fr::conditional_select(a, b, a.is_odd() | a.ct_eq(b));
        let (is_square, root) = Fr::sqrt_ratio(&chosen, b);
        let inverse = Field::invert(&(root + a)).unwrap_or(Fr::ZERO);
        (inverse + Fr::conditional_select(&Fr::ZERO, &Fr::ONE, is_square)).to_repr()
    };
    let result = check.hold("traits", || compute(&secret_a, &secret_b));
    check.secret("traits", &*result, |result| result == compute(&a, &b));
}

pub(crate) fn multiples_g1(check: &mut Check) {
    multiples::<First>(check);
}

pub(crate) fn multiples_g2(check: &mut Check) {
    multiples::<Second>(check);
}

fn multiples<G: SourceGroup>(check: &mut Check)
where
    Cycloid: bls12_381::backend::Group<G>,
{
    let (plain, secret) = scalar(check);
    let compute = |scalar: &Fr| {
        let first = Projective::<Cycloid, G>::multiply_generator(scalar);
        let sum = first.multiply(scalar) + first.double() - Projective::generator();
        sum.to_affine()
    };
    let point = check.hold("multiply", || compute(&secret));
    let expected = compute(&plain);
    check.judge("multiply", same(&point, &expected));
}

/// Compares two points by their encodings.
fn same<G: SourceGroup>(a: &Affine<Cycloid, G>, b: &Affine<Cycloid, G>) -> bool
where
    Cycloid: bls12_381::backend::Group<G>,
{
    a.to_compressed().as_ref() == b.to_compressed().as_ref()
}

pub(crate) fn many_g1(check: &mut Check) {
    many::<First>(check);
}

pub(crate) fn many_g2(check: &mut Check) {
    many::<Second>(check);
}

fn many<G: SourceGroup>(check: &mut Check)
where
    Cycloid: bls12_381::backend::Group<G>,
{
    let pairs: Vec<_> = (0..9).map(|_| scalar(check)).collect();
    let mut points = vec![Projective::<Cycloid, G>::generator(); pairs.len()];
    check.trace("multiply many", || {
        let scalars: Vec<Fr> = pairs.iter().map(|pair| *pair.1).collect();
        Projective::multiply_many(&mut points, &scalars).expect("as many");
    });
    for ((plain, _), point) in pairs.iter().zip(&points) {
        let expected = Projective::<Cycloid, G>::multiply_generator(plain).to_affine();
        check.judge("multiply many", same(&point.to_affine(), &expected));
    }
}

/// Returns the same key unmarked and secret.
fn key<V: Variant>(check: &mut Check) -> (Key<V>, Held<Key<V>>)
where
    Cycloid: SignatureBackend<V>,
{
    let mut bytes = scalar_bytes(check);
    bytes.reverse();
    let secret = marked(&bytes);
    let held = check.hold("import", || Key::<V>::from_bytes(&secret).expect("below r"));
    (Key::<V>::from_bytes(&bytes).expect("below r"), held)
}

pub(crate) fn keys(check: &mut Check) {
    let (plain, secret) = key::<MinPk>(check);
    let mut public = vec![0; 48];
    check.trace("public key", || public.copy_from_slice(&secret.public_key().to_bytes()));
    check.public("public key", &public, |public| *public == plain.public_key().to_bytes());
    let bytes = check.hold("bytes", || secret.to_bytes());
    check.secret("bytes", &*bytes, |bytes| bytes == plain.to_bytes());

    let seed = check.bytes(32);
    let marked_seed = marked(&seed);
    let derived = check.hold("derive", || {
        let root = Key::<MinPk>::key_gen(&marked_seed, b"").expect("long enough");
        root.to_bytes()
    });
    let expected = Key::<MinPk>::key_gen(&seed, b"").expect("long enough").to_bytes();
    check.secret("derive", &*derived, |bytes| bytes == expected);
    let mut rng = check.rng();
    let generated = check.hold("generate", || {
        Key::<MinPk>::generate(&mut rng).expect("a sound generator").to_bytes()
    });
    check.secret("generate", &*generated, |bytes| Key::<MinPk>::from_bytes(bytes).is_ok());
}

pub(crate) fn sign_small_keys(check: &mut Check) {
    let (plain, secret) = key::<MinPk>(check);
    let mut signature = vec![0; 96];
    check.trace("sign", || {
        signature.copy_from_slice(&secret.sign(Scheme::Basic, MESSAGE).to_bytes());
    });
    let expected = plain.sign(Scheme::Basic, MESSAGE).to_bytes();
    check.public("sign", &signature, |signature| *signature == expected);
}

/// Signs and verifies; the time of verification depends on the signature.
pub(crate) fn sign_verified(check: &mut Check) {
    check.varies();
    let (plain, secret) = key::<MinPk>(check);
    let public = plain.public_key();
    let mut signature = vec![0; 96];
    check.trace("sign and verify", || {
        let signed = secret.verify_after_sign(&public).sign(Scheme::Basic, MESSAGE);
        signature.copy_from_slice(&signed.expect("no fault").to_bytes());
    });
    let expected = plain.sign(Scheme::Basic, MESSAGE).to_bytes();
    check.public("sign and verify", &signature, |signature| *signature == expected);
}

pub(crate) fn sign_small_signatures(check: &mut Check) {
    let (plain, secret) = key::<MinSig>(check);
    let mut signature = vec![0; 48];
    check.trace("sign", || {
        let signed = secret.sign(Scheme::MessageAugmentation, MESSAGE);
        signature.copy_from_slice(&signed.to_bytes());
    });
    let expected = plain.sign(Scheme::MessageAugmentation, MESSAGE).to_bytes();
    check.public("sign", &signature, |signature| *signature == expected);
    check.trace("possession", || signature.copy_from_slice(&secret.prove_possession().to_bytes()));
    let expected = plain.prove_possession().to_bytes();
    check.public("possession", &signature, |signature| *signature == expected);
}

pub(crate) fn shares(check: &mut Check) {
    let (plain, secret) = key::<MinPk>(check);
    let mut rng = check.rng();
    let mut shares: Vec<Option<Share<Cycloid, MinPk>>> = (0..3).map(|_| None).collect();
    check.trace("share", || share(&secret, 2, &mut shares, &mut rng).expect("two of three"));
    let held: Vec<Share<Cycloid, MinPk>> = shares.into_iter().flatten().collect();
    let recovered = check.hold("recover", || {
        let mut scratch = [Fr::ZERO; 2];
        let _ = &mut scratch;
        recover_secret_key(&held[1..]).expect("two shares").to_bytes()
    });
    check.judge("recover", *recovered == plain.to_bytes());
}

pub(crate) fn pairing(check: &mut Check) {
    let (plain, secret) = scalar(check);
    let compute = |scalar: &Fr| {
        let p = Projective::<Cycloid, First>::multiply_generator(scalar).to_affine();
        let q = Projective::<Cycloid, Second>::generator().to_affine();
        bls12_381::pairing(&p, &q).to_bytes()
    };
    let value = check.hold("pairing", || compute(&secret));
    check.secret("pairing", &*value, |value| value == compute(&plain));
}

pub(crate) fn powers(check: &mut Check) {
    let (plain, secret) = scalar(check);
    let base = Gt::<Cycloid>::generator();
    let value = check.hold("power", || base.pow(&secret).to_bytes());
    check.secret("power", &*value, |value| value == base.pow(&plain).to_bytes());
    let pairs: Vec<_> = (0..9).map(|_| scalar(check)).collect();
    let bases = [base; 9];
    let product = check.hold("product of powers", || {
        let exponents: Vec<Fr> = pairs.iter().map(|pair| *pair.1).collect();
        Gt::multi_pow(&bases, &exponents).expect("as many").to_bytes()
    });
    let exponents: Vec<Fr> = pairs.iter().map(|pair| pair.0).collect();
    let expected = Gt::multi_pow(&bases, &exponents).expect("as many").to_bytes();
    check.secret("product of powers", &*product, |product| product == expected);
}

/// Polynomials with secret coefficients, values and arguments, at public points.
pub(crate) fn polynomials(check: &mut Check) {
    let domain = Domain::new(8, vec![Fr::ZERO; 4]).expect("a power of two");
    let points: Vec<Fr> = (1..9).map(Fr::from).collect();
    let pairs: Vec<_> = (0..9).map(|_| scalar(check)).collect();
    let compute = |scalars: &[Fr]| {
        let (z, coefficients) = (scalars[8], &scalars[..8]);
        let mut all = vec![polynomial::evaluate(coefficients, &z)];
        let mut values = coefficients.to_vec();
        all.push(polynomial::divide_by_linear(&mut values, &z));
        all.push(domain.evaluate(&mut values, &z).expect("as many"));
        domain.coset_fft(&z, &mut values).expect("as many");
        domain.inverse_coset_fft(&z, &mut values).expect("not zero");
        let scratch = &mut [Fr::ZERO; 16];
        polynomial::interpolate(&points, &mut values, scratch).expect("distinct points");
        all.extend(values);
        let mut product = [Fr::ZERO; 16];
        polynomial::multiply(coefficients, scalars, &mut product).expect("as many");
        all.extend(product);
        all
    };
    let mut found = vec![Fr::ZERO; 27];
    check.trace("polynomials", || {
        let secrets: Vec<Fr> = pairs.iter().map(|pair| *pair.1).collect();
        found.copy_from_slice(&compute(&secrets));
    });
    let expected = compute(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    check.secret("polynomials", &found, |found| *found == expected[..]);
}

/// Elements of Fp and Fp2. Whether a root exists is public.
pub(crate) fn base_fields(check: &mut Check) {
    let bytes = check.bytes(96);
    let compute = |bytes: &[u8]| {
        let a = Fp::from_bytes_wide(&bytes[..64]);
        let b = Fp2::new(&a, &Fp::from_bytes_wide(&bytes[64..]));
        let root = (b * b).sqrt().expect("a square");
        let inverse = (b + root.square()).invert().expect("not zero");
        (inverse - b.conjugate() * Fp2::new(&b.norm(), &-a)).to_bytes()
    };
    let secret = marked(&bytes);
    let result = check.hold("base fields", || compute(&secret));
    check.secret("base fields", &*result, |result| result == compute(&bytes));
}

pub(crate) fn transform(check: &mut Check) {
    let domain = Domain::new(16, vec![Fr::ZERO; 8]).expect("a power of two");
    let pairs: Vec<_> = (0..16).map(|_| scalar(check)).collect();
    let mut values: Vec<Fr> = vec![Fr::ZERO; 16];
    check.trace("transform", || {
        for (value, (_, secret)) in values.iter_mut().zip(&pairs) {
            *value = **secret;
        }
        domain.fft(&mut values).expect("as many");
    });
    let mut expected: Vec<Fr> = pairs.iter().map(|pair| pair.0).collect();
    domain.fft(&mut expected).expect("as many");
    check.secret("transform", &values, |values| *values == expected[..]);
}

pub(crate) fn permutations(check: &mut Check) {
    let [(a, secret_a), (b, secret_b)] = [scalar(check), scalar(check)];
    let (poseidon, rescue) = (Poseidon3::generate(), Rescue::<2, 2>::generate(1, 128));
    let (griffin, anemoi) = (Griffin3::generate(), Anemoi2::generate());
    let compute = |a: &Fr, b: &Fr| {
        let mut digest = [Fr::ZERO; 2];
        poseidon.hash::<2>(Padding::Length, &[*a, *b], &mut digest);
        rescue.permute(&mut digest);
        let mut state = [digest[0], digest[1], *a];
        griffin.permute(&mut state);
        let [compressed] = anemoi.compress::<1>(&[state[0], state[1]]);
        compressed.to_bytes()
    };
    let result = check.hold("permute", || compute(&secret_a, &secret_b));
    check.secret("permute", &*result, |result| result == compute(&a, &b));
}

pub(crate) fn many_permutations(check: &mut Check) {
    let pairs: Vec<_> = (0..9).map(|_| scalar(check)).collect();
    let (poseidon, anemoi) = (Poseidon3::generate(), Anemoi2::generate());
    let mut states = vec![[Fr::ZERO; 3]; pairs.len()];
    let mut outputs = vec![[Fr::ZERO]; pairs.len()];
    let mut encoded = vec![[0; 32]; pairs.len()];
    check.trace("permute each", || {
        for (state, (_, secret)) in states.iter_mut().zip(&pairs) {
            *state = [**secret; 3];
        }
        poseidon.permute_each(&mut states);
        let halves: Vec<[Fr; 2]> = states.iter().map(|state| [state[0], state[1]]).collect();
        anemoi.compress_each(&halves, &mut outputs).expect("as many");
        for (encoded, [output]) in encoded.iter_mut().zip(&outputs) {
            *encoded = output.to_bytes();
        }
    });
    for ((plain, _), encoded) in pairs.iter().zip(&encoded) {
        let mut state = [*plain; 3];
        poseidon.permute(&mut state);
        let [expected] = anemoi.compress::<1>(&[state[0], state[1]]);
        check.secret("permute each", encoded, |encoded| encoded == expected.to_bytes());
    }
}

/// Fails to compile unless the backend implements all traits, so the cases test the named backend.
const _: fn() = || {
    fn is_backend<B: Backend>() {}
    is_backend::<Cycloid>();
};
