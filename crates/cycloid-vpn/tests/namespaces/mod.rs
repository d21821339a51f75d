//! Two network namespaces joined by a veth pair, and tunnels between them.
//!
//! Needs root and iproute2. Drop removes everything that was created.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread::JoinHandle;

use cycloid_vpn::net::data_path::{self, Events, Handle, Peers, Remote};
use cycloid_vpn::net::tun::{Configuration, Ipv4Link, Offload, Tun};
use cycloid_vpn::net::udp::{self, Endpoint, Options};
use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::data::{Cipher, Framing, KeyMaterial, Opener, Parameters, Sealer, keys};
use cycloid_vpn::proto::wire::KeyId;
use zeroize::Zeroizing;

/// The outer addresses.
pub(crate) const OUTER: [&str; 2] = ["10.99.0.1", "10.99.0.2"];
/// The inner addresses, IPv4.
pub(crate) const INNER: [&str; 2] = ["10.77.0.1", "10.77.0.2"];
/// The inner addresses, IPv6.
pub(crate) const INNER6: [&str; 2] = ["fd77::1", "fd77::2"];

/// The two namespaces: side 0 is the server, side 1 the client.
pub(crate) struct Namespaces {
    pub(crate) names: [String; 2],
}

impl Namespaces {
    pub(crate) fn new() -> Self {
        // Random instead of a process id, which may be reused after a killed process.
        let number = RandomState::new().hash_one(()) as u32;
        let name = |side| format!("cycloid-{number:08x}-{side}");
        let namespaces = Self { names: [name("s"), name("c")] };
        for name in &namespaces.names {
            ip(&format!("netns add {name}"));
            ip(&format!("-n {name} link set lo up"));
        }
        let [server, client] = &namespaces.names;
        ip(&format!("link add veth netns {server} type veth peer name veth netns {client}"));
        for (name, address) in namespaces.names.iter().zip(OUTER) {
            ip(&format!("-n {name} addr add {address}/24 dev veth"));
            ip(&format!("-n {name} link set veth up"));
        }
        namespaces
    }

    /// Runs a closure on a thread in a side's namespace.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        side: usize,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let namespace = File::open(format!("/run/netns/{}", self.names[side])).unwrap();
        std::thread::spawn(move || {
            let network = Some(rustix::thread::LinkNameSpaceType::Network);
            rustix::thread::move_into_link_name_space(
                std::os::fd::AsFd::as_fd(&namespace),
                network,
            )
            .unwrap();
            run()
        })
    }

    /// Like `spawn`, but waits for the result.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        side: usize,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.spawn(side, run).join().unwrap()
    }

    /// Returns a command in a side's namespace, from a command line without quotes.
    pub(crate) fn command(&self, side: usize, line: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[side]]).args(line.split_whitespace());
        command
    }

    /// Runs a command. Panics unless it succeeds.
    pub(crate) fn check(&self, side: usize, line: &str) -> String {
        let output = self.command(side, line).output().unwrap();
        succeeded(line, &output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Creates a TUN device with this side's inner addresses.
    pub(crate) fn tun(&self, side: usize, queues: usize, mtu: u32) -> Tun {
        let tun = self.run(side, move || {
            let tun = Tun::open("tun", queues, Offload::TcpAndUdp).unwrap();
            assert_eq!(tun.name(), "tun0");
            tun.configure(&Configuration {
                mtu,
                queue_length: Some(1000),
                hardware_address: None,
                ipv4: Some((INNER[side].parse().unwrap(), Ipv4Link::Subnet(24))),
                ipv6: Some((INNER6[side].parse().unwrap(), 64)),
            })
            .unwrap();
            tun
        });
        // The kernel activates a new IPv6 address with a short delay.
        while !self.check(side, "ip -6 route show table local").contains(INNER6[side]) {
            std::thread::yield_now();
        }
        tun
    }

    /// Creates a TAP device with the server's inner IPv4 address.
    pub(crate) fn tap(&self, queues: usize) -> Tun {
        self.run(0, move || {
            // Only the packets of tests are on the link.
            std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").unwrap();
            let tap = Tun::open_ethernet("tap", queues).unwrap();
            assert_eq!(tap.name(), "tap0");
            tap.configure(&Configuration {
                mtu: 1400,
                ipv4: Some((INNER[0].parse().unwrap(), Ipv4Link::Subnet(24))),
                hardware_address: Some([2, 0, 0, 0, 0, 0xff]),
                ..Configuration::default()
            })
            .unwrap();
            tap
        })
    }

    /// Returns the two ends of a TCP connection: the server's and the client's.
    pub(crate) fn stream(&self) -> [TcpStream; 2] {
        let listener = self.run(0, || TcpListener::bind((OUTER[0], 0)).unwrap());
        let port = listener.local_addr().unwrap().port();
        let client = self.run(1, move || TcpStream::connect((OUTER[0], port)).unwrap());
        [listener.accept().unwrap().0, client]
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // Fails harmlessly for a namespace that was never created.
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    succeeded(arguments, &output);
}

fn succeeded(what: &str, output: &Output) {
    let text = [&output.stdout[..], &output.stderr].concat();
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&text));
}

pub(crate) fn key_id() -> KeyId {
    KeyId::new(0).unwrap()
}

/// Returns the keys of both ends for a peer, derived from its id.
pub(crate) fn key_pair(peer: u32, stream: bool) -> [(Arc<Sealer>, Opener); 2] {
    let replay_window = if stream { 0 } else { 64 };
    pair(key_id(), peer, replay_window)
}

/// Returns keys with another key id, and so other key material.
pub(crate) fn key_pair_as(key_id: KeyId, peer: u32) -> [(Arc<Sealer>, Opener); 2] {
    pair(key_id, peer, 64)
}

fn pair(key_id: KeyId, peer: u32, replay_window: u32) -> [(Arc<Sealer>, Opener); 2] {
    let cipher = Cipher::Aes256Gcm;
    let peer_id = Some(peer);
    let framing = Framing::None;
    let (epochs, decompress) = (false, false);
    let parameters = Parameters {
        cipher,
        key_id,
        peer_id,
        epochs,
        framing,
        fragment: None,
        decompress,
        replay_window,
    };
    let seed = peer.wrapping_mul(97) ^ u32::from(key_id.get()) << 4;
    [Role::Server, Role::Client].map(|role| {
        let bytes = std::array::from_fn(|i| (i as u32 ^ seed) as u8);
        let material = KeyMaterial::from(Zeroizing::new(bytes));
        keys(&material, role, &parameters).unwrap()
    })
}

pub(crate) fn endpoint(address: &str, port: u16) -> Endpoint {
    let address: IpAddr = address.parse().unwrap();
    Endpoint { remote: SocketAddr::new(address, port), local: None }
}

/// A tunnel between the two sides, with a single peer whose id is 1.
pub(crate) struct Tunnel {
    pub(crate) ends: [(Handle, Events); 2],
}

impl Tunnel {
    pub(crate) fn new(namespaces: &Namespaces, stream: bool, mtu: u32) -> Self {
        let pair = key_pair(1, stream);
        let starts = if stream {
            Self::by_stream(namespaces, mtu)
        } else {
            Self::by_datagrams(namespaces, mtu)
        };
        let mut ends = starts.into_iter().zip(pair).map(|((end, remote), (sealer, opener))| {
            end.0.add_peer(1, remote);
            end.0.take_under(1, key_id(), opener);
            end.0.send_under(1, key_id(), sealer);
            end
        });
        let ends = [ends.next().unwrap(), ends.next().unwrap()];
        let networks = [INNER[1], INNER6[1]].map(|text| text.parse::<IpAddr>().unwrap());
        ends[0].0.set_routes(1, &networks.map(|address| (address, 128)));
        Self { ends }
    }

    fn by_datagrams(namespaces: &Namespaces, mtu: u32) -> Vec<((Handle, Events), Remote)> {
        let start = |side: usize| {
            let queues = namespaces.tun(side, 1, mtu).into_queues();
            let local = endpoint(OUTER[side], 1194).remote;
            let group =
                namespaces.run(side, move || udp::bind(local, 1, &Options::default()).unwrap());
            let endpoint = endpoint(OUTER[1 - side], 1194);
            let end = data_path::start(queues, vec![group], kind(side)).unwrap();
            (end, Remote::Udp { group: 0, endpoint })
        };
        vec![start(0), start(1)]
    }

    fn by_stream(namespaces: &Namespaces, mtu: u32) -> Vec<((Handle, Events), Remote)> {
        let streams = namespaces.stream().into_iter().enumerate();
        streams
            .map(|(side, stream)| {
                let queues = namespaces.tun(side, 1, mtu).into_queues();
                let end = data_path::start(queues, Vec::new(), kind(side)).unwrap();
                let (id, _) = end.0.add_stream(stream).unwrap();
                (end, Remote::Tcp(id))
            })
            .collect()
    }
}

fn kind(side: usize) -> Peers {
    if side == 0 {
        Peers::Many { client_to_client: false, vlans: None }
    } else {
        Peers::One { floats: false }
    }
}
