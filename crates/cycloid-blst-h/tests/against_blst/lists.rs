//! Lists of points: conversions, sums, and sums of multiples.

use cycloid_blst_h as ours;

use crate::inputs::Random;

/// Compares these functions for one of the groups.
macro_rules! lists {
    ($group:ident;
     $tos_affine:ident $sum:ident $scratch_sizeof:ident $pippenger:ident $cont:ident $tile:ident
     $table_sizeof:ident $table:ident $wbits:ident) => {
        mod $group {
            use super::*;
            use crate::points::$group::*;

            #[test]
            fn lists() {
                let random = &mut Random(5);
                let few = points(random);
                for n in [1usize, 2, 3, 8, 31, 33, 70] {
                    let points: Vec<Point> = (0..n).map(|i| few[(i * 3 + 1) % few.len()]).collect();
                    let flat: Vec<Affine> = points.iter().map(affine).collect();
                    // blst's contract excludes infinity from sums of multiples.
                    let finite: Vec<Affine> = flat
                        .iter()
                        .map(|a| if *a == [ZERO; 2] { affine(&few[1]) } else { *a })
                        .collect();
                    let scalars: Vec<[u8; 32]> = (0..n)
                        .map(|i| match i % 5 {
                            0 => [0; 32],
                            1 => [0xff; 32],
                            _ => random.bytes(),
                        })
                        .collect();
                    let separate: Vec<*const Point> =
                        points.iter().map(core::ptr::from_ref).collect();
                    let separate_flat: Vec<*const Affine> =
                        finite.iter().map(core::ptr::from_ref).collect();
                    let together = [points.as_ptr(), core::ptr::null()];
                    let together_flat = [finite.as_ptr(), core::ptr::null()];
                    let keys = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
                    let separate_keys: Vec<*const u8> =
                        scalars.iter().map(|k| k.as_ptr()).collect();
                    for list in [separate.as_ptr(), together.as_ptr()] {
                        let (mut x, mut y) = (vec![[ZERO; 2]; n], vec![[ZERO; 2]; n]);
                        unsafe {
                            ours::$tos_affine(x.as_mut_ptr(), list, n);
                            blst::$tos_affine(y.as_mut_ptr().cast(), list.cast(), n);
                        }
                        assert_eq!(x, y);
                    }
                    let all = [flat.as_ptr(), core::ptr::null()];
                    point(
                        "sum",
                        |o| unsafe { ours::$sum(o, all.as_ptr(), n) },
                        |o| unsafe { blst::$sum(o, all.as_ptr().cast(), n) },
                    );
                    let mut scratch =
                        vec![
                            0u64;
                            unsafe { ours::$scratch_sizeof(n).max(blst::$scratch_sizeof(n)) } / 8
                        ];
                    for (list, keys) in [
                        (separate_flat.as_ptr(), separate_keys.as_ptr()),
                        (together_flat.as_ptr(), keys.as_ptr()),
                    ] {
                        let at = scratch.as_mut_ptr();
                        for bits in [1, 64, 128, 255, 256] {
                            // Items that follow each other have as many bytes as there are bits.
                            if bits < 249 && list == together_flat.as_ptr() {
                                continue;
                            }
                            point(
                                &format!("pippenger {n} {bits}"),
                                |o| unsafe { ours::$pippenger(o, list, n, keys, bits, at) },
                                |o| unsafe { blst::$pippenger(o, list.cast(), n, keys, bits, at) },
                            );
                            for (from, window) in [(0, 4), (4, 5), (60, 5), (250, 6), (252, 7)] {
                                if n > 1 && from < bits {
                                    let mut buckets = vec![0u64; 1 << 16];
                                    let at = buckets.as_mut_ptr();
                                    point(
                                        &format!("tile {n} {bits} {from}"),
                                        |o| unsafe {
                                            ours::$tile(o, list, n, keys, bits, at, from, window)
                                        },
                                        |o| unsafe {
                                            blst::$tile(
                                                o,
                                                list.cast(),
                                                n,
                                                keys,
                                                bits,
                                                at,
                                                from,
                                                window,
                                            )
                                        },
                                    );
                                }
                            }
                        }
                    }
                    let (first, key, at) =
                        (finite.as_ptr(), scalars.as_ptr().cast(), scratch.as_mut_ptr());
                    point(
                        "pippenger_cont",
                        |o| unsafe { ours::$cont(o, first, n, key, 255, at) },
                        |o| unsafe {
                            let list = together_flat.as_ptr().cast();
                            blst::$pippenger(o, list, n, keys.as_ptr(), 255, at);
                        },
                    );
                    for wbits in [2, 4, 5] {
                        let size = unsafe { ours::$table_sizeof(wbits, n) };
                        assert_eq!(size, unsafe { blst::$table_sizeof(wbits, n) });
                        let list = together_flat.as_ptr();
                        let count = size / size_of::<Affine>();
                        let (mut x, mut y) = (vec![[ZERO; 2]; count], vec![[ZERO; 2]; count]);
                        unsafe {
                            ours::$table(x.as_mut_ptr(), wbits, list, n);
                            blst::$table(y.as_mut_ptr().cast(), wbits, list.cast(), n);
                        }
                        assert_eq!(x, y, "table {n} {wbits}");
                        for bits in [255, 256] {
                            let null = core::ptr::null_mut();
                            point(
                                "wbits",
                                |o| unsafe {
                                    ours::$wbits(o, x.as_ptr(), wbits, n, keys.as_ptr(), bits, null)
                                },
                                |o| unsafe {
                                    blst::$wbits(
                                        o,
                                        y.as_ptr().cast(),
                                        wbits,
                                        n,
                                        keys.as_ptr(),
                                        bits,
                                        null,
                                    )
                                },
                            );
                        }
                    }
                }
            }
        }
    };
}

/// The most points whose scratch is compared one by one; its size grows with the points afterwards.
const COUNTED: usize = 1 << 14;

#[test]
fn scratch_for_many_points_is_enough_for_fewer() {
    type Size = unsafe extern "C" fn(usize) -> usize;
    let sizes: [Size; 2] = [
        ours::blst_p1s_mult_pippenger_scratch_sizeof,
        ours::blst_p2s_mult_pippenger_scratch_sizeof,
    ];
    let counts: Vec<usize> = (0..=COUNTED).chain((15..=22).map(|bits| 1 << bits)).collect();
    for size in sizes {
        for pair in counts.windows(2) {
            assert!(unsafe { size(pair[0]) <= size(pair[1]) }, "{pair:?}");
        }
    }
}

/// A program allocates for all points, and leaves one out that is infinity. At some of these counts
/// fewer points take more memory.
#[test]
fn a_sum_of_fewer_points_stays_within_the_scratch() {
    const BEYOND: u64 = 0x5a5a;
    let counts = 420..520;
    let points = vec![ours::BLS12_381_G1; counts.end];
    let scalars = vec![[0x55; 32]; counts.end];
    let (first, key) = (points.as_ptr(), scalars.as_ptr().cast());
    let mut scratch = vec![BEYOND; 1 << 20];
    let mut sum = [[0; 6]; 3];
    for n in counts {
        let limbs = unsafe { ours::blst_p1s_mult_pippenger_scratch_sizeof(n) } / 8;
        for bits in [250, 256] {
            scratch.fill(BEYOND);
            let at = scratch.as_mut_ptr();
            unsafe { ours::blst_p1s_mult_pippenger_cont(&mut sum, first, n - 1, key, bits, at) };
            let kept = scratch[limbs..].iter().all(|limb| *limb == BEYOND);
            assert!(kept, "scratch for {n} points, {bits} bits");
        }
    }
}

lists!(g1;
    blst_p1s_to_affine blst_p1s_add blst_p1s_mult_pippenger_scratch_sizeof
    blst_p1s_mult_pippenger blst_p1s_mult_pippenger_cont blst_p1s_tile_pippenger blst_p1s_mult_wbits_precompute_sizeof
    blst_p1s_mult_wbits_precompute blst_p1s_mult_wbits);

lists!(g2;
    blst_p2s_to_affine blst_p2s_add blst_p2s_mult_pippenger_scratch_sizeof
    blst_p2s_mult_pippenger blst_p2s_mult_pippenger_cont blst_p2s_tile_pippenger blst_p2s_mult_wbits_precompute_sizeof
    blst_p2s_mult_wbits_precompute blst_p2s_mult_wbits);
