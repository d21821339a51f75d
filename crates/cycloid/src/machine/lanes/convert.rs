//! Conversion between one number of 64-bit limbs and one lane of 52-bit limbs.

use super::super::words::{LIMB_BITS, Limb};
use super::{LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};

impl Lanes {
    /// Returns the words of all lanes, one after the other.
    pub const fn as_limbs(lanes: &[Self]) -> &[Limb] {
        // SAFETY: as for `as_limbs_mut`.
        unsafe { core::slice::from_raw_parts(lanes.as_ptr().cast::<Limb>(), lanes.len() * LANES) }
    }

    /// Returns the words of all lanes, one after the other: memory for lanes as memory for one
    /// number.
    pub const fn as_limbs_mut(lanes: &mut [Self]) -> &mut [Limb] {
        // SAFETY: `Lanes` is `LANES` limbs and nothing else, with stricter alignment than a limb;
        // every value of either type is a value of the other; the borrow is carried over.
        unsafe {
            core::slice::from_raw_parts_mut(lanes.as_mut_ptr().cast::<Limb>(), lanes.len() * LANES)
        }
    }

    /// Returns the limbs that hold this many aligned elements, wherever their memory begins.
    pub const fn limbs_for(elements: usize) -> usize {
        (elements + 1) * LANES - 1
    }

    /// Returns how many aligned elements this many limbs hold, wherever their memory begins.
    pub const fn fitting(limbs: usize) -> usize {
        limbs.saturating_sub(LANES - 1) / LANES
    }

    /// Returns aligned elements within a memory of limbs: as many as fit wherever the memory
    /// begins, and possibly one more.
    pub fn aligned_mut(limbs: &mut [Limb]) -> &mut [Self] {
        // SAFETY: `Lanes` is `LANES` limbs and nothing else; every value of either type is a value
        // of the other.
        unsafe { limbs.align_to_mut::<Self>() }.1
    }
}

/// Loads `source`, a little-endian number of 64-bit limbs, into one lane of `destination`, with
/// leading zeros; the other lanes stay unchanged.
///
/// Bits of `source` beyond the 52·`destination.len()` bits that fit must be zero.
pub fn load(destination: &mut [Lanes], lane: usize, source: &[Limb]) {
    debug_assert!(lane < LANES);
    for (i, limb) in destination.iter_mut().enumerate() {
        let (word, bit) = word_and_bit(i);
        let low = source.get(word).copied().unwrap_or(0) >> bit;
        // Bits of the next word are needed from bit 13 on; shifting in two steps makes the shift by
        // 64, for bit 0, give zero.
        let high = source.get(word + 1).copied().unwrap_or(0) << 1 << (LIMB_BITS - 1 - bit);
        limb.0[lane] = (low | high) & LIMB_MASK;
    }
    debug_assert!({
        let (word, bit) = word_and_bit(destination.len());
        let mut beyond = source.get(word..).unwrap_or(&[]).iter();
        beyond.next().is_none_or(|limb| limb >> bit == 0) && beyond.all(|limb| *limb == 0)
    });
}

/// Runs [`load`] on every lane.
pub fn load_all(destination: &mut [Lanes], sources: [&[Limb]; LANES]) {
    for (lane, source) in sources.into_iter().enumerate() {
        load(destination, lane, source);
    }
}

/// Stores one lane of `source` in `destination`, a little-endian number of 64-bit limbs, with
/// leading zeros.
///
/// Bits of the lane beyond the 64·`destination.len()` bits that fit must be zero. Limbs must be
/// below 2⁵².
pub fn store(destination: &mut [Limb], source: &[Lanes], lane: usize) {
    debug_assert!(lane < LANES);
    destination.fill(0);
    for (i, limb) in source.iter().enumerate() {
        let (word, bit) = word_and_bit(i);
        let limb = limb.0[lane];
        debug_assert!(limb <= LIMB_MASK);
        let high = limb >> 1 >> (LIMB_BITS - 1 - bit);
        for (word, part) in [(word, limb << bit), (word + 1, high)] {
            match destination.get_mut(word) {
                Some(destination) => *destination |= part,
                None => debug_assert_eq!(part, 0),
            }
        }
    }
}

/// Returns the position of limb `i` of a lane in a number of 64-bit limbs.
const fn word_and_bit(i: usize) -> (usize, usize) {
    let bit = i * LANE_LIMB_BITS;
    (bit / LIMB_BITS, bit % LIMB_BITS)
}
