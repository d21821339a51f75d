//! The default exponentiation: Montgomery reduction with a fixed window, constant-time, on the
//! fastest backend.

use super::modulus::Modulus;
use super::montgomery::Montgomery;
use super::{
    Error, Exponent, Exponentiation, Products, Residues, STACK_USE, STACK_USE_WORDS, Window,
    across, checked_scratch, split_result, window,
};
use crate::machine::words::{self, Backend, Limb, Words};
use crate::machine::{ct, stack};

/// Returns the fastest window for a modulus of `n` limbs. About 12n entries are read in the time of
/// one multiplication.
const fn fastest(n: usize, exponent_bits: usize) -> Exponentiation {
    Exponentiation::FixedWindow(window::fastest(exponent_bits, 12 * n, 6))
}

/// Returns the limbs of scratch with which [`pow`] is fastest on every processor, for a modulus of
/// `n` limbs and an exponent of `exponent_bits` bits.
pub const fn pow_scratch_limbs(n: usize, exponent_bits: usize) -> usize {
    let words = words_scratch_limbs(n, exponent_bits);
    let across = across::scratch_limbs(n, exponent_bits);
    if across > words { across } else { words }
}

/// Returns the limbs of scratch with which [`pow`] is fastest on this processor, for callers that
/// allocate at run time. `pow` uses all of it.
pub fn pow_this_cpu_scratch_limbs(n: usize, exponent_bits: usize) -> usize {
    if pow_is_across_lanes(n) {
        across::scratch_limbs(n, exponent_bits)
    } else {
        words_scratch_limbs(n, exponent_bits)
    }
}

/// Returns whether [`pow`], given enough scratch, spreads the number across vector lanes on this
/// processor, for a modulus of `n` limbs.
pub fn pow_is_across_lanes(n: usize) -> bool {
    across::backend(n).is_some()
}

const fn words_scratch_limbs(n: usize, exponent_bits: usize) -> usize {
    words::montgomery_work_limbs(n) + fastest(n, exponent_bits).work_limbs(n)
}

/// Returns the minimum limbs of scratch of [`pow`] for a modulus of `n` limbs.
pub const fn pow_minimum_scratch_limbs(n: usize) -> usize {
    words::montgomery_work_limbs(n) + Exponentiation::Ladder.work_limbs(n)
}

/// Computes `result = base^exponent mod modulus` in constant time, on the fastest backend.
///
/// All are little-endian limbs. `base` has any length and value. `result` has at least as many
/// limbs as the modulus and is padded with zeros. Uses the largest window, up to the best one for
/// the exponent's length, whose table fits into `scratch`: at least [`pow_minimum_scratch_limbs`],
/// at best [`pow_scratch_limbs`]. The used part of `scratch` is wiped. Time depends on the bit
/// lengths of modulus and exponent and on the limbs of base and scratch, and on no value.
///
/// # Errors
/// [`Error::ResultTooShort`] and [`Error::ScratchTooSmall`]; nothing is written to `result` then.
pub fn pow(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = modulus.limbs().len();
    if let Some(backend) = across::backend(n)
        && exponent.bits() >= across::SHORTEST_EXPONENT
        && scratch.len() >= across::scratch_limbs(n, exponent.bits())
    {
        return stack::clean(STACK_USE, || {
            across::pow(backend, result, base, exponent, modulus, scratch)
        });
    }
    pow_with(Backend::best(), result, base, exponent, modulus, scratch)
}

/// Like [`pow`], for a public exponent: square and multiply, skipping zero bits. Time depends on
/// the exponent and otherwise on the same lengths as [`pow`].
///
/// `scratch` has at least [`pow_minimum_scratch_limbs`] and is wiped.
///
/// # Errors
/// As [`pow`].
pub fn pow_vartime(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    run(Exponentiation::FastVartime, Backend::best(), result, base, exponent, modulus, scratch)
}

/// Computes `result = a · b mod modulus` in constant time. `a` has any length and value, `b` at
/// most as many limbs as the modulus. Otherwise like [`pow`]; `scratch` has at least
/// [`pow_minimum_scratch_limbs`].
///
/// # Errors
/// As [`pow`].
pub fn mul(
    result: &mut [Limb],
    a: &[Limb],
    b: &[Limb],
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = modulus.limbs().len();
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, pow_minimum_scratch_limbs(n))?;
    padding.fill(0);
    stack::clean(STACK_USE_WORDS, || {
        Backend::best().run(Mul { result, a, b: &b[..n.min(b.len())], modulus, scratch });
    });
    ct::wipe(scratch);
    Ok(())
}

struct Mul<'a> {
    result: &'a mut [Limb],
    a: &'a [Limb],
    b: &'a [Limb],
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for Mul<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { result, a, b, modulus, scratch } = self;
        if modulus.modulus.is_one() {
            result.fill(0);
            return;
        }
        let (work, other) = scratch.split_at_mut(words::montgomery_work_limbs(result.len()));
        let r_squared = Some(modulus.r_squared);
        let mut residues = Montgomery::new(words, modulus.limbs(), r_squared, work);
        // (a · R) · b / R is a · b.
        residues.enter(other, result, a);
        other[..b.len()].copy_from_slice(b);
        other[b.len()..].fill(0);
        residues.mul(result, other);
    }
}

/// Computes `a = a · b / R mod modulus`, or `a² / R` without `b`, R = 2^(64·n), in constant time:
/// the product of two numbers in Montgomery form. Both have n limbs and are less than the modulus,
/// and so is the result.
///
/// `scratch` has at least [`Modulus::scratch_limbs`]`(n)`; it is not wiped.
///
/// # Errors
/// [`Error::ScratchTooSmall`].
pub(crate) fn montgomery_mul(
    a: &mut [Limb],
    b: Option<&[Limb]>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let scratch = checked_scratch(scratch, Modulus::scratch_limbs(a.len()))?;
    Backend::best().run(MontgomeryMul { a, b, modulus: modulus.limbs(), scratch });
    Ok(())
}

struct MontgomeryMul<'a> {
    a: &'a mut [Limb],
    b: Option<&'a [Limb]>,
    modulus: &'a [Limb],
    scratch: &'a mut [Limb],
}

impl words::Task for MontgomeryMul<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let mut residues = Montgomery::new(words, self.modulus, None, self.scratch);
        match self.b {
            Some(b) => residues.mul(self.a, b),
            None => residues.square(self.a),
        }
    }
}

/// Like [`pow`], in 64-bit limbs, on a backend chosen by the caller.
///
/// # Errors
/// As [`pow`].
pub fn pow_with(
    backend: Backend,
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = modulus.limbs().len();
    let room = scratch.len().saturating_sub(words::montgomery_work_limbs(n));
    let way = fitting(fastest(n, exponent.bits()), n, room);
    stack::clean(STACK_USE_WORDS, || run(way, backend, result, base, exponent, modulus, scratch))
}

fn run(
    way: Exponentiation,
    backend: Backend,
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = modulus.limbs().len();
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, words::montgomery_work_limbs(n) + way.work_limbs(n))?;
    padding.fill(0);
    backend.run(Pow { way, result, base, exponent, modulus, scratch });
    ct::wipe(scratch);
    Ok(())
}

/// Returns `way`, or the next smaller method that works in `limbs` limbs; the ladder if none does.
const fn fitting(way: Exponentiation, n: usize, limbs: usize) -> Exponentiation {
    let mut way = way;
    while way.work_limbs(n) > limbs {
        way = match way {
            Exponentiation::FixedWindow(window) => match Window::new(window.bits() - 1) {
                Some(smaller) => Exponentiation::FixedWindow(smaller),
                None => Exponentiation::Ladder,
            },
            other => return other,
        };
    }
    way
}

struct Pow<'a> {
    way: Exponentiation,
    result: &'a mut [Limb],
    base: &'a [Limb],
    exponent: &'a Exponent<'a>,
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for Pow<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { way, result, base, exponent, modulus, scratch } = self;
        if modulus.modulus.is_one() {
            result.fill(0);
            return;
        }
        let (work, rest) = scratch.split_at_mut(words::montgomery_work_limbs(result.len()));
        let r_squared = Some(modulus.r_squared);
        let mut residues = Montgomery::new(words, modulus.limbs(), r_squared, work);
        way.run(&mut residues, result, base, exponent, rest);
    }
}
