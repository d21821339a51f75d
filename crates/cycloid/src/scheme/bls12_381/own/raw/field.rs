//! Elements of the coordinate field of a group.

use super::super::curve::Curve;
use super::tasks;
use crate::machine::ct::Mask;
use crate::machine::field::{Bls12Base, Prime, Wide};
use crate::math::bls12_381::{Field, Mapped, Words, reveal};

/// Loads an element.
#[inline(always)]
pub(super) fn load<G: Curve, A: Wide<Bls12Base>>(f: A, a: &G::Memory) -> G::Field<A> {
    G::Field::<A>::import(f, core::slice::from_ref(a))
}

/// Writes an element.
#[inline(always)]
pub(super) fn save<G: Curve, A: Wide<Bls12Base>>(element: &G::Field<A>) -> G::Memory {
    let mut memory = G::ZERO;
    element.export(core::slice::from_mut(&mut memory));
    memory
}

/// Returns a truth value for the backend.
#[inline(always)]
pub(super) fn mask<A: Wide<Bls12Base>>(f: A, value: bool) -> A::Mask {
    f.mask(|_| Mask::from_bit(value.into()))
}

tasks! {
    /// Returns a + b.
    fn add(f, a: G::Memory, b: G::Memory) -> G::Memory {
        save::<G, A>(&load::<G, A>(f, a).add(&load::<G, A>(f, b)))
    }

    /// Returns a − b.
    fn sub(f, a: G::Memory, b: G::Memory) -> G::Memory {
        save::<G, A>(&load::<G, A>(f, a).sub(&load::<G, A>(f, b)))
    }

    /// Returns 3a.
    fn triple(f, a: G::Memory) -> G::Memory {
        let a = load::<G, A>(f, a);
        save::<G, A>(&a.double().add(&a))
    }

    /// Returns a·2^times; `times` is public.
    fn double_times(f, a: G::Memory, times: usize) -> G::Memory {
        let a = load::<G, A>(f, a);
        save::<G, A>(&(0..*times).fold(a, |a, _| a.double()))
    }

    /// Returns −a if `negative`, and a otherwise.
    fn negate_if(f, a: G::Memory, negative: bool) -> G::Memory {
        let a = load::<G, A>(f, a);
        save::<G, A>(&G::Field::<A>::select(mask(f, *negative), &a.negate(), &a))
    }

    /// Returns a·b.
    fn mul(f, a: G::Memory, b: G::Memory) -> G::Memory {
        save::<G, A>(&load::<G, A>(f, a).mul(&load::<G, A>(f, b)))
    }

    /// Returns a².
    fn square(f, a: G::Memory) -> G::Memory {
        save::<G, A>(&load::<G, A>(f, a).square())
    }

    /// Returns 1/a, or 0 for 0.
    fn invert(f, a: G::Memory) -> G::Memory {
        save::<G, A>(&load::<G, A>(f, a).invert())
    }

    /// Returns whether a is a square, and a square root then.
    fn sqrt(f, a: G::Memory) -> (bool, G::Memory) {
        let one = G::Field::<A>::one(f);
        let (square, root) = G::Field::<A>::square_root_of_ratio(&load::<G, A>(f, a), &one);
        (reveal::<A>(square)[0], save::<G, A>(&root))
    }

    /// Returns the integers modulo p of the coefficients.
    fn to_integers(f, a: G::Memory) -> G::Memory {
        let mut integers = G::ZERO;
        load::<G, A>(f, a).store(core::slice::from_mut(&mut integers));
        integers
    }

    /// Converts coefficients, which are integers below 2^381.
    fn from_short_integers(f, integers: G::Memory) -> G::Memory {
        save::<G, A>(&G::Field::<A>::load(f, core::slice::from_ref(integers)))
    }
}

/// Returns an integer below 2³⁸⁴ modulo p. Whether it is p or more is public.
pub fn reduce(integer: &Words) -> Words {
    let mut reduced = *integer;
    while let Some(less) = sub_modulus(&reduced) {
        reduced = less;
    }
    reduced
}

/// Returns an integer less p, or `None` if it is below p.
fn sub_modulus(integer: &Words) -> Option<Words> {
    let (mut less, mut borrow) = ([0; 6], false);
    for (less, (a, b)) in less.iter_mut().zip(integer.iter().zip(&Bls12Base::MODULUS)) {
        let (difference, first) = a.overflowing_sub(*b);
        let (difference, second) = difference.overflowing_sub(borrow.into());
        (*less, borrow) = (difference, first | second);
    }
    // Elements of Fp from outside are coordinates or hashes, which are public.
    (!Mask::from_bit(borrow.into()).reveal()).then_some(less)
}
