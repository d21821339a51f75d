//! Other libraries with the same operations, as a baseline for this library's numbers.
//!
//! A peer is used as a careful user would: with prepared contexts, the same inputs, and the fastest
//! of its public functions for the case. System libraries are loaded at run time, so the build
//! needs none of them. A missing library is reported with the command that installs it.

#[cfg(feature = "arkworks")]
mod arkworks;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod bn;
pub(crate) mod bytes;
#[cfg(feature = "c-kzg")]
mod c_kzg;
mod call;
mod crypto_bigint;
#[cfg(feature = "dalek")]
mod dalek;
pub mod dh;
pub mod ec;
mod ec_key;
mod evp;
mod evp_raw;
pub mod external;
mod ffdh;
mod gmp;
#[cfg(feature = "graviola")]
mod graviola;
mod library;
pub mod modexp;
mod open_vpn;
mod openssl;
#[cfg(feature = "ring")]
mod ring;
pub mod rsa;
#[cfg(feature = "rust-crypto")]
mod rust_crypto;
mod soft_hsm;
mod system_library;
pub(crate) mod wire_guard;
#[cfg(feature = "zkcrypto")]
mod zkcrypto;

use crate::Failure;
use crate::record::{self, Missing};

pub use call::Call;
pub(crate) use call::ResultCheck;
pub use library::Library;

/// A peer, available or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// OpenSSL's libcrypto, from the system.
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
    /// RustCrypto's crates for RSA and for elliptic curves, compiled in.
    RustCrypto,
    /// zkcrypto's crate for BLS12-381, compiled in.
    Zkcrypto,
    /// The arkworks crates for BLS12-381, compiled in.
    Arkworks,
    /// c-kzg, in C on blst, compiled in.
    CKzg,
    /// mirage-crypto, in OCaml, through a runner.
    MirageCrypto,
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
    pub const ALL: [Self; 15] = [
        Self::OpenSsl,
        Self::Gmp,
        Self::AwsLc,
        Self::CryptoBigint,
        Self::Ring,
        Self::Graviola,
        Self::Dalek,
        Self::RustCrypto,
        Self::Zkcrypto,
        Self::Arkworks,
        Self::CKzg,
        Self::MirageCrypto,
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
            Self::RustCrypto => "RustCrypto",
            Self::Zkcrypto => "zkcrypto",
            Self::Arkworks => "arkworks",
            Self::CKzg => "c-kzg",
            Self::MirageCrypto => "mirage-crypto",
            Self::SoftHsm => "SoftHSM",
            Self::OpenVpn => "OpenVPN",
            Self::WireGuardGo => "wireguard-go",
        }
    }

    /// Returns whether it supports something of that family.
    pub const fn does(self, family: Family) -> bool {
        match self {
            Self::OpenSsl => {
                matches!(family, Family::ModExp | Family::Rsa | Family::Dh | Family::Ec)
            }
            Self::AwsLc => !matches!(family, Family::Bls | Family::Hsm),
            Self::Gmp | Self::CryptoBigint => matches!(family, Family::ModExp),
            Self::Ring => matches!(family, Family::Rsa | Family::Ec | Family::Tls),
            Self::Graviola | Self::RustCrypto => matches!(family, Family::Rsa | Family::Ec),
            Self::Dalek => matches!(family, Family::Ec),
            Self::Zkcrypto | Self::Arkworks | Self::CKzg => matches!(family, Family::Bls),
            Self::MirageCrypto => matches!(family, Family::ModExp | Family::Rsa | Family::Ec),
            Self::SoftHsm => matches!(family, Family::Hsm),
            Self::OpenVpn | Self::WireGuardGo => matches!(family, Family::Vpn),
        }
    }

    /// Parses a user's list of peers: `all`, `none`, or names separated by commas, in any case.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn from_list(list: &str) -> Result<Vec<Self>, Failure> {
        match list.to_lowercase().as_str() {
            "all" => return Ok(Self::ALL.to_vec()),
            "none" => return Ok(Vec::new()),
            _ => {}
        }
        let mut peers = Vec::new();
        for name in list.split(',') {
            let known = |peer: &Self| peer.name().eq_ignore_ascii_case(name.trim());
            let peer = Self::ALL.into_iter().find(known).ok_or_else(|| {
                let names = Self::ALL.map(|peer| peer.name().to_lowercase()).join(", ");
                Failure::new(
                    format!("no peer is called '{name}'"),
                    format!("use all, none, or a list of {names}"),
                )
            })?;
            peers.push(peer);
        }
        peers.sort_unstable();
        peers.dedup();
        Ok(peers)
    }

    /// Finds the peer.
    pub fn find(self) -> Found {
        let library = match self {
            Self::OpenSsl => openssl::load(),
            Self::Gmp => gmp::load(),
            Self::CryptoBigint => Ok(Box::new(crypto_bigint::CryptoBigint) as Box<dyn Library>),
            #[cfg(feature = "aws-lc")]
            Self::AwsLc => Ok(Box::new(aws_lc::AwsLc) as Box<dyn Library>),
            #[cfg(not(feature = "aws-lc"))]
            Self::AwsLc => not_compiled_in("aws-lc"),
            #[cfg(feature = "ring")]
            Self::Ring => Ok(Box::new(ring::Ring) as Box<dyn Library>),
            #[cfg(not(feature = "ring"))]
            Self::Ring => not_compiled_in("ring"),
            #[cfg(feature = "graviola")]
            Self::Graviola => graviola::find(),
            #[cfg(not(feature = "graviola"))]
            Self::Graviola => not_compiled_in("graviola"),
            #[cfg(feature = "dalek")]
            Self::Dalek => Ok(Box::new(dalek::Dalek) as Box<dyn Library>),
            #[cfg(not(feature = "dalek"))]
            Self::Dalek => not_compiled_in("dalek"),
            #[cfg(feature = "rust-crypto")]
            Self::RustCrypto => Ok(Box::new(rust_crypto::RustCrypto) as Box<dyn Library>),
            #[cfg(not(feature = "rust-crypto"))]
            Self::RustCrypto => not_compiled_in("rust-crypto"),
            #[cfg(feature = "zkcrypto")]
            Self::Zkcrypto => Ok(Box::new(zkcrypto::Zkcrypto) as Box<dyn Library>),
            #[cfg(not(feature = "zkcrypto"))]
            Self::Zkcrypto => not_compiled_in("zkcrypto"),
            #[cfg(feature = "arkworks")]
            Self::Arkworks => Ok(Box::new(arkworks::Arkworks) as Box<dyn Library>),
            #[cfg(not(feature = "arkworks"))]
            Self::Arkworks => not_compiled_in("arkworks"),
            #[cfg(feature = "c-kzg")]
            Self::CKzg => Ok(Box::new(c_kzg::CKzg) as Box<dyn Library>),
            #[cfg(not(feature = "c-kzg"))]
            Self::CKzg => not_compiled_in("c-kzg"),
            Self::MirageCrypto => external::mirage_crypto::find(),
            Self::SoftHsm => soft_hsm::find(),
            Self::OpenVpn => open_vpn::find(),
            Self::WireGuardGo => wire_guard::find(),
        };
        Found { peer: self, outcome: library }
    }
}

#[cfg_attr(
    all(
        feature = "aws-lc",
        feature = "ring",
        feature = "graviola",
        feature = "dalek",
        feature = "rust-crypto",
        feature = "zkcrypto",
        feature = "arkworks",
        feature = "c-kzg"
    ),
    allow(dead_code)
)]
fn not_compiled_in(feature: &str) -> Result<Box<dyn Library>, Missing> {
    Err(Missing {
        reason: "not compiled in".into(),
        remedy: format!("build with the feature {feature}"),
    })
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
        assert_eq!(Peer::from_list("all").unwrap(), Peer::ALL);
        assert_eq!(Peer::from_list("none").unwrap(), []);
        assert_eq!(Peer::from_list("gmp, OpenSSL,GMP").unwrap(), [Peer::OpenSsl, Peer::Gmp]);
        assert_eq!(Peer::from_list("gmp,nss").unwrap_err().message, "no peer is called 'nss'");
    }
}
