//! RustCrypto's crypto-bigint: fixed-size numbers for the sizes of RSA and Diffie-Hellman,
//! heap-backed numbers otherwise.

use std::hint::black_box;

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams, FixedMontyForm, FixedMontyParams};
use crypto_bigint::{BoxedUint, Odd, Uint};

use super::Library;
use super::modexp::{Candidate, Input, Prepare, PrepareOne};
use crate::measure::{Operation, heap};
use crate::{Failure, versions};

pub(super) struct CryptoBigint;

impl Library for CryptoBigint {
    fn version(&self) -> String {
        versions::CRYPTO_BIGINT.into()
    }

    fn modexp(&self, modulus_bits: usize) -> Vec<Candidate> {
        let candidate = |label, function, constant_time, prepare| Candidate {
            label,
            function,
            constant_time,
            note: None,
            prepare: Prepare::One(prepare),
        };
        let Some((amm, vartime)) = fixed(modulus_bits) else {
            let prepare: PrepareOne = Box::new(Boxed::prepare);
            return vec![candidate(
                "constant-time",
                "BoxedMontyForm::pow_bounded_exp",
                true,
                prepare,
            )];
        };
        vec![
            candidate("constant-time", "FixedMontyForm::pow_amm_bounded_exp", true, amm),
            candidate("variable-time", "FixedMontyForm::pow_vartime", false, vartime),
        ]
    }
}

/// Returns the implementations for a compiled-in size: constant-time, and variable-time.
fn fixed(modulus_bits: usize) -> Option<(PrepareOne, PrepareOne)> {
    macro_rules! sizes {
        ($($bits:literal)*) => {
            match modulus_bits {
                $($bits => Some((
                    Box::new(Fixed::<{ $bits / 64 }, false>::prepare),
                    Box::new(Fixed::<{ $bits / 64 }, true>::prepare),
                )),)*
                _ => None,
            }
        };
    }
    sizes!(256 512 768 1024 1536 2048 3072 4096 6144 8192)
}

fn invalid() -> Failure {
    Failure::new("crypto-bigint: the modulus is not odd", "exclude it with --peers, or report this")
}

struct Fixed<const LIMBS: usize, const VARTIME: bool> {
    parameters: FixedMontyParams<LIMBS>,
    base: Uint<LIMBS>,
    exponent: Uint<LIMBS>,
    exponent_bits: u32,
    result: Uint<LIMBS>,
    heap_held: Option<u64>,
}

impl<const LIMBS: usize, const VARTIME: bool> Fixed<LIMBS, VARTIME> {
    fn prepare(input: &Input) -> Result<Box<dyn Operation>, Failure> {
        if input.exponent.len() > LIMBS {
            return Boxed::prepare(input);
        }
        let number = |limbs: &[u64]| {
            let mut words = [0; LIMBS];
            words[..limbs.len()].copy_from_slice(limbs);
            Uint::from_words(words)
        };
        let modulus = Odd::new(number(&input.modulus)).into_option().ok_or_else(invalid)?;
        let (parameters, heap) = heap::measure(|| FixedMontyParams::new(modulus));
        Ok(Box::new(Self {
            parameters,
            base: number(&input.base),
            exponent: number(&input.exponent),
            exponent_bits: input.exponent_bits as u32,
            result: Uint::ZERO,
            heap_held: heap.map(|heap| heap.held_bytes.max(0) as u64),
        }))
    }
}

impl<const LIMBS: usize, const VARTIME: bool> Operation for Fixed<LIMBS, VARTIME> {
    fn run(&mut self) -> Result<(), &'static str> {
        let base = FixedMontyForm::new(black_box(&self.base), &self.parameters);
        let power = if VARTIME {
            base.pow_vartime(&self.exponent)
        } else {
            base.pow_amm_bounded_exp(&self.exponent, self.exponent_bits)
        };
        self.result = power.retrieve();
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        self.result.to_words().to_vec()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

struct Boxed {
    parameters: BoxedMontyParams,
    base: BoxedUint,
    exponent: BoxedUint,
    exponent_bits: u32,
    result: BoxedUint,
    heap_held: Option<u64>,
}

impl Boxed {
    fn prepare(input: &Input) -> Result<Box<dyn Operation>, Failure> {
        let (operation, heap) = heap::measure(|| {
            let number = |limbs: &[u64]| BoxedUint::from_words(limbs.iter().copied());
            let modulus = Odd::new(number(&input.modulus)).into_option()?;
            Some(Self {
                parameters: BoxedMontyParams::new(modulus),
                base: number(&input.base),
                exponent: number(&input.exponent),
                exponent_bits: input.exponent_bits as u32,
                result: number(&input.base),
                heap_held: None,
            })
        });
        let mut operation = operation.ok_or_else(invalid)?;
        operation.heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
        Ok(Box::new(operation))
    }
}

impl Operation for Boxed {
    fn run(&mut self) -> Result<(), &'static str> {
        let base = BoxedMontyForm::new(black_box(&self.base).clone(), &self.parameters);
        self.result = base.pow_bounded_exp(&self.exponent, self.exponent_bits).retrieve();
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        self.result.as_words().to_vec()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}
