//! What the library's operations run on, in words.

use cycloid::machine::lanes;
use cycloid::machine::words;
use cycloid::modular;

/// One number in limbs of 64 bits.
pub(super) fn words() -> String {
    words::Backend::best().name().into()
}

/// One exponentiation with a modulus of `limbs` limbs and enough scratch.
pub(super) fn one(limbs: usize) -> String {
    let across = lanes::Backend::best().filter(|_| modular::pow_is_across_lanes(limbs));
    across.map_or_else(words, |lanes| format!("{}, one number across the lanes", lanes.name()))
}

/// Eight at once; without a backend for that, they are done one after the other.
pub(super) fn eight() -> String {
    lanes::Backend::best()
        .map_or_else(|| format!("{}, one after the other", words()), |lanes| lanes.name().into())
}
