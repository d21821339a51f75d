//! Carries datagrams between the data path and a SOCKS proxy: a thread adds and removes the proxy's
//! header.
//!
//! The data path sends trains of datagrams without gaps, which a header in each would break. A
//! proxy costs more than the additional copy here.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};

use super::socks::{datagram_header, datagram_header_length};

/// The longest datagram.
const MAX_DATAGRAM: usize = 65535;

/// The most datagrams of a direction before the others get their turn.
const TURN: usize = 64;

/// An association at a SOCKS proxy. Drop ends it.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    /// Closed to stop the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts the thread. `control` keeps the association at the proxy, `proxy` is its address for
    /// datagrams, `destination` the server's.
    ///
    /// # Errors
    /// The system refuses a socket or the thread.
    pub fn start(
        control: TcpStream,
        proxy: SocketAddr,
        destination: SocketAddr,
    ) -> io::Result<Self> {
        let inside = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = inside.local_addr()?;
        let outside = UdpSocket::bind(match proxy {
            SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
            SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
        })?;
        outside.connect(proxy)?;
        let (stop, stopped) = UnixStream::pair()?;
        for socket in [&inside, &outside] {
            socket.set_nonblocking(true)?;
        }
        let header = datagram_header(destination);
        let run = move || run(&control, &inside, &outside, &stopped, &header);
        let thread = std::thread::Builder::new().name("proxy".into()).spawn(run)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address that stands for the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic has already been reported by the thread.
            let _ = thread.join();
        }
    }
}

fn run(
    control: &TcpStream,
    inside: &UdpSocket,
    outside: &UdpSocket,
    stopped: &UnixStream,
    header: &[u8],
) {
    let mut buffer = vec![0; header.len() + MAX_DATAGRAM];
    buffer[..header.len()].copy_from_slice(header);
    let mut answer = vec![0; MAX_DATAGRAM];
    // The first sender is the data path; no other process may take its place.
    let mut connected = false;
    loop {
        let mut sources = [
            PollFd::new(inside, PollFlags::IN),
            PollFd::new(outside, PollFlags::IN),
            PollFd::new(control, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut sources, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let over = sources[2..].iter().any(|source| !source.revents().is_empty());
        if over {
            return;
        }
        // A failure to send loses a datagram, as any network may.
        for _ in 0..TURN {
            let Ok((length, from)) = inside.recv_from(&mut buffer[header.len()..]) else { break };
            if !connected {
                connected = inside.connect(from).is_ok();
            }
            let _ = outside.send(&buffer[..header.len() + length]);
        }
        answers(outside, inside, connected, &mut answer);
    }
}

/// Carries up to [`TURN`] datagrams of the proxy to the data path.
fn answers(outside: &UdpSocket, inside: &UdpSocket, connected: bool, buffer: &mut [u8]) {
    for _ in 0..TURN {
        let Ok(length) = outside.recv(buffer) else { return };
        if let Some(start) = datagram_header_length(&buffer[..length])
            && connected
        {
            let _ = inside.send(&buffer[start..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a proxy that sends without end would keep the thread from its end.
    #[test]
    fn a_turn_ends_although_more_datagrams_wait() {
        let pair = || {
            let (one, two) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
            let (one, two) = (one.unwrap(), two.unwrap());
            one.connect(two.local_addr().unwrap()).unwrap();
            two.connect(one.local_addr().unwrap()).unwrap();
            for socket in [&one, &two] {
                socket.set_nonblocking(true).unwrap();
            }
            (one, two)
        };
        let ((outside, proxy), (inside, path)) = (pair(), pair());
        let header = datagram_header("192.0.2.1:1194".parse().unwrap());
        for number in 0..TURN + 1 {
            proxy.send(&[&header[..], &[number as u8]].concat()).unwrap();
        }
        let received = || {
            let mut buffer = [0; 10];
            std::iter::from_fn(|| path.recv(&mut buffer).ok().map(|_| buffer[0])).count()
        };
        let mut buffer = vec![0; MAX_DATAGRAM];
        answers(&outside, &inside, true, &mut buffer);
        assert_eq!(received(), TURN);
        answers(&outside, &inside, true, &mut buffer);
        assert_eq!(received(), 1);
    }
}
