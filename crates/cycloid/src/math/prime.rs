//! Prime numbers: a sieve by small primes, the Miller-Rabin test, and the search for the primes of
//! an RSA key (FIPS 186-5, appendices A.1.3 and B.3.1), eight candidates at a time.

pub(crate) mod powers_of_two;
mod strong_probable_prime;
#[cfg(test)]
pub(crate) mod tests;

use rand_core::CryptoRng;

use strong_probable_prime::{is_strong, strong_scratch_limbs};

use super::modular::{self, Error, Exponent, Exponentiation, Modulus, Reduction, Strategy, Window};
use super::random;
use crate::machine::ct::{self, Mask};
use crate::machine::lanes::LANES;
use crate::machine::stack;
use crate::machine::words::{self, LIMB_BITS, LIMB_BYTES, Limb};

/// The odd primes used for trial division before a candidate is tested.
const SMALL_PRIMES: [u16; 511] = {
    let mut primes = [0; 511];
    let (mut found, mut candidate) = (0, 3);
    while found < primes.len() {
        let (mut prime, mut i) = (true, 0);
        while i < found && primes[i] * primes[i] <= candidate {
            prime &= candidate % primes[i] != 0;
            i += 1;
        }
        if prime {
            primes[found] = candidate;
            found += 1;
        }
        candidate += 2;
    }
    primes
};

/// Number of products of consecutive small primes, each below 2³².
const GROUPS: usize = {
    let (mut groups, mut product) = (1, 1u64);
    let mut i = 0;
    while i < SMALL_PRIMES.len() {
        if product * SMALL_PRIMES[i] as u64 >= 1 << 32 {
            groups += 1;
            product = 1;
        }
        product *= SMALL_PRIMES[i] as u64;
        i += 1;
    }
    groups
};

/// A divisor below 2³² that reduces numbers without a division instruction.
#[derive(Clone, Copy)]
struct Divisor {
    value: u64,
    /// ⌊2⁶⁴ / value⌋; the value is odd and above 1.
    reciprocal: u64,
}

impl Divisor {
    /// Prepares an odd value above 1.
    const fn new(value: u64) -> Self {
        Self { value, reciprocal: u64::MAX / value }
    }

    /// Returns `x mod value` in constant time.
    const fn remainder(self, x: u64) -> u64 {
        // The reciprocal is less than 2⁶⁴/value by less than 1, so the estimated quotient is too
        // small by at most 1, and the remainder is below 2·value < 2³³.
        let quotient = ((x as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = x - quotient * self.value;
        let below = rest.wrapping_sub(self.value) >> 63;
        rest - (self.value & below.wrapping_sub(1))
    }

    /// Returns `(2⁶⁴·rest + limb) mod value` in constant time, for `rest` below the value.
    const fn append(self, rest: u64, limb: Limb) -> u64 {
        // rest < 2³², so that each step's dividend is below 2⁶⁴.
        let rest = self.remainder(rest << 32 | limb >> 32);
        self.remainder(rest << 32 | limb & 0xffff_ffff)
    }

    /// Returns `x mod value` for a number of any length, in constant time.
    fn remainder_of(self, x: &[Limb]) -> u64 {
        x.iter().rev().fold(0, |rest, limb| self.append(rest, *limb))
    }
}

/// The small primes, prepared as divisors.
const DIVISORS: [Divisor; SMALL_PRIMES.len()] = {
    let mut divisors = [Divisor { value: 1, reciprocal: 0 }; SMALL_PRIMES.len()];
    let mut i = 0;
    while i < divisors.len() {
        divisors[i] = Divisor::new(SMALL_PRIMES[i] as u64);
        i += 1;
    }
    divisors
};

/// The products, and the index of each product's first prime.
const PRODUCTS: [(Divisor, usize); GROUPS] = {
    let mut groups = [(Divisor { value: 1, reciprocal: 0 }, 0); GROUPS];
    let (mut group, mut i) = (0, 0);
    let mut product = 1u64;
    while i < SMALL_PRIMES.len() {
        if product * SMALL_PRIMES[i] as u64 >= 1 << 32 {
            groups[group].0 = Divisor::new(product);
            group += 1;
            groups[group].1 = i;
            product = 1;
        }
        product *= SMALL_PRIMES[i] as u64;
        i += 1;
    }
    groups[group].0 = Divisor::new(product);
    groups
};

/// Returns whether a small prime divides `candidate` and is not the candidate itself. If one does,
/// it is no longer secret and ends the search; if none does, time depends on the length only.
fn has_small_factor(candidate: &[Limb]) -> bool {
    let low = candidate[0];
    let small = words::is_zero(&candidate[1..]);
    for (group, (product, first)) in PRODUCTS.iter().enumerate() {
        let rest = product.remainder_of(candidate);
        let end = PRODUCTS.get(group + 1).map_or(SMALL_PRIMES.len(), |next| next.1);
        let mut divisible = 0;
        for prime in &DIVISORS[*first..end] {
            let divides = Mask::is_zero(prime.remainder(rest)).value();
            let itself = small.value() & Mask::equal(low, prime.value).value();
            divisible |= divides & !itself;
        }
        if !Mask::is_zero(divisible).reveal() {
            return true;
        }
    }
    false
}

/// Returns the limbs of scratch for [`generate`] with primes of `n` limbs.
pub const fn generate_scratch_limbs(n: usize) -> usize {
    // Eight candidates, bases, exponents and results.
    4 * LANES * n + modular::pow_eight_scratch_limbs(n, n * LIMB_BITS)
}

/// Writes a random probable prime of exactly `bits` bits to `prime`: at least √2·2^(bits−1),
/// accepted by `accept`, and found prime by nine Miller-Rabin rounds with random bases, more than
/// FIPS 186-5, table B.1, requires at any length.
///
/// `prime` has the limbs that `bits` bits need, at least two; `scratch` has
/// [`generate_scratch_limbs`] and is wiped. Time depends on the number of candidates and on why the
/// refused ones were refused. It reveals nothing else about the prime, unless `accept` does.
///
/// # Errors
/// [`Error::ScratchTooSmall`]; [`Error::RandomGenerator`] if `rng` repeats itself, or if none of
/// 20·`bits` candidates is usable (FIPS 186-5, appendix A.1.3, step 5.8), which happens to a sound
/// generator once in 10²⁵ times unless `accept` refuses many. `prime` then holds nothing useful.
pub fn generate(
    prime: &mut [Limb],
    bits: usize,
    accept: impl FnMut(&[Limb]) -> bool,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    generate_within(20 * bits, prime, bits, accept, rng, scratch)
}

/// Like [`generate`], but gives up after the given number of `candidates`.
pub(crate) fn generate_within(
    candidates: usize,
    prime: &mut [Limb],
    bits: usize,
    accept: impl FnMut(&[Limb]) -> bool,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = prime.len();
    debug_assert!(bits > LIMB_BITS && n == bits.div_ceil(LIMB_BITS));
    let given = size_of_val(scratch);
    let Some((numbers, scratch)) = scratch.split_at_mut_checked(4 * LANES * n) else {
        let needed = generate_scratch_limbs(n) * LIMB_BYTES;
        return Err(Error::ScratchTooSmall { needed, given });
    };
    // Clears earlier candidates, which would look like repetitions.
    ct::wipe(numbers);
    let outcome = stack::clean(modular::STACK_USE, || {
        search(candidates, prime, bits, accept, numbers, rng, scratch)
    });
    ct::wipe(numbers);
    outcome
}

fn search(
    mut left: usize,
    prime: &mut [Limb],
    bits: usize,
    mut accept: impl FnMut(&[Limb]) -> bool,
    numbers: &mut [Limb],
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let n = prime.len();
    let (candidates, room) = numbers.split_at_mut(LANES * n);
    loop {
        for lane in 0..LANES {
            loop {
                left = left.checked_sub(1).ok_or(Error::RandomGenerator)?;
                draw(prime, bits, rng)?;
                // Whether the generator repeats itself is the function's result.
                if candidates.chunks_exact(n).any(|other| is_equal(prime, other).reveal()) {
                    return Err(Error::RandomGenerator);
                }
                candidates[lane * n..][..n].copy_from_slice(prime);
                if !has_small_factor(prime) && accept(prime) {
                    break;
                }
            }
        }
        let passed = test_eight(candidates, n, room, rng, scratch)?;
        if let Some(lane) = passed.into_iter().position(|passed| passed) {
            // Eight more rounds side by side on the candidate that passed.
            prime.copy_from_slice(&candidates[lane * n..][..n]);
            candidates.chunks_exact_mut(n).for_each(|candidate| candidate.copy_from_slice(prime));
            if test_eight(candidates, n, room, rng, scratch)? == [true; LANES] {
                return Ok(());
            }
        }
    }
}

/// Draws a random odd number of exactly `bits` bits, at least √2·2^(bits−1).
fn draw(candidate: &mut [Limb], bits: usize, rng: &mut impl CryptoRng) -> Result<(), Error> {
    // The first 64 bits of √2/2.
    const ROOT: Limb = 0xb504_f333_f9de_6484;
    let shift = candidate.len() * LIMB_BITS - bits;
    for _ in 0..random::DRAWS {
        random::fill_limbs(rng, candidate)?;
        let (top, below) = candidate.split_last_mut().expect("a candidate has limbs");
        *top = *top >> shift | 1 << (LIMB_BITS - 1 - shift);
        let next = below.last().copied().unwrap_or(0);
        let leading = *top << shift | next.unbounded_shr((LIMB_BITS - shift) as u32);
        candidate[0] |= 1;
        if words::is_less(&[ROOT], &[leading]).reveal() {
            return Ok(());
        }
    }
    Err(Error::RandomGenerator)
}

/// Runs one Miller-Rabin round (FIPS 186-5, appendix B.3.1) on each of eight odd candidates of `n`
/// limbs, with random bases. Primes pass; composites pass with a probability below 1/4.
fn test_eight(
    candidates: &[Limb],
    n: usize,
    room: &mut [Limb],
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<[bool; LANES], Error> {
    let (bases, rest) = room.split_at_mut(LANES * n);
    let (exponents, results) = rest.split_at_mut(LANES * n);
    for base in bases.chunks_exact_mut(n) {
        random::fill_limbs(rng, base)?;
    }
    let candidate = |lane: usize| &candidates[lane * n..][..n];
    // 1, 2. candidate − 1 = 2^a · m.
    exponents.copy_from_slice(candidates);
    let mut halvings = [0; LANES];
    for (halvings, exponent) in halvings.iter_mut().zip(exponents.chunks_exact_mut(n)) {
        exponent[0] &= !1;
        *halvings = powers_of_two::take_out(exponent);
    }
    // 4.3. b^m.
    let mut powers = results.chunks_exact_mut(n);
    let outcomes = modular::pow_eight(
        core::array::from_fn(|_| powers.next().expect("room for eight")),
        core::array::from_fn(|lane| &bases[lane * n..][..n]),
        core::array::from_fn(|lane| Exponent::new(&exponents[lane * n..][..n])),
        core::array::from_fn(candidate),
        scratch,
    );
    for outcome in outcomes {
        outcome?;
    }
    let scratch = &mut scratch[..strong_scratch_limbs(n)];
    let mut passed = [Ok(false); LANES];
    for (lane, power) in results.chunks_exact_mut(n).enumerate() {
        passed[lane] = is_strong(power, halvings[lane], candidate(lane), scratch);
    }
    ct::wipe(scratch);
    ct::wipe(&mut halvings);
    let mut outcome = [false; LANES];
    for (outcome, passed) in outcome.iter_mut().zip(passed) {
        *outcome = passed?;
    }
    Ok(outcome)
}

/// Returns whether two numbers of the same length are equal.
fn is_equal(a: &[Limb], b: &[Limb]) -> Mask {
    Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)))
}

/// Returns the limbs of scratch for [`is_probable_prime`] with a number of `n` limbs. With less, a
/// power would take several times as long.
pub(crate) const fn secret_scratch(n: usize) -> usize {
    let (power, strong) = (modular::pow_scratch_limbs(n, n * LIMB_BITS), strong_scratch_limbs(n));
    4 * n + if power > strong { power } else { strong }
}

/// Tests whether `candidate` is prime: a secret odd number above 2⁶⁴ of public length without
/// leading zero limbs. Runs `rounds` Miller-Rabin rounds with random bases; a composite passes with
/// a probability of at most 4^−rounds. Time reveals the result, and for a composite the reason, but
/// nothing about a prime.
///
/// `scratch` has [`secret_scratch`] limbs and is wiped.
///
/// # Errors
/// [`Error::ScratchTooSmall`], [`Error::RandomGenerator`], those of [`Modulus::prepare`].
pub(crate) fn is_probable_prime(
    candidate: &[Limb],
    rounds: usize,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<bool, Error> {
    let n = candidate.len();
    let (needed, given) = (secret_scratch(n), scratch.len());
    let Some(scratch) = scratch.get_mut(..needed) else {
        let [needed, given] = [needed, given].map(|limbs| limbs * size_of::<Limb>());
        return Err(Error::ScratchTooSmall { needed, given });
    };
    let outcome = pass_rounds(candidate, rounds, rng, scratch);
    ct::wipe(scratch);
    outcome
}

fn pass_rounds(
    candidate: &[Limb],
    rounds: usize,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<bool, Error> {
    if has_small_factor(candidate) {
        return Ok(false);
    }
    let n = candidate.len();
    let (exponent, rest) = scratch.split_at_mut(n);
    let (base, rest) = rest.split_at_mut(n);
    let (power, rest) = rest.split_at_mut(n);
    let (r_squared, work) = rest.split_at_mut(n);
    let modulus = Modulus::prepare(candidate, r_squared, work)?;
    exponent.copy_from_slice(candidate);
    exponent[0] &= !1;
    let halvings = powers_of_two::take_out(exponent);
    for _ in 0..rounds {
        random::fill_limbs(rng, base)?;
        modular::pow(power, base, &Exponent::new(exponent), &modulus, work)?;
        if !is_strong(power, halvings, candidate, work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Tests whether `candidate`, a public number of any length, is prime, by `rounds` Miller-Rabin
/// rounds with random bases; a composite passes with a probability of at most 4^−rounds. Time
/// depends on the number.
///
/// `scratch` has [`is_probable_prime_scratch_limbs`] limbs for the number's length.
///
/// # Errors
/// [`Error::ScratchTooSmall`], [`Error::ModulusTooLong`] if the number is too long, and
/// [`Error::RandomGenerator`] if `rng` gives no base.
pub fn is_probable_prime_vartime(
    candidate: &[Limb],
    rounds: usize,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<bool, Error> {
    let candidate = words::trim_vartime(candidate);
    let n = candidate.len();
    match candidate {
        [] | [1] => return Ok(false),
        [2] => return Ok(true),
        [low, ..] if low & 1 == 0 => return Ok(false),
        _ => {}
    }
    if has_small_factor(candidate) {
        return Ok(false);
    }
    let largest = u64::from(SMALL_PRIMES[SMALL_PRIMES.len() - 1]);
    if n == 1 && candidate[0] <= largest * largest {
        return Ok(true);
    }
    let needed = is_probable_prime_scratch_limbs(n);
    let given = size_of_val(scratch);
    let Some((numbers, work)) = scratch.split_at_mut_checked(3 * n) else {
        return Err(Error::ScratchTooSmall { needed: needed * size_of::<Limb>(), given });
    };
    let (exponent, rest) = numbers.split_at_mut(n);
    let (base, power) = rest.split_at_mut(n);
    let top = candidate[n - 1].leading_zeros() as usize;
    let bits = n * LIMB_BITS - top;

    // candidate − 1 = 2^twos · exponent, with an odd exponent.
    exponent.copy_from_slice(candidate);
    exponent[0] &= !1;
    let zeros = exponent.iter().take_while(|limb| **limb == 0).count();
    let twos = zeros * LIMB_BITS + exponent[zeros].trailing_zeros() as usize;
    for i in 0..n {
        let limb = |j: usize| exponent.get(j + twos / LIMB_BITS).copied().unwrap_or(0);
        let (low, high) = (limb(i), limb(i + 1));
        exponent[i] = low >> (twos % LIMB_BITS) | high << 1 << (LIMB_BITS - 1 - twos % LIMB_BITS);
    }
    for _ in 0..rounds {
        // A base from 2 to candidate − 2; half of the numbers of that length are, except three.
        let found = (0..random::DRAWS).any(|_| {
            base.iter_mut().for_each(|limb| *limb = rng.next_u64());
            base[n - 1] >>= top;
            let below = words::compare_vartime(base, candidate).is_lt();
            below && words::bit_length_vartime(base) > 1 && !is_minus_one(base, candidate)
        });
        if !found {
            return Err(Error::RandomGenerator);
        }
        TEST.pow_vartime(power, base, &Exponent::new(exponent), candidate, work)?;
        let mut passes = words::trim_vartime(power) == [1] || is_minus_one(power, candidate);
        for _ in 1..twos.min(bits) {
            if passes {
                break;
            }
            base.copy_from_slice(power);
            TEST.pow_vartime(power, base, &Exponent::new(&[2]), candidate, work)?;
            passes = is_minus_one(power, candidate);
        }
        if !passes {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The exponentiation for tests of public numbers.
const TEST: Strategy = Strategy {
    reduction: Reduction::Montgomery,
    exponentiation: Exponentiation::ReducedMemoryVartime(Window::ALL[3]),
};

/// Returns the limbs of scratch for [`is_probable_prime_vartime`] with a number of `n` limbs.
pub const fn is_probable_prime_scratch_limbs(n: usize) -> usize {
    3 * n + TEST.scratch_limbs(n)
}

/// Returns whether `x` is `modulus` − 1, for an odd modulus and x of the same length.
fn is_minus_one(x: &[Limb], modulus: &[Limb]) -> bool {
    x[0] == modulus[0] - 1 && x[1..] == modulus[1..]
}
