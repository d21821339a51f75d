//! Weak operations: refused until the officer allows them, and what they do then.

mod support;

use base64ct::{Base64, Encoding};
use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::legacy::{Allowed, Legacy};
use cycloid_hsm::mechanism::{Parameter, ckg, ckm};
use cycloid_hsm::rpc::message::{Signed, Signing};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret};
use support::*;

/// A key of 1024 bits, and its signature of the word `message`, both by OpenSSL.
const SHORT: &[u8] = include_bytes!("../../cycloid/tests/data/rsa/1024.der");
const SIGNATURE: &[u8] = include_bytes!("../../cycloid/tests/data/rsa/1024-sha256.signature");

/// A modulus of 512 bits, and a signature with SHA-256 of the word `message`, both by OpenSSL.
const SHORTEST: &str = "\
    bf127741998623ac756fd8b3ab909feb6cedc89462f18b1b2de5ef027742157b\
    e44fa7a01fa12866f59cd2d2ea7b6c9f439d54d3c416901b0cf58465321b2df9";
const SHORTEST_SIGNATURE: &str = "\
    b1951f0d8ca351470302a88585fce7829c3c0c6b436ff2f95baa013ff605f46c\
    e892e9a4e8250b63c9ec5357d68409c09541f2042739ccb2f9554ca0da0267fd";

fn decoded(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn import(client: &Client, der: &[u8]) -> cycloid_hsm::Result<(u64, u64)> {
    let text = Base64::encode_string(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|l| str::from_utf8(l).unwrap()).collect();
    let pem =
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"));
    pair(
        client
            .call(&Request::Import { pem: Secret::new(pem.as_bytes()), template: Template::new() }),
    )
}

fn generated(client: &Client, bits: u64) -> cycloid_hsm::Result<(u64, u64)> {
    let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, bits);
    let private = truths(&[
        (cka::SIGN, true),
        (cka::DECRYPT, true),
        (cka::UNWRAP, true),
        (cka::EXTRACTABLE, true),
        (cka::SENSITIVE, false),
    ]);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    pair(client.call(&Request::GeneratePair { mechanism, public, private }))
}

/// Creates a public RSA key.
fn public(client: &Client, modulus: &[u8]) -> cycloid_hsm::Result<u64> {
    let mut template = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
    template.set_number(cka::KEY_TYPE, ckk::RSA.into());
    template.set(cka::MODULUS, modulus);
    template.set(cka::PUBLIC_EXPONENT, [1, 0, 1]);
    object(client.call(&Request::Create { template }))
}

fn encrypt(
    client: &Client,
    key: u64,
    how: &Mechanism,
    data: &[u8],
) -> cycloid_hsm::Result<Vec<u8>> {
    let (mechanism, data) = (how.clone(), Secret::new(data));
    bytes(client.call(&Request::Encrypt { key, mechanism, data }))
}

fn decrypt(
    client: &Client,
    key: u64,
    how: &Mechanism,
    data: &[u8],
) -> cycloid_hsm::Result<Vec<u8>> {
    let (mechanism, data) = (how.clone(), Bytes(data.to_vec()));
    bytes(client.call(&Request::Decrypt { key, mechanism, data }))
}

fn pss(number: u32, hash: u32, mask: u32, salt_length: u32) -> Mechanism {
    Mechanism { number, parameter: Parameter::Pss { hash, mask, salt_length } }
}

/// Checks that the refusal has this code and names the officer's command.
fn names_the_command<T: std::fmt::Debug>(
    outcome: cycloid_hsm::Result<T>,
    code: Code,
    weak: Legacy,
) {
    let error = outcome.unwrap_err();
    assert_eq!(error.code, code, "{error:?}");
    let command = format!("`cycloid-hsm legacy allow {}`", weak.name());
    assert!(error.detail.contains(&command), "{error:?}");
}

fn allowed(client: &Client) -> Allowed {
    match client.call(&Request::Token {}).unwrap() {
        Response::Token { info } => info.allowed(),
        other => panic!("{other:?}"),
    }
}

fn status(client: &Client) -> String {
    match client.call(&Request::Status {}).unwrap() {
        Response::Text { text } => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_officer_allows_anything() {
    let daemon = Daemon::start();
    let (stranger, user, auditor) = (daemon.client(), daemon.user(), daemon.client());
    let pin = Secret::new(AUDITOR_PIN);
    auditor.call(&Request::Login { role: Role::Auditor, pin }).unwrap();
    for weak in Legacy::ALL {
        for client in [&stranger, &user, &auditor] {
            for wanted in [true, false] {
                let asked = client.call(&Request::AllowLegacy { weak, allowed: wanted });
                assert_eq!(code(asked), Code::USER_NOT_LOGGED_IN);
            }
        }
    }
    assert_eq!(allowed(&user), Allowed::NONE);
    assert!(status(&stranger).contains("legacy        nothing allowed\n"));
    let mut expected = Allowed::NONE;
    for weak in Legacy::ALL {
        daemon.allow(weak, true);
        expected = expected.with(weak, true);
        assert_eq!(allowed(&stranger), expected);
    }
    let all = "legacy        short-rsa-keys, sha1-signatures, raw-rsa\n";
    assert!(status(&stranger).contains(all));
    daemon.allow(Legacy::Sha1Signatures, false);
    assert!(status(&stranger).contains("legacy        short-rsa-keys, raw-rsa\n"));
    let Response::Audit { entries } =
        auditor.call(&Request::Audit { from: 1, limit: 100 }).unwrap()
    else {
        panic!("an answer to another request")
    };
    let lines: Vec<_> = entries.iter().map(|entry| entry.what.as_str()).collect();
    assert!(lines.contains(&"RSA keys of fewer than 2048 bits are allowed (short-rsa-keys)"));
    assert!(lines.contains(&"signatures with SHA-1 are forbidden (sha1-signatures)"));
}

#[test]
fn short_rsa_keys_work_while_they_are_allowed() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let refused = |outcome| {
        names_the_command::<(u64, u64)>(outcome, Code::KEY_SIZE_RANGE, Legacy::ShortRsaKeys);
    };
    refused(generated(&client, 1024));
    refused(generated(&client, 1792));
    refused(import(&client, SHORT));
    daemon.allow(Legacy::RawRsa, true);
    refused(generated(&client, 1024));
    daemon.allow(Legacy::ShortRsaKeys, true);
    for bits in [0, 512, 768, 1023, 1025, 2047, 2049, u64::MAX] {
        assert_eq!(code(generated(&client, bits)), Code::KEY_SIZE_RANGE, "{bits} bits");
    }
    let sha256 = mechanism(ckm::SHA256_RSA_PKCS);
    let (open, key) = import(&client, SHORT).unwrap();
    assert_eq!(sign(&client, key, &sha256, b"message").unwrap(), SIGNATURE);
    // Many at once.
    let one = Signing {
        key,
        mechanism: sha256.clone(),
        data: Bytes(b"message".to_vec()),
        digested: false,
    };
    let asked = Request::SignMany { requests: vec![one; 11] };
    let Response::SignedMany { outcomes } = client.call(&asked).unwrap() else {
        panic!("an answer to another request")
    };
    assert_eq!(outcomes, vec![Signed { code: 0, signature: Bytes(SIGNATURE.to_vec()) }; 11]);
    verify(&client, open, &sha256, b"message", SIGNATURE).unwrap();
    assert_eq!(
        code(verify(&client, open, &sha256, b"another", SIGNATURE)),
        Code::SIGNATURE_INVALID
    );

    let oaep = |hash, mask| Mechanism {
        number: ckm::RSA_PKCS_OAEP,
        parameter: Parameter::Oaep { hash, mask, label: Bytes::default() },
    };
    for bits in [1024, 1536] {
        let (open, key) = generated(&client, bits).unwrap();
        let how = pss(ckm::SHA256_RSA_PKCS_PSS, ckm::SHA256, ckg::MGF1_SHA256, 32);
        let made = sign(&client, key, &how, b"message").unwrap();
        assert_eq!(made.len() as u64, bits / 8);
        verify(&client, open, &how, b"message", &made).unwrap();
        for how in [mechanism(ckm::RSA_PKCS), oaep(ckm::SHA256, ckg::MGF1_SHA256)] {
            let made = encrypt(&client, open, &how, b"data").unwrap();
            assert_eq!(decrypt(&client, key, &how, &made).unwrap(), b"data");
        }
    }
    // The padding does not fit 1024 bits.
    let sha512 = oaep(ckm::SHA512, ckg::MGF1_SHA512);
    assert_eq!(code(encrypt(&client, open, &sha512, b"")), Code::KEY_SIZE_RANGE);
    assert_eq!(code(decrypt(&client, key, &sha512, &[0; 128])), Code::KEY_SIZE_RANGE);
    let sha512 = pss(ckm::SHA512_RSA_PKCS_PSS, ckm::SHA512, ckg::MGF1_SHA512, 64);
    assert_eq!(code(sign(&client, key, &sha512, b"m")), Code::MECHANISM_PARAM_INVALID);

    // A forbidden key stays, and is not used.
    daemon.allow(Legacy::ShortRsaKeys, false);
    let weak = Legacy::ShortRsaKeys;
    names_the_command(sign(&client, key, &sha256, b"message"), Code::KEY_SIZE_RANGE, weak);
    let verified = verify(&client, open, &sha256, b"message", SIGNATURE);
    names_the_command(verified, Code::KEY_SIZE_RANGE, weak);
    let how = mechanism(ckm::RSA_PKCS);
    names_the_command(encrypt(&client, open, &how, b""), Code::KEY_SIZE_RANGE, weak);
    names_the_command(decrypt(&client, key, &how, &[1; 128]), Code::KEY_SIZE_RANGE, weak);
    let copied = object(client.call(&Request::Copy { object: key, template: Template::new() }));
    names_the_command(copied, Code::KEY_SIZE_RANGE, weak);
    client.call(&Request::Attributes { object: key, numbers: vec![cka::MODULUS] }).unwrap();
    client.call(&Request::Destroy { object: open }).unwrap();
    daemon.allow(Legacy::ShortRsaKeys, true);
    assert_eq!(sign(&client, key, &sha256, b"message").unwrap(), SIGNATURE);
}

#[test]
fn a_short_key_is_unwrapped_while_that_is_allowed() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::ShortRsaKeys, true);
    let client = daemon.user();
    let (open, key) = generated(&client, 1024).unwrap();
    let mut template = truths(&[(cka::WRAP, true), (cka::UNWRAP, true)]);
    template.set_number(cka::VALUE_LEN, 32);
    let kek = mechanism(ckm::AES_KEY_GEN);
    let kek = object(client.call(&Request::Generate { mechanism: kek, template })).unwrap();
    let mechanism = mechanism(ckm::AES_KEY_WRAP_KWP);
    let wrapped = Request::Wrap { wrapping: kek, mechanism: mechanism.clone(), key, room: None };
    let wrapped = bytes(client.call(&wrapped)).unwrap();
    let unwrap = || {
        let mut template = truths(&[(cka::SIGN, true)]);
        template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::RSA.into());
        let (mechanism, wrapped) = (mechanism.clone(), Bytes(wrapped.clone()));
        object(client.call(&Request::Unwrap { unwrapping: kek, mechanism, wrapped, template }))
    };
    daemon.allow(Legacy::ShortRsaKeys, false);
    names_the_command(unwrap(), Code::KEY_SIZE_RANGE, Legacy::ShortRsaKeys);
    daemon.allow(Legacy::ShortRsaKeys, true);
    let how = support::mechanism(ckm::SHA256_RSA_PKCS);
    let made = sign(&client, unwrap().unwrap(), &how, b"message").unwrap();
    verify(&client, open, &how, b"message", &made).unwrap();
}

/// A public key of 512 bits verifies old certificates, and encrypts nothing.
#[test]
fn the_shortest_public_keys_only_verify() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let modulus = decoded(SHORTEST);
    let weak = Legacy::ShortRsaKeys;
    names_the_command(public(&client, &modulus), Code::KEY_SIZE_RANGE, weak);
    daemon.allow(weak, true);
    assert_eq!(code(public(&client, &modulus[1..])), Code::KEY_SIZE_RANGE);
    let key = public(&client, &modulus).unwrap();
    let (how, signature) = (mechanism(ckm::SHA256_RSA_PKCS), decoded(SHORTEST_SIGNATURE));
    verify(&client, key, &how, b"message", &signature).unwrap();
    let wrong = verify(&client, key, &how, b"another", &signature);
    assert_eq!(code(wrong), Code::SIGNATURE_INVALID);
    // No room for the digest.
    let long = verify(&client, key, &mechanism(ckm::SHA512_RSA_PKCS), b"message", &signature);
    assert_eq!(code(long), Code::DATA_LEN_RANGE);
    let how = pss(ckm::SHA512_RSA_PKCS_PSS, ckm::SHA512, ckg::MGF1_SHA512, 64);
    let long = verify(&client, key, &how, b"message", &signature);
    assert_eq!(code(long), Code::SIGNATURE_INVALID);
    for how in [ckm::RSA_PKCS, ckm::RSA_X_509] {
        daemon.allow(Legacy::RawRsa, true);
        assert_eq!(code(encrypt(&client, key, &mechanism(how), b"1")), Code::KEY_SIZE_RANGE);
    }
}

#[test]
fn sha_1_signs_while_it_is_allowed() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let rsa = generate(&client, &Pair::Rsa(2048), false);
    let curve = generate(&client, &Pair::Curve(P256), false);
    let (sha1, mgf1) = (ckm::SHA_1, ckg::MGF1_SHA1);
    let cases = [
        (rsa, mechanism(ckm::SHA1_RSA_PKCS), Code::MECHANISM_INVALID),
        (rsa, pss(ckm::SHA1_RSA_PKCS_PSS, sha1, mgf1, 20), Code::MECHANISM_INVALID),
        (rsa, pss(ckm::RSA_PKCS_PSS, sha1, mgf1, 20), Code::MECHANISM_PARAM_INVALID),
        (curve, mechanism(ckm::ECDSA_SHA1), Code::MECHANISM_INVALID),
    ];
    let message = |how: &Mechanism| match how.number {
        ckm::RSA_PKCS_PSS => vec![7; 20],
        _ => b"message".to_vec(),
    };
    let check = |key, how: &Mechanism, usage| {
        client.call(&Request::Check { key, mechanism: how.clone(), usage })
    };
    use cycloid_hsm::rpc::Usage;
    for (key, how, code) in &cases {
        let refused = sign(&client, key.1, how, &message(how));
        names_the_command(refused, *code, Legacy::Sha1Signatures);
        let refused = check(key.1, how, Usage::Sign);
        names_the_command(refused, *code, Legacy::Sha1Signatures);
        // They verify without permission.
        check(key.0, how, Usage::Verify).unwrap();
    }
    // SHA-1 in the mask alone signs nothing, and SHA-224 needs no permission.
    let masked = pss(ckm::SHA256_RSA_PKCS_PSS, ckm::SHA256, mgf1, 32);
    let short = pss(ckm::SHA224_RSA_PKCS_PSS, ckm::SHA224, ckg::MGF1_SHA224, 28);
    for how in [masked, short, mechanism(ckm::SHA224_RSA_PKCS)] {
        let made = sign(&client, rsa.1, &how, b"message").unwrap();
        verify(&client, rsa.0, &how, b"message", &made).unwrap();
    }
    daemon.allow(Legacy::Sha1Signatures, true);
    for ((open, key), how, _) in &cases {
        let made = sign(&client, *key, how, &message(how)).unwrap();
        verify(&client, *open, how, &message(how), &made).unwrap();
        let mut wrong = made;
        wrong[5] ^= 1;
        let refused = verify(&client, *open, how, &message(how), &wrong);
        assert_eq!(code(refused), Code::SIGNATURE_INVALID);
    }
    daemon.allow(Legacy::Sha1Signatures, false);
    for ((open, key), how, code) in &cases {
        let refused = sign(&client, *key, how, &message(how));
        names_the_command(refused, *code, Legacy::Sha1Signatures);
        check(*open, how, Usage::Verify).unwrap();
    }
}

#[test]
fn raw_rsa_takes_numbers_below_the_modulus() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::RawRsa, true);
    let client = daemon.user();
    let (open, key) = generate(&client, &Pair::Rsa(2048), false);
    let raw = mechanism(ckm::RSA_X_509);
    for length in [0, 1, 20, 255, 256] {
        let mut data = vec![0x5a; length];
        if length == 256 {
            data[0] = 0;
        }
        let whole = [vec![0; 256 - length], data.clone()].concat();
        let made = sign(&client, key, &raw, &data).unwrap();
        assert_eq!(made.len(), 256);
        verify(&client, open, &raw, &data, &made).unwrap();
        assert_eq!(encrypt(&client, open, &raw, &made).unwrap(), whole);
        let made = encrypt(&client, open, &raw, &data).unwrap();
        assert_eq!(decrypt(&client, key, &raw, &made).unwrap(), whole);
        let refused = verify(&client, open, &raw, b"another", &made);
        assert_eq!(code(refused), Code::SIGNATURE_INVALID);
    }
    // The encoding of PKCS #1 v1.5 by hand is the signature of that mechanism.
    let expected = sign(&client, key, &mechanism(ckm::RSA_PKCS), b"message").unwrap();
    let encoded = [&[0, 1][..], &[0xff; 246], &[0], b"message"].concat();
    assert_eq!(sign(&client, key, &raw, &encoded).unwrap(), expected);

    for length in [257, 1 << 19] {
        let long = vec![0; length];
        assert_eq!(code(sign(&client, key, &raw, &long)), Code::DATA_LEN_RANGE);
        assert_eq!(code(encrypt(&client, open, &raw, &long)), Code::DATA_LEN_RANGE);
        assert_eq!(code(verify(&client, open, &raw, &long, &[0; 256])), Code::DATA_LEN_RANGE);
        let asked = decrypt(&client, key, &raw, &long);
        assert_eq!(code(asked), Code::ENCRYPTED_DATA_LEN_RANGE);
    }
    for length in [0, 255] {
        let asked = decrypt(&client, key, &raw, &vec![0; length]);
        assert_eq!(code(asked), Code::ENCRYPTED_DATA_LEN_RANGE);
        let asked = verify(&client, open, &raw, b"1", &vec![0; length]);
        assert_eq!(code(asked), Code::SIGNATURE_LEN_RANGE);
    }
    let large = [0xff; 256];
    assert_eq!(code(sign(&client, key, &raw, &large)), Code::DATA_INVALID);
    assert_eq!(code(encrypt(&client, open, &raw, &large)), Code::DATA_INVALID);
    assert_eq!(code(decrypt(&client, key, &raw, &large)), Code::ENCRYPTED_DATA_INVALID);
    assert_eq!(code(verify(&client, open, &raw, b"1", &large)), Code::SIGNATURE_INVALID);
    let odd = Mechanism { parameter: Parameter::Length(1), ..raw.clone() };
    for asked in [sign(&client, key, &odd, b"1"), encrypt(&client, open, &odd, b"1")] {
        assert_eq!(code(asked), Code::MECHANISM_PARAM_INVALID);
    }
    assert_eq!(code(decrypt(&client, key, &odd, &[0; 256])), Code::MECHANISM_PARAM_INVALID);
    // A key of another type.
    let (_, curve) = generate(&client, &Pair::Curve(P256), false);
    let asked = sign(&client, curve, &raw, b"1");
    assert_eq!(code(asked), Code::KEY_FUNCTION_NOT_PERMITTED);
    let digested = Request::Sign { key, mechanism: raw, data: Bytes(vec![1]), digested: true };
    assert_eq!(code(client.call(&digested)), Code::ARGUMENTS_BAD);
}
