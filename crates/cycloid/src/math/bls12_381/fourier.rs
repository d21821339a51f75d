//! The discrete Fourier transform over Fr, in place: bᵢ = Σ aⱼ·ω^(ij).
//!
//! Decimation in time (Cooley and Tukey, 1965): after a permutation, log₂ n layers of butterflies
//! (a, b) ← (a + b·w, a − b·w). Up to four layers are computed while their values are loaded. Eight
//! lanes hold eight neighbours; in the first layers, where neighbours belong to one butterfly, they
//! hold one value from each of eight blocks.

use super::ScalarWords;
use crate::machine::field::{Bls12Scalar, Limbs, POINTS, Wide};
use crate::machine::lanes::LANES;
use crate::math::field::MAX_WIDTH;

/// The maximum number of layers computed at a time.
const LAYERS: u32 = 4;

const _: () = assert!(1 << LAYERS == POINTS);

/// A type that holds an element in memory.
pub(crate) trait Slot {
    fn words(&self) -> &ScalarWords;
    fn words_mut(&mut self) -> &mut ScalarWords;
}

impl Slot for ScalarWords {
    #[inline(always)]
    fn words(&self) -> &ScalarWords {
        self
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut ScalarWords {
        self
    }
}

/// The fewest values for which each of eight lanes has work in each layer.
pub(crate) const FEWEST_VALUES: usize = LANES * POINTS;

/// Transforms n = 2^k values; eight side by side need at least [`FEWEST_VALUES`]. `roots` are ω⁰,
/// ω¹, …, ω^(n/2−1). Time depends on n only.
pub(crate) fn transform<A: Wide<Bls12Scalar>, T: Slot>(f: A, values: &mut [T], roots: &[T]) {
    reverse_bits(values);
    let mut left = values.len().trailing_zeros();
    let mut half = 1;
    while left > 0 {
        // As few passes as possible, of lengths as equal as possible.
        let layers = left.div_ceil(left.div_ceil(LAYERS));
        match layers {
            1 => pass::<A, T, 1>(f, values, roots, half),
            2 => pass::<A, T, 2>(f, values, roots, half),
            3 => pass::<A, T, 3>(f, values, roots, half),
            _ => pass::<A, T, 4>(f, values, roots, half),
        }
        half <<= layers;
        left -= layers;
    }
}

/// Computes `K` layers, the first of which joins values `half` apart.
fn pass<A: Wide<Bls12Scalar>, T: Slot, const K: u32>(
    f: A,
    values: &mut [T],
    roots: &[T],
    half: usize,
) {
    let block = half << K;
    // Lanes hold neighbours with neighbouring roots, or the same place of different blocks.
    let neighbours = half >= A::WIDTH;
    let (lane_step, root_step, places) =
        if neighbours { (1, 1, half / A::WIDTH) } else { (block, 0, half) };
    let groups = (values.len() / A::WIDTH) >> K;
    f.run(
        #[inline(always)]
        || {
            let mut factors = [A::ZERO; POINTS];
            let mut factors_of = None;
            for group in 0..groups {
                // One number walks through memory in order; eight keep their roots, which are
                // costly to convert.
                let (at, place) = if A::WIDTH == 1 {
                    (group / places, group % places)
                } else {
                    (group % (groups / places), group / (groups / places))
                };
                let (first, place) = if neighbours {
                    (at * block, place * A::WIDTH)
                } else {
                    (at * block * A::WIDTH, place)
                };
                if factors_of.replace(place) != Some(place) {
                    for layer in 0..K {
                        let stride = (roots.len() / half) >> layer;
                        for i in 0..1 << layer {
                            let root = (place + i * half) * stride;
                            let words = read::<A, T>(roots, root, root_step * stride);
                            let words = words.map(|words| *words);
                            factors[(1 << layer) + i] = f.import(&words[..A::WIDTH]);
                        }
                    }
                }
                let mut points = [A::ZERO; POINTS];
                for (i, point) in points[..1 << K].iter_mut().enumerate() {
                    let words = read::<A, T>(values, first + place + i * half, lane_step);
                    *point = f.import_linear(words);
                }
                // If every lane has ω⁰, no product is needed.
                let one = place == 0 && (A::WIDTH == 1 || !neighbours);
                f.butterflies::<K>(&mut points, &factors, one);
                for (i, point) in points[..1 << K].iter().enumerate() {
                    let mut words = [ScalarWords::ZERO; MAX_WIDTH];
                    f.export_linear(point, &mut words[..A::WIDTH]);
                    write::<A, T>(&words, values, first + place + i * half, lane_step);
                }
            }
        },
    );
}

/// Returns a value for each lane, from `first` on, `step` apart.
#[inline(always)]
fn read<A: Wide<Bls12Scalar>, T: Slot>(
    from: &[T],
    first: usize,
    step: usize,
) -> [&ScalarWords; LANES] {
    let mut words = [from[first].words(); LANES];
    for (lane, words) in words[..A::WIDTH].iter_mut().enumerate() {
        *words = from[first + lane * step].words();
    }
    words
}

/// Writes the value of each lane to the place from which [`read`] reads it.
#[inline(always)]
fn write<A: Wide<Bls12Scalar>, T: Slot>(
    words: &[ScalarWords],
    to: &mut [T],
    first: usize,
    step: usize,
) {
    for (lane, words) in words[..A::WIDTH].iter().enumerate() {
        *to[first + lane * step].words_mut() = *words;
    }
}

/// Swaps the values at places whose bits are reversed.
pub(crate) fn reverse_bits<T>(values: &mut [T]) {
    let bits = values.len().trailing_zeros();
    if bits == 0 {
        return;
    }
    for i in 0..values.len() {
        let reversed = i.reverse_bits() >> (usize::BITS - bits);
        if i < reversed {
            values.swap(i, reversed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::machine::field::{Arithmetic, Dense, Prime, WideTask};
    use crate::machine::lanes;
    use crate::machine::words::{self, Portable};

    struct Transform<'a> {
        values: &'a mut [ScalarWords],
        roots: &'a [ScalarWords],
    }

    impl WideTask<Bls12Scalar> for Transform<'_> {
        type Output = ();

        fn run<A: Wide<Bls12Scalar>>(self, f: A) {
            transform(f, self.values, self.roots);
        }
    }

    fn mul(a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        Arithmetic::<Bls12Scalar>::mul(Portable, a, b)
    }

    fn add(a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        Arithmetic::<Bls12Scalar>::add(Portable, a, b)
    }

    /// Returns 1 and a 2^k-th root of unity in Montgomery form: 7^((r − 1)/2^k).
    fn root(k: u32) -> [ScalarWords; 2] {
        let one = Arithmetic::<Bls12Scalar>::load(Portable, &[[1, 0, 0, 0]]);
        let seven = Arithmetic::<Bls12Scalar>::load(Portable, &[[7, 0, 0, 0]]);
        let mut exponent = Bls12Scalar::MODULUS;
        exponent[0] -= 1;
        let mut root = one;
        for bit in (k as usize..256).rev() {
            root = mul(&root, &root);
            if exponent[bit / 64] >> (bit % 64) & 1 == 1 {
                root = mul(&root, &seven);
            }
        }
        [one, root]
    }

    /// Returns edge-case and other values, the roots, and the transform by definition.
    fn case(k: u32) -> (Vec<ScalarWords>, Vec<ScalarWords>, Vec<ScalarWords>) {
        let n = 1 << k;
        let [one, root] = root(k);
        let mut powers = vec![one];
        for i in 1..n {
            powers.push(mul(&powers[i - 1], &root));
        }
        let mut largest = Bls12Scalar::MODULUS;
        largest[0] -= 1;
        let mut state = root;
        let values: Vec<ScalarWords> = (0..n)
            .map(|i| match i % 5 {
                0 => largest,
                3 => [(i / 4) as u64 % 2, 0, 0, 0],
                _ => {
                    state = add(&mul(&state, &state), &one);
                    state
                }
            })
            .collect();
        let expected = (0..n)
            .map(|i| {
                let terms = values.iter().enumerate().map(|(j, v)| mul(v, &powers[i * j % n]));
                terms.fold([0; 4], |sum, term| add(&sum, &term))
            })
            .collect();
        powers.truncate(n / 2);
        (values, powers, expected)
    }

    #[test]
    fn one_after_the_other() {
        for k in 0..=8 {
            let (values, roots, expected) = case(k);
            for backend in words::Backend::available() {
                let mut values = values.clone();
                Bls12Scalar::run_one_wide(
                    backend,
                    Transform { values: &mut values, roots: &roots },
                );
                assert_eq!(values, expected, "{} {k}", backend.name());
            }
        }
    }

    #[test]
    fn eight_side_by_side() {
        for k in FEWEST_VALUES.trailing_zeros()..10 {
            let (values, roots, expected) = case(k);
            for backend in lanes::tests::backends() {
                let mut values = values.clone();
                let task = Transform { values: &mut values, roots: &roots };
                Bls12Scalar::run_eight_wide(backend, task);
                assert_eq!(values, expected, "{} {k}", backend.name());
            }
        }
    }
}
