//! Table lookups that read the whole table.

use super::super::super::lanes::Lanes;
use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::columns::{each, lanes};

/// Copies `out = table[index]` from a table of constants shared by all lanes.
#[inline(always)]
pub(super) fn lookup_stored<V: Vectors, const M: usize>(
    v: V,
    out: &mut [[Lanes; M]],
    table: &[Limb],
    index: &Lanes,
) {
    let places = out.len();
    assert!(places != 0 && table.len().is_multiple_of(places * M));
    let constants = table.as_chunks::<M>().0;
    for (place, out) in out.iter_mut().enumerate() {
        *out = scan(v, constants.iter().skip(place).step_by(places), index, |limb: &Limb| {
            v.splat(*limb)
        });
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
        *out =
            scan(v, table.iter().skip(place).step_by(places), index, |limb: &Lanes| v.load(limb));
    }
}

/// Returns the entry at `index`, zero if there is none; `load` reads a limb of an entry.
#[inline(always)]
fn scan<'a, V: Vectors, T: 'a, const M: usize>(
    v: V,
    entries: impl Iterator<Item = &'a [T; M]>,
    index: &Lanes,
    load: impl Fn(&T) -> V::Word,
) -> [Lanes; M] {
    let index = v.load(index);
    let one = v.splat(1);
    let mut number = v.splat(0);
    let mut found = [v.splat(0); M];
    for entry in entries {
        let mask = v.equal(number, index);
        each!(V, j < M => found[j] = v.or_masked(found[j], load(&entry[j]), mask));
        number = v.add(number, one);
    }
    lanes(v, &found)
}
