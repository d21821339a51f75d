//! JSON Web Tokens by `jsonwebtoken` with the library's keys: ES256, EdDSA and PS256, made and
//! read, and standards' examples.

use cycloid::scheme::ec::{P256, PrivateKey, PublicKey};
use cycloid::scheme::rsa::{self, KeyPair, OwnedPublicKey, SignatureScheme};
use cycloid::scheme::{Hash, ecdsa, ed25519};
use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtSigner, JwtVerifier};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use pkcs8::EncodePrivateKey;
use rand_core::UnwrapErr;
use serde_json::{Value, json};
use signature_2::{Error, Signer, Verifier};
use spki::EncodePublicKey;

use crate::support::Generator;

/// A key for an algorithm; `S` is its signature.
struct For<K, S>(Algorithm, K, std::marker::PhantomData<fn() -> S>);

impl<K: Signer<S>, S: signature_2::SignatureEncoding> Signer<Vec<u8>> for For<K, S> {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        self.1.try_sign(message).map(|signature| signature.to_vec())
    }
}

impl<K: Signer<S>, S: signature_2::SignatureEncoding> JwtSigner for For<K, S> {
    fn algorithm(&self) -> Algorithm {
        self.0
    }
}

impl<K: Verifier<S>, S: signature_2::SignatureEncoding> Verifier<Vec<u8>> for For<K, S> {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let signature = S::try_from(signature).map_err(|_| Error::new())?;
        self.1.verify(message, &signature)
    }
}

impl<K: Verifier<S>, S: signature_2::SignatureEncoding> JwtVerifier for For<K, S> {
    fn algorithm(&self) -> Algorithm {
        self.0
    }
}

fn boxed<K, S>(algorithm: Algorithm, key: K) -> Box<For<K, S>> {
    Box::new(For(algorithm, key, std::marker::PhantomData))
}

fn unusable(_: impl std::error::Error) -> jsonwebtoken::errors::Error {
    ErrorKind::InvalidKeyFormat.into()
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    let (algorithm, der) = (*algorithm, key.inner());
    Ok(match algorithm {
        Algorithm::ES256 => {
            let key = PrivateKey::<P256>::from_der(der).map_err(unusable)?;
            let key = ecdsa::SigningKey::new(key, Hash::Sha256);
            boxed::<_, ecdsa::Signature<P256>>(algorithm, key)
        }
        Algorithm::EdDSA => {
            let key = ed25519::SigningKey::from_der(der).map_err(unusable)?;
            boxed::<_, ed25519::Signature>(algorithm, key)
        }
        Algorithm::PS256 => {
            let key = KeyPair::from_der(der).map_err(unusable)?;
            let generator = || UnwrapErr(getrandom::SysRng);
            let key = rsa::SigningKey::new(key, SignatureScheme::pss(Hash::Sha256), generator);
            boxed::<_, rsa::Signature>(algorithm, key.map_err(unusable)?)
        }
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    })
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let (algorithm, der) = (*algorithm, key.as_bytes());
    Ok(match algorithm {
        Algorithm::ES256 => {
            let key = PublicKey::<P256>::from_spki_der(der).map_err(unusable)?;
            let key = ecdsa::VerifyingKey::new(key, Hash::Sha256);
            boxed::<_, ecdsa::Signature<P256>>(algorithm, key)
        }
        Algorithm::EdDSA => {
            let key = ed25519::VerifyingKey::from_der(der).map_err(unusable)?;
            boxed::<_, ed25519::Signature>(algorithm, key)
        }
        Algorithm::PS256 => {
            let key = OwnedPublicKey::from_der(der).map_err(unusable)?;
            let key = rsa::VerifyingKey::new(key, SignatureScheme::pss(Hash::Sha256));
            boxed::<_, rsa::Signature>(algorithm, key)
        }
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    })
}

fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: signer,
        verifier_factory: verifier,
        jwk_utils: JwkUtils::new_unimplemented(),
    };
    // Another test may have installed it.
    let _ = PROVIDER.install_default();
}

#[test]
fn tokens_are_made_and_read() {
    install();
    let mut rng = Generator::new(1);
    let p256 = PrivateKey::<P256>::generate(&mut rng).unwrap();
    let ed25519 = ed25519::SigningKey::generate(&mut rng).unwrap();
    let rsa = crate::rsa_key();
    let document = |key: &dyn Fn() -> pkcs8::SecretDocument| key().as_bytes().to_vec();
    let keys = [
        (
            Algorithm::ES256,
            EncodingKey::from_ec_der(&document(&|| EncodePrivateKey::to_pkcs8_der(&p256).unwrap())),
            DecodingKey::from_ec_der(p256.public_key().to_public_key_der().unwrap().as_bytes()),
        ),
        (
            Algorithm::EdDSA,
            EncodingKey::from_ed_der(&document(&|| ed25519.to_pkcs8_der().unwrap())),
            DecodingKey::from_ed_der(
                ed25519.verifying_key().to_public_key_der().unwrap().as_bytes(),
            ),
        ),
        (
            Algorithm::PS256,
            EncodingKey::from_rsa_der(&document(&|| EncodePrivateKey::to_pkcs8_der(&rsa).unwrap())),
            DecodingKey::from_rsa_der(rsa.public_key().to_public_key_der().unwrap().as_bytes()),
        ),
    ];
    let claims = json!({ "sub": "cycloid", "exp": 4_000_000_000_u64 });
    for (algorithm, private, public) in &keys {
        let token = encode(&Header::new(*algorithm), &claims, private).unwrap();
        let read = decode::<Value>(&token, public, &Validation::new(*algorithm)).unwrap();
        assert_eq!(read.claims, claims);
        // One letter of the claims changes.
        let (head, rest) = token.split_once('.').unwrap();
        let other = if rest.starts_with('e') { "f" } else { "e" };
        let forged = format!("{head}.{other}{}", &rest[1..]);
        assert!(decode::<Value>(&forged, public, &Validation::new(*algorithm)).is_err());
    }
}

/// RFC 8037, appendices A.4 and A.5.
#[test]
fn the_example_with_ed25519() {
    install();
    let seed = b"\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4\
                 \x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60";
    let key = ed25519::SigningKey::from_seed(seed);
    let message = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    let expected =
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let private = EncodingKey::from_ed_der(key.to_pkcs8_der().unwrap().as_bytes());
    let signature = jsonwebtoken::crypto::sign(message, &private, Algorithm::EdDSA).unwrap();
    assert_eq!(signature, expected);
    let document = key.verifying_key().to_public_key_der().unwrap();
    let public = DecodingKey::from_ed_der(document.as_bytes());
    let valid =
        |message| jsonwebtoken::crypto::verify(expected, message, &public, Algorithm::EdDSA);
    assert!(valid(message).unwrap());
    assert!(!valid(b"other").unwrap());
}
