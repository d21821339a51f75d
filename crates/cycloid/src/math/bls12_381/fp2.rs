//! The coordinate fields: Fp, and Fp2 = Fp[u] / (u² + 1).

use core::slice;

use super::{Fp, Words};
use crate::machine::field::{Arithmetic, Bls12Base, Masks, Wide};
use crate::math::field::MAX_WIDTH;

/// A truth value for each of the numbers.
pub(crate) type MaskOf<A> = <A as Arithmetic<Bls12Base>>::Mask;

/// An element of a backend.
pub(crate) type Raw<A> = <A as Arithmetic<Bls12Base>>::Element;

/// A coordinate field, over which the formulas for points of both curves are written.
pub(crate) trait Field: Copy {
    /// The backend.
    type Arithmetic: Wide<Bls12Base>;

    /// An element in memory.
    type Memory: Copy + Send + Sync + 'static + PartialEq + core::fmt::Debug;

    /// The degree over Fp.
    const DEGREE: usize;

    /// 0 in memory.
    const MEMORY_ZERO: Self::Memory;

    fn arithmetic(&self) -> Self::Arithmetic;
    fn zero(arithmetic: Self::Arithmetic) -> Self;
    fn one(arithmetic: Self::Arithmetic) -> Self;

    /// Loads as many elements as the backend has numbers.
    fn import(arithmetic: Self::Arithmetic, memory: &[Self::Memory]) -> Self;
    fn export(&self, memory: &mut [Self::Memory]);

    /// Returns the same element in each of the numbers.
    fn constant(arithmetic: Self::Arithmetic, memory: &Self::Memory) -> Self {
        if Self::Arithmetic::WIDTH == 1 {
            return Self::import(arithmetic, slice::from_ref(memory));
        }
        Self::import(arithmetic, &[*memory; MAX_WIDTH][..Self::Arithmetic::WIDTH])
    }

    /// Converts from integers below p, one for each number, and back.
    fn load(arithmetic: Self::Arithmetic, integers: &[Self::Memory]) -> Self;
    fn store(&self, integers: &mut [Self::Memory]);

    /// Reads from and writes to the elements of a table.
    fn read(arithmetic: Self::Arithmetic, raw: &[Raw<Self::Arithmetic>]) -> Self;
    fn write(&self, raw: &mut [Raw<Self::Arithmetic>]);

    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn double(&self) -> Self;
    fn negate(&self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;

    /// Returns a·b + c·d.
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;

    /// Returns a·b − c·d.
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;

    /// Returns three times the b of the curve: 12, or 12·(1 + u).
    fn mul_3b(&self) -> Self;

    fn is_zero(&self) -> MaskOf<Self::Arithmetic>;
    fn equal(&self, other: &Self) -> MaskOf<Self::Arithmetic>;
    fn select(mask: MaskOf<Self::Arithmetic>, a: &Self, b: &Self) -> Self;

    /// Returns the inverse, or 0 for 0.
    fn invert(&self) -> Self;
}

/// Returns 12·a.
#[inline(always)]
fn twelve<F: Field>(a: &F) -> F {
    let four = a.double().double();
    four.add(&four.double())
}

impl<A: Wide<Bls12Base>> Field for Fp<A> {
    type Arithmetic = A;
    type Memory = Words;
    const DEGREE: usize = 1;
    const MEMORY_ZERO: Words = [0; 6];

    #[inline(always)]
    fn arithmetic(&self) -> A {
        self.arithmetic()
    }

    #[inline(always)]
    fn zero(arithmetic: A) -> Self {
        Self::zero(arithmetic)
    }

    fn one(arithmetic: A) -> Self {
        Self::one(arithmetic)
    }

    #[inline]
    fn import(arithmetic: A, memory: &[Words]) -> Self {
        Self::from_raw(arithmetic, arithmetic.import(memory))
    }

    #[inline]
    fn export(&self, memory: &mut [Words]) {
        self.arithmetic().export(self.raw(), memory);
    }

    fn load(arithmetic: A, integers: &[Words]) -> Self {
        Self::load(arithmetic, integers)
    }

    fn store(&self, integers: &mut [Words]) {
        self.store(integers);
    }

    #[inline(always)]
    fn read(arithmetic: A, raw: &[Raw<A>]) -> Self {
        Self::from_raw(arithmetic, raw[0])
    }

    #[inline(always)]
    fn write(&self, raw: &mut [Raw<A>]) {
        raw[0] = *self.raw();
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn double(&self) -> Self {
        self.double()
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        -self
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn square(&self) -> Self {
        self.square()
    }

    #[inline(always)]
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let f = a.arithmetic();
        Self::from_raw(f, f.sum_of_products([a.raw(), b.raw()], [c.raw(), d.raw()]))
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let f = a.arithmetic();
        Self::from_raw(f, f.difference_of_products([a.raw(), b.raw()], [c.raw(), d.raw()]))
    }

    #[inline(always)]
    fn mul_3b(&self) -> Self {
        twelve(self)
    }

    #[inline(always)]
    fn is_zero(&self) -> MaskOf<A> {
        self.is_zero()
    }

    #[inline(always)]
    fn equal(&self, other: &Self) -> MaskOf<A> {
        self.equal(other)
    }

    #[inline(always)]
    fn select(mask: MaskOf<A>, a: &Self, b: &Self) -> Self {
        Self::select(mask, a, b)
    }

    fn invert(&self) -> Self {
        self.invert()
    }
}

/// An element c₀ + c₁·u of Fp2.
#[derive(Clone, Copy)]
pub(crate) struct Fp2<A: Wide<Bls12Base>> {
    value: [Raw<A>; 2],
    arithmetic: A,
}

/// An unreduced sum of products.
#[derive(Clone, Copy)]
pub(super) struct Fp2Wide<A: Wide<Bls12Base>> {
    value: [A::Wide; 2],
    arithmetic: A,
}

impl<A: Wide<Bls12Base>> Fp2<A> {
    #[inline(always)]
    pub(super) fn new(c0: &Fp<A>, c1: &Fp<A>) -> Self {
        Self { value: [*c0.raw(), *c1.raw()], arithmetic: c0.arithmetic() }
    }

    #[inline(always)]
    pub(super) fn raw(&self) -> &[Raw<A>; 2] {
        &self.value
    }

    #[inline(always)]
    pub(super) fn from_raw(arithmetic: A, value: [Raw<A>; 2]) -> Self {
        Self { value, arithmetic }
    }

    #[inline(always)]
    pub(super) fn parts(&self) -> [Fp<A>; 2] {
        let [c0, c1] = self.value;
        [Fp::from_raw(self.arithmetic, c0), Fp::from_raw(self.arithmetic, c1)]
    }

    #[inline(always)]
    fn map(&self, work: impl Fn(&Raw<A>) -> Raw<A>) -> Self {
        let [c0, c1] = &self.value;
        Self { value: [work(c0), work(c1)], arithmetic: self.arithmetic }
    }

    /// Returns the element times ξ = 1 + u.
    #[inline(always)]
    pub(super) fn mul_xi(&self) -> Self {
        Self { value: self.arithmetic.turn_complex(&self.value), arithmetic: self.arithmetic }
    }

    /// Returns three times the element and twice another.
    #[inline(always)]
    pub(super) fn thrice_more(&self, other: &Self) -> Self {
        let value = self.arithmetic.thrice_more(&self.value, &other.value);
        Self { value, arithmetic: self.arithmetic }
    }

    /// Returns three times the element less twice another.
    #[inline(always)]
    pub(super) fn thrice_less(&self, other: &Self) -> Self {
        let value = self.arithmetic.thrice_less(&self.value, &other.value);
        Self { value, arithmetic: self.arithmetic }
    }

    /// Returns the p-th power: c₀ − c₁·u.
    #[inline(always)]
    pub(super) fn conjugate(&self) -> Self {
        let f = self.arithmetic;
        let [c0, c1] = &self.value;
        Self { value: [*c0, f.negate(c1)], arithmetic: f }
    }

    /// Returns the element times an element of Fp.
    #[inline(always)]
    pub(super) fn scale(&self, by: &Fp<A>) -> Self {
        self.map(|part| self.arithmetic.mul(part, by.raw()))
    }

    /// Returns (a + b·t)² for t² = ξ: a² + ξ·b² and 2·a·b.
    #[inline(always)]
    pub(super) fn square_fp4(a: &Self, b: &Self) -> (Self, Self) {
        let arithmetic = a.arithmetic;
        let [first, second] = arithmetic.square_quartic(&a.value, &b.value);
        (Self { value: first, arithmetic }, Self { value: second, arithmetic })
    }

    /// Returns the sum with another element, as a factor of [`mul_wide`](Self::mul_wide).
    #[inline(always)]
    pub(super) fn add_factor(&self, other: &Self) -> Self {
        let f = self.arithmetic;
        let ([a0, a1], [b0, b1]) = (&self.value, &other.value);
        Self { value: [f.add_factor(a0, b0), f.add_factor(a1, b1)], arithmetic: f }
    }

    /// Returns the unreduced product with another element.
    #[inline(always)]
    pub(super) fn mul_wide(&self, other: &Self) -> Fp2Wide<A> {
        let value = self.arithmetic.mul_complex_wide(&self.value, &other.value);
        Fp2Wide { value, arithmetic: self.arithmetic }
    }

    #[inline(always)]
    fn read_parts(memory: &[[Words; 2]], read: impl Fn(&[Words]) -> Fp<A>) -> Self {
        if A::WIDTH == 1 {
            let [c0, c1] = &memory[0];
            return Self::new(&read(slice::from_ref(c0)), &read(slice::from_ref(c1)));
        }
        let part = |i: usize| {
            let mut words = [[0; 6]; MAX_WIDTH];
            words.iter_mut().zip(memory).for_each(|(words, memory)| *words = memory[i]);
            read(&words[..A::WIDTH])
        };
        Self::new(&part(0), &part(1))
    }

    #[inline(always)]
    fn write_parts(&self, memory: &mut [[Words; 2]], write: impl Fn(&Fp<A>, &mut [Words])) {
        if A::WIDTH == 1 {
            let ([c0, c1], [to_c0, to_c1]) = (self.parts(), &mut memory[0]);
            write(&c0, slice::from_mut(to_c0));
            return write(&c1, slice::from_mut(to_c1));
        }
        for (i, part) in self.parts().iter().enumerate() {
            let mut words = [[0; 6]; MAX_WIDTH];
            write(part, &mut words[..A::WIDTH]);
            memory.iter_mut().zip(words).for_each(|(memory, words)| memory[i] = words);
        }
    }

    /// Returns c₀² + c₁².
    #[inline]
    pub(super) fn norm(&self) -> Fp<A> {
        let [c0, c1] = self.parts();
        Fp::sum_of_products(&c0, &c0, &c1, &c1)
    }
}

impl<A: Wide<Bls12Base>> Fp<A> {
    /// Returns a constant from memory.
    #[inline]
    pub(super) fn constant_from(arithmetic: A, memory: &Words) -> Self {
        <Self as Field>::constant(arithmetic, memory)
    }
}

impl<A: Wide<Bls12Base>> Fp2Wide<A> {
    /// Adds another element.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Self) {
        self.arithmetic.add_complex_wide(&mut self.value, &other.value);
    }

    /// Adds ξ = 1 + u times another element.
    #[inline(always)]
    pub(super) fn add_xi(&mut self, other: &Self) {
        self.arithmetic.add_turned_wide(&mut self.value, &other.value);
    }

    /// Subtracts another element.
    #[inline(always)]
    pub(super) fn sub(&mut self, other: &Self) {
        self.arithmetic.sub_complex_wide(&mut self.value, &other.value);
    }

    /// Subtracts two other elements.
    #[inline(always)]
    pub(super) fn sub_both(&mut self, b: &Self, c: &Self) {
        self.arithmetic.sub_both_wide(&mut self.value, &b.value, &c.value);
    }

    #[inline(always)]
    pub(super) fn reduce(&self) -> Fp2<A> {
        let f = self.arithmetic;
        Fp2 { value: f.reduce_complex_wide(&self.value), arithmetic: f }
    }
}

impl<A: Wide<Bls12Base>> Field for Fp2<A> {
    type Arithmetic = A;
    type Memory = [Words; 2];
    const DEGREE: usize = 2;
    const MEMORY_ZERO: [Words; 2] = [[0; 6]; 2];

    #[inline(always)]
    fn arithmetic(&self) -> A {
        self.arithmetic
    }

    #[inline(always)]
    fn zero(arithmetic: A) -> Self {
        Self { value: [A::ZERO; 2], arithmetic }
    }

    fn one(arithmetic: A) -> Self {
        Self::new(&Fp::one(arithmetic), &Fp::zero(arithmetic))
    }

    #[inline(always)]
    fn import(arithmetic: A, memory: &[[Words; 2]]) -> Self {
        Self::read_parts(memory, |words| Fp::import(arithmetic, words))
    }

    #[inline(always)]
    fn export(&self, memory: &mut [[Words; 2]]) {
        self.write_parts(memory, Fp::export);
    }

    fn load(arithmetic: A, integers: &[[Words; 2]]) -> Self {
        Self::read_parts(integers, |words| Fp::load(arithmetic, words))
    }

    fn store(&self, integers: &mut [[Words; 2]]) {
        self.write_parts(integers, Fp::store);
    }

    #[inline(always)]
    fn read(arithmetic: A, raw: &[Raw<A>]) -> Self {
        Self { value: [raw[0], raw[1]], arithmetic }
    }

    #[inline(always)]
    fn write(&self, raw: &mut [Raw<A>]) {
        [raw[0], raw[1]] = self.value;
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let value = self.arithmetic.add_complex(&self.value, &other.value);
        Self { value, arithmetic: self.arithmetic }
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let value = self.arithmetic.sub_complex(&self.value, &other.value);
        Self { value, arithmetic: self.arithmetic }
    }

    #[inline(always)]
    fn double(&self) -> Self {
        self.map(|part| self.arithmetic.double(part))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        self.map(|part| self.arithmetic.negate(part))
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let value = self.arithmetic.mul_complex(&self.value, &other.value);
        Self { value, arithmetic: self.arithmetic }
    }

    #[inline(always)]
    fn square(&self) -> Self {
        Self { value: self.arithmetic.square_complex(&self.value), arithmetic: self.arithmetic }
    }

    #[inline(always)]
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let f = a.arithmetic;
        let value = f.sum_of_complex_products([&a.value, &b.value], [&c.value, &d.value]);
        Self { value, arithmetic: f }
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let f = a.arithmetic;
        let value = f.difference_of_complex_products([&a.value, &b.value], [&c.value, &d.value]);
        Self { value, arithmetic: f }
    }

    #[inline(always)]
    fn mul_3b(&self) -> Self {
        twelve(&self.mul_xi())
    }

    #[inline(always)]
    fn is_zero(&self) -> MaskOf<A> {
        self.equal(&Self::zero(self.arithmetic))
    }

    #[inline(always)]
    fn equal(&self, other: &Self) -> MaskOf<A> {
        let f = self.arithmetic;
        let ([a0, a1], [b0, b1]) = (&self.value, &other.value);
        f.equal(a0, b0) & f.equal(a1, b1)
    }

    #[inline(always)]
    fn select(mask: MaskOf<A>, a: &Self, b: &Self) -> Self {
        let f = a.arithmetic;
        let ([a0, a1], [b0, b1]) = (&a.value, &b.value);
        Self { value: [f.select(mask, a0, b0), f.select(mask, a1, b1)], arithmetic: f }
    }

    /// Divides the conjugate by the norm.
    fn invert(&self) -> Self {
        self.conjugate().scale(&self.norm().invert())
    }
}

/// Returns whether a mask is true, for each of the numbers; the result becomes public.
pub(crate) fn reveal<A: Wide<Bls12Base>>(mask: MaskOf<A>) -> [bool; MAX_WIDTH] {
    core::array::from_fn(|place| place < A::WIDTH && mask.at(place).reveal())
}
