//! A NAT in the client's namespace: forwards datagrams between one client and the server, and may
//! change its port, lose long datagrams, or lose everything.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::test_bed::{SERVER, TestBed};

/// The address and port that the client connects to, in its own namespace.
pub(crate) const INSIDE: &str = "127.0.0.1";
const PORT: u16 = 1194;

/// How often a thread looks for changes.
const TURN: Duration = Duration::from_millis(20);

/// How long another test's process may take to start.
const LONGEST_FORK: Duration = Duration::from_secs(20);

pub(crate) struct Relay {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    inside: Mutex<Arc<UdpSocket>>,
    outside: Mutex<Arc<UdpSocket>>,
    /// The client's address.
    client: Mutex<Option<SocketAddr>>,
    /// The number of addresses that the client has used.
    clients: AtomicUsize,
    /// The longest datagram that passes.
    longest: AtomicUsize,
    /// Whether control packets are lost.
    loses_control: AtomicBool,
    /// The last data packet that the client sent, as captured on the way.
    captured: Mutex<Vec<u8>>,
    ends: AtomicBool,
}

impl Relay {
    /// Starts a NAT between the client and the server.
    pub(crate) fn new(bed: &TestBed) -> Self {
        let (inside, outside) =
            bed.within(true, || (bind_inside(PORT), outside("10.99.0.2"))).join().expect("sockets");
        let shared = Arc::new(Shared {
            inside: Mutex::new(Arc::new(inside)),
            outside: Mutex::new(Arc::new(outside)),
            client: Mutex::new(None),
            clients: AtomicUsize::new(0),
            longest: AtomicUsize::new(usize::MAX),
            loses_control: AtomicBool::new(false),
            captured: Mutex::new(Vec::new()),
            ends: AtomicBool::new(false),
        });
        let [there, back] = [0, 1].map(|_| Arc::clone(&shared));
        let threads = vec![
            std::thread::spawn(move || there.forward_there()),
            std::thread::spawn(move || back.forward_back()),
        ];
        Self { shared, threads }
    }

    /// Forgets the mapping: later datagrams come from another port of this address, and answers to
    /// the old port are lost.
    pub(crate) fn move_to(&self, bed: &TestBed, address: &'static str) {
        let moved = bed.within(true, move || outside(address)).join().expect("a socket");
        *self.shared.outside.lock().expect("unpoisoned") = Arc::new(moved);
    }

    /// Answers the client from another port from now on. The old one reads nothing more.
    pub(crate) fn move_server(&self, bed: &TestBed) {
        let moved = bed.within(true, || bind_inside(PORT + 1)).join().expect("a socket");
        *self.shared.inside.lock().expect("unpoisoned") = Arc::new(moved);
    }

    /// Loses datagrams with more bytes than an IP packet of `size` has room for.
    pub(crate) fn limit_packets(&self, size: usize) {
        self.shared.longest.store(size - 28, Ordering::Relaxed);
    }

    pub(crate) fn lose_control(&self, loses: bool) {
        self.shared.loses_control.store(loses, Ordering::Relaxed);
    }

    /// Returns the last data packet from the client.
    pub(crate) fn captured(&self) -> Vec<u8> {
        self.shared.captured.lock().expect("unpoisoned").clone()
    }

    /// Returns the number of addresses that the client has used.
    pub(crate) fn clients(&self) -> usize {
        self.shared.clients.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn bind(address: &str, port: u16) -> io::Result<UdpSocket> {
    let address: Ipv4Addr = address.parse().expect("an address");
    let socket = UdpSocket::bind((address, port))?;
    socket.set_read_timeout(Some(TURN))?;
    Ok(socket)
}

/// Binds the client's side. The port of an earlier relay stays in use while a process that another
/// test has just forked still has its socket, until that process executes its program.
fn bind_inside(port: u16) -> UdpSocket {
    let limit = Instant::now() + LONGEST_FORK;
    loop {
        match bind(INSIDE, port) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < limit => {
                std::thread::sleep(TURN);
            }
            socket => return socket.expect("a socket"),
        }
    }
}

fn outside(address: &str) -> UdpSocket {
    let socket = bind(address, 0).expect("a socket");
    socket.connect((SERVER, PORT)).expect("an address");
    socket
}

fn is_data(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| matches!(first >> 3, 6 | 9))
}

impl Shared {
    fn passes(&self, packet: &[u8]) -> bool {
        packet.len() <= self.longest.load(Ordering::Relaxed)
            && (is_data(packet) || !self.loses_control.load(Ordering::Relaxed))
    }

    fn forward_there(&self) {
        let mut packet = vec![0; 65536];
        while !self.ends.load(Ordering::Relaxed) {
            let inside = Arc::clone(&self.inside.lock().expect("unpoisoned"));
            let Ok((length, from)) = inside.recv_from(&mut packet) else { continue };
            if self.client.lock().expect("unpoisoned").replace(from) != Some(from) {
                self.clients.fetch_add(1, Ordering::Relaxed);
            }
            let packet = &packet[..length];
            if is_data(packet) {
                *self.captured.lock().expect("unpoisoned") = packet.to_vec();
            }
            let outside = Arc::clone(&self.outside.lock().expect("unpoisoned"));
            if self.passes(packet) {
                let _ = outside.send(packet);
            }
        }
    }

    fn forward_back(&self) {
        let mut packet = vec![0; 65536];
        while !self.ends.load(Ordering::Relaxed) {
            let outside = Arc::clone(&self.outside.lock().expect("unpoisoned"));
            let Ok(length) = outside.recv(&mut packet) else { continue };
            let client = *self.client.lock().expect("unpoisoned");
            if let (Some(client), true) = (client, self.passes(&packet[..length])) {
                let inside = Arc::clone(&self.inside.lock().expect("unpoisoned"));
                let _ = inside.send_to(&packet[..length], client);
            }
        }
    }
}
