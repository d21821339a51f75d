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
        while let Ok((length, from)) = inside.recv_from(&mut buffer[header.len()..]) {
            if !connected {
                connected = inside.connect(from).is_ok();
            }
            let _ = outside.send(&buffer[..header.len() + length]);
        }
        let mut answer = [0; MAX_DATAGRAM];
        while let Ok(length) = outside.recv(&mut answer) {
            if let Some(start) = datagram_header_length(&answer[..length])
                && connected
            {
                let _ = inside.send(&answer[start..length]);
            }
        }
    }
}
