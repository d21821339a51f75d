//! The log of uses of keys.

use std::thread;
use std::time::{Duration, Instant};

use super::{Keystore, OFFICER_PIN, USER_PIN, socket};
use crate::Code;
use crate::attribute::{Template, cka, ckk, cko};
use crate::daemon::{Server, Settings};
use crate::mechanism::{Parameter, ckm};
use crate::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret};

const PATIENT: Duration = Duration::from_secs(300);

fn start(keystore: &Keystore) -> Server {
    let settings = Settings { socket: socket(keystore.path()), ..Settings::default() };
    Server::start(keystore.open(), settings).unwrap()
}

fn client(keystore: &Keystore, role: Role, pin: &[u8]) -> Client {
    let client = Client::connect(socket(keystore.path()), "test").unwrap();
    client.call(&Request::Login { role, pin: Secret::new(pin) }).unwrap();
    client
}

fn user(keystore: &Keystore) -> Client {
    client(keystore, Role::User, USER_PIN)
}

fn log_uses(keystore: &Keystore, required: bool) -> Client {
    let officer = client(keystore, Role::SecurityOfficer, OFFICER_PIN);
    officer.call(&Request::LogUses { required }).unwrap();
    officer
}

fn plain(number: u32) -> Mechanism {
    Mechanism { number, parameter: Parameter::None }
}

/// Generates a private key on P-256 with this label.
fn key(client: &Client, label: &str) -> u64 {
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, true);
    private.set(cka::LABEL, label.as_bytes());
    let mut public = private.clone();
    public.set(cka::EC_PARAMS, [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
    let request = Request::GeneratePair { mechanism: plain(ckm::EC_KEY_PAIR_GEN), public, private };
    match client.call(&request).unwrap() {
        Response::Pair { private, .. } => private,
        other => panic!("{other:?}"),
    }
}

fn sign(client: &Client, key: u64) -> crate::Result<Response> {
    let (mechanism, data) = (plain(ckm::ECDSA), Bytes(vec![7; 32]));
    client.call(&Request::Sign { key, mechanism, data, digested: false })
}

/// The lines of the log about uses of the object with a label: the uses granted, and those stated.
fn logged(keystore: &Keystore, label: &str, usage: &str) -> (u64, u64) {
    let lines = keystore.open().audit_entries(1, u32::MAX).unwrap();
    let about = lines.iter().filter(|line| line.what.contains(&format!("{label:?}")));
    let (mut granted, mut used) = (0, 0);
    for line in about {
        let (_, what) = line.what.split_once(": ").unwrap();
        let words: Vec<&str> = what.split(' ').collect();
        match *words {
            ["may", by, "once"] if by == usage => granted += 1,
            ["may", by, count, "times"] if by == usage => granted += count.parse::<u64>().unwrap(),
            [count, "use" | "uses", "to", by] if by == usage => {
                used += count.parse::<u64>().unwrap();
            }
            _ => {}
        }
        assert!(!what.starts_with("may") || line.who.starts_with("user (user "), "{line:?}");
    }
    (granted, used)
}

#[test]
fn no_use_is_missing_from_the_log() {
    const THREADS: u64 = 4;
    const EACH: u64 = 300;
    let keystore = Keystore::new();
    let server = start(&keystore);
    let anna = user(&keystore);
    let busy = key(&anna, "busy");
    let once = key(&anna, "once");
    sign(&anna, once).unwrap();
    assert_eq!(logged(&keystore, "once", "sign"), (0, 0));
    let officer = log_uses(&keystore, true);
    let refused = anna.call(&Request::LogUses { required: false });
    assert_eq!(refused.unwrap_err().code, Code::USER_NOT_LOGGED_IN);
    // The grant is stored before the signature leaves.
    sign(&anna, once).unwrap();
    assert_eq!(logged(&keystore, "once", "sign").0, 1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..EACH).for_each(|_| drop(sign(&anna, busy).unwrap())));
        }
    });
    let (granted, _) = logged(&keystore, "busy", "sign");
    assert!(granted >= THREADS * EACH, "{granted}");
    // A while after the last use, a line states the number.
    let begun = Instant::now();
    while logged(&keystore, "busy", "sign").1 < THREADS * EACH {
        assert!(begun.elapsed() < PATIENT);
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(logged(&keystore, "busy", "sign").1, THREADS * EACH);
    assert_eq!(logged(&keystore, "once", "sign"), (1, 1));
    // Far fewer lines than uses.
    let lines = keystore.open().audit_entries(1, u32::MAX).unwrap();
    let lines = lines.iter().filter(|line| line.what.contains("\"busy\""));
    assert!(lines.count() < 40);

    // A restart keeps the requirement, and a daemon that stops states what was used.
    sign(&anna, busy).unwrap();
    drop((anna, officer));
    server.stop();
    let (granted, used) = logged(&keystore, "busy", "sign");
    assert_eq!(used, THREADS * EACH + 1);
    let server = start(&keystore);
    let anna = user(&keystore);
    (0..3).for_each(|_| drop(sign(&anna, busy).unwrap()));
    assert!(logged(&keystore, "busy", "sign").0 >= granted + 3);
    log_uses(&keystore, false);
    sign(&anna, once).unwrap();
    server.stop();
    assert_eq!(logged(&keystore, "busy", "sign").1, used + 3);
    assert_eq!(logged(&keystore, "once", "sign"), (1, 1));
    keystore.open().audit_verify(None).unwrap();
}

#[test]
fn what_cannot_be_logged_does_not_happen() {
    let keystore = Keystore::new();
    let _server = start(&keystore);
    let anna = user(&keystore);
    let signs = key(&anna, "signs");
    let secret = |uses: &[u32]| {
        let mut template = Template::new();
        uses.iter().for_each(|usage| template.set_bool(*usage, true));
        template.set_number(cka::CLASS, cko::SECRET_KEY.into());
        template.set_number(cka::KEY_TYPE, ckk::AES.into());
        template.set(cka::VALUE, [9; 32]);
        match anna.call(&Request::Create { template }).unwrap() {
            Response::Object { object } => object,
            other => panic!("{other:?}"),
        }
    };
    let (decrypts, unwraps) = (secret(&[cka::DECRYPT]), secret(&[cka::UNWRAP]));
    let encrypts = secret(&[cka::ENCRYPT]);
    let attempts: Vec<Request> = vec![
        Request::Sign {
            key: signs,
            mechanism: plain(ckm::ECDSA),
            data: Bytes(vec![7; 32]),
            digested: false,
        },
        Request::Decrypt {
            key: decrypts,
            mechanism: Mechanism {
                number: ckm::AES_CBC,
                parameter: Parameter::Iv(Bytes(vec![0; 16])),
            },
            data: Bytes(vec![0; 16]),
        },
        Request::Unwrap {
            unwrapping: unwraps,
            mechanism: plain(ckm::AES_KEY_WRAP_KWP),
            wrapped: Bytes(vec![0; 40]),
            template: Template::new(),
        },
        Request::Encrypt { key: encrypts, mechanism: counter(), data: Secret::new(b"data") },
    ];
    log_uses(&keystore, true);
    let database = keystore.path().join("keys.db");
    let change = |sql: &str| rusqlite::Connection::open(&database).unwrap().execute_batch(sql);
    change("ALTER TABLE audit_log RENAME TO hidden").unwrap();
    for attempt in &attempts {
        let refused = anna.call(attempt).unwrap_err();
        assert!(refused.detail.contains("could not be logged"), "{refused:?}");
    }
    change("ALTER TABLE hidden RENAME TO audit_log").unwrap();
    anna.call(&attempts[0]).unwrap();
    anna.call(&attempts[1]).unwrap();
    // The blob is invalid.
    assert_eq!(anna.call(&attempts[2]).unwrap_err().code, Code::WRAPPED_KEY_INVALID);
    anna.call(&attempts[3]).unwrap();
}

fn counter() -> Mechanism {
    let parameter = Parameter::Counter { bits: 128, block: Bytes(vec![5; 16]) };
    Mechanism { number: ckm::AES_CTR, parameter }
}

/// In modes with a counter, encryption decrypts.
#[test]
fn encryption_with_a_secret_key_is_logged() {
    let keystore = Keystore::new();
    let _server = start(&keystore);
    let anna = user(&keystore);
    let mut template = Template::new();
    template.set_bool(cka::TOKEN, true);
    template.set(cka::LABEL, b"counts");
    template.set_number(cka::VALUE_LEN, 32);
    let mechanism = plain(ckm::AES_KEY_GEN);
    let Response::Object { object: key } =
        anna.call(&Request::Generate { mechanism, template }).unwrap()
    else {
        panic!("no key")
    };
    let encrypt = |data: &[u8]| {
        let data = Secret::new(data);
        match anna.call(&Request::Encrypt { key, mechanism: counter(), data }).unwrap() {
            Response::Data { data } => data,
            other => panic!("{other:?}"),
        }
    };
    let ciphertext = encrypt(b"a message");
    assert_eq!(logged(&keystore, "counts", "encrypt"), (0, 0));
    log_uses(&keystore, true);
    assert_eq!(*encrypt(&ciphertext), *b"a message");
    assert_eq!(logged(&keystore, "counts", "encrypt").0, 1);
}

/// Uses are logged under the handle of the copy, which a line links to the original.
#[test]
fn a_copy_in_memory_is_linked_to_its_original() {
    let keystore = Keystore::new();
    let _server = start(&keystore);
    let anna = user(&keystore);
    let ca = key(&anna, "ca");
    log_uses(&keystore, true);
    let copy = |object| -> crate::Result<u64> {
        let mut template = Template::new();
        template.set_bool(cka::TOKEN, false);
        template.set(cka::LABEL, b"x");
        match anna.call(&Request::Copy { object, template })? {
            Response::Object { object } => Ok(object),
            other => panic!("{other:?}"),
        }
    };
    let one = copy(ca).unwrap();
    let two = copy(one).unwrap();
    sign(&anna, two).unwrap();
    let lines = keystore.open().audit_entries(1, u32::MAX).unwrap();
    for line in [
        format!("object {ca} \"ca\": copied to object {one} in memory"),
        format!("object {one} \"x\": copied to object {two} in memory"),
        format!("object {two} \"x\": may sign once"),
    ] {
        assert!(lines.iter().any(|other| other.what == line), "{line}: {lines:#?}");
    }
    // No copy without a line.
    let named_x = || {
        let mut template = Template::new();
        template.set(cka::LABEL, b"x");
        match anna.call(&Request::Find { template, page: None }).unwrap() {
            Response::Objects { objects, .. } => objects,
            other => panic!("{other:?}"),
        }
    };
    let database = keystore.path().join("keys.db");
    let change = |sql: &str| rusqlite::Connection::open(&database).unwrap().execute_batch(sql);
    change("ALTER TABLE audit_log RENAME TO hidden").unwrap();
    assert_eq!(copy(ca).unwrap_err().code, Code::DEVICE_ERROR);
    change("ALTER TABLE hidden RENAME TO audit_log").unwrap();
    assert_eq!(named_x(), [one, two]);
}
