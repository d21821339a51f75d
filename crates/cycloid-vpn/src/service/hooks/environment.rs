//! The environment of a script: OpenVPN's variables, with values from peers sanitised.
//!
//! Source: openvpn(8), "Environmental Variables" and "String Types and Remapping"; values as in
//! OpenVPN 2.6.14.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use aws_lc_rs::digest;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Tag, Tagged};

use super::super::clock;
use super::super::pool::Topology;
use crate::config::DeviceType;
use crate::net::network::Network;
use crate::proto::tls::{Identity, decimal, short_name};

/// Variables and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

/// The trust in a peer's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The address of an authenticated peer.
    Trusted,
    /// The address of an unauthenticated peer.
    Untrusted,
}

impl Environment {
    /// Sets a variable. Replaces characters of the name other than letters, digits and underscores,
    /// and control characters of the value, with underscores.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !name.is_empty() {
            self.0.insert(name, plain(&value.to_string()));
        }
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns the value of a variable.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns all variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets a `setenv-safe` variable, also a pushed one. The prefix keeps it apart from variables
    /// with a meaning for programs or the loader.
    pub fn set_safe(&mut self, name: &str, value: &str) {
        self.set(&format!("OPENVPN_{name}"), value);
    }

    /// Sets a variable from the peer's info, if its name starts with `IV_` or `UV_`.
    pub fn set_peer_info(&mut self, name: &str, value: &str) {
        if name.starts_with("IV_") || name.starts_with("UV_") {
            self.set(name, value);
        }
    }

    /// Sets `trusted_ip` or `untrusted_ip` (with a `6` for IPv6), and the port.
    pub fn set_peer_address(&mut self, trust: Trust, address: SocketAddr) {
        let prefix = match trust {
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        };
        let (ip, other, address_ip) = match address.ip().to_canonical() {
            IpAddr::V4(ip) => ("ip", "ip6", ip.to_string()),
            IpAddr::V6(ip) => ("ip6", "ip", ip.to_string()),
        };
        self.set(&format!("{prefix}_{ip}"), address_ip);
        self.remove(&format!("{prefix}_{other}"));
        self.set(&format!("{prefix}_port"), address.port());
    }

    /// Sets the interface's variables: `dev`, `dev_type`, `tun_mtu`.
    pub fn set_interface(&mut self, name: &str, kind: DeviceType, mtu: u32) {
        self.set("dev", name);
        self.set("dev_type", kind.name());
        self.set("tun_mtu", mtu);
    }

    /// Sets `ifconfig_local`, and `ifconfig_netmask` or, without `topology subnet`,
    /// `ifconfig_remote`.
    pub fn set_ifconfig(&mut self, topology: Topology, local: Ipv4Addr, second: Ipv4Addr) {
        let name = if topology == Topology::Subnet { "netmask" } else { "remote" };
        self.set("ifconfig_local", local);
        self.set(&format!("ifconfig_{name}"), second);
    }

    /// Sets `ifconfig_ipv6_local`, `_netbits` and `_remote`.
    pub fn set_ifconfig_ipv6(&mut self, local: Ipv6Addr, bits: u8, remote: Option<Ipv6Addr>) {
        self.set("ifconfig_ipv6_local", local);
        self.set("ifconfig_ipv6_netbits", bits);
        if let Some(remote) = remote {
            self.set("ifconfig_ipv6_remote", remote);
        }
    }

    /// Sets a client's addresses: `ifconfig_pool_remote_ip` and related variables. An IPv4 address
    /// comes with the netmask or peer, an IPv6 address with the prefix length. `local` holds the
    /// server's addresses.
    pub fn set_client_addresses(
        &mut self,
        ipv4: Option<(Ipv4Addr, Ipv4Addr)>,
        ipv6: Option<(Ipv6Addr, u8)>,
        topology: Topology,
        local: (Option<Ipv4Addr>, Option<Ipv6Addr>),
    ) {
        if let Some((address, second)) = ipv4 {
            self.set("ifconfig_pool_remote_ip", address);
            if topology == Topology::Subnet {
                self.set("ifconfig_pool_netmask", second);
            } else {
                let local = if topology == Topology::Net30 { Some(second) } else { local.0 };
                self.set("ifconfig_pool_local_ip", local.unwrap_or(second));
            }
        }
        if let Some((address, bits)) = ipv6 {
            self.set("ifconfig_pool_remote_ip6", address);
            self.set("ifconfig_pool_ip6_netbits", bits);
            if let Some(local) = local.1 {
                self.set("ifconfig_pool_local_ip6", local);
            }
        }
    }

    /// Sets `route_network_{n}` or `route_ipv6_network_{n}` and related variables; `number` counts
    /// from 1 in each family.
    pub fn set_route(
        &mut self,
        number: usize,
        network: Network,
        gateway: Option<IpAddr>,
        metric: Option<u32>,
    ) {
        let prefix = match network.netmask() {
            Some(netmask) => {
                self.set(&format!("route_network_{number}"), network.address());
                self.set(&format!("route_netmask_{number}"), netmask);
                "route"
            }
            None => {
                self.set(&format!("route_ipv6_network_{number}"), network);
                "route_ipv6"
            }
        };
        if let Some(gateway) = gateway {
            self.set(&format!("{prefix}_gateway_{number}"), gateway);
        }
        if let Some(metric) = metric {
            self.set(&format!("{prefix}_metric_{number}"), metric);
        }
    }

    /// Sets `time_unix` and `time_ascii` to the session's start, in seconds since 1970.
    pub fn set_beginning(&mut self, unix: u64) {
        self.set("time_unix", unix);
        self.set("time_ascii", clock::local(unix));
    }

    /// Sets the session's totals: `time_duration` in seconds, `bytes_received`, `bytes_sent`.
    pub fn set_end(&mut self, seconds: u64, received: u64, sent: u64) {
        self.set("time_duration", seconds);
        self.set("bytes_received", received);
        self.set("bytes_sent", sent);
    }

    /// Sets the variables of the peer's certificate, and of those above it if they are known.
    pub fn set_certificates(&mut self, peer: &Identity) {
        self.set_certificate(0, &peer.certificate);
        for (depth, certificate) in (1..).zip(peer.authorities.iter().flatten()) {
            self.set_certificate(depth, certificate);
        }
    }

    /// Sets the variables of a certificate in the peer's chain: subject fields, serial number and
    /// fingerprints. `depth` is 0 for the peer's own certificate. Returns the common name.
    ///
    /// Returns `None` and sets nothing if `der` is not a certificate.
    fn set_certificate(&mut self, depth: u32, der: &[u8]) -> Option<String> {
        let certificate = Certificate::from_der(der).ok()?;
        let subject = subject(&certificate);
        let mut seen = BTreeMap::<&str, u32>::new();
        for (name, value) in &subject {
            let repeated = seen.entry(name).and_modify(|count| *count += 1).or_insert(0);
            match repeated {
                0 => self.set(&format!("X509_{depth}_{name}"), value),
                count => self.set(&format!("X509_{depth}_{name}_{count}"), value),
            }
        }
        self.set(&format!("tls_id_{depth}"), distinguished_name(&subject));
        let serial = certificate.tbs_certificate().serial_number().as_bytes();
        let serial = serial.strip_prefix(&[0]).unwrap_or(serial);
        self.set(&format!("tls_serial_{depth}"), decimal(serial));
        self.set(&format!("tls_serial_hex_{depth}"), colons(serial));
        let sha1 = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, der);
        let sha256 = digest::digest(&digest::SHA256, der);
        self.set(&format!("tls_digest_{depth}"), colons(sha1.as_ref()));
        self.set(&format!("tls_digest_sha256_{depth}"), colons(sha256.as_ref()));
        let common_name = subject.into_iter().rev().find(|(name, _)| name == "CN");
        common_name.map(|(_, value)| value)
    }
}

/// Returns a certificate's subject in the form that `tls-verify` gets and `verify-x509-name`
/// compares. Returns `None` if `der` is not a certificate.
pub fn subject_of(der: &[u8]) -> Option<String> {
    Certificate::from_der(der)
        .ok()
        .map(|certificate| plain(&distinguished_name(&subject(&certificate))))
}

fn distinguished_name(subject: &[(String, String)]) -> String {
    let fields: Vec<_> = subject.iter().map(|(name, value)| format!("{name}={value}")).collect();
    fields.join(", ")
}

/// Returns the names and values of a subject, in the certificate's order.
fn subject(certificate: &Certificate) -> Vec<(String, String)> {
    let names = certificate.tbs_certificate().subject().iter();
    names
        .map(|attribute| {
            let name = short_name(&attribute.oid.to_string());
            let bytes = attribute.value.value();
            let value = match attribute.value.tag() {
                Tag::BmpString => {
                    let units =
                        bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
                    char::decode_utf16(units).map(|c| c.unwrap_or('_')).collect()
                }
                Tag::TeletexString => bytes.iter().copied().map(char::from).collect(),
                _ => String::from_utf8_lossy(bytes).into_owned(),
            };
            (name, value)
        })
        .collect()
}

fn colons(bytes: &[u8]) -> String {
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_sanitised() {
        let mut environment = Environment::default();
        environment.set("a b;$", "x\ny\0z\u{7f}ä");
        environment.set("", "nothing");
        environment.set_safe("LD_PRELOAD", "x");
        environment.set_peer_info("LD_PRELOAD", "x");
        environment.set_peer_info("IV_VER", "2.6.14");
        let expected = [("IV_VER", "2.6.14"), ("OPENVPN_LD_PRELOAD", "x"), ("a_b__", "x_y_z_ä")];
        assert_eq!(environment.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn addresses_and_routes() {
        let mut environment = Environment::default();
        environment.set_peer_address(Trust::Untrusted, "[2001:db8::1]:5".parse().unwrap());
        environment.set_peer_address(Trust::Untrusted, "[::ffff:1.2.3.4]:6".parse().unwrap());
        environment.set_peer_address(Trust::Trusted, "[2001:db8::1]:7".parse().unwrap());
        environment.set_route(1, "10.1.2.0/24".parse().unwrap(), Some([10, 8, 0, 1].into()), None);
        environment.set_route(1, "2001:db8::/32".parse().unwrap(), None, Some(5));
        let expected = [
            ("route_gateway_1", "10.8.0.1"),
            ("route_ipv6_metric_1", "5"),
            ("route_ipv6_network_1", "2001:db8::/32"),
            ("route_netmask_1", "255.255.255.0"),
            ("route_network_1", "10.1.2.0"),
            ("trusted_ip6", "2001:db8::1"),
            ("trusted_port", "7"),
            ("untrusted_ip", "1.2.3.4"),
            ("untrusted_port", "6"),
        ];
        assert_eq!(environment.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn serial_numbers() {
        assert_eq!(decimal(&[]), "0");
        assert_eq!(decimal(&[0x3b, 0x9a, 0xca, 0x00]), "1000000000");
        let serial = "76e6c0b154ee7ddbc8e6a1ccd2d36a5be15b8897";
        let bytes: Vec<_> = (0..20)
            .map(|at| u8::from_str_radix(&serial[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        assert_eq!(decimal(&bytes), "678806868254646421168136465953195321211246839959");
    }

    #[test]
    fn certificate_variables() {
        use rcgen::{CertificateParams, DnType, DnValue, KeyPair, SerialNumber};
        let mut parameters = CertificateParams::new(vec![]).unwrap();
        let name = &mut parameters.distinguished_name;
        *name = rcgen::DistinguishedName::new();
        name.push(DnType::CountryName, "KG");
        name.push(DnType::OrganizationalUnitName, "users\nX509_0_CN=root");
        name.push(DnType::CommonName, DnValue::BmpString("Ann ä".try_into().unwrap()));
        parameters.serial_number = Some(SerialNumber::from_slice(&[0x18, 0xff]));
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let mut environment = Environment::default();
        let name = environment.set_certificate(0, certificate.der()).unwrap();
        assert_eq!(name, "Ann ä");
        for (name, value) in [
            ("X509_0_C", "KG"),
            ("X509_0_OU", "users_X509_0_CN=root"),
            ("X509_0_CN", "Ann ä"),
            ("tls_id_0", "C=KG, OU=users_X509_0_CN=root, CN=Ann ä"),
            ("tls_serial_0", "6399"),
            ("tls_serial_hex_0", "18:ff"),
        ] {
            assert_eq!(environment.value(name), Some(value));
        }
        assert_eq!(environment.value("tls_digest_0").unwrap().len(), 59);
        assert_eq!(environment.value("tls_digest_sha256_0").unwrap().len(), 95);
        assert_eq!(subject_of(certificate.der()).as_deref(), environment.value("tls_id_0"));
        assert_eq!(environment.set_certificate(1, b"\x30\x03abc"), None);
    }
}
