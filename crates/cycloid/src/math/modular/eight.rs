//! Eight exponentiations side by side, with different bases, exponents and moduli, all in the same
//! time. Constant-time, with a fixed window.

#[cfg(test)]
mod tests;

use super::modulus::{Lane, Modulus, reduced};
use super::residues8::Residues8;
use super::{Checked, Error, Exponent, Products, STACK_USE, Window, split_result, window};
use crate::machine::lanes::{self, Backend, LANE_LIMB_BITS, LANES, LaneWords, Lanes};
use crate::machine::words::{LIMB_BITS, LIMB_BYTES, Limb};
use crate::machine::{ct, stack};

/// Returns the limbs of scratch with which [`pow_eight`] is fastest, for moduli of at most `n`
/// limbs and exponents of `exponent_bits` bits.
pub const fn pow_eight_scratch_limbs(n: usize, exponent_bits: usize) -> usize {
    let n = lanes::lane_limbs(n * LIMB_BITS);
    Lanes::limbs_for(work_lanes(n, fastest(n, exponent_bits)))
}

/// Returns the minimum limbs of scratch of [`pow_eight`], for moduli of at most `n` limbs.
pub const fn pow_eight_minimum_scratch_limbs(n: usize) -> usize {
    Lanes::limbs_for(work_lanes(lanes::lane_limbs(n * LIMB_BITS), Window::ALL[0]))
}

/// Returns the fastest window for `n` limbs in each lane. About 2n entries are read in the time of
/// one multiplication, and fewer of longer numbers, because their table exceeds the first-level
/// cache. A six-bit window is never worth its memory.
pub(crate) const fn fastest(n: usize, exponent_bits: usize) -> Window {
    let entries = if n <= 20 { 2 * n } else { n * 4 / 3 };
    window::fastest(exponent_bits, entries, 5)
}

/// Returns the working memory for `n` limbs in each lane: modulus and result, table and entry, and
/// the scratch of a multiplication.
const fn work_lanes(n: usize, window: Window) -> usize {
    2 * n + powers_lanes(n, window) + lanes::montgomery_work_lanes(n)
}

pub(crate) const fn powers_lanes(n: usize, window: Window) -> usize {
    window::fixed_work_limbs(window.bits(), n)
}

/// Computes `results[i] = bases[i]^exponents[i] mod moduli[i]` for each of eight lanes i, in
/// constant time, on the fastest backend; one by one if the processor has no vectors.
///
/// Lengths are public and may differ between lanes; time is that of the longest. The results equal
/// those of [`pow`](super::pow). Each lane has its own outcome: a lane with invalid arguments
/// leaves its result untouched and does not affect the others. Uses the largest window whose table
/// fits into `scratch`: at least [`pow_eight_minimum_scratch_limbs`], at best
/// [`pow_eight_scratch_limbs`] for the longest modulus. The used part of `scratch` is wiped.
///
/// # Errors
/// For each lane as [`Modulus::prepare`] and [`pow`](super::pow). [`Error::ScratchTooSmall`] is the
/// error of every lane that has no other.
pub fn pow_eight(
    results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&[Limb]; LANES],
    scratch: &mut [Limb],
) -> [Result<(), Error>; LANES] {
    pow_eight_with(Backend::best(), results, bases, exponents, moduli, scratch)
}

/// Like [`pow_eight`], on a backend chosen by the caller; with `None`, one by one.
///
/// # Errors
/// As [`pow_eight`].
pub fn pow_eight_with(
    backend: Option<Backend>,
    results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&[Limb]; LANES],
    scratch: &mut [Limb],
) -> [Result<(), Error>; LANES] {
    let moduli = moduli.map(|limbs| {
        let modulus = Checked::new(limbs)?.odd()?;
        Ok(Lane { modulus, r_squared: None })
    });
    stack::clean(STACK_USE, || pow_lanes(backend, results, bases, exponents, moduli, scratch))
}

/// Like [`pow_eight`], with prepared moduli, so that R² need not be recomputed.
///
/// # Errors
/// As [`pow`](super::pow) for each lane.
pub fn pow_eight_prepared(
    results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&Modulus<'_>; LANES],
    scratch: &mut [Limb],
) -> [Result<(), Error>; LANES] {
    pow_eight_prepared_with(Backend::best(), results, bases, exponents, moduli, scratch)
}

/// Like [`pow_eight_prepared`], on a backend chosen by the caller; with `None`, one by one.
///
/// # Errors
/// As [`pow_eight_prepared`].
fn pow_eight_prepared_with(
    backend: Option<Backend>,
    results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&Modulus<'_>; LANES],
    scratch: &mut [Limb],
) -> [Result<(), Error>; LANES] {
    let moduli = moduli.map(|modulus| Ok(modulus.lane()));
    stack::clean(STACK_USE, || pow_lanes(backend, results, bases, exponents, moduli, scratch))
}

fn pow_lanes(
    backend: Option<Backend>,
    mut results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    mut jobs: [Result<Lane<'_>, Error>; LANES],
    scratch: &mut [Limb],
) -> [Result<(), Error>; LANES] {
    for (job, result) in jobs.iter_mut().zip(&mut results) {
        *job = job.and_then(|lane| split_result(result, lane.modulus.limbs.len()).map(|_| lane));
    }
    let longest = jobs.iter().flatten().map(|lane| lane.modulus.bits).max().unwrap_or(0);
    let exponent_bits = exponents.iter().map(Exponent::bits).max().unwrap_or(0);
    let n = lanes::lane_limbs(longest);
    let room = Lanes::fitting(scratch.len());
    let Some(window) = fitting(fastest(n, exponent_bits), n, room) else {
        let needed = Lanes::limbs_for(work_lanes(n, Window::ALL[0])) * LIMB_BYTES;
        let error = Error::ScratchTooSmall { needed, given: size_of_val(scratch) };
        return jobs.map(|job| job.and(Err(error)));
    };
    let scratch = &mut Lanes::aligned_mut(scratch)[..work_lanes(n, window)];

    let ordinary = jobs.iter().flatten().find(|lane| !lane.modulus.is_one());
    if let (Some(backend), Some(ordinary)) = (backend, ordinary) {
        // An idle lane repeats another lane's modulus, with base 0.
        let works = jobs.map(|job| job.is_ok_and(|lane| !lane.modulus.is_one()));
        let work = |lane: usize| {
            if works[lane] { jobs[lane].unwrap_or(*ordinary) } else { *ordinary }
        };
        let powers = backend.run(Pow {
            moduli: core::array::from_fn(work),
            bases: core::array::from_fn(|lane| if works[lane] { bases[lane] } else { &[] }),
            exponents: &exponents,
            exponent_bits,
            window,
            n,
            scratch,
        });
        for (lane, result) in results.iter_mut().enumerate() {
            if let Ok(job) = jobs[lane] {
                let (result, padding) = result.split_at_mut(job.modulus.limbs.len());
                if works[lane] {
                    lanes::store(result, powers, lane);
                } else {
                    result.fill(0);
                }
                padding.fill(0);
            }
        }
        ct::wipe(Lanes::as_limbs_mut(scratch));
    } else {
        for (lane, result) in results.iter_mut().enumerate() {
            if let Ok(job) = jobs[lane] {
                let scratch = Lanes::as_limbs_mut(scratch);
                one_alone(result, bases[lane], &exponents[lane], job, scratch);
            }
        }
    }
    jobs.map(|job| job.map(|_| ()))
}

/// Returns the widest window, up to `best`, whose table fits into `given` elements.
fn fitting(best: Window, n: usize, given: usize) -> Option<Window> {
    Window::ALL.into_iter().rev().find(|window| *window <= best && work_lanes(n, *window) <= given)
}

/// Computes one exponentiation with the scratch of eight, which is more than enough: the table of a
/// two-bit window alone has 4 · 8 · n limbs.
fn one_alone(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    job: Lane<'_>,
    scratch: &mut [Limb],
) {
    let (r_squared, scratch) = scratch.split_at_mut(job.modulus.limbs.len());
    let modulus = match job.r_squared {
        Some(known) => Ok(Modulus::from_lane(job.modulus, known)),
        None => Modulus::prepare(job.modulus.limbs, r_squared, scratch),
    };
    let outcome = modulus.and_then(|modulus| super::pow(result, base, exponent, &modulus, scratch));
    debug_assert!(outcome.is_ok());
    ct::wipe(r_squared);
}

/// Eight exponentiations with checked arguments.
struct Pow<'a, 's> {
    moduli: [Lane<'a>; LANES],
    bases: [&'a [Limb]; LANES],
    exponents: &'a [Exponent<'a>; LANES],
    exponent_bits: usize,
    window: Window,
    n: usize,
    scratch: &'s mut [Lanes],
}

impl<'s> lanes::Task for Pow<'_, 's> {
    /// The powers, less than the moduli.
    type Output = &'s [Lanes];

    fn run<L: LaneWords>(self, backend: L) -> &'s [Lanes] {
        let Self { moduli, bases, exponents, exponent_bits, window, n, scratch } = self;
        let (modulus, rest) = scratch.split_at_mut(n);
        let (result, rest) = rest.split_at_mut(n);
        let (powers, work) = rest.split_at_mut(powers_lanes(n, window));

        lanes::load_all(modulus, moduli.map(|lane| lane.modulus.limbs));
        for lane in 0..LANES {
            let base = bases[lane];
            if base.len() * LIMB_BITS <= n * LANE_LIMB_BITS {
                lanes::load(result, lane, base);
            } else {
                let room = Lanes::as_limbs_mut(powers);
                let base = reduced(base, moduli[lane].modulus.limbs, room);
                lanes::load(result, lane, base);
            }
        }
        let mut residues = Residues8::new(backend, modulus, work);
        let (table, r_squared) = powers.split_at_mut(n << window.bits());
        match known_r_squared(&moduli, n) {
            Some(known) => residues.r_squared_from(r_squared, known, &mut table[..n]),
            None => {
                let shortest = moduli.iter().map(|lane| lane.modulus.bits).min().unwrap_or(0);
                residues.r_squared(r_squared, shortest);
            }
        }
        residues.mul(result, r_squared);
        residues.pow(result, exponents, exponent_bits, window, powers);
        result
    }
}

/// Returns R² of all lanes, if all are known and have the same number of limbs.
fn known_r_squared<'a>(moduli: &[Lane<'a>; LANES], n: usize) -> Option<[&'a [Limb]; LANES]> {
    let length = moduli[0].modulus.limbs.len();
    let usable = |lane: &Lane<'_>| lane.r_squared.is_some_and(|known| known.len() == length);
    let fits = length * LIMB_BITS <= n * LANE_LIMB_BITS;
    (fits && moduli.iter().all(usable)).then(|| moduli.map(|lane| lane.r_squared.unwrap_or(&[])))
}
