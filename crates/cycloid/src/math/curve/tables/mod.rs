//! Multiples of the curves' base points, computed by `cargo xtask tables`, which documents their
//! layout. CI recomputes and compares them.
//!
//! The features `large-tables` and `small-tables` choose those for one number; the linker leaves
//! out the others.

/// Windows of edwards25519: 51 of five bits, with sixteen odd multiples each, of three coordinates.
pub(crate) static EDWARDS25519_BASE_ONE: [u64; 51 * 16 * 3 * 4] =
    words(include_bytes!("edwards25519.base.one.bin"));
pub(crate) static EDWARDS25519_BASE_EIGHT: [u64; 51 * 16 * 3 * 5] =
    words(include_bytes!("edwards25519.base.eight.bin"));

/// The windows of five bits at places 0, 17 and 34.
pub(crate) static EDWARDS25519_BASE_SMALL: [u64; 3 * 16 * 3 * 4] =
    words(include_bytes!("edwards25519.base.small.bin"));

/// The 64 odd multiples of edwards25519's base point for a window of seven bits.
pub(crate) static EDWARDS25519_ODD_ONE: [u64; 64 * 3 * 4] =
    words(include_bytes!("edwards25519.odd.one.bin"));
pub(crate) static EDWARDS25519_ODD_EIGHT: [u64; 64 * 3 * 5] =
    words(include_bytes!("edwards25519.odd.eight.bin"));

/// Declares the tables of the SP 800-186 curves: odd multiples at the places of `BaseTable`.
macro_rules! weierstrass {
    ($($name:ident $file:literal)+) => {$(
        pub(super) static $name: [u64; include_bytes!($file).len() / 8] =
            words(include_bytes!($file));
    )+};
}

weierstrass! {
    P224_ONE "p224.one.bin"
    P224_SMALL "p224.small.bin"
    P224_EIGHT "p224.eight.bin"
    P256_ONE "p256.one.bin"
    P256_SMALL "p256.small.bin"
    P256_NARROW "p256.narrow.bin"
    P256_EIGHT "p256.eight.bin"
    P384_ONE "p384.one.bin"
    P384_SMALL "p384.small.bin"
    P384_EIGHT "p384.eight.bin"
    P521_ONE "p521.one.bin"
    P521_SMALL "p521.small.bin"
    P521_EIGHT "p521.eight.bin"
}

/// The generators of BLS12-381: eleven rows in G1 and six in G2, of 32 multiples each.
#[cfg(feature = "bls12-381")]
pub(crate) static BLS12_381_G1: [u64; 11 * 32 * 2 * 6] = words(include_bytes!("bls12_381.g1.bin"));
#[cfg(feature = "bls12-381")]
pub(crate) static BLS12_381_G2: [u64; 6 * 32 * 4 * 6] = words(include_bytes!("bls12_381.g2.bin"));

/// Returns the words of a file, which must have `N` of them.
const fn words<const N: usize>(file: &[u8]) -> [u64; N] {
    let (chunks, rest) = file.as_chunks();
    assert!(chunks.len() == N && rest.is_empty(), "the file has another size");
    let mut words = [0; N];
    let mut i = 0;
    while i < N {
        words[i] = u64::from_le_bytes(chunks[i]);
        i += 1;
    }
    words
}

/// The size of the tables for one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The fastest sums.
    Large,
    /// A few kilobytes a curve.
    Small,
    /// No tables: the base point is multiplied like any other point.
    None,
}

/// The size that the features choose.
pub(crate) const SIZE: Size = if cfg!(feature = "large-tables") {
    Size::Large
} else if cfg!(feature = "small-tables") {
    Size::Small
} else {
    Size::None
};
