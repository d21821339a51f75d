//! Constant-time building blocks: masks, selection, lookup, marks for the tracer, wiping.
//!
//! No function here branches, indexes or divides based on its arguments' values, unless its name
//! ends in `_vartime`. A mask passes an optimisation barrier when it is made, so that the compiler
//! cannot turn a later selection back into a branch.

use super::hint::{barrier, mark, public_value};
use super::limb::Limb;
use zeroize::{DefaultIsZeroes, Zeroize};

/// A truth value as all ones or all zeros, from which the compiler can derive no branch.
#[derive(Clone, Copy)]
pub struct Mask(Limb);

impl Mask {
    /// Returns true if `bit` is 1; `bit` must be 0 or 1.
    #[inline(always)]
    pub fn from_bit(bit: Limb) -> Self {
        debug_assert!(bit < 2);
        Self(barrier(bit.wrapping_neg()))
    }

    /// Returns true if `x` is zero.
    #[inline(always)]
    pub fn is_zero(x: Limb) -> Self {
        // x | −x has its top bit set for every x except 0.
        Self::from_bit(((x | x.wrapping_neg()) >> 63) ^ 1)
    }

    /// Returns true if `a` and `b` are equal.
    #[inline(always)]
    pub fn equal(a: Limb, b: Limb) -> Self {
        Self::is_zero(a ^ b)
    }

    /// Returns true if `a` is less than `b`.
    #[inline(always)]
    pub fn less(a: Limb, b: Limb) -> Self {
        // If the top bits differ, that of b decides. Otherwise a − b does not overflow, and its top
        // bit decides.
        let different = a ^ b;
        Self::from_bit(((different & b) | (!different & a.wrapping_sub(b))) >> 63)
    }

    /// Returns all ones or all zeros.
    #[inline(always)]
    pub const fn value(self) -> Limb {
        self.0
    }

    /// Returns `a` if true, `b` if false.
    #[inline(always)]
    pub const fn select(self, a: Limb, b: Limb) -> Limb {
        b ^ (self.0 & (a ^ b))
    }

    /// Returns `a` if true, `b` if false.
    #[inline(always)]
    pub const fn select_byte(self, a: u8, b: u8) -> u8 {
        b ^ (self.0 as u8 & (a ^ b))
    }

    /// Declares the value public and returns it.
    #[inline(always)]
    pub fn reveal(self) -> bool {
        public_value(self.0) != 0
    }
}

impl core::ops::Not for Mask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(barrier(!self.0))
    }
}

impl core::ops::BitAnd for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl core::ops::BitOr for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Computes `destination = source` if `mask` is true. Equal lengths.
#[inline]
pub fn assign_if(mask: Mask, destination: &mut [Limb], source: &[Limb]) {
    debug_assert_eq!(destination.len(), source.len());
    for (d, s) in destination.iter_mut().zip(source) {
        *d = mask.select(*s, *d);
    }
}

/// Swaps `a` and `b` if `mask` is true. Equal lengths.
#[inline]
pub fn swap_if(mask: Mask, a: &mut [Limb], b: &mut [Limb]) {
    debug_assert_eq!(a.len(), b.len());
    for (a, b) in a.iter_mut().zip(b) {
        let difference = mask.value() & (*a ^ *b);
        *a ^= difference;
        *b ^= difference;
    }
}

/// Copies `out = table[index]`, reading all of `table`: consecutive entries of `out.len()` limbs.
///
/// An `index` outside the table gives zero.
#[inline]
pub fn lookup(out: &mut [Limb], table: &[Limb], index: usize) {
    debug_assert!(!out.is_empty() && table.len().is_multiple_of(out.len()));
    out.fill(0);
    for (i, entry) in table.chunks_exact(out.len()).enumerate() {
        let mask = Mask::equal(i as Limb, index as Limb);
        for (o, e) in out.iter_mut().zip(entry) {
            *o |= mask.value() & e;
        }
    }
}

/// Returns whether `a` and `b` are equal. Equal lengths.
#[inline]
pub fn equal_bytes(a: &[u8], b: &[u8]) -> Mask {
    debug_assert_eq!(a.len(), b.len());
    Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | Limb::from(a ^ b)))
}

/// Moves `bytes` by `distance` towards the start: drops the first `distance` bytes and appends as
/// many zeros. `distance` is at most the number of bytes. Time depends on that number only.
pub fn shift_bytes(bytes: &mut [u8], distance: usize) {
    debug_assert!(distance <= bytes.len());
    // The distance is a sum of powers of two, its bits.
    for bit in 0..usize::BITS - bytes.len().leading_zeros() {
        let mask = Mask::from_bit((distance >> bit & 1) as Limb);
        let step = 1 << bit;
        let kept = bytes.len() - step;
        for i in 0..kept {
            bytes[i] = mask.select_byte(bytes[i + step], bytes[i]);
        }
        bytes[kept..].iter_mut().for_each(|byte| *byte = mask.select_byte(0, *byte));
    }
}

/// Returns `text` as a string if all of it is ASCII. Time depends only on the length and on that
/// result.
pub fn ascii(text: &[u8]) -> Option<&str> {
    let high = text.iter().fold(0, |any, byte| any | byte) >> 7;
    // SAFETY: bytes with a clear highest bit are one-byte characters.
    Mask::is_zero(high.into()).reveal().then(|| unsafe { core::str::from_utf8_unchecked(text) })
}

/// Overwrites `memory` with zeros in a way that the compiler does not remove.
pub fn wipe(memory: &mut [Limb]) {
    memory.zeroize();
}

/// Overwrites `memory` with zeros in a way that the compiler does not remove.
pub fn wipe_bytes(memory: &mut [u8]) {
    wipe_plain(memory);
}

/// Overwrites `memory` with zeros in a way that the compiler does not remove, limb by limb where it
/// can: byte by byte, a block of a hash function takes as long to overwrite as to absorb.
pub(super) fn wipe_plain<T: Plain>(memory: &mut [T]) {
    // SAFETY: any bits are a limb and a `T`.
    let (first, limbs, last) = unsafe { memory.align_to_mut::<Limb>() };
    first.zeroize();
    limbs.zeroize();
    last.zeroize();
}

/// An integer type: every pattern of bits is a value.
pub trait Plain: Copy + DefaultIsZeroes {}

impl Plain for u8 {}
impl Plain for u32 {}
impl Plain for u64 {}

/// Declares `memory` secret from now on: the tracer of `cargo xtask ct` reports each branch and
/// each address that depends on it. A no-op for the processor.
#[inline(always)]
pub fn mark_secret<T>(memory: &[T]) {
    mark::<SECRET, T>(memory);
}

/// Declares `memory` public. A no-op for the processor.
#[inline(always)]
pub fn mark_public<T>(memory: &[T]) {
    mark::<PUBLIC, T>(memory);
}

/// The displacement of the no-op that the tracer looks for; the crate `taint-trace` has the same
/// value.
const SECRET: i32 = 0x6379_6301;
const PUBLIC: i32 = 0x6379_6302;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for x in [0, 1, 2, 1 << 63, u64::MAX, u64::MAX - 1] {
            assert_eq!(Mask::is_zero(x).value(), if x == 0 { u64::MAX } else { 0 });
            assert_eq!((!Mask::is_zero(x)).value(), if x == 0 { 0 } else { u64::MAX });
            assert!(Mask::equal(x, x).reveal());
            assert!(!Mask::equal(x, x ^ (1 << 63)).reveal());
        }
        assert_eq!(Mask::from_bit(1).select(7, 9), 7);
        assert_eq!(Mask::from_bit(0).select(7, 9), 9);
    }

    #[test]
    fn order() {
        let values = [0, 1, 2, u64::MAX >> 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for a in values {
            for b in values {
                assert_eq!(Mask::less(a, b).reveal(), a < b, "{a} < {b}");
            }
        }
    }

    #[test]
    fn both_and_either() {
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!((Mask::from_bit(a) & Mask::from_bit(b)).reveal(), a + b == 2);
            assert_eq!((Mask::from_bit(a) | Mask::from_bit(b)).reveal(), a + b > 0);
            assert_eq!(Mask::from_bit(a).select_byte(0xa5, 0x5a), if a == 1 { 0xa5 } else { 0x5a });
        }
    }

    #[test]
    fn bytes_that_differ_anywhere_are_not_equal() {
        let a = [0x80; 9];
        assert!(equal_bytes(&a, &a).reveal() && equal_bytes(&[], &[]).reveal());
        for i in 0..9 {
            let mut b = a;
            b[i] ^= 1 << (i % 8);
            assert!(!equal_bytes(&a, &b).reveal());
        }
    }

    #[test]
    fn ascii_and_nothing_else_is_text() {
        assert_eq!(ascii(b""), Some(""));
        assert_eq!(ascii(b"MIIB\n~\x7f"), Some("MIIB\n~\x7f"));
        for at in 0..9 {
            let mut text = *b"nine char";
            text[at] |= 0x80;
            assert_eq!(ascii(&text), None);
        }
    }

    #[test]
    fn shifts_by_every_distance() {
        for length in [0, 1, 2, 3, 7, 8, 9, 64, 100] {
            let bytes: std::vec::Vec<u8> = (1..=length).collect();
            for distance in 0..=usize::from(length) {
                let mut shifted = bytes.clone();
                shift_bytes(&mut shifted, distance);
                let kept = shifted.len() - distance;
                assert_eq!(shifted[..kept], bytes[distance..]);
                assert!(shifted[kept..].iter().all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn lookup_finds_every_entry_and_nothing_else() {
        let table: [Limb; 24] = core::array::from_fn(|i| i as Limb + 100);
        let mut out = [1; 3];
        for index in 0..8 {
            lookup(&mut out, &table, index);
            assert_eq!(out, table[index * 3..][..3]);
        }
        lookup(&mut out, &table, 8);
        assert_eq!(out, [0; 3]);
    }

    #[test]
    fn both_wiping_functions_wipe_everything() {
        for length in [0, 1, 7, 8, 9, 64, 1000] {
            let mut limbs = std::vec![Limb::MAX; length];
            wipe(&mut limbs);
            assert!(limbs.iter().all(|limb| *limb == 0));
            let mut bytes = std::vec![0xff; length];
            wipe_bytes(&mut bytes);
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn swap_and_assign() {
        let (mut a, mut b) = ([1, 2], [3, 4]);
        swap_if(Mask::from_bit(0), &mut a, &mut b);
        assert_eq!((a, b), ([1, 2], [3, 4]));
        swap_if(Mask::from_bit(1), &mut a, &mut b);
        assert_eq!((a, b), ([3, 4], [1, 2]));
        assign_if(Mask::from_bit(0), &mut a, &b);
        assert_eq!(a, [3, 4]);
        assign_if(Mask::from_bit(1), &mut a, &b);
        assert_eq!(a, [1, 2]);
    }
}
