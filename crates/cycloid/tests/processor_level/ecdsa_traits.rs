//! ECDSA through the traits of the crate `signature`, by generic code.

use crate::support::Generator;
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey};
use cycloid::scheme::ecdsa::{DerSignature, Signature, SigningKey, VerifyingKey};
use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

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
        assert!(T::try_from(&bytes.as_ref()[1..]).is_err());
    }
    for length in [0, 20, 48, 100] {
        let signature = signer.sign_prehash(&vec![7; length]).unwrap();
        verifier.verify_prehash(&vec![7; length], &signature).unwrap();
    }
}

fn check<C: Curve>() {
    let key = || PrivateKey::<C>::generate(&mut Generator::new(1)).unwrap();
    let signer = SigningKey::new(key(), Hash::Sha384);
    sign_and_verify::<_, Signature<C>>(&signer);
    sign_and_verify::<_, DerSignature<C>>(&signer);

    let expected = key().sign(Hash::Sha384, b"message");
    let fixed: Signature<C> = signer.sign(b"message");
    let DerSignature(der) = signer.sign(b"message");
    assert_eq!([&fixed, &der], [&expected; 2]);
    assert_eq!(fixed.to_bytes()[..], expected.to_fixed()[..]);
    assert_eq!(DerSignature(der).to_bytes()[..], expected.to_der()[..]);
    let other = VerifyingKey::new(*signer.private_key().public_key(), Hash::Sha256);
    assert!(other.verify(b"message", &fixed).is_err());
}

#[test]
fn every_curve_and_encoding() {
    check::<P224>();
    check::<P256>();
    check::<P384>();
    check::<P521>();
}
