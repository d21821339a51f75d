//! Reading and writing keys made by OpenSSL; files that must be refused, each with its error.

mod damaged;

use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use base64ct::{Base64, Encoding};
use num_bigint::BigUint;

use super::super::{Hash, MAX_BITS, private_key_limbs, public_key_limbs};
use super::*;
use crate::scheme::rsa::KeyError;

type Private = PrivateKey<Vec<Limb>>;
type Public = PublicKey<Vec<Limb>>;

macro_rules! pem_file {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/data/rsa/", $name))
    };
}

/// Keys for RSASSA-PSS: with any parameters, and with SHA-256 only.
pub(super) const PSS_KEY: &str = pem_file!("pss.pem");
pub(super) const PSS_SHA256_KEY: &str = pem_file!("pss-sha256.pem");

const KEY: &str = pem_file!("2048.pem");

/// Bit lengths and keys.
const KEYS: [(usize, &str); 5] = [
    (2048, KEY),
    (2050, pem_file!("2050.pem")),
    (3072, pem_file!("3072.pem")),
    (4096, pem_file!("4096.pem")),
    (8192, pem_file!("8192.pem")),
];

pub(super) fn memory() -> Vec<Limb> {
    vec![0; private_key_limbs(MAX_BITS)]
}

pub(super) fn scratch() -> Vec<Limb> {
    vec![0; pem_scratch_limbs(MAX_BITS)]
}

pub(super) fn from_der(der: &[u8]) -> Result<Private, Error> {
    PrivateKey::from_der(der, memory(), &mut scratch())
}

pub(super) fn from_pem(pem: impl AsRef<[u8]>) -> Result<Private, Error> {
    PrivateKey::from_pem(pem, memory(), &mut scratch())
}

pub(super) fn public_from_der(der: &[u8]) -> Result<Public, Error> {
    PublicKey::from_der(der, memory(), &mut scratch())
}

pub(super) fn pkcs8(key: &Private) -> Vec<u8> {
    key.to_pkcs8_der(&mut vec![0; private_key_der_length(key.bits())]).unwrap().to_vec()
}

fn pkcs1(key: &Private) -> Vec<u8> {
    key.to_pkcs1_der(&mut vec![0; private_key_der_length(key.bits())]).unwrap().to_vec()
}

pub(super) fn spki(key: &PublicKey<impl AsRef<[Limb]>>) -> Vec<u8> {
    key.to_spki_der(&mut vec![0; public_key_der_length(key.bits())]).unwrap().to_vec()
}

fn public_pkcs1(key: &PublicKey<impl AsRef<[Limb]>>) -> Vec<u8> {
    key.to_pkcs1_der(&mut vec![0; public_key_der_length(key.bits())]).unwrap().to_vec()
}

/// Decodes a PEM text independently of the library.
pub(super) fn decoded(pem: &str) -> Vec<u8> {
    let lines = pem.lines().filter(|line| !line.starts_with('-'));
    let mut bytes = vec![0; pem.len()];
    Base64::decode(lines.collect::<String>(), &mut bytes).unwrap().to_vec()
}

/// A DER element.
pub(super) fn tlv(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let length = contents.len();
    let header = match length {
        0..0x80 => vec![tag, length as u8],
        0x80..0x100 => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    [header, contents].concat()
}

const RSA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
pub(super) const PSS: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";
pub(super) const NULL: &[u8] = b"\x05\x00";

/// Returns PKCS #8 of the first key, with a given version and algorithm, followed by `behind`.
pub(super) fn info(version: u8, algorithm: &[&[u8]], behind: &[u8]) -> Vec<u8> {
    let key = tlv(0x04, &[&pkcs1(&from_pem(KEY).unwrap())]);
    tlv(0x30, &[&[2, 1, version], &tlv(0x30, algorithm), &key, behind])
}

#[test]
fn keys_survive_writing_and_reading() {
    for (bits, pem) in KEYS {
        let der = decoded(pem);
        let key = PrivateKey::from_pkcs8_pem(pem, memory(), &mut scratch()).unwrap();
        assert_eq!(key.bits(), bits);
        // DER is unique, and the text must equal OpenSSL's.
        assert_eq!(pkcs8(&key), der);
        let mut text = vec![0; private_key_pem_length(bits)];
        assert_eq!(key.to_pkcs8_pem(&mut text).unwrap(), pem);

        let inner = pkcs1(&key);
        assert!(der.ends_with(&inner));
        for again in [
            PrivateKey::from_pkcs8_der(&der, memory(), &mut scratch()).unwrap(),
            PrivateKey::from_pkcs1_der(&inner, memory(), &mut scratch()).unwrap(),
            PrivateKey::from_pkcs1_pem(
                key.to_pkcs1_pem(&mut text).unwrap(),
                memory(),
                &mut scratch(),
            )
            .unwrap(),
            from_pem(pem).unwrap(),
            from_pem(key.to_pkcs1_pem(&mut text).unwrap()).unwrap(),
            from_der(&der).unwrap(),
            from_der(&inner).unwrap(),
        ] {
            assert_eq!(pkcs8(&again), der);
        }
        assert!(der.len() <= private_key_der_length(bits));

        let public = key.public();
        let (der, inner) = (spki(&public), public_pkcs1(&public));
        assert!(der.ends_with(&inner) && der.len() <= public_key_der_length(bits));
        let mut text = vec![0; public_key_pem_length(bits)];
        for again in [
            PublicKey::from_spki_der(&der, memory(), &mut scratch()).unwrap(),
            PublicKey::from_pkcs1_der(&inner, memory(), &mut scratch()).unwrap(),
            PublicKey::from_spki_pem(
                public.to_spki_pem(&mut text).unwrap(),
                memory(),
                &mut scratch(),
            )
            .unwrap(),
            PublicKey::from_pkcs1_pem(
                public.to_pkcs1_pem(&mut text).unwrap(),
                memory(),
                &mut scratch(),
            )
            .unwrap(),
            PublicKey::from_pem(public.to_spki_pem(&mut text).unwrap(), memory(), &mut scratch())
                .unwrap(),
            PublicKey::from_pem(public.to_pkcs1_pem(&mut text).unwrap(), memory(), &mut scratch())
                .unwrap(),
            public_from_der(&der).unwrap(),
            public_from_der(&inner).unwrap(),
        ] {
            assert_eq!(spki(&again), der);
        }
    }
}

#[test]
fn memory_of_exactly_the_documented_size_is_enough() {
    for (bits, pem) in KEYS {
        let key = vec![0; private_key_limbs(bits)];
        let key = PrivateKey::from_pem(pem, key, &mut vec![0; pem_scratch_limbs(bits)]).unwrap();
        let windows = pem.replace('\n', "\r\n");
        let again = vec![0; private_key_limbs(bits)];
        PrivateKey::from_pem(windows, again, &mut vec![0; pem_scratch_limbs(bits)]).unwrap();
        let again = vec![0; private_key_limbs(bits)];
        let mut scratch = vec![1; der_scratch_limbs(bits)];
        PrivateKey::from_der(&pkcs8(&key), again, &mut scratch).unwrap();
        assert!(scratch.iter().all(|limb| *limb == 0));
        let public = vec![0; public_key_limbs(bits)];
        PublicKey::from_der(&spki(&key.public()), public, &mut scratch).unwrap();

        // One limb less is an error that says how many are needed.
        for short in 0..scratch.len() {
            let needed = scratch.len();
            let scratch = &mut scratch[..short];
            let error = PrivateKey::from_der(&pkcs8(&key), memory(), scratch).unwrap_err();
            assert_eq!(error, Error::MemoryTooSmall { needed, given: short });
            let error = PublicKey::from_der(&spki(&key.public()), memory(), scratch).unwrap_err();
            assert_eq!(error, Error::MemoryTooSmall { needed, given: short });
        }
        for short in [0, 1, pem.len() / 8, pem_scratch_limbs(bits) / 2] {
            let error = PrivateKey::from_pem(pem, memory(), &mut vec![1; short]).unwrap_err();
            assert!(matches!(error, Error::MemoryTooSmall { given, .. } if given == short));
        }
        let mut needed = 0;
        while let Err(error) = PrivateKey::from_pem(pem, memory(), &mut vec![0; needed]) {
            let Error::MemoryTooSmall { needed: more, given } = error else { panic!("{error}") };
            assert!(given == needed && more > needed);
            needed = more;
        }
        assert!(needed <= pem_scratch_limbs(bits));
    }
}

#[test]
fn the_scratch_is_wiped_in_any_case() {
    let wiped = |pem: &str| {
        let mut scratch = scratch();
        scratch.fill(1);
        let outcome = PrivateKey::from_pem(pem, memory(), &mut scratch).map(|_| ());
        assert!(scratch.iter().all(|limb| *limb == 0), "{outcome:?}");
        outcome
    };
    assert_eq!(wiped(KEY), Ok(()));
    let last = KEY.find("\n-----END").unwrap() - 1;
    let mut wrong = KEY.to_string();
    wrong.replace_range(last..=last, "*");
    assert_eq!(wiped(&wrong), Err(Error::Format(FormatError::Pem)));
    assert_eq!(wiped(pem_file!("three-primes.pem")), Ok(()));
    assert_eq!(wiped(pem_file!("p256.pem")), Err(Error::Format(FormatError::Algorithm)));
}

#[test]
fn output_that_is_too_small_stays_unchanged() {
    let key = from_pem(KEY).unwrap();
    let public = key.public();
    let mut output = [0xaa; 2000];
    let lengths = [
        key.to_pkcs8_der(&mut output).unwrap().len(),
        key.to_pkcs1_der(&mut output).unwrap().len(),
        key.to_pkcs8_pem(&mut output).unwrap().len(),
        key.to_pkcs1_pem(&mut output).unwrap().len(),
        public.to_spki_der(&mut output).unwrap().len(),
        public.to_pkcs1_der(&mut output).unwrap().len(),
        public.to_spki_pem(&mut output).unwrap().len(),
        public.to_pkcs1_pem(&mut output).unwrap().len(),
    ];
    let write = |i: usize, output: &mut [u8]| match i {
        0 => key.to_pkcs8_der(output).map(drop),
        1 => key.to_pkcs1_der(output).map(drop),
        2 => key.to_pkcs8_pem(output).map(drop),
        3 => key.to_pkcs1_pem(output).map(drop),
        4 => public.to_spki_der(output).map(drop),
        5 => public.to_pkcs1_der(output).map(drop),
        6 => public.to_spki_pem(output).map(drop),
        _ => public.to_pkcs1_pem(output).map(drop),
    };
    for (i, needed) in lengths.into_iter().enumerate() {
        let mut output = [0xaa; 2000];
        assert_eq!(write(i, &mut output[..needed]), Ok(()));
        assert!(output[needed..].iter().all(|byte| *byte == 0xaa));
        output.fill(0xaa);
        for given in [0, 1, needed - 1] {
            let outcome = write(i, &mut output[..given]);
            assert_eq!(outcome, Err(FormatError::OutputTooSmall { needed, given }.into()));
        }
        assert_eq!(output, [0xaa; 2000]);
    }
}

#[test]
fn unsupported_keys_have_their_own_errors() {
    for (pem, error) in [
        (pem_file!("encrypted.pem"), Error::Format(FormatError::Encrypted)),
        (pem_file!("encrypted-traditional.pem"), Error::Format(FormatError::Encrypted)),
        (pem_file!("p256.pem"), Error::Format(FormatError::Algorithm)),
    ] {
        assert_eq!(from_pem(pem).unwrap_err(), error);
        if !pem.contains("Proc-Type") {
            assert_eq!(from_der(&decoded(pem)).unwrap_err(), error);
            let outcome = PrivateKey::from_pkcs8_pem(pem, memory(), &mut scratch());
            assert_eq!(outcome.unwrap_err(), error);
            let outcome = PrivateKey::from_pkcs8_der(&decoded(pem), memory(), &mut scratch());
            assert_eq!(outcome.unwrap_err(), error);
        }
    }
    let key = from_pem(KEY).unwrap();
    let bits = tlv(0x03, &[&[0], &public_pkcs1(&key.public())]);
    let spki = |algorithm: &[&[u8]]| public_from_der(&tlv(0x30, &[&tlv(0x30, algorithm), &bits]));
    let restricted: &[u8] = &tlv(0x30, &[&tlv(0xa2, &[b"\x02\x01\x20"])]);
    for (algorithm, error) in [
        (&[RSA, NULL][..], None),
        (&[PSS], None),
        (&[PSS, NULL], Some(Error::PssParameters)),
        (&[RSA], Some(Error::Format(FormatError::Parameters))),
        (&[RSA, restricted], Some(Error::Format(FormatError::Parameters))),
        (&[RSA, b"\x05\x01\x00"], Some(Error::Format(FormatError::Parameters))),
        // id-RSAES-OAEP.
        (
            &[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x07", NULL],
            Some(Error::Format(FormatError::Algorithm)),
        ),
        (&[RSA, NULL, NULL], Some(Error::Format(FormatError::Der))),
        (&[NULL], Some(Error::Format(FormatError::Der))),
    ] {
        assert_eq!(spki(algorithm).err(), error, "{algorithm:x?}");
        assert_eq!(from_der(&info(0, algorithm, &[])).err(), error, "{algorithm:x?}");
    }
}

#[test]
fn fields_after_the_key() {
    let key = from_pem(KEY).unwrap();
    let public = public_pkcs1(&key.public());
    let bits = tlv(0x81, &[&[0], &public]);
    let attributes = tlv(0xa0, &[&tlv(0x30, &[b"\x06\x01\x2a", &tlv(0x31, &[NULL])])]);
    let other = public_pkcs1(&from_pem(pem_file!("3072.pem")).unwrap().public());
    let other = tlv(0x81, &[&[0], &other]);
    let both = [&attributes[..], &bits].concat();
    for (version, behind, error) in [
        (0, &[][..], None),
        (0, &attributes, None),
        (1, &bits, None),
        (1, &both, None),
        (1, &other, Some(Error::Format(FormatError::OtherPublicKey))),
        // A public key requires version 2, and version 2 requires a public key.
        (0, &bits, Some(Error::Format(FormatError::Der))),
        (1, &[], Some(Error::Format(FormatError::Der))),
        (2, &[], Some(Error::Format(FormatError::Der))),
        (1, &tlv(0x81, &[&[1], &public]), Some(Error::Format(FormatError::Der))),
        (1, &tlv(0x81, &[&[0], &public[1..]]), Some(Error::Format(FormatError::Der))),
        (0, NULL, Some(Error::Format(FormatError::Der))),
    ] {
        let outcome = from_der(&info(version, &[RSA, NULL], behind));
        assert_eq!(outcome.err(), error, "version {version} {:x?}", behind.get(..4));
    }
}

/// Returns the nine numbers of the first key, each as a DER element.
fn numbers() -> Vec<Vec<u8>> {
    let mut rest = &pkcs1(&from_pem(KEY).unwrap())[4..];
    let mut numbers = Vec::new();
    while let [2, length, ..] = *rest {
        let (header, length) = match length {
            0x81 => (3, rest[2].into()),
            0x82 => (4, usize::from(rest[2]) << 8 | usize::from(rest[3])),
            _ => (2, length.into()),
        };
        let (number, behind) = rest.split_at(header + length);
        numbers.push(number.to_vec());
        rest = behind;
    }
    assert_eq!(numbers.len(), 9);
    numbers
}

fn joined(numbers: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &numbers.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Returns the bytes of an INTEGER.
fn contents(number: &[u8]) -> &[u8] {
    let header = if number[1] < 0x80 { 2 } else { usize::from(number[1] & 0x7f) + 2 };
    &number[header..]
}

#[test]
fn numbers_that_are_not_der_are_refused() {
    let right = numbers();
    assert!(from_der(&joined(&right)).is_ok());
    for i in 0..9 {
        let value = contents(&right[i]);
        let mut negative = value.to_vec();
        negative[0] |= 0x80;
        for wrong in [
            tlv(0x02, &[&[0], value]),
            tlv(0x02, &[&negative]),
            tlv(0x02, &[]),
            tlv(0x04, &[value]),
            // A length encoded with one byte too many.
            [&[2, 0x83, 0], &(value.len() as u16).to_be_bytes()[..], value].concat(),
            // An indefinite length.
            [&[2, 0x80], value, &[0, 0]].concat(),
            vec![],
        ] {
            let mut numbers = right.clone();
            numbers[i] = wrong;
            assert_eq!(
                from_der(&joined(&numbers)).unwrap_err(),
                Error::Format(FormatError::Der),
                "number {i}"
            );
        }
        // Zero and one are well-formed, but cannot be part of a key.
        for small in 0..2 {
            let mut numbers = right.clone();
            numbers[i] = tlv(0x02, &[&[small]]);
            match from_der(&joined(&numbers)).map(|_| ()) {
                // Zero stands for a missing part.
                Ok(()) => assert!(small == 0 && (i == 0 || i >= 3), "number {i}"),
                // Version 1 has further primes.
                Err(error) => assert_eq!(
                    error == Error::Format(FormatError::Der),
                    (i, small) == (0, 1),
                    "number {i}"
                ),
            }
        }
    }
    let mut more = right.clone();
    more.push(tlv(0x02, &[&[5]]));
    assert_eq!(from_der(&joined(&more)).unwrap_err(), Error::Format(FormatError::Der));
    let mut version = right;
    version[0] = tlv(0x02, &[&[2]]);
    assert_eq!(from_der(&joined(&version)).unwrap_err(), Error::Format(FormatError::Der));
}

#[test]
fn the_primes_may_be_in_either_order() {
    let numbers = numbers();
    let [p, q] = [4, 5].map(|i| BigUint::from_bytes_be(contents(&numbers[i])));
    let inverse = p.modinv(&q).unwrap().to_bytes_be();
    let sign: &[u8] = if inverse[0] < 0x80 { &[] } else { &[0] };
    let mut swapped = numbers;
    swapped.swap(4, 5);
    swapped.swap(6, 7);
    // The coefficient depends on the order of the primes.
    assert_eq!(from_der(&joined(&swapped)).unwrap_err(), Error::Key(KeyError::PrivateExponent));
    swapped[8] = tlv(0x02, &[sign, &inverse]);
    let der = joined(&swapped);
    let key = from_der(&der).unwrap();
    assert_eq!(pkcs1(&key), der);

    for key in [key, from_pem(KEY).unwrap()] {
        let mut memory = vec![0; super::super::context_limbs(2048)];
        let rng = crate::math::prime::tests::Counter(7);
        let mut context = super::super::Context::new(&key, rng, &mut memory).unwrap();
        let mut signature = [0; 256];
        context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature).unwrap();
    }
}

#[test]
fn text_around_and_within_pem() {
    let key = from_pem(KEY).unwrap();
    let der = pkcs8(&key);
    let mut base64 = vec![0; 2 * der.len()];
    let base64 = Base64::encode(&der, &mut base64).unwrap();
    let one_line = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----");
    let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for text in [
        one_line.clone(),
        one_line.replace('\n', ""),
        KEY.replace('\n', "\r\n"),
        KEY.replace('\n', "\r"),
        KEY.replace('\n', "\n\n  \t"),
        format!("Bag Attributes: none\n{KEY}"),
        format!("{KEY}\nthis is behind it\n"),
        format!("{certificate}{KEY}{certificate}"),
        format!("{}{KEY}", pem_file!("p256.pem").replace("PRIVATE", "EC PRIVATE")),
    ] {
        assert_eq!(pkcs8(&from_pem(&text).unwrap()), der, "{text}");
    }
    let body = KEY.lines().nth(1).unwrap();
    for (text, error) in [
        (String::new(), Error::Format(FormatError::Pem)),
        ("not a key".into(), Error::Format(FormatError::Pem)),
        (certificate.into(), Error::Format(FormatError::PemLabel)),
        (KEY.replace("PRIVATE", "PUBLIC"), Error::Format(FormatError::PemLabel)),
        (KEY.replace("BEGIN PRIVATE", "BEGIN RSA PRIVATE"), Error::Format(FormatError::Pem)),
        (KEY.replace("PRIVATE KEY", "RSA PRIVATE KEY"), Error::Format(FormatError::Der)),
        (KEY.replace("PRIVATE KEY", "private key"), Error::Format(FormatError::PemLabel)),
        (KEY.replace("-----END", "-----end"), Error::Format(FormatError::Pem)),
        (KEY.replace("KEY-----", "KEY----"), Error::Format(FormatError::Pem)),
        (KEY.replace(body, &format!("Comment: x\n\n{body}")), Error::Format(FormatError::Pem)),
        (KEY.replace(body, &format!("{body}=")), Error::Format(FormatError::Pem)),
        (KEY.replace(body, &format!("{body}====")), Error::Format(FormatError::Pem)),
        (KEY.replace(body, &body[..63]), Error::Format(FormatError::Pem)),
        (KEY.replace(body, &body[..60]), Error::Format(FormatError::Der)),
        (
            KEY.replace(body, &format!("{}-{}", &body[..30], &body[31..])),
            Error::Format(FormatError::Pem),
        ),
        (
            KEY.replace(body, &format!("{}_{}", &body[..30], &body[31..])),
            Error::Format(FormatError::Pem),
        ),
        (
            KEY.replace(body, &format!("{}é{}", &body[..30], &body[31..])),
            Error::Format(FormatError::Pem),
        ),
        (
            "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----".into(),
            Error::Format(FormatError::Der),
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nM\n-----END PRIVATE KEY-----".into(),
            Error::Format(FormatError::Pem),
        ),
        ("-----BEGIN ".into(), Error::Format(FormatError::Pem)),
        ("-----BEGIN PRIVATE KEY-----".into(), Error::Format(FormatError::Pem)),
        ("-----BEGIN PRIVATE KEY-----\n-----END ".into(), Error::Format(FormatError::Pem)),
    ] {
        assert_eq!(from_pem(&text).unwrap_err(), error, "{text}");
    }
    let public = PublicKey::from_pem(KEY, memory(), &mut scratch());
    assert_eq!(public.unwrap_err(), Error::Format(FormatError::PemLabel));
}
