//! Every function against blst itself, on random, edge and hostile inputs.

// Every call passes references and arrays as long as blst's header says.
#![allow(clippy::undocumented_unsafe_blocks)]

use core::fmt::Debug;

use cycloid_blst_h as ours;

/// Deterministic pseudorandom numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.next() as u8)
    }
}

const P: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];
const R: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

fn less<const N: usize>(a: [u64; N], by: u64) -> [u64; N] {
    let mut a = a;
    a[0] -= by;
    a
}

/// Elements of Fp in Montgomery form: any words below p are.
fn fps(random: &mut Random) -> Vec<[u64; 6]> {
    let mut all =
        vec![[0; 6], [1, 0, 0, 0, 0, 0], less(P, 1), less(P, 2), [u64::MAX, u64::MAX, 0, 0, 0, 0]];
    all.push({
        let mut high = P;
        high[5] -= 1;
        high[..5].fill(u64::MAX);
        high
    });
    for _ in 0..6 {
        all.push(core::array::from_fn(|i| if i == 5 { random.next() >> 4 } else { random.next() }));
    }
    all
}

fn frs(random: &mut Random) -> Vec<[u64; 4]> {
    let mut all = vec![[0; 4], [1, 0, 0, 0], less(R, 1), less(R, 2), [u64::MAX, u64::MAX, 0, 0]];
    for _ in 0..6 {
        all.push(core::array::from_fn(|i| if i == 3 { random.next() >> 2 } else { random.next() }));
    }
    all
}

/// Integers of 256 bits, also r and more.
fn scalars(random: &mut Random) -> Vec<[u8; 32]> {
    let bytes = |limbs: [u64; 4]| {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.try_into().expect("32 bytes")
    };
    let mut all: Vec<[u8; 32]> = frs(random)
        .into_iter()
        .chain([R, [u64::MAX; 4], [R[0] + 1, R[1], R[2], R[3]]])
        .map(bytes)
        .collect();
    all.push(random.bytes());
    all
}

/// Runs a function of both libraries that writes a result of type `T`, and compares.
fn same<T: Copy + PartialEq + Debug>(
    name: &str,
    start: T,
    a: impl FnOnce(*mut T),
    b: impl FnOnce(*mut T),
) -> T {
    let (mut first, mut second) = (start, start);
    a(&mut first);
    b(&mut second);
    assert_eq!(first, second, "{name}");
    first
}

/// Compares functions of one or two elements.
macro_rules! elements {
    ($values:expr, $zero:expr; $($unary:ident)*; $($binary:ident)*) => {
        for a in &$values {
            $(same(stringify!($unary), $zero, |out| unsafe { ours::$unary(out, a) },
                |out| unsafe { blst::$unary(out.cast(), core::ptr::from_ref(a).cast()) });)*
            for b in &$values {
                $(same(stringify!($binary), $zero, |out| unsafe { ours::$binary(out, a, b) },
                    |out| unsafe {
                        blst::$binary(out.cast(), core::ptr::from_ref(a).cast(), core::ptr::from_ref(b).cast())
                    });)*
            }
        }
    };
}

#[test]
fn fields() {
    let random = &mut Random(1);
    let fr = frs(random);
    elements!(fr, [0u64; 4]; blst_fr_mul_by_3 blst_fr_sqr blst_fr_eucl_inverse blst_fr_inverse
        blst_fr_to blst_fr_from; blst_fr_add blst_fr_sub blst_fr_mul);
    let fp = fps(random);
    elements!(fp, [0u64; 6]; blst_fp_mul_by_3 blst_fp_mul_by_8 blst_fp_sqr blst_fp_eucl_inverse
        blst_fp_inverse blst_fp_to blst_fp_from; blst_fp_add blst_fp_sub blst_fp_mul);
    let fp2: Vec<[[u64; 6]; 2]> =
        fp.iter().flat_map(|a| [[*a, fp[0]], [fp[0], *a], [*a, fp[7]]]).collect();
    elements!(fp2, [[0u64; 6]; 2]; blst_fp2_mul_by_3 blst_fp2_mul_by_8 blst_fp2_sqr
        blst_fp2_eucl_inverse blst_fp2_inverse; blst_fp2_add blst_fp2_sub blst_fp2_mul);
    for a in &fr {
        for count in [1, 5, 64, 70] {
            same(
                "lshift",
                [0; 4],
                |o| unsafe { ours::blst_fr_lshift(o, a, count) },
                |o| unsafe { blst::blst_fr_lshift(o.cast(), core::ptr::from_ref(a).cast(), count) },
            );
            same(
                "rshift",
                [0; 4],
                |o| unsafe { ours::blst_fr_rshift(o, a, count) },
                |o| unsafe { blst::blst_fr_rshift(o.cast(), core::ptr::from_ref(a).cast(), count) },
            );
        }
        for b in &fr {
            let twiddle = &fr[6];
            let (mut x, mut y) = ([*a, *b], [*a, *b]);
            unsafe {
                ours::blst_fr_ct_bfly(&mut x[0], &mut x[1], twiddle);
                let at = y.as_mut_ptr();
                blst::blst_fr_ct_bfly(
                    at.cast(),
                    at.add(1).cast(),
                    core::ptr::from_ref(twiddle).cast(),
                );
                assert_eq!(x, y);
                ours::blst_fr_gs_bfly(&mut x[0], &mut x[1], twiddle);
                blst::blst_fr_gs_bfly(
                    at.cast(),
                    at.add(1).cast(),
                    core::ptr::from_ref(twiddle).cast(),
                );
                assert_eq!(x, y);
            }
        }
    }
    for a in &fp {
        for flag in [false, true] {
            same(
                "cneg",
                [0; 6],
                |o| unsafe { ours::blst_fp_cneg(o, a, flag.into()) },
                |o| unsafe { blst::blst_fp_cneg(o.cast(), core::ptr::from_ref(a).cast(), flag) },
            );
        }
        let (mut root, mut theirs) = ([0; 6], [0; 6]);
        unsafe {
            let square = ours::blst_fp_sqrt(&mut root, a) != 0;
            assert_eq!(
                square,
                blst::blst_fp_sqrt(theirs.as_mut_ptr().cast(), core::ptr::from_ref(a).cast())
            );
            assert_eq!(square, ours::blst_fp_is_square(a) != 0);
            if square {
                ours::blst_fp_sqr(&mut root, &root);
                assert_eq!(root, *a);
            }
        }
        let mut bytes = [[0; 48]; 2];
        unsafe {
            ours::blst_bendian_from_fp(bytes[0].as_mut_ptr(), a);
            blst::blst_bendian_from_fp(bytes[1].as_mut_ptr(), core::ptr::from_ref(a).cast());
        }
        assert_eq!(bytes[0], bytes[1]);
    }
    for a in &fp2 {
        let (mut root, mut theirs) = ([[0; 6]; 2], [[0u64; 6]; 2]);
        unsafe {
            let square = ours::blst_fp2_sqrt(&mut root, a) != 0;
            assert_eq!(
                square,
                blst::blst_fp2_sqrt(theirs.as_mut_ptr().cast(), core::ptr::from_ref(a).cast())
            );
            assert_eq!(square, ours::blst_fp2_is_square(a) != 0);
            if square {
                ours::blst_fp2_sqr(&mut root, &root);
                assert_eq!(root, *a);
            }
        }
    }
    // Integers beyond the moduli.
    for bytes in [[0xff; 48], random.bytes(), random.bytes()] {
        same(
            "bendian",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_bendian(o, bytes.as_ptr()) },
            |o| unsafe { blst::blst_fp_from_bendian(o.cast(), bytes.as_ptr()) },
        );
        same(
            "lendian",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_lendian(o, bytes.as_ptr()) },
            |o| unsafe { blst::blst_fp_from_lendian(o.cast(), bytes.as_ptr()) },
        );
    }
}

#[test]
fn scalars_and_keys() {
    let random = &mut Random(2);
    let all = scalars(random);
    for a in &all {
        let theirs: *const blst::blst_scalar = core::ptr::from_ref(a).cast();
        unsafe {
            assert_eq!(ours::blst_scalar_fr_check(a) != 0, blst::blst_scalar_fr_check(theirs));
            assert_eq!(ours::blst_sk_check(a) != 0, blst::blst_sk_check(theirs));
        }
        same(
            "fr_from_scalar",
            [0; 4],
            |o| unsafe { ours::blst_fr_from_scalar(o, a) },
            |o| unsafe { blst::blst_fr_from_scalar(o.cast(), theirs) },
        );
        same(
            "sk_inverse",
            [0; 32],
            |o| unsafe { ours::blst_sk_inverse(o, a) },
            |o| unsafe { blst::blst_sk_inverse(o.cast(), theirs) },
        );
        same(
            "child",
            [0; 32],
            |o| unsafe { ours::blst_derive_child_eip2333(o, a, 7) },
            |o| unsafe { blst::blst_derive_child_eip2333(o.cast(), theirs, 7) },
        );
        if unsafe { ours::blst_scalar_fr_check(a) } == 0 {
            continue;
        }
        for b in all.iter().filter(|b| unsafe { ours::blst_scalar_fr_check(*b) } != 0) {
            let other: *const blst::blst_scalar = core::ptr::from_ref(b).cast();
            macro_rules! check {
                ($($name:ident)*) => {$(
                    let (mut x, mut y) = ([0; 32], [0; 32]);
                    unsafe {
                        let ok = ours::$name(&mut x, a, b) != 0;
                        assert_eq!(ok, blst::$name(y.as_mut_ptr().cast(), theirs, other));
                    }
                    assert_eq!(x, y, stringify!($name));
                )*};
            }
            check!(blst_sk_add_n_check blst_sk_sub_n_check blst_sk_mul_n_check);
        }
    }
    let long: [u8; 150] = random.bytes();
    for length in [0, 1, 31, 32, 33, 48, 64, 65, 96, 150] {
        let at = long.as_ptr();
        for (x, y) in [
            (
                ours::blst_scalar_from_le_bytes as unsafe extern "C" fn(*mut [u8; 32], _, _) -> i32,
                blst::blst_scalar_from_le_bytes
                    as unsafe extern "C" fn(*mut blst::blst_scalar, *const u8, usize) -> bool,
            ),
            (ours::blst_scalar_from_be_bytes, blst::blst_scalar_from_be_bytes),
        ] {
            let (mut a, mut b) = ([0; 32], [0; 32]);
            unsafe { assert_eq!(x(&mut a, at, length) != 0, y(b.as_mut_ptr().cast(), at, length)) };
            assert_eq!(a, b);
        }
        same(
            "le",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_le_bytes(o, at, length) },
            |o| unsafe { blst::blst_fp_from_le_bytes(o.cast(), at, length) },
        );
        same(
            "be",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_be_bytes(o, at, length) },
            |o| unsafe { blst::blst_fp_from_be_bytes(o.cast(), at, length) },
        );
        same(
            "sha256",
            [0; 32],
            |o| unsafe { ours::blst_sha256(o.cast(), at, length) },
            |o| unsafe { blst::blst_sha256(o.cast(), at, length) },
        );
        for (info, info_length) in [(core::ptr::null(), 3), (at, 5)] {
            same(
                "keygen",
                [0; 32],
                |o| unsafe { ours::blst_keygen(o, at, length, info, info_length) },
                |o| unsafe { blst::blst_keygen(o.cast(), at, length, info, info_length) },
            );
            same(
                "v3",
                [0; 32],
                |o| unsafe { ours::blst_keygen_v3(o, at, length, info, info_length) },
                |o| unsafe { blst::blst_keygen_v3(o.cast(), at, length, info, info_length) },
            );
            for (salt, n) in [(core::ptr::null(), 0), (at, 20), (at, 100)] {
                same(
                    "v4.5",
                    [0; 32],
                    |o| unsafe {
                        ours::blst_keygen_v4_5(o, at, length, salt, n, info, info_length);
                    },
                    |o| unsafe {
                        blst::blst_keygen_v4_5(o.cast(), at, length, salt, n, info, info_length);
                    },
                );
                same(
                    "v5",
                    [0; 32],
                    |o| unsafe { ours::blst_keygen_v5(o, at, length, salt, n, info, info_length) },
                    |o| unsafe {
                        blst::blst_keygen_v5(o.cast(), at, length, salt, n, info, info_length);
                    },
                );
            }
        }
        same(
            "master",
            [0; 32],
            |o| unsafe { ours::blst_derive_master_eip2333(o, at, length) },
            |o| unsafe { blst::blst_derive_master_eip2333(o.cast(), at, length) },
        );
        if length > 0 {
            same(
                "xmd",
                [0; 150],
                |o| unsafe { ours::blst_expand_message_xmd(o.cast(), length, at, 9, at, 20) },
                |o| unsafe { blst::blst_expand_message_xmd(o.cast(), length, at, 9, at, 20) },
            );
        }
    }
    for text in [
        "0",
        "0x1f",
        "ABCdef",
        "0Xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "",
        "12g4",
        "123",
    ] {
        let text = std::ffi::CString::new(text).expect("no zero");
        same(
            "hex",
            [0; 32],
            |o| unsafe { ours::blst_scalar_from_hexascii(o, text.as_ptr().cast()) },
            |o| unsafe { blst::blst_scalar_from_hexascii(o.cast(), text.as_ptr().cast()) },
        );
        same(
            "hex",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_hexascii(o, text.as_ptr().cast()) },
            |o| unsafe { blst::blst_fp_from_hexascii(o.cast(), text.as_ptr().cast()) },
        );
        same(
            "hex",
            [0; 4],
            |o| unsafe { ours::blst_fr_from_hexascii(o, text.as_ptr().cast()) },
            |o| unsafe { blst::blst_fr_from_hexascii(o.cast(), text.as_ptr().cast()) },
        );
    }
}

/// What the groups have in common.
macro_rules! group {
    ($test:ident, $point:ty, $affine:ty, $zero:expr, $encoded:literal, $Point:ty, $Affine:ty;
     $generator:ident $mult:ident $unchecked:ident $add:ident $add_or_double:ident $add_affine:ident
     $add_or_double_affine:ident $double:ident $cneg:ident $to_affine:ident $from_affine:ident
     $on_curve:ident $in_group:ident $is_equal:ident $is_inf:ident $affine_on_curve:ident
     $affine_in_group:ident $serialize:ident $compress:ident $uncompress:ident $deserialize:ident
     $hash:ident $encode:ident $aggregate:ident $sign:ident $sk_to_pk:ident $sk_to_pk2:ident
     $tos_affine:ident $sum:ident $table_sizeof:ident $table:ident $wbits:ident
     $scratch_sizeof:ident $pippenger:ident $tile:ident) => {
        mod $test {
            use super::*;

            fn affine(a: &$point) -> $affine {
                let mut out = [$zero; 2];
                unsafe { blst::$to_affine(out.as_mut_ptr().cast(), core::ptr::from_ref(a).cast()) };
                out
            }

            /// Runs both and compares the points.
            fn point(
                name: &str,
                a: impl FnOnce(*mut $point),
                b: impl FnOnce(*mut $Point),
            ) -> $point {
                let (mut x, mut y) = ([$zero; 3], [$zero; 3]);
                a(&mut x);
                b(y.as_mut_ptr().cast());
                assert_eq!(affine(&x), affine(&y), "{name}");
                y
            }

            fn theirs(a: &$point) -> *const $Point {
                core::ptr::from_ref(a).cast()
            }

            /// A point of the curve that is not in the group.
            fn outside(random: &mut Random) -> $point {
                loop {
                    let mut bytes: [u8; $encoded] = random.bytes();
                    bytes[0] = (bytes[0] & 0x2f) | 0x80;
                    bytes[0] &= 0xaf;
                    bytes[$encoded / 2] &= 0x0f;
                    let (mut decoded, mut out) = ([$zero; 2], [$zero; 3]);
                    unsafe {
                        if blst::$uncompress(decoded.as_mut_ptr().cast(), bytes.as_ptr())
                            == blst::BLST_ERROR::BLST_SUCCESS
                        {
                            blst::$from_affine(out.as_mut_ptr().cast(), decoded.as_ptr().cast());
                            return out;
                        }
                    }
                }
            }

            fn points(random: &mut Random) -> Vec<$point> {
                let generator: $point = unsafe { blst::$generator().cast::<$point>().read() };
                let mut all = vec![[$zero; 3], generator];
                for _ in 0..3 {
                    let scalar: [u8; 32] = random.bytes();
                    let mut multiple = [$zero; 3];
                    unsafe {
                        blst::$mult(
                            multiple.as_mut_ptr().cast(),
                            theirs(&generator),
                            scalar.as_ptr(),
                            250,
                        )
                    };
                    all.push(multiple);
                    unsafe { blst::$cneg(multiple.as_mut_ptr().cast(), true) };
                    all.push(multiple);
                    unsafe {
                        blst::$from_affine(
                            multiple.as_mut_ptr().cast(),
                            affine(&multiple).as_ptr().cast(),
                        )
                    };
                    all.push(multiple);
                }
                all.extend([outside(random), outside(random)]);
                all
            }

            #[test]
            fn sums_and_multiples() {
                let random = &mut Random(3);
                let all = points(random);
                for a in &all {
                    point(
                        "double",
                        |o| unsafe { ours::$double(o, a) },
                        |o| unsafe { blst::$double(o, theirs(a)) },
                    );
                    unsafe {
                        assert_eq!(ours::$on_curve(a) != 0, blst::$on_curve(theirs(a)));
                        assert_eq!(ours::$in_group(a) != 0, blst::$in_group(theirs(a)));
                        assert_eq!(ours::$is_inf(a) != 0, blst::$is_inf(theirs(a)));
                        let (x, mut off) = (affine(a), affine(a));
                        assert_eq!(
                            ours::$affine_in_group(&x) != 0,
                            blst::$affine_in_group(x.as_ptr().cast())
                        );
                        off[1] = off[0];
                        for x in [x, off] {
                            assert_eq!(
                                ours::$affine_on_curve(&x) != 0,
                                blst::$affine_on_curve(x.as_ptr().cast())
                            );
                        }
                    }
                    same(
                        "to_affine",
                        [$zero; 2],
                        |o| unsafe { ours::$to_affine(o, a) },
                        |o| unsafe { blst::$to_affine(o.cast(), theirs(a)) },
                    );
                    for b in &all {
                        let flat = affine(b);
                        let other: *const $Affine = flat.as_ptr().cast();
                        unsafe {
                            assert_eq!(
                                ours::$is_equal(a, b) != 0,
                                blst::$is_equal(theirs(a), theirs(b))
                            )
                        };
                        point(
                            "add",
                            |o| unsafe { ours::$add(o, a, b) },
                            |o| unsafe { blst::$add(o, theirs(a), theirs(b)) },
                        );
                        point(
                            "add_or_double",
                            |o| unsafe { ours::$add_or_double(o, a, b) },
                            |o| unsafe { blst::$add_or_double(o, theirs(a), theirs(b)) },
                        );
                        point(
                            "add_affine",
                            |o| unsafe { ours::$add_affine(o, a, &flat) },
                            |o| unsafe { blst::$add_affine(o, theirs(a), other) },
                        );
                        point(
                            "add_or_double_affine",
                            |o| unsafe { ours::$add_or_double_affine(o, a, &flat) },
                            |o| unsafe { blst::$add_or_double_affine(o, theirs(a), other) },
                        );
                    }
                    let mut long = [0; 64];
                    for scalar in scalars(random) {
                        long[..32].copy_from_slice(&scalar);
                        long[32..].copy_from_slice(&random.bytes::<32>());
                        for bits in [
                            0, 1, 7, 64, 65, 128, 143, 144, 150, 175, 176, 180, 254, 255, 256, 260,
                            500,
                        ] {
                            let k = long.as_ptr();
                            point(
                                &format!("mult {bits}"),
                                |o| unsafe { ours::$mult(o, a, k, bits) },
                                |o| unsafe { blst::$mult(o, theirs(a), k, bits) },
                            );
                        }
                        let k = long.as_ptr();
                        point(
                            "unchecked",
                            |o| unsafe { ours::$unchecked(o, a, k, 255) },
                            |o| unsafe { blst::$unchecked(o, theirs(a), k, 255) },
                        );
                    }
                }
                let a = &all[2];
                for scalar in scalars(random) {
                    if unsafe { ours::blst_scalar_fr_check(&scalar) } == 0 {
                        continue;
                    }
                    let sk: *const blst::blst_scalar = scalar.as_ptr().cast();
                    let signed = same(
                        "sign",
                        [$zero; 3],
                        |o| unsafe { ours::$sign(o, a, &scalar) },
                        |o| unsafe { blst::$sign(o.cast(), theirs(a), sk) },
                    );
                    let public = point(
                        "sk_to_pk",
                        |o| unsafe { ours::$sk_to_pk(o, &scalar) },
                        |o| unsafe { blst::$sk_to_pk(o, sk) },
                    );
                    same(
                        "sk_to_pk2",
                        ([0; 2 * $encoded], [$zero; 2]),
                        |o| unsafe {
                            ours::$sk_to_pk2((*o).0.as_mut_ptr(), &raw mut (*o).1, &scalar)
                        },
                        |o| unsafe {
                            blst::$sk_to_pk2((*o).0.as_mut_ptr(), (&raw mut (*o).1).cast(), sk)
                        },
                    );
                    for a in [signed, public] {
                        same(
                            "serialize",
                            [0; 2 * $encoded],
                            |o| unsafe { ours::$serialize(o.cast(), &a) },
                            |o| unsafe { blst::$serialize(o.cast(), theirs(&a)) },
                        );
                    }
                }
            }

            #[test]
            fn encodings_and_hashes() {
                let random = &mut Random(4);
                let mut inputs: Vec<[u8; 2 * $encoded]> = Vec::new();
                for a in points(random) {
                    let mut bytes = [0; 2 * $encoded];
                    unsafe {
                        blst::$serialize(bytes.as_mut_ptr(), theirs(&a));
                        inputs.push(bytes);
                        blst::$compress(bytes.as_mut_ptr(), theirs(&a));
                        inputs.push(bytes);
                    }
                    same(
                        "compress",
                        [0; $encoded],
                        |o| unsafe { ours::$compress(o.cast(), &a) },
                        |o| unsafe { blst::$compress(o.cast(), theirs(&a)) },
                    );
                }
                let mut modulus = [0; 2 * $encoded];
                for (to, limb) in modulus.chunks_mut(8).zip(P.iter().rev()) {
                    to.copy_from_slice(&limb.to_be_bytes());
                }
                inputs.extend([modulus, [0; 2 * $encoded], [0xff; 2 * $encoded], random.bytes()]);
                // (0, ±2) on the curve over Fp.
                inputs.push({
                    let mut bytes = [0; 2 * $encoded];
                    bytes[2 * $encoded - 1] = 2;
                    bytes
                });
                let count = inputs.len();
                for i in 0..count {
                    for flags in 0..8u8 {
                        let mut changed = inputs[i];
                        changed[0] = changed[0] & 0x1f | flags << 5;
                        inputs.push(changed);
                        changed[random.next() as usize % (2 * $encoded)] ^=
                            1 << (random.next() % 8);
                        inputs.push(changed);
                    }
                }
                let start: $point = unsafe { blst::$generator().cast::<$point>().read() };
                for bytes in &inputs {
                    let at = bytes.as_ptr();
                    same(
                        "uncompress",
                        ([$zero; 2], 9),
                        |o| unsafe { (*o).1 = ours::$uncompress(&raw mut (*o).0, at) as i32 },
                        |o| unsafe {
                            (*o).1 = blst::$uncompress((&raw mut (*o).0).cast(), at) as i32
                        },
                    );
                    same(
                        "deserialize",
                        ([$zero; 2], 9),
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
            fn lists() {
                let random = &mut Random(5);
                let few = points(random);
                for n in [1usize, 2, 3, 8, 31, 33, 70] {
                    let points: Vec<$point> =
                        (0..n).map(|i| few[(i * 3 + 1) % few.len()]).collect();
                    let flat: Vec<$affine> = points.iter().map(affine).collect();
                    // blst's contract excludes infinity from sums of multiples.
                    let finite: Vec<$affine> = flat
                        .iter()
                        .map(|a| if *a == [$zero; 2] { affine(&few[1]) } else { *a })
                        .collect();
                    let scalars: Vec<[u8; 32]> = (0..n)
                        .map(|i| match i % 5 {
                            0 => [0; 32],
                            1 => [0xff; 32],
                            _ => random.bytes(),
                        })
                        .collect();
                    let separate: Vec<*const $point> =
                        points.iter().map(core::ptr::from_ref).collect();
                    let separate_flat: Vec<*const $affine> =
                        finite.iter().map(core::ptr::from_ref).collect();
                    let together = [points.as_ptr(), core::ptr::null()];
                    let together_flat = [finite.as_ptr(), core::ptr::null()];
                    let keys = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
                    let separate_keys: Vec<*const u8> =
                        scalars.iter().map(|k| k.as_ptr()).collect();
                    for list in [separate.as_ptr(), together.as_ptr()] {
                        let (mut x, mut y) = (vec![[$zero; 2]; n], vec![[$zero; 2]; n]);
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
                    for wbits in [2, 4, 5] {
                        let size = unsafe { ours::$table_sizeof(wbits, n) };
                        assert_eq!(size, unsafe { blst::$table_sizeof(wbits, n) });
                        let list = together_flat.as_ptr();
                        let count = size / size_of::<$affine>();
                        let (mut x, mut y) = (vec![[$zero; 2]; count], vec![[$zero; 2]; count]);
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

group!(g1, [[u64; 6]; 3], [[u64; 6]; 2], [0u64; 6], 48, blst::blst_p1, blst::blst_p1_affine;
    blst_p1_generator blst_p1_mult blst_p1_unchecked_mult blst_p1_add blst_p1_add_or_double
    blst_p1_add_affine blst_p1_add_or_double_affine blst_p1_double blst_p1_cneg blst_p1_to_affine
    blst_p1_from_affine blst_p1_on_curve blst_p1_in_g1 blst_p1_is_equal blst_p1_is_inf
    blst_p1_affine_on_curve blst_p1_affine_in_g1 blst_p1_serialize blst_p1_compress
    blst_p1_uncompress blst_p1_deserialize blst_hash_to_g1 blst_encode_to_g1 blst_aggregate_in_g1
    blst_sign_pk_in_g2 blst_sk_to_pk_in_g1 blst_sk_to_pk2_in_g1 blst_p1s_to_affine blst_p1s_add
    blst_p1s_mult_wbits_precompute_sizeof blst_p1s_mult_wbits_precompute blst_p1s_mult_wbits
    blst_p1s_mult_pippenger_scratch_sizeof blst_p1s_mult_pippenger blst_p1s_tile_pippenger);

group!(g2, [[[u64; 6]; 2]; 3], [[[u64; 6]; 2]; 2], [[0u64; 6]; 2], 96, blst::blst_p2, blst::blst_p2_affine;
    blst_p2_generator blst_p2_mult blst_p2_unchecked_mult blst_p2_add blst_p2_add_or_double
    blst_p2_add_affine blst_p2_add_or_double_affine blst_p2_double blst_p2_cneg blst_p2_to_affine
    blst_p2_from_affine blst_p2_on_curve blst_p2_in_g2 blst_p2_is_equal blst_p2_is_inf
    blst_p2_affine_on_curve blst_p2_affine_in_g2 blst_p2_serialize blst_p2_compress
    blst_p2_uncompress blst_p2_deserialize blst_hash_to_g2 blst_encode_to_g2 blst_aggregate_in_g2
    blst_sign_pk_in_g1 blst_sk_to_pk_in_g2 blst_sk_to_pk2_in_g2 blst_p2s_to_affine blst_p2s_add
    blst_p2s_mult_wbits_precompute_sizeof blst_p2s_mult_wbits_precompute blst_p2s_mult_wbits
    blst_p2s_mult_pippenger_scratch_sizeof blst_p2s_mult_pippenger blst_p2s_tile_pippenger);
