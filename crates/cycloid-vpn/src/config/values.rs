//! Parses the arguments of a directive.

use std::ffi::OsStr;
use std::fmt::Display;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::error::Problem;
use super::lexer::{self, Directive};
use super::material::Material;
use super::place::Scope;
use super::tunnel::Target;
use crate::proto::tls::NameField;

pub(super) type Result<T> = std::result::Result<T, Problem>;

/// The longest allowed time in seconds, about 34 years.
const MAX_SECONDS: u32 = 1 << 30;

/// A directive in an allowed place with a valid number of arguments.
pub(super) struct Call<'a> {
    pub(super) directive: &'a Directive,
    pub(super) scope: Scope,
    /// The base of relative paths.
    pub(super) base: &'a Path,
    /// Returns whether a server may push an option.
    pub(super) may_be_pushed: fn(&str) -> bool,
}

impl Call<'_> {
    pub(super) fn all(&self) -> &[String] {
        &self.directive.arguments
    }

    /// Returns an argument; empty and `default` count as absent.
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let argument = self.directive.arguments.get(index)?;
        (!argument.is_empty() && argument != "default").then_some(argument)
    }

    /// Returns an argument that the table guarantees.
    pub(super) fn text(&self, index: usize) -> &str {
        self.directive.arguments.get(index).map_or("", String::as_str)
    }

    pub(super) fn owned(&self, index: usize) -> String {
        self.text(index).to_owned()
    }

    pub(super) fn number<T>(&self, index: usize, range: RangeInclusive<T>) -> Result<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        let text = self.text(index);
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            Problem::new(
                format!("'{text}' is not a number that {} takes", self.directive.name),
                format!("use a number from {} to {}", range.start(), range.end()),
            )
        })
    }

    pub(super) fn seconds(&self, index: usize) -> Result<Duration> {
        Ok(Duration::from_secs(u64::from(self.number(index, 0..=MAX_SECONDS)?)))
    }

    /// Returns a duration of at least one second.
    pub(super) fn seconds_from_one(&self, index: usize) -> Result<Duration> {
        Ok(Duration::from_secs(u64::from(self.number(index, 1..=MAX_SECONDS)?)))
    }

    /// Returns a duration in seconds, with `None` for 0.
    pub(super) fn seconds_or_never(&self, index: usize) -> Result<Option<Duration>> {
        Ok(Some(self.seconds(index)?).filter(|time| !time.is_zero()))
    }

    pub(super) fn port(&self, index: usize) -> Result<u16> {
        // Names of services that share their port with a tunnel, as in /etc/services.
        let names = [("openvpn", 1194), ("http", 80), ("https", 443), ("domain", 53), ("ntp", 123)];
        match names.iter().find(|(name, _)| *name == self.text(index)) {
            Some((_, port)) => Ok(*port),
            None => self.number(index, 1..=65535),
        }
    }

    pub(super) fn choice<T: Copy>(&self, index: usize, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text(index);
        choices.iter().find(|choice| choice.0 == text).map(|choice| choice.1).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
            Problem::new(
                format!("{} does not accept '{text}'", self.directive.name),
                format!("use one of {}", names.join(", ")),
            )
        })
    }

    pub(super) fn ipv4(&self, index: usize) -> Result<Ipv4Addr> {
        let text = self.text(index);
        text.parse().map_err(|_| {
            Problem::new(format!("'{text}' is not an IPv4 address"), "write it like 10.8.0.1")
        })
    }

    pub(super) fn ipv6(&self, index: usize) -> Result<Ipv6Addr> {
        let text = self.text(index);
        text.parse().map_err(|_| {
            Problem::new(format!("'{text}' is not an IPv6 address"), "write it like fd00::1")
        })
    }

    /// Returns the prefix length of a netmask.
    pub(super) fn netmask(&self, index: usize) -> Result<u8> {
        let mask = u32::from(self.ipv4(index)?);
        if mask.leading_ones() != mask.count_ones() {
            return Err(Problem::new(
                format!("'{}' is not a netmask: its one bits are not contiguous", self.text(index)),
                "write it like 255.255.255.0",
            ));
        }
        Ok(mask.leading_ones() as u8)
    }

    /// Returns an IPv6 address and its prefix length, which is 64 by default, as in OpenVPN.
    pub(super) fn network_ipv6(&self, index: usize) -> Result<(Ipv6Addr, u8)> {
        let text = self.text(index);
        let (address, prefix) = text.split_once('/').unwrap_or((text, "64"));
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= 128);
        address.parse().ok().zip(prefix).ok_or_else(|| {
            Problem::new(format!("'{text}' is not an IPv6 network"), "write it like fd00:1::/64")
        })
    }

    /// Returns an address, a name, or a keyword for an address known later.
    pub(super) fn target<A: FromStr>(&self, index: usize) -> Result<Target<A>> {
        let text = self.text(index);
        Ok(match text {
            "vpn_gateway" => Target::VpnGateway,
            "net_gateway" | "net_gateway_ipv6" => Target::NetGateway,
            "remote_host" => Target::RemoteHost,
            _ => match text.parse() {
                Ok(address) => Target::Address(address),
                Err(_) => Target::Name(self.host(index)?),
            },
        })
    }

    /// Returns a host name or address that is safe to pass to a resolver.
    pub(super) fn host(&self, index: usize) -> Result<String> {
        let text = self.text(index);
        // Digits and dots alone are a mistyped address, not a name.
        let numeric = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let address = text.parse::<std::net::IpAddr>().is_ok()
            // A link-local address with its interface.
            || text.split_once('%').is_some_and(|(address, _)| address.parse::<Ipv6Addr>().is_ok());
        if address || (name && !numeric && text.len() <= 253) {
            return Ok(text.to_owned());
        }
        Err(Problem::new(
            format!("'{text}' is neither an address nor a host name"),
            "write it like 192.0.2.1, 2001:db8::1 or vpn.example.org",
        ))
    }

    /// Like [`host`](Self::host), but also returns an address in short form, and text that only
    /// looks up in vain.
    pub(super) fn remote_host(&self, index: usize) -> Result<RemoteHost> {
        let text = self.text(index);
        match (self.host(index), short_address(text)) {
            (Ok(host), _) => Ok(RemoteHost::Plain(host)),
            (_, Some(address)) => Ok(RemoteHost::Short(address)),
            (Err(_), _)
                if text.chars().all(|it| !it.is_control() && !it.is_whitespace())
                    && text.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'.')
                    && text.len() <= 253 =>
            {
                Ok(RemoteHost::Strange(text.to_owned()))
            }
            (Err(problem), _) => Err(problem),
        }
    }

    pub(super) fn path(&self, index: usize) -> PathBuf {
        let text = self.text(index);
        if self.directive.latin1 {
            // The file's name has the bytes of the configuration.
            let bytes: Option<Vec<u8>> =
                text.chars().map(|letter| u8::try_from(letter).ok()).collect();
            if let Some(bytes) = bytes {
                return self.base.join(OsStr::from_bytes(&bytes));
            }
        }
        self.base.join(text)
    }

    /// Returns the block's contents, or the file that the first argument names.
    pub(super) fn material(&self) -> Result<Material> {
        if let Some(block) = &self.directive.block {
            return Ok(Material::Inline(block.clone()));
        }
        match self.text(0) {
            "[inline]" => {
                let name = &self.directive.name;
                let hint = format!("remove the line if the file has a block <{name}>");
                Err(Problem::new("`[inline]` is not a file", hint))
            }
            _ => Ok(Material::File(self.path(0))),
        }
    }

    /// Parses a program and its arguments, written as one word.
    pub(super) fn command(&self, index: usize) -> Result<Vec<String>> {
        let mut words = lexer::words(self.text(index).as_bytes())?;
        let Some(program) = words.first_mut() else {
            return Err(Problem::new("the program is missing", "write its path"));
        };
        if let Some(path) = self.base.join(&*program).to_str() {
            *program = path.to_owned();
        }
        Ok(words)
    }

    /// Returns the words between colons.
    pub(super) fn list(&self, index: usize) -> Vec<String> {
        self.text(index).split(':').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

/// The host of a `remote`.
pub(super) enum RemoteHost {
    /// An address or a name.
    Plain(String),
    /// An address with fewer than four numbers, or with octal ones.
    Short(Ipv4Addr),
    /// Text that no resolver can know, such as the placeholder `<server>`, or a name with letters
    /// beyond ASCII, which OpenVPN passes to the resolver as it is.
    Strange(String),
}

/// Parses the short forms of IPv4 addresses that the C library's resolver takes, and OpenVPN with
/// it: the last number fills the bytes that are left, and a number that begins with 0 is octal.
///
/// Source: inet_aton(3).
fn short_address(text: &str) -> Option<Ipv4Addr> {
    let numbers = text.split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let radix = if part.len() > 1 && part.starts_with('0') { 8 } else { 10 };
        u32::from_str_radix(part, radix).ok().filter(|_| digits)
    });
    let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    let (last, bytes) = numbers.split_last().filter(|(_, bytes)| bytes.len() < 4)?;
    let mut address = 0u32;
    for (position, byte) in bytes.iter().enumerate() {
        address |= u32::from(u8::try_from(*byte).ok()?) << (24 - 8 * position);
    }
    let left = 32 - 8 * bytes.len() as u32;
    (u64::from(*last) < 1 << left).then(|| Ipv4Addr::from(address | last))
}

/// Returns the field of a certificate by its name; a lower-case name stands for the upper-case one.
pub(super) fn name_field(text: &str) -> Result<NameField> {
    let is_lower = text.bytes().all(|byte| byte.is_ascii_lowercase());
    let name = if is_lower { text.to_ascii_uppercase() } else { text.to_owned() };
    NameField::parse(&name).ok_or_else(|| {
        let message = format!("a certificate has no field {name} that is supported");
        Problem::new(message, "use CN, emailAddress, UID, serialNumber or ext:subjectAltName")
    })
}

/// Parses a certificate's SHA-256 in hex with colons.
pub(super) fn fingerprint(text: &str) -> Result<[u8; 32]> {
    let wrong = || {
        Problem::new(
            "not a SHA-256 fingerprint",
            "write 32 bytes in hex with colons, as openssl x509 -fingerprint -sha256 prints them",
        )
    };
    let mut bytes = [0; 32];
    let mut parts = text.split(':');
    for byte in &mut bytes {
        let hex = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
        let part = parts.next().filter(hex).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
    }
    if parts.next().is_some() {
        return Err(wrong());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::net::ToSocketAddrs;

    use super::*;

    /// The C library is the model: it takes no other text of digits and dots without a name server.
    #[test]
    fn short_addresses_are_those_of_the_c_library() {
        for (text, address) in [
            ("1.2.3", "1.2.0.3"),
            ("127.1", "127.0.0.1"),
            ("16909060", "1.2.3.4"),
            ("256", "0.0.1.0"),
            ("0", "0.0.0.0"),
            ("010.0.0.1", "8.0.0.1"),
            ("1.2.65535", "1.2.255.255"),
            ("1.16777215", "1.255.255.255"),
            ("4294967295", "255.255.255.255"),
        ] {
            let address: Ipv4Addr = address.parse().unwrap();
            assert_eq!(short_address(text), Some(address), "{text}");
            let known = (text, 1).to_socket_addrs().unwrap().next().unwrap();
            assert_eq!(known.ip(), address, "{text}");
        }
        for text in [
            "",
            ".",
            "1.",
            ".1",
            "1..2",
            "1.2.3.4.5",
            "1.2.3.4.",
            "300.1.1.1",
            "1.256.1",
            "1.2.65536",
            "1.16777216",
            "4294967296",
            "08",
            "1.2.3.09",
            "+1",
            "-1",
            "1 2",
            "x",
        ] {
            assert_eq!(short_address(text), None, "{text}");
        }
    }
}
