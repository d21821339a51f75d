//! Finite-field Diffie-Hellman keys, in the groups of RFC 7919 and RFC 3526 and in groups with a
//! given safe prime. Their form at rest is PKCS #8 with the parameters of PKCS #3, as OpenSSL
//! writes it.

use cycloid::scheme::dh::{self, Group, OwnedGroup, Parameters, Validation};
use getrandom::SysRng;
use pkcs8::der::asn1::{AnyRef, BitStringRef, OctetStringRef, UintRef};
use pkcs8::der::oid::ObjectIdentifier;
use pkcs8::der::{self, Decode, Encode, Reader, Tag};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use rand_core::{CryptoRng, UnwrapErr};
use zeroize::Zeroizing;

use crate::attribute::{Template, cka};
use crate::{Code, Error, Result};

/// dhKeyAgreement (PKCS #3, section 9).
pub(super) const ALGORITHM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.3.1");

/// The maximum length of a prime that is not of a known group, in bits. The time to check it grows
/// with the fourth power.
const MAX_CUSTOM_BITS: usize = 4096;

/// Draws of a private exponent. One is refused with a probability of at most one half.
const DRAWS: usize = 128;

/// The origin of a group's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// From outside, so everything is checked.
    Given,
    /// From a sealed record, so the prime was checked before.
    Sealed,
}

/// A private key, and its public value.
pub struct DhKey {
    group: OwnedGroup,
    /// Big-endian, as long as its declared length.
    exponent: Zeroizing<Vec<u8>>,
    /// The declared length of the exponent in bits.
    bits: usize,
    /// Big-endian without leading zeros.
    value: Vec<u8>,
}

impl std::fmt::Debug for DhKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DhKey({:?})", self.group)
    }
}

fn invalid(error: impl std::fmt::Display) -> Error {
    // The errors name the defect and contain no part of the key.
    Code::ATTRIBUTE_VALUE_INVALID.because(format!("invalid Diffie-Hellman key: {error}"))
}

/// Returns a big integer without leading zeros.
fn trimmed(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|byte| **byte == 0).count()..]
}

/// Builds a group from its prime and its generator, big-endian.
///
/// # Errors
/// [`Code::DOMAIN_PARAMS_INVALID`] for a group that is not one of the known ones and has no safe
/// prime of 2048 to 4096 bits.
pub(super) fn group(prime: &[u8], base: &[u8], numbers: Numbers) -> Result<OwnedGroup> {
    let (prime, base) = (trimmed(prime), trimmed(base));
    let parameters = Parameters { prime, generator: base, order: None };
    let refused = |text: String| Code::DOMAIN_PARAMS_INVALID.because(text);
    let known = Group::KNOWN
        .iter()
        .any(|group| group.prime_bytes() == prime && group.generator_bytes() == base);
    let bits = 8 * prime.len() - prime.first().map_or(0, |top| top.leading_zeros() as usize);
    if !known && bits > MAX_CUSTOM_BITS {
        return Err(refused(format!(
            "a prime of more than {MAX_CUSTOM_BITS} bits must be one of RFC 7919 or RFC 3526"
        )));
    }
    let made = match numbers {
        Numbers::Given => OwnedGroup::new(&parameters, &mut UnwrapErr(SysRng)),
        Numbers::Sealed => OwnedGroup::restore(&parameters),
    };
    made.map_err(|error| refused(format!("unsuitable Diffie-Hellman group: {error}")))
}

/// Checks a public key that a program gives.
///
/// # Errors
/// As [`group`], if `numbers` asks for it; [`Code::ATTRIBUTE_VALUE_INVALID`] for a value outside
/// the group.
pub(super) fn check_public(template: &Template, numbers: Numbers) -> Result<()> {
    let group = group(template.needed(cka::PRIME)?, template.needed(cka::BASE)?, numbers)?;
    let group = group.group();
    let mut scratch = vec![0; dh::minimum_scratch_limbs(group.bits())];
    group
        .check_public(template.needed(cka::VALUE)?, Validation::Full, &mut scratch)
        .map_err(invalid)
}

impl DhKey {
    /// Generates a key in the group of `CKA_PRIME` and `CKA_BASE`. The exponent has as many bits as
    /// `CKA_VALUE_BITS` says, or twice the group's security level.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`]; [`Code::DOMAIN_PARAMS_INVALID`]; [`Code::KEY_SIZE_RANGE`] for
    /// an exponent that is too short or longer than the prime; [`Code::DEVICE_ERROR`].
    pub(crate) fn generate(
        public: &Template,
        private: &Template,
        rng: &mut impl CryptoRng,
    ) -> Result<Self> {
        let group = group(public.needed(cka::PRIME)?, public.needed(cka::BASE)?, Numbers::Given)?;
        let least = group.group().exponent_bits();
        let bits = match private.number(cka::VALUE_BITS)? {
            None => least,
            Some(bits) => usize::try_from(bits).unwrap_or(usize::MAX),
        };
        if !(least..=group.group().bits()).contains(&bits) {
            return Err(Code::KEY_SIZE_RANGE.because(format!(
                "the private value must have {least} bits at least and no more than the prime"
            )));
        }
        let mut exponent = Zeroizing::new(vec![0; bits.div_ceil(8)]);
        for _ in 0..DRAWS {
            rng.fill_bytes(&mut exponent);
            exponent[0] &= 0xff >> (8 * exponent.len() - bits);
            // A refused exponent is not used, so the refusal may be public.
            match Self::new(group.clone(), exponent.clone(), bits) {
                Ok(key) => return Ok(key),
                Err(dh::Error::PrivateExponent) => {}
                Err(error) => return Err(invalid(error)),
            }
        }
        Err(Code::DEVICE_ERROR.because("key generation failed: the random generator is broken"))
    }

    fn new(
        group: OwnedGroup,
        exponent: Zeroizing<Vec<u8>>,
        bits: usize,
    ) -> Result<Self, dh::Error> {
        let mut key = Self { group, exponent, bits, value: Vec::new() };
        let mut value = vec![0; key.group.group().length()];
        let prepared = key.prepared()?;
        let exponent_bits = 8 * key.exponent.len();
        let mut scratch = vec![0; dh::scratch_limbs(8 * value.len(), exponent_bits)];
        prepared.public_value(&mut value, &mut scratch)?;
        drop(prepared);
        key.value = trimmed(&value).to_vec();
        Ok(key)
    }

    /// Builds a key from `CKA_PRIME`, `CKA_BASE` and `CKA_VALUE`.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`]; [`Code::DOMAIN_PARAMS_INVALID`];
    /// [`Code::ATTRIBUTE_VALUE_INVALID`] for a value that the group does not allow.
    pub(super) fn from_attributes(template: &Template) -> Result<Self> {
        let group =
            group(template.needed(cka::PRIME)?, template.needed(cka::BASE)?, Numbers::Given)?;
        let exponent = Zeroizing::new(trimmed(template.needed(cka::VALUE)?).to_vec());
        let bits = 8 * exponent.len();
        Self::new(group, exponent, bits).map_err(invalid)
    }

    /// Parses PKCS #8.
    ///
    /// # Errors
    /// As [`from_attributes`](Self::from_attributes).
    pub(super) fn from_der(info: &pkcs8::PrivateKeyInfoRef<'_>, numbers: Numbers) -> Result<Self> {
        if info.algorithm.oid != ALGORITHM {
            return Err(invalid("another algorithm"));
        }
        let parameters = info.algorithm.parameters.ok_or_else(|| invalid("no parameters"))?;
        let (prime, base, length) = parameters
            .sequence(|fields| {
                let prime = UintRef::decode(fields)?;
                let base = UintRef::decode(fields)?;
                let length = if fields.is_finished() { None } else { Some(u16::decode(fields)?) };
                Ok::<_, der::Error>((prime, base, length))
            })
            .map_err(invalid)?;
        let number = UintRef::from_der(info.private_key.as_bytes()).map_err(invalid)?;
        let group = group(prime.as_bytes(), base.as_bytes(), numbers)?;
        let digits = number.as_bytes();
        // The declared length is public, so the exponent gets it whatever its value.
        let bits = length.map_or(8 * digits.len(), usize::from);
        let zeros = bits.div_ceil(8).checked_sub(digits.len());
        let zeros = zeros.ok_or_else(|| invalid("a private value beyond its length"))?;
        let mut exponent = Zeroizing::new(vec![0; bits.div_ceil(8)]);
        exponent[zeros..].copy_from_slice(digits);
        Self::new(group, exponent, bits).map_err(invalid)
    }

    /// Writes PKCS #8.
    pub(super) fn to_der(&self) -> Zeroizing<Vec<u8>> {
        self.try_to_der().expect("no number is too long for DER")
    }

    fn try_to_der(&self) -> der::Result<Zeroizing<Vec<u8>>> {
        let parameters = self.parameters(true)?;
        let number = Zeroizing::new(UintRef::new(&self.exponent)?.to_der()?);
        let key = OctetStringRef::new(&number)?;
        let info = pkcs8::PrivateKeyInfoRef::new(algorithm(&parameters)?, key);
        Ok(Zeroizing::new(info.to_der()?))
    }

    /// Returns the contents of DHParameter (PKCS #3, section 9), with the length of the exponent if
    /// asked for.
    fn parameters(&self, with_length: bool) -> der::Result<Vec<u8>> {
        let group = self.group.group();
        let mut contents = UintRef::new(&group.prime_bytes())?.to_der()?;
        contents.extend(UintRef::new(&group.generator_bytes())?.to_der()?);
        if with_length {
            contents.extend((self.bits as u64).to_der()?);
        }
        Ok(contents)
    }

    /// Returns the SubjectPublicKeyInfo in DER.
    pub(super) fn public_key_info(&self) -> Vec<u8> {
        let write = || {
            let parameters = self.parameters(false)?;
            let number = UintRef::new(&self.value)?.to_der()?;
            let subject_public_key = BitStringRef::from_bytes(&number)?;
            SubjectPublicKeyInfoRef { algorithm: algorithm(&parameters)?, subject_public_key }
                .to_der()
        };
        write().expect("no number is too long for DER")
    }

    /// Writes its public parts as attributes of a private key or, with `whole`, of its public key.
    pub(super) fn describe(&self, to: &mut Template, whole: bool) {
        let group = self.group.group();
        to.set(cka::PRIME, group.prime_bytes());
        to.set(cka::BASE, group.generator_bytes());
        if whole {
            to.set(cka::VALUE, self.value.as_slice());
        } else {
            to.set_number(cka::VALUE_BITS, self.bits as u64);
        }
    }

    /// Returns the private exponent, big-endian without leading zeros.
    pub(super) fn exponent(&self) -> &[u8] {
        trimmed(&self.exponent)
    }

    /// Returns the length of the prime in bits.
    pub(crate) fn group_bits(&self) -> usize {
        self.group.group().bits()
    }

    /// Returns the length of the exponent in memory, in bits.
    pub(crate) fn exponent_bits(&self) -> usize {
        8 * self.exponent.len()
    }

    /// Returns the key as the library computes with it.
    ///
    /// # Errors
    /// [`dh::Error::PrivateExponent`] for an exponent that the group does not allow.
    pub(crate) fn prepared(&self) -> Result<dh::PrivateKey<'_, Vec<u64>>, dh::Error> {
        let memory = vec![0; dh::private_key_limbs(self.exponent_bits())];
        dh::PrivateKey::new(&self.group.group(), &self.exponent, memory)
    }
}

fn algorithm(parameters: &[u8]) -> der::Result<AlgorithmIdentifierRef<'_>> {
    let parameters = AnyRef::new(Tag::Sequence, parameters)?;
    Ok(AlgorithmIdentifierRef { oid: ALGORITHM, parameters: Some(parameters) })
}
