//! A program without a PIN ends the use of a user's key: what serves keys serves no data, for good.

use super::*;

/// Generates a stored RSA pair, whose public half everybody sees.
fn stored_pair(client: &Client) -> (u64, u64) {
    let mut public = truths(&[(cka::TOKEN, true), (cka::PRIVATE, false), (cka::WRAP, true)]);
    public.set_bool(cka::ENCRYPT, true);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::TOKEN, true), (cka::DECRYPT, true), (cka::UNWRAP, true)]);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    pair(client.call(&Request::GeneratePair { mechanism, public, private })).unwrap()
}

fn oaep_aes() -> Mechanism {
    let (hash, mask) = (ckm::SHA256, ckg::MGF1_SHA256);
    let parameter = Parameter::OaepAes { bits: 256, hash, mask, label: Bytes::default() };
    Mechanism { number: ckm::RSA_AES_KEY_WRAP, parameter }
}

#[test]
fn nobody_without_a_login_makes_a_users_key_serve_keys_by_wrapping() {
    let daemon = Daemon::start();
    let (user, nobody) = (daemon.user(), daemon.client());
    let (public, private) = stored_pair(&user);
    let own = [(cka::EXTRACTABLE, true), (cka::PRIVATE, false)];
    let sensitive = aes(&nobody, &[cka::ENCRYPT], &own).unwrap();
    let wrap = |client: &Client, key, mechanism| {
        bytes(client.call(&Request::Wrap { wrapping: public, mechanism, key, room: None }))
    };
    for mechanism in [oaep(), oaep_aes()] {
        assert_eq!(code(wrap(&nobody, sensitive, mechanism)), Code::USER_NOT_LOGGED_IN);
    }
    let data = Secret::new(b"data");
    let encrypted = nobody.call(&Request::Encrypt { key: public, mechanism: oaep(), data });
    let data = Bytes(bytes(encrypted).unwrap());
    let decrypt = || {
        let data = data.clone();
        bytes(user.call(&Request::Decrypt { key: private, mechanism: oaep(), data }))
    };
    assert_eq!(decrypt().unwrap(), b"data");
    // A readable key is data, so its wrapping ends nothing.
    let readable = [(cka::SENSITIVE, false), (cka::EXTRACTABLE, true), (cka::PRIVATE, false)];
    let readable = aes(&nobody, &[cka::ENCRYPT], &readable).unwrap();
    for mechanism in [oaep(), oaep_aes()] {
        wrap(&nobody, readable, mechanism).unwrap();
    }
    assert_eq!(decrypt().unwrap(), b"data");
    // The user may.
    let sensitive = aes(&user, &[cka::ENCRYPT], &own).unwrap();
    wrap(&user, sensitive, oaep()).unwrap();
    assert_eq!(code(decrypt()), Code::KEY_FUNCTION_NOT_PERMITTED);
}

#[test]
fn nobody_without_a_login_makes_a_users_key_serve_keys_by_unwrapping() {
    let daemon = Daemon::start();
    let (user, nobody) = (daemon.user(), daemon.client());
    let open = [(cka::TOKEN, true), (cka::PRIVATE, false), (cka::EXTRACTABLE, true)];
    let uses = [cka::ENCRYPT, cka::DECRYPT, cka::WRAP, cka::UNWRAP];
    let shared = aes(&user, &uses, &open).unwrap();
    let readable = [(cka::SENSITIVE, false), (cka::EXTRACTABLE, true), (cka::PRIVATE, false)];
    let key = aes(&nobody, &[cka::ENCRYPT], &readable).unwrap();
    let wrapped = wrap(&nobody, shared, key).unwrap();
    let template = secret_template(ckk::AES, &[(cka::SENSITIVE, true), (cka::PRIVATE, false)]);
    let refused = unwrap(&nobody, shared, &wrapped, template.clone());
    assert_eq!(code(refused), Code::USER_NOT_LOGGED_IN);
    assert!(undo_wrapping(&user, shared, &wrapped).is_ok());
    // A readable key is data, again.
    let back = unwrap(&nobody, shared, &wrapped, secret_template(ckk::AES, &readable)).unwrap();
    assert_eq!(attribute(&nobody, back, cka::VALUE), attribute(&nobody, key, cka::VALUE));
    unwrap(&user, shared, &wrapped, template).unwrap();
    let undone = undo_wrapping(&user, shared, &wrapped);
    assert_eq!(code(undone), Code::KEY_FUNCTION_NOT_PERMITTED);
}
