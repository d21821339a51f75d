//! Invalid arguments, and calls in the wrong order.

#[macro_use]
mod common;

use std::ptr::{self, null_mut as n};

use common::{TestBed, attribute, daemon, input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, cko};
use cycloid_hsm::mechanism::ckm;

#[test]
fn before_initialise_every_function_returns_not_initialized() {
    let bed = TestBed::new();
    for (function, code) in every_function!(bed, 1) {
        assert_eq!(code, CKR_CRYPTOKI_NOT_INITIALIZED, "{function}");
    }
    assert_eq!(call!(bed, C_Finalize(ptr::null_mut())), CKR_CRYPTOKI_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_CloseSession(1)), CKR_CRYPTOKI_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_CloseAllSessions(0)), CKR_CRYPTOKI_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_Logout(1)), CKR_CRYPTOKI_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_SessionCancel(1, 0)), CKR_CRYPTOKI_NOT_INITIALIZED);
}

#[test]
fn after_finalise_every_function_returns_not_initialized_and_old_sessions_stay_closed() {
    let (bed, session) = TestBed::logged_in();
    must!(bed, C_Finalize(ptr::null_mut()));
    for (function, code) in every_function!(bed, session) {
        assert_eq!(code, CKR_CRYPTOKI_NOT_INITIALIZED, "{function}");
    }
    assert_eq!(call!(bed, C_Finalize(ptr::null_mut())), CKR_CRYPTOKI_NOT_INITIALIZED);
    must!(bed, C_Initialize(ptr::null_mut()));
    assert_eq!(call!(bed, C_CloseSession(session)), CKR_SESSION_HANDLE_INVALID);
    let session = bed.open(true);
    assert_eq!(bed.state(session), CKS_RW_PUBLIC_SESSION);
}

#[test]
fn double_initialise_is_an_error() {
    let bed = TestBed::initialised();
    assert_eq!(call!(bed, C_Initialize(ptr::null_mut())), CKR_CRYPTOKI_ALREADY_INITIALIZED);
    assert_eq!(call!(bed, C_Finalize(ptr::dangling_mut())), CKR_ARGUMENTS_BAD);
    must!(bed, C_Finalize(ptr::null_mut()));
    must!(bed, C_Initialize(ptr::null_mut()));
}

#[test]
fn initialise_of_many_threads_succeeds_once() {
    let bed = TestBed::new();
    let codes: Vec<CK_RV> = std::thread::scope(|scope| {
        let initialise = || call!(bed, C_Initialize(ptr::null_mut()));
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(initialise)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == CKR_OK).count(), 1);
    let already = codes.iter().filter(|code| **code == CKR_CRYPTOKI_ALREADY_INITIALIZED);
    assert_eq!(already.count(), 15);
}

#[test]
fn initialise_takes_all_mutexes_or_none() {
    unsafe extern "C" fn create(_: *mut *mut std::ffi::c_void) -> CK_RV {
        CKR_OK
    }
    unsafe extern "C" fn other(_: *mut std::ffi::c_void) -> CK_RV {
        CKR_OK
    }
    let bed = TestBed::new();
    let initialise = |arguments: &mut CK_C_INITIALIZE_ARGS| {
        call!(bed, C_Initialize(ptr::from_mut(arguments).cast()))
    };
    let mut arguments = CK_C_INITIALIZE_ARGS {
        CreateMutex: Some(create),
        DestroyMutex: Some(other),
        LockMutex: None,
        UnlockMutex: Some(other),
        flags: CKF_OS_LOCKING_OK,
        pReserved: ptr::null_mut(),
    };
    assert_eq!(initialise(&mut arguments), CKR_ARGUMENTS_BAD);
    arguments.LockMutex = Some(other);
    arguments.pReserved = ptr::dangling_mut();
    assert_eq!(initialise(&mut arguments), CKR_ARGUMENTS_BAD);
    arguments.pReserved = ptr::null_mut();
    assert_eq!(initialise(&mut arguments), CKR_OK);
}

#[test]
fn null_pointers_are_ordinary_errors_in_every_function() {
    let (bed, session) = TestBed::logged_in();
    for (function, code) in every_function!(bed, session) {
        let expected: &[CK_RV] = match function {
            "C_GetFunctionStatus" | "C_CancelFunction" => &[CKR_FUNCTION_NOT_PARALLEL],
            // No bytes are no error.
            "C_SeedRandom" => &[CKR_OK],
            "C_DestroyObject" => &[CKR_OBJECT_HANDLE_INVALID],
            "C_FindObjectsFinal" | "C_SignUpdate" | "C_VerifyUpdate" | "C_DigestUpdate"
            | "C_Verify" | "C_VerifyFinal" | "C_DigestKey" => &[CKR_OPERATION_NOT_INITIALIZED],
            "C_MessageEncryptFinal"
            | "C_MessageDecryptFinal"
            | "C_MessageSignFinal"
            | "C_MessageVerifyFinal"
            | "C_EncryptMessageBegin"
            | "C_DecryptMessageBegin"
            | "C_SignMessageBegin"
            | "C_SignMessageNext"
            | "C_VerifyMessage"
            | "C_VerifyMessageBegin"
            | "C_VerifyMessageNext"
            | "C_VerifySignature"
            | "C_VerifySignatureUpdate"
            | "C_VerifySignatureFinal" => &[CKR_OPERATION_NOT_INITIALIZED],
            _ => &[CKR_ARGUMENTS_BAD, CKR_FUNCTION_NOT_SUPPORTED],
        };
        assert!(expected.contains(&code), "{function} gives {code:#x}");
    }
}

#[test]
fn functions_outside_the_scope_have_the_standard_s_codes() {
    let (bed, session) = TestBed::logged_in();
    for (function, code) in every_function!(bed, session) {
        let absent = function.contains("Recover")
            || function.contains("capsulate")
            || function.contains("Async")
            || function.contains("Authenticated")
            || ["C_DigestEncryptUpdate", "C_DecryptDigestUpdate"].contains(&function)
            || ["C_SignEncryptUpdate", "C_DecryptVerifyUpdate"].contains(&function);
        assert_eq!(code == CKR_FUNCTION_NOT_SUPPORTED, absent, "{function} gives {code:#x}");
    }
}

#[test]
fn null_templates_with_a_count_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let mut object = 0;
    let to = &raw mut object;
    let mut how = mechanism(ckm::AES_KEY_GEN);
    assert_eq!(call!(bed, C_CreateObject(session, n(), 3, to)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_CopyObject(session, 1, n(), 3, to)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_GetAttributeValue(session, 1, n(), 3)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_SetAttributeValue(session, 1, n(), 3)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_FindObjectsInit(session, n(), 3)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_GenerateKey(session, &raw mut how, n(), 3, to)), CKR_ARGUMENTS_BAD);
    assert_eq!(bed.daemon.asked("Create") + bed.daemon.asked("Generate"), 0);
}

#[test]
fn huge_counts_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let label = *b"rsa";
    let mut attributes = [attribute(cka::LABEL, &label)];
    let list = attributes.as_mut_ptr();
    let mut object = 0;
    let to = &raw mut object;
    let mut how = mechanism(ckm::EC_KEY_PAIR_GEN);
    for count in [1025, u32::MAX.into(), CK_ULONG::MAX / 24, CK_ULONG::MAX / 24 + 1, CK_ULONG::MAX]
    {
        let codes = [
            call!(bed, C_CreateObject(session, list, count, to)),
            call!(bed, C_CopyObject(session, 1, list, count, to)),
            call!(bed, C_GetAttributeValue(session, 1, list, count)),
            call!(bed, C_SetAttributeValue(session, 1, list, count)),
            call!(bed, C_FindObjectsInit(session, list, count)),
            call!(bed, C_GenerateKeyPair(session, &raw mut how, list, 1, list, count, to, to)),
            call!(bed, C_DeriveKey(session, &raw mut how, 1, list, count, to)),
        ];
        assert_eq!(codes, [CKR_ARGUMENTS_BAD; 7], "{count}");
    }
}

#[test]
fn huge_lengths_of_data_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let (data, _) = input(b"some");
    let mut length = 0;
    for huge in [CK_ULONG::MAX, CK_ULONG::MAX - 7, CK_ULONG::MAX / 2 + 1, 1 << 62] {
        let codes = [
            call!(bed, C_Digest(session, data, huge, n(), &raw mut length)),
            call!(bed, C_DigestUpdate(session, data, huge)),
            call!(bed, C_Sign(session, data, huge, n(), &raw mut length)),
            call!(bed, C_SignUpdate(session, data, huge)),
            call!(bed, C_Verify(session, data, huge, data, 4)),
            call!(bed, C_Verify(session, data, 4, data, huge)),
            call!(bed, C_VerifyFinal(session, data, huge)),
            call!(bed, C_Encrypt(session, data, huge, n(), &raw mut length)),
            call!(bed, C_DecryptUpdate(session, data, huge, n(), &raw mut length)),
            call!(bed, C_GenerateRandom(session, data, huge)),
        ];
        assert_eq!(codes, [CKR_ARGUMENTS_BAD; 10], "{huge}");
        assert_eq!(call!(bed, C_SetPIN(session, data, huge, data, 4)), CKR_PIN_LEN_RANGE);
        assert_eq!(call!(bed, C_Login(session, CKU_SO, data, huge)), CKR_PIN_INCORRECT);
    }
}

#[test]
fn a_huge_claimed_capacity_is_not_accessed() {
    let (bed, session) = TestBed::logged_in();
    let mut digest = [0; 32];
    let mut length = CK_ULONG::MAX;
    must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
    let to = digest.as_mut_ptr();
    must!(bed, C_Digest(session, ptr::null_mut(), 0, to, &raw mut length));
    assert_eq!((length, digest[..4].to_vec()), (32, vec![0xe3, 0xb0, 0xc4, 0x42]));
}

#[test]
fn values_with_null_pointers_and_lengths_are_refused() {
    let (bed, session) = TestBed::logged_in();
    for length in [1, 8, u32::MAX.into(), CK_ULONG::MAX] {
        let mut bad = attribute(cka::LABEL, b"");
        (bad.pValue, bad.ulValueLen) = (n(), length);
        let code = call!(bed, C_FindObjectsInit(session, &raw mut bad, 1));
        assert_eq!(code, CKR_ATTRIBUTE_VALUE_INVALID, "{length}");
        let mut object = 0;
        let code = call!(bed, C_CreateObject(session, &raw mut bad, 1, &raw mut object));
        assert_eq!(code, CKR_ATTRIBUTE_VALUE_INVALID, "{length}");
    }
}

#[test]
fn values_that_are_lists_of_attributes_and_unknown_numbers_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let inner = [attribute(cka::LABEL, b"x")];
    for number in [cka::WRAP_TEMPLATE, cka::UNWRAP_TEMPLATE, cka::DERIVE_TEMPLATE] {
        let mut outer = attribute(number, &inner);
        let code = call!(bed, C_FindObjectsInit(session, &raw mut outer, 1));
        assert_eq!(code, CKR_ATTRIBUTE_TYPE_INVALID);
    }
    let mut far = attribute(cka::LABEL, b"x");
    far.type_ = 1 << 40;
    let code = call!(bed, C_FindObjectsInit(session, &raw mut far, 1));
    assert_eq!(code, CKR_ATTRIBUTE_TYPE_INVALID);
    let mut twice = [attribute(cka::LABEL, b"x"), attribute(cka::LABEL, b"x")];
    let code = call!(bed, C_FindObjectsInit(session, twice.as_mut_ptr(), 2));
    assert_eq!(code, CKR_TEMPLATE_INCONSISTENT);
}

#[test]
fn invalid_handles_have_specific_codes() {
    let (bed, session) = TestBed::logged_in();
    for (function, code) in every_function!(bed, session + 1000) {
        let without_session = [
            "C_GetInfo",
            "C_GetSlotList",
            "C_GetSlotInfo",
            "C_GetTokenInfo",
            "C_GetMechanismList",
            "C_GetMechanismInfo",
            "C_InitToken",
            "C_OpenSession",
            "C_WaitForSlotEvent",
            "C_GetFunctionStatus",
            "C_CancelFunction",
        ];
        if !without_session.contains(&function) && code != CKR_FUNCTION_NOT_SUPPORTED {
            assert_eq!(code, CKR_SESSION_HANDLE_INVALID, "{function}");
        }
    }
    let slot = 7;
    assert_eq!(call!(bed, C_CloseAllSessions(slot)), CKR_SLOT_ID_INVALID);
    let mut info = CK_SLOT_INFO { slotDescription: [0; 64], ..unset() };
    assert_eq!(call!(bed, C_GetSlotInfo(slot, &raw mut info)), CKR_SLOT_ID_INVALID);
    for object in [0, 999, CK_ULONG::MAX] {
        assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, object), CKR_KEY_HANDLE_INVALID);
        assert_eq!(call!(bed, C_DestroyObject(session, object)), CKR_OBJECT_HANDLE_INVALID);
    }
}

fn unset() -> CK_SLOT_INFO {
    let version = CK_VERSION { major: 0, minor: 0 };
    CK_SLOT_INFO {
        slotDescription: [0; 64],
        manufacturerID: [0; 32],
        flags: 0,
        hardwareVersion: version,
        firmwareVersion: version,
    }
}

#[test]
fn operations_without_init_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let (data, count) = input(b"some");
    let mut buffer = [0; 64];
    let mut length = 64;
    let (to, left) = (buffer.as_mut_ptr(), &raw mut length);
    let mut found = 0;
    let codes = [
        call!(bed, C_Encrypt(session, data, count, to, left)),
        call!(bed, C_EncryptUpdate(session, data, count, to, left)),
        call!(bed, C_EncryptFinal(session, to, left)),
        call!(bed, C_Decrypt(session, data, count, to, left)),
        call!(bed, C_DecryptUpdate(session, data, count, to, left)),
        call!(bed, C_DecryptFinal(session, to, left)),
        call!(bed, C_Digest(session, data, count, to, left)),
        call!(bed, C_DigestUpdate(session, data, count)),
        call!(bed, C_DigestFinal(session, to, left)),
        call!(bed, C_Sign(session, data, count, to, left)),
        call!(bed, C_SignUpdate(session, data, count)),
        call!(bed, C_SignFinal(session, to, left)),
        call!(bed, C_Verify(session, data, count, data, count)),
        call!(bed, C_VerifyUpdate(session, data, count)),
        call!(bed, C_VerifyFinal(session, data, count)),
        call!(bed, C_FindObjects(session, &raw mut found, 1, left)),
        call!(bed, C_FindObjectsFinal(session)),
    ];
    assert_eq!(codes, [CKR_OPERATION_NOT_INITIALIZED; 17]);
}

#[test]
fn a_second_init_is_refused() {
    let (bed, session) = TestBed::logged_in();
    let private = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let public = bed.daemon.find(cko::PUBLIC_KEY, "rsa");
    let how = &mut mechanism(ckm::RSA_PKCS);
    let digest = &mut mechanism(ckm::SHA256);
    let mut twice = || {
        [
            call!(bed, C_SignInit(session, how, private)),
            call!(bed, C_VerifyInit(session, how, public)),
            call!(bed, C_EncryptInit(session, how, public)),
            call!(bed, C_DecryptInit(session, how, private)),
            call!(bed, C_DigestInit(session, digest)),
            call!(bed, C_FindObjectsInit(session, ptr::null_mut(), 0)),
        ]
    };
    assert_eq!(twice(), [CKR_OK; 6]);
    assert_eq!(twice(), [CKR_OPERATION_ACTIVE; 6]);
}

#[test]
fn an_init_without_mechanism_or_a_cancel_ends_the_operation() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let cancel = || call!(bed, C_SignInit(session, ptr::null_mut(), key));
    assert_eq!(cancel(), CKR_ARGUMENTS_BAD);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    assert_eq!(cancel(), CKR_OK);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    must!(bed, C_SessionCancel(session, CKF_VERIFY));
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OPERATION_ACTIVE);
    must!(bed, C_SessionCancel(session, CKF_SIGN));
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
}

#[test]
fn too_small_buffers_report_the_length_and_keep_the_operation() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, key), CKR_OK);
    let mut length = 0;
    let (data, count) = input(b"data");
    must!(bed, C_Sign(session, data, count, ptr::null_mut(), &raw mut length));
    assert_eq!(length, 256);
    for room in [0, 1, 255] {
        let (code, length, _) = bed.sign(session, b"data", room);
        assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, 256));
    }
    assert_eq!(bed.daemon.asked("Sign"), 0, "nothing is signed without room for the signature");
    let (code, length, _) = bed.sign(session, b"data", 300);
    assert_eq!((code, length), (CKR_OK, 256));
    assert_eq!(bed.sign(session, b"data", 300).0, CKR_OPERATION_NOT_INITIALIZED);

    let mut digest = [0; 31];
    let mut length = 31;
    must!(bed, C_DigestInit(session, &mut mechanism(ckm::SHA256)));
    let code = call!(bed, C_Digest(session, data, count, digest.as_mut_ptr(), &raw mut length));
    assert_eq!((code, length), (CKR_BUFFER_TOO_SMALL, 32));
    assert_eq!(call!(bed, C_DigestUpdate(session, data, count)), CKR_OK);
}

#[test]
fn parameters_of_the_wrong_length_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let rsa = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    let mut bytes = [0u8; 64];
    let cases = [
        (ckm::RSA_PKCS_PSS, 24),
        (ckm::RSA_PKCS, 0),
        (ckm::EDDSA, 24),
        (ckm::SHA256_HMAC_GENERAL, 8),
        (ckm::SHA256_HMAC, 0),
    ];
    for (number, right) in cases {
        for length in [1, 7, 16, 23, 25, 63, 1 << 16, CK_ULONG::MAX] {
            let mut how = mechanism(number);
            how.ulParameterLen = length;
            // Null, and a pointer to fewer bytes than the length says.
            let code = call!(bed, C_SignInit(session, &raw mut how, rsa));
            assert_eq!(code, CKR_MECHANISM_PARAM_INVALID, "{number:#x} {length}");
            if length <= 64 && length != right {
                how.pParameter = bytes.as_mut_ptr().cast();
                let code = call!(bed, C_SignInit(session, &raw mut how, rsa));
                assert_eq!(code, CKR_MECHANISM_PARAM_INVALID, "{number:#x} {length}");
            }
        }
    }
    for number in [ckm::AES_CBC, ckm::AES_CBC_PAD, ckm::AES_GCM] {
        for length in [0, 1, 15, 17, 39, 41, 47, 49] {
            let mut how = mechanism(number);
            how.pParameter = bytes.as_mut_ptr().cast();
            how.ulParameterLen = length;
            let code = call!(bed, C_EncryptInit(session, &raw mut how, aes));
            assert_eq!(code, CKR_MECHANISM_PARAM_INVALID, "{number:#x} {length}");
        }
    }
}

#[test]
fn pointers_inside_parameters_are_checked() {
    let (bed, session) = TestBed::logged_in();
    let rsa = bed.daemon.find(cko::PUBLIC_KEY, "rsa");
    let aes = bed.daemon.find(cko::SECRET_KEY, "aes");
    for length in [1, 12, 1 << 17, CK_ULONG::MAX] {
        let mut gcm = CK_GCM_PARAMS {
            pIv: ptr::null_mut(),
            ulIvLen: length,
            ulIvBits: 0,
            pAAD: ptr::null_mut(),
            ulAADLen: 0,
            ulTagBits: 128,
        };
        let how = &mut mechanism_with(ckm::AES_GCM, &mut gcm);
        assert_eq!(call!(bed, C_EncryptInit(session, how, aes)), CKR_MECHANISM_PARAM_INVALID);
        let mut oaep = CK_RSA_PKCS_OAEP_PARAMS {
            hashAlg: ckm::SHA256.into(),
            mgf: 2,
            source: CKZ_DATA_SPECIFIED,
            pSourceData: ptr::null_mut(),
            ulSourceDataLen: length,
        };
        let how = &mut mechanism_with(ckm::RSA_PKCS_OAEP, &mut oaep);
        assert_eq!(call!(bed, C_EncryptInit(session, how, rsa)), CKR_MECHANISM_PARAM_INVALID);
        let mut ecdh = CK_ECDH1_DERIVE_PARAMS {
            kdf: 1,
            ulSharedDataLen: 0,
            pSharedData: ptr::null_mut(),
            ulPublicDataLen: length,
            pPublicData: n(),
        };
        let how = &mut mechanism_with(ckm::ECDH1_DERIVE, &mut ecdh);
        let mut key = 0;
        let code = call!(bed, C_DeriveKey(session, how, 1, n(), 0, &raw mut key));
        assert_eq!(code, CKR_MECHANISM_PARAM_INVALID);
    }
}

#[test]
fn unsupported_and_unsuitable_mechanisms_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let rsa = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    for number in [0x3, 0x80, 0x1082 + 0x8000, u32::MAX, ckm::SHA256, ckm::SHA1_RSA_PKCS] {
        assert_eq!(bed.sign_init(session, number, rsa), CKR_MECHANISM_INVALID, "{number:#x}");
    }
    let mut far = mechanism(0);
    far.mechanism = (1 << 32) | CK_ULONG::from(ckm::RSA_PKCS);
    assert_eq!(call!(bed, C_SignInit(session, &raw mut far, rsa)), CKR_MECHANISM_INVALID);
    let digest = call!(bed, C_DigestInit(session, &mut mechanism(ckm::RSA_PKCS)));
    assert_eq!(digest, CKR_MECHANISM_INVALID);
    let mut key = 0;
    let how = &mut mechanism(ckm::RSA_PKCS);
    let generate = call!(bed, C_GenerateKey(session, how, n(), 0, &raw mut key));
    assert_eq!(generate, CKR_MECHANISM_INVALID);
}

#[test]
fn unsuitable_keys_are_refused() {
    let (bed, session) = TestBed::logged_in();
    let find = |class, label| bed.daemon.find(class, label);
    let (private, public) = (find(cko::PRIVATE_KEY, "rsa"), find(cko::PUBLIC_KEY, "rsa"));
    let aes = find(cko::SECRET_KEY, "aes");
    assert_eq!(bed.sign_init(session, ckm::ECDSA, private), CKR_KEY_TYPE_INCONSISTENT);
    assert_eq!(bed.sign_init(session, ckm::SHA256_HMAC, private), CKR_KEY_TYPE_INCONSISTENT);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, aes), CKR_KEY_TYPE_INCONSISTENT);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, public), CKR_KEY_FUNCTION_NOT_PERMITTED);
}

#[test]
fn random_bytes_without_room_are_refused() {
    let (bed, session) = TestBed::logged_in();
    assert_eq!(call!(bed, C_GenerateRandom(session, n(), 1)), CKR_ARGUMENTS_BAD);
    assert_eq!(call!(bed, C_GenerateRandom(session, n(), 0)), CKR_OK);
    let mut random = vec![0; 100_000];
    must!(bed, C_GenerateRandom(session, random.as_mut_ptr(), 99_999));
    assert!(random[..99_999].iter().all(|byte| *byte == 0xa7));
    assert_eq!(random[99_999], 0);
}

#[test]
fn messages_longer_than_a_request_are_refused_if_they_must_be_sent() {
    let (bed, session) = TestBed::logged_in();
    let long = vec![1; (1 << 20) + 1];
    let eddsa = bed.daemon.find(cko::PRIVATE_KEY, "ed25519");
    assert_eq!(bed.sign_init(session, ckm::EDDSA, eddsa), CKR_OK);
    assert_eq!(bed.sign(session, &long, 64).0, CKR_DATA_LEN_RANGE);
    // As much as a frame holds, which leaves no room for the rest of the request.
    assert_eq!(bed.sign_init(session, ckm::EDDSA, eddsa), CKR_OK);
    assert_eq!(bed.sign(session, &long[1..], 64).0, CKR_DATA_LEN_RANGE);
    assert_eq!(bed.sign_init(session, ckm::EDDSA, eddsa), CKR_OK);
    assert_eq!(bed.sign(session, b"short", 64).0, CKR_OK);
    let rsa = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::SHA256_RSA_PKCS, rsa), CKR_OK);
    assert_eq!(bed.sign(session, &long, 256).0, CKR_OK);
}

#[test]
fn a_wrong_pin_and_a_wrong_user_have_different_codes() {
    let bed = TestBed::initialised();
    let session = bed.open(true);
    assert_eq!(bed.login(session, CKU_USER, "guess"), CKR_PIN_INCORRECT);
    assert_eq!(bed.login(session, 7, daemon::USER_PIN), CKR_USER_TYPE_INVALID);
    let code = bed.login(session, CKU_CONTEXT_SPECIFIC, daemon::USER_PIN);
    assert_eq!(code, CKR_OPERATION_NOT_INITIALIZED);
    let old = input(daemon::USER_PIN.as_bytes());
    let (bad, length) = input(b"\xff\xfe\xfd\xfc");
    let code = call!(bed, C_SetPIN(session, old.0, old.1, bad, length));
    assert_eq!(code, CKR_PIN_INVALID);
    let code = call!(bed, C_SetPIN(session, old.0, old.1, bad, 3));
    assert_eq!(code, CKR_PIN_LEN_RANGE);
}
