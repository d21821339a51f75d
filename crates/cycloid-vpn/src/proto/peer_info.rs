//! Peer information: a peer's capabilities and properties as lines of `NAME=value`.
//!
//! Source: openvpn(8), `--push-peer-info`; draft-openvpn-wire-protocol, "Peer information".

use std::fmt;

/// Bits of `IV_PROTO`.
pub mod protocol {
    /// Supports data packets with a peer id.
    pub const DATA_V2: u32 = 1 << 1;
    /// Accepts a push reply without a request.
    pub const REQUEST_PUSH: u32 = 1 << 2;
    /// Supports data keys from the TLS exporter.
    pub const TLS_KEY_EXPORT: u32 = 1 << 3;
    /// Supports keywords in `AUTH_PENDING`.
    pub const AUTH_PENDING_KEYWORDS: u32 = 1 << 4;
    /// Negotiates point to point, without pushed options.
    pub const NCP_P2P: u32 = 1 << 5;
    /// The first form of the option `dns`, which is unused.
    pub const DNS_OPTION: u32 = 1 << 6;
    /// Announces the end of a session inside TLS.
    pub const CC_EXIT_NOTIFY: u32 = 1 << 7;
    /// Supports `AUTH_FAILED,TEMP`.
    pub const AUTH_FAIL_TEMP: u32 = 1 << 8;
    /// Supports dynamic tls-crypt for renegotiations.
    pub const DYNAMIC_TLS_CRYPT: u32 = 1 << 9;
    /// Supports data keys by epochs.
    pub const DATA_EPOCH: u32 = 1 << 10;
    /// Supports the option `dns`.
    pub const DNS_OPTION_V2: u32 = 1 << 11;
    /// Supports option updates in a running session.
    pub const PUSH_UPDATE: u32 = 1 << 12;
}

/// Pairs beyond this number are ignored.
const MAX_PAIRS: usize = 256;

/// Names and values in received order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerInfo {
    pairs: Vec<(String, String)>,
}

impl PeerInfo {
    /// Parses the lines. Ignores lines that are not pairs, names with other characters than
    /// letters, digits and `_`, and values with control characters: a name may become an
    /// environment variable of a hook.
    pub fn parse(text: &str) -> Self {
        let mut info = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            info.push(name, value);
        }
        info
    }

    /// Adds a pair. Returns whether it is valid.
    pub fn push(&mut self, name: &str, value: &str) -> bool {
        let named = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let good = named && !name.is_empty() && !value.contains(char::is_control);
        let good = good && self.pairs.len() < MAX_PAIRS;
        if good {
            self.pairs.push((name.to_owned(), value.to_owned()));
        }
        good
    }

    /// Returns all pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the value of the first pair with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns `IV_VER`.
    pub fn version(&self) -> Option<&str> {
        self.get("IV_VER")
    }

    /// Returns `IV_PLAT`.
    pub fn platform(&self) -> Option<&str> {
        self.get("IV_PLAT")
    }

    /// Returns `IV_HWADDR`.
    pub fn hardware_address(&self) -> Option<&str> {
        self.get("IV_HWADDR")
    }

    /// Returns `IV_PROTO`, whose bits [`protocol`] names; 0 if it is missing or not a number.
    pub fn protocol(&self) -> u32 {
        self.get("IV_PROTO").and_then(|bits| bits.parse().ok()).unwrap_or(0)
    }

    /// Returns `IV_MTU`, the maximum inner packet length in bytes.
    pub fn mtu(&self) -> Option<u32> {
        self.get("IV_MTU")?.parse().ok()
    }

    /// Returns the ciphers that the peer can negotiate, best first: `IV_CIPHERS`, or those that
    /// `IV_NCP=2` implies.
    pub fn ciphers(&self) -> impl Iterator<Item = &str> {
        let list = match (self.get("IV_CIPHERS"), self.get("IV_NCP")) {
            (Some(list), _) => list,
            (None, Some("2")) => "AES-256-GCM:AES-128-GCM",
            _ => "",
        };
        list.split(':').filter(|name| !name.is_empty())
    }
}

impl fmt::Display for PeerInfo {
    /// Formats the lines of a key-method message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pairs().try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLIENT: &str = "IV_VER=2.6.14\nIV_PLAT=linux\nIV_TCPNL=1\nIV_MTU=1600\nIV_NCP=2\n\
                          IV_CIPHERS=AES-256-GCM:CHACHA20-POLY1305\nIV_PROTO=990\n\
                          IV_HWADDR=02:00:00:00:00:01\nUV_ID=a=b\n";

    #[test]
    fn a_client_of_openvpn_2_6() {
        let info = PeerInfo::parse(CLIENT);
        assert_eq!(info.version(), Some("2.6.14"));
        assert_eq!(info.platform(), Some("linux"));
        assert_eq!(info.mtu(), Some(1600));
        assert_eq!(info.hardware_address(), Some("02:00:00:00:00:01"));
        assert_eq!(info.ciphers().collect::<Vec<_>>(), ["AES-256-GCM", "CHACHA20-POLY1305"]);
        assert_eq!(info.get("UV_ID"), Some("a=b"));
        let all = protocol::DATA_V2
            | protocol::REQUEST_PUSH
            | protocol::TLS_KEY_EXPORT
            | protocol::AUTH_PENDING_KEYWORDS
            | protocol::DNS_OPTION
            | protocol::CC_EXIT_NOTIFY
            | protocol::AUTH_FAIL_TEMP
            | protocol::DYNAMIC_TLS_CRYPT;
        assert_eq!(info.protocol(), all);
        assert_eq!(info.to_string(), CLIENT);
    }

    #[test]
    fn older_clients_name_no_ciphers() {
        let ciphers = |text| PeerInfo::parse(text).ciphers().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(ciphers("IV_NCP=2\n"), ["AES-256-GCM", "AES-128-GCM"]);
        assert_eq!(ciphers("IV_NCP=1\n"), [""; 0]);
        assert_eq!(PeerInfo::parse("IV_PROTO=x").protocol(), 0);
    }

    #[test]
    fn control_characters_and_invalid_names_are_ignored() {
        let text = "A=1\x1b[2J\nB;rm=1\n=1\nC\nLD PRELOAD=1\nD=\u{9b}2J\nE=ok\r\n";
        assert_eq!(PeerInfo::parse(text).pairs().collect::<Vec<_>>(), [("E", "ok")]);
        let many = "A=1\n".repeat(1000);
        assert_eq!(PeerInfo::parse(&many).pairs().count(), MAX_PAIRS);
    }

    proptest! {
        #[test]
        fn parsed_pairs_round_trip(text in "([A-Z_=;\u{0}-\u{ff}]|\n){0,80}") {
            let info = PeerInfo::parse(&text);
            prop_assert_eq!(PeerInfo::parse(&info.to_string()), info);
        }
    }
}
