use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::proto::static_key::tests::counting;
use crate::proto::wire::{KeyId, RESEND_WRAPPED_KEY, SessionId};

const NOW: Now = Now { monotonic: Duration::ZERO, unix: 0x6500_0000 };

fn session(bytes: std::ops::RangeInclusive<u8>) -> SessionId {
    let bytes: Vec<u8> = bytes.collect();
    SessionId::new(bytes.try_into().expect("eight")).expect("not zero")
}

fn packet(opcode: Opcode, id: u32, content: &[u8]) -> Control<'_> {
    Control {
        header: Header { opcode, key_id: KeyId::default(), session: session(1..=8) },
        acks: [0].into_iter().collect(),
        remote: Some(session(0x11..=0x18)),
        message: (opcode != Opcode::Ack).then_some((id, content)),
    }
}

fn hello() -> Control<'static> {
    packet(Opcode::Control, 1, b"hello")
}

fn sealed(protection: &mut Protection, packet: &Control<'_>) -> Vec<u8> {
    let mut out = vec![9; 3];
    protection.seal(NOW, packet, &mut out).expect("sealed");
    assert_eq!(
        out.len(),
        HEADER_LEN + packet.body_len() + protection.overhead(packet.header.opcode)
    );
    out
}

/// Returns a client's first packet.
fn reset(client: &mut Protection) -> Vec<u8> {
    let opcode = client.client_reset();
    sealed(client, &packet(opcode, 0, b""))
}

fn auth(direction: Option<Direction>, digest: Digest) -> ProtectionKey {
    ProtectionKey::Auth { key: counting(), direction, digest }
}

fn crypt() -> ProtectionKey {
    ProtectionKey::Crypt { key: counting() }
}

/// Returns a server key and a client key wrapped by it.
fn crypt_v2() -> (ProtectionKey, ProtectionKey) {
    let key = ServerKey::generate(&mut |bytes| bytes.fill(5));
    let client = key.client(&mut |bytes| bytes.fill(6), &Metadata::timestamp(77));
    (ProtectionKey::CryptV2Server { key, shared: None }, ProtectionKey::CryptV2Client(client))
}

/// Returns for each kind of protection the server's and the client's key.
fn pairs() -> Vec<(ProtectionKey, ProtectionKey)> {
    let (normal, inverse) = (Some(Direction::Normal), Some(Direction::Inverse));
    vec![
        (ProtectionKey::Plain, ProtectionKey::Plain),
        (auth(None, Digest::Sha1), auth(None, Digest::Sha1)),
        (auth(normal, Digest::Sha256), auth(inverse, Digest::Sha256)),
        (auth(inverse, Digest::Sha512), auth(normal, Digest::Sha512)),
        (crypt(), crypt()),
        crypt_v2(),
    ]
}

fn protect(key: &ProtectionKey, role: Role) -> Protection {
    key.protect(role).expect("has a key")
}

/// The packet `hello` with long id 1 / 0x65000000 under the key of bytes 0 to 255.
///
/// By Python's `hmac.digest` and `openssl enc -aes-256-ctr`, with h = 20 01..08 (header), p =
/// 00000001 65000000, b = the body, k = bytes(range(256)): tls-crypt is h + p + t + CTR(key c, IV
/// t[:16], b) with t = HMAC-SHA256(m, h + p + b), c and m = k[128:160], k[192:224] from a client,
/// k[0:32], k[64:96] from a server; tls-auth is h + HMAC(m, p + h + b) + p + b.
#[test]
fn known_answers() {
    let body = "010000000011121314151617180000000168656c6c6f";
    let header = "200102030405060708";
    let id = "0000000165000000";
    let cases = [
        (
            protect(&crypt(), Role::Client),
            format!(
                "{header}{id}8eb2a86b2f8449841b19976aef73feb6c148c4e77612dd905eb5523d245f69e9\
                 101b74b885dcc7548fda322c06d523cccf45e6d2fc1e"
            ),
        ),
        (
            protect(&crypt(), Role::Server),
            format!(
                "{header}{id}a852d34a2c467911e21bf9028a206872702c525cb14f6d235f90eae9e4b79e99\
                 801dc02b8d571240f4db4efb88b8372955b05d09dcad"
            ),
        ),
        (
            protect(&auth(None, Digest::Sha1), Role::Client),
            format!("{header}18897a1d502809c7feeb94f1db78d9cdf5415509{id}{body}"),
        ),
        (
            protect(&auth(Some(Direction::Inverse), Digest::Sha1), Role::Client),
            format!("{header}1677518852e1170221108f13845578df2408555c{id}{body}"),
        ),
        (
            protect(&auth(Some(Direction::Normal), Digest::Sha512), Role::Server),
            format!(
                "{header}64274a19662e311017ce6310a6742c1b6188355dc6ad2523231489c52ac595b3\
                 d1060b77db74b24924db46d7610dee19540a8c3b95e94b135fb03fa9717cc9a5{id}{body}"
            ),
        ),
        (protect(&ProtectionKey::Plain, Role::Client), format!("{header}{body}")),
    ];
    for (mut protection, expected) in cases {
        let out = sealed(&mut protection, &hello());
        let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected, "{protection:?}");
    }
}

#[test]
fn both_directions_work() {
    for (server, client) in pairs() {
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        let accepted = server.accept(&mut bytes).expect("accepted");
        assert_eq!(accepted.packet, packet(client.client_reset(), 0, b""));
        assert_eq!(
            accepted.resends_wrapped_key,
            client.client_reset() == Opcode::HardResetClientV3
        );
        let mut server = accepted.protection;
        for opcode in [Opcode::Control, Opcode::Ack] {
            let up = packet(opcode, 1, b"up");
            assert_eq!(server.open(&mut sealed(&mut client, &up)), Ok(up));
            let down = packet(opcode, 1, b"down");
            assert_eq!(client.open(&mut sealed(&mut server, &down)), Ok(down));
        }
    }
}

#[test]
fn replay_is_refused() {
    for (server, client) in pairs().into_iter().skip(1) {
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        let mut server = server.accept(&mut bytes.clone()).expect("accepted").protection;
        if !matches!(client.wrap, Wrap::Crypt { wrapped: WrappedKey::Appended(_), .. }) {
            assert_eq!(server.open(&mut bytes), Err(Error::Replay));
        }
        let bytes = sealed(&mut client, &hello());
        assert!(server.open(&mut bytes.clone()).is_ok());
        assert_eq!(server.open(&mut bytes.clone()), Err(Error::Replay));
    }
}

#[test]
fn a_forged_packet_does_not_enter_the_window() {
    for (server, client) in pairs().into_iter().skip(1).take(4) {
        let mut client = protect(&client, Role::Client);
        let mut server = protect(&server, Role::Server);
        let bytes = sealed(&mut client, &hello());
        let mut forged = bytes.clone();
        *forged.last_mut().expect("bytes") ^= 1;
        assert_eq!(server.open(&mut forged), Err(Error::Authentication));
        assert!(server.open(&mut bytes.clone()).is_ok());
    }
}

#[test]
fn every_byte_is_authenticated_and_decrypted_bytes_are_wiped() {
    for (server, client) in pairs().into_iter().skip(1).take(4) {
        let bytes = sealed(&mut protect(&client, Role::Client), &hello());
        for at in 0..bytes.len() {
            let mut forged = bytes.clone();
            forged[at] ^= 0x80;
            let error = protect(&server, Role::Server).open(&mut forged).expect_err("forged");
            if at >= HEADER_LEN {
                assert_eq!(error, Error::Authentication, "{at}");
            }
            if matches!(server, ProtectionKey::Crypt { .. }) && at >= HEADER_LEN {
                assert!(forged[HEADER_LEN + crypt::OVERHEAD..].iter().all(|byte| *byte == 0));
            }
        }
    }
}

#[test]
fn short_packets_are_errors() {
    for (server, client) in pairs() {
        let mut client = protect(&client, Role::Client);
        let bytes = reset(&mut client);
        for len in 0..bytes.len() {
            assert!(server.accept(&mut bytes[..len].to_vec()).is_err(), "{len}");
        }
    }
    let mut server = protect(&crypt(), Role::Server);
    let bytes = sealed(&mut protect(&crypt(), Role::Client), &hello());
    for len in 0..HEADER_LEN + crypt::OVERHEAD {
        assert_eq!(server.open(&mut bytes[..len].to_vec()), Err(Error::Short), "{len}");
    }
}

#[test]
fn keys_of_another_kind_open_nothing() {
    let pairs = pairs();
    for (s, (server, _)) in pairs.iter().enumerate().skip(1) {
        for (c, (_, client)) in pairs.iter().enumerate() {
            let mut client = protect(client, Role::Client);
            let mut bytes = reset(&mut client);
            assert_eq!(server.accept(&mut bytes).is_ok(), s == c, "{s} {c}");
        }
    }
    let both_normal = auth(Some(Direction::Normal), Digest::Sha1);
    let bytes = sealed(&mut protect(&both_normal, Role::Client), &hello());
    assert_eq!(
        protect(&both_normal, Role::Server).open(&mut bytes.clone()),
        Err(Error::Authentication)
    );
}

#[test]
fn a_stateless_server_continues_after_its_answer() {
    for (server, client) in pairs() {
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        let first = server.accept(&mut bytes).expect("accepted");
        let metadata = first.client_key.flatten().and_then(|metadata| metadata.made_at());
        assert_eq!(metadata.is_some(), first.resends_wrapped_key);
        let mut stateless = first.protection;
        let answer = packet(Opcode::HardResetServerV2, 0, &RESEND_WRAPPED_KEY);
        let mut bytes = sealed(&mut stateless, &answer);
        drop(stateless);
        assert_eq!(client.open(&mut bytes), Ok(answer));

        // The client's third packet alone restores the session, in the same second.
        let opcode = match client.client_reset() {
            Opcode::HardResetClientV3 => Opcode::ControlWkc,
            _ => Opcode::Control,
        };
        let third = packet(opcode, 1, b"client hello");
        let mut bytes = sealed(&mut client, &third);
        let again = server.accept(&mut bytes).expect("accepted");
        assert_eq!(again.packet, third);
        let mut standing = again.protection;
        let down = packet(Opcode::Control, 1, b"server hello");
        assert_eq!(client.open(&mut sealed(&mut standing, &down)), Ok(down));

        // Sent again, its wrapped key is stripped and it is processed normally.
        let mut bytes = sealed(&mut client, &third);
        assert_eq!(standing.open(&mut bytes), Ok(third));
    }
}

#[test]
fn sessions_begin_with_few_opcodes_and_key_0() {
    let server = ProtectionKey::Plain;
    for (opcode, id) in [(Opcode::SoftReset, 0), (Opcode::HardResetServerV2, 0)] {
        let mut bytes = sealed(&mut protect(&server, Role::Client), &packet(opcode, id, b""));
        assert_eq!(server.accept(&mut bytes).err(), Some(Error::Opcode(opcode as u8)));
    }
    let mut later = hello();
    later.header.key_id = KeyId::new(1).expect("a key id");
    let mut bytes = sealed(&mut protect(&server, Role::Client), &later);
    assert_eq!(server.accept(&mut bytes).err(), Some(Error::KeyId(1)));
}

#[test]
fn wrapped_keys_come_to_servers_only() {
    let (server, client) = crypt_v2();
    let mut client = protect(&client, Role::Client);
    let mut bytes = sealed(&mut client, &packet(Opcode::HardResetClientV3, 0, b""));
    let mut server = server.accept(&mut bytes).expect("accepted").protection;
    let mut out = Vec::new();
    let wkc = packet(Opcode::ControlWkc, 1, b"");
    assert_eq!(server.seal(NOW, &wkc, &mut out), Err(Error::NoKey));
    let mut bytes = sealed(&mut client, &wkc);
    assert_eq!(client.open(&mut bytes.clone()), Err(Error::Opcode(11)));
    assert_eq!(crypt().accept(&mut bytes).err(), Some(Error::Opcode(11)));
}

#[test]
fn wrapped_keys_of_wrong_lengths_are_errors() {
    let (server, client) = crypt_v2();
    let mut client = protect(&client, Role::Client);
    let bytes = sealed(&mut client, &packet(Opcode::HardResetClientV3, 0, b""));
    for len in [0_u16, 1, 2, 31, 34, 289, 290, 298, 300, 400, 1024, 1025, u16::MAX] {
        let mut bytes = bytes.clone();
        let end = bytes.len() - 2;
        bytes[end..].copy_from_slice(&len.to_be_bytes());
        assert_eq!(server.accept(&mut bytes).err(), Some(Error::WrappedKey), "{len}");
    }
    // Only a header or less precedes the wrapped key.
    let wrapped = bytes[bytes.len() - 299..].to_vec();
    let short = [&bytes[..HEADER_LEN], &wrapped].concat();
    assert_eq!(server.accept(&mut short.clone()).err(), Some(Error::Short));
    let shorter = [&bytes[..HEADER_LEN - 1], &wrapped].concat();
    assert_eq!(server.accept(&mut shorter.clone()).err(), Some(Error::WrappedKey));
}

#[test]
fn a_server_accepts_clients_with_and_without_their_own_keys() {
    let (server, client_v2) = crypt_v2();
    let ProtectionKey::CryptV2Server { key, .. } = server else { panic!("a server") };
    let server = ProtectionKey::CryptV2Server { key, shared: Some(Box::new(crypt())) };
    for client in [client_v2, crypt()] {
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        assert!(server.accept(&mut bytes).is_ok());
    }
    let mut plain = protect(&ProtectionKey::Plain, Role::Client);
    let mut bytes = reset(&mut plain);
    assert!(server.accept(&mut bytes).is_err());
}

#[test]
fn renegotiations_mix_the_exported_and_the_current_key() {
    let exported = [0x5a; 256];
    for (server, client) in pairs() {
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        let server = server.accept(&mut bytes).expect("accepted").protection;
        let (mut up, mut down) = (client.dynamic(&exported), server.dynamic(&exported));
        let mut bytes = sealed(&mut up, &packet(Opcode::SoftReset, 0, b""));
        assert!(protect(&crypt(), Role::Server).open(&mut bytes.clone()).is_err());
        assert!(down.open(&mut bytes).is_ok());
        assert!(up.open(&mut sealed(&mut down, &hello())).is_ok());
    }
    // The exported material, XORed with the bytes 0 to 255, as the key.
    let mixed = StaticKey::new(std::array::from_fn(|i| i as u8 ^ 0x5a).into());
    let mut bytes = sealed(&mut protect(&crypt(), Role::Client).dynamic(&exported), &hello());
    let key = ProtectionKey::Crypt { key: mixed };
    assert!(protect(&key, Role::Server).open(&mut bytes).is_ok());
}

#[test]
fn debug_shows_no_key() {
    for (server, client) in pairs() {
        let text = format!("{server:?} {client:?} {:?}", protect(&client, Role::Client));
        // Bytes 64 to 66 of the counting key, and the bytes of the generated ones.
        for secret in ["64, 65, 66", "40414243", "5, 5, 5", "6, 6, 6"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..700),
        first in prop_oneof![Just(0x50_u8), Just(0x58), Just(0x20), Just(0x38), any::<u8>()],
        which in 0..6_usize,
    ) {
        let mut bytes = bytes;
        if let Some(byte) = bytes.first_mut() {
            *byte = first;
        }
        let (server, client) = pairs().swap_remove(which);
        let _ = server.accept(&mut bytes.clone());
        let _ = protect(&client, Role::Client).open(&mut bytes);
    }

    #[test]
    fn changed_packets_are_refused(
        which in 1..6_usize,
        at in any::<prop::sample::Index>(),
        flip in 1..=255_u8,
        cut in 0..3_usize,
    ) {
        let (server, client) = pairs().swap_remove(which);
        let mut client = protect(&client, Role::Client);
        let mut bytes = reset(&mut client);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        bytes.truncate(bytes.len() - cut);
        prop_assert!(server.accept(&mut bytes).is_err());
    }
}
