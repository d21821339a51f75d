//! Files of RSA keys: reading any bytes gives an error, or a valid key that survives writing and
//! reading again.

#![no_main]

use std::sync::LazyLock;

use cycloid::scheme::rsa::{
    Error, MAX_BITS, PrivateKey, PublicKey, Restriction, pem_scratch_limbs, private_key_der_length,
    private_key_limbs, private_key_pem_length, public_key_limbs,
};
use cycloid_fuzz::{Input, Limb};
use libfuzzer_sys::fuzz_target;

type Private = PrivateKey<Vec<Limb>>;
type Public = PublicKey<Vec<Limb>>;

/// Keys made by OpenSSL in each format, because random bytes rarely are valid.
static FILES: LazyLock<[Vec<u8>; 8]> = LazyLock::new(|| {
    let pem = include_str!("../../crates/cycloid/tests/data/rsa/2048.pem");
    let key = PrivateKey::from_pem(pem, private_memory(), &mut scratch()).expect("a valid key");
    let mut room = vec![0; private_key_pem_length(2048)];
    let pss = include_str!("../../crates/cycloid/tests/data/rsa/pss-sha256.pem");
    let pss = PrivateKey::from_pem(pss, private_memory(), &mut scratch()).expect("a valid key");
    [
        key.to_pkcs8_der(&mut room).expect("room").to_vec(),
        key.to_pkcs1_der(&mut room).expect("room").to_vec(),
        key.public().to_spki_der(&mut room).expect("room").to_vec(),
        key.public().to_pkcs1_der(&mut room).expect("room").to_vec(),
        pem.as_bytes().to_vec(),
        key.public().to_spki_pem(&mut room).expect("room").as_bytes().to_vec(),
        pss.to_pkcs8_der(&mut room).expect("room").to_vec(),
        pss.public().to_spki_der(&mut room).expect("room").to_vec(),
    ]
});

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    match input.byte() {
        0 => read(bytes.get(1..).unwrap_or_default()),
        which => read(&input.changed(&FILES[usize::from(which) % FILES.len()])),
    }
});

fn private_memory() -> Vec<Limb> {
    vec![1; private_key_limbs(MAX_BITS)]
}

fn public_memory() -> Vec<Limb> {
    vec![1; public_key_limbs(MAX_BITS)]
}

fn scratch() -> Vec<Limb> {
    vec![1; pem_scratch_limbs(MAX_BITS)]
}

fn read(file: &[u8]) {
    let private = [
        PrivateKey::from_der(file, private_memory(), &mut scratch()),
        PrivateKey::from_pkcs8_der(file, private_memory(), &mut scratch()),
        PrivateKey::from_pkcs1_der(file, private_memory(), &mut scratch()),
        PrivateKey::from_pem(file, private_memory(), &mut scratch()),
    ];
    // A file in one format is not valid in the other.
    assert!(private[1].is_err() || private[2].is_err());
    assert_eq!(private[0].is_ok(), private[1].is_ok() || private[2].is_ok());
    private.into_iter().flatten().for_each(|key| private_comes_back(&key));

    let public = [
        PublicKey::from_der(file, public_memory(), &mut scratch()),
        PublicKey::from_spki_der(file, public_memory(), &mut scratch()),
        PublicKey::from_pkcs1_der(file, public_memory(), &mut scratch()),
        PublicKey::from_pem(file, public_memory(), &mut scratch()),
    ];
    assert!(public[1].is_err() || public[2].is_err());
    assert_eq!(public[0].is_ok(), public[1].is_ok() || public[2].is_ok());
    public.into_iter().flatten().for_each(|key| public_comes_back(&key));
}

fn private_comes_back(key: &Private) {
    let mut room = vec![0; private_key_pem_length(key.bits())];
    let mut der = vec![0; private_key_der_length(key.bits())];
    let der = key.to_pkcs8_der(&mut der).expect("room");
    let pem = match key.restriction() {
        Restriction::None => key.to_pkcs1_pem(&mut room).expect("room"),
        _ => {
            assert_eq!(key.to_pkcs1_pem(&mut room), Err(Error::Restricted));
            key.to_pkcs8_pem(&mut room).expect("room")
        }
    };
    let again = PrivateKey::from_pem(pem, private_memory(), &mut scratch()).expect("a valid key");
    assert_eq!(again.to_pkcs8_der(&mut room).expect("room"), der);
    assert_eq!(key.public().modulus_limbs(), again.public().modulus_limbs());
}

fn public_comes_back(key: &Public) {
    let mut room = vec![0; private_key_pem_length(key.bits())];
    let pem = key.to_spki_pem(&mut room).expect("room");
    let again = PublicKey::from_pem(pem, public_memory(), &mut scratch()).expect("a valid key");
    assert_eq!(key.modulus_limbs(), again.modulus_limbs());
    assert_eq!(key.exponent(), again.exponent());
    assert_eq!(key.restriction(), again.restriction());
}
