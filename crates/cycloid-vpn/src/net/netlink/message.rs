//! Encodes and decodes rtnetlink messages. Integers have the machine's byte order, everything is
//! padded to four bytes, and addresses have network byte order.

use std::io;
use std::net::IpAddr;

use super::objects::{Address, Link, Route};
use crate::net::network::Network;

const ERROR: u16 = 2;
const DONE: u16 = 3;
const NEW_LINK: u16 = 16;
const DELETE_LINK: u16 = 17;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const DELETE_ADDRESS: u16 = 21;
const GET_ADDRESS: u16 = 22;
const NEW_ROUTE: u16 = 24;
const DELETE_ROUTE: u16 = 25;
const GET_ROUTE: u16 = 26;

const REQUEST: u16 = 0x001;
const PART: u16 = 0x002;
const ACKNOWLEDGE: u16 = 0x004;
const DUMP: u16 = 0x300;
const REPLACE: u16 = 0x100;
const EXCLUSIVE: u16 = 0x200;
const CREATE: u16 = 0x400;

const IPV4: u8 = 2;
const IPV6: u8 = 10;

const TABLE_MAIN: u8 = 254;
/// The route protocol number of administrators' programs.
const PROTOCOL_STATIC: u8 = 4;
const SCOPE_UNIVERSE: u8 = 0;
const SCOPE_LINK: u8 = 253;
const SCOPE_NOWHERE: u8 = 255;
const UNICAST: u8 = 1;
/// The flag of a cached copy of a route for one destination.
const CLONED: u32 = 0x200;

const ROUTE_DESTINATION: u16 = 1;
const ROUTE_INTERFACE: u16 = 4;
const ROUTE_GATEWAY: u16 = 5;
const ROUTE_METRIC: u16 = 6;
const ROUTE_SOURCE: u16 = 7;
const ROUTE_TABLE: u16 = 15;
const ADDRESS_PEER: u16 = 1;
const ADDRESS_LOCAL: u16 = 2;
const LINK_ADDRESS: u16 = 1;
const LINK_NAME: u16 = 3;
const LINK_MTU: u16 = 4;
const LINK_QUEUE: u16 = 13;
const LINK_INFORMATION: u16 = 18;
/// Inside of it.
const LINK_KIND: u16 = 1;

/// The flag of an interface that is up.
const UP: u32 = 1;
/// The flag that skips duplicate address detection of an IPv6 address.
const NO_DUPLICATE_DETECTION: u8 = 2;

/// The length of a message header, in bytes.
const HEADER: usize = 16;

/// A message to the kernel.
pub(super) struct Request(Vec<u8>);

impl Request {
    pub(super) fn add_route(route: &Route) -> Self {
        Self::route(NEW_ROUTE, REQUEST | ACKNOWLEDGE | CREATE | EXCLUSIVE, route)
    }

    pub(super) fn delete_route(route: &Route) -> Self {
        Self::route(DELETE_ROUTE, REQUEST | ACKNOWLEDGE, route)
    }

    pub(super) fn dump_routes(ipv4: bool) -> Self {
        let mut request = Self::new(GET_ROUTE, REQUEST | DUMP);
        request.route_header(if ipv4 { IPV4 } else { IPV6 }, 0, 0, 0);
        request
    }

    pub(super) fn route_to(destination: IpAddr) -> Self {
        let mut request = Self::new(GET_ROUTE, REQUEST);
        let host = Network::host(destination);
        request.route_header(family(destination), host.prefix(), 0, 0);
        request.address_attribute(ROUTE_DESTINATION, destination);
        request
    }

    pub(super) fn dump_addresses() -> Self {
        let mut request = Self::new(GET_ADDRESS, REQUEST | DUMP);
        request.0.extend_from_slice(&[0; 8]);
        request
    }

    pub(super) fn interface(name: &str) -> Self {
        let mut request = Self::new(GET_LINK, REQUEST);
        request.0.extend_from_slice(&[0; 16]);
        request.attribute(LINK_NAME, &terminated(name));
        request
    }

    pub(super) fn link(index: u32) -> Self {
        let mut request = Self::new(GET_LINK, REQUEST);
        request.0.extend_from_slice(&[0; 4]);
        request.0.extend_from_slice(&index.to_ne_bytes());
        request.0.extend_from_slice(&[0; 8]);
        request
    }

    /// Creates an interface of a kind, with the kind's own defaults.
    pub(super) fn add_link(name: &str, kind: &str) -> Self {
        let mut request = Self::new(NEW_LINK, REQUEST | ACKNOWLEDGE | CREATE | EXCLUSIVE);
        request.0.extend_from_slice(&[0; 16]);
        request.attribute(LINK_NAME, &terminated(name));
        let mut inner = Self(Vec::new());
        inner.attribute(LINK_KIND, kind.as_bytes());
        request.attribute(LINK_INFORMATION, &inner.0);
        request
    }

    pub(super) fn delete_link(index: u32) -> Self {
        let mut request = Self::new(DELETE_LINK, REQUEST | ACKNOWLEDGE);
        request.0.extend_from_slice(&[0; 4]);
        request.0.extend_from_slice(&index.to_ne_bytes());
        request.0.extend_from_slice(&[0; 8]);
        request
    }

    /// Changes an interface's settings and brings it up.
    pub(super) fn set_link(index: u32, link: &Link) -> Self {
        let mut request = Self::new(NEW_LINK, REQUEST | ACKNOWLEDGE);
        // Family, padding, kind, index, flags, and mask of changed flags.
        request.0.extend_from_slice(&[0; 4]);
        request.0.extend_from_slice(&index.to_ne_bytes());
        request.0.extend_from_slice(&UP.to_ne_bytes());
        request.0.extend_from_slice(&UP.to_ne_bytes());
        request.attribute(LINK_MTU, &link.mtu.to_ne_bytes());
        if let Some(length) = link.queue_length {
            request.attribute(LINK_QUEUE, &length.to_ne_bytes());
        }
        if let Some(address) = link.hardware_address {
            request.attribute(LINK_ADDRESS, &address);
        }
        request
    }

    /// Sets an address of an interface, even if it already exists.
    pub(super) fn set_address(address: &Address) -> Self {
        Self::address(NEW_ADDRESS, REQUEST | ACKNOWLEDGE | CREATE | REPLACE, address)
    }

    pub(super) fn delete_address(address: &Address) -> Self {
        Self::address(DELETE_ADDRESS, REQUEST | ACKNOWLEDGE, address)
    }

    fn address(kind: u16, request_flags: u16, address: &Address) -> Self {
        let mut request = Self::new(kind, request_flags);
        let flags = if address.address.is_ipv6() { NO_DUPLICATE_DETECTION } else { 0 };
        let peer = address.network;
        request.0.extend_from_slice(&[
            family(address.address),
            peer.prefix(),
            flags,
            SCOPE_UNIVERSE,
        ]);
        request.0.extend_from_slice(&address.interface.to_ne_bytes());
        request.address_attribute(ADDRESS_LOCAL, address.address);
        // The peer of a point-to-point link, or the address itself for a network.
        let alone = peer == Network::host(peer.address());
        let other = if alone { peer.address() } else { address.address };
        request.address_attribute(ADDRESS_PEER, other);
        request
    }

    fn route(kind: u16, flags: u16, route: &Route) -> Self {
        let mut request = Self::new(kind, flags);
        let destination = route.destination;
        let adding = kind == NEW_ROUTE;
        let scope = match (adding, route.gateway) {
            (false, _) => SCOPE_NOWHERE,
            (true, None) if destination.is_ipv4() => SCOPE_LINK,
            (true, _) => SCOPE_UNIVERSE,
        };
        let protocol = if adding { route.protocol.unwrap_or(PROTOCOL_STATIC) } else { 0 };
        let kind = if adding { UNICAST } else { 0 };
        request.route_header(family(destination.address()), destination.prefix(), protocol, scope);
        request.0[HEADER + 7] = kind;
        request.0[HEADER + 4] = TABLE_MAIN;
        request.address_attribute(ROUTE_DESTINATION, destination.address());
        if let Some(gateway) = route.gateway {
            request.address_attribute(ROUTE_GATEWAY, gateway);
        }
        if let Some(interface) = route.interface {
            request.attribute(ROUTE_INTERFACE, &interface.to_ne_bytes());
        }
        if let Some(metric) = route.metric {
            request.attribute(ROUTE_METRIC, &metric.to_ne_bytes());
        }
        if let Some(source) = route.source {
            request.address_attribute(ROUTE_SOURCE, source);
        }
        request
    }

    fn new(kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Self(bytes)
    }

    /// Appends family, destination and source lengths, type of service, table, protocol, scope,
    /// kind, and 32 bits of flags.
    fn route_header(&mut self, family: u8, prefix: u8, protocol: u8, scope: u8) {
        self.0.extend_from_slice(&[family, prefix, 0, 0, 0, protocol, scope, 0, 0, 0, 0, 0]);
    }

    fn address_attribute(&mut self, kind: u16, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.attribute(kind, &address.octets()),
            IpAddr::V6(address) => self.attribute(kind, &address.octets()),
        }
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = 4 + value.len() as u16;
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(super) fn is_dump(&self) -> bool {
        u16::from_ne_bytes([self.0[6], self.0[7]]) & DUMP == DUMP
    }

    pub(super) fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

/// A message from the kernel.
pub(super) struct Message<'a> {
    kind: u16,
    flags: u16,
    pub(super) sequence: u32,
    body: &'a [u8],
}

impl<'a> Message<'a> {
    /// Iterates over the messages of a datagram. A truncated message is an error and ends the
    /// iteration.
    pub(super) fn all(mut bytes: &'a [u8]) -> impl Iterator<Item = io::Result<Self>> {
        std::iter::from_fn(move || {
            if bytes.is_empty() {
                return None;
            }
            let Some((message, rest)) = Self::first(bytes) else {
                bytes = &[];
                return Some(Err(io::ErrorKind::InvalidData.into()));
            };
            bytes = rest;
            Some(Ok(message))
        })
    }

    fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let length = u32_at(bytes, 0)? as usize;
        let body = bytes.get(HEADER..length)?;
        let message = Self {
            kind: u16_at(bytes, 4)?,
            flags: u16_at(bytes, 6)?,
            sequence: u32_at(bytes, 8)?,
            body,
        };
        Some((message, bytes.get(length.next_multiple_of(4)..).unwrap_or(&[])))
    }

    /// Returns the result if this message ends the answer: an acknowledgement, an error, or the end
    /// of a dump.
    pub(super) fn outcome(&self) -> Option<io::Result<()>> {
        match self.kind {
            DONE => Some(Ok(())),
            ERROR => Some(match u32_at(self.body, 0).map(u32::cast_signed) {
                Some(0) => Ok(()),
                Some(code) => Err(io::Error::from_raw_os_error(code.wrapping_neg())),
                None => Err(io::ErrorKind::InvalidData.into()),
            }),
            _ => None,
        }
    }

    pub(super) fn is_part(&self) -> bool {
        self.flags & PART != 0
    }

    /// Returns whether this message answers a query for a single object.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self.kind, NEW_ROUTE | NEW_LINK | NEW_ADDRESS)
    }

    /// Returns a unicast route of the main table.
    pub(super) fn route(&self) -> Option<Route> {
        let table = self
            .attribute(12, ROUTE_TABLE)
            .and_then(|value| u32_at(value, 0))
            .unwrap_or(u32::from(*self.body.get(4)?));
        let cloned = u32_at(self.body, 8)? & CLONED != 0;
        let main = table == u32::from(TABLE_MAIN) && *self.body.get(7)? == UNICAST;
        (main && !cloned).then(|| self.any_route()).flatten()
    }

    /// Returns the route of a lookup answer, from any table.
    pub(super) fn chosen_route(&self) -> Option<Route> {
        self.any_route()
    }

    fn any_route(&self) -> Option<Route> {
        if self.kind != NEW_ROUTE {
            return None;
        }
        let (family, prefix) = (*self.body.first()?, *self.body.get(1)?);
        let everything = match family {
            IPV4 => Network::ALL_IPV4,
            IPV6 => Network::ALL_IPV6,
            _ => return None,
        };
        let address = match self.attribute(12, ROUTE_DESTINATION) {
            Some(value) => address(value)?,
            None => everything.address(),
        };
        let number = |kind| self.attribute(12, kind).and_then(|value| u32_at(value, 0));
        Some(Route {
            destination: Network::new(address, prefix).ok()?,
            gateway: self.attribute(12, ROUTE_GATEWAY).and_then(self::address),
            interface: number(ROUTE_INTERFACE),
            metric: number(ROUTE_METRIC),
            source: self.attribute(12, ROUTE_SOURCE).and_then(self::address),
            protocol: Some(*self.body.get(5)?).filter(|protocol| *protocol != PROTOCOL_STATIC),
        })
    }

    pub(super) fn address(&self) -> Option<Address> {
        if self.kind != NEW_ADDRESS {
            return None;
        }
        let prefix = *self.body.get(1)?;
        let peer = self.attribute(8, ADDRESS_PEER).and_then(address)?;
        let local = self.attribute(8, ADDRESS_LOCAL).and_then(address).unwrap_or(peer);
        Some(Address {
            interface: u32_at(self.body, 4)?,
            address: local,
            network: Network::new(peer, prefix).ok()?,
        })
    }

    pub(super) fn interface(&self) -> Option<u32> {
        (self.kind == NEW_LINK).then(|| u32_at(self.body, 4)).flatten()
    }

    /// Returns the kind of an interface that was created over netlink.
    pub(super) fn link_kind(&self) -> Option<String> {
        let information = self.attribute(16, LINK_INFORMATION)?;
        let kind = find(information, LINK_KIND)?.split(|byte| *byte == 0).next()?;
        (self.kind == NEW_LINK).then(|| String::from_utf8_lossy(kind).into_owned())
    }

    /// Returns the value of the first attribute of a kind, after a header of `header` bytes.
    fn attribute(&self, header: usize, kind: u16) -> Option<&'a [u8]> {
        find(self.body.get(header..)?, kind)
    }
}

/// Returns the value of the first attribute of a kind.
fn find(mut rest: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(rest, 0)?);
        let found = u16_at(rest, 2)?;
        let value = rest.get(4..length)?;
        if found == kind {
            return Some(value);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

/// Returns a name as the kernel expects it.
fn terminated(name: &str) -> Vec<u8> {
    name.bytes().filter(|byte| *byte != 0).chain([0]).collect()
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { IPV4 } else { IPV6 }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> Route {
        Route {
            destination: "10.1.2.0/24".parse().unwrap(),
            gateway: Some("192.0.2.1".parse().unwrap()),
            interface: Some(7),
            metric: Some(50),
            source: None,
            protocol: None,
        }
    }

    #[test]
    fn routes_round_trip() {
        for route in [
            route(),
            Route { gateway: None, metric: None, ..route() },
            Route {
                destination: "2000::/4".parse().unwrap(),
                gateway: Some("fe80::1".parse().unwrap()),
                ..route()
            },
            Route { destination: Network::ALL_IPV4, interface: None, ..route() },
            Route { source: Some("192.0.2.7".parse().unwrap()), protocol: Some(16), ..route() },
        ] {
            let bytes = Request::add_route(&route).finish(9);
            assert_eq!(bytes.len() % 4, 0);
            let messages: Vec<_> = Message::all(&bytes).map(Result::unwrap).collect();
            assert_eq!(messages.len(), 1);
            assert_eq!(messages[0].sequence, 9);
            assert_eq!(messages[0].route(), Some(route));
        }
    }

    #[test]
    fn addresses_round_trip() {
        for (address, network) in
            [("10.8.0.2", "10.8.0.0/24"), ("10.8.0.2", "10.8.0.1/32"), ("fd00::2", "fd00::/64")]
        {
            let address = Address {
                interface: 7,
                address: address.parse().unwrap(),
                network: network.parse().unwrap(),
            };
            let bytes = Request::set_address(&address).finish(9);
            let message = Message::all(&bytes).next().unwrap().unwrap();
            assert_eq!(message.address(), Some(address));
        }
    }

    /// Only on little-endian machines: the structures have the machine's byte order.
    #[cfg(target_endian = "little")]
    #[test]
    fn requests_have_the_kernels_layout() {
        let bytes = Request::add_route(&route()).finish(0x0102_0304);
        let expected = [
            60, 0, 0, 0, 24, 0, 5, 6, 4, 3, 2, 1, 0, 0, 0, 0, // header
            2, 24, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0, // route
            8, 0, 1, 0, 10, 1, 2, 0, // destination
            8, 0, 5, 0, 192, 0, 2, 1, // gateway
            8, 0, 4, 0, 7, 0, 0, 0, // interface
            8, 0, 6, 0, 50, 0, 0, 0, // metric
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn arbitrary_bytes_cause_at_most_an_error() {
        let bytes = Request::add_route(&route()).finish(1);
        for end in 0..bytes.len() {
            for message in Message::all(&bytes[..end]) {
                assert!(message.is_err());
            }
            let mut short = bytes.clone();
            short[0] = end as u8;
            for message in Message::all(&short).flatten() {
                let _ =
                    (message.route(), message.address(), message.interface(), message.outcome());
            }
        }
        let mut zero_length = bytes.clone();
        zero_length[28] = 0;
        let message = Message::all(&zero_length).next().unwrap().unwrap();
        assert_eq!(message.route().unwrap().gateway, None);
    }

    #[test]
    fn kernel_errors_are_returned() {
        let mut bytes = Request::new(ERROR, 0);
        bytes.0.extend_from_slice(&(-17i32).to_ne_bytes());
        let bytes = bytes.finish(3);
        let message = Message::all(&bytes).next().unwrap().unwrap();
        let error = message.outcome().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }
}
