//! The AlgorithmIdentifier of an RSA key, which restricts its use: rsaEncryption (RFC 8017,
//! appendix A.1), id-RSASSA-PSS with or without parameters (appendix A.2.3; RFC 4055, sections 1.2
//! and 3.1), or id-RSASSA-PSS with SHAKE (RFC 8702, section 3.1).

use crate::scheme::FormatError;
use der::asn1::{AnyRef, ContextSpecificRef};
use der::{
    DecodeValue, Encode, EncodeValue, FixedTag, Header, Length, Reader, Tag, TagMode, TagNumber,
    Writer,
};
use pkcs1::{ALGORITHM_ID, ObjectIdentifier};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef};

use super::super::{Error, Hash, Pss, Restriction};

const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// The identifiers of RSASSA-PSS with SHAKE for message and mask.
const SHAKES: &[(Hash, ObjectIdentifier)] = &[
    #[cfg(feature = "sha3")]
    (Hash::Shake128, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.30")),
    #[cfg(feature = "sha3")]
    (Hash::Shake256, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.31")),
];

/// The identifiers of the hash functions (RFC 4055, section 2.1; for SHA-3, NIST's register).
const HASHES: &[(Hash, ObjectIdentifier)] = &[
    (Hash::Sha1, ObjectIdentifier::new_unwrap("1.3.14.3.2.26")),
    (Hash::Sha224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.4")),
    (Hash::Sha256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1")),
    #[cfg(feature = "sha512")]
    (Hash::Sha384, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2")),
    #[cfg(feature = "sha512")]
    (Hash::Sha512, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3")),
    #[cfg(feature = "sha512")]
    (Hash::Sha512_224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.5")),
    #[cfg(feature = "sha512")]
    (Hash::Sha512_256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.6")),
    #[cfg(feature = "sha3")]
    (Hash::Sha3_224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.7")),
    #[cfg(feature = "sha3")]
    (Hash::Sha3_256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.8")),
    #[cfg(feature = "sha3")]
    (Hash::Sha3_384, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.9")),
    #[cfg(feature = "sha3")]
    (Hash::Sha3_512, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.10")),
];

/// The default values, which are omitted from the parameters.
const DEFAULT_HASH: Hash = Hash::Sha1;
const DEFAULT_SALT: u16 = 20;
const DEFAULT_TRAILER: u8 = 1;

/// Returns the restriction of a key with that algorithm.
pub(super) fn restriction(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Restriction, Error> {
    if let Some((hash, _)) = SHAKES.iter().find(|(_, oid)| *oid == algorithm.oid) {
        // The parameters are absent.
        let parameters = algorithm.parameters.is_none().then_some(Pss::new(*hash));
        return parameters.map(Restriction::PssWith).ok_or(Error::PssParameters);
    }
    match (algorithm.oid, algorithm.parameters) {
        (PSS, None) => Ok(Restriction::Pss),
        (PSS, Some(parameters)) => {
            let parameters = parameters.decode_as::<Parameters<'_>>();
            let pss = parameters.ok().and_then(|parameters| parameters.pss());
            pss.map(Restriction::PssWith).ok_or(Error::PssParameters)
        }
        (oid, _) if oid != ALGORITHM_ID.oid => Err(FormatError::Algorithm.into()),
        (_, parameters) if parameters != ALGORITHM_ID.parameters => {
            Err(FormatError::Parameters.into())
        }
        _ => Ok(Restriction::None),
    }
}

type MaskAlgorithm<'a> = AlgorithmIdentifier<AlgorithmIdentifierRef<'a>>;

/// RSASSA-PSS-params; each field is optional.
struct Parameters<'a> {
    hash: Option<AlgorithmIdentifierRef<'a>>,
    mask: Option<MaskAlgorithm<'a>>,
    salt: Option<u16>,
    trailer: Option<u8>,
}

impl FixedTag for Parameters<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for Parameters<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _: Header) -> der::Result<Self> {
        Ok(Self {
            hash: reader.context_specific(TagNumber(0), TagMode::Explicit)?,
            mask: reader.context_specific(TagNumber(1), TagMode::Explicit)?,
            salt: reader.context_specific(TagNumber(2), TagMode::Explicit)?,
            trailer: reader.context_specific(TagNumber(3), TagMode::Explicit)?,
        })
    }
}

impl Parameters<'_> {
    /// Returns the parameters' values if they are supported.
    fn pss(&self) -> Option<Pss> {
        if self.trailer.is_some_and(|trailer| trailer != DEFAULT_TRAILER) {
            return None;
        }
        let hash = self.hash.as_ref().map_or(Some(DEFAULT_HASH), known_hash)?;
        let mask_hash = match &self.mask {
            None => DEFAULT_HASH,
            Some(mask) if mask.oid == MGF1 => known_hash(mask.parameters.as_ref()?)?,
            Some(_) => return None,
        };
        let salt_length = self.salt.unwrap_or(DEFAULT_SALT).into();
        Some(Pss { hash, mask_hash, salt_length })
    }
}

/// Returns the hash function of an identifier whose parameters are NULL or absent; both must be
/// accepted (RFC 4055, section 2.1).
fn known_hash(algorithm: &AlgorithmIdentifierRef<'_>) -> Option<Hash> {
    if algorithm.parameters.is_some_and(|parameters| parameters != AnyRef::NULL) {
        return None;
    }
    HASHES.iter().find(|(_, oid)| *oid == algorithm.oid).map(|(hash, _)| *hash)
}

/// Returns the identifier of RSASSA-PSS with these parameters, if they have one of their own.
fn shake_algorithm(pss: Pss) -> Option<ObjectIdentifier> {
    SHAKES.iter().find(|(hash, _)| *hash == pss.hash).map(|(_, oid)| *oid)
}

/// Returns a hash function's identifier. Its parameters are NULL for SHA-1 and SHA-2 of RFC 4055,
/// as in RSASSA-PSS-params (section 3.1), and absent for the others.
fn hash_algorithm(hash: Hash) -> Option<AlgorithmIdentifierRef<'static>> {
    let (_, oid) = HASHES.iter().find(|(known, _)| *known == hash)?;
    let older = match hash {
        Hash::Sha1 | Hash::Sha224 | Hash::Sha256 => true,
        #[cfg(feature = "sha512")]
        Hash::Sha384 | Hash::Sha512 => true,
        #[allow(unreachable_patterns, reason = "there may be no other function")]
        _ => false,
    };
    Some(AlgorithmIdentifier { oid: *oid, parameters: older.then_some(AnyRef::NULL) })
}

/// Returns the AlgorithmIdentifier of a signature by RSASSA-PSS, in DER. Default values are
/// omitted.
#[cfg(all(feature = "alloc", feature = "pkcs8"))]
pub(in super::super::super) fn pss_algorithm(pss: Pss) -> der::Result<alloc::vec::Vec<u8>> {
    Algorithm(Restriction::PssWith(pss)).to_der()
}

/// The algorithm of a key with a restriction, for writing.
pub(super) struct Algorithm(pub(super) Restriction);

impl FixedTag for Algorithm {
    const TAG: Tag = Tag::Sequence;
}

impl EncodeValue for Algorithm {
    fn value_len(&self) -> der::Result<Length> {
        match self.0 {
            Restriction::None => ALGORITHM_ID.value_len(),
            Restriction::Pss => PSS.encoded_len(),
            Restriction::PssWith(pss) => match shake_algorithm(pss) {
                Some(oid) => oid.encoded_len(),
                None => PSS.encoded_len()? + Parameters::of(pss).encoded_len()?,
            },
        }
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        match self.0 {
            Restriction::None => ALGORITHM_ID.encode_value(writer),
            Restriction::Pss => PSS.encode(writer),
            Restriction::PssWith(pss) => match shake_algorithm(pss) {
                Some(oid) => oid.encode(writer),
                None => {
                    PSS.encode(writer)?;
                    Parameters::of(pss).encode(writer)
                }
            },
        }
    }
}

impl Parameters<'static> {
    /// Omits default values, as DER requires (X.690, section 11.5).
    fn of(pss: Pss) -> Self {
        let Pss { hash, mask_hash, salt_length } = pss;
        let identifier = |hash: Hash| hash_algorithm(hash).filter(|_| hash != DEFAULT_HASH);
        let mask = |algorithm| AlgorithmIdentifier { oid: MGF1, parameters: Some(algorithm) };
        let salt = u16::try_from(salt_length).ok().filter(|salt| *salt != DEFAULT_SALT);
        Self { hash: identifier(hash), mask: identifier(mask_hash).map(mask), salt, trailer: None }
    }
}

/// Returns a field with its tag.
fn field<T: Encode>(number: u32, value: &Option<T>) -> Option<ContextSpecificRef<'_, T>> {
    let value = value.as_ref()?;
    Some(ContextSpecificRef { tag_number: TagNumber(number), tag_mode: TagMode::Explicit, value })
}

impl EncodeValue for Parameters<'_> {
    fn value_len(&self) -> der::Result<Length> {
        let hashes = field(0, &self.hash).encoded_len()? + field(1, &self.mask).encoded_len()?;
        hashes? + field(2, &self.salt).encoded_len()?
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        field(0, &self.hash).encode(writer)?;
        field(1, &self.mask).encode(writer)?;
        field(2, &self.salt).encode(writer)
    }
}

#[cfg(test)]
mod tests;
