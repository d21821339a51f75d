//! The lab with every peer: the libraries and the suites that take long to compile.
//!
//! The program `cycloid` has the suites that need none of them. It starts the program
//! `cycloid-peers`, which is the same program with this crate, for all others.
//!
//! - [`bls`]: BLS12-381 on the library's backends, zkcrypto, arkworks and c-kzg.
//! - [`tls`]: handshakes of rustls.
//! - [`openssl`]: OpenSSL's programs with the provider.
//! - [`vpn`]: the VPN's packet engine and its tunnels.

pub mod bls;
pub mod openssl;
mod peers;
pub mod tls;
mod turns;
pub mod vpn;

use cycloid_lab::suite::Constructors;

/// The suites of this crate, by name.
static SUITES: [(&str, Constructors); 4] = [
    ("bls", bls::CONSTRUCTORS),
    ("tls", tls::CONSTRUCTORS),
    ("openssl", openssl::CONSTRUCTORS),
    ("vpn", vpn::CONSTRUCTORS),
];

/// Adds the peers and suites of this crate to the lab.
pub fn add_to_lab() {
    cycloid_lab::extend(peers::find, &SUITES);
}

#[cfg(test)]
mod tests {
    use cycloid_lab::peers::Peer;
    use cycloid_lab::suite::descriptor::{Chosen, Value};
    use cycloid_lab::suite::{Effort, list};

    use super::*;

    #[test]
    fn with_this_crate_every_suite_is_complete() {
        add_to_lab();
        assert!(list::ALL.iter().all(|suite| suite.is_complete(&Peer::ALL)));
        for peer in Peer::usual() {
            let reason = peer.find().outcome.err().map(|missing| missing.reason);
            assert_ne!(reason.as_deref(), Some("not compiled in"), "{}", peer.name());
        }
    }

    #[test]
    fn operations_of_these_suites_can_be_profiled() {
        add_to_lab();
        let list = cycloid_report::profile::list();
        for start in
            ["bls pairing-pairing", "bls signature-", "tls handshake-", "vpn aes-256-gcm-seal"]
        {
            assert!(list.lines().any(|line| line.starts_with(start)), "{start}: {list}");
        }
    }

    #[test]
    fn defaults_make_a_suite() {
        for (name, constructors) in SUITES {
            let mut chosen = Chosen::default();
            for option in list::named(name).unwrap().options {
                if let Value::Default(_, value) = option.value {
                    chosen.set(option.name, value.into());
                }
            }
            let chosen = (constructors.chosen)(&chosen, Effort::Quick).ok();
            let alone = constructors.alone.map(|alone| alone(Effort::Quick));
            for suite in chosen.into_iter().chain(alone) {
                assert_eq!(suite.descriptor().name, name);
                assert!(!suite.plan(Effort::Quick, &[]).is_empty());
            }
        }
    }
}
