//! Encodings of points, and hashes to the groups.

use cycloid_blst_h as ours;

use crate::inputs::{P, Random, same};
use crate::pairing::finished;

/// Compares these functions for one of the groups.
macro_rules! encodings {
    ($group:ident;
     $serialize:ident $compress:ident $generator:ident $uncompress:ident $deserialize:ident
     $aggregate:ident $hash:ident $encode:ident $map:ident $aggregated:ident) => {
        mod $group {
            use super::*;
            use crate::points::$group::*;

            #[test]
            fn encodings_and_hashes() {
                let random = &mut Random(4);
                let mut inputs: Vec<[u8; 2 * ENCODED]> = Vec::new();
                for a in points(random) {
                    let mut bytes = [0; 2 * ENCODED];
                    unsafe {
                        blst::$serialize(bytes.as_mut_ptr(), theirs(&a));
                        inputs.push(bytes);
                        blst::$compress(bytes.as_mut_ptr(), theirs(&a));
                        inputs.push(bytes);
                    }
                    same(
                        "compress",
                        [0; ENCODED],
                        |o| unsafe { ours::$compress(o.cast(), &a) },
                        |o| unsafe { blst::$compress(o.cast(), theirs(&a)) },
                    );
                }
                let mut modulus = [0; 2 * ENCODED];
                for (to, limb) in modulus.chunks_mut(8).zip(P.iter().rev()) {
                    to.copy_from_slice(&limb.to_be_bytes());
                }
                inputs.extend([modulus, [0; 2 * ENCODED], [0xff; 2 * ENCODED], random.bytes()]);
                // (0, ±2) on the curve over Fp.
                inputs.push({
                    let mut bytes = [0; 2 * ENCODED];
                    bytes[2 * ENCODED - 1] = 2;
                    bytes
                });
                let count = inputs.len();
                for i in 0..count {
                    for flags in 0..8u8 {
                        let mut changed = inputs[i];
                        changed[0] = changed[0] & 0x1f | flags << 5;
                        inputs.push(changed);
                        changed[random.next() as usize % (2 * ENCODED)] ^= 1 << (random.next() % 8);
                        inputs.push(changed);
                    }
                }
                let start: Point = unsafe { blst::$generator().cast::<Point>().read() };
                for bytes in &inputs {
                    let at = bytes.as_ptr();
                    same(
                        "uncompress",
                        ([ZERO; 2], 9),
                        |o| unsafe { (*o).1 = ours::$uncompress(&raw mut (*o).0, at) as i32 },
                        |o| unsafe {
                            (*o).1 = blst::$uncompress((&raw mut (*o).0).cast(), at) as i32
                        },
                    );
                    same(
                        "deserialize",
                        ([ZERO; 2], 9),
                        |o| unsafe { (*o).1 = ours::$deserialize(&raw mut (*o).0, at) as i32 },
                        |o| unsafe {
                            (*o).1 = blst::$deserialize((&raw mut (*o).0).cast(), at) as i32
                        },
                    );
                    for from in [core::ptr::null(), &raw const start] {
                        let (mut x, mut y) = (0, 0);
                        point(
                            "aggregate",
                            |o| unsafe { x = ours::$aggregate(o, from, at) as i32 },
                            |o| unsafe { y = blst::$aggregate(o, from.cast(), at) as i32 },
                        );
                        assert_eq!(x, y);
                    }
                }
                let dst: [u8; 300] = random.bytes();
                let message: [u8; 100] = random.bytes();
                for (length, dst_length, prefix) in
                    [(0, 0, 0), (1, 43, 48), (100, 255, 0), (64, 256, 10), (55, 300, 1)]
                {
                    let (m, d, p) = (message.as_ptr(), dst.as_ptr(), dst.as_ptr());
                    point(
                        "hash",
                        |o| unsafe { ours::$hash(o, m, length, d, dst_length, p, prefix) },
                        |o| unsafe { blst::$hash(o, m, length, d, dst_length, p, prefix) },
                    );
                    point(
                        "encode",
                        |o| unsafe { ours::$encode(o, m, length, d, dst_length, p, prefix) },
                        |o| unsafe { blst::$encode(o, m, length, d, dst_length, p, prefix) },
                    );
                }
            }

            #[test]
            fn mapped_elements() {
                let random = &mut Random(6);
                let elements: Vec<Coordinate> =
                    points(random).iter().flat_map(affine).chain([ZERO]).collect();
                for (i, u) in elements.iter().enumerate() {
                    let next = &raw const elements[(i + 1) % elements.len()];
                    for v in [core::ptr::null(), next, u] {
                        point(
                            "map",
                            |o| unsafe { ours::$map(o, u, v) },
                            |o| unsafe { blst::$map(o, core::ptr::from_ref(u).cast(), v.cast()) },
                        );
                    }
                }
            }

            #[test]
            fn aggregated_signatures() {
                for a in points(&mut Random(7)) {
                    let flat = affine(&a);
                    let (mut x, mut y) = (crate::pairing::ZERO, crate::pairing::ZERO);
                    unsafe {
                        ours::$aggregated(&mut x, &flat);
                        blst::$aggregated(y.as_mut_ptr().cast(), flat.as_ptr().cast());
                    }
                    // blst computes with the coordinates (0, 0) for infinity.
                    if flat != [ZERO; 2] {
                        assert_eq!(finished(&x), finished(&y));
                    }
                }
            }
        }
    };
}

encodings!(g1;
    blst_p1_serialize blst_p1_compress blst_p1_generator blst_p1_uncompress blst_p1_deserialize
    blst_aggregate_in_g1 blst_hash_to_g1 blst_encode_to_g1
    blst_map_to_g1 blst_aggregated_in_g1);

encodings!(g2;
    blst_p2_serialize blst_p2_compress blst_p2_generator blst_p2_uncompress blst_p2_deserialize
    blst_aggregate_in_g2 blst_hash_to_g2 blst_encode_to_g2
    blst_map_to_g2 blst_aggregated_in_g2);
