//! BLS12-381: keys, signatures, shares, multiples and pairings of secrets.

use cycloid::bls12_381::permutation::{
    Anemoi2, Griffin3, Padding, Permutation, Poseidon, Poseidon3, Rescue3,
};
use cycloid::bls12_381::signature::{
    MinPk, MinSig, Scheme, SecretKey, batch_verify, recover_secret_key, share,
};
use cycloid::bls12_381::{Cycloid, Fr, G1, G2, Gt, multi_pairing, pairing};
use cycloid::scheme::stack_use;
use cycloid::stack;
use num_bigint::BigUint;

use super::case::{Case, Prepared, case};
use super::random::{Random, Tape, big_endian, number};
use crate::needles::Needles;
use crate::protocol::Input;

const MESSAGE: &[u8] = b"the message is public";

type Element = Fr<Cycloid>;
type Key = SecretKey<Cycloid, MinPk>;
type OtherKey = SecretKey<Cycloid, MinSig>;

pub(super) fn add(cases: &mut Vec<Case>) {
    let key = stack_use::BLS_KEY;
    cases.push(case(
        "BLS key_gen",
        key,
        material,
        |input| (first(input), None),
        |(bytes, place)| {
            stack::try_keep(place, || Key::key_gen(bytes, b"information"))
                .expect("the key material is long enough");
        },
    ));
    cases.push(case(
        "BLS from_bytes",
        key,
        scalar,
        |input| (first(input), None),
        |(bytes, place)| {
            stack::try_keep(place, || Key::from_bytes(bytes)).expect("the scalar is in range");
        },
    ));
    cases.push(case(
        "BLS generate",
        key,
        |random| {
            let mut prepared = Prepared::default();
            let bytes = random.bytes(64);
            prepared.needles.bytes("random numbers", &bytes);
            secret(&mut prepared.needles, &(BigUint::from_bytes_le(&bytes) % order()));
            prepared.input.push(bytes);
            prepared
        },
        |input| (first(input), None),
        |(tape, place)| {
            stack::try_keep(place, || Key::generate(&mut Tape(tape))).expect("the numbers differ");
        },
    ));
    cases.push(case(
        "BLS derive_child and to_bytes",
        key,
        |random| {
            let mut prepared = scalar(random);
            let child = Key::from_bytes(&prepared.input[0]).expect("in range").derive_child(7);
            secret(&mut prepared.needles, &BigUint::from_bytes_be(&child.to_bytes()));
            prepared
        },
        |input| (loaded(input), None, None),
        |(key, place, bytes)| {
            stack::keep(place, || key.derive_child(7));
            stack::keep(bytes, || key.to_bytes());
        },
    ));
    cases.push(case(
        "BLS share and recover",
        key,
        |random| {
            let mut prepared = scalar(random);
            prepared.input.push(random.bytes(64 * 2));
            let [key, tape] =
                [&prepared.input[0], &prepared.input[1]].map(|part| part.clone().leak());
            let secret_key = Key::from_bytes(key).expect("the scalar is in range");
            let mut shares = [const { None }; 4];
            share(&secret_key, 3, &mut shares, &mut Tape(tape)).expect("3 are fewer than 4");
            for share in shares.iter().flatten() {
                let share = BigUint::from_bytes_be(&share.key.to_bytes());
                secret(&mut prepared.needles, &share);
            }
            for coefficient in prepared.input[1].chunks(64) {
                prepared.needles.bytes("random numbers", coefficient);
                secret(&mut prepared.needles, &(BigUint::from_bytes_le(coefficient) % order()));
            }
            prepared
        },
        |input| {
            let [_, tape] = input.parts();
            (loaded(input), tape, [const { None }; 4], None, None)
        },
        |(key, tape, shares, all, place)| {
            share(key, 3, shares, &mut Tape(tape)).expect("3 are fewer than 4");
            let shares = stack::keep(all, || {
                shares.each_mut().map(|share| share.take().expect("there are four"))
            });
            stack::try_keep(place, || recover_secret_key(shares)).expect("the shares suffice");
        },
    ));
    cases.push(case(
        "BLS sign and public_key, small keys",
        stack_use::BLS_SIGN,
        scalar,
        loaded,
        |key| {
            std::hint::black_box(key.public_key());
            std::hint::black_box(key.sign(Scheme::MessageAugmentation, MESSAGE));
        },
    ));
    cases.push(case(
        "BLS sign and prove_possession, small signatures",
        stack_use::BLS_SIGN,
        scalar,
        |input| OtherKey::from_bytes(first(input)).expect("the scalar is in range"),
        |key| {
            std::hint::black_box(key.sign(Scheme::Basic, MESSAGE));
            std::hint::black_box(key.prove_possession());
        },
    ));
    cases.push(case(
        "BLS multiples and a power by a secret scalar",
        stack_use::BLS_MULTIPLY_MANY,
        scalar,
        |input| {
            let scalar =
                Fr::<Cycloid>::from_be_bytes(first(input)).expect("the scalar is in range");
            let gt = pairing(&G1::generator().to_affine(), &G2::generator().to_affine());
            (scalar, [scalar; 8], [G1::generator(); 8], [G2::generator(); 8], gt)
        },
        |(scalar, scalars, first, second, gt)| {
            first[0] = first[0].multiply(scalar);
            second[0] = second[0].multiply(scalar);
            second[1] = G2::multiply_generator(scalar);
            G1::multiply_many(first, scalars).expect("as many");
            G2::multiply_many(second, scalars).expect("as many");
            *gt = gt.pow(scalar);
        },
    ));
    cases.push(case(
        "BLS permutation of one secret state",
        stack_use::bls_permutation(3),
        scalar,
        |input| {
            let permutations = (Poseidon3::generate(), Rescue3::generate(1, 128));
            (permutations, Griffin3::generate(), [element(input); 3], [[Fr::ZERO]; 2])
        },
        |((poseidon, rescue), griffin, state, outputs)| {
            poseidon.hash::<2>(Padding::Length, &*state, &mut outputs[0]);
            outputs[1] = griffin.compress(state);
            griffin.permute(state);
            poseidon.permute(state);
            rescue.permute(state);
        },
    ));
    cases.push(case(
        "BLS permutation of one wide secret state",
        stack_use::bls_permutation(12),
        scalar,
        |input| (Poseidon::<12, 8, 4>::generate(), [element(input); 12], [Fr::ZERO; 3]),
        |(poseidon, state, output)| {
            *output = poseidon.compress(state);
            poseidon.permute(state);
        },
    ));
    cases.push(case(
        "BLS permutations of secret states",
        stack_use::bls_permutation_many(3),
        scalar,
        |input| {
            let permutations = (Poseidon3::generate(), Rescue3::generate(1, 128));
            (permutations, Griffin3::generate(), [[element(input); 3]; 9], [[Fr::ZERO]; 9])
        },
        |((poseidon, rescue), griffin, states, outputs)| {
            griffin.compress_each(states, outputs).expect("as many");
            griffin.permute_each(states);
            poseidon.permute_each(states);
            rescue.permute_each(states);
        },
    ));
    cases.push(case(
        "BLS permutations of wide secret states",
        stack_use::bls_permutation_many(12),
        scalar,
        |input| (Poseidon::<12, 8, 4>::generate(), [[element(input); 12]; 8], [[Fr::ZERO; 3]; 8]),
        |(poseidon, states, outputs)| {
            poseidon.compress_each(states, outputs).expect("as many");
            poseidon.permute_each(states);
        },
    ));
    cases.push(case(
        "BLS permutations of narrow secret states",
        stack_use::bls_permutation_many(2),
        scalar,
        |input| (Anemoi2::generate(), [[element(input); 2]; 8], [[Fr::ZERO]; 8]),
        |(anemoi, states, outputs)| {
            anemoi.compress_each(states, outputs).expect("as many");
            anemoi.permute_each(states);
        },
    ));
    cases.push(case(
        "Fr from_bytes and to_bytes",
        stack_use::BLS_SCALAR_BYTES,
        |random| {
            let mut prepared = scalar(random);
            let reversed = prepared.input[0].iter().rev().copied().collect();
            prepared.input.push(reversed);
            prepared
        },
        |input| (input.parts(), [None; 2], [None; 2]),
        |([big, little], [a, b], bytes)| {
            let a = stack::try_keep(a, || Element::from_be_bytes(big)).expect("it is in range");
            let b = stack::try_keep(b, || Element::from_bytes(little)).expect("it is in range");
            stack::keep(&mut bytes[0], || a.to_be_bytes());
            stack::keep(&mut bytes[1], || b.to_bytes());
        },
    ));
    cases.push(case(
        "Fr invert and pow",
        stack_use::BLS_SCALAR,
        scalar,
        |input| (element(input), [None; 2]),
        |(a, results)| {
            stack::keep(&mut results[0], || a.invert());
            stack::keep(&mut results[1], || Some(a.pow(&[0x1234_5678_9abc_def0])));
        },
    ));
    cases.push(case(
        "BLS product of eight powers by a secret scalar",
        stack_use::BLS_POWERS_MANY,
        scalar,
        |input| {
            let scalar =
                Fr::<Cycloid>::from_be_bytes(first(input)).expect("the scalar is in range");
            let gt = pairing(&G1::generator().to_affine(), &G2::generator().to_affine());
            ([scalar; 8], [gt; 8])
        },
        |(scalars, bases)| {
            bases[0] = Gt::multi_pow(bases, scalars).expect("as many");
        },
    ));
    cases.push(case(
        "BLS pairing of secret points",
        stack_use::BLS_PAIRING,
        coordinates,
        |input| {
            let scalar =
                Fr::<Cycloid>::from_be_bytes(first(input)).expect("the scalar is in range");
            (points(&scalar), None)
        },
        |((g1, g2), value)| {
            stack::keep(value, || pairing(g1, g2));
        },
    ));
    cases.push(case(
        "BLS product of eight pairings of secret points",
        stack_use::BLS_PAIRING_MANY,
        coordinates,
        |input| {
            let scalar =
                Fr::<Cycloid>::from_be_bytes(first(input)).expect("the scalar is in range");
            let (g1, g2) = points(&scalar);
            ([g1; 8], [g2; 8], None)
        },
        |(g1, g2, value)| {
            stack::try_keep(value, || multi_pairing(g1, g2)).expect("as many");
        },
    ));
    cases.push(case(
        "BLS batch_verify of eight",
        stack_use::BLS_VERIFY_MANY,
        |random| Prepared { needles: Needles::default(), ..scalar(random) },
        |input| {
            let key = loaded(input);
            ([key.public_key(); 8], [key.sign(Scheme::Basic, MESSAGE); 8])
        },
        |(keys, signatures)| {
            let scheme = Scheme::ProofOfPossession;
            let outcome = batch_verify(scheme, keys, &[MESSAGE; 8], signatures, &mut Random::new());
            // The signatures use another scheme's tag.
            assert!(outcome.is_err());
        },
    ));
    cases.push(case(
        "BLS verify",
        stack_use::BLS_VERIFY,
        |random| Prepared { needles: Needles::default(), ..scalar(random) },
        |input| {
            let key = loaded(input);
            (key.public_key(), key.sign(Scheme::Basic, MESSAGE))
        },
        |(key, signature)| {
            key.verify(Scheme::Basic, MESSAGE, signature).expect("the signature is valid");
        },
    ));
}

type Points = (cycloid::bls12_381::G1Affine<Cycloid>, cycloid::bls12_381::G2Affine<Cycloid>);

fn points(scalar: &Fr<Cycloid>) -> Points {
    (G1::multiply_generator(scalar).to_affine(), G2::multiply_generator(scalar).to_affine())
}

fn first(input: Input) -> &'static [u8] {
    input.parts::<1>()[0]
}

/// Returns the scalar of the input.
fn element(input: Input) -> Fr<Cycloid> {
    Fr::from_be_bytes(first(input)).expect("the scalar is in range")
}

fn loaded(input: Input) -> Key {
    Key::from_bytes(first(input)).expect("the scalar is in range")
}

fn order() -> BigUint {
    number("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
}

fn base() -> BigUint {
    number(
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf\
         6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    )
}

/// Adds a scalar in all its forms: whole, and split for the endomorphisms.
fn secret(needles: &mut Needles, scalar: &BigUint) {
    needles.residue("scalar", scalar, &order());
    let x = BigUint::from(0xd201_0000_0001_0000_u64);
    let square = &x * &x;
    for (name, base) in [("x", &x), ("x²", &square), ("x² − 1", &(&square - 1_u8))] {
        let mut rest = scalar.clone();
        while rest > BigUint::ZERO {
            needles.number(&format!("digit in base {name}"), &(&rest % base));
            rest /= base;
        }
    }
}

fn scalar(random: &mut Random) -> Prepared {
    let mut prepared = Prepared::default();
    let scalar = random.below(&order());
    secret(&mut prepared.needles, &scalar);
    prepared.input.push(big_endian(&scalar, 32));
    prepared
}

/// Prepares a scalar, and the coordinates of its multiples and of their pairing.
fn coordinates(random: &mut Random) -> Prepared {
    let mut prepared = scalar(random);
    let scalar = Fr::<Cycloid>::from_be_bytes(&prepared.input[0]).expect("in range");
    let p = base();
    let (g1, g2) = points(&scalar);
    for bytes in [&g1.to_uncompressed()[..], &g2.to_uncompressed()] {
        for coordinate in bytes.chunks(48) {
            let coordinate = BigUint::from_bytes_be(coordinate);
            prepared.needles.residue("coordinate", &coordinate, &p);
        }
    }
    for coefficient in pairing(&g1, &g2).to_bytes().chunks(48) {
        let coefficient = BigUint::from_bytes_le(coefficient);
        prepared.needles.residue("pairing", &coefficient, &p);
    }
    prepared
}

/// Prepares key material, and the resulting key.
fn material(random: &mut Random) -> Prepared {
    let mut prepared = Prepared::default();
    let material = random.bytes(32);
    prepared.needles.hashed("key material", &material);
    let key = Key::key_gen(&material, b"information").expect("the key material is long enough");
    secret(&mut prepared.needles, &BigUint::from_bytes_be(&key.to_bytes()));
    prepared.input.push(material);
    prepared
}
