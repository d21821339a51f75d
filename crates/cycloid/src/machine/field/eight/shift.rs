//! Conversion between words and lanes of the scalar prime of BLS12-381, where R = 2²⁶⁰ is 16 times
//! 2²⁵⁶.
//!
//! Written over arrays of eight words, so that the compiler vectorises it when it is inlined into a
//! function compiled for vectors.

use super::super::super::lanes::{LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};
use super::super::super::words::Limb;
use super::super::{Bls12Scalar, Prime};
use super::residue::limbs;

/// r, of 0.9056·2²⁵⁵.
const PRIME: [Limb; 5] = limbs(&Bls12Scalar::MODULUS);

/// Returns sixteen times the numbers modulo r: from words less than r to residues less than
/// 1.2·2²⁵⁵.
///
/// The part above bit 255 is less than 15. Subtracting it times r leaves less than (1 +
/// 14·0.0945)·2²⁵⁵; its part above bit 255 is less than 3, which leaves less than (1 +
/// 2·0.0945)·2²⁵⁵.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "a lane is the same place of each part")]
pub(super) fn import(words: &[[Limb; 4]]) -> [Lanes; 5] {
    let mut parts = [[0; LANES]; 4];
    for (lane, number) in words.iter().enumerate().take(LANES) {
        for i in 0..4 {
            parts[i][lane] = number[i];
        }
    }
    let mut out = [Lanes::ZERO; 5];
    for lane in 0..LANES {
        let x = sixteenfold([parts[0][lane], parts[1][lane], parts[2][lane], parts[3][lane]]);
        for i in 0..5 {
            out[i].0[lane] = x[i];
        }
    }
    out
}

/// Returns sixteen times a number modulo r, as [`import`], in each lane.
#[inline(always)]
pub(super) fn import_shared(words: &[Limb; 4]) -> [Lanes; 5] {
    sixteenfold(*words).map(|limb| Lanes([limb; LANES]))
}

/// Returns sixteen times a number modulo r: words less than r become limbs of a residue less than
/// 1.2·2²⁵⁵.
#[inline(always)]
fn sixteenfold([w0, w1, w2, w3]: [Limb; 4]) -> [Limb; 5] {
    let mut x = [
        w0 << 4 & LIMB_MASK,
        (w0 >> 48 | w1 << 16) & LIMB_MASK,
        (w1 >> 36 | w2 << 28) & LIMB_MASK,
        (w2 >> 24 | w3 << 40) & LIMB_MASK,
        w3 >> 12,
    ];
    for _ in 0..2 {
        let above = x[4] >> 47;
        for i in 0..5 {
            x[i] = x[i].wrapping_sub(above.wrapping_mul(PRIME[i]));
        }
        carry(&mut x);
    }
    x
}

/// Returns a sixteenth of the residues modulo r, in words less than r.
///
/// −1/r is −1 modulo 16. So adding q times r, where q is the residue negated modulo 16, gives a
/// multiple of 16, a sixteenth of which is less than (1.2834 + 15·0.9056)/16·2²⁵⁵ < 2r.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "a lane is the same place of each part")]
pub(super) fn export(element: &[Lanes; 5], words: &mut [[Limb; 4]]) {
    let mut parts = [[0; LANES]; 4];
    for lane in 0..LANES {
        let mut x = [0; 5];
        for i in 0..5 {
            x[i] = element[i].0[lane];
        }
        let q = x[0].wrapping_neg() & 15;
        for i in 0..5 {
            x[i] += q * PRIME[i];
        }
        carry(&mut x);
        let mut less = [0; 5];
        for i in 0..5 {
            let above = if i < 4 { x[i + 1] << (LANE_LIMB_BITS - 4) } else { 0 };
            x[i] = (x[i] >> 4 | above) & LIMB_MASK;
            less[i] = x[i].wrapping_sub(PRIME[i]);
        }
        carry(&mut less);
        let negative = ((less[4] as i64) >> 63) as Limb;
        for i in 0..5 {
            x[i] = less[i] & !negative | x[i] & negative;
        }
        let [x0, x1, x2, x3, x4] = x;
        parts[0][lane] = x0 | x1 << 52;
        parts[1][lane] = x1 >> 12 | x2 << 40;
        parts[2][lane] = x2 >> 24 | x3 << 28;
        parts[3][lane] = x3 >> 36 | x4 << 16;
    }
    for (lane, number) in words.iter_mut().enumerate().take(LANES) {
        for i in 0..4 {
            number[i] = parts[i][lane];
        }
    }
}

/// Propagates signed carries into the top limb.
#[inline(always)]
fn carry(x: &mut [Limb; 5]) {
    for i in 0..4 {
        let above = ((x[i] as i64) >> LANE_LIMB_BITS) as Limb;
        x[i] &= LIMB_MASK;
        x[i + 1] = x[i + 1].wrapping_add(above);
    }
}
