//! The structures around a key when it is written: OneAsymmetricKey and SubjectPublicKeyInfo.

use der::{Encode, EncodeValue, FixedTag, Header, Length, Tag, Writer};

/// OneAsymmetricKey (RFC 5958, section 2) around a private key, without attributes or public key.
pub(crate) struct PrivateInfo<A, K> {
    /// AlgorithmIdentifier.
    pub(crate) algorithm: A,
    pub(crate) key: K,
}

impl<A, K> FixedTag for PrivateInfo<A, K> {
    const TAG: Tag = Tag::Sequence;
}

impl<A: Encode, K: Encode> EncodeValue for PrivateInfo<A, K> {
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
pub(crate) struct PublicInfo<A, K> {
    /// AlgorithmIdentifier.
    pub(crate) algorithm: A,
    pub(crate) key: K,
}

impl<A, K> FixedTag for PublicInfo<A, K> {
    const TAG: Tag = Tag::Sequence;
}

impl<A, K: Encode> PublicInfo<A, K> {
    /// Returns the length of the bit string's contents: the number of unused bits, then the key.
    fn bits_length(&self) -> der::Result<Length> {
        Length::ONE + self.key.encoded_len()?
    }
}

impl<A: Encode, K: Encode> EncodeValue for PublicInfo<A, K> {
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
