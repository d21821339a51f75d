//! Requests of programs that run on other tokens: each test makes one that a public suite makes.

mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Secret};
use support::*;

fn aes(client: &Client) -> u64 {
    let uses = [cka::ENCRYPT, cka::DECRYPT, cka::WRAP, cka::UNWRAP, cka::EXTRACTABLE];
    let mut template = truths(&uses.map(|number| (number, true)));
    template.set_number(cka::VALUE_LEN, 32);
    let mechanism = mechanism(ckm::AES_KEY_GEN);
    object(client.call(&Request::Generate { mechanism, template })).unwrap()
}

fn attribute(client: &Client, object: u64, number: u32) -> Vec<u8> {
    match client.call(&Request::Attributes { object, numbers: vec![number] }).unwrap() {
        Response::Attributes { values } if values[0].code == 0 => values[0].value.0.clone(),
        other => panic!("{other:?}"),
    }
}

/// Go's crypto11 labels keys and certificates with random bytes.
#[test]
fn a_label_may_be_any_bytes() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let label = [0xff, 0x00, 0xc3, 0x28, 0x80];
    let mut template = Template::new();
    template.set_number(cka::CLASS, cko::DATA.into());
    template.set(cka::LABEL, label);
    template.set(cka::APPLICATION, label);
    template.set_bool(cka::TOKEN, true);
    let made = object(client.call(&Request::Create { template })).unwrap();
    let mut template = Template::new();
    template.set(cka::LABEL, label);
    let found = client.call(&Request::Find { template, page: None }).unwrap();
    assert_eq!(found, Response::Objects { objects: vec![made], more: None });
    assert_eq!(attribute(&client, made, cka::LABEL), label);
}

/// crypto11 encrypts with vectors of 16 bytes, and the crate cryptoki with two.
#[test]
fn gcm_takes_vectors_of_any_length() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = aes(&client);
    for length in [1, 2, 12, 16, 256] {
        let parameter = Parameter::Gcm {
            iv: Bytes(vec![7; length]),
            associated: Bytes(vec![8; 20]),
            tag_bits: 128,
        };
        let mechanism = Mechanism { number: ckm::AES_GCM, parameter };
        let data = Secret::new(b"a message");
        let request = Request::Encrypt { key, mechanism: mechanism.clone(), data };
        let data = Bytes(bytes(client.call(&request)).unwrap());
        assert_eq!(data.0.len(), 9 + 16);
        let plain = bytes(client.call(&Request::Decrypt { key, mechanism, data })).unwrap();
        assert_eq!(plain, b"a message");
    }
}

/// Programs written for PKCS #11 3.0 generate HMAC keys with mechanisms of their own.
#[test]
fn each_hash_function_has_a_mechanism_that_generates_hmac_keys() {
    let daemon = Daemon::start();
    let client = daemon.user();
    for (generation, key_type, mac, length) in [
        (ckm::SHA_1_KEY_GEN, ckk::SHA_1_HMAC, ckm::SHA_1_HMAC, 20),
        (ckm::SHA224_KEY_GEN, ckk::SHA224_HMAC, ckm::SHA224_HMAC, 28),
        (ckm::SHA256_KEY_GEN, ckk::SHA256_HMAC, ckm::SHA256_HMAC, 32),
        (ckm::SHA384_KEY_GEN, ckk::SHA384_HMAC, ckm::SHA384_HMAC, 48),
        (ckm::SHA512_KEY_GEN, ckk::SHA512_HMAC, ckm::SHA512_HMAC, 64),
        (ckm::SHA3_224_KEY_GEN, ckk::SHA3_224_HMAC, ckm::SHA3_224_HMAC, 28),
        (ckm::SHA3_256_KEY_GEN, ckk::SHA3_256_HMAC, ckm::SHA3_256_HMAC, 32),
        (ckm::SHA3_384_KEY_GEN, ckk::SHA3_384_HMAC, ckm::SHA3_384_HMAC, 48),
        (ckm::SHA3_512_KEY_GEN, ckk::SHA3_512_HMAC, ckm::SHA3_512_HMAC, 64),
    ] {
        let generate = |length, key_type: Option<u32>| {
            let mut template = Template::new();
            template.set_number(cka::VALUE_LEN, length);
            if let Some(key_type) = key_type {
                template.set_number(cka::KEY_TYPE, key_type.into());
            }
            let mechanism = mechanism(generation);
            object(client.call(&Request::Generate { mechanism, template }))
        };
        let key = generate(32, None).unwrap();
        let stored = attribute(&client, key, cka::KEY_TYPE);
        assert_eq!(stored, u64::from(key_type).to_le_bytes());
        let (mechanism, data) = (mechanism(mac), Bytes(b"a message".to_vec()));
        let request = Request::Sign { key, mechanism, data, digested: false };
        assert_eq!(bytes(client.call(&request)).unwrap().len(), length);
        assert_eq!(generate(15, None).unwrap_err().code, Code::KEY_SIZE_RANGE);
        let other = generate(32, Some(ckk::GENERIC_SECRET));
        assert_eq!(other.unwrap_err().code, Code::TEMPLATE_INCONSISTENT);
    }
}

/// A template for HKDF without a length asks for the length of the hash function's output.
#[test]
fn hkdf_has_a_usual_length() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut template = truths(&[(cka::DERIVE, true)]);
    template.set_number(cka::VALUE_LEN, 32);
    let mechanism = mechanism(ckm::HKDF_KEY_GEN);
    let base = object(client.call(&Request::Generate { mechanism, template })).unwrap();
    for (hash, length) in [(ckm::SHA256, 32u64), (ckm::SHA512, 64)] {
        let parameter = Parameter::Hkdf {
            hash,
            extract: true,
            expand: true,
            salt: Bytes(vec![1]),
            information: Bytes(vec![2]),
        };
        let mechanism = Mechanism { number: ckm::HKDF_DERIVE, parameter };
        let template = Template::new();
        let derived = object(client.call(&Request::Derive { base, mechanism, template })).unwrap();
        assert_eq!(attribute(&client, derived, cka::VALUE_LEN), length.to_le_bytes());
    }
}

/// Data objects and certificates may nearly fill a message.
#[test]
fn content_may_have_nearly_a_mebibyte() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let create = |class: u32, length| {
        let mut template = Template::new();
        template.set_number(cka::CLASS, class.into());
        template.set(cka::VALUE, vec![5; length]);
        if class == cko::CERTIFICATE {
            template.set_number(cka::CERTIFICATE_TYPE, 0);
        }
        template.set_bool(cka::TOKEN, true);
        object(client.call(&Request::Create { template }))
    };
    for class in [cko::DATA, cko::CERTIFICATE] {
        let made = create(class, 960 * 1024).unwrap();
        assert_eq!(attribute(&client, made, cka::VALUE).len(), 960 * 1024);
        let refused = create(class, 960 * 1024 + 1);
        assert_eq!(refused.unwrap_err().code, Code::ATTRIBUTE_VALUE_INVALID);
    }
}

/// An initial value that is ignored would let a program believe in a binding that there is not.
#[test]
fn key_wrap_ignores_no_initial_value() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (wrapping, key) = (aes(&client), aes(&client));
    let own =
        [(ckm::AES_KEY_WRAP, vec![0xa6; 8]), (ckm::AES_KEY_WRAP_KWP, vec![0xa6, 0x59, 0x59, 0xa6])];
    for (number, own) in own {
        let wrap = |parameter| {
            let mechanism = Mechanism { number, parameter };
            bytes(client.call(&Request::Wrap { wrapping, mechanism, key, room: None }))
        };
        let wrapped = wrap(Parameter::None).unwrap();
        assert_eq!(wrap(Parameter::Iv(Bytes(own.clone()))).unwrap(), wrapped);
        let mut other = own;
        other[0] ^= 1;
        let parameter = Parameter::Iv(Bytes(other));
        let refused = wrap(parameter.clone());
        assert_eq!(refused.unwrap_err().code, Code::MECHANISM_PARAM_INVALID);
        let mut template = Template::new();
        template.set_number(cka::CLASS, cko::SECRET_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::AES.into());
        let mechanism = Mechanism { number, parameter };
        let wrapped = Bytes(wrapped);
        let request = Request::Unwrap { unwrapping: wrapping, mechanism, wrapped, template };
        assert_eq!(object(client.call(&request)).unwrap_err().code, Code::MECHANISM_PARAM_INVALID);
    }
}

/// The crate cryptoki imports a public key of 8192 bits. Such keys verify and encrypt.
#[test]
fn public_rsa_keys_may_be_longer_than_those_that_sign_here() {
    // Made by OpenSSL: the modulus, and a signature of `a message` with SHA-256.
    let [modulus, signature] =
        [include_str!("data/rsa_8192_modulus.txt"), include_str!("data/rsa_8192_signature.txt")]
            .map(|text| {
                let digits =
                    text.trim().as_bytes().chunks(2).map(|two| str::from_utf8(two).unwrap());
                digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect::<Vec<u8>>()
            });
    assert_eq!([modulus.len(), signature.len()], [1024; 2]);
    let daemon = Daemon::start();
    let client = daemon.user();
    let public = |modulus: &[u8]| {
        let mut template = truths(&[(cka::VERIFY, true), (cka::ENCRYPT, true)]);
        template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::RSA.into());
        template.set(cka::MODULUS, modulus);
        template.set(cka::PUBLIC_EXPONENT, [1, 0, 1]);
        object(client.call(&Request::Create { template }))
    };
    let key = public(&modulus).unwrap();
    let sha256 = mechanism(ckm::SHA256_RSA_PKCS);
    verify(&client, key, &sha256, b"a message", &signature).unwrap();
    let wrong = verify(&client, key, &sha256, b"a massage", &signature).unwrap_err();
    assert_eq!(wrong.code, Code::SIGNATURE_INVALID);
    let (mechanism, data) = (mechanism(ckm::RSA_PKCS), Secret::new(b"a message"));
    let ciphertext = bytes(client.call(&Request::Encrypt { key, mechanism, data })).unwrap();
    assert_eq!(ciphertext.len(), 1024);
    // Longer than any key of the library, or of tokens: 16 KiB instead of 16384 bits.
    assert_eq!(public(&[0xff; 16384]).unwrap_err().code, Code::KEY_SIZE_RANGE);
}
