//! The course of operations: the requests to the daemon, and the results for C.

#[macro_use]
mod common;

use std::ptr::null_mut as n;

use common::daemon::signature;
use common::{TestBed, attribute, input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, cko};
use cycloid_hsm::mechanism::{OFFERED, ckm};
use sha2::{Digest, Sha256};

#[test]
fn a_mechanism_that_hashes_first_is_given_the_digest_of_the_parts() {
    let (bed, session) = TestBed::logged_in();
    for (number, class_label, length) in
        [(ckm::SHA256_RSA_PKCS, "rsa", 256), (ckm::ECDSA_SHA256, "p256", 64)]
    {
        let private = bed.daemon.find(cko::PRIVATE_KEY, class_label);
        let public = bed.daemon.find(cko::PUBLIC_KEY, class_label);
        let expected = signature(number, &Sha256::digest(b"a message"), true, length);

        assert_eq!(bed.sign_init(session, number, private), CKR_OK);
        assert_eq!(bed.sign(session, b"a message", 300).2, expected);

        assert_eq!(bed.sign_init(session, number, private), CKR_OK);
        for part in [&b"a "[..], b"", b"mess", b"age"] {
            let (part, count) = input(part);
            must!(bed, C_SignUpdate(session, part, count));
        }
        let mut made = vec![0; 300];
        let mut count = 0;
        must!(bed, C_SignFinal(session, n(), &raw mut count));
        assert_eq!(count, length as CK_ULONG);
        must!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut count));
        assert_eq!(made[..count as usize], expected);

        let how = &mut mechanism(number);
        must!(bed, C_VerifyInit(session, how, public));
        let ((data, data_count), (given, given_count)) = (input(b"a message"), input(&expected));
        must!(bed, C_Verify(session, data, data_count, given, given_count));
        must!(bed, C_VerifyInit(session, how, public));
        must!(bed, C_VerifyUpdate(session, data, data_count));
        must!(bed, C_VerifyFinal(session, given, given_count));

        must!(bed, C_VerifyInit(session, how, public));
        let code = call!(bed, C_Verify(session, data, data_count - 1, given, given_count));
        assert_eq!(code, CKR_SIGNATURE_INVALID);
        must!(bed, C_VerifyInit(session, how, public));
        let code = call!(bed, C_Verify(session, data, data_count, given, given_count - 1));
        assert_eq!(code, CKR_SIGNATURE_LEN_RANGE);
        let code = call!(bed, C_Verify(session, data, data_count, given, given_count));
        assert_eq!(code, CKR_OPERATION_NOT_INITIALIZED, "a verdict ends the operation");
    }
}

#[test]
fn other_mechanisms_get_the_collected_parts() {
    let (bed, session) = TestBed::logged_in();
    let eddsa = bed.daemon.find(cko::PRIVATE_KEY, "ed25519");
    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let mut short: CK_ULONG = 12;
    let cases = [
        (mechanism(ckm::EDDSA), eddsa, 64),
        (mechanism(ckm::SHA256_HMAC), hmac, 32),
        (mechanism_with(ckm::SHA256_HMAC_GENERAL, &mut short), hmac, 12),
    ];
    for (mut how, key, length) in cases {
        let number = how.mechanism as u32;
        let long: Vec<u8> = (0..100_000).map(|at| at as u8).collect();
        let expected = signature(number, &long, false, length);
        must!(bed, C_SignInit(session, &raw mut how, key));
        assert_eq!(bed.sign(session, &long, length).2, expected);
        must!(bed, C_SignInit(session, &raw mut how, key));
        for part in long.chunks(999) {
            let (part, count) = input(part);
            must!(bed, C_SignUpdate(session, part, count));
        }
        let (mut made, mut count) = (vec![0; length], length as CK_ULONG);
        must!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut count));
        assert_eq!(made, expected);
    }
}

#[test]
fn a_signature_costs_one_request_once_the_key_is_cached() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "p256");
    let sign = || {
        let before = bed.daemon.questions();
        assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_OK);
        assert_eq!(bed.sign(session, &[1; 32], 64).0, CKR_OK);
        bed.daemon.questions() - before
    };
    assert_eq!([sign(), sign(), sign()], [2, 1, 1]);

    let mut label = attribute(cka::LABEL, b"renamed");
    must!(bed, C_SetAttributeValue(session, key, &raw mut label, 1));
    assert_eq!([sign(), sign()], [2, 1], "a changed key is requested again");

    let mut label = [attribute(cka::LABEL, b"renamed")];
    let before = bed.daemon.questions();
    assert_eq!(bed.find(session, &mut label), [key]);
    assert_eq!(bed.daemon.questions() - before, 1);
}

#[test]
fn a_key_that_may_no_longer_sign_is_detected() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "p256");
    assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_OK);
    assert_eq!(bed.sign(session, &[1; 32], 64).0, CKR_OK);
    let no = [0u8];
    let mut sign = attribute(cka::SIGN, &no);
    must!(bed, C_SetAttributeValue(session, key, &raw mut sign, 1));
    assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_KEY_FUNCTION_NOT_PERMITTED);
    must!(bed, C_DestroyObject(session, key));
    assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_KEY_HANDLE_INVALID);
    // A key that somebody else destroys: the daemon refuses, and the module clears its cache entry.
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    bed.daemon.destroy(key);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_KEY_HANDLE_INVALID);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_KEY_HANDLE_INVALID);
}

#[test]
fn a_key_for_one_mechanism_is_refused_for_others() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let only: [CK_MECHANISM_TYPE; 1] = [ckm::SHA256_RSA_PKCS.into()];
    let mut allowed = attribute(cka::ALLOWED_MECHANISMS, &only);
    must!(bed, C_SetAttributeValue(session, key, &raw mut allowed, 1));
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_MECHANISM_INVALID);
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, key), CKR_OK);
}

#[test]
fn a_one_shot_call_does_not_end_an_operation_in_parts() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let (part, count) = input(b"part");
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, key), CKR_OK);
    must!(bed, C_SignUpdate(session, part, count));
    assert_eq!(bed.sign(session, b"rest", 256).0, CKR_OPERATION_ACTIVE);
    assert_eq!(bed.sign(session, b"rest", 256).0, CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(bed.daemon.asked("Sign"), 0);
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// "abc" (FIPS 180-2, appendices A to C, and FIPS 180-2 change notice 1).
#[test]
fn digests_match_the_standard() {
    let bed = TestBed::initialised();
    let session = bed.open(false);
    let cases = [
        (ckm::SHA_1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (ckm::SHA224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (ckm::SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            ckm::SHA384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            ckm::SHA512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ];
    let questions = bed.daemon.questions();
    for (number, expected) in cases {
        let expected = hex(expected);
        let mut digest = [0; 64];
        let mut length = 64;
        must!(bed, C_DigestInit(session, &mut mechanism(number)));
        let (data, count) = input(b"abc");
        must!(bed, C_Digest(session, data, count, digest.as_mut_ptr(), &raw mut length));
        assert_eq!(digest[..length as usize], expected);

        must!(bed, C_DigestInit(session, &mut mechanism(number)));
        must!(bed, C_DigestUpdate(session, data, 1));
        must!(bed, C_DigestUpdate(session, data.wrapping_add(1), 2));
        (digest, length) = ([0; 64], 64);
        must!(bed, C_DigestFinal(session, digest.as_mut_ptr(), &raw mut length));
        assert_eq!(digest[..length as usize], expected);
    }
    assert_eq!(bed.daemon.questions(), questions, "no digest needs the daemon");
}

/// Encrypts and decrypts `message`, whole and in parts.
fn there_and_back(
    bed: &TestBed,
    session: u64,
    how: &mut CK_MECHANISM,
    keys: [u64; 2],
    sizes: [u64; 2],
) {
    let message: Vec<u8> = (0..sizes[0]).map(|at| at as u8).collect();
    let mut cipher = vec![0; sizes[1] as usize];
    let mut plain = vec![0; sizes[1] as usize];
    let mut length = 0;
    let (data, count) = input(&message);
    must!(bed, C_EncryptInit(session, how, keys[0]));
    must!(bed, C_Encrypt(session, data, count, n(), &raw mut length));
    assert_eq!(length, sizes[1]);
    length -= 1;
    let code = call!(bed, C_Encrypt(session, data, count, cipher.as_mut_ptr(), &raw mut length));
    assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, sizes[1]));
    must!(bed, C_Encrypt(session, data, count, cipher.as_mut_ptr(), &raw mut length));
    assert_ne!(cipher[..message.len()], message);

    must!(bed, C_DecryptInit(session, how, keys[1]));
    let (data, count) = input(&cipher);
    must!(bed, C_Decrypt(session, data, count, n(), &raw mut length));
    assert!(length >= sizes[0], "room for {length}");
    length = sizes[0] - 1;
    let code = call!(bed, C_Decrypt(session, data, count, plain.as_mut_ptr(), &raw mut length));
    assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, sizes[0]));
    // A buffer of the message's length suffices, even if the maximum is larger.
    must!(bed, C_Decrypt(session, data, count, plain.as_mut_ptr(), &raw mut length));
    assert_eq!(plain[..length as usize], message);
    let code = call!(bed, C_Decrypt(session, data, count, plain.as_mut_ptr(), &raw mut length));
    assert_eq!(code, CKR_OPERATION_NOT_INITIALIZED);

    for (encrypt, from, to) in [(true, &message, &cipher), (false, &cipher, &message)] {
        let mut made = vec![0; sizes[1] as usize];
        let mut made_length = 0;
        if encrypt {
            must!(bed, C_EncryptInit(session, how, keys[0]));
        } else {
            must!(bed, C_DecryptInit(session, how, keys[1]));
        }
        for part in from.chunks(7) {
            let (part, count) = input(part);
            let (room, mut length) = (made[made_length..].as_mut_ptr(), 100);
            let code = match encrypt {
                true => call!(bed, C_EncryptUpdate(session, part, count, room, &raw mut length)),
                false => call!(bed, C_DecryptUpdate(session, part, count, room, &raw mut length)),
            };
            assert_eq!(code, CKR_OK);
            made_length += length as usize;
        }
        let mut length = (made.len() - made_length) as CK_ULONG;
        let room = made[made_length..].as_mut_ptr();
        let code = match encrypt {
            true => call!(bed, C_EncryptFinal(session, room, &raw mut length)),
            false => call!(bed, C_DecryptFinal(session, room, &raw mut length)),
        };
        assert_eq!(code, CKR_OK);
        assert_eq!(made[..made_length + length as usize], **to);
    }
}

#[test]
fn ciphers_report_their_lengths_and_accept_parts() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let mut iv = [3u8; 16];
    let mut both = |number, sizes| {
        there_and_back(&bed, session, &mut mechanism_with(number, &mut iv), [aes; 2], sizes);
    };
    both(ckm::AES_CBC, [16, 16]);
    both(ckm::AES_CBC, [160, 160]);
    both(ckm::AES_CBC_PAD, [15, 16]);
    both(ckm::AES_CBC_PAD, [16, 32]);
    both(ckm::AES_CBC_PAD, [33, 48]);
    let mut gcm = CK_GCM_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvBits: 96,
        pAAD: iv.as_mut_ptr(),
        ulAADLen: 16,
        ulTagBits: 128,
    };
    there_and_back(&bed, session, &mut mechanism_with(ckm::AES_GCM, &mut gcm), [aes; 2], [50, 66]);
    // The parameter as in the headers up to 2.40.
    let mut old = [iv.as_mut_ptr() as u64, 12, 0, 0, 96];
    there_and_back(&bed, session, &mut mechanism_with(ckm::AES_GCM, &mut old), [aes; 2], [5, 17]);
    let keys = [cko::PUBLIC_KEY, cko::PRIVATE_KEY].map(|class| bed.daemon.find(class, "rsa"));
    there_and_back(&bed, session, &mut mechanism(ckm::RSA_PKCS), keys, [200, 256]);
}

/// An operation whose call had invalid arguments has ended, so the next one can begin.
#[test]
fn invalid_arguments_end_the_operation() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let rsa = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let (data, _) = input(b"data");
    let mut iv = [3u8; 16];
    let (mut output, mut length) = ([0; 64], 64);
    for round in 0..5 {
        let how = &mut mechanism_with(ckm::AES_CBC_PAD, &mut iv);
        must!(bed, C_EncryptInit(session, how, aes));
        must!(bed, C_DecryptInit(session, how, aes));
        let codes = match round {
            0 => [
                call!(bed, C_Encrypt(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
                call!(bed, C_Decrypt(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
            ],
            1 => [
                call!(bed, C_Encrypt(session, data, 4, output.as_mut_ptr(), n())),
                call!(bed, C_Decrypt(session, data, 4, output.as_mut_ptr(), n())),
            ],
            2 => [
                call!(bed, C_EncryptUpdate(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
                call!(bed, C_DecryptUpdate(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
            ],
            3 => [
                call!(bed, C_EncryptUpdate(session, data, 4, output.as_mut_ptr(), n())),
                call!(bed, C_DecryptUpdate(session, data, 4, output.as_mut_ptr(), n())),
            ],
            _ => [
                call!(bed, C_EncryptFinal(session, output.as_mut_ptr(), n())),
                call!(bed, C_DecryptFinal(session, output.as_mut_ptr(), n())),
            ],
        };
        assert_eq!(codes, [CKR_ARGUMENTS_BAD; 2]);
    }
    for round in 0..3 {
        must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
        assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, rsa), CKR_OK);
        let codes = match round {
            0 => [
                call!(bed, C_Digest(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
                call!(bed, C_Sign(session, n(), 4, output.as_mut_ptr(), &raw mut length)),
            ],
            1 => [
                call!(bed, C_DigestUpdate(session, n(), 4)),
                call!(bed, C_SignUpdate(session, n(), 4)),
            ],
            _ => [
                call!(bed, C_DigestFinal(session, output.as_mut_ptr(), n())),
                call!(bed, C_SignFinal(session, output.as_mut_ptr(), n())),
            ],
        };
        assert_eq!(codes, [CKR_ARGUMENTS_BAD; 2]);
    }
    // A buffer that is too small does not end it, nor does the question for the length.
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, rsa), CKR_OK);
    length = 1;
    let code = call!(bed, C_Sign(session, data, 4, output.as_mut_ptr(), &raw mut length));
    assert_eq!(code, CKR_BUFFER_TOO_SMALL);
    must!(bed, C_Sign(session, data, 4, n(), &raw mut length));
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, rsa), CKR_OPERATION_ACTIVE);
}

#[test]
fn complete_blocks_are_sent_at_once() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let mut iv = [3u8; 16];
    let how = &mut mechanism_with(ckm::AES_CBC_PAD, &mut iv);
    let mut lengths = |key| {
        must!(bed, C_EncryptInit(session, how, key));
        [10, 10, 12, 40].map(|count| {
            let (mut room, mut length) = ([0; 48], 0);
            let part = [7; 40].as_mut_ptr();
            // A query of the length consumes no part of the message.
            must!(bed, C_EncryptUpdate(session, part, count, n(), &raw mut length));
            if length > 0 {
                let mut less = length - 1;
                let to = room.as_mut_ptr();
                let code = call!(bed, C_EncryptUpdate(session, part, count, to, &raw mut less));
                assert_eq!((code, less), (CKR_BUFFER_TOO_SMALL, length));
            }
            let to = room.as_mut_ptr();
            must!(bed, C_EncryptUpdate(session, part, count, to, &raw mut length));
            length
        })
    };
    assert_eq!(lengths(aes), [0, 16, 16, 32]);
    must!(bed, C_SessionCancel(session, CKF_ENCRYPT));

    let only: [CK_MECHANISM_TYPE; 1] = [ckm::AES_CBC_PAD.into()];
    let mut allowed = attribute(cka::ALLOWED_MECHANISMS, &only);
    must!(bed, C_SetAttributeValue(session, aes, &raw mut allowed, 1));
    assert_eq!(lengths(aes), [0, 16, 16, 32], "the mechanism stays the one that is allowed");
    must!(bed, C_SessionCancel(session, CKF_ENCRYPT));
    there_and_back(&bed, session, how, [aes; 2], [72, 80]);

    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    assert_eq!(call!(bed, C_EncryptInit(session, how, hmac)), CKR_KEY_TYPE_INCONSISTENT);
}

#[test]
fn attributes_have_lengths_and_separate_outcomes() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let (mut label, mut modulus, mut class) = ([0u8; 10], [0u8; 255], 0 as CK_ULONG);
    let mut wanted = [
        attribute(cka::LABEL, &label),
        attribute(cka::VALUE, &label),
        attribute(cka::CERTIFICATE_TYPE, &label),
        attribute(cka::MODULUS, &modulus),
        attribute(cka::CLASS, &class),
        attribute(cka::WRAP_TEMPLATE, &label),
    ];
    // The pointers that the module writes to, set again after the shared references above.
    wanted[0].pValue = label.as_mut_ptr().cast();
    wanted[3].pValue = modulus.as_mut_ptr().cast();
    wanted[4].pValue = (&raw mut class).cast();
    let code = call!(bed, C_GetAttributeValue(session, key, wanted.as_mut_ptr(), 6));
    assert!([CKR_ATTRIBUTE_SENSITIVE, CKR_ATTRIBUTE_TYPE_INVALID].contains(&code), "{code:#x}");
    let lengths = wanted.map(|attribute| attribute.ulValueLen);
    const NO: CK_ULONG = CK_UNAVAILABLE_INFORMATION;
    assert_eq!(lengths, [3, NO, NO, NO, 8, NO]);
    assert_eq!((&label[..4], class), (&b"rsa\0"[..], CK_ULONG::from(cko::PRIVATE_KEY)));
    assert_eq!(modulus, [0; 255], "too little room");

    let mut lengths = [attribute(cka::MODULUS, b""), attribute(cka::LABEL, b"")];
    lengths.iter_mut().for_each(|attribute| attribute.pValue = n());
    must!(bed, C_GetAttributeValue(session, key, lengths.as_mut_ptr(), 2));
    assert_eq!(lengths.map(|attribute| attribute.ulValueLen), [256, 3]);

    let single = |number| {
        let mut room = [0u8; 2];
        let mut wanted = attribute(number, &room);
        wanted.pValue = room.as_mut_ptr().cast();
        call!(bed, C_GetAttributeValue(session, key, &raw mut wanted, 1))
    };
    assert_eq!(single(cka::VALUE), CKR_ATTRIBUTE_SENSITIVE);
    assert_eq!(single(cka::OWNER), CKR_ATTRIBUTE_TYPE_INVALID);
    assert_eq!(single(cka::LABEL), CKR_BUFFER_TOO_SMALL);
    let mut wanted = attribute(cka::LABEL, b"");
    let code = call!(bed, C_GetAttributeValue(session, 999, &raw mut wanted, 1));
    assert_eq!(code, CKR_OBJECT_HANDLE_INVALID);
}

#[test]
fn big_integers_reach_the_daemon_without_leading_zeros() {
    let (bed, session) = TestBed::logged_in();
    let exponent = [0u8, 1, 0, 1];
    let value = [0u8, 0, 9];
    let mut given = [attribute(cka::PUBLIC_EXPONENT, &exponent), attribute(cka::VALUE, &value)];
    let mut object = 0;
    must!(bed, C_CreateObject(session, given.as_mut_ptr(), 2, &raw mut object));
    let mut wanted = [attribute(cka::PUBLIC_EXPONENT, b""), attribute(cka::VALUE, b"")];
    wanted.iter_mut().for_each(|attribute| attribute.pValue = n());
    must!(bed, C_GetAttributeValue(session, object, wanted.as_mut_ptr(), 2));
    assert_eq!(wanted.map(|attribute| attribute.ulValueLen), [3, 3]);
}

#[test]
fn all_supported_mechanisms_are_listed() {
    let bed = TestBed::initialised();
    let (mut list, mut count) = ([0; 100], 0);
    must!(bed, C_GetMechanismList(0, n(), &raw mut count));
    assert_eq!(count, OFFERED.len() as CK_ULONG);
    count -= 1;
    let code = call!(bed, C_GetMechanismList(0, list.as_mut_ptr(), &raw mut count));
    assert_eq!((code, count), (CKR_BUFFER_TOO_SMALL, OFFERED.len() as CK_ULONG));
    must!(bed, C_GetMechanismList(0, list.as_mut_ptr(), &raw mut count));
    for (number, offered) in list.iter().zip(OFFERED) {
        let mut info = CK_MECHANISM_INFO::default();
        must!(bed, C_GetMechanismInfo(0, *number, &raw mut info));
        let expected = (CK_ULONG::from(offered.number), CK_ULONG::from(offered.flags));
        // `message_ciphers.rs` has a test of the others.
        let of_messages = CKF_MESSAGE_ENCRYPT
            | CKF_MESSAGE_DECRYPT
            | CKF_MESSAGE_SIGN
            | CKF_MESSAGE_VERIFY
            | CKF_MULTI_MESSAGE;
        assert_eq!((*number, info.flags & !of_messages), expected);
    }
    let mut info = CK_MECHANISM_INFO::default();
    for unknown in [CK_ULONG::from(ckm::ECDSA) | 1 << 32, 0x4711] {
        let code = call!(bed, C_GetMechanismInfo(0, unknown, &raw mut info));
        assert_eq!(code, CKR_MECHANISM_INVALID);
    }
}

#[test]
fn objects_are_found_piece_by_piece() {
    let (bed, session) = TestBed::logged_in();
    let all = bed.find(session, &mut []);
    assert_eq!(all.len(), bed.daemon.objects());
    must!(bed, C_FindObjectsInit(session, n(), 0));
    let mut found = Vec::new();
    loop {
        let (mut some, mut count) = ([0; 3], 9);
        must!(bed, C_FindObjects(session, some.as_mut_ptr(), 3, &raw mut count));
        found.extend_from_slice(&some[..count as usize]);
        if count == 0 {
            break;
        }
    }
    assert_eq!(found, all);
    let (mut one, mut count) = (0, 0);
    let code = call!(bed, C_FindObjects(session, &raw mut one, 0, &raw mut count));
    assert_eq!((code, count), (CKR_OK, 0));
    must!(bed, C_FindObjectsFinal(session));
    must!(bed, C_Logout(session));
    assert!(bed.find(session, &mut []).len() < all.len(), "private objects are invisible");
}

#[test]
fn keys_wrap_unwrap_and_derive_others() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let (mut wrapped, mut length) = ([0; 64], 0);
    for number in [ckm::AES_KEY_WRAP, ckm::AES_KEY_WRAP_KWP] {
        let (how, to) = (&mut mechanism(number), wrapped.as_mut_ptr());
        must!(bed, C_WrapKey(session, how, aes, hmac, n(), &raw mut length));
        assert_eq!(length, 40);
        length = 39;
        let code = call!(bed, C_WrapKey(session, how, aes, hmac, to, &raw mut length));
        assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, 40));
        must!(bed, C_WrapKey(session, how, aes, hmac, to, &raw mut length));
        assert_eq!(wrapped[..length as usize], [0x3a; 40]);
    }
    let (how, to) = (&mut mechanism(ckm::AES_KEY_WRAP_KWP), wrapped.as_mut_ptr());
    let code = call!(bed, C_WrapKey(session, how, 999, hmac, to, &raw mut length));
    assert_eq!(code, CKR_WRAPPING_KEY_HANDLE_INVALID);
    let code = call!(bed, C_WrapKey(session, how, aes, 999, to, &raw mut length));
    assert_eq!(code, CKR_KEY_HANDLE_INVALID);
    let mut key = 0;
    must!(bed, C_UnwrapKey(session, how, aes, to, length, n(), 0, &raw mut key));
    let point = [4u8; 65];
    let mut ecdh = CK_ECDH1_DERIVE_PARAMS {
        kdf: 1,
        ulSharedDataLen: 0,
        pSharedData: n(),
        ulPublicDataLen: 65,
        pPublicData: point.as_ptr().cast_mut(),
    };
    let base = bed.daemon.find(cko::PRIVATE_KEY, "p256");
    let how = &mut mechanism_with(ckm::ECDH1_DERIVE, &mut ecdh);
    must!(bed, C_DeriveKey(session, how, base, n(), 0, &raw mut key));
    assert_ne!(key, 0);
}

#[test]
fn many_threads_sign_with_one_key_in_separate_sessions() {
    let (bed, _) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "p256");
    std::thread::scope(|scope| {
        for thread in 0..16u8 {
            let bed = &bed;
            scope.spawn(move || {
                let session = bed.open(false);
                for at in 0..50 {
                    let data = [thread.wrapping_mul(50).wrapping_add(at); 32];
                    assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_OK);
                    let expected = signature(ckm::ECDSA, &data, false, 64);
                    assert_eq!(bed.sign(session, &data, 64).2, expected);
                }
            });
        }
    });
}
