//! A program that knows two daemons on one database continues when one of them ends.

mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use cycloid_hsm::daemon::{Server, Settings, initialize};
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::{Store, Unlocking};
use support::{LABEL, OFFICER_PIN, USER_PIN, module};

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const THREADS: usize = 4;

fn unlocking() -> Unlocking {
    Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }
}

fn start(url: &str, socket: &Path) -> Server {
    let store = Store::open(url).unwrap();
    store.unlock(&unlocking()).unwrap();
    let settings = Settings { socket: socket.to_owned(), ..Settings::default() };
    Server::start(store, settings).unwrap()
}

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
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("keys.db").display());
    let store = Store::create(&url, &unlocking()).unwrap();
    initialize(&store, LABEL, OFFICER_PIN.as_bytes(), USER_PIN.as_bytes()).unwrap();
    drop(store);
    let sockets: [PathBuf; 2] = ["one", "two"].map(|name| directory.path().join(name));
    let mut servers: Vec<Option<Server>> =
        sockets.iter().map(|socket| Some(start(&url, socket))).collect();
    let list = format!("{},{}", sockets[0].display(), sockets[1].display());
    // SAFETY: no other thread of this process accesses the environment now.
    unsafe { std::env::set_var("CYCLOID_HSM_SOCKET", list) };
    let program = Pkcs11::new(module()).unwrap();
    program.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
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
            servers[round % 2] = Some(start(&url, &sockets[round % 2]));
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
    let again = start(&url, &sockets[0]);
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
    let third = start(&url, &sockets[1]);
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
