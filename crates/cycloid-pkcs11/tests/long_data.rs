//! Data longer than a message of the protocol, and keys as data.

#[macro_use]
mod common;

use std::ptr::null_mut as n;

use common::{TestBed, attribute, input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, ckk, cko};
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use sha2::{Digest, Sha256};

/// Encrypts or decrypts in one call.
fn cipher(
    bed: &TestBed,
    session: u64,
    encrypt: bool,
    how: &mut CK_MECHANISM,
    key: u64,
    data: &[u8],
) -> (CK_RV, Vec<u8>) {
    let (from, count) = input(data);
    let mut made = vec![0; data.len() + 16];
    let (room, mut length) = (made.as_mut_ptr(), made.len() as CK_ULONG);
    let code = if encrypt {
        must!(bed, C_EncryptInit(session, how, key));
        call!(bed, C_Encrypt(session, from, count, room, &raw mut length))
    } else {
        must!(bed, C_DecryptInit(session, how, key));
        call!(bed, C_Decrypt(session, from, count, room, &raw mut length))
    };
    made.truncate(length as usize);
    (code, made)
}

/// Encrypts or decrypts in parts.
fn in_parts(
    bed: &TestBed,
    session: u64,
    encrypt: bool,
    how: &mut CK_MECHANISM,
    key: u64,
    data: &[u8],
) -> Vec<u8> {
    match encrypt {
        true => must!(bed, C_EncryptInit(session, how, key)),
        false => must!(bed, C_DecryptInit(session, how, key)),
    }
    let mut all = Vec::new();
    let mut room = vec![0; data.len() + 16];
    for part in data.chunks(MAX_LENGTH + 4321) {
        let ((part, count), to) = (input(part), room.as_mut_ptr());
        let mut length = room.len() as CK_ULONG;
        match encrypt {
            true => must!(bed, C_EncryptUpdate(session, part, count, to, &raw mut length)),
            false => must!(bed, C_DecryptUpdate(session, part, count, to, &raw mut length)),
        }
        all.extend_from_slice(&room[..length as usize]);
    }
    let mut length = room.len() as CK_ULONG;
    match encrypt {
        true => must!(bed, C_EncryptFinal(session, room.as_mut_ptr(), &raw mut length)),
        false => must!(bed, C_DecryptFinal(session, room.as_mut_ptr(), &raw mut length)),
    }
    all.extend_from_slice(&room[..length as usize]);
    all
}

#[test]
fn data_of_several_messages_has_the_output_of_one() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let only: [CK_MECHANISM_TYPE; 1] = [ckm::AES_CBC_PAD.into()];
    let mut allowed = attribute(cka::ALLOWED_MECHANISMS, &only);
    must!(bed, C_SetAttributeValue(session, aes, &raw mut allowed, 1));
    let mut iv = [3u8; 16];
    let how = &mut mechanism_with(ckm::AES_CBC_PAD, &mut iv);
    for length in [MAX_LENGTH / 2, MAX_LENGTH, 3 * MAX_LENGTH + 7, 3 * MAX_LENGTH] {
        let plain: Vec<u8> = (0..length).map(|at| (at * 7 + at / 251) as u8).collect();
        let (code, sealed) = cipher(&bed, session, true, how, aes, &plain);
        assert_eq!((code, sealed.len()), (CKR_OK, length / 16 * 16 + 16));
        // The fake cipher, computed whole.
        let mut expected = plain.clone();
        expected.resize(sealed.len(), (sealed.len() - length) as u8);
        let mut chain = iv;
        for (at, byte) in expected.iter_mut().enumerate() {
            *byte ^= 0x5a ^ chain[at % 16];
            chain[at % 16] = *byte;
        }
        assert!(sealed == expected, "{length}");
        assert!(cipher(&bed, session, false, how, aes, &sealed) == (CKR_OK, plain.clone()));
        assert!(in_parts(&bed, session, true, how, aes, &plain) == sealed, "{length} in parts");
        assert!(in_parts(&bed, session, false, how, aes, &sealed) == plain, "{length} in parts");
    }
    // Too little room leaves the operation as it was.
    let sealed = cipher(&bed, session, true, how, aes, &vec![1; 2 * MAX_LENGTH]).1;
    let mut room = vec![0; sealed.len()];
    let (from, count) = input(&sealed);
    must!(bed, C_DecryptInit(session, how, aes));
    let mut length = 5;
    let code = call!(bed, C_Decrypt(session, from, count, room.as_mut_ptr(), &raw mut length));
    assert_eq!((code, length as usize), (CKR_BUFFER_TOO_SMALL, 2 * MAX_LENGTH));
    must!(bed, C_Decrypt(session, from, count, room.as_mut_ptr(), &raw mut length));
    assert!(room[..length as usize] == vec![1; 2 * MAX_LENGTH]);
}

#[test]
fn a_counter_block_never_repeats() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let mut counter = CK_AES_CTR_PARAMS { ulCounterBits: 2, cb: [0; 16] };
    let how = &mut mechanism_with(ckm::AES_CTR, &mut counter);
    assert_eq!(cipher(&bed, session, true, how, aes, &[0; 64]).0, CKR_OK);
    assert_eq!(cipher(&bed, session, true, how, aes, &[0; 65]).0, CKR_DATA_LEN_RANGE);
    must!(bed, C_EncryptInit(session, how, aes));
    let (mut room, mut length) = ([0; 64], 64);
    let (part, to) = ([0; 48].as_mut_ptr(), room.as_mut_ptr());
    must!(bed, C_EncryptUpdate(session, part, 48, to, &raw mut length));
    assert_eq!(length, 48);
    let code = call!(bed, C_EncryptUpdate(session, part, 32, to, &raw mut length));
    assert_eq!(code, CKR_DATA_LEN_RANGE);
    counter.ulCounterBits = 129;
    let how = &mut mechanism_with(ckm::AES_CTR, &mut counter);
    assert_eq!(call!(bed, C_EncryptInit(session, how, aes)), CKR_MECHANISM_PARAM_INVALID);
}

#[test]
fn an_authenticated_cipher_states_its_limit() {
    let (bed, session) = TestBed::logged_in();
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let mut iv = [3u8; 12];
    let mut gcm = CK_GCM_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvBits: 96,
        pAAD: n(),
        ulAADLen: 0,
        ulTagBits: 128,
    };
    let how = &mut mechanism_with(ckm::AES_GCM, &mut gcm);
    let long = vec![0; MAX_LENGTH + 1];
    assert_eq!(cipher(&bed, session, true, how, aes, &long).0, CKR_DATA_LEN_RANGE);
}

#[test]
fn only_a_readable_secret_key_is_digested() {
    let (bed, session) = TestBed::logged_in();
    let class = CK_ULONG::from(cko::SECRET_KEY);
    let kind = CK_ULONG::from(ckk::AES);
    let make = |sensitive: u8| {
        let sensitive = [sensitive];
        let mut given = [
            attribute(cka::CLASS, &class),
            attribute(cka::KEY_TYPE, &kind),
            attribute(cka::SENSITIVE, &sensitive),
            attribute(cka::VALUE, b"sixteen bytes..."),
        ];
        let mut object = 0;
        must!(bed, C_CreateObject(session, given.as_mut_ptr(), 4, &raw mut object));
        object
    };
    let (readable, sensitive) = (make(0), make(1));
    let digest = |key| {
        must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
        let (data, count) = input(b"before ");
        must!(bed, C_DigestUpdate(session, data, count));
        let code = call!(bed, C_DigestKey(session, key));
        let (mut digest, mut length) = ([0; 32], 32);
        must!(bed, C_DigestFinal(session, digest.as_mut_ptr(), &raw mut length));
        (code, digest)
    };
    let expected: [u8; 32] = Sha256::digest(b"before sixteen bytes...").into();
    assert_eq!(digest(readable), (CKR_OK, expected));
    let without: [u8; 32] = Sha256::digest(b"before ").into();
    assert_eq!(digest(sensitive), (CKR_KEY_INDIGESTIBLE, without));
    let private = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(digest(private), (CKR_KEY_INDIGESTIBLE, without));
    assert_eq!(digest(999), (CKR_KEY_HANDLE_INVALID, without));
    assert_eq!(call!(bed, C_DigestKey(session, readable)), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn a_seed_is_given_to_the_system() {
    let bed = TestBed::initialised();
    let session = bed.open(false);
    let (seed, length) = input(b"a seed");
    must!(bed, C_SeedRandom(session, seed, length));
    assert_eq!(call!(bed, C_SeedRandom(session, n(), 6)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_SeedRandom(999, seed, length)), CKR_SESSION_HANDLE_INVALID);
}
