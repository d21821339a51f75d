//! RSA keys as DER: the structures of PKCS #1, PKCS #8 and SubjectPublicKeyInfo, read without
//! copying and written directly from limbs.

use der::asn1::UintRef;
use der::{
    Decode, DecodeValue, Encode, EncodeValue, FixedTag, Header, Length, Reader, Tag, Writer,
};
use pkcs1::RsaPublicKey;
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;

use super::super::components::{OtherPrime, PrivateComponents};
use super::super::factors::{Factor, MAX_PRIMES};
use super::super::private::BorrowedKey;
use super::algorithm::restriction;
use super::{Error, PrivateFormat, PublicFormat, Restriction};
use crate::machine::ct::{self, Mask};
use crate::machine::words::{LIMB_BITS, LIMB_BYTES, Limb};
use crate::scheme::FormatError;
use crate::scheme::encoding::{Number, first_tags, first_tags_of_private};

/// Maps errors of the DER reader: the bytes are not the expected structure.
fn malformed(_: der::Error) -> Error {
    Error::Format(FormatError::Der)
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
) -> Result<(Pkcs1<'_>, Restriction), Error> {
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
fn read_private_key(der: &[u8]) -> Result<Pkcs1<'_>, Error> {
    Pkcs1::from_der(der).map_err(malformed)
}

/// An RSAPrivateKey that was read.
pub(super) struct Pkcs1<'a> {
    /// From the modulus to the coefficient.
    numbers: [&'a [u8]; 8],
    others: [OtherPrime<'a>; MAX_PRIMES - 1],
    count: usize,
}

impl Pkcs1<'_> {
    /// Returns the parts of the key.
    pub(super) fn components(&self) -> PrivateComponents<'_> {
        let [modulus, public_exponent, private_exponent, prime1, prime2, ..] = self.numbers;
        let [.., exponent1, exponent2, coefficient] = self.numbers;
        PrivateComponents {
            modulus,
            public_exponent,
            private_exponent,
            prime1,
            prime2,
            exponent1,
            exponent2,
            coefficient,
            other_primes: &self.others[..self.count],
        }
    }
}

impl FixedTag for Pkcs1<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for Pkcs1<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let version = u8::decode(reader)?;
        let mut numbers = [&[][..]; 8];
        for number in &mut numbers {
            *number = Number::decode(reader)?.0;
        }
        let mut key = Self { numbers, others: Default::default(), count: 0 };
        match version {
            0 => Ok(key),
            // Version 1 marks keys with otherPrimeInfos, at least one.
            1 => reader.sequence(|reader| {
                while !reader.is_finished() || key.count == 0 {
                    let other = reader.sequence(|reader| {
                        let mut number = || Ok::<_, der::Error>(Number::decode(reader)?.0);
                        let (prime, exponent, coefficient) = (number()?, number()?, number()?);
                        Ok::<_, der::Error>(OtherPrime { prime, exponent, coefficient })
                    })?;
                    // One prime too many is kept, so that the key is refused for it.
                    if let Some(room) = key.others.get_mut(key.count) {
                        *room = other;
                        key.count += 1;
                    }
                }
                Ok(key)
            }),
            _ => Err(reader.error(Tag::Integer.value_error())),
        }
    }
}

/// Reads OneAsymmetricKey (RFC 5958, section 2). Attributes are skipped; a public key must match
/// the private key.
fn read_private_info(der: &[u8]) -> Result<(Pkcs1<'_>, Restriction), Error> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(malformed)?;
    let restriction = restriction(&info.algorithm)?;
    let key = read_private_key(info.private_key.as_bytes())?;
    if let Some(public) = info.public_key {
        let public = read_public_key(public.as_bytes().ok_or(FormatError::Der)?)?;
        if [public.modulus, public.exponent] != key.numbers[..2] {
            return Err(FormatError::OtherPublicKey.into());
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
    let key = read_public_key(info.subject_public_key.as_bytes().ok_or(FormatError::Der)?)?;
    Ok((key, restriction))
}

/// An RSAPrivateKey for writing.
pub(super) struct PrivateKeyStructure<'a>(pub(super) BorrowedKey<'a>);

impl FixedTag for PrivateKeyStructure<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> PrivateKeyStructure<'a> {
    /// Returns the version, the numbers, and the further primes.
    fn fields(&self) -> (u8, [Integer<'a>; 8], Option<OtherPrimes<'a>>) {
        let key = self.0;
        let mut factors = key.factors();
        let mut factor = || factors.next().expect("a key has two primes at least");
        let (first, second) = (factor(), factor());
        let others = factors.next().map(|_| OtherPrimes(key));
        let numbers = [
            Integer::Limbs(key.n()),
            Integer::Small([key.public().exponent()]),
            Integer::Limbs(key.d()),
            Integer::Limbs(first.prime),
            Integer::Limbs(second.prime),
            Integer::Limbs(first.exponent),
            Integer::Limbs(second.exponent),
            Integer::Limbs(first.coefficient),
        ];
        (u8::from(others.is_some()), numbers, others)
    }
}

impl EncodeValue for PrivateKeyStructure<'_> {
    fn value_len(&self) -> der::Result<Length> {
        let (version, numbers, others) = self.fields();
        let lengths = numbers.iter().map(Encode::encoded_len);
        let start = version.encoded_len()? + others.encoded_len()?;
        lengths.fold(start, |sum, length| sum? + length?)
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        let (version, numbers, others) = self.fields();
        version.encode(writer)?;
        numbers.iter().try_for_each(|number| number.encode(writer))?;
        others.encode(writer)
    }
}

/// OtherPrimeInfos: the third prime of a key and further ones.
struct OtherPrimes<'a>(BorrowedKey<'a>);

impl<'a> OtherPrimes<'a> {
    fn iter(&self) -> impl Iterator<Item = OtherPrimeStructure<'a>> {
        self.0.factors().skip(2).map(|Factor { prime, exponent, coefficient }| {
            OtherPrimeStructure([prime, exponent, coefficient].map(Integer::Limbs))
        })
    }
}

impl FixedTag for OtherPrimes<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl EncodeValue for OtherPrimes<'_> {
    fn value_len(&self) -> der::Result<Length> {
        self.iter().try_fold(Length::ZERO, |sum, other| sum + other.encoded_len()?)
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.iter().try_for_each(|other| other.encode(writer))
    }
}

/// OtherPrimeInfo.
struct OtherPrimeStructure<'a>([Integer<'a>; 3]);

impl FixedTag for OtherPrimeStructure<'_> {
    const TAG: Tag = Tag::Sequence;
}

impl EncodeValue for OtherPrimeStructure<'_> {
    fn value_len(&self) -> der::Result<Length> {
        self.0.iter().try_fold(Length::ZERO, |sum, number| sum + number.encoded_len()?)
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.0.iter().try_for_each(|number| number.encode(writer))
    }
}

/// Returns an RSAPublicKey for writing.
pub(super) fn public_key(modulus: &[Limb], exponent: u64) -> impl Encode {
    RsaPublicKey { modulus: Integer::Limbs(modulus), public_exponent: Integer::Small([exponent]) }
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
