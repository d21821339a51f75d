//! Diffie-Hellman keys in groups that are not the known ones.

use std::process::Command;

use base64ct::{Base64, Encoding};
use cycloid::key_file::{self, CustomDhKey, DhParameters, Error, PrivateKey, PublicKey};
use cycloid::scheme::dh::{self, Group, Validation};
use getrandom::SysRng;
use rand_core::UnwrapErr;

use crate::file;

const BITS: usize = 2048;

fn private(der: &[u8]) -> Result<CustomDhKey, Error> {
    key_file::read_private(der).map(|key| match key {
        PrivateKey::CustomDh(key) => key,
        other => panic!("{other:?}"),
    })
}

/// Returns a private key of the corpus in DER.
fn der(name: &str) -> Vec<u8> {
    let text = String::from_utf8(file(&format!("openssl-dh-{name}.pem"))).unwrap();
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    Base64::decode_vec(&body).unwrap()
}

fn group<'m>(parameters: &DhParameters, memory: &'m mut [u64]) -> Result<Group<'m>, dh::Error> {
    let scratch = &mut [0; dh::group_scratch_limbs(BITS)];
    Group::new(&parameters.numbers(), memory, &mut UnwrapErr(SysRng), scratch)
}

/// The secret that a key shares with itself, by `openssl`, without leading zeros.
fn by_openssl(name: &str) -> Vec<u8> {
    let path = |suffix: &str| {
        format!("{}/tests/data/key_files/openssl-dh-{name}{suffix}", env!("CARGO_MANIFEST_DIR"))
    };
    let (key, peer) = (path(".pem"), path(".pub.pem"));
    let mut openssl = Command::new("openssl");
    let derive = openssl.args(["pkeyutl", "-derive", "-inkey", &key, "-peerkey", &peer]);
    let output = derive.output().expect("this test needs the command `openssl`");
    assert!(output.status.success(), "{output:?}");
    trimmed(&output.stdout).to_vec()
}

fn trimmed(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|byte| **byte == 0).count()..]
}

#[test]
fn a_key_agrees_as_by_openssl() {
    // With q and without.
    for name in ["own", "order", "safe"] {
        let key = private(&der(name)).unwrap();
        let public = key_file::read_public(&file(&format!("openssl-dh-{name}.pub.pem"))).unwrap();
        assert_eq!(public, PublicKey::CustomDh(key.public_key()));
        let memory = &mut [0; dh::group_limbs(BITS)];
        let group = group(key.parameters(), memory).unwrap();
        assert_eq!(group.name(), None);
        let own = key.in_group(&group, [0; dh::private_key_limbs(BITS)]).unwrap();
        let (mut shared, mut scratch) = ([0; BITS / 8], [0; dh::scratch_limbs(BITS, BITS)]);
        let value = key.public_key().value().to_vec();
        own.agree(&value, Validation::Full, &mut shared, &mut scratch).unwrap();
        assert_eq!(trimmed(&shared), by_openssl(name), "{name}");
        let other = key.in_group(&Group::FFDHE2048, [0; dh::private_key_limbs(BITS)]);
        assert_eq!(other.map(|_| ()), Err(Error::Dh(dh::Error::OtherGroup)));
        assert!(format!("{key:?} {public:?}").len() < 150);
    }
}

/// Replaces bytes of a key, which occur in it once.
fn replaced(der: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut places = der.windows(from.len()).enumerate().filter(|(_, found)| *found == from);
    let (at, _) = places.next().unwrap();
    assert!(places.next().is_none() && from.len() == to.len());
    [&der[..at], to, &der[at + from.len()..]].concat()
}

#[test]
fn numbers_out_of_range_are_refused() {
    let der = der("own");
    let key = private(&der).unwrap();
    let numbers = key.parameters().numbers();
    let (p, g, q) = (numbers.prime, numbers.generator, numbers.order.unwrap());
    let refused = |der: &[u8]| match private(der).unwrap_err() {
        Error::Dh(error) => error,
        other => panic!("{other:?}"),
    };
    let number = |from: &[u8], change: &dyn Fn(&mut [u8])| {
        let mut to = from.to_vec();
        change(&mut to);
        refused(&replaced(&der, from, &to))
    };
    let last = p.len() - 1;
    assert_eq!(number(p, &|p| p[last] ^= 1), dh::Error::NotPrime);
    assert_eq!(number(g, &|g| g.copy_from_slice(p)), dh::Error::Generator);
    assert_eq!(
        number(g, &|g| {
            g.copy_from_slice(p);
            g[last] ^= 1;
        }),
        dh::Error::Generator
    );
    // An exponent of q: the key ends with it.
    let exponent = der.len() - q.len()..der.len();
    let mut wrong = der.clone();
    wrong[exponent].copy_from_slice(q);
    assert_eq!(refused(&wrong), dh::Error::PrivateExponent);
}

#[test]
fn tiny_primes_are_refused() {
    for (p, bits) in [(0, 0), (1, 1), (23, 5), (0x7f, 7)] {
        // PKCS #8 with dhKeyAgreement, p, g = 2 and x = 5.
        let mut der = vec![0x30, 0x1d, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x09];
        der.extend([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x03, 0x01]);
        der.extend([0x30, 0x06, 0x02, 0x01, p, 0x02, 0x01, 0x02, 0x04, 0x03, 0x02, 0x01, 0x05]);
        let error = private(&der).unwrap_err();
        assert_eq!(error, Error::Dh(dh::Error::ModulusLength { bits }), "{p}");
    }
}

#[test]
fn a_group_that_is_not_one_is_refused_when_it_is_made() {
    let der = der("order");
    let key = private(&der).unwrap();
    let numbers = key.parameters().numbers();
    let memory = &mut [0; dh::group_limbs(BITS)];
    let mut check = |from: &[u8]| {
        let mut to = from.to_vec();
        to[from.len() - 1] ^= 2;
        let key = private(&replaced(&der, from, &to)).unwrap();
        group(key.parameters(), memory).unwrap_err()
    };
    assert_eq!(check(numbers.prime), dh::Error::NotPrime);
    assert_eq!(check(numbers.generator), dh::Error::Generator);
    assert_eq!(check(numbers.order.unwrap()), dh::Error::Order);
}
