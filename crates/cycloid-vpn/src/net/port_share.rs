//! `port-share`: TCP connections that do not speak OpenVPN's protocol are carried to another
//! service.
//!
//! The first bytes of a connection decide, so the other service's clients must speak first, as
//! those of HTTP and HTTPS do. Each connection to the service takes two threads.
//!
//! Source: openvpn(8), `--port-share`.

use std::fs;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The most connections to the service at once; more are closed.
const MAX_CONNECTIONS: usize = 256;

/// How long the service may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The length of the shortest first packet.
const LEAST_PACKET: u8 = 14;

/// The first bytes of packets that begin a session: `P_CONTROL_HARD_RESET_CLIENT_V2` and `V3`, with
/// key id 0.
const FIRST_BYTES: [u8; 2] = [7 << 3, 10 << 3];

/// The beginning of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Nothing has arrived yet.
    Silent,
    /// A packet of OpenVPN's protocol.
    Tunnel,
    /// Something else.
    Other,
    /// The end of the connection.
    Closed,
}

/// Returns how a connection begins, and leaves its bytes unread.
pub fn beginning(stream: &TcpStream) -> Beginning {
    let mut bytes = [0; 3];
    match stream.peek(&mut bytes) {
        Ok(0) => Beginning::Closed,
        Ok(length) if is_tunnel(&bytes[..length]) => Beginning::Tunnel,
        Ok(_) => Beginning::Other,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Beginning::Silent,
        Err(_) => Beginning::Closed,
    }
}

/// Returns whether bytes can be the beginning of a first packet: its length, high byte first, and
/// its opcode. A packet with a wrapped key may be longer than 255 bytes.
fn is_tunnel(bytes: &[u8]) -> bool {
    let fits = |length: u16| (u16::from(LEAST_PACKET)..2048).contains(&length);
    match *bytes {
        [high, low, first, ..] => {
            fits(u16::from_be_bytes([high, low])) && FIRST_BYTES.contains(&first)
        }
        [high, low] => fits(u16::from_be_bytes([high, low])),
        [high] => high < 8,
        [] => true,
    }
}

/// The service that shares a server's port.
#[derive(Clone, Debug)]
pub struct Service {
    host: String,
    port: u16,
    /// The directory for the clients' addresses.
    directory: Option<PathBuf>,
    connections: Arc<AtomicUsize>,
}

impl Service {
    /// Names the service. `directory` gets a file for each connection to it: the name is the
    /// connection's source, the content the client's address.
    pub fn new(host: String, port: u16, directory: Option<PathBuf>) -> Self {
        Self { host, port, directory, connections: Arc::default() }
    }

    /// Carries a client's connection to the service, on threads of its own.
    ///
    /// # Errors
    ///
    /// Too many connections, or no thread.
    pub fn carry(&self, client: TcpStream, address: SocketAddr) -> io::Result<()> {
        let ticket = Ticket(Arc::clone(&self.connections));
        if ticket.0.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            return Err(io::Error::other("too many connections to the service of port-share"));
        }
        client.set_nonblocking(false)?;
        let service = self.clone();
        let run = move || {
            // The client sees that the connection ends, whatever the reason is.
            let _ = service.join(client, address);
            drop(ticket);
        };
        std::thread::Builder::new().name("port-share".into()).spawn(run)?;
        Ok(())
    }

    /// Copies bytes in both directions until both have ended.
    fn join(&self, client: TcpStream, address: SocketAddr) -> io::Result<()> {
        let service = self.connect()?;
        service.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let _note = match &self.directory {
            Some(directory) => Some(Note::write(directory, service.local_addr()?, address)?),
            None => None,
        };
        let back = (service.try_clone()?, client.try_clone()?);
        // The service ends a connection for both directions; a client may end its own first.
        let answer = move || copy(&back.0, &back.1, Shutdown::Both);
        let answers = std::thread::Builder::new().name("port-share".into()).spawn(answer)?;
        copy(&client, &service, Shutdown::Write);
        let _ = answers.join();
        Ok(())
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Copies until the sender ends, and then ends the receiver's side. After an error, ends both.
fn copy(mut from: &TcpStream, mut to: &TcpStream, end: Shutdown) {
    match io::copy(&mut from, &mut to) {
        Ok(_) => {
            let _ = to.shutdown(end);
        }
        Err(_) => {
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        }
    }
}

/// A counted connection.
struct Ticket(Arc<AtomicUsize>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The file with a client's address; removed on drop.
struct Note(PathBuf);

impl Note {
    fn write(directory: &Path, source: SocketAddr, client: SocketAddr) -> io::Result<Self> {
        let note = Self(directory.join(source.to_string()));
        fs::write(&note.0, client.to_string())?;
        Ok(note)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, TcpStream, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, address) = listener.accept().unwrap();
        (client, accepted, address)
    }

    #[test]
    fn the_first_bytes_decide() {
        for (bytes, tunnel) in [
            (&[0, 14, 0x38][..], true),
            (&[0, 54, 0x38, 1], true),
            // With a wrapped key.
            (&[2, 1, 0x50], true),
            (&[0, 14], true),
            (&[1], true),
            (&[0, 13, 0x38], false),
            (&[0, 54, 0x39], false),
            (&[0, 54, 0x20], false),
            (&[8, 0, 0x38], false),
            (b"GET / HTTP/1.1", false),
            (b"G", false),
            // A TLS client hello.
            (&[22, 3, 1], false),
        ] {
            assert_eq!(is_tunnel(bytes), tunnel, "{bytes:?}");
        }
    }

    #[test]
    fn a_connection_is_judged_when_it_speaks() {
        let (mut client, accepted, _) = pair();
        accepted.set_nonblocking(true).unwrap();
        assert_eq!(beginning(&accepted), Beginning::Silent);
        client.write_all(b"GET /").unwrap();
        accepted.set_nonblocking(false).unwrap();
        assert_eq!(beginning(&accepted), Beginning::Other);
        assert_eq!(beginning(&accepted), Beginning::Other, "the bytes are still there");
        let (client, accepted, _) = pair();
        drop(client);
        assert_eq!(beginning(&accepted), Beginning::Closed);
    }

    #[test]
    fn the_service_gets_the_connection_and_learns_its_origin() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let directory = tempfile::tempdir().unwrap();
        let place = Some(directory.path().to_owned());
        let service = Service::new("localhost".to_owned(), port, place);
        let (mut client, accepted, address) = pair();
        accepted.set_nonblocking(true).unwrap();
        client.write_all(b"question").unwrap();
        service.carry(accepted, address).unwrap();
        let (mut served, source) = listener.accept().unwrap();
        let mut text = [0; 8];
        served.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"question");
        let note = directory.path().join(source.to_string());
        assert_eq!(fs::read_to_string(&note).unwrap(), address.to_string());
        served.write_all(b"answer").unwrap();
        drop(served);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
        drop(client);
        while service.connections.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
        assert!(!note.exists());
    }

    #[test]
    fn connections_are_limited() {
        let service = Service::new("localhost".to_owned(), 1, None);
        service.connections.store(MAX_CONNECTIONS, Ordering::Relaxed);
        let (_client, accepted, address) = pair();
        assert!(service.carry(accepted, address).is_err());
        assert_eq!(service.connections.load(Ordering::Relaxed), MAX_CONNECTIONS);
    }
}
