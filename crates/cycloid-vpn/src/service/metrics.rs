//! What is counted, as Prometheus text (exposition format 0.0.4), for whoever asks over HTTP.
//!
//! The server knows one answer. It is driven by the control thread, and serves few at a time: one who
//! connects and says nothing is in the way for a few seconds at most.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;

/// Connections at a time.
const MOST: usize = 8;
/// The longest request, in bytes.
const MAX_REQUEST: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(5);

/// Everything that is told, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Tunnels that stand.
    pub tunnels: u64,
    /// Tunnels that came to stand.
    pub established: u64,
    /// Handshakes that failed.
    pub failed: u64,
    /// Renewals of keys.
    pub renewals: u64,
    /// Packets from peers that were dropped: not authentic, replayed, malformed, or of nobody.
    pub dropped: u64,
    /// Changes of a peer's address.
    pub floats: u64,
    /// Packets from peers.
    pub packets_received: u64,
    /// Packets to peers.
    pub packets_sent: u64,
    /// Bytes from peers, encrypted.
    pub bytes_received: u64,
    /// Bytes to peers, encrypted.
    pub bytes_sent: u64,
}

impl Snapshot {
    /// As text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in [
            ("tunnels", "gauge", "Tunnels that stand.", self.tunnels),
            ("established_total", "counter", "Tunnels that came to stand.", self.established),
            ("failed_total", "counter", "Handshakes that failed.", self.failed),
            ("renewals_total", "counter", "Renewals of keys.", self.renewals),
            (
                "dropped_packets_total",
                "counter",
                "Packets of peers that were dropped.",
                self.dropped,
            ),
            ("floats_total", "counter", "Changes of a peer's address.", self.floats),
            ("received_packets_total", "counter", "Packets from peers.", self.packets_received),
            ("sent_packets_total", "counter", "Packets to peers.", self.packets_sent),
            (
                "received_bytes_total",
                "counter",
                "Bytes from peers, encrypted.",
                self.bytes_received,
            ),
            ("sent_bytes_total", "counter", "Bytes to peers, encrypted.", self.bytes_sent),
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

/// The server.
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
    /// What is still to be sent, once the request is whole.
    answer: Option<Vec<u8>>,
}

impl Metrics {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connections: Vec::new() })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What to poll for.
    pub fn interests(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let room = self.connections.len() < MOST;
        let listener = room.then(|| (self.listener.as_fd(), PollFlags::IN));
        let connections = self.connections.iter().map(|connection| {
            let flags = if connection.answer.is_some() { PollFlags::OUT } else { PollFlags::IN };
            (connection.stream.as_fd(), flags)
        });
        listener.into_iter().chain(connections)
    }

    /// When to [`serve`](Self::serve) at the latest.
    pub fn deadline(&self) -> Option<Duration> {
        self.connections.iter().map(|connection| connection.since + PATIENCE).min()
    }

    /// Moves bytes; takes a snapshot where somebody asked. `now` is since an arbitrary start.
    pub fn serve(&mut self, now: Duration, mut snapshot: impl FnMut() -> Snapshot) {
        while self.connections.len() < MOST {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() {
                let request = Vec::with_capacity(MAX_REQUEST);
                self.connections.push(Connection { stream, since: now, request, answer: None });
            }
        }
        self.connections.retain_mut(|connection| {
            now < connection.since + PATIENCE && connection.go_on(&mut snapshot).is_ok()
        });
    }
}

impl Connection {
    /// An error when it is at its end.
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

    fn bed() -> (Metrics, impl Fn() -> TcpStream) {
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

    /// Waits for what is under way.
    fn until(mut done: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn counters_for_whoever_asks() {
        let (mut metrics, connect) = bed();
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
    fn those_who_say_nothing_are_few_and_go() {
        let (mut metrics, connect) = bed();
        let _silent: Vec<_> = (0..2 * MOST).map(|_| connect()).collect();
        until(|| {
            metrics.serve(NOW, Snapshot::default);
            metrics.connections.len() >= MOST
        });
        metrics.serve(NOW, Snapshot::default);
        assert_eq!(metrics.connections.len(), MOST);
        assert_eq!(metrics.interests().count(), MOST);
        assert_eq!(metrics.deadline(), Some(NOW + PATIENCE));
        metrics.serve(NOW + PATIENCE, Snapshot::default);
        assert_eq!(metrics.connections.len(), 0);
    }
}
