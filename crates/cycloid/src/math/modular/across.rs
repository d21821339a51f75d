//! One constant-time exponentiation with a fixed window, with the number spread across the lanes of
//! a vector. For moduli of more than 960 bits on processors with AVX-512, with or without IFMA.

use super::modulus::{Modulus, reduced};
use super::{Error, Exponent, Products, Window, checked_scratch, split_result, window};
use crate::machine::across::{self, AcrossLanes};
use crate::machine::ct;
use crate::machine::lanes::{Backend, Lanes, Multiplication};
use crate::machine::words::{LIMB_BITS, Limb};

/// The shortest modulus, in 64-bit limbs, for which this is faster than 64-bit limbs.
pub(super) const SHORTEST: usize = 16;

/// Returns the same for one backend: without IFMA, a product takes more instructions.
const fn shortest(backend: Backend) -> usize {
    match backend.multiplication() {
        Multiplication::Integer => SHORTEST,
        Multiplication::FloatingPoint | Multiplication::OneByOne => 24,
    }
}

/// The shortest exponent, in bits, for which preparing the modulus pays.
pub(super) const SHORTEST_EXPONENT: usize = 192;

/// Returns the fastest window for numbers of `n` digits. About 8n entries are read in the time of
/// one multiplication.
const fn fastest(n: usize, exponent_bits: usize) -> Window {
    window::fastest(exponent_bits, 8 * n, 6)
}

/// Returns the `Lanes` for numbers of `n` digits: the prepared modulus, the result, table and
/// entry, and the scratch of a multiplication.
const fn scratch_lanes(n: usize, exponent_bits: usize) -> usize {
    let vectors = across::vectors(n);
    let powers = window::fixed_work_limbs(fastest(n, exponent_bits).bits(), vectors);
    across::modulus_lanes(n) + vectors + powers + across::montgomery_work_lanes(n)
}

/// Returns the limbs of scratch for a modulus of `n` limbs: those `Lanes`, plus a margin for
/// aligning them.
pub(super) const fn scratch_limbs(n: usize, exponent_bits: usize) -> usize {
    if n < SHORTEST {
        return 0;
    }
    Lanes::limbs_for(scratch_lanes(across::digits(n * LIMB_BITS), exponent_bits))
}

/// Returns the backend for exponentiation across lanes with a modulus of `n` limbs, if that is the
/// fastest method.
pub(super) fn backend(n: usize) -> Option<Backend> {
    Backend::best().filter(|backend| n >= shortest(*backend))
}

/// Like [`pow`](super::pow), across lanes.
pub(super) fn pow(
    backend: Backend,
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = modulus.limbs().len();
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, scratch_limbs(n, exponent.bits()))?;
    padding.fill(0);
    let lanes = Lanes::aligned_mut(scratch);
    across::run(backend, Pow { result, base, exponent, modulus, scratch: lanes });
    ct::wipe(scratch);
    Ok(())
}

struct Pow<'a> {
    result: &'a mut [Limb],
    base: &'a [Limb],
    exponent: &'a Exponent<'a>,
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Lanes],
}

impl across::Task for Pow<'_> {
    type Output = ();

    fn run<A: AcrossLanes>(self, backend: A) {
        let Self { result, base, exponent, modulus, scratch } = self;
        let bits = modulus.bits();
        let n = across::digits(bits);
        let vectors = across::vectors(n);
        let width = fastest(n, exponent.bits()).bits();
        let (memory, rest) = scratch.split_at_mut(across::modulus_lanes(n));
        let (power, rest) = rest.split_at_mut(vectors);
        let (powers, work) = rest.split_at_mut(window::fixed_work_limbs(width, vectors));

        let limbs = modulus.limbs();
        let (one, rest) = powers.split_at_mut(vectors);
        let (x, rest) = rest.split_at_mut(vectors);
        load_base(x, base, modulus, work);
        let modulus = backend.prepare(limbs, bits, memory, work);
        let mut products = Across::new(backend, &modulus, work);
        enter(&mut products, one, x, &mut rest[..vectors]);
        let digit = |position| exponent.digit(position, width) as usize;
        window::pow_fixed(&mut products, width, exponent.bits(), digit, power, powers);
        leave(&mut products, result, power, &mut powers[..vectors]);
    }
}

/// Writes a base of any length and value to `x`, reduced to less than four times the modulus.
pub(super) fn load_base(x: &mut [Lanes], base: &[Limb], modulus: &Modulus<'_>, work: &mut [Lanes]) {
    // Below 4m, times R² is below 4m².
    if base.len() * LIMB_BITS <= modulus.bits() + 1 {
        across::load(x, base);
    } else {
        across::load(x, reduced(base, modulus.limbs(), Lanes::as_limbs_mut(work)));
    }
}

/// Converts x to x · R; `one` becomes R. `unit` is working memory for one number.
pub(super) fn enter<A: AcrossLanes>(
    products: &mut Across<'_, A>,
    one: &mut [Lanes],
    x: &mut [Lanes],
    unit: &mut [Lanes],
) {
    set_to_one(unit);
    one.copy_from_slice(products.modulus.r_squared());
    products.mul(one, unit);
    products.mul(x, products.modulus.r_squared());
}

/// Converts x · R to x, in `result`. `unit` is working memory for one number.
pub(super) fn leave<A: AcrossLanes>(
    products: &mut Across<'_, A>,
    result: &mut [Limb],
    x: &mut [Lanes],
    unit: &mut [Lanes],
) {
    set_to_one(unit);
    products.mul(x, unit);
    across::reduce(x, products.modulus.digits());
    across::store(result, x);
}

/// Sets a number to 1.
fn set_to_one(number: &mut [Lanes]) {
    number.fill(Lanes::ZERO);
    number[0].0[0] = 1;
}

/// Products across lanes, modulo one number.
pub(super) struct Across<'a, A> {
    backend: A,
    modulus: &'a across::Modulus<'a, A>,
    work: &'a mut [Lanes],
}

impl<'a, A> Across<'a, A> {
    /// Prepares products; `work` has [`across::montgomery_work_lanes`] elements.
    pub(super) const fn new(
        backend: A,
        modulus: &'a across::Modulus<'a, A>,
        work: &'a mut [Lanes],
    ) -> Self {
        Self { backend, modulus, work }
    }
}

impl<A: AcrossLanes> Products for Across<'_, A> {
    type Element = Lanes;
    type Index = usize;

    fn mul(&mut self, accumulator: &mut [Lanes], by: &[Lanes]) {
        self.backend.multiply(accumulator, by, self.work, self.modulus);
    }

    fn square(&mut self, accumulator: &mut [Lanes]) {
        self.backend.square(accumulator, self.work, self.modulus);
    }

    fn lookup(&self, out: &mut [Lanes], table: &[Lanes], index: &usize) {
        self.backend.select(out, table, *index);
    }
}

/// Returns the backends with which [`pow`] can be tested for a modulus.
#[cfg(test)]
pub(super) fn backends(modulus: &Modulus<'_>) -> impl Iterator<Item = Backend> {
    let long_enough = modulus.limbs().len() >= SHORTEST;
    crate::machine::lanes::tests::backends().into_iter().filter(move |_| long_enough)
}
