//! The generators of both groups, in Montgomery form.

use crate::{blst_p1_affine, blst_p2_affine};

/// The generator of G1.
#[unsafe(export_name = "cycloid_BLS12_381_G1")]
pub static BLS12_381_G1: blst_p1_affine = [
    [
        0x5cb3_8790_fd53_0c16,
        0x7817_fc67_9976_fff5,
        0x154f_95c7_143b_a1c1,
        0xf0ae_6acd_f3d0_e747,
        0xedce_6ecc_21db_f440,
        0x1201_7741_9e0b_fb75,
    ],
    [
        0xbaac_93d5_0ce7_2271,
        0x8c22_631a_7918_fd8e,
        0xdd59_5f13_5707_25ce,
        0x51ac_5829_5040_5194,
        0x0e1c_8c3f_ad00_59c0,
        0x0bbc_3efc_5008_a26a,
    ],
];

/// Minus the generator of G1.
#[unsafe(export_name = "cycloid_BLS12_381_NEG_G1")]
pub static BLS12_381_NEG_G1: blst_p1_affine = [
    [
        0x5cb3_8790_fd53_0c16,
        0x7817_fc67_9976_fff5,
        0x154f_95c7_143b_a1c1,
        0xf0ae_6acd_f3d0_e747,
        0xedce_6ecc_21db_f440,
        0x1201_7741_9e0b_fb75,
    ],
    [
        0xff52_6c2a_f318_883a,
        0x9289_9ce4_383b_0270,
        0x89d7_738d_9fa9_d055,
        0x12ca_f35b_a344_c12a,
        0x3cff_1b76_964b_5317,
        0x0e44_d2ed_e977_4430,
    ],
];

/// The generator of G2.
#[unsafe(export_name = "cycloid_BLS12_381_G2")]
pub static BLS12_381_G2: blst_p2_affine = [
    [
        [
            0xf5f2_8fa2_0294_0a10,
            0xb3f5_fb26_87b4_961a,
            0xa1a8_93b5_3e2a_e580,
            0x9894_999d_1a3c_aee9,
            0x6f67_b763_1863_366b,
            0x0581_9192_4350_bcd7,
        ],
        [
            0xa5a9_c075_9e23_f606,
            0xaaa0_c59d_bccd_60c3,
            0x3bb1_7e18_e286_7806,
            0x1b1a_b6cc_8541_b367,
            0xc2b6_ed0e_f215_8547,
            0x1192_2a09_7360_edf3,
        ],
    ],
    [
        [
            0x4c73_0af8_6049_4c4a,
            0x597c_fa1f_5e36_9c5a,
            0xe7e6_856c_aa0a_635a,
            0xbbef_b5e9_6e0d_495f,
            0x07d3_a975_f0ef_25a2,
            0x0083_fd8e_7e80_dae5,
        ],
        [
            0xadc0_fc92_df64_b05d,
            0x18aa_270a_2b14_61dc,
            0x86ad_ac6a_3be4_eba0,
            0x7949_5c4e_c93d_a33a,
            0xe717_5850_a43c_caed,
            0x0b2b_c2a1_63de_1bf2,
        ],
    ],
];

/// Minus the generator of G2.
#[unsafe(export_name = "cycloid_BLS12_381_NEG_G2")]
pub static BLS12_381_NEG_G2: blst_p2_affine = [
    [
        [
            0xf5f2_8fa2_0294_0a10,
            0xb3f5_fb26_87b4_961a,
            0xa1a8_93b5_3e2a_e580,
            0x9894_999d_1a3c_aee9,
            0x6f67_b763_1863_366b,
            0x0581_9192_4350_bcd7,
        ],
        [
            0xa5a9_c075_9e23_f606,
            0xaaa0_c59d_bccd_60c3,
            0x3bb1_7e18_e286_7806,
            0x1b1a_b6cc_8541_b367,
            0xc2b6_ed0e_f215_8547,
            0x1192_2a09_7360_edf3,
        ],
    ],
    [
        [
            0x6d8b_f507_9fb6_5e61,
            0xc52f_05df_531d_63a5,
            0x7f4a_4d34_4ca6_92c9,
            0xa887_959b_8577_c95f,
            0x4347_fe40_525c_8734,
            0x197d_145b_baff_0bb5,
        ],
        [
            0x0c3e_036d_209a_fa4e,
            0x0601_d8f4_863f_9e23,
            0xe083_2636_bacc_0a84,
            0xeb2d_ef36_2a47_6f84,
            0x6404_4f65_9f0e_e1e9,
            0x0ed5_4f48_d5a1_caa7,
        ],
    ],
];
