//! The module in a Rust program, through the crate `cryptoki`.

mod common;

use common::daemon::{USER_PIN, signature};
use common::{TestBed, path};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, ObjectClass};
use cryptoki::session::{SessionState, UserType};
use cryptoki::types::AuthPin;
use cycloid_hsm::mechanism::ckm;
use sha2::{Digest, Sha256};

#[test]
fn a_rust_program_finds_its_token_and_signs() {
    // Only for its daemon, and to run alone.
    let bed = TestBed::new();
    let module = Pkcs11::new(path()).unwrap();
    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    let info = module.get_library_info().unwrap();
    assert_eq!((info.cryptoki_version().major(), info.manufacturer_id()), (3, "Cycloid"));

    let slots = module.get_slots_with_token().unwrap();
    assert_eq!(slots, module.get_all_slots().unwrap());
    let slot = slots[0];
    let token = module.get_token_info(slot).unwrap();
    assert_eq!((token.label(), token.serial_number()), ("a token", "0123456789abcdef"));
    assert!(token.login_required() && token.rng() && token.token_initialized());
    assert!(token.user_pin_initialized() && token.user_pin_count_low());
    let mechanisms = module.get_mechanism_list(slot).unwrap();
    for offered in [MechanismType::RSA_PKCS, MechanismType::EDDSA, MechanismType::AES_GCM] {
        assert!(mechanisms.contains(&offered), "{offered}");
    }
    let info = module.get_mechanism_info(slot, MechanismType::SHA256_RSA_PKCS).unwrap();
    assert!(info.sign() && info.verify() && !info.encrypt());
    assert_eq!((info.min_key_size(), info.max_key_size()), (2048, 4096));

    let session = module.open_rw_session(slot).unwrap();
    let wrong = session.login(UserType::User, Some(&AuthPin::new("wrong".into())));
    assert!(matches!(wrong, Err(Error::Pkcs11(RvError::PinIncorrect, _))));
    session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
    assert_eq!(session.get_session_info().unwrap().session_state(), SessionState::RwUser);

    let key = |label: &str, class| {
        let found = session
            .find_objects(&[Attribute::Class(class), Attribute::Label(label.as_bytes().to_vec())]);
        found.unwrap()[0]
    };
    let (private, public) =
        (key("rsa", ObjectClass::PRIVATE_KEY), key("rsa", ObjectClass::PUBLIC_KEY));
    let digest = Sha256::digest(b"a message");
    let made = session.sign(&Mechanism::Sha256RsaPkcs, private, b"a message").unwrap();
    assert_eq!(made, signature(ckm::SHA256_RSA_PKCS, &digest, true, 256));
    session.verify(&Mechanism::Sha256RsaPkcs, public, b"a message", &made).unwrap();
    let pss = PkcsPssParams {
        hash_alg: MechanismType::SHA256,
        mgf: PkcsMgfType::MGF1_SHA256,
        s_len: 32.into(),
    };
    let made = session.sign(&Mechanism::Sha256RsaPkcsPss(pss), private, b"a message").unwrap();
    assert_eq!(made, signature(ckm::SHA256_RSA_PKCS_PSS, &digest, true, 256));
    let eddsa = Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure));
    let made = session.sign(&eddsa, key("ed25519", ObjectClass::PRIVATE_KEY), b"a").unwrap();
    assert_eq!(made, signature(ckm::EDDSA, b"a", false, 64));

    let attributes = [AttributeType::Modulus, AttributeType::Label, AttributeType::Sensitive];
    let values = session.get_attributes(private, &attributes).unwrap();
    assert!(values.contains(&Attribute::Modulus(vec![0xc1; 256])), "{values:?}");
    assert!(values.contains(&Attribute::Sensitive(true)), "{values:?}");

    let curve = Attribute::EcParams(common::daemon::P256.to_vec());
    let template = [Attribute::Token(false), curve, Attribute::Verify(true)];
    let (_, private) = session
        .generate_key_pair(&Mechanism::EccKeyPairGen, &template, &[Attribute::Token(false)])
        .unwrap();
    session.destroy_object(private).unwrap();
    assert_eq!(session.generate_random_vec(33).unwrap(), [0xa7; 33]);
    drop(session);
    drop(module);
    drop(bed);
}

#[test]
fn all_versions_of_the_interface_exist() {
    use cryptoki_sys::*;
    // SAFETY: the module's functions have the standard's signatures.
    unsafe {
        let library = libloading::Library::new(path()).unwrap();
        type GetInterface = unsafe extern "C" fn(
            *mut u8,
            *mut CK_VERSION,
            *mut *mut CK_INTERFACE,
            CK_FLAGS,
        ) -> CK_RV;
        type GetList = unsafe extern "C" fn(*mut CK_INTERFACE, *mut CK_ULONG) -> CK_RV;
        type GetFunctions = unsafe extern "C" fn(*mut *mut CK_FUNCTION_LIST) -> CK_RV;
        let get = library.get::<GetInterface>("C_GetInterface").unwrap();
        let list = library.get::<GetList>("C_GetInterfaceList").unwrap();
        let functions = library.get::<GetFunctions>("C_GetFunctionList").unwrap();
        let null = std::ptr::null_mut;

        let mut old = null();
        assert_eq!(functions(&raw mut old), CKR_OK);
        assert_eq!(((*old).version.major, (*old).version.minor), (2, 40));
        assert_eq!(functions(std::ptr::null_mut()), CKR_ARGUMENTS_BAD);

        let mut count = 0;
        assert_eq!(list(std::ptr::null_mut(), &raw mut count), CKR_OK);
        assert_eq!(count, 3);
        let mut all: [CK_INTERFACE; 3] = std::mem::zeroed();
        assert_eq!(list(all.as_mut_ptr(), &raw mut count), CKR_OK);
        assert!(std::ptr::eq(all[2].pFunctionList.cast(), old));
        // Every function is there, and those of older versions are the same ones at the same place.
        for (interface, functions) in all.iter().zip([104, 92, 68]) {
            for at in 1..=functions {
                let [place, latest] = [interface, &all[0]]
                    .map(|interface| interface.pFunctionList.cast::<usize>().add(at).read());
                assert!(place != 0 && place == latest, "function {at} of {functions}");
            }
        }
        count = 2;
        assert_eq!(list(all.as_mut_ptr(), &raw mut count), CKR_BUFFER_TOO_SMALL);

        let name = |text: &'static [u8]| text.as_ptr().cast_mut();
        let mut found = std::ptr::null_mut();
        for (major, minor, expected) in [
            (3, 2, CKR_OK),
            (3, 0, CKR_OK),
            (2, 40, CKR_OK),
            (3, 1, CKR_ARGUMENTS_BAD),
            (2, 20, CKR_ARGUMENTS_BAD),
        ] {
            let mut version = CK_VERSION { major, minor };
            let code = get(name(b"PKCS 11\0"), &raw mut version, &raw mut found, 0);
            assert_eq!(code, expected);
            if code == CKR_OK {
                let list = (*found).pFunctionList.cast::<CK_VERSION>();
                assert_eq!(((*list).major, (*list).minor), (major, minor));
            }
        }
        for wrong in [&b"PKCS 1\0"[..], b"PKCS 111\0", b"\0", b"Vendor\0"] {
            let code = get(name(wrong), std::ptr::null_mut(), &raw mut found, 0);
            assert_eq!(code, CKR_ARGUMENTS_BAD);
        }
        let code = get(
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut found,
            CKF_INTERFACE_FORK_SAFE,
        );
        assert_eq!(code, CKR_ARGUMENTS_BAD);
    }
}
