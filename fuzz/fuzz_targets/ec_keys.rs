//! Files of EC keys, points and signatures: reading any bytes gives an error, or a valid object
//! that survives writing and reading again.

#![no_main]

use std::sync::LazyLock;

use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey, PublicKey, arithmetic};
use cycloid::scheme::ec::{private_key_der_length, private_key_pem_length, public_key_pem_length};
use cycloid::scheme::ecdsa::Signature;
use cycloid_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// A key and a signature in every format, on each curve, because random bytes rarely are valid.
static FILES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| [files::<P224>(), files::<P256>(), files::<P384>(), files::<P521>()].concat());

fn files<C: Curve>() -> Vec<Vec<u8>> {
    let scalar = vec![0x5a; C::BYTES - 1];
    let key = PrivateKey::<C>::from_bytes(&[&[0], &scalar[..]].concat()).expect("in range");
    let public = key.public_key();
    let signature = key.sign(cycloid::scheme::Hash::Sha256, b"message");
    let mut room = vec![0; private_key_pem_length::<C>()];
    vec![
        key.to_pkcs8_der(&mut room).expect("room").to_vec(),
        key.to_sec1_der(&mut room).expect("room").to_vec(),
        public.to_spki_der(&mut room).expect("room").to_vec(),
        key.to_pkcs8_pem(&mut room).expect("room").as_bytes().to_vec(),
        key.to_sec1_pem(&mut room).expect("room").as_bytes().to_vec(),
        public.to_spki_pem(&mut room).expect("room").as_bytes().to_vec(),
        public.to_uncompressed().to_vec(),
        public.to_compressed().to_vec(),
        signature.to_der().to_vec(),
        signature.to_fixed().to_vec(),
    ]
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let file = match input.byte() {
        0 => bytes.get(1..).unwrap_or_default().to_vec(),
        which => input.changed(&FILES[usize::from(which) % FILES.len()]),
    };
    read::<P224>(&file);
    read::<P256>(&file);
    read::<P384>(&file);
    read::<P521>(&file);
});

fn read<C: Curve>(file: &[u8]) {
    let private = [
        PrivateKey::<C>::from_der(file),
        PrivateKey::from_pkcs8_der(file),
        PrivateKey::from_sec1_der(file),
        PrivateKey::from_pem(file),
    ];
    // A file in one format is not valid in the other.
    assert!(private[1].is_err() || private[2].is_err());
    assert_eq!(private[0].is_ok(), private[1].is_ok() || private[2].is_ok());
    private.into_iter().flatten().for_each(|key| private_comes_back(&key));
    let public = [
        PublicKey::<C>::from_spki_der(file),
        PublicKey::from_spki_pem(file),
        PublicKey::from_sec1(file),
    ];
    public.into_iter().flatten().for_each(|key| public_comes_back(&key));
    if let Ok(signature) = Signature::<C>::from_der(file) {
        assert_eq!(signature.to_der()[..], *file);
        assert_eq!(Signature::from_fixed(&signature.to_fixed()), Ok(signature));
    }
    if let Ok(signature) = Signature::<C>::from_fixed(file) {
        assert_eq!(signature.to_fixed()[..], *file);
        assert_eq!(Signature::from_der(&signature.to_der()), Ok(signature));
    }
}

fn private_comes_back<C: Curve>(key: &PrivateKey<C>) {
    let mut room = vec![0; private_key_pem_length::<C>()];
    let mut der = vec![0; private_key_der_length::<C>()];
    let der = key.to_pkcs8_der(&mut der).expect("room");
    let pem = key.to_sec1_pem(&mut room).expect("room");
    let again = PrivateKey::<C>::from_pem(pem).expect("a valid key");
    assert_eq!(again.to_pkcs8_der(&mut room).expect("room"), der);
    public_comes_back(key.public_key());
}

fn public_comes_back<C: Curve>(key: &PublicKey<C>) {
    let mut room = vec![0; public_key_pem_length::<C>()];
    let pem = key.to_spki_pem(&mut room).expect("room");
    assert_eq!(PublicKey::from_spki_pem(pem), Ok(*key));
    assert_eq!(PublicKey::from_sec1(&key.to_compressed()), Ok(*key));
    let point = arithmetic::Point::from(*key);
    assert_eq!(point.to_public_key(), Ok(*key));
}
