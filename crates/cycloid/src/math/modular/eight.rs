//! Eight exponentiations side by side: bases, exponents and moduli all different, one length of
//! time for all. Constant-time, with a fixed window.

#[cfg(test)]
mod tests;

use super::montgomery::Montgomery;
use super::{
    Checked, Error, Exponent, Exponentiation, Modulus, Residues, Window, constant_time,
    split_result,
};
use crate::machine::ct;
use crate::machine::lanes::{self, Backend, LANE_LIMB_BITS, LANES, LaneWords, Lanes};
use crate::machine::words::{self, LIMB_BITS, Limb, Words};

/// Elements of scratch, of 64 bytes each, with which [`pow_eight`] is fastest, for moduli of at
/// most `n` limbs and exponents of `exponent_bits` bits.
pub const fn pow_eight_scratch(n: usize, exponent_bits: usize) -> usize {
    work_lanes(lanes::lane_limbs(n * LIMB_BITS), fastest(exponent_bits))
}

/// Elements of scratch without which [`pow_eight`] does not work, for moduli of at most `n` limbs.
pub const fn pow_eight_scratch_minimum(n: usize) -> usize {
    work_lanes(lanes::lane_limbs(n * LIMB_BITS), Window::ALL[0])
}

/// The widest window worth its table. The table is read whole for each digit, and one of six bits
/// takes longer to read than the multiplications that it saves.
const fn fastest(exponent_bits: usize) -> Window {
    match constant_time::fastest(exponent_bits) {
        Exponentiation::FixedWindow(window) if window.bits() < 6 => window,
        _ => Window::ALL[3],
    }
}

/// Working memory for `n` limbs in each lane: modulus, result, entry and table, and what
/// multiplication needs.
const fn work_lanes(n: usize, window: Window) -> usize {
    (3 + (1 << window.bits())) * n + lanes::montgomery_work(n)
}

/// `results[i] = bases[i]^exponents[i] mod moduli[i]` for each of eight lanes i, in constant time,
/// on the fastest backend; where the processor has none for eight lanes, one after the other.
///
/// Lengths are public and may differ from lane to lane; time is that of the longest. The results
/// are the same as those of [`pow`](super::pow), and each lane has its own outcome: a lane whose
/// arguments are refused leaves its result as it was and does not disturb the others. Takes the
/// largest window whose table fits into `scratch`: at least [`pow_eight_scratch_minimum`], at best
/// [`pow_eight_scratch`] elements for the longest modulus. What is used of `scratch` is wiped.
///
/// # Errors
/// Of a lane: as [`Modulus::prepare`] and [`pow`](super::pow). [`Error::ScratchTooSmall`] is that
/// of every lane that has no other.
pub fn pow_eight(
    results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&[Limb]; LANES],
    scratch: &mut [Lanes],
) -> [Result<(), Error>; LANES] {
    pow_eight_with(Backend::best(), results, bases, exponents, moduli, scratch)
}

/// [`pow_eight`] on a backend of the caller's choice; without one, one after the other.
///
/// # Errors
/// As [`pow_eight`].
pub fn pow_eight_with(
    backend: Option<Backend>,
    mut results: [&mut [Limb]; LANES],
    bases: [&[Limb]; LANES],
    exponents: [Exponent<'_>; LANES],
    moduli: [&[Limb]; LANES],
    scratch: &mut [Lanes],
) -> [Result<(), Error>; LANES] {
    let mut checked = core::array::from_fn(|lane| {
        let modulus = Checked::new(moduli[lane])?.odd()?;
        split_result(results[lane], modulus.limbs.len())?;
        Ok(modulus)
    });
    let bits = |modulus: &Result<Checked<'_>, Error>| modulus.map_or(0, |modulus| modulus.bits);
    let longest = checked.iter().map(bits).max().unwrap_or(0);
    let exponent_bits = exponents.iter().map(Exponent::bits).max().unwrap_or(0);
    let n = lanes::lane_limbs(longest);
    let Some(window) = fitting(fastest(exponent_bits), n, scratch.len()) else {
        let needed = work_lanes(n, Window::ALL[0]) * size_of::<Lanes>();
        let error = Error::ScratchTooSmall {
            needed,
            given: size_of_val(scratch),
        };
        checked
            .iter_mut()
            .for_each(|modulus| *modulus = modulus.and(Err(error)));
        return checked.map(|modulus| modulus.map(|_| ()));
    };
    let scratch = &mut scratch[..work_lanes(n, window)];

    for (result, modulus) in results.iter_mut().zip(&checked) {
        if let Ok(modulus) = modulus {
            result[modulus.limbs.len()..].fill(0);
        }
    }
    match (
        backend,
        checked.iter().flatten().find(|modulus| !modulus.is_one()),
    ) {
        (Some(backend), Some(ordinary)) => {
            // A lane without work of its own repeats another's modulus, with base and exponent 0.
            let idle = |lane: usize| !checked[lane].is_ok_and(|modulus| !modulus.is_one());
            let moduli = core::array::from_fn(|lane| {
                if idle(lane) {
                    *ordinary
                } else {
                    checked[lane].unwrap_or(*ordinary)
                }
            });
            let bases = core::array::from_fn(|lane| if idle(lane) { &[] } else { bases[lane] });
            let task = Pow {
                moduli,
                bases,
                exponents: &exponents,
                exponent_bits,
                window,
                n,
                scratch,
            };
            let powers = backend.run(task);
            for lane in 0..LANES {
                if let Ok(modulus) = checked[lane] {
                    let result = &mut results[lane][..modulus.limbs.len()];
                    if modulus.is_one() {
                        result.fill(0);
                    } else {
                        lanes::store(result, powers, lane);
                    }
                }
            }
            ct::wipe(Lanes::as_limbs_mut(scratch));
        }
        _ => {
            for lane in 0..LANES {
                if let Ok(modulus) = checked[lane] {
                    let scratch = Lanes::as_limbs_mut(scratch);
                    one_by_one(
                        results[lane],
                        bases[lane],
                        &exponents[lane],
                        modulus,
                        scratch,
                    );
                }
            }
        }
    }
    checked.map(|modulus| modulus.map(|_| ()))
}

/// The widest window, up to `best`, whose table fits into `given` elements.
fn fitting(best: Window, n: usize, given: usize) -> Option<Window> {
    Window::ALL
        .into_iter()
        .rev()
        .find(|window| *window <= best && work_lanes(n, *window) <= given)
}

/// One exponentiation with the scratch of eight, which is more than enough: the table of a window
/// of two bits alone has 4 · 8 · n limbs.
fn one_by_one(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &Exponent<'_>,
    modulus: Checked<'_>,
    scratch: &mut [Limb],
) {
    let (r_squared, scratch) = scratch.split_at_mut(modulus.limbs.len());
    let outcome = Modulus::prepare(modulus.limbs, r_squared, scratch)
        .and_then(|modulus| super::pow(result, base, exponent, &modulus, scratch));
    debug_assert!(outcome.is_ok());
    ct::wipe(r_squared);
}

/// Eight exponentiations whose arguments have been checked.
struct Pow<'a, 's> {
    moduli: [Checked<'a>; LANES],
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
        let Self {
            moduli,
            bases,
            exponents,
            exponent_bits,
            window,
            n,
            scratch,
        } = self;
        let (modulus, rest) = scratch.split_at_mut(n);
        let (result, rest) = rest.split_at_mut(n);
        let (entry, rest) = rest.split_at_mut(n);
        let (table, work) = rest.split_at_mut(n << window.bits());

        for (lane, source) in moduli.iter().enumerate() {
            lanes::load(modulus, lane, source.limbs);
        }
        let k0 = lanes::montgomery_k0(modulus);
        let mut residues = Residues8 {
            backend,
            modulus,
            k0,
            work,
        };
        for lane in 0..LANES {
            if bases[lane].len() * LIMB_BITS <= n * LANE_LIMB_BITS {
                lanes::load(result, lane, bases[lane]);
            } else {
                let room = Lanes::as_limbs_mut(table);
                let base = reduced(bases[lane], moduli[lane].limbs, room);
                lanes::load(result, lane, base);
            }
        }
        let shortest = moduli.iter().map(|modulus| modulus.bits).min().unwrap_or(0);
        let (one, powers) = table.split_at_mut(n);
        residues.one_and_r_squared(one, entry, shortest);
        residues.mul(result, entry);
        powers[..n].copy_from_slice(result);
        for i in 2..1 << window.bits() {
            let (known, next) = table.split_at_mut(i * n);
            let next = &mut next[..n];
            if i % 2 == 0 {
                next.copy_from_slice(&known[i / 2 * n..][..n]);
                residues.square(next);
            } else {
                next.copy_from_slice(&known[(i - 1) * n..]);
                residues.mul(next, &known[n..2 * n]);
            }
        }

        let width = window.bits();
        let digits = |window: usize| {
            Lanes(core::array::from_fn(|lane| {
                exponents[lane].digit(window * width, width)
            }))
        };
        let mut windows = (0..exponent_bits.div_ceil(width)).rev();
        let top = windows.next().map_or(Lanes([0; LANES]), digits);
        backend.lookup(result, table, &top);
        for window in windows {
            for _ in 0..width {
                residues.square(result);
            }
            backend.lookup(entry, table, &digits(window));
            residues.mul(result, entry);
        }

        // From x · R to x: times 1, which leaves at most the modulus itself.
        entry.fill(Lanes([0; LANES]));
        entry[0] = Lanes([1; LANES]);
        residues.mul(result, entry);
        lanes::reduce_once(result, residues.modulus);
        result
    }
}

/// Arithmetic modulo eight numbers in Montgomery's representation, R = 2^(52·n).
struct Residues8<'a, L> {
    backend: L,
    modulus: &'a [Lanes],
    k0: Lanes,
    work: &'a mut [Lanes],
}

impl<L: LaneWords> Residues8<'_, L> {
    fn mul(&mut self, accumulator: &mut [Lanes], by: &[Lanes]) {
        self.backend
            .montgomery_mul(accumulator, by, self.work, self.modulus, &self.k0);
    }

    fn square(&mut self, accumulator: &mut [Lanes]) {
        self.backend
            .montgomery_square(accumulator, self.work, self.modulus, &self.k0);
    }

    /// R mod modulus, which stands for 1, and R² mod modulus; both less than the modulus.
    /// `shortest` is the length in bits of the shortest modulus.
    fn one_and_r_squared(&mut self, one: &mut [Lanes], r_squared: &mut [Lanes], shortest: usize) {
        let exponent = one.len() * LANE_LIMB_BITS;
        // 2^(shortest − 1) is less than each modulus, and doubling that leads to R.
        one.fill(Lanes([0; LANES]));
        let power = shortest - 1;
        one[power / LANE_LIMB_BITS] = Lanes([1 << (power % LANE_LIMB_BITS); LANES]);
        for _ in power..exponent {
            lanes::double_mod(one, self.modulus);
        }
        // R · 2^k by doubling for the leading bits k of 52·n; then (R · 2^k)² / R = R · 2^(2k), and
        // a doubling where the next bit is one, until k is 52·n and 2^k is R.
        r_squared.copy_from_slice(one);
        let squarings = LIMB_BITS.ilog2();
        for _ in 0..exponent >> squarings {
            lanes::double_mod(r_squared, self.modulus);
        }
        for bit in (0..squarings).rev() {
            self.square(r_squared);
            lanes::reduce_once(r_squared, self.modulus);
            if exponent >> bit & 1 == 1 {
                lanes::double_mod(r_squared, self.modulus);
            }
        }
    }
}

/// `base mod modulus`, for a base of any length, in constant time; `room` has at least five times
/// as many limbs as the modulus.
fn reduced<'a>(base: &[Limb], modulus: &[Limb], room: &'a mut [Limb]) -> &'a [Limb] {
    struct Reduce<'a> {
        base: &'a [Limb],
        modulus: &'a [Limb],
        one: &'a mut [Limb],
        result: &'a mut [Limb],
        work: &'a mut [Limb],
    }
    impl words::Task for Reduce<'_> {
        type Output = ();

        fn run<W: Words>(self, words: W) {
            let mut residues = Montgomery::new(words, self.modulus, None, self.work);
            residues.enter(self.one, self.result, self.base);
            residues.leave(self.result);
        }
    }
    let n = modulus.len();
    let (result, rest) = room.split_at_mut(n);
    let (one, rest) = rest.split_at_mut(n);
    let work = &mut rest[..words::montgomery_work(n)];
    words::Backend::best().run(Reduce {
        base,
        modulus,
        one,
        result,
        work,
    });
    result
}
