//! Finite-field Diffie-Hellman, and modular exponentiation alone.

use cycloid::internals::words;
use cycloid::modular::{self, Exponent, Modulus};
use cycloid::scheme::dh::{self, Comb, Generator, Group, Job, PrivateKey, Validation};
use cycloid::scheme::stack_use;
use num_bigint::BigUint;

use super::case::{Case, Prepared, case};
use super::random::{Random, Tape, big_endian};
use crate::live_values::limbs;

const BITS: usize = 2048;
const EXPONENT_BITS: usize = dh::exponent_bits(BITS);
const GROUP: &Group<'static> = &Group::FFDHE2048;
const EIGHT: usize = 8;
const SCRATCH: usize = dh::scratch_limbs(BITS, EXPONENT_BITS);

type Key = PrivateKey<'static, &'static mut [u64]>;

pub(super) fn add(cases: &mut Vec<Case>) {
    // The case's own frames hold the scratch.
    let one = stack_use::DH + 8 * SCRATCH;
    cases.push(case(
        "DH generate",
        one,
        |random| {
            let mut prepared = Prepared::default();
            let tape = random.bytes(EXPONENT_BITS.next_multiple_of(64) / 8);
            prepared.needles.bytes("random numbers", &tape);
            prepared.input.push(tape);
            prepared
        },
        |input| input.parts::<1>()[0],
        |tape| {
            let mut memory = [0; dh::private_key_limbs(EXPONENT_BITS)];
            let key = PrivateKey::generate(GROUP, &mut memory[..], &mut Tape(tape));
            drop(key.expect("the buffer suffices"));
        },
    ));
    cases.push(case(
        "DH agree and public value",
        one,
        keys(1),
        |input| {
            let [peer, key] = input.parts();
            (loaded(key), peer, [0; BITS / 8])
        },
        |(key, peer, shared)| {
            let scratch = &mut [0; SCRATCH];
            key.agree(peer, Validation::Full, shared, scratch).expect("the peer is honest");
            key.public_value(&mut [0; BITS / 8], scratch).expect("the buffer suffices");
        },
    ));
    cases.push(case(
        "DH public value by a table",
        one,
        keys(1),
        |input| {
            let memory = limbs(dh::generator_limbs(BITS, Comb::COMPACT), 0);
            let scratch = &mut vec![0; dh::generator_scratch_limbs(BITS)];
            let generator = Generator::prepare(GROUP, Comb::COMPACT, memory, scratch);
            (loaded(input.parts::<2>()[1]), generator.expect("the buffer suffices"))
        },
        |(key, generator)| {
            let scratch = &mut [0; dh::generator_scratch_limbs(BITS)];
            generator.public_value(key, &mut [0; BITS / 8], scratch).expect("the buffer suffices");
        },
    ));
    cases.push(case(
        "DH agree ×8",
        stack_use::DH_BATCH,
        keys(EIGHT),
        |input| {
            let [peer, keys @ ..] = input.parts::<{ EIGHT + 1 }>();
            let keys: [&[u8]; EIGHT] = keys;
            (keys.map(loaded), peer, [[0; BITS / 8]; EIGHT])
        },
        |(keys, peer, shared)| {
            let mut scratch = vec![0; dh::batch_scratch_limbs(BITS, EXPONENT_BITS)];
            let mut places = shared.iter_mut();
            let mut jobs = keys.each_ref().map(|key| {
                let place = places.next().expect("there is one per job");
                Job::agree(key, peer, Validation::Partial, place)
            });
            dh::run_batch(&mut jobs, &mut scratch);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
    for bits in [512, 1024, 2048] {
        modexp(cases, bits);
    }
}

fn loaded(bytes: &[u8]) -> Key {
    let memory = limbs(dh::private_key_limbs(EXPONENT_BITS), 0);
    PrivateKey::new(GROUP, bytes, memory).expect("the exponent is in range")
}

/// Prepares a peer's public value, exponents, and the secrets shared with the peer.
fn keys(count: usize) -> impl Fn(&mut Random) -> Prepared {
    move |random| {
        let p = big(GROUP.prime());
        let g = big(GROUP.generator());
        let peer = g.modpow(&BigUint::from_bytes_be(&random.bytes(28)), &p);
        let mut prepared = Prepared::default();
        prepared.input.push(big_endian(&peer, BITS / 8));
        for _ in 0..count {
            let mut bytes = random.bytes(EXPONENT_BITS.div_ceil(8));
            bytes[0] &= 0x3f;
            let x = BigUint::from_bytes_be(&bytes);
            prepared.needles.number("exponent", &x);
            prepared.needles.residue("shared secret", &peer.modpow(&x, &p), &p);
            prepared.input.push(bytes);
        }
        prepared
    }
}

fn modexp(cases: &mut Vec<Case>, bits: usize) {
    let n = bits / 64;
    let prepare = move |random: &mut Random| {
        let mut prepared = Prepared::default();
        let mut modulus = random.bytes(bits / 8);
        modulus[0] |= 1;
        modulus[bits / 8 - 1] |= 0x80;
        let m = BigUint::from_bytes_le(&modulus);
        let (base, exponent) = (random.below(&m), random.below(&m));
        prepared.needles.residue("base", &base, &m);
        prepared.needles.number("exponent", &exponent);
        prepared.needles.residue("power", &base.modpow(&exponent, &m), &m);
        prepared.input = vec![big_endian(&m, bits / 8)];
        prepared.input.extend([base, exponent].map(|number| big_endian(&number, bits / 8)));
        prepared
    };
    let make = move |input: crate::protocol::Input| {
        let numbers = input.parts::<3>().map(|bytes| {
            let numbers = limbs(n, 0);
            words::from_be_bytes(numbers, bytes);
            numbers
        });
        (numbers, limbs(n, 0), limbs(n, 0))
    };
    cases.push(case(
        format!("modexp of {bits} bits"),
        modular::STACK_USE,
        prepare,
        make,
        move |([modulus, base, exponent], r_squared, result)| {
            let mut scratch = vec![0; modular::pow_scratch_limbs(n, bits)];
            let modulus =
                Modulus::prepare(modulus, r_squared, &mut scratch).expect("the modulus is odd");
            let exponent = Exponent::new(exponent);
            modular::pow(result, base, &exponent, &modulus, &mut scratch)
                .expect("the buffer suffices");
        },
    ));
    cases.push(case(
        format!("modexp ×8 of {bits} bits, and inverse"),
        modular::STACK_USE,
        prepare,
        move |input| (make(input), limbs(8 * n, 0)),
        move |(([modulus, base, exponent], _, inverse), results)| {
            let mut scratch = vec![0; modular::pow_eight_scratch_limbs(n, bits)];
            let mut places = results.chunks_exact_mut(n);
            let places = [(); 8].map(|()| places.next().expect("there are eight"));
            let outcomes = modular::pow_eight(
                places,
                [base; 8],
                [Exponent::new(exponent); 8],
                [modulus; 8],
                &mut scratch,
            );
            assert!(outcomes.iter().all(Result::is_ok));
            let mut scratch = vec![0; modular::invert_scratch_limbs(n)];
            // Whether the inverse exists does not matter here.
            let _ = modular::invert(inverse, base, modulus, &mut scratch);
        },
    ));
}

fn big(limbs: &[u64]) -> BigUint {
    BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<u8>>())
}
