//! System calls without a safe wrapper in another crate: TUN device ioctls, numeric socket options,
//! and `sendmsg` and `recvmsg` with the control messages of UDP segmentation.
//!
//! Source: Linux, `tuntap.rst`, udp(7), ip(7), ipv6(7), cmsg(3).

use std::ffi::{CStr, c_int};
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};

use socket2::{SockAddr, SockAddrStorage};

/// The enabled offloads of a TUN device: a set of `TUN_F_` flags.
pub(super) type TunOffload = libc::c_uint;

/// Attaches `fd`, an open `/dev/net/tun`, as a queue of the device `name`. The name may contain
/// `%d`, which the kernel replaces by a number. Returns the device's name.
///
/// # Errors
///
/// Errors of `TUNSETIFF`. A name longer than 15 bytes is `InvalidInput`.
pub(super) fn tun_attach(fd: BorrowedFd<'_>, name: &str, flags: c_int) -> io::Result<String> {
    // SAFETY: `ifreq` is a C structure for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if name.len() >= request.ifr_name.len() || name.bytes().any(|byte| byte == 0 || byte == b'/') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a device name has at most 15 bytes and no slash",
        ));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the kernel reads and writes one `ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
    // SAFETY: the array was zeroed, and the kernel terminates names with NUL.
    let name = unsafe { CStr::from_ptr(request.ifr_name.as_ptr()) };
    Ok(name.to_string_lossy().into_owned())
}

/// Enables exactly these offloads for packets read from the device.
pub(super) fn tun_offload(fd: BorrowedFd<'_>, offload: TunOffload) -> io::Result<()> {
    // SAFETY: the argument is an integer, not a pointer.
    check(unsafe {
        libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(offload))
    })
}

/// Sets whether the device persists after its last queue is closed.
pub(super) fn tun_persist(fd: BorrowedFd<'_>, persist: bool) -> io::Result<()> {
    // SAFETY: the argument is an integer, not a pointer.
    check(unsafe {
        libc::ioctl(fd.as_raw_fd(), libc::TUNSETPERSIST as _, libc::c_ulong::from(persist))
    })
}

/// Sets a socket option with an `int` value.
pub(super) fn set_option(
    fd: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    value: c_int,
) -> io::Result<()> {
    // SAFETY: the value is an `int` that outlives the call, and the size matches.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<c_int>() as libc::socklen_t,
        )
    })
}

/// A classic BPF instruction: operation, jump if true, jump if false, operand.
pub(super) type Instruction = (u16, u8, u8, u32);

/// Attaches a program that selects the socket in a `SO_REUSEPORT` group. It sees a datagram from
/// the UDP payload on, and returns the index of the socket in binding order.
pub(super) fn attach_reuseport_program(
    fd: BorrowedFd<'_>,
    program: &[Instruction],
) -> io::Result<()> {
    let mut filter: Vec<libc::sock_filter> =
        program.iter().map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k }).collect();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies and verifies the program, which outlives the call.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_REUSEPORT_CBPF,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    })
}

/// The arguments of one `sendmsg`.
pub(super) struct Outgoing<'a> {
    /// One datagram, or several of `segment` bytes; the last may be shorter.
    pub bytes: &'a [u8],
    /// The segment size if the kernel is to split `bytes`.
    pub segment: Option<u16>,
    /// The destination; `None` on a connected socket.
    pub to: Option<&'a SockAddr>,
    /// The source address; `None` lets the kernel choose.
    pub from: Option<IpAddr>,
    /// Whether the socket is `AF_INET6`, which determines the encoding of `from`.
    pub v6: bool,
}

/// Sends without blocking.
pub(super) fn send(fd: BorrowedFd<'_>, outgoing: &Outgoing<'_>) -> io::Result<()> {
    let mut control = ControlMessages::default();
    if let Some(segment) = outgoing.segment {
        control.push(libc::SOL_UDP, libc::UDP_SEGMENT, &segment.to_ne_bytes());
    }
    match outgoing.from {
        // `in_pktinfo`: interface index, source address, destination address (ignored).
        Some(IpAddr::V4(address)) if !outgoing.v6 => {
            let mut info = [0; 12];
            info[4..8].copy_from_slice(&address.octets());
            control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &info);
        }
        // `in6_pktinfo`: source address, interface index.
        Some(address) if outgoing.v6 => {
            let octets = match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            };
            let mut info = [0; 20];
            info[..16].copy_from_slice(&octets);
            control.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info);
        }
        _ => {}
    }

    let mut vector = libc::iovec {
        iov_base: outgoing.bytes.as_ptr().cast_mut().cast(),
        iov_len: outgoing.bytes.len(),
    };
    // SAFETY: `msghdr` is a C structure for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    if let Some(to) = outgoing.to {
        message.msg_name = to.as_ptr().cast_mut().cast();
        message.msg_namelen = to.len();
    }
    if control.length > 0 {
        message.msg_control = control.bytes.as_mut_ptr().cast();
        message.msg_controllen = control.length as _;
    }
    // SAFETY: all pointers in the message outlive the call, and the kernel only reads through them.
    let sent = unsafe {
        libc::sendmsg(fd.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The result of one `recvmsg`.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// Total bytes of all datagrams.
    pub length: usize,
    /// Bytes of each datagram; the last may be shorter.
    pub segment: usize,
    /// The sender; an IPv4-mapped IPv6 address is converted to IPv4.
    pub from: SocketAddr,
    /// The destination address, if the socket reports it.
    pub local: Option<IpAddr>,
}

/// Receives without blocking.
pub(super) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Incoming> {
    let mut storage = SockAddrStorage::zeroed();
    let mut control = ControlMessages::default();
    let mut vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: `msghdr` is a C structure for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_name = (&raw mut storage).cast();
    message.msg_namelen = storage.size_of();
    message.msg_control = control.bytes.as_mut_ptr().cast();
    message.msg_controllen = control.bytes.len() as _;
    // SAFETY: the buffers have the lengths in the message and outlive the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    let length = received.unsigned_abs();
    control.length = (message.msg_controllen as usize).min(control.bytes.len());
    // SAFETY: the kernel wrote an address of this length, or the storage is all zeros.
    let from = unsafe { SockAddr::new(storage, message.msg_namelen) };
    let from = from.as_socket().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;

    let mut incoming = Incoming {
        length,
        segment: length.max(1),
        from: SocketAddr::new(from.ip().to_canonical(), from.port()),
        local: None,
    };
    if let SocketAddr::V6(v6) = from
        && v6.ip().to_ipv4_mapped().is_none()
    {
        incoming.from = from;
    }
    control.for_each(|level, kind, data| match (level, kind) {
        (libc::SOL_UDP, libc::UDP_GRO) => {
            if let Some(segment) = array(data).map(c_int::from_ne_bytes)
                && segment > 0
            {
                incoming.segment = segment.unsigned_abs() as usize;
            }
        }
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
            incoming.local = data.get(4..).and_then(array::<4>).map(IpAddr::from);
        }
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
            incoming.local = array::<16>(data).map(|octets| IpAddr::from(octets).to_canonical());
        }
        _ => {}
    });
    Ok(incoming)
}

/// Returns the first `N` bytes.
fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.first_chunk().copied()
}

/// Buffer for the control messages of one call: each has a header of length, level and type, then
/// data, and starts at a multiple of the word size.
#[repr(align(8))]
struct ControlMessages {
    bytes: [u8; 128],
    length: usize,
}

impl Default for ControlMessages {
    fn default() -> Self {
        Self { bytes: [0; 128], length: 0 }
    }
}

const WORD: usize = size_of::<usize>();
const HEADER: usize = WORD + 2 * size_of::<c_int>();

impl ControlMessages {
    fn push(&mut self, level: c_int, kind: c_int, data: &[u8]) {
        let message = &mut self.bytes[self.length..][..HEADER + data.len()];
        message[..WORD].copy_from_slice(&(HEADER + data.len()).to_ne_bytes());
        message[WORD..WORD + 4].copy_from_slice(&level.to_ne_bytes());
        message[WORD + 4..HEADER].copy_from_slice(&kind.to_ne_bytes());
        message[HEADER..].copy_from_slice(data);
        self.length += (HEADER + data.len()).next_multiple_of(WORD);
    }

    fn for_each(&self, mut handle: impl FnMut(c_int, c_int, &[u8])) {
        let mut rest = &self.bytes[..self.length];
        while let (Some(length), Some(level), Some(kind)) = (
            array(rest).map(usize::from_ne_bytes),
            rest.get(WORD..).and_then(array).map(c_int::from_ne_bytes),
            rest.get(WORD + 4..).and_then(array).map(c_int::from_ne_bytes),
        ) {
            let Some(data) = rest.get(HEADER..length) else {
                break;
            };
            handle(level, kind, data);
            rest = rest.get(length.next_multiple_of(WORD)..).unwrap_or_default();
        }
    }
}

fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
