//! Windowed exponentiation: a fixed window with a table of all powers, and a sliding window with
//! the odd powers only (Handbook of Applied Cryptography, algorithms 14.82 and 14.85).

use super::{Exponent, Products, Residues};
use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;

/// The width of a window, 2 to 6 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window(u8);

impl Window {
    /// All widths, smallest first.
    pub const ALL: [Self; 5] = [Self(2), Self(3), Self(4), Self(5), Self(6)];

    /// Returns the window of `bits` bits, if it exists.
    pub const fn new(bits: usize) -> Option<Self> {
        match bits {
            2..=6 => Some(Self(bits as u8)),
            _ => None,
        }
    }

    /// Returns the width in bits.
    pub const fn bits(self) -> usize {
        self.0 as usize
    }
}

/// Returns the limbs of working memory for a fixed window of `width` bits and a modulus of `n`
/// limbs: the table, and the looked-up entry.
pub(super) const fn fixed_work_limbs(width: usize, n: usize) -> usize {
    ((1 << width) + 1) * n
}

/// Computes `result = x^exponent` by windows of `width` bits, reading the whole table for each
/// window: as constant-time as the products.
///
/// `work` has [`fixed_work_limbs`] elements. Its first number is 1 and its second x, in the
/// representation of the products; so is the result. The exponent has `bits` bits, and `digit`
/// returns `width` bits of it from a position upwards.
pub(super) fn pow_fixed<P: Products>(
    products: &mut P,
    width: usize,
    bits: usize,
    digit: impl Fn(usize) -> P::Index,
    result: &mut [P::Element],
    work: &mut [P::Element],
) {
    let n = result.len();
    let (table, entry) = work.split_at_mut(n << width);
    let entry = &mut entry[..n];
    for i in 2..1 << width {
        // x^i = (x^(i/2))² or x^(i−1) · x.
        let (known, next) = table.split_at_mut(i * n);
        let next = &mut next[..n];
        if i % 2 == 0 {
            next.copy_from_slice(&known[i / 2 * n..][..n]);
            products.square(next);
        } else {
            next.copy_from_slice(&known[(i - 1) * n..]);
            products.mul(next, &known[n..2 * n]);
        }
    }
    // An exponent of no bits is 0, with digits of 0.
    let mut windows = (0..bits.div_ceil(width).max(1)).rev();
    let top = windows.next().unwrap_or(0);
    products.lookup(result, table, &digit(top * width));
    for window in windows {
        // Lanes of digits are written one by one and read as a vector, which waits for the last one
        // unless squarings are between them.
        let index = digit(window * width);
        products.square_times(result, width);
        products.lookup(entry, table, &index);
        products.mul(result, entry);
    }
}

/// Returns the limbs of working memory of [`pow_nonzero`] for a modulus of `n` limbs: the table, and
/// the looked-up entry.
pub(super) const fn nonzero_work_limbs(width: usize, n: usize) -> usize {
    n << width
}

/// Computes `result = x^exponent` like [`pow_fixed`], without the power 0 in the table: a product
/// with the entry of the digit 0, which is not there, is dropped. `work` has
/// [`nonzero_work_limbs`].
pub(super) fn pow_nonzero<R: Residues>(
    residues: &mut R,
    width: usize,
    result: &mut [Limb],
    x: &[Limb],
    exponent: &Exponent<'_>,
    work: &mut [Limb],
) {
    let n = result.len();
    let (table, entry) = work.split_at_mut(n * ((1 << width) - 1));
    let entry = &mut entry[..n];
    residues.enter(result, &mut table[..n], x);
    for i in 2..1 << width {
        // x^i = (x^(i/2))² or x^(i−1) · x.
        let (known, next) = table.split_at_mut((i - 1) * n);
        let next = &mut next[..n];
        if i % 2 == 0 {
            next.copy_from_slice(&known[(i / 2 - 1) * n..][..n]);
            residues.square(next);
        } else {
            next.copy_from_slice(&known[(i - 2) * n..]);
            residues.mul(next, &known[..n]);
        }
    }
    let windows = exponent.bits().div_ceil(width);
    for window in (0..windows).rev() {
        let digit = exponent.digit(window * width, width);
        // An index outside the table for the digit 0.
        residues.lookup(entry, table, &(digit as usize).wrapping_sub(1));
        if window + 1 < windows {
            residues.square_times(result, width);
            residues.mul(entry, result);
        }
        ct::assign_if(!Mask::is_zero(digit), result, entry);
    }
    residues.leave(result);
}

/// Returns the window width with the least time for table and digits, for an exponent of `bits`
/// bits, if `entries` table entries are read in the time of one multiplication.
pub(super) const fn fastest(bits: usize, entries: usize, widest: usize) -> Window {
    // Multiplying a number of no limbs takes no time.
    let entries = if entries == 0 { 1 } else { entries };
    let mut best = Window::ALL[0];
    let mut least = usize::MAX;
    let mut i = 0;
    while i < Window::ALL.len() && Window::ALL[i].bits() <= widest {
        let width = Window::ALL[i].bits();
        let digits = bits.div_ceil(width);
        let time = (1 << width) + digits + digits * (1 << width) / entries;
        if time < least {
            best = Window::ALL[i];
            least = time;
        }
        i += 1;
    }
    best
}

/// Returns the limbs of working memory for a sliding window of `width` bits and a modulus of `n`
/// limbs: the odd powers.
pub(super) const fn sliding_work_limbs(width: usize, n: usize) -> usize {
    (1 << (width - 1)) * n
}

/// Computes `result = x^exponent` by windows of at most `width` bits that begin and end with a one.
/// Time depends on the exponent. `work` has [`sliding_work_limbs`].
pub(super) fn pow_sliding_vartime<R: Residues>(
    residues: &mut R,
    width: usize,
    result: &mut [Limb],
    x: &[Limb],
    exponent: &Exponent<'_>,
    work: &mut [Limb],
) {
    let n = result.len();
    // Entry i is x^(2i + 1).
    let table = work;
    let bits = exponent.used_bits_vartime();
    residues.enter(result, &mut table[..n], x);
    if bits > 0 {
        // A window is not longer than the exponent, which limits the table too.
        let width = width.min(bits);
        let square = &mut *result;
        square.copy_from_slice(&table[..n]);
        residues.square(square);
        for i in 1..1 << (width - 1) {
            let (known, next) = table.split_at_mut(i * n);
            next[..n].copy_from_slice(&known[(i - 1) * n..]);
            residues.mul(&mut next[..n], square);
        }
        // `below` is the number of unread bits; the highest of them is a one.
        let mut below = bits;
        let mut empty = true;
        while below > 0 {
            if exponent.bit(below - 1) == 0 {
                residues.square(result);
                below -= 1;
                continue;
            }
            let longest = width.min(below);
            let digit = exponent.digit(below - longest, longest);
            let length = longest - digit.trailing_zeros() as usize;
            let entry = (digit >> (longest - length)) as usize / 2;
            let power = &table[entry * n..][..n];
            if empty {
                result.copy_from_slice(power);
                empty = false;
            } else {
                residues.square_times(result, length);
                residues.mul(result, power);
            }
            below -= length;
        }
    }
    residues.leave(result);
}
