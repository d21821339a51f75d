//! Table lookup that reads the whole table, four limbs at a time.

use super::Limb;
use core::arch::x86_64::*;

/// Number of vectors that stay in registers while the entries are read.
const WIDEST: usize = 8;

/// Copies `out = table[index]`, reading all of `table`: consecutive entries of `out.len()` limbs.
///
/// An `index` outside the table gives zero.
#[target_feature(enable = "avx2")]
pub(super) fn lookup(out: &mut [Limb], table: &[Limb], index: usize) {
    let n = out.len();
    assert!(n != 0 && table.len().is_multiple_of(n));
    let mut place = 0;
    while n - place >= 4 * WIDEST {
        columns::<WIDEST>(out, table, index, place);
        place += 4 * WIDEST;
    }
    if n - place >= 16 {
        columns::<4>(out, table, index, place);
        place += 16;
    }
    if n - place >= 8 {
        columns::<2>(out, table, index, place);
        place += 8;
    }
    if n - place >= 4 {
        columns::<1>(out, table, index, place);
        place += 4;
    }
    if n > place {
        last_columns(out, table, index, place);
    }
}

/// Copies the 4·`V` limbs from `place` on of entry `index`.
#[inline]
#[target_feature(enable = "avx2")]
fn columns<const V: usize>(out: &mut [Limb], table: &[Limb], index: usize, place: usize) {
    let mut sum = [_mm256_setzero_si256(); V];
    let mut distance = _mm256_set1_epi64x(index as i64);
    for entry in table.chunks_exact(out.len()) {
        let mask = _mm256_cmpeq_epi64(distance, _mm256_setzero_si256());
        distance = _mm256_sub_epi64(distance, _mm256_set1_epi64x(1));
        let (vectors, _) = entry[place..place + 4 * V].as_chunks::<4>();
        for (sum, vector) in sum.iter_mut().zip(vectors) {
            // SAFETY: four limbs are read.
            let vector = unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) };
            *sum = _mm256_or_si256(*sum, _mm256_and_si256(mask, vector));
        }
    }
    let (vectors, _) = out[place..place + 4 * V].as_chunks_mut::<4>();
    for (vector, sum) in vectors.iter_mut().zip(sum) {
        // SAFETY: four limbs are written.
        unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), sum) };
    }
}

/// Copies the limbs from `place` on of entry `index`, fewer than four.
#[inline]
#[target_feature(enable = "avx2")]
fn last_columns(out: &mut [Limb], table: &[Limb], index: usize, place: usize) {
    let n = out.len();
    let lanes = _mm256_set_epi64x(3, 2, 1, 0);
    let used = _mm256_cmpgt_epi64(_mm256_set1_epi64x((n - place) as i64), lanes);
    let mut sum = _mm256_setzero_si256();
    let mut distance = _mm256_set1_epi64x(index as i64);
    for entry in table.chunks_exact(n) {
        let mask = _mm256_cmpeq_epi64(distance, _mm256_setzero_si256());
        distance = _mm256_sub_epi64(distance, _mm256_set1_epi64x(1));
        // SAFETY: only the lanes in use are read, and the entry has limbs for them.
        let vector = unsafe { _mm256_maskload_epi64(entry[place..].as_ptr().cast(), used) };
        sum = _mm256_or_si256(sum, _mm256_and_si256(mask, vector));
    }
    // SAFETY: only the lanes in use are written, and `out` has limbs for them.
    unsafe { _mm256_maskstore_epi64(out[place..].as_mut_ptr().cast(), used, sum) };
}
