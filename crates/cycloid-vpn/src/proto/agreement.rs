//! Negotiates the data channel's parameters. A server for many clients chooses and pushes its
//! choice. Point to point nothing is pushed: each end derives the same result from both ends'
//! announcements.
//!
//! | point to point | if |
//! |---|---|
//! | cipher | the first of the server's list that the client also lists, otherwise the fallback |
//! | epochs of data keys | both support them and negotiate, with `DATA_V2` and an AEAD |
//! | `DATA_V2`, keys by the exporter, dynamic tls-crypt, exit notification inside TLS | both support it and announce negotiation (`NCP_P2P`) |
//! | peer id | from the exporter, equal at both ends; a fixed one if keys do not come from the exporter |
//!
//! Source: openvpn(8), "Data channel cipher negotiation"; draft-openvpn-wire-protocol, "Peer
//! information".

use super::data::{Cipher, Digest};
use super::options::option;
use super::peer_info::{PeerInfo, protocol};
use super::push::PushReply;
use super::{Error, Role};

/// This end's point-to-point capabilities.
pub(super) const POINT_TO_POINT: u32 = protocol::DATA_V2
    | protocol::TLS_KEY_EXPORT
    | protocol::NCP_P2P
    | protocol::CC_EXIT_NOTIFY
    | protocol::DYNAMIC_TLS_CRYPT;

/// The peer id when both ends use one but no exported key is available: "vpn".
const FIXED_PEER_ID: u32 = 0x76_70_6e;

/// The ciphers that this end is configured with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ciphers<'a> {
    /// Best first.
    pub(super) list: &'a [Cipher],
    /// For a peer that announces no cipher.
    pub(super) fallback: Option<Cipher>,
    /// The HMAC digest for CBC.
    pub(super) digest: Digest,
    /// Whether this end supports data keys that change by epochs.
    pub(super) epochs: bool,
}

impl Ciphers<'_> {
    /// Returns the first cipher of the server's list that the client also lists. For a peer without
    /// a list, returns the cipher of its options string, or the fallback. `role` is this end's
    /// role.
    pub(super) fn choose(&self, role: Role, info: &PeerInfo, options: &str) -> Option<Cipher> {
        let is = |own: &Cipher, name: &str| name.eq_ignore_ascii_case(own.name());
        if info.ciphers().next().is_none() {
            let named = option(options, "cipher");
            let named = named.and_then(|name| Cipher::from_name(name, self.digest));
            return named
                .filter(|cipher| self.list.contains(cipher) || self.fallback == Some(*cipher))
                .or(self.fallback);
        }
        match role {
            Role::Server => {
                self.list.iter().find(|own| info.ciphers().any(|name| is(own, name))).copied()
            }
            Role::Client => {
                info.ciphers().find_map(|name| self.list.iter().find(|own| is(own, name))).copied()
            }
        }
    }
}

/// The result of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) cipher: Cipher,
    pub(super) peer_id: Option<u32>,
    pub(super) by_exporter: bool,
    /// Later sessions use dynamic tls-crypt.
    pub(super) dynamic: bool,
    /// Data keys change by epochs.
    pub(super) epochs: bool,
    /// The end of the session is announced inside TLS.
    pub(super) exit_by_control: bool,
}

impl Agreement {
    /// Returns the parameters that a server pushes, with the cipher among them.
    pub(super) fn pushed(cipher: Cipher, reply: &PushReply) -> Self {
        Self {
            cipher,
            peer_id: reply.peer_id,
            by_exporter: reply.protocol.tls_ekm,
            dynamic: reply.protocol.dynamic_tls_crypt,
            epochs: reply.protocol.aead_epoch,
            exit_by_control: reply.protocol.cc_exit,
        }
    }

    /// Negotiates the parameters. `exported_id` derives a peer id from the first session's key.
    ///
    /// # Errors
    /// No common cipher, or no exported key.
    pub(super) fn reach(
        role: Role,
        ciphers: &Ciphers<'_>,
        info: &PeerInfo,
        options: &str,
        exported_id: impl FnOnce() -> Result<u32, Error>,
    ) -> Result<Self, Error> {
        let cipher = ciphers.choose(role, info, options).or(ciphers.fallback);
        let cipher = cipher.ok_or_else(|| {
            let named: Vec<&str> = info.ciphers().collect();
            Error::Incompatible(match &named[..] {
                [] => "it offers no usable cipher, and data-ciphers-fallback is not set".into(),
                named => format!(
                    "it offers only the ciphers {}, and none is configured here",
                    named.join(", ")
                ),
            })
        })?;
        let offers = info.protocol();
        let both = |bit: u32| offers & protocol::NCP_P2P != 0 && offers & bit != 0;
        let by_exporter = both(protocol::TLS_KEY_EXPORT);
        let peer_id = match (both(protocol::DATA_V2), by_exporter) {
            (true, true) => Some(exported_id()?),
            (true, false) => Some(FIXED_PEER_ID),
            (false, _) => None,
        };
        Ok(Self {
            cipher,
            peer_id,
            by_exporter,
            dynamic: by_exporter && both(protocol::DYNAMIC_TLS_CRYPT),
            epochs: ciphers.epochs
                && peer_id.is_some()
                && cipher.is_aead()
                && both(protocol::DATA_EPOCH),
            exit_by_control: both(protocol::CC_EXIT_NOTIFY),
        })
    }
}

/// Returns the peer information of an end: its ciphers, the bits of `IV_PROTO`, and more.
pub(super) fn introduction(ciphers: &[Cipher], bits: u32, more: &[(String, String)]) -> PeerInfo {
    let mut info = PeerInfo::default();
    let ciphers: Vec<&str> = ciphers.iter().map(|cipher| cipher.name()).collect();
    info.push("IV_VER", concat!("cycloid-", env!("CARGO_PKG_VERSION")));
    info.push("IV_PLAT", "linux");
    info.push("IV_TCPNL", "1");
    info.push("IV_MTU", "1600");
    if bits & protocol::NCP_P2P == 0 {
        info.push("IV_NCP", "2");
    }
    info.push("IV_CIPHERS", &ciphers.join(":"));
    info.push("IV_PROTO", &bits.to_string());
    for (name, value) in more {
        info.push(name, value);
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::data::CbcCipher;

    const GCM: [Cipher; 2] = [Cipher::Aes256Gcm, Cipher::Aes128Gcm];
    const CBC: Cipher = Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha256 };

    fn ciphers(list: &[Cipher], fallback: Option<Cipher>) -> Ciphers<'_> {
        Ciphers { list, fallback, digest: Digest::Sha256, epochs: true }
    }

    fn reach(
        role: Role,
        own: &Ciphers<'_>,
        info: &PeerInfo,
        options: &str,
    ) -> Result<Agreement, Error> {
        Agreement::reach(role, own, info, options, || Ok(0x01_02_03))
    }

    #[test]
    fn both_ends_reach_the_same_result() {
        let one = [Cipher::ChaCha20Poly1305, Cipher::Aes128Gcm, Cipher::Aes256Gcm];
        let (one, other) = (ciphers(&one, None), ciphers(&GCM, Some(CBC)));
        for (server, client, expected) in
            [(one, other, Cipher::Aes128Gcm), (other, one, Cipher::Aes256Gcm)]
        {
            let bits = POINT_TO_POINT | protocol::DATA_EPOCH;
            let of = |ciphers: &Ciphers<'_>| introduction(ciphers.list, bits, &[]);
            let at_server = reach(Role::Server, &server, &of(&client), "");
            assert_eq!(at_server, reach(Role::Client, &client, &of(&server), ""));
            let agreed = Agreement {
                cipher: expected,
                peer_id: Some(0x01_02_03),
                by_exporter: true,
                dynamic: true,
                epochs: true,
                exit_by_control: true,
            };
            assert_eq!(at_server, Ok(agreed));
        }
    }

    #[test]
    fn epochs_need_both_ends_and_an_aead() {
        let bits = POINT_TO_POINT | protocol::DATA_EPOCH;
        let cbc = [CBC];
        let (own, info) = (ciphers(&GCM, Some(CBC)), introduction(&GCM, bits, &[]));
        let cases = [
            (own, info.clone(), true),
            (Ciphers { epochs: false, ..own }, info, false),
            (own, introduction(&GCM, POINT_TO_POINT, &[]), false),
            (ciphers(&cbc, None), introduction(&cbc, bits, &[]), false),
            (own, introduction(&GCM, bits & !protocol::DATA_V2, &[]), false),
        ];
        for (own, info, epochs) in cases {
            let agreed = reach(Role::Server, &own, &info, "").unwrap();
            assert_eq!(agreed.epochs, epochs, "{info}");
        }
    }

    #[test]
    fn without_a_common_cipher_the_fallback_is_used() {
        let chacha = introduction(&[Cipher::ChaCha20Poly1305], POINT_TO_POINT, &[]);
        for role in [Role::Server, Role::Client] {
            let agreed = reach(role, &ciphers(&GCM, Some(CBC)), &chacha, "").unwrap();
            assert_eq!((agreed.cipher, agreed.peer_id), (CBC, Some(0x01_02_03)));
            let error = reach(role, &ciphers(&GCM, None), &chacha, "").unwrap_err();
            assert!(error.to_string().contains("CHACHA20-POLY1305"), "{error}");
        }
    }

    #[test]
    fn an_older_peer_gets_the_fallback() {
        let plain = |cipher| Agreement {
            cipher,
            peer_id: None,
            by_exporter: false,
            dynamic: false,
            epochs: false,
            exit_by_control: false,
        };
        let silent = PeerInfo::default();
        let own = ciphers(&GCM, Some(CBC));
        for role in [Role::Server, Role::Client] {
            assert_eq!(reach(role, &own, &silent, "V4,dev-type tun"), Ok(plain(CBC)));
            // The cipher in its options string counts, if it is allowed here.
            let named = "V4,cipher AES-128-GCM,auth SHA1";
            assert_eq!(reach(role, &own, &silent, named), Ok(plain(Cipher::Aes128Gcm)));
            assert_eq!(reach(role, &own, &silent, "V4,cipher BF-CBC"), Ok(plain(CBC)));
            assert!(reach(role, &ciphers(&GCM, None), &silent, "V4,cipher BF-CBC").is_err());
            // Capability bits are ignored if the peer does not negotiate.
            let bits = POINT_TO_POINT & !protocol::NCP_P2P;
            let client = introduction(&GCM, bits, &[]);
            assert_eq!(reach(role, &own, &client, ""), Ok(plain(Cipher::Aes256Gcm)));
        }
    }

    #[test]
    fn a_peer_that_exports_no_keys_has_the_fixed_id() {
        let info = introduction(
            &GCM,
            protocol::DATA_V2 | protocol::NCP_P2P | protocol::DYNAMIC_TLS_CRYPT,
            &[],
        );
        let agreed = reach(Role::Server, &ciphers(&GCM, None), &info, "").unwrap();
        assert_eq!((agreed.peer_id, agreed.by_exporter), (Some(FIXED_PEER_ID), false));
        assert!(!agreed.dynamic && !agreed.exit_by_control);
    }
}
