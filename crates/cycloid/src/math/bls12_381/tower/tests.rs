//! The tower compared with its definition, on every backend.

use super::*;
use crate::machine::field::{Dense, Masks, Prime, WideTask};
use crate::machine::lanes;
use crate::machine::words;
use crate::math::field::MAX_WIDTH;

/// Checks the formulas against the definition, repeatedly, on coefficients of 0, 1, p − 1 and
/// arbitrary values, including those with the largest sums of products.
struct AgainstDefinition {
    times: usize,
}

/// Returns Σ aᵢ·bⱼ·w^(i + j), with w⁶ = ξ.
fn definition<A: Wide<Bls12Base>>(a: &Fp12<A>, b: &Fp12<A>) -> Fp12<A> {
    let mut sums = [Fp2::zero(a.arithmetic()); 6];
    for (a, i) in a.coefficients().into_iter().zip(POWERS) {
        for (b, j) in b.coefficients().into_iter().zip(POWERS) {
            let product = a.mul(b);
            let product = if i + j < 6 { product } else { product.mul_xi() };
            sums[(i + j) % 6] = Field::add(&sums[(i + j) % 6], &product);
        }
    }
    Fp12::from_coefficients(|i| sums[POWERS[i]])
}

impl WideTask<Bls12Base> for AgainstDefinition {
    type Output = ();

    fn run<A: Wide<Bls12Base>>(self, f: A) {
        let mut state: u64 = 1;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> 33
        };
        let mut largest = Bls12Base::MODULUS;
        largest[0] -= 1;
        let mut element = || {
            let mut memory = [[[[0; 6]; 2]; 6]; MAX_WIDTH];
            for words in memory.as_flattened_mut().as_flattened_mut() {
                *words = match random() % 8 {
                    0..3 => largest,
                    3..6 => [0; 6],
                    6 => [1, 0, 0, 0, 0, 0],
                    _ => [0; 6].map(|_| random() << 20),
                };
            }
            Fp12::import(f, &memory[..A::WIDTH])
        };
        for i in 0..self.times {
            let check = |what: &str, found: &Fp12<A>, expected: &Fp12<A>| {
                let equal = found.equal(expected);
                assert!((0..A::WIDTH).all(|w| equal.at(w).reveal()), "{} {what} {i}", A::NAME);
            };
            let (mut a, mut b) = (element(), element());
            if i == 0 {
                let every = Fp2::import(f, &[[largest; 2]; MAX_WIDTH][..A::WIDTH]);
                (a, b) = (Fp12::from_coefficients(|_| every), Fp12::from_coefficients(|_| every));
            }
            check("product", &a.mul(&b), &definition(&a, &b));
            check("square", &a.square(), &definition(&a, &a));
            let zero = Fp2::zero(f);
            let [b0, b1, b2, b3, b4, b5] = b.coefficients().map(|coefficient| *coefficient);
            let sparse = |[b0, b1, b4]: Line<A>| Fp12 {
                c0: Fp6 { c0: b0, c1: b1, c2: zero },
                c1: Fp6 { c0: zero, c1: b4, c2: zero },
            };
            let lines = [[b0, b1, b4], [b2, b3, b5]];
            let once = definition(&a, &sparse(lines[0]));
            check("line", &a.mul_by_line(&lines[0]), &once);
            let twice = definition(&once, &sparse(lines[1]));
            check("two lines", &a.mul_by_two_lines(&lines[0], &lines[1]), &twice);
            check("inverse", &definition(&a, &a.invert()), &Fp12::one(f));
            // Elements of the cyclotomic subgroup, including 1.
            let easy = a.conjugate().mul(&a.invert());
            let member =
                if i == 1 { Fp12::one(f) } else { easy.frobenius().frobenius().mul(&easy) };
            check("cyclotomic square", &member.square_cyclotomic(), &member.square());
            if A::WIDTH == 1 {
                // The formula, whether the element is a member or not.
                let mut memory = [[[[0; 6]; 2]; 6]; 2];
                a.export(&mut memory);
                let [words, square] = &mut memory;
                if f.square_cyclotomic_words(words, square) {
                    let square = Fp12::import(f, &[*square]);
                    check("cyclotomic square of words", &square, &a.square_cyclotomic());
                }
            }
            check("power", &member.pow_x(), &member.pow_x_by_squares());
        }
    }
}

#[test]
fn bls12_tower_against_its_definition() {
    for backend in words::Backend::available() {
        Bls12Base::run_one_wide(backend, AgainstDefinition { times: 300 });
    }
    for backend in lanes::tests::backends() {
        Bls12Base::run_eight_wide(backend, AgainstDefinition { times: 4 });
    }
}
