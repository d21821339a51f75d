//! A client whose data channel is in the kernel: the core and the messages of the family `ovpn`,
//! with a simulated family, in simulated time.

// Not a part of the support, which the fuzz targets share: it needs ciphers of its own.
#[path = "support/ovpn_family.rs"]
mod ovpn_family;
mod support;

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use cycloid_vpn::net::dco::{
    CipherNumber, DeletionReason, Device, Exchange, Keepalive, NewPeer, Notice, OnlyPeer, Slot,
};
use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::client::{ClientEnd, ClientNotice};
use cycloid_vpn::proto::data::{
    Cipher, Digest, Framing, KeyMaterial, Parameters, RawKeys, raw_keys,
};
use cycloid_vpn::proto::push::PushReply;
use cycloid_vpn::proto::server::PeerId;
use cycloid_vpn::proto::tunnel::{DataKeys, Traffic};
use cycloid_vpn::proto::wire::KeyId;
use cycloid_vpn::proto::wrap::ProtectionKey;
use ovpn_family::{FAMILY, Family, INTERFACE};
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{Outside, World, client_settings, now, server_settings};

/// The family, shared by the client's device and the test.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Family>>);

impl Exchange for Shared {
    fn family(&self) -> u16 {
        FAMILY
    }

    fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.0.borrow_mut().exchange(request)
    }
}

const SERVER: &str = "192.0.2.9:1194";

fn server() -> SocketAddr {
    SERVER.parse().unwrap()
}

fn device() -> (Shared, Device<Shared>) {
    let family = Shared::default();
    (family.clone(), Device::new(family, INTERFACE))
}

fn key_id(id: u8) -> KeyId {
    KeyId::new(id).unwrap()
}

fn keys(cipher: Cipher, id: u8, peer_id: u32) -> RawKeys {
    let material = KeyMaterial::from(zeroize::Zeroizing::new([id + 1; 256]));
    raw_keys(&material, Role::Client, &parameters(cipher, id, Some(peer_id))).unwrap()
}

fn parameters(cipher: Cipher, id: u8, peer_id: Option<u32>) -> Parameters {
    Parameters {
        cipher,
        key_id: key_id(id),
        peer_id,
        epochs: false,
        framing: Framing::None,
        fragment: None,
        decompress: false,
        replay_window: 64,
    }
}

#[test]
fn the_family_takes_every_command() {
    for (cipher, number) in [
        (Cipher::Aes256Gcm, CipherNumber::AesGcm),
        (Cipher::Aes128Gcm, CipherNumber::AesGcm),
        (Cipher::ChaCha20Poly1305, CipherNumber::ChaCha20Poly1305),
    ] {
        for remote in [server(), "[2001:db8::9]:1194".parse().unwrap()] {
            let (family, mut device) = device();
            let peer = NewPeer { id: 0xab_cdef, socket: 5, remote, local: None };
            device.new_peer(&peer).unwrap();
            let keepalive =
                Keepalive { interval: Duration::from_secs(10), timeout: Duration::from_secs(60) };
            device.set_keepalive(peer.id, keepalive).unwrap();
            let known = device.peer(peer.id).unwrap();
            assert_eq!((known.id, known.remote), (peer.id, Some(remote)));
            assert_eq!(known.keepalive, keepalive);
            device.new_key(Slot::Primary, &keys(cipher, 0, peer.id)).unwrap();
            device.new_key(Slot::Secondary, &keys(cipher, 1, peer.id)).unwrap();
            device.swap_keys(peer.id).unwrap();
            for (slot, id) in [(Slot::Primary, 1), (Slot::Secondary, 0)] {
                let key = device.key(peer.id, slot).unwrap();
                assert_eq!((key.peer, key.slot, key.key_id), (peer.id, slot, key_id(id)));
                assert_eq!(key.cipher, number);
            }
            device.delete_key(peer.id, Slot::Secondary).unwrap();
            let error = device.key(peer.id, Slot::Secondary).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            device.delete_peer(peer.id).unwrap();
            assert_eq!(device.peer(peer.id).unwrap_err().kind(), io::ErrorKind::NotFound);
            // The numbers of the commands.
            assert_eq!(family.0.borrow().log, [1, 2, 3, 6, 6, 8, 7, 7, 10, 7, 4, 3]);
            let notice = family.0.borrow_mut().notices.pop_front().unwrap();
            let deleted = Notice::Deleted { peer: peer.id, reason: DeletionReason::Userspace };
            assert_eq!(device.notice(&notice), Some(deleted));
        }
    }
}

/// The simulation refuses what the kernel refuses, so that the other tests mean something.
#[test]
fn the_family_refuses_wrong_attributes() {
    let (family, mut device) = device();
    let refused = |error: io::Result<()>, what: &str| {
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidInput, "{what}");
    };
    let peer = NewPeer { id: 1 << 24, socket: 5, remote: server(), local: None };
    refused(device.new_peer(&peer), "a peer id of 25 bits");
    let remote = SocketAddr::new(server().ip(), 0);
    refused(device.new_peer(&NewPeer { id: 1, remote, ..peer }), "port 0");
    device.new_peer(&NewPeer { id: 1, ..peer }).unwrap();
    let mut short = keys(Cipher::Aes256Gcm, 0, 1);
    short.sealing.key.truncate(15);
    refused(device.new_key(Slot::Primary, &short), "a short key");
    let mut other = keys(Cipher::ChaCha20Poly1305, 0, 1);
    other.opening.key.truncate(16);
    refused(device.new_key(Slot::Primary, &other), "a short key of ChaCha20");
    let foreign = keys(Cipher::Aes256Gcm, 0, 2);
    let error = device.new_key(Slot::Primary, &foreign).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound, "another peer");
    family.0.borrow_mut().fails = Some(1);
    assert_eq!(device.peer(1).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    let mut elsewhere = Device::new(Shared::default(), INTERFACE + 1);
    assert!(elsewhere.peer(1).is_err(), "another interface");
}

#[test]
fn keys_without_an_aead_or_a_peer_id_are_not_handed_over() {
    let material = KeyMaterial::from(zeroize::Zeroizing::new([7; 256]));
    let right = parameters(Cipher::Aes256Gcm, 0, Some(1));
    assert!(raw_keys(&material, Role::Client, &right).is_some());
    let cbc = Cipher::from_name("AES-256-CBC", Digest::Sha1).unwrap();
    for wrong in [
        Parameters { cipher: cbc, ..right },
        Parameters { peer_id: None, ..right },
        Parameters { peer_id: Some(1 << 24), ..right },
        Parameters { epochs: true, ..right },
        Parameters { framing: Framing::Swap, ..right },
        Parameters { fragment: Some(1000), ..right },
    ] {
        assert!(raw_keys(&material, Role::Client, &wrong).is_none(), "{wrong:?}");
    }
}

#[test]
fn foreign_and_malformed_notifications_are_ignored() {
    let (family, device) = device();
    let mut peer = OnlyPeer::new(device);
    peer.begin(5, server()).unwrap();
    peer.install(&keys(Cipher::Aes256Gcm, 0, 3), true).unwrap();
    let inner = |id: u32, reason: u32| {
        let mut bytes = vec![8, 0, 1, 0];
        bytes.extend(id.to_ne_bytes());
        bytes.extend([8, 0, 15, 0]);
        bytes.extend(reason.to_ne_bytes());
        bytes
    };
    let tell = |command, id, reason, interface| {
        let mut family = family.0.borrow_mut();
        family.tell(command, 0x8002, &inner(id, reason), interface);
        family.notices.pop_front().unwrap()
    };
    for (command, id, reason, interface) in [
        (5, 4, 2, INTERFACE),
        (5, 3, 2, INTERFACE + 1),
        (5, 3, 99, INTERFACE),
        (3, 3, 2, INTERFACE),
        (11, 3, 2, INTERFACE),
        (9, 3, 2, INTERFACE),
    ] {
        let message = tell(command, id, reason, interface);
        assert_eq!(peer.notice(&message), None, "{command} {id} {reason} {interface}");
    }
    let right = tell(5, 3, 2, INTERFACE);
    for length in 0..right.len() {
        assert_eq!(peer.notice(&right[..length]), None, "{length}");
    }
    for at in 0..right.len() {
        for bit in 0..8 {
            let mut changed = right.clone();
            changed[at] ^= 1 << bit;
            // It may still be a notification, but nothing panics.
            let _ = peer.device_mut().notice(&changed);
        }
    }
    assert!(peer.is_there());
    let expired = Notice::Deleted { peer: 3, reason: DeletionReason::Expired };
    assert_eq!(peer.notice(&right), Some(expired));
    assert!(!peer.is_there());
    assert!(
        peer.set_keepalive(Keepalive { interval: Duration::ZERO, timeout: Duration::ZERO })
            .is_err()
    );
    peer.end().unwrap();
}

/// The kernel may delete a peer at the same time as this end.
#[test]
fn an_end_does_not_fail_if_the_kernel_was_first() {
    let (family, device) = device();
    let mut peer = OnlyPeer::new(device);
    assert!(peer.install(&keys(Cipher::Aes256Gcm, 0, 3), true).is_err(), "no socket yet");
    peer.begin(5, server()).unwrap();
    peer.install(&keys(Cipher::Aes256Gcm, 0, 3), true).unwrap();
    assert!(peer.install(&keys(Cipher::Aes256Gcm, 1, 4), true).is_err(), "another peer id");
    family.0.borrow_mut().tear_down();
    peer.end().unwrap();
    // The next connection has another peer.
    peer.begin(6, server()).unwrap();
    peer.install(&keys(Cipher::Aes256Gcm, 0, 9), true).unwrap();
    let known = family.0.borrow().peer.clone().unwrap();
    assert_eq!((known.id, known.socket, known.remote), (9, 6, server()));
    // A peer of the same number follows, before the end of the last one was read.
    family.0.borrow_mut().notices.clear();
    peer.begin(7, server()).unwrap();
    peer.install(&keys(Cipher::Aes256Gcm, 0, 9), true).unwrap();
    let late = family.0.borrow_mut().notices.pop_front().unwrap();
    assert_eq!(peer.notice(&late), None);
    assert!(peer.is_there());
}

/// The client's data channel in the family.
struct InFamily {
    peer: Rc<RefCell<OnlyPeer<Shared>>>,
    family: Shared,
    inbox: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Outside for InFamily {
    fn install(&mut self, keys: &DataKeys) {
        let raw = keys.raw.as_ref().expect("raw keys");
        self.peer.borrow_mut().install(raw, keys.send).unwrap();
    }

    fn send_under(&mut self, key_id: KeyId) {
        self.peer.borrow_mut().send_under(key_id).unwrap();
    }

    fn retire(&mut self, key_id: KeyId) {
        self.peer.borrow_mut().retire(key_id).unwrap();
    }

    fn arrive(&mut self, packet: &[u8]) {
        let inner = self.family.0.borrow_mut().open(packet, server());
        self.inbox.borrow_mut().extend(inner);
    }

    fn traffic(&mut self) -> Traffic {
        let counters = self.peer.borrow_mut().counters().unwrap().unwrap_or_default();
        Traffic {
            received_packets: counters.packets.0,
            received_bytes: counters.bytes.0,
            sent_packets: counters.packets.1,
            sent_bytes: counters.bytes.1,
            inner_bytes: counters.inner_bytes.0 + counters.inner_bytes.1,
            ..Traffic::default()
        }
    }
}

struct Bed {
    world: World,
    family: Shared,
    peer: Rc<RefCell<OnlyPeer<Shared>>>,
    inbox: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Bed {
    /// Returns a world whose server pushes a cipher, a peer id of its own choice, and pings.
    fn new(seed: u64, cipher: Cipher, change: impl Fn(&mut PushReply) + 'static) -> Self {
        let authority = Authority::new("authority");
        let tls = |role, name, serial| authority.tls(role, authority.issue(name, role, serial));
        let mut client = client_settings(ProtectionKey::Plain, tls(Role::Client, "client", 2));
        client.offload = true;
        client.ciphers = vec![cipher];
        let mut server = server_settings(ProtectionKey::Plain, tls(Role::Server, "server", 3));
        server.ciphers = vec![cipher];
        let mut world = World::new(seed, Weather::FAIR, client, server);
        world.judge = Box::new(move |_| {
            let mut reply = PushReply::default();
            (reply.ping, reply.ping_restart) = (Some(10), Some(60));
            change(&mut reply);
            Ok(reply)
        });
        let (family, device) = device();
        let peer = Rc::new(RefCell::new(OnlyPeer::new(device)));
        peer.borrow_mut().begin(5, self::server()).unwrap();
        let inbox = Rc::<RefCell<Vec<Vec<u8>>>>::default();
        world.client_side.outside = Some(Box::new(InFamily {
            peer: Rc::clone(&peer),
            family: family.clone(),
            inbox: Rc::clone(&inbox),
        }));
        Self { world, family, peer, inbox }
    }

    fn connect(&mut self) -> PeerId {
        assert!(self.world.connect(), "{:?}", self.world.client_side.end);
        let (interval, timeout) = self.world.client.keepalive();
        self.peer.borrow_mut().set_keepalive(Keepalive { interval, timeout }).unwrap();
        self.world.peer()
    }

    /// Sends a packet each way, and asserts that both arrive.
    fn assert_reaches(&mut self, peer: PeerId, text: u8) {
        let (there, back) = ([text; 100], [text + 1; 200]);
        let packet = self.family.0.borrow_mut().seal(&there).expect("a key");
        self.world.client_side.outbox.push(packet);
        self.world.server_sends(peer, &back);
        let inbox = Rc::clone(&self.inbox);
        let arrived = self.world.run_until(Duration::from_secs(5), |world| {
            world.server_side.paths[&peer].inbox.last().is_some_and(|last| *last == there)
                && inbox.borrow().last().is_some_and(|last| *last == back)
        });
        assert!(arrived, "{text}");
    }

    fn slots(&self) -> [Option<u8>; 2] {
        let family = self.family.0.borrow();
        let peer = family.peer.as_ref().expect("a peer");
        [0, 1].map(|slot| peer.slots[slot].as_ref().map(|key| key.id))
    }

    fn next_notice(&mut self) -> Option<Notice> {
        let message = self.family.0.borrow_mut().notices.pop_front()?;
        self.peer.borrow_mut().notice(&message)
    }
}

#[test]
fn a_peer_lives_in_the_family() {
    for (seed, cipher) in
        [(1, Cipher::Aes256Gcm), (2, Cipher::Aes128Gcm), (3, Cipher::ChaCha20Poly1305)]
    {
        let mut bed = Bed::new(seed, cipher, |_| ());
        let peer = bed.connect();
        assert_eq!(bed.slots(), [Some(0), None]);
        {
            let family = bed.family.0.borrow();
            let known = family.peer.as_ref().unwrap();
            assert_eq!((known.id, known.socket, known.remote), (peer.0, 5, server()));
            assert_eq!(known.keepalive, (10, 60));
        }
        bed.assert_reaches(peer, 0x45);

        // The kernel reports that the key is used up: a new one comes into use, and the old one
        // opens packets in flight until it is removed.
        for round in 1..4u8 {
            bed.family.0.borrow_mut().use_up();
            let old = key_id(round - 1);
            assert_eq!(bed.next_notice(), Some(Notice::KeyUsedUp { peer: peer.0, key_id: old }));
            let World { client, client_side, dice, time, .. } = &mut bed.world;
            let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
            client.renegotiate(now(*time), random, client_side).unwrap();
            let renewed = bed.world.run_until(Duration::from_secs(20), |world| {
                world.client_side.renegotiated == u32::from(round)
            });
            assert!(renewed);
            assert_eq!(bed.slots(), [Some(round), Some(round - 1)]);
            bed.assert_reaches(peer, 0x45 + 2 * round);
        }
        bed.world.run_until(Duration::from_secs(3601), |world| world.client_side.end.is_some());
    }
}

#[test]
fn an_old_key_is_removed_after_its_time() {
    let mut bed = Bed::new(4, Cipher::Aes256Gcm, |_| ());
    bed.connect();
    let World { client, client_side, dice, time, .. } = &mut bed.world;
    client.renegotiate(now(*time), &mut |bytes: &mut [u8]| dice.fill(bytes), client_side).unwrap();
    assert!(
        bed.world
            .run_until(Duration::from_secs(20), |world| { world.client_side.renegotiated == 1 })
    );
    assert_eq!(bed.slots(), [Some(1), Some(0)]);
    // The lifetime of a key and of an old one are an hour each; a renegotiation is due then.
    let end = bed.world.time + Duration::from_secs(3590);
    while bed.world.time < end {
        keep_alive(&mut bed);
    }
    assert_eq!(bed.slots(), [Some(1), Some(0)]);
    for _ in 0..4 {
        keep_alive(&mut bed);
    }
    assert_eq!(bed.world.client_side.renegotiated, 2);
    assert_eq!(bed.slots(), [Some(2), Some(1)]);
}

/// Lets ten seconds pass, with pings of both ends.
fn keep_alive(bed: &mut Bed) {
    let ping = bed.family.0.borrow_mut().pass(10);
    bed.world.client_side.outbox.extend(ping);
    let peer = bed.world.peer();
    bed.world.server_sends(peer, &cycloid_vpn::proto::data::PING);
    bed.world.run_until(Duration::from_secs(10), |_| false);
}

/// The core sends no pings and misses none: the kernel does both.
#[test]
fn the_kernel_keeps_the_tunnel_alive_and_reports_silence() {
    let mut bed = Bed::new(5, Cipher::Aes256Gcm, |_| ());
    let peer = bed.connect();
    for _ in 0..20 {
        keep_alive(&mut bed);
    }
    assert!(bed.world.client_side.end.is_none());
    let pings = bed.world.server_side.paths[&peer].traffic.received_packets;
    assert!((15..=20).contains(&pings), "{pings}");
    // Now the server is silent. The core waits for the kernel's word.
    bed.world.run_until(Duration::from_secs(300), |world| world.client_side.end.is_some());
    assert!(bed.world.client_side.end.is_none());
    bed.family.0.borrow_mut().pass(60);
    let expired = Notice::Deleted { peer: peer.0, reason: DeletionReason::Expired };
    assert_eq!(bed.next_notice(), Some(expired));
    let World { client, client_side, .. } = &mut bed.world;
    let mut notices = Vec::new();
    client.lost(DeletionReason::Expired.text(), &mut |notice| notices.push(notice));
    notices.into_iter().for_each(|notice: ClientNotice| client_side.take(notice));
    let end = client_side.end.as_ref().map(ToString::to_string);
    assert!(end.as_deref().is_some_and(|end| end.contains("no packets from the peer")), "{end:?}");
}

#[test]
fn a_server_that_moves_is_followed() {
    let mut bed = Bed::new(6, Cipher::Aes256Gcm, |_| ());
    let peer = bed.connect();
    bed.world.server_sends(peer, &[0x45; 60]);
    let (_, packet) = bed.world.server_side.outbox.pop().expect("a packet");
    let elsewhere: SocketAddr = "198.51.100.1:1195".parse().unwrap();
    let mut forged = packet.clone();
    *forged.last_mut().unwrap() ^= 1;
    assert!(bed.family.0.borrow_mut().open(&forged, elsewhere).is_none());
    assert_eq!(bed.next_notice(), None, "a forged packet moves nobody");
    assert!(bed.family.0.borrow_mut().open(&packet, elsewhere).is_some());
    let floated = Notice::Floated { peer: peer.0, remote: elsewhere };
    assert_eq!(bed.next_notice(), Some(floated));
    let known = bed.peer.borrow_mut().device_mut().peer(peer.0).unwrap();
    assert_eq!(known.remote, Some(elsewhere));
}

/// A server may push options that the kernel lacks: the connection ends, and the error names them.
#[test]
fn what_the_kernel_cannot_do_ends_the_connection() {
    let framed = |reply: &mut PushReply| reply.framing = Some(Framing::Swap);
    let mut bed = Bed::new(7, Cipher::Aes256Gcm, framed);
    assert!(!bed.world.connect());
    let end = bed.world.client_side.end.as_ref().map(ToString::to_string).unwrap();
    assert!(end.contains("a framing for compression"), "{end}");
    assert!(bed.family.0.borrow().peer.is_none());

    let cbc = Cipher::from_name("AES-256-CBC", Digest::Sha1).unwrap();
    let mut bed = Bed::new(8, cbc, |_| ());
    assert!(!bed.world.connect());
    let end = bed.world.client_side.end.as_ref().map(ToString::to_string).unwrap();
    assert!(end.contains("the cipher AES-256-CBC"), "{end}");
    assert!(!matches!(bed.world.client_side.end, Some(ClientEnd::Stopped)));
}
