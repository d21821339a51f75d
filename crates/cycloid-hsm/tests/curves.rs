//! Curves beside P-224 to P-521 and curve25519: the daemon and OpenSSL read each other's keys,
//! verify each other's signatures and agree.

#[path = "../../cycloid/tests/support/openssl.rs"]
mod openssl;
mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{Parameter, ckd, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Secret};
use openssl::{openssl, run};
use support::*;

/// A curve: OpenSSL's name, `CKA_EC_PARAMS`, and the length of a coordinate in bytes.
type Curve = (&'static str, &'static [u8], usize);

const CURVES: [Curve; 5] = [
    ("prime192v1", &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1], 24),
    ("secp256k1", &[6, 5, 0x2b, 0x81, 4, 0, 0x0a], 32),
    ("brainpoolP256r1", &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7], 32),
    ("brainpoolP384r1", &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 11], 48),
    ("brainpoolP512r1", &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 13], 64),
];

const ED448: &[u8] = &[6, 3, 0x2b, 0x65, 0x71];

/// Returns an attribute that may be read.
fn attribute(client: &Client, object: u64, number: u32) -> Option<Vec<u8>> {
    match client.call(&Request::Attributes { object, numbers: vec![number] }).unwrap() {
        Response::Attributes { mut values } => {
            let value = values.remove(0);
            (value.code == 0).then_some(value.value.0)
        }
        other => panic!("{other:?}"),
    }
}

fn get(client: &Client, object: u64, number: u32) -> Vec<u8> {
    attribute(client, object, number).unwrap()
}

fn import(client: &Client, pem: &[u8]) -> (u64, u64) {
    let mut template = truths(&[(cka::TOKEN, true), (cka::EXTRACTABLE, true)]);
    template.set_bool(cka::SENSITIVE, false);
    pair(client.call(&Request::Import { pem: Secret::new(pem), template })).unwrap()
}

fn key_pair(client: &Client, number: u32, parameters: &[u8]) -> (u64, u64) {
    let mut public = Template::new();
    public.set(cka::EC_PARAMS, parameters);
    let private = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    pair(client.call(&Request::GeneratePair { mechanism: mechanism(number), public, private }))
        .unwrap()
}

/// Returns an ECDSA signature as OpenSSL reads it: a sequence of two integers.
fn sequence(signature: &[u8]) -> Vec<u8> {
    let element = |tag: u8, content: &[u8]| {
        let length = content.len() as u8;
        let header = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
        [header, content.to_vec()].concat()
    };
    let (r, s) = signature.split_at(signature.len() / 2);
    let integer = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let mut digits = number[zeros..].to_vec();
        if digits[0] & 0x80 != 0 {
            digits.insert(0, 0);
        }
        element(2, &digits)
    };
    element(0x30, &[integer(r), integer(s)].concat())
}

/// Writes files for OpenSSL to a directory of their own.
struct Files(Directory);

impl Files {
    fn put(&self, name: &str, contents: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path.display().to_string()
    }
}

fn public_pem(client: &Client, public: u64) -> Vec<u8> {
    let info = get(client, public, cka::PUBLIC_KEY_INFO);
    openssl("pkey -pubin -inform DER -pubout", &info)
}

fn derive(client: &Client, base: u64, point: &[u8], length: Option<u64>) -> Vec<u8> {
    let parameter = Parameter::Ecdh {
        derivation: ckd::NULL,
        shared: Bytes::default(),
        public: Bytes(point.to_vec()),
    };
    let mut template = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    if let Some(length) = length {
        template.set_number(cka::VALUE_LEN, length);
    }
    let mechanism = Mechanism { number: ckm::ECDH1_DERIVE, parameter };
    let key = object(client.call(&Request::Derive { base, mechanism, template })).unwrap();
    get(client, key, cka::VALUE)
}

#[test]
fn keys_signatures_and_agreements_are_those_of_openssl() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let files = Files(Directory::new());
    for (name, parameters, bytes) in CURVES {
        let (public, private) = key_pair(&client, ckm::EC_KEY_PAIR_GEN, parameters);
        assert_eq!(get(&client, private, cka::EC_PARAMS), parameters);
        assert_eq!(get(&client, private, cka::VALUE).len(), bytes);
        let point = get(&client, public, cka::EC_POINT);
        let raw = &point[point.len() - 2 * bytes - 1..];
        assert_eq!(raw[0], 4);

        // Its signatures, verified by OpenSSL and here.
        let how = mechanism(ckm::ECDSA_SHA256);
        let own = files.put("own.pem", &public_pem(&client, public));
        for turn in 0..12u8 {
            let signature = sign(&client, private, &how, &[turn; 20]).unwrap();
            assert_eq!(signature.len(), 2 * bytes);
            verify(&client, public, &how, &[turn; 20], &signature).unwrap();
            let wrong = verify(&client, public, &how, &[turn; 21], &signature);
            assert_eq!(code(wrong), Code::SIGNATURE_INVALID);
            let short = verify(&client, public, &how, &[turn; 20], &signature[1..]);
            assert_eq!(code(short), Code::SIGNATURE_LEN_RANGE);
            let path = files.put("signature", &sequence(&signature));
            openssl(&format!("dgst -sha256 -verify {own} -signature {path}"), &[turn; 20]);
        }

        // OpenSSL's key, and the agreement of both.
        let pem = openssl(&format!("ecparam -name {name} -genkey -noout"), &[]);
        let pem = openssl("pkcs8 -topk8 -nocrypt", &pem);
        let theirs = files.put("theirs.pem", &pem);
        let (their_public, their_private) = import(&client, &pem);
        let expected = openssl(&format!("pkeyutl -derive -inkey {theirs} -peerkey {own}"), &[]);
        let their_point = get(&client, their_public, cka::EC_POINT);
        assert_eq!(derive(&client, private, &their_point, None), expected, "{name}");
        assert_eq!(derive(&client, their_private, raw, None), expected, "{name}");
        assert_eq!(derive(&client, private, &their_point, Some(16)), expected[bytes - 16..]);

        // The same key from its numbers, and from a wrapped key.
        let mut template = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
        template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::EC.into());
        let readable = template.clone();
        template.set(cka::EC_PARAMS, parameters);
        template.set(cka::VALUE, get(&client, private, cka::VALUE));
        let created = object(client.call(&Request::Create { template })).unwrap();
        assert_eq!(derive(&client, created, &their_point, None), expected);
        let uses = truths(&[(cka::WRAP, true), (cka::UNWRAP, true)]);
        let wrapping = secret_key(&client, AES, &[5; 32], &uses).unwrap();
        let kwp = mechanism(ckm::AES_KEY_WRAP_KWP);
        let request = Request::Wrap { wrapping, mechanism: kwp.clone(), key: created, room: None };
        let wrapped = Bytes(self::bytes(client.call(&request)).unwrap());
        let request =
            Request::Unwrap { unwrapping: wrapping, mechanism: kwp, wrapped, template: readable };
        let back = object(client.call(&request)).unwrap();
        assert_eq!(derive(&client, back, &their_point, None), expected);
        assert_eq!(get(&client, back, cka::SENSITIVE), [1]);

        // Points that are not on the curve, or of other lengths.
        let mut outside = raw.to_vec();
        outside[2 * bytes] ^= 1;
        for point in [&outside[..], &[], &[4], &raw[1..], &[0; 65], &[4; 129], &[0xff; 300]] {
            let parameter = Parameter::Ecdh {
                derivation: ckd::NULL,
                shared: Bytes::default(),
                public: Bytes(point.to_vec()),
            };
            let mechanism = Mechanism { number: ckm::ECDH1_DERIVE, parameter };
            let template = Template::new();
            let derived = client.call(&Request::Derive { base: private, mechanism, template });
            assert_eq!(code(object(derived)), Code::PUBLIC_KEY_INVALID, "{name} {point:x?}");
        }
        for value in [&[][..], &[0], &vec![0xff; bytes], &vec![1; bytes + 1]] {
            let mut template = Template::new();
            template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
            template.set_number(cka::KEY_TYPE, ckk::EC.into());
            template.set(cka::EC_PARAMS, parameters);
            template.set(cka::VALUE, value);
            let created = object(client.call(&Request::Create { template }));
            assert_eq!(code(created), Code::ATTRIBUTE_VALUE_INVALID, "{name} {value:x?}");
        }
    }
    // Curves that are not offered, and keys of another curve's type.
    for name in ["secp224k1", "brainpoolP320r1"] {
        let pem = openssl(&format!("ecparam -name {name} -genkey -noout"), &[]);
        let pem = Secret::new(&openssl("pkcs8 -topk8 -nocrypt", &pem));
        let imported = client.call(&Request::Import { pem, template: Template::new() });
        assert_eq!(code(pair(imported)), Code::CURVE_NOT_SUPPORTED);
    }
    for (number, parameters) in [
        (ckm::EC_KEY_PAIR_GEN, ED448),
        (ckm::EC_EDWARDS_KEY_PAIR_GEN, CURVES[1].1),
        (ckm::EC_MONTGOMERY_KEY_PAIR_GEN, ED448),
        (ckm::EC_KEY_PAIR_GEN, &[6, 5, 0x2b, 0x81, 4, 0, 0x20]),
        (ckm::EC_KEY_PAIR_GEN, &[]),
    ] {
        let mut public = Template::new();
        public.set(cka::EC_PARAMS, parameters);
        let private = Template::new();
        let mechanism = mechanism(number);
        let made = pair(client.call(&Request::GeneratePair { mechanism, public, private }));
        assert_eq!(code(made), Code::CURVE_NOT_SUPPORTED);
    }
}

#[test]
fn ed448_signs_as_openssl_does() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let files = Files(Directory::new());
    let pem = openssl("genpkey -algorithm ed448", &[]);
    let path = files.put("theirs.pem", &pem);
    let (public, private) = import(&client, &pem);
    assert_eq!(get(&client, public, cka::EC_PARAMS), ED448);
    assert_eq!(public_pem(&client, public), openssl("pkey -pubout", &pem));
    let how = mechanism(ckm::EDDSA);
    let input = files.put("message", b"message");
    let expected = openssl(&format!("pkeyutl -sign -rawin -inkey {path} -in {input}"), &[]);
    assert_eq!(sign(&client, private, &how, b"message").unwrap(), expected);
    verify(&client, public, &how, b"message", &expected).unwrap();
    assert_eq!(code(verify(&client, public, &how, b"massage", &expected)), Code::SIGNATURE_INVALID);
    let short = verify(&client, public, &how, b"message", &expected[..64]);
    assert_eq!(code(short), Code::SIGNATURE_LEN_RANGE);

    let edwards = |prehashed: bool, context: &[u8]| Mechanism {
        number: ckm::EDDSA,
        parameter: Parameter::EdDsa { prehashed, context: Bytes(context.to_vec()) },
    };
    assert_eq!(sign(&client, private, &edwards(false, b""), b"message").unwrap(), expected);
    let with_context = sign(&client, private, &edwards(false, b"context"), b"message").unwrap();
    assert_ne!(with_context, expected);
    verify(&client, public, &edwards(false, b"context"), b"message", &with_context).unwrap();
    let other = verify(&client, public, &edwards(false, b"contest"), b"message", &with_context);
    assert_eq!(code(other), Code::SIGNATURE_INVALID);
    for refused in [edwards(true, &[7; 256]), edwards(false, &[7; 256])] {
        let signed = sign(&client, private, &refused, b"message");
        assert_eq!(code(signed), Code::MECHANISM_PARAM_INVALID);
        let verified = verify(&client, public, &refused, b"message", &expected);
        assert_eq!(code(verified), Code::MECHANISM_PARAM_INVALID);
    }
    // Ed448ph.
    let signature = sign(&client, private, &edwards(true, b"context"), b"message").unwrap();
    verify(&client, public, &edwards(true, b"context"), b"message", &signature).unwrap();
    for (how, message) in [
        (edwards(true, b"contest"), b"message"),
        (edwards(true, b"context"), b"massage"),
        (edwards(false, b"context"), b"message"),
    ] {
        let other = verify(&client, public, &how, message, &signature);
        assert_eq!(code(other), Code::SIGNATURE_INVALID);
    }
    // A digest by the program has 64 bytes.
    let hashed = |data: &[u8]| {
        let (mechanism, data) = (edwards(true, b""), Bytes(data.to_vec()));
        client.call(&Request::Sign { key: private, mechanism, data, digested: true })
    };
    assert!(hashed(&[7; 64]).is_ok());
    assert_eq!(code(hashed(&[7; 63])), Code::DATA_LEN_RANGE);

    // A generated key, by the name of its curve as well.
    for parameters in [ED448, b"\x13\x0aedwards448"] {
        let (public, private) = key_pair(&client, ckm::EC_EDWARDS_KEY_PAIR_GEN, parameters);
        let signature = sign(&client, private, &how, b"message").unwrap();
        let own = files.put("own.pem", &public_pem(&client, public));
        let signature = files.put("signature", &signature);
        let verified =
            format!("pkeyutl -verify -rawin -pubin -inkey {own} -in {input} -sigfile {signature}");
        assert!(run(&verified, &[]).is_some());
        let seed = get(&client, private, cka::VALUE);
        assert_eq!(created(&client, &seed).unwrap(), get(&client, public, cka::PUBLIC_KEY_INFO));
    }
    for length in [0, 32, 56, 58] {
        let made = created(&client, &vec![7; length]);
        assert_eq!(code(made), Code::ATTRIBUTE_VALUE_INVALID);
    }
}

/// RFC 8032, section 7.5: "TEST abc".
#[test]
fn ed448ph_signs_as_the_standard_says() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let seed = "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42ef7822e0d5104127dc05\
                d6dbefde69e3ab2cec7c867c6e2c49";
    let expected = "822f6901f7480f3d5f562c592994d9693602875614483256505600bbc281ae381f54d6bce2ea9115\
                    74932f52a4e6cadd78769375ec3ffd1b801a0d9b3f4030cd433964b6457ea39476511214f97469b5\
                    7dd32dbc560a9a94d00bff07620464a3ad203df7dc7ce360c3cd3696d9d9fab90f00";
    let hex = |digits: &str| -> Vec<u8> {
        let digit = |byte: &u8| (*byte as char).to_digit(16).unwrap() as u8;
        digits.as_bytes().chunks(2).map(|two| digit(&two[0]) << 4 | digit(&two[1])).collect()
    };
    let private = private_of(&client, &hex(seed)).unwrap();
    let parameter = Parameter::EdDsa { prehashed: true, context: Bytes::default() };
    let how = Mechanism { number: ckm::EDDSA, parameter };
    assert_eq!(sign(&client, private, &how, b"abc").unwrap(), hex(expected));
}

/// Creates an Ed448 key from its seed, and returns its public key.
fn created(client: &Client, seed: &[u8]) -> cycloid_hsm::Result<Vec<u8>> {
    Ok(get(client, private_of(client, seed)?, cka::PUBLIC_KEY_INFO))
}

/// Creates an Ed448 key from its seed.
fn private_of(client: &Client, seed: &[u8]) -> cycloid_hsm::Result<u64> {
    let mut template = Template::new();
    template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
    template.set_number(cka::KEY_TYPE, ckk::EC_EDWARDS.into());
    template.set(cka::EC_PARAMS, ED448);
    template.set(cka::VALUE, seed);
    object(client.call(&Request::Create { template }))
}

/// OpenSC and GnuPG name the curves of 2^255 - 19 by identifiers from before RFC 8410.
#[test]
fn older_identifiers_name_the_same_curves() {
    let daemon = Daemon::start();
    let client = daemon.user();
    for (number, older, expected) in [
        (
            ckm::EC_EDWARDS_KEY_PAIR_GEN,
            &[6, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1][..],
            [6, 3, 0x2b, 0x65, 0x70],
        ),
        (
            ckm::EC_MONTGOMERY_KEY_PAIR_GEN,
            &[6, 10, 0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1],
            [6, 3, 0x2b, 0x65, 0x6e],
        ),
    ] {
        let (public, private) = key_pair(&client, number, older);
        assert_eq!(get(&client, public, cka::EC_PARAMS), expected);
        assert_eq!(get(&client, private, cka::EC_PARAMS), expected);
    }
}
