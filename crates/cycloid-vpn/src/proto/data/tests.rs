//! Tests each cipher against a slow RustCrypto model, and that invalid packets do not open.

use std::sync::Arc;

use ::cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::Pkcs7};
use aes_gcm::aead::{Aead, KeyInit, Payload};
use hmac::Mac;
use proptest::prelude::*;
use zeroize::Zeroizing;

use super::*;
use crate::proto::{Error, Role};

mod epochs;
mod static_key;

const AEADS: [Cipher; 4] =
    [Cipher::Aes256Gcm, Cipher::Aes192Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305];

fn ciphers() -> Vec<Cipher> {
    let chained = [CbcCipher::Aes128, CbcCipher::Aes192, CbcCipher::Aes256]
        .into_iter()
        .zip([Digest::Sha1, Digest::Sha256, Digest::Sha512])
        .chain([(CbcCipher::Aes256, Digest::Sha384)]);
    AEADS
        .into_iter()
        .chain(chained.map(|(cipher, digest)| Cipher::Cbc { cipher, digest }))
        .collect()
}

/// All bytes differ, so that a wrong offset is detected.
fn material() -> KeyMaterial {
    Zeroizing::new(std::array::from_fn(|i| (i as u8).wrapping_mul(167).wrapping_add(11))).into()
}

fn bytes() -> [u8; 256] {
    std::array::from_fn(|i| (i as u8).wrapping_mul(167).wrapping_add(11))
}

fn parameters(cipher: Cipher) -> Parameters {
    Parameters {
        cipher,
        key_id: KeyId::new(5).unwrap(),
        peer_id: Some(0x0a_bc_de),
        epochs: false,
        framing: Framing::None,
        fragment: None,
        decompress: false,
        replay_window: 64,
    }
}

/// Returns the role's sealer and the other role's opener.
fn pair(role: Role, parameters: &Parameters) -> (Arc<Sealer>, Opener) {
    let other = if role == Role::Client { Role::Server } else { Role::Client };
    let (sealer, _) = keys(&material(), role, parameters).unwrap();
    let (_, opener) = keys(&material(), other, parameters).unwrap();
    (sealer, opener)
}

fn id(sealer: &Sealer) -> PacketId {
    sealer.reserve(1).unwrap().next().unwrap()
}

fn seal(sealer: &Sealer, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![0; length + sealer.overhead()];
    let sealed = sealer.seal(id(sealer), parts, &mut out).unwrap();
    out.truncate(sealed);
    out
}

/// Builds a packet step by step, as on the wire, with `iv` for CBC.
fn model(role: Role, parameters: &Parameters, id: u32, iv: [u8; 16], inner: &[u8]) -> Vec<u8> {
    let bytes = bytes();
    let half = if role == Role::Client { &bytes[..128] } else { &bytes[128..] };
    let key = &half[..parameters.cipher.key_length()];
    let mut packet = match parameters.peer_id {
        Some(peer) => (((9 << 3 | 5) << 24) | peer).to_be_bytes().to_vec(),
        None => vec![6 << 3 | 5],
    };
    if let Cipher::Cbc { cipher, digest } = parameters.cipher {
        let plain = [&id.to_be_bytes(), inner].concat();
        let text = match cipher {
            CbcCipher::Aes128 => encrypt_cbc::<::cbc::Encryptor<aes::Aes128>>(key, iv, &plain),
            CbcCipher::Aes192 => encrypt_cbc::<::cbc::Encryptor<aes::Aes192>>(key, iv, &plain),
            CbcCipher::Aes256 => encrypt_cbc::<::cbc::Encryptor<aes::Aes256>>(key, iv, &plain),
        };
        let body = [&iv[..], &text].concat();
        packet.extend(mac(digest, &half[64..], &body));
        packet.extend(body);
        return packet;
    }
    packet.extend(id.to_be_bytes());
    let aad = if parameters.peer_id.is_some() { &packet[..] } else { &packet[1..] };
    let nonce: [u8; 12] = [&id.to_be_bytes(), &half[64..72]].concat().try_into().unwrap();
    let sealed = match parameters.cipher {
        Cipher::Aes256Gcm => encrypt::<aes_gcm::Aes256Gcm>(key, nonce, aad, inner),
        Cipher::Aes192Gcm => encrypt::<aes_gcm::AesGcm<aes::Aes192, aes_gcm::aead::consts::U12>>(
            key, nonce, aad, inner,
        ),
        Cipher::Aes128Gcm => encrypt::<aes_gcm::Aes128Gcm>(key, nonce, aad, inner),
        _ => encrypt::<chacha20poly1305::ChaCha20Poly1305>(key, nonce, aad, inner),
    };
    let (text, tag) = sealed.split_at(inner.len());
    [&packet, tag, text].concat()
}

fn encrypt<A: Aead + KeyInit>(key: &[u8], nonce: [u8; 12], aad: &[u8], msg: &[u8]) -> Vec<u8> {
    let nonce = nonce[..].try_into().unwrap();
    A::new_from_slice(key).unwrap().encrypt(nonce, Payload { msg, aad }).unwrap()
}

fn encrypt_cbc<E: KeyIvInit + BlockModeEncrypt>(key: &[u8], iv: [u8; 16], plain: &[u8]) -> Vec<u8> {
    E::new_from_slices(key, &iv).unwrap().encrypt_padded_vec::<Pkcs7>(plain)
}

fn mac(digest: Digest, key: &[u8], data: &[u8]) -> Vec<u8> {
    fn run<M: Mac + KeyInit>(key: &[u8], data: &[u8]) -> Vec<u8> {
        let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
        mac.update(data);
        mac.finalize().into_bytes().to_vec()
    }
    let key = &key[..digest.length()];
    match digest {
        Digest::Sha1 => run::<hmac::Hmac<sha1::Sha1>>(key, data),
        Digest::Sha256 => run::<hmac::Hmac<sha2::Sha256>>(key, data),
        Digest::Sha384 => run::<hmac::Hmac<sha2::Sha384>>(key, data),
        Digest::Sha512 => run::<hmac::Hmac<sha2::Sha512>>(key, data),
    }
}

#[test]
fn packets_equal_the_model() {
    for cipher in ciphers() {
        for role in [Role::Client, Role::Server] {
            for peer_id in [None, Some(0), Some(0xff_ffff)] {
                let parameters = Parameters { peer_id, ..parameters(cipher) };
                let (sealer, mut opener) = pair(role, &parameters);
                for (n, length) in [0, 1, 15, 16, 17, 100, 1400].into_iter().enumerate() {
                    let inner: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
                    let mut sealed = seal(&sealer, &[&inner]);
                    let id = n as u32 + 1;
                    if cipher.is_aead() {
                        assert_eq!(sealed, model(role, &parameters, id, [0; 16], &inner));
                        assert_eq!(sealed.len(), inner.len() + sealer.overhead());
                    } else {
                        // The IV is between HMAC and ciphertext.
                        let Cipher::Cbc { digest, .. } = cipher else { unreachable!() };
                        let at = if peer_id.is_some() { 4 } else { 1 } + digest.length();
                        let iv = sealed[at..at + 16].try_into().unwrap();
                        assert_eq!(sealed, model(role, &parameters, id, iv, &inner));
                    }
                    assert_eq!(opener.open(&mut sealed).unwrap(), inner);
                }
                assert_eq!(sealer.used(), (7, 1549));
                assert_eq!(opener.used(), (7, 1549));
            }
        }
    }
}

#[test]
fn parts_form_one_packet() {
    for cipher in ciphers() {
        let (sealer, mut opener) = pair(Role::Client, &parameters(cipher));
        let mut sealed = seal(&sealer, &[&[1, 2], &[], &[3; 30], &[4]]);
        assert_eq!(opener.open(&mut sealed).unwrap(), [&[1, 2][..], &[3; 30], &[4]].concat());
    }
}

#[test]
fn a_change_of_any_byte_is_detected() {
    for cipher in ciphers() {
        let (sealer, mut opener) = pair(Role::Server, &parameters(cipher));
        let sealed = seal(&sealer, &[&[9; 50]]);
        // With CBC the peer id before the HMAC is not authenticated.
        let authentic = if cipher.is_aead() { 0..0 } else { 1..4 };
        for at in (0..sealed.len()).filter(|at| !authentic.contains(at)) {
            for flip in [1, 0x80] {
                let mut forged = sealed.clone();
                forged[at] ^= flip;
                assert!(opener.open(&mut forged).is_err(), "byte {at}, {cipher:?}");
            }
        }
        // The forgeries did not use up the packet's id.
        assert_eq!(opener.open(&mut sealed.clone()).unwrap(), [9; 50]);
        assert_eq!(opener.open(&mut sealed.clone()), Err(Error::Replay));
        assert_eq!(opener.used(), (1, 50));
    }
}

#[test]
fn truncated_packets_do_not_open() {
    for cipher in ciphers() {
        for peer_id in [None, Some(7)] {
            let (sealer, mut opener) =
                pair(Role::Server, &Parameters { peer_id, ..parameters(cipher) });
            let sealed = seal(&sealer, &[&[9; 50]]);
            for length in 0..sealed.len() {
                assert!(opener.open(&mut sealed[..length].to_vec()).is_err());
            }
            assert!(opener.open(&mut [&sealed[..], &[0]].concat()).is_err());
            assert!(opener.open(&mut sealed.clone()).is_ok());
        }
    }
}

#[test]
fn a_packet_opens_under_its_own_key_only() {
    for cipher in ciphers() {
        let parameters = parameters(cipher);
        let (sealer, _) = pair(Role::Client, &parameters);
        let sealed = seal(&sealer, &[b"inner"]);
        // The sender's own opener has the other direction's key.
        let (_, mut own) = keys(&material(), Role::Client, &parameters).unwrap();
        assert!(matches!(own.open(&mut sealed.clone()), Err(Error::NotAuthentic(_))));
        let key_id = KeyId::new(4).unwrap();
        let (_, mut other) = pair(Role::Client, &Parameters { key_id, ..parameters });
        assert!(matches!(other.open(&mut sealed.clone()), Err(Error::NotAuthentic(_))));
        for opcode in (0..32).filter(|opcode| ![DATA_V1, DATA_V2].contains(opcode)) {
            let mut wrong = sealed.clone();
            wrong[0] = opcode << 3 | 5;
            let (_, mut opener) = pair(Role::Client, &parameters);
            assert!(matches!(opener.open(&mut wrong), Err(Error::Malformed(_))));
        }
    }
}

#[test]
fn late_packets_open_within_the_window_and_once() {
    for cipher in ciphers() {
        let (sealer, mut opener) = pair(Role::Client, &parameters(cipher));
        let packets: Vec<_> = (0..66_u8).map(|n| seal(&sealer, &[&[n]])).collect();
        let mut open = |n: usize| opener.open(&mut packets[n].clone()).map(|inner| inner[0]);
        assert_eq!(open(65), Ok(65));
        assert_eq!(open(1), Err(Error::Replay), "64 behind");
        assert_eq!(open(2), Ok(2), "63 behind");
        assert_eq!(open(2), Err(Error::Replay));
        assert_eq!(open(40), Ok(40));
        assert_eq!(open(65), Err(Error::Replay));
    }
}

#[test]
fn a_key_is_exhausted_before_its_ids_wrap() {
    let (sealer, mut opener) = pair(Role::Client, &parameters(Cipher::ChaCha20Poly1305));
    sealer.age(0xefff_ffff, 0);
    assert!(!sealer.wants_rekey());
    sealer.age(u64::from(u32::MAX) - 2, 0);
    assert!(sealer.wants_rekey());
    assert_eq!(sealer.reserve(3).map(|_| ()), Err(Exhausted));
    let ids = sealer.reserve(2).unwrap();
    assert_eq!(ids.len(), 2);
    for id in ids {
        let mut out = [0; 64];
        let length = sealer.seal(id, &[b"last"], &mut out).unwrap();
        assert_eq!(opener.open(&mut out[..length]).unwrap(), b"last");
    }
    assert_eq!(sealer.reserve(1).map(|_| ()), Err(Exhausted));
    assert_eq!(sealer.reserve(u32::MAX).map(|_| ()), Err(Exhausted));
    assert_eq!(sealer.used().0, u64::from(u32::MAX));
}

#[test]
fn aes_keys_have_a_block_limit() {
    for (cipher, limited) in [(Cipher::Aes256Gcm, true), (Cipher::ChaCha20Poly1305, false)] {
        let (sealer, _) = pair(Role::Client, &parameters(cipher));
        sealer.age(1 << 20, (1 << 39) + (1 << 38));
        assert!(!sealer.wants_rekey(), "three quarters");
        sealer.age(1 << 20, (1 << 40) - (1 << 30));
        assert_eq!(sealer.wants_rekey(), limited);
        assert!(sealer.reserve(1).is_ok());
        sealer.age(1 << 20, 1 << 40);
        assert_eq!(sealer.reserve(1).is_err(), limited);
    }
}

#[test]
fn threads_never_share_an_id() {
    let (sealer, _) = pair(Role::Client, &parameters(Cipher::Aes128Gcm));
    let take = || (0..2000).flat_map(|n| sealer.reserve(n % 5).unwrap()).collect::<Vec<_>>();
    let mut ids: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .map(PacketId::number)
            .collect()
    });
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=12_000));
}

#[test]
fn framing_is_added_and_removed() {
    let cases: [(Framing, &[u8], &[u8]); 9] = [
        (Framing::None, &[0x50, 2], &[0x50, 2]),
        (Framing::Prefix, &[1, 2], &[0xfa, 1, 2]),
        (Framing::Prefix, &[], &[0xfa]),
        (Framing::Swap, &[1, 2, 3], &[0xfb, 2, 3, 1]),
        (Framing::Swap, &[1], &[0xfb, 1]),
        (Framing::Swap, &[], &[]),
        (Framing::StubV2, &[0x45, 2], &[0x45, 2]),
        (Framing::StubV2, &[0x50, 2], &[0x50, 0, 0x50, 2]),
        (Framing::StubV2, &[], &[]),
    ];
    for (framing, inner, marked) in cases {
        for cipher in [Cipher::Aes128Gcm, ciphers()[4]] {
            let plain = parameters(cipher);
            let (sealer, mut opener) = pair(Role::Client, &Parameters { framing, ..plain });
            let sealed = seal(&sealer, &[inner]);
            assert!(sealed.len() <= inner.len() + sealer.overhead());
            assert_eq!(opener.open(&mut sealed.clone()).unwrap(), inner, "{framing:?}");
            let (_, mut opener) = pair(Role::Client, &plain);
            assert_eq!(opener.open(&mut sealed.clone()).unwrap(), marked, "{framing:?}");
            let sealed = seal(&sealer, &[&inner[..inner.len() / 2], &inner[inner.len() / 2..]]);
            assert_eq!(opener.open(&mut sealed.clone()).unwrap(), marked, "{framing:?}, parts");
        }
    }
}

/// Packets that a peer compresses, and the packet in them: LZO and LZ4, in every framing.
fn compressed() -> Vec<(Framing, Vec<u8>, Vec<u8>)> {
    let inner = [[0x45; 100], [7; 100]].concat();
    // One literal and a copy of length 99, twice.
    let half = |byte: u8, first: bool| {
        let begin = if first { vec![18, byte] } else { vec![] };
        [&begin[..], &[32, 99 - 33, 0, 0]].concat()
    };
    let mut lzo = half(0x45, true);
    // The last two bits of the copy's distance announce a literal.
    let last = lzo.len() - 2;
    lzo[last] |= 1;
    lzo.push(7);
    lzo.extend(half(7, false));
    lzo.extend([17, 0, 0]);
    let lz4 = lz4_flex::block::compress(&inner);
    let swapped = [&[0x69], &lz4[1..], &lz4[..1]].concat();
    vec![
        (Framing::Prefix, [&[0x66], &lzo[..]].concat(), inner.clone()),
        (Framing::Swap, swapped, inner.clone()),
        (Framing::StubV2, [&[0x50, 1], &lz4[..]].concat(), inner.clone()),
        (Framing::StubV2, [&[0x50, 2], &lzo[..]].concat(), inner),
    ]
}

#[test]
fn compressed_packets_open_if_allowed() {
    for (framing, sent, inner) in compressed() {
        let plain = parameters(Cipher::Aes256Gcm);
        let (sealer, _) = pair(Role::Client, &plain);
        let allowed = Parameters { framing, decompress: true, ..plain };
        let (_, mut opener) = pair(Role::Client, &allowed);
        let mut packet = seal(&sealer, &[&sent]);
        assert_eq!(opener.open_any(&mut packet), Ok(Opened::Apart), "{framing:?}");
        assert_eq!(opener.apart(), inner, "{framing:?}");
        // Uncompressed packets still open in place.
        let (own, _) = pair(Role::Client, &allowed);
        own.reserve(1).unwrap();
        assert_eq!(opener.open(&mut seal(&own, &[&inner])).unwrap(), inner);
        // Truncated ones are errors, and no panics.
        for length in 2..sent.len() {
            let mut packet = seal(&sealer, &[&sent[..length]]);
            let (_, mut opener) = pair(Role::Client, &allowed);
            if let Ok(Opened::Apart) = opener.open_any(&mut packet) {
                assert_ne!(opener.apart(), inner, "{framing:?} {length}");
            }
        }
        // Nothing is compressed here.
        assert!(seal(&own, &[&inner]).len() >= inner.len());
    }
}

#[test]
fn a_decompressed_packet_has_a_limit() {
    let lz4 = lz4_flex::block::compress(&vec![0; 65_536]);
    let lzo = [&[18, 0, 32][..], &[0; 300], &[1, 0, 0, 17, 0, 0]].concat();
    for (second, bomb) in [(1, lz4), (2, lzo)] {
        let plain = parameters(Cipher::Aes256Gcm);
        let (sealer, _) = pair(Role::Client, &plain);
        let framing = Framing::StubV2;
        let (_, mut opener) =
            pair(Role::Client, &Parameters { framing, decompress: true, ..plain });
        let mut packet = seal(&sealer, &[&[0x50, second], &bomb]);
        assert_eq!(opener.open_any(&mut packet), Err(Error::Malformed("compressed packet")));
    }
}

#[test]
fn compressed_packets_are_refused() {
    let compressed: [(Framing, &[u8]); 5] = [
        (Framing::Prefix, &[0x66, 1, 2]),
        (Framing::Swap, &[0x69, 1, 2]),
        (Framing::StubV2, &[0x50, 1, 2]),
        (Framing::StubV2, &[0x50, 2, 2]),
        (Framing::StubV2, &[0x50]),
    ];
    for (framing, inner) in compressed {
        let plain = parameters(Cipher::Aes256Gcm);
        let (sealer, _) = pair(Role::Client, &plain);
        let (_, mut opener) = pair(Role::Client, &Parameters { framing, ..plain });
        let result = opener.open(&mut seal(&sealer, &[inner])).map(|_| ());
        assert!(matches!(result, Err(Error::Incompatible(_))), "{framing:?}: {result:?}");
        if framing != Framing::StubV2 {
            let result = opener.open(&mut seal(&sealer, &[&[0x45, 0]])).map(|_| ());
            assert!(matches!(result, Err(Error::Malformed(_))));
        }
    }
    // Both version 1 framings use the same bytes.
    let plain = parameters(Cipher::Aes256Gcm);
    let (sealer, _) = pair(Role::Client, &plain);
    let (_, mut opener) = pair(Role::Client, &Parameters { framing: Framing::Prefix, ..plain });
    assert_eq!(opener.open(&mut seal(&sealer, &[&[0xfb, 2, 1]])).unwrap(), [1, 2]);
    assert_eq!(opener.open(&mut seal(&sealer, &[&[0xfb]])).unwrap(), b"");
}

#[test]
fn sealing_needs_enough_room() {
    for cipher in ciphers() {
        for framing in [Framing::None, Framing::Prefix, Framing::Swap, Framing::StubV2] {
            let (sealer, _) = pair(Role::Client, &Parameters { framing, ..parameters(cipher) });
            let inner = [0x50; 47];
            let length = seal(&sealer, &[&inner]).len();
            for room in 0..length {
                for parts in [&[&inner[..]][..], &[&inner[..9], &inner[9..]]] {
                    assert!(sealer.seal(id(&sealer), parts, &mut vec![0; room]).is_err());
                }
            }
            let mut room = vec![0; 70_000];
            assert!(sealer.seal(id(&sealer), &[&[0; 65_535]], &mut room).is_ok());
            assert!(sealer.seal(id(&sealer), &[&[0; 65_536]], &mut room).is_err());
            assert!(sealer.seal(id(&sealer), &[&[0; 65_535], &[0]], &mut room).is_err());
        }
    }
}

#[test]
fn headers_contain_key_and_peer_id() {
    let key = |n| KeyId::new(n).unwrap();
    assert_eq!(data_header(&[9 << 3 | 3, 1, 2, 3]), Some((key(3), Some(0x01_02_03))));
    assert_eq!(data_header(&[6 << 3 | 7]), Some((key(7), None)));
    for packet in [&[][..], &[9 << 3, 1, 2], &[4 << 3, 0, 0, 0], &[0; 9], &[0xff; 9]] {
        assert_eq!(data_header(packet), None);
    }
}

#[test]
fn ciphers_have_their_names() {
    for cipher in ciphers() {
        let digest = if let Cipher::Cbc { digest, .. } = cipher { digest } else { Digest::Sha1 };
        assert_eq!(Cipher::from_name(&cipher.name().to_lowercase(), digest), Some(cipher));
    }
    for name in ["BF-CBC", "none", "", "AES-256-GCM "] {
        assert_eq!(Cipher::from_name(name, Digest::Sha1), None);
    }
    for (name, digest) in [
        ("sha1", Digest::Sha1),
        ("SHA256", Digest::Sha256),
        ("SHA-384", Digest::Sha384),
        ("RSA-SHA512", Digest::Sha512),
    ] {
        assert_eq!(Digest::from_name(name), Some(digest));
    }
    assert_eq!(Digest::from_name("MD5"), None);
    assert_eq!(Digest::from_name("SHA-"), None);
}

#[test]
fn a_peer_id_has_24_bits() {
    let parameters = Parameters { peer_id: Some(1 << 24), ..parameters(Cipher::Aes256Gcm) };
    assert!(keys(&material(), Role::Client, &parameters).is_err());
}

/// Returns a CBC packet with a valid HMAC over arbitrary blocks.
fn authentic(plain: &[u8]) -> Vec<u8> {
    let bytes = bytes();
    let mut body = vec![3; 16];
    let mut cipher =
        ::cbc::Encryptor::<aes::Aes128>::new_from_slices(&bytes[..16], &[3; 16]).unwrap();
    for block in plain.chunks_exact(16) {
        let mut block = aes::Block::try_from(block).unwrap();
        cipher.encrypt_block(&mut block);
        body.extend_from_slice(&block);
    }
    let tag = mac(Digest::Sha1, &bytes[64..], &body);
    [&[6 << 3 | 5][..], &tag, &body].concat()
}

#[test]
fn padding_is_checked_in_full() {
    let plain = |end: &[u8]| {
        let mut plain = vec![0; 32 - end.len()];
        plain[3] = 1;
        plain.extend_from_slice(end);
        plain
    };
    let opener = || pair(Role::Client, &parameters(ciphers()[4])).1;
    assert_eq!(opener().open(&mut authentic(&plain(&[1]))).unwrap().len(), 27);
    assert_eq!(opener().open(&mut authentic(&plain(&[16; 16]))).unwrap().len(), 12);
    for end in [&[0][..], &[17; 17], &[2, 3, 3], &[255]] {
        assert_eq!(opener().open(&mut authentic(&plain(end))), Err(Error::Malformed("padding")));
    }
    // One block in which the packet id does not fit next to the padding; packet id 0.
    assert!(opener().open(&mut authentic(&[13; 16])).is_err());
    assert!(opener().open(&mut authentic(&[&[0; 15][..], &[1]].concat())).is_err());
    assert!(opener().open(&mut authentic(&[])).is_err());
}

proptest! {
    #[test]
    fn arbitrary_packets_do_not_panic(
        first in prop_oneof![Just(DATA_V2 << 3 | 5), Just(DATA_V1 << 3 | 5), any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        for cipher in ciphers() {
            for framing in [Framing::None, Framing::Swap] {
                let (_, mut opener) = pair(Role::Client, &Parameters { framing, ..parameters(cipher) });
                let mut packet = [&[first], &rest[..]].concat();
                let _ = data_header(&packet);
                prop_assert!(opener.open(&mut packet).is_err());
            }
        }
    }
}

#[test]
fn long_packets_are_sealed_in_fragments() {
    const LARGEST: u16 = 700;
    let packet: Vec<u8> = (0..2000_u32).map(|at| at as u8 ^ 0x50).collect();
    for cipher in ciphers() {
        for framing in [Framing::None, Framing::Prefix, Framing::Swap, Framing::StubV2] {
            let parameters = Parameters { fragment: Some(LARGEST), framing, ..parameters(cipher) };
            let (sealer, mut opener) = pair(Role::Client, &parameters);
            for length in [0, 1, 500, 1000, 2000] {
                let mut room = [0; 3000];
                let fragments = sealer.fragments(&packet[..length], &mut room).unwrap();
                let count = fragments.len();
                assert_eq!(count == 1, length <= 500, "{cipher:?} {framing:?} {length}");
                let ids = sealer.reserve(count as u32).unwrap();
                for (left, (id, fragment)) in (0..count).rev().zip(ids.zip(fragments)) {
                    let mut out = [0; 800];
                    let sealed = sealer.seal_fragment(id, fragment, &mut out).unwrap();
                    assert!(
                        sealed <= LARGEST.into() && sealed <= fragment.len() + sealer.overhead()
                    );
                    match opener.open_any(&mut out[..sealed]).unwrap() {
                        Opened::InPlace(inner) => assert_eq!(inner, &packet[..length]),
                        Opened::Fragment => assert_ne!(left, 0),
                        Opened::Apart => {
                            assert_eq!((left, opener.apart()), (0, &mut packet.clone()[..length]));
                        }
                    }
                }
            }
            let mut room = [0; 3000];
            let shorter = Parameters { fragment: Some(60), ..parameters };
            let (sealer, _) = pair(Role::Client, &shorter);
            assert!(sealer.fragments(&packet, &mut room).is_err(), "too many fragments");
            assert!(sealer.fragments(&packet, &mut room[..1999]).is_err(), "too little room");
        }
    }
}
