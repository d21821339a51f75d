//! The memory of objects that live with their program (`CKA_TOKEN` false) has limits.

mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::{Client, Request, Response};
use support::*;

/// The maximum of an application, and of a user, in bytes.
const OF_PROGRAM: usize = 32 << 20;
const OF_USER: usize = 128 << 20;

/// A value of this length is the longest.
const LONG: usize = 64 << 10;

fn data(token: bool) -> Template {
    let mut template = truths(&[(cka::TOKEN, token), (cka::PRIVATE, false)]);
    template.set_number(cka::CLASS, cko::DATA.into());
    template.set(cka::VALUE, vec![7; LONG]);
    template.set(cka::APPLICATION, vec![b'a'; LONG]);
    template
}

fn create(client: &Client, template: &Template) -> cycloid_hsm::Result<u64> {
    object(client.call(&Request::Create { template: template.clone() }))
}

/// Creates objects until the daemon refuses one.
fn fill(client: &Client) -> Vec<u64> {
    let mut objects = Vec::new();
    loop {
        match create(client, &data(false)) {
            Ok(object) => objects.push(object),
            Err(error) => {
                assert_eq!(error.code, Code::DEVICE_MEMORY);
                return objects;
            }
        }
    }
}

#[test]
fn a_program_reaches_its_limit_and_recovers() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let objects = fill(&client);
    let most = OF_PROGRAM / (2 * LONG);
    assert!((most - 8..=most).contains(&objects.len()), "{}", objects.len());
    let mut smaller = data(false);
    smaller.set(cka::APPLICATION, "");
    smaller.set(cka::VALUE, vec![7; LONG / 4]);
    while create(&client, &smaller).is_ok() {}
    // Small ones still fit, and stored ones take none of this memory.
    let mut small = data(false);
    small.set(cka::APPLICATION, "");
    small.set(cka::VALUE, "");
    let small = create(&client, &small).unwrap();
    let stored = create(&client, &data(true)).unwrap();
    // No object grows beyond the limit, nor is it copied or made in another way.
    let mut larger = Template::new();
    larger.set(cka::LABEL, vec![b'l'; LONG]);
    let grow = |object| {
        client.call(&Request::SetAttributes { object, template: larger.clone() }).map(drop)
    };
    assert_eq!(code(grow(objects[0])), Code::DEVICE_MEMORY);
    let template = truths(&[(cka::TOKEN, false)]);
    let copy = |object| client.call(&Request::Copy { object, template: template.clone() });
    assert_eq!(code(copy(objects[0])), Code::DEVICE_MEMORY);
    assert_eq!(code(copy(stored)), Code::DEVICE_MEMORY);
    // The refusals have changed nothing.
    let numbers = vec![cka::VALUE];
    let Ok(Response::Attributes { values }) =
        client.call(&Request::Attributes { object: objects[0], numbers })
    else {
        panic!("it is still there");
    };
    assert_eq!(values[0].value.0, vec![7; LONG]);

    // A destroyed object makes room, for growth or for another one.
    client.call(&Request::Destroy { object: objects[0] }).unwrap();
    grow(small).unwrap();
    assert_eq!(code(create(&client, &data(false))), Code::DEVICE_MEMORY);
    client.call(&Request::Destroy { object: small }).unwrap();
    create(&client, &data(false)).unwrap();
    assert_eq!(code(create(&client, &data(false))), Code::DEVICE_MEMORY);
}

#[test]
fn a_user_with_many_programs_has_a_limit_too() {
    let daemon = Daemon::start();
    let mut clients: Vec<Client> = (0..5).map(|_| daemon.user()).collect();
    let filled: Vec<usize> = clients.iter().map(|client| fill(client).len()).collect();
    assert_eq!(filled[..4], [filled[0]; 4]);
    assert!(filled[4] <= OF_USER / (2 * LONG) - 4 * filled[0], "{filled:?}");
    // A program that ends gives all of it back.
    let gone = clients.remove(0);
    drop(gone);
    let last = clients.pop().expect("there are four");
    // The daemon notices the end of a connection on its own time; each question is another chance.
    let mut more = 0;
    while more < filled[0] - filled[4] {
        match create(&last, &data(false)) {
            Ok(_) => more += 1,
            Err(error) => assert_eq!(error.code, Code::DEVICE_MEMORY),
        }
    }
    assert_eq!(code(create(&last, &data(false))), Code::DEVICE_MEMORY);
}

#[test]
fn a_logout_frees_what_only_the_user_sees() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut template = data(false);
    template.set_bool(cka::PRIVATE, true);
    while create(&client, &template).is_ok() {}
    assert_eq!(code(create(&client, &data(false))), Code::DEVICE_MEMORY);
    client.call(&Request::Logout {}).unwrap();
    assert!(fill(&client).len() > 200);
}

#[test]
fn keys_count_with_their_prepared_form() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut count = 0;
    let mechanism = mechanism(ckm::EC_KEY_PAIR_GEN);
    let outcome = loop {
        let mut public = truths(&[(cka::TOKEN, false)]);
        public.set(cka::EC_PARAMS, [6, 5, 0x2b, 0x81, 4, 0, 0x23]);
        let private = truths(&[(cka::TOKEN, false)]);
        let request = Request::GeneratePair { mechanism: mechanism.clone(), public, private };
        match client.call(&request) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(outcome.code, Code::DEVICE_MEMORY);
    // A key on P-521 may have a table of 61 KiB.
    assert!((300..OF_PROGRAM / (61 << 10)).contains(&count), "{count}");
}
