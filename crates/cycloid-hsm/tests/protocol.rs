//! The protocol: messages round-trip, malformed ones are refused, and the description matches the
//! code.

use std::fmt::Write;

use cycloid_hsm::attribute::Template;
use cycloid_hsm::mechanism::Parameter;
use cycloid_hsm::rpc::message::{Row, Signing, TokenInfo};
use cycloid_hsm::rpc::{
    Bytes, Malformed, Mechanism, Request, Response, Role, Secret, VERSION, frame,
};

fn table(text: &mut String, rows: Vec<Row>) {
    text.push_str("| number | message | fields |\n|---|---|---|\n");
    for (number, name, fields) in rows {
        let fields: Vec<String> =
            fields.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
        writeln!(text, "| {number:#04x} | {name} | {} |", fields.join("; ")).unwrap();
    }
}

/// Generates the text of `docs/hsm-protocol.md` from the messages.
fn description() -> String {
    let mut text = format!(
        "# The protocol of the HSM's daemon, version {VERSION}\n\n\
        Both directions of a connection are streams of frames. A frame is the length of the rest (`u32`), \
        the identifier of the request (`u32`), and a message: its number (`u16`) and its fields. Numbers \
        are little-endian. `bytes` and `text` (UTF-8) are a `u32` length followed by that many bytes; \
        `list of` is a `u32` count followed by that many values; `optional` is a byte, 0 or 1, followed \
        by a value if it is 1. A frame has at most {} bytes after its length.\n\n\
        A client may have several requests in flight. An answer carries its request's identifier, and \
        answers may arrive in any order. The first message on a connection is Hello, or Attach with the \
        ticket from an earlier Welcome: all connections of one application share its login and its \
        objects in memory. A malformed message is answered by Refused with code 7; an invalid length of \
        a frame ends the connection.\n\n\
        Attributes, classes, mechanisms and codes have the numbers of PKCS #11 3.0. A `parameter` is a \
        byte followed by its contents: 0 nothing; 1 PSS: hash, mask and salt length, `u32` each; 2 OAEP: \
        hash and mask, `u32`, and a label, `bytes`; 3 AES-GCM: IV and associated data, `bytes`, and the \
        tag's bits, `u32`; 4 an IV, `bytes`; 5 ECDH: derivation, `u32`, shared data and public key, \
        `bytes`; 6 EdDSA: prehashed, `bool`, and a context, `bytes`; 7 a length, `u32`.\n\n\
        ## Requests\n\n",
        frame::MAX_LENGTH
    );
    table(&mut text, Request::schema());
    text.push_str("\n## Answers\n\n");
    table(&mut text, Response::schema());
    text
}

#[test]
fn the_description_matches_the_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hsm-protocol.md");
    let described = std::fs::read_to_string(path).unwrap_or_default();
    let description = description();
    if described != description && std::env::var_os("CYCLOID_WRITE_DOCS").is_some() {
        std::fs::write(path, &description).unwrap();
        return;
    }
    assert_eq!(described, description, "rewrite it with CYCLOID_WRITE_DOCS=1");
}

fn requests() -> Vec<Request> {
    let mechanism = Mechanism {
        number: 0xd,
        parameter: Parameter::Pss { hash: 0x250, mask: 2, salt_length: 32 },
    };
    let template = Template::from_list(vec![(3, b"label".to_vec()), (0, vec![1; 8])]).unwrap();
    vec![
        Request::Hello { version: VERSION, name: "a program".into() },
        Request::Login { role: Role::Auditor, pin: Secret::new(b"1234") },
        Request::Find { template: template.clone() },
        Request::Attributes { object: u64::MAX, numbers: vec![1, 2, 3] },
        Request::GeneratePair {
            mechanism: mechanism.clone(),
            public: template.clone(),
            private: Template::new(),
        },
        Request::SignMany {
            requests: vec![Signing { key: 7, mechanism, data: Bytes(vec![9; 40]), digested: true }],
        },
        Request::Unlock { passphrase: None, key_file: Some(Secret::new(&[1; 32])) },
    ]
}

#[test]
fn messages_round_trip() {
    for request in requests() {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        assert_eq!(Request::read(&bytes), Ok(request));
    }
    let info = TokenInfo {
        label: "token".into(),
        serial: "0123456789abcdef".into(),
        initialized: true,
        user_pin: false,
        user_failures: 3,
        officer_failures: 0,
        locked: false,
        role: Some(1),
        daemon: "0.1.0".into(),
    };
    let mut bytes = Vec::new();
    Response::Token { info: info.clone() }.write(&mut bytes);
    assert_eq!(Response::read(&bytes), Ok(Response::Token { info }));
}

#[test]
fn corrupted_messages_are_refused_or_decode_as_other_messages() {
    for request in requests() {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Request::read(&bytes[..length]), Err(Malformed), "{request:?}");
        }
        bytes.push(0);
        assert_eq!(Request::read(&bytes), Err(Malformed));
        bytes.pop();
        // A length that claims all of memory allocates none of it.
        for at in 2..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] = 0xff;
            if let Ok(other) = Request::read(&changed) {
                let mut again = Vec::new();
                other.write(&mut again);
                assert_eq!(again.len(), changed.len());
            }
        }
    }
}

#[test]
fn a_duplicate_attribute_is_malformed() {
    let mut bytes = Vec::new();
    Request::Find { template: Template::from_list(vec![(3, vec![1]), (4, vec![1])]).unwrap() }
        .write(&mut bytes);
    let second = bytes.len() - 9;
    assert_eq!(bytes[second], 4);
    bytes[second] = 3;
    assert_eq!(Request::read(&bytes), Err(Malformed));
}

#[test]
fn frames_may_arrive_in_pieces_and_invalid_lengths_end_the_stream() {
    let mut stream = Vec::new();
    for (identifier, request) in (0..).zip(requests()) {
        frame::write(identifier, &mut stream, |to| request.write(to));
    }
    let mut rest = stream.as_slice();
    for (identifier, request) in (0..).zip(requests()) {
        let frame = frame::read(rest).unwrap().unwrap();
        assert_eq!(frame.identifier, identifier);
        assert_eq!(Request::read(frame.message), Ok(request));
        for length in 0..frame.length {
            assert_eq!(frame::read(&rest[..length]), Ok(None));
        }
        rest = &rest[frame.length..];
    }
    assert!(rest.is_empty());
    for length in [0, 5, frame::MAX_LENGTH as u32 + 1, u32::MAX] {
        assert_eq!(frame::read(&length.to_le_bytes()), Err(Malformed));
    }
}
