//! Public keys that a certificate is issued for, while the private key stays in a token.

use x509_cert::der::asn1::UintRef;
use x509_cert::der::{self, Decode, DecodePem, Reader, SliceReader};
use x509_cert::spki::{ObjectIdentifier, SubjectPublicKeyInfoOwned};

use super::Error;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// The curves, and the bytes of an uncompressed point.
const CURVES: [(ObjectIdentifier, usize); 3] = [
    (ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"), 65),
    (ObjectIdentifier::new_unwrap("1.3.132.0.34"), 97),
    (ObjectIdentifier::new_unwrap("1.3.132.0.35"), 133),
];

/// The fewest bits of an RSA modulus that peers accept, and the most.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A public key that signs handshakes: RSA with 2048 to 8192 bits, ECDSA on P-256, P-384 or P-521,
/// or Ed25519.
#[derive(Clone, Debug)]
pub struct PublicKey(SubjectPublicKeyInfoOwned);

impl PublicKey {
    /// Parses a public key in PEM (`PUBLIC KEY`), as `cycloid-hsm key export` and `openssl pkey
    /// -pubout` print it.
    ///
    /// # Errors
    /// Another text, or a key of another kind.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        let parsed = SubjectPublicKeyInfoOwned::from_pem(text.trim());
        let parsed = parsed.map_err(|_| {
            Error::new(
                "this is not a public key in PEM",
                "`cycloid-hsm key export LABEL` prints one",
            )
        })?;
        Self::new(parsed)
    }

    pub(super) fn new(info: SubjectPublicKeyInfoOwned) -> Result<Self, Error> {
        if is_usable(&info) {
            return Ok(Self(info));
        }
        Err(Error::new(
            "no handshake can be signed with this kind of key",
            "use RSA with 2048 bits or more, ECDSA on P-256, P-384 or P-521, or Ed25519",
        ))
    }

    pub(super) fn is_rsa(&self) -> bool {
        self.0.algorithm.oid == RSA
    }

    pub(super) fn info(&self) -> &SubjectPublicKeyInfoOwned {
        &self.0
    }
}

fn is_usable(info: &SubjectPublicKeyInfoOwned) -> bool {
    let Some(key) = info.subject_public_key.as_bytes() else { return false };
    let curve = || info.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok();
    match info.algorithm.oid {
        RSA => modulus_bits(key).is_some_and(|bits| RSA_BITS.contains(&bits)),
        ED25519 => key.len() == 32,
        EC => CURVES.iter().any(|(oid, length)| {
            curve() == Some(*oid) && key.len() == *length && key.first() == Some(&4)
        }),
        _ => false,
    }
}

/// Returns the bits of the modulus of an RSAPublicKey (RFC 8017, A.1.1).
fn modulus_bits(key: &[u8]) -> Option<usize> {
    let mut reader = SliceReader::new(key).ok()?;
    let modulus: der::Result<&[u8]> = reader.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        UintRef::decode(reader)?;
        Ok(modulus.as_bytes())
    });
    let modulus = modulus.ok()?;
    let first = modulus.first()?;
    Some(8 * modulus.len() - first.leading_zeros() as usize)
}
