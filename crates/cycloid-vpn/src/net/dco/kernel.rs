//! The family in the kernel: a generic netlink socket.
//!
//! Source: Linux, `Documentation/userspace-api/netlink/intro.rst`, and `linux/genetlink.h` for the
//! numbers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
    sockopt,
};
use zeroize::Zeroize;

use super::Exchange;
use super::attribute::{Attributes, Writer};
use super::message::HEADER;
use super::numbers::{FAMILY, GROUP};
use crate::net::kernel;

/// The family that knows the others, its version, its command and its attributes.
const CONTROLLER: u16 = 0x10;
const CONTROLLER_VERSION: u8 = 2;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;

/// The kinds of messages that end an answer.
const ERROR: u16 = 2;
const DONE: u16 = 3;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;

/// The flags of an error: without the request's body, and with attributes.
const CAPPED: u16 = 0x100;
const HAS_ATTRIBUTES: u16 = 0x200;
/// The attribute with the reason in words.
const REASON: u16 = 1;

const NETLINK_HEADER: usize = 16;

/// Longer than any answer.
const RECEIVE: usize = 32 * 1024;

/// The way to the kernel's family, and a socket for its notifications.
#[derive(Debug)]
pub struct Kernel {
    socket: OwnedFd,
    notices: OwnedFd,
    family: u16,
}

impl Kernel {
    /// Opens the family in the network namespace of this thread.
    ///
    /// # Errors
    /// `NotFound` if the kernel does not have it; the kernel's error otherwise.
    pub fn open() -> io::Result<Self> {
        Self::open_family(FAMILY, GROUP)
    }

    fn open_family(name: &str, group: &str) -> io::Result<Self> {
        let socket = generic()?;
        let timeout = Some(Duration::from_secs(5));
        // The kernel answers at once; a timeout turns a missing answer into an error.
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, timeout)?;
        let mut writer = Writer::new();
        writer.bytes(&[0; 4]);
        writer.bytes(&CONTROLLER.to_ne_bytes());
        writer.bytes(&(REQUEST | ACKNOWLEDGE).to_ne_bytes());
        writer.bytes(&[0; 8]);
        writer.bytes(&[GET_FAMILY, CONTROLLER_VERSION, 0, 0]);
        let text = [name.as_bytes(), &[0]].concat();
        writer.attribute(FAMILY_NAME, &text);
        let answer = exchange(&socket, &writer.finish())?;
        let known = answer.first().and_then(|message| found(message.get(HEADER..)?, group));
        let (family, group) = known.ok_or(io::ErrorKind::NotFound)?;
        let notices = generic()?;
        rustix::fs::fcntl_setfl(&notices, rustix::fs::OFlags::NONBLOCK)?;
        let group = group.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
        set(&notices, libc::NETLINK_ADD_MEMBERSHIP, group)?;
        Ok(Self { socket, notices, family })
    }

    /// Returns the next notification, if there is one.
    ///
    /// # Errors
    /// The kernel's error. `ENOBUFS` means that some were lost.
    pub fn next_notice(&self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; RECEIVE];
        match recv(&self.notices, &mut buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => {
                buffer.truncate(length);
                Ok(Some(buffer))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Readable once there is a notification.
impl AsFd for Kernel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notices.as_fd()
    }
}

impl Exchange for Kernel {
    fn family(&self) -> u16 {
        self.family
    }

    fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        exchange(&self.socket, request)
    }
}

fn generic() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(GENERIC))?;
    bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    // Errors have a reason, and do not repeat the request. Old kernels do neither.
    let _ = set(&socket, libc::NETLINK_EXT_ACK, 1);
    let _ = set(&socket, libc::NETLINK_CAP_ACK, 1);
    Ok(socket)
}

fn set(socket: &OwnedFd, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    kernel::set_option(socket.as_fd(), libc::SOL_NETLINK, name, value)
}

/// Returns the numbers of a family and of one of its groups.
fn found(attributes: &[u8], group: &str) -> Option<(u16, u32)> {
    let attributes = Attributes(attributes);
    let family = attributes.number(FAMILY_ID)?.try_into().ok()?;
    let groups = attributes.nested(GROUPS)?;
    let number = groups.all().find_map(|(_, value)| {
        let entry = Attributes(value);
        let name = entry.find(GROUP_NAME)?.split(|byte| *byte == 0).next()?;
        (name == group.as_bytes()).then(|| entry.number(GROUP_ID)).flatten()
    });
    Some((family, number?.try_into().ok()?))
}

fn exchange(socket: &OwnedFd, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let sequence = request.get(8..12).ok_or(io::ErrorKind::InvalidInput)?;
    send(socket, request, SendFlags::empty())?;
    let mut buffer = vec![0; RECEIVE];
    let mut taken = Vec::new();
    loop {
        let (length, _) = recv(socket, &mut buffer[..], RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while let Some((message, after)) = split(rest) {
            rest = after;
            if message.get(8..12) != Some(sequence) {
                continue;
            }
            match outcome(message) {
                None => taken.push(message.to_vec()),
                Some(outcome) => {
                    // An error may repeat the request, with its keys.
                    buffer.zeroize();
                    return outcome.map(|()| taken);
                }
            }
        }
    }
}

/// Splits the first message from the others.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let message = bytes.get(..length).filter(|message| message.len() >= NETLINK_HEADER)?;
    Some((message, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns the result if a message ends an answer.
fn outcome(message: &[u8]) -> Option<io::Result<()>> {
    let number = |at: usize| Some(u16::from_ne_bytes(*message.get(at..)?.first_chunk()?));
    let (kind, flags) = (number(4)?, number(6)?);
    if kind == DONE {
        return Some(Ok(()));
    }
    if kind != ERROR {
        return None;
    }
    let body = message.get(NETLINK_HEADER..)?;
    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code).wrapping_neg());
    if code == 0 {
        return Some(Ok(()));
    }
    let error = io::Error::from_raw_os_error(code);
    Some(Err(match reason(body, flags) {
        Some(reason) => io::Error::new(error.kind(), format!("{reason} ({error})")),
        None => error,
    }))
}

/// Returns the text of an error. It follows the code and the request; with [`CAPPED`], the request is
/// its header only.
fn reason(body: &[u8], flags: u16) -> Option<String> {
    if flags & HAS_ATTRIBUTES == 0 {
        return None;
    }
    let request = body.get(4..)?;
    let length = match flags & CAPPED {
        0 => u32::from_ne_bytes(*request.first_chunk()?) as usize,
        _ => NETLINK_HEADER,
    };
    let attributes = request.get(length.next_multiple_of(4)..)?;
    let text = Attributes(attributes).find(REASON)?;
    let text = text.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The controller is a family that every kernel has.
    #[test]
    fn families_and_groups_are_found() {
        let found = Kernel::open_family("nlctrl", "notify").unwrap();
        assert_eq!(found.family(), CONTROLLER);
        assert_eq!(found.next_notice().unwrap(), None);
        for (family, group) in [("nlctrl", "no-such"), ("no-such", "notify")] {
            let error = Kernel::open_family(family, group).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{family} {group}: {error}");
        }
    }

    #[test]
    fn refusals_have_the_kernels_reason() {
        let mut controller = Kernel::open_family("nlctrl", "notify").unwrap();
        // A request for a family, with neither its name nor its number.
        let mut writer = Writer::new();
        writer.bytes(&[0; 4]);
        writer.bytes(&CONTROLLER.to_ne_bytes());
        writer.bytes(&(REQUEST | ACKNOWLEDGE).to_ne_bytes());
        writer.bytes(&7u32.to_ne_bytes());
        writer.bytes(&[0; 4]);
        writer.bytes(&[GET_FAMILY, CONTROLLER_VERSION, 0, 0]);
        let error = controller.exchange(&writer.finish()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");

        let code = (-22i32).to_ne_bytes();
        let mut text = vec![14, 0, 1, 0];
        text.extend(b"no peer\0\0\0");
        let request = [[24u32.to_ne_bytes(), [0; 4], [0; 4], [0; 4]].concat(), vec![7; 8]].concat();
        for (flags, request) in [(HAS_ATTRIBUTES, &request[..]), (0x300, &request[..16])] {
            let head = [
                &[0; 4][..],
                &ERROR.to_ne_bytes(),
                &flags.to_ne_bytes(),
                &[0; 8],
                &code,
                request,
                &text,
            ];
            let error = outcome(&head.concat()).unwrap().unwrap_err();
            assert!(error.to_string().starts_with("no peer ("), "{error}");
        }
    }

    #[test]
    fn malformed_messages_end_without_a_panic() {
        for length in 0..40 {
            for byte in [0, 1, 2, 3, 0xff] {
                let mut bytes = vec![byte; length];
                let _ = split(&bytes);
                let _ = outcome(&bytes);
                if let Some(first) = bytes.get_mut(..4) {
                    first.copy_from_slice(&(length as u32).to_ne_bytes());
                    let _ = split(&bytes).map(|(message, _)| outcome(message));
                }
                for flags in [0, CAPPED, HAS_ATTRIBUTES, CAPPED | HAS_ATTRIBUTES] {
                    let _ = reason(&bytes, flags);
                }
            }
        }
    }
}
