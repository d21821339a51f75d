//! Tests a server's data path with simulated peers: assignment of packets, drops, and events for
//! the control thread.
//!
//! Needs root and iproute2.

mod frames;
#[allow(dead_code, reason = "each test program uses a part of the module")]
#[path = "../namespaces/mod.rs"]
mod namespaces;

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cycloid_vpn::net::data_path::{self, Event, Events, Handle, PeerId, Peers, Remote};
use cycloid_vpn::net::tun::Tun;
use cycloid_vpn::net::udp::{self, Options};
use cycloid_vpn::proto::data::{Opener, PING, Sealer};
use cycloid_vpn::proto::wire::KeyId;
use namespaces::{INNER, Namespaces, OUTER, endpoint, key_id, key_pair};

const WAIT: Duration = Duration::from_secs(60);
const QUIET: Duration = Duration::from_millis(200);

/// A simulated peer, outside of the server's data path.
struct Player {
    id: PeerId,
    sealer: Arc<Sealer>,
    opener: Opener,
    socket: UdpSocket,
}

struct Stage {
    namespaces: Namespaces,
    handle: Handle,
    events: Events,
    players: Vec<Player>,
}

fn address(id: PeerId) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 1, id as u8 + 1)
}

fn remote(socket: &UdpSocket) -> Remote {
    let address = socket.local_addr().unwrap();
    Remote::Udp { group: 0, endpoint: endpoint(&address.ip().to_string(), address.port()) }
}

fn install(handle: &Handle, id: PeerId, key_id: KeyId, sealer: Arc<Sealer>, opener: Opener) {
    handle.take_under(id, key_id, opener);
    handle.send_under(id, key_id, sealer);
}

impl Stage {
    fn new(players: u32, workers: usize, client_to_client: bool) -> Self {
        let namespaces = Namespaces::new();
        let tun = namespaces.tun(0, workers, 1400);
        namespaces.check(0, "ip route add 10.77.1.0/24 dev tun0");
        let peers = Peers::Many { client_to_client, vlans: None };
        Self::on(namespaces, tun, players, workers, peers)
    }

    fn on(namespaces: Namespaces, tun: Tun, players: u32, workers: usize, peers: Peers) -> Self {
        let local = endpoint(OUTER[0], 1194).remote;
        let group =
            namespaces.run(0, move || udp::bind(local, workers, &Options::default()).unwrap());
        let (handle, events) = data_path::start(tun.into_queues(), vec![group], peers).unwrap();
        let sockets = namespaces.run(1, move || (0..players).map(|_| socket()).collect::<Vec<_>>());
        let players = (0..players)
            .zip(sockets)
            .map(|(id, socket)| {
                let [(server, server_opener), (sealer, opener)] = key_pair(id, false);
                handle.add_peer(id, remote(&socket));
                handle.set_routes(id, &[(address(id).into(), 32)]);
                install(&handle, id, key_id(), server, server_opener);
                Player { id, sealer, opener, socket }
            })
            .collect();
        Self { namespaces, handle, events, players }
    }

    /// Returns the next event. Panics after a timeout.
    fn event(&self) -> Event {
        let deadline = Instant::now() + WAIT;
        loop {
            if let Some(event) = self.events.next() {
                return event;
            }
            assert!(Instant::now() < deadline, "no event came");
            let wait = rustix::event::PollFd::new(&self.events, rustix::event::PollFlags::IN);
            let second = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
            rustix::event::poll(&mut [wait], Some(&second)).unwrap();
        }
    }

    /// Waits until a condition on the counters holds.
    fn until(&self, what: impl Fn(&Handle) -> bool) {
        let deadline = Instant::now() + WAIT;
        while !what(&self.handle) {
            assert!(Instant::now() < deadline, "{:?}", self.handle.dropped());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns a socket; must be called in the client's namespace.
fn socket() -> UdpSocket {
    UdpSocket::bind((OUTER[1], 0)).unwrap()
}

impl Player {
    fn sealed(&self, inner: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; inner.len() + self.sealer.overhead()];
        let id = self.sealer.reserve(1).unwrap().next().unwrap();
        let length = self.sealer.seal(id, &[inner], &mut packet).unwrap();
        packet.truncate(length);
        packet
    }

    fn send(&self, packet: &[u8]) {
        self.socket.send_to(packet, (OUTER[0], 1194)).unwrap();
    }

    /// Returns the next packet, opened, or `None` after the timeout.
    fn receive(&mut self, wait: Duration) -> Option<Vec<u8>> {
        receive(&self.socket, wait)
            .map(|mut packet| self.opener.open(&mut packet).unwrap().to_vec())
    }

    fn ping(&self, source: Ipv4Addr, number: u16) -> Vec<u8> {
        self.sealed(&echo_request(source, INNER[0].parse().unwrap(), number))
    }

    /// Asserts that a ping was answered.
    fn is_answered(&mut self, number: u16) {
        let answer = self.receive(WAIT).expect("an answer");
        assert_eq!(answer[12..16], INNER[0].parse::<Ipv4Addr>().unwrap().octets());
        assert_eq!(answer[16..20], address(self.id).octets());
        assert_eq!((answer[20], &answer[26..28]), (0, &number.to_be_bytes()[..]));
    }
}

fn receive(socket: &UdpSocket, wait: Duration) -> Option<Vec<u8>> {
    socket.set_read_timeout(Some(wait)).unwrap();
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).ok()?;
    Some(buffer[..length].to_vec())
}

/// Returns an ICMP echo request in an IPv4 packet.
fn echo_request(source: Ipv4Addr, destination: Ipv4Addr, number: u16) -> Vec<u8> {
    fn checksum(bytes: &[u8]) -> [u8; 2] {
        let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum();
        (!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes()
    }
    let mut packet = vec![0x45, 0, 0, 84, 0, 0, 0, 0, 64, 1, 0, 0];
    packet.extend(source.octets());
    packet.extend(destination.octets());
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum);
    packet.extend([8, 0, 0, 0, 1, 1]);
    packet.extend(number.to_be_bytes());
    packet.resize(84, 7);
    let sum = checksum(&packet[20..]);
    packet[22..24].copy_from_slice(&sum);
    packet
}

#[test]
fn many_peers_on_several_workers() {
    let mut stage = Stage::new(50, 3, false);
    for number in 0..5 {
        for player in &stage.players {
            player.send(&player.ping(address(player.id), number));
        }
        for player in &mut stage.players {
            player.is_answered(number);
        }
    }
    for id in 0..50 {
        // Counters are updated after the packets, at the latest at the end of a worker's turn;
        // inner bytes last.
        stage.until(|handle| {
            let counters = handle.counters(id).unwrap();
            counters.received_inner_bytes >= 420 && counters.sent_inner_bytes >= 420
        });
        let counters = stage.handle.counters(id).unwrap();
        assert_eq!((counters.received_packets, counters.sent_packets), (5, 5));
        assert_eq!((counters.received_inner_bytes, counters.sent_inner_bytes), (420, 420));
        assert_eq!(counters.received_bytes, 5 * (84 + 24));
    }
    let drops = stage.handle.dropped();
    assert_eq!([drops.unknown, drops.rejected, drops.spoofed, drops.untold], [0; 4]);
}

#[test]
fn foreign_and_forged_packets_are_dropped() {
    let mut stage = Stage::new(2, 2, false);
    let elsewhere = stage.namespaces.run(1, socket);
    let server = endpoint(OUTER[0], 1194).remote;
    let [one, two] = &mut stage.players[..] else { unreachable!() };

    let spoofed = one.ping(address(two.id), 1);
    one.send(&spoofed);
    let genuine = one.ping(address(one.id), 2);
    one.send(&genuine);
    one.is_answered(2);
    assert_eq!(two.receive(QUIET), None);

    // Repeated; with each part changed; truncated; for an unknown peer, from the address of a peer,
    // whose packet it may be, and from no peer's; for an unknown key.
    one.send(&genuine);
    for at in [4, 8, 30, genuine.len() - 1] {
        let mut changed = one.ping(address(one.id), 3);
        changed[at] ^= 1;
        one.send(&changed);
    }
    one.send(&genuine[..20]);
    let mut stranger = one.ping(address(one.id), 4);
    stranger[3] = 77;
    one.send(&stranger);
    elsewhere.send_to(&stranger, server).unwrap();
    let mut other_key = one.ping(address(one.id), 5);
    other_key[0] ^= 1;
    one.send(&other_key);
    stage.until(|handle| {
        let drops = handle.dropped();
        drops.spoofed + drops.rejected + drops.unknown >= 10
    });
    assert_eq!(stage.players[0].receive(QUIET), None);
    let drops = stage.handle.dropped();
    assert_eq!([drops.spoofed, drops.rejected, drops.unknown], [1, 7, 2]);
    assert!(stage.events.next().is_none());
}

#[test]
fn a_moved_peer_is_answered_at_once_and_reported() {
    let mut stage = Stage::new(1, 2, false);
    let elsewhere = stage.namespaces.run(1, socket);
    let server = endpoint(OUTER[0], 1194).remote;
    let player = &stage.players[0];
    // An unauthentic packet does not move the peer.
    let mut forged = player.ping(address(0), 1);
    forged[30] ^= 1;
    elsewhere.send_to(&forged, server).unwrap();
    stage.until(|handle| handle.dropped().rejected == 1);
    assert!(stage.events.next().is_none());

    let at_home = std::mem::replace(&mut stage.players[0].socket, elsewhere);
    for number in [1, 2] {
        let packet = stage.players[0].ping(address(0), number);
        stage.players[0].send(&packet);
        stage.players[0].is_answered(number);
    }
    let Event::Float { peer: 0, from: moved } = stage.event() else { panic!("a float") };
    assert_eq!(moved, remote(&stage.players[0].socket));
    assert!(stage.events.next().is_none(), "a move is reported once");

    // A refused move is taken back, a confirmed one stays.
    let mut other = at_home;
    for (number, confirmed) in [(3, remote(&other)), (4, moved)] {
        stage.handle.set_remote(0, confirmed);
        std::mem::swap(&mut other, &mut stage.players[0].socket);
        let packet = stage.players[0].ping(address(0), number);
        stage.players[0].send(&packet);
        stage.players[0].is_answered(number);
    }
    assert!(stage.events.next().is_none());
}

#[test]
fn a_peer_is_not_answered_at_the_address_of_another() {
    let mut stage = Stage::new(2, 1, false);
    let packet = stage.players[0].ping(address(0), 1);
    stage.players[1].send(&packet);
    stage.players[0].is_answered(1);
    let Event::Float { peer: 0, from } = stage.event() else { panic!("a float") };
    assert_eq!(from, remote(&stage.players[1].socket));
}

#[test]
fn keys_are_added_and_retired() {
    let mut stage = Stage::new(1, 1, false);
    let first = stage.players[0].ping(address(0), 1);
    let later = stage.players[0].ping(address(0), 2);
    stage.players[0].send(&first);
    stage.players[0].is_answered(1);

    // Packets under the previous key are accepted; answers use the latest key.
    let next = KeyId::new(1).unwrap();
    let [(server, server_opener), (sealer, opener)] = namespaces::key_pair_as(next, 0);
    install(&stage.handle, 0, next, server, server_opener);
    stage.players[0].send(&later);
    stage.players[0].opener = opener;
    stage.players[0].is_answered(2);
    let under_first = stage.players[0].ping(address(0), 3);
    stage.players[0].sealer = sealer;
    stage.handle.retire(0, key_id());
    stage.players[0].send(&under_first);
    stage.until(|handle| handle.dropped().unknown == 1);
    let packet = stage.players[0].ping(address(0), 4);
    stage.players[0].send(&packet);
    stage.players[0].is_answered(4);

    stage.handle.retire(0, next);
    assert!(stage.handle.send_data(0, &PING).is_err());
    stage.handle.remove_peer(0);
    assert_eq!(stage.handle.counters(0), None);
    stage.players[0].send(&stage.players[0].ping(address(0), 5));
    stage.until(|handle| handle.dropped().unknown == 2);
}

#[test]
fn the_control_thread_gets_its_packets() {
    let mut stage = Stage::new(2, 2, false);
    let player = &stage.players[1];
    let hello = [&[7 << 3][..], &[1; 30]].concat();
    player.send(&hello);
    let Event::Received { from, packet } = stage.event() else { panic!("a packet") };
    assert_eq!((from, packet), (remote(&player.socket), hello));
    stage.handle.send_control(b"answer", from).unwrap();
    assert_eq!(receive(&player.socket, WAIT).unwrap(), b"answer");

    let message = b"neither IP nor a ping";
    player.send(&player.sealed(&PING));
    player.send(&player.sealed(message));
    let Event::Message { peer: 1, packet } = stage.event() else { panic!("a message") };
    assert_eq!(packet, message);
    // Counters are updated after the message, at the latest at the end of the turn; inner bytes
    // last.
    stage.until(|handle| handle.counters(1).unwrap().received_inner_bytes > 0);
    let counters = stage.handle.counters(1).unwrap();
    assert_eq!(counters.received_packets, 2);
    assert_eq!(counters.received_inner_bytes, message.len() as u64);

    stage.handle.send_data(1, &PING).unwrap();
    assert_eq!(stage.players[1].receive(WAIT).unwrap(), PING);
}

#[test]
fn client_to_client_routes_inside_the_data_path() {
    let mut stage = Stage::new(2, 2, true);
    let [one, two] = &mut stage.players[..] else { unreachable!() };
    let inner = echo_request(address(one.id), address(two.id), 1);
    one.send(&one.sealed(&inner));
    assert_eq!(two.receive(WAIT).unwrap(), inner);
    one.send(&one.ping(address(one.id), 2));
    one.is_answered(2);
}

#[test]
fn ended_streams_are_reported_and_closed_streams_end() {
    let stage = Stage::new(0, 1, false);
    let [ours, theirs] = stage.namespaces.stream();
    let (id, remote) = stage.handle.add_stream(ours).unwrap();
    assert_eq!(remote, theirs.local_addr().unwrap());
    std::io::Write::write_all(&mut &theirs, &[0, 3, 7 << 3, 1, 2]).unwrap();
    let Event::Received { from: Remote::Tcp(from), packet } = stage.event() else { panic!() };
    assert_eq!((from, packet), (id, vec![7 << 3, 1, 2]));
    drop(theirs);
    let Event::Closed { stream } = stage.event() else { panic!("an end") };
    assert_eq!(stream, id);
    assert!(stage.handle.send_control(b"x", Remote::Tcp(id)).is_err());

    let [ours, theirs] = stage.namespaces.stream();
    let (id, _) = stage.handle.add_stream(ours).unwrap();
    stage.handle.send_control(b"last", Remote::Tcp(id)).unwrap();
    stage.handle.close_stream(id);
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut &theirs, &mut rest).unwrap();
    assert_eq!(rest, b"\0\x04last");
    stage.handle.stop();
}
