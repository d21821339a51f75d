//! Keys on a curve chosen at run time do what keys of the curve's type do, and refuse what belongs
//! to another curve.

use cycloid::scheme::ec::{self, Error, P224, P256, P384, P521};
use cycloid::scheme::nist::{
    Curve, MAX_PRIVATE_KEY_DER_LENGTH, MAX_PRIVATE_KEY_PEM_LENGTH, MAX_PUBLIC_KEY_DER_LENGTH,
    MAX_PUBLIC_KEY_PEM_LENGTH, PrivateKey, PublicKey, Signature,
};
use cycloid::scheme::{FormatError, Hash};

use crate::support::Generator;

/// Returns two keys on each curve.
fn keys() -> Vec<[PrivateKey; 2]> {
    let mut rng = Generator::new(1);
    let mut key = |curve| PrivateKey::generate(curve, &mut rng).unwrap();
    Curve::ALL.map(|curve| [key(curve), key(curve)]).into()
}

/// Compares every operation of a key with those of the key whose type names the curve.
fn as_of_type<C: ec::Curve>(curve: Curve)
where
    PrivateKey: From<ec::PrivateKey<C>>,
    PublicKey: From<ec::PublicKey<C>>,
{
    assert_eq!((curve.name(), curve.bits(), curve.bytes()), (C::NAME, C::BITS, C::BYTES));
    let mut rng = Generator::new(2);
    let typed = ec::PrivateKey::<C>::generate(&mut rng).unwrap();
    let peer = ec::PrivateKey::<C>::generate(&mut rng).unwrap();
    let mut scalar = vec![0; C::BYTES];
    typed.to_bytes(&mut scalar).unwrap();
    let key = PrivateKey::from_bytes(curve, &scalar).unwrap();
    assert_eq!(key.curve(), curve);
    assert_eq!(key.public_key(), (*typed.public_key()).into());
    let mut again = vec![0; C::BYTES];
    key.to_bytes(&mut again).unwrap();
    assert_eq!(again, scalar);

    let digest = [7; 48];
    for (ours, theirs) in [
        (key.sign(Hash::Sha384, b"message"), typed.sign(Hash::Sha384, b"message")),
        (key.sign_prehashed(Hash::Sha256, &digest), typed.sign_prehashed(Hash::Sha256, &digest)),
        (
            key.sign_hedged(Hash::Sha256, &digest, &[9; 32]),
            typed.sign_hedged(Hash::Sha256, &digest, &[9; 32]),
        ),
    ] {
        assert_eq!(*ours.to_der(), *theirs.to_der());
        assert_eq!(*ours.to_fixed(), *theirs.to_fixed());
        assert_eq!(Signature::from_der(curve, &ours.to_der()).unwrap(), ours);
        assert_eq!(Signature::from_fixed(curve, &ours.to_fixed()).unwrap(), ours);
    }
    let public = key.public_key();
    assert_eq!(*public.to_uncompressed(), *typed.public_key().to_uncompressed());
    for point in [public.to_uncompressed(), public.to_compressed()] {
        assert_eq!(PublicKey::from_sec1(curve, &point).unwrap(), public);
    }
    let peer_key = PublicKey::from(*peer.public_key());
    assert_eq!(*key.agree(&peer_key).unwrap(), *typed.agree(peer.public_key()));

    let signature = key.sign(Hash::Sha256, b"message");
    assert_eq!(public.verify(Hash::Sha256, b"message", &signature), Ok(()));
    assert_eq!(public.verify(Hash::Sha256, b"other", &signature), Err(Error::Verification));
    assert_eq!(peer_key.verify(Hash::Sha256, b"message", &signature), Err(Error::Verification));
    let signature = key.sign_prehashed(Hash::Sha256, &digest);
    assert_eq!(public.verify_prehashed(&digest, &signature), Ok(()));
    assert_eq!(public.verify_prehashed(&[8; 48], &signature), Err(Error::Verification));
}

#[test]
fn each_operation_is_that_of_the_curve() {
    as_of_type::<P224>(Curve::P224);
    as_of_type::<P256>(Curve::P256);
    as_of_type::<P384>(Curve::P384);
    as_of_type::<P521>(Curve::P521);
}

#[test]
fn a_file_names_the_curve() {
    for [key, _] in keys() {
        let (mut der, mut pem) = ([0; MAX_PRIVATE_KEY_DER_LENGTH], [0; MAX_PRIVATE_KEY_PEM_LENGTH]);
        for read in [
            PrivateKey::from_der(key.to_pkcs8_der(&mut der).unwrap()),
            PrivateKey::from_pem(key.to_pkcs8_pem(&mut pem).unwrap()),
        ] {
            assert_eq!(read.unwrap().public_key(), key.public_key());
        }
        let public = key.public_key();
        let (mut der, mut pem) = ([0; MAX_PUBLIC_KEY_DER_LENGTH], [0; MAX_PUBLIC_KEY_PEM_LENGTH]);
        for read in [
            PublicKey::from_spki_der(public.to_spki_der(&mut der).unwrap()),
            PublicKey::from_spki_pem(public.to_spki_pem(&mut pem).unwrap()),
        ] {
            assert_eq!(read, Ok(public));
        }
    }
}

#[test]
fn identifiers_are_those_in_files() {
    for curve in Curve::ALL {
        let identifier = curve.object_identifier();
        assert_eq!(Curve::from_object_identifier(identifier), Some(curve));
        let key = PrivateKey::generate(curve, &mut Generator::new(3)).unwrap();
        let mut der = [0; MAX_PUBLIC_KEY_DER_LENGTH];
        let der = key.public_key().to_spki_der(&mut der).unwrap();
        let tagged = [&[6, identifier.len() as u8], identifier].concat();
        assert!(der.windows(tagged.len()).any(|bytes| bytes == tagged), "{curve}");
    }
    // secp256k1.
    assert_eq!(Curve::from_object_identifier(&[0x2b, 0x81, 4, 0, 10]), None);
}

#[test]
fn what_belongs_to_another_curve_is_refused() {
    let keys = keys();
    for [key, _] in &keys {
        let signature = key.sign(Hash::Sha256, b"message");
        for [other, _] in keys.iter().filter(|[other, _]| other.curve() != key.curve()) {
            let public = other.public_key();
            assert_eq!(key.agree(&public).unwrap_err(), Error::OtherCurve);
            let outcome = public.verify(Hash::Sha256, b"message", &signature);
            assert_eq!(outcome, Err(Error::OtherCurve));
            assert_eq!(public.verify_prehashed(&[1; 32], &signature), Err(Error::OtherCurve));
            let point = key.public_key().to_uncompressed();
            assert_eq!(PublicKey::from_sec1(other.curve(), &point), Err(Error::PointFormat));
        }
    }
    // The identifier of a curve that does not exist.
    let mut der = [0; MAX_PRIVATE_KEY_DER_LENGTH];
    let length = keys[1][0].to_pkcs8_der(&mut der).unwrap().len();
    let mut der = der[..length].to_vec();
    let name = Curve::P256.object_identifier();
    let at = der.windows(name.len()).position(|bytes| bytes == name).unwrap();
    der[at + name.len() - 1] ^= 0x10;
    assert_eq!(PrivateKey::from_der(&der).unwrap_err(), Error::Format(FormatError::OtherCurve));
    assert_eq!(PrivateKey::from_der(&der[1..]).unwrap_err(), Error::Format(FormatError::Der));
    assert_eq!(PrivateKey::from_pem("none").unwrap_err(), Error::Format(FormatError::Pem));
}
