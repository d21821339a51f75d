//! Tables of multiples of the generators, as `cargo xtask tables` writes them: little-endian limbs of
//! 64 bits.

use crate::machine::words::{LIMB_BYTES, Limb};

/// The limbs of a file.
const fn limbs<const N: usize>(bytes: &[u8]) -> [Limb; N] {
    assert!(bytes.len() == N * LIMB_BYTES);
    let (chunks, _) = bytes.as_chunks::<LIMB_BYTES>();
    let mut limbs = [0; N];
    let mut i = 0;
    while i < N {
        limbs[i] = Limb::from_le_bytes(chunks[i]);
        i += 1;
    }
    limbs
}

macro_rules! tables {
    ($($name:ident $file:literal)+) => {$(
        pub(super) static $name: [Limb; include_bytes!($file).len() / LIMB_BYTES] =
            limbs(include_bytes!($file));
    )+};
}

tables! {
    P224_ONE "p224.one.bin"
    P224_EIGHT "p224.eight.bin"
    P256_ONE "p256.one.bin"
    P256_EIGHT "p256.eight.bin"
    P384_ONE "p384.one.bin"
    P384_EIGHT "p384.eight.bin"
    P521_ONE "p521.one.bin"
    P521_EIGHT "p521.eight.bin"
}
