//! A program whose daemon ends after the PIN was changed tries the old PIN once.

#![allow(missing_docs)]

mod support;

use cryptoki::error::{Error, RvError};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret};
use support::USER_PIN;
use support::two_daemons::TwoDaemons;

const NEW_PIN: &str = "another-pin";

/// A process can load only one module, so there is one test.
#[test]
fn an_outdated_pin_is_tried_once() {
    let daemons = TwoDaemons::new();
    let [one, two] = [0, 1].map(|number| daemons.start(number));
    let program = daemons.program();
    let slot = program.get_slots_with_token().unwrap()[0];
    let session = program.open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();

    let client = Client::connect(&daemons.sockets[1], "another program").unwrap();
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
