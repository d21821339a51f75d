//! Strategies: every combination of a reduction and an exponentiation method.

use core::fmt;

use super::barrett::{self, Barrett};
use super::basic::{self, Basic};
use super::montgomery::Montgomery;
use super::{
    Checked, Error, Exponent, Residues, binary, checked_scratch, ladder, limbs_for, split_result,
    window::{self, Window},
};
use crate::machine::ct;
use crate::machine::words::{self, Backend, Limb, Words};

/// How a product is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// Division (Knuth's algorithm D). Any modulus; time depends on the values.
    BasicVartime,
    /// Multiplication by a precomputed reciprocal. Any modulus; time depends on the values.
    BarrettVartime,
    /// Montgomery form. Odd moduli; constant-time.
    Montgomery,
}

/// How the exponent is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exponentiation {
    /// Square and multiply, skipping zero bits: for public exponents.
    FastVartime,
    /// Montgomery's ladder: a squaring and a multiplication per bit.
    Ladder,
    /// A fixed window with a table of all powers, which is read whole for each window.
    FixedWindow(Window),
    /// A sliding window with a table of odd powers ("reduced memory"): for public exponents.
    ReducedMemoryVartime(Window),
}

/// One way to compute base^exponent mod modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strategy {
    /// How a product is reduced.
    pub reduction: Reduction,
    /// How the exponent is read.
    pub exponentiation: Exponentiation,
}

impl Reduction {
    /// All reductions, slowest first.
    pub const ALL: [Self; 3] = [Self::BasicVartime, Self::BarrettVartime, Self::Montgomery];

    const fn work_limbs(self, n: usize) -> usize {
        match self {
            Self::BasicVartime => basic::work_limbs(n),
            Self::BarrettVartime => barrett::work_limbs(n),
            Self::Montgomery => words::montgomery_work_limbs(n),
        }
    }
}

impl Exponentiation {
    /// All twelve methods, in the order of the table.
    pub const ALL: [Self; 12] = {
        let mut all = [Self::FastVartime; 12];
        all[1] = Self::Ladder;
        let mut i = 0;
        while i < Window::ALL.len() {
            all[2 + i] = Self::FixedWindow(Window::ALL[i]);
            all[7 + i] = Self::ReducedMemoryVartime(Window::ALL[i]);
            i += 1;
        }
        all
    };

    /// Returns the limbs of working memory besides the reduction's, for a modulus of `n` limbs.
    pub(super) const fn work_limbs(self, n: usize) -> usize {
        match self {
            Self::FastVartime => binary::work_limbs(n),
            Self::Ladder => ladder::work_limbs(n),
            Self::FixedWindow(window) => window::fixed_work_limbs(window.bits(), n),
            Self::ReducedMemoryVartime(window) => window::sliding_work_limbs(window.bits(), n),
        }
    }
}

impl Strategy {
    /// All 36 strategies, in the order of the table.
    pub const ALL: [Self; 36] = {
        let mut all =
            [Self { reduction: Reduction::ALL[0], exponentiation: Exponentiation::ALL[0] }; 36];
        let mut i = 0;
        while i < all.len() {
            all[i].reduction = Reduction::ALL[i / Exponentiation::ALL.len()];
            all[i].exponentiation = Exponentiation::ALL[i % Exponentiation::ALL.len()];
            i += 1;
        }
        all
    };

    /// Returns the limbs of scratch for a modulus of `n` limbs.
    pub const fn scratch_limbs(self, n: usize) -> usize {
        self.reduction.work_limbs(n) + self.exponentiation.work_limbs(n)
    }

    /// Returns the bytes of scratch for a modulus of `bits` bits.
    pub const fn scratch_bytes(self, bits: usize) -> usize {
        self.scratch_limbs(limbs_for(bits)) * size_of::<Limb>()
    }

    /// Returns whether time depends only on the bit lengths of modulus and exponent and on the
    /// base's length in limbs.
    pub const fn is_constant_time(self) -> bool {
        matches!(self.reduction, Reduction::Montgomery)
            && matches!(
                self.exponentiation,
                Exponentiation::Ladder | Exponentiation::FixedWindow(_)
            )
    }

    /// Computes `result = base^exponent mod modulus`, on the fastest backend.
    ///
    /// All are little-endian limbs. `result` has at least as many as the modulus without its
    /// leading zeros, and is padded with zeros. `scratch` has at least
    /// [`scratch_limbs`](Self::scratch_limbs) for that length and is wiped. Time depends on the
    /// values unless [`is_constant_time`](Self::is_constant_time) returns true.
    ///
    /// # Errors
    /// As described in the module; nothing is written to `result` then.
    pub fn pow_vartime(
        self,
        result: &mut [Limb],
        base: &[Limb],
        exponent: &Exponent<'_>,
        modulus: &[Limb],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.pow_on(Backend::best(), result, base, exponent, modulus, scratch)
    }

    /// Like [`pow_vartime`](Self::pow_vartime), on a backend chosen by the caller.
    ///
    /// # Errors
    /// As [`pow_vartime`](Self::pow_vartime).
    #[cfg(feature = "internals")]
    pub fn pow_vartime_with(
        self,
        backend: Backend,
        result: &mut [Limb],
        base: &[Limb],
        exponent: &Exponent<'_>,
        modulus: &[Limb],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.pow_on(backend, result, base, exponent, modulus, scratch)
    }

    fn pow_on(
        self,
        backend: Backend,
        result: &mut [Limb],
        base: &[Limb],
        exponent: &Exponent<'_>,
        modulus: &[Limb],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let mut modulus = Checked::new(modulus)?;
        if self.reduction == Reduction::Montgomery {
            modulus = modulus.odd()?;
        }
        let n = modulus.limbs.len();
        let (result, padding) = split_result(result, n)?;
        let scratch = checked_scratch(scratch, self.scratch_limbs(n))?;
        padding.fill(0);
        backend.run(Task { strategy: self, result, base, exponent, modulus, scratch });
        ct::wipe(scratch);
        Ok(())
    }
}

/// An exponentiation with checked arguments.
struct Task<'a> {
    strategy: Strategy,
    result: &'a mut [Limb],
    base: &'a [Limb],
    exponent: &'a Exponent<'a>,
    modulus: Checked<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for Task<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { strategy, result, base, exponent, modulus, scratch } = self;
        if modulus.is_one() {
            result.fill(0);
            return;
        }
        let modulus = modulus.limbs;
        let way = strategy.exponentiation;
        let (work, rest) = scratch.split_at_mut(strategy.reduction.work_limbs(modulus.len()));
        match strategy.reduction {
            Reduction::BasicVartime => {
                way.run(&mut Basic::new(words, modulus, work), result, base, exponent, rest);
            }
            Reduction::BarrettVartime => {
                way.run(&mut Barrett::new(words, modulus, work), result, base, exponent, rest);
            }
            Reduction::Montgomery => {
                let mut residues = Montgomery::new(words, modulus, None, work);
                way.run(&mut residues, result, base, exponent, rest);
            }
        }
    }
}

impl Exponentiation {
    /// Computes `result = x^exponent`; `work` has [`work_limbs`](Self::work_limbs).
    pub(super) fn run<R: Residues>(
        self,
        residues: &mut R,
        result: &mut [Limb],
        x: &[Limb],
        exponent: &Exponent<'_>,
        work: &mut [Limb],
    ) {
        match self {
            Self::FastVartime => binary::pow_vartime(residues, result, x, exponent, work),
            Self::Ladder => ladder::pow(residues, result, x, exponent, work),
            Self::FixedWindow(width) => {
                let n = result.len();
                let width = width.bits();
                let digit = |position| exponent.digit(position, width) as usize;
                let (one, powers) = work.split_at_mut(n);
                residues.enter(one, &mut powers[..n], x);
                window::pow_fixed(residues, width, exponent.bits(), digit, result, work);
                residues.leave(result);
            }
            Self::ReducedMemoryVartime(width) => {
                window::pow_sliding_vartime(residues, width.bits(), result, x, exponent, work);
            }
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BasicVartime => "Basic",
            Self::BarrettVartime => "Barrett",
            Self::Montgomery => "Montgomery",
        })
    }
}

impl fmt::Display for Exponentiation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FastVartime => f.pad("fast"),
            Self::Ladder => f.pad("ladder"),
            Self::FixedWindow(window) => write!(f, "{}b FW", window.bits()),
            Self::ReducedMemoryVartime(window) => write!(f, "{}b RM", window.bits()),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.reduction, self.exponentiation)
    }
}
