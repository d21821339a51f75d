//! A client's RSA key of 1024 to 2040 bits, as some providers give to all their customers, who
//! authenticate by a password. Such a key proves little, so a server's must be longer.
//!
//! Source: RFC 8017, A.1 (PKCS #1); RFC 5958 (PKCS #8); RFC 8446, 4.2.3 (the schemes).

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Context, PrivateKey, context_limbs, der_scratch_limbs, private_key_limbs,
};
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use x509_cert::der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use x509_cert::der::{self, Decode, Encode, Reader, SliceReader, Tag};
use x509_cert::spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

/// rsaEncryption, RFC 8017, A.1.
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// The longest such key.
const MAX_BITS: usize = 2040;

/// The schemes, best first. PSS with SHA-512 and its salt does not fit 1024 bits.
const SCHEMES: [SignatureScheme; 5] = [
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

type Key = PrivateKey<Box<[u64]>>;

/// A short key.
struct ShortKey {
    key: Arc<Key>,
    /// SubjectPublicKeyInfo.
    public: Vec<u8>,
}

/// Loads a key from PKCS #1 or PKCS #8. Returns `None` if it is none of these lengths.
pub(super) fn load(key: &PrivateKeyDer<'_>) -> Option<Arc<dyn SigningKey>> {
    let pkcs8 = match key {
        PrivateKeyDer::Pkcs1(key) => Zeroizing::new(in_pkcs8(key.secret_pkcs1_der()).ok()?),
        PrivateKeyDer::Pkcs8(key) => Zeroizing::new(key.secret_pkcs8_der().to_vec()),
        _ => return None,
    };
    let public = public_key(&pkcs8).ok()?;
    let memory = vec![0; private_key_limbs(MAX_BITS)].into_boxed_slice();
    let mut scratch = vec![0; der_scratch_limbs(MAX_BITS)];
    let key = Key::from_pkcs8_der_legacy(&pkcs8, memory, &mut scratch).ok()?;
    Some(Arc::new(ShortKey { key: Arc::new(key), public }))
}

/// Returns a sequence with these contents.
fn sequence(parts: &[&[u8]]) -> der::Result<Zeroizing<Vec<u8>>> {
    let contents = Zeroizing::new(parts.concat());
    Ok(Zeroizing::new(AnyRef::new(Tag::Sequence, &contents)?.to_der()?))
}

fn algorithm() -> der::Result<Vec<u8>> {
    AlgorithmIdentifierRef { oid: RSA, parameters: Some(AnyRef::NULL) }.to_der()
}

/// Wraps RSAPrivateKey in PrivateKeyInfo.
fn in_pkcs8(pkcs1: &[u8]) -> der::Result<Vec<u8>> {
    let key = Zeroizing::new(OctetStringRef::new(pkcs1)?.to_der()?);
    Ok(sequence(&[&0u8.to_der()?, &algorithm()?, &key])?.to_vec())
}

/// Returns the SubjectPublicKeyInfo of a PrivateKeyInfo of RSA.
fn public_key(pkcs8: &[u8]) -> der::Result<Vec<u8>> {
    let mut reader = SliceReader::new(pkcs8)?;
    let key = reader.sequence(|fields| -> der::Result<_> {
        fields.decode::<u8>()?;
        fields
            .decode::<AlgorithmIdentifierRef<'_>>()?
            .assert_algorithm_oid(RSA)
            .map_err(|_| Tag::ObjectIdentifier.value_error())?;
        let key: &OctetStringRef = fields.decode()?;
        while !fields.is_finished() {
            fields.tlv_bytes()?;
        }
        Ok(key.as_bytes())
    })?;
    let parts = AnyRef::from_der(key)?;
    let mut fields = SliceReader::new(parts.value())?;
    fields.decode::<u8>()?;
    let (modulus, exponent): (UintRef<'_>, UintRef<'_>) = (fields.decode()?, fields.decode()?);
    let numbers = sequence(&[&modulus.to_der()?, &exponent.to_der()?])?;
    let bits = BitStringRef::from_bytes(&numbers)?.to_der()?;
    Ok(sequence(&[&algorithm()?, &bits])?.to_vec())
}

impl fmt::Debug for ShortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RSA key of {} bits", self.key.bits())
    }
}

impl SigningKey for ShortKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = *SCHEMES.iter().find(|scheme| offered.contains(scheme))?;
        Some(Box::new(ShortSigner { key: Arc::clone(&self.key), scheme }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.public.as_slice().into())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

struct ShortSigner {
    key: Arc<Key>,
    scheme: SignatureScheme,
}

impl fmt::Debug for ShortSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signer by {:?}", self.scheme)
    }
}

impl Signer for ShortSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let failed = |error: &dyn fmt::Display| Error::General(format!("RSA signing: {error}"));
        let (algorithm, hash, pss) = match self.scheme {
            SignatureScheme::RSA_PSS_SHA256 => (&digest::SHA256, Hash::Sha256, true),
            SignatureScheme::RSA_PSS_SHA384 => (&digest::SHA384, Hash::Sha384, true),
            SignatureScheme::RSA_PKCS1_SHA256 => (&digest::SHA256, Hash::Sha256, false),
            SignatureScheme::RSA_PKCS1_SHA384 => (&digest::SHA384, Hash::Sha384, false),
            _ => (&digest::SHA512, Hash::Sha512, false),
        };
        let digest = digest::digest(algorithm, message);
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| failed(&error))?;
        let bits = self.key.bits();
        let mut memory = vec![0; context_limbs(bits)];
        let mut context = Context::new(&self.key, ChaCha20Rng::from_seed(*seed), &mut memory)
            .map_err(|error| failed(&error))?;
        let mut signature = vec![0; bits.div_ceil(8)];
        let digest = digest.as_ref();
        if pss {
            context.sign_pss_prehashed(hash, digest, digest.len(), &mut signature)
        } else {
            context.sign_pkcs1v15_prehashed(hash, digest, &mut signature)
        }
        .map_err(|error| failed(&error))?;
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustls::pki_types::pem::PemObject;

    use super::*;

    /// OpenSSL verifies each scheme's signature, with the public key that this end reports.
    #[test]
    fn signatures_verify() {
        let directory = tempfile::tempdir().unwrap();
        let openssl = |line: &str| {
            let mut command = Command::new("openssl");
            let output = command.args(line.split(' ')).current_dir(directory.path()).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
        };
        openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key.pem");
        openssl("rsa -traditional -in key.pem -out pkcs1.pem");
        let message = b"a handshake";
        std::fs::write(directory.path().join("message"), message).unwrap();
        for file in ["key.pem", "pkcs1.pem"] {
            let key = PrivateKeyDer::from_pem_file(directory.path().join(file)).unwrap();
            assert!(cycloid_rustls::any_supported_key(&key).is_err(), "the reason for this file");
            let key = load(&key).unwrap();
            assert_eq!(format!("{key:?}"), "RSA key of 1024 bits");
            let public = key.public_key().unwrap();
            std::fs::write(directory.path().join("public.der"), public.as_ref()).unwrap();
            for scheme in SCHEMES {
                let signer = key.choose_scheme(&[scheme]).unwrap();
                let signature = signer.sign(message).unwrap();
                std::fs::write(directory.path().join("signature"), signature).unwrap();
                let name = format!("{scheme:?}");
                let hash = name.rsplit("SHA").next().unwrap();
                let padding = match name.contains("PSS") {
                    true => "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest ",
                    false => "",
                };
                openssl(&format!(
                    "dgst -sha{hash} {padding}-keyform DER -verify public.der -signature signature message"
                ));
            }
            assert!(key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA512]).is_none());
        }
    }

    #[test]
    fn other_keys_are_none() {
        for size in ["rsa_keygen_bits:512", "rsa_keygen_bits:2048"] {
            let output = Command::new("openssl")
                .args(["genpkey", "-algorithm", "RSA", "-pkeyopt", size])
                .output()
                .unwrap();
            let key = PrivateKeyDer::from_pem_slice(&output.stdout).unwrap();
            assert!(load(&key).is_none(), "{size}");
        }
        let broken = PrivateKeyDer::Pkcs1(vec![0x30, 3, 2, 1, 0].into());
        assert!(load(&broken).is_none());
    }
}
