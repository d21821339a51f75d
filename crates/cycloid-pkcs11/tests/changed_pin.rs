//! A program whose daemon ends after the PIN was changed tries the old PIN once.

#![allow(missing_docs)]

mod support;

use std::path::{Path, PathBuf};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use cycloid_hsm::daemon::{Server, Settings, initialize};
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret};
use cycloid_hsm::store::{Store, Unlocking};
use support::{LABEL, OFFICER_PIN, USER_PIN, module};

const NEW_PIN: &str = "another-pin";

fn start(url: &str, socket: &Path) -> Server {
    let store = Store::open(url).unwrap();
    store.unlock(&unlocking()).unwrap();
    let settings = Settings { socket: socket.to_owned(), ..Settings::default() };
    Server::start(store, settings).unwrap()
}

fn unlocking() -> Unlocking {
    Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }
}

/// A process can load only one module, so there is one test.
#[test]
fn an_outdated_pin_is_tried_once() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("keys.db").display());
    let store = Store::create(&url, &unlocking()).unwrap();
    initialize(&store, LABEL, OFFICER_PIN.as_bytes(), USER_PIN.as_bytes()).unwrap();
    drop(store);
    let sockets: [PathBuf; 2] = ["one", "two"].map(|name| directory.path().join(name));
    let [one, two] = sockets.each_ref().map(|socket| start(&url, socket));
    let list = format!("{},{}", sockets[0].display(), sockets[1].display());
    // SAFETY: no other thread of this process accesses the environment now.
    unsafe { std::env::set_var("CYCLOID_HSM_SOCKET", list) };
    let program = Pkcs11::new(module()).unwrap();
    program.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    let slot = program.get_slots_with_token().unwrap()[0];
    let session = program.open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();

    let client = Client::connect(&sockets[1], "another program").unwrap();
    let (old, new) = (Secret::new(USER_PIN.as_bytes()), Secret::new(NEW_PIN.as_bytes()));
    client.call(&Request::SetPin { old, new: new.clone() }).unwrap();
    one.stop();
    let outcome = session.find_objects(&[]);
    assert!(matches!(outcome, Err(Error::Pkcs11(RvError::DeviceRemoved, _))), "{outcome:?}");
    let Response::Token { info } = client.call(&Request::Token {}).unwrap() else { panic!() };
    assert_eq!(info.user_failures, 1);
    // So nobody has to wait.
    client.call(&Request::Login { role: Role::User, pin: new }).unwrap();
    drop(session);
    let session = program.open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&AuthPin::new(NEW_PIN.into()))).unwrap();
    session.find_objects(&[]).unwrap();
    two.stop();
}
