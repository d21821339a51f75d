//! Grain as a generator of Poseidon's parameters (Poseidon, appendix E): a linear feedback
//! shift register of 80 bits, in self-shrinking mode. Everything is public.

use super::super::Fr;
use super::super::backend::{Integer, Scalars};

/// Bits of an element.
const BITS: usize = 255;

/// The register: the oldest bit is the lowest.
pub(super) struct Grain(u128);

impl Grain {
    /// Starts for a prime field, the power x⁵, and a shape.
    pub(super) fn new(width: usize, full_rounds: usize, partial_rounds: usize) -> Self {
        let mut register = Register { bits: 0, length: 0 };
        register.push(1, 2); // a prime field
        register.push(0, 4); // a power of x
        register.push(BITS, 12);
        register.push(width, 12);
        register.push(full_rounds, 10);
        register.push(partial_rounds, 10);
        register.push((1 << 30) - 1, 30);
        let mut grain = Self(register.bits);
        for _ in 0..160 {
            grain.step();
        }
        grain
    }

    /// Draws an element; integers that are r or more are skipped.
    pub(super) fn element<B: Scalars>(&mut self) -> Fr<B> {
        loop {
            if let Ok(element) = Fr::from_integer(&self.integer()) {
                return element;
            }
        }
    }

    /// Draws a Cauchy matrix: 1/(xᵢ + yⱼ) for distinct numbers, here reduced modulo r.
    pub(super) fn matrix<B: Scalars, const T: usize>(&mut self) -> [[Fr<B>; T]; T] {
        loop {
            let mut reduced = || {
                let mut bytes = [0; 32];
                for (bytes, limb) in bytes.chunks_exact_mut(8).zip(self.integer()) {
                    bytes.copy_from_slice(&limb.to_le_bytes());
                }
                Fr::<B>::from_bytes_wide(&bytes)
            };
            let x: [Fr<B>; T] = core::array::from_fn(|_| reduced());
            let y: [Fr<B>; T] = core::array::from_fn(|_| reduced());
            let all = || x.iter().chain(&y);
            if all().enumerate().any(|(i, a)| all().skip(i + 1).any(|b| a == b)) {
                continue;
            }
            let matrix = x.map(|x| y.map(|y| (x + y).invert_vartime()));
            if matrix.as_flattened().iter().all(Option::is_some) {
                return matrix.map(|row| row.map(Option::unwrap_or_default));
            }
        }
    }

    /// Draws an integer of 255 bits, the highest first.
    fn integer(&mut self) -> Integer {
        let mut integer = [0; 4];
        for bit in (0..BITS).rev() {
            integer[bit / 64] |= self.bit() << (bit % 64);
        }
        integer
    }

    /// Returns the bit after the next 1, and skips those after a 0.
    fn bit(&mut self) -> u64 {
        while self.step() == 0 {
            self.step();
        }
        self.step()
    }

    fn step(&mut self) -> u64 {
        let taps = [0, 13, 23, 38, 51, 62];
        let bit = taps.iter().fold(0, |sum, tap| sum ^ self.0 >> tap & 1);
        self.0 = self.0 >> 1 | bit << 79;
        bit as u64
    }
}

/// The initial contents, while they are assembled.
struct Register {
    bits: u128,
    length: usize,
}

impl Register {
    /// Appends the lowest bits of a number, the highest of them first.
    fn push(&mut self, number: usize, bits: usize) {
        for bit in (0..bits).rev() {
            self.bits |= ((number >> bit & 1) as u128) << self.length;
            self.length += 1;
        }
    }
}
