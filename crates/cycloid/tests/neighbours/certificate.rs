//! Certificates issued with `x509-cert` and verified by `openssl`.

use std::str::FromStr;
use std::time::Duration;

use cycloid::scheme::Hash;
use cycloid::scheme::ec::{P256, PrivateKey};
use cycloid::scheme::rsa::{self, SignatureScheme};
use cycloid::scheme::{ecdsa, ed25519, nist};
use der::pem::LineEnding;
use der::{Decode, Encode, EncodePem};
use rand_core::UnwrapErr;
use signature::{Keypair, Signer};
use spki::{
    DynSignatureAlgorithmIdentifier, EncodePublicKey, SignatureBitStringEncoding,
    SubjectPublicKeyInfoOwned,
};
use x509_cert::Certificate;
use x509_cert::builder::profile::cabf::Root;
use x509_cert::builder::{Builder, CertificateBuilder};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Validity;

use crate::support::Generator;
use crate::support::openssl::{openssl, run};
use crate::temporary;

/// Issues a certificate that a key signs for itself, and has `openssl` verify it.
fn issue<S, G>(name: &str, key: &S)
where
    S: Signer<G> + Keypair + DynSignatureAlgorithmIdentifier,
    S::VerifyingKey: EncodePublicKey,
    G: SignatureBitStringEncoding,
{
    let subject = Name::from_str("CN=neighbour,O=Cycloid,C=CH").unwrap();
    let public = SubjectPublicKeyInfoOwned::from_key(&key.verifying_key()).unwrap();
    let validity = Validity::from_now(Duration::from_secs(3600)).unwrap();
    let serial = SerialNumber::from(7_u32);
    let profile = Root::new(false, subject).unwrap();
    let builder = CertificateBuilder::new(profile, serial, validity, public).unwrap();
    let certificate = builder.build::<_, G>(key).unwrap();
    let pem = certificate.to_pem(LineEnding::LF).unwrap();
    let path = temporary(&format!("{name}.pem"), &pem);
    let verify = format!("verify -check_ss_sig -CAfile {path} {path}");
    assert!(run(&verify, b"").is_some(), "{name}: {pem}");
    // `openssl` does check the signature.
    let forged = forged(&certificate).to_pem(LineEnding::LF).unwrap();
    let path = temporary(&format!("{name}-forged.pem"), forged);
    let verify = format!("verify -check_ss_sig -CAfile {path} {path}");
    assert!(run(&verify, b"").is_none(), "{name}: a forged certificate verifies");
}

/// Returns the certificate with another signature: the last bit differs.
fn forged(certificate: &Certificate) -> Certificate {
    let mut der = certificate.to_der().unwrap();
    *der.last_mut().unwrap() ^= 1;
    Certificate::from_der(&der).unwrap()
}

#[test]
fn ecdsa_certificates() {
    let mut rng = Generator::new(1);
    for (name, hash) in [("sha256", Hash::Sha256), ("sha512", Hash::Sha512)] {
        let key = ecdsa::SigningKey::new(PrivateKey::<P256>::generate(&mut rng).unwrap(), hash);
        issue::<_, ecdsa::DerSignature<P256>>(&format!("p256-{name}"), &key);
    }
    for curve in nist::Curve::ALL {
        for hash in [Hash::Sha224, Hash::Sha384] {
            let key = nist::PrivateKey::generate(curve, &mut rng).unwrap();
            let key = nist::SigningKey::new(key, hash);
            issue::<_, nist::DerSignature>(&format!("{curve}-{hash:?}"), &key);
        }
    }
}

#[test]
fn ed25519_certificates() {
    let key = ed25519::SigningKey::generate(&mut Generator::new(2)).unwrap();
    issue::<_, ed25519::Signature>("ed25519", &key);
}

#[test]
fn rsa_certificates() {
    let generator = || UnwrapErr(getrandom::SysRng);
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha256),
        SignatureScheme::Pkcs1v15(Hash::Sha512),
        SignatureScheme::pss(Hash::Sha256),
        SignatureScheme::pss(Hash::Sha512),
    ] {
        let key = rsa::SigningKey::new(crate::rsa_key(), scheme, generator).unwrap();
        let name: String =
            format!("rsa-{scheme:?}").chars().filter(|c| c.is_alphanumeric()).collect();
        issue::<_, rsa::Signature>(&name, &key);
    }
}

/// `openssl` 3.0 verifies no certificate with these algorithms, but knows their names.
#[test]
fn algorithms_have_the_registered_identifiers() {
    let named = |key: &dyn DynSignatureAlgorithmIdentifier, name: &str| {
        let algorithm = key.signature_algorithm_identifier().unwrap().to_der().unwrap();
        let shown = openssl("asn1parse -inform DER", &algorithm);
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.lines().any(|line| line.ends_with(&format!(":{name}"))), "{name}: {shown}");
    };
    for (hash, name) in [
        (Hash::Sha224, "ecdsa-with-SHA224"),
        (Hash::Sha3_224, "ecdsa_with_SHA3-224"),
        (Hash::Sha3_256, "ecdsa_with_SHA3-256"),
        (Hash::Sha3_384, "ecdsa_with_SHA3-384"),
        (Hash::Sha3_512, "ecdsa_with_SHA3-512"),
    ] {
        let key = PrivateKey::<P256>::generate(&mut Generator::new(4)).unwrap();
        named(&ecdsa::SigningKey::new(key, hash), name);
    }
    for (hash, name) in [
        (Hash::Sha224, "sha224WithRSAEncryption"),
        (Hash::Sha384, "sha384WithRSAEncryption"),
        (Hash::Sha512_224, "sha512-224WithRSAEncryption"),
        (Hash::Sha512_256, "sha512-256WithRSAEncryption"),
        (Hash::Sha3_224, "RSA-SHA3-224"),
        (Hash::Sha3_256, "RSA-SHA3-256"),
        (Hash::Sha3_384, "RSA-SHA3-384"),
        (Hash::Sha3_512, "RSA-SHA3-512"),
    ] {
        let generator = || UnwrapErr(getrandom::SysRng);
        let scheme = SignatureScheme::Pkcs1v15(hash);
        named(&rsa::SigningKey::new(crate::rsa_key(), scheme, generator).unwrap(), name);
    }
}

#[test]
fn a_hash_without_an_identifier_is_refused() {
    let key = PrivateKey::<P256>::generate(&mut Generator::new(3)).unwrap();
    let key = ecdsa::SigningKey::new(key, Hash::Sha512_256);
    assert!(key.signature_algorithm_identifier().is_err());
}
