//! A client and daemons of other versions.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use cycloid_hsm_protocol::rpc::version::{mismatch, write_refusal_1};
use cycloid_hsm_protocol::rpc::{Client, Request, Response, Unreadable, VERSION, frame};
use cycloid_hsm_protocol::{Code, Error};

/// Returns the error of a client whose first message gets this answer.
fn connect(answer: impl FnOnce(&mut Vec<u8>) + Send + 'static) -> Error {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let daemon = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut received, mut more) = (Vec::new(), [0; 256]);
        while frame::read(&received).unwrap().is_none() {
            let count = stream.read(&mut more).unwrap();
            received.extend_from_slice(&more[..count]);
        }
        let mut bytes = Vec::new();
        frame::write(0, &mut bytes, answer);
        stream.write_all(&bytes).unwrap();
    });
    let error = Client::connect(&socket, "test").unwrap_err();
    daemon.join().unwrap();
    error
}

#[test]
fn a_daemon_of_version_1_is_named() {
    // It does not understand the greeting: Refused, code 7, and the detail after its length.
    let answer = b"\0\0\x07\0\0\0\x11\0\0\0malformed message";
    let error = connect(|to| to.extend_from_slice(answer));
    assert_eq!(error, mismatch(1, VERSION));
    assert_eq!(error.code, Code::TOKEN_NOT_RECOGNIZED);
    assert_eq!(
        error.to_string(),
        "the daemon speaks protocol version 1, and this program version 2: install both from the \
        same release"
    );
}

#[test]
fn a_daemon_of_a_later_version_names_itself() {
    let error = connect(|to| {
        let Error { code: Code(code), detail } = mismatch(3, VERSION);
        Response::Refused { code, detail }.write(to);
        // Refused with a field of that version.
        to[8] += 1;
        to.push(0xf5);
    });
    assert_eq!(error, mismatch(3, VERSION));
}

#[test]
fn an_answer_that_is_none_is_named() {
    let error = connect(|to| to.extend_from_slice(&[0x81, 0x18, 0x7f]));
    assert_eq!(error.code, Code::DEVICE_REMOVED);
    assert!(error.detail.ends_with("install daemon and program from the same release"));
    let error = connect(|to| to.extend_from_slice(&[0x42, 1]));
    assert!(error.detail.ends_with("malformed message"));
}

#[test]
fn programs_of_version_1_are_recognised_and_answered_in_its_encoding() {
    // Hello and Attach: the number, the version, and a text or bytes after their length.
    for number in [1, 2] {
        let greeting = [number, 0, 1, 0, 2, 0, 0, 0, b'h', b'i'];
        assert_eq!(Request::read(&greeting), Err(Unreadable::Version1));
    }
    let mut answer = Vec::new();
    write_refusal_1(&Code(0x0102).because("no"), &mut answer);
    assert_eq!(answer, b"\0\0\x02\x01\0\0\x02\0\0\0no");
    assert_eq!(Response::read(&answer), Err(Unreadable::Version1));
}
