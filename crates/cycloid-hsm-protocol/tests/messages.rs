//! Messages round-trip, and malformed, foreign and later ones are refused.

use cycloid_hsm_protocol::attribute::Template;
use cycloid_hsm_protocol::legacy::Legacy;
use cycloid_hsm_protocol::mechanism::{KeyDerivationField, Parameter};
use cycloid_hsm_protocol::rpc::message::{
    AttributeValue, AuditEntry, Signed, Signing, TokenInfo, Unreadable,
};
use cycloid_hsm_protocol::rpc::{
    Bytes, Mechanism, Page, Request, Response, Role, Secret, Usage, VERSION, frame,
};

fn bytes(length: usize) -> Bytes {
    Bytes((0..length).map(|at| at as u8).collect())
}

fn secret(length: usize) -> Secret {
    Secret::new(&bytes(length).0)
}

fn template(list: &[(u32, &[u8])]) -> Template {
    Template::from_list(list.iter().map(|(number, value)| (*number, value.to_vec())).collect())
        .unwrap()
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::None,
        Parameter::Pss { hash: 0x250, mask: 2, salt_length: u32::MAX },
        Parameter::Oaep { hash: 0x250, mask: 2, label: bytes(0) },
        Parameter::Gcm { iv: bytes(12), associated: bytes(300), tag_bits: 128 },
        Parameter::Iv(bytes(16)),
        Parameter::Ecdh { derivation: 1, shared: bytes(3), public: bytes(65) },
        Parameter::EdDsa { prehashed: true, context: bytes(255) },
        Parameter::Length(24),
        Parameter::Ccm {
            data_length: 1 << 33,
            nonce: bytes(7),
            associated: bytes(0),
            tag_length: 16,
        },
        Parameter::Counter { bits: 32, block: bytes(16) },
        Parameter::Piece(bytes(16)),
        Parameter::Data(bytes(32)),
        Parameter::CbcData { iv: bytes(16), data: bytes(48) },
        Parameter::Hkdf {
            hash: 0x250,
            extract: true,
            expand: false,
            salt: bytes(4),
            information: bytes(0),
        },
        Parameter::Pbkdf2 {
            function: 4,
            salt: bytes(8),
            iterations: 600_000,
            password: Secret::new(b"password"),
        },
        Parameter::OaepAes { bits: 256, hash: 0x250, mask: 2, label: bytes(0) },
        Parameter::CounterKdf {
            function: 0x251,
            fields: vec![
                KeyDerivationField::Counter { bits: 32, little_endian: true },
                KeyDerivationField::Bytes(bytes(5)),
                KeyDerivationField::Length { bits: 16, little_endian: false, of_segments: true },
            ],
        },
    ]
}

/// Returns each request, with values of all widths.
fn requests() -> Vec<Request> {
    let mechanism = Mechanism { number: 0xd, parameter: parameters().remove(1) };
    let template = template(&[(3, b"label"), (0, &[1; 8]), (0x8359_4301, &[])]);
    let mut requests = vec![
        Request::Hello { version: VERSION, name: "a program, ein Programm für alle".into() },
        Request::Attach { version: u16::MAX, ticket: secret(32) },
        Request::Token {},
        Request::Login { role: Role::Auditor, pin: secret(4) },
        Request::Logout {},
        Request::Share {},
        Request::InitToken { pin: secret(255), label: String::new() },
        Request::InitPin { role: Role::User, pin: secret(0) },
        Request::SetPin { old: secret(23), new: secret(24) },
        Request::Random { length: u32::MAX },
        Request::Authenticate { key: 0, pin: secret(5) },
        Request::Find { template: template.clone(), page: None },
        Request::Find {
            template: template.clone(),
            page: Some(Page { after: u64::MAX, most: u32::MAX }),
        },
        Request::Attributes { object: u64::MAX, numbers: vec![1, 255, 256, 65536] },
        Request::SetAttributes { object: 23, template: template.clone() },
        Request::Create { template: Template::new() },
        Request::Copy { object: 24, template: template.clone() },
        Request::Destroy { object: 255 },
        Request::Size { object: 256 },
        Request::Import { pem: secret(3000), template: template.clone() },
        Request::Generate { mechanism: mechanism.clone(), template: template.clone() },
        Request::GeneratePair {
            mechanism: mechanism.clone(),
            public: template.clone(),
            private: Template::new(),
        },
        Request::Verify {
            key: 65536,
            mechanism: mechanism.clone(),
            data: bytes(70_000),
            digested: false,
            signature: bytes(512),
        },
        Request::Encrypt { key: 1, mechanism: mechanism.clone(), data: secret(16) },
        Request::Decrypt { key: 1, mechanism: mechanism.clone(), data: bytes(256) },
        Request::Wrap { wrapping: 1, mechanism: mechanism.clone(), key: 2, room: None },
        Request::Wrap { wrapping: 1, mechanism: mechanism.clone(), key: 2, room: Some(0) },
        Request::Unwrap {
            unwrapping: 1,
            mechanism: mechanism.clone(),
            wrapped: bytes(40),
            template: template.clone(),
        },
        Request::Derive { base: 1, mechanism: mechanism.clone(), template },
        Request::Check { key: 1, mechanism: mechanism.clone(), usage: Usage::Decrypt },
        Request::MacBegin { key: 1, mechanism: mechanism.clone(), usage: Usage::Verify },
        Request::MacUpdate { operation: 1 << 40, data: bytes(70_000) },
        Request::MacFinish { operation: 3, data: bytes(0), signature: None },
        Request::MacFinish { operation: 3, data: bytes(7), signature: Some(bytes(32)) },
        Request::MacCancel { operation: u64::MAX },
        Request::SignMany {
            requests: vec![Signing { key: 7, mechanism, data: bytes(40), digested: true }; 20],
        },
        Request::Status {},
        Request::Unlock { passphrase: None, key_file: None },
        Request::Unlock { passphrase: Some(secret(9)), key_file: None },
        Request::Unlock { passphrase: None, key_file: Some(secret(32)) },
        Request::Unlock { passphrase: Some(secret(9)), key_file: Some(secret(32)) },
        Request::Lock {},
        Request::Audit { from: 1, limit: 500 },
        Request::Metrics {},
        Request::RotateMasterKey {},
        Request::AllowLegacy { weak: Legacy::RawRsa, allowed: true },
    ];
    requests.extend(parameters().into_iter().map(|parameter| Request::Sign {
        key: 0x1_0000_0000,
        mechanism: Mechanism { number: 0x8359_4302, parameter },
        data: bytes(32),
        digested: true,
    }));
    requests
}

/// Returns each response.
fn responses() -> Vec<Response> {
    let info = |role| TokenInfo {
        label: "token".into(),
        serial: "0123456789abcdef".into(),
        initialized: true,
        user_pin: false,
        user_failures: 3,
        officer_failures: 0,
        locked: false,
        role,
        daemon: "0.1.0".into(),
        legacy: role.map(u32::from),
    };
    let entry = AuditEntry {
        sequence: 1,
        time: 1_800_000_000_000,
        who: "user".into(),
        what: "login".into(),
        mac: bytes(32),
    };
    vec![
        Response::Refused { code: 7, detail: "why".into() },
        Response::Done {},
        Response::Welcome { version: VERSION, ticket: secret(32) },
        Response::Token { info: info(None) },
        Response::Token { info: info(Some(1)) },
        Response::Object { object: 1 },
        Response::Pair { public: 1, private: 2 },
        Response::Objects { objects: (0..300).collect(), more: None },
        Response::Objects { objects: vec![1], more: Some(true) },
        Response::Attributes {
            values: vec![AttributeValue { number: 3, code: 0, value: bytes(5) }; 2],
        },
        Response::Data { data: secret(256) },
        Response::Number { value: u64::MAX },
        Response::Text { text: "text".into() },
        Response::Audit { entries: vec![entry; 3] },
        Response::SignedMany { outcomes: vec![Signed { code: 0, signature: bytes(64) }; 2] },
    ]
}

fn encode(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

#[test]
fn messages_round_trip() {
    for request in requests() {
        let bytes = encode(|to| request.write(to));
        assert_eq!(Request::read(&bytes), Ok(request));
    }
    for response in responses() {
        let bytes = encode(|to| response.write(to));
        assert_eq!(Response::read(&bytes), Ok(response));
    }
}

/// Programs in other languages rely on these bytes.
#[test]
fn messages_have_these_bytes() {
    let sign = Request::Sign {
        key: 0x1234,
        mechanism: Mechanism { number: 0x1041, parameter: Parameter::None },
        data: Bytes(vec![0xaa, 0xbb]),
        digested: true,
    };
    let expected = [
        0x85, 0x18, 0x22, // array of five, Sign
        0x19, 0x12, 0x34, // key
        0x82, 0x19, 0x10, 0x41, 0x81, 0x00, // mechanism, without a parameter
        0x42, 0xaa, 0xbb, 0xf5, // data, true
    ];
    assert_eq!(encode(|to| sign.write(to)), expected);
    let find = Request::Find { template: template(&[(256, &[1]), (3, b"x")]), page: None };
    let expected = [0x82, 0x10, 0xa2, 0x03, 0x41, b'x', 0x19, 0x01, 0x00, 0x41, 0x01];
    assert_eq!(encode(|to| find.write(to)), expected);
    let unlock = Request::Unlock { passphrase: None, key_file: Some(Secret::new(&[7])) };
    assert_eq!(encode(|to| unlock.write(to)), [0x83, 0x18, 0x41, 0xf6, 0x41, 0x07]);
    assert_eq!(encode(|to| Response::Done {}.write(to)), [0x81, 0x01]);
}

#[test]
fn truncated_and_extended_messages_are_malformed() {
    let check = |read: &dyn Fn(&[u8]) -> bool, mut bytes: Vec<u8>, what: &str| {
        for length in 0..bytes.len().min(400) {
            assert!(read(&bytes[..length]), "{length} bytes of {what}");
        }
        bytes.push(0);
        assert!(read(&bytes), "{what} and a byte");
    };
    let malformed = Some(Unreadable::Malformed);
    for request in requests() {
        let bytes = encode(|to| request.write(to));
        check(&|bytes| Request::read(bytes).err() == malformed, bytes, request.name());
    }
    for response in responses() {
        let bytes = encode(|to| response.write(to));
        check(&|bytes| Response::read(bytes).err() == malformed, bytes, response.name());
    }
}

/// Every byte of a message, changed to every value: it is refused, or is another message. A length
/// that claims all of memory allocates none of it.
#[test]
fn corrupted_messages_are_refused_or_decode_as_other_messages() {
    for request in requests() {
        let bytes = encode(|to| request.write(to));
        let heads = if bytes.len() < 4096 { bytes.len().min(100) } else { 0 };
        for at in 0..heads {
            let mut changed = bytes.clone();
            for value in 0..=u8::MAX {
                changed[at] = value;
                if let Ok(other) = Request::read(&changed) {
                    let again = encode(|to| other.write(to));
                    assert!(again.len() <= changed.len(), "{other:?}");
                    assert_eq!(Request::read(&again), Ok(other));
                }
            }
        }
    }
}

#[test]
fn claimed_lengths_allocate_nothing() {
    // Lists, maps, bytes and texts of 2^60 elements, where messages have such.
    for head in [0x9b, 0xbb, 0x5b, 0x7b] {
        let claim = [head, 0x10, 0, 0, 0, 0, 0, 0, 0];
        for start in [
            &[0x82, 0x10][..],
            &[0x83, 0x11, 1],
            &[0x82, 0x18, 0x2a],
            &[0x83, 0x01, 0x02],
            &[0x83, 0x02, 0x02],
            &[0x85, 0x18, 0x22, 1],
            &[0x85, 0x18, 0x22, 1, 0x82, 1, 0x81, 0],
            // After all that is known, where elements are skipped.
            &[0x82, 0x03],
        ] {
            let message = [start, &claim, &[0; 40]].concat();
            assert_eq!(Request::read(&message), Err(Unreadable::Malformed), "{message:x?}");
        }
    }
    // As many fields of a message without fields.
    let message = [&[0x9b, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x03][..], &[0; 40]].concat();
    assert_eq!(Request::read(&message), Err(Unreadable::Malformed));
    // A megabyte of nested arrays in a skipped element.
    for nested in [0x81, 0x9f, 0xa1, 0xbf] {
        let message = [&[0x82, 0x03][..], &vec![nested; 1 << 20]].concat();
        assert_eq!(Request::read(&message), Err(Unreadable::Malformed));
    }
}

#[test]
fn attributes_must_ascend() {
    let find = |pairs: &[u8]| Request::read(&[&[0x82, 0x10, 0xa2][..], pairs].concat());
    assert!(find(&[3, 0x41, 1, 4, 0x41, 1]).is_ok());
    assert_eq!(find(&[3, 0x41, 1, 3, 0x41, 1]), Err(Unreadable::Malformed), "twice");
    assert_eq!(find(&[4, 0x41, 1, 3, 0x41, 1]), Err(Unreadable::Malformed), "descending");
}

#[test]
fn messages_of_later_releases_are_read_or_named_as_such() {
    // Hello with two more fields, one of them an array.
    let hello = [0x85, 0x01, 0x03, 0x61, b'p', 0x82, 1, 2, 0xf6];
    assert_eq!(Request::read(&hello), Ok(Request::Hello { version: 3, name: "p".into() }));
    let refused = [0x84, 0x00, 0x07, 0x60, 0xa1, 1, 2];
    let expected = Response::Refused { code: 7, detail: String::new() };
    assert_eq!(Response::read(&refused), Ok(expected));
    // A field that an earlier release did not have is missing only if it is optional.
    assert_eq!(
        Request::read(&[0x81, 0x18, 0x41]),
        Ok(Request::Unlock { passphrase: None, key_file: None })
    );
    assert_eq!(Request::read(&[0x82, 0x01, 0x02]), Err(Unreadable::Malformed));
    // Unknown messages, parameters and roles.
    for unknown in [&[0x81, 0x18, 0x7f][..], &[0x83, 0x04, 3, 0x41, 1]] {
        assert_eq!(Request::read(unknown), Err(Unreadable::Unknown));
    }
    let unknown = [0x85, 0x18, 0x22, 1, 0x82, 1, 0x82, 0x18, 0x55, 1, 0x41, 1, 0xf5];
    assert_eq!(Request::read(&unknown), Err(Unreadable::Unknown));
    assert_eq!(Response::read(&[0x82, 0x18, 0x55, 1]), Err(Unreadable::Unknown));
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
        assert_eq!(frame::read(&length.to_le_bytes()), Err(Unreadable::Malformed));
    }
}
