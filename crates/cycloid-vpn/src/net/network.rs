//! An IP network: an address and a prefix length.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 network. The bits after the prefix are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// The error for an invalid network: a prefix that is too long, a non-contiguous netmask, or other
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNetwork;

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a network such as 10.8.0.0/24 or fd00::/64")
    }
}

impl std::error::Error for InvalidNetwork {}

impl Network {
    /// All of IPv4.
    pub const ALL_IPV4: Self = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), prefix: 0 };
    /// All of IPv6.
    pub const ALL_IPV6: Self = Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), prefix: 0 };

    /// Returns the network with `prefix` bits that contains `address`.
    ///
    /// # Errors
    ///
    /// A prefix longer than the address.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Self, InvalidNetwork> {
        if prefix > width(address) {
            return Err(InvalidNetwork);
        }
        Ok(Self { address: masked(address, prefix), prefix })
    }

    /// Returns the network of an address and a netmask.
    ///
    /// # Errors
    ///
    /// A non-contiguous netmask.
    pub fn with_netmask(address: Ipv4Addr, netmask: Ipv4Addr) -> Result<Self, InvalidNetwork> {
        let ones = netmask.to_bits().leading_ones();
        if netmask.to_bits().count_ones() != ones {
            return Err(InvalidNetwork);
        }
        Self::new(address.into(), ones as u8)
    }

    /// Returns the network of a single address.
    pub fn host(address: IpAddr) -> Self {
        Self { address, prefix: width(address) }
    }

    /// Returns the first address.
    pub fn address(self) -> IpAddr {
        self.address
    }

    /// Returns the prefix length.
    pub fn prefix(self) -> u8 {
        self.prefix
    }

    /// Returns whether this is an IPv4 network.
    pub fn is_ipv4(self) -> bool {
        self.address.is_ipv4()
    }

    /// Returns the netmask of an IPv4 network.
    pub fn netmask(self) -> Option<Ipv4Addr> {
        // An IPv6 prefix may be longer than an IPv4 address.
        self.is_ipv4().then(|| {
            let ones = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
            Ipv4Addr::from_bits(ones)
        })
    }

    /// Returns whether the network contains `address`.
    pub fn contains(self, address: IpAddr) -> bool {
        self.is_ipv4() == address.is_ipv4() && masked(address, self.prefix) == self.address
    }

    /// Returns the two halves of the network, or `None` for a single address.
    pub fn halves(self) -> Option<[Self; 2]> {
        let prefix = self.prefix + 1;
        let low = Self::new(self.address, prefix).ok()?;
        let high = match self.address {
            IpAddr::V4(address) => {
                Ipv4Addr::from_bits(address.to_bits() | 1 << (32 - u32::from(prefix))).into()
            }
            IpAddr::V6(address) => {
                Ipv6Addr::from_bits(address.to_bits() | 1 << (128 - u32::from(prefix))).into()
            }
        };
        Some([low, Self { address: high, prefix }])
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    /// Parses `address/prefix` or a single address.
    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let address: IpAddr = address.parse().map_err(|_| InvalidNetwork)?;
        match prefix {
            None => Ok(Self::host(address)),
            Some(prefix) => Self::new(address, prefix.parse().map_err(|_| InvalidNetwork)?),
        }
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_masks_and_halves() {
        // A network of IPv6 has no netmask, whatever its prefix.
        for prefix in [0, 32, 33, 64, 128] {
            assert_eq!(Network::new(IpAddr::from([0_u16; 8]), prefix).unwrap().netmask(), None);
        }
        let network: Network = "10.8.3.77/22".parse().unwrap();
        assert_eq!(network.to_string(), "10.8.0.0/22");
        assert_eq!(network.netmask().unwrap(), Ipv4Addr::new(255, 255, 252, 0));
        assert!(network.contains("10.8.3.255".parse().unwrap()));
        assert!(!network.contains("10.8.4.0".parse().unwrap()));
        assert!(!network.contains("::a08:1".parse().unwrap()));
        let [low, high] = network.halves().unwrap();
        assert_eq!(
            (low.to_string(), high.to_string()),
            ("10.8.0.0/23".into(), "10.8.2.0/23".into())
        );
        let [low, high] = Network::ALL_IPV6.halves().unwrap();
        assert_eq!((low.to_string(), high.to_string()), ("::/1".into(), "8000::/1".into()));
        assert!(Network::host("1.2.3.4".parse().unwrap()).halves().is_none());
        assert_eq!(Network::ALL_IPV4.netmask().unwrap(), Ipv4Addr::UNSPECIFIED);
        assert!(Network::ALL_IPV4.contains("255.0.0.1".parse().unwrap()));
    }

    #[test]
    fn invalid_networks() {
        for text in ["10.0.0.0/33", "::/129", "10.0.0/8", "", "/8", "10.0.0.0/", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Network>(), Err(InvalidNetwork), "{text}");
        }
        let gap = Network::with_netmask(Ipv4Addr::LOCALHOST, Ipv4Addr::new(255, 0, 255, 0));
        assert_eq!(gap, Err(InvalidNetwork));
        let all = Network::with_netmask(Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED);
        assert_eq!(all, Ok(Network::ALL_IPV4));
    }
}
