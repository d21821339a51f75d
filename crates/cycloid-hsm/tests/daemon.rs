//! A daemon and its clients, over the socket.

mod support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{cka, cko};
use cycloid_hsm::mechanism::{Parameter, ckg, ckm};
use cycloid_hsm::rpc::{self, Bytes, Client, Mechanism, Request, Response, Role, Secret, frame};
use support::*;

#[test]
fn every_kind_of_key_signs_and_its_public_key_verifies() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let pss = Mechanism {
        number: ckm::SHA256_RSA_PKCS_PSS,
        parameter: Parameter::Pss { hash: ckm::SHA256, mask: ckg::MGF1_SHA256, salt_length: 32 },
    };
    let cases: &[(Pair, &[Mechanism])] = &[
        (Pair::Rsa(2048), &[mechanism(ckm::RSA_PKCS), mechanism(ckm::SHA384_RSA_PKCS), pss]),
        (Pair::Curve(&[6, 5, 0x2b, 0x81, 4, 0, 0x21]), &[mechanism(ckm::ECDSA_SHA224)]),
        (Pair::Curve(P256), &[mechanism(ckm::ECDSA), mechanism(ckm::ECDSA_SHA256)]),
        (Pair::Curve(&[6, 5, 0x2b, 0x81, 4, 0, 0x22]), &[mechanism(ckm::ECDSA_SHA384)]),
        (Pair::Curve(&[6, 5, 0x2b, 0x81, 4, 0, 0x23]), &[mechanism(ckm::ECDSA_SHA512)]),
        (Pair::Curve(&[6, 3, 0x2b, 0x65, 0x70]), &[mechanism(ckm::EDDSA)]),
        (Pair::Bls, &[mechanism(ckm::BLS12_381_SIGN)]),
    ];
    for (kind, mechanisms) in cases {
        let (public, private) = generate(&client, kind, true);
        for mechanism in *mechanisms {
            let message = b"a message of some length";
            let mut signature = sign(&client, private, mechanism, message).unwrap();
            verify(&client, public, mechanism, message, &signature).unwrap();
            let other = verify(&client, public, mechanism, b"another message", &signature);
            assert_eq!(code(other), Code::SIGNATURE_INVALID, "{mechanism:?}");
            let last = signature.len() - 1;
            signature[last] ^= 1;
            let broken = verify(&client, public, mechanism, message, &signature);
            assert_eq!(code(broken), Code::SIGNATURE_INVALID, "{mechanism:?}");
        }
        // A key refuses operations of another key type.
        let foreign = sign(&client, private, &mechanism(ckm::SHA256_HMAC), b"x");
        assert_eq!(code(foreign), Code::KEY_TYPE_INCONSISTENT);
    }
}

/// Kinds of keys, and a mechanism of each to sign with.
fn signing_kinds() -> [(Pair, u32); 5] {
    [
        (Pair::Rsa(2048), ckm::SHA256_RSA_PKCS),
        (Pair::Curve(P256), ckm::ECDSA_SHA256),
        (Pair::Curve(&[6, 5, 0x2b, 0x81, 4, 0, 0x22]), ckm::ECDSA_SHA384),
        (Pair::Curve(&[6, 3, 0x2b, 0x65, 0x70]), ckm::EDDSA),
        (Pair::Bls, ckm::BLS12_381_SIGN),
    ]
}

/// Connects as an application of its own, sends signature requests without
/// waiting, and leaves without reading the answers.
fn ask_and_leave(socket: &std::path::Path, login: &[Request], requests: &[Request]) {
    let mut stream = UnixStream::connect(socket).unwrap();
    let hello = Request::Hello { version: rpc::VERSION, name: "leaves".into() };
    let mut buffer = Vec::new();
    for request in [hello].iter().chain(login) {
        buffer.clear();
        frame::write(0, &mut buffer, |to| request.write(to));
        stream.write_all(&buffer).unwrap();
        buffer.clear();
        while frame::read(&buffer).unwrap().is_none() {
            let mut bytes = [0; 512];
            let count = stream.read(&mut bytes).unwrap();
            buffer.extend_from_slice(&bytes[..count]);
        }
    }
    buffer.clear();
    for (identifier, request) in (0..).zip(requests) {
        frame::write(identifier, &mut buffer, |to| request.write(to));
    }
    stream.write_all(&buffer).unwrap();
}

/// Returns the answers to messages on a new connection.
fn answers<const N: usize>(daemon: &Daemon, messages: [&[u8]; N]) -> [Vec<u8>; N] {
    let mut stream = UnixStream::connect(&daemon.socket).unwrap();
    messages.map(|message| {
        let mut buffer = Vec::new();
        frame::write(7, &mut buffer, |to| to.extend_from_slice(message));
        stream.write_all(&buffer).unwrap();
        buffer.clear();
        loop {
            if let Some(frame) = frame::read(&buffer).unwrap() {
                assert_eq!((frame.identifier, frame.length), (7, buffer.len()));
                return frame.message.to_vec();
            }
            let mut bytes = [0; 512];
            let count = stream.read(&mut bytes).unwrap();
            buffer.extend_from_slice(&bytes[..count]);
        }
    })
}

#[test]
fn programs_of_other_versions_are_refused_in_their_encoding() {
    let daemon = Daemon::start();
    let says = |program| {
        format!(
            "the daemon speaks protocol version 2, and this program version {program}: install \
            both from the same release"
        )
    };
    // Hello of version 1: its number, the version, and a text after its length. Refused of version
    // 1 likewise.
    let [answer] = answers(&daemon, [b"\x01\0\x01\0\x04\0\0\0test"]);
    let detail = says(1);
    let head =
        [&[0, 0][..], &Code::TOKEN_NOT_RECOGNIZED.0.to_le_bytes(), &[detail.len() as u8, 0, 0, 0]];
    assert_eq!(answer, [&head.concat(), detail.as_bytes()].concat());
    // Hello of version 3, with a field more; and a request that this version does not have.
    let [other, unknown] = answers(&daemon, [b"\x84\x01\x03\x61p\xf5", b"\x81\x18\x7f"]);
    let Code(code) = Code::TOKEN_NOT_RECOGNIZED;
    assert_eq!(Response::read(&other), Ok(Response::Refused { code, detail: says(3) }));
    match Response::read(&unknown) {
        Ok(Response::Refused { code, .. }) => assert_eq!(Code(code), Code::FUNCTION_NOT_SUPPORTED),
        other => panic!("{other:?}"),
    }
}

#[test]
fn under_load_each_client_gets_its_own_signatures_although_others_fail_or_leave() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let kinds = signing_kinds();
    // Two keys of each kind share a queue.
    let pairs: Vec<_> = kinds
        .iter()
        .flat_map(|(kind, number)| [(kind, *number), (kind, *number)])
        .map(|(kind, number)| (generate(&client, kind, true), mechanism(number)))
        .collect();
    let login = [Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }];
    let leavers_requests: Vec<_> = pairs
        .iter()
        .map(|((_, private), mechanism)| Request::Sign {
            key: *private,
            mechanism: mechanism.clone(),
            data: Bytes(b"a client that leaves".to_vec()),
            digested: false,
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let (client, pairs) = (&client, &pairs);
            scope.spawn(move || {
                let ((public, private), mechanism) = &pairs[thread % pairs.len()];
                for i in 0..10 {
                    let message = format!("thread {thread}, message {i}");
                    let signature = sign(client, *private, mechanism, message.as_bytes()).unwrap();
                    verify(client, *public, mechanism, message.as_bytes(), &signature).unwrap();
                }
            });
        }
        // Ciphertexts that fail, in the queue of the RSA signatures.
        let (client, ((_, private), _)) = (&client, &pairs[0]);
        scope.spawn(move || {
            let oaep = Mechanism {
                number: ckm::RSA_PKCS_OAEP,
                parameter: Parameter::Oaep {
                    hash: ckm::SHA256,
                    mask: ckg::MGF1_SHA256,
                    label: Bytes::default(),
                },
            };
            for i in 0..20 {
                let (key, mechanism) = (*private, oaep.clone());
                let data = Bytes(vec![i; 256]);
                let failed = client.call(&Request::Decrypt { key, mechanism, data });
                assert_eq!(code(failed), Code::ENCRYPTED_DATA_INVALID);
            }
        });
        scope.spawn(|| {
            for _ in 0..20 {
                ask_and_leave(&daemon.socket, &login, &leavers_requests);
            }
        });
    });
}

#[test]
fn one_connection_may_ask_for_many_signatures() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Curve(P256), false);
    let ecdsa = mechanism(ckm::ECDSA);
    let signing = |key, digest: u8| rpc::message::Signing {
        key,
        mechanism: ecdsa.clone(),
        data: Bytes(vec![digest; 32]),
        digested: false,
    };
    let mut requests: Vec<_> = (0..20).map(|i| signing(private, i)).collect();
    requests[7].key = 999_999;
    let Response::SignedMany { outcomes } = client.call(&Request::SignMany { requests }).unwrap()
    else {
        panic!("another answer")
    };
    for (i, outcome) in outcomes.iter().enumerate() {
        if i == 7 {
            assert_eq!(Code(outcome.code), Code::KEY_HANDLE_INVALID);
        } else {
            verify(&client, public, &ecdsa, &[i as u8; 32], &outcome.signature.0).unwrap();
        }
    }
}

#[test]
fn private_keys_are_invisible_and_unusable_without_a_login() {
    let daemon = Daemon::start();
    let user = daemon.user();
    let (public, private) = generate(&user, &Pair::Curve(P256), true);
    let stranger = daemon.client();
    let seen = stranger.call(&Request::Find { template: Default::default(), page: None }).unwrap();
    assert_eq!(seen, Response::Objects { objects: vec![public], more: None });
    let refused = sign(&stranger, private, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(refused), Code::KEY_HANDLE_INVALID);

    let auditor = daemon.client();
    let pin = Secret::new(AUDITOR_PIN);
    auditor.call(&Request::Login { role: Role::Auditor, pin }).unwrap();
    let seen = auditor.call(&Request::Find { template: Default::default(), page: None }).unwrap();
    assert_eq!(seen, Response::Objects { objects: vec![public, private], more: None });
    let refused = sign(&auditor, private, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(refused), Code::USER_NOT_LOGGED_IN);
    assert_eq!(
        code(auditor.call(&Request::Destroy { object: public })),
        Code::TOKEN_WRITE_PROTECTED
    );
}

#[test]
fn a_wrong_pin_is_refused_and_counted() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let login =
        |pin: &[u8]| client.call(&Request::Login { role: Role::User, pin: Secret::new(pin) });
    let failures = || match client.call(&Request::Token {}).unwrap() {
        Response::Token { info } => info.user_failures,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(login(b"wrong")), Code::PIN_INCORRECT);
    assert_eq!(code(login(b"")), Code::PIN_INCORRECT);
    assert_eq!(failures(), 2);
    login(USER_PIN).unwrap();
    assert_eq!(failures(), 0);
    assert_eq!(code(login(USER_PIN)), Code::USER_ALREADY_LOGGED_IN);
}

#[test]
fn further_connections_are_the_same_application_and_others_are_not() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (_, private) = generate(&client, &Pair::Curve(P256), false);
    // Two concurrent calls need two connections.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| sign(&client, private, &mechanism(ckm::ECDSA), &[1; 32]).unwrap());
        }
    });
    let other = daemon.user();
    let refused = sign(&other, private, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(refused), Code::KEY_HANDLE_INVALID);
}

#[test]
fn an_imported_key_is_stored_where_its_template_says() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let pem = include_bytes!("../../cycloid/tests/data/rsa/2048.pem");
    let import = |client: &Client, token: bool| {
        let template = truths(&[(cka::TOKEN, token)]);
        pair(client.call(&Request::Import { pem: Secret::new(pem), template }))
    };
    let (public, stored) = import(&client, true).unwrap();
    let (_, kept) = import(&client, false).unwrap();
    let rsa = mechanism(ckm::SHA256_RSA_PKCS);
    let signature = sign(&client, stored, &rsa, b"message").unwrap();
    verify(&client, public, &rsa, b"message", &signature).unwrap();
    assert_eq!(sign(&client, kept, &rsa, b"message").unwrap(), signature);
    let other = daemon.user();
    sign(&other, stored, &rsa, b"message").unwrap();
    assert_eq!(code(sign(&other, kept, &rsa, b"message")), Code::KEY_HANDLE_INVALID);
    // Destroyed objects are gone, wherever they were stored.
    for key in [stored, kept] {
        client.call(&Request::Destroy { object: key }).unwrap();
        assert_eq!(code(sign(&client, key, &rsa, b"message")), Code::KEY_HANDLE_INVALID);
    }
    assert_eq!(code(import(&daemon.client(), true)), Code::USER_NOT_LOGGED_IN);
}

#[test]
fn a_reinitialised_token_has_no_objects_and_no_logins() {
    let daemon = Daemon::start();
    let user = daemon.user();
    generate(&user, &Pair::Curve(P256), true);
    let again = |pin: &[u8]| {
        let pin = Secret::new(pin);
        daemon.client().call(&Request::InitToken { pin, label: "anew".into() })
    };
    assert_eq!(code(again(b"wrong")), Code::PIN_INCORRECT);
    let objects = |objects| Response::Objects { objects, more: None };
    let find = || user.call(&Request::Find { template: Default::default(), page: None }).unwrap();
    assert_eq!(find(), objects(vec![1, 2]));
    again(OFFICER_PIN).unwrap();
    assert_eq!(find(), objects(vec![]));
    assert_eq!(code(user.call(&Request::Logout {})), Code::USER_NOT_LOGGED_IN);
    let pin = Secret::new(USER_PIN);
    let login = user.call(&Request::Login { role: Role::User, pin });
    assert_eq!(code(login), Code::USER_PIN_NOT_INITIALIZED);
}

#[test]
fn a_key_that_requires_the_pin_permits_one_use_per_entry() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let private = truths(&[(cka::ALWAYS_AUTHENTICATE, true)]);
    let mut public = truths(&[]);
    public.set(cka::EC_PARAMS, P256);
    let how = mechanism(ckm::EC_KEY_PAIR_GEN);
    let generate = |private| {
        pair(client.call(&Request::GeneratePair {
            mechanism: how.clone(),
            public: public.clone(),
            private,
        }))
    };
    let open = truths(&[(cka::ALWAYS_AUTHENTICATE, true), (cka::PRIVATE, false)]);
    assert_eq!(code(generate(open)), Code::TEMPLATE_INCONSISTENT);
    let (_, key) = generate(private.clone()).unwrap();
    let (_, ordinary) = generate(truths(&[])).unwrap();
    let authenticate =
        |key, pin: &[u8]| client.call(&Request::Authenticate { key, pin: Secret::new(pin) });
    let use_it = || sign(&client, key, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(use_it()), Code::USER_NOT_LOGGED_IN);
    assert_eq!(code(authenticate(ordinary, USER_PIN)), Code::OPERATION_NOT_INITIALIZED);
    authenticate(key, USER_PIN).unwrap();
    use_it().unwrap();
    assert_eq!(code(use_it()), Code::USER_NOT_LOGGED_IN);
    // A refused use also consumes the permission.
    authenticate(key, USER_PIN).unwrap();
    assert_eq!(code(sign(&client, key, &mechanism(ckm::ECDSA), &[])), Code::DATA_LEN_RANGE);
    assert_eq!(code(use_it()), Code::USER_NOT_LOGGED_IN);
    // A copy requires the PIN too, and the attribute cannot be removed.
    let never = truths(&[(cka::ALWAYS_AUTHENTICATE, false)]);
    let copy = |template| object(client.call(&Request::Copy { object: key, template }));
    assert_eq!(code(copy(never.clone())), Code::ATTRIBUTE_READ_ONLY);
    let copied = copy(truths(&[])).unwrap();
    authenticate(key, USER_PIN).unwrap();
    let foreign = sign(&client, copied, &mechanism(ckm::ECDSA), &[1; 32]);
    assert_eq!(code(foreign), Code::USER_NOT_LOGGED_IN);
    let change = Request::SetAttributes { object: key, template: never };
    assert_eq!(code(client.call(&change)), Code::ATTRIBUTE_READ_ONLY);
    // It derives only if its attributes allow that, and also requires the PIN.
    let derive = |key| {
        let point = std::iter::once(4).chain([1; 64]).collect();
        let parameter = Parameter::Ecdh {
            derivation: cycloid_hsm::mechanism::ckd::NULL,
            shared: Default::default(),
            public: Bytes(point),
        };
        let mechanism = Mechanism { number: ckm::ECDH1_DERIVE, parameter };
        code(client.call(&Request::Derive { base: key, mechanism, template: truths(&[]) }))
    };
    assert_eq!(derive(key), Code::KEY_FUNCTION_NOT_PERMITTED);
    let mut derives = private;
    derives.set_bool(cka::DERIVE, true);
    assert_eq!(derive(generate(derives).unwrap().1), Code::USER_NOT_LOGGED_IN);
    // A logout cancels a pending permission.
    authenticate(key, USER_PIN).unwrap();
    client.call(&Request::Logout {}).unwrap();
    assert_eq!(code(authenticate(key, USER_PIN)), Code::USER_NOT_LOGGED_IN);
}

#[test]
fn too_many_wrong_pins_for_a_key_log_out() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut public = truths(&[]);
    public.set(cka::EC_PARAMS, P256);
    let private = truths(&[(cka::ALWAYS_AUTHENTICATE, true)]);
    let mechanism = mechanism(ckm::EC_KEY_PAIR_GEN);
    let made = client.call(&Request::GeneratePair { mechanism, public, private });
    let (_, key) = pair(made).unwrap();
    let wrong = || code(client.call(&Request::Authenticate { key, pin: Secret::new(b"wrong") }));
    let codes = [wrong(), wrong(), wrong()];
    assert_eq!(codes, [Code::PIN_INCORRECT; 3]);
    // The first attempt that falls into the delay.
    let locked = (0..20).map(|_| wrong()).find(|code| *code != Code::PIN_INCORRECT);
    assert_eq!(locked, Some(Code::PIN_LOCKED));
    assert_eq!(wrong(), Code::USER_NOT_LOGGED_IN);
}

/// The audit log cannot be written, as on a full disk, for each kind of change.
#[test]
fn nothing_changes_without_its_audit_line() {
    let daemon = Daemon::start();
    let user = daemon.user();
    let officer = daemon.client();
    let pin = || Secret::new(OFFICER_PIN);
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin: pin() }).unwrap();
    let (public, private) = generate(&user, &Pair::Curve(P256), true);
    let token = truths(&[(cka::TOKEN, true)]);
    let mut curve = token.clone();
    curve.set(cka::EC_PARAMS, P256);
    let mut aes = token.clone();
    aes.set_number(cka::VALUE_LEN, 32);
    let mut data = token.clone();
    data.set_number(cka::CLASS, cko::DATA.into());
    let mut label = truths(&[]);
    label.set(cka::LABEL, "changed");
    let pairs = mechanism(ckm::EC_KEY_PAIR_GEN);
    let changes = [
        (&user, Request::GeneratePair { mechanism: pairs, public: curve, private: token.clone() }),
        (&user, Request::Generate { mechanism: mechanism(ckm::AES_KEY_GEN), template: aes }),
        (&user, Request::Create { template: data }),
        (&user, Request::Copy { object: public, template: token }),
        (&user, Request::SetAttributes { object: public, template: label }),
        (&user, Request::Destroy { object: private }),
        (&user, Request::SetPin { old: Secret::new(USER_PIN), new: Secret::new(b"another") }),
        (&officer, Request::InitPin { role: Role::User, pin: Secret::new(b"another") }),
        (&officer, Request::RotateMasterKey {}),
        (&daemon.client(), Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }),
        (&daemon.client(), Request::Login { role: Role::User, pin: Secret::new(b"wrong") }),
        (&daemon.client(), Request::InitToken { pin: pin(), label: "another".into() }),
    ];
    let database = rusqlite::Connection::open(daemon.directory.path().join("keys.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    let store = &daemon.server.daemon().token.store;
    let content = || {
        let settings = ["pin.user", "pin.officer", "pin.auditor", "token.label"];
        (store.load().unwrap().1, settings.map(|name| store.setting(name).unwrap()))
    };
    let lines = || store.audit_verify(None).unwrap().sequence;
    for (client, change) in &changes {
        let before = (content(), lines());
        database.execute_batch("ALTER TABLE audit_log RENAME TO taken").unwrap();
        let refused = client.call(change);
        database.execute_batch("ALTER TABLE taken RENAME TO audit_log").unwrap();
        assert_eq!(code(refused), Code::DEVICE_ERROR, "{change:?}");
        assert_eq!((content(), lines()), before, "{change:?}");
    }
    for (client, change) in changes {
        let before = (content(), lines());
        let changed = client.call(&change).is_ok();
        // A PIN that was changed meanwhile is wrong, and the attempt is counted.
        assert!(changed || matches!(change, Request::Login { .. }), "{change:?}");
        assert!(lines() > before.1, "{change:?}");
        // A rotation re-seals the same contents.
        let rotated = matches!(change, Request::RotateMasterKey {});
        assert_eq!(content() == before.0, rotated, "{change:?}");
    }
}

#[test]
fn a_daemon_that_stops_answers_or_hangs_up() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let (_, private) = generate(&client, &Pair::Rsa(2048), true);
    let (first, signed) = std::sync::mpsc::channel();
    let signer = {
        let client = Client::connect(&daemon.socket, "test").unwrap();
        let pin = Secret::new(USER_PIN);
        client.call(&Request::Login { role: Role::User, pin }).unwrap();
        std::thread::spawn(move || {
            let mut signatures = Vec::new();
            loop {
                match sign(&client, private, &mechanism(ckm::SHA256_RSA_PKCS), b"message") {
                    Ok(signature) => signatures.push(signature),
                    Err(error) => return (signatures, error.code),
                }
                let _ = first.send(());
            }
        })
    };
    signed.recv().unwrap();
    daemon.server.stop();
    let (signatures, code) = signer.join().unwrap();
    assert!([Code::FUNCTION_CANCELED, Code::DEVICE_REMOVED].contains(&code), "{code:?}");
    assert!(!signatures.is_empty());
    assert!(signatures.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Returns a connection of an application of its own.
fn greeted(daemon: &Daemon) -> UnixStream {
    let mut stream = UnixStream::connect(&daemon.socket).unwrap();
    let hello = Request::Hello { version: rpc::VERSION, name: "floods".into() };
    let mut bytes = Vec::new();
    frame::write(0, &mut bytes, |to| hello.write(to));
    stream.write_all(&bytes).unwrap();
    bytes.clear();
    while frame::read(&bytes).unwrap().is_none() {
        let mut more = [0; 512];
        let count = stream.read(&mut more).unwrap();
        bytes.extend_from_slice(&more[..count]);
    }
    stream
}

/// A program that sends verifications faster than they are computed does not keep others waiting.
#[test]
fn a_flood_of_verifications_leaves_room_for_others() {
    const EACH: usize = 2000;
    let daemon = Daemon::start();
    let client = daemon.user();
    let (public, private) = generate(&client, &Pair::Bls, true);
    let bls = mechanism(ckm::BLS12_381_SIGN);
    let signature = Bytes(sign(&client, private, &bls, b"message").unwrap());
    let data = Bytes(b"message".to_vec());
    let request = Request::Verify { key: public, mechanism: bls, data, digested: false, signature };
    let mut flood = Vec::new();
    (0..EACH).for_each(|_| frame::write(0, &mut flood, |to| request.write(to)));
    let verified = || {
        let Response::Text { text } = client.call(&Request::Metrics {}).unwrap() else { panic!() };
        let name = "cycloid_hsm_requests_total{message=\"Verify\"} ";
        let count = text.lines().find_map(|line| line.strip_prefix(name));
        count.map_or(0, |count| count.parse::<usize>().unwrap())
    };
    std::thread::scope(|scope| {
        // More than there are workers.
        for _ in 0..std::thread::available_parallelism().map_or(4, usize::from) + 2 {
            let mut stream = greeted(&daemon);
            let flood = &flood;
            scope.spawn(move || {
                let mut answers = stream.try_clone().unwrap();
                std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
                // It fails when the daemon ends.
                let _ = stream.write_all(flood);
                let _ = stream.shutdown(Shutdown::Write);
            });
        }
        let mut last = 0;
        while last < 200 {
            let now = verified();
            assert!(now - last < EACH / 2, "{} verifications before an answer", now - last);
            last = now;
        }
        daemon.server.stop();
    });
}

/// Returns the number of objects that a client sees.
fn count(client: &Client) -> usize {
    let page = Some(rpc::Page { after: 0, most: 1 << 16 });
    match client.call(&Request::Find { template: Default::default(), page }).unwrap() {
        Response::Objects { objects, .. } => objects.len(),
        other => panic!("{other:?}"),
    }
}

/// A pair of which one half finds no room leaves nothing behind.
#[test]
fn no_half_of_a_pair_is_left() {
    /// The maximum number of objects in memory of a program.
    const MOST: usize = 4096;
    let daemon = Daemon::start();
    let client = daemon.user();
    let mut data = truths(&[]);
    data.set_number(cka::CLASS, cko::DATA.into());
    let create = || client.call(&Request::Create { template: data.clone() });
    (1..MOST).for_each(|_| drop(create().unwrap()));
    let generate = |tokens: [bool; 2]| {
        let [mut public, private] = tokens.map(|token| truths(&[(cka::TOKEN, token)]));
        public.set(cka::EC_PARAMS, P256);
        let mechanism = mechanism(ckm::EC_KEY_PAIR_GEN);
        pair(client.call(&Request::GeneratePair { mechanism, public, private }))
    };
    // There is room for one object.
    assert_eq!(code(generate([false, false])), Code::DEVICE_MEMORY);
    assert_eq!(count(&client), MOST - 1);
    let (_, private) = generate([true, false]).unwrap();
    assert_eq!(count(&client), MOST + 1);
    for tokens in [[true, false], [false, true], [false, false]] {
        assert_eq!(code(generate(tokens)), Code::DEVICE_MEMORY);
        assert_eq!(count(&client), MOST + 1);
    }
    client.call(&Request::Destroy { object: private }).unwrap();
    create().unwrap();
    assert_eq!(code(create()), Code::DEVICE_MEMORY);
}
