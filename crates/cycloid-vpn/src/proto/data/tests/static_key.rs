//! Static keys: the format of packets, directions, and replays across series.

use super::*;
use crate::proto::static_key::{Direction, StaticKey};

const CIPHER: Cipher = Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha256 };

fn parameters() -> Parameters {
    Parameters { peer_id: None, key_id: KeyId::FIRST, ..super::parameters(CIPHER) }
}

fn key() -> StaticKey {
    StaticKey::new(Zeroizing::new(bytes()))
}

/// Returns the sealer of one end and the opener of the other.
fn pair(ours: Option<Direction>, theirs: Option<Direction>, unix: u32) -> (Arc<Sealer>, Opener) {
    let (sealer, _) = static_keys(&key(), ours, &parameters(), unix).unwrap();
    let (_, opener) = static_keys(&key(), theirs, &parameters(), unix).unwrap();
    (sealer, opener)
}

/// Builds a packet step by step.
fn model(half: &[u8], (id, time): (u32, u32), iv: [u8; 16], inner: &[u8]) -> Vec<u8> {
    let plain = [&id.to_be_bytes(), &time.to_be_bytes(), inner].concat();
    let text = encrypt_cbc::<::cbc::Encryptor<aes::Aes256>>(&half[..32], iv, &plain);
    let body = [&iv[..], &text].concat();
    [mac(Digest::Sha256, &half[64..], &body), body].concat()
}

#[test]
fn packets_have_the_documented_form_in_each_direction() {
    let bytes = bytes();
    let (first, second) = bytes.split_at(128);
    let both = [Direction::Normal, Direction::Inverse].map(Some);
    for (ours, theirs, half) in
        [(None, None, first), (both[0], both[1], first), (both[1], both[0], second)]
    {
        let (sealer, mut opener) = pair(ours, theirs, 1_800_000_000);
        for (number, inner) in (1..).zip([&b"a packet"[..], b"", &[7; 1500]]) {
            let mut packet = seal(&sealer, &[inner]);
            let iv = packet[32..48].try_into().unwrap();
            assert_eq!(packet, model(half, (number, 1_800_000_000), iv, inner));
            assert!(packet.len() <= inner.len() + sealer.overhead());
            assert_eq!(opener.open(&mut packet.clone()).unwrap(), inner);
            assert_eq!(opener.open(&mut packet), Err(Error::Replay));
        }
    }
}

#[test]
fn wrong_packets_do_not_open() {
    let (sealer, mut opener) = pair(None, None, 5);
    let packet = seal(&sealer, &[b"inner"]);
    for length in 0..packet.len() {
        assert!(opener.open(&mut packet[..length].to_vec()).is_err(), "{length}");
    }
    for at in 0..packet.len() {
        let mut packet = packet.clone();
        packet[at] ^= 1;
        assert_eq!(opener.open(&mut packet), Err(Error::NotAuthentic("data packet")), "{at}");
    }
    // The other direction has other keys.
    let (_, mut other) = pair(Some(Direction::Normal), Some(Direction::Normal), 5);
    assert!(other.open(&mut packet.clone()).is_err());
    assert_eq!(opener.open(&mut packet.clone()).unwrap(), b"inner");
}

#[test]
fn a_restarted_sender_ends_the_earlier_series() {
    let (old, mut opener) = pair(None, None, 100);
    let (new, _) = pair(None, None, 200);
    let [first, late] = [b"first", b"late!"].map(|inner| seal(&old, &[inner]));
    assert!(opener.open(&mut first.clone()).is_ok());
    assert!(opener.open(&mut seal(&new, &[b"new"])).is_ok());
    for mut packet in [first, late] {
        assert_eq!(opener.open(&mut packet), Err(Error::Replay));
    }
}

#[test]
fn used_up_numbers_begin_again_in_a_later_series() {
    let (sealer, mut opener) = pair(None, None, 100);
    sealer.age(u64::from(u32::MAX) - 1, 0);
    let bytes = bytes();
    for id in [(u32::MAX, 100), (1, 101), (2, 101)] {
        let mut packet = seal(&sealer, &[b"inner"]);
        let iv = packet[32..48].try_into().unwrap();
        assert_eq!(packet, model(&bytes[..128], id, iv, b"inner"));
        assert!(opener.open(&mut packet).is_ok());
    }
    assert!(!sealer.wants_rekey() || sealer.reserve(1).is_ok());
}

#[test]
fn only_cbc_is_possible() {
    let aead = Parameters { cipher: Cipher::Aes256Gcm, ..parameters() };
    let with_peer = Parameters { peer_id: Some(1), ..parameters() };
    for parameters in [aead, with_peer] {
        assert!(static_keys(&key(), None, &parameters, 1).is_err());
    }
}
