//! Describes the backends that run the library's operations.

use cycloid::internals::lanes;
use cycloid::internals::words;
use cycloid::modular;

/// Describes the backend of one number in limbs of 64 bits.
pub fn words() -> String {
    words::Backend::best().name().into()
}

/// Describes the backend of one exponentiation with a modulus of `limbs` limbs and enough scratch.
pub fn one(limbs: usize) -> String {
    let across = lanes::Backend::best().filter(|_| modular::pow_is_across_lanes(limbs));
    across.map_or_else(words, |lanes| format!("{}, one number across the lanes", lanes.name()))
}

/// Describes the backend of eight operations in one call; without a suitable backend they run one
/// after the other.
pub fn eight() -> String {
    lanes::Backend::best()
        .map_or_else(|| format!("{}, one after the other", words()), |lanes| lanes.name().into())
}
