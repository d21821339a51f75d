//! The options string that announces an end's configuration. It only matters for warnings of older
//! peers, and for the cipher of peers that cannot negotiate one.
//!
//! Source: openvpn(8), `--opt-verify`; the strings that OpenVPN 2.6.14 logs.

use super::data::Digest;
use super::static_key::Direction;
use super::{Role, Transport};

/// Block and IV overhead and key bits that OpenVPN assumes without a configured cipher: BF-CBC,
/// with blocks and IVs of 8 bytes.
const NO_CIPHER: (u32, u32) = (8 + 8, 128);

/// Bytes that OpenVPN assumes for the header of a frame.
const TAP_HEADER: u32 = 32;

/// The contents of the options string.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// This end's role.
    pub role: Role,
    /// The outer transport.
    pub transport: Transport,
    /// Whether the tunnel carries Ethernet frames.
    pub ethernet: bool,
    /// The tunnel's MTU in bytes.
    pub tun_mtu: u32,
    /// The name in `--cipher`; `None` if it is negotiated.
    pub cipher: Option<&'a str>,
    /// The digest of `--auth`.
    pub auth: Digest,
    /// Whether tls-auth protects the control channel.
    pub tls_auth: bool,
    /// The key direction of tls-auth.
    pub direction: Option<Direction>,
    /// Framing bytes per packet, if there is framing: 1 for `comp-lzo`, 0 for `compress stub-v2`.
    pub framing: Option<u32>,
    /// Whether packets have the header of fragments.
    pub fragment: bool,
}

impl Options<'_> {
    /// Returns the string in OpenVPN 2.6's format.
    pub fn to_text(&self) -> String {
        let (crypto, key_bits) = self.cipher_sizes();
        let transport = match self.transport {
            Transport::Udp => 0,
            Transport::Tcp => 2,
        };
        // Every packet has opcode and packet id, 1 and 4 bytes.
        let header = self.framing.unwrap_or(0) + if self.fragment { 4 } else { 0 };
        let (kind, frame) = if self.ethernet { ("tap", TAP_HEADER) } else { ("tun", 0) };
        let link_mtu = self.tun_mtu + frame + header + 5 + crypto + transport;
        let mut text = format!("V4,dev-type {kind},link-mtu {link_mtu},tun-mtu {}", self.tun_mtu);
        text.push_str(match (self.transport, self.role) {
            (Transport::Udp, _) => ",proto UDPv4",
            (Transport::Tcp, Role::Client) => ",proto TCPv4_CLIENT",
            (Transport::Tcp, Role::Server) => ",proto TCPv4_SERVER",
        });
        if self.framing.is_some() {
            text.push_str(",comp-lzo");
        }
        if self.fragment {
            text.push_str(",mtu-dynamic");
        }
        match self.direction {
            Some(Direction::Normal) => text.push_str(",keydir 0"),
            Some(Direction::Inverse) => text.push_str(",keydir 1"),
            None => {}
        }
        if let Some(cipher) = self.cipher {
            text.push_str(",cipher ");
            text.push_str(cipher);
        }
        text.push_str(",auth ");
        text.push_str(if self.is_aead() { "[null-digest]" } else { self.auth.name() });
        text.push_str(&format!(",keysize {key_bits}"));
        if self.tls_auth {
            text.push_str(",tls-auth");
        }
        text.push_str(match self.role {
            Role::Client => ",key-method 2,tls-client",
            Role::Server => ",key-method 2,tls-server",
        });
        text
    }

    fn is_aead(&self) -> bool {
        self.cipher.is_some_and(|name| name.ends_with("GCM") || name.ends_with("POLY1305"))
    }

    /// Returns the bytes that encryption adds, as OpenVPN counts them for this string, and the key
    /// bits.
    fn cipher_sizes(&self) -> (u32, u32) {
        let (bytes, bits) = match self.cipher {
            None => NO_CIPHER,
            // Nonce, tag, and a block of one byte.
            Some("CHACHA20-POLY1305") => return (12 + 16 + 1, 256),
            Some(name) => {
                let bits = name.split('-').find_map(|part| part.parse().ok()).unwrap_or(128);
                if self.is_aead() {
                    return (12 + 16 + 16, bits);
                }
                (16 + 16, bits)
            }
        };
        (bytes + self.auth.length() as u32, bits)
    }
}

/// Returns the value of an option in the peer's string.
pub fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Options<'static> = Options {
        role: Role::Client,
        transport: Transport::Udp,
        ethernet: false,
        tun_mtu: 1500,
        cipher: None,
        auth: Digest::Sha1,
        tls_auth: false,
        direction: None,
        framing: None,
        fragment: false,
    };

    /// The strings that OpenVPN 2.6.14 logs with `--verb 8` for these configurations.
    #[test]
    fn strings_equal_those_of_openvpn() {
        let cases = [
            (
                DEFAULT,
                "V4,dev-type tun,link-mtu 1541,tun-mtu 1500,proto UDPv4,auth SHA1,keysize 128,\
                 key-method 2,tls-client",
            ),
            (
                Options { role: Role::Server, framing: Some(1), ..DEFAULT },
                "V4,dev-type tun,link-mtu 1542,tun-mtu 1500,proto UDPv4,comp-lzo,auth SHA1,\
                 keysize 128,key-method 2,tls-server",
            ),
            (
                Options {
                    cipher: Some("AES-256-GCM"),
                    tls_auth: true,
                    direction: Some(Direction::Inverse),
                    ..DEFAULT
                },
                "V4,dev-type tun,link-mtu 1549,tun-mtu 1500,proto UDPv4,keydir 1,\
                 cipher AES-256-GCM,auth [null-digest],keysize 256,tls-auth,key-method 2,\
                 tls-client",
            ),
            (
                Options { cipher: Some("AES-256-CBC"), tun_mtu: 1400, ..DEFAULT },
                "V4,dev-type tun,link-mtu 1457,tun-mtu 1400,proto UDPv4,cipher AES-256-CBC,\
                 auth SHA1,keysize 256,key-method 2,tls-client",
            ),
            (
                Options { cipher: Some("AES-128-CBC"), auth: Digest::Sha512, ..DEFAULT },
                "V4,dev-type tun,link-mtu 1601,tun-mtu 1500,proto UDPv4,cipher AES-128-CBC,\
                 auth SHA512,keysize 128,key-method 2,tls-client",
            ),
            (
                Options { cipher: Some("CHACHA20-POLY1305"), transport: Transport::Tcp, ..DEFAULT },
                "V4,dev-type tun,link-mtu 1536,tun-mtu 1500,proto TCPv4_CLIENT,\
                 cipher CHACHA20-POLY1305,auth [null-digest],keysize 256,key-method 2,tls-client",
            ),
            (
                Options {
                    ethernet: true,
                    cipher: Some("AES-256-GCM"),
                    tun_mtu: 1400,
                    fragment: true,
                    ..DEFAULT
                },
                "V4,dev-type tap,link-mtu 1485,tun-mtu 1400,proto UDPv4,mtu-dynamic,\
                 cipher AES-256-GCM,auth [null-digest],keysize 256,key-method 2,tls-client",
            ),
        ];
        for (options, expected) in cases {
            assert_eq!(options.to_text(), expected);
        }
    }

    #[test]
    fn options_are_found_by_name() {
        let text = Options { cipher: Some("AES-128-GCM"), ..DEFAULT }.to_text();
        assert_eq!(option(&text, "cipher"), Some("AES-128-GCM"));
        assert_eq!(option(&text, "tun-mtu"), Some("1500"));
        assert_eq!(option(&text, "mtu"), None);
        assert_eq!(option(&text, "comp-lzo"), None);
        assert_eq!(option("", "cipher"), None);
    }
}
