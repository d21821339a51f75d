//! Diffie-Hellman: keys, public values, agreement, and powers of a fixed base.

use cycloid::machine::ct;
use cycloid::machine::lanes::{Backend, Lanes, Portable};
use cycloid::machine::words::{self, Limb};
use cycloid::modular::{Exponent, FixedBase, Modulus};
use cycloid::scheme::dh::{self, Comb, Generator, Group, Job, PrivateKey, Validation};

use crate::check::{Check, power, secret};

/// Runs the operations in one group, and a comb in both of its forms.
pub(crate) fn run(check: &mut Check) {
    fixed_base(check, None, 4);
    fixed_base(check, None, 17);
    fixed_base(check, Some(Backend::Portable(Portable)), 17);
    scheme(check);
}

fn fixed_base(check: &mut Check, across: Option<Backend>, n: usize) {
    let bits = 150;
    let comb = Comb::new(4, 2).expect("there is such a shape");
    let [m, base] = [check.modulus(n), check.limbs(n)];
    let exponent = check.exponent(bits);
    let mut r_squared = vec![0; n];
    let mut scratch = vec![0; FixedBase::scratch_limbs(n)];
    let mut memory = vec![Lanes::ZERO; FixedBase::memory(n, comb)];
    let modulus = secret(&m);
    let modulus = Modulus::prepare(&modulus, &mut r_squared, &mut scratch).expect("it is odd");
    let base_limbs = secret(&base);
    let fixed = FixedBase::prepare_with(
        across,
        &base_limbs,
        bits,
        comb,
        &modulus,
        &mut memory,
        &mut scratch,
    )
    .expect("the memory suffices");
    let exponent_limbs = secret(&exponent);
    let declared = Exponent::with_bits(&exponent_limbs, bits).expect("it is that short");
    let mut result = vec![0; n];
    fixed.pow(&mut result, &declared, &mut scratch).expect("the scratch suffices");
    let name = format!("fixed base at {n} limbs, across lanes: {}", across.is_some());
    check.result(&name, &result, &power(&base, &exponent, &m));
}

fn scheme(check: &mut Check) {
    const BITS: usize = 2048;
    let group = &Group::FFDHE2048;
    let n = group.prime().len();
    let exponent_bits = group.exponent_bits();
    let mut scratch = vec![0; dh::scratch_limbs(BITS, exponent_bits)];
    let mut bytes = vec![0; group.length()];

    let exponent = check.exponent(exponent_bits);
    let mut x = vec![0; exponent_bits.div_ceil(8)];
    words::to_be_bytes(&mut x, &exponent);
    ct::mark_secret(&x);
    let memory = vec![0; dh::private_key_limbs(exponent_bits + 7)];
    let key = PrivateKey::new(group, &x, memory).expect("it is in range");

    // A public value is public when it comes out.
    key.public_value(&mut bytes, &mut scratch).expect("the scratch suffices");
    let public = power(group.generator(), &exponent, group.prime());
    check.result("dh public value", &secret(&limbs(&bytes, n)), &public);
    let mut jobs = [Job::public_value(&key, &mut bytes)];
    let mut lanes = vec![Lanes::ZERO; dh::batch_scratch(BITS, exponent_bits + 7)];
    dh::run_batch(&mut jobs, &mut lanes);
    check.result("dh public value in a batch", &secret(&limbs(&bytes, n)), &public);

    let mut of_generator = vec![0; dh::generator_scratch_limbs(BITS)];
    let mut memory = vec![Lanes::ZERO; dh::generator_memory(BITS, Comb::COMPACT)];
    let generator = Generator::prepare(group, Comb::COMPACT, &mut memory, &mut of_generator)
        .expect("the memory suffices");
    let memory = vec![0; dh::private_key_limbs(exponent_bits)];
    let other = PrivateKey::generate(group, memory, check).expect("the memory suffices");
    let mut peer = vec![0; group.length()];
    generator.public_value(&other, &mut peer, &mut of_generator).expect("the scratch suffices");

    key.agree(&peer, Validation::Full, &mut bytes, &mut scratch).expect("the value is sound");
    let shared = power(&limbs(&peer, n), &exponent, group.prime());
    check.result("dh agreement", &limbs(&bytes, n), &shared);
    let mut again = vec![0; group.length()];
    let mut jobs = [Job::agree(&key, &peer, Validation::Full, &mut again)];
    dh::run_batch(&mut jobs, &mut lanes);
    check.result("dh agreement in a batch", &limbs(&again, n), &shared);

    // The other party's secret is the same, although valgrind watched its key being made.
    let mut value = vec![0; group.length()];
    words::to_be_bytes(&mut value, &public);
    other.agree(&value, Validation::Partial, &mut again, &mut scratch).expect("it is sound");
    check.result("dh agreement with a generated key", &limbs(&again, n), &shared);
}

fn limbs(bytes: &[u8], n: usize) -> Vec<Limb> {
    let mut limbs = vec![0; n];
    words::from_be_bytes(&mut limbs, bytes);
    limbs
}
