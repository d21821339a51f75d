//! Runs operations by name and checks each result; the names are the program's arguments.
//!
//! For each operation it writes a line `name scratch stack`, in bytes. The plugin writes the
//! counts, in the same order. `modexp:I:B` is strategy I of the 36 with an exponent of B bits, 64
//! or 2048, and `crt:I` is the same strategy for the two halves of an RSA-2048 private operation.
//! Without arguments, it lists the other names.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cycloid::modular::{self, Exponent, Modulus, Strategy};
use cycloid::scheme::ec::{self, P256};
use cycloid::scheme::rsa::{self, Context, Oaep};
use cycloid::scheme::{Hash, ecdsa, ed25519, x25519};
use cycloid_m4::keys::rsa_key;
use cycloid_m4::measure::count;
use cycloid_m4::random::Repeatable;
use cycloid_m4::{semihosting, vectors as v};

const BITS: usize = 2048;
const BYTES: usize = BITS / 8;
const LIMBS: usize = BITS / 64;
const HALF: usize = LIMBS / 2;
const MESSAGE: &[u8] = b"sample";

/// The memory of an operation, in bytes.
struct Used {
    scratch: usize,
    stack: usize,
}

/// A function that runs an operation, and returns what it used if its result is right.
type Run = fn() -> Option<Used>;

/// The operations that are not strategies.
const OPERATIONS: [(&str, Run); 20] = [
    ("empty", || used(0, count(|| ()), |()| true)),
    ("pow", || power(modular::pow_scratch_limbs(LIMBS, BITS))),
    ("pow-least", || power(modular::pow_minimum_scratch_limbs(LIMBS))),
    ("crt-pow", || half_powers(modular::pow_scratch_limbs(HALF, BITS / 2))),
    ("crt-pow-least", || half_powers(modular::pow_minimum_scratch_limbs(HALF))),
    ("rsa-sign", || rsa_sign::<{ rsa::context_limbs(BITS) }>(1)),
    ("rsa-sign-least", || rsa_sign::<{ rsa::minimum_context_limbs(BITS) }>(1)),
    ("rsa-sign-first", || rsa_sign::<{ rsa::context_limbs(BITS) }>(0)),
    ("rsa-sign-pss", rsa_sign_pss),
    ("rsa-decrypt", rsa_decrypt),
    ("rsa-verify", rsa_verify),
    ("p256-key", p256_key),
    ("p256-sign", p256_sign),
    ("p256-verify", p256_verify),
    ("p256-agree", p256_agree),
    ("x25519-key", x25519_key),
    ("x25519-agree", x25519_agree),
    ("ed25519-key", ed25519_key),
    ("ed25519-sign", ed25519_sign),
    ("ed25519-verify", ed25519_verify),
];

#[entry]
fn main() -> ! {
    let mut memory = [0; 1024];
    let mut names = semihosting::arguments(&mut memory).split_ascii_whitespace();
    // The first argument is the program.
    names.next();
    let mut ran = false;
    for name in names {
        ran = true;
        let Some(used) = run(name) else {
            semihosting::write("wrong result: ");
            semihosting::write(name);
            semihosting::write("\n");
            semihosting::exit(false)
        };
        semihosting::write(name);
        semihosting::write(" ");
        semihosting::write_number(used.scratch as u32);
        semihosting::write(" ");
        semihosting::write_number(used.stack as u32);
        semihosting::write("\n");
    }
    if !ran {
        for (name, _) in OPERATIONS {
            semihosting::write(name);
            semihosting::write("\n");
        }
    }
    semihosting::exit(true)
}

fn run(name: &str) -> Option<Used> {
    if let Some(choice) = name.strip_prefix("modexp:") {
        let (strategy, bits) = choice.split_once(':')?;
        return strategic(*Strategy::ALL.get(strategy.parse::<usize>().ok()?)?, bits);
    }
    if let Some(choice) = name.strip_prefix("crt:") {
        return half_strategies(*Strategy::ALL.get(choice.parse::<usize>().ok()?)?);
    }
    OPERATIONS.iter().find(|(of, _)| *of == name)?.1()
}

/// Returns what an operation used if its result is right.
fn used<T>(scratch: usize, counted: (T, usize), right: impl FnOnce(T) -> bool) -> Option<Used> {
    let (result, stack) = counted;
    right(result).then_some(Used { scratch, stack })
}

/// Memory for the scratch of strategies and powers, in limbs; it is not on the stack.
fn memory() -> &'static mut [u64] {
    static mut MEMORY: [u64; 8192] = [0; 8192];
    let memory = &raw mut MEMORY;
    // SAFETY: one operation runs at a time, on one thread, and each asks once.
    unsafe { &mut *memory }
}

fn strategic(strategy: Strategy, bits: &str) -> Option<Used> {
    let (exponent, expected) = match bits {
        "64" => (&v::POWER_EXPONENT[..1], &v::POWER_SHORT),
        "2048" => (&v::POWER_EXPONENT[..], &v::POWER),
        _ => return None,
    };
    let exponent = Exponent::new(exponent);
    let scratch = &mut memory()[..strategy.scratch_limbs(LIMBS)];
    let mut result = [0; LIMBS];
    let counted = count(|| {
        strategy.pow_vartime(&mut result, &v::POWER_BASE, &exponent, &v::POWER_MODULUS, scratch)
    });
    used(size_of_val(scratch), counted, |outcome| outcome.is_ok() && result == *expected)
}

fn power(limbs: usize) -> Option<Used> {
    let (mut r_squared, mut result) = ([0; LIMBS], [0; LIMBS]);
    let memory = memory();
    let modulus = Modulus::prepare(&v::POWER_MODULUS, &mut r_squared, memory).ok()?;
    let scratch = &mut memory[..limbs];
    let exponent = Exponent::new(&v::POWER_EXPONENT);
    let counted = count(|| modular::pow(&mut result, &v::POWER_BASE, &exponent, &modulus, scratch));
    used(limbs * 8, counted, |outcome| outcome.is_ok() && result == v::POWER)
}

/// The primes and exponents of the RSA key, and the powers of the same base, in limbs.
fn halves() -> [[[u64; HALF]; 3]; 2] {
    let of =
        |prime, exponent, power: &[u64; HALF]| [half_limbs(prime), half_limbs(exponent), *power];
    [of(&v::PRIME_1, &v::EXPONENT_1, &v::HALF_1), of(&v::PRIME_2, &v::EXPONENT_2, &v::HALF_2)]
}

fn half_limbs(bytes: &[u8; BYTES / 2]) -> [u64; HALF] {
    core::array::from_fn(|i| {
        let end = BYTES / 2 - 8 * i;
        bytes[end - 8..end].iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte))
    })
}

fn half_strategies(strategy: Strategy) -> Option<Used> {
    let halves = halves();
    let scratch = &mut memory()[..strategy.scratch_limbs(HALF)];
    let mut results = [[0; HALF]; 2];
    let counted = count(|| {
        results.iter_mut().zip(&halves).all(|(result, [prime, exponent, _])| {
            let exponent = Exponent::new(exponent);
            strategy.pow_vartime(result, &v::HALF_BASE, &exponent, prime, scratch).is_ok()
        })
    });
    let expected = halves.map(|[.., power]| power);
    used(size_of_val(scratch), counted, |done| done && results == expected)
}

fn half_powers(limbs: usize) -> Option<Used> {
    let halves = halves();
    let (mut r_squared, mut results) = ([[0; HALF]; 2], [[0; HALF]; 2]);
    let memory = memory();
    let [first, second] = &mut r_squared;
    let moduli = [
        Modulus::prepare(&halves[0][0], first, memory).ok()?,
        Modulus::prepare(&halves[1][0], second, memory).ok()?,
    ];
    let scratch = &mut memory[..limbs];
    let counted = count(|| {
        let halves = halves.iter().zip(&moduli);
        results.iter_mut().zip(halves).all(|(result, ([_, exponent, _], modulus))| {
            let exponent = Exponent::new(exponent);
            modular::pow(result, &v::HALF_BASE, &exponent, modulus, scratch).is_ok()
        })
    });
    let expected = halves.map(|[.., power]| power);
    used(limbs * 8, counted, |done| done && results == expected)
}

/// Signs after `before` other signatures: the first one of a context draws the blinding.
fn rsa_sign<const CONTEXT: usize>(before: usize) -> Option<Used> {
    let key = rsa_key()?;
    let mut memory = [0; CONTEXT];
    let mut context = Context::new(&key, Repeatable(1), &mut memory).ok()?;
    let mut signature = [0; BYTES];
    for _ in 0..before {
        context.sign_pkcs1v15(Hash::Sha256, MESSAGE, &mut signature).ok()?;
    }
    signature.fill(0);
    let counted = count(|| context.sign_pkcs1v15(Hash::Sha256, MESSAGE, &mut signature));
    used(CONTEXT * 8, counted, |outcome| outcome.is_ok() && signature == v::RSA_SIGNATURE)
}

/// Signs by PSS, with a salt from the generator.
fn rsa_sign_pss() -> Option<Used> {
    const CONTEXT: usize = rsa::minimum_context_limbs(BITS);
    let key = rsa_key()?;
    let mut memory = [0; CONTEXT];
    let mut context = Context::new(&key, Repeatable(1), &mut memory).ok()?;
    let mut signature = [0; BYTES];
    let counted = count(|| context.sign_pss(Hash::Sha256, MESSAGE, &mut signature));
    let scratch = &mut [0; rsa::verify_scratch_limbs(BITS)];
    used(CONTEXT * 8, counted, |outcome| {
        let public = key.public();
        outcome.is_ok() && public.verify_pss(Hash::Sha256, MESSAGE, &signature, scratch).is_ok()
    })
}

/// Decrypts by OAEP what it has encrypted.
fn rsa_decrypt() -> Option<Used> {
    const CONTEXT: usize = rsa::minimum_context_limbs(BITS);
    let key = rsa_key()?;
    let oaep = Oaep::new(Hash::Sha256);
    let (mut ciphertext, mut output) = ([0; BYTES], [0; BYTES]);
    let scratch = &mut [0; rsa::encrypt_scratch_limbs(BITS)];
    let public = key.public();
    public.encrypt_oaep(&oaep, MESSAGE, &mut Repeatable(2), &mut ciphertext, scratch).ok()?;
    let mut memory = [0; CONTEXT];
    let mut context = Context::new(&key, Repeatable(1), &mut memory).ok()?;
    let counted = count(|| context.decrypt_oaep(&oaep, &ciphertext, &mut output));
    used(CONTEXT * 8, counted, |length| length.is_ok_and(|length| output[..length] == *MESSAGE))
}

fn rsa_verify() -> Option<Used> {
    const SCRATCH: usize = rsa::verify_scratch_limbs(BITS);
    let key = rsa_key()?;
    let key = key.public();
    let mut scratch = [0; SCRATCH];
    let counted =
        count(|| key.verify_pkcs1v15(Hash::Sha256, MESSAGE, &v::RSA_SIGNATURE, &mut scratch));
    used(SCRATCH * 8, counted, |outcome| outcome.is_ok())
}

fn p256_private() -> Option<ec::PrivateKey<P256>> {
    ec::PrivateKey::from_bytes(&v::P256_PRIVATE).ok()
}

fn p256_key() -> Option<Used> {
    let right = |key: Option<ec::PrivateKey<P256>>| {
        key.is_some_and(|key| key.public_key().to_uncompressed().as_ref() == v::P256_PUBLIC)
    };
    used(0, count(p256_private), right)
}

fn p256_sign() -> Option<Used> {
    let key = p256_private()?;
    used(0, count(|| key.sign(Hash::Sha256, MESSAGE)), |signature| {
        signature.to_fixed().as_ref() == v::P256_SIGNATURE
    })
}

fn p256_verify() -> Option<Used> {
    let key = ec::PublicKey::<P256>::from_sec1(&v::P256_PUBLIC).ok()?;
    let signature = ecdsa::Signature::from_fixed(&v::P256_SIGNATURE).ok()?;
    used(0, count(|| key.verify(Hash::Sha256, MESSAGE, &signature)), |outcome| outcome.is_ok())
}

fn p256_agree() -> Option<Used> {
    let key = p256_private()?;
    let peer = ec::PublicKey::<P256>::from_sec1(&v::P256_PEER).ok()?;
    used(0, count(|| key.agree(&peer)), |secret| secret.as_ref() == v::P256_SHARED)
}

fn x25519_key() -> Option<Used> {
    let key = x25519::PrivateKey::from(v::X25519_PRIVATE);
    let again = |public: [u8; 32]| {
        let mut nine = [0; 32];
        nine[0] = 9;
        key.agree(&nine).is_ok_and(|expected| *expected.as_bytes() == public)
    };
    used(0, count(|| key.public_key()), again)
}

fn x25519_agree() -> Option<Used> {
    let key = x25519::PrivateKey::from(v::X25519_PRIVATE);
    used(0, count(|| key.agree(&v::X25519_PEER)), |secret| {
        secret.is_ok_and(|secret| *secret.as_bytes() == v::X25519_SHARED)
    })
}

fn ed25519_key() -> Option<Used> {
    let right = |key: ed25519::SigningKey| *key.verifying_key().as_bytes() == v::ED25519_PUBLIC;
    used(0, count(|| ed25519::SigningKey::from_seed(&v::ED25519_SEED)), right)
}

fn ed25519_sign() -> Option<Used> {
    let key = ed25519::SigningKey::from_seed(&v::ED25519_SEED);
    let right = |signature| signature == v::ED25519_SIGNATURE;
    used(0, count(|| key.sign(&v::ED25519_MESSAGE)), right)
}

fn ed25519_verify() -> Option<Used> {
    let key = ed25519::VerifyingKey::new(&v::ED25519_PUBLIC).ok()?;
    let verify = || key.verify(&v::ED25519_MESSAGE, &v::ED25519_SIGNATURE);
    used(0, count(verify), |outcome| outcome.is_ok())
}
