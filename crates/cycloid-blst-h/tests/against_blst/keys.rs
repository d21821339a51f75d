//! Scalars, secret keys, hashes of bytes, and numbers as text.

use cycloid_blst_h as ours;

use crate::inputs::{Random, same, scalars};

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
