//! Inputs that break arithmetic, and the comparison of both libraries.

use core::fmt::Debug;

/// Deterministic pseudorandom numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.next() as u8)
    }
}

pub(crate) const P: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];
const R: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

fn less<const N: usize>(a: [u64; N], by: u64) -> [u64; N] {
    let mut a = a;
    a[0] -= by;
    a
}

/// Elements of Fp in Montgomery form: any words below p are.
pub(crate) fn fps(random: &mut Random) -> Vec<[u64; 6]> {
    let mut all =
        vec![[0; 6], [1, 0, 0, 0, 0, 0], less(P, 1), less(P, 2), [u64::MAX, u64::MAX, 0, 0, 0, 0]];
    all.push({
        let mut high = P;
        high[5] -= 1;
        high[..5].fill(u64::MAX);
        high
    });
    for _ in 0..6 {
        all.push(core::array::from_fn(|i| if i == 5 { random.next() >> 4 } else { random.next() }));
    }
    all
}

pub(crate) fn frs(random: &mut Random) -> Vec<[u64; 4]> {
    let mut all = vec![[0; 4], [1, 0, 0, 0], less(R, 1), less(R, 2), [u64::MAX, u64::MAX, 0, 0]];
    for _ in 0..6 {
        all.push(core::array::from_fn(|i| if i == 3 { random.next() >> 2 } else { random.next() }));
    }
    all
}

/// Integers of 256 bits, also r and more.
pub(crate) fn scalars(random: &mut Random) -> Vec<[u8; 32]> {
    let bytes = |limbs: [u64; 4]| {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.try_into().expect("32 bytes")
    };
    let mut all: Vec<[u8; 32]> = frs(random)
        .into_iter()
        .chain([R, [u64::MAX; 4], [R[0] + 1, R[1], R[2], R[3]]])
        .map(bytes)
        .collect();
    all.push(random.bytes());
    all
}

/// Runs a function of both libraries that writes a result of type `T`, and compares.
pub(crate) fn same<T: Copy + PartialEq + Debug>(
    name: &str,
    start: T,
    a: impl FnOnce(*mut T),
    b: impl FnOnce(*mut T),
) -> T {
    let (mut first, mut second) = (start, start);
    a(&mut first);
    b(&mut second);
    assert_eq!(first, second, "{name}");
    first
}
