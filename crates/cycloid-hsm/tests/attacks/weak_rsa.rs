//! Weak RSA, which the officer may allow. Without padding, it is decryption and signature at once.

use cycloid_hsm::legacy::Legacy;
use cycloid_hsm::rpc::Usage;

use super::*;

/// Generates a pair with these uses of the private half.
fn rsa(client: &Client, private: &[(u32, bool)]) -> (u64, u64) {
    let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(private);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    pair(client.call(&Request::GeneratePair { mechanism, public, private })).unwrap()
}

/// Requests both raw operations on a ciphertext: as a signature, alone and among many, and as a
/// decryption. Returns what each says, and what C_SignInit and C_DecryptInit would.
fn opened(client: &Client, key: u64, ciphertext: &[u8]) -> Vec<Result<Vec<u8>, Code>> {
    let raw = || mechanism(ckm::RSA_X_509);
    let data = || Bytes(ciphertext.to_vec());
    let code = |error: cycloid_hsm::Error| error.code;
    let requests = vec![Signing { key, mechanism: raw(), data: data(), digested: false }];
    let Response::SignedMany { outcomes } = client.call(&Request::SignMany { requests }).unwrap()
    else {
        panic!("an answer to another request")
    };
    let Signed { code: one, signature } = outcomes[0].clone();
    let decrypted = client.call(&Request::Decrypt { key, mechanism: raw(), data: data() });
    let check = |usage| {
        let asked = client.call(&Request::Check { key, mechanism: raw(), usage });
        asked.map(|_| Vec::new()).map_err(code)
    };
    vec![
        sign(client, key, &raw(), ciphertext).map_err(code),
        if one == 0 { Ok(signature.0) } else { Err(Code(one)) },
        bytes(decrypted).map_err(code),
        check(Usage::Sign),
        check(Usage::Decrypt),
    ]
}

#[test]
fn a1_a_raw_signature_does_not_open_a_wrapped_key() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::RawRsa, true);
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let all = [(cka::DECRYPT, true), (cka::UNWRAP, true), (cka::SIGN, true)];
    let (public, private) = rsa(&client, &all);
    let encrypt = |mechanism: Mechanism, data: &[u8]| {
        let data = Secret::new(data);
        bytes(client.call(&Request::Encrypt { key: public, mechanism, data })).unwrap()
    };
    // Until it serves keys, the key decrypts by either name.
    let ciphertext = encrypt(mechanism(ckm::RSA_X_509), b"data");
    let plain = [&[0; 252], &b"data"[..]].concat();
    for outcome in &opened(&client, private, &ciphertext)[..3] {
        assert_eq!(*outcome, Ok(plain.clone()));
    }
    let copied = copy(&client, private, &[(cka::UNWRAP, false)]).unwrap();
    let wrapped = Request::Wrap { wrapping: public, mechanism: oaep(), key: victim, room: None };
    let wrapped = bytes(client.call(&wrapped)).unwrap();
    // Neither that key opens it, nor a copy from before or after.
    let later = copy(&client, private, &[(cka::UNWRAP, false)]).unwrap();
    for key in [private, copied, later] {
        let refused = opened(&client, key, &wrapped);
        assert!(refused.iter().all(|outcome| *outcome == Err(Code::KEY_FUNCTION_NOT_PERMITTED)));
    }
    sign(&client, private, &mechanism(ckm::SHA256_RSA_PKCS), b"message").unwrap();
}

/// A key that only unwraps and signs promises that nobody reads what is wrapped for it, and one
/// that only decrypts does not sign. A copy has no more uses.
#[test]
fn a3_a_raw_operation_needs_both_uses_that_it_is() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::RawRsa, true);
    let client = daemon.user();
    for uses in [
        [(cka::DECRYPT, false), (cka::UNWRAP, true), (cka::SIGN, true)],
        [(cka::DECRYPT, true), (cka::UNWRAP, false), (cka::SIGN, false)],
    ] {
        let (public, private) = rsa(&client, &uses);
        let data = Secret::new(b"a message from outside");
        let message = Request::Encrypt { key: public, mechanism: oaep(), data };
        let message = bytes(client.call(&message)).unwrap();
        let copied = copy(&client, private, &[(cka::UNWRAP, false)]).unwrap();
        for key in [private, copied] {
            let refused = opened(&client, key, &message);
            assert!(
                refused.iter().all(|outcome| *outcome == Err(Code::KEY_FUNCTION_NOT_PERMITTED))
            );
        }
        for (usage, _) in uses.into_iter().filter(|(_, given)| !given) {
            let added = copy(&client, private, &[(usage, true)]);
            assert_eq!(code(added), Code::ATTRIBUTE_READ_ONLY);
        }
    }
}

/// A raw decryption makes a signature, so the key's rate limit counts it.
#[test]
fn a_raw_decryption_counts_as_a_signature() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::RawRsa, true);
    let client = daemon.user();
    let mut public = Template::new();
    public.set_number(cka::MODULUS_BITS, 2048);
    let mut private = Template::new();
    private.set_number(cka::RATE_LIMIT, 2);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    let made = client.call(&Request::GeneratePair { mechanism, public, private });
    let (_, key) = pair(made).unwrap();
    let decrypt = || {
        let mechanism = super::mechanism(ckm::RSA_X_509);
        let mut data = vec![7; 256];
        data[0] = 0;
        client.call(&Request::Decrypt { key, mechanism, data: Bytes(data) })
    };
    // Eventually three fall within one second.
    let refused = loop {
        if let Err(error) = decrypt() {
            break error;
        }
    };
    assert_eq!(refused.code, Code::FUNCTION_FAILED);
}

#[test]
fn nothing_raw_is_possible_unless_the_officer_allows_it() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Rsa(2048), false);
    let raw = || mechanism(ckm::RSA_X_509);
    let refuses = || {
        let refused = opened(&client, private, &[1; 256]);
        assert!(refused.iter().all(|outcome| *outcome == Err(Code::MECHANISM_INVALID)));
        let data = Secret::new(b"1");
        let asked = client.call(&Request::Encrypt { key: public, mechanism: raw(), data });
        assert_eq!(code(asked), Code::MECHANISM_INVALID);
        let asked = verify(&client, public, &raw(), b"1", &[1; 256]);
        assert_eq!(code(asked), Code::MECHANISM_INVALID);
    };
    refuses();
    for weak in [Legacy::ShortRsaKeys, Legacy::Sha1Signatures] {
        daemon.allow(weak, true);
    }
    refuses();
    daemon.allow(Legacy::RawRsa, true);
    // It wraps and unwraps nothing.
    let key = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let asked = client.call(&Request::Wrap { wrapping: public, mechanism: raw(), key, room: None });
    assert_eq!(code(asked), Code::MECHANISM_INVALID);
    let (wrapped, template) = (Bytes(vec![1; 256]), secret_template(ckk::AES, &[]));
    let asked = Request::Unwrap { unwrapping: private, mechanism: raw(), wrapped, template };
    assert_eq!(code(client.call(&asked)), Code::MECHANISM_INVALID);
    daemon.allow(Legacy::RawRsa, false);
    refuses();
}

/// A short key can be factored outside, so its value counts as known.
#[test]
fn a4_a_short_rsa_key_wraps_no_sensitive_key() {
    let daemon = Daemon::start();
    daemon.allow(Legacy::ShortRsaKeys, true);
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let readable = [(cka::EXTRACTABLE, true), (cka::SENSITIVE, false)];
    let readable = aes(&client, &[cka::ENCRYPT], &readable).unwrap();
    for bits in [1024, 1792, 2048] {
        let mut public = truths(&[(cka::WRAP, true)]);
        public.set_number(cka::MODULUS_BITS, bits);
        let private = truths(&[(cka::UNWRAP, true)]);
        let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
        let made = client.call(&Request::GeneratePair { mechanism, public, private });
        let (wrapping, _) = pair(made).unwrap();
        let wrap = |key| {
            bytes(client.call(&Request::Wrap { wrapping, mechanism: oaep(), key, room: None }))
        };
        wrap(readable).unwrap();
        match bits {
            2048 => drop(wrap(victim).unwrap()),
            _ => assert_eq!(code(wrap(victim)), Code::KEY_NOT_WRAPPABLE),
        }
    }
}
