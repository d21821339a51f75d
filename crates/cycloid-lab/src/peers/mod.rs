//! Other libraries that do what ours does, so that a number has something to be held against.
//!
//! A peer gets what a careful user would give it: prepared contexts, the same inputs, the fastest
//! of its public functions for the case. System libraries are loaded at run time, so building
//! needs none of them, and one that is missing is named with what brings it.

#[cfg(feature = "arkworks")]
mod arkworks;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod bn;
pub(crate) mod bytes;
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
pub mod modexp;
mod open_vpn;
mod openssl;
#[cfg(feature = "ring")]
mod ring;
pub mod rsa;
#[cfg(feature = "rust-crypto")]
mod rust_crypto;
mod soft_hsm;
pub(crate) mod wire_guard;
#[cfg(feature = "zkcrypto")]
mod zkcrypto;

use crate::Failure;
use crate::record::{self, Missing};

/// A peer, whether or not it is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// OpenSSL's libcrypto, as the system has it.
    OpenSsl,
    /// The GNU multiple-precision library, as the system has it.
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
    /// RustCrypto's crates for RSA and for curves, compiled in.
    RustCrypto,
    /// zkcrypto's crate for BLS12-381, compiled in.
    Zkcrypto,
    /// The arkworks crates for BLS12-381, compiled in.
    Arkworks,
    /// mirage-crypto, in OCaml, by a runner.
    MirageCrypto,
    /// SoftHSM, as the system has it.
    SoftHsm,
    /// OpenVPN, as the system has it.
    OpenVpn,
    /// wireguard-go, as the system has it.
    WireGuardGo,
}

/// What peers are measured with: each does some of it.
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
    /// TLS handshakes of rustls.
    Tls,
    /// BLS12-381, on the library's backends and beside peers.
    Bls,
    /// Signatures through PKCS #11.
    Hsm,
    /// Packets of a VPN, and tunnels.
    Vpn,
}

/// A peer that is here.
pub trait Library {
    /// What it says of its version.
    fn version(&self) -> String;

    /// Its ways to compute base^exponent mod modulus, for an odd modulus of that many bits.
    fn modexp(&self, _modulus_bits: usize) -> Vec<modexp::Candidate> {
        Vec::new()
    }

    /// Its ways to do this with RSA keys of that many bits.
    fn rsa(&self, _task: rsa::Task, _bits: usize) -> Vec<rsa::Candidate> {
        Vec::new()
    }

    /// Its ways to do this in the group of RFC 7919 of that many bits.
    fn dh(&self, _task: dh::Task, _bits: usize) -> Vec<dh::Candidate> {
        Vec::new()
    }

    /// The provider that rustls has for it, and the function that gives it.
    #[cfg(feature = "tls")]
    fn tls(&self) -> Option<(&'static str, rustls::crypto::CryptoProvider)> {
        None
    }

    /// Its PKCS #11 module.
    fn pkcs11(&self) -> Option<&std::path::Path> {
        None
    }

    /// The program that does what it is told, of a library that this process cannot call.
    fn runner(&self) -> Option<&external::Runner> {
        None
    }

    /// Its ways to do this on the curve.
    fn ec(&self, _task: ec::Task, _curve: ec::Curve) -> Vec<ec::Candidate> {
        Vec::new()
    }
}

/// Does something that is ready: reads the first, writes the result into the second, and says how
/// long the result is.
pub type Call = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, &'static str>>;

/// What stands for a result when the subjects of a table are compared: the result itself where
/// there is one right one, or else whether it proves right. It may use the call once more.
pub(crate) type Judge = Box<dyn Fn(&mut Call, &[u8]) -> Vec<u64>>;

/// A peer that was looked for.
pub struct Found {
    /// Which.
    pub peer: Peer,
    /// The library, or why it is not here.
    pub outcome: Result<Box<dyn Library>, Missing>,
}

impl Peer {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 14] = [
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
        Self::MirageCrypto,
        Self::SoftHsm,
        Self::OpenVpn,
        Self::WireGuardGo,
    ];

    /// Its name in tables.
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
            Self::MirageCrypto => "mirage-crypto",
            Self::SoftHsm => "SoftHSM",
            Self::OpenVpn => "OpenVPN",
            Self::WireGuardGo => "wireguard-go",
        }
    }

    /// Whether it does something of that family.
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
            Self::Zkcrypto | Self::Arkworks => matches!(family, Family::Bls),
            Self::MirageCrypto => matches!(family, Family::ModExp | Family::Rsa | Family::Ec),
            Self::SoftHsm => matches!(family, Family::Hsm),
            Self::OpenVpn | Self::WireGuardGo => matches!(family, Family::Vpn),
        }
    }

    /// The peers that a user names: `all`, `none`, or names separated by commas, in any case.
    ///
    /// # Errors
    /// The first name that no peer has.
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
                    format!("the peers are {names}; all or none take the place of a list"),
                )
            })?;
            peers.push(peer);
        }
        peers.sort_unstable();
        peers.dedup();
        Ok(peers)
    }

    /// Looks for it.
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
        feature = "arkworks"
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
    /// What the report says of it.
    pub fn record(&self) -> record::Peer {
        record::Peer {
            name: self.peer.name().into(),
            version: self.outcome.as_ref().ok().map(|library| library.version()),
            missing: self.outcome.as_ref().err().cloned(),
        }
    }
}

/// Loads the first of `files` that the system has, for as long as the process runs.
fn load_system_library(
    files: &[&str],
    package: &str,
) -> Result<&'static libloading::Library, Missing> {
    let load = |file: &&str| {
        // SAFETY: the initialisers of the libraries named here do nothing that Rust forbids.
        unsafe { libloading::Library::new(*file) }.ok()
    };
    match files.iter().find_map(load) {
        // Not unloaded, so that functions found in it may be kept anywhere.
        Some(library) => Ok(Box::leak(Box::new(library))),
        None => Err(Missing {
            reason: format!("no usable {}", files.join(" or ")),
            remedy: format!("apt install {package}"),
        }),
    }
}

/// What to say of a library that lacks a function.
fn lacks(symbol: &str, package: &str) -> Missing {
    Missing {
        reason: format!("the library found has no {symbol}"),
        remedy: format!("apt install --reinstall {package}"),
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

    #[test]
    fn a_library_that_is_not_there_is_named_with_its_package() {
        let missing = load_system_library(&["libnone.so.1", "libnone.so.2"], "libnone1")
            .expect_err("no such library");
        assert_eq!(missing.reason, "no usable libnone.so.1 or libnone.so.2");
        assert_eq!(missing.remedy, "apt install libnone1");
    }
}
