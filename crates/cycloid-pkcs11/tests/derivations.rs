//! The parameters of key derivations: which structures reach the daemon, and which are refused.

#[macro_use]
mod common;

use std::ptr::null_mut as n;

use common::{TestBed, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::cko;
use cycloid_hsm::mechanism::ckm;

const OK: CK_RV = CKR_OK;
const INVALID: CK_RV = CKR_MECHANISM_PARAM_INVALID;

#[test]
fn parameters_of_derivations_are_followed_or_refused() {
    let (bed, session) = TestBed::logged_in();
    let base = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let derive = |mut how: CK_MECHANISM| {
        let mut key = 0;
        call!(bed, C_DeriveKey(session, &raw mut how, base, n(), 0, &raw mut key))
    };
    let mut bytes = [7u8; 32];
    let pointer = bytes.as_mut_ptr();

    let mut hkdf = CK_HKDF_PARAMS {
        bExtract: 1,
        bExpand: 1,
        prfHashMechanism: CKM_SHA256,
        ulSaltType: CKF_HKDF_SALT_DATA,
        pSalt: pointer,
        ulSaltLen: 32,
        hSaltKey: 0,
        pInfo: pointer,
        ulInfoLen: 3,
    };
    assert_eq!(derive(mechanism_with(ckm::HKDF_DERIVE, &mut hkdf)), OK);
    assert_eq!(derive(mechanism_with(ckm::HKDF_DATA, &mut hkdf)), OK);
    hkdf.pInfo = n();
    assert_eq!(derive(mechanism_with(ckm::HKDF_DERIVE, &mut hkdf)), INVALID, "null with a length");
    hkdf.ulInfoLen = 0;
    assert_eq!(derive(mechanism_with(ckm::HKDF_DERIVE, &mut hkdf)), OK);
    for (salt_type, expected) in
        [(CKF_HKDF_SALT_NULL, OK), (CKF_HKDF_SALT_KEY, INVALID), (9, INVALID)]
    {
        hkdf.ulSaltType = salt_type;
        assert_eq!(derive(mechanism_with(ckm::HKDF_DERIVE, &mut hkdf)), expected, "{salt_type}");
    }

    let mut counter = CK_SP800_108_COUNTER_FORMAT { bLittleEndian: 0, ulWidthInBits: 32 };
    let mut fields = [
        CK_PRF_DATA_PARAM {
            type_: CK_SP800_108_ITERATION_VARIABLE,
            pValue: (&raw mut counter).cast(),
            ulValueLen: size_of_val(&counter) as CK_ULONG,
        },
        CK_PRF_DATA_PARAM {
            type_: CK_SP800_108_BYTE_ARRAY,
            pValue: pointer.cast(),
            ulValueLen: 32,
        },
    ];
    let mut kdf = CK_SP800_108_KDF_PARAMS {
        prfType: CKM_SHA256_HMAC,
        ulNumberOfDataParams: 2,
        pDataParams: fields.as_mut_ptr(),
        ulAdditionalDerivedKeys: 0,
        pAdditionalDerivedKeys: n(),
    };
    assert_eq!(derive(mechanism_with(ckm::SP800_108_COUNTER_KDF, &mut kdf)), OK);
    kdf.ulAdditionalDerivedKeys = 1;
    assert_eq!(derive(mechanism_with(ckm::SP800_108_COUNTER_KDF, &mut kdf)), INVALID);
    kdf.ulAdditionalDerivedKeys = 0;
    kdf.ulNumberOfDataParams = 1 << 60;
    assert_eq!(derive(mechanism_with(ckm::SP800_108_COUNTER_KDF, &mut kdf)), INVALID);
    kdf.ulNumberOfDataParams = 2;
    fields[0].ulValueLen = 1;
    kdf.pDataParams = fields.as_mut_ptr();
    assert_eq!(derive(mechanism_with(ckm::SP800_108_COUNTER_KDF, &mut kdf)), INVALID);

    // In feedback mode the iteration variable has no format.
    fields[0].ulValueLen = size_of_val(&counter) as CK_ULONG;
    let mut feedback = CK_SP800_108_FEEDBACK_KDF_PARAMS {
        prfType: CKM_SHA256_HMAC,
        ulNumberOfDataParams: 2,
        pDataParams: fields.as_mut_ptr(),
        ulIVLen: 32,
        pIV: pointer,
        ulAdditionalDerivedKeys: 0,
        pAdditionalDerivedKeys: n(),
    };
    assert_eq!(derive(mechanism_with(ckm::SP800_108_FEEDBACK_KDF, &mut feedback)), INVALID);
    fields[0].type_ = CK_SP800_108_COUNTER;
    feedback.pDataParams = fields.as_mut_ptr();
    assert_eq!(derive(mechanism_with(ckm::SP800_108_FEEDBACK_KDF, &mut feedback)), OK);
    fields[0] =
        CK_PRF_DATA_PARAM { type_: CK_SP800_108_ITERATION_VARIABLE, pValue: n(), ulValueLen: 0 };
    feedback.pDataParams = fields.as_mut_ptr();
    assert_eq!(derive(mechanism_with(ckm::SP800_108_FEEDBACK_KDF, &mut feedback)), OK);
    feedback.pIV = n();
    assert_eq!(derive(mechanism_with(ckm::SP800_108_FEEDBACK_KDF, &mut feedback)), INVALID);

    let mut data = CK_KEY_DERIVATION_STRING_DATA { pData: pointer, ulLen: 32 };
    assert_eq!(derive(mechanism_with(ckm::AES_ECB_ENCRYPT_DATA, &mut data)), OK);
    data.pData = n();
    assert_eq!(derive(mechanism_with(ckm::AES_ECB_ENCRYPT_DATA, &mut data)), INVALID);
    let mut data = CK_AES_CBC_ENCRYPT_DATA_PARAMS { iv: [1; 16], pData: pointer, length: 32 };
    assert_eq!(derive(mechanism_with(ckm::AES_CBC_ENCRYPT_DATA, &mut data)), OK);
    data.length = CK_ULONG::MAX;
    assert_eq!(derive(mechanism_with(ckm::AES_CBC_ENCRYPT_DATA, &mut data)), INVALID);
    // A structure of another mechanism.
    assert_eq!(derive(mechanism_with(ckm::HKDF_DERIVE, &mut data)), INVALID);

    // The parameter of Diffie-Hellman is the peer's value itself, which the daemon judges.
    for (value, length, expected) in [
        (pointer, 32, OK),
        (n(), 0, OK),
        (n(), 32, INVALID),
        (pointer, 1 << 60, INVALID),
        (pointer, CK_ULONG::MAX, INVALID),
    ] {
        let how = CK_MECHANISM {
            mechanism: CKM_DH_PKCS_DERIVE,
            pParameter: value.cast(),
            ulParameterLen: length,
        };
        assert_eq!(derive(how), expected, "{length}");
    }
}

#[test]
fn parameters_of_passwords_and_wrapping_are_followed_or_refused() {
    let (bed, session) = TestBed::logged_in();
    let mut bytes = *b"salt and password";
    let mut password = CK_PKCS5_PBKD2_PARAMS2 {
        saltSource: CKZ_SALT_SPECIFIED,
        pSaltSourceData: bytes.as_mut_ptr().cast(),
        ulSaltSourceDataLen: 8,
        iterations: 1000,
        prf: CKP_PKCS5_PBKD2_HMAC_SHA256,
        pPrfData: n(),
        ulPrfDataLen: 0,
        pPassword: bytes.as_mut_ptr(),
        ulPasswordLen: 17,
    };
    let generate = |mut how: CK_MECHANISM| {
        let mut key = 0;
        call!(bed, C_GenerateKey(session, &raw mut how, n(), 0, &raw mut key))
    };
    assert_eq!(generate(mechanism_with(ckm::PKCS5_PBKD2, &mut password)), OK);
    password.saltSource = 2;
    assert_eq!(generate(mechanism_with(ckm::PKCS5_PBKD2, &mut password)), INVALID);
    password.saltSource = CKZ_SALT_SPECIFIED;
    // The older structure has a pointer to the length here.
    password.ulPasswordLen = (&raw const bytes) as CK_ULONG;
    assert_eq!(generate(mechanism_with(ckm::PKCS5_PBKD2, &mut password)), INVALID);

    let [rsa, aes] = [(cko::PUBLIC_KEY, "rsa"), (cko::SECRET_KEY, "aes")]
        .map(|(class, label)| bed.daemon.find(class, label));
    let mut oaep = CK_RSA_PKCS_OAEP_PARAMS {
        hashAlg: CKM_SHA256,
        mgf: CKG_MGF1_SHA256,
        source: CKZ_DATA_SPECIFIED,
        pSourceData: n(),
        ulSourceDataLen: 0,
    };
    let mut both = CK_RSA_AES_KEY_WRAP_PARAMS { ulAESKeyBits: 256, pOAEPParams: &raw mut oaep };
    let wrap = |mut how: CK_MECHANISM| {
        let mut length = 0;
        call!(bed, C_WrapKey(session, &raw mut how, rsa, aes, n(), &raw mut length))
    };
    assert_eq!(wrap(mechanism_with(ckm::RSA_AES_KEY_WRAP, &mut both)), OK);
    both.pOAEPParams = n();
    assert_eq!(wrap(mechanism_with(ckm::RSA_AES_KEY_WRAP, &mut both)), INVALID);
}
