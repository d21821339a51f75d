//! Tests of inversion and powers; the backends' own tests cover the rest.

use super::*;
use crate::machine::field::{Masks, P224, P256, P384, P521, P25519, Task};
use crate::machine::{lanes, words};

struct Inverses;

impl<P: Prime> Task<P> for Inverses {
    type Output = ();

    fn run<A: Arithmetic<P>>(self, arithmetic: A) {
        let mut p_minus_2 = P::MODULUS;
        words::sub(p_minus_2.as_mut(), &[2]);
        for start in 0..12u64 {
            let numbers: [P::Words; MAX_WIDTH] = core::array::from_fn(|place| {
                // Zero, one and large numbers, each in every position.
                let mut number = P::Words::ZERO;
                let value = (start + place as u64) % 12;
                number.as_mut()[0] = value;
                if value > 3 {
                    number.as_mut().fill(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                    let top = number.as_mut().last_mut().unwrap();
                    *top >>= (64 - P::BITS % 64) % 64;
                }
                number
            });
            let element = Element::<P, A>::load(arithmetic, &numbers[..A::WIDTH]);
            let inverse = element.invert();
            let by_fermat = element.pow(p_minus_2.as_ref());
            let by_bits = element.invert_by_power();
            let one = Element::one(arithmetic);
            for (place, number) in numbers[..A::WIDTH].iter().enumerate() {
                assert!(inverse.equal(&by_fermat).at(place).reveal(), "{} {}", P::NAME, A::NAME);
                assert!(by_bits.equal(&by_fermat).at(place).reveal(), "{} {}", P::NAME, A::NAME);
                let is_zero = words::is_zero(number.as_ref()).reveal();
                assert_eq!((&inverse * &element).equal(&one).at(place).reveal(), !is_zero);
                assert_eq!(inverse.is_zero().at(place).reveal(), is_zero);
            }
        }
    }
}

fn inverses<P: Prime>() {
    for backend in words::Backend::available() {
        P::run_one(backend, Inverses);
    }
    for backend in lanes::Backend::available() {
        P::run_eight(backend, Inverses);
    }
}

#[test]
fn inverses_agree_with_powers() {
    inverses::<P224>();
    inverses::<P256>();
    inverses::<P384>();
    inverses::<P521>();
    inverses::<P25519>();
}
