//! Message authentication codes over data of several requests.

mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{cka, ckk};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Usage};
use support::*;

/// The maximum number of codes that run for one program.
const MOST: usize = 256;

fn begin(client: &Client, key: u64, how: Mechanism, usage: Usage) -> cycloid_hsm::Result<u64> {
    match client.call(&Request::MacBegin { key, mechanism: how, usage })? {
        Response::Number { value } => Ok(value),
        other => panic!("{other:?}"),
    }
}

fn update(client: &Client, operation: u64, data: &[u8]) -> cycloid_hsm::Result<Response> {
    client.call(&Request::MacUpdate { operation, data: Bytes(data.to_vec()) })
}

fn finish(
    client: &Client,
    operation: u64,
    data: &[u8],
    signature: Option<&[u8]>,
) -> cycloid_hsm::Result<Response> {
    let signature = signature.map(|signature| Bytes(signature.to_vec()));
    client.call(&Request::MacFinish { operation, data: Bytes(data.to_vec()), signature })
}

fn uses() -> cycloid_hsm::attribute::Template {
    truths(&[(cka::SIGN, true), (cka::VERIFY, true), (cka::WRAP, true)])
}

fn gmac() -> Mechanism {
    let parameter = Parameter::Gcm {
        iv: Bytes(vec![9; 12]),
        associated: Bytes(b"first".to_vec()),
        tag_bits: 104,
    };
    Mechanism { number: ckm::AES_GMAC, parameter }
}

#[test]
fn a_code_over_several_requests_is_that_of_one() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let generic = secret_key(&client, ckk::GENERIC_SECRET, &[3; 40], &uses()).unwrap();
    let aes = secret_key(&client, AES, &[4; 32], &uses()).unwrap();
    let short = |number, length| Mechanism { number, parameter: Parameter::Length(length) };
    for (key, how) in [
        (generic, mechanism(ckm::SHA256_HMAC)),
        (generic, mechanism(ckm::SHA3_512_HMAC)),
        (generic, short(ckm::SHA384_HMAC_GENERAL, 24)),
        (aes, mechanism(ckm::AES_CMAC)),
        (aes, short(ckm::AES_CMAC_GENERAL, 9)),
        (aes, gmac()),
    ] {
        let data: Vec<u8> = (0..10_000u32).map(|at| (at % 253) as u8).collect();
        let whole = sign(&client, key, &how, &data).unwrap();
        let begun = || begin(&client, key, how.clone(), Usage::Sign).unwrap();
        // Two at once do not disturb each other.
        let (one, other) = (begun(), begun());
        update(&client, one, &data[..5000]).unwrap();
        update(&client, other, b"something else").unwrap();
        update(&client, one, &data[5000..9999]).unwrap();
        let made = bytes(finish(&client, one, &data[9999..], None)).unwrap();
        assert_eq!(made, whole);
        assert_ne!(bytes(finish(&client, other, &[], None)).unwrap(), whole);
        // Both have ended.
        assert_eq!(code(update(&client, one, b"more")), Code::OPERATION_NOT_INITIALIZED);
        assert_eq!(code(finish(&client, other, &[], None)), Code::OPERATION_NOT_INITIALIZED);

        let judge = |rest: &[u8], signature: &[u8]| {
            let verifies = begin(&client, key, how.clone(), Usage::Verify).unwrap();
            update(&client, verifies, &data[..9000])?;
            finish(&client, verifies, rest, Some(signature))
        };
        judge(&data[9000..], &whole).unwrap();
        assert_eq!(code(judge(&data[9001..], &whole)), Code::SIGNATURE_INVALID);
        let mut altered = whole.clone();
        altered[0] ^= 1;
        assert_eq!(code(judge(&data[9000..], &altered)), Code::SIGNATURE_INVALID);
        let shorter = &whole[..whole.len() - 1];
        assert_eq!(code(judge(&data[9000..], shorter)), Code::SIGNATURE_LEN_RANGE);
        assert_eq!(code(judge(&data[9000..], &[])), Code::SIGNATURE_LEN_RANGE);
    }
}

#[test]
fn what_a_key_does_not_permit_does_not_begin() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let only = |usage| {
        let mut template = truths(&[(cka::SIGN, false), (cka::VERIFY, false)]);
        template.set_bool(usage, true);
        secret_key(&client, ckk::GENERIC_SECRET, &[3; 40], &template).unwrap()
    };
    let (signs, verifies) = (only(cka::SIGN), only(cka::VERIFY));
    let how = || mechanism(ckm::SHA256_HMAC);
    let refused = |key, how, usage| code(begin(&client, key, how, usage));
    assert_eq!(refused(signs, how(), Usage::Verify), Code::KEY_FUNCTION_NOT_PERMITTED);
    assert_eq!(refused(verifies, how(), Usage::Sign), Code::KEY_FUNCTION_NOT_PERMITTED);
    assert_eq!(refused(signs, how(), Usage::Encrypt), Code::ARGUMENTS_BAD);
    assert_eq!(refused(signs, mechanism(ckm::SHA256), Usage::Sign), Code::MECHANISM_INVALID);
    assert_eq!(refused(signs, mechanism(ckm::AES_CMAC), Usage::Sign), Code::KEY_TYPE_INCONSISTENT);
    assert_eq!(refused(999, how(), Usage::Sign), Code::KEY_HANDLE_INVALID);
    let (_, private) = generate(&client, &Pair::Curve(P256), false);
    assert_eq!(
        refused(private, mechanism(ckm::ECDSA_SHA256), Usage::Sign),
        Code::MECHANISM_INVALID
    );
    // A code that verifies is never returned, nor is a computed one compared.
    let operation = begin(&client, verifies, how(), Usage::Verify).unwrap();
    assert_eq!(code(finish(&client, operation, b"data", None)), Code::ARGUMENTS_BAD);
    let operation = begin(&client, signs, how(), Usage::Sign).unwrap();
    assert_eq!(code(finish(&client, operation, b"data", Some(&[0; 32]))), Code::ARGUMENTS_BAD);
}

#[test]
fn a_code_belongs_to_its_application_and_ends_with_its_key() {
    let daemon = Daemon::start();
    let (client, other) = (daemon.user(), daemon.user());
    let mut template = uses();
    template.set_bool(cka::TOKEN, true);
    let key = secret_key(&client, ckk::GENERIC_SECRET, &[3; 40], &template).unwrap();
    let begun = || begin(&client, key, mechanism(ckm::SHA256_HMAC), Usage::Sign).unwrap();
    let operation = begun();
    assert_eq!(code(update(&other, operation, b"data")), Code::OPERATION_NOT_INITIALIZED);
    assert_eq!(code(finish(&other, operation, b"data", None)), Code::OPERATION_NOT_INITIALIZED);
    other.call(&Request::MacCancel { operation }).unwrap();
    update(&client, operation, b"data").unwrap();
    client.call(&Request::MacCancel { operation }).unwrap();
    assert_eq!(code(update(&client, operation, b"data")), Code::OPERATION_NOT_INITIALIZED);

    // A logout ends it, and so does a key that no longer signs, or is destroyed.
    let operation = begun();
    client.call(&Request::Logout {}).unwrap();
    assert_eq!(code(update(&client, operation, b"data")), Code::OPERATION_NOT_INITIALIZED);
    let client = daemon.user();
    let begun = || begin(&client, key, mechanism(ckm::SHA256_HMAC), Usage::Sign).unwrap();
    let (updated, finished, destroyed) = (begun(), begun(), begun());
    let template = truths(&[(cka::SIGN, false)]);
    other.call(&Request::SetAttributes { object: key, template }).unwrap();
    assert_eq!(code(update(&client, updated, b"data")), Code::KEY_FUNCTION_NOT_PERMITTED);
    assert_eq!(code(update(&client, updated, b"data")), Code::OPERATION_NOT_INITIALIZED);
    assert_eq!(code(finish(&client, finished, b"data", None)), Code::KEY_FUNCTION_NOT_PERMITTED);
    other.call(&Request::Destroy { object: key }).unwrap();
    assert_eq!(code(finish(&client, destroyed, b"data", None)), Code::KEY_HANDLE_INVALID);
}

/// A key that wraps a sensitive key meanwhile no longer authenticates data.
#[test]
fn a_key_that_begins_to_serve_keys_computes_no_code_of_data() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let generate = |template| {
        let how = mechanism(ckm::AES_KEY_GEN);
        object(client.call(&Request::Generate { mechanism: how, template })).unwrap()
    };
    let mut template = uses();
    template.set_number(cka::VALUE_LEN, 32);
    let wrapping = generate(template.clone());
    template.set_bool(cka::EXTRACTABLE, true);
    let key = generate(template);
    let operation = begin(&client, wrapping, mechanism(ckm::AES_CMAC), Usage::Sign).unwrap();
    update(&client, operation, b"data").unwrap();
    let how = mechanism(ckm::AES_KEY_WRAP);
    client.call(&Request::Wrap { wrapping, mechanism: how, key, room: None }).unwrap();
    let refused = code(finish(&client, operation, b"data", None));
    assert_eq!(refused, Code::KEY_FUNCTION_NOT_PERMITTED);
}

#[test]
fn the_number_of_codes_is_bounded() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = secret_key(&client, ckk::GENERIC_SECRET, &[3; 40], &uses()).unwrap();
    let begun = || begin(&client, key, mechanism(ckm::SHA512_HMAC), Usage::Sign);
    let all: Vec<u64> = (0..MOST).map(|_| begun().unwrap()).collect();
    assert_eq!(code(begun()), Code::DEVICE_MEMORY);
    finish(&client, all[0], &[], None).unwrap();
    begun().unwrap();
    assert_eq!(code(begun()), Code::DEVICE_MEMORY);
    client.call(&Request::MacCancel { operation: all[1] }).unwrap();
    begun().unwrap();
    // Another application has its own.
    let other = daemon.user();
    let key = secret_key(&other, ckk::GENERIC_SECRET, &[3; 40], &uses()).unwrap();
    begin(&other, key, mechanism(ckm::SHA512_HMAC), Usage::Sign).unwrap();
}

#[test]
fn a_code_is_one_use_in_the_log() {
    let daemon = Daemon::start();
    let officer = daemon.client();
    let pin = cycloid_hsm::rpc::Secret::new(OFFICER_PIN);
    let role = cycloid_hsm::rpc::Role::SecurityOfficer;
    officer.call(&Request::Login { role, pin }).unwrap();
    officer.call(&Request::LogUses { required: true }).unwrap();
    let client = daemon.user();
    let key = secret_key(&client, ckk::GENERIC_SECRET, &[3; 40], &uses()).unwrap();
    let operation = begin(&client, key, mechanism(ckm::SHA256_HMAC), Usage::Sign).unwrap();
    update(&client, operation, b"data").unwrap();
    finish(&client, operation, &[], None).unwrap();
    let Ok(Response::Audit { entries }) = officer.call(&Request::Audit { from: 1, limit: 1000 })
    else {
        panic!("the officer reads the log");
    };
    let grants: Vec<_> =
        entries.iter().filter(|entry| entry.what.ends_with("may sign once")).collect();
    assert_eq!(grants.len(), 1, "{entries:?}");
}
