//! Other libraries with the same operations, as a baseline for this library's numbers.
//!
//! Peers in Rust and C that take long to compile are in the crate `cycloid-peers`, which adds them.
//! A peer is used as a careful user would: with prepared contexts, the same inputs, and the fastest
//! of its public functions for the case. System libraries are loaded at run time, so the build
//! needs none of them. A missing library is reported with the command that installs it.

mod aws_lc;
mod bn;
pub(crate) mod bytes;
mod call;
mod crypto_bigint;
pub mod dh;
pub mod ec;
mod ec_key;
mod evp;
mod evp_raw;
pub mod external;
mod ffdh;
mod gmp;
mod library;
pub mod modexp;
mod open_vpn;
mod openssl;
pub mod rsa;
mod soft_hsm;
pub mod source;
mod system_library;
pub mod wire_guard;

use std::sync::OnceLock;

use crate::Failure;
use crate::record::{self, Missing};

pub use call::{Call, ResultCheck};
pub use library::Library;

/// A peer, available or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// OpenSSL's libcrypto, from the system or from a build that the user names.
    OpenSsl,
    /// The GNU multiple-precision library, from the system.
    Gmp,
    /// AWS-LC, compiled in.
    AwsLc,
    /// RustCrypto's crypto-bigint, compiled in.
    CryptoBigint,
    /// ring, compiled in.
    Ring,
    /// graviola, compiled in.
    Graviola,
    /// The dalek crates, compiled in.
    Dalek,
    /// The dalek crates, compiled for the processor at hand, through a runner.
    DalekVector,
    /// RustCrypto's crates for RSA and for elliptic curves, compiled in.
    RustCrypto,
    /// zkcrypto's crate for BLS12-381, compiled in.
    Zkcrypto,
    /// The arkworks crates for BLS12-381, compiled in.
    Arkworks,
    /// c-kzg, in C on blst, compiled in.
    CKzg,
    /// gnark-crypto, in Go, through a runner.
    GnarkCrypto,
    /// mcl, in C++, from a source that the user names, through a runner.
    Mcl,
    /// VROOM, in C++, from a source that the user names, through a runner.
    Vroom,
    /// mirage-crypto, in OCaml, through a runner.
    MirageCrypto,
    /// Intel's crypto_mb, in C, from a source that the user names, through a runner.
    CryptoMb,
    /// SoftHSM, from the system.
    SoftHsm,
    /// OpenVPN, from the system.
    OpenVpn,
    /// wireguard-go, from the system.
    WireGuardGo,
}

/// A family of benchmarks; each peer supports some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Modular exponentiation.
    ModExp,
    /// RSA.
    Rsa,
    /// Diffie-Hellman in the groups of RFC 7919.
    Dh,
    /// Signatures and agreement on elliptic curves.
    Ec,
    /// TLS handshakes with rustls.
    Tls,
    /// Programs that use OpenSSL, with the provider and without.
    Provider,
    /// BLS12-381, comparing the library's backends and peers.
    Bls,
    /// Signatures through PKCS #11.
    Hsm,
    /// Packets of a VPN, and whole tunnels.
    Vpn,
}

/// The outcome of the search for a peer.
pub struct Found {
    /// The peer.
    pub peer: Peer,
    /// The library, or the reason why it is missing.
    pub outcome: Result<Box<dyn Library>, Missing>,
}

impl Peer {
    /// All peers, in the order of the tables.
    pub const ALL: [Self; 20] = [
        Self::OpenSsl,
        Self::Gmp,
        Self::AwsLc,
        Self::CryptoBigint,
        Self::Ring,
        Self::Graviola,
        Self::Dalek,
        Self::DalekVector,
        Self::RustCrypto,
        Self::Zkcrypto,
        Self::Arkworks,
        Self::CKzg,
        Self::GnarkCrypto,
        Self::Mcl,
        Self::Vroom,
        Self::MirageCrypto,
        Self::CryptoMb,
        Self::SoftHsm,
        Self::OpenVpn,
        Self::WireGuardGo,
    ];

    /// Returns its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenSsl => "OpenSSL",
            Self::Gmp => "GMP",
            Self::AwsLc => "AWS-LC",
            Self::CryptoBigint => "crypto-bigint",
            Self::Ring => "ring",
            Self::Graviola => "graviola",
            Self::Dalek => "dalek",
            Self::DalekVector => "dalek-vector",
            Self::RustCrypto => "RustCrypto",
            Self::Zkcrypto => "zkcrypto",
            Self::Arkworks => "arkworks",
            Self::CKzg => "c-kzg",
            Self::GnarkCrypto => "gnark-crypto",
            Self::Mcl => "mcl",
            Self::Vroom => "VROOM",
            Self::MirageCrypto => "mirage-crypto",
            Self::CryptoMb => "crypto-mb",
            Self::SoftHsm => "SoftHSM",
            Self::OpenVpn => "OpenVPN",
            Self::WireGuardGo => "wireguard-go",
        }
    }

    /// Returns whether it supports something of that family.
    pub const fn does(self, family: Family) -> bool {
        match self {
            Self::OpenSsl => matches!(
                family,
                Family::ModExp | Family::Rsa | Family::Dh | Family::Ec | Family::Provider
            ),
            Self::AwsLc => !matches!(family, Family::Bls | Family::Hsm | Family::Provider),
            Self::Gmp | Self::CryptoBigint => matches!(family, Family::ModExp),
            Self::Ring => matches!(family, Family::Rsa | Family::Ec | Family::Tls),
            Self::Graviola | Self::RustCrypto => matches!(family, Family::Rsa | Family::Ec),
            Self::Dalek | Self::DalekVector => matches!(family, Family::Ec),
            Self::Zkcrypto
            | Self::Arkworks
            | Self::CKzg
            | Self::GnarkCrypto
            | Self::Mcl
            | Self::Vroom => matches!(family, Family::Bls),
            Self::MirageCrypto | Self::CryptoMb => {
                matches!(family, Family::ModExp | Family::Rsa | Family::Ec)
            }
            Self::SoftHsm => matches!(family, Family::Hsm),
            Self::OpenVpn | Self::WireGuardGo => matches!(family, Family::Vpn),
        }
    }

    /// Returns whether `all` has the peer. The runners of the others take minutes to get: they
    /// download libraries, or compile a source that the user names.
    fn is_usual(self) -> bool {
        match self {
            Self::GnarkCrypto | Self::DalekVector => false,
            Self::Mcl | Self::Vroom | Self::CryptoMb => source::folder(self).is_some(),
            _ => true,
        }
    }

    /// Returns the peers of `all`.
    pub fn usual() -> Vec<Self> {
        Self::ALL.into_iter().filter(|peer| peer.is_usual()).collect()
    }

    /// Parses a user's list of peers: `none`, or names in any case and `all`, separated by commas.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn from_list(list: &str) -> Result<Vec<Self>, Failure> {
        if list.eq_ignore_ascii_case("none") {
            return Ok(Vec::new());
        }
        let mut peers = Vec::new();
        for name in list.split(',').map(str::trim) {
            if name.eq_ignore_ascii_case("all") {
                peers.extend(Self::usual());
                continue;
            }
            let known = |peer: &Self| peer.name().eq_ignore_ascii_case(name);
            let peer = Self::ALL.into_iter().find(known).ok_or_else(|| {
                let names = Self::ALL.map(|peer| peer.name().to_lowercase()).join(", ");
                Failure::new(
                    format!("no peer is called '{name}'"),
                    format!("use none, or a list of all, {names}"),
                )
            })?;
            peers.push(peer);
        }
        peers.sort_unstable();
        peers.dedup();
        Ok(peers)
    }

    /// Returns whether this program has the peer's code, if it is compiled in at all.
    pub fn is_compiled_in(self) -> bool {
        !self.is_elsewhere() || ADDED.get().is_some()
    }

    /// Returns whether another crate has the peer's code, because it takes long to compile.
    const fn is_elsewhere(self) -> bool {
        matches!(
            self,
            Self::Ring
                | Self::Graviola
                | Self::Dalek
                | Self::RustCrypto
                | Self::Zkcrypto
                | Self::Arkworks
                | Self::CKzg
        )
    }

    /// Finds the peer.
    pub fn find(self) -> Found {
        let library = match self {
            Self::OpenSsl => openssl::load(),
            Self::Gmp => gmp::load(),
            Self::AwsLc => Ok(Box::new(aws_lc::AwsLc) as Box<dyn Library>),
            Self::CryptoBigint => Ok(Box::new(crypto_bigint::CryptoBigint) as Box<dyn Library>),
            Self::DalekVector => external::dalek_vector::find(),
            Self::GnarkCrypto => external::gnark_crypto::find(),
            Self::Mcl => external::mcl::find(),
            Self::Vroom => external::vroom::find(),
            Self::MirageCrypto => external::mirage_crypto::find(),
            Self::CryptoMb => external::crypto_mb::find(),
            Self::SoftHsm => soft_hsm::find(),
            Self::OpenVpn => open_vpn::find(),
            Self::WireGuardGo => wire_guard::find(),
            _ => ADDED.get().and_then(|find| find(self)).unwrap_or_else(|| {
                Err(Missing {
                    reason: "not compiled in".into(),
                    remedy: "install the program cycloid-peers beside cycloid".into(),
                })
            }),
        };
        Found { peer: self, outcome: library }
    }
}

/// A search for peers: `None` for those that it does not know.
pub type Find = fn(Peer) -> Option<Result<Box<dyn Library>, Missing>>;

/// The search for the peers of another crate.
static ADDED: OnceLock<Find> = OnceLock::new();

/// Adds the peers of another crate.
pub(crate) fn add(find: Find) {
    let _ = ADDED.set(find);
}

impl Found {
    /// Returns the peer's entry in the report.
    pub fn record(&self) -> record::Peer {
        record::Peer {
            name: self.peer.name().into(),
            version: self.outcome.as_ref().ok().map(|library| library.version()),
            missing: self.outcome.as_ref().err().cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let usual = Peer::from_list("all").unwrap();
        assert_eq!(usual, Peer::usual());
        let on_request = Peer::ALL.into_iter().filter(|peer| !usual.contains(peer));
        let on_request = on_request.map(Peer::name).collect::<Vec<_>>();
        assert_eq!(on_request, ["dalek-vector", "gnark-crypto", "mcl", "VROOM", "crypto-mb"]);
        let more = Peer::from_list("gnark-crypto,All,mcl").unwrap();
        assert_eq!(more.len(), usual.len() + 2);
        assert_eq!(Peer::from_list("none").unwrap(), []);
        assert_eq!(Peer::from_list("gmp, OpenSSL,GMP").unwrap(), [Peer::OpenSsl, Peer::Gmp]);
        assert_eq!(Peer::from_list("gmp,nss").unwrap_err().message, "no peer is called 'nss'");
    }
}
