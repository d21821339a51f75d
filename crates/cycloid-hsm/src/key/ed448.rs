//! Ed448 keys as DER: 57 bytes in PKCS #8 and SubjectPublicKeyInfo (RFC 8410).

use cycloid::scheme::ed448::{KEY_LENGTH, SigningKey, VerifyingKey};
use pkcs8::der::asn1::{BitStringRef, OctetStringRef};
use pkcs8::der::oid::ObjectIdentifier;
use pkcs8::der::{self, Decode, Encode};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

/// id-Ed448 (RFC 8410, section 3), without parameters.
const ALGORITHM: AlgorithmIdentifierRef<'static> =
    AlgorithmIdentifierRef { oid: ObjectIdentifier::new_unwrap("1.3.101.113"), parameters: None };

/// Reads the private key within PKCS #8, whose algorithm is known.
pub(super) fn from_info(info: &pkcs8::PrivateKeyInfoRef<'_>) -> der::Result<SigningKey> {
    let seed = <&OctetStringRef>::from_der(info.private_key.as_bytes())?;
    let wrong = |_| der::Error::from(der::ErrorKind::Length { tag: der::Tag::OctetString });
    let seed: &[u8; KEY_LENGTH] = seed.as_bytes().try_into().map_err(wrong)?;
    Ok(SigningKey::from_seed(seed))
}

/// Writes PKCS #8.
pub(super) fn to_der(key: &SigningKey) -> Zeroizing<Vec<u8>> {
    let write = || {
        let seed = Zeroizing::new(OctetStringRef::new(key.seed())?.to_der()?);
        let info = pkcs8::PrivateKeyInfoRef::new(ALGORITHM, OctetStringRef::new(&seed)?);
        Ok::<_, der::Error>(Zeroizing::new(info.to_der()?))
    };
    write().expect("a key is not too long for DER")
}

/// Returns the SubjectPublicKeyInfo in DER.
pub(super) fn public_key_info(key: &VerifyingKey) -> Vec<u8> {
    let write = || {
        let subject_public_key = BitStringRef::from_bytes(key.as_bytes())?;
        SubjectPublicKeyInfoRef { algorithm: ALGORITHM, subject_public_key }.to_der()
    };
    write().expect("a key is not too long for DER")
}
