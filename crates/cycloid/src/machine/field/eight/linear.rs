//! Sums, differences, comparison, selection, and packed residues in memory.

use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANES, Lanes};
use super::super::super::words::Limb;
use super::columns::{carry, each, lanes};
use super::{Shape, residue};

/// Returns a + b.
#[inline(always)]
pub(super) fn add<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> [Lanes; M] {
    let mut sum = [v.splat(0); M];
    each!(V, j < M => sum[j] = v.add(v.load(&a[j]), v.load(&b[j])));
    P::fold::<V, 0>(v, &mut sum);
    carry(v, &mut sum);
    lanes(v, &sum)
}

/// Returns a − b.
#[inline(always)]
pub(super) fn sub<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> [Lanes; M] {
    lanes(v, &difference::<V, P, M>(v, a, b))
}

/// Returns a − b, from 1 to below 3p.
#[inline(always)]
fn difference<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> [V::Word; M] {
    let mut difference = [v.splat(0); M];
    each!(V, j < M => difference[j] = v.sub(v.load(&a[j]), v.load(&b[j])));
    P::fold::<V, 1>(v, &mut difference);
    carry(v, &mut difference);
    difference
}

/// Returns a bit for each lane: 1 if a and b are the same residue, that is, if their difference is
/// p or 2p.
#[inline(always)]
pub(super) fn equal<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> u8 {
    let difference = difference::<V, P, M>(v, a, b);
    let twice = residue::double(&P::LIMBS);
    let zero = v.splat(0);
    let (mut from_once, mut from_twice) = (zero, zero);
    each!(V, j < M => {
        from_once = v.or_difference(from_once, difference[j], v.splat(P::LIMBS[j]));
        from_twice = v.or_difference(from_twice, difference[j], v.splat(twice[j]));
    });
    v.equal_bits(from_once, zero) | v.equal_bits(from_twice, zero)
}

/// Returns a in the lanes whose bit is 1, b in the others.
#[inline(always)]
pub(super) fn select<V: Vectors, const M: usize>(
    v: V,
    bits: u8,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> [Lanes; M] {
    let mut selected = [v.splat(0); M];
    each!(V, j < M => selected[j] = v.select(bits, v.load(&a[j]), v.load(&b[j])));
    lanes(v, &selected)
}

/// Loads eight limbs from each of eight indices; the first M belong to a residue.
#[inline(always)]
pub(super) fn gather<V: Vectors, const M: usize>(
    v: V,
    memory: &[Limb],
    at: &[usize],
) -> [Lanes; M] {
    const { assert!(M <= LANES) }
    let mut rows = [v.splat(0); LANES];
    each!(V, lane < LANES => rows[lane] = v.load(&row(memory, at[lane])));
    let columns = v.transpose(rows);
    let mut limbs = [v.splat(0); M];
    each!(V, j < LANES => {
        if j < M {
            limbs[j] = columns[j];
        }
    });
    lanes(v, &limbs)
}

/// Returns the limbs at an index.
#[inline(always)]
fn row(memory: &[Limb], at: usize) -> Lanes {
    let mut row = Lanes::ZERO;
    row.0.copy_from_slice(&memory[at..at + LANES]);
    row
}

/// Stores in the opposite direction, for as many indices as given.
#[inline(always)]
pub(super) fn scatter<V: Vectors, const M: usize>(
    v: V,
    element: &[Lanes; M],
    memory: &mut [Limb],
    at: &[usize],
) {
    let mut columns = [v.splat(0); LANES];
    each!(V, j < LANES => {
        if j < M {
            columns[j] = v.load(&element[j]);
        }
    });
    let rows = v.transpose(columns);
    each!(V, lane < LANES => {
        if lane < at.len() {
            let mut row = Lanes::ZERO;
            v.store(&mut row, rows[lane]);
            memory[at[lane]..at[lane] + LANES].copy_from_slice(&row.0);
        }
    });
}
