//! RSA keys as DER: the structures of PKCS #1, PKCS #8 and SubjectPublicKeyInfo, read without
//! copying and written directly from limbs.

use der::asn1::UintRef;
use der::{
    Decode, DecodeValue, Encode, EncodeValue, FixedTag, Header, Length, Reader, SliceReader, Tag,
    Writer,
};
use pkcs1::{RsaPrivateKey, RsaPublicKey};
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;

use super::super::private::{Parts, PrivateComponents};
use super::algorithm::restriction;
use super::{Error, PrivateFormat, PublicFormat, Restriction};
use crate::machine::ct::{self, Mask};
use crate::machine::words::{LIMB_BITS, LIMB_BYTES, Limb};
use crate::scheme::encoding::{first_tags, first_tags_of_private};

/// Maps errors of the DER reader: the bytes are not the expected structure.
fn malformed(_: der::Error) -> Error {
    Error::Der
}

/// The modulus and the public exponent, big-endian.
pub(super) struct PublicComponents<'a> {
    pub(super) modulus: &'a [u8],
    pub(super) exponent: &'a [u8],
}

/// Reads the parts of a private key in one of the formats, and its restriction.
pub(super) fn read_private(
    der: &[u8],
    format: PrivateFormat,
) -> Result<(PrivateComponents<'_>, Restriction), Error> {
    // PKCS #8 begins with version and algorithm, PKCS #1 with version and modulus.
    let fields = first_tags_of_private(der)?;
    match format {
        PrivateFormat::Pkcs8 => read_private_info(der),
        PrivateFormat::Any if fields[1] == Tag::Sequence => read_private_info(der),
        PrivateFormat::Pkcs1 | PrivateFormat::Any => {
            Ok((read_private_key(der)?, Restriction::None))
        }
    }
}

/// Reads the parts of a public key in one of the formats, and its restriction.
pub(super) fn read_public(
    der: &[u8],
    format: PublicFormat,
) -> Result<(PublicComponents<'_>, Restriction), Error> {
    match format {
        PublicFormat::Spki => read_public_info(der),
        PublicFormat::Any if first_tags(der)?[0] == Tag::Sequence => read_public_info(der),
        PublicFormat::Pkcs1 | PublicFormat::Any => Ok((read_public_key(der)?, Restriction::None)),
    }
}

/// Reads RSAPrivateKey (RFC 8017, appendix A.1.2).
fn read_private_key(der: &[u8]) -> Result<PrivateComponents<'_>, Error> {
    let version = |mut reader: SliceReader<'_>| {
        Header::decode(&mut reader)?.tag().assert_eq(Tag::Sequence)?;
        u8::decode(&mut reader)
    };
    // Version 1 marks keys with otherPrimeInfos.
    if SliceReader::new(der).and_then(version).map_err(malformed)? == 1 {
        return Err(Error::MultiPrime);
    }
    let key = RsaPrivateKey::<Number<'_>>::from_der(der).map_err(malformed)?;
    Ok(PrivateComponents {
        modulus: key.modulus.0,
        public_exponent: key.public_exponent.0,
        private_exponent: key.private_exponent.0,
        prime1: key.prime1.0,
        prime2: key.prime2.0,
        exponent1: key.exponent1.0,
        exponent2: key.exponent2.0,
        coefficient: key.coefficient.0,
    })
}

/// A nonnegative INTEGER, big-endian, without the leading sign byte. It is secret except for its
/// length.
struct Number<'a>(&'a [u8]);

impl FixedTag for Number<'_> {
    const TAG: Tag = Tag::Integer;
}

impl<'a> DecodeValue<'a> for Number<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        let bytes = reader.read_slice(header.length())?;
        let (first, rest) = bytes.split_first().ok_or(Tag::Integer.length_error())?;
        // DER has a leading zero byte exactly if the next byte has its highest bit set. The length
        // of the number reveals the same.
        let for_sign = Mask::is_zero(Limb::from(*first)).reveal();
        let top = if for_sign { rest.first().copied().unwrap_or(0x80) } else { !first };
        // Whether the number is valid DER is the result of reading.
        if !Mask::from_bit(Limb::from(top >> 7)).reveal() {
            return Err(Tag::Integer.value_error().into());
        }
        Ok(Self(if for_sign && !rest.is_empty() { rest } else { bytes }))
    }
}

/// Reads OneAsymmetricKey (RFC 5958, section 2). Attributes are skipped; a public key must match
/// the private key.
fn read_private_info(der: &[u8]) -> Result<(PrivateComponents<'_>, Restriction), Error> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(malformed)?;
    let restriction = restriction(&info.algorithm)?;
    let key = read_private_key(info.private_key.as_bytes())?;
    if let Some(public) = info.public_key {
        let public = read_public_key(public.as_bytes().ok_or(Error::Der)?)?;
        if public.modulus != key.modulus || public.exponent != key.public_exponent {
            return Err(Error::PublicKey);
        }
    }
    Ok((key, restriction))
}

/// Reads RSAPublicKey (RFC 8017, appendix A.1.1).
fn read_public_key(der: &[u8]) -> Result<PublicComponents<'_>, Error> {
    let key = RsaPublicKey::<UintRef<'_>>::from_der(der).map_err(malformed)?;
    Ok(PublicComponents {
        modulus: key.modulus.as_bytes(),
        exponent: key.public_exponent.as_bytes(),
    })
}

/// Reads SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
fn read_public_info(der: &[u8]) -> Result<(PublicComponents<'_>, Restriction), Error> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(malformed)?;
    let restriction = restriction(&info.algorithm)?;
    let key = read_public_key(info.subject_public_key.as_bytes().ok_or(Error::Der)?)?;
    Ok((key, restriction))
}

/// Returns an RSAPrivateKey for writing.
pub(super) fn private_key<'a>(parts: &Parts<&'a [Limb]>, exponent: u32) -> impl Encode + use<'a> {
    RsaPrivateKey {
        modulus: Integer::Limbs(parts.n),
        public_exponent: Integer::Small([exponent.into()]),
        private_exponent: Integer::Limbs(parts.d),
        prime1: Integer::Limbs(parts.p),
        prime2: Integer::Limbs(parts.q),
        exponent1: Integer::Limbs(parts.d_p),
        exponent2: Integer::Limbs(parts.d_q),
        coefficient: Integer::Limbs(parts.q_inverse),
        other_prime_infos: None,
    }
}

/// Returns an RSAPublicKey for writing.
pub(super) fn public_key(modulus: &[Limb], exponent: u32) -> impl Encode {
    RsaPublicKey {
        modulus: Integer::Limbs(modulus),
        public_exponent: Integer::Small([exponent.into()]),
    }
}

/// A number for writing. Its length in bytes becomes public, since the length of the file reveals
/// it.
enum Integer<'a> {
    Limbs(&'a [Limb]),
    Small([Limb; 1]),
}

impl Integer<'_> {
    /// Returns the limbs, most significant first, and the number of bytes to write: enough to leave
    /// a bit for the sign.
    fn limbs(&self) -> (impl ExactSizeIterator<Item = [u8; LIMB_BYTES]>, usize) {
        let limbs = match self {
            Self::Limbs(limbs) => limbs,
            Self::Small(limb) => &limb[..],
        };
        // The length of the number is visible in the length of the file.
        let zeros = limbs.iter().rev().take_while(|limb| Mask::is_zero(**limb).reveal()).count();
        let used = &limbs[..limbs.len() - zeros];
        let bits = used.last().map_or(0, |top| {
            let unused = (top | 1).leading_zeros();
            // The length of the number is visible in the length of the file.
            ct::mark_public(core::slice::from_ref(&unused));
            used.len() * LIMB_BITS - unused as usize
        });
        (used.iter().rev().map(|limb| limb.to_be_bytes()), bits / 8 + 1)
    }
}

impl FixedTag for Integer<'_> {
    const TAG: Tag = Tag::Integer;
}

impl EncodeValue for Integer<'_> {
    fn value_len(&self) -> der::Result<Length> {
        self.limbs().1.try_into()
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        let (limbs, mut left) = self.limbs();
        if left > limbs.len() * LIMB_BYTES {
            writer.write_byte(0)?;
            left -= 1;
        }
        for limb in limbs {
            let start = (LIMB_BYTES - left % LIMB_BYTES) % LIMB_BYTES;
            writer.write(&limb[start..])?;
            left -= LIMB_BYTES - start;
        }
        Ok(())
    }
}
