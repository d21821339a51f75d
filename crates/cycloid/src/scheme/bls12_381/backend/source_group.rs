//! The two source groups of the pairing, as types.

/// The two source groups, as types.
pub trait SourceGroup: private::Sealed + Copy + Send + Sync + 'static {
    /// A coordinate, or a compressed point: big-endian, for Fp2 with the coefficient of u first.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// Two coordinates: an uncompressed point.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Send + Sync;

    /// The name of the group.
    const NAME: &'static str;

    /// All zeros.
    const COMPRESSED: Self::Compressed;

    /// All zeros.
    const UNCOMPRESSED: Self::Uncompressed;

    /// The degree of a coordinate's field over Fp.
    const DEGREE: usize;
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
}

impl SourceGroup for Second {
    type Compressed = [u8; 96];
    type Uncompressed = [u8; 192];
    const NAME: &'static str = "G2";
    const COMPRESSED: [u8; 96] = [0; 96];
    const UNCOMPRESSED: [u8; 192] = [0; 192];
    const DEGREE: usize = 2;
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::First {}
    impl Sealed for super::Second {}
}
