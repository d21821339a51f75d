//! Diffie-Hellman keys of files, in known groups and in custom ones.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use ::der::Decode;
use ::der::Reader;
use ::der::asn1::UintRef;
use ::der::oid::ObjectIdentifier;
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::{Error, PrivateKey, PublicKey};
use crate::machine::words::{LIMB_BYTES, Limb};
use crate::scheme::dh::{self, Group};

/// A Diffie-Hellman public value and its group. The agreement validates the value.
#[derive(Clone)]
pub struct DhPublicKey {
    group: &'static Group<'static>,
    value: Vec<u8>,
}

impl DhPublicKey {
    /// Returns the group.
    pub const fn group(&self) -> &'static Group<'static> {
        self.group
    }

    /// Returns the public value, big-endian, without leading zeros.
    pub fn value(&self) -> &[u8] {
        &self.value
    }
}

impl fmt::Debug for DhPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key_file::DhPublicKey({:?})", self.group)
    }
}

impl PartialEq for DhPublicKey {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.group, other.group) && self.value == other.value
    }
}

impl Eq for DhPublicKey {}

/// The numbers of a custom group, as a file has them. Only their ranges are checked:
/// [`Group::new`] checks the rest.
#[derive(Clone, PartialEq, Eq)]
pub struct DhParameters {
    prime: Vec<u8>,
    generator: Vec<u8>,
    order: Option<Vec<u8>>,
}

impl DhParameters {
    /// Returns the numbers, to make a group with [`Group::new`].
    pub fn numbers(&self) -> dh::Parameters<'_> {
        let (prime, generator) = (&self.prime, &self.generator);
        dh::Parameters { prime, generator, order: self.order.as_deref() }
    }

    /// Returns the length of p in bits.
    pub fn bits(&self) -> usize {
        // The encoding has no leading zeros.
        8 * self.prime.len() - self.prime.first().map_or(0, |top| top.leading_zeros() as usize)
    }

    /// Copies the numbers of a file if their ranges are allowed.
    fn new(numbers: &dh::Parameters<'_>) -> Result<Self, Error> {
        let owned = Self {
            prime: numbers.prime.to_vec(),
            generator: numbers.generator.to_vec(),
            order: numbers.order.map(<[u8]>::to_vec),
        };
        owned.with_group(|_, _| Ok(()))?;
        Ok(owned)
    }

    /// Calls `compute` with the group, which is not checked, and with scratch.
    fn with_group<T>(
        &self,
        compute: impl FnOnce(&Group<'_>, &mut [Limb]) -> Result<T, dh::Error>,
    ) -> Result<T, Error> {
        // Numbers of other lengths are refused before they are used.
        let bits = self.bits().clamp(dh::MIN_BITS, dh::MAX_BITS);
        let mut memory = vec![0; dh::group_limbs(bits)];
        let scratch = dh::group_scratch_limbs(bits).max(dh::minimum_scratch_limbs(bits));
        let mut scratch = vec![0; scratch];
        let group = Group::unchecked(&self.numbers(), &mut memory, &mut scratch)?;
        Ok(compute(&group, &mut scratch)?)
    }
}

impl fmt::Debug for DhParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key_file::DhParameters({} bits)", self.bits())
    }
}

/// A Diffie-Hellman private key in a custom group; wiped when dropped.
pub struct CustomDhKey {
    parameters: DhParameters,
    exponent: Zeroizing<Vec<u8>>,
    value: Vec<u8>,
}

impl CustomDhKey {
    /// Returns the numbers of the group.
    pub const fn parameters(&self) -> &DhParameters {
        &self.parameters
    }

    /// Returns the key in its group, which [`Group::new`] has made from the
    /// [`parameters`](Self::parameters). `memory` has [`dh::private_key_limbs`] for the bits of p.
    ///
    /// # Errors
    /// [`Error::Dh`] with [`dh::Error::OtherGroup`] for a group with another p or g, and as
    /// [`dh::PrivateKey::new`].
    pub fn in_group<'g, M: AsRef<[u64]> + AsMut<[u64]>>(
        &self,
        group: &Group<'g>,
        memory: M,
    ) -> Result<dh::PrivateKey<'g, M>, Error> {
        if !is_group(group, &self.parameters.numbers()) {
            return Err(dh::Error::OtherGroup.into());
        }
        Ok(dh::PrivateKey::new(group, &self.exponent, memory)?)
    }

    /// Returns the public key.
    pub fn public_key(&self) -> CustomDhPublicKey {
        CustomDhPublicKey { parameters: self.parameters.clone(), value: self.value.clone() }
    }
}

impl fmt::Debug for CustomDhKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key_file::CustomDhKey({:?})", self.parameters)
    }
}

/// A Diffie-Hellman public value in a custom group. The agreement validates the value.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomDhPublicKey {
    parameters: DhParameters,
    value: Vec<u8>,
}

impl CustomDhPublicKey {
    /// Returns the numbers of the group.
    pub const fn parameters(&self) -> &DhParameters {
        &self.parameters
    }

    /// Returns the public value, big-endian, without leading zeros.
    pub fn value(&self) -> &[u8] {
        &self.value
    }
}

impl fmt::Debug for CustomDhPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key_file::CustomDhPublicKey({:?})", self.parameters)
    }
}

/// dhpublicnumber (RFC 3279, section 2.3.3), which names q.
pub(super) const X942: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10046.2.1");

/// Reads a private key from its algorithm and its exponent.
pub(super) fn read_private(
    algorithm: &AlgorithmIdentifierRef<'_>,
    exponent: &[u8],
) -> Result<PrivateKey, Error> {
    let numbers = numbers(algorithm)?;
    if let Some(group) = known(&numbers) {
        let memory = vec![0; dh::private_key_limbs(group.bits())];
        return Ok(PrivateKey::Dh(dh::PrivateKey::new(group, exponent, memory)?));
    }
    let parameters = DhParameters::new(&numbers)?;
    let value = parameters.with_group(|group, scratch| {
        let memory = vec![0; dh::private_key_limbs(group.bits())];
        value_of(&dh::PrivateKey::new(group, exponent, memory)?, scratch)
    })?;
    let exponent = Zeroizing::new(exponent.to_vec());
    Ok(PrivateKey::CustomDh(CustomDhKey { parameters, exponent, value }))
}

/// Reads a public key from its algorithm and its value, which has no leading zeros.
pub(super) fn read_public(
    algorithm: &AlgorithmIdentifierRef<'_>,
    value: &[u8],
) -> Result<PublicKey, Error> {
    let (numbers, value) = (numbers(algorithm)?, value.to_vec());
    Ok(match known(&numbers) {
        Some(group) => PublicKey::Dh(DhPublicKey { group, value }),
        None => {
            let parameters = DhParameters::new(&numbers)?;
            PublicKey::CustomDh(CustomDhPublicKey { parameters, value })
        }
    })
}

/// Returns the public key of a key in a known group.
pub(super) fn public_key(key: &dh::PrivateKey<'static, Vec<u64>>) -> DhPublicKey {
    let group = key.group();
    let mut scratch = vec![0; dh::minimum_scratch_limbs(group.bits())];
    let value = value_of(key, &mut scratch).expect("the scratch has the length of the group");
    let group = Group::KNOWN.into_iter().find(|known| known.name() == group.name());
    DhPublicKey { group: group.expect("the key is in a known group"), value }
}

/// Returns the public value of a key, without leading zeros.
fn value_of<M: AsRef<[Limb]> + AsMut<[Limb]>>(
    key: &dh::PrivateKey<'_, M>,
    scratch: &mut [Limb],
) -> Result<Vec<u8>, dh::Error> {
    let mut value = vec![0; key.group().length()];
    key.public_value(&mut value, scratch)?;
    value.drain(..value.iter().take_while(|byte| **byte == 0).count());
    Ok(value)
}

/// Returns the numbers of a group: its parameters begin with p and g in either algorithm, and with
/// p, g and q in that of X9.42.
fn numbers<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<dh::Parameters<'a>, Error> {
    let damaged = Error::Malformed { what: "Diffie-Hellman parameters" };
    let parameters = algorithm.parameters.ok_or(damaged)?;
    let numbers = parameters.sequence(|fields| {
        let mut number = || Ok::<_, ::der::Error>(UintRef::decode(fields)?.as_bytes());
        let (prime, generator) = (number()?, number()?);
        let order = if algorithm.oid == X942 { Some(number()?) } else { None };
        while !fields.is_finished() {
            fields.tlv_bytes()?;
        }
        Ok::<_, ::der::Error>(dh::Parameters { prime, generator, order })
    });
    numbers.map_err(|_| damaged)
}

/// Returns the known group with these numbers.
fn known(numbers: &dh::Parameters<'_>) -> Option<&'static Group<'static>> {
    Group::KNOWN.into_iter().find(|group| is_group(group, numbers))
}

/// Returns whether a group has this p and this g, which have no leading zeros.
fn is_group(group: &Group<'_>, numbers: &dh::Parameters<'_>) -> bool {
    let is = |limbs: &[Limb], number: &[u8]| {
        let zeros = (limbs.len() * LIMB_BYTES).checked_sub(number.len());
        let bytes = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes());
        zeros.is_some_and(|zeros| {
            bytes.eq(core::iter::repeat_n(0, zeros).chain(number.iter().copied()))
        })
    };
    is(group.prime(), numbers.prime) && is(group.generator(), numbers.generator)
}
