//! EC keys as DER: ECPrivateKey, and the parts of OneAsymmetricKey and SubjectPublicKeyInfo, read
//! without copying.

use der::asn1::{AnyRef, BitStringRef, ContextSpecific, OctetStringRef};
use der::oid::ObjectIdentifier;
use der::{
    Decode, DecodeValue, Encode, EncodeValue, FixedTag, Header, Length, Reader, Tag, TagMode,
    TagNumber, Tagged, Writer,
};
use pkcs8::PrivateKeyInfoRef;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::{Error, PrivateFormat};
use crate::math::curve::Curve;
use crate::scheme::FormatError;
use crate::scheme::encoding::{first_tags_of_private, is_same};

/// id-ecPublicKey (RFC 5480, section 2.1.1).
pub(super) const ALGORITHM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Returns the object identifier of a curve (RFC 5480, section 2.1.1.1; RFC 5639, section 4.1).
pub(super) const fn name<C: Curve>() -> ObjectIdentifier {
    // Evaluated when compiling, so that no program contains the code for it.
    const { ObjectIdentifier::new_unwrap(C::OBJECT_IDENTIFIER) }
}

/// Returns the AlgorithmIdentifier of keys on a curve; `name` is the curve's [name].
pub(super) fn algorithm(name: &ObjectIdentifier) -> AlgorithmIdentifierRef<'_> {
    AlgorithmIdentifierRef { oid: ALGORITHM, parameters: Some(name.into()) }
}

/// Maps errors of the DER reader: the bytes are not the expected structure.
fn malformed(_: der::Error) -> Error {
    Error::Format(FormatError::Der)
}

/// The scalar of a private key, big-endian, and the public keys stored with it.
pub(super) struct PrivateComponents<'a> {
    pub(super) scalar: &'a [u8],
    pub(super) public: [Option<&'a [u8]>; 2],
}

/// Reads the parts of a private key on the named curve from either format.
pub(super) fn read_private(
    der: &[u8],
    format: PrivateFormat,
    name: ObjectIdentifier,
) -> Result<PrivateComponents<'_>, Error> {
    // PKCS #8 begins with version and algorithm, ECPrivateKey with version and scalar.
    let fields = first_tags_of_private(der)?;
    match format {
        PrivateFormat::Pkcs8 => read_private_info(der, name),
        PrivateFormat::Any if fields[1] == Tag::Sequence => read_private_info(der, name),
        PrivateFormat::Sec1 | PrivateFormat::Any => {
            let key = EcPrivateKey::from_der(der).map_err(malformed)?;
            check_parameters(key.parameters, name)?;
            Ok(PrivateComponents { scalar: key.scalar, public: [key.public, None] })
        }
    }
}

/// Reads OneAsymmetricKey (RFC 5958, section 2). Attributes are skipped. If the parameters are
/// repeated within the key, they must be the same there (RFC 5915, section 3, requires them to be
/// present).
fn read_private_info(der: &[u8], name: ObjectIdentifier) -> Result<PrivateComponents<'_>, Error> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(malformed)?;
    check_algorithm(&info.algorithm, name)?;
    let key = EcPrivateKey::from_der(info.private_key.as_bytes()).map_err(malformed)?;
    if key.parameters.is_some() && key.parameters != info.algorithm.parameters {
        return Err(FormatError::Parameters.into());
    }
    let outer = info.public_key.map(|bits| bits.as_bytes().ok_or(FormatError::Der)).transpose()?;
    Ok(PrivateComponents { scalar: key.scalar, public: [key.public, outer] })
}

/// Returns the point in SubjectPublicKeyInfo (RFC 5480, section 2).
pub(super) fn read_public_info(der: &[u8], name: ObjectIdentifier) -> Result<&[u8], Error> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(malformed)?;
    check_algorithm(&info.algorithm, name)?;
    info.subject_public_key.as_bytes().ok_or(Error::Format(FormatError::Der))
}

fn check_algorithm(
    algorithm: &AlgorithmIdentifierRef<'_>,
    name: ObjectIdentifier,
) -> Result<(), Error> {
    if algorithm.oid != ALGORITHM {
        return Err(FormatError::Algorithm.into());
    }
    check_parameters(algorithm.parameters, name)
}

/// Checks that ECParameters (RFC 5480, section 2.1.1) consist of the name of the curve and nothing
/// else.
fn check_parameters(parameters: Option<AnyRef<'_>>, name: ObjectIdentifier) -> Result<(), Error> {
    let parameters = parameters.ok_or(FormatError::Parameters)?;
    match parameters.tag() {
        Tag::Sequence => Err(FormatError::ExplicitParameters.into()),
        Tag::ObjectIdentifier if is_same(parameters.value(), name.as_bytes()) => Ok(()),
        Tag::ObjectIdentifier => Err(FormatError::OtherCurve.into()),
        _ => Err(FormatError::Parameters.into()),
    }
}

/// ECPrivateKey (RFC 5915, section 3).
struct EcPrivateKey<'a> {
    scalar: &'a [u8],
    parameters: Option<AnyRef<'a>>,
    public: Option<&'a [u8]>,
}

impl EcPrivateKey<'_> {
    const VERSION: u8 = 1;
    const PARAMETERS: TagNumber = TagNumber(0);
    const PUBLIC_KEY: TagNumber = TagNumber(1);
}

/// Returns an ECPrivateKey for writing, with the public key, and with parameters if given.
pub(super) fn private_key<'a>(
    scalar: &'a [u8],
    parameters: Option<&'a ObjectIdentifier>,
    public: &'a [u8],
) -> impl Encode + use<'a> {
    EcPrivateKey { scalar, parameters: parameters.map(AnyRef::from), public: Some(public) }
}

impl FixedTag for EcPrivateKey<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for EcPrivateKey<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        if u8::decode(reader)? != Self::VERSION {
            return Err(reader.error(Tag::Integer.value_error()));
        }
        let scalar = <&OctetStringRef>::decode(reader)?.as_bytes();
        let parameters = ContextSpecific::decode_explicit(reader, Self::PARAMETERS)?;
        let public: Option<BitStringRef<'_>> =
            reader.context_specific(Self::PUBLIC_KEY, TagMode::Explicit)?;
        let public = public.map(|bits| bits.as_bytes().ok_or(Tag::BitString.value_error()));
        let public = public.transpose()?;
        Ok(Self { scalar, parameters: parameters.map(|field| field.value), public })
    }
}

impl EcPrivateKey<'_> {
    /// Returns the fields after the version.
    fn fields(&self) -> der::Result<(&OctetStringRef, impl Encode, impl Encode)> {
        let parameters = self.parameters.map(|value| ContextSpecific {
            tag_number: Self::PARAMETERS,
            tag_mode: TagMode::Explicit,
            value,
        });
        let public = self.public.map(BitStringRef::from_bytes).transpose()?;
        let public = public.map(|value| ContextSpecific {
            tag_number: Self::PUBLIC_KEY,
            tag_mode: TagMode::Explicit,
            value,
        });
        Ok((OctetStringRef::new(self.scalar)?, parameters, public))
    }
}

impl EncodeValue for EcPrivateKey<'_> {
    fn value_len(&self) -> der::Result<Length> {
        let (scalar, parameters, public) = self.fields()?;
        Self::VERSION.encoded_len()?
            + scalar.encoded_len()?
            + parameters.encoded_len()?
            + public.encoded_len()?
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        let (scalar, parameters, public) = self.fields()?;
        Self::VERSION.encode(writer)?;
        scalar.encode(writer)?;
        parameters.encode(writer)?;
        public.encode(writer)
    }
}

/// A point in its encoded form, for writing: the contents of SubjectPublicKeyInfo's bit string.
pub(super) struct Point<'a>(pub(super) &'a [u8]);

impl Encode for Point<'_> {
    fn encoded_len(&self) -> der::Result<Length> {
        self.0.len().try_into()
    }

    fn encode(&self, writer: &mut impl Writer) -> der::Result<()> {
        writer.write(self.0)
    }
}
