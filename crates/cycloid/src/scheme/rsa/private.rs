//! The private key: its parts, checked once and prepared for use.

use core::array;

use rand_core::CryptoRng;

use super::complete;
use super::components::PrivateComponents;
use super::factors::{self, Factor, Lengths};
use super::numbers::{are_apart, equal, fill, is_one, modulo};
use super::public::{PublicKey, bit_length, checked_exponent, checked_modulus_length, trimmed};
use super::{Error, KeyError, Restriction, checked_memory, limbs, prime_limbs};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, LIMB_BITS, Limb, rare};
use crate::math::modular::{Modulus, montgomery_mul};
use crate::math::prime;
use crate::scheme::stack_use;

/// Whether keys have two primes of equal length and no missing part, so that the code for others is
/// not compiled in.
pub(super) const IS_SMALL: bool = cfg!(feature = "small");

/// Returns the limbs of memory for a private key of `bits` bits: n and R² mod n; the private
/// exponent d; p and q, for each prime its R² and d modulo the prime less 1; and 1/q mod p. Keys
/// with other primes fit as well.
pub const fn private_key_limbs(bits: usize) -> usize {
    3 * limbs(bits) + 7 * prime_limbs(bits)
}

/// Returns the limbs of scratch for [`PrivateKey::new`] with a key of `bits` bits that has two
/// primes of equal length and no missing part.
pub const fn private_key_scratch_limbs(bits: usize) -> usize {
    4 * limbs(bits) + 4
}

/// Returns the limbs of scratch for [`PrivateKey::new`] with any key of `bits` bits: with missing
/// parts, with primes of unequal lengths, or with more than two primes.
pub const fn any_private_key_scratch_limbs(bits: usize) -> usize {
    complete::scratch_limbs(limbs(bits))
}

/// Returns the limbs of scratch for [`PrivateKey::check_primes`] with a key of `bits` bits that has
/// two primes of equal length.
pub const fn check_primes_scratch_limbs(bits: usize) -> usize {
    prime::secret_scratch(prime_limbs(bits))
}

/// A checked and prepared private key in the memory `M`; wiped when dropped.
///
/// For `M`, prefer borrowed memory (`&mut [u64]`, or `&mut` of an array), a `Vec` or a `Box`. An
/// array moves with the key, and a move leaves an unwiped copy.
pub struct PrivateKey<M: AsRef<[Limb]> + AsMut<[Limb]>> {
    memory: M,
    bits: usize,
    exponent: u64,
    form: Form,
    restriction: Restriction,
}

/// The kinds of keys by their primes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Two primes of half the length of the modulus: operations compute modulo each.
    Halves,
    /// Other primes, of these lengths: operations compute modulo n.
    Whole(Lengths),
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> Drop for PrivateKey<M> {
    fn drop(&mut self) {
        ct::wipe(self.memory.as_mut());
    }
}

/// Prints only the public parts of the key.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> core::fmt::Debug for PrivateKey<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::PrivateKey({} bits, e = {})", self.bits, self.exponent)
    }
}

/// The parts of a key of [`Form::Halves`], each a slice of its memory.
#[derive(Clone, Copy)]
pub(super) struct Parts<T> {
    pub(super) n: T,
    pub(super) n_r_squared: T,
    pub(super) d: T,
    pub(super) p: T,
    pub(super) p_r_squared: T,
    pub(super) d_p: T,
    pub(super) q: T,
    pub(super) q_r_squared: T,
    pub(super) d_q: T,
    pub(super) q_inverse: T,
    /// The length of each prime in bits.
    pub(super) prime_bits: usize,
}

impl<'a> Parts<&'a mut [Limb]> {
    /// Returns the parts of a key of `bits` bits in its memory.
    pub(super) fn of_mut(memory: &'a mut [Limb], bits: usize) -> Result<Self, Error> {
        let memory = checked_memory(memory, private_key_limbs(bits))?;
        let (n, h) = (limbs(bits), prime_limbs(bits));
        let (whole, rest) = memory.split_at_mut(3 * n);
        let mut whole = whole.chunks_exact_mut(n);
        let mut halves = rest.chunks_exact_mut(h);
        let mut whole = || whole.next().expect("three of them");
        let mut half = || halves.next().expect("seven of them");
        Ok(Self {
            n: whole(),
            n_r_squared: whole(),
            d: whole(),
            p: half(),
            p_r_squared: half(),
            d_p: half(),
            q: half(),
            q_r_squared: half(),
            d_q: half(),
            q_inverse: half(),
            prime_bits: bits.div_ceil(2),
        })
    }
}

impl<'a> Parts<&'a [Limb]> {
    fn of(memory: &'a [Limb], bits: usize) -> Self {
        let (n, h) = (limbs(bits), prime_limbs(bits));
        let (whole, halves) = memory.split_at(3 * n);
        let [n, n_r_squared, d] = array::from_fn(|i| &whole[i * n..][..n]);
        let [p, p_r_squared, d_p, q, q_r_squared, d_q, q_inverse] =
            array::from_fn(|i| &halves[i * h..][..h]);
        let prime_bits = bits.div_ceil(2);
        Self { n, n_r_squared, d, p, p_r_squared, d_p, q, q_r_squared, d_q, q_inverse, prime_bits }
    }

    pub(super) const fn p_modulus(&self) -> Modulus<'a> {
        Modulus::from_known(self.p, self.prime_bits, self.p_r_squared)
    }

    pub(super) const fn q_modulus(&self) -> Modulus<'a> {
        Modulus::from_known(self.q, self.prime_bits, self.q_r_squared)
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<M> {
    /// Creates a key from its parts and checks them against each other.
    ///
    /// `memory` has at least [`private_key_limbs`] for the modulus. `scratch` has
    /// [`private_key_scratch_limbs`] for a complete key with two primes of equal length, else
    /// [`any_private_key_scratch_limbs`], and is wiped. Constant-time except for the outcome, for
    /// lengths and for which parts are missing. Primality is not tested: a key with a composite
    /// factor gives [`Error::Fault`] whenever it is used, and [`check_primes`](Self::check_primes)
    /// detects it.
    ///
    /// Operations with primes of unequal lengths, or with more than two, take about three times as
    /// long as with two equal ones. With the feature `small`, such keys are refused, and so are
    /// those with a missing part.
    ///
    /// # Errors
    /// [`KeyError::ModulusLength`], [`KeyError::Even`], [`KeyError::PublicExponent`],
    /// [`KeyError::Primes`], [`KeyError::Product`], [`KeyError::PrivateExponent`],
    /// [`KeyError::Fingerprint`], [`KeyError::MultiPrime`], [`Error::MemoryTooSmall`].
    pub fn new(
        components: &PrivateComponents<'_>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let checked = checked_modulus_length(bit_length(trimmed(components.modulus)));
        Self::of_checked_length(checked, components, memory, scratch)
    }

    /// Like [`new`](Self::new), with the verdict on the length of the modulus.
    pub(super) fn of_checked_length(
        checked: Result<(), Error>,
        components: &PrivateComponents<'_>,
        mut memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let room = memory.as_mut();
        let outcome = checked
            .and_then(|()| stack::clean(stack_use::RSA_KEY, || load(components, room, scratch)));
        ct::wipe(scratch);
        match outcome {
            Ok((bits, exponent, form)) => {
                Ok(Self { memory, bits, exponent, form, restriction: Restriction::None })
            }
            Err(error) => {
                ct::wipe(memory.as_mut());
                Err(error)
            }
        }
    }

    /// Creates a key of [`Form::Halves`] from `memory` that holds valid parts.
    pub(super) const fn from_prepared(memory: M, bits: usize, exponent: u64) -> Self {
        Self { memory, bits, exponent, form: Form::Halves, restriction: Restriction::None }
    }

    /// Returns the uses that the key is restricted to.
    pub const fn restriction(&self) -> Restriction {
        self.restriction
    }

    /// Restricts the key further: an unrestricted key may get any restriction, and one for PSS may
    /// get parameters.
    ///
    /// # Errors
    /// [`Error::Restricted`] and [`Error::RestrictedPss`] if the key has a different restriction;
    /// [`Error::SaltTooLong`] if the modulus is too short for the restriction. The key is dropped
    /// then.
    pub fn restricted(mut self, to: Restriction) -> Result<Self, Error> {
        self.restriction = self.restriction.narrowed(to, self.bits)?;
        Ok(self)
    }

    /// Tests whether the primes are prime, which reading a key does not do: `rounds` rounds of the
    /// Miller-Rabin test on each, with random bases (FIPS 186-5, appendix B.3.1). A randomly made
    /// composite never passes; one made to deceive passes with a probability of at most 4^−rounds.
    ///
    /// `scratch` has [`check_primes_scratch_limbs`], if one prime is longer than the others those
    /// of twice its length, and is wiped. At every length a round takes as long as a signature, so
    /// much longer than reading that the test runs only on request. Constant-time if all are prime.
    ///
    /// # Errors
    /// [`KeyError::Composite`]; [`Error::MemoryTooSmall`], [`Error::RandomGenerator`].
    pub fn check_primes(
        &self,
        rounds: usize,
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let key = self.borrowed();
        stack::clean(stack_use::RSA_PRIVATE, || {
            for factor in key.factors() {
                if !prime::is_probable_prime(factor.prime, rounds, rng, scratch)? {
                    return Err(KeyError::Composite.into());
                }
            }
            Ok(())
        })
    }

    /// Returns the public key, which borrows this key's memory.
    pub fn public(&self) -> PublicKey<&[Limb]> {
        self.borrowed().public()
    }

    /// Returns the length of the modulus in bits.
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// Copies the key to other memory, of at least [`private_key_limbs`].
    #[cfg(feature = "alloc")]
    pub(super) fn copied_to<N: AsRef<[Limb]> + AsMut<[Limb]>>(
        &self,
        mut memory: N,
    ) -> PrivateKey<N> {
        let length = private_key_limbs(self.bits);
        memory.as_mut()[..length].copy_from_slice(&self.memory.as_ref()[..length]);
        let Self { bits, exponent, form, restriction, .. } = *self;
        PrivateKey { memory, bits, exponent, form, restriction }
    }

    /// Borrows the key, whatever its memory type.
    pub(super) fn borrowed(&self) -> BorrowedKey<'_> {
        BorrowedKey {
            memory: self.memory.as_ref(),
            bits: self.bits,
            exponent: self.exponent,
            form: self.form,
            restriction: self.restriction,
        }
    }
}

/// A private key in borrowed memory.
#[derive(Clone, Copy)]
pub(super) struct BorrowedKey<'a> {
    memory: &'a [Limb],
    bits: usize,
    exponent: u64,
    form: Form,
    restriction: Restriction,
}

impl<'a> BorrowedKey<'a> {
    /// Returns the length of the modulus in bits.
    pub(super) const fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the uses that the key is restricted to.
    pub(super) const fn restriction(&self) -> Restriction {
        self.restriction
    }

    pub(super) const fn public(&self) -> PublicKey<&'a [Limb]> {
        PublicKey::from_prepared(self.memory, self.bits, self.exponent, self.restriction)
    }

    /// Returns the modulus n.
    pub(super) fn n(&self) -> &'a [Limb] {
        &self.memory[..limbs(self.bits)]
    }

    /// Returns n, prepared for products.
    pub(super) fn modulus(&self) -> Modulus<'a> {
        let n = limbs(self.bits);
        Modulus::from_known(self.n(), self.bits, &self.memory[n..2 * n])
    }

    /// Returns the private exponent d.
    pub(super) fn d(&self) -> &'a [Limb] {
        let n = limbs(self.bits);
        &self.memory[2 * n..3 * n]
    }

    /// Returns the parts of a key of [`Form::Halves`].
    pub(super) fn halves(&self) -> Option<Parts<&'a [Limb]>> {
        (IS_SMALL || self.form == Form::Halves).then(|| Parts::of(self.memory, self.bits))
    }

    /// Returns the primes and what belongs to each, in the order of PKCS #1.
    pub(super) fn factors(&self) -> impl Iterator<Item = Factor<&'a [Limb]>> + use<'a> {
        let halves = self.halves().map(|parts| {
            let Parts { p, d_p, q, d_q, q_inverse, .. } = parts;
            [
                Factor { prime: p, exponent: d_p, coefficient: q_inverse },
                Factor { prime: q, exponent: d_q, coefficient: &[] },
            ]
        });
        let others = match self.form {
            Form::Halves => None,
            Form::Whole(lengths) => {
                Some(factors::of(&self.memory[3 * limbs(self.bits)..], lengths))
            }
        };
        halves.into_iter().flatten().chain(others.into_iter().flatten())
    }
}

/// Loads the components into a key's memory and checks them. Returns the modulus length, the
/// exponent and the form.
fn load(
    components: &PrivateComponents<'_>,
    memory: &mut [Limb],
    scratch: &mut [Limb],
) -> Result<(usize, u64, Form), Error> {
    let modulus = trimmed(components.modulus);
    let bits = bit_length(modulus);
    let exponent = checked_exponent(components.public_exponent)?;
    if !IS_SMALL && complete::is_needed(components) {
        let scratch = checked_memory(scratch, any_private_key_scratch_limbs(bits))?;
        complete::completed(components, exponent, scratch, |components, scratch| {
            load_complete(components, bits, exponent, memory, scratch)
        })
    } else {
        load_complete(components, bits, exponent, memory, scratch)
    }
}

/// Loads components of which none is missing. `scratch` has [`private_key_scratch_limbs`] if the
/// primes are of half length, else [`any_private_key_scratch_limbs`].
fn load_complete(
    components: &PrivateComponents<'_>,
    bits: usize,
    exponent: u64,
    memory: &mut [Limb],
    scratch: &mut [Limb],
) -> Result<(usize, u64, Form), Error> {
    checked_memory(scratch, private_key_scratch_limbs(bits))?;
    let memory = checked_memory(memory, private_key_limbs(bits))?;
    let (n, h) = (limbs(bits), prime_limbs(bits));
    let half = |i: usize| 3 * n + i * h;
    let mut filled = |at: usize, length: usize, bytes: &[u8], error: KeyError| {
        fill(&mut memory[at..][..length], bytes, Error::Key(error))
    };
    filled(0, n, components.modulus, KeyError::Product)?;
    filled(2 * n, n, components.private_exponent, KeyError::PrivateExponent)?;
    let mut are_halves = components.other_primes.is_empty();
    for (i, prime) in [(0, components.prime1), (3, components.prime2)] {
        are_halves &= filled(half(i), h, prime, KeyError::Primes).is_ok();
    }
    are_halves = are_halves && {
        // Each prime has half the bits: the bits from its highest one up are the number 1.
        let top = bits.div_ceil(2) - 1;
        let wrong = |i: usize| memory[half(i) + top / LIMB_BITS] >> (top % LIMB_BITS) ^ 1;
        // The lengths of the primes are public.
        Mask::is_zero(wrong(0) | wrong(3)).reveal()
    };
    if IS_SMALL && !are_halves {
        return Err(KeyError::Primes.into());
    }
    if !are_halves {
        let lengths = factors::load(components, bits, exponent, memory, scratch)?;
        return Ok((bits, exponent, Form::Whole(lengths)));
    }
    for (i, part) in
        [(2, components.exponent1), (5, components.exponent2), (6, components.coefficient)]
    {
        let error = Error::Key(KeyError::PrivateExponent);
        fill(&mut memory[half(i)..][..h], part, error)?;
    }
    check_primes(&Parts::of(memory, bits), bits, scratch)?;
    super::public::check_fingerprint(&memory[..n])?;
    let prime_bits = bits.div_ceil(2);
    for (at, length, bits) in [(0, n, bits), (half(0), h, prime_bits), (half(3), h, prime_bits)] {
        // R² comes after its modulus.
        let (modulus, r_squared) = memory[at..][..2 * length].split_at_mut(length);
        Modulus::prepare_known(modulus, bits, r_squared, scratch)?;
    }
    check_exponents(&Parts::of(memory, bits), exponent, scratch)?;
    Ok((bits, exponent, Form::Halves))
}

/// Checks that p·q = n, that both are odd, and that they are far enough apart (FIPS 186-5, appendix
/// A.1.3, step 5.4).
fn check_primes(parts: &Parts<&[Limb]>, bits: usize, scratch: &mut [Limb]) -> Result<(), Error> {
    // Whether the parts form a key is the result of the import.
    if !Mask::from_bit(parts.p[0] & parts.q[0] & 1).reveal() {
        return Err(KeyError::Even.into());
    }
    let product = &mut scratch[..2 * parts.p.len()];
    words::product(product, parts.p, parts.q);
    let (low, high) = product.split_at(parts.n.len());
    // Whether the parts form a key is the result of the import.
    if !equal(low, parts.n).reveal() || !rare::is_zero(high).reveal() {
        return Err(KeyError::Product.into());
    }
    // Whether the primes are far enough apart is the result of the import.
    if !are_apart(parts.p, parts.q, bits, product).reveal() {
        return Err(KeyError::Primes.into());
    }
    Ok(())
}

/// Checks that e·d ≡ e·d_p ≡ 1 modulo p − 1, likewise for q, and q·q_inverse ≡ 1 modulo p; that
/// each residue is less than its modulus, and d less than n.
fn check_exponents(
    parts: &Parts<&[Limb]>,
    exponent: u64,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let h = parts.p.len();
    let e = [exponent];
    let mut right = rare::is_less(parts.q_inverse, parts.p).value();
    right &= rare::is_less(parts.d, parts.n).value();
    for (prime, residue) in [(parts.p, parts.d_p), (parts.q, parts.d_q)] {
        let (order, rest) = scratch.split_at_mut(h);
        let (remainder, rest) = rest.split_at_mut(h);
        order.copy_from_slice(prime);
        rare::decrement(order);
        right &= rare::is_less(residue, order).value();
        for candidate in [residue, parts.d] {
            let product = &mut rest[..candidate.len() + 1];
            words::product(product, candidate, &e);
            modulo(remainder, product, order);
            right &= is_one(remainder).value();
        }
    }
    let (product, rest) = scratch.split_at_mut(h);
    // q has the length of p, and the inverse is less than p or the key is refused.
    let p = parts.p_modulus();
    product.copy_from_slice(parts.q);
    for factor in [parts.q_inverse, parts.p_r_squared] {
        montgomery_mul(product, Some(factor), &p, rest);
    }
    right &= is_one(product).value();
    // Whether the exponents match is the result of the import.
    if Mask::is_zero(!right).reveal() { Ok(()) } else { Err(Error::Key(KeyError::PrivateExponent)) }
}

#[cfg(test)]
mod tests;
