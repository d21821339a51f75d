//! Hashing to the curves, with the vectors of RFC 9380 and Wycheproof.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{
    Affine, Backend, CurvePoint, Error, Expander, Fp, Fp2, Fr, Projective, XmdSha256, XmdSha512,
    XofShake128, XofShake256, expand_message, hash_to_field,
};
use num_bigint::BigUint;
use serde_json::Value;

use crate::support::{hex, json, modulus, on_every_backend, order, text};

on_every_backend!(rfc9380, wycheproof, tags_of_any_length, many_at_once, prefixes, fields, maps);

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
                // In these files, the coefficient of 1 comes first.
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

/// A tag of more than 255 bytes is hashed to a tag of 32 bytes.
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
        expand_message(&[b"", b"message"], &short, uniform.as_flattened_mut()).expect("short");
        let expected = <B as Group<Second>>::map_to_curve(&uniform);
        let point = Projective::<B, Second>::hash_to_curve(b"message", &dst);
        assert_eq!(point, Projective::from_raw(expected));
        let mut uniform = [[0; 64]; 1];
        expand_message(&[b"", b"message"], &short, uniform.as_flattened_mut()).expect("short");
        let expected = <B as Group<First>>::map_to_curve(&uniform);
        let point = Projective::<B, First>::encode_to_curve(b"message", &dst);
        assert_eq!(point, Projective::from_raw(expected));
        // The backend itself accepts tags of any length, too.
        let same = <B as Group<First>>::encode_to_curve(&[b"", b"message"], &dst);
        assert_eq!(point, Projective::from_raw(same));
        let same = <B as Group<Second>>::hash_to_curve(&[b"", b"message"], &dst);
        let mut many = [Projective::<B, Second>::identity()];
        <B as Group<Second>>::hash_to_curve_many(&[[b"", b"message"]], &dst, &mut many);
        assert_eq!(many[0], Projective::from_raw(same));
        assert_eq!(many[0], Projective::hash_to_curve(b"message", &dst));
    }
}

/// RFC 9380, appendices K.1 to K.6: every function, with short tags and tags of 256 bytes.
#[test]
fn expansions_of_rfc_9380() {
    expansions::<XmdSha256>("xmd_SHA256_38");
    expansions::<XmdSha256>("xmd_SHA256_256");
    expansions::<XmdSha512>("xmd_SHA512_38");
    expansions::<XofShake128>("xof_SHAKE128_36");
    expansions::<XofShake128>("xof_SHAKE128_256");
    expansions::<XofShake256>("xof_SHAKE256_36");
}

fn expansions<E: Expander>(name: &str) {
    let file = json(&format!("rfc9380/expand_message_{name}.json"));
    let dst = text(&file["DST"]).as_bytes();
    let tests = file["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 10);
    for test in tests {
        let message = text(&test["msg"]).as_bytes();
        let length = text(&test["len_in_bytes"]).trim_start_matches("0x");
        let length = usize::from_str_radix(length, 16).expect("a length");
        let expected = hex(text(&test["uniform_bytes"]));
        assert_eq!(expected.len(), length);
        for at in [0, message.len() / 2, message.len()] {
            let (prefix, message) = message.split_at(at);
            let mut uniform = vec![0; length];
            E::expand(&[prefix, message], dst, &mut uniform).expect("short");
            assert_eq!(uniform, expected, "{test}");
        }
    }
    // The longest output, and one more byte.
    let mut uniform = vec![0xee; E::MOST_BYTES + 1];
    let outcome = E::expand(&[b"", b"message"], dst, &mut uniform);
    let asked = uniform.len();
    assert_eq!(outcome, Err(Error::TooManyBytes { most: E::MOST_BYTES, asked }));
    assert!(uniform.iter().all(|byte| *byte == 0xee));
    E::expand(&[b"", b"message"], dst, &mut uniform[1..]).expect("the longest output");
    assert!(uniform[asked - 32..].iter().any(|byte| *byte != 0xee));
}

/// Elements are the expanded bytes modulo p or r, big-endian.
fn fields<B: Backend>() {
    fields_with::<B, XmdSha256>();
    fields_with::<B, XmdSha512>();
    fields_with::<B, XofShake128>();
    fields_with::<B, XofShake256>();
}

fn fields_with<B: Backend, E: Expander>() {
    let message = [&b"mess"[..], b"age"];
    let expanded = |count: usize| {
        let mut bytes = vec![0; count];
        E::expand(&message, b"tag", &mut bytes).expect("short");
        bytes
    };
    let modulo = |bytes: &[u8], modulus: &BigUint, length: usize| {
        let bytes = (BigUint::from_bytes_be(bytes) % modulus).to_bytes_be();
        [vec![0; length - bytes.len()], bytes].concat()
    };
    for count in [0, 1, 2, 5] {
        let mut scalars = vec![Fr::<B>::ZERO; count];
        hash_to_field::<E, _>(&message, b"tag", &mut scalars, &mut vec![0; 48 * count])
            .expect("enough scratch");
        for (scalar, bytes) in scalars.iter().zip(expanded(48 * count).chunks(48)) {
            assert_eq!(scalar.to_be_bytes().to_vec(), modulo(bytes, &order(), 32));
        }
        let mut elements = vec![Fp2::ZERO; count];
        hash_to_field::<E, _>(&message, b"tag", &mut elements, &mut vec![0; 128 * count])
            .expect("enough scratch");
        for (element, bytes) in elements.iter().zip(expanded(128 * count).chunks(128)) {
            let [c0, c1] = element.coefficients();
            assert_eq!(c0.to_bytes().to_vec(), modulo(&bytes[..64], &modulus(), 48));
            assert_eq!(c1.to_bytes().to_vec(), modulo(&bytes[64..], &modulus(), 48));
        }
    }
    let mut elements = [Fp::ZERO; 2];
    hash_to_field::<E, _>(&message, b"tag", &mut elements, &mut [0; 128]).expect("enough scratch");
    // hash_to_curve is the sum of both points in the group, and encode_to_curve is one.
    let [a, b] = elements.map(|u| CurvePoint::<B, First>::map_to_curve(&u).clear_cofactor());
    assert_eq!(Projective::hash_to_curve_with::<E>(&message, b"tag"), a + b);
    let mut elements = [Fp::ZERO];
    hash_to_field::<E, _>(&message, b"tag", &mut elements, &mut [0; 64]).expect("enough scratch");
    let one = CurvePoint::<B, First>::map_to_curve(&elements[0]).clear_cofactor();
    assert_eq!(Projective::encode_to_curve_with::<E>(&message, b"tag"), one);
    let mut elements = [Fp2::ZERO; 2];
    hash_to_field::<E, _>(&message, b"tag", &mut elements, &mut [0; 256]).expect("enough scratch");
    let [a, b] = elements.map(|u| CurvePoint::<B, Second>::map_to_curve(&u).clear_cofactor());
    assert_eq!(Projective::hash_to_curve_with::<E>(&message, b"tag"), a + b);
    let mut one = [Fr::<B>::ZERO];
    hash_to_field::<E, _>(&message, b"tag", &mut one, &mut [0; 48]).expect("enough scratch");
    assert_eq!(Fr::hash::<E>(&message, b"tag"), one[0]);
    let counts = Err(Error::Counts { first: 48, other: 47 });
    assert_eq!(hash_to_field::<E, _>(&message, b"tag", &mut one, &mut [0; 47]), counts);
}

/// The maps of RFC 9380's vectors, before and after clearing the cofactor.
fn maps<B: Backend>() {
    for (name, points) in [("RO", ["Q0", "Q1"]), ("NU", ["Q", "Q"])] {
        let file = json(&format!("rfc9380/BLS12381G1_XMD-SHA-256_SSWU_{name}_.json"));
        for vector in file["vectors"].as_array().expect("vectors") {
            for (u, q) in vector["u"].as_array().expect("elements").iter().zip(points) {
                let point = CurvePoint::<B, First>::map_to_curve(&element(text(u)));
                assert_eq!(point, on_curve(&vector[q]));
            }
        }
        let file = json(&format!("rfc9380/BLS12381G2_XMD-SHA-256_SSWU_{name}_.json"));
        for vector in file["vectors"].as_array().expect("vectors") {
            for (u, q) in vector["u"].as_array().expect("elements").iter().zip(points) {
                let (c0, c1) = text(u).split_once(',').expect("two coefficients");
                let u = Fp2::new(&element(c0), &element(c1));
                let point = CurvePoint::<B, Second>::map_to_curve(&u);
                assert_eq!(point, on_curve(&vector[q]));
                if name == "NU" {
                    let expected: CurvePoint<B, Second> = on_curve(&vector["P"]);
                    assert_eq!(CurvePoint::from(point.clear_cofactor()), expected);
                }
            }
        }
    }
    // The kernels of the isogenies and other exceptional inputs are points of the curves.
    for u in [Fp::ZERO, Fp::ONE, -Fp::ONE] {
        assert!(
            CurvePoint::from(CurvePoint::<B, First>::map_to_curve(&u).clear_cofactor()).is_member()
        );
        let u = Fp2::new(&u, &Fp::ZERO);
        assert!(
            CurvePoint::from(CurvePoint::<B, Second>::map_to_curve(&u).clear_cofactor())
                .is_member()
        );
    }
}

fn element(digits: &str) -> Fp {
    Fp::from_bytes(&hex(digits)).expect("below p")
}

/// Returns the point of a vector, in which the coefficient of 1 comes first.
fn on_curve<B: Backend + Group<G>, G: SourceGroup>(point: &Value) -> CurvePoint<B, G> {
    let coordinate = |name: &str| {
        let bytes: Vec<u8> = text(&point[name]).split(',').rev().flat_map(hex).collect();
        let mut coordinate = G::COMPRESSED;
        coordinate.as_mut().copy_from_slice(&bytes);
        coordinate
    };
    CurvePoint::from_coordinates(&coordinate("x"), &coordinate("y")).expect("on the curve")
}

/// A model of expand_message_xmd, step by step (RFC 9380, section 5.3.1).
fn model(message: &[u8], dst: &[u8], length: usize) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let dst = match dst.len() {
        0..256 => dst.to_vec(),
        _ => Sha256::digest([b"H2C-OVERSIZE-DST-", dst].concat()).to_vec(),
    };
    let dst_prime = [&dst[..], &[dst.len() as u8]].concat();
    let l_i_b_str = (length as u16).to_be_bytes();
    let msg_prime = [&[0; 64], message, &l_i_b_str, &[0], &dst_prime].concat();
    let b_0 = Sha256::digest(msg_prime);
    let mut b = vec![Sha256::digest([&b_0[..], &[1], &dst_prime].concat())];
    for i in 2..=length.div_ceil(32) {
        let xor: Vec<u8> = b_0.iter().zip(&b[i - 2]).map(|(x, y)| x ^ y).collect();
        b.push(Sha256::digest([&xor, &[i as u8][..], &dst_prime].concat()));
    }
    let mut uniform = b.concat();
    uniform.truncate(length);
    uniform
}

#[test]
fn every_length_that_the_standard_allows() {
    for length in 0..=8160 {
        let mut uniform = vec![0xee; length];
        expand_message(&[b"mess", b"age"], b"tag", &mut uniform).expect("at most 255 digests");
        assert_eq!(uniform, model(b"message", b"tag", length), "{length}");
    }
    for tag in [0, 1, 31, 32, 254, 255, 256, 257, 65_535, 65_536, 70_000] {
        let dst = vec![b'd'; tag];
        for length in [1, 32, 64, 100, 8128, 8160] {
            let mut uniform = vec![0xee; length];
            expand_message(&[b"", b"message"], &dst, &mut uniform).expect("a tag of any length");
            assert_eq!(uniform, model(b"message", &dst, length), "{tag}, {length}");
        }
    }
    for asked in [8161, 8192, 65_535, 65_536, 65_568, 200_000] {
        let mut uniform = vec![0xee; asked];
        let outcome = expand_message(&[b"", b"message"], b"tag", &mut uniform);
        assert_eq!(outcome, Err(Error::TooManyBytes { most: 8160, asked }));
        assert!(uniform.iter().all(|byte| *byte == 0xee));
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
