//! Contexts with keys in either group, single verifications, and sets of messages.

use cycloid_blst_h as ours;

use crate::inputs::Random;
use crate::pairing::{finished, g2};

const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/// Returns memory for a context of both libraries.
fn memory() -> Vec<u64> {
    let sizes = unsafe { [ours::blst_pairing_sizeof(), blst::blst_pairing_sizeof()] };
    vec![0; sizes[0].max(sizes[1]).div_ceil(8)]
}

/// Compares contexts and verifications with keys in one of the groups.
macro_rules! contexts {
    ($group:ident $other:ident; $sk_to_pk:ident $hash:ident $sign:ident $plain:ident
     $checked:ident $weighted:ident $checked_weighted:ident $core:ident $aggregated:ident) => {
        mod $group {
            use super::*;
            use crate::points::{$group as keys, $other as signatures};

            /// A key, a message, and its signature.
            pub(super) fn signed(i: u8) -> (keys::Affine, Vec<u8>, signatures::Affine) {
                let (mut sk, message) = ([0; 32], vec![i; usize::from(i)]);
                let (mut key, mut signature) = ([keys::ZERO; 3], [signatures::ZERO; 3]);
                let (m, none) = (message.as_ptr(), core::ptr::null());
                unsafe {
                    ours::blst_keygen(&mut sk, [i; 32].as_ptr(), 32, none, 0);
                    ours::$sk_to_pk(&mut key, &sk);
                    let (dst, length) = (DST.as_ptr(), DST.len());
                    ours::$hash(&mut signature, m, message.len(), dst, length, none, 0);
                    ours::$sign(&mut signature, &signature, &sk);
                }
                (keys::affine(&key), message, signatures::affine(&signature))
            }

            /// The same context in both libraries.
            struct Both {
                ours: Vec<u64>,
                theirs: Vec<u64>,
            }

            /// The inputs of one addition to a context.
            #[derive(Clone)]
            struct Entry {
                key: Option<keys::Affine>,
                check_key: bool,
                signature: Option<signatures::Affine>,
                check_signature: bool,
                weight: (Vec<u8>, usize),
                message: Vec<u8>,
                prefix: Vec<u8>,
            }

            fn entry(
                (key, message, signature): (keys::Affine, Vec<u8>, signatures::Affine),
            ) -> Entry {
                Entry {
                    key: Some(key),
                    check_key: true,
                    signature: Some(signature),
                    check_signature: true,
                    weight: (Vec::new(), 0),
                    message,
                    prefix: Vec::new(),
                }
            }

            fn pointer<T, U>(value: Option<&T>) -> *const U {
                value.map_or(core::ptr::null(), |value| core::ptr::from_ref(value).cast())
            }

            impl Both {
                fn new(uniform: bool) -> Self {
                    let mut both = Self { ours: memory(), theirs: memory() };
                    let (dst, length) = (DST.as_ptr(), DST.len());
                    unsafe {
                        ours::blst_pairing_init(both.ours(), uniform.into(), dst, length);
                        blst::blst_pairing_init(both.theirs(), uniform, dst, length);
                    }
                    both
                }

                fn ours(&mut self) -> *mut ours::Context {
                    self.ours.as_mut_ptr().cast()
                }

                fn theirs(&mut self) -> *mut blst::blst_pairing {
                    self.theirs.as_mut_ptr().cast()
                }

                /// Adds to both by the function that takes everything; returns the error.
                fn add(&mut self, e: &Entry) -> u32 {
                    let (weight, bits) = (e.weight.0.as_ptr(), e.weight.1);
                    let (m, length) = (e.message.as_ptr(), e.message.len());
                    let (prefix, prefix_length) = (e.prefix.as_ptr(), e.prefix.len());
                    let (a, b) = unsafe {
                        (
                            ours::$checked_weighted(
                                self.ours(),
                                pointer(e.key.as_ref()),
                                e.check_key.into(),
                                pointer(e.signature.as_ref()),
                                e.check_signature.into(),
                                weight,
                                bits,
                                m,
                                length,
                                prefix,
                                prefix_length,
                            ) as u32,
                            blst::$checked_weighted(
                                self.theirs(),
                                pointer(e.key.as_ref()),
                                e.check_key,
                                pointer(e.signature.as_ref()),
                                e.check_signature,
                                weight,
                                bits,
                                m,
                                length,
                                prefix,
                                prefix_length,
                            ) as u32,
                        )
                    };
                    assert_eq!(a, b);
                    a
                }

                /// Compares the products, and returns whether the signatures are valid.
                fn verify(&mut self) -> bool {
                    unsafe {
                        ours::blst_pairing_commit(self.ours());
                        blst::blst_pairing_commit(self.theirs());
                        let a = ours::blst_pairing_as_fp12(self.ours()).read();
                        let b = blst::blst_pairing_as_fp12(self.theirs()).cast();
                        assert_eq!(finished(&a), finished(&*b));
                        let null = core::ptr::null::<ours::blst_fp12>();
                        let valid = ours::blst_pairing_finalverify(self.ours(), null) != 0;
                        assert_eq!(
                            valid,
                            blst::blst_pairing_finalverify(self.theirs(), null.cast())
                        );
                        valid
                    }
                }
            }

            #[test]
            fn contexts_of_any_size_agree() {
                let all: Vec<_> = (1..=19).map(signed).map(entry).collect();
                for n in [1, 2, 7, 8, 9, 19] {
                    for (wrong, weighted) in [(false, false), (true, false), (false, true)] {
                        let mut both = Both::new(true);
                        for (i, e) in all[..n].iter().enumerate() {
                            let mut e = e.clone();
                            if wrong && i == n / 2 {
                                e.message.push(0);
                            }
                            if weighted {
                                let bits = [64, 128, 63, 1, 255, 300][i % 6];
                                e.weight = (vec![i as u8 | 1; 40], bits);
                            }
                            assert_eq!(both.add(&e), 0);
                        }
                        assert_eq!(both.verify(), !wrong, "{n}");
                    }
                }
            }

            #[test]
            fn errors_agree() {
                let random = &mut Random(8);
                let good = entry(signed(3));
                let outside_key = keys::affine(keys::points(random).last().expect("some"));
                let outside = signatures::affine(signatures::points(random).last().expect("some"));
                let changes: [fn(&mut Entry, &keys::Affine, &signatures::Affine); 9] = [
                    |e, _, _| e.key = Some([keys::ZERO; 2]),
                    |e, _, _| e.signature = Some([signatures::ZERO; 2]),
                    |e, _, _| e.signature = None,
                    |e, _, _| e.key = None,
                    |e, key, _| e.key = Some(*key),
                    |e, _, signature| e.signature = Some(*signature),
                    |e, _, _| (e.key, e.signature) = (Some([keys::ZERO; 2]), None),
                    |e, _, _| e.prefix = vec![7; 100],
                    |e, _, _| (e.check_key, e.check_signature) = (false, false),
                ];
                for (i, change) in changes.iter().enumerate() {
                    let mut e = good.clone();
                    change(&mut e, &outside_key, &outside);
                    let mut both = Both::new(i % 2 == 0);
                    // With a key or a pair before it, a context has something to verify.
                    assert_eq!(both.add(&good), 0);
                    both.add(&e);
                    both.verify();
                }
            }

            #[test]
            fn other_forms_agree() {
                let (key, message, signature) = signed(5);
                let (m, length, none) = (message.as_ptr(), message.len(), core::ptr::null());
                let weight = [9u8; 8];
                let mut both = Both::new(true);
                unsafe {
                    let (k, s) = (key.as_ptr().cast(), signature.as_ptr().cast());
                    let (x, y) = (both.ours(), both.theirs());
                    let results = [
                        ours::$plain(x, &key, &signature, m, length, none, 0) as u32,
                        ours::$checked(x, &key, 1, &signature, 1, m, length, none, 0) as u32,
                        ours::$weighted(
                            x,
                            &key,
                            &signature,
                            weight.as_ptr(),
                            64,
                            m,
                            length,
                            none,
                            0,
                        ) as u32,
                    ];
                    let expected = [
                        blst::$plain(y, k, s, m, length, none, 0) as u32,
                        blst::$checked(y, k, true, s, true, m, length, none, 0) as u32,
                        blst::$weighted(y, k, s, weight.as_ptr(), 64, m, length, none, 0) as u32,
                    ];
                    assert_eq!(results, expected);
                }
                assert!(both.verify());
                // The signature apart from the context.
                let mut both = Both::new(true);
                let mut e = entry((key, message.clone(), signature));
                e.signature = None;
                both.add(&e);
                assert!(!both.verify());
                for point in [signature, signed(4).2] {
                    let (mut x, mut y) = (crate::pairing::ZERO, crate::pairing::ZERO);
                    unsafe {
                        ours::$aggregated(&mut x, &point);
                        blst::$aggregated(y.as_mut_ptr().cast(), point.as_ptr().cast());
                        let valid = ours::blst_pairing_finalverify(both.ours(), &x) != 0;
                        let theirs = y.as_ptr().cast();
                        assert_eq!(valid, blst::blst_pairing_finalverify(both.theirs(), theirs));
                        assert_eq!(valid, point == signature);
                    }
                }
            }

            #[test]
            fn raw_pairs_agree() {
                let mut both = Both::new(true);
                for i in 1..=9 {
                    let (p, q) = (crate::pairing::g1(i), g2(i + 5));
                    unsafe {
                        ours::blst_pairing_raw_aggregate(both.ours(), &q, &p);
                        let (q, p) = (q.as_ptr().cast(), p.as_ptr().cast());
                        blst::blst_pairing_raw_aggregate(both.theirs(), q, p);
                    }
                    if [1, 7, 8, 9].contains(&i) {
                        both.verify();
                    }
                }
            }

            #[test]
            fn single_verifications_agree() {
                for i in [1, 5, 17] {
                    let (key, message, signature) = signed(i);
                    let infinity = ([keys::ZERO; 2], [signatures::ZERO; 2]);
                    for (key, signature, uniform) in [
                        (key, signature, true),
                        (key, signature, false),
                        (key, signed(2).2, true),
                        (key, infinity.1, true),
                        (infinity.0, signature, true),
                        (infinity.0, infinity.1, true),
                    ] {
                        let (m, length, none) =
                            (message.as_ptr(), message.len(), core::ptr::null());
                        let (dst, dst_length) = (DST.as_ptr(), DST.len());
                        let (a, b) = unsafe {
                            (
                                ours::$core(
                                    &key,
                                    &signature,
                                    uniform.into(),
                                    m,
                                    length,
                                    dst,
                                    dst_length,
                                    none,
                                    0,
                                ),
                                blst::$core(
                                    key.as_ptr().cast(),
                                    signature.as_ptr().cast(),
                                    uniform,
                                    m,
                                    length,
                                    dst,
                                    dst_length,
                                    none,
                                    0,
                                ),
                            )
                        };
                        assert_eq!(a as u32, b as u32);
                    }
                    let valid = unsafe {
                        ours::$core(
                            &key,
                            &signature,
                            1,
                            message.as_ptr(),
                            message.len(),
                            DST.as_ptr(),
                            DST.len(),
                            core::ptr::null(),
                            0,
                        )
                    };
                    assert_eq!(valid, ours::BLST_ERROR::BLST_SUCCESS);
                }
            }
        }
    };
}

contexts!(g1 g2; blst_sk_to_pk_in_g1 blst_hash_to_g2 blst_sign_pk_in_g1
    blst_pairing_aggregate_pk_in_g1 blst_pairing_chk_n_aggr_pk_in_g1
    blst_pairing_mul_n_aggregate_pk_in_g1 blst_pairing_chk_n_mul_n_aggr_pk_in_g1
    blst_core_verify_pk_in_g1 blst_aggregated_in_g2);

contexts!(g2 g1; blst_sk_to_pk_in_g2 blst_hash_to_g1 blst_sign_pk_in_g2
    blst_pairing_aggregate_pk_in_g2 blst_pairing_chk_n_aggr_pk_in_g2
    blst_pairing_mul_n_aggregate_pk_in_g2 blst_pairing_chk_n_mul_n_aggr_pk_in_g2
    blst_core_verify_pk_in_g2 blst_aggregated_in_g1);

#[test]
fn contexts_merge_and_refuse() {
    let all: Vec<_> = (1..=4).map(g1::signed).collect();
    let size = unsafe { ours::blst_pairing_sizeof() }.div_ceil(8);
    let mut memory = [vec![0u64; size + 8], vec![0u64; size + 8]];
    let contexts = memory.each_mut().map(|memory| memory.as_mut_ptr().cast::<ours::Context>());
    for (half, context) in contexts.iter().enumerate() {
        unsafe {
            // The tag follows the context, and both may move.
            let tag = context.add(1).cast::<u8>();
            core::ptr::copy_nonoverlapping(DST.as_ptr(), tag, DST.len());
            ours::blst_pairing_init(*context, 1, tag, DST.len());
            assert_eq!(ours::blst_pairing_get_dst(*context), tag.cast_const());
            for (key, message, signature) in &all[2 * half..2 * half + 2] {
                ours::blst_pairing_aggregate_pk_in_g1(
                    *context,
                    key,
                    signature,
                    message.as_ptr(),
                    message.len(),
                    core::ptr::null(),
                    0,
                );
            }
            let other_kind = ours::blst_pairing_aggregate_pk_in_g2(
                *context,
                &g2(1),
                core::ptr::null(),
                DST.as_ptr(),
                1,
                core::ptr::null(),
                0,
            );
            assert_eq!(other_kind, ours::BLST_ERROR::BLST_AGGR_TYPE_MISMATCH);
        }
    }
    unsafe {
        assert_eq!(
            ours::blst_pairing_merge(contexts[0], contexts[1]),
            ours::BLST_ERROR::BLST_AGGR_TYPE_MISMATCH
        );
        ours::blst_pairing_commit(contexts[0]);
        ours::blst_pairing_commit(contexts[1]);
        assert_eq!(
            ours::blst_pairing_merge(contexts[0], contexts[1]),
            ours::BLST_ERROR::BLST_SUCCESS
        );
        assert_eq!(ours::blst_pairing_finalverify(contexts[0], core::ptr::null()), 1);
        assert_eq!(ours::blst_pairing_finalverify(contexts[1], core::ptr::null()), 1);
    }
}

#[test]
fn messages_are_unique_once() {
    let mut tree = vec![0u64; unsafe { ours::blst_uniq_sizeof(300) }.div_ceil(8)];
    let tree = tree.as_mut_ptr().cast();
    let messages: Vec<[u8; 4]> = (0..300u32).map(u32::to_be_bytes).collect();
    unsafe {
        ours::blst_uniq_init(tree);
        for message in &messages {
            assert_eq!(ours::blst_uniq_test(tree, message.as_ptr(), 4), 1);
        }
        for message in &messages {
            assert_eq!(ours::blst_uniq_test(tree, message.as_ptr(), 4), 0);
        }
    }
}
