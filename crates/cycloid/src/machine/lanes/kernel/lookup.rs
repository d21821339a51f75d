//! Table lookup with an index per lane.

use super::super::vector::Vectors;
use super::super::{Lanes, MAX_BLOCK};
use super::window::{store_window, unroll};

/// Copies `out = table[index]` in each lane; see `LaneWords`.
#[inline(always)]
pub(in super::super) fn lookup<V: Vectors>(
    v: V,
    out: &mut [Lanes],
    table: &[Lanes],
    index: &Lanes,
) {
    let n = out.len();
    assert!(n != 0 && table.len().is_multiple_of(n));
    let (blocks, rest) = out.as_chunks_mut::<MAX_BLOCK>();
    let (small_blocks, rest) = rest.as_chunks_mut::<5>();
    let mut from = 0;
    for block in blocks {
        lookup_block(v, block, table, n, from, index);
        from += MAX_BLOCK;
    }
    for block in small_blocks {
        lookup_block(v, block, table, n, from, index);
        from += 5;
    }
    for limb in rest.as_chunks_mut::<1>().0 {
        lookup_block(v, limb, table, n, from, index);
        from += 1;
    }
}

/// Copies the limbs `from..from + T` of the entry.
#[inline(always)]
fn lookup_block<V: Vectors, const T: usize>(
    v: V,
    out: &mut [Lanes; T],
    table: &[Lanes],
    n: usize,
    from: usize,
    index: &Lanes,
) {
    let index = v.load(index);
    let one = v.splat(1);
    let mut number = v.splat(0);
    let mut found = [v.splat(0); T];
    for entry in table.chunks_exact(n) {
        let mask = v.equal(number, index);
        let entry = entry[from..].first_chunk::<T>().expect("an entry is as long as `out`");
        unroll!(j < T => found[j] = v.or_masked(found[j], v.load(&entry[j]), mask));
        number = v.add(number, one);
    }
    store_window(v, &found, out);
}
