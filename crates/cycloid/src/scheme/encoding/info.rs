//! The structures around a key, to be written: OneAsymmetricKey and SubjectPublicKeyInfo.

use der::{Encode, EncodeValue, FixedTag, Header, Length, Tag, Writer};
use spki::AlgorithmIdentifierRef;

/// OneAsymmetricKey (RFC 5958, section 2) without attributes and public key, around a private key.
pub(crate) struct PrivateInfo<'a, K> {
    pub(crate) algorithm: AlgorithmIdentifierRef<'a>,
    pub(crate) key: K,
}

impl<K> FixedTag for PrivateInfo<'_, K> {
    const TAG: Tag = Tag::Sequence;
}

impl<K: Encode> EncodeValue for PrivateInfo<'_, K> {
    fn value_len(&self) -> der::Result<Length> {
        let key = self.key.encoded_len()?.for_tlv(Tag::OctetString)?;
        0u8.encoded_len()? + self.algorithm.encoded_len()? + key
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        0u8.encode(writer)?;
        self.algorithm.encode(writer)?;
        Header::new(Tag::OctetString, self.key.encoded_len()?).encode(writer)?;
        self.key.encode(writer)
    }
}

/// SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7) around a public key.
pub(crate) struct PublicInfo<'a, K> {
    pub(crate) algorithm: AlgorithmIdentifierRef<'a>,
    pub(crate) key: K,
}

impl<K> FixedTag for PublicInfo<'_, K> {
    const TAG: Tag = Tag::Sequence;
}

impl<K: Encode> PublicInfo<'_, K> {
    /// The contents of the bit string: the number of bits not used, and the key.
    fn bits_length(&self) -> der::Result<Length> {
        Length::ONE + self.key.encoded_len()?
    }
}

impl<K: Encode> EncodeValue for PublicInfo<'_, K> {
    fn value_len(&self) -> der::Result<Length> {
        self.algorithm.encoded_len()? + self.bits_length()?.for_tlv(Tag::BitString)?
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.algorithm.encode(writer)?;
        Header::new(Tag::BitString, self.bits_length()?).encode(writer)?;
        writer.write_byte(0)?;
        self.key.encode(writer)
    }
}
