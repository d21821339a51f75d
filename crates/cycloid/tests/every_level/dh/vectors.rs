//! OpenSSL's vectors for the groups of RFC 7919.

use std::collections::HashMap;

use cycloid::scheme::dh::{Error, Group, Validation};
use num_bigint::BigUint;

use super::{agree, agree_in_batch, key, model, scratch};
use crate::support::dh::{DhKey, number, padded};
use crate::support::levels::at_every_level;

/// A file of OpenSSL's test data: lines `name = value`, and named PEM blocks.
struct Vectors {
    keys: HashMap<String, DhKey>,
    pairs: Vec<(String, String)>,
    /// Own key, peer key and secret.
    derivations: Vec<(String, String, Vec<u8>)>,
    /// Derivations followed by a key derivation function, which the library does not have.
    with_kdf: usize,
}

fn vectors() -> Vectors {
    let text = include_str!("../../data/dh/evppkey_ffdhe.txt");
    let mut vectors =
        Vectors { keys: HashMap::new(), pairs: vec![], derivations: vec![], with_kdf: 0 };
    for block in text.split("\n\n") {
        let mut fields = HashMap::new();
        let mut pem = String::new();
        for line in block.lines().filter(|line| !line.starts_with(['#', '-'])) {
            match line.split_once('=').filter(|(_, value)| value.chars().any(|c| c != '=')) {
                Some((name, value)) => {
                    fields.insert(name.trim(), value.trim());
                }
                None => pem.push_str(line),
            }
        }
        for name in ["PrivateKey", "PublicKey"].iter().filter_map(|kind| fields.get(kind)) {
            vectors.keys.insert((*name).to_owned(), DhKey::from_der(&from_base64(&pem)));
        }
        if let Some((private, public)) =
            fields.get("PrivPubKeyPair").and_then(|f| f.split_once(':'))
        {
            vectors.pairs.push((private.to_owned(), public.to_owned()));
        }
        if let Some(own) = fields.get("Derive") {
            if fields.contains_key("KDFType") {
                vectors.with_kdf += 1;
                continue;
            }
            let secret = BigUint::parse_bytes(fields["SharedSecret"].as_bytes(), 16).unwrap();
            let own = (*own).to_owned();
            let length = vectors.keys[&own].prime.bits() as usize / 8;
            let derivation = (own, fields["PeerKey"].to_owned(), padded(&secret, length));
            vectors.derivations.push(derivation);
        }
    }
    vectors
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let bytes = |chunk: &[u8]| {
        let sum = (0..4).fold(0u32, |sum, i| sum << 6 | u32::from(*chunk.get(i).unwrap_or(&0)));
        sum.to_be_bytes()[1..chunk.len()].to_vec()
    };
    digits.chunks(4).flat_map(bytes).collect()
}

fn group_of(key: &DhKey) -> &'static Group<'static> {
    let group = Group::KNOWN.into_iter().find(|group| number(group.prime()) == key.prime);
    assert_eq!(key.generator, BigUint::from(2u8));
    group.expect("the prime is a known one")
}

#[test]
fn published_vectors_alone_and_in_every_lane() {
    let vectors = vectors();
    // Two keys of each size, and derivations in both directions, each also with padding.
    assert_eq!((vectors.keys.len(), vectors.pairs.len()), (20, 10));
    assert_eq!((vectors.derivations.len(), vectors.with_kdf), (11, 2));
    let private = |name: &str| {
        let number = &vectors.keys[name];
        key(group_of(number), &number.number.to_bytes_be()).unwrap()
    };
    let public = |name: &str| vectors.keys[name].number.to_bytes_be();
    at_every_level(|| {
        for (own, same) in &vectors.pairs {
            let key = private(own);
            let mut value = vec![0; key.group().length()];
            key.public_value(&mut value, &mut scratch(key.group())).unwrap();
            assert_eq!(value, padded(&vectors.keys[same].number, value.len()));
        }
        for (own, peer, secret) in &vectors.derivations {
            let (key, peer) = (private(own), public(peer));
            let group = key.group();
            assert_eq!(agree(&key, &peer, Validation::Full).as_ref(), Ok(secret));
            let [zero, minus_one] =
                [vec![], padded(&(number(group.prime()) - 1u8), group.length())];
            let four = [4];
            let expected_four =
                model(group, &vectors.keys[own].number, &four, Validation::Full).unwrap();
            // The first and the last lane of the longest groups, which take most of the time.
            for lane in (0..8).step_by(if group.bits() > 4096 { 7 } else { 1 }) {
                let jobs: Vec<_> = (0..8)
                    .map(|i| match i {
                        _ if i == lane => (&key, &peer[..], Validation::Full),
                        _ if i % 3 == 0 => (&key, &zero[..], Validation::Partial),
                        _ if i % 3 == 1 => (&key, &four[..], Validation::Full),
                        _ => (&key, &minus_one[..], Validation::Full),
                    })
                    .collect();
                // Duplicated, so that refused jobs do not leave lanes empty.
                let jobs = [&jobs[..], &jobs[..]].concat();
                for (i, outcome) in agree_in_batch(&jobs).into_iter().enumerate() {
                    match i % 8 {
                        i if i == lane => assert_eq!(outcome.as_ref(), Ok(secret)),
                        i if i % 3 == 1 => assert_eq!(outcome.as_ref(), Ok(&expected_four)),
                        _ => assert_eq!(outcome, Err(Error::PublicRange)),
                    }
                }
            }
        }
    });
}
