//! Deliberate leaks, on every backend. Each must be found; otherwise the absence of findings
//! elsewhere means nothing.

use std::hint::black_box;

use cycloid::internals::lanes::LANES;
use cycloid::internals::words::{Backend, Limb};
use cycloid::modular::{self, Exponent, Exponentiation, Reduction, Strategy, Window};
use cycloid::scheme::ec::{P256, PrivateKey};
use cycloid::scheme::ed25519::SigningKey;

use crate::check::{Check, marked};

/// A planted leak.
pub(crate) struct Plant {
    pub(crate) name: &'static str,
    /// A part of the expected finding.
    pub(crate) expected: &'static str,
    pub(crate) run: fn(&mut Check),
}

pub(crate) const ALL: [Plant; 9] = [
    Plant { name: "branch", expected: "a branch depends", run: branch },
    Plant { name: "index", expected: "an address depends", run: index },
    Plant { name: "division", expected: "variable-time", run: division },
    Plant { name: "comparison", expected: "a branch depends", run: comparison },
    Plant { name: "exponent", expected: "a branch depends", run: exponent },
    Plant { name: "window", expected: "an address depends", run: window },
    Plant { name: "after the default power", expected: "a branch depends", run: after_power },
    Plant { name: "after eight powers", expected: "an address depends", run: after_eight },
    Plant { name: "after a shared secret", expected: "an address depends", run: after_agreement },
];

/// A branch on a secret bit.
fn branch(check: &mut Check) {
    let word = marked(&[0b1011_u64]);
    check.trace("branch", || {
        if black_box(&word)[0] & 2 != 0 {
            black_box(&word);
        }
    });
}

/// A table read at a secret index.
fn index(check: &mut Check) {
    let table: [Limb; 16] = black_box(std::array::from_fn(|i| i as Limb));
    let word = marked(&[7_u64]);
    check.trace("index", || {
        black_box(table[(black_box(&word)[0] % 16) as usize]);
    });
}

/// A division by a secret.
fn division(check: &mut Check) {
    let word = marked(&[7_u64]);
    check.trace("division", || black_box(black_box(u64::MAX) / (black_box(&word)[0] | 1)));
}

/// A comparison of secrets that ends at the first difference.
fn comparison(check: &mut Check) {
    let bytes = marked(&check.bytes(32));
    let key = check.hold("key", || SigningKey::from_seed(bytes[..].try_into().expect("32 bytes")));
    check.trace("comparison", || {
        // The system's memcmp compares this few bytes without a branch.
        let same = key.seed().iter().zip(&bytes).all(|(a, b)| black_box(a) == black_box(b));
        black_box(same)
    });
}

/// Square and multiply, which multiplies only for set bits of the exponent.
fn exponent(check: &mut Check) {
    vartime(check, Exponentiation::FastVartime);
}

/// A sliding window, which reads its table by index.
fn window(check: &mut Check) {
    vartime(check, Exponentiation::ReducedMemoryVartime(Window::ALL[2]));
}

/// A variable-time exponentiation with a secret exponent.
fn vartime(check: &mut Check, exponentiation: Exponentiation) {
    let strategy = Strategy { reduction: Reduction::Montgomery, exponentiation };
    let (base, exponent, modulus) = (check.limbs(4), marked(&check.limbs(1)), check.modulus(4));
    let mut result = [0; 4];
    let mut scratch = vec![0; strategy.scratch_limbs(4)];
    check.trace("vartime", || {
        strategy
            .pow_vartime_with(
                Backend::best(),
                &mut result,
                &base,
                &Exponent::new(&exponent),
                &modulus,
                &mut scratch,
            )
            .expect("the arguments are valid");
    });
}

/// A branch on a power; finding it requires that taint passes through the backend's arithmetic.
fn after_power(check: &mut Check) {
    let (base, exponent, m) = (check.limbs(16), marked(&check.limbs(1)), check.modulus(16));
    let mut r_squared = vec![0; 16];
    let mut result = vec![0; 16];
    let mut scratch = vec![0; modular::pow_scratch_limbs(16, 64)];
    let modulus =
        modular::Modulus::prepare(&m, &mut r_squared, &mut scratch).expect("the modulus is odd");
    check.trace("power", || {
        let exponent = Exponent::new(&exponent);
        modular::pow(&mut result, &base, &exponent, &modulus, &mut scratch).expect("sound");
        if black_box(&result)[15] & 1 == 1 {
            black_box(&result);
        }
    });
}

/// An index from one of eight powers, only one of which is secret.
fn after_eight(check: &mut Check) {
    let n = 4;
    let table: [u8; 256] = black_box([3; 256]);
    let m: [_; LANES] = std::array::from_fn(|_| check.modulus(n));
    let b: [_; LANES] = std::array::from_fn(|_| check.limbs(n));
    let mut e: [_; LANES] = std::array::from_fn(|_| check.exponent(40));
    e[5] = marked(&e[5]);
    let mut results = [(); LANES].map(|()| vec![0; n]);
    let mut scratch = vec![0; modular::pow_eight_scratch_limbs(n, 40)];
    check.trace("eight", || {
        let exponents = std::array::from_fn(|lane| {
            Exponent::with_bits(&e[lane], 40).expect("the exponent fits the length")
        });
        let _ = modular::pow_eight(
            results.each_mut().map(Vec::as_mut_slice),
            b.each_ref().map(Vec::as_slice),
            exponents,
            m.each_ref().map(Vec::as_slice),
            &mut scratch,
        );
        black_box(table[(black_box(&results)[5][0] & 0xff) as usize]);
    });
}

/// An index from a shared secret.
fn after_agreement(check: &mut Check) {
    let table: [u8; 256] = black_box([3; 256]);
    let mut bytes = check.bytes(32);
    bytes[0] = 0;
    let peer = *PrivateKey::<P256>::from_bytes(&bytes).expect("in range").public_key();
    let bytes = marked(&bytes);
    check.trace("agreement", || {
        let key = PrivateKey::<P256>::from_bytes(&bytes).expect("in range");
        let shared = key.agree(&peer);
        black_box(table[usize::from(black_box(&shared)[0])]);
    });
}
