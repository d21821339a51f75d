//! The numbers of the family `ovpn`.
//!
//! Source: Linux, `Documentation/netlink/specs/ovpn.yaml`. The numbers of commands and attributes
//! count from 1 in the order of that file, those of values from 0.

use crate::proto::data::Cipher;

/// The family's name.
pub(super) const FAMILY: &str = "ovpn";

/// The version of the family that this module speaks.
pub(super) const VERSION: u8 = 1;

/// The multicast group of notifications.
pub(super) const GROUP: &str = "peers";

/// The commands.
pub(super) mod command {
    pub(crate) const PEER_NEW: u8 = 1;
    pub(crate) const PEER_SET: u8 = 2;
    pub(crate) const PEER_GET: u8 = 3;
    pub(crate) const PEER_DEL: u8 = 4;
    pub(crate) const PEER_DEL_NTF: u8 = 5;
    pub(crate) const KEY_NEW: u8 = 6;
    pub(crate) const KEY_GET: u8 = 7;
    pub(crate) const KEY_SWAP: u8 = 8;
    pub(crate) const KEY_SWAP_NTF: u8 = 9;
    pub(crate) const KEY_DEL: u8 = 10;
    pub(crate) const PEER_FLOAT_NTF: u8 = 11;
}

/// The attributes of a message.
pub(super) mod top {
    pub(crate) const IFINDEX: u16 = 1;
    pub(crate) const PEER: u16 = 2;
    pub(crate) const KEYCONF: u16 = 3;
}

/// The attributes of a peer.
pub(super) mod peer {
    pub(crate) const ID: u16 = 1;
    pub(crate) const REMOTE_IPV4: u16 = 2;
    pub(crate) const REMOTE_IPV6: u16 = 3;
    pub(crate) const REMOTE_IPV6_SCOPE_ID: u16 = 4;
    pub(crate) const REMOTE_PORT: u16 = 5;
    pub(crate) const SOCKET: u16 = 6;
    pub(crate) const LOCAL_IPV4: u16 = 10;
    pub(crate) const LOCAL_IPV6: u16 = 11;
    pub(crate) const KEEPALIVE_INTERVAL: u16 = 13;
    pub(crate) const KEEPALIVE_TIMEOUT: u16 = 14;
    pub(crate) const DEL_REASON: u16 = 15;
    pub(crate) const VPN_RX_BYTES: u16 = 16;
    pub(crate) const VPN_TX_BYTES: u16 = 17;
    pub(crate) const LINK_RX_BYTES: u16 = 20;
    pub(crate) const LINK_TX_BYTES: u16 = 21;
    pub(crate) const LINK_RX_PACKETS: u16 = 22;
    pub(crate) const LINK_TX_PACKETS: u16 = 23;
}

/// The attributes of a key.
pub(super) mod key {
    pub(crate) const PEER_ID: u16 = 1;
    pub(crate) const SLOT: u16 = 2;
    pub(crate) const KEY_ID: u16 = 3;
    pub(crate) const CIPHER_ALG: u16 = 4;
    pub(crate) const ENCRYPT_DIR: u16 = 5;
    pub(crate) const DECRYPT_DIR: u16 = 6;
}

/// The attributes of a key's direction.
pub(super) mod direction {
    pub(crate) const CIPHER_KEY: u16 = 1;
    pub(crate) const NONCE_TAIL: u16 = 2;
}

/// A place for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The key for sending.
    Primary = 0,
    /// The other key for receiving.
    Secondary = 1,
}

impl Slot {
    pub(super) fn from_number(number: u64) -> Option<Self> {
        [Self::Primary, Self::Secondary].into_iter().find(|slot| *slot as u64 == number)
    }
}

/// A cipher in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherNumber {
    /// None; the kernel accepts no key with it.
    None = 0,
    /// AES-GCM, by the length of the key.
    AesGcm = 1,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305 = 2,
}

impl CipherNumber {
    /// Returns the number of a cipher, or `None` if the kernel does not have it.
    pub fn of(cipher: Cipher) -> Option<Self> {
        match cipher {
            Cipher::Aes256Gcm | Cipher::Aes192Gcm | Cipher::Aes128Gcm => Some(Self::AesGcm),
            Cipher::ChaCha20Poly1305 => Some(Self::ChaCha20Poly1305),
            Cipher::Cbc { .. } => None,
        }
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        let all = [Self::None, Self::AesGcm, Self::ChaCha20Poly1305];
        all.into_iter().find(|cipher| *cipher as u64 == number)
    }
}

/// Why the kernel has deleted a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionReason {
    /// The interface is gone, or another peer has replaced this one.
    Teardown = 0,
    /// This program asked for it.
    Userspace = 1,
    /// The peer was silent for too long.
    Expired = 2,
    /// The socket does not send any more.
    TransportError = 3,
    /// The connection has ended.
    TransportDisconnect = 4,
}

impl DeletionReason {
    pub(super) fn from_number(number: u64) -> Option<Self> {
        [
            Self::Teardown,
            Self::Userspace,
            Self::Expired,
            Self::TransportError,
            Self::TransportDisconnect,
        ]
        .into_iter()
        .find(|reason| *reason as u64 == number)
    }

    /// Returns the reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Teardown => "the kernel's interface is gone",
            Self::Userspace => "the peer was deleted",
            Self::Expired => crate::proto::SILENT,
            Self::TransportError => "the kernel cannot send to the peer",
            Self::TransportDisconnect => "the peer closed the connection",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the description, in its order.
    const COMMANDS: &str = "peer-new peer-set peer-get peer-del peer-del-ntf key-new key-get \
                            key-swap key-swap-ntf key-del peer-float-ntf";
    const TOP: &str = "ifindex peer keyconf";
    const PEER: &str = "id remote-ipv4 remote-ipv6 remote-ipv6-scope-id remote-port socket \
                        socket-netnsid vpn-ipv4 vpn-ipv6 local-ipv4 local-ipv6 local-port \
                        keepalive-interval keepalive-timeout del-reason vpn-rx-bytes vpn-tx-bytes \
                        vpn-rx-packets vpn-tx-packets link-rx-bytes link-tx-bytes link-rx-packets \
                        link-tx-packets tx-id";
    const KEY: &str = "peer-id slot key-id cipher-alg encrypt-dir decrypt-dir";
    const DIRECTION: &str = "cipher-key nonce-tail";

    fn number(names: &str, wanted: &str) -> u16 {
        let position = names.split_whitespace().position(|name| name == wanted);
        1 + u16::try_from(position.unwrap_or_else(|| panic!("{wanted}"))).unwrap()
    }

    #[test]
    fn numbers_count_in_the_order_of_the_description() {
        for (own, name) in [
            (command::PEER_NEW, "peer-new"),
            (command::PEER_SET, "peer-set"),
            (command::PEER_GET, "peer-get"),
            (command::PEER_DEL, "peer-del"),
            (command::PEER_DEL_NTF, "peer-del-ntf"),
            (command::KEY_NEW, "key-new"),
            (command::KEY_GET, "key-get"),
            (command::KEY_SWAP, "key-swap"),
            (command::KEY_SWAP_NTF, "key-swap-ntf"),
            (command::KEY_DEL, "key-del"),
            (command::PEER_FLOAT_NTF, "peer-float-ntf"),
        ] {
            assert_eq!(u16::from(own), number(COMMANDS, name), "{name}");
        }
        for (own, names, name) in [
            (top::IFINDEX, TOP, "ifindex"),
            (top::PEER, TOP, "peer"),
            (top::KEYCONF, TOP, "keyconf"),
            (peer::ID, PEER, "id"),
            (peer::REMOTE_IPV4, PEER, "remote-ipv4"),
            (peer::REMOTE_IPV6, PEER, "remote-ipv6"),
            (peer::REMOTE_IPV6_SCOPE_ID, PEER, "remote-ipv6-scope-id"),
            (peer::REMOTE_PORT, PEER, "remote-port"),
            (peer::SOCKET, PEER, "socket"),
            (peer::LOCAL_IPV4, PEER, "local-ipv4"),
            (peer::LOCAL_IPV6, PEER, "local-ipv6"),
            (peer::KEEPALIVE_INTERVAL, PEER, "keepalive-interval"),
            (peer::KEEPALIVE_TIMEOUT, PEER, "keepalive-timeout"),
            (peer::DEL_REASON, PEER, "del-reason"),
            (peer::VPN_RX_BYTES, PEER, "vpn-rx-bytes"),
            (peer::VPN_TX_BYTES, PEER, "vpn-tx-bytes"),
            (peer::LINK_RX_BYTES, PEER, "link-rx-bytes"),
            (peer::LINK_TX_BYTES, PEER, "link-tx-bytes"),
            (peer::LINK_RX_PACKETS, PEER, "link-rx-packets"),
            (peer::LINK_TX_PACKETS, PEER, "link-tx-packets"),
            (key::PEER_ID, KEY, "peer-id"),
            (key::SLOT, KEY, "slot"),
            (key::KEY_ID, KEY, "key-id"),
            (key::CIPHER_ALG, KEY, "cipher-alg"),
            (key::ENCRYPT_DIR, KEY, "encrypt-dir"),
            (key::DECRYPT_DIR, KEY, "decrypt-dir"),
            (direction::CIPHER_KEY, DIRECTION, "cipher-key"),
            (direction::NONCE_TAIL, DIRECTION, "nonce-tail"),
        ] {
            assert_eq!(own, number(names, name), "{name}");
        }
    }

    #[test]
    fn values_round_trip() {
        for number in 0..8 {
            let slot = Slot::from_number(number).map(|slot| slot as u64);
            assert_eq!(slot, Some(number).filter(|number| *number < 2));
            let cipher = CipherNumber::from_number(number).map(|cipher| cipher as u64);
            assert_eq!(cipher, Some(number).filter(|number| *number < 3));
            let reason = DeletionReason::from_number(number).map(|reason| reason as u64);
            assert_eq!(reason, Some(number).filter(|number| *number < 5));
        }
    }
}
