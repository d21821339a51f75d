//! Encryption and decryption of messages: AES-GCM and AES-CCM with a parameter for each message.

#[macro_use]
mod common;
mod real;
mod support;

use std::collections::HashSet;
use std::ptr::{self, null_mut as n};

use common::{input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::ckk;
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use real::RealBed;

/// The parameter of a message, with the memory that it points to.
struct Parameter {
    number: u32,
    iv: Vec<u8>,
    tag: Vec<u8>,
    fixed_bits: u64,
    generator: u64,
    data_length: u64,
    gcm: CK_GCM_MESSAGE_PARAMS,
    ccm: CK_CCM_MESSAGE_PARAMS,
}

impl Parameter {
    fn new(number: u32, iv: &[u8], tag: usize, generator: u64, fixed_bits: u64) -> Self {
        Self {
            number,
            iv: iv.to_vec(),
            tag: vec![0; tag],
            fixed_bits,
            generator,
            data_length: 0,
            gcm: CK_GCM_MESSAGE_PARAMS::default(),
            ccm: CK_CCM_MESSAGE_PARAMS::default(),
        }
    }

    /// Returns the pointer and the length for C, for a message of this length.
    fn given(&mut self, data_length: usize) -> (*mut std::ffi::c_void, CK_ULONG) {
        self.data_length = data_length as u64;
        if self.number == ckm::AES_GCM {
            self.gcm = CK_GCM_MESSAGE_PARAMS {
                pIv: self.iv.as_mut_ptr(),
                ulIvLen: self.iv.len() as CK_ULONG,
                ulIvFixedBits: self.fixed_bits,
                ivGenerator: self.generator,
                pTag: self.tag.as_mut_ptr(),
                ulTagBits: 8 * self.tag.len() as CK_ULONG,
            };
            (ptr::from_mut(&mut self.gcm).cast(), size_of_val(&self.gcm) as CK_ULONG)
        } else {
            self.ccm = CK_CCM_MESSAGE_PARAMS {
                ulDataLen: self.data_length,
                pNonce: self.iv.as_mut_ptr(),
                ulNonceLen: self.iv.len() as CK_ULONG,
                ulNonceFixedBits: self.fixed_bits,
                nonceGenerator: self.generator,
                pMAC: self.tag.as_mut_ptr(),
                ulMACLen: self.tag.len() as CK_ULONG,
            };
            (ptr::from_mut(&mut self.ccm).cast(), size_of_val(&self.ccm) as CK_ULONG)
        }
    }
}

fn seal(
    bed: &RealBed,
    session: u64,
    parameter: &mut Parameter,
    associated: &[u8],
    data: &[u8],
) -> (CK_RV, Vec<u8>) {
    let (place, length) = parameter.given(data.len());
    let ((aad, aad_length), (data, count)) = (input(associated), input(data));
    let (mut made, mut made_length) = (vec![0xee; count as usize], count);
    let to = made.as_mut_ptr();
    let code = call!(
        bed,
        C_EncryptMessage(
            session,
            place,
            length,
            aad,
            aad_length,
            data,
            count,
            to,
            &raw mut made_length
        )
    );
    (code, made)
}

fn open(
    bed: &RealBed,
    session: u64,
    parameter: &mut Parameter,
    associated: &[u8],
    data: &[u8],
) -> (CK_RV, Vec<u8>) {
    let (place, length) = parameter.given(data.len());
    let ((aad, aad_length), (data, count)) = (input(associated), input(data));
    let (mut made, mut made_length) = (vec![0xee; count as usize], count);
    let to = made.as_mut_ptr();
    let code = call!(
        bed,
        C_DecryptMessage(
            session,
            place,
            length,
            aad,
            aad_length,
            data,
            count,
            to,
            &raw mut made_length
        )
    );
    (code, made)
}

/// A bed with a session and an AES key, and operations in both directions.
fn begun(number: u32) -> (RealBed, u64, u64) {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let key = bed.secret(session, ckk::AES, &[0x44; 32]);
    must!(bed, C_MessageEncryptInit(session, &mut mechanism(number), key));
    must!(bed, C_MessageDecryptInit(session, &mut mechanism(number), key));
    (bed, session, key)
}

const ENDS: CK_FLAGS = CKF_END_OF_MESSAGE;

#[test]
fn messages_are_those_of_one_call_and_of_parts() {
    for (number, iv, tag) in [
        (ckm::AES_GCM, 12, 16),
        (ckm::AES_GCM, 12, 12),
        (ckm::AES_GCM, 1, 16),
        (ckm::AES_GCM, 16, 14),
        (ckm::AES_GCM, 300, 16),
        (ckm::AES_CCM, 13, 16),
        (ckm::AES_CCM, 7, 8),
    ] {
        let (bed, session, key) = begun(number);
        for length in [0, 1, 16, 1000, 65_535] {
            let data: Vec<u8> = (0..length).map(|at| (at % 253) as u8).collect();
            let mut parameter =
                Parameter::new(number, &vec![length as u8; iv], tag, CKG_NO_GENERATE, 0);
            let (code, sealed) = seal(&bed, session, &mut parameter, b"header", &data);
            assert_eq!((code, sealed.len()), (CKR_OK, length));

            // The same by C_Encrypt.
            let mut vector = parameter.iv.clone();
            let aad = b"header".as_ptr().cast_mut();
            let mut gcm = CK_GCM_PARAMS {
                pIv: vector.as_mut_ptr(),
                ulIvLen: iv as CK_ULONG,
                ulIvBits: 96,
                pAAD: aad,
                ulAADLen: 6,
                ulTagBits: 8 * tag as CK_ULONG,
            };
            let mut ccm = CK_CCM_PARAMS {
                ulDataLen: length as CK_ULONG,
                pNonce: vector.as_mut_ptr(),
                ulNonceLen: iv as CK_ULONG,
                pAAD: aad,
                ulAADLen: 6,
                ulMACLen: tag as CK_ULONG,
            };
            let mut how = match number {
                ckm::AES_GCM => mechanism_with(number, &mut gcm),
                _ => mechanism_with(number, &mut ccm),
            };
            must!(bed, C_EncryptInit(session, &raw mut how, key));
            let (from, count) = input(&data);
            let mut whole = vec![0; length + tag];
            let mut whole_length = whole.len() as CK_ULONG;
            let to = whole.as_mut_ptr();
            must!(bed, C_Encrypt(session, from, count, to, &raw mut whole_length));
            assert_eq!([&sealed[..], &parameter.tag].concat(), whole);

            let (code, opened) = open(&bed, session, &mut parameter, b"header", &sealed);
            assert!((code, &opened) == (CKR_OK, &data));

            // In parts, in both directions: nothing is released before the end.
            let tag_before = parameter.tag.clone();
            let (place, size) = parameter.given(length);
            must!(bed, C_EncryptMessageBegin(session, place, size, aad, 6));
            must!(bed, C_DecryptMessageBegin(session, place, size, aad, 6));
            let half = length / 2;
            for encrypts in [true, false] {
                let (from, expected) = if encrypts { (&data, &sealed) } else { (&sealed, &data) };
                let mut made = vec![0xee; length];
                let mut count = length as CK_ULONG;
                let (to, left) = (made.as_mut_ptr(), &raw mut count);
                let ((first, first_count), (rest, rest_count)) =
                    (input(&from[..half]), input(&from[half..]));
                if encrypts {
                    must!(
                        bed,
                        C_EncryptMessageNext(session, n(), 0, first, first_count, to, left, 0)
                    );
                } else {
                    must!(
                        bed,
                        C_DecryptMessageNext(session, n(), 0, first, first_count, to, left, 0)
                    );
                }
                assert!(count == 0 && made == vec![0xee; length]);
                count = length as CK_ULONG;
                if encrypts {
                    must!(
                        bed,
                        C_EncryptMessageNext(
                            session, place, size, rest, rest_count, to, left, ENDS
                        )
                    );
                } else {
                    must!(
                        bed,
                        C_DecryptMessageNext(
                            session, place, size, rest, rest_count, to, left, ENDS
                        )
                    );
                }
                assert!(count as usize == length && made == *expected);
            }
            assert_eq!(parameter.tag, tag_before);
        }
        must!(bed, C_MessageEncryptFinal(session));
        must!(bed, C_MessageDecryptFinal(session));
        assert_eq!(call!(bed, C_MessageEncryptFinal(session)), CKR_OPERATION_NOT_INITIALIZED);
    }
}

#[test]
fn a_forged_message_releases_nothing_and_the_next_one_is_fine() {
    for (number, iv) in [(ckm::AES_GCM, 12), (ckm::AES_CCM, 12)] {
        let (bed, session, _) = begun(number);
        let mut parameter = Parameter::new(number, &vec![5; iv], 16, CKG_NO_GENERATE, 0);
        let (_, sealed) = seal(&bed, session, &mut parameter, b"header", b"a message");
        let sound = parameter.tag.clone();
        for forged in 0..4 {
            let mut altered = sealed.clone();
            let mut associated = b"header".to_vec();
            match forged {
                0 => altered[3] ^= 1,
                1 => associated[0] ^= 1,
                2 => parameter.tag[15] ^= 1,
                _ => parameter.iv[0] ^= 1,
            }
            let (code, opened) = open(&bed, session, &mut parameter, &associated, &altered);
            assert_eq!((code, opened), (CKR_AEAD_DECRYPT_FAILED, vec![0xee; 9]));
            (parameter.tag, parameter.iv) = (sound.clone(), vec![5; iv]);
            let (code, opened) = open(&bed, session, &mut parameter, b"header", &sealed);
            assert_eq!((code, &opened[..]), (CKR_OK, &b"a message"[..]));
        }
        // Also in parts, with the tag read at the end.
        let aad = b"header".as_ptr().cast_mut();
        let (place, size) = parameter.given(9);
        must!(bed, C_DecryptMessageBegin(session, place, size, aad, 6));
        parameter.tag[0] ^= 1;
        let (from, count) = input(&sealed);
        let (mut made, mut length) = (vec![0xee; 9], 9);
        let to = made.as_mut_ptr();
        let code = call!(
            bed,
            C_DecryptMessageNext(session, place, size, from, count, to, &raw mut length, ENDS)
        );
        assert_eq!((code, made), (CKR_AEAD_DECRYPT_FAILED, vec![0xee; 9]));
        parameter.tag[0] ^= 1;
        assert_eq!(open(&bed, session, &mut parameter, b"header", &sealed).0, CKR_OK);
    }
}

#[test]
fn generated_vectors_are_written_and_never_repeat() {
    let (bed, session, key) = begun(ckm::AES_GCM);
    for (generator, fixed_bits) in
        [(CKG_GENERATE, 0), (CKG_GENERATE_COUNTER, 32), (CKG_GENERATE_RANDOM, 0)]
    {
        let mut parameter = Parameter::new(ckm::AES_GCM, &[0xab; 12], 16, generator, fixed_bits);
        let mut seen = HashSet::new();
        for _ in 0..2 {
            must!(bed, C_MessageEncryptInit(session, n(), 0));
            must!(bed, C_MessageEncryptInit(session, &mut mechanism(ckm::AES_GCM), key));
            for _ in 0..50 {
                let (code, sealed) = seal(&bed, session, &mut parameter, b"", b"the same");
                assert_eq!(code, CKR_OK);
                assert_eq!(
                    parameter.iv[..fixed_bits as usize / 8],
                    vec![0xab; fixed_bits as usize / 8]
                );
                assert!(seen.insert(parameter.iv.clone()), "also not in another operation");
                let opened = open(&bed, session, &mut parameter, b"", &sealed);
                assert_eq!(opened, (CKR_OK, b"the same".to_vec()), "the generator is ignored");
            }
        }
    }
    // A query of the length and a buffer that is too small take no vector.
    must!(bed, C_MessageEncryptInit(session, n(), 0));
    must!(bed, C_MessageEncryptInit(session, &mut mechanism(ckm::AES_GCM), key));
    let mut parameter = Parameter::new(ckm::AES_GCM, &[0; 12], 16, CKG_GENERATE_COUNTER, 32);
    assert_eq!(seal(&bed, session, &mut parameter, b"", b"one").0, CKR_OK);
    let before = parameter.iv.clone();
    let (place, size) = parameter.given(3);
    let (data, count) = input(b"two");
    let (mut room, mut length) = ([0; 3], 0);
    must!(bed, C_EncryptMessage(session, place, size, n(), 0, data, count, n(), &raw mut length));
    assert_eq!(length, 3);
    length = 2;
    let to = room.as_mut_ptr();
    let code = call!(
        bed,
        C_EncryptMessage(session, place, size, n(), 0, data, count, to, &raw mut length)
    );
    assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, 3));
    assert_eq!(parameter.iv, before);
    assert_eq!(seal(&bed, session, &mut parameter, b"", b"two").0, CKR_OK);
    let number = |iv: &[u8]| u64::from_be_bytes(iv[4..].try_into().unwrap());
    assert_eq!(number(&parameter.iv), number(&before).wrapping_add(1));
    // Other generators and other fixed bits do not join, nor do the program's own vectors.
    for (generator, fixed_bits) in [
        (CKG_NO_GENERATE, 0),
        (CKG_GENERATE_RANDOM, 0),
        (CKG_GENERATE_COUNTER, 31),
        (CKG_GENERATE_COUNTER, 33),
        (CKG_GENERATE_COUNTER, 97),
        (CKG_GENERATE_COUNTER, u64::MAX),
        (CKG_GENERATE_COUNTER_XOR, 32),
        (99, 32),
    ] {
        let mut parameter = Parameter::new(ckm::AES_GCM, &[0; 12], 16, generator, fixed_bits);
        let code = seal(&bed, session, &mut parameter, b"", b"x").0;
        assert_eq!(code, CKR_MECHANISM_PARAM_INVALID, "{generator} {fixed_bits}");
    }
}

#[test]
fn calls_in_the_wrong_order_are_refused() {
    let (bed, session, key) = begun(ckm::AES_GCM);
    let how = &mut mechanism(ckm::AES_GCM);
    assert_eq!(call!(bed, C_MessageEncryptInit(session, how, key)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(bed, C_MessageDecryptInit(session, how, key)), CKR_OPERATION_ACTIVE);
    let mut parameter = Parameter::new(ckm::AES_GCM, &[1; 12], 16, CKG_NO_GENERATE, 0);
    let (place, size) = parameter.given(4);
    let ((data, count), mut room, mut length) = (input(b"data"), [0; 4], 4);
    let (to, left) = (room.as_mut_ptr(), &raw mut length);
    let next = |flags| {
        call!(bed, C_EncryptMessageNext(session, place, size, data, count, to, left, flags))
    };
    let begin = || call!(bed, C_EncryptMessageBegin(session, place, size, n(), 0));
    let at_once =
        || call!(bed, C_EncryptMessage(session, place, size, n(), 0, data, count, to, left));
    assert_eq!([next(0), next(ENDS)], [CKR_OPERATION_NOT_INITIALIZED; 2]);
    assert_eq!(begin(), CKR_OK);
    assert_eq!([begin(), at_once()], [CKR_OPERATION_ACTIVE; 2]);
    assert_eq!([next(2), next(CK_FLAGS::MAX)], [CKR_ARGUMENTS_BAD; 2]);
    assert_eq!(next(ENDS), CKR_OK);
    assert_eq!(next(ENDS), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(at_once(), CKR_OK);
    assert_eq!(begin(), CKR_OK);
    // The end of the operation ends the message, too.
    must!(bed, C_MessageEncryptFinal(session));
    let absent = [next(ENDS), begin(), at_once(), call!(bed, C_MessageEncryptFinal(session))];
    assert_eq!(absent, [CKR_OPERATION_NOT_INITIALIZED; 4]);
    assert_eq!(call!(bed, C_MessageEncryptInit(session, n(), 0)), CKR_ARGUMENTS_BAD);
    must!(bed, C_SessionCancel(session, CKF_MESSAGE_DECRYPT));
    assert_eq!(call!(bed, C_MessageDecryptFinal(session)), CKR_OPERATION_NOT_INITIALIZED);
    // The states of these operations stay.
    must!(bed, C_MessageEncryptInit(session, how, key));
    let code = call!(bed, C_GetOperationState(session, n(), left));
    assert_eq!(code, CKR_STATE_UNSAVEABLE);
}

#[test]
fn a_last_part_without_room_can_be_sent_again() {
    let (bed, session, _) = begun(ckm::AES_GCM);
    let mut parameter = Parameter::new(ckm::AES_GCM, &[1; 12], 16, CKG_NO_GENERATE, 0);
    let (place, size) = parameter.given(8);
    let ((data, count), mut room, mut length) = (input(b"data"), [0; 8], 8);
    let (to, left) = (room.as_mut_ptr(), &raw mut length);
    must!(bed, C_EncryptMessageBegin(session, place, size, n(), 0));
    must!(bed, C_EncryptMessageNext(session, n(), 0, data, count, to, left, 0));
    must!(bed, C_EncryptMessageNext(session, place, size, data, count, n(), left, ENDS));
    assert_eq!(length, 8);
    length = 7;
    let code = call!(bed, C_EncryptMessageNext(session, place, size, data, count, to, left, ENDS));
    assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, 8));
    must!(bed, C_EncryptMessageNext(session, place, size, data, count, to, left, ENDS));
    let opened = open(&bed, session, &mut parameter, b"", &room);
    assert_eq!(opened, (CKR_OK, b"datadata".to_vec()));
}

#[test]
fn hostile_parameters_and_pointers_are_refused() {
    let (bed, session, key) = begun(ckm::AES_GCM);
    let (data, count) = input(b"data");
    let (mut room, mut length) = ([0; 4], 4);
    let (to, left) = (room.as_mut_ptr(), &raw mut length);
    let mut parameter = Parameter::new(ckm::AES_GCM, &[1; 12], 16, CKG_NO_GENERATE, 0);
    let (place, size) = parameter.given(4);
    let encrypt = |place, size| {
        call!(bed, C_EncryptMessage(session, place, size, n(), 0, data, count, to, left))
    };
    for size in [0, 1, size - 1, size + 1, 56, CK_ULONG::MAX] {
        assert_eq!(encrypt(place, size), CKR_MECHANISM_PARAM_INVALID, "{size}");
    }
    assert_eq!(encrypt(n(), size), CKR_MECHANISM_PARAM_INVALID);
    assert_eq!(
        call!(bed, C_EncryptMessageBegin(session, n(), size, n(), 0)),
        CKR_MECHANISM_PARAM_INVALID
    );
    let mut iv = [1u8; 16];
    let mut tag = [0u8; 32];
    let sound = CK_GCM_MESSAGE_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvFixedBits: 0,
        ivGenerator: CKG_NO_GENERATE,
        pTag: tag.as_mut_ptr(),
        ulTagBits: 128,
    };
    let refused = |change: &dyn Fn(&mut CK_GCM_MESSAGE_PARAMS)| {
        let mut bad = sound;
        change(&mut bad);
        assert_eq!(encrypt(ptr::from_mut(&mut bad).cast(), size), CKR_MECHANISM_PARAM_INVALID);
    };
    refused(&|bad| bad.pIv = n());
    refused(&|bad| bad.pTag = n());
    for length in [0, 1 << 17, CK_ULONG::MAX] {
        refused(&|bad| bad.ulIvLen = length);
    }
    for bits in [0, 64, 95, 100, 127, 129, 136, CK_ULONG::MAX] {
        refused(&|bad| bad.ulTagBits = bits);
    }
    // Data and associated data.
    let bad = |aad, aad_length, data, count| {
        call!(bed, C_EncryptMessage(session, place, size, aad, aad_length, data, count, to, left))
    };
    assert_eq!(bad(n(), 1, data, count), CKR_ARGUMENTS_BAD);
    assert_eq!(bad(n(), 0, n(), 1), CKR_ARGUMENTS_BAD);
    for huge in [1 << 41, CK_ULONG::MAX] {
        assert_eq!(bad(data, huge, data, count), CKR_ARGUMENTS_BAD);
        assert_eq!(bad(n(), 0, data, huge), CKR_ARGUMENTS_BAD);
    }
    let code = call!(bed, C_EncryptMessage(session, place, size, n(), 0, data, count, to, n()));
    assert_eq!(code, CKR_ARGUMENTS_BAD);
    // Mechanisms, keys, and parameters of the beginning.
    must!(bed, C_MessageEncryptFinal(session));
    let init = |how: &mut CK_MECHANISM, key| call!(bed, C_MessageEncryptInit(session, how, key));
    for number in [ckm::AES_CBC, ckm::RSA_PKCS, ckm::SHA256, u32::MAX] {
        assert_eq!(init(&mut mechanism(number), key), CKR_MECHANISM_INVALID);
    }
    assert_eq!(init(&mut mechanism(ckm::AES_GCM), 999), CKR_KEY_HANDLE_INVALID);
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    assert_eq!(init(&mut mechanism(ckm::AES_GCM), hmac), CKR_KEY_TYPE_INCONSISTENT);
    let mut how = mechanism(ckm::AES_GCM);
    how.ulParameterLen = 47;
    assert_eq!(init(&mut how, key), CKR_MECHANISM_PARAM_INVALID);
    how.ulParameterLen = 48;
    assert_eq!(init(&mut how, key), CKR_OK, "the parameter of the beginning is not read");
}

#[test]
fn lengths_have_limits_and_ccm_states_them() {
    let (bed, session, _) = begun(ckm::AES_GCM);
    let mut parameter = Parameter::new(ckm::AES_GCM, &[1; 12], 16, CKG_NO_GENERATE, 0);
    let long = vec![0; MAX_LENGTH + 1];
    for (associated, data) in [(&b""[..], &long[..]), (&long, b""), (b"", &long[1..])] {
        let code = seal(&bed, session, &mut parameter, associated, data).0;
        assert_eq!(code, CKR_DATA_LEN_RANGE);
        assert_eq!(open(&bed, session, &mut parameter, associated, data).0, CKR_DATA_LEN_RANGE);
    }
    let (place, size) = parameter.given(0);
    let ((half, count), mut room, mut length) = (input(&long[..MAX_LENGTH / 2 + 1]), [0; 4], 4);
    let (to, left) = (room.as_mut_ptr(), &raw mut length);
    must!(bed, C_EncryptMessageBegin(session, place, size, n(), 0));
    must!(bed, C_EncryptMessageNext(session, n(), 0, half, count, to, left, 0));
    let next = || call!(bed, C_EncryptMessageNext(session, n(), 0, half, count, to, left, 0));
    assert_eq!([next(), next()], [CKR_DATA_LEN_RANGE, CKR_OPERATION_NOT_INITIALIZED]);
    drop(bed);

    let (bed, session, _) = begun(ckm::AES_CCM);
    let mut parameter = Parameter::new(ckm::AES_CCM, &[1; 12], 16, CKG_NO_GENERATE, 0);
    let (place, size) = parameter.given(5);
    let ((data, count), mut room, mut length) = (input(b"data"), [0; 4], 4);
    let (to, left) = (room.as_mut_ptr(), &raw mut length);
    let code = call!(bed, C_EncryptMessage(session, place, size, n(), 0, data, count, to, left));
    assert_eq!(code, CKR_DATA_LEN_RANGE);
    for (iv, tag) in [(6, 16), (14, 16), (12, 6), (12, 7), (12, 18)] {
        let mut parameter = Parameter::new(ckm::AES_CCM, &vec![1; iv], tag, CKG_NO_GENERATE, 0);
        let code = seal(&bed, session, &mut parameter, b"", b"data").0;
        assert_eq!(code, CKR_MECHANISM_PARAM_INVALID);
    }
}

/// Threads that use one session: each message is whole, and no generated vector comes twice.
#[test]
fn threads_share_an_operation() {
    let (bed, session, _) = begun(ckm::AES_GCM);
    let vectors: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|number: u8| {
                let bed = &bed;
                scope.spawn(move || {
                    let mut vectors = Vec::new();
                    for _ in 0..25 {
                        let mut parameter = Parameter::new(
                            ckm::AES_GCM,
                            &[number; 12],
                            16,
                            CKG_GENERATE_COUNTER,
                            0,
                        );
                        let data = vec![number; 100];
                        let (code, sealed) = seal(bed, session, &mut parameter, b"", &data);
                        assert_eq!(code, CKR_OK);
                        let opened = open(bed, session, &mut parameter, b"", &sealed);
                        assert_eq!(opened, (CKR_OK, data));
                        vectors.push(parameter.iv.clone());
                    }
                    vectors
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(vectors.iter().collect::<HashSet<_>>().len(), 100);
}

#[test]
fn the_list_of_mechanisms_says_so() {
    let (bed, _, _) = begun(ckm::AES_GCM);
    let flags = |number: u32| {
        let mut info = CK_MECHANISM_INFO::default();
        must!(bed, C_GetMechanismInfo(0, number.into(), &raw mut info));
        info.flags
    };
    let crypt = CKF_MESSAGE_ENCRYPT | CKF_MESSAGE_DECRYPT;
    let sign = CKF_MESSAGE_SIGN | CKF_MESSAGE_VERIFY;
    let all = crypt | sign | CKF_MULTI_MESSAGE;
    assert_eq!(flags(ckm::AES_GCM) & all, crypt | CKF_MULTI_MESSAGE);
    assert_eq!(flags(ckm::AES_CCM) & all, crypt | CKF_MULTI_MESSAGE);
    assert_eq!(flags(ckm::AES_CBC) & all, 0);
    assert_eq!(flags(ckm::AES_GMAC) & all, 0);
    assert_eq!(flags(ckm::SHA256) & all, 0);
    assert_eq!(flags(ckm::ECDSA_SHA256) & all, sign | CKF_MULTI_MESSAGE);
    assert_eq!(flags(ckm::SHA1_RSA_PKCS) & all, CKF_MESSAGE_VERIFY | CKF_MULTI_MESSAGE);
}
