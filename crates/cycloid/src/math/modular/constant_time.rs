//! The default exponentiation: Montgomery reduction with a fixed window, constant-time, on the
//! fastest backend.

use super::modulus::Modulus;
use super::montgomery::Montgomery;
use super::{
    Error, Exponent, Products, Residues, STACK_USE, STACK_USE_WORDS, Window, across, binary,
    checked_scratch, ladder, split_result, window,
};
use crate::machine::words::{self, Backend, Limb, Words};
use crate::machine::{ct, lanes, stack};

/// How [`pow`] reads the exponent.
#[derive(Clone, Copy)]
enum Way {
    Ladder,
    Window(Window),
}

impl Way {
    /// The way with the least memory. With the feature `small`, there is one for all memories.
    const SHORTEST: Self =
        if cfg!(feature = "small") { Self::Window(Window::ALL[0]) } else { Self::Ladder };

    /// Returns the limbs of working memory besides the reduction's, for a modulus of `n` limbs.
    const fn work_limbs(self, n: usize) -> usize {
        match self {
            Self::Ladder => ladder::work_limbs(n),
            Self::Window(window) => window::nonzero_work_limbs(window.bits(), n),
        }
    }
}

/// Returns the fastest window for a modulus of `n` limbs. About 12n entries are read in the time of
/// one multiplication.
const fn fastest(n: usize, exponent_bits: usize) -> Way {
    Way::Window(window::fastest(exponent_bits, 12 * n, 6))
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
    words::montgomery_work_limbs(n) + Way::SHORTEST.work_limbs(n)
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
    stack::clean(stack_use(modulus, exponent, scratch.len()), || {
        pow_in_frames(result, base, exponent, modulus, scratch)
    })
}

/// Like [`pow`], but does not clean the stack.
pub(crate) fn pow_in_frames(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    if let Some(backend) = across_lanes(modulus, exponent, scratch.len()) {
        return across::pow(backend, result, base, exponent, modulus, scratch);
    }
    run(Backend::best(), result, base, exponent, modulus, scratch)
}

/// Returns the backend across lanes if it is the fastest and the scratch suffices.
fn across_lanes(
    modulus: &Modulus<'_>,
    exponent: &Exponent<'_>,
    scratch: usize,
) -> Option<lanes::Backend> {
    let n = modulus.limbs().len();
    across::backend(n).filter(|_| {
        exponent.bits() >= across::SHORTEST_EXPONENT
            && scratch >= across::scratch_limbs(n, exponent.bits())
    })
}

fn stack_use(modulus: &Modulus<'_>, exponent: &Exponent<'_>, scratch: usize) -> usize {
    match across_lanes(modulus, exponent, scratch) {
        Some(_) => STACK_USE,
        None => STACK_USE_WORDS,
    }
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
    let n = modulus.limbs().len();
    let (result, padding) = split_result(result, n)?;
    let needed = words::montgomery_work_limbs(n) + binary::work_limbs(n);
    let scratch = checked_scratch(scratch, needed)?;
    padding.fill(0);
    Backend::best().run(PowVartime { result, base, exponent, modulus, scratch });
    ct::wipe(scratch);
    Ok(())
}

struct PowVartime<'a> {
    result: &'a mut [Limb],
    base: &'a [Limb],
    exponent: &'a Exponent<'a>,
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for PowVartime<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { result, base, exponent, modulus, scratch } = self;
        if modulus.modulus.is_one() {
            result.fill(0);
            return;
        }
        let (work, rest) = scratch.split_at_mut(words::montgomery_work_limbs(result.len()));
        let r_squared = Some(modulus.r_squared);
        let mut residues = Montgomery::new(words, modulus.limbs(), r_squared, work);
        binary::pow_vartime(&mut residues, result, base, exponent, rest);
    }
}

/// Computes `result = x^exponent mod modulus` for a public exponent: odd, and at least 3. Time
/// depends on it, and not on `x`.
///
/// `result` and `x` have the limbs of the modulus, and `x` is less than that. `scratch` has at
/// least [`Modulus::scratch_limbs`]`(n)`; it is not wiped.
pub(crate) fn pow_odd_vartime(
    result: &mut [Limb],
    x: &[Limb],
    exponent: u64,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) {
    debug_assert!(exponent >= 3 && exponent % 2 == 1);
    Backend::best().run(PowOdd { result, x, exponent, modulus, scratch });
}

struct PowOdd<'a> {
    result: &'a mut [Limb],
    x: &'a [Limb],
    exponent: u64,
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for PowOdd<'_> {
    type Output = ();

    /// Multiplies by x itself, which saves a copy in Montgomery form. Such a product lacks a factor
    /// R, which a product with R² restores. The last one needs no factor: it leaves Montgomery form.
    fn run<W: Words>(self, words: W) {
        let Self { result, x, exponent, modulus, scratch } = self;
        let mut residues = Montgomery::new(words, modulus.limbs(), None, scratch);
        result.copy_from_slice(x);
        residues.mul(result, modulus.r_squared);
        for position in (0..exponent.ilog2()).rev() {
            residues.square(result);
            if exponent >> position & 1 == 1 {
                residues.mul(result, x);
                if position > 0 {
                    residues.mul(result, modulus.r_squared);
                }
            }
        }
    }
}

/// Computes `result = a · b mod modulus` in constant time. Both factors have any length and value,
/// and time depends on their lengths. Otherwise like [`pow`]; `scratch` has at least
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
        Backend::best().run(Mul { result, a, b, modulus, scratch });
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
        let other = &mut other[..result.len()];
        let mut residues = Montgomery::new(words, modulus.limbs(), None, work);
        // (a · R) · b / R is a · b.
        residues.represent(result, a, modulus.r_squared);
        if b.len() <= other.len() {
            other[..b.len()].copy_from_slice(b);
            other[b.len()..].fill(0);
        } else {
            residues.represent(other, b, modulus.r_squared);
            residues.leave(other);
        }
        residues.mul(result, other);
    }
}

/// Computes `a = a · b / R mod modulus`, or `a² / R` without `b`, R = 2^(64·n), in constant time:
/// the product of two numbers in Montgomery form. Both have n limbs and are less than the modulus,
/// and so is the result.
///
/// `scratch` has at least [`Modulus::scratch_limbs`]`(n)`; it is not wiped.
pub(crate) fn montgomery_mul(
    a: &mut [Limb],
    b: Option<&[Limb]>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) {
    Backend::best().run(MontgomeryMul { a, b, modulus: modulus.limbs(), scratch });
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
#[cfg(feature = "internals")]
pub fn pow_with(
    backend: Backend,
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    stack::clean(STACK_USE_WORDS, || run(backend, result, base, exponent, modulus, scratch))
}

fn run(
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
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, words::montgomery_work_limbs(n) + way.work_limbs(n))?;
    padding.fill(0);
    backend.run(Pow { way, result, base, exponent, modulus, scratch });
    ct::wipe(scratch);
    Ok(())
}

/// Returns `way`, or the next smaller method that works in `limbs` limbs; the ladder if none does.
const fn fitting(way: Way, n: usize, limbs: usize) -> Way {
    let mut way = way;
    while way.work_limbs(n) > limbs {
        way = match way {
            Way::Window(window) => match Window::new(window.bits() - 1) {
                Some(smaller) => Way::Window(smaller),
                None => return Way::SHORTEST,
            },
            Way::Ladder => return way,
        };
    }
    way
}

struct Pow<'a> {
    way: Way,
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
        match way {
            Way::Window(window) => {
                window::pow_nonzero(&mut residues, window.bits(), result, base, exponent, rest);
            }
            Way::Ladder if cfg!(feature = "small") => unreachable!("see Way::SHORTEST"),
            Way::Ladder => ladder::pow(&mut residues, result, base, exponent, rest),
        }
    }
}
