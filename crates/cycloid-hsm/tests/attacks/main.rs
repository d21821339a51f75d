//! Known attacks on key managers, each refused by the named test.
//!
//! The numbers follow the list of attacks in the literature: Clulow, On the security of PKCS #11
//! (2003); Bortolozzo and others, Attacking and fixing PKCS #11 security tokens (2010);
//! Bleichenbacher (1998); Boneh, DeMillo and Lipton (1997); Nemec and others, ROCA (2017).

mod fixed_padding;
mod no_login;
#[path = "../support/mod.rs"]
mod support;
mod weak_rsa;
mod wrap_and_decrypt;

use aes_kw::KwpAes256;
use aes_kw::cipher::KeyInit;
use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{Parameter, ckd, ckg, ckm};
use cycloid_hsm::rpc::message::{Signed, Signing};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret, Usage};
use support::*;

/// Generates an AES key in the daemon, with exactly these uses.
fn aes(client: &Client, uses: &[u32], extra: &[(u32, bool)]) -> cycloid_hsm::Result<u64> {
    let mut template = truths(&[
        (cka::ENCRYPT, false),
        (cka::DECRYPT, false),
        (cka::WRAP, false),
        (cka::UNWRAP, false),
    ]);
    uses.iter().for_each(|usage| template.set_bool(*usage, true));
    extra.iter().for_each(|(number, value)| template.set_bool(*number, *value));
    template.set_number(cka::VALUE_LEN, 32);
    object(client.call(&Request::Generate { mechanism: mechanism(ckm::AES_KEY_GEN), template }))
}

fn set(client: &Client, object: u64, number: u32, value: bool) -> cycloid_hsm::Result<Response> {
    client.call(&Request::SetAttributes { object, template: truths(&[(number, value)]) })
}

fn copy(client: &Client, original: u64, changes: &[(u32, bool)]) -> cycloid_hsm::Result<u64> {
    object(client.call(&Request::Copy { object: original, template: truths(changes) }))
}

fn wrap(client: &Client, wrapping: u64, key: u64) -> cycloid_hsm::Result<Vec<u8>> {
    let mechanism = mechanism(ckm::AES_KEY_WRAP_KWP);
    bytes(client.call(&Request::Wrap { wrapping, mechanism, key, room: None }))
}

fn unwrap(
    client: &Client,
    unwrapping: u64,
    wrapped: &[u8],
    template: Template,
) -> cycloid_hsm::Result<u64> {
    let mechanism = mechanism(ckm::AES_KEY_WRAP_KWP);
    let wrapped = Bytes(wrapped.to_vec());
    object(client.call(&Request::Unwrap { unwrapping, mechanism, wrapped, template }))
}

fn secret_template(key_type: u32, truth_values: &[(u32, bool)]) -> Template {
    let mut template = truths(truth_values);
    template.set_number(cka::CLASS, cko::SECRET_KEY.into());
    template.set_number(cka::KEY_TYPE, key_type.into());
    template
}

/// Returns the code and the value of an attribute.
fn attribute(client: &Client, object: u64, number: u32) -> (Code, Vec<u8>) {
    match client.call(&Request::Attributes { object, numbers: vec![number] }).unwrap() {
        Response::Attributes { mut values } => {
            let value = values.remove(0);
            (Code(value.code), value.value.0)
        }
        other => panic!("{other:?}"),
    }
}

/// Undoes AES-KWP (RFC 5649) with a key that decrypts AES-CBC.
///
/// With a zero vector, the first block of the plaintext is the block cipher's output.
fn undo_wrapping(client: &Client, key: u64, wrapped: &[u8]) -> cycloid_hsm::Result<Vec<u8>> {
    let (check, rest) = wrapped.split_first_chunk::<8>().unwrap();
    let (mut a, mut r) = (u64::from_be_bytes(*check), rest.to_vec());
    let n = r.len() / 8;
    for t in (1..=6 * n).rev() {
        let i = (t - 1) % n * 8;
        let block = [&(a ^ t as u64).to_be_bytes()[..], &r[i..i + 8]].concat();
        let parameter = Parameter::Iv(Bytes(vec![0; 16]));
        let mechanism = Mechanism { number: ckm::AES_CBC, parameter };
        let block = bytes(client.call(&Request::Decrypt { key, mechanism, data: Bytes(block) }))?;
        a = u64::from_be_bytes(block[..8].try_into().unwrap());
        r[i..i + 8].copy_from_slice(&block[8..]);
    }
    Ok(r)
}

const EVERY_USE: &[u32] = &[cka::ENCRYPT, cka::DECRYPT, cka::WRAP, cka::UNWRAP];

fn oaep() -> Mechanism {
    let (hash, mask) = (ckm::SHA256, ckg::MGF1_SHA256);
    let parameter = Parameter::Oaep { hash, mask, label: Bytes::default() };
    Mechanism { number: ckm::RSA_PKCS_OAEP, parameter }
}

/// A key becomes its own wrapping key: wrapped under another, and unwrapped with another use.
#[test]
fn a3_an_unwrapped_key_wraps_no_sensitive_key() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let other = aes(&client, &[cka::WRAP, cka::UNWRAP], &[]).unwrap();
    let decrypts =
        aes(&client, &[cka::ENCRYPT, cka::DECRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let wrapped = wrap(&client, other, decrypts).unwrap();
    let template = secret_template(ckk::AES, &[(cka::WRAP, true)]);
    let wraps = unwrap(&client, other, &wrapped, template).unwrap();
    assert_eq!(code(wrap(&client, wraps, victim)), Code::KEY_NOT_WRAPPABLE);
}

#[test]
fn a4_an_imported_key_wraps_no_sensitive_key_unless_the_officer_trusts_it() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let stored = [(cka::TOKEN, true), (cka::PRIVATE, false)];
    let uses = EVERY_USE.iter().map(|usage| (*usage, true)).chain(stored).collect::<Vec<_>>();
    let imported = secret_key(&client, AES, &[9; 32], &truths(&uses)).unwrap();
    assert_eq!(code(wrap(&client, imported, victim)), Code::KEY_NOT_WRAPPABLE);
    let copied = copy(&client, imported, &[]).unwrap();
    assert_eq!(code(wrap(&client, copied, victim)), Code::KEY_NOT_WRAPPABLE);
    // A public key from outside.
    let mut foreign = truths(&[(cka::WRAP, true)]);
    foreign.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
    foreign.set_number(cka::KEY_TYPE, ckk::RSA.into());
    foreign.set(cka::MODULUS, [0xa5; 256]);
    foreign.set(cka::PUBLIC_EXPONENT, [1, 0, 1]);
    let foreign = object(client.call(&Request::Create { template: foreign })).unwrap();
    let asked = client.call(&Request::Wrap {
        wrapping: foreign,
        mechanism: oaep(),
        key: victim,
        room: None,
    });
    assert_eq!(code(asked), Code::KEY_NOT_WRAPPABLE);
    // A key that a generator of the other side knows.
    let (public, private) = generate(&client, &Pair::Curve(P256), false);
    let public = Bytes(attribute(&client, public, cka::EC_POINT).1);
    let parameter = Parameter::Ecdh { derivation: ckd::NULL, shared: Bytes::default(), public };
    let mechanism = Mechanism { number: ckm::ECDH1_DERIVE, parameter };
    let template = secret_template(ckk::AES, &[(cka::WRAP, true)]);
    let derived = client.call(&Request::Derive { base: private, mechanism, template });
    assert_eq!(code(wrap(&client, object(derived).unwrap(), victim)), Code::KEY_NOT_WRAPPABLE);

    // The officer vouches for a key. From then on, it serves keys.
    let officer = daemon.client();
    let pin = Secret::new(OFFICER_PIN);
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
    let mut readable = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    stored.iter().for_each(|(number, value)| readable.set_bool(*number, *value));
    let readable = secret_key(&client, AES, &[8; 32], &readable).unwrap();
    assert_eq!(code(set(&officer, readable, cka::TRUSTED, true)), Code::ACTION_PROHIBITED);
    set(&officer, imported, cka::TRUSTED, true).unwrap();
    for key in [imported, copied] {
        let undone = undo_wrapping(&client, key, &[0; 40]);
        assert_eq!(code(undone), Code::KEY_FUNCTION_NOT_PERMITTED);
    }
    wrap(&client, imported, victim).unwrap();
}

/// The templates of python-pkcs11, which request every use.
#[test]
fn a_template_may_request_every_use() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = aes(&client, EVERY_USE, &[(cka::SIGN, true), (cka::VERIFY, true)]).unwrap();
    let readable = [(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)];
    let own = aes(&client, &[cka::ENCRYPT], &readable).unwrap();
    let wrapped = wrap(&client, key, own).unwrap();
    let back = unwrap(&client, key, &wrapped, secret_template(ckk::AES, &readable)).unwrap();
    let value = |key| attribute(&client, key, cka::VALUE);
    assert_eq!(value(own).0, Code(0));
    assert_eq!(value(own), value(back));
    // A key that may not decrypt does not read by unwrapping.
    let unwraps = aes(&client, &[cka::WRAP, cka::UNWRAP], &[]).unwrap();
    let wrapped = wrap(&client, unwraps, own).unwrap();
    let back = unwrap(&client, unwraps, &wrapped, secret_template(ckk::AES, &readable)).unwrap();
    assert_eq!(value(back).0, Code::ATTRIBUTE_SENSITIVE);
}

#[test]
fn a2_an_unwrapped_key_is_sensitive_whatever_the_template_says() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let wrapping = aes(&client, &[cka::WRAP, cka::UNWRAP], &[]).unwrap();
    let key = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let wrapped = wrap(&client, wrapping, key).unwrap();
    let template = secret_template(ckk::AES, &[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    let back = unwrap(&client, wrapping, &wrapped, template).unwrap();
    assert_eq!(attribute(&client, back, cka::SENSITIVE), (Code(0), vec![1]));
    assert_eq!(attribute(&client, back, cka::VALUE).0, Code::ATTRIBUTE_SENSITIVE);
    // The attributes record that the key was once outside.
    for number in [cka::LOCAL, cka::ALWAYS_SENSITIVE, cka::NEVER_EXTRACTABLE] {
        assert_eq!(attribute(&client, back, number), (Code(0), vec![0]));
    }
    // It cannot return as another type of key, for which it is too short or too long.
    let private = {
        let mut template = Template::new();
        template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::RSA.into());
        template
    };
    let asked = unwrap(&client, wrapping, &wrapped, private);
    assert_eq!(code(asked), Code::WRAPPED_KEY_INVALID);
    let mut broken = wrapped.clone();
    broken[3] ^= 1;
    let asked = unwrap(&client, wrapping, &broken, secret_template(ckk::AES, &[]));
    assert_eq!(code(asked), Code::WRAPPED_KEY_INVALID);
}

#[test]
fn a3_protection_never_weakens_and_trust_is_the_officers() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = aes(&client, &[cka::ENCRYPT], &[(cka::WRAP_WITH_TRUSTED, true)]).unwrap();
    for (number, value) in [
        (cka::SENSITIVE, false),
        (cka::EXTRACTABLE, true),
        (cka::WRAP_WITH_TRUSTED, false),
        (cka::TRUSTED, true),
        (cka::DECRYPT, true),
        (cka::PRIVATE, false),
    ] {
        let changed = set(&client, key, number, value);
        assert_eq!(code(changed), Code::ATTRIBUTE_READ_ONLY, "set {number:#x}");
        let copied = copy(&client, key, &[(number, value)]);
        assert_eq!(code(copied), Code::ATTRIBUTE_READ_ONLY, "copy {number:#x}");
    }
    for number in [cka::LOCAL, cka::ALWAYS_SENSITIVE, cka::NEVER_EXTRACTABLE] {
        let made = aes(&client, &[cka::ENCRYPT], &[(number, true)]);
        assert_eq!(code(made), Code::ATTRIBUTE_READ_ONLY);
    }
    assert_eq!(
        code(aes(&client, &[cka::WRAP], &[(cka::TRUSTED, true)])),
        Code::ATTRIBUTE_READ_ONLY
    );

    // A key that only trusted keys may wrap, and an officer who trusts one.
    let stays =
        aes(&client, &[cka::ENCRYPT], &[(cka::WRAP_WITH_TRUSTED, true), (cka::EXTRACTABLE, true)])
            .unwrap();
    let wrapping =
        aes(&client, &[cka::WRAP], &[(cka::TOKEN, true), (cka::PRIVATE, false)]).unwrap();
    assert_eq!(code(wrap(&client, wrapping, stays)), Code::KEY_NOT_WRAPPABLE);
    let officer = daemon.client();
    let pin = Secret::new(OFFICER_PIN);
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
    set(&officer, wrapping, cka::TRUSTED, true).unwrap();
    wrap(&client, wrapping, stays).unwrap();
    // A copy is not trusted: a user made it, not the officer.
    let copied = copy(&client, wrapping, &[]).unwrap();
    assert_eq!(code(wrap(&client, copied, stays)), Code::KEY_NOT_WRAPPABLE);
}

#[test]
fn a3_no_key_wraps_an_unextractable_key() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let wrapping = aes(&client, &[cka::WRAP], &[]).unwrap();
    let key = aes(&client, &[cka::ENCRYPT], &[]).unwrap();
    assert_eq!(code(wrap(&client, wrapping, key)), Code::KEY_UNEXTRACTABLE);
    let (_, private) = generate(&client, &Pair::Curve(P256), false);
    assert_eq!(code(wrap(&client, wrapping, private)), Code::KEY_UNEXTRACTABLE);
}

#[test]
fn a4_no_derivation_mixes_keys_or_yields_a_part_that_can_be_guessed() {
    let daemon = Daemon::start();
    let client = daemon.user();
    // CKM_EXTRACT_KEY_FROM_KEY, CKM_XOR_BASE_AND_DATA, CKM_CONCATENATE_BASE_AND_KEY and …_AND_DATA.
    let key = aes(&client, &[cka::ENCRYPT], &[(cka::DERIVE, true)]).unwrap();
    for number in [0x365, 0x364, 0x360, 0x362, 0x363] {
        let template = secret_template(ckk::GENERIC_SECRET, &[]);
        let asked =
            client.call(&Request::Derive { base: key, mechanism: mechanism(number), template });
        assert_eq!(code(asked), Code::MECHANISM_INVALID);
    }
    // Agreement yields the end of the secret, but not less than 16 bytes, or the output of a
    // derivation function.
    let (public, private) = generate(&client, &Pair::Curve(P256), false);
    let point = attribute(&client, public, cka::EC_POINT).1;
    let derive = |derivation: u32, length: u64| {
        let parameter =
            Parameter::Ecdh { derivation, shared: Bytes::default(), public: Bytes(point.clone()) };
        let mut template = secret_template(ckk::GENERIC_SECRET, &[]);
        template.set_number(cka::VALUE_LEN, length);
        let mechanism = Mechanism { number: ckm::ECDH1_DERIVE, parameter };
        object(client.call(&Request::Derive { base: private, mechanism, template }))
    };
    for length in [0, 1, 15, 33, u64::MAX] {
        assert_eq!(code(derive(ckd::NULL, length)), Code::KEY_SIZE_RANGE, "{length}");
    }
    for length in [16, 31, 32] {
        derive(ckd::NULL, length).unwrap();
    }
    assert_eq!(code(derive(ckd::SHA256_KDF, 8)), Code::KEY_SIZE_RANGE);
    derive(ckd::SHA256_KDF, 48).unwrap();
}

#[test]
fn a5_a_broken_pkcs1_padding_is_no_error_and_a_broken_oaep_always_the_same() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Rsa(2048), false);
    let decrypt = |mechanism: Mechanism, data: Vec<u8>| {
        bytes(client.call(&Request::Decrypt { key: private, mechanism, data: Bytes(data) }))
    };
    let encrypt = |mechanism: Mechanism| {
        let data = Secret::new(b"a session key");
        bytes(client.call(&Request::Encrypt { key: public, mechanism, data })).unwrap()
    };
    let pkcs1 = mechanism(ckm::RSA_PKCS);
    let mut ciphertext = encrypt(pkcs1.clone());
    assert_eq!(decrypt(pkcs1.clone(), ciphertext.clone()).unwrap(), b"a session key");
    ciphertext[100] ^= 1;
    let first = decrypt(pkcs1.clone(), ciphertext.clone()).unwrap();
    assert_ne!(first, b"a session key");
    assert_eq!(decrypt(pkcs1, ciphertext).unwrap(), first);

    let ciphertext = encrypt(oaep());
    assert_eq!(decrypt(oaep(), ciphertext.clone()).unwrap(), b"a session key");
    let other = Mechanism {
        parameter: Parameter::Oaep {
            hash: ckm::SHA256,
            mask: ckg::MGF1_SHA256,
            label: Bytes(b"x".to_vec()),
        },
        ..oaep()
    };
    assert_eq!(code(decrypt(other, ciphertext.clone())), Code::ENCRYPTED_DATA_INVALID);
    let mut broken = ciphertext;
    broken[77] ^= 1;
    assert_eq!(code(decrypt(oaep(), broken)), Code::ENCRYPTED_DATA_INVALID);
}

#[test]
fn a5_unwrapping_errors_do_not_reveal_why_a_key_is_invalid() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = aes(&client, &[cka::UNWRAP], &[]).unwrap();
    // No mode that does not authenticate can unwrap: AES-CBC-PAD would be a padding oracle. For
    // PKCS
    // #1 v1.5, `mechanisms.rs` tests that an invalid padding yields another key.
    for number in [ckm::AES_CBC_PAD, ckm::AES_CBC, ckm::AES_ECB, ckm::AES_CTR] {
        let asked = client.call(&Request::Unwrap {
            unwrapping: key,
            mechanism: Mechanism { number, parameter: Parameter::Iv(Bytes(vec![0; 16])) },
            wrapped: Bytes(vec![1; 48]),
            template: secret_template(ckk::AES, &[]),
        });
        assert_eq!(code(asked), Code::MECHANISM_INVALID);
    }
}

#[test]
fn a9_weak_keys_and_points_off_their_curve_are_refused() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Curve(P256), false);
    let mut point = attribute(&client, public, cka::EC_POINT).1;
    let last = point.len() - 1;
    point[last] ^= 1;
    let mut template = Template::new();
    template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
    template.set_number(cka::KEY_TYPE, ckk::EC.into());
    template.set(cka::EC_PARAMS, P256);
    template.set(cka::EC_POINT, point.as_slice());
    assert_eq!(code(client.call(&Request::Create { template })), Code::ATTRIBUTE_VALUE_INVALID);
    let parameter =
        Parameter::Ecdh { derivation: ckd::NULL, shared: Bytes::default(), public: Bytes(point) };
    let asked = client.call(&Request::Derive {
        base: private,
        mechanism: Mechanism { number: ckm::ECDH1_DERIVE, parameter },
        template: secret_template(ckk::GENERIC_SECRET, &[]),
    });
    assert_eq!(code(asked), Code::PUBLIC_KEY_INVALID);

    // Even exponents, 1, and small ones.
    for exponent in [&[1u8][..], &[2], &[1, 0, 0]] {
        let mut public = Template::new();
        public.set_number(cka::MODULUS_BITS, 2048);
        public.set(cka::PUBLIC_EXPONENT, exponent);
        let asked = client.call(&Request::GeneratePair {
            mechanism: mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN),
            public,
            private: Template::new(),
        });
        assert_eq!(code(asked), Code::ATTRIBUTE_VALUE_INVALID);
    }
    for bits in [0, 512, 1024, 2047, 8192, u64::MAX] {
        let mut public = Template::new();
        public.set_number(cka::MODULUS_BITS, bits);
        let asked = client.call(&Request::GeneratePair {
            mechanism: mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN),
            public,
            private: Template::new(),
        });
        assert_eq!(code(asked), Code::KEY_SIZE_RANGE, "{bits} bits");
    }
}

#[test]
fn a13_no_role_reads_a_sensitive_value() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let secrets = [
        cka::VALUE,
        cka::PRIVATE_EXPONENT,
        cka::PRIME_1,
        cka::PRIME_2,
        cka::EXPONENT_1,
        cka::EXPONENT_2,
        cka::COEFFICIENT,
    ];
    let (_, rsa) = generate(&client, &Pair::Rsa(2048), true);
    let (_, ec) = generate(&client, &Pair::Curve(P256), true);
    let aes = aes(&client, &[cka::ENCRYPT], &[(cka::TOKEN, true)]).unwrap();
    for key in [rsa, ec, aes] {
        for number in secrets {
            let (code, value) = attribute(&client, key, number);
            assert!([Code::ATTRIBUTE_SENSITIVE, Code::ATTRIBUTE_TYPE_INVALID].contains(&code));
            assert!(value.is_empty());
        }
        assert!(
            secrets
                .iter()
                .any(|number| { attribute(&client, key, *number).0 == Code::ATTRIBUTE_SENSITIVE })
        );
    }
    // A search by a secret's value would allow guessing it.
    let mut template = Template::new();
    template.set(cka::VALUE, [0; 32]);
    let found = client.call(&Request::Find { template, page: None }).unwrap();
    assert_eq!(found, Response::Objects { objects: vec![], more: None });
    // The user reads a non-sensitive value, and an auditor does not.
    let value = [9; 32];
    let open = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true), (cka::TOKEN, true)]);
    let key = secret_key(&client, AES, &value, &open).unwrap();
    assert_eq!(attribute(&client, key, cka::VALUE), (Code(0), value.to_vec()));
    let auditor = daemon.client();
    let pin = Secret::new(AUDITOR_PIN);
    auditor.call(&Request::Login { role: Role::Auditor, pin }).unwrap();
    assert_eq!(attribute(&auditor, key, cka::VALUE).0, Code::ATTRIBUTE_SENSITIVE);
    // An auditor uses no key either, not even one that anybody may use.
    let mut public = truths(&[(cka::PRIVATE, false), (cka::TOKEN, true), (cka::SENSITIVE, false)]);
    public.set_bool(cka::EXTRACTABLE, true);
    let key = secret_key(&client, ckk::GENERIC_SECRET, &value, &public).unwrap();
    let hmac = mechanism(ckm::SHA256_HMAC);
    sign(&daemon.client(), key, &hmac, b"data").unwrap();
    assert_eq!(code(sign(&auditor, key, &hmac, b"data")), Code::USER_NOT_LOGGED_IN);
    let mut wraps = truths(&[(cka::PRIVATE, false), (cka::TOKEN, true), (cka::WRAP, true)]);
    wraps.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::TOKEN, true)]);
    let how = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    let made = Request::GeneratePair { mechanism: how, public: wraps, private };
    let (wrapping, _) = pair(client.call(&made)).unwrap();
    let wrap = Request::Wrap { wrapping, mechanism: oaep(), key, room: None };
    bytes(daemon.client().call(&wrap)).unwrap();
    assert_eq!(code(auditor.call(&wrap)), Code::USER_NOT_LOGGED_IN);
}

/// Returns the objects that a client finds by a value.
fn find_by_value(client: &Client, value: &[u8]) -> Vec<u64> {
    let mut template = Template::new();
    template.set(cka::VALUE, value);
    match client.call(&Request::Find { template, page: None }).unwrap() {
        Response::Objects { objects, .. } => objects,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a13_an_auditor_neither_reads_private_data_nor_guesses_it() {
    let daemon = Daemon::start();
    let user = daemon.user();
    let auditor = daemon.client();
    let pin = Secret::new(AUDITOR_PIN);
    auditor.call(&Request::Login { role: Role::Auditor, pin }).unwrap();
    for private in [true, false] {
        let mut template = truths(&[(cka::TOKEN, true), (cka::PRIVATE, private)]);
        template.set_number(cka::CLASS, cko::DATA.into());
        template.set(cka::LABEL, b"a note");
        template.set(cka::VALUE, b"content");
        let data = object(user.call(&Request::Create { template })).unwrap();
        assert_eq!(attribute(&user, data, cka::VALUE), (Code(0), b"content".to_vec()));
        assert_eq!(find_by_value(&user, b"content"), [data]);
        let (seen, found) = match private {
            true => ((Code::ATTRIBUTE_SENSITIVE, Vec::new()), vec![]),
            false => ((Code(0), b"content".to_vec()), vec![data]),
        };
        assert_eq!(attribute(&auditor, data, cka::VALUE), seen);
        assert_eq!(find_by_value(&auditor, b"content"), found);
        assert_eq!(attribute(&auditor, data, cka::LABEL), (Code(0), b"a note".to_vec()));
        user.call(&Request::Destroy { object: data }).unwrap();
    }
}

#[test]
fn a_policy_of_a_key_names_its_mechanisms_and_its_rate() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut private = Template::new();
    let allowed: Vec<u8> = u64::from(ckm::ECDSA_SHA256).to_le_bytes().to_vec();
    private.set(cka::ALLOWED_MECHANISMS, allowed);
    private.set_number(cka::RATE_LIMIT, 2);
    let mut public = Template::new();
    public.set(cka::EC_PARAMS, P256);
    let (_, key) = pair(client.call(&Request::GeneratePair {
        mechanism: mechanism(ckm::EC_KEY_PAIR_GEN),
        public,
        private,
    }))
    .unwrap();
    let refused = sign(&client, key, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(refused), Code::MECHANISM_INVALID);
    let start = std::time::Instant::now();
    let mut made = 0;
    // Eventually two signatures fall within one second.
    let refused = loop {
        match sign(&client, key, &mechanism(ckm::ECDSA_SHA256), b"message") {
            Ok(_) => made += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code, Code::FUNCTION_FAILED);
    let seconds = start.elapsed().as_secs() + 2;
    assert!((2..=2 * seconds).contains(&made), "{made} in {seconds} seconds");
    // Copies share the rate.
    let copies: Vec<u64> = (0..30).map(|_| copy(&client, key, &[]).unwrap()).collect();
    let start = std::time::Instant::now();
    let signed = |key: &&u64| sign(&client, **key, &mechanism(ckm::ECDSA_SHA256), b"m").is_ok();
    let made = copies.iter().filter(signed).count() as u64;
    let seconds = start.elapsed().as_secs() + 2;
    assert!((..=2 * seconds).contains(&made), "{made} in {seconds} seconds");
}

/// Encryption and derivation with a secret key compute codes, so its rate limit counts them.
#[test]
fn every_use_of_a_secret_key_counts_for_its_rate() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut limited = truths(&[(cka::SIGN, true), (cka::DERIVE, true)]);
    limited.set_number(cka::RATE_LIMIT, 2);
    let aes = secret_key(&client, AES, &[3; 32], &limited).unwrap();
    let generic = secret_key(&client, ckk::GENERIC_SECRET, &[3; 32], &limited).unwrap();
    let of_block = |number, parameter| Mechanism { number, parameter };
    let block = || Bytes(vec![7; 16]);
    let encrypt = || {
        let mechanism = of_block(ckm::AES_CBC, Parameter::Iv(block()));
        client.call(&Request::Encrypt { key: aes, mechanism, data: Secret::new(&[7; 16]) })
    };
    let decrypt = || {
        let parameter = Parameter::Counter { bits: 128, block: block() };
        let mechanism = of_block(ckm::AES_CTR, parameter);
        client.call(&Request::Decrypt { key: aes, mechanism, data: block() })
    };
    let encrypt_data = || {
        let mechanism = of_block(ckm::AES_ECB_ENCRYPT_DATA, Parameter::Data(block()));
        client.call(&Request::Derive { base: aes, mechanism, template: Template::new() })
    };
    let hash = || {
        let (salt, information) = (Bytes::default(), Bytes::default());
        let (hash, extract, expand) = (ckm::SHA256, true, true);
        let parameter = Parameter::Hkdf { hash, extract, expand, salt, information };
        let mechanism = of_block(ckm::HKDF_DERIVE, parameter);
        client.call(&Request::Derive { base: generic, mechanism, template: Template::new() })
    };
    let uses: [&dyn Fn() -> cycloid_hsm::Result<Response>; 4] =
        [&encrypt, &decrypt, &encrypt_data, &hash];
    for each in uses {
        // Eventually three fall within one second; without a limit, no use is refused.
        let refused = (0..3000).find_map(|_| each().err()).expect("there is a limit");
        assert_eq!(refused.code, Code::FUNCTION_FAILED, "{refused:?}");
    }
}
