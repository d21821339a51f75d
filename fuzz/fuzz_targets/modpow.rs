//! All 36 strategies and the default, on every backend, compared with num-bigint.

#![no_main]

use cycloid::internals::words::Backend;
use cycloid::modular::{self, Error, Exponent, Modulus, Reduction, Strategy};
use cycloid_fuzz::{Input, Limb, assert_holds, big};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (n, b, e) = (input.up_to(9), input.up_to(12), input.up_to(2));
    let cut = input.up_to(64);
    let case =
        Case { modulus: input.limbs(n), base: input.limbs(b), exponent: input.limbs(e), cut };
    for backend in Backend::available() {
        for strategy in Strategy::ALL {
            by_strategy(&case, backend, strategy);
        }
        by_default(&case, backend);
    }
});

struct Case {
    modulus: Vec<Limb>,
    base: Vec<Limb>,
    exponent: Vec<Limb>,
    /// How many bits shorter than its limbs the exponent is declared.
    cut: usize,
}

impl Case {
    /// Returns the exponent as declared: the length may be too short for the value.
    fn exponent(&self) -> Exponent<'_> {
        let bits = (64 * self.exponent.len()).saturating_sub(self.cut);
        Exponent::with_bits(&self.exponent, bits).unwrap_or_else(|error| {
            assert_eq!(error, Error::ExponentTooLong);
            assert!(big(&self.exponent).bits() > bits as u64);
            Exponent::new(&self.exponent)
        })
    }

    #[track_caller]
    fn assert_right(&self, result: &[Limb], what: &str) {
        let right = big(&self.base).modpow(&big(&self.exponent), &big(&self.modulus));
        assert_holds(result, &right, what);
    }
}

fn by_strategy(case: &Case, backend: Backend, strategy: Strategy) {
    let n = case.modulus.len();
    let mut result = vec![1; n];
    let mut scratch = vec![1; strategy.scratch_limbs(n)];
    let outcome = strategy.pow_vartime_with(
        backend,
        &mut result,
        &case.base,
        &case.exponent(),
        &case.modulus,
        &mut scratch,
    );
    let modulus = big(&case.modulus);
    let what = format!("{strategy:?} of {}", backend.name());
    if modulus.bits() == 0 {
        assert_eq!(outcome, Err(Error::ModulusZero), "{what}");
    } else if strategy.reduction == Reduction::Montgomery && !modulus.bit(0) {
        assert_eq!(outcome, Err(Error::ModulusEven), "{what}");
    } else {
        assert_eq!(outcome, Ok(()), "{what}");
        case.assert_right(&result, &what);
    }
}

fn by_default(case: &Case, backend: Backend) {
    let n = case.modulus.len();
    let exponent = case.exponent();
    let mut r_squared = vec![1; n];
    let mut scratch = vec![1; modular::pow_scratch_limbs(n, exponent.bits())];
    match Modulus::prepare(&case.modulus, &mut r_squared, &mut scratch) {
        Err(error) => {
            let modulus = big(&case.modulus);
            let zero = modulus.bits() == 0;
            assert_eq!(error, if zero { Error::ModulusZero } else { Error::ModulusEven });
            assert!(!modulus.bit(0));
        }
        Ok(modulus) => {
            let mut result = vec![1; n];
            modular::pow_with(backend, &mut result, &case.base, &exponent, &modulus, &mut scratch)
                .expect("valid arguments");
            case.assert_right(&result, "pow");
        }
    }
}
