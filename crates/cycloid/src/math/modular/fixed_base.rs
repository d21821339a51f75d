//! Powers of one base by a comb: a precomputed table of products of the base's powers saves most of
//! the squarings (Lim and Lee, More flexible exponentiation with precomputation, 1994).
//! Constant-time.
//!
//! With h teeth and v blocks, an exponent of t bits is a pattern of h rows, one per tooth, of v·b
//! bits each, b = ⌈t / (h·v)⌉:
//!
//! exponent = Σ 2^(v·b·i + b·j + k) · bit(i, j, k), over teeth i < h, blocks j < v, columns k < b.
//!
//! For block j the table contains the product of the powers base^(2^(v·b·i + b·j)) over each set of
//! teeth i. A power takes b − 1 squarings and v·b − 1 products with a table entry. The table has
//! v·2^h entries; each product reads all entries of a block.

#[cfg(test)]
mod tests;

use super::across::{self, Across};
use super::montgomery::Montgomery;
use super::{
    Error, Exponent, Modulus, Products, Residues, STACK_USE, checked_scratch, split_result,
};
use crate::machine::across as across_lanes;
use crate::machine::across::AcrossLanes;
use crate::machine::lanes::{Backend, LANES, Lanes};
use crate::machine::words::{self, LIMB_BITS, Limb, Words};
use crate::machine::{ct, stack};

/// The shape of a comb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comb {
    teeth: usize,
    blocks: usize,
}

impl Comb {
    /// The maximum number of teeth. The time for reading a block grows as 2^teeth.
    pub const MAX_TEETH: usize = 8;

    /// The maximum number of blocks. More would only lengthen the table.
    pub const MAX_BLOCKS: usize = 256;

    /// Four teeth, one block: the least memory; about 2.5 times as fast as without a table.
    pub const COMPACT: Self = Self { teeth: 4, blocks: 1 };

    /// Five teeth, two blocks: about 3.6 times as fast as without a table.
    pub const BALANCED: Self = Self { teeth: 5, blocks: 2 };

    /// Five teeth, five blocks: about 4.2 times as fast as without a table. Larger combs gain
    /// little more, since reading a whole block takes time too.
    pub const FASTEST: Self = Self { teeth: 5, blocks: 5 };

    /// Creates a comb of 1 to [`MAX_TEETH`](Self::MAX_TEETH) teeth and 1 to
    /// [`MAX_BLOCKS`](Self::MAX_BLOCKS) blocks; `None` otherwise.
    pub const fn new(teeth: usize, blocks: usize) -> Option<Self> {
        if teeth == 0 || teeth > Self::MAX_TEETH || blocks == 0 || blocks > Self::MAX_BLOCKS {
            return None;
        }
        Some(Self { teeth, blocks })
    }

    /// Returns the number of teeth.
    pub const fn teeth(self) -> usize {
        self.teeth
    }

    /// Returns the number of blocks.
    pub const fn blocks(self) -> usize {
        self.blocks
    }

    /// Returns the columns of a block, for exponents of `bits` bits.
    const fn columns(self, bits: usize) -> usize {
        bits.div_ceil(self.teeth * self.blocks)
    }

    /// Returns the number of table entries.
    const fn entries(self) -> usize {
        self.blocks << self.teeth
    }

    /// Fills a table whose first entry is 1 and whose second entry is the base; `power` is working
    /// memory for one number.
    fn fill<P: Products>(
        self,
        products: &mut P,
        bits: usize,
        table: &mut [P::Element],
        power: &mut [P::Element],
    ) {
        let n = power.len();
        let block = n << self.teeth;
        power.copy_from_slice(&table[n..2 * n]);
        for j in 1..self.blocks {
            let (first, others) = table.split_at_mut(j * block);
            others[..n].copy_from_slice(&first[..n]);
        }
        // Tooth i of block j is at bit (v·i + j)·b: b squarings lead to the next block, and from
        // the last block to the next tooth.
        for step in 1..self.teeth * self.blocks {
            products.square_times(power, self.columns(bits));
            let (tooth, j) = (step / self.blocks, step % self.blocks);
            table[j * block + (n << tooth)..][..n].copy_from_slice(power);
        }
        for table in table.chunks_exact_mut(block) {
            for i in 3..1_usize << self.teeth {
                // If i has at least two teeth, the entry is the product of the highest tooth's
                // entry and that of the others.
                let highest = 1 << i.ilog2();
                if i == highest {
                    continue;
                }
                let (known, next) = table.split_at_mut(i * n);
                let next = &mut next[..n];
                next.copy_from_slice(&known[highest * n..][..n]);
                products.mul(next, &known[(i - highest) * n..][..n]);
            }
        }
    }

    /// Computes `result` = the base to the `exponent`, reading `bits` bits of it; `entry` is
    /// working memory for one number.
    fn pow<P: Products<Index = usize>>(
        self,
        products: &mut P,
        exponent: &Exponent<'_>,
        bits: usize,
        result: &mut [P::Element],
        table: &[P::Element],
        entry: &mut [P::Element],
    ) {
        let columns = self.columns(bits);
        let block = result.len() << self.teeth;
        let teeth_at = |j: usize, k: usize| {
            let bit = |i| exponent.bit((self.blocks * i + j) * columns + k) as usize;
            (0..self.teeth).fold(0, |index, i| index | bit(i) << i)
        };
        for k in (0..columns).rev() {
            if k + 1 < columns {
                products.square(result);
            }
            for (j, table) in table.chunks_exact(block).enumerate() {
                if k + 1 == columns && j == 0 {
                    products.lookup(result, table, &teeth_at(j, k));
                } else {
                    products.lookup(entry, table, &teeth_at(j, k));
                    products.mul(result, entry);
                }
            }
        }
    }
}

/// A base prepared for powers with exponents of up to a fixed length: the table of a comb, in
/// memory provided by the caller and in the fastest form for this processor.
#[derive(Clone, Copy)]
pub struct FixedBase<'a> {
    modulus: Modulus<'a>,
    comb: Comb,
    bits: usize,
    form: Form<'a>,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    /// The modulus is 1.
    Zero,
    /// In 64-bit limbs.
    Words { table: &'a [Limb] },
    /// Across the lanes of vectors, like the modulus.
    Across { backend: Backend, modulus: &'a [Lanes], table: &'a [Lanes] },
}

/// Prints only lengths, since the base may be secret.
impl core::fmt::Debug for FixedBase<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "FixedBase({:?}, {:?}, exponents of {} bits)", self.modulus, self.comb, self.bits)
    }
}

impl<'a> FixedBase<'a> {
    /// Returns the limbs of memory for a modulus of `n` limbs.
    pub const fn memory_limbs(n: usize, comb: Comb) -> usize {
        Lanes::limbs_for(Self::memory_lanes(n, comb))
    }

    const fn memory_lanes(n: usize, comb: Comb) -> usize {
        let words = (n * comb.entries()).div_ceil(LANES);
        if n < across::SHORTEST {
            return words;
        }
        let digits = across_lanes::digits(n * LIMB_BITS);
        let table = across_lanes::vectors(digits) * comb.entries();
        let across = across_lanes::modulus_lanes(digits) + table;
        if across > words { across } else { words }
    }

    /// Returns the limbs of scratch for preparing the table and for a power, for a modulus of `n`
    /// limbs.
    pub const fn scratch_limbs(n: usize) -> usize {
        let words = words::montgomery_work_limbs(n) + 2 * n;
        if n < across::SHORTEST {
            return words;
        }
        let across = Lanes::limbs_for(across_scratch(across_lanes::digits(n * LIMB_BITS)));
        if across > words { across } else { words }
    }

    /// Computes the table for exponents of up to `exponent_bits` bits, at least one.
    ///
    /// `base` has any length. `memory` has at least [`FixedBase::memory_limbs`], and `scratch`
    /// at least [`FixedBase::scratch_limbs`], which is wiped. Takes as long as one or two
    /// powers without a table. Constant-time except for lengths.
    ///
    /// # Errors
    /// [`Error::ScratchTooSmall`] if memory or scratch is too small.
    pub fn prepare(
        base: &[Limb],
        exponent_bits: usize,
        comb: Comb,
        modulus: &Modulus<'a>,
        memory: &'a mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let across = across::backend(modulus.limbs().len());
        Self::prepare_with(across, base, exponent_bits, comb, modulus, memory, scratch)
    }

    /// Like [`prepare`](Self::prepare), across the lanes of a backend chosen by the caller, for
    /// moduli of at least 16 limbs. Shorter moduli, and all moduli with `None`, use 64-bit limbs.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn prepare_with(
        across: Option<Backend>,
        base: &[Limb],
        exponent_bits: usize,
        comb: Comb,
        modulus: &Modulus<'a>,
        memory: &'a mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let n = modulus.limbs().len();
        let memory = Lanes::aligned_mut(checked_scratch(memory, Self::memory_limbs(n, comb))?);
        let scratch = checked_scratch(scratch, Self::scratch_limbs(n))?;
        let bits = exponent_bits.max(1);
        if modulus.bits() == 1 {
            return Ok(Self { modulus: *modulus, comb, bits, form: Form::Zero });
        }
        let form = match across.filter(|_| n >= across::SHORTEST) {
            Some(backend) => {
                let digits = across_lanes::digits(modulus.bits());
                let vectors = across_lanes::vectors(digits);
                let (ready, rest) = memory.split_at_mut(across_lanes::modulus_lanes(digits));
                let table = &mut rest[..vectors * comb.entries()];
                let scratch = Lanes::aligned_mut(scratch);
                let fill = FillAcross { base, bits, comb, modulus, ready, table, scratch };
                across_lanes::run(backend, fill);
                Form::Across { backend, modulus: ready, table }
            }
            None => {
                let table = &mut Lanes::as_limbs_mut(memory)[..n * comb.entries()];
                let fill = FillWords { base, bits, comb, modulus, table, scratch };
                words::Backend::best().run(fill);
                Form::Words { table }
            }
        };
        ct::wipe(scratch);
        Ok(Self { modulus: *modulus, comb, bits, form })
    }

    /// Returns the length of the longest exponent, in bits.
    pub const fn exponent_bits(&self) -> usize {
        self.bits
    }

    /// Computes `result = base^exponent mod modulus` in constant time.
    ///
    /// `result` has at least as many limbs as the modulus and is padded with zeros; `scratch` has
    /// at least [`FixedBase::scratch_limbs`] and is wiped. Time depends on lengths only.
    ///
    /// # Errors
    /// [`Error::ExponentTooLong`] if the exponent's declared length exceeds the table's,
    /// [`Error::ResultTooShort`], [`Error::ScratchTooSmall`]; nothing is written then.
    pub fn pow(
        &self,
        result: &mut [Limb],
        exponent: &Exponent<'_>,
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        if exponent.bits() > self.bits {
            return Err(Error::ExponentTooLong);
        }
        let n = self.modulus.limbs().len();
        let (result, padding) = split_result(result, n)?;
        let scratch = checked_scratch(scratch, Self::scratch_limbs(n))?;
        padding.fill(0);
        stack::clean(STACK_USE, || match self.form {
            Form::Zero => result.fill(0),
            Form::Words { table } => {
                let pow = PowWords { fixed: self, result, exponent, table, scratch: &mut *scratch };
                words::Backend::best().run(pow);
            }
            Form::Across { backend, modulus, table } => {
                let scratch = Lanes::aligned_mut(&mut *scratch);
                let pow = PowAcross { fixed: self, result, exponent, modulus, table, scratch };
                across_lanes::run(backend, pow);
            }
        });
        ct::wipe(scratch);
        Ok(())
    }
}

struct FillWords<'a> {
    base: &'a [Limb],
    bits: usize,
    comb: Comb,
    modulus: &'a Modulus<'a>,
    table: &'a mut [Limb],
    scratch: &'a mut [Limb],
}

impl words::Task for FillWords<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { base, bits, comb, modulus, table, scratch } = self;
        let n = modulus.limbs().len();
        let (work, rest) = scratch.split_at_mut(words::montgomery_work_limbs(n));
        let r_squared = Some(modulus.r_squared());
        let mut residues = Montgomery::new(words, modulus.limbs(), r_squared, work);
        let (one, others) = table.split_at_mut(n);
        residues.enter(one, &mut others[..n], base);
        comb.fill(&mut residues, bits, table, &mut rest[..n]);
    }
}

struct PowWords<'a> {
    fixed: &'a FixedBase<'a>,
    result: &'a mut [Limb],
    exponent: &'a Exponent<'a>,
    table: &'a [Limb],
    scratch: &'a mut [Limb],
}

impl words::Task for PowWords<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { fixed, result, exponent, table, scratch } = self;
        let FixedBase { modulus, comb, bits, .. } = fixed;
        let n = result.len();
        let (work, rest) = scratch.split_at_mut(words::montgomery_work_limbs(n));
        let r_squared = Some(modulus.r_squared());
        let mut residues = Montgomery::new(words, modulus.limbs(), r_squared, work);
        comb.pow(&mut residues, exponent, *bits, result, table, &mut rest[..n]);
        residues.leave(result);
    }
}

/// Returns the `Lanes` of scratch for numbers of `n` digits: two numbers, and the scratch of a
/// multiplication.
const fn across_scratch(n: usize) -> usize {
    2 * across_lanes::vectors(n) + across_lanes::montgomery_work_lanes(n)
}

struct FillAcross<'a> {
    base: &'a [Limb],
    bits: usize,
    comb: Comb,
    modulus: &'a Modulus<'a>,
    ready: &'a mut [Lanes],
    table: &'a mut [Lanes],
    scratch: &'a mut [Lanes],
}

impl across_lanes::Task for FillAcross<'_> {
    type Output = ();

    fn run<A: AcrossLanes>(self, backend: A) {
        let Self { base, bits, comb, modulus, ready, table, scratch } = self;
        let vectors = across_lanes::vectors(across_lanes::digits(modulus.bits()));
        let (power, rest) = scratch.split_at_mut(vectors);
        let (unit, work) = rest.split_at_mut(vectors);
        let (one, others) = table.split_at_mut(vectors);
        let x = &mut others[..vectors];
        across::load_base(x, base, modulus, work);
        let modulus = backend.prepare(modulus.limbs(), modulus.bits(), ready, work);
        let mut products = Across::new(backend, &modulus, work);
        across::enter(&mut products, one, x, unit);
        comb.fill(&mut products, bits, table, power);
    }
}

struct PowAcross<'a> {
    fixed: &'a FixedBase<'a>,
    result: &'a mut [Limb],
    exponent: &'a Exponent<'a>,
    modulus: &'a [Lanes],
    table: &'a [Lanes],
    scratch: &'a mut [Lanes],
}

impl across_lanes::Task for PowAcross<'_> {
    type Output = ();

    fn run<A: AcrossLanes>(self, backend: A) {
        let Self { fixed, result, exponent, modulus, table, scratch } = self;
        let FixedBase { comb, bits, .. } = fixed;
        let modulus = across_lanes::Modulus::prepared(backend, fixed.modulus.bits(), modulus);
        let vectors = across_lanes::vectors(modulus.n());
        let (power, rest) = scratch.split_at_mut(vectors);
        let (entry, work) = rest.split_at_mut(vectors);
        let mut products = Across::new(backend, &modulus, work);
        comb.pow(&mut products, exponent, *bits, power, table, entry);
        across::leave(&mut products, result, power, entry);
    }
}
