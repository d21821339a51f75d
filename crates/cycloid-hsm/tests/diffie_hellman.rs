//! Finite-field Diffie-Hellman: agreement with OpenSSL, groups, and what is refused.

#[path = "../../cycloid/tests/support/openssl.rs"]
mod openssl;
mod support;

use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{Parameter, ckd, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Secret};
use cycloid_hsm::{Code, Result};
use openssl::openssl;
use support::*;

/// The safe prime of RFC 5054, appendix A, with 2048 bits.
const CUSTOM: &str = "\
    ac6bdb41324a9a9bf166de5e1389582faf72b6651987ee07fc3192943db56050a37329cbb4a099ed \
    8193e0757767a13dd52312ab4b03310dcd7f48a9da04fd50e8083969edb767b0cf6095179a163ab3 \
    661a05fbd5faaae82918a9962f0b93b855f97993ec975eeaa80d740adbf4ff747359d041d5c33ea7 \
    1d281e446b14773bca97b43a23fb801676bd207a436c6481f1d2b9078717461a5b9d32e688f87748 \
    544523b524b0d57d5ea77a2775d2ecfa032cfbdbf52fb3786160279004e57ae6af874e7303ce5329 \
    9ccc041c7bc308d82a5698f3a8d0c38271ae35f8e9dbfbb694b5c803d89f7ae435de236d525f5475 \
    9b65e372fcd68ef20fa7111f9e4aff73";

fn custom() -> Vec<u8> {
    let digits: Vec<u8> = CUSTOM.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Returns a number plus `add`, which does not carry beyond the last byte.
fn plus(number: &[u8], add: i8) -> Vec<u8> {
    let mut number = number.to_vec();
    let last = number.last_mut().unwrap();
    *last = last.checked_add_signed(add).unwrap();
    number
}

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

fn generate_in(
    client: &Client,
    prime: &[u8],
    base: &[u8],
    private: Template,
) -> Result<(u64, u64)> {
    let mut public = Template::new();
    public.set(cka::PRIME, prime);
    public.set(cka::BASE, base);
    let mechanism = mechanism(ckm::DH_PKCS_KEY_PAIR_GEN);
    pair(client.call(&Request::GeneratePair { mechanism, public, private }))
}

fn derive(
    client: &Client,
    base: u64,
    peer: &[u8],
    key_type: u32,
    length: Option<u64>,
) -> Result<u64> {
    let parameter = Parameter::Data(Bytes(peer.to_vec()));
    let mut template = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
    template.set_number(cka::KEY_TYPE, key_type.into());
    if let Some(length) = length {
        template.set_number(cka::VALUE_LEN, length);
    }
    let mechanism = Mechanism { number: ckm::DH_PKCS_DERIVE, parameter };
    object(client.call(&Request::Derive { base, mechanism, template }))
}

fn whole(client: &Client, base: u64, peer: &[u8]) -> Vec<u8> {
    let derived = derive(client, base, peer, ckk::GENERIC_SECRET, None).unwrap();
    get(client, derived, cka::VALUE)
}

fn import(client: &Client, pem: &[u8]) -> (u64, u64) {
    let template = truths(&[(cka::TOKEN, true), (cka::EXTRACTABLE, true)]);
    pair(client.call(&Request::Import { pem: Secret::new(pem), template })).unwrap()
}

/// Imports a key that OpenSSL made, and compares the agreement of a generated key with OpenSSL's.
fn agrees_with_openssl(client: &Client, pem: &[u8]) {
    let directory = Directory::new();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (public, private) = import(client, pem);
    let [prime, base, value] =
        [cka::PRIME, cka::BASE, cka::VALUE].map(|it| get(client, public, it));
    assert_eq!(prime, get(client, private, cka::PRIME));
    let der = openssl("pkey -pubout -outform DER", pem);
    let (other, own) = generate_in(client, &prime, &base, Template::new()).unwrap();
    std::fs::write(path("own.pem"), pem).unwrap();
    let info = get(client, other, cka::PUBLIC_KEY_INFO);
    std::fs::write(path("peer.pem"), openssl("pkey -pubin -inform DER -pubout", &info)).unwrap();
    let arguments = format!(
        "pkeyutl -derive -inkey {} -peerkey {} -pkeyopt dh_pad:1",
        path("own.pem"),
        path("peer.pem")
    );
    let expected = openssl(&arguments, &[]);
    assert_eq!(whole(client, own, &value), expected);
    assert_eq!(whole(client, private, &get(client, other, cka::VALUE)), expected);
    // OpenSSL also writes the exponent's length, which programs need not know.
    assert!(der.len() >= get(client, public, cka::PUBLIC_KEY_INFO).len());
    for (key_type, length) in [(ckk::AES, 16), (ckk::AES, 32), (ckk::GENERIC_SECRET, 100)] {
        let part = derive(client, own, &value, key_type, Some(length)).unwrap();
        assert_eq!(get(client, part, cka::VALUE), expected[expected.len() - length as usize..]);
    }
}

#[test]
fn agreements_are_those_of_openssl() {
    let daemon = Daemon::start();
    let client = daemon.user();
    for group in ["ffdhe2048", "ffdhe3072", "modp_2048", "modp_4096"] {
        let made = openssl(&format!("genpkey -algorithm DH -pkeyopt group:{group}"), &[]);
        agrees_with_openssl(&client, &made);
    }
}

#[test]
fn a_custom_safe_prime_serves_like_a_known_one() {
    let daemon = Daemon::start();
    let client = daemon.user();
    // 2 generates the whole group, 4 the squares.
    for base in [2, 4] {
        let (public, private) =
            generate_in(&client, &custom(), &[0, base], Template::new()).unwrap();
        let (other, own) = generate_in(&client, &custom(), &[base], Template::new()).unwrap();
        let [from_public, from_other] = [public, other].map(|key| get(&client, key, cka::VALUE));
        assert_ne!(from_public, from_other);
        assert_eq!(whole(&client, private, &from_other), whole(&client, own, &from_public));
        assert_eq!(get(&client, private, cka::BASE), [base]);
    }
}

#[test]
fn keys_are_created_from_their_numbers() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let create = |class: u32, prime: &[u8], base: &[u8], value: &[u8]| {
        let mut template = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
        if class == cko::PUBLIC_KEY {
            template = Template::new();
        }
        template.set_number(cka::CLASS, class.into());
        template.set_number(cka::KEY_TYPE, ckk::DH.into());
        for (number, value) in [(cka::PRIME, prime), (cka::BASE, base), (cka::VALUE, value)] {
            template.set(number, value);
        }
        object(client.call(&Request::Create { template }))
    };
    let prime = custom();
    let key = create(cko::PRIVATE_KEY, &prime, &[4], &[0, 0, 7, 5]).unwrap();
    assert_eq!(get(&client, key, cka::VALUE), [7, 5]);
    assert_eq!(get(&client, key, cka::VALUE_BITS), 16u64.to_le_bytes());
    let one = create(cko::PRIVATE_KEY, &prime, &[4], &[1]).unwrap();
    let mut sixteen = vec![0; prime.len()];
    sixteen[prime.len() - 1] = 16;
    assert_eq!(whole(&client, one, &[16]), sixteen);
    let public = create(cko::PUBLIC_KEY, &prime, &[4], &[0, 16]).unwrap();
    assert_eq!(get(&client, public, cka::PRIME), prime);
    assert_eq!(get(&client, public, cka::VALUE), [0, 16]);

    let group = |prime: &[u8], base: &[u8]| {
        let public = code(create(cko::PUBLIC_KEY, prime, base, &[16]));
        assert_eq!(public, code(create(cko::PRIVATE_KEY, prime, base, &[7])));
        assert_eq!(public, code(generate_in(&client, prime, base, Template::new())));
        public
    };
    let not_safe = plus(&prime, -2);
    // A prime of a known group is as slow to check as any other if the base is another.
    let longest = cycloid::scheme::dh::Group::FFDHE8192.prime_bytes();
    for (prime, base) in [
        (&[][..], &[2][..]),
        (&[23], &[2]),
        (&prime[1..], &[2]),
        (&plus(&prime, -1), &[2]),
        (&not_safe, &[2]),
        (&longest, &[4]),
        (&[0xff; 600], &[2]),
        (&[0xff; 2000], &[2]),
        (&prime, &[]),
        (&prime, &[1]),
        (&prime, &plus(&prime, -1)),
        (&prime, &prime),
        (&prime, &[0xff; 1000]),
    ] {
        assert_eq!(group(prime, base), Code::DOMAIN_PARAMS_INVALID, "{prime:x?} {base:x?}");
    }
    let half: Vec<u8> = {
        let number = num_bigint::BigUint::from_bytes_be(&prime) >> 1u8;
        number.to_bytes_be()
    };
    for value in [&[][..], &[0], &plus(&prime, -1), &prime, &half, &[0xff; 300]] {
        let made = code(create(cko::PRIVATE_KEY, &prime, &[4], value));
        assert_eq!(made, Code::ATTRIBUTE_VALUE_INVALID, "{value:x?}");
    }
    // 2 is not a power of 4 here.
    for value in [&[][..], &[0], &[1], &[2], &plus(&prime, -1), &prime, &[0xff; 300]] {
        let made = code(create(cko::PUBLIC_KEY, &prime, &[4], value));
        assert_eq!(made, Code::ATTRIBUTE_VALUE_INVALID, "{value:x?}");
    }
}

#[test]
fn the_length_of_an_exponent_is_chosen_within_bounds() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let prime = custom();
    let generate = |bits: u64| {
        let mut private = Template::new();
        private.set_number(cka::VALUE_BITS, bits);
        generate_in(&client, &prime, &[2], private)
    };
    for bits in [225, 768, 2048] {
        let (_, key) = generate(bits).unwrap();
        assert_eq!(get(&client, key, cka::VALUE_BITS), bits.to_le_bytes());
    }
    let (_, key) = generate_in(&client, &prime, &[2], Template::new()).unwrap();
    assert_eq!(get(&client, key, cka::VALUE_BITS), 225u64.to_le_bytes());
    for bits in [0, 160, 224, 2049, u64::MAX] {
        assert_eq!(code(generate(bits)), Code::KEY_SIZE_RANGE, "{bits}");
    }
    let missing = Request::GeneratePair {
        mechanism: mechanism(ckm::DH_PKCS_KEY_PAIR_GEN),
        public: Template::new(),
        private: Template::new(),
    };
    assert_eq!(code(client.call(&missing)), Code::TEMPLATE_INCOMPLETE);
}

#[test]
fn values_outside_the_group_and_keys_of_other_types_are_refused() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let pem = openssl("genpkey -algorithm DH -pkeyopt group:ffdhe2048", &[]);
    let (public, private) = import(&client, &pem);
    let prime = get(&client, public, cka::PRIME);
    let secret = ckk::GENERIC_SECRET;
    let refused = |peer: &[u8]| code(derive(&client, private, peer, secret, None));
    // −2 is not a square, so it is not in the subgroup that 2 generates.
    let outside = [
        &[][..],
        &[0],
        &[1],
        &plus(&prime, -1),
        &plus(&prime, -2),
        &prime,
        &[0xff; 300],
        &[0xff; 9000],
    ];
    for peer in outside {
        assert_eq!(refused(peer), Code::PUBLIC_KEY_INVALID, "{peer:x?}");
    }
    derive(&client, private, &[0, 0, 4], secret, None).unwrap();
    for length in [0, 1, 15, 257, 512, u64::MAX] {
        let derived = derive(&client, private, &[4], secret, Some(length));
        assert_eq!(code(derived), Code::KEY_SIZE_RANGE, "{length}");
    }
    // An AES key is not as long as the secret.
    assert_eq!(code(derive(&client, private, &[4], ckk::AES, None)), Code::KEY_SIZE_RANGE);
    assert_eq!(code(derive(&client, private, &[4], ckk::RSA, None)), Code::TEMPLATE_INCONSISTENT);

    let with = |base: u64, number: u32, parameter: Parameter| {
        let mechanism = Mechanism { number, parameter };
        code(object(client.call(&Request::Derive { base, mechanism, template: Template::new() })))
    };
    let data = || Parameter::Data(Bytes(vec![4]));
    let point = Parameter::Ecdh {
        derivation: ckd::NULL,
        shared: Bytes::default(),
        public: Bytes(vec![4; 65]),
    };
    let (_, ec) = generate(&client, &Pair::Curve(P256), false);
    assert_eq!(with(private, ckm::DH_PKCS_DERIVE, Parameter::None), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(with(private, ckm::DH_PKCS_DERIVE, point.clone()), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(with(private, ckm::ECDH1_DERIVE, data()), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(with(private, ckm::ECDH1_DERIVE, point), Code::KEY_TYPE_INCONSISTENT);
    assert_eq!(with(ec, ckm::DH_PKCS_DERIVE, data()), Code::KEY_TYPE_INCONSISTENT);
    let aes = secret_key(&client, AES, &[3; 16], &truths(&[(cka::DERIVE, true)])).unwrap();
    assert_eq!(with(aes, ckm::DH_PKCS_DERIVE, data()), Code::KEY_TYPE_INCONSISTENT);
    assert_eq!(with(public, ckm::DH_PKCS_DERIVE, data()), Code::KEY_FUNCTION_NOT_PERMITTED);
    // The key does not sign, whatever its attributes say.
    let signed = sign(&client, private, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(signed), Code::KEY_FUNCTION_NOT_PERMITTED);
}

#[test]
fn a_wrapped_key_comes_back_sensitive_and_derived_keys_promise_nothing() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let uses = truths(&[(cka::WRAP, true), (cka::UNWRAP, true)]);
    let wrapping = secret_key(&client, AES, &[5; 32], &uses).unwrap();
    for (prime, base) in [(custom(), [4]), (custom(), [2])] {
        let readable = truths(&[(cka::SENSITIVE, false), (cka::EXTRACTABLE, true)]);
        let (public, key) = generate_in(&client, &prime, &base, readable.clone()).unwrap();
        let kwp = mechanism(ckm::AES_KEY_WRAP_KWP);
        let wrapped = bytes(client.call(&Request::Wrap {
            wrapping,
            mechanism: kwp.clone(),
            key,
            room: None,
        }))
        .unwrap();
        let unwrap = |key_type: u32, wrapped: &[u8]| {
            let mut template = readable.clone();
            template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
            template.set_number(cka::KEY_TYPE, key_type.into());
            let wrapped = Bytes(wrapped.to_vec());
            object(client.call(&Request::Unwrap {
                unwrapping: wrapping,
                mechanism: kwp.clone(),
                wrapped,
                template,
            }))
        };
        let back = unwrap(ckk::DH, &wrapped).unwrap();
        assert_eq!(get(&client, back, cka::SENSITIVE), [1]);
        assert!(attribute(&client, back, cka::VALUE).is_none());
        assert_eq!(
            get(&client, back, cka::PUBLIC_KEY_INFO),
            get(&client, public, cka::PUBLIC_KEY_INFO)
        );
        let (other, _) = generate_in(&client, &prime, &base, Template::new()).unwrap();
        let value = get(&client, other, cka::VALUE);
        assert_eq!(whole(&client, back, &value), whole(&client, key, &value));
        for other in [ckk::EC, ckk::RSA, ckk::EC_MONTGOMERY] {
            assert_eq!(code(unwrap(other, &wrapped)), Code::WRAPPED_KEY_INVALID);
        }

        let mechanism =
            Mechanism { number: ckm::DH_PKCS_DERIVE, parameter: Parameter::Data(Bytes(value)) };
        let template = Template::new();
        let derived =
            object(client.call(&Request::Derive { base: back, mechanism, template })).unwrap();
        for number in [cka::LOCAL, cka::ALWAYS_SENSITIVE, cka::NEVER_EXTRACTABLE] {
            assert_eq!(get(&client, derived, number), [0], "{number:#x}");
        }
        assert_eq!(get(&client, derived, cka::SENSITIVE), [1]);
    }
}
