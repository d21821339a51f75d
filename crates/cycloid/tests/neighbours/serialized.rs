//! Public values in a format for people (JSON) and in one for machines (CBOR).

use std::fmt::Debug;

use cycloid::bls12_381::signature::{MinPk, SecretKey};
use cycloid::bls12_381::{Cycloid, Fr, G1Affine, G2Affine, Gt};
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{P384, PrivateKey};
use cycloid::scheme::{ed25519, nist};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::support::Generator;

/// Writes and reads a value in both formats; a changed or shortened encoding is refused.
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, encoding: &[u8]) {
    let hexadecimal: String = encoding.iter().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(json, format!("\"{hexadecimal}\""));
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value);
    assert!(serde_json::from_str::<T>(&format!("\"{}\"", &hexadecimal[2..])).is_err());
    assert!(serde_json::from_str::<T>(&format!("\"{hexadecimal}00\"")).is_err());
    assert!(serde_json::from_str::<T>("\"xx\"").is_err());
    let mut cbor = Vec::new();
    ciborium::into_writer(value, &mut cbor).unwrap();
    assert!(cbor.ends_with(encoding));
    assert_eq!(&ciborium::from_reader::<T, _>(cbor.as_slice()).unwrap(), value);
}

#[test]
fn keys_and_signatures() {
    let mut rng = Generator::new(1);
    let key = PrivateKey::<P384>::generate(&mut rng).unwrap();
    check(key.public_key(), &key.public_key().to_compressed());
    let signature = key.sign(Hash::Sha384, b"message");
    check(&signature, &signature.to_fixed());
    let key = nist::PrivateKey::generate(nist::Curve::P256, &mut rng).unwrap();
    let mut room = [0; nist::MAX_PUBLIC_KEY_DER_LENGTH];
    check(&key.public_key(), key.public_key().to_spki_der(&mut room).unwrap());
    let key = ed25519::SigningKey::generate(&mut rng).unwrap();
    check(key.verifying_key(), key.verifying_key().as_bytes());
    let key = crate::rsa_key();
    check(key.public_key(), &key.public_key().to_spki_der());
}

#[test]
fn values_of_bls12_381() {
    let mut rng = Generator::new(2);
    let number = Fr::<Cycloid>::random(&mut rng).unwrap();
    check(&number, &number.to_bytes());
    let point = G1Affine::<Cycloid>::random(&mut rng).unwrap();
    check(&point, &point.to_compressed());
    let point = G2Affine::<Cycloid>::random(&mut rng).unwrap();
    check(&point, &point.to_compressed());
    let element = Gt::<Cycloid>::random(&mut rng).unwrap();
    check(&element, &element.to_bytes());
    let key = SecretKey::<Cycloid, MinPk>::generate(&mut rng).unwrap();
    check(&key.public_key(), &key.public_key().to_bytes());
    // The order itself is not a number below it.
    let order = "\"01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73\"";
    assert!(serde_json::from_str::<Fr<Cycloid>>(order).is_err());
}
