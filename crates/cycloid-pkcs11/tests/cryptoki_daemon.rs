//! The module in a Rust program with the crate `cryptoki`, and a real daemon.

mod support;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use cycloid_hsm::legacy::Legacy;
use support::{TestBed, USER_PIN, module};

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];

/// The module, with the user logged in. A process can load only one, so there is one test.
struct Program {
    module: Pkcs11,
    session: Session,
}

impl Program {
    fn new(bed: &TestBed) -> Self {
        // SAFETY: no other thread of this process accesses the environment now.
        unsafe { std::env::set_var("CYCLOID_HSM_SOCKET", bed.socket()) };
        let module = Pkcs11::new(module()).unwrap();
        module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
        let slot = module.get_slots_with_token().unwrap()[0];
        let session = module.open_rw_session(slot).unwrap();
        session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
        Self { module, session }
    }

    fn pair(
        &self,
        how: &Mechanism<'_>,
        what: Attribute,
        label: &str,
    ) -> (ObjectHandle, ObjectHandle) {
        let label = Attribute::Label(label.into());
        let public = [Attribute::Token(true), label.clone(), what];
        let private = [Attribute::Token(true), label];
        self.session.generate_key_pair(how, &public, &private).unwrap()
    }

    fn secret(&self, extra: &[Attribute]) -> ObjectHandle {
        let mut template = vec![Attribute::Token(false), Attribute::ValueLen(32.into())];
        template.extend_from_slice(extra);
        self.session.generate_key(&Mechanism::AesKeyGen, &template).unwrap()
    }
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> RvError {
    match outcome {
        Err(Error::Pkcs11(code, _)) => code,
        other => panic!("it should have been refused: {other:?}"),
    }
}

#[test]
fn a_rust_program_at_work() {
    let bed = TestBed::new();
    let program = Program::new(&bed);
    pairs_sign(&program);
    secret_keys_encrypt(&program);
    keys_travel_wrapped(&bed, &program);
    both_sides_derive_the_same_secret(&program);
    threads_sign(&program);
    a_key_asks_for_the_pin_before_each_use(&program);
    weak_operations_need_permission(&bed, &program);
    drop(program);
    the_keys_are_there_afterwards(&bed);
}

fn pairs_sign(program: &Program) {
    let session = &program.session;
    let eddsa = Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure));
    for (label, how, what, mechanism) in [
        (
            "rsa",
            Mechanism::RsaPkcsKeyPairGen,
            Attribute::ModulusBits(2048.into()),
            Mechanism::Sha256RsaPkcs,
        ),
        (
            "p256",
            Mechanism::EccKeyPairGen,
            Attribute::EcParams(P256.to_vec()),
            Mechanism::EcdsaSha256,
        ),
        ("ed25519", Mechanism::EccEdwardsKeyPairGen, Attribute::EcParams(ED25519.to_vec()), eddsa),
    ] {
        let (public, private) = program.pair(&how, what, label);
        let found = session
            .find_objects(&[
                Attribute::Label(label.into()),
                Attribute::Class(ObjectClass::PRIVATE_KEY),
            ])
            .unwrap();
        assert_eq!(found, [private]);
        let signature = session.sign(&mechanism, private, b"a message").unwrap();
        session.verify(&mechanism, public, b"a message", &signature).unwrap();
        let other = session.verify(&mechanism, public, b"another", &signature);
        assert_eq!(refusal(other), RvError::SignatureInvalid);
    }
}

fn secret_keys_encrypt(program: &Program) {
    let session = &program.session;
    let key = program.secret(&[]);
    let message = [0x33; 1000];
    let (mut nonce, mut wrong) = ([9; 12], [8; 12]);
    let gcm = Mechanism::AesGcm(GcmParams::new(&mut nonce, b"header", 128.into()).unwrap());
    let sealed = session.encrypt(&gcm, key, &message).unwrap();
    assert_eq!(sealed.len(), 1016);
    assert_eq!(session.decrypt(&gcm, key, &sealed).unwrap(), message);
    let gcm = Mechanism::AesGcm(GcmParams::new(&mut wrong, b"header", 128.into()).unwrap());
    let refused = refusal(session.decrypt(&gcm, key, &sealed));
    assert_eq!(refused, RvError::EncryptedDataInvalid);
    let cbc = Mechanism::AesCbcPad([5; 16]);
    let sealed = session.encrypt(&cbc, key, &message).unwrap();
    assert_eq!(session.decrypt(&cbc, key, &sealed).unwrap(), message);
}

fn keys_travel_wrapped(bed: &TestBed, program: &Program) {
    let session = &program.session;
    let wrapping = program.secret(&[Attribute::Wrap(true), Attribute::Unwrap(true)]);
    let key = program.secret(&[Attribute::Extractable(true)]);
    let stays = program.secret(&[]);
    let refused = refusal(session.wrap_key(&Mechanism::AesKeyWrap, wrapping, stays));
    assert_eq!(refused, RvError::KeyUnextractable);

    let wrapped = session.wrap_key(&Mechanism::AesKeyWrap, wrapping, key).unwrap();
    assert_eq!(wrapped.len(), 40);
    // The crate asked for the length first, which wrapped nothing.
    assert_eq!(bed.audited("wrapped under"), 1);
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::AES),
        Attribute::Token(false),
    ];
    let again = session.unwrap_key(&Mechanism::AesKeyWrap, wrapping, &wrapped, &template).unwrap();
    // The one key decrypts what the other encrypts.
    let cbc = Mechanism::AesCbcPad([5; 16]);
    let sealed = session.encrypt(&cbc, key, b"a message").unwrap();
    assert_eq!(session.decrypt(&cbc, again, &sealed).unwrap(), b"a message");
    assert_eq!(
        session.get_attributes(again, &[AttributeType::Sensitive]).unwrap(),
        [Attribute::Sensitive(true)]
    );
    let mut altered = wrapped;
    altered[7] ^= 1;
    let refused =
        refusal(session.unwrap_key(&Mechanism::AesKeyWrap, wrapping, &altered, &template));
    assert_eq!(refused, RvError::WrappedKeyInvalid);
}

fn both_sides_derive_the_same_secret(program: &Program) {
    let session = &program.session;
    let curve = || Attribute::EcParams(P256.to_vec());
    let one = program.pair(&Mechanism::EccKeyPairGen, curve(), "one");
    let two = program.pair(&Mechanism::EccKeyPairGen, curve(), "two");
    let derived = [(one.1, two.0), (two.1, one.0)].map(|(private, public)| {
        let point = session.get_attributes(public, &[AttributeType::EcPoint]).unwrap();
        let [Attribute::EcPoint(point)] = point.as_slice() else { panic!("{point:?}") };
        let how = Ecdh1DeriveParams::new(EcKdf::sha256(b"context"), point);
        let template = [
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::ValueLen(32.into()),
            Attribute::Token(false),
        ];
        session.derive_key(&Mechanism::Ecdh1Derive(how), private, &template).unwrap()
    });
    let cbc = Mechanism::AesCbcPad([5; 16]);
    let sealed = session.encrypt(&cbc, derived[0], b"a message").unwrap();
    assert_eq!(session.decrypt(&cbc, derived[1], &sealed).unwrap(), b"a message");
}

/// Each thread has a session, and gets the signatures of its own messages with its own key.
fn threads_sign(program: &Program) {
    std::thread::scope(|scope| {
        for number in 0..12u8 {
            let module = &program.module;
            scope.spawn(move || {
                let slot = module.get_slots_with_token().unwrap()[0];
                let session = module.open_rw_session(slot).unwrap();
                let (label, mechanism) = match number % 3 {
                    0 => ("rsa", Mechanism::Sha256RsaPkcs),
                    1 => ("p256", Mechanism::EcdsaSha256),
                    _ => {
                        let pure = EddsaParams::new(EddsaSignatureScheme::Pure);
                        ("ed25519", Mechanism::Eddsa(pure))
                    }
                };
                let key = |class| {
                    let template = [Attribute::Label(label.into()), Attribute::Class(class)];
                    session.find_objects(&template).unwrap()[0]
                };
                let (private, public) =
                    (key(ObjectClass::PRIVATE_KEY), key(ObjectClass::PUBLIC_KEY));
                for count in 0..40u8 {
                    let message = [number, count];
                    let signature = session.sign(&mechanism, private, &message).unwrap();
                    session.verify(&mechanism, public, &message, &signature).unwrap();
                }
            });
        }
    });
}

/// Tests `CKA_ALWAYS_AUTHENTICATE` (PKCS #11 3.0, section 4.9).
fn a_key_asks_for_the_pin_before_each_use(program: &Program) {
    let session = &program.session;
    let pin = |pin: &str| session.login(UserType::ContextSpecific, Some(&AuthPin::new(pin.into())));
    let public = [Attribute::Token(false), Attribute::EcParams(P256.to_vec())];
    let private = [Attribute::Token(false), Attribute::AlwaysAuthenticate(true)];
    let how = Mechanism::EccKeyPairGen;
    let (public, private) = session.generate_key_pair(&how, &public, &private).unwrap();
    let mechanism = Mechanism::EcdsaSha256;
    let sign = || {
        session.sign_update(b"a message")?;
        session.sign_final()
    };
    assert_eq!(refusal(pin(USER_PIN)), RvError::OperationNotInitialized);
    for _ in 0..3 {
        session.sign_init(&mechanism, private).unwrap();
        pin(USER_PIN).unwrap();
        let signature = sign().unwrap();
        session.verify(&mechanism, public, b"a message", &signature).unwrap();
    }
    // The PIN permits the active operation only; here it is missing, or wrong.
    session.sign_init(&mechanism, private).unwrap();
    assert_eq!(refusal(sign()), RvError::UserNotLoggedIn);
    session.sign_init(&mechanism, private).unwrap();
    assert_eq!(refusal(pin("another")), RvError::PinIncorrect);
    assert_eq!(refusal(sign()), RvError::UserNotLoggedIn);
    session.sign_init(&mechanism, private).unwrap();
    pin(USER_PIN).unwrap();
    assert_eq!(refusal(pin(USER_PIN)), RvError::OperationNotInitialized);
    sign().unwrap();
    // Another session's PIN permits nothing here.
    let other = program.module.open_rw_session(program.module.get_slots_with_token().unwrap()[0]);
    let other = other.unwrap();
    other.sign_init(&mechanism, private).unwrap();
    other.login(UserType::ContextSpecific, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
    session.sign_init(&mechanism, private).unwrap();
    assert_eq!(refusal(sign()), RvError::UserNotLoggedIn);
    other.sign_update(b"a message").unwrap();
    other.sign_final().unwrap();
    // An operation with an ordinary key continues.
    let [rsa] = session
        .find_objects(&[Attribute::Label("rsa".into()), Attribute::Class(ObjectClass::PRIVATE_KEY)])
        .unwrap()[..]
    else {
        panic!("one key")
    };
    session.sign_init(&Mechanism::Sha256RsaPkcs, rsa).unwrap();
    assert_eq!(refusal(pin(USER_PIN)), RvError::OperationNotInitialized);
    sign().unwrap();
}

/// Token objects stay; session objects ended with their session.
fn the_keys_are_there_afterwards(bed: &TestBed) {
    assert_eq!(bed.private_keys(), 5);
    assert_eq!(bed.count(cycloid_hsm::attribute::cko::SECRET_KEY), 0);
}

/// What C_GetMechanismList and C_GetMechanismInfo say, and what C_SignInit and its like refuse.
fn weak_operations_need_permission(bed: &TestBed, program: &Program) {
    let Program { module, session } = program;
    let slot = module.get_slots_with_token().unwrap()[0];
    let pair = |bits: u64| {
        let public = [Attribute::Token(false), Attribute::ModulusBits(bits.into())];
        session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &[])
    };
    let (public, private) = pair(2048).unwrap();
    let (hash_alg, mgf) = (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1);
    let pss = Mechanism::RsaPkcsPss(PkcsPssParams { hash_alg, mgf, s_len: 20.into() });
    let state = || {
        let listed = module.get_mechanism_list(slot).unwrap();
        let least = module.get_mechanism_info(slot, MechanismType::RSA_PKCS_PSS).unwrap();
        let sha1 = module.get_mechanism_info(slot, MechanismType::SHA1_RSA_PKCS).unwrap();
        (listed.contains(&MechanismType::RSA_X_509), least.min_key_size(), sha1.sign())
    };
    assert_eq!(state(), (false, 2048, false));
    let unknown = module.get_mechanism_info(slot, MechanismType::RSA_X_509);
    assert_eq!(refusal(unknown), RvError::MechanismInvalid);
    for how in [Mechanism::RsaX509, Mechanism::Sha1RsaPkcs] {
        assert_eq!(refusal(session.sign_init(&how, private)), RvError::MechanismInvalid);
    }
    assert_eq!(refusal(session.sign_init(&pss, private)), RvError::MechanismParamInvalid);
    assert_eq!(
        refusal(session.decrypt_init(&Mechanism::RsaX509, private)),
        RvError::MechanismInvalid
    );
    assert_eq!(refusal(pair(1024)), RvError::KeySizeRange);

    Legacy::ALL.into_iter().for_each(|weak| bed.allow(weak));
    assert_eq!(state(), (true, 1024, true));
    for how in [Mechanism::Sha1RsaPkcs, pss] {
        let data = [7; 20];
        let made = session.sign(&how, private, &data).unwrap();
        session.verify(&how, public, &data, &made).unwrap();
    }
    let number = [&[0; 252][..], b"data"].concat();
    let made = session.encrypt(&Mechanism::RsaX509, public, b"data").unwrap();
    assert_eq!(session.decrypt(&Mechanism::RsaX509, private, &made).unwrap(), number);
    let made = session.sign(&Mechanism::RsaX509, private, b"data").unwrap();
    session.verify(&Mechanism::RsaX509, public, b"data", &made).unwrap();
    let (_, private) = pair(1024).unwrap();
    let made = session.sign(&Mechanism::Sha256RsaPkcs, private, b"data").unwrap();
    assert_eq!(made.len(), 128);
}
