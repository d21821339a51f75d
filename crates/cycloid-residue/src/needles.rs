//! The needles of the search: every eight consecutive bytes of a secret, in all forms that numbers
//! have in memory.

use std::collections::HashMap;

use num_bigint::BigUint;

/// Sequences of eight bytes, with the names of their secrets.
#[derive(Default)]
pub(crate) struct Needles {
    windows: HashMap<u64, usize>,
    names: Vec<String>,
}

impl Needles {
    /// Adds bytes in both orders.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.add(format!("{name}, bytes"), bytes);
        let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
        self.add(format!("{name}, bytes reversed"), &reversed);
    }

    /// Adds bytes, also as the words of a hash function.
    pub(crate) fn hashed(&mut self, name: &str, bytes: &[u8]) {
        self.bytes(name, bytes);
        for size in [4, 8] {
            let swapped: Vec<u8> =
                bytes.chunks(size).flat_map(|word| word.iter().rev().copied()).collect();
            self.add(format!("{name}, words of {size} bytes"), &swapped);
        }
    }

    /// Adds a number in both byte orders, and in limbs of fewer bits.
    pub(crate) fn number(&mut self, name: &str, number: &BigUint) {
        self.bytes(name, &number.to_bytes_le());
        for bits in [51, 52, 56, 58] {
            self.add(format!("{name}, limbs of {bits} bits"), &limbs(number, bits));
        }
    }

    /// Adds a number and its Montgomery forms: times R = 2^(64·n) and 2^(52·m) modulo `modulus`.
    pub(crate) fn residue(&mut self, name: &str, number: &BigUint, modulus: &BigUint) {
        self.number(name, number);
        self.number(&format!("−{name}"), &((modulus - number % modulus) % modulus));
        for limb in [64, 52] {
            let least = modulus.bits().div_ceil(limb);
            for count in least..=least + 1 {
                let form = (number << (limb * count)) % modulus;
                self.number(&format!("{name}·2^({limb}·{count})"), &form);
            }
        }
    }

    /// Adds a prime of a key, and the precomputed values for products modulo it.
    pub(crate) fn prime(&mut self, name: &str, prime: &BigUint) {
        self.number(name, prime);
        self.number(&format!("{name} − 1"), &(prime - 1_u8));
        for limb in [64, 52] {
            let least = prime.bits().div_ceil(limb);
            for count in least..=least + 2 {
                let r = BigUint::from(1_u8) << (limb * count);
                self.number(&format!("2^({limb}·{count}) mod {name}"), &(&r % prime));
                self.number(&format!("2^(2·{limb}·{count}) mod {name}"), &(&r * &r % prime));
            }
            let r = BigUint::from(1_u8) << limb;
            let inverse = &r - prime.modinv(&r).expect("a prime is odd");
            self.number(&format!("−1/{name} mod 2^{limb}"), &inverse);
        }
    }

    /// Excludes public values from the search.
    pub(crate) fn public(&mut self, bytes: &[u8]) {
        let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
        for bytes in [bytes, &reversed] {
            for window in windows(bytes) {
                self.windows.remove(&window);
            }
        }
    }

    fn add(&mut self, name: String, bytes: &[u8]) {
        let index = self.names.len();
        self.names.push(name);
        for window in windows(bytes).filter(|window| tells(*window)) {
            self.windows.entry(window).or_insert(index);
        }
    }

    /// Returns the number of needles.
    pub(crate) fn len(&self) -> usize {
        self.windows.len()
    }

    /// Returns the name of the secret that eight bytes belong to.
    pub(crate) fn name(&self, window: u64) -> Option<&str> {
        self.windows.get(&window).map(|index| &*self.names[*index])
    }

    /// Returns a bitmap that quickly excludes most windows.
    pub(crate) fn sieve(&self) -> Sieve {
        let mut sieve = Sieve(vec![0; 1 << 10]);
        for window in self.windows.keys() {
            let (word, bit) = Sieve::place(*window);
            sieve.0[word] |= 1 << bit;
        }
        sieve
    }
}

pub(crate) struct Sieve(Vec<u64>);

impl Sieve {
    pub(crate) fn passes(&self, window: u64) -> bool {
        let (word, bit) = Self::place(window);
        self.0[word] >> bit & 1 == 1
    }

    fn place(window: u64) -> (usize, u32) {
        let hash = window.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        (hash as usize >> 6, hash as u32 & 63)
    }
}

/// Returns all sequences of eight consecutive bytes.
pub(crate) fn windows(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.windows(8).map(|window| u64::from_le_bytes(window.try_into().expect("eight")))
}

/// Returns whether eight bytes are distinctive: five of them differ. Others occur everywhere.
fn tells(window: u64) -> bool {
    let mut bytes = window.to_le_bytes();
    bytes.sort_unstable();
    1 + bytes.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 5
}

/// Returns limbs of this many bits in words.
fn limbs(number: &BigUint, bits: u64) -> Vec<u8> {
    let mask = (BigUint::from(1_u8) << bits) - 1_u8;
    (0..number.bits().div_ceil(bits))
        .flat_map(|i| {
            let limb = (number >> (i * bits)) & &mask;
            limb.to_u64_digits().first().copied().unwrap_or(0).to_le_bytes()
        })
        .collect()
}
