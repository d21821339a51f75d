//! Ethernet frames between a server's TAP device and simulated peers: learning of hardware
//! addresses, forwarding, and floods.

use std::time::Duration;

use cycloid_vpn::net::data_path::{Event, Peers, Vlans};
use cycloid_vpn::proto::data::{OCC_EXIT, PING};

use super::namespaces::Namespaces;
use super::{Player, Stage, WAIT};

type Mac = [u8; 6];

const SERVER: Mac = [2, 0, 0, 0, 0, 0xff];
const ALL: Mac = [0xff; 6];

/// A type of frames that the kernel ignores (IEEE 802, local experiments).
const EXPERIMENT: [u8; 2] = [0x88, 0xb5];

fn mac(number: u8) -> Mac {
    [2, 0, 0, 0, 0, number]
}

fn frame(to: Mac, from: Mac, text: &[u8]) -> Vec<u8> {
    [&to[..], &from, &EXPERIMENT, text].concat()
}

fn stage(players: u32, workers: usize, client_to_client: bool) -> Stage {
    stage_of(players, workers, Peers::Many { client_to_client, vlans: None })
}

fn stage_of(players: u32, workers: usize, peers: Peers) -> Stage {
    let namespaces = Namespaces::new();
    let tap = namespaces.tap(workers);
    Stage::on(namespaces, tap, players, workers, peers)
}

impl Stage {
    /// Sends a frame of a peer, and waits until the data path has processed it.
    fn frame(&self, player: usize, frame: &[u8]) {
        let id = self.players[player].id;
        let before = self.handle.counters(id).unwrap().received_packets;
        self.players[player].send(&self.players[player].sealed(frame));
        self.until(|handle| handle.counters(id).unwrap().received_packets > before);
    }

    /// Waits until a peer has exactly these addresses.
    fn has(&self, player: usize, macs: &[Mac]) {
        let text = |mac: &Mac| mac.map(|byte| format!("{byte:02x}")).join(":") + "@0";
        let expected: Vec<String> = macs.iter().map(text).collect();
        let id = self.players[player].id;
        self.until(|handle| handle.hardware_addresses(id) == expected);
    }
}

impl Player {
    /// Asserts that this frame comes next.
    fn gets(&mut self, expected: &[u8]) {
        let got = self.receive(WAIT).expect("a frame");
        assert_eq!(got, expected, "peer {}", self.id);
    }
}

/// Returns an ARP request or reply.
fn arp(kind: u8, to: Mac, from: (Mac, u8), asked: (Mac, u8)) -> Vec<u8> {
    let mut frame = [&to[..], &from.0, &[8, 6, 0, 1, 8, 0, 6, 4, 0, kind]].concat();
    for (mac, host) in [from, asked] {
        frame.extend(mac);
        frame.extend([10, 77, 0, host]);
    }
    frame
}

#[test]
fn frames_go_where_their_addresses_are() {
    let mut stage = stage(3, 1, true);
    // A broadcast reaches the other peers and the device, whose answer reaches only the sender.
    let request = arp(1, ALL, (mac(0), 50), ([0; 6], 1));
    stage.frame(0, &request);
    for other in [1, 2] {
        stage.players[other].gets(&request);
    }
    stage.players[0].gets(&arp(2, mac(0), (SERVER, 1), (mac(0), 50)));
    // Frames with one address reach its peer. The next frame of each other peer is a later one.
    for number in [1, 2] {
        let hello = frame(mac(0), mac(number), b"hello");
        stage.frame(number.into(), &hello);
        stage.players[0].gets(&hello);
        stage.has(number.into(), &[mac(number)]);
    }
    // Nobody is known to have this address: only the device gets the frame.
    stage.frame(0, &frame(mac(9), mac(0), b"nobody"));
    // This one comes from where it would go to.
    stage.frame(0, &frame(mac(0), mac(0), b"itself"));
    let group = frame([0x33, 0x33, 0, 0, 0, 1], mac(0), b"group");
    stage.frame(0, &group);
    for other in [1, 2] {
        stage.players[other].gets(&group);
    }
}

#[test]
fn an_address_moves_with_its_frames() {
    let mut stage = stage(3, 1, true);
    for number in [0, 1, 2] {
        stage.frame(number.into(), &frame(SERVER, mac(number), b"learn"));
    }
    stage.frame(2, &frame(SERVER, mac(0), b"move"));
    stage.has(0, &[]);
    stage.has(2, &[mac(2), mac(0)]);
    let hello = frame(mac(0), mac(1), b"hello");
    stage.frame(1, &hello);
    stage.players[2].gets(&hello);
    stage.frame(0, &frame(SERVER, mac(0), b"return"));
    let hello = frame(mac(0), mac(1), b"hello again");
    stage.frame(1, &hello);
    stage.players[0].gets(&hello);
    // The addresses of a peer that leaves are forgotten.
    let left = stage.players[0].id;
    stage.handle.remove_peer(left);
    assert!(stage.handle.hardware_addresses(left).is_empty());
    stage.has(1, &[mac(1)]);
}

/// A frame of the device to an unknown address goes to all peers, until one of them uses it. An
/// address that the device itself uses belongs to no peer.
#[test]
fn frames_of_the_device() {
    let mut stage = stage(2, 1, false);
    let ping = "ping -c 1 -W 1 10.77.0.99";
    stage.namespaces.check(0, "ip neigh add 10.77.0.99 lladdr 02:00:00:00:00:09 dev tap0");
    let is_ping = |frame: &[u8]| frame[..6] == mac(9) && frame[12..14] == [8, 0];
    let _ = stage.namespaces.command(0, ping).output().unwrap();
    for player in &mut stage.players {
        assert!(is_ping(&player.receive(WAIT).expect("a flooded frame")));
    }
    stage.frame(1, &frame(SERVER, mac(9), b"here"));
    stage.frame(0, &frame(SERVER, mac(0), b"here"));
    let _ = stage.namespaces.command(0, ping).output().unwrap();
    assert!(is_ping(&stage.players[1].receive(WAIT).expect("a frame")));
    // The answer to this request is the first frame of the other peer.
    stage.frame(0, &arp(1, SERVER, (mac(0), 50), ([0; 6], 1)));
    stage.players[0].gets(&arp(2, mac(0), (SERVER, 1), (mac(0), 50)));
    // A peer that claims the device's own address has it until the device uses it.
    stage.frame(1, &frame(mac(0), SERVER, b"mine"));
    stage.has(1, &[mac(9), SERVER]);
    stage.frame(0, &arp(1, SERVER, (mac(0), 50), ([0; 6], 1)));
    stage.players[0].gets(&arp(2, mac(0), (SERVER, 1), (mac(0), 50)));
    stage.has(1, &[mac(9)]);
}

#[test]
fn peers_do_not_meet_without_client_to_client() {
    let mut stage = stage(2, 1, false);
    stage.frame(0, &frame(SERVER, mac(0), b"learn"));
    stage.frame(1, &frame(mac(0), mac(1), b"hello"));
    stage.frame(1, &frame(ALL, mac(1), b"hello"));
    stage.frame(0, &arp(1, ALL, (mac(0), 50), ([0; 6], 1)));
    stage.players[0].gets(&arp(2, mac(0), (SERVER, 1), (mac(0), 50)));
}

#[test]
fn a_flood_of_addresses_is_bounded_and_others_still_pass() {
    let mut stage = stage(2, 3, true);
    stage.handle.limit_hardware_addresses(4);
    stage.frame(0, &frame(SERVER, mac(0), b"learn"));
    for number in 0_u16..2000 {
        let [high, low] = number.to_be_bytes();
        let from = [6, 0, 0, 0, high, low];
        let player = &stage.players[1];
        player.send(&player.sealed(&frame(SERVER, from, b"flood")));
        if number % 100 == 0 {
            // Keeps the socket's buffer from overflowing.
            stage.frame(1, &frame(SERVER, from, b"flood"));
        }
    }
    let last = [1, 2, 3, 4].map(|number| [6, 1, 0, 0, 0, number]);
    last.iter().for_each(|from| stage.frame(1, &frame(SERVER, *from, b"last")));
    stage.has(1, &last);
    stage.has(0, &[mac(0)]);
    let hello = frame(last[3], mac(0), b"hello");
    stage.frame(0, &hello);
    stage.players[1].gets(&hello);
}

#[test]
fn messages_are_reported_and_malformed_frames_dropped() {
    let stage = stage(1, 1, true);
    let send = |inner: &[u8]| stage.players[0].send(&stage.players[0].sealed(inner));
    send(&PING);
    send(&OCC_EXIT);
    assert!(matches!(stage.event(), Event::Message { peer: 0, packet } if packet == OCC_EXIT));
    send(&frame(SERVER, ALL, b"from all"));
    send(&frame(SERVER, [0; 6], b"from nobody"));
    send(&[2; 13]);
    stage.until(|handle| {
        let dropped = handle.dropped();
        (dropped.spoofed, dropped.unroutable) == (2, 1)
    });
    assert!(stage.handle.hardware_addresses(0).is_empty());
    assert!(stage.events.next().is_none());
}

/// An address from which no frame has come for a time is forgotten: its frames go to all again.
#[test]
fn silent_addresses_are_forgotten() {
    let mut stage = stage(3, 1, true);
    for number in [0, 1] {
        stage.frame(number.into(), &frame(SERVER, mac(number), b"learn"));
    }
    stage.handle.forget_hardware_addresses(Duration::from_secs(3600));
    stage.has(0, &[mac(0)]);
    stage.handle.forget_hardware_addresses(Duration::ZERO);
    for number in [0, 1] {
        stage.has(number, &[]);
    }
    stage.frame(1, &frame(SERVER, mac(1), b"again"));
    stage.has(1, &[mac(1)]);
    let hello = frame(mac(1), mac(0), b"hello");
    stage.frame(0, &hello);
    stage.players[1].gets(&hello);
}

/// Peers meet those of their VLAN only, whatever addresses they use, and have no tags of their own.
#[test]
fn frames_stay_in_their_vlan() {
    let vlans = Vlans { tagged: true, untagged: true, native: 1 };
    let mut stage = stage_of(4, 1, Peers::Many { client_to_client: true, vlans: Some(vlans) });
    for (id, vlan) in [(0, 5), (1, 5), (2, 6), (3, 1)] {
        stage.handle.set_vlan(id, vlan);
    }
    let broadcast = frame(ALL, mac(0), b"five");
    stage.frame(0, &broadcast);
    stage.players[1].gets(&broadcast);
    // The same address is in use in three VLANs; in the first one it moves.
    for player in [1, 2, 3] {
        stage.frame(player, &frame(SERVER, mac(0), b"mine"));
    }
    let text = |vlan: u16| vec![format!("02:00:00:00:00:00@{vlan}")];
    let addresses = |stage: &Stage, id| stage.handle.hardware_addresses(id);
    stage.until(|_| addresses(&stage, 3) == text(1));
    let all: Vec<_> = (0..4).map(|id| addresses(&stage, id)).collect();
    assert_eq!(all, [vec![], text(5), text(6), text(1)]);
    let hello = frame(mac(0), mac(7), b"hello");
    stage.frame(0, &hello);
    stage.players[1].gets(&hello);
    // The kernel knows the device without a tag: only the native VLAN reaches it.
    for player in [2, 3] {
        stage.frame(player, &arp(1, ALL, (mac(9), 50), ([0; 6], 1)));
    }
    stage.players[3].gets(&arp(2, mac(9), (SERVER, 1), (mac(9), 50)));
    // A tag of a peer is not accepted, not even its own, and neither is one behind another.
    let tags: [&[u8]; 5] = [
        &[0x81, 0, 0, 5],
        &[0x81, 0, 0, 6],
        &[0x81, 0, 0x60, 0, 0x81, 0, 0, 6],
        &[0x81, 0, 0x60, 0, 0x88, 0xa8, 0, 6],
        &[0x88, 0xa8, 0, 6],
    ];
    for (player, foreign) in [(0, 5), (3, 10)] {
        for tag in tags {
            let tagged = [&ALL[..], &mac(0), tag, &EXPERIMENT, b"tagged"].concat();
            stage.frame(player, &tagged);
        }
        assert_eq!(stage.handle.dropped().foreign, foreign);
    }
    let last = frame(mac(0), mac(7), b"last");
    stage.frame(0, &last);
    stage.players[1].gets(&last);
    assert!(stage.players[2].receive(super::QUIET).is_none());
}
