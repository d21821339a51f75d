//! Table lookups that read the whole table.

use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANES, Lanes};
use super::super::super::words::Limb;
use super::columns::{each, lanes};

/// The entries that stand together in a table of constants: two vectors for each limb, from which a
/// permutation takes one entry for each lane.
const TOGETHER: usize = 2 * LANES;

/// Copies `out = table[index]` from a table of constants shared by all lanes, a multiple of sixteen
/// entries. Sixteen stand together, limb by limb.
#[inline(always)]
pub(super) fn lookup_stored<V: Vectors, const M: usize>(
    v: V,
    out: &mut [[Lanes; M]],
    table: &[Limb],
    index: &Lanes,
) {
    let places = out.len();
    let sixteen = places * M * TOGETHER;
    assert!(places != 0 && table.len().is_multiple_of(sixteen));
    let index = v.load(index);
    let (within, group) = (v.and(index, v.splat(15)), v.shift_right::<4>(index));
    for (place, out) in out.iter_mut().enumerate() {
        let mut number = v.splat(0);
        let mut found = [v.splat(0); M];
        for entries in table.chunks_exact(sixteen) {
            let mask = v.equal(number, group);
            let limbs = entries[place * M * TOGETHER..].as_chunks().0;
            each!(V, j < M => {
                let (first, second) = (v.load_limbs(&limbs[2 * j]), v.load_limbs(&limbs[2 * j + 1]));
                found[j] = v.or_masked(found[j], v.permute_two(within, first, second), mask);
            });
            number = v.add(number, v.splat(1));
        }
        *out = lanes(v, &found);
    }
}

/// Copies `out = table[index]`, each lane from its own table.
#[inline(always)]
pub(super) fn lookup<V: Vectors, const M: usize>(
    v: V,
    out: &mut [[Lanes; M]],
    table: &[[Lanes; M]],
    index: &Lanes,
) {
    let places = out.len();
    assert!(places != 0 && table.len().is_multiple_of(places));
    for (place, out) in out.iter_mut().enumerate() {
        *out = scan(v, table.iter().skip(place).step_by(places), index);
    }
}

/// Returns the entry at `index`, zero if there is none.
#[inline(always)]
fn scan<'a, V: Vectors, const M: usize>(
    v: V,
    entries: impl Iterator<Item = &'a [Lanes; M]>,
    index: &Lanes,
) -> [Lanes; M] {
    let index = v.load(index);
    let one = v.splat(1);
    let mut number = v.splat(0);
    let mut found = [v.splat(0); M];
    for entry in entries {
        let mask = v.equal(number, index);
        each!(V, j < M => found[j] = v.or_masked(found[j], v.load(&entry[j]), mask));
        number = v.add(number, one);
    }
    lanes(v, &found)
}
