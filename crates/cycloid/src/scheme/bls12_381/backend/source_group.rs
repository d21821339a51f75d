//! The two source groups of the pairing, as types.

/// The two source groups, as types.
pub trait SourceGroup: private::Sealed + Copy + Send + Sync + 'static {
    /// A coordinate, or a compressed point: big-endian, for Fp2 with the coefficient of u first.
    type Compressed: AsRef<[u8]>
        + AsMut<[u8]>
        + Copy
        + Eq
        + core::fmt::Debug
        + Send
        + Sync
        + 'static;

    /// Two coordinates: an uncompressed point.
    type Uncompressed: AsRef<[u8]>
        + AsMut<[u8]>
        + Copy
        + Eq
        + core::fmt::Debug
        + Send
        + Sync
        + 'static;

    /// The name of the group.
    const NAME: &'static str;

    /// All zeros.
    const COMPRESSED: Self::Compressed;

    /// All zeros.
    const UNCOMPRESSED: Self::Uncompressed;

    /// The degree of a coordinate's field over Fp.
    const DEGREE: usize;

    /// h_eff of RFC 9380, sections 8.8.1 and 8.8.2, little-endian: a multiple of the cofactor.
    const EFFECTIVE_COFACTOR: &'static [u64];
}

/// G1: points of y² = x³ + 4 over Fp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First;

/// G2: points of y² = x³ + 4(1 + u) over Fp2 = Fp\[u\]/(u² + 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second;

impl SourceGroup for First {
    type Compressed = [u8; 48];
    type Uncompressed = [u8; 96];
    const NAME: &'static str = "G1";
    const COMPRESSED: [u8; 48] = [0; 48];
    const UNCOMPRESSED: [u8; 96] = [0; 96];
    const DEGREE: usize = 1;
    const EFFECTIVE_COFACTOR: &'static [u64] = &[0xd201_0000_0001_0001];
}

impl SourceGroup for Second {
    type Compressed = [u8; 96];
    type Uncompressed = [u8; 192];
    const NAME: &'static str = "G2";
    const COMPRESSED: [u8; 96] = [0; 96];
    const UNCOMPRESSED: [u8; 192] = [0; 192];
    const DEGREE: usize = 2;
    const EFFECTIVE_COFACTOR: &'static [u64] = &[
        0xe802_0005_aaa9_5551,
        0x5989_4c0a_debb_f6b4,
        0xe954_cbc0_6689_f6a3,
        0x2ec0_ec69_d747_7c1a,
        0x6d82_bf01_5d12_12b0,
        0x329c_2f17_8731_db95,
        0x9986_ff03_1508_ffe1,
        0x88e2_a8e9_145a_d768,
        0x584c_6a0e_a91b_3528,
        0x0bc6_9f08_f2ee_75b3,
    ];
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::First {}
    impl Sealed for super::Second {}
}
