//! RSA signatures through the traits of the crate `signature`, by generic code.

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Context, Error, PrivateKey, PublicKey, Signature, SigningKey, VerifyingKey, context_limbs,
    pem_scratch_limbs, private_key_limbs, public_key_limbs, verify_scratch_limbs,
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

type Key = PrivateKey<Vec<u64>>;

fn key(bits: usize) -> Key {
    let path = format!("{}/tests/data/rsa/{bits}.pem", env!("CARGO_MANIFEST_DIR"));
    let pem = std::fs::read(path).unwrap();
    let mut scratch = vec![0; pem_scratch_limbs(bits)];
    PrivateKey::from_pem(pem, vec![0; private_key_limbs(bits)], &mut scratch).unwrap()
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
        let mut memory = vec![0; context_limbs(bits)];
        let context = Context::new(&key, Constant(5), &mut memory).unwrap();
        sign_and_verify(&SigningKey::pkcs1v15(context, Hash::Sha384).unwrap());
        let context = Context::new(&key, Constant(5), &mut memory).unwrap();
        sign_and_verify(&SigningKey::pss(context, Hash::Sha384).unwrap());
    }
}

#[test]
fn the_signatures_are_those_of_the_context() {
    let key = key(2048);
    let mut memory = vec![0; context_limbs(2048)];
    let mut expected = [0; 256];
    let mut scratch = vec![0; verify_scratch_limbs(2048)];

    let mut context = Context::new(&key, Constant(5), &mut memory).unwrap();
    context.sign_pkcs1v15(Hash::Sha256, b"message", &mut expected).unwrap();
    let signer = SigningKey::pkcs1v15(context, Hash::Sha256).unwrap();
    assert_eq!(signer.sign(b"message").as_ref(), expected);
    // Verification with another padding or hash function fails.
    let signature = signer.sign(b"message");
    for other in [
        VerifyingKey::pss(key.public(), Hash::Sha256),
        VerifyingKey::pkcs1v15(key.public(), Hash::Sha512),
    ] {
        assert!(other.verify(b"message", &signature).is_err());
    }
    drop(signer);

    let context = Context::new(&key, Constant(5), &mut memory).unwrap();
    let signer = SigningKey::pss(context, Hash::Sha256).unwrap();
    let signature = signer.sign(b"message");
    key.public().verify_pss(Hash::Sha256, b"message", signature.as_ref(), &mut scratch).unwrap();
}

#[test]
fn retired_hashes_verify_but_do_not_sign() {
    let key = key(2048);
    let mut memory = vec![0; context_limbs(2048)];
    let context = Context::new(&key, Constant(5), &mut memory).unwrap();
    assert_eq!(SigningKey::pkcs1v15(context, Hash::Sha1).unwrap_err(), Error::HashRetired);
    let context = Context::new(&key, Constant(5), &mut memory).unwrap();
    assert_eq!(SigningKey::pss(context, Hash::Sha224).unwrap_err(), Error::HashRetired);
    let _ = VerifyingKey::pkcs1v15(key.public(), Hash::Sha1);
}

#[test]
fn a_signature_is_as_long_as_some_key() {
    for length in [0, 1, 255, 1025, 4096] {
        assert!(Signature::try_from(&vec![1; length][..]).is_err());
    }
    for length in [256, 257, 1024] {
        let signature = Signature::try_from(&vec![1; length][..]).unwrap();
        assert_eq!(signature.as_ref().len(), length);
        assert_eq!(signature, signature.to_bytes());
    }
    // A signature of a length other than the key's is invalid; this is no different error.
    let key = key(2048);
    let public = vec![0; public_key_limbs(2048)];
    let mut der = [0; 300];
    let der = key.public().to_spki_der(&mut der).unwrap();
    let mut scratch = vec![0; pem_scratch_limbs(2048)];
    let public = PublicKey::from_spki_der(der, public, &mut scratch).unwrap();
    let long = Signature::try_from(&[1; 257][..]).unwrap();
    assert!(VerifyingKey::pss(public, Hash::Sha256).verify(b"", &long).is_err());
}
