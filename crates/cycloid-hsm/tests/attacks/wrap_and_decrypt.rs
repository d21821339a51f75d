//! The oldest attack: one key wraps a sensitive key, and the same key decrypts the result.

use super::*;

#[test]
fn a1_a_key_that_has_wrapped_a_sensitive_key_decrypts_nothing() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let wrapping = aes(&client, EVERY_USE, &[(cka::EXTRACTABLE, true)]).unwrap();
    let copied = copy(&client, wrapping, &[(cka::WRAP, false), (cka::UNWRAP, false)]).unwrap();
    // A readable key is data, so wrapping it is encryption: the attack works, and learns nothing.
    let own = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    let own = secret_key(&client, AES, &[7; 32], &own).unwrap();
    let wrapped = wrap(&client, wrapping, own).unwrap();
    assert_eq!(undo_wrapping(&client, copied, &wrapped).unwrap(), [7; 32]);

    let wrapped = wrap(&client, wrapping, victim).unwrap();
    // Neither that key, nor a copy from before or after.
    let later = copy(&client, copied, &[]).unwrap();
    for key in [wrapping, copied, later] {
        let undone = undo_wrapping(&client, key, &wrapped);
        assert_eq!(code(undone), Code::KEY_FUNCTION_NOT_PERMITTED);
        let parameter = Parameter::Iv(Bytes(vec![0; 16]));
        let mechanism = Mechanism { number: ckm::AES_CBC, parameter };
        let data = Secret::new(&[0; 16]);
        let encrypted = client.call(&Request::Encrypt { key, mechanism, data });
        assert_eq!(code(encrypted), Code::KEY_FUNCTION_NOT_PERMITTED);
    }
    // Nor the value when it returns as a new key.
    let keeper = aes(&client, &[cka::WRAP, cka::UNWRAP], &[]).unwrap();
    let itself = wrap(&client, keeper, wrapping).unwrap();
    let template = secret_template(ckk::AES, &[(cka::DECRYPT, true)]);
    let back = unwrap(&client, keeper, &itself, template).unwrap();
    assert_eq!(code(undo_wrapping(&client, back, &wrapped)), Code::KEY_FUNCTION_NOT_PERMITTED);
    // It still unwraps, and the key is sensitive.
    let template = secret_template(ckk::AES, &[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    let victim = unwrap(&client, wrapping, &wrapped, template).unwrap();
    assert_eq!(attribute(&client, victim, cka::VALUE).0, Code::ATTRIBUTE_SENSITIVE);
    // Uses are not added.
    let wraps = aes(&client, &[cka::WRAP], &[]).unwrap();
    assert_eq!(code(set(&client, wraps, cka::DECRYPT, true)), Code::ATTRIBUTE_READ_ONLY);
    assert_eq!(code(copy(&client, wraps, &[(cka::DECRYPT, true)])), Code::ATTRIBUTE_READ_ONLY);
}

#[test]
fn a1_the_private_half_decrypts_nothing_once_the_public_half_has_wrapped_a_sensitive_key() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let generate = |sensitive: bool| {
        let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
        public.set_number(cka::MODULUS_BITS, 2048);
        let private = truths(&[
            (cka::DECRYPT, true),
            (cka::UNWRAP, true),
            (cka::SIGN, true),
            (cka::SENSITIVE, sensitive),
            (cka::EXTRACTABLE, true),
        ]);
        let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
        pair(client.call(&Request::GeneratePair { mechanism, public, private })).unwrap()
    };
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let wrap = |wrapping| {
        bytes(client.call(&Request::Wrap { wrapping, mechanism: oaep(), key: victim, room: None }))
    };
    let (public, private) = generate(true);
    let decrypt = |data: &[u8]| {
        let data = Bytes(data.to_vec());
        bytes(client.call(&Request::Decrypt { key: private, mechanism: oaep(), data }))
    };
    let data = Secret::new(b"data");
    let encrypted = client.call(&Request::Encrypt { key: public, mechanism: oaep(), data });
    let encrypted = bytes(encrypted).unwrap();
    assert_eq!(decrypt(&encrypted).unwrap(), b"data");
    let wrapped = wrap(public).unwrap();
    assert_eq!(code(decrypt(&wrapped)), Code::KEY_FUNCTION_NOT_PERMITTED);
    assert_eq!(code(decrypt(&encrypted)), Code::KEY_FUNCTION_NOT_PERMITTED);
    // It unwraps and signs.
    let request = Request::Unwrap {
        unwrapping: private,
        mechanism: oaep(),
        wrapped: Bytes(wrapped),
        template: secret_template(ckk::AES, &[]),
    };
    object(client.call(&request)).unwrap();
    sign(&client, private, &mechanism(ckm::SHA256_RSA_PKCS), b"message").unwrap();
    // The private half of this one can be read.
    let (readable, _) = generate(false);
    assert_eq!(code(wrap(readable)), Code::KEY_NOT_WRAPPABLE);
}

/// The message of `CKM_RSA_AES_KEY_WRAP` contains an AES key, which can be unwrapped alone.
#[test]
fn a1_the_aes_key_within_a_wrapped_key_decrypts_nothing() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let mut public = truths(&[(cka::WRAP, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::UNWRAP, true), (cka::DECRYPT, true)]);
    let generated =
        Request::GeneratePair { mechanism: mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN), public, private };
    let (public, private) = pair(client.call(&generated)).unwrap();
    let parameter = Parameter::OaepAes {
        bits: 256,
        hash: ckm::SHA256,
        mask: ckg::MGF1_SHA256,
        label: Bytes::default(),
    };
    let mechanism = Mechanism { number: ckm::RSA_AES_KEY_WRAP, parameter };
    let wrapped = Request::Wrap { wrapping: public, mechanism, key: victim, room: None };
    let wrapped = bytes(client.call(&wrapped)).unwrap();
    let (encrypted_key, rest) = wrapped.split_at(256);
    let inner = object(client.call(&Request::Unwrap {
        unwrapping: private,
        mechanism: oaep(),
        wrapped: Bytes(encrypted_key.to_vec()),
        template: secret_template(ckk::AES, &[(cka::DECRYPT, true), (cka::UNWRAP, true)]),
    }))
    .unwrap();
    let undone = undo_wrapping(&client, inner, rest);
    assert_eq!(code(undone), Code::KEY_FUNCTION_NOT_PERMITTED);
    let template = secret_template(ckk::AES, &[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    let back = unwrap(&client, inner, rest, template).unwrap();
    assert_eq!(attribute(&client, back, cka::VALUE).0, Code::ATTRIBUTE_SENSITIVE);
}

/// The same with a message from outside, which this HSM unwraps: whoever may unwrap it could unwrap
/// the AES key alone, before or afterwards, and decrypt the rest.
#[test]
fn a1_the_aes_key_within_a_message_from_outside_decrypts_nothing() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut public = truths(&[(cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::UNWRAP, true), (cka::DECRYPT, false)]);
    let generated =
        Request::GeneratePair { mechanism: mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN), public, private };
    let (public, private) = pair(client.call(&generated)).unwrap();
    let (fresh, secret) = ([5; 32], [6; 32]);
    let request = Request::Encrypt { key: public, mechanism: oaep(), data: Secret::new(&fresh) };
    let encrypted_key = bytes(client.call(&request)).unwrap();
    let mut rest = vec![0; 40];
    KwpAes256::new(&fresh.into()).wrap_key(&secret, &mut rest).unwrap();
    let inner = || {
        object(client.call(&Request::Unwrap {
            unwrapping: private,
            mechanism: oaep(),
            wrapped: Bytes(encrypted_key.clone()),
            template: secret_template(ckk::AES, &[(cka::DECRYPT, true), (cka::UNWRAP, true)]),
        }))
        .unwrap()
    };
    let before = inner();
    let parameter = Parameter::OaepAes {
        bits: 256,
        hash: ckm::SHA256,
        mask: ckg::MGF1_SHA256,
        label: Bytes::default(),
    };
    object(client.call(&Request::Unwrap {
        unwrapping: private,
        mechanism: Mechanism { number: ckm::RSA_AES_KEY_WRAP, parameter },
        wrapped: Bytes([&*encrypted_key, &rest].concat()),
        template: secret_template(ckk::AES, &[(cka::DECRYPT, true)]),
    }))
    .unwrap();
    for inner in [before, inner()] {
        let undone = undo_wrapping(&client, inner, &rest);
        assert_eq!(code(undone), Code::KEY_FUNCTION_NOT_PERMITTED);
    }
}

/// A program that wants the length alone has wrapped nothing.
#[test]
fn a_query_of_the_length_makes_no_key_serve_keys_and_is_not_logged() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::UNWRAP, true), (cka::DECRYPT, true)]);
    let generated =
        Request::GeneratePair { mechanism: mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN), public, private };
    let (public, private) = pair(client.call(&generated)).unwrap();
    let wrapping = aes(&client, EVERY_USE, &[]).unwrap();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let stays = aes(&client, &[cka::ENCRYPT], &[]).unwrap();
    let parameter = Parameter::OaepAes {
        bits: 256,
        hash: ckm::SHA256,
        mask: ckg::MGF1_SHA256,
        label: Bytes::default(),
    };
    let inside = Mechanism { number: ckm::RSA_AES_KEY_WRAP, parameter };
    let ways = [
        (public, oaep()),
        (public, inside),
        (wrapping, mechanism(ckm::AES_KEY_WRAP)),
        (wrapping, mechanism(ckm::AES_KEY_WRAP_KWP)),
    ];
    let lines = || match daemon.officer().call(&Request::Audit { from: 1, limit: 1000 }).unwrap() {
        Response::Audit { entries } => {
            let what = entries.iter().map(|line| line.what.as_str());
            what.filter(|what| !what.contains("login")).map(str::to_owned).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let ask = |(wrapping, mechanism): &(u64, Mechanism), key, room| {
        let (wrapping, mechanism) = (*wrapping, mechanism.clone());
        client.call(&Request::Wrap { wrapping, mechanism, key, room })
    };
    let before = lines();
    let mut lengths = Vec::new();
    for way in &ways {
        let length = |room| match ask(way, victim, Some(room)).unwrap() {
            Response::Number { value } => value,
            other => panic!("{other:?}"),
        };
        let needed = length(0);
        // A room that lacks one byte is too small, too.
        assert_eq!(length(needed - 1), needed);
        assert_eq!(code(ask(way, stays, Some(0))), Code::KEY_UNEXTRACTABLE);
        lengths.push(needed);
    }
    assert_eq!(lines(), before);
    let parameter = Parameter::Iv(Bytes(vec![0; 16]));
    let cbc = Mechanism { number: ckm::AES_CBC, parameter };
    let decrypts = || {
        let asked = [(private, oaep()), (wrapping, cbc.clone())].map(|(key, mechanism)| {
            client.call(&Request::Check { key, mechanism, usage: Usage::Decrypt })
        });
        asked.map(|answer| answer.is_ok())
    };
    assert_eq!(decrypts(), [true; 2]);
    for (way, length) in ways.iter().zip(lengths) {
        assert_eq!(bytes(ask(way, victim, Some(length))).unwrap().len() as u64, length);
    }
    assert_eq!(decrypts(), [false; 2]);
    assert!(lines().len() > before.len());
}
