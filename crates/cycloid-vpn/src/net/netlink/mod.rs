//! The kernel's routes, addresses and interfaces, by rtnetlink.
//!
//! Source: rtnetlink(7), netlink(7) and the kernel's `linux/rtnetlink.h` for the numbers.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method by its name is for one lifetime only"
)]

mod message;

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
    sockopt,
};

use super::network::Network;
use message::{Message, Request};

/// A route of the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Where to.
    pub destination: Network,
    /// By which router; none for what is on the link.
    pub gateway: Option<IpAddr>,
    /// The index of the interface; none where the kernel is to find it by the gateway.
    pub interface: Option<u32>,
    /// The lower the better; none for the kernel's own choice.
    pub metric: Option<u32>,
    /// The address that packets get which leave by it; none for the kernel's own choice.
    pub source: Option<IpAddr>,
    /// The number of who made it, such as a DHCP client; none for an administrator.
    pub protocol: Option<u8>,
}

impl Route {
    /// A route of which nothing is said but where it leads to.
    pub fn to(destination: Network) -> Self {
        let (gateway, interface, metric, source, protocol) = (None, None, None, None, None);
        Self { destination, gateway, interface, metric, source, protocol }
    }
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.destination)?;
        self.gateway.map_or(Ok(()), |gateway| write!(f, " via {gateway}"))?;
        self.interface.map_or(Ok(()), |interface| write!(f, " on interface {interface}"))?;
        self.metric.map_or(Ok(()), |metric| write!(f, " metric {metric}"))
    }
}

/// An address of an interface, with the network that it is in, or the one host at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The index of the interface.
    pub interface: u32,
    /// The address.
    pub address: IpAddr,
    /// What is on the link.
    pub network: Network,
}

/// Settings of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The longest packet, in bytes.
    pub mtu: u32,
    /// Packets that wait to be sent; the kernel's own choice where absent.
    pub queue_length: Option<u32>,
}

/// A socket of rtnetlink, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// Larger than any datagram that the kernel makes of a dump.
const RECEIVE: usize = 64 * 1024;

impl Netlink {
    /// Opens a socket.
    ///
    /// # Errors
    ///
    /// The kernel's, as for every other method.
    pub fn open() -> io::Result<Self> {
        // The protocol 0, which is the default, is NETLINK_ROUTE.
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        // The kernel answers at once; what never comes is an error rather than a program that hangs.
        let patience = Some(std::time::Duration::from_secs(5));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, patience)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Adds a route; `AlreadyExists` where there is one to the same destination with the same metric.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(Request::add_route(route), |_| ()).map(drop)
    }

    /// Takes a route away; `ESRCH` where there is none such.
    pub fn delete_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(Request::delete_route(route), |_| ()).map(drop)
    }

    /// The main table's unicast routes of one family.
    pub fn routes(&mut self, ipv4: bool) -> io::Result<Vec<Route>> {
        let routes = self.request(Request::dump_routes(ipv4), |message| message.route())?;
        Ok(routes.into_iter().flatten().collect())
    }

    /// The route that a packet to `destination` takes now; none where it is unreachable.
    pub fn route_to(&mut self, destination: IpAddr) -> io::Result<Option<Route>> {
        match self.request(Request::route_to(destination), |message| message.chosen_route()) {
            Ok(routes) => Ok(routes.into_iter().flatten().next()),
            Err(error) if is_unreachable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The addresses of all interfaces.
    pub fn addresses(&mut self) -> io::Result<Vec<Address>> {
        let addresses = self.request(Request::dump_addresses(), |message| message.address())?;
        Ok(addresses.into_iter().flatten().collect())
    }

    /// The index of an interface.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        let found = self.request(Request::interface(name), |message| message.interface())?;
        found.into_iter().flatten().next().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Sets up an interface and takes it up.
    pub fn set_link(&mut self, interface: u32, link: &Link) -> io::Result<()> {
        self.request(Request::set_link(interface, link), |_| ()).map(drop)
    }

    /// Gives an interface an address; of IPv6, without asking whether another host has it.
    pub fn set_address(&mut self, address: &Address) -> io::Result<()> {
        self.request(Request::set_address(address), |_| ()).map(drop)
    }

    /// Sends a request and takes each message of the answer, up to its end.
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
