//! Access to the kernel's routes, addresses and interfaces over rtnetlink.
//!
//! Source: rtnetlink(7), netlink(7), and the kernel's `linux/rtnetlink.h` for the numbers.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method path has a single lifetime"
)]

mod message;
mod objects;

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
    sockopt,
};

use message::{Message, Request};

pub use objects::{Address, Link, Route};

/// An rtnetlink socket, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// Larger than any datagram of a kernel dump.
const RECEIVE: usize = 64 * 1024;

impl Netlink {
    /// Opens a socket.
    ///
    /// # Errors
    ///
    /// The kernel's error, as for all other methods.
    pub fn open() -> io::Result<Self> {
        // The default protocol 0 is NETLINK_ROUTE.
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        // The kernel answers at once; a timeout turns a missing answer into an error.
        let timeout = Some(std::time::Duration::from_secs(5));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, timeout)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Adds a route. `AlreadyExists` if one with this destination and metric exists.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(Request::add_route(route), |_| ()).map(drop)
    }

    /// Deletes a route. `ESRCH` if it does not exist.
    pub fn delete_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(Request::delete_route(route), |_| ()).map(drop)
    }

    /// Returns the main table's unicast routes of one family.
    pub fn routes(&mut self, ipv4: bool) -> io::Result<Vec<Route>> {
        let routes = self.request(Request::dump_routes(ipv4), |message| message.route())?;
        Ok(routes.into_iter().flatten().collect())
    }

    /// Returns the current route of packets to `destination`, or `None` if it is unreachable.
    pub fn route_to(&mut self, destination: IpAddr) -> io::Result<Option<Route>> {
        match self.request(Request::route_to(destination), |message| message.chosen_route()) {
            Ok(routes) => Ok(routes.into_iter().flatten().next()),
            Err(error) if is_unreachable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the addresses of all interfaces.
    pub fn addresses(&mut self) -> io::Result<Vec<Address>> {
        let addresses = self.request(Request::dump_addresses(), |message| message.address())?;
        Ok(addresses.into_iter().flatten().collect())
    }

    /// Returns the index of an interface.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        let found = self.request(Request::interface(name), |message| message.interface())?;
        found.into_iter().flatten().next().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the kind of an interface, such as `tun`; `None` for hardware.
    pub fn link_kind(&mut self, index: u32) -> io::Result<Option<String>> {
        let found = self.request(Request::link(index), |message| message.link_kind())?;
        Ok(found.into_iter().flatten().next())
    }

    /// Creates an interface. `AlreadyExists` if the name is in use.
    pub fn add_link(&mut self, name: &str, kind: &str) -> io::Result<()> {
        self.request(Request::add_link(name, kind), |_| ()).map(drop)
    }

    /// Deletes an interface, if it is of this kind. Another one, or none, is left alone.
    pub fn delete_link(&mut self, name: &str, kind: &str) -> io::Result<()> {
        let answer = |message: &Message<'_>| (message.interface(), message.link_kind());
        let found = match self.request(Request::interface(name), answer) {
            Err(error) if error.raw_os_error() == Some(Errno::NODEV.raw_os_error()) => {
                return Ok(());
            }
            found => found?,
        };
        let ours = found.into_iter().find(|(_, found)| found.as_deref() == Some(kind));
        match ours {
            Some((Some(index), _)) => self.request(Request::delete_link(index), |_| ()).map(drop),
            _ => Ok(()),
        }
    }

    /// Changes an interface's settings and brings it up.
    pub fn set_link(&mut self, interface: u32, link: &Link) -> io::Result<()> {
        self.request(Request::set_link(interface, link), |_| ()).map(drop)
    }

    /// Sets an address of an interface, without duplicate address detection for IPv6.
    pub fn set_address(&mut self, address: &Address) -> io::Result<()> {
        self.request(Request::set_address(address), |_| ()).map(drop)
    }

    /// Removes an address of an interface.
    pub fn delete_address(&mut self, address: &Address) -> io::Result<()> {
        self.request(Request::delete_address(address), |_| ()).map(drop)
    }

    /// Sends a request and processes each message of the answer.
    fn request<T>(
        &mut self,
        request: Request,
        mut take: impl FnMut(&Message<'_>) -> T,
    ) -> io::Result<Vec<T>> {
        self.sequence = self.sequence.wrapping_add(1);
        let dump = request.is_dump();
        send(&self.socket, &request.finish(self.sequence), SendFlags::empty())?;
        let mut buffer = vec![0; RECEIVE];
        let mut taken = Vec::new();
        loop {
            let (length, _) = recv(&self.socket, &mut buffer[..], RecvFlags::empty())?;
            for message in Message::all(&buffer[..length]) {
                let message = message?;
                if message.sequence != self.sequence {
                    continue;
                }
                if let Some(outcome) = message.outcome() {
                    return outcome.map(|()| taken);
                }
                taken.push(take(&message));
                if !dump && !message.is_part() && message.is_answer() {
                    return Ok(taken);
                }
            }
        }
    }
}

fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::PermissionDenied
    )
}
