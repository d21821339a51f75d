//! UDP sockets: trains of datagrams with segmentation offload, socket groups on one port, and
//! answers from the address that received the request.
//!
//! A train is up to 64 datagrams of equal length in one buffer and one system call; the last may be
//! shorter. If the kernel or path refuses a train, its datagrams are sent one by one.
//!
//! Source: udp(7), UDP_SEGMENT and UDP_GRO; socket(7), SO_ATTACH_REUSEPORT_CBPF; ip(7), IP_PKTINFO
//! and IP_MTU_DISCOVER.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

pub use super::kernel::Incoming;
use super::{Error, kernel};

/// Maximum number of datagrams in a train (Linux before 6.9; later kernels accept 128).
pub const MAX_SEGMENTS: usize = 64;

/// Maximum number of bytes in a train. With lower-layer headers it must stay below the 65,536 bytes
/// of `gso_max_size`; otherwise the kernel splits the train before the device sees it.
pub const MAX_TRAIN: usize = 65_000;

/// Bytes of a buffer for [`UdpSocket::receive`].
pub const RECEIVE_BUFFER: usize = 65536;

/// Socket options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Receive buffer in bytes; `None` keeps the system's default.
    pub receive_buffer: Option<usize>,
    /// Send buffer in bytes; `None` keeps the system's default.
    pub send_buffer: Option<usize>,
    /// Report the address that a datagram was sent to, so that the answer can be sent from it.
    pub multihome: bool,
    /// Path MTU discovery.
    pub path_mtu: PathMtu,
    /// The mark for routing rules and packet filters (`mark`).
    pub mark: Option<u32>,
    /// The outer interface or VRF (`bind-dev`).
    pub device: Option<String>,
    /// An IPv6 socket accepts IPv6 only.
    pub v6_only: bool,
    /// Whether the kernel joins received datagrams into trains. Not where it takes the data packets
    /// itself, one by one.
    pub joins: bool,
}

/// `mtu-disc`: whether routers may fragment datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMtu {
    /// The system's default for UDP.
    System,
    /// `no`: always allow fragmentation.
    Fragment,
    /// `maybe`: forbid fragmentation if the known path MTU fits the datagram.
    Want,
    /// `yes`: always forbid fragmentation; datagrams that exceed the path MTU are lost.
    Forbid,
}

impl Default for Options {
    /// Buffers of 4 MiB: smaller ones lose bursts of a fast stream.
    fn default() -> Self {
        Self {
            receive_buffer: Some(4 << 20),
            send_buffer: Some(4 << 20),
            multihome: false,
            path_mtu: PathMtu::System,
            mark: None,
            device: None,
            v6_only: false,
            joins: true,
        }
    }
}

/// The two addresses of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The peer's address.
    pub remote: SocketAddr,
    /// This end's address; `None` lets the kernel choose.
    pub local: Option<IpAddr>,
}

/// A UDP socket. Methods may be called from several threads.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    v6: bool,
    connected: bool,
    /// The longest datagram for trains: longer ones need fragmentation, which trains cannot have.
    /// Zero if the kernel refuses trains.
    longest_in_train: AtomicUsize,
}

/// Binds `count` sockets (at least one) to one address and port.
///
/// Data channel datagrams go to the socket with index peer id modulo `count`, all others to the
/// first. So a peer stays with one thread even if its address changes.
///
/// # Errors
///
/// The kernel's refusal: the address is not local, or is in use.
pub fn bind(local: SocketAddr, count: usize, options: &Options) -> Result<Vec<UdpSocket>, Error> {
    group(local, None, count, options)
        .map_err(|cause| Error::new(format!("listen on UDP {local}"), cause))
}

/// Connects `count` sockets (at least one) to `remote`, all from one port: that of `local`, or one
/// that the kernel chooses if `local` is absent or its port is zero.
///
/// # Errors
///
/// The kernel's refusal: no route.
pub fn connect(
    local: Option<SocketAddr>,
    remote: SocketAddr,
    count: usize,
    options: &Options,
) -> Result<Vec<UdpSocket>, Error> {
    let any: IpAddr = match remote {
        SocketAddr::V4(_) => [0; 4].into(),
        SocketAddr::V6(_) => [0; 16].into(),
    };
    let local = local.unwrap_or(SocketAddr::new(any, 0));
    group(local, Some(remote), count, options)
        .map_err(|cause| Error::new(format!("connect to UDP {remote}"), cause))
}

fn group(
    mut local: SocketAddr,
    remote: Option<SocketAddr>,
    count: usize,
    options: &Options,
) -> io::Result<Vec<UdpSocket>> {
    let mut sockets = Vec::with_capacity(count);
    for _ in 0..count.max(1) {
        // With `SO_REUSEPORT` the kernel may choose a port that others already share, and two
        // servers would get a share of each other's datagrams. So the first socket enables sharing
        // only after it has a port of its own.
        let first = sockets.is_empty();
        let socket = UdpSocket::open(local, count > 1 && !first, options)?;
        if first {
            local.set_port(socket.local_address()?.port());
            socket.socket.set_reuse_port(count > 1)?;
        }
        sockets.push(socket);
    }
    if count > 1 {
        kernel::attach_reuseport_program(sockets[0].as_fd(), &steering(count as u32))?;
    }
    if let Some(remote) = remote {
        for socket in &mut sockets {
            socket.socket.connect(&remote.into())?;
            socket.connected = true;
        }
    }
    Ok(sockets)
}

/// Returns the classic BPF program that selects one of `count` sockets. For a datagram of less than
/// four bytes the first load fails, which ends the program with zero.
fn steering(count: u32) -> [kernel::Instruction; 9] {
    const DATA_V2: u32 = 9;
    [
        (0x20, 0, 0, 0), // A = the first four bytes: opcode (5 bits), key id (3), peer id (24)
        (0x07, 0, 0, 0), // X = A
        (0x74, 0, 0, 27), // A >>= 27
        (0x15, 0, 4, DATA_V2), // if A is not DATA_V2, go to the last
        (0x87, 0, 0, 0), // A = X
        (0x54, 0, 0, 0x00ff_ffff), // A &= the peer id's bits
        (0x94, 0, 0, count), // A %= count
        (0x16, 0, 0, 0), // return A
        (0x06, 0, 0, 0), // return 0
    ]
}

impl UdpSocket {
    fn open(local: SocketAddr, shared: bool, options: &Options) -> io::Result<Self> {
        let v6 = local.is_ipv6();
        let socket = Socket::new(
            Domain::for_address(local),
            Type::DGRAM.nonblocking().cloexec(),
            Some(Protocol::UDP),
        )?;
        if v6 {
            socket.set_only_v6(options.v6_only)?;
        }
        if shared {
            socket.set_reuse_port(true)?;
        }
        if let Some(mark) = options.mark {
            socket.set_mark(mark)?;
        }
        if let Some(device) = &options.device {
            socket.bind_device(Some(device.as_bytes()))?;
        }
        set_buffer(
            &socket,
            libc::SO_RCVBUFFORCE,
            options.receive_buffer,
            Socket::set_recv_buffer_size,
        )?;
        set_buffer(
            &socket,
            libc::SO_SNDBUFFORCE,
            options.send_buffer,
            Socket::set_send_buffer_size,
        )?;
        if options.multihome {
            kernel::set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_PKTINFO, 1)?;
            if v6 {
                kernel::set_option(socket.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1)?;
            }
        }
        let discover = match options.path_mtu {
            PathMtu::System => None,
            PathMtu::Fragment => Some(libc::IP_PMTUDISC_DONT),
            PathMtu::Want => Some(libc::IP_PMTUDISC_WANT),
            PathMtu::Forbid => Some(libc::IP_PMTUDISC_DO),
        };
        if let Some(discover) = discover {
            // The numbers are the same for IPv6.
            kernel::set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, discover)?;
            if v6 {
                kernel::set_option(
                    socket.as_fd(),
                    libc::IPPROTO_IPV6,
                    libc::IPV6_MTU_DISCOVER,
                    discover,
                )?;
            }
        }
        if options.joins {
            // Without kernel support (before 5.0), each call returns one datagram.
            let _ = kernel::set_option(socket.as_fd(), libc::SOL_UDP, libc::UDP_GRO, 1);
        }
        socket.bind(&local.into())?;
        Ok(Self { socket, v6, connected: false, longest_in_train: AtomicUsize::new(usize::MAX) })
    }

    /// Returns the bound address.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address.as_socket().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Receives a train into `buffer`, which should have [`RECEIVE_BUFFER`] bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no datagram; `ConnectionRefused` and others if an earlier datagram
    /// was rejected.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Incoming> {
        kernel::receive(self.socket.as_fd(), buffer)
    }

    /// Sends a train: at most [`MAX_SEGMENTS`] datagrams of `segment` bytes, the last may be
    /// shorter, and at most [`MAX_TRAIN`] bytes in total. A connected socket ignores `to.remote`.
    /// Waits briefly if the kernel's buffer is full.
    ///
    /// # Errors
    ///
    /// Some datagrams were not sent; the others were.
    pub fn send(&self, bytes: &[u8], segment: usize, to: &Endpoint) -> io::Result<()> {
        let address = (!self.connected).then(|| self.address(to.remote));
        let mut outgoing = kernel::Outgoing {
            bytes,
            segment: None,
            to: address.as_ref(),
            from: to.local,
            v6: self.v6,
        };
        if bytes.len() > segment && segment <= self.longest_in_train.load(Ordering::Relaxed) {
            outgoing.segment = u16::try_from(segment).ok();
            let Err(error) = self.send_patiently(&outgoing) else {
                return Ok(());
            };
            match error.raw_os_error() {
                Some(libc::EMSGSIZE | libc::EINVAL) => {
                    self.longest_in_train.fetch_min(segment - 1, Ordering::Relaxed);
                }
                Some(libc::EIO | libc::EOPNOTSUPP | libc::ENOPROTOOPT) => {
                    self.longest_in_train.store(0, Ordering::Relaxed);
                }
                _ => return Err(error),
            }
            outgoing.segment = None;
        }
        let mut result = Ok(());
        for datagram in bytes.chunks(segment) {
            outgoing.bytes = datagram;
            result = result.and(self.send_patiently(&outgoing));
        }
        result
    }

    /// Sends, and retries transient errors: a full buffer, or a pending error of an earlier
    /// datagram (which the kernel reports once, instead of sending).
    fn send_patiently(&self, outgoing: &kernel::Outgoing<'_>) -> io::Result<()> {
        let mut tries = 0;
        loop {
            let error = match kernel::send(self.socket.as_fd(), outgoing) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            tries += 1;
            match error.kind() {
                _ if tries == 3 => return Err(error),
                io::ErrorKind::WouldBlock => {
                    let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
                    poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], Some(&wait))?;
                }
                io::ErrorKind::Interrupted | io::ErrorKind::ConnectionRefused => {}
                _ => return Err(error),
            }
        }
    }

    /// Converts an IPv4 address to a mapped one for an IPv6 socket.
    fn address(&self, address: SocketAddr) -> SockAddr {
        match address {
            SocketAddr::V4(v4) if self.v6 => {
                SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0).into()
            }
            address => address.into(),
        }
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Sets a buffer's size, above the system's limit if privileged, otherwise up to the limit.
fn set_buffer(
    socket: &Socket,
    force: libc::c_int,
    bytes: Option<usize>,
    within_limit: fn(&Socket, usize) -> io::Result<()>,
) -> io::Result<()> {
    let Some(bytes) = bytes else {
        return Ok(());
    };
    let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    kernel::set_option(socket.as_fd(), libc::SOL_SOCKET, force, value)
        .or_else(|_| within_limit(socket, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(socket: &UdpSocket) -> Endpoint {
        Endpoint { remote: socket.local_address().unwrap(), local: None }
    }

    fn wait(socket: &UdpSocket) -> bool {
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&second)).unwrap() == 1
    }

    /// Receives until `count` datagrams have arrived.
    fn datagrams(socket: &UdpSocket, count: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut buffer = vec![0; RECEIVE_BUFFER];
        while found.len() < count {
            assert!(wait(socket), "only {} of {count} arrived", found.len());
            let incoming = socket.receive(&mut buffer).unwrap();
            let train = &buffer[..incoming.length];
            found.extend(train.chunks(incoming.segment).map(<[u8]>::to_vec));
        }
        found
    }

    #[test]
    fn a_train_arrives_as_its_datagrams() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let socket = |_| bind(any.parse().unwrap(), 1, &Options::default()).unwrap().remove(0);
            let [a, b] = [0, 1].map(socket);
            let train: Vec<u8> = (0..20 * 1000 + 7).map(|i| (i / 1000) as u8).collect();
            a.send(&train, 1000, &endpoint(&b)).unwrap();
            let found = datagrams(&b, 21);
            assert_eq!(found.concat(), train);
            assert!(found[..20].iter().all(|datagram| datagram.len() == 1000));
        }
    }

    #[test]
    fn a_refused_train_is_sent_datagram_by_datagram() {
        let options = Options::default();
        let [a, b] =
            [0, 1].map(|_| bind("127.0.0.1:0".parse().unwrap(), 1, &options).unwrap().remove(0));
        // As after a refusal by a kernel without trains.
        a.longest_in_train.store(0, Ordering::Relaxed);
        let train = [7; 2500];
        a.send(&train, 1000, &endpoint(&b)).unwrap();
        let lengths: Vec<_> = datagrams(&b, 3).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1000, 1000, 500]);
    }

    #[test]
    fn answers_leave_from_the_address_that_received_the_request() {
        let options = Options { multihome: true, ..Options::default() };
        for (any, asked, asking) in [
            ("0.0.0.0:0", "127.0.0.7", "127.0.0.1:0"),
            ("[::]:0", "127.0.0.8", "127.0.0.1:0"),
            ("[::]:0", "::1", "[::1]:0"),
        ] {
            let server = bind(any.parse().unwrap(), 1, &options).unwrap().remove(0);
            let port = server.local_address().unwrap().port();
            let asked: IpAddr = asked.parse().unwrap();
            let to = Endpoint { remote: SocketAddr::new(asked, port), local: None };
            let client = bind(asking.parse().unwrap(), 1, &options).unwrap().remove(0);
            client.send(b"question", 8, &to).unwrap();
            assert!(wait(&server));
            let mut buffer = [0; 64];
            let question = server.receive(&mut buffer).unwrap();
            assert_eq!(question.local, Some(asked));
            assert_eq!(question.from, client.local_address().unwrap());
            let back = Endpoint { remote: question.from, local: question.local };
            server.send(b"answer", 6, &back).unwrap();
            assert!(wait(&client));
            let answer = client.receive(&mut buffer).unwrap();
            assert_eq!(answer.from, SocketAddr::new(asked, port));
        }
    }

    #[test]
    fn data_packets_go_to_their_peers_socket_and_others_to_the_first() {
        let group = bind("127.0.0.1:0".parse().unwrap(), 3, &Options::default()).unwrap();
        let client =
            bind("127.0.0.1:0".parse().unwrap(), 1, &Options::default()).unwrap().remove(0);
        let to = endpoint(&group[0]);
        let mut expected = [0; 3];
        for peer in (0..50_u32).chain([0x00ff_ffff]) {
            let packet = (9 << 27 | 5 << 24 | peer).to_be_bytes();
            client.send(&packet, 4, &to).unwrap();
            expected[peer as usize % 3] += 1;
        }
        // A control packet, a version 1 data packet, and one that is too short.
        for other in [&[4 << 3, 0, 0, 2, 0][..], &[6 << 3, 0, 0, 1, 0], &[9 << 3, 0, 1]] {
            client.send(other, other.len(), &to).unwrap();
            expected[0] += 1;
        }
        for (socket, expected) in group.iter().zip(expected) {
            assert_eq!(datagrams(socket, expected).len(), expected);
            assert!(socket.receive(&mut [0; 64]).is_err());
        }
    }

    #[test]
    fn two_groups_never_share_a_port() {
        for count in [1, 3] {
            let group = bind("127.0.0.1:0".parse().unwrap(), count, &Options::default()).unwrap();
            let taken = group[0].local_address().unwrap();
            let error = bind(taken, 3, &Options::default()).unwrap_err();
            assert_eq!(error.hint(), Some("another program has this address and port"));
            drop(group);
            assert_eq!(bind(taken, 3, &Options::default()).unwrap().len(), 3);
        }
    }

    #[test]
    fn a_connected_group_has_one_port() {
        let server =
            bind("127.0.0.1:0".parse().unwrap(), 1, &Options::default()).unwrap().remove(0);
        let remote = server.local_address().unwrap();
        let clients = connect(None, remote, 2, &Options::default()).unwrap();
        assert_eq!(clients[0].local_address().unwrap(), clients[1].local_address().unwrap());
        for client in &clients {
            client.send(b"hello", 5, &endpoint(&server)).unwrap();
        }
        assert_eq!(datagrams(&server, 2), [b"hello", b"hello"]);
    }
}
