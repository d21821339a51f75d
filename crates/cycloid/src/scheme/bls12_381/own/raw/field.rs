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

/// Returns a + b.
#[inline]
pub fn add<G: Curve>(a: &G::Memory, b: &G::Memory) -> G::Memory {
    G::add(a, b)
}

/// Returns a − b.
#[inline]
pub fn sub<G: Curve>(a: &G::Memory, b: &G::Memory) -> G::Memory {
    G::sub(a, b)
}

/// Returns 3a.
#[inline]
pub fn triple<G: Curve>(a: &G::Memory) -> G::Memory {
    G::add(&G::add(a, a), a)
}

/// Returns a·2^times; `times` is public.
pub fn double_times<G: Curve>(a: &G::Memory, times: &usize) -> G::Memory {
    (0..*times).fold(*a, |a, _| G::add(&a, &a))
}

/// Returns a·b.
#[inline]
pub fn mul<G: Curve>(a: &G::Memory, b: &G::Memory) -> G::Memory {
    G::mul(a, b)
}

/// Returns a².
#[inline]
pub fn square<G: Curve>(a: &G::Memory) -> G::Memory {
    G::square(a)
}

tasks! {
    /// Returns −a if `negative`, and a otherwise.
    fn negate_if(f, a: G::Memory, negative: bool) -> G::Memory {
        let a = load::<G, A>(f, a);
        save::<G, A>(&G::Field::<A>::select(mask(f, *negative), &a.negate(), &a))
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
