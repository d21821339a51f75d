//! Mechanisms beside the policy: uses that count as data, derivations, and wrapping under RSA keys.

mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{KeyDerivationField, Parameter, ckg, ckm, ckp};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Secret, Usage};
use support::*;

fn with(number: u32, parameter: Parameter) -> Mechanism {
    Mechanism { number, parameter }
}

fn filled(length: usize) -> Bytes {
    Bytes(vec![7; length])
}

fn encrypt(
    client: &Client,
    key: u64,
    mechanism: Mechanism,
    data: &[u8],
) -> cycloid_hsm::Result<Vec<u8>> {
    bytes(client.call(&Request::Encrypt { key, mechanism, data: Secret::new(data) }))
}

fn decrypt(
    client: &Client,
    key: u64,
    mechanism: Mechanism,
    data: &[u8],
) -> cycloid_hsm::Result<Vec<u8>> {
    bytes(client.call(&Request::Decrypt { key, mechanism, data: Bytes(data.to_vec()) }))
}

fn derive(
    client: &Client,
    base: u64,
    mechanism: Mechanism,
    template: Template,
) -> cycloid_hsm::Result<u64> {
    object(client.call(&Request::Derive { base, mechanism, template }))
}

fn value(client: &Client, object: u64) -> Option<Vec<u8>> {
    match client.call(&Request::Attributes { object, numbers: vec![cka::VALUE] }).unwrap() {
        Response::Attributes { values } if values[0].code == 0 => Some(values[0].value.0.clone()),
        Response::Attributes { .. } => None,
        other => panic!("{other:?}"),
    }
}

fn readable() -> Template {
    truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)])
}

fn of_length(length: u64) -> Template {
    let mut template = readable();
    template.set_number(cka::VALUE_LEN, length);
    template
}

/// Generates an AES key with every use.
fn aes(client: &Client) -> u64 {
    let uses = [
        cka::ENCRYPT,
        cka::DECRYPT,
        cka::SIGN,
        cka::VERIFY,
        cka::WRAP,
        cka::UNWRAP,
        cka::DERIVE,
        cka::EXTRACTABLE,
    ];
    let mut template = truths(&uses.map(|number| (number, true)));
    template.set_number(cka::VALUE_LEN, 32);
    object(client.call(&Request::Generate { mechanism: mechanism(ckm::AES_KEY_GEN), template }))
        .unwrap()
}

fn ciphers() -> Vec<Mechanism> {
    vec![
        mechanism(ckm::AES_ECB),
        with(ckm::AES_CBC, Parameter::Iv(filled(16))),
        with(ckm::AES_CBC_PAD, Parameter::Iv(filled(16))),
        with(ckm::AES_CBC_PAD, Parameter::Piece(filled(16))),
        with(ckm::AES_CTR, Parameter::Counter { bits: 64, block: filled(16) }),
        with(ckm::AES_GCM, Parameter::Gcm { iv: filled(12), associated: filled(3), tag_bits: 96 }),
        with(
            ckm::AES_CCM,
            Parameter::Ccm {
                data_length: 32,
                nonce: filled(13),
                associated: filled(3),
                tag_length: 8,
            },
        ),
    ]
}

fn macs() -> Vec<Mechanism> {
    vec![
        mechanism(ckm::AES_CMAC),
        with(ckm::AES_CMAC_GENERAL, Parameter::Length(8)),
        with(ckm::AES_GMAC, Parameter::Iv(filled(12))),
        with(ckm::AES_GMAC, Parameter::Gcm { iv: filled(12), associated: filled(3), tag_bits: 96 }),
    ]
}

fn counter_kdf(function: u32) -> Mechanism {
    let counter = KeyDerivationField::Counter { bits: 32, little_endian: false };
    let fields = vec![counter, KeyDerivationField::Bytes(filled(5))];
    with(ckm::SP800_108_COUNTER_KDF, Parameter::CounterKdf { function, fields })
}

fn feedback_kdf(function: u32) -> Mechanism {
    let fields = vec![KeyDerivationField::Previous, KeyDerivationField::Bytes(filled(5))];
    let parameter = Parameter::FeedbackKdf { function, fields, iv: filled(16) };
    with(ckm::SP800_108_FEEDBACK_KDF, parameter)
}

fn aes_derivations() -> Vec<Mechanism> {
    let data = Parameter::CbcData { iv: filled(16), data: filled(32) };
    vec![
        with(ckm::AES_ECB_ENCRYPT_DATA, Parameter::Data(filled(32))),
        with(ckm::AES_CBC_ENCRYPT_DATA, data),
        counter_kdf(ckm::AES_CMAC),
        feedback_kdf(ckm::AES_CMAC),
    ]
}

#[test]
fn every_use_of_an_aes_key_for_data_ends_when_it_serves_keys() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (key, victim) = (aes(&client), aes(&client));
    let check = |mechanism: &Mechanism, usage| {
        client.call(&Request::Check { key, mechanism: mechanism.clone(), usage })
    };
    let mut sealed = Vec::new();
    for cipher in ciphers() {
        let made = encrypt(&client, key, cipher.clone(), &[5; 32]).unwrap();
        assert_eq!(decrypt(&client, key, cipher.clone(), &made).unwrap(), [5; 32], "{cipher:?}");
        check(&cipher, Usage::Encrypt).unwrap();
        sealed.push(made);
    }
    let mut tags = Vec::new();
    for mac in macs() {
        let tag = sign(&client, key, &mac, b"data").unwrap();
        verify(&client, key, &mac, b"data", &tag).unwrap();
        let wrong = verify(&client, key, &mac, b"date", &tag);
        assert_eq!(code(wrong), Code::SIGNATURE_INVALID, "{mac:?}");
        let short = verify(&client, key, &mac, b"data", &tag[1..]);
        assert_eq!(code(short), Code::SIGNATURE_LEN_RANGE, "{mac:?}");
        tags.push(tag);
    }
    for derivation in aes_derivations() {
        derive(&client, key, derivation, of_length(32)).unwrap();
    }

    let wrapping = mechanism(ckm::AES_KEY_WRAP_KWP);
    let wrap = Request::Wrap { wrapping: key, mechanism: wrapping, key: victim, room: None };
    bytes(client.call(&wrap)).unwrap();
    let refused = Code::KEY_FUNCTION_NOT_PERMITTED;
    for (cipher, made) in ciphers().into_iter().zip(sealed) {
        assert_eq!(code(encrypt(&client, key, cipher.clone(), &[5; 32])), refused, "{cipher:?}");
        assert_eq!(code(decrypt(&client, key, cipher.clone(), &made)), refused, "{cipher:?}");
        assert_eq!(code(check(&cipher, Usage::Encrypt)), refused, "{cipher:?}");
        assert_eq!(code(check(&cipher, Usage::Decrypt)), refused, "{cipher:?}");
    }
    for (mac, tag) in macs().into_iter().zip(tags) {
        assert_eq!(code(sign(&client, key, &mac, b"data")), refused, "{mac:?}");
        assert_eq!(code(verify(&client, key, &mac, b"data", &tag)), refused, "{mac:?}");
        assert_eq!(code(check(&mac, Usage::Sign)), refused, "{mac:?}");
        assert_eq!(code(check(&mac, Usage::Verify)), refused, "{mac:?}");
    }
    for derivation in aes_derivations() {
        let derived = derive(&client, key, derivation.clone(), of_length(32));
        assert_eq!(code(derived), refused, "{derivation:?}");
    }
}

#[test]
fn a_piece_of_a_padded_message_needs_the_permission_for_padded_messages() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let piece = with(ckm::AES_CBC_PAD, Parameter::Piece(filled(16)));
    let plain = with(ckm::AES_CBC, Parameter::Iv(filled(16)));
    for (allowed, works, refused) in
        [(ckm::AES_CBC_PAD, &piece, &plain), (ckm::AES_CBC, &plain, &piece)]
    {
        let mut template = Template::new();
        template.set(cka::ALLOWED_MECHANISMS, u64::from(allowed).to_le_bytes());
        let key = secret_key(&client, AES, &[3; 16], &template).unwrap();
        assert_eq!(encrypt(&client, key, works.clone(), &[1; 32]).unwrap().len(), 32);
        assert_eq!(code(encrypt(&client, key, refused.clone(), &[1; 32])), Code::MECHANISM_INVALID);
    }
    let key = secret_key(&client, AES, &[3; 16], &Template::new()).unwrap();
    assert_eq!(code(encrypt(&client, key, piece, &[1; 31])), Code::DATA_LEN_RANGE);
}

#[test]
fn ccm_checks_the_stated_length() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let key = secret_key(&client, AES, &[3; 16], &Template::new()).unwrap();
    let ccm = |data_length| {
        let (nonce, associated) = (filled(12), filled(0));
        with(ckm::AES_CCM, Parameter::Ccm { data_length, nonce, associated, tag_length: 16 })
    };
    let sealed = encrypt(&client, key, ccm(5), &[1; 5]).unwrap();
    assert_eq!(code(encrypt(&client, key, ccm(6), &[1; 5])), Code::DATA_LEN_RANGE);
    assert_eq!(decrypt(&client, key, ccm(5), &sealed).unwrap(), [1; 5]);
    assert_eq!(code(decrypt(&client, key, ccm(21), &sealed)), Code::DATA_LEN_RANGE);
    assert_eq!(code(decrypt(&client, key, ccm(0), &sealed[..15])), Code::ENCRYPTED_DATA_LEN_RANGE);
    let mut forged = sealed;
    forged[0] ^= 1;
    assert_eq!(code(decrypt(&client, key, ccm(5), &forged)), Code::ENCRYPTED_DATA_INVALID);
}

#[test]
fn derivation_by_encryption_yields_the_first_bytes_of_the_ciphertext() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let base = secret_key(&client, AES, &[3; 16], &truths(&[(cka::DERIVE, true)])).unwrap();
    let encrypted = encrypt(&client, base, mechanism(ckm::AES_ECB), &[7; 48]).unwrap();
    let ecb = || with(ckm::AES_ECB_ENCRYPT_DATA, Parameter::Data(filled(48)));
    for length in [16, 24, 48] {
        let derived = derive(&client, base, ecb(), of_length(length)).unwrap();
        assert_eq!(value(&client, derived).unwrap(), encrypted[..length as usize]);
    }
    let whole = derive(&client, base, ecb(), readable()).unwrap();
    assert_eq!(value(&client, whole).unwrap(), encrypted);
    let sensitive = derive(&client, base, ecb(), Template::new()).unwrap();
    assert_eq!(value(&client, sensitive), None);
    assert_eq!(code(derive(&client, base, ecb(), of_length(15))), Code::KEY_SIZE_RANGE);
    assert_eq!(code(derive(&client, base, ecb(), of_length(49))), Code::MECHANISM_PARAM_INVALID);
    let partial = with(ckm::AES_ECB_ENCRYPT_DATA, Parameter::Data(filled(31)));
    assert_eq!(code(derive(&client, base, partial, of_length(16))), Code::MECHANISM_PARAM_INVALID);
    let no_use = secret_key(&client, AES, &[3; 16], &Template::new()).unwrap();
    assert_eq!(
        code(derive(&client, no_use, ecb(), of_length(16))),
        Code::KEY_FUNCTION_NOT_PERMITTED
    );
}

/// RFC 5869, test case 1.
#[test]
fn hkdf_yields_keys_and_data() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let use_it = truths(&[(cka::DERIVE, true)]);
    let base = secret_key(&client, ckk::GENERIC_SECRET, &[0x0b; 22], &use_it).unwrap();
    let hkdf = |number, extract, expand| {
        let (salt, information) = (Bytes((0..13).collect()), Bytes((0xf0..0xfa).collect()));
        with(number, Parameter::Hkdf { hash: ckm::SHA256, extract, expand, salt, information })
    };
    let expected = [
        0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36, 0x2f,
        0x2a,
    ];
    let key = derive(&client, base, hkdf(ckm::HKDF_DERIVE, true, true), of_length(42)).unwrap();
    assert_eq!(value(&client, key).unwrap()[..16], expected);
    let mut template = Template::new();
    template.set_number(cka::VALUE_LEN, 16);
    let data = derive(&client, base, hkdf(ckm::HKDF_DATA, true, true), template).unwrap();
    assert_eq!(value(&client, data).unwrap(), expected);
    let extracted = derive(&client, base, hkdf(ckm::HKDF_DERIVE, true, false), readable()).unwrap();
    assert_eq!(value(&client, extracted).unwrap()[..4], [0x07, 0x77, 0x09, 0x36]);
    let nothing = derive(&client, base, hkdf(ckm::HKDF_DERIVE, false, false), of_length(32));
    assert_eq!(code(nothing), Code::MECHANISM_PARAM_INVALID);
    let short = derive(&client, base, hkdf(ckm::HKDF_DERIVE, true, true), of_length(8));
    assert_eq!(code(short), Code::KEY_SIZE_RANGE);
    let aes = secret_key(&client, AES, &[3; 16], &use_it).unwrap();
    let mixed = derive(&client, aes, hkdf(ckm::HKDF_DERIVE, true, true), of_length(16));
    assert_eq!(code(mixed), Code::KEY_TYPE_INCONSISTENT);
    let mixed = derive(&client, aes, counter_kdf(ckm::SHA256_HMAC), of_length(16));
    assert_eq!(code(mixed), Code::KEY_TYPE_INCONSISTENT);
    derive(&client, base, counter_kdf(ckm::SHA256_HMAC), of_length(16)).unwrap();
}

#[test]
fn a_password_yields_a_key_for_a_user_within_limits() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let generate = |client: &Client, iterations| {
        let (salt, password) = (Bytes(b"salt".to_vec()), Secret::new(b"password"));
        let parameter = Parameter::Pbkdf2 { function: ckp::SHA1, salt, iterations, password };
        let (mechanism, mut template) = (with(ckm::PKCS5_PBKD2, parameter), of_length(20));
        template.set_bool(cka::PRIVATE, false);
        object(client.call(&Request::Generate { mechanism, template }))
    };
    // RFC 6070, the third vector.
    let key = generate(&client, 4096).unwrap();
    assert_eq!(value(&client, key).unwrap()[..4], [0x4b, 0x00, 0x79, 0x01]);
    assert_eq!(code(generate(&client, 0)), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(code(generate(&client, 1 << 40)), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(code(generate(&daemon.client(), 1)), Code::USER_NOT_LOGGED_IN);
}

/// Generates an RSA key pair for wrapping.
fn wrapping_pair(client: &Client) -> (u64, u64) {
    let mut public = truths(&[(cka::WRAP, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::UNWRAP, true)]);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    pair(client.call(&Request::GeneratePair { mechanism, public, private })).unwrap()
}

#[test]
fn rsa_unwrapping_does_not_reveal_whether_the_padding_was_valid() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = wrapping_pair(&client);
    let key = aes(&client);
    let how = mechanism(ckm::RSA_PKCS);
    let wrap = Request::Wrap { wrapping: public, mechanism: how.clone(), key, room: None };
    let mut wrapped = bytes(client.call(&wrap)).unwrap();
    let unwrap = |wrapped: &[u8]| -> cycloid_hsm::Result<Vec<Vec<u8>>> {
        let mut template = Template::new();
        template.set_number(cka::CLASS, cko::SECRET_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::GENERIC_SECRET.into());
        let (mechanism, wrapped) = (how.clone(), Bytes(wrapped.to_vec()));
        let request = Request::Unwrap { unwrapping: private, mechanism, wrapped, template };
        let object = object(client.call(&request))?;
        let numbers = vec![cka::VALUE_LEN, cka::CHECK_VALUE];
        match client.call(&Request::Attributes { object, numbers })? {
            Response::Attributes { values } => Ok(values.into_iter().map(|v| v.value.0).collect()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(unwrap(&wrapped).unwrap()[0], 32u64.to_le_bytes());
    let mut lengths = std::collections::BTreeSet::new();
    for at in 0..24 {
        wrapped[200 + at] ^= 0x5a;
        // Another key, always the same one; an empty one is refused for its size.
        match (unwrap(&wrapped), unwrap(&wrapped)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one, other);
                lengths.insert(one[0].clone());
            }
            (Err(one), Err(other)) => {
                assert_eq!((one.code, other.code), (Code::KEY_SIZE_RANGE, Code::KEY_SIZE_RANGE));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(lengths.len() > 5, "lengths are random");
}

#[test]
fn a_private_key_travels_under_rsa_and_a_fresh_aes_key() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = wrapping_pair(&client);
    let mut extractable = Template::new();
    extractable.set_bool(cka::EXTRACTABLE, true);
    let mut curve = Template::new();
    curve.set(cka::EC_PARAMS, P256);
    let request = Request::GeneratePair {
        mechanism: mechanism(ckm::EC_KEY_PAIR_GEN),
        public: curve,
        private: extractable,
    };
    let (verifies, signs) = pair(client.call(&request)).unwrap();
    let how = |bits| {
        let (hash, mask, label) = (ckm::SHA256, ckg::MGF1_SHA256, Bytes::default());
        with(ckm::RSA_AES_KEY_WRAP, Parameter::OaepAes { bits, hash, mask, label })
    };
    let wrap = |bits| {
        client.call(&Request::Wrap {
            wrapping: public,
            mechanism: how(bits),
            key: signs,
            room: None,
        })
    };
    assert_eq!(code(wrap(127)), Code::MECHANISM_PARAM_INVALID);
    let wrapped = bytes(wrap(256)).unwrap();
    let unwrap = |wrapped: &[u8]| {
        let mut template = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
        template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::EC.into());
        let (mechanism, wrapped) = (how(256), Bytes(wrapped.to_vec()));
        object(client.call(&Request::Unwrap { unwrapping: private, mechanism, wrapped, template }))
    };
    let again = unwrap(&wrapped).unwrap();
    assert_eq!(value(&client, again), None, "an unwrapped key is sensitive");
    let ecdsa = mechanism(ckm::ECDSA_SHA3_256);
    let signature = sign(&client, again, &ecdsa, b"message").unwrap();
    verify(&client, verifies, &ecdsa, b"message", &signature).unwrap();
    for at in [0, 255, 256, wrapped.len() - 1] {
        let mut other = wrapped.clone();
        other[at] ^= 1;
        assert_eq!(code(unwrap(&other)), Code::WRAPPED_KEY_INVALID, "byte {at}");
    }
    assert_eq!(code(unwrap(&wrapped[..256])), Code::WRAPPED_KEY_LEN_RANGE);
}

#[test]
fn rsa_and_ecdsa_sign_with_sha3() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let rsa = generate(&client, &Pair::Rsa(2048), false);
    let ec = generate(&client, &Pair::Curve(P256), false);
    let hashes = [
        (
            ckm::SHA3_224_RSA_PKCS,
            ckm::SHA3_224_RSA_PKCS_PSS,
            ckm::ECDSA_SHA3_224,
            ckm::SHA3_224,
            ckg::MGF1_SHA3_224,
        ),
        (
            ckm::SHA3_256_RSA_PKCS,
            ckm::SHA3_256_RSA_PKCS_PSS,
            ckm::ECDSA_SHA3_256,
            ckm::SHA3_256,
            ckg::MGF1_SHA3_256,
        ),
        (
            ckm::SHA3_384_RSA_PKCS,
            ckm::SHA3_384_RSA_PKCS_PSS,
            ckm::ECDSA_SHA3_384,
            ckm::SHA3_384,
            ckg::MGF1_SHA3_384,
        ),
        (
            ckm::SHA3_512_RSA_PKCS,
            ckm::SHA3_512_RSA_PKCS_PSS,
            ckm::ECDSA_SHA3_512,
            ckm::SHA3_512,
            ckg::MGF1_SHA3_512,
        ),
    ];
    for (pkcs, pss, ecdsa, hash, mask) in hashes {
        let parameter = Parameter::Pss { hash, mask, salt_length: 32 };
        let cases = [(rsa, mechanism(pkcs)), (rsa, with(pss, parameter)), (ec, mechanism(ecdsa))];
        for ((public, private), how) in cases {
            let signature = sign(&client, private, &how, b"message").unwrap();
            verify(&client, public, &how, b"message", &signature).unwrap();
            let wrong = verify(&client, public, &how, b"messages", &signature);
            assert_eq!(code(wrong), Code::SIGNATURE_INVALID, "{how:?}");
        }
    }
}

#[test]
fn rsa_wraps_sensitive_keys_only_for_a_key_of_the_token_which_then_decrypts_nothing() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (victim, own) = (aes(&client), secret_key(&client, AES, &[1; 32], &readable()).unwrap());
    let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, 2048);
    let private = truths(&[(cka::UNWRAP, true), (cka::DECRYPT, true)]);
    let mechanism_of_pair = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    let request = Request::GeneratePair { mechanism: mechanism_of_pair, public, private };
    let (public, private) = pair(client.call(&request)).unwrap();
    // The same public key as if it came from outside.
    let numbers = vec![cka::MODULUS, cka::PUBLIC_EXPONENT];
    let outside = match client.call(&Request::Attributes { object: public, numbers }).unwrap() {
        Response::Attributes { values } => {
            let mut template = truths(&[(cka::WRAP, true)]);
            template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
            template.set_number(cka::KEY_TYPE, ckk::RSA.into());
            values.into_iter().for_each(|value| template.set(value.number, value.value.0));
            object(client.call(&Request::Create { template })).unwrap()
        }
        other => panic!("{other:?}"),
    };
    let (hash, mask, label) = (ckm::SHA256, ckg::MGF1_SHA256, Bytes::default());
    let both = Parameter::OaepAes { bits: 128, hash, mask, label };
    let plain = encrypt(&client, public, mechanism(ckm::RSA_PKCS), b"data").unwrap();
    for how in [mechanism(ckm::RSA_PKCS), with(ckm::RSA_AES_KEY_WRAP, both)] {
        let wrap = |wrapping, key| {
            client.call(&Request::Wrap { wrapping, mechanism: how.clone(), key, room: None })
        };
        bytes(wrap(outside, own)).unwrap();
        assert_eq!(code(wrap(outside, victim)), Code::KEY_NOT_WRAPPABLE, "{how:?}");
    }
    assert_eq!(decrypt(&client, private, mechanism(ckm::RSA_PKCS), &plain).unwrap(), b"data");
    let how = mechanism(ckm::RSA_PKCS);
    let wrapped =
        Request::Wrap { wrapping: public, mechanism: how.clone(), key: victim, room: None };
    let wrapped = bytes(client.call(&wrapped)).unwrap();
    for ciphertext in [wrapped, plain] {
        let read = decrypt(&client, private, how.clone(), &ciphertext);
        assert_eq!(code(read), Code::KEY_FUNCTION_NOT_PERMITTED);
    }
}

/// PKCS #11 3.0, section 4.6.3, table 18.
#[test]
fn a_certificate_has_the_attributes_of_the_standard() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let create = |extra: &[(u32, &[u8])]| {
        let mut template = Template::new();
        template.set_number(cka::CLASS, cko::CERTIFICATE.into());
        template.set_number(cka::CERTIFICATE_TYPE, 0);
        template.set(cka::VALUE, *b"a certificate");
        extra.iter().for_each(|(number, value)| template.set(*number, *value));
        object(client.call(&Request::Create { template }))
    };
    let numbers = [
        cka::URL,
        cka::HASH_OF_SUBJECT_PUBLIC_KEY,
        cka::HASH_OF_ISSUER_PUBLIC_KEY,
        cka::JAVA_MIDP_SECURITY_DOMAIN,
        cka::NAME_HASH_ALGORITHM,
        cka::CERTIFICATE_CATEGORY,
    ];
    let read = |object| {
        let numbers = numbers.to_vec();
        match client.call(&Request::Attributes { object, numbers }).unwrap() {
            Response::Attributes { values } => values
                .into_iter()
                .map(|value| {
                    assert_eq!(value.code, 0, "attribute {:#x}", value.number);
                    value.value.0
                })
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    let (unset, sha1) = (0u64.to_le_bytes(), u64::from(ckm::SHA_1).to_le_bytes());
    let expected: [&[u8]; 6] = [b"", b"", b"", &unset, &sha1, &unset];
    assert_eq!(read(create(&[]).unwrap()), expected);
    let three = 3u64.to_le_bytes();
    let given: [&[u8]; 6] = [b"https://example.org", &[1; 20], &[2; 20], &three, &sha1, &three];
    let extra: Vec<(u32, &[u8])> = numbers.into_iter().zip(given).collect();
    assert_eq!(read(create(&extra).unwrap()), given);
    for invalid in [(cka::URL, &[0xff][..]), (cka::NAME_HASH_ALGORITHM, &[1])] {
        assert_eq!(code(create(&[invalid])), Code::ATTRIBUTE_VALUE_INVALID);
    }
}

#[test]
fn only_the_officer_creates_a_trusted_certificate() {
    let daemon = Daemon::start();
    let create = |client: &Client| {
        let mut template = truths(&[(cka::TRUSTED, true), (cka::TOKEN, true)]);
        template.set_number(cka::CLASS, cko::CERTIFICATE.into());
        template.set_number(cka::CERTIFICATE_TYPE, 0);
        template.set(cka::VALUE, *b"a certificate");
        object(client.call(&Request::Create { template }))
    };
    assert_eq!(code(create(&daemon.user())), Code::ATTRIBUTE_READ_ONLY);
    assert_eq!(code(create(&daemon.client())), Code::USER_NOT_LOGGED_IN);
    create(&daemon.officer()).unwrap();
}

/// Programs ask one key for its list, to learn whether the token knows the attribute.
#[test]
fn every_key_has_a_list_of_mechanisms_and_an_empty_one_allows_all() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Curve(P256), false);
    let mut extra = Template::new();
    extra.set(cka::ALLOWED_MECHANISMS, []);
    let secret = secret_key(&client, AES, &[7; 32], &extra).unwrap();
    for key in [public, private, secret] {
        let numbers = vec![cka::ALLOWED_MECHANISMS];
        let answer = client.call(&Request::Attributes { object: key, numbers }).unwrap();
        let Response::Attributes { values } = answer else { panic!("{answer:?}") };
        assert_eq!((values[0].code, values[0].value.0.as_slice()), (0, &[][..]));
    }
    encrypt(&client, secret, mechanism(ckm::AES_ECB), &[5; 32]).unwrap();
}
