//! Ed25519 through the traits of the crate `signature`, by generic code.

use cycloid::scheme::ed25519::{Signature, SigningKey};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

fn sign_and_verify<S, T>(signer: &S)
where
    S: Signer<T> + MultipartSigner<T> + Keypair,
    S::VerifyingKey: Verifier<T> + MultipartVerifier<T>,
    T: SignatureEncoding,
{
    let verifier = signer.verifying_key();
    for signature in [signer.sign(b"message"), signer.multipart_sign(&[b"mess", b"", b"age"])] {
        let bytes = signature.to_bytes();
        let Ok(again) = T::try_from(bytes.as_ref()) else { panic!("a signature is read again") };
        verifier.verify(b"message", &again).unwrap();
        verifier.multipart_verify(&[b"m", b"essage"], &again).unwrap();
        assert!(verifier.verify(b"massage", &again).is_err());
        let mut wrong = bytes.as_ref().to_vec();
        wrong[40] ^= 1;
        let Ok(wrong) = T::try_from(&wrong) else { panic!("its length is right") };
        assert!(verifier.verify(b"message", &wrong).is_err());
    }
}

#[test]
fn signatures_are_those_of_the_key() {
    let key = SigningKey::from_seed(&[9; 32]);
    sign_and_verify::<_, Signature>(&key);
    let signature: Signature = Signer::sign(&key, b"message");
    assert_eq!(<[u8; 64]>::from(signature), key.sign(b"message"));
    for length in [0, 63, 65] {
        assert!(Signature::try_from(&vec![1; length][..]).is_err());
    }
}
