//! Permutations compared with the papers' descriptions over arbitrary-precision integers, with
//! parameters generated anew.

use cycloid::bls12_381::permutation::{
    Anemoi, Anemoi2, Anemoi4, Anemoi6, Anemoi8, Griffin, Griffin3, Griffin4, Padding, Permutation,
    Poseidon, Poseidon3, Poseidon5, Raised, Rescue, Rescue3,
};
use cycloid::bls12_381::{Backend, Error, Fr};
use num_bigint::BigUint;
use shake::digest::{ExtendableOutput, Update, XofReader};
use shake::{Shake128, Shake256};

use crate::support::{Generator, edge_integers, integer, on_every_backend, order, scalar};

on_every_backend!(
    poseidon,
    poseidon_with_given_constants,
    rescue,
    griffin,
    anemoi,
    anemoi_first_version,
    jive,
    sponges,
    wrong_lengths,
);

type Numbers = Vec<BigUint>;

fn number(value: usize) -> BigUint {
    BigUint::from(value)
}

fn power(base: &BigUint, exponent: usize) -> BigUint {
    base.modpow(&number(exponent), &order())
}

fn inverse(value: &BigUint) -> BigUint {
    value.modpow(&(order() - 2_u32), &order())
}

/// Returns the fifth root by its definition: the exponent that 5 inverts modulo r − 1.
fn fifth_root(value: &BigUint) -> BigUint {
    let group = order() - 1_u32;
    let exponent = (1..5_u32).map(|k| &group * k + 1_u32).find(|sum| (sum % 5_u32).bits() == 0);
    value.modpow(&(exponent.expect("5 does not divide r - 1") / 5_u32), &order())
}

fn difference(a: &BigUint, b: &BigUint) -> BigUint {
    (a + order() - b % order()) % order()
}

fn product(matrix: &[Numbers], state: &[BigUint]) -> Numbers {
    let row = |row: &Numbers| row.iter().zip(state).map(|(a, b)| a * b).sum::<BigUint>() % order();
    matrix.iter().map(row).collect()
}

fn sum(state: &[BigUint], constants: &[BigUint]) -> Numbers {
    state.iter().zip(constants).map(|(a, b)| (a + b) % order()).collect()
}

/// Returns states with edge cases in every place, and random ones.
fn states<B: Backend, const T: usize>() -> Vec<[Fr<B>; T]> {
    let mut numbers: Vec<BigUint> = edge_integers();
    numbers.retain(|number| *number < order());
    let mut states = vec![
        [Fr::ZERO; T],
        [Fr::ONE; T],
        [-Fr::ONE; T],
        core::array::from_fn(|i| Fr::from(i as u64)),
    ];
    let mut at = 0;
    while states.len() < 17 {
        states.push(core::array::from_fn(|_| {
            at += 7;
            scalar(&numbers[at % numbers.len()])
        }));
    }
    let mut rng = Generator(71);
    states.push(core::array::from_fn(|_| Fr::random(&mut rng).expect("a sound generator")));
    states
}

/// Compares a permutation of one state and of several with a model.
fn check<B: Backend, P: Permutation<T, B>, const T: usize>(
    permutation: &P,
    model: impl Fn(Numbers) -> Numbers,
) {
    let states = states::<B, T>();
    let expected: Vec<[Fr<B>; T]> = states
        .iter()
        .map(|state| {
            let permuted = model(state.iter().map(integer).collect());
            assert_eq!(permuted.len(), T);
            core::array::from_fn(|i| scalar(&permuted[i]))
        })
        .collect();
    for (state, expected) in states.iter().zip(&expected) {
        let mut state = *state;
        permutation.permute(&mut state);
        assert_eq!(state, *expected);
    }
    for count in [0, 1, 2, 7, 8, 9, states.len()] {
        let mut several = states[..count].to_vec();
        permutation.permute_each(&mut several);
        assert_eq!(several, expected[..count], "{count}");
    }
}

/// Poseidon's generator, bit by bit.
struct Grain(Vec<bool>);

impl Grain {
    fn new(width: usize, full: usize, partial: usize) -> Self {
        let mut bits = Vec::new();
        for (number, length) in
            [(1, 2), (0, 4), (255, 12), (width, 12), (full, 10), (partial, 10), ((1 << 30) - 1, 30)]
        {
            bits.extend((0..length).rev().map(|bit| number >> bit & 1 == 1));
        }
        let mut grain = Self(bits);
        (0..160).for_each(|_| _ = grain.step());
        grain
    }

    fn step(&mut self) -> bool {
        let bit = [62, 51, 38, 23, 13, 0].iter().fold(false, |sum, tap| sum ^ self.0[*tap]);
        self.0.remove(0);
        self.0.push(bit);
        bit
    }

    fn integer(&mut self) -> BigUint {
        let mut integer = BigUint::ZERO;
        let mut left = 255;
        while left > 0 {
            let (selects, bit) = (self.step(), self.step());
            if selects {
                integer = integer * 2_u32 + u32::from(bit);
                left -= 1;
            }
        }
        integer
    }
}

fn poseidon<B: Backend>() {
    poseidon_of::<B, 2, 8, 56>(&Poseidon::generate());
    poseidon_of::<B, 3, 8, 57>(&Poseidon3::generate());
    poseidon_of::<B, 5, 8, 60>(&Poseidon5::generate());
    // More products than are reduced at a time.
    poseidon_of::<B, 17, 2, 1>(&Poseidon::generate());
}

fn poseidon_of<B: Backend, const T: usize, const FULL: usize, const PARTIAL: usize>(
    poseidon: &Poseidon<T, FULL, PARTIAL, B>,
) {
    let mut grain = Grain::new(T, FULL, PARTIAL);
    let mut constants = Vec::new();
    while constants.len() < T * (FULL + PARTIAL) {
        constants.push(grain.integer());
        if constants[constants.len() - 1] >= order() {
            constants.pop();
        }
    }
    let points: Numbers = (0..2 * T).map(|_| grain.integer()).collect();
    let (x, y) = points.split_at(T);
    let matrix: Vec<Numbers> =
        x.iter().map(|x| y.iter().map(|y| inverse(&(x + y))).collect()).collect();
    check(poseidon, |state| poseidon_model::<FULL>(state, &constants, &matrix, 0));
}

fn poseidon_model<const FULL: usize>(
    mut state: Numbers,
    constants: &[BigUint],
    matrix: &[Numbers],
    raised: usize,
) -> Numbers {
    let width = state.len();
    let rounds = constants.len() / width;
    for (round, constants) in constants.chunks(width).enumerate() {
        state = sum(&state, constants);
        let full = round < FULL / 2 || round >= rounds - FULL / 2;
        for (i, x) in state.iter_mut().enumerate() {
            if full || i == raised {
                *x = power(x, 5);
            }
        }
        state = product(matrix, &state);
    }
    state
}

fn poseidon_with_given_constants<B: Backend>() {
    let numbers: Vec<Fr<B>> = states::<B, 4>().as_flattened().to_vec();
    let constants: Vec<[Fr<B>; 3]> = numbers.chunks_exact(3).take(7).map(copy).collect();
    let matrix: [[Fr<B>; 3]; 3] = core::array::from_fn(|i| copy(&numbers[30 + 3 * i..][..3]));
    let integers: Numbers = constants.as_flattened().iter().map(integer).collect();
    let rows: Vec<Numbers> = matrix.iter().map(|row| row.iter().map(integer).collect()).collect();
    for (raised, place) in [(Raised::First, 0), (Raised::Last, 2)] {
        let poseidon = Poseidon::<3, 4, 3, B>::from_constants(&constants, matrix, raised);
        let poseidon = poseidon.expect("seven rounds");
        check(&poseidon, |state| poseidon_model::<4>(state, &integers, &rows, place));
    }
    // No partial rounds; and a matrix with zeros where an elimination divides.
    let poseidon = Poseidon::<3, 4, 0, B>::from_constants(&constants[..4], matrix, Raised::First);
    check(&poseidon.expect("four rounds"), |state| {
        poseidon_model::<4>(state, &integers[..12], &rows, 0)
    });
    let swap = [[3, 1, 4], [1, 0, 5], [9, 2, 0]].map(|row| row.map(Fr::<B>::from));
    let swap_rows: Vec<Numbers> =
        swap.iter().map(|row| row.iter().map(integer).collect()).collect();
    let poseidon = Poseidon::<3, 4, 3, B>::from_constants(&constants, swap, Raised::First);
    check(&poseidon.expect("seven rounds"), |state| {
        poseidon_model::<4>(state, &integers, &swap_rows, 0)
    });
    // Without its first row and column, the matrix has no inverse.
    let singular = [[3, 1, 4], [1, 2, 6], [9, 1, 3]].map(|row| row.map(Fr::<B>::from));
    let result = Poseidon::<3, 4, 3, B>::from_constants(&constants, singular, Raised::First);
    assert_eq!(result.map(drop), Err(Error::Zero));
    let error = Error::Counts { first: 7, other: 6 };
    let result = Poseidon::<3, 4, 3, B>::from_constants(&constants[..6], matrix, Raised::First);
    assert_eq!(result.map(drop), Err(error));
}

fn copy<B: Backend, const T: usize>(elements: &[Fr<B>]) -> [Fr<B>; T] {
    elements.try_into().expect("as many")
}

fn rescue<B: Backend>() {
    rescue_of::<B, 2, 20>(&Rescue::generate(1, 128), 1, 128);
    rescue_of::<B, 3, 14>(&Rescue3::generate(1, 128), 1, 128);
    rescue_of::<B, 4, 2>(&Rescue::generate(2, 80), 2, 80);
    let constants = [[[Fr::<B>::from(3)]; 2]; 1];
    check(&Rescue::<1, 1, B>::from_constants(constants, [[Fr::from(2)]]), |state| {
        let middle = power(&state[0], 5) * 2_u32 + 3_u32;
        vec![(fifth_root(&middle) * 2_u32 + 3_u32) % order()]
    });
}

fn rescue_of<B: Backend, const T: usize, const ROUNDS: usize>(
    rescue: &Rescue<T, ROUNDS, B>,
    capacity: usize,
    security: usize,
) {
    let seed = format!("Rescue-XLIX({},{T},{capacity},{security})", order());
    let mut reader = Shake256::default().chain(seed.as_bytes()).finalize_xof();
    let constants: Numbers = (0..2 * T * ROUNDS)
        .map(|_| {
            let mut bytes = [0; 33];
            reader.read(&mut bytes);
            BigUint::from_bytes_le(&bytes) % order()
        })
        .collect();
    let seven = number(7);
    let mut rows: Vec<Numbers> =
        (0..T).map(|i| (0..2 * T).map(|j| power(&seven, i * j)).collect()).collect();
    // The reduced echelon form, by elimination.
    for pivot in 0..T {
        let factor = inverse(&rows[pivot][pivot]);
        rows[pivot].iter_mut().for_each(|entry| *entry = &*entry * &factor % order());
        let row = rows[pivot].clone();
        for (i, other) in rows.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
            let factor = other[pivot].clone();
            for (entry, above) in other.iter_mut().zip(&row) {
                *entry = difference(entry, &(above * &factor));
            }
            assert_ne!(i, pivot);
        }
    }
    let matrix: Vec<Numbers> =
        (0..T).map(|i| rows.iter().map(|row| row[T + i].clone()).collect()).collect();
    check(rescue, |mut state| {
        for (half, constants) in constants.chunks(T).enumerate() {
            let raise = |x: &BigUint| if half % 2 == 0 { power(x, 5) } else { fifth_root(x) };
            state =
                sum(&product(&matrix, &state.iter().map(raise).collect::<Numbers>()), constants);
        }
        state
    });
}

fn griffin<B: Backend>() {
    griffin_of::<B, 3, 12>(&Griffin3::generate());
    griffin_of::<B, 4, 11>(&Griffin4::generate());
    griffin_of::<B, 12, 3>(&Griffin::generate());
}

/// Returns circ(2, 1, 1); circ(3, 2, 1, 1) for four; or that in blocks, doubled on the diagonal.
fn griffin_matrix(width: usize) -> Vec<Numbers> {
    let entry = |i: usize, j: usize| {
        if width == 3 {
            return if i == j { 2 } else { 1 };
        }
        let entry = [3, 2, 1, 1][(j + 4 - i % 4) % 4];
        if width > 4 && i / 4 == j / 4 { 2 * entry } else { entry }
    };
    (0..width).map(|i| (0..width).map(|j| number(entry(i, j))).collect()).collect()
}

fn griffin_of<B: Backend, const T: usize, const ROUNDS: usize>(griffin: &Griffin<T, ROUNDS, B>) {
    let mut bytes = b"Griffin".to_vec();
    bytes.extend(order().to_bytes_le());
    let mut reader = Shake128::default().chain(&bytes).finalize_xof();
    let mut draw = || {
        loop {
            let mut bytes = [0; 32];
            reader.read(&mut bytes);
            let integer = BigUint::from_bytes_le(&bytes) % (number(1) << 255_u32);
            if integer < order() {
                return integer;
            }
        }
    };
    let mut constants: Numbers = (0..T * (ROUNDS - 1)).map(|_| draw()).collect();
    constants.extend((0..T).map(|_| BigUint::ZERO));
    let (alpha, beta) = loop {
        let (alpha, beta) = (draw(), draw());
        // A quadratic without zeros.
        let discriminant = difference(&(&alpha * &alpha), &(&beta * 4_u32));
        if discriminant.modpow(&(order() >> 1_u32), &order()) == order() - 1_u32 {
            break (alpha, beta);
        }
    };
    let matrix = griffin_matrix(T);
    check(griffin, |state| {
        let mut state = product(&matrix, &state);
        for constants in constants.chunks(T) {
            let mut y = vec![fifth_root(&state[0]), power(&state[1], 5)];
            for i in 2..T {
                let before = if i == 2 { BigUint::ZERO } else { state[i - 1].clone() };
                let l = number(i - 1) * &y[0] + &y[1] + before;
                let linear = number(i - 1) * &alpha * &l;
                let quadratic = &l * &l + linear + number((i - 1) * (i - 1)) * &beta;
                y.push(&state[i] * quadratic % order());
            }
            state = sum(&product(&matrix, &y), constants);
        }
        state
    });
}

fn anemoi<B: Backend>() {
    anemoi_of::<B, 2, 21>(&Anemoi2::generate(), true);
    anemoi_of::<B, 4, 14>(&Anemoi4::generate(), true);
    anemoi_of::<B, 6, 12>(&Anemoi6::generate(), true);
    anemoi_of::<B, 8, 12>(&Anemoi8::generate(), true);
}

fn anemoi_first_version<B: Backend>() {
    anemoi_of::<B, 2, 19>(&Anemoi::generate_first_version(), false);
    anemoi_of::<B, 4, 12>(&Anemoi::generate_first_version(), false);
    anemoi_of::<B, 6, 10>(&Anemoi::generate_first_version(), false);
    anemoi_of::<B, 8, 10>(&Anemoi::generate_first_version(), false);
}

/// Returns the matrix of a row, as the paper prints it, for the generator g = 7.
fn anemoi_matrix(columns: usize) -> Vec<Numbers> {
    let g = 7;
    let rows: Vec<Vec<usize>> = match columns {
        1 => vec![vec![1]],
        2 => vec![vec![1, g], vec![g, g * g + 1]],
        3 => vec![vec![g + 1, 1, g + 1], vec![1, 1, g], vec![g, 1, 1]],
        _ => vec![
            vec![1, 1 + g, g, g],
            vec![g * g, g + g * g, 1 + g, 1 + 2 * g],
            vec![g * g, g * g, 1, 1 + g],
            vec![1 + g, 1 + 2 * g, g, 1 + g],
        ],
    };
    rows.into_iter().map(|row| row.into_iter().map(number).collect()).collect()
}

fn anemoi_of<B: Backend, const T: usize, const ROUNDS: usize>(
    anemoi: &Anemoi<T, ROUNDS, B>,
    published: bool,
) {
    let columns = T / 2;
    let digits = [
        "1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679",
        "8214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196",
    ];
    let pi = digits.map(|digits| digits.parse::<BigUint>().expect("digits"));
    let delta = inverse(&number(7));
    let matrix = anemoi_matrix(columns);
    let linear = |state: Numbers| -> Numbers {
        let (x, y) = state.split_at(columns);
        if columns == 1 && !published {
            return product(&anemoi_matrix(2), &state);
        }
        let mut y = y.to_vec();
        y.rotate_left(1);
        let (mut x, mut y) = (product(&matrix, x), product(&matrix, &y));
        if published {
            y = sum(&y, &x);
            x = sum(&x, &y);
        }
        [x, y].concat()
    };
    check(anemoi, |mut state| {
        for round in 0..ROUNDS {
            for column in 0..columns {
                let (a, b) = (power(&pi[0], round), power(&pi[1], column));
                let fifth = power(&(&a + &b), 5);
                state[column] = (&state[column] + 7_u32 * &a * &a + &fifth) % order();
                let y = &mut state[columns + column];
                *y = (&*y + 7_u32 * &b * &b + fifth + &delta) % order();
            }
            state = linear(state);
            for column in 0..columns {
                // The open Flystel by its closed form: (x, y) and (u, v) with
                // x = (y − v)⁵ + 7·y² and u = (y − v)⁵ + 7·v² + 1/7.
                let (x, y) = (state[column].clone(), state[columns + column].clone());
                let fifth = difference(&x, &(7_u32 * &y * &y));
                let v = difference(&y, &fifth_root(&fifth));
                state[column] = (fifth + 7_u32 * &v * &v + &delta) % order();
                state[columns + column] = v;
            }
        }
        linear(state)
    });
}

fn jive<B: Backend>() {
    let anemoi = Anemoi4::<B>::generate();
    let states = states::<B, 4>();
    let mut halves = vec![[Fr::ZERO; 2]; states.len()];
    anemoi.compress_each(&states, &mut halves).expect("as many");
    let mut ones = vec![[Fr::ONE; 1]; states.len()];
    anemoi.compress_each(&states, &mut ones).expect("as many");
    for (state, (half, one)) in states.iter().zip(halves.iter().zip(&ones)) {
        let mut permuted = *state;
        anemoi.permute(&mut permuted);
        let sums: Vec<Fr<B>> = state.iter().zip(permuted).map(|(a, b)| *a + b).collect();
        assert_eq!(*half, [sums[0] + sums[2], sums[1] + sums[3]]);
        assert_eq!(*one, [sums[0] + sums[1] + sums[2] + sums[3]]);
        assert_eq!(anemoi.compress::<2>(state), *half);
        assert_eq!(anemoi.compress::<1>(state), *one);
    }
}

/// Compares the sponge with its description on padded blocks.
fn sponges<B: Backend>() {
    let poseidon = Poseidon::<4, 4, 3, B>::generate();
    let numbers: Vec<Fr<B>> = states::<B, 4>().as_flattened()[8..].to_vec();
    for padding in [Padding::Length, Padding::One] {
        let mut digests = Vec::new();
        for length in 0..=8 {
            // Zeros at the end distinguish a padding that does not.
            for input in [&numbers[..length], &[Fr::ZERO; 8][..length]] {
                for outputs in [0, 1, 2, 3, 4, 7] {
                    let mut output = vec![Fr::ONE; outputs];
                    poseidon.hash::<3>(padding, input, &mut output);
                    assert_eq!(output, sponge_model::<B>(&poseidon, padding, input, outputs));
                    if outputs == 3 {
                        digests.push(output);
                    }
                }
            }
        }
        // The empty input occurs twice.
        let all = digests.len();
        digests.sort_by_key(|digest| digest[0].to_bytes());
        digests.dedup();
        assert_eq!(digests.len(), all - 1, "{padding:?}");
    }
    // Another rate, with two elements of capacity.
    let mut output = [Fr::ZERO];
    poseidon.hash::<2>(Padding::Length, &numbers[..2], &mut output);
    let mut state = [numbers[0], numbers[1], scalar(&(number(2) << 64_u32)), Fr::ZERO];
    poseidon.permute(&mut state);
    assert_eq!(output[0], state[0]);
}

fn sponge_model<B: Backend>(
    poseidon: &Poseidon<4, 4, 3, B>,
    padding: Padding,
    input: &[Fr<B>],
    outputs: usize,
) -> Vec<Fr<B>> {
    let mut state = [Fr::ZERO; 4];
    let mut padded = input.to_vec();
    match padding {
        Padding::Length => {
            let length = number(input.len()) << 64_u32;
            // n·2⁶⁴ + m − 1; without output, m − 1 is 2⁶⁴ − 1.
            let other = (outputs as u64).wrapping_sub(1);
            state[3] = scalar(&(length + other));
        }
        Padding::One => padded.push(Fr::ONE),
    }
    while padded.is_empty() || !padded.len().is_multiple_of(3) {
        padded.push(Fr::ZERO);
    }
    for block in padded.chunks(3) {
        for (x, element) in state.iter_mut().zip(block) {
            *x += *element;
        }
        poseidon.permute(&mut state);
    }
    let mut output = Vec::new();
    while output.len() < outputs {
        if !output.is_empty() && output.len() % 3 == 0 {
            poseidon.permute(&mut state);
        }
        output.push(state[output.len() % 3]);
    }
    output
}

fn wrong_lengths<B: Backend>() {
    let anemoi = Anemoi2::<B>::generate();
    let result = anemoi.compress_each(&[[Fr::ONE; 2]; 3], &mut [[Fr::ZERO]; 2]);
    assert_eq!(result, Err(Error::Counts { first: 3, other: 2 }));
}
