//! The operations, their inputs, and the secrets that they use.

mod bls;
mod case;
mod curve25519;
mod dh;
mod ec;
mod random;
mod rsa;

use crate::needles::Needles;
use crate::protocol::Input;
use crate::stop::{Stop, leave_in_a_register};
use random::Random;

pub(crate) use case::{Case, Expect, Prepared};

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
    Case::new(name, 4096, secret, run).expecting(Expect::Found)
}

fn planted_on_the_stack() -> Case {
    planted("planted on the stack", |bytes| {
        let mut frame = [0; 64];
        frame[13..21].copy_from_slice(&bytes[8..16]);
        std::hint::black_box(&frame);
    })
}

fn planted_in_a_register() -> Case {
    planted("planted in a register", |bytes| leave_in_a_register(&bytes[16..]))
}

fn planted_on_the_heap() -> Case {
    planted("planted on the heap", |bytes| {
        let mut freed = vec![0; 4000];
        freed[2001..2033].copy_from_slice(bytes);
        std::hint::black_box(&freed);
    })
}
