//! A stream of length-prefixed packets (16 bits, big-endian).
//!
//! Reads return many frames at once, in place. Callers batch writes; data that the kernel does not
//! accept waits here, up to a limit. Above the limit whole batches are refused, so that a slow peer
//! costs neither memory nor time of others.
//!
//! Source: draft-openvpn-wire-protocol, section on TCP; tcp(7).

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::SendFlags;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// Bytes of the length prefix.
pub const LENGTH: usize = 2;

/// The longest frame, with its length prefix.
pub const MAX_FRAME: usize = LENGTH + 65535;

/// Maximum number of pending bytes before batches are refused.
const MAX_PENDING: usize = 256 << 10;

/// How a client connects.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `local`: own addresses. The first of the peer's family is the source; empty for any source.
    pub local: Vec<IpAddr>,
    /// `mark`, for firewall rules.
    pub mark: Option<u32>,
    /// `bind-dev`: the interface to use.
    pub device: Option<String>,
    /// How long to wait for the connection.
    pub patience: Duration,
}

/// Connects to an address.
///
/// # Errors
///
/// An option that the kernel refuses, no own address of the family, or no connection in time.
pub fn connect(address: SocketAddr, options: &Options) -> io::Result<TcpStream> {
    let kind = Type::STREAM.cloexec();
    let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
    if let Some(mark) = options.mark {
        socket.set_mark(mark)?;
    }
    if let Some(device) = &options.device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    if let Some(local) = source(&options.local, address)? {
        socket.bind(&SocketAddr::new(local, 0).into())?;
    }
    socket.connect_timeout(&address.into(), options.patience)?;
    Ok(socket.into())
}

/// Returns the own address for packets to another one; `None` for any.
///
/// # Errors
///
/// There are own addresses, and none of the family.
pub fn source(own: &[IpAddr], to: SocketAddr) -> io::Result<Option<IpAddr>> {
    let fitting = own.iter().find(|own| own.is_ipv4() == to.is_ipv4());
    match (own.is_empty(), fitting) {
        (true, _) => Ok(None),
        (false, Some(own)) => Ok(Some(*own)),
        (false, None) => Err(io::Error::other("`local` has no address of this family")),
    }
}

/// A connection that carries packets. Methods may be called from several threads.
#[derive(Debug)]
pub struct PacketStream {
    stream: TcpStream,
    remote: SocketAddr,
    /// Written bytes that the kernel has not accepted: the end of a frame, then whole frames.
    pending: Mutex<Vec<u8>>,
    /// The start of a frame that has not arrived completely.
    partial: Mutex<Vec<u8>>,
}

/// The result of writing frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The kernel accepted everything.
    All,
    /// Data is pending: call [`PacketStream::flush`] when the stream is writable.
    Pending,
    /// Too much data is pending; none of these frames will be sent.
    Refused,
}

impl PacketStream {
    /// Wraps a connected stream and makes it non-blocking, with `TCP_NODELAY`.
    ///
    /// # Errors
    ///
    /// A connection that is already closed.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let remote = stream.peer_addr()?;
        let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
        Ok(Self { stream, remote, pending: Mutex::default(), partial: Mutex::default() })
    }

    /// Returns the peer's address.
    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// Writes whole frames with their length prefixes.
    ///
    /// # Errors
    ///
    /// A closed connection.
    pub fn write(&self, frames: &[u8]) -> io::Result<Written> {
        let mut pending = lock(&self.pending);
        if pending.len() > MAX_PENDING {
            self.flush_pending(&mut pending)?;
            if pending.len() > MAX_PENDING {
                return Ok(Written::Refused);
            }
        }
        let before = pending.len();
        let sent = self.send(&[IoSlice::new(&pending), IoSlice::new(frames)])?;
        if sent >= before {
            pending.clear();
            pending.extend_from_slice(&frames[sent - before..]);
        } else {
            pending.drain(..sent);
            pending.extend_from_slice(frames);
        }
        Ok(state(&pending))
    }

    /// Writes one packet with its length prefix.
    ///
    /// # Errors
    ///
    /// A closed connection; `InvalidInput` for a packet of more than 65535 bytes.
    pub fn write_packet(&self, packet: &[u8]) -> io::Result<Written> {
        let length = u16::try_from(packet.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut frame = Vec::with_capacity(LENGTH + packet.len());
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(packet);
        self.write(&frame)
    }

    /// Writes pending data.
    ///
    /// # Errors
    ///
    /// A closed connection.
    pub fn flush(&self) -> io::Result<Written> {
        let mut pending = lock(&self.pending);
        self.flush_pending(&mut pending)?;
        Ok(state(&pending))
    }

    fn flush_pending(&self, pending: &mut Vec<u8>) -> io::Result<()> {
        if !pending.is_empty() {
            let sent = self.send(&[IoSlice::new(pending)])?;
            pending.drain(..sent);
        }
        Ok(())
    }

    /// Makes one send call. Returns 0 if the kernel's buffer is full.
    fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut none = Default::default();
        match rustix::net::sendmsg(&self.stream, pieces, &mut none, SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(sent),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads into `buffer` and finds the complete packets in it. The buffer must have at least
    /// [`MAX_FRAME`] bytes and should have several times that. Returns whether the buffer was
    /// filled, so that more data may be available.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if no data has arrived; `UnexpectedEof` at the end of the stream; `InvalidData`
    /// for an empty frame, after which framing is lost; other errors of a closed connection.
    pub fn read(&self, buffer: &mut [u8], places: &mut Vec<Range<usize>>) -> io::Result<bool> {
        places.clear();
        let mut partial = lock(&self.partial);
        let kept = partial.len();
        buffer[..kept].copy_from_slice(&partial);
        let read = rustix::io::read(&self.stream, &mut buffer[kept..])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let filled = kept + read;
        let whole = frames(&buffer[..filled], places)?;
        partial.clear();
        partial.extend_from_slice(&buffer[whole..filled]);
        Ok(filled == buffer.len())
    }

    /// Closes both directions of the connection; readers and writers notice.
    pub fn shutdown(&self) {
        // The connection may be closed already.
        let _ = SockRef::from(&self.stream).shutdown(std::net::Shutdown::Both);
    }
}

impl AsFd for PacketStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Finds the packets of complete frames. Returns the offset of the first incomplete frame.
fn frames(bytes: &[u8], places: &mut Vec<Range<usize>>) -> io::Result<usize> {
    let mut at = 0;
    while let Some(length) = bytes[at..].first_chunk().copied().map(u16::from_be_bytes) {
        if length == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let end = at + LENGTH + usize::from(length);
        if end > bytes.len() {
            break;
        }
        places.push(at + LENGTH..end);
        at = end;
    }
    Ok(at)
}

fn state(pending: &[u8]) -> Written {
    if pending.is_empty() { Written::All } else { Written::Pending }
}

/// The data is consistent at every moment, so lock poisoning can be ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn pair() -> (PacketStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        (PacketStream::new(stream).unwrap(), other)
    }

    /// Reads until `count` packets have arrived.
    fn packets(stream: &PacketStream, count: usize) -> Vec<Vec<u8>> {
        let (mut buffer, mut places, mut found) = (vec![0; MAX_FRAME], Vec::new(), Vec::new());
        while found.len() < count {
            match stream.read(&mut buffer, &mut places) {
                Ok(_) => found.extend(places.iter().map(|place| buffer[place.clone()].to_vec())),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
        found
    }

    #[test]
    fn frames_survive_any_fragmentation_of_the_stream() {
        let (stream, mut other) = pair();
        let sent: Vec<Vec<u8>> = [1, 2, 300, 65535, 5].map(|n| vec![n as u8; n]).to_vec();
        let mut bytes = Vec::new();
        for packet in &sent {
            bytes.extend_from_slice(&(packet.len() as u16).to_be_bytes());
            bytes.extend_from_slice(packet);
        }
        let writer = std::thread::spawn(move || {
            let (slow, fast) = bytes.split_at(700);
            slow.iter().for_each(|byte| other.write_all(&[*byte]).unwrap());
            other.write_all(fast).unwrap();
        });
        assert_eq!(packets(&stream, sent.len()), sent);
        writer.join().unwrap();
    }

    #[test]
    fn an_empty_frame_and_the_end_are_errors() {
        for (bytes, kind) in
            [(&[0, 0, 1][..], io::ErrorKind::InvalidData), (&[], io::ErrorKind::UnexpectedEof)]
        {
            let (stream, mut other) = pair();
            other.write_all(bytes).unwrap();
            drop(other);
            let wait = rustix::event::PollFd::new(&stream, rustix::event::PollFlags::IN);
            rustix::event::poll(&mut [wait], None).unwrap();
            let result = stream.read(&mut vec![0; MAX_FRAME], &mut Vec::new());
            assert_eq!(result.unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn a_slow_reader_causes_pending_then_refused_writes_but_no_partial_frames() {
        let (stream, mut other) = pair();
        let frame = |i: u32| {
            let mut frame = vec![(i % 251) as u8; LENGTH + 1000];
            frame[..LENGTH].copy_from_slice(&1000_u16.to_be_bytes());
            frame
        };
        let (mut accepted, mut seen) = (Vec::new(), [false; 3]);
        for i in 0.. {
            match stream.write(&frame(i)).unwrap() {
                Written::Refused => {
                    seen[2] = true;
                    break;
                }
                Written::All => seen[0] = true,
                Written::Pending => seen[1] = true,
            }
            accepted.extend_from_slice(&frame(i));
        }
        assert_eq!(seen, [true; 3]);
        let expected = accepted.len();
        let reader = std::thread::spawn(move || {
            let mut bytes = vec![0; expected];
            other.read_exact(&mut bytes).unwrap();
            bytes
        });
        while stream.flush().unwrap() != Written::All {
            std::thread::yield_now();
        }
        assert!(reader.join().unwrap() == accepted);
    }
}
