use proptest::prelude::*;

use super::*;

fn session(byte: u8) -> SessionId {
    SessionId::new([byte; 8]).expect("not zero")
}

fn header(opcode: Opcode) -> Header {
    Header { opcode, key_id: KeyId(0), session: session(7) }
}

#[test]
fn first_bytes() {
    assert_eq!(first_byte(0x38), Ok((Opcode::HardResetClientV2, KeyId(0))));
    assert_eq!(first_byte(0x40), Ok((Opcode::HardResetServerV2, KeyId(0))));
    assert_eq!(first_byte(0x4f), Ok((Opcode::DataV2, KeyId(7))));
    assert_eq!(first_byte(0x50), Ok((Opcode::HardResetClientV3, KeyId(0))));
    for bits in [0, 1, 2, 12, 31] {
        assert_eq!(first_byte(bits << 3), Err(Error::Opcode(bits)));
    }
}

#[test]
fn key_ids_wrap_without_zero() {
    let ids = std::iter::successors(Some(KeyId(0)), |id| Some(id.next()));
    assert_eq!(ids.map(KeyId::get).take(10).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 1, 2]);
    assert_eq!(KeyId::new(8), None);
}

#[test]
fn layout_of_a_body() {
    let packet = Control {
        header: header(Opcode::Control),
        acks: [1, 0x0102_0304].into_iter().collect(),
        remote: Some(session(9)),
        message: Some((5, b"tls")),
    };
    let mut body = Vec::new();
    packet.write_body(&mut body);
    let mut expected = vec![2, 0, 0, 0, 1, 1, 2, 3, 4];
    expected.extend_from_slice(&[9; 8]);
    expected.extend_from_slice(&[0, 0, 0, 5, b't', b'l', b's']);
    assert_eq!(body, expected);
    assert_eq!(packet.body_len(), body.len());
    assert_eq!(Control::parse_body(packet.header, &body), Ok(packet));
}

#[test]
fn short_packets_are_errors() {
    let packet = Control {
        header: header(Opcode::Control),
        acks: [1].into_iter().collect(),
        remote: Some(session(9)),
        message: Some((5, b"")),
    };
    let mut body = Vec::new();
    packet.write_body(&mut body);
    for len in 0..body.len() {
        assert_eq!(Control::parse_body(packet.header, &body[..len]), Err(Error::Short), "{len}");
    }
    for len in 0..HEADER_LEN {
        assert_eq!(Header::parse(&packet.header.to_bytes()[..len]), Err(Error::Short), "{len}");
    }
}

#[test]
fn long_packets_are_errors() {
    let mut packet = header(Opcode::Control).to_bytes().to_vec();
    packet.resize(MAX_RECEIVED_CONTROL_PACKET, 1);
    assert!(Header::parse(&packet).is_ok());
    packet.push(1);
    assert_eq!(Header::parse(&packet), Err(Error::Long));
    assert_eq!(Control::parse_body(header(Opcode::Ack), &[0, 0]), Err(Error::Long));
    let acks = [9; 1 + 9 * 4 + 8];
    assert_eq!(Control::parse_body(header(Opcode::Ack), &acks), Err(Error::Acknowledgements));
}

#[test]
fn session_ids_of_zeros_are_errors() {
    let mut packet = header(Opcode::Control).to_bytes();
    packet[1..].fill(0);
    assert_eq!(Header::parse(&packet), Err(Error::SessionId));
    let mut body = vec![1, 0, 0, 0, 0];
    body.extend_from_slice(&[0; 8]);
    assert_eq!(Control::parse_body(header(Opcode::Ack), &body), Err(Error::SessionId));
}

#[test]
fn resets_in_mid_session_are_errors() {
    let numbered = [0, 0, 0, 0, 1];
    for opcode in [
        Opcode::HardResetClientV2,
        Opcode::HardResetClientV3,
        Opcode::HardResetServerV2,
        Opcode::SoftReset,
    ] {
        assert_eq!(Control::parse_body(header(opcode), &numbered), Err(Error::Sequence));
        assert!(Control::parse_body(header(opcode), &[0; 5]).is_ok());
    }
    for first in [0x39, 0x41, 0x57] {
        let packet = [first, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(Header::parse(&packet), Err(Error::KeyId(first & 7)));
    }
}

#[test]
fn data_packets_are_not_control_packets() {
    for opcode in [Opcode::DataV1, Opcode::DataV2] {
        let packet = header(opcode).to_bytes();
        assert_eq!(Header::parse(&packet), Err(Error::Opcode(opcode as u8)));
    }
}

#[test]
fn early_negotiation() {
    assert_eq!(asks_for_wrapped_key(&[]), Ok(false));
    assert_eq!(asks_for_wrapped_key(&RESEND_WRAPPED_KEY), Ok(true));
    assert_eq!(asks_for_wrapped_key(&[0, 1, 0, 2, 0, 2]), Ok(false));
    assert_eq!(asks_for_wrapped_key(&[9, 9, 0, 1, 5, 0, 1, 0, 2, 0, 1]), Ok(true));
    for len in 1..RESEND_WRAPPED_KEY.len() {
        assert_eq!(asks_for_wrapped_key(&RESEND_WRAPPED_KEY[..len]), Err(Error::Short));
    }
    assert_eq!(asks_for_wrapped_key(&[0, 1, 0, 1, 1]), Err(Error::Long));
    assert_eq!(asks_for_wrapped_key(&[0, 1, 0xff, 0xff, 1]), Err(Error::Short));
}

proptest! {
    #[test]
    fn packets_round_trip(
        opcode in prop_oneof![Just(Opcode::Control), Just(Opcode::Ack), Just(Opcode::ControlWkc)],
        key_id in 0..8u8,
        acks in proptest::collection::vec(any::<u32>(), 0..=8),
        id in any::<u32>(),
        content in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let header = Header { opcode, key_id: KeyId(key_id), session: session(3) };
        let packet = Control {
            header,
            acks: acks.iter().copied().collect(),
            remote: (!acks.is_empty()).then(|| session(4)),
            message: (opcode != Opcode::Ack).then_some((id, &content[..])),
        };
        let mut body = Vec::new();
        packet.write_body(&mut body);
        prop_assert_eq!(body.len(), packet.body_len());
        prop_assert_eq!(Header::parse(&header.to_bytes()), Ok(header));
        prop_assert_eq!(Control::parse_body(header, &body), Ok(packet));
    }

    #[test]
    fn nothing_panics(packet in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(header) = Header::parse(&packet) {
            let body = &packet[HEADER_LEN..];
            if let Ok(packet) = Control::parse_body(header, body) {
                let mut again = Vec::new();
                packet.write_body(&mut again);
                prop_assert_eq!(&again[..], body);
            }
        }
        let _ = asks_for_wrapped_key(&packet);
    }
}
