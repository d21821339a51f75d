//! RSA signatures through the traits of the crate `signature`, by generic code.

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Context, Error, KeyPair, Signature, SignatureScheme, SigningKey, VerifyingKey, context_limbs,
};
use rand_core::{TryCryptoRng, TryRng};
use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

/// A test generator whose bytes, used for salts, are always the same, but whose numbers, used for
/// blindings, vary.
struct Constant(u64);

impl TryRng for Constant {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        bytes.fill(5);
        Ok(())
    }
}

impl TryCryptoRng for Constant {}

fn key(bits: usize) -> KeyPair {
    let path = format!("{}/tests/data/rsa/{bits}.pem", env!("CARGO_MANIFEST_DIR"));
    KeyPair::from_pem(std::fs::read(path).unwrap()).unwrap()
}

fn signer(key: &KeyPair, scheme: SignatureScheme) -> SigningKey<fn() -> Constant> {
    SigningKey::new(key.clone(), scheme, (|| Constant(5)) as _).unwrap()
}

/// Signs and verifies like a program written against the traits.
fn sign_and_verify<S, T>(signer: &S)
where
    S: Signer<T> + MultipartSigner<T> + PrehashSigner<T> + Keypair,
    S::VerifyingKey: Verifier<T> + MultipartVerifier<T> + PrehashVerifier<T>,
    T: SignatureEncoding,
{
    let verifier = signer.verifying_key();
    for signature in [signer.sign(b"message"), signer.multipart_sign(&[b"mess", b"", b"age"])] {
        let bytes = signature.to_bytes();
        assert_eq!(signature.encoded_len(), bytes.as_ref().len());
        let Ok(again) = T::try_from(bytes.as_ref()) else { panic!("a signature is read again") };
        verifier.verify(b"message", &again).unwrap();
        verifier.multipart_verify(&[b"m", b"essage"], &again).unwrap();
        assert!(verifier.verify(b"massage", &again).is_err());
        assert!(verifier.verify_prehash(&[7; 48], &again).is_err());
        let mut wrong = bytes.as_ref().to_vec();
        wrong[40] ^= 1;
        let Ok(wrong) = T::try_from(&wrong) else { panic!("its length is right") };
        assert!(verifier.verify(b"message", &wrong).is_err());
    }
    let signature = signer.sign_prehash(&[7; 48]).unwrap();
    verifier.verify_prehash(&[7; 48], &signature).unwrap();
    assert!(verifier.verify_prehash(&[7; 47], &signature).is_err());
    assert!(signer.sign_prehash(&[7; 47]).is_err());
}

#[test]
fn both_schemes_at_several_lengths() {
    for bits in [2048, 2050, 8192] {
        let key = key(bits);
        sign_and_verify(&signer(&key, SignatureScheme::Pkcs1v15(Hash::Sha384)));
        sign_and_verify(&signer(&key, SignatureScheme::pss(Hash::Sha384)));
    }
}

#[test]
fn the_signatures_are_those_of_the_context() {
    let key = key(2048);
    let mut memory = vec![0; context_limbs(2048)];
    let mut expected = [0; 256];
    let mut context = Context::new(key.private_key(), Constant(5), &mut memory).unwrap();
    context.sign_pkcs1v15(Hash::Sha256, b"message", &mut expected).unwrap();
    let pkcs1v15 = signer(&key, SignatureScheme::Pkcs1v15(Hash::Sha256));
    let signature = pkcs1v15.sign(b"message");
    assert_eq!(signature.as_ref(), expected);
    // Verification with another padding or hash function fails.
    for other in [SignatureScheme::pss(Hash::Sha256), SignatureScheme::Pkcs1v15(Hash::Sha512)] {
        let other = VerifyingKey::new(key.public_key().clone(), other);
        assert!(other.verify(b"message", &signature).is_err());
    }
    let pss = signer(&key, SignatureScheme::pss(Hash::Sha256));
    context.sign_pss(Hash::Sha256, b"message", &mut expected).unwrap();
    assert_eq!(pss.sign(b"message").as_ref(), expected);
}

#[test]
fn retired_hashes_verify_but_do_not_sign() {
    let key = key(2048);
    for scheme in [SignatureScheme::Pkcs1v15(Hash::Sha1), SignatureScheme::pss(Hash::Sha1)] {
        let outcome = SigningKey::new(key.clone(), scheme, || Constant(5));
        assert_eq!(outcome.unwrap_err(), Error::HashRetired);
        let _ = VerifyingKey::new(key.public_key().clone(), scheme);
    }
}

#[test]
fn a_signature_is_as_long_as_some_key() {
    for length in [0, 1, 255, 2049, 4096] {
        assert!(Signature::try_from(&vec![1; length][..]).is_err());
    }
    for length in [256, 257, 1024, 2048] {
        let signature = Signature::try_from(&vec![1; length][..]).unwrap();
        assert_eq!(signature.len(), length);
        assert_eq!(signature, signature.to_bytes());
    }
    // A signature of a length other than the key's is invalid; this is no different error.
    let long = Signature::try_from(&[1; 257][..]).unwrap();
    let key = VerifyingKey::new(key(2048).public_key().clone(), SignatureScheme::pss(Hash::Sha256));
    assert!(key.verify(b"", &long).is_err());
}
