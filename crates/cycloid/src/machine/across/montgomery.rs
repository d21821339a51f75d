//! Montgomery multiplication from its steps: one number, or two whose steps alternate.

use super::super::lanes::{LANES, LaneWords, Lanes};
use super::super::words::Limb;
use super::vector::{Carried, Steps};
use super::{AcrossLanes, Modulus, modulus, montgomery_work, padding, vectors};

impl<V: Steps + LaneWords> AcrossLanes for V {
    fn prepare<'a>(
        self,
        modulus: &[Limb],
        bits: usize,
        memory: &'a mut [Lanes],
        work: &mut [Lanes],
    ) -> Modulus<'a, Self> {
        modulus::prepare(self, modulus, bits, memory, work)
    }

    fn multiply(
        self,
        accumulator: &mut [Lanes],
        by: &[Lanes],
        work: &mut [Lanes],
        modulus: &Modulus<'_, Self>,
    ) {
        let mut product = Product::new(work, modulus);
        product.multiply_low(accumulator, by);
        product.multiply_high(by);
        product.quotient();
        product.reduce(accumulator);
    }

    fn square(self, accumulator: &mut [Lanes], work: &mut [Lanes], modulus: &Modulus<'_, Self>) {
        let mut product = Product::new(work, modulus);
        product.square_low(accumulator);
        product.square_high();
        product.quotient();
        product.reduce(accumulator);
    }

    fn multiply_pair(
        self,
        accumulators: [&mut [Lanes]; 2],
        by: [&[Lanes]; 2],
        work: &mut [Lanes],
        moduli: [&Modulus<'_, Self>; 2],
    ) {
        let mut products = Product::pair(work, moduli);
        for i in 0..2 {
            products[i].multiply_low(accumulators[i], by[i]);
        }
        for i in 0..2 {
            products[i].multiply_high(by[i]);
        }
        for product in &mut products {
            product.quotient();
        }
        for (product, accumulator) in products.iter().zip(accumulators) {
            product.reduce(accumulator);
        }
    }

    fn square_pair(
        self,
        accumulators: [&mut [Lanes]; 2],
        work: &mut [Lanes],
        moduli: [&Modulus<'_, Self>; 2],
    ) {
        let mut products = Product::pair(work, moduli);
        for i in 0..2 {
            products[i].square_low(accumulators[i]);
        }
        for product in &mut products {
            product.square_high();
        }
        for product in &mut products {
            product.quotient();
        }
        for (product, accumulator) in products.iter().zip(accumulators) {
            product.reduce(accumulator);
        }
    }
}

/// A product on its way: the memory of its steps.
struct Product<'a, V> {
    modulus: &'a Modulus<'a, V>,
    /// Of the one factor.
    windows: &'a mut [Lanes],
    /// Digits of the other in the form in which a backend multiplies.
    factors: &'a mut [Lanes],
    /// The low part of the product.
    low: &'a mut [Lanes],
    carried: Carried,
    /// The high part of the product.
    high: &'a mut [Lanes],
    quotient: &'a mut [Lanes],
}

impl<'a, V: Steps> Product<'a, V> {
    #[inline(always)]
    fn new(work: &'a mut [Lanes], modulus: &'a Modulus<'a, V>) -> Self {
        let vectors = vectors(modulus.n);
        let (windows, rest) = work.split_at_mut(LANES * (vectors + 1));
        let (factors, rest) = rest.split_at_mut(vectors);
        let (low, rest) = rest.split_at_mut(vectors);
        let (high, rest) = rest.split_at_mut(vectors);
        let quotient = &mut rest[..vectors];
        Self {
            modulus,
            windows,
            factors,
            low,
            carried: Carried::NOTHING,
            high,
            quotient,
        }
    }

    #[inline(always)]
    fn pair(work: &'a mut [Lanes], moduli: [&'a Modulus<'a, V>; 2]) -> [Self; 2] {
        let [first, second] = moduli;
        assert_eq!(first.n, second.n, "a pair has one length");
        let work = work.split_at_mut(montgomery_work(first.n));
        [Self::new(work.0, first), Self::new(work.1, second)]
    }

    #[inline(always)]
    fn multiply_low(&mut self, a: &[Lanes], b: &[Lanes]) {
        let v = self.modulus.backend;
        assert_eq!((a.len(), b.len()), (self.low.len(), self.low.len()));
        v.windows(self.windows, self.factors, a);
        if V::CONVERTS {
            v.factors(self.factors, b);
        }
        let by = if V::CONVERTS { &*self.factors } else { b };
        let rows = &Lanes::as_limbs(by)[..self.modulus.n];
        v.low_product(self.low, &mut self.carried, rows, self.windows);
    }

    #[inline(always)]
    fn multiply_high(&mut self, b: &[Lanes]) {
        let by = if V::CONVERTS { &*self.factors } else { b };
        let rows = &Lanes::as_limbs(by)[..self.modulus.n];
        self.modulus
            .backend
            .high_product(self.high, &self.carried.high, rows, self.windows);
    }

    #[inline(always)]
    fn square_low(&mut self, a: &[Lanes]) {
        let v = self.modulus.backend;
        assert_eq!(a.len(), self.low.len());
        v.windows(self.windows, self.factors, a);
        v.low_square(self.low, &mut self.carried, self.modulus.n, self.windows);
    }

    #[inline(always)]
    fn square_high(&mut self) {
        let n = self.modulus.n;
        self.modulus
            .backend
            .high_square(self.high, &self.carried.high, n, self.windows);
    }

    /// q = (T mod R) · m' mod R.
    #[inline(always)]
    fn quotient(&mut self) {
        let low = &Lanes::as_limbs(self.low)[padding(self.modulus.n)..];
        // What is carried beyond the low part is a multiple of R.
        let mut ignored = Carried::NOTHING;
        self.modulus
            .backend
            .low_product(self.quotient, &mut ignored, low, self.modulus.inverse);
    }

    /// `result` = (T + q·m) / R.
    #[inline(always)]
    fn reduce(&self, result: &mut [Lanes]) {
        let quotient = &Lanes::as_limbs(self.quotient)[padding(self.modulus.n)..];
        let windows = self.modulus.windows;
        self.modulus
            .backend
            .reduce(result, self.high, &self.carried, quotient, windows);
    }
}
