//! The operations, their inputs, and the secrets that they use.

mod bls;
mod curve25519;
mod dh;
mod ec;
mod rsa;

use std::convert::Infallible;

use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};

use crate::needles::Needles;
use crate::protocol::Input;
use crate::subject::{Stop, alive};

/// Returns all cases.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = vec![planted_on_the_stack(), planted_in_a_register(), planted_on_the_heap()];
    ec::add(&mut cases);
    curve25519::add(&mut cases);
    rsa::add(&mut cases);
    dh::add(&mut cases);
    bls::add(&mut cases);
    cases
}

/// An operation.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The documented maximum of its stack use.
    pub(crate) stack: usize,
    pub(crate) expect: Expect,
    prepare: Box<Prepare>,
    run: Box<Run>,
}

type Prepare = dyn Fn(&mut Random) -> Prepared;
type Run = dyn Fn(Input, &mut Stop);

/// The expected result of the search.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    Nothing,
    Found,
}

/// The inputs of a case, and the needles of the search.
#[derive(Default)]
pub(crate) struct Prepared {
    pub(crate) input: Vec<Vec<u8>>,
    pub(crate) needles: Needles,
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        stack: usize,
        prepare: impl Fn(&mut Random) -> Prepared + 'static,
        run: impl Fn(Input, &mut Stop) + 'static,
    ) -> Self {
        let (name, expect) = (name.into(), Expect::Nothing);
        Self { name, stack, expect, prepare: Box::new(prepare), run: Box::new(run) }
    }

    /// Prepares the case in the searching process.
    pub(crate) fn prepare(&self) -> Prepared {
        // Each case has different secrets, so that residue of an earlier case is not attributed to
        // it.
        let seed = self.name.bytes().fold(1, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        (self.prepare)(&mut Random(seed | 1))
    }

    /// Runs the case in the searched process.
    pub(crate) fn run(&self, input: Input, stop: &mut Stop) {
        (self.run)(input, stop);
    }
}

/// Creates a case that first makes values that stay alive, and then performs the examined
/// operation.
pub(crate) fn case<T: 'static>(
    name: impl Into<String>,
    stack: usize,
    prepare: impl Fn(&mut Random) -> Prepared + 'static,
    make: impl Fn(Input) -> T + 'static,
    operation: impl Fn(&mut T) + 'static,
) -> Case {
    Case::new(name, stack, prepare, move |input, stop| {
        let made = alive(|| make(input));
        stop.after(&mut || operation(made));
    })
}

/// A deterministic pseudorandom generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.byte()).collect()
    }

    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u8
    }

    /// Returns a number from 1 to `modulus` − 1.
    pub(crate) fn below(&mut self, modulus: &BigUint) -> BigUint {
        let length = modulus.bits().div_ceil(8) as usize + 8;
        BigUint::from_bytes_be(&self.bytes(length)) % (modulus - 1_u8) + 1_u8
    }
}

/// Returns `length` big-endian bytes.
pub(crate) fn big_endian(number: &BigUint, length: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

pub(crate) fn number(hexadecimal: &str) -> BigUint {
    BigUint::parse_bytes(hexadecimal.as_bytes(), 16).expect("the digits are hexadecimal")
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.iter_mut().for_each(|byte| *byte = self.byte());
        Ok(())
    }
}

impl TryCryptoRng for Random {}

/// Random numbers from a recording.
pub(crate) struct Tape(pub(crate) &'static [u8]);

impl TryRng for Tape {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        let (taken, rest) = self.0.split_at(bytes.len());
        bytes.copy_from_slice(taken);
        self.0 = rest;
        Ok(())
    }
}

impl TryCryptoRng for Tape {}

/// Prepares 32 secret bytes.
fn secret(random: &mut Random) -> Prepared {
    let bytes = random.bytes(32);
    let mut needles = Needles::default();
    needles.bytes("the secret", &bytes);
    Prepared { input: vec![bytes], needles }
}

fn planted(name: &str, plant: impl Fn(&'static [u8]) + 'static) -> Case {
    let run = move |input: Input, stop: &mut Stop| {
        let [bytes] = input.parts();
        stop.after(&mut || plant(bytes));
    };
    Case { expect: Expect::Found, ..Case::new(name, 4096, secret, run) }
}

fn planted_on_the_stack() -> Case {
    planted("planted on the stack", |bytes| {
        let mut frame = [0; 64];
        frame[13..21].copy_from_slice(&bytes[8..16]);
        std::hint::black_box(&frame);
    })
}

fn planted_in_a_register() -> Case {
    planted("planted in a register", |bytes| crate::subject::leave_in_a_register(&bytes[16..]))
}

fn planted_on_the_heap() -> Case {
    planted("planted on the heap", |bytes| {
        let mut freed = vec![0; 4000];
        freed[2001..2033].copy_from_slice(bytes);
        std::hint::black_box(&freed);
    })
}
