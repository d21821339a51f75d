//! Serves counters to Prometheus over HTTP (text exposition format 0.0.4).
//!
//! The control thread drives this server, which answers a single path. It serves few connections at
//! a time, and closes silent ones after a few seconds.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;

/// The most concurrent connections.
const MAX_CONNECTIONS: usize = 8;
/// The longest request, in bytes.
const MAX_REQUEST: usize = 4096;
const TIMEOUT: Duration = Duration::from_secs(5);

/// All counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Tunnels that are up.
    pub tunnels: u64,
    /// Tunnels established so far.
    pub established: u64,
    /// Failed handshakes.
    pub failed: u64,
    /// Key renewals.
    pub renewals: u64,
    /// Dropped packets: unauthentic, replayed, malformed, or from unknown peers.
    pub dropped: u64,
    /// Changes of a peer's address.
    pub floats: u64,
    /// Packets received from peers.
    pub packets_received: u64,
    /// Packets sent to peers.
    pub packets_sent: u64,
    /// Encrypted bytes received from peers.
    pub bytes_received: u64,
    /// Encrypted bytes sent to peers.
    pub bytes_sent: u64,
}

impl Snapshot {
    /// Returns the Prometheus text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in [
            ("tunnels", "gauge", "Tunnels that are up.", self.tunnels),
            ("established_total", "counter", "Tunnels established.", self.established),
            ("failed_total", "counter", "Failed handshakes.", self.failed),
            ("renewals_total", "counter", "Key renewals.", self.renewals),
            ("dropped_packets_total", "counter", "Dropped packets from peers.", self.dropped),
            ("floats_total", "counter", "Changes of a peer's address.", self.floats),
            (
                "received_packets_total",
                "counter",
                "Packets received from peers.",
                self.packets_received,
            ),
            ("sent_packets_total", "counter", "Packets sent to peers.", self.packets_sent),
            (
                "received_bytes_total",
                "counter",
                "Encrypted bytes received from peers.",
                self.bytes_received,
            ),
            ("sent_bytes_total", "counter", "Encrypted bytes sent to peers.", self.bytes_sent),
        ] {
            let _ = writeln!(
                text,
                "# HELP cycloid_vpn_{name} {help}\n# TYPE cycloid_vpn_{name} {kind}\n\
                 cycloid_vpn_{name} {value}"
            );
        }
        text
    }
}

/// The HTTP server.
#[derive(Debug)]
pub struct Metrics {
    listener: TcpListener,
    connections: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    since: Duration,
    request: Vec<u8>,
    /// The unsent rest of the answer, once the request is complete.
    answer: Option<Vec<u8>>,
}

impl Metrics {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connections: Vec::new() })
    }

    /// Returns the listening address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the descriptors to poll, with their events.
    pub fn interests(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let room = self.connections.len() < MAX_CONNECTIONS;
        let listener = room.then(|| (self.listener.as_fd(), PollFlags::IN));
        let connections = self.connections.iter().map(|connection| {
            let flags = if connection.answer.is_some() { PollFlags::OUT } else { PollFlags::IN };
            (connection.stream.as_fd(), flags)
        });
        listener.into_iter().chain(connections)
    }

    /// Returns the latest time for the next call of [`serve`](Self::serve).
    pub fn deadline(&self) -> Option<Duration> {
        self.connections.iter().map(|connection| connection.since + TIMEOUT).min()
    }

    /// Transfers bytes, and takes a snapshot for each complete request. `now` counts from an
    /// arbitrary start.
    pub fn serve(&mut self, now: Duration, mut snapshot: impl FnMut() -> Snapshot) {
        while self.connections.len() < MAX_CONNECTIONS {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() {
                let request = Vec::with_capacity(MAX_REQUEST);
                self.connections.push(Connection { stream, since: now, request, answer: None });
            }
        }
        self.connections.retain_mut(|connection| {
            now < connection.since + TIMEOUT && connection.go_on(&mut snapshot).is_ok()
        });
    }
}

impl Connection {
    /// Continues the exchange. An error ends the connection.
    fn go_on(&mut self, snapshot: &mut impl FnMut() -> Snapshot) -> io::Result<()> {
        while self.answer.is_none() {
            let mut bytes = [0; 512];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.request.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.request.windows(4).any(|window| window == b"\r\n\r\n") {
                self.answer = Some(answer(&self.request, snapshot));
            } else if self.request.len() > MAX_REQUEST {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        let answer = self.answer.get_or_insert_default();
        while !answer.is_empty() {
            match self.stream.write(answer) {
                Ok(sent) => drop(answer.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn answer(request: &[u8], snapshot: &mut impl FnMut() -> Snapshot) -> Vec<u8> {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some(b"GET"), Some(b"/metrics")) => ("200 OK", snapshot().text()),
        (Some(b"GET"), _) => ("404 Not Found", "see /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "GET /metrics\n".to_owned()),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn fixture() -> (Metrics, impl Fn() -> TcpStream) {
        let metrics = Metrics::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = metrics.address().unwrap();
        (metrics, move || TcpStream::connect(address).unwrap())
    }

    fn ask(metrics: &mut Metrics, mut client: TcpStream, request: &[u8]) -> String {
        let snapshot = || Snapshot { tunnels: 3, bytes_sent: 1 << 40, ..Snapshot::default() };
        let (first, second) = request.split_at(request.len() / 2);
        client.write_all(first).unwrap();
        until(|| {
            metrics.serve(NOW, snapshot);
            metrics.connections.iter().any(|connection| connection.request == first)
        });
        client.write_all(second).unwrap();
        client.set_nonblocking(true).unwrap();
        let mut answer = Vec::new();
        until(|| {
            metrics.serve(NOW, snapshot);
            let read = client.read_to_end(&mut answer);
            !read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        });
        String::from_utf8(answer).unwrap()
    }

    /// Waits for bytes in transit.
    fn until(mut done: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn counters_over_http() {
        let (mut metrics, connect) = fixture();
        let answer = ask(&mut metrics, connect(), b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        let lines = [
            "# TYPE cycloid_vpn_tunnels gauge\ncycloid_vpn_tunnels 3\n",
            "sent_bytes_total 1099511627776\n",
        ];
        assert!(lines.iter().all(|line| body.contains(line)), "{body}");
        let answer = ask(&mut metrics, connect(), b"GET / HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 404 "));
        let answer = ask(&mut metrics, connect(), b"POST /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 405 "));
        assert_eq!(ask(&mut metrics, connect(), &[b'x'; 8192]), "");
    }

    #[test]
    fn silent_connections_are_limited_and_time_out() {
        let (mut metrics, connect) = fixture();
        let _silent: Vec<_> = (0..2 * MAX_CONNECTIONS).map(|_| connect()).collect();
        until(|| {
            metrics.serve(NOW, Snapshot::default);
            metrics.connections.len() >= MAX_CONNECTIONS
        });
        metrics.serve(NOW, Snapshot::default);
        assert_eq!(metrics.connections.len(), MAX_CONNECTIONS);
        assert_eq!(metrics.interests().count(), MAX_CONNECTIONS);
        assert_eq!(metrics.deadline(), Some(NOW + TIMEOUT));
        metrics.serve(NOW + TIMEOUT, Snapshot::default);
        assert_eq!(metrics.connections.len(), 0);
    }
}
