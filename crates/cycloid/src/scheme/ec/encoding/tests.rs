//! Hand-made valid and invalid key files, and files with changed bytes.

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use base64ct::{Base64, Encoding};
use proptest::prelude::*;

use super::super::{P224, P256, P384, P521};
use super::*;

/// A DER element.
fn tlv(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let length = contents.len();
    let header = match length {
        0..0x80 => vec![tag, length as u8],
        0x80..0x100 => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    [header, contents].concat()
}

const EC: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";
const EC_DH: &[u8] = b"\x06\x05\x2b\x81\x04\x01\x0c";
const NULL: &[u8] = b"\x05\x00";
const ONE: &[u8] = b"\x02\x01\x01";
const ZERO: &[u8] = b"\x02\x01\x00";
/// The object identifier of secp256k1, a curve that is not supported.
const SECP256K1: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x0a";

/// Returns the object identifier of a curve.
fn named<C: Curve>() -> &'static [u8] {
    match C::BITS {
        224 => b"\x06\x05\x2b\x81\x04\x00\x21",
        256 => b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07",
        384 => b"\x06\x05\x2b\x81\x04\x00\x22",
        521 => b"\x06\x05\x2b\x81\x04\x00\x23",
        _ => unreachable!(),
    }
}

/// Returns the key whose scalar ends with `last`.
fn key<C: Curve>(last: u8) -> PrivateKey<C> {
    let mut scalar = [0; MAX_BYTES];
    scalar[..C::BYTES].fill(0x5a);
    scalar[0] = 0;
    scalar[C::BYTES - 1] = last;
    PrivateKey::from_bytes(&scalar[..C::BYTES]).unwrap()
}

fn scalar<C: Curve>(key: &PrivateKey<C>) -> Vec<u8> {
    let mut scalar = vec![0; C::BYTES];
    key.to_bytes(&mut scalar).unwrap();
    scalar
}

/// Returns ECPrivateKey with a scalar and the fields that follow it.
fn sec1(scalar: &[u8], behind: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &[ONE, &tlv(4, &[scalar]), &behind.concat()])
}

fn parameters(name: &[u8]) -> Vec<u8> {
    tlv(0xa0, &[name])
}

fn public(point: &[u8]) -> Vec<u8> {
    tlv(0xa1, &[&tlv(3, &[&[0], point])])
}

/// PKCS #8 around an ECPrivateKey.
fn pkcs8(version: &[u8], algorithm: &[&[u8]], key: &[u8], behind: &[u8]) -> Vec<u8> {
    tlv(0x30, &[version, &tlv(0x30, algorithm), &tlv(4, &[key]), behind])
}

fn spki(algorithm: &[&[u8]], point: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&tlv(0x30, algorithm), &tlv(3, &[&[0], point])])
}

macro_rules! on_every_curve {
    ($($test:ident => $body:ident;)+) => {$(
        #[test]
        fn $test() {
            $body::<P224>();
            $body::<P256>();
            $body::<P384>();
            $body::<P521>();
        }
    )+};
}

on_every_curve! {
    files_are_written_as_the_standards_say => written;
    keys_survive_writing_and_reading => come_back;
    what_may_stand_beside_the_scalar => beside;
    curves_and_algorithms_are_named_once_and_rightly => algorithms;
    scalars_are_in_range_and_have_zeros_in_front_or_not => scalars;
    output_that_is_too_small_stays_unchanged => too_small;
    cut_short_or_made_longer => cut;
    every_byte_changed => changed;
}

fn written<C: Curve>() {
    let key = key::<C>(3);
    let point = key.public_key().to_uncompressed();
    let mut der = vec![0; private_key_der_length::<C>()];
    let inner = sec1(&scalar(&key), &[&public(&point)]);
    let expected = pkcs8(ZERO, &[EC, named::<C>()], &inner, &[]);
    assert_eq!(key.to_pkcs8_der(&mut der).unwrap(), expected);
    assert_eq!(expected.len(), private_key_der_length::<C>());
    let expected = sec1(&scalar(&key), &[&parameters(named::<C>()), &public(&point)]);
    assert_eq!(key.to_sec1_der(&mut der).unwrap(), expected);
    let expected = spki(&[EC, named::<C>()], &point);
    assert_eq!(key.public_key().to_spki_der(&mut der).unwrap(), expected);
    assert_eq!(expected.len(), public_key_der_length::<C>());
}

/// Returns the files of a key: PKCS #8, ECPrivateKey, SubjectPublicKeyInfo.
fn files<C: Curve>(key: &PrivateKey<C>) -> [Vec<u8>; 3] {
    let mut der = vec![0; private_key_der_length::<C>()];
    [
        key.to_pkcs8_der(&mut der).unwrap().to_vec(),
        key.to_sec1_der(&mut der).unwrap().to_vec(),
        key.public_key().to_spki_der(&mut der).unwrap().to_vec(),
    ]
}

fn come_back<C: Curve>() {
    let key = key::<C>(9);
    let [pkcs8, sec1, spki] = files(&key);
    let mut text = vec![0; private_key_pem_length::<C>()];
    let pkcs8_pem = String::from(key.to_pkcs8_pem(&mut text).unwrap());
    assert_eq!(pkcs8_pem.len(), private_key_pem_length::<C>());
    let sec1_pem = String::from(key.to_sec1_pem(&mut text).unwrap());
    for again in [
        PrivateKey::<C>::from_der(&pkcs8),
        PrivateKey::from_der(&sec1),
        PrivateKey::from_pkcs8_der(&pkcs8),
        PrivateKey::from_sec1_der(&sec1),
        PrivateKey::from_pem(&pkcs8_pem),
        PrivateKey::from_pem(&sec1_pem),
        PrivateKey::from_pkcs8_pem(&pkcs8_pem),
        PrivateKey::from_sec1_pem(&sec1_pem),
    ] {
        let again = again.unwrap();
        assert_eq!(scalar(&again), scalar(&key));
        assert_eq!(again.public_key(), key.public_key());
    }
    for wrong in [PrivateKey::<C>::from_pkcs8_der(&sec1), PrivateKey::from_sec1_der(&pkcs8)] {
        assert_eq!(wrong.unwrap_err(), Error::Format(FormatError::Der));
    }
    for public in [
        PrivateKey::<C>::from_der(&spki),
        PrivateKey::from_pkcs8_der(&spki),
        PrivateKey::from_sec1_der(&spki),
    ] {
        assert_eq!(public.unwrap_err(), Error::Format(FormatError::IsPublicKey));
    }
    for wrong in [PrivateKey::<C>::from_pkcs8_pem(&sec1_pem), PrivateKey::from_sec1_pem(&pkcs8_pem)]
    {
        assert_eq!(wrong.unwrap_err(), Error::Format(FormatError::PemLabel));
    }
    let spki_pem = key.public_key().to_spki_pem(&mut text).unwrap();
    assert_eq!(spki_pem.len(), public_key_pem_length::<C>());
    for again in [PublicKey::<C>::from_spki_der(&spki), PublicKey::from_spki_pem(spki_pem)] {
        assert_eq!(again.unwrap(), *key.public_key());
    }
    assert_eq!(
        PrivateKey::<C>::from_pem(spki_pem).unwrap_err(),
        Error::Format(FormatError::IsPublicKey)
    );
    assert_eq!(
        PrivateKey::<C>::from_sec1_pem(spki_pem).unwrap_err(),
        Error::Format(FormatError::IsPublicKey)
    );
    let among = format!("{spki_pem}{pkcs8_pem}");
    assert_eq!(scalar(&PrivateKey::<C>::from_pem(&among).unwrap()), scalar(&key));
    assert_eq!(
        PublicKey::<C>::from_spki_pem(&pkcs8_pem),
        Err(Error::Format(FormatError::PemLabel))
    );
    assert_eq!(PublicKey::<C>::from_spki_der(&pkcs8), Err(Error::Format(FormatError::Der)));
}

fn beside<C: Curve>() {
    let (mine, other) = (key::<C>(3), key::<C>(4));
    let own = scalar(&mine);
    let mine = mine.public_key();
    let name = &parameters(named::<C>())[..];
    let [mine, short] = [mine.to_uncompressed(), mine.to_compressed()].map(|p| public(&p));
    let mut wrong = other.public_key().to_uncompressed().to_vec();
    let theirs = public(&wrong);
    let last = wrong.len() - 1;
    wrong[last] ^= 1;
    let wrong = public(&wrong);
    let unused_bit = tlv(0xa1, &[&tlv(3, &[&[1], &mine[5..]])]);
    for (behind, error) in [
        (&[name][..], None),
        (&[name, &mine], None),
        (&[name, &short], None),
        (&[name, &theirs], Some(Error::Format(FormatError::OtherPublicKey))),
        (&[name, &wrong], Some(Error::Format(FormatError::OtherPublicKey))),
        (&[name, &public(&[0])], Some(Error::Format(FormatError::OtherPublicKey))),
        (&[name, &public(&[])], Some(Error::Format(FormatError::OtherPublicKey))),
        (&[name, &unused_bit], Some(Error::Format(FormatError::Der))),
        (&[&mine, name], Some(Error::Format(FormatError::Der))),
        (&[name, &mine, NULL], Some(Error::Format(FormatError::Der))),
        (&[name, name], Some(Error::Format(FormatError::Der))),
        (&[&mine], Some(Error::Format(FormatError::Parameters))),
        (&[], Some(Error::Format(FormatError::Parameters))),
    ] {
        let inner = sec1(&own, behind);
        assert_eq!(PrivateKey::<C>::from_sec1_der(&inner).err(), error, "{behind:x?}");
        // Within PKCS #8 the key may omit the curve.
        let error = error.filter(|error| *error != Error::Format(FormatError::Parameters));
        let whole = pkcs8(ZERO, &[EC, named::<C>()], &inner, &[]);
        assert_eq!(PrivateKey::<C>::from_der(&whole).err(), error, "{behind:x?}");
    }

    // Fields that may follow the key in PKCS #8.
    let attributes = tlv(0xa0, &[&tlv(0x30, &[b"\x06\x01\x2a", &tlv(0x31, &[NULL])])]);
    let bits = |key: &PrivateKey<C>| tlv(0x81, &[&[0], &key.public_key().to_uncompressed()]);
    let (mine, theirs) = (bits(&key(3)), bits(&other));
    for (version, behind, error) in [
        (ZERO, &attributes[..], None),
        (ONE, &mine, None),
        (ONE, &[&attributes[..], &mine].concat(), None),
        (ONE, &theirs, Some(Error::Format(FormatError::OtherPublicKey))),
        (ONE, &tlv(0x81, &[&[0], &[0]]), Some(Error::Format(FormatError::OtherPublicKey))),
        (ONE, &tlv(0x81, &[&[1], &mine[4..]]), Some(Error::Format(FormatError::Der))),
        // A public key requires version 2, and version 2 requires a public key.
        (ZERO, &mine, Some(Error::Format(FormatError::Der))),
        (ONE, &[], Some(Error::Format(FormatError::Der))),
        (b"\x02\x01\x02", &[], Some(Error::Format(FormatError::Der))),
        (ZERO, NULL, Some(Error::Format(FormatError::Der))),
    ] {
        let whole = pkcs8(version, &[EC, named::<C>()], &sec1(&own, &[]), behind);
        assert_eq!(PrivateKey::<C>::from_der(&whole).err(), error, "{behind:x?}");
    }
}

fn algorithms<C: Curve>() {
    let key = key::<C>(3);
    let own = scalar(&key);
    let point = key.public_key().to_uncompressed();
    let name = named::<C>();
    let explicit = tlv(0x30, &[ONE, &tlv(0x30, &[b"\x06\x07\x2a\x86\x48\xce\x3d\x01\x01"])]);
    let others = [SECP256K1, named::<P224>(), named::<P256>(), named::<P384>(), named::<P521>()];
    let mut cases = vec![
        (vec![EC, name], None),
        (vec![EC], Some(Error::Format(FormatError::Parameters))),
        (vec![EC, NULL], Some(Error::Format(FormatError::Parameters))),
        (vec![EC, ONE], Some(Error::Format(FormatError::Parameters))),
        (vec![EC, &explicit], Some(Error::Format(FormatError::ExplicitParameters))),
        (vec![EC_DH, name], Some(Error::Format(FormatError::Algorithm))),
        (vec![name, name], Some(Error::Format(FormatError::Algorithm))),
        (vec![EC, name, NULL], Some(Error::Format(FormatError::Der))),
        (vec![name], Some(Error::Format(FormatError::Algorithm))),
        (vec![NULL], Some(Error::Format(FormatError::Der))),
        (vec![], Some(Error::Format(FormatError::Der))),
    ];
    let others = others.into_iter().filter(|other| *other != name);
    cases.extend(
        others.clone().map(|other| (vec![EC, other], Some(Error::Format(FormatError::OtherCurve)))),
    );
    assert_eq!(cases.len(), 15);
    for (algorithm, error) in cases {
        let whole = pkcs8(ZERO, &algorithm, &sec1(&own, &[]), &[]);
        assert_eq!(PrivateKey::<C>::from_der(&whole).err(), error, "{algorithm:x?}");
        let whole = spki(&algorithm, &point);
        assert_eq!(PublicKey::<C>::from_spki_der(&whole).err(), error, "{algorithm:x?}");
        // The same algorithm in a standalone ECPrivateKey; and within PKCS #8, where it must match
        // the outer one.
        if let [EC, within] = algorithm[..] {
            let inner = sec1(&own, &[&parameters(within)]);
            assert_eq!(PrivateKey::<C>::from_der(&inner).err(), error, "{algorithm:x?}");
            let whole = pkcs8(ZERO, &[EC, name], &inner, &[]);
            let error = error.map(|_| Error::Format(FormatError::Parameters));
            assert_eq!(PrivateKey::<C>::from_der(&whole).err(), error, "{algorithm:x?}");
        }
    }
    // Compressed, infinity, hybrid, not on the curve.
    let mut wrong = point.to_vec();
    wrong[1 + C::BYTES / 2] ^= 1;
    let mut hybrid = point.to_vec();
    hybrid[0] = 6 | point.last().unwrap() & 1;
    for (point, error) in [
        (&key.public_key().to_compressed()[..], None),
        (&[0], Some(Error::PointAtInfinity)),
        (&[], Some(Error::PointFormat)),
        (&point[..C::BYTES], Some(Error::PointFormat)),
        (&hybrid, Some(Error::PointFormat)),
        (&wrong, Some(Error::NotOnCurve)),
    ] {
        let whole = spki(&[EC, name], point);
        assert_eq!(PublicKey::<C>::from_spki_der(&whole).err(), error, "{point:x?}");
    }
}

fn scalars<C: Curve>() {
    let order = {
        let mut order = vec![0; C::BYTES];
        words::to_be_bytes(&mut order, C::ORDER.as_ref());
        order
    };
    let mut last = order.clone();
    *last.last_mut().unwrap() -= 1;
    let mut one = vec![0; C::BYTES];
    one[C::BYTES - 1] = 1;
    let range = Some(Error::PrivateKeyRange);
    let modulo = |number: &[u8]| [&[1], number].concat();
    for (number, expected) in [
        (&one[..], Ok(&one)),
        (&last, Ok(&last)),
        (&order, Err(range)),
        (&vec![0; C::BYTES], Err(range)),
        (&vec![0xff; C::BYTES], Err(range)),
        (&[], Err(range)),
        (&[0], Err(range)),
        // Missing leading zeros, and extra ones.
        (&[1], Ok(&one)),
        (&one[1..], Ok(&one)),
        (&[&[0], &one[..]].concat(), Ok(&one)),
        (&[&[0; 9], &last[..]].concat(), Ok(&last)),
        // Longer than the order, with a first byte or another extra byte that is not zero.
        (&modulo(&one), Err(range)),
        (&[&[0, 1, 0], &last[..]].concat(), Err(range)),
        (&vec![0; C::BYTES + 1], Err(range)),
    ] {
        for file in [
            sec1(number, &[&parameters(named::<C>())]),
            pkcs8(ZERO, &[EC, named::<C>()], &sec1(number, &[]), &[]),
        ] {
            let read = PrivateKey::<C>::from_der(&file);
            match expected {
                Ok(expected) => assert_eq!(scalar(&read.unwrap()), *expected, "{number:x?}"),
                Err(error) => assert_eq!(read.err(), error, "{number:x?}"),
            }
        }
    }
    // The version of ECPrivateKey.
    for version in [ZERO, b"\x02\x01\x02", b"\x02\x02\x00\x01", b"\x02\x01\xff"] {
        let key = tlv(0x30, &[version, &tlv(4, &[&one]), &parameters(named::<C>())]);
        assert_eq!(
            PrivateKey::<C>::from_der(&key).err(),
            Some(Error::Format(FormatError::Der)),
            "{version:x?}"
        );
    }
}

fn too_small<C: Curve>() {
    let key = key::<C>(3);
    let public = key.public_key();
    let write = |which: usize, output: &mut [u8]| match which {
        0 => key.to_pkcs8_der(output).map(<[u8]>::len),
        1 => key.to_sec1_der(output).map(<[u8]>::len),
        2 => key.to_pkcs8_pem(output).map(str::len),
        3 => key.to_sec1_pem(output).map(str::len),
        4 => public.to_spki_der(output).map(<[u8]>::len),
        _ => public.to_spki_pem(output).map(str::len),
    };
    for which in 0..6 {
        let mut output = [0xaa; 600];
        let needed = write(which, &mut output).unwrap();
        assert!(output[needed..].iter().all(|byte| *byte == 0xaa));
        let written = output;
        output.fill(0xaa);
        for given in [0, 1, needed - 1] {
            let outcome = write(which, &mut output[..given]);
            assert_eq!(outcome, Err(Error::Format(FormatError::OutputTooSmall { needed, given })));
        }
        assert_eq!(output, [0xaa; 600]);
        assert_eq!(write(which, &mut output[..needed]), Ok(needed));
        assert_eq!(output, written);
    }
}

fn cut<C: Curve>() {
    let [pkcs8, sec1, spki] = files(&key::<C>(3));
    for file in [pkcs8, sec1] {
        for length in 0..file.len() {
            assert_eq!(
                PrivateKey::<C>::from_der(&file[..length]).unwrap_err(),
                Error::Format(FormatError::Der)
            );
        }
        for more in [&[0][..], NULL, &file] {
            let longer = [&file, more].concat();
            assert_eq!(
                PrivateKey::<C>::from_der(&longer).unwrap_err(),
                Error::Format(FormatError::Der)
            );
        }
    }
    for length in 0..spki.len() {
        assert_eq!(
            PublicKey::<C>::from_spki_der(&spki[..length]),
            Err(Error::Format(FormatError::Der))
        );
    }
    let longer = [&spki[..], &[0]].concat();
    assert_eq!(PublicKey::<C>::from_spki_der(&longer), Err(Error::Format(FormatError::Der)));
}

/// A file that is read gives a key that is written as the same file: DER is unique, the input was
/// checked, and only the form of points may differ.
fn assert_sound<C: Curve>(file: &[u8]) {
    if let Ok(key) = PrivateKey::<C>::from_der(file) {
        let [pkcs8, sec1, _] = files(&key);
        assert!(file == pkcs8 || file == sec1, "{file:x?}");
    }
    if let Ok(key) = PublicKey::<C>::from_spki_der(file) {
        let mut der = vec![0; public_key_der_length::<C>()];
        assert_eq!(file, key.to_spki_der(&mut der).unwrap());
    }
}

fn changed<C: Curve>() {
    for file in files(&key::<C>(3)) {
        let mut changed = file.clone();
        for i in 0..file.len() {
            for change in [0x01, 0x80, file[i]] {
                changed[i] ^= change;
                if changed[i] != file[i] {
                    assert!(PrivateKey::<C>::from_der(&changed).is_err(), "byte {i}");
                }
                assert_sound::<C>(&changed);
                changed[i] = file[i];
            }
        }
    }
}

/// A scalar of another length is read; it is written with the standard length.
#[test]
fn scalars_of_other_lengths_are_read() {
    fn check<C: Curve>(text: &str, expected: &str) {
        let key = PrivateKey::<C>::from_pem(text).unwrap();
        let hex: String = scalar(&key).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
        let mut der = vec![0; private_key_der_length::<C>()];
        let again = key.to_pkcs8_der(&mut der).unwrap();
        assert_eq!(again.len(), private_key_der_length::<C>());
        assert_eq!(scalar(&PrivateKey::<C>::from_der(again).unwrap()), scalar(&key));
    }
    macro_rules! file {
        ($name:literal) => {
            include_str!(concat!("../../../../tests/data/ec/", $name))
        };
    }
    let short = "0000a023785768836418fd76a04b7c6fbb3a73aeb636291910674544ba082d86";
    check::<P256>(file!("p256-short.pem"), short);
    check::<P256>(file!("p256-short-pkcs8.pem"), short);
    let signed = "8fa023785768836418fd76a04b7c6fbb3a73aeb636291910674544ba082d867d";
    check::<P256>(file!("p256-signed.pem"), signed);
    let short = "00fd8a4a9884abf6e211e657148270f1c7d73c528c85d36acda4138440ed471a92e424cc467b783a\
                 b13e512ccb6cde4592aceb2fa96f85ab8ab9b7cf60f1462938fd";
    check::<P521>(file!("p521-short.pem"), short);
}

#[test]
fn text_around_and_within_pem() {
    let key = key::<P256>(7);
    let [der, ..] = files(&key);
    let mut text = [0; private_key_pem_length::<P256>()];
    let pem = key.to_pkcs8_pem(&mut text).unwrap();
    let mut base64 = vec![0; 2 * der.len()];
    let base64 = Base64::encode(&der, &mut base64).unwrap();
    let named = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    for text in [
        format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----"),
        pem.replace('\n', "\r\n"),
        format!("{named}{pem}"),
        format!("a key\n{pem}its end"),
    ] {
        assert_eq!(scalar(&PrivateKey::<P256>::from_pem(&text).unwrap()), scalar(&key), "{text}");
    }
    let body = pem.lines().nth(1).unwrap();
    for (text, error) in [
        (String::new(), Error::Format(FormatError::Pem)),
        (named.into(), Error::Format(FormatError::PemLabel)),
        (pem.replace("PRIVATE", "ENCRYPTED PRIVATE"), Error::Format(FormatError::Encrypted)),
        (pem.replace("PRIVATE", "EC PRIVATE"), Error::Format(FormatError::Der)),
        (
            pem.replace(body, &format!("Proc-Type: 4,ENCRYPTED\n\n{body}")),
            Error::Format(FormatError::Encrypted),
        ),
        (pem.replace(body, &format!("Comment: x\n\n{body}")), Error::Format(FormatError::Pem)),
        (pem.replace(body, &body[..60]), Error::Format(FormatError::Der)),
        (
            pem.replace(body, &format!("{}*{}", &body[..30], &body[31..])),
            Error::Format(FormatError::Pem),
        ),
        (pem.replace(body, &body.repeat(50)), Error::Format(FormatError::PemTooLong)),
        (
            pem.replace(body, &format!("{body}{}", " ".repeat(3000))),
            Error::Format(FormatError::PemTooLong),
        ),
        (pem[..pem.len() - 2].into(), Error::Format(FormatError::Pem)),
    ] {
        assert_eq!(PrivateKey::<P256>::from_pem(&text).unwrap_err(), error, "{text}");
    }
    assert_eq!(
        PrivateKey::<P384>::from_pem(pem).unwrap_err(),
        Error::Format(FormatError::OtherCurve)
    );
    let encrypted = tlv(0x30, &[&tlv(0x30, &[EC]), &tlv(4, &[&[1; 40]])]);
    assert_eq!(
        PrivateKey::<P384>::from_der(&encrypted).unwrap_err(),
        Error::Format(FormatError::Encrypted)
    );
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        assert_sound::<P256>(&bytes);
        let _ = PrivateKey::<P256>::from_pem(&bytes);
    }

    #[test]
    fn pieces_of_files(
        pieces in proptest::collection::vec((0..140usize, 0..140usize, 0..3usize), 1..6),
    ) {
        let files = files(&key::<P256>(5));
        let mut file = Vec::new();
        for (start, length, which) in pieces {
            file.extend(files[which].iter().skip(start).take(length));
        }
        assert_sound::<P256>(&file);
    }
}
