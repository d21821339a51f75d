//! Hashing to the curves by the vectors of RFC 9380 and Wycheproof.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, Error, Projective, expand_message};

use crate::support::{hex, json, on_every_backend, text};

on_every_backend!(rfc9380, wycheproof, tags_of_any_length, many_at_once, prefixes);

fn rfc9380<B: Backend>() {
    rfc9380_of::<B, First>("G1");
    rfc9380_of::<B, Second>("G2");
}

fn rfc9380_of<B: Backend + Group<G>, G: SourceGroup>(name: &str) {
    for (suite, hashes) in [("RO", true), ("NU", false)] {
        let file = json(&format!("rfc9380/BLS12381{name}_XMD-SHA-256_SSWU_{suite}_.json"));
        let vectors = file["vectors"].as_array().expect("vectors");
        assert_eq!(vectors.len(), 5);
        let dst = text(&file["dst"]).as_bytes();
        for vector in vectors {
            let message = text(&vector["msg"]).as_bytes();
            let point = if hashes {
                Projective::<B, G>::hash_to_curve(message, dst)
            } else {
                Projective::encode_to_curve(message, dst)
            };
            let coordinate = |name: &str| -> Vec<u8> {
                // The coefficient of 1 stands first there.
                text(&vector["P"][name]).split(',').rev().flat_map(hex).collect()
            };
            let expected = [coordinate("x"), coordinate("y")].concat();
            assert_eq!(point.to_affine().to_uncompressed().as_ref(), expected);
            assert!(Affine::<B, G>::from_uncompressed(&expected).is_ok(), "a member");
        }
    }
}

fn wycheproof<B: Backend>() {
    let file = json("wycheproof-bls/bls_hash_to_g2_test.json");
    let mut count = 0;
    for group in file["testGroups"].as_array().expect("groups") {
        let dst = text(&group["dst"]).as_bytes();
        for test in group["tests"].as_array().expect("tests") {
            let point = Projective::<B, Second>::hash_to_curve(&hex(text(&test["msg"])), dst);
            let expected = hex(text(&test["expected"]));
            assert_eq!(point.to_affine().to_compressed().as_slice(), expected, "{test}");
            assert_eq!(test["result"], "valid");
            count += 1;
        }
    }
    assert_eq!(count, 34);
}

/// A tag of more than 255 bytes is hashed; what comes out is a tag of 32 bytes.
fn tags_of_any_length<B: Backend>() {
    use sha2::Digest;
    for length in [0, 1, 16, 254, 255, 256, 257, 1000] {
        let dst = vec![b'd'; length];
        let short = if length > 255 {
            let mut hash = sha2::Sha256::new();
            hash.update(b"H2C-OVERSIZE-DST-");
            hash.update(&dst);
            hash.finalize().to_vec()
        } else {
            dst.clone()
        };
        let mut uniform = [[0; 64]; 4];
        expand_message(&[b"", b"message"], &short, &mut uniform);
        let expected = <B as Group<Second>>::map_to_curve(&uniform);
        let point = Projective::<B, Second>::hash_to_curve(b"message", &dst);
        assert_eq!(point, Projective::from_raw(expected));
        let mut uniform = [[0; 64]; 1];
        expand_message(&[b"", b"message"], &short, &mut uniform);
        let expected = <B as Group<First>>::map_to_curve(&uniform);
        let point = Projective::<B, First>::encode_to_curve(b"message", &dst);
        assert_eq!(point, Projective::from_raw(expected));
    }
}

fn many_at_once<B: Backend>() {
    many_of::<B, First>();
    many_of::<B, Second>();
}

fn many_of<B: Backend + Group<G>, G: SourceGroup>() {
    let bytes: Vec<u8> = (0..200).collect();
    let messages: Vec<&[u8]> = (0..19).map(|i| &bytes[..i * i / 2]).collect();
    let expected: Vec<_> =
        messages.iter().map(|m| Projective::<B, G>::hash_to_curve(m, b"tag")).collect();
    for n in 0..=messages.len() {
        let mut points = vec![Projective::identity(); n];
        Projective::hash_to_curve_many(&messages[..n], b"tag", &mut points).expect("equal lengths");
        assert_eq!(points, expected[..n]);
    }
    assert_eq!(
        Projective::<B, G>::hash_to_curve_many(&messages[..1], b"tag", &mut []),
        Err(Error::Counts { first: 1, other: 0 })
    );
}

fn prefixes<B: Backend>() {
    for at in 0..=7 {
        let (prefix, message) = b"message".split_at(at);
        let point = Projective::<B, First>::hash_parts_to_curve(&[prefix, message], b"tag");
        assert_eq!(point, Projective::hash_to_curve(b"message", b"tag"));
        let point = Projective::<B, Second>::hash_parts_to_curve(&[prefix, message], b"tag");
        assert_eq!(point, Projective::hash_to_curve(b"message", b"tag"));
    }
}
