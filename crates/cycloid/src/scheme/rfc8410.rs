//! X25519 and Ed25519 keys as DER and PEM: 32 bytes (RFC 8410) in PKCS #8 (RFC 5958) or
//! SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7); PEM as in RFC 7468.

use der::asn1::{BitStringRef, OctetStringRef};
use der::{
    Decode, DecodeValue, Encode, FixedTag, Header, Length, Reader, Tag, TagMode, TagNumber, Writer,
};
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::FormatError;
use super::encoding::{ENCRYPTED_LABEL, PKCS8_LABEL, SPKI_LABEL, first_tags_of_private, pem};
use crate::machine::ct;

/// id-X25519 and id-Ed25519 (RFC 8410, section 3).
pub(super) const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// The length of a private key in DER, without and with its public key.
pub(super) const PRIVATE_DER_LENGTH: usize = 48;
pub(super) const PAIR_DER_LENGTH: usize = 83;

/// The length of a public key in DER.
pub(super) const PUBLIC_DER_LENGTH: usize = 44;

/// The lengths of the same structures in PEM.
pub(super) const PRIVATE_PEM_LENGTH: usize = pem::length(PKCS8_LABEL, PRIVATE_DER_LENGTH);
pub(super) const PAIR_PEM_LENGTH: usize = pem::length(PKCS8_LABEL, PAIR_DER_LENGTH);
pub(super) const PUBLIC_PEM_LENGTH: usize = pem::length(SPKI_LABEL, PUBLIC_DER_LENGTH);

/// The longest DER that is read from PEM: a private key with some attributes.
const MAX_DER: usize = 1024;

/// Maps errors of the DER reader: the bytes are not the expected structure.
fn malformed(_: der::Error) -> FormatError {
    FormatError::Der
}

/// A private key, and its public key if present.
pub(super) struct PrivateInfo<'a> {
    pub(super) private: &'a [u8; 32],
    pub(super) public: Option<&'a [u8; 32]>,
}

/// Reads OneAsymmetricKey (RFC 5958, section 2) around CurvePrivateKey (RFC 8410, section 7).
/// Attributes are skipped. For Ed25519 the [`ExplicitlyTagged`] form is read as well.
pub(super) fn read_private(
    der: &[u8],
    algorithm: ObjectIdentifier,
) -> Result<PrivateInfo<'_>, FormatError> {
    first_tags_of_private(der)?;
    let read = PrivateKeyInfoRef::from_der(der)
        .map(|info| (info.algorithm, info.private_key, info.public_key))
        .or_else(|error| match ExplicitlyTagged::from_der(der) {
            Ok(ExplicitlyTagged(found, key, public)) if algorithm == ED25519 => {
                Ok((found, key, Some(public)))
            }
            _ => Err(error),
        });
    let (found, key, public) = read.map_err(malformed)?;
    check_algorithm(&found, algorithm)?;
    let key = <&OctetStringRef>::from_der(key.as_bytes()).map_err(malformed)?;
    let public = public.map(|key| key.as_bytes().ok_or(FormatError::Der)).transpose()?;
    Ok(PrivateInfo {
        private: key.as_bytes().try_into().map_err(|_| FormatError::Der)?,
        public: public.map(TryInto::try_into).transpose().map_err(|_| FormatError::Der)?,
    })
}

/// OneAsymmetricKey of version 2 with the public key tagged `[1] EXPLICIT` instead of `IMPLICIT`,
/// which RFC 5958 prescribes. Versions of the crate ring up to 0.16 wrote this form. It is read but
/// not written.
struct ExplicitlyTagged<'a>(AlgorithmIdentifierRef<'a>, &'a OctetStringRef, BitStringRef<'a>);

impl FixedTag for ExplicitlyTagged<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for ExplicitlyTagged<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        // Version 2 is encoded as 1.
        if u8::decode(reader)? != 1 {
            return Err(reader.error(Tag::Integer.value_error()));
        }
        let algorithm = reader.decode()?;
        let key = <&OctetStringRef>::decode(reader)?;
        let public = reader.context_specific(TagNumber(1), TagMode::Explicit)?;
        let public = public.ok_or_else(|| reader.error(Tag::BitString.value_error()))?;
        Ok(Self(algorithm, key, public))
    }
}

/// Reads SubjectPublicKeyInfo.
pub(super) fn read_public(
    der: &[u8],
    algorithm: ObjectIdentifier,
) -> Result<&[u8; 32], FormatError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(malformed)?;
    check_algorithm(&info.algorithm, algorithm)?;
    let key = info.subject_public_key.as_bytes().ok_or(FormatError::Der)?;
    key.try_into().map_err(|_| FormatError::Der)
}

/// Checks that parameters are absent, as RFC 8410, section 3, requires.
fn check_algorithm(
    found: &AlgorithmIdentifierRef<'_>,
    algorithm: ObjectIdentifier,
) -> Result<(), FormatError> {
    if found.oid == algorithm && found.parameters.is_none() {
        Ok(())
    } else {
        Err(FormatError::Algorithm)
    }
}

/// Passes the DER of the first private key in a PEM text to a closure, then wipes the decoded
/// bytes.
pub(super) fn with_private_pem<T, E: From<FormatError>>(
    text: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, E> {
    with_block(pem::find_private(text, &[PKCS8_LABEL, ENCRYPTED_LABEL]), read)
}

/// Passes the DER of the first public key in a PEM text to a closure.
pub(super) fn with_public_pem<T, E: From<FormatError>>(
    text: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, E> {
    with_block(pem::find(text, &[SPKI_LABEL]), read)
}

fn with_block<T, E: From<FormatError>>(
    block: Result<pem::Block<'_>, FormatError>,
    read: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, E> {
    let block = block?;
    if block.label == ENCRYPTED_LABEL {
        return Err(FormatError::Encrypted.into());
    }
    let mut decoded = [0; MAX_DER];
    let outcome = match decoded.get_mut(..block.most_bytes()) {
        Some(decoded) => match block.decode(decoded) {
            Ok(der) => read(der),
            Err(error) => Err(error.into()),
        },
        None => Err(FormatError::Pem.into()),
    };
    ct::wipe_bytes(&mut decoded);
    outcome
}

/// A DER structure in parts, in which only the object identifier and the keys vary.
pub(super) struct Template<'a>([&'a [u8]; 6]);

impl<'a> Template<'a> {
    /// Returns OneAsymmetricKey, with version 2 and the public key if there is one: `SEQUENCE {
    /// INTEGER version, SEQUENCE { OBJECT IDENTIFIER }, OCTET STRING { OCTET STRING }, [1] BIT
    /// STRING }`.
    pub(super) fn private(
        algorithm: &'a ObjectIdentifier,
        key: &'a [u8; 32],
        public: Option<&'a [u8; 32]>,
    ) -> Self {
        let identifier = algorithm.as_bytes();
        let before_key = &[0x04, 0x22, 0x04, 0x20];
        if let Some(public) = public {
            let header = &[0x30, 0x51, 0x02, 0x01, 0x01, 0x30, 0x05, 0x06, 0x03];
            Self([header, identifier, before_key, key, &[0x81, 0x21, 0x00], public])
        } else {
            let header = &[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03];
            Self([header, identifier, before_key, key, &[], &[]])
        }
    }

    /// Returns SubjectPublicKeyInfo: `SEQUENCE { SEQUENCE { OBJECT IDENTIFIER }, BIT STRING }`.
    pub(super) fn public(algorithm: &'a ObjectIdentifier, key: &'a [u8; 32]) -> Self {
        let header = &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03];
        Self([header, algorithm.as_bytes(), &[0x03, 0x21, 0x00], key, &[], &[]])
    }

    /// Writes the structure as DER and returns the written prefix of `output`.
    pub(super) fn to_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], FormatError> {
        let (needed, given) = (self.0.iter().map(|part| part.len()).sum(), output.len());
        let output = output.get_mut(..needed);
        let output = output.ok_or(FormatError::OutputTooSmall { needed, given })?;
        let mut rest = &mut *output;
        for part in self.0 {
            let (start, after) = rest.split_at_mut(part.len());
            start.copy_from_slice(part);
            rest = after;
        }
        Ok(output)
    }

    /// Writes a private key as PEM and returns the written prefix of `output`.
    pub(super) fn to_private_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, FormatError> {
        pem::write(self, PKCS8_LABEL, output)
    }

    /// Writes a public key as PEM and returns the written prefix of `output`.
    pub(super) fn to_public_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, FormatError> {
        pem::write(self, SPKI_LABEL, output)
    }
}

impl Encode for Template<'_> {
    fn encoded_len(&self) -> der::Result<Length> {
        self.0.iter().try_fold(Length::ZERO, |sum, part| sum + Length::try_from(part.len())?)
    }

    fn encode(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.0.iter().try_for_each(|part| writer.write(part))
    }
}
