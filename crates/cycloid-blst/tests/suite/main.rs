//! Tests of BLS12-381 on every backend: one suite, generic over the trait and instantiated by
//! `on_every_backend!`.

mod checklist;
mod defaults;
mod differential;
mod eip2537;
mod encodings;
mod engine;
mod ethereum;
mod fields;
mod fourier;
mod groups;
mod hashing;
mod multi_scalar;
mod pairings;
mod permutation_vectors;
mod permutations;
mod polynomials;
mod prepared;
mod scalars;
mod signatures;
mod support;
mod thresholds;
mod wycheproof;
