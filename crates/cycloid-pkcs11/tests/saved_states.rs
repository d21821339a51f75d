//! Saved states of operations: those of digests.

#[macro_use]
mod common;

use std::ptr::null_mut as n;

use common::{TestBed, attribute, input, mechanism};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, ckk, cko};
use cycloid_hsm::mechanism::ckm;
use sha2::{Digest, Sha256};

const DIGESTS: [u32; 9] = [
    ckm::SHA_1,
    ckm::SHA224,
    ckm::SHA256,
    ckm::SHA384,
    ckm::SHA512,
    ckm::SHA3_224,
    ckm::SHA3_256,
    ckm::SHA3_384,
    ckm::SHA3_512,
];

fn save(bed: &TestBed, session: u64) -> Vec<u8> {
    let mut length = 0;
    must!(bed, C_GetOperationState(session, n(), &raw mut length));
    let mut state = vec![0; length as usize];
    let mut short = length - 1;
    let code = call!(bed, C_GetOperationState(session, state.as_mut_ptr(), &raw mut short));
    assert_eq!((code, short), (CKR_BUFFER_TOO_SMALL, length));
    must!(bed, C_GetOperationState(session, state.as_mut_ptr(), &raw mut length));
    assert_eq!(length as usize, state.len());
    state
}

fn restore(bed: &TestBed, session: u64, state: &[u8]) -> CK_RV {
    let (state, length) = input(state);
    call!(bed, C_SetOperationState(session, state, length, 0, 0))
}

fn update(bed: &TestBed, session: u64, part: &[u8]) {
    let (part, count) = input(part);
    must!(bed, C_DigestUpdate(session, part, count));
}

fn digest(bed: &TestBed, session: u64) -> Vec<u8> {
    let (mut digest, mut length) = (vec![0; 64], 64);
    must!(bed, C_DigestFinal(session, digest.as_mut_ptr(), &raw mut length));
    digest.truncate(length as usize);
    digest
}

#[test]
fn a_saved_digest_continues_in_another_session() {
    let bed = TestBed::initialised();
    let (session, other) = (bed.open(false), bed.open(false));
    let data: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
    for number in DIGESTS {
        for split in [0, 1, 63, 64, 65, 127, 128, 129, 136, 143, 144, 200, 1000] {
            let how = &mut mechanism(number);
            must!(bed, C_DigestInit(session, how));
            update(&bed, session, &data[..split]);
            let state = save(&bed, session);
            // The original is not disturbed.
            update(&bed, session, &data[split..]);
            let expected = digest(&bed, session);
            assert_eq!(restore(&bed, other, &state), CKR_OK);
            update(&bed, other, &data[split..]);
            assert_eq!(digest(&bed, other), expected, "{number:#x} {split}");
        }
    }
    // Without an Update, one call may still finish it.
    must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
    let state = save(&bed, session);
    assert_eq!(restore(&bed, other, &state), CKR_OK);
    let (mut made, mut length) = ([0; 32], 32);
    let (data, count) = input(b"abc");
    must!(bed, C_Digest(other, data, count, made.as_mut_ptr(), &raw mut length));
    assert_eq!(made, <[u8; 32]>::from(Sha256::digest(b"abc")));
}

#[test]
fn a_restored_state_takes_the_place_of_others() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
    update(&bed, session, b"one");
    let state = save(&bed, session);
    update(&bed, session, b"two");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    assert_eq!(restore(&bed, session, &state), CKR_OK);
    assert_eq!(digest(&bed, session), Sha256::digest(b"one")[..]);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn operations_with_keys_cannot_be_saved() {
    let (bed, session) = TestBed::logged_in();
    let mut length = 0;
    let mut refused = || call!(bed, C_GetOperationState(session, n(), &raw mut length));
    assert_eq!(refused(), CKR_OPERATION_NOT_INITIALIZED);
    let find = |class, label| bed.daemon.find(class, label);
    let (private, public) = (find(cko::PRIVATE_KEY, "rsa"), find(cko::PUBLIC_KEY, "rsa"));
    let how = &mut mechanism(ckm::RSA_PKCS);
    for flag in [CKF_SIGN, CKF_VERIFY, CKF_ENCRYPT, CKF_DECRYPT] {
        let code = match flag {
            CKF_SIGN => call!(bed, C_SignInit(session, how, private)),
            CKF_VERIFY => call!(bed, C_VerifyInit(session, how, public)),
            CKF_ENCRYPT => call!(bed, C_EncryptInit(session, how, public)),
            _ => call!(bed, C_DecryptInit(session, how, private)),
        };
        assert_eq!(code, CKR_OK);
        assert_eq!(refused(), CKR_STATE_UNSAVEABLE);
        // A digest beside it makes no difference.
        must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
        assert_eq!(refused(), CKR_STATE_UNSAVEABLE);
        must!(bed, C_SessionCancel(session, flag | CKF_DIGEST));
    }
    // The state of a digest of a key would contain the key.
    let (class, kind, no) = (CK_ULONG::from(cko::SECRET_KEY), CK_ULONG::from(ckk::AES), [0u8]);
    let mut given = [
        attribute(cka::CLASS, &class),
        attribute(cka::KEY_TYPE, &kind),
        attribute(cka::SENSITIVE, &no),
        attribute(cka::VALUE, b"sixteen bytes..."),
    ];
    let mut key = 0;
    must!(bed, C_CreateObject(session, given.as_mut_ptr(), 4, &raw mut key));
    must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
    must!(bed, C_DigestKey(session, key));
    assert_eq!(refused(), CKR_STATE_UNSAVEABLE);
    // A search is no cryptographic operation.
    must!(bed, C_SessionCancel(session, CKF_DIGEST));
    must!(bed, C_FindObjectsInit(session, n(), 0));
    assert_eq!(refused(), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn altered_states_are_refused_and_change_nothing() {
    let (bed, session) = TestBed::logged_in();
    for number in DIGESTS {
        must!(bed, C_DigestInit(session, &mut mechanism(number)));
        update(&bed, session, &[7; 100]);
        let state = save(&bed, session);
        for length in 0..state.len() {
            assert_eq!(restore(&bed, session, &state[..length]), CKR_SAVED_STATE_INVALID);
        }
        for at in 0..state.len() {
            let mut altered = state.clone();
            altered[at] ^= 0x80;
            assert_eq!(restore(&bed, session, &altered), CKR_SAVED_STATE_INVALID, "{at}");
            // With a matching check at the end, too, there is an error or another valid state.
            let end = altered.len() - 32;
            let check = Sha256::digest(&altered[..end]);
            altered[end..].copy_from_slice(&check);
            let other = bed.open(false);
            if restore(&bed, other, &altered) == CKR_OK {
                update(&bed, other, &[1; 300]);
                digest(&bed, other);
            }
            must!(bed, C_CloseSession(other));
        }
        let longer = [&state[..], &[0]].concat();
        assert_eq!(restore(&bed, session, &longer), CKR_SAVED_STATE_INVALID);
        let (given, length) = input(&state);
        for huge in [513, u32::MAX.into(), CK_ULONG::MAX] {
            let code = call!(bed, C_SetOperationState(session, given, huge, 0, 0));
            assert_eq!(code, CKR_SAVED_STATE_INVALID);
        }
        assert_eq!(call!(bed, C_SetOperationState(session, n(), 9, 0, 0)), CKR_ARGUMENTS_BAD);
        for (encryption, authentication) in [(1, 0), (0, 1)] {
            let code =
                call!(bed, C_SetOperationState(session, given, length, encryption, authentication));
            assert_eq!(code, CKR_KEY_NOT_NEEDED);
        }
        assert!(!digest(&bed, session).is_empty(), "the digest is still active");
    }
}
