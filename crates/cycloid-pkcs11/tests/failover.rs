//! A program that knows two daemons on one database continues when one of them ends.

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use cycloid_hsm::daemon::Server;
use support::USER_PIN;
use support::two_daemons::TwoDaemons;

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const THREADS: usize = 4;

/// Tells all threads that one ends, even by a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A process can load only one module, so there is one test.
#[test]
fn a_program_rides_through_the_end_of_a_daemon() {
    let daemons = TwoDaemons::new();
    let mut servers: Vec<Option<Server>> =
        (0..2).map(|number| Some(daemons.start(number))).collect();
    let program = daemons.program();
    let slot = program.get_slots_with_token().unwrap()[0];
    let session = program.open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
    let stored = |label: &str| [Attribute::Token(true), Attribute::Label(label.into())];
    let public = [stored("key").as_slice(), &[Attribute::EcParams(P256.to_vec())]].concat();
    let pair = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &stored("key"));
    let (public, private) = pair.unwrap();

    let (signed, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (program, signed, done) = (&program, &signed, &done);
            scope.spawn(move || {
                let _ends_all = Ends(done);
                let session = program.open_rw_session(slot).unwrap();
                let mut count = 0_u64;
                while !done.load(Ordering::SeqCst) {
                    count += 1;
                    let mut digest = [number as u8; 32];
                    digest[..8].copy_from_slice(&count.to_le_bytes());
                    let signature = session.sign(&Mechanism::Ecdsa, private, &digest).unwrap();
                    // The answer to another request would not verify.
                    session.verify(&Mechanism::Ecdsa, public, &digest, &signature).unwrap();
                    signed.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // Each of the two ends twice, while the other one serves.
        for round in 0..4 {
            let target = signed.load(Ordering::SeqCst) + 100;
            while signed.load(Ordering::SeqCst) < target {
                assert!(!done.load(Ordering::SeqCst), "a thread has failed");
                thread::yield_now();
            }
            servers[round % 2].take().unwrap().stop();
            servers[round % 2] = Some(daemons.start(round % 2));
        }
        done.store(true, Ordering::SeqCst);
    });

    // A stored key is generated at most once, even if its daemon ends meanwhile.
    let count = |label: &str| {
        let template = [Attribute::Class(ObjectClass::SECRET_KEY), Attribute::Label(label.into())];
        session.find_objects(&template).unwrap().len()
    };
    thread::scope(|scope| {
        let ends = scope.spawn(|| servers.remove(0).unwrap().stop());
        for i in 0..50 {
            let label = format!("key {i}");
            let template = [stored(&label).as_slice(), &[Attribute::ValueLen(32.into())]].concat();
            let made = session.generate_key(&Mechanism::AesKeyGen, &template);
            let found = count(&label);
            assert!(found == usize::from(made.is_ok()) || found == 1, "{label}: {found}, {made:?}");
        }
        ends.join().unwrap();
    });
    // An object in memory ends with its daemon, and its handle names nothing else.
    let template = [Attribute::Token(false), Attribute::ValueLen(32.into())];
    let in_memory = session.generate_key(&Mechanism::AesKeyGen, &template).unwrap();
    let again = daemons.start(0);
    servers.remove(0).unwrap().stop();
    let other = session.generate_key(&Mechanism::AesKeyGen, &template).unwrap();
    assert_ne!(in_memory, other);
    session.destroy_object(in_memory).unwrap_err();
    session.destroy_object(other).unwrap();

    // So does an unfinished code over long data: it is an error, not the code of a part.
    let template = [stored("hmac").as_slice(), &[Attribute::ValueLen(32.into())]].concat();
    let hmac = session.generate_key(&Mechanism::GenericSecretKeyGen, &template).unwrap();
    let long = vec![7; 1 << 20];
    session.sign_init(&Mechanism::Sha256Hmac, hmac).unwrap();
    session.sign_update(&long).unwrap();
    let third = daemons.start(1);
    again.stop();
    let outcome = session.sign_update(&long);
    assert!(
        matches!(outcome, Err(Error::Pkcs11(RvError::FunctionFailed, _))),
        "{outcome:?} after the end of the daemon"
    );
    let code = session.sign(&Mechanism::Sha256Hmac, hmac, &long).unwrap();
    session.verify(&Mechanism::Sha256Hmac, hmac, &long, &code).unwrap();
    third.stop();
}
