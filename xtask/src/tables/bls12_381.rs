//! The groups G1 and G2 of BLS12-381: y² = x³ + 4 over Fp, and y² = x³ + 4·(1 + u) over
//! Fp2 = Fp\[u\] / (u² + 1). An entry is (x, y), and an element of Fp2 is its coefficients of 1
//! and u.
//!
//! The tables are for scalars in parts, which endomorphisms multiply, and for digits from −2^(w−1)
//! to 2^(w−1): they hold all multiples from 1 to 2^(w−1).

use num_bigint::BigUint;

use super::multiples::{Form, Table, hex, subtract};

/// Bits of a window, and windows from one row to the next.
const WIDTH: usize = 6;
const SPACING: usize = 2;

const PRIME: &str = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffe\
                     b153ffffb9feffffffffaaab";

/// A group: the file, the degree of the field, the bits of a part of a scalar, and the generator,
/// with the coefficients of 1 and u of x and of y.
struct Group {
    file: &'static str,
    degree: usize,
    part_bits: usize,
    generator: [[&'static str; 2]; 2],
}

const GROUPS: [Group; 2] = [
    Group {
        file: "bls12_381.g1.bin",
        degree: 1,
        part_bits: 128,
        generator: [
            [
                "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83f\
                 f97a1aeffb3af00adb22c6bb",
                "0",
            ],
            [
                "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744\
                 a2888ae40caa232946c5e7e1",
                "0",
            ],
        ],
    },
    Group {
        file: "bls12_381.g2.bin",
        degree: 2,
        part_bits: 64,
        generator: [
            [
                "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326\
                 a805bbefd48056c8c121bdb8",
                "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf112\
                 13945d57e5ac7d055d042b7e",
            ],
            [
                "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc\
                 3baca289e193548608b82801",
                "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d27\
                 5cec1da1aaa9075ff05f79be",
            ],
        ],
    },
];

pub(super) fn tables() -> Vec<Table> {
    GROUPS.iter().map(Group::table).collect()
}

/// Coefficients of 1 and u.
type Fp2 = [BigUint; 2];
type Point = [Fp2; 2];

impl Group {
    fn table(&self) -> Table {
        let prime = hex(PRIME);
        // A digit needs the bit below its window.
        let rows = (self.part_bits + 1).div_ceil(WIDTH).div_ceil(SPACING);
        let mut coordinates = Vec::new();
        let mut base = self.generator();
        for _ in 0..rows {
            let mut multiple = base.clone();
            for _ in 0..1 << (WIDTH - 1) {
                coordinates.extend(multiple.iter().flat_map(|part| part[..self.degree].to_vec()));
                multiple = add(&multiple, &base, &prime);
            }
            for _ in 0..WIDTH * SPACING {
                base = add(&base, &base, &prime);
            }
        }
        let form = Form::one(6, true);
        Table { name: self.file, bytes: form.bytes(coordinates.into_iter().map(|it| [it]), &prime) }
    }

    fn generator(&self) -> Point {
        self.generator.map(|coordinate| coordinate.map(hex))
    }
}

/// Adds two points that are not opposites.
fn add([x1, y1]: &Point, [x2, y2]: &Point, p: &BigUint) -> Point {
    let slope = if x1 == x2 {
        let square = mul(x1, x1, p);
        divide(&plus(&plus(&square, &square, p), &square, p), &plus(y1, y1, p), p)
    } else {
        divide(&minus(y2, y1, p), &minus(x2, x1, p), p)
    };
    let x = minus(&mul(&slope, &slope, p), &plus(x1, x2, p), p);
    let y = minus(&mul(&slope, &minus(x1, &x, p), p), y1, p);
    [x, y]
}

fn plus(a: &Fp2, b: &Fp2, p: &BigUint) -> Fp2 {
    [0, 1].map(|i| (&a[i] + &b[i]) % p)
}

fn minus(a: &Fp2, b: &Fp2, p: &BigUint) -> Fp2 {
    [0, 1].map(|i| subtract(&a[i], &b[i], p))
}

fn mul(a: &Fp2, b: &Fp2, p: &BigUint) -> Fp2 {
    let real = subtract(&(&a[0] * &b[0] % p), &(&a[1] * &b[1] % p), p);
    [real, (&a[0] * &b[1] + &a[1] * &b[0]) % p]
}

/// Returns a / b, by the conjugate of b over its norm.
fn divide(a: &Fp2, b: &Fp2, p: &BigUint) -> Fp2 {
    let norm = (&b[0] * &b[0] + &b[1] * &b[1]) % p;
    let inverse = norm.modinv(p).expect("only 0 has the norm 0");
    let conjugate = [b[0].clone(), subtract(&BigUint::ZERO, &b[1], p)];
    mul(a, &conjugate, p).map(|part| part * &inverse % p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_on_their_curves() {
        let p = hex(PRIME);
        for group in &GROUPS {
            let [x, y] = group.generator();
            let b = [4u8, if group.degree == 2 { 4 } else { 0 }].map(BigUint::from);
            let right = plus(&mul(&mul(&x, &x, &p), &x, &p), &b, &p);
            assert_eq!(mul(&y, &y, &p), right, "{}", group.file);
        }
    }

    #[test]
    fn addition_and_doubling_agree() {
        let p = hex(PRIME);
        for group in &GROUPS {
            let one = group.generator();
            let two = add(&one, &one, &p);
            let three = add(&two, &one, &p);
            assert_eq!(add(&three, &one, &p), add(&two, &two, &p), "{}", group.file);
        }
    }

    #[test]
    fn quotients_are_inverse_to_products() {
        let p = hex(PRIME);
        let [a, b] = GROUPS[1].generator();
        assert_eq!(mul(&divide(&a, &b, &p), &b, &p), a);
    }
}
