//! Tests data keys that change by epochs: OpenVPN's vectors, the RustCrypto model, and the epochs
//! of two ends.

use super::*;

/// The last packet id of an epoch.
const LAST: u64 = (1 << 48) - 1;

fn with_epochs(cipher: Cipher) -> Parameters {
    Parameters { epochs: true, ..parameters(cipher) }
}

/// Both ends of a tunnel: client and server.
struct Ends {
    sealers: [Arc<Sealer>; 2],
    openers: [Opener; 2],
}

impl Ends {
    fn new(parameters: &Parameters) -> Self {
        let (client, client_opener) = keys(&material(), Role::Client, parameters).unwrap();
        let (server, server_opener) = keys(&material(), Role::Server, parameters).unwrap();
        Self { sealers: [client, server], openers: [client_opener, server_opener] }
    }

    /// Seals a packet as the data path does: an exhausted epoch is followed by the next one.
    fn seal(&mut self, end: usize, inner: &[u8]) -> Vec<u8> {
        let mut ids = loop {
            match self.sealers[end].reserve(1) {
                Ok(ids) => break ids,
                Err(Exhausted) => self.next_epoch(end),
            }
        };
        let sealer = &self.sealers[end];
        let mut packet = vec![0; inner.len() + sealer.overhead()];
        let length = sealer.seal(ids.next().unwrap(), &[inner], &mut packet).unwrap();
        packet.truncate(length);
        packet
    }

    /// Opens a packet for the other end.
    fn open(&mut self, end: usize, packet: &[u8]) -> Result<Vec<u8>, Error> {
        self.openers[1 - end].open(&mut packet.to_vec()).map(|inner| inner.to_vec())
    }

    /// Sends a packet to the other end. Returns its epoch.
    #[track_caller]
    fn pass(&mut self, end: usize, inner: &[u8]) -> u16 {
        let packet = self.seal(end, inner);
        assert_eq!(self.open(end, &packet).unwrap(), inner);
        u16::from_be_bytes([packet[4], packet[5]])
    }

    fn next_epoch(&mut self, end: usize) {
        self.sealers[end] = self.sealers[end].successor().unwrap();
    }
}

/// The packets of OpenVPN 3's tests, in epochs 1 and 4.
#[test]
fn packets_are_those_of_openvpn() {
    let secret = b"abcdefgh01234567ABCDEFGHjkuchenl";
    let bytes: [u8; 256] = std::array::from_fn(|at| secret[at % 32] ^ at as u8);
    let material = KeyMaterial::from(Zeroizing::new(bytes));
    let parameters = with_epochs(Cipher::Aes256Gcm);
    let (mut sealer, _opener) = keys(&material, Role::Client, &parameters).unwrap();
    let inner = b"The quick little fox jumps over the bureaucratic hurdles";
    for (number, tag, middle) in [
        (1, "a0b54cdd93ff0b01a3265ecf19d56a06", "8e455addd90e"),
        (4, "0ffff5913d39d75b18573b5748589a7d", "36aab4d49ce6"),
    ] {
        while sealer.epoch() < number {
            sealer = sealer.successor().unwrap();
        }
        // No packet on the wire has this header; it is authenticated all the same.
        let packet = seal(&sealer.with_header([7, 0, 0, 23]), &[inner]);
        assert_eq!(packet[..12], [7, 0, 0, 23, 0, number as u8, 0, 0, 0, 0, 0, 1]);
        let hex = |bytes: &[u8]| base16ct::lower::encode_string(bytes);
        assert_eq!(hex(&packet[12 + inner.len()..]), tag);
        assert_eq!(hex(&packet[4 + 14..][..6]), middle);
    }
}

#[test]
fn packets_equal_the_model_in_every_cipher() {
    for cipher in AEADS {
        for framing in [Framing::None, Framing::Swap] {
            let mut ends = Ends::new(&Parameters { framing, ..with_epochs(cipher) });
            for length in [0, 1, 16, 1400] {
                let inner: Vec<u8> = (0..length).map(|at| at as u8).collect();
                let packet = ends.seal(1, &inner);
                assert!(packet.len() <= inner.len() + ends.sealers[1].overhead());
                assert_eq!(ends.open(1, &packet).unwrap(), inner);
                let mut marked = inner;
                if framing == Framing::Swap && !marked.is_empty() {
                    let first = std::mem::replace(&mut marked[0], 0xfb);
                    marked.push(first);
                }
                assert_eq!(packet, model_of_epoch(cipher, &packet[..12], &marked));
            }
        }
    }
}

/// Seals a packet of the server in epoch 1 step by step.
fn model_of_epoch(cipher: Cipher, prefix: &[u8], inner: &[u8]) -> Vec<u8> {
    let secret = &bytes()[128..160];
    let expand = |label: &str, length: usize| {
        let label = format!("ovpn {label}");
        let info = [&[0, length as u8, label.len() as u8], label.as_bytes(), &[0, 1]].concat();
        mac(Digest::Sha256, secret, &info)[..length].to_vec()
    };
    let key = expand("data_key", cipher.key_length());
    let mut nonce: [u8; 12] = expand("data_iv", 12).try_into().unwrap();
    nonce.iter_mut().zip(&prefix[4..]).for_each(|(byte, id)| *byte ^= id);
    let sealed = match cipher {
        Cipher::Aes256Gcm => encrypt::<aes_gcm::Aes256Gcm>(&key, nonce, prefix, inner),
        Cipher::Aes192Gcm => {
            type Aes192Gcm = aes_gcm::AesGcm<aes::Aes192, aes_gcm::aead::consts::U12>;
            encrypt::<Aes192Gcm>(&key, nonce, prefix, inner)
        }
        Cipher::Aes128Gcm => encrypt::<aes_gcm::Aes128Gcm>(&key, nonce, prefix, inner),
        Cipher::ChaCha20Poly1305 => {
            encrypt::<chacha20poly1305::ChaCha20Poly1305>(&key, nonce, prefix, inner)
        }
        Cipher::Cbc { .. } => unreachable!(),
    };
    [prefix, &sealed].concat()
}

#[test]
fn both_ends_move_to_a_later_epoch_together() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
    assert_eq!((ends.pass(0, b"a"), ends.pass(1, b"b")), (1, 1));
    let late = ends.seal(0, b"late");
    ends.next_epoch(0);
    assert_eq!(ends.pass(0, b"c"), 2);
    // The client's previous epoch still opens, once. The server follows with its next packet.
    assert_eq!(ends.open(0, &late).unwrap(), b"late");
    assert_eq!(ends.open(0, &late), Err(Error::Replay));
    assert_eq!(ends.pass(1, b"d"), 2);
    // Two epochs later, the first one is gone.
    let later = ends.seal(0, b"later");
    ends.next_epoch(0);
    ends.pass(0, b"e");
    ends.next_epoch(0);
    ends.pass(0, b"f");
    assert!(matches!(ends.open(0, &later), Err(Error::NotAuthentic(_))));
}

#[test]
fn four_later_epochs_open_and_a_fifth_does_not() {
    for (steps, opens) in [(4, true), (5, false)] {
        let mut ends = Ends::new(&with_epochs(Cipher::ChaCha20Poly1305));
        ends.pass(0, b"first");
        (0..steps).for_each(|_| ends.next_epoch(0));
        let packet = ends.seal(0, b"far");
        assert_eq!(ends.open(0, &packet).is_ok(), opens);
        if opens {
            assert_eq!(ends.pass(1, b"back"), 5);
            (0..4).for_each(|_| ends.next_epoch(0));
            assert_eq!(ends.pass(0, b"farther"), 9);
        } else {
            assert_eq!(ends.pass(1, b"back"), 1);
        }
    }
}

/// Forgeries cause the derivation at most once for each epoch that is current.
#[test]
fn later_keys_are_derived_when_a_packet_names_one() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
    ends.pass(0, b"first");
    let mut forged = ends.seal(0, b"forged");
    *forged.last_mut().unwrap() ^= 1;
    for (epoch, keys) in [(0, 1), (1, 1), (6, 1), (u16::MAX, 1), (3, 5), (5, 5), (6, 5)] {
        forged[4..6].copy_from_slice(&u16::to_be_bytes(epoch));
        assert!(matches!(ends.open(0, &forged), Err(Error::NotAuthentic(_))), "{epoch}");
        assert_eq!(ends.openers[1].epochs(), keys, "{epoch}");
    }
    (0..2).for_each(|_| ends.next_epoch(0));
    assert_eq!(ends.pass(0, b"third"), 3);
    assert_eq!(ends.openers[1].epochs(), 4, "the previous, the current and two later ones");
    forged[4..6].copy_from_slice(&u16::to_be_bytes(7));
    assert!(ends.open(0, &forged).is_err());
    assert_eq!(ends.openers[1].epochs(), 6);
}

#[test]
fn an_epoch_has_its_own_replay_window() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes128Gcm));
    let packets: Vec<_> = (0..100_u8).map(|number| ends.seal(0, &[number])).collect();
    ends.open(0, &packets[99]).unwrap();
    ends.next_epoch(0);
    ends.pass(0, b"second epoch");
    assert_eq!(ends.open(0, &packets[98]).unwrap(), [98], "within the window of its epoch");
    assert_eq!(ends.open(0, &packets[98]), Err(Error::Replay));
    assert_eq!(ends.open(0, &packets[0]), Err(Error::Replay), "behind that window");
}

#[test]
fn forgeries_change_nothing() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
    let packet = ends.seal(0, b"inner");
    for at in 0..packet.len() {
        for flip in [1, 2, 0x80] {
            let mut forged = packet.clone();
            forged[at] ^= flip;
            assert!(ends.open(0, &forged).is_err(), "byte {at}");
        }
    }
    for length in 0..packet.len() {
        assert!(ends.open(0, &packet[..length]).is_err());
    }
    let first_version = [&[6 << 3 | 5], &packet[4..]].concat();
    let refusal = Err(Error::Malformed("data packet without a peer id"));
    assert_eq!(ends.open(0, &first_version), refusal);
    assert_eq!(ends.open(0, &packet).unwrap(), b"inner");
    assert_eq!((ends.pass(0, b"x"), ends.pass(1, b"y")), (1, 1));
}

/// An epoch ends before its limit, of blocks with AES and of packet ids with ChaCha20.
#[test]
fn an_epoch_ends_before_its_limit() {
    for (cipher, issued, bytes) in
        [(Cipher::Aes256Gcm, 1 << 20, (1 << 40) - 1), (Cipher::ChaCha20Poly1305, LAST, 1 << 60)]
    {
        let mut ends = Ends::new(&with_epochs(cipher));
        ends.pass(0, b"before");
        ends.sealers[0].age(issued, bytes);
        assert_eq!(ends.sealers[0].reserve(1).map(|_| ()), Err(Exhausted));
        assert!(!ends.sealers[0].wants_rekey(), "the next epoch needs no negotiation");
        let old = Arc::clone(&ends.sealers[0]);
        assert_eq!(ends.pass(0, b"after"), 2);
        assert_eq!(ends.pass(1, b"answer"), 2);
        assert_eq!(old.reserve(1).map(|_| ()), Err(Exhausted));
        assert!(Arc::ptr_eq(&old.successor().unwrap(), &ends.sealers[0]), "one key an epoch");
    }
}

/// A receiver moves on when the peer has used up its own epoch.
#[test]
fn an_overused_epoch_of_the_peer_is_pressed_on() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
    ends.pass(0, b"a");
    ends.openers[1].age(1 << 36);
    ends.pass(0, b"b");
    assert_eq!(ends.pass(1, b"c"), 2, "the server moves on");
    assert_eq!(ends.pass(0, b"d"), 2, "and the client follows");
    assert_eq!(ends.pass(1, b"e"), 2, "once");
}

#[test]
fn late_epochs_ask_for_a_new_key() {
    let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
    let first = Arc::clone(&ends.sealers[0]);
    ends.sealers[0] = first.move_to(0xefff).unwrap();
    assert!(!first.wants_rekey());
    ends.sealers[0] = first.move_to(u16::MAX).unwrap();
    assert!(first.wants_rekey() && ends.sealers[0].wants_rekey());
    assert!(ends.sealers[0].successor().is_none());
    assert!(ends.sealers[0].reserve(1).is_ok(), "the last epoch goes on");
}

/// Nobody holds the latest epoch any more, so its packet ids are unknown: it is not used again.
#[test]
fn an_epoch_is_not_used_twice() {
    let first = Arc::clone(&Ends::new(&with_epochs(Cipher::Aes256Gcm)).sealers[0]);
    let second = first.successor().unwrap();
    assert_eq!(second.epoch(), 2);
    drop(second);
    assert_eq!(first.successor().unwrap().epoch(), 3);
}

#[test]
fn threads_share_the_next_epoch() {
    let ends = Ends::new(&with_epochs(Cipher::Aes128Gcm));
    let take = || {
        let mut sealer = Arc::clone(&ends.sealers[0]);
        let mut taken = Vec::new();
        for round in 0..1000 {
            match sealer.reserve(3) {
                Ok(ids) => taken.extend(ids.map(|id| (sealer.epoch(), id.number()))),
                Err(Exhausted) => sealer = sealer.successor().unwrap(),
            }
            if round % 100 == 0 {
                sealer = sealer.move_to(round / 100 + 1).unwrap();
            }
        }
        taken
    };
    let mut ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id was used twice");
}

#[test]
fn epochs_require_an_aead_and_a_peer_id() {
    let without_id = Parameters { peer_id: None, ..with_epochs(Cipher::Aes256Gcm) };
    for parameters in [without_id, with_epochs(ciphers()[4])] {
        let result = keys(&material(), Role::Client, &parameters).map(|_| ());
        assert!(matches!(result, Err(Error::Configuration(_))));
    }
}

proptest! {
    #[test]
    fn arbitrary_packets_with_epochs_do_not_panic(
        id in any::<u64>(),
        rest in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut ends = Ends::new(&with_epochs(Cipher::Aes256Gcm));
        let header = (u32::from(DATA_V2 << 3 | 5) << 24 | 7).to_be_bytes();
        let packet = [&header[..], &id.to_be_bytes(), &rest].concat();
        prop_assert!(ends.open(0, &packet).is_err());
    }
}
