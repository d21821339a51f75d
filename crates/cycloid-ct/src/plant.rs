//! Leaks on purpose: each must be reported by valgrind, or its silence elsewhere means nothing.

use std::hint::black_box;

use cycloid::machine::words::{Backend, Limb, Portable};
use cycloid::modular::{Exponent, Exponentiation, Reduction, Strategy, Window};

use crate::check::{Check, power, secret};

/// The leaks by name.
pub(crate) const ALL: [(&str, fn()); 4] =
    [("branch", branch), ("index", index), ("exponent", exponent), ("window", window)];

/// A branch on a secret bit.
fn branch() {
    let secret = secret(&[0b1011]);
    if secret[0] & 2 != 0 {
        // Something that cannot be done without a branch.
        println!("a secret bit is set");
    }
}

/// A table read at a secret index.
fn index() {
    let table: [Limb; 16] = black_box(std::array::from_fn(|i| i as Limb));
    let secret = secret(&[7]);
    black_box(table[secret[0] as usize % table.len()]);
}

/// Square and multiply, which multiplies only where a bit of the exponent is set.
fn exponent() {
    vartime(Exponentiation::FastVartime);
}

/// A sliding window, which takes its table's entries by index.
fn window() {
    vartime(Exponentiation::ReducedMemoryVartime(Window::ALL[2]));
}

/// An exponentiation that is not constant-time, with an exponent that is secret.
fn vartime(exponentiation: Exponentiation) {
    let strategy = Strategy { reduction: Reduction::Montgomery, exponentiation };
    let mut check = Check::new();
    let (base, exponent, modulus) = (check.limbs(4), check.limbs(1), check.modulus(4));
    let mut result = [0; 4];
    let mut scratch = vec![0; strategy.scratch_limbs(4)];
    let backend = Backend::Portable(Portable);
    let secret = secret(&exponent);
    strategy
        .pow_vartime_with(
            backend,
            &mut result,
            &base,
            &Exponent::new(&secret),
            &modulus,
            &mut scratch,
        )
        .expect("the arguments are sound");
    check.result("the planted exponentiation", &result, &power(&base, &exponent, &modulus));
}
