//! Statistical end-to-end test that decryption time reveals nothing about the plaintext, on the
//! processor's own backend.
//!
//! Ciphertexts with valid padding, and with various kinds of invalid padding, are decrypted
//! alternately in random order, so that disturbances affect all of them alike. Welch's t-test
//! compares the mean times of two classes, on all measurements below a percentile of both together
//! (Reparaz, Balasch and Verbauwhede, Dude, is my code constant time?, 2017). A busy machine
//! occasionally causes a difference, so a pair of classes counts as different only if several runs
//! agree. Each comparison states the smallest difference that it would have found, and a test
//! plants exactly that difference.

mod support;

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Context, Oaep, PrivateKey, context_limbs, generate_scratch_limbs, private_key_limbs,
};
use num_bigint::BigUint;
use rand_core::Rng;
use sha2::{Digest, Sha256};
use support::Generator;

const BITS: usize = 2048;
const LENGTH: usize = BITS / 8;

/// Ciphertexts per class; each round uses one of them.
const VARIANTS: usize = 32;

/// Measurements per class in a run.
const ROUNDS: usize = 600;

/// Warm-up rounds before the first counted one.
const WARM_UP: usize = 50;

/// Number of runs that must all find a difference between the same classes.
const RUNS: usize = 3;

/// The amount by which |t| exceeds the threshold for a difference that counts as detectable: noise
/// hides such a difference from one run in tens of thousands.
const MARGIN: f64 = 4.0;

/// Attempts to plant a difference that is detectable in the same run: the machine may become busier
/// from one run to the next.
const ATTEMPTS: usize = 20;

/// The |t| above which two means are considered different: exceeded by chance once in millions of
/// comparisons.
const THRESHOLD: f64 = 5.0;

/// Percentiles below which measurements are compared.
const PERCENTILES: [usize; 4] = [30, 60, 85, 97];

/// Prevents measuring tests from running in parallel.
static ALONE: Mutex<()> = Mutex::new(());

type Encoded = [u8; LENGTH];

/// The context that decrypts, with the generator for its blinding.
type Decrypter<'a> = Context<'a, Vec<u64>, Generator>;

/// A class of ciphertexts, defined by their encoded messages.
struct Class {
    name: &'static str,
    ciphertexts: Vec<Vec<u8>>,
}

struct Subject {
    key: PrivateKey<Vec<u64>>,
    modulus: BigUint,
    rng: Generator,
}

impl Subject {
    fn new() -> Self {
        let mut rng = Generator::new(11);
        let mut scratch = vec![0; generate_scratch_limbs(BITS)];
        let memory = vec![0; private_key_limbs(BITS)];
        let key = PrivateKey::generate(BITS, 65537, memory, &mut rng, &mut scratch).unwrap();
        let digits = key.public().modulus_limbs().to_vec();
        let modulus = digits.iter().rev().fold(BigUint::ZERO, |sum, digit| (sum << 64) + digit);
        Self { key, modulus, rng }
    }

    fn class(
        &mut self,
        name: &'static str,
        mut encode: impl FnMut(&mut Generator, &mut Encoded),
    ) -> Class {
        let exponent = BigUint::from(65537_u32);
        let ciphertexts = (0..VARIANTS)
            .map(|_| {
                let mut encoded = [0; LENGTH];
                encode(&mut self.rng, &mut encoded);
                let message = BigUint::from_bytes_be(&encoded);
                assert!(message < self.modulus);
                let bytes = message.modpow(&exponent, &self.modulus).to_bytes_be();
                [vec![0; LENGTH - bytes.len()], bytes].concat()
            })
            .collect();
        Class { name, ciphertexts }
    }

    /// Returns the times, in nanoseconds, of `rounds` decryptions of each class, in the order of
    /// rounds.
    fn measure(
        &mut self,
        classes: &[Class],
        mut decrypt: impl FnMut(&mut Decrypter<'_>, usize, &[u8], &mut [u8]),
    ) -> Vec<Vec<f64>> {
        let mut memory = vec![0; context_limbs(BITS)];
        let mut context = Context::new(&self.key, Generator::new(12), &mut memory).unwrap();
        let mut times = vec![Vec::with_capacity(ROUNDS); classes.len()];
        let mut order: Vec<usize> = (0..classes.len()).collect();
        // All are decrypted in the same memory.
        let (mut ciphertext, mut output) = ([0; LENGTH], [0; LENGTH]);
        for round in 0..WARM_UP + ROUNDS {
            for i in (1..order.len()).rev() {
                order.swap(i, self.rng.next_u32() as usize % (i + 1));
            }
            for class in &order {
                let variant = self.rng.next_u32() as usize % VARIANTS;
                ciphertext.copy_from_slice(&classes[*class].ciphertexts[variant]);
                let start = Instant::now();
                decrypt(&mut context, *class, black_box(&ciphertext), &mut output);
                let elapsed = start.elapsed();
                black_box(&output);
                if round >= WARM_UP {
                    times[*class].push(elapsed.as_nanos() as f64);
                }
            }
        }
        times
    }
}

/// Returns the largest |t| of the comparisons of two classes.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let mut both = [a, b].concat();
    both.sort_by(f64::total_cmp);
    PERCENTILES
        .iter()
        .map(|percentile| {
            let limit = both[both.len() * percentile / 100];
            welch(&below(a, limit), &below(b, limit)).abs()
        })
        .fold(0.0, f64::max)
}

/// Returns the smallest difference in nanoseconds that these measurements would have shown in either
/// direction: shifts the second sample onto the first, then away from it until the comparison finds
/// it. Infinite if the two differ wherever the second is shifted.
fn smallest_difference(a: &[f64], b: &[f64]) -> f64 {
    let offset = alignment(a, b);
    let found = |difference: f64| {
        [difference, -difference]
            .iter()
            .all(|shift| distance(a, &shifted(b, offset + shift)) > THRESHOLD + MARGIN)
    };
    if found(0.0) {
        return f64::INFINITY;
    }
    let (mut unseen, mut seen) = (0.0, 1.0);
    while !found(seen) {
        (unseen, seen) = (seen, 2.0 * seen);
    }
    while seen - unseen > 0.01 * seen {
        let middle = f64::midpoint(unseen, seen);
        if found(middle) { seen = middle } else { unseen = middle }
    }
    seen
}

/// Returns the shift of the second sample at which the comparison finds least, among the differences
/// of their percentiles. The medians alone may be far apart on a busy machine.
fn alignment(a: &[f64], b: &[f64]) -> f64 {
    let [a_sorted, b_sorted] = [a, b].map(|times| {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    });
    let percentile = |sorted: &[f64], p: usize| sorted[sorted.len() * p / 100];
    (1..100)
        .map(|p| percentile(&a_sorted, p) - percentile(&b_sorted, p))
        .map(|shift| (distance(a, &shifted(b, shift)), shift))
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .expect("there are percentiles")
        .1
}

fn shifted(times: &[f64], shift: f64) -> Vec<f64> {
    times.iter().map(|time| time + shift).collect()
}

fn below(times: &[f64], limit: f64) -> Vec<f64> {
    times.iter().copied().filter(|time| *time <= limit).collect()
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns Welch's t of two samples; infinite if one of them is almost empty.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    if a.len().min(b.len()) < 10 {
        return f64::INFINITY;
    }
    let moments = |sample: &[f64]| {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        let square = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, square / n)
    };
    let ((mean_a, error_a), (mean_b, error_b)) = (moments(a), moments(b));
    (mean_a - mean_b) / (error_a + error_b).sqrt().max(f64::MIN_POSITIVE)
}

/// Returns the pairs of classes within the same group that all runs distinguish.
fn differences(
    subject: &mut Subject,
    groups: &[&[Class]],
    decrypt: impl Fn(&mut Decrypter<'_>, usize, &[u8], &mut [u8]),
) -> Vec<String> {
    let mut different = Vec::new();
    for classes in groups {
        // Compares each class with the first of its group.
        let mut suspects: Vec<usize> = (1..classes.len()).collect();
        for run in 0..RUNS {
            let times = subject.measure(classes, &decrypt);
            suspects.retain(|suspect| {
                let t = distance(&times[0], &times[*suspect]);
                let smallest = smallest_difference(&times[0], &times[*suspect]);
                let part = 100.0 * smallest / median(&times[0]);
                println!(
                    "run {run}: {}, {}: t = {t:.1}; smallest detectable difference {smallest:.0} ns, {part:.3} %",
                    classes[0].name, classes[*suspect].name
                );
                t > THRESHOLD
            });
            if suspects.is_empty() {
                break;
            }
        }
        let names = suspects.iter().map(|suspect| classes[*suspect].name.to_string());
        different.extend(names);
    }
    different
}

fn fill_nonzero(rng: &mut Generator, bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = 1 + (rng.next_u32() % 255) as u8);
}

/// Encodes 00 02, padding, 00 and a message of `message` bytes.
fn pkcs1v15(rng: &mut Generator, encoded: &mut Encoded, message: usize) {
    fill_nonzero(rng, encoded);
    encoded[..2].copy_from_slice(&[0, 2]);
    encoded[LENGTH - message - 1] = 0;
}

fn pkcs1v15_classes(subject: &mut Subject) -> Vec<Class> {
    vec![
        subject.class("48 bytes", |rng, encoded| pkcs1v15(rng, encoded, 48)),
        subject.class("an empty message", |rng, encoded| pkcs1v15(rng, encoded, 0)),
        subject.class("the longest message", |rng, encoded| pkcs1v15(rng, encoded, LENGTH - 11)),
        subject.class("a wrong first byte", |rng, encoded| {
            pkcs1v15(rng, encoded, 48);
            encoded[0] = 1;
        }),
        subject.class("a wrong second byte", |rng, encoded| {
            pkcs1v15(rng, encoded, 48);
            encoded[1] = 1;
        }),
        subject.class("no separator", |rng, encoded| {
            pkcs1v15(rng, encoded, 48);
            encoded[LENGTH - 49] = 1;
        }),
        subject.class("a separator at the start", |rng, encoded| {
            pkcs1v15(rng, encoded, 48);
            encoded[2] = 0;
        }),
        subject.class("a separator one too early", |rng, encoded| {
            pkcs1v15(rng, encoded, 48);
            encoded[9] = 0;
        }),
        subject.class("a random number", |rng, encoded| {
            rng.fill_bytes(encoded);
            encoded[0] &= 0x7f;
        }),
    ]
}

#[test]
fn pkcs1v15_time_reveals_nothing() {
    let _alone = ALONE.lock();
    let mut subject = Subject::new();
    let classes = pkcs1v15_classes(&mut subject);
    let different = differences(&mut subject, &[&classes], |context, _, ciphertext, output| {
        black_box(context.decrypt_pkcs1v15(ciphertext, output)).unwrap();
    });
    assert!(different.is_empty(), "the time tells apart: {different:?}");
}

/// Plants a difference between two classes of the same kind. Runs that could have detected it, by
/// their own statement, detect it.
#[test]
fn a_planted_difference_is_found_if_it_is_said_to_be_detectable() {
    let _alone = ALONE.lock();
    let mut subject = Subject::new();
    let classes = ["48 bytes", "48 bytes, delayed"]
        .map(|name| subject.class(name, |rng, encoded| pkcs1v15(rng, encoded, 48)));
    let (mut planted, mut found, mut missed) = (0.0, 0, 0);
    for _ in 0..ATTEMPTS {
        let times = subject.measure(&classes, delayed(planted));
        let t = distance(&times[0], &times[1]);
        let smallest = smallest_difference(&times[0], &times[1]);
        println!(
            "planted {planted:.0} ns: t = {t:.1}; smallest detectable difference {smallest:.0} ns"
        );
        match (planted >= smallest, t > THRESHOLD) {
            (true, true) => found += 1,
            (true, false) => missed += 1,
            (false, _) if smallest.is_finite() => planted = 1.1 * smallest,
            (false, _) => {}
        }
        if found == RUNS {
            break;
        }
    }
    assert!(found == RUNS && missed < RUNS, "{found} runs found what they could, {missed} did not");
    let all_runs_agree =
        || differences(&mut subject, &[&classes], delayed(4.0 * planted)) == [classes[1].name];
    assert!(
        std::iter::repeat_with(all_runs_agree).take(ATTEMPTS).any(|found| found),
        "no {RUNS} runs in a row found {:.0} ns",
        4.0 * planted
    );
}

/// Returns a decryption that takes some nanoseconds longer for the second class.
fn delayed(nanoseconds: f64) -> impl Fn(&mut Decrypter<'_>, usize, &[u8], &mut [u8]) {
    move |context, class, ciphertext, output| {
        black_box(context.decrypt_pkcs1v15(ciphertext, output)).unwrap();
        let start = Instant::now();
        while class == 1 && (start.elapsed().as_nanos() as f64) < nanoseconds {}
    }
}

#[test]
fn a_smaller_difference_is_not_claimed_to_be_detectable() {
    let mut rng = Generator::new(13);
    let mut sample = || (0..ROUNDS).map(|_| f64::from(rng.next_u32() % 1000)).collect::<Vec<_>>();
    let (a, b) = (sample(), sample());
    let smallest = smallest_difference(&a, &b);
    // Uniform on 1000 ns: the standard error of a difference of means is 11.8 ns.
    assert!((60.0..400.0).contains(&smallest), "{smallest}");
    let moved = |difference: f64| distance(&a, &shifted(&b, alignment(&a, &b) + difference));
    assert!(moved(smallest) > THRESHOLD + MARGIN && moved(0.5 * smallest) < THRESHOLD + MARGIN);
}

const OAEP: Oaep<'_> = Oaep::new(Hash::Sha256);

/// Computes `data ^= MGF1(seed)`.
fn mask(seed: &[u8], data: &mut [u8]) {
    for (counter, block) in (0_u32..).zip(data.chunks_mut(32)) {
        let digest = Sha256::digest([seed, &counter.to_be_bytes()].concat());
        block.iter_mut().zip(digest).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Returns the unmasked data block of a message of `message` bytes.
fn data_block(rng: &mut Generator, message: usize) -> Vec<u8> {
    let mut block = Sha256::digest(b"").to_vec();
    block.resize(LENGTH - 33 - message - 1, 0);
    block.push(1);
    block.resize(LENGTH - 33, 0);
    rng.fill_bytes(&mut block[LENGTH - 33 - message..]);
    block
}

fn oaep(rng: &mut Generator, encoded: &mut Encoded, first: u8, mut block: Vec<u8>) {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    mask(&seed, &mut block);
    mask(&block, &mut seed);
    encoded.copy_from_slice(&[&[first][..], &seed, &block].concat());
}

#[test]
fn oaep_time_reveals_only_failure() {
    let _alone = ALONE.lock();
    let mut subject = Subject::new();
    let longest = OAEP.longest_message(LENGTH);
    let mut right = |name, message| {
        subject.class(name, |rng, encoded| {
            let block = data_block(rng, message);
            oaep(rng, encoded, 0, block);
        })
    };
    let right = [right("48 bytes", 48), right("empty", 0), right("the longest message", longest)];
    let mut wrong = |name, first, disturb: fn(&mut Vec<u8>)| {
        subject.class(name, |rng, encoded| {
            let mut block = data_block(rng, 48);
            disturb(&mut block);
            oaep(rng, encoded, first, block);
        })
    };
    let wrong = [
        wrong("another label", 0, |block| block[5] ^= 1),
        wrong("a first byte that is not zero", 1, |_| ()),
        wrong("both", 1, |block| block[5] ^= 1),
        wrong("no one", 0, |block| block[32..].fill(0)),
        wrong("a two instead of the one", 0, |block| block[LENGTH - 33 - 49] = 2),
        wrong("padding that is not zero", 0, |block| block[32] = 0xff),
        subject.class("a random number", |rng, encoded| {
            rng.fill_bytes(encoded);
            encoded[0] &= 0x7f;
        }),
    ];
    let different =
        differences(&mut subject, &[&right, &wrong], |context, _, ciphertext, output| {
            let _ = black_box(context.decrypt_oaep(&OAEP, ciphertext, output));
        });
    assert!(different.is_empty(), "the time tells apart: {different:?}");
}
