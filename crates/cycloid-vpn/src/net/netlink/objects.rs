//! The kernel's objects: routes, addresses and links.

use std::net::IpAddr;

use crate::net::network::Network;

/// A route of the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// The destination.
    pub destination: Network,
    /// The gateway; `None` for a destination on the link.
    pub gateway: Option<IpAddr>,
    /// The interface index; `None` lets the kernel derive it from the gateway.
    pub interface: Option<u32>,
    /// The metric, lower is preferred; `None` lets the kernel choose.
    pub metric: Option<u32>,
    /// The source address of packets on this route; `None` lets the kernel choose.
    pub source: Option<IpAddr>,
    /// The protocol number of its creator, such as a DHCP client; `None` is an administrator.
    pub protocol: Option<u8>,
}

impl Route {
    /// Returns a route to a destination, with all other fields unset.
    pub fn to(destination: Network) -> Self {
        let (gateway, interface, metric, source, protocol) = (None, None, None, None, None);
        Self { destination, gateway, interface, metric, source, protocol }
    }

    /// Returns whether the kernel treats both routes as the same in a deletion.
    pub fn is_same(&self, present: &Self) -> bool {
        let key = |route: &Self| (route.destination, route.gateway, route.interface);
        key(self) == key(present) && self.metric.is_none_or(|metric| Some(metric) == present.metric)
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

/// An interface address with its network, or with the peer of a point-to-point link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface index.
    pub interface: u32,
    /// The address.
    pub address: IpAddr,
    /// The network on the link.
    pub network: Network,
}

/// Settings of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The MTU in bytes.
    pub mtu: u32,
    /// The transmit queue length in packets; `None` keeps the kernel's default.
    pub queue_length: Option<u32>,
    /// The hardware address; `None` keeps it.
    pub hardware_address: Option<[u8; 6]>,
}
